/*
** Content by hash, kept once per tenant: in one row, or when it is large in a row with a map
** and pieces. Purging overwrites it in the file and in the write-ahead log, and leaves its row
** as a record. next: release.c
*/
#include "store/content.h"
#include "store/fts.h"

bool np_hash_is(np_str body, const uint8_t *hash) {
  uint8_t got[NP_SHA256];
  np_sha256(body, got);
  return memcmp(got, hash, NP_SHA256) == 0;
}

/* ---- reading ----------------------------------------------------------------------- */

/* Content of a session that is held back is not in the file yet. */
static const np_row *find_held(const np_sqlite *sq, np_str tenant, const uint8_t *hash) {
  for (size_t i = np_memlog_first(&sq->held, tenant); i < sq->held.n; i++) {
    const np_memlog *log = sq->held.logs[i];
    if (!np_str_eq(log->tenant, tenant)) break;
    for (size_t k = 0; k < log->n; k++) {
      const np_row *r = &log->rows[k];
      bool is_here = np_is_content(r->place) && r->ev.body.n > 0;
      if (is_here && memcmp(r->hash, hash, NP_SHA256) == 0) return r;
    }
  }
  return NULL;
}

static neap_rc add_held(np_str part, np_buf *out, np_err *e) {
  np_buf_add(out, part);
  return out->failed ? np_fail_mem(e) : NEAP_OK;
}

static neap_rc get(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_buf *out,
                   np_err *e) {
  const np_row *held = find_held(sq, tenant, hash);
  if (held) return add_held(held->ev.body, out, e);
  return np_content_get(sq, tenant, hash, out, e);
}

neap_rc np_sq_get(np_store *store, np_str tenant, const uint8_t hash[NP_SHA256],
                  np_buf *out, np_err *e) {
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc != NEAP_OK) return rc;
  np_sqlite *sq = np_sq_lock(store);
  return np_sq_unlock(sq, np_sq_unseen(sq, get(sq, tenant, hash, out, e), e));
}

static neap_rc window(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_window *w,
                      np_buf *out, np_err *e) {
  np_content c;
  const np_row *held = find_held(sq, tenant, hash);
  if (held) return add_held(np_window_of(held->ev.body, w), out, e);
  neap_rc rc = np_content_open(sq, tenant, hash, &c, e);
  if (rc == NEAP_OK) rc = np_content_window(&c, w, out, e);
  np_content_close(&c);
  return rc;
}

neap_rc np_sq_window(np_store *store, np_str tenant, const uint8_t hash[NP_SHA256],
                     np_window *w, np_buf *out, np_err *e) {
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc != NEAP_OK) return rc;
  np_sqlite *sq = np_sq_lock(store);
  return np_sq_unlock(sq, np_sq_unseen(sq, window(sq, tenant, hash, w, out, e), e));
}

/* ---- writing ----------------------------------------------------------------------- */

/* A content's row as it is: NP_PLACE_NONE when there is none. */
typedef struct known {
  int place;
  int64_t id;
} known;

static neap_rc look_up(np_sqlite *sq, np_str tenant, const uint8_t *hash, known *out,
                       np_err *e) {
  sqlite3_stmt *st;
  bool row = false;
  *out = (known){NP_PLACE_NONE, 0};
  neap_rc rc = np_sq_use(sq, SQL_BLOB_PLACE, &st, e, "tb", tenant, np_hash_str(hash));
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  if (row) *out = (known){sqlite3_column_int(st, 0), sqlite3_column_int64(st, 1)};
  np_sq_done(st);
  return rc;
}

/* What is to be in a content's row. */
typedef struct kept {
  const uint8_t *hash;
  int64_t fence, place, size, enc;
  np_str body;
  int64_t sum; /* of its bytes, where they are in the row */
} kept;

/* The bytes as they are to be kept: compressed, where that is wanted and worth it. */
static int64_t pack(np_sqlite *sq, np_str *bytes) {
  if (!sq->st.compress || !np_press_small(&sq->press, *bytes, &sq->packed))
    return NP_ENC_RAW;
  *bytes = np_buf_str(&sq->packed);
  return NP_ENC_ZSTD;
}

