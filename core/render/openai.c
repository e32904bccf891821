/*
** Rendering Chat Completions messages. A message of which everything is shown goes out as
** the bytes that came in; otherwise only the changed values are written anew, between the
** original bytes of the others. Members that only neap's native form has are left out.
** next: openai_convert.c
*/
#include "render/openai.h"

#include "log/shape.h"
#include "render/inner.h"
#include "render/repair.h"

static const np_entry *entry_at(const np_view *v, const np_message *m, np_place place,
                                uint32_t index) {
  for (uint32_t i = 0; i < m->entries; i++) {
    const np_entry *en = np_log_entry(v->log, m->first + i);
    if (en->place == place && en->index == index) return en;
  }
  return NULL;
}

static bool is_shown(const np_shown *s) {
  return s && s->listed && s->rung != NP_DROPPED;
}

bool np_openai_renames(const np_entry *call) {
  if (call->kind != NP_KIND_CALL || call->place == NP_PLACE_FUNCTION) return false;
  return !call->call_id.n || call->twin || np_part_is_made(call->call_id);
}

/* The call that an entry is or answers, if that goes out under a made id; else NULL. */
static const np_entry *renamed(const np_view *v, const np_entry *en) {
  if (en->kind == NP_KIND_RESULT && en->pair) en = np_log_entry(v->log, en->pair);
  return np_openai_renames(en) ? en : NULL;
}

static bool is_whole(const np_view *v, const np_message *m) {
  if (m->lone || m->holes || m->native) return false;
  for (uint32_t i = 0; i < m->entries; i++) {
    const np_shown *s = np_view_at(v, m->first + i);
    if (!s->listed || !np_shown_is_own(s)) return false;
    const np_entry *en = np_log_entry(v->log, m->first + i);
    if (renamed(v, en)) return false;
  }
  return true;
}

/* The member of a part that holds its text. */
static const char *text_member(np_json part) {
  np_json type;
  return np_json_get(part, "type", &type) && np_json_is_key(type.raw, "refusal")
             ? "refusal"
             : "text";
}

/* One item of a list of content parts, its text replaced where it has one. */
static void add_part(const np_view *v, const np_message *m, const np_entry *en,
                     np_buf *out) {
  const np_shown *s = np_view_at(v, en->id);
  if (np_shown_is_own(s)) {
    np_part_raw(m, en->raw.raw, out);
    return;
  }
  if (en->kind == NP_KIND_IMAGE || en->kind == NP_KIND_FILE) {
    np_buf_adds(out, "{\"type\":\"text\",\"text\":");
    np_part_quote(v, s->text, out);
    np_buf_addc(out, '}');
    return;
  }
  np_part_replace(v, m, en->raw, text_member(en->raw), s->text, out);
}

/* The entry of part `index`, looked for from *at on: parts ascend with their entries, so that
** a walk over all of them is one walk. */
static const np_entry *part_at(const np_view *v, const np_message *m, uint32_t index,
                               uint32_t *at) {
  for (; *at < m->entries; ++*at) {
    const np_entry *en = np_log_entry(v->log, m->first + *at);
    if (en->place == NP_PLACE_PART && en->index == index) return en;
  }
  return NULL;
}

static void add_content_list(const np_view *v, const np_message *m, np_json list,
                             np_buf *out) {
  np_json item;
  np_json_iter it = np_json_each(list);
  size_t shown = 0, from = out->n;
  uint32_t at = 0;
  for (uint32_t i = 0; np_json_next(&it, NULL, &item); i++) {
    const np_entry *en = part_at(v, m, i, &at);
    const np_shown *s = en ? np_view_at(v, en->id) : NULL;
    if (!s || !s->listed || s->rung == NP_DROPPED) continue;
    np_buf_addc(out, shown++ ? ',' : '[');
    add_part(v, m, en, out);
  }
  if (shown) {
    np_buf_addc(out, ']');
  } else {
    out->n = from;
    np_buf_adds(out, "null");
  }
}

