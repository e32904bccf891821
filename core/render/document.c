/*
** Counting a PDF's pages without reading it: objects of type Page are counted as the base64
** text is decoded. Newer files may keep them in compressed streams; then the size is all
** there is to go by. next: model.c
*/
#include "render/document.h"

#define ELSEWHERE 10 /* pages of a document that is not here */
#define PAGE_BYTES                                                                       \
  16384 /* of a compressed file: pages of text have more, pictures fewer */

static np_str inside(np_json v) {
  return v.type == NP_JSON_STRING && v.raw.n >= 2 ? np_str_cut(v.raw, 1, v.raw.n - 1)
                                                  : NP_LIT("");
}

static bool member(np_json object, const char *a, const char *b, np_json *out) {
  return np_json_get(object, a, out) || (b && np_json_get(object, b, out));
}

/* The base64 text behind a data URL's comma, or all of it. */
static np_str bytes_of(np_str text) {
  size_t at = np_str_find(np_str_cut(text, 0, 100), NP_LIT("base64,"), 0);
  return at == SIZE_MAX ? text : np_str_cut(text, at + 7, text.n);
}

/* "%PDF" in base64 is JVBERi or, two bits on, JVBERj. */
static bool is_pdf(np_str text) {
  return text.n > 8 && memcmp(text.p, "JVBER", 5) == 0;
}

/* What the part holds: the base64 text of a file, or an address of one. */
static np_str data_of(np_json part, bool *elsewhere) {
  static const char *const holders[] = {"file", "source", "inlineData", "inline_data"};
  static const char *const places[] = {"file_id", "file_url", "url", "fileUri",
                                       "file_uri"};
  np_json holder = part, v;
  for (size_t i = 0; i < NP_COUNT(holders); i++) {
    if (np_json_get(part, holders[i], &v)) holder = v;
  }
  if (member(part, "fileData", "file_data", &v) && v.type == NP_JSON_OBJECT) holder = v;
  *elsewhere = false;
  if (member(holder, "data", "file_data", &v) && v.type == NP_JSON_STRING)
    return bytes_of(inside(v));
  for (size_t i = 0; i < NP_COUNT(places); i++) {
    if (np_json_get(holder, places[i], &v)) *elsewhere = true;
  }
  return NP_LIT("");
}

static int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* Finds "/Type /Page", white space as it likes, and no letter behind: /Pages is a tree. */
typedef struct finder {
  size_t at; /* how much of it stands before */
  uint32_t pages;
  size_t bytes;
} finder;

static void look(finder *f, uint8_t c) {
  static const char wanted[] = "/Type/Page";
  f->bytes++;
  if (f->at == sizeof wanted - 1) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && f->pages < UINT32_MAX) f->pages++;
    f->at = 0;
  }
  bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
  if (blank && f->at == 5) return;
  if (c == (uint8_t)wanted[f->at]) f->at++;
  else f->at = f->at == 6 && c == 'T' ? 2 : c == '/'; /* the slash may begin it again */
}

static void decode(np_str text, finder *f) {
  uint32_t bits = 0;
  int have = 0;
  for (size_t i = 0; i < text.n; i++) {
    int v = sextet(text.p[i]);
    if (v < 0) continue; /* \/ of JSON, line ends, padding */
    bits = bits << 6 | (uint32_t)v;
    if ((have += 6) < 8) continue;
    look(f, (uint8_t)(bits >> (have -= 8)));
  }
}

bool np_document_read(np_json part, uint32_t *pages) {
  bool elsewhere;
  finder f = {0};
  np_str text = data_of(part, &elsewhere);
  *pages = ELSEWHERE;
  if (!is_pdf(text)) return elsewhere;
  decode(text, &f);
  size_t guess = f.bytes / PAGE_BYTES + 1;
  *pages = f.pages ? f.pages : guess > UINT32_MAX ? UINT32_MAX : (uint32_t)guess;
  return true;
}

uint32_t np_document_tokens(const np_model *m, uint32_t pages) {
  uint64_t n = (uint64_t)pages * m->page;
  return n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)n;
}
