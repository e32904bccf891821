/*
** Policies as files: what a path may be, modules, what counts as a change, and that a broken
** version leaves the old one serving with its state. next: test_policy_lib.c
*/
#define _XOPEN_SOURCE 700
#include "policy_world.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char dir[200];

static const char *at(const char *name) {
  static char path[4][300];
  static int turn;
  char *p = path[turn++ % 4];
  snprintf(p, sizeof path[0], "%s/%s", dir, name);
  return p;
}

/* Sets the time of a file: seconds before now. */
static void age(const char *name, int seconds) {
  struct timespec now, t[2];
  clock_gettime(CLOCK_REALTIME, &now);
  t[0] = t[1] = (struct timespec){now.tv_sec - seconds, 0};
  utimensat(AT_FDCWD, at(name), t, 0);
}

/* Writes a file, ten seconds old. */
static void put(const char *name, const char *text) {
  FILE *f = fopen(at(name), "wb");
  if (!f || fputs(text, f) < 0 || fclose(f)) exit(2);
  age(name, 10);
}

static neap_rc load(const char *name, np_policy **p, np_err *e) {
  return np_policy_load(&np_alloc_libc, at(name), NP_LIT(""), NULL, p, e);
}

/* The message of a file that must not load. */
static const char *refused(const char *name) {
  static np_err e;
  np_policy *p = NULL;
  e = (np_err){.code = NEAP_OK};
  neap_rc rc = load(name, &p, &e);
  np_policy_free(p);
  return rc == NEAP_E_POLICY ? e.text : rc ? "another code" : "it loads";
}

static void expect_refused(const char *name, const char *expected) {
  const char *got = refused(name);
  if (!strstr(got, expected))
    fprintf(stderr, "input: %s\ngot:   %s\nexpected: %s\n", name, got, expected);
  CHECK("a file that is no policy is refused in one line", strstr(got, expected));
}

static void test_files(void) {
  char big[100];
  expect_refused("absent.lua", "absent.lua: cannot be opened; check the path");
  expect_refused(".", "is no regular file");
  if (mkfifo(at("fifo.lua"), 0600)) exit(2);
  expect_refused("fifo.lua", "is no regular file");
  FILE *f = fopen(at("nul.lua"), "wb");
  fwrite("return { api = 1 }\0", 1, 19, f);
  fclose(f);
  expect_refused("nul.lua", "holds a NUL byte");
  put("big.lua", "");
  if (truncate(at("big.lua"), (1 << 20) + 1)) exit(2);
  expect_refused("big.lua", "larger than 1 MiB");
  snprintf(big, sizeof big, "return 1 +\n\n+");
  put("syntax.lua", big);
  expect_refused("syntax.lua", "/syntax.lua:3: unexpected symbol");
}

static void test_modules(void) {
  np_policy *p = NULL;
  np_err e = {0};
  uint8_t sha[NP_SHA256];
  mkdir(at("lib"), 0700);
  put("lib/one.lua", "local M = {}\nfunction M.f() return 41 end\nreturn M\n");
  put("two.lua", "return require('lib.one').f() + 1");
  put("main.lua", "local one, two = require 'lib.one', require 'two'\nassert(one == "
                  "require 'lib.one' and two == 42)\n"
                  "return { api = 1, selftest = function() require 'three' end }");
  CHECK("modules of the policy's own folder load", load("main.lua", &p, &e) == NEAP_OK);
  CHECK("but not in a hook",
        np_policy_selftest(p, &e) == NEAP_E_POLICY &&
            strstr(e.text, "/main.lua:3: require: 'three' was not loaded"));
  memcpy(sha, np_policy_info_of(p)->sha256, sizeof sha);
  CHECK("nothing has changed", !np_policy_changed(p));
  put("lib/one.lua", "local M = {}\nfunction M.f() return 41 end\nreturn M \n");
  CHECK("a changed module is a change", np_policy_changed(p));
  np_policy_free(p);
  CHECK("and part of the hash",
        load("main.lua", &p, &e) == NEAP_OK &&
            memcmp(sha, np_policy_info_of(p)->sha256, sizeof sha) != 0);
  np_policy_free(p);
  put("lib/one.lua", "\n\nerror 'broken'");
  expect_refused("main.lua", "/lib/one.lua:3: broken");
  put("outside.lua", "return 1");
  mkdir(at("sub"), 0700);
  put("sub/main.lua", "require 'link'\nreturn { api = 1 }");
  if (symlink("../outside.lua", at("sub/link.lua"))) exit(2);
  expect_refused("sub/main.lua", "'link.lua' is not in the policy's folder");
  put("sub/main.lua", "require 'pipe'\nreturn { api = 1 }");
  if (mkfifo(at("sub/pipe.lua"), 0600)) exit(2);
  expect_refused("sub/main.lua", "is no regular file");
  put("sub/main.lua", "require 'ring'\nreturn { api = 1 }");
  put("sub/ring.lua", "return require 'ring'");
  CHECK("a circle of modules ends", load("sub/main.lua", &p, &e) == NEAP_OK);
  np_policy_free(p);
}

