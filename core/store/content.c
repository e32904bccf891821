/*
** Reading content from the file: whole, by pieces, by windows. next: blobs.c
*/
#include "store/content.h"

static neap_rc fail_damaged(const np_content *c, np_err *e) {
  char hex[2 * NP_SHA256];
  np_hex(c->hash, NP_SHA256, hex);
  return np_fail(
      e, NEAP_E_CORRUPT,
      "store '%s': content %.12s… is damaged (its bytes differ from its hash); "
      "restore a copy of the store",
      c->sq->label, hex);
}

static neap_rc fail_compressed(const np_content *c, int enc, np_err *e) {
  char hex[2 * NP_SHA256];
  np_hex(c->hash, NP_SHA256, hex);
  return np_fail(
      e, NEAP_E_LIMIT,
      "store '%s': content %.12s… is compressed (%s), which this neap is built "
      "without; install libzstd-dev and build it again",
      c->sq->label, hex, enc == NP_ENC_ZSTD ? "zstd" : "in an unknown way");
}

/* ---- opening ----------------------------------------------------------------------- */

/* SQLite gives an empty blob also when it has no memory for the bytes. */
static neap_rc column(const np_content *c, sqlite3_stmt *st, int at, np_str *out,
                      np_err *e) {
  *out = np_sq_blob(st, at);
  bool none = out->n == 0 && sqlite3_errcode(c->sq->db) == SQLITE_NOMEM;
  return none ? np_fail_mem(e) : NEAP_OK;
}

/* The bytes that were compressed, of which there must be `size`; in c->room. */
static neap_rc unpack(np_content *c, int enc, size_t size, np_str *bytes, np_err *e) {
  if (enc == NP_ENC_RAW) return NEAP_OK;
  if (enc != NP_ENC_ZSTD || !np_press_built()) return fail_compressed(c, enc, e);
  bool good = np_press_back(&c->sq->press, *bytes, size, &c->room);
  if (c->room.failed) return np_fail_mem(e);
  *bytes = np_buf_str(&c->room);
  return good ? NEAP_OK : fail_damaged(c, e);
}

/* Is it what was put? By its sum, or where none is kept by its hash. */
static neap_rc open_whole(np_content *c, np_err *e) {
  int enc = sqlite3_column_int(c->row, 3);
  int64_t size = sqlite3_column_int64(c->row, 2);
  uint64_t sum = (uint64_t)sqlite3_column_int64(c->row, 5); /* 0 for NULL */
  bool sound = enc == NP_ENC_RAW || (size > 0 && (uint64_t)size <= NP_STORE_BODY_MAX);
  if (!sound) return fail_damaged(c, e);
  neap_rc rc = unpack(c, enc, (size_t)size, &c->text, e);
  if (rc != NEAP_OK) return rc;
  c->whole = true;
  c->size = c->text.n;
  bool good =
      sum ? np_whole_sum(c->hash, c->text, NULL) == sum : np_hash_is(c->text, c->hash);
  return good ? NEAP_OK : fail_damaged(c, e);
}

/* Columns: place, id, size, enc, body, sum. */
static neap_rc judge(np_content *c, np_err *e) {
  int place = sqlite3_column_int(c->row, 0);
  if (place == NP_PLACE_PURGED) return np_fail_purged(c->hash, e);
  neap_rc rc = column(c, c->row, 4, &c->text, e);
  if (rc != NEAP_OK) return rc;
  if (place == NP_PLACE_BLOB) return open_whole(c, e);
  int64_t size = sqlite3_column_int64(c->row, 2);
  c->id = sqlite3_column_int64(c->row, 1);
  bool good = place == NP_PLACE_CHUNKS && size > 0 &&
              (uint64_t)size <= NP_STORE_BODY_MAX && c->id > 0 && c->id < NP_CONTENT_MAX;
  if (good) c->size = (size_t)size;
  good = good && np_chunk_map_read(c->hash, c->size, c->text, &c->map);
  return good ? NEAP_OK : fail_damaged(c, e);
}

neap_rc np_content_open(np_sqlite *sq, np_str tenant, const uint8_t *hash,
                        np_content *out, np_err *e) {
  bool row = false;
  *out = (np_content){.sq = sq, .at = SIZE_MAX};
  memcpy(out->hash, hash, NP_SHA256);
  np_buf_init(&out->room, sq->st.alloc);
  np_sql sql = sq->version < 3 ? SQL_BLOB_2 : sq->version < 4 ? SQL_BLOB_3 : SQL_BLOB;
  neap_rc rc = np_sq_use(sq, sql, &out->row, e, "tb", tenant, np_hash_str(out->hash));
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, out->row, &row, e);
  if (rc != NEAP_OK) return rc;
  return row ? judge(out, e) : np_fail_no_content(hash, e);
}

void np_content_close(np_content *c) {
  if (c->piece) np_sq_done(c->piece);
  if (c->row) np_sq_done(c->row);
  c->piece = c->row = NULL;
  np_buf_free(&c->room);
}

/* ---- pieces ------------------------------------------------------------------------ */

/* Columns: enc, sum, marks, body. */
static neap_rc judge_piece(np_content *c, size_t n, np_err *e) {
  int enc = sqlite3_column_int(c->piece, 0);
  uint64_t sum = (uint64_t)sqlite3_column_int64(c->piece, 1);
  neap_rc rc = column(c, c->piece, 2, &c->marks, e);
  if (rc == NEAP_OK) rc = column(c, c->piece, 3, &c->bytes, e);
  if (rc == NEAP_OK) rc = unpack(c, enc, np_chunk_size(c->size, n), &c->bytes, e);
  if (rc != NEAP_OK) return rc;
  bool good = c->bytes.n == np_chunk_size(c->size, n) &&
              np_chunk_sum(c->hash, n, c->marks, c->bytes) == sum;
  if (!good) return fail_damaged(c, e);
  c->at = n;
  return NEAP_OK;
}

