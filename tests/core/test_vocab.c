/*
** Vocabularies as such: ready files and what becomes of damaged and hostile ones, bytes that
** are handed over, and vocabularies built from parts, whose ids need not be ranks.
** next: test_token.c
*/
#define _GNU_SOURCE /* mkdtemp */
#include "check.h"

#include <unistd.h>

#include "token/bpe.h"
#include "token/image.h"

static const char *data_dir(void) {
  const char *dir = getenv("NEAP_TEST_VOCAB");
  return dir ? dir : "core/token/data";
}

/* ---- a small vocabulary ------------------------------------------------------------ */

/* The 256 bytes, then "ab", "abc" (ab + c), "bc", " a", and "xyz", to which no merges
** lead. */
#define SMALL 261
typedef struct small {
  uint8_t bytes[300];
  uint32_t start[SMALL + 1], left[SMALL], right[SMALL], external[SMALL];
  np_vocab_special special[2];
  np_vocab_parts parts;
} small;

static void add(small *s, const char *text, int left, int right) {
  uint32_t id = s->parts.tokens++;
  size_t n = text ? strlen(text) : 1;
  s->start[id + 1] = s->start[id] + (uint32_t)n;
  if (text) memcpy(s->bytes + s->start[id], text, n);
  s->left[id] = left < 0 ? id : (uint32_t)left;
  s->right[id] = right < 0 ? id : (uint32_t)right;
  s->external[id] = 1000 - id;
}

static void small_init(small *s) {
  memset(s, 0, sizeof *s);
  s->special[0] = (np_vocab_special){1001, NP_LIT("<|end|>")};
  s->special[1] = (np_vocab_special){1007, NP_LIT("<|end|>>")};
  s->parts = (np_vocab_parts){.name = NP_LIT("small"),
                              .source = NP_LIT("a test"),
                              .exact = true,
                              .split = NP_SPLIT_CL100K,
                              .bytes = s->bytes,
                              .start = s->start,
                              .left = s->left,
                              .right = s->right,
                              .special = s->special,
                              .specials = 2};
  for (int i = 0; i < 256; i++) {
    s->bytes[i] = (uint8_t)(255 - i); /* ranks of bytes are no byte values */
    add(s, NULL, -1, -1);
  }
  add(s, "ab", 255 - 'a', 255 - 'b');
  add(s, "abc", 256, 255 - 'c');
  add(s, "bc", 255 - 'b', 255 - 'c');
  add(s, " a", 255 - ' ', 255 - 'a');
  add(s, "xyz", -1, -1);
}

static size_t encode(const np_vocab *v, const char *text, bool special, uint32_t *ids) {
  uint32_t *p = NULL;
  size_t n = 0, cap = 0;
  neap_rc rc =
      np_vocab_encode(v, np_str_cstr(text), special, &np_alloc_libc, &p, &n, &cap, NULL);
  for (size_t i = 0; i < n && i < 8; i++) ids[i] = p[i];
  free(p);
  return rc == NEAP_OK ? n : SIZE_MAX;
}

static bool encodes(const np_vocab *v, const char *text, const uint32_t *want, size_t n) {
  uint32_t ids[8] = {0};
  if (encode(v, text, true, ids) == n && memcmp(ids, want, n * sizeof *want) == 0)
    return true;
  fprintf(stderr, "  text: %s\n  ids:", text);
  for (size_t i = 0; i < 8; i++) fprintf(stderr, " %u", ids[i]);
  fprintf(stderr, "\n");
  return false;
}

static bool decodes(const np_vocab *v, const uint32_t *ids, size_t n, const char *want) {
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  bool ok =
      np_vocab_decode(v, ids, n, &b, NULL) == NEAP_OK && np_str_is(np_buf_str(&b), want);
  np_buf_free(&b);
  return ok;
}

static void test_external(small *s) {
  np_vocab *v = NULL;
  np_err e = {0};
  s->parts.external = s->external;
  CHECK("a vocabulary with ids of its own is built",
        np_vocab_build(&np_alloc_libc, &s->parts, &v, &e) == NEAP_OK);
  if (!v) return;
  static const uint32_t abc[] = {1000 - 257, 1000 - 258, 1000 - (255 - 'a')};
  CHECK("the lowest rank merges first, and the ids are the model's",
        encodes(v, "abc", abc, 1) && encodes(v, "bc", abc + 1, 1));
  static const uint32_t text[] = {1000 - 256, 1000 - 256, 1000 - 259, 1007, 1000 - 256};
  CHECK("special tokens keep their ids, the longest comes first",
        encodes(v, "abab a<|end|>>ab", text, 5));
  CHECK("ids decode", decodes(v, text, 5, "abab a<|end|>>ab"));
  static const uint32_t none[] = {739, 1002};
  CHECK("ids between and beyond are none",
        !decodes(v, none, 1, "") && !decodes(v, none + 1, 1, ""));
  CHECK("a vocabulary says what it is",
        strcmp(np_vocab_info(v)->name, "small") == 0 &&
            np_vocab_info(v)->tokens == SMALL &&
            strcmp(np_vocab_info(v)->source, "a test") == 0 && np_vocab_info(v)->exact);
  np_vocab_free(v);
  s->parts.external = NULL;
}

