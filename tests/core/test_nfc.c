/*
** Form C against libutf8proc's own way to it, on random texts of characters that Unicode 9.0
** has; what came later stays; parts are independent; bytes that are not UTF-8 stay.
** next: test_import.c
*/
#include "import_help.h"

#include <utf8proc.h>

#include "token/append.h"
#include "text/nfc.h"

static unsigned long long state;
static np_buf out, again;

static unsigned pick(unsigned n) {
  return (unsigned)(check_random(&state) % n);
}

static const int32_t points[] = {
    'a',    'e',    'A',     0xE9,    0xC5,    0x212B,  0x2126,  0x300,   0x301,   0x30A,
    0x323,  0x327,  0x338,   0x344,   0x345,   0x345,   0x387,   0x3B1,   0x1F00,  0x1F82,
    0x1E9B, 0x1E69, 0x5D0,   0x5B0,   0x5BC,   0x5C1,   0xFB1D,  0xFB2C,  0x915,   0x93C,
    0x94D,  0x958,  0x9C7,   0x9BE,   0x1100,  0x1161,  0x11A8,  0xAC00,  0xAC01,  0x3042,
    0x304B, 0x3099, 0x304C,  0xF900,  0x2ADC,  0x1D15E, 0x1D165, 0x1D16E, 0x2F800, 0x4E00,
    '\n',   ' ',    0x1F600, 0x110BA, 0x11099, 0xFE0F,  0x200D,  0xE49,   0xE38,   0x653};

static size_t make(char *text, unsigned most) {
  size_t n = 0;
  for (unsigned i = 1 + pick(most); i > 0; i--) {
    int32_t cp = points[pick(sizeof points / sizeof *points)];
    n += (size_t)utf8proc_encode_char(cp, (utf8proc_uint8_t *)text + n);
  }
  return n;
}

static np_str nfc(np_str s) {
  np_buf_clear(&out);
  np_nfc(s, &out);
  return np_buf_str(&out);
}

static bool is_right(np_str s) {
  utf8proc_uint8_t *want = NULL;
  utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)s.p, (utf8proc_ssize_t)s.n,
                                    &want, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  np_str got = nfc(s);
  bool ok = n >= 0 && np_str_eq(got, np_str_of((char *)want, (size_t)n));
  if (ok && np_nfc_plain(s)) ok = np_str_eq(got, s);
  if (!ok) {
    for (size_t i = 0; i < s.n; i++) fprintf(stderr, " %02X", (uint8_t)s.p[i]);
    fprintf(stderr, "\n");
  }
  free(want);
  return ok;
}

static void test_random(void) {
  char text[4 * 80];
  bool ok = true;
  for (int i = 0; ok && i < 40000; i++)
    ok = is_right(np_str_of(text, make(text, i % 9 ? 9 : 80)));
  CHECK("texts become what libutf8proc makes of them", ok);
}

static void test_parts(void) {
  char text[4 * 20];
  bool ok = true;
  for (int i = 0; ok && i < 20000; i++) {
    np_str s = np_str_of(text, make(text, 20));
    np_buf_clear(&again);
    for (size_t from = 0, at = 1; at <= s.n; at++) {
      if (!np_nfc_between(s, at)) continue;
      np_nfc(np_str_cut(s, from, at), &again);
      from = at;
    }
    ok = np_str_eq(nfc(s), np_buf_str(&again));
  }
  CHECK("parts are normalized by themselves", ok);
}

static void test_odd(void) {
  static const char *const same[] = {
      "",
      "plain",
      "\xCC",
      "e\xCC",
      "\xFF\xCC\x81",                     /* a mark behind a byte that is none */
      "a\xE0\xA2\x98\xCC\xA3",            /* U+0898 came with Unicode 14 */
      "\xF0\x91\xA4\xB5\xF0\x91\xA4\xB0", /* U+11935 U+11930 with 13 */
      "\xED\xA0\x80\xCC\x81",             /* a surrogate */
  };
  for (size_t i = 0; i < NP_COUNT(same); i++) {
    CHECK("what is not to change stays",
          np_str_eq(nfc(np_str_cstr(same[i])), np_str_cstr(same[i])));
  }
  CHECK("a character before a bad byte is kept whole",
        np_str_is(nfc(NP_LIT("e\xCC\x81\xFF"
                             "e\xCC\x81")),
                  "\xC3\xA9\xFF\xC3\xA9"));
}

