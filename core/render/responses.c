/*
** Rendering Responses items. An item of this form goes out as the bytes that came in, unless
** what it shows has changed or its call_id had to; messages of other forms are written anew:
** results first, then one message, then the calls. Reasoning and what the provider keeps for
** itself pass byte for byte, or not at all. next: responses_head.c
*/
#include "render/responses.h"

#include "log/shape.h"
#include "render/openai.h"
#include "render/repair.h"

static void begin_item(np_seam *seam, np_buf *out) {
  if (seam->state) np_buf_addc(out, ',');
  seam->state = 1;
}

static bool is_type(np_json item, const char *name) {
  np_json type;
  return np_json_get(item, "type", &type) && type.type == NP_JSON_STRING &&
         np_json_is_key(type.raw, name);
}

static bool is_full(const np_view *v, const np_entry *en) {
  return np_shown_is_own(np_view_at(v, en->id));
}

/* ---- calls and results ---- */

/* A call's own id goes out as it came, unless an earlier call had it, or it could be taken for
** one that is made here. */
bool np_responses_keeps_id(const np_view *v, const np_entry *call) {
  np_str made = NP_LIT("neap_");
  if (np_part_keeps_id(call)) return true;
  bool looks_made =
      call->call_id.n >= made.n && memcmp(call->call_id.p, made.p, made.n) == 0;
  return np_responses_owns(v, call) && !call->again && call->call_id.n && !looks_made;
}

static void add_id(const np_view *v, const np_entry *call, np_buf *out) {
  np_buf id;
  if (np_responses_keeps_id(v, call)) {
    np_json_quote(out, call->call_id);
    return;
  }
  np_buf_init(&id, np_temp(v));
  np_part_call_id(call, &id);
  np_json_quote(out, np_buf_str(&id));
  if (id.failed) out->failed = true;
  np_buf_free(&id);
}

static np_str shown_text(const np_view *v, const np_entry *en) {
  const np_shown *s = np_view_at(v, en->id);
  return np_shown_is_own(s) ? en->text : s->text;
}

static void add_arguments(const np_view *v, const np_entry *en, np_buf *out) {
  np_buf args;
  np_buf_init(&args, np_temp(v));
  np_responses_arguments(v, en, shown_text(v, en), &args);
  np_json_quote(out, np_buf_str(&args));
  if (args.failed) out->failed = true;
  np_buf_free(&args);
}

static void add_output(const np_view *v, const np_entry *en, np_buf *out);

static void add_text(const np_view *v, const np_entry *en, np_buf *out) {
  if (en->kind == NP_KIND_RESULT) add_output(v, en, out);
  else np_part_quote(v, shown_text(v, en), out);
}

/* An item with its call_id and, where `text` names it, its text replaced. */
static void add_changed(const np_view *v, const np_entry *en, const np_entry *call,
                        const char *text, np_buf *out) {
  const np_message *m = np_view_message(v, en);
  np_str key;
  np_json value;
  char sep = '{';
  np_json_iter it = np_json_each(en->raw);
  while (np_json_next(&it, &key, &value)) {
    np_buf_addc(out, sep);
    np_part_raw(m, key, out);
    np_buf_addc(out, ':');
    if (np_json_is_key(key, "call_id")) add_id(v, call, out);
    else if (text && np_json_is_key(key, text)) add_text(v, en, out);
    else np_part_raw(m, value.raw, out);
    sep = ',';
  }
  np_buf_addc(out, '}');
}

static void add_call(const np_view *v, const np_entry *en, np_buf *out) {
  if (!np_responses_owns(v, en)) {
    np_buf_adds(out, "{\"type\":\"function_call\",\"call_id\":");
    add_id(v, en, out);
    np_buf_adds(out, ",\"name\":\"");
    np_part_name(en->tool, out);
    np_buf_adds(out, "\",\"arguments\":");
    add_arguments(v, en, out);
    np_buf_addc(out, '}');
  } else if (is_full(v, en) && np_responses_keeps_id(v, en)) {
    np_part_raw(np_view_message(v, en), en->raw.raw, out);
  } else {
    bool custom = is_type(en->raw, "custom_tool_call");
    add_changed(v, en, en, is_full(v, en) ? NULL : custom ? "input" : "arguments", out);
  }
}

