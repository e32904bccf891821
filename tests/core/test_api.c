/*
** The public interface with arguments that make no sense: nothing is done, nothing crashes,
** the reason is told, and the handle still works. next: test_engine.c
*/
#include <string.h>

#include "base/str.h"
#include "check.h"
#include "neap.h"

static neap_rc opened(const neap_config *c) {
  neap *n = NULL;
  neap_rc rc = neap_open(c, &n);
  neap_close(n);
  return rc;
}

static void test_open(void) {
  neap_config zero = {0}, huge = {.size = (size_t)-1};
  neap_config flags = {.size = sizeof flags, .flags = 0x7ffffff0};
  CHECK("without a place for the handle, nothing is opened",
        neap_open(&zero, NULL) == NEAP_E_ARG);
  CHECK("no options are options", opened(NULL) == NEAP_OK);
  CHECK("zeroed options are options", opened(&zero) == NEAP_OK);
  CHECK("options of a newer host are read as far as they are known",
        opened(&huge) == NEAP_OK);
  CHECK("flags that are not known are refused", opened(&flags) == NEAP_E_ARG);
  neap_close(NULL);
  CHECK("a handle that is not there has a text", neap_error(NULL) != NULL);
  CHECK("codes that are none have a name", neap_rc_name((neap_rc)9999) != NULL);
}

static neap_rc session_with(neap *n, neap_options o) {
  neap_session *s = NULL;
  o.size = sizeof o;
  neap_rc rc = neap_session_open(n, "odd", &o, &s);
  CHECK("a session is given when there is no error, and only then",
        (s != NULL) == (rc == NEAP_OK));
  neap_session_close(s);
  return rc;
}

static void test_options(neap *n) {
  neap_session *s = NULL;
  CHECK("a session needs a name",
        neap_session_open(n, NULL, NULL, &s) == NEAP_E_ARG && !s);
  CHECK("a session needs a place", neap_session_open(n, "a", NULL, NULL) == NEAP_E_ARG);
  CHECK("a session needs an engine",
        neap_session_open(NULL, "a", NULL, &s) == NEAP_E_ARG);
  CHECK("a window below 0",
        session_with(n, (neap_options){.window = -5}) == NEAP_E_CONFIG);
  CHECK("the least window",
        session_with(n, (neap_options){.window = INT64_MIN}) == NEAP_E_CONFIG);
  CHECK("the largest window",
        session_with(n, (neap_options){.window = INT64_MAX}) == NEAP_E_CONFIG);
  CHECK("a reserve below -1",
        session_with(n, (neap_options){.reserve = -7}) == NEAP_E_CONFIG);
  CHECK("a durability that there is not",
        session_with(n, (neap_options){.durable = (neap_durable)77}) == NEAP_E_CONFIG);
  CHECK("flags that there are not",
        session_with(n, (neap_options){.flags = 256}) == NEAP_E_CONFIG);
  CHECK("options that are no JSON",
        session_with(n, (neap_options){.options_json = "[1"}) == NEAP_E_POLICY);
  neap_session_close(NULL);
}

static void test_texts(neap *n, neap_session *s) {
  neap_str none = {NULL, 0}, null = {NULL, 5}, huge = {"x", (size_t)-1};
  neap_call c = {0};
  CHECK("the empty text is no message", neap_append(s, none) == NEAP_E_JSON);
  CHECK("a length without a text is refused", neap_append(s, null) == NEAP_E_ARG);
  CHECK("and why is told", strstr(neap_error(n), "NULL") != NULL);
  CHECK("a length that no memory has is refused", neap_append(s, huge) == NEAP_E_ARG);
  CHECK("as a response too", neap_append_response(s, null) == NEAP_E_ARG);
  CHECK("as a result too", neap_append_result(s, &c, huge) == NEAP_E_ARG);
  CHECK("as tools too", neap_set_tools(s, null) == NEAP_E_ARG);
  CHECK("as request members too", neap_set_request(s, huge) == NEAP_E_ARG);
  CHECK("without a session too", neap_append(NULL, null) == NEAP_E_ARG);
}

static void test_places(neap_session *s) {
  neap_str text;
  CHECK("a prompt needs a place", neap_prompt(s, NULL) == NEAP_E_ARG);
  CHECK("an account needs a place", neap_account(s, NULL) == NEAP_E_ARG);
  CHECK("an entry's text needs a place", neap_entry_text(s, 1, NULL) == NEAP_E_ARG);
  CHECK("a call needs a place", neap_next_call(s, NULL) == 0);
  CHECK("a prompt needs a session", neap_prompt(NULL, &text) == NEAP_E_ARG);
  CHECK("reloading needs a session", neap_reload(NULL) == NEAP_E_ARG);
  CHECK("there is no entry 0", neap_entry_text(s, 0, &text) == NEAP_E_NOTFOUND);
  CHECK("there is no last entry",
        neap_entry_text(s, INT64_MAX, &text) == NEAP_E_NOTFOUND);
  CHECK("there is none before the first",
        neap_entry_text(s, INT64_MIN, &text) == NEAP_E_NOTFOUND);
}

