/*
** The engine through its public interface: the loop, calls and results, the account, the
** engine's own tools. next: test_overflow.c
*/
#include "engine_check.h"

/* ---- the loop ---- */

static void test_loop(void) {
  neap_session *s = session_open(n, "loop", NULL, 100000, NULL);
  neap_call c;
  CHECK("the model is named",
        neap_set_request(s, json("{'model':'m','n':1.0}")) == NEAP_OK);
  CHECK("tools are set",
        neap_set_tools(s, json("[{'type':'function','function':{'name':'bash'}}]")) ==
            NEAP_OK);
  append(s, "{'role':'system','content':'be brief'}");
  append(s, "{'role':'user','content':'go'}");
  neap_str body = prompt(s);
  CHECK("members and tools begin the body",
        body.n > 80 &&
            memcmp(body.p, "{\"model\":\"m\",\"n\":1.0,\"tools\":[{", 31) == 0);
  CHECK("tools are set before the first prompt only",
        neap_set_tools(s, json("[]")) == NEAP_E_MISUSE);
  CHECK("so are members", neap_set_request(s, json("{}")) == NEAP_E_MISUSE);
  CHECK("the same tools change nothing",
        neap_set_tools(s, json("[{'type':'function','function':{'name':'bash'}}]")) ==
            NEAP_OK);
  CHECK("nor the same members",
        neap_set_request(s, json("{'model':'m','n':1.0}")) == NEAP_OK);
  CHECK("no response, no call", !neap_next_call(s, &c));
  CHECK("a response is taken",
        neap_append_response(s, response("so", "bash", 2, 7)) == NEAP_OK);
  CHECK("its first call comes",
        neap_next_call(s, &c) && np_str_is(c.id, "a") && np_str_is(c.name, "bash") &&
            np_str_is(c.arguments, "{\"id\":7,\"query\":\"needle\"}") && c.entry == 4);
  CHECK("a host's tool is the host's", neap_handle(s, &c) == 1);
  CHECK("any bytes are a result", neap_append_result(s, &c,
                                                     NP_LIT("bin\xFF\x00\x01"
                                                            "ary")) == NEAP_OK);
  CHECK("a call has one result",
        neap_append_result(s, &c, NP_LIT("again")) == NEAP_E_MISUSE);
  c.entry = 1;
  CHECK("a result needs a call", neap_append_result(s, &c, NP_LIT("x")) == NEAP_E_ARG);
  CHECK("and its second", neap_next_call(s, &c) && np_str_is(c.id, "b"));
  CHECK("then there is none", !neap_next_call(s, &c));
  body = prompt(s);
  CHECK("bytes that no request could carry are replaced",
        has(body, "\"bin\xEF\xBF\xBD\\u0000\\u0001ary\""));
  CHECK("a call without a result says so",
        has(body, "no result was recorded for this call"));
  CHECK("an error is no answer",
        neap_append_response(s, json("{'error':{'message':'overloaded'}}")) ==
                NEAP_E_SHAPE &&
            strstr(neap_error(n), "overloaded"));
  CHECK("nor is another thing", neap_append_response(s, json("{'x':1}")) == NEAP_E_SHAPE);
  CHECK("an empty answer neither",
        neap_append_response(s, json("{'choices':[]}")) == NEAP_E_SHAPE);
  CHECK("a broken answer neither",
        neap_append_response(s, json("{'choices':[{'message':{'role':'x'}}]}")) ==
            NEAP_E_SHAPE);
  CHECK("a bare message is taken",
        neap_append_response(s, json("{'role':'assistant','content':'ok'}")) == NEAP_OK);
  neap_str text;
  CHECK("texts are there by number",
        neap_entry_text(s, 2, &text) == NEAP_OK && np_str_is(text, "go"));
  CHECK("no number, no text", neap_entry_text(s, 99, &text) == NEAP_E_NOTFOUND &&
                                  neap_entry_text(s, 0, &text) == NEAP_E_NOTFOUND);
  neap_session_close(s);
}

