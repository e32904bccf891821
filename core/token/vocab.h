/*
** A vocabulary in memory. Ids are ranks: of two possible merges the one with the lower id
** comes first, and a token's parts have lower ids than it. Five tables answer all
** questions: bytes of a token, its last merge, whole pieces (short and long), merges of
** two tokens, and a trie over all tokens. next: vocab.c, then bpe.h
*/
#ifndef NP_TOKEN_VOCAB_H
#define NP_TOKEN_VOCAB_H

#include "token/split.h"
#include "token/token.h"

#define NP_TOKEN_NONE UINT32_MAX
#define NP_TOKEN_LIMIT                                                                   \
  ((uint32_t)1 << 20)        /* ids and trie places fit 20 bits in packed keys */
#define NP_TOKEN_LONGEST 255 /* bytes of a token; the rings of bpe.c hold 256 */
#define NP_TOKEN_SHORT 8     /* pieces that fit one machine word */

/* What merging asks of a token, side by side: one cache miss. */
typedef struct np_merge {
  uint32_t left, right; /* the last merge; both the token itself for a single byte */
  uint32_t shorter;     /* the longest token that is a proper prefix, or NP_TOKEN_NONE */
  uint32_t n;           /* bytes */
} np_merge;

typedef struct np_short {
  uint64_t key;
  uint32_t id, n; /* n = 0: free */
} np_short;

/* What begins with two given bytes. */
typedef struct np_two {
  uint32_t node; /* their node in the trie, 0 when no token begins so */
  uint32_t id;   /* the token that they are, or NP_TOKEN_NONE */
} np_two;

typedef struct np_special {
  uint32_t id;
  np_str text;
} np_special;

/* An open table of 2^bits places. Steps of 1, 2, 3 … lead to every place, begin within a
** cache line and, unlike steps of 1, form no long rows when the table is nearly full. */
typedef struct np_slots {
  void *at;
  uint32_t mask, shift; /* 64 - bits */
} np_slots;

struct np_vocab {
  neap_alloc alloc;
  const np_encoding_info *info;
  np_split_kind split;
  uint32_t tokens, longest, nodes, specials;
  uint8_t *bytes;   /* all tokens' bytes, by id */
  uint32_t *start;  /* token i is bytes[start[i], start[i + 1]) */
  np_merge *merges; /* how token i was made */
  np_slots shorts;  /* np_short: tokens of up to 8 bytes */
  np_slots longs;   /* uint64_t: high half of the hash << 32 | id + 1 */
  np_slots pairs;   /* uint64_t: left << 44 | right << 24 | id + 1 */
  np_slots
      maybe; /* uint64_t: bit set of the hashes of all pairs; most questions end here */
  np_slots trie; /* uint64_t: (parent << 8 | byte) << 32 | id + 1 or 0; 0 is the root,
                         the node in place i is i + 1 */
  np_two *two;   /* 65,536, by first byte << 8 | second: the trie's first two steps */
  uint32_t byte[256];        /* the token of a single byte */
  np_special *special;       /* by id */
  uint8_t special_first[32]; /* bit set of the first bytes of special texts */
};

#define NP_MIX 0x9E3779B97F4A7C15u /* odd, bits without pattern: 2^64 / golden ratio */

static inline uint32_t np_token_len(const np_vocab *v, uint32_t id) {
  return v->start[id + 1] - v->start[id];
}

static inline np_str np_token_text(const np_vocab *v, uint32_t id) {
  return (np_str){(const char *)v->bytes + v->start[id], np_token_len(v, id)};
}

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

static inline uint64_t np_hash_short(uint64_t key, size_t n) {
  uint64_t h = (key + n) * NP_MIX;
  return (h ^ h >> 32) * NP_MIX;
}

