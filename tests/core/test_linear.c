/*
** Every part of a text is found and shown in linear time, whatever the text: counted in
** steps, not by the clock. The library that this test links with counts each block of its
** code (the compilers' -fsanitize-coverage=trace-pc) and each byte that the C library
** looks at for it. Each text is made again, four times as long. next: test_project.c
*/
#include "project_help.h"

#include "counted_heap.h"
#include "counted_work.h"

#define FEW 4096
#define STEPS 3    /* longer texts, each four times as long as the one before */
#define GROWTH 4.6 /* at most, for four times as much: a heap's logarithm is in it */

#define FIXED 20  /* tokens: a limit that the shorter text is over, too */
#define GROWING 0 /* a limit of a token to 64 bytes */

/* ---- texts: a beginning, then one piece again and again ---- */

static const struct {
  const char *what, *first, *again;
} texts[] = {
    {"one line", "", "some words, "},
    {"newlines", "", "\n"},
    {"blanks", "", " "},
    {"one huge word", "", "a"},
    {"a word of names", "", "aB3_c-d."},
    {"a long path", "", "usr/lib@2#"},
    {"identical lines", "", "error: it has failed\n"},
    {"the same words", "", "retry policy error\n"},
    {"open brackets", "", "["},
    {"deep JSON", "[0", ",[[[[[[[[[[{\"a\":[1]}]]]]]]]]]]"},
    {"objects in objects", "", "{\"a\":"},
    {"lines of JSON", "", "{\"a\":1,\"b\":[2]}\n"},
    {"escaped keys", "[{}", ",{\"\\u0061\":\"\\\\\",\"a\":1}"},
    {"a string without end", "[\"", "\\\\"},
    {"strings without commas", "[", "\"a\" "},
    {"unclosed quotes", "", "a,\"b\n"},
    {"quotes", "", "\""},
    {"quoted rows", "a,b,c\n", "\"x\"\"\",\"y\n\",z\n"},
    {"rows that do not close", "a,b,c\n1,2,3\n1,2,\"", "x,y,z\n"},
    {"one column", "", "1234\n"},
    {"tabs", "", "\t"},
    {"a table's rules", "", "|-|\n"},
    {"rules one by one", "", "|a|\n|-|\n"},
    {"unclosed headings", "<html>", "<h1>"},
    {"unclosed comments", "<html>", "<!-- "},
    {"unclosed scripts", "<html>", "<script <style "},
    {"unclosed tags", "<html>", "<"},
    {"a title of unclosed tags", "<html><h1>", "<i"},
    {"many closed headings", "<html>", "<h1>x</h1>"},
    {"closed tags in a title", "<html><h1>", "<i>x&amp;"},
    {"a Markdown title of tags", "# ", "<"},
    {"headings", "", "# x\n\n"},
    {"underlined", "", "x\n-\n"},
    {"hashes", "", "#"},
    {"fences", "", "```\n"},
    {"ticks", "```", "` ~~~"},
    {"ampersands", "<html><h1>", "&"},
    {"frames", "", "  at f (x.js:1)\n^\n"},
    {"a frame, then marks", "  at f (x.js:1)\n", "^\n"},
    {"frames apart", "", "  at f (x.js:1)\na\nb\n"},
    {"indented", "  at f (x.js:1)\n", "   x\n"},
    {"blanks before errors", "", "                              error"},
    {"words of errors", "", "Error"},
    {"calls", "", "int a b(c) {\n"},
    {"definitions", "", "pub static fn f(\n"},
    {"broken UTF-8", "", "\x80"},
    {"broken UTF-8 between letters", "",
     "a\xE2\x82"
     "b\xF0\x9F\xFF"},
    {"heads of characters", "", "\xF0"},
    {"marks that combine", "", "\xCC\x81"},
    {"flags", "", "\xF0\x9F\x87\xA9"},
    {"joined emoji", "", "\xF0\x9F\x91\xA9\xE2\x80\x8D"},
    {"marks between quotes", "[\"", "\xCC\x81\",\""},
    {"CJK", "", "\xE9\x94\x99\xE8\xAF\xAF"},
    {"returns", "", "\r"},
    {"zeros", "", "\\0"},
};

