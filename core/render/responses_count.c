/*
** What a Responses request costs. Nothing is published for items: they are counted by the rule
** for chat messages (openai_count.c), a message of the assistant by each of its texts, since
** items of one response are told apart by nothing else. Encrypted content is opaque: a token
** for three of its bytes is more than any text behind it can have. next: responses.c
*/
#include "render/responses.h"

#include "render/document.h"
#include "render/openai.h"

bool np_responses_owns(const np_view *v, const np_entry *en) {
  return np_view_message(v, en)->shape == NP_SHAPE_RESPONSES;
}

void np_responses_arguments(const np_view *v, const np_entry *call, np_str text,
                            np_buf *out) {
  np_buf filled;
  np_buf_init(&filled, np_temp(v));
  np_str known = np_view_text(v, text, &filled);
  if (np_responses_owns(v, call)) np_buf_add(out, known);
  else np_part_arguments(known, out);
  if (filled.failed) out->failed = true;
  np_buf_free(&filled);
}

static uint32_t buf_tokens(const np_view *v, np_buf *b) {
  uint32_t n = np_part_count(v, np_buf_str(b));
  if (b->failed) np_view_lose(v);
  np_buf_free(b);
  return n;
}

static uint32_t stub_tokens(const np_view *v, const np_entry *call) {
  np_buf stub;
  np_buf_init(&stub, np_temp(v));
  np_part_stub(v, call, &stub);
  return (uint32_t)np_openai_cost_find(v->vocab)->result + buf_tokens(v, &stub);
}

static uint32_t name_tokens(const np_view *v, const np_entry *call) {
  np_buf name;
  if (np_responses_owns(v, call)) return np_part_count(v, call->tool);
  np_buf_init(&name, np_temp(v));
  np_part_name(call->tool, &name);
  return buf_tokens(v, &name);
}

static uint32_t call_tokens(const np_view *v, const np_entry *en, np_str text) {
  np_buf args;
  np_buf_init(&args, np_temp(v));
  np_responses_arguments(v, en, text, &args);
  uint32_t n = (uint32_t)np_openai_cost_find(v->vocab)->call + name_tokens(v, en);
  n += buf_tokens(v, &args);
  return en->pair ? n : n + stub_tokens(v, en);
}

/* Base64 is four characters for three bytes. */
static uint32_t opaque_tokens(const np_view *v, const np_message *m, np_json item) {
  np_json secret;
  if (np_json_get(item, "encrypted_content", &secret) && secret.raw.n > 2)
    return (uint32_t)((secret.raw.n - 2 + 3) / 4);
  return np_part_raw_tokens(v, m, item.raw);
}

static uint32_t result_tokens(const np_view *v, const np_entry *en) {
  bool list = np_responses_has_list(v, en) || np_responses_is_mixed(v, en);
  return list ? np_responses_inner_tokens(v, en) : np_part_tokens(v, en, NULL);
}

static uint32_t framing(const np_view *v, np_role role) {
  return (uint32_t)np_openai_cost_find(v->vocab)->message +
         np_part_count(v, np_str_cstr(np_role_name(role)));
}

/* Whether the entry goes out as a document: with its bytes, or one that the provider keeps or
** fetches. One that cannot be read is a page. */
static bool has_pages(const np_view *v, const np_entry *en, uint32_t *pages) {
  np_picture file;
  if (en->kind != NP_KIND_FILE || !np_responses_takes(v, en)) return false;
  if (np_document_read(en->raw, pages)) return true;
  *pages = 1;
  return np_picture_read(en->raw, &file) && np_str_is(file.type, "application/pdf");
}

/* What is an item by itself is framed as one: as a message where a mark stands for it. A
** message of the assistant is framed by each of its texts. */
static uint32_t text_tokens(const np_view *v, const np_entry *en, const np_str *text) {
  np_role role = np_view_message(v, en)->role;
  bool item = en->place == NP_PLACE_ITEM;
  if (item && !text)
    return (uint32_t)np_openai_cost_find(v->vocab)->call +
           opaque_tokens(v, np_view_message(v, en), en->raw);
  bool file = en->kind == NP_KIND_FILE && np_responses_owns(v, en) && !text;
  uint32_t pages;
  if (!item && !text && has_pages(v, en, &pages))
    return np_document_tokens(v->model, pages);
  uint32_t n = file ? np_part_raw_tokens(v, np_view_message(v, en), en->raw.raw)
                    : np_part_tokens(v, en, text);
  return item || role == NP_ROLE_ASSISTANT ? n + framing(v, role) : n;
}

uint32_t np_responses_entry_tokens(const np_view *v, const np_entry *en,
                                   const np_str *text) {
  switch (en->kind) {
    case NP_KIND_CALL: return call_tokens(v, en, text ? *text : en->text);
    case NP_KIND_RESULT:
      return text || !en->pair ? np_part_tokens(v, en, text) : result_tokens(v, en);
    case NP_KIND_THOUGHT:
      return (uint32_t)np_openai_cost_find(v->vocab)->call +
             opaque_tokens(v, np_view_message(v, en), en->raw);
    case NP_KIND_IMAGE:
      if (!text && np_responses_takes(v, en))
        return np_image_tokens(v->model->image, np_image_read(en->raw), NULL);
      return text_tokens(v, en, text);
    default: return text_tokens(v, en, text);
  }
}

uint32_t np_responses_message_tokens(const np_view *v, const np_message *lead) {
  const np_entry *en = np_log_entry(v->log, lead->first);
  if (lead->role == NP_ROLE_ASSISTANT || (en && en->place == NP_PLACE_ITEM)) return 0;
  return framing(v, lead->role);
}

/* An orphan goes as a message of the user's. */
uint32_t np_responses_result_tokens(const np_view *v, const np_entry *en) {
  if (en->pair) return (uint32_t)np_openai_cost_find(v->vocab)->result;
  return framing(v, NP_ROLE_USER);
}

/* Instructions are a message of the system's. */
static uint32_t instruction_tokens(const np_view *v) {
  np_json request, text;
  np_buf b;
  if (!v->request.n || np_json_check(v->request, &request, NULL)) return 0;
  if (!np_json_get(request, "instructions", &text) || text.type != NP_JSON_STRING)
    return 0;
  np_buf_init(&b, np_temp(v));
  np_json_text(text, &b);
  return framing(v, NP_ROLE_SYSTEM) + buf_tokens(v, &b);
}

uint32_t np_responses_head_tokens(const np_view *v) {
  np_json list;
  np_buf tools;
  uint32_t n = instruction_tokens(v);
  np_buf_init(&tools, np_temp(v));
  np_responses_tools(v, &tools);
  if (tools.n && !np_json_check(np_buf_str(&tools), &list, NULL))
    n += np_openai_tools_tokens(v, list);
  if (tools.failed) np_view_lose(v);
  np_buf_free(&tools);
  return n;
}
