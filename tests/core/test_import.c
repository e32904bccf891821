/*
** Importing vocabularies: one small file for each split family, both ways to write merges,
** ids, special tokens, whole pieces; every refusal with its words; files that are damaged.
** The large ones of the shared data are read, and give the known counts, where they are at
** hand. next: test_import_random.c
*/
#include "import_help.h"

#include "base/hash.h"

#define SPLIT(pattern)                                                                   \
  "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" pattern                                \
  "\"},\"behavior\":\"Isolated\",\"invert\":false}"
#define SEQUENCE(steps)                                                                  \
  "{\"type\":\"Sequence\",\"pretokenizers\":[" steps "," BYTE_LEVEL_ONLY "]}"
#define SHORT "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define LEAD "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?"
#define UP "[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]"
#define LOW "[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]"
#define WHITE "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define MARKS " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|"
#define LLAMA3 SHORT "|" LEAD "\\\\p{L}+|\\\\p{N}{1,3}|" MARKS WHITE
#define QWEN2 SHORT "|" LEAD "\\\\p{L}+|\\\\p{N}|" MARKS WHITE
#define QWEN35                                                                           \
  SHORT "|" LEAD "[\\\\p{L}\\\\p{M}]+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{M}\\\\p{N}]+"      \
        "[\\\\r\\\\n]*|" WHITE
#define CASED(s, n)                                                                      \
  LEAD UP "*" LOW "+" s "|" LEAD UP "+" LOW "*" s "|" n                                  \
          "| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n/]*|" WHITE
#define DEEPSEEK                                                                         \
  SPLIT("\\\\p{N}{1,3}")                                                                 \
  "," SPLIT("[一-龥぀-ゟ゠-ヿ]+") "," SPLIT(                                       \
      "[!\\\"#$%&'()*+,\\\\-./:;<=>?@\\\\[\\\\\\\\\\\\]^_`{|}~][A-Za-z]+|"               \
      "[^\\r\\n\\\\p{L}\\\\p{P}\\\\p{S}]?[\\\\p{L}\\\\p{M}]+| ?[\\\\p{P}\\\\p{S}]+"      \
      "[\\r\\n]*|\\\\s*[\\r\\n]+|\\\\s+(?!\\\\S)|\\\\s+")
#define DIGITS(one)                                                                      \
  "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\","                      \
  "\"individual_digits\":" one "}," BYTE_LEVEL "]}"

static np_buf b;

static np_vocab *import(const paper *p, np_err *e) {
  np_vocab *v = NULL;
  *e = (np_err){0};
  paper_import(paper_write(&b, p), "", &v, e);
  if (!v && e->code != NEAP_E_VOCAB) fprintf(stderr, "%s\n", e->text);
  return v;
}

static bool encodes(const np_vocab *v, const char *text, bool special,
                    const uint32_t *want, size_t n) {
  uint32_t *ids = NULL;
  size_t count = 0, cap = 0;
  np_str s = np_str_cstr(text);
  np_buf back;
  np_buf_init(&back, &np_alloc_libc);
  bool ok = !np_vocab_encode(v, s, special, &np_alloc_libc, &ids, &count, &cap, NULL) &&
            count == n && !memcmp(ids, want, n * sizeof *want) &&
            (special || np_vocab_count(v, s) == n) &&
            !np_vocab_decode(v, ids, count, &back, NULL) &&
            np_str_eq(np_buf_str(&back), s);
  if (!ok) fprintf(stderr, "%s: got %zu tokens\n", text, count);
  for (size_t i = 0; !ok && i < count; i++) fprintf(stderr, " %u", ids[i]);
  np_buf_free(&back);
  free(ids);
  return ok;
}

