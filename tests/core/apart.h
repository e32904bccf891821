/*
** A trial in a process of its own with an alarm: a hang or a crash is a failure of that trial
** and not of the run. next: test_sandbox.c
*/
#ifndef NP_TESTS_APART_H
#define NP_TESTS_APART_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* strsignal */
#endif

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds a trial may work; sanitizers are slow, and valgrind is slower. It may last six times as
** long: machines are busy, and what waits for a pipe does not work at all. */
static inline unsigned apart_patience(void) {
  const char *s = getenv("NEAP_PATIENCE");
  return s ? (unsigned)atoi(s) : 20;
}

/* NULL when f(arg) has returned true; else what has happened. */
static inline const char *apart(bool (*f)(const void *), const void *arg) {
  int status;
  fflush(NULL);
  pid_t pid = fork();
  if (pid < 0) return "fork failed";
  if (pid == 0) {
    unsigned seconds = apart_patience();
    struct rlimit work = {seconds, seconds + 5};
    setrlimit(RLIMIT_CPU, &work);
    alarm(6 * seconds);
    bool ok = f(arg);
    fflush(NULL);
    _exit(ok ? 0 : 1);
  }
  if (waitpid(pid, &status, 0) != pid) return "wait failed";
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status) ? "failed" : NULL;
  bool hangs = WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU;
  return hangs ? "hangs" : strsignal(WTERMSIG(status));
}

#endif
