/*
** How much of the beginning a choice can leave alone. What is lowered makes all that follows be
** written anew, so a choice among the later sets alone is cheaper to send; it loses more, and
** how much more is what the caller bounds. Losses are those of the linear relaxation, which
** np_choose meets within one step. next: value.c
*/
#include "pack/choose_steps.h"

#include <float.h>

/* The least that saving `need` loses when the first `from` sets are left alone; DBL_MAX when
** the others cannot save it. Rises with `from`. */
static double loss_behind(const np_steps *s, size_t from, int64_t need) {
  double lost = 0;
  for (size_t i = 0; i < s->count; i++) {
    const np_step *step = &s->at[i];
    if (step->set < from) continue;
    if (step->saved >= need) return lost + step->ratio * (double)need;
    need -= step->saved;
    lost += step->lost;
  }
  return DBL_MAX;
}

bool np_choose_front(const neap_alloc *a, const np_choice *c, int64_t need, double more,
                     size_t *sets) {
  np_steps s;
  *sets = 0;
  if (need <= 0 || !c->sets) return true;
  if (!np_steps_make(a, c, 0, &s)) return false;
  double least = loss_behind(&s, 0, need);
  size_t low = 0,
         high = c->sets; /* `low` can be left alone, more than `high` - 1 cannot */
  while (least < DBL_MAX && high - low > 1) {
    size_t mid = low + (high - low) / 2;
    if (loss_behind(&s, mid, need) <= least * (1 + more)) low = mid;
    else high = mid;
  }
  *sets = low;
  np_free(a, s.at);
  return true;
}

bool np_choose_can(const np_choice *c, int64_t need) {
  for (size_t i = 0; i < c->sets && need > 0; i++) {
    int64_t most = 0;
    for (size_t o = c->first[i]; o < c->first[i + 1]; o++) {
      if (c->options[o].saved > most) most = c->options[o].saved;
    }
    need -= most;
  }
  return need <= 0;
}
