/*
** Tables in a text: Markdown, or comma- or tab-separated values. A trim keeps their heads and
** whole rows, and says how many rows are left out. next: table.c
*/
#ifndef NP_TEXT_TABLE_H
#define NP_TEXT_TABLE_H

#include "base/str.h"

typedef struct np_table {
  char mark;       /* '|', ',' or '\t'; 0: there is none */
  bool long_rows;  /* some rows are longer than a line */
  size_t rows;     /* without its head */
  size_t from, to; /* its bytes */
  size_t body;     /* where its head ends */
} np_table;

/* Finds the Markdown table with the most rows, 3 at least, if it is a third of the text or
** more. Separated values must be all of the text, with as many fields in each row: 2 or more
** by tabs, 3 or more by commas. Linear. */
bool np_table_find(np_str text, np_table *out);
/* The table somebody asks for by name: one row and two fields will do, rows need not have as many
** fields, and a Markdown table may be any part of the text. */
bool np_table_asked(np_str text, np_table *out);
/* The end of the row that begins at `at`, its newline included. */
size_t np_table_row(const np_table *t, np_str text, size_t at);

#endif
