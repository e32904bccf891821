/*
** What was rolled back of sessions that lie in the store: their records of going back say which
** entries are void, without the session being opened. next: recall.c
*/
#include "engine/words.h"

/* ---- one entry ---- */

typedef struct look {
  const neap_alloc *alloc;
  int64_t entry;
  np_buf *why;
  bool found;
} look;

static neap_rc take_one(void *ctx, const np_event *ev, bool purged) {
  look *l = ctx;
  np_gone g;
  if (purged || ev->kind != NP_EV_ROLLBACK) return NEAP_OK;
  np_buf_clear(l->why);
  bool good = np_gone_read(ev->head, &g, l->why);
  l->found = good && g.from <= l->entry && l->entry <= g.to;
  if (l->why->failed) return NEAP_E_MEMORY;
  return l->found ? NEAP_E_LIMIT : NEAP_OK; /* the first that went behind it is why */
}

neap_rc np_voided(neap *n, np_str session, int64_t entry, np_buf *why, bool *is,
                  np_err *e) {
  np_store *st = n->store;
  look l = {&n->alloc, entry, why, false};
  neap_rc rc = st->ops->heads(st, np_str_cstr(n->tenant), session, NP_EV_ROLLBACK, 1,
                              take_one, &l, e);
  *is = l.found;
  if (rc == NEAP_E_MEMORY) return np_fail_mem(e);
  return rc == NEAP_E_LIMIT ? NEAP_OK : rc;
}

/* ---- hits ---- */

typedef struct mark {
  const np_hit *hits;
  size_t n;
  np_str session;
  bool *voided;
  np_buf why;
} mark;

static neap_rc take_all(void *ctx, const np_event *ev, bool purged) {
  mark *m = ctx;
  np_gone g;
  if (purged || ev->kind != NP_EV_ROLLBACK) return NEAP_OK;
  np_buf_clear(&m->why);
  if (!np_gone_read(ev->head, &g, &m->why)) return NEAP_OK;
  for (size_t i = 0; i < m->n; i++) {
    const np_hit *h = &m->hits[i];
    if (g.from <= h->entry && h->entry <= g.to && np_str_eq(h->session, m->session))
      m->voided[i] = true;
  }
  return NEAP_OK;
}

static bool is_first(const np_hit *hits, size_t i) {
  for (size_t k = 0; k < i; k++) {
    if (np_str_eq(hits[k].session, hits[i].session)) return false;
  }
  return true;
}

neap_rc np_voided_hits(neap *n, const np_hit *hits, size_t count, bool *voided,
                       np_err *e) {
  np_store *st = n->store;
  mark m = {.hits = hits, .n = count, .voided = voided};
  neap_rc rc = NEAP_OK;
  memset(voided, 0, count * sizeof *voided);
  np_buf_init(&m.why, &n->alloc);
  for (size_t i = 0; rc == NEAP_OK && i < count; i++) {
    if (!is_first(hits, i)) continue;
    m.session = hits[i].session;
    rc = st->ops->heads(st, np_str_cstr(n->tenant), m.session, NP_EV_ROLLBACK, 1,
                        take_all, &m, e);
  }
  np_buf_free(&m.why);
  return rc;
}