static void test_whole(small *s) {
  for (uint32_t flags = 0; flags < 2; flags++) {
    np_vocab *v = NULL;
    s->parts.flags = flags;
    neap_rc rc = np_vocab_build(&np_alloc_libc, &s->parts, &v, NULL);
    CHECK("it is built with either flag", rc == NEAP_OK);
    if (!v) return;
    CHECK("a whole piece that no merges make is a token only when the flag says so",
          np_vocab_count(v, NP_LIT("xyz")) == (flags ? 1 : 3));
    CHECK("inside a piece it never is", np_vocab_count(v, NP_LIT("xyza")) == 4);
    static const uint32_t id = 260;
    CHECK("its id decodes in any case", decodes(v, &id, 1, "xyz"));
    np_vocab_free(v);
  }
  s->parts.flags = 0;
}

/* ---- what is refused --------------------------------------------------------------- */

static bool refuses(small *s, size_t pos, const char *word) {
  np_vocab *v = NULL;
  np_err e = {0};
  neap_rc rc = np_vocab_build(&np_alloc_libc, &s->parts, &v, &e);
  bool ok = rc == NEAP_E_VOCAB && !v && strstr(e.text, word) && e.pos == pos;
  if (!ok) fprintf(stderr, "  got %s at %zu: %s\n", neap_rc_name(rc), e.pos, e.text);
  np_vocab_free(v);
  small_init(s);
  return ok;
}

static void test_refusals(small *s) {
  small_init(s);
  s->start[258] = s->start[257];
  CHECK("an empty token", refuses(s, 257, "no bytes"));
  s->bytes[s->start[257]] = 'x';
  CHECK("bytes that are not those of the parts", refuses(s, 257, "not the bytes"));
  s->left[256] = 257;
  CHECK("parts that come later", refuses(s, 256, "later"));
  s->bytes[3] = s->bytes[4];
  CHECK("a byte twice", refuses(s, 4, "earlier"));
  memcpy(s->bytes + s->start[258], "ab", 2);
  s->right[258] = 255 - 'b';
  s->left[258] = 255 - 'a';
  CHECK("a token twice", refuses(s, 258, "earlier"));
  s->left[257] = 255 - 'a'; /* a + bc, but bc comes later than ab */
  s->right[257] = 258;
  CHECK("a part that is made later", refuses(s, 257, "later"));
  CHECK("an unknown splitter", (s->parts.split = 99, refuses(s, 0, "splitter")));
  CHECK("too few tokens", (s->parts.tokens = 255, refuses(s, 0, "256")));
  s->external[7] = s->external[9];
  s->parts.external = s->external;
  CHECK("an id twice", refuses(s, 9, "id of another"));
  s->external[7] = 1001;
  s->parts.external = s->external;
  CHECK("the id of a special token", refuses(s, 7, "special"));
  s->special[1].id = 1001;
  CHECK("a special id twice", refuses(s, 0, "special token 1001"));
  s->special[0].id = 3;
  CHECK("a special id that is a rank", refuses(s, 0, "special token 3"));
  s->parts.name = NP_LIT("a\0b");
  CHECK("a name with a zero", refuses(s, 0, "name"));
}

/* "bcd" from bc + d while cd merges earlier: alone, its bytes never come to that. */
static void test_never(small *s) {
  small_init(s);
  s->parts.tokens = 256;
  s->start[256] = 256;
  add(s, "cd", 255 - 'c', 255 - 'd');
  add(s, "bc", 255 - 'b', 255 - 'c');
  add(s, "bcd", 257, 255 - 'd');
  CHECK("a merge that is never done", refuses(s, 258, "never done"));
}

/* ---- ready files ------------------------------------------------------------------- */

static bool opens(const char *p, size_t n, const char *word) {
  np_vocab *v = NULL;
  np_err e = {0};
  neap_rc rc =
      np_vocab_from_bytes(&np_alloc_libc, "x.neapready", np_str_of(p, n), &v, &e);
  bool ok = word ? rc == NEAP_E_VOCAB && !v && strstr(e.text, word) &&
                       strstr(e.text, "x.neapready") && strstr(e.text, "run `make")
                 : rc == NEAP_OK && v && np_vocab_count(v, NP_LIT("abc ab")) == 3;
  if (!ok) fprintf(stderr, "  got %s: %s\n", neap_rc_name(rc), e.text);
  np_vocab_free(v);
  return ok;
}

