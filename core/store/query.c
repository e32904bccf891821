/*
** Queries: any text becomes units; each is looked up by itself, its newest rows first. Units
** that most entries hold are left out, those that no entry holds are tried by their parts.
** next: rank.c
*/
#include "store/query.h"

#include "base/hash.h"
#include "text/words.h"

/* ---- units ---- */

static np_str slice(const np_query *q, const np_unit *u) {
  return np_str_cut(q->text, u->from, u->to);
}

/* A digit, `_`, an inner joint, slash or capital: who writes it means just that. */
static bool is_name(np_str s) {
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    bool digit = c >= '0' && c <= '9' && s.n > 2;
    bool joint = c == '_' || (c >= '-' && c <= '/') || c == '@' || c == '#';
    if (digit || joint || (c >= 'A' && c <= 'Z' && i > 0)) return true;
  }
  return false;
}

/* Once there is no room, a name takes the place of the last word that is none. */
static np_unit *place_for(np_query *q, bool name) {
  if (q->n < NP_LOOKED) return &q->unit[q->n++];
  for (size_t i = name ? q->n : 0; i-- > 0;) {
    if (!q->unit[i].name) return &q->unit[i];
  }
  return NULL;
}

static bool has_unit(const np_query *q, uint64_t hash) {
  for (size_t i = 0; i < q->n; i++) {
    if (q->unit[i].hash == hash) return true;
  }
  return false;
}

/* One CJK character asks for all that begins with it: it is the end of a run, or the first of
** a pair. In a longer run its pairs say more. */
static int cut_word(void *ctx, const np_word *w) {
  np_query *q = ctx;
  np_unit u = {.hash = np_hash64(w->text), .from = w->from, .to = w->to};
  u.begins = w->cjk && np_utf8_len(w->text.p, w->text.p + w->text.n) == w->text.n;
  u.name = is_name(slice(q, &u));
  np_unit *at = has_unit(q, u.hash) ? NULL : place_for(q, u.name);
  if (at) *at = u;
  return 0;
}

/* ---- looking up ---- */

/* FTS5's own language has no word that ours can hold, once it stands in quotes. */
static void add_match(const np_query *q, const np_unit *u, np_buf *out) {
  np_buf_addc(out, '"');
  np_buf_add(out, slice(q, u));
  np_buf_adds(out, u->begins ? "\" *" : "\"");
}

static neap_rc fetch(np_sqlite *sq, np_query *q, np_unit *u, np_str match, np_err *e) {
  sqlite3_stmt *st;
  bool row = true;
  u->at = q->rows.n / sizeof(int64_t);
  u->rows = 0;
  neap_rc rc = np_sq_use(sq, SQL_WORDS_FIND, &st, e, "tiii", match, q->from, q->to,
                         (int64_t)q->most + 1);
  if (rc != NEAP_OK) return rc;
  while (rc == NEAP_OK) {
    rc = np_sq_step(sq, st, &row, e);
    if (rc != NEAP_OK || !row) break;
    if (u->rows == q->most) {
      u->more = true;
      break;
    }
    int64_t id = sqlite3_column_int64(st, 0);
    np_buf_add(&q->rows, (np_str){(const char *)&id, sizeof id});
    u->rows++;
  }
  np_sq_done(st);
  return rc == NEAP_OK && q->rows.failed ? np_fail_mem(e) : rc;
}

int64_t np_query_row(const np_query *q, const np_unit *u, size_t i) {
  int64_t id;
  memcpy(&id, q->rows.p + (u->at + i) * sizeof id, sizeof id);
  return id;
}

/* How many hold it, when only the newest were read: as many among the older ones. */
static neap_rc estimate(np_sqlite *sq, np_query *q, np_unit *u, np_err *e) {
  sqlite3_stmt *st;
  bool row = false;
  int64_t oldest = np_query_row(q, u, u->rows - 1), newer = 0;
  int64_t scope = oldest >> NP_ENTRY_BITS;
  int64_t entry = oldest & (((int64_t)1 << NP_ENTRY_BITS) - 1);
  neap_rc rc = np_sq_use(sq, SQL_SCOPE_BEFORE, &st, e, "iii", scope, entry,
                         q->to >> NP_ENTRY_BITS);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, &row, e);
  if (row) newer = sqlite3_column_int64(st, 0);
  np_sq_done(st);
  if (newer < (int64_t)u->rows) newer = (int64_t)u->rows;
  double df = (double)u->rows * (double)q->docs / (double)newer;
  u->df = df > (double)u->rows ? (int64_t)df : (int64_t)u->rows;
  return rc;
}

