/*
** A chat message's parts: content as a string or a list, reasoning, calls, results. Shapes
** that no provider sends are refused by name; unknown parts are kept whole as files, so that
** nothing is lost. next: parse_anthropic.c
*/
#include "log/parser.h"

/* Types of content parts that carry text, and the member it is in. */
static const char *text_member(np_json part) {
  np_json type;
  if (!np_json_get(part, "type", &type) || type.type != NP_JSON_STRING) return NULL;
  if (np_json_is_key(type.raw, "text") || np_json_is_key(type.raw, "input_text") ||
      np_json_is_key(type.raw, "output_text")) {
    return "text";
  }
  return np_json_is_key(type.raw, "refusal") ? "refusal" : NULL;
}

static bool is_image(np_json type) {
  return np_json_is_key(type.raw, "image_url") || np_json_is_key(type.raw, "image") ||
         np_json_is_key(type.raw, "input_image");
}

/* What every item of content has; *text is of type NONE when it is no text. */
static neap_rc check_part(np_parser *p, np_json item, np_json *type, np_json *text) {
  *text = (np_json){0};
  if (item.type != NP_JSON_OBJECT)
    return np_parser_fail(p, "an item of content must be an object");
  np_json_get(item, "type", type);
  if (type->type != NP_JSON_STRING)
    return np_parser_fail(p, "an item of content needs a type");
  const char *member = text_member(item);
  if (!member) return NEAP_OK;
  np_json_get(item, member, text);
  return text->type == NP_JSON_STRING
             ? NEAP_OK
             : np_parser_fail(p, "a text part needs its text as a string");
}

static neap_rc parse_part(np_parser *p, uint32_t index, np_json item) {
  np_json type, text;
  neap_rc rc = check_part(p, item, &type, &text);
  if (rc) return rc;
  if (!text.type) {
    bool image = is_image(type);
    np_part *part = np_parser_add(p, image ? NP_KIND_IMAGE : NP_KIND_FILE, NP_PLACE_PART,
                                  index, item);
    if (!part) return np_fail_mem(p->err);
    part->text = image ? NP_LIT("") : item.raw;
    return NEAP_OK;
  }
  np_part *part =
      np_parser_add(p, np_parser_kind(p->out->message.role), NP_PLACE_PART, index, item);
  if (!part || !np_parser_keep(p, text, &part->text)) return np_fail_mem(p->err);
  part->empty = part->text.n == 0;
  return NEAP_OK;
}

static neap_rc parse_list(np_parser *p, np_json content) {
  np_json item;
  np_json_iter it = np_json_each(content);
  uint32_t i = 0;
  for (; np_json_next(&it, NULL, &item); i++) {
    neap_rc rc = parse_part(p, i, item);
    if (rc) return rc;
  }
  if (!i) p->out->message.holes = true;
  return NEAP_OK;
}

static neap_rc parse_content(np_parser *p) {
  np_json content;
  np_role role = p->out->message.role;
  np_parser_get(p, "content", &content);
  if (content.type == NP_JSON_ARRAY) return parse_list(p, content);
  if (content.type == NP_JSON_NULL || content.type == NP_JSON_NONE) {
    if (role == NP_ROLE_ASSISTANT) return NEAP_OK;
    return np_parser_fail(p,
                          "content is missing: a string or a list of parts is expected");
  }
  if (content.type != NP_JSON_STRING)
    return np_parser_fail(p, "content must be a string or a list");
  np_part *part = np_parser_add(p, np_parser_kind(role), NP_PLACE_CONTENT, 0, content);
  if (!part || !np_parser_keep(p, content, &part->text)) return np_fail_mem(p->err);
  part->empty = part->text.n == 0;
  return NEAP_OK;
}

/* A result is one entry, whether its content is a string or a list. */
static neap_rc parse_result(np_parser *p) {
  np_json content;
  np_parser_get(p, "content", &content);
  np_part *part = np_parser_add(p, NP_KIND_RESULT, NP_PLACE_CONTENT, 0, content);
  if (!part) return np_fail_mem(p->err);
  if (content.type == NP_JSON_STRING) {
    return np_parser_keep(p, content, &part->text) ? NEAP_OK : np_fail_mem(p->err);
  }
  if (content.type == NP_JSON_NULL || content.type == NP_JSON_NONE) {
    p->out->message.holes = true;
    return NEAP_OK;
  }
  if (content.type != NP_JSON_ARRAY)
    return np_parser_fail(p, "a result's content must be text");
  /* a list with anything else than texts is rendered anew */
  return np_parser_join(p, content, &part->text, &p->out->message.holes);
}

static neap_rc fill_call(np_parser *p, np_part *part, np_json function, np_json id) {
  np_json name, args;
  np_json_get(function, "name", &name);
  np_json_get(function, "arguments", &args);
  if (name.type != NP_JSON_STRING)
    return np_parser_fail(p, "a call needs its function's name");
  if (args.type != NP_JSON_STRING && args.type != NP_JSON_NONE) {
    return np_parser_fail(p, "a call's arguments must be a string that holds JSON");
  }
  if (!np_parser_keep(p, name, &part->tool)) return np_fail_mem(p->err);
  if (args.type && !np_parser_keep(p, args, &part->text)) return np_fail_mem(p->err);
  if (id.type == NP_JSON_STRING && !np_parser_keep(p, id, &part->call_id))
    return np_fail_mem(p->err);
  return np_parser_path(p, part) ? NEAP_OK : np_fail_mem(p->err);
}

