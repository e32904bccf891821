/*
** The table of models: which row a name gets, and what images cost by each provider's rule,
** in every form of part. Figures are those of the guides and of published measurements.
** next: test_openai_count.c
*/
#include "check.h"
#include "base/mem.h"
#include "render/document.h"

static const char *row_of(const char *name) {
  const np_model *m = np_model_find(np_str_cstr(name));
  return m ? m->name : "";
}

static void test_names(void) {
  static const struct {
    const char *name, *row;
  } cases[] = {{"gpt-4o-2024-08-06", "gpt-4o"},
               {"gpt-4o-mini", "gpt-4o-mini"},
               {"gpt-4-0613", "gpt-4"},
               {"gpt-4.1-mini-2025-04-14", "gpt-4.1-mini"},
               {"gpt-5", "gpt-5"},
               {"gpt-5.1", "gpt-5.1"},
               {"gpt-5.6", "gpt-5."},
               {"o3-pro", "o3"},
               {"claude-opus-4-20250514", "claude-opus-4"},
               {"claude-opus-4-7", "claude-opus-4-7"},
               {"claude-fable-5", "claude"},
               {"anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"},
               {"us.anthropic.claude-opus-5-v1:0", "claude-opus-5"},
               {"models/gemini-2.5-pro", "gemini-2"},
               {"gemini-4-argon", "gemini"},
               {"", ""},
               {"llama-3.3", ""},
               {"my-gpt", ""}};
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    const char *row = row_of(cases[i].name);
    if (strcmp(row, cases[i].row) != 0)
      fprintf(stderr, "%s: row %s, not %s\n", cases[i].name, row, cases[i].row);
    CHECK("a name has the longest row that it begins with", !strcmp(row, cases[i].row));
  }
}

/* What every row must keep for the budget to hold. */
static void test_rows(void) {
  for (size_t i = 0; np_model_at(i); i++) {
    const np_model *m = np_model_at(i);
    CHECK("an exact model has no factor and no bound",
          !m->exact || (m->factor == NP_MILLION && m->bound == 0));
    CHECK("an estimate states its bound",
          m->exact || (m->bound > 0 && m->bound <= 500000));
    CHECK("a factor is one", m->factor >= 500000 && m->factor <= 2 * NP_MILLION);
    CHECK("a row has source, date and images", m->source[0] && m->date[0] && m->image);
    CHECK("a row is found by its name", np_model_find(np_str_cstr(m->name)) == m);
    for (size_t j = 0; j < i; j++)
      CHECK("a row stands once", strcmp(np_model_at(j)->name, m->name) != 0);
  }
  static const char *const formats[] = {"openai",    "responses", "text",
                                        "anthropic", "gemini",    "new"};
  for (size_t i = 0; i < NP_COUNT(formats); i++) {
    const np_model *m = np_model_default(np_str_cstr(formats[i]));
    CHECK("a format has a model", m != NULL);
    CHECK("exact where the vocabulary is public", m->exact == (i < 3 || i == 5));
  }
}

/* ---- images ---- */

static void test_rules(void) {
  static const struct {
    const char *model;
    uint32_t w, h, tokens;
  } cases[] = {
      {"gpt-4o", 1024, 1024, 765},
      {"gpt-4o-mini", 128, 64, 8500},
      {"o3", 128, 64, 225},
      {"gpt-5", 1024, 1024, 630},
      {"gpt-4.1-mini", 1024, 1024, 1659}, /* 1,024 patches */
      {"gpt-4.1-mini", 1800, 2400, 2353}, /* 1,452 patches */
      {"gpt-4.1-nano", 32, 32, 3},
      {"gpt-6", 256, 256, 77},
      {"gpt-6", 768, 768, 692},
      {"gpt-6", 1280, 720, 1104},
      {"gpt-6", 3840, 2160, 9792},
      {"claude-haiku-4-5", 256, 256, 100},
      {"claude-haiku-4-5", 512, 512, 361},
      {"claude-haiku-4-5", 768, 768, 784},
      {"claude-haiku-4-5", 1024, 1024, 1369},
      {"claude-haiku-4-5", 1280, 720, 1196},
      {"claude-opus-5", 1280, 720, 1196},
      {"claude-opus-5", 1920, 1080, 2691},
      {"gemini-2.5-pro", 384, 384, 258},
      {"gemini-2.5-pro", 385, 384, 4 * 258},
      {"gemini-2.5-pro", 960, 540, 6 * 258},
      {"gemini-3-pro", 1, 1, 1120},
      {"gemini-3-pro", 4000, 4000, 1120},
  };
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    const np_model *m = np_model_find(np_str_cstr(cases[i].model));
    bool sure = false;
    uint32_t n =
        np_image_tokens(m->image, (np_image){cases[i].w, cases[i].h, false}, &sure);
    if (n != cases[i].tokens)
      fprintf(stderr, "%s %u x %u: %u, not %u\n", cases[i].model, cases[i].w, cases[i].h,
              n, cases[i].tokens);
    CHECK("an image costs what its rule says", n == cases[i].tokens && sure);
  }
}

