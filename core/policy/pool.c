/*
** Free lists by size over chunks that are kept until the end. A block moves when its size is
** another, and larger ones are passed through. next: meter.c
*/
#include "policy/pool.h"

#define CHUNK ((size_t)16 << 10) /* a few hundred of Lua's small objects */

void np_pool_init(np_pool *p, const neap_alloc *a) {
  *p = (np_pool){.alloc = a};
}

static void *next_of(const void *block) {
  void *next;
  memcpy(&next, block, sizeof next);
  return next;
}

static void set_next(void *block, void *next) {
  memcpy(block, &next, sizeof next);
}

void np_pool_free(np_pool *p) {
  for (void *c = p->chunks, *next; c; c = next) {
    next = next_of(c);
    np_free(p->alloc, c);
  }
  np_pool_init(p, p->alloc);
}

static size_t class_of(size_t n) {
  return (n - 1) / NP_POOL_STEP;
}

/* What is left of a chunk that is too short for a block is one of the size it has. */
static void keep_rest(np_pool *p) {
  size_t size = p->left / NP_POOL_STEP;
  if (!size) return;
  set_next(p->rest, p->free[size - 1]);
  p->free[size - 1] = p->rest;
  p->left = 0;
}

static bool new_chunk(np_pool *p) {
  char *c = np_malloc(p->alloc, CHUNK);
  if (!c) return false;
  keep_rest(p);
  set_next(c, p->chunks);
  p->chunks = c;
  p->rest = c + NP_POOL_STEP; /* behind the link, aligned as the chunk is */
  p->left = CHUNK - NP_POOL_STEP;
  return true;
}

static void *take(np_pool *p, size_t n) {
  size_t i = class_of(n), size = (i + 1) * NP_POOL_STEP;
  void *block = p->free[i];
  if (block) {
    p->free[i] = next_of(block);
    return block;
  }
  if (p->left < size && !new_chunk(p)) return NULL;
  block = p->rest;
  p->rest += size;
  p->left -= size;
  return block;
}

static void give_back(np_pool *p, void *block, size_t n) {
  if (n > NP_POOL_MOST) {
    np_free(p->alloc, block);
    return;
  }
  set_next(block, p->free[class_of(n)]);
  p->free[class_of(n)] = block;
}

static void *make(np_pool *p, size_t n) {
  return n > NP_POOL_MOST ? np_malloc(p->alloc, n) : take(p, n);
}

/* Builds for tests keep nothing: every allocation can fail there, and sanitizers see what is
** used too late. */
#ifdef NEAP_CHECK
#define POOLED false
#else
#define POOLED true
#endif

static void *pass_on(np_pool *p, void *block, size_t old, size_t n) {
  if (n) {
    void *moved = np_realloc(p->alloc, block, old, n);
    return moved || n > old ? moved : block; /* a shorter one may stay */
  }
  np_free(p->alloc, block);
  return NULL;
}

void *np_pool_realloc(np_pool *p, void *block, size_t old, size_t n) {
  if (!POOLED) return pass_on(p, block, old, n);
  if (!block) return n ? make(p, n) : NULL;
  if (!n) {
    give_back(p, block, old);
    return NULL;
  }
  if (old > NP_POOL_MOST && n > NP_POOL_MOST) return np_realloc(p->alloc, block, old, n);
  bool small = old <= NP_POOL_MOST && n <= NP_POOL_MOST;
  if (small && class_of(old) == class_of(n)) return block;
  void *moved = make(p, n);
  if (!moved) return small && n < old ? block : NULL;
  memcpy(moved, block, old < n ? old : n);
  give_back(p, block, old);
  return moved;
}
