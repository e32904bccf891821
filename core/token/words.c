/*
** Counts texts in batches of pieces. One pass over a batch looks each up among the words seen
** before, without a branch that depends on the text; what is not there goes to a list, whose
** places in the vocabulary's tables are fetched while the list is still being written.
** next: bpe.c
*/
#include "token/words.h"

#include "token/bpe.h"
#include "text/nfc.h"

#define COUNT_SHIFT 60
#define KEY_MASK (((uint64_t)1 << COUNT_SHIFT) - 1)

/* ---- merging ----------------------------------------------------------------------- */

static size_t count_slowly(const np_vocab *v, const uint8_t *p, size_t n) {
  np_track t;
  np_track_begin(&t, NP_TOKEN_NONE, 0);
  while (t.at < n) np_track_step(v, p, n, &t);
  return t.count[n & 255];
}

static size_t count_merged(const np_vocab *v, const uint8_t *p, size_t n) {
  np_bpe w;
  size_t total = 0, done = 0;
  uint32_t before = NP_TOKEN_NONE;
  while (done < n) {
    size_t count = np_bpe_next(v, p, n, &done, &before, &w);
    if (!count) return count_slowly(v, p, n);
    total += count;
  }
  return total;
}

/* ---- one batch --------------------------------------------------------------------- */

/* Of longer pieces: of no bytes and no length, but not free, so that no entry is equal to
** it. */
static const np_key no_key = {0, 1};

/* 0 when entry and key are of the same piece; the number of tokens is left out. */
static inline uint64_t differ(np_key e, np_key k) {
  return (e.lo ^ k.lo) | (e.hi ^ k.hi) << (64 - COUNT_SHIFT);
}

static size_t count_far(const np_vocab *v, uint32_t skip, const uint8_t *p, size_t n) {
  bool found = n <= v->longest && np_vocab_find_far(v, p, n, skip) != NP_TOKEN_NONE;
  return found ? 1 : count_merged(v, p, n);
}

/* A piece has at most as many tokens as bytes: 15 fit the four bits of an entry. The older
** of the two entries gives way. */
static size_t count_miss(const np_vocab *v, np_words *w, const uint8_t *p, size_t n,
                         np_key k, uint64_t h) {
  uint32_t skip = v->flags & NP_VOCAB_WHOLE ? 0 : NP_PIECE_ATOM;
  if (n > NP_KEY_LONGEST) return count_far(v, skip, p, n);
  np_key *e = w ? &w->at[h >> w->shift << 1] : NULL;
  if (e && !differ(e[0], k)) return (size_t)(e[0].hi >> COUNT_SHIFT);
  if (e && !differ(e[1], k)) return (size_t)(e[1].hi >> COUNT_SHIFT);
  bool whole = np_vocab_find_key(v, k, h, skip) != NP_TOKEN_NONE;
  size_t count = whole ? 1 : count_merged(v, p, n);
  if (!e) return count;
  e[1] = e[0];
  e[0] = (np_key){k.lo, k.hi | (uint64_t)count << COUNT_SHIFT};
  return count;
}

void np_batch_keys(np_batch *b, size_t pieces, const uint8_t *p, size_t room,
                   const np_words *w) {
  const np_key *words = w ? w->at : b->keys; /* without words the fetch is idle */
  uint32_t shift = w ? w->shift : 63;
  size_t wide = pieces, i = 0;
  uint32_t at = 0;
  while (wide && (wide > 1 ? b->ends[wide - 2] : 0) + (size_t)NP_KEY_WIDE > room) wide--;
  for (; i < wide; at = b->ends[i++]) {
    size_t n = b->ends[i] - at;
    np_key k = np_key_cut(np_key_wide(p + at), n <= NP_KEY_LONGEST ? n : 0);
    k.hi |= n > NP_KEY_LONGEST;
    uint64_t h = np_hash_key(k);
    np_prefetch(&words[h >> shift << 1]);
    b->keys[i] = k;
    b->hashes[i] = h;
  }
  for (; i < pieces; at = b->ends[i++]) {
    uint32_t n = b->ends[i] - at;
    b->keys[i] = n <= NP_KEY_LONGEST ? np_key_of(p + at, n) : no_key;
    b->hashes[i] = np_hash_key(b->keys[i]);
  }
}

