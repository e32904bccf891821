/*
** Tokens of a Gemini body, counted again from its bytes by the table in
** core/render/gemini_count.h, knowing nothing of how neap renders. Validity is the
** validators' to say. next: test_pack.c
*/
#ifndef NP_TESTS_GEMINI_RECOUNT_H
#define NP_TESTS_GEMINI_RECOUNT_H

#include "base/json.h"
#include "render/document.h"
#include "render/image.h"
#include "token/token.h"

typedef struct gemini_sum {
  const np_vocab *v;
  np_buf text;
  int64_t tokens;
  const np_model *model;
} gemini_sum;

static inline int64_t gemini_text(gemini_sum *s, np_json text) {
  np_buf_clear(&s->text);
  np_json_text(text, &s->text);
  return (int64_t)np_vocab_count(s->v, np_buf_str(&s->text));
}

static inline int64_t gemini_raw(gemini_sum *s, np_str raw) {
  return (int64_t)np_vocab_count(s->v, raw);
}

/* A response of one text is that text, of nothing is nothing. */
static inline int64_t gemini_response(gemini_sum *s, np_json response) {
  np_json value = {0};
  int n = 0;
  np_json_iter it = np_json_each(response);
  while (np_json_next(&it, NULL, &value)) n++;
  if (!n) return 0;
  return n == 1 && value.type == NP_JSON_STRING ? gemini_text(s, value)
                                                : gemini_raw(s, response.raw);
}

/* Inline data, or whatever else a part is. */
static inline int64_t gemini_data(gemini_sum *s, np_json part) {
  np_json v, type;
  uint32_t pages;
  np_json_get(part, "inlineData", &v);
  np_json_get(v, "mimeType", &type);
  if (type.raw.n > 7 && !memcmp(type.raw.p, "\"image/", 7))
    return np_image_tokens(s->model->image, np_image_read(part), NULL);
  if (!np_str_is(type.raw, "\"application/pdf\"")) return -1;
  if (!np_document_read(part, &pages)) pages = 1;
  return (int64_t)pages * s->model->page;
}

static inline void gemini_function(gemini_sum *s, np_json f, bool call) {
  np_json name, v, parts, part;
  np_json_get(f, "name", &name);
  s->tokens += 8 + gemini_text(s, name);
  np_json_get(f, call ? "args" : "response", &v);
  if (!call) s->tokens += gemini_response(s, v);
  else s->tokens += gemini_raw(s, v.type == NP_JSON_OBJECT ? v.raw : NP_LIT("{}"));
  np_json_get(f, "parts", &parts);
  np_json_iter it = np_json_each(parts);
  while (np_json_next(&it, NULL, &part)) {
    int64_t n = gemini_data(s, part);
    s->tokens += n < 0 ? gemini_raw(s, part.raw) : n;
  }
}

static inline void gemini_part(gemini_sum *s, np_json part) {
  np_json v;
  np_str none = NP_LIT("\"skip_thought_signature_validator\""); /* signs nothing */
  if (np_json_get(part, "thoughtSignature", &v) && !np_str_eq(v.raw, none))
    s->tokens += (int64_t)(v.raw.n + 1) / 4;
  if (np_json_get(part, "functionCall", &v)) {
    gemini_function(s, v, true);
  } else if (np_json_get(part, "functionResponse", &v)) {
    gemini_function(s, v, false);
  } else if (np_json_get(part, "text", &v)) {
    s->tokens += 1 + gemini_text(s, v);
  } else if (np_json_get(part, "inlineData", &v)) {
    int64_t n = gemini_data(s, part);
    s->tokens += 1 + (n < 0 ? 0 : n);
  } else {
    s->tokens += 1 + gemini_raw(s, part.raw);
  }
}

static inline void gemini_parts(gemini_sum *s, np_json holder) {
  np_json parts, part;
  np_json_get(holder, "parts", &parts);
  np_json_iter it = np_json_each(parts);
  while (np_json_next(&it, NULL, &part)) gemini_part(s, part);
}

static inline int64_t gemini_recount(const np_vocab *v, np_str body,
                                     const np_model *model, int64_t tool_tokens) {
  np_json root, list, content;
  gemini_sum s = {.v = v, .model = model, .tokens = 1 + tool_tokens};
  np_buf_init(&s.text, &np_alloc_libc);
  if (!np_json_check(body, &root, NULL) && np_json_get(root, "contents", &list)) {
    np_json_iter it = np_json_each(list);
    while (np_json_next(&it, NULL, &content)) gemini_parts(&s, content);
    if (np_json_get(root, "systemInstruction", &content)) gemini_parts(&s, content);
  }
  np_buf_free(&s.text);
  return s.tokens;
}

#endif
