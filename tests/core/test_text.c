/*
** Text: validity and borders, tables first, then properties against a slow reading from the
** start of the text. next: test_cite.c
*/
#include <utf8proc.h>

#include "text/passing.h"
#include "check.h"
#include "text/text.h"

static np_str lit(const char *s) {
  return np_str_cstr(s);
}

static void lengths(void) {
  static const struct {
    const char *bytes;
    size_t n, len;
  } rows[] = {
      {"a", 1, 1},
      {"\0", 1, 1},
      {"\xC3\xA9", 2, 2},
      {"\xE4\xB8\xAD", 3, 3},
      {"\xF0\x9F\x98\x80", 4, 4},
      {"\xF4\x8F\xBF\xBF", 4, 4},
      {"", 0, 0},
      {"\x80", 1, 0},
      {"\xC0\x80", 2, 0}, /* overlong */
      {"\xC1\xBF", 2, 0},
      {"\xE0\x9F\xBF", 3, 0},
      {"\xED\xA0\x80", 3, 0}, /* a surrogate */
      {"\xF0\x8F\xBF\xBF", 4, 0},
      {"\xF4\x90\x80\x80", 4, 0}, /* above U+10FFFF */
      {"\xF5\x80\x80\x80", 4, 0},
      {"\xE4\xB8", 2, 0}, /* cut off */
      {"\xE4\xB8 ", 3, 0},
      {"\xF0\x9F\x98z", 4, 0},
      {"\xFF", 1, 0},
  };
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    size_t len = np_utf8_len(rows[i].bytes, rows[i].bytes + rows[i].n), n;
    if (len != rows[i].len) fprintf(stderr, "row %zu: got %zu\n", i, len);
    CHECK("tells well-formed sequences from malformed ones", len == rows[i].len);
    if (rows[i].n == 0) continue;
    uint32_t c = np_utf8_decode(rows[i].bytes, rows[i].bytes + rows[i].n, &n);
    CHECK("a malformed byte is one U+FFFD", len ? n == len : n == 1 && c == 0xFFFD);
  }
  size_t n;
  const char *smile = "\xF0\x9F\x98\x80";
  CHECK("decodes four bytes", np_utf8_decode(smile, smile + 4, &n) == 0x1F600 && n == 4);
}

static void repair(void) {
  static const struct {
    const char *in, *out;
    size_t valid, repaired;
  } rows[] = {
      {"plain text, long enough for words", "plain text, long enough for words", 33, 0},
      {"", "", 0, 0},
      {"caf\xC3\xA9", "caf\xC3\xA9", 5, 0},
      {"caf\xC3", "caf\xEF\xBF\xBD", 3, 1},
      {"\xFF\xFEok", "\xEF\xBF\xBD\xEF\xBF\xBDok", 0, 2},
      {"12345678\x80rest", "12345678\xEF\xBF\xBDrest", 8, 1},
      {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", 0, 3},
  };
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    np_buf b;
    np_buf_init(&b, &np_alloc_libc);
    CHECK("finds the first malformed byte",
          np_utf8_valid(lit(rows[i].in)) == rows[i].valid);
    CHECK("counts repairs", np_utf8_repair(lit(rows[i].in), &b) == rows[i].repaired);
    CHECK("repairs byte by byte", np_str_is(np_buf_str(&b), rows[i].out));
    CHECK("a repaired text is valid", np_utf8_valid(np_buf_str(&b)) == b.n);
    np_buf_free(&b);
  }
}

static void kinds(void) {
  static const uint32_t yes[] = {0x4E2D, 0x3042,  0x30A2, 0x30FC,
                                 0xD55C, 0x20000, 0xFF71, 0x3005};
  static const uint32_t no[] = {'a',    0x3002, 0xFF0C,  0x30FB,
                                0x3000, 0xE9,   0x1F600, 0x300C};
  for (size_t i = 0; i < NP_COUNT(yes); i++) CHECK("is CJK", np_is_cjk(yes[i]));
  for (size_t i = 0; i < NP_COUNT(no); i++) CHECK("is not CJK", !np_is_cjk(no[i]));
  CHECK("letters of any script", np_is_letter('z') && np_is_letter(0xE9) &&
                                     np_is_letter(0x431) && np_is_letter(0x4E2D));
  CHECK("no letters", !np_is_letter('1') && !np_is_letter('_') &&
                          !np_is_letter(0x1F600) && !np_is_letter(0xFFFD) &&
                          !np_is_letter(0x110000) && !np_is_letter('[') &&
                          !np_is_letter('@'));
}

