/*
** Many pieces at once, in plain C. next: split_avx2.c
*/
#include "token/split_cut.h"

size_t np_split_plain(np_split_kind kind, const uint8_t *p, const uint8_t *end,
                      uint32_t *ends, size_t cap) {
  return np_cut_kind(kind, p, end, ends, cap);
}
