/*
** Pictures and PDF files of every form as parts, also in a call's output, which is then a list:
** input_text, input_image, input_file (OpenAI, function calling). next: responses.c
*/
#include "render/responses.h"

#include "render/inner.h"

static bool is_picture_type(np_str type) {
  return np_str_is(type, "image/png") || np_str_is(type, "image/jpeg") ||
         np_str_is(type, "image/gif") || np_str_is(type, "image/webp");
}

bool np_responses_takes_inner(const np_view *v, np_json part, np_kind kind) {
  np_picture p;
  (void)v;
  if (!np_picture_read(part, &p)) return false;
  if (kind == NP_KIND_FILE) return p.data.n && np_str_is(p.type, "application/pdf");
  if (p.data.n) return is_picture_type(p.type);
  return np_str_find(p.url, NP_LIT("http"), 0) == 0;
}

bool np_responses_takes(const np_view *v, const np_entry *en) {
  bool data = en->kind == NP_KIND_IMAGE || en->kind == NP_KIND_FILE;
  if (!data || np_view_message(v, en)->role == NP_ROLE_ASSISTANT) return false;
  return np_responses_owns(v, en) || np_responses_takes_inner(v, en->raw, en->kind);
}

/* The provider asks for a name of a file that comes with its bytes. */
static void add_file(np_json part, const np_picture *file, np_buf *out) {
  np_json inner, name;
  np_str raw = NP_LIT("\"document.pdf\"");
  if (!np_json_get(part, "file", &inner)) inner = part;
  if (np_json_get(inner, "filename", &name) && name.type == NP_JSON_STRING)
    raw = name.raw;
  np_buf_adds(out, "{\"type\":\"input_file\",\"filename\":");
  np_json_copy_repaired(raw, out);
  np_buf_adds(out, ",\"file_data\":\"data:");
  np_buf_add(out, file->type);
  np_buf_adds(out, ";base64,");
  np_buf_add(out, file->data);
  np_buf_adds(out, "\"}");
}

void np_responses_picture(np_json part, np_kind kind, np_buf *out) {
  np_picture p;
  np_picture_read(part, &p);
  if (kind == NP_KIND_FILE) {
    add_file(part, &p, out);
    return;
  }
  np_buf_adds(out, "{\"type\":\"input_image\",\"image_url\":\"");
  if (p.data.n) {
    np_buf_adds(out, "data:");
    np_buf_add(out, p.type);
    np_buf_adds(out, ";base64,");
    np_buf_add(out, p.data);
  } else {
    np_buf_add(out, p.url);
  }
  np_buf_adds(out, np_image_read(part).low ? "\",\"detail\":\"low\"}" : "\"}");
}

/* ---- in an output ---- */

bool np_responses_has_list(const np_view *v, const np_entry *en) {
  const np_entry *call = np_log_entry(v->log, en->pair);
  np_json type, output;
  if (!call || call->opaque || !np_responses_owns(v, en)) return false;
  np_json_get(en->raw, "type", &type);
  return np_json_get(en->raw, "output", &output) && output.type == NP_JSON_ARRAY &&
         (np_json_is_key(type.raw, "function_call_output") ||
          np_json_is_key(type.raw, "custom_tool_call_output"));
}

/* What answers a shell or a computer is no list. */
bool np_responses_is_mixed(const np_view *v, const np_entry *en) {
  const np_entry *call = np_log_entry(v->log, en->pair);
  return call && !call->opaque && np_inner_crosses(v, en, np_responses_takes_inner);
}

void np_responses_mixed(const np_view *v, const np_entry *en, np_buf *out) {
  np_inner in;
  np_buf text;
  char sep = '[';
  np_buf_init(&text, np_temp(v));
  np_inners all = np_inner_each(v, en);
  while (np_inner_next(&all, &in)) {
    bool data = in.kind != NP_KIND_TEXT && np_responses_takes_inner(v, in.part, in.kind);
    np_buf_clear(&text);
    if (!data) np_inner_text(&in, &text);
    if (!data && !text.n) continue; /* no part is empty */
    np_buf_addc(out, sep);
    sep = ',';
    if (data) {
      np_responses_picture(in.part, in.kind, out);
    } else {
      np_buf_adds(out, "{\"type\":\"input_text\",\"text\":");
      np_json_quote(out, np_buf_str(&text));
      np_buf_addc(out, '}');
    }
  }
  np_buf_addc(out, ']');
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

uint32_t np_responses_inner_tokens(const np_view *v, const np_entry *en) {
  np_inner in;
  uint32_t n = 0;
  bool own = np_responses_owns(v, en);
  np_inners all = np_inner_each(v, en);
  while (np_inner_next(&all, &in)) {
    bool data =
        in.kind != NP_KIND_TEXT && (own || np_responses_takes_inner(v, in.part, in.kind));
    n += data ? np_inner_data_tokens(v, &in) : np_inner_tokens(v, &in);
  }
  return n;
}

/* ---- an output of this form ---- */

/* A text of a list that says nothing. */
static bool is_empty(np_json part) {
  np_json text;
  return np_json_get(part, "text", &text) && text.raw.n == 2;
}

bool np_responses_is_sound(np_json output) {
  np_json part;
  size_t n = 0;
  if (output.type != NP_JSON_ARRAY) return true;
  np_json_iter it = np_json_each(output);
  for (; np_json_next(&it, NULL, &part); n++) {
    if (is_empty(part)) return false;
  }
  return n > 0;
}

/* The empty text where nothing is left. */
void np_responses_sound(const np_message *m, np_json output, np_buf *out) {
  np_json part;
  char sep = '[';
  np_json_iter it = np_json_each(output);
  while (np_json_next(&it, NULL, &part)) {
    if (is_empty(part)) continue;
    np_buf_addc(out, sep);
    np_part_raw(m, part.raw, out);
    sep = ',';
  }
  np_buf_adds(out, sep == '[' ? "\"\"" : "]");
}
