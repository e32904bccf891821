/*
** Tools as context: which schemas a prompt begins with. Within an epoch the set stands still; it
** never goes below what visible calls name; counts follow it exactly; a session read back from
** its store shows the same. What is not shown is found and called through neap_tools.
** next: ../spec/policies_spec.lua
*/
#include "session.h"

#include "engine/engine.h"
#include "openai_check.h"
#include "render/check.h"
#include "render/openai.h"

static neap *engine;

/* Tools t1 to tN, each with a word of its own in its description. */
static void give_tools(neap_session *s, int n) {
  static const char *const words[] = {"alpha", "beta",    "gamma",
                                      "delta", "epsilon", "zeta"};
  char one[400];
  json("[");
  for (int i = 1; i <= n; i++) {
    snprintf(
        one, sizeof one,
        "%s{\"type\":\"function\",\"function\":{\"name\":\"t%d\",\"description\":"
        "\"Does %s things, number %d.\",\"parameters\":{\"type\":\"object\","
        "\"properties\":{\"id\":{\"type\":\"integer\",\"description\":\"which\"}}}}}",
        i > 1 ? "," : "", i, words[i % 6], i);
    np_buf_adds(&made, one);
  }
  np_buf_addc(&made, ']');
  CHECK("tools are taken", neap_set_tools(s, np_buf_str(&made)) == NEAP_OK);
}

/* No hook has failed in the last turn. */
static void check_hooks(neap_session *s) {
  neap_str a = account(s);
  bool fine = has(a, "\"hook_errors\":[]");
  if (!fine) fprintf(stderr, "%.*s\n", (int)a.n, a.p);
  CHECK("no hook failed", fine);
}

static neap_session *begin(const char *name, const char *lua, int tools) {
  neap_session *s =
      session_open(engine, name, policy_file("tools.lua", lua), 6000, "openai");
  give_tools(s, tools);
  append(s, "{'role':'system','content':'s'}");
  append(s, "{'role':'user','content':'u'}");
  return s;
}

/* Whether the prompt's tools hold the name; messages are not looked at. */
static bool offers(neap_str body, const char *name) {
  np_json root, tools;
  char quoted[60];
  snprintf(quoted, sizeof quoted, "\"name\":\"%s\"", name);
  return !np_json_check(body, &root, NULL) && np_json_get(root, "tools", &tools) &&
         has(tools.raw, quoted);
}

static const char long_result[] =
    "a result of many words, of so many words that a mark in its place is cheaper than "
    "all "
    "of these words are: one two three four five six seven eight nine ten eleven twelve "
    "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty and so on and "
    "on";

static void answer(neap_session *s, const char *tool, int n) {
  neap_call c;
  CHECK("a response is taken", !neap_append_response(s, response("so", tool, 1, n)));
  while (neap_next_call(s, &c)) {
    if (neap_handle(s, &c))
      CHECK("a result is taken", !neap_append_result(s, &c, np_str_cstr(long_result)));
  }
}

/* ---- one rule at a time ---- */

static void test_first_prompt(void) {
  neap_session *s = begin("first",
                          "return { api = 1, assemble = function(ctx)\n"
                          "  local ok, why = ctx:tools { 't1', 't3' }\n"
                          "  assert(ok, why) end }",
                          4);
  neap_str body = prompt(s);
  CHECK("what the policy names is shown", offers(body, "t1") && offers(body, "t3"));
  CHECK("what it does not name is not", !offers(body, "t2") && !offers(body, "t4"));
  neap_str a = account(s);
  CHECK("the account counts tools", has(a, "\"tools\":{\"shown\":2,\"hidden\":2,") &&
                                        has(a, "\"removed\":[\"t2\",\"t4\"]") &&
                                        has(a, "\"by\":\"tools.lua:2\""));
  check_hooks(s);
  neap_session_close(s);
}

/* Dropped at step 2, where nothing is written anew; in force at step 4, where a result is
** masked. */
static void test_waits_for_rewrite(void) {
  neap_session *s =
      begin("waits",
            "return { api = 1, assemble = function(ctx)\n"
            "  if ctx.step == 2 then\n"
            "    local ok, why = ctx:tools { drop = { 't2' }, why = 'phase two' }\n"
            "    assert(not ok and why == 't2: at the next rewrite', why) end\n"
            "  if ctx.step == 4 then\n"
            "    for e in ctx:entries { kind = 'result', before = 2 } do e:mask() end\n"
            "  end end }",
            3);
  for (int i = 1; i <= 4; i++) {
    neap_str body = prompt(s);
    neap_str a = account(s);
    check_hooks(s);
    CHECK("the set changes with the epoch alone", offers(body, "t2") == (i < 4));
    CHECK("one rewrite", number(a, "epoch") == (i < 4 ? 1 : 2));
    CHECK("the wish is told where it counts",
          has(a, "\"why\":\"phase two\"") == (i == 4));
    answer(s, "t1", i);
  }
  neap_session_close(s);
}

