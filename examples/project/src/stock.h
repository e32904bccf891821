/* What is on the shelves: articles and their lots, oldest first. */
#ifndef STOCK_H
#define STOCK_H

#include "parse.h"

#define MAX_ITEMS 128
#define MAX_LOTS 24

struct lot {
  int date;
  long left;    /* pieces not yet gone */
  cents price;  /* of one piece */
};

struct item {
  char sku[SKU_BYTES];
  struct lot lots[MAX_LOTS];
  int lot_count;
  long lost;         /* pieces that counting found missing */
  cents lost_value;  /* what they had cost */
  cents last_price;
};

struct stock {
  struct item items[MAX_ITEMS];
  int count;
  int date;          /* of the last entry */
  long entries;
  cents bought[13];  /* by month, 1 to 12 */
};

void stock_init(struct stock *s);
/* Books one entry. 0, or an error's number; then nothing has changed. */
int stock_apply(struct stock *s, const struct entry *e);
/* The article, or NULL. */
struct item *stock_find(struct stock *s, const char *sku);
long item_quantity(const struct item *it);
cents item_value(const struct item *it);

#endif
