/*
** A session's prompt read back as its provider would: valid, within its budget, and of as many
** tokens as its account says. next: test_engine.c
*/
#ifndef ENGINE_CHECK_H
#define ENGINE_CHECK_H

#include "session.h"

#include "openai_check.h"
#include "render/openai.h"

static neap *n;
static const np_vocab *vocab;

static neap_str checked(neap_session *s) {
  int64_t tokens = 0;
  neap_str body = prompt(s);
  np_json root, tools = {0};
  np_view view = {.alloc = &np_alloc_libc, .vocab = vocab};
  np_spare_init(&view.temp, &np_alloc_libc);
  if (!np_json_check(body, &root, NULL)) np_json_get(root, "tools", &tools);
  const char *wrong =
      openai_check(vocab, body, np_openai_tools_tokens(&view, tools), &tokens);
  np_spare_free(&view.temp);
  if (wrong)
    fprintf(stderr, "%s: %.*s\n", wrong, (int)(body.n < 2000 ? body.n : 2000), body.p);
  CHECK("the body is valid for its provider", wrong == NULL);
  neap_str a = account(s);
  CHECK("the account is what a recount finds", tokens == number(a, "tokens"));
  CHECK("the budget is kept", tokens <= number(a, "budget"));
  return body;
}

/* Opens the engine and the vocabulary that checks count by. */
static void engine_ready(void) {
  dir_make();
  n = engine_open(NULL);
  const neap_encoding *enc = NULL;
  CHECK("the vocabulary loads", neap_encoding_get(n, "o200k_base", &enc) == NEAP_OK);
  vocab = (const np_vocab *)enc;
}

#endif
