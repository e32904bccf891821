/*
** About: the lines that share words with a query, rare words first (BM25), or those that a host's
** own scorer likes best, each with lines around it; what room they leave goes to lines with new identifiers, as `dense` has them.
** Words are those of the index of recall (text/words.h): as they are written and by their parts,
** pairs of CJK characters. All in whole numbers: the same on every machine. next: mark.h
*/
#include "base/hash.h"
#include "render/trim_plan.h"
#include "text/words.h"

#define TERMS 250 /* of a query; each fits a byte */
#define SLOTS 1024
#define LEAST                                                                            \
  20 /* a line with less than a 20th of the best one's score is not about it */
#define CONTEXT 3     /* lines around each: what is cited later stands near */
#define CONTEXT_1 500 /* tokens: below, one line */

typedef struct query {
  uint64_t hash[SLOTS];
  unsigned char term[SLOTS]; /* number + 1 */
  size_t n;
  uint32_t lines[TERMS]; /* that hold the term */
  uint32_t count[TERMS]; /* in the line at hand */
  size_t touched[TERMS]; /* the last unit that held it, + 1 */
  size_t unit;           /* at hand */
} query;

/* The slot of `hash`, or the empty one where it belongs. */
static size_t slot_of(const query *q, uint64_t hash) {
  size_t at = hash % SLOTS;
  while (q->term[at] && q->hash[at] != hash) at = (at + 1) % SLOTS;
  return at;
}

static int add_term(void *ctx, const np_word *w) {
  query *q = ctx;
  if (w->text.n < 2) return 0; /* single letters are none */
  uint64_t hash = np_hash64(w->text);
  size_t at = slot_of(q, hash);
  if (q->term[at]) return 0;
  q->hash[at] = hash;
  q->term[at] = (unsigned char)++q->n;
  return q->n == TERMS;
}

static int count_term(void *ctx, const np_word *w) {
  query *q = ctx;
  size_t at = slot_of(q, np_hash64(w->text));
  if (!q->term[at]) return 0;
  size_t t = q->term[at] - 1u;
  if (q->touched[t] != q->unit + 1) {
    q->touched[t] = q->unit + 1;
    q->count[t] = 0;
    q->lines[t]++;
  }
  q->count[t]++;
  return 0;
}

/* Counts the terms of unit i. */
static void count_terms(query *q, np_str s, size_t i) {
  q->unit = i;
  np_words_each(s, NP_WORDS_INDEX, count_term, q);
}

/* log2(x) in 256ths, straight between powers of two. */
static uint64_t log2_256(uint64_t x) {
  unsigned e = 0;
  while (x >> e > 1) e++;
  uint64_t part = e >= 8 ? x >> (e - 8) : x << (8 - e);
  return (uint64_t)e * 256 + (part & 255);
}

/* BM25 with k1 = 1.2 and b = 0.75, in 256ths. `size`: the unit's length over the mean. */
static uint64_t weigh(uint64_t idf, uint64_t count, uint64_t size) {
  uint64_t spread =
      307 * (64 + 192 * size / 256) / 256; /* 307 = 1.2, 64 = 0.25, 192 = 0.75 */
  return idf * (count * 563) / (count * 256 + spread); /* 563 = 2.2 */
}

static unsigned unit_score(const query *q, const uint64_t *idf, size_t i, size_t n,
                           size_t mean) {
  uint64_t sum = 0, size = n / mean < 100 ? (uint64_t)n * 256 / mean : 25600;
  for (size_t t = 0; t < q->n; t++) {
    if (q->touched[t] == i + 1) sum += weigh(idf[t], q->count[t], size);
  }
  return sum < 0x7FFFFFFF ? (unsigned)sum : 0x7FFFFFFF;
}

/* Relevance above, what `dense` thinks of the line below: 15 bits each. */
#define ABOUT (1u << 15)

static bool add_dense(np_plan *p, unsigned best) {
  for (size_t i = 0; i < p->n; i++) {
    np_unit *u = &p->units[i];
    uint64_t about = (uint64_t)u->score * 0x7FFF / best;
    if (u->score < best / LEAST || about == 0) about = 0;
    u->score = (unsigned)(about << 15) & 0x7FFFFFFF;
  }
  return np_dense_add(p);
}

/* Twice over the text: how many lines hold each term, then what each line is worth. */
static bool score_by_words(np_plan *p, unsigned *best) {
  query *q = np_calloc(p->alloc, 1, sizeof *q);
  uint64_t idf[TERMS];
  if (!q) return false;
  np_words_each(p->about, NP_WORDS_INDEX, add_term, q);
  for (size_t i = 0; q->n && i < p->n; i++) count_terms(q, np_plan_unit(p, i), i);
  for (size_t t = 0; t < q->n; t++) {
    idf[t] =
        64 + (q->lines[t] ? log2_256((uint64_t)p->n * 256 / q->lines[t]) - 8 * 256 : 0);
    q->touched[t] = 0;
  }
  size_t mean = p->n ? p->text.n / p->n + 1 : 1;
  for (size_t i = 0; q->n && i < p->n; i++) {
    np_str s = np_plan_unit(p, i);
    count_terms(q, s, i);
    p->units[i].score = unit_score(q, idf, i, s.n, mean) & 0x7FFFFFFF;
    if (p->units[i].score > *best) *best = p->units[i].score;
  }
  np_free(p->alloc, q);
  return true;
}

static void score_by_host(np_plan *p, unsigned *best) {
  for (size_t i = 0; i < p->n; i++) {
    unsigned score = p->scorer->score(p->scorer->ctx, np_plan_unit(p, i)) & 0x7FFFFFFF;
    p->units[i].score = score;
    if (score > *best) *best = score;
  }
}

bool np_about_score(np_plan *p, bool *found) {
  unsigned best = 0;
  if (p->scorer) score_by_host(p, &best);
  else if (!score_by_words(p, &best)) return false;
  *found = best > 0;
  return !*found || add_dense(p, best);
}

bool np_about_keep(np_plan *p) {
  size_t around = p->limit < CONTEXT_1 ? 1 : CONTEXT;
  if (!np_plan_best(p, ABOUT, around) || !np_plan_best(p, 1, 0)) return false;
  np_plan_fill(p);
  return true;
}
