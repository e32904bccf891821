/* A line a check, so that the log tells what was tested. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <string.h>

static int check_count, check_failed;

static void check_long(const char *what, long long got, long long want) {
  check_count++;
  if (got == want) {
    printf("ok   %2d  %s\n", check_count, what);
    return;
  }
  check_failed++;
  printf("FAIL %2d  %s: got %lld, expected %lld\n", check_count, what, got, want);
}

static void check_text(const char *what, const char *got, const char *want) {
  check_count++;
  if (strcmp(got, want) == 0) {
    printf("ok   %2d  %s\n", check_count, what);
    return;
  }
  check_failed++;
  printf("FAIL %2d  %s: got \"%s\", expected \"%s\"\n", check_count, what, got, want);
}

static int check_end(const char *name) {
  printf("%s: %d checks, %d failed\n", name, check_count, check_failed);
  return check_failed != 0;
}

#endif
