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

uint64_t np_hash64(np_str s) {
  uint64_t h = 0x9E3779B97F4A7C15ull ^ s.n;
  size_t i = 0;
  for (; s.n - i >= 8; i += 8) h = mix(h ^ load64(s.p + i, 8)) + 0xE7037ED1A0B428DBull;
  if (i < s.n) h = mix(h ^ load64(s.p + i, s.n - i));
  return mix(h);
}
