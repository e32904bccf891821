/* Reading, writing and taxing amounts. */
#include "money.h"

#include "check.h"
#include "error.h"

static void parses(const char *text, int rc, cents want) {
  char what[64];
  cents got = 0;
  snprintf(what, sizeof what, "money_parse(\"%s\") returns %d", text, rc);
  check_long(what, money_parse(text, &got), rc);
  if (rc) return;
  snprintf(what, sizeof what, "money_parse(\"%s\") reads %lld cents", text, want);
  check_long(what, got, want);
}

static void formats(cents c, const char *want) {
  char what[64], got[32];
  snprintf(what, sizeof what, "money_format(%lld) writes \"%s\"", c, want);
  money_format(c, got, sizeof got);
  check_text(what, got, want);
}

static void taxes(cents net, enum rounding mode, cents want) {
  char what[80];
  snprintf(what, sizeof what, "tax of %lld at 190 permille, %s, is %lld", net,
           mode == ROUND_HALF_EVEN ? "half_even" : "half_up", want);
  check_long(what, money_tax(net, 190, mode), want);
}

int main(void) {
  parses("0", 0, 0);
  parses("12", 0, 1200);
  parses("12.5", 0, 1250);
  parses("12.50", 0, 1250);
  parses("-0.50", 0, -50);
  parses("-17.05", 0, -1705);
  parses("999999999999", 0, 99999999999900LL);
  parses("", E_AMOUNT, 0);
  parses("-", E_AMOUNT, 0);
  parses("12.", E_AMOUNT, 0);
  parses("12.505", E_AMOUNT, 0);
  parses("12,50", E_AMOUNT, 0);
  parses("1e3", E_AMOUNT, 0);
  formats(0, "0.00");
  formats(5, "0.05");
  formats(1250, "12.50");
  formats(4821375, "48213.75");
  formats(-1705, "-17.05");
  formats(-50, "-0.50");
  formats(-5, "-0.05");
  formats(-100, "-1.00");
  taxes(100, ROUND_HALF_EVEN, 19);
  taxes(50, ROUND_HALF_EVEN, 10);
  taxes(50, ROUND_HALF_UP, 10);
  taxes(150, ROUND_HALF_EVEN, 28);
  taxes(150, ROUND_HALF_UP, 29);
  taxes(-150, ROUND_HALF_EVEN, -28);
  taxes(1234567, ROUND_HALF_EVEN, 234568);
  return check_end("test_money");
}
