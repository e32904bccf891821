/*
** Search in slices, and what a UTF-8 sequence is. next: mem.c
*/
#include "base/str.h"

size_t np_str_find(np_str s, np_str needle, size_t at) {
  if (needle.n == 0) return at <= s.n ? at : SIZE_MAX;
  while (at < s.n && s.n - at >= needle.n) {
    const char *p = memchr(s.p + at, needle.p[0], s.n - at - needle.n + 1);
    if (!p) return SIZE_MAX;
    if (memcmp(p, needle.p, needle.n) == 0) return (size_t)(p - s.p);
    at = (size_t)(p - s.p) + 1;
  }
  return SIZE_MAX;
}

/* The second byte's range depends on the first (Unicode, table 3-7). */
static bool second_ok(unsigned char a, unsigned char b) {
  unsigned char lo = a == 0xE0 ? 0xA0 : a == 0xF0 ? 0x90 : 0x80;
  unsigned char hi = a == 0xED ? 0x9F : a == 0xF4 ? 0x8F : 0xBF;
  return b >= lo && b <= hi;
}

size_t np_utf8_len(const char *p, const char *end) {
  if (p >= end) return 0;
  unsigned char a = (unsigned char)*p;
  if (a < 0x80) return 1;
  size_t n = a < 0xC2 ? 0 : a < 0xE0 ? 2 : a < 0xF0 ? 3 : a < 0xF5 ? 4 : 0;
  if (n == 0 || (size_t)(end - p) < n || !second_ok(a, (unsigned char)p[1])) return 0;
  for (size_t i = 2; i < n; i++) {
    if (((unsigned char)p[i] & 0xC0) != 0x80) return 0;
  }
  return n;
}
