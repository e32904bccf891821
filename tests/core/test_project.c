/*
** Projections by hand: what each part shows of small texts, what is said of the rest, and what
** wrong words are told. next: test_project_random.c
*/
#include "project_help.h"

static np_str lit(const char *s) {
  return np_str_cstr(s);
}

static char lines_text[16384];

/* "line 1\n" … "line n\n". */
static np_str lines(int n) {
  size_t at = 0;
  for (int i = 1; i <= n; i++) {
    at += (size_t)snprintf(lines_text + at, sizeof lines_text - at, "line %d\n", i);
  }
  return np_str_of(lines_text, at);
}

static bool is(const projected *r, const char *want) {
  if (r->rc == NEAP_OK && np_str_is(r->text, want)) return true;
  fprintf(stderr, "got (%d %s):\n%.*s\n", r->rc, r->err.text, (int)r->text.n, r->text.p);
  return false;
}

static bool fails(const projected *r, neap_rc rc, const char *part) {
  if (r->rc == rc && strstr(r->err.text, part)) return true;
  fprintf(stderr, "got (%d): %s\n", r->rc, r->err.text);
  return false;
}

/* ---- words ---- */

static void words(void) {
  static const struct {
    const char *words;
    np_extract want;
  } cases[] = {
      {"", {.kind = NP_EXTRACT_ALL}},
      {" all ", {.kind = NP_EXTRACT_ALL}},
      {"41-380", {.kind = NP_EXTRACT_LINES, .from = 41, .to = 380}},
      {"41\xE2\x80\x93"
       "380",
       {.kind = NP_EXTRACT_LINES, .from = 41, .to = 380}},
      {"lines 41-", {.kind = NP_EXTRACT_LINES, .from = 41, .to = SIZE_MAX}},
      {"-380", {.kind = NP_EXTRACT_LINES, .from = 1, .to = 380}},
      {"41", {.kind = NP_EXTRACT_LINES, .from = 41, .to = 41}},
      {"head 50", {.kind = NP_EXTRACT_HEAD, .count = 50}},
      {"tail", {.kind = NP_EXTRACT_TAIL, .count = 50}},
      {"ends  7", {.kind = NP_EXTRACT_ENDS, .count = 7}},
      {"match a  b", {.kind = NP_EXTRACT_MATCH, .argument = {"a  b", 4}}},
      {"match -C 2 x", {.kind = NP_EXTRACT_MATCH, .context = 2, .argument = {"x", 1}}},
      {"match -C3 x", {.kind = NP_EXTRACT_MATCH, .context = 3, .argument = {"x", 1}}},
      {"match -Cx", {.kind = NP_EXTRACT_ALL}},
      {"errors", {.kind = NP_EXTRACT_ERRORS}},
      {"json $.a[0]", {.kind = NP_EXTRACT_JSON, .argument = {"$.a[0]", 6}}},
      {"$.a[0]", {.kind = NP_EXTRACT_JSON, .argument = {"$.a[0]", 6}}},
      {"rows 1-20", {.kind = NP_EXTRACT_ROWS, .from = 1, .to = 20}},
      {"section Set up", {.kind = NP_EXTRACT_SECTION, .argument = {"Set up", 6}}},
      {"outline", {.kind = NP_EXTRACT_OUTLINE}},
      {"about retry policy",
       {.kind = NP_EXTRACT_ABOUT, .argument = {"retry policy", 12}}},
  };
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    np_extract got;
    const np_extract *want = &cases[i].want;
    neap_rc rc = np_extract_parse(np_str_cstr(cases[i].words), &got, NULL);
    if (strcmp(cases[i].words, "match -Cx") == 0) {
      CHECK("a number of lines is one", rc == NEAP_E_ARG);
      continue;
    }
    bool same = rc == NEAP_OK && got.kind == want->kind && got.from == want->from &&
                got.to == want->to && got.count == want->count &&
                got.context == want->context && np_str_eq(got.argument, want->argument);
    if (!same) fprintf(stderr, "words: %s\n", cases[i].words);
    CHECK("a part is read as it is written", same);
  }
}

