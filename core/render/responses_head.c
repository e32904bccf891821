/*
** What stands before the items: the host's members, and tools with their members flat. Tools
** that another provider runs are left out, as this one cannot. next: gemini.h
*/
#include "render/responses.h"

/* "web_search_20250305": Anthropic's own end in a date. */
static bool is_dated(np_json type) {
  size_t n = type.raw.n;
  if (type.type != NP_JSON_STRING || n < 11 || type.raw.p[n - 10] != '_') return false;
  for (size_t i = n - 9; i < n - 1; i++) {
    if (type.raw.p[i] < '0' || type.raw.p[i] > '9') return false;
  }
  return true;
}

/* Of this provider's form already, namespaces and what the provider runs itself included. */
static bool is_own(np_json tool, const np_tool *t) {
  np_json type;
  if (t->shape == NP_SHAPE_RESPONSES) return true;
  return t->own && np_json_get(tool, "type", &type) && !is_dated(type);
}

static void add_member(const char *key, np_json value, np_buf *out) {
  if (!value.type) return;
  np_buf_adds(out, ",\"");
  np_buf_adds(out, key);
  np_buf_adds(out, "\":");
  np_json_copy_repaired(value.raw, out);
}

/* Functions are strict here unless they say otherwise, and nowhere else. */
static void add_tool(np_json tool, const np_tool *t, np_buf *out) {
  np_json function, strict = {0};
  np_str name = NP_LIT("");
  np_buf text;
  if (!np_json_get(tool, "function", &function)) function = tool;
  np_buf_init(&text, out->alloc);
  if (t->name.type) np_json_text(t->name, &text);
  name = np_buf_str(&text);
  np_buf_adds(out, "{\"type\":\"function\",\"name\":\"");
  np_part_name(name, out);
  np_buf_addc(out, '"');
  add_member("description", t->description, out);
  add_member("parameters", t->schema, out);
  if (np_json_get(function, "strict", &strict)) add_member("strict", strict, out);
  else np_buf_adds(out, ",\"strict\":false");
  np_buf_addc(out, '}');
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

static bool are_own(np_json list) {
  np_json tool;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &tool)) {
    np_tool t = np_tool_read(tool);
    if (!is_own(tool, &t)) return false;
  }
  return true;
}

void np_responses_tools(const np_view *v, np_buf *out) {
  np_json list = np_part_tools(v), tool;
  char sep = '[';
  if (!list.type) return;
  if (are_own(list)) {
    np_json_copy_repaired(v->tools, out);
    return;
  }
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &tool)) {
    np_tool t = np_tool_read(tool);
    bool own = is_own(tool, &t);
    if (t.own && !own) continue;
    np_buf_addc(out, sep);
    if (own) np_json_copy_repaired(tool.raw, out);
    else add_tool(tool, &t, out);
    sep = ',';
  }
  if (sep == ',') np_buf_addc(out, ']');
}

void np_responses_head(const np_view *v, np_seam *seam, np_buf *out) {
  (void)seam;
  np_part_request(v, out);
  np_buf_adds(out, "\"tools\":");
  size_t at = out->n;
  np_responses_tools(v, out);
  if (out->n == at) out->n -= sizeof "\"tools\":" - 1;
  else np_buf_addc(out, ',');
  np_buf_adds(out, "\"input\":[");
}
