/*
** UTF-8: well-formed sequences as the standard's table has them (no overlong forms, no
** surrogates, nothing above U+10FFFF). Borders between characters depend only on the bytes
** near them, so a text may be entered anywhere. next: grapheme.c
*/
#include "text/text.h"

#include <utf8proc.h>

static bool is_cont(const char *p) {
  return ((unsigned char)*p & 0xC0) == 0x80;
}

uint32_t np_utf8_decode(const char *p, const char *end, size_t *n) {
  static const unsigned char first[5] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  const unsigned char *s = (const unsigned char *)p;
  if (*s >= 0xE1 && *s <= 0xEC && end - p >= 3 && (s[1] & 0xC0) == 0x80 &&
      (s[2] & 0xC0) == 0x80) { /* nearly all of CJK text; all that is so is well formed */
    *n = 3;
    return (uint32_t)(s[0] & 0x0F) << 12 | (uint32_t)(s[1] & 0x3F) << 6 | (s[2] & 0x3F);
  }
  size_t len = np_utf8_len(p, end);
  *n = len ? len : 1;
  if (len == 0) return 0xFFFD;
  uint32_t c = (unsigned char)*p & first[len];
  for (size_t i = 1; i < len; i++) c = c << 6 | ((unsigned char)p[i] & 0x3F);
  return c;
}

/* The end of a stretch of ASCII, eight bytes at a time. */
static const char *skip_ascii(const char *p, const char *end) {
  uint64_t w;
  for (; end - p >= 8; p += 8) {
    memcpy(&w, p, 8);
    if (w & 0x8080808080808080ull) break;
  }
  while (p < end && (unsigned char)*p < 0x80) p++;
  return p;
}

size_t np_utf8_valid(np_str s) {
  if (s.n == 0) return 0;
  const char *p = s.p, *end = s.p + s.n;
  for (;;) {
    p = skip_ascii(p, end);
    size_t n = np_utf8_len(p, end);
    if (n == 0) return (size_t)(p - s.p);
    p += n;
  }
}

size_t np_utf8_repair(np_str s, np_buf *out) {
  size_t repaired = 0;
  for (;;) {
    size_t ok = np_utf8_valid(s);
    np_buf_add(out, np_str_cut(s, 0, ok));
    if (ok == s.n) return repaired;
    np_buf_adds(out, "\xEF\xBF\xBD");
    repaired++;
    s = np_str_cut(s, ok + 1, s.n);
  }
}

/* A continuation byte belongs to the lead byte at most three before it, if that sequence is
** well-formed and reaches it; otherwise it is a malformed character of its own. */
size_t np_utf8_floor(np_str s, size_t at) {
  if (at >= s.n) return s.n;
  if (!is_cont(s.p + at)) return at;
  for (size_t back = 1; back <= 3 && back <= at; back++) {
    const char *q = s.p + at - back;
    if (is_cont(q)) continue;
    return np_utf8_len(q, s.p + s.n) > back ? at - back : at;
  }
  return at;
}

typedef struct span {
  uint32_t from, to;
} span;

/* Ideographs with their iteration marks and numerals, kana, hangul; no punctuation. */
static const span cjk[] = {
    {0x1100, 0x11FF}, {0x2E80, 0x2FD5},   {0x3005, 0x3007},   {0x3021, 0x3029},
    {0x3031, 0x3035}, {0x3038, 0x303B},   {0x3041, 0x3096},   {0x3099, 0x309A},
    {0x309D, 0x309F}, {0x30A1, 0x30FA},   {0x30FC, 0x30FF},   {0x3131, 0x318E},
    {0x31F0, 0x31FF}, {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA960, 0xA97C},
    {0xAC00, 0xD7A3}, {0xD7B0, 0xD7FB},   {0xF900, 0xFAFF},   {0xFF66, 0xFF9F},
    {0xFFA0, 0xFFDC}, {0x1AFF0, 0x1B16F}, {0x20000, 0x2FFFD}, {0x30000, 0x3FFFD},
};

bool np_is_cjk(uint32_t c) {
  if (c < 0x1100) return false;
  if (c >= 0x4E00 && c <= 0x9FFF) return true; /* nearly all of them */
  for (size_t i = 0; i < NP_COUNT(cjk) && c >= cjk[i].from; i++) {
    if (c <= cjk[i].to) return true;
  }
  return false;
}

bool np_is_letter(uint32_t c) {
  if (c < 0x80) return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
  if (c > 0x10FFFF) return false;
  utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}

bool np_is_mark(uint32_t c) {
  if (c < 0x300 || c > 0x10FFFF) return false;
  utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
  return k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_MC;
}

bool np_is_unseen(uint32_t c) {
  return (c >= 0x7F && c <= 0x9F) || c == 0xAD || c == 0x180E || c == 0x200B ||
         c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
         (c >= 0xE0000 && c <= 0xE007F);
}