/* Whatever the size: never more than an image of unknown size, never nothing. */
static void test_most(void) {
  static const uint32_t sides[] = {1, 27, 384, 385, 1568, 2576, 4096, 8000};
  for (size_t i = 0; np_model_at(i); i++) {
    const np_image_cost *c = np_model_at(i)->image;
    bool sure = true;
    uint32_t most = np_image_tokens(c, (np_image){0, 0, false}, &sure);
    CHECK("a size that is not known is a guess", sure == (c->rule == NP_IMAGE_FLAT));
    for (size_t a = 0; a < NP_COUNT(sides); a++) {
      for (size_t b = 0; b < NP_COUNT(sides); b++) {
        uint32_t n = np_image_tokens(c, (np_image){sides[a], sides[b], false}, NULL);
        if (n > most || !n)
          fprintf(stderr, "%s %u x %u: %u of at most %u\n", np_model_at(i)->name,
                  sides[a], sides[b], n, most);
        CHECK("an image costs at most the most", n && n <= most);
      }
    }
  }
  uint32_t n = np_image_tokens(np_model_find(NP_LIT("claude"))->image,
                               (np_image){UINT32_MAX, UINT32_MAX, false}, NULL);
  CHECK("a size beyond all limits is shrunk", n && n <= 4784);
}

/* A PNG of 1024 x 1024 in the forms of four providers. */
#define PNG "iVBORw0KGgoAAAANSUhEUgAABAAAAAQA"

static void test_parts(void) {
  static const char *const forms[] = {
      "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64," PNG
      "\"}}",
      "{\"type\":\"input_image\",\"image_url\":\"data:image\\/png;base64," PNG "\"}",
      "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\","
      "\"data\":\"" PNG "\"}}",
      "{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"" PNG "\"}}",
      "{\"inline_data\":{\"mime_type\":\"image/png\",\"data\":\"" PNG "\"}}"};
  static const char *const elsewhere[] = {
      "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://x/y.png\"}}",
      "{\"type\":\"input_image\",\"file_id\":\"f1\"}",
      "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://x\"}}",
      "{\"fileData\":{\"fileUri\":\"gs://x\"}}",
      "{\"inlineData\":{\"data\":\"!\"}}",
      "{\"type\":\"image\",\"source\":{\"data\":5}}"};
  np_json part;
  for (size_t i = 0; i < NP_COUNT(forms); i++) {
    np_json_check(np_str_cstr(forms[i]), &part, NULL);
    np_image im = np_image_read(part);
    CHECK("a picture's size is read", im.w == 1024 && im.h == 1024 && !im.low);
  }
  for (size_t i = 0; i < NP_COUNT(elsewhere); i++) {
    np_json_check(np_str_cstr(elsewhere[i]), &part, NULL);
    np_image im = np_image_read(part);
    CHECK("a picture that is elsewhere has no size", im.w == 0 && im.h == 0);
  }
  np_json_check(NP_LIT("{\"type\":\"input_image\",\"image_url\":\"https://x\",\"detail\":"
                       "\"low\"}"),
                &part, NULL);
  bool sure = false;
  np_image im = np_image_read(part);
  CHECK("low detail costs the base, wherever it is",
        np_image_tokens(np_model_find(NP_LIT("gpt-4o"))->image, im, &sure) == 85 && sure);
}

static np_image read_bytes(const uint8_t *p, size_t n) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char text[600] = "{\"inlineData\":{\"data\":\"";
  size_t at = strlen(text);
  for (size_t i = 0; i < n; i += 3) {
    uint32_t bits = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
                    (i + 2 < n ? p[i + 2] : 0u);
    for (int j = 0; j < 4; j++) text[at++] = digits[bits >> (18 - 6 * j) & 63];
  }
  memcpy(text + at, "\"}}", 4);
  np_json part;
  np_json_check(np_str_cstr(text), &part, NULL);
  return np_image_read(part);
}

