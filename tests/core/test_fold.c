/*
** Folds in sessions: what a policy folds and what it asks a model for, answered at once, late,
** never, wrongly; stopped and resumed at any place, reloaded while it sleeps.
** next: test_engine_store.c
*/
#include "session.h"

/* Folds what is older than two steps, three steps at a time. */
static const char asking[] =
    "return { api = 1, compact = function(ctx)\n"
    "  local old = ctx:span { from = 1, before = ctx.step - 2 }\n"
    "  if old.steps >= 3 then ctx:fold(old, ctx:summarize(old, { max_tokens = 300 })) "
    "end\n"
    "end }\n";

/* Two asks in one run, a fold between them, state when it returns. */
static const char twice[] =
    "return { api = 1, compact = function(ctx)\n"
    "  local old = ctx:span { from = 1, before = ctx.step - 2 }\n"
    "  if old.steps < 4 then return end\n"
    "  local first = ctx:span { from = 1, before = ctx.step - 4 }\n"
    "  local a, why = ctx:summarize(first)\n"
    "  if a then assert(ctx:fold(first, a, 'the first part')) end\n"
    "  local rest = ctx:span { from = 1, before = ctx.step - 2 }\n"
    "  local b = ctx:ask { prompt = 'What was done in ' .. rest.steps .. ' steps?' }\n"
    "  ctx.state.folds = (ctx.state.folds or 0) + (b and 1 or 0)\n"
    "  if b then ctx:fold(rest, b) end\n"
    "end,\n"
    "assemble = function(ctx) ctx.state.turns = (ctx.state.turns or 0) + 1 end }\n";

/* Folds without a model. */
static const char plain[] =
    "return { api = 1, assemble = function(ctx)\n"
    "  local old = ctx:span { from = 1, before = ctx.step - 2 }\n"
    "  if old.steps >= 3 then\n"
    "    ctx:fold(old, '- [step 1] src/file.c was read' .. (', and "
    "more'):rep(old.entries))\n"
    "  end\n"
    "  for e in ctx:entries { kind = 'summary', before = ctx.step - 6 } do e:drop() end\n"
    "end }\n";

typedef enum answers { AT_ONCE, LATE, NEVER, REFUSED, EMPTY, LONG } answers;

typedef struct script {
  neap *n;
  neap_session *s;
  const char *policy, *format;
  answers how;
  int stop; /* bits of stages, taken in a circle of 31, before which it is closed */
  np_buf bodies;
  int64_t open;      /* the ask that came up with the last prompts */
  int folded, asked; /* prompts with a summary; asks that were answered */
} script;

static void reopen(script *t) {
  neap_session_close(t->s);
  t->s = session_open(t->n, "run", t->policy, 30000, t->format);
}

/* By its id alone: the session may have been stopped since the ask came up. */
static void answer(script *t, int i) {
  neap_ask a;
  char text[200];
  if (!t->open || t->how == NEVER || (t->how == LATE && i % 4 != 3)) return;
  snprintf(text, sizeof text, "- [step 1] noted %.*s", (int)(t->open % 20 + 1),
           "abcdefghijklmnopqrstuvwxyz");
  np_buf big;
  np_buf_init(&big, &np_alloc_libc);
  for (int k = 0; k < 6000; k++) np_buf_adds(&big, "too long ");
  neap_str with = np_str_cstr(text);
  if (t->how == REFUSED) with = (neap_str){NULL, 0};
  if (t->how == EMPTY) with = NP_LIT("");
  if (t->how == LONG) with = np_buf_str(&big);
  CHECK("an answer is taken", neap_answer(t->s, t->open, with) == NEAP_OK);
  CHECK("and only once", neap_answer(t->s, t->open, with) == NEAP_E_NOTFOUND);
  CHECK("no ask is open then", neap_ask_next(t->s, &a) == 0);
  np_buf_free(&big);
  t->open = 0;
  t->asked++;
}

