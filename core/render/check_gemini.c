/*
** Gemini's generateContent. Sources of the rules, by letter: GD the vendor's documents
** (function calling, thought signatures, vision), OB observed refusals (vscode#299295,
** code_puppy#165, rowboat#694, OpenClaw's transcript rules). next: ../pack/pack.h
*/
#include "render/check_own.h"

/* A call of the last model turn. */
typedef struct called {
  np_json name, id;
  bool answered;
} called;

typedef struct turns {
  np_checker *c;
  called *calls; /* of the last model turn */
  size_t count, cap;
  size_t answers; /* of the turn at hand */
  bool model;     /* the turn at hand */
  /* the current turn begins behind the last user content that is no result; its first calls
  ** either all have signatures or none has */
  bool signed_steps, plain_steps;
  size_t plain_at; /* item of the first step without */
} turns;

/* ---- parts ---- */

/* GD, vision: PNG, JPEG, WebP, HEIC, HEIF. Other media are not images. */
static neap_rc check_blob(np_checker *c, np_json blob) {
  np_json type, data;
  if (!np_checker_string(blob, "mimeType", &type) &&
      !np_checker_string(blob, "mime_type", &type))
    return np_bad(c, "inline data needs its mimeType");
  if (!np_checker_string(blob, "data", &data)) return np_bad(c, "inline data is empty");
  np_str t = np_checker_text(c, type);
  bool image = t.n > 6 && memcmp(t.p, "image/", 6) == 0;
  bool good = np_str_is(t, "image/png") || np_str_is(t, "image/jpeg") ||
              np_str_is(t, "image/webp") || np_str_is(t, "image/heic") ||
              np_str_is(t, "image/heif");
  return !image || good ? NEAP_OK
                        : np_bad(c, "no image type that the provider takes: %.*s",
                                 t.n > 40 ? 40 : (int)t.n, t.p);
}

static neap_rc add_call(turns *t, np_json call, np_json signature) {
  np_checker *c = t->c;
  np_json name, id, args;
  void *calls = t->calls;
  if (!t->model) return np_bad(c, "a call in a user turn");
  if (!np_checker_string(call, "name", &name)) return np_bad(c, "a call needs a name");
  if (np_json_get(call, "args", &args) && args.type != NP_JSON_OBJECT)
    return np_bad(c, "a call's args are no object");
  np_checker_string(call, "id", &id);
  /* GD: of parallel calls the first alone has the signature: on a later one it counts for a
  ** step that lacks its own. The word for "not signed" is taken, and signs nothing. */
  bool real = signature.type &&
              !np_json_is(signature, "skip_thought_signature_validator") &&
              !np_json_is(signature, "context_engineering_is_the_way_to_go");
  if (real) t->signed_steps = true;
  if (!t->count && !signature.type && !t->plain_steps) {
    t->plain_steps = true;
    t->plain_at = c->item;
  }
  if (!np_grow(c->alloc, &calls, &t->cap, t->count + 1, sizeof(called)))
    return np_fail_mem(c->err);
  t->calls = calls;
  t->calls[t->count++] = (called){.name = name, .id = id};
  return np_checker_known(c, name);
}

/* The call that an answer names: by id where both have one, else by its place. Ids of one
** turn are in the table with their places. */
static called *find_call(turns *t, np_json id) {
  np_name *n = id.type ? np_names_find(&t->c->ids, np_checker_text(t->c, id)) : NULL;
  if (n) return &t->calls[n->state];
  if (t->answers >= t->count) return NULL;
  called *at = &t->calls[t->answers];
  return id.type && at->id.type ? NULL : at;
}

