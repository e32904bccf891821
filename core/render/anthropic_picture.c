/*
** Pictures and PDF files of every form as blocks, also inside a result. next: anthropic_count.c
*/
#include "render/anthropic.h"

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

static bool is_text(np_json part, np_json *text) {
  np_json type;
  return np_json_get(part, "type", &type) && np_json_is_key(type.raw, "text") &&
         np_json_get(part, "text", text) && text->type == NP_JSON_STRING;
}

bool np_anthropic_is_mixed(const np_view *v, const np_entry *en) {
  np_json part, text;
  size_t pictures = 0;
  if (np_view_message(v, en)->shape == NP_SHAPE_ANTHROPIC || !en->pair ||
      en->raw.type != NP_JSON_ARRAY)
    return false;
  np_json_iter it = np_json_each(en->raw);
  while (np_json_next(&it, NULL, &part)) {
    if (is_text(part, &text)) continue;
    if (part.type != NP_JSON_OBJECT || !takes(part, NP_KIND_IMAGE)) return false;
    pictures++;
  }
  return pictures > 0;
}

void np_anthropic_mixed(const np_view *v, const np_entry *en, np_buf *out) {
  np_json part, text;
  const np_message *m = np_view_message(v, en);
  char sep = '[';
  np_json_iter it = np_json_each(en->raw);
  while (np_json_next(&it, NULL, &part)) {
    bool words = is_text(part, &text);
    if (words && text.raw.n == 2) continue; /* no block is empty */
    np_buf_addc(out, sep);
    sep = ',';
    if (words) {
      np_buf_adds(out, "{\"type\":\"text\",\"text\":");
      np_part_raw(m, text.raw, out);
      np_buf_addc(out, '}');
    } else {
      np_anthropic_picture(part, NP_KIND_IMAGE, out);
    }
  }
  np_buf_addc(out, ']');
}
