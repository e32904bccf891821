/*
** Words and numbers as they stand. A number is taken whole, with its sign, separators and percent
** sign, so that 1,000 and 500.00 and 12:30 are not 1, 500 and 12; beside a letter it is part of a
** word. What is no name is found here, what is one in ident.c. next: grounds.c
*/
#include "cite/grounds.h"

#include "text/text.h"

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
  return is_digit(c) || c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool starts(const char *p, const char *end, np_str with) {
  return (size_t)(end - p) >= with.n && memcmp(p, with.p, with.n) == 0;
}

/* "-" or U+2212 before a digit. */
static size_t sign_at(const char *p, const char *end) {
  size_t n = *p == '-' ? 1 : starts(p, end, NP_LIT("\xE2\x88\x92")) ? 3 : 0;
  return n && p + n < end && is_digit(p[n]) ? n : 0;
}

static const char *past_digits(const char *p, const char *end) {
  while (p < end && is_digit(*p)) p++;
  return p;
}

/* The end of the number that begins at p, or NULL. */
static const char *number_end(const char *p, const char *end) {
  const char *q = p + sign_at(p, end), *from = q;
  q = past_digits(q, end);
  if (q == from) return NULL;
  while (end - q > 1 && (*q == '.' || *q == ',' || *q == ':') && is_digit(q[1]))
    q = past_digits(q + 1, end);
  if (q < end && *q == '%') q++;
  else if (starts(q, end, NP_LIT("\xE2\x80\xB0"))) q += 3;
  return q < end && is_letter(*q) ? NULL : q;
}

static const char *past_letters(const char *p, const char *end) {
  while (p < end && is_letter(*p)) p++;
  return p;
}

static const char *past_wide(const char *p, const char *end) {
  while (end - p >= 3 && p[0] == '\xEF' && p[1] == '\xBC' && p[2] >= '\x90' &&
         p[2] <= '\x99')
    p += 3;
  return p;
}

/* 零 to 九 in both ways of writing, and ten to a hundred million. */
static bool is_numeral(uint32_t c) {
  static const uint16_t all[] = {0x3007, 0x4E00, 0x4E03, 0x4E07, 0x4E09, 0x4E24, 0x4E5D,
                                 0x4E8C, 0x4E94, 0x4EBF, 0x4EDF, 0x4F0D, 0x4F70, 0x5104,
                                 0x516B, 0x516D, 0x5341, 0x5343, 0x53C1, 0x56DB, 0x58F9,
                                 0x5EFF, 0x5345, 0x62FE, 0x634C, 0x67D2, 0x7396, 0x767E,
                                 0x8086, 0x8D30, 0x842C, 0x9646, 0x96F6};
  for (size_t i = 0; i < NP_COUNT(all); i++) {
    if (all[i] == c) return true;
  }
  return false;
}

/* Numerals are three bytes each. */
static const char *past_numerals(const char *p, const char *end) {
  while (p < end) {
    size_t n;
    if ((unsigned char)*p < 0x80 || !is_numeral(np_utf8_decode(p, end, &n))) break;
    p += n;
  }
  return p;
}

/* The end of what is counted in Chinese, or NULL. A single numeral is mostly a word's part. */
static const char *counted_end(const char *p, const char *end) {
  np_str percent = NP_LIT("\xE7\x99\xBE\xE5\x88\x86\xE4\xB9\x8B");
  if (starts(p, end, percent)) {
    const char *q = past_numerals(p + percent.n, end);
    if (q > p + percent.n) return q;
  }
  const char *q = past_numerals(p, end);
  return q - p >= 6 ? q : NULL;
}

np_term_iter np_term_scan(np_str text) {
  np_term_iter it = {text.p, text.p, text.p};
  if (text.n) it.end = text.p + text.n;
  return it;
}

/* What begins at p; its end, or NULL. */
static const char *take(const np_term_iter *it, const char *p, np_term_kind *kind) {
  const char *q;
  unsigned char c = (unsigned char)*p;
  bool inside = p > it->begin && is_letter(p[-1]);
  if (!inside && (is_digit(*p) || c == '-' || c == 0xE2)) {
    *kind = NP_TERM_NUMBER;
    if ((q = number_end(p, it->end))) return q;
  }
  *kind = NP_TERM_WORD;
  if ((q = past_letters(p, it->end)) > p) return q;
  if (c < 0xE3) return NULL;
  *kind = NP_TERM_WIDE;
  if ((q = past_wide(p, it->end)) > p) return q;
  *kind = NP_TERM_COUNTED;
  return counted_end(p, it->end);
}

bool np_term_next(np_term_iter *it, np_term *out) {
  while (it->p < it->end) {
    const char *from = it->p, *to = take(it, from, &out->kind);
    it->p = to ? to : from + 1;
    if (!to) continue;
    out->text = np_str_of(from, (size_t)(to - from));
    return true;
  }
  return false;
}

bool np_term_is_value(np_term t) {
  if (t.kind != NP_TERM_WORD) return true;
  bool small = false;
  for (size_t i = 0; i < t.text.n; i++) {
    char c = t.text.p[i];
    if (is_digit(c) || c == '_' || (small && c >= 'A' && c <= 'Z')) return true;
    small = c >= 'a' && c <= 'z';
  }
  return false;
}
