/*
** Content by hash in memory: an open-addressing table keyed by tenant and hash. Entries
** are never removed, a purged one stays as the record that it was there. No locks here.
** next: memblobs.c
*/
#ifndef NP_STORE_MEMBLOBS_H
#define NP_STORE_MEMBLOBS_H

#include "store/chunk.h"
#include "store/row.h"

typedef struct np_memblob {
  np_str tenant; /* owned */
  uint8_t hash[NP_SHA256];
  char *body; /* NULL when purged */
  size_t n;
  size_t *
      marks; /* of a large one, once a window is asked for: where each 64th line begins */
  size_t lines;
} np_memblob;

typedef struct np_memblobs {
  const neap_alloc *alloc;
  np_memblob **slots; /* a power of two, at most three quarters full */
  size_t n, cap;
} np_memblobs;

void np_memblobs_init(np_memblobs *m, const neap_alloc *a);
void np_memblobs_free(np_memblobs *m);
np_memblob *np_memblob_find(const np_memblobs *m, np_str tenant, const uint8_t *hash);

/* The entry with this content, made or filled again when absent or purged. NULL: no
** memory. */
np_memblob *np_memblob_put(np_memblobs *m, np_str tenant, const uint8_t *hash,
                           np_str body);

/* A window of its body; false: no memory for its marks. */
bool np_memblob_window(const np_memblobs *m, np_memblob *b, np_window *w, np_str *out);

/* Forgets the content; makes an empty entry when there was none. False: no memory. */
bool np_memblob_purge(np_memblobs *m, np_str tenant, const uint8_t *hash);

#endif
