/*
** The sum of files with AVX2: four lanes a register. Elsewhere this file is empty.
** next: ../text/text.h
*/
#include "base/sum.h"

#ifdef NP_SUM_X86
#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

static inline __m256i load(const void *p) {
  return _mm256_loadu_si256((const __m256i *)p);
}

static inline void save(void *p, __m256i v) {
  _mm256_storeu_si256((__m256i *)p, v);
}

static inline __m256i take(__m256i lanes, __m256i v, const uint64_t *key) {
  __m256i x = _mm256_xor_si256(v, load(key));
  __m256i product = _mm256_mul_epu32(x, _mm256_srli_epi64(x, 32));
  __m256i neighbours = _mm256_shuffle_epi32(v, 0x4E); /* words change places by twos */
  return _mm256_add_epi64(lanes, _mm256_add_epi64(product, neighbours));
}

/* Stripes of one block. */
static inline void take_all(uint64_t lane[NP_SUM_LANES], size_t at, const char *p,
                            char *to, size_t n) {
  __m256i lo = load(lane), hi = load(lane + 4);
  for (size_t i = 0; i < n; i++, p += NP_SUM_STRIPE) {
    __m256i a = load(p), b = load(p + 32);
    if (to) save(to, a);
    if (to) save(to + 32, b);
    if (to) to += NP_SUM_STRIPE;
    lo = take(lo, a, np_sum_key + at + i);
    hi = take(hi, b, np_sum_key + at + i + 4);
  }
  save(lane, lo);
  save(lane + 4, hi);
}

void np_sum_avx2(uint64_t lane[NP_SUM_LANES], size_t at, const char *p, char *to,
                 size_t n) {
  const uint64_t *key = np_sum_key + NP_SUM_BLOCK + NP_SUM_LANES;
  while (n > 0) {
    size_t some = n < NP_SUM_BLOCK - at ? n : NP_SUM_BLOCK - at;
    size_t bytes = some * NP_SUM_STRIPE;
    if (to) take_all(lane, at, p, to, some);
    else take_all(lane, at, p, NULL, some);
    p += bytes;
    if (to) to += bytes;
    n -= some;
    at += some;
    if (at < NP_SUM_BLOCK) continue;
    for (int k = 0; k < NP_SUM_LANES; k++) lane[k] = np_sum_stir(lane[k], key[k]);
    at = 0;
  }
}

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
