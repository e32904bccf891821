/*
** Letting go of contents: events that have them apart become purged ones, and the bytes go where
** no other event holds them. However many they are, the events are read once. next: held.c
*/
#include "store/release.h"

#include "store/sqlite.h"

/* ---- counting ---------------------------------------------------------------------- */

neap_rc np_tally_init(np_tally *t, const neap_alloc *a, const np_release *list, size_t n,
                      np_err *e) {
  *t = (np_tally){.list = list, .n = n};
  for (size_t i = 1; i < n; i++) {
    if (memcmp(list[i - 1].hash, list[i].hash, NP_SHA256) >= 0)
      return np_fail(e, NEAP_E_MISUSE, "what is to be let go is not in order; sort it");
  }
  t->of = np_calloc(a, n + 1, sizeof *t->of);
  return t->of ? NEAP_OK : np_fail_mem(e);
}

void np_tally_free(np_tally *t, const neap_alloc *a) {
  np_free(a, t->of);
  t->of = NULL;
}

size_t np_tally_find(const np_tally *t, const uint8_t *hash) {
  size_t lo = 0, hi = t->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    int c = memcmp(t->list[mid].hash, hash, NP_SHA256);
    if (c == 0) return mid;
    if (c < 0) lo = mid + 1;
    else hi = mid;
  }
  return SIZE_MAX;
}

size_t np_tally_add(np_tally *t, const uint8_t *hash, int place) {
  size_t at = np_is_content(place) ? np_tally_find(t, hash) : SIZE_MAX;
  if (at == SIZE_MAX) return at;
  if (place == NP_PLACE_APART) t->of[at].apart++;
  else t->of[at].held = true;
  return at;
}

bool np_tally_goes(const np_tally *t, size_t at) {
  if (at == SIZE_MAX) return false;
  int64_t apart = t->of[at].apart, seen = t->list[at].seen;
  return apart > 0 && (seen == 0 || seen == apart);
}

/* ---- in the file ------------------------------------------------------------------- */

/* An event that has one of them apart. */
typedef struct holder {
  int64_t row;
  size_t at;
} holder;

static neap_rc count(np_sqlite *sq, np_str tenant, np_tally *t, np_buf *holders,
                     np_err *e) {
  sqlite3_stmt *st;
  bool row = true;
  neap_rc rc = np_sq_use(sq, SQL_EVENTS_HOLD, &st, e, "t", tenant);
  if (rc != NEAP_OK) return rc;
  while (rc == NEAP_OK) {
    rc = np_sq_step(sq, st, &row, e);
    if (rc != NEAP_OK || !row) break;
    np_str hash = np_sq_blob(st, 1);
    int place = sqlite3_column_int(st, 2);
    if (hash.n != NP_SHA256) continue;
    holder h = {sqlite3_column_int64(st, 0), 0};
    h.at = np_tally_add(t, (const uint8_t *)hash.p, place);
    if (h.at == SIZE_MAX || place != NP_PLACE_APART) continue;
    np_buf_add(holders, (np_str){(const char *)&h, sizeof h});
  }
  np_sq_done(st);
  return rc == NEAP_OK && holders->failed ? np_fail_mem(e) : rc;
}

static neap_rc forget(np_sqlite *sq, int64_t row, np_err *e) {
  sqlite3_stmt *st;
  neap_rc rc = np_sq_use(sq, SQL_EVENTS_RELEASE, &st, e, "i", row);
  return rc == NEAP_OK ? np_sq_run(sq, st, e) : rc;
}

static neap_rc let_go(np_sqlite *sq, np_str tenant, np_tally *t, size_t *gone,
                      np_err *e) {
  np_buf holders;
  np_buf_init(&holders, sq->st.alloc);
  neap_rc rc = count(sq, tenant, t, &holders, e);
  for (size_t at = 0; rc == NEAP_OK && at < holders.n; at += sizeof(holder)) {
    holder h;
    memcpy(&h, holders.p + at, sizeof h);
    if (np_tally_goes(t, h.at)) rc = forget(sq, h.row, e);
  }
  for (size_t i = 0; rc == NEAP_OK && i < t->n; i++) {
    if (!np_tally_goes(t, i)) continue;
    if (!t->of[i].held) rc = np_sq_blob_empty(sq, tenant, t->list[i].hash, e);
    ++*gone;
  }
  np_buf_free(&holders);
  return rc;
}

static neap_rc release(np_sqlite *sq, np_str tenant, np_tally *t, size_t *gone,
                       np_err *e) {
  neap_rc rc = np_sq_here(sq, e);
  if (rc == NEAP_OK) rc = np_sq_writable(sq, e);
  if (rc == NEAP_OK) rc = np_sq_flush_all(sq, e);
  if (rc == NEAP_OK) rc = np_sq_begin(sq, e);
  if (rc == NEAP_OK) rc = np_sq_end(sq, let_go(sq, tenant, t, gone, e), e);
  if (rc != NEAP_OK) *gone = 0;
  return rc;
}

neap_rc np_sq_release(np_store *store, np_str tenant, const np_release *list, size_t n,
                      size_t *gone, np_err *e) {
  np_tally t;
  *gone = 0;
  neap_rc rc = np_check_tenant(tenant, e);
  if (rc == NEAP_OK) rc = np_tally_init(&t, store->alloc, list, n, e);
  if (rc != NEAP_OK || n == 0) {
    if (rc == NEAP_OK) np_tally_free(&t, store->alloc);
    return rc;
  }
  np_sqlite *sq = np_sq_lock_back(store);
  rc = np_sq_unlock(sq, release(sq, tenant, &t, gone, e));
  np_tally_free(&t, store->alloc);
  return rc;
}
