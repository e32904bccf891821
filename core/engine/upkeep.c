/*
** The store as a whole: flushed, checked, measured, swept, copied. next: relive.c
*/
#include "engine/stored.h"

#include <stdlib.h>

neap_rc neap_flush(neap *n) {
  np_err e = {0};
  np_store *st;
  if (!n) return NEAP_E_ARG;
  neap_rc rc = np_stored_store(n, &st, &e);
  if (!rc) rc = st->ops->flush(st, &e);
  return rc ? np_engine_fail(n, &e) : NEAP_OK;
}

/* ---- checking ---- */

typedef struct saying {
  neap_write_fn fn;
  void *ctx;
} saying;

static void say(void *ctx, np_str line) {
  const saying *s = ctx;
  if (s->fn) s->fn(s->ctx, line);
}

neap_rc neap_store_check(neap *n, neap_write_fn line, void *ctx) {
  np_err e = {0};
  np_store *st;
  saying s = {line, ctx};
  if (!n) return NEAP_E_ARG;
  neap_rc rc = np_stored_store(n, &st, &e);
  if (!rc) rc = st->ops->check(st, say, &s, &e);
  return rc ? np_engine_fail(n, &e) : NEAP_OK;
}

/* ---- figures ---- */

static neap_rc no_file(np_err *e) {
  return np_fail(e, NEAP_E_MISUSE, "a store in memory has no file; open one with a path");
}

/* Tenants as they come up, each with its figures so far. */
typedef struct holder {
  np_str name;
  np_buf figures;
} holder;

typedef struct stats {
  const neap_alloc *alloc;
  np_arena arena;
  np_buf file;
  holder *list;
  size_t n, cap;
  bool failed;
} stats;

static holder *find_tenant(stats *s, np_str name) {
  for (size_t i = 0; i < s->n; i++) {
    if (np_str_eq(s->list[i].name, name)) return &s->list[i];
  }
  void *list = s->list;
  bool ok = np_grow(s->alloc, &list, &s->cap, s->n + 1, sizeof *s->list);
  s->list = list;
  if (!ok || !np_arena_copy(&s->arena, name, &s->list[s->n].name)) return NULL;
  np_buf_init(&s->list[s->n].figures, s->alloc);
  return &s->list[s->n++];
}

static void take_figure(void *ctx, np_str name, const char *what, int64_t value) {
  stats *s = ctx;
  holder *t = name.p ? find_tenant(s, name) : NULL;
  np_buf *b = t ? &t->figures : &s->file;
  s->failed = s->failed || (name.p && !t);
  if (t || b->n) np_buf_addc(b, ',');
  np_buf_addc(b, '"');
  np_buf_adds(b, what);
  np_buf_adds(b, "\":");
  np_buf_int(b, value);
}

static int by_name(const void *a, const void *b) {
  return np_str_cmp(((const holder *)a)->name, ((const holder *)b)->name);
}

static void write_stats(stats *s, np_buf *out) {
  if (s->n) qsort(s->list, s->n, sizeof *s->list, by_name);
  np_buf_addc(out, '{');
  np_buf_add(out, np_buf_str(&s->file));
  np_buf_adds(out, ",\"tenants\":[");
  for (size_t i = 0; i < s->n; i++) {
    np_buf_adds(out, i ? ",{\"tenant\":" : "{\"tenant\":");
    np_json_quote(out, s->list[i].name);
    np_buf_add(out, np_buf_str(&s->list[i].figures));
    np_buf_addc(out, '}');
    out->failed = out->failed || s->list[i].figures.failed;
  }
  np_buf_adds(out, "]}");
  out->failed = out->failed || s->failed || s->file.failed;
}

neap_rc neap_store_stats(neap *n, neap_write_fn write, void *ctx) {
  np_err e = {0};
  np_store *st;
  np_buf out;
  if (!n || !write) return NEAP_E_ARG;
  stats s = {.alloc = &n->alloc};
  np_arena_init(&s.arena, &n->alloc);
  np_buf_init(&s.file, &n->alloc);
  np_buf_init(&out, &n->alloc);
  neap_rc rc = np_stored_store(n, &st, &e);
  if (!rc) rc = st->ops->stats ? st->ops->stats(st, take_figure, &s, &e) : no_file(&e);
  if (!rc) write_stats(&s, &out);
  if (!rc && out.failed) rc = np_fail_mem(&e);
  if (!rc) write(ctx, np_buf_str(&out));
  for (size_t i = 0; i < s.n; i++) np_buf_free(&s.list[i].figures);
  np_free(&n->alloc, s.list);
  np_buf_free(&s.file);
  np_buf_free(&out);
  np_arena_free(&s.arena);
  return rc ? np_engine_fail(n, &e) : NEAP_OK;
}