static neap_rc parse_calls(np_parser *p) {
  np_json calls, call, function, id;
  if (np_parser_get(p, "function_call", &function) && function.type == NP_JSON_OBJECT) {
    np_part *part = np_parser_add(p, NP_KIND_CALL, NP_PLACE_FUNCTION, 0, function);
    if (!part) return np_fail_mem(p->err);
    part->by_name = true;
    neap_rc rc = fill_call(p, part, function, (np_json){0});
    if (rc) return rc;
  }
  np_parser_get(p, "tool_calls", &calls);
  if (calls.type == NP_JSON_NONE || calls.type == NP_JSON_NULL) return NEAP_OK;
  if (calls.type != NP_JSON_ARRAY) return np_parser_fail(p, "tool_calls must be a list");
  np_json_iter it = np_json_each(calls);
  for (uint32_t i = 0; np_json_next(&it, NULL, &call); i++) {
    if (!np_json_get(call, "function", &function))
      return np_parser_fail(p, "a call needs a function");
    if (!np_json_get(call, "id", &id) || id.type != NP_JSON_STRING) {
      return np_parser_fail(p, "a call needs an id");
    }
    np_part *part = np_parser_add(p, NP_KIND_CALL, NP_PLACE_CALL, i, call);
    if (!part) return np_fail_mem(p->err);
    neap_rc rc = fill_call(p, part, function, id);
    if (rc) return rc;
  }
  return NEAP_OK;
}

static neap_rc parse_reasoning(np_parser *p) {
  static const char *const members[] = {"reasoning", "reasoning_content"};
  for (size_t i = 0; i < NP_COUNT(members); i++) {
    np_json v;
    if (!np_parser_get(p, members[i], &v)) continue;
    if (v.type != NP_JSON_STRING) continue; /* other forms stay in the raw message */
    np_part *part = np_parser_add(p, NP_KIND_THOUGHT, NP_PLACE_REASONING, (uint32_t)i, v);
    if (!part || !np_parser_keep(p, v, &part->text)) return np_fail_mem(p->err);
    part->empty = part->text.n == 0;
    /* one of them: both names are used for the same text */
    if (!part->empty) return NEAP_OK;
    p->out->count--;
  }
  return NEAP_OK;
}

/* What the model said in refusing: a text like any other, in a member of its own. */
static neap_rc parse_refusal(np_parser *p) {
  np_json v;
  np_parser_get(p, "refusal", &v);
  if (v.type != NP_JSON_STRING || v.raw.n == 2) return NEAP_OK;
  np_part *part = np_parser_add(p, NP_KIND_TEXT, NP_PLACE_REFUSAL, 0, v);
  if (!part || !np_parser_keep(p, v, &part->text)) return np_fail_mem(p->err);
  return NEAP_OK;
}

static neap_rc parse_name(np_parser *p) {
  np_message *m = &p->out->message;
  np_json name;
  np_parser_get(p, "name", &name);
  if (name.type == NP_JSON_STRING && !np_parser_keep(p, name, &m->name))
    return np_fail_mem(p->err);
  return NEAP_OK;
}

/* Members that say that a call failed, as agents write them. */
static bool says_error(const np_parser *p) {
  np_json v;
  return (np_parser_get(p, "is_error", &v) || np_parser_get(p, "isError", &v)) &&
         np_str_is(v.raw, "true");
}

static neap_rc parse_tool_message(np_parser *p) {
  np_json id;
  neap_rc rc = parse_result(p);
  if (rc) return rc;
  np_part *part = &p->out->parts[0];
  part->is_error = says_error(p);
  part->tool = p->out->message.name;
  part->by_name = p->out->message.role == NP_ROLE_FUNCTION;
  if (part->by_name) return NEAP_OK;
  if (!np_parser_get(p, "tool_call_id", &id) || id.type != NP_JSON_STRING) {
    return np_parser_fail(p, "a tool message needs its tool_call_id");
  }
  return np_parser_keep(p, id, &part->call_id) ? NEAP_OK : np_fail_mem(p->err);
}

neap_rc np_parse_chat(np_parser *p) {
  np_role role;
  neap_rc rc = np_parser_role(p);
  if (!rc) rc = parse_name(p);
  if (rc) return rc;
  role = p->out->message.role;
  if (role == NP_ROLE_TOOL || role == NP_ROLE_FUNCTION) return parse_tool_message(p);
  if (role == NP_ROLE_ASSISTANT && (rc = parse_reasoning(p))) return rc;
  if ((rc = parse_content(p))) return rc;
  if (role != NP_ROLE_ASSISTANT) return NEAP_OK;
  rc = parse_refusal(p);
  return rc ? rc : parse_calls(p);
}
