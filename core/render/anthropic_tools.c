/*
** Tool schemas: the host's own bytes where they are of this form, else name, description and
** input_schema of whatever form they have. Tools that another provider runs itself are not
** tools here. An empty list is one that this provider takes. next: parts.h
*/
#include "render/anthropic.h"

/* A schema must be an object; none is the one without properties. */
static void add_schema(np_json schema, np_buf *out) {
  if (schema.type == NP_JSON_OBJECT) np_json_copy_repaired(schema.raw, out);
  else np_buf_adds(out, "{\"type\":\"object\",\"properties\":{}}");
}

static void add_name(np_json name, np_buf *out) {
  np_buf text;
  np_buf_init(&text, out->alloc);
  np_json_text(name, &text);
  np_buf_addc(out, '"');
  np_part_name(np_buf_str(&text), out);
  np_buf_addc(out, '"');
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

static void add_tool(const np_tool *t, np_buf *out) {
  if (t->shape == NP_SHAPE_ANTHROPIC) {
    np_json_copy_repaired(t->raw.raw, out);
    return;
  }
  np_buf_adds(out, "{\"name\":");
  add_name(t->name, out);
  if (t->description.type == NP_JSON_STRING) {
    np_buf_adds(out, ",\"description\":");
    np_json_copy_repaired(t->description.raw, out);
  }
  np_buf_adds(out, ",\"input_schema\":");
  add_schema(t->schema, out);
  np_buf_addc(out, '}');
}

static bool has_place(const np_tool *t) {
  return t->shape == NP_SHAPE_ANTHROPIC || (!t->own && t->name.type == NP_JSON_STRING);
}

static bool all_own(np_json list) {
  np_json tool;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &tool)) {
    if (np_tool_read(tool).shape != NP_SHAPE_ANTHROPIC) return false;
  }
  return true;
}

/* Gemini lists declarations inside one tool; JSON's depth bounds the recursion. */
static size_t add_list(np_json list, size_t n, np_buf *out) {
  np_json tool, inner;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &tool)) {
    if (np_json_get(tool, "functionDeclarations", &inner) ||
        np_json_get(tool, "function_declarations", &inner)) {
      n = add_list(inner, n, out);
      continue;
    }
    np_tool t = np_tool_read(tool);
    if (!has_place(&t)) continue;
    np_buf_addc(out, n++ ? ',' : '[');
    add_tool(&t, out);
  }
  return n;
}

void np_anthropic_tools(const np_view *v, np_buf *out) {
  np_json list;
  size_t from = out->n;
  if (!v->tools.n || np_json_check(v->tools, &list, NULL)) return;
  np_buf_adds(out, "\"tools\":");
  if (all_own(list)) {
    np_json_copy_repaired(v->tools, out);
  } else if (add_list(list, 0, out)) {
    np_buf_addc(out, ']');
  } else {
    out->n = from;
    return;
  }
  np_buf_addc(out, ',');
}