/* Adds the row; *k.place stays NP_PLACE_NONE when there is one. */
static neap_rc add_row(np_sqlite *sq, np_str tenant, const kept *k, known *out,
                       np_err *e) {
  sqlite3_stmt *st;
  const char *types = k->place == NP_PLACE_PURGED ? "tbiiiiinn"
                      : k->place == NP_PLACE_BLOB ? "tbiiiiibi"
                                                  : "tbiiiiibn";
  *out = (known){NP_PLACE_NONE, 0};
  neap_rc rc =
      np_sq_use(sq, SQL_BLOB_ADD, &st, e, types, tenant, np_hash_str(k->hash), k->fence,
                (int64_t)NP_ROW_VERSION, k->place, k->size, k->enc, k->body, k->sum);
  if (rc == NEAP_OK) rc = np_sq_run(sq, st, e);
  if (rc == NEAP_OK && sqlite3_changes(sq->db) == 1)
    *out = (known){(int)k->place, sqlite3_last_insert_rowid(sq->db)};
  return rc;
}

static neap_rc set_row(np_sqlite *sq, int64_t id, const kept *k, np_err *e) {
  sqlite3_stmt *st;
  neap_rc rc = NEAP_OK;
  if (k->place == NP_PLACE_PURGED)
    rc = np_sq_use(sq, SQL_BLOB_SET, &st, e, "iiiinni", k->fence, k->place, k->size,
                   k->enc, id);
  else if (k->place == NP_PLACE_BLOB)
    rc = np_sq_use(sq, SQL_BLOB_SET, &st, e, "iiiibii", k->fence, k->place, k->size,
                   k->enc, k->body, k->sum, id);
  else
    rc = np_sq_use(sq, SQL_BLOB_SET, &st, e, "iiiibni", k->fence, k->place, k->size,
                   k->enc, k->body, id);
  return rc == NEAP_OK ? np_sq_run(sq, st, e) : rc;
}

static neap_rc add_piece(np_sqlite *sq, int64_t id, size_t n, const kept *k, np_str piece,
                         np_buf *marks, np_err *e) {
  sqlite3_stmt *st;
  np_buf_clear(marks);
  np_chunk_marks(piece, marks);
  if (marks->failed) return np_fail_mem(e);
  np_str m = np_buf_str(marks);
  int64_t sum = (int64_t)np_chunk_sum(k->hash, n, m, piece), enc = pack(sq, &piece);
  neap_rc rc =
      np_sq_use(sq, SQL_CHUNK_ADD, &st, e, "iiiiibb", id << NP_CHUNK_BITS | (int64_t)n,
                k->fence, (int64_t)NP_ROW_VERSION, enc, sum, m, piece);
  return rc == NEAP_OK ? np_sq_run(sq, st, e) : rc;
}

static neap_rc remove_pieces(np_sqlite *sq, int64_t id, np_err *e) {
  sqlite3_stmt *st;
  neap_rc rc = np_sq_use(sq, SQL_CHUNKS_REMOVE, &st, e, "ii", id << NP_CHUNK_BITS,
                         (id + 1) << NP_CHUNK_BITS);
  return rc == NEAP_OK ? np_sq_run(sq, st, e) : rc;
}

static neap_rc add_pieces(np_sqlite *sq, int64_t id, const kept *k, np_str body,
                          np_buf *marks, np_err *e) {
  neap_rc rc = NEAP_OK;
  if (id <= 0 || id >= NP_CONTENT_MAX)
    return np_sq_say(sq, NEAP_E_LIMIT, "it holds too many contents; begin another", e);
  for (size_t n = 0, at = 0; rc == NEAP_OK && at < body.n; n++) {
    size_t size = np_chunk_size(body.n, n);
    rc = add_piece(sq, id, n, k, np_str_of(body.p + at, size), marks, e);
    at += size;
  }
  return rc;
}

/* Its row is new, or was purged. */
static neap_rc add_large(np_sqlite *sq, np_str tenant, kept *k, const known *old,
                         np_str body, np_err *e) {
  np_buf b;
  known now = *old;
  np_buf_init(&b, sq->st.alloc);
  np_chunk_map_write(k->hash, body, &b);
  k->place = NP_PLACE_CHUNKS;
  k->body = np_buf_str(&b);
  neap_rc rc = b.failed                      ? np_fail_mem(e)
               : old->place == NP_PLACE_NONE ? add_row(sq, tenant, k, &now, e)
                                             : set_row(sq, old->id, k, e);
  if (rc == NEAP_OK) rc = add_pieces(sq, now.id, k, body, &b, e);
  np_buf_free(&b);
  return rc;
}

