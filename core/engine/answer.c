/*
** Reading response bodies by what they hold: choices (Chat Completions), a list of content
** (Messages), output items (Responses), candidates (Gemini); and writing results in the form
** that the call came in. next: text_response.c, tools.c
*/
#include "engine/answer.h"

typedef struct reader {
  np_arena *ar;
  np_answer *out;
  np_err *err;
} reader;

static neap_rc bad(reader *r, const char *text) {
  return np_fail(r->err, NEAP_E_SHAPE, "%s", text);
}

static neap_rc add(reader *r, np_str message) {
  np_answer *o = r->out;
  if (o->count == o->cap) {
    size_t cap = o->cap ? o->cap * 2 : 4;
    np_str *more = np_arena_alloc(r->ar, cap * sizeof *more);
    if (!more) return np_fail_mem(r->err);
    if (o->count) memcpy(more, o->messages, o->count * sizeof *more);
    o->messages = more;
    o->cap = cap;
  }
  o->messages[o->count++] = message;
  return NEAP_OK;
}

/* A message of that role around a list's own bytes. */
static neap_rc add_made(reader *r, const char *before, np_json list) {
  np_str kept;
  np_buf b;
  np_buf_init(&b, r->ar->alloc);
  np_buf_adds(&b, before);
  np_buf_add(&b, list.raw);
  np_buf_addc(&b, '}');
  bool ok = !b.failed && np_arena_copy(r->ar, np_buf_str(&b), &kept);
  np_buf_free(&b);
  return ok ? add(r, kept) : np_fail_mem(r->err);
}

static neap_rc read_choices(reader *r, np_json choices) {
  np_json choice = {0}, message;
  np_json_iter it = np_json_each(choices);
  if (!np_json_next(&it, NULL, &choice) || !np_json_get(choice, "message", &message))
    return bad(r, "the response has no choices[0].message");
  return add(r, message.raw);
}

static neap_rc read_output(reader *r, np_json output) {
  np_json item;
  neap_rc rc = NEAP_OK;
  np_json_iter it = np_json_each(output);
  while (!rc && np_json_next(&it, NULL, &item)) rc = add(r, item.raw);
  if (!rc && !r->out->count) return bad(r, "the response has no output items");
  return rc;
}

static neap_rc read_candidates(reader *r, np_json candidates) {
  np_json candidate = {0}, content, parts, role;
  np_json_iter it = np_json_each(candidates);
  np_json_next(&it, NULL, &candidate);
  if (!np_json_get(candidate, "content", &content) ||
      !np_json_get(content, "parts", &parts))
    return bad(r, "the response has no candidates[0].content with parts");
  if (np_json_get(content, "role", &role)) return add(r, content.raw);
  return add_made(r, "{\"role\":\"model\",\"parts\":", parts);
}

/* Anthropic's body is its message with more around it, which it does not take back. */
static neap_rc read_other(reader *r, np_json root) {
  np_json role, content, type;
  bool has_role = np_json_get(root, "role", &role);
  np_json_get(root, "type", &type);
  if (has_role && type.type == NP_JSON_STRING && np_json_is_key(type.raw, "message") &&
      np_json_get(root, "content", &content) && content.type == NP_JSON_ARRAY &&
      (np_json_get(root, "stop_reason", &type) || np_json_get(root, "model", &type)))
    return add_made(r, "{\"role\":\"assistant\",\"content\":", content);
  if (has_role) return add(r, root.raw);
  return bad(r,
             "the response has neither choices nor a role; give the provider's body as "
             "it came");
}

neap_rc np_answer_read(np_arena *ar, np_str response, np_answer *out, np_err *e) {
  reader r = {ar, out, e};
  np_json root, v;
  *out = (np_answer){0};
  neap_rc rc = np_json_check(response, &root, e);
  if (rc) return rc;
  if (np_json_get(root, "error", &v) && v.type == NP_JSON_OBJECT) {
    return np_fail(e, NEAP_E_SHAPE,
                   "the response is the provider's error, not an answer: %.*s",
                   v.raw.n > 200 ? 200 : (int)v.raw.n, v.raw.p);
  }
  if (np_json_get(root, "choices", &v) && v.type == NP_JSON_ARRAY)
    return read_choices(&r, v);
  if (np_json_get(root, "output", &v) && v.type == NP_JSON_ARRAY)
    return read_output(&r, v);
  if (np_json_get(root, "candidates", &v) && v.type == NP_JSON_ARRAY)
    return read_candidates(&r, v);
  return read_other(&r, root);
}

/* ---- results ---- */

static void add_chat(const np_entry *call, np_buf *out) {
  np_json v = {0};
  if (call->place == NP_PLACE_FUNCTION) {
    np_json_get(call->raw, "name", &v);
    np_buf_adds(out, "{\"role\":\"function\",\"name\":");
  } else {
    np_json_get(call->raw, "id", &v);
    np_buf_adds(out, "{\"role\":\"tool\",\"tool_call_id\":");
  }
  np_buf_add(out, v.raw);
  np_buf_adds(out, ",\"content\":");
}

static void add_anthropic(const np_entry *call, np_buf *out) {
  np_buf_adds(out, "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                   "\"tool_use_id\":");
  np_json_quote(out, call->call_id);
  np_buf_adds(out, ",\"content\":");
}

/* function_call, custom_tool_call, …: what comes back is named after it. */
static void add_responses(const np_entry *call, np_buf *out) {
  np_json type = {0};
  np_json_get(call->raw, "type", &type);
  np_buf_adds(out, "{\"type\":");
  np_buf_add(out, np_str_cut(type.raw, 0, type.raw.n - 1));
  np_buf_adds(out, "_output\",\"call_id\":");
  np_json_quote(out, call->call_id);
  np_buf_adds(out, ",\"output\":");
}

static void add_gemini(const np_entry *call, np_buf *out) {
  np_buf_adds(out, "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{");
  if (call->call_id.n) {
    np_buf_adds(out, "\"id\":");
    np_json_quote(out, call->call_id);
    np_buf_addc(out, ',');
  }
  np_buf_adds(out, "\"name\":");
  np_json_quote(out, call->tool);
  np_buf_adds(out, ",\"response\":{\"output\":");
}

void np_answer_result(const np_log *lg, const np_entry *call, np_str text, np_buf *out) {
  typedef void (*add_fn)(const np_entry *call, np_buf *out);
  static const add_fn begin[NP_SHAPE_COUNT] = {add_chat, add_anthropic, add_responses,
                                               add_gemini};
  static const char *const end[NP_SHAPE_COUNT] = {"}", "}]}", "}", "}}}]}"};
  np_shape shape = lg->messages[call->message].shape;
  begin[shape](call, out);
  np_json_quote(out, text);
  np_buf_adds(out, end[shape]);
}
