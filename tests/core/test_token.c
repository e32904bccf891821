/*
** The tokenizer against known values: cases of our own, the golden strings and files
** where they are at hand, special tokens, decoding, and vocabulary files that are damaged
** in every place. Properties on random texts have a file of their own.
** next: test_token_random.c
*/
#include "check.h"

#include "base/hash.h"
#include "base/json.h"
#include "token/vocab.h"

static np_vocab *vocabs[2]; /* in the order of np_encoding_at */

static const char *data_dir(void) {
  const char *dir = getenv("NEAP_TEST_VOCAB");
  return dir ? dir : "core/token/data";
}

/* ---- helpers ----------------------------------------------------------------------- */

typedef struct ids {
  uint32_t *p;
  size_t n, cap;
} ids;

static bool encode(const np_vocab *v, np_str text, bool special, ids *out) {
  np_err e;
  out->n = 0;
  return np_vocab_encode(v, text, special, &np_alloc_libc, &out->p, &out->n, &out->cap,
                         &e) == NEAP_OK;
}

static bool same_ids(const ids *got, const uint32_t *want, size_t n) {
  bool same = got->n == n && (n == 0 || memcmp(got->p, want, n * sizeof *want) == 0);
  if (same) return true;
  fprintf(stderr, "  got:     ");
  for (size_t i = 0; i < got->n; i++) fprintf(stderr, " %u", got->p[i]);
  fprintf(stderr, "\n  expected:");
  for (size_t i = 0; i < n; i++) fprintf(stderr, " %u", want[i]);
  fprintf(stderr, "\n");
  return false;
}

static char *read_file(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  long size = ftell(f);
  rewind(f);
  char *p = size < 0 ? NULL : malloc((size_t)size + 1);
  *n = p ? fread(p, 1, (size_t)size, f) : 0;
  fclose(f);
  return p;
}

/* ---- own cases --------------------------------------------------------------------- */

static const struct own {
  const char *text;
  size_t n;
  uint32_t want[2][12]; /* o200k_base, cl100k_base; ended by NP_TOKEN_NONE */
} own[] = {
#define END NP_TOKEN_NONE
#define OWN(s) s, sizeof(s) - 1
    {OWN("hello world"), {{24912, 2375, END}, {15339, 1917, END}}},
    {OWN("Hello, World!"), {{13225, 11, 5922, 0, END}, {9906, 11, 4435, 0, END}}},
    {OWN("don't DON'T it's"),
     {{91418, 153384, 4275, END}, {15357, 956, 45373, 17773, 433, 596, END}}},
    {OWN("tokenization"), {{10346, 2860, END}, {5963, 2065, END}}},
    {OWN("unbelievablyxyzq"),
     {{373, 9880, 153516, 51089, 80, END}, {359, 32898, 89234, 29954, 80, END}}},
    {OWN("12345678"), {{7633, 19354, 4388, END}, {4513, 10961, 2495, END}}},
    {OWN("  \n  x\t1"),
     {{4066, 220, 1215, 197, 16, END}, {2355, 220, 865, 197, 16, END}}},
    {OWN("a\r\n\r\nb"), {{64, 1414, 65, END}, {64, 881, 65, END}}},
    {OWN("\xE4\xBD\xA0\xE5\xA5\xBD\xEF\xBC\x8C\xE4\xB8\x96\xE7\x95\x8C"),
     {{177519, 979, 28428, END}, {57668, 53901, 3922, 3574, 244, 98220, END}}},
    {OWN("na\xC3\xAFve caf\xC3\xA9"),
     {{1503, 9954, 737, 30469, END}, {3458, 38672, 588, 53050, END}}},
    {OWN("/* x */ //\n//"),
     {{2965, 1215, 932, 74828, END}, {1075, 865, 642, 6611, 322, END}}},
    {OWN("HTTPServerError"), {{17893, 6444, 2255, END}, {9412, 39609, END}}},
    {OWN("\xC2\xAA"
         "BCd \xC3\x80\xC2\xAA"
         "BC,"),
     {{25661, 7551, 67, 27643, 25661, 7551, 11, END},
      {65005, 5002, 67, 65381, 65005, 5002, 11, END}}},
    {OWN("\xCC\x81"
         "ABC"),
     {{13430, 44197, END}, {54939, 26484, END}}},
    {OWN("<|endoftext|>"),
     {{27, 91, 419, 1440, 919, 91, 29, END}, {27, 91, 8862, 728, 428, 91, 29, END}}},
    {OWN("it'\xC5\xBF"), {{278, 6, 70067, END}, {275, 6, 129, 123, END}}},
    {OWN("\x00\x01"), {{188, 189, END}, {188, 189, END}}},
    {OWN("    if (x) {\n        return;\n"),
     {{271, 538, 350, 87, 8, 405, 309, 622, 307, END},
      {262, 422, 320, 87, 8, 341, 286, 471, 280, END}}},
};

