/*
** Blocks: an entry's own bytes where nothing is changed and they are of this form, else the
** block written anew around its texts. next: anthropic_picture.c
*/
#include "render/anthropic.h"

static bool is_own(const np_view *v, const np_entry *en) {
  return np_view_message(v, en)->shape == NP_SHAPE_ANTHROPIC &&
         en->place == NP_PLACE_PART;
}

static bool is_full(const np_view *v, const np_entry *en) {
  return np_shown_is_own(np_view_at(v, en->id));
}

static bool is_unmarked(const np_view *v, const np_entry *en) {
  return np_view_at(v, en->id)->unmarked;
}

/* What the host sets apart in the middle of a conversation keeps its heading. */
void np_anthropic_text(const np_view *v, const np_entry *en, const np_str *text,
                       np_buf *out) {
  if (en->kind == NP_KIND_SYSTEM && !np_anthropic_is_system(en))
    np_buf_adds(out, "[system]\n");
  np_part_text(v, en, text, out);
}

static void add_text(const np_view *v, const np_entry *en, np_buf *out) {
  const np_shown *s = np_view_at(v, en->id);
  np_buf text;
  np_buf_init(&text, np_temp(v));
  np_anthropic_text(v, en, np_shown_is_own(s) ? NULL : &s->text, &text);
  np_buf_adds(out, "{\"type\":\"text\",\"text\":");
  np_json_quote(out, np_buf_str(&text));
  np_buf_addc(out, '}');
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

/* A block's own members, of which some are replaced by what is written already: an id, a body.
** NULL leaves a member as it is. */
typedef struct swap {
  const char *id_key, *body_key;
  const np_str *id, *body;
  bool unmarked; /* without its cache marks */
} swap;

/* An item without text in a list of content, which the provider refuses. */
static bool is_hole(np_json item) {
  np_json type, text;
  return np_json_get(item, "type", &type) && np_json_is_key(type.raw, "text") &&
         np_json_get(item, "text", &text) && text.raw.n == 2;
}

/* A member's value; of content that has holes, what is left without them. */
static void add_value(const np_message *m, np_json value, bool unmarked, bool holes,
                      np_buf *out) {
  np_json inner;
  if (holes && value.type == NP_JSON_NULL) {
    np_buf_adds(out, "\"\"");
    return;
  }
  if (!(unmarked || holes) || value.type != NP_JSON_ARRAY) {
    np_part_raw(m, value.raw, out);
    return;
  }
  char sep = '[';
  np_json_iter it = np_json_each(value);
  while (np_json_next(&it, NULL, &inner)) {
    if (holes && is_hole(inner)) continue;
    np_buf_addc(out, sep);
    if (unmarked) np_anthropic_unmarked(m, inner, out);
    else np_part_raw(m, inner.raw, out);
    sep = ',';
  }
  np_buf_adds(out, sep == '[' ? "[]" : "]");
}

static void add_swapped(const np_message *m, np_json block, const swap *w, np_buf *out) {
  np_str key;
  np_json value;
  bool body = !w->body;
  char sep = '{';
  np_json_iter it = np_json_each(block);
  while (np_json_next(&it, &key, &value)) {
    if (w->unmarked && np_json_is_key(key, "cache_control")) continue;
    bool here = w->body && np_json_is_key(key, w->body_key);
    np_buf_addc(out, sep);
    np_part_raw(m, key, out);
    np_buf_addc(out, ':');
    if (here) np_buf_add(out, *w->body);
    else if (w->id && np_json_is_key(key, w->id_key)) np_buf_add(out, *w->id);
    else
      add_value(m, value, w->unmarked, m->holes && np_json_is_key(key, "content"), out);
    body = body || here;
    sep = ',';
  }
  if (!body) { /* a result that had no content */
    np_buf_addc(out, ',');
    np_json_quote(out, np_str_cstr(w->body_key));
    np_buf_addc(out, ':');
    np_buf_add(out, *w->body);
  }
  np_buf_addc(out, '}');
}

static void quote_id(const np_entry *call, np_buf *out) {
  np_buf_addc(out, '"');
  np_part_call_id(call, out);
  np_buf_addc(out, '"');
}

/* ---- calls ---- */

static void write_call(const np_entry *en, np_str id, np_str args, np_buf *out) {
  np_buf_adds(out, "{\"type\":\"tool_use\",\"id\":");
  np_buf_add(out, id);
  np_buf_adds(out, ",\"name\":\"");
  np_part_name(en->tool, out);
  np_buf_adds(out, "\",\"input\":");
  np_buf_add(out, args);
  np_buf_addc(out, '}');
}

static void add_own(const np_view *v, const np_entry *en, np_buf *out) {
  const np_message *m = np_view_message(v, en);
  if (is_unmarked(v, en)) np_anthropic_unmarked(m, en->raw, out);
  else np_part_raw(m, en->raw.raw, out);
}

/* A result of which something is left out. */
static bool has_holes(const np_view *v, const np_entry *en) {
  np_json content, item;
  if (!np_view_message(v, en)->holes || !np_json_get(en->raw, "content", &content))
    return false;
  if (content.type == NP_JSON_NULL) return true;
  np_json_iter it = np_json_each(content);
  while (np_json_next(&it, NULL, &item)) {
    if (is_hole(item)) return true;
  }
  return false;
}

/* Shown whole, under its own id, with nothing in it that is left out: its bytes can stay. */
static bool is_kept(const np_view *v, const np_entry *en, const np_entry *call) {
  return is_own(v, en) && is_full(v, en) && np_part_keeps_id(call) && !has_holes(v, en);
}

static void add_call(const np_view *v, const np_entry *en, np_buf *out) {
  np_buf id, args;
  if (is_kept(v, en, en)) {
    add_own(v, en, out);
    return;
  }
  np_buf_init(&id, np_temp(v));
  np_buf_init(&args, np_temp(v));
  quote_id(en, &id);
  np_part_call_shown(v, en, &args);
  np_str body = np_buf_str(&args), own_id = np_buf_str(&id);
  swap w = {"id", "input", &own_id, is_full(v, en) ? NULL : &body, is_unmarked(v, en)};
  if (is_own(v, en)) add_swapped(np_view_message(v, en), en->raw, &w, out);
  else write_call(en, own_id, body, out);
  if (id.failed || args.failed) out->failed = true;
  np_buf_free(&id);
  np_buf_free(&args);
}

/* ---- results ---- */

static void write_result(const np_entry *en, np_str id, np_str text, np_buf *out) {
  np_buf_adds(out, "{\"type\":\"tool_result\",\"tool_use_id\":");
  np_buf_add(out, id);
  np_buf_adds(out, ",\"content\":");
  np_buf_add(out, text);
  np_buf_adds(out, en->is_error ? ",\"is_error\":true}" : "}");
}

/* A result's text as it is shown; one in another form that holds pictures, as blocks. */
static void add_body(const np_view *v, const np_entry *en, np_buf *out) {
  if (is_full(v, en) && np_anthropic_is_mixed(v, en)) np_anthropic_mixed(v, en, out);
  else np_part_shown(v, en, out);
}

static void add_result(const np_view *v, const np_entry *en, np_buf *out) {
  np_buf id, text;
  if (is_kept(v, en, np_log_entry(v->log, en->pair))) {
    add_own(v, en, out);
    return;
  }
  np_buf_init(&id, np_temp(v));
  np_buf_init(&text, np_temp(v));
  quote_id(np_log_entry(v->log, en->pair), &id);
  add_body(v, en, &text);
  np_str body = np_buf_str(&text), call_id = np_buf_str(&id);
  swap w = {"tool_use_id", "content", &call_id, is_full(v, en) ? NULL : &body,
            is_unmarked(v, en)};
  if (is_own(v, en)) add_swapped(np_view_message(v, en), en->raw, &w, out);
  else write_result(en, call_id, body, out);
  if (id.failed || text.failed) out->failed = true;
  np_buf_free(&id);
  np_buf_free(&text);
}

void np_anthropic_stub(const np_view *v, const np_entry *call, np_buf *out) {
  np_buf text;
  np_buf_init(&text, np_temp(v));
  np_part_stub(v, call, &text);
  np_buf_adds(out, "{\"type\":\"tool_result\",\"tool_use_id\":");
  quote_id(call, out);
  np_buf_adds(out, ",\"content\":");
  np_json_quote(out, np_buf_str(&text));
  np_buf_addc(out, '}');
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

/* ---- */

static bool is_data(const np_entry *en) {
  return en->kind == NP_KIND_IMAGE || en->kind == NP_KIND_FILE;
}

/* A text block that is cut keeps its other members. */
static void add_cut(const np_view *v, const np_entry *en, np_buf *out) {
  np_buf text;
  np_buf_init(&text, np_temp(v));
  np_part_shown(v, en, &text);
  np_str body = np_buf_str(&text);
  swap w = {NULL, "text", NULL, &body, is_unmarked(v, en)};
  add_swapped(np_view_message(v, en), en->raw, &w, out);
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

void np_anthropic_block(const np_view *v, const np_entry *en, np_buf *out) {
  bool own = is_own(v, en), full = is_full(v, en);
  if (en->kind == NP_KIND_CALL) add_call(v, en, out);
  else if (en->kind == NP_KIND_RESULT && en->pair) add_result(v, en, out);
  else if (en->kind == NP_KIND_RESULT) add_text(v, en, out);
  else if (own && full && (en->kind != NP_KIND_SYSTEM || np_anthropic_is_system(en)))
    add_own(v, en, out);
  else if (own && !full && !is_data(en)) add_cut(v, en, out);
  else if (is_data(en) && full && np_anthropic_takes(en))
    np_anthropic_picture(en->raw, en->kind, out);
  else add_text(v, en, out);
}
