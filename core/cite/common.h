/*
** Common characters of Chinese: a pair of characters is a word when it holds none of them.
** next: common.c
*/
#ifndef NP_CITE_COMMON_H
#define NP_CITE_COMMON_H

#include "base/str.h"

extern const uint16_t np_common_chars[256];

static inline size_t np_common_at(uint32_t c) {
  return (c * 0x5E9A548Fu) >> 24; /* found by trying: no two of the 62 meet */
}

static inline bool np_is_common(uint32_t c) {
  return c && np_common_chars[np_common_at(c)] == c;
}

#endif
