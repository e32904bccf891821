/* One line of a journal. */
#ifndef PARSE_H
#define PARSE_H

#include "money.h"

#define LINE_BYTES 96  /* of a line, its newline included */
#define SKU_BYTES 16

enum verb { VERB_NONE, VERB_IN, VERB_OUT, VERB_COUNT };

struct entry {
  int date;            /* YYYYMMDD */
  enum verb verb;
  char sku[SKU_BYTES]; /* "SKU-1042" */
  long quantity;
  cents price;         /* of one piece; VERB_IN only */
};

/* Reads a line. An empty line or a comment gives VERB_NONE. 0, or an error's number. */
int parse_line(char *line, struct entry *out);

#endif
