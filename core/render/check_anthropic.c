/*
** Anthropic's Messages. Sources of the rules, by letter: AD the vendor's documents (messages,
** tool use, extended thinking, prompt caching), OB observed refusals (Codewhale#6119,
** experiential#804, opencode#1279, OpenClaw's transcript rules). That the thoughts of an open
** loop are all there cannot be seen in a body alone: tests compare with the log.
** next: check_marks.c, check_gemini.c
*/
#include "render/check_own.h"

enum { OPEN = 1, ANSWERED }; /* of a call's id */

/* One turn: neighbouring messages of one role, which the provider joins (AD). */
typedef struct turn {
  np_checker *c;
  bool assistant;
  size_t blocks; /* of the message */
  bool thinks;   /* the message's first block is a thought */
  bool first;    /* where a message has thoughts one must be */
} turn;

static bool is_thought(np_json type) {
  return np_json_is(type, "thinking") || np_json_is(type, "redacted_thinking");
}

/* ---- blocks ---- */

/* AD: text blocks are not empty. */
static neap_rc check_text(np_checker *c, np_json block) {
  np_json v;
  return np_checker_string(block, "text", &v) ? NEAP_OK : np_bad(c, "an empty text");
}

/* AD, vision: base64 of a PNG, JPEG, GIF or WebP, an address, or an uploaded file. */
static neap_rc check_image(np_checker *c, np_json block) {
  np_json source, type, v;
  np_json_get(block, "source", &source);
  np_json_get(source, "type", &type);
  if (np_json_is(type, "url") && np_checker_string(source, "url", &v)) return NEAP_OK;
  if (np_json_is(type, "file") && np_checker_string(source, "file_id", &v))
    return NEAP_OK;
  if (!np_json_is(type, "base64")) return np_bad(c, "an image needs its source");
  np_json_get(source, "media_type", &v);
  if (!np_is_image_type(np_checker_text(c, v)))
    return np_bad(c, "no image type that the provider takes: %.*s",
                  v.raw.n > 40 ? 40 : (int)v.raw.n, v.raw.p ? v.raw.p : "none");
  return np_checker_string(source, "data", &v) ? NEAP_OK
                                               : np_bad(c, "an image of no data");
}

/* AD, extended thinking: where thinking has a budget a message begins with its thoughts; AD,
** adaptive thinking: else it need not. */
static bool must_begin(np_checker *c) {
  np_json thinking, type;
  return np_json_get(c->root, "thinking", &thinking) &&
         np_json_get(thinking, "type", &type) && np_json_is(type, "enabled");
}

/* AD: handed back unchanged, so the signature is there. */
static neap_rc check_thought(turn *t, np_json block, np_json type) {
  np_checker *c = t->c;
  np_json v;
  if (!t->assistant) return np_bad(c, "a thought in a user message");
  if (!t->thinks && t->first)
    return np_bad(c, "a thought behind the message's first block");
  if (np_json_get(block, "cache_control", &v))
    return np_bad(c, "a cache mark on a thought");
  if (np_json_is(type, "redacted_thinking")) {
    return np_checker_string(block, "data", &v) ? NEAP_OK
                                                : np_bad(c, "a thought without its data");
  }
  np_json_get(block, "thinking", &v);
  if (v.type != NP_JSON_STRING) return np_bad(c, "a thought without its text");
  return np_checker_string(block, "signature", &v)
             ? NEAP_OK
             : np_bad(c, "a thought without signature");
}

static bool is_id(np_str s) {
  for (size_t i = 0; i < s.n; i++) {
    char ch = s.p[i];
    bool good = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                (ch >= '0' && ch <= '9') || ch == '_' || ch == '-';
    if (!good) return false;
  }
  return s.n > 0;
}

/* OB: ids match ^[a-zA-Z0-9_-]+$ and differ in the whole request. */
static neap_rc check_call(turn *t, np_json block) {
  np_checker *c = t->c;
  np_json id, name, input;
  if (!t->assistant) return np_bad(c, "a call in a user message");
  np_json_get(block, "id", &id);
  if (!is_id(np_checker_text(c, id)))
    return np_bad(c, "a call's id is not of [a-zA-Z0-9_-]");
  np_name *n = np_names_add(c, &c->ids, np_buf_str(&c->text));
  if (!n) return np_fail_mem(c->err);
  if (n->state) return np_bad(c, "another call has the same id");
  n->state = OPEN;
  c->open++;
  if (!np_checker_string(block, "name", &name)) return np_bad(c, "a call needs a name");
  np_json_get(block, "input", &input);
  if (input.type != NP_JSON_OBJECT) return np_bad(c, "a call's input is no object");
  return np_checker_known(c, name);
}

