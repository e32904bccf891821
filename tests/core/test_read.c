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

/* ---- what is elsewhere, or gone ---- */

static void test_elsewhere(void) {
  neap_session *s = begin("elsewhere", keep_two, 20000);
  neap_artifact about = {.size = sizeof about,
                         .tool = NP_LIT("bash"),
                         .query = NP_LIT("make log"),
                         .made = 1000000,
                         .ttl = 60};
  int64_t id = 0, mine = 0;
  neap_set_now(s, 1000000);
  neap_rc rc =
      neap_artifact_put(engine, "store", NP_LIT("alpha\nbeta\ngamma\n"), &about, &id);
  CHECK("an artifact is put elsewhere", rc == NEAP_OK && id == 1);
  CHECK("and one here",
        neap_session_put(s, NP_LIT("one\ntwo\n"), &about, &mine) == NEAP_OK);
  CHECK("it is read by session and id",
        reads(s, "{'id':'store/1','part':'2'}", "[store/1, line 2 of 3, sha256 "));
  CHECK("with what made it",
        reads(s, "{'id':'store/1','part':'3'}", "; bash \"make log\"]\ngamma"));
  char args[80];
  snprintf(args, sizeof args, "{'id':%lld,'part':'tail 1'}", (long long)mine);
  CHECK("this session's too", reads(s, args, "two"));
  CHECK("no such session", reads(s, "{'id':'nowhere/1'}", "nowhere"));
  CHECK("nothing dangles yet", number(account(s), "dangling") == -1);
  neap_set_now(s, 1000000 + 61 * 1000);
  snprintf(args, sizeof args, "{'id':%lld,'part':'head 1'}", (long long)mine);
  CHECK("what has expired says so, and how to make it again",
        reads(s, "{'id':'store/1','part':'1'}", "Gone: ") &&
            reads(s, args, "can be run again: bash \"make log\"."));
  prompt(s);
  CHECK("what dangles is counted", number(account(s), "dangling") == 2);
  neap_session_close(s);
}

static void test_purged(void) {
  neap_session *s = begin("purged", keep_two, 20000);
  neap_artifact about = {
      .size = sizeof about, .tool = NP_LIT("grep"), .query = NP_LIT("-r secret")};
  int64_t id = 0;
  neap_artifact_put(engine, "vault", NP_LIT("a secret line\n"), &about, &id);
  CHECK("it is there", reads(s, "{'id':'vault/1'}", "a secret line"));
  CHECK("its owner purges it", neap_artifact_remove(engine, "vault", 1) == NEAP_OK);
  CHECK("then it is gone", reads(s, "{'id':'vault/1','part':'head 1'}", "Gone: ") &&
                               reads(s, "{'id':'vault/1','part':'1'}", "purged"));
  CHECK("and it is said how to make it again",
        reads(s, "{'id':'vault/1','part':'2'}", "make it again with grep -r secret"));
  neap_session_close(s);
}

static void purge_body(const char *body) {
  np_err e;
  uint8_t hash[NP_SHA256];
  np_sha256(json(body), hash);
  CHECK("the body is purged",
        engine->store->ops->purge(engine->store, NP_LIT(""), hash, &e) == NEAP_OK);
}

/* A message whose body is purged: neither its reading nor that of what stands behind it pretends
** that there is something, and the session says why it cannot go on. */
static void test_purged_message(void) {
  static const char result[] =
      "{'role':'tool','tool_call_id':'a','content':'a secret line'}";
  neap_session *s = session_open(engine, "purged too", NULL, 20000, "openai");
  append(s, "{'role':'user','content':'look'}");
  append(s, "{'role':'assistant','tool_calls':[{'id':'a','type':'function','function':"
            "{'name':'grep','arguments':'[5]'}}]}");
  append(s, result);
  append(s, "{'role':'user','content':'thanks'}");
  neap_session_close(s);
  s = begin("who reads", keep_two, 20000);
  CHECK("it is there", reads(s, "{'id':'purged too/3'}", "a secret line"));
  purge_body(result);
  CHECK("then it is gone, with what made it",
        reads(s, "{'id':'purged too/3','part':'1'}",
              "Gone: entry purged too/3 was purged by its owner; it cannot be restored; "
              "make it again with grep [5]. Nothing of it is given here"));
  CHECK("what stands before is there", reads(s, "{'id':'purged too/1'}", "look"));
  CHECK("what stands behind has no number",
        reads(s, "{'id':'purged too/4'}", "Gone: session purged too: a message was"));
  prompt(s);
  CHECK("both dangle", number(account(s), "dangling") == 2);
  neap_session_close(s);
  CHECK("the session is not opened as if it had never been",
        neap_session_open(engine, "purged too", NULL, &s) == NEAP_E_PURGED &&
            strstr(neap_error(engine), "event ") &&
            strstr(neap_error(engine), "fork its first "));
  neap_session_close(s);
}

