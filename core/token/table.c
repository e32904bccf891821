/*
** Fills the tables of an image, each in one go over all tokens, so that one table at a time
** is in use. next: bpe.h
*/
#include "token/build.h"

#include "token/bpe.h"

static neap_rc refuse(const np_build *b, uint32_t id, const char *what) {
  neap_rc rc = np_fail(b->e, NEAP_E_VOCAB, "token of rank %lu %s; check the vocabulary",
                       (unsigned long)id, what);
  if (b->e) b->e->pos = id;
  return rc;
}

/* False when a search would give up before it found the place. */
static bool put64(const np_slots *s, uint64_t *at, uint64_t hash, uint64_t value) {
  uint64_t i = hash >> s->shift, step = 0;
  while (step + 1 < NP_PROBES && at[i]) i = (i + ++step) & s->mask;
  if (at[i]) return false;
  at[i] = value;
  return true;
}

static bool put32(const np_slots *s, uint32_t *at, uint64_t hash, uint32_t value) {
  uint64_t i = hash >> s->shift, step = 0;
  while (step + 1 < NP_PROBES && at[i] != NP_PIECE_FREE) i = (i + ++step) & s->mask;
  if (at[i] != NP_PIECE_FREE) return false;
  at[i] = value;
  return true;
}

static void put_filter(const np_slots *s, uint64_t *at, uint64_t hash) {
  at[hash >> s->shift] |= np_filter_bits(hash);
}

static void fill_tokens(const np_build *b) {
  const np_vocab_parts *in = b->in;
  np_key *keys = np_build_part(b, NP_PART_KEYS);
  uint8_t *far = np_build_part(b, NP_PART_FAR);
  uint64_t *merges = np_build_part(b, NP_PART_MERGES);
  uint64_t at = 0;
  for (uint32_t id = 0; id < in->tokens; id++) {
    const uint8_t *p = np_build_bytes(in, id);
    uint64_t n = np_build_len(in, id);
    merges[id] = (uint64_t)in->left[id] << 28 | (uint64_t)in->right[id] << 8 | n;
    if (n <= NP_KEY_LONGEST) {
      keys[id] = np_key_of(p, n);
      continue;
    }
    keys[id] = (np_key){at << 8 | n, (uint64_t)NP_KEY_FAR << 56};
    memcpy(far + at, p, n);
    at += n;
  }
}

static neap_rc fill_pieces(const np_build *b) {
  const np_vocab_parts *in = b->in;
  uint32_t *at = np_build_part(b, NP_PART_PIECES);
  uint64_t *known = np_build_part(b, NP_PART_KNOWN);
  memset(at, 0xFF, ((size_t)b->v->pieces.mask + 1) * sizeof *at);
  for (uint32_t id = 0; id < in->tokens; id++) {
    const uint8_t *p = np_build_bytes(in, id);
    size_t n = np_build_len(in, id);
    np_key k = n <= NP_KEY_LONGEST ? np_key_of(p, n) : (np_key){0, 0};
    uint64_t h = n <= NP_KEY_LONGEST ? np_hash_key(k) : np_hash_far(p, n);
    uint32_t same = n <= NP_KEY_LONGEST ? np_vocab_find_key(b->v, k, h, 0)
                                        : np_vocab_find_far(b->v, p, n, 0);
    if (same != NP_TOKEN_NONE) return refuse(b, id, "has the bytes of an earlier one");
    uint32_t atom = np_build_is_made(in, id) ? 0 : NP_PIECE_ATOM;
    if (!atom && n >= 3) put_filter(&b->v->known, known, h);
    uint32_t slot = id << 12 | atom | (uint32_t)(h & NP_PIECE_HASH);
    if (!put32(&b->v->pieces, at, h, slot)) return refuse(b, id, "finds no place");
  }
  return NEAP_OK;
}

static neap_rc fill_pairs(const np_build *b) {
  const np_vocab_parts *in = b->in;
  uint64_t *at = np_build_part(b, NP_PART_PAIRS);
  uint64_t *maybe = np_build_part(b, NP_PART_MAYBE);
  for (uint32_t id = 0; id < in->tokens; id++) {
    if (np_build_is_atom(in, id)) continue;
    uint64_t key = (uint64_t)in->left[id] << 20 | in->right[id];
    uint64_t h = np_hash_pair(in->left[id], in->right[id]);
    put_filter(&b->v->maybe, maybe, h);
    if (!put64(&b->v->pairs, at, h, key << 24 | (id + 1))) {
      return refuse(b, id, "finds no place among the merges");
    }
  }
  return NEAP_OK;
}

