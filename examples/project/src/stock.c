/* Booking journal entries: first in, first out. */
#include "stock.h"

#include <string.h>

#include "error.h"

#define SKU_DIGITS_END 8 /* "SKU-" and four digits */

void stock_init(struct stock *s) {
  memset(s, 0, sizeof *s);
}

struct item *stock_find(struct stock *s, const char *sku) {
  for (int i = 0; i < s->count; i++) {
    if (strncmp(s->items[i].sku, sku, SKU_DIGITS_END) == 0) return &s->items[i];
  }
  return NULL;
}

long item_quantity(const struct item *it) {
  long n = 0;
  for (int i = 0; i < it->lot_count; i++) n += it->lots[i].left;
  return n;
}

cents item_value(const struct item *it) {
  cents v = 0;
  for (int i = 0; i < it->lot_count; i++) v += it->lots[i].left * it->lots[i].price;
  return v;
}

static struct item *add_item(struct stock *s, const char *sku) {
  if (s->count == MAX_ITEMS) return NULL;
  struct item *it = &s->items[s->count++];
  memset(it, 0, sizeof *it);
  memcpy(it->sku, sku, SKU_BYTES);
  return it;
}

/* A delivery opens a lot. */
static int put(struct item *it, int date, long n, cents price) {
  if (it->lot_count == MAX_LOTS) return E_LOTS;
  it->lots[it->lot_count++] = (struct lot){date, n, price};
  it->last_price = price;
  return 0;
}

/* Takes n pieces from the oldest lots; tells what they had cost. */
static cents take(struct item *it, long n) {
  cents cost = 0;
  for (int i = 0; i < it->lot_count && n > 0; i++) {
    struct lot *lot = &it->lots[i];
    long some = lot->left < n ? lot->left : n;
    lot->left -= some;
    n -= some;
    cost += some * lot->price;
  }
  return cost;
}

/* Counting: what is missing is lost, what is too much came at the last price. */
static int recount(struct item *it, int date, long counted) {
  long there = item_quantity(it);
  if (counted > there) return put(it, date, counted - there, it->last_price);
  it->lost += there - counted;
  it->lost_value += take(it, there - counted);
  return 0;
}

static int apply_verb(struct stock *s, struct item *it, const struct entry *e) {
  int rc = 0;
  if (e->verb == VERB_IN) {
    rc = put(it, e->date, e->quantity, e->price);
    if (!rc) s->bought[e->date / 100 % 100] += e->quantity * e->price;
  } else if (e->verb == VERB_OUT) {
    if (item_quantity(it) < e->quantity) return E_STOCK;
    take(it, e->quantity);
  } else {
    rc = recount(it, e->date, e->quantity);
  }
  return rc;
}

int stock_apply(struct stock *s, const struct entry *e) {
  if (e->date < s->date) return E_ORDER;
  struct item *it = stock_find(s, e->sku);
  if (!it) {
    if (e->verb != VERB_IN) return E_STOCK;
    it = add_item(s, e->sku);
    if (!it) return E_ITEMS;
  }
  int rc = apply_verb(s, it, e);
  if (rc) return rc;
  s->date = e->date;
  s->entries++;
  return 0;
}
