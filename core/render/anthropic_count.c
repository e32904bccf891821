/*
** What a request costs, in tokens of the nearest public encoding and the figures of
** claude_count.h: an estimate, whose factor and bound are the model's. A block costs what a
** message does, since neighbours of one role share one: costs must add up however they join.
** next: anthropic_tools.c
*/
#include "render/anthropic.h"

#include "render/claude_count.h"
#include "render/document.h"
#include "render/inner.h"

static const np_claude_cost *const cost = &np_claude_cost_table;

static uint32_t count_buf(const np_view *v, np_buf *b) {
  uint32_t n = np_part_count(v, np_buf_str(b));
  if (b->failed) np_view_lose(v);
  np_buf_free(b);
  return n;
}

static uint32_t text_tokens(const np_view *v, const np_entry *en, const np_str *text) {
  np_buf b;
  np_buf_init(&b, np_temp(v));
  np_anthropic_text(v, en, text, &b);
  return cost->message + count_buf(v, &b);
}

static uint32_t stub_tokens(const np_view *v, const np_entry *call) {
  np_buf b;
  np_buf_init(&b, np_temp(v));
  np_part_stub(v, call, &b);
  return cost->result + count_buf(v, &b);
}

static uint32_t call_tokens(const np_view *v, const np_entry *en, const np_str *text) {
  np_buf b, name;
  np_buf_init(&b, np_temp(v));
  np_buf_init(&name, np_temp(v));
  np_part_name(en->tool, &name);
  np_part_arguments(text ? *text : en->text, &b);
  uint32_t n = cost->call + count_buf(v, &name) + count_buf(v, &b);
  return en->pair ? n : n + stub_tokens(v, en);
}

static uint32_t result_tokens(const np_view *v, const np_entry *en) {
  np_json content;
  bool own = np_view_message(v, en)->shape == NP_SHAPE_ANTHROPIC;
  bool list =
      own && np_json_get(en->raw, "content", &content) && content.type == NP_JSON_ARRAY;
  if (list || np_anthropic_is_mixed(v, en))
    return np_anthropic_inner_tokens(v, en, cost->message);
  return np_part_tokens(v, en, NULL);
}

/* A thought costs its words; one that is hidden its data, which is longer than they were. */
static uint32_t thought_tokens(const np_view *v, const np_entry *en) {
  np_json data;
  np_buf b;
  np_buf_init(&b, np_temp(v));
  if (np_json_get(en->raw, "data", &data)) np_json_text(data, &b);
  else np_buf_add(&b, en->text);
  return cost->message + count_buf(v, &b);
}

static uint32_t raw_tokens(const np_view *v, const np_entry *en) {
  np_buf b;
  np_buf_init(&b, np_temp(v));
  np_json_copy_repaired(en->raw.raw, &b);
  return cost->message + count_buf(v, &b);
}

static uint32_t data_tokens(const np_view *v, const np_entry *en) {
  bool own = np_view_message(v, en)->shape == NP_SHAPE_ANTHROPIC;
  if (!own && !np_anthropic_takes(en)) return text_tokens(v, en, NULL);
  uint32_t pages;
  if (en->kind == NP_KIND_FILE && en->text.n && !np_document_read(en->raw, &pages))
    return cost->message + np_part_count(v, en->text);
  np_inner in = {.kind = en->kind, .part = en->raw};
  return cost->message + np_inner_data_tokens(v, &in);
}

uint32_t np_anthropic_entry_tokens(const np_view *v, const np_entry *en,
                                   const np_str *text) {
  switch (en->kind) {
    case NP_KIND_CALL: return call_tokens(v, en, text);
    case NP_KIND_RESULT:
      if (!en->pair || text) return np_part_tokens(v, en, text);
      return result_tokens(v, en);
    case NP_KIND_THOUGHT: return thought_tokens(v, en);
    case NP_KIND_IMAGE:
    case NP_KIND_FILE: return text ? text_tokens(v, en, text) : data_tokens(v, en);
    default: return en->opaque ? raw_tokens(v, en) : text_tokens(v, en, text);
  }
}

uint32_t np_anthropic_message_tokens(const np_view *v, const np_message *m) {
  (void)v;
  (void)m;
  return 0;
}

/* An orphan goes as user text. */
uint32_t np_anthropic_result_tokens(const np_view *v, const np_entry *en) {
  (void)v;
  return en->pair ? cost->result : cost->message;
}

uint32_t np_anthropic_notice_tokens(const np_view *v, np_str text) {
  return cost->message + np_part_count(v, text);
}

/* tool_choice of `any` or one tool makes the provider say more to the model. */
static bool is_forced(const np_view *v) {
  np_json request, choice, type;
  if (np_json_check(v->request, &request, NULL)) return false;
  if (!np_json_get(request, "tool_choice", &choice)) return false;
  return np_json_get(choice, "type", &type) && type.type == NP_JSON_STRING &&
         (np_json_is_key(type.raw, "any") || np_json_is_key(type.raw, "tool"));
}

/* The list is counted as the text that goes out. */
uint32_t np_anthropic_head_tokens(const np_view *v) {
  np_json tool, list = np_part_tools(v);
  np_buf b;
  np_buf_init(&b, np_temp(v));
  np_anthropic_tools(v, &b);
  uint32_t n = 0;
  if (list.type) n = is_forced(v) ? v->model->tools_forced : v->model->tools;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &tool)) n += cost->tool;
  return n + count_buf(v, &b);
}

/* The user's words that are put before and behind a history of the assistant's. */
uint32_t np_anthropic_tail_tokens(const np_view *v) {
  uint32_t n = cost->reply;
  if (np_anthropic_begins(v))
    n += np_anthropic_notice_tokens(v, NP_LIT(NP_ANTHROPIC_BEGIN));
  if (np_anthropic_ends(v))
    n += np_anthropic_notice_tokens(v, NP_LIT(NP_ANTHROPIC_GO_ON));
  return n;
}
