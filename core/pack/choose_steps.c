/*
** Lower hulls. Of a set's options only those can stand in a solution of the linear relaxation
** that lie on the lower hull of (saved, lost); along it the loss per token rises, so taking
** steps in the order of that ratio takes each set's steps in their order (Sinha and Zoltners
** 1979). next: choose_many.c
*/
#include "pack/choose_steps.h"

#include <stdlib.h>

typedef struct corner {
  int64_t saved;
  double lost;
  size_t option;
} corner;

static int by_saved(const void *a, const void *b) {
  const corner *x = a, *y = b;
  if (x->saved != y->saved) return x->saved < y->saved ? -1 : 1;
  if (x->lost != y->lost) return x->lost < y->lost ? -1 : 1;
  return x->option < y->option ? -1 : 1;
}

static double ratio(const corner *from, const corner *to) {
  return (to->lost - from->lost) / (double)(to->saved - from->saved);
}

/* Sorts the corners and keeps those of the lower hull from (0, 0) on; returns how many. The
** last one saves the most there is. */
static size_t hull(corner *list, size_t n) {
  size_t kept = 1;
  qsort(list + 1, n - 1, sizeof *list, by_saved);
  for (size_t i = 1; i < n; i++) {
    if (list[i].saved == list[kept - 1].saved) continue; /* the cheaper one is there */
    while (kept > 1 &&
           ratio(&list[kept - 2], &list[kept - 1]) >= ratio(&list[kept - 1], &list[i])) {
      kept--;
    }
    list[kept++] = list[i];
  }
  return kept;
}

static int by_ratio(const void *a, const void *b) {
  const np_step *x = a, *y = b;
  if (x->ratio != y->ratio) return x->ratio < y->ratio ? -1 : 1;
  return x->set < y->set ? -1 : x->set > y->set;
}

static size_t widest(const np_choice *c, size_t from) {
  size_t most = 0;
  for (size_t i = from; i < c->sets; i++) {
    size_t n = c->first[i + 1] - c->first[i];
    if (n > most) most = n;
  }
  return most;
}

static void add_set(const np_choice *c, size_t set, corner *list, np_steps *out) {
  size_t n = 1;
  list[0] = (corner){0, 0, NP_CHOICE_LEFT};
  for (size_t i = c->first[set]; i < c->first[set + 1]; i++) {
    list[n++] = (corner){c->options[i].saved, c->options[i].lost, i};
  }
  n = hull(list, n);
  for (size_t i = 1; i < n; i++) {
    const corner *from = &list[i - 1], *to = &list[i];
    out->at[out->count++] = (np_step){to->saved - from->saved,
                                      to->lost - from->lost,
                                      ratio(from, to),
                                      set,
                                      to->option,
                                      from->option};
  }
}

bool np_steps_make(const neap_alloc *a, const np_choice *c, size_t from, np_steps *out) {
  corner *list = np_calloc(a, widest(c, from) + 1, sizeof *list);
  *out = (np_steps){np_calloc(a, c->first[c->sets] - c->first[from] + 1, sizeof *out->at),
                    0};
  bool ok = list && out->at;
  for (size_t i = from; ok && i < c->sets; i++) add_set(c, i, list, out);
  np_free(a, list);
  if (!ok) {
    np_free(a, out->at);
    out->at = NULL;
  }
  if (ok) qsort(out->at, out->count, sizeof *out->at, by_ratio);
  return ok;
}
