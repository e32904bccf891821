/*
** Contents of Gemini's API: a role and parts. A call has an id or none; without one it pairs by
** its function's name. A part that carries a signature is never empty. Both spellings of names
** (functionCall, function_call) are taken, as the provider takes them. next: open.c, log.c
*/
#include "log/parser.h"

static bool get_either(np_json object, const char *camel, const char *snake,
                       np_json *out) {
  return np_json_get(object, camel, out) || np_json_get(object, snake, out);
}

static neap_rc parse_text(np_parser *p, uint32_t i, np_json part, np_json text) {
  np_json thought, sign;
  np_json_get(part, "thought", &thought);
  bool thinks = np_str_is(thought.raw, "true");
  if (text.type != NP_JSON_STRING)
    return np_parser_fail(p, "a text part needs its text as a string");
  neap_rc rc =
      np_parser_text(p, thinks ? NP_KIND_THOUGHT : np_parser_kind(p->out->message.role),
                     NP_PLACE_PART, i, part, text);
  if (rc) return rc;
  if (get_either(part, "thoughtSignature", "thought_signature", &sign))
    p->out->parts[p->out->count - 1].empty = false;
  return NEAP_OK;
}

/* Name and id, which results have as their calls. */
static neap_rc fill_names(np_parser *p, np_part *part, np_json function) {
  np_json name, id;
  if (!np_json_get(function, "name", &name) || name.type != NP_JSON_STRING)
    return np_parser_fail(p, "a call or its response needs its function's name");
  np_json_get(function, "id", &id);
  if (!np_parser_keep(p, name, &part->tool) || !np_parser_keep(p, id, &part->call_id))
    return np_fail_mem(p->err);
  part->by_name = part->call_id.n == 0;
  return NEAP_OK;
}

static neap_rc parse_call(np_parser *p, uint32_t i, np_json item, np_json function) {
  np_json args;
  np_part *part = np_parser_add(p, NP_KIND_CALL, NP_PLACE_PART, i, item);
  if (!part) return np_fail_mem(p->err);
  if (p->out->message.role != NP_ROLE_ASSISTANT)
    return np_parser_fail(p, "a functionCall belongs to the model");
  np_json_get(function, "args", &args);
  if (args.type > NP_JSON_NULL && args.type != NP_JSON_OBJECT)
    return np_parser_fail(p, "a functionCall's args must be an object");
  if (args.type == NP_JSON_OBJECT) part->text = args.raw;
  neap_rc rc = fill_names(p, part, function);
  return rc || np_parser_path(p, part) ? rc : np_fail_mem(p->err);
}

/* Pictures and files beside a response are only named in its text. */
static neap_rc add_media(np_parser *p, np_part *part, np_json parts) {
  np_json media;
  np_buf text;
  np_buf_init(&text, p->scratch->alloc);
  np_buf_add(&text, part->text);
  np_json_iter it = np_json_each(parts);
  while (np_json_next(&it, NULL, &media)) {
    if (text.n) np_buf_addc(&text, '\n');
    np_buf_adds(&text, NP_RESULT_OMITTED);
  }
  bool ok = !text.failed && np_arena_copy(p->ar, np_buf_str(&text), &part->text);
  np_buf_free(&text);
  return ok ? NEAP_OK : np_fail_mem(p->err);
}

/* A response that is one text is that text. */
static neap_rc fill_response(np_parser *p, np_part *part, np_json response) {
  np_json value, error, one;
  size_t n = 0;
  np_json_iter it = np_json_each(response);
  part->is_error = np_json_get(response, "error", &error) && error.type > NP_JSON_NULL;
  for (; np_json_next(&it, NULL, &value); n++) one = value;
  if (n == 1 && one.type == NP_JSON_STRING)
    return np_parser_keep(p, one, &part->text) ? NEAP_OK : np_fail_mem(p->err);
  if (n) part->text = response.raw;
  return NEAP_OK;
}

static neap_rc parse_response(np_parser *p, uint32_t i, np_json item, np_json function) {
  np_json response, parts;
  np_part *part = np_parser_add(p, NP_KIND_RESULT, NP_PLACE_PART, i, item);
  if (!part) return np_fail_mem(p->err);
  if (p->out->message.role != NP_ROLE_USER)
    return np_parser_fail(p, "a functionResponse belongs to the user");
  neap_rc rc = fill_names(p, part, function);
  if (rc) return rc;
  np_json_get(function, "response", &response);
  if (response.type > NP_JSON_NULL && response.type != NP_JSON_OBJECT)
    return np_parser_fail(p, "a functionResponse's response must be an object");
  rc = fill_response(p, part, response);
  if (rc || !np_json_get(function, "parts", &parts) || parts.type <= NP_JSON_NULL)
    return rc;
  if (parts.type != NP_JSON_ARRAY)
    return np_parser_fail(p, "a functionResponse's parts must be a list");
  return add_media(p, part, parts);
}

/* Bytes in place, or a file that the provider keeps. */
static neap_rc parse_data(np_parser *p, uint32_t i, np_json item, np_json data) {
  np_json type;
  get_either(data, "mimeType", "mime_type", &type);
  bool image = type.type == NP_JSON_STRING && type.raw.n > 7 &&
               memcmp(type.raw.p + 1, "image/", 6) == 0;
  np_kind kind = image ? NP_KIND_IMAGE : NP_KIND_FILE;
  return np_parser_add(p, kind, NP_PLACE_PART, i, item) ? NEAP_OK : np_fail_mem(p->err);
}

static neap_rc parse_part(np_parser *p, uint32_t i, np_json item) {
  np_json v;
  if (item.type != NP_JSON_OBJECT) return np_parser_fail(p, "a part must be an object");
  if (np_json_get(item, "text", &v)) return parse_text(p, i, item, v);
  if (get_either(item, "functionCall", "function_call", &v))
    return parse_call(p, i, item, v);
  if (get_either(item, "functionResponse", "function_response", &v))
    return parse_response(p, i, item, v);
  if (get_either(item, "inlineData", "inline_data", &v) ||
      get_either(item, "fileData", "file_data", &v))
    return parse_data(p, i, item, v);
  np_kind kind = p->out->message.role == NP_ROLE_ASSISTANT ? NP_KIND_TEXT : NP_KIND_FILE;
  return np_parser_raw(p, kind, NP_PLACE_PART, i, item, true);
}

/* The model's role has a name of its own; results once came as `function`. */
static neap_rc parse_role(np_parser *p) {
  np_message *m = &p->out->message;
  np_json role;
  np_parser_get(p, "role", &role);
  m->role = NP_ROLE_USER;
  if (role.type <= NP_JSON_NULL) return NEAP_OK;
  if (np_json_is_key(role.raw, "model")) m->role = NP_ROLE_ASSISTANT;
  else if (np_json_is_key(role.raw, "system")) m->role = NP_ROLE_SYSTEM;
  else if (!np_json_is_key(role.raw, "user") && !np_json_is_key(role.raw, "function"))
    return np_parser_fail(p, "contents are the user's or the model's; system takes the "
                             "request's systemInstruction");
  return NEAP_OK;
}

neap_rc np_parse_gemini(np_parser *p) {
  np_json parts, item;
  neap_rc rc = parse_role(p);
  if (rc) return rc;
  np_parser_get(p, "parts", &parts);
  if (parts.type != NP_JSON_ARRAY) return np_parser_fail(p, "parts must be a list");
  np_json_iter it = np_json_each(parts);
  for (uint32_t i = 0; !rc && np_json_next(&it, NULL, &item); i++)
    rc = parse_part(p, i, item);
  return rc;
}
