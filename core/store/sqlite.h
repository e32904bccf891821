/*
** The SQLite store's inside, shared by its files: open.c finds and judges the file,
** schema.c has the tables and their migrations, statement.c runs SQL and words its
** failures, blobs.c keeps content by hash, content.c reads it, held.c writes events now or later, check.c looks
** for damage, sqlite.c has the rest. Whatever takes an np_sqlite is called with its lock
** held, but open.c. next: open.c
*/
#ifndef NP_STORE_SQLITE_H
#define NP_STORE_SQLITE_H

#include <sqlite3.h>

#include "store/memlog.h"
#include "store/press.h"

#define NP_APPLICATION_ID 0x6E656170  /* "neap" */
#define NP_SEQ_MAX (INT64_C(1) << 48) /* no log has so many: sums on it stay in range */
#define NP_BUSY_MS 5000               /* how long to wait for another process's lock */
#define NP_HELD_MAX                                                                      \
  ((size_t)64 << 20) /* bytes held back before they are written anyway */

/* Every statement that is kept prepared; the texts are in statement.c. */
typedef enum np_sql {
  SQL_BEGIN,
  SQL_COMMIT,
  SQL_ROLLBACK,
  SQL_CLAIM,
  SQL_FENCE,
  SQL_LAST,
  SQL_EVENT_ADD,
  SQL_EVENTS,
  SQL_HEADS,
  SQL_EVENTS_PURGE,
  SQL_EVENTS_RELEASE,
  SQL_EVENTS_HOLD,
  SQL_FORK,
  SQL_BLOB_GET,
  SQL_BLOB,
  SQL_BLOB_3,
  SQL_BLOB_2,
  SQL_BLOB_PLACE,
  SQL_BLOB_ADD,
  SQL_BLOB_SET,
  SQL_BLOB_SUM,
  SQL_BLOB_STALE,
  SQL_CHUNK,
  SQL_CHUNK_ADD,
  SQL_CHUNKS_REMOVE,
  SQL_SESSIONS,
  SQL_SECRET,
  SQL_SECRET_ADD,
  SQL_SCOPE,
  SQL_SCOPE_LAST,
  SQL_SCOPE_ADD,
  SQL_SCOPE_SET,
  SQL_SCOPE_NAME,
  SQL_SCOPE_ENTRY,
  SQL_SCOPE_SUM,
  SQL_SCOPE_BEFORE,
  SQL_WORDS_ADD,
  SQL_WORDS_REMOVE,
  SQL_WORDS_FIND,
  SQL_DOC_ADD,
  SQL_DOC_CITE,
  SQL_DOC,
  SQL_DOC_COUNT,
  SQL_DOC_NEAR,
  SQL_DOC_OF,
  SQL_DOC_PURGE,
  SQL_HOLDERS,
  SQL_WAITING,
  SQL_RM_DOCS,
  SQL_RM_BODY,
  SQL_RM_DOC_ROWS,
  SQL_RM_SCOPE,
  SQL_RM_RECORD,
  SQL_RM_HELD,
  SQL_RM_EVENTS,
  SQL_RM_SESSION,
  SQL_RM_STILL,
  SQL_RM_CHUNKS,
  SQL_RM_BLOBS,
  SQL_COUNT
} np_sql;

typedef struct np_sqlite {
  np_store st; /* first: np_store * is cast to np_sqlite * */
  sqlite3 *db;
  sqlite3_mutex *lock; /* of whoever uses the connection */
  char *label;         /* the path as messages show it */
  bool readonly, empty;
  int64_t version; /* of the file */
  bool words;      /* the table of words is there */
  void *fts;       /* FTS5's table of functions, once it is asked for */
  size_t counted;  /* words of the text that was indexed last */
  int sync;        /* the `synchronous` in force: 1 NORMAL, 2 FULL */
  sqlite3_stmt *stmt[SQL_COUNT];
  np_memlogs held;
  np_err trouble;      /* why some of them wait, or why the file cannot be opened: */
  char *away;          /* its path then, and all is in memory; else NULL (away.c) */
  int64_t first_fence; /* of a new session */
  np_buf
      moved;   /* of sessions that came back under another name: their old and new ones */
  int busy_ms; /* how long opening waits for another process */
  np_press press;
  np_buf packed; /* what was compressed last */
} np_sqlite;

/* ---- statement.c ------------------------------------------------------------------- */