static void wrong_words(void) {
  static const char *const cases[] = {"foo",          "0",
                                      "0-5",          "9-3",
                                      "1-2-3",        "head 0",
                                      "head x",       "match",
                                      "json",         "rows",
                                      "rows 0",       "section ",
                                      "errors 5 now", "about",
                                      "1 - 2 x",      "-",
                                      "lines",        "head-5",
                                      "match -C 2",   "tail 99999999999999999999",
                                      "\xFF\xFE",     "match -C 999 x"};
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    projected r = project(NP_LIT("a\n"), cases[i], NP_TRIM_ANY);
    CHECK("a wrong part is told the forms",
          fails(&r, NEAP_E_ARG, "use one of: 41-380, head 50"));
    CHECK("in one line", !strchr(r.err.text, '\n'));
  }
}

/* ---- JSON ---- */

static void paths_that_lead_nowhere(void) {
  static const struct {
    const char *part, *want;
  } cases[] = {
      {"json $.no", "nothing is at $.no; $ is an object with \"a\", \"b\", \"c\", \"e\""},
      {"json no", "nothing is at no; $ is an object with \"a\""},
      {"json $.a[7].x", "nothing is at $.a[7].x; $.a is a list with 2 items"},
      {"json $.a[0].x", "nothing is at $.a[0].x; $.a[0] is an object with \"b\""},
      {"json $['c'].d", "nothing is at $['c'].d; $['c'] is a plain value"},
      {"json $.e.f.g", "nothing is at $.e.f.g; $.e is an object with 0 members"},
      {"rows 1-2", "nothing is at $[0:2]; $ is an object with \"a\""},
  };
  np_str text = NP_LIT("{\"a\": [{\"b\": 1}, 2], \"b\": [], \"c\": 3, \"e\": {}}\n");
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    projected r = project(text, cases[i].part, NP_TRIM_ANY);
    CHECK("it is told how far the path leads, and to what",
          fails(&r, NEAP_E_NOTFOUND, cases[i].want));
  }
}

/* A value a line is a list, and what stands before the first byte is no value. */
static void paths_of_lines_that_lead_nowhere(void) {
  static const struct {
    const char *text, *part, *want;
  } cases[] = {
      {"{\"a\":1}\n{\"a\":2}\n", "json $.a",
       "nothing is at $.a; $ is a list with 2 items"},
      {"{\"a\":1}\n{\"a\":2}\n", "json $[0].b",
       "nothing is at $[0].b; $[0] is an object with \"a\""},
      {"[1]\n[2,3]\n[4]\n", "json $[3]", "nothing is at $[3]; $ is a list with 3 items"},
      {" \n {\"a\":1}", "json $.b", "nothing is at $.b; $ is an object with \"a\""},
      {" [1, 2]", "json $[2]", "nothing is at $[2]; $ is a list with 2 items"},
      {"[[1, 2]]", "json $[0].x", "nothing is at $[0].x; $[0] is a list with 2 items"},
  };
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    projected r = project(np_str_cstr(cases[i].text), cases[i].part, NP_TRIM_ANY);
    CHECK("of JSON lines and behind spaces too",
          fails(&r, NEAP_E_NOTFOUND, cases[i].want));
  }
}

/* ---- lines ---- */

