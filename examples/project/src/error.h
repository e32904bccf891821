/* Every error of the program: a number that scripts may rely on, and a text. */
#ifndef ERROR_H
#define ERROR_H

enum {
  E_VERB = 101,     /* a line begins with something else than IN, OUT or COUNT */
  E_AMOUNT = 102,   /* an amount is not a number with at most two decimals */
  E_LONG = 103,     /* a line is longer than LINE_BYTES */
  E_DATE = 104,     /* a date that is none */
  E_SKU = 105,      /* an article number that is none */
  E_QUANTITY = 106, /* a quantity that is none, or zero */
  E_FIELDS = 107,   /* a field is missing, or there are too many */
  E_ORDER = 110,    /* a date before that of the line above */
  E_STOCK = 115,    /* more goes out than there is */
  E_LOTS = 117,     /* an article has more open lots than MAX_LOTS */
  E_ITEMS = 118,    /* more articles than MAX_ITEMS */
  E_SETTING = 120,  /* a setting that is not known */
  E_VALUE = 121     /* a setting's value that is none */
};

const char *error_text(int code);

#endif
