/*
** Words and numbers as they stand, and whether texts hold a value: tables, and a property: what a
** text was cut out of holds all values of the cut, where it is cut between words. next: test_trim.c
*/
#include "check.h"
#include "cite/cite.h"
#include "cite/grounds.h"

#include <stdlib.h>

static np_str lit(const char *s) {
  return np_str_cstr(s);
}

/* ---- terms ---- */

static void terms(void) {
  /* w word, # number, W wide digits, C counted; a ! behind the letter: it is a value */
  static const struct {
    const char *text, *found;
  } rows[] = {
      {"", ""},
      {"the price is 1,000.50, or -5 of 5%",
       "w:the w:price w:is #!:1,000.50 w:or #!:-5 w:of #!:5%"},
      {"at 12:30, not 12:3x", "w:at #!:12:30 w:not w!:12 w!:3x"},
      {"a-5 b_5 5x 2.5.1-rc", "w:a #!:5 w!:b_5 w!:5x #!:2.5.1 w:rc"},
      {"steps 3-9 and 4\xE2\x80\x93"
       "5",
       "w:steps #!:3 #!:9 w:and #!:4 #!:5"},
      {"\xE2\x88\x92"
       "40 and x\xE2\x88\x92"
       "40",
       "#!:\xE2\x88\x92"
       "40 w:and w:x #!:40"},
      {"7\xE2\x80\xB0 of MaxFlow maxFlow", "#!:7\xE2\x80\xB0 w:of w!:MaxFlow w!:maxFlow"},
      {"\xEF\xBC\x95\xEF\xBC\x90\xEF\xBC\x90\xE5\x85\x83",
       "W!:\xEF\xBC\x95\xEF\xBC\x90\xEF\xBC\x90"},
      {"\xE4\xBA\x94\xE7\x99\xBE\xE5\x85\x83", "C!:\xE4\xBA\x94\xE7\x99\xBE"},
      {"\xE4\xB8\x80\xE4\xB8\xAA", ""}, /* a single one is part of a word */
      {"\xE7\x99\xBE\xE5\x88\x86\xE4\xB9\x8B\xE4\xBA\x94",
       "C!:\xE7\x99\xBE\xE5\x88\x86\xE4\xB9\x8B\xE4\xBA\x94"},
      {"2024-03-22T02:00:07Z ended", "#!:2024 #!:03 #!:22 #!:02:00:07 w:Z w:ended"},
      {"24-03-22T02:00 12T30:00", "#!:24 #!:03 w!:22T02 #!:00 w!:12T30 #!:00"},
      {"127.0.0.1:80 of 1.2:3", "#!:127.0.0.1 #!:80 w:of #!:1.2:3"},
      {"4711\xE4\xB8\x87 30 \xE4\xBA\xBF", "#!:4711\xE4\xB8\x87 #!:30 C!:\xE4\xBA\xBF"},
      {"9.", "#!:9"},
      {"-", ""},
      {"\xE2\x88", ""},
      {"\xEF\xBC", ""},
  };
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    np_buf b;
    np_buf_init(&b, &np_alloc_libc);
    np_term t;
    np_term_iter it = np_term_scan(lit(rows[i].text));
    while (np_term_next(&it, &t)) {
      if (b.n) np_buf_addc(&b, ' ');
      np_buf_addc(&b, "w#WC"[t.kind]);
      /* numbers of any kind are values */
      if (np_term_is_value(t)) np_buf_addc(&b, '!');
      np_buf_addc(&b, ':');
      np_buf_add(&b, t.text);
    }
    np_str got = np_buf_str(&b);
    bool same = np_str_eq(got, lit(rows[i].found));
    if (!same)
      printf("  %s\n  expected %s\n  got %.*s\n", rows[i].text, rows[i].found, (int)got.n,
             got.p);
    CHECK(rows[i].text, same);
    np_buf_free(&b);
  }
}

/* ---- grounds ---- */

static np_grounds *grounds_of(const char *text) {
  np_grounds *g = np_grounds_new(&np_alloc_libc);
  CHECK("a text is taken", g && !np_grounds_add(g, lit(text), NULL));
  return g;
}