static void test_calls(neap_session *s) {
  static const int64_t ids[] = {0, 1, -1, 99, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < NP_COUNT(ids); i++) {
    neap_call c = {.entry = ids[i]};
    CHECK("a call that was not made has no result",
          neap_append_result(s, &c, NP_LIT("x")) == NEAP_E_ARG);
  }
  CHECK("no call has no result", neap_append_result(s, NULL, NP_LIT("x")) == NEAP_E_ARG);
  CHECK("no call is not the engine's", neap_handle(s, NULL) == 1);
}

static void test_counters(const neap_encoding *e) {
  neap_counter *c = NULL, *d = NULL;
  CHECK("a counter has an encoding", neap_counter_new(NULL, &c) == NEAP_E_ARG);
  CHECK("a counter has a place", neap_counter_new(e, NULL) == NEAP_E_ARG);
  CHECK("no counter is no counter",
        !c && neap_counter_add(NULL, NP_LIT("x")) == NEAP_E_ARG &&
            neap_counter_tokens(NULL) == 0 && neap_counter_copy(NULL, &d) == NEAP_E_ARG);
  neap_counter_free(NULL);
  neap_counter_reset(NULL);
  if (neap_counter_new(e, &c) != NEAP_OK) return;
  CHECK("a copy has a place", neap_counter_copy(c, NULL) == NEAP_E_ARG);
  CHECK("text that is not there is refused",
        neap_counter_add(c, (neap_str){NULL, 4}) == NEAP_E_ARG);
  CHECK("no bytes are fine", neap_counter_add(c, (neap_str){NULL, 0}) == NEAP_OK &&
                                 neap_counter_tokens(c) == 0);
  CHECK("a stream is counted", neap_counter_add(c, NP_LIT("hello wor")) == NEAP_OK &&
                                   neap_counter_copy(c, &d) == NEAP_OK &&
                                   neap_counter_add(c, NP_LIT("ld")) == NEAP_OK &&
                                   neap_counter_tokens(c) == 2);
  CHECK("a copy goes its own way",
        neap_counter_add(d, NP_LIT("ry")) == NEAP_OK &&
            neap_counter_tokens(d) == neap_count(e, NP_LIT("hello worry")));
  neap_counter_reset(c);
  CHECK("a reset empties it", neap_counter_tokens(c) == 0);
  neap_counter_free(d);
  neap_counter_free(c);
}

static void test_encodings(neap *n) {
  const neap_encoding *e = NULL;
  CHECK("an encoding has a name", neap_encoding_get(n, NULL, &e) == NEAP_E_ARG);
  CHECK("an encoding has a place",
        neap_encoding_get(n, "o200k_base", NULL) == NEAP_E_ARG);
  CHECK("a path is no name",
        neap_encoding_get(n, "../../etc/passwd", &e) == NEAP_E_ENCODING);
  CHECK("a name is one", neap_encoding_get(n, "o200k_base", &e) == NEAP_OK);
  CHECK("no text has no tokens", neap_count(e, (neap_str){NULL, 4}) == 0);
  CHECK("no encoding counts none", neap_count(NULL, NP_LIT("x")) == 0);
  CHECK("fitting takes what fits",
        neap_token_fit(e, NP_LIT("hello world"), 1, 0) == 5 &&
            neap_token_fit(e, NP_LIT("hello world"), 1, NEAP_FIT_END) == 6 &&
            neap_token_fit(e, NP_LIT("a b\nc d"), 3, NEAP_FIT_LINES) == 4);
  CHECK("fitting nothing is nothing",
        neap_token_fit(NULL, NP_LIT("x"), 9, 0) == 0 &&
            neap_token_fit(e, (neap_str){NULL, 4}, 9, 0) == 0 &&
            neap_token_fit(e, NP_LIT("x"), 0, 0) == 0);
  test_counters(e);
}

int main(void) {
  neap_config c = {.size = sizeof c, .flags = NEAP_FIXED_SECRET};
  neap *n = NULL;
  neap_session *s = NULL;
  neap_str body;
  test_open();
  CHECK("an engine opens", neap_open(&c, &n) == NEAP_OK);
  test_options(n);
  CHECK("a session opens", neap_session_open(n, "fine", NULL, &s) == NEAP_OK);
  CHECK("a message is taken",
        !neap_append(s, NP_LIT("{\"role\":\"user\",\"content\":\"Hi\"}")));
  test_texts(n, s);
  test_places(s);
  test_calls(s);
  test_encodings(n);
  CHECK("after all that a prompt is given",
        neap_prompt(s, &body) == NEAP_OK && body.n > 0);
  neap_close(n); /* with its session */
  return check_done();
}
