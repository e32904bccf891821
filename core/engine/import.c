/*
** A session from the lines of an export. All of them are checked before anything is written:
** numbers without gaps, sums of heads, hashes of bodies, versions, sizes, and that what it says can
** be read; then it is made in one step. next: relive.c
*/
#include "engine/stored.h"

#include "base/base64.h"
#include "engine/words.h"
#include "text/text.h"

typedef struct reader {
  neap *n;
  np_str rest;
  int64_t line;
  np_arena arena; /* heads and bodies that are not in the text as they are */
  np_buf name;
  np_event *ev;
  size_t count, cap;
  int64_t promised;
  np_err *e;
} reader;

/* "line 7: its hash is another; …" */
static neap_rc bad(reader *r, neap_rc code, const char *what) {
  return np_fail(r->e, code, "line %lld: %s", (long long)r->line, what);
}

static bool next_line(reader *r, np_str *line) {
  if (r->rest.n == 0) return false;
  const char *end = memchr(r->rest.p, '\n', r->rest.n);
  size_t n = end ? (size_t)(end - r->rest.p) : r->rest.n;
  *line = np_str_cut(r->rest, 0, n);
  r->rest = np_str_cut(r->rest, n + (end ? 1 : 0), r->rest.n);
  r->line++;
  return true;
}

static bool whole_number(np_json v, int64_t most, int64_t *out) {
  *out = 0;
  if (v.type != NP_JSON_NUMBER || v.raw.n > 18) return false;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] < '0' || v.raw.p[i] > '9') return false;
    *out = *out * 10 + (v.raw.p[i] - '0');
  }
  return *out <= most;
}

static bool number_of(np_json object, const char *name, int64_t most, int64_t *out) {
  np_json v;
  return np_json_get(object, name, &v) && whole_number(v, most, out);
}

/* ---- one event ---- */

