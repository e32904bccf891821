/*
** What goes into the index of words and out of it again. It follows the log: entries are
** added in order, in a transaction that also says how far it has come, so that after a crash
** it is the index of a beginning of the log. next: find.c
*/
#include "store/content.h"
#include "store/fts.h"

/* ---- scopes ---- */

/* The numbers of a damaged file must not become offsets or ids. */
static bool is_sound(const np_scope *s) {
  const int64_t most = (int64_t)1 << 48,
                scopes = (int64_t)NP_TENANT_MAX << NP_SESSION_BITS;
  const int64_t counts[] = {s->at.entry, s->at.cited, s->at.seq, s->docs, s->words};
  for (size_t i = 0; i < NP_COUNT(counts); i++) {
    if (counts[i] < 0 || counts[i] > most) return false;
  }
  return s->id > 0 && s->id < scopes && s->at.entry >> NP_ENTRY_BITS == 0;
}

neap_rc np_scope_get(np_sqlite *sq, np_str tenant, np_str session, np_scope *out,
                     np_err *e) {
  sqlite3_stmt *st;
  bool row = false;
  *out = (np_scope){0};
  neap_rc rc = np_sq_use(sq, SQL_SCOPE, &st, e, "tt", tenant, session);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  if (row) {
    out->id = sqlite3_column_int64(st, 0);
    out->at.entry = sqlite3_column_int64(st, 1);
    out->at.cited = sqlite3_column_int64(st, 2);
    out->docs = sqlite3_column_int64(st, 3);
    out->words = sqlite3_column_int64(st, 4);
    out->at.seq = sqlite3_column_int64(st, 5);
  }
  np_sq_done(st);
  if (rc != NEAP_OK || !row || is_sound(out)) return rc;
  return np_fail(e, NEAP_E_CORRUPT,
                 "store '%s': the index of words of session '%.*s' is damaged; restore a "
                 "copy of the store",
                 sq->label, NP_SHOW(session));
}

/* The highest id of the tenant's scopes and of all, 0 when there is none. */
static neap_rc last_scopes(np_sqlite *sq, np_str tenant, int64_t *of_tenant,
                           int64_t *of_all, np_err *e) {
  sqlite3_stmt *st;
  bool row = false;
  neap_rc rc = np_sq_use(sq, SQL_SCOPE_LAST, &st, e, "t", tenant);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  *of_tenant = row ? sqlite3_column_int64(st, 0) : 0;
  *of_all = row ? sqlite3_column_int64(st, 1) : 0;
  np_sq_done(st);
  return rc;
}

static neap_rc add_scope(np_sqlite *sq, const np_docs *d, np_scope *out, np_err *e) {
  const int64_t sessions = (int64_t)1 << NP_SESSION_BITS;
  sqlite3_stmt *st;
  int64_t mine, last;
  bool row;
  neap_rc rc = last_scopes(sq, d->tenant, &mine, &last, e);
  if (rc != NEAP_OK) return rc;
  out->id = mine ? mine + 1 : (last / sessions + (last ? 1 : 0)) * sessions + 1;
  if (out->id % sessions == 0 || out->id / sessions >= NP_TENANT_MAX) {
    return np_sq_say(sq, NEAP_E_LIMIT,
                     "it has no room for the words of more sessions; use another store",
                     e);
  }
  rc = np_sq_use(sq, SQL_SCOPE_ADD, &st, e, "ittii", out->id, d->tenant, d->session,
                 d->fence, (int64_t)NP_ROW_VERSION);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  np_sq_done(st);
  return rc;
}

static neap_rc set_scope(np_sqlite *sq, const np_scope *s, int64_t fence, np_err *e) {
  sqlite3_stmt *st;
  bool row;
  neap_rc rc = np_sq_use(sq, SQL_SCOPE_SET, &st, e, "iiiiiii", fence, s->at.entry,
                         s->at.cited, s->docs, s->words, s->at.seq, s->id);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  np_sq_done(st);
  return rc;
}

neap_rc np_words_indexed(np_sqlite *sq, np_str tenant, np_str session, np_indexed *out,
                         np_err *e) {
  np_scope scope;
  *out = (np_indexed){0};
  if (sq->version < 2) return NEAP_OK;
  neap_rc rc = np_scope_get(sq, tenant, session, &scope, e);
  if (rc == NEAP_OK) *out = scope.at;
  return rc;
}

