/*
** Asks: several at once; answered, empty, refused, failed, cancelled, too late, out of time: each
** is something the hook is told, in the log, and the same after a restart. next: test_fold.c
*/
#include "session.h"

#include "engine/engine.h"

/* What the hook is told goes into its state. */
#define TELLS(asks)                                                                      \
  "return { api = 1, compact = function(ctx)\n"                                          \
  "  if ctx.step < 2 or ctx.state.told then return end\n"                                \
  "  local early = ctx:span { from = 1, before = 1 }\n" asks                             \
  "\nend, assemble = function(ctx) ctx.state.turns = (ctx.state.turns or 0) + 1 end }\n"

static const char one[] =
    TELLS("  local t, why, code = ctx:ask { prompt = 'first', turns = 3 }\n"
          "  ctx.state.told = { t or 'none', why or 'no reason', code or 'no code' }");

static const char many[] =
    TELLS("  local a, c = ctx:ask_all { { prompt = 'first' }, { prompt = 'second', turns "
          "= 4 },\n"
          "    { span = early }, { prompt = 'third', max_tokens = 5 } }\n"
          "  local more, why = ctx:ask { prompt = 'then ' .. tostring(a[1]) }\n"
          "  ctx.state.told = { a, c, more or why }");

static np_buf told; /* ctx.state */

static np_str state_of(neap_session *s) {
  told.alloc = &np_alloc_libc;
  np_buf_clear(&told);
  np_policy_state(s->policy, &told, NULL);
  return np_buf_str(&told);
}

static void step(neap_session *s, int i) {
  prompt(s);
  CHECK("no hook fails", has(account(s), "\"hook_errors\":[]"));
  CHECK("a response is taken", !neap_append_response(s, response("so", "bash", 0, i)));
  append(s, "{'role':'user','content':'go on'}");
}

typedef enum how {
  ANSWER,
  EMPTY,
  BLANK,
  NONE,
  REFUSE,
  FAIL,
  CANCEL,
  HOST_TIMEOUT,
  SILENCE,
  LATE
} how;

static neap_rc act(neap_session *s, int64_t id, how h) {
  switch (h) {
    case ANSWER: return neap_answer(s, id, NP_LIT("yes"));
    case EMPTY: return neap_answer(s, id, NP_LIT(""));
    case BLANK: return neap_answer(s, id, NP_LIT(" \n\t"));
    case NONE: return neap_answer(s, id, (neap_str){NULL, 0});
    case REFUSE: return neap_refuse(s, id, "refused", NP_LIT("not now"));
    case FAIL: return neap_refuse(s, id, "error", NP_LIT("503"));
    case CANCEL: return neap_refuse(s, id, "cancelled", (neap_str){NULL, 0});
    case HOST_TIMEOUT: return neap_refuse(s, id, "timeout", NP_LIT("60 s"));
    default: return NEAP_OK;
  }
}

/* `stop`: the session is closed and opened again after every turn. */
static void one_way(how h, const char *expected, bool stop) {
  neap_ask a = {0};
  neap *n = engine_open(":memory:");
  const char *policy = policy_file("one.lua", one);
  neap_session *s = session_open(n, "one", policy, 8000, "openai");
  append(s, "{'role':'user','content':'u'}");
  for (int i = 0; i < 9; i++) {
    step(s, i);
    if (stop) {
      neap_session_close(s);
      s = session_open(n, "one", policy, 8000, "openai");
    }
    if (i == 1 && !stop) CHECK("it asks", neap_ask_next(s, &a) == 1);
    if (i == 1) CHECK("an answer is taken", act(s, 1, h) == NEAP_OK);
    if (i == 6 && h == LATE)
      CHECK("too late is not open", neap_answer(s, 1, NP_LIT("late")) == NEAP_E_NOTFOUND);
  }
  if (!has(state_of(s), expected))
    fprintf(stderr, "expected: %s\ngot: %.*s\n", expected, (int)told.n, told.p);
  CHECK("the hook is told what happened", has(state_of(s), expected));
  CHECK("and prompts went on", has(state_of(s), "\"turns\":9"));
  neap_close(n);
}