static void test_arguments(void) {
  neap_session *s = (neap_session *)&n;
  neap_options o = {.size = sizeof o};
  CHECK("no name, no session", neap_session_open(n, NULL, &o, &s) == NEAP_E_ARG && !s);
  CHECK("a name is UTF-8", neap_session_open(n, "a\xFF", &o, &s) == NEAP_E_ARG && !s &&
                               strstr(neap_error(n), "byte 1"));
  o.format = "morse";
  CHECK("a format is known",
        neap_session_open(n, "x", &o, &s) == NEAP_E_FORMAT &&
            strstr(neap_error(n), "openai, responses, anthropic, gemini, text"));
  o.format = NULL;
  o.encoding = "p50k_imaginary";
  CHECK("an encoding is known", neap_session_open(n, "x", &o, &s) == NEAP_E_ENCODING);
  o.encoding = NULL;
  o.policy = dir_path("absent.lua");
  CHECK("a policy is there", neap_session_open(n, "x", &o, &s) == NEAP_E_POLICY &&
                                 strstr(neap_error(n), "absent.lua"));
  o.policy = NULL;
  o.options_json = "{\"keep\":1}";
  CHECK("an option is known", neap_session_open(n, "x", &o, &s) == NEAP_E_POLICY);
  CHECK("null is no session", neap_append(NULL, NP_LIT("{}")) == NEAP_E_ARG);
  neap_session_close(NULL);
  s = session_open(n, "shape", NULL, 1000, NULL);
  CHECK("tools are a list", neap_set_tools(s, json("{}")) == NEAP_E_SHAPE);
  CHECK("members are an object", neap_set_request(s, json("[]")) == NEAP_E_SHAPE);
  CHECK("messages are the engine's",
        neap_set_request(s, json("{'messages':[]}")) == NEAP_E_SHAPE);
  CHECK("what is no JSON has its place",
        neap_append(s, NP_LIT("{\"a\":x}")) == NEAP_E_JSON &&
            neap_error_info(n).code == NEAP_E_JSON && neap_error_info(n).pos == 5);
  CHECK("no file to reload", neap_reload(s) == NEAP_E_MISUSE);
  neap_session_close(s);
}

/* T10: settings that leave no room are refused before anything is assembled, by their numbers. */
static void test_windows(void) {
  static const struct {
    int64_t window, reserve;
    const char *text;
  } wrong[] = {{16000, 20000, "window 16000 minus reserve 20000"},
               {5, 5, "window 5 minus reserve 5"},
               {-3, 0, "window -3 is negative"},
               {9000, -7, "reserve -7 is negative"},
               {INT64_MAX, 0, "out of range"},
               {100, INT64_MAX, "leaves no room"}};
  for (size_t i = 0; i < NP_COUNT(wrong); i++) {
    neap_session *s;
    neap_options o = {
        .size = sizeof o, .window = wrong[i].window, .reserve = wrong[i].reserve};
    neap_rc rc = neap_session_open(n, "w", &o, &s);
    if (rc != NEAP_E_CONFIG || !strstr(neap_error(n), wrong[i].text))
      fprintf(stderr, "%s\n", neap_error(n));
    CHECK("a setting without room is refused",
          rc == NEAP_E_CONFIG && !s && strstr(neap_error(n), wrong[i].text));
  }
  static const struct {
    int64_t window, reserve, budget;
  } right[] = {{0, 0, 192000}, {16000, 0, 14000}, {1000, -1, 1000}, {1000, 400, 600}};
  for (size_t i = 0; i < NP_COUNT(right); i++) {
    neap_session *s;
    neap_options o = {
        .size = sizeof o, .window = right[i].window, .reserve = right[i].reserve};
    CHECK("a setting with room is taken", neap_session_open(n, "w", &o, &s) == NEAP_OK);
    append(s, "{'role':'user','content':'go'}");
    prompt(s);
    CHECK("the budget is window minus reserve",
          number(account(s), "budget") == right[i].budget);
    neap_session_close(s);
  }
}

