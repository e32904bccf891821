/*
** Choosing from many sets. The cheapest steps are taken in a row until the next one would save
** enough; then, of all steps that could be the last, and of the steps already taken that it
** makes superfluous, the pair that loses the least.
**
** Why a greater need never loses less: a last step c saves more than what it makes superfluous,
** and its ratio is higher, so any way to go past a row of steps loses more than the row; and
** with the same row, a greater need only takes ways away. next: choose.c
*/
#include "pack/choose_steps.h"

#include <stdlib.h>

/* A step at the end of its set's row: it can be taken back. */
typedef struct taken {
  int64_t saved;
  const np_step *step;
  /* of this one and those that save less: the two that lose the most, NULL when none */
  const np_step *most, *second;
} taken;

typedef struct way {
  const np_step *last, *back; /* taken besides the row, taken back from it; NULL: none */
  double lost;                /* more than the row */
} way;

static int by_saved(const void *a, const void *b) {
  const taken *x = a, *y = b;
  if (x->saved != y->saved) return x->saved < y->saved ? -1 : 1;
  return x->step->set < y->step->set ? -1 : 1;
}

static size_t gather(const np_steps *s, const size_t *newest, size_t sets, taken *out) {
  size_t n = 0;
  for (size_t i = 0; i < sets; i++) {
    if (newest[i] == SIZE_MAX) continue;
    const np_step *step = &s->at[newest[i]];
    out[n++] = (taken){.saved = step->saved, .step = step};
  }
  if (n) qsort(out, n, sizeof *out, by_saved);
  for (size_t i = 0; i < n; i++) {
    const np_step *most = i ? out[i - 1].most : NULL;
    const np_step *second = i ? out[i - 1].second : NULL, *now = out[i].step;
    bool first = !most || now->lost > most->lost;
    out[i].most = first ? now : most;
    out[i].second = first ? most : !second || now->lost > second->lost ? now : second;
  }
  return n;
}

/* Of the steps of other sets that save at most `slack`, the one that loses the most. */
static const np_step *superfluous(const taken *list, size_t n, int64_t slack,
                                  size_t set) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (list[mid].saved <= slack) low = mid + 1;
    else high = mid;
  }
  if (!low) return NULL;
  const taken *t = &list[low - 1];
  return t->most->set != set ? t->most : t->second;
}

/* The best way to save `need` more with one step from `from` on, the first of its set. */
static way best_way(const np_steps *s, size_t from, int64_t need, const taken *list,
                    size_t n, bool *seen) {
  way best = {0};
  for (size_t i = from; i < s->count; i++) {
    const np_step *step = &s->at[i];
    if (seen[step->set]) continue;
    seen[step->set] = true;
    if (step->saved < need) continue;
    const np_step *back = superfluous(list, n, step->saved - need, step->set);
    double lost = step->lost - (back ? back->lost : 0);
    if (!best.last || lost < best.lost) best = (way){step, back, lost};
  }
  return best;
}

/* Steps that are taken for certain: all before the first that would save enough. */
static size_t row(const np_steps *s, int64_t *need, size_t *newest, double *lost) {
  size_t n = 0;
  for (; n < s->count && s->at[n].saved < *need; n++) {
    *need -= s->at[n].saved;
    *lost += s->at[n].lost;
    newest[s->at[n].set] = n;
  }
  return n;
}

bool np_choose_steps(const neap_alloc *a, const np_choice *c, const np_steps *s,
                     int64_t need, size_t *picked, double *lost) {
  size_t *newest = np_calloc(a, c->sets + 1, sizeof *newest);
  taken *list = np_calloc(a, c->sets + 1, sizeof *list);
  bool *seen = np_calloc(a, c->sets + 1, sizeof *seen);
  bool ok = newest && list && seen;
  *lost = 0;
  if (ok) {
    for (size_t i = 0; i < c->sets; i++) newest[i] = SIZE_MAX;
    size_t n = row(s, &need, newest, lost);
    for (size_t i = 0; i < n; i++) picked[s->at[i].set] = s->at[i].option;
    way w = best_way(s, n, need, list, gather(s, newest, c->sets, list), seen);
    if (w.back) picked[w.back->set] = w.back->from;
    if (w.last) picked[w.last->set] = w.last->option;
    *lost += w.lost;
  }
  np_free(a, newest);
  np_free(a, list);
  np_free(a, seen);
  return ok;
}