neap_rc np_content_piece(np_content *c, size_t n, np_err *e) {
  bool row = false;
  if (c->at == n) return NEAP_OK;
  c->at = SIZE_MAX;
  if (c->piece) np_sq_done(c->piece);
  neap_rc rc =
      np_sq_use(c->sq, SQL_CHUNK, &c->piece, e, "i", c->id << NP_CHUNK_BITS | (int64_t)n);
  if (rc != NEAP_OK) {
    c->piece = NULL;
    return rc;
  }
  rc = np_sq_step(c->sq, c->piece, &row, e);
  if (rc != NEAP_OK) return rc;
  return row ? judge_piece(c, n, e) : fail_damaged(c, e);
}

/* Appends the bytes [from, to), which are inside. */
static neap_rc add_bytes(np_content *c, size_t from, size_t to, np_buf *out, np_err *e) {
  neap_rc rc = NEAP_OK;
  if (!np_buf_reserve(out, to - from)) return np_fail_mem(e);
  while (rc == NEAP_OK && from < to) {
    size_t n = from / NP_CHUNK, begin = n * NP_CHUNK;
    rc = np_content_piece(c, n, e);
    if (rc != NEAP_OK) break;
    np_str part = np_str_cut(c->bytes, from - begin, to - begin);
    np_buf_add(out, part);
    from += part.n;
  }
  return rc;
}

neap_rc np_content_all(np_content *c, np_buf *out, np_err *e) {
  size_t had = out->n;
  if (c->whole) {
    np_buf_add(out, c->text);
    return out->failed ? np_fail_mem(e) : NEAP_OK;
  }
  neap_rc rc = add_bytes(c, 0, c->size, out, e);
  if (rc != NEAP_OK) out->n = had;
  return rc;
}

/* ---- in one go --------------------------------------------------------------------- */

/* Most contents: a row that says its sum, not compressed. Three columns of it are enough, and no
** np_content. *done: it was one, or there is none. */
static neap_rc get_row(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_buf *out,
                       bool *done, np_err *e) {
  sqlite3_stmt *st;
  neap_rc rc = np_sq_use(sq, SQL_BLOB_GET, &st, e, "tb", tenant, np_hash_str(hash));
  if (rc == NEAP_OK) rc = np_sq_step(sq, st, done, e);
  if (rc != NEAP_OK) return rc;
  uint64_t sum = *done ? (uint64_t)sqlite3_column_int64(st, 0) : 0;
  *done = sum != 0 && sqlite3_column_int(st, 1) == NP_ENC_RAW;
  np_str text = *done ? np_sq_blob(st, 2) : (np_str){"", 0};
  if (text.n == 0) *done = false; /* or no memory for it */
  if (*done && !np_buf_reserve(out, text.n)) rc = np_fail_mem(e);
  else if (*done && np_whole_sum(hash, text, out->p + out->n) == sum) out->n += text.n;
  else *done = false; /* damage is worded elsewhere */
  np_sq_done(st);
  return rc;
}

neap_rc np_content_get(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_buf *out,
                       np_err *e) {
  np_content c;
  bool done = false;
  neap_rc rc = sq->version < 4 ? NEAP_OK : get_row(sq, tenant, hash, out, &done, e);
  if (rc != NEAP_OK || done) return rc;
  rc = np_content_open(sq, tenant, hash, &c, e);
  if (rc == NEAP_OK) rc = np_content_all(&c, out, e);
  np_content_close(&c);
  return rc;
}

/* ---- windows ----------------------------------------------------------------------- */

/* The offset behind the q-th newline of the content, which has so many. */
static neap_rc behind(np_content *c, size_t q, size_t *at, np_err *e) {
  size_t rest = 0, n = np_chunk_of_newline(&c->map, q, &rest);
  neap_rc rc = np_content_piece(c, n, e);
  if (rc != NEAP_OK) return rc;
  size_t off = np_chunk_behind(c->bytes, c->marks, rest);
  if (off == SIZE_MAX) return fail_damaged(c, e);
  *at = n * NP_CHUNK + off;
  return NEAP_OK;
}

/* The last line may have no newline: what is behind it is the end. */
static neap_rc line_bytes(np_content *c, np_window *w, size_t *from, size_t *to,
                          np_err *e) {
  neap_rc rc = NEAP_OK;
  *from = *to = 0;
  if (w->from == 0 || w->from > w->to || w->from > c->map.lines) return NEAP_OK;
  if (w->from > 1) rc = behind(c, w->from - 1, from, e);
  *to = c->size;
  if (rc == NEAP_OK && w->to < c->map.lines) rc = behind(c, w->to, to, e);
  return rc == NEAP_OK && *from > *to ? fail_damaged(c, e) : rc;
}

neap_rc np_content_window(np_content *c, np_window *w, np_buf *out, np_err *e) {
  size_t from = w->from, to = w->to, had = out->n;
  neap_rc rc = NEAP_OK;
  if (c->whole) {
    np_buf_add(out, np_window_of(c->text, w));
    return out->failed ? np_fail_mem(e) : NEAP_OK;
  }
  if (w->by_lines) rc = line_bytes(c, w, &from, &to, e);
  if (to > c->size) to = c->size;
  if (from > to) from = to;
  if (rc == NEAP_OK) rc = add_bytes(c, from, to, out, e);
  if (rc != NEAP_OK) {
    out->n = had;
    return rc;
  }
  w->size = c->size;
  w->lines = w->by_lines ? c->map.lines : 0;
  w->at = from < to ? from : 0;
  return NEAP_OK;
}
