/*
** OpenAI's Responses. Sources of the rules, by letter: OD the platform's guides and reference
** (function calling, conversation state, reasoning), OB observed refusals
** (openai-node#1791, vercel/ai#7099, continue#11994, Agora#141, continue#10723), N neap's own
** promise. next: check_anthropic.c
*/
#include "render/check_own.h"

enum { ANSWERED = 1, OPEN }; /* of a call's id; OPEN + its row below */

/* OD: items that wait for another, which names them by call_id. */
typedef struct pair {
  const char *call, *result;
  const char *text; /* a member that must be a string, or NULL */
} pair;

static const pair pairs[] = {
    {"function_call", "function_call_output", "arguments"},
    {"custom_tool_call", "custom_tool_call_output", "input"},
    {"local_shell_call", "local_shell_call_output", NULL},
    {"shell_call", "shell_call_output", NULL},
    {"apply_patch_call", "apply_patch_call_output", NULL},
    {"computer_call", "computer_call_output", NULL},
};

/* Whether `text` ends in `end`: item types of the model's own making end in "_call". */
static bool ends_in(np_str text, const char *end) {
  size_t n = strlen(end);
  return text.n >= n && memcmp(text.p + text.n - n, end, n) == 0;
}

/* ---- messages ---- */

/* OB: "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'". */
static bool is_part_of(np_json type, bool assistant) {
  if (assistant) return np_json_is(type, "output_text") || np_json_is(type, "refusal");
  return np_json_is(type, "input_text") || np_json_is(type, "input_image") ||
         np_json_is(type, "input_file") || np_json_is(type, "input_audio");
}

static neap_rc check_part(np_checker *c, np_json part, bool assistant) {
  np_json type, v;
  np_json_get(part, "type", &type);
  if (!is_part_of(type, assistant)) return np_bad(c, "no part that this role may have");
  if (np_json_is(type, "input_image")) {
    if (np_checker_string(part, "image_url", &v)) return np_checker_url(c, v);
    return np_checker_string(part, "file_id", &v) ? NEAP_OK
                                                  : np_bad(c, "an image without address");
  }
  if (np_json_is(type, "input_file") && !np_checker_string(part, "file_data", &v) &&
      !np_checker_string(part, "file_id", &v) && !np_checker_string(part, "file_url", &v))
    return np_bad(c, "a file without data and address");
  bool text = np_json_is(type, "input_text") || np_json_is(type, "output_text");
  if (text && !np_checker_string(part, "text", &v)) return np_bad(c, "an empty text");
  if (np_json_is(type, "refusal") && !np_checker_string(part, "refusal", &v))
    return np_bad(c, "an empty refusal");
  return NEAP_OK;
}

static neap_rc check_parts(np_checker *c, const char *member, np_json list,
                           bool assistant) {
  np_json part;
  np_json_iter it = np_json_each(list);
  neap_rc rc = NEAP_OK;
  c->sub = member;
  for (c->part = 0; !rc && np_json_next(&it, NULL, &part); c->part++)
    rc = check_part(c, part, assistant);
  if (rc) return rc;
  if (!c->part) return np_bad(c, "an empty list");
  c->sub = NULL;
  return NEAP_OK;
}

/* OD: roles; N: no empty content. */
static neap_rc check_message(np_checker *c, np_json m) {
  np_json role, content, call;
  if (!np_checker_string(m, "role", &role)) return np_bad(c, "a message needs a role");
  bool assistant = np_json_is(role, "assistant");
  if (!assistant && !np_json_is(role, "user") && !np_json_is(role, "system") &&
      !np_json_is(role, "developer"))
    return np_bad(c, "a role that is not known");
  if (np_json_get(m, "tool_calls", &call))
    return np_bad(c, "calls are items of their own");
  np_json_get(m, "content", &content);
  if (content.type == NP_JSON_ARRAY) return check_parts(c, "content", content, assistant);
  if (content.type != NP_JSON_STRING) return np_bad(c, "no content");
  return content.raw.n > 2 ? NEAP_OK : np_bad(c, "empty content");
}

/* ---- calls, results, reasoning ---- */

