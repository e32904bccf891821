/*
** Pictures and PDF files of every form as blocks, also inside a result. next: anthropic_count.c
*/
#include "render/anthropic.h"

#include "render/inner.h"

static bool is_picture_type(np_str type) {
  return np_str_is(type, "image/png") || np_str_is(type, "image/jpeg") ||
         np_str_is(type, "image/gif") || np_str_is(type, "image/webp") ||
         np_str_is(type, "image\\/png") || np_str_is(type, "image\\/jpeg");
}

/* Pictures of the four types, and PDF files: with their bytes, or at an address. */
static bool takes(np_json part, np_kind kind) {
  np_picture p;
  if (!np_picture_read(part, &p)) return false;
  if (!p.data.n)
    return kind == NP_KIND_IMAGE && p.url.n > 4 && !memcmp(p.url.p, "http", 4);
  if (kind == NP_KIND_IMAGE) return is_picture_type(p.type);
  return np_str_is(p.type, "application/pdf");
}

bool np_anthropic_takes(const np_entry *en) {
  return takes(en->raw, en->kind);
}

void np_anthropic_picture(np_json part, np_kind kind, np_buf *out) {
  np_picture p;
  np_picture_read(part, &p);
  np_buf_adds(out, kind == NP_KIND_IMAGE
                       ? "{\"type\":\"image\",\"source\":{\"type\":"
                       : "{\"type\":\"document\",\"source\":{\"type\":");
  if (p.data.n) {
    np_buf_adds(out, "\"base64\",\"media_type\":\"");
    np_buf_add(out, p.type);
    np_buf_adds(out, "\",\"data\":\"");
    np_buf_add(out, p.data);
  } else {
    np_buf_adds(out, "\"url\",\"url\":\"");
    np_buf_add(out, p.url);
  }
  np_buf_adds(out, "\"}}");
}

/* ---- in a result ---- */

bool np_anthropic_takes_inner(const np_view *v, np_json part, np_kind kind) {
  (void)v;
  return takes(part, kind);
}

bool np_anthropic_is_mixed(const np_view *v, const np_entry *en) {
  return np_inner_crosses(v, en, np_anthropic_takes_inner);
}

static void add_words(const np_view *v, const np_inner *in, np_buf *out) {
  np_buf text;
  np_buf_init(&text, np_temp(v));
  np_inner_text(in, &text);
  np_buf_adds(out, "{\"type\":\"text\",\"text\":");
  np_json_quote(out, np_buf_str(&text));
  np_buf_addc(out, '}');
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

void np_anthropic_mixed(const np_view *v, const np_entry *en, np_buf *out) {
  np_inner in;
  char sep = '[';
  np_inners all = np_inner_each(v, en);
  while (np_inner_next(&all, &in)) {
    if (in.words.type == NP_JSON_STRING && in.words.raw.n == 2) continue;
    np_buf_addc(out, sep);
    sep = ',';
    if (in.kind != NP_KIND_TEXT && takes(in.part, in.kind))
      np_anthropic_picture(in.part, in.kind, out);
    else add_words(v, &in, out);
  }
  np_buf_addc(out, ']');
}

/* Another form's pictures and files are those that this one takes; the others are words. Its own
** are what they are. */
uint32_t np_anthropic_inner_tokens(const np_view *v, const np_entry *en, uint32_t each) {
  np_inner in;
  uint32_t n = 0;
  bool own = np_view_message(v, en)->shape == NP_SHAPE_ANTHROPIC;
  np_inners all = np_inner_each(v, en);
  while (np_inner_next(&all, &in)) {
    bool data = in.kind != NP_KIND_TEXT && (own || takes(in.part, in.kind));
    n += data ? each + np_inner_data_tokens(v, &in) : np_inner_tokens(v, &in);
  }
  return n;
}
