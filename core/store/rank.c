/*
** Which entries come first: BM25's weights of the units they hold, more for what is new, was
** cited, or is a source rather than talk; and what the entries beside it say. How often a
** word stands in an entry, and how long that is, does not count: on recordings fewer sources
** were found with either. Plain arithmetic, the same on every machine. next: find.c
*/
#include "store/query.h"

/* Chosen on one half of the recordings, and held to on the other: tests/bench/recall.lua. */
#define SHARP 0.5       /* how much more a rare unit says than by BM25 */
#define NAMED 8.0       /* a name in a query, against a word; */
#define RARE 4.0        /* again as much, if so few hold it: */
#define RARE_MOST 3     /* entries */
#define HELD_FIRST 0.8  /* of a unit, for the oldest that holds it, against the newest; */
#define HELD_TOO 0.4    /* for one between them: mere mentions stand there */
#define COVERED 0.2     /* of a unit that a better hit holds */
#define SHORT 6         /* units of a short query */
#define ALL_UNITS 1.0   /* for holding all units, against none */
#define ALL_SHORT 64.0  /* the same of a short query: more than all below together */
#define RECENT 0.5      /* for the newest entry, against a very old one */
#define RECENT_HALF 50  /* entries back at which half of that is left */
#define CITED 0.4       /* for each doubling of its citations */
#define WORTH_TASK 0.3  /* of the first user message, against a source: prompts show it */
#define WORTH_CALL 0.1  /* of a call */
#define WORTH_SAID 0.1  /* of what the model says */
#define TO_RESULT 0.1   /* of a call's own score that its result gets */
#define TO_RESULTS 0.05 /* of what is said in a step, that each of its results gets */

/* log2 by halving and the series of the inverse hyperbolic tangent. */
static double log2_of(double x) {
  double whole = 0;
  for (; x >= 2; x /= 2) whole++;
  for (; x < 1; x *= 2) whole--;
  double y = (x - 1) / (x + 1), y2 = y * y, term = y, sum = 0;
  for (int k = 1; k < 40; k += 2) {
    sum += term / k;
    term *= y2;
  }
  return whole + 2 * sum * 1.4426950408889634074;
}

double np_unit_weight(const np_query *q, const np_unit *u) {
  double n = (double)(q->docs > u->df ? q->docs : u->df), df = (double)u->df;
  double idf = log2_of(1 + (n - df + 0.5) / (df + 0.5));
  double name = !u->name ? 1 : u->df <= RARE_MOST ? NAMED * RARE : NAMED;
  return idf * (1 + SHARP * idf) * name;
}

/* ---- the short list ---- */

static bool is_worse(const np_found *a, const np_found *b) {
  if (a->score != b->score) return a->score < b->score;
  return a->id < b->id;
}

/* A heap with the worst on top. */
static void sink(np_short *s, size_t i) {
  for (;;) {
    size_t c = 2 * i + 1;
    if (c >= s->n) return;
    if (c + 1 < s->n && is_worse(&s->at[c + 1], &s->at[c])) c++;
    if (!is_worse(&s->at[c], &s->at[i])) return;
    np_found t = s->at[i];
    s->at[i] = s->at[c];
    s->at[c] = t;
    i = c;
  }
}

static void offer(np_short *s, const np_found *f) {
  if (s->n < NP_SHORTLIST) {
    s->at[s->n++] = *f;
    if (s->n < NP_SHORTLIST) return;
    for (size_t i = s->n / 2; i-- > 0;) sink(s, i);
  } else if (is_worse(&s->at[0], f)) {
    s->at[0] = *f;
    sink(s, 0);
  }
}

/* Takes the entry from the front of every list. */
static void take(const np_query *q, size_t *at, int64_t id, np_found *f) {
  const np_unit *both = &q->unit[NP_LOOKED];
  *f = (np_found){.id = id};
  for (size_t i = 0; i < q->n; i++) {
    const np_unit *u = &q->unit[i];
    if (at[i] >= u->rows || np_query_row(q, u, at[i]) != id) continue;
    bool first = at[i] + 1 == u->rows && !u->more;
    f->has[i] = at[i] == 0 ? NP_HOLDS_LAST : first ? NP_HOLDS_FIRST : NP_HOLDS_TOO;
    at[i]++;
  }
  if (at[NP_LOOKED] >= both->rows || np_query_row(q, both, at[NP_LOOKED]) != id) return;
  at[NP_LOOKED]++;
  for (size_t i = 0; i < q->n; i++) f->has[i] = f->has[i] ? f->has[i] : NP_HOLDS_TOO;
}

