/*
** What the event of an artifact says of it, as JSON, and what that means when it is read: when
** its time is over, and how it is made again. next: files.c
*/
#include "engine/artifact.h"

#include "text/text.h"

#define TEXT_MAX ((size_t)65536)        /* bytes of a tool, query, path or kind */
#define TIME_MAX INT64_C(1000000000000) /* seconds: 30,000 years */

/* ---- making ------------------------------------------------------------------------ */

static neap_rc check_text(np_str s, const char *what, np_err *e) {
  if (s.n > TEXT_MAX || (s.n && !s.p)) {
    return np_fail(e, NEAP_E_ARG, "the artifact's %s has %zu bytes; give at most %zu",
                   what, s.n, TEXT_MAX);
  }
  if (!s.n || np_utf8_valid(s) == s.n) return NEAP_OK;
  return np_fail(e, NEAP_E_UTF8, "the artifact's %s is not UTF-8; leave it out", what);
}

static neap_rc check_times(const np_file *f, np_err *e) {
  if (f->ttl < 0 || f->ttl > TIME_MAX || f->made < 0 || f->made > TIME_MAX * 1000) {
    return np_fail(e, NEAP_E_ARG,
                   "an artifact's times are out of range; `made` counts milliseconds "
                   "since 1970, `ttl` seconds");
  }
  if (!f->ttl || f->made) return NEAP_OK;
  return np_fail(
      e, NEAP_E_ARG,
      "an artifact that is to expire needs the time at which it was made; give "
      "`made`, or tell the session the time");
}

static np_str text_of(neap_str s) {
  return s.n ? s : NP_LIT("");
}

neap_rc np_file_make(const neap_artifact *a, np_str bytes, int64_t now, np_file *out,
                     np_err *e) {
  neap_artifact given = {0};
  if (a) memcpy(&given, a, a->size < sizeof given ? a->size : sizeof given);
  *out = (np_file){.bytes = (int64_t)bytes.n,
                   .made = given.made ? given.made : now,
                   .ttl = given.ttl,
                   .tool = text_of(given.tool),
                   .query = text_of(given.query),
                   .path = text_of(given.path),
                   .kind = text_of(given.kind)};
  neap_rc rc = check_text(out->tool, "tool", e);
  if (rc == NEAP_OK) rc = check_text(out->query, "query", e);
  if (rc == NEAP_OK) rc = check_text(out->path, "path", e);
  if (rc == NEAP_OK) rc = check_text(out->kind, "kind", e);
  if (rc == NEAP_OK) rc = check_times(out, e);
  if (rc != NEAP_OK) return rc;
  out->lines = (int64_t)np_lines_count(bytes);
  if (bytes.n) np_sha256(bytes, out->hash);
  return NEAP_OK;
}

static void add_int(np_buf *b, const char *name, int64_t v) {
  if (v || strcmp(name, "bytes") == 0) {
    np_buf_adds(b, ",\"");
    np_buf_adds(b, name);
    np_buf_adds(b, "\":");
    np_buf_int(b, v);
  }
}

static void add_text(np_buf *b, const char *name, np_str v) {
  if (!v.n) return;
  np_buf_adds(b, ",\"");
  np_buf_adds(b, name);
  np_buf_adds(b, "\":");
  np_json_quote(b, v);
}

void np_file_write(const np_file *f, np_buf *head) {
  np_buf_adds(head, "{\"entry\":");
  np_buf_int(head, f->id);
  add_int(head, "bytes", f->bytes);
  add_int(head, "lines", f->lines);
  add_int(head, "made", f->made);
  add_int(head, "ttl", f->ttl);
  add_text(head, "tool", f->tool);
  add_text(head, "query", f->query);
  add_text(head, "path", f->path);
  add_text(head, "kind", f->kind);
  np_buf_addc(head, '}');
}

/* ---- reading ----------------------------------------------------------------------- */

/* A whole number of at most 16 digits; 0 when it is none. */
static int64_t get_int(np_json head, const char *name) {
  np_json v;
  int64_t n = 0;
  if (!np_json_get(head, name, &v) || v.type != NP_JSON_NUMBER || v.raw.n > 16) return 0;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] < '0' || v.raw.p[i] > '9') return 0;
    n = n * 10 + (v.raw.p[i] - '0');
  }
  return n;
}