/* The type of a call's result is the call's with a word behind it. */
static void add_result_type(const np_view *v, const np_entry *call, np_buf *out) {
  np_json type = {0};
  if (np_responses_owns(v, call)) np_json_get(call->raw, "type", &type);
  if (type.type == NP_JSON_STRING)
    np_buf_add(out, np_str_cut(type.raw, 1, type.raw.n - 1));
  else np_buf_adds(out, "function_call");
  np_buf_adds(out, "_output");
}

static bool is_its_type(const np_view *v, const np_entry *call, const np_entry *result) {
  np_json type;
  np_buf want;
  np_buf_init(&want, np_temp(v));
  np_buf_addc(&want, '"');
  add_result_type(v, call, &want);
  np_buf_addc(&want, '"');
  np_json_get(result->raw, "type", &type);
  bool is = type.type == NP_JSON_STRING && np_str_eq(type.raw, np_buf_str(&want));
  if (want.failed) np_view_lose(v);
  np_buf_free(&want);
  return is;
}

static np_json output_of(const np_view *v, const np_entry *en) {
  np_json output = {0};
  if (np_responses_owns(v, en)) np_json_get(en->raw, "output", &output);
  return output;
}

/* The output of an item is kept where all of it is shown: it may be a list. */
static void add_output(const np_view *v, const np_entry *en, np_buf *out) {
  np_json output = output_of(v, en);
  const np_message *m = np_view_message(v, en);
  const np_entry *call = np_log_entry(v->log, en->pair);
  bool kept = is_full(v, en) && call &&
              (output.type == NP_JSON_STRING || np_responses_has_list(v, en) ||
               (output.type && is_its_type(v, call, en)));
  if (is_full(v, en) && np_responses_is_mixed(v, en)) np_responses_mixed(v, en, out);
  else if (!kept) np_part_shown(v, en, out);
  else if (np_responses_is_sound(output)) np_part_raw(m, output.raw, out);
  else np_responses_sound(m, output, out);
}

static void add_result(const np_view *v, const np_entry *en, np_buf *out) {
  const np_entry *call = np_log_entry(v->log, en->pair);
  bool own = np_responses_owns(v, en);
  if (!call) {
    np_buf_adds(out, "{\"role\":\"user\",\"content\":");
    np_part_shown(v, en, out);
    np_buf_addc(out, '}');
  } else if (own && is_its_type(v, call, en)) {
    bool whole = is_full(v, en) && np_str_eq(call->call_id, en->call_id) &&
                 np_responses_keeps_id(v, call) &&
                 np_responses_is_sound(output_of(v, en));
    if (whole) np_part_raw(np_view_message(v, en), en->raw.raw, out);
    else add_changed(v, en, call, "output", out);
  } else {
    np_buf_adds(out, "{\"type\":\"");
    add_result_type(v, call, out);
    np_buf_adds(out, "\",\"call_id\":");
    add_id(v, call, out);
    np_buf_adds(out, ",\"output\":");
    add_output(v, en, out);
    np_buf_addc(out, '}');
  }
}