static neap_rc check_call(np_checker *c, size_t row, np_json item) {
  np_json id, name, text;
  if (!np_checker_string(item, "call_id", &id))
    return np_bad(c, "a call needs a call_id");
  np_name *n = np_names_add(c, &c->ids, np_checker_text(c, id));
  if (!n) return np_fail_mem(c->err);
  if (n->state >= OPEN) return np_bad(c, "a call of this call_id still waits");
  n->state = OPEN + row;
  c->open++;
  if (!pairs[row].text) return NEAP_OK;
  if (!np_checker_string(item, "name", &name)) return np_bad(c, "a call needs a name");
  np_json_get(item, pairs[row].text, &text);
  if (text.type != NP_JSON_STRING)
    return np_bad(c, "a call's %s is no string", pairs[row].text);
  neap_rc rc = np_checker_known(c, name);
  return rc || row ? rc : np_checker_arguments(c, text);
}

/* OD: a string, which may be empty, or a list of texts, images and files. A shell's and a
** computer's outputs have shapes of their own. */
static neap_rc check_output(np_checker *c, size_t row, np_json item) {
  np_json output, part, type;
  np_json_get(item, "output", &output);
  if (output.type == NP_JSON_NONE) return np_bad(c, "a result needs its output");
  if (row > 1 || output.type == NP_JSON_STRING) return NEAP_OK;
  if (output.type != NP_JSON_ARRAY) return np_bad(c, "output is no string and no list");
  np_json_iter it = np_json_each(output);
  while (np_json_next(&it, NULL, &part)) {
    np_json_get(part, "type", &type);
    if (np_json_is(type, "input_audio"))
      return np_bad(c, "no part that an output may have");
  }
  return check_parts(c, "output", output, false);
}

/* OD: each call has an output by call_id. Earlier requests may hold the call when the
** conversation is kept by the provider. */
static neap_rc check_result(np_checker *c, size_t row, np_json item) {
  np_json id, v;
  bool kept = np_json_get(c->root, "previous_response_id", &v) ||
              np_json_get(c->root, "conversation", &v);
  if (!np_checker_string(item, "call_id", &id))
    return np_bad(c, "a result needs a call_id");
  np_name *n = np_names_find(&c->ids, np_checker_text(c, id));
  if (n && n->state >= OPEN) {
    if (n->state != OPEN + row)
      return np_bad(c, "a result of another kind than its call");
    n->state = ANSWERED;
    c->open--;
  } else if (!kept) {
    return np_bad(c, "a result without its call before it");
  }
  return check_output(c, row, item);
}

/* OD: `summary` is kept, an empty list too; where the provider keeps nothing, the encrypted
** content is what is handed back. */
static neap_rc check_reasoning(np_checker *c, np_json item) {
  np_json v, store;
  np_json_get(item, "summary", &v);
  if (v.type != NP_JSON_ARRAY) return np_bad(c, "reasoning needs its summary list");
  np_json_get(c->root, "store", &store);
  if (!np_str_is(store.raw, "false")) return NEAP_OK;
  if (np_checker_string(item, "encrypted_content", &v)) return NEAP_OK;
  return np_bad(c, "reasoning of a provider that stores nothing needs encrypted_content");
}

/* OB: "Item of type 'reasoning' was provided without its required following item". What may
** follow is of the model's making: its message or a call. */
static bool is_models(np_json item, np_str type) {
  np_json role;
  np_json_get(item, "role", &role);
  if (np_json_is(role, "assistant")) return true;
  return !role.type && (ends_in(type, "_call\"") || ends_in(type, "_request\"") ||
                        np_str_is(type, "\"reasoning\""));
}

/* OB: "Duplicate item found with id". */
static neap_rc check_id(np_checker *c, np_names *items, np_json item) {
  np_json id;
  if (!np_checker_string(item, "id", &id)) return NEAP_OK;
  np_name *n = np_names_add(c, items, np_checker_text(c, id));
  if (!n) return np_fail_mem(c->err);
  return n->state++ ? np_bad(c, "another item has the same id") : NEAP_OK;
}

/* ---- items ---- */

