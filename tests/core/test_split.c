/*
** Cutting many pieces at once against cutting one after the other: the same ends for any
** text, any capacity and any place to go on from. What the pieces are is in test_token.c.
** next: test_token.c
*/
#include "check.h"

#include "base/mem.h"
#include "token/split_many.h"

static unsigned long long state;

static unsigned pick(unsigned n) {
  return (unsigned)(check_random(&state) % n);
}

/* ---- texts ------------------------------------------------------------------------- */

/* Each row is one manner of text: strings to put one after the other. */
static const char *const manners[][16] = {
    {"a", "b", "E", "Z", "q", "the", "And"},
    {" ", "a", "B", "1", "\n", "(", "'"},
    {" the", " quick", " Brown", ",", ". ", "\n", "'s", "don't", " 12", "\"", ")"},
    {"'", "'s", "'S", "'T", "'re", "'LL", "'l", "'v", "a", "A", " ", "\xC5\xBF"},
    {" ", " ", "  ", "\t", "\n", "\r\n", "\f", "\v", "x"},
    {"/", "\n", "\r", ";", "*", " ", "a", "/*", "//"},
    {"0", "1", "23", "456", "7890", "a", " ", "."},
    {"A", "Bc", "dE", "FGH", "ijk", "_", "9", "XMLHttp"},
    {"\xE4\xBD\xA0", "\xE5\xA5\xBD", "\xE3\x80\x82", "\xE3\x80\x80", "A", "b",
     "\xE3\x81\x82", "\n", "\xEF\xBC\x8C", "\xEF\xBC\x91"},
    {"\xCC\x81", "e", "E", "\xC3\xA9", "\xC3\x89", "\xC7\x85", "\xCA\xB0", "\xC2\xA0",
     "\xE0\xA4\xBE", "\xEF\xB8\x8F", "!", " "},
    {"\xD0\xBF", "\xD1\x80", "\xD0\x9F", " ", ",", "\xD8\xA7", "\xD9\x8B", "\xE2\x80\x99",
     "\xE2\x80\x94", "\xE2\x80\xA8", "\xE2\x80\x83", "t"},
    {"\xF0\x9F\x98\x80", "\xF0\xA0\x80\x80", "\xF0\x9D\x9F\x8E", "\xE2\x80\x8D",
     "\xC2\x85", " ", "a", "\xED\x95\x9C"},
    {"\x80", "\xC3", "\xE4\xBD", "\xF0\x9F", "\xED\xA0\x80", "\xC0\x80", "\xFF", "a", " ",
     "\xE0\x80\x80", "\xF4\x90\x80\x80", "\xE4\xBD\xA0"},
    {"----", "====", "    ", "\n\n\n\n", "aaaaaaaa", "AAAAAAAA", "11111111", "////",
     "\xE4\xBD\xA0\xE4\xBD\xA0\xE4\xBD\xA0"},
};

static const char *one_of(const char *const *set) {
  unsigned n = 0;
  while (n < 16 && set[n]) n++;
  return set[pick(n)];
}

/* Up to n bytes; the manner changes now and then, and long runs of one string occur. */
static size_t make_text(uint8_t *p, size_t n) {
  size_t at = 0;
  unsigned calm = 1 + pick(60);
  const char *const *set = manners[pick(NP_COUNT(manners))];
  while (at < n) {
    if (!pick(calm)) set = manners[pick(NP_COUNT(manners))];
    const char *s = one_of(set);
    size_t len = strlen(s), times = pick(50) ? 1 : 1 + pick(40);
    if (len > n - at) len = n - at, times = 1;
    while (times-- && at + len <= n) {
      memcpy(p + at, s, len);
      at += len;
    }
  }
  for (unsigned k = pick(8) ? 0 : pick(4); k > 0 && n; k--)
    p[pick((unsigned)n)] = (uint8_t)pick(256);
  return n;
}

/* ---- the property ------------------------------------------------------------------ */

static void show(const uint8_t *p, size_t n) {
  fprintf(stderr, "  text (%lu):", (unsigned long)n);
  for (size_t i = 0; i < n; i++) {
    fprintf(stderr, p[i] > 32 && p[i] < 127 ? "%c" : "\\x%02X", p[i]);
  }
  fprintf(stderr, "\n");
}

