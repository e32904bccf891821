/*
** SHA-256 and HMAC by nettle; a 64-bit multiply-and-fold hash for tables in memory.
** next: ../text/utf8.c
*/
#include "base/hash.h"

#include <nettle/hmac.h>
#include <nettle/sha2.h>

void np_sha256(np_str s, uint8_t out[NP_SHA256]) {
  struct sha256_ctx ctx;
  sha256_init(&ctx);
  sha256_update(&ctx, s.n, (const uint8_t *)s.p);
  sha256_digest(&ctx, NP_SHA256, out);
}

_Static_assert(sizeof(struct sha256_ctx) <= sizeof(np_sha), "np_sha is too small");

static struct sha256_ctx *state_of(np_sha *sha) {
  return (struct sha256_ctx *)(void *)sha->room;
}

void np_sha_begin(np_sha *sha) {
  sha256_init(state_of(sha));
}

void np_sha_add(np_sha *sha, np_str s) {
  sha256_update(state_of(sha), s.n, (const uint8_t *)s.p);
}

void np_sha_end(const np_sha *sha, uint8_t out[NP_SHA256]) {
  np_sha copy = *sha;
  sha256_digest(state_of(&copy), NP_SHA256, out);
}

void np_hmac_sha256(np_str key, np_str s, uint8_t out[NP_SHA256]) {
  struct hmac_sha256_ctx ctx;
  hmac_sha256_set_key(&ctx, key.n, (const uint8_t *)key.p);
  hmac_sha256_update(&ctx, s.n, (const uint8_t *)s.p);
  hmac_sha256_digest(&ctx, NP_SHA256, out);
}

void np_hex(const uint8_t *p, size_t n, char *out) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < n; i++) {
    out[2 * i] = digits[p[i] >> 4];
    out[2 * i + 1] = digits[p[i] & 15];
  }
}

/* Eight bytes, little-endian whatever the machine. */
static uint64_t load64(const char *p, size_t n) {
  uint64_t v = 0;
  for (size_t i = 0; i < n; i++) v |= (uint64_t)(unsigned char)p[i] << (8 * i);
  return v;
}

static uint64_t mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xD6E8FEB86659FD93ull;
  h ^= h >> 29;
  h *= 0xA0761D6478BD642Full;
  return h ^ (h >> 32);
}

/* In full, so that compilers make one load of it. */
static inline uint64_t word(const char *s) {
  const unsigned char *p = (const unsigned char *)s;
  return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
         (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 |
         (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static inline uint64_t half(const char *s) {
  const unsigned char *p = (const unsigned char *)s;
  return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
         (uint64_t)p[3] << 24;
}

/* The 1 to 7 bytes that end a text of `n`, lowest first: by loads that may overlap. */
static inline uint64_t rest(const char *p, size_t n) {
  const unsigned char *s = (const unsigned char *)p;
  size_t k = n & 7, at = n - k;
  if (n >= 8) return word(p + n - 8) >> ((64 - 8 * k) & 63);
  if (k < 4) {
    return (uint64_t)s[0] | (uint64_t)s[k / 2] << (8 * (k / 2)) |
           (uint64_t)s[k - 1] << (8 * (k - 1));
  }
  return half(p + at) | half(p + n - 4) << (8 * (k - 4));
}

uint64_t np_hash64(np_str s) {
  uint64_t h = 0x9E3779B97F4A7C15ull ^ s.n;
  size_t i = 0;
  if (s.n - 1 < 7) return mix(h ^ rest(s.p, s.n)); /* 1 to 7 bytes */
  for (; s.n - i >= 8; i += 8) h = mix(h ^ word(s.p + i)) + 0xE7037ED1A0B428DBull;
  if (i < s.n) h = mix(h ^ rest(s.p, s.n));
  return mix(h);
}

/* ---- the sum of files ---- */

static inline uint64_t stir(uint64_t lane, uint64_t v) {
  lane = (lane ^ v) * 0xA0761D6478BD642Full;
  return lane << 29 | lane >> 35;
}

uint64_t np_sum64(uint64_t seed, np_str s) {
  uint64_t a = seed ^ 0x243F6A8885A308D3ull, b = seed ^ 0x13198A2E03707344ull;
  uint64_t c = seed ^ 0xA4093822299F31D0ull, d = seed ^ 0x082EFA98EC4E6C89ull;
  size_t i = 0;
  for (; s.n - i >= 32; i += 32) {
    a = stir(a, word(s.p + i));
    b = stir(b, word(s.p + i + 8));
    c = stir(c, word(s.p + i + 16));
    d = stir(d, word(s.p + i + 24));
  }
  for (; s.n - i >= 8; i += 8) a = stir(a, word(s.p + i));
  if (i < s.n) b = stir(b, load64(s.p + i, s.n - i));
  return mix(mix(mix(mix(a ^ s.n) ^ b) ^ c) ^ d);
}
