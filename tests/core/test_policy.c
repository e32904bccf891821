/*
** The policy host: what loads and what is said when it does not, options, what a policy sees
** of a real history and may ask for, that a failed call has asked for nothing, state, the
** same outcome every time, and that running out of memory anywhere is only an error.
** next: test_policy_reload.c
*/
#include "policy_world.h"

static np_vocab *vocab;

/* Loads a text; the message, or "" when it loads. */
static const char *load_message(const char *text, const char *options) {
  static np_err e;
  np_policy *p = NULL;
  e = (np_err){.code = NEAP_OK};
  neap_rc rc = np_policy_load_text(&np_alloc_libc, NP_LIT("dir/p.lua"), np_str_cstr(text),
                                   np_str_cstr(options), NULL, &p, &e);
  np_policy_free(p);
  if (rc && rc != NEAP_E_POLICY) return "another code";
  return rc ? e.text : "";
}

typedef struct load_case {
  const char *text, *options, *expected; /* "": it loads */
} load_case;

static void test_loading(void) {
  static const load_case cases[] = {
      {"return { api = 1 }", "", ""},
      {"\xEF\xBB\xBFreturn { api = 1 }", "", ""},
      {"#!/usr/bin/env neap\nreturn { api = 1 }", "", ""},
      {"#!x\n\nlocal = 3", "", "dir/p.lua:3: "},
      {"return { api = 1 }\r\n", "", ""},
      {"", "", "dir/p.lua: returns a nil; a policy ends with return"},
      {"#", "", "returns a nil"},
      {"return 7", "", "returns a number"},
      {"return { api = 1", "", "dir/p.lua:1: '}' expected near <eof>"},
      {"\x1bLua", "", "attempt to load a binary chunk"},
      {"return {}", "", "field 'api' is missing; write api = 1"},
      {"return { api = 2, future = 1 }", "", "field 'api' is not 1; this is neap "},
      {"return { api = 1, asemble = print }", "", ""}, /* print is nil */
      {"return { api = 1, asemble = 1 }", "",
       "field 'asemble' is not known; did you mean 'assemble'?"},
      {"return { api = 1, assemble = 1 }", "",
       "hook 'assemble' must be a function, not a number"},
      {"return { api = 1, 5 }", "", "a value without a name"},
      {"return { api = 1, name = 5 }", "", "field 'name' must be a string"},
      {"return { api = 1, name = '\\xff' }", "", "field 'name' is not UTF-8"},
      {"return { api = 1, order = 'size' }", "",
       "order 'size' is not known; there are: rank, value"},
      {"return { api = 1, order = 'valeu' }", "", "did you mean 'value'?"},
      {"return { api = 1, on_error = 'die' }", "", "on_error 'die' is not known"},
      {"return { api = 1, tools = { 'recal' } }", "",
       "tool 'recal' is not known; did you mean 'recall'?"},
      {"return { api = 1, tools = { 'recall', 'read' }, order = 'value', on_error = "
       "'fail' }",
       "", ""},
      {"return { api = 1, layout = { 'state', 'warm', 'memory' } }", "", ""},
      {"return { api = 1, layout = { 'state', 'state' } }", "", "stands twice"},
      {"return { api = 1, layout = { { 'warm', min = 5, max = 9, share = 0.5 }, 'hot' } "
       "}",
       "", ""},
      {"return { api = 1, layout = { 'hot', 'warm' } }", "", "'hot' is always the last"},
      {"return { api = 1, layout = { { 'warm', mix = 5 } } }", "",
       "layout: field 'mix' is not known"},
      {"return { api = 1, layout = { { 'warm', min = 10, max = 9 } } }", "",
       "layout: warm.min is more than its max"},
      {"return { api = 1, layout = { { 'warm', share = 1.5 } } }", "",
       "layout: warm.share must be above 0, at most 1"},
      {"return { api = 1, layout = { { 'hot', max = 0.5 } } }", "",
       "layout: hot.max must be a whole number of at least 1"},
      {"return { api = 1, layout = { {} } }", "", "layout: region"},
      {"return { api = 1, ladder = { trimmed = { tokens = 100, keep = 'tail' } } }", "",
       ""},
      {"return { api = 1, ladder = { trimmed = { tokens = 0 } } }", "",
       "ladder.trimmed.tokens"},
      {"return { api = 1, ladder = { trimmed = { keep = 'x' } } }", "",
       "ladder.trimmed.keep"},
      {"return { api = 1, ladder = { full = {} } }", "", "rung 'full' is not known"},
      {"return { api = 1, ladder = { trimmed = { tokens = { 900, 300, 90 }, worth = "
       "'shown' }, masked = { worth = 0 } } }",
       "", ""},
      {"return { api = 1, ladder = { trimmed = { tokens = { 90, 900 } } } }", "",
       "the larger before the smaller"},
      {"return { api = 1, ladder = { trimmed = { tokens = {} } } }", "",
       "may list 1 to 3 sizes"},
      {"return { api = 1, ladder = { trimmed = { worth = 1 } } }", "",
       "can only be \"shown\""},
      {"return { api = 1, ladder = { reference = { worth = 2 } } }", "",
       "ladder.reference.worth must be a number from 0 to 1"},
      {"return { api = 1, ladder = { dropped = { named = 2 } } }", "", ""},
      {"return { api = 1, ladder = { dropped = { named = true } } }", "",
       "ladder.dropped.named must be a number of at least 0"},
      {"return { api = 1, ladder = { dropped = { worth = 0 } } }", "",
       "ladder.dropped: field 'worth' is not known"},
      {"return { api = 1, facts = { name = 1, number = 0, word = 0.5, written = 9, again "
       "= 1000 } }",
       "", ""},
      {"return { api = 1, facts = { name = -1 } }", "",
       "facts.name must be a number from 0 to 1000"},
      {"return { api = 1, facts = { word = 'x' } }", "",
       "facts.word must be a number from 0 to 1000"},
      {"return { api = 1, facts = { path = 1 } }", "",
       "facts: field 'path' is not known"},
      {"return { api = 1, facts = 3 }", "", "field 'facts' must be a table"},
      {"return { api = 1, state_version = 1.5 }", "", "must be a whole number"},
      {"return setmetatable({ api = 1 }, {})", "", "has a metatable"},
      {"error('no')", "", "dir/p.lua:1: no"},
      {"error({})", "", "dir/p.lua: error object is a table value"},
      {"while true do end", "", "more than 20000000 instructions in one load"},
      {"local x <const> = 1; x = 2", "",
       "dir/p.lua:1: attempt to assign to const variable 'x'"},
      {"local _ENV <const> = {}; local function f() x = 1 end f() return { api = 1 }", "",
       ""},
      {"--[==========[ never ends", "", "unfinished long comment"},
      {"return { api = 1, options = { keep = 10 } }", "{}", ""},
      {"return { api = 1, options = { keep = 10 } }", "{\"keep\":3}", ""},
      {"return { api = 1, options = { keep = 10 } }", "{\"keep\":3.0}", ""},
      {"return { api = 1, options = { keep = 10 } }", "{\"keep\":3.5}",
       "option 'keep' must be a whole number, not 3.5"},
      {"return { api = 1, options = { keep = 10 } }", "{\"keep\":\"3\"}",
       "a whole number, not \"3\""},
      {"return { api = 1, options = { keep = 10, slack = 1 } }", "{\"kepp\":3}",
       "option 'kepp' is not known; did you mean 'keep'? There are: keep, slack"},
      {"return { api = 1 }", "{\"keep\":3}",
       "option 'keep' is not known; there are: none"},
      {"return { api = 1, options = { keep = { default = 5, min = 1, max = 9 } } }",
       "{\"keep\":0}", "option 'keep': the value is below the least value 1"},
      {"return { api = 1, options = { keep = { default = 5, min = 1, max = 9 } } }",
       "{\"keep\":10}", "above the greatest value 9"},
      {"return { api = 1, options = { keep = { default = 0, min = 1 } } }", "",
       "its default is below"},
      {"return { api = 1, options = { keep = { default = 1, mim = 1 } } }", "",
       "did you mean 'min'?"},
      {"return { api = 1, options = { keep = { default = 1, mni = 1 } } }", "",
       "did you mean 'min'?"},
      {"return { api = 1, options = { keep = { default = 1, amx = 1 } } }", "",
       "did you mean 'max'?"},
      {"return { api = 1, options = { keep = { min = 1 } } }", "",
       "its default is missing"},
      {"return { api = 1, options = { keep = next } }", "", "its default is function"},
      {"return { api = 1, options = { Keep = 1 } }", "", "a name is small letters"},
      {"return { api = 1, options = { on = true, s = 'a' } }",
       "{\"on\":false,\"s\":\"b\"}", ""},
      {"return { api = 1, options = { on = true } }", "{\"on\":1}",
       "must be true or false, not 1"},
      {"return { api = 1, options = { x = 0.5 } }", "{\"x\":1e999}", "must be a number"},
      {"return { api = 1, options = { x = 0.5 } }", "[1]", "no JSON object"},
      {"return { api = 1, options = { x = 0.5 } }", "{", "no JSON object"},
  };
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    const load_case *c = &cases[i];
    const char *got = load_message(c->text, c->options);
    bool ok = *c->expected ? strstr(got, c->expected) != NULL : *got == '\0';
    if (!ok)
      fprintf(stderr, "input:    %s %s\ngot:      %s\nexpected: %s\n", c->text,
              c->options, got, c->expected);
    CHECK("a file loads, or one line says why not", ok);
  }
}

