/*
** Patterns that come from models: what they find, that no pattern takes longer than its text
** allows, and what is said of those that are not taken. next: test_project.c
*/
#include "check.h"
#include "text/regex.h"
#include "text/text.h"

static np_str lit(const char *s) {
  return np_str_cstr(s);
}

static neap_rc find(const char *pattern, np_str line, bool *found, size_t *from,
                    size_t *to, np_err *e) {
  np_regex *r;
  *found = false;
  neap_rc rc = np_regex_new(lit(pattern), false, &np_alloc_libc, &r, e);
  if (rc) return rc;
  np_regex_allow(r, line.n);
  rc = np_regex_find(r, line, found, from, to, e);
  np_regex_free(r);
  return rc;
}

static void finds(void) {
  static const struct {
    const char *pattern, *line, *want; /* NULL: nothing */
  } cases[] = {
      {"time(out|d)", "a timeout here", "timeout"},
      {"^$", "", ""},
      {"^\\s+at ", "    at f", "    at "},
      {"\\bERR\\w*", "no ERROR", "ERROR"},
      {"(?i)fail", "FAILED", "FAIL"},
      {"a(?=b)", "acab", "a"},
      {"(?<=id=)\\d+", "id=42", "42"},
      {".", "\xE4\xB8\xAD", "\xE4\xB8\xAD"},
      {"\\w+", "\xE4\xB8\xAD\xE6\x96\x87", "\xE4\xB8\xAD\xE6\x96\x87"},
      {"x", "abc", NULL},
      {"abc\\Kd", "abcd", "d"},
      {"b",
       "\xFF"
       "ab\xFE",
       "b"},
      {"a.b",
       "a\xFF"
       "b",
       NULL},
      {"(a+)+$", "aaaa", "aaaa"},
      {"\\x{4E2D}", "\xE4\xB8\xAD", "\xE4\xB8\xAD"},
  };
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    bool found;
    size_t from = 0, to = 0;
    np_err e = {0};
    neap_rc rc = find(cases[i].pattern, lit(cases[i].line), &found, &from, &to, &e);
    np_str got = np_str_cut(lit(cases[i].line), from, to);
    bool ok = rc == NEAP_OK && found == (cases[i].want != NULL) &&
              (!found || np_str_is(got, cases[i].want));
    if (!ok) fprintf(stderr, "pattern %s: %s\n", cases[i].pattern, e.text);
    CHECK("the first match is found", ok);
  }
}

static void refuses(void) {
  static const char *const cases[] = {"(",
                                      "[a",
                                      "a{256}",
                                      "(a)\\1",
                                      "(?<n>a)\\k<n>",
                                      "a**",
                                      "\\C",
                                      "(?P>no)",
                                      "x{2,1000}",
                                      "\\\\x{300}",
                                      "\xFF",
                                      "(?<=a+)b",
                                      "*",
                                      "a{2}{9999999999999999}",
                                      "[[:no:]]",
                                      "\\p{Nope}",
                                      "(?(1)a|b",
                                      "\\"};
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    np_regex *r;
    np_err e = {0};
    neap_rc rc = np_regex_new(lit(cases[i]), false, &np_alloc_libc, &r, &e);
    if (rc != NEAP_E_ARG) fprintf(stderr, "pattern %s\n", cases[i]);
    CHECK("a wrong pattern is named with what is wrong",
          rc == NEAP_E_ARG && !r && strstr(e.text, "the pattern ") == e.text &&
              !strchr(e.text, '\n') && np_utf8_valid(lit(e.text)) == strlen(e.text));
    np_regex_free(r);
  }
  char deep[4001];
  memset(deep, '(', 2000);
  memset(deep + 2000, ')', 2000);
  deep[4000] = '\0';
  np_regex *r;
  CHECK("a long one is refused",
        np_regex_new(lit(deep), false, &np_alloc_libc, &r, NULL));
  deep[1999] = 'a';
  memmove(deep + 2000, deep + 2001, 2000);
  memmove(deep, deep + 1900, 201);
  deep[201] = '\0';
  CHECK("and a deep one", np_regex_new(lit(deep), false, &np_alloc_libc, &r, NULL));
}

