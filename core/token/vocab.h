/*
** A vocabulary: flat tables that lie in one block of memory, the image, which is built
** from tokens and merges or mapped from a ready file. Inside, an id is a rank: of two
** possible merges the one with the lower id comes first, and a token's parts have lower ids
** than it; `external` turns ranks into the ids a model knows. Every look-up here stays
** inside the image even when its values are hostile: what is used as an index is checked
** when the image is opened or where it is read. next: image.h, then vocab.c
*/
#ifndef NP_TOKEN_VOCAB_H
#define NP_TOKEN_VOCAB_H

#include "base/port.h"
#include "token/split.h"
#include "token/token.h"

#define NP_TOKEN_NONE UINT32_MAX
#define NP_TOKEN_IDS ((uint32_t)1 << 22) /* ids of the outside world are below this */
#define NP_TOKEN_LIMIT (((uint32_t)1 << 20) - 1) /* ranks fit 20 bits in packed keys */
#define NP_TOKEN_LONGEST 255 /* bytes of a token; the rings of bpe.c hold 256 */
#define NP_KEY_LONGEST 15    /* bytes of a token that is its own key */
#define NP_KEY_FAR 255       /* in the place of a key's length: the bytes lie elsewhere */
#define NP_PROBES 1024       /* places a search looks at before it gives up */

/* A piece of up to 15 bytes: they, low ones first, zeros, and the length in the highest
** byte. The key of a longer token has its place among the far bytes << 8 | length in
** `lo` and NP_KEY_FAR in the highest byte. */
typedef struct np_key {
  uint64_t lo, hi;
} np_key;

typedef struct np_special {
  uint32_t id;    /* as the model knows it */
  uint32_t at, n; /* its text, among the texts */
  uint32_t first; /* its first byte */
} np_special;

/* An open table of 2^bits places. Steps of 1, 2, 3 … lead to every place, begin within a
** cache line and, unlike steps of 1, form no long rows when the table is nearly full. */
typedef struct np_slots {
  const void *at;
  uint32_t mask, shift; /* 64 - bits */
} np_slots;

struct np_vocab {
  neap_alloc alloc;
  const np_encoding_info *info;
  np_encoding_info own; /* what `info` is when the encoding is not in our table */
  np_str image;
  void *memory; /* the image, when it is ours to free, or NULL */
  bool mapped;  /* it is a mapped file */
  void *worn;   /* special tokens that are not the image's, or NULL (harmony.c) */
  np_split_kind split;
  uint32_t flags; /* NP_VOCAB_WHOLE … */
  uint32_t tokens, longest, specials, externals;
  const np_key *keys;      /* by rank */
  const uint8_t *far;      /* the bytes of tokens that are longer than a key */
  uint32_t far_n;          /* their number */
  const uint64_t *merges;  /* left << 28 | right << 8 | bytes; an atom is its own parts */
  const uint32_t *shorter; /* the longest token that is a proper prefix, or none */
  np_slots pieces;         /* uint32_t: rank << 12 | atom << 11 | hash; of all tokens */
  np_slots pairs;          /* uint64_t: left << 44 | right << 24 | rank + 1 */
  np_slots maybe;          /* uint64_t: filter of the pairs; most questions end here */
  np_slots known;  /* uint64_t: filter of the tokens that merges make, from 3 bytes */
  np_slots starts; /* uint64_t: lengths << 24 | three bytes that begin tokens */
  np_slots seams;  /* uint64_t: filter of the bytes around seams, see np_edge */
  const uint16_t *edges;     /* by np_edge: a bit for each np_edge_kind */
  const uint32_t *two;       /* the token of two bytes, by first << 8 | second */
  const uint32_t *byte;      /* the token of a single byte */
  const uint32_t *external;  /* by rank, or NULL: ranks are what the model knows */
  const uint32_t *ranks;     /* by external id, `externals` of them, or NULL */
  const np_special *special; /* by id */
  const char *texts;
  uint64_t lengths[4];       /* bit set of all tokens' lengths */
  uint8_t special_first[32]; /* bit set of the first bytes of special texts */
};

/* ---- tokens ------------------------------------------------------------------------ */

typedef struct np_merge {
  uint32_t left, right;
} np_merge;

