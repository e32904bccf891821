/*
** Shared pieces: texts, members, calls, the request's own members. next: tools.c
*/
#include "render/parts.h"

#include "render/mark.h"

/* ---- texts ---- */

void np_part_raw(const np_message *m, np_str raw, np_buf *out) {
  if (m->lone) np_json_copy_repaired(raw, out);
  else np_buf_add(out, raw);
}

void np_part_quote(const np_view *v, np_str text, np_buf *out) {
  np_buf filled;
  np_buf_init(&filled, np_temp(v));
  np_json_quote(out, np_view_text(v, text, &filled));
  if (filled.failed) out->failed = true;
  np_buf_free(&filled);
}

/* A file or image of another provider's form has no text that stands for it. */
static bool is_foreign(const np_view *v, const np_entry *en) {
  bool data = en->kind == NP_KIND_IMAGE || en->kind == NP_KIND_FILE;
  return data && np_view_message(v, en)->shape != v->format->shape;
}

static void add_speaker(const np_view *v, const np_entry *en, np_buf *out) {
  const np_message *m = np_view_message(v, en);
  if (v->format->names || !m->name.n) return;
  if (en->kind != NP_KIND_USER && en->kind != NP_KIND_TEXT) return;
  np_buf_add(out, m->name);
  np_buf_adds(out, ": ");
}

void np_part_text(const np_view *v, const np_entry *en, const np_str *text, np_buf *out) {
  np_buf whole, filled;
  np_buf_init(&whole, np_temp(v));
  np_buf_init(&filled, np_temp(v));
  if (en->kind == NP_KIND_RESULT && !en->pair) np_mark_orphan(v, en, &whole);
  add_speaker(v, en, &whole);
  if (!text && is_foreign(v, en)) np_mark_foreign(v, en, &whole);
  else np_buf_add(&whole, text ? *text : en->text);
  np_buf_add(out, np_view_text(v, np_buf_str(&whole), &filled));
  if (whole.failed || filled.failed) out->failed = true;
  np_buf_free(&whole);
  np_buf_free(&filled);
}

void np_part_shown(const np_view *v, const np_entry *en, np_buf *out) {
  const np_shown *s = np_view_at(v, en->id);
  np_buf text;
  np_buf_init(&text, np_temp(v));
  np_part_text(v, en, np_shown_is_own(s) ? NULL : &s->text, &text);
  np_json_quote(out, np_buf_str(&text));
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

uint32_t np_part_count(const np_view *v, np_str text) {
  size_t n = np_vocab_count_with(v->vocab, v->words, text);
  return n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)n;
}

uint32_t np_part_tokens(const np_view *v, const np_entry *en, const np_str *text) {
  np_buf b;
  np_buf_init(&b, np_temp(v));
  np_part_text(v, en, text, &b);
  uint32_t n = np_part_count(v, np_buf_str(&b));
  if (b.failed) np_view_lose(v);
  np_buf_free(&b);
  return n;
}

uint32_t np_part_raw_tokens(const np_view *v, const np_message *m, np_str raw) {
  np_buf b;
  np_buf_init(&b, np_temp(v));
  np_part_raw(m, raw, &b);
  uint32_t n = np_part_count(v, np_buf_str(&b));
  if (b.failed) np_view_lose(v);
  np_buf_free(&b);
  return n;
}

void np_part_replace(const np_view *v, const np_message *m, np_json object,
                     const char *key, np_str text, np_buf *out) {
  np_str name;
  np_json value;
  np_json_iter it = np_json_each(object);
  char sep = '{';
  while (np_json_next(&it, &name, &value)) {
    np_buf_addc(out, sep);
    np_part_raw(m, name, out);
    np_buf_addc(out, ':');
    if (np_json_is_key(name, key)) np_part_quote(v, text, out);
    else np_part_raw(m, value.raw, out);
    sep = ',';
  }
  if (sep == '{') np_buf_addc(out, sep);
  np_buf_addc(out, '}');
}