static int nibble(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(np_json object, const char *name, uint8_t *out, size_t n) {
  np_json v;
  if (!np_json_get(object, name, &v) || v.type != NP_JSON_STRING || v.raw.n != 2 * n + 2)
    return false;
  for (size_t i = 0; i < n; i++) {
    int hi = nibble(v.raw.p[1 + 2 * i]), lo = nibble(v.raw.p[2 + 2 * i]);
    if (hi < 0 || lo < 0) return false;
    out[i] = (uint8_t)(hi << 4 | lo);
  }
  return true;
}

static neap_rc decode(reader *r, np_json v, bool base64, np_str *out) {
  np_buf text;
  bool good = v.type == NP_JSON_STRING;
  np_buf_init(&text, &r->n->alloc);
  if (good && !base64) good = np_json_text(v, &text) == 0;
  else if (good) good = np_base64_read(np_str_cut(v.raw, 1, v.raw.n - 1), &text);
  neap_rc rc = NEAP_OK;
  if (text.failed || (good && !np_arena_copy(&r->arena, np_buf_str(&text), out)))
    rc = np_fail_mem(r->e);
  else if (!good) rc = bad(r, NEAP_E_SHAPE, "a text in it is none; export it again");
  np_buf_free(&text);
  return rc;
}

/* The bytes of `head` or `body`, in whichever of three ways they stand there. */
static neap_rc read_bytes(reader *r, np_json line, const char *const names[3],
                          np_str *out) {
  np_json v;
  *out = NP_LIT("");
  if (np_json_get(line, names[0], &v)) {
    *out = v.raw;
    return NEAP_OK;
  }
  if (np_json_get(line, names[1], &v)) return decode(r, v, false, out);
  if (np_json_get(line, names[2], &v)) return decode(r, v, true, out);
  return NEAP_OK;
}

static neap_rc read_kind(reader *r, np_json line, np_event *ev) {
  np_json v;
  int64_t number;
  if (!np_json_get(line, "kind", &v)) return bad(r, NEAP_E_SHAPE, "it has no kind");
  if (v.type == NP_JSON_STRING &&
      np_event_kind_of(np_str_cut(v.raw, 1, v.raw.n - 1), &ev->kind))
    return NEAP_OK;
  if (!whole_number(v, INT32_MAX, &number) || !np_event_name((int32_t)number))
    return bad(r, NEAP_E_NEWER, "this neap does not know its kind; update neap");
  ev->kind = (int32_t)number;
  return NEAP_OK;
}

static neap_rc check_sums(reader *r, np_json line, np_event *ev, bool purged) {
  uint8_t sum[NP_SUM], wanted[NP_SUM], hash[NP_SHA256], said[NP_SHA256];
  np_str kept;
  np_json v;
  np_event_sum(ev, sum);
  if (!read_hex(line, "sum", wanted, NP_SUM) || memcmp(sum, wanted, NP_SUM) != 0)
    return bad(r, NEAP_E_CORRUPT, "its head differs from its sum; export it again");
  if (!purged && ev->body.n == 0)
    return np_json_get(line, "sha256", &v)
               ? bad(r, NEAP_E_CORRUPT, "its body is gone; export it again")
               : NEAP_OK;
  if (!read_hex(line, "sha256", said, NP_SHA256))
    return bad(r, NEAP_E_CORRUPT, "it has no hash; export it again");
  np_sha256(ev->body, hash);
  if (!purged && memcmp(hash, said, NP_SHA256) != 0)
    return bad(r, NEAP_E_CORRUPT, "its body differs from its hash; export it again");
  if (!purged) return NEAP_OK;
  if (!np_arena_copy(&r->arena, np_str_of((const char *)said, NP_SHA256), &kept))
    return np_fail_mem(r->e);
  ev->gone = kept;
  return NEAP_OK;
}

static neap_rc read_event(reader *r, np_json line, np_event *ev) {
  static const char *const heads[3] = {"head", "head_text", "head_base64"};
  static const char *const bodies[3] = {"body", "body_text", "body_base64"};
  int64_t version = 0;
  np_json v;
  if (!number_of(line, "seq", INT64_MAX, &ev->seq))
    return bad(r, NEAP_E_SHAPE, "it is no event of an export");
  if (ev->seq != (int64_t)r->count + 1)
    return bad(r, NEAP_E_CORRUPT, "an event is missing before it; export it again");
  neap_rc rc = read_kind(r, line, ev);
  if (!rc && !number_of(line, "version", INT32_MAX, &version))
    rc = bad(r, NEAP_E_SHAPE, "it has no version");
  if (!rc && version > NP_LOG_VERSION)
    rc = bad(r, NEAP_E_NEWER, "it is a newer neap's; update neap");
  ev->version = (int32_t)version;
  if (!rc) rc = read_bytes(r, line, heads, &ev->head);
  if (!rc) rc = read_bytes(r, line, bodies, &ev->body);
  bool purged = np_json_get(line, "purged", &v) && np_str_is(v.raw, "true");
  ev->apart = np_json_get(line, "apart", &v) && np_str_is(v.raw, "true");
  if (!rc && purged && ev->body.n)
    rc = bad(r, NEAP_E_SHAPE, "it is purged and has a body; export it again");
  return rc ? rc : check_sums(r, line, ev, purged);
}

/* ---- the lines ---- */

static neap_rc parse(reader *r, np_str text, np_json *out) {
  np_err e = {0};
  neap_rc rc = np_json_check(text, out, &e);
  if (rc) {
    np_fail(r->e, rc, "line %lld: byte %zu: %s", (long long)r->line, e.pos + 1, e.text);
    return rc;
  }
  return out->type == NP_JSON_OBJECT ? NEAP_OK
                                     : bad(r, NEAP_E_SHAPE, "no object; export it again");
}

int neap_is_export(neap_str text) {
  static const char start[] = "{\"neap_session\":";
  return text.p && text.n >= sizeof start - 1 &&
         memcmp(text.p, start, sizeof start - 1) == 0;
}

static neap_rc read_first(reader *r) {
  np_str text;
  np_json line, name;
  int64_t version = 0;
  if (!neap_is_export(r->rest) || !next_line(r, &text))
    return np_fail(r->e, NEAP_E_SHAPE, "no session that neap has exported");
  neap_rc rc = parse(r, text, &line);
  if (rc) return rc;
  if (!number_of(line, "neap_session", INT64_MAX, &version) || version < 1)
    return bad(r, NEAP_E_SHAPE, "its version is none");
  if (version > NP_EXPORT_VERSION)
    return bad(r, NEAP_E_NEWER, "a newer neap has exported it; update neap");
  if (!np_json_get(line, "name", &name) || name.type != NP_JSON_STRING ||
      !number_of(line, "events", INT64_MAX, &r->promised))
    return bad(r, NEAP_E_SHAPE, "it has no name, or does not say how many events follow");
  if (np_json_text(name, &r->name)) return bad(r, NEAP_E_UTF8, "its name is no text");
  if (r->name.n && memchr(r->name.p, 0, r->name.n))
    return bad(r, NEAP_E_ARG, "the session's name holds a NUL byte; leave it out");
  np_buf_addc(&r->name, '\0');
  return r->name.failed ? np_fail_mem(r->e) : NEAP_OK;
}

static neap_rc read_events(reader *r) {
  np_str text;
  np_json line;
  neap_rc rc = NEAP_OK;
  while (!rc && next_line(r, &text)) {
    void *ev = r->ev;
    bool ok = np_grow(&r->n->alloc, &ev, &r->cap, r->count + 1, sizeof *r->ev);
    r->ev = ev;
    if (!ok) return np_fail_mem(r->e);
    r->ev[r->count] = (np_event){.seq = 0, .gone = NP_LIT("")};
    rc = parse(r, text, &line);
    if (!rc) rc = read_event(r, line, &r->ev[r->count]);
    if (!rc) r->count++;
  }
  if (!rc && (int64_t)r->count != r->promised)
    rc = np_fail(r->e, NEAP_E_CORRUPT,
                 "it has %zu events and should have %lld; export it again", r->count,
                 (long long)r->promised);
  return rc;
}

/* What the events say, beside their sums: who wrote the lines may have summed up anything. */
static neap_rc check_events(reader *r, np_str name) {
  np_err why = {0};
  size_t at = 0;
  neap_rc rc = np_words_check(r->n, name, r->ev, r->count, &at, &why);
  if (rc == NEAP_OK || rc == NEAP_E_MEMORY) return rc ? np_fail_mem(r->e) : rc;
  return np_fail(r->e, rc, "line %zu: its event cannot be read (%s); export it again",
                 at + 2, why.text);
}

neap_rc neap_session_import(neap *n, neap_str text, const char *name, neap_write_fn said,
                            void *ctx) {
  np_err e = {0};
  np_store *st;
  if (!n || !text.p) return NEAP_E_ARG;
  reader r = {.n = n, .rest = text, .e = &e};
  np_arena_init(&r.arena, &n->alloc);
  np_buf_init(&r.name, &n->alloc);
  neap_rc rc = np_stored_store(n, &st, &e);
  if (!rc) rc = read_first(&r);
  if (!rc && !name) name = r.name.p;
  if (!rc) rc = np_stored_name(n, name, &e);
  if (!rc) rc = read_events(&r);
  if (!rc) rc = check_events(&r, np_str_cstr(name));
  if (!rc)
    rc = st->ops->restore(st, np_str_cstr(n->tenant), np_str_cstr(name), r.ev, r.count,
                          &e);
  if (!rc && said) said(ctx, np_str_cstr(name));
  np_free(&n->alloc, r.ev);
  np_buf_free(&r.name);
  np_arena_free(&r.arena);
  return rc ? np_engine_fail(n, &e) : NEAP_OK;
}
