/*
** Slices: pointer and length, never NUL-terminated. Everything that passes through
** the core is one of these, so that untouched bytes can be handed on as they came.
** next: buf.h
*/
#ifndef NP_BASE_STR_H
#define NP_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "neap.h"

typedef neap_str np_str;

#define NP_LIT(s) ((np_str){(s), sizeof(s) - 1})
#define NP_COUNT(a) (sizeof(a) / sizeof((a)[0]))

static inline np_str np_str_of(const char *p, size_t n) {
  return (np_str){p, n};
}

static inline np_str np_str_cstr(const char *s) {
  return (np_str){s, s ? strlen(s) : 0};
}

static inline bool np_str_eq(np_str a, np_str b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool np_str_is(np_str a, const char *s) {
  return np_str_eq(a, np_str_cstr(s));
}

/* Is there anything but spaces and controls in it? */
static inline bool np_str_says(np_str s) {
  for (size_t i = 0; i < s.n; i++) {
    unsigned char c = (unsigned char)s.p[i];
    if (c > 0x20 && c != 0x7F) return true;
  }
  return false;
}

/* The order of bytes, shorter first when one begins the other. */
static inline int np_str_cmp(np_str a, np_str b) {
  size_t n = a.n < b.n ? a.n : b.n;
  int c = n ? memcmp(a.p, b.p, n) : 0;
  return c ? c : (a.n > b.n) - (a.n < b.n);
}

/* The bytes [from, to) of `s`, both ends clamped to it. */
static inline np_str np_str_cut(np_str s, size_t from, size_t to) {
  if (to > s.n) to = s.n;
  if (from > to) from = to;
  return (np_str){s.p + from, to - from};
}

/* Offset of `needle` in `s` from `at` on, or SIZE_MAX. Linear time in practice: the
** first byte is found with memchr. */
size_t np_str_find(np_str s, np_str needle, size_t at);

/* Length (1 to 4) of the well-formed UTF-8 sequence at p, or 0: no overlong forms, no
** surrogates, nothing above U+10FFFF. */
size_t np_utf8_len(const char *p, const char *end);

/* Checked sums and products for every size that comes from outside. */
static inline bool np_add_ok(size_t a, size_t b, size_t *out) {
  if (a > SIZE_MAX - b) return false;
  *out = a + b;
  return true;
}

static inline bool np_mul_ok(size_t a, size_t b, size_t *out) {
  if (b && a > SIZE_MAX / b) return false;
  *out = a * b;
  return true;
}

#endif
