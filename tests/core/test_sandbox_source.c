/*
** Sources that try the lexer and the parser, and what ^ may stand before: each loads or is an
** error with a clean line, in a process of its own, and no memory is left.
** next: test_sandbox.c
*/
#define _XOPEN_SOURCE 700
#include "apart.h"
#include "policy_world.h"
#include "text/text.h"

typedef struct source {
  const char *head, *unit, *tail;
  int times;
  const char *expected; /* "": it loads; NULL: either */
} source;

static const source sources[] = {
    {"return ", "(", "1", 100000, "overflow"},
    {"return ", "((", "1", 90, "')' expected"},
    {"return ", "{", "", 100000, "overflow"},
    {"return ", "not ", "1", 100000, "overflow"},
    {"return ", "-", "1", 100000, NULL}, /* a comment */
    {"return ", "- ", "1", 100000, "overflow"},
    {"return { api = 1, x = 1 ", ".. 1 ", "}", 300, "overflow"},
    {"local a = 'a' return #(a", "..a", ")", 300000, "overflow"},
    {"local a = 1 return a", "+a", "", 200000, NULL},
    {"local a = 1 return a", "^2", "", 150, "constant exponent 2"},
    {"local a = 1 return a", "^a", "", 1000, "overflow"},
    {"", "local a ", "return { api = 1 }", 200, ""},
    {"", "local a ", "return { api = 1 }", 201, "too many local variables"},
    {"", "local a ", "", 300, "too many local variables"},
    {"local a0", ",a", " = 1 return { api = 1 }", 300, "too many local variables"},
    {"return function(a", ",a", ") end", 300, NULL},
    {"local t = {", "0,", "} return { api = 1 }", 200000, ""},
    {"local t = {", "{},", "} return { api = 1 }", 100000, ""},
    {"local t = {", "'a','b',", "} return { api = 1 }", 100000, ""},
    {"--[", "=", "[ no end", 1000000, "unfinished long comment"},
    {"--[", "=", " no bracket\nreturn { api = 1 }", 500000, ""},
    {"return [", "=", "[ no end", 1000000, "unfinished long string"},
    {"return [", "=", "x", 1000000, "invalid long string delimiter"},
    {"return '", "\\z ", "'", 300000, NULL},
    {"return '", "a", "", 1000000, "unfinished string"},
    {"return \"", "\\u{7FFFFFFF}", "\"", 80000, NULL},
    {"return '", "\\u{", "'", 10, "hexadecimal digit"},
    {"return '", "\\x", "'", 1, "hexadecimal digit expected"},
    {"return '", "\\999", "'", 1, "decimal escape too large"},
    {"return ", "9", "", 1000000, NULL},
    {"return 0x", "f", "", 1000000, NULL},
    {"return 1e", "9", "", 100000, NULL},
    {"return .", "1", "", 100000, NULL},
    {"return 1", "..", "", 10, "malformed number"},
    {"", "if true then ", "", 300, NULL},
    {"", "while true do ", "", 300, NULL},
    {"", "do ", "", 300, NULL},
    {"return ", "function() return ", "", 300, NULL},
    {"local a return ", "a.", "b", 100000, NULL},
    {"local a return a", "[a", "", 300, NULL},
    {"local a return a", "()", "", 100000, NULL},
    {"", "goto a ", "", 30000, "no visible label"},
    {"", "::a", "::", 1000, NULL},
    {"", ";", "return { api = 1 }", 900000, ""},
    {"", "\n", "return { api = 1 }", 900000, ""},
    {"", "\r", "x", 900000, NULL},
    {"", "\xff", "", 1, "unexpected symbol"},
    {"", "\xff\xfe", "", 1, "unexpected symbol"},
    {"", "\xc3\xa9 = 1", "", 1, "unexpected symbol"},
    {"local _ENV <const> = {}; local function f() x = 1 end f() ", "",
     "return { api = 1 }", 0, ""},
    {"local _ENV <close> = nil ", "", "return { api = 1 }", 0, NULL},
    {"local function f() local _ENV <const> = 1; x = 2 end pcall(f) ", "",
     "return { api = 1 }", 0, ""},
    {"local x <const>, y <close> = 1 ", "", "x = 1", 0, "const variable"},
    {"local x <", "close", "> = 1 return { api = 1 }", 1, "non-closable"},
    {"local x <", "a", "> = 1", 100000, "unknown attribute"},
    {"", "", "", 0, "returns a nil"},
    {"\xEF\xBB\xBF", "", "", 0, "returns a nil"},
    {"\xEF\xBB", "", "", 0, "unexpected symbol"},
    {"\xEF\xBB\xBF\xEF\xBB\xBF", "", "", 0, "unexpected symbol"},
    {"\xEF\xBB\xBF#!lua\n", "", "return { api = 1 }", 0, ""},
    {"#!lua\r\n", "", "return { api = 1 }\r\n", 0, ""},
    {"#", "x", "", 1000000, "returns a nil"},
    {"#\n#\n", "", "return { api = 1 }", 0, "unexpected symbol"},
    {"return\r\n{\r\napi\r\n=\r\n1\r\n}\r\n", "", "", 0, ""},
    {"return { api = 1 }\x1a", "", "", 0, "expected near"},
    {"\x1bLua\x54", "", "", 0, "attempt to load a binary chunk"},
    {"\xEF\xBB\xBF\x1bLua", "", "", 0, "attempt to load a binary chunk"},
    {"#\n\x1bLua", "", "", 0, "unexpected symbol"},
    {"return ", "\xEF\xBB\xBF", "", 1, "unexpected symbol"},

    /* ^ */
    {"local x = 3 return { api = x ^ 2 - 8 // 1 | 0 }", "", "", 0, ""},
    {"local x = 3 return { api = 1, x ^ 2.0 }", "", "", 0, "without a name"},
    {"return { api = 1 ^ 2 // 1 | 0 }", "", "", 0, ""},
    {"local x <const> = 2 return 3 ^ x", "", "", 0, "constant exponent 2"},
    {"return 3 ^ 2 ^ 2", "", "", 0, "p.lua:1: ^ takes only"},
    {"return 3 ^ 2 --[[ x ]] ^ 2", "", "", 0, "constant exponent 2"},
    {"return 3 ^ (2)", "", "", 0, "constant exponent 2"},
    {"return 3 ^ -2", "", "", 0, "constant exponent 2"},
    {"return 3 ^ 2e1", "", "", 0, "constant exponent 2"},
    {"return 3 ^ 0x2p1", "", "", 0, "constant exponent 2"},
    {"return 3 ^ 0.5", "", "", 0, "constant exponent 2"},
    {"return 3 ^ .5", "", "", 0, "constant exponent 2"},
    {"\n\n\r\n\n\rreturn 3 ^\n\n 3", "", "", 0, "p.lua:5: ^ takes only"},
    {"--[==[\n]]\n]==] return '\\'^', [[^]], \"\\\n^\", 1 ^ 3", "", "", 0,
     "p.lua:4: ^ takes only"},
    {"local a = { ['^'] = 1 } -- ^ 3\nreturn { api = a['^'] }", "", "", 0, ""},
    {"local a = {} a[ [[^]] ] = 1 return { api = a[ [=[^]=] ] }", "", "", 0, ""},
    {"return { api = 1, name = '\\z   \n  ^ 3' }", "", "", 0, ""},
    {"return { api = 5 // 2 - 1, name = ('%^3') --[=[ ]] ^ ]=] }", "", "", 0, ""},
    {"return { api = 1 } -- ^ 3", "", "", 0, ""},
    {"return { api = 1 } --[[ ^ 3 ]]", "", "", 0, ""},
    {"return { api = 1 } --[ [ ^ 3 ", "", "", 0, ""},
    {"local x = 3e-2^3", "", "", 0, "constant exponent 2"},
    {"local x = 0x3e-2^3", "", "", 0, "constant exponent 2"},
    {"local x = 0xep-2^2 return { api = 1 }", "", "", 0, ""},
    {"local x = 0xe-2^2 return { api = 1 }", "", "", 0, ""},
    {"local function f(...) return ...^2 end return { api = 1 }", "", "", 0, ""},
};