static void line_ranges(void) {
  np_str text = lines(10);
  projected r = project(text, "3-4", NP_TRIM_ANY);
  CHECK("lines are given as they are", is(&r, "line 3\nline 4\n"));
  CHECK("with their numbers", r.p.kept[0].line_from == 3 && r.p.kept[0].line_to == 4);
  r = project(text, "9-", NP_TRIM_ANY);
  CHECK("to the end", is(&r, "line 9\nline 10\n"));
  r = project(text, "-2", NP_TRIM_ANY);
  CHECK("from the beginning", is(&r, "line 1\nline 2\n"));
  r = project(text, "10", NP_TRIM_ANY);
  CHECK("one", is(&r, "line 10\n"));
  r = project(text, "8-400", NP_TRIM_ANY);
  CHECK("as many as there are", is(&r, "line 8\nline 9\nline 10\n"));
  r = project(text, "11-12", NP_TRIM_ANY);
  CHECK("a range behind the end says how long the text is",
        fails(&r, NEAP_E_NOTFOUND, "there is no line 11; the text has 10 lines"));
  r = project(text, "", NP_TRIM_ANY);
  CHECK("all of it", r.p.whole && np_str_eq(r.text, text));
  r = project(NP_LIT("a\r\nb\r\nc"), "2-3", NP_TRIM_ANY);
  CHECK("other line ends stay", is(&r, "b\r\nc"));
}

static void head_and_tail(void) {
  np_str text = lines(10);
  projected r = project(text, "head 2", NP_TRIM_ANY);
  CHECK("the head", is(&r, "line 1\nline 2\n"));
  r = project(text, "tail 2", NP_TRIM_ANY);
  CHECK("the tail", is(&r, "line 9\nline 10\n"));
  r = project(NP_LIT("a\nb\nc"), "tail 2", NP_TRIM_ANY);
  CHECK("the tail without a newline", is(&r, "b\nc"));
  r = project(text, "ends 3", NP_TRIM_ANY);
  CHECK("both ends, the gap marked",
        is(&r, "line 1\nline 2\n[\xE2\x80\xA6 lines 3-9]\nline 10\n"));
  r = project(text, "ends 10", NP_TRIM_ANY);
  CHECK("ends that meet leave no gap", r.p.whole);
  r = project(NP_LIT(""), "tail 5", NP_TRIM_ANY);
  CHECK("an empty text has an empty tail", r.rc == NEAP_OK && r.text.n == 0 && r.p.whole);
}

/* ---- matches ---- */

static void matches(void) {
  np_str text = NP_LIT("ok\nTimeout 3\nok\nfine\nTimeout 4\n");
  projected r = project(text, "match Timeout", NP_TRIM_ANY);
  CHECK("matches come with their numbers",
        is(&r, "2: Timeout 3\n\xE2\x80\xA6\n5: Timeout 4\n"));
  CHECK("and are counted", r.p.found == 2 && r.p.shown == 2);
  r = project(text, "match Time.*4$", NP_TRIM_ANY);
  CHECK("by a pattern", is(&r, "5: Timeout 4\n"));
  r = project(text, "match -C 1 Timeout", NP_TRIM_ANY);
  CHECK("with lines around",
        is(&r, "1: ok\n2: Timeout 3\n3: ok\n4: fine\n5: Timeout 4\n"));
  r = project(text, "match -C 1 out [34]", NP_TRIM_ANY);
  CHECK("by a pattern, too",
        is(&r, "1: ok\n2: Timeout 3\n3: ok\n4: fine\n5: Timeout 4\n"));
  r = project(text, "match timeout", NP_TRIM_ANY);
  CHECK("what would match in other case is told",
        fails(&r, NEAP_E_NOTFOUND,
              "2 do when upper and lower case are one: match (?i)timeout"));
  r = project(text, "match nothing", NP_TRIM_ANY);
  CHECK("no match", fails(&r, NEAP_E_NOTFOUND, "no line of 5 matches \"nothing\""));
  r = project(text, "match (", NP_TRIM_ANY);
  CHECK("a wrong pattern", fails(&r, NEAP_E_ARG, "the pattern \"(\" is not taken: at 1"));
}

