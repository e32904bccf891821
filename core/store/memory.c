/*
** The store that keeps everything in memory: the smallest one that obeys store.h in full.
** It serves replays, tests and hosts that keep no file. next: sqlite.h
*/
#include <sqlite3.h> /* only its mutexes: the same locks as the other store's */

#include "store/fts.h"
#include "store/memblobs.h"
#include "store/memlog.h"
#include "store/release.h"

typedef struct mem_store {
  np_store st; /* first: np_store * is cast to mem_store * */
  sqlite3_mutex *lock;
  np_memlogs logs;
  np_memblobs blobs;
  uint8_t secret[NP_SHA256];
  np_sqlite *words; /* the index, once something is indexed */
} mem_store;

static mem_store *lock(np_store *st) {
  mem_store *m = (mem_store *)st;
  sqlite3_mutex_enter(m->lock);
  return m;
}

static neap_rc unlock(mem_store *m, neap_rc rc) {
  sqlite3_mutex_leave(m->lock);
  return rc;
}

/* ---- claims ------------------------------------------------------------------------ */

/* Reading takes no fence: 0 is none's. */
static neap_rc claim(mem_store *m, bool readonly, np_claim *out, np_err *e) {
  np_memlog *log = np_memlog_find(&m->logs, out->tenant, out->session);
  if (!log && readonly) return np_fail_no_session(out->session, e);
  if (!log) log = np_memlog_make(&m->logs, out->tenant, out->session);
  if (!log) return np_fail_mem(e);
  if (!readonly) out->fence = ++log->fence;
  out->last_seq = (int64_t)log->n;
  return NEAP_OK;
}

static neap_rc mem_claim(np_store *st, np_str tenant, np_str session, bool readonly,
                         np_claim *out, np_err *e) {
  *out = (np_claim){.tenant = tenant, .session = session};
  neap_rc rc = np_check_names(tenant, session, e);
  if (rc != NEAP_OK) return rc;
  mem_store *m = lock(st);
  return unlock(m, claim(m, readonly, out, e));
}

/* ---- events ------------------------------------------------------------------------ */

/* Gives large bodies their place among the blobs. What was put stays when a later step
** fails: content that no event names is harmless. */
static neap_rc share_bodies(mem_store *m, np_str tenant, np_row *rows, size_t n,
                            np_err *e) {
  for (size_t i = 0; i < n; i++) {
    np_row *r = &rows[i];
    if (!np_is_content(r->place)) continue;
    bool named = r->place == NP_PLACE_APART && r->ev.body.n == 0;
    const np_memblob *b = np_memblob_find(&m->blobs, tenant, r->hash);
    if (named && !b) return np_fail_no_content(r->hash, e);
    if (named && !b->body) return np_fail_purged(r->hash, e);
    if (!named) b = np_memblob_put(&m->blobs, tenant, r->hash, r->ev.body);
    if (!b) return np_fail_mem(e);
    r->ev.body = (np_str){b->body, b->n};
  }
  return NEAP_OK;
}

static neap_rc append(mem_store *m, const np_claim *c, np_row *rows, size_t n,
                      np_err *e) {
  np_memlog *log = np_memlog_find(&m->logs, c->tenant, c->session);
  if (!log) return np_fail_no_session(c->session, e);
  if (log->fence != c->fence) return np_fail_fenced(c->session, 0, e);
  if ((int64_t)log->n != c->last_seq) {
    return np_fail(e, NEAP_E_MISUSE,
                   "session '%.*s': the claim was copied; use one claim",
                   NP_SHOW(c->session));
  }
  neap_rc rc = share_bodies(m, c->tenant, rows, n, e);
  if (rc != NEAP_OK) return rc;
  return np_memlog_add(&m->logs, log, rows, n) ? NEAP_OK : np_fail_mem(e);
}

static neap_rc mem_append(np_store *st, np_claim *c, const np_event *ev, size_t n,
                          neap_durable durable, np_err *e) {
  (void)durable;
  neap_rc rc = np_check_events(c, ev, n, e);
  if (rc != NEAP_OK) return rc;
  np_row few[NP_FEW_ROWS], *rows = np_rows_new(st->alloc, few, ev, n);
  if (!rows) return np_fail_mem(e);
  mem_store *m = lock(st);
  rc = unlock(m, append(m, c, rows, n, e));
  np_rows_free(st->alloc, rows, few);
  if (rc == NEAP_OK) c->last_seq += (int64_t)n;
  return rc;
}

