/*
** Units, their costs, and keeping the best of them. Tokens of a unit are counted once, when
** it is first wanted: most lines of a long text never are. next: trim_ends.c
*/
#include "render/trim_plan.h"
#include "text/text.h"

#define BYTES_PER_TOKEN                                                                  \
  16               /* longer on average is rare; such texts are counted by fitting */
#define WINDOW 256 /* bytes for a token: twice the longest token */
#define WINDOW_MIN 1024
#define PIECE_MIN 16 /* bytes of a piece of a long line */
#define PIECE_MAX 256
#define MISSES 256 /* units in a row that did not fit: what is left is too small */

/* A cut in the first half of a window is the cut of the whole: what follows a few hundred
** bytes later changes no token before it. So a long line costs no more than its limit. */
size_t np_plan_fit(const np_plan *p, np_str s, size_t max, bool tail) {
  size_t window = max < s.n / WINDOW ? max * WINDOW + WINDOW_MIN : s.n;
  if (window < s.n) {
    np_str part = tail ? np_str_cut(s, np_utf8_floor(s, s.n - window), s.n)
                       : np_str_cut(s, 0, np_utf8_floor(s, window));
    size_t n = np_vocab_fit(p->v, part, max, tail);
    if (n < part.n / 2) return n;
  }
  return np_vocab_fit(p->v, s, max, tail);
}

bool np_plan_fits(const np_plan *p, np_str s, size_t max, size_t *tokens) {
  if (s.n / BYTES_PER_TOKEN > max && np_plan_fit(p, s, max, false) < s.n) return false;
  *tokens = np_vocab_count(p->v, s);
  return *tokens <= max;
}

np_str np_plan_unit(const np_plan *p, size_t i) {
  return np_str_cut(p->text, p->units[i].from, p->units[i + 1].from);
}

/* ---- cutting ---- */

bool np_plan_add(np_plan *p, size_t from, size_t tokens) {
  void *u = p->units;
  if (p->n >= UINT32_MAX - 1 ||
      !np_grow(p->alloc, &u, &p->cap, p->n + 1, sizeof *p->units)) {
    return false;
  }
  p->units = u;
  uint32_t known = tokens < UINT32_MAX ? (uint32_t)tokens : UINT32_MAX;
  p->units[p->n++] = (np_unit){.from = from, .tokens = known};
  return true;
}

/* How long the first piece of `s` is: it ends behind a blank or a mark in its last half, so
** that names stay whole, and always between grapheme clusters. */
static size_t piece_length(np_str s, size_t size) {
  if (s.n <= size) return s.n;
  size_t at = size;
  for (size_t q = size; q > size / 2; q--) {
    if (!strchr(" ,;}])>\t", s.p[q - 1]) || s.p[q - 1] == '\0') continue;
    at = q;
    break;
  }
  size_t border = np_grapheme_floor(s, at);
  return border ? border : np_grapheme_ceil(s, at);
}

/* A line of more tokens than the limit becomes pieces, any other one unit. */
static bool cut_line(np_plan *p, size_t from, size_t to) {
  size_t size = p->limit / 4, tokens = 0;
  if (size < PIECE_MIN) size = PIECE_MIN;
  if (size > PIECE_MAX) size = PIECE_MAX;
  np_str line = np_str_cut(p->text, from, to);
  if (line.n <= p->limit || np_plan_fits(p, line, p->limit, &tokens)) {
    return np_plan_add(p, from, tokens);
  }
  for (; from < to; from += piece_length(np_str_cut(p->text, from, to), size)) {
    if (!np_plan_add(p, from, 0)) return false;
  }
  return true;
}

/* The rows of the table, each a unit whatever its length. */
static bool cut_table(np_plan *p, size_t *at) {
  p->head_from = p->n;
  while (*at < p->table.to) {
    if (*at == p->table.body) p->head_to = p->n;
    if (!np_plan_add(p, *at, 0)) return false;
    *at = np_table_row(&p->table, p->text, *at);
  }
  return true;
}

bool np_plan_cut(np_plan *p) {
  size_t at = 0;
  while (at < p->text.n) {
    if (p->table.mark && at == p->table.from && !cut_table(p, &at)) return false;
    if (at >= p->text.n) break;
    const char *nl = memchr(p->text.p + at, '\n', p->text.n - at);
    size_t to = nl ? (size_t)(nl - p->text.p) + 1 : p->text.n;
    if (!cut_line(p, at, to)) return false;
    at = to;
  }
  if (!np_plan_add(p, p->text.n, 0)) return false;
  p->n--;
  return true;
}

void np_plan_reset(np_plan *p) {
  for (size_t i = 0; i < p->n; i++) p->units[i].kept = 0;
  p->used = p->runs = p->count = 0;
}

/* ---- keeping ---- */

static size_t tokens_of(np_plan *p, size_t i) {
  np_unit *u = &p->units[i];
  if (u->tokens == 0) u->tokens = (uint32_t)np_vocab_count(p->v, np_plan_unit(p, i));
  return u->tokens;
}

static size_t total(const np_plan *p, size_t used, size_t runs) {
  return used + (runs > 1 ? (runs - 1) * p->gap_cost : 0);
}