static void test_damage(np_str good) {
  char *p = malloc(good.n + 8);
#define CHANGED(at, value, word)                                                         \
  (memcpy(p, good.p, good.n), p[at] = (char)(value), opens(p, good.n, word))
  memcpy(p, good.p, good.n);
  CHECK("a good image opens", opens(p, good.n, NULL));
  memmove(p + 3, p, good.n);
  CHECK("an image at an odd address is copied", opens(p + 3, good.n, NULL));
  CHECK("a changed magic", CHANGED(3, 'x', "no vocabulary"));
  CHECK("an older version", CHANGED(8, 0, "version"));
  CHECK("a newer version", CHANGED(8, good.p[8] + 1, "version"));
  CHECK("a changed length", CHANGED(17, good.p[17] + 1, "bytes where"));
  CHECK("a changed sum", CHANGED(25, good.p[25] ^ 1, "checksum"));
  for (size_t at = 32; at < good.n; at += 1 + good.n / 397) {
    CHECK("a flipped bit", CHANGED(at, good.p[at] ^ (1 << (at & 7)), "checksum"));
  }
  for (size_t n = 8; n < good.n; n += 1 + good.n / 61) {
    memcpy(p, good.p, good.n);
    CHECK("a cut file",
          opens(p, n, n < sizeof(np_image_head) ? "cut off" : "bytes where"));
  }
  memcpy(p, good.p, good.n);
  memcpy(p + 12, (const char[4]){good.p[15], good.p[14], good.p[13], good.p[12]}, 4);
  CHECK("the other byte order", opens(p, good.n, "byte order"));
  free(p);
}

/* Values changed at random under a right sum: whatever is answered, nothing is read outside
** and everything ends. The sanitizers look on. */
static void test_hostile(np_str good, int rounds, unsigned long long seed) {
  static char text[600];
  unsigned long long state = seed;
  uint8_t *p = malloc(good.n);
  int opened = 0;
  np_image_head h;
  memcpy(&h, good.p, sizeof h);
  for (int i = 0; i < rounds; i++) {
    memcpy(p, good.p, good.n);
    for (unsigned k = 1 + check_random(&state) % 8; k > 0; k--) {
      int part = (int)(check_random(&state) % NP_PARTS);
      size_t from = sizeof h - sizeof h.parts, room = sizeof h.parts;
      if (i % 4) {
        from = h.parts[part].at;
        room = h.parts[part].n * np_image_item(part);
      }
      if (room) p[from + check_random(&state) % room] = (uint8_t)check_random(&state);
    }
    np_image_seal(p, good.n);
    np_vocab *v = NULL;
    np_str bytes = {(const char *)p, good.n};
    if (np_vocab_from_bytes(&np_alloc_libc, "x", bytes, &v, NULL)) continue;
    opened++;
    for (size_t k = 0; k < sizeof text; k++) {
      text[k] = i % 2 ? "abc xyz"[check_random(&state) % 7] : (char)check_random(&state);
    }
    uint32_t *ids = NULL;
    size_t n = 0, cap = 0;
    np_str s = {text, sizeof text};
    np_buf b;
    np_buf_init(&b, &np_alloc_libc);
    np_vocab_count(v, s);
    np_vocab_encode(v, s, true, &np_alloc_libc, &ids, &n, &cap, NULL);
    np_vocab_decode(v, ids, n, &b, NULL);
    np_vocab_fit(v, s, 20, i % 5 == 0);
    np_buf_free(&b);
    free(ids);
    np_vocab_free(v);
  }
  CHECK("some hostile images open", rounds < 100 || opened > rounds / 10);
  free(p);
}

/* ---- folders ----------------------------------------------------------------------- */

static bool write_file(const char *dir, const char *name, np_str bytes) {
  char path[400];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "wb");
  bool ok = f && fwrite(bytes.p, 1, bytes.n, f) == bytes.n;
  return f && fclose(f) == 0 && ok;
}

static bool open_says(const char *dir, const char *name, neap_rc want, const char *word) {
  np_vocab *v = NULL;
  np_err e = {0};
  neap_rc rc = np_vocab_open(&np_alloc_libc, dir, np_str_cstr(name), &v, &e);
  bool ok = rc == want && (rc ? !v && strstr(e.text, word) != NULL
                              : strcmp(np_vocab_info(v)->name, name) == 0);
  if (!ok) fprintf(stderr, "  got %s: %s\n", neap_rc_name(rc), e.text);
  np_vocab_free(v);
  return ok;
}