/* Whatever the model writes, another tenant's is not reached. */
static void test_tenants(void) {
  static const char *const tries[] = {"{'id':'other/1'}", "{'id':'b/other/1'}",
                                      "{'id':'../b/other/1'}", "{'id':'b\\u0000other/1'}",
                                      "{'id':'\\u0000b/other/1'}"};
  char path[300];
  snprintf(path, sizeof path, "%s", dir_path("read-tenants.db"));
  remove(path);
  neap *a = NULL, *b = NULL;
  neap_config config = {.size = sizeof config,
                        .store = path,
                        .data = data_dir(),
                        .flags = NEAP_FIXED_SECRET};
  config.tenant = "b";
  CHECK("one tenant opens", neap_open(&config, &b) == NEAP_OK);
  int64_t id = 0;
  neap_artifact_put(b, "other", NP_LIT("their words\n"), NULL, &id);
  config.tenant = "a";
  CHECK("another opens", neap_open(&config, &a) == NEAP_OK);
  neap *was = engine;
  engine = a;
  neap_session *s = begin("mine", keep_two, 20000);
  for (size_t i = 0; i < NP_COUNT(tries); i++)
    CHECK("it is not there", !has(read_part(s, tries[i]), "their words"));
  neap_str text = NP_LIT("");
  CHECK("nor for the host",
        neap_read(s, NP_LIT("other/1"), NP_LIT(""), 0, &text) == NEAP_E_NOTFOUND);
  neap_session_close(s);
  engine = was;
  neap_close(a);
  neap_close(b);
}

static void test_host(void) {
  neap_session *s = begin("host", keep_two, 20000);
  int64_t id = run_lines(s, 400);
  neap_str text = NP_LIT("");
  CHECK("the result's id", id == 4);
  CHECK("a host reads", neap_read(s, NP_LIT("4"), NP_LIT("7-8"), 0, &text) == NEAP_OK &&
                            has(text, "line 8 of the log"));
  CHECK("within a limit", neap_read(s, NP_LIT("4"), NP_LIT(""), 50, &text) == NEAP_OK &&
                              text.n < 600 && has(text, "remain: neap_read(4, \""));
  CHECK("a wrong part", neap_read(s, NP_LIT("4"), NP_LIT("x"), 0, &text) == NEAP_E_ARG);
  CHECK("a wrong id", neap_read(s, NP_LIT("x"), NP_LIT(""), 0, &text) == NEAP_E_ARG);
  CHECK("nothing there",
        neap_read(s, NP_LIT("99"), NP_LIT(""), 0, &text) == NEAP_E_NOTFOUND);
  neap_session_close(s);
}

/* ---- pointers ---- */

static bool resolves(neap_session *s, const char *arguments, const char *want) {
  neap_str got = NP_LIT(""), args = np_str_cstr(arguments);
  neap_rc rc = neap_resolve(s, args, &got);
  if (rc == NEAP_OK && np_str_is(got, want)) return true;
  fprintf(stderr, "  %s: got %d %.*s\n", arguments, rc, (int)got.n, got.p);
  return false;
}

static bool refuses(neap_session *s, const char *arguments, neap_rc want) {
  neap_str got = NP_LIT("");
  return neap_resolve(s, np_str_cstr(arguments), &got) == want;
}

