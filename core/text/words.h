/*
** The words of a text, for searching: lower-cased, as they are written, with `_` and an
** inner `.` or `-`. For an index also the parts of snake_case, camelCase and of letters and
** digits, at the place of the whole word. Words that slashes, `@` or `#` join are one word, and
** then each by itself. CJK text has no spaces: its words are all pairs of
** neighbours. Takes any bytes; nothing depends on the locale. next: words.c
*/
#ifndef NP_TEXT_WORDS_H
#define NP_TEXT_WORDS_H

#include "base/str.h"

#define NP_WORD_MAX 256 /* bytes; a longer run is data (base64, hex dumps), no word */

typedef enum np_words_for {
  NP_WORDS_INDEX, /* with parts, and with the last character of a CJK run by itself */
  NP_WORDS_QUERY, /* what must stand in the text: neither */
  NP_WORDS_PLAIN  /* as an index, but without paths: as older stores have it */
} np_words_for;

typedef struct np_word {
  np_str text;     /* lower-cased; valid during the call only */
  size_t from, to; /* the bytes of the text that it is made of */
  bool part;       /* of the word before it, at the same place */
  bool cjk;        /* a pair, which overlaps the next one of its run; or one character */
} np_word;

/* Not 0 stops, and is returned. */
typedef int (*np_word_fn)(void *ctx, const np_word *w);

/* Calls `fn` for every word in order of place. Linear. */
int np_words_each(np_str text, np_words_for use, np_word_fn fn, void *ctx);

#endif
