/*
** Tests of the sum of files: its values, that the ways to take it agree, and that no change of a
** bit, of the length or of the order of bytes goes unseen. next: test_store.c
*/
#include "base/port.h"
#include "base/sum.h"
#include "check.h"

#define MAX 5000

static char text[MAX + 64];

/* Computed apart from the code: files hold sums of this kind. */
static void has_its_values(void) {
  for (size_t i = 0; i < MAX; i++) text[i] = (char)i;
  CHECK("of nothing", np_sum_copy(0, NP_LIT(""), NULL) == 0x5fc7a84d05ffd2aull);
  CHECK("of a word", np_sum_copy(7, NP_LIT("neap"), NULL) == 0x176084d8ae694ca7ull);
  CHECK("of 5000 bytes",
        np_sum_copy(1, np_str_of(text, MAX), NULL) == 0xd9b22281fccf358aull);
}

/* Any length, beginning anywhere, with a block that has begun already. */
static void ways_agree(unsigned long long seed) {
  size_t differ = 0, spoilt = 0;
#ifdef NP_SUM_X86
  bool both = (np_port_cpu() & NP_CPU_AVX2) != 0;
#else
  bool both = false;
#endif
  if (!both) check_skip("sums with AVX2", "this processor has none");
  for (int i = 0; i < 500; i++) {
    static char copy[2][MAX + 8];
    size_t from = (size_t)(check_random(&seed) % 64);
    size_t n = (size_t)(check_random(&seed) % (MAX / NP_SUM_STRIPE));
    size_t at = (size_t)(check_random(&seed) % NP_SUM_BLOCK);
    for (size_t k = 0; k < MAX; k++) text[k] = (char)check_random(&seed);
    memset(copy, '.', sizeof copy);
    uint64_t a[NP_SUM_LANES] = {i % 7, 1, 2, 3}, b[NP_SUM_LANES];
    memcpy(b, a, sizeof b);
    np_sum_plain(a, at, text + from, i % 2 ? copy[0] : NULL, n);
#ifdef NP_SUM_X86
    if (both) np_sum_avx2(b, at, text + from, i % 2 ? copy[1] : NULL, n);
#endif
    if (both && memcmp(a, b, sizeof a) != 0) differ++;
    np_str some = np_str_of(text + from, n * NP_SUM_STRIPE + (size_t)i % 64);
    uint64_t bare = np_sum_copy(seed, some, NULL);
    if (np_sum_copy(seed, some, copy[1]) != bare) differ++;
    if (memcmp(copy[1], some.p, some.n) != 0 || copy[1][some.n] != '.') spoilt++;
  }
  CHECK("however it is taken, it is the same", differ == 0);
  CHECK("and what is copied is what was there, no byte more", spoilt == 0);
}

static void sees_changes(unsigned long long seed) {
  size_t unseen = 0;
  static const size_t sizes[] = {1, 8, 63, 64, 100, 1024, 1025, 3000};
  for (size_t s = 0; s < NP_COUNT(sizes); s++) {
    np_str all = np_str_of(text, sizes[s]);
    /* zeroes, too, where products say nothing */
    for (size_t k = 0; k < MAX; k++) text[k] = s % 2 ? 0 : (char)check_random(&seed);
    uint64_t want = np_sum_copy(1, all, NULL);
    unseen += np_sum_copy(2, all, NULL) == want;
    for (size_t bit = 0; bit < 8 * all.n; bit++) {
      text[bit / 8] ^= (char)(1 << bit % 8);
      unseen += np_sum_copy(1, all, NULL) == want;
      text[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (size_t n = 0; n < all.n; n++)
      unseen += np_sum_copy(1, np_str_of(text, n), NULL) == want;
  }
  CHECK("each bit, the length and the seed count", unseen == 0);
}

/* Words, stripes and blocks that change places. */
static void sees_order(unsigned long long seed) {
  static const size_t sizes[] = {8, 64, 1024};
  size_t unseen = 0, n = 4096;
  for (size_t s = 0; s < NP_COUNT(sizes); s++) {
    for (size_t k = 0; k < n; k++) text[k] = (char)check_random(&seed);
    uint64_t want = np_sum_copy(1, np_str_of(text, n), NULL);
    for (size_t at = 0; at + 2 * sizes[s] <= n; at += sizes[s]) {
      static char held[1024];
      memcpy(held, text + at, sizes[s]);
      memmove(text + at, text + at + sizes[s], sizes[s]);
      memcpy(text + at + sizes[s], held, sizes[s]);
      unseen += np_sum_copy(1, np_str_of(text, n), NULL) == want;
      memcpy(text + at + sizes[s], text + at, sizes[s]);
      memcpy(text + at, held, sizes[s]);
    }
  }
  CHECK("so does the order", unseen == 0);
}

int main(void) {
  unsigned long long seed = check_seed(64);
  has_its_values();
  ways_agree(seed);
  sees_changes(seed);
  sees_order(seed);
  return check_done();
}
