/*
** Words for searching. A run of letters, digits and `_`, with single `.` or `-` inside, is a
** word; anything else parts words. next: lines.c
*/
#include "text/words.h"

#include <utf8proc.h>

#include "text/text.h"

#define PARTS_MAX 24 /* of one word: a longer chain of names is found by its first ones */

/* Classes of ASCII characters. */
enum { LOWER = 1, UPPER = 2, DIGIT = 4, UNDER = 8, JOINT = 16, SLASH = 32 };
#define WORDLY (LOWER | UPPER | DIGIT | UNDER)

#define L LOWER
#define U UPPER
#define D DIGIT
#define B UNDER
#define J JOINT
#define S SLASH
static const uint8_t classes[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, S, 0, 0, 0, 0, 0, 0, 0, 0, 0, J, J, S, D, D, D, D,
    D, D, D, D, D, D, 0, 0, 0, 0, 0, 0, S, U, U, U, U, U, U, U, U, U, U, U, U, U,
    U, U, U, U, U, U, U, U, U, U, U, U, U, 0, 0, 0, 0, B, 0, L, L, L, L, L, L, L,
    L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, 0, 0,
};
#undef L
#undef U
#undef D
#undef B
#undef J
#undef S

static unsigned class_of(char ch) {
  return classes[(unsigned char)ch];
}

typedef struct walk {
  np_str text;
  np_words_for use;
  np_word_fn fn;
  void *ctx;
  char low[NP_WORD_MAX + 4]; /* the run, lower-cased */
  size_t low_n;
  unsigned seen; /* classes in the run */
  size_t parts;
  np_str part[PARTS_MAX]; /* given already, in `low` */
  const char *joined;     /* the end of the last path */
} walk;

static int give(walk *w, np_str word, size_t from, size_t to, bool part, bool cjk) {
  np_word out = {word, from, to, part, cjk};
  return w->fn(w->ctx, &out);
}

/* ---- runs of letters and digits ---- */

/* Bytes of the letter or mark beyond ASCII at p, and its lower case; 0 when it is none. */
static size_t letter_at(const char *p, const char *end, uint32_t *lower) {
  size_t n;
  uint32_t c = np_utf8_decode(p, end, &n);
  if (c == 0xFFFD || np_is_cjk(c) || !(np_is_letter(c) || np_is_mark(c))) return 0;
  *lower = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
  return n;
}

/* Does a word begin or go on here? */
static bool is_word_at(const char *p, const char *end) {
  uint32_t lower;
  if (p >= end) return false;
  if ((unsigned char)*p < 0x80) return (class_of(*p) & WORDLY) != 0;
  return letter_at(p, end, &lower) != 0;
}

_Static_assert(UPPER << 4 == 'a' - 'A', "lower() shifts the class");

static char lower(char ch) {
  return (char)(ch + (int)((class_of(ch) & UPPER) << 4));
}

/* Adds what fits; a run that is too long is given up by its length. */
static void add_low(walk *w, const char *p, size_t n) {
  if (w->low_n + n <= NP_WORD_MAX) memcpy(w->low + w->low_n, p, n);
  w->low_n += n;
}

/* The letters and digits of ASCII from `p` on, which is most of any text. */
static const char *take_ascii(walk *w, const char *p, const char *end) {
  size_t room = w->low_n < NP_WORD_MAX ? NP_WORD_MAX - w->low_n : 0;
  const char *from = p;
  unsigned seen = 0, c;
  char *low = w->low + w->low_n;
  for (; p < end && ((c = class_of(*p)) & WORDLY) != 0; p++) {
    if ((size_t)(p - from) < room) low[p - from] = lower(*p);
    seen |= c;
  }
  w->low_n += (size_t)(p - from);
  w->seen |= seen;
  return p;
}

/* The letter beyond ASCII at `p`; its end, or `p` when there is none. */
static const char *take_letter(walk *w, const char *p, const char *end) {
  uint32_t low;
  utf8proc_uint8_t bytes[4];
  size_t n = letter_at(p, end, &low);
  if (n == 0) return p;
  utf8proc_ssize_t m = utf8proc_encode_char((utf8proc_int32_t)low, bytes);
  add_low(w, (const char *)bytes, (size_t)m);
  w->seen |= LOWER;
  return p + n;
}

/* The end of the run that begins at `p`; its lower case goes to w->low. */
static const char *take_run(walk *w, const char *p, const char *end) {
  w->low_n = 0;
  w->seen = 0;
  while (p < end) {
    p = take_ascii(w, p, end);
    if (p == end) break;
    const char *from = p;
    if ((unsigned char)*p >= 0x80) {
      p = take_letter(w, p, end);
    } else if (class_of(*p) == JOINT && is_word_at(p + 1, end)) {
      w->seen |= JOINT;
      add_low(w, p++, 1);
    }
    if (p == from) break;
  }
  return p;
}

/* A part that was given already, or of one byte, says nothing. */
static int give_part(walk *w, size_t from, size_t to, size_t base) {
  np_str s = {w->low + from, to - from};
  if (s.n < 2 || s.n == w->low_n || w->parts == PARTS_MAX) return 0;
  for (size_t i = 0; i < w->parts; i++) {
    if (np_str_eq(w->part[i], s)) return 0;
  }
  w->part[w->parts++] = s;
  return give(w, s, base + from, base + to, true, false);
}

