/*
** Artifacts of the store: put, read, listed and removed by session and id, without opening the
** session. Their events say what they are and which id they have. next: expire.c
*/
#include "engine/artifact.h"

#include "engine/stored.h"
#include "engine/words.h"

#define FILES "files" /* the session of what belongs to none */
#define TRIES 64      /* of others who put into the same session at the same time */

static np_str session_of(const char *name) {
  return np_str_cstr(name && *name ? name : FILES);
}

static neap_rc begin(const neap *n) {
  if (!n) return NEAP_E_ARG;
  if (!n->store) return n->error.code ? n->error.code : NEAP_E_MISUSE;
  return NEAP_OK;
}

static neap_rc end(neap *n, neap_rc rc, const np_err *e) {
  return rc == NEAP_OK ? rc : np_engine_fail(n, e);
}

/* ---- putting ----------------------------------------------------------------------- */

bool np_stored_is_open(neap *n, np_str session) {
  bool open = false;
  mtx_lock(&n->lock);
  for (neap_session *s = n->sessions; s && !open; s = s->next)
    open = np_str_is(session, s->name);
  mtx_unlock(&n->lock);
  return open;
}

typedef struct last {
  neap *n;
  bool is_file;
  int64_t id;
} last;

static neap_rc take_last(void *ctx, const np_event *ev, bool purged) {
  last *l = ctx;
  np_arena ar;
  np_file f;
  if (ev->kind != NP_EV_FILE) return NEAP_OK;
  np_arena_init(&ar, &l->n->alloc);
  l->is_file = np_file_read(&ar, ev, purged, &f);
  l->id = f.id;
  np_arena_free(&ar);
  return NEAP_OK;
}

/* The id that the session's next entry has: behind an artifact one more, else the log says. */
static neap_rc next_id(neap *n, const np_claim *c, int64_t *id, np_err *e) {
  last l = {.n = n};
  np_store *st = n->store;
  *id = 1;
  if (c->last_seq == 0) return NEAP_OK;
  neap_rc rc =
      st->ops->heads(st, c->tenant, c->session, 0, c->last_seq, take_last, &l, e);
  if (rc != NEAP_OK) return rc;
  if (!l.is_file) rc = np_words_entries(n, c->session, &l.id, e);
  *id = l.id + 1;
  if (rc != NEAP_OK || *id <= NP_FILE_ID_MAX) return rc;
  return np_fail(e, NEAP_E_LIMIT,
                 "session %.*s has the highest number of an entry; use another session",
                 c->session.n > 80 ? 80 : (int)c->session.n, c->session.p);
}

static neap_rc put_once(neap *n, np_str session, np_str bytes, np_file *f, np_err *e) {
  np_claim c;
  np_buf head;
  np_store *st = n->store;
  neap_rc rc = st->ops->claim(st, np_str_cstr(n->tenant), session, false, &c, e);
  if (rc == NEAP_OK) rc = next_id(n, &c, &f->id, e);
  if (rc != NEAP_OK) return rc;
  np_buf_init(&head, &n->alloc);
  np_file_write(f, &head);
  np_event ev = {.seq = c.last_seq + 1,
                 .kind = NP_EV_FILE,
                 .version = 1,
                 .head = np_buf_str(&head),
                 .body = bytes,
                 .apart = true};
  rc = head.failed ? np_fail_mem(e)
                   : st->ops->append(st, &c, &ev, 1, NEAP_DURABLE_PROCESS, e);
  np_buf_free(&head);
  return rc;
}

static neap_rc put(neap *n, np_str session, np_str bytes, const neap_artifact *a,
                   int64_t *id, np_err *e) {
  np_file f;
  if (np_stored_is_open(n, session)) {
    return np_fail(e, NEAP_E_MISUSE,
                   "session %.*s is open here; put the artifact into the session itself",
                   session.n > 80 ? 80 : (int)session.n, session.p);
  }
  neap_rc rc = np_stored_name(n, session.p, e);
  if (rc == NEAP_OK) rc = np_file_make(a, bytes, 0, &f, e);
  if (rc != NEAP_OK) return rc;
  rc = NEAP_E_FENCED;
  for (int i = 0; rc == NEAP_E_FENCED && i < TRIES; i++)
    rc = put_once(n, session, bytes, &f, e);
  if (rc == NEAP_OK) *id = f.id;
  return rc;
}