/* Steps are counted, so this needs no clock: whatever the pattern, no more than the budget. */
static void hostile(void) {
  static const char *const patterns[] = {"(a+)+[bc]",
                                         "(a|a)*[bc]",
                                         "(a*)*[bc]",
                                         "(.*)(.*)(.*)(.*)(.*)[^a]",
                                         "(?:a?){200}[bc]",
                                         "a*a*a*a*a*[bc]",
                                         "^(([a-z])+.)+[A-Z]([a-z])+$",
                                         "(?=(a+))a*[bc]",
                                         "(?R)?a",
                                         "((a{1,200}){1,200}){1,200}[bc]",
                                         "(?:.|\\s)*?[xy]",
                                         "\\w*\\w*\\w*\\w*[!?]",
                                         "(a(?1)?a)+[bc]",
                                         "(?>a+)[bc]",
                                         "(?<=a{255})[bc]",
                                         "a{255}[bc]",
                                         "(?:(?=a{200}[bc])|a)+[bc]"};
  size_t n = 200000;
  char *text = malloc(n);
  memset(text, 'a', n);
  int stopped = 0;
  for (size_t i = 0; i < NP_COUNT(patterns); i++) {
    bool found;
    size_t from, to;
    np_err e = {0};
    neap_rc rc = find(patterns[i], np_str_of(text, n), &found, &from, &to, &e);
    if (rc != NEAP_OK && rc != NEAP_E_LIMIT && rc != NEAP_E_ARG)
      fprintf(stderr, "pattern %s: %d\n", patterns[i], rc);
    CHECK("a pattern ends, is stopped, or was refused",
          rc == NEAP_OK || rc == NEAP_E_LIMIT || rc == NEAP_E_ARG);
    stopped += rc == NEAP_E_LIMIT;
  }
  CHECK("most of these are stopped", stopped >= 10);
  free(text);
}

/* The budget is one for a text, not for a line. */
static void budget(void) {
  np_regex *r = NULL;
  bool found;
  size_t from, to;
  neap_rc rc = np_regex_new(lit("(x+x+)+[yz]"), false, &np_alloc_libc, &r, NULL);
  CHECK("a slow pattern is read", rc == NEAP_OK);
  np_regex_allow(r, 0);
  CHECK("the budget is given", np_regex_left(r) == NP_REGEX_BASE);
  uint64_t left = np_regex_left(r);
  rc = np_regex_find(r, lit("xxxxxxxxxx"), &found, &from, &to, NULL);
  CHECK("a line takes of it", rc == NEAP_OK && np_regex_left(r) < left);
  int lines = 0;
  while (np_regex_find(r, lit("xxxxxxxxxx"), &found, &from, &to, NULL) == NEAP_OK)
    lines++;
  CHECK("until it is spent", lines > 1 && np_regex_left(r) == 0);
  np_regex_free(r);
}

/* Work for a text twice as long is at most about twice as much. */
static void linear(void) {
  static const char *const patterns[] = {"\\d+ms", "error|fail", "^\\s+at .*:\\d+",
                                         "[a-z]+:"};
  for (size_t k = 0; k < NP_COUNT(patterns); k++) {
    uint64_t used[2] = {0, 0};
    for (int twice = 0; twice < 2; twice++) {
      np_regex *r = NULL;
      bool found;
      size_t from, to, size = (size_t)1 << 40;
      if (np_regex_new(lit(patterns[k]), false, &np_alloc_libc, &r, NULL)) break;
      np_regex_allow(r, size);
      uint64_t left = np_regex_left(r);
      for (int i = 0; i < 1000 << twice; i++)
        np_regex_find(r, lit("12:03:07 worker 7 answered in 31 ms, no err"), &found,
                      &from, &to, NULL);
      used[twice] = left - np_regex_left(r);
      np_regex_free(r);
    }
    CHECK("the steps grow with the text", used[1] == 2 * used[0]);
    CHECK("and are few", used[0] < (uint64_t)1000 * 43 * 8);
  }
}

int main(void) {
  finds();
  refuses();
  hostile();
  budget();
  linear();
  return check_done();
}
