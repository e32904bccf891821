/* The reports that the program prints. */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "conf.h"
#include "stock.h"

void report_stock(FILE *out, struct stock *s, const struct conf *c);
void report_lots(FILE *out, const struct item *it);
void report_reorder(FILE *out, struct stock *s, const struct conf *c);
void report_losses(FILE *out, struct stock *s, const struct conf *c);
void report_tax(FILE *out, struct stock *s, const struct conf *c);
/* Pieces to order of an article, 0 when there are enough. */
long report_to_order(const struct item *it, const struct conf *c);

#endif