static void test_ways(void) {
  static const struct {
    how h;
    const char *told;
  } rows[] = {
      {ANSWER, "[\"yes\",\"no reason\",\"no code\"]"},
      {EMPTY, "[\"none\",\"the answer is empty\",\"empty\"]"},
      {BLANK, "[\"none\",\"the answer is empty\",\"empty\"]"},
      {NONE, "[\"none\",\"the host gave no answer\",\"refused\"]"},
      {REFUSE, "[\"none\",\"not now\",\"refused\"]"},
      {FAIL, "[\"none\",\"503\",\"error\"]"},
      {CANCEL, "[\"none\",\"the host gave no answer\",\"cancelled\"]"},
      {HOST_TIMEOUT, "[\"none\",\"60 s\",\"timeout\"]"},
      {SILENCE, "[\"none\",\"no answer has come in time\",\"timeout\"]"},
      {LATE, "[\"none\",\"no answer has come in time\",\"timeout\"]"},
  };
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    for (int stop = 0; stop < 2; stop++) one_way(rows[i].h, rows[i].told, stop);
  }
}

/* Bits of `stops`: before which steps the session is closed and opened again. */
static void run_many(unsigned stops, bool backwards, np_buf *out) {
  neap_ask a = {0};
  neap_str all;
  int64_t ids[8], last = 0;
  int open = 0;
  neap *n = engine_open(":memory:");
  const char *policy = policy_file("many.lua", many);
  neap_session *s = session_open(n, "many", policy, 8000, "openai");
  append(s, "{'role':'user','content':'u'}");
  for (int i = 0; i < 12; i++) {
    step(s, i);
    if (i == 1) {
      for (a.id = 0; neap_ask_after(s, a.id, &a); open++) ids[open] = a.id;
      CHECK("all are open at once, but for the empty span", open == 3);
    }
    if (i > 4 && neap_ask_after(s, ids[2], &a)) {
      CHECK("with what it was told", np_str_is(a.text, "then a"));
      last = a.id;
    }
    if (stops >> i & 1) {
      neap_session_close(s);
      s = session_open(n, "many", policy, 8000, "openai");
    }
    /* one is left alone; the others in either order, over some turns */
    if (i == 2)
      neap_answer(s, ids[backwards ? 2 : 0], backwards ? NP_LIT("c") : NP_LIT("a"));
    if (i == 4)
      neap_answer(s, ids[backwards ? 0 : 2], backwards ? NP_LIT("a") : NP_LIT("c"));
    if (i == 5) CHECK("it still waits", !has(state_of(s), "told"));
    if (i == 9) CHECK("then it went on", last > 0 && !neap_answer(s, last, NP_LIT("d")));
  }
  np_buf_add(out, state_of(s));
  CHECK("the asks are listed", !neap_asks(s, &all));
  CHECK("with their answers", times(all, "\"answer\":") == 3 &&
                                  has(all, "\"code\":\"timeout\"") &&
                                  times(all, "\"sha256\":") == 5);
  neap_close(n);
}

static void test_many(void) {
  static const char expected[] =
      "\"told\":[[\"a\",false,false,\"c\"],[false,\"timeout\",\"span\",false],\"d\"]";
  for (unsigned k = 0; k < 24; k++) {
    np_buf out;
    np_buf_init(&out, &np_alloc_libc);
    unsigned stops = k < 12 ? 1u << k : k == 12 ? 0 : k * 2654435761u >> 20;
    run_many(stops, k % 2, &out);
    if (!has(np_buf_str(&out), expected))
      fprintf(stderr, "stops %x: %.*s\n", stops, (int)out.n, out.p);
    CHECK("each in its place", has(np_buf_str(&out), expected));
    np_buf_free(&out);
  }
}

/* ---- what a host writes for a summary ---- */

static const char sums[] =
    "return { api = 1, compact = function(ctx)\n"
    "  local old = ctx:span { from = 1, before = ctx.step - 1 }\n"
    "  if old.steps < 2 or ctx.state.told then return end\n"
    "  local text, why, code = ctx:summarize(old)\n"
    "  local ok = ctx:fold(old, text)\n"
    "  ctx.state.told = { ok, why or 'fine', code or 'fine' } end }\n";