static void test_pointers(void) {
  neap_session *s = session_open(engine, "pointers", policy_file("read.lua", keep_two),
                                 20000, "openai");
  append(s, "{'role':'system','content':'rules'}");
  append(s, "{'role':'user','content':'say \\\"hello\\\"'}");
  run_lines(s, 40);
  int64_t id = 0;
  neap_artifact_put(engine, "far", NP_LIT("far away"), NULL, &id);
  CHECK("without any the bytes are the same",
        resolves(s, "{ \"a\": 1.0, \"b\": \"x\" }", "{ \"a\": 1.0, \"b\": \"x\" }"));
  CHECK("a text", resolves(s, "{\"a\":\"neap:2\",\"b\":[1e5,{\"c\":\"neap:2\"}]}",
                           "{\"a\":\"say \\\"hello\\\"\",\"b\":[1e5,{\"c\":\"say "
                           "\\\"hello\\\"\"}]}"));
  CHECK("a part", resolves(s, "{\"t\":\"neap:5#7-8\"}",
                           "{\"t\":\"line 7 of the log\\nline 8 of the log\\n\"}"));
  CHECK("parts have no marks between them",
        resolves(s, "{\"t\":\"neap:5#ends 2\"}",
                 "{\"t\":\"line 1 of the log\\nline 40 of the log\\n\"}"));
  static const char *const plain[] = {"{\"a\":\"see neap:2\"}", "{\"neap:2\":\"x\"}",
                                      "{\"a\":\"neap:\"}",      "{\"a\":\"neap:x\"}",
                                      "{\"a\":\"neap:2 \"}",    "{\"a\":\"neap:far/1\"}",
                                      "not JSON neap:2",        "{\"a\":\"\\\"neap:2\"}"};
  for (size_t i = 0; i < NP_COUNT(plain); i++)
    CHECK("other strings stay", resolves(s, plain[i], plain[i]));
  CHECK("system rules are not passed on",
        refuses(s, "{\"a\":\"neap:1\"}", NEAP_E_NOTFOUND));
  CHECK("an entry that is not there", refuses(s, "{\"a\":\"neap:99\"}", NEAP_E_NOTFOUND));
  CHECK("a part of no form", refuses(s, "{\"a\":\"neap:2#x\"}", NEAP_E_ARG));
  neap_str got = NP_LIT("");
  np_buf many = {.alloc = &np_alloc_libc};
  np_buf_adds(&many, "[\"\"");
  for (int i = 0; i < 200000; i++) np_buf_adds(&many, ",\"neap:5\"");
  np_buf_addc(&many, ']');
  CHECK("they do not make more than a body may have",
        neap_resolve(s, np_buf_str(&many), &got) == NEAP_E_LIMIT);
  np_buf_free(&many);
  neap_session_close(s);
}

static void test_told(void) {
  neap_session *s = begin("told", "return { api = 1, tools = { 'read' } }", 20000);
  neap_str body = prompt(s);
  CHECK("the rule to fetch first",
        has(body, "Read first what a decision depends on.") && !has(body, "neap:17"));
  neap_session_close(s);
  s = begin("told too", "return { api = 1, tools = { 'pointers' } }", 20000);
  CHECK("pointers are told of where they are enabled", has(prompt(s), "neap:17#41-380"));
  neap_session_close(s);
  s = session_open(engine, "told in Chinese",
                   policy_file("read.lua", "return { api = 1, tools = { 'read' } }"),
                   20000, "openai");
  append(s, "{'role':'user','content':'请修复 make test 的错误'}");
  body = prompt(s);
  CHECK("in Chinese where the task is",
        has(body, "须先读取") && !has(body, "Read first"));
  append(s, "{'role':'user','content':'and now in English, for many words in a row'}");
  CHECK("and so it stays", has(prompt(s), "须先读取"));
  neap_session_close(s);
  s = begin("told not", "return { api = 1 }", 20000);
  CHECK("without the tools it is not said", !has(prompt(s), "Read first"));
  neap_session_close(s);
}

int main(void) {
  dir_make();
  engine = engine_open(NULL);
  test_parts();
  test_room();
  test_again();
  test_kept();
  test_any();
  test_elsewhere();
  test_purged();
  test_purged_message();
  test_tenants();
  test_host();
  test_pointers();
  test_told();
  neap_close(engine);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