/* What is asked for: the events of a session from `next` on, or only the heads of a kind. */
typedef struct asked {
  np_str tenant, session;
  int64_t next;
  bool heads;
  int32_t kind;
} asked;

static void page_row(np_buf *page, const asked *q, const np_row *r) {
  np_event ev = r->ev;
  if (q->heads && q->kind && ev.kind != q->kind) return;
  if (q->heads) ev.body = (np_str){"", 0};
  bool purged = r->place == NP_PLACE_PURGED;
  if (purged) {
    ev.apart = false;
    memset(ev.hash, 0, sizeof ev.hash);
    ev.gone = np_hash_str(r->hash);
  }
  np_page_event(page, &ev, purged);
}

/* Copies out events from q->next on until the page is full. */
static void fill_page(mem_store *m, asked *q, np_buf *page) {
  const np_memlog *log = np_memlog_find(&m->logs, q->tenant, q->session);
  for (int k = 0; log && k < NP_STORE_PAGE_ROWS && page->n < NP_STORE_PAGE_BYTES; k++) {
    if ((uint64_t)q->next > log->n) return;
    page_row(page, q, &log->rows[q->next++ - 1]);
    if (page->n == 0) k--; /* of another kind */
  }
}

static neap_rc visit(np_store *st, asked *q, np_event_fn fn, void *ctx, np_err *e) {
  if (q->next < 1) q->next = 1;
  neap_rc rc = np_check_names(q->tenant, q->session, e);
  np_buf page;
  np_buf_init(&page, st->alloc);
  while (rc == NEAP_OK) {
    np_buf_clear(&page);
    mem_store *m = lock(st);
    fill_page(m, q, &page);
    unlock(m, NEAP_OK);
    if (page.failed) rc = np_fail_mem(e);
    if (rc != NEAP_OK || page.n == 0) break;
    rc = np_page_visit(&page, fn, ctx);
  }
  np_buf_free(&page);
  return rc;
}

static neap_rc mem_read(np_store *st, np_str tenant, np_str session, int64_t from,
                        np_event_fn fn, void *ctx, np_err *e) {
  asked q = {tenant, session, from, false, 0};
  return visit(st, &q, fn, ctx, e);
}

static neap_rc mem_heads(np_store *st, np_str tenant, np_str session, int32_t kind,
                         int64_t from, np_event_fn fn, void *ctx, np_err *e) {
  asked q = {tenant, session, from, true, kind};
  return visit(st, &q, fn, ctx, e);
}

/* ---- whole sessions ---------------------------------------------------------------- */

/* Rows of one log as the beginning of a new one; in `rows` bodies may be shared already. */
static neap_rc make_log(mem_store *m, np_str tenant, np_str session, np_row *rows,
                        size_t n, np_err *e) {
  if (np_memlog_find(&m->logs, tenant, session)) return np_fail_exists(session, e);
  neap_rc rc = share_bodies(m, tenant, rows, n, e);
  if (rc != NEAP_OK) return rc;
  np_memlog *log = np_memlog_make(&m->logs, tenant, session);
  if (!log) return np_fail_mem(e);
  log->fence = 1;
  if (np_memlog_add(&m->logs, log, rows, n)) return NEAP_OK;
  np_memlog_drop(&m->logs, log);
  return np_fail_mem(e);
}

static neap_rc mem_fork(np_store *st, np_str tenant, np_str from, np_str to, int64_t upto,
                        np_err *e) {
  neap_rc rc = np_check_names(tenant, from, e);
  if (rc == NEAP_OK) rc = np_check_names(tenant, to, e);
  if (rc != NEAP_OK) return rc;
  mem_store *m = lock(st);
  const np_memlog *log = np_memlog_find(&m->logs, tenant, from);
  if (!log) rc = np_fail_no_session(from, e);
  else if (upto < 0 || (uint64_t)upto > log->n)
    rc = np_fail_short(from, (int64_t)log->n, upto, e);
  else rc = make_log(m, tenant, to, log->rows, (size_t)upto, e);
  return unlock(m, rc);
}

