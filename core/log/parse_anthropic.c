/*
** Messages of Anthropic's API: content is a string or a list of blocks. A user message may hold
** results and texts, each of them an entry. Blocks that only this provider can read (its own
** tools and their results, compaction, what is to come) stay whole. A `system` role carries
** the request's system member. next: parse_responses.c
*/
#include "log/parser.h"

static neap_rc keep_into(np_parser *p, np_json block, const char *member, np_str *out,
                         const char *missing) {
  np_json v;
  if (!np_json_get(block, member, &v) || v.type != NP_JSON_STRING)
    return np_parser_fail(p, missing);
  return np_parser_keep(p, v, out) ? NEAP_OK : np_fail_mem(p->err);
}

static neap_rc parse_text(np_parser *p, uint32_t i, np_json block) {
  np_json text;
  if (!np_json_get(block, "text", &text) || text.type != NP_JSON_STRING)
    return np_parser_fail(p, "a text block needs its text as a string");
  return np_parser_text(p, np_parser_kind(p->out->message.role), NP_PLACE_PART, i, block,
                        text);
}

static bool has_string(np_json block, const char *member) {
  np_json v;
  return np_json_get(block, member, &v) && v.type == NP_JSON_STRING && v.raw.n > 2;
}

/* A redacted thought has no text but is one. Thoughts go back as they were signed, or not. */
static neap_rc parse_thinking(np_parser *p, uint32_t i, np_json block) {
  np_json text;
  np_part *part = np_parser_add(p, NP_KIND_THOUGHT, NP_PLACE_PART, i, block);
  if (!part) return np_fail_mem(p->err);
  np_json_get(block, "thinking", &text);
  part->loose = !has_string(block, "data") &&
                (text.type != NP_JSON_STRING || !has_string(block, "signature"));
  return np_parser_keep(p, text, &part->text) ? NEAP_OK : np_fail_mem(p->err);
}

static neap_rc parse_use(np_parser *p, uint32_t i, np_json block) {
  np_json input;
  np_part *part = np_parser_add(p, NP_KIND_CALL, NP_PLACE_PART, i, block);
  if (!part) return np_fail_mem(p->err);
  if (p->out->message.role != NP_ROLE_ASSISTANT)
    return np_parser_fail(p, "a tool_use block belongs to an assistant message");
  if (!np_json_get(block, "input", &input) || input.type != NP_JSON_OBJECT)
    return np_parser_fail(p, "a tool_use block needs its input as an object");
  part->text = input.raw;
  neap_rc rc = keep_into(p, block, "name", &part->tool, "a tool_use block needs a name");
  if (!rc) rc = keep_into(p, block, "id", &part->call_id, "a tool_use block needs an id");
  return rc || np_parser_path(p, part) ? rc : np_fail_mem(p->err);
}

/* A result holds texts, pictures, files, and what is to come, but no other turn's blocks. */
static neap_rc check_inner(np_parser *p, np_json content) {
  static const char *const others[] = {"tool_result", "tool_use", "thinking",
                                       "redacted_thinking"};
  np_json item, type;
  np_json_iter it = np_json_each(content);
  while (np_json_next(&it, NULL, &item)) {
    np_json_get(item, "type", &type);
    for (size_t k = 0; k < NP_COUNT(others) && type.type == NP_JSON_STRING; k++) {
      if (!np_json_is_key(type.raw, others[k])) continue;
      return np_fail(p->err, NEAP_E_SHAPE,
                     "a tool_result cannot hold a %s block; give it as text, or in a "
                     "message of its own",
                     others[k]);
    }
    if (np_json_is_key(type.raw, "text") && !has_string(item, "text"))
      p->out->message.holes = true;
  }
  return NEAP_OK;
}

