/*
** Image parts of every provider's form: type, bytes, address. next: openai.c
*/
#include "render/parts.h"

static np_str inside(np_json string) {
  return string.type == NP_JSON_STRING ? np_str_cut(string.raw, 1, string.raw.n - 1)
                                       : NP_LIT("");
}

/* A data URL holds type and bytes; any other is an address. */
static void take_url(np_picture *im, np_str url) {
  size_t at = np_str_find(url, NP_LIT(";base64,"), 0);
  if (url.n < 5 || memcmp(url.p, "data:", 5) != 0 || at == SIZE_MAX) {
    im->url = url;
    return;
  }
  im->type = np_str_cut(url, 5, at);
  im->data = np_str_cut(url, at + 8, url.n);
}

static void take_member(np_json object, const char *a, const char *b, np_str *out) {
  np_json v;
  if (np_json_get(object, a, &v) || np_json_get(object, b, &v)) *out = inside(v);
}

bool np_picture_read(np_json part, np_picture *out) {
  np_json v, url;
  *out = (np_picture){NP_LIT(""), NP_LIT(""), NP_LIT("")};
  if (np_json_get(part, "image_url", &v)) {
    if (!np_json_get(v, "url", &url)) url = v;
    take_url(out, inside(url));
  } else if (np_json_get(part, "source", &v)) {
    take_member(v, "media_type", "mediaType", &out->type);
    take_member(v, "data", "data", &out->data);
    take_member(v, "url", "url", &out->url);
  } else if (np_json_get(part, "inlineData", &v) ||
             np_json_get(part, "inline_data", &v)) {
    take_member(v, "mimeType", "mime_type", &out->type);
    take_member(v, "data", "data", &out->data);
  } else if (np_json_get(part, "file_data", &v) && v.type == NP_JSON_STRING) {
    take_url(out, inside(v));
  } else if (np_json_get(part, "fileData", &v) || np_json_get(part, "file_data", &v)) {
    take_member(v, "mimeType", "mime_type", &out->type);
    take_member(v, "fileUri", "file_uri", &out->url);
  } else if (np_json_get(part, "file", &v) && np_json_get(v, "file_data", &url)) {
    take_url(out, inside(url));
  } else { /* as tools give them: data and mimeType side by side */
    take_member(part, "mimeType", "media_type", &out->type);
    take_member(part, "data", "data", &out->data);
  }
  return out->data.n || out->url.n;
}