static void write_source(const source *s, np_buf *b) {
  np_buf_init(b, &np_alloc_libc);
  np_buf_adds(b, s->head);
  for (int k = 0; k < s->times; k++) np_buf_adds(b, s->unit);
  np_buf_adds(b, s->tail);
}

static bool says_so(const source *s, neap_rc rc, const char *text) {
  if (rc && rc != NEAP_E_POLICY) return false;
  if (rc && (!*text || np_utf8_valid(np_str_cstr(text)) != strlen(text))) return false;
  if (!s->expected) return true;
  return *s->expected ? strstr(text, s->expected) != NULL : !rc;
}

static bool loads(const void *arg) {
  const source *s = arg;
  counter c = {0};
  neap_alloc a = counter_alloc(&c);
  np_policy *p = NULL;
  np_err e = {.code = NEAP_OK};
  np_buf b;
  write_source(s, &b);
  neap_rc rc =
      np_policy_load_text(&a, NP_LIT("p.lua"), np_buf_str(&b), NP_LIT(""), NULL, &p, &e);
  np_buf_free(&b);
  np_policy_free(p);
  bool ok = says_so(s, rc, rc ? e.text : "") && c.live == 0;
  if (!ok) {
    fprintf(stderr, "got:      %.300s, %d blocks left\nexpected: %s\n",
            rc ? e.text : "it loads", (int)c.live, s->expected ? s->expected : "either");
  }
  return ok;
}

/* The compiler takes a chain of elseif the square of its length, seconds for this one, and
** no hook is called meanwhile: the clock ends it all the same. */
static bool ends_by_the_clock(const void *arg) {
  const source *s = arg;
  np_policy *p = NULL;
  np_err e = {.code = NEAP_OK};
  np_buf b;
  write_source(s, &b);
  neap_rc rc = np_policy_load_text(&np_alloc_libc, NP_LIT("p.lua"), np_buf_str(&b),
                                   NP_LIT(""), &(np_limits){.call_ms = 1}, &p, &e);
  np_buf_free(&b);
  np_policy_free(p);
  return rc == NEAP_E_POLICY && says_so(s, rc, e.text);
}

int main(void) {
  static const source slow = {"local a if a then ", "elseif a then ",
                              "end return { api = 1 }", 70000, "time of one call"};
  CHECK("a source that compiles too long is stopped", !apart(ends_by_the_clock, &slow));
  for (size_t i = 0; i < NP_COUNT(sources); i++) {
    const char *wrong = apart(loads, &sources[i]);
    if (wrong)
      fprintf(stderr, "input:    %s%s … %s: %s\n", sources[i].head, sources[i].unit,
              sources[i].tail, wrong);
    CHECK("a source loads or is one clean error", !wrong);
  }
  return check_done();
}
