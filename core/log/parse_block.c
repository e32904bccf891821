/*
** Blocks: state, memory, evidence and notices, which the host gives as {"kind":…,"content":…}.
** They are no provider's messages. Each becomes a user message of its own, in the session's
** form, so that every renderer has a place for it. next: fold.c
*/
#include "log/parser.h"

static const struct {
  const char *name;
  np_kind kind;
} kinds[] = {{"state", NP_KIND_STATE},
             {"memory", NP_KIND_MEMORY},
             {"evidence", NP_KIND_EVIDENCE},
             {"notice", NP_KIND_NOTICE}};

bool np_log_is_block(np_kind kind) {
  for (size_t i = 0; i < NP_COUNT(kinds); i++) {
    if (kinds[i].kind == kind) return true;
  }
  return false;
}

bool np_parser_is_block(const np_parser *p) {
  np_json v;
  return np_parser_get(p, "kind", &v) && !np_parser_get(p, "role", &v) &&
         !np_parser_get(p, "type", &v);
}

/* Of a native trace's own members a block may have what any message has. */
static neap_rc check_members(np_parser *p) {
  static const char *const known[] = {"kind", "content", "meta", "ts"};
  np_str key;
  np_json value;
  np_json_iter it = np_json_each(p->out->message.json);
  while (np_json_next(&it, &key, &value)) {
    size_t i = 0;
    while (i < NP_COUNT(known) && !np_json_is_key(key, known[i])) i++;
    if (i == NP_COUNT(known))
      return np_fail(p->err, NEAP_E_SHAPE, "a block has kind and content, and no %.*s",
                     key.n > 40 ? 40 : (int)key.n, key.p);
  }
  return NEAP_OK;
}

static neap_rc read_kind(np_parser *p, np_kind *kind) {
  np_json v;
  np_parser_get(p, "kind", &v);
  for (size_t i = 0; v.type == NP_JSON_STRING && i < NP_COUNT(kinds); i++) {
    if (!np_json_is_key(v.raw, kinds[i].name)) continue;
    *kind = kinds[i].kind;
    return NEAP_OK;
  }
  return np_fail(p->err, NEAP_E_SHAPE,
                 "unknown kind %.*s; use state, memory, evidence or notice",
                 v.raw.n > 40 ? 40 : (int)v.raw.n, v.raw.p);
}

/* The message as a provider takes it, kept: its content has the bytes that came. */
static neap_rc make_raw(np_parser *p, np_str *raw) {
  np_json content;
  np_parser_get(p, "content", &content);
  if (content.type != NP_JSON_STRING || content.raw.n == 2)
    return np_parser_fail(p, "a block needs its content: a string that is not empty");
  np_buf_clear(p->scratch);
  np_buf_adds(p->scratch, "{\"role\":\"user\",\"content\":");
  np_buf_add(p->scratch, content.raw);
  np_buf_addc(p->scratch, '}');
  bool ok = !p->scratch->failed && np_arena_copy(p->ar, np_buf_str(p->scratch), raw);
  return ok ? NEAP_OK : np_fail_mem(p->err);
}

neap_rc np_parse_block(np_parser *p, np_shape native) {
  np_kind kind = NP_KIND_STATE;
  np_str raw = NP_LIT("");
  neap_rc rc = check_members(p);
  if (!rc) rc = read_kind(p, &kind);
  if (!rc) rc = make_raw(p, &raw);
  if (!rc) rc = np_parse_message(p->ar, p->work, p->scratch, raw, native, p->out, p->err);
  if (!rc) p->out->parts[0].kind = kind;
  return rc;
}
