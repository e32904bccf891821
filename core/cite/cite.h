/*
** The citation index: which identifiers every entry holds, who showed them first, who used
** them later. Context is a cache and a citation is its hit. One index serves ranks, metrics,
** checks of summaries and recall hints. next: ident.c (what an identifier is), index.c
*/
#ifndef NP_CITE_CITE_H
#define NP_CITE_CITE_H

#include "base/buf.h"
#include "base/err.h"

/* ---- identifiers ---- */

typedef enum np_ident_kind {
  /* 4+ of [A-Za-z0-9_./:@#-] with a digit, _, /, inner . or -, inner capital */
  NP_IDENT_NAME,
  NP_IDENT_NUMBER, /* 3 or more digits */
  NP_IDENT_CJK,    /* run of 2 to 8 CJK characters */
  NP_IDENT_QUOTE,  /* two and more words in quotation marks, 6 to 64 bytes on one line */
  NP_IDENT_WORD,   /* a plain word of 5+ letters or a CJK word: the second measure only */
  NP_IDENT_RUN     /* a CJK run of more than 8, when it was asked for */
} np_ident_kind;

/* A slice of the scanned text. Outer punctuation is stripped: . : @ # - / at both ends, but a
** single "/" that begins the run stays ("/usr/lib"). Lengths count what is left. A run of
** more than 256 bytes is data, no identifier. Words are compared by their bytes. CJK words:
** every pair of neighbours in a run of more than 8 characters, but for the common ones
** (common.h). What a quotation holds is found as well as the quotation. */
typedef struct np_ident {
  np_str text;
  np_ident_kind kind;
} np_ident;

typedef struct np_ident_iter {
  const char *p, *end;
  const char *plain;            /* up to here no identifiers, only words */
  const char *begin, *unquoted; /* of the text; no quotation begins before */
  bool runs; /* wanted: CJK runs of more than 8, before the words in them */
} np_ident_iter;

np_ident_iter np_ident_scan(np_str text);
/* Next identifier or word in order of place; false at the end. Linear in all. */
bool np_ident_next(np_ident_iter *it, np_ident *out);
/* True when `ident` stands in `text` as the scanner would find it; one of CJK characters
** also inside a longer run of them, which has no borders to see; a quotation also without its
** marks. Linear. */
bool np_ident_in(np_str text, np_str ident);

/* What kind of name it is, by its characters: snake_case, camelCase and kebab-case names and the
** rest (NAME); paths and files; URLs; numbers, dates, versions and measures such as 30ms; hashes
** and UUIDs; codes such as ERR_17 or ENOENT; CJK phrases; quotations. Words are OTHER. */
typedef enum np_ident_class {
  NP_CLASS_NAME,
  NP_CLASS_PATH,
  NP_CLASS_URL,
  NP_CLASS_NUMBER,
  NP_CLASS_HASH,
  NP_CLASS_CODE,
  NP_CLASS_CJK,
  NP_CLASS_QUOTE,
  NP_CLASS_OTHER,
  NP_CLASS_COUNT
} np_ident_class;
np_ident_class np_ident_class_of(np_str s, np_ident_kind kind);
const char *np_ident_class_name(np_ident_class c);

/* ---- the index ---- */

/* Who wrote an entry: decides what is a fact and what is a citation. */
typedef enum np_origin {
  NP_ORIGIN_FIXED,  /* system, tools */
  NP_ORIGIN_TASK,   /* the first user message */
  NP_ORIGIN_USER,   /* later user messages, files */
  NP_ORIGIN_MODEL,  /* assistant text, thoughts, calls: these cite */
  NP_ORIGIN_RESULT, /* results, memories, evidence */
  NP_ORIGIN_OTHER   /* summaries, notices, state: neither source nor citation */
} np_origin;

typedef struct np_cite np_cite;

/* One use of an identifier by the model that an earlier entry holds. Entries of the citing
** message and those of NP_ORIGIN_OTHER are no holders here. */
typedef struct np_citation {
  np_str text; /* the identifier; lives as long as the index */
  np_ident_kind kind;
  int64_t by, step; /* the citing entry and its step */
  int64_t credited; /* nearest earlier entry that holds it */
  int64_t first;    /* the first source, and its step */
  int64_t first_step;
  uint32_t holders; /* entries that held it before this citation */
  bool fact;        /* the first source is a result or a later user message */
  bool rare;        /* holders <= 3 */
} np_citation;

