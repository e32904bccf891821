/* tally: an inventory kept as a journal. See README.md. */
#include <stdio.h>
#include <string.h>

#include "conf.h"
#include "error.h"
#include "report.h"
#include "stock.h"

static int usage(void) {
  fputs("usage: tally check|stock|reorder|losses|tax JOURNAL\n"
        "       tally lots JOURNAL SKU\n", stderr);
  return 2;
}

/* Books a journal; prints each error with its place. Returns the number of errors. */
static int book(struct stock *s, const char *path) {
  char line[LINE_BYTES];
  int number = 0, errors = 0;
  FILE *f = fopen(path, "r");
  if (!f) {
    fprintf(stderr, "tally: %s: cannot be read\n", path);
    return 1;
  }
  while (fgets(line, sizeof line, f)) {
    struct entry e;
    number++;
    int rc = parse_line(line, &e);
    if (!rc && e.verb != VERB_NONE) rc = stock_apply(s, &e);
    if (!rc) continue;
    printf("%s:%d: E%d %s\n", path, number, rc, error_text(rc));
    errors++;
  }
  fclose(f);
  return errors;
}

static int report(const char *verb, struct stock *s, const struct conf *c, const char *sku) {
  if (strcmp(verb, "stock") == 0) report_stock(stdout, s, c);
  else if (strcmp(verb, "reorder") == 0) report_reorder(stdout, s, c);
  else if (strcmp(verb, "losses") == 0) report_losses(stdout, s, c);
  else if (strcmp(verb, "tax") == 0) report_tax(stdout, s, c);
  else if (strcmp(verb, "lots") == 0 && sku) {
    const struct item *it = stock_find(s, sku);
    if (!it) return 1;
    report_lots(stdout, it);
  } else return usage();
  return 0;
}

int main(int argc, char **argv) {
  static struct stock s;
  struct conf c;
  int line;
  if (argc < 3) return usage();
  conf_defaults(&c);
  int rc = conf_read(&c, "tally.conf", &line);
  if (rc) {
    fprintf(stderr, "tally: tally.conf:%d: E%d %s\n", line, rc, error_text(rc));
    return 2;
  }
  stock_init(&s);
  int errors = book(&s, argv[2]);
  if (strcmp(argv[1], "check") == 0) {
    printf("%s: %ld entries booked, %d errors\n", argv[2], s.entries, errors);
    return errors != 0;
  }
  rc = report(argv[1], &s, &c, argc > 3 ? argv[3] : NULL);
  return rc ? rc : errors != 0;
}
