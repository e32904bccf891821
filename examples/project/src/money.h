/* Amounts of money in cents. */
#ifndef MONEY_H
#define MONEY_H

#include <stddef.h>

typedef long long cents;

enum rounding { ROUND_HALF_UP, ROUND_HALF_EVEN };

/* Reads "12", "12.5", "12.50" or "-0.50". 0, or E_AMOUNT. */
int money_parse(const char *s, cents *out);
/* Writes "12.50" or "-0.50" to out, which holds n bytes. */
void money_format(cents c, char *out, size_t n);
/* The tax on a net amount, in permille, rounded to a cent. */
cents money_tax(cents net, int permille, enum rounding mode);

#endif
