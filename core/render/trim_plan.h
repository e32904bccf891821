/*
** The plan of one projection: the text cut into units (lines, and pieces of lines that are
** longer than the limit), which of them are kept, and what that costs. Not for others than
** trim*.c. next: trim_plan.c
*/
#ifndef NP_RENDER_TRIM_PLAN_H
#define NP_RENDER_TRIM_PLAN_H

#include "render/trim.h"
#include "text/table.h"

typedef struct np_unit {
  size_t from;         /* its first byte; it ends where the next begins */
  uint32_t tokens;     /* 0: not counted yet */
  unsigned score : 31; /* what a choice thinks of it; 0: nothing */
  unsigned kept : 1;
} np_unit;

typedef struct np_plan {
  const np_vocab *v;
  np_str text, about;
  const neap_alloc *alloc;
  const np_stretches *among; /* NULL: all of the text */
  const np_scorer *scorer;
  np_trim_facts facts;
  size_t limit; /* of the joined text */
  size_t lines; /* that may be kept; SIZE_MAX: any number */
  size_t
      budget; /* what may be chosen: the limit, or less when the joined text was over */
  size_t gap_cost; /* tokens of a gap on its own line */
  np_unit *units;
  size_t n, cap;               /* units[n] marks the end of the text */
  size_t used;                 /* tokens of the kept units, by themselves */
  size_t count;                /* of kept units: as many lines, or fewer */
  size_t runs;                 /* of kept units */
  size_t head, tail;           /* of a choice by ends: [0, head) and [tail, text.n) */
  size_t trace_from, trace_to; /* units of the first stack trace */
  np_table table;
  size_t head_from, head_to; /* units of its head */
  size_t first, last; /* units that `dense` keeps at the head, begins the tail with */
} np_plan;

/* Adds a unit that begins at byte `from` and has so many tokens (0: not counted yet). */
bool np_plan_add(np_plan *p, size_t from, size_t tokens);
/* Cuts the text; false when out of memory. */
bool np_plan_cut(np_plan *p);
np_str np_plan_unit(const np_plan *p, size_t i); /* its bytes, newline included */
void np_plan_reset(np_plan *p);                  /* keeps nothing */

/* np_vocab_fit, without reading all of a text that is far too long. */
size_t np_plan_fit(const np_plan *p, np_str s, size_t max, bool tail);
/* True when `s` has at most `max` tokens, *tokens; for one that has far more it does not
** count to the end. */
bool np_plan_fits(const np_plan *p, np_str s, size_t max, size_t *tokens);

/* Keeps unit i if that stays within the budget. */
bool np_plan_take(np_plan *p, size_t i);
/* Keeps units from the head (the tail) on while they cost at most `amount` and are at most
** `lines` more; returns the first unit it did not keep (the first it kept). */
size_t np_plan_head(np_plan *p, size_t amount, size_t lines);
size_t np_plan_tail(np_plan *p, size_t amount, size_t lines);
/* So many hundredths of n, and of the lines that may be kept: at least 1. */
size_t np_plan_share(size_t n, unsigned percent);
size_t np_plan_share_lines(const np_plan *p, unsigned percent);
/* Keeps units of at least the score `least`, best first, then in order of place, each with as
** many neighbours as `context` says. False when out of memory. */
bool np_plan_best(np_plan *p, unsigned least, size_t context);
/* Spends what is left on the ends and closes gaps that cost more than what they leave out. */
void np_plan_fill(np_plan *p);

/* The choices: scores once, then (for each budget tried) what is kept. `found` says whether
** there was anything to score. They return false when out of memory. */
void np_plan_ends(np_plan *p, np_keep keep);
bool np_dense_score(np_plan *p);
bool np_dense_keep(np_plan *p);
/* Adds to every unit's score what its new identifiers are worth: less than 2^15. */
bool np_dense_add(np_plan *p);
void np_errors_score(np_plan *p, bool *found);
bool np_errors_keep(np_plan *p);
bool np_about_score(np_plan *p, bool *found);
bool np_about_keep(np_plan *p);

/* The same among stretches: cuts the text into their lines and what lies between; keeps what fits. */
bool np_stretches_cut(np_plan *p, const np_stretches *stretches);
void np_stretches_keep(np_plan *p);

#endif
