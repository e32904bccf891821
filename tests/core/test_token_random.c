/*
** The tokenizer on random texts: merging against a plain reference that merges the lowest
** pair again and again, decoding what was encoded, all ways of counting, and fitting
** against trying every cut. Known values are in test_token.c. next: test_token.c
*/
#include "check.h"

#include "token/bpe.h"

static unsigned long long state;

static unsigned pick(unsigned n) {
  return (unsigned)(check_random(&state) % n);
}

static const char *data_dir(void) {
  const char *dir = getenv("NEAP_TEST_VOCAB");
  return dir ? dir : "core/token/data";
}

/* ---- texts ------------------------------------------------------------------------- */

static size_t put_utf8(char *p, uint32_t cp) {
  if (cp < 0x80) {
    p[0] = (char)cp;
    return 1;
  }
  size_t n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
  for (size_t i = n - 1; i > 0; i--, cp >>= 6) p[i] = (char)(0x80 | (cp & 0x3F));
  p[0] = (char)((0xF00 >> n) | cp);
  return n;
}

/* Characters that the patterns treat in different ways, and some that share tokens. */
static const uint32_t odd[] = {
    ' ',    ' ',     ' ',     '\n',     '\n',   '\r',   '\t',   0x0B,    0x85,
    0xA0,   0x3000,  0x2028,  '\'',     '\'',   's',    't',    'r',     'e',
    'l',    'L',     'D',     0x17F,    '/',    '!',    '-',    '=',     '1',
    '2',    0x661,   0xB2,    'A',      'B',    'a',    'b',    0xC0,    0xE9,
    0x1C5,  0xAA,    0x2B0,   0x5D0,    0x4F60, 0x597D, 0x301,  0x93E,   0xFE0F,
    0x200D, 0x1F469, 0x1F600, 0x10FFFF, 0xE000, 0x378,  0x180E, 0x1E900, 0x3042};

static uint32_t any_point(void) {
  static const uint32_t tops[] = {0x80, 0x250, 0x800, 0x3000, 0xD800, 0x20000};
  return pick(tops[pick(NP_COUNT(tops))]);
}

/* Fills p with up to n bytes of one of seven manners; returns their number. */
static size_t make_text(char *p, size_t n) {
  size_t at = 0;
  unsigned manner = pick(7);
  uint32_t few[3] = {odd[pick(NP_COUNT(odd))], odd[pick(NP_COUNT(odd))],
                     odd[pick(NP_COUNT(odd))]};
  unsigned kinds = 1 + pick(3);
  while (at + 4 <= n) {
    switch (manner) {
      case 0: p[at++] = (char)pick(256); break;
      case 1: p[at++] = (char)(32 + pick(95)); break;
      case 2: at += put_utf8(p + at, any_point()); break;
      case 3: at += put_utf8(p + at, odd[pick(NP_COUNT(odd))]); break;
      case 4: at += put_utf8(p + at, few[pick(kinds)]); break; /* long runs */
      case 5: at += put_utf8(p + at, "etaoin shr"[pick(10)]); break;
      default: /* a bit of everything */
        if (pick(8) == 0) p[at++] = (char)(0x80 + pick(128));
        at += pick(3) || at + 4 > n ? 0 : put_utf8(p + at, any_point());
        if (at + 4 <= n) at += put_utf8(p + at, odd[pick(NP_COUNT(odd))]);
    }
  }
  return at;
}

static void show(const char *what, np_str text) {
  fprintf(stderr, "  %s:", what);
  for (size_t i = 0; i < text.n && i < 400; i++)
    fprintf(stderr, " %02x", (uint8_t)text.p[i]);
  fprintf(stderr, "\n");
}

/* ---- merging ----------------------------------------------------------------------- */

/* The definition: of all neighbours that are a token together, the lowest id is merged,
** the leftmost first. starts[] gets where tokens begin, and the end behind them. */
static size_t merge_plainly(const np_vocab *v, const uint8_t *p, size_t n,
                            size_t *starts) {
  size_t parts = n;
  for (size_t i = 0; i <= n; i++) starts[i] = i;
  for (;;) {
    uint32_t best = NP_TOKEN_NONE;
    size_t where = 0;
    for (size_t i = 0; i + 1 < parts; i++) {
      uint32_t id = np_vocab_find(v, p + starts[i], starts[i + 2] - starts[i]);
      if (id < best) {
        best = id;
        where = i;
      }
    }
    if (best == NP_TOKEN_NONE) return parts;
    memmove(starts + where + 1, starts + where + 2, (parts - where - 1) * sizeof *starts);
    parts--;
  }
}

typedef struct ids {
  uint32_t *p;
  size_t n, cap;
} ids;