static void add_stub(const np_view *v, const np_entry *call, np_buf *out) {
  np_buf text;
  np_buf_init(&text, np_temp(v));
  np_part_stub(v, call, &text);
  np_buf_adds(out, "{\"type\":\"");
  add_result_type(v, call, out);
  np_buf_adds(out, "\",\"call_id\":");
  add_id(v, call, out);
  np_buf_adds(out, ",\"output\":");
  np_json_quote(out, np_buf_str(&text));
  np_buf_addc(out, '}');
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

/* ---- messages ---- */

static bool is_content(const np_entry *en) {
  return en->kind != NP_KIND_CALL && en->kind != NP_KIND_RESULT &&
         en->place != NP_PLACE_ITEM;
}

/* A part of this form that its role may have: the assistant's texts are output. */
bool np_responses_fits(const np_view *v, const np_entry *en) {
  const np_entry *call = np_log_entry(v->log, en->pair);
  if (en->kind == NP_KIND_RESULT && call && !is_its_type(v, call, en)) return false;
  if (en->place != NP_PLACE_PART) return true;
  bool assistant = np_view_message(v, en)->role == NP_ROLE_ASSISTANT;
  bool output = is_type(en->raw, "output_text") || is_type(en->raw, "refusal");
  return !is_type(en->raw, "text") && output == assistant;
}

static const char *text_type(const np_view *v, const np_entry *en) {
  return np_view_message(v, en)->role == NP_ROLE_ASSISTANT ? "output_text" : "input_text";
}

static void add_part(const np_view *v, const np_entry *en, np_buf *out) {
  const np_message *m = np_view_message(v, en);
  bool own = np_responses_owns(v, en) && np_responses_fits(v, en);
  bool text = en->kind != NP_KIND_IMAGE && en->kind != NP_KIND_FILE;
  if (own && is_full(v, en)) {
    np_part_raw(m, en->raw.raw, out);
  } else if (own && text) {
    const char *member = is_type(en->raw, "refusal") ? "refusal" : "text";
    np_part_replace(v, m, en->raw, member, np_view_at(v, en->id)->text, out);
  } else if (is_full(v, en) && np_responses_takes(v, en)) {
    np_responses_picture(en->raw, en->kind, out);
  } else {
    np_buf_adds(out, "{\"type\":\"");
    np_buf_adds(out, text_type(v, en));
    np_buf_adds(out, "\",\"text\":");
    np_part_shown(v, en, out);
    np_buf_addc(out, '}');
  }
}

/* The next entry from `id` on that is shown as content of message `m`; 0: none. */
static int64_t content_at(const np_view *v, const np_group *g, uint32_t m, int64_t id) {
  for (id = np_group_shown(v, g, id); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    if (en->message == m && is_content(en)) return id;
  }
  return 0;
}

static int64_t content_after(const np_view *v, const np_group *g, int64_t id) {
  int64_t next = np_view_at(v, id)->next;
  return next == g->behind ? 0
                           : content_at(v, g, np_log_entry(v->log, id)->message, next);
}

/* One text is a string, unless it came in a list; more are a list. */
static void add_content(const np_view *v, const np_group *g, int64_t id, np_buf *out) {
  const np_entry *en = np_log_entry(v->log, id);
  bool own = np_responses_owns(v, en) && en->place == NP_PLACE_PART;
  bool image = is_full(v, en) && np_responses_takes(v, en);
  if (!own && !image && !content_after(v, g, id)) {
    np_part_shown(v, en, out);
    return;
  }
  for (char sep = '['; id; id = content_after(v, g, id), sep = ',') {
    np_buf_addc(out, sep);
    add_part(v, np_log_entry(v->log, id), out);
  }
  np_buf_addc(out, ']');
}

/* Everything of it is shown, in its own order and in parts that its role may have. */
static bool is_whole(const np_view *v, const np_group *g, const np_message *m,
                     int64_t id) {
  if (m->shape != NP_SHAPE_RESPONSES || m->native) return false;
  for (uint32_t i = 0; i < m->entries; i++, id = content_after(v, g, id)) {
    if (id != m->first + i) return false;
    const np_entry *en = np_log_entry(v->log, id);
    if (!is_full(v, en) || !np_responses_fits(v, en)) return false;
  }
  return true;
}

static void add_rebuilt(const np_view *v, const np_group *g, const np_message *m,
                        int64_t id, np_buf *out) {
  np_str key;
  np_json value;
  char sep = '{';
  np_json_iter it = np_json_each(m->json);
  while (np_json_next(&it, &key, &value)) {
    if (np_shape_is_native(key)) continue;
    np_buf_addc(out, sep);
    np_part_raw(m, key, out);
    np_buf_addc(out, ':');
    if (np_json_is_key(key, "content")) add_content(v, g, id, out);
    else np_part_raw(m, value.raw, out);
    sep = ',';
  }
  np_buf_addc(out, '}');
}

static void add_message(const np_view *v, const np_group *g, int64_t id, np_buf *out) {
  const np_message *m = np_view_message(v, np_log_entry(v->log, id));
  if (is_whole(v, g, m, id)) {
    np_part_raw(m, m->raw, out);
  } else if (m->shape == NP_SHAPE_RESPONSES) {
    add_rebuilt(v, g, m, id, out);
  } else {
    np_buf_adds(out, "{\"role\":\"");
    np_buf_adds(out, np_role_name(m->role));
    np_buf_adds(out, "\",\"content\":");
    add_content(v, g, id, out);
    np_buf_addc(out, '}');
  }
}

/* What the provider keeps for itself: whole, or a message that says what stood here. */
static void add_opaque(const np_view *v, const np_entry *en, np_buf *out) {
  const np_message *m = np_view_message(v, en);
  if (is_full(v, en)) {
    np_part_raw(m, en->raw.raw, out);
    return;
  }
  np_buf_adds(out, "{\"role\":\"");
  np_buf_adds(out, np_role_name(m->role));
  np_buf_adds(out, "\",\"content\":");
  np_part_shown(v, en, out);
  np_buf_addc(out, '}');
}

/* ---- groups ---- */

static void add_single(const np_view *v, const np_entry *en, np_buf *out) {
  if (en->kind == NP_KIND_CALL) add_call(v, en, out);
  else if (en->kind == NP_KIND_RESULT) add_result(v, en, out);
  else add_opaque(v, en, out);
}

/* The items of this form in their order; a message's parts are written with its first. */
static void add_items(const np_view *v, const np_group *g, np_seam *seam, np_buf *out) {
  uint32_t written = UINT32_MAX;
  for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    if (is_content(en) && en->message == written) continue;
    begin_item(seam, out);
    if (!is_content(en)) {
      add_single(v, en, out);
      continue;
    }
    add_message(v, g, id, out);
    written = en->message;
  }
}