static void holding(void) {
  static const char text[] =
      "MAX_FLOW is 4711 in core/pump.c:88, old-pump.c too; 1,000 at 12:30 of v2.5.1 at "
      "https://example.org.uk/a/b?c=d-17 -5 \"lib.so.6\"";
  static const struct {
    const char *value;
    bool has;
  } rows[] = {
      {"MAX_FLOW", true},     {"max_flow", false},
      {"4711", true},         {"471", false},
      {"47110", false},       {"core/pump.c:88", true},
      {"core/pump.c", true},  {"pump.c", true},
      {"ump.c", false},       {"old-pump.c", true},
      {"1,000", true},        {"1000", false},
      {"000", false},         {"12:30", true},
      {"12", false},          {"2.5.1", false},
      {"v2.5.1", true},       {"v2.5", false},
      {"example.org", false}, {"example.org.uk", true},
      {"-5", true},           {"5", false},
      {"17", true},           {"lib.so.6", true},
      {"lib.so", false},      {"", true},
      {"valve.c", false},     {"88th", true},
      {"89th", false},        {"88tha", false},
  };
  np_grounds *g = grounds_of(text);
  for (size_t i = 0; i < NP_COUNT(rows); i++)
    CHECK(rows[i].value, np_grounds_hold(g, lit(rows[i].value)) == rows[i].has);
  bool has;
  CHECK("a word in capitals", !np_grounds_word(g, lit("Https"), &has, NULL) && has);
  CHECK("no word", !np_grounds_word(g, lit("Http"), &has, NULL) && !has);
  CHECK("a name is no word", !np_grounds_word(g, lit("v2"), &has, NULL) && !has);
  CHECK("another text", !np_grounds_add(g, lit("Alice"), NULL));
  CHECK("its words", !np_grounds_word(g, lit("ALICE"), &has, NULL) && has);
  np_grounds_free(g);
  np_grounds_free(NULL);
}

/* What is written otherwise in a text is there all the same; what is a part of a number is not. */
static void parts(void) {
  static const char text[] =
      "1,234.56 and 12.5% at 2024-03-22T02:00:07 by 10.0.0.7:80, body.list.add(x), a.b.c";
  static const struct {
    const char *value;
    bool has;
  } rows[] = {
      {"234.56", false},   {"1,234", false}, {"12.5", false},      {"02:00:07", true},
      {"00:07", false},    {"02", false},    {"2024-03-22", true}, {"2024-03", false},
      {"10.0.0.7", true},  {"80", true},     {"0.0.7", false},     {"10.0.0.7:80", true},
      {"body.list", true}, {"a.b", false},   {"body", true},       {"x", true},
  };
  np_grounds *g = grounds_of(text);
  for (size_t i = 0; i < NP_COUNT(rows); i++)
    CHECK(rows[i].value, np_grounds_hold(g, lit(rows[i].value)) == rows[i].has);
  np_grounds_free(g);
}

/* Code and JSON in which a name begins behind an escape; a hash told by its first letters. */
static void within(void) {
  static const char text[] =
      "\"rm -rf x\\npython3 -m a\\tcore/pump.c\\r\\n12.5\" C:\\\\new at "
      "d8ed853af7b6b493cba2854a3eb2f6dda5a475d7 and 3fa9c1d77 \\";
  static const struct {
    const char *value;
    bool has;
  } rows[] = {
      {"python3", true},     {"npython3", true}, {"core/pump.c", true},
      {"12.5", true},        {"ew", false},      {"d8ed853", true},
      {"d8ed853af7b", true}, {"d8ed85", false},  {"8ed853af7", false},
      {"d8ed854", false},    {"3fa9c1d", false}, {"3fa9c1d77", true},
  };
  np_grounds *g = grounds_of(text);
  for (size_t i = 0; i < NP_COUNT(rows); i++)
    CHECK(rows[i].value, np_grounds_hold(g, lit(rows[i].value)) == rows[i].has);
  np_grounds_free(g);
}

/* ---- what need not stand anywhere ---- */

static void plain(void) {
  static const struct {
    const char *name;
    bool is;
  } rows[] = {
      {"off-by-one", true},   {"non-empty", true},    {"user-facing", true},
      {"left-pad", false},    {"JSON", true},         {"JSONB", false},
      {"type-check", true},   {"Non-empty", false},   {"non-empty-2", false},
      {"non--empty", false},  {"-level", false},      {"pre-", false},
      {"298-306", true},      {"9-10", true},         {"306-298", false},
      {"555-1234567", false}, {"1-100", false},       {"007-010", false},
      {"3-9-12", false},      {"234.56", true},       {"12:30", true},
      {"v1.2", false},        {"10.0.0.7:80", false}, {"", false},
  };
  for (size_t i = 0; i < NP_COUNT(rows); i++)
    CHECK(rows[i].name, np_name_is_plain(lit(rows[i].name)) == rows[i].is);
}