static neap_rc parse_result(np_parser *p, uint32_t i, np_json block) {
  np_json content, failed;
  np_part *part = np_parser_add(p, NP_KIND_RESULT, NP_PLACE_PART, i, block);
  if (!part) return np_fail_mem(p->err);
  if (p->out->message.role != NP_ROLE_USER)
    return np_parser_fail(p, "a tool_result block belongs to a user message");
  np_json_get(block, "content", &content);
  np_json_get(block, "is_error", &failed);
  part->is_error = np_str_is(failed.raw, "true");
  neap_rc rc = keep_into(p, block, "tool_use_id", &part->call_id,
                         "a tool_result block needs its tool_use_id");
  if (rc) return rc;
  if (content.type == NP_JSON_NULL) p->out->message.holes = true;
  if (content.type == NP_JSON_ARRAY) {
    rc = check_inner(p, content);
    return rc ? rc : np_parser_join(p, content, &part->text, NULL);
  }
  if (content.type > NP_JSON_NULL && content.type != NP_JSON_STRING)
    return np_parser_fail(p, "a tool_result's content must be a string or a list");
  return np_parser_keep(p, content, &part->text) ? NEAP_OK : np_fail_mem(p->err);
}

/* A document in plain text is read as such; the bytes of others are no text. */
static neap_rc parse_file(np_parser *p, uint32_t i, np_json block, np_kind kind) {
  np_json source, type, data;
  np_part *part = np_parser_add(p, kind, NP_PLACE_PART, i, block);
  if (!part) return np_fail_mem(p->err);
  np_json_get(block, "source", &source);
  np_json_get(source, "type", &type);
  if (kind == NP_KIND_IMAGE || np_json_is_key(type.raw, "base64")) return NEAP_OK;
  if (np_json_is_key(type.raw, "text") && np_json_get(source, "data", &data))
    return np_parser_keep(p, data, &part->text) ? NEAP_OK : np_fail_mem(p->err);
  part->text = block.raw;
  return NEAP_OK;
}

typedef neap_rc (*block_fn)(np_parser *p, uint32_t i, np_json block);

static const struct {
  const char *type;
  block_fn parse;
} blocks[] = {
    {"text", parse_text},          {"thinking", parse_thinking},
    {"tool_use", parse_use},       {"redacted_thinking", parse_thinking},
    {"tool_result", parse_result},
};

static neap_rc parse_block(np_parser *p, uint32_t i, np_json block) {
  np_json type;
  if (block.type != NP_JSON_OBJECT)
    return np_parser_fail(p, "an item of content must be an object");
  if (!np_json_get(block, "type", &type) || type.type != NP_JSON_STRING)
    return np_parser_fail(p, "an item of content needs a type");
  for (size_t k = 0; k < NP_COUNT(blocks); k++) {
    if (np_json_is_key(type.raw, blocks[k].type)) return blocks[k].parse(p, i, block);
  }
  if (p->out->message.role == NP_ROLE_ASSISTANT)
    return np_parser_raw(p, NP_KIND_TEXT, NP_PLACE_PART, i, block, true);
  bool image = np_json_is_key(type.raw, "image");
  return parse_file(p, i, block, image ? NP_KIND_IMAGE : NP_KIND_FILE);
}

static neap_rc parse_list(np_parser *p, np_json content) {
  np_json block;
  neap_rc rc = NEAP_OK;
  np_json_iter it = np_json_each(content);
  for (uint32_t i = 0; !rc && np_json_next(&it, NULL, &block); i++)
    rc = parse_block(p, i, block);
  return rc;
}

neap_rc np_parse_anthropic(np_parser *p) {
  np_message *m = &p->out->message;
  np_json content;
  neap_rc rc = np_parser_role(p);
  if (rc) return rc;
  if (m->role != NP_ROLE_USER && m->role != NP_ROLE_ASSISTANT &&
      m->role != NP_ROLE_SYSTEM)
    return np_parser_fail(p, "a message of content blocks is the user's or the "
                             "assistant's; system takes the request's system member");
  np_parser_get(p, "content", &content);
  if (content.type == NP_JSON_ARRAY) return parse_list(p, content);
  if (content.type == NP_JSON_STRING)
    return np_parser_text(p, np_parser_kind(m->role), NP_PLACE_CONTENT, 0, content,
                          content);
  if (m->role == NP_ROLE_ASSISTANT && content.type <= NP_JSON_NULL) return NEAP_OK;
  if (content.type <= NP_JSON_NULL)
    return np_parser_fail(p,
                          "content is missing: a string or a list of parts is expected");
  return np_parser_fail(p, "content must be a string or a list");
}
