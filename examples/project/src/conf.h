/* Settings: NAME = VALUE, a line each. */
#ifndef CONF_H
#define CONF_H

#include "money.h"

struct conf {
  char currency[8];
  int tax_permille;
  enum rounding rounding;
  long reorder_point;  /* reorder when as many or fewer are left */
  long reorder_to;     /* pieces to fill up to */
};

void conf_defaults(struct conf *c);
/* Reads one line into c. 0, or an error's number. */
int conf_line(struct conf *c, char *line);
/* Reads a file; *line tells where an error is. A missing file leaves the defaults. */
int conf_read(struct conf *c, const char *path, int *line);

#endif