/* The number of runs when unit i is kept too. */
static size_t runs_with(const np_plan *p, size_t i) {
  bool left = i > 0 && p->units[i - 1].kept, right = i + 1 < p->n && p->units[i + 1].kept;
  return p->runs + 1 - left - right;
}

static void keep(np_plan *p, size_t i) {
  p->runs = runs_with(p, i);
  p->used += tokens_of(p, i);
  p->units[i].kept = 1;
  p->count++;
}

bool np_plan_take(np_plan *p, size_t i) {
  if (p->units[i].kept) return true;
  if (p->count >= p->lines) return false;
  if (total(p, p->used + tokens_of(p, i), runs_with(p, i)) > p->budget) return false;
  keep(p, i);
  return true;
}

static bool take_within(np_plan *p, size_t i, size_t goal) {
  return p->units[i].kept || (p->used + tokens_of(p, i) <= goal && np_plan_take(p, i));
}

size_t np_plan_share(size_t n, unsigned percent) {
  return n / 100 * percent + n % 100 * percent / 100;
}

size_t np_plan_share_lines(const np_plan *p, unsigned percent) {
  size_t n = np_plan_share(p->lines, percent);
  return n ? n : 1;
}

/* How far units may be counted up to: no sum overflows. */
static size_t goal_of(size_t now, size_t more) {
  return more < SIZE_MAX - now ? now + more : SIZE_MAX;
}

size_t np_plan_head(np_plan *p, size_t amount, size_t lines) {
  size_t goal = goal_of(p->used, amount), most = goal_of(p->count, lines), i = 0;
  while (i < p->n && (p->units[i].kept || p->count < most) && take_within(p, i, goal))
    i++;
  return i;
}

size_t np_plan_tail(np_plan *p, size_t amount, size_t lines) {
  size_t goal = goal_of(p->used, amount), most = goal_of(p->count, lines), i = p->n;
  while (i > 0 && (p->units[i - 1].kept || p->count < most) &&
         take_within(p, i - 1, goal))
    i--;
  return i;
}

/* ---- the best first: a heap, of which only the top is ever sorted ---- */

static void sift(uint64_t *heap, size_t n, size_t at) {
  uint64_t key = heap[at];
  for (size_t child; (child = 2 * at + 1) < n; at = child) {
    if (child + 1 < n && heap[child + 1] > heap[child]) child++;
    if (heap[child] <= key) break;
    heap[at] = heap[child];
  }
  heap[at] = key;
}

/* Scores above places, earlier places first. */
static uint64_t key_of(const np_plan *p, size_t i) {
  return (uint64_t)p->units[i].score << 32 | (UINT32_MAX - (uint32_t)i);
}

static size_t candidates(const np_plan *p, unsigned least, uint64_t *out) {
  size_t n = 0;
  for (size_t i = 0; i < p->n; i++) {
    if (p->units[i].kept || p->units[i].score < least) continue;
    if (out) out[n] = key_of(p, i);
    n++;
  }
  return n;
}

/* The neighbours of unit i, the nearer ones first, the one above before the one below. */
static void take_around(np_plan *p, size_t i, size_t context) {
  for (size_t d = 1; d <= context; d++) {
    if (i >= d) np_plan_take(p, i - d);
    if (i + d < p->n) np_plan_take(p, i + d);
  }
}

bool np_plan_best(np_plan *p, unsigned least, size_t context) {
  size_t n = candidates(p, least, NULL), bytes, misses = 0;
  if (n == 0) return true;
  if (!np_mul_ok(n, sizeof(uint64_t), &bytes)) return false;
  uint64_t *heap = np_malloc(p->alloc, bytes);
  if (!heap) return false;
  candidates(p, least, heap);
  for (size_t i = n / 2; i > 0; i--) sift(heap, n, i - 1);
  while (n > 0 && misses < MISSES && p->used < p->budget) {
    size_t i = UINT32_MAX - (uint32_t)heap[0];
    heap[0] = heap[--n];
    if (n) sift(heap, n, 0);
    if (np_plan_take(p, i)) {
      take_around(p, i, context);
      misses = 0;
    } else {
      misses++;
    }
  }
  np_free(p->alloc, heap);
  return true;
}

/* Units [from, to) lie between kept ones: keeps them when a gap would cost as much. */
static void close_gap(np_plan *p, size_t from, size_t to) {
  size_t cost = 0;
  for (size_t i = from; i < to && cost <= p->gap_cost; i++) cost += tokens_of(p, i);
  if (cost > p->gap_cost || to - from > p->lines - p->count) return;
  for (size_t i = from; i < to; i++) keep(p, i);
}

void np_plan_fill(np_plan *p) {
  size_t now = total(p, p->used, p->runs), left = now < p->budget ? p->budget - now : 0;
  np_plan_head(p, left / 2, (p->lines - p->count) / 2 + 1);
  np_plan_tail(p, left, SIZE_MAX);
  np_plan_head(p, left, SIZE_MAX);
  size_t last = SIZE_MAX; /* the kept unit before */
  for (size_t i = 0; i < p->n; i++) {
    if (!p->units[i].kept) continue;
    if (last != SIZE_MAX && i - last > 1) close_gap(p, last + 1, i);
    last = i;
  }
}