static void test_named_stays(void) {
  neap_session *s =
      begin("named",
            "return { api = 1, assemble = function(ctx)\n"
            "  if ctx.step < 3 then return end\n"
            "  for e in ctx:entries { kind = 'result', before = 2 } do e:mask() end\n"
            "  local ok, why = ctx:tools { keep = { 't1' } }\n"
            "  if ctx.step == 3 then\n"
            "    assert(not ok and why == 't2: named in visible history', why)\n"
            "  end\n"
            "  if ctx.step == 4 then\n"
            "    for e in ctx:entries { kind = 'call', before = 3 } do e:drop() end\n"
            "  end end }",
            3);
  prompt(s);
  answer(s, "t2", 1);
  prompt(s);
  answer(s, "t1", 2);
  neap_str body = prompt(s);
  CHECK("a tool that a visible call names stays", offers(body, "t2"));
  CHECK("another goes", !offers(body, "t3"));
  check_hooks(s);
  answer(s, "t1", 3);
  body = prompt(s);
  CHECK("when its calls are gone it goes", !offers(body, "t2") && offers(body, "t1"));
  neap_session_close(s);
}

static void test_refusals(void) {
  neap_session *s =
      begin("refused",
            "return { api = 1, admit = function(ctx) assert(not pcall(ctx.tools, ctx, "
            "{'t1'}))\n"
            "  end, assemble = function(ctx)\n"
            "  local ok, why = ctx:tools { 't1', 'nonesuch' }\n"
            "  assert(not ok and why == \"there is no tool 'nonesuch'; there are: t1, "
            "t2\", why)\n"
            "  ok, why = ctx:tools { keep = {} }\n"
            "  assert(not ok and why:find 'one tool at least', why)\n"
            "  local function bad(t, text) local fine, e = pcall(ctx.tools, ctx, t)\n"
            "    assert(not fine and tostring(e):find(text, 1, true), tostring(e)) end\n"
            "  bad({ keep = { 't1' }, drop = { 't2' } }, 'one list')\n"
            "  bad({ 't1', drop = { 't2' } }, 'one list')\n"
            "  bad({ kept = {} }, \"did you mean 'keep'\")\n"
            "  bad({ keep = { 7 } }, 'by its name')\n"
            "  bad({}, 'give the names')\n"
            "  bad({ keep = 't1' }, 'table expected')\n"
            "  bad('t1', 'table expected')\n"
            "  local list = ctx:tools()\n"
            "  assert(#list == 2 and list[1].name == 't1' and list[1].shown)\n"
            "  assert(list[1].tokens > 20 and list[2].calls == 0 and not list[2].last)\n"
            "  ctx:tools { 't1' }\n"
            "  error 'too late' end }",
            2);
  neap_str body = prompt(s);
  neap_str a = account(s);
  CHECK("a hook that fails has asked for nothing",
        offers(body, "t1") && offers(body, "t2"));
  CHECK("it got as far as it was meant to", has(a, "too late"));
  CHECK("refusals are counted", number(a, "refused") == 2);
  neap_session_close(s);
}

static void test_request_names(void) {
  neap_session *s = session_open(
      engine, "forced",
      policy_file("tools.lua", "return { api = 1, assemble = function(ctx)\n"
                               "  local ok, why = ctx:tools { 't1' }\n"
                               "  assert(why == 't2: the request names it')\n"
                               "end }"),
      6000, "openai");
  neap_set_request(s,
                   json("{'tool_choice':{'type':'function','function':{'name':'t2'}}}"));
  give_tools(s, 3);
  append(s, "{'role':'user','content':'u'}");
  neap_str body = prompt(s);
  CHECK("what the request names stays", offers(body, "t2") && !offers(body, "t3"));
  check_hooks(s);
  neap_session_close(s);
}

