/*
** The steps down the lower hulls of a choice's sets, cheapest first. For pack/choose*.c only.
** next: choose_steps.c, choose_many.c
*/
#ifndef NP_PACK_CHOOSE_STEPS_H
#define NP_PACK_CHOOSE_STEPS_H

#include "pack/choose.h"

/* From one corner of a set's lower hull to the next: what is saved and lost more. */
typedef struct np_step {
  int64_t saved;
  double lost;
  double ratio;       /* lost / saved: it rises along a set */
  size_t set, option; /* the corner that it leads to */
  size_t from;        /* the corner that it leaves, NP_CHOICE_LEFT for the first */
} np_step;

typedef struct np_steps {
  np_step *at; /* by loss per token; those of one set in their order */
  size_t count;
} np_steps;

/* The steps of all sets from `from` on; freed by np_free(a, out->at). False: out of memory. */
bool np_steps_make(const neap_alloc *a, const np_choice *c, size_t from, np_steps *out);

/* For many sets (choose_many.c): the cheapest steps in a row and, of the ways to take the last
** one, the best. False: out of memory. */
bool np_choose_steps(const neap_alloc *a, const np_choice *c, const np_steps *s,
                     int64_t need, size_t *picked, double *lost);

#endif
