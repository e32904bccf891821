/*
** SQL: the kept statements, binding and stepping, transactions, and what each of SQLite's
** failures means to a user. next: schema.c
*/
#include <errno.h> /* EFBIG and its like: sqlite3_system_errno speaks in them */
#include <stdarg.h>

#include "store/sqlite.h"

static const char *const texts[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    /* one that was removed goes on behind its last fence: an old writer is not let in */
    [SQL_CLAIM] = "INSERT INTO session(tenant, name, fence, version) VALUES(?1, ?2,"
                  " max(?3, 1 + coalesce((SELECT fence FROM meta WHERE tenant = ?1"
                  " AND name = 'removed/' || ?2), 0)), ?4)"
                  " ON CONFLICT(tenant, name) DO UPDATE SET fence = fence + 1"
                  " RETURNING fence",
    [SQL_FENCE] = "SELECT fence FROM session WHERE tenant = ? AND name = ?",
    [SQL_LAST] = "SELECT max(seq) FROM event WHERE tenant = ? AND session = ?",
    [SQL_EVENT_ADD] =
        "INSERT INTO event(tenant, session, seq, kind, fence, version, place,"
        " sum, hash, head, body) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_EVENTS] = "SELECT seq, kind, version, place, sum, hash, head, body FROM event"
                   " WHERE tenant = ? AND session = ? AND seq >= ? ORDER BY seq LIMIT ?",
    [SQL_HEADS] =
        "SELECT seq, kind, version, place, sum, hash, head FROM event"
        " WHERE tenant = ? AND session = ? AND seq >= ?3 AND (?5 = 0 OR kind = ?5)"
        " ORDER BY seq LIMIT ?4",
    [SQL_EVENTS_PURGE] = "UPDATE event SET place = 3, body = NULL"
                         " WHERE tenant = ? AND hash = ? AND place IN (1, 2, 5)",
    [SQL_EVENTS_RELEASE] = "UPDATE event SET place = 3 WHERE rowid = ?",
    [SQL_EVENTS_HOLD] =
        "SELECT rowid, hash, place FROM event WHERE tenant = ? AND place IN (2, 5)",
    [SQL_FORK] =
        "INSERT INTO event(tenant, session, seq, kind, fence, version, place,"
        " sum, hash, head, body) SELECT tenant, ?3, seq, kind, 1, version, place,"
        " sum, hash, head, body FROM event"
        " WHERE tenant = ?1 AND session = ?2 AND seq <= ?4",
    [SQL_BLOB_GET] = "SELECT sum, enc, body FROM blob WHERE tenant = ? AND hash = ?",
    [SQL_BLOB] = "SELECT place, id, size, enc, body, sum FROM blob"
                 " WHERE tenant = ? AND hash = ?",
    [SQL_BLOB_3] = "SELECT place, id, size, enc, body, NULL FROM blob"
                   " WHERE tenant = ? AND hash = ?",
    [SQL_BLOB_2] = "SELECT place, id, size, 0, body, NULL FROM blob"
                   " WHERE tenant = ? AND hash = ?",
    [SQL_BLOB_PLACE] = "SELECT place, id FROM blob WHERE tenant = ? AND hash = ?",
    [SQL_BLOB_ADD] =
        "INSERT INTO blob(tenant, hash, fence, version, place, size, enc, body, sum)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(tenant, hash) DO NOTHING",
    [SQL_BLOB_SET] = "UPDATE blob SET fence = ?, place = ?, size = ?, enc = ?, body = ?,"
                     " sum = ? WHERE id = ?",
    [SQL_BLOB_SUM] = "UPDATE blob SET sum = ? WHERE id = ?",
    [SQL_BLOB_STALE] = "SELECT id, tenant, hash FROM blob WHERE id > ?"
                       " AND place = 2 AND (size > ? OR sum IS NULL) ORDER BY id LIMIT 1",
    [SQL_CHUNK] = "SELECT enc, sum, marks, body FROM chunk WHERE id = ?",
    [SQL_CHUNK_ADD] = "INSERT INTO chunk(id, fence, version, enc, sum, marks, body)"
                      " VALUES(?, ?, ?, ?, ?, ?, ?)",
    [SQL_CHUNKS_REMOVE] = "DELETE FROM chunk WHERE id >= ? AND id < ?",
    [SQL_SESSIONS] = "SELECT name, fence, (SELECT max(seq) FROM event AS e"
                     " WHERE e.tenant = s.tenant AND e.session = s.name)"
                     " FROM session AS s WHERE tenant = ? ORDER BY name",
    [SQL_SECRET] = "SELECT value FROM meta WHERE tenant = '' AND name = 'secret'",
    [SQL_SECRET_ADD] = "INSERT INTO meta(tenant, name, fence, version, value)"
                       " VALUES('', 'secret', 0, ?, ?)",
    [SQL_SCOPE] = "SELECT id, entry, cited, docs, words, seq FROM scope"
                  " WHERE tenant = ? AND session = ?",
    [SQL_SCOPE_LAST] = /* of the tenant: in the range of any of them; and of all */
    "SELECT (SELECT (SELECT l.id FROM scope AS l WHERE l.id < ((f.id >> 22) + 1) << 22"
    " AND +l.tenant = f.tenant ORDER BY l.id DESC LIMIT 1)"
    " FROM scope AS f WHERE f.tenant = ? LIMIT 1), (SELECT max(id) FROM scope)",
    [SQL_SCOPE_ADD] =
        "INSERT INTO scope(id, tenant, session, fence, version, entry, cited, seq,"
        " docs, words) VALUES(?, ?, ?, ?, ?, 0, 0, 0, 0, 0)",
    [SQL_SCOPE_SET] =
        "UPDATE scope SET fence = ?, entry = ?, cited = ?, docs = ?, words = ?,"
        " seq = ?"
        " WHERE id = ?",
    [SQL_SCOPE_NAME] = "SELECT session FROM scope WHERE id = ? AND tenant = ?",
    [SQL_SCOPE_ENTRY] = "SELECT id, entry FROM scope WHERE id = ?",
    [SQL_SCOPE_SUM] = "SELECT sum(docs), sum(words) FROM scope WHERE id BETWEEN ? AND ?",
    [SQL_SCOPE_BEFORE] =
        "SELECT sum(CASE WHEN id > ?1 THEN docs ELSE min(docs, entry - ?2) END)"
        " FROM scope WHERE id BETWEEN ?1 AND ?3",
    [SQL_WORDS_ADD] = "INSERT INTO words(rowid, body) VALUES(?, ?)",
    [SQL_WORDS_REMOVE] = "INSERT INTO words(words, rowid, body) VALUES('delete', ?, ?)",
    [SQL_WORDS_FIND] = "SELECT rowid FROM words WHERE words MATCH ?"
                       " AND rowid >= ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?",
    [SQL_DOC_ADD] =
        "INSERT INTO doc(id, fence, version, seq, part, rank, step, pair, words, sum,"
        " cites) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
    [SQL_DOC_CITE] = "UPDATE doc SET cites = cites + 1 WHERE id = ?",
    [SQL_DOC] = "SELECT seq, part, rank, step, pair, cites, words FROM doc WHERE id = ?",
    [SQL_DOC_COUNT] = "SELECT count(*) FROM doc WHERE id >= ? AND id < ?",
    [SQL_DOC_NEAR] = "SELECT id, pair FROM doc WHERE id > ? AND id <= ? AND step = ?3"
                     " AND id <= ?1 + 32",
    [SQL_DOC_OF] =
        "SELECT id, part, sum, words FROM doc WHERE id > ? AND id < ? AND seq = ?",
    [SQL_DOC_PURGE] = "UPDATE doc SET rank = 9, words = 0, sum = 0 WHERE id = ?",
    [SQL_WAITING] = "SELECT count(*), sum(length(e.head)"
                    " + coalesce(length(e.body), b.size, 0)) FROM event AS e"
                    " LEFT JOIN blob AS b ON e.place IN (2, 5) AND b.tenant = e.tenant"
                    " AND b.hash = e.hash WHERE e.tenant = ? AND e.session = ?",
    [SQL_HOLDERS] = "SELECT seq, session, place, body FROM event"
                    " WHERE tenant = ? AND hash = ? AND place IN (1, 2, 5)",
    [SQL_RM_DOCS] = "SELECT id, seq, part, sum, words FROM doc"
                    " WHERE id > ? AND id < ? AND rank <> 9 ORDER BY id",
    [SQL_RM_BODY] = "SELECT place, hash, body FROM event"
                    " WHERE tenant = ? AND session = ? AND seq = ?",
    [SQL_RM_DOC_ROWS] = "DELETE FROM doc WHERE id > ? AND id < ?",
    [SQL_RM_SCOPE] = "DELETE FROM scope WHERE id = ?",
    [SQL_RM_RECORD] = "INSERT INTO meta(tenant, name, fence, version, value)"
                      " VALUES(?1, 'removed/' || ?2, ?3, ?4, CAST(?5 AS BLOB))"
                      " ON CONFLICT(tenant, name) DO UPDATE SET fence = excluded.fence,"
                      " value = excluded.value",
    [SQL_RM_HELD] = "INSERT INTO leaving SELECT DISTINCT hash FROM event"
                    " WHERE tenant = ? AND session = ? AND place IN (2, 5)",
    [SQL_RM_EVENTS] = "DELETE FROM event WHERE tenant = ? AND session = ?",
    [SQL_RM_SESSION] = "DELETE FROM session WHERE tenant = ? AND name = ?",
    [SQL_RM_STILL] = "DELETE FROM leaving WHERE hash IN"
                     " (SELECT hash FROM event WHERE tenant = ? AND place IN (2, 5))",
    [SQL_RM_CHUNKS] =
        "DELETE FROM chunk WHERE id >> 24 IN (SELECT id FROM blob WHERE tenant = ?"
        " AND place <> 3 AND hash IN (SELECT hash FROM leaving))",
    [SQL_RM_BLOBS] = "DELETE FROM blob WHERE tenant = ? AND place <> 3"
                     " AND hash IN (SELECT hash FROM leaving)",
};