static inline np_merge np_token_merge(const np_vocab *v, uint32_t id) {
  uint64_t m = v->merges[id];
  return (np_merge){(uint32_t)(m >> 28) & 0xFFFFF, (uint32_t)(m >> 8) & 0xFFFFF};
}

static inline uint32_t np_token_len(const np_vocab *v, uint32_t id) {
  return (uint32_t)(v->merges[id] & 0xFF);
}

/* The longest token that is a proper prefix of `id`, or NP_TOKEN_NONE. */
static inline uint32_t np_token_shorter(const np_vocab *v, uint32_t id) {
  uint32_t s = v->shorter[id];
  return s < v->tokens && np_token_len(v, s) < np_token_len(v, id) ? s : NP_TOKEN_NONE;
}

/* Writes the bytes of a token, returns their number. */
size_t np_token_copy(const np_vocab *v, uint32_t id, uint8_t out[NP_TOKEN_LONGEST]);

static inline np_str np_special_text(const np_vocab *v, uint32_t i) {
  return (np_str){v->texts + v->special[i].at, v->special[i].n};
}

/* The id that the model knows. */
static inline uint32_t np_token_external(const np_vocab *v, uint32_t id) {
  return v->external && id < v->tokens ? v->external[id] : id;
}

/* ---- keys and hashes --------------------------------------------------------------- */

#define NP_MIX 0x9E3779B97F4A7C15u /* odd, bits without pattern: 2^64 / golden ratio */
#define NP_MIX2 0xC2B2AE3D27D4EB4Fu

static inline uint64_t np_load32(const uint8_t *p) {
  return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
         (uint64_t)p[3] << 24;
}

static inline uint64_t np_load64(const uint8_t *p) {
  return np_load32(p) | np_load32(p + 4) << 32;
}

/* The first `n` (1 to 8) bytes as a number, reading no other byte: two loads that
** overlap. */
static inline uint64_t np_load(const uint8_t *p, size_t n) {
  if (n >= 4) return np_load32(p) | np_load32(p + n - 4) << (8 * (n - 4));
  return (uint64_t)p[0] | (uint64_t)p[n / 2] << (8 * (n / 2)) |
         (uint64_t)p[n - 1] << (8 * (n - 1));
}

/* The key of p[0, n), 1 <= n <= NP_KEY_LONGEST, reading no other byte. */
static inline np_key np_key_of(const uint8_t *p, size_t n) {
  uint64_t size = (uint64_t)n << 56;
  if (n <= 8) return (np_key){np_load(p, n), size};
  return (np_key){np_load64(p), np_load64(p + n - 8) >> (8 * (16 - n)) | size};
}

#define NP_KEY_WIDE 16 /* bytes that np_key_wide reads */

static inline np_key np_key_wide(const uint8_t *p) {
  return (np_key){np_load64(p), np_load64(p + 8)};
}

/* np_key_of the first n, 0 <= n <= NP_KEY_LONGEST, of 16 bytes, without a branch. */
static inline np_key np_key_cut(np_key wide, size_t n) {
  static const np_key masks[NP_KEY_LONGEST + 1] = {
#define NP_MASK(n) (((uint64_t)1 << (8 * (n))) - 1)
      {0, 0},
      {NP_MASK(1), 0},
      {NP_MASK(2), 0},
      {NP_MASK(3), 0},
      {NP_MASK(4), 0},
      {NP_MASK(5), 0},
      {NP_MASK(6), 0},
      {NP_MASK(7), 0},
      {UINT64_MAX, 0},
      {UINT64_MAX, NP_MASK(1)},
      {UINT64_MAX, NP_MASK(2)},
      {UINT64_MAX, NP_MASK(3)},
      {UINT64_MAX, NP_MASK(4)},
      {UINT64_MAX, NP_MASK(5)},
      {UINT64_MAX, NP_MASK(6)},
      {UINT64_MAX, NP_MASK(7)},
  };
  return (np_key){wide.lo & masks[n].lo, (wide.hi & masks[n].hi) | (uint64_t)n << 56};
}

static inline uint64_t np_hash_key(np_key k) {
  uint64_t h = k.lo * NP_MIX + k.hi * NP_MIX2;
  return (h ^ h >> 32) * NP_MIX;
}