static neap_rc fill_short(const np_build *b) {
  const np_vocab_parts *in = b->in;
  uint32_t *byte = np_build_part(b, NP_PART_BYTE);
  uint32_t *two = np_build_part(b, NP_PART_TWO);
  memset(byte, 0xFF, 256 * sizeof *byte);
  memset(two, 0xFF, 65536 * sizeof *two);
  for (uint32_t id = 0; id < in->tokens; id++) {
    const uint8_t *p = np_build_bytes(in, id);
    if (np_build_len(in, id) == 1) byte[*p] = id;
    if (np_build_len(in, id) == 2 && !np_build_is_atom(in, id))
      two[p[0] << 8 | p[1]] = id;
  }
  for (unsigned i = 0; i < 256; i++) {
    if (byte[i] != NP_TOKEN_NONE) continue;
    return np_fail(b->e, NEAP_E_VOCAB, "no token for the byte %u; check the vocabulary",
                   i);
  }
  return NEAP_OK;
}

static uint32_t three_of(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}

static bool begins(const np_vocab_parts *in, uint32_t id) {
  return np_build_len(in, id) >= 3 && !np_build_is_atom(in, id);
}

neap_rc np_build_starts(const np_build *b, uint64_t *n) {
  *n = 0;
  uint64_t *seen = np_calloc(b->alloc, ((size_t)1 << 24) / 64, sizeof *seen);
  if (!seen) return np_fail_mem(b->e);
  for (uint32_t id = 0; id < b->in->tokens; id++) {
    if (!begins(b->in, id)) continue;
    uint32_t three = three_of(np_build_bytes(b->in, id));
    uint64_t bit = (uint64_t)1 << (three & 63);
    *n += !(seen[three >> 6] & bit);
    seen[three >> 6] |= bit;
  }
  np_free(b->alloc, seen);
  return NEAP_OK;
}

static neap_rc fill_starts(const np_build *b) {
  uint64_t *at = np_build_part(b, NP_PART_STARTS);
  const np_slots *s = &b->v->starts;
  for (uint32_t id = 0; id < b->in->tokens; id++) {
    if (!begins(b->in, id)) continue;
    uint32_t n = np_build_len(b->in, id), three = three_of(np_build_bytes(b->in, id));
    uint64_t i = np_hash_start(three) >> s->shift, step = 0;
    while (step + 1 < NP_PROBES && at[i] && (at[i] & 0xFFFFFF) != three) {
      i = (i + ++step) & s->mask;
    }
    if (at[i] && (at[i] & 0xFFFFFF) != three) return refuse(b, id, "finds no beginning");
    at[i] |= three | (uint64_t)1 << (24 + (n < 42 ? n - 3 : 39));
  }
  return NEAP_OK;
}

static void fill_shorter(const np_build *b) {
  uint32_t *shorter = np_build_part(b, NP_PART_SHORTER);
  for (uint32_t id = 0; id < b->in->tokens; id++) {
    uint32_t n = np_build_len(b->in, id);
    bool any = n > 1 && !np_build_is_atom(b->in, id);
    shorter[id] =
        any ? np_bpe_longest(b->v, np_build_bytes(b->in, id), n - 1) : NP_TOKEN_NONE;
  }
}

static void fill_seams(const np_build *b) {
  const np_vocab_parts *in = b->in;
  uint64_t *seams = np_build_part(b, NP_PART_SEAMS);
  uint16_t *edges = np_build_part(b, NP_PART_EDGES);
  for (uint32_t id = 0; id < in->tokens; id++) {
    if (!np_build_is_edge(in, id)) continue;
    uint32_t left = np_build_len(in, in->left[id]),
             right = np_build_len(in, in->right[id]);
    const uint8_t *p = np_build_bytes(in, id) + left;
    uint8_t around[8] = {0};
    uint32_t l = left < 3 ? left : 3, r = right < 3 ? right : 3;
    memcpy(around + 3 - l, p - l, l);
    memcpy(around + 3, p, r);
    unsigned kind = np_edge_kind(left, right);
    edges[np_edge(p[-1], p[0])] |= (uint16_t)(1u << kind);
    put_filter(&b->v->seams, seams, np_hash_seam(np_load64(around), kind));
  }
}

neap_rc np_build_tables(np_build *b) {
  fill_tokens(b);
  neap_rc rc = fill_pieces(b);
  if (!rc) rc = fill_pairs(b);
  if (!rc) rc = fill_short(b);
  if (!rc) rc = fill_starts(b);
  if (!rc) fill_seams(b);
  if (!rc) fill_shorter(b);
  return rc;
}
