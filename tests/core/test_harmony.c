/*
** o200k_harmony: o200k_base with other special tokens. next: test_token.c
*/
#include "check.h"

#include "token/vocab.h"

static const char text[] = "<|start|>assistant<|channel|>final<|message|>caf\xC3\xA9<|"
                           "reserved_201087|><|return|>";
static const uint32_t special[] = {200006, 200005, 200008, 201087, 200002};

int main(void) {
  const char *dir = getenv("NEAP_TEST_VOCAB");
  np_vocab *v = NULL, *base = NULL;
  np_err e = {0};
  dir = dir ? dir : "core/token/data";
  neap_rc rc = np_vocab_open(&np_alloc_libc, dir, NP_LIT("o200k_harmony"), &v, &e);
  if (!rc) rc = np_vocab_open(&np_alloc_libc, dir, NP_LIT("o200k_base"), &base, &e);
  if (rc) fprintf(stderr, "%s\n", e.text);
  CHECK("it opens with o200k_base's file", !rc);
  if (rc) return check_done();
  CHECK("it has its own name", !strcmp(np_vocab_info(v)->name, "o200k_harmony"));
  CHECK("and o200k_base keeps its own", !strcmp(np_vocab_info(base)->name, "o200k_base"));
  np_str s = np_str_cstr(text);
  CHECK("text is counted the same", np_vocab_count(v, s) == np_vocab_count(base, s));
  uint32_t *ids = NULL;
  size_t n = 0, cap = 0, found = 0;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  CHECK("special tokens are encoded when asked",
        !np_vocab_encode(v, s, true, &np_alloc_libc, &ids, &n, &cap, NULL));
  for (size_t i = 0; i < n; i++) {
    if (ids[i] >= 199998 && ids[i] == special[found]) found++;
  }
  size_t words = np_vocab_count(base, NP_LIT("assistant")) +
                 np_vocab_count(base, NP_LIT("final")) +
                 np_vocab_count(base, NP_LIT("caf\xC3\xA9"));
  CHECK("by their ids", found == NP_COUNT(special) && n == found + words);
  CHECK("and decoded",
        !np_vocab_decode(v, ids, n, &b, NULL) && np_str_eq(np_buf_str(&b), s));
  np_buf_clear(&b);
  bool ok = true;
  for (uint32_t id = 199998; id <= 201087; id++) {
    size_t at = b.n;
    ok = ok && !np_vocab_decode(v, &id, 1, &b, NULL) && b.n > at;
  }
  CHECK("every id has a text",
        ok && np_vocab_decode(v, &(uint32_t){201088}, 1, &b, NULL));
  np_buf_free(&b);
  free(ids);
  np_vocab_free(v);
  np_vocab_free(base);
  return check_done();
}
