/*
** What a request costs. Sources: OpenAI's cookbook, "How to count tokens with tiktoken", for
** messages, names, reply priming and tool schemas. For
** calls, results and lists of parts nothing is published: a call costs 3 and its name and
** arguments, a result 3 and its content, ids nothing. next: openai_functions.c, openai.c
*/
#include "render/openai.h"

#include "render/document.h"
#include "render/inner.h"

static const np_openai_cost costs[] = {
    {.encoding = "o200k_base",
     .message = 3,
     .name = 1,
     .reply = 3,
     .call = 3,
     .result = 3,
     .func_init = 7,
     .prop_init = 3,
     .prop_key = 3,
     .enum_init = -3,
     .enum_item = 3,
     .func_end = 12,
     .functions = 9,
     .functions_system = -4,
     .function_result = -2,
     .function_none = 1,
     .function_named = 4},
    {.encoding = "cl100k_base",
     .message = 3,
     .name = 1,
     .reply = 3,
     .call = 3,
     .result = 3,
     .func_init = 10,
     .prop_init = 3,
     .prop_key = 3,
     .enum_init = -3,
     .enum_item = 3,
     .func_end = 12,
     .functions = 9,
     .functions_system = -4,
     .function_result = -2,
     .function_none = 1,
     .function_named = 4},
};

const np_openai_cost *np_openai_cost_find(const np_vocab *v) {
  const char *name = np_vocab_info(v)->name;
  for (size_t i = 0; i < NP_COUNT(costs); i++) {
    if (strcmp(costs[i].encoding, name) == 0) return &costs[i];
  }
  return &costs[0];
}

/* Tokens of a JSON string's text; `dot` leaves out a final full stop, as the rule says. */
static uint32_t count_line(const np_vocab *v, np_buf *line, bool dot) {
  np_str s = np_buf_str(line);
  if (dot && s.n && s.p[s.n - 1] == '.') s.n--;
  return (uint32_t)np_vocab_count(v, s);
}

static void add_member(np_json object, const char *key, np_buf *out) {
  np_json v;
  if (np_json_get(object, key, &v) && v.type == NP_JSON_STRING) np_json_text(v, out);
}

static int64_t properties_tokens(const np_vocab *v, const np_openai_cost *c,
                                 np_json schema, np_buf *line);

static int64_t enum_tokens(const np_vocab *v, const np_openai_cost *c, np_json property,
                           np_buf *line) {
  np_json list, item;
  int64_t n = c->enum_init;
  if (!np_json_get(property, "enum", &list) || list.type != NP_JSON_ARRAY) return 0;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &item)) {
    np_buf_clear(line);
    if (item.type == NP_JSON_STRING) np_json_text(item, line);
    else np_buf_add(line, item.raw);
    n += c->enum_item + count_line(v, line, false);
  }
  return n;
}

/* One property: "key:type:description". The published rule ends here; nested objects and the
** items of arrays are counted by the same rule again. */
static int64_t property_tokens(const np_vocab *v, const np_openai_cost *c, np_str key,
                               np_json property, np_buf *line) {
  np_json type, items;
  np_buf_clear(line);
  np_json_text((np_json){NP_JSON_STRING, key}, line);
  np_buf_addc(line, ':');
  np_json_get(property, "type", &type);
  if (type.type == NP_JSON_STRING) np_json_text(type, line);
  else np_buf_add(line, type.raw.p ? type.raw : NP_LIT(""));
  np_buf_addc(line, ':');
  add_member(property, "description", line);
  int64_t n = c->prop_key + count_line(v, line, true);
  n += enum_tokens(v, c, property, line);
  n += properties_tokens(v, c, property, line);
  if (np_json_get(property, "items", &items)) n += properties_tokens(v, c, items, line);
  return n;
}

static int64_t properties_tokens(const np_vocab *v, const np_openai_cost *c,
                                 np_json schema, np_buf *line) {
  np_json properties, property;
  np_str key;
  int64_t n = 0;
  if (!np_json_get(schema, "properties", &properties)) return 0;
  np_json_iter it = np_json_each(properties);
  while (np_json_next(&it, &key, &property)) {
    if (!n) n += c->prop_init;
    n += property_tokens(v, c, key, property, line);
  }
  return n;
}

static int64_t tool_tokens(const np_vocab *v, const np_openai_cost *c, np_json tool,
                           np_buf *line) {
  np_json function, parameters;
  if (!np_json_get(tool, "function", &function)) function = tool;
  np_buf_clear(line);
  add_member(function, "name", line);
  np_buf_addc(line, ':');
  add_member(function, "description", line);
  int64_t n = c->func_init + count_line(v, line, true);
  if (np_json_get(function, "parameters", &parameters)) {
    n += properties_tokens(v, c, parameters, line);
  }
  return n;
}

/* No line is longer than the schemas: with room for those nothing can fail later. */
uint32_t np_openai_tools_tokens(const np_view *view, np_json tools) {
  const np_vocab *v = view->vocab;
  const np_openai_cost *c = np_openai_cost_find(v);
  np_json tool;
  np_buf line;
  int64_t n = 0;
  np_buf_init(&line, np_temp(view));
  if (!np_buf_reserve(&line, tools.raw.n + 2)) np_view_lose(view);
  np_json_iter it = np_json_each(tools);
  while (np_json_next(&it, NULL, &tool)) {
    if (!n) n = c->func_end;
    n += tool_tokens(v, c, tool, &line);
  }
  np_buf_free(&line);
  return n > 0 ? (uint32_t)n : 0;
}