/* Headers of WebP as the format's description has them: 300 x 200 each. */
static void test_webp(void) {
  static const uint8_t lossy[36] = "RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0\x30\1\0\x9D\x01\x2A"
                                   "\x2C\x01\xC8\0",
                       lossless[36] =
                           "RIFF\x24\0\0\0WEBPVP8L\x18\0\0\0\x2F\x2B\xC1\x31\0",
                       extended[36] = "RIFF\x24\0\0\0WEBPVP8X\x0A\0\0\0\x10\0\0\0\x2B\1\0"
                                      "\xC7\0\0";
  static const uint8_t *const all[] = {lossy, lossless, extended};
  for (size_t i = 0; i < NP_COUNT(all); i++) {
    np_image im = read_bytes(all[i], 36);
    if (im.w != 300 || im.h != 200) fprintf(stderr, "WebP %zu: %u x %u\n", i, im.w, im.h);
    CHECK("a WebP's size is read", im.w == 300 && im.h == 200);
    im = read_bytes(all[i], 20);
    CHECK("a header cut short has no size", im.w == 0 && im.h == 0);
  }
}

/* ---- documents ---- */

static bool read_pdf(const char *pdf, const char *head, const char *tail,
                     uint32_t *pages) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t n = strlen(pdf);
  np_buf b;
  np_json part;
  np_buf_init(&b, &np_alloc_libc);
  np_buf_adds(&b, head);
  for (size_t i = 0; i < n; i += 3) {
    uint32_t bits = (uint32_t)(uint8_t)pdf[i] << 16 |
                    (i + 1 < n ? (uint32_t)(uint8_t)pdf[i + 1] << 8 : 0) |
                    (i + 2 < n ? (uint8_t)pdf[i + 2] : 0u);
    for (int j = 0; j < 4; j++)
      np_buf_addc(&b, i + (size_t)j <= n ? digits[bits >> (18 - 6 * j) & 63] : '=');
  }
  np_buf_adds(&b, tail);
  CHECK("a document part is JSON", np_json_check(np_buf_str(&b), &part, NULL) == NEAP_OK);
  bool found = np_document_read(part, pages);
  np_buf_free(&b);
  return found;
}

static void test_documents(void) {
  static const char three[] = "%PDF-1.4 /Type /Pages /Kids /Type/Page /Type\n/Page>> "
                              "/Type/PageLabel //Type/Page /Type/Type/Page ",
                    none[] = "%PDF-1.7 compressed";
  static const char *const forms[][2] = {
      {"{\"type\":\"file\",\"file\":{\"file_data\":\"data:application/pdf;base64,",
       "\"}}"},
      {"{\"type\":\"input_file\",\"file_data\":\"data:application\\/pdf;base64,", "\"}"},
      {"{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"data\":\"", "\"}}"},
      {"{\"inlineData\":{\"mimeType\":\"application/pdf\",\"data\":\"", "\"}}"}};
  static const char *const elsewhere[] = {
      "{\"type\":\"file\",\"file\":{\"file_id\":\"f\"}}",
      "{\"type\":\"input_file\",\"file_url\":\"https://x\"}",
      "{\"type\":\"document\",\"source\":{\"type\":\"url\",\"url\":\"https://x\"}}",
      "{\"fileData\":{\"fileUri\":\"gs://x\"}}"};
  static const char *const others[] = {
      "{\"type\":\"document\",\"source\":{\"type\":\"text\",\"data\":\"low tide\"}}",
      "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"JVBERi0x\"}}", "{}", "[]"};
  uint32_t pages;
  np_json part;
  for (size_t i = 0; i < NP_COUNT(forms); i++) {
    CHECK("pages are counted",
          read_pdf(three, forms[i][0], forms[i][1], &pages) && pages == 4);
    CHECK("or guessed by the size",
          read_pdf(none, forms[i][0], forms[i][1], &pages) && pages == 1);
  }
  for (size_t i = 0; i < NP_COUNT(elsewhere); i++) {
    np_json_check(np_str_cstr(elsewhere[i]), &part, NULL);
    CHECK("a document elsewhere has pages too",
          np_document_read(part, &pages) && pages == 10);
  }
  for (size_t i = 0; i < NP_COUNT(others); i++) {
    np_json_check(np_str_cstr(others[i]), &part, NULL);
    CHECK("what is no document is not taken for one", !np_document_read(part, &pages));
  }
  CHECK("a page costs what the model's row says",
        np_document_tokens(np_model_find(NP_LIT("gemini-2.5-pro")), 7) == 7 * 258 &&
            np_document_tokens(np_model_find(NP_LIT("claude-opus-5")), 1) == 7784);
  for (size_t i = 0; np_model_at(i); i++)
    CHECK("every row has a page", np_model_at(i)->page >= 258);
}

int main(void) {
  test_documents();

  test_names();
  test_rows();
  test_rules();
  test_most();
  test_parts();
  test_webp();
  return check_done();
}
