/*
** Searching: the range of ids that may be seen, the query, the ranking, and the names that
** go with what was found. Also the memory store's index, which is this one in a database of
** its own. next: sqlite.c
*/
#include "store/query.h"

/* ---- the range ---- */

/* A session that was never indexed, or a tenant without any, is an empty range. */
static neap_rc session_range(np_sqlite *sq, const np_find *find, np_query *q, np_err *e) {
  np_scope scope;
  neap_rc rc = np_scope_get(sq, find->tenant, find->session, &scope, e);
  if (rc != NEAP_OK || scope.id == 0) return rc;
  q->from = np_doc_id(scope.id, 0);
  q->to = q->newest = np_doc_id(scope.id, scope.at.entry);
  q->docs = scope.docs;
  q->words = scope.words;
  return rc;
}

static neap_rc int_pair(np_sqlite *sq, sqlite3_stmt *st, int64_t *a, int64_t *b,
                        np_err *e) {
  bool row = false;
  neap_rc rc = np_sq_step(sq, st, &row, e);
  *a = row ? sqlite3_column_int64(st, 0) : 0;
  *b = row ? sqlite3_column_int64(st, 1) : 0;
  np_sq_done(st);
  return rc;
}

static neap_rc tenant_range(np_sqlite *sq, const np_find *find, np_query *q, np_err *e) {
  sqlite3_stmt *st;
  int64_t last = 0, all;
  neap_rc rc = np_sq_use(sq, SQL_SCOPE_LAST, &st, e, "t", find->tenant);
  if (rc == NEAP_OK) rc = int_pair(sq, st, &last, &all, e);
  if (rc != NEAP_OK || last == 0) return rc;
  int64_t first = last >> NP_SESSION_BITS << NP_SESSION_BITS;
  q->from = np_doc_id(first, 0);
  q->to = np_doc_id(last + 1, 0) - 1;
  rc = np_sq_use(sq, SQL_SCOPE_ENTRY, &st, e, "i", last);
  if (rc == NEAP_OK) rc = int_pair(sq, st, &all, &q->newest, e);
  if (rc != NEAP_OK) return rc;
  q->newest = np_doc_id(last, q->newest);
  rc = np_sq_use(sq, SQL_SCOPE_SUM, &st, e, "ii", first, last);
  return rc == NEAP_OK ? int_pair(sq, st, &q->docs, &q->words, e) : rc;
}

/* ---- what goes out ---- */

static neap_rc add_hit(np_sqlite *sq, np_str tenant, const np_found *f, np_hit *out,
                       np_buf *names, np_err *e) {
  sqlite3_stmt *st;
  bool row = false;
  neap_rc rc =
      np_sq_use(sq, SQL_SCOPE_NAME, &st, e, "it", f->id >> NP_ENTRY_BITS, tenant);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  np_str name = row ? np_sq_blob(st, 0) : (np_str){"", 0};
  *out = (np_hit){.session = {NULL, name.n},
                  .entry = f->id & (((int64_t)1 << NP_ENTRY_BITS) - 1),
                  .seq = f->seq,
                  .step = f->step,
                  .part = (int32_t)f->part,
                  .score = f->score};
  np_buf_add(names, name);
  np_sq_done(st);
  if (rc == NEAP_OK && !row) rc = np_sq_fail(sq, SQLITE_CORRUPT, e);
  return rc == NEAP_OK && names->failed ? np_fail_mem(e) : rc;
}

static neap_rc give(np_sqlite *sq, const np_find *find, const np_short *s, np_hit *out,
                    size_t *n, np_buf *names, np_err *e) {
  neap_rc rc = NEAP_OK;
  size_t k = find->k < NP_HITS_MAX ? find->k : NP_HITS_MAX;
  if (k > s->n) k = s->n;
  np_buf_clear(names);
  for (size_t i = 0; rc == NEAP_OK && i < k; i++)
    rc = add_hit(sq, find->tenant, &s->at[i], &out[i], names, e);
  if (rc != NEAP_OK) return rc;
  const char *p = names->p;
  for (size_t i = 0; i < k; p += out[i++].session.n) out[i].session.p = p ? p : "";
  *n = k;
  return rc;
}

/* ---- the search ---- */

static neap_rc check_version(np_sqlite *sq, np_err *e) {
  if (sq->version >= 2) return NEAP_OK;
  return np_sq_say(sq, NEAP_E_NOTFOUND,
                   "an older neap made it, without an index of words; open it once for "
                   "writing, and what is in it can be searched",
                   e);
}

static neap_rc search(np_sqlite *sq, const np_find *find, np_query *q, np_hit *out,
                      size_t *n, np_buf *names, np_err *e) {
  neap_rc rc =
      find->session.n ? session_range(sq, find, q, e) : tenant_range(sq, find, q, e);
  if (rc != NEAP_OK || q->docs <= 0) return rc;
  np_short *list = np_calloc(sq->st.alloc, 1, sizeof *list);
  if (!list) return np_fail_mem(e);
  rc = np_query_look(sq, q, e);
  if (rc == NEAP_OK) {
    np_query_collect(q, list);
    rc = np_rank(sq, q, list, e);
  }
  if (rc == NEAP_OK) rc = give(sq, find, list, out, n, names, e);
  np_free(sq->st.alloc, list);
  return rc;
}

neap_rc np_words_find(np_sqlite *sq, const np_find *find, np_hit *out, size_t *n,
                      np_buf *names, np_err *e) {
  bool there = false;
  np_query *q = np_calloc(sq->st.alloc, 1, sizeof *q);
  *n = 0;
  if (!q) return np_fail_mem(e);
  q->text = find->query;
  q->own = find->session.n > 0;
  np_buf_init(&q->rows, sq->st.alloc);
  neap_rc rc = np_fts_ready(sq, e);
  if (rc == NEAP_OK) rc = check_version(sq, e);
  if (rc == NEAP_OK) rc = np_fts_there(sq, &there, e);
  if (rc == NEAP_OK && there) rc = search(sq, find, q, out, n, names, e);
  np_buf_free(&q->rows);
  np_free(sq->st.alloc, q);
  return rc;
}

/* ---- in memory ---- */

neap_rc np_sq_memory_open(const neap_alloc *a, np_sqlite **out, np_err *e) {
  np_sqlite *sq = np_calloc(a, 1, sizeof *sq);
  *out = NULL;
  if (!sq) return np_fail_mem(e);
  sq->st = (np_store){.ops = &np_sq_ops, .alloc = a};
  np_memlogs_init(&sq->held, a, false);
  np_buf_init(&sq->packed, a);
  sq->label = np_calloc(a, 1, sizeof ":memory:");
  if (sq->label) memcpy(sq->label, ":memory:", sizeof ":memory:");
  int rc = sqlite3_open_v2(":memory:", &sq->db,
                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
  neap_rc got = !sq->label || !sq->db ? np_fail_mem(e)
                : rc != SQLITE_OK     ? np_sq_fail(sq, rc, e)
                                      : np_sq_migrate(sq, e);
  if (got == NEAP_OK) *out = sq;
  else np_sq_free(sq);
  return got;
}
