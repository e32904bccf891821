/*
** What both stores share: digests of an event, the rules for what may be stored, and
** pages of copied events. No file and no table here. next: memlog.h
*/
#include "store/row.h"

#include "text/text.h"

/* The sum is keyed with the numbers of the row, so that a flipped bit in any of them, or
** in the head, is found without joining them in one buffer. */
void np_event_sum(const np_event *ev, uint8_t out[NP_SUM]) {
  uint8_t key[16], full[NP_SHA256];
  uint64_t seq = (uint64_t)ev->seq;
  uint32_t kind = (uint32_t)ev->kind, version = (uint32_t)ev->version;
  for (int i = 0; i < 8; i++) key[i] = (uint8_t)(seq >> (8 * i));
  for (int i = 0; i < 4; i++) key[8 + i] = (uint8_t)(kind >> (8 * i));
  for (int i = 0; i < 4; i++) key[12 + i] = (uint8_t)(version >> (8 * i));
  np_hmac_sha256((np_str){(const char *)key, sizeof key}, ev->head, full);
  memcpy(out, full, NP_SUM);
}

static void row_fill(np_row *r, const np_event *ev) {
  r->ev = *ev;
  r->place = NP_PLACE_NONE;
  memset(r->hash, 0, sizeof r->hash);
  if (ev->gone.n == NP_SHA256) {
    r->place = NP_PLACE_PURGED;
    memcpy(r->hash, ev->gone.p, NP_SHA256);
    r->ev.body = r->ev.gone = NP_LIT("");
  } else if (ev->apart) {
    static const uint8_t none[NP_SHA256] = {0};
    if (ev->body.n > 0) np_sha256(ev->body, r->hash);
    else memcpy(r->hash, ev->hash, NP_SHA256);
    if (memcmp(r->hash, none, NP_SHA256) != 0) r->place = NP_PLACE_APART;
    memcpy(r->ev.hash, r->hash, NP_SHA256);
    r->ev.apart = r->place == NP_PLACE_APART;
  } else if (ev->body.n > 0) {
    r->place = ev->body.n < NP_STORE_INLINE ? NP_PLACE_INLINE : NP_PLACE_BLOB;
    np_sha256(ev->body, r->hash);
  }
  np_event_sum(ev, r->sum);
}

np_row *np_rows_new(const neap_alloc *a, np_row few[NP_FEW_ROWS], const np_event *ev,
                    size_t n) {
  np_row *rows = n <= NP_FEW_ROWS ? few : np_calloc(a, n, sizeof *rows);
  if (rows == few) memset(few, 0, NP_FEW_ROWS * sizeof *few);
  for (size_t i = 0; rows && i < n; i++) row_fill(&rows[i], &ev[i]);
  return rows;
}

void np_rows_free(const neap_alloc *a, np_row *rows, const np_row few[NP_FEW_ROWS]) {
  if (rows != few) np_free(a, rows);
}

/* ---- rules ------------------------------------------------------------------------- */

/* A NUL inside a name would end it early in some tool that reads the file. */
static neap_rc check_name(np_str s, const char *what, np_err *e) {
  if (s.n > NP_STORE_NAME_MAX) {
    return np_fail(e, NEAP_E_ARG, "the name of the %s has %zu bytes; use at most %zu",
                   what, s.n, NP_STORE_NAME_MAX);
  }
  if (s.n > 0 && memchr(s.p, 0, s.n)) {
    return np_fail(e, NEAP_E_ARG, "the name of the %s holds a NUL byte; leave it out",
                   what);
  }
  return NEAP_OK;
}

neap_rc np_check_tenant(np_str tenant, np_err *e) {
  return check_name(tenant, "tenant", e);
}

neap_rc np_check_names(np_str tenant, np_str session, np_err *e) {
  neap_rc rc = check_name(tenant, "tenant", e);
  if (rc == NEAP_OK) rc = check_name(session, "session", e);
  if (rc == NEAP_OK && session.n == 0) {
    rc = np_fail(e, NEAP_E_ARG, "the session has no name; give one");
  }
  return rc;
}

neap_rc np_check_body(np_str body, np_err *e) {
  if (body.n <= NP_STORE_BODY_MAX) return NEAP_OK;
  return np_fail(e, NEAP_E_LIMIT, "a body of %zu bytes is too large; store at most %zu",
                 body.n, NP_STORE_BODY_MAX);
}

/* An append must go on exactly where the claim's log ends. */
neap_rc np_check_events(const np_claim *claim, const np_event *ev, size_t n, np_err *e) {
  if (claim->fence == 0) {
    return np_fail(e, NEAP_E_READONLY,
                   "session '%.*s' was opened for reading; open it for writing to append",
                   NP_SHOW(claim->session));
  }
  for (size_t i = 0; i < n; i++) {
    if (ev[i].seq - claim->last_seq != (int64_t)i + 1) {
      return np_fail(e, NEAP_E_MISUSE,
                     "session '%.*s': event %lld does not follow %lld; append in order",
                     NP_SHOW(claim->session), (long long)ev[i].seq,
                     (long long)claim->last_seq + (long long)i);
    }
    if (ev[i].head.n > NP_STORE_HEAD_MAX) {
      return np_fail(e, NEAP_E_LIMIT,
                     "a head of %zu bytes is too large; store at most %zu", ev[i].head.n,
                     NP_STORE_HEAD_MAX);
    }
    neap_rc rc = np_check_body(ev[i].body, e);
    if (rc != NEAP_OK) return rc;
  }
  return NEAP_OK;
}

