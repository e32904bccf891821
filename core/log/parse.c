/*
** A message becomes parts: whose form it has, then that form's own parser. Here is what they
** share. next: parse_chat.c
*/
#include "log/parser.h"

#include "log/shape.h"

neap_rc np_parser_fail(np_parser *p, const char *text) {
  return np_fail(p->err, NEAP_E_SHAPE, "%s", text);
}

bool np_parser_keep(np_parser *p, np_json str, np_str *out) {
  if (str.type == NP_JSON_STRING && !memchr(str.raw.p, '\\', str.raw.n)) {
    *out = np_str_cut(str.raw, 1, str.raw.n - 1);
    return true;
  }
  np_buf_clear(p->scratch);
  np_json_text(str, p->scratch);
  return !p->scratch->failed && np_arena_copy(p->ar, np_buf_str(p->scratch), out);
}

np_part *np_parser_add(np_parser *p, np_kind kind, np_place place, uint32_t index,
                       np_json raw) {
  np_parsed *o = p->out;
  if (o->count == o->cap) {
    size_t cap = o->cap ? o->cap * 2 : 4;
    np_part *parts = np_arena_alloc(p->work, cap * sizeof *parts);
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

neap_rc np_parser_text(np_parser *p, np_kind kind, np_place place, uint32_t index,
                       np_json raw, np_json text) {
  np_part *part = np_parser_add(p, kind, place, index, raw);
  if (!part || !np_parser_keep(p, text, &part->text)) return np_fail_mem(p->err);
  part->empty = part->text.n == 0;
  return NEAP_OK;
}

neap_rc np_parser_raw(np_parser *p, np_kind kind, np_place place, uint32_t index,
                      np_json raw, bool opaque) {
  np_part *part = np_parser_add(p, kind, place, index, raw);
  if (!part) return np_fail_mem(p->err);
  part->text = raw.raw;
  part->opaque = opaque;
  return NEAP_OK;
}

np_kind np_parser_kind(np_role role) {
  switch (role) {
    case NP_ROLE_SYSTEM:
    case NP_ROLE_DEVELOPER: return NP_KIND_SYSTEM;
    case NP_ROLE_ASSISTANT: return NP_KIND_TEXT;
    case NP_ROLE_TOOL:
    case NP_ROLE_FUNCTION: return NP_KIND_RESULT;
    default: return NP_KIND_USER;
  }
}

static bool looks_like_path(np_str s) {
  return s.n >= 2 && s.n <= 512 && (memchr(s.p, '/', s.n) || memchr(s.p, '.', s.n)) &&
         !memchr(s.p, '\n', s.n) && !memchr(s.p, ' ', s.n);
}

bool np_parser_path(np_parser *p, np_part *part) {
  np_json args, value;
  if (np_json_check(part->text, &args, NULL) || args.type != NP_JSON_OBJECT) return true;
  np_json_iter it = np_json_each(args);
  np_str key;
  while (np_json_next(&it, &key, &value)) {
    if (value.type != NP_JSON_STRING || value.raw.n > 600) continue;
    np_str text;
    if (!np_parser_keep(p, value, &text)) return false;
    if (!looks_like_path(text)) continue;
    part->path = text;
    return true;
  }
  return true;
}

/* ---- lists of texts ---- */

static const char *text_member(np_json type) {
  if (np_json_is_key(type.raw, "text") || np_json_is_key(type.raw, "input_text") ||
      np_json_is_key(type.raw, "output_text") ||
      np_json_is_key(type.raw, "reasoning_text") ||
      np_json_is_key(type.raw, "summary_text")) {
    return "text";
  }
  return np_json_is_key(type.raw, "refusal") ? "refusal" : NULL;
}

/* An image or file is only named: its bytes are no text. */
static bool is_data(np_json type) {
  static const char *const types[] = {"image_url", "image",      "input_image",
                                      "file",      "input_file", "document",
                                      "audio",     "input_audio"};
  for (size_t i = 0; i < NP_COUNT(types); i++) {
    if (np_json_is_key(type.raw, types[i])) return true;
  }
  return false;
}

/* A document in plain text is read as such. */
static bool is_plain(np_json item, np_json *text) {
  np_json source, type;
  return np_json_get(item, "source", &source) && np_json_get(source, "type", &type) &&
         type.type == NP_JSON_STRING && np_json_is_key(type.raw, "text") &&
         np_json_get(source, "data", text) && text->type == NP_JSON_STRING;
}

static neap_rc join_item(np_parser *p, np_json item, np_buf *joined, bool *odd) {
  np_json type, text = {0};
  size_t before = joined->n;
  if (item.type != NP_JSON_OBJECT)
    return np_parser_fail(p, "an item of content must be an object");
  np_json_get(item, "type", &type);
  if (type.type != NP_JSON_STRING)
    return np_parser_fail(p, "an item of content needs a type");
  const char *member = text_member(type);
  bool plain = !member && is_plain(item, &text);
  if (member && (!np_json_get(item, member, &text) || text.type != NP_JSON_STRING))
    return np_parser_fail(p, "a text part needs its text as a string");
  if (member || plain) np_json_text(text, joined);
  else np_buf_add(joined, is_data(type) ? NP_LIT(NP_RESULT_OMITTED) : item.raw);
  bool own = member && np_json_is_key(type.raw, "text"); /* as the chat form has it */
  if (odd && (!own || joined->n == before)) *odd = true;
  return NEAP_OK;
}

neap_rc np_parser_join(np_parser *p, np_json list, np_str *out, bool *odd) {
  np_json item;
  np_buf joined;
  neap_rc rc = NEAP_OK;
  size_t n = 0;
  np_buf_init(&joined, p->scratch->alloc);
  np_json_iter it = np_json_each(list);
  for (; !rc && np_json_next(&it, NULL, &item); n++)
    rc = join_item(p, item, &joined, odd);
  if (odd && !n) *odd = true;
  bool ok = rc || (!joined.failed && np_arena_copy(p->ar, np_buf_str(&joined), out));
  np_buf_free(&joined);
  return ok ? rc : np_fail_mem(p->err);
}

/* ---- the message ---- */

neap_rc np_parser_role(np_parser *p) {
  np_message *m = &p->out->message;
  np_json role;
  if (!np_parser_get(p, "role", &role) || role.type != NP_JSON_STRING) {
    return np_parser_fail(p, "a message needs a role");
  }
  int i = 0;
  while (i < NP_ROLE_COUNT && !np_json_is_key(role.raw, np_role_name((np_role)i))) i++;
  if (i == NP_ROLE_COUNT) {
    return np_fail(p->err, NEAP_E_SHAPE,
                   "unknown role %.*s; use system, user, assistant or tool",
                   role.raw.n > 40 ? 40 : (int)role.raw.n, role.raw.p);
  }
  m->role = (np_role)i;
  return NEAP_OK;
}

static bool has_native(np_json message) {
  np_str key;
  np_json value;
  np_json_iter it = np_json_each(message);
  while (np_json_next(&it, &key, &value)) {
    if (np_shape_is_native(key)) return true;
  }
  return false;
}

neap_rc np_parse_message(np_arena *ar, np_arena *work, np_buf *scratch, np_str raw,
                         np_shape native, np_parsed *out, np_err *e) {
  typedef neap_rc (*parse_fn)(np_parser * p);
  static const parse_fn parse[NP_SHAPE_COUNT] = {np_parse_chat, np_parse_anthropic,
                                                 np_parse_responses, np_parse_gemini};
  np_parser p = {.ar = ar, .work = work, .scratch = scratch, .out = out, .err = e};
  *out = (np_parsed){.message = {.name = NP_LIT("")}};
  neap_rc rc = np_json_check(raw, &out->message.json, e);
  if (rc) return rc;
  if (out->message.json.type != NP_JSON_OBJECT)
    return np_parser_fail(&p, "a message must be an object");
  out->message.raw = out->message.json.raw;
  out->message.lone = np_json_has_lone(out->message.json);
  out->message.native = has_native(out->message.json);
  np_members_of(out->message.json, &p.members);
  if (np_parser_is_block(&p)) return np_parse_block(&p, native);
  rc = np_shape_of(&p.members, native, &out->message.shape, e);
  return rc ? rc : parse[out->message.shape](&p);
}