/* ---- fitting ---- */

/* T1: dropping one message takes its whole exchange, and what is left is valid. */
static void test_orphan(void) {
  const char *lua = "return { api = 1, assemble = function(ctx)\n"
                    "  for e in ctx:entries { kind = 'call', before = 2 } do "
                    "e:drop('old') end\nend }\n";
  neap_session *s = session_open(n, "t1", policy_file("drop.lua", lua), 10000, NULL);
  append(s, "{'role':'system','content':'s'}");
  append(s, "{'role':'user','content':'u1'}");
  for (int i = 0; i < 2; i++) round_trip(s, i, 1, 1500, NULL);
  append(s, "{'role':'user','content':'u2'}");
  neap_str body = checked(s);
  CHECK("the notice names the step", has(body, "step 1 not shown"));
  CHECK("the call went with its result",
        times(body, "\"id\":\"a\"") == 1 && times(body, "tool_call_id") == 1);
  neap_str a = account(s);
  CHECK("the account says what and who",
        has(a, "\"to\":\"dropped\",\"why\":\"old\",\"by\":\"drop.lua:2\""));
  neap_session_close(s);
}

/* T2: the large one of three parallel results is trimmed, and the three stay together. */
static void test_parallel(void) {
  neap_session *s = session_open(n, "t2", NULL, 8000, NULL);
  neap_call c;
  append(s, "{'role':'user','content':'u'}");
  prompt(s);
  neap_append_response(s, response("", "bash", 3, 0));
  for (int i = 0; neap_next_call(s, &c); i++) {
    neap_str text =
        i == 1 ? say("user", "line of a long output\n", 10000) : NP_LIT("short");
    CHECK("a result is taken", neap_append_result(s, &c, text) == NEAP_OK);
  }
  neap_str body = checked(s);
  CHECK("all three are there in order",
        has(body, "\"tool_call_id\":\"a\",\"content\":\"short\"") &&
            has(body, "\"tool_call_id\":\"c\",\"content\":\"short\"") &&
            times(body, "tool_call_id") == 3);
  CHECK("the large one is cut and says so", has(body, "tokens cut, lines"));
  CHECK("blank text beside calls is omitted (T20)",
        has(body, "{\"role\":\"assistant\",\"tool_calls\":["));
  CHECK("the whole text is kept",
        neap_entry_text(s, 7, &body) == NEAP_OK && body.n > 200000);
  neap_session_close(s);
}

/* T4: a call without its result survives fitting. */
static void test_pending(void) {
  neap_session *s = session_open(n, "t4", NULL, 2500, NULL);
  append(s, "{'role':'user','content':'u'}");
  for (int i = 0; i < 4; i++) round_trip(s, i, 1, 300, NULL);
  neap_append_response(s, response("", "slow", 1, 9));
  neap_str body = checked(s);
  CHECK("the open call is there with a stub",
        has(body, "\"name\":\"slow\"") && times(body, "no result was recorded") == 1);
  neap_session_close(s);
}

/* ---- prefix ---- */

