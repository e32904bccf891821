/*
** neap.grammar: what a policy gets and what it does not, grammars that misbehave, a machine
** without LPeg, a text that is too long, memory that runs out. next: ../spec/grammar_spec.lua
*/
#define _XOPEN_SOURCE 700
#include "apart.h"
#include "policy_world.h"

#include <sys/stat.h>

static np_vocab *vocab;
static char folder[] = "/tmp/neap-grammar-XXXXXX";

#define ASSEMBLE(body) "return { api = 1, assemble = function(ctx, o) " body " end }"

static neap_rc run(const neap_alloc *a, const char *text, world *w, np_err *e) {
  static const np_limits limits = {.call_ms = -1}; /* sanitizers are slow */
  np_policy *p = NULL;
  *e = (np_err){.code = NEAP_OK};
  neap_rc rc = np_policy_load_text(a, NP_LIT("p.lua"), np_str_cstr(text), NP_LIT(""),
                                   &limits, &p, e);
  if (!rc) world_attach(w, p);
  if (!rc) rc = np_policy_assemble(p, e);
  np_policy_free(p);
  return rc;
}

/* Runs the body; it must end as `expected` says ("": well), with no memory left. */
static bool ends(const char *body, const char *expected) {
  char text[2000];
  world w;
  np_err e;
  counter c = {0};
  neap_alloc a = counter_alloc(&c);
  snprintf(text, sizeof text, ASSEMBLE("%s"), body);
  world_open(&w, vocab, 4);
  neap_rc rc = run(&a, text, &w, &e);
  world_close(&w);
  bool ok = *expected ? rc == NEAP_E_POLICY && strstr(e.text, expected) : !rc;
  if (!ok)
    fprintf(stderr, "input:    %s\ngot:      %s\nexpected: %s\n", body,
            rc ? e.text : "ok", expected);
  return ok && c.live == 0;
}

static bool has_lpeg(void) {
  return ends("neap.grammar.errors('')", "");
}

static void test_results(void) {
  static const char *const bodies[] = {
      "local t = neap.grammar.errors('x\\na.c:1:2: error: no\\n') assert(#t == 1 and "
      "t[1].file == "
      "'a.c' and t[1].line == 1 and math.type(t[1].line) == 'integer' and t[1].at == 2)",
      "local f = neap.grammar.stack_trace local t = f('Traceback (most recent call "
      "last):\\n  "
      "File \"a.py\", line 3, in f\\nKeyError: 1') assert(t[1].kind == 'KeyError' and "
      "t[1].frames[1].name == 'f' and f == neap.grammar.stack_trace)",
      "assert(#neap.grammar.errors('') == 0 and not getmetatable(neap.grammar))",
      "local k = neap.grammar.kind('1 failed, 2 passed in 0.1s\\n', 'bash pytest') "
      "assert(k.kind == 'test_log' and k.careful and k.keep == 'errors' and k.tokens > "
      "1000)",
      "local n = 0 for e in ctx:entries {} do local k = e:output() n = n + 1 "
      "assert(type(k.kind) == 'string' and k.tokens > 0 and k.kind == e:output().kind) "
      "end "
      "assert(n > 0)",
      "local t = neap.grammar.errors('error: \\xff\\0x') assert(t[1].message == "
      "'\\u{FFFD}\\0x', t[1].message)",
      "local t = neap.grammar.errors('error: x') t[1].message = 'y' "
      "assert(neap.grammar.errors('error: x')[1].message == 'x')",
      "assert(#neap.grammar.errors(('error: x\\n'):rep(100)) == 100)",
      "for e in ctx:entries() do neap.grammar.errors(e.text) "
      "neap.grammar.stack_trace(e.text) end",
      "ctx.state.found = neap.grammar.errors('error: x')",
      "for k in pairs(neap.grammar) do error(k) end assert(next(neap.grammar) == nil)",
      "assert(not pcall(function() neap.grammar.x = 1 end) and not pcall(setmetatable, "
      "neap.grammar, {}))",
      "rawset(neap.grammar, 'errors', 1) assert(neap.grammar.errors == 1)"};
  for (size_t i = 0; i < NP_COUNT(bodies); i++)
    CHECK("a policy gets plain data of a grammar", ends(bodies[i], ""));
}

static void test_refusals(void) {
  static const char *const cases[][2] = {
      {"neap.grammar.erors('')", "grammar 'erors' is not known; did you mean 'errors'?"},
      {"return neap.grammar['../../x']", "is not known"},
      {"return neap.grammar['errors\\0']", "is not known"},
      {"return neap.grammar['/etc/passwd']", "is not known"},
      {"return neap.grammar['']", "is not known"},
      {"return neap.grammar[('x'):rep(1e6)]", "is not known"},
      {"return neap.grammar[1]", "string expected"},
      {"return neap.grammar[{}]", "string expected"},
      {"neap.grammar.errors()", "string expected"},
      {"neap.grammar.errors(5)", "string expected"},
      {"neap.grammar.errors(setmetatable({}, { __tostring = error }))",
       "string expected"},
      {"neap.grammar.errors(('x'):rep(65537))",
       "p.lua:1: neap.grammar.errors: the text has more than 65536 bytes; give a part"},
      {"while true do neap.grammar.errors(('note: \\n'):rep(9000)) end",
       "more than 5000000"},
      {"while true do pcall(neap.grammar.errors, ('x'):rep(60000)) end",
       "more than 5000000"},
      {"while true do pcall(function() return neap.grammar.none end) end", "more than"}};
  for (size_t i = 0; i < NP_COUNT(cases); i++)
    CHECK("a wrong use of a grammar is an error", ends(cases[i][0], cases[i][1]));
}

