/*
** Many pieces at once with AVX2: two registers of 32 bytes. Elsewhere this file is empty.
** next: split_avx512.c
*/
#include "token/split_many.h"

#ifdef NP_SPLIT_X86
#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))),      \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#endif

/* One bit for each byte of the two registers that is `c`. */
static inline uint64_t equal(__m256i lo, __m256i hi, char c) {
  __m256i k = _mm256_set1_epi8(c);
  uint32_t a = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(lo, k));
  uint32_t b = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(hi, k));
  return a | (uint64_t)b << 32;
}

static inline uint32_t in_range_half(__m256i x, char from, char count) {
  __m256i moved = _mm256_sub_epi8(x, _mm256_set1_epi8((char)(from + 128)));
  __m256i top = _mm256_set1_epi8((char)(count - 128)); /* compares as signed */
  return (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(top, moved));
}

/* One bit for each byte in from..from + count - 1. */
static inline uint64_t in_range(__m256i lo, __m256i hi, char from, char count) {
  return in_range_half(lo, from, count) | (uint64_t)in_range_half(hi, from, count) << 32;
}

static inline uint64_t tops(__m256i lo, __m256i hi) {
  return (uint32_t)_mm256_movemask_epi8(lo) | (uint64_t)(uint32_t)_mm256_movemask_epi8(hi)
                                                  << 32;
}

static inline void read_block(const uint8_t *p, np_block *b) {
  __m256i lo = _mm256_loadu_si256((const __m256i *)(const void *)p);
  __m256i hi = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
  __m256i small = _mm256_set1_epi8(0x20);
  uint64_t letter =
      in_range(_mm256_or_si256(lo, small), _mm256_or_si256(hi, small), 'a', 26);
  uint64_t line = equal(lo, hi, '\n') | equal(lo, hi, '\r'), blank = equal(lo, hi, ' ');
  *b = (np_block){
      .letter = letter, /* bit 5 of a letter tells its case: moved to the top here */
      .upper = letter & ~tops(_mm256_slli_epi16(lo, 2), _mm256_slli_epi16(hi, 2)),
      .digit = in_range(lo, hi, '0', 10),
      .blank = blank,
      .space = (in_range(lo, hi, 9, 5) ^ line) | blank,
      .line = line,
      .quote = equal(lo, hi, '\''),
      .slash = equal(lo, hi, '/'),
      .high = tops(lo, hi),
  };
}

static inline void read_high(const uint8_t *p, np_high *h) {
  __m256i lo = _mm256_loadu_si256((const __m256i *)(const void *)p);
  __m256i hi = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
  *h = (np_high){
      .tail = in_range(lo, hi, (char)0x80, 64),
      .from_e0 = in_range(lo, hi, (char)0xE0, 32),
      .from_f0 = in_range(lo, hi, (char)0xF0, 16),
      .even = (in_range(lo, hi, (char)0xE5, 8) & ~equal(lo, hi, (char)0xEA)) |
              (equal(lo, hi, (char)0xE4) & in_range(lo, hi, (char)0xB8, 8) >> 1),
  };
}

static inline uint64_t have_bits(const uint8_t *p, uint8_t bits) {
  __m256i k = _mm256_set1_epi8((char)bits);
  __m256i lo = _mm256_loadu_si256((const __m256i *)(const void *)p);
  __m256i hi = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
  return ~equal(_mm256_and_si256(lo, k), _mm256_and_si256(hi, k), 0);
}

#define NP_READ_BLOCK read_block
#define NP_READ_HIGH read_high
#define NP_HAVE_BITS have_bits
#include "token/split_cut.h"

size_t np_split_avx2(np_split_kind kind, const uint8_t *p, const uint8_t *end,
                     uint32_t *ends, size_t cap) {
  if (!np_counts_zeros()) return np_split_plain(kind, p, end, ends, cap);
  return np_cut_kind(kind, p, end, ends, cap);
}

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