/* Matches before what stands around them, in order; and what is left out is told. */
static void match_limits(void) {
  np_str text = lines(400);
  projected r = project(text, "match -C 2 0$", NP_TRIM_ANY);
  size_t all = r.p.tokens;
  CHECK("forty matches", r.p.found == 40 && r.p.shown == 40);
  r = project(text, "match -C 2 0$", all / 2);
  CHECK("context goes first", r.p.shown == 40 && r.p.tokens <= all / 2);
  r = project(text, "match 0$", 100);
  CHECK("then the last ones",
        r.p.shown < 40 && r.p.shown > 8 && r.p.kept[0].line_from == 10);
  CHECK("and one knows from where", r.p.rest_from == r.p.shown * 10 + 10);
}

/* ---- structures ---- */

static void json_paths(void) {
  static const char text[] = "{\"items\": [{\"id\": 1, \"name\": \"a\"}, {\"id\": "
                             "12345678901234567890, \"x\": 1.0},\n"
                             "  {\"id\": NaN, \"id\": 3, \"sub\": {\"id\": 4}}],\n \"a "
                             "b\": {\"\\u0063\": [1,2,3,4,5]}, \"e\": []}";
  static const struct {
    const char *path, *want;
    size_t found;
  } cases[] = {
      {"$.items[0].name", "\"a\"", 1},
      {"items[0].name", "\"a\"", 1},
      {"$.items[1].id", "12345678901234567890", 1},
      {"$.items[1].x", "1.0", 1},
      {"$.items[-1].sub.id", "4", 1},
      {"$.items[2]['sub'].id", "4", 1},
      {"$['a b'].c[1:3]", "2\n3", 2},
      {"$[\"a b\"]['c'][-1]", "5", 1},
      {"$.*.c[0]", "1", 1},
      {"$..c[4]", "5", 1},
      {"$.e", "[]", 1},
  };
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    char words[100];
    snprintf(words, sizeof words, "json %s", cases[i].path);
    projected r = project(lit(text), words, NP_TRIM_ANY);
    if (r.p.found != cases[i].found) fprintf(stderr, "%s: %zu\n", words, r.p.found);
    CHECK("a path gives its values as they are written",
          is(&r, cases[i].want) && r.p.found == cases[i].found);
  }
  projected r = project(lit(text), "json $.items[*].id", NP_TRIM_ANY);
  CHECK("doubled names are both there", r.p.found == 4);
  CHECK("a sign stands where something is left out, in a line or between lines",
        is(&r, "1\n\xE2\x80\xA6\n12345678901234567890\n[\xE2\x80\xA6 lines 1-2]\nNaN\n"
               "\xE2\x80\xA6\n3"));
  r = project(lit(text), "json $..id", NP_TRIM_ANY);
  CHECK("descendants", r.p.found == 5);
  r = project(lit(text), "json $", NP_TRIM_ANY);
  CHECK("the whole", is(&r, text) && r.p.whole);
  r = project(lit(text), "json $.items[0].nam", NP_TRIM_ANY);
  CHECK("what there is instead is told",
        fails(&r, NEAP_E_NOTFOUND, "an object with \"id\", \"name\""));
  r = project(lit(text), "json $.items[9]", NP_TRIM_ANY);
  CHECK("how many items there are", fails(&r, NEAP_E_NOTFOUND, "3 items"));
  r = project(lit(text), "json $.a[", NP_TRIM_ANY);
  CHECK("a path that is none", fails(&r, NEAP_E_ARG, "cannot be read at"));
  r = project(NP_LIT("{\"a\": [1, 2}"), "json $.a", NP_TRIM_ANY);
  CHECK("a text that is none", fails(&r, NEAP_E_JSON, "a comma or ] was expected"));
  r = project(NP_LIT("{\"a\":1}\n{\"a\":2}\n"), "json $[1].a", NP_TRIM_ANY);
  CHECK("JSON lines are an array", is(&r, "2"));
  r = project(NP_LIT("hello"), "json $.a", NP_TRIM_ANY);
  CHECK("prose has no path", r.rc != NEAP_OK);
}

