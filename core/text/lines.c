/*
** Lines of a text. Only "\n" ends one; a "\r" before it belongs to the line.
** next: ../token/token.h
*/
#include "text/text.h"

/* The offset behind the line that begins at `at`. */
static size_t line_end(np_str s, size_t at) {
  const char *nl = memchr(s.p + at, '\n', s.n - at);
  return nl ? (size_t)(nl - s.p) + 1 : s.n;
}

size_t np_lines_count(np_str s) {
  size_t lines = 0;
  for (size_t at = 0; at < s.n; at = line_end(s, at)) lines++;
  return lines;
}

np_str np_lines_slice(np_str s, size_t from, size_t to) {
  if (from == 0 || from > to) return np_str_cut(s, 0, 0);
  size_t at = 0, line = 1;
  for (; line < from && at < s.n; line++) at = line_end(s, at);
  size_t end = at;
  for (; line <= to && end < s.n; line++) end = line_end(s, end);
  return np_str_cut(s, at, end);
}

bool np_line_next(np_str *rest, np_str *line) {
  if (rest->n == 0) return false;
  const char *nl = memchr(rest->p, '\n', rest->n);
  size_t n = nl ? (size_t)(nl - rest->p) : rest->n, step = nl ? n + 1 : n;
  *line = np_str_of(rest->p, n);
  *rest = np_str_of(rest->p + step, rest->n - step);
  return true;
}
