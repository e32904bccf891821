/*
** Many pieces at once with NEON: four registers of 16 bytes. Elsewhere this file is empty.
** next: bpe.h
*/
#include "token/split_many.h"

#ifdef NP_SPLIT_ARM
#include <arm_neon.h>

/* The four registers' bytes are 0 or 255: one bit of each, by adding neighbours thrice. */
static inline uint64_t gather(const uint8x16_t is[4]) {
  static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                      1, 2, 4, 8, 16, 32, 64, 128};
  uint8x16_t w = vld1q_u8(weights);
  uint8x16_t lo = vpaddq_u8(vandq_u8(is[0], w), vandq_u8(is[1], w));
  uint8x16_t hi = vpaddq_u8(vandq_u8(is[2], w), vandq_u8(is[3], w));
  lo = vpaddq_u8(lo, hi);
  lo = vpaddq_u8(lo, lo);
  return vgetq_lane_u64(vreinterpretq_u64_u8(lo), 0);
}

static inline uint64_t equal(const uint8x16_t x[4], uint8_t c) {
  uint8x16_t is[4], k = vdupq_n_u8(c);
  for (int i = 0; i < 4; i++) is[i] = vceqq_u8(x[i], k);
  return gather(is);
}

static inline uint64_t in_range(const uint8x16_t x[4], uint8_t from, uint8_t count) {
  uint8x16_t is[4], k = vdupq_n_u8(from), n = vdupq_n_u8(count);
  for (int i = 0; i < 4; i++) is[i] = vcltq_u8(vsubq_u8(x[i], k), n);
  return gather(is);
}

static inline void read_block(const uint8_t *p, np_block *b) {
  uint8x16_t x[4], lower[4];
  for (int i = 0; i < 4; i++) {
    x[i] = vld1q_u8(p + 16 * i);
    lower[i] = vorrq_u8(x[i], vdupq_n_u8(0x20));
  }
  uint64_t line = equal(x, '\n') | equal(x, '\r'), blank = equal(x, ' ');
  *b = (np_block){
      .letter = in_range(lower, 'a', 26),
      .upper = in_range(x, 'A', 26),
      .digit = in_range(x, '0', 10),
      .blank = blank,
      .space = (in_range(x, 9, 5) ^ line) | blank,
      .line = line,
      .quote = equal(x, '\''),
      .slash = equal(x, '/'),
      .high = in_range(x, 0x80, 0x80),
  };
}

static inline void read_high(const uint8_t *p, np_high *h) {
  uint8x16_t x[4];
  for (int i = 0; i < 4; i++) x[i] = vld1q_u8(p + 16 * i);
  *h = (np_high){
      .tail = in_range(x, 0x80, 64),
      .from_e0 = in_range(x, 0xE0, 32),
      .from_f0 = in_range(x, 0xF0, 16),
      .even = (in_range(x, 0xE5, 8) & ~equal(x, 0xEA)) |
              (equal(x, 0xE4) & in_range(x, 0xB8, 8) >> 1),
  };
}

static inline uint64_t have_bits(const uint8_t *p, uint8_t bits) {
  uint8x16_t is[4], k = vdupq_n_u8(bits);
  for (int i = 0; i < 4; i++) is[i] = vtstq_u8(vld1q_u8(p + 16 * i), k);
  return gather(is);
}

#define NP_READ_BLOCK read_block
#define NP_READ_HIGH read_high
#define NP_HAVE_BITS have_bits
#include "token/split_cut.h"

size_t np_split_neon(np_split_kind kind, const uint8_t *p, const uint8_t *end,
                     uint32_t *ends, size_t cap) {
  return np_cut_kind(kind, p, end, ends, cap);
}
#endif