static void check_own(void) {
  ids got = {NULL, 0, 0};
  for (size_t i = 0; i < NP_COUNT(own); i++) {
    np_str text = {own[i].text, own[i].n};
    for (int k = 0; k < 2; k++) {
      size_t n = 0;
      while (own[i].want[k][n] != END) n++;
      CHECK("a known string has its ids",
            encode(vocabs[k], text, false, &got) && same_ids(&got, own[i].want[k], n));
      CHECK("a known string has its count", np_vocab_count(vocabs[k], text) == n);
    }
  }
  free(got.p);
}

/* Pieces as the patterns cut them, apart by '|'. */
static const struct cut {
  np_split_kind kind;
  const char *pieces;
} cuts[] = {
    {NP_SPLIT_O200K, "Hello| World|!"},
    {NP_SPLIT_O200K, "don't| DON'T| it's| we'll| x're|'x"},
    {NP_SPLIT_CL100K, "don|'t| DON|'T| we|'ll| x|'re|'x"},
    {NP_SPLIT_CL100K, "'s|abc"},
    {NP_SPLIT_O200K, "'sabc"},
    {NP_SPLIT_O200K, "Camel|Case|HTTPServer|XML"},
    {NP_SPLIT_CL100K, "CamelCaseHTTPServerXML"},
    {NP_SPLIT_O200K, "\xC3\x80\xC2\xAA|BC|,"}, /* À ª: the seam is at ª */
    {NP_SPLIT_O200K, "\xC3\x80\xC2\xAA"
                     "BCd"},
    {NP_SPLIT_O200K, "\xCC\x81|ABC|\t\xCC\x81"
                     "abc"}, /* a mark before upper case */
    {NP_SPLIT_CL100K, "\xCC\x81"
                      "ABC|!\xCC\x81|\t|\xCC\x81|1"},
    {NP_SPLIT_O200K, "123|456|7|x|8"},
    {NP_SPLIT_O200K, "a| //\n//|b"},
    {NP_SPLIT_CL100K, "a| //\n|//|b"},
    {NP_SPLIT_O200K, "  \n| | x| | |1|\t|2"},
    {NP_SPLIT_O200K, "a| \n\n \n|  "},
    {NP_SPLIT_O200K, "\xE4\xBD\xA0\xE5\xA5\xBD|\xEF\xBC\x8C\xE4\xB8\x96\xE7\x95\x8C"},
    {NP_SPLIT_O200K, "\xE3\x80\x80|1|\xC2\x85|1"},      /* white space beyond ASCII */
    {NP_SPLIT_O200K, "it'\xC5\xBF|'\xC5\xBF"},          /* the long s folds to s */
    {NP_SPLIT_O200K, "\xFF\xFE\x80|a| \xED\xA0\x80|1"}, /* invalid bytes are symbols */
    {NP_SPLIT_O200K, "\xFF"
                     "a|\xE4\xBD|1|\xF0\x9F\x98\x80\xF4\x90\x80\x80"},
    {NP_SPLIT_O200K, "\xF0\x9E\x97\x90|1"}, /* a letter of Unicode 16.0 */
};

static void check_cuts(void) {
  for (size_t i = 0; i < NP_COUNT(cuts); i++) {
    char text[128], got[256] = "";
    size_t n = 0, m = 0;
    for (const char *s = cuts[i].pieces; *s; s++) {
      if (*s != '|') text[n++] = *s;
    }
    const uint8_t *p = (const uint8_t *)text, *end = p + n;
    while (p < end) {
      size_t size = np_split_next(cuts[i].kind, p, end);
      if (m) got[m++] = '|';
      memcpy(got + m, p, size);
      m += size;
      p += size;
    }
    got[m] = '\0';
    CHECK("the splitter cuts as the pattern does", strcmp(got, cuts[i].pieces) == 0);
    if (strcmp(got, cuts[i].pieces) != 0) {
      fprintf(stderr, "  got:      %s\n  expected: %s\n", got, cuts[i].pieces);
    }
  }
}

/* ---- golden data ------------------------------------------------------------------- */

static size_t read_ids(np_json list, uint32_t *out, size_t room) {
  size_t n = 0;
  np_json item;
  for (np_json_iter it = np_json_each(list); np_json_next(&it, NULL, &item) && n < room;
       n++) {
    out[n] = (uint32_t)strtoul(item.raw.p, NULL, 10);
  }
  return n;
}

