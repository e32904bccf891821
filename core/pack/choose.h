/*
** The multiple-choice knapsack at the heart of packing by value: every set offers options that
** save tokens and lose value; one is chosen of each, so that enough is saved and as little as
** possible is lost. Knows nothing of prompts. next: choose.c
*/
#ifndef NP_PACK_CHOOSE_H
#define NP_PACK_CHOOSE_H

#include "base/mem.h"

typedef struct np_option {
  int64_t saved; /* tokens, > 0 */
  double lost;   /* value, finite and >= 0 */
} np_option;

/* Set i offers options[first[i]] .. options[first[i + 1] - 1], in any order, and "leave it". */
typedef struct np_choice {
  const np_option *options;
  const size_t *first; /* sets + 1 offsets */
  size_t sets;
} np_choice;

#define NP_CHOICE_LEFT SIZE_MAX /* nothing of this set */
#define NP_CHOICE_EXACT 24      /* up to so many sets the least loss is found */

/* Writes to picked[i] the index into `options` of what is taken of set i, or NP_CHOICE_LEFT.
** What is saved adds up to at least `need`, or everything is taken to its end. Up to
** NP_CHOICE_EXACT sets the loss is the least there is. With more it exceeds the bound of linear
** programming by less than the loss of one step, and it never grows when `need` falls. The
** same input gives the same choice. False: out of memory. */
bool np_choose(const neap_alloc *a, const np_choice *c, int64_t need, size_t *picked);

/* Writes to *sets how many of the first sets can be left alone when up to `more` times the
** least loss may be lost besides it; 0 also when not everything together saves `need`. False:
** out of memory. */
bool np_choose_front(const neap_alloc *a, const np_choice *c, int64_t need, double more,
                     size_t *sets);
/* Whether everything together saves `need`. */
bool np_choose_can(const np_choice *c, int64_t need);

#endif
