/*
** The file made anew. Overwriting what is deleted is not enough: pages keep copies of rows that
** were moved in them while others were written. Only a file that is made of the rows that live has
** none. It costs a reading and two writings of all of it, and room for it twice on the disk until
** the log is emptied. next: remove.c
*/
#include "store/sqlite.h"

neap_rc np_sq_make_anew(np_sqlite *sq, np_err *e) {
  sqlite3_limit(sq->db, SQLITE_LIMIT_ATTACHED, 1); /* where it is made */
  neap_rc rc = np_sq_exec(sq, "VACUUM", e);
  sqlite3_limit(sq->db, SQLITE_LIMIT_ATTACHED, 0);
  return rc;
}

/* The write-ahead log still holds the old pages until it is emptied. */
static neap_rc empty_log(np_sqlite *sq, const char *busy, np_err *e) {
  int rc =
      sqlite3_wal_checkpoint_v2(sq->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  if (rc == SQLITE_OK) return NEAP_OK;
  if ((rc & 0xFF) != SQLITE_BUSY) return np_sq_fail(sq, rc, e);
  return np_sq_say(sq, NEAP_E_BUSY, busy, e);
}

neap_rc np_sq_leave_nothing(np_sqlite *sq, const char *unmade, const char *busy,
                            np_err *e) {
  np_err why = {0};
  neap_rc rc = np_sq_make_anew(sq, &why);
  if (rc == NEAP_OK) return empty_log(sq, busy, e);
  return np_fail(e, rc, "%s; it says: %s", unmade, why.text);
}