/* ---- failures ---------------------------------------------------------------------- */

neap_rc np_sq_say(const np_sqlite *sq, neap_rc code, const char *text, np_err *e) {
  return np_fail(e, code, "store '%s': %s", sq->label, text);
}

static bool is_full(int why) {
  return why == EFBIG || why == ENOSPC || why == EDQUOT;
}

/* The system's reason for the last failure of the file or of its log. SQLite itself says
** "full" only for ENOSPC, and forgets the reason when it rolls back. */
static bool wanted_room(const np_sqlite *sq) {
  static const int which[] = {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER};
  if (is_full(sqlite3_system_errno(sq->db))) return true;
  for (size_t i = 0; i < NP_COUNT(which); i++) {
    sqlite3_file *file = NULL;
    int why = 0;
    sqlite3_file_control(sq->db, "main", which[i], &file);
    if (!file || !file->pMethods) continue;
    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &why);
    if (is_full(why)) return true;
  }
  return false;
}

static neap_rc fail_beside(const np_sqlite *sq, np_err *e) {
  return np_sq_say(
      sq, NEAP_E_READONLY,
      "SQLite may not make its -wal and -shm files beside it; allow writing in "
      "its folder, or copy the store elsewhere",
      e);
}

static neap_rc fail_readonly(const np_sqlite *sq, int rc, np_err *e) {
  switch (rc) {
    case SQLITE_READONLY_DIRECTORY:
    case SQLITE_READONLY_CANTINIT:
    case SQLITE_READONLY_CANTLOCK: return fail_beside(sq, e);
    case SQLITE_READONLY_RECOVERY:
    case SQLITE_READONLY_ROLLBACK:
      return np_sq_say(sq, NEAP_E_READONLY,
                       "a killed process left work to undo; open it once for writing", e);
    case SQLITE_READONLY_DBMOVED:
      return np_sq_say(sq, NEAP_E_READONLY,
                       "it was moved or removed while open; open it again", e);
    default:
      return np_sq_say(
          sq, NEAP_E_READONLY,
          "it cannot be written; change its permissions or open it for reading", e);
  }
}

