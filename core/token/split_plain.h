/*
** Reads 64 bytes into classes with plain C: eight bytes in one word. What the vector
** instructions do, for machines that have none we know. next: split_plain.c
*/
#ifndef NP_TOKEN_SPLIT_PLAIN_H
#define NP_TOKEN_SPLIT_PLAIN_H

#include "token/split_many.h"

#include "base/port.h"

#define NP_EACH 0x0101010101010101u

/* The top bit of each byte of w, which has no top bit set, that is in from..to. */
static inline uint64_t np_in_range(uint64_t w, uint64_t from, uint64_t to) {
  return (w + (0x80 - from) * NP_EACH) ^ (w + (0x7F - to) * NP_EACH);
}

/* Gathers the eight top bits: the product has bit i of its top byte from byte i alone. */
static inline uint64_t np_gather(uint64_t w, uint64_t keep) {
  return (((w & keep) >> 7) * 0x0102040810204080u) >> 56;
}

static inline uint64_t np_load8(const uint8_t *p) {
  uint64_t w = 0;
  for (unsigned i = 0; i < 8; i++) w |= (uint64_t)p[i] << (8 * i);
  return w;
}

static inline void np_read_plain(const uint8_t *p, np_block *b) {
  memset(b, 0, sizeof *b);
  for (unsigned i = 0; i < 64; i += 8) {
    uint64_t w = np_load8(p + i), x = w & 0x7F * NP_EACH;
    uint64_t keep = ~w & 0x80 * NP_EACH;
    uint64_t letter = np_in_range(x | 0x20 * NP_EACH, 'a', 'z');
    uint64_t line = np_in_range(x, '\n', '\n') | np_in_range(x, '\r', '\r');
    uint64_t blank = np_in_range(x, ' ', ' ');
    uint64_t space = (np_in_range(x, 9, 13) & ~line) | blank;
    b->letter |= np_gather(letter, keep) << i;
    b->upper |= np_gather(letter & ~(x << 2), keep) << i; /* 0x20 tells the case */
    b->digit |= np_gather(np_in_range(x, '0', '9'), keep) << i;
    b->blank |= np_gather(blank, keep) << i;
    b->space |= np_gather(space, keep) << i;
    b->line |= np_gather(line, keep) << i;
    b->quote |= np_gather(np_in_range(x, '\'', '\''), keep) << i;
    b->slash |= np_gather(np_in_range(x, '/', '/'), keep) << i;
    b->high |= np_gather(w, 0x80 * NP_EACH) << i;
  }
}

#endif
