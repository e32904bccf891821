/*
** The class of a character: what the patterns' sets are made of. An invalid byte is a
** character of its own. next: split.c
*/
#ifndef NP_TOKEN_SPLIT_CLASS_H
#define NP_TOKEN_SPLIT_CLASS_H

#include "base/str.h"
#include "token/unicode.h" /* made by gen/unicode.c */

#define NP_CLASS_LETTERS (NP_CLASS_UPPER | NP_CLASS_LOWER | NP_CLASS_LETTER)
/* Stand on either side of a word's seam. */
#define NP_CLASS_BOTH (NP_CLASS_LETTER | NP_CLASS_MARK)

static inline bool np_is_tail(uint8_t c) {
  return (c & 0xC0) == 0x80;
}

/* The code point of the valid multi-byte character at p, with its length, or false: too
** long a form, a surrogate, cut off, or no lead byte at all. */
static inline bool np_class_decode(const uint8_t *p, const uint8_t *end, uint32_t *cp,
                                   size_t *len) {
  size_t room = (size_t)(end - p);
  uint32_t c = p[0];
  if (c < 0xE0) {
    if (c < 0xC2 || room < 2 || !np_is_tail(p[1])) return false;
    *cp = (c & 0x1F) << 6 | (p[1] & 0x3Fu);
    *len = 2;
    return true;
  }
  if (room < 3 || !np_is_tail(p[1]) || !np_is_tail(p[2])) return false;
  if (c < 0xF0) {
    *cp = (c & 0x0F) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    *len = 3;
    return *cp >= 0x800 && (*cp < 0xD800 || *cp > 0xDFFF);
  }
  if (c > 0xF4 || room < 4 || !np_is_tail(p[3])) return false;
  *cp = (c & 0x07) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
  *len = 4;
  return *cp >= 0x10000 && *cp <= 0x10FFFF;
}

static inline unsigned np_class_of(uint32_t cp) {
  unsigned block = np_class_index[cp >> NP_CLASS_SHIFT];
  return np_class_block[block][cp & ((1u << NP_CLASS_SHIFT) - 1)];
}

/* Class of the multi-byte character at p. An invalid byte is a symbol one byte long. */
static inline unsigned np_class_wide(const uint8_t *p, const uint8_t *end, size_t *len) {
  uint32_t cp;
  if (!np_class_decode(p, end, &cp, len)) {
    *len = 1;
    return NP_CLASS_OTHER;
  }
  return np_class_of(cp);
}

#endif
