/*
** Longest tokens first, with a check of each seam. Going back is rare and each byte is
** given up at most once, so the work is linear. next: count.c
*/
#include "token/bpe.h"

#define SMALL 16

#define STARTS_MANY 39 /* the bit of np_vocab_starts for 42 bytes and more */

/* A token and its length, which is known before the token's own memory is read. */
typedef struct np_found {
  uint32_t id;
  size_t n;
} np_found;

/* The longest token of 42 to n bytes: only lengths that tokens have are tried. */
static np_found longest_of_many(const np_vocab *v, const uint8_t *p, size_t n) {
  for (size_t k = n < v->longest ? n : v->longest; k >= 3 + STARTS_MANY; k--) {
    if (!(v->lengths[k >> 6] >> (k & 63) & 1)) continue;
    uint32_t id = np_vocab_find_merged(v, p, k);
    if (id != NP_TOKEN_NONE) return (np_found){id, k};
  }
  return (np_found){NP_TOKEN_NONE, 0};
}

static np_found longest_of_two(const np_vocab *v, const uint8_t *p) {
  uint32_t two = v->two[p[0] << 8 | p[1]];
  return two != NP_TOKEN_NONE ? (np_found){two, 2} : (np_found){v->byte[*p], 1};
}

/* The same where 16 bytes may be read and no token that begins so is longer than a key: which
** lengths the filter lets pass is found without a branch that depends on it. */
static inline np_found longest_wide(const np_vocab *v, const uint8_t *p,
                                    uint64_t lengths) {
  np_key wide = np_key_wide(p);
  for (; lengths; lengths ^= (uint64_t)1 << (63 - np_high_zeros(lengths))) {
    size_t n = 66 - np_high_zeros(lengths);
    np_key k = np_key_cut(wide, n);
    uint64_t h = np_hash_key(k);
    if (!np_filter_has(&v->known, h)) continue;
    uint32_t id = np_vocab_find_key(v, k, h, NP_PIECE_ATOM);
    if (id != NP_TOKEN_NONE && np_token_len(v, id) == n) return (np_found){id, n};
  }
  return longest_of_two(v, p);
}

/* Tries the lengths that tokens with this beginning have, from the longest on: look-ups that
** do not wait for each other. *reach bytes of p decide the answer. */
static inline np_found longest(const np_vocab *v, const uint8_t *p, size_t n,
                               size_t *reach) {
  *reach = n < 3 ? n : 3;
  if (n == 1) return (np_found){v->byte[*p], 1};
  if (n == 2) return longest_of_two(v, p);
  uint64_t lengths = np_vocab_starts(v, p);
  if (!lengths) return longest_of_two(v, p);
  *reach = 3 + 63 - np_high_zeros(lengths);
  if (n < 3 + STARTS_MANY) {
    lengths &= ((uint64_t)1 << (n - 2)) - 1;
  } else if (lengths >> STARTS_MANY & 1) {
    *reach = v->longest;
    np_found f = longest_of_many(v, p, n);
    if (f.n) return f;
  }
  lengths &= ((uint64_t)1 << STARTS_MANY) - 1;
  if (n >= NP_KEY_WIDE && !(lengths >> (NP_KEY_LONGEST - 2))) {
    return longest_wide(v, p, lengths);
  }
  while (lengths) {
    size_t k = 66 - np_high_zeros(lengths);
    uint32_t id = np_vocab_find_merged(v, p, k);
    if (id != NP_TOKEN_NONE) return (np_found){id, k};
    lengths ^= (uint64_t)1 << (k - 3);
  }
  return longest_of_two(v, p);
}

uint32_t np_bpe_longest(const np_vocab *v, const uint8_t *p, size_t n) {
  size_t reach;
  return longest(v, p, n, &reach).id;
}

