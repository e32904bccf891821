/*
** The two published patterns as scanners, without a regex engine.
**
** cl100k  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
**         | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
** o200k   words are [Lu Lt Lm Lo M]*[Ll Lm Lo M]+ or [Lu …]+[Ll …]*, each led by at most
**         one [^\r\n\p{L}\p{N}] and followed by at most one 's 't …; symbols end in
**         [\r\n/]*
**
** Each character has one class, so every set above is a mask of classes. next: split_many.h
*/
#define NP_CLASS_TABLES
#include "token/split_class.h"
#include "token/split_many.h"

#define LETTERS NP_CLASS_LETTERS
#define BOTH NP_CLASS_BOTH
#define SYMBOLS (NP_CLASS_OTHER | NP_CLASS_MARK)
#define WHITE (NP_CLASS_SPACE | NP_CLASS_NEWLINE)

static inline unsigned class_at(const uint8_t *p, const uint8_t *end, size_t *len) {
  *len = 1;
  return *p < 0x80 ? np_class_ascii[*p] : np_class_wide(p, end, len);
}

/* First place from p on whose character is in none of the classes of `mask`. The table is
** 0 for bytes from 0x80 on, so one test ends the fast loop. */
static inline const uint8_t *skip(const uint8_t *p, const uint8_t *end, unsigned mask) {
  for (;;) {
    while (p < end && (np_class_ascii[*p] & mask)) p++;
    if (p == end || *p < 0x80) return p;
    size_t len;
    if (!(np_class_wide(p, end, &len) & mask)) return p;
    p += len;
  }
}

/* End of the contraction at p ('s 't 'm 'd 're 've 'll in any case, and 's with a long s,
** which folds to s), or p. */
static const uint8_t *contraction(const uint8_t *p, const uint8_t *end) {
  size_t room = (size_t)(end - p);
  if (room < 2 || *p != '\'') return p;
  uint8_t a = p[1] | 0x20;
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return p + 2;
  if (room < 3) return p;
  if (p[1] == 0xC5 && p[2] == 0xBF) return p + 3;
  uint8_t b = p[2] | 0x20;
  return ((a == 'r' || a == 'v') && b == 'e') || (a == 'l' && b == 'l') ? p + 3 : p;
}

static const uint8_t *digits(const uint8_t *p, const uint8_t *end) {
  for (int i = 0; i < 3 && p < end; i++) {
    size_t len;
    if (class_at(p, end, &len) != NP_CLASS_NUMBER) break;
    p += len;
  }
  return p;
}

/* White space from p: up to its last line end; without one, all of it when the text ends
** there, else all but the last character, which leads what follows. */
static const uint8_t *white(const uint8_t *p, const uint8_t *end) {
  const uint8_t *q = p, *last = p, *line = NULL;
  while (q < end) {
    size_t len;
    unsigned k = class_at(q, end, &len);
    if (!(k & WHITE)) break;
    last = q;
    q += len;
    if (k == NP_CLASS_NEWLINE) line = q;
  }
  if (line) return line;
  return q == end || last == p ? q : last;
}

/* A word of o200k without lead and contraction, or p when there is none. Letters without
** case and marks belong to both halves: the pattern's first form matches when lower case
** follows the run, or else up to the last such letter in it; its second form takes a run
** of pure upper case. */
static const uint8_t *cased_word(const uint8_t *p, const uint8_t *end) {
  const uint8_t *q = p, *seam = NULL;
  unsigned k = 0;
  while (q < end) {
    size_t len;
    k = class_at(q, end, &len);
    if (!(k & (NP_CLASS_UPPER | BOTH))) break;
    q += len;
    if (k & BOTH) seam = q;
  }
  if (q < end && k == NP_CLASS_LOWER) return skip(q, end, NP_CLASS_LOWER | BOTH);
  return seam ? seam : q;
}

/* A mark at the front may be the lead or the word's first letter; the end is the same. */
static const uint8_t *next_o200k(const uint8_t *p, const uint8_t *end) {
  size_t len;
  unsigned k = class_at(p, end, &len);
  if (k & (LETTERS | NP_CLASS_MARK)) return contraction(cased_word(p, end), end);
  if (k == NP_CLASS_NUMBER) return digits(p, end);
  if (k == NP_CLASS_NEWLINE) return white(p, end);
  const uint8_t *q = p + len;
  const uint8_t *r = cased_word(q, end);
  if (r > q) return contraction(r, end);
  if (k == NP_CLASS_SPACE) {
    if (*p != ' ' || q == end || class_at(q, end, &len) != NP_CLASS_OTHER) {
      return white(p, end);
    }
  }
  r = skip(q, end, SYMBOLS);
  while (r < end && (*r == '\n' || *r == '\r' || *r == '/')) r++;
  return r;
}

static const uint8_t *next_cl100k(const uint8_t *p, const uint8_t *end) {
  size_t len;
  unsigned k = class_at(p, end, &len);
  if (k & LETTERS) return skip(p, end, LETTERS);
  if (k == NP_CLASS_NUMBER) return digits(p, end);
  if (k == NP_CLASS_NEWLINE) return white(p, end);
  const uint8_t *q = contraction(p, end);
  if (q > p) return q;
  q = p + len;
  const uint8_t *r = skip(q, end, LETTERS);
  if (r > q) return r;
  if (k == NP_CLASS_SPACE) {
    if (*p != ' ' || q == end || !(class_at(q, end, &len) & SYMBOLS))
      return white(p, end);
  }
  r = skip(q, end, SYMBOLS);
  while (r < end && (*r == '\n' || *r == '\r')) r++;
  return r;
}

bool np_split_known(uint32_t kind) {
  return kind >= NP_SPLIT_CL100K && kind < NP_SPLIT_END;
}

size_t np_split_next(np_split_kind kind, const uint8_t *p, const uint8_t *end) {
  if (kind >= NP_SPLIT_QWEN2) return np_split_family(kind, p, end);
  const uint8_t *q = kind == NP_SPLIT_O200K ? next_o200k(p, end) : next_cl100k(p, end);
  return (size_t)(q - p);
}

size_t np_split_singly(np_split_kind kind, const uint8_t *p, const uint8_t *end,
                       uint32_t *ends, size_t cap) {
  const uint8_t *q = p;
  size_t n = 0;
  while (n < cap && q < end) {
    q += np_split_next(kind, q, end);
    if ((size_t)(q - p) > NP_SPLIT_REACH) break;
    ends[n++] = (uint32_t)(q - p);
  }
  return n;
}

unsigned np_split_contraction(const uint8_t *p, const uint8_t *end) {
  return (unsigned)(contraction(p, end) - p);
}

unsigned np_split_class(const uint8_t *p, const uint8_t *end, size_t *len) {
  return class_at(p, end, len);
}

/* Only the up to three bytes before `at` can lead a character that reaches over it. */
bool np_split_between(np_str s, size_t at) {
  if (at == 0 || at >= s.n || !np_is_tail((uint8_t)s.p[at])) return true;
  const uint8_t *p = (const uint8_t *)s.p;
  for (size_t back = 1; back <= 3 && back <= at; back++) {
    const uint8_t *q = p + at - back;
    if (np_is_tail(*q)) continue;
    uint32_t cp;
    size_t len = 1;
    return *q < 0x80 || !np_class_decode(q, p + s.n, &cp, &len) || len <= back;
  }
  return true;
}