static neap_rc mem_restore(np_store *st, np_str tenant, np_str session,
                           const np_event *ev, size_t n, np_err *e) {
  np_row few[NP_FEW_ROWS], *rows;
  np_claim c = {.tenant = tenant, .session = session, .fence = 1};
  neap_rc rc = np_check_names(tenant, session, e);
  if (rc == NEAP_OK) rc = np_check_events(&c, ev, n, e);
  if (rc != NEAP_OK) return rc;
  rows = np_rows_new(st->alloc, few, ev, n);
  if (!rows) return np_fail_mem(e);
  mem_store *m = lock(st);
  rc = unlock(m, make_log(m, tenant, session, rows, n, e));
  np_rows_free(st->alloc, rows, few);
  return rc;
}

/* ---- content ----------------------------------------------------------------------- */

static neap_rc mem_put(np_store *st, np_str tenant, np_str body, uint8_t hash[NP_SHA256],
                       np_err *e) {
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc == NEAP_OK) rc = np_check_body(body, e);
  if (rc != NEAP_OK) return rc;
  np_sha256(body, hash);
  mem_store *m = lock(st);
  bool ok = np_memblob_put(&m->blobs, tenant, hash, body) != NULL;
  return unlock(m, ok ? NEAP_OK : np_fail_mem(e));
}

static neap_rc get(mem_store *m, np_str tenant, const uint8_t *hash, np_buf *out,
                   np_err *e) {
  const np_memblob *b = np_memblob_find(&m->blobs, tenant, hash);
  if (!b) return np_fail_no_content(hash, e);
  if (!b->body) return np_fail_purged(hash, e);
  np_buf_add(out, (np_str){b->body, b->n});
  return out->failed ? np_fail_mem(e) : NEAP_OK;
}

static neap_rc mem_get(np_store *st, np_str tenant, const uint8_t hash[NP_SHA256],
                       np_buf *out, np_err *e) {
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc != NEAP_OK) return rc;
  mem_store *m = lock(st);
  return unlock(m, get(m, tenant, hash, out, e));
}

static neap_rc window(mem_store *m, np_str tenant, const uint8_t *hash, np_window *w,
                      np_buf *out, np_err *e) {
  np_memblob *b = np_memblob_find(&m->blobs, tenant, hash);
  np_str part;
  if (!b) return np_fail_no_content(hash, e);
  if (!b->body) return np_fail_purged(hash, e);
  if (!np_memblob_window(&m->blobs, b, w, &part)) return np_fail_mem(e);
  np_buf_add(out, part);
  return out->failed ? np_fail_mem(e) : NEAP_OK;
}

static neap_rc mem_window(np_store *st, np_str tenant, const uint8_t hash[NP_SHA256],
                          np_window *w, np_buf *out, np_err *e) {
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc != NEAP_OK) return rc;
  mem_store *m = lock(st);
  return unlock(m, window(m, tenant, hash, w, out, e));
}

/* Counts the tenant's events that hold this content; with `remove` they forget it. */
static size_t holders(mem_store *m, np_str tenant, const uint8_t *hash, bool remove) {
  size_t found = 0;
  for (size_t i = np_memlog_first(&m->logs, tenant); i < m->logs.n; i++) {
    np_memlog *log = m->logs.logs[i];
    if (!np_str_eq(log->tenant, tenant)) break;
    for (size_t k = 0; k < log->n; k++) {
      np_row *r = &log->rows[k];
      bool live = r->place == NP_PLACE_INLINE || np_is_content(r->place);
      if (!live || memcmp(r->hash, hash, NP_SHA256) != 0) continue;
      if (remove) np_memlog_purge(&m->logs, r);
      found++;
    }
  }
  return found;
}

/* Takes the words of what is purged out of the index, while the bodies are here. */
static neap_rc forget_words(mem_store *m, np_str tenant, const uint8_t *hash, np_err *e) {
  bool all = false;
  if (!m->words) return NEAP_OK;
  m->words->st.text = m->st.text;
  m->words->st.text_ctx = m->st.text_ctx;
  neap_rc rc = np_sq_begin(m->words, e);
  for (size_t i = np_memlog_first(&m->logs, tenant); rc == NEAP_OK && i < m->logs.n;
       i++) {
    const np_memlog *log = m->logs.logs[i];
    if (!np_str_eq(log->tenant, tenant)) break;
    for (size_t k = 0; rc == NEAP_OK && k < log->n; k++) {
      const np_row *r = &log->rows[k];
      bool live = r->place == NP_PLACE_INLINE || np_is_content(r->place);
      if (!live || memcmp(r->hash, hash, NP_SHA256) != 0) continue;
      rc = np_words_purge_event(m->words, tenant, log->session, r->ev.seq, r->ev.body,
                                &all, e);
    }
  }
  if (rc == NEAP_OK) rc = np_words_purge_end(m->words, all, e);
  return np_sq_end(m->words, rc, e);
}