static neap_rc look(np_sqlite *sq, np_query *q, np_unit *u, np_err *e) {
  np_buf match;
  np_buf_init(&match, sq->st.alloc);
  add_match(q, u, &match);
  neap_rc rc = match.failed ? np_fail_mem(e) : fetch(sq, q, u, np_buf_str(&match), e);
  np_buf_free(&match);
  u->df = (int64_t)u->rows;
  return rc == NEAP_OK && u->more ? estimate(sq, q, u, e) : rc;
}

/* ---- units that are not there, or everywhere ---- */

typedef struct parter {
  np_query *q;
  size_t base;
} parter;

static int add_part(void *ctx, const np_word *w) {
  parter *p = ctx;
  np_unit u = {.hash = np_hash64(w->text)};
  if (!w->part || p->q->n == NP_LOOKED || has_unit(p->q, u.hash)) return 0;
  u.from = p->base + w->from;
  u.to = p->base + w->to;
  u.name = is_name(slice(p->q, &u));
  p->q->unit[p->q->n++] = u;
  return 0;
}

/* get_user_name stands nowhere, but its parts may: they become units of their own. */
static neap_rc look_all(np_sqlite *sq, np_query *q, np_err *e) {
  neap_rc rc = NEAP_OK;
  for (size_t i = 0; rc == NEAP_OK && i < q->n; i++) {
    np_unit *u = &q->unit[i];
    rc = look(sq, q, u, e);
    if (rc != NEAP_OK || u->df > 0) continue;
    parter p = {q, u->from};
    np_words_each(slice(q, u), NP_WORDS_INDEX, add_part, &p);
  }
  return rc;
}

#define STOP_SHARE 5 /* one in five: more say nothing */
#define STOP_MIN 20  /* entries: in a handful every word is frequent */

/* What nobody holds is no unit; what too many hold is none while there is another. */
static void sift(np_query *q) {
  size_t n = 0, kept = 0;
  for (size_t i = 0; i < q->n; i++) {
    if (q->unit[i].df > 0) q->unit[n++] = q->unit[i];
  }
  q->n = n;
  for (size_t i = 0; i < n; i++) {
    np_unit *u = &q->unit[i];
    u->stop = u->df > STOP_MIN && u->df > q->docs / STOP_SHARE;
    if (!u->stop) kept++;
  }
  if (kept == 0 || kept == n) return;
  n = 0;
  for (size_t i = 0; i < q->n; i++) {
    if (!q->unit[i].stop) q->unit[n++] = q->unit[i];
  }
  q->n = n;
}

/* Of a long query what says most, in its order; the first of those that say as much. */
static void keep_heaviest(np_query *q) {
  bool keep[NP_LOOKED];
  size_t n = 0;
  for (size_t i = 0; i < q->n; i++) q->unit[i].weight = np_unit_weight(q, &q->unit[i]);
  if (q->n <= NP_UNITS) return;
  for (size_t i = 0; i < q->n; i++) {
    double mine = q->unit[i].weight;
    size_t above = 0;
    for (size_t k = 0; k < q->n; k++) {
      double w = q->unit[k].weight;
      above += w > mine || (w == mine && k < i) ? 1 : 0;
    }
    keep[i] = above < NP_UNITS;
  }
  for (size_t i = 0; i < q->n; i++) {
    if (keep[i]) q->unit[n++] = q->unit[i];
  }
  q->n = n;
}

/* Entries with all units may be older than what was read of each. */
static neap_rc look_both(np_sqlite *sq, np_query *q, np_err *e) {
  np_buf match;
  bool more = false;
  for (size_t i = 0; i < q->n; i++) more = more || q->unit[i].more;
  if (!more || q->n < 2) return NEAP_OK;
  np_buf_init(&match, sq->st.alloc);
  for (size_t i = 0; i < q->n; i++) {
    if (i) np_buf_adds(&match, " AND ");
    add_match(q, &q->unit[i], &match);
  }
  neap_rc rc = match.failed ? np_fail_mem(e)
                            : fetch(sq, q, &q->unit[NP_LOOKED], np_buf_str(&match), e);
  np_buf_free(&match);
  return rc;
}

neap_rc np_query_look(np_sqlite *sq, np_query *q, np_err *e) {
  np_words_each(np_str_cut(q->text, 0, NP_QUERY_MAX), NP_WORDS_QUERY, cut_word, q);
  q->most = q->n ? NP_ROWS_ALL / q->n : 0;
  if (q->most > NP_ROWS) q->most = NP_ROWS;
  if (q->most < NP_ROWS_LEAST) q->most = NP_ROWS_LEAST;
  neap_rc rc = look_all(sq, q, e);
  sift(q);
  keep_heaviest(q);
  return rc == NEAP_OK ? look_both(sq, q, e) : rc;
}