static void look(script *t) {
  neap_ask a;
  if (!neap_ask_next(t->s, &a)) return;
  CHECK("an ask has a text", a.text.n > 0 && a.id > 0 && a.max_tokens > 0);
  CHECK("one ask is open at a time", !t->open || t->open == a.id);
  t->open = a.id;
}

static void turn(script *t, int i) {
  neap_str p = prompt(t->s);
  t->folded += has(p, "Summary of step");
  np_buf_add(&t->bodies, p);
  np_buf_addc(&t->bodies, '\n');
  np_buf_add(&t->bodies, account(t->s));
  np_buf_addc(&t->bodies, '\n');
  CHECK("no hook fails", has(account(t->s), "\"hook_errors\":[]"));
  look(t);
  if (t->stop >> (2 * i % 31) & 1) reopen(t); /* with an open ask, perhaps */
  if (i == 0) append(t->s, "{'role':'user','content':'go on'}");
}

static void script_run(script *t, int turns) {
  neap_call c;
  t->n = engine_open(":memory:");
  t->s = session_open(t->n, "run", t->policy, 30000, t->format);
  np_buf_init(&t->bodies, &np_alloc_libc);
  append(t->s, "{'role':'system','content':'s'}");
  append(t->s, "{'role':'user','content':'repair src/file.c'}");
  for (int i = 0; i < turns; i++) {
    turn(t, i);
    CHECK("a response is taken",
          neap_append_response(t->s, response("so", "bash", 1 + i % 2, i)) == NEAP_OK);
    answer(t, i);
    while (neap_next_call(t->s, &c)) {
      np_buf out;
      np_buf_init(&out, &np_alloc_libc);
      for (int k = 0; k < 120; k++) np_buf_adds(&out, k % 9 ? "word " : "src/file.c\n");
      np_buf_int(&out, c.entry);
      CHECK("a result is taken", !neap_append_result(t->s, &c, np_buf_str(&out)));
      np_buf_free(&out);
    }
    if (t->stop >> ((2 * i + 1) % 31) & 1) reopen(t);
  }
  neap_close(t->n);
}

static void test_answers(void) {
  static const struct {
    answers how;
    bool folds;
  } rows[] = {{AT_ONCE, true},  {LATE, true},   {NEVER, false},
              {REFUSED, false}, {EMPTY, false}, {LONG, false}};
  const char *policy = policy_file("asking.lua", asking);
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    for (int f = 0; f < 2; f++) {
      script t = {.policy = policy, .format = f ? "text" : "openai", .how = rows[i].how};
      script_run(&t, 14);
      CHECK("an answered ask folds, any other does not", (t.folded > 0) == rows[i].folds);
      CHECK("one that is not answered is not asked again",
            (t.asked == 0) == (rows[i].how == NEVER));
      np_buf_free(&t.bodies);
    }
  }
}

static void test_resume(const char *name, const char *lua, bool asks, answers how) {
  const char *policy = policy_file(name, lua);
  unsigned long long seed = 7;
  for (int f = 0; f < 2; f++) {
    script whole = {.policy = policy, .format = f ? "text" : "openai", .how = how};
    script_run(&whole, 16);
    CHECK("it folds", whole.folded > 2);
    CHECK("it asks when it should", (whole.asked > 1) == asks);
    for (int k = 0; k < 5; k++) {
      script cut = whole;
      cut.folded = cut.asked = 0;
      cut.open = 0;
      cut.stop = k == 0 ? 0x7FFFFFFF : (int)(check_random(&seed) & 0x7FFFFFFF);
      script_run(&cut, 16);
      bool same = np_str_eq(np_buf_str(&whole.bodies), np_buf_str(&cut.bodies));
      if (!same) fprintf(stderr, "%s, stops %x\n", name, (unsigned)cut.stop);
      CHECK("a session that was stopped makes the same prompts", same);
      np_buf_free(&cut.bodies);
    }
    np_buf_free(&whole.bodies);
  }
}