/* T13: a hundred turns; every prompt continues the last one but where the account says so. */
static void test_prefix(void) {
  neap_session *s =
      session_open(n, "t13", "policies/mask_observations.lua", 100000, NULL);
  np_buf last, now;
  int breaks = 0, said = 0;
  np_buf_init(&last, &np_alloc_libc);
  np_buf_init(&now, &np_alloc_libc);
  append(s, "{'role':'system','content':'s'}");
  append(s, "{'role':'user','content':'u'}");
  for (int i = 0; i < 100; i++) {
    round_trip(s, i, 1, 30, &now);
    neap_str a = account(s);
    size_t keep = last.n > 2 ? last.n - 2 : 0; /* without the closing brackets */
    bool begins = now.n >= keep && (!keep || memcmp(now.p, last.p, keep) == 0);
    bool rewrite = has(a, "\"rewrite\":true");
    CHECK("what is no rewrite continues the last prompt", begins || rewrite);
    breaks += !begins;
    said += rewrite;
    np_buf_clear(&last);
    np_buf_add(&last, np_buf_str(&now));
  }
  CHECK("there were rewrites, and as many epochs",
        breaks == said && breaks > 3 && number(account(s), "epoch") == breaks + 1);
  neap_session_close(s);
  np_buf_free(&last);
  np_buf_free(&now);
}

/* ---- the account ---- */

static void test_account(void) {
  static const char *const members[] = {"turn",    "step",    "tokens",      "exact",
                                        "budget",  "cached",  "epoch",       "rewrite",
                                        "regions", "changed", "hook_errors", "refused"};
  neap_session *s = session_open(n, "account", NULL, 9000, NULL);
  CHECK("before the first turn it is empty", np_str_is(account(s), "{}"));
  append(s, "{'role':'system','content':'s'}");
  append(s, "{'role':'user','content':'u'}");
  prompt(s);
  neap_str a = account(s);
  np_json root, v, regions, key_value;
  np_json_check(a, &root, NULL);
  for (size_t i = 0; i < NP_COUNT(members); i++)
    CHECK("a member is there", np_json_get(root, members[i], &v));
  np_json_get(root, "regions", &regions);
  int64_t sum = 0;
  np_str key;
  np_json_iter it = np_json_each(regions);
  while (np_json_next(&it, &key, &key_value)) sum += strtoll(key_value.raw.p, NULL, 10);
  CHECK("regions add up to the tokens", sum == number(a, "tokens") && sum > 0);
  CHECK("the first turn has nothing cached",
        number(a, "cached") == 0 && number(a, "turn") == 1);
  int64_t first = number(a, "tokens");
  round_trip(s, 1, 1, 10, NULL);
  prompt(s);
  a = account(s);
  CHECK("then all but the closing is",
        number(a, "cached") == first - 3 && number(a, "turn") == 2);
  neap_session_close(s);
}

/* A hook that fails costs nothing but its wishes; with on_error = "fail" the turn, wholly. */
static void test_hook_errors(void) {
  neap_session *s = session_open(
      n, "hooks",
      policy_file("bad.lua", "return { api = 1, admit = function(ctx, e) e:hold() "
                             "error('no') end }"),
      9000, NULL);
  append(s, "{'role':'user','content':'u'}");
  prompt(s);
  CHECK("an error is told", has(account(s), "/bad.lua:1: no\"]"));
  neap_session_close(s);
  s = session_open(
      n, "fail",
      policy_file("fail.lua",
                  "return { api = 1, on_error = 'fail', admit = function(ctx, e)\n"
                  "  ctx.state.seen = (ctx.state.seen or '') .. e.id .. ' '\n  if "
                  "ctx.state.seen:sub(-8) == '1 2 3 4 ' then e:mask() end\n"
                  "  if e.step == 1 and e.kind == 'result' and not ctx.state.again then "
                  "error('stop') end end }"),
      9000, NULL);
  append(s, "{'role':'user','content':'u'}");
  round_trip(s, 1, 1, 40, NULL);
  neap_str p;
  for (int i = 0; i < 3; i++) {
    CHECK("the turn fails each time", neap_prompt(s, &p) == NEAP_E_POLICY &&
                                          strstr(neap_error(n), "fail.lua:4: stop"));
  }
  neap_session_close(s);
}

/* ---- the engine's tools ---- */

static const char fetching[] =
    "return { api = 1, tools = { 'recall', 'read' }, assemble = function(ctx)\n"
    "  for e in ctx:entries { kind = 'result' } do if e.step < ctx.step - 1 then "
    "e:mask('old') end end\nend }\n";

