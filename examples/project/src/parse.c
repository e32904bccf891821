/* Reading a journal line: DATE VERB SKU QUANTITY [@ PRICE] [# NOTE] */
#include "parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "date.h"
#include "error.h"

#define MAX_FIELDS 7

/* Splits at blanks, in place. Returns the number of fields, or -1 for too many. */
static int split(char *line, char *fields[MAX_FIELDS]) {
  int n = 0;
  for (char *p = strtok(line, " \t\r\n"); p; p = strtok(NULL, " \t\r\n")) {
    if (n == MAX_FIELDS) return -1;
    fields[n++] = p;
  }
  return n;
}

static int parse_verb(const char *s, enum verb *out) {
  if (strcmp(s, "IN") == 0) *out = VERB_IN;
  else if (strcmp(s, "OUT") == 0) *out = VERB_OUT;
  else if (strcmp(s, "COUNT") == 0) *out = VERB_COUNT;
  else return E_VERB;
  return 0;
}

/* "SKU-" and four or five digits. */
static int parse_sku(const char *s, char out[SKU_BYTES]) {
  size_t n = strlen(s);
  if (n < 8 || n > 9 || strncmp(s, "SKU-", 4) != 0) return E_SKU;
  for (size_t i = 4; i < n; i++) {
    if (!isdigit((unsigned char)s[i])) return E_SKU;
  }
  memcpy(out, s, n + 1);
  return 0;
}

static int parse_quantity(const char *s, enum verb verb, long *out) {
  char *end;
  long v = strtol(s, &end, 10);
  if (end == s || *end != '\0' || v < 0 || v > 1000000) return E_QUANTITY;
  if (v == 0 && verb != VERB_COUNT) return E_QUANTITY;
  *out = v;
  return 0;
}

int parse_line(char *line, struct entry *out) {
  char *fields[MAX_FIELDS];
  memset(out, 0, sizeof *out);
  char *note = strchr(line, '#');
  if (note) *note = '\0';
  int n = split(line, fields);
  if (n == 0) return 0;
  if (n < 4) return E_FIELDS;

  int rc = date_parse(fields[0], &out->date);
  enum verb verb = VERB_NONE;
  if (!rc) rc = parse_verb(fields[1], &verb);
  if (!rc) rc = parse_sku(fields[2], out->sku);
  if (!rc) rc = parse_quantity(fields[3], verb, &out->quantity);
  if (rc) return rc;
  if (verb == VERB_IN) {
    if (n != 6 || strcmp(fields[4], "@") != 0) return E_FIELDS;
    rc = money_parse(fields[5], &out->price);
    if (rc) return rc;
  } else if (n != 4) {
    return E_FIELDS;
  }
  out->verb = verb;
  return 0;
}