static bool check_line(np_str line) {
  static uint32_t want[4096];
  np_json json, text, list;
  np_buf b;
  ids got = {NULL, 0, 0};
  if (np_json_check(line, &json, NULL) != NEAP_OK) return false;
  np_buf_init(&b, &np_alloc_libc);
  bool ok = np_json_get(json, "text", &text);
  if (ok) np_json_text(text, &b);
  for (size_t k = 0; ok && k < 2; k++) {
    ok = np_json_get(json, np_encoding_at(k)->name, &list);
    size_t n = read_ids(list, want, NP_COUNT(want));
    ok = ok && encode(vocabs[k], np_buf_str(&b), false, &got) &&
         same_ids(&got, want, n) && np_vocab_count(vocabs[k], np_buf_str(&b)) == n;
  }
  if (!ok) fprintf(stderr, "  input: %.*s\n", (int)line.n, line.p);
  free(got.p);
  np_buf_free(&b);
  return ok;
}

static void check_golden_strings(const char *shared) {
  char path[600];
  snprintf(path, sizeof path, "%s/vocab/golden-small.jsonl", shared);
  size_t n = 0, lines = 0;
  char *p = read_file(path, &n);
  CHECK("the golden strings can be read", p != NULL);
  for (size_t at = 0; p && at < n; lines++) {
    const char *eol = memchr(p + at, '\n', n - at);
    size_t size = eol ? (size_t)(eol - p) - at : n - at;
    CHECK("a golden string has its ids", check_line(np_str_of(p + at, size)));
    at += size + 1;
  }
  CHECK("there are 494 golden strings", lines == 494);
  free(p);
}

static bool check_file(const np_vocab *v, np_str text, np_json want) {
  np_json tokens, sum;
  ids got = {NULL, 0, 0};
  if (!np_json_get(want, "tokens", &tokens) || !np_json_get(want, "ids_sha256", &sum)) {
    return false;
  }
  size_t n = strtoul(tokens.raw.p, NULL, 10);
  bool ok = np_vocab_count(v, text) == n && encode(v, text, false, &got) && got.n == n;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  ok = ok && np_vocab_decode(v, got.p, got.n, &b, NULL) == NEAP_OK &&
       np_str_eq(np_buf_str(&b), text);
  np_buf_free(&b);
  uint8_t *le = malloc(n * 4 + 1), digest[NP_SHA256];
  char hex[2 * NP_SHA256];
  for (size_t i = 0; ok && i < 4 * n; i++)
    le[i] = (uint8_t)(got.p[i / 4] >> (8 * (i % 4)));
  if (ok) np_sha256(np_str_of((char *)le, n * 4), digest);
  if (ok) np_hex(digest, NP_SHA256, hex);
  ok = ok && sum.raw.n == sizeof hex + 2 && memcmp(sum.raw.p + 1, hex, sizeof hex) == 0;
  free(le);
  free(got.p);
  return ok;
}

static void check_corpus(const char *shared) {
  char path[700];
  snprintf(path, sizeof path, "%s/corpus/golden.json", shared);
  size_t n = 0, files = 0;
  char *p = read_file(path, &n);
  np_json json, list = {NP_JSON_NONE, NP_LIT("")}, file, all, want;
  np_str key;
  bool ok = p && np_json_check(np_str_of(p, n), &json, NULL) == NEAP_OK &&
            np_json_get(json, "files", &list);
  CHECK("the list of golden files can be read", ok);
  for (np_json_iter it = np_json_each(list); ok && np_json_next(&it, &key, &file);
       files++) {
    snprintf(path, sizeof path, "%s/corpus/%.*s", shared, (int)key.n - 2, key.p + 1);
    size_t size = 0;
    char *text = read_file(path, &size);
    for (size_t k = 0; text && k < 2; k++) {
      bool same = np_json_get(file, "encodings", &all) &&
                  np_json_get(all, np_encoding_at(k)->name, &want) &&
                  check_file(vocabs[k], np_str_of(text, size), want);
      CHECK("a golden file has its ids", same);
      if (!same) fprintf(stderr, "  file %s, %s\n", path, np_encoding_at(k)->name);
    }
    CHECK("a golden file can be read", text != NULL);
    free(text);
  }
  CHECK("there are 13 golden files", files == 13);
  free(p);
}

/* ---- special tokens and decoding --------------------------------------------------- */