/* Of more than NP_KEY_LONGEST bytes. Both ends and the length tell most tokens apart; the
** rest share a place and are compared. */
static inline uint64_t np_hash_far(const uint8_t *p, size_t n) {
  uint64_t h = (np_load64(p) + n) * NP_MIX;
  h = (h ^ h >> 29 ^ np_load64(p + n - 8)) * NP_MIX;
  return (h ^ h >> 32) * NP_MIX;
}

static inline uint64_t np_hash_pair(uint32_t left, uint32_t right) {
  uint64_t h = ((uint64_t)left << 20 | right) * NP_MIX;
  h ^= h << 31;
  return h ^ h >> 32;
}

static inline uint64_t np_hash_start(uint32_t three) {
  return three * NP_MIX;
}

/* ---- seams ------------------------------------------------------------------------- */

/* Between two characters that are not ASCII. What merges there at all is known from the byte
** before and the byte behind: for each pair of widths, up to three bytes on either side, there
** is a bit in `edges`; and the bytes of that many on either side are in `seams`. */
static inline bool np_is_edge(uint8_t before, uint8_t behind) {
  return (before & 0xC0) == 0x80 && behind >= 0xC0;
}

static inline unsigned np_edge(uint8_t before, uint8_t behind) {
  return (unsigned)(before & 63) << 6 | (behind & 63);
}

/* The place of two widths among the nine pairs. */
static inline unsigned np_edge_kind(size_t left, size_t right) {
  return (unsigned)(3 * (left < 3 ? left - 1 : 2) + (right < 3 ? right - 1 : 2));
}

/* Of the bytes before and behind a seam, of which `around` holds three each, low ones first:
** as many as the kind is wide. */
static inline uint64_t np_hash_seam(uint64_t around, unsigned kind) {
  unsigned left = kind / 3, right = kind % 3; /* less one */
  uint64_t only = ((uint64_t)1 << (8 * (left + right + 2))) - 1;
  uint64_t bytes = (around >> (8 * (2 - left)) & only) << 8 | (kind + 1);
  uint64_t h = bytes * NP_MIX;
  return h ^ h >> 32;
}

/* A filter: two bits of one word stand for an item. */
static inline uint64_t np_filter_bits(uint64_t hash) {
  return (uint64_t)1 << (hash & 63) | (uint64_t)1 << (hash >> 6 & 63);
}

/* False when no item has the hash; rarely true when none has. */
static inline bool np_filter_has(const np_slots *s, uint64_t hash) {
  const uint64_t *at = s->at;
  uint64_t bits = np_filter_bits(hash);
  return (at[hash >> s->shift] & bits) == bits;
}

/* ---- looking up -------------------------------------------------------------------- */

#define NP_PIECE_FREE UINT32_MAX /* no rank is 2^20 - 1 */
#define NP_PIECE_HASH 0x7FFu
#define NP_PIECE_ATOM 0x800u

/* The place of p[0, n) among the far bytes is that of token `id`. */
static inline bool np_token_is_far(const np_vocab *v, uint32_t id, const uint8_t *p,
                                   size_t n) {
  np_key k = v->keys[id];
  uint64_t at = k.lo >> 8;
  if (k.hi >> 56 != NP_KEY_FAR || (k.lo & 0xFF) != n) return false;
  return n <= v->far_n && at <= v->far_n - n && !memcmp(v->far + at, p, n);
}

/* The token that is exactly p[0, n), 16 <= n <= NP_TOKEN_LONGEST, or NP_TOKEN_NONE; with
** `skip` = NP_PIECE_ATOM none that no merge makes. */
static inline uint32_t np_vocab_find_far(const np_vocab *v, const uint8_t *p, size_t n,
                                         uint32_t skip) {
  const uint32_t *at = v->pieces.at;
  uint64_t h = np_hash_far(p, n);
  uint64_t i = h >> v->pieces.shift;
  for (uint64_t step = 0; step < NP_PROBES && at[i] != NP_PIECE_FREE;
       i = (i + ++step) & v->pieces.mask) {
    uint32_t id = at[i] >> 12;
    if ((at[i] ^ h) & NP_PIECE_HASH || (at[i] & skip)) continue;
    if (id < v->tokens && np_token_is_far(v, id, p, n)) return id;
  }
  return NP_TOKEN_NONE;
}