static void lines(void) {
  static const struct {
    const char *text;
    size_t count, from, to;
    const char *slice;
  } rows[] = {
      {"", 0, 1, 1, ""},
      {"a", 1, 1, 1, "a"},
      {"a\n", 1, 1, 9, "a\n"},
      {"\n\n", 2, 2, 2, "\n"},
      {"a\nb\nc", 3, 2, 3, "b\nc"},
      {"a\nb\nc", 3, 1, 2, "a\nb\n"},
      {"a\r\nb\r\n", 2, 2, 2, "b\r\n"},
      {"a\nb", 2, 3, 4, ""},
      {"a\nb", 2, 0, 1, ""},
      {"a\nb", 2, 2, 1, ""},
      {"a\nb", 2, 1, SIZE_MAX, "a\nb"},
  };
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    np_str s = lit(rows[i].text), rest = s, line;
    size_t n = 0, bytes = 0;
    while (np_line_next(&rest, &line)) n++, bytes += line.n;
    CHECK("counts lines", np_lines_count(s) == rows[i].count);
    CHECK("iterates over as many", n == rows[i].count);
    CHECK("lines leave out nothing but newlines", bytes <= s.n && bytes + n + 1 >= s.n);
    CHECK("slices lines",
          np_str_is(np_lines_slice(s, rows[i].from, rows[i].to), rows[i].slice));
  }
}

/* Clusters that have broken other programs, as text | border | text. */
static void clusters(void) {
  static const struct {
    const char *text;
    size_t at, floor, ceil;
  } rows[] = {
      {"a\r\nb", 2, 1, 3},
      {"e\xCC\x81x", 1, 0, 3},
      {"\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9", 7, 0, 11}, /* man, joiner, woman */
      {"\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD!", 4, 0, 8},             /* thumb, skin tone */
      {"\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7", 4, 0, 8},
      {"\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7", 8, 8, 8},
      {"\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7", 13, 8, 16},
      {"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", 3, 0, 9}, /* hangul in parts */
      {"\xE4\xB8\xAD\xE6\x96\x87", 4, 3, 6},
      {"abc", 2, 2, 2},
      {"abc", 7, 3, 3},
      {"", 0, 0, 0},
      {"a\xFF\xFF"
       "b",
       2, 2, 2},
  };
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    np_str s = lit(rows[i].text);
    size_t f = np_grapheme_floor(s, rows[i].at), c = np_grapheme_ceil(s, rows[i].at);
    if (f != rows[i].floor || c != rows[i].ceil) {
      fprintf(stderr, "row %zu: got %zu %zu\n", i, f, c);
    }
    CHECK("the border before", f == rows[i].floor);
    CHECK("the border after", c == rows[i].ceil);
  }
}

static const char *const atoms[] = {
    "a",
    "Z",
    " ",
    "\n",
    "\r\n",
    "\r",
    "\xC3\xA9",
    "e\xCC\x81",
    "\xE4\xB8\xAD",
    "\xE6\x96\x87",
    "\xF0\x9F\x98\x80",
    "\xE2\x80\x8D",
    "\xF0\x9F\x91\xA9",
    "\xEF\xB8\x8F",
    "\xF0\x9F\x8F\xBD",
    "\xF0\x9F\x87\xA9",
    "\xF0\x9F\x87\xAA",
    "\xE1\x84\x92",
    "\xE1\x85\xA1",
    "\xE0\xA4\x95",
    "\xE0\xA5\x8D",
    "\xE0\xA4\xB7",
    "\xE0\xA4\xBF",
    "\xD8\x80",
    "\xFF",
    "\xC3",
    "\xE4\xB8",
    "\x80",
    "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA",
    "\xCC\x81"};

