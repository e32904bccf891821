/*
** Parts of a text by what is asked for: lines, head, tail, matches, a JSON path, rows, a
** section. A part is written in words ("41-380", "head 50", "match timeout"), and becomes
** stretches of bytes. No tokens here: render/project.h shows parts and stops at a limit.
** next: extract_parse.c, extract.c
*/
#ifndef NP_TEXT_EXTRACT_H
#define NP_TEXT_EXTRACT_H

#include "base/buf.h"
#include "base/err.h"

typedef enum np_extract_kind {
  NP_EXTRACT_ALL,   /* "", "all" */
  NP_EXTRACT_LINES, /* "41-380", "41-", "-380", "41", "lines 41-380" */
  NP_EXTRACT_HEAD,  /* "head 50": lines */
  NP_EXTRACT_TAIL,  /* "tail 50" */
  NP_EXTRACT_ENDS,  /* "ends 50": half of them from the head, half from the tail */
  NP_EXTRACT_MATCH, /* "match timeout", "match -C 2 ^err(or)?:": a regular expression, a line */
  NP_EXTRACT_ERRORS,  /* "errors": the first stack trace, lines that speak of errors */
  NP_EXTRACT_JSON,    /* "json $.items[0]" */
  NP_EXTRACT_ROWS,    /* "rows 1-20": of a table; its head is kept */
  NP_EXTRACT_SECTION, /* "section Install": of Markdown or HTML, by its heading */
  NP_EXTRACT_OUTLINE, /* "outline": headings, definitions, the shape of JSON */
  NP_EXTRACT_ABOUT    /* "about retry policy": the lines that matter for a goal */
} np_extract_kind;

#define NP_EXTRACT_LINES_PLAIN 50 /* of "head", "tail", "ends" without a number */

typedef struct np_extract {
  np_extract_kind kind;
  size_t from, to; /* LINES, ROWS: 1-based, both included; to = SIZE_MAX: to the end */
  size_t count;    /* HEAD, TAIL, ENDS: lines */
  size_t context;  /* MATCH: lines around each */
  np_str argument; /* MATCH, JSON, SECTION, ABOUT: a slice of the words */
} np_extract;

/* Reads a part as it is written; slices point into `words`. NEAP_E_ARG with one line that
** lists the known forms. */
neap_rc np_extract_parse(np_str words, np_extract *out, np_err *e);
/* "lines", "head", … */
const char *np_extract_name(np_extract_kind kind);

/* Bytes [from, to) of the text. */
typedef struct np_stretch {
  size_t from, to;
  size_t focus;  /* what must be seen if the stretch is too long to be shown */
  unsigned rank; /* 0: shown before those of a higher one, when not all can be */
  bool apart;    /* shown whole or not at all: never joined with its neighbours */
} np_stretch;

/* What a part is of one text. */
typedef struct np_stretches {
  np_stretch *at; /* rising, disjoint; on borders of characters and graphemes */
  size_t n, cap;
  size_t found; /* MATCH: lines that match; JSON: values; ROWS: rows of the table */
  np_buf made;  /* what is no slice of the text (the shape of JSON); else empty */
} np_stretches;

/* Finds the part; np_stretches_free in any case. ERRORS and ABOUT are all of the text here: what
** is kept of it is chosen by cost (render/). Time is linear in the text, whatever is asked.
** Errors: NEAP_E_NOTFOUND (no such line, match, path, section; the line says what there is),
** NEAP_E_ARG (a pattern or path that cannot be read), NEAP_E_LIMIT (a pattern that takes too
** long), NEAP_E_SHAPE (rows of what is no table), NEAP_E_MEMORY. */
neap_rc np_extract_select(np_str text, const np_extract *what, const neap_alloc *a,
                          np_stretches *out, np_err *e);
void np_stretches_free(np_stretches *s);
/* Adds a stretch behind the others; joins it with the last one when they touch and are of one
** rank. False when out of memory. */
bool np_stretches_add(np_stretches *s, const neap_alloc *a, np_stretch stretch);

#endif