/* ---- adding ---- */

/* Of the text that was indexed: what takes it out again must be the same. */
static int64_t sum_of(np_str text) {
  return (int64_t)np_sum64(0, text);
}

/* Stores of before version 3 have the beginning of its SHA-256. */
static bool is_sum_of(int64_t sum, np_str text) {
  uint8_t hash[NP_SHA256];
  uint64_t old = 0;
  if (sum == sum_of(text)) return true;
  np_sha256(text, hash);
  for (int i = 0; i < 8; i++) old = old << 8 | hash[i];
  return sum == (int64_t)old;
}

static neap_rc write_words(np_sqlite *sq, np_sql how, int64_t id, np_str text,
                           np_err *e) {
  sqlite3_stmt *st;
  bool row;
  neap_rc rc = np_sq_use(sq, how, &st, e, "it", id, text);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  np_sq_done(st);
  return rc;
}

/* Rows from that id on, in the scope: what is there before it is indexed was purged. */
static neap_rc count_purged(np_sqlite *sq, int64_t scope, int64_t entry, int64_t *n,
                            np_err *e) {
  sqlite3_stmt *st;
  bool row = false;
  neap_rc rc = np_sq_use(sq, SQL_DOC_COUNT, &st, e, "ii", np_doc_id(scope, entry),
                         np_doc_id(scope + 1, 0));
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  *n = row ? sqlite3_column_int64(st, 0) : 0;
  np_sq_done(st);
  return rc;
}

static neap_rc is_purged(np_sqlite *sq, int64_t id, bool *purged, np_err *e) {
  sqlite3_stmt *st;
  neap_rc rc = np_sq_use(sq, SQL_DOC, &st, e, "i", id);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, purged, e);
  np_sq_done(st);
  return rc;
}

/* A row that is there already is a purged entry's. */
static neap_rc add_doc(np_sqlite *sq, np_scope *scope, int64_t fence, bool look,
                       const np_doc *d, np_err *e) {
  sqlite3_stmt *st;
  bool row, purged = false;
  int64_t id = np_doc_id(scope->id, d->entry);
  sq->counted = 0;
  neap_rc rc = look ? is_purged(sq, id, &purged, e) : NEAP_OK;
  if (rc != NEAP_OK || purged) return rc;
  rc = write_words(sq, SQL_WORDS_ADD, id, d->text, e);
  if (rc != NEAP_OK) return rc;
  int64_t words = (int64_t)sq->counted;
  rc = np_sq_use(sq, SQL_DOC_ADD, &st, e, "iiiiiiiiii", id, fence,
                 (int64_t)NP_ROW_VERSION, d->seq, (int64_t)d->part, (int64_t)d->rank,
                 d->step, d->pair, words, sum_of(d->text));
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  np_sq_done(st);
  scope->docs++;
  scope->words += words;
  return rc;
}

static neap_rc cite(np_sqlite *sq, int64_t scope, int64_t entry, np_err *e) {
  sqlite3_stmt *st;
  bool row;
  neap_rc rc = np_sq_use(sq, SQL_DOC_CITE, &st, e, "i", np_doc_id(scope, entry));
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  np_sq_done(st);
  return rc;
}

/* The fence only counts for entries that the writer has in memory: what was read from the
** store is the same for everyone. */
static neap_rc check_docs(np_sqlite *sq, const np_docs *d, np_err *e) {
  int64_t fence = d->fence;
  if (d->to.entry >> NP_ENTRY_BITS != 0) {
    return np_fail(e, NEAP_E_LIMIT,
                   "session '%.*s' has more entries than can be searched; begin another",
                   NP_SHOW(d->session));
  }
  neap_rc rc = fence ? np_sq_fence(sq, d->tenant, d->session, &fence, e) : NEAP_OK;
  if (rc == NEAP_OK && fence != d->fence) rc = np_fail_fenced(d->session, 0, e);
  return rc;
}