static int64_t newest(const np_query *q, const size_t *at) {
  int64_t id = -1;
  for (size_t i = 0; i <= NP_LOOKED; i++) {
    if ((i >= q->n && i < NP_LOOKED) || at[i] >= q->unit[i].rows) continue;
    int64_t one = np_query_row(q, &q->unit[i], at[i]);
    if (one > id) id = one;
  }
  return id;
}

/* The lists are in falling order of id: they are merged. */
void np_query_collect(np_query *q, np_short *out) {
  size_t at[NP_LOOKED + 1] = {0};
  int64_t id;
  out->n = 0;
  while ((id = newest(q, at)) >= 0) {
    np_found f;
    take(q, at, id, &f);
    for (size_t i = 0; i < q->n; i++) {
      f.units += f.has[i] ? 1 : 0;
      f.score += f.has[i] ? q->unit[i].weight : 0;
    }
    f.score *= (double)f.units;
    offer(out, &f);
  }
}

/* ---- all that is known ---- */

static neap_rc load(np_sqlite *sq, np_found *f, bool *there, np_err *e) {
  sqlite3_stmt *st;
  *there = false;
  neap_rc rc = np_sq_use(sq, SQL_DOC, &st, e, "i", f->id);
  if (rc != NEAP_OK) return rc;
  rc = np_sq_step(sq, st, there, e);
  if (*there) {
    f->seq = sqlite3_column_int64(st, 0);
    f->part = sqlite3_column_int64(st, 1);
    f->rank = sqlite3_column_int64(st, 2);
    f->step = sqlite3_column_int64(st, 3);
    f->pair = sqlite3_column_int64(st, 4);
    f->cites = sqlite3_column_int64(st, 5);
    f->words = sqlite3_column_int64(st, 6);
    *there = f->rank != NP_DOC_PURGED;
  }
  np_sq_done(st);
  return rc;
}

static const double HELD[] = {0, 1, HELD_FIRST, HELD_TOO};

/* `covered`: how many better hits hold each unit; NULL: none. */
static double by_words(const np_query *q, const np_found *f, const unsigned *covered) {
  double sum = 0;
  for (size_t i = 0; i < q->n; i++) {
    double share = 1;
    for (unsigned c = covered ? covered[i] : 0; c > 0; c--) share *= COVERED;
    sum += share * HELD[f->has[i]] * q->unit[i].weight;
  }
  return sum;
}

/* What holds all of a few words is before what does not, whatever else it is. */
static double bonus(const np_query *q, const np_found *f) {
  if (q->n > 1 && q->n <= SHORT && f->units == q->n) return ALL_SHORT;
  return 1 + ALL_UNITS * f->units / (double)q->n;
}

/* How far back it is: entries in its own session, and sessions as if of a thousand each. */
static double age_of(const np_query *q, const np_found *f) {
  int64_t last = q->newest;
  int64_t sessions = (last >> NP_ENTRY_BITS) - (f->id >> NP_ENTRY_BITS);
  int64_t mask = ((int64_t)1 << NP_ENTRY_BITS) - 1;
  return sessions > 0 ? (double)sessions * 1000
                      : (double)((last & mask) - (f->id & mask));
}

static double factor_of(const np_query *q, const np_found *f) {
  double age = age_of(q, f);
  double recent = 1 + RECENT * RECENT_HALF / (RECENT_HALF + age);
  double cited = 1 + CITED * log2_of(1 + (double)f->cites);
  double kind = f->rank == NP_DOC_SOURCE ? 1
                : f->rank == NP_DOC_TASK ? (q->own ? WORTH_TASK : 1)
                : f->rank == NP_DOC_CALL ? WORTH_CALL
                                         : WORTH_SAID;
  return recent * cited * kind;
}

#define NEAR_FROM 64 /* of the short list, whose neighbours are looked at */