#define ENCODES(v, text, special, ...)                                                   \
  encodes(v, text, special, (uint32_t[]){__VA_ARGS__},                                   \
          sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* ---- families ---- */

/* The pairs 12, 23, a blank and 1, x and ', and two line ends are merged where the split
** leaves them together. */
static void test_families(void) {
  static const struct {
    const char *name, *pre;
    uint32_t kind, tokens; /* of the text below */
  } rows[] = {
      {"llama3", SEQUENCE(SPLIT(LLAMA3)), NP_SPLIT_CL100K, 13},
      {"gpt-oss", SEQUENCE(SPLIT(CASED(SHORT "?", "\\\\p{N}{1,3}"))), NP_SPLIT_O200K, 13},
      {"qwen2", SEQUENCE(SPLIT(QWEN2)), NP_SPLIT_QWEN2, 15},
      {"qwen35", SEQUENCE(SPLIT(QWEN35)), NP_SPLIT_QWEN35, 15},
      {"tekken", SEQUENCE(SPLIT(CASED("", "\\\\p{N}"))), NP_SPLIT_TEKKEN, 15},
      {"deepseek3", SEQUENCE(DEEPSEEK), NP_SPLIT_DEEPSEEK3, 13},
      {"gpt2", BYTE_LEVEL, NP_SPLIT_GPT2, 13},
      {"starcoder", DIGITS("true"), NP_SPLIT_GPT2_DIGITS, 16},
      {"numbers", DIGITS("false"), NP_SPLIT_GPT2_NUMBERS, 14},
  };
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    np_err e;
    paper p = {.pre = rows[i].pre,
               .vocab = ",\"12\":256,\"Ġ1\":257,\"ĊĊ\":258,\"'s\":259",
               .merges = "\"1 2\",\"Ġ 1\",\"Ċ Ċ\",[\"'\",\"s\"]"};
    np_vocab *v = import(&p, &e);
    size_t n = v ? np_vocab_count(v, NP_LIT("it's 123\n\nx 1 12\n")) : 0;
    if (n != rows[i].tokens) fprintf(stderr, "%s: %zu %s\n", rows[i].name, n, e.text);
    CHECK("a family's file is read", v && v->split == rows[i].kind);
    CHECK("and its text split that way", n == rows[i].tokens);
    np_vocab_free(v);
  }
}

/* Whoever keeps only matches keeps all, where all text matches. */
static void test_spellings(void) {
  static const char removed[] =
      "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{"
      "\"Regex\":"
      "\"" LLAMA3 "\"},\"behavior\":\"Removed\",\"invert\":true}," BYTE_LEVEL_ONLY "]}";
  np_err e;
  np_vocab *v = import(&(paper){.pre = removed}, &e);
  CHECK("Removed and inverted is Isolated for total patterns", v && v->split == 1);
  np_vocab_free(v);
  CHECK("families are known by name", np_pattern_named(NP_LIT("tekken")) == 5);
  CHECK("a pattern that is a part of a family is none",
        !np_pattern_named(NP_LIT("\\p{N}{1,3}")));
  CHECK("and by nothing else",
        !np_pattern_named(NP_LIT("tekke")) && !np_pattern_named(NP_LIT("")));
}

/* ---- ids, special tokens, whole pieces ---- */

static void test_largest_id(void) {
  np_err e;
  np_vocab *v = import(&(paper){.vocab = ",\"ab\":4194303", .merges = "\"a b\""}, &e);
  CHECK("the largest id is taken", v && ENCODES(v, "ab", false, 4194303));
  if (v) np_vocab_free(v);
  v = import(&(paper){.vocab = ",\"ab\":4194304", .merges = "\"a b\""}, &e);
  CHECK("the next one is refused, with the file's name",
        !v && strstr(e.text, "small.json: ") == e.text && strstr(e.text, "0 to 4194303"));
  if (v) np_vocab_free(v);
}