/* Inside a transaction. What was purged and comes again is kept again. A small one is added
** without a look whether it is there: mostly it is not, and if so nothing is changed. */
neap_rc np_sq_blob_add(np_sqlite *sq, np_str tenant, int64_t fence, const uint8_t *hash,
                       np_str body, np_err *e) {
  known old;
  bool large = body.n > NP_WHOLE_MAX;
  kept k = {hash, fence, NP_PLACE_BLOB, (int64_t)body.n, NP_ENC_RAW, body, 0};
  neap_rc rc = NEAP_OK;
  if (!large) {
    k.sum = (int64_t)np_whole_sum(hash, body, NULL);
    k.enc = pack(sq, &k.body);
    rc = add_row(sq, tenant, &k, &old, e);
    if (rc != NEAP_OK || old.place == NP_PLACE_BLOB) return rc;
  }
  rc = look_up(sq, tenant, hash, &old, e);
  bool there = old.place != NP_PLACE_NONE && old.place != NP_PLACE_PURGED;
  if (rc != NEAP_OK || there) return rc;
  return large ? add_large(sq, tenant, &k, &old, body, e) : set_row(sq, old.id, &k, e);
}

/* A small one mostly takes one statement, which is its own transaction. */
static neap_rc put_row(np_sqlite *sq, np_str tenant, np_str body, const uint8_t *hash,
                       bool *done, np_err *e) {
  known now;
  kept k = {hash, 0, NP_PLACE_BLOB, (int64_t)body.n, NP_ENC_RAW, body, 0};
  k.sum = (int64_t)np_whole_sum(hash, body, NULL);
  k.enc = pack(sq, &k.body);
  neap_rc rc = add_row(sq, tenant, &k, &now, e);
  *done = rc != NEAP_OK || now.place == NP_PLACE_BLOB;
  return rc;
}

static neap_rc put(np_sqlite *sq, np_str tenant, np_str body, const uint8_t *hash,
                   np_err *e) {
  bool done = false;
  neap_rc rc = np_sq_writable(sq, e);
  if (rc == NEAP_OK) rc = np_sq_sync(sq, NEAP_DURABLE_PROCESS, e);
  if (rc == NEAP_OK && body.n <= NP_WHOLE_MAX)
    rc = put_row(sq, tenant, body, hash, &done, e);
  if (rc == NEAP_OK && !done) rc = np_sq_begin(sq, e);
  if (rc != NEAP_OK || done) return rc;
  return np_sq_end(sq, np_sq_blob_add(sq, tenant, 0, hash, body, e), e);
}

neap_rc np_sq_put(np_store *store, np_str tenant, np_str body, uint8_t hash[NP_SHA256],
                  np_err *e) {
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc == NEAP_OK) rc = np_check_body(body, e);
  if (rc != NEAP_OK) return rc;
  np_sha256(body, hash);
  np_sqlite *sq = np_sq_lock_back(store);
  return np_sq_unlock(sq, put(sq, tenant, body, hash, e));
}

neap_rc np_sq_blob_named(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_err *e) {
  known old;
  neap_rc rc = look_up(sq, tenant, hash, &old, e);
  if (rc != NEAP_OK) return rc;
  if (old.place == NP_PLACE_NONE) return np_fail_no_content(hash, e);
  return old.place == NP_PLACE_PURGED ? np_fail_purged(hash, e) : NEAP_OK;
}

/* ---- renewing ---------------------------------------------------------------------- */

/* A row as an older neap has left it: in pieces when it is large, with its sum when not. Damaged
** ones stay as they are: their hash goes on telling it. */
static neap_rc renew(np_sqlite *sq, np_str tenant, const uint8_t *hash, int64_t id,
                     np_err *e) {
  np_buf all;
  sqlite3_stmt *st;
  np_buf_init(&all, sq->st.alloc);
  neap_rc rc = np_content_get(sq, tenant, hash, &all, e);
  np_str body = np_buf_str(&all);
  bool lost = rc == NEAP_E_CORRUPT || rc == NEAP_E_LIMIT;
  bool good = rc == NEAP_OK && np_hash_is(body, hash);
  if (good && body.n > NP_WHOLE_MAX) {
    kept k = {hash, 0, NP_PLACE_CHUNKS, (int64_t)body.n, NP_ENC_RAW, {"", 0}, 0};
    rc = add_large(sq, tenant, &k, &(known){NP_PLACE_BLOB, id}, body, e);
  } else if (good) {
    rc = np_sq_use(sq, SQL_BLOB_SUM, &st, e, "ii",
                   (int64_t)np_whole_sum(hash, body, NULL), id);
    if (rc == NEAP_OK) rc = np_sq_run(sq, st, e);
  }
  np_buf_free(&all);
  return lost ? NEAP_OK : rc;
}