/* ---- one at a time ---- */

static void fill(neap_session *s, int turns) {
  for (int i = 0; i < turns; i++) round_trip(s, i, 1, 100, NULL);
}

static void test_reload(void) {
  neap_ask a, b;
  const char *path = policy_file("re.lua", asking);
  neap *n = engine_open(":memory:");
  neap_session *s = session_open(n, "re", path, 30000, "openai");
  append(s, "{'role':'user','content':'u'}");
  fill(s, 6);
  CHECK("an ask is open", neap_ask_next(s, &a) == 1 && strcmp(a.kind, "summary") == 0);
  CHECK("it tells the steps", has(a.text, "[step 1]\n") && has(a.text, "Observation: "));
  int64_t id = a.id;
  policy_file("re.lua", twice);
  CHECK("a reload", neap_reload(s) == NEAP_OK);
  CHECK("cancels it", neap_ask_next(s, &a) == 0);
  CHECK("and its answer comes to nothing",
        neap_answer(s, id, NP_LIT("- late")) == NEAP_E_NOTFOUND);
  fill(s, 1);
  CHECK("the new version asks afresh", neap_ask_next(s, &b) == 1 && b.id > id);
  neap_close(n);
}

static void test_bounds(void) {
  neap_ask a;
  const char *path = policy_file("re.lua", asking);
  neap *n = engine_open(":memory:");
  neap_session *s = session_open(n, "b", path, 30000, "openai");
  append(s, "{'role':'user','content':'u'}");
  CHECK("nothing is asked yet", neap_ask_next(s, &a) == 0);
  CHECK("no such ask", neap_answer(s, 1, NP_LIT("x")) == NEAP_E_NOTFOUND);
  fill(s, 6);
  CHECK("an ask is open", neap_ask_next(s, &a) == 1);
  np_buf big;
  np_buf_init(&big, &np_alloc_libc);
  for (int i = 0; i < 70000; i++) np_buf_addc(&big, 'x');
  CHECK("an answer has a bound", neap_answer(s, a.id, np_buf_str(&big)) == NEAP_E_LIMIT);
  CHECK("and is UTF-8", neap_answer(s, a.id, NP_LIT("a\xC3")) == NEAP_E_UTF8);
  CHECK("NULL is no place", neap_ask_next(s, NULL) == 0);
  CHECK("it is still open", neap_ask_next(s, &a) == 1);
  np_buf before;
  np_buf_init(&before, &np_alloc_libc);
  round_trip(s, 7, 1, 100, &before);
  CHECK("nothing is folded while the hook sleeps",
        !has(np_buf_str(&before), "Summary of"));
  CHECK("it is taken", neap_answer(s, a.id, NP_LIT("- [step 1] done")) == NEAP_OK);
  neap_str body = prompt(s);
  CHECK("the summary stands for the steps that were asked about",
        has(body, "Summary of steps 1-4:") || has(body, "Summary of steps 1-3:"));
  CHECK("the account names the folded entries",
        has(account(s), "\"to\":\"folded\"") && has(account(s), "\"from\":\"absent\""));
  CHECK("and the warm region", has(account(s), "\"warm\":"));
  np_buf_free(&before);
  np_buf_free(&big);
  neap_close(n);
}

