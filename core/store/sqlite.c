/*
** The SQLite store: claims, appends, reads, the list of sessions, and the table of
** functions. One connection behind one mutex, so that SQLite needs none of its own; callbacks
** are called without it, on copies. next: ../log/
*/
#include "store/content.h"
#include "store/fts.h"

np_sqlite *np_sq_lock(np_store *st) {
  np_sqlite *sq = (np_sqlite *)st;
  sqlite3_mutex_enter(sq->lock);
  return sq;
}

neap_rc np_sq_unlock(np_sqlite *sq, neap_rc rc) {
  sqlite3_mutex_leave(sq->lock);
  return rc;
}

/* ---- claims ------------------------------------------------------------------------ */

static neap_rc last_seq(np_sqlite *sq, np_str tenant, np_str session, int64_t *last,
                        np_err *e) {
  sqlite3_stmt *st;
  bool row = false;
  neap_rc rc = np_sq_use(sq, SQL_LAST, &st, e, "tt", tenant, session);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  *last = row ? sqlite3_column_int64(st, 0) : 0;
  np_sq_done(st);
  if (rc != NEAP_OK || (*last >= 0 && *last < NP_SEQ_MAX)) return rc;
  return np_fail(e, NEAP_E_CORRUPT,
                 "store '%s': the events of session '%.*s' have numbers that cannot be; "
                 "restore a copy of the store",
                 sq->label, NP_SHOW(session));
}

/* RETURNING has done its work at the first row; the second step ends it. */
static neap_rc raise_fence(np_sqlite *sq, np_claim *out, np_err *e) {
  sqlite3_stmt *st;
  bool row = false;
  neap_rc rc = np_sq_use(sq, SQL_CLAIM, &st, e, "ttii", out->tenant, out->session,
                         sq->first_fence, (int64_t)NP_ROW_VERSION);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  if (row) {
    out->fence = sqlite3_column_int64(st, 0);
    rc = np_sq_step(sq, st, &row, e);
  }
  np_sq_done(st);
  return rc;
}

/* An earlier claim in this process may hold events back: they belong to the log. */
static neap_rc take(np_sqlite *sq, np_claim *out, np_err *e) {
  neap_rc rc = np_sq_writable(sq, e);
  if (rc == NEAP_OK) rc = np_sq_write_held(sq, out->tenant, out->session, e);
  return rc == NEAP_OK ? np_sq_take(sq, out, -1, 0, e) : rc;
}

neap_rc np_sq_take(np_sqlite *sq, np_claim *out, int64_t last, size_t lost, np_err *e) {
  neap_rc rc = np_sq_begin(sq, e);
  if (rc != NEAP_OK) return rc;
  rc = raise_fence(sq, out, e);
  if (rc == NEAP_OK) rc = last_seq(sq, out->tenant, out->session, &out->last_seq, e);
  if (rc == NEAP_OK && last >= 0 && out->last_seq != last)
    rc = np_fail_fenced(out->session, lost, e);
  rc = np_sq_end(sq, rc, e);
  if (rc != NEAP_OK) out->fence = 0;
  return rc;
}

neap_rc np_sq_look(np_sqlite *sq, np_claim *out, np_err *e) {
  int64_t fence = 0;
  np_memlog *held = NULL;
  neap_rc rc = np_sq_fence(sq, out->tenant, out->session, &fence, e);
  if (rc == NEAP_OK && fence == 0) rc = np_fail_no_session(out->session, e);
  if (rc == NEAP_OK) rc = last_seq(sq, out->tenant, out->session, &out->last_seq, e);
  if (rc == NEAP_OK) rc = np_sq_held(sq, out->tenant, out->session, &held, e);
  if (rc == NEAP_OK && held) out->last_seq += (int64_t)held->n;
  return rc;
}

static neap_rc sq_claim(np_store *store, np_str tenant, np_str session, bool readonly,
                        np_claim *out, np_err *e) {
  *out = (np_claim){.tenant = tenant, .session = session};
  neap_rc rc = np_check_names(tenant, session, e);
  if (rc != NEAP_OK) return rc;
  np_sqlite *sq = readonly ? np_sq_lock(store) : np_sq_lock_back(store);
  np_err own = {0};
  if (!e) e = &own;
  rc = readonly ? np_sq_unseen(sq, np_sq_look(sq, out, e), e) : take(sq, out, e);
  if (rc != NEAP_OK && !readonly) rc = np_sq_want_claim(sq, out, rc, e);
  return np_sq_unlock(sq, rc);
}

