/*
** Gathering candidates: everything shown that is neither pinned nor held. Costs what is shown,
** however long the history behind it. next: shrink.c
*/
#include "pack/candidates.h"

#include <stdlib.h>

/* Ranks are rounded to 2^-20, so that the last bits of a policy's arithmetic decide nothing. */
static double round_rank(double r) {
  if (!(r >= 0) || r > 1e300) return 1;
  if (r > 4294967296.0) return r; /* coarser than the grid anyway */
  return (double)(uint64_t)(r * 1048576.0 + 0.5) / 1048576.0;
}

static double ask_rank(np_pack *p, int64_t id) {
  return p->rank ? round_rank(p->rank(p->rank_ctx, id)) : 1;
}

static bool add(np_pack *p, np_candidates *c, np_candidate one) {
  void *list = c->list;
  bool ok = np_grow(p->alloc, &list, &c->cap, c->count + 1, sizeof(np_candidate));
  c->list = list;
  if (ok) c->list[c->count++] = one;
  return ok;
}

bool np_candidates_may_lower(const np_pack *p, int64_t id) {
  const np_shown *s = np_view_at(&p->view, id);
  return s->listed && s->rung != NP_DROPPED && !np_pack_is_pinned(p, id) &&
         !np_pack_is_held(p, id);
}

/* ---- what is shown ---- */

static int by_id(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static int by_atom(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

/* How many are shown; their ids in `ids`, where that is given. */
static size_t walk(const np_view *v, int64_t *ids) {
  size_t n = 0;
  for (int64_t id = np_view_next_shown(v, 0); id; id = np_view_next_shown(v, id)) {
    if (ids) ids[n] = id;
    n++;
  }
  return n;
}

static bool list_shown(np_pack *p, np_candidates *c) {
  size_t n = walk(&p->view, NULL);
  c->ids = np_calloc(p->alloc, n + 1, sizeof *c->ids);
  c->ranks = np_calloc(p->alloc, n + 1, sizeof *c->ranks);
  c->atoms = np_calloc(p->alloc, n + 1, sizeof *c->atoms);
  if (!c->ids || !c->ranks || !c->atoms) return false;
  c->shown = walk(&p->view, c->ids);
  qsort(c->ids, n, sizeof *c->ids, by_id);
  for (size_t i = 0; i < n; i++) c->atoms[i] = np_log_entry(p->log, c->ids[i])->atom;
  qsort(c->atoms, n, sizeof *c->atoms, by_atom);
  for (size_t i = 0; i < n; i++) {
    if (!i || c->atoms[i] != c->atoms[i - 1]) c->atoms[c->atom_count++] = c->atoms[i];
  }
  return true;
}

double np_candidates_rank(const np_candidates *c, int64_t id) {
  size_t low = 0, high = c->shown;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (c->ids[mid] < id) low = mid + 1;
    else high = mid;
  }
  return low < c->shown && c->ids[low] == id ? c->ranks[low] : 0;
}

/* ---- the list ---- */

static bool is_last_shown(const np_pack *p, const np_entry *en) {
  int64_t id = en->next;
  while (id && !np_view_is_shown(&p->view, id)) id = np_log_entry(p->log, id)->next;
  return !id;
}

/* The atom, once, behind its last entry: ranks of all its entries are known by then. */
static bool add_atom(np_pack *p, np_candidates *c, uint32_t atom) {
  const np_atom *a = &p->log->atoms[atom];
  double rank = 0;
  if (!np_pack_may_drop(p, atom)) return true;
  for (int64_t id = a->first; id; id = np_log_entry(p->log, id)->next) {
    double one = np_candidates_rank(c, id);
    if (one > rank) rank = one;
  }
  return add(p, c, (np_candidate){a->last, atom, true, rank});
}

neap_rc np_candidates_gather(np_pack *p, np_candidates *out, np_err *e) {
  *out = (np_candidates){.regions = UINT32_MAX};
  if (!list_shown(p, out)) return np_fail_mem(e);
  for (size_t i = 0; i < out->shown; i++) {
    const np_entry *en = np_log_entry(p->log, out->ids[i]);
    bool ok = true;
    if (np_candidates_may_lower(p, en->id)) {
      out->ranks[i] = ask_rank(p, en->id);
      ok = add(p, out, (np_candidate){en->id, en->atom, false, out->ranks[i]});
    }
    if (ok && is_last_shown(p, en)) ok = add_atom(p, out, en->atom);
    if (!ok) return np_fail_mem(e);
  }
  return NEAP_OK;
}

void np_candidates_free(np_pack *p, np_candidates *c) {
  np_free(p->alloc, c->list);
  np_free(p->alloc, c->ids);
  np_free(p->alloc, c->ranks);
  np_free(p->alloc, c->atoms);
  *c = (np_candidates){0};
}
