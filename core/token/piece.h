/*
** The count of one piece whose end is still coming. The search for its tokens (bpe.h) is
** kept where it first depended on the end of the text, so that more bytes go on from
** there and nothing before is looked at again. Not here: where pieces end. next: piece.c
*/
#ifndef NP_TOKEN_PIECE_H
#define NP_TOKEN_PIECE_H

#include "token/vocab.h"

/* Bytes by which the end of a piece may go back between two counts: one character less,
** or half a character that turned out to be none. */
#define NP_PIECE_BACK 4

/* Memory: 4 bytes a token, 1 bit a byte of the piece. Valid when zeroed. */
typedef struct np_open_piece {
  uint32_t *ids; /* the search up to byte `at`: depth tokens, the same whatever follows */
  size_t depth, ids_cap, at;
  uint32_t *more; /* the tokens behind, of the last count */
  size_t more_cap;
  uint64_t *dead; /* bit i: no tokens go through byte i; `words` of it are in use */
  size_t words, dead_cap;
  size_t *marks; /* dead bits that held for the last count only */
  size_t mark_count, marks_cap;
  size_t n, tokens; /* the last count, of n bytes; 0: none yet */
} np_open_piece;

/* Forgets the piece; keeps the memory. */
void np_open_piece_clear(np_open_piece *t);
void np_open_piece_free(np_open_piece *t, const neap_alloc *a);

/* The tokens of p[0, n), n > 0, merged as one piece. Between two counts without a clear
** the bytes stay as they are, but for the last NP_PIECE_BACK, and n grows or goes back by
** at most so many. False when out of memory; then the piece is clear. */
bool np_open_piece_count(const np_vocab *v, const neap_alloc *a, np_open_piece *t,
                         const uint8_t *p, size_t n, size_t *tokens);

#endif