/* ---- sweeping and copying ---- */

neap_rc neap_store_vacuum(neap *n, neap_swept *out) {
  np_err e = {0};
  np_store *st;
  np_swept swept = {0};
  if (!n) return NEAP_E_ARG;
  neap_rc rc = np_stored_store(n, &st, &e);
  if (!rc) rc = st->ops->vacuum ? st->ops->vacuum(st, &swept, &e) : no_file(&e);
  if (out) *out = (neap_swept){swept.contents, swept.bytes, swept.before, swept.after};
  return rc ? np_engine_fail(n, &e) : NEAP_OK;
}

neap_rc neap_store_backup(neap *n, const char *path) {
  np_err e = {0};
  np_store *st;
  if (!n || !path) return NEAP_E_ARG;
  neap_rc rc = np_stored_store(n, &st, &e);
  if (!rc) rc = st->ops->backup ? st->ops->backup(st, path, &e) : no_file(&e);
  return rc ? np_engine_fail(n, &e) : NEAP_OK;
}

/* All events of a session, in memory: they are written in one step. */
typedef struct taking {
  const neap_alloc *alloc;
  np_store *from;
  np_str tenant;
  np_err *e;
  np_arena arena;
  np_event *ev;
  size_t n, cap;
} taking;

/* The log has the hash of what is apart; the other store is to have its bytes. */
static neap_rc take_apart(taking *t, np_event *ev) {
  np_buf b;
  np_buf_init(&b, t->alloc);
  neap_rc rc = np_stored_apart(t->from, t->tenant, ev, &b, t->e);
  if (!rc && !np_arena_copy(&t->arena, np_buf_str(&b), &ev->body)) rc = NEAP_E_MEMORY;
  np_buf_free(&b);
  return rc;
}

static neap_rc take_event(void *ctx, const np_event *ev, bool purged) {
  taking *t = ctx;
  void *list = t->ev;
  (void)purged;
  bool ok = np_grow(t->alloc, &list, &t->cap, t->n + 1, sizeof *t->ev);
  t->ev = list;
  if (!ok) return NEAP_E_MEMORY;
  np_event *one = &t->ev[t->n];
  *one = *ev;
  if (!np_arena_copy(&t->arena, ev->head, &one->head) ||
      !np_arena_copy(&t->arena, ev->body, &one->body) ||
      !np_arena_copy(&t->arena, ev->gone, &one->gone))
    return NEAP_E_MEMORY;
  t->n++;
  return one->apart ? take_apart(t, one) : NEAP_OK;
}

neap_rc neap_session_copy(neap *n, const char *name, neap *to) {
  np_err e = {0};
  np_store *from, *st;
  np_claim look;
  if (!n || !name || !to) return NEAP_E_ARG;
  taking t = {.alloc = &n->alloc, .tenant = np_str_cstr(n->tenant), .e = &e};
  np_str session = np_str_cstr(name), tenant = np_str_cstr(n->tenant);
  np_arena_init(&t.arena, &n->alloc);
  neap_rc rc = np_stored_store(n, &from, &e);
  if (!rc) rc = np_stored_store(to, &st, &e);
  t.from = rc ? NULL : from;
  if (!rc) rc = from->ops->claim(from, tenant, session, true, &look, &e);
  if (!rc) rc = from->ops->read(from, tenant, session, 1, take_event, &t, &e);
  if (!rc) rc = st->ops->restore(st, np_str_cstr(to->tenant), session, t.ev, t.n, &e);
  if (rc == NEAP_E_MEMORY) np_fail_mem(&e);
  np_free(&n->alloc, t.ev);
  np_arena_free(&t.arena);
  return rc ? np_engine_fail(n, &e) : NEAP_OK;
}