/* ---- failures ---------------------------------------------------------------------- */

neap_rc np_fail_fenced(np_str session, size_t lost, np_err *e) {
  if (lost > 0) {
    return np_fail(
        e, NEAP_E_FENCED,
        "session '%.*s' was taken over by another writer; %zu events that were "
        "not yet written are lost; open it again",
        NP_SHOW(session), lost);
  }
  return np_fail(
      e, NEAP_E_FENCED,
      "session '%.*s' was taken over by another writer; open it again to go on",
      NP_SHOW(session));
}

neap_rc np_fail_exists(np_str session, np_err *e) {
  return np_fail(e, NEAP_E_MISUSE, "there is a session '%.*s' already; give another name",
                 NP_SHOW(session));
}

neap_rc np_fail_short(np_str session, int64_t has, int64_t wanted, np_err *e) {
  return np_fail(e, NEAP_E_NOTFOUND,
                 "session '%.*s' has %lld events, not %lld; take fewer", NP_SHOW(session),
                 (long long)has, (long long)wanted);
}

neap_rc np_fail_no_session(np_str session, np_err *e) {
  return np_fail(e, NEAP_E_NOTFOUND,
                 "there is no session '%.*s'; check its name and tenant",
                 NP_SHOW(session));
}

/* Twelve digits tell contents apart well enough for a person. */
static neap_rc fail_content(const uint8_t *hash, neap_rc code, const char *what,
                            np_err *e) {
  char hex[2 * NP_SHA256];
  np_hex(hash, NP_SHA256, hex);
  return np_fail(e, code, "content %.12s…: %s", hex, what);
}

neap_rc np_fail_no_content(const uint8_t hash[NP_SHA256], np_err *e) {
  return fail_content(hash, NEAP_E_NOTFOUND,
                      "not in the store; check its hash and tenant", e);
}

neap_rc np_fail_purged(const uint8_t hash[NP_SHA256], np_err *e) {
  return fail_content(hash, NEAP_E_PURGED, "purged by its owner; it cannot be restored",
                      e);
}

/* ---- windows ----------------------------------------------------------------------- */

np_str np_window_of(np_str text, np_window *w) {
  np_str part = w->by_lines ? np_lines_slice(text, w->from, w->to)
                            : np_str_cut(text, w->from, w->to);
  w->size = text.n;
  w->lines = w->by_lines ? np_lines_count(text) : 0;
  w->at = part.n ? (size_t)(part.p - text.p) : 0;
  return part;
}

/* ---- pages ------------------------------------------------------------------------- */

typedef struct page_event {
  np_event ev; /* sizes count; the pointers are set when visited */
  bool purged;
} page_event;

static void add_bytes(np_buf *page, const void *p, size_t n) {
  np_buf_add(page, (np_str){p, n});
}

/* The bytes of what is apart are not given. */
void np_page_event(np_buf *page, const np_event *ev, bool purged) {
  page_event rec;
  memset(&rec, 0, sizeof rec);
  rec.ev = *ev;
  rec.purged = purged;
  if (ev->apart) rec.ev.body = (np_str){"", 0};
  add_bytes(page, &rec, sizeof rec);
  np_buf_add(page, ev->head);
  np_buf_add(page, rec.ev.body);
  np_buf_add(page, ev->gone);
}

neap_rc np_page_visit(const np_buf *page, np_event_fn fn, void *ctx) {
  for (size_t at = 0; at < page->n;) {
    page_event rec;
    memcpy(&rec, page->p + at, sizeof rec);
    at += sizeof rec;
    rec.ev.head.p = page->p + at;
    at += rec.ev.head.n;
    rec.ev.body.p = page->p + at;
    at += rec.ev.body.n;
    rec.ev.gone.p = page->p + at;
    at += rec.ev.gone.n;
    neap_rc rc = fn(ctx, &rec.ev, rec.purged);
    if (rc != NEAP_OK) return rc;
  }
  return NEAP_OK;
}

void np_page_session(np_buf *page, np_str name, int64_t events) {
  np_session_row rec;
  memset(&rec, 0, sizeof rec);
  rec.name.n = name.n;
  rec.events = events;
  add_bytes(page, &rec, sizeof rec);
  np_buf_add(page, name);
}

neap_rc np_page_visit_sessions(const np_buf *page,
                               neap_rc (*fn)(void *ctx, const np_session_row *row),
                               void *ctx) {
  for (size_t at = 0; at < page->n;) {
    np_session_row rec;
    memcpy(&rec, page->p + at, sizeof rec);
    at += sizeof rec;
    rec.name.p = page->p + at;
    at += rec.name.n;
    neap_rc rc = fn(ctx, &rec);
    if (rc != NEAP_OK) return rc;
  }
  return NEAP_OK;
}
