/* Amounts of money: reading, writing, tax. Whole cents only, no floating point. */
#include "money.h"

#include <ctype.h>
#include <stdio.h>

#include "error.h"

/* Digits after the point: one digit means tenths. */
static int parse_fraction(const char *s, cents *out) {
  if (!isdigit((unsigned char)s[0])) return E_AMOUNT;
  *out = (s[0] - '0') * 10;
  if (s[1] == '\0') return 0;
  if (!isdigit((unsigned char)s[1]) || s[2] != '\0') return E_AMOUNT;
  *out += s[1] - '0';
  return 0;
}

int money_parse(const char *s, cents *out) {
  int negative = *s == '-';
  if (negative) s++;
  if (!isdigit((unsigned char)*s)) return E_AMOUNT;
  cents whole = 0, part = 0;
  while (isdigit((unsigned char)*s)) {
    if (whole > 999999999999LL) return E_AMOUNT;
    whole = whole * 10 + (*s++ - '0');
  }
  if (*s == '.') {
    int rc = parse_fraction(s + 1, &part);
    if (rc) return rc;
  } else if (*s != '\0') {
    return E_AMOUNT;
  }
  *out = whole * 100 + part;
  if (negative) *out = -*out;
  return 0;
}

void money_format(cents c, char *out, size_t n) {
  cents whole = c / 100;
  cents part = c % 100;
  if (part < 0) part = -part;
  snprintf(out, n, "%lld.%02lld", whole, part);
}

/* Thousandths of a cent are what is rounded away. */
cents money_tax(cents net, int permille, enum rounding mode) {
  cents product = net * permille;
  int negative = product < 0;
  if (negative) product = -product;
  cents tax = product / 1000, rest = product % 1000;
  if (rest > 500) tax++;
  if (rest == 500 && (mode == ROUND_HALF_UP || tax % 2 == 1)) tax++;
  return negative ? -tax : tax;
}