static void rows(void) {
  np_str csv = NP_LIT("id,name\n1,\"a\nb\"\n2,c\n3,d\n");
  projected r = project(csv, "rows 2-3", NP_TRIM_ANY);
  CHECK("rows come with their head",
        is(&r, "id,name\n[\xE2\x80\xA6 lines 2-3]\n2,c\n3,d\n"));
  r = project(csv, "rows 1", NP_TRIM_ANY);
  CHECK("a row may have two lines", is(&r, "id,name\n1,\"a\nb\"\n"));
  r = project(csv, "rows 9", NP_TRIM_ANY);
  CHECK("how many there are", fails(&r, NEAP_E_NOTFOUND, "the table has 3 rows"));
  r = project(NP_LIT("x\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\ny\n"), "rows 2",
              NP_TRIM_ANY);
  CHECK("of Markdown",
        is(&r, "| a | b |\n|---|---|\n[\xE2\x80\xA6 line 4]\n| 3 | 4 |\n"));
  r = project(NP_LIT("a\tb\n1\t2\n"), "rows 1-5", NP_TRIM_ANY);
  CHECK("by tabs", is(&r, "a\tb\n1\t2\n"));
  r = project(NP_LIT("[{\"a\":1}, {\"a\":2}, 3]"), "rows 2-2", NP_TRIM_ANY);
  CHECK("of a JSON array", is(&r, "{\"a\":2}"));
  r = project(NP_LIT("just words\nand more\n"), "rows 1", NP_TRIM_ANY);
  CHECK("prose has no rows", fails(&r, NEAP_E_SHAPE, "there is no table"));
}

static const char guide[] =
    "# Guide\n\nHello.\n\n## Install\n\n```sh\n# not a heading\nmake\n"
    "```\n\n### On Linux\n\napt\n\n## Use it\n\nrun\n\nUnder\n-----\n\nend\n";

static void sections(void) {
  projected r = project(lit(guide), "section install", NP_TRIM_ANY);
  CHECK("a section holds those below it and no fence ends it",
        is(&r,
           "## Install\n\n```sh\n# not a heading\nmake\n```\n\n### On Linux\n\napt\n\n"));
  r = project(lit(guide), "section On Linux", NP_TRIM_ANY);
  CHECK("a section ends at a higher one", is(&r, "### On Linux\n\napt\n\n"));
  r = project(lit(guide), "section under", NP_TRIM_ANY);
  CHECK("underlined headings", is(&r, "Under\n-----\n\nend\n"));
  r = project(lit(guide), "section use", NP_TRIM_ANY);
  CHECK("a beginning will do", is(&r, "## Use it\n\nrun\n\n"));
  r = project(lit(guide), "section nothing", NP_TRIM_ANY);
  CHECK(
      "the sections that there are",
      fails(&r, NEAP_E_NOTFOUND, "there are 5: Guide, Install, On Linux, Use it, Under"));
  static const char html[] =
      "<!DOCTYPE html><html><head><script>var a = '<h2>no</h2>'</script>\n"
      "<h1>Top</h1><p>a</p>\n<h2 class=\"x\">Set <em>up</em></h2><p>b</p>\n"
      "<h3>More</h3>c\n<!-- <h2>no</h2> --><h2>Next</h2>d";
  r = project(lit(html), "section set up", NP_TRIM_ANY);
  CHECK("of HTML",
        is(&r, "<h2 class=\"x\">Set <em>up</em></h2><p>b</p>\n<h3>More</h3>c\n<!-- "
               "<h2>no</h2> -->"));
}

static void titles_with_entities(void) {
  np_str html =
      NP_LIT("<!DOCTYPE html><h1>A</h1>\n<h2>Set up &amp; run &#169;</h2>\nb\n");
  np_str want = NP_LIT("<h2>Set up &amp; run &#169;</h2>\nb\n");
  projected r = project(html, "section Set up & run", NP_TRIM_ANY);
  CHECK("an entity is no part of a title",
        is(&r, "<h2>Set up &amp; run &#169;</h2>\nb\n"));
  r = project(html, "section Set up &amp; run", NP_TRIM_ANY);
  CHECK("nor of what is asked for", r.rc == NEAP_OK && np_str_eq(r.text, want));
  r = project(html, "section amp", NP_TRIM_ANY);
  CHECK("its name is no word", r.rc == NEAP_E_NOTFOUND);
  r = project(NP_LIT("# AT&T and more\nx\n# B\n"), "section at&t and", NP_TRIM_ANY);
  CHECK("what only begins like one is text", is(&r, "# AT&T and more\nx\n"));
}

