/*
** Gathering candidates: everything listed that is neither pinned nor held. next: shrink.c
*/
#include "pack/candidates.h"

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

/* The atom, once, at its last entry: ranks of all its entries are known by then. */
static bool add_atom(np_pack *p, np_candidates *c, const np_entry *en) {
  double rank = 0;
  if (!np_pack_may_drop(p, en->atom)) return true;
  for (int64_t id = p->log->atoms[en->atom].first; id;
       id = np_log_entry(p->log, id)->next) {
    if (c->rank[id - 1] > rank) rank = c->rank[id - 1];
  }
  return add(p, c, (np_candidate){en->id, en->atom, true, rank});
}

neap_rc np_candidates_gather(np_pack *p, np_candidates *out, np_err *e) {
  *out = (np_candidates){.regions = UINT32_MAX};
  out->rank = np_calloc(p->alloc, p->view.count + 1, sizeof(double));
  if (!out->rank) return np_fail_mem(e);
  for (size_t i = 0; i < p->view.count; i++) {
    const np_entry *en = &p->log->entries[i];
    bool ok = true;
    if (np_candidates_may_lower(p, en->id)) {
      out->rank[i] = ask_rank(p, en->id);
      ok = add(p, out, (np_candidate){en->id, en->atom, false, out->rank[i]});
    }
    if (ok && en->id == p->log->atoms[en->atom].last &&
        p->view.shown[i].rung != NP_DROPPED) {
      ok = add_atom(p, out, en);
    }
    if (!ok) return np_fail_mem(e);
  }
  return NEAP_OK;
}

void np_candidates_free(np_pack *p, np_candidates *c) {
  np_free(p->alloc, c->list);
  np_free(p->alloc, c->rank);
  *c = (np_candidates){0};
}