static neap_session *summing(neap *n, int flags) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o,
                    .policy = policy_file("sums.lua", sums),
                    .window = 8000,
                    .format = "openai",
                    .flags = flags};
  CHECK("a session opens", !neap_session_open(n, "sums", &o, &s));
  append(s, "{'role':'user','content':'Mend valve_9 within 40 days.'}");
  for (int i = 0; i < 4; i++) step(s, i);
  return s;
}

/* A number or a name that stands nowhere is not taken; the second time the ask is closed. */
static void test_unverified(void) {
  neap_ask a, b;
  neap *n = engine_open(":memory:");
  neap_session *s = summing(n, 0);
  CHECK("it asks", neap_ask_next(s, &a) == 1);
  int64_t id = a.id;
  CHECK("it is not taken",
        neap_answer(s, id, NP_LIT("- [step 1] valve_8 was mended")) == NEAP_E_UNVERIFIED);
  CHECK("and said why", strstr(neap_error(n), "valve_8 does not stand in the steps; ask "
                                              "once more") != NULL);
  CHECK("it is open still", neap_ask_next(s, &b) == 1 && b.id == id);
  CHECK("nor the second time",
        neap_answer(s, id, NP_LIT("in 41 days")) == NEAP_E_UNVERIFIED);
  CHECK("then it is closed",
        neap_ask_next(s, &b) == 0 && neap_answer(s, id, NP_LIT("x")) == NEAP_E_NOTFOUND);
  step(s, 5);
  CHECK("the policy is told",
        has(state_of(s), "[false,\"41 does not stand in the steps\","
                         "\"unverified\"]"));
  CHECK("and the account", has(account(s), "\"checks\":{\"refused\":2,"));
  neap_session_close(s);
  neap_close(n);
  n = engine_open(":memory:");
  s = summing(n, 0);
  CHECK("what steps and user say is taken",
        neap_ask_next(s, &a) && !neap_answer(s, a.id, NP_LIT("1. valve_9 in 40 days")));
  step(s, 5);
  CHECK("and folded", has(state_of(s), "[true,\"fine\",\"fine\"]"));
  neap_close(n);
  n = engine_open(":memory:");
  s = summing(n, NEAP_UNCHECKED);
  CHECK("all is taken by a host that wants it so",
        neap_ask_next(s, &a) && !neap_answer(s, a.id, NP_LIT("valve_8 in 41 days")));
  step(s, 5);
  CHECK("and folded", has(state_of(s), "[true,\"fine\",\"fine\"]"));
  CHECK("which the account names", has(account(s), "\"checks\":{\"unchecked\":true,"));
  neap_close(n);
}

static void test_misuse(void) {
  static const struct {
    const char *lua, *says;
  } rows[] = {
      {"ctx:ask_all {}", "a list of 1 to 16 questions"},
      {"local t = {} for i = 1, 17 do t[i] = { prompt = 'x' } end ctx:ask_all(t)",
       "a list of 1 to 16 questions"},
      {"ctx:ask_all { { } }", "question 1 needs either a prompt or a span"},
      {"ctx:ask_all { { prompt = 'x', span = ctx:span() } }",
       "either a prompt or a span"},
      {"ctx:ask_all { { prompt = 'x' }, 7 }", "table expected"},
      {"ctx:ask_all { { prompt = 'x', tokens = 7 } }", "tokens"},
      {"ctx:ask { prompt = 'x', turns = 0 }", "turns must be from 1 to"},
      {"ctx:summarize(ctx:span(), { turns = 1.5e9 })", "turns must be from 1 to"},
      {"pcall(ctx.ask_all, ctx, { { prompt = 'x' } }) error('no')", "no"},
      {"('x'):gsub('x', function() ctx:ask { prompt = 'x' } end)",
       "a model cannot be asked inside pcall, table.sort or string.gsub"},
      {"table.sort({ 1, 2, 3 }, function() ctx:ask_all { { prompt = 'x' } } end)",
       "a model cannot be asked inside pcall, table.sort or string.gsub"},
      {"ctx.state.x = 1 ctx:ask_all { { prompt = 'x' } }", "before you change ctx.state"},
  };
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    char lua[500];
    snprintf(lua, sizeof lua, "return { api = 1, compact = function(ctx)\n%s\nend }\n",
             rows[i].lua);
    neap *n = engine_open(":memory:");
    neap_session *s = session_open(n, "x", policy_file("x.lua", lua), 8000, "openai");
    append(s, "{'role':'user','content':'u'}");
    prompt(s);
    if (!has(account(s), rows[i].says))
      fprintf(stderr, "%s\n%.*s\n", rows[i].lua, (int)account(s).n, account(s).p);
    CHECK("misuse is an error of one line", has(account(s), rows[i].says));
    neap_ask a;
    CHECK("and asks nothing", neap_ask_next(s, &a) == 0);
    neap_close(n);
  }
}