/* AD, PDF support: base64 of a PDF, plain text, blocks, an address, or an uploaded file. */
static neap_rc check_document(np_checker *c, np_json block) {
  np_json source, type, v;
  np_json_get(block, "source", &source);
  np_json_get(source, "type", &type);
  if (!np_json_is(type, "base64"))
    return source.type == NP_JSON_OBJECT ? NEAP_OK
                                         : np_bad(c, "a document needs its source");
  np_json_get(source, "media_type", &v);
  if (c->strict && !np_str_is(np_checker_text(c, v), "application/pdf"))
    return np_bad(c, "a document that is no PDF");
  return np_checker_string(source, "data", &v) ? NEAP_OK
                                               : np_bad(c, "a document of no data");
}

/* Blocks inside a result: text, images, documents (AD). */
static neap_rc check_inner(np_checker *c, np_json block) {
  np_json type;
  np_json_get(block, "type", &type);
  if (np_json_is(type, "text")) return check_text(c, block);
  if (np_json_is(type, "image")) return check_image(c, block);
  if (np_json_is(type, "document")) return check_document(c, block);
  if (np_json_is(type, "search_result") || np_json_is(type, "tool_reference"))
    return NEAP_OK;
  return np_bad(c, "no block that a result may hold");
}

/* AD: one result for each call of the turn before, results before anything else. Content may
** be empty (OB). */
static neap_rc check_result(turn *t, np_json block) {
  np_checker *c = t->c;
  np_json id, content, inner;
  neap_rc rc = NEAP_OK;
  if (t->assistant) return np_bad(c, "a result in an assistant message");
  np_json_get(block, "tool_use_id", &id);
  np_name *n = np_names_find(&c->ids, np_checker_text(c, id));
  if (!n) return np_bad(c, "a result without its call in the message before");
  if (n->state != OPEN) return np_bad(c, "a second result of one call");
  n->state = ANSWERED;
  c->open--;
  np_json_get(block, "content", &content);
  if (content.type != NP_JSON_NONE && content.type != NP_JSON_STRING &&
      content.type != NP_JSON_ARRAY)
    return np_bad(c, "a result's content is no string and no list");
  np_json_iter it = np_json_each(content);
  while (!rc && np_json_next(&it, NULL, &inner)) rc = check_inner(c, inner);
  return rc;
}

static neap_rc check_block(turn *t, np_json block) {
  np_json type;
  if (!np_checker_string(block, "type", &type))
    return np_bad(t->c, "a block needs a type");
  bool first = !t->blocks++;
  if (first) t->thinks = is_thought(type);
  if (np_json_is(type, "tool_result")) return check_result(t, block);
  if (!t->assistant && t->c->open)
    return np_bad(t->c, "%zu calls before it have no result; those come first",
                  t->c->open);
  if (np_json_is(type, "tool_use")) return check_call(t, block);
  if (is_thought(type)) return check_thought(t, block, type);
  if (np_json_is(type, "text")) return check_text(t->c, block);
  if (np_json_is(type, "document")) return check_document(t->c, block);
  if (!np_json_is(type, "image")) return NEAP_OK;
  return t->assistant ? np_bad(t->c, "an image in an assistant message")
                      : check_image(t->c, block);
}

/* ---- messages ---- */

/* OB: the only text of an assistant message is not blank. */
static bool is_only_blank(np_json content, size_t blocks) {
  np_json block = {0}, text;
  np_json_iter it = np_json_each(content);
  if (content.type == NP_JSON_STRING) return np_is_blank(content);
  if (blocks != 1 || !np_json_next(&it, NULL, &block)) return false;
  return np_json_get(block, "text", &text) && np_is_blank(text);
}

static neap_rc check_list(turn *t, np_json content) {
  np_checker *c = t->c;
  np_json block;
  neap_rc rc = NEAP_OK;
  np_json_iter it = np_json_each(content);
  c->sub = "content";
  for (c->part = 0; !rc && np_json_next(&it, NULL, &block); c->part++)
    rc = check_block(t, block);
  if (rc) return rc;
  c->sub = NULL;
  /* OB: an assistant's list may be empty, a user's not */
  return c->part || t->assistant ? NEAP_OK : np_bad(c, "an empty list of blocks");
}

