/*
** Items of OpenAI's Responses API: one item is one message here, and those of one response make
** up one step (log.c). Calls and results of a host's functions are entries that can be trimmed;
** what the provider runs itself, and what is to come, stays whole. next: parse_gemini.c
*/
#include "log/parser.h"

#include "log/shape.h"

static bool is_type(np_json type, const char *name) {
  return type.type == NP_JSON_STRING && np_json_is_key(type.raw, name);
}

/* ---- messages ---- */

static neap_rc parse_part(np_parser *p, uint32_t i, np_json item) {
  np_json type, text;
  if (item.type != NP_JSON_OBJECT)
    return np_parser_fail(p, "an item of content must be an object");
  if (!np_json_get(item, "type", &type) || type.type != NP_JSON_STRING)
    return np_parser_fail(p, "an item of content needs a type");
  bool refusal = is_type(type, "refusal");
  if (refusal || is_type(type, "input_text") || is_type(type, "output_text") ||
      is_type(type, "text")) {
    if (!np_json_get(item, refusal ? "refusal" : "text", &text) ||
        text.type != NP_JSON_STRING)
      return np_parser_fail(p, "a text part needs its text as a string");
    return np_parser_text(p, np_parser_kind(p->out->message.role), NP_PLACE_PART, i, item,
                          text);
  }
  if (is_type(type, "input_image"))
    return np_parser_add(p, NP_KIND_IMAGE, NP_PLACE_PART, i, item) ? NEAP_OK
                                                                   : np_fail_mem(p->err);
  return np_parser_raw(p, NP_KIND_FILE, NP_PLACE_PART, i, item, false);
}

static neap_rc parse_list(np_parser *p, np_json content) {
  np_json item;
  neap_rc rc = NEAP_OK;
  np_json_iter it = np_json_each(content);
  for (uint32_t i = 0; !rc && np_json_next(&it, NULL, &item); i++)
    rc = parse_part(p, i, item);
  return rc;
}

static neap_rc parse_message(np_parser *p) {
  np_message *m = &p->out->message;
  np_json content;
  neap_rc rc = np_parser_role(p);
  if (rc) return rc;
  if (m->role == NP_ROLE_TOOL || m->role == NP_ROLE_FUNCTION)
    return np_parser_fail(p, "a result is an item of its own: function_call_output");
  np_parser_get(p, "content", &content);
  if (content.type == NP_JSON_ARRAY) return parse_list(p, content);
  if (content.type == NP_JSON_STRING)
    return np_parser_text(p, np_parser_kind(m->role), NP_PLACE_CONTENT, 0, content,
                          content);
  return np_parser_fail(p, "content must be a string or a list");
}

/* ---- calls and results ---- */

static bool keep_member(np_parser *p, const char *member, np_str *out) {
  np_json v;
  np_parser_get(p, member, &v);
  return np_parser_keep(p, v, out);
}

/* A shell's, an editor's or a computer's call: named by its type, its action as it came. */
static neap_rc parse_action(np_parser *p, np_json type) {
  static const char *const members[] = {"action", "operation", "arguments", "input"};
  np_part *part = np_parser_add(p, NP_KIND_CALL, NP_PLACE_ITEM, 0, p->out->message.json);
  np_json v = {0};
  if (!part || !np_parser_keep(p, type, &part->tool) ||
      !keep_member(p, "call_id", &part->call_id))
    return np_fail_mem(p->err);
  part->opaque = true;
  for (size_t i = 0; i < NP_COUNT(members) && !v.type; i++)
    np_parser_get(p, members[i], &v);
  if (v.type) part->text = v.raw;
  return np_parser_path(p, part) ? NEAP_OK : np_fail_mem(p->err);
}

static neap_rc parse_call(np_parser *p, const char *member) {
  np_json json = p->out->message.json, name, args;
  np_part *part = np_parser_add(p, NP_KIND_CALL, NP_PLACE_ITEM, 0, json);
  if (!part) return np_fail_mem(p->err);
  if (!np_json_get(json, "name", &name) || name.type != NP_JSON_STRING)
    return np_parser_fail(p, "a call needs its function's name");
  if (!np_json_get(json, member, &args) || args.type != NP_JSON_STRING)
    return np_parser_fail(p, "a call's arguments must be a string that holds JSON");
  bool ok = np_parser_keep(p, name, &part->tool) &&
            np_parser_keep(p, args, &part->text) &&
            keep_member(p, "call_id", &part->call_id) && np_parser_path(p, part);
  return ok ? NEAP_OK : np_fail_mem(p->err);
}

