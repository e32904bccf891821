/*
** Finding tables. Values between quotes may hold the separator and newlines (RFC 4180).
** next: rows.c
*/
#include "text/table.h"

#include "text/text.h"

#define ROWS_MIN 3 /* fewer are no table worth a head of its own */
#define PART 3     /* a third of the text: a smaller one is cut as the rest is */

/* ---- Markdown ---- */

static bool is_row(np_str line) {
  return memchr(line.p, '|', line.n) != NULL;
}

/* `|---|:-:|`: what stands between a head and its rows. */
static bool is_rule(np_str line) {
  bool dash = false, bar = false;
  for (size_t i = 0; i < line.n; i++) {
    char c = line.p[i];
    if (!strchr("|-: \t\r\n", c) || c == '\0') return false;
    dash |= c == '-';
    bar |= c == '|';
  }
  return dash && bar;
}

static bool find_markdown(np_str text, size_t rows, np_table *out) {
  size_t before = SIZE_MAX; /* where the line before begins, if it may be a head */
  np_table best = {0};
  for (size_t at = 0; at < text.n;) {
    size_t end = np_line_end(text, at);
    np_str line = np_str_cut(text, at, end);
    if (before == SIZE_MAX || !is_rule(line)) {
      before = is_row(line) ? at : SIZE_MAX;
      at = end;
      continue;
    }
    np_table t = {.mark = '|', .from = before, .body = end, .to = end};
    while (t.to < text.n && is_row(np_str_cut(text, t.to, np_line_end(text, t.to)))) {
      t.to = np_line_end(text, t.to);
      t.rows++;
    }
    if (t.rows > best.rows) best = t;
    before = SIZE_MAX;
    at = t.to;
  }
  *out = best;
  return best.rows >= rows;
}

/* ---- separated values ---- */

/* Behind a field in quotes that begins at `at`; SIZE_MAX when it never ends. */
static size_t quoted_end(np_str s, size_t at) {
  for (size_t i = at + 1; i < s.n; i++) {
    if (s.p[i] != '"') continue;
    if (i + 1 < s.n && s.p[i + 1] == '"') i++;
    else return i + 1;
  }
  return SIZE_MAX;
}

/* The end of the row at `at`, and its fields; SIZE_MAX when quotes are not closed. */
static size_t value_row(np_str s, char mark, size_t at, size_t *fields) {
  bool start = true; /* of a field */
  *fields = 1;
  while (at < s.n && s.p[at] != '\n') {
    if (start && mark == ',' && s.p[at] == '"') {
      at = quoted_end(s, at);
      if (at == SIZE_MAX) return SIZE_MAX;
      start = false;
      continue;
    }
    start = s.p[at] == mark;
    *fields += start;
    at++;
  }
  return at < s.n ? at + 1 : at;
}

/* `least` fields in each row, and in each as many unless `ragged`. */
static bool find_values(np_str text, char mark, size_t least, bool ragged,
                        np_table *out) {
  size_t fields, wanted = 0;
  np_table t = {.mark = mark, .to = text.n};
  for (size_t at = 0; at < text.n;) {
    size_t end = value_row(text, mark, at, &fields);
    if (end == SIZE_MAX) return false;
    if (wanted == 0) {
      wanted = fields;
      t.body = end;
    } else {
      t.rows++;
    }
    if (wanted < least || (!ragged && fields != wanted)) return false;
    if (end != np_line_end(text, at)) t.long_rows = true;
    at = end;
  }
  *out = t;
  return t.rows >= (ragged ? 1 : ROWS_MIN);
}

bool np_table_asked(np_str text, np_table *out) {
  if (find_markdown(text, 1, out)) return true;
  if (find_values(text, '\t', 2, true, out) || find_values(text, ',', 2, true, out))
    return true;
  *out = (np_table){0};
  return false;
}

bool np_table_find(np_str text, np_table *out) {
  if (find_values(text, '\t', 2, false, out) || find_values(text, ',', 3, false, out))
    return true;
  if (find_markdown(text, ROWS_MIN, out) && out->to - out->from >= text.n / PART)
    return true;
  *out = (np_table){0};
  return false;
}

size_t np_table_row(const np_table *t, np_str text, size_t at) {
  size_t fields;
  if (t->mark != ',') return np_line_end(text, at);
  return value_row(text, t->mark, at, &fields);
}
