/*
** An independent count of Messages bodies, from the figures of render/claude_count.h, and what
** of them must stand again in the next prompt: the blocks with their roles, whatever brackets
** are around them. Whether a body is valid is np_check's to say. next: test_pack.c
*/
#ifndef NP_TESTS_ANTHROPIC_CHECK_H
#define NP_TESTS_ANTHROPIC_CHECK_H

#include "base/json.h"
#include "render/document.h"
#include "render/image.h"
#include "token/token.h"

#define ANTHROPIC_GO_ON "{\"type\":\"text\",\"text\":\"(go on)\"}"

typedef struct blocks_check {
  const np_vocab *v;
  np_buf text, seen; /* seen: one line a block, its role before it */
  int64_t tokens;
  const np_model *model;
} blocks_check;

static inline int64_t blocks_string(blocks_check *c, np_json s) {
  np_buf_clear(&c->text);
  np_json_text(s, &c->text);
  return (int64_t)np_vocab_count(c->v, np_buf_str(&c->text));
}

/* A picture by its size, a document by its pages; -1: neither. */
static inline int64_t blocks_data(blocks_check *c, np_json block) {
  np_json type, source, media;
  uint32_t pages;
  np_json_get(block, "type", &type);
  if (np_str_is(type.raw, "\"image\""))
    return 4 + np_image_tokens(c->model->image, np_image_read(block), NULL);
  if (!np_str_is(type.raw, "\"document\"")) return -1;
  np_json_get(block, "source", &source);
  np_json_get(source, "media_type", &media);
  if (np_document_read(block, &pages)) return 4 + (int64_t)pages * c->model->page;
  return np_str_is(media.raw, "\"application/pdf\"") ? 4 + (int64_t)c->model->page : -1;
}

static inline int64_t blocks_result(blocks_check *c, np_json content) {
  np_json block, v, source, type;
  int64_t n = 0;
  if (content.type == NP_JSON_STRING) return blocks_string(c, content);
  np_json_iter it = np_json_each(content);
  while (np_json_next(&it, NULL, &block)) {
    np_json_get(block, "source", &source);
    np_json_get(source, "type", &type);
    bool plain = np_str_is(type.raw, "\"text\"") && np_json_get(source, "data", &v);
    if (plain || np_json_get(block, "text", &v)) n += blocks_string(c, v);
    else n += blocks_data(c, block);
  }
  return n;
}

static inline int64_t blocks_one(blocks_check *c, np_json block) {
  np_json type, v, w;
  np_json_get(block, "type", &type);
  if (np_str_is(type.raw, "\"text\"")) {
    np_json_get(block, "text", &v);
    return 4 + blocks_string(c, v);
  }
  if (np_str_is(type.raw, "\"thinking\"")) {
    np_json_get(block, "thinking", &v);
    return 4 + blocks_string(c, v);
  }
  if (np_str_is(type.raw, "\"redacted_thinking\"")) {
    np_json_get(block, "data", &v);
    return 4 + blocks_string(c, v);
  }
  if (np_str_is(type.raw, "\"tool_use\"")) {
    np_json_get(block, "name", &v);
    np_json_get(block, "input", &w);
    return 26 + blocks_string(c, v) + (int64_t)np_vocab_count(c->v, w.raw);
  }
  if (np_str_is(type.raw, "\"tool_result\"")) {
    np_json_get(block, "content", &v);
    return 12 + blocks_result(c, v);
  }
  if (blocks_data(c, block) >= 0) return blocks_data(c, block);
  return 4 + (int64_t)np_vocab_count(c->v, block.raw);
}

static inline void blocks_see(blocks_check *c, np_str role, np_str block) {
  np_str mark = NP_LIT(",\"cache_control\":{\"type\":\"ephemeral\"}");
  size_t at = np_str_find(block, mark, 0), end = at == SIZE_MAX ? block.n : at;
  np_buf_add(&c->seen, role);
  np_buf_addc(&c->seen, ' ');
  np_buf_add(&c->seen, np_str_cut(block, 0, end));
  np_buf_add(&c->seen, np_str_cut(block, end + (end < block.n ? mark.n : 0), block.n));
  np_buf_addc(&c->seen, '\n');
}

static inline void blocks_content(blocks_check *c, np_str role, np_json content) {
  np_json block;
  if (content.type == NP_JSON_STRING) {
    np_buf text;
    np_buf_init(&text, &np_alloc_libc);
    np_buf_adds(&text, "{\"type\":\"text\",\"text\":");
    np_buf_add(&text, content.raw);
    np_buf_addc(&text, '}');
    blocks_see(c, role, np_buf_str(&text));
    np_buf_free(&text);
    c->tokens += 4 + blocks_string(c, content);
  }
  np_json_iter it = np_json_each(content);
  while (np_json_next(&it, NULL, &block)) {
    blocks_see(c, role, block.raw);
    c->tokens += blocks_one(c, block);
  }
}

/* Counts the body; `seen` gets its blocks, without the last where that only lets the model go
** on. NULL, or what is wrong. */
static inline const char *anthropic_count(const np_vocab *v, const np_model *model,
                                          np_str body, np_buf *seen, int64_t *tokens) {
  np_json root, list, m, role, content;
  blocks_check c = {.v = v, .model = model, .tokens = 3};
  if (np_json_check(body, &root, NULL)) return "not JSON";
  np_buf_init(&c.text, &np_alloc_libc);
  np_buf_init(&c.seen, &np_alloc_libc);
  if (np_json_get(root, "system", &content))
    blocks_content(&c, NP_LIT("system"), content);
  np_str last = NP_LIT("");
  np_json_get(root, "messages", &list);
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &m)) {
    np_json_get(m, "role", &role);
    np_json_get(m, "content", &content);
    if (np_str_eq(role.raw, last) && np_str_is(role.raw, "\"user\"")) {
      np_buf_free(&c.text);
      np_buf_free(&c.seen);
      return "two user messages follow each other";
    }
    last = role.raw;
    blocks_content(&c, role.raw, content);
  }
  np_str go = NP_LIT("\"user\" " ANTHROPIC_GO_ON "\n");
  bool ends = c.seen.n >= go.n && !memcmp(c.seen.p + c.seen.n - go.n, go.p, go.n);
  if (ends) c.seen.n -= go.n;
  np_buf_clear(seen);
  np_buf_add(seen, np_buf_str(&c.seen));
  *tokens = c.tokens;
  np_buf_free(&c.text);
  np_buf_free(&c.seen);
  return NULL;
}

#endif