/* What comes back: a string, or a list of parts; of other tools whatever there is. */
static neap_rc parse_output(np_parser *p, bool opaque) {
  np_json json = p->out->message.json, out;
  np_part *part = np_parser_add(p, NP_KIND_RESULT, NP_PLACE_ITEM, 0, json);
  if (!part || !keep_member(p, "call_id", &part->call_id)) return np_fail_mem(p->err);
  part->opaque = opaque;
  np_json_get(json, "output", &out);
  if (out.type == NP_JSON_STRING)
    return np_parser_keep(p, out, &part->text) ? NEAP_OK : np_fail_mem(p->err);
  if (opaque) {
    if (out.type) part->text = out.raw;
    return NEAP_OK;
  }
  if (out.type == NP_JSON_ARRAY) return np_parser_join(p, out, &part->text, NULL);
  return np_parser_fail(p, "a function_call_output needs its output");
}

/* ---- the rest ---- */

/* The texts of a reasoning item: its summary and, where it is open, its content. */
static neap_rc parse_reasoning(np_parser *p) {
  np_json json = p->out->message.json, list;
  np_part *part = np_parser_add(p, NP_KIND_THOUGHT, NP_PLACE_ITEM, 0, json);
  if (!part) return np_fail_mem(p->err);
  np_json_get(json, "summary", &list);
  neap_rc rc =
      list.type == NP_JSON_ARRAY ? np_parser_join(p, list, &part->text, NULL) : NEAP_OK;
  if (rc || part->text.n) return rc;
  np_json_get(json, "content", &list);
  return list.type == NP_JSON_ARRAY ? np_parser_join(p, list, &part->text, NULL)
                                    : NEAP_OK;
}

/* An item with a call_id is one half of a pair; what else the provider keeps for itself is a
** text of its own. What answers a request of the provider comes from the host. */
static neap_rc parse_other(np_parser *p, np_json type) {
  np_json id;
  bool named = np_parser_get(p, "call_id", &id) && id.type == NP_JSON_STRING;
  if (named && np_shape_ends(type, "_call")) return parse_action(p, type);
  if (named && np_shape_ends(type, "_output")) {
    p->out->message.role = NP_ROLE_TOOL;
    return parse_output(p, true);
  }
  if (np_shape_ends(type, "_response")) {
    p->out->message.role = NP_ROLE_USER;
    return np_parser_raw(p, NP_KIND_FILE, NP_PLACE_ITEM, 0, p->out->message.json, true);
  }
  return np_parser_raw(p, NP_KIND_TEXT, NP_PLACE_ITEM, 0, p->out->message.json, true);
}

static neap_rc need_id(np_parser *p) {
  np_json id;
  if (np_parser_get(p, "call_id", &id) && id.type == NP_JSON_STRING) return NEAP_OK;
  return np_parser_fail(p, "a call and its output need their call_id");
}

neap_rc np_parse_responses(np_parser *p) {
  np_message *m = &p->out->message;
  np_json type, role;
  np_parser_get(p, "type", &type);
  np_parser_get(p, "role", &role);
  if (role.type || !type.type || is_type(type, "message")) return parse_message(p);
  m->role = NP_ROLE_ASSISTANT;
  if (is_type(type, "reasoning")) return parse_reasoning(p);
  bool function = is_type(type, "function_call"),
       custom = is_type(type, "custom_tool_call");
  bool output =
      is_type(type, "function_call_output") || is_type(type, "custom_tool_call_output");
  neap_rc rc = function || custom || output ? need_id(p) : NEAP_OK;
  if (rc) return rc;
  if (function || custom) return parse_call(p, function ? "arguments" : "input");
  if (!output) return parse_other(p, type);
  m->role = NP_ROLE_TOOL;
  return parse_output(p, false);
}