/* GD, multimodal responses: media beside a response are inline, of five types; an address has no
** place there. They are mostly the host's: a strict rule. */
static neap_rc check_media(np_checker *c, np_json answer) {
  static const char *const types[] = {"image/png", "image/jpeg", "image/webp",
                                      "application/pdf", "text/plain"};
  np_json parts, part, blob, type;
  if (!c->strict || !np_json_get(answer, "parts", &parts)) return NEAP_OK;
  if (parts.type != NP_JSON_ARRAY) return np_bad(c, "a response's parts are no list");
  np_json_iter it = np_json_each(parts);
  while (np_json_next(&it, NULL, &part)) {
    if (!np_json_get(part, "inlineData", &blob))
      return np_bad(c, "a part of a response that is no inline data");
    neap_rc rc = check_blob(c, blob);
    if (rc) return rc;
    bool known = false;
    if (!np_checker_string(blob, "mimeType", &type))
      np_json_get(blob, "mime_type", &type);
    for (size_t i = 0; i < NP_COUNT(types); i++)
      known = known || np_json_is(type, types[i]);
    if (!known) return np_bad(c, "no media type that a response may hold");
  }
  return NEAP_OK;
}

/* GD: right behind the turn of its call. */
static neap_rc check_answer(turns *t, np_json answer) {
  np_checker *c = t->c;
  np_json name, id, response;
  np_buf was;
  if (t->model) return np_bad(c, "a function's response in a model turn");
  if (!np_checker_string(answer, "name", &name))
    return np_bad(c, "a function's response needs a name");
  np_json_get(answer, "response", &response);
  if (response.type != NP_JSON_OBJECT)
    return np_bad(c, "a function's response is no object");
  np_checker_string(answer, "id", &id);
  called *call = find_call(t, id);
  if (!call || call->answered)
    return np_bad(c, "a function's response without its call in the turn before");
  np_buf_init(&was, c->alloc);
  np_json_text(call->name, &was);
  bool same = np_str_eq(np_buf_str(&was), np_checker_text(c, name));
  if (was.failed) c->text.failed = true;
  np_buf_free(&was);
  if (!same) return np_bad(c, "a function's response has another name than its call");
  call->answered = true;
  t->answers++;
  return check_media(c, answer);
}

/* GD: no part is empty, but that a signature may come on an empty text. */
static neap_rc check_part(turns *t, np_json part) {
  np_checker *c = t->c;
  np_json v, signature;
  bool has = np_json_get(part, "thoughtSignature", &signature) ||
             np_json_get(part, "thought_signature", &signature);
  if (has && (signature.type != NP_JSON_STRING || signature.raw.n <= 2))
    return np_bad(c, "an empty thought signature");
  if (np_json_get(part, "functionCall", &v)) return add_call(t, v, signature);
  if (np_json_get(part, "functionResponse", &v)) return check_answer(t, v);
  if (np_json_get(part, "inlineData", &v)) return check_blob(c, v);
  if (np_json_get(part, "text", &v)) {
    bool full = v.type == NP_JSON_STRING && (v.raw.n > 2 || has);
    return full ? NEAP_OK : np_bad(c, "an empty text");
  }
  return np_json_get(part, "fileData", &v) || np_json_get(part, "executableCode", &v) ||
                 np_json_get(part, "codeExecutionResult", &v)
             ? NEAP_OK
             : np_bad(c, "an empty part");
}

/* ---- turns ---- */

/* Places of the calls' ids, for the answers of the next turn. */
static neap_rc note_ids(turns *t) {
  np_checker *c = t->c;
  np_names_clear(&c->ids);
  for (size_t i = 0; i < t->count; i++) {
    if (!t->calls[i].id.type) continue;
    size_t before = c->ids.used;
    np_name *n = np_names_add(c, &c->ids, np_checker_text(c, t->calls[i].id));
    if (!n) return np_fail_mem(c->err);
    if (c->ids.used == before) return np_bad(c, "two calls of one turn have the same id");
    n->state = i;
  }
  return NEAP_OK;
}

/* A user turn that is not made of answers alone begins the turn that the provider checks. */
static neap_rc end_user(turns *t, size_t parts) {
  if (t->answers != t->count)
    return np_bad(t->c, "%zu responses for %zu calls of the turn before", t->answers,
                  t->count);
  if (parts > t->answers) t->signed_steps = t->plain_steps = false;
  t->count = 0;
  return NEAP_OK;
}