/* Cuts the whole text, at most `cap` pieces a call, and compares every end. */
static bool same(np_split_path path, np_split_kind kind, const uint8_t *p, size_t n,
                 size_t cap) {
  static uint32_t ends[512];
  size_t at = 0, next = 0;
  while (at < n) {
    memset(ends, 0xEE, sizeof ends);
    size_t got = np_split_by(path, kind, p + at, p + n, ends, cap), from = at;
    if (!got || got > cap || ends[cap] != 0xEEEEEEEEu) {
      fprintf(stderr, "  %s, kind %d at %lu: %lu pieces of at most %lu\n",
              np_split_path_name(path), kind, (unsigned long)at, (unsigned long)got,
              (unsigned long)cap);
      return false;
    }
    for (size_t i = 0; i < got; i++, at = next) {
      next = at + np_split_next(kind, p + at, p + n);
      if (from + ends[i] == next) continue;
      fprintf(stderr, "  %s, kind %d, piece at %lu: ends at %lu, expected %lu\n",
              np_split_path_name(path), kind, (unsigned long)at,
              (unsigned long)(from + ends[i]), (unsigned long)next);
      return false;
    }
  }
  return true;
}

/* The text lies in memory of just its size, so that a read outside is found out. */
static bool try_text(const uint8_t *text, size_t n, size_t cap) {
  uint8_t *p = malloc(n ? n : 1);
  bool ok = p != NULL;
  if (ok) memcpy(p, text, n);
  for (unsigned path = 0; path < NP_SPLIT_PATHS; path++) {
    if (!np_split_can(path)) continue;
    for (unsigned kind = 1; ok && kind < NP_SPLIT_END; kind++)
      ok = same(path, kind, p, n, cap);
  }
  if (!ok) show(text, n);
  free(p);
  return ok;
}

static void check_random_texts(int rounds) {
  static uint8_t text[2000];
  for (int i = 0; i < rounds; i++) {
    size_t n = make_text(text, pick(i % 8 ? 300 : 2000));
    bool ok = try_text(text, n, 1 + pick(pick(4) ? 500 : 4));
    CHECK("many pieces at once are the pieces one by one", ok);
    if (!ok) break;
  }
}

/* Every short string stands at every distance from the border of a block of 64. */
static void check_borders(void) {
  static uint8_t text[300];
  bool ok = true;
  for (int round = 0; ok && round < 120; round++) {
    size_t n = make_text(text + 64, 200);
    const char *fill = one_of(manners[pick(7)]);
    size_t unit = strlen(fill);
    for (size_t i = 0; i < 64; i++) text[i] = (uint8_t)fill[i % unit];
    for (size_t from = 0; ok && from < 64; from++) ok = try_text(text + from, n, 500);
  }
  CHECK("pieces at every offset in a block are the same", ok);
}

static void check_edges(void) {
  uint32_t ends[2] = {7, 7};
  const uint8_t *p = (const uint8_t *)"ab cd";
  CHECK("an empty text has no pieces", np_split_many(NP_SPLIT_O200K, p, p, ends, 2) == 0);
  CHECK("no room, no pieces", np_split_many(NP_SPLIT_O200K, p, p + 5, ends, 0) == 0);
  CHECK("nothing is written then", ends[0] == 7 && ends[1] == 7);
  CHECK("ends are offsets from the start",
        np_split_many(NP_SPLIT_O200K, p, p + 5, ends, 2) == 2 && ends[0] == 2 &&
            ends[1] == 5);
}

/* What this build has and this machine has not was not tested. */
static void check_paths(void) {
#ifdef NP_SPLIT_X86
  if (!np_split_can(NP_SPLIT_AVX2)) check_skip("pieces by AVX2", "no such processor");
  if (!np_split_can(NP_SPLIT_AVX512)) {
    check_skip("pieces by AVX-512", "no such processor");
  }
#endif
  CHECK("one by one and plain C are everywhere",
        np_split_can(NP_SPLIT_SINGLY) && np_split_can(NP_SPLIT_PLAIN));
  CHECK("what is no path is refused", !np_split_can(NP_SPLIT_PATHS));
}

int main(void) {
  state = check_seed(20261130);
  check_paths();
  check_edges();
  check_random_texts(6000);
  check_borders();
  return check_done();
}
