/*
** Rows of a table (separated values, Markdown), with its head before them, or items of a JSON
** array. next: headings.h
*/
#include "text/extract_own.h"
#include "text/table.h"

static neap_rc add_rows(np_extract_job *j, const np_table *t) {
  size_t at = t->body;
  np_stretch head = {.from = t->from, .to = t->body, .focus = t->from, .apart = true};
  bool ok = np_stretches_add(j->out, j->alloc, head);
  for (size_t row = 1; ok && at < t->to && row <= j->what->to; row++) {
    size_t end = np_table_row(t, j->text, at);
    np_stretch s = {.from = at, .to = end, .focus = at, .rank = 1, .apart = true};
    if (row >= j->what->from) ok = np_stretches_add(j->out, j->alloc, s);
    at = end;
  }
  return ok ? NEAP_OK : np_fail_mem(j->err);
}

neap_rc np_extract_rows(np_extract_job *j) {
  np_table t;
  size_t at = 0;
  while (at < j->text.n && strchr(" \t\r\n", j->text.p[at]) && j->text.p[at]) at++;
  if (at < j->text.n && (j->text.p[at] == '[' || j->text.p[at] == '{'))
    return np_extract_items(j);
  if (!np_table_asked(j->text, &t))
    return np_fail(
        j->err, NEAP_E_SHAPE,
        "there is no table in the text (comma- or tab-separated, Markdown, or a "
        "JSON array); lines have numbers too: 41-380");
  j->out->found = t.rows;
  if (j->what->from > t.rows)
    return np_fail(j->err, NEAP_E_NOTFOUND,
                   "there is no row %zu; the table has %zu row%s", j->what->from, t.rows,
                   t.rows == 1 ? "" : "s");
  return add_rows(j, &t);
}
