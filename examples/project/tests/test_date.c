/* Dates, and above all Februaries. */
#include "date.h"

#include "check.h"
#include "error.h"

static void parses(const char *text, int rc, int want) {
  char what[64];
  int got = 0;
  snprintf(what, sizeof what, "date_parse(\"%s\") returns %d", text, rc);
  check_long(what, date_parse(text, &got), rc);
  if (rc) return;
  snprintf(what, sizeof what, "date_parse(\"%s\") reads %d", text, want);
  check_long(what, got, want);
}

static void days(int year, int month, int want) {
  char what[64];
  snprintf(what, sizeof what, "%04d-%02d has %d days", year, month, want);
  check_long(what, date_days_in_month(year, month), want);
}

int main(void) {
  parses("2024-01-01", 0, 20240101);
  parses("2024-12-31", 0, 20241231);
  parses("2024-02-29", 0, 20240229);
  parses("2023-02-28", 0, 20230228);
  parses("2023-02-29", E_DATE, 0);
  parses("2024-04-31", E_DATE, 0);
  parses("2024-13-01", E_DATE, 0);
  parses("2024-00-10", E_DATE, 0);
  parses("2024-1-1", E_DATE, 0);
  parses("2024/01/01", E_DATE, 0);
  parses("", E_DATE, 0);
  days(2023, 2, 28);
  days(2024, 2, 29);
  days(1900, 2, 28);
  days(2000, 2, 29);
  days(2100, 2, 28);
  days(2024, 4, 30);
  days(2024, 12, 31);
  days(2024, 13, 0);
  return check_end("test_date");
}
