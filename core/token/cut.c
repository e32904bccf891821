/*
** Fitting to cuts that a reader would make: between graphemes, or at line ends. fit.c says
** how far it goes between characters; the last cut before that nearly always fits, since
** a shorter text hardly ever has more tokens. next: ../text/text.h
*/
#include "token/token.h"

#include "text/text.h"

/* The last cut at or before `at`. Every cut is between characters of `s`. */
static size_t cut_before(np_str s, size_t at, np_cut kind) {
  if (at >= s.n || at == 0) return at < s.n ? 0 : s.n;
  if (kind == NP_CUT_CHARACTERS) return np_utf8_floor(s, at);
  if (kind == NP_CUT_GRAPHEMES) return np_grapheme_floor(s, at);
  while (at > 0 && s.p[at - 1] != '\n') at--;
  return at;
}

/* The first cut at or behind `at`. */
static size_t cut_behind(np_str s, size_t at, np_cut kind) {
  if (at >= s.n || at == 0) return at < s.n ? 0 : s.n;
  if (kind == NP_CUT_GRAPHEMES) return np_grapheme_ceil(s, at);
  if (kind == NP_CUT_CHARACTERS) {
    while (np_utf8_floor(s, at) < at) at++;
    return at;
  }
  const char *end = memchr(s.p + at - 1, '\n', s.n - at + 1);
  return end ? (size_t)(end - s.p) + 1 : s.n;
}

size_t np_vocab_fit_cut(const np_vocab *v, np_str text, size_t limit, bool tail,
                        np_cut kind) {
  size_t most = np_vocab_fit(v, text, limit, tail);
  if (most == text.n || kind == NP_CUT_CHARACTERS) return most;
  if (!tail) {
    size_t at = cut_before(text, most, kind);
    while (at && np_vocab_count(v, np_str_cut(text, 0, at)) > limit) {
      at = cut_before(text, at - 1, kind);
    }
    return at;
  }
  size_t at = cut_behind(text, text.n - most, kind);
  while (at < text.n && np_vocab_count(v, np_str_cut(text, at, text.n)) > limit) {
    at = cut_behind(text, at + 1, kind);
  }
  return text.n - at;
}
