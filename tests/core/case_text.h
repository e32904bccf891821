/*
** Texts of data cases, where a large or odd one is written short: <<3000*word >> stands for the
** word 3000 times, <<hex:FF>> for that byte, <<i>> for the round of a loop. next: test_cases.c
*/
#ifndef NP_TESTS_CASE_TEXT_H
#define NP_TESTS_CASE_TEXT_H

#include <stdlib.h>

#include "base/buf.h"

/* One of them, its brackets apart. False when it is none. */
static inline bool case_piece(np_str piece, int round, np_buf *out) {
  char number[24] = "";
  size_t star = np_str_find(piece, NP_LIT("*"), 0);
  if (np_str_is(piece, "i")) {
    np_buf_int(out, round);
    return true;
  }
  if (piece.n == 6 && memcmp(piece.p, "hex:", 4) == 0) {
    memcpy(number, piece.p + 4, 2);
    np_buf_addc(out, (char)strtol(number, NULL, 16));
    return true;
  }
  if (star == SIZE_MAX || !star || star >= sizeof number) return false;
  memcpy(number, piece.p, star);
  np_str text = np_str_cut(piece, star + 1, piece.n);
  for (long n = strtol(number, NULL, 10); n > 0; n--) np_buf_add(out, text);
  return true;
}

/* Appends `text` with all of them written out. */
static inline void case_expand(np_str text, int round, np_buf *out) {
  size_t at = 0, open, close;
  while ((open = np_str_find(text, NP_LIT("<<"), at)) != SIZE_MAX &&
         (close = np_str_find(text, NP_LIT(">>"), open)) != SIZE_MAX) {
    np_buf_add(out, np_str_cut(text, at, open));
    if (!case_piece(np_str_cut(text, open + 2, close), round, out))
      np_buf_add(out, np_str_cut(text, open, close + 2));
    at = close + 2;
  }
  np_buf_add(out, np_str_cut(text, at, text.n));
}

#endif