/* Near the limit tools that are not wanted go before anything else. */
static void test_overflow(void) {
  neap_session *s = session_open(
      engine, "over",
      policy_file("tools.lua", "return { api = 1, overflow = function(ctx, o, short)\n"
                               "  local before = ctx.tokens\n"
                               "  assert(ctx:tools { keep = { 't1' }, why = 'room' })\n"
                               "  assert(before - ctx.tokens >= short) end }"),
      700, "openai");
  give_tools(s, 60);
  append(s, "{'role':'user','content':'u'}");
  neap_str body = prompt(s);
  neap_str a = account(s);
  CHECK("it fits without tools that are not wanted",
        offers(body, "t1") && !offers(body, "t9"));
  check_hooks(s);
  CHECK("the reason is told", has(a, "\"why\":\"room\""));
  CHECK("within budget", number(a, "tokens") <= number(a, "budget"));
  neap_session_close(s);
}

/* A wish that waits is carried out when the prompt would not fit, before anything else goes. */
static void test_waiting_goes_first(void) {
  neap_session *s = session_open(
      engine, "waiting",
      policy_file("tools.lua", "return { api = 1, assemble = function(ctx)\n"
                               "  if ctx.step == 2 then\n"
                               "    assert(not ctx:tools { 't1' }) end end }"),
      1050, "openai");
  give_tools(s, 24);
  append(s, "{'role':'user','content':'u'}");
  neap_str body;
  int64_t epoch = 1;
  for (int i = 1; epoch == 1 && i < 20; i++) {
    body = prompt(s);
    check_hooks(s);
    epoch = number(account(s), "epoch");
    CHECK("it stands until then", offers(body, "t24") == (epoch == 1));
    CHECK("no result is put away", !has(body, "not shown") && !has(body, "cut"));
    answer(s, "t1", i);
  }
  CHECK("then is not never", epoch == 2);
  neap_session_close(s);
}

/* Tools that are to come, come as far as there is room. */
static void test_no_room(void) {
  neap_session *s = session_open(
      engine, "room",
      policy_file(
          "tools.lua",
          "return { api = 1, assemble = function(ctx)\n"
          "  if ctx.step == 1 then assert(ctx:tools { 't1' }) end\n"
          "  if ctx.step == 4 then\n"
          "    for e in ctx:entries { kind = 'result', before = 2 } do e:mask() end\n"
          "    local ok, why = ctx:tools { drop = {} }\n"
          "    assert(not ok and why:find(', …: no room', 1, true), why)\n"
          "  end end }"),
      900, "openai");
  give_tools(s, 60);
  append(s, "{'role':'user','content':'u'}");
  for (int i = 1; i < 4; i++) {
    prompt(s);
    answer(s, "t1", i);
  }
  neap_str body = prompt(s);
  neap_str a = account(s);
  check_hooks(s);
  CHECK("the first of them come", offers(body, "t2") && offers(body, "t3"));
  CHECK("the others wait", !offers(body, "t60"));
  CHECK("within the budget, and near to it",
        number(a, "tokens") <= 900 && number(a, "tokens") > 800);
  neap_session_close(s);
}

/* Gemini lists declarations inside one tool; their neighbours keep their bytes. */
static void test_declarations(void) {
  neap_session *s = session_open(
      engine, "declared",
      policy_file("tools.lua", "return { api = 1, assemble = function(ctx)\n"
                               "  assert(#ctx:tools() == 4)\n"
                               "  assert(ctx:tools { 'b', 'googleSearch' }) end }"),
      6000, "text");
  neap_set_tools(s, json("[{'functionDeclarations':[{'name':'a'},{'name':'b','x':1.0}]},"
                         "{'googleSearch':{}},{'functionDeclarations':[{'name':'c'}]}]"));
  append(s, "{'role':'user','content':'u'}");
  np_buf want;
  np_buf_init(&want, &np_alloc_libc);
  np_buf_add(&want, json("[{'functionDeclarations':[{'name':'b','x':1.0}]},"
                         "{'googleSearch':{}}]"));
  np_buf_addc(&want, '\0');
  CHECK("declarations are shown one by one", has(prompt(s), want.p));
  check_hooks(s);
  np_buf_free(&want);
  neap_session_close(s);
}

/* ---- the catalogue ---- */

/* A response with one call of neap_tools. */
static void ask_catalogue(neap_session *s, const char *args) {
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  np_buf_add(&b, json(args));
  json("{'choices':[{'message':{'role':'assistant','content':null,'tool_calls':[{'id':"
       "'k','type':'function','function':{'name':'neap_tools','arguments':");
  np_json_quote(&made, np_buf_str(&b));
  np_buf_adds(&made, "}}]}}]}");
  CHECK("a response is taken", !neap_append_response(s, np_buf_str(&made)));
  np_buf_free(&b);
}

