/*
** A chat message's parts: content as a string or a list, reasoning, calls, results. Shapes
** that no provider sends are refused by name; unknown parts are kept whole as files, so that
** nothing is lost. next: open.c, log.c
*/
#include "log/parse.h"

typedef struct parser {
  np_arena *ar;
  np_buf *scratch;
  np_parsed *out;
  np_err *err;
} parser;

static neap_rc shape(parser *p, const char *text) {
  return np_fail(p->err, NEAP_E_SHAPE, "%s", text);
}

/* The decoded text of a JSON string, kept in the arena. */
static bool keep_text(parser *p, np_json str, np_str *out) {
  np_buf_clear(p->scratch);
  np_json_text(str, p->scratch);
  return !p->scratch->failed && np_arena_copy(p->ar, np_buf_str(p->scratch), out);
}

static np_part *add_part(parser *p, np_kind kind, np_place place, uint32_t index,
                         np_json raw) {
  np_parsed *o = p->out;
  if (o->count == o->cap) {
    size_t cap = o->cap ? o->cap * 2 : 4;
    np_part *parts = np_arena_alloc(p->ar, cap * sizeof *parts);
    if (!parts) return NULL;
    if (o->count) memcpy(parts, o->parts, o->count * sizeof *parts);
    o->parts = parts;
    o->cap = cap;
  }
  np_part *part = &o->parts[o->count++];
  *part = (np_part){.kind = kind, .place = place, .index = index, .raw = raw};
  part->text = part->tool = part->call_id = part->path = NP_LIT("");
  return part;
}

/* The kind of a message's own text. */
static np_kind text_kind(np_role role) {
  switch (role) {
    case NP_ROLE_SYSTEM:
    case NP_ROLE_DEVELOPER: return NP_KIND_SYSTEM;
    case NP_ROLE_ASSISTANT: return NP_KIND_TEXT;
    case NP_ROLE_TOOL:
    case NP_ROLE_FUNCTION: return NP_KIND_RESULT;
    default: return NP_KIND_USER;
  }
}

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
static neap_rc check_part(parser *p, np_json item, np_json *type, np_json *text) {
  *text = (np_json){0};
  if (item.type != NP_JSON_OBJECT)
    return shape(p, "an item of content must be an object");
  np_json_get(item, "type", type);
  if (type->type != NP_JSON_STRING) return shape(p, "an item of content needs a type");
  const char *member = text_member(item);
  if (!member) return NEAP_OK;
  np_json_get(item, member, text);
  return text->type == NP_JSON_STRING
             ? NEAP_OK
             : shape(p, "a text part needs its text as a string");
}

static neap_rc parse_part(parser *p, uint32_t index, np_json item) {
  np_json type, text;
  neap_rc rc = check_part(p, item, &type, &text);
  if (rc) return rc;
  if (!text.type) {
    bool image = is_image(type);
    np_part *part =
        add_part(p, image ? NP_KIND_IMAGE : NP_KIND_FILE, NP_PLACE_PART, index, item);
    if (!part) return np_fail_mem(p->err);
    part->text = image ? NP_LIT("") : item.raw;
    return NEAP_OK;
  }
  np_part *part =
      add_part(p, text_kind(p->out->message.role), NP_PLACE_PART, index, item);
  if (!part || !keep_text(p, text, &part->text)) return np_fail_mem(p->err);
  part->empty = part->text.n == 0;
  return NEAP_OK;
}

static neap_rc parse_list(parser *p, np_json content) {
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

static neap_rc parse_content(parser *p) {
  np_json content;
  np_role role = p->out->message.role;
  np_json_get(p->out->message.json, "content", &content);
  if (content.type == NP_JSON_ARRAY) return parse_list(p, content);
  if (content.type == NP_JSON_NULL || content.type == NP_JSON_NONE) {
    if (role == NP_ROLE_ASSISTANT) return NEAP_OK;
    return shape(p, "content is missing: a string or a list of parts is expected");
  }
  if (content.type != NP_JSON_STRING)
    return shape(p, "content must be a string or a list");
  np_part *part = add_part(p, text_kind(role), NP_PLACE_CONTENT, 0, content);
  if (!part || !keep_text(p, content, &part->text)) return np_fail_mem(p->err);
  part->empty = part->text.n == 0;
  return NEAP_OK;
}

/* The texts of a result's list, joined; an image is only named, a file stands as its bytes.
** A list with anything else than texts is rendered anew (holes). */
static neap_rc join_result(parser *p, np_json list, np_buf *joined) {
  np_json item, type, text;
  size_t shown = 0;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &item)) {
    neap_rc rc = check_part(p, item, &type, &text);
    if (rc) return rc;
    size_t before = joined->n;
    if (text.type) np_json_text(text, joined);
    else np_buf_add(joined, is_image(type) ? NP_LIT(NP_RESULT_OMITTED) : item.raw);
    if (!text.type || joined->n == before) p->out->message.holes = true;
    shown++;
  }
  if (!shown) p->out->message.holes = true;
  return NEAP_OK;
}

