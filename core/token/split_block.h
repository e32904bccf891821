/*
** From sets of classes with one bit a byte to the places where pieces begin, for up to 64
** bytes. The first byte begins a piece, so nothing from before is needed. What the sets
** cannot tell they leave to np_split_next, as numbers beyond ASCII and some seams between
** letters with and without case. next: split_wide.h
*/
#ifndef NP_TOKEN_SPLIT_BLOCK_H
#define NP_TOKEN_SPLIT_BLOCK_H

#include "token/split_many.h"

#include "base/port.h"

#define NP_TOP ((uint64_t)1 << 63)

/* The lowest n bits, n from 0 to 64. */
NP_INLINE uint64_t np_below(unsigned n) {
  return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
}

/* The bits of `in` that a run of `in` joins to a bit of `from` below them. */
NP_INLINE uint64_t np_fill_up(uint64_t from, uint64_t in) {
  return in & (((in + from) ^ in) | from);
}

/* The same for a bit of `from` above them; from is part of `in`. */
NP_INLINE uint64_t np_fill_down(uint64_t from, uint64_t in) {
  for (unsigned k = 1; k < 64; k *= 2) {
    from |= from >> k & in;
    in &= in >> k;
  }
  return from;
}

/* Every third bit of each run of digits, beginning with its first. */
NP_INLINE uint64_t np_digit_groups(unsigned rules, uint64_t digit) {
  if (rules & NP_RULE_ONE) return digit;
  uint64_t from = digit & ~(digit << 1);
  uint64_t far = digit & digit << 1 & digit << 2 & digit << 3; /* three more before it */
  for (unsigned k = 3; far && k < 64; k *= 2) {
    from |= from << k & far;
    far &= far << k;
  }
  return from;
}

/* Where the character after each one of `at` begins, and the first byte of each character
** whose last byte is in `at`: symbols and spaces only. */
NP_INLINE uint64_t np_after(const np_block *b, uint64_t at) {
  if (!b->high) return at << 1;
  return (at & ~(b->two | b->three | b->four)) << 1 | (at & b->two) << 2 |
         (at & b->three) << 3 | (at & b->four) << 4;
}
NP_INLINE uint64_t np_first_byte(const np_block *b, uint64_t at) {
  if (!b->high) return at;
  return (at & ~(b->two << 1 | b->three << 2)) | (at >> 1 & b->two) |
         (at >> 2 & b->three);
}

/* White space: a run begins a piece; what follows its last line end does, unless symbols
** before took the line ends (`taken`); and its last character, when something follows. */
NP_INLINE uint64_t np_white_starts(const np_block *b, uint64_t taken, uint64_t rest) {
  uint64_t space = b->space, white = space | b->line, line = b->line & ~taken;
  uint64_t from = (space | line) & ~(white << 1);
  from |= space & taken << 1;
  uint64_t after = space & line << 1, more = space & b->line >> 1;
  if (more) after &= ~np_fill_down(more, space); /* a line end follows: rare */
  return from | after | np_first_byte(b, space & rest >> 1);
}

/* The bits where pieces begin, but for contractions. `known`: the bytes that are there; what
** depends on others is not right. *lead gets the symbols that begin a piece. */
NP_INLINE uint64_t np_starts(unsigned rules, const np_block *b, uint64_t known,
                             uint64_t *lead) {
  bool cased = rules & NP_RULE_CASED;
  uint64_t symbol = known & ~(b->letter | b->digit | b->space | b->line);
  uint64_t ends = b->line & symbol
                                << 1; /* line ends that end symbols; / may follow them */
  uint64_t taken = np_fill_up(ends, cased ? b->line | b->slash : b->line);
  symbol &= ~taken;
  *lead = symbol & ~(symbol << 1) & ~(b->blank << 1);
  uint64_t starts = b->letter & ~(b->letter << 1 | b->space << 1 | np_after(b, *lead));
  if (cased) starts |= b->upper & (b->letter & ~b->upper & ~b->both) << 1;
  starts |= *lead | np_digit_groups(rules, b->digit);
  return starts | np_white_starts(b, taken, known & ~(b->space | b->line));
}

/* Quotes that may begin a contraction: at the end of a word, or of a piece. */
NP_INLINE uint64_t np_quotes(unsigned rules, const np_block *b, uint64_t lead) {
  uint64_t at = rules & NP_RULE_TAIL ? b->letter << 1 : rules & NP_RULE_PIECE ? lead : 0;
  return at & b->quote & ((b->letter | b->high) >> 1 | NP_TOP);
}

/* Contractions at some of the quotes `at`. One that belongs to the word before does not
** belong to another contraction. Either way it ends the piece. */
NP_INLINE uint64_t np_contract(unsigned rules, uint64_t at, const uint8_t *p,
                               const uint8_t *end, uint64_t starts) {
  while (at) {
    unsigned i = np_low_zeros(at), n = np_split_contraction(p + i, end);
    at &= at - 1;
    if (!n) continue;
    uint64_t next = i + n < 64 ? (uint64_t)1 << (i + n) : 0;
    starts |= next;
    if (rules & NP_RULE_PIECE) continue;
    starts &= ~(np_below(n) << i); /* also the seam in 'vE */
    at &= ~next;
  }
  return starts;
}

/* Cuts the sets to the first n bytes, or fewer: to what they can tell about. With case
** that is neither marks after symbols nor upper case after letters without case. */
NP_INLINE unsigned np_limit(unsigned rules, np_block *b, unsigned n) {
  if ((rules & NP_RULE_CASED) && b->high) {
    uint64_t symbol = ~(b->letter | b->digit | b->space | b->line);
    uint64_t unclear = (b->mark & symbol << 1) | (b->upper & b->both << 1);
    unclear &= np_below(n);
    if (unclear) n = np_low_zeros(unclear);
  }
  uint64_t known = np_below(n);
  b->letter &= known;
  b->upper &= known;
  b->digit &= known;
  b->space &= known;
  b->line &= known;
  b->slash &= known;
  return n;
}

/* Of a block with more after it: where a run of white space reaches its end, only where it
** begins is known. */
NP_INLINE uint64_t np_sure(const np_block *b, uint64_t known) {
  uint64_t other = known & ~(b->space | b->line);
  return other ? UINT64_MAX >> (np_high_zeros(other) - (np_high_zeros(other) != 0)) : 0;
}

/* Bytes that may be passed over when a block of n bytes is all one piece that goes on: what
** follows would end the same had the piece begun there. 0 when unsure. Two of a kind are
** left in front where a single one would lead what follows. */
NP_INLINE unsigned np_pass(unsigned rules, const np_block *b, const uint8_t *p,
                           unsigned n) {
  if (n < 32 || b->quote >> (n - 4)) return 0;
  uint64_t last = (uint64_t)3 << (n - 2), white = b->space | b->line;
  if (b->letter >> (n - 1)) {
    uint64_t lower = b->letter & ~b->upper & ~b->both;
    if ((rules & NP_RULE_CASED) && !(lower >> (n - 1)) && lower) return 0;
    while ((p[--n] & 0xC0) == 0x80) continue;
    return n;
  }
  if (b->high || b->digit) return 0;
  if ((white & np_below(n)) == np_below(n)) {
    return !b->line ? n - 2 : b->line >> (n - 1) ? n - 1 : 0;
  }
  return !((b->letter | white) & ~b->blank) && !(b->blank & last) ? n - 2 : 0;
}

#endif