static neap_rc sq_append(np_store *store, np_claim *c, const np_event *ev, size_t n,
                         neap_durable durable, np_err *e) {
  neap_rc rc = np_check_events(c, ev, n, e);
  if (rc != NEAP_OK || n == 0) return rc;
  np_row few[NP_FEW_ROWS], *rows = np_rows_new(store->alloc, few, ev, n);
  if (!rows) return np_fail_mem(e);
  np_sqlite *sq = np_sq_lock_back(store);
  rc = np_sq_unlock(sq, np_sq_append_rows(sq, c, rows, n, durable, e));
  np_rows_free(store->alloc, rows, few);
  if (rc == NEAP_OK) c->last_seq += (int64_t)n;
  return rc;
}

/* ---- reading ----------------------------------------------------------------------- */

typedef struct reader {
  np_str tenant, session;
  int64_t next; /* the seq that must come now; with heads the next that may */
  bool heads;   /* of events of a kind, or of all (0), without their bodies */
  int32_t kind;
  np_buf page;
} reader;

static neap_rc fail_event(const np_sqlite *sq, const reader *r, int64_t seq,
                          const char *what, np_err *e) {
  return np_fail(
      e, NEAP_E_CORRUPT,
      "store '%s': event %lld of session '%.*s' %s; restore a copy of the store",
      sq->label, (long long)seq, NP_SHOW(r->session), what);
}

/* Adds an event whose body is in the blob table, or was purged there. */
static neap_rc page_blob(np_sqlite *sq, reader *r, np_event *ev, const uint8_t *hash,
                         np_err *e) {
  np_content c;
  np_buf all;
  np_buf_init(&all, sq->st.alloc);
  neap_rc rc = np_content_open(sq, r->tenant, hash, &c, e);
  if (rc == NEAP_OK && !c.whole) rc = np_content_all(&c, &all, e);
  if (rc == NEAP_OK) {
    ev->body = c.whole ? c.text : np_buf_str(&all);
    np_page_event(&r->page, ev, false);
  } else if (rc == NEAP_E_CORRUPT) {
    rc = fail_event(sq, r, ev->seq, "has a damaged body (it differs from its hash)", e);
  } else if (rc == NEAP_E_NOTFOUND || rc == NEAP_E_PURGED) {
    rc = fail_event(sq, r, ev->seq, "has lost its body", e);
  }
  np_content_close(&c);
  np_buf_free(&all);
  return rc;
}

/* Judges one row and copies it to the page. Nothing in it is trusted. */
static neap_rc page_row(np_sqlite *sq, reader *r, sqlite3_stmt *st, np_err *e) {
  np_event ev = {.seq = sqlite3_column_int64(st, 0),
                 .kind = sqlite3_column_int(st, 1),
                 .version = sqlite3_column_int(st, 2)};
  int place = sqlite3_column_int(st, 3);
  np_str sum = np_sq_blob(st, 4), hash = np_sq_blob(st, 5);
  uint8_t want[NP_SUM];
  ev.head = np_sq_blob(st, 6);
  np_event_sum(&ev, want);
  if (ev.seq != r->next && !r->heads) return fail_event(sq, r, r->next, "is missing", e);
  if (sum.n != NP_SUM || memcmp(sum.p, want, NP_SUM) != 0) {
    return fail_event(sq, r, ev.seq, "is damaged (its head differs from its sum)", e);
  }
  bool known = place == NP_PLACE_NONE || hash.n == NP_SHA256;
  if (!known || ev.seq < 0 || ev.seq >= NP_SEQ_MAX || place < NP_PLACE_NONE ||
      place > NP_PLACE_APART || place == NP_PLACE_CHUNKS)
    return fail_event(sq, r, ev.seq, "is damaged", e);
  uint8_t key[NP_SHA256] = {0};
  if (place != NP_PLACE_NONE) memcpy(key, hash.p, sizeof key);
  ev.apart = place == NP_PLACE_APART;
  if (ev.apart) memcpy(ev.hash, key, sizeof key);
  if (place == NP_PLACE_PURGED) ev.gone = hash;
  bool bare = place == NP_PLACE_NONE || place == NP_PLACE_PURGED || ev.apart || r->heads;
  if (bare) {
    np_page_event(&r->page, &ev, place == NP_PLACE_PURGED);
    return NEAP_OK;
  }
  if (place == NP_PLACE_BLOB) return page_blob(sq, r, &ev, key, e);
  ev.body = np_sq_blob(st, 7);
  if (!np_hash_is(ev.body, key)) {
    return fail_event(sq, r, ev.seq, "has a damaged body (it differs from its hash)", e);
  }
  np_page_event(&r->page, &ev, false);
  return NEAP_OK;
}

