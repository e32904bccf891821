/*
** Sessions that are made whole: a copy of the beginning of another one, which shares its
** content, and one whose events come from elsewhere. All or none, and never over a session
** that is there. next: check.c
*/
#include "store/sqlite.h"

/* Inside a transaction: the session's row, with a fence of its own. */
static neap_rc make_session(np_sqlite *sq, np_str tenant, np_str session, int64_t *fence,
                            np_err *e) {
  sqlite3_stmt *st;
  bool row = false;
  neap_rc rc = np_sq_fence(sq, tenant, session, fence, e);
  if (rc == NEAP_OK && *fence != 0) rc = np_fail_exists(session, e);
  if (rc == NEAP_OK)
    rc = np_sq_use(sq, SQL_CLAIM, &st, e, "ttii", tenant, session, sq->first_fence,
                   (int64_t)NP_ROW_VERSION);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  if (row) {
    *fence = sqlite3_column_int64(st, 0);
    rc = np_sq_step(sq, st, &row, e);
  }
  np_sq_done(st);
  return rc;
}

static neap_rc copy_events(np_sqlite *sq, np_str tenant, np_str from, np_str to,
                           int64_t upto, np_err *e) {
  sqlite3_stmt *st;
  bool row;
  neap_rc rc = np_sq_use(sq, SQL_FORK, &st, e, "ttti", tenant, from, to, upto);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  np_sq_done(st);
  if (rc == NEAP_OK && sqlite3_changes(sq->db) != upto)
    rc = np_fail_short(from, (int64_t)sqlite3_changes(sq->db), upto, e);
  return rc;
}

static neap_rc fork_session(np_sqlite *sq, np_str tenant, np_str from, np_str to,
                            int64_t upto, np_err *e) {
  int64_t fence = 0;
  neap_rc rc = np_sq_writable(sq, e);
  if (rc == NEAP_OK) rc = np_sq_write_held(sq, tenant, from, e);
  if (rc == NEAP_OK) rc = np_sq_begin(sq, e);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_fence(sq, tenant, from, &fence, e);
  if (rc == NEAP_OK && fence == 0) rc = np_fail_no_session(from, e);
  if (rc == NEAP_OK) rc = make_session(sq, tenant, to, &fence, e);
  if (rc == NEAP_OK) rc = copy_events(sq, tenant, from, to, upto, e);
  return np_sq_end(sq, rc, e);
}

neap_rc np_sq_fork(np_store *store, np_str tenant, np_str from, np_str to, int64_t upto,
                   np_err *e) {
  neap_rc rc = np_check_names(tenant, from, e);
  if (rc == NEAP_OK) rc = np_check_names(tenant, to, e);
  if (rc != NEAP_OK) return rc;
  np_sqlite *sq = np_sq_lock_back(store);
  rc = fork_session(sq, tenant, from, to, upto, e);
  return np_sq_unlock(sq, np_sq_unseen(sq, rc, e));
}

static neap_rc restore(np_sqlite *sq, np_str tenant, np_str session, const np_row *rows,
                       size_t n, np_err *e) {
  np_claim c = {.tenant = tenant, .session = session};
  neap_rc rc = np_sq_writable(sq, e);
  if (rc == NEAP_OK) rc = np_sq_begin(sq, e);
  if (rc != NEAP_OK) return rc;
  rc = make_session(sq, tenant, session, &c.fence, e);
  if (rc == NEAP_OK) rc = np_sq_add_rows(sq, &c, rows, n, e);
  return np_sq_end(sq, rc, e);
}

neap_rc np_sq_restore(np_store *store, np_str tenant, np_str session, const np_event *ev,
                      size_t n, np_err *e) {
  np_row few[NP_FEW_ROWS], *rows;
  np_claim c = {.tenant = tenant, .session = session, .fence = 1};
  neap_rc rc = np_check_names(tenant, session, e);
  if (rc == NEAP_OK) rc = np_check_events(&c, ev, n, e);
  if (rc != NEAP_OK) return rc;
  rows = np_rows_new(store->alloc, few, ev, n);
  if (!rows) return np_fail_mem(e);
  np_sqlite *sq = np_sq_lock_back(store);
  rc = np_sq_unlock(sq, restore(sq, tenant, session, rows, n, e));
  np_rows_free(store->alloc, rows, few);
  return rc;
}