neap_rc neap_artifact_put(neap *n, const char *session, neap_str bytes,
                          const neap_artifact *a, int64_t *id) {
  np_err e = {0};
  neap_rc rc = begin(n);
  if (rc != NEAP_OK) return rc;
  bool sound = id && (bytes.p || !bytes.n) && bytes.n <= PTRDIFF_MAX;
  if (!bytes.p) bytes = NP_LIT("");
  rc = sound
           ? put(n, session_of(session), bytes, a, id, &e)
           : np_fail(&e, NEAP_E_ARG, "bytes or the place for the id are NULL; give both");
  return end(n, rc, &e);
}

/* ---- telling ----------------------------------------------------------------------- */

typedef struct telling {
  neap *n;
  np_str session;
  int64_t want, now;
  np_arena arena; /* texts of one */
  bool found;
  np_file file;
  neap_artifact_fn fn;
  void *ctx;
} telling;

static void tell(const np_file *f, np_str session, int64_t now, int64_t at, np_str bytes,
                 neap_artifact_fn fn, void *ctx) {
  char hex[2 * NP_SHA256];
  np_err ignored;
  neap_rc rc = np_file_check(f, session, now, &ignored);
  np_hex(f->hash, NP_SHA256, hex);
  neap_artifact a = {.size = sizeof a,
                     .tool = f->tool,
                     .query = f->query,
                     .path = f->path,
                     .kind = f->kind,
                     .made = f->made,
                     .ttl = f->ttl,
                     .session = session,
                     .id = f->id,
                     .bytes = f->bytes,
                     .lines = f->lines,
                     .sha256 = {hex, f->bytes ? sizeof hex : 0},
                     .state = rc == NEAP_E_PURGED    ? NEAP_ARTIFACT_PURGED
                              : rc == NEAP_E_EXPIRED ? NEAP_ARTIFACT_EXPIRED
                                                     : NEAP_ARTIFACT_THERE,
                     .at = at};
  fn(ctx, &a, bytes);
}

static neap_rc take_file(void *ctx, const np_event *ev, bool purged) {
  telling *t = ctx;
  np_file f;
  np_arena_clear(&t->arena);
  if (!np_file_read(&t->arena, ev, purged, &f)) return NEAP_E_CORRUPT;
  if (t->fn) {
    tell(&f, t->session, t->now, 0, NP_LIT(""), t->fn, t->ctx);
  } else if (f.id == t->want) {
    t->found = true;
    t->file = f;
    return NEAP_E_LIMIT; /* no further: the texts stay */
  }
  return NEAP_OK;
}

static neap_rc walk(telling *t, np_err *e) {
  np_store *st = t->n->store;
  neap_rc rc = st->ops->heads(st, np_str_cstr(t->n->tenant), t->session, NP_EV_FILE, 1,
                              take_file, t, e);
  if (rc == NEAP_E_LIMIT && t->found) return NEAP_OK;
  if (rc == NEAP_E_CORRUPT && !e->code) {
    return np_fail(e, rc,
                   "session %.*s: an artifact's event cannot be read; check the "
                   "store",
                   t->session.n > 80 ? 80 : (int)t->session.n, t->session.p);
  }
  return rc;
}

typedef struct names {
  np_buf text; /* each with a NUL behind it */
} names;

static neap_rc add_name(void *ctx, const np_session_row *row) {
  names *all = ctx;
  np_buf_add(&all->text, row->name);
  np_buf_addc(&all->text, '\0');
  return NEAP_OK;
}

static neap_rc list_all(telling *t, np_err *e) {
  names all;
  np_store *st = t->n->store;
  np_buf_init(&all.text, &t->n->alloc);
  neap_rc rc = st->ops->sessions(st, np_str_cstr(t->n->tenant), add_name, &all, e);
  if (rc == NEAP_OK && all.text.failed) rc = np_fail_mem(e);
  for (size_t at = 0; rc == NEAP_OK && at < all.text.n; at += t->session.n + 1) {
    t->session = np_str_cstr(all.text.p + at);
    rc = walk(t, e);
  }
  np_buf_free(&all.text);
  return rc;
}

static neap_rc no_session(neap *n, np_str session, np_err *e) {
  np_claim look;
  return n->store->ops->claim(n->store, np_str_cstr(n->tenant), session, true, &look, e);
}