typedef struct np_cite_stat {
  uint32_t hits; /* rare citations credited to the entry (identifiers, not words) */
  uint32_t identifiers; /* distinct identifiers in it (not plain words) */
  /* of these, what a result or a later user message showed first and nothing later holds; and
  ** of those, what the model has written */
  uint32_t latest, written;
  uint32_t numbers; /* of the latest: those that are numbers, dates, versions, measures */
  uint32_t again;   /* how often the model has written them, each at most 4 times */
  uint32_t words;   /* plain words that at most three entries hold, the same way */
  int64_t last_hit; /* step of the last hit, 0 when never */
  int64_t
      repeated_by; /* the latest later result in which 80 % of its lines stand, or 0 */
} np_cite_stat;

np_cite *np_cite_new(const neap_alloc *a); /* NULL when out of memory */
void np_cite_free(np_cite *c);

/* Adds an entry's text. Ids rise from call to call; `message` groups parts of one message
** (parts of one message do not cite each other). An entry may be added in several calls in a
** row with the same id (call name, then arguments); the first says message, step and origin.
** The text is copied where it is needed. In CJK text, identifiers known from earlier are also
** found inside longer runs, the longest at each place.
** Errors: NEAP_E_MEMORY, and then the index is unusable; NEAP_E_ARG for an id that falls, with
** nothing changed. Linear in the text; capped work per identifier. */
neap_rc np_cite_add(np_cite *c, int64_t entry, int64_t message, int64_t step,
                    np_origin who, np_str text, np_err *e);

np_cite_stat np_cite_of(const np_cite *c,
                        int64_t entry); /* zeroes for an unknown entry */

/* What the loss of a fact weighs that nothing later holds; `written` and `again` are added once
** and for each time (4 at most) that the model has written it. */
typedef struct np_cite_weights {
  double name, number, word, written, again;
} np_cite_weights;
/* The sum over an entry's, and that of an identifier as it stands in the entry, 0 where something
** later holds it or it is no fact; *number gets its number in the index. */
double np_cite_worth(const np_cite_stat *st, const np_cite_weights *w);
double np_cite_weight_of(const np_cite *c, int64_t entry, np_str ident,
                         const np_cite_weights *w, uint32_t *number);

/* What later steps took from an entry. Each of its identifiers weighs 1 / (entries that hold
** it): the rarer, the more. np_cite_weight is that of all
** of them. From *at on (begin with 0)
** finds the next that is a fact, or would be one when cited, and that the model wrote in a
** later step than the entry's; false when there is no more. Linear in the entry's identifiers
** over all calls. */
typedef struct np_cite_use {
  double weight;
  int64_t step; /* the last that wrote it */
} np_cite_use;
double np_cite_weight(const np_cite *c, int64_t entry);
bool np_cite_use_next(const np_cite *c, int64_t entry, size_t *at, np_cite_use *out);

/* The share, 0 to 1, of the model's last 10 steps that hold no identifier of the goal: of the
** task or of the newest user message, the first 64 of each, compared by their last part (of
** paths what is behind the last slash, no line number). False while the goal has named
** nothing, or no step has come since. Constant work. */
bool np_cite_drift(const np_cite *c, double *share);

/* All citations so far, in order; those of one step are adjacent; of words only the rare ones of
** facts, as no measure takes others. The pointer is valid until the next np_cite_add. */
size_t np_cite_count(const np_cite *c);
const np_citation *np_cite_at(const np_cite *c, size_t i);

/* Entries that hold an identifier, oldest first (the first 64); valid until the next
** np_cite_add. */
size_t np_cite_holders(const np_cite *c, np_str ident, const int64_t **entries);
/* Up to `max` rarest identifiers of an entry (fewest holders first, then in order of place),
** for marks; slices live with the index. */
size_t np_cite_rarest(const np_cite *c, int64_t entry, np_str *out, size_t max);

#endif
