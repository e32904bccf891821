/*
** Budgets that cannot be met: what an overflow says, what is tried again and when, outlooks and
** warnings, giants. next: test_engine_store.c
*/
#include "engine_check.h"

/* T8: too many open calls to show: one attempt, and a ledger of what stands in the way. */
static void test_irreducible(void) {
  neap_session *s = session_open(n, "t8", NULL, 1200, NULL);
  neap_str p = NP_LIT("untouched");
  neap_call c;
  append(s, "{'role':'system','content':'s'}");
  append(s, "{'role':'user','content':'u'}");
  round_trip(s, 1, 2, 60, NULL);
  neap_append_response(s,
                       response("", "a_tool_with_quite_a_long_name_for_its_kind", 26, 0));
  for (int i = 0; i < 2; i++) {
    CHECK("it cannot fit",
          neap_prompt(s, &p) == NEAP_E_BUDGET && np_str_is(p, "untouched"));
    CHECK("the numbers are named", strstr(neap_error(n), "the budget is 1200"));
    neap_str a = account(s);
    np_json root, over, v;
    np_json_check(a, &root, NULL);
    CHECK("there is a ledger",
          np_json_get(root, "overflow", &over) && np_json_get(over, "regions", &v) &&
              np_json_get(over, "entries", &v) && number(over.raw, "short") > 0);
    CHECK("it is short by what it says",
          number(over.raw, "short") == number(a, "tokens") - number(a, "budget"));
    CHECK("an overflow has no epoch", !np_json_get(root, "epoch", &v));
    CHECK("it says what would help",
          has(over.raw, "\"help\":[{\"change\":\"window\",\"at_least\":"));
  }
  CHECK("its calls can still be taken", neap_next_call(s, &c));
  neap_session_close(s);
}

static const char counter[] =
    "return { api = 1,\n"
    "  assemble = function(ctx) ctx.state.n = (ctx.state.n or 0) + 1; error('ran ' .. "
    "ctx.state.n) end }\n";

/* T8: what did not fit is not tried again before something has changed; the window that the
** account names is just large enough. */
static void test_stuck(void) {
  const char *path = policy_file("counter.lua", counter);
  neap_session *s = session_open(n, "stuck", path, 600, NULL);
  neap_str p;
  append(s, "{'role':'system','content':'s'}");
  append(s, "{'role':'user','content':'u'}");
  neap_append_response(s,
                       response("", "a_tool_with_quite_a_long_name_for_its_kind", 26, 0));
  CHECK("it does not fit", neap_prompt(s, &p) == NEAP_E_BUDGET);
  CHECK("the hook ran", has(account(s), "ran 1"));
  CHECK("it still does not, and says so again",
        neap_prompt(s, &p) == NEAP_E_BUDGET && strstr(neap_error(n), "the budget is"));
  CHECK("no hook ran for it", has(account(s), "ran 1"));
  append(s, "{'role':'user','content':'and now'}");
  CHECK("after a message it is tried again", neap_prompt(s, &p) == NEAP_E_BUDGET);
  np_json root, over, help, first;
  np_json_check(account(s), &root, NULL);
  np_json_get(root, "overflow", &over);
  np_json_get(over, "help", &help);
  np_json_iter it = np_json_each(help);
  CHECK("there is help", np_json_next(&it, NULL, &first));
  int64_t wide = number(first.raw, "at_least");
  CHECK("the window it asks for is larger", wide > 600);
  neap_session_close(s);
  for (int64_t w = wide - 1; w <= wide; w++) {
    neap *own = engine_open(NULL); /* the same name, and so the same mark key */
    neap_session *t = session_open(own, "stuck", NULL, w, NULL);
    append(t, "{'role':'system','content':'s'}");
    append(t, "{'role':'user','content':'u'}");
    neap_append_response(
        t, response("", "a_tool_with_quite_a_long_name_for_its_kind", 26, 0));
    append(t, "{'role':'user','content':'and now'}");
    CHECK("that window is just enough", (neap_prompt(t, &p) == NEAP_OK) == (w == wide));
    neap_close(own);
  }
}