/* A failed read or write says little by itself: the system's reason decides. */
static neap_rc fail_io(const np_sqlite *sq, int rc, np_err *e) {
  int why = sqlite3_system_errno(sq->db);
  bool reads = rc == SQLITE_IOERR_READ || rc == SQLITE_IOERR_SHORT_READ;
  if (!reads && wanted_room(sq)) return np_sq_fail(sq, SQLITE_FULL, e);
  if (why == EACCES || why == EPERM || why == EROFS) return fail_beside(sq, e);
  return np_fail(e, NEAP_E_IO, "store '%s': %s; check the disk and the file's folder",
                 sq->label, sqlite3_errmsg(sq->db));
}

/* What a result code of SQLite means: code and one line. OK never comes here. */
neap_rc np_sq_fail(const np_sqlite *sq, int rc, np_err *e) {
  switch (rc & 0xFF) {
    case SQLITE_NOMEM: return np_fail_mem(e);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return np_sq_say(sq, NEAP_E_BUSY,
                       "locked by another process; try again, or end what holds it", e);
    case SQLITE_FULL: /* of memory for what waits, it is told why it waits */
      if (sq->away && e) *e = sq->trouble;
      if (sq->away) return sq->trouble.code;
      return np_sq_say(
          sq, NEAP_E_FULL,
          "the disk is full or the file may not grow; free space and try again", e);
    case SQLITE_READONLY: return fail_readonly(sq, rc, e);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_MISMATCH:
      return np_sq_say(sq, NEAP_E_CORRUPT, "the file is damaged; restore a copy of it",
                       e);
    case SQLITE_ERROR: /* our statements are right, so the tables are not */
    case SQLITE_CONSTRAINT:
      return np_fail(
          e, NEAP_E_CORRUPT,
          "store '%s': its tables are not as they should be (%s); restore a copy",
          sq->label, sqlite3_errmsg(sq->db));
    case SQLITE_TOOBIG:
      return np_sq_say(sq, NEAP_E_LIMIT, "a row is too large; store smaller pieces", e);
    default: return fail_io(sq, rc, e);
  }
}