/* Looks at the bytes end; a name that was found needs none again. */
static void many_looks(void) {
  np_grounds *g = grounds_of("x/old-pump.c y/core/pump.c z");
  for (int i = 0; i < 2000; i++) CHECK("found once", np_grounds_hold(g, lit("pump.c")));
  for (int i = 0; i < 2000; i++) CHECK("not there", !np_grounds_hold(g, lit("lve.c")));
  CHECK("no more looks", !np_grounds_hold(g, lit("core/pump")));
  CHECK("what is in the table is known", np_grounds_hold(g, lit("x/old-pump.c")));
  np_grounds_free(g);
}

static uint64_t seed = 7;

static size_t draw(size_t n) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (size_t)(seed >> 11) % n;
}

/* Words and signs in any order: whatever is cut out between spaces is held. */
static void cuts(void) {
  static const char *const bits[] = {"a",
                                     "B",
                                     "7",
                                     "12",
                                     "_",
                                     "/",
                                     ".",
                                     "-",
                                     ",",
                                     ":",
                                     "%",
                                     " ",
                                     " ",
                                     " ",
                                     "\n",
                                     "\xE4\xBA\x94",
                                     "\xEF\xBC\x95",
                                     "\xE2\x88\x92",
                                     "(",
                                     "ab"};
  for (int round = 0; round < 3000; round++) {
    np_buf b;
    np_buf_init(&b, &np_alloc_libc);
    for (size_t i = 0; i < 60; i++) np_buf_adds(&b, bits[draw(NP_COUNT(bits))]);
    np_buf_addc(&b, '\0');
    np_str text = np_str_of(b.p, b.n - 1);
    np_grounds *g = grounds_of(b.p);
    size_t from = draw(text.n), to = from + draw(text.n - from);
    while (from > 0 && text.p[from - 1] != ' ' && text.p[from - 1] != '\n') from--;
    while (to < text.n && text.p[to] != ' ' && text.p[to] != '\n') to++;
    np_str cut = np_str_cut(text, from, to);
    np_term t;
    np_ident ident;
    np_term_iter terms_of = np_term_scan(cut);
    while (np_term_next(&terms_of, &t))
      CHECK("a term of a cut", np_grounds_hold(g, t.text));
    np_ident_iter idents = np_ident_scan(cut);
    while (np_ident_next(&idents, &ident)) {
      if (ident.kind == NP_IDENT_NAME && !np_term_is_number(ident.text))
        CHECK("a name of a cut", np_grounds_hold(g, ident.text));
    }
    np_grounds_free(g);
    np_buf_free(&b);
  }
}

typedef struct counter {
  size_t left;
  long live;
} counter;

static void *count_realloc(void *ctx, void *p, size_t old, size_t n) {
  counter *k = ctx;
  (void)old;
  if (k->left == 0) return NULL;
  k->left--;
  void *q = realloc(p, n);
  k->live += !p && q;
  return q;
}

static void *count_malloc(void *ctx, size_t n) {
  return count_realloc(ctx, NULL, 0, n);
}

static void count_free(void *ctx, void *p) {
  counter *k = ctx;
  k->live -= p != NULL;
  free(p);
}

/* Every allocation fails once: an error each time, nothing leaks. */
static void out_of_memory(void) {
  bool done = false;
  for (size_t n = 0; !done && n < 40; n++) {
    bool has;
    counter k = {n, 0};
    neap_alloc a = {count_malloc, count_realloc, count_free, &k};
    np_grounds *g = np_grounds_new(&a);
    neap_rc rc = g ? NEAP_OK : NEAP_E_MEMORY;
    if (!rc)
      rc = np_grounds_add(g, lit("some words of core/pump.c,\\n17 and 4711"), NULL);
    if (!rc) rc = np_grounds_word(g, lit("words"), &has, NULL);
    if (!rc) CHECK("a name is found without memory", np_grounds_hold(g, lit("pump.c")));
    CHECK("out of memory is told", !rc || rc == NEAP_E_MEMORY);
    done = !rc && k.left > 0;
    np_grounds_free(g);
    CHECK("nothing leaks", k.live == 0);
  }
  CHECK("in the end it is enough", done);
}

int main(void) {
  terms();
  holding();
  parts();
  within();
  plain();
  many_looks();
  cuts();
  out_of_memory();
  return check_done();
}
