/*
** Fitting and appending with the split families of imported vocabularies, against trying
** every cut and against counting the whole text again. The tokens are those of cl100k.
** next: test_split_family.c
*/
#include "check.h"

#include "token/append.h"

static unsigned long long state;

static unsigned pick(unsigned n) {
  return (unsigned)(check_random(&state) % n);
}

static const char *const bits[] = {" ",  " ",        "  ",   "\n",        "\r\n",
                                   "\t", "a",        "the",  "Word",      "IT",
                                   "'s", "'",        "'l",   "l",         "1",
                                   "23", "4567",     ".",    "//",        "!?",
                                   "-",  "_",        "漢",   "字",        "か",
                                   "・", "é",        "ß",    "e\xCC\x81", "\xE2\x80\x8D",
                                   "😀",  "\xC2\xA0", "\xFF", "\1"};

static size_t make(char *text, unsigned most) {
  size_t n = 0;
  const char *few[2] = {bits[pick(NP_COUNT(bits))], bits[pick(NP_COUNT(bits))]};
  unsigned manner = pick(3);
  for (unsigned i = 1 + pick(most); i > 0; i--) {
    const char *s = manner ? bits[pick(NP_COUNT(bits))] : few[pick(2)];
    memcpy(text + n, s, strlen(s));
    n += strlen(s);
  }
  return n;
}

static size_t fit_slowly(const np_vocab *v, np_str s, size_t limit, bool tail) {
  size_t best = 0;
  for (size_t at = 0; at <= s.n; at++) {
    np_str part = tail ? np_str_cut(s, at, s.n) : np_str_cut(s, 0, at);
    if (!np_split_between(s, at) || part.n <= best) continue;
    if (np_vocab_count(v, part) <= limit) best = part.n;
  }
  return best;
}

static bool fits(const np_vocab *v, np_str s) {
  size_t all = np_vocab_count(v, s), limit = pick((unsigned)all + 1);
  for (int tail = 0; tail < 2; tail++) {
    size_t got = np_vocab_fit(v, s, limit, tail), want = fit_slowly(v, s, limit, tail);
    if (got == want) continue;
    fprintf(stderr, "kind %d, %s %zu: want %zu, got %zu:", v->split,
            tail ? "tail" : "head", limit, want, got);
    for (size_t i = 0; i < s.n; i++) fprintf(stderr, " %02X", (uint8_t)s.p[i]);
    fprintf(stderr, "\n");
    return false;
  }
  return true;
}

static bool appends(const np_vocab *v, np_str s) {
  np_counter c;
  np_counter_init(&c, v, &np_alloc_libc);
  bool ok = true;
  for (size_t at = 0, step; ok && at < s.n; at += step) {
    step = 1 + pick(6);
    if (step > s.n - at) step = s.n - at;
    size_t want = np_vocab_count(v, np_str_cut(s, 0, at + step));
    ok =
        np_counter_add(&c, np_str_cut(s, at, at + step)) && np_counter_tokens(&c) == want;
    if (!ok) fprintf(stderr, "kind %d at %zu of %zu\n", v->split, at + step, s.n);
  }
  np_counter_free(&c);
  return ok;
}

static void test_kind(np_vocab *v, np_split_kind kind) {
  char text[40 * 8];
  bool fit = true, append = true;
  v->split = kind;
  for (int i = 0; fit && append && i < 3000; i++) {
    np_str s = np_str_of(text, make(text, i % 8 ? 8 : 40));
    fit = fits(v, s);
    append = appends(v, s);
  }
  CHECK("the longest cut is found", fit);
  CHECK("what is appended counts as the whole", append);
}

int main(void) {
  const char *dir = getenv("NEAP_TEST_VOCAB");
  np_vocab *v = NULL;
  np_err e = {0};
  state = check_seed(20265);
  if (np_vocab_open(&np_alloc_libc, dir ? dir : "core/token/data", NP_LIT("cl100k_base"),
                    &v, &e)) {
    fprintf(stderr, "%s\n", e.text);
    CHECK("the vocabulary loads", false);
    return check_done();
  }
  np_split_kind own = v->split;
  for (int kind = NP_SPLIT_CL100K; kind < NP_SPLIT_END; kind++) {
    test_kind(v, (np_split_kind)kind);
  }
  v->split = own;
  np_vocab_free(v);
  return check_done();
}
