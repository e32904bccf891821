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
#include "token/split_many.h"

#include "base/port.h"
#include "token/unicode.h" /* made by gen/unicode.c */

#define LETTERS (NP_CLASS_UPPER | NP_CLASS_LOWER | NP_CLASS_LETTER)
#define BOTH (NP_CLASS_LETTER | NP_CLASS_MARK) /* stand on either side of a word's seam */
#define SYMBOLS (NP_CLASS_OTHER | NP_CLASS_MARK)
#define WHITE (NP_CLASS_SPACE | NP_CLASS_NEWLINE)

static inline bool is_tail(uint8_t c) {
  return (c & 0xC0) == 0x80;
}

/* The code point of the valid multi-byte character at p, with its length, or false: too
** long a form, a surrogate, cut off, or no lead byte at all. */
static inline bool decode(const uint8_t *p, const uint8_t *end, uint32_t *cp,
                          size_t *len) {
  size_t room = (size_t)(end - p);
  uint32_t c = p[0];
  if (c < 0xE0) {
    if (c < 0xC2 || room < 2 || !is_tail(p[1])) return false;
    *cp = (c & 0x1F) << 6 | (p[1] & 0x3Fu);
    *len = 2;
    return true;
  }
  if (room < 3 || !is_tail(p[1]) || !is_tail(p[2])) return false;
  if (c < 0xF0) {
    *cp = (c & 0x0F) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    *len = 3;
    return *cp >= 0x800 && (*cp < 0xD800 || *cp > 0xDFFF);
  }
  if (c > 0xF4 || room < 4 || !is_tail(p[3])) return false;
  *cp = (c & 0x07) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
  *len = 4;
  return *cp >= 0x10000 && *cp <= 0x10FFFF;
}

/* Class of the multi-byte character at p. An invalid byte is a symbol one byte long. */
static inline unsigned wide_class(const uint8_t *p, const uint8_t *end, size_t *len) {
  uint32_t cp;
  if (!decode(p, end, &cp, len)) {
    *len = 1;
    return NP_CLASS_OTHER;
  }
  unsigned block = np_class_index[cp >> NP_CLASS_SHIFT];
  return np_class_block[block][cp & ((1u << NP_CLASS_SHIFT) - 1)];
}

static inline unsigned class_at(const uint8_t *p, const uint8_t *end, size_t *len) {
  *len = 1;
  return *p < 0x80 ? np_class_ascii[*p] : wide_class(p, end, len);
}

/* First place from p on whose character is in none of the classes of `mask`. The table is
** 0 for bytes from 0x80 on, so one test ends the fast loop. */
static inline const uint8_t *skip(const uint8_t *p, const uint8_t *end, unsigned mask) {
  for (;;) {
    while (p < end && (np_class_ascii[*p] & mask)) p++;
    if (p == end || *p < 0x80) return p;
    size_t len;
    if (!(wide_class(p, end, &len) & mask)) return p;
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

/* `bits` when the class is one of `mask`, else none. */
static inline uint64_t when(unsigned cls, unsigned mask, uint64_t bits) {
  return cls & mask ? bits : 0;
}

unsigned np_split_wide(np_split_kind kind, const uint8_t *p, const uint8_t *end,
                       unsigned n, np_block *b) {
  unsigned word = kind == NP_SPLIT_O200K ? LETTERS | NP_CLASS_MARK : LETTERS;
  for (uint64_t high = b->high; high;) {
    unsigned i = np_low_zeros(high);
    size_t len;
    unsigned cls = wide_class(p + i, end, &len);
    if (cls == NP_CLASS_NUMBER || len > n - i) return i;
    uint64_t first = (uint64_t)1 << i, all = (first << len) - first;
    high &= ~all;
    b->letter |= when(cls, word, all);
    b->upper |= when(cls, NP_CLASS_UPPER, all);
    b->both |= when(cls, BOTH, all);
    b->mark |= when(cls, NP_CLASS_MARK, all);
    b->space |= when(cls, NP_CLASS_SPACE, all);
    b->two |= len == 2 ? first : 0;
    b->three |= len == 3 ? first : 0;
    b->four |= len == 4 ? first : 0;
  }
  return n;
}

unsigned np_split_class(const uint8_t *p, const uint8_t *end, size_t *len) {
  return class_at(p, end, len);
}

/* Only the up to three bytes before `at` can lead a character that reaches over it. */
bool np_split_between(np_str s, size_t at) {
  if (at == 0 || at >= s.n || !is_tail((uint8_t)s.p[at])) return true;
  const uint8_t *p = (const uint8_t *)s.p;
  for (size_t back = 1; back <= 3 && back <= at; back++) {
    const uint8_t *q = p + at - back;
    if (is_tail(*q)) continue;
    uint32_t cp;
    size_t len = 1;
    return *q < 0x80 || !decode(q, p + s.n, &cp, &len) || len <= back;
  }
  return true;
}
