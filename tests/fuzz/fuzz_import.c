/*
** Fuzzing the importer (libFuzzer, run from the repository's root). The first byte says what
** the rest is: a whole file, JSON or .tiktoken lines; or what stands in the vocabulary and
** the merges of a file that is sound otherwise, parted by a byte 1. What is taken must count,
** encode and decode the rest of the input. next: ../core/test_import.c
*/
#include <stdlib.h>

#include "../core/import_help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

static void use(const np_vocab *v, np_str text) {
  uint32_t *ids = NULL;
  size_t n = 0, cap = 0;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  check(!np_vocab_encode(v, text, false, &np_alloc_libc, &ids, &n, &cap, NULL));
  check(np_vocab_count(v, text) == n);
  check(!np_vocab_decode(v, ids, n, &b, NULL));
  if (!(v->flags & NP_VOCAB_NFC)) check(np_str_eq(np_buf_str(&b), text));
  size_t fit = np_vocab_fit(v, text, n / 2, false);
  check(fit <= text.n && np_vocab_count(v, np_str_cut(text, 0, fit)) <= n / 2);
  np_buf_free(&b);
  free(ids);
}

static void try_file(np_str text, const char *pattern, np_str rest) {
  np_vocab *v = NULL;
  np_err e = {0};
  neap_rc rc = paper_import(text, pattern, &v, &e);
  check(rc ? !v && e.text[0] && !strchr(e.text, '\n') : v && !e.text[0]);
  if (v) use(v, rest);
  np_vocab_free(v);
}

/* The part before the next byte 1 as a C string; *p moves behind it. */
static char *next_part(np_str *p) {
  const char *end = p->n ? memchr(p->p, 1, p->n) : NULL;
  size_t n = end ? (size_t)(end - p->p) : p->n;
  char *s = malloc(n + 1);
  if (!s) abort();
  if (n) memcpy(s, p->p, n);
  s[n] = '\0';
  *p = np_str_cut(*p, end ? n + 1 : n, p->n);
  return s;
}

static void try_parts(np_str text, bool whole) {
  char *vocab = next_part(&text), *merges = next_part(&text), *added = next_part(&text);
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  paper p = {.vocab = vocab, .merges = merges, .added = added};
  p.model = whole ? "\"ignore_merges\":true," : NULL;
  p.normalizer = whole ? NULL : "{\"type\":\"NFC\"}";
  try_file(paper_write(&b, &p), "", text);
  np_buf_free(&b);
  free(vocab);
  free(merges);
  free(added);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  np_str text = np_str_of((const char *)data + 1, size - 1);
  if (data[0] % 4 == 0) {
    try_file(text, "", text);
  } else if (data[0] % 4 == 1) {
    try_file(text, "gpt2", text);
  } else {
    try_parts(text, data[0] % 4 == 2);
  }
  return 0;
}
