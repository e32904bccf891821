/*
** What a session keeps beside its messages, drafts of the scratchpad and uses of what is refuted, is
** looked up in few steps however much there is: counted in blocks of code of engine/scratch.c and
** engine/refute.c, as test_linear counts, for few and for four times as many. next: test_growth.c
*/
#include "session.h"

#include "counted_work.h"

#define FEW 300
#define GROWTH 5.0 /* at most, for four times as many: searches by halves are in it */

static void tell(neap_session *s, const char *role, const char *form, int i) {
  char text[80];
  snprintf(text, sizeof text, form, i);
  CHECK("a message is taken", !neap_append(s, say(role, text, 1)));
}

/* Drafts that rest on entry 1, each passed at once. */
static void pass_all(neap_session *s, int many) {
  for (int i = 0; i < many; i++) {
    char text[40];
    int64_t id, entry;
    neap_scratch one = {.size = sizeof one, .who = "model", .source = 1};
    snprintf(text, sizeof text, "the port of node_%d is known", i);
    one.text = np_str_cstr(text);
    CHECK("a draft is put", !neap_scratch_put(s, &one, &id) && id == i + 1);
    CHECK("and passed", !neap_scratch_pass(s, id, "user", NP_LIT("seen"), NULL, &entry));
  }
}

/* The user's facts are refuted, and the model uses each of them: all are found at once. */
static void use_all(neap_session *s, int many) {
  prompt(s);
  for (int i = 0; i < many; i++) tell(s, "user", "host_%d is up", i);
  CHECK("a step is refuted", !neap_refute(s, 0, 0, NP_LIT("another net")));
  for (int i = 0; i < many; i++) tell(s, "assistant", "I ask host_%d", i);
}

static void measure(int many, uint64_t out[3]) {
  neap *n = engine_open(NULL);
  neap_session *s = session_open(n, "run", NULL, 1000000, "openai");
  neap_str list;
  CHECK("a task is taken", !append(s, "{'role':'user','content':'look'}"));
  work = 0;
  pass_all(s, many);
  out[0] = work;
  use_all(s, many);
  work = 0;
  prompt(s);
  out[1] = work;
  np_json a, v;
  CHECK("each use is found", !np_json_check(account(s), &a, NULL) &&
                                 np_json_get(a, "pollution", &v) &&
                                 number(v.raw, "steps") == many);
  work = 0;
  CHECK("all are listed", !neap_scratch_list(s, &list));
  out[2] = work;
  neap_close(n);
}

int main(void) {
  static const char *const what[] = {"passed", "used", "listed"};
  uint64_t few[3], many[3];
  measure(FEW, few);
  measure(4 * FEW, many);
  for (int i = 0; i < 3; i++) {
    bool ok = few[i] > 0 && (double)many[i] <= GROWTH * (double)few[i];
    if (!ok)
      fprintf(stderr, "%s: %llu and %llu\n", what[i], (unsigned long long)few[i],
              (unsigned long long)many[i]);
    CHECK("four times as many take four times as long", ok);
  }
  np_buf_free(&made);
  return check_done();
}
