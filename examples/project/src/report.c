/* Reports, sorted by article number. Amounts stand right-aligned in twelve columns. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

static int by_sku(const void *a, const void *b) {
  const struct item *x = a, *y = b;
  return strcmp(x->sku, y->sku);
}

static void sort(struct stock *s) {
  qsort(s->items, (size_t)s->count, sizeof s->items[0], by_sku);
}

static void amount(FILE *out, cents c) {
  char text[32];
  money_format(c, text, sizeof text);
  fprintf(out, " %12s", text);
}

static void total_line(FILE *out, const char *what, cents c, const struct conf *conf) {
  fprintf(out, "%-24s", what);
  amount(out, c);
  fprintf(out, " %s\n", conf->currency);
}

void report_stock(FILE *out, struct stock *s, const struct conf *c) {
  cents total = 0;
  sort(s);
  for (int i = 0; i < s->count; i++) {
    const struct item *it = &s->items[i];
    fprintf(out, "%-10s %6ld pieces", it->sku, item_quantity(it));
    amount(out, item_value(it));
    fprintf(out, " %s\n", c->currency);
    total += item_value(it);
  }
  total_line(out, "total", total, c);
}

void report_lots(FILE *out, const struct item *it) {
  for (int i = 0; i < it->lot_count; i++) {
    const struct lot *lot = &it->lots[i];
    fprintf(out, "%s lot %d of %d: %ld pieces", it->sku, i + 1, lot->date, lot->left);
    amount(out, lot->price);
    fprintf(out, "\n");
  }
}

long report_to_order(const struct item *it, const struct conf *c) {
  long there = item_quantity(it);
  if (there < c->reorder_point) return c->reorder_to - there;
  return 0;
}

void report_reorder(FILE *out, struct stock *s, const struct conf *c) {
  cents total = 0;
  sort(s);
  for (int i = 0; i < s->count; i++) {
    const struct item *it = &s->items[i];
    long n = report_to_order(it, c);
    if (n <= 0) continue;
    fprintf(out, "%-10s has %3ld, order %3ld", it->sku, item_quantity(it), n);
    amount(out, n * it->last_price);
    fprintf(out, " %s\n", c->currency);
    total += n * it->last_price;
  }
  total_line(out, "order value", total, c);
}

void report_losses(FILE *out, struct stock *s, const struct conf *c) {
  cents total = 0;
  sort(s);
  for (int i = 0; i < s->count; i++) {
    const struct item *it = &s->items[i];
    if (it->lost == 0) continue;
    fprintf(out, "%-10s %6ld lost  ", it->sku, it->lost);
    amount(out, -it->lost_value);
    fprintf(out, " %s\n", c->currency);
    total -= it->lost_value;
  }
  total_line(out, "losses", total, c);
}

void report_tax(FILE *out, struct stock *s, const struct conf *c) {
  cents net = 0, tax = 0;
  for (int m = 1; m <= 12; m++) {
    if (s->bought[m] == 0) continue;
    cents t = money_tax(s->bought[m], c->tax_permille, c->rounding);
    fprintf(out, "month %02d  net", m);
    amount(out, s->bought[m]);
    fprintf(out, "  tax");
    amount(out, t);
    fprintf(out, "\n");
    net += s->bought[m];
    tax += t;
  }
  total_line(out, "net", net, c);
  total_line(out, "tax", tax, c);
}