static void check_special(void) {
  ids got = {NULL, 0, 0};
  np_buf b;
  np_err e;
  np_buf_init(&b, &np_alloc_libc);
  np_str text = NP_LIT("a<|endoftext|><|endofprompt|>b<|endoftext");
  static const uint32_t begin[] = {64, 199999, 200018, 65};
  CHECK("special text becomes special ids when asked for",
        encode(vocabs[0], text, true, &got) && got.n > 4 &&
            memcmp(got.p, begin, sizeof begin) == 0);
  CHECK("special ids decode to their text",
        np_vocab_decode(vocabs[0], got.p, got.n, &b, &e) == NEAP_OK &&
            np_str_eq(np_buf_str(&b), text));
  bool plain = encode(vocabs[0], text, false, &got);
  for (size_t i = 0; i < got.n; i++) plain = plain && got.p[i] < 199998;
  CHECK("special text is ordinary text by default", plain);
  CHECK("special text counts as ordinary text", np_vocab_count(vocabs[0], text) == got.n);
  static const uint32_t bad[] = {64, 65, 199998, 66};
  CHECK("an id that is none is refused with its index",
        np_vocab_decode(vocabs[0], bad, 4, &b, &e) == NEAP_E_ARG && e.pos == 2);
  CHECK("the empty text has no tokens",
        np_vocab_count(vocabs[0], NP_LIT("")) == 0 &&
            np_vocab_count(vocabs[0], (np_str){NULL, 0}) == 0);
  np_buf_free(&b);
  free(got.p);
}

static void check_ids(void) {
  for (size_t k = 0; k < 2; k++) {
    const np_vocab *v = vocabs[k];
    bool found = true, whole = true;
    ids got = {NULL, 0, 0};
    for (uint32_t id = 0; id < v->tokens; id++) {
      uint8_t text[NP_TOKEN_LONGEST];
      size_t n = np_token_copy(v, id, text);
      found = found && np_vocab_find(v, text, n) == id && np_token_len(v, id) == n;
      np_merge m = np_token_merge(v, id);
      whole = whole && (m.left == id ? n == 1 : np_vocab_pair(v, m.left, m.right) == id);
    }
    CHECK("every token is found by its bytes", found);
    CHECK("every token is found by its merge", whole);
    free(got.p);
  }
}

/* ---- vocabulary files -------------------------------------------------------------- */

/* Parses a copy of `file` after `change`d bytes; refused means: with a code and a
** line. */
static bool refused(np_str file, const char *word) {
  np_vocab *v = NULL;
  np_err e = {NEAP_OK, 0, ""};
  neap_rc rc = np_vocab_from_bytes(&np_alloc_libc, "x.neapvocab", file, &v, &e);
  bool ok = rc == NEAP_E_VOCAB && !v && strstr(e.text, word) &&
            strstr(e.text, "x.neapvocab") && strstr(e.text, "make vocab");
  if (!ok) fprintf(stderr, "  got %s: %s\n", neap_rc_name(rc), e.text);
  np_vocab_free(v);
  return ok;
}

/* Puts the right checksum behind changed content, so that the values themselves are
** read. */
static void sign(char *p, size_t n) {
  np_sha256(np_str_of(p, n - NP_SHA256), (uint8_t *)p + n - NP_SHA256);
}

static void check_damage(void) {
  char path[600];
  snprintf(path, sizeof path, "%s/cl100k_base.neapvocab", data_dir());
  size_t n = 0;
  char *good = read_file(path, &n), *p = malloc(n + 1);
  CHECK("the shipped file can be read", good && n > 1000);
  if (!good || !p || n <= 1000) return;
#define CHANGED(at, value, word)                                                         \
  (memcpy(p, good, n), p[at] = (char)(value), refused(np_str_of(p, n), word))
#define SIGNED(at, value, word)                                                          \
  (memcpy(p, good, n), p[at] = (char)(value), sign(p, n), refused(np_str_of(p, n), word))
  CHECK("no vocabulary at all", refused(NP_LIT("{\"model\":{}}"), "no vocabulary"));
  CHECK("an empty file", refused(NP_LIT(""), "no vocabulary"));
  CHECK("a changed magic", CHANGED(3, 'x', "no vocabulary"));
  CHECK("an older version", CHANGED(8, 0, "version 0"));
  CHECK("a newer version", CHANGED(8, 2, "version 2"));
  CHECK("a newer version, high byte", CHANGED(11, 1, "version"));
  CHECK("a changed length", CHANGED(12, good[12] + 1, "bytes where"));
  CHECK("a changed length, high byte", CHANGED(15, 0x7F, "bytes where"));
  CHECK("a changed name", CHANGED(17, 'x', "checksum"));
  CHECK("a changed checksum", CHANGED(n - 1, good[n - 1] ^ 1, "checksum"));
  for (size_t at = 16; at < n; at += n / 97) {
    CHECK("a flipped bit", CHANGED(at, good[at] ^ (1 << (at & 7)), "checksum"));
  }
  for (size_t size = 8; size < n; size += n / 61) {
    memcpy(p, good, n);
    CHECK("a cut file",
          refused(np_str_of(p, size), size < 16 ? "cut off" : "bytes where"));
  }
  memcpy(p, good, n);
  p[n] = 0;
  CHECK("a byte too many", refused(np_str_of(p, n + 1), "bytes where"));
  CHECK("a name without end, signed", SIGNED(16, 0xFF, "no sense"));
  size_t at = 16 + 1 + 11 + 1 + 19 + 1 + 3; /* name, source, licence: then the sizes */
  CHECK("the sizes begin where the test thinks", good[at] == 1);
  for (size_t i = at; i < at + 13; i++) {
    if (i >= at + 9 && i < at + 12) continue; /* the nodes of a trie, which we have not */
    CHECK("a changed size, signed", SIGNED(i, good[i] ^ 0x40, "no sense"));
  }
  CHECK("a token of a later token, signed", SIGNED(n - NP_SHA256 - 2, 0xFF, "no sense"));
  free(good);
  free(p);
}