static neap_rc add_docs(np_sqlite *sq, const np_docs *d, np_err *e) {
  int64_t purged = 0;
  np_scope scope;
  neap_rc rc = np_fts_make(sq, e);
  if (rc == NEAP_OK) rc = check_docs(sq, d, e);
  if (rc == NEAP_OK) rc = np_scope_get(sq, d->tenant, d->session, &scope, e);
  if (rc != NEAP_OK) return rc;
  bool same = scope.at.entry == d->from.entry && scope.at.cited == d->from.cited;
  if (!same) return NEAP_OK; /* another writer was faster */
  if (scope.id == 0) rc = add_scope(sq, d, &scope, e);
  if (rc == NEAP_OK) rc = count_purged(sq, scope.id, d->from.entry + 1, &purged, e);
  for (size_t i = 0; rc == NEAP_OK && i < d->n; i++)
    rc = add_doc(sq, &scope, d->fence, purged > 0, &d->doc[i], e);
  for (size_t i = 0; rc == NEAP_OK && i < d->cited_n; i++)
    rc = cite(sq, scope.id, d->cited[i], e);
  scope.at = d->to;
  return rc == NEAP_OK ? set_scope(sq, &scope, d->fence, e) : rc;
}

neap_rc np_words_index(np_sqlite *sq, const np_docs *d, np_err *e) {
  neap_rc rc = np_sq_writable(sq, e);
  if (rc == NEAP_OK) rc = np_fts_ready(sq, e);
  if (rc == NEAP_OK) rc = np_sq_write_held(sq, d->tenant, d->session, e);
  if (rc == NEAP_OK) rc = np_sq_begin(sq, e);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_end(sq, add_docs(sq, d, e), e);
  if (rc == NEAP_OK) sq->words = true;
  return rc;
}

/* ---- purging ---- */

/* FTS5 3.40 takes words out of such a table only when it is told them again. The row stays
** as the record that the entry is not to be indexed again. */
static neap_rc mark_purged(np_sqlite *sq, int64_t id, np_err *e) {
  sqlite3_stmt *st;
  bool row;
  neap_rc rc = np_sq_use(sq, SQL_DOC_PURGE, &st, e, "i", id);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  np_sq_done(st);
  return rc;
}

typedef struct gone {
  int64_t id, part, sum, words;
} gone;

/* The docs of one event, of which there are few. */
static neap_rc docs_of(np_sqlite *sq, int64_t scope, int64_t seq, np_buf *out,
                       np_err *e) {
  sqlite3_stmt *st;
  bool row = true;
  int64_t from = np_doc_id(scope, 0), to = np_doc_id(scope + 1, 0);
  neap_rc rc = np_sq_use(sq, SQL_DOC_OF, &st, e, "iii", from, to, seq);
  if (rc != NEAP_OK) return rc;
  while (rc == NEAP_OK) {
    rc = np_sq_step(sq, st, &row, e);
    if (rc != NEAP_OK || !row) break;
    gone g = {sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
              sqlite3_column_int64(st, 2), sqlite3_column_int64(st, 3)};
    np_buf_add(out, (np_str){(const char *)&g, sizeof g});
  }
  np_sq_done(st);
  return rc == NEAP_OK && out->failed ? np_fail_mem(e) : rc;
}

neap_rc np_words_take_out(np_sqlite *sq, int64_t id, np_str body, int64_t part,
                          int64_t sum, np_buf *text, bool *all, np_err *e) {
  np_buf_clear(text);
  bool known = sq->st.text && sq->st.text(sq->st.text_ctx, body, (int32_t)part, text);
  known = known && !text->failed && is_sum_of(sum, np_buf_str(text));
  if (known) return write_words(sq, SQL_WORDS_REMOVE, id, np_buf_str(text), e);
  *all = true;
  return NEAP_OK;
}

static neap_rc remove_docs(np_sqlite *sq, np_str docs, np_str body, np_scope *scope,
                           bool *all, np_err *e) {
  neap_rc rc = NEAP_OK;
  np_buf text;
  np_buf_init(&text, sq->st.alloc);
  for (size_t at = 0; rc == NEAP_OK && at < docs.n; at += sizeof(gone)) {
    gone g;
    memcpy(&g, docs.p + at, sizeof g);
    rc = np_words_take_out(sq, g.id, body, g.part, g.sum, &text, all, e);
    if (rc == NEAP_OK) rc = mark_purged(sq, g.id, e);
    scope->docs--;
    scope->words -= g.words;
  }
  np_buf_free(&text);
  return rc;
}