neap_rc np_sq_writable(const np_sqlite *sq, np_err *e) {
  if (!sq->readonly) return NEAP_OK;
  return np_sq_say(sq, NEAP_E_READONLY, "opened for reading; open it for writing", e);
}

/* ---- statements -------------------------------------------------------------------- */

static neap_rc prepare(np_sqlite *sq, np_sql id, np_err *e) {
  if (sq->stmt[id]) return NEAP_OK;
  int rc = sqlite3_prepare_v3(sq->db, texts[id], -1, SQLITE_PREPARE_PERSISTENT,
                              &sq->stmt[id], NULL);
  return rc == SQLITE_OK ? NEAP_OK : np_sq_fail(sq, rc, e);
}

/* A NULL pointer would bind NULL instead of nothing. */
static const char *bytes(np_str s) {
  return s.n ? s.p : "";
}

static int bind(sqlite3_stmt *st, const char *types, va_list args) {
  int rc = SQLITE_OK;
  for (int i = 1; *types && rc == SQLITE_OK; types++, i++) {
    if (*types == 'i') {
      rc = sqlite3_bind_int64(st, i, va_arg(args, int64_t));
    } else if (*types == 't') {
      np_str s = va_arg(args, np_str);
      rc = sqlite3_bind_text64(st, i, bytes(s), s.n, SQLITE_STATIC, SQLITE_UTF8);
    } else if (*types == 'b') {
      np_str s = va_arg(args, np_str);
      rc = sqlite3_bind_blob64(st, i, bytes(s), s.n, SQLITE_STATIC);
    } else {
      rc = sqlite3_bind_null(st, i);
    }
  }
  return rc;
}