#define GOOD "return { api = 1, name = 'a' }"

static void test_changes(void) {
  np_policy *p = NULL;
  np_err e = {0};
  put("p.lua", GOOD);
  CHECK("a policy loads", load("p.lua", &p, &e) == NEAP_OK);
  CHECK("nothing has changed", !np_policy_changed(p));
  age("p.lua", 20);
  CHECK("another time alone is no change", !np_policy_changed(p));
  put("p.lua", "return { api = 1, name = 'b' }");
  age("p.lua", 20);
  CHECK("same size and same time, new content: a change", np_policy_changed(p));
  CHECK("each content is reported once", !np_policy_changed(p) && !np_policy_changed(p));
  put("p.lua", GOOD);
  CHECK("back to what is loaded: no change", !np_policy_changed(p));
  put("p.lua", "return { api = 1, name = 'b' }");
  CHECK("and forth again: a change", np_policy_changed(p));
  put("p.lua", "return { ap");
  age("p.lua", 0);
  struct timespec t[2];
  clock_gettime(CLOCK_REALTIME, &t[0]);
  t[0].tv_sec += 0;
  t[1] = t[0];
  utimensat(AT_FDCWD, at("p.lua"), t, 0);
  CHECK("a file of this moment may be half written", !np_policy_changed(p));
  age("p.lua", 5);
  CHECK("later it is a change, though broken",
        np_policy_changed(p) && strstr(refused("p.lua"), "expected"));
  unlink(at("p.lua"));
  CHECK("a file that is gone is no change", !np_policy_changed(p));
  put("p.tmp", "return { api = 1, name = 'c' }");
  rename(at("p.tmp"), at("p.lua"));
  CHECK("a file put in its place is", np_policy_changed(p));
  put("p.lua", "require 'helper' return { api = 1 }");
  put("helper.lua", "x");
  CHECK("a version with a broken module is reported", np_policy_changed(p));
  np_policy *next = NULL;
  uint8_t tried[NP_SHA256];
  CHECK("and does not load",
        np_policy_next(p, NP_LIT(""), &next, tried, &e) == NEAP_E_POLICY && !next);
  CHECK("once", !np_policy_changed(p) && !np_policy_changed(p));
  age("helper.lua", 30);
  put("other.txt", "x");
  CHECK("nor when only a time is another", !np_policy_changed(p));
  put("helper.lua", "return {}");
  CHECK("but again when the module is another", np_policy_changed(p));
  np_policy_free(p);
}

/* What the engine does at a reload: load, migrate, selftest; the old one serves when one
** fails. */
static np_policy *swap(np_policy *old, const char *text, np_err *e) {
  np_policy *p = NULL;
  neap_rc rc = np_policy_load_text(&np_alloc_libc, NP_LIT("p.lua"), np_str_cstr(text),
                                   NP_LIT(""), NULL, &p, e);
  if (!rc) rc = np_policy_migrate(p, old, e);
  if (!rc) rc = np_policy_selftest(p, e);
  np_policy_free(rc ? p : old);
  return rc ? old : p;
}

static bool state_is(np_policy *p, const char *json) {
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  bool same = np_policy_state(p, &b, NULL) == NEAP_OK && np_str_is(np_buf_str(&b), json);
  np_buf_free(&b);
  return same;
}

