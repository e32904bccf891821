/*
** A validator of Chat Completions bodies, written from the provider's rules and the counting
** table, knowing nothing of how neap renders. Returns NULL when the body is valid, else what
** is wrong; *tokens gets its own count. next: test_pack.c
*/
#ifndef NP_TESTS_OPENAI_CHECK_H
#define NP_TESTS_OPENAI_CHECK_H

#include <stdlib.h>

#include "base/json.h"
#include "token/token.h"

typedef struct body_check {
  const np_vocab *v;
  np_buf text;
  int64_t tokens;
  np_str open[4096]; /* ids of calls that wait for results */
  size_t open_count;
} body_check;

static inline int64_t body_count(body_check *c, np_json s) {
  np_buf_clear(&c->text);
  np_json_text(s, &c->text);
  return (int64_t)np_vocab_count(c->v, np_buf_str(&c->text));
}

/* Tokens of a content value; -1 when it is empty or of a wrong type. */
static inline int64_t body_content(body_check *c, np_json content) {
  np_json item, text;
  int64_t n = 0, parts = 0;
  if (content.type == NP_JSON_STRING) return body_count(c, content);
  if (content.type != NP_JSON_ARRAY) return -1;
  np_json_iter it = np_json_each(content);
  while (np_json_next(&it, NULL, &item)) {
    parts++;
    if (np_json_get(item, "text", &text)) {
      if (text.raw.n <= 2) return -1;
      n += body_count(c, text);
    } else if (np_json_get(item, "image_url", &text)) {
      /* eight tiles where nobody knows the size and low detail was not asked for */
      np_json detail;
      n += np_json_get(text, "detail", &detail) ? 85 : 85 + 8 * 170;
    } else {
      return -1;
    }
  }
  return parts ? n : -1;
}

static inline const char *body_calls(body_check *c, np_json calls) {
  np_json call, f, v;
  size_t n = 0;
  np_json_iter it = np_json_each(calls);
  if (calls.type != NP_JSON_ARRAY) return "tool_calls is no list";
  while (np_json_next(&it, NULL, &call)) {
    if (!np_json_get(call, "id", &v) || c->open_count >= NP_COUNT(c->open))
      return "call without id";
    c->open[c->open_count++] = v.raw;
    if (!np_json_get(call, "function", &f)) return "call without function";
    c->tokens += 3;
    if (!np_json_get(f, "name", &v)) return "call without name";
    c->tokens += body_count(c, v);
    if (!np_json_get(f, "arguments", &v) || v.type != NP_JSON_STRING)
      return "no arguments";
    c->tokens += body_count(c, v);
    np_json args;
    if (np_json_check(np_buf_str(&c->text), &args, NULL) == NEAP_E_JSON)
      return "arguments are no JSON";
    n++;
  }
  return n ? NULL : "empty tool_calls";
}

static inline const char *body_result(body_check *c, np_json m) {
  np_json id, content;
  if (!np_json_get(m, "tool_call_id", &id)) return "result without id";
  size_t i = 0;
  while (i < c->open_count && !np_str_eq(c->open[i], id.raw)) i++;
  if (i == c->open_count) return "result without its call just before it";
  c->open[i] = c->open[--c->open_count];
  np_json_get(m, "content", &content);
  int64_t n = body_content(c, content);
  if (n < 0) return "result without content";
  c->tokens += 3 + n;
  return NULL;
}

static inline const char *body_message(body_check *c, np_json m) {
  np_json role, v, name, calls;
  if (!np_json_get(m, "role", &role)) return "message without role";
  if (np_str_is(role.raw, "\"tool\"")) return body_result(c, m);
  if (c->open_count) return "a call is not answered before the next message";
  c->tokens += 3 + body_count(c, role);
  if (np_json_get(m, "name", &name)) c->tokens += 1 + body_count(c, name);
  if (np_json_get(m, "reasoning", &v) || np_json_get(m, "is_error", &v))
    return "native member";
  bool has_calls = np_json_get(m, "tool_calls", &calls);
  np_json_get(m, "content", &v);
  if (v.type == NP_JSON_NULL || v.type == NP_JSON_NONE) {
    if (!has_calls) return "neither content nor calls";
  } else {
    if (v.raw.n <= 2) return "empty content";
    int64_t n = body_content(c, v);
    if (n < 0) return "bad content";
    c->tokens += n;
  }
  return has_calls ? body_calls(c, calls) : NULL;
}

static inline const char *openai_check(const np_vocab *v, np_str body,
                                       int64_t tool_tokens, int64_t *tokens) {
  np_json root, messages, m;
  body_check *c = (body_check *)calloc(1, sizeof *c);
  c->v = v;
  np_buf_init(&c->text, &np_alloc_libc);
  const char *wrong = NULL;
  if (np_json_check(body, &root, NULL)) wrong = "not JSON";
  else if (np_json_has_lone(root)) wrong = "lone surrogate";
  else if (!np_json_get(root, "messages", &messages)) wrong = "no messages";
  if (!wrong) {
    np_json_iter it = np_json_each(messages);
    while (!wrong && np_json_next(&it, NULL, &m)) wrong = body_message(c, m);
    if (!wrong && c->open_count) wrong = "a call is not answered at the end";
  }
  *tokens = c->tokens + 3 + tool_tokens;
  np_buf_free(&c->text);
  free(c);
  return wrong;
}

#endif
