/*
** Longest tokens first, with a check of each seam. Going back is rare and each byte is
** given up at most once, so the work is linear. next: count.c
*/
#include "token/bpe.h"

#define SMALL 16 /* bytes; up to here plain merging beats the search */

uint32_t np_bpe_longest(const np_vocab *v, const uint8_t *p, size_t n) {
  uint32_t found = v->byte[*p];
  if (n == 1) return found;
  np_two two = v->two[p[0] << 8 | p[1]];
  if (!two.node) return found;
  if (two.id != NP_TOKEN_NONE) found = two.id;
  const uint64_t *at = v->trie.at;
  uint64_t node = two.node;
  for (size_t k = 2; k < n; k++) {
    uint64_t i = np_vocab_edge(v, node, p[k]);
    if (!at[i]) break;
    if ((uint32_t)at[i]) found = (uint32_t)at[i] - 1;
    node = i + 1;
  }
  return found;
}

/* Merges p[0, n), 1 <= n <= SMALL, by the definition: the lowest pair, the leftmost
** first. */
static size_t merge_small(const np_vocab *v, const uint8_t *p, size_t n, uint32_t *ids) {
  uint32_t next[SMALL]; /* what ids[i] and ids[i + 1] merge to */
  for (size_t i = 0; i < n; i++) ids[i] = v->byte[p[i]];
  next[0] = NP_TOKEN_NONE;
  for (size_t i = 0; i + 1 < n; i++) next[i] = v->two[p[i] << 8 | p[i + 1]].id;
  for (;;) {
    size_t at = 0;
    for (size_t i = 1; i + 1 < n; i++) {
      if (next[i] < next[at]) at = i;
    }
    if (next[at] == NP_TOKEN_NONE) return n;
    ids[at] = next[at];
    n--;
    for (size_t i = at + 1; i < n; i++) {
      ids[i] = ids[i + 1];
      next[i - 1] = next[i];
    }
    if (n == 1) return n;
    if (at) next[at - 1] = np_vocab_pair(v, ids[at - 1], ids[at]);
    if (at + 1 < n) next[at] = np_vocab_pair(v, ids[at], ids[at + 1]);
  }
}

/* `limit` is the time (rank) at which the later of the two facing parts goes into its own
** token: a merge across must come before it. At equal ranks the left one comes first,
** hence the + 1 on the right side. */
bool np_bpe_seam(const np_vocab *v, uint32_t left, uint32_t right) {
  uint32_t limit = NP_TOKEN_NONE;
  for (;;) {
    if (np_vocab_pair(v, left, right) < limit) return false;
    np_merge l = v->merges[left], r = v->merges[right];
    bool left_whole = l.left == left, right_whole = r.left == right;
    if (left_whole && right_whole) return true;
    if (right_whole || (left > right && !left_whole)) {
      limit = left;
      left = l.right;
    } else {
      limit = right + 1;
      right = r.left;
    }
  }
}

static inline bool is_dead(const np_bpe *w, size_t i) {
  return w->dead[i >> 6] >> (i & 63) & 1;
}

size_t np_bpe_window(const np_vocab *v, uint32_t before, const uint8_t *p, size_t n,
                     np_bpe *w) {
  memset(w->dead, 0, (n / 64 + 1) * sizeof w->dead[0]);
  size_t count = 0, at = 0;
  uint32_t id = np_bpe_longest(v, p, n);
  for (;;) {
    while (id != NP_TOKEN_NONE) {
      uint32_t last = count ? w->ids[count - 1] : before;
      size_t end = at + v->merges[id].n;
      if (!is_dead(w, end) && (last == NP_TOKEN_NONE || np_bpe_seam(v, last, id))) break;
      id = v->merges[id].shorter;
    }
    if (id != NP_TOKEN_NONE) {
      w->ids[count++] = id;
      at += v->merges[id].n;
      if (at == n) return count;
      id = np_bpe_longest(v, p + at, n - at);
    } else {
      if (count == 0) return 0;
      w->dead[at >> 6] |= (uint64_t)1 << (at & 63);
      id = w->ids[--count];
      at -= v->merges[id].n;
    }
  }
}

/* Tokens that end in the last eighth of a window are left to the next one. */
size_t np_bpe_next(const np_vocab *v, const uint8_t *p, size_t n, size_t *done,
                   uint32_t *before, np_bpe *w) {
  if (n > 1 && n <= SMALL) {
    *done = n;
    return merge_small(v, p, n, w->ids);
  }
  size_t left = n - *done;
  size_t size = left < NP_BPE_WINDOW ? left : NP_BPE_WINDOW;
  size_t count = np_bpe_window(v, *before, p + *done, size, w);
  size_t bytes = size;
  if (size < left) {
    while (count && bytes > size - size / 8) bytes -= np_token_len(v, w->ids[--count]);
  }
  if (count) {
    *before = w->ids[count - 1];
    *done += bytes;
  }
  return count;
}

void np_track_begin(np_track *t, uint32_t before, size_t count) {
  memset(t, 0, sizeof *t);
  memset(t->last, 0xFF, sizeof t->last);
  t->last[0] = before;
  t->count[0] = count;
}

/* Each prefix has one last token, so the first that fits is it. */
void np_track_step(const np_vocab *v, const uint8_t *p, size_t n, np_track *t) {
  const uint64_t *at = v->trie.at;
  size_t from = t->at++;
  uint32_t last = t->last[from & 255];
  t->last[from & 255] = NP_TOKEN_NONE;
  if (from && last == NP_TOKEN_NONE) return;
  uint64_t node = 0;
  for (size_t k = from; k < n;) {
    uint64_t i = np_vocab_edge(v, node, p[k++]);
    if (!at[i]) break;
    node = i + 1;
    uint32_t id = (uint32_t)at[i] - 1;
    if (id == NP_TOKEN_NONE || t->last[k & 255] != NP_TOKEN_NONE) continue;
    if (last != NP_TOKEN_NONE && !np_bpe_seam(v, last, id)) continue;
    t->last[k & 255] = id;
    t->count[k & 255] = t->count[from & 255] + 1;
  }
}
