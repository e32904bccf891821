/*
** Queries: any text becomes units; each is looked up by itself, its newest rows first. Units
** that most entries hold are left out, those that no entry holds are tried by their parts.
** next: rank.c
*/
#include "store/query.h"

#include "text/words.h"

/* ---- units ---- */

static np_str slice(const np_query *q, const np_unit *u) {
  return np_str_cut(q->text, u->from, u->to);
}

/* Letters of ASCII alike in both cases; the index has lower case only. */
static bool same_word(np_str a, np_str b) {
  if (a.n != b.n) return false;
  for (size_t i = 0; i < a.n; i++) {
    char x = a.p[i], y = b.p[i];
    if (x >= 'A' && x <= 'Z') x = (char)(x + 32);
    if (y >= 'A' && y <= 'Z') y = (char)(y + 32);
    if (x != y) return false;
  }
  return true;
}

/* A digit, `_`, an inner joint or capital: who writes it means just that. */
static bool is_name(np_str s) {
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    bool capital =
        c >= 'A' && c <= 'Z' && i > 0 && s.p[i - 1] >= 'a' && s.p[i - 1] <= 'z';
    if ((c >= '0' && c <= '9' && s.n > 2) || c == '_' || c == '.' || c == '-' || capital)
      return true;
  }
  return false;
}

static void add_unit(np_query *q, size_t from, size_t to, bool begins) {
  np_unit u = {.from = from, .to = to, .begins = begins};
  u.name = is_name(slice(q, &u));
  for (size_t i = 0; i < q->n; i++) {
    if (same_word(slice(q, &q->unit[i]), slice(q, &u))) return;
  }
  if (q->n < NP_LOOKED) q->unit[q->n++] = u;
}

/* One CJK character asks for all that begins with it: it is the end of a run, or the first of
** a pair. In a longer run its pairs say more. */
static int cut_word(void *ctx, const np_word *w) {
  np_query *q = ctx;
  bool begins = w->cjk && np_utf8_len(w->text.p, w->text.p + w->text.n) == w->text.n;
  add_unit(q, w->from, w->to, begins);
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
                         (int64_t)NP_ROWS + 1);
  if (rc != NEAP_OK) return rc;
  while (rc == NEAP_OK) {
    rc = np_sq_step(sq, st, &row, e);
    if (rc != NEAP_OK || !row) break;
    if (u->rows == NP_ROWS) {
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
  if (w->part) add_unit(p->q, p->base + w->from, p->base + w->to, false);
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

/* Of a long query the rarest, in their order: one by one the most frequent goes. */
static void keep_rarest(np_query *q) {
  while (q->n > NP_UNITS) {
    size_t worst = 0;
    for (size_t i = 1; i < q->n; i++) {
      if (q->unit[i].df >= q->unit[worst].df) worst = i;
    }
    q->n--;
    memmove(&q->unit[worst], &q->unit[worst + 1], (q->n - worst) * sizeof q->unit[0]);
  }
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
  np_words_each(q->text, NP_WORDS_QUERY, cut_word, q);
  neap_rc rc = look_all(sq, q, e);
  sift(q);
  keep_rarest(q);
  return rc == NEAP_OK ? look_both(sq, q, e) : rc;
}
