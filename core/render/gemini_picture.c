/*
** Pictures and PDF files of every form as inline data, also beside a function's response: from
** the third generation on `parts` of a functionResponse hold them, each as inlineData (Google,
** function calling, multimodal responses); a file at an address cannot stand there.
** next: gemini_parts.c
*/
#include "render/gemini.h"

#include "render/inner.h"

/* ai.google.dev, image understanding: PNG, JPEG, WebP, HEIC, HEIF; in a response the first
** three. */
static bool takes(np_json part, np_kind kind, size_t types) {
  static const char *const known[] = {"image/png", "image/jpeg", "image/webp",
                                      "image/heic", "image/heif"};
  np_picture p;
  if (!np_picture_read(part, &p) || !p.data.n) return false;
  if (kind == NP_KIND_FILE) return np_str_is(p.type, "application/pdf");
  for (size_t i = 0; i < types; i++) {
    if (np_str_is(p.type, known[i])) return true;
  }
  return false;
}

bool np_gemini_takes(const np_view *v, const np_entry *en) {
  if (en->kind != NP_KIND_IMAGE && en->kind != NP_KIND_FILE) return false;
  return np_gemini_owns(v, en) || takes(en->raw, en->kind, 5);
}

void np_gemini_blob(np_json part, np_buf *out) {
  np_picture p;
  np_picture_read(part, &p);
  np_buf_adds(out, "{\"inlineData\":{\"mimeType\":\"");
  np_buf_add(out, p.type);
  np_buf_adds(out, "\",\"data\":\"");
  np_buf_add(out, p.data);
  np_buf_adds(out, "\"}}");
}

/* ---- in a response ---- */

bool np_gemini_takes_inner(const np_view *v, np_json part, np_kind kind) {
  return np_gemini_is_third(v) && takes(part, kind, 3);
}

bool np_gemini_is_mixed(const np_view *v, const np_entry *en) {
  return np_inner_crosses(v, en, np_gemini_takes_inner);
}

static bool is_taken(const np_view *v, const np_inner *in) {
  return in->kind != NP_KIND_TEXT && np_gemini_takes_inner(v, in->part, in->kind);
}

void np_gemini_mixed_text(const np_view *v, const np_entry *en, np_buf *out) {
  np_inner in;
  np_inners all = np_inner_each(v, en);
  while (np_inner_next(&all, &in)) {
    if (!is_taken(v, &in)) np_inner_text(&in, out);
  }
}

void np_gemini_mixed_parts(const np_view *v, const np_entry *en, np_buf *out) {
  np_inner in;
  char sep = '[';
  np_inners all = np_inner_each(v, en);
  while (np_inner_next(&all, &in)) {
    if (!is_taken(v, &in)) continue;
    np_buf_addc(out, sep);
    np_gemini_blob(in.part, out);
    sep = ',';
  }
  np_buf_addc(out, ']');
}

/* ---- what it costs ---- */

/* A response of one text is that text, another its bytes. */
static uint32_t own_tokens(const np_view *v, const np_entry *en) {
  np_json f, response, value, one = {0}, parts;
  np_inner in;
  size_t n = 0;
  if (!np_json_get(en->raw, "functionResponse", &f))
    np_json_get(en->raw, "function_response", &f);
  np_json_get(f, "response", &response);
  np_json_iter it = np_json_each(response);
  for (; np_json_next(&it, NULL, &value); n++) one = value;
  in = (np_inner){.kind = NP_KIND_TEXT,
                  .words = n == 1 && one.type == NP_JSON_STRING ? one : response};
  uint32_t tokens = n ? np_inner_tokens(v, &in) : 0;
  if (!np_json_get(f, "parts", &parts)) return tokens;
  np_inners all = np_inner_each(v, en);
  all.lead = (np_json){0};
  while (np_inner_next(&all, &in))
    tokens +=
        in.kind == NP_KIND_TEXT ? np_inner_tokens(v, &in) : np_inner_data_tokens(v, &in);
  return tokens;
}

uint32_t np_gemini_whole_tokens(const np_view *v, const np_entry *en) {
  np_inner in;
  np_buf text;
  if (np_gemini_owns(v, en)) return own_tokens(v, en);
  if (!np_gemini_is_mixed(v, en)) return np_part_tokens(v, en, NULL);
  np_buf_init(&text, np_temp(v));
  np_gemini_mixed_text(v, en, &text);
  uint32_t tokens = np_part_count(v, np_buf_str(&text));
  if (text.failed) np_view_lose(v);
  np_buf_free(&text);
  np_inners all = np_inner_each(v, en);
  while (np_inner_next(&all, &in)) {
    if (is_taken(v, &in)) tokens += np_inner_data_tokens(v, &in);
  }
  return tokens;
}