static void test_tools(void) {
  neap_session *s =
      session_open(n, "tools", policy_file("fetch.lua", fetching), 50000, NULL);
  neap_call c;
  np_buf head;
  np_buf_init(&head, &np_alloc_libc);
  neap_set_tools(s, json("[{'type':'function','function':{'name':'bash'}}]"));
  append(s, "{'role':'user','content':'u'}");
  neap_str body = prompt(s);
  CHECK("its schemas stand beside the host's from the first prompt",
        has(body, "\"name\":\"bash\"") && times(body, "\"name\":\"neap_read\"") == 1 &&
            times(body, "\"name\":\"neap_recall\"") == 1);
  np_buf_add(&head, np_str_cut(body, 0, np_str_find(body, NP_LIT("\"messages\""), 0)));
  round_trip(s, 1, 1, 200, NULL); /* entries 2 text, 3 call, 4 result */
  round_trip(s, 2, 1, 200, NULL);
  body = prompt(s);
  CHECK("schemas stay as they were",
        body.n > head.n && memcmp(body.p, head.p, head.n) == 0);
  CHECK("marks tell how", has(body, "; neap_read(4)]"));
  neap_append_response(s, response("", "neap_read", 1, 4));
  CHECK("the model reads", neap_next_call(s, &c) && np_str_is(c.name, "neap_read"));
  CHECK("the engine answers", neap_handle(s, &c) == 0);
  CHECK("once", neap_append_result(s, &c, NP_LIT("x")) == NEAP_E_MISUSE);
  neap_append_response(s, response("", "neap_recall", 1, 4));
  CHECK("the model recalls", neap_next_call(s, &c) && neap_handle(s, &c) == 0);
  neap_append_response(s, response("", "neap_other", 1, 4));
  CHECK("what is no tool is answered too",
        neap_next_call(s, &c) && neap_handle(s, &c) == 0);
  for (int i = 0; i < 4; i++) round_trip(s, 10 + i, 1, 20, NULL);
  body = checked(s);
  CHECK("what was fetched stays, what was not goes",
        has(body, " 100 word 100 ") && has(body, "; neap_read(7)]"));
  CHECK("a found text names its place", has(body, "[step 1, entry "));
  CHECK("nothing of it was masked",
        !has(body, "neap_read \\\"") && has(body, "There is no such tool; neap offers"));
  np_buf_free(&head);
  neap_session_close(s);
}

/* The first prompt did not fit, and the host sets its tools again: the engine's come back. */
static void test_tools_again(void) {
  neap_session *s =
      session_open(n, "again", policy_file("fetch.lua", fetching), 1300, NULL);
  neap_str p;
  append(s, "{'role':'user','content':'u'}");
  neap_append_response(s,
                       response("", "a_tool_with_quite_a_long_name_for_its_kind", 26, 0));
  CHECK("it does not fit", neap_prompt(s, &p) == NEAP_E_BUDGET);
  CHECK("there was no prompt yet",
        neap_set_tools(s, json("[{'name':'bash'}]")) == NEAP_OK);
  append(s, "{'role':'assistant','content':'never mind'}");
  p = prompt(s);
  CHECK("all schemas are there, once",
        has(p, "{\"name\":\"bash\"}") && times(p, "\"name\":\"neap_read\"") == 1);
  CHECK("what marks name is there", has(p, "neap_recall(\\\"words\\\")"));
  neap_session_close(s);
}

int main(void) {
  engine_ready();
  CHECK("it counts",
        neap_count((const neap_encoding *)vocab, NP_LIT("hello world")) == 2);
  test_loop();
  test_arguments();
  test_windows();
  test_orphan();
  test_parallel();
  test_pending();
  test_prefix();
  test_account();
  test_hook_errors();
  test_tools();
  test_tools_again();
  neap_close(n);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
