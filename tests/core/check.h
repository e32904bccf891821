/*
** The C tests' helper: CHECK says what behaviour is tested; a failure prints where, and the
** program ends with `N passed, N failed, N skipped` on the last line. next: test_base.c
*/
#ifndef NP_TESTS_CHECK_H
#define NP_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_passed, check_failed, check_skipped;

#define CHECK(what, cond)                                                                \
  do {                                                                                   \
    if (cond) {                                                                          \
      check_passed++;                                                                    \
    } else {                                                                             \
      check_failed++;                                                                    \
      fprintf(stderr, "FAILED %s:%d: %s\n  expected: %s\n", __FILE__, __LINE__, what,    \
              #cond);                                                                    \
    }                                                                                    \
  } while (0)

static inline void check_skip(const char *what, const char *why) {
  check_skipped++;
  fprintf(stderr, "skipped: %s: %s\n", what, why);
}

static inline int check_done(void) {
  printf("%d passed, %d failed, %d skipped\n", check_passed, check_failed, check_skipped);
  return check_failed ? 1 : 0;
}

/* A small generator for property tests: the seed is printed by whoever starts it. */
static inline unsigned long long check_random(unsigned long long *state) {
  unsigned long long x = *state += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

static inline unsigned long long check_seed(unsigned long long fallback) {
  const char *s = getenv("NEAP_SEED");
  unsigned long long seed = s ? strtoull(s, NULL, 10) : fallback;
  fprintf(stderr, "seed %llu (NEAP_SEED=%llu repeats it)\n", seed, seed);
  return seed;
}

/* The folder of shared test data, or NULL when it is not there. */
static inline const char *check_shared(void) {
  static char path[512];
  const char *dir = getenv("NEAP_SHARED");
  snprintf(path, sizeof path, "%s/README.md", dir ? dir : "../shared");
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  fclose(f);
  return dir ? dir : "../shared";
}

#endif