static inline uint32_t np_vocab_find_key(const np_vocab *v, np_key k, uint64_t h,
                                         uint32_t skip) {
  const uint32_t *at = v->pieces.at;
  uint64_t i = h >> v->pieces.shift;
  for (uint64_t step = 0; step < NP_PROBES && at[i] != NP_PIECE_FREE;
       i = (i + ++step) & v->pieces.mask) {
    uint32_t id = at[i] >> 12;
    if ((at[i] ^ h) & NP_PIECE_HASH || (at[i] & skip)) continue;
    if (id < v->tokens && v->keys[id].lo == k.lo && v->keys[id].hi == k.hi) return id;
  }
  return NP_TOKEN_NONE;
}

/* The token that the piece p[0, n), n >= 1, is as a whole, or NP_TOKEN_NONE: then it is
** merged. */
static inline uint32_t np_vocab_find(const np_vocab *v, const uint8_t *p, size_t n) {
  uint32_t skip = v->flags & NP_VOCAB_WHOLE ? 0 : NP_PIECE_ATOM;
  if (n > NP_KEY_LONGEST) {
    return n > v->longest ? NP_TOKEN_NONE : np_vocab_find_far(v, p, n, skip);
  }
  np_key k = np_key_of(p, n);
  return np_vocab_find_key(v, k, np_hash_key(k), skip);
}

/* The token that merges make of p[0, n), 3 <= n <= NP_TOKEN_LONGEST, or NP_TOKEN_NONE. Its
** length is n also when the image's values contradict each other. */
static inline uint32_t np_vocab_find_merged(const np_vocab *v, const uint8_t *p,
                                            size_t n) {
  uint32_t id;
  if (n <= NP_KEY_LONGEST) {
    np_key k = np_key_of(p, n);
    uint64_t h = np_hash_key(k);
    if (!np_filter_has(&v->known, h)) return NP_TOKEN_NONE;
    id = np_vocab_find_key(v, k, h, NP_PIECE_ATOM);
  } else {
    if (!np_filter_has(&v->known, np_hash_far(p, n))) return NP_TOKEN_NONE;
    id = np_vocab_find_far(v, p, n, NP_PIECE_ATOM);
  }
  return id != NP_TOKEN_NONE && np_token_len(v, id) == n ? id : NP_TOKEN_NONE;
}

/* The token that `left` and `right` merge to, or NP_TOKEN_NONE. */
static inline uint32_t np_vocab_pair(const np_vocab *v, uint32_t left, uint32_t right) {
  const uint64_t *at = v->pairs.at;
  uint64_t key = (uint64_t)left << 20 | right, h = np_hash_pair(left, right);
  if (!np_filter_has(&v->maybe, h)) return NP_TOKEN_NONE;
  uint64_t i = h >> v->pairs.shift;
  for (uint64_t step = 0; step < NP_PROBES && at[i]; i = (i + ++step) & v->pairs.mask) {
    if (at[i] >> 24 != key) continue;
    uint32_t id = (uint32_t)(at[i] & 0xFFFFFF) - 1;
    return id < v->tokens ? id : NP_TOKEN_NONE;
  }
  return NP_TOKEN_NONE;
}

/* The lengths, 3 to 41 as bits 0 to 38, of the tokens that begin with the three bytes at
** p; bit 39 stands for all longer ones. */
static inline uint64_t np_vocab_starts(const np_vocab *v, const uint8_t *p) {
  const uint64_t *at = v->starts.at;
  uint32_t three = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
  uint64_t i = np_hash_start(three) >> v->starts.shift;
  for (uint64_t step = 0; step < NP_PROBES && at[i]; i = (i + ++step) & v->starts.mask) {
    if ((at[i] & 0xFFFFFF) == three) return at[i] >> 24;
  }
  return 0;
}

/* ---- making ------------------------------------------------------------------------ */

/* A vocabulary from the bytes of a compact file; `path` is for messages (compact.c). */
neap_rc np_vocab_parse(const neap_alloc *a, const char *path, np_str file, np_vocab **out,
                       np_err *e);
/* Gives o200k_base the special tokens of o200k_harmony (harmony.c). */
neap_rc np_vocab_harmony(np_vocab *v, const np_encoding_info *info, np_err *e);
/* Reads the file at `path` whole (file.c). *p is freed by the caller. */
neap_rc np_vocab_read(const neap_alloc *a, const char *path, uint8_t **p, size_t *n,
                      np_err *e);

#endif
