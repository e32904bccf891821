/*
** Fills the open tables of a vocabulary. Each is sized from counts known beforehand and at
** most seven eighths full: every probe ends, and small tables that stay in the caches gain
** more than longer probes cost. Each is filled in one go over all tokens, so that one table
** at a time is in use. next: bpe.h
*/
#include "token/vocab.h"

static bool make(const neap_alloc *a, np_slots *s, size_t items, size_t size) {
  uint32_t bits = 4;
  while (((size_t)1 << bits) / 8 * 7 < items) bits++;
  s->mask = ((uint32_t)1 << bits) - 1;
  s->shift = 64 - bits;
  s->at = np_calloc(a, (size_t)1 << bits, size);
  return s->at != NULL;
}

/* At least 8 bits an item: one in eight questions or fewer passes for nothing. */
static bool make_bits(const neap_alloc *a, np_slots *s, size_t items) {
  uint32_t bits = 6;
  while ((size_t)1 << bits < 8 * items) bits++;
  s->mask = ((uint32_t)1 << bits) - 1;
  s->shift = 64 - bits;
  s->at = np_calloc(a, (size_t)1 << (bits - 6), sizeof(uint64_t));
  return s->at != NULL;
}

static void put(const np_slots *s, uint64_t hash, uint64_t value) {
  uint64_t *at = s->at;
  uint64_t i = hash >> s->shift;
  for (uint64_t step = 0; at[i];) i = (i + ++step) & s->mask;
  at[i] = value;
}

static void put_short(const np_slots *s, np_short item) {
  np_short *at = s->at;
  uint64_t i = np_hash_short(item.key, item.n) >> s->shift;
  for (uint64_t step = 0; at[i].n;) i = (i + ++step) & s->mask;
  at[i] = item;
}

static void fill_pieces(np_vocab *v) {
  for (uint32_t id = 0; id < v->tokens; id++) {
    const uint8_t *p = v->bytes + v->start[id];
    uint32_t n = np_token_len(v, id);
    if (n <= NP_TOKEN_SHORT) {
      put_short(&v->shorts, (np_short){np_load(p, n), id, n});
    } else {
      uint64_t h = np_hash_long(p, n);
      put(&v->longs, h, h >> 32 << 32 | (id + 1));
    }
  }
}

static void fill_pairs(np_vocab *v) {
  uint64_t *maybe = v->maybe.at;
  for (uint32_t id = 0; id < v->tokens; id++) {
    np_merge m = v->merges[id];
    if (m.left == id) continue;
    uint64_t key = (uint64_t)m.left << 20 | m.right, h = np_hash_pair(m.left, m.right);
    uint64_t bit = h >> v->maybe.shift;
    maybe[bit >> 6] |= (uint64_t)1 << (bit & 63);
    put(&v->pairs, h, key << 24 | (id + 1));
  }
}

/* A token's path begins with that of its left part: only the right part's bytes are
** walked. `place` holds each token's node, `order` the slots as they come: parents before
** children. False when two tokens are equal or the file's number of nodes is wrong. */
static bool fill_trie(np_vocab *v, uint32_t *place, uint32_t *order) {
  uint64_t *at = v->trie.at;
  uint32_t nodes = 0;
  for (uint32_t id = 0; id < v->tokens; id++) {
    np_merge m = v->merges[id];
    uint64_t node = m.left == id ? 0 : place[m.left];
    uint32_t from = v->start[id] + (m.left == id ? 0 : v->merges[m.left].n);
    uint64_t i = 0;
    for (uint32_t k = from; k < v->start[id + 1]; k++, node = i + 1) {
      i = np_vocab_edge(v, node, v->bytes[k]);
      if (at[i]) continue;
      if (nodes == v->nodes) return false;
      bool last = k + 1 == v->start[id + 1];
      at[i] = (node << 8 | v->bytes[k]) << 32 | (last ? id + 1 : 0);
      order[nodes++] = (uint32_t)i;
    }
    uint32_t held = (uint32_t)at[i];
    if (held && held != id + 1) return false;
    at[i] |= id + 1;
    place[id] = (uint32_t)node;
  }
  return nodes == v->nodes;
}

/* The last token on the path to each node, handed down from parent to child. */
static void fill_shorter(np_vocab *v, const uint32_t *order, uint32_t *last) {
  const uint64_t *at = v->trie.at;
  for (uint32_t k = 0; k < v->nodes; k++) {
    uint64_t i = order[k], parent = at[i] >> 40;
    uint32_t id = (uint32_t)at[i] - 1;
    uint32_t above = parent ? last[parent - 1] : NP_TOKEN_NONE;
    if (id != NP_TOKEN_NONE) v->merges[id].shorter = above;
    last[i] = id != NP_TOKEN_NONE ? id : above;
  }
}

static bool make_two(np_vocab *v) {
  const uint64_t *at = v->trie.at;
  v->two = np_malloc(&v->alloc, 65536 * sizeof *v->two);
  if (!v->two) return false;
  for (uint32_t i = 0; i < 65536; i++) {
    uint64_t first = np_vocab_edge(v, 0, (uint8_t)(i >> 8));
    uint64_t second = at[first] ? np_vocab_edge(v, first + 1, (uint8_t)i) : first;
    bool any = at[second] != 0;
    v->two[i] = (np_two){any ? (uint32_t)second + 1 : 0,
                         any ? (uint32_t)at[second] - 1 : NP_TOKEN_NONE};
    v->byte[i >> 8] = (uint32_t)at[first] - 1;
  }
  return true;
}

static bool make_trie(np_vocab *v, bool *bad) {
  const neap_alloc *a = &v->alloc;
  if (!make(a, &v->trie, v->nodes, sizeof(uint64_t))) return false;
  uint32_t *place = np_malloc(a, v->tokens * sizeof *place);
  uint32_t *order = np_malloc(a, v->nodes * sizeof *order);
  uint32_t *last = np_malloc(a, ((size_t)v->trie.mask + 1) * sizeof *last);
  bool ok = place && order && last;
  if (ok) {
    ok = fill_trie(v, place, order);
    *bad = !ok;
    if (ok) fill_shorter(v, order, last);
  }
  np_free(a, place);
  np_free(a, order);
  np_free(a, last);
  return ok;
}

bool np_vocab_index(np_vocab *v, bool *bad) {
  const neap_alloc *a = &v->alloc;
  size_t shorts = 0;
  for (uint32_t id = 0; id < v->tokens; id++) shorts += v->merges[id].n <= NP_TOKEN_SHORT;
  if (!make(a, &v->shorts, shorts, sizeof(np_short)) ||
      !make(a, &v->longs, v->tokens - shorts, sizeof(uint64_t)) ||
      !make(a, &v->pairs, v->tokens, sizeof(uint64_t)) ||
      !make_bits(a, &v->maybe, v->tokens)) {
    return false;
  }
  fill_pieces(v);
  fill_pairs(v);
  return make_trie(v, bad) && make_two(v);
}