/* Sources that try the parser; each loads or is an error. */
static void test_parser(void) {
  static const struct {
    const char *before, *unit, *after;
    int times;
  } soups[] = {{"return ", "(", "1", 100000},
               {"return ", "{", "", 100000},
               {"return ", "not ", "1", 100000},
               {"local a = 1 return a", "..a", "", 100000},
               {"", "if true then ", "", 300},
               {"", "local a ", "", 300},
               {"--[", "=", "", 100000},
               {"return '", "\\z ", "'", 50000},
               {"", "goto a ", "", 30000},
               {"", "::a", "::", 1000},
               {"return ", "function() ", "", 250},
               {"return ", "a.", "b", 100000}};
  for (size_t i = 0; i < NP_COUNT(soups); i++) {
    np_buf b;
    np_buf_init(&b, &np_alloc_libc);
    np_buf_adds(&b, soups[i].before);
    for (int k = 0; k < soups[i].times; k++) np_buf_adds(&b, soups[i].unit);
    np_buf_adds(&b, soups[i].after);
    np_buf_addc(&b, '\0');
    CHECK("an absurd source is an error with a text", *load_message(b.p, "") != '\0');
    np_buf_free(&b);
  }
}

/* ---- calls ---- */

static void test_options(void) {
  static const char text[] = "return { api = 1, options = { keep = { default = 2, min = "
                             "1, help = 'shown' }, share = 0.5, on = true, tag = 'x' },\n"
                             "assemble = function(ctx, o) neap.say(o.keep, o.share, "
                             "o.on, o.tag) o.keep = 99 return o.typo end }";
  world w;
  world_open(&w, vocab, 3);
  world_outcome o = world_run(&w, text, "{\"keep\":7,\"tag\":\"a\\u00e9\"}");
  CHECK("a hook gets the options in force",
        np_str_eq(np_buf_str(&w.said), NP_LIT("7 0.5 true a\xC3\xA9\n")));
  CHECK("reading an option that is none is an error",
        o.rc && strstr(o.e.text, "p.lua:2: option 'typo' is not known"));
  np_policy *p = NULL;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  np_policy_load_text(&np_alloc_libc, NP_LIT("p"), NP_LIT(text), NP_LIT("{\"keep\":7}"),
                      NULL, &p, NULL);
  CHECK(
      "options are given as JSON, by name",
      p && np_policy_options(p, &b, NULL) == NEAP_OK &&
          np_str_eq(
              np_buf_str(&b),
              NP_LIT("{\"keep\":{\"value\":7,\"default\":2,\"min\":1,\"help\":\"shown\"},"
                     "\"on\":{\"value\":true,\"default\":true,\"help\":\"\"},"
                     "\"share\":{\"value\":0.5,\"default\":0.5,\"help\":\"\"},"
                     "\"tag\":{\"value\":\"x\",\"default\":\"x\",\"help\":\"\"}}")));
  np_buf_free(&b);
  np_policy_free(p);
  world_close(&w);
}

