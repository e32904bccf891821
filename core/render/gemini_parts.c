/*
** Gemini's parts: texts, calls, their responses, inline data. A part of this form goes out as
** it came unless what it shows has changed; its signature stays on it byte for byte, on a call
** at every rung. next: gemini.c
*/
#include "render/gemini.h"

static bool is_full(const np_view *v, const np_entry *en) {
  return np_shown_is_own(np_view_at(v, en->id));
}

static np_str shown_text(const np_view *v, const np_entry *en) {
  const np_shown *s = np_view_at(v, en->id);
  return np_shown_is_own(s) ? en->text : s->text;
}

static bool get_either(np_json object, const char *camel, const char *snake,
                       np_json *out) {
  return np_json_get(object, camel, out) || np_json_get(object, snake, out);
}

void np_gemini_text(np_str text, np_buf *out) {
  np_buf_adds(out, "{\"text\":");
  np_json_quote(out, text);
  np_buf_addc(out, '}');
}

void np_gemini_part(const np_view *v, const np_entry *en, np_buf *out) {
  if (is_full(v, en) && np_gemini_owns(v, en)) {
    np_part_raw(np_view_message(v, en), en->raw.raw, out);
  } else if (is_full(v, en) && np_gemini_takes(v, en)) {
    np_gemini_blob(en->raw, out);
  } else {
    np_buf_adds(out, "{\"text\":");
    np_part_shown(v, en, out);
    np_buf_addc(out, '}');
  }
}

/* ---- calls ---- */

/* What another model has called was not signed; ai.google.dev, thought signatures, gives this
** word for it. Models before the third generation sign nothing and ask for nothing. */
#define UNSIGNED "skip_thought_signature_validator"

bool np_gemini_is_third(const np_view *v) {
  return strncmp(v->model->name, "gemini-1", 8) != 0 &&
         strncmp(v->model->name, "gemini-2", 8) != 0;
}

/* The id a call goes out with: its own, or one made of its number where it has none and needs
** one, or an earlier call had it. */
bool np_gemini_has_id(const np_view *v, const np_entry *call, bool named) {
  return call->call_id.n || named || !np_gemini_owns(v, call);
}

bool np_gemini_keeps_id(const np_view *v, const np_entry *call) {
  return np_gemini_owns(v, call) && call->call_id.n && !call->again &&
         !np_part_is_made(call->call_id);
}

static void add_id(const np_view *v, const np_entry *call, np_buf *out) {
  np_buf id;
  np_buf_init(&id, np_temp(v));
  if (np_gemini_keeps_id(v, call)) np_buf_add(&id, call->call_id);
  else np_part_call_id(call, &id);
  np_json_quote(out, np_buf_str(&id));
  if (id.failed) out->failed = true;
  np_buf_free(&id);
}

static void add_name(const np_view *v, const np_entry *call, np_buf *out) {
  np_buf name;
  np_buf_init(&name, np_temp(v));
  np_gemini_name(v, call, &name);
  np_json_quote(out, np_buf_str(&name));
  if (name.failed) out->failed = true;
  np_buf_free(&name);
}

/* {"id":…,"name":… without the closing brace. */
static void begin_function(const np_view *v, const np_entry *call, bool named,
                           np_buf *out) {
  np_buf_addc(out, '{');
  if (np_gemini_has_id(v, call, named)) {
    np_buf_adds(out, "\"id\":");
    add_id(v, call, out);
    np_buf_addc(out, ',');
  }
  np_buf_adds(out, "\"name\":");
  add_name(v, call, out);
}

static void add_function(const np_view *v, const np_entry *en, bool named, np_buf *out) {
  np_buf args;
  np_buf_init(&args, np_temp(v));
  np_gemini_arguments(v, en, shown_text(v, en), &args);
  begin_function(v, en, named, out);
  np_buf_adds(out, ",\"args\":");
  np_buf_add(out, np_buf_str(&args));
  np_buf_addc(out, '}');
  if (args.failed) out->failed = true;
  np_buf_free(&args);
}

/* The part with its call written anew; what stands beside it, the signature above all, keeps
** its bytes. */
static void add_changed(const np_view *v, const np_entry *en, bool named, np_buf *out) {
  const np_message *m = np_view_message(v, en);
  np_str key;
  np_json value;
  char sep = '{';
  np_json_iter it = np_json_each(en->raw);
  while (np_json_next(&it, &key, &value)) {
    bool call =
        np_json_is_key(key, "functionCall") || np_json_is_key(key, "function_call");
    np_buf_addc(out, sep);
    np_part_raw(m, key, out);
    np_buf_addc(out, ':');
    if (call) add_function(v, en, named, out);
    else np_part_raw(m, value.raw, out);
    sep = ',';
  }
  np_buf_addc(out, '}');
}

