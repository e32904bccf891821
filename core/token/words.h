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

/* The number of tokens of p[0, n) with the pieces in `w`, which may be NULL. */
size_t np_words_count(const np_vocab *v, np_words *w, const uint8_t *p, size_t n);

#endif