static neap_rc check_typed(np_checker *c, np_json item, np_json type) {
  np_json v;
  for (size_t i = 0; i < NP_COUNT(pairs); i++) {
    if (np_json_is(type, pairs[i].call)) return check_call(c, i, item);
    if (np_json_is(type, pairs[i].result)) return check_result(c, i, item);
  }
  if (np_json_is(type, "reasoning")) return check_reasoning(c, item);
  bool opaque = np_json_is(type, "compaction") || np_json_is(type, "compaction_summary");
  if (opaque && !np_checker_string(item, "encrypted_content", &v))
    return np_bad(c, "a compaction needs its encrypted_content");
  return NEAP_OK;
}

static neap_rc check_item(np_checker *c, np_names *items, np_json item, bool *thinks) {
  np_json type;
  if (item.type != NP_JSON_OBJECT) return np_bad(c, "an item is an object");
  np_json_get(item, "type", &type);
  bool message = !type.type || np_json_is(type, "message");
  if (*thinks && !is_models(item, type.type ? type.raw : NP_LIT("")))
    return np_bad(c, "the reasoning before it lacks the item that it led to");
  *thinks = np_json_is(type, "reasoning");
  neap_rc rc = check_id(c, items, item);
  if (rc) return rc;
  return message ? check_message(c, item) : check_typed(c, item, type);
}

static neap_rc check_input(np_checker *c, np_names *items, np_json input) {
  np_json item;
  bool thinks = false;
  neap_rc rc = NEAP_OK;
  np_json_iter it = np_json_each(input);
  np_checker_at(c, "input", 0);
  for (; !rc && np_json_next(&it, NULL, &item); np_checker_at(c, "input", c->item + 1))
    rc = check_item(c, items, item, &thinks);
  if (rc) return rc;
  if (!c->item) return np_bad(c, "an empty list of items");
  if (thinks) return np_bad(c, "the reasoning before it lacks the item that it led to");
  return c->open ? np_bad(c, "%zu calls before it have no output", c->open) : NEAP_OK;
}

/* OD: a tool's members stand flat; a namespace holds tools of its own. */
static neap_rc check_tools(np_checker *c, np_json tools, const char *list) {
  np_json tool, type, v;
  neap_rc rc = NEAP_OK;
  np_checker_at(c, list, 0);
  np_json_iter it = np_json_each(tools);
  for (; !rc && np_json_next(&it, NULL, &tool); c->item++) {
    np_json_get(tool, "type", &type);
    if (!type.type) return np_bad(c, "a tool needs a type");
    if (np_json_is(type, "function") && np_json_get(tool, "function", &v))
      return np_bad(c, "a tool's members stand flat, not in `function`");
    np_json_get(tool, "name", &v);
    if (np_json_is(type, "function") || np_json_is(type, "custom"))
      rc = np_checker_tool(c, v);
  }
  return rc;
}

/* Tools of namespaces are known by their names too. */
static neap_rc check_namespaces(np_checker *c, np_json tools) {
  np_json tool, inner;
  neap_rc rc = NEAP_OK;
  np_json_iter it = np_json_each(tools);
  while (!rc && np_json_next(&it, NULL, &tool)) {
    if (np_json_get(tool, "tools", &inner)) rc = check_tools(c, inner, "tools.tools");
  }
  return rc;
}

neap_rc np_check_responses(np_checker *c) {
  np_json v;
  np_names items = {0};
  neap_rc rc = NEAP_OK;
  if (np_json_get(c->root, "messages", &v)) return np_bad(c, "messages belong in input");
  if (np_json_get(c->root, "instructions", &v) && v.type != NP_JSON_STRING &&
      v.type != NP_JSON_NULL)
    return np_bad(c, "instructions are a string");
  bool tools = np_json_get(c->root, "tools", &v) && c->strict; /* they are the host's */
  if (tools) rc = check_tools(c, v, "tools");
  if (!rc && tools) rc = check_namespaces(c, v);
  np_checker_at(c, NULL, SIZE_MAX);
  if (rc) return rc;
  np_json_get(c->root, "input", &v);
  if (v.type == NP_JSON_STRING)
    return v.raw.n > 2 ? NEAP_OK : np_bad(c, "an empty input");
  if (v.type != NP_JSON_ARRAY) return np_bad(c, "input is no string and no list");
  rc = check_input(c, &items, v);
  np_free(c->alloc, items.slots);
  return rc;
}
