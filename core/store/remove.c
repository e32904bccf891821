/*
** A session removed for good: its events, their words, and what of the tenant's contents only it
** named, in one transaction; what is freed is overwritten. That it was there stays, with its
** fence, so that an old writer is not let into a new session of the name. next: check.c
*/
#include "store/fts.h"

static neap_rc of_tenant(np_sqlite *sq, np_sql id, np_str tenant, np_err *e) {
  sqlite3_stmt *st;
  neap_rc rc = np_sq_use(sq, id, &st, e, "t", tenant);
  return rc == NEAP_OK ? np_sq_run(sq, st, e) : rc;
}

static neap_rc of_session(np_sqlite *sq, np_sql id, np_str tenant, np_str session,
                          np_err *e) {
  sqlite3_stmt *st;
  neap_rc rc = np_sq_use(sq, id, &st, e, "tt", tenant, session);
  return rc == NEAP_OK ? np_sq_run(sq, st, e) : rc;
}

/* Contents that the events named, and nothing names any more. */
static neap_rc sweep(np_sqlite *sq, np_str tenant, np_removed *out, np_err *e) {
  int64_t held = 0;
  neap_rc rc = np_sq_int(sq, "SELECT count(*) FROM leaving", &held, e);
  if (rc != NEAP_OK || held == 0) return rc;
  rc = of_tenant(sq, SQL_RM_STILL, tenant, e);
  if (rc == NEAP_OK) rc = of_tenant(sq, SQL_RM_CHUNKS, tenant, e);
  if (rc == NEAP_OK) rc = of_tenant(sq, SQL_RM_BLOBS, tenant, e);
  if (rc == NEAP_OK) out->contents = sqlite3_changes(sq->db);
  return rc;
}

static neap_rc record(np_sqlite *sq, np_str tenant, np_str session, int64_t fence,
                      np_err *e) {
  sqlite3_stmt *st;
  neap_rc rc = np_sq_use(sq, SQL_RM_RECORD, &st, e, "ttiit", tenant, session, fence,
                         (int64_t)NP_ROW_VERSION, NP_LIT("removed"));
  return rc == NEAP_OK ? np_sq_run(sq, st, e) : rc;
}

/* Inside a transaction. */
static neap_rc remove_all(np_sqlite *sq, np_str tenant, np_str session, np_removed *out,
                          np_err *e) {
  int64_t fence = 0;
  neap_rc rc = np_sq_fence(sq, tenant, session, &fence, e);
  if (rc == NEAP_OK && fence == 0) rc = np_fail_no_session(session, e);
  if (rc == NEAP_OK) rc = np_words_forget(sq, tenant, session, e);
  if (rc == NEAP_OK) rc = np_sq_exec(sq, "DELETE FROM leaving", e);
  if (rc == NEAP_OK) rc = of_session(sq, SQL_RM_HELD, tenant, session, e);
  if (rc == NEAP_OK) rc = of_session(sq, SQL_RM_EVENTS, tenant, session, e);
  if (rc == NEAP_OK) out->events = sqlite3_changes(sq->db);
  if (rc == NEAP_OK) rc = sweep(sq, tenant, out, e);
  if (rc == NEAP_OK) rc = of_session(sq, SQL_RM_SESSION, tenant, session, e);
  return rc == NEAP_OK ? record(sq, tenant, session, fence, e) : rc;
}

static const char unmade[] = "the session is removed, but the file could not be made "
                             "anew and may hold old copies; "
                             "run neap store vacuum";
static const char busy[] =
    "the session is removed, but a reader keeps an old copy in the -wal "
    "file; run neap store vacuum when other processes have closed the store";

static neap_rc go(np_sqlite *sq, np_str tenant, np_str session, np_removed *out,
                  np_err *e) {
  neap_rc rc = np_sq_writable(sq, e);
  if (rc == NEAP_OK) rc = np_sq_flush_all(sq, e);
  if (rc == NEAP_OK) rc = np_sq_exec(sq, "PRAGMA secure_delete = ON", e);
  if (rc == NEAP_OK)
    rc = np_sq_exec(sq, "CREATE TEMP TABLE IF NOT EXISTS leaving(hash BLOB)", e);
  if (rc == NEAP_OK) rc = np_sq_begin(sq, e);
  if (rc == NEAP_OK) rc = np_sq_end(sq, remove_all(sq, tenant, session, out, e), e);
  np_sq_exec(sq, "PRAGMA secure_delete = OFF", NULL);
  return rc == NEAP_OK ? np_sq_leave_nothing(sq, unmade, busy, e) : rc;
}

neap_rc np_sq_remove(np_store *store, np_str tenant, np_str session, np_removed *out,
                     np_err *e) {
  *out = (np_removed){0};
  neap_rc rc = np_check_names(tenant, session, e);
  if (rc != NEAP_OK) return rc;
  np_sqlite *sq = np_sq_lock_back(store);
  rc = np_sq_here(sq, e);
  return np_sq_unlock(sq, rc == NEAP_OK ? go(sq, tenant, session, out, e) : rc);
}