/* System texts above the budget: no hook is asked, turn after turn, and the prefix is still looked
** at. */
static void test_hopeless(void) {
  const char *path = policy_file("counter.lua", counter);
  neap_session *s = session_open(n, "hopeless", path, 600, NULL);
  char message[4096] = "{'role':'system','content':'Now: 2026-11-30T12:00:00Z.";
  neap_str p;
  for (int i = 0; i < 700; i++) strcat(message, " word");
  strcat(message, "'}");
  append(s, message);
  for (int i = 0; i < 3; i++) {
    append(s, "{'role':'user','content':'u'}");
    CHECK("it does not fit", neap_prompt(s, &p) == NEAP_E_BUDGET);
    CHECK("no hook ran", !has(account(s), "ran "));
    CHECK("the clock is told", has(account(s), "\"what\":\"clock\""));
    CHECK("so is what would help", has(account(s), "\"at_least\":"));
  }
  neap_session_close(s);
}

/* What is left of the budget at the growth of the last turns, and one word when usage rises. */
static void test_outlook(void) {
  neap_session *s = session_open(n, "outlook", NULL, 4000, NULL);
  int alarms = 0;
  append(s, "{'role':'system','content':'s'}");
  append(s, "{'role':'user','content':'u'}");
  prompt(s);
  CHECK("without growth nothing is foretold", !has(account(s), "steps_left"));
  for (int i = 0; i < 24; i++) {
    round_trip(s, i, 1, 40, NULL);
    prompt(s);
    neap_str a = account(s);
    int64_t left = number(a, "budget") - number(a, "tokens");
    if (i < 4) {
      int64_t steps = number(a, "steps_left"), growth = number(a, "growth");
      CHECK("steps are what is left over growth", growth > 1 &&
                                                      steps <= left / (growth - 1) &&
                                                      steps >= left / (growth + 1) - 1);
    }
    bool high = 10 * number(a, "tokens") > 7 * number(a, "budget");
    if (has(a, "\"alarm\":")) {
      alarms++;
      CHECK("the alarm is told when usage is high", high);
    }
  }
  CHECK("it is told once while usage stays high", alarms >= 1 && alarms < 6);
  neap_session_close(s);
  neap_options o = {.size = sizeof o, .alarm = 1.5};
  CHECK("an alarm above the budget is refused",
        neap_session_open(n, "a", &o, &s) == NEAP_E_CONFIG &&
            strstr(neap_error(n), "between 0 and 1"));
}

/* The account of the first turn of a session with that system text and those tools. */
static neap_str first_account(neap *own, const char *name, const char *system,
                              const char *tools) {
  neap_session *s = session_open(own, name, NULL, 4000, NULL);
  neap_set_tools(s, np_str_cstr(tools));
  append(s, system);
  append(s, "{'role':'user','content':'u'}");
  prompt(s);
  return account(s);
}

/* What begins every prompt and will not be the same next time. */
static void test_warnings(void) {
  static const char tool[] = "[{\"type\":\"function\",\"function\":{\"name\":\"a\"}}]";
  static const char turned[] = "[{\"function\":{\"name\":\"a\"},\"type\":\"function\"}]";
  static const char other[] = "[{\"type\":\"function\",\"function\":{\"name\":\"b\"}}]";
  static const char rules[] =
      "{'role':'system','content':'The rules of the house: be brief.'}";
  neap *own = engine_open(NULL);
  neap_str a = first_account(own, "one", rules, tool);
  CHECK("a steady prefix is not talked about", !has(a, "warnings"));
  a = first_account(own, "two", rules, turned);
  CHECK("members in another order are",
        has(a, "{\"what\":\"order\",\"where\":\"tools\",\"was\":"));
  a = first_account(own, "three", rules, turned);
  CHECK("but only against the session before", !has(a, "warnings"));
  a = first_account(own, "four", rules, other);
  CHECK("other tools are other tools", !has(a, "warnings"));
  a = first_account(
      own, "five",
      "{'role':'system','content':'The rules of the house: be brief! It is 12:05:33.'}",
      other);
  CHECK("a clock is quoted",
        has(a, "{\"what\":\"clock\",\"where\":\"system\",\"bytes\":\"12:05:33\"}"));
  CHECK("a changed text is quoted on both sides",
        has(a, "{\"what\":\"changed\",\"where\":\"system\",\"was\":\"") &&
            has(a, "be brief.\"") && has(a, "be brief! It is"));
  neap_session *s = session_open(own, "five", NULL, 4000, NULL);
  prompt(s);
  CHECK("it is said once a session", !has(account(s), "warnings"));
  neap_close(own);
}

