/*
** Messages of other providers' forms as chat messages: results first, each a tool message, then
** one message of the rest. Texts and arguments keep their words; a picture goes as an
** image_url; what this form has no place for is a mark. next: text_format.c
*/
#include "render/openai.h"

#include "render/parts.h"

bool np_openai_takes(const np_entry *en) {
  np_picture image;
  if (!np_picture_read(en->raw, &image)) return false;
  if (image.data.n) return image.type.n > 0;
  return np_str_find(image.url, NP_LIT("http"), 0) == 0;
}

static void add_id(const np_entry *call, np_buf *out) {
  if (!np_openai_renames(call)) {
    np_json_quote(out, call->call_id);
    return;
  }
  np_buf_addc(out, '"');
  np_part_made_id(call, out);
  np_buf_addc(out, '"');
}

/* A call of the older form is answered by name. */
static void add_result(const np_view *v, const np_entry *en, np_buf *out) {
  const np_entry *call = np_log_entry(v->log, en->pair);
  if (!call) {
    np_buf_adds(out, "{\"role\":\"user\"");
  } else if (call->place == NP_PLACE_FUNCTION) {
    np_buf_adds(out, "{\"role\":\"function\",\"name\":");
    np_json_quote(out, call->tool);
  } else {
    np_buf_adds(out, "{\"role\":\"tool\",\"tool_call_id\":");
    add_id(call, out);
  }
  np_buf_adds(out, ",\"content\":");
  np_part_shown(v, en, out);
  np_buf_addc(out, '}');
}

static void add_stub(const np_view *v, const np_entry *call, np_buf *out) {
  np_buf text;
  np_buf_init(&text, np_temp(v));
  np_part_stub(v, call, &text);
  np_buf_adds(out, "{\"role\":\"tool\",\"tool_call_id\":");
  add_id(call, out);
  np_buf_adds(out, ",\"content\":");
  np_json_quote(out, np_buf_str(&text));
  np_buf_addc(out, '}');
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

/* ---- content ---- */

static void add_image(const np_entry *en, np_buf *out) {
  np_picture image;
  np_picture_read(en->raw, &image);
  np_buf_adds(out, "{\"type\":\"image_url\",\"image_url\":{\"url\":\"");
  if (image.data.n) {
    np_buf_adds(out, "data:");
    np_buf_add(out, image.type);
    np_buf_adds(out, ";base64,");
    np_buf_add(out, image.data);
  } else {
    np_buf_add(out, image.url);
  }
  np_buf_adds(out, np_image_read(en->raw).low ? "\",\"detail\":\"low\"}}" : "\"}}");
}

static bool is_picture(const np_view *v, const np_entry *en) {
  return en->kind == NP_KIND_IMAGE && np_view_at(v, en->id)->rung == NP_FULL &&
         np_openai_takes(en);
}

static void add_part(const np_view *v, const np_entry *en, np_buf *out) {
  if (is_picture(v, en)) {
    add_image(en, out);
    return;
  }
  np_buf_adds(out, "{\"type\":\"text\",\"text\":");
  np_part_shown(v, en, out);
  np_buf_addc(out, '}');
}

static bool is_content(const np_entry *en) {
  return en->kind != NP_KIND_RESULT && en->kind != NP_KIND_CALL;
}

/* The next entry that is shown as content, from `id` on; 0: none. */
static int64_t content_at(const np_view *v, const np_group *g, int64_t id) {
  id = np_group_shown(v, g, id);
  while (id && !is_content(np_log_entry(v->log, id))) id = np_group_after(v, g, id);
  return id;
}

static int64_t content_after(const np_view *v, const np_group *g, int64_t id) {
  int64_t next = np_view_at(v, id)->next;
  return next == g->behind ? 0 : content_at(v, g, next);
}

/* One text is a string, more are a list. */
static void add_content(const np_view *v, const np_group *g, int64_t id, np_buf *out) {
  const np_entry *en = np_log_entry(v->log, id);
  np_buf_adds(out, ",\"content\":");
  if (!is_picture(v, en) && !content_after(v, g, id)) {
    np_part_shown(v, en, out);
    return;
  }
  for (char sep = '['; id; id = content_after(v, g, id), sep = ',') {
    np_buf_addc(out, sep);
    add_part(v, np_log_entry(v->log, id), out);
  }
  np_buf_addc(out, ']');
}

/* ---- calls ---- */

static void add_call(const np_view *v, const np_entry *en, np_buf *out) {
  np_buf args;
  np_buf_init(&args, np_temp(v));
  np_part_call_shown(v, en, &args);
  np_buf_adds(out, "{\"id\":");
  add_id(en, out);
  np_buf_adds(out, ",\"type\":\"function\",\"function\":{\"name\":");
  np_json_quote(out, en->tool);
  np_buf_adds(out, ",\"arguments\":");
  np_json_quote(out, np_buf_str(&args));
  np_buf_adds(out, "}}");
  if (args.failed) out->failed = true;
  np_buf_free(&args);
}

static int64_t call_at(const np_view *v, const np_group *g, int64_t id) {
  id = np_group_shown(v, g, id);
  while (id && np_log_entry(v->log, id)->kind != NP_KIND_CALL)
    id = np_group_after(v, g, id);
  return id;
}

static int64_t call_after(const np_view *v, const np_group *g, int64_t id) {
  int64_t next = np_view_at(v, id)->next;
  return next == g->behind ? 0 : call_at(v, g, next);
}

static void add_calls(const np_view *v, const np_group *g, int64_t id, np_buf *out) {
  np_buf_adds(out, ",\"tool_calls\":");
  for (char sep = '['; id; id = call_after(v, g, id), sep = ',') {
    np_buf_addc(out, sep);
    add_call(v, np_log_entry(v->log, id), out);
  }
  np_buf_addc(out, ']');
}

static bool add_results(const np_view *v, const np_group *g, bool first, np_buf *out) {
  for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    if (en->kind != NP_KIND_RESULT) continue;
    if (!first) np_buf_addc(out, ',');
    add_result(v, en, out);
    first = false;
  }
  return first;
}

void np_openai_convert(const np_view *v, const np_group *g, bool first, np_buf *out) {
  const np_message *m = &v->log->messages[g->lead];
  int64_t content = content_at(v, g, g->first), calls = call_at(v, g, g->first);
  first = add_results(v, g, first, out);
  if (!content && !calls) return;
  if (!first) np_buf_addc(out, ',');
  np_buf_adds(out, "{\"role\":\"");
  np_buf_adds(out, np_role_name(m->role));
  np_buf_addc(out, '"');
  if (content) add_content(v, g, content, out);
  if (calls) add_calls(v, g, calls, out);
  np_buf_addc(out, '}');
  for (; calls; calls = call_after(v, g, calls)) {
    const np_entry *en = np_log_entry(v->log, calls);
    if (en->pair) continue;
    np_buf_addc(out, ',');
    add_stub(v, en, out);
  }
}
