/* Dates: only what a journal needs. */
#include "date.h"

#include <ctype.h>
#include <string.h>

#include "error.h"

int date_days_in_month(int year, int month) {
  static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  (void)year;
  if (month < 1 || month > 12) return 0;
  return days[month - 1];
}

static int number(const char *s, int digits, int *out) {
  int v = 0;
  for (int i = 0; i < digits; i++) {
    if (!isdigit((unsigned char)s[i])) return E_DATE;
    v = v * 10 + (s[i] - '0');
  }
  *out = v;
  return 0;
}

int date_parse(const char *s, int *out) {
  int y, m, d;
  if (strlen(s) != 10 || s[4] != '-' || s[7] != '-') return E_DATE;
  if (number(s, 4, &y) || number(s + 5, 2, &m) || number(s + 8, 2, &d)) return E_DATE;
  if (d < 1 || d > date_days_in_month(y, m)) return E_DATE;
  *out = y * 10000 + m * 100 + d;
  return 0;
}