static void test_byte_order_mark(void) {
  np_err e = {0};
  np_vocab *v = NULL;
  np_buf marked;
  np_buf_init(&marked, &np_alloc_libc);
  np_buf_adds(&marked, "\xEF\xBB\xBF");
  np_buf_add(&marked, paper_write(&b, &(paper){0}));
  paper_import(np_buf_str(&marked), "", &v, &e);
  if (!v) fprintf(stderr, "%s\n", e.text);
  CHECK("a byte order mark before the JSON is passed over", v != NULL);
  if (v) np_vocab_free(v);
  np_buf_free(&marked);
}

static void test_tokens(void) {
  np_err e;
  paper p = {.vocab = ",\"ab\":300,\"bc\":299,\"abc\":4000,\"lone\":310,\"<end>\":320",
             .merges = "\"#version: 0.2\",\"b c\",[\"a\",\"b\"],\"a bc\"",
             .added = "{\"id\":320,\"content\":\"<end>\",\"special\":true},"
                      "{\"id\":5000,\"content\":\"<think>\",\"special\":false}"};
  np_vocab *v = import(&p, &e);
  CHECK("a file with odd ids is read", v != NULL);
  if (!v) return;
  CHECK("merges go by their list, not by ids", ENCODES(v, "abc", false, 4000));
  CHECK("ids are the model's", ENCODES(v, "ab xbc", false, 300, 32, 'x', 299));
  CHECK("a token nothing makes is not made",
        ENCODES(v, "lone", false, 'l', 'o', 'n', 'e'));
  CHECK("special text is text", ENCODES(v, "<end>", false, '<', 'e', 'n', 'd', '>'));
  CHECK("unless asked", ENCODES(v, "a<end><think>", true, 'a', 320, 5000));
  np_buf out;
  np_buf_init(&out, &np_alloc_libc);
  uint32_t lone = 310, gap = 305;
  CHECK("a token nothing makes is decoded",
        !np_vocab_decode(v, &lone, 1, &out, NULL) && np_str_is(np_buf_str(&out), "lone"));
  CHECK("an id in a gap is refused", np_vocab_decode(v, &gap, 1, &out, &e) == NEAP_E_ARG);
  np_buf_free(&out);
  np_vocab_free(v);
  p.model = "\"ignore_merges\":true,\"byte_fallback\":false,\"dropout\":null,"
            "\"unk_token\":\"?\",\"continuing_subword_prefix\":\"\",";
  p.added = NULL;
  v = import(&p, &e);
  CHECK("ignore_merges takes whole pieces",
        v && ENCODES(v, "lone alone", false, 310, 32, 'a', 'l', 'o', 'n', 'e'));
  np_vocab_free(v);
}

/* Runs of blanks are such tokens in some models. */
static void test_both(void) {
  np_err e;
  paper p = {.vocab = ",\"ab\":256,\"abab\":257",
             .merges = "\"a b\",\"ab ab\"",
             .added = "{\"id\":256,\"content\":\"ab\",\"special\":false}"};
  np_vocab *v = import(&p, &e);
  if (!v) fprintf(stderr, "%s\n", e.text);
  CHECK("a token may be an added one, too", v && ENCODES(v, "abab", false, 257));
  CHECK("and is looked for first when asked", v && ENCODES(v, "abab", true, 256, 256));
  np_vocab_free(v);
  p.vocab = ",\"\u00e9\u00e9\":256";
  p.merges = "\"\u00e9 \u00e9\"";
  p.added = "{\"id\":256,\"content\":\"\u00e9\u00e9\"}";
  CHECK("but not one that stands for other bytes", !import(&p, &e));
}

