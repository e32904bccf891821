/*
** What a Gemini request costs, by the table of gemini_count.h. Turns are joined where roles
** repeat, so that what a turn costs is counted by its parts. A signature stands for thoughts:
** one token for three of its bytes. next: gemini_parts.c
*/
#include "render/gemini_count.h"

#include "render/document.h"
#include "render/gemini.h"

#define COST (&np_gemini_cost_table)

bool np_gemini_owns(const np_view *v, const np_entry *en) {
  return np_view_message(v, en)->shape == NP_SHAPE_GEMINI;
}

bool np_gemini_opens_late(const np_view *v) {
  const np_entry *en = np_log_entry(v->log, v->opening);
  return en && np_view_message(v, en)->role == NP_ROLE_ASSISTANT;
}

/* Whether the response that the last entry is of has a call that a stub answers. */
static bool has_stub(const np_view *v, const np_message *m) {
  for (int64_t id = v->tail; id; id = np_view_at(v, id)->prev) {
    const np_entry *en = np_log_entry(v->log, id);
    if (np_view_message(v, en)->lead != m->lead) break;
    if (en->kind == NP_KIND_CALL && !en->pair && np_view_is_shown(v, id)) return true;
  }
  return false;
}

/* What is dropped has a notice, which is the user's. */
bool np_gemini_closes(const np_view *v) {
  const np_entry *en = np_log_entry(v->log, v->tail);
  if (!en || (en->kind == NP_KIND_SYSTEM && en->region == NP_REGION_FIXED))
    return !np_gemini_opens_late(v);
  const np_message *m = np_view_message(v, en);
  return m->role == NP_ROLE_ASSISTANT && np_view_is_shown(v, en->id) && !has_stub(v, m);
}

np_json np_gemini_signature(np_json part) {
  np_json v;
  if (!np_json_get(part, "thoughtSignature", &v))
    np_json_get(part, "thought_signature", &v);
  return v.type == NP_JSON_STRING ? v : (np_json){0};
}

static uint32_t signature_tokens(const np_view *v, const np_entry *en) {
  np_json sign = {0};
  if (np_gemini_owns(v, en)) sign = np_gemini_signature(en->raw);
  return sign.type ? (uint32_t)((sign.raw.n - 2 + 3) / 4) : 0;
}

void np_gemini_name(const np_view *v, const np_entry *call, np_buf *out) {
  if (np_gemini_owns(v, call)) np_buf_add(out, call->tool);
  else np_part_name(call->tool, out);
}

void np_gemini_arguments(const np_view *v, const np_entry *call, np_str text,
                         np_buf *out) {
  np_buf filled;
  np_buf_init(&filled, np_temp(v));
  (void)call;
  np_part_arguments(np_view_text(v, text, &filled), out);
  if (filled.failed) out->failed = true;
  np_buf_free(&filled);
}

static uint32_t buf_tokens(const np_view *v, np_buf *b) {
  uint32_t n = np_part_count(v, np_buf_str(b));
  if (b->failed) np_view_lose(v);
  np_buf_free(b);
  return n;
}

static uint32_t name_tokens(const np_view *v, const np_entry *call) {
  np_buf name;
  np_buf_init(&name, np_temp(v));
  np_gemini_name(v, call, &name);
  return buf_tokens(v, &name);
}

static uint32_t call_tokens(const np_view *v, const np_entry *en, np_str text) {
  np_buf args, stub;
  uint32_t name = name_tokens(v, en);
  np_buf_init(&args, np_temp(v));
  np_buf_init(&stub, np_temp(v));
  np_gemini_arguments(v, en, text, &args);
  uint32_t n = COST->call + name + buf_tokens(v, &args) + signature_tokens(v, en);
  if (!en->pair) {
    np_part_stub(v, en, &stub);
    n += COST->result + name + np_part_count(v, np_buf_str(&stub));
    if (stub.failed) np_view_lose(v);
  }
  np_buf_free(&stub);
  return n;
}

/* What goes out as its raw bytes: what the provider keeps for itself. */
static bool is_raw(const np_view *v, const np_entry *en) {
  return np_gemini_owns(v, en) && en->text.n && en->text.p >= en->raw.raw.p &&
         en->text.p < en->raw.raw.p + en->raw.raw.n;
}

static uint32_t text_tokens(const np_view *v, const np_entry *en, const np_str *text) {
  return !text && is_raw(v, en) ? np_part_raw_tokens(v, np_view_message(v, en), en->text)
                                : np_part_tokens(v, en, text);
}