uint32_t np_openai_head_tokens(const np_view *v) {
  np_json tools;
  uint32_t n = np_openai_functions_tokens(v);
  if (!v->tools.n || np_json_check(v->tools, &tools, NULL)) return n;
  return n + np_openai_tools_tokens(v, tools);
}

uint32_t np_openai_tail_tokens(const np_view *v) {
  return (uint32_t)np_openai_cost_find(v->vocab)->reply;
}

/* A result of the older form is a message with role and name. */
static int64_t result_framing(const np_view *v, const np_openai_cost *c,
                              const np_entry *result) {
  const np_entry *call = np_log_entry(v->log, result->pair);
  if (call->place != NP_PLACE_FUNCTION) return c->result;
  return c->message + np_part_count(v, NP_LIT("function")) + c->name +
         np_part_count(v, call->tool) + c->function_result;
}

uint32_t np_openai_message_tokens(const np_view *v, const np_message *m) {
  const np_openai_cost *c = np_openai_cost_find(v->vocab);
  uint32_t n =
      (uint32_t)c->message + np_part_count(v, np_str_cstr(np_role_name(m->role)));
  if (m->name.n) n += (uint32_t)c->name + np_part_count(v, m->name);
  int64_t more = np_openai_functions_system(v, m);
  return more < -(int64_t)n ? 0 : (uint32_t)(n + more);
}

/* An orphan goes as user text. */
uint32_t np_openai_result_tokens(const np_view *v, const np_entry *en) {
  const np_openai_cost *c = np_openai_cost_find(v->vocab);
  if (en->pair) return (uint32_t)result_framing(v, c, en);
  return (uint32_t)c->message + np_part_count(v, NP_LIT("user"));
}

uint32_t np_openai_notice_tokens(const np_view *v, np_str text) {
  return (uint32_t)np_openai_cost_find(v->vocab)->message +
         np_part_count(v, NP_LIT("user")) + np_part_count(v, text);
}

static uint32_t stub_tokens(const np_view *v, const np_entry *call) {
  np_buf stub;
  np_buf_init(&stub, np_temp(v));
  np_part_stub(v, call, &stub);
  uint32_t n = (uint32_t)np_openai_cost_find(v->vocab)->result +
               np_part_count(v, np_buf_str(&stub));
  if (stub.failed) np_view_lose(v);
  np_buf_free(&stub);
  return n;
}

/* Arguments of another form are made an object; those of this one go as they are. */
static uint32_t argument_tokens(const np_view *v, const np_entry *en, np_str arguments) {
  if (np_view_message(v, en)->shape == NP_SHAPE_CHAT) return np_part_count(v, arguments);
  np_buf b;
  np_buf_init(&b, np_temp(v));
  np_part_arguments(arguments, &b);
  uint32_t n = np_part_count(v, np_buf_str(&b));
  if (b.failed) np_view_lose(v);
  np_buf_free(&b);
  return n;
}

static uint32_t call_tokens(const np_view *v, const np_entry *en, np_str arguments) {
  uint32_t n = (uint32_t)np_openai_cost_find(v->vocab)->call + np_part_count(v, en->tool);
  n += argument_tokens(v, en, arguments);
  return en->pair ? n : n + stub_tokens(v, en);
}

/* A list of parts counts each text apart, as each is a string of its own. */
static uint32_t result_tokens(const np_view *v, const np_entry *en) {
  np_inner in;
  uint32_t n = 0;
  if (en->raw.type != NP_JSON_ARRAY) return np_part_count(v, en->text);
  np_inners all = np_inner_each(v, en);
  while (np_inner_next(&all, &in)) n += np_inner_tokens(v, &in);
  return n;
}

/* A picture that the form can take costs its tiles, a document its pages; what stands for
** another is text. */
static uint32_t data_tokens(const np_view *v, const np_entry *en) {
  bool own = np_view_message(v, en)->shape == NP_SHAPE_CHAT;
  uint32_t pages;
  if (en->kind == NP_KIND_FILE && own && np_document_read(en->raw, &pages))
    return np_document_tokens(v->model, pages);
  if (en->kind == NP_KIND_IMAGE && (own || np_openai_takes(en)))
    return np_image_tokens(v->model->image, np_image_read(en->raw), NULL);
  return np_part_tokens(v, en, NULL);
}

uint32_t np_openai_entry_tokens(const np_view *v, const np_entry *en,
                                const np_str *text) {
  switch (en->kind) {
    case NP_KIND_CALL: return call_tokens(v, en, text ? *text : en->text);
    case NP_KIND_RESULT:
      return text || !en->pair ? np_part_tokens(v, en, text) : result_tokens(v, en);
    case NP_KIND_IMAGE:
    case NP_KIND_FILE: return text ? np_part_count(v, *text) : data_tokens(v, en);
    default: return np_part_count(v, text ? *text : en->text);
  }
}
