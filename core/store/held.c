/*
** Writing events: at once, or held in memory until a flush. A transaction first looks at
** the fence, so that a claim that was overtaken writes nothing. next: copy.c
*/
#include "store/sqlite.h"

neap_rc np_sq_fence(np_sqlite *sq, np_str tenant, np_str session, int64_t *fence,
                    np_err *e) {
  sqlite3_stmt *st;
  bool row = false;
  *fence = 0;
  neap_rc rc = np_sq_use(sq, SQL_FENCE, &st, e, "tt", tenant, session);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  if (row) *fence = sqlite3_column_int64(st, 0);
  np_sq_done(st);
  return rc;
}

static neap_rc check_fence(np_sqlite *sq, const np_claim *c, size_t held, np_err *e) {
  int64_t fence = 0;
  neap_rc rc = np_sq_fence(sq, c->tenant, c->session, &fence, e);
  if (rc != NEAP_OK || fence == c->fence) return rc;
  return np_fail_fenced(c->session, held, e);
}

/* Durability of the commits to come; not allowed inside a transaction. */
neap_rc np_sq_sync(np_sqlite *sq, neap_durable durable, np_err *e) {
  int want = durable == NEAP_DURABLE_POWER ? 2 : 1;
  if (sq->sync == want) return NEAP_OK;
  neap_rc rc = np_sq_exec(
      sq, want == 2 ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", e);
  if (rc == NEAP_OK) sq->sync = want;
  return rc;
}

/* ---- rows -------------------------------------------------------------------------- */

/* A seq that exists already: only a copy of the claim can have written it. */
static neap_rc step_event(np_sqlite *sq, sqlite3_stmt *st, const np_claim *c, np_err *e) {
  int rc = sqlite3_step(st);
  if (rc == SQLITE_DONE) return NEAP_OK;
  if ((rc & 0xFF) != SQLITE_CONSTRAINT) return np_sq_fail(sq, rc, e);
  return np_fail(e, NEAP_E_MISUSE, "session '%.*s': the claim was copied; use one claim",
                 NP_SHOW(c->session));
}

static neap_rc add_event(np_sqlite *sq, const np_claim *c, const np_row *r, np_err *e) {
  static const char *const types[] = {"ttiiiiibnbn", "ttiiiiibbbb", "ttiiiiibbbn"};
  sqlite3_stmt *st;
  neap_rc rc = NEAP_OK;
  np_str sum = {(const char *)r->sum, NP_SUM};
  const np_event *ev = &r->ev;
  int64_t kind = ev->kind, version = ev->version, place = r->place;
  if (r->place == NP_PLACE_NONE) {
    rc = np_sq_use(sq, SQL_EVENT_ADD, &st, e, types[0], c->tenant, c->session, ev->seq,
                   kind, c->fence, version, place, sum, ev->head);
  } else {
    rc = np_sq_use(sq, SQL_EVENT_ADD, &st, e, types[r->place == NP_PLACE_INLINE ? 1 : 2],
                   c->tenant, c->session, ev->seq, kind, c->fence, version, place, sum,
                   np_hash_str(r->hash), ev->head, ev->body);
  }
  if (rc != NEAP_OK) return rc;
  rc = step_event(sq, st, c, e);
  np_sq_done(st);
  return rc;
}

neap_rc np_sq_add_rows(np_sqlite *sq, const np_claim *c, const np_row *rows, size_t n,
                       np_err *e) {
  neap_rc rc = NEAP_OK;
  for (size_t i = 0; rc == NEAP_OK && i < n; i++) {
    const np_row *r = &rows[i];
    bool named = r->place == NP_PLACE_APART && r->ev.body.n == 0;
    if (named) rc = np_sq_blob_named(sq, c->tenant, r->hash, e);
    else if (np_is_content(r->place))
      rc = np_sq_blob_add(sq, c->tenant, c->fence, r->hash, r->ev.body, e);
    if (rc == NEAP_OK) rc = add_event(sq, c, &rows[i], e);
  }
  return rc;
}

/* ---- writing ----------------------------------------------------------------------- */

/* What was held is forgotten when it is written, or when it never can be. A claim that is
** older than what is held does not touch it. */
neap_rc np_sq_write(np_sqlite *sq, const np_claim *c, const np_row *rows, size_t n,
                    neap_durable durable, np_err *e) {
  np_memlog *held = np_memlog_find(&sq->held, c->tenant, c->session);
  if (held && held->fence != c->fence) held = NULL;
  neap_rc rc = np_sq_writable(sq, e);
  if (rc == NEAP_OK) rc = np_sq_sync(sq, durable, e);
  if (rc == NEAP_OK) rc = np_sq_begin(sq, e);
  if (rc != NEAP_OK) return rc;
  rc = check_fence(sq, c, held ? held->n : 0, e);
  if (rc == NEAP_OK && held) rc = np_sq_add_rows(sq, c, held->rows, held->n, e);
  if (rc == NEAP_OK) rc = np_sq_add_rows(sq, c, rows, n, e);
  rc = np_sq_end(sq, rc, e);
  if (held && (rc == NEAP_OK || rc == NEAP_E_FENCED)) np_memlog_drop(&sq->held, held);
  return rc;
}

/* May `rows` be held: do they fit under the limit, and are their bodies here? What is only
** named must be looked for in the file. */
bool np_sq_has_room(const np_sqlite *sq, const np_row *rows, size_t n) {
  size_t room = NP_HELD_MAX > sq->held.bytes ? NP_HELD_MAX - sq->held.bytes : 0;
  for (size_t i = 0; i < n; i++) {
    size_t need = rows[i].ev.head.n + rows[i].ev.body.n; /* both have small limits */
    bool named = rows[i].place == NP_PLACE_APART && rows[i].ev.body.n == 0;
    if (named || need > room) return false;
    room -= need;
  }
  return true;
}

/* Keeps rows for later; writes them at once when there is no more room. An overtaken
** claim is refused now, not only at the flush. */
neap_rc np_sq_hold(np_sqlite *sq, const np_claim *c, const np_row *rows, size_t n,
                   np_err *e) {
  if (!np_sq_has_room(sq, rows, n)) {
    return np_sq_write(sq, c, rows, n, NEAP_DURABLE_PROCESS, e);
  }
  neap_rc rc = np_sq_writable(sq, e);
  if (rc == NEAP_OK) rc = check_fence(sq, c, 0, e);
  if (rc != NEAP_OK) return rc;
  np_memlog *log = np_memlog_make(&sq->held, c->tenant, c->session);
  if (!log) return np_fail_mem(e);
  if (log->n > 0 &&
      (log->fence != c->fence || log->rows[log->n - 1].ev.seq != c->last_seq)) {
    return np_fail(e, NEAP_E_MISUSE,
                   "session '%.*s': the claim was copied; use one claim",
                   NP_SHOW(c->session));
  }
  log->fence = c->fence;
  if (np_memlog_add(&sq->held, log, rows, n)) return NEAP_OK;
  if (log->n == 0) np_memlog_drop(&sq->held, log);
  return np_fail_mem(e);
}

/* ---- what is held ------------------------------------------------------------------ */

static neap_rc write_log(np_sqlite *sq, np_memlog *log, np_err *e) {
  neap_rc rc = np_sq_claim_held(sq, log, e);
  if (rc != NEAP_OK) return rc;
  np_claim c = {.tenant = log->tenant, .session = log->session, .fence = log->fence};
  return np_sq_write(sq, &c, NULL, 0, NEAP_DURABLE_PROCESS, e);
}

neap_rc np_sq_write_held(np_sqlite *sq, np_str tenant, np_str session, np_err *e) {
  np_memlog *log = np_memlog_find(&sq->held, tenant, session);
  return log ? write_log(sq, log, e) : NEAP_OK;
}

/* An overtaken session must not keep the others from being written: its failure is told
** at the end. Any other failure stops, and what is left may be flushed again. */
neap_rc np_sq_flush_all(np_sqlite *sq, np_err *e) {
  neap_rc fenced = NEAP_OK;
  while (sq->held.n > 0) {
    neap_rc rc = write_log(sq, sq->held.logs[sq->held.n - 1], e);
    if (rc == NEAP_E_FENCED) {
      fenced = rc;
    } else if (rc != NEAP_OK) {
      return rc;
    }
  }
  return fenced;
}

neap_rc np_sq_held(np_sqlite *sq, np_str tenant, np_str session, np_memlog **out,
                   np_err *e) {
  int64_t fence = 0;
  *out = np_memlog_find(&sq->held, tenant, session);
  if (!*out || (*out)->fence == NP_FENCE_WANTED) return NEAP_OK;
  neap_rc rc = np_sq_fence(sq, tenant, session, &fence, e);
  if (rc != NEAP_OK || fence != (*out)->fence) *out = NULL;
  return rc;
}
