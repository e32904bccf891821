/*
** Anthropic bodies byte for byte: how a history in each provider's form renders, what changes
** do to it, what becomes of ids, marks, thoughts, images, schemas. In JSON written here ' stands
** for ". next: test_wire.c
*/
#include "golden.h"
#include "render/check.h"

typedef struct body_case {
  const char *what, *history, *ops, *body;
} body_case;

static const body_case cases[] = {
#include "anthropic_cases.inc"
};

static void check_valid(const char *what, np_str body) {
  np_err e = {0};
  neap_rc rc = np_check(&np_alloc_libc, NP_LIT("anthropic"), body, true, &e);
  if (rc) fprintf(stderr, "%s: %s\n", what, e.text);
  CHECK("the provider takes it", rc == NEAP_OK);
}

static void test_bodies(const np_vocab *v) {
  np_buf want;
  np_buf_init(&want, &np_alloc_libc);
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    golden g;
    golden_open(&g, v, "anthropic", 100000);
    golden_history(&g, cases[i].history);
    golden_change(&g, cases[i].ops);
    np_str body = golden_body(&g);
    golden_same(cases[i].what, body, golden_json(&want, cases[i].body));
    check_valid(cases[i].what, body);
    golden_close(&g);
  }
  np_buf_free(&want);
}

int main(void) {
  np_vocab *v = golden_vocab("o200k_base");
  if (!v) return check_done();
  test_bodies(v);
  np_vocab_free(v);
  return check_done();
}
