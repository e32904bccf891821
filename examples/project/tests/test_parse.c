/* Journal lines. */
#include "parse.h"

#include "check.h"
#include "error.h"

static void fails(const char *text, int rc) {
  char what[160], line[512];
  struct entry e;
  snprintf(line, sizeof line, "%s", text);
  snprintf(what, sizeof what, "parse_line(\"%s\") returns %d", text, rc);
  check_long(what, parse_line(line, &e), rc);
}

static void reads(const char *text, enum verb verb, const char *sku, long n, cents price) {
  char what[160], line[512];
  struct entry e;
  snprintf(line, sizeof line, "%s", text);
  snprintf(what, sizeof what, "\"%s\" is read", text);
  check_long(what, parse_line(line, &e), 0);
  check_long("  its verb", e.verb, verb);
  check_text("  its article", e.sku, sku);
  check_long("  its quantity", e.quantity, n);
  check_long("  its price", e.price, price);
}

int main(void) {
  reads("2024-03-01 IN SKU-1042 40 @ 12.50", VERB_IN, "SKU-1042", 40, 1250);
  reads("2024-03-01 IN SKU-10421 7 @ 3", VERB_IN, "SKU-10421", 7, 300);
  reads("2024-03-02 OUT SKU-1042 3 # to Mr Ahlgren", VERB_OUT, "SKU-1042", 3, 0);
  reads("2024-03-03\tCOUNT\tSKU-1042\t0", VERB_COUNT, "SKU-1042", 0, 0);
  reads("  # a comment", VERB_NONE, "", 0, 0);
  reads("", VERB_NONE, "", 0, 0);
  fails("2024-03-01 MOVE SKU-1042 40", E_VERB);
  fails("2024-03-32 IN SKU-1042 40 @ 12.50", E_DATE);
  fails("2024-03-01 IN sku-1042 40 @ 12.50", E_SKU);
  fails("2024-03-01 IN SKU-104 40 @ 12.50", E_SKU);
  fails("2024-03-01 IN SKU-104211 40 @ 12.50", E_SKU);
  fails("2024-03-01 IN SKU-1042 0 @ 12.50", E_QUANTITY);
  fails("2024-03-01 OUT SKU-1042 -3", E_QUANTITY);
  fails("2024-03-01 OUT SKU-1042 3.5", E_QUANTITY);
  fails("2024-03-01 IN SKU-1042 40", E_FIELDS);
  fails("2024-03-01 IN SKU-1042 40 12.50", E_FIELDS);
  fails("2024-03-01 OUT SKU-1042", E_FIELDS);
  fails("2024-03-01 OUT SKU-1042 3 @ 12.50", E_FIELDS);
  fails("2024-03-01 IN SKU-1042 40 @ 12.505", E_AMOUNT);
  check_long("a line may have 511 bytes and its newline", LINE_BYTES, 512);
  return check_end("test_parse");
}