/* A hook that misbehaves around its sleep fails alone; the prompt is made all the same. */
static void test_hostile(void) {
  static const struct {
    const char *lua, *says;
  } rows[] = {
      {"for e in ctx:entries { kind = 'result', before = 3 } do e:mask() end\n"
       "ctx:summarize(old)",
       "before you change entries"},
      {"ctx.state.x = 1 ctx:summarize(old)", "before you change ctx.state"},
      {"pcall(ctx.summarize, ctx, old) error('no')", "no"},
      {"table.sort({ 1, 2, 3 }, function() ctx:ask { prompt = 'x' } end)",
       "cannot be asked inside"},
      {"ctx:ask { prompt = '' }", "prompt must be"},
      {"ctx:ask { prompt = 'x', max_tokens = 0 }", "max_tokens must be"},
      {"ctx:ask { prompt = 'x' } while true do end", "instructions"},
      {"ctx:ask { prompt = 'x' } error('after')", "after"},
      {"local m = setmetatable({}, { __index = function() ctx:ask { prompt = 'x' } "
       "error 'meta' end })\nlocal _ = m.x",
       "meta"},
      {"local x <close> = setmetatable({}, { __close = function() while true do end end "
       "}) ctx:ask { prompt = 'x' } error('closing')",
       "closing"},
      {"local ok = ctx:fold(old, '- short') ctx:ask { prompt = 'x' } "
       "for e in ctx:entries { before = 3 } do e:drop() end error('all undone')",
       "all undone"},
  };
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    char lua[900];
    neap_ask a;
    snprintf(lua, sizeof lua,
             "return { api = 1, compact = function(ctx)\n"
             "local old = ctx:span { from = 1, before = ctx.step - 2 }\n"
             "if old.steps < 3 then return end\n%s\nend }\n",
             rows[i].lua);
    neap *n = engine_open(":memory:");
    neap_session *s = session_open(n, "h", policy_file("h.lua", lua), 30000, "openai");
    append(s, "{'role':'user','content':'u'}");
    bool told = false;
    np_buf body;
    np_buf_init(&body, &np_alloc_libc);
    for (int k = 0; k < 9; k++) {
      round_trip(s, k, 1, 60, &body);
      if (has(account(s), rows[i].says)) told = true;
      if (neap_ask_next(s, &a)) neap_answer(s, a.id, NP_LIT("- yes"));
      CHECK("nothing of a failed hook is left",
            !has(np_buf_str(&body), "not shown") && !has(np_buf_str(&body), "Summary"));
    }
    if (!told) fprintf(stderr, "%s\n", rows[i].lua);
    CHECK("the failure is told", told);
    np_buf_free(&body);
    neap_close(n);
  }
}

/* A span that has changed while the hook slept is not folded. */
static void test_changed_span(void) {
  static const char lua[] =
      "return { api = 1, compact = function(ctx)\n"
      "  local old = ctx:span { from = 1, before = ctx.step - 2 }\n"
      "  if old.steps < 3 or ctx.state.why then return end\n"
      "  local t = ctx:summarize(old)\n"
      "  local ok, why = ctx:fold(old, t)\n"
      "  if not ok then ctx.state.why = why error('refused: ' .. why) end\n"
      "end,\n"
      "assemble = function(ctx)\n"
      "  if ctx.step < 7 then return end\n"
      "  for e in ctx:entries { kind = 'result', before = 2 } do e:hold() end\n"
      "end }\n";
  neap_ask a;
  neap *n = engine_open(":memory:");
  neap_session *s = session_open(n, "c", policy_file("c.lua", lua), 30000, "openai");
  append(s, "{'role':'user','content':'u'}");
  fill(s, 7);
  CHECK("an ask is open", neap_ask_next(s, &a) == 1);
  CHECK("it is answered", neap_answer(s, a.id, NP_LIT("- done")) == NEAP_OK);
  neap_str body = prompt(s);
  CHECK("the fold is refused", !has(body, "Summary of"));
  CHECK("with the reason", has(account(s), "refused: a part is held"));
  neap_close(n);
}

int main(void) {
  dir_make();
  test_answers();
  test_resume("plain.lua", plain, false, NEVER);
  test_resume("asking.lua", asking, true, LATE);
  test_resume("asking.lua", asking, true, AT_ONCE);
  test_resume("twice.lua", twice, true, LATE);
  test_resume("twice.lua", twice, true, AT_ONCE);
  test_reload();
  test_bounds();
  test_hostile();
  test_changed_span();
  dir_remove();
  return check_done();
}