static void test_tiktoken(void) {
  np_err e = {0};
  np_vocab *v = NULL;
  np_buf_clear(&b);
  static const char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (unsigned c = 0; c < 256; c++) {
    char line[32];
    snprintf(line, sizeof line, "%c%c== %u\n", letters[c >> 2], letters[(c & 3) << 4], c);
    np_buf_adds(&b, line);
  }
  np_buf_adds(&b, "YWI= 256\r\nYWJj 258\nenp6enp6 300\n"); /* ab, abc, zzzzzz */
  CHECK("a .tiktoken file needs a pattern",
        paper_import(np_buf_str(&b), "", &v, &e) == NEAP_E_VOCAB &&
            strstr(e.text, "--pattern: cl100k, o200k"));
  CHECK("a .tiktoken file is read", !paper_import(np_buf_str(&b), "gpt2", &v, &e));
  CHECK("ranks are ids", v && ENCODES(v, "ababc", false, 256, 258));
  CHECK("a whole piece is its token", v && ENCODES(v, "zzzzzz z", false, 300, 32, 'z'));
  np_vocab_free(v);
  static const char *const bad[] = {
      "YWI= 256\nYWI= 257\n", "YWI 256\n", "YW=I 256\n", "YWI= x\n", "YWI=\n", "YWI= 3\n",
      "YWI= 9999999999\n"};
  size_t n = b.n - strlen("YWI= 256\r\nYWJj 258\nenp6enp6 300\n");
  for (size_t i = 0; i < NP_COUNT(bad); i++) {
    b.n = n;
    np_buf_adds(&b, bad[i]);
    bool told = paper_import(np_buf_str(&b), "gpt2", &v, &e) == NEAP_E_VOCAB &&
                !strncmp(e.text, "small.json:", 11);
    if (!told) fprintf(stderr, "%s%s\n", bad[i], e.text);
    CHECK("a bad line is refused", told && !v);
  }
}

/* ---- refusals ---- */

static void test_refusals(void) {
#define ADDED(flags) "{\"id\":900,\"content\":\"<x>\"" flags "}"
  static const struct {
    paper p;
    const char *says;
  } rows[] = {
      {{.pre = "null"}, "has no pre_tokenizer"},
      {{.pre = "{\"type\":\"Metaspace\"}"},
       "Metaspace\"} is of a type that is not known"},
      {{.pre = "{\"type\":\"ByteLevel\"}"}, "add_prefix_space"},
      {{.pre = SEQUENCE(SPLIT("\\\\p{L}+"))}, "is none of the known split families"},
      {{.pre = SEQUENCE(SPLIT(LLAMA3) "," SPLIT(LLAMA3))}, "known split families"},
      {{.pre = "{\"type\":\"Split\",\"pattern\":{\"String\":\" "
               "\"},\"behavior\":\"Isolated\"}"},
       "no pattern that is a Regex"},
      {{.pre = "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x\"},\"behavior\":"
               "\"MergedWithNext\"}"},
       "does not keep matches apart"},
      {{.normalizer = "{\"type\":\"NFKC\"}"}, "normalizer is {\"type\":\"NFKC\"}"},
      {{.normalizer = "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\"}]}"},
       "Prepend"},
      {{.decoder = "{\"type\":\"Fuse\"}"}, "decoder is"},
      {{.model = "\"type\":\"Unigram\","}, "model.type is \"Unigram\""},
      {{.model = "\"type\":\"WordPiece\","}, "model.type is \"WordPiece\""},
      {{.model = "\"byte_fallback\":true,"}, "model.byte_fallback is true"},
      {{.model = "\"dropout\":0.1,"}, "model.dropout is 0.1"},
      {{.model = "\"end_of_word_suffix\":\"</w>\","}, "model.end_of_word_suffix"},
      {{.vocab = ",\"ab\":97"}, "token \"ab\" has the id of another"},
      {{.vocab = ",\"ab\":256,\"ab\":257"}, "token \"ab\" is there twice"},
      {{.vocab = ",\"ab\":-1"}, "token \"ab\" has no id"},
      {{.vocab = ",\"ab\":1.5"}, "token \"ab\" has no id"},
      {{.vocab = ",\"ab\":99999999999999999999"}, "token \"ab\" has no id"},
      {{.vocab = ",\"\":256"}, "is empty"},
      {{.vocab = ",\"漢\":256"},
       "token \"漢\" holds a character that stands for no byte"},
      {{.vocab = ",\"a b\":256"}, "stands for no byte"},
      {{.merges = "\"a b\""}, "a merge gives \"ab\", which is no token"},
      {{.merges = "\"a bb\""}, "a merge names \"bb\", which is no token"},
      {{.merges = "\"a b c\""}, "not two tokens parted by a blank"},
      {{.merges = "\"ab\""}, "not two tokens parted by a blank"},
      {{.merges = "[\"a\"]"}, "it takes two tokens"},
      {{.merges = "[\"a\",\"b\",\"c\"]"}, "it takes two tokens"},
      {{.merges = "7"}, "it takes two tokens"},
      {{.vocab = ",\"ab\":256", .merges = "\"a b\",[\"a\",\"b\"]"}, "is merged twice"},
      {{.vocab = ",\"ab\":256,\"aba\":257", .merges = "\"ab a\",\"a b\""},
       "before its parts"},
      {{.added = ADDED(",\"lstrip\":true")}, "added token \"<x>\" sets lstrip"},
      {{.added = ADDED(",\"single_word\":true")}, "sets single_word"},
      {{.added = ADDED(",\"normalized\":true"), .normalizer = "{\"type\":\"NFC\"}"},
       "in normalized text"},
      {{.added = ADDED("") "," ADDED("")}, "is added twice"},
      {{.added = ADDED("") ",{\"id\":900,\"content\":\"<y>\"}"}, "the id of another"},
      {{.added = "{\"id\":901}"}, "it takes a content and an id"},
      {{.added = "{\"id\":97,\"content\":\"<x>\"}"}, "has the id of an added token"},
      {{.added = "{\"id\":900,\"content\":\"ab\"}", .vocab = ",\"ab\":256"},
       "has another id in the vocabulary"},
  };
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    np_err e;
    np_vocab *v = import(&rows[i].p, &e);
    bool told = !v && e.code == NEAP_E_VOCAB && strstr(e.text, rows[i].says) &&
                !strncmp(e.text, "small.json: ", 12);
    if (!told) fprintf(stderr, "  want %s\n  got  %s\n", rows[i].says, e.text);
    CHECK("what is not known is refused by name", told);
    np_vocab_free(v);
  }
}