static void outlines(void) {
  projected r = project(lit(guide), "outline", NP_TRIM_ANY);
  CHECK("headings with their lines",
        is(&r, "1: # Guide\n5: ## Install\n12: ### On Linux\n16: ## Use it\n20: "
               "Under\n21: -----\n"));
  r = project(NP_LIT("#!/usr/bin/env python3\n# about\nimport os\n\n# more\nclass A(B):\n"
                     "    def f(self):\n        return 1\n\ndef main():\n    pass\n"),
              "outline", NP_TRIM_ANY);
  CHECK("definitions", is(&r, "6: class A(B):\n7:     def f(self):\n10: def main():\n"));
  r = project(
      NP_LIT("#include <x.h>\n\nstatic int f(int a) {\n  return g(a);\n}\n"
             "int main(void)\n{\n  if (f(1)) {\n  }\n}\ntypedef struct s {\n} s;\n"),
      "outline", NP_TRIM_ANY);
  CHECK("of C",
        is(&r, "3: static int f(int a) {\n6: int main(void)\n11: typedef struct s {\n"));
  r = project(
      NP_LIT("{\"items\": [{\"id\": 1}, {\"id\": \"x\", \"a b\": null}], \"n\": 3}"),
      "outline", NP_TRIM_ANY);
  CHECK("the shape of JSON",
        is(&r,
           "$: object\n$.items: array of 2\n$.items[]: object (2)\n$.items[].id: number, "
           "string (2)\n$.items[][\"a b\"]: null\n$.n: number\n") &&
            r.p.made);
  r = project(NP_LIT("a,b,c\n1,2,3\n4,5,6\n7,8,9\n"), "outline", NP_TRIM_ANY);
  CHECK("the head of a table", is(&r, "a,b,c\n3 rows\n"));
  r = project(NP_LIT("one\ntwo\nthree\n"), "outline", NP_TRIM_ANY);
  CHECK("or what else to try", fails(&r, NEAP_E_NOTFOUND, "head 50"));
}

static void outlines_of_headings_close_to_their_text(void) {
  projected r = project(NP_LIT("# A\nwords\n\n## B\nmore\n\n## C\nwords\n"), "outline",
                        NP_TRIM_ANY);
  CHECK("headings without a blank line", is(&r, "1: # A\n4: ## B\n7: ## C\n"));
  r = project(NP_LIT("words\n## B\nmore\n## C\nwords\n\n# D\n\nwords\n"), "outline",
              NP_TRIM_ANY);
  CHECK("some with, most without", is(&r, "2: ## B\n4: ## C\n7: # D\n"));
  r = project(NP_LIT("# what it does\ndef f():\n  pass\n# and more\ndef g():\n  pass\n"),
              "outline", NP_TRIM_ANY);
  CHECK("comments stay comments", is(&r, "2: def f():\n5: def g():\n"));
  r = project(NP_LIT("# A\nwords\n\n## B\nmore\n\n## C\nwords\n"), "outline", 12);
  CHECK("of all levels it is counted how many are shown",
        is(&r, "1: # A\n4: ## B\n") && r.p.found == 3 && r.p.shown == 2);
  r = project(lit("A\n=\n\nwords\n\n## B\n\nmore\n"), "outline", NP_TRIM_ANY);
  CHECK("a heading of two lines is one", r.p.found == 2 && r.p.shown == 2);
  np_buf text;
  np_buf_init(&text, &np_alloc_libc);
  np_buf_adds(&text, "# one\nword\n");
  for (int i = 0; i < 1000; i++) np_buf_adds(&text, "a word\n");
  r = project(np_buf_str(&text), "outline", NP_TRIM_ANY);
  CHECK("one in a thousand lines is none",
        fails(&r, NEAP_E_NOTFOUND, "the text has no headings"));
  np_buf_free(&text);
}