static void check_open(void) {
  np_vocab *v = NULL;
  np_err e;
  CHECK("an unknown encoding is refused by name",
        np_vocab_open(&np_alloc_libc, data_dir(), NP_LIT("gpt2"), &v, &e) ==
                NEAP_E_ENCODING &&
            !v && strstr(e.text, "gpt2"));
  CHECK("a missing file is refused with its path",
        np_vocab_open(&np_alloc_libc, "no/such/folder", NP_LIT("o200k_base"), &v, &e) ==
                NEAP_E_VOCAB &&
            !v && strstr(e.text, "no/such/folder/o200k_base.neapvocab"));
  CHECK("encodings are listed",
        np_encoding_count() == 3 && !np_encoding_at(3) &&
            np_encoding_find(NP_LIT("cl100k_base")) == np_encoding_at(1));
  CHECK("a vocabulary knows its encoding", np_vocab_info(vocabs[0]) == np_encoding_at(0));
}

/* An allocator that fails at the n-th call. */
static void *meager_malloc(void *ctx, size_t n) {
  size_t *left = ctx;
  return *left && (*left)-- ? malloc(n) : NULL;
}

static void *meager_realloc(void *ctx, void *p, size_t old, size_t n) {
  size_t *left = ctx;
  (void)old;
  return *left && (*left)-- ? realloc(p, n) : NULL;
}

static void meager_free(void *ctx, void *p) {
  (void)ctx;
  free(p);
}

static void check_memory(void) {
  size_t left = 0;
  neap_alloc a = {meager_malloc, meager_realloc, meager_free, &left};
  np_err e;
  neap_rc rc = NEAP_E_MEMORY;
  size_t calls = 0;
  for (; rc == NEAP_E_MEMORY && calls < 64; calls++) {
    np_vocab *v = NULL;
    left = calls;
    rc = np_vocab_open(&a, data_dir(), NP_LIT("cl100k_base"), &v, &e);
    np_vocab_free(v);
  }
  CHECK("opening without memory fails cleanly at every allocation",
        rc == NEAP_OK && calls > 8);
  left = 0;
  ids got = {NULL, 0, 0};
  CHECK("encoding without memory is an error",
        np_vocab_encode(vocabs[0], NP_LIT("hello"), false, &a, &got.p, &got.n, &got.cap,
                        &e) == NEAP_E_MEMORY &&
            got.n == 0);
}

int main(void) {
  np_err e;
  for (size_t k = 0; k < 2; k++) {
    np_str name = np_str_cstr(np_encoding_at(k)->name);
    neap_rc rc = np_vocab_open(&np_alloc_libc, data_dir(), name, &vocabs[k], &e);
    CHECK("the shipped vocabulary opens", rc == NEAP_OK);
    if (rc != NEAP_OK) {
      fprintf(stderr, "  %s\n", e.text);
      return check_done();
    }
  }
  check_own();
  check_cuts();
  check_special();
  check_ids();
  check_open();
  check_memory();
  check_damage();
  const char *shared = check_shared();
  if (shared) {
    check_golden_strings(shared);
    check_corpus(shared);
  } else {
    check_skip("golden strings and files", "the shared data is not there");
  }
  for (size_t k = 0; k < 2; k++) np_vocab_free(vocabs[k]);
  return check_done();
}
