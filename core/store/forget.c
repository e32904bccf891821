/*
** The words of a session that is removed, taken out of the index with the texts that they came
** from, event by event, in one walk over its docs. next: remove.c
*/
#include "store/content.h"
#include "store/fts.h"

typedef struct doc {
  int64_t id, seq, part, sum, words;
} doc;

/* All docs of the scope, copied out: the index is changed while they are gone through. */
static neap_rc docs_of(np_sqlite *sq, int64_t from, int64_t to, np_buf *out, np_err *e) {
  sqlite3_stmt *st;
  bool row = true;
  neap_rc rc = np_sq_use(sq, SQL_RM_DOCS, &st, e, "ii", from, to);
  if (rc != NEAP_OK) return rc;
  while (rc == NEAP_OK) {
    rc = np_sq_step(sq, st, &row, e);
    if (rc != NEAP_OK || !row) break;
    doc d = {sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
             sqlite3_column_int64(st, 2), sqlite3_column_int64(st, 3),
             sqlite3_column_int64(st, 4)};
    np_buf_add(out, (np_str){(const char *)&d, sizeof d});
  }
  np_sq_done(st);
  return rc == NEAP_OK && out->failed ? np_fail_mem(e) : rc;
}

/* What cannot be read is no text that was indexed: *lost. */
static neap_rc body_of(np_sqlite *sq, np_str tenant, np_str session, int64_t seq,
                       np_buf *out, bool *lost, np_err *e) {
  sqlite3_stmt *st;
  bool row = false, apart = false;
  uint8_t hash[NP_SHA256] = {0};
  np_err own = {0};
  np_buf_clear(out);
  neap_rc rc = np_sq_use(sq, SQL_RM_BODY, &st, e, "tti", tenant, session, seq);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  if (rc == NEAP_OK && row) {
    np_str h = np_sq_blob(st, 1);
    apart = sqlite3_column_int(st, 0) != NP_PLACE_INLINE;
    if (h.n == NP_SHA256) memcpy(hash, h.p, NP_SHA256);
    if (!apart) np_buf_add(out, np_sq_blob(st, 2));
  }
  np_sq_done(st);
  if (rc != NEAP_OK) return rc;
  *lost = !row || (apart && np_content_get(sq, tenant, hash, out, &own) != NEAP_OK);
  if (own.code == NEAP_E_MEMORY || out->failed) return np_fail_mem(e);
  return NEAP_OK;
}

static neap_rc remove_words(np_sqlite *sq, np_str tenant, np_str session, np_str docs,
                            bool *all, np_err *e) {
  np_buf body, text;
  int64_t at_seq = 0;
  bool lost = true;
  neap_rc rc = NEAP_OK;
  np_buf_init(&body, sq->st.alloc);
  np_buf_init(&text, sq->st.alloc);
  for (size_t at = 0; rc == NEAP_OK && !*all && at < docs.n; at += sizeof(doc)) {
    doc d;
    memcpy(&d, docs.p + at, sizeof d);
    if (d.seq != at_seq) rc = body_of(sq, tenant, session, d.seq, &body, &lost, e);
    at_seq = d.seq;
    if (rc == NEAP_OK)
      rc = np_words_take_out(sq, d.id, lost ? NP_LIT("") : np_buf_str(&body), d.part,
                             d.sum, &text, all, e);
  }
  np_buf_free(&body);
  np_buf_free(&text);
  return rc;
}

neap_rc np_words_forget(np_sqlite *sq, np_str tenant, np_str session, np_err *e) {
  np_scope scope;
  np_buf docs;
  sqlite3_stmt *st;
  bool all = false, there = false;
  neap_rc rc = np_scope_get(sq, tenant, session, &scope, e);
  if (rc != NEAP_OK || !scope.id) return rc;
  int64_t from = np_doc_id(scope.id, 0), to = np_doc_id(scope.id + 1, 0);
  np_buf_init(&docs, sq->st.alloc);
  rc = np_fts_there(sq, &there, e);
  if (rc == NEAP_OK && there) rc = np_fts_ready(sq, e);
  if (rc == NEAP_OK && there) rc = docs_of(sq, from, to, &docs, e);
  if (rc == NEAP_OK) rc = remove_words(sq, tenant, session, np_buf_str(&docs), &all, e);
  if (rc == NEAP_OK && there) rc = np_words_purge_end(sq, all, e);
  if (rc == NEAP_OK) rc = np_sq_use(sq, SQL_RM_DOC_ROWS, &st, e, "ii", from, to);
  if (rc == NEAP_OK) rc = np_sq_run(sq, st, e);
  if (rc == NEAP_OK) rc = np_sq_use(sq, SQL_RM_SCOPE, &st, e, "i", scope.id);
  if (rc == NEAP_OK) rc = np_sq_run(sq, st, e);
  np_buf_free(&docs);
  return rc;
}
