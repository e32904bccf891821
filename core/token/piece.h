/*
** The count of one piece whose end is still coming. Its tokens so far are kept; more bytes
** are tried from the last of them on, and only where they do not fit does the search go
** back. Not here: where pieces end. next: piece.c
*/
#ifndef NP_TOKEN_PIECE_H
#define NP_TOKEN_PIECE_H

#include "token/vocab.h"

/* Memory: 4 bytes a token, 1 bit a byte of the piece. Valid when zeroed. */
typedef struct np_open_piece {
  uint32_t *ids; /* the tokens of the first n bytes; n = 0: none yet */
  size_t tokens, ids_cap, n;
  uint64_t *dead; /* bit i: no tokens go through byte i; `words` of it are in use */
  size_t words, dead_cap;
  size_t *marks; /* the bits that are set */
  size_t mark_count, marks_cap;
} np_open_piece;

/* Forgets the piece; keeps the memory. */
void np_open_piece_clear(np_open_piece *t);
void np_open_piece_free(np_open_piece *t, const neap_alloc *a);

/* The tokens of p[0, n), n > 0, merged as one piece. Between two counts without a clear the
** bytes that both have in common must be the same. False when out of memory; then the piece
** is clear. */
bool np_open_piece_count(const np_vocab *v, const neap_alloc *a, np_open_piece *t,
                         const uint8_t *p, size_t n, size_t *tokens);

#endif