/* Both ends and the length tell most tokens apart; the rest share a place and are
** compared. */
static inline uint64_t np_hash_long(const uint8_t *p, size_t n) {
  uint64_t h = (np_load64(p) + n) * NP_MIX;
  h = (h ^ h >> 29 ^ np_load64(p + n - 8)) * NP_MIX;
  return (h ^ h >> 32) * NP_MIX;
}

static inline uint64_t np_hash_pair(uint32_t left, uint32_t right) {
  uint64_t h = ((uint64_t)left << 20 | right) * NP_MIX;
  return h ^ h << 31;
}

static inline uint64_t np_hash_edge(uint64_t edge) {
  return edge * NP_MIX;
}

/* The token that is exactly p[0, n), n >= 1, or NP_TOKEN_NONE. */
static inline uint32_t np_vocab_find(const np_vocab *v, const uint8_t *p, size_t n) {
  if (n <= NP_TOKEN_SHORT) {
    const np_short *at = v->shorts.at;
    uint64_t key = np_load(p, n);
    uint64_t i = np_hash_short(key, n) >> v->shorts.shift;
    for (uint64_t step = 0;; i = (i + ++step) & v->shorts.mask) {
      if (at[i].key == key && at[i].n == n) return at[i].id;
      if (!at[i].n) return NP_TOKEN_NONE;
    }
  }
  if (n > v->longest) return NP_TOKEN_NONE;
  const uint64_t *at = v->longs.at;
  uint64_t h = np_hash_long(p, n);
  uint64_t i = h >> v->longs.shift;
  for (uint64_t step = 0; at[i]; i = (i + ++step) & v->longs.mask) {
    if ((at[i] ^ h) >> 32) continue;
    uint32_t id = (uint32_t)at[i] - 1;
    if (np_token_len(v, id) == n && !memcmp(v->bytes + v->start[id], p, n)) return id;
  }
  return NP_TOKEN_NONE;
}

/* The token that `left` and `right` merge to, or NP_TOKEN_NONE. */
static inline uint32_t np_vocab_pair(const np_vocab *v, uint32_t left, uint32_t right) {
  const uint64_t *at = v->pairs.at;
  uint64_t key = (uint64_t)left << 20 | right, h = np_hash_pair(left, right);
  const uint64_t *maybe = v->maybe.at;
  uint64_t bit = h >> v->maybe.shift;
  if (!(maybe[bit >> 6] >> (bit & 63) & 1)) return NP_TOKEN_NONE;
  uint64_t i = h >> v->pairs.shift;
  for (uint64_t step = 0; at[i]; i = (i + ++step) & v->pairs.mask) {
    if (at[i] >> 24 == key) return (uint32_t)(at[i] & 0xFFFFFF) - 1;
  }
  return NP_TOKEN_NONE;
}

/* The place of the edge from `node` by `byte` in the trie; its slot is 0 when there is
** none. */
static inline uint64_t np_vocab_edge(const np_vocab *v, uint64_t node, uint8_t byte) {
  const uint64_t *at = v->trie.at;
  uint64_t edge = node << 8 | byte;
  uint64_t i = np_hash_edge(edge) >> v->trie.shift;
  for (uint64_t step = 0; at[i] && at[i] >> 32 != edge;) i = (i + ++step) & v->trie.mask;
  return i;
}

/* Reads the file `dir`/`name`.neapvocab whole (file.c). *p is freed by the caller. */
neap_rc np_vocab_read(const neap_alloc *a, const char *path, uint8_t **p, size_t *n,
                      np_err *e);
/* Makes a vocabulary from a file's bytes; `path` is for messages (vocab.c). */
neap_rc np_vocab_parse(const neap_alloc *a, const np_encoding_info *info,
                       const char *path, np_str file, np_vocab **out, np_err *e);
/* Fills shorts, longs, pairs and the trie (table.c). *bad says that two tokens are equal
** or the trie has not the nodes the file says. False: out of memory, or *bad. */
bool np_vocab_index(np_vocab *v, bool *bad);

#endif
