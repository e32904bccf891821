/*
** Stored sessions: the list, the events of one, and a copy of its beginning. next: export.c
*/
#include "engine/stored.h"

#include "text/text.h"

static const char *const names[] = {
    [NP_EV_OPEN] = "open",         [NP_EV_TOOLS] = "tools",
    [NP_EV_REQUEST] = "request",   [NP_EV_MESSAGE] = "message",
    [NP_EV_TURN] = "turn",         [NP_EV_POLICY] = "policy",
    [NP_EV_STATE] = "state",       [NP_EV_RESPONSE] = "response",
    [NP_EV_NOTE] = "note",         [NP_EV_ASK] = "ask",
    [NP_EV_ANSWER] = "answer",     [NP_EV_SETTLED] = "settled",
    [NP_EV_USAGE] = "usage",       [NP_EV_NOW] = "now",
    [NP_EV_TOOLSET] = "toolset",   [NP_EV_SHADOW] = "shadow",
    [NP_EV_SCHEMA] = "schema",     [NP_EV_PROPOSAL] = "proposal",
    [NP_EV_FILE] = "file",         [NP_EV_MARK] = "mark",
    [NP_EV_ROLLBACK] = "rollback", [NP_EV_REFUTE] = "refute",
    [NP_EV_SCRATCH] = "scratch",   [NP_EV_PHASE] = "phase",
    [NP_EV_CHECK] = "check",
};
_Static_assert(NP_COUNT(names) == NP_EV_END, "every kind of event has a name");

const char *np_event_name(int32_t kind) {
  return kind > 0 && (size_t)kind < NP_COUNT(names) ? names[kind] : NULL;
}

bool np_event_kind_of(np_str name, int32_t *kind) {
  for (size_t i = 1; i < NP_COUNT(names); i++) {
    if (!names[i] || !np_str_is(name, names[i])) continue;
    *kind = (int32_t)i;
    return true;
  }
  return false;
}

neap_rc np_stored_name(neap *n, const char *name, np_err *e) {
  (void)n;
  np_str s = np_str_cstr(name);
  size_t at = np_utf8_valid(s);
  if (at == s.n) return NEAP_OK;
  np_fail(e, NEAP_E_ARG,
          "the session's name is not UTF-8 at byte %zu; use a name in UTF-8", at);
  if (e) e->pos = at;
  return NEAP_E_ARG;
}

neap_rc np_stored_store(neap *n, np_store **st, np_err *e) {
  *st = n->store;
  if (n->store) return NEAP_OK;
  if (n->error.code) *e = n->error;
  else np_fail(e, NEAP_E_MISUSE, "there is no store; open one");
  return e->code;
}

neap_rc np_stored_apart(np_store *st, np_str tenant, const np_event *ev, np_buf *out,
                        np_err *e) {
  uint8_t hash[NP_SHA256];
  size_t had = out->n;
  neap_rc rc = st->ops->get(st, tenant, ev->hash, out, e);
  if (rc) return rc;
  np_sha256(np_str_of(out->p + had, out->n - had), hash);
  if (memcmp(hash, ev->hash, NP_SHA256) == 0) return NEAP_OK;
  return np_fail(e, NEAP_E_CORRUPT,
                 "the content of event %lld differs from its hash; nothing was copied",
                 (long long)ev->seq);
}

/* ---- the list ---- */

typedef struct listing {
  neap_stored_fn fn;
  void *ctx;
} listing;

static neap_rc list_one(void *ctx, const np_session_row *row) {
  const listing *l = ctx;
  neap_stored one = {.name = row->name, .events = row->events};
  return l->fn(l->ctx, &one) ? NEAP_OK : NEAP_E_LIMIT;
}

neap_rc neap_session_list(neap *n, neap_stored_fn fn, void *ctx) {
  np_err e = {0};
  np_store *st;
  if (!n || !fn) return NEAP_E_ARG;
  listing l = {fn, ctx};
  neap_rc rc = np_stored_store(n, &st, &e);
  if (!rc) rc = st->ops->sessions(st, np_str_cstr(n->tenant), list_one, &l, &e);
  if (rc == NEAP_E_LIMIT && !e.code) rc = NEAP_OK; /* the host has seen enough */
  return rc ? np_engine_fail(n, &e) : NEAP_OK;
}

/* ---- events ---- */

typedef struct showing {
  neap_event_fn fn;
  void *ctx;
  bool enough;
} showing;

static neap_rc show_one(void *ctx, const np_event *ev, bool purged) {
  showing *s = ctx;
  neap_event one = {.seq = ev->seq,
                    .kind = np_event_name(ev->kind),
                    .head = ev->head,
                    .body = ev->body,
                    .purged = purged};
  if (!one.kind) one.kind = "";
  s->enough = !s->fn(s->ctx, &one);
  return s->enough ? NEAP_E_LIMIT : NEAP_OK;
}