/* ---- a folder of grammars that misbehave ---- */

static void put(const char *name, const char *text) {
  char path[200];
  snprintf(path, sizeof path, "%s/neap/grammar/%s.lua", folder, name);
  FILE *f = fopen(path, "wb");
  if (!f || fputs(text, f) < 0 || fclose(f)) exit(2);
}

/* A grammar's name, its file, what a call of it says ("": it works). */
typedef struct grammar {
  const char *name, *text, *expected;
} grammar;

static const grammar bad[] = {
    {"fine", "return { parse = function(s) return { #s } end }", ""},
    {"none", "return { parse = function() end }", ""},
    {"syntax", "return {", "neap.grammar: neap/grammar/syntax.lua:1: "},
    {"thrower", "return { parse = function() error('no') end }",
     "neap.grammar: neap/grammar/thrower.lua:1: no"},
    {"odd", "return { parse = function() error({}) end }",
     "neap.grammar: error object is a table value"},
    {"early", "error('at once')", "neap/grammar/early.lua:1: at once"},
    {"loop", "return { parse = function() while true do end end }",
     "more than 20000000 instructions"},
    {"load_loop", "while true do end", "more than 20000000 instructions"},
    {"circle", "return { parse = function() local t = {} t.t = t return t end }",
     "its result.t"},
    {"closure", "return { parse = function() return { f = print } end }",
     "its result.f: a function is not plain data"},
    {"bytes", "return { parse = function() return '\\xff' end }",
     "its result: not UTF-8"},
    {"memory",
     "return { parse = function() local t = {} while true do t[#t + 1] = ('x'):rep(1e6) "
     ".. "
     "#t end end }",
     "not enough memory"},
    {"no_table", "return 5", "neap/grammar/no_table.lua returns no table"},
    {"no_parse", "return {}", "neap/grammar/no_parse.lua returns no table"},
    {"bytecode", "\x1bLua", "attempt to load a binary chunk"},
};

static bool misbehaves(const void *arg) {
  const grammar *b = arg;
  char body[400];
  setenv("NEAP_LUA", folder, 1);
  snprintf(body, sizeof body, "neap.grammar.%s('abc')", b->name);
  if (!ends(body, b->expected)) return false;
  snprintf(body, sizeof body,
           "for i = 1, 2 do pcall(function() return neap.grammar.%s('abc') end) end "
           "assert(neap.grammar.fine('abc')[1] == 3)",
           b->name);
  return ends(body, "");
}

static bool is_elsewhere(const void *arg) {
  (void)arg;
  setenv("NEAP_LUA", "/nonexistent", 1);
  return ends("neap.grammar.errors('')", "NEAP_LUA names the folder that holds neap/");
}

static bool lacks_lpeg(const void *arg) {
  (void)arg;
  setenv("LUA_CPATH_5_4", "/nonexistent/?.so", 1);
  setenv("LUA_PATH_5_4", "/nonexistent/?.lua", 1);
  return ends("neap.grammar.errors('')",
              "neap.grammar: LPeg is not installed for Lua 5.4");
}

static void test_folders(void) {
  char path[200];
  if (!mkdtemp(folder)) exit(2);
  snprintf(path, sizeof path, "%s/neap", folder);
  if (mkdir(path, 0700)) exit(2);
  snprintf(path, sizeof path, "%s/neap/grammar", folder);
  if (mkdir(path, 0700)) exit(2);
  for (size_t i = 0; i < NP_COUNT(bad); i++) put(bad[i].name, bad[i].text);
  for (size_t i = 0; i < NP_COUNT(bad); i++)
    CHECK("a grammar that misbehaves is one error, and others go on",
          !apart(misbehaves, &bad[i]));
  CHECK("a missing folder is said", !apart(is_elsewhere, NULL));
  CHECK("a missing LPeg is said", !apart(lacks_lpeg, NULL));
  snprintf(path, sizeof path, "rm -rf %s", folder);
  if (system(path)) fprintf(stderr, "%s is left\n", folder);
}

/* Fails the n-th allocation for every n. */
static void test_memory_runs_out(void) {
  bool right = true, clean = true;
  int64_t n = 1, last = 0;
  for (; n < 100000 && !last; n += n < 200 ? 1 : 13) {
    counter c = {.fail_at = n};
    neap_alloc a = counter_alloc(&c);
    np_err e;
    world w;
    world_open(&w, vocab, 2);
    neap_rc rc = run(&a,
                     ASSEMBLE("neap.grammar.errors('error: x') "
                              "neap.grammar.stack_trace('a: b\\n    at f (a:1:1)')"),
                     &w, &e);
    if (!rc) last = n;
    if (rc && rc != NEAP_E_MEMORY) {
      fprintf(stderr, "allocation %d: %s\n", (int)n, e.text);
      right = false;
    }
    if (c.live) clean = false;
    world_close(&w);
  }
  CHECK("running out of memory is an error of memory", right);
  CHECK("and leaves nothing", clean);
  CHECK("until there is enough", last > 100);
}

int main(void) {
  vocab = world_vocab();
  if (has_lpeg()) {
    test_results();
    test_memory_runs_out();
  } else {
    check_skip("grammars", "LPeg is not installed");
  }
  test_refusals();
  test_folders();
  np_vocab_free(vocab);
  return check_done();
}