/* ---- changes ---- */

static void test_reasons(void) {
  world w;
  world_open(&w, vocab, 4);
  world_outcome o =
      world_run(&w,
                "return { api = 1, assemble = function(ctx)\n for e in ctx:entries { "
                "kind = 'result',"
                " before = 2 } do\n  e:mask('old')\n end\n ctx:shrink(1, 'ebb')\nend }",
                "");
  const np_change *c = w.pack.changes;
  CHECK("a change says why, and which line asked",
        o.rc == NEAP_OK && w.pack.change_count > 1 && np_str_is(c[0].why, "old") &&
            np_str_is(c[0].by, "p.lua:3") && c[0].to == NP_MASKED);
  CHECK("what shrink does is the line's that asked",
        np_str_is(c[1].why, "ebb") && np_str_is(c[1].by, "p.lua:5"));
  world_close(&w);
}

/* Each asks for changes and then fails: nothing may be left of it. */
static void test_rollback(void) {
  static const char work[] =
      "ctx.state.n = 1 ctx.random() for e in ctx:entries { before = 4 } do e:mask() "
      "e:hold() e:pin() end "
      "for e in ctx:entries { kind = 'result' } do e:drop() end ctx:shrink(1) ";
  static const struct {
    const char *end, *expected, *rank;
  } ends[] = {
      {"error('stop')", "p.lua:1: stop", ""},
      {"while true do end", "more than 5000000 instructions", ""},
      {"local t = {} while true do t[#t + 1] = {} end", "not enough memory", ""},
      {"ctx.state.f = print or assert", "ctx.state.f: a function is not plain data", ""},
      {"ctx.state.x = 0 / 0", "ctx.state.x: not a finite number", ""},
      {"ctx.state.a = { { b = '\\xff' } }", "ctx.state.a[1].b: not UTF-8", ""},
      {"ctx.state[2.5] = 1", "a key is neither a string nor an integer", ""},
      {"ctx.state.me = ctx.state", "deeper than 32 tables, or a circle", ""},
      {"ctx.state.t = setmetatable({}, {})", "a table with a metatable is not plain", ""},
      {"", "p.lua:1: rank of entry 9 is nan", "return 0 / 0"},
      {"", "is a string; return a finite number", "return 'x'"},
      {"", "is -1; return a finite number", "return -1"},
      {"", "is inf; return a finite number", "return math.huge"},
      {"", "p.lua:1: no rank", "error 'no rank'"},
      {"", "rank may look, not change", "e:mask()"},
      {"", "rank may look, not change", "ctx:shrink(5)"},
      {"", "more than 5000000 instructions", "while true do end"},
      {"pcall(ctx.shrink, ctx, 1)", "p.lua:1: no rank", "error 'no rank'"}};
  for (size_t i = 0; i < NP_COUNT(ends); i++) {
    char text[1200];
    world w;
    world_open(&w, vocab, 12);
    uint64_t before = world_mark(&w);
    int64_t seed = (int64_t)w.random;
    snprintf(text, sizeof text,
             "return { api = 1, %s%s%s assemble = function(ctx, o) %s%s end }",
             *ends[i].rank ? "rank = function(ctx, e, o) " : "", ends[i].rank,
             *ends[i].rank ? " end," : "",
             *ends[i].rank
                 ? "for e in ctx:entries { before = 4 } do e:hold() end ctx:shrink(1) "
                 : work,
             ends[i].end);
    world_outcome o = world_run(&w, text, "");
    if (!strstr(o.e.text, ends[i].expected))
      fprintf(stderr, "got:      %s\nexpected: %s\n", o.e.text, ends[i].expected);
    CHECK("a hook that fails says why",
          o.rc == NEAP_E_POLICY && strstr(o.e.text, ends[i].expected));
    CHECK("and has asked for nothing", o.mark == before && w.pack.change_count == 0);
    CHECK("and has drawn no random number", (int64_t)w.random == seed);
    world_close(&w);
  }
}

