/*
** The splitter cuts text into the pieces inside which tokens are merged: what the
** published patterns of the encodings say, written as a scanner. It looks at each byte a
** small constant number of times. Not here: tokens. next: split.c, then vocab.h
*/
#ifndef NP_TOKEN_SPLIT_H
#define NP_TOKEN_SPLIT_H

#include "base/str.h"

/* The numbers are written into vocabulary files: they never change their meaning. The
** patterns from the third on are those of vocabularies that users bring; pattern.c knows
** them by their texts. */
typedef enum np_split_kind {
  NP_SPLIT_CL100K = 1,
  NP_SPLIT_O200K = 2,
  NP_SPLIT_QWEN2 = 3,        /* cl100k with digits one by one */
  NP_SPLIT_QWEN35 = 4,       /* that, with marks in words */
  NP_SPLIT_TEKKEN = 5,       /* o200k without contractions, digits one by one */
  NP_SPLIT_DEEPSEEK3 = 6,    /* three splits, one inside the other */
  NP_SPLIT_GPT2 = 7,         /* words and numbers led by a blank */
  NP_SPLIT_GPT2_DIGITS = 8,  /* that, between digits cut out one by one */
  NP_SPLIT_GPT2_NUMBERS = 9, /* that, between whole numbers cut out */
  NP_SPLIT_END               /* one more than the last */
} np_split_kind;

/* A number that means one of the kinds: files are not believed. */
bool np_split_known(uint32_t kind);

#define NP_SPLIT_REACH 0x7FFFFFFFu /* leaves room in 32 bits for all sums */

/* Length of the first piece of [p, end), which must not be empty; at least 1. A byte that
** starts no valid UTF-8 character is a character of its own, of the class of symbols. */
size_t np_split_next(np_split_kind kind, const uint8_t *p, const uint8_t *end);

/* Cuts [p, end) into the pieces that calls of np_split_next give, up to `cap` of them:
** writes where each ends, as offsets from p, to ends[0], ends[1], …; returns how many. May
** stop early, but gives at least 1 unless p == end or cap == 0 or the first piece is over
** 2^30 bytes long: then 0, and np_split_next gives that piece. No offset is
** greater than NP_SPLIT_REACH, so longer texts are cut by calling again from
** p + ends[n - 1]. */
size_t np_split_many(np_split_kind kind, const uint8_t *p, const uint8_t *end,
                     uint32_t *ends, size_t cap);

/* The same for the kinds from NP_SPLIT_QWEN2 on (split_family.c). */
size_t np_split_family(np_split_kind kind, const uint8_t *p, const uint8_t *end);

/* The class (one of NP_CLASS_ in unicode.h) of the character at p < end, and its length. */
unsigned np_split_class(const uint8_t *p, const uint8_t *end, size_t *len);

/* True when `at` does not cut a valid UTF-8 character of `s` in two. */
bool np_split_between(np_str s, size_t at);

#endif
