/*
** The public counter, and fitting: checks what the host passes, then token/append.h and
** token/cut.c. next: session.c
*/
#include "token/append.h"

#include "engine/engine.h"

struct neap_counter {
  np_counter counter;
};

neap_rc neap_counter_new(const neap_encoding *enc, neap_counter **c) {
  if (!c) return NEAP_E_ARG;
  *c = NULL;
  if (!enc) return NEAP_E_ARG;
  const np_vocab *v = (const np_vocab *)enc;
  const neap_alloc *a = &v->alloc;
  neap_counter *made = np_malloc(a, sizeof *made);
  if (!made) return NEAP_E_MEMORY;
  np_counter_init(&made->counter, v, a);
  *c = made;
  return NEAP_OK;
}

neap_rc neap_counter_add(neap_counter *c, neap_str bytes) {
  if (!c || bytes.n > PTRDIFF_MAX || (bytes.n && !bytes.p)) return NEAP_E_ARG;
  return np_counter_add(&c->counter, bytes) ? NEAP_OK : NEAP_E_MEMORY;
}

size_t neap_counter_tokens(const neap_counter *c) {
  return c ? np_counter_tokens(&c->counter) : 0;
}

void neap_counter_reset(neap_counter *c) {
  if (c) np_counter_reset(&c->counter);
}

neap_rc neap_counter_copy(const neap_counter *c, neap_counter **copy) {
  if (!copy) return NEAP_E_ARG;
  *copy = NULL;
  if (!c) return NEAP_E_ARG;
  const neap_alloc *a = &c->counter.alloc;
  neap_counter *made = np_malloc(a, sizeof *made);
  if (!made) return NEAP_E_MEMORY;
  if (!np_counter_copy(&c->counter, &made->counter)) {
    np_free(a, made);
    return NEAP_E_MEMORY;
  }
  *copy = made;
  return NEAP_OK;
}

void neap_counter_free(neap_counter *c) {
  if (!c) return;
  neap_alloc a = c->counter.alloc;
  np_counter_free(&c->counter);
  np_free(&a, c);
}

size_t neap_token_fit(const neap_encoding *enc, neap_str text, size_t tokens, int flags) {
  if (!enc || !text.p || text.n > PTRDIFF_MAX) return 0;
  np_cut kind = flags & NEAP_FIT_LINES       ? NP_CUT_LINES
                : flags & NEAP_FIT_GRAPHEMES ? NP_CUT_GRAPHEMES
                                             : NP_CUT_CHARACTERS;
  return np_vocab_fit_cut((const np_vocab *)enc, text, tokens, flags & NEAP_FIT_END,
                          kind);
}
