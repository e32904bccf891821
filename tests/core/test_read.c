/*
** neap_read: parts of earlier entries with their locators, within what room there is; what was
** read is not given twice while it is shown, and is not put away; whatever is asked, the answer
** is one line or text of the entry. next: test_tools.c
*/
#include "session.h"

#include "engine/engine.h"
#include "token/token.h"

static neap *engine;

static const char keep_two[] =
    "return { api = 1, tools = { 'read', 'recall' }, assemble = function(ctx)\n"
    "  for e in ctx:entries { kind = 'result', except_last = 1 } do e:mask('old') end\n"
    "end }";

/* A call with these arguments, in the form of a response. */
static neap_str call_with(const char *tool, const char *arguments) {
  np_buf quoted;
  np_buf_init(&quoted, &np_alloc_libc);
  for (const char *p = arguments; *p; p++) np_buf_addc(&quoted, *p == '\'' ? '"' : *p);
  json("{'id':'r','choices':[{'index':0,'message':{'role':'assistant','content':'',"
       "'tool_calls':[{'id':'a','type':'function','function':{'name':'");
  np_buf_adds(&made, tool);
  np_buf_adds(&made, "\",\"arguments\":");
  np_json_quote(&made, np_buf_str(&quoted));
  np_buf_adds(&made, "}}]}}]}");
  np_buf_free(&quoted);
  return np_buf_str(&made);
}

/* The host's tool answers with lines "line 1 …" to "line n …"; gives the result's id. */
static int64_t run_lines(neap_session *s, int n) {
  neap_call c;
  np_buf out;
  np_buf_init(&out, &np_alloc_libc);
  for (int i = 1; i <= n; i++) {
    np_buf_adds(&out, i == 30 ? "error: at line " : "line ");
    np_buf_int(&out, i);
    np_buf_adds(&out, " of the log\n");
  }
  prompt(s);
  neap_append_response(s, call_with("bash", "{'command':'make test'}"));
  CHECK("the host's call is there", neap_next_call(s, &c) == 1);
  CHECK("its result is taken", !neap_append_result(s, &c, np_buf_str(&out)));
  np_buf_free(&out);
  return c.entry + 1;
}

/* What the model is told; valid until the next call on `s`. */
static neap_str read_part(neap_session *s, const char *arguments) {
  neap_call c;
  neap_str text = NP_LIT("");
  prompt(s);
  neap_append_response(s, call_with("neap_read", arguments));
  CHECK("the call is there", neap_next_call(s, &c) == 1);
  CHECK("the engine answers", neap_handle(s, &c) == 0);
  CHECK("the answer is there", neap_entry_text(s, c.entry + 1, &text) == NEAP_OK);
  return text;
}

static bool reads(neap_session *s, const char *arguments, const char *want) {
  neap_str got = read_part(s, arguments);
  if (has(got, want)) return true;
  fprintf(stderr, "  %s: expected '%s', got '%.*s'\n", arguments, want,
          got.n > 600 ? 600 : (int)got.n, got.p);
  return false;
}

static neap_session *begin(const char *name, const char *policy, int64_t window) {
  neap_session *s =
      session_open(engine, name, policy_file("read.lua", policy), window, "openai");
  append(s, "{'role':'user','content':'find the fault'}");
  return s;
}

static void test_parts(void) {
  neap_session *s = begin("parts", keep_two, 20000);
  run_lines(s, 400);
  run_lines(s, 3);
  neap_str body = prompt(s);
  CHECK("the old result is masked", has(body, "neap_read(4)") && !has(body, "line 41 "));
  CHECK("lines", reads(s, "{'id':4,'part':'41-42'}", "[4, lines 41-42 of 400, sha256 "));
  CHECK("with what made them",
        reads(s, "{'id':'4','part':'43'}",
              "; bash \"make test\", step 1]\nline 43 of the log"));
  CHECK("the older name of the argument",
        reads(s, "{'id':4,'lines':'50-51'}", "line 51 of the log"));
  CHECK("the end",
        reads(s, "{'id':4,'part':'tail 2'}", "line 399 of the log\nline 400 of the log"));
  CHECK("a pattern", reads(s, "{'id':4,'part':'match ^error'}", "30: error: at line 30"));
  CHECK("errors", reads(s, "{'id':4,'part':'errors'}", "error: at line 30"));
  CHECK("an id as the store has it",
        reads(s, "{'id':'parts/4','part':'7'}", "line 7 of"));
  CHECK("a wrong part says the forms", reads(s, "{'id':4,'part':'lines x-y'}", "41-380"));
  CHECK("a part that is not there", reads(s, "{'id':4,'part':'900-901'}", "400 lines"));
  CHECK("no id", reads(s, "{'part':'1-2'}", "Give \"id\""));
  CHECK("arguments that are no object", reads(s, "[1]", "Give \"id\""));
  CHECK("an entry that is not there", reads(s, "{'id':999}", "There is no entry 999"));
  neap_session_close(s);
}

