/*
** Content by hash, kept once per tenant. Purging overwrites it in the file and in the
** write-ahead log, and leaves its row as a record. next: held.c
*/
#include "store/fts.h"

bool np_hash_is(np_str body, const uint8_t *hash) {
  uint8_t got[NP_SHA256];
  np_sha256(body, got);
  return memcmp(got, hash, NP_SHA256) == 0;
}

static neap_rc fail_damaged(const np_sqlite *sq, const uint8_t *hash, np_err *e) {
  char hex[2 * NP_SHA256];
  np_hex(hash, NP_SHA256, hex);
  return np_fail(
      e, NEAP_E_CORRUPT,
      "store '%s': content %.12s… is damaged (its bytes differ from its hash); "
      "restore a copy of the store",
      sq->label, hex);
}

/* ---- reading ----------------------------------------------------------------------- */

static neap_rc judge(np_sqlite *sq, sqlite3_stmt *st, const uint8_t *hash, np_str *body,
                     np_err *e) {
  bool row = false;
  neap_rc rc = np_sq_step(sq, st, &row, e);
  if (rc != NEAP_OK) return rc;
  if (!row) return np_fail_no_content(hash, e);
  int place = sqlite3_column_int(st, 0);
  if (place == NP_PLACE_PURGED) return np_fail_purged(hash, e);
  *body = np_sq_blob(st, 1);
  if (body->n == 0 && sqlite3_errcode(sq->db) == SQLITE_NOMEM) return np_fail_mem(e);
  bool good = place == NP_PLACE_BLOB && np_hash_is(*body, hash);
  return good ? NEAP_OK : fail_damaged(sq, hash, e);
}

neap_rc np_sq_blob_open(np_sqlite *sq, np_str tenant, const uint8_t *hash,
                        sqlite3_stmt **st, np_str *body, np_err *e) {
  neap_rc rc = np_sq_use(sq, SQL_BLOB, st, e, "tb", tenant, np_hash_str(hash));
  if (rc != NEAP_OK) return rc;
  rc = judge(sq, *st, hash, body, e);
  if (rc != NEAP_OK) np_sq_done(*st);
  return rc;
}

/* Content of a session that is held back is not in the file yet. */
static const np_row *find_held(const np_sqlite *sq, np_str tenant, const uint8_t *hash) {
  for (size_t i = np_memlog_first(&sq->held, tenant); i < sq->held.n; i++) {
    const np_memlog *log = sq->held.logs[i];
    if (!np_str_eq(log->tenant, tenant)) break;
    for (size_t k = 0; k < log->n; k++) {
      const np_row *r = &log->rows[k];
      bool is_blob = r->place == NP_PLACE_BLOB;
      if (is_blob && memcmp(r->hash, hash, NP_SHA256) == 0) return r;
    }
  }
  return NULL;
}

static neap_rc get(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_buf *out,
                   np_err *e) {
  sqlite3_stmt *st = NULL;
  np_str body;
  const np_row *held = find_held(sq, tenant, hash);
  if (held) {
    np_buf_add(out, held->ev.body);
    return out->failed ? np_fail_mem(e) : NEAP_OK;
  }
  neap_rc rc = np_sq_blob_open(sq, tenant, hash, &st, &body, e);
  if (rc != NEAP_OK) return rc;
  np_buf_add(out, body);
  np_sq_done(st);
  return out->failed ? np_fail_mem(e) : NEAP_OK;
}

neap_rc np_sq_get(np_store *store, np_str tenant, const uint8_t hash[NP_SHA256],
                  np_buf *out, np_err *e) {
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc != NEAP_OK) return rc;
  np_sqlite *sq = np_sq_lock(store);
  return np_sq_unlock(sq, get(sq, tenant, hash, out, e));
}

/* ---- writing ----------------------------------------------------------------------- */

/* NP_PLACE_NONE when there is no such row. */
static neap_rc place_of(np_sqlite *sq, np_str tenant, const uint8_t *hash, int *place,
                        np_err *e) {
  sqlite3_stmt *st;
  bool row = false;
  neap_rc rc = np_sq_use(sq, SQL_BLOB_PLACE, &st, e, "tb", tenant, np_hash_str(hash));
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  *place = row ? sqlite3_column_int(st, 0) : NP_PLACE_NONE;
  np_sq_done(st);
  return rc;
}