/* What was not taken is in the log and counted, and the ask is as it was. */
static void test_faults(void) {
  static const char faults[] = "[{\"code\":\"invented\",\"what\":\"4711\"}]";
  static const char *const wrong[] = {"", "{}", "[]", "[1]", "[{}", "[{}]]", "null"};
  neap_ask a = {0};
  neap *n = engine_open(":memory:");
  const char *policy = policy_file("one.lua", one);
  neap_session *s = session_open(n, "f", policy, 8000, "openai");
  append(s, "{'role':'user','content':'u'}");
  step(s, 0);
  CHECK("none is open", neap_ask_faults(s, 1, NP_LIT("[{}]")) == NEAP_E_NOTFOUND);
  step(s, 1);
  CHECK("one is open", neap_ask_next(s, &a) == 1);
  for (size_t i = 0; i < NP_COUNT(wrong); i++)
    CHECK("a list of objects",
          neap_ask_faults(s, a.id, np_str_cstr(wrong[i])) == NEAP_E_ARG);
  CHECK("no broken text",
        neap_ask_faults(s, a.id, NP_LIT("[{\"a\":\"\xFF\"}]")) != NEAP_OK);
  CHECK("they are kept", !neap_ask_faults(s, a.id, NP_LIT(faults)));
  CHECK("it is open still", neap_ask_next(s, &a) == 1);
  neap_session_close(s);
  s = session_open(n, "f", policy, 8000, "openai");
  step(s, 2);
  CHECK("and counted, also in a session that is resumed",
        has(account(s), "\"checks\":{\"refused\":1,\"faults\":[{\"code\":\"invented\""));
  step(s, 3);
  CHECK("told once", has(account(s), "\"checks\":{\"refused\":1,\"faults\":[]}"));
  neap_close(n);
}

static void test_host(void) {
  neap_ask a = {0};
  neap *n = engine_open(":memory:");
  neap_session *s = session_open(n, "h", policy_file("many.lua", many), 8000, "openai");
  append(s, "{'role':'user','content':'u'}");
  step(s, 0);
  step(s, 1);
  CHECK("an ask is open", neap_ask_next(s, &a) == 1 && np_str_is(a.text, "first"));
  CHECK("why, in a word that is known",
        neap_refuse(s, a.id, "tired", NP_LIT("x")) == NEAP_E_ARG &&
            neap_refuse(s, a.id, NULL, NP_LIT("x")) == NEAP_E_ARG);
  CHECK("it is open still", neap_ask_next(s, &a) == 1 && np_str_is(a.text, "first"));
  CHECK("no such ask", neap_refuse(s, 99, "error", NP_LIT("x")) == NEAP_E_NOTFOUND);
  neap_answer(s, a.id, NP_LIT("a"));
  CHECK("the next one", neap_ask_next(s, &a) == 1 && np_str_is(a.text, "second"));
  int64_t second = a.id;
  policy_file("many.lua", one);
  CHECK("a reload", neap_reload(s) == NEAP_OK);
  CHECK("cancels all", neap_ask_next(s, &a) == 0 &&
                           neap_answer(s, second, NP_LIT("b")) == NEAP_E_NOTFOUND);
  step(s, 2);
  CHECK("the new version starts afresh", neap_ask_next(s, &a) == 1 && a.id > second);
  neap_close(n);
}

int main(void) {
  dir_make();
  test_ways();
  test_many();
  test_unverified();
  test_misuse();
  test_host();
  test_faults();
  np_buf_free(&told);
  dir_remove();
  return check_done();
}
