/*
** Whose form is it? Members and types that only one provider has say so; two that contradict
** each other are refused by name. A text alone says nothing and takes the session's form. There
** is no guess by what is likely. next: parse.h
*/
#include "log/shape.h"

const char *np_shape_name(np_shape s) {
  static const char *const names[NP_SHAPE_COUNT] = {"chat", "anthropic", "responses",
                                                    "gemini"};
  return names[s];
}

bool np_shape_is_native(np_str key) {
  static const char *const members[] = {
      "reasoning", "reasoning_content", "is_error", "isError", "meta", "ts"};
  for (size_t i = 0; i < NP_COUNT(members); i++) {
    if (np_json_is_key(key, members[i])) return true;
  }
  return false;
}

bool np_shape_ends(np_json type, const char *suffix) {
  size_t n = strlen(suffix);
  return type.type == NP_JSON_STRING && type.raw.n >= n + 2 &&
         memcmp(type.raw.p + type.raw.n - 1 - n, suffix, n) == 0;
}

typedef struct sign {
  const char *name;
  np_shape shape;
} sign;

/* Members of a message. */
static const sign signs[] = {
    {"tool_calls", NP_SHAPE_CHAT},
    {"tool_call_id", NP_SHAPE_CHAT},
    {"function_call", NP_SHAPE_CHAT},
    {"reasoning", NP_SHAPE_CHAT},
    {"reasoning_content", NP_SHAPE_CHAT},
    {"refusal", NP_SHAPE_CHAT},
    {"name", NP_SHAPE_CHAT},
    {"stop_reason", NP_SHAPE_ANTHROPIC},
    {"parts", NP_SHAPE_GEMINI},
};

static const sign roles[] = {
    {"tool", NP_SHAPE_CHAT},
    {"function", NP_SHAPE_CHAT},
    {"model", NP_SHAPE_GEMINI},
};

/* Types of items of content. Those that two providers share are not here. */
static const sign parts[] = {
    {"image_url", NP_SHAPE_CHAT},
    {"tool_use", NP_SHAPE_ANTHROPIC},
    {"tool_result", NP_SHAPE_ANTHROPIC},
    {"thinking", NP_SHAPE_ANTHROPIC},
    {"redacted_thinking", NP_SHAPE_ANTHROPIC},
    {"document", NP_SHAPE_ANTHROPIC},
    {"server_tool_use", NP_SHAPE_ANTHROPIC},
    {"mcp_tool_use", NP_SHAPE_ANTHROPIC},
    {"compaction", NP_SHAPE_ANTHROPIC},
    {"search_result", NP_SHAPE_ANTHROPIC},
    {"container_upload", NP_SHAPE_ANTHROPIC},
    {"input_text", NP_SHAPE_RESPONSES},
    {"output_text", NP_SHAPE_RESPONSES},
    {"input_image", NP_SHAPE_RESPONSES},
    {"input_file", NP_SHAPE_RESPONSES},
};

typedef struct finding {
  np_shape shape;
  np_str sign; /* the raw word that said so; empty: none yet */
  np_err *err;
} finding;

static neap_rc note(finding *f, np_shape shape, np_str word) {
  if (!f->sign.n || f->shape == shape) {
    f->shape = shape;
    f->sign = word;
    return NEAP_OK;
  }
  return np_fail(f->err, NEAP_E_SHAPE,
                 "the message is of two forms: %.*s is %s, %.*s is %s; give it in one",
                 f->sign.n > 40 ? 40 : (int)f->sign.n, f->sign.p, np_shape_name(f->shape),
                 word.n > 40 ? 40 : (int)word.n, word.p, np_shape_name(shape));
}

static neap_rc look_up(finding *f, const sign *list, size_t n, np_str word) {
  for (size_t i = 0; i < n; i++) {
    if (np_json_is_key(word, list[i].name)) return note(f, list[i].shape, word);
  }
  return NEAP_OK;
}

/* An image names its provider by where it keeps its bytes. */
static neap_rc look_at_part(finding *f, np_json part) {
  np_json type, source;
  if (!np_json_get(part, "type", &type) || type.type != NP_JSON_STRING) return NEAP_OK;
  if (np_json_is_key(type.raw, "image") && np_json_get(part, "source", &source))
    return note(f, NP_SHAPE_ANTHROPIC, type.raw);
  if (np_shape_ends(type, "_tool_result")) return note(f, NP_SHAPE_ANTHROPIC, type.raw);
  return look_up(f, parts, NP_COUNT(parts), type.raw);
}

static neap_rc look_at_content(finding *f, np_json content) {
  np_json item;
  neap_rc rc = NEAP_OK;
  if (content.type != NP_JSON_ARRAY) return NEAP_OK;
  np_json_iter it = np_json_each(content);
  while (!rc && np_json_next(&it, NULL, &item)) rc = look_at_part(f, item);
  return rc;
}

/* A type at the top is an item's. `message` is a word of two providers, and what is in a
** message that has a role may be a host's own. */
static neap_rc look_at_type(finding *f, const np_members *message, np_json type) {
  np_json role;
  if (type.type != NP_JSON_STRING) return NEAP_OK;
  if (!np_members_get(message, "role", &role))
    return note(f, NP_SHAPE_RESPONSES, type.raw);
  if (np_json_is_key(type.raw, "message") && !f->sign.n)
    return note(f, NP_SHAPE_RESPONSES, type.raw);
  return NEAP_OK;
}

static neap_rc look_at_members(finding *f, const np_members *message) {
  np_json value, type, role, content;
  np_str key;
  neap_rc rc = NEAP_OK;
  np_members_get(message, "type", &type);
  np_members_get(message, "role", &role);
  np_members_get(message, "content", &content);
  /* an item without a role has members of its own */
  if (type.type == NP_JSON_STRING && !role.type) return look_at_type(f, message, type);
  np_json_iter it = np_json_each(message->object);
  while (!rc && np_json_next(&it, &key, &value))
    rc = look_up(f, signs, NP_COUNT(signs), key);
  if (!rc && role.type == NP_JSON_STRING)
    rc = look_up(f, roles, NP_COUNT(roles), role.raw);
  if (!rc &&
      !(f->sign.n && f->shape == NP_SHAPE_CHAT && np_json_is_key(role.raw, "tool")))
    rc = look_at_content(f, content);
  return rc ? rc : look_at_type(f, message, type);
}

/* What has no sign of its own is of the session's form where that has such a message: Gemini
** has no `content`, Anthropic no developer, and a text in a list is `input_text` in Responses. */
static np_shape fall_back(const np_members *message, np_shape native) {
  np_json role, content;
  np_members_get(message, "role", &role);
  np_members_get(message, "content", &content);
  bool other = native == NP_SHAPE_GEMINI ||
               (native == NP_SHAPE_ANTHROPIC && np_json_is_key(role.raw, "developer")) ||
               (native == NP_SHAPE_RESPONSES && content.type != NP_JSON_STRING);
  return other ? NP_SHAPE_CHAT : native;
}

neap_rc np_shape_of(const np_members *message, np_shape native, np_shape *out,
                    np_err *e) {
  finding f = {.sign = NP_LIT(""), .err = e};
  neap_rc rc = look_at_members(&f, message);
  if (!rc) *out = f.sign.n ? f.shape : fall_back(message, native);
  return rc;
}
