/*
** A sum of bytes that are copied anyway, for files: it tells that bytes are no longer what they
** were. It guards against damage, not against who means to deceive: that is SHA-256's work. Why
** not a library's: it is taken while the bytes are copied, which costs little more than copying
** them; every build has it, with the same value on every machine and in every version.
** next: sum.c
*/
#ifndef NP_BASE_SUM_H
#define NP_BASE_SUM_H

#include "base/str.h"

/* The sum of `s`, which is copied to `to` on the way (NULL: not copied). Any change of one word
** of eight bytes is noticed, others but for one in 2^64. */
uint64_t np_sum_copy(uint64_t seed, np_str s, char *to);

/* ---- shared by sum.c and sum_avx2.c ------------------------------------------------ */

#define NP_SUM_LANES 8
#define NP_SUM_STRIPE ((size_t)64) /* bytes: a word for each lane */
#define NP_SUM_BLOCK 16            /* stripes between two stirrings */

/* A lane at stripe j of a block takes key[j + its number]; stirring takes the last ones. */
#define NP_SUM_KEYS (NP_SUM_BLOCK + 2 * NP_SUM_LANES)
extern const uint64_t np_sum_key[NP_SUM_KEYS];

/* Takes in n stripes; `at`, below NP_SUM_BLOCK, is how many the block has already. */
typedef void np_sum_taker(uint64_t lane[NP_SUM_LANES], size_t at, const char *p, char *to,
                          size_t n);
np_sum_taker np_sum_plain;
#if defined(__x86_64__) && defined(__GNUC__)
#define NP_SUM_X86
np_sum_taker np_sum_avx2;
#endif
/* Mixes what the lanes have taken in. It can be undone, so that nothing is lost. */
static inline uint64_t np_sum_stir(uint64_t lane, uint64_t key) {
  return ((lane ^ lane >> 47) ^ key) * 0x9E3779B185EBCA87ull;
}

#endif
