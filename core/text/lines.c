/*
** Lines of a text. Only "\n" ends one; a "\r" before it belongs to the line.
** next: ../token/token.h
*/
#include "text/text.h"

/* Blocks of so many bytes are summed without a test, which compilers turn into wide steps. */
#define BLOCK 240 /* fits a byte, and is whole for 16 bytes at a time */

size_t np_lines_newlines(np_str s) {
  size_t sum = 0, at = 0;
  for (; s.n - at >= BLOCK; at += BLOCK) {
    unsigned char here = 0;
    for (size_t i = 0; i < BLOCK; i++) here += s.p[at + i] == '\n';
    sum += here;
  }
  for (; at < s.n; at++) sum += s.p[at] == '\n';
  return sum;
}

size_t np_lines_count(np_str s) {
  return np_lines_newlines(s) + (s.n && s.p[s.n - 1] != '\n');
}

/* So many lines further than the line that begins at `at`; s.n behind the last. */
static size_t skip_lines(np_str s, size_t at, size_t lines) {
  for (; lines > BLOCK && s.n - at >= BLOCK; at += BLOCK)
    lines -= np_lines_newlines(np_str_cut(s, at, at + BLOCK));
  for (; lines > 0 && at < s.n; lines--) at = np_line_end(s, at);
  return at;
}

np_str np_lines_slice(np_str s, size_t from, size_t to) {
  if (from == 0 || from > to) return np_str_cut(s, 0, 0);
  size_t at = skip_lines(s, 0, from - 1);
  size_t end = to == SIZE_MAX ? s.n : skip_lines(s, at, to - from + 1);
  return np_str_cut(s, at, end);
}

size_t np_lines_back(np_str s, size_t n) {
  size_t at = s.n;
  for (; n > 0 && at > 0; n--) {
    at--; /* its newline, or its last byte */
    while (at > 0 && s.p[at - 1] != '\n') at--;
  }
  return at;
}

bool np_line_next(np_str *rest, np_str *line) {
  if (rest->n == 0) return false;
  const char *nl = memchr(rest->p, '\n', rest->n);
  size_t n = nl ? (size_t)(nl - rest->p) : rest->n, step = nl ? n + 1 : n;
  *line = np_str_of(rest->p, n);
  *rest = np_str_of(rest->p + step, rest->n - step);
  return true;
}
