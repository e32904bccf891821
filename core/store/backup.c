/*
** A copy of the file while others write: a connection of its own keeps one state of it in view,
** and its pages are copied some at a time. It has its name only when it is whole. next: upkeep.c
*/
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* mknod */
#endif
#include <errno.h>
#include <stdio.h>
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

static neap_rc fail_exists(const char *path, np_err *e) {
  return np_fail(e, NEAP_E_IO, "backup '%.200s': the file is there already; give another",
                 path);
}

/* Private, as a store is, before a byte is in it. */
static neap_rc make_part(const char *part, const char *path, sqlite3 **out, np_err *e) {
  struct stat is;
  if (lstat(path, &is) == 0) return fail_exists(path, e);
  if (mknod(part, S_IFREG | S_IRUSR | S_IWUSR, 0) != 0)
    return np_fail(
        e, NEAP_E_IO,
        errno == EEXIST
            ? "backup '%.200s': there is a '%.200s': another backup is being "
              "made, or one was broken off; remove that file if it is so"
            : "backup '%.200s': the file '%.200s' cannot be made; check the path",
        path, part);
  int rc = sqlite3_open_v2(part, out, SQLITE_OPEN_READWRITE, NULL);
  if (rc == SQLITE_OK) return NEAP_OK;
  sqlite3_close(*out);
  *out = NULL;
  unlink(part);
  return (rc & 0xFF) == SQLITE_NOMEM ? np_fail_mem(e) : fail_target(path, rc, e);
}

/* Gives the whole copy its name; nothing that is there is written over. Where a file cannot have
** two names, between the look and the new name another may come. */
static neap_rc name_whole(const char *part, const char *path, np_err *e) {
  struct stat is;
  if (link(part, path) == 0) return unlink(part) == 0 ? NEAP_OK : fail_target(path, 0, e);
  if (errno == EEXIST || lstat(path, &is) == 0) return fail_exists(path, e);
  return rename(part, path) == 0 ? NEAP_OK : fail_target(path, 0, e);
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

static neap_rc copy_to(sqlite3 *from, const char *part, const char *path, np_err *e) {
  sqlite3 *to = NULL;
  neap_rc rc = make_part(part, path, &to, e);
  if (rc != NEAP_OK) return rc;
  rc = copy_pages(from, to, path, e);
  if (sqlite3_close(to) != SQLITE_OK && rc == NEAP_OK) rc = fail_target(path, 0, e);
  if (rc == NEAP_OK) rc = name_whole(part, path, e);
  if (rc != NEAP_OK) unlink(part); /* no half of one is left */
  return rc;
}

neap_rc np_sq_backup(np_store *store, const char *path_cstr, np_err *e) {
  sqlite3 *from = NULL;
  np_sqlite *sq = np_sq_lock_back(store);
  np_buf part;
  neap_rc rc = np_sq_here(sq, e);
  if (rc == NEAP_OK && !sq->readonly) rc = np_sq_flush_all(sq, e);
  if (rc == NEAP_OK) rc = look(sq, &from, e);
  np_sq_unlock(sq, rc);
  np_buf_init(&part, sq->st.alloc);
  np_buf_adds(&part, path_cstr);
  np_buf_add(&part, (np_str){".part", 6}); /* with its end */
  if (rc == NEAP_OK)
    rc = part.failed ? np_fail_mem(e) : copy_to(from, part.p, path_cstr, e);
  np_buf_free(&part);
  sqlite3_close(from);
  return rc;
}
