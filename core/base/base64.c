/*
** Base64, three bytes at a time. One text for the same bytes: what would be read otherwise
** (line ends, bits behind the last byte) is refused. next: hash.c
*/
#include "base/base64.h"

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void np_base64(np_buf *out, np_str s) {
  if (!np_buf_reserve(out, s.n / 3 * 4 + 4)) return;
  for (size_t i = 0; i < s.n; i += 3) {
    size_t n = s.n - i < 3 ? s.n - i : 3;
    uint32_t v = 0;
    for (size_t k = 0; k < 3; k++) v = v << 8 | (k < n ? (unsigned char)s.p[i + k] : 0);
    for (size_t k = 0; k < 4; k++)
      np_buf_addc(out, k > n ? '=' : digits[v >> (18 - 6 * k) & 63]);
  }
}

static int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool np_base64_read(np_str t, np_buf *out) {
  if (t.n % 4 || !np_buf_reserve(out, t.n / 4 * 3)) return t.n == 0;
  for (size_t i = 0; i < t.n; i += 4) {
    bool last = i + 4 == t.n;
    size_t n = last && t.p[i + 3] == '=' ? (t.p[i + 2] == '=' ? 1 : 2) : 3;
    uint32_t v = 0;
    for (size_t k = 0; k < 4; k++) {
      int d = k > n ? 0 : value_of(t.p[i + k]);
      if (d < 0) return false;
      v = v << 6 | (uint32_t)d;
    }
    if (v & (n == 1 ? 0xFFFFu : n == 2 ? 0xFFu : 0)) return false;
    for (size_t k = 0; k < n; k++) np_buf_addc(out, (char)(v >> (16 - 8 * k) & 255));
  }
  return true;
}