static neap_rc known(neap *n, np_store *st, np_str name, np_err *e) {
  np_claim look;
  return st->ops->claim(st, np_str_cstr(n->tenant), name, true, &look, e);
}

neap_rc neap_session_events(neap *n, const char *name, int64_t from, neap_event_fn fn,
                            void *ctx) {
  np_err e = {0};
  np_store *st;
  if (!n || !name || !fn) return NEAP_E_ARG;
  showing s = {fn, ctx, false};
  np_str session = np_str_cstr(name);
  neap_rc rc = np_stored_store(n, &st, &e);
  if (!rc) rc = known(n, st, session, &e);
  if (!rc)
    rc = st->ops->read(st, np_str_cstr(n->tenant), session, from, show_one, &s, &e);
  if (rc && !s.enough) return np_engine_fail(n, &e);
  return NEAP_OK;
}

/* ---- a copy ---- */

typedef struct search {
  int64_t turn, turns; /* that is looked for; seen */
  int64_t upto;        /* 0: not yet */
} search;

/* A turn's state is written behind it. */
static neap_rc find_turn(void *ctx, const np_event *ev, bool purged) {
  search *s = ctx;
  (void)purged;
  if (s->upto) {
    if (ev->kind == NP_EV_STATE) s->upto = ev->seq;
    return NEAP_E_LIMIT;
  }
  if (ev->kind == NP_EV_TURN && ++s->turns == s->turn) s->upto = ev->seq;
  return NEAP_OK;
}

static neap_rc how_many(neap *n, np_store *st, np_str from, const neap_fork *f,
                        int64_t *upto, np_err *e) {
  np_claim look;
  np_str tenant = np_str_cstr(n->tenant);
  if (f->turn < 0 || f->events < 0 || (f->turn && f->events))
    return np_fail(e, NEAP_E_ARG, "a copy ends at a turn or at an event from 1 on");
  neap_rc rc = st->ops->claim(st, tenant, from, true, &look, e);
  if (rc) return rc;
  *upto = f->events ? f->events : look.last_seq;
  if (f->events > look.last_seq)
    return np_fail(e, NEAP_E_NOTFOUND, "session %s has %lld events, not %lld; take fewer",
                   from.p, (long long)look.last_seq, (long long)f->events);
  if (!f->turn) return NEAP_OK;
  search s = {.turn = f->turn};
  np_err stop = {0};
  rc = st->ops->read(st, tenant, from, 1, find_turn, &s, &stop);
  *upto = s.upto;
  if (s.upto) return NEAP_OK;
  if (rc) {
    *e = stop;
    return rc;
  }
  if (!s.turns)
    return np_fail(e, NEAP_E_NOTFOUND,
                   "session %s has no turns: no prompt was made of it; take events",
                   from.p);
  return np_fail(e, NEAP_E_NOTFOUND, "session %s has %lld turns, not %lld; take fewer",
                 from.p, (long long)s.turns, (long long)f->turn);
}

neap_rc neap_session_fork(neap *n, const char *from, const neap_fork *how,
                          const char *name) {
  np_err e = {0};
  np_store *st;
  neap_fork f = {0};
  int64_t upto = 0;
  if (!n || !from || !name) return NEAP_E_ARG;
  if (how) memcpy(&f, how, how->size < sizeof f ? how->size : sizeof f);
  np_str origin = np_str_cstr(from);
  neap_rc rc = np_stored_store(n, &st, &e);
  if (!rc) rc = np_stored_name(n, name, &e);
  if (!rc) rc = how_many(n, st, origin, &f, &upto, &e);
  if (!rc)
    rc = st->ops->fork(st, np_str_cstr(n->tenant), origin, np_str_cstr(name), upto, &e);
  return rc ? np_engine_fail(n, &e) : NEAP_OK;
}

static neap_rc remove_session(neap *n, np_store *st, np_str session, np_removed *out,
                              np_err *e) {
  if (!st->ops->remove)
    return np_fail(e, NEAP_E_MISUSE,
                   "a store in memory has no file; open one with a path");
  if (np_stored_is_open(n, session)) {
    return np_fail(e, NEAP_E_MISUSE,
                   "session %.*s is open here, and is not removed; close it first",
                   session.n > 80 ? 80 : (int)session.n, session.p);
  }
  return st->ops->remove(st, np_str_cstr(n->tenant), session, out, e);
}

neap_rc neap_session_remove(neap *n, const char *name, int64_t *events,
                            int64_t *contents) {
  np_err e = {0};
  np_store *st;
  np_removed out = {0};
  if (!n || !name) return NEAP_E_ARG;
  neap_rc rc = np_stored_store(n, &st, &e);
  if (!rc) rc = np_stored_name(n, name, &e);
  if (!rc) rc = remove_session(n, st, np_str_cstr(name), &out, &e);
  if (events) *events = out.events;
  if (contents) *contents = out.contents;
  return rc ? np_engine_fail(n, &e) : NEAP_OK;
}