static void test_names(void) {
  static const char *const bad[] = {"",    "o200k_base", ".x", "a/b", "../x",
                                    "a b", "é",          "-x", "a\n"};
  for (size_t i = 0; i < NP_COUNT(bad); i++) {
    CHECK("a name that leads elsewhere is none", !np_import_name_ok(np_str_cstr(bad[i])));
  }
  CHECK("a plain name is one", np_import_name_ok(NP_LIT("Qwen3-8B.v1_2")));
}

/* A byte that is missing from the vocabulary, too. */
static void test_damage(unsigned long long state) {
  np_err e;
  paper p = {.vocab = ",\"ab\":256", .merges = "\"a b\"", .added = ADDED("")};
  np_str whole = paper_write(&b, &p);
  char *copy = malloc(whole.n);
  bool ok = copy != NULL;
  for (size_t n = 0; ok && n + 1 < whole.n; n += 1 + check_random(&state) % 7) {
    np_vocab *v = NULL;
    memcpy(copy, whole.p, n);
    ok = paper_import(np_str_of(copy, n), "", &v, &e) != NEAP_OK && e.text[0] && !v;
  }
  CHECK("a file cut short is refused wherever it is cut", ok);
  for (int i = 0; ok && i < 2000; i++) {
    np_vocab *v = NULL;
    memcpy(copy, whole.p, whole.n);
    for (int k = 0; k < 3; k++) {
      copy[check_random(&state) % whole.n] = (char)check_random(&state);
    }
    e = (np_err){0};
    neap_rc rc = paper_import(np_str_of(copy, whole.n), "", &v, &e);
    ok = rc ? !v && e.text[0] && !strchr(e.text, '\n') : v && !e.text[0];
    np_vocab_free(v);
  }
  CHECK("changed bytes give a vocabulary or one line", ok);
  free(copy);
  np_buf_clear(&b);
  for (int i = 0; i < 10000; i++) np_buf_adds(&b, "{\"model\":");
  np_vocab *v = NULL;
  CHECK("deep JSON is refused", paper_import(np_buf_str(&b), "", &v, &e) == NEAP_E_LIMIT);
}

