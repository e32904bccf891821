/*
** Adds to the sets of a block what its characters of several bytes are. Each is looked up,
** but for the letters of Han and Hangul, which are seen from their bytes. Classes are
** written side by side into 64 bytes, which are then read as the text is.
** A file that includes this defines NP_HAVE_BITS, a uint64_t (const uint8_t p[64], uint8_t
** bits): the bytes that have one of these bits. next: split_cut.h
*/
#ifndef NP_TOKEN_SPLIT_WIDE_H
#define NP_TOKEN_SPLIT_WIDE_H

#include "token/split_class.h"
#include "token/split_many.h"

#include "base/port.h"

/* Class of the character at p, of which four bytes can be read; 0 when it is invalid. The
** two tests of three bytes are for forms too long and surrogates. */
NP_INLINE unsigned np_wide_quick(const uint8_t *p) {
  uint32_t w = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
  if (!(w & 0x20)) {
    uint32_t cp = (w & 0x1F) << 6 | (w >> 8 & 0x3F);
    return (w & 0xC000) == 0x8000 && cp >= 0x80 ? np_class_of(cp) : 0;
  }
  if (!(w & 0x10)) {
    uint32_t cp = (w & 0x0F) << 12 | (w >> 2 & 0xFC0) | (w >> 16 & 0x3F);
    bool good = (w & 0xC0C000) == 0x808000 && cp >= 0x800 && cp >> 11 != 0x1B;
    return good ? np_class_of(cp) : 0;
  }
  uint32_t cp;
  size_t len;
  return np_class_decode(p, p + 4, &cp, &len) ? np_class_of(cp) : 0;
}

/* Near the end of the text. */
NP_INLINE unsigned np_wide_slow(const uint8_t *p, const uint8_t *end) {
  uint32_t cp;
  size_t len;
  return np_class_decode(p, end, &cp, &len) ? np_class_of(cp) : 0;
}

/* Classes of the characters that begin at `at`, one byte for each of theirs; what follows
** a character may be overwritten. Returns where valid ones begin. */
NP_INLINE uint64_t np_wide_classes(const uint8_t *p, const uint8_t *end, uint64_t at,
                                   uint8_t classes[68]) {
  uint64_t valid = 0;
  bool roomy = end - p >= 68;
  for (; at; at &= at - 1) {
    unsigned i = np_low_zeros(at);
    uint32_t cls = roomy ? np_wide_quick(p + i) : np_wide_slow(p + i, end);
    if (!cls) continue;
    valid |= at & (0 - at);
    cls *= 0x01010101u;
    memcpy(classes + i, &cls, 4);
  }
  return valid;
}

#ifdef NP_HAVE_BITS

/* Adds the characters of several bytes among the n at p. Returns n, or where the first one
** is that the sets cannot tell: a number, or a character that is cut off by n but not by
** `end`. `h` is what the bytes say. */
NP_INLINE unsigned np_wide_add(unsigned rules, const uint8_t *p, const uint8_t *end,
                               unsigned n, const np_high *h, np_block *b) {
  uint64_t lead = b->high & ~h->tail, three = h->from_e0 & ~h->from_f0, stop = 0;
  if (n < (size_t)(end - p)) {
    stop = lead & ((uint64_t)1 << 63 | (h->from_e0 & (uint64_t)1 << 62) |
                   (h->from_f0 & (uint64_t)1 << 61));
  }
  uint64_t even = h->even & h->tail >> 1 & h->tail >> 2;
  uint64_t all = even | even << 1 | even << 2, valid = even;
  b->letter |= all;
  b->both |= all;
  lead &= ~(even | stop);
  if (lead) {
    uint8_t classes[68];
    uint64_t known = np_wide_classes(p, end, lead, classes), word = NP_CLASS_LETTERS;
    if (rules & NP_RULE_MARKS) word |= NP_CLASS_MARK;
    valid |= known;
    all = known | known << 1 | (known & h->from_e0) << 2 | (known & h->from_f0) << 3;
    b->letter |= all & NP_HAVE_BITS(classes, (uint8_t)word);
    b->space |= all & NP_HAVE_BITS(classes, NP_CLASS_SPACE);
    stop |= known & NP_HAVE_BITS(classes, NP_CLASS_NUMBER);
    if (rules & NP_RULE_CASED) {
      b->upper |= all & NP_HAVE_BITS(classes, NP_CLASS_UPPER);
      b->both |= all & NP_HAVE_BITS(classes, NP_CLASS_BOTH);
      b->mark |= all & NP_HAVE_BITS(classes, NP_CLASS_MARK);
    }
  }
  b->two = valid & ~h->from_e0;
  b->three = valid & three;
  b->four = valid & h->from_f0;
  return stop ? np_low_zeros(stop) : n;
}

#endif

#endif
