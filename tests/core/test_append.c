/*
** The counter against counting the whole text again, after every single append: random
** texts of every class, in random parts down to one byte; long pieces, runs of white
** space, words with cases, contractions, half characters. Copies; running out of memory.
** next: test_token_random.c
*/
#include "check.h"

#include "token/append.h"

static unsigned long long state;

static unsigned pick(unsigned n) {
  return (unsigned)(check_random(&state) % n);
}

static const char *data_dir(void) {
  const char *dir = getenv("NEAP_TEST_VOCAB");
  return dir ? dir : "core/token/data";
}

/* ---- texts ------------------------------------------------------------------------- */

/* Pieces of text whose cuts depend on each other: each class alone and in twos. */
static const char *const parts[] = {" ",
                                    " ",
                                    "  ",
                                    "\n",
                                    "\n",
                                    "\r\n",
                                    "\t",
                                    "\xC2\xA0",
                                    "\xE3\x80\x80",
                                    "\xC2\x85",
                                    "'",
                                    "'",
                                    "'s",
                                    "'S",
                                    "'l",
                                    "'ll",
                                    "'LL",
                                    "'r",
                                    "'re",
                                    "'v",
                                    "'Ve",
                                    "'d",
                                    "'m",
                                    "'t",
                                    "'\xC5\xBF",
                                    "'\xC5",
                                    "s",
                                    "l",
                                    "e",
                                    "a",
                                    "abc",
                                    "the",
                                    "A",
                                    "AB",
                                    "HTTP",
                                    "Zu",
                                    "\xC3\x80",
                                    "\xC3\xA9",
                                    "\xC7\x85",
                                    "\xC2\xAA",
                                    "\xCA\xB0",
                                    "\xD7\x90",
                                    "\xE4\xBD\xA0",
                                    "\xE5\xA5\xBD",
                                    "\xE3\x81\x82",
                                    "\xCC\x81",
                                    "\xE0\xA4\xBE",
                                    "\xEF\xB8\x8F",
                                    "\xE2\x80\x8D",
                                    "\xF0\x9F\x91\xA9",
                                    "\xF0\x9F\x98\x80",
                                    "\xF0\x9E\xA4\x80",
                                    "\xF4\x8F\xBF\xBF",
                                    "1",
                                    "23",
                                    "456",
                                    "\xD9\xA1",
                                    "\xC2\xB2",
                                    "!",
                                    "=",
                                    "--",
                                    "/",
                                    "//",
                                    "!\n",
                                    "!/\n/",
                                    ".",
                                    ",",
                                    "_",
                                    "<|endoftext|>",
                                    "\xC3",
                                    "\xE4",
                                    "\xE4\xBD",
                                    "\xF0\x9F",
                                    "\xF0\x9F\x98",
                                    "\x80",
                                    "\xFF",
                                    "\xED\xA0\x80",
                                    "\xC0\x80",
                                    "\xE0\x80",
                                    "\xF4\x90",
                                    "\xEF\xBB\xBF",
                                    "\xE3\x80\x82",
                                    "\xEF\xBC\x8C",
                                    "\xE7\x95\x8C",
                                    "\xE4\xB8\x96",
                                    "\n\xE5",
                                    "$a",
                                    "(b"};

static size_t put(char *p, size_t at, size_t n, const char *s) {
  size_t len = strlen(s);
  if (len > n - at) len = n - at; /* cuts characters too */
  memcpy(p + at, s, len);
  return at + len;
}