/* One piece of a result's list: its own bytes where they are a text of this form, else a text
** that says it. */
static void add_piece(const np_view *v, const np_message *m, const np_inner *in,
                      np_buf *out) {
  np_json type;
  np_buf text;
  if (np_json_get(in->part, "type", &type) && np_json_is_key(type.raw, "text")) {
    np_part_raw(m, in->part.raw, out);
    return;
  }
  np_buf_init(&text, np_temp(v));
  np_inner_text(in, &text);
  np_buf_adds(out, "{\"type\":\"text\",\"text\":");
  np_json_quote(out, np_buf_str(&text));
  np_buf_addc(out, '}');
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

/* A result's list without its empty texts, and with a word where an image stood; an empty
** string when nothing is left. */
static void add_filled(const np_view *v, const np_message *m, const np_entry *result,
                       np_buf *out) {
  np_inner in;
  size_t shown = 0;
  np_inners all = np_inner_each(v, result);
  while (np_inner_next(&all, &in)) {
    if (in.words.type == NP_JSON_STRING && in.words.raw.n == 2) continue;
    np_buf_addc(out, shown++ ? ',' : '[');
    add_piece(v, m, &in, out);
  }
  np_buf_adds(out, shown ? "]" : "\"\"");
}

/* Blank text beside calls, or text that was dropped: the member is left out, as there is
** nothing to say. A null that came in stays. */
static bool is_blank(const np_view *v, const np_message *m, np_json content) {
  if (m->role != NP_ROLE_ASSISTANT || content.type == NP_JSON_NULL) return false;
  for (uint32_t i = 0; i < m->entries; i++) {
    const np_entry *en = np_log_entry(v->log, m->first + i);
    bool here = en->place == NP_PLACE_CONTENT || en->place == NP_PLACE_PART;
    if (here && is_shown(np_view_at(v, en->id))) return false;
  }
  return true;
}

static void add_content(const np_view *v, const np_message *m, np_json content,
                        np_buf *out) {
  const np_entry *en = entry_at(v, m, NP_PLACE_CONTENT, 0);
  const np_shown *s = en ? np_view_at(v, en->id) : NULL;
  if (!s && content.type == NP_JSON_ARRAY) {
    add_content_list(v, m, content, out);
  } else if (!is_shown(s)) {
    np_buf_adds(out, "null");
  } else if (np_shown_is_own(s)) {
    if (content.type == NP_JSON_NULL) np_buf_adds(out, "\"\"");
    else if (m->holes && content.type == NP_JSON_ARRAY) add_filled(v, m, en, out);
    else np_part_raw(m, content.raw, out);
  } else {
    np_part_quote(v, s->text, out);
  }
}

/* The id of a call, on it and its result: as it came, or one that is made. */
static void add_id(const np_view *v, const np_message *m, const np_entry *en, np_json id,
                   np_buf *out) {
  const np_entry *call = renamed(v, en);
  if (!call) {
    np_part_raw(m, id.raw, out);
    return;
  }
  np_buf_addc(out, '"');
  np_part_made_id(call, out);
  np_buf_addc(out, '"');
}

/* A call with its id (`en` is NULL inside of it) and its arguments (if not NULL) replaced; the
** members around them keep their bytes. */
static void add_function(const np_view *v, const np_message *m, np_json function,
                         const np_entry *en, const np_str *args, np_buf *out) {
  np_str key;
  np_json value;
  np_json_iter it = np_json_each(function);
  char sep = '{';
  while (np_json_next(&it, &key, &value)) {
    np_buf_addc(out, sep);
    np_part_raw(m, key, out);
    np_buf_addc(out, ':');
    if (args && np_json_is_key(key, "arguments")) np_part_quote(v, *args, out);
    else if (np_json_is_key(key, "function")) add_function(v, m, value, NULL, args, out);
    else if (en && np_json_is_key(key, "id")) add_id(v, m, en, value, out);
    else np_part_raw(m, value.raw, out);
    sep = ',';
  }
  np_buf_addc(out, '}');
}

static void add_call(const np_view *v, const np_message *m, const np_entry *en,
                     np_buf *out) {
  const np_shown *s = np_view_at(v, en->id);
  if (s->rung == NP_FULL && !renamed(v, en)) {
    np_part_raw(m, en->raw.raw, out);
    return;
  }
  add_function(v, m, en->raw, en, s->rung == NP_FULL ? NULL : &s->text, out);
}

/* The calls that are shown, or nothing at all. */
static bool add_calls(const np_view *v, const np_message *m, np_str key, char sep,
                      np_buf *out) {
  size_t shown = 0;
  for (uint32_t i = 0; i < m->entries; i++) {
    const np_entry *en = np_log_entry(v->log, m->first + i);
    if (en->kind != NP_KIND_CALL || en->place != NP_PLACE_CALL) continue;
    if (!is_shown(np_view_at(v, en->id))) continue;
    if (!shown) {
      np_buf_addc(out, sep);
      np_part_raw(m, key, out);
      np_buf_addc(out, ':');
    }
    np_buf_addc(out, shown++ ? ',' : '[');
    add_call(v, m, en, out);
  }
  if (shown) np_buf_addc(out, ']');
  return shown > 0;
}

static bool add_function_call(const np_view *v, const np_message *m, np_str key, char sep,
                              np_buf *out) {
  const np_entry *en = entry_at(v, m, NP_PLACE_FUNCTION, 0);
  if (!en || !is_shown(np_view_at(v, en->id))) return false;
  np_buf_addc(out, sep);
  np_part_raw(m, key, out);
  np_buf_addc(out, ':');
  add_call(v, m, en, out);
  return true;
}

/* Null when the refusal is dropped: a member that may stand alone. */
static void add_refusal(const np_view *v, const np_message *m, np_json refusal,
                        np_buf *out) {
  const np_entry *en = entry_at(v, m, NP_PLACE_REFUSAL, 0);
  const np_shown *s = en ? np_view_at(v, en->id) : NULL;
  if (!is_shown(s)) np_buf_adds(out, "null");
  else if (s->rung == NP_FULL) np_part_raw(m, refusal.raw, out);
  else np_part_quote(v, s->text, out);
}

static void add_member(const np_view *v, const np_message *m, np_str key, np_json value,
                       char *sep, np_buf *out) {
  if (np_shape_is_native(key) ||
      (np_json_is_key(key, "content") && is_blank(v, m, value)))
    return;
  if (np_json_is_key(key, "tool_calls")) {
    if (add_calls(v, m, key, *sep, out)) *sep = ',';
    return;
  }
  if (np_json_is_key(key, "function_call")) {
    if (add_function_call(v, m, key, *sep, out)) *sep = ',';
    return;
  }
  np_buf_addc(out, *sep);
  np_part_raw(m, key, out);
  np_buf_addc(out, ':');
  if (np_json_is_key(key, "content")) add_content(v, m, value, out);
  else if (np_json_is_key(key, "refusal")) add_refusal(v, m, value, out);
  else if (np_json_is_key(key, "tool_call_id") && m->entries)
    add_id(v, m, np_log_entry(v->log, m->first), value, out);
  else np_part_raw(m, value.raw, out);
  *sep = ',';
}

static void add_rebuilt(const np_view *v, const np_message *m, np_buf *out) {
  np_str key;
  np_json value;
  char sep = '{';
  bool content = false;
  np_json_iter it = np_json_each(m->json);
  while (np_json_next(&it, &key, &value)) {
    content = content || np_json_is_key(key, "content");
    add_member(v, m, key, value, &sep, out);
  }
  if (!content && m->entries && np_log_entry(v->log, m->first)->kind == NP_KIND_RESULT)
    np_buf_adds(out, ",\"content\":\"\"");
  np_buf_addc(out, '}');
}

/* A result whose call is not in the history cannot go as one: it goes as user text that says
** what it is. */
static void add_orphan(const np_view *v, const np_entry *en, np_buf *out) {
  np_buf_adds(out, "{\"role\":\"user\",\"content\":");
  np_part_shown(v, en, out);
  np_buf_addc(out, '}');
}

static void add_stub(const np_view *v, const np_message *m, const np_entry *call,
                     np_buf *out) {
  np_json id = {0};
  np_buf text;
  np_buf_init(&text, np_temp(v));
  np_part_stub(v, call, &text);
  if (call->by_name) {
    np_json_get(call->raw, "name", &id);
    np_buf_adds(out, ",{\"role\":\"function\",\"name\":");
  } else {
    np_json_get(call->raw, "id", &id);
    np_buf_adds(out, ",{\"role\":\"tool\",\"tool_call_id\":");
  }
  add_id(v, m, call, id, out);
  np_buf_adds(out, ",\"content\":");
  np_json_quote(out, np_buf_str(&text));
  np_buf_addc(out, '}');
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

static void add_message(const np_view *v, const np_message *m, np_buf *out) {
  const np_entry *en = np_log_entry(v->log, m->first);
  if (en->kind == NP_KIND_RESULT && !en->pair) add_orphan(v, en, out);
  else if (is_whole(v, m)) np_buf_add(out, m->raw);
  else add_rebuilt(v, m, out);
  for (uint32_t i = 0; i < m->entries; i++) {
    en = np_log_entry(v->log, m->first + i);
    if (en->kind != NP_KIND_CALL || en->pair) continue;
    if (is_shown(np_view_at(v, en->id))) add_stub(v, m, en, out);
  }
}

/* A result whose call goes out under an id or name that is not its own. */
static bool answers_other(const np_view *v, const np_message *m) {
  const np_entry *call = np_log_entry(v->log, np_log_entry(v->log, m->first)->pair);
  if (!call || call->kind != NP_KIND_CALL) return false;
  return call->by_name && np_view_message(v, call)->shape != NP_SHAPE_CHAT;
}

/* A chat message is a group of its own. */
static void group(const np_view *v, const np_group *g, np_seam *seam, np_buf *out) {
  const np_message *m = &v->log->messages[g->lead];
  bool first = !seam->state;
  seam->state = 1;
  if (m->shape != NP_SHAPE_CHAT || answers_other(v, m)) {
    np_openai_convert(v, g, first, out);
    return;
  }
  if (!first) np_buf_addc(out, ',');
  add_message(v, m, out);
}

static void notice(const np_view *v, np_str text, np_seam *seam, np_buf *out) {
  (void)v;
  if (seam->state) np_buf_addc(out, ',');
  seam->state = 1;
  np_buf_adds(out, "{\"role\":\"user\",\"content\":");
  np_json_quote(out, text);
  np_buf_addc(out, '}');
}

/* An empty list of tools is refused by the provider and left out. */
static void head(const np_view *v, np_seam *seam, np_buf *out) {
  (void)seam;
  np_part_request(v, out);
  if (np_part_tools(v).type) {
    np_buf_adds(out, "\"tools\":");
    np_json_copy_repaired(v->tools, out);
    np_buf_addc(out, ',');
  }
  np_buf_adds(out, "\"messages\":[");
}

static void tail(const np_view *v, np_seam seam, np_buf *out) {
  (void)v;
  (void)seam;
  np_buf_adds(out, "]}");
}

const np_format np_format_openai = {
    .name = "openai",
    .shape = NP_SHAPE_CHAT,
    .thoughts = NP_THOUGHTS_NONE,
    .parts = true,
    .blanks = true,
    .names = true,
    .entry_tokens = np_openai_entry_tokens,
    .message_tokens = np_openai_message_tokens,
    .result_tokens = np_openai_result_tokens,
    .notice_tokens = np_openai_notice_tokens,
    .repairs = np_openai_repairs,
    .head_tokens = np_openai_head_tokens,
    .tail_tokens = np_openai_tail_tokens,
    .head = head,
    .group = group,
    .notice = notice,
    .tail = tail,
};
