/*
** The clock behind the backstop. Nothing that a policy can see comes from here. next: meter.c
*/
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* clock_gettime */
#endif

#include <time.h>

#include "policy/host.h"

int64_t np_clock_ms(void) {
  struct timespec t;
  if (clock_gettime(CLOCK_MONOTONIC, &t)) return 0;
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t np_clock_work_ms(void) {
  struct timespec t;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t)) return np_clock_ms();
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void np_clock_now(int64_t *seconds, int64_t *ns) {
  struct timespec t = {0};
  if (clock_gettime(CLOCK_REALTIME, &t)) t.tv_sec = 0;
  *seconds = t.tv_sec;
  *ns = t.tv_nsec;
}