static np_str random_text(unsigned long long *rng, char *out, size_t parts) {
  size_t n = 0, repeat = 0;
  const char *s = "";
  for (size_t i = 0; i < parts; i++) {
    if (repeat == 0) {
      s = atoms[check_random(rng) % NP_COUNT(atoms)];
      repeat = check_random(rng) % 8 == 0 ? check_random(rng) % 40 : 1;
    } else {
      repeat--;
    }
    memcpy(out + n, s, strlen(s));
    n += strlen(s);
  }
  return np_str_of(out, n);
}

/* Marks every character border with 1, every cluster border with 2, reading from the start. */
static size_t slow_borders(np_str s, unsigned char *mark) {
  utf8proc_int32_t state = 0;
  size_t n, longest = 0, run = 0;
  uint32_t prev = 0;
  memset(mark, 0, s.n + 1);
  for (size_t at = 0; at < s.n; at += n) {
    uint32_t c = np_utf8_decode(s.p + at, s.p + s.n, &n);
    bool border = at == 0 || utf8proc_grapheme_break_stateful(
                                 (utf8proc_int32_t)prev, (utf8proc_int32_t)c, &state);
    mark[at] = border ? 2 : 1;
    run = border ? 1 : run + 1;
    if (run > longest) longest = run;
    prev = c;
  }
  mark[s.n] = 2;
  return longest;
}

static size_t slow_floor(const unsigned char *mark, size_t at, int least) {
  while (mark[at] < least) at--;
  return at;
}

static size_t slow_ceil(const unsigned char *mark, size_t at) {
  while (mark[at] < 2) at++;
  return at;
}

static void properties(void) {
  static char text[4096];
  static unsigned char mark[4097];
  unsigned long long rng = check_seed(20251);
  size_t wrong = 0, compared = 0;
  for (int round = 0; round < 3000; round++) {
    np_str s = random_text(&rng, text, 1 + check_random(&rng) % 120);
    size_t longest = slow_borders(s, mark);
    for (size_t at = 0; at <= s.n; at++) {
      if (np_utf8_floor(s, at) != slow_floor(mark, at, 1)) wrong++;
      size_t f = np_grapheme_floor(s, at), c = np_grapheme_ceil(s, at);
      if (f > at || c < at || mark[f] == 0 || mark[c] == 0) wrong++;
      if (np_grapheme_floor(s, f) != f || np_grapheme_ceil(s, c) != c) wrong++;
      if (longest > 64) continue;
      compared++;
      if (f != slow_floor(mark, at, 2) || c != slow_ceil(mark, at)) wrong++;
    }
  }
  CHECK("most texts have clusters that can be compared", compared > 10000);
  CHECK("floor and ceil agree with a reading from the start", wrong == 0);
}

/* Repairing any bytes gives valid text, and no well-formed character is lost. */
static void random_bytes(void) {
  unsigned long long rng = check_seed(77);
  size_t wrong = 0;
  for (int round = 0; round < 2000; round++) {
    char raw[64];
    size_t n = check_random(&rng) % sizeof raw;
    for (size_t i = 0; i < n; i++) raw[i] = (char)(check_random(&rng) >> (i % 3 * 8));
    np_buf b;
    np_buf_init(&b, &np_alloc_libc);
    size_t repaired = np_utf8_repair(np_str_of(raw, n), &b);
    if (np_utf8_valid(np_buf_str(&b)) != b.n || b.n != n + 2 * repaired) wrong++;
    np_buf_free(&b);
  }
  CHECK("any bytes can be repaired", wrong == 0);
}

static void long_runs(void) {
  size_t n = 4 << 20;
  char *p = malloc(n);
  if (!p) {
    check_skip("long runs", "out of memory");
    return;
  }
  for (size_t i = 0; i < n; i++) p[i] = "\xF0\x9F\x87\xA9"[i % 4];
  np_str s = np_str_of(p, n);
  CHECK("flags pair up deep in a run", np_grapheme_floor(s, 4004) == 4000);
  CHECK("a run of flags ends in bounded work", np_grapheme_floor(s, n - 4) <= n - 4);
  for (size_t i = 0; i < n; i++) p[i] = "\xCC\x81"[i % 2];
  CHECK("a heap of accents may be cut", np_grapheme_floor(s, n - 2) == n - 2);
  CHECK("forwards too", np_grapheme_ceil(s, n / 2 + 1) == n / 2 + 2);
  free(p);
}

