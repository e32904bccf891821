/*
** Small blocks for a Lua state: what the collector gives up is handed out again, so that a call
** that makes as much as the last one asks the host for nothing. next: pool.c
*/
#ifndef NP_POLICY_POOL_H
#define NP_POLICY_POOL_H

#include "base/mem.h"

#define NP_POOL_STEP 16 /* bytes from one size to the next */
#define NP_POOL_MOST                                                                     \
  2048 /* a coroutine and its stack; larger blocks are the host's own */

typedef struct np_pool {
  const neap_alloc *alloc;
  void *chunks; /* each begins with the next one */
  char *rest;   /* of the newest chunk */
  size_t left;
  void *free[NP_POOL_MOST / NP_POOL_STEP]; /* by size; each begins with the next one */
} np_pool;

void np_pool_init(np_pool *p, const neap_alloc *a);
void np_pool_free(np_pool *p); /* with all of its blocks */

/* As the allocator's own, for callers that know the sizes. NULL: nothing has changed. */
void *np_pool_realloc(np_pool *p, void *block, size_t old, size_t n);

#endif