/* The record is made before anything is removed, so that running out of memory changes
** nothing. */
static neap_rc purge(mem_store *m, np_str tenant, const uint8_t *hash, np_err *e) {
  bool known = np_memblob_find(&m->blobs, tenant, hash) != NULL;
  if (!known && holders(m, tenant, hash, false) == 0) return np_fail_no_content(hash, e);
  neap_rc rc = forget_words(m, tenant, hash, e);
  if (rc != NEAP_OK) return rc;
  if (!np_memblob_purge(&m->blobs, tenant, hash)) return np_fail_mem(e);
  holders(m, tenant, hash, true);
  return NEAP_OK;
}

static neap_rc mem_purge(np_store *st, np_str tenant, const uint8_t hash[NP_SHA256],
                         np_err *e) {
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc != NEAP_OK) return rc;
  mem_store *m = lock(st);
  return unlock(m, purge(m, tenant, hash, e));
}

/* Visits the tenant's events: counts them, or with `go` has those that go forget their bodies. */
static void each_apart(mem_store *m, np_str tenant, np_tally *t, bool go) {
  for (size_t i = np_memlog_first(&m->logs, tenant); i < m->logs.n; i++) {
    np_memlog *log = m->logs.logs[i];
    if (!np_str_eq(log->tenant, tenant)) break;
    for (size_t k = 0; k < log->n; k++) {
      np_row *r = &log->rows[k];
      if (!go) np_tally_add(t, r->hash, r->place);
      else if (r->place == NP_PLACE_APART && np_tally_goes(t, np_tally_find(t, r->hash)))
        np_memlog_purge(&m->logs, r);
    }
  }
}

/* Without memory for a record, it and those behind it stay. */
static neap_rc release(mem_store *m, np_str tenant, np_tally *t, size_t *gone,
                       np_err *e) {
  neap_rc rc = NEAP_OK;
  each_apart(m, tenant, t, false);
  for (size_t i = 0; i < t->n; i++) {
    if (!np_tally_goes(t, i)) continue;
    bool stays = rc != NEAP_OK || (!t->of[i].held &&
                                   !np_memblob_purge(&m->blobs, tenant, t->list[i].hash));
    if (stays) rc = np_fail_mem(e);
    if (stays) t->of[i].apart = 0;
    else ++*gone;
  }
  each_apart(m, tenant, t, true);
  return rc;
}

static neap_rc mem_release(np_store *st, np_str tenant, const np_release *list, size_t n,
                           size_t *gone, np_err *e) {
  np_tally t;
  *gone = 0;
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc == NEAP_OK) rc = np_tally_init(&t, st->alloc, list, n, e);
  if (rc != NEAP_OK) return rc;
  mem_store *m = lock(st);
  rc = unlock(m, release(m, tenant, &t, gone, e));
  np_tally_free(&t, st->alloc);
  return rc;
}

/* ---- words ------------------------------------------------------------------------- */

/* Made when it is first wanted: most sessions in memory are never searched. */
static neap_rc want_words(mem_store *m, np_err *e) {
  return m->words ? NEAP_OK : np_sq_memory_open(m->st.alloc, &m->words, e);
}

static neap_rc mem_indexed(np_store *st, np_str tenant, np_str session, np_indexed *out,
                           np_err *e) {
  *out = (np_indexed){0};
  neap_rc rc = np_check_names(tenant, session, e);
  if (rc != NEAP_OK) return rc;
  mem_store *m = lock(st);
  rc = want_words(m, e);
  if (rc == NEAP_OK) rc = np_words_indexed(m->words, tenant, session, out, e);
  return unlock(m, rc);
}

/* Whose claim it is is checked here: the index in its database knows no fences. */
static neap_rc mem_index(np_store *st, const np_docs *docs, np_err *e) {
  np_docs free = *docs;
  free.fence = 0;
  neap_rc rc = np_check_names(docs->tenant, docs->session, e);
  if (rc != NEAP_OK) return rc;
  mem_store *m = lock(st);
  const np_memlog *log = np_memlog_find(&m->logs, docs->tenant, docs->session);
  if (docs->fence && (!log || log->fence != docs->fence))
    rc = np_fail_fenced(docs->session, 0, e);
  if (rc == NEAP_OK) rc = want_words(m, e);
  if (rc == NEAP_OK) rc = np_words_index(m->words, &free, e);
  return unlock(m, rc);
}