neap_rc np_sq_say(const np_sqlite *sq, neap_rc code, const char *text, np_err *e);
neap_rc np_sq_fail(const np_sqlite *sq, int sqlite_rc, np_err *e);
neap_rc np_sq_writable(const np_sqlite *sq, np_err *e);

/* Takes the kept statement `id` and binds by `types`: t np_str as text, b np_str as blob,
** i int64_t, n NULL. Give it back with np_sq_done. */
neap_rc np_sq_use(np_sqlite *sq, np_sql id, sqlite3_stmt **out, np_err *e,
                  const char *types, ...);
/* One step: *row tells whether there is a row. */
neap_rc np_sq_step(np_sqlite *sq, sqlite3_stmt *st, bool *row, np_err *e);
void np_sq_done(sqlite3_stmt *st);
/* One step of what gives no rows, and it is given back. */
neap_rc np_sq_run(np_sqlite *sq, sqlite3_stmt *st, np_err *e);
np_str np_sq_blob(sqlite3_stmt *st, int column); /* valid until the next step */

/* For the few statements that run once. */
neap_rc np_sq_exec(np_sqlite *sq, const char *sql, np_err *e);
neap_rc np_sq_int(np_sqlite *sq, const char *sql, int64_t *out, np_err *e);

neap_rc np_sq_begin(np_sqlite *sq, np_err *e);
neap_rc np_sq_end(np_sqlite *sq, neap_rc rc,
                  np_err *e); /* commits when OK, else rolls back */

/* ---- schema.c ---------------------------------------------------------------------- */
neap_rc np_sq_migrate(np_sqlite *sq, np_err *e);
neap_rc np_sq_version_check(const np_sqlite *sq, int64_t version, np_err *e);

/* ---- blobs.c ----------------------------------------------------------------------- */

/* Keeps a content, in a transaction of the caller's. */
neap_rc np_sq_blob_add(np_sqlite *sq, np_str tenant, int64_t fence, const uint8_t *hash,
                       np_str body, np_err *e);
/* Inside a transaction: contents that an older neap wrote get their sums, and large ones pieces. */
neap_rc np_sq_renew(np_sqlite *sq, np_err *e);
/* Is it there? NEAP_E_NOTFOUND, _PURGED when not. */
neap_rc np_sq_blob_named(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_err *e);
bool np_hash_is(np_str body, const uint8_t *hash);
neap_rc np_sq_put(np_store *st, np_str tenant, np_str body, uint8_t hash[NP_SHA256],
                  np_err *e);
neap_rc np_sq_get(np_store *st, np_str tenant, const uint8_t hash[NP_SHA256], np_buf *out,
                  np_err *e);
neap_rc np_sq_window(np_store *st, np_str tenant, const uint8_t hash[NP_SHA256],
                     np_window *w, np_buf *out, np_err *e);
/* Its bytes go, and the row stays as the record of that; in a transaction of the caller's. */
neap_rc np_sq_blob_empty(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_err *e);
neap_rc np_sq_purge(np_store *st, np_str tenant, const uint8_t hash[NP_SHA256],
                    np_err *e);

/* ---- release.c --------------------------------------------------------------------- */
neap_rc np_sq_release(np_store *st, np_str tenant, const np_release *list, size_t n,
                      size_t *gone, np_err *e);

/* ---- held.c ------------------------------------------------------------------------ */

/* The fence in force, 0 when there is no such session. */
neap_rc np_sq_fence(np_sqlite *sq, np_str tenant, np_str session, int64_t *fence,
                    np_err *e);
/* Sets the durability of the commits to come; not inside a transaction. */
neap_rc np_sq_sync(np_sqlite *sq, neap_durable durable, np_err *e);
/* Writes what is held for a session and then `rows`, in one transaction. */
neap_rc np_sq_write(np_sqlite *sq, const np_claim *c, const np_row *rows, size_t n,
                    neap_durable durable, np_err *e);
neap_rc np_sq_add_rows(np_sqlite *sq, const np_claim *c, const np_row *rows, size_t n,
                       np_err *e); /* inside a transaction */
neap_rc np_sq_hold(np_sqlite *sq, const np_claim *c, const np_row *rows, size_t n,
                   np_err *e);
/* Writes what is held for one session, or for all. */
neap_rc np_sq_write_held(np_sqlite *sq, np_str tenant, np_str session, np_err *e);
neap_rc np_sq_flush_all(np_sqlite *sq, np_err *e);
/* What is held for a session whose fence is still its own, or NULL. */
neap_rc np_sq_held(np_sqlite *sq, np_str tenant, np_str session, np_memlog **out,
                   np_err *e);

