/*
** A line of a text that shows why it was found: the stretch with most of the query's words.
** next: recall.c
*/
#include "engine/words.h"

#include "base/hash.h"
#include "text/text.h"
#include "text/words.h"

#define WORDS_MAX 24               /* of a query */
#define PLACES_MAX 4096            /* of its words in the text */
#define SCAN_MAX ((size_t)4 << 20) /* bytes of the text that are looked at */

typedef struct place {
  uint32_t word;
  size_t from, to;
} place;

typedef struct finder {
  uint64_t word[WORDS_MAX];
  size_t words;
  place *at;
  size_t n;
} finder;

static int add_word(void *ctx, const np_word *w) {
  finder *f = ctx;
  uint64_t h = np_hash64(w->text);
  for (size_t i = 0; i < f->words; i++) {
    if (f->word[i] == h) return 0;
  }
  f->word[f->words++] = h;
  return f->words == WORDS_MAX;
}

static int add_place(void *ctx, const np_word *w) {
  finder *f = ctx;
  uint64_t h = np_hash64(w->text);
  for (size_t i = 0; i < f->words; i++) {
    if (f->word[i] == h) f->at[f->n++] = (place){(uint32_t)i, w->from, w->to};
  }
  return f->n >= PLACES_MAX - WORDS_MAX;
}

/* Where the stretch of `bytes` with most different words begins: two ends that only rise. */
static size_t best_start(const finder *f, size_t bytes) {
  uint32_t count[WORDS_MAX] = {0}, different = 0, best = 0;
  size_t low = 0, start = 0;
  for (size_t i = 0; i < f->n; i++) {
    if (count[f->at[i].word]++ == 0) different++;
    while (low < i && f->at[i].to > f->at[low].from + bytes) {
      if (--count[f->at[low++].word] == 0) different--;
    }
    if (different > best) {
      best = different;
      start = f->at[low].from;
    }
  }
  return start;
}

/* A little before the word, from a word's beginning on. */
static size_t lead_in(np_str text, size_t start, size_t chars) {
  size_t back = chars / 4, from = start > back ? start - back : 0;
  if (from == 0) return 0;
  for (size_t i = from; i < start; i++) {
    if (text.p[i] == '\n' || text.p[i] == ' ') return i + 1;
  }
  return np_grapheme_floor(text, from);
}

static bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* On one line, any white space as one space, control characters left out. */
static size_t add_line(np_str text, size_t from, size_t chars, np_buf *out) {
  size_t at = from, given = 0;
  bool gap = false;
  while (at < text.n && given < chars) {
    size_t n = np_grapheme_ceil(text, at + 1) - at;
    if (is_space(text.p[at])) {
      gap = given > 0;
    } else if ((unsigned char)text.p[at] >= ' ' && text.p[at] != 0x7F) {
      if (gap) np_buf_addc(out, ' ');
      given += gap ? 2 : 1;
      np_utf8_repair(np_str_cut(text, at, at + n), out);
      gap = false;
    }
    at += n ? n : 1;
  }
  while (at < text.n && is_space(text.p[at])) at++;
  return at;
}

void np_snippet(np_str text, np_str query, size_t chars, np_buf *out) {
  finder f = {.at = np_calloc(out->alloc, PLACES_MAX, sizeof(place))};
  np_str looked = np_str_cut(text, 0, SCAN_MAX);
  if (!f.at) {
    out->failed = true;
    return;
  }
  np_words_each(query, NP_WORDS_QUERY, add_word, &f);
  np_words_each(looked, NP_WORDS_INDEX, add_place, &f);
  size_t from = f.n ? lead_in(text, best_start(&f, chars), chars) : 0;
  np_free(out->alloc, f.at);
  if (from > 0) np_buf_adds(out, "\xE2\x80\xA6");
  if (add_line(text, from, chars, out) < text.n) np_buf_adds(out, "\xE2\x80\xA6");
}