neap_rc neap_artifact_list(neap *n, const char *session, int64_t now, neap_artifact_fn fn,
                           void *ctx) {
  np_err e = {0};
  neap_rc rc = begin(n);
  if (rc != NEAP_OK || !fn) return rc ? rc : NEAP_E_ARG;
  telling t = {.n = n, .now = now, .fn = fn, .ctx = ctx};
  np_arena_init(&t.arena, &n->alloc);
  if (session) {
    t.session = session_of(session);
    rc = no_session(n, t.session, &e);
    if (rc == NEAP_OK) rc = walk(&t, &e);
  } else {
    rc = list_all(&t, &e);
  }
  np_arena_free(&t.arena);
  return end(n, rc, &e);
}

/* ---- reading ----------------------------------------------------------------------- */

static neap_rc get_file(telling *t, np_window *w, np_buf *out, np_err *e) {
  np_store *st = t->n->store;
  const np_file *f = &t->file;
  neap_rc rc = np_file_check(f, t->session, t->now, e);
  if (rc == NEAP_OK && f->bytes)
    rc = st->ops->window(st, np_str_cstr(t->n->tenant), f->hash, w, out, e);
  return rc;
}

/* Any other entry, by the text that it has in the log. */
static neap_rc get_entry(telling *t, np_window *w, np_buf *out, np_err *e) {
  np_buf text;
  np_buf_init(&text, &t->n->alloc);
  t->file = (np_file){.id = t->want};
  neap_rc rc = np_words_entry(t->n, t->session, t->want, &text, e);
  if (rc == NEAP_OK) {
    np_window all = {.by_lines = true, .from = 1, .to = SIZE_MAX};
    np_str whole = np_window_of(np_buf_str(&text), &all);
    np_buf_add(out, np_window_of(whole, w));
    t->file.bytes = (int64_t)whole.n;
    t->file.lines = (int64_t)all.lines;
    if (whole.n) np_sha256(whole, t->file.hash);
    if (out->failed) rc = np_fail_mem(e);
  }
  np_buf_free(&text);
  return rc;
}

static neap_rc get(telling *t, const neap_window *given, np_err *e) {
  np_window w;
  np_buf out;
  neap_artifact_fn fn = t->fn;
  t->fn = NULL;
  neap_rc rc = np_file_window(given, &w, &t->now, e);
  if (rc == NEAP_OK) rc = no_session(t->n, t->session, e);
  if (rc == NEAP_OK) rc = walk(t, e);
  if (rc != NEAP_OK) return rc;
  np_buf_init(&out, &t->n->alloc);
  rc = t->found ? get_file(t, &w, &out, e) : get_entry(t, &w, &out, e);
  if (rc == NEAP_OK)
    tell(&t->file, t->session, 0, (int64_t)w.at, np_buf_str(&out), fn, t->ctx);
  np_buf_free(&out);
  return rc;
}

neap_rc neap_artifact_get(neap *n, const char *session, int64_t id, const neap_window *w,
                          neap_artifact_fn fn, void *ctx) {
  np_err e = {0};
  neap_rc rc = begin(n);
  if (rc != NEAP_OK || !fn) return rc ? rc : NEAP_E_ARG;
  telling t = {.n = n, .session = session_of(session), .want = id, .fn = fn, .ctx = ctx};
  np_arena_init(&t.arena, &n->alloc);
  rc = get(&t, w, &e);
  np_arena_free(&t.arena);
  return end(n, rc, &e);
}

/* ---- removing ---------------------------------------------------------------------- */

static neap_rc remove_file(telling *t, np_err *e) {
  np_store *st = t->n->store;
  neap_rc rc = no_session(t->n, t->session, e);
  if (rc == NEAP_OK) rc = walk(t, e);
  if (rc != NEAP_OK) return rc;
  if (!t->found) {
    return np_fail(e, NEAP_E_NOTFOUND,
                   "session %.*s has no artifact %lld; neap artifact list tells which "
                   "there are",
                   t->session.n > 80 ? 80 : (int)t->session.n, t->session.p,
                   (long long)t->want);
  }
  if (!t->file.bytes) return NEAP_OK; /* nothing that could be removed */
  return st->ops->purge(st, np_str_cstr(t->n->tenant), t->file.hash, e);
}

neap_rc neap_artifact_remove(neap *n, const char *session, int64_t id) {
  np_err e = {0};
  neap_rc rc = begin(n);
  if (rc != NEAP_OK) return rc;
  telling t = {.n = n, .session = session_of(session), .want = id};
  np_arena_init(&t.arena, &n->alloc);
  rc = remove_file(&t, &e);
  np_arena_free(&t.arena);
  return end(n, rc, &e);
}