/* Does a part begin between the bytes a and b? c is the one behind b: the last capital of
** "HTTPServer" begins a word. */
static bool is_edge(char a, char b, char c) {
  unsigned x = class_of(a), y = class_of(b), z = class_of(c);
  if (x == UNDER || y == UNDER) return true;
  if ((x == DIGIT) != (y == DIGIT)) return true;
  return y == UPPER && (x == LOWER || (x == UPPER && z == LOWER));
}

/* The parts of [from, to), which has no joint. */
static int give_pieces(walk *w, size_t from, size_t to, size_t base) {
  const char *run = w->text.p + base;
  size_t start = from;
  for (size_t i = from + 1; i <= to; i++) {
    bool edge = i == to || is_edge(run[i - 1], run[i], i + 1 < to ? run[i + 1] : ' ');
    if (!edge) continue;
    int rc = run[start] == '_' ? 0 : give_part(w, start, i, base);
    if (rc) return rc;
    start = i;
  }
  return 0;
}

/* Between joints first, so that self.foo_bar is found by foo_bar, then the pieces of each. */
static int give_parts(walk *w, size_t base, size_t n) {
  const char *run = w->text.p + base;
  size_t start = 0;
  w->parts = 0;
  if (w->low_n != n) return 0; /* places of lower and upper case differ: rare letters */
  for (size_t i = 0; i <= n; i++) {
    if (i < n && class_of(run[i]) != JOINT) continue;
    int rc = give_part(w, start, i, base);
    if (!rc) rc = give_pieces(w, start, i, base);
    if (rc) return rc;
    start = i + 1;
  }
  return 0;
}

static bool has_parts(const walk *w) {
  unsigned s = w->seen;
  return (s & (UNDER | JOINT | UPPER)) != 0 || ((s & DIGIT) && s != DIGIT);
}

static int give_run(walk *w, size_t from, size_t to) {
  if (w->low_n > NP_WORD_MAX || w->seen == UNDER) return 0;
  int rc = give(w, (np_str){w->low, w->low_n}, from, to, false, false);
  if (rc || w->use == NP_WORDS_QUERY || !has_parts(w)) return rc;
  return give_parts(w, from, to - from);
}

/* ---- paths ---- */

/* How far the words from `p` on hang together by slashes and the like: to the end of the last
** word, and of ASCII alone beyond the first one. */
static const char *path_end(const char *p, const char *end) {
  const char *last = p;
  unsigned c;
  for (; p < end && (c = class_of(*p)) != 0; p++) {
    if (c & WORDLY) last = p + 1;
  }
  return last;
}

/* src/lib.c as one word, before the words that it has: who gives it means this one, and its
** words may stand everywhere. `to`: the end of its first word, which is in w->low. */
static int give_path(walk *w, const char *p, const char *to, const char *end) {
  char low[NP_WORD_MAX];
  if (p < w->joined || to >= end || class_of(*to) != SLASH) return 0;
  w->joined = path_end(to, end);
  size_t rest = (size_t)(w->joined - to);
  if (rest == 0 || w->low_n + rest > NP_WORD_MAX) return 0;
  memcpy(low, w->low, w->low_n);
  for (size_t i = 0; i < rest; i++) {
    low[w->low_n + i] = lower(to[i]);
  }
  size_t from = (size_t)(p - w->text.p);
  return give(w, (np_str){low, w->low_n + rest}, from, from + (size_t)(w->joined - p),
              false, false);
}

/* ---- CJK ---- */

static size_t cjk_at(const char *p, const char *end) {
  size_t n;
  if (p >= end || (unsigned char)*p < 0xE1) return 0; /* nothing CJK below U+1100 */
  return np_is_cjk(np_utf8_decode(p, end, &n)) ? n : 0;
}

static int give_cjk(walk *w, const char *p, size_t n) {
  size_t from = (size_t)(p - w->text.p);
  return give(w, (np_str){p, n}, from, from + n, false, true);
}

/* Pairs of neighbours; the last character by itself, or no query for it would find it. */
static int give_cjk_run(walk *w, const char **at, const char *end) {
  const char *p = *at;
  size_t n = cjk_at(p, end), m;
  bool alone = true;
  int rc = 0;
  for (; !rc && (m = cjk_at(p + n, end)) != 0; p += n, n = m) {
    rc = give_cjk(w, p, n + m);
    alone = false;
  }
  *at = p + n;
  if (!rc && (alone || w->use != NP_WORDS_QUERY)) rc = give_cjk(w, p, n);
  return rc;
}

int np_words_each(np_str text, np_words_for use, np_word_fn fn, void *ctx) {
  walk w = {.text = text, .use = use, .fn = fn, .ctx = ctx, .joined = text.p};
  if (text.n == 0) return 0;
  const char *p = text.p, *end = text.p + text.n;
  int rc = 0;
  while (!rc && p < end) {
    if (is_word_at(p, end)) {
      const char *to = take_run(&w, p, end);
      if (use != NP_WORDS_PLAIN) rc = give_path(&w, p, to, end);
      if (!rc) rc = give_run(&w, (size_t)(p - text.p), (size_t)(to - text.p));
      p = to;
    } else if ((unsigned char)*p < 0x80) {
      p++;
    } else if (cjk_at(p, end)) {
      rc = give_cjk_run(&w, &p, end);
    } else {
      size_t n = np_utf8_len(p, end);
      p += n ? n : 1;
    }
  }
  return rc;
}