/* The texts of a kind that are found, joined by "|". */
static const char *passing(const char *text, np_passing_kind kind) {
  static char out[400];
  np_str s = np_str_cstr(text);
  size_t at = 0, n = 0;
  for (;;) {
    np_passing p = np_passing_next(s, &at);
    if (!p.kind) break;
    if (p.kind != kind) continue;
    n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s", n ? "|" : "", (int)p.text.n,
                          p.text.p);
  }
  out[n] = '\0';
  return out;
}

static void passing_texts(void) {
  static const struct {
    const char *text, *clocks, *ids;
  } cases[] = {
      {"", "", ""},
      {"Today is 2026-11-30.", "", ""},
      {"It is 2026-11-30 02:41 now", "2026-11-30 02:41", ""},
      {"at 2026-11-30T02:41:09Z", "2026-11-30T02:41:09", ""},
      {"started 12:05:33, ends 25:99", "12:05:33", ""},
      {"meet at 12:05, ratio 16:9, 61:61:61", "", ""},
      {"ts=1764470000 ms=1764470000123", "1764470000|1764470000123", ""},
      {"phone 2025550123, id 1764470000a, x1764470000, 17644700001", "", ""},
      {"id 550e8400-e29b-41d4-a716-446655440000.", "",
       "550e8400-e29b-41d4-a716-446655440000"},
      {"session 9f86d081884c7d659a2feaa0c55ad015", "",
       "9f86d081884c7d659a2feaa0c55ad015"},
      {"deadbeefdeadbeefdeadbeefdead", "", ""},
      {"111111111111111111111111111111", "", ""},
      {"commit 3bbd478 of main, abc_9f86d081884c7d659a2feaa0c55ad015", "", ""},
  };
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    bool ok = strcmp(passing(cases[i].text, NP_PASSING_CLOCK), cases[i].clocks) == 0;
    ok = ok && strcmp(passing(cases[i].text, NP_PASSING_ID), cases[i].ids) == 0;
    if (!ok) fprintf(stderr, "%s\n", cases[i].text);
    CHECK("clocks and ids are found, other figures are not", ok);
  }
}

/* The bytes of a character by the table of the standard, and its number. */
static uint32_t decoded_slowly(const unsigned char *s, size_t n, size_t *len) {
  uint32_t c = n ? s[0] : 0;
  *len = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
  if (*len == 0 || *len > n) return *len = 1, 0xFFFD;
  if (*len > 1) c &= 0x7Fu >> *len;
  for (size_t i = 1; i < *len; i++) {
    if ((s[i] & 0xC0) != 0x80) return *len = 1, 0xFFFD;
    c = c << 6 | (s[i] & 0x3F);
  }
  bool bad = (*len == 3 && (c < 0x800 || (c >= 0xD800 && c < 0xE000))) ||
             (*len == 4 && (c < 0x10000 || c > 0x10FFFF));
  return bad ? (*len = 1, 0xFFFD) : c;
}

/* Every character of three bytes or nearly so, whole and cut off: the short ways say the same. */
static void short_ways(void) {
  static const unsigned char thirds[] = {0x00, 0x41, 0x7F, 0x80, 0x81,
                                         0xBF, 0xC0, 0xE4, 0xFF};
  bool same = true, cjk = true;
  for (unsigned a = 0x7F; a < 0x100; a++) {
    for (unsigned b = 0; b < 0x100; b++) {
      for (size_t i = 0; i < 4 * NP_COUNT(thirds); i++) {
        unsigned char s[4] = {(unsigned char)a, (unsigned char)b, thirds[i / 4], 0x80};
        const char *p = (const char *)s;
        size_t n = i % 4 + 1, want, got;
        uint32_t c = decoded_slowly(s, n, &want);
        same = same && np_utf8_decode(p, p + n, &got) == c && got == want;
        cjk = cjk && np_cjk_len(p, p + n) == (np_is_cjk(c) ? want : 0);
      }
    }
  }
  CHECK("characters are decoded as the standard has them", same);
  CHECK("the length of CJK characters is theirs, and 0 for others", cjk);
}

int main(void) {
  short_ways();
  lengths();
  repair();
  kinds();
  lines();
  clusters();
  properties();
  random_bytes();
  long_runs();
  passing_texts();
  return check_done();
}