static const char shy[] =
    "return { api = 1, tools = { 'tools' }, assemble = function(ctx)\n"
    "  if ctx.step == 1 then assert(ctx:tools { 't1' }) end\n"
    "  if ctx.step == 5 then\n"
    "    for e in ctx:entries { kind = 'result', before = 3 } do e:mask() end end\n"
    "end }";

static void test_catalogue(void) {
  neap_call c;
  neap_session *s = begin("catalogue", shy, 12);
  neap_str body = prompt(s), text;
  CHECK("the engine's own is offered", offers(body, "neap_tools"));
  CHECK("but not what was not asked for", !offers(body, "neap_read"));
  ask_catalogue(s, "{'query':'BETA things'}");
  CHECK("the call is handed out", neap_next_call(s, &c));
  CHECK("the engine answers it", neap_handle(s, &c) == 0);
  CHECK("its answer is an entry", !neap_entry_text(s, c.entry + 1, &text));
  CHECK("schemas are given whole",
        has(text, "t7: {\"type\":\"function\",\"function\":{\"name\":\"t7\"") &&
            has(text, "\"description\":\"which\""));
  CHECK("the better come first", np_str_find(text, NP_LIT("t1 (listed"), 0) == 0);
  body = prompt(s);
  CHECK("within the epoch nothing is added", !offers(body, "t7"));

  ask_catalogue(s, "{'call':'t7','arguments':{'id':3}}");
  CHECK("a found tool's call is handed out", neap_next_call(s, &c));
  CHECK("as that tool's",
        np_str_is(c.name, "t7") && np_str_is(c.arguments, "{\"id\":3}"));
  CHECK("it is the host's to run", neap_handle(s, &c) == 1);
  CHECK("its result is taken", !neap_append_result(s, &c, np_str_cstr(long_result)));
  prompt(s);
  ask_catalogue(s, "{'call':'t8','arguments':'{}'}");
  CHECK("arguments may come as a string",
        neap_next_call(s, &c) && np_str_is(c.name, "t8") && np_str_is(c.arguments, "{}"));
  CHECK("its result is taken", !neap_append_result(s, &c, np_str_cstr(long_result)));
  prompt(s);
  ask_catalogue(s, "{'call':'t99'}");
  CHECK("an unknown one is the engine's to answer",
        neap_next_call(s, &c) && !neap_handle(s, &c));
  neap_entry_text(s, c.entry + 1, &text);
  CHECK("by saying so", has(text, "There is no tool of the name \"t99\""));
  body = prompt(s);
  CHECK("what was found is shown at the next rewrite", offers(body, "t7"));
  CHECK("what was not is not", !offers(body, "t2"));
  CHECK("the account says why", has(account(s), "\"added\":[\"t7\",\"t8\"]"));
  check_hooks(s);
  ask_catalogue(s, "{'query':'nothing of the kind'}");
  neap_next_call(s, &c);
  neap_handle(s, &c);
  neap_entry_text(s, c.entry + 1, &text);
  CHECK("without a match the names are told", has(text, "Not listed are: t2, t3, "));
  neap_session_close(s);
}

/* ---- random sessions ---- */

static const char wild[] =
    "return { api = 1, tools = { 'tools', 'read' }, assemble = function(ctx)\n"
    "  local list = ctx:tools()\n"
    "  if ctx.random() < 0.5 then\n"
    "    local names = {}\n"
    "    for _, t in ipairs(list) do\n"
    "      if ctx.random() < 0.4 then names[#names + 1] = t.name end end\n"
    "    local wish = ctx.random() < 0.5 and { keep = names } or { drop = names }\n"
    "    wish.why = 'step ' .. ctx.step\n"
    "    ctx:tools(wish)\n"
    "  end\n"
    "  for e in ctx:entries { kind = 'result', except_last = 3 } do\n"
    "    if ctx.random() < 0.05 then e:mask() end end\n"
    "  for e in ctx:entries { kind = 'call', except_last = 4 } do\n"
    "    if ctx.random() < 0.05 then e:drop() end end\n"
    "  if ctx.random() < 0.1 then error 'by chance' end\n"
    "end, overflow = function(ctx)\n"
    "  if ctx.random() < 0.5 then ctx:tools { 't1', 't2' } end\n"
    "  ctx:shrink(0.8 * ctx.budget) end }";

