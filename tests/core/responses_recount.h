/*
** Tokens of a Responses body, counted again from its bytes by the table in
** core/render/responses_count.c, knowing nothing of how neap renders. Validity is the
** validators' to say. next: test_pack.c
*/
#ifndef NP_TESTS_RESPONSES_RECOUNT_H
#define NP_TESTS_RESPONSES_RECOUNT_H

#include "base/json.h"
#include "render/document.h"
#include "render/image.h"
#include "token/token.h"

typedef struct responses_sum {
  const np_vocab *v;
  np_buf text;
  int64_t tokens;
  const np_model *model;
} responses_sum;

static inline int64_t responses_text(responses_sum *s, np_json text) {
  np_buf_clear(&s->text);
  np_json_text(text, &s->text);
  return (int64_t)np_vocab_count(s->v, np_buf_str(&s->text));
}

static inline int64_t responses_raw(responses_sum *s, np_json v) {
  return (int64_t)np_vocab_count(s->v, v.raw);
}

static inline bool responses_ends(np_json type, const char *end) {
  size_t n = strlen(end);
  return type.raw.n > n && memcmp(type.raw.p + type.raw.n - n - 1, end, n) == 0;
}

/* One part of a list. */
static inline int64_t responses_part(responses_sum *s, np_json part) {
  np_json text, type;
  uint32_t pages;
  np_json_get(part, "type", &type);
  if (np_str_is(type.raw, "\"input_file\"")) {
    np_json_get(part, "file_data", &text);
    bool pdf = np_str_find(text.raw, NP_LIT("data:application/pdf;"), 0) == 1;
    if (np_document_read(part, &pages)) return (int64_t)pages * s->model->page;
    if (pdf) return s->model->page;
  }
  if (np_json_get(part, "image_url", &text))
    return np_image_tokens(s->model->image, np_image_read(part), NULL);
  if (np_json_get(part, "text", &text) || np_json_get(part, "refusal", &text))
    return responses_text(s, text);
  return responses_raw(s, part);
}

/* A message's framing is 3 and its role; the assistant's is so for each part. */
static inline void responses_message(responses_sum *s, np_json item) {
  np_json role, content, part;
  np_json_get(item, "role", &role);
  np_json_get(item, "content", &content);
  int64_t frame = 3 + responses_text(s, role), parts = 0;
  np_json_iter it = np_json_each(content);
  for (; np_json_next(&it, NULL, &part); parts++) s->tokens += responses_part(s, part);
  if (content.type == NP_JSON_STRING) s->tokens += responses_text(s, content);
  bool each = np_str_is(role.raw, "\"assistant\"") && parts;
  s->tokens += each ? frame * parts : frame;
}

static inline void responses_call(responses_sum *s, np_json item, np_json type) {
  np_json name, args;
  if (!np_json_get(item, "name", &name)) name = type;
  if (np_json_get(item, "arguments", &args) || np_json_get(item, "input", &args)) {
    s->tokens += 3 + responses_text(s, name) + responses_text(s, args);
  } else {
    np_json_get(item, "action", &args);
    s->tokens += 3 + responses_text(s, name) + responses_raw(s, args);
  }
}

static inline void responses_output(responses_sum *s, np_json item) {
  np_json output, part;
  np_json_get(item, "output", &output);
  np_json_iter it = np_json_each(output);
  s->tokens += 3;
  if (output.type == NP_JSON_STRING) s->tokens += responses_text(s, output);
  while (np_json_next(&it, NULL, &part)) s->tokens += responses_part(s, part);
}

static inline void responses_item(responses_sum *s, np_json item) {
  np_json type, v;
  np_json_get(item, "type", &type);
  if (!type.type || np_str_is(type.raw, "\"message\"")) {
    responses_message(s, item);
  } else if (responses_ends(type, "_output")) {
    responses_output(s, item);
  } else if (np_json_get(item, "call_id", &v)) {
    responses_call(s, item, type);
  } else if (np_json_get(item, "encrypted_content", &v) && v.raw.n > 2) {
    s->tokens += 3 + (int64_t)(v.raw.n + 1) / 4;
  } else {
    s->tokens += 3 + responses_raw(s, item);
  }
}

static inline int64_t responses_recount(const np_vocab *v, np_str body,
                                        const np_model *model, int64_t tool_tokens) {
  np_json root, input, item, text;
  responses_sum s = {.v = v, .model = model, .tokens = 3 + tool_tokens};
  np_buf_init(&s.text, &np_alloc_libc);
  if (!np_json_check(body, &root, NULL) && np_json_get(root, "input", &input)) {
    np_json_iter it = np_json_each(input);
    while (np_json_next(&it, NULL, &item)) responses_item(&s, item);
    if (np_json_get(root, "instructions", &text))
      s.tokens +=
          3 + (int64_t)np_vocab_count(v, NP_LIT("system")) + responses_text(&s, text);
  }
  np_buf_free(&s.text);
  return s.tokens;
}

#endif