neap_rc np_sq_use(np_sqlite *sq, np_sql id, sqlite3_stmt **out, np_err *e,
                  const char *types, ...) {
  neap_rc rc = prepare(sq, id, e);
  if (rc != NEAP_OK) return rc;
  va_list args;
  va_start(args, types);
  int bound = bind(sq->stmt[id], types, args);
  va_end(args);
  *out = sq->stmt[id];
  if (bound == SQLITE_OK) return NEAP_OK;
  np_sq_done(*out);
  return np_sq_fail(sq, bound, e);
}

neap_rc np_sq_step(np_sqlite *sq, sqlite3_stmt *st, bool *row, np_err *e) {
  int rc = sqlite3_step(st);
  *row = rc == SQLITE_ROW;
  return rc == SQLITE_ROW || rc == SQLITE_DONE ? NEAP_OK : np_sq_fail(sq, rc, e);
}

/* Bindings point into the caller's slices: none may stay. */
void np_sq_done(sqlite3_stmt *st) {
  sqlite3_reset(st);
  sqlite3_clear_bindings(st);
}

neap_rc np_sq_run(np_sqlite *sq, sqlite3_stmt *st, np_err *e) {
  bool row;
  neap_rc rc = np_sq_step(sq, st, &row, e);
  np_sq_done(st);
  return rc;
}

np_str np_sq_blob(sqlite3_stmt *st, int column) {
  const char *p = sqlite3_column_blob(st, column); /* before its size, as SQLite asks */
  int n = sqlite3_column_bytes(st, column);
  return p && n > 0 ? (np_str){p, (size_t)n} : (np_str){"", 0};
}

neap_rc np_sq_exec(np_sqlite *sq, const char *sql, np_err *e) {
  int rc = sqlite3_exec(sq->db, sql, NULL, NULL, NULL);
  return rc == SQLITE_OK ? NEAP_OK : np_sq_fail(sq, rc, e);
}

neap_rc np_sq_int(np_sqlite *sq, const char *sql, int64_t *out, np_err *e) {
  sqlite3_stmt *st = NULL;
  bool row = false;
  int rc = sqlite3_prepare_v2(sq->db, sql, -1, &st, NULL);
  if (rc != SQLITE_OK) return np_sq_fail(sq, rc, e);
  neap_rc got = np_sq_step(sq, st, &row, e);
  *out = row ? sqlite3_column_int64(st, 0) : 0;
  sqlite3_finalize(st);
  return got;
}

/* ---- transactions ------------------------------------------------------------------ */

static neap_rc run(np_sqlite *sq, np_sql id, np_err *e) {
  sqlite3_stmt *st;
  bool row;
  neap_rc rc = np_sq_use(sq, id, &st, e, "");
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  sqlite3_reset(st);
  return rc;
}

neap_rc np_sq_begin(np_sqlite *sq, np_err *e) {
  return run(sq, SQL_BEGIN, e);
}

/* After some failures SQLite has rolled back already. */
neap_rc np_sq_end(np_sqlite *sq, neap_rc rc, np_err *e) {
  if (rc == NEAP_OK) rc = run(sq, SQL_COMMIT, e);
  if (rc != NEAP_OK && !sqlite3_get_autocommit(sq->db)) run(sq, SQL_ROLLBACK, NULL);
  return rc;
}