#define TOOLS 9

typedef struct run {
  neap *store;
  neap_session *s;
  const char *format, *name;
  int64_t window;
  unsigned long long random;
  char shown[TOOLS + 1]; /* in the last prompt */
  int64_t epoch;
  int changes;
  bool obeys; /* the model calls what is shown, and else neap_tools */
} run;

static void look_up(const run *r, char *shown) {
  const np_toolset *t = &r->s->pack.tools;
  for (int i = 0; i < TOOLS; i++) shown[i] = t->items[i].bits & NP_TOOL_SHOWN ? 'x' : '.';
}

/* A view that knows the prompt's tools alone counts them as the session does. */
static bool counts_alike(const run *r, const char *shown) {
  const np_view *v = &r->s->pack.view;
  np_view fresh;
  np_log empty;
  np_buf text;
  np_log_init(&empty, &np_alloc_libc, NULL);
  np_view_init(&fresh, &np_alloc_libc, &empty, v->vocab, v->format, NULL);
  fresh.model = v->model;
  np_buf_init(&text, &np_alloc_libc);
  for (size_t i = 0; i < r->s->pack.tools.count; i++) {
    if (i < TOOLS && shown[i] == '.') continue;
    np_buf_addc(&text, text.n ? ',' : '[');
    np_buf_add(&text, r->s->pack.tools.items[i].raw);
  }
  np_buf_addc(&text, ']');
  np_view_set_head(&fresh, np_buf_str(&text), v->request, v->recall);
  bool same = fresh.head_cost == v->head_cost && np_str_eq(np_buf_str(&text), v->tools);
  np_view_free(&fresh);
  np_log_free(&empty);
  np_buf_free(&text);
  return same;
}

static bool holds_what_is_named(const run *r, const char *was, const char *now) {
  const np_view *v = &r->s->pack.view;
  for (int64_t id = 1; id <= (int64_t)v->count; id++) {
    const np_entry *en = np_log_entry(v->log, id);
    if (en->kind != NP_KIND_CALL || !np_view_is_shown(v, id)) continue;
    for (int i = 0; i < TOOLS; i++) {
      if (!np_str_eq(en->tool, r->s->pack.tools.items[i].name)) continue;
      if (was[i] == 'x' && now[i] == '.') return false;
    }
  }
  return true;
}

/* An independent count of the whole body. */
static bool recount(const run *r, neap_str body, int64_t tokens) {
  np_json root, tools = {0};
  np_view view = {.alloc = &np_alloc_libc, .vocab = r->s->vocab};
  int64_t found = 0;
  if (strcmp(r->format, "openai") != 0) return true;
  np_spare_init(&view.temp, &np_alloc_libc);
  if (!np_json_check(body, &root, NULL)) np_json_get(root, "tools", &tools);
  const char *wrong =
      openai_check(view.vocab, body, np_openai_tools_tokens(&view, tools), &found);
  np_spare_free(&view.temp);
  return !wrong && found == tokens;
}

/* NULL, or which property does not hold for the prompt that was just made. */
static const char *look(run *r, neap_str body) {
  char now[TOOLS + 1] = "", name[20];
  neap_str a = account(r->s);
  int64_t epoch = number(a, "epoch");
  look_up(r, now);
  for (int i = 0; i < TOOLS && r->s->pack.view.format->parts; i++) {
    snprintf(name, sizeof name, "t%d", i + 1);
    if (offers(body, name) != (now[i] == 'x')) return "the body shows other tools";
  }
  bool other = *r->shown && memcmp(r->shown, now, TOOLS) != 0;
  if (other && epoch == r->epoch) return "the set changes within an epoch";
  if (*r->shown && !holds_what_is_named(r, r->shown, now))
    return "a tool goes that a visible call names";
  if (!recount(r, body, number(a, "tokens"))) return "a recount finds another total";
  np_err e = {0};
  if (r->obeys && np_check(&np_alloc_libc, np_str_cstr(r->format), body, true, &e)) {
    fprintf(stderr, "%s\n", e.text);
    return "a strict reader of the provider's rules refuses it";
  }
  if (!counts_alike(r, now)) return "tools do not count as they are shown";
  if (number(a, "tokens") > number(a, "budget")) return "over budget";
  r->changes += other;
  r->epoch = epoch;
  memcpy(r->shown, now, sizeof now);
  return NULL;
}