/* A result is one entry, whether its content is a string or a list. */
static neap_rc parse_result(parser *p) {
  np_json content;
  np_json_get(p->out->message.json, "content", &content);
  np_part *part = add_part(p, NP_KIND_RESULT, NP_PLACE_CONTENT, 0, content);
  if (!part) return np_fail_mem(p->err);
  if (content.type == NP_JSON_STRING) {
    return keep_text(p, content, &part->text) ? NEAP_OK : np_fail_mem(p->err);
  }
  if (content.type == NP_JSON_NULL || content.type == NP_JSON_NONE) {
    p->out->message.holes = true;
    return NEAP_OK;
  }
  if (content.type != NP_JSON_ARRAY) return shape(p, "a result's content must be text");
  np_buf joined;
  np_buf_init(&joined, p->scratch->alloc);
  neap_rc rc = join_result(p, content, &joined);
  bool ok =
      rc || (!joined.failed && np_arena_copy(p->ar, np_buf_str(&joined), &part->text));
  np_buf_free(&joined);
  return ok ? rc : np_fail_mem(p->err);
}

static bool looks_like_path(np_str s) {
  return s.n >= 2 && s.n <= 512 && (memchr(s.p, '/', s.n) || memchr(s.p, '.', s.n)) &&
         !memchr(s.p, '\n', s.n) && !memchr(s.p, ' ', s.n);
}

/* The first string argument that reads like a path; arguments that are no JSON have none. */
static bool find_path(parser *p, np_part *part) {
  np_json args, value;
  if (np_json_check(part->text, &args, NULL) || args.type != NP_JSON_OBJECT) return true;
  np_json_iter it = np_json_each(args);
  np_str key;
  while (np_json_next(&it, &key, &value)) {
    if (value.type != NP_JSON_STRING || value.raw.n > 600) continue;
    np_str text;
    if (!keep_text(p, value, &text)) return false;
    if (!looks_like_path(text)) continue;
    part->path = text;
    return true;
  }
  return true;
}

static neap_rc fill_call(parser *p, np_part *part, np_json function, np_json id) {
  np_json name, args;
  np_json_get(function, "name", &name);
  np_json_get(function, "arguments", &args);
  if (name.type != NP_JSON_STRING) return shape(p, "a call needs its function's name");
  if (args.type != NP_JSON_STRING && args.type != NP_JSON_NONE) {
    return shape(p, "a call's arguments must be a string that holds JSON");
  }
  if (!keep_text(p, name, &part->tool)) return np_fail_mem(p->err);
  if (args.type && !keep_text(p, args, &part->text)) return np_fail_mem(p->err);
  if (id.type == NP_JSON_STRING && !keep_text(p, id, &part->call_id))
    return np_fail_mem(p->err);
  return find_path(p, part) ? NEAP_OK : np_fail_mem(p->err);
}

static neap_rc parse_calls(parser *p) {
  np_json calls, call, function, id;
  if (np_json_get(p->out->message.json, "function_call", &function) &&
      function.type == NP_JSON_OBJECT) {
    np_part *part = add_part(p, NP_KIND_CALL, NP_PLACE_FUNCTION, 0, function);
    if (!part) return np_fail_mem(p->err);
    neap_rc rc = fill_call(p, part, function, (np_json){0});
    if (rc) return rc;
  }
  np_json_get(p->out->message.json, "tool_calls", &calls);
  if (calls.type == NP_JSON_NONE || calls.type == NP_JSON_NULL) return NEAP_OK;
  if (calls.type != NP_JSON_ARRAY) return shape(p, "tool_calls must be a list");
  np_json_iter it = np_json_each(calls);
  for (uint32_t i = 0; np_json_next(&it, NULL, &call); i++) {
    if (!np_json_get(call, "function", &function))
      return shape(p, "a call needs a function");
    if (!np_json_get(call, "id", &id) || id.type != NP_JSON_STRING) {
      return shape(p, "a call needs an id");
    }
    np_part *part = add_part(p, NP_KIND_CALL, NP_PLACE_CALL, i, call);
    if (!part) return np_fail_mem(p->err);
    neap_rc rc = fill_call(p, part, function, id);
    if (rc) return rc;
  }
  return NEAP_OK;
}