static void add_kind(const np_view *v, const np_group *g, np_kind kind, np_seam *seam,
                     np_buf *out) {
  for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    if (en->kind != kind) continue;
    begin_item(seam, out);
    add_single(v, en, out);
  }
}

static void add_foreign(const np_view *v, const np_group *g, np_seam *seam, np_buf *out) {
  int64_t content = content_at(v, g, g->lead, g->first);
  add_kind(v, g, NP_KIND_RESULT, seam, out);
  if (content) {
    begin_item(seam, out);
    add_message(v, g, content, out);
  }
  add_kind(v, g, NP_KIND_CALL, seam, out);
}

static void group(const np_view *v, const np_group *g, np_seam *seam, np_buf *out) {
  bool own = v->log->messages[g->lead].shape == NP_SHAPE_RESPONSES;
  if (own) add_items(v, g, seam, out);
  else add_foreign(v, g, seam, out);
  for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    if (en->kind != NP_KIND_CALL || en->pair) continue;
    begin_item(seam, out);
    add_stub(v, en, out);
  }
}

static void notice(const np_view *v, np_str text, np_seam *seam, np_buf *out) {
  (void)v;
  begin_item(seam, out);
  np_buf_adds(out, "{\"role\":\"user\",\"content\":");
  np_json_quote(out, text);
  np_buf_addc(out, '}');
}

static void tail(const np_view *v, np_seam seam, np_buf *out) {
  (void)v;
  (void)seam;
  np_buf_adds(out, "]}");
}

/* A text of white space alone is taken. */
const np_format np_format_responses = {
    .name = "responses",
    .shape = NP_SHAPE_RESPONSES,
    .thoughts = NP_THOUGHTS_OWN,
    .parts = true,
    .loops = true,
    .blanks = true,
    .entry_tokens = np_responses_entry_tokens,
    .message_tokens = np_responses_message_tokens,
    .result_tokens = np_responses_result_tokens,
    .notice_tokens = np_openai_notice_tokens,
    .takes = np_responses_takes_inner,
    .repairs = np_responses_repairs,
    .head_tokens = np_responses_head_tokens,
    .tail_tokens = np_openai_tail_tokens,
    .head = np_responses_head,
    .group = group,
    .notice = notice,
    .tail = tail,
};