/* What does not fit is said, with the call that goes on; calls in a row give all of it. */
static void test_room(void) {
  neap_session *s = begin("room", keep_two, 6000);
  run_lines(s, 2000);
  run_lines(s, 3);
  int64_t from = 1;
  bool fits = true, rises = true;
  for (int round = 0; from <= 2000 && round < 40; round++) {
    char args[80], want[40];
    neap_str body = prompt(s);
    snprintf(args, sizeof args, "{'id':4,'part':'%lld-2000'}", (long long)from);
    snprintf(want, sizeof want, "line %lld of the log", (long long)from);
    (void)body;
    neap_str got = read_part(s, args);
    rises = rises && (from == 30 || has(got, want));
    size_t at = np_str_find(got, NP_LIT("-2000 remain: neap_read(4, \""), 0);
    if (at == SIZE_MAX) {
      CHECK("the last part ends the text", has(got, "line 2000 of the log"));
      from = 2001;
      break;
    }
    size_t digits = at;
    while (got.p[digits - 1] >= '0' && got.p[digits - 1] <= '9') digits--;
    int64_t next = strtoll(got.p + digits, NULL, 10);
    rises = rises && next > from;
    from = next;
    neap_str a = account(s);
    fits = fits && number(a, "tokens") <= number(a, "budget");
  }
  CHECK("parts go on where the last one ended", rises && from == 2001);
  CHECK("no prompt is over its budget", fits);
  neap_session_close(s);
}

static void test_again(void) {
  neap_session *s = begin("again", keep_two, 20000);
  run_lines(s, 400);
  run_lines(s, 3);
  CHECK("first the text", reads(s, "{'id':4,'part':'41-60'}", "line 44 of the log"));
  CHECK("then where it stands",
        reads(s, "{'part':'lines 41-60','id':'4'}",
              "Shown already: the same part was read in step 3, and "
              "stands above as entry 10."));
  CHECK("another part is given",
        reads(s, "{'id':4,'part':'41-61'}", "line 44 of the log"));
  neap_str body = prompt(s);
  CHECK("what was read is still shown, by a policy that masks results",
        times(body, "line 44 of the log") == 2);
  neap_session_close(s);
}

static const char drop_all[] =
    "return { api = 1, tools = { 'read' }, assemble = function(ctx)\n"
    "  for e in ctx:entries { kind = 'result' } do e:drop('all'); e:mask('all') end\n"
    "end }";

/* A policy that would put everything away cannot put away what was read. */
static void test_kept(void) {
  neap_session *s = begin("kept", drop_all, 20000);
  run_lines(s, 400);
  CHECK("the text", reads(s, "{'id':4,'part':'41-60'}", "line 44 of the log"));
  for (int i = 0; i < 5; i++) run_lines(s, 20);
  neap_str body = prompt(s);
  CHECK("it stands", times(body, "line 44 of the log") == 1);
  neap_session_close(s);
}

/* Any bytes as arguments: one answer, no error. */
static void test_any(void) {
  static const char *const bits[] = {"{'id':4,'part':'",
                                     "match ",
                                     "(",
                                     "[",
                                     "*",
                                     "41",
                                     "-",
                                     "json ",
                                     "$",
                                     ".",
                                     "'}",
                                     "rows ",
                                     "section ",
                                     "about ",
                                     " ",
                                     "{",
                                     "head ",
                                     "\\\\"};
  neap_session *s = begin("any", keep_two, 20000);
  run_lines(s, 50);
  unsigned long long state = check_seed(20261130);
  bool ok = true;
  for (int round = 0; round < 300; round++) {
    char args[400] = "{'id':4,'part':'";
    for (size_t i = check_random(&state) % 8; i > 0; i--)
      strcat(args, bits[check_random(&state) % NP_COUNT(bits)]);
    if (check_random(&state) % 4) strcat(args, "'}");
    neap_call c;
    neap_append_response(s, call_with("neap_read", args));
    ok = ok && neap_next_call(s, &c) == 1 && neap_handle(s, &c) == 0;
    neap_str text = NP_LIT("");
    ok = ok && !neap_entry_text(s, c.entry + 1, &text) && text.n > 0;
  }
  CHECK("whatever is asked is answered", ok);
  prompt(s);
  neap_session_close(s);
}

int main(void) {
  engine = engine_open(NULL);
  test_parts();
  test_room();
  test_again();
  test_kept();
  test_any();
  neap_close(engine);
  np_buf_free(&made);
  return check_done();
}
