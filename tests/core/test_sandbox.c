/*
** Attacks on the sandbox: each file of tests/cases/sandbox says in `expect:` how it ends
** ("ok", "load TEXT" or "call TEXT", TEXT with alternatives). Each runs in a process of its
** own with an alarm, so that a hang is a failure; afterwards the pack is as it was, another
** policy works, and no memory is left. next: ../../core/policy/meter.c
*/
#define _XOPEN_SOURCE 700
#include "policy_world.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASES "tests/cases/sandbox"
#define SECONDS 20 /* of a case; sanitizers are slow and machines are busy */

static char expected[300];

/* Reads the words after "expect: " in the file. */
static bool read_expected(const char *path) {
  char line[300];
  FILE *f = fopen(path, "rb");
  expected[0] = '\0';
  while (f && fgets(line, sizeof line, f)) {
    char *at = strstr(line, "expect: ");
    if (!at) continue;
    snprintf(expected, sizeof expected, "%s", at + 8);
    expected[strcspn(expected, "\n")] = '\0';
    break;
  }
  if (f) fclose(f);
  return expected[0] != '\0';
}

static int told(const char *path, const char *what, const char *text) {
  fprintf(stderr, "%s: %s: %s (expected: %s)\n", path, what, text, expected);
  return 1;
}

/* How the case ended against what it says. */
static int judge(const char *path, const char *stage, neap_rc rc, const np_err *e) {
  if (rc == NEAP_OK) {
    return strcmp(expected, "ok") == 0 ? 0 : told(path, stage, "ended well");
  }
  if (rc != NEAP_E_POLICY) return told(path, "another code", e->text);
  if (strncmp(expected, stage, 4) != 0) return told(path, stage, e->text);
  if (strncmp(e->text, path, strlen(path)) != 0)
    return told(path, "names no file", e->text);
  return world_says(e->text, expected + 5) ? 0 : told(path, "another text", e->text);
}

static int other_policy_works(world *w) {
  np_policy *p = NULL;
  np_err e = {0};
  np_str text =
      NP_LIT("return { api = 1, assemble = function(ctx) for e in ctx:entries {"
             " kind = 'result', except_last = 1 } do assert(e:mask()) end end }");
  neap_rc rc = np_policy_load_text(&np_alloc_libc, NP_LIT("other.lua"), text, NP_LIT(""),
                                   NULL, &p, &e);
  if (!rc) {
    world_attach(w, p);
    rc = np_policy_assemble(p, &e);
  }
  np_policy_free(p);
  return rc ? told("the next policy", "failed", e.text) : 0;
}

static int run_case(const char *path, np_vocab *vocab) {
  world w;
  counter c = {0};
  neap_alloc a = counter_alloc(&c);
  np_policy *p = NULL;
  np_err e = {0};
  np_limits limits = {.call_ms = 1500};
  if (!read_expected(path)) return told(path, "says no", "expect:");
  world_open(&w, vocab, 6);
  uint64_t before = world_mark(&w);
  neap_rc rc = np_policy_load(&a, path, NP_LIT(""), &limits, &p, &e);
  int bad;
  if (rc) {
    bad = judge(path, "load", rc, &e);
  } else {
    world_attach(&w, p);
    rc = np_policy_assemble(p, &e);
    bad = judge(path, "call", rc, &e);
    if (rc && world_mark(&w) != before) bad |= told(path, "the pack", "is not as it was");
    /* a policy can be called again after any failure; those that take long have shown it */
    if (!rc || !strstr(e.text, "time of one call")) np_policy_assemble(p, &e);
  }
  np_policy_free(p);
  if (c.live) bad |= told(path, "memory", "is left");
  if (w.said.n > 3 * 65536) bad |= told(path, "log", "is flooded");
  if (rc) bad |= other_policy_works(&w);
  world_close(&w);
  return bad;
}

/* 0: as expected; else a line was printed. */
static int run_apart(const char *path, np_vocab *vocab) {
  int status;
  fflush(NULL);
  pid_t pid = fork();
  if (pid < 0) return told(path, "fork", "failed");
  if (pid == 0) {
    alarm(SECONDS);
    int bad = run_case(path, vocab);
    fflush(NULL);
    _exit(bad);
  }
  if (waitpid(pid, &status, 0) != pid) return told(path, "wait", "failed");
  if (WIFSIGNALED(status)) {
    return told(path, WTERMSIG(status) == SIGALRM ? "hangs" : "crashed",
                strsignal(WTERMSIG(status)));
  }
  return WEXITSTATUS(status);
}

static int by_name(const void *a, const void *b) {
  return strcmp(a, b);
}

int main(int argc, char **argv) {
  static char names[400][80];
  size_t n = 0;
  DIR *dir = opendir(CASES);
  for (struct dirent *d; dir && (d = readdir(dir)) != NULL;) {
    size_t len = strlen(d->d_name);
    if (len < 5 || len > 79 || strcmp(d->d_name + len - 4, ".lua") != 0 || n == 400)
      continue;
    if (argc > 1 && !strstr(d->d_name, argv[1])) continue;
    memcpy(names[n++], d->d_name, len + 1);
  }
  if (dir) closedir(dir);
  qsort(names, n, sizeof names[0], by_name);
  CHECK("there are cases", n > 0);
  np_vocab *vocab = world_vocab();
  for (size_t i = 0; i < n; i++) {
    char path[200];
    snprintf(path, sizeof path, CASES "/%s", names[i]);
    CHECK("a sandbox case ends as it says", run_apart(path, vocab) == 0);
  }
  np_vocab_free(vocab);
  return check_done();
}
