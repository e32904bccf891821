/*
** Projections: which parts of a text to keep when only so many tokens or lines may be shown.
** Chooses byte ranges; the marks between them are mark.c's. next: mark.h
*/
#ifndef NP_RENDER_TRIM_H
#define NP_RENDER_TRIM_H

#include "base/mem.h"
#include "cite/log_index.h"
#include "text/extract.h"
#include "token/token.h"

typedef enum np_keep {
  NP_KEEP_ENDS, /* half from the head, half from the tail */
  NP_KEEP_HEAD,
  NP_KEEP_TAIL,
  NP_KEEP_ERRORS, /* error lines and the first stack trace with context, then ends */
  NP_KEEP_DENSE,  /* some head and tail, then lines by identifiers for their length */
  NP_KEEP_ABOUT   /* lines that share rare words with a query, with context */
} np_keep;

/* Finds "ends", "head", … ; false when unknown. */
bool np_keep_parse(np_str name, np_keep *out);
const char *np_keep_name(np_keep keep);

/* A host's own judge of lines, in the place of words: a model that is small enough. */
typedef struct np_scorer {
  /* How much the line matters for the query, from 0 on; the same for the same line. */
  unsigned (*score)(void *ctx, np_str line);
  void *ctx;
} np_scorer;

/* The entry that a text is of, and what its facts weigh. */
typedef struct np_trim_facts {
  const np_log *log;
  const np_entry *of;
  const np_cite_weights *weights; /* NULL: every identifier is as good as another */
} np_trim_facts;

/* What may be kept of a text. */
typedef struct np_trim_ask {
  size_t tokens; /* at most */
  size_t lines;  /* at most; 0: as many as the tokens allow */
  np_keep keep;
  np_str about; /* the query of NP_KEEP_ABOUT */
  /* NULL, or what alone may be kept, by rank and then in order, whatever `keep` says */
  const np_stretches *among;
  const np_scorer *scorer; /* of NP_KEEP_ABOUT; NULL: by the words of `about` */
  np_trim_facts facts;     /* of NP_KEEP_DENSE */
} np_trim_ask;
#define NP_TRIM_ANY SIZE_MAX /* as `tokens`: no limit */

/* Part of the text. */
typedef struct np_range {
  size_t from, to; /* bytes [from, to) of the text, on character and grapheme borders */
  size_t line_from, line_to; /* 1-based lines that the range touches */
  size_t rows;               /* of the table that are left out behind it */
} np_range;

typedef struct np_trim {
  np_range *kept; /* in order, disjoint, not adjacent; owned by the arena */
  size_t count;
  size_t lines;            /* lines in the whole text */
  size_t cut_from, cut_to; /* 1-based: first and last line of which something was cut */
  bool whole;              /* nothing needed to be cut */
  char table;              /* np_table's mark: rows are left out of a table; else 0 */
} np_trim;

/* Chooses ranges of `text` so that the kept ranges, joined by `gap` (np_trim_join), count at
** most ask->tokens and touch at most ask->lines lines. Whole lines where a line fits; inside
** longer lines graphemes stay whole, and each part that is kept counts as a line.
** Of a table (text/table.h) the head is kept, and whole rows. Deterministic, O(n log n). 0 tokens keep nothing. Where a choice finds nothing of its own
** (no error, no word of the query) it is `ends`. Errors: NEAP_E_MEMORY. */
neap_rc np_trim_choose(const np_vocab *v, np_str text, const np_trim_ask *ask, np_str gap,
                       np_arena *ar, np_trim *out, np_err *e);

/* Appends the kept ranges with `gap` between them on a line of its own: a newline before it
** unless the range ends in one, and one after it. An empty gap leaves only the newline. There
** is no gap before the first range nor after the last; what a caller adds there counts apart.
** Where rows of a table are left out, also at its end, the gap is a line that says how many. */
void np_trim_join(np_str text, const np_trim *t, np_str gap, np_buf *out);

#endif