static bool get_text(np_arena *ar, np_json head, const char *name, np_str *out) {
  np_json v;
  np_buf b;
  *out = NP_LIT("");
  if (!np_json_get(head, name, &v) || v.type != NP_JSON_STRING) return true;
  np_buf_init(&b, ar->alloc);
  np_json_text(v, &b);
  bool ok = !b.failed && np_arena_copy(ar, np_buf_str(&b), out);
  np_buf_free(&b);
  return ok;
}

bool np_file_read(np_arena *ar, const np_event *ev, bool purged, np_file *out) {
  np_json head;
  *out = (np_file){.purged = purged};
  if (np_json_check(ev->head, &head, NULL) || head.type != NP_JSON_OBJECT) return false;
  out->id = get_int(head, "entry");
  out->bytes = get_int(head, "bytes");
  out->lines = get_int(head, "lines");
  out->made = get_int(head, "made");
  out->ttl = get_int(head, "ttl");
  memcpy(out->hash, ev->gone.n == NP_SHA256 ? (const uint8_t *)ev->gone.p : ev->hash,
         NP_SHA256);
  return out->id > 0 && out->id <= NP_FILE_ID_MAX &&
         get_text(ar, head, "tool", &out->tool) &&
         get_text(ar, head, "query", &out->query) &&
         get_text(ar, head, "path", &out->path) && get_text(ar, head, "kind", &out->kind);
}

/* ---- what of it is wanted ---------------------------------------------------------- */

neap_rc np_file_window(const neap_window *given, np_window *out, int64_t *now,
                       np_err *e) {
  neap_window asked = {0}, *w = &asked;
  if (given) memcpy(w, given, given->size < sizeof *w ? given->size : sizeof *w);
  *now = w->now;
  bool by_lines = w->first_line || w->last_line;
  int64_t from = by_lines ? w->first_line : w->from, to = by_lines ? w->last_line : w->to;
  if (from < 0 || to < 0 || (to && to < from) || (by_lines && from == 0)) {
    return np_fail(e, NEAP_E_ARG,
                   "the window %lld-%lld is none; lines count from 1, and no end is "
                   "before its beginning",
                   (long long)from, (long long)to);
  }
  *out = (np_window){by_lines, (size_t)from, to ? (size_t)to : SIZE_MAX, 0, 0, 0};
  return NEAP_OK;
}

/* ---- whether it may be read -------------------------------------------------------- */

int64_t np_file_end(const np_file *f) {
  bool ends = f->ttl > 0 && f->ttl <= TIME_MAX && f->made <= TIME_MAX * 1000;
  return ends ? f->made + f->ttl * 1000 : INT64_MAX;
}

/* For "%.*s": at most 100 bytes, cut between characters. */
static int shown(np_str s) {
  size_t n = s.n > 100 ? 100 : s.n;
  while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xC0) == 0x80) n--;
  return (int)n;
}

/* `what` says what has become of it; how to make it again, if that is known, follows. */
static neap_rc fail_gone(const np_file *f, np_str session, neap_rc rc, const char *what,
                         np_err *e) {
  np_str of = f->query.n ? f->query : f->path;
  const char *with = f->tool.n || of.n ? " with" : "";
  return np_fail(e, rc, "artifact %.*s/%lld %s; make it again%s%s%.*s%s%.*s",
                 shown(session), session.p, (long long)f->id, what, with,
                 f->tool.n ? " " : "", shown(f->tool), f->tool.p, of.n ? " " : "",
                 shown(of), of.p);
}

static neap_rc fail_expired(const np_file *f, np_str session, int64_t over, np_err *e) {
  np_err what;
  np_fail(&what, NEAP_E_EXPIRED,
          "has expired: its %lld seconds were over %lld seconds ago", (long long)f->ttl,
          (long long)over);
  return fail_gone(f, session, NEAP_E_EXPIRED, what.text, e);
}

neap_rc np_file_check(const np_file *f, np_str session, int64_t now, np_err *e) {
  int64_t end = np_file_end(f);
  if (now && end != INT64_MAX && now >= end)
    return fail_expired(f, session, (now - end) / 1000, e);
  if (!f->purged) return NEAP_OK;
  return fail_gone(f, session, NEAP_E_PURGED,
                   "was purged by its owner and cannot be restored", e);
}