/* Merges p[0, n), 1 <= n <= SMALL, by the definition: the lowest pair, the leftmost
** first. */
static size_t merge_small(const np_vocab *v, const uint8_t *p, size_t n, uint32_t *ids) {
  uint32_t next[SMALL]; /* what ids[i] and ids[i + 1] merge to */
  for (size_t i = 0; i < n; i++) ids[i] = v->byte[p[i]];
  next[0] = NP_TOKEN_NONE;
  for (size_t i = 0; i + 1 < n; i++) next[i] = v->two[p[i] << 8 | p[i + 1]];
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
bool np_bpe_seam_before(const np_vocab *v, uint32_t left, uint32_t right,
                        uint32_t limit) {
  for (;;) {
    if (np_vocab_pair(v, left, right) < limit) return false;
    np_merge l = np_token_merge(v, left), r = np_token_merge(v, right);
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

/* True when the `n` bytes at p are there again `step` bytes on: for runs of one letter or a
** few, whose tokens repeat. */
static inline bool repeats(const uint8_t *p, size_t step, size_t n) {
  if (n < 8) return !memcmp(p, p + step, n);
  return np_load64(p) == np_load64(p + step) && !memcmp(p, p + step, n);
}

/* True when no merge of the vocabulary has such bytes around its seam, at p, where eight may
** be read from p[-3] on: then none crosses it, whatever the tokens. */
static inline bool is_clear(const np_vocab *v, const uint8_t *p) {
  if (!np_is_edge(p[-1], p[0])) return false;
  uint64_t around = np_load64(p - 3);
  for (uint64_t kinds = v->edges[np_edge(p[-1], p[0])]; kinds; kinds &= kinds - 1) {
    if (np_filter_has(&v->seams, np_hash_seam(around, np_low_zeros(kinds)))) return false;
  }
  return true;
}

size_t np_bpe_window(const np_vocab *v, uint32_t before, const uint8_t *p, size_t n,
                     np_bpe *w) {
  memset(w->dead, 0, (n / 64 + 1) * sizeof w->dead[0]);
  size_t count = 0, at = 0, reach;
  uint32_t last = before, twice = NP_TOKEN_NONE;    /* a token that may follow itself */
  np_found f = longest(v, p, n, &reach), first = f; /* the longest from `known` on */
  size_t known = 0;
  for (;;) {
    while (f.id != NP_TOKEN_NONE) {
      if (!is_dead(w, at + f.n)) {
        if (last == NP_TOKEN_NONE || (last == f.id && last == twice)) break;
        bool clear = at >= 3 && n - at >= 5 && is_clear(v, p + at);
        if (clear || np_bpe_seam(v, last, f.id)) {
          if (last == f.id) twice = last;
          break;
        }
      }
      f.id = np_token_shorter(v, f.id);
      f.n = f.id != NP_TOKEN_NONE ? np_token_len(v, f.id) : 0;
    }
    if (f.id != NP_TOKEN_NONE) {
      w->ids[count++] = last = f.id;
      size_t from = at;
      at += f.n;
      if (at == n) return count;
      if (last == twice && f.n <= n - at && !is_dead(w, at + f.n) &&
          repeats(p + from, f.n, f.n)) {
        continue; /* the same once more is a good guess, and any row that fits is the one */
      }
      bool same = known == from && reach <= n - at && repeats(p + from, f.n, reach);
      f = first = same ? first : longest(v, p + at, n - at, &reach);
      known = at;
    } else {
      if (count == 0) return 0;
      w->dead[at >> 6] |= (uint64_t)1 << (at & 63);
      at -= np_token_len(v, w->ids[--count]);
      last = count ? w->ids[count - 1] : before;
      f = first = longest(v, p + at, n - at, &reach);
      known = at;
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

/* Token `id` leads from the prefix `from` to the one of `k` bytes. Each prefix has one last
** token, so the first that fits is it. */
static void track_token(const np_vocab *v, np_track *t, size_t from, size_t k,
                        uint32_t last, uint32_t id) {
  if (id == NP_TOKEN_NONE || t->last[k & 255] != NP_TOKEN_NONE) return;
  if (last != NP_TOKEN_NONE && !np_bpe_seam(v, last, id)) return;
  t->last[k & 255] = id;
  t->count[k & 255] = t->count[from & 255] + 1;
}

void np_track_step(const np_vocab *v, const uint8_t *p, size_t n, np_track *t) {
  size_t from = t->at++, room = n - from;
  uint32_t last = t->last[from & 255];
  t->last[from & 255] = NP_TOKEN_NONE;
  if (from && last == NP_TOKEN_NONE) return;
  const uint8_t *q = p + from;
  track_token(v, t, from, from + 1, last, v->byte[*q]);
  if (room >= 2) track_token(v, t, from, from + 2, last, v->two[q[0] << 8 | q[1]]);
  uint64_t lengths = room >= 3 ? np_vocab_starts(v, q) : 0;
  size_t end = lengths >> STARTS_MANY ? v->longest : lengths ? 2 + STARTS_MANY : 0;
  if (end > room) end = room;
  for (size_t k = 3; k <= end; k++) {
    bool any =
        k < 3 + STARTS_MANY ? lengths >> (k - 3) & 1 : v->lengths[k >> 6] >> (k & 63) & 1;
    if (any) track_token(v, t, from, from + k, last, np_vocab_find_merged(v, q, k));
  }
}