/* Puts a row in the state (place, body); `old` is what place_of said. */
static neap_rc set_row(np_sqlite *sq, np_str tenant, int64_t fence, const uint8_t *hash,
                       int old, int place, np_str body, np_err *e) {
  sqlite3_stmt *st;
  bool row;
  bool live = place == NP_PLACE_BLOB;
  neap_rc rc;
  if (old == NP_PLACE_NONE) {
    rc = np_sq_use(sq, SQL_BLOB_ADD, &st, e, live ? "tbiiiib" : "tbiiiin", tenant,
                   np_hash_str(hash), fence, (int64_t)NP_ROW_VERSION, (int64_t)place,
                   (int64_t)body.n, body);
  } else if (live) {
    rc = np_sq_use(sq, SQL_BLOB_SET, &st, e, "iiibtb", fence, (int64_t)place,
                   (int64_t)body.n, body, tenant, np_hash_str(hash));
  } else {
    rc = np_sq_use(sq, SQL_BLOB_SET, &st, e, "iiintb", fence, (int64_t)place,
                   (int64_t)body.n, tenant, np_hash_str(hash));
  }
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  np_sq_done(st);
  return rc;
}

/* Inside a transaction. What was purged and comes again is kept again. */
neap_rc np_sq_blob_add(np_sqlite *sq, np_str tenant, int64_t fence, const uint8_t *hash,
                       np_str body, np_err *e) {
  int place = NP_PLACE_NONE;
  neap_rc rc = place_of(sq, tenant, hash, &place, e);
  if (rc != NEAP_OK || place == NP_PLACE_BLOB) return rc;
  return set_row(sq, tenant, fence, hash, place, NP_PLACE_BLOB, body, e);
}

static neap_rc put(np_sqlite *sq, np_str tenant, np_str body, const uint8_t *hash,
                   np_err *e) {
  neap_rc rc = np_sq_writable(sq, e);
  if (rc == NEAP_OK) rc = np_sq_begin(sq, e);
  if (rc != NEAP_OK) return rc;
  return np_sq_end(sq, np_sq_blob_add(sq, tenant, 0, hash, body, e), e);
}

neap_rc np_sq_put(np_store *store, np_str tenant, np_str body, uint8_t hash[NP_SHA256],
                  np_err *e) {
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc == NEAP_OK) rc = np_check_body(body, e);
  if (rc != NEAP_OK) return rc;
  np_sha256(body, hash);
  np_sqlite *sq = np_sq_lock(store);
  return np_sq_unlock(sq, put(sq, tenant, body, hash, e));
}

/* ---- purging ----------------------------------------------------------------------- */

/* Inside a transaction: first their words, then the events (small bodies are theirs), then the blob. */
static neap_rc remove_content(np_sqlite *sq, np_str tenant, const uint8_t *hash,
                              np_err *e) {
  sqlite3_stmt *st;
  bool row;
  int place = NP_PLACE_NONE;
  neap_rc rc = np_words_purge(sq, tenant, hash, e);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_use(sq, SQL_EVENTS_PURGE, &st, e, "tb", tenant, np_hash_str(hash));
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  np_sq_done(st);
  int events = sqlite3_changes(sq->db);
  if (rc == NEAP_OK) rc = place_of(sq, tenant, hash, &place, e);
  if (rc != NEAP_OK || place == NP_PLACE_PURGED) return rc;
  if (place == NP_PLACE_NONE && events == 0) return np_fail_no_content(hash, e);
  return set_row(sq, tenant, 0, hash, place, NP_PLACE_PURGED, (np_str){"", 0}, e);
}

/* The write-ahead log still holds the old pages until it is emptied. */
static neap_rc empty_log(np_sqlite *sq, np_err *e) {
  int rc =
      sqlite3_wal_checkpoint_v2(sq->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  if (rc == SQLITE_OK) return NEAP_OK;
  if ((rc & 0xFF) != SQLITE_BUSY) return np_sq_fail(sq, rc, e);
  return np_sq_say(
      sq, NEAP_E_BUSY,
      "the content is purged, but a reader keeps an old copy in the -wal file; "
      "purge it again when other processes have closed the store",
      e);
}

static neap_rc purge(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_err *e) {
  neap_rc rc = np_sq_writable(sq, e);
  if (rc == NEAP_OK) rc = np_sq_flush_all(sq, e); /* what is held may hold it too */
  if (rc == NEAP_OK) rc = np_sq_exec(sq, "PRAGMA secure_delete = ON", e);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_begin(sq, e);
  if (rc == NEAP_OK) rc = np_sq_end(sq, remove_content(sq, tenant, hash, e), e);
  np_sq_exec(sq, "PRAGMA secure_delete = OFF", NULL);
  return rc == NEAP_OK ? empty_log(sq, e) : rc;
}

neap_rc np_sq_purge(np_store *store, np_str tenant, const uint8_t hash[NP_SHA256],
                    np_err *e) {
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc != NEAP_OK) return rc;
  np_sqlite *sq = np_sq_lock(store);
  return np_sq_unlock(sq, purge(sq, tenant, hash, e));
}