static const char coin[] =
    "return { api = 1,\n"
    "  admit = function(ctx, e) ctx.state.n = (ctx.state.n or 0) + 1; if ctx.state.n % 2 "
    "== 0 and e.kind == 'text' then e:hold() end\n"
    "    if e.kind == 'result' then e:trim { tokens = 60 } end end,\n"
    "  assemble = function(ctx) for e in ctx:entries { before = ctx.step - 1, "
    "except_last = 2 } do\n"
    "    if ctx.random() < 0.3 then e:mask('coin ' .. ctx.state.n) end end end }\n";

/* An overflow leaves no trace: the session goes on as one that was not asked for that prompt,
** once a newer step lets the old one go. */
static void test_after_overflow(void) {
  const char *path = policy_file("coin.lua", coin);
  np_buf body[2];
  for (int k = 0; k < 2; k++) {
    neap *own = engine_open(NULL); /* the same name, and so the same mark keys */
    neap_session *s = session_open(own, "same", path, 1000, NULL);
    neap_str p = NP_LIT("");
    np_buf_init(&body[k], &np_alloc_libc);
    append(s, "{'role':'system','content':'s'}");
    append(s, "{'role':'user','content':'u'}");
    for (int i = 0; i < 4; i++) round_trip(s, i, 2, 80, NULL);
    neap_append_response(
        s, response("", "a_tool_with_quite_a_long_name_for_its_kind", 29, 0));
    append(s,
           "{'role':'tool','tool_call_id':'a','content':'src/x.c:7 the first of them'}");
    for (int i = 0; k && i < 3; i++)
      CHECK("it does not fit", neap_prompt(s, &p) == NEAP_E_BUDGET);
    append(s, "{'role':'assistant','content':'never mind'}");
    for (int i = 0; i < 6; i++) {
      p = prompt(s);
      np_buf_add(&body[k], p);
      np_buf_add(&body[k], account(s));
      round_trip(s, i, 1, 40, NULL);
    }
    neap_session_close(s);
    s = session_open(own, "same", path, 1000, NULL);
    np_buf_add(&body[k], prompt(s));
    neap_close(own);
  }
  CHECK("the policy did something",
        has(np_buf_str(&body[0]), "coin ") && has(np_buf_str(&body[0]), "neap\xC2\xB7"));
  CHECK("an overflow leaves no trace",
        np_str_eq(np_buf_str(&body[0]), np_buf_str(&body[1])));
  np_buf_free(&body[0]);
  np_buf_free(&body[1]);
}

/* T9: a task of three windows is cut, keeps both ends, and stays whole in the session. */
static void test_giant(void) {
  neap_session *s = session_open(n, "t9", NULL, 3000, NULL);
  append(s, "{'role':'system','content':'s'}");
  CHECK("it is taken",
        neap_append(s, say("user", "a sentence of the giant task. ", 2000)) == NEAP_OK);
  neap_str body = checked(s), text;
  CHECK("it is cut and says so", has(body, "tokens cut, lines 1\xE2\x80\x93"
                                           "1"));
  CHECK("both ends are there", times(body, "giant task") > 100);
  CHECK("nothing is lost",
        neap_entry_text(s, 2, &text) == NEAP_OK && text.n == 2000 * 30);
  neap_session_close(s);
}

/* The same for a call's arguments: there is no result to mask, and it still fits. */
static void test_giant_call(void) {
  for (int64_t window = 400; window <= 1000; window += 50) {
    char name[20];
    snprintf(name, sizeof name, "call%d", (int)window);
    neap_session *s = session_open(n, name, NULL, window, NULL);
    append(s, "{'role':'user','content':'u'}");
    json("{'role':'assistant','content':null,'tool_calls':[{'id':'c','type':'function','"
         "function':{'name':'write_a_file'"
         ",'arguments':'{\\'path\\':\\'a.c\\',\\'text\\':\\'");
    for (int i = 0; i < 900; i++) np_buf_adds(&made, "int x;\\\\n");
    np_buf_adds(&made, "\\\"}\"}}]}");
    CHECK("a long call is taken", neap_append(s, np_buf_str(&made)) == NEAP_OK);
    checked(s);
    neap_session_close(s);
  }
}

int main(void) {
  engine_ready();
  test_irreducible();
  test_after_overflow();
  test_stuck();
  test_hopeless();
  test_warnings();
  test_outlook();
  test_giant();
  test_giant_call();
  neap_close(n);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