/* Would `rows` still fit under the limit of what may be held? */
bool np_sq_has_room(const np_sqlite *sq, const np_row *rows, size_t n);

/* ---- anew.c ------------------------------------------------------------------------ */

/* Of the rows that live; not inside a transaction. */
neap_rc np_sq_make_anew(np_sqlite *sq, np_err *e);
/* The same, and empties the log: what was deleted is then in no byte of the files. What is told
** when either could not be done; the second is NEAP_E_BUSY. */
neap_rc np_sq_leave_nothing(np_sqlite *sq, const char *unmade, const char *busy,
                            np_err *e);

/* ---- remove.c ---------------------------------------------------------------------- */

neap_rc np_sq_remove(np_store *st, np_str tenant, np_str session, np_removed *out,
                     np_err *e);

/* ---- waiting.c --------------------------------------------------------------------- */
neap_rc np_sq_append_rows(np_sqlite *sq, np_claim *c, const np_row *rows, size_t n,
                          neap_durable durable, np_err *e);
/* After a claim that failed with `why`: one that is wanted, where that may be. */
neap_rc np_sq_want_claim(np_sqlite *sq, np_claim *out, neap_rc why, np_err *e);
neap_rc np_sq_claim_held(np_sqlite *sq, np_memlog *log, np_err *e);
void np_sq_flush_failed(np_sqlite *sq, neap_rc rc, const np_err *e);
neap_rc np_sq_waiting(np_store *st, np_str tenant, np_str session, np_waiting *out);

/* ---- away.c ------------------------------------------------------------------------ */
bool np_sq_may_pass(
    neap_rc rc); /* a failure of the world around the file, not of the file */
/* np_sq_lock for who writes: a file that could not be opened is tried again. */
np_sqlite *np_sq_lock_back(np_store *st);
/* What a file that could not be opened may hold is not said to be missing. */
neap_rc np_sq_unseen(const np_sqlite *sq, neap_rc rc, np_err *e);
/* Is the file there? Else why not. */
neap_rc np_sq_here(const np_sqlite *sq, np_err *e);
/* At the end: is something only in memory? */
neap_rc np_sq_unwritten(np_sqlite *sq, np_err *e);
/* An overtaken claim: because its session came back under another name? */
neap_rc np_sq_say_moved(const np_sqlite *sq, const np_claim *c, neap_rc rc, np_err *e);

/* ---- copy.c ------------------------------------------------------------------------ */
neap_rc np_sq_fork(np_store *st, np_str tenant, np_str from, np_str to, int64_t upto,
                   np_err *e);
neap_rc np_sq_restore(np_store *st, np_str tenant, np_str session, const np_event *ev,
                      size_t n, np_err *e);

/* ---- backup.c, upkeep.c ------------------------------------------------------------ */
neap_rc np_sq_backup(np_store *st, const char *path_cstr, np_err *e);
neap_rc np_sq_stats(np_store *st, np_figure_fn fn, void *ctx, np_err *e);
neap_rc np_sq_vacuum(np_store *st, np_swept *out, np_err *e);

/* ---- check.c ----------------------------------------------------------------------- */
neap_rc np_sq_check(np_store *st, void (*say)(void *ctx, np_str line), void *ctx,
                    np_err *e);

/* ---- open.c ------------------------------------------------------------------------ */
/* The file's, opened while others wait no longer than busy_ms; or one in memory. */
neap_rc np_sq_open(const neap_alloc *a, const char *path_cstr, bool readonly, int busy_ms,
                   np_sqlite **out, np_err *e);
neap_rc np_sq_open_memory(const neap_alloc *a, const char *path_cstr, np_sqlite **out,
                          np_err *e);
void np_sq_free(np_sqlite *sq);

/* ---- sqlite.c ---------------------------------------------------------------------- */
extern const np_store_ops np_sq_ops;
/* A claim for reading; one for writing where the log ends at `last` (-1: anywhere), else
** NEAP_E_FENCED, which tells that `lost` events are. */
neap_rc np_sq_look(np_sqlite *sq, np_claim *out, np_err *e);
neap_rc np_sq_take(np_sqlite *sq, np_claim *out, int64_t last, size_t lost, np_err *e);
np_sqlite *np_sq_lock(np_store *st);
neap_rc np_sq_unlock(np_sqlite *sq, neap_rc rc);

#endif
