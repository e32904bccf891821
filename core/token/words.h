/*
** Words seen before: a table of pieces of up to 15 bytes and the number of their tokens, so
** that what a text repeats is looked up in one place and never merged again. It is bounded:
** a newer piece takes the place of an older one. It belongs to one thread at a time and
** changes no count: without one everything is counted all the same. next: words.c
*/
#ifndef NP_TOKEN_WORDS_H
#define NP_TOKEN_WORDS_H

#include "token/vocab.h"

/* Entries of 16 bytes: a mebibyte. A megabyte of English has some 20,000 different pieces;
** with fewer entries than this, many of them would push each other out. */
#define NP_WORDS_MOST ((size_t)1 << 16)

struct np_words {
  neap_alloc alloc;
  const np_vocab *v;
  np_key *at;     /* keys with the number of tokens in bits 60 to 63 of `hi` */
  uint32_t shift; /* 64 - bits */
};

#define NP_BATCH 256

/* A batch: where its pieces end, and for pieces up to NP_KEY_LONGEST bytes key and hash. */
typedef struct np_batch {
  uint32_t ends[NP_BATCH];
  np_key keys[NP_BATCH];
  uint64_t hashes[NP_BATCH];
  uint16_t misses[NP_BATCH + 1]; /* pieces that are looked up in the vocabulary */
} np_batch;

/* Fills in keys and hashes of `pieces` pieces that begin at p, where `room` bytes may be read;
** their places among the words `w`, which may be NULL, are fetched meanwhile. */
void np_batch_keys(np_batch *b, size_t pieces, const uint8_t *p, size_t room,
                   const np_words *w);

/* Memory is far away: what the look-ups will read is asked for all at once, first their slots,
** then the keys these name. Always inline: compilers drop calls of a function that does
** nothing but fetch. */
NP_INLINE void np_batch_fetch(const np_vocab *v, const np_batch *b, size_t misses) {
  const uint32_t *slots = v->pieces.at;
  for (size_t k = 0; k < misses; k++) {
    np_prefetch(&slots[b->hashes[b->misses[k]] >> v->pieces.shift]);
  }
  for (size_t k = 0; k < misses; k++) {
    uint32_t id = slots[b->hashes[b->misses[k]] >> v->pieces.shift] >> 12;
    if (id < v->tokens) np_prefetch(&v->keys[id]);
  }
}

/* The number of tokens of p[0, n) with the pieces in `w`, which may be NULL. */
size_t np_words_count(const np_vocab *v, np_words *w, const uint8_t *p, size_t n);

#endif