/* Sums up the pieces that are among the words; the others are listed. A piece longer than a
** key has a key whose length no entry has. */
static size_t count_words(np_batch *b, size_t pieces, const np_words *w, size_t *misses) {
  size_t total = 0, list = 0;
  const np_key *words = w->at;
  uint32_t shift = w->shift;
  for (size_t i = 0; i < pieces; i++) {
    np_key k = b->keys[i];
    const np_key *e = &words[b->hashes[i] >> shift << 1];
    uint64_t first = differ(e[0], k), second = differ(e[1], k);
    uint64_t count = (first ? e[1].hi : e[0].hi) >> COUNT_SHIFT;
    bool miss = first && second;
    total += miss ? 0 : count;
    b->misses[list] = (uint16_t)i;
    list += miss;
  }
  *misses = list;
  return total;
}

static size_t count_batch(const np_vocab *v, np_words *w, const uint8_t *p, size_t room,
                          np_batch *b, size_t pieces) {
  size_t misses = 0, total = 0;
  np_batch_keys(b, pieces, p, room, w);
  if (w) {
    total = count_words(b, pieces, w, &misses);
  } else {
    for (; misses < pieces; misses++) b->misses[misses] = (uint16_t)misses;
  }
  np_batch_fetch(v, b, misses);
  for (size_t k = 0; k < misses; k++) {
    unsigned i = b->misses[k];
    uint32_t at = i ? b->ends[i - 1] : 0;
    total += count_miss(v, w, p + at, b->ends[i] - at, b->keys[i], b->hashes[i]);
  }
  return total;
}

size_t np_words_count(const np_vocab *v, np_words *w, const uint8_t *p, size_t n) {
  np_batch b;
  size_t total = 0;
  for (size_t at = 0; at < n;) {
    size_t pieces = np_split_many(v->split, p + at, p + n, b.ends, NP_BATCH);
    if (pieces) {
      total += count_batch(v, w, p + at, n - at, &b, pieces);
      at += b.ends[pieces - 1];
    } else {
      size_t size = np_split_next(v->split, p + at, p + n);
      total += count_merged(v, p + at, size);
      at += size;
    }
  }
  return total;
}

/* ---- the table --------------------------------------------------------------------- */

/* At least `entries` of them, two to a place. */
static bool words_init(np_words *w, const np_vocab *v, const neap_alloc *a,
                       size_t entries) {
  uint32_t bits = 1;
  while ((size_t)2 << bits < entries) bits++;
  *w = (np_words){*a, v, np_calloc(a, (size_t)2 << bits, sizeof *w->at), 64 - bits};
  return w->at != NULL;
}

np_words *np_words_new(const np_vocab *v, const neap_alloc *a, size_t entries) {
  np_words *w = np_malloc(a, sizeof *w);
  if (!entries || entries > NP_WORDS_MOST) entries = NP_WORDS_MOST;
  if (w && words_init(w, v, a, entries)) return w;
  np_free(a, w);
  return NULL;
}

void np_words_free(np_words *w) {
  if (!w) return;
  neap_alloc a = w->alloc;
  np_free(&a, w->at);
  np_free(&a, w);
}

/* ---- counting ---------------------------------------------------------------------- */

#define SHORT 4096 /* bytes; in less, words repeat too little to pay for a table */
#define SHARE 16   /* bytes of text to one entry, which has as many */

static size_t count_text(const np_vocab *v, np_words *w, np_str text) {
  const uint8_t *p = (const uint8_t *)text.p;
  if (w || text.n < SHORT) return np_words_count(v, w, p, text.n);
  np_words own;
  size_t entries = text.n / SHARE < NP_WORDS_MOST ? text.n / SHARE : NP_WORDS_MOST;
  bool any = words_init(&own, v, &v->alloc, entries);
  size_t count = np_words_count(v, any ? &own : NULL, p, text.n);
  np_free(&v->alloc, own.at);
  return count;
}

/* The tokens of a text that is normalized first. Without memory for that a bound: no token is
** shorter than a byte, and no text grows to more than three times its size. */
static size_t count_nfc(const np_vocab *v, np_words *w, np_str text) {
  np_buf b;
  np_buf_init(&b, &v->alloc);
  np_nfc(text, &b);
  size_t n = b.failed ? 3 * text.n : count_text(v, w, np_buf_str(&b));
  np_buf_free(&b);
  return n;
}

size_t np_vocab_count_with(const np_vocab *v, np_words *w, np_str text) {
  bool plain = !(v->flags & NP_VOCAB_NFC) || np_nfc_plain(text);
  return plain ? count_text(v, w, text) : count_nfc(v, w, text);
}

size_t np_vocab_count(const np_vocab *v, np_str text) {
  return np_vocab_count_with(v, NULL, text);
}