static void test_folder(np_str image) {
  char dir[] = "/tmp/neap-vocab-XXXXXX", path[200];
  if (!mkdtemp(dir)) return check_skip("folders", "no temporary folder can be made");
  CHECK("files are written", write_file(dir, "small.neapready", image) &&
                                 write_file(dir, "other.neapready", image) &&
                                 write_file(dir, "o200k_base.neapready", NP_LIT("")));
  CHECK("a ready file opens by its name", open_says(dir, "small", NEAP_OK, ""));
  CHECK("under another name it does not",
        open_says(dir, "other", NEAP_E_VOCAB, "another encoding"));
  CHECK("an empty ready file is an error, not passed over",
        open_says(dir, "o200k_base", NEAP_E_VOCAB, "o200k_base.neapready"));
  CHECK("a known name without files names the compact one",
        open_says(dir, "cl100k_base", NEAP_E_VOCAB, "cl100k_base.neapvocab"));
  CHECK("an unknown name is unknown", open_says(dir, "none", NEAP_E_ENCODING, "none"));
  CHECK("a name is no path",
        open_says(dir, "../small", NEAP_E_ENCODING, "../small") &&
            open_says("/tmp", strrchr(dir, '/') + 1, NEAP_E_ENCODING, "not known"));
  static const char *const names[] = {"small", "other", "o200k_base"};
  for (size_t i = 0; i < NP_COUNT(names); i++) {
    snprintf(path, sizeof path, "%s/%s.neapready", dir, names[i]);
    unlink(path);
  }
  rmdir(dir);
}

/* The shipped vocabulary, unfolded here, has the bytes of the ready file that `make` made. */
static void test_shipped(void) {
  const char *build = getenv("NEAP_BUILD");
  if (!build) return check_skip("ready files", "NEAP_BUILD is not set");
  for (size_t k = 0; k < np_encoding_count(); k++) {
    np_vocab *made = NULL, *ready = NULL;
    np_err e = {0};
    char dir[600];
    np_str name = np_str_cstr(np_encoding_at(k)->name);
    snprintf(dir, sizeof dir, "%s/share/neap/vocabularies", build);
    neap_rc a = np_vocab_open(&np_alloc_libc, data_dir(), name, &made, &e);
    neap_rc b = np_vocab_open(&np_alloc_libc, dir, name, &ready, &e);
    CHECK("both forms open",
          a == NEAP_OK && b == NEAP_OK && !made->mapped && ready->mapped);
    CHECK("the ready file is what building gives",
          !a && !b && np_str_eq(np_vocab_image(made), np_vocab_image(ready)));
    CHECK("it takes at most 12 MiB", !b && np_vocab_image(ready).n <= (12u << 20));
    np_vocab_free(made);
    np_vocab_free(ready);
  }
}

static void test_handed_over(np_str image) {
  neap *n = NULL;
  const neap_encoding *enc = NULL, *same = NULL;
  if (neap_open(NULL, &n)) return check_skip("handing over", "no engine opens");
  CHECK("bytes are handed over", neap_encoding_add(n, image, &enc) == NEAP_OK &&
                                     neap_count(enc, NP_LIT("abc ab")) == 3);
  CHECK("and are there under their name",
        neap_encoding_get(n, "small", &same) == NEAP_OK && same == enc);
  CHECK("once", neap_encoding_add(n, image, NULL) == NEAP_E_MISUSE &&
                    strstr(neap_error(n), "small"));
  CHECK("damaged bytes are refused",
        neap_encoding_add(n, np_str_of(image.p, image.n - 1), NULL) == NEAP_E_VOCAB &&
            strstr(neap_error(n), "bytes where"));
  CHECK("no bytes are an error of the host",
        neap_encoding_add(n, (neap_str){NULL, 0}, NULL) == NEAP_E_ARG);
  neap_close(n);
}

int main(void) {
  static small s;
  np_vocab *v = NULL;
  small_init(&s);
  test_external(&s);
  test_whole(&s);
  test_refusals(&s);
  test_never(&s);
  small_init(&s);
  s.parts.external = s.external;
  if (np_vocab_build(&np_alloc_libc, &s.parts, &v, NULL) == NEAP_OK) {
    unsigned long long seed = check_seed(20261130);
    test_damage(np_vocab_image(v));
    test_hostile(np_vocab_image(v), 400, seed);
    test_folder(np_vocab_image(v));
    test_handed_over(np_vocab_image(v));
  }
  np_vocab_free(v);
  test_shipped();
  return check_done();
}
