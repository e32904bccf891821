/*
** Kills around checkpoints, rollbacks, refutations and what is noted: a writer does one thing after
** another by a list that a seed makes, and is killed at a random moment. What is opened again is
** the session after what was acknowledged, or after one thing more, and never between (S0.30, S2.31).
** NEAP_KILLS sets the rounds (12). next: test_rollback.c
*/
#include "session.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define SCHEMA "{\"type\":\"object\",\"additionalProperties\":true}"

static neap_session *open_one(neap *n) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o,
                    .window = 8000,
                    .reserve = -1,
                    .state_schema = SCHEMA,
                    .flags = NEAP_NO_RELOAD};
  CHECK("a session opens", neap_session_open(n, "run", &o, &s) == NEAP_OK);
  return s;
}

/* The i-th thing of a life: one call each, so that it is there as a whole or not at all. Some are
** refused, which is no matter. */
static void act(neap_session *s, unsigned long long seed, int i) {
  unsigned long long r = seed + (unsigned long long)i * 977;
  char text[200];
  neap_str out;
  neap_proposal p = {.size = sizeof p, .who = "controller"};
  neap_scratch d = {.size = sizeof d, .who = "model", .text = NP_LIT("perhaps 4711")};
  check_random(&r);
  int kind = i == 0 ? 0 : (int)(check_random(&r) % 12);
  switch (kind) {
    case 0:
    case 1:
      snprintf(text, sizeof text, "{'role':'user','content':'see file_%d.c'}", i);
      append(s, text);
      break;
    case 2:
      snprintf(text, sizeof text, "{'role':'assistant','content':'file_%d.c is it'}", i);
      append(s, text);
      break;
    case 3:
    case 4: neap_prompt(s, &out); break;
    case 5:
    case 6: neap_checkpoint(s, "here"); break;
    case 7:
    case 8: neap_rollback(s, "here", 0, NP_LIT("it led nowhere")); break;
    case 9:
      snprintf(text, sizeof text, "{\"n\":%d}", i);
      p.patch = np_str_cstr(text);
      neap_state_propose(s, &p, NULL);
      break;
    case 10: neap_scratch_put(s, &d, NULL); break;
    default: neap_scratch_pass(s, 1 + i / 20, "user", NP_LIT("y"), NULL, NULL);
  }
}

static void add(np_buf *b, neap_str text) {
  np_buf_add(b, text);
  np_buf_addc(b, '\n');
}

/* All that can be told of a session, its next prompt at last. */
static void tell(neap_session *s, np_buf *b) {
  neap_str text;
  np_buf_clear(b);
  if (!neap_state_history(s, &text)) add(b, text);
  if (!neap_scratch_list(s, &text)) add(b, text);
  if (!neap_refutations(s, &text)) add(b, text);
  for (int64_t id = 1; !neap_entry_text(s, id, &text); id++) add(b, text);
  if (!neap_prompt(s, &text)) add(b, text);
}

/* What the session is after so many things. */
static void expected(unsigned long long seed, int things, np_buf *b) {
  neap *n = engine_open(NULL);
  neap_session *s = open_one(n);
  for (int i = 0; i < things; i++) act(s, seed, i);
  tell(s, b);
  neap_close(n);
}

static void write_for_ever(int out, unsigned long long seed, const char *store) {
  neap *n = NULL;
  neap_config c = {
      .size = sizeof c, .store = store, .data = data_dir(), .flags = NEAP_FIXED_SECRET};
  if (neap_open(&c, &n)) _exit(2);
  neap_session *s = open_one(n);
  for (int i = 0; i < 400; i++) {
    act(s, seed, i);
    int done = i + 1;
    if (write(out, &done, sizeof done) != (ssize_t)sizeof done) _exit(0);
  }
  pause();
}

static int kill_one(unsigned long long *r, const char *store, unsigned long long seed) {
  int p[2], done = 0, seen, least = 1 + (int)(check_random(r) % 60);
  if (pipe(p)) exit(2);
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    close(p[0]);
    write_for_ever(p[1], seed, store);
    _exit(0);
  }
  close(p[1]);
  while (done < least && read(p[0], &seen, sizeof seen) == (ssize_t)sizeof seen)
    done = seen;
  struct timespec t = {0, (long)(check_random(r) % 3000) * 1000};
  nanosleep(&t, NULL);
  kill(pid, SIGKILL);
  while (read(p[0], &seen, sizeof seen) == (ssize_t)sizeof seen) done = seen;
  close(p[0]);
  waitpid(pid, NULL, 0);
  return done;
}

static void round_of(unsigned long long *r, int number) {
  char name[40];
  np_buf is, a, b;
  np_buf_init(&is, &np_alloc_libc);
  np_buf_init(&a, &np_alloc_libc);
  np_buf_init(&b, &np_alloc_libc);
  snprintf(name, sizeof name, "back-%d.db", number);
  const char *store = dir_path(name);
  unsigned long long seed = check_random(r);
  int done = kill_one(r, store, seed);
  neap *n = engine_open(store);
  neap_session *s = open_one(n);
  tell(s, &is);
  expected(seed, done, &a);
  expected(seed, done + 1, &b);
  bool same = np_str_eq(np_buf_str(&is), np_buf_str(&a)) ||
              np_str_eq(np_buf_str(&is), np_buf_str(&b));
  if (!same)
    fprintf(stderr, "after %d:\n%.*s\n---- want\n%.*s\n", done, (int)is.n, is.p, (int)a.n,
            a.p);
  CHECK("it is the session after what was acknowledged, or one thing more", same);
  CHECK("and goes on", append(s, "{'role':'user','content':'on'}") == NEAP_OK);
  neap_close(n);
  np_buf_free(&is);
  np_buf_free(&a);
  np_buf_free(&b);
}

int main(void) {
  unsigned long long seed = check_seed((unsigned long long)time(NULL));
  const char *wanted = getenv("NEAP_KILLS");
  int rounds = wanted ? atoi(wanted) : 12;
  dir_make();
  for (int i = 0; i < rounds && !check_failed; i++) round_of(&seed, i);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
