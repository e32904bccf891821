/*
** Folding of lines that repeat: a run of lines that are the same, or the same but for their
** digits, becomes its first line, a line that says how many stood between, and its last.
** What is then cut is cut from the folded text. next: trim_fold.c
*/
#ifndef NP_RENDER_TRIM_FOLD_H
#define NP_RENDER_TRIM_FOLD_H

#include "base/buf.h"

/* Lines [from, to] of the text (1-based) became line `at` of the folded one. */
typedef struct np_folded_lines {
  size_t at, from, to;
} np_folded_lines;

typedef struct np_folded {
  np_str text; /* the text itself when nothing was folded */
  np_folded_lines *runs;
  size_t count, cap;
  np_buf buf;
} np_folded;

/* Folds the text, in one walk. `exact`: only lines that are the same to the byte. `out` may
** point into `text`; np_folded_free in any case. False when out of memory. */
bool np_fold_lines(np_str text, bool exact, const neap_alloc *a, np_folded *out);
void np_folded_free(np_folded *f);
/* The text as it is. */
np_folded np_folded_none(np_str text, const neap_alloc *a);

/* The line of the text that line `line` of the folded one was; of a run's own line its first,
** or, if `last`, its last. */
size_t np_folded_line(const np_folded *f, size_t line, bool last);

#endif