static neap_rc mem_find(np_store *st, const np_find *find, np_hit *out, size_t *n,
                        np_buf *names, np_err *e) {
  *n = 0;
  neap_rc rc =
      np_check_names(find->tenant, find->session.n ? find->session : NP_LIT("-"), e);
  if (rc != NEAP_OK) return rc;
  mem_store *m = lock(st);
  rc = want_words(m, e);
  if (rc == NEAP_OK) rc = np_words_find(m->words, find, out, n, names, e);
  return unlock(m, rc);
}

/* ---- the whole store --------------------------------------------------------------- */

static neap_rc mem_sessions(np_store *st, np_str tenant,
                            neap_rc (*fn)(void *ctx, const np_session_row *row),
                            void *ctx, np_err *e) {
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc != NEAP_OK) return rc;
  np_buf page;
  np_buf_init(&page, st->alloc);
  mem_store *m = lock(st);
  for (size_t i = np_memlog_first(&m->logs, tenant); i < m->logs.n; i++) {
    const np_memlog *log = m->logs.logs[i];
    if (!np_str_eq(log->tenant, tenant)) break;
    np_page_session(&page, log->session, (int64_t)log->n);
  }
  unlock(m, NEAP_OK);
  rc = page.failed ? np_fail_mem(e) : np_page_visit_sessions(&page, fn, ctx);
  np_buf_free(&page);
  return rc;
}

static neap_rc mem_secret(np_store *st, uint8_t out[NP_SHA256], np_err *e) {
  (void)e;
  memcpy(out, ((mem_store *)st)->secret, NP_SHA256);
  return NEAP_OK;
}

/* Memory has no gaps by construction; what can be wrong is an overwritten byte. */
static neap_rc mem_check(np_store *st, void (*say)(void *ctx, np_str line), void *ctx,
                         np_err *e) {
  size_t faults = 0;
  mem_store *m = lock(st);
  for (size_t i = 0; i < m->blobs.cap; i++) {
    const np_memblob *b = m->blobs.slots[i];
    if (!b || !b->body) continue;
    uint8_t hash[NP_SHA256];
    np_sha256((np_str){b->body, b->n}, hash);
    if (memcmp(hash, b->hash, NP_SHA256) == 0) continue;
    faults++;
    say(ctx, NP_LIT("a content in memory differs from its hash"));
  }
  unlock(m, NEAP_OK);
  if (faults == 0) return NEAP_OK;
  return np_fail(e, NEAP_E_CORRUPT, "the store in memory has %zu faults; end the process",
                 faults);
}

static neap_rc mem_flush(np_store *st, np_err *e) {
  (void)st;
  (void)e;
  return NEAP_OK;
}

static neap_rc mem_close(np_store *st, np_err *e) {
  (void)e;
  mem_store *m = (mem_store *)st;
  if (m->words) np_sq_free(m->words);
  np_memlogs_free(&m->logs);
  np_memblobs_free(&m->blobs);
  sqlite3_mutex_free(m->lock);
  np_free(st->alloc, m);
  return NEAP_OK;
}

static const np_store_ops mem_ops = {
    .name = "memory",
    .claim = mem_claim,
    .append = mem_append,
    .read = mem_read,
    .fork = mem_fork,
    .restore = mem_restore,
    .heads = mem_heads,
    .put = mem_put,
    .get = mem_get,
    .window = mem_window,
    .purge = mem_purge,
    .release = mem_release,
    .sessions = mem_sessions,
    .indexed = mem_indexed,
    .index = mem_index,
    .find = mem_find,
    .secret = mem_secret,
    .check = mem_check,
    .flush = mem_flush,
    .close = mem_close,
};

neap_rc np_store_memory_open(const neap_alloc *a, np_store **out, np_err *e) {
  *out = NULL;
  mem_store *m = np_calloc(a, 1, sizeof *m);
  if (!m) return np_fail_mem(e);
  m->st = (np_store){.ops = &mem_ops, .alloc = a};
  np_memlogs_init(&m->logs, a, true);
  np_memblobs_init(&m->blobs, a);
  m->lock = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
  neap_rc rc = m->lock ? np_random(m->secret, sizeof m->secret, e) : np_fail_mem(e);
  if (rc == NEAP_OK) {
    *out = &m->st;
  } else {
    mem_close(&m->st, NULL);
  }
  return rc;
}
