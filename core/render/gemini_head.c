/*
** What stands before Gemini's contents: the host's members and the tools. Schemas of other
** forms are JSON Schema, which the provider takes under a name of its own; tools that another
** provider runs are left out, as this one cannot. next: ../pack/pack.h
*/
#include "render/gemini.h"

static bool request_has(const np_view *v, const char *a, const char *b) {
  np_json request, x;
  if (v->request.n <= 2 || np_json_check(v->request, &request, NULL)) return false;
  return np_json_get(request, a, &x) || np_json_get(request, b, &x);
}

bool np_gemini_instructed(const np_view *v) {
  return request_has(v, "systemInstruction", "system_instruction");
}

/* ---- tools ---- */

static bool is_own(const np_tool *t) {
  return t->own && t->shape == NP_SHAPE_GEMINI;
}

static bool are_own(np_json list) {
  np_json tool;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &tool)) {
    np_tool t = np_tool_read(tool);
    if (!is_own(&t)) return false;
  }
  return true;
}

static void add_member(const char *key, np_json value, np_buf *out) {
  if (!value.type) return;
  np_buf_adds(out, ",\"");
  np_buf_adds(out, key);
  np_buf_adds(out, "\":");
  np_json_copy_repaired(value.raw, out);
}

static void add_converted(const np_tool *t, np_buf *out) {
  np_buf name;
  np_buf_init(&name, out->alloc);
  if (t->name.type) np_json_text(t->name, &name);
  np_buf_adds(out, "{\"name\":\"");
  np_part_name(np_buf_str(&name), out);
  np_buf_addc(out, '"');
  add_member("description", t->description, out);
  add_member("parametersJsonSchema", t->schema, out);
  np_buf_addc(out, '}');
  if (name.failed) out->failed = true;
  np_buf_free(&name);
}

static void add_each(np_json list, char *sep, np_buf *out) {
  np_json one;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &one)) {
    np_buf_addc(out, *sep);
    np_json_copy_repaired(one.raw, out);
    *sep = ',';
  }
}

/* All functions in one list: several lists of them are refused. */
static bool add_functions(np_json list, np_buf *out) {
  np_json tool, declarations;
  char sep = '[';
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &tool)) {
    np_tool t = np_tool_read(tool);
    if (np_json_get(tool, "functionDeclarations", &declarations)) {
      add_each(declarations, &sep, out);
    } else if (!t.own) {
      np_buf_addc(out, sep);
      if (t.shape == NP_SHAPE_GEMINI) np_json_copy_repaired(tool.raw, out);
      else add_converted(&t, out);
      sep = ',';
    }
  }
  if (sep == ',') np_buf_addc(out, ']');
  return sep == ',';
}

static void add_others(np_json list, char sep, np_buf *out) {
  np_json tool, declarations;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &tool)) {
    np_tool t = np_tool_read(tool);
    if (!is_own(&t) || np_json_get(tool, "functionDeclarations", &declarations)) continue;
    np_buf_addc(out, sep);
    np_json_copy_repaired(tool.raw, out);
    sep = ',';
  }
  if (sep == ',') np_buf_addc(out, ']');
}

void np_gemini_tools(const np_view *v, np_buf *out) {
  np_json list = np_part_tools(v);
  size_t at = out->n;
  if (!list.type) return;
  if (are_own(list)) {
    np_json_copy_repaired(v->tools, out);
    return;
  }
  np_buf_adds(out, "[{\"functionDeclarations\":");
  bool functions = add_functions(list, out);
  if (functions) np_buf_addc(out, '}');
  else out->n = at;
  add_others(list, functions ? ',' : '[', out);
}

void np_gemini_head(const np_view *v, np_seam *seam, np_buf *out) {
  (void)seam;
  np_part_request(v, out);
  size_t at = out->n;
  np_buf_adds(out, "\"tools\":");
  size_t from = out->n;
  np_gemini_tools(v, out);
  if (out->n == from) out->n = at;
  else np_buf_addc(out, ',');
}