neap_rc np_words_purge_event(np_sqlite *sq, np_str tenant, np_str session, int64_t seq,
                             np_str body, bool *all, np_err *e) {
  np_scope scope;
  np_buf docs;
  np_buf_init(&docs, sq->st.alloc);
  neap_rc rc = np_scope_get(sq, tenant, session, &scope, e);
  if (rc == NEAP_OK && scope.id) rc = docs_of(sq, scope.id, seq, &docs, e);
  if (rc == NEAP_OK && docs.n)
    rc = remove_docs(sq, np_buf_str(&docs), body, &scope, all, e);
  if (rc == NEAP_OK && docs.n) rc = set_scope(sq, &scope, 0, e);
  np_buf_free(&docs);
  return rc;
}

/* FTS5 only notes that rows are gone until it merges: optimizing merges all. When all must
** go, it comes again as soon as it is needed. */
neap_rc np_words_purge_end(np_sqlite *sq, bool all, np_err *e) {
  if (!all) return np_sq_exec(sq, "INSERT INTO words(words) VALUES('optimize')", e);
  return np_sq_exec(sq,
                    "INSERT INTO words(words) VALUES('delete-all');"
                    "DELETE FROM doc WHERE rank <> 9;"
                    "UPDATE scope SET entry = 0, cited = 0, docs = 0, words = 0, seq = 0",
                    e);
}

typedef struct holder {
  int64_t seq;
  size_t name; /* bytes of the session's name, which follow */
} holder;

/* The events that hold the content, copied out, and one's body where it has it itself. */
static neap_rc holders(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_buf *out,
                       np_buf *body, np_err *e) {
  sqlite3_stmt *st;
  bool row = true;
  neap_rc rc = np_sq_use(sq, SQL_HOLDERS, &st, e, "tb", tenant, np_hash_str(hash));
  if (rc != NEAP_OK) return rc;
  while (rc == NEAP_OK) {
    rc = np_sq_step(sq, st, &row, e);
    if (rc != NEAP_OK || !row) break;
    np_str name = np_sq_blob(st, 1);
    holder h = {sqlite3_column_int64(st, 0), name.n};
    np_buf_add(out, (np_str){(const char *)&h, sizeof h});
    np_buf_add(out, name);
    if (body->n == 0 && sqlite3_column_int(st, 2) == NP_PLACE_INLINE)
      np_buf_add(body, np_sq_blob(st, 3));
  }
  np_sq_done(st);
  return rc == NEAP_OK && (out->failed || body->failed) ? np_fail_mem(e) : rc;
}

/* The content of its own row. One that is damaged is no text that was indexed: all words go. */
static neap_rc body_of(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_buf *body,
                       np_err *e) {
  np_err own = {0};
  neap_rc rc = np_content_get(sq, tenant, hash, body, &own);
  bool lost = rc == NEAP_E_NOTFOUND || rc == NEAP_E_PURGED || rc == NEAP_E_CORRUPT ||
              rc == NEAP_E_LIMIT;
  return rc == NEAP_OK || lost ? NEAP_OK : np_fail(e, rc, "%s", own.text);
}

neap_rc np_words_purge(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_err *e) {
  np_buf list, body;
  bool all = false, there = false;
  neap_rc rc = np_fts_there(sq, &there, e);
  if (rc != NEAP_OK || !there) return rc;
  np_buf_init(&list, sq->st.alloc);
  np_buf_init(&body, sq->st.alloc);
  rc = np_fts_ready(sq, e);
  if (rc == NEAP_OK) rc = holders(sq, tenant, hash, &list, &body, e);
  if (rc == NEAP_OK && list.n && !body.n) rc = body_of(sq, tenant, hash, &body, e);
  for (size_t at = 0; rc == NEAP_OK && at < list.n;) {
    holder h;
    memcpy(&h, list.p + at, sizeof h);
    at += sizeof h;
    np_str name = {list.p + at, h.name};
    at += h.name;
    rc = np_words_purge_event(sq, tenant, name, h.seq, np_buf_str(&body), &all, e);
  }
  if (rc == NEAP_OK && list.n) rc = np_words_purge_end(sq, all, e);
  np_buf_free(&list);
  np_buf_free(&body);
  return rc;
}