static neap_rc parse_reasoning(parser *p) {
  static const char *const members[] = {"reasoning", "reasoning_content"};
  for (size_t i = 0; i < NP_COUNT(members); i++) {
    np_json v;
    if (!np_json_get(p->out->message.json, members[i], &v)) continue;
    if (v.type != NP_JSON_STRING) continue; /* other forms stay in the raw message */
    np_part *part = add_part(p, NP_KIND_THOUGHT, NP_PLACE_REASONING, (uint32_t)i, v);
    if (!part || !keep_text(p, v, &part->text)) return np_fail_mem(p->err);
    part->empty = part->text.n == 0;
    /* one of them: both names are used for the same text */
    if (!part->empty) return NEAP_OK;
    p->out->count--;
  }
  return NEAP_OK;
}

/* What the model said in refusing: a text like any other, in a member of its own. */
static neap_rc parse_refusal(parser *p) {
  np_json v;
  np_json_get(p->out->message.json, "refusal", &v);
  if (v.type != NP_JSON_STRING || v.raw.n == 2) return NEAP_OK;
  np_part *part = add_part(p, NP_KIND_TEXT, NP_PLACE_REFUSAL, 0, v);
  if (!part || !keep_text(p, v, &part->text)) return np_fail_mem(p->err);
  return NEAP_OK;
}

static neap_rc parse_role(parser *p) {
  np_message *m = &p->out->message;
  np_json role, name;
  if (!np_json_get(m->json, "role", &role) || role.type != NP_JSON_STRING) {
    return shape(p, "a message needs a role");
  }
  int i = 0;
  while (i < NP_ROLE_COUNT && !np_json_is_key(role.raw, np_role_name((np_role)i))) i++;
  if (i == NP_ROLE_COUNT) {
    return np_fail(p->err, NEAP_E_SHAPE,
                   "unknown role %.*s; use system, user, assistant or tool",
                   role.raw.n > 40 ? 40 : (int)role.raw.n, role.raw.p);
  }
  m->role = (np_role)i;
  m->name = NP_LIT("");
  np_json_get(m->json, "name", &name);
  if (name.type == NP_JSON_STRING && !keep_text(p, name, &m->name))
    return np_fail_mem(p->err);
  return NEAP_OK;
}

/* Members that say that a call failed, as agents write them. */
static bool says_error(np_json message) {
  np_json v;
  return (np_json_get(message, "is_error", &v) || np_json_get(message, "isError", &v)) &&
         np_str_is(v.raw, "true");
}

static neap_rc parse_tool_message(parser *p) {
  np_json id;
  neap_rc rc = parse_result(p);
  if (rc) return rc;
  np_part *part = &p->out->parts[0];
  part->is_error = says_error(p->out->message.json);
  if (p->out->message.role == NP_ROLE_FUNCTION) return NEAP_OK;
  if (!np_json_get(p->out->message.json, "tool_call_id", &id) ||
      id.type != NP_JSON_STRING) {
    return shape(p, "a tool message needs its tool_call_id");
  }
  return keep_text(p, id, &part->call_id) ? NEAP_OK : np_fail_mem(p->err);
}

neap_rc np_parse_message(np_arena *ar, np_buf *scratch, np_str raw, np_parsed *out,
                         np_err *e) {
  parser p = {ar, scratch, out, e};
  *out = (np_parsed){0};
  neap_rc rc = np_json_check(raw, &out->message.json, e);
  if (rc) return rc;
  if (out->message.json.type != NP_JSON_OBJECT)
    return shape(&p, "a message must be an object");
  out->message.raw = out->message.json.raw;
  out->message.lone = np_json_has_lone(out->message.json);
  rc = parse_role(&p);
  if (rc) return rc;
  if (out->message.role == NP_ROLE_TOOL || out->message.role == NP_ROLE_FUNCTION) {
    return parse_tool_message(&p);
  }
  if (out->message.role == NP_ROLE_ASSISTANT && (rc = parse_reasoning(&p))) return rc;
  if ((rc = parse_content(&p))) return rc;
  if (out->message.role != NP_ROLE_ASSISTANT) return NEAP_OK;
  rc = parse_refusal(&p);
  return rc ? rc : parse_calls(&p);
}