/* n bytes: a few manners after each other, among them long runs of one or two parts. */
static void make_text(char *p, size_t n) {
  size_t at = 0;
  while (at < n) {
    unsigned manner = pick(6), few[3], kinds = 1 + pick(3),
             length = 1 + pick(pick(4) ? 12 : 300);
    for (unsigned i = 0; i < 3; i++) few[i] = pick(NP_COUNT(parts));
    for (unsigned i = 0; i < length && at < n; i++) {
      if (manner == 0) {
        p[at++] = (char)pick(256);
      } else if (manner == 1) {
        p[at++] = "etaoin shrdluETAOIN'\n"[pick(21)];
      } else if (manner < 4) {
        at = put(p, at, n, parts[few[pick(kinds)]]);
      } else {
        at = put(p, at, n, parts[pick(NP_COUNT(parts))]);
      }
    }
  }
}

static void show(const char *what, np_str text) {
  fprintf(stderr, "  %s:", what);
  size_t from = text.n > 300 ? text.n - 300 : 0;
  if (from) fprintf(stderr, " (%lu bytes before)", (unsigned long)from);
  for (size_t i = from; i < text.n; i++) fprintf(stderr, " %02x", (uint8_t)text.p[i]);
  fprintf(stderr, "\n");
}

/* ---- the property ------------------------------------------------------------------ */

/* Appends `text` in parts of 1 to `most` bytes and compares after each. */
static bool same_as_recount(np_counter *c, np_str text, unsigned most) {
  size_t at = 0;
  while (at < text.n) {
    size_t n = 1 + pick(most);
    if (n > text.n - at) n = text.n - at;
    bool ok = np_counter_add(c, np_str_cut(text, at, at + n));
    at += n;
    size_t want = np_vocab_count(c->v, np_str_cut(text, 0, at));
    size_t got = np_counter_tokens(c);
    if (ok && got == want) continue;
    fprintf(stderr,
            "  %s, after %lu bytes, the last %lu at once: got %lu, expected %lu\n",
            np_vocab_info(c->v)->name, (unsigned long)at, (unsigned long)n,
            (unsigned long)got, (unsigned long)want);
    show("text", np_str_cut(text, 0, at));
    return false;
  }
  return true;
}

static void check_random_texts(const np_vocab *v, int rounds) {
  static char p[1200];
  np_counter c;
  np_counter_init(&c, v, &np_alloc_libc);
  for (int i = 0; i < rounds; i++) {
    np_str text = {p, 1 + pick(i % 16 ? 90 : 1200)};
    make_text(p, text.n);
    np_counter_reset(&c);
    bool ok = same_as_recount(&c, text, i % 3 ? 1 + pick(60) : 1);
    CHECK("after every append the count is that of the whole text", ok);
    if (!ok) break;
  }
  np_counter_free(&c);
}

/* Runs without a settled cut, longer than any window, then a byte that settles them. */
static void check_runs(const np_vocab *v) {
  static const char *const ends[] = {"a",  "A",   " a", "\n", "\nb",
                                     "'s", "'lx", "7",  "!",  "\xE3\x81\x82"};
  static char p[6000];
  np_counter c;
  np_counter_init(&c, v, &np_alloc_libc);
  for (int i = 0; i < 60; i++) {
    const char *a = parts[pick(NP_COUNT(parts))],
               *b = pick(2) ? a : parts[pick(NP_COUNT(parts))];
    size_t n = 1500 + pick(4000), at = put(p, 0, n, parts[pick(NP_COUNT(parts))]);
    unsigned often = 1 + pick(200);
    while (at < n) at = put(p, at, n, pick(often) ? a : b);
    for (int k = 0; k < 3; k++) at = put(p, at, sizeof p, ends[pick(NP_COUNT(ends))]);
    np_counter_reset(&c);
    bool ok = same_as_recount(&c, np_str_of(p, at), 400);
    CHECK("long runs are counted as a whole", ok);
    if (!ok) break;
  }
  np_counter_free(&c);
}