bool np_part_is_whole(const np_view *v, const np_group *g) {
  const np_message *m = &v->log->messages[g->lead];
  int64_t id = g->first;
  if (m->shape != v->format->shape || m->lone || m->holes || !m->entries || m->native)
    return false;
  for (uint32_t i = 0; i < m->entries; i++, id = np_view_at(v, id)->next) {
    if (id != m->first + i || !np_shown_is_own(np_view_at(v, id))) return false;
    const np_entry *en = np_log_entry(v->log, id);
    if (en->kind == NP_KIND_RESULT && !en->pair) return false;
  }
  return id == g->behind;
}

/* ---- calls ---- */

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         c == '_' || c == '-';
}

#define MADE "neap_" /* leads the ids that are made here; no other may have the form */

bool np_part_is_made(np_str id) {
  size_t n = sizeof MADE - 1;
  if (id.n <= n || memcmp(id.p, MADE, n) != 0) return false;
  for (size_t i = n; i < id.n; i++) {
    if (id.p[i] < '0' || id.p[i] > '9') return false;
  }
  return true;
}

bool np_part_keeps_id(const np_entry *call) {
  np_str id = call->call_id;
  if (!id.n || id.n > 64 || call->again || np_part_is_made(id)) return false;
  for (size_t i = 0; i < id.n; i++) {
    if (!is_word(id.p[i])) return false;
  }
  return true;
}

void np_part_call_id(const np_entry *call, np_buf *out) {
  if (np_part_keeps_id(call)) {
    np_buf_add(out, call->call_id);
    return;
  }
  np_part_made_id(call, out);
}

void np_part_made_id(const np_entry *call, np_buf *out) {
  np_buf_adds(out, MADE);
  np_buf_int(out, call->id);
}

void np_part_name(np_str name, np_buf *out) {
  if (!name.n) np_buf_addc(out, '_');
  for (size_t i = 0; i < name.n && i < 64; i++)
    np_buf_addc(out, is_word(name.p[i]) ? name.p[i] : '_');
}

void np_part_arguments(np_str text, np_buf *out) {
  np_json args;
  bool blank = true;
  for (size_t i = 0; i < text.n && blank; i++) blank = (unsigned char)text.p[i] <= ' ';
  if (blank) {
    np_buf_adds(out, "{}");
  } else if (!np_json_check(text, &args, NULL) && args.type == NP_JSON_OBJECT) {
    np_json_copy_repaired(args.raw, out);
  } else {
    np_buf_adds(out, "{\"input\":");
    np_json_quote(out, text);
    np_buf_addc(out, '}');
  }
}

void np_part_call_shown(const np_view *v, const np_entry *call, np_buf *out) {
  const np_shown *s = np_view_at(v, call->id);
  np_buf filled;
  np_buf_init(&filled, np_temp(v));
  np_part_arguments(s->rung == NP_FULL ? call->text : np_view_text(v, s->text, &filled),
                    out);
  if (filled.failed) out->failed = true;
  np_buf_free(&filled);
}

void np_part_stub(const np_view *v, const np_entry *call, np_buf *out) {
  np_buf raw, filled;
  np_buf_init(&raw, np_temp(v));
  np_buf_init(&filled, np_temp(v));
  np_mark_stub(v, call, &raw);
  np_buf_add(out, np_view_text(v, np_buf_str(&raw), &filled));
  if (raw.failed || filled.failed) out->failed = true;
  np_buf_free(&raw);
  np_buf_free(&filled);
}

/* ---- the request ---- */

void np_part_request(const np_view *v, np_buf *out) {
  np_json object;
  np_buf_addc(out, '{');
  if (v->request.n <= 2 || np_json_check(v->request, &object, NULL) ||
      !np_json_each(object).p)
    return;
  np_str inner = np_str_cut(object.raw, 1, object.raw.n - 1);
  np_json_copy_repaired(inner, out);
  for (size_t i = 0; i < inner.n; i++) {
    if (inner.p[i] != '"') continue;
    np_buf_addc(out, ',');
    break;
  }
}

np_json np_part_tools(const np_view *v) {
  np_json list, item;
  if (!v->tools.n || np_json_check(v->tools, &list, NULL)) return (np_json){0};
  np_json_iter it = np_json_each(list);
  return np_json_next(&it, NULL, &item) ? list : (np_json){0};
}
