/*
** The pieces of a result. Types are looked up in one table for all providers, as hosts mix them:
** a chat message's list may hold what another provider's would. next: picture.c
*/
#include "render/inner.h"

#include "render/document.h"

static np_json member(np_json object, const char *camel, const char *snake) {
  np_json v = {0};
  if (!np_json_get(object, camel, &v)) np_json_get(object, snake, &v);
  return v;
}

/* One string is what it says, more values are the object's bytes. */
static np_json lead_of(np_json response) {
  np_json value, one = {0};
  size_t n = 0;
  np_json_iter it = np_json_each(response);
  for (; np_json_next(&it, NULL, &value); n++) one = value;
  if (!n || (n == 1 && one.type == NP_JSON_STRING)) return one;
  return response;
}

np_inners np_inner_each(const np_view *v, const np_entry *result) {
  np_json list = {0}, f;
  np_inners all = {0};
  switch (np_view_message(v, result)->shape) {
    case NP_SHAPE_CHAT: list = result->raw; break;
    case NP_SHAPE_ANTHROPIC: np_json_get(result->raw, "content", &list); break;
    case NP_SHAPE_RESPONSES: np_json_get(result->raw, "output", &list); break;
    default:
      f = member(result->raw, "functionResponse", "function_response");
      np_json_get(f, "parts", &list);
      if (list.type == NP_JSON_ARRAY)
        all.lead = lead_of(member(f, "response", "response"));
  }
  if (list.type == NP_JSON_ARRAY) all.it = np_json_each(list);
  return all;
}

static const struct {
  const char *type;
  np_kind kind;
} types[] = {
    {"image_url", NP_KIND_IMAGE},   {"image", NP_KIND_IMAGE},
    {"input_image", NP_KIND_IMAGE}, {"file", NP_KIND_FILE},
    {"input_file", NP_KIND_FILE},   {"document", NP_KIND_FILE},
    {"audio", NP_KIND_FILE},        {"input_audio", NP_KIND_FILE},
};

/* Gemini's parts have no types; their media have. */
static np_kind blob_kind(np_json blob) {
  np_json type = member(blob, "mimeType", "mime_type");
  bool image = type.type == NP_JSON_STRING && type.raw.n > 7 &&
               memcmp(type.raw.p + 1, "image/", 6) == 0;
  return image ? NP_KIND_IMAGE : NP_KIND_FILE;
}

static np_kind kind_of(np_json part) {
  np_json type, blob = member(part, "inlineData", "inline_data");
  if (!blob.type) blob = member(part, "fileData", "file_data");
  if (blob.type == NP_JSON_OBJECT) return blob_kind(blob);
  np_json_get(part, "type", &type);
  for (size_t i = 0; type.type == NP_JSON_STRING && i < NP_COUNT(types); i++) {
    if (np_json_is_key(type.raw, types[i].type)) return types[i].kind;
  }
  return NP_KIND_TEXT;
}

/* A document in plain text is read as such. */
static bool is_plain(np_json part, np_json *words) {
  np_json source, type;
  return np_json_get(part, "source", &source) && np_json_get(source, "type", &type) &&
         type.type == NP_JSON_STRING && np_json_is_key(type.raw, "text") &&
         np_json_get(source, "data", words) && words->type == NP_JSON_STRING;
}

bool np_inner_next(np_inners *all, np_inner *out) {
  if (all->lead.type) {
    *out = (np_inner){NP_KIND_TEXT, all->lead, all->lead};
    all->lead = (np_json){0};
    return true;
  }
  np_json part, words;
  if (!np_json_next(&all->it, NULL, &part)) return false;
  *out = (np_inner){kind_of(part), part, part};
  if (out->kind == NP_KIND_FILE && is_plain(part, &out->words)) out->kind = NP_KIND_TEXT;
  else if (out->kind == NP_KIND_TEXT &&
           (np_json_get(part, "text", &words) || np_json_get(part, "refusal", &words)) &&
           words.type == NP_JSON_STRING)
    out->words = words;
  return true;
}

void np_inner_text(const np_inner *in, np_buf *out) {
  if (in->kind != NP_KIND_TEXT) np_buf_adds(out, NP_RESULT_OMITTED);
  else if (in->words.type == NP_JSON_STRING) np_json_text(in->words, out);
  else np_json_copy_repaired(in->words.raw, out);
}

uint32_t np_inner_tokens(const np_view *v, const np_inner *in) {
  np_buf b;
  np_buf_init(&b, np_temp(v));
  np_inner_text(in, &b);
  uint32_t n = np_part_count(v, np_buf_str(&b));
  if (b.failed) np_view_lose(v);
  np_buf_free(&b);
  return n;
}

bool np_inner_crosses(const np_view *v, const np_entry *result, np_inner_takes takes) {
  np_inner in;
  if (!result->pair || result->opaque ||
      np_view_message(v, result)->shape == v->format->shape)
    return false;
  np_inners all = np_inner_each(v, result);
  while (np_inner_next(&all, &in)) {
    if (in.kind != NP_KIND_TEXT && takes(v, in.part, in.kind)) return true;
  }
  return false;
}

/* A file whose pages cannot be read is taken for one. */
uint32_t np_inner_data_tokens(const np_view *v, const np_inner *in) {
  np_picture file;
  uint32_t pages;
  np_buf b;
  if (in->kind == NP_KIND_IMAGE)
    return np_image_tokens(v->model->image, np_image_read(in->part), NULL);
  if (np_document_read(in->part, &pages)) return np_document_tokens(v->model, pages);
  if (np_picture_read(in->part, &file) && file.data.n &&
      np_str_is(file.type, "application/pdf"))
    return np_document_tokens(v->model, 1);
  np_buf_init(&b, np_temp(v));
  np_json_copy_repaired(in->part.raw, &b);
  uint32_t n = np_part_count(v, np_buf_str(&b));
  if (b.failed) np_view_lose(v);
  np_buf_free(&b);
  return n;
}
