/*
** A copy of the file while others write: a connection of its own keeps one state of it in view,
** and its pages are copied some at a time. next: upkeep.c
*/
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* mknod */
#endif
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite.h"

#define PAGES 1000 /* copied at a time, 4 MB: others wait no longer than for that */

/* A second connection to the same file, with a transaction that sees one state of it. */
static neap_rc look(np_sqlite *sq, sqlite3 **out, np_err *e) {
  const char *name = sqlite3_db_filename(sq->db, "main");
  int rc = SQLITE_CANTOPEN;
  if (name && *name) rc = sqlite3_open_v2(name, out, SQLITE_OPEN_READONLY, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_busy_timeout(*out, NP_BUSY_MS);
  if (rc == SQLITE_OK)
    rc =
        sqlite3_exec(*out, "BEGIN; SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
  return rc == SQLITE_OK ? NEAP_OK : np_sq_fail(sq, rc, e);
}

static neap_rc fail_target(const char *path, int rc, np_err *e) {
  bool full = (rc & 0xFF) == SQLITE_FULL;
  return np_fail(e, full ? NEAP_E_FULL : NEAP_E_IO,
                 full ? "backup '%.200s': the disk is full; free space and try again"
                      : "backup '%.200s': it cannot be written; check the path",
                 path);
}

/* Private, as a store is, before a byte is in it; nothing that is there is written over. */
static neap_rc make_target(const char *path, sqlite3 **out, np_err *e) {
  if (mknod(path, S_IFREG | S_IRUSR | S_IWUSR, 0) != 0)
    return np_fail(e, NEAP_E_IO,
                   errno == EEXIST
                       ? "backup '%.200s': the file is there already; give another"
                       : "backup '%.200s': the file cannot be made; check the path",
                   path);
  int rc = sqlite3_open_v2(path, out, SQLITE_OPEN_READWRITE, NULL);
  if (rc == SQLITE_OK) return NEAP_OK;
  sqlite3_close(*out);
  *out = NULL;
  unlink(path);
  return (rc & 0xFF) == SQLITE_NOMEM ? np_fail_mem(e) : fail_target(path, rc, e);
}

static neap_rc copy_pages(sqlite3 *from, sqlite3 *to, const char *path, np_err *e) {
  sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
  if (!b) return fail_target(path, sqlite3_errcode(to), e);
  int rc, waited = 0;
  do {
    rc = sqlite3_backup_step(b, PAGES);
    if (rc != SQLITE_BUSY && rc != SQLITE_LOCKED) continue;
    if (waited >= NP_BUSY_MS) break;
    waited += sqlite3_sleep(10);
  } while (rc == SQLITE_OK || rc == SQLITE_BUSY || rc == SQLITE_LOCKED);
  int done = sqlite3_backup_finish(b);
  if (rc == SQLITE_DONE && done == SQLITE_OK) return NEAP_OK;
  if ((rc & 0xFF) == SQLITE_NOMEM) return np_fail_mem(e);
  return fail_target(path, rc == SQLITE_DONE ? done : rc, e);
}

neap_rc np_sq_backup(np_store *store, const char *path_cstr, np_err *e) {
  sqlite3 *from = NULL, *to = NULL;
  np_sqlite *sq = np_sq_lock_back(store);
  neap_rc rc = np_sq_here(sq, e);
  if (rc == NEAP_OK && !sq->readonly) rc = np_sq_flush_all(sq, e);
  if (rc == NEAP_OK) rc = look(sq, &from, e);
  np_sq_unlock(sq, rc);
  if (rc == NEAP_OK) rc = make_target(path_cstr, &to, e);
  if (rc == NEAP_OK) rc = copy_pages(from, to, path_cstr, e);
  sqlite3_close(to);
  if (rc != NEAP_OK && to) unlink(path_cstr); /* no half of one is left */
  sqlite3_close(from);
  return rc;
}