/* A million marks in the worst order: this ends. */
static void test_long(void) {
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  np_buf_addc(&b, 'a');
  for (int i = 0; i < 500000; i++) np_buf_adds(&b, "\xCD\x85\xCC\xA3"); /* 240, 220 */
  np_str got = nfc(np_buf_str(&b));
  CHECK("a long row of marks is put in order",
        got.n == b.n && !memcmp(got.p, "\xE1\xBA\xA1\xCC\xA3", 5) &&
            !memcmp(got.p + got.n - 2, "\xCD\x85", 2));
  np_buf_free(&b);
}

/* ---- a vocabulary that asks for it ---- */

static np_vocab *vocab(void) {
  paper p = {.normalizer = "{\"type\":\"NFC\"}",
             .vocab =
                 ",\"\u00c3\u00a9\":256,\"t\u00c3\u00a9\":257,\"ee\":258,\"e\u0120\":259",
             .merges = "\"\u00c3 \u00a9\",\"t \u00c3\u00a9\",\"e e\",\"e \u0120\"",
             .added = "{\"id\":300,\"content\":\"<end>\",\"special\":true}"};
  np_vocab *v = NULL;
  np_err e = {0};
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  if (paper_import(paper_write(&b, &p), "", &v, &e)) fprintf(stderr, "%s\n", e.text);
  np_buf_free(&b);
  return v;
}

static void test_vocab(const np_vocab *v) {
  uint32_t *ids = NULL;
  size_t n = 0, cap = 0;
  np_str s = NP_LIT("te\xCC\x81<end>\xCC\x81");
  CHECK("a vocabulary counts the normalized text",
        np_vocab_count(v, np_str_cut(s, 0, 4)) == 1);
  CHECK("and encodes it",
        !np_vocab_encode(v, s, true, &np_alloc_libc, &ids, &n, &cap, NULL) && n == 4 &&
            ids[0] == 257 && ids[1] == 300 && ids[2] == 0xCC);
  CHECK("the same text in form C", np_vocab_count(v, NP_LIT("t\xC3\xA9")) == 1);
  free(ids);
}

/* The longest beginning or end between parts, by trying all. */
static size_t fit_slowly(const np_vocab *v, np_str s, size_t limit, bool tail) {
  size_t best = 0;
  for (size_t at = 0; at <= s.n; at++) {
    np_str part = tail ? np_str_cut(s, at, s.n) : np_str_cut(s, 0, at);
    if (!np_nfc_between(s, at) || part.n < best) continue;
    if (np_vocab_count(v, part) <= limit) best = part.n;
  }
  return best;
}

static void test_fit(const np_vocab *v) {
  char text[4 * 40];
  bool ok = true, same = true;
  for (int i = 0; ok && same && i < 500; i++) {
    np_str s = np_str_of(text, make(text, 40));
    np_str form = nfc(s);
    size_t all = np_vocab_count(v, form);
    same = np_vocab_count(v, s) == all;
    if (np_str_eq(form, s)) continue;
    for (size_t limit = 0; ok && limit <= all; limit += 1 + pick(3)) {
      ok = np_vocab_fit(v, s, limit, false) == fit_slowly(v, s, limit, false) &&
           np_vocab_fit(v, s, limit, true) == fit_slowly(v, s, limit, true);
    }
  }
  CHECK("texts count as their form C does", same);
  CHECK("the longest cut between parts is found", ok);
}

static void test_append(const np_vocab *v) {
  char text[4 * 60];
  bool ok = true;
  for (int i = 0; ok && i < 3000; i++) {
    np_counter c;
    np_counter_init(&c, v, &np_alloc_libc);
    size_t n = make(text, 60);
    for (size_t at = 0; ok && at < n;) {
      size_t step = 1 + pick(9);
      if (step > n - at) step = n - at;
      ok = np_counter_add(&c, np_str_of(text + at, step));
      at += step;
      ok = ok && np_counter_tokens(&c) == np_vocab_count(v, np_str_of(text, at));
    }
    np_counter_free(&c);
  }
  CHECK("a text that arrives bit by bit has the tokens of the whole", ok);
}

int main(void) {
  state = check_seed(20264);
  np_vocab *v = vocab();
  np_buf_init(&out, &np_alloc_libc);
  np_buf_init(&again, &np_alloc_libc);
  test_random();
  test_parts();
  test_odd();
  test_long();
  if (v) {
    test_vocab(v);
    test_fit(v);
    test_append(v);
  }
  CHECK("the small vocabulary is read", v != NULL);
  np_vocab_free(v);
  np_buf_free(&out);
  np_buf_free(&again);
  return check_done();
}
