/*
** The words of a text: what an index and a query take from it, for any bytes.
** next: test_recall.c
*/
#include "base/buf.h"
#include "check.h"
#include "text/words.h"

typedef struct seen {
  np_buf out;
  np_str text;
  size_t last, words;
  bool inside, lower;
} seen;

static int see(void *ctx, const np_word *w) {
  seen *s = ctx;
  if (s->words++) np_buf_addc(&s->out, ' ');
  if (w->part) np_buf_addc(&s->out, '+');
  np_buf_add(&s->out, w->text);
  s->inside = s->inside && w->from < w->to && w->to <= s->text.n && w->text.n > 0;
  s->inside = s->inside && (w->part || w->from >= s->last);
  if (!w->part) s->last = w->from;
  for (size_t i = 0; i < w->text.n; i++)
    s->lower = s->lower && !(w->text.p[i] >= 'A' && w->text.p[i] <= 'Z');
  return 0;
}

static seen look(np_str text, np_words_for use) {
  seen s = {.text = text, .inside = true, .lower = true};
  np_buf_init(&s.out, &np_alloc_libc);
  np_words_each(text, use, see, &s);
  return s;
}

typedef struct golden {
  const char *text, *index, *query;
} golden;

static const golden cases[] = {
    {"", "", ""},
    {"The cat, the HAT.", "the cat the hat", "the cat the hat"},
    {"get_user_name()", "get_user_name +get +user +name", "get_user_name"},
    {"parseHTTPServer2 x", "parsehttpserver2 +parse +http +server x",
     "parsehttpserver2 x"},
    {"E4711 utf8 v2.10", "e4711 +4711 utf8 +utf v2.10 +v2 +10", "e4711 utf8 v2.10"},
    {"self.foo_bar.baz", "self.foo_bar.baz +self +foo_bar +foo +bar +baz",
     "self.foo_bar.baz"},
    {"core/store/sqlite.c:42", "core/store/sqlite.c core store sqlite.c +sqlite 42",
     "core/store/sqlite.c core store sqlite.c 42"},
    {"/Usr/lib/ ./x//y", "usr/lib usr lib x//y x y", "usr/lib usr lib x//y x y"},
    {"a@B.org PR#68, #1", "a@b.org a b.org +org pr#68 pr 68 1",
     "a@b.org a b.org pr#68 pr 68 1"},
    {"a/ \xC3\x84/b/\xC3\xA4", "a \xC3\xA4/b \xC3\xA4 b \xC3\xA4",
     "a \xC3\xA4/b \xC3\xA4 b \xC3\xA4"},
    {"--dry-run 2026-11-30", "dry-run +dry +run 2026-11-30 +2026 +11 +30",
     "dry-run 2026-11-30"},
    {"end. Next...a..b", "end next a b", "end next a b"},
    {"__init__ ____ _x", "__init__ +init _x", "__init__ _x"},
    {"a_a aa_aa", "a_a aa_aa +aa", "a_a aa_aa"},
    {"Größe ÉTÉ", "größe été", "größe été"},
    {"\xE4\xB8\xAD\xE6\x96\x87\xE6\xB5\x8B", /* three ideographs */
     "\xE4\xB8\xAD\xE6\x96\x87 \xE6\x96\x87\xE6\xB5\x8B \xE6\xB5\x8B",
     "\xE4\xB8\xAD\xE6\x96\x87 \xE6\x96\x87\xE6\xB5\x8B"},
    {"\xE4\xB8\xAD", "\xE4\xB8\xAD", "\xE4\xB8\xAD"},
    {"API\xE6\x96\x87\xE6\xB5\x8B.md", "api \xE6\x96\x87\xE6\xB5\x8B \xE6\xB5\x8B md",
     "api \xE6\x96\x87\xE6\xB5\x8B md"},
    {"a\xFF\xC0z \xED\xA0\x80", "a z", "a z"},
};

static void test_golden(void) {
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    np_str text = np_str_cstr(cases[i].text);
    seen a = look(text, NP_WORDS_INDEX), b = look(text, NP_WORDS_QUERY);
    bool index = np_str_is(np_buf_str(&a.out), cases[i].index);
    bool query = np_str_is(np_buf_str(&b.out), cases[i].query);
    CHECK("an index takes these words", index);
    CHECK("a query takes these words", query);
    if (!index || !query) {
      fprintf(stderr, "  text %s\n  index %.*s\n  query %.*s\n", cases[i].text,
              (int)a.out.n, a.out.p ? a.out.p : "", (int)b.out.n, b.out.p ? b.out.p : "");
    }
    np_buf_free(&a.out);
    np_buf_free(&b.out);
  }
}

static void test_plain(void) {
  seen s = look(NP_LIT("src/fooBar.c b"), NP_WORDS_PLAIN);
  CHECK("an older index has no paths",
        np_str_is(np_buf_str(&s.out), "src foobar.c +foobar +foo +bar b"));
  np_buf_free(&s.out);
}

static void test_long(void) {
  char text[700];
  memset(text, 'a', sizeof text);
  text[300] = ' ';
  text[301 + NP_WORD_MAX] = ' ';
  seen s = look(np_str_of(text, 302 + NP_WORD_MAX), NP_WORDS_INDEX);
  CHECK("a run that is too long is no word, one of the most bytes is",
        s.words == 1 && s.out.n == NP_WORD_MAX);
  np_buf_free(&s.out);
}

static int stop_at_two(void *ctx, const np_word *w) {
  (void)w;
  return ++*(int *)ctx == 2 ? 7 : 0;
}

static void test_stop(void) {
  int n = 0;
  int rc = np_words_each(NP_LIT("fooBar baz"), NP_WORDS_INDEX, stop_at_two, &n);
  CHECK("what is not 0 stops and is returned", rc == 7 && n == 2);
}

/* Pieces that meet in odd ways. */
static const char *const bits[] = {"a",
                                   "@",
                                   "B",
                                   "9",
                                   "_",
                                   ".",
                                   "-",
                                   " ",
                                   "/",
                                   "\xC3\xA9",
                                   "\xE4\xB8\xAD",
                                   "\xCC\x81",
                                   "\xFF",
                                   "\xF0\x9F\x98\x80",
                                   "\xC4\xB0",
                                   "\xE1\xBA\x9E"};

static void test_random(void) {
  unsigned long long state = check_seed(20261130);
  bool inside = true, lower = true, found = true;
  for (int round = 0; round < 20000; round++) {
    char text[64];
    size_t n = 0, pieces = check_random(&state) % 20;
    for (size_t i = 0; i < pieces; i++) {
      const char *bit = bits[check_random(&state) % NP_COUNT(bits)];
      char byte = (char)check_random(&state);
      np_str piece = check_random(&state) % 8 ? np_str_cstr(bit) : np_str_of(&byte, 1);
      if (n + piece.n > sizeof text) break;
      memcpy(text + n, piece.p, piece.n);
      n += piece.n;
    }
    seen a = look(np_str_of(text, n), NP_WORDS_INDEX);
    seen b = look(np_str_of(text, n), NP_WORDS_QUERY);
    inside = inside && a.inside && b.inside;
    lower = lower && a.lower && b.lower;
    found = found && b.words <= a.words;
    np_buf_free(&a.out);
    np_buf_free(&b.out);
  }
  CHECK("places are inside the text and rise", inside);
  CHECK("no capital of ASCII is left", lower);
  CHECK("a query has no more words than an index", found);
}

int main(void) {
  test_golden();
  test_plain();
  test_long();
  test_stop();
  test_random();
  return check_done();
}