static void test_state(void) {
  static const char text[] =
      "return { api = 1, assemble = function(ctx) local s = ctx.state s.n = (s.n or 0) + "
      "1 s.big = 9007199254740993"
      " s.half = 0.5 s.one = 1.0 s.nul = 'a\\0b' s.list = { 1, { x = true } } s.ids = { "
      "[7] = 'a', [40] = 'b', ['#7'] = 'c' }"
      " assert(math.type(s.one) == 'float' and s.ids[7] == 'a' and s.ids['#7'] == 'c') "
      "if s.n > 2 then error('third') end end }";
  static const char json[] =
      "{\"big\":9007199254740993,\"half\":0.5,\"ids\":{\"#7\":\"a\",\"#40\":\"b\",\"##"
      "7\":\"c\"},\"list\":[1,{\"x\":true}],"
      "\"n\":2,\"nul\":\"a\\u0000b\",\"one\":1.0}";
  world w;
  np_policy *p = NULL;
  np_err e = {0};
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  world_open(&w, vocab, 3);
  np_policy_load_text(&np_alloc_libc, NP_LIT("p"), NP_LIT(text), NP_LIT(""), NULL, &p,
                      &e);
  world_attach(&w, p);
  for (int i = 0; i < 2; i++)
    CHECK("a hook keeps state", np_policy_assemble(p, &e) == NEAP_OK);
  CHECK("a hook that fails changes no state", np_policy_assemble(p, &e) == NEAP_E_POLICY);
  np_policy_state(p, &b, &e);
  CHECK("state is exact and sorted JSON", np_str_eq(np_buf_str(&b), NP_LIT(json)));
  CHECK("state that is no object is refused",
        np_policy_set_state(p, NP_LIT("3"), &e) == NEAP_E_SHAPE);
  CHECK("state that is no JSON is refused",
        np_policy_set_state(p, NP_LIT("{"), &e) == NEAP_E_JSON);
  np_buf_clear(&b);
  CHECK("state can be set", np_policy_set_state(p, NP_LIT("{\"n\":1}"), &e) == NEAP_OK &&
                                np_policy_assemble(p, &e) == NEAP_OK &&
                                np_policy_state(p, &b, &e) == NEAP_OK);
  CHECK("and is what the next call sees", np_str_eq(np_buf_str(&b), NP_LIT(json)));
  np_buf_free(&b);
  np_policy_free(p);
  world_close(&w);
}