static neap_rc page_file(np_sqlite *sq, reader *r, np_err *e) {
  sqlite3_stmt *st;
  bool row = true;
  neap_rc rc = np_sq_use(sq, r->heads ? SQL_HEADS : SQL_EVENTS, &st, e,
                         r->heads ? "ttiii" : "ttii", r->tenant, r->session, r->next,
                         (int64_t)NP_STORE_PAGE_ROWS, (int64_t)r->kind);
  if (rc != NEAP_OK) return rc;
  while (rc == NEAP_OK && r->page.n < NP_STORE_PAGE_BYTES) {
    rc = np_sq_step(sq, st, &row, e);
    if (rc != NEAP_OK || !row) break;
    int64_t seq = sqlite3_column_int64(st, 0);
    rc = page_row(sq, r, st, e);
    if (rc == NEAP_OK) r->next = (r->heads ? seq : r->next) + 1;
  }
  np_sq_done(st);
  return rc;
}

/* What is held follows the last event of the file. */
static neap_rc page_held(np_sqlite *sq, reader *r, np_err *e) {
  np_memlog *held = NULL;
  neap_rc rc = np_sq_held(sq, r->tenant, r->session, &held, e);
  if (rc != NEAP_OK || !held || held->n == 0) return rc;
  int64_t first = held->rows[0].ev.seq;
  if (r->heads && r->next < first) r->next = first;
  while (r->page.n < NP_STORE_PAGE_BYTES) {
    int64_t i = r->next - first;
    if (i < 0 || i >= (int64_t)held->n) break;
    np_event ev = held->rows[i].ev;
    r->next++;
    if (r->heads && r->kind && ev.kind != r->kind) continue;
    if (r->heads) ev.body = (np_str){"", 0};
    np_page_event(&r->page, &ev, false);
  }
  return rc;
}

/* A page that ends in a failure still holds the good events before it. */
static neap_rc visit(np_store *store, reader *r, np_event_fn fn, void *ctx, np_err *e) {
  neap_rc rc = np_check_names(r->tenant, r->session, e);
  if (r->next < 1) r->next = 1;
  np_buf_init(&r->page, store->alloc);
  while (rc == NEAP_OK) {
    np_buf_clear(&r->page);
    np_sqlite *sq = np_sq_lock(store);
    rc = page_file(sq, r, e);
    if (rc == NEAP_OK && r->page.n == 0) rc = page_held(sq, r, e);
    np_sq_unlock(sq, rc);
    if (r->page.failed) {
      rc = np_fail_mem(e);
      break;
    }
    if (r->page.n == 0) break;
    neap_rc said = np_page_visit(&r->page, fn, ctx);
    if (said != NEAP_OK) rc = said;
  }
  np_buf_free(&r->page);
  return rc;
}

static neap_rc sq_read(np_store *store, np_str tenant, np_str session, int64_t from,
                       np_event_fn fn, void *ctx, np_err *e) {
  reader r = {.tenant = tenant, .session = session, .next = from};
  return visit(store, &r, fn, ctx, e);
}

static neap_rc sq_heads(np_store *store, np_str tenant, np_str session, int32_t kind,
                        int64_t from, np_event_fn fn, void *ctx, np_err *e) {
  reader r = {.tenant = tenant, .session = session, .next = from, .heads = true};
  r.kind = kind;
  return visit(store, &r, fn, ctx, e);
}

/* ---- sessions ---------------------------------------------------------------------- */

static neap_rc list_sessions(np_sqlite *sq, np_str tenant, np_buf *page, np_err *e) {
  sqlite3_stmt *st;
  bool row = true;
  neap_rc rc = np_sq_use(sq, SQL_SESSIONS, &st, e, "t", tenant);
  if (rc != NEAP_OK) return rc;
  for (;;) {
    rc = np_sq_step(sq, st, &row, e);
    if (rc != NEAP_OK || !row) break;
    np_str name = np_sq_blob(st, 0);
    int64_t fence = sqlite3_column_int64(st, 1), events = sqlite3_column_int64(st, 2);
    const np_memlog *held = np_memlog_find(&sq->held, tenant, name);
    if (held && held->fence == fence) events += (int64_t)held->n;
    np_page_session(page, name, events);
  }
  np_sq_done(st);
  if (rc == NEAP_OK && page->failed) rc = np_fail_mem(e);
  return rc;
}

static neap_rc sq_sessions(np_store *store, np_str tenant,
                           neap_rc (*fn)(void *ctx, const np_session_row *row), void *ctx,
                           np_err *e) {
  np_buf page;
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc != NEAP_OK) return rc;
  np_buf_init(&page, store->alloc);
  np_sqlite *sq = np_sq_lock(store);
  rc = np_sq_here(sq, e);
  if (rc == NEAP_OK) rc = list_sessions(sq, tenant, &page, e);
  np_sq_unlock(sq, rc);
  if (rc == NEAP_OK) rc = np_page_visit_sessions(&page, fn, ctx);
  np_buf_free(&page);
  return rc;
}

