/*
** Fitting to characters, graphemes and lines, beginnings and ends, against trying every cut:
** the result fits, and no longer text that ends at such a cut does. Texts of which all
** prefixes are counted are short; known cases are longer. next: test_token_random.c
*/
#include "check.h"

#include "text/text.h"
#include "token/token.h"

static unsigned long long state;

static unsigned pick(unsigned n) {
  return (unsigned)(check_random(&state) % n);
}

static const char *data_dir(void) {
  const char *dir = getenv("NEAP_TEST_VOCAB");
  return dir ? dir : "core/token/data";
}

static const char *const parts[] = {
    " ",
    "  ",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    "'s",
    "'ll",
    "the",
    " of",
    "HTTP",
    "a",
    "Zu",
    "12",
    "3456",
    "!",
    "--",
    "/",
    ".\n",
    "\xC3\xA9",
    "e\xCC\x81",
    "\xE4\xBD\xA0\xE5\xA5\xBD",
    "\xE3\x81\x82",
    "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7",
    "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA",
    "\xEA\xB0\x81",
    "\xE0\xA4\x95\xE0\xA5\x8D\xE0\xA4\xB7",
    "\xC3",
    "\xE4\xBD",
    "\x80",
    "\xFF",
    "<|endoftext|>"};

static size_t make_text(char *p, size_t n) {
  size_t at = 0;
  unsigned few = pick(3) ? (unsigned)NP_COUNT(parts) : 1 + pick(4), from = pick(20);
  for (;;) {
    const char *s = parts[(from + pick(few)) % NP_COUNT(parts)];
    size_t len = strlen(s);
    if (len > n - at) return at;
    memcpy(p + at, s, len);
    at += len;
  }
}

/* A second way to say where the cuts are. */
static bool is_cut(np_str s, size_t at, np_cut kind) {
  if (at == 0 || at == s.n) return true;
  if (kind == NP_CUT_LINES) return s.p[at - 1] == '\n';
  if (kind == NP_CUT_GRAPHEMES) return np_grapheme_floor(s, at) == at;
  return np_utf8_floor(s, at) == at;
}

static size_t fit_plainly(const np_vocab *v, np_str s, size_t limit, bool tail,
                          np_cut kind) {
  for (size_t n = s.n; n > 0; n--) {
    if (!is_cut(s, tail ? s.n - n : n, kind)) continue;
    np_str part = tail ? np_str_cut(s, s.n - n, s.n) : np_str_cut(s, 0, n);
    if (np_vocab_count(v, part) <= limit) return n;
  }
  return 0;
}

static bool same_as_plain(const np_vocab *v, np_str s, size_t limit, bool tail,
                          np_cut kind) {
  size_t want = fit_plainly(v, s, limit, tail, kind);
  size_t got = np_vocab_fit_cut(v, s, limit, tail, kind);
  if (got == want) return true;
  fprintf(stderr, "  kind %d, limit %lu, %s: got %lu, expected %lu of\n ", (int)kind,
          (unsigned long)limit, tail ? "end" : "beginning", (unsigned long)got,
          (unsigned long)want);
  for (size_t i = 0; i < s.n; i++) fprintf(stderr, " %02x", (uint8_t)s.p[i]);
  fprintf(stderr, "\n");
  return false;
}

static void check_random_texts(const np_vocab *v, int rounds) {
  static char p[400];
  for (int i = 0; i < rounds; i++) {
    np_str s = {p, make_text(p, 1 + pick(i % 8 ? 80 : 400))};
    size_t limit = pick((unsigned)np_vocab_count(v, s) + 2);
    np_cut kind = (np_cut)pick(3);
    bool ok =
        same_as_plain(v, s, limit, false, kind) && same_as_plain(v, s, limit, true, kind);
    CHECK("the longest text that ends at a cut and fits is found", ok);
    if (!ok) break;
  }
}

static void check_known(const np_vocab *v) {
  np_str s = NP_LIT("one two\nthree four\nfive");
  CHECK("whole lines from the beginning",
        np_vocab_fit_cut(v, s, 5, false, NP_CUT_LINES) == 8);
  CHECK("whole lines up to the end", np_vocab_fit_cut(v, s, 3, true, NP_CUT_LINES) == 4);
  CHECK("what fits is taken whole",
        np_vocab_fit_cut(v, s, 99, true, NP_CUT_LINES) == s.n);
  CHECK("nothing fits in nothing",
        np_vocab_fit_cut(v, s, 0, false, NP_CUT_GRAPHEMES) == 0);
  np_str flags =
      NP_LIT("\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7");
  for (size_t limit = 1; limit < 16; limit++) {
    size_t n = np_vocab_fit_cut(v, flags, limit, false, NP_CUT_GRAPHEMES);
    CHECK("no flag is cut in two", n % 8 == 0);
  }
}

int main(void) {
  state = check_seed(20250202);
  for (size_t k = 0; k < np_encoding_count(); k++) {
    np_vocab *v = NULL;
    np_err e;
    np_str name = np_str_cstr(np_encoding_at(k)->name);
    neap_rc rc = np_vocab_open(&np_alloc_libc, data_dir(), name, &v, &e);
    CHECK("the shipped vocabulary opens", rc == NEAP_OK);
    if (rc != NEAP_OK) {
      fprintf(stderr, "  %s\n", e.text);
      break;
    }
    check_known(v);
    check_random_texts(v, 3000);
    np_vocab_free(v);
  }
  return check_done();
}
