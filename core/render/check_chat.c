/*
** OpenAI's Chat Completions. Sources of the rules, by letter: OD the platform's guides and
** reference (function calling, vision), OB observed refusals, N neap's own promise (no empty
** content). next: check_responses.c
*/
#include "render/check_own.h"

enum { NEVER, OPEN, ANSWERED }; /* of a call's id */

/* OD: types of content parts by role. */
static bool is_part_of(np_json type, np_json role) {
  if (np_json_is(type, "text")) return true;
  if (np_json_is(role, "assistant")) return np_json_is(type, "refusal");
  return np_json_is(role, "user") &&
         (np_json_is(type, "image_url") || np_json_is(type, "input_audio") ||
          np_json_is(type, "file"));
}

static neap_rc check_part(np_checker *c, np_json role, np_json part) {
  np_json type, v, url;
  np_json_get(part, "type", &type);
  if (!is_part_of(type, role)) return np_bad(c, "no part that this role may have");
  if (np_json_is(type, "image_url")) {
    np_json_get(part, "image_url", &v);
    if (!np_checker_string(v, "url", &url)) return np_bad(c, "an image needs its url");
    return np_checker_url(c, url);
  }
  /* N: no empty text */
  if (np_json_is(type, "text") && !np_checker_string(part, "text", &v))
    return np_bad(c, "an empty text");
  if (np_json_is(type, "refusal") && !np_checker_string(part, "refusal", &v))
    return np_bad(c, "an empty refusal");
  return NEAP_OK;
}

static neap_rc check_list(np_checker *c, np_json role, np_json list) {
  np_json part;
  np_json_iter it = np_json_each(list);
  neap_rc rc = NEAP_OK;
  c->sub = "content";
  for (c->part = 0; !rc && np_json_next(&it, NULL, &part); c->part++)
    rc = check_part(c, role, part);
  if (rc) return rc;
  if (!c->part) return np_bad(c, "an empty list");
  c->sub = NULL;
  return NEAP_OK;
}

/* OD: a string or a list of parts. A result's may be the empty string, and an assistant's
** may be null or empty where there are calls (`may_lack`). */
static neap_rc check_content(np_checker *c, np_json m, np_json role, bool may_lack) {
  np_json v;
  np_json_get(m, "content", &v);
  if (v.type == NP_JSON_ARRAY) return check_list(c, role, v);
  if (v.type == NP_JSON_STRING)
    return v.raw.n > 2 || may_lack ? NEAP_OK : np_bad(c, "empty content");
  bool tool = np_json_is(role, "tool") || np_json_is(role, "function");
  if (v.type == NP_JSON_NONE || v.type == NP_JSON_NULL)
    return may_lack && !tool ? NEAP_OK : np_bad(c, "no content");
  return np_bad(c, "content is no string and no list");
}

/* ---- calls and results ---- */

/* OD: an id, a function, its arguments as a string. Ids differ inside one batch, since
** results name them; across batches they repeat. */
static neap_rc check_call(np_checker *c, np_json call) {
  np_json id, f, name, args;
  if (!np_checker_string(call, "id", &id)) return np_bad(c, "a call needs an id");
  if (!np_json_get(call, "function", &f) && !np_json_get(call, "custom", &f))
    return np_bad(c, "a call needs its function");
  if (!np_checker_string(f, "name", &name)) return np_bad(c, "a call needs a name");
  if ((!np_json_get(f, "arguments", &args) && !np_json_get(f, "input", &args)) ||
      args.type != NP_JSON_STRING)
    return np_bad(c, "a call's arguments are no string");
  np_name *n = np_names_add(c, &c->ids, np_checker_text(c, id));
  if (!n) return np_fail_mem(c->err);
  if (n->state == OPEN) return np_bad(c, "two calls of one message have the same id");
  n->state = OPEN;
  c->open++;
  neap_rc rc = np_checker_known(c, name);
  bool function = np_json_get(call, "function", &f);
  return rc || !function ? rc : np_checker_arguments(c, args);
}

static neap_rc check_calls(np_checker *c, np_json calls) {
  np_json call;
  np_json_iter it = np_json_each(calls);
  neap_rc rc = NEAP_OK;
  if (calls.type != NP_JSON_ARRAY) return np_bad(c, "tool_calls is no list");
  c->sub = "tool_calls";
  for (c->part = 0; !rc && np_json_next(&it, NULL, &call); c->part++)
    rc = check_call(c, call);
  if (rc) return rc;
  if (!c->part) return np_bad(c, "an empty list of calls"); /* OB: "[] is too short" */
  c->sub = NULL;
  return NEAP_OK;
}

