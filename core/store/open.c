/*
** Opening a SQLite store: what is at the path, whose file it is, and the settings of the
** connection. A file that is not ours is judged by its first bytes, read through SQLite's
** own file handle (closing another one would drop the process's locks), and left
** untouched. next: schema.c
*/
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* mknod, lstat */
#endif
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite.h"

#define HEADER 100 /* bytes of SQLite's file header */

/* ---- the path ---------------------------------------------------------------------- */

static neap_rc fail_making(const np_sqlite *sq, int why, np_err *e) {
  switch (why) {
    case ENOENT:
    case ENOTDIR:
      return np_sq_say(sq, NEAP_E_IO, "its folder does not exist; make the folder first",
                       e);
    case EACCES:
    case EPERM:
    case EROFS:
      return np_sq_say(sq, NEAP_E_READONLY,
                       "its folder cannot be written; give another path or allow writing",
                       e);
    case ENOSPC:
    case EDQUOT: return np_sq_fail(sq, SQLITE_FULL, e);
    case ENAMETOOLONG:
      return np_sq_say(sq, NEAP_E_IO, "the path is too long; give a shorter one", e);
    default:
      return np_sq_say(sq, NEAP_E_IO, "the file cannot be made; check the path", e);
  }
}

/* Makes the file empty and private before SQLite opens it. mknod makes it without a
** handle: closing one could drop locks that another thread has just taken on the new
** file. Where mknod is for root only, a handle is the best there is. */
static neap_rc make_file(const np_sqlite *sq, const char *path, np_err *e) {
  if (mknod(path, S_IFREG | S_IRUSR | S_IWUSR, 0) == 0 || errno == EEXIST) return NEAP_OK;
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return errno == EEXIST ? NEAP_OK : fail_making(sq, errno, e);
  close(fd);
  return NEAP_OK;
}

static neap_rc fail_foreign(const np_sqlite *sq, np_err *e) {
  return np_sq_say(sq, NEAP_E_FOREIGN,
                   "no neap store; give another path (the file was not changed)", e);
}

static neap_rc find_file(const np_sqlite *sq, const char *path, np_err *e) {
  struct stat info;
  if (stat(path, &info) != 0) {
    if (errno != ENOENT) return fail_making(sq, errno, e);
    if (!sq->readonly) return make_file(sq, path, e);
    return np_sq_say(sq, NEAP_E_NOTFOUND, "no such file; open it for writing to make it",
                     e);
  }
  if (S_ISDIR(info.st_mode)) {
    return np_sq_say(sq, NEAP_E_IO, "a folder; give the path of a file in it", e);
  }
  if (!S_ISREG(info.st_mode)) {
    return np_sq_say(sq, NEAP_E_IO, "not an ordinary file; give another path", e);
  }
  if (info.st_size == 1) return fail_foreign(sq, e); /* SQLite takes one byte for none */
  return NEAP_OK;
}

/* ---- whose file it is -------------------------------------------------------------- */

