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

static bool two_digits(const char *p) {
  return is_digit(p[0]) && is_digit(p[1]);
}

bool np_term_parts_stamp(np_str text, size_t at) {
  const char *p = text.p + at;
  if (at < 10 || text.n - at < 6 || *p != 'T') return false;
  bool date = two_digits(p - 10) && two_digits(p - 8) && p[-6] == '-' &&
              two_digits(p - 5) && p[-3] == '-' && two_digits(p - 2);
  return date && two_digits(p + 1) && p[3] == ':' && two_digits(p + 4);
}

static bool is_stamp(const np_term_iter *it, const char *p) {
  np_str text = np_str_of(it->begin, (size_t)(it->end - it->begin));
  return np_term_parts_stamp(text, (size_t)(p - it->begin));
}

/* 4711万 is another number than 4711: what multiplies belongs to it. */
static const char *past_factor(const char *p, const char *end) {
  static const char *const all[] = {"\xE4\xB8\x87", "\xE4\xBA\xBF", "\xE5\x8D\x83",
                                    "\xE7\x99\xBE", "\xE8\x90\xAC", "\xE5\x84\x84"};
  for (size_t i = 0; i < NP_COUNT(all); i++) {
    if (starts(p, end, np_str_cstr(all[i]))) return p + 3;
  }
  return p;
}

/* Is a number at its end there? Behind a date stands a time, behind that a Z. */
static bool ends_number(const np_term_iter *it, const char *from, const char *q) {
  if (q == it->end || !is_letter(*q) || is_stamp(it, q)) return true;
  bool zulu = *q == 'Z' && from > it->begin && is_stamp(it, from - 1);
  return zulu && (q + 1 == it->end || !is_letter(q[1]));
}

/* The end of the number that begins at p, or NULL. */
static const char *number_end(const np_term_iter *it, const char *p) {
  const char *end = it->end, *q = p + sign_at(p, end), *from = q;
  int points = 0;
  q = past_digits(q, end);
  if (q == from) return NULL;
  while (end - q > 1 && (*q == '.' || *q == ',' || *q == ':') && is_digit(q[1])) {
    if (*q == ':' && points == 3)
      break; /* of 127.0.0.1:80 the port is a number of its own */
    points += *q == '.';
    q = past_digits(q + 1, end);
  }
  if (q < end && *q == '%') q++;
  else if (starts(q, end, NP_LIT("\xE2\x80\xB0"))) q += 3;
  else q = past_factor(q, end);
  return ends_number(it, from, q) ? q : NULL;
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

/* The end of what is counted in Chinese, or NULL. A single numeral is mostly a word's part, but for
** what multiplies a number before it: "4711 万". */
static const char *counted_end(const np_term_iter *it, const char *p) {
  const char *end = it->end;
  bool spaced = p - it->begin > 1 && p[-1] == ' ' && is_digit(p[-2]);
  if (spaced && past_factor(p, end) > p) return past_numerals(p, end);
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
  bool inside = p > it->begin && is_letter(p[-1]) && !is_stamp(it, p - 1);
  if (is_stamp(it, p)) return NULL;
  if (!inside && (is_digit(*p) || c == '-' || c == 0xE2)) {
    *kind = NP_TERM_NUMBER;
    if ((q = number_end(it, p))) return q;
  }
  *kind = NP_TERM_WORD;
  if ((q = past_letters(p, it->end)) > p) return q;
  if (c < 0xE3) return NULL;
  *kind = NP_TERM_WIDE;
  if ((q = past_wide(p, it->end)) > p) return q;
  *kind = NP_TERM_COUNTED;
  return counted_end(it, p);
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

bool np_term_is_number(np_str text) {
  np_term first;
  np_term_iter it = np_term_scan(text);
  return np_term_next(&it, &first) && first.kind == NP_TERM_NUMBER &&
         np_str_eq(first.text, text);
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
