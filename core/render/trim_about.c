/*
** About: the lines that share words with a query, rare words first (BM25), each with a line
** of context. Words are parts of names ("readTimeout" has two), numbers of any length, and
** pairs of CJK characters. All in whole numbers: the same on every machine. next: mark.h
*/
#include "render/trim_plan.h"
#include "text/text.h"

#define TERMS 64
#define SLOTS 256 /* of the table of terms: a quarter full */
#define CONTEXT 1

typedef struct query {
  uint64_t hash[SLOTS];
  unsigned char term[SLOTS]; /* number + 1 */
  size_t n;
  uint32_t lines[TERMS]; /* that hold the term */
  uint32_t count[TERMS]; /* in the line at hand */
  size_t touched[TERMS]; /* the last unit that held it, + 1 */
} query;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

static bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

static uint64_t hash_of(const char *p, const char *end) {
  uint64_t h = 0xCBF29CE484222325ull;
  for (; p < end; p++) {
    unsigned char c = (unsigned char)(is_upper(*p) ? *p | 0x20 : *p);
    h = (h ^ c) * 0x100000001B3ull;
  }
  return h ^ h >> 29;
}

/* The end of the ASCII word at `p`: digits, capitals, or one capital and small letters. */
static const char *ascii_end(const char *p, const char *end) {
  const char *q = p + 1;
  if (is_digit(*p)) {
    while (q < end && is_digit(*q)) q++;
    return q;
  }
  if (is_upper(*p)) {
    while (q < end && is_upper(*q)) q++;
    if (q < end && is_lower(*q) && q - p > 1) return q - 1; /* "HTTPError": HTTP, Error */
  }
  while (q < end && is_lower(*q)) q++;
  return q;
}

/* The end of the word of other letters at `p`, or of a pair of CJK characters; *step says
** where the next word may begin. Returns `p` when it is no letter. */
static const char *other_end(const char *p, const char *end, const char **step) {
  size_t n;
  uint32_t c = np_utf8_decode(p, end, &n);
  const char *q = p + n;
  *step = q;
  if (np_is_cjk(c)) {
    size_t m;
    return q < end && np_is_cjk(np_utf8_decode(q, end, &m)) ? q + m : q;
  }
  if (!np_is_letter(c)) return p;
  while (q < end && (unsigned char)*q >= 0x80) {
    c = np_utf8_decode(q, end, &n);
    if (!np_is_letter(c) || np_is_cjk(c)) break;
    q += n;
  }
  *step = q;
  return q;
}

/* The next word of *p, as its hash; single letters are none. */
static bool next_word(const char **p, const char *end, uint64_t *hash) {
  while (*p < end) {
    const char *from = *p, *to, *step;
    if ((unsigned char)*from >= 0x80) {
      to = other_end(from, end, &step);
    } else if (is_digit(*from) || is_lower(*from) || is_upper(*from)) {
      to = step = ascii_end(from, end);
      if (to - from == 1 && !is_digit(*from)) to = from;
    } else {
      to = from;
      step = from + 1;
    }
    *p = step;
    if (to == from) continue;
    *hash = hash_of(from, to);
    return true;
  }
  return false;
}

/* The slot of `hash`, or the empty one where it belongs. */
static size_t slot_of(const query *q, uint64_t hash) {
  size_t at = hash % SLOTS;
  while (q->term[at] && q->hash[at] != hash) at = (at + 1) % SLOTS;
  return at;
}

static void read_query(query *q, np_str about) {
  const char *p = about.p, *end = about.n ? about.p + about.n : about.p;
  uint64_t hash;
  while (q->n < TERMS && next_word(&p, end, &hash)) {
    size_t at = slot_of(q, hash);
    if (q->term[at]) continue;
    q->hash[at] = hash;
    q->term[at] = (unsigned char)++q->n;
  }
}

/* Counts the terms of unit i. */
static void count_terms(query *q, np_str s, size_t i) {
  const char *p = s.p, *end = s.p + s.n;
  uint64_t hash;
  while (next_word(&p, end, &hash)) {
    size_t at = slot_of(q, hash);
    if (!q->term[at]) continue;
    size_t t = q->term[at] - 1u;
    if (q->touched[t] != i + 1) {
      q->touched[t] = i + 1;
      q->count[t] = 0;
      q->lines[t]++;
    }
    q->count[t]++;
  }
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

/* Twice over the text: how many lines hold each term, then what each line is worth. */
void np_about_score(np_plan *p, bool *found) {
  query q = {.n = 0};
  uint64_t idf[TERMS];
  *found = false;
  read_query(&q, p->about);
  if (q.n == 0 || p->n == 0) return;
  for (size_t i = 0; i < p->n; i++) count_terms(&q, np_plan_unit(p, i), i);
  for (size_t t = 0; t < q.n; t++) {
    idf[t] =
        64 + (q.lines[t] ? log2_256((uint64_t)p->n * 256 / q.lines[t]) - 8 * 256 : 0);
    q.touched[t] = 0;
  }
  size_t mean = p->text.n / p->n + 1;
  for (size_t i = 0; i < p->n; i++) {
    np_str s = np_plan_unit(p, i);
    count_terms(&q, s, i);
    p->units[i].score = unit_score(&q, idf, i, s.n, mean) & 0x7FFFFFFF;
    if (p->units[i].score) *found = true;
  }
}

bool np_about_keep(np_plan *p) {
  if (!np_plan_best(p, 1, CONTEXT)) return false;
  np_plan_fill(p);
  return true;
}