/* ---- words ------------------------------------------------------------------------- */

static neap_rc sq_indexed(np_store *store, np_str tenant, np_str session, np_indexed *out,
                          np_err *e) {
  *out = (np_indexed){0};
  neap_rc rc = np_check_names(tenant, session, e);
  if (rc != NEAP_OK) return rc;
  np_sqlite *sq = np_sq_lock(store);
  return np_sq_unlock(sq, np_words_indexed(sq, tenant, session, out, e));
}

static neap_rc sq_index(np_store *store, const np_docs *docs, np_err *e) {
  neap_rc rc = np_check_names(docs->tenant, docs->session, e);
  if (rc != NEAP_OK) return rc;
  np_sqlite *sq = np_sq_lock(store);
  return np_sq_unlock(sq, np_words_index(sq, docs, e));
}

static neap_rc sq_find(np_store *store, const np_find *find, np_hit *out, size_t *n,
                       np_buf *names, np_err *e) {
  *n = 0;
  neap_rc rc =
      np_check_names(find->tenant, find->session.n ? find->session : NP_LIT("-"), e);
  if (rc != NEAP_OK) return rc;
  np_sqlite *sq = np_sq_lock(store);
  rc = find->session.n ? NEAP_OK : np_sq_here(sq, e); /* of others' only all are all */
  if (rc == NEAP_OK) rc = np_words_find(sq, find, out, n, names, e);
  return np_sq_unlock(sq, rc);
}

/* ---- the whole store --------------------------------------------------------------- */

static neap_rc secret(np_sqlite *sq, uint8_t out[NP_SHA256], np_err *e) {
  sqlite3_stmt *st;
  bool row = false;
  neap_rc rc = np_sq_use(sq, SQL_SECRET, &st, e, "");
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  np_str value = row ? np_sq_blob(st, 0) : (np_str){"", 0};
  if (rc == NEAP_OK && value.n != NP_SHA256) {
    rc = np_sq_say(sq, NEAP_E_CORRUPT, "its secret is gone; restore a copy of the store",
                   e);
  } else if (rc == NEAP_OK) {
    memcpy(out, value.p, NP_SHA256);
  }
  np_sq_done(st);
  return rc;
}

static neap_rc sq_secret(np_store *store, uint8_t out[NP_SHA256], np_err *e) {
  np_sqlite *sq = np_sq_lock(store);
  return np_sq_unlock(sq, secret(sq, out, e));
}

static neap_rc sq_flush(np_store *store, np_err *e) {
  np_sqlite *sq = np_sq_lock_back(store);
  np_err own = {0};
  neap_rc rc = np_sq_flush_all(sq, e ? e : &own);
  if (rc == NEAP_OK) rc = np_sq_here(sq, e);
  if (rc != NEAP_OK) np_sq_flush_failed(sq, rc, e ? e : &own);
  return np_sq_unlock(sq, rc);
}

/* Emptying the write-ahead log is a courtesy: another process in the store may prevent
** it, and nobody waits for that. */
static neap_rc sq_close(np_store *store, np_err *e) {
  np_sqlite *sq = np_sq_lock_back(store);
  neap_rc rc = np_sq_flush_all(sq, e);
  if (rc == NEAP_OK) rc = np_sq_unwritten(sq, e);
  np_sq_unlock(sq, rc);
  sqlite3_busy_timeout(sq->db, 0);
  if (!sq->readonly) {
    sqlite3_wal_checkpoint_v2(sq->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  }
  np_sq_free(sq);
  return rc;
}

const np_store_ops np_sq_ops = {
    .name = "sqlite",
    .claim = sq_claim,
    .append = sq_append,
    .read = sq_read,
    .fork = np_sq_fork,
    .restore = np_sq_restore,
    .heads = sq_heads,
    .put = np_sq_put,
    .get = np_sq_get,
    .window = np_sq_window,
    .purge = np_sq_purge,
    .remove = np_sq_remove,
    .release = np_sq_release,
    .sessions = sq_sessions,
    .indexed = sq_indexed,
    .index = sq_index,
    .find = sq_find,
    .secret = sq_secret,
    .check = np_sq_check,
    .stats = np_sq_stats,
    .vacuum = np_sq_vacuum,
    .backup = np_sq_backup,
    .waiting = np_sq_waiting,
    .flush = sq_flush,
    .close = sq_close,
};