static int pick(run *r, int n) {
  return (int)(check_random(&r->random) % (unsigned)n);
}

static void random_response(run *r) {
  neap_call c;
  char text[100];
  np_buf out;
  int i = 1 + pick(r, TOOLS);
  while (r->obeys && r->shown[i - 1] == '.' && memchr(r->shown, 'x', TOOLS))
    i = 1 + i % TOOLS;
  bool searches = r->obeys && r->shown[i - 1] == '.'; /* nothing else is shown */
  if (!r->s->pack.view.format->parts) {
    snprintf(text, sizeof text,
             "Action: {\"action\":\"%s\",\"args\":{\"query\":\"zeta\"}}",
             pick(r, 4) ? "t3" : "neap_tools");
    CHECK("a response is taken", !neap_append_response(r->s, np_str_cstr(text)));
  } else if (!pick(r, 3) || searches) {
    snprintf(text, sizeof text,
             pick(r, 2) ? "{'query':'number %d'}" : "{'call':'t%d','arguments':{}}", i);
    ask_catalogue(r->s, text);
  } else {
    char name[8] = {'t', (char)('0' + i)};
    CHECK("a response is taken",
          !neap_append_response(r->s, response("so", name, 1 + pick(r, 2), i)));
  }
  while (neap_next_call(r->s, &c)) {
    if (!neap_handle(r->s, &c)) continue;
    np_buf_init(&out, &np_alloc_libc);
    for (int w = pick(r, 60); w >= 0; w--) np_buf_adds(&out, "some words ");
    CHECK("a result is taken", !neap_append_result(r->s, &c, np_buf_str(&out)));
    np_buf_free(&out);
  }
}

/* Bodies and accounts of a session, which is closed and opened again now and then. */
static const char *random_run(run *r, bool stops, np_buf *bodies) {
  const char *wrong = NULL, *policy = dir_path("wild.lua");
  unsigned long long stop = r->random * 31;
  r->s = session_open(r->store, r->name, policy, r->window, r->format);
  give_tools(r->s, TOOLS);
  append(r->s, "{'role':'system','content':'s'}");
  append(r->s, "{'role':'user','content':'u'}");
  for (int turn = 0; turn < 25 && !wrong; turn++) {
    neap_str body = prompt(r->s);
    wrong = look(r, body);
    np_buf_add(bodies, body);
    np_buf_add(bodies, account(r->s));
    random_response(r);
    if (stops && check_random(&stop) % 3 == 0) {
      neap_session_close(r->s);
      r->s = session_open(r->store, r->name, policy, r->window, r->format);
    }
  }
  neap_session_close(r->s);
  return wrong;
}

static void test_random(void) {
  static const char *const formats[] = {"openai", "anthropic", "text", "responses",
                                        "gemini"};
  unsigned long long seed = check_seed(20261130);
  int changes = 0;
  policy_file("wild.lua", wild);
  for (int i = 0; i < 20; i++) {
    char name[20];
    np_buf bodies[2];
    snprintf(name, sizeof name, "run-%d", i);
    neap *stores[] = {engine_open(NULL), engine_open(NULL)};
    for (int k = 0; k < 2; k++) {
      run r = {.store = stores[k],
               .format = formats[i % 5],
               .name = name,
               .window = i % 5 == 1 ? 3500 : 1500,
               .random = seed + (unsigned long long)i,
               .obeys = i % 2 == 0};
      np_buf_init(&bodies[k], &np_alloc_libc);
      const char *wrong = random_run(&r, k == 1, &bodies[k]);
      if (wrong)
        fprintf(stderr, "seed %llu, %s: %s\n", seed + (unsigned long long)i,
                formats[i % 5], wrong);
      CHECK("every property of tools holds", wrong == NULL);
      changes += r.changes;
    }
    CHECK("stopping and going on shows the same",
          np_str_eq(np_buf_str(&bodies[0]), np_buf_str(&bodies[1])));
    for (int k = 0; k < 2; k++) np_buf_free(&bodies[k]);
    for (int k = 0; k < 2; k++) neap_close(stores[k]);
  }
  CHECK("sets did change", changes > 20);
}

int main(void) {
  dir_make();
  engine = engine_open(NULL);
  test_first_prompt();
  test_waits_for_rewrite();
  test_named_stays();
  test_refusals();
  test_request_names();
  test_overflow();
  test_waiting_goes_first();
  test_no_room();
  test_declarations();
  test_catalogue();
  test_random();
  neap_close(engine);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
