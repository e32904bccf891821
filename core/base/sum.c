/*
** The sum of files in plain C. Eight lanes of 64 bits: a word goes unchanged into its neighbour,
** so that no change of it can go unseen, and into its own lane as the product of its halves, so
** that the order of words counts. next: sum_avx2.c
*/
#include "base/sum.h"

#include "base/port.h"

/* The first numbers of SplitMix64 from 0. */
const uint64_t np_sum_key[NP_SUM_KEYS] = {
    0xE220A8397B1DCDAFull, 0x6E789E6AA1B965F4ull, 0x06C45D188009454Full,
    0xF88BB8A8724C81ECull, 0x1B39896A51A8749Bull, 0x53CB9F0C747EA2EAull,
    0x2C829ABE1F4532E1ull, 0xC584133AC916AB3Cull, 0x3EE5789041C98AC3ull,
    0xF3B8488C368CB0A6ull, 0x657EECDD3CB13D09ull, 0xC2D326E0055BDEF6ull,
    0x8621A03FE0BBDB7Bull, 0x8E1F7555983AA92Full, 0xB54E0F1600CC4D19ull,
    0x84BB3F97971D80ABull, 0x7D29825C75521255ull, 0xC3CF17102B7F7F86ull,
    0x3466E9A083914F64ull, 0xD81A8D2B5A4485ACull, 0xDB01602B100B9ED7ull,
    0xA9038A921825F10Dull, 0xEDF5F1D90DCA2F6Aull, 0x54496AD67BD2634Cull,
    0xDD7C01D4F5407269ull, 0x935E82F1DB4C4F7Bull, 0x69B82EBC92233300ull,
    0x40D29EB57DE1D510ull, 0xA2F09DABB45C6316ull, 0xEE521D7A0F4D3872ull,
    0xF16952EE72F3454Full, 0x377D35DEA8E40225ull,
};

/* Eight bytes, little-endian whatever the machine. */
static inline uint64_t word(const char *s) {
  const unsigned char *p = (const unsigned char *)s;
  return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
         (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 |
         (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static void stir(uint64_t lane[NP_SUM_LANES]) {
  const uint64_t *key = np_sum_key + NP_SUM_BLOCK + NP_SUM_LANES;
  for (int k = 0; k < NP_SUM_LANES; k++) lane[k] = np_sum_stir(lane[k], key[k]);
}

void np_sum_plain(uint64_t lane[NP_SUM_LANES], size_t at, const char *p, char *to,
                  size_t n) {
  for (; n > 0; n--, p += NP_SUM_STRIPE) {
    for (int k = 0; k < NP_SUM_LANES; k++) {
      uint64_t v = word(p + 8 * k), x = v ^ np_sum_key[at + (size_t)k];
      lane[k ^ 1] += v;
      lane[k] += (x & 0xFFFFFFFFu) * (x >> 32);
    }
    if (to) memcpy(to, p, NP_SUM_STRIPE);
    if (to) to += NP_SUM_STRIPE;
    if (++at < NP_SUM_BLOCK) continue;
    stir(lane);
    at = 0;
  }
}

static uint64_t mix(uint64_t h) {
  h = (h ^ h >> 32) * 0xD6E8FEB86659FD93ull;
  h = (h ^ h >> 29) * 0xA0761D6478BD642Full;
  return h ^ h >> 32;
}

static np_sum_taker *best(void) {
#ifdef NP_SUM_X86
  if (np_port_cpu() & NP_CPU_AVX2) return np_sum_avx2;
#endif
  return np_sum_plain;
}

/* The last stripe is filled up with zeroes; that the length is in the sum tells them apart. */
uint64_t np_sum_copy(uint64_t seed, np_str s, char *to) {
  uint64_t lane[NP_SUM_LANES], sum = mix(seed ^ s.n);
  size_t stripes = s.n / NP_SUM_STRIPE, done = stripes * NP_SUM_STRIPE;
  for (int k = 0; k < NP_SUM_LANES; k++) lane[k] = seed ^ np_sum_key[k];
  best()(lane, 0, s.p, to, stripes);
  if (done < s.n) {
    char last[NP_SUM_STRIPE] = {0};
    memcpy(last, s.p + done, s.n - done);
    np_sum_plain(lane, stripes % NP_SUM_BLOCK, last, NULL, 1);
    if (to) memcpy(to + done, last, s.n - done);
  }
  for (int k = 0; k < NP_SUM_LANES; k++) sum = mix(sum ^ lane[k]);
  return sum;
}