/* OD: a tool message follows the assistant message whose calls contain its id. */
static neap_rc check_result(np_checker *c, np_json m, np_json role) {
  np_json id;
  if (!np_checker_string(m, "tool_call_id", &id))
    return np_bad(c, "a result needs an id");
  np_name *n = np_names_find(&c->ids, np_checker_text(c, id));
  if (!n || n->state != OPEN)
    return np_bad(c, "a result without its call in the message before");
  n->state = ANSWERED;
  c->open--;
  return check_content(c, m, role, true);
}

/* The older form: one call, found by its function's name. */
static neap_rc check_function_call(np_checker *c, np_json f) {
  np_json name, args;
  if (!np_checker_string(f, "name", &name)) return np_bad(c, "a call needs a name");
  np_json_get(f, "arguments", &args);
  if (args.type != NP_JSON_STRING) return np_bad(c, "a call's arguments are no string");
  neap_rc rc = np_checker_known(c, name);
  return rc ? rc : np_checker_arguments(c, args);
}

/* ---- messages ---- */

static neap_rc check_assistant(np_checker *c, np_json m, np_json role) {
  np_json calls, function, refusal;
  bool has_calls = np_json_get(m, "tool_calls", &calls) && calls.type != NP_JSON_NULL;
  bool has_function =
      np_json_get(m, "function_call", &function) && function.type != NP_JSON_NULL;
  bool refuses = np_checker_string(m, "refusal", &refusal);
  neap_rc rc = check_content(c, m, role, has_calls || has_function || refuses);
  if (!rc && has_calls) rc = check_calls(c, calls);
  if (!rc && has_function) rc = check_function_call(c, function);
  return rc;
}

static neap_rc check_message(np_checker *c, np_json m) {
  np_json role;
  if (!np_checker_string(m, "role", &role)) return np_bad(c, "a message needs a role");
  if (np_json_is(role, "tool")) return check_result(c, m, role);
  /* OD: all calls are answered before the next message that is no result */
  if (c->open) return np_bad(c, "%zu calls before it have no result", c->open);
  if (np_json_is(role, "assistant")) return check_assistant(c, m, role);
  if (np_json_is(role, "function")) {
    np_json name;
    if (!np_checker_string(m, "name", &name)) return np_bad(c, "a result needs a name");
    return check_content(c, m, role, true);
  }
  if (!np_json_is(role, "system") && !np_json_is(role, "developer") &&
      !np_json_is(role, "user"))
    return np_bad(c, "a role that is not known");
  return check_content(c, m, role, false);
}

/* OD: a list of at least one; functions stand in a member of that name. The schemas are the
** host's: a strict rule. */
static neap_rc check_tools(np_checker *c) {
  np_json tools, tool, f, name;
  neap_rc rc = NEAP_OK;
  if (!np_json_get(c->root, "tools", &tools)) return NEAP_OK;
  np_checker_at(c, "tools", 0);
  np_json_iter it = np_json_each(tools);
  for (; !rc && np_json_next(&it, NULL, &tool); c->item++) {
    if (!c->strict) continue;
    if (!np_json_get(tool, "function", &f) && !np_json_get(tool, "custom", &f))
      return np_bad(c, "a tool needs its function");
    np_json_get(f, "name", &name);
    rc = np_checker_tool(c, name);
  }
  if (rc || c->item) return rc;
  return np_bad(c, "an empty list of tools"); /* OB: "[] is too short - 'tools'" */
}

neap_rc np_check_chat(np_checker *c) {
  np_json list, m;
  neap_rc rc = check_tools(c);
  if (rc) return rc;
  np_checker_at(c, "messages", 0);
  np_json_get(c->root, "messages", &list);
  np_json_iter it = np_json_each(list);
  if (list.type != NP_JSON_ARRAY) return np_bad(c, "messages is no list");
  for (; !rc && np_json_next(&it, NULL, &m); np_checker_at(c, "messages", c->item + 1))
    rc = check_message(c, m);
  if (rc) return rc;
  if (!c->item) return np_bad(c, "an empty list of messages");
  return c->open ? np_bad(c, "%zu calls before it have no result", c->open) : NEAP_OK;
}