static void test_swaps(void) {
  static const struct {
    const char *text, *expected;
  } broken[] = {
      {"return {", "unexpected symbol"},
      {"error 'at load'", "at load"},
      {"while true do end", "instructions in one load"},
      {"return 5", "returns a number"},
      {"return { api = 9 }", "api = 1"},
      {"return { api = 1, assemble = 5 }", "must be a function"},
      {"return { api = 1, state_version = 2 }",
       "state_version is 2 and was 1; write migrate"},
      {"return { api = 1, state_version = 2, migrate = function() error 'no' end }",
       "p.lua:1: no"},
      {"return { api = 1, state_version = 2, migrate = function() return 5 end }",
       "migrate must return the new state"},
      {"return { api = 1, state_version = 2, migrate = function() return { f = next } "
       "end }",
       "ctx.state.f: a function"},
      {"return { api = 1, state_version = 2, migrate = function() while true do end end "
       "}",
       "more than 5000000"},
      {"return { api = 1, state_version = 1, selftest = function() return false end }",
       "selftest returned false"},
      {"return { api = 1, state_version = 1, selftest = function() error 'x' end }",
       "p.lua:1: x"},
      {"\x1bLua", "binary chunk"},
  };
  np_policy *p = NULL;
  np_err e = {0};
  np_policy_load_text(&np_alloc_libc, NP_LIT("p.lua"),
                      NP_LIT("return { api = 1, state_version = 1 }"), NP_LIT(""), NULL,
                      &p, &e);
  np_policy_set_state(p, NP_LIT("{\"n\":11}"), &e);
  for (size_t i = 0; i < NP_COUNT(broken); i++) {
    np_policy *before = p;
    e.text[0] = '\0';
    p = swap(p, broken[i].text, &e);
    if (!strstr(e.text, broken[i].expected))
      fprintf(stderr, "input: %s\ngot:   %s\n", broken[i].text, e.text);
    CHECK("a broken version says why", strstr(e.text, broken[i].expected));
    CHECK("and leaves the old one with its state",
          p == before && state_is(p, "{\"n\":11}"));
  }
  p = swap(p, "return { api = 1, state_version = 1, name = 'new' }", &e);
  CHECK("state of the same version is taken over",
        state_is(p, "{\"n\":11}") && np_str_is(np_policy_info_of(p)->name, "new"));
  p = swap(p,
           "return { api = 1, state_version = 3, migrate = function(old, from) return { "
           "m = old.n * 100 + from } end }",
           &e);
  CHECK("state of another version is migrated", state_is(p, "{\"m\":1101}"));
  np_policy_free(p);
}

static void test_many_reloads(void) {
  counter c = {0};
  neap_alloc a = counter_alloc(&c);
  np_policy *p = NULL, *next = NULL;
  np_err e = {0};
  int64_t after_first = 0;
  bool flat = true;
  put("p.lua", "return { api = 1, state_version = 1, options = { a = 1 }, selftest = "
               "function() return #('x'):rep(1000) end }");
  for (int i = 0; i < 1000 && flat; i++) {
    neap_rc rc = np_policy_load(&a, at("p.lua"), NP_LIT("{}"), NULL, &next, &e);
    if (!rc && p) rc = np_policy_migrate(next, p, &e);
    if (!rc) rc = np_policy_selftest(next, &e);
    np_policy_free(p);
    p = next;
    if (i == 1) after_first = c.live;
    /* a hash seed of the state moves a few blocks up or down */
    flat = rc == NEAP_OK && (i < 2 || c.live < after_first + 100);
    if (!flat)
      fprintf(stderr, "reload %d: %d blocks, %d at first: %s\n", i, (int)c.live,
              (int)after_first, e.text);
  }
  CHECK("a thousand reloads leave memory flat", flat);
  np_policy_free(p);
  CHECK("and none at the end", c.live == 0);
}

int main(void) {
  const char *tmp = getenv("TMPDIR");
  char clean[300];
  snprintf(dir, sizeof dir, "%s/neap-policy-XXXXXX", tmp ? tmp : "/tmp");
  if (!mkdtemp(dir)) return 2;
  test_files();
  test_modules();
  test_changes();
  test_swaps();
  test_many_reloads();
  snprintf(clean, sizeof clean, "rm -rf '%s'", dir);
  if (system(clean)) fprintf(stderr, "%s is left\n", dir);
  return check_done();
}
