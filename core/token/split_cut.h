/*
** Cuts pieces 64 bytes at a time. A block begins where a piece does; where it ends, what may
** depend on bytes not seen is left to the next block, which begins at the last piece found.
** A file that includes this defines NP_READ_BLOCK, NP_READ_HIGH, NP_HAVE_BITS and
** NP_SPREAD_BITS first, or gets those in plain C. next: split_plain.h
*/
#ifndef NP_TOKEN_SPLIT_CUT_H
#define NP_TOKEN_SPLIT_CUT_H

#include "token/split_block.h"

/* void (const uint8_t p[64], np_block *b): sets all of *b, as far as bytes below 0x80 go. */
#ifndef NP_READ_BLOCK
#include "token/split_plain.h"
#define NP_READ_BLOCK np_read_plain
#define NP_WIDE_SINGLY /* eight bytes at a time that gains nothing */
#endif
#ifndef NP_WIDE_SINGLY
#include "token/split_wide.h"
#endif

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

/* What the n bytes at p hold. Fewer than 64 are read as the end of 64 when `first` is so
** far before, or else from a copy. Returns how many the sets can tell about. */
NP_INLINE unsigned np_read(unsigned rules, const uint8_t *first, const uint8_t *p,
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
#ifdef NP_WIDE_SINGLY
  (void)rules, (void)end;
  return np_low_zeros(b->high);
#else
  np_high h;
  NP_READ_HIGH(from, &h);
  h.tail >>= off;
  h.from_e0 >>= off;
  h.from_f0 >>= off;
  h.even >>= off;
  return np_wide_add(rules, p, end, n, &h, b);
#endif
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

/* What is told from one block to the next. */
typedef struct np_cutting {
  const uint8_t *p, *end; /* the text */
  const uint8_t *slow;    /* where np_split_next was last needed */
  size_t singly;          /* and for how many bytes it was kept to then */
  uint32_t *ends;
  size_t count, cap;
} np_cutting;

/* The usual case in a loop of its own, with no calls: as long as blocks are ASCII, have no
** contraction, and there is room for all that a block can give. */
NP_INLINE const uint8_t *np_cut_ascii(unsigned rules, const uint8_t *q, np_cutting *c) {
  const uint8_t *p = c->p, *end = c->end;
  size_t n = c->count;
  while (end - q > 64 && c->cap - n >= 64 && (size_t)(q - p) <= NP_SPLIT_REACH - 64) {
    np_block b;
    uint64_t lead;
    NP_READ_BLOCK(q, &b);
    if (b.high) break;
    b.high = 0; /* so that the compiler knows */
    uint64_t starts = np_starts(rules, &b, UINT64_MAX, &lead) & np_sure(&b, UINT64_MAX);
    starts &= ~(uint64_t)1;
    if (!starts || np_quotes(rules, &b, lead)) break;
    NP_SPREAD_BITS(starts, (uint32_t)(q - p), c->ends + n);
    n += np_ones(starts);
    q += 63 - np_high_zeros(starts);
  }
  c->count = n;
  return q;
}

/* Within a run of one byte, as far as two of it are left in front. */
NP_INLINE const uint8_t *np_same(const uint8_t *q, const uint8_t *end) {
  enum { STEP = 256 };
  while (end - q > STEP && memcmp(q, q + 1, STEP) == 0) q += STEP - 1;
  return q;
}

/* Pieces one by one: one, or more when that was needed shortly before, twice as far each
** time. So blocks are not read again and again for little. Where characters of several
** bytes are not read into sets it goes on as long as there are more of them. */
NP_INLINE const uint8_t *np_cut_singly(np_split_kind kind, const uint8_t *q,
                                       np_cutting *c) {
  const uint8_t *from = q;
  bool more;
#ifdef NP_WIDE_SINGLY
  c->singly = 256;
#else
  c->singly = q - c->slow < 64 ? 2 * c->singly + 8 : 0;
  if (c->singly > 256) c->singly = 256;
#endif
  do {
    q += np_split_next(kind, q, c->end);
    if ((size_t)(q - c->p) > NP_SPLIT_REACH) return NULL;
    c->ends[c->count++] = (uint32_t)(q - c->p);
    more = (size_t)(q - from) < c->singly;
#ifdef NP_WIDE_SINGLY
    more |= c->end - q >= 8 && (np_load8(q) & 0x80 * NP_EACH);
#endif
  } while (more && q < c->end && c->count < c->cap);
  c->slow = q;
  return q;
}

/* One block. Returns where to go on, NULL when no more is to be done. */
NP_INLINE const uint8_t *np_cut_block(np_split_kind kind, const uint8_t *q,
                                      np_cutting *c) {
  unsigned rules = np_split_rules_of(kind);
  size_t left = (size_t)(c->end - q);
  np_block b;
  uint64_t lead;
  unsigned n = np_read(rules, c->p, q, c->end, left < 64 ? (unsigned)left : 64, &b);
  n = np_limit(rules, &b, n);
  uint64_t known = np_below(n), starts = np_starts(rules, &b, known, &lead);
  starts = np_contract(rules, np_quotes(rules, &b, lead), q, c->end, starts);
  starts &= known & ~(uint64_t)1;
  if (left != n) starts &= np_sure(&b, known);
  if (starts) {
    c->count = np_put_ends(starts, (uint32_t)(q - c->p), c->ends, c->count, c->cap);
    if (c->count == c->cap) return NULL;
    q += 63 - np_high_zeros(starts);
  }
  if (left == n) {
    c->ends[c->count++] = (uint32_t)(c->end - c->p);
    return NULL;
  }
  if (starts) return q;
  unsigned over = np_pass(rules, &b, q, n);
  return over ? np_same(q + over, c->end) : np_cut_singly(kind, q, c);
}

/* Has the instruction that counts leading zeros, which the system is not asked for: where
** it is unknown it is taken for another one. */
NP_INLINE bool np_counts_zeros(void) {
  volatile uint64_t one = 1;
  return np_high_zeros(one) == 63;
}

/* The whole of it. When a piece is longer than a block q stands inside it; only ends are
** written, so that does no harm. */
NP_INLINE size_t np_cut(np_split_kind kind, const uint8_t *p, const uint8_t *end,
                        uint32_t *ends, size_t cap) {
  np_cutting c = {p, end, p, 0, ends, 0, cap};
  const uint8_t *q = p;
  while (q && c.count < cap && q < end && (size_t)(q - p) <= NP_SPLIT_REACH - 64) {
    q = np_cut_ascii(np_split_rules_of(kind), q, &c);
    if (c.count == cap || (size_t)(q - p) > NP_SPLIT_REACH - 64) break;
    q = np_cut_block(kind, q, &c);
  }
  return c.count;
}

/* Made anew for the two kinds that matter most. */
NP_INLINE size_t np_cut_kind(np_split_kind kind, const uint8_t *p, const uint8_t *end,
                             uint32_t *ends, size_t cap) {
  switch (kind) {
    case NP_SPLIT_O200K: return np_cut(NP_SPLIT_O200K, p, end, ends, cap);
    case NP_SPLIT_CL100K: return np_cut(NP_SPLIT_CL100K, p, end, ends, cap);
    default: return np_cut(kind, p, end, ends, cap);
  }
}

#endif