static bool same_as_plain(const np_vocab *v, np_str text, const ids *got) {
  static size_t starts[4096];
  const uint8_t *p = (const uint8_t *)text.p, *end = p + text.n;
  size_t k = 0;
  while (p < end) {
    size_t n = np_split_next(v->split, p, end);
    size_t parts = merge_plainly(v, p, n, starts);
    for (size_t i = 0; i < parts; i++, k++) {
      uint32_t id = np_vocab_find(v, p + starts[i], starts[i + 1] - starts[i]);
      if (k >= got->n || got->p[k] != id) return false;
    }
    p += n;
  }
  return k == got->n;
}

static bool decodes_back(const np_vocab *v, np_str text, const ids *got) {
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  bool ok = np_vocab_decode(v, got->p, got->n, &b, NULL) == NEAP_OK &&
            np_str_eq(np_buf_str(&b), text);
  np_buf_free(&b);
  return ok;
}

/* A table of four words, so that they push each other out, and one that keeps them. */
static bool counts_with_words(const np_vocab *v, np_words *const words[2], np_str text,
                              size_t n) {
  return np_vocab_count_with(v, words[0], text) == n &&
         np_vocab_count_with(v, words[1], text) == n &&
         np_vocab_count_with(v, words[1], text) == n;
}

static void check_merging(const np_vocab *v, int rounds) {
  static char p[700];
  np_words *words[2] = {np_words_new(v, &np_alloc_libc, 4),
                        np_words_new(v, &np_alloc_libc, 0)};
  ids got = {NULL, 0, 0};
  for (int i = 0; i < rounds; i++) {
    np_str text = {p, make_text(p, 4 + pick(i % 16 ? 60 : 600))};
    got.n = 0;
    bool ok = np_vocab_encode(v, text, false, &np_alloc_libc, &got.p, &got.n, &got.cap,
                              NULL) == NEAP_OK;
    CHECK("encoding gives the ids of plain merging", ok && same_as_plain(v, text, &got));
    CHECK("decoding gives the text back", decodes_back(v, text, &got));
    CHECK("counting gives the number of ids", np_vocab_count(v, text) == got.n);
    CHECK("words seen before change no count", counts_with_words(v, words, text, got.n));
    if (check_failed) {
      show("text", text);
      break;
    }
  }
  np_words_free(words[0]);
  np_words_free(words[1]);
  free(got.p);
}

/* ---- long pieces ------------------------------------------------------------------- */

/* A run of letters, spaces or characters of three bytes, longer than a window. */
static void make_run(char *p, size_t n) {
  static const char *const sets[] = {"a",   "ab", "ABCDEFGHabcdefgh", " ",
                                     "\n ", "=-", "aaaaaaab"};
  const char *set = sets[pick(NP_COUNT(sets))];
  static const uint32_t scripts[] = {0x4E00,  0x430, 0xAC00, 0x3042,
                                     0x1F600, 0x915, 0xE01};
  bool wide = pick(2) == 0;
  uint32_t first = scripts[pick(NP_COUNT(scripts))];
  uint32_t second = scripts[pick(NP_COUNT(scripts))];
  unsigned letters = first == 0x4E00 || first == 0xAC00 ? 400 : 32;
  for (size_t at = 0; at + 4 <= n;) {
    uint32_t cp = pick(16) ? first + pick(letters) : second + pick(32);
    at += wide ? put_utf8(p + at, cp)
               : put_utf8(p + at, (uint8_t)set[pick((unsigned)strlen(set))]);
    while (at + 4 > n && at < n) p[at++] = 'a';
  }
}

/* Windows, the track byte by byte, and encoding agree; the parts of a window are small
** beside these pieces, so their ends are met many times. */
static void check_long(const np_vocab *v) {
  enum { SIZE = 3 * NP_BPE_WINDOW + 17 };
  static char p[SIZE];
  static np_track t;
  ids got = {NULL, 0, 0};
  for (int i = 0; i < 40; i++) {
    make_run(p, SIZE);
    np_str text = {p, SIZE};
    const uint8_t *q = (const uint8_t *)p, *end = q + SIZE;
    size_t count = 0;
    while (q < end) {
      size_t n = np_split_next(v->split, q, end);
      np_track_begin(&t, NP_TOKEN_NONE, 0);
      while (t.at < n) np_track_step(v, q, n, &t);
      count += t.count[n & 255];
      q += n;
    }
    got.n = 0;
    bool ok = np_vocab_encode(v, text, false, &np_alloc_libc, &got.p, &got.n, &got.cap,
                              NULL) == NEAP_OK;
    CHECK("a long piece has the count that the track finds",
          np_vocab_count(v, text) == count);
    CHECK("a long piece encodes to that many ids", ok && got.n == count);
    CHECK("a long piece decodes to itself", decodes_back(v, text, &got));
    if (check_failed) break;
  }
  free(got.p);
}