static uint32_t big_endian(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* A new file gets our application id in its first transaction, before it may have a
** write-ahead log, so a file without it is another's. Offsets: SQLite's file format. */
static neap_rc judge_header(np_sqlite *sq, const uint8_t *h, sqlite3_int64 size,
                            np_err *e) {
  sq->empty = size == 0;
  if (sq->empty) return NEAP_OK;
  if (size < HEADER || memcmp(h, "SQLite format 3", 16) != 0) {
    return fail_foreign(sq, e);
  }
  if (big_endian(h + 68) != NP_APPLICATION_ID) {
    return np_sq_say(sq, NEAP_E_FOREIGN,
                     "another program's SQLite file; give another path (the file was not "
                     "changed)",
                     e);
  }
  if (big_endian(h + 56) > 1) { /* names are compared as UTF-8 */
    return np_sq_say(sq, NEAP_E_CORRUPT, "its text is not UTF-8; restore a copy", e);
  }
  return np_sq_version_check(sq, big_endian(h + 60), e);
}

static neap_rc read_header(np_sqlite *sq, np_err *e) {
  uint8_t header[HEADER] = {0};
  sqlite3_file *file = NULL;
  sqlite3_int64 size = 0;
  int rc = sqlite3_file_control(sq->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (rc == SQLITE_OK && !(file && file->pMethods)) rc = SQLITE_CANTOPEN;
  if (rc == SQLITE_OK) rc = file->pMethods->xFileSize(file, &size);
  if (rc == SQLITE_OK && size >= HEADER) {
    rc = file->pMethods->xRead(file, header, HEADER, 0);
  }
  return rc == SQLITE_OK ? judge_header(sq, header, size, e) : np_sq_fail(sq, rc, e);
}

/* ---- the connection ---------------------------------------------------------------- */

/* Any text can be a path: the leading "./" keeps SQLite from reading "file:" or
** ":memory:", and in a URI the characters that would end the path are escaped. */
static bool add_path(np_buf *b, const char *path, bool uri) {
  if (uri) np_buf_adds(b, "file:");
  if (*path != '/') np_buf_adds(b, "./");
  for (; *path; path++) {
    bool escape = uri && (*path == '%' || *path == '?' || *path == '#');
    if (escape) np_buf_adds(b, *path == '%' ? "%25" : *path == '?' ? "%3f" : "%23");
    if (!escape) np_buf_addc(b, *path);
  }
  if (uri) np_buf_adds(b, "?immutable=1");
  np_buf_addc(b, '\0');
  return !b->failed;
}

/* Nothing is read yet. Until the file is known as ours, closing may not write either. */
static neap_rc connect_file(np_sqlite *sq, const char *path, bool immutable, np_err *e) {
  int flags = sq->readonly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (immutable) flags |= SQLITE_OPEN_URI;
  np_buf name;
  np_buf_init(&name, sq->st.alloc);
  int rc = SQLITE_NOMEM;
  if (add_path(&name, path, immutable)) {
    rc = sqlite3_open_v2(name.p, &sq->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
  }
  np_buf_free(&name);
  if (rc != SQLITE_OK && sq->db && sqlite3_system_errno(sq->db) == EACCES) {
    return np_sq_say(sq, NEAP_E_READONLY, "it may not be opened; change its permissions",
                     e);
  }
  if (rc != SQLITE_OK) return sq->db ? np_sq_fail(sq, rc, e) : np_fail_mem(e);
  sqlite3_extended_result_codes(sq->db, 1);
  sqlite3_db_config(sq->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
  if (!sq->readonly && sqlite3_db_readonly(sq->db, "main") == 1) {
    return np_sq_fail(sq, SQLITE_READONLY, e);
  }
  return NEAP_OK;
}

/* The file may come from someone else: nothing in its schema is trusted. Sizes: bodies
** have a limit of their own, a row has a head and a few numbers more. */
static neap_rc configure(np_sqlite *sq, np_err *e) {
  sqlite3_busy_timeout(sq->db, sq->busy_ms);
  sqlite3_db_config(sq->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
  sqlite3_db_config(sq->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
  sqlite3_db_config(sq->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
  sqlite3_limit(sq->db, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(sq->db, SQLITE_LIMIT_LENGTH,
                (int)(NP_STORE_BODY_MAX + 2 * NP_STORE_HEAD_MAX));
  sq->sync = 2;
  return np_sq_exec(sq,
                    "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
                    "PRAGMA secure_delete = OFF; PRAGMA synchronous = FULL;"
                    "PRAGMA fullfsync = ON; PRAGMA cache_size = -8192;",
                    e);
}

/* mmap makes reading large bodies faster; its size is what a 64-bit process can spare. */
static neap_rc map_file(np_sqlite *sq, np_err *e) {
  if (sizeof(void *) < 8) return NEAP_OK;
  return np_sq_exec(sq, "PRAGMA mmap_size = 268435456", e);
}

/* Two processes that make a file may both ask for the log at once: SQLite then says busy
** without waiting, lest both wait for ever. */
static neap_rc use_wal(np_sqlite *sq, np_err *e) {
  for (int waited = 0;; waited += 10) {
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(sq->db, "PRAGMA journal_mode = WAL", -1, &st, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(st);
    const char *mode = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : NULL;
    bool is_wal = mode && strcmp(mode, "wal") == 0;
    sqlite3_finalize(st);
    if (is_wal) return NEAP_OK;
    if (rc == SQLITE_ROW) {
      return np_sq_say(
          sq, NEAP_E_IO,
          "its file system cannot share memory between processes; put the store "
          "on a local disk",
          e);
    }
    if ((rc & 0xFF) != SQLITE_BUSY || waited >= sq->busy_ms) return np_sq_fail(sq, rc, e);
    sqlite3_sleep(10);
  }
}

static neap_rc ready(np_sqlite *sq, np_err *e) {
  neap_rc rc = configure(sq, e);
  if (rc == NEAP_OK) rc = np_sq_migrate(sq, e);
  if (rc == NEAP_OK && !sq->readonly) rc = use_wal(sq, e);
  if (rc == NEAP_OK) rc = map_file(sq, e);
  if (rc == NEAP_OK) {
    sqlite3_db_config(sq->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, (int *)NULL);
  }
  return rc;
}

static void disconnect(np_sqlite *sq) {
  for (int i = 0; i < SQL_COUNT; i++) {
    sqlite3_finalize(sq->stmt[i]);
    sq->stmt[i] = NULL;
  }
  sqlite3_close(sq->db); /* cannot fail: no statement is left */
  sq->db = NULL;
  sq->fts = NULL;
}

static bool has_bytes(const char *path, const char *end, const neap_alloc *a) {
  struct stat info;
  np_buf name;
  np_buf_init(&name, a);
  np_buf_adds(&name, path);
  np_buf_adds(&name, end);
  np_buf_addc(&name, '\0');
  bool yes = name.failed || (stat(name.p, &info) == 0 && info.st_size > 0);
  np_buf_free(&name);
  return yes;
}

/* SQLite reads a file with a write-ahead log only where it may make files beside it.
** Where it cannot, as on a read-only disk, and no log is left over, the file does not
** change. */
static bool is_frozen(const char *path, const neap_alloc *a) {
  return access(path, W_OK) != 0 && !has_bytes(path, "-wal", a) &&
         !has_bytes(path, "-journal", a);
}

static neap_rc open_path(np_sqlite *sq, const char *path, np_err *e) {
  neap_rc rc = find_file(sq, path, e);
  if (rc == NEAP_OK) rc = connect_file(sq, path, false, e);
  if (rc == NEAP_OK) rc = read_header(sq, e);
  if (rc == NEAP_OK) rc = ready(sq, e);
  if (rc == NEAP_E_READONLY && sq->readonly && sq->db && is_frozen(path, sq->st.alloc)) {
    disconnect(sq);
    rc = connect_file(sq, path, true, e);
    if (rc == NEAP_OK) rc = read_header(sq, e);
    if (rc == NEAP_OK) rc = ready(sq, e);
  }
  return rc;
}

/* ---- open and free ----------------------------------------------------------------- */

/* Messages show the end of a long path, from a whole character on. */
static char *make_label(const neap_alloc *a, const char *path) {
  np_buf b;
  np_str p = np_str_cstr(path);
  size_t from = p.n > 200 ? p.n - 200 : 0;
  while (from > 0 && from < p.n && ((unsigned char)p.p[from] & 0xC0) == 0x80) from++;
  np_buf_init(&b, a);
  if (from > 0) np_buf_adds(&b, "…");
  np_buf_add(&b, np_str_cut(p, from, p.n));
  np_buf_addc(&b, '\0');
  if (b.failed) np_buf_free(&b);
  return b.p;
}

void np_sq_free(np_sqlite *sq) {
  disconnect(sq);
  np_memlogs_free(&sq->held);
  sqlite3_mutex_free(sq->lock);
  np_press_free(&sq->press);
  np_buf_free(&sq->packed);
  np_buf_free(&sq->moved);
  np_free(sq->st.alloc, sq->away);
  np_free(sq->st.alloc, sq->label);
  np_free(sq->st.alloc, sq);
}

static np_sqlite *make(const neap_alloc *a, const char *path, bool readonly,
                       int busy_ms) {
  np_sqlite *sq = np_calloc(a, 1, sizeof *sq);
  if (!sq) return NULL;
  sq->st = (np_store){.ops = &np_sq_ops, .alloc = a};
  sq->readonly = readonly;
  sq->busy_ms = busy_ms;
  sq->first_fence = 1;
  np_memlogs_init(&sq->held, a, false);
  np_buf_init(&sq->packed, a);
  np_buf_init(&sq->moved, a);
  sq->label = make_label(a, path);
  sq->lock = sqlite3_mutex_alloc(SQLITE_MUTEX_RECURSIVE);
  if (sq->label && sq->lock) return sq;
  np_sq_free(sq);
  return NULL;
}

neap_rc np_sq_open(const neap_alloc *a, const char *path_cstr, bool readonly, int busy_ms,
                   np_sqlite **out, np_err *e) {
  np_sqlite *sq = make(a, path_cstr, readonly, busy_ms);
  neap_rc rc = sq ? open_path(sq, path_cstr, e) : np_fail_mem(e);
  if (rc != NEAP_OK && sq) np_sq_free(sq);
  if (rc != NEAP_OK) return rc;
  sq->busy_ms = NP_BUSY_MS;
  sqlite3_busy_timeout(sq->db, NP_BUSY_MS);
  *out = sq;
  return NEAP_OK;
}

neap_rc np_sq_open_memory(const neap_alloc *a, const char *path_cstr, np_sqlite **out,
                          np_err *e) {
  np_sqlite *sq = make(a, path_cstr, false, NP_BUSY_MS);
  if (!sq) return np_fail_mem(e);
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  int opened = sqlite3_open_v2(":memory:", &sq->db, flags, NULL);
  neap_rc rc = opened == SQLITE_OK ? configure(sq, e) : np_fail_mem(e);
  if (rc == NEAP_OK) rc = np_sq_migrate(sq, e);
  if (rc == NEAP_OK) *out = sq;
  else np_sq_free(sq);
  return rc;
}

neap_rc np_store_sqlite_open(const neap_alloc *a, const char *path_cstr, bool readonly,
                             np_store **out, np_err *e) {
  np_sqlite *sq = NULL;
  *out = NULL;
  if (!path_cstr || !*path_cstr) {
    return np_fail(e, NEAP_E_ARG, "the store's path is empty; give the path of a file");
  }
  neap_rc rc = np_sq_open(a, path_cstr, readonly, NP_BUSY_MS, &sq, e);
  if (rc == NEAP_OK) *out = &sq->st;
  return rc;
}
