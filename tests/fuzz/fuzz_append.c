/*
** Fuzzing the counter (libFuzzer, run from the repository's root): the first byte says which
** encoding and how the rest is cut, the rest is text. After each part the count must be that
** of all parts; a copy taken on the way goes on alone.
** next: ../core/test_append.c
*/
#include <stdlib.h>

#include "token/append.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const np_vocab *vocab_at(size_t k) {
  static np_vocab *vocabs[2];
  if (!vocabs[k]) {
    np_str name = np_str_cstr(np_encoding_at(k)->name);
    np_vocab_open(&np_alloc_libc, "core/token/data", name, &vocabs[k], NULL);
    if (!vocabs[k]) abort();
  }
  return vocabs[k];
}

static void check(bool holds) {
  if (!holds) abort();
}

/* Parts of 1 byte, or of lengths that the text itself gives. */
static size_t part_of(np_str text, size_t at, unsigned manner) {
  size_t n = manner == 0 ? 1 : 1 + ((uint8_t)text.p[at] * manner) % (manner * 9);
  return n < text.n - at ? n : text.n - at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  const np_vocab *v = vocab_at(data[0] & 1);
  unsigned manner = data[0] >> 1 & 7;
  size_t copied = data[0] >> 4, parts = 0, at_copy = 0;
  np_str text = np_str_of((const char *)data + 1, size - 1);
  np_counter c, copy = {0};
  np_counter_init(&c, v, &np_alloc_libc);
  for (size_t at = 0; at < text.n; parts++) {
    size_t n = part_of(text, at, manner);
    if (parts == copied) {
      check(np_counter_copy(&c, &copy));
      at_copy = at;
    }
    check(np_counter_add(&c, np_str_cut(text, at, at + n)));
    at += n;
    check(np_counter_tokens(&c) == np_vocab_count(v, np_str_cut(text, 0, at)));
  }
  if (copy.v) {
    check(np_counter_add(&copy, np_str_cut(text, at_copy, text.n)));
    check(np_counter_tokens(&copy) == np_counter_tokens(&c));
    np_counter_free(&copy);
  }
  np_counter_free(&c);
  return 0;
}
