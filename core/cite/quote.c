/*
** What stands in quotation marks. Two and more words, 6 to 64 bytes on one line: titles, messages,
** commands. A recording's model repeats these at least twenty times as often as a model that was not
** shown them, as it does names; single words in quotation marks only three times as often: those
** are words. next: class.c
*/
#include "cite/scan.h"

#define SHORTEST 6
#define LONGEST 64
#define WORD_MIN 2 /* letters; two such words make a quotation */

static bool is_letter(char c) {
  return (unsigned char)c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool in_word(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

/* A quotation begins behind a space, a bracket, what leads to a value, or an escape. */
static bool may_open(const np_ident_iter *it) {
  return it->p == it->begin || memchr(" \t\r\n([{<,:=;|>\\", it->p[-1], 16) != NULL;
}

/* Words of two letters and more that begin the text or stand behind a space. */
static bool has_words(np_str s) {
  size_t words = 0, letters = 0;
  bool begins = true;
  for (size_t i = 0; i < s.n; i++) {
    letters = is_letter(s.p[i]) && (letters || begins) ? letters + 1 : 0;
    words += letters == WORD_MIN;
    begins = s.p[i] == ' ';
  }
  return words >= 2;
}

bool np_quote_take(np_ident_iter *it, np_ident *out) {
  const char *p = it->p + 1, *q = p, mark = *it->p;
  bool escaped = p - 1 > it->begin && p[-2] == '\\';
  size_t left = (size_t)(it->end - p);
  const char *stop = p + (left < LONGEST + 1 ? left : LONGEST + 1);
  bool spaced = false;
  if (p == it->end || !in_word(*p) || !may_open(it)) return false;
  for (; q < stop && *q != mark && *q != '\\' && *q != '\n'; q++) spaced |= *q == ' ';
  const char *close = q + escaped;
  if (q == stop || close >= it->end || *close != mark || (escaped && *q != '\\'))
    return false;
  if (close + 1 < it->end && in_word(close[1])) return false;
  it->unquoted = close + 1;
  *out = (np_ident){np_str_of(p, (size_t)(q - p)), NP_IDENT_QUOTE};
  if (!spaced || out->text.n < SHORTEST || q[-1] == ' ' || !has_words(out->text))
    return false;
  it->p = p;
  return true;
}

bool np_quote_in(np_str text, np_str quote) {
  for (size_t at = 0; (at = np_str_find(text, quote, at)) != SIZE_MAX; at++) {
    size_t end = at + quote.n;
    if (at > 0 && in_word(text.p[at - 1]) && in_word(quote.p[0])) continue;
    if (end < text.n && in_word(text.p[end]) && in_word(quote.p[quote.n - 1])) continue;
    return true;
  }
  return false;
}
