/*
** Many pieces at once with AVX-512: one register of 64 bytes, compares that give sets.
** Elsewhere this file is empty. next: split_neon.c
*/
#include "token/split_many.h"

#ifdef NP_SPLIT_X86
#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(                                                            \
    __attribute__((target(                                                               \
        "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,lzcnt,popcnt"))),     \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target(                                                                      \
    "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,lzcnt,popcnt")
#endif

static inline uint64_t equal(__m512i x, char c) {
  return _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(c));
}

static inline uint64_t in_range(__m512i x, char from, char count) {
  return _mm512_cmplt_epu8_mask(_mm512_sub_epi8(x, _mm512_set1_epi8(from)),
                                _mm512_set1_epi8(count));
}

static inline void read_block(const uint8_t *p, np_block *b) {
  __m512i x = _mm512_loadu_si512(p);
  __m512i small = _mm512_set1_epi8(0x20);
  uint64_t line = equal(x, '\n') | equal(x, '\r'), blank = equal(x, ' ');
  *b = (np_block){
      .letter = in_range(_mm512_or_si512(x, small), 'a', 26),
      .upper = in_range(x, 'A', 26),
      .digit = in_range(x, '0', 10),
      .blank = blank,
      .space = (in_range(x, 9, 5) ^ line) | blank,
      .line = line,
      .quote = equal(x, '\''),
      .slash = equal(x, '/'),
      .high = (uint64_t)_mm512_movepi8_mask(x),
  };
}

/* The places of the bits are packed as bytes, then widened sixteen at a time. */
static inline void spread(uint64_t bits, uint32_t base, uint32_t *out) {
  static const uint8_t places[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                     13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                     26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38,
                                     39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51,
                                     52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  __m512i from = _mm512_set1_epi32((int)base);
  __m512i at = _mm512_maskz_compress_epi8(bits, _mm512_loadu_si512(places));
  _mm512_storeu_si512(
      out, _mm512_add_epi32(from, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(at))));
  _mm512_storeu_si512(
      out + 16,
      _mm512_add_epi32(from, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(at, 1))));
  if (_mm_popcnt_u64(bits) <= 32) return; /* seldom more */
  _mm512_storeu_si512(
      out + 32,
      _mm512_add_epi32(from, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(at, 2))));
  _mm512_storeu_si512(
      out + 48,
      _mm512_add_epi32(from, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(at, 3))));
}

static inline void read_high(const uint8_t *p, np_high *h) {
  __m512i x = _mm512_loadu_si512(p);
  *h = (np_high){
      .tail = in_range(x, (char)0x80, 64),
      .from_e0 = _mm512_cmpge_epu8_mask(x, _mm512_set1_epi8((char)0xE0)),
      .from_f0 = _mm512_cmpge_epu8_mask(x, _mm512_set1_epi8((char)0xF0)),
      .even = (in_range(x, (char)0xE5, 8) & ~equal(x, (char)0xEA)) |
              (equal(x, (char)0xE4) & in_range(x, (char)0xB8, 8) >> 1),
  };
}

static inline uint64_t have_bits(const uint8_t *p, uint8_t bits) {
  return _mm512_test_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8((char)bits));
}

#define NP_READ_BLOCK read_block
#define NP_READ_HIGH read_high
#define NP_HAVE_BITS have_bits
#define NP_SPREAD_BITS spread
#include "token/split_cut.h"

size_t np_split_avx512(np_split_kind kind, const uint8_t *p, const uint8_t *end,
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