/* A copy taken anywhere goes on by itself, and so does the first. */
static void check_copies(const np_vocab *v) {
  static char p[3][700];
  for (int i = 0; i < 300; i++) {
    np_counter a, b;
    np_str text[3];
    for (int k = 0; k < 3; k++) {
      text[k] = np_str_of(p[k], 1 + pick(i % 4 ? 60 : 220));
      make_text(p[k], text[k].n);
    }
    np_counter_init(&a, v, &np_alloc_libc);
    bool ok = same_as_recount(&a, text[0], 40) && np_counter_copy(&a, &b);
    CHECK("a counter can be copied", ok);
    if (!ok) break;
    for (int k = 2; k > 0; k--) {
      memcpy(p[0] + text[0].n, p[k], text[k].n);
      np_counter *c = k == 2 ? &b : &a;
      ok = np_counter_add(c, text[k]);
      size_t want = np_vocab_count(v, np_str_of(p[0], text[0].n + text[k].n));
      CHECK("both ways on are counted", ok && np_counter_tokens(c) == want);
    }
    np_counter_free(&a);
    np_counter_free(&b);
  }
}

/* ---- running out of memory --------------------------------------------------------- */

typedef struct limited {
  size_t left; /* allocations that still succeed */
} limited;

static void *limited_malloc(void *ctx, size_t n) {
  limited *l = ctx;
  return l->left && l->left-- ? malloc(n) : NULL;
}

static void *limited_realloc(void *ctx, void *p, size_t old, size_t n) {
  limited *l = ctx;
  (void)old;
  return l->left && l->left-- ? realloc(p, n) : NULL;
}

static void limited_free(void *ctx, void *p) {
  (void)ctx;
  free(p);
}

/* Whatever allocation is the last to succeed: counts are right or refused. Only the text
** needs memory; without the rest pieces are counted anew. */
static void check_memory(const np_vocab *v) {
  static char p[900];
  memset(p, 'q', sizeof p);
  for (size_t i = 0; i < sizeof p; i += 7) p[i] = (char)('a' + pick(26));
  for (size_t most = 0; most < 40; most++) {
    limited l = {most};
    neap_alloc alloc = {limited_malloc, limited_realloc, limited_free, &l};
    np_counter c, d;
    np_counter_init(&c, v, &alloc);
    bool ok = true, fails = false;
    for (size_t at = 0; at < sizeof p && ok; at += 30) {
      fails = !np_counter_add(&c, np_str_of(p + at, 30));
      size_t want = np_vocab_count(v, np_str_of(p, at + 30));
      ok = fails ? !np_counter_add(&c, np_str_of(p, 1)) : np_counter_tokens(&c) == want;
      if (fails) break;
      if (at != 600) continue;
      size_t left = l.left;
      if (np_counter_copy(&c, &d)) {
        ok = ok && np_counter_tokens(&d) == np_counter_tokens(&c);
        np_counter_free(&d);
      }
      l.left = left;
    }
    CHECK("out of memory, a counter refuses or is right", ok);
    l.left = 1000;
    np_counter_reset(&c);
    CHECK("after a reset it counts again",
          np_counter_add(&c, NP_LIT("hello world")) && np_counter_tokens(&c) == 2);
    np_counter_free(&c);
  }
}

/* All patterns there are, each over this vocabulary: the splitter alone differs. A number
** that is no kind yet must be served as well, by the borders all patterns have; and each
** kind by its borders alone, as where text is normalized. */
static void check_kinds(const np_vocab *v) {
  for (int kind = 1; kind <= 2 * NP_SPLIT_END; kind++) {
    np_vocab other = *v;
    other.split = (np_split_kind)(kind > NP_SPLIT_END ? kind - NP_SPLIT_END : kind);
    if (kind > NP_SPLIT_END) other.flags |= NP_VOCAB_NFC;
    check_random_texts(&other, 500);
    if (check_failed) fprintf(stderr, "  of split kind %d\n", kind);
  }
}

int main(void) {
  state = check_seed(20250101);
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
    check_random_texts(v, 4000);
    check_kinds(v);
    check_runs(v);
    check_copies(v);
    check_memory(v);
    np_vocab_free(v);
  }
  return check_done();
}
