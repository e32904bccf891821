/*
** Fuzzing the tokenizer (libFuzzer, run from the repository's root): the first byte says
** what the rest is: text for either encoding, or a vocabulary file whose length and
** checksum are put right so that its values are read. next: ../core/test_token_random.c
*/
#include <stdlib.h>

#include "base/hash.h"
#include "token/vocab.h"

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

static void try_text(const np_vocab *v, np_str text, size_t limit) {
  uint32_t *ids = NULL;
  size_t n = 0, cap = 0;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  check(np_vocab_encode(v, text, false, &np_alloc_libc, &ids, &n, &cap, NULL) == NEAP_OK);
  check(np_vocab_decode(v, ids, n, &b, NULL) == NEAP_OK);
  check(np_str_eq(np_buf_str(&b), text));
  check(np_vocab_count(v, text) == n);
  np_buf_clear(&b);
  n = 0;
  check(np_vocab_encode(v, text, true, &np_alloc_libc, &ids, &n, &cap, NULL) == NEAP_OK);
  check(np_vocab_decode(v, ids, n, &b, NULL) == NEAP_OK);
  check(np_str_eq(np_buf_str(&b), text));
  size_t head = np_vocab_fit(v, text, limit, false),
         tail = np_vocab_fit(v, text, limit, true);
  check(np_vocab_count(v, np_str_cut(text, 0, head)) <= limit);
  check(np_vocab_count(v, np_str_cut(text, text.n - tail, text.n)) <= limit);
  check(np_split_between(text, head) && np_split_between(text, text.n - tail));
  np_buf_free(&b);
  free(ids);
}

static void try_file(const uint8_t *data, size_t size) {
  size_t n = 16 + size + NP_SHA256;
  uint8_t *p = malloc(n);
  if (!p) return;
  memcpy(p, "neapvoc\n\1\0\0\0", 12);
  for (int i = 0; i < 4; i++) p[12 + i] = (uint8_t)(size >> (8 * i));
  memcpy(p + 16, data, size);
  np_sha256(np_str_of((char *)p, 16 + size), p + 16 + size);
  np_vocab *v = NULL;
  np_vocab_parse(&np_alloc_libc, "fuzz", np_str_of((char *)p, n), &v, NULL);
  np_vocab_free(v);
  free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  if (data[0] % 3 == 2) {
    try_file(data + 1, size - 1);
  } else {
    try_text(vocab_at(data[0] % 3), np_str_of((const char *)data + 2, size - 2), data[1]);
  }
  return 0;
}