static neap_rc check_message(turn *t, np_json m) {
  np_checker *c = t->c;
  np_json role, content;
  np_json_get(m, "role", &role);
  bool assistant = np_json_is(role, "assistant");
  if (!assistant && !np_json_is(role, "user"))
    return np_bad(c, "a role other than user and assistant"); /* AD: system is on top */
  if (!c->item && assistant) return np_bad(c, "the first message is not the user's");
  if (assistant && !t->assistant && c->open)
    return np_bad(c, "%zu calls before it have no result", c->open);
  t->assistant = assistant;
  t->blocks = 0;
  t->thinks = false;
  np_json_get(m, "content", &content);
  if (content.type == NP_JSON_STRING) {
    if (content.raw.n <= 2) return np_bad(c, "empty content");
    if (!assistant && c->open)
      return np_bad(c, "%zu calls before it have no result; those come first", c->open);
  } else if (content.type == NP_JSON_ARRAY) {
    neap_rc rc = check_list(t, content);
    if (rc) return rc;
  } else {
    return np_bad(c, "content is no string and no list");
  }
  return assistant && is_only_blank(content, t->blocks) ? np_bad(c, "a blank text alone")
                                                        : NEAP_OK;
}

/* AD: what the assistant is to go on with does not end in white space, and cannot be given
** where the model thinks. */
static neap_rc check_last(np_checker *c, np_json m) {
  np_json role, content, block, thinking, type, text = {0};
  np_json_get(m, "role", &role);
  if (!np_json_is(role, "assistant")) return NEAP_OK;
  np_json_get(c->root, "thinking", &thinking);
  np_json_get(thinking, "type", &type);
  if (np_json_is(type, "enabled") || np_json_is(type, "adaptive"))
    return np_bad(c, "the last message is the assistant's, and the model is to think");
  np_json_get(m, "content", &content);
  np_json_iter it = np_json_each(content);
  if (content.type == NP_JSON_STRING) text = content;
  while (np_json_next(&it, NULL, &block)) np_json_get(block, "text", &text);
  np_str s = np_checker_text(c, text);
  bool white = s.n && strchr(" \n\t\r\f", s.p[s.n - 1]);
  return white ? np_bad(c, "the assistant's last text ends in white space") : NEAP_OK;
}

static neap_rc check_messages(np_checker *c) {
  np_json list, m = {0}, last = {0};
  turn t = {.c = c, .first = must_begin(c)};
  neap_rc rc = NEAP_OK;
  np_checker_at(c, "messages", 0);
  np_json_get(c->root, "messages", &list);
  if (list.type != NP_JSON_ARRAY) return np_bad(c, "messages is no list");
  np_json_iter it = np_json_each(list);
  while (!rc && np_json_next(&it, NULL, &m)) {
    rc = check_message(&t, m);
    last = m;
    if (!rc) np_checker_at(c, "messages", c->item + 1);
  }
  if (rc) return rc;
  if (!c->item) return np_bad(c, "an empty list of messages");
  if (c->open) return np_bad(c, "%zu calls before it have no result", c->open);
  np_checker_at(c, "messages", c->item - 1);
  return check_last(c, last);
}

/* ---- tools, system ---- */

/* The schemas are the host's: a strict rule. */
static neap_rc check_tools(np_checker *c) {
  np_json tools, tool, name;
  neap_rc rc = NEAP_OK;
  if (!np_json_get(c->root, "tools", &tools) || !c->strict) return NEAP_OK;
  np_json_iter it = np_json_each(tools);
  np_checker_at(c, "tools", 0);
  for (; !rc && np_json_next(&it, NULL, &tool); c->item++) {
    np_json_get(tool, "name", &name);
    rc = np_checker_tool(c, name);
  }
  return rc;
}

/* AD: a string or a list of text blocks. */
static neap_rc check_system(np_checker *c) {
  np_json system, block, type;
  neap_rc rc = NEAP_OK;
  if (!np_json_get(c->root, "system", &system)) return NEAP_OK;
  np_checker_at(c, "system", 0);
  if (system.type == NP_JSON_STRING) return NEAP_OK;
  if (system.type != NP_JSON_ARRAY) return np_bad(c, "no string and no list");
  np_json_iter it = np_json_each(system);
  for (; !rc && np_json_next(&it, NULL, &block); c->item++) {
    np_json_get(block, "type", &type);
    rc = np_json_is(type, "text") ? check_text(c, block) : np_bad(c, "no text block");
  }
  return rc;
}

neap_rc np_check_anthropic(np_checker *c) {
  neap_rc rc = check_tools(c);
  if (!rc) rc = check_system(c);
  if (!rc) rc = check_messages(c);
  return rc ? rc : np_check_marks(c);
}