/* ---- the other hooks ---- */

static void test_hooks(void) {
  static const char text[] =
      "local keep\nreturn { api = 1, order = 'value', options = { most = 150 },\n"
      "admit = function(ctx, e, o) keep = keep or e if e.kind == 'result' and e.tokens > "
      "o.most then e:trim { tokens = o.most } end end,\n"
      "compact = function(ctx, o) assert(keep.id > 0) end,\n"
      "overflow = function(ctx, o, short) neap.say(short) ctx:shrink(ctx.budget) end,\n"
      "selftest = function() return 1 > 0 end }";
  world w;
  np_policy *p = NULL;
  np_err e = {0};
  world_open(&w, vocab, 12);
  np_policy_load_text(&np_alloc_libc, NP_LIT("p.lua"), NP_LIT(text), NP_LIT(""), NULL, &p,
                      &e);
  CHECK("a call without a pack is misuse", np_policy_overflow(p, 1, &e) == NEAP_E_MISUSE);
  CHECK("a selftest needs no pack", np_policy_selftest(p, &e) == NEAP_OK);
  world_attach(&w, p);
  CHECK("the pack gets order and rank",
        w.pack.order == NP_ORDER_VALUE && w.pack.rank == NULL);
  for (size_t id = 1; id <= w.log.entry_count; id++) np_policy_admit(p, (int64_t)id, &e);
  CHECK("admit has trimmed what is large",
        w.pack.change_count > 3 && w.pack.changes[0].to == NP_TRIMMED);
  CHECK("an entry that is none is refused", np_policy_admit(p, 9999, &e) == NEAP_E_ARG);
  CHECK("a handle of an earlier call has ended",
        np_policy_compact(p, &e) == NEAP_E_POLICY &&
            strstr(e.text, "p.lua:4: the context has ended"));
  CHECK("overflow gets what is short",
        np_policy_overflow(p, 77, &e) == NEAP_OK &&
            np_str_eq(np_buf_str(&w.said), NP_LIT("77\n")));
  CHECK("a hook that is absent is fine", np_policy_assemble(p, &e) == NEAP_OK);
  CHECK("hooks are known by name",
        np_policy_has(p, "admit") && !np_policy_has(p, "assemble"));
  np_policy_free(p);
  np_policy_load(&np_alloc_libc, NULL, NP_LIT(""), NULL, &p, &e);
  w.turn.budget = 2000;
  world_attach(&w, p);
  CHECK("the default overflow shrinks to 0.7 of the budget",
        np_policy_overflow(p, 1, &e) == NEAP_OK && np_pack_tokens(&w.pack) <= 1400);
  np_policy_free(p);
  CHECK("a selftest that is false refuses",
        np_policy_load_text(
            &np_alloc_libc, NP_LIT("p"),
            NP_LIT("return { api = 1, selftest = function() return false end }"),
            NP_LIT(""), NULL, &p, &e) == NEAP_OK &&
            np_policy_selftest(p, &e) == NEAP_E_POLICY &&
            strstr(e.text, "selftest returned false"));
  np_policy_free(p);
  world_close(&w);
}