static const char *const parts[] = {
    "all",
    "lines 2-",
    "lines 40-60",
    "head 100000000",
    "tail 100000000",
    "tail",
    "ends",
    "ends 100000000",
    "match zq",
    "match a",
    "match .",
    "match -C 2 r",
    "match (?i)x+y|0",
    "errors",
    "json $..a",
    "json $[*]",
    "json $[-1]",
    "json $..['a','b'][-1]",
    "rows 1-",
    "rows 2",
    "section x",
    "section zq",
    "outline",
    "about retry policy error",
};

static np_str text_of(size_t k, size_t n) {
  static char at[FEW << 2 * STEPS];
  np_str again = np_str_cstr(texts[k].again);
  size_t first = strlen(texts[k].first);
  if (strcmp(again.p, "\\0") == 0) again = np_str_of("\0", 1);
  memcpy(at, texts[k].first, first);
  for (size_t i = first; i < n; i++) at[i] = again.p[(i - first) % again.n];
  return np_str_of(at, n);
}

/* ---- what is counted ---- */

static void *count_realloc(void *ctx, void *p, size_t old, size_t n) {
  work += n;
  return heap_realloc(ctx, p, old, n);
}

/* Without a limit no tokens are counted. */
static uint64_t steps(np_str text, const char *words, size_t tokens) {
  static const neap_alloc counted = {heap_malloc, count_realloc, heap_free, NULL};
  np_arena ar;
  np_buf shown;
  np_projection p;
  np_err e = {0};
  np_project_ask ask = {.tokens = tokens, .asked = true};
  if (np_extract_parse(np_str_cstr(words), &ask.what, &e)) return 0;
  np_arena_init(&ar, &counted);
  np_buf_init(&shown, &counted);
  work = 0;
  (void)np_project(tokens == NP_TRIM_ANY ? NULL : vocab, text, &ask, &ar, &p, &shown,
                   &e); /* failing takes time, too */
  uint64_t got = work;
  np_buf_free(&shown);
  np_arena_free(&ar);
  return got;
}

/* Texts of FEW bytes times 4^step, and a limit that grows with them when it is to. */
static uint64_t steps_at(size_t k, const char *words, int step, size_t tokens) {
  size_t n = (size_t)FEW << 2 * step;
  return steps(text_of(k, n), words, tokens == GROWING ? n / 64 : tokens);
}

/* The shorter text may be shown as it is while the longer one is cut, or cut at the first
** try where the longer one takes a few (there is a fixed number): what is so with texts
** four times as long each counts then, too. A square fails with all of them. */
static void linear(size_t k, const char *words, size_t tokens) {
  uint64_t few = 0, many = steps_at(k, words, 0, tokens);
  bool ok = false;
  CHECK("steps are counted", many > 0);
  for (int step = 1; step <= STEPS && !ok; step++) {
    few = many;
    many = steps_at(k, words, step, tokens);
    ok = (double)many <= GROWTH * (double)few;
  }
  if (!ok)
    fprintf(stderr, "%s of %s, %zu tokens: %llu and %llu steps\n", words, texts[k].what,
            tokens, (unsigned long long)few, (unsigned long long)many);
  CHECK("four times as much takes four times as many steps", ok);
}

int main(void) {
  project_begin();
  for (size_t k = 0; k < NP_COUNT(texts); k++) {
    for (size_t i = 0; i < NP_COUNT(parts); i++) {
      linear(k, parts[i], NP_TRIM_ANY);
      linear(k, parts[i], FIXED);
      linear(k, parts[i], GROWING);
    }
  }
  project_end();
  return check_done();
}