static neap_rc check_turn(turns *t, np_json content) {
  np_checker *c = t->c;
  np_json role, parts, part;
  neap_rc rc = NEAP_OK;
  np_json_get(content, "role", &role);
  bool model = np_json_is(role, "model");
  if (!model && !np_json_is(role, "user"))
    return np_bad(c, "a role other than user and model");
  if (model != (c->item % 2 == 1))
    return np_bad(c, c->item ? "roles do not alternate"
                             : "the first turn is not the user's");
  t->model = model;
  t->answers = 0;
  np_json_get(content, "parts", &parts);
  np_json_iter it = np_json_each(parts);
  c->sub = "parts";
  for (c->part = 0; !rc && np_json_next(&it, NULL, &part); c->part++)
    rc = check_part(t, part);
  if (rc) return rc;
  size_t n = c->part;
  c->sub = NULL;
  if (!n) return np_bad(c, "an empty list of parts");
  return model ? note_ids(t) : end_user(t, n);
}

/* GD: in the current turn the first call of every step has its signature, or the request is
** refused. A history of another provider's has none at all, and passes where the model does
** not ask for them. */
static neap_rc check_signatures(turns *t) {
  if (!t->signed_steps || !t->plain_steps) return NEAP_OK;
  np_checker_at(t->c, "contents", t->plain_at);
  return np_bad(t->c, "a step of the current turn lacks its thought signature");
}

static neap_rc check_contents(np_checker *c, turns *t) {
  np_json list, content;
  neap_rc rc = NEAP_OK;
  np_checker_at(c, "contents", 0);
  np_json_get(c->root, "contents", &list);
  if (list.type != NP_JSON_ARRAY) return np_bad(c, "contents is no list");
  np_json_iter it = np_json_each(list);
  for (; !rc && np_json_next(&it, NULL, &content);
       np_checker_at(c, "contents", c->item + 1))
    rc = check_turn(t, content);
  if (rc) return rc;
  if (!c->item) return np_bad(c, "an empty list of turns");
  if (t->model) return np_bad(c, "the last turn is not the user's"); /* OB */
  return check_signatures(t);
}

/* ---- tools, system ---- */

/* The schemas are the host's: a strict rule. */
static neap_rc check_tools(np_checker *c) {
  np_json tools, tool, list, f, name;
  neap_rc rc = NEAP_OK;
  if (!np_json_get(c->root, "tools", &tools) || !c->strict) return NEAP_OK;
  np_json_iter it = np_json_each(tools), inner;
  np_checker_at(c, "tools", 0);
  for (; !rc && np_json_next(&it, NULL, &tool); c->item++) {
    if (!np_json_get(tool, "functionDeclarations", &list)) continue;
    inner = np_json_each(list);
    while (!rc && np_json_next(&inner, NULL, &f)) {
      np_json_get(f, "name", &name);
      rc = np_checker_tool(c, name);
    }
  }
  return rc;
}

/* GD: text alone. */
static neap_rc check_system(np_checker *c) {
  np_json system, parts, part, text;
  size_t n = 0;
  if (!np_json_get(c->root, "systemInstruction", &system) &&
      !np_json_get(c->root, "system_instruction", &system))
    return NEAP_OK;
  np_checker_at(c, "systemInstruction", SIZE_MAX);
  np_json_get(system, "parts", &parts);
  np_json_iter it = np_json_each(parts);
  for (; np_json_next(&it, NULL, &part); n++) {
    if (!np_checker_string(part, "text", &text)) return np_bad(c, "an empty text");
  }
  return n ? NEAP_OK : np_bad(c, "an empty list of parts");
}

neap_rc np_check_gemini(np_checker *c) {
  turns t = {.c = c};
  neap_rc rc = check_tools(c);
  if (!rc) rc = check_system(c);
  if (!rc) rc = check_contents(c, &t);
  np_free(c->alloc, t.calls);
  return rc;
}
