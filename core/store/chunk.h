/*
** A large body in pieces: 32 KB each, with a sum of its own and the places of its lines, so
** that a window deep in it is read, and trusted, without the rest. Here is what the pieces
** and their map say; blobs.c keeps them, window.c reads them. next: chunk.c
*/
#ifndef NP_STORE_CHUNK_H
#define NP_STORE_CHUNK_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/sum.h"

/* Bytes of a piece: a window pays for one, and 32 KB is read and summed in some 10 us. */
#define NP_CHUNK ((size_t)32 << 10)
/* Larger bodies are kept in pieces. Up to here reading all of it costs less than 0.2 ms. */
#define NP_WHOLE_MAX ((size_t)256 << 10)
#define NP_CHUNK_BITS 24 /* of a piece's id, content << 24 | n: which of the content's */
#define NP_MARK_LINES 64 /* lines from one mark to the next */

static inline size_t np_chunk_count(size_t size) {
  return (size + NP_CHUNK - 1) / NP_CHUNK;
}
/* Bytes of piece n of a body of `size` bytes. */
static inline size_t np_chunk_size(size_t size, size_t n) {
  size_t from = n * NP_CHUNK;
  return size - from < NP_CHUNK ? size - from : NP_CHUNK;
}

typedef struct np_chunk_map {
  np_str before; /* 4 bytes for each piece: the newlines before it; little-endian */
  size_t lines;  /* of the whole body */
} np_chunk_map;

/* Appends the map of a body: it is kept with the content's row. */
void np_chunk_map_write(const uint8_t *hash, np_str body, np_buf *out);
/* Reads it; false when it is not what was written for this content. */
bool np_chunk_map_read(const uint8_t *hash, size_t size, np_str map, np_chunk_map *out);
/* The piece that holds the body's q-th newline, q from 1; *rest: which of the piece's it is. */
size_t np_chunk_of_newline(const np_chunk_map *m, size_t q, size_t *rest);

/* Appends the marks of a piece: the offset behind each 64th newline in it, 2 bytes each. */
void np_chunk_marks(np_str piece, np_buf *out);
/* The offset behind the r-th newline of the piece, r from 1; SIZE_MAX when the marks or the
** piece have not so many. */
size_t np_chunk_behind(np_str piece, np_str marks, size_t r);

/* The sum of a content that is one row, which is copied to `to` on the way (NULL: not copied): of
** its bytes, and of whose they are. */
uint64_t np_whole_sum(const uint8_t *hash, np_str body, char *to);
/* The sum of a piece: of its bytes and marks, and of which content's it is, and where. */
uint64_t np_chunk_sum(const uint8_t *hash, size_t n, np_str marks, np_str piece);

#endif
