/*
** The older `functions` member of a request: the provider shows the model its functions as
** type declarations, and those are what counts. The form of the declarations was found out by
** comparing counts (hmarr, openai-chat-tokens, 2023); figures of openai_count.c's table.
** next: openai.c
*/
#include "render/openai.h"

static void add_text(np_buf *out, np_json v) {
  if (v.type == NP_JSON_STRING) np_json_text(v, out);
  else np_buf_add(out, v.raw);
}

static void pad(np_buf *out, int indent) {
  for (int i = 0; i < indent; i++) np_buf_addc(out, ' ');
}

static void add_type(np_buf *out, np_json schema, int indent);

static void add_enum(np_buf *out, np_json list, bool quoted) {
  np_json item;
  const char *sep = "";
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &item)) {
    np_buf_adds(out, sep);
    if (quoted) np_buf_addc(out, '"');
    add_text(out, item);
    if (quoted) np_buf_addc(out, '"');
    sep = " | ";
  }
}

static bool is_required(np_json schema, np_str key) {
  np_json list, item;
  if (!np_json_get(schema, "required", &list) || list.type != NP_JSON_ARRAY) return false;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &item)) {
    if (item.type == NP_JSON_STRING && np_str_eq(item.raw, key)) return true;
  }
  return false;
}

/* One a line; a description goes above it, but for what is nested twice. */
static void add_properties(np_buf *out, np_json schema, int indent) {
  np_json properties, property, about;
  np_str key;
  bool first = true;
  if (!np_json_get(schema, "properties", &properties)) return;
  np_json_iter it = np_json_each(properties);
  while (np_json_next(&it, &key, &property)) {
    if (!first) np_buf_addc(out, '\n');
    first = false;
    if (indent < 2 && np_json_get(property, "description", &about) && about.raw.n > 2) {
      pad(out, indent);
      np_buf_adds(out, "// ");
      add_text(out, about);
      np_buf_addc(out, '\n');
    }
    pad(out, indent);
    np_json_text((np_json){NP_JSON_STRING, key}, out);
    np_buf_adds(out, is_required(schema, key) ? ": " : "?: ");
    add_type(out, property, indent);
    np_buf_addc(out, ',');
  }
}

static void add_type(np_buf *out, np_json schema, int indent) {
  np_json type = {0}, list, items;
  np_json_get(schema, "type", &type);
  bool has_enum = np_json_get(schema, "enum", &list) && list.type == NP_JSON_ARRAY;
  bool is_text = np_json_is_key(type.raw, "string");
  bool is_number =
      np_json_is_key(type.raw, "number") || np_json_is_key(type.raw, "integer");
  if ((is_text || is_number) && has_enum) {
    add_enum(out, list, is_text);
  } else if (is_number) {
    np_buf_adds(out, "number");
  } else if (np_json_is_key(type.raw, "array")) {
    if (np_json_get(schema, "items", &items)) add_type(out, items, indent);
    else np_buf_adds(out, "any");
    np_buf_adds(out, "[]");
  } else if (np_json_is_key(type.raw, "object")) {
    np_buf_adds(out, "{\n");
    add_properties(out, schema, indent + 2);
    np_buf_adds(out, "\n}");
  } else if (type.type == NP_JSON_STRING) {
    np_json_text(type, out);
  } else {
    np_buf_adds(out, "any");
  }
}

static void add_function(np_buf *out, np_json function) {
  np_json name = {0}, about, parameters = {0}, properties;
  np_json_get(function, "name", &name);
  if (np_json_get(function, "description", &about) && about.raw.n > 2) {
    np_buf_adds(out, "// ");
    add_text(out, about);
    np_buf_addc(out, '\n');
  }
  np_buf_adds(out, "type ");
  add_text(out, name);
  np_json_get(function, "parameters", &parameters);
  np_json first;
  bool has = np_json_get(parameters, "properties", &properties) &&
             properties.type == NP_JSON_OBJECT;
  np_json_iter it = np_json_each(has ? properties : (np_json){0});
  if (has && np_json_next(&it, NULL, &first)) {
    np_buf_adds(out, " = (_: {\n");
    add_properties(out, parameters, 0);
    np_buf_adds(out, "\n}) => any;\n\n");
  } else {
    np_buf_adds(out, " = () => any;\n\n");
  }
}

static bool functions_of(const np_view *v, np_json *request, np_json *list) {
  np_json first;
  if (np_str_find(v->request, NP_LIT("functions"), 0) == SIZE_MAX) return false;
  if (np_json_check(v->request, request, NULL)) return false;
  if (!np_json_get(*request, "functions", list) || list->type != NP_JSON_ARRAY)
    return false;
  np_json_iter it = np_json_each(*list);
  return np_json_next(&it, NULL, &first);
}

/* "auto" costs nothing. */
static int64_t choice_tokens(const np_view *v, const np_openai_cost *c, np_json request) {
  np_json choice, name;
  np_buf text;
  if (!np_json_get(request, "function_call", &choice)) return 0;
  if (choice.type == NP_JSON_STRING)
    return np_json_is_key(choice.raw, "none") ? c->function_none : 0;
  if (!np_json_get(choice, "name", &name) || name.type != NP_JSON_STRING) return 0;
  np_buf_init(&text, np_temp(v));
  np_json_text(name, &text);
  if (text.failed) np_view_lose(v);
  int64_t n = c->function_named + (int64_t)np_vocab_count(v->vocab, np_buf_str(&text));
  np_buf_free(&text);
  return n;
}

uint32_t np_openai_functions_tokens(const np_view *v) {
  const np_openai_cost *c = np_openai_cost_find(v->vocab);
  np_json request, list, function;
  np_buf text;
  if (!functions_of(v, &request, &list)) return 0;
  np_buf_init(&text, np_temp(v));
  np_buf_adds(&text, "namespace functions {\n\n");
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &function)) add_function(&text, function);
  np_buf_adds(&text, "} // namespace functions");
  if (text.failed) np_view_lose(v);
  int64_t n = c->functions + (int64_t)np_vocab_count(v->vocab, np_buf_str(&text)) +
              choice_tokens(v, c, request);
  np_buf_free(&text);
  return n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)n;
}

static bool is_first_system(const np_view *v, const np_message *m) {
  if (m->role != NP_ROLE_SYSTEM || !m->entries) return false;
  for (const np_message *at = v->log->messages; at < m; at++) {
    if (at->role == NP_ROLE_SYSTEM) return false;
  }
  return true;
}

/* The declarations follow it on a new line, inside the same message. */
int64_t np_openai_functions_system(const np_view *v, const np_message *m) {
  const np_openai_cost *c = np_openai_cost_find(v->vocab);
  np_json request, list;
  np_buf text;
  if (!is_first_system(v, m) || !functions_of(v, &request, &list)) return 0;
  np_str last = np_log_entry(v->log, m->first + m->entries - 1)->text;
  np_buf_init(&text, np_temp(v));
  np_buf_add(&text, last);
  np_buf_addc(&text, '\n');
  if (text.failed) np_view_lose(v);
  int64_t n = (int64_t)np_vocab_count(v->vocab, np_buf_str(&text)) -
              (int64_t)np_vocab_count(v->vocab, last) + c->functions_system;
  np_buf_free(&text);
  return n;
}