static void match_in_a_long_line(void) {
  char big[20000];
  memset(big, 'x', sizeof big);
  for (size_t i = 0; i < sizeof big; i += 7) big[i] = ' ';
  memcpy(big + 12000, "NEEDLE", 6);
  projected r = project(np_str_of(big, sizeof big), "match NEEDLE", 60);
  CHECK("a long line is shown around its match",
        r.rc == NEAP_OK && np_str_find(r.text, NP_LIT("NEEDLE"), 0) != SIZE_MAX &&
            r.p.tokens <= 60 && np_str_find(r.text, NP_LIT("1: \xE2\x80\xA6"), 0) == 0);
}

static void limits(void) {
  np_str text = lines(400);
  projected r = project(text, "41-380", 60);
  CHECK("a limit cuts the end off and says so",
        r.rc == NEAP_OK && np_str_find(r.text, NP_LIT("line 41\nline 42\n"), 0) == 0 &&
            np_str_find(r.text, NP_LIT("-380]"), 0) != SIZE_MAX && r.p.tokens <= 60 &&
            r.p.tokens > 45);
  CHECK("what is left of the lines is told",
        r.p.rest_from == r.p.kept[0].line_to + 1 && r.p.rest_to == 380);
  r = project(text, "tail 300", 60);
  CHECK("a tail is cut at its beginning",
        r.p.rest_from == 101 && r.p.kept[0].line_to == 400 &&
            np_str_find(r.text, NP_LIT("[\xE2\x80\xA6 "), 0) == 0);
  for (size_t n = 0; n < 12; n++) {
    r = project(text, "41-380", n);
    CHECK("a limit is kept however small", r.rc == NEAP_OK && r.p.tokens <= n);
  }
}

static void windows(void) {
  np_project_ask ask = {.what = {.kind = NP_EXTRACT_HEAD, .count = 1},
                        .tokens = NP_TRIM_ANY,
                        .lines_before = 100,
                        .bytes_before = 900,
                        .lines_total = 200};
  np_projection p;
  np_arena_clear(&project_arena);
  np_buf_clear(&project_shown);
  neap_rc rc =
      np_project(vocab, NP_LIT("x\ny\n"), &ask, &project_arena, &p, &project_shown, NULL);
  CHECK("a window's numbers are those of the whole",
        rc == NEAP_OK && p.kept[0].line_from == 101 && p.kept[0].from == 900 &&
            p.kept[0].to == 902 && p.lines == 200 && !p.whole);
}

static void locators(void) {
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  projected r = project(lines(1000), "ends 3", NP_TRIM_ANY);
  np_locator_add(&r.p, NP_LIT("17"), NP_LIT("3f2a9c01b4deffff"), &b);
  CHECK("a locator has id, lines and hash",
        np_str_is(np_buf_str(&b), "17, lines 1-2, 1000 of 1,000, sha256 3f2a9c01b4de"));
  np_buf_clear(&b);
  r = project(lines(3), "2", NP_TRIM_ANY);
  np_locator_add(&r.p, NP_LIT("runs/17"), NP_LIT(""), &b);
  CHECK("or without", np_str_is(np_buf_str(&b), "runs/17, line 2 of 3"));
  np_buf_free(&b);
}

int main(void) {
  project_begin();
  words();
  wrong_words();
  line_ranges();
  head_and_tail();
  matches();
  json_paths();
  rows();
  sections();
  titles_with_entities();
  paths_that_lead_nowhere();
  paths_of_lines_that_lead_nowhere();
  outlines();
  outlines_of_headings_close_to_their_text();
  match_limits();
  match_in_a_long_line();
  limits();
  windows();
  locators();
  project_end();
  return check_done();
}
