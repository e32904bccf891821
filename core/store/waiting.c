/*
** What the file cannot take now, when the host wants to go on all the same: events wait in memory
** with the reason, and every later write tries them first. A session that could not be claimed
** waits for its claim too. next: copy.c
*/
#include "store/sqlite.h"

/* They may pass. Damage does not. */
bool np_sq_may_pass(neap_rc rc) {
  return rc == NEAP_E_FULL || rc == NEAP_E_READONLY || rc == NEAP_E_BUSY ||
         rc == NEAP_E_IO;
}

static bool is_held(const np_sqlite *sq, neap_rc rc) {
  return sq->st.hold && !sq->readonly && !sq->away && np_sq_may_pass(rc);
}

/* Who has waited once for another process's lock does not wait for it at each call. */
static void be_patient(np_sqlite *sq, bool yes) {
  sqlite3_busy_timeout(sq->db, yes ? NP_BUSY_MS : 0);
}

/* ---- claims ------------------------------------------------------------------------ */

/* The log as the file has it, or none yet; the claim comes when the file can be written. */
neap_rc np_sq_want_claim(np_sqlite *sq, np_claim *out, neap_rc why, np_err *e) {
  np_err own = {0};
  if (!is_held(sq, why)) return why;
  neap_rc rc = np_sq_look(sq, out, &own);
  if (rc != NEAP_OK && rc != NEAP_E_NOTFOUND) return why;
  if (rc == NEAP_E_NOTFOUND) out->last_seq = 0;
  np_memlog *held = np_memlog_find(&sq->held, out->tenant, out->session);
  if (held && held->n && rc == NEAP_E_NOTFOUND) out->last_seq = (int64_t)held->n;
  out->fence = NP_FENCE_WANTED;
  sq->trouble = *e;
  *e = (np_err){0};
  return NEAP_OK;
}

/* In one transaction: whoever wrote meanwhile has the log, and what waits cannot follow. */
static neap_rc claim_late(np_sqlite *sq, np_claim *c, np_memlog *held, np_err *e) {
  np_claim now = {.tenant = c->tenant, .session = c->session};
  int64_t begins = held && held->n ? held->rows[0].ev.seq - 1 : c->last_seq;
  neap_rc rc = np_sq_take(sq, &now, begins, held ? held->n : 0, e);
  if (rc == NEAP_OK) c->fence = now.fence;
  if (rc == NEAP_OK && held) held->fence = now.fence;
  if (rc == NEAP_E_FENCED && held) np_memlog_drop(&sq->held, held);
  return rc;
}

/* ---- appends ----------------------------------------------------------------------- */

static neap_rc try(np_sqlite *sq, np_claim *c, const np_row *rows, size_t n,
                   neap_durable durable, np_err *e) {
  np_memlog *held = np_memlog_find(&sq->held, c->tenant, c->session);
  bool waits = held && held->waits, wanted = c->fence == NP_FENCE_WANTED;
  bool later = durable == NEAP_DURABLE_BATCH || durable == NEAP_DURABLE_MEMORY;
  if (later && !waits && !wanted) return np_sq_hold(sq, c, rows, n, e);
  if (waits || wanted) be_patient(sq, false);
  neap_rc rc = wanted ? claim_late(sq, c, held, e) : NEAP_OK;
  if (rc == NEAP_OK) rc = np_sq_write(sq, c, rows, n, durable, e);
  be_patient(sq, true);
  return rc;
}

/* Every event that was acknowledged is in the file or here, in order. */
static neap_rc wait(np_sqlite *sq, const np_claim *c, const np_row *rows, size_t n,
                    neap_rc why, np_err *e) {
  if (!np_sq_has_room(sq, rows, n)) return why;
  np_memlog *log = np_memlog_make(&sq->held, c->tenant, c->session);
  if (!log) return np_fail_mem(e);
  bool follows = log->n == 0 ||
                 (log->fence == c->fence && log->rows[log->n - 1].ev.seq == c->last_seq);
  if (!follows)
    return np_fail(e, NEAP_E_MISUSE,
                   "session '%.*s': the claim was copied; use one claim",
                   NP_SHOW(c->session));
  log->fence = c->fence;
  if (!np_memlog_add(&sq->held, log, rows, n)) {
    if (log->n == 0) np_memlog_drop(&sq->held, log);
    return np_fail_mem(e);
  }
  log->waits = true;
  sq->trouble = *e;
  *e = (np_err){0};
  return NEAP_OK;
}

neap_rc np_sq_append_rows(np_sqlite *sq, np_claim *c, const np_row *rows, size_t n,
                          neap_durable durable, np_err *e) {
  np_err own = {0};
  if (!e) e = &own;
  neap_rc rc = try(sq, c, rows, n, durable, e);
  if (rc == NEAP_E_FENCED) return np_sq_say_moved(sq, c, rc, e);
  return is_held(sq, rc) ? wait(sq, c, rows, n, rc, e) : rc;
}

/* A flush that fails leaves what it could not write; from then on it is tried at each call. */
void np_sq_flush_failed(np_sqlite *sq, neap_rc rc, const np_err *e) {
  if (!is_held(sq, rc)) return;
  for (size_t i = 0; i < sq->held.n; i++) sq->held.logs[i]->waits = true;
  if (e) sq->trouble = *e;
}

/* The claim of a log that is flushed while it has none yet. */
neap_rc np_sq_claim_held(np_sqlite *sq, np_memlog *log, np_err *e) {
  np_claim c = {.tenant = log->tenant, .session = log->session};
  return log->fence == NP_FENCE_WANTED ? claim_late(sq, &c, log, e) : NEAP_OK;
}

/* All of it, while the file is away. */
static void count_all(np_sqlite *sq, np_str tenant, np_str session, np_waiting *out) {
  sqlite3_stmt *st;
  bool row = false;
  neap_rc rc = np_sq_use(sq, SQL_WAITING, &st, NULL, "tt", tenant, session);
  if (rc != NEAP_OK) return;
  np_sq_step(sq, st, &row, NULL);
  if (row) out->events += sqlite3_column_int64(st, 0);
  if (row) out->bytes += sqlite3_column_int64(st, 1);
  np_sq_done(st);
}

neap_rc np_sq_waiting(np_store *store, np_str tenant, np_str session, np_waiting *out) {
  np_sqlite *sq = np_sq_lock(store);
  const np_memlog *log = np_memlog_find(&sq->held, tenant, session);
  *out = (np_waiting){.why = {0}};
  if (sq->away) count_all(sq, tenant, session, out);
  if (log && (log->waits || sq->away)) {
    out->events += (int64_t)log->n;
    for (size_t i = 0; i < log->n; i++)
      out->bytes += (int64_t)(log->rows[i].ev.head.n + log->rows[i].ev.body.n);
  }
  if (out->events > 0) out->why = sq->trouble;
  return np_sq_unlock(sq, NEAP_OK);
}