/* ---- shared ---- */

static char *read_file(const char *dir, const char *name, np_str *out) {
  char path[640];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  long size = ftell(f);
  rewind(f);
  char *p = size < 0 ? NULL : malloc((size_t)size + 1);
  *out = np_str_of(p, p ? fread(p, 1, (size_t)size, f) : 0);
  fclose(f);
  return p;
}

static bool same_file(const np_vocab *v, np_str text, np_json golden) {
  np_json tokens, sum;
  uint32_t *ids = NULL;
  size_t n = 0, cap = 0;
  uint8_t hash[NP_SHA256];
  char hex[2 * NP_SHA256];
  np_json_get(golden, "tokens", &tokens);
  np_json_get(golden, "ids_sha256", &sum);
  bool ok = !np_vocab_encode(v, text, false, &np_alloc_libc, &ids, &n, &cap, NULL);
  np_sha256(np_str_of((char *)ids, n * sizeof *ids), hash);
  np_hex(hash, sizeof hash, hex);
  ok = ok && n == strtoull(tokens.raw.p, NULL, 10) && np_vocab_count(v, text) == n &&
       np_str_eq(np_str_cut(sum.raw, 1, sum.raw.n - 1), np_str_of(hex, sizeof hex));
  free(ids);
  return ok;
}

static void test_golden(const char *dir, const char *name, const np_vocab *v) {
  np_str text, key;
  np_json all, files, file, encodings, golden;
  char *json = read_file(dir, "corpus/golden.json", &text);
  if (!json || np_json_check(text, &all, NULL) || !np_json_get(all, "files", &files)) {
    check_skip(name, "corpus/golden.json is not there");
    free(json);
    return;
  }
  np_json_iter it = np_json_each(files);
  while (np_json_next(&it, &key, &file)) {
    char path[300];
    snprintf(path, sizeof path, "corpus/%.*s", (int)key.n - 2, key.p + 1);
    char *p = read_file(dir, path, &text);
    if (!p || !np_json_get(file, "encodings", &encodings) ||
        !np_json_get(encodings, name, &golden)) {
      check_skip(path, "not there");
    } else {
      bool ok = same_file(v, text, golden);
      if (!ok) fprintf(stderr, "%s, %s\n", name, path);
      CHECK("a corpus file has the known tokens", ok);
    }
    free(p);
  }
  free(json);
}

static void test_shared(const char *name) {
  const char *dir = check_shared();
  char path[120];
  np_str text;
  np_vocab *v = NULL;
  np_err e = {0};
  snprintf(path, sizeof path, "vocab/hf/%s.tokenizer.json", name);
  char *p = dir ? read_file(dir, path, &text) : NULL;
  if (!p) {
    check_skip(path, "no shared data");
    return;
  }
  bool ok = !paper_import(text, "", &v, &e);
  if (!ok) fprintf(stderr, "%s\n", e.text);
  CHECK("a vocabulary of a known model is read", ok);
  if (ok) test_golden(dir, name, v);
  np_vocab_free(v);
  free(p);
}

int main(void) {
  unsigned long long seed = check_seed(20263);
  np_buf_init(&b, &np_alloc_libc);
  test_families();
  test_spellings();
  test_largest_id();
  test_byte_order_mark();
  test_tokens();
  test_both();
  test_tiktoken();
  test_refusals();
  test_names();
  test_damage(seed);
  test_shared("qwen3");
  test_shared("llama3");
  test_shared("deepseek_v3");
  np_buf_free(&b);
  return check_done();
}