/* The next row that is not as it would be written now, behind that of *id; 0: none. */
static neap_rc find_stale(np_sqlite *sq, int64_t *id, np_buf *tenant,
                          uint8_t hash[NP_SHA256], np_err *e) {
  sqlite3_stmt *st;
  bool row = false;
  np_buf_clear(tenant);
  neap_rc rc = np_sq_use(sq, SQL_BLOB_STALE, &st, e, "ii", *id, (int64_t)NP_WHOLE_MAX);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  *id = row ? sqlite3_column_int64(st, 0) : 0;
  np_str h = row ? np_sq_blob(st, 2) : (np_str){"", 0};
  memset(hash, 0, NP_SHA256);
  if (h.n == NP_SHA256) memcpy(hash, h.p, NP_SHA256);
  if (row) np_buf_add(tenant, np_sq_blob(st, 1));
  np_sq_done(st);
  return rc == NEAP_OK && tenant->failed ? np_fail_mem(e) : rc;
}

neap_rc np_sq_renew(np_sqlite *sq, np_err *e) {
  np_buf tenant;
  uint8_t hash[NP_SHA256];
  int64_t id = 0;
  np_buf_init(&tenant, sq->st.alloc);
  neap_rc rc = find_stale(sq, &id, &tenant, hash, e);
  while (rc == NEAP_OK && id > 0) {
    rc = renew(sq, np_buf_str(&tenant), hash, id, e);
    if (rc == NEAP_E_NOTFOUND) rc = NEAP_OK; /* its key is damaged */
    if (rc == NEAP_OK) rc = find_stale(sq, &id, &tenant, hash, e);
  }
  np_buf_free(&tenant);
  return rc;
}

/* ---- purging ----------------------------------------------------------------------- */

/* The content's row becomes the record; its pieces go. */
static neap_rc empty_row(np_sqlite *sq, np_str tenant, const uint8_t *hash, bool events,
                         np_err *e) {
  known old;
  kept k = {hash, 0, NP_PLACE_PURGED, 0, NP_ENC_RAW, {"", 0}, 0};
  neap_rc rc = look_up(sq, tenant, hash, &old, e);
  if (rc != NEAP_OK || old.place == NP_PLACE_PURGED) return rc;
  if (old.place == NP_PLACE_NONE)
    return events ? add_row(sq, tenant, &k, &old, e) : np_fail_no_content(hash, e);
  rc = set_row(sq, old.id, &k, e);
  bool pieces = old.place == NP_PLACE_CHUNKS && old.id > 0 && old.id < NP_CONTENT_MAX;
  return rc == NEAP_OK && pieces ? remove_pieces(sq, old.id, e) : rc;
}

/* Inside a transaction: first their words, then the events (small bodies are theirs), then
** the content. */
static neap_rc remove_content(np_sqlite *sq, np_str tenant, const uint8_t *hash,
                              np_err *e) {
  sqlite3_stmt *st;
  neap_rc rc = np_words_purge(sq, tenant, hash, e);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_use(sq, SQL_EVENTS_PURGE, &st, e, "tb", tenant, np_hash_str(hash));
  if (rc == NEAP_OK) rc = np_sq_run(sq, st, e);
  bool events = rc == NEAP_OK && sqlite3_changes(sq->db) > 0;
  return rc == NEAP_OK ? empty_row(sq, tenant, hash, events, e) : rc;
}

neap_rc np_sq_blob_empty(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_err *e) {
  return empty_row(sq, tenant, hash, true, e);
}

static const char unmade[] =
    "the content is purged, but the file could not be made anew and may hold old copies; "
    "purge it again";
static const char busy[] =
    "the content is purged, but a reader keeps an old copy in the -wal file; "
    "purge it again when other processes have closed the store";

/* Of a content that is purged already the same: a kill may have come before the file was made
** anew. */
static neap_rc purge(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_err *e) {
  neap_rc rc = np_sq_writable(sq, e);
  if (rc == NEAP_OK) rc = np_sq_flush_all(sq, e); /* what is held may hold it too */
  if (rc == NEAP_OK) rc = np_sq_exec(sq, "PRAGMA secure_delete = ON", e);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_begin(sq, e);
  if (rc == NEAP_OK) rc = np_sq_end(sq, remove_content(sq, tenant, hash, e), e);
  np_sq_exec(sq, "PRAGMA secure_delete = OFF", NULL);
  return rc == NEAP_OK ? np_sq_leave_nothing(sq, unmade, busy, e) : rc;
}

neap_rc np_sq_purge(np_store *store, np_str tenant, const uint8_t hash[NP_SHA256],
                    np_err *e) {
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc != NEAP_OK) return rc;
  np_sqlite *sq = np_sq_lock_back(store);
  rc = np_sq_here(sq, e); /* the file may hold it, too */
  return np_sq_unlock(sq, rc == NEAP_OK ? purge(sq, tenant, hash, e) : rc);
}