/* Words of a few dozen kinds again and again: more than a batch holds, of lengths around those
** of keys. */
static size_t make_words(char *p, size_t n) {
  char word[64][40];
  size_t size[64], at = 0;
  for (unsigned i = 0; i < 64; i++) size[i] = make_text(word[i], 5 + pick(28));
  while (at + 48 < n) {
    unsigned i = pick(64);
    memcpy(p + at, word[i], size[i]);
    at += size[i];
    if (pick(2)) p[at++] = ' ';
  }
  return at;
}

/* Each text lies in memory of its own, so that the sanitizers see a byte read beyond it. */
static void check_words(const np_vocab *v) {
  static char p[20000];
  ids got = {NULL, 0, 0};
  np_words *words[2] = {np_words_new(v, &np_alloc_libc, 64),
                        np_words_new(v, &np_alloc_libc, 0)};
  for (int i = 0; i < 300 && !check_failed; i++) {
    size_t n = i % 10 ? make_text(p, 4 + pick(40)) : make_words(p, 49 + pick(19000));
    char *copy = malloc(n);
    np_str text = {memcpy(copy, p, n), n};
    got.n = 0;
    bool ok = np_vocab_encode(v, text, false, &np_alloc_libc, &got.p, &got.n, &got.cap,
                              NULL) == NEAP_OK;
    CHECK("texts of words count as they encode",
          ok && np_vocab_count(v, text) == got.n &&
              counts_with_words(v, words, text, got.n));
    if (check_failed) show("text", text);
    free(copy);
  }
  np_words_free(words[0]);
  np_words_free(words[1]);
  free(got.p);
}

/* ---- fitting ----------------------------------------------------------------------- */

static size_t fit_plainly(const np_vocab *v, np_str text, size_t limit, bool at_end) {
  for (size_t n = text.n; n > 0; n--) {
    np_str part = at_end ? np_str_cut(text, text.n - n, text.n) : np_str_cut(text, 0, n);
    if (!np_split_between(text, at_end ? text.n - n : n)) continue;
    if (np_vocab_count(v, part) <= limit) return n;
  }
  return 0;
}

static bool fits(const np_vocab *v, np_str text, size_t limit, bool at_end) {
  size_t want = fit_plainly(v, text, limit, at_end);
  size_t got = np_vocab_fit(v, text, limit, at_end);
  if (got == want) return true;
  fprintf(stderr, "  limit %lu, %s: got %lu, expected %lu of %lu\n", (unsigned long)limit,
          at_end ? "end" : "beginning", (unsigned long)got, (unsigned long)want,
          (unsigned long)text.n);
  show("text", text);
  return false;
}

static void check_fit(const np_vocab *v, int rounds) {
  static char p[700];
  for (int i = 0; i < rounds; i++) {
    np_str text = {p, make_text(p, 4 + pick(i % 8 ? 60 : 500))};
    size_t limit = pick((unsigned)np_vocab_count(v, text) + 2);
    bool first = fits(v, text, limit, false), last = fits(v, text, limit, true);
    CHECK("the longest beginning is found", first);
    CHECK("the longest end is found", last);
    if (!first || !last) break;
  }
}

/* True when the next few longer cuts do not fit. */
static bool is_longest(const np_vocab *v, np_str text, size_t limit, size_t n,
                       bool at_end) {
  for (size_t more = n + 1; more <= text.n && more <= n + 40; more++) {
    np_str part =
        at_end ? np_str_cut(text, text.n - more, text.n) : np_str_cut(text, 0, more);
    if (!np_split_between(text, at_end ? text.n - more : more)) continue;
    if (np_vocab_count(v, part) <= limit) return false;
  }
  return true;
}

/* Texts too long to try every cut. */
static void check_long_fit(const np_vocab *v) {
  enum { SIZE = 2 * NP_BPE_WINDOW + 5 };
  static char p[SIZE];
  for (int i = 0; i < 12; i++) {
    make_run(p, SIZE);
    np_str text = {p, SIZE};
    size_t total = np_vocab_count(v, text), limit = 1 + pick((unsigned)total);
    size_t first = np_vocab_fit(v, text, limit, false),
           last = np_vocab_fit(v, text, limit, true);
    size_t a = np_vocab_count(v, np_str_cut(text, 0, first));
    size_t b = np_vocab_count(v, np_str_cut(text, SIZE - last, SIZE));
    CHECK("a long beginning is within its limit", a <= limit);
    CHECK("a long end is within its limit", b <= limit);
    CHECK("a long beginning is the longest", is_longest(v, text, limit, first, false));
    CHECK("a long end is the longest", is_longest(v, text, limit, last, true));
    CHECK("cuts are between characters",
          np_split_between(text, first) && np_split_between(text, SIZE - last));
  }
}

int main(void) {
  state = check_seed(20240607);
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
    check_merging(v, 4000);
    check_long(v);
    check_words(v);
    check_fit(v, 1500);
    check_long_fit(v);
    np_vocab_free(v);
  }
  return check_done();
}
