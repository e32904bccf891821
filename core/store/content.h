/*
** One content of a SQLite store while it is being read: its row stays open, and with it the
** snapshot, so that no other process changes what follows. Nothing in the file is trusted.
** next: content.c
*/
#ifndef NP_STORE_CONTENT_H
#define NP_STORE_CONTENT_H

#include "store/chunk.h"
#include "store/sqlite.h"

typedef struct np_content {
  np_sqlite *sq;
  uint8_t hash[NP_SHA256];
  sqlite3_stmt *row, *piece; /* the kept statements; NULL: not open */
  int64_t id;
  size_t size;
  bool whole;  /* it is one row: `text` is all of it, verified */
  np_str text; /* of a whole one; valid until the close */
  np_chunk_map map;
  size_t at; /* the piece that is loaded, SIZE_MAX: none; with its bytes and marks */
  np_str bytes, marks;
  np_buf room; /* for bytes that were compressed */
} np_content;

/* Close it in any case. NOTFOUND, PURGED, CORRUPT, and what a file may fail with. */
neap_rc np_content_open(np_sqlite *sq, np_str tenant, const uint8_t *hash,
                        np_content *out, np_err *e);
void np_content_close(np_content *c);

/* Opens it, appends all of it, and closes it. */
neap_rc np_content_get(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_buf *out,
                       np_err *e);

/* Loads piece n of one that is not whole; its sum is verified. */
neap_rc np_content_piece(np_content *c, size_t n, np_err *e);
/* Appends all of it, each piece verified by its sum. */
neap_rc np_content_all(np_content *c, np_buf *out, np_err *e);
/* Appends the window, and fills in what it says of the whole. */
neap_rc np_content_window(np_content *c, np_window *w, np_buf *out, np_err *e);

#define NP_CONTENT_MAX                                                                   \
  ((int64_t)1 << 39) /* ids of contents, so that those of pieces fit */

#endif
