/*
** Cuts pieces 64 bytes at a time, from sets of classes with one bit a byte. A block begins
** where a piece does, so it needs nothing from before; where it ends, what may depend on
** bytes not seen is left to the next block, which begins at the last piece found. What the
** sets cannot tell, np_split_next does: pieces with numbers beyond ASCII, and some seams
** between letters with and without case. A file that includes this defines NP_READ_BLOCK,
** NP_READ_HIGH, NP_HAVE_BITS, NP_SPREAD_BITS first, or gets those in plain C. next: split_avx2.c
*/
#ifndef NP_TOKEN_SPLIT_BLOCK_H
#define NP_TOKEN_SPLIT_BLOCK_H

#include "token/split_wide.h"

/* void (const uint8_t p[64], np_block *b): sets all of *b, as far as bytes below 0x80 go. */
#ifndef NP_READ_BLOCK
#include "token/split_plain.h"
#define NP_READ_BLOCK np_read_plain
#endif

#define NP_TOP ((uint64_t)1 << 63)

/* The lowest n bits, n from 0 to 64. */
NP_INLINE uint64_t np_below(unsigned n) {
  return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
}

/* Writes base + i for each bit i, eight at a time: there must be room for 64. */
#ifndef NP_SPREAD_BITS
#define NP_SPREAD_BITS np_spread_plain
NP_INLINE void np_spread_plain(uint64_t bits, uint32_t base, uint32_t *out) {
  for (; bits; out += 8) {
    for (unsigned i = 0; i < 8; i++, bits &= bits - 1) {
      out[i] = base + (bits ? np_low_zeros(bits) : 0);
    }
  }
}
#endif

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
NP_INLINE uint64_t np_digit_groups(uint64_t digit) {
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

/* Contractions. For o200k one belongs to the word before it, though not to another
** contraction; for cl100k it is a piece. Both end the piece. */
NP_INLINE uint64_t np_contract(np_split_kind kind, const np_block *b, const uint8_t *p,
                               const uint8_t *end, uint64_t lead, uint64_t starts) {
  uint64_t at = b->quote & (kind == NP_SPLIT_O200K ? b->letter << 1 : lead);
  at &= (b->letter | b->high) >> 1 | NP_TOP;
  while (at) {
    unsigned i = np_low_zeros(at), n = np_split_contraction(p + i, end);
    at &= at - 1;
    if (!n) continue;
    uint64_t next = i + n < 64 ? (uint64_t)1 << (i + n) : 0;
    starts |= next;
    if (kind == NP_SPLIT_CL100K) continue;
    starts &= ~(np_below(n) << i); /* also the seam in 'vE */
    at &= ~next;
  }
  return starts;
}

/* The bits where pieces begin, of the first *n bytes at p; lowers *n to where the sets
** cannot tell how it goes on. Right as far as nothing from *n on matters. */
NP_INLINE uint64_t np_starts(np_split_kind kind, np_block *b, const uint8_t *p,
                             const uint8_t *end, unsigned *n) {
  bool cased = kind == NP_SPLIT_O200K;
  uint64_t known = np_below(*n);
  uint64_t symbol = known & ~(b->letter | b->digit | b->space | b->line);
  if (cased && b->high) {
    uint64_t unclear = (b->mark & symbol << 1) | (b->upper & b->both << 1);
    if (unclear & known) *n = np_low_zeros(unclear);
    known = np_below(*n);
    symbol &= known;
  }
  uint64_t letter = b->letter & known, line = b->line & known;
  b->letter = letter;
  b->space &= known;
  b->line = line;
  uint64_t ends = line & symbol << 1; /* line ends that end symbols; / may follow them */
  uint64_t taken = np_fill_up(ends, cased ? line | (b->slash & known) : line);
  symbol &= ~taken;
  uint64_t lead = symbol & ~(symbol << 1) & ~(b->blank << 1);
  uint64_t starts = letter & ~(letter << 1 | b->space << 1 | np_after(b, lead));
  if (cased) starts |= b->upper & (letter & ~b->upper & ~b->both) << 1;
  starts |= lead | np_digit_groups(b->digit & known);
  starts |= np_white_starts(b, taken, known & ~(b->space | line));
  return np_contract(kind, b, p, end, lead, starts) & known;
}

/* Bytes that may be passed over when a block of n bytes is all one piece that goes on: what
** follows would end the same had the piece begun there. 0 when unsure. Two of a kind are
** left in front where a single one would lead what follows. */
NP_INLINE unsigned np_pass(np_split_kind kind, const np_block *b, const uint8_t *p,
                           unsigned n) {
  if (n < 32 || b->quote >> (n - 4)) return 0;
  uint64_t last = (uint64_t)3 << (n - 2), white = b->space | b->line;
  if (b->letter >> (n - 1)) {
    uint64_t lower = b->letter & ~b->upper & ~b->both;
    if (kind == NP_SPLIT_O200K && !(lower >> (n - 1)) && lower) return 0;
    while ((p[--n] & 0xC0) == 0x80) continue;
    return n;
  }
  if (b->high || b->digit) return 0;
  if ((white & np_below(n)) == np_below(n)) {
    return !b->line ? n - 2 : b->line >> (n - 1) ? n - 1 : 0;
  }
  return !((b->letter | white) & ~b->blank) && !(b->blank & last) ? n - 2 : 0;
}

/* What the n bytes at p hold. Fewer than 64 are read as the end of 64 when `first` is so
** far before, or else from a copy. Returns how many the sets can tell about. */
NP_INLINE unsigned np_read(np_split_kind kind, const uint8_t *first, const uint8_t *p,
                           const uint8_t *end, unsigned n, np_block *b) {
  uint8_t copy[64];
  const uint8_t *from = p;
  unsigned off = 0;
  if (n < 64 && p - first >= 64) {
    off = 64 - n;
    from = p - off;
  } else if (n < 64) {
    memset(copy, 0, sizeof copy);
    memcpy(copy, p, n);
    from = copy;
  }
  NP_READ_BLOCK(from, b);
  b->letter >>= off;
  b->upper >>= off;
  b->digit >>= off;
  b->blank >>= off;
  b->space >>= off;
  b->line >>= off;
  b->quote >>= off;
  b->slash >>= off;
  b->high >>= off;
  if (!b->high) return n;
  np_high h;
  NP_READ_HIGH(from, &h);
  h.tail >>= off;
  h.from_e0 >>= off;
  h.from_f0 >>= off;
  h.even >>= off;
  return np_wide_add(kind, p, end, n, &h, b);
}

NP_INLINE size_t np_put_ends(uint64_t bits, uint32_t base, uint32_t *ends, size_t n,
                             size_t cap) {
  unsigned count = np_ones(bits);
  if (cap - n >= 64) {
    NP_SPREAD_BITS(bits, base, ends + n);
    return n + count;
  }
  for (; bits && n < cap; bits &= bits - 1) ends[n++] = base + np_low_zeros(bits);
  return n;
}

/* The whole of it. When a piece is longer than a block q stands inside it; only ends are
** written, so that does no harm. */
NP_INLINE size_t np_cut(np_split_kind kind, const uint8_t *p, const uint8_t *end,
                        uint32_t *ends, size_t cap) {
  const uint8_t *q = p;
  size_t count = 0;
  while (count < cap && q < end && (size_t)(q - p) <= NP_SPLIT_REACH - 64) {
    size_t left = (size_t)(end - q);
    np_block b;
    unsigned n = np_read(kind, p, q, end, left < 64 ? (unsigned)left : 64, &b);
    uint64_t starts = np_starts(kind, &b, q, end, &n) & ~(uint64_t)1;
    bool all = left == n;
    if (!all && n) { /* a run of white space at the end: only where it begins is known */
      uint64_t other = np_below(n) & ~(b.space | b.line);
      starts &= np_below(other ? 65 - np_high_zeros(other) : 0);
    }
    uint32_t base = (uint32_t)(q - p);
    if (starts) {
      count = np_put_ends(starts, base, ends, count, cap);
      if (count == cap) break;
      q += 63 - np_high_zeros(starts);
    }
    if (all) {
      ends[count++] = (uint32_t)(end - p);
      break;
    }
    if (starts) continue;
    unsigned over = np_pass(kind, &b, q, n);
    q += over;
    if (over) continue;
    q += np_split_next(kind, q, end);
    if ((size_t)(q - p) > NP_SPLIT_REACH) break;
    ends[count++] = (uint32_t)(q - p);
  }
  return count;
}

#endif
