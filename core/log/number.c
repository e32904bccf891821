/*
** JSON numbers compared by their value from their digits: no size is too large and no fraction
** too fine. next: schema.c
*/
#include "log/value.h"

/* 0.digits × 10^exponent; no digits: zero. The digits are those of the text, its point passed
** over; zeros at both ends are cut off. */
typedef struct decimal {
  const char *p, *end; /* first digit that counts, and behind the last one */
  int64_t exponent;
  bool negative;
} decimal;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

#define EXPONENT_MAX 1000000000000 /* beyond it larger is not told apart */

static int64_t read_exponent(const char *p, const char *end) {
  bool negative = p < end && *p == '-';
  int64_t n = 0;
  for (; p < end; p++) {
    if (is_digit(*p) && n < EXPONENT_MAX) n = n * 10 + (*p - '0');
  }
  return negative ? -n : n;
}

static decimal read_decimal(np_str s) {
  decimal d = {.negative = s.n && s.p[0] == '-'};
  const char *p = s.p + d.negative, *end = p;
  const char *point = NULL, *whole = s.p + s.n;
  while (end < whole && (is_digit(*end) || *end == '.')) {
    if (*end == '.') point = end;
    end++;
  }
  if (end < whole) d.exponent = read_exponent(end + 1, whole);
  if (!point) point = end;
  while (p < end && !(is_digit(*p) && *p != '0')) p++;
  while (end > p && !(is_digit(end[-1]) && end[-1] != '0')) end--;
  d.p = p;
  d.end = end;
  d.exponent += p < point ? point - p : point + 1 - p;
  if (p == end) d.exponent = 0, d.negative = false;
  return d;
}

static int compare_sizes(decimal a, decimal b) {
  if (a.p == a.end || b.p == b.end) return (a.p != a.end) - (b.p != b.end);
  if (a.exponent != b.exponent) return a.exponent < b.exponent ? -1 : 1;
  while (a.p < a.end && b.p < b.end) {
    if (*a.p == '.') a.p++;
    if (*b.p == '.') b.p++;
    if (*a.p != *b.p) return *a.p < *b.p ? -1 : 1;
    a.p++;
    b.p++;
  }
  return (a.p < a.end) - (b.p < b.end);
}

int np_number_cmp(np_str a, np_str b) {
  decimal x = read_decimal(a), y = read_decimal(b);
  if (x.negative != y.negative) return x.negative ? -1 : 1;
  int c = compare_sizes(x, y);
  return x.negative ? -c : c;
}