/* Whether the entry goes out as the bytes of a PDF file; one that cannot be read is a page. */
static bool has_pages(const np_view *v, const np_entry *en, uint32_t *pages) {
  np_picture file;
  if (en->kind != NP_KIND_FILE || !np_gemini_takes(v, en)) return false;
  if (!np_picture_read(en->raw, &file) || !file.data.n) return false;
  if (!np_document_read(en->raw, pages)) *pages = 1;
  return np_str_is(file.type, "application/pdf");
}

/* A text that is replaced goes without its signature. */
uint32_t np_gemini_entry_tokens(const np_view *v, const np_entry *en,
                                const np_str *text) {
  if (en->kind == NP_KIND_CALL) return call_tokens(v, en, text ? *text : en->text);
  if (en->kind == NP_KIND_RESULT)
    return text || !en->pair ? np_part_tokens(v, en, text)
                             : np_gemini_whole_tokens(v, en);
  if (en->kind == NP_KIND_IMAGE && !text && np_gemini_takes(v, en))
    return COST->message + np_image_tokens(v->model->image, np_image_read(en->raw), NULL);
  uint32_t pages;
  if (!text && has_pages(v, en, &pages))
    return COST->message + np_document_tokens(v->model, pages);
  uint32_t n = COST->message + text_tokens(v, en, text);
  return text ? n : n + signature_tokens(v, en);
}

uint32_t np_gemini_message_tokens(const np_view *v, const np_message *lead) {
  (void)v;
  (void)lead;
  return 0;
}

/* An orphan goes as a text. */
uint32_t np_gemini_result_tokens(const np_view *v, const np_entry *en) {
  const np_entry *call = np_log_entry(v->log, en->pair);
  return call ? COST->result + name_tokens(v, call) : COST->message;
}

uint32_t np_gemini_notice_tokens(const np_view *v, np_str text) {
  return COST->message + np_part_count(v, text);
}

/* ---- what stands around ---- */

static uint32_t tool_tokens(const np_view *v, np_json declaration) {
  static const char *const schemas[] = {"parameters", "parametersJsonSchema"};
  np_json text;
  np_buf b;
  uint32_t n = COST->tool;
  np_buf_init(&b, np_temp(v));
  if (np_json_get(declaration, "name", &text)) np_json_text(text, &b);
  n += np_part_count(v, np_buf_str(&b));
  np_buf_clear(&b);
  if (np_json_get(declaration, "description", &text)) np_json_text(text, &b);
  n += buf_tokens(v, &b);
  for (size_t i = 0; i < NP_COUNT(schemas); i++) {
    if (np_json_get(declaration, schemas[i], &text)) n += np_part_count(v, text.raw);
  }
  return n;
}

static uint32_t tools_tokens(const np_view *v) {
  np_json list, tool, declarations, one;
  np_buf tools;
  uint32_t n = 0;
  np_buf_init(&tools, np_temp(v));
  np_gemini_tools(v, &tools);
  bool has = tools.n && !np_json_check(np_buf_str(&tools), &list, NULL);
  np_json_iter it = np_json_each(has ? list : (np_json){0});
  while (np_json_next(&it, NULL, &tool)) {
    if (!np_json_get(tool, "functionDeclarations", &declarations)) {
      n += np_part_count(v, tool.raw);
      continue;
    }
    np_json_iter each = np_json_each(declarations);
    while (np_json_next(&each, NULL, &one)) n += tool_tokens(v, one);
  }
  if (tools.failed) np_view_lose(v);
  np_buf_free(&tools);
  return n;
}

/* The host's own instruction, part by part. */
static uint32_t instruction_tokens(const np_view *v) {
  np_json request, system, parts, part, text;
  np_buf b;
  uint32_t n = 0;
  if (!v->request.n || np_json_check(v->request, &request, NULL)) return 0;
  if (!np_json_get(request, "systemInstruction", &system) &&
      !np_json_get(request, "system_instruction", &system))
    return 0;
  np_json_get(system, "parts", &parts);
  np_json_iter it = np_json_each(parts);
  while (np_json_next(&it, NULL, &part)) {
    np_buf_init(&b, np_temp(v));
    if (np_json_get(part, "text", &text)) np_json_text(text, &b);
    n += COST->message + buf_tokens(v, &b);
  }
  return n;
}

uint32_t np_gemini_head_tokens(const np_view *v) {
  return tools_tokens(v) + instruction_tokens(v);
}

/* What the form puts in to begin and to end with the user counts here, whose count is made anew
** with every change of what is first and last. */
uint32_t np_gemini_tail_tokens(const np_view *v) {
  uint32_t n = COST->reply;
  if (np_gemini_opens_late(v))
    n += COST->message + np_part_count(v, NP_LIT(NP_GEMINI_OPENING));
  if (np_gemini_closes(v))
    n += COST->message + np_part_count(v, NP_LIT(NP_GEMINI_CLOSING));
  return n;
}
