/* Settings. An unknown name is an error: a misspelt setting must not be ignored. */
#include "conf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

void conf_defaults(struct conf *c) {
  memset(c, 0, sizeof *c);
  strcpy(c->currency, "EUR");
  c->tax_permille = 190;
  c->rounding = ROUND_HALF_UP;
  c->reorder_point = 10;
  c->reorder_to = 40;
}

static char *trim(char *s) {
  while (isspace((unsigned char)*s)) s++;
  char *end = s + strlen(s);
  while (end > s && isspace((unsigned char)end[-1])) *--end = '\0';
  return s;
}

static int set_long(const char *value, long max, long *out) {
  char *end;
  long v = strtol(value, &end, 10);
  if (end == value || v < 0 || v > max) return E_VALUE;
  *out = v;
  return 0;
}

static int set_rounding(const char *value, enum rounding *out) {
  if (strcmp(value, "half_even") == 0) *out = ROUND_HALF_EVEN;
  else *out = ROUND_HALF_UP;
  return 0;
}

static int set_currency(const char *value, char out[8]) {
  if (!*value) return E_VALUE;
  snprintf(out, 8, "%s", value);
  return 0;
}

static int set(struct conf *c, const char *name, const char *value) {
  long v = 0;
  int rc = 0;
  if (strcmp(name, "currency") == 0) return set_currency(value, c->currency);
  if (strcmp(name, "rounding") == 0) return set_rounding(value, &c->rounding);
  if (strcmp(name, "reorder_point") == 0) return set_long(value, 100000, &c->reorder_point);
  if (strcmp(name, "reorder_to") == 0) return set_long(value, 100000, &c->reorder_to);
  if (strcmp(name, "tax_permille") != 0) return E_SETTING;
  rc = set_long(value, 1000, &v);
  if (!rc) c->tax_permille = (int)v;
  return rc;
}

int conf_line(struct conf *c, char *line) {
  char *text = trim(line);
  if (*text == '\0' || *text == '#') return 0;
  char *equals = strchr(text, '=');
  if (!equals) return E_SETTING;
  *equals = '\0';
  return set(c, trim(text), trim(equals + 1));
}

int conf_read(struct conf *c, const char *path, int *line) {
  char text[256];
  *line = 0;
  FILE *f = fopen(path, "r");
  if (!f) return 0;
  int rc = 0;
  while (!rc && fgets(text, sizeof text, f)) {
    ++*line;
    rc = conf_line(c, text);
  }
  fclose(f);
  return rc;
}