void np_gemini_call(const np_view *v, const np_entry *en, bool named, bool leads,
                    np_buf *out) {
  bool own = np_gemini_owns(v, en);
  bool whole = own && is_full(v, en) &&
               (np_gemini_keeps_id(v, en) || !np_gemini_has_id(v, en, named));
  if (whole) {
    np_part_raw(np_view_message(v, en), en->raw.raw, out);
  } else if (own) {
    add_changed(v, en, named, out);
  } else {
    np_buf_adds(out, "{\"functionCall\":");
    add_function(v, en, named, out);
    bool sign = leads && np_gemini_is_third(v);
    np_buf_adds(out, sign ? ",\"thoughtSignature\":\"" UNSIGNED "\"}" : "}");
  }
}

/* ---- results ---- */

static np_json function_of(np_json part) {
  np_json v;
  get_either(part, "functionResponse", "function_response", &v);
  return v;
}

/* Its name is its call's, its id too, or both have none. */
bool np_gemini_fits(const np_view *v, const np_entry *call, const np_entry *en,
                    bool named) {
  np_json name;
  np_buf b;
  bool ids = np_gemini_has_id(v, call, named);
  if (!np_gemini_owns(v, en) || !np_gemini_owns(v, call)) return false;
  if (ids ? !np_gemini_keeps_id(v, call) || !np_str_eq(call->call_id, en->call_id)
          : en->call_id.n > 0)
    return false;
  np_json_get(function_of(en->raw), "name", &name);
  np_buf_init(&b, np_temp(v));
  np_json_text(name, &b);
  bool same = np_str_eq(np_buf_str(&b), call->tool);
  if (b.failed) np_view_lose(v);
  np_buf_free(&b);
  return same;
}

/* The response whole as it came, if it did in this form; else what is shown of it under the
** names that the provider gives: output, error. */
static void add_response(const np_view *v, const np_entry *en, np_buf *out) {
  np_json response = {0};
  np_buf text;
  if (np_gemini_owns(v, en)) np_json_get(function_of(en->raw), "response", &response);
  if (is_full(v, en) && response.type == NP_JSON_OBJECT) {
    np_part_raw(np_view_message(v, en), response.raw, out);
    return;
  }
  np_buf_adds(out, en->is_error ? "{\"error\":" : "{\"output\":");
  if (is_full(v, en) && np_gemini_owns(v, en)) {
    np_buf_adds(out, "\"\""); /* it came without one */
  } else if (is_full(v, en) && np_gemini_is_mixed(v, en)) {
    np_buf_init(&text, np_temp(v));
    np_gemini_mixed_text(v, en, &text);
    np_json_quote(out, np_buf_str(&text));
    if (text.failed) out->failed = true;
    np_buf_free(&text);
  } else {
    np_part_shown(v, en, out);
  }
  np_buf_addc(out, '}');
}

/* Pictures and files beside a response that is shown whole. */
static void add_media(const np_view *v, const np_entry *en, np_buf *out) {
  np_json parts = {0};
  if (!is_full(v, en)) return;
  if (np_gemini_owns(v, en)) np_json_get(function_of(en->raw), "parts", &parts);
  bool own = parts.type == NP_JSON_ARRAY;
  if (!own && !np_gemini_is_mixed(v, en)) return;
  np_buf_adds(out, ",\"parts\":");
  if (own) np_part_raw(np_view_message(v, en), parts.raw, out);
  else np_gemini_mixed_parts(v, en, out);
}

static bool has_response(const np_entry *en) {
  np_json v;
  return np_json_get(function_of(en->raw), "response", &v) && v.type == NP_JSON_OBJECT;
}

bool np_gemini_keeps_result(const np_view *v, const np_entry *en, bool named) {
  const np_entry *call = np_log_entry(v->log, en->pair);
  return call && is_full(v, en) && np_gemini_fits(v, call, en, named) && has_response(en);
}

void np_gemini_result(const np_view *v, const np_entry *en, bool named, np_buf *out) {
  const np_entry *call = np_log_entry(v->log, en->pair);
  if (!call) {
    np_buf_adds(out, "{\"text\":");
    np_part_shown(v, en, out);
    np_buf_addc(out, '}');
  } else if (np_gemini_keeps_result(v, en, named)) {
    np_part_raw(np_view_message(v, en), en->raw.raw, out);
  } else {
    np_buf_adds(out, "{\"functionResponse\":");
    begin_function(v, call, named, out);
    np_buf_adds(out, ",\"response\":");
    add_response(v, en, out);
    add_media(v, en, out);
    np_buf_adds(out, "}}");
  }
}

void np_gemini_stub(const np_view *v, const np_entry *call, bool named, np_buf *out) {
  np_buf text;
  np_buf_init(&text, np_temp(v));
  np_part_stub(v, call, &text);
  np_buf_adds(out, "{\"functionResponse\":");
  begin_function(v, call, named, out);
  np_buf_adds(out, ",\"response\":{\"output\":");
  np_json_quote(out, np_buf_str(&text));
  np_buf_adds(out, "}}}");
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}
