/*
** A turn costs what is new: with a message more the engine and the packer take as many steps after
** many messages as after few, where nothing has to be lowered. Counted in blocks of their code, as
** test_linear counts. next: test_kept.c
*/
#include "session.h"

#include "counted_work.h"

#define FEW 400
#define MORE 8
#define GROWTH 1.2 /* at most, for four times as many */

static void tell(neap_session *s, int i) {
  char text[60];
  snprintf(text, sizeof text, "host_%d is up and has been so for a while", i);
  CHECK("a message is taken",
        !neap_append(s, say(i % 2 ? "assistant" : "user", text, 1)));
}

/* Steps of the turns that follow `many` messages, one message before each. */
static uint64_t measure(const char *format, int many) {
  neap *n = engine_open(NULL);
  neap_session *s = session_open(n, "run", NULL, 1000000, format);
  CHECK("rules are taken", !append(s, "{'role':'system','content':'be brief'}"));
  for (int i = 0; i < many; i++) tell(s, i);
  prompt(s);
  work = 0;
  for (int i = 0; i < MORE; i++) {
    tell(s, many + i);
    prompt(s);
  }
  uint64_t steps = work;
  neap_close(n);
  return steps;
}

int main(void) {
  static const char *const formats[] = {"openai", "anthropic", "responses", "gemini",
                                        "text"};
  for (size_t i = 0; i < NP_COUNT(formats); i++) {
    uint64_t few = measure(formats[i], FEW), many = measure(formats[i], 4 * FEW);
    bool ok = few > 0 && (double)many <= GROWTH * (double)few;
    if (!ok)
      fprintf(stderr, "%s: %llu and %llu\n", formats[i], (unsigned long long)few,
              (unsigned long long)many);
    CHECK("a turn after four times as many takes no more steps", ok);
  }
  np_buf_free(&made);
  return check_done();
}