static const char busy_text[] =
    "return { api = 1, order = 'value', rank = function(ctx, e, o) return e.identifiers "
    "/ e.age + #e.hash + ctx.random() end,"
    "assemble = function(ctx) local t = {} for e in ctx:entries() do t[e.tool or 'none'] "
    "= (t[e.tool or 'none'] or 0) + e.tokens end"
    " for k, v in pairs(t) do neap.say(k, v, ctx.random(100)) end for w in ('a b "
    "c'):gmatch('%a') do ctx.state[w] = { w } end"
    " for e in ctx:entries { kind = 'result', except_last = 6 } do e:trim { tokens = 50 "
    "} end ctx:shrink(1500) end }";

static void test_determinism(void) {
  uint64_t marks[2], said[2];
  for (int i = 0; i < 2; i++) {
    world w;
    world_open(&w, vocab, 12);
    world_outcome o = world_run(&w, busy_text, "");
    CHECK("a busy policy runs", o.rc == NEAP_OK && w.said.n > 0);
    marks[i] = o.mark;
    said[i] = np_hash64(np_buf_str(&w.said));
    world_close(&w);
  }
  CHECK("two states do the same", marks[0] == marks[1] && said[0] == said[1]);
}

/* Where the budget ends is the same in every state, whatever its hash seed. */
static void test_budget_is_exact(void) {
  static const char text[] = WORLD_ASSEMBLE(
      "local t = {} for i = 1, 1e9 do local k = 'k' .. i % 700 t[k] = not t[k] or nil"
      " if i % 500 == 0 then neap.say(i, #k:rep(2000), k:find '(%d+)$') end end");
  uint64_t said[3];
  for (int i = 0; i < 3; i++) {
    world w;
    world_open(&w, vocab, 1);
    world_outcome o = world_run(&w, text, "");
    CHECK("the budget ends the loop", o.rc && w.said.n > 1000);
    said[i] = np_hash64(np_buf_str(&w.said));
    world_close(&w);
  }
  CHECK("at the same instruction every time", said[0] == said[1] && said[0] == said[2]);
}

/* A history of 10,000 entries costs little of the budget. */
static void test_large_history(void) {
  world w;
  world_open(&w, vocab, 5000);
  world_outcome o = world_run(
      &w,
      WORLD_ASSEMBLE("local sum, n = 0, 0 for e in ctx:entries() do sum = sum + "
                     "e.tokens n = n + e.age end neap.say(sum)"),
      "");
  CHECK("a walk over 10,000 entries fits one call", o.rc == NEAP_OK && w.said.n > 0);
  world_close(&w);
}

/* Fails the n-th allocation for every n: an error each time, no crash, nothing left. */
static void test_memory_runs_out(void) {
  int64_t n = 1, last = 0;
  bool clean = true, right = true;
  for (; n < 20000 && !last; n += n < 300 ? 1 : 7) {
    counter c = {.fail_at = n};
    neap_alloc a = counter_alloc(&c);
    np_policy *p = NULL;
    np_err e = {0};
    world w;
    world_open(&w, vocab, 6);
    uint64_t before = world_mark(&w);
    neap_rc rc = np_policy_load_text(&a, NP_LIT("p.lua"), NP_LIT(busy_text), NP_LIT("{}"),
                                     NULL, &p, &e);
    if (!rc) {
      world_attach(&w, p);
      rc = np_policy_assemble(p, &e);
      if (rc && world_mark(&w) != before) clean = false;
    }
    if (rc && rc != NEAP_E_MEMORY) {
      fprintf(stderr, "allocation %d: %s\n", (int)n, e.text);
      right = false;
    }
    if (!rc) last = n;
    np_policy_free(p);
    if (c.live) clean = false;
    world_close(&w);
  }
  CHECK("running out of memory is an error of memory", right);
  CHECK("and leaves nothing, neither bytes nor changes", clean);
  CHECK("until there is enough", last > 100);
}

int main(void) {
  vocab = world_vocab();
  test_loading();
  test_parser();
  test_options();
  test_reasons();
  test_rollback();
  test_state();
  test_hooks();
  test_determinism();
  test_budget_is_exact();
  test_large_history();
  test_memory_runs_out();
  np_vocab_free(vocab);
  return check_done();
}