/* The entry of that id in the list, added when there is room. */
static np_found *have(np_short *s, int64_t id) {
  for (size_t i = 0; i < s->n; i++) {
    if (s->at[i].id == id) return &s->at[i];
  }
  if (s->n == NP_COUNT(s->at)) return NULL;
  s->at[s->n] = (np_found){.id = id, .rank = -1};
  return &s->at[s->n++];
}

/* The words of a call lead to its result, what was said before calls to all of their
** results: they may hold none of those words. */
static neap_rc give_near(np_sqlite *sq, np_short *s, size_t i, np_err *e) {
  sqlite3_stmt *st;
  bool row = true;
  np_found from = s->at[i];
  int64_t mask = ((int64_t)1 << NP_ENTRY_BITS) - 1;
  double call = from.own * TO_RESULT, said = from.own * TO_RESULTS;
  neap_rc rc =
      np_sq_use(sq, SQL_DOC_NEAR, &st, e, "iii", from.id, from.id | mask, from.step);
  if (rc != NEAP_OK) return rc;
  while (rc == NEAP_OK) {
    rc = np_sq_step(sq, st, &row, e);
    if (rc != NEAP_OK || !row) break;
    int64_t id = sqlite3_column_int64(st, 0), pair = sqlite3_column_int64(st, 1);
    bool paired = pair == (from.id & mask);
    if (pair == 0 || (from.rank == NP_DOC_CALL && !paired)) continue;
    np_found *f = have(s, id);
    if (f) f->score += from.rank == NP_DOC_CALL ? call : said;
  }
  np_sq_done(st);
  return rc;
}

static void sort(np_short *s) {
  for (size_t i = s->n / 2; i-- > 0;) sink(s, i);
  size_t n = s->n;
  while (s->n > 1) {
    np_found t = s->at[0];
    s->at[0] = s->at[--s->n];
    s->at[s->n] = t;
    sink(s, 0);
  }
  s->n = n;
}

/* What has no row any more was purged while we looked. */
static neap_rc load_all(np_sqlite *sq, np_short *s, np_err *e) {
  size_t kept = 0;
  bool there = false;
  neap_rc rc = NEAP_OK;
  for (size_t i = 0; rc == NEAP_OK && i < s->n; i++) {
    rc = load(sq, &s->at[i], &there, e);
    if (rc == NEAP_OK && there) s->at[kept++] = s->at[i];
  }
  s->n = kept;
  return rc;
}

#define SPREAD 10 /* hits that are chosen one by one */

/* What a better hit holds already counts less for the next one: a query of many words asks
** for several things. Scores go on falling, since a hit that is passed over only loses. */
static void spread(const np_query *q, np_short *s) {
  unsigned covered[NP_UNITS] = {0};
  size_t n = s->n < NEAR_FROM ? s->n : NEAR_FROM;
  for (size_t k = 0; k < n && k < SPREAD; k++) {
    size_t best = k;
    for (size_t i = k; i < n; i++) {
      np_found *f = &s->at[i];
      double own = by_words(q, f, covered) * bonus(q, f);
      f->score = (own + f->near) * f->factor;
      if (is_worse(&s->at[best], f)) best = i;
    }
    np_found f = s->at[best];
    memmove(&s->at[k + 1], &s->at[k], (best - k) * sizeof f);
    s->at[k] = f;
    for (size_t i = 0; i < q->n; i++) covered[i] += f.has[i] ? 1 : 0;
  }
}

neap_rc np_rank(np_sqlite *sq, const np_query *q, np_short *s, np_err *e) {
  neap_rc rc = load_all(sq, s, e);
  for (size_t i = 0; i < s->n; i++) {
    np_found *f = &s->at[i];
    f->own = by_words(q, f, NULL) * bonus(q, f);
    f->score = f->own;
  }
  sort(s);
  size_t n = s->n < NEAR_FROM ? s->n : NEAR_FROM;
  for (size_t i = 0; rc == NEAP_OK && i < n; i++) {
    if (s->at[i].rank != NP_DOC_SOURCE) rc = give_near(sq, s, i, e);
  }
  if (rc == NEAP_OK) rc = load_all(sq, s, e);
  for (size_t i = 0; i < s->n; i++) {
    s->at[i].factor = factor_of(q, &s->at[i]);
    s->at[i].near = s->at[i].score - s->at[i].own;
    s->at[i].score *= s->at[i].factor;
  }
  sort(s);
  spread(q, s);
  return rc;
}
