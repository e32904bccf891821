/*
** Small blocks from slabs, in lists by size: Lua says how large a block was when it gives it
** back, so none needs a head, and none is searched for. Reading a recording makes and drops
** millions of them. What was a small block stays one until the end; larger ones are the C
** library's. next: main.c
*/
#include "cli/blocks.h"

#include <stdlib.h>
#include <string.h>

#define SLAB ((size_t)64 << 10) /* small beside any recording */
#define ROUNDED(n) (((n) + BLOCK_STEP - 1) / BLOCK_STEP * BLOCK_STEP)

/* The list of blocks of n bytes, 1 to BLOCK_MOST. */
static size_t list_of(size_t n) {
  return (n - 1) / BLOCK_STEP;
}

static void put(blocks *b, void *p, size_t n) {
  block *freed = p;
  freed->next = b->free[list_of(n)];
  b->free[list_of(n)] = freed;
}

/* What is left of the old slab becomes free blocks. */
static int new_slab(blocks *b) {
  block *slab = malloc(SLAB);
  if (!slab) return 0;
  while (b->end - b->at >= BLOCK_STEP) {
    size_t left = (size_t)(b->end - b->at);
    size_t n = left < BLOCK_MOST ? left : BLOCK_MOST;
    put(b, b->at, n);
    b->at += n;
  }
  slab->next = b->slabs;
  b->slabs = slab;
  b->at = (char *)slab + BLOCK_STEP;
  b->end = (char *)slab + SLAB;
  return 1;
}

static void *get(blocks *b, size_t n) {
  block *freed = b->free[list_of(n)];
  if (freed) {
    b->free[list_of(n)] = freed->next;
    return freed;
  }
  n = ROUNDED(n);
  if ((size_t)(b->end - b->at) < n && !new_slab(b)) return NULL;
  void *p = b->at;
  b->at += n;
  return p;
}

static int is_small(size_t n) {
  return n >= 1 && n <= BLOCK_MOST;
}

/* Lua's contract: old is the block's size when p is not NULL; shrinking never fails. A block
** that is small, or becomes it, is copied; without room to shrink to it stays as it is. */
void *blocks_alloc(void *ud, void *p, size_t old, size_t n) {
  blocks *b = ud;
  if (!p) old = 0;
  if (n == 0) {
    if (is_small(old)) put(b, p, old);
    else free(p);
    return NULL;
  }
  if (!is_small(old) && !is_small(n)) return realloc(p, n);
  if (is_small(old) && is_small(n) && list_of(old) == list_of(n)) return p;
  void *q = is_small(n) ? get(b, n) : malloc(n);
  if (!q) return old >= n ? p : NULL;
  if (p) {
    memcpy(q, p, old < n ? old : n);
    blocks_alloc(ud, p, old, 0);
  }
  return q;
}

void blocks_free(blocks *b) {
  while (b->slabs) {
    block *slab = b->slabs;
    b->slabs = slab->next;
    free(slab);
  }
}
