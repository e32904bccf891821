/*
** A stored session as lines of JSON, one an event: what it is and how many events, then each of
** them. Heads and bodies that are JSON stand as they are, other text as a string, other bytes as
** base64, so that what is read back is the same to the byte. next: import.c
*/
#include "engine/stored.h"

#include "base/base64.h"
#include "text/text.h"

typedef struct writer {
  neap_write_fn write;
  void *ctx;
  np_store *st;
  np_str tenant;
  np_buf line, apart; /* and the bytes of a body that the log does not give */
  np_err *e;
  int64_t left; /* events that the first line has promised */
  bool stopped;
} writer;

static void add_hex(np_buf *b, const char *name, const uint8_t *p, size_t n) {
  char hex[2 * NP_SHA256];
  np_hex(p, n, hex);
  np_buf_adds(b, ",\"");
  np_buf_adds(b, name);
  np_buf_adds(b, "\":\"");
  np_buf_add(b, np_str_of(hex, 2 * n));
  np_buf_addc(b, '"');
}

/* An object or a list on one line. Whether it is JSON is seen when the line is checked. */
static bool looks_like_json(np_str s) {
  bool braces = s.n > 1 && ((s.p[0] == '{' && s.p[s.n - 1] == '}') ||
                            (s.p[0] == '[' && s.p[s.n - 1] == ']'));
  return braces && !memchr(s.p, '\n', s.n) && !memchr(s.p, '\r', s.n);
}

static void add_bytes(np_buf *b, const char *name, np_str s, bool as_json) {
  if (s.n == 0) return;
  bool text = np_utf8_valid(s) == s.n;
  as_json = as_json && looks_like_json(s);
  np_buf_adds(b, ",\"");
  np_buf_adds(b, name);
  np_buf_adds(b, as_json ? "\":" : text ? "_text\":" : "_base64\":");
  if (as_json) np_buf_add(b, s);
  else if (text) np_json_quote(b, s);
  if (as_json || text) return;
  np_buf_addc(b, '"');
  np_base64(b, s);
  np_buf_addc(b, '"');
}

static void write_event(np_buf *b, const np_event *ev, bool purged, bool as_json) {
  uint8_t sum[NP_SUM], hash[NP_SHA256];
  const char *kind = np_event_name(ev->kind);
  np_buf_clear(b);
  np_buf_adds(b, "{\"seq\":");
  np_buf_int(b, ev->seq);
  np_buf_adds(b, ",\"kind\":");
  if (kind) np_json_quote(b, np_str_cstr(kind));
  else np_buf_int(b, ev->kind);
  np_buf_adds(b, ",\"version\":");
  np_buf_int(b, ev->version);
  np_event_sum(ev, sum);
  add_hex(b, "sum", sum, sizeof sum);
  add_bytes(b, "head", ev->head, as_json);
  if (purged) np_buf_adds(b, ",\"purged\":true");
  if (ev->apart) np_buf_adds(b, ",\"apart\":true");
  if (purged && ev->gone.n == NP_SHA256)
    add_hex(b, "sha256", (const uint8_t *)ev->gone.p, NP_SHA256);
  if (ev->body.n) {
    np_sha256(ev->body, hash);
    add_hex(b, "sha256", hash, sizeof hash);
  }
  add_bytes(b, "body", ev->body, as_json);
  np_buf_adds(b, "}\n");
}

static neap_rc give(writer *w) {
  if (w->line.failed) return NEAP_E_MEMORY;
  w->stopped = !w->write(w->ctx, np_buf_str(&w->line));
  return w->stopped ? NEAP_E_LIMIT : NEAP_OK;
}

/* What comes behind the promised events was appended meanwhile. */
static neap_rc export_one(void *ctx, const np_event *given, bool purged) {
  writer *w = ctx;
  np_json checked;
  np_event one = *given, *ev = &one;
  if (w->left == 0) return NEAP_OK;
  w->left--;
  np_buf_clear(&w->apart);
  neap_rc rc =
      ev->apart ? np_stored_apart(w->st, w->tenant, ev, &w->apart, w->e) : NEAP_OK;
  if (rc) return rc;
  if (ev->apart) ev->body = np_buf_str(&w->apart);
  write_event(&w->line, ev, purged, true);
  np_str line = np_str_cut(np_buf_str(&w->line), 0, w->line.n ? w->line.n - 1 : 0);
  if (!w->line.failed && np_json_check(line, &checked, NULL))
    write_event(&w->line, ev, purged, false);
  return give(w);
}

static neap_rc first_line(writer *w, np_str name, int64_t events) {
  w->left = events;
  np_buf_adds(&w->line, "{\"neap_session\":");
  np_buf_int(&w->line, NP_EXPORT_VERSION);
  np_buf_adds(&w->line, ",\"name\":");
  np_json_quote(&w->line, name);
  np_buf_adds(&w->line, ",\"events\":");
  np_buf_int(&w->line, events);
  np_buf_adds(&w->line, "}\n");
  return give(w);
}

static neap_rc finish(writer *w, neap_rc rc, np_err *e) {
  if (rc == NEAP_E_MEMORY && !e->code) np_fail_mem(e);
  if (w->stopped) np_fail(e, NEAP_E_IO, "the session could not be written out");
  np_buf_free(&w->line);
  np_buf_free(&w->apart);
  return e->code;
}

neap_rc neap_session_export(neap *n, const char *name, neap_write_fn write, void *ctx) {
  np_err e = {0};
  np_store *st;
  np_claim look = {.fence = 0};
  if (!n || !name || !write) return NEAP_E_ARG;
  writer w = {.write = write, .ctx = ctx};
  np_str tenant = np_str_cstr(n->tenant), session = np_str_cstr(name);
  w.tenant = tenant;
  w.e = &e;
  np_buf_init(&w.line, &n->alloc);
  np_buf_init(&w.apart, &n->alloc);
  neap_rc rc = np_stored_store(n, &st, &e);
  w.st = rc ? NULL : st;
  if (!rc) rc = st->ops->claim(st, tenant, session, true, &look, &e);
  if (!rc) rc = first_line(&w, session, look.last_seq);
  if (!rc) rc = st->ops->read(st, tenant, session, 1, export_one, &w, &e);
  if (!rc && w.left)
    rc = np_fail(&e, NEAP_E_CORRUPT,
                 "session %s ends before its last event; check the store", name);
  rc = finish(&w, rc, &e);
  return rc ? np_engine_fail(n, &e) : NEAP_OK;
}
