/*
** Looking after the file: what it holds and how many bytes of what, and sweeping out contents
** that nothing refers to. next: check.c
*/
#include "store/sqlite.h"

/* ---- figures ----------------------------------------------------------------------- */

/* Each gives rows of a tenant and figures. A body that is in its row is told with its event;
** `referenced`: what contents would take if each event had its own. */
static const struct {
  const char *sql;
  const char *names[4];
} figures[] = {
    {"SELECT tenant, count(*) FROM session GROUP BY tenant", {"sessions"}},
    {"SELECT tenant, count(*), sum(length(head)), sum(coalesce(length(body), 0)),"
     " sum(place = 3) FROM event GROUP BY tenant",
     {"events", "heads", "bodies", "purged"}},
    {"SELECT tenant, count(*), sum(size), sum(coalesce(length(body), 0)) FROM blob"
     " WHERE place <> 3 GROUP BY tenant",
     {"contents", "content_bytes", "content_rows"}},
    {"SELECT b.tenant, count(*), sum(length(c.body) + length(c.marks)) FROM chunk AS c"
     " JOIN blob AS b ON b.id = c.id >> 24 GROUP BY b.tenant",
     {"pieces", "piece_bytes"}},
    {"SELECT e.tenant, count(*), sum(b.size) FROM event AS e JOIN blob AS b"
     " ON b.tenant = e.tenant AND b.hash = e.hash WHERE e.place IN (2, 5) GROUP BY "
     "e.tenant",
     {"references", "referenced"}},
    {"SELECT tenant, sum(docs), sum(words) FROM scope GROUP BY tenant",
     {"indexed", "indexed_words"}},
};

static neap_rc add_rows(np_sqlite *sq, size_t i, np_figure_fn fn, void *ctx, np_err *e) {
  sqlite3_stmt *st = NULL;
  bool row = true;
  int got = sqlite3_prepare_v2(sq->db, figures[i].sql, -1, &st, NULL);
  neap_rc rc = got == SQLITE_OK ? NEAP_OK : np_sq_fail(sq, got, e);
  while (rc == NEAP_OK) {
    rc = np_sq_step(sq, st, &row, e);
    if (rc != NEAP_OK || !row) break;
    np_str tenant = np_sq_blob(st, 0);
    for (int k = 0; k < 4 && figures[i].names[k]; k++)
      fn(ctx, tenant, figures[i].names[k], sqlite3_column_int64(st, k + 1));
  }
  sqlite3_finalize(st);
  return rc;
}

static neap_rc add_file(np_sqlite *sq, np_figure_fn fn, void *ctx, np_err *e) {
  static const struct {
    const char *sql, *name;
  } rows[] = {{"PRAGMA user_version", "version"},
              {"PRAGMA page_size", "page_size"},
              {"PRAGMA page_count", "pages"},
              {"PRAGMA freelist_count", "free_pages"}};
  neap_rc rc = NEAP_OK;
  for (size_t i = 0; rc == NEAP_OK && i < NP_COUNT(rows); i++) {
    int64_t v = 0;
    rc = np_sq_int(sq, rows[i].sql, &v, e);
    if (rc == NEAP_OK) fn(ctx, (np_str){NULL, 0}, rows[i].name, v);
  }
  return rc;
}

static neap_rc check_version(const np_sqlite *sq, np_err *e) {
  if (sq->version >= NP_STORE_VERSION) return NEAP_OK;
  return np_sq_say(
      sq, NEAP_E_READONLY,
      "an older neap's; open it once for writing, which brings it up to date", e);
}

neap_rc np_sq_stats(np_store *store, np_figure_fn fn, void *ctx, np_err *e) {
  np_sqlite *sq = np_sq_lock_back(store);
  neap_rc rc = np_sq_here(sq, e);
  if (rc == NEAP_OK) rc = check_version(sq, e);
  if (rc == NEAP_OK) rc = np_sq_exec(sq, "BEGIN", e);
  if (rc == NEAP_OK) rc = add_file(sq, fn, ctx, e);
  for (size_t i = 0; rc == NEAP_OK && i < NP_COUNT(figures); i++)
    rc = add_rows(sq, i, fn, ctx, e);
  if (!sqlite3_get_autocommit(sq->db)) np_sq_exec(sq, "ROLLBACK", NULL);
  return np_sq_unlock(sq, rc);
}

/* ---- sweeping ---------------------------------------------------------------------- */

/* The ids are those of contents that no event names. Records of what was purged stay. */
static const char unused[] =
    "CREATE TEMP TABLE unused AS SELECT b.id, b.size FROM"
    " (SELECT tenant, hash FROM blob WHERE place <> 3"
    "  EXCEPT SELECT tenant, hash FROM event WHERE place IN (2, 5)) AS x"
    " JOIN blob AS b ON b.tenant = x.tenant AND b.hash = x.hash";

static neap_rc sweep(np_sqlite *sq, np_swept *out, np_err *e) {
  neap_rc rc = np_sq_exec(sq, unused, e);
  if (rc == NEAP_OK) rc = np_sq_int(sq, "SELECT count(*) FROM unused", &out->contents, e);
  if (rc == NEAP_OK) rc = np_sq_int(sq, "SELECT sum(size) FROM unused", &out->bytes, e);
  if (rc == NEAP_OK)
    rc = np_sq_exec(sq, "DELETE FROM chunk WHERE id >> 24 IN (SELECT id FROM unused)", e);
  if (rc == NEAP_OK)
    rc = np_sq_exec(sq, "DELETE FROM blob WHERE id IN (SELECT id FROM unused)", e);
  if (rc == NEAP_OK) rc = np_sq_exec(sq, "DROP TABLE unused", e);
  return rc;
}

static neap_rc file_size(np_sqlite *sq, int64_t *out, np_err *e) {
  int64_t pages = 0, size = 0;
  neap_rc rc = np_sq_int(sq, "PRAGMA page_count", &pages, e);
  if (rc == NEAP_OK) rc = np_sq_int(sq, "PRAGMA page_size", &size, e);
  *out = pages * size;
  return rc;
}

/* A file is made smaller only while nobody else writes. */
static neap_rc vacuum(np_sqlite *sq, np_swept *out, np_err *e) {
  neap_rc rc = np_sq_writable(sq, e);
  if (rc == NEAP_OK) rc = check_version(sq, e);
  if (rc == NEAP_OK) rc = np_sq_flush_all(sq, e);
  if (rc == NEAP_OK) rc = file_size(sq, &out->before, e);
  if (rc == NEAP_OK) rc = np_sq_begin(sq, e);
  if (rc != NEAP_OK) return rc;
  rc = sweep(sq, out, e);
  if (rc == NEAP_OK) rc = np_sq_renew(sq, e);
  rc = np_sq_end(sq, rc, e);
  if (rc == NEAP_OK) rc = np_sq_make_anew(sq, e);
  if (rc == NEAP_OK) rc = file_size(sq, &out->after, e);
  if (rc == NEAP_OK) /* a reader may keep the log from being emptied: a courtesy */
    sqlite3_wal_checkpoint_v2(sq->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  return rc;
}

neap_rc np_sq_vacuum(np_store *store, np_swept *out, np_err *e) {
  *out = (np_swept){0};
  np_sqlite *sq = np_sq_lock_back(store);
  neap_rc rc = np_sq_here(sq, e);
  return np_sq_unlock(sq, rc == NEAP_OK ? vacuum(sq, out, e) : rc);
}
