/*
** Allocation through the host's functions, arenas, growing arrays. next: buf.c
*/
#include "base/mem.h"

#include <stdlib.h>

static void *libc_malloc(void *ctx, size_t n) {
  (void)ctx;
  return malloc(n);
}

static void *libc_realloc(void *ctx, void *p, size_t old, size_t n) {
  (void)ctx;
  (void)old;
  return realloc(p, n);
}

static void libc_free(void *ctx, void *p) {
  (void)ctx;
  free(p);
}

const neap_alloc np_alloc_libc = {libc_malloc, libc_realloc, libc_free, NULL};

void *np_malloc(const neap_alloc *a, size_t n) {
  return a->malloc(a->ctx, n ? n : 1);
}

void *np_calloc(const neap_alloc *a, size_t count, size_t size) {
  size_t n;
  if (!np_mul_ok(count, size, &n)) return NULL;
  void *p = np_malloc(a, n);
  if (p) memset(p, 0, n);
  return p;
}

void *np_realloc(const neap_alloc *a, void *p, size_t old, size_t n) {
  if (!p) return np_malloc(a, n);
  return a->realloc(a->ctx, p, old, n ? n : 1);
}

void np_free(const neap_alloc *a, void *p) {
  if (p) a->free(a->ctx, p);
}

bool np_grow(const neap_alloc *a, void **items, size_t *cap, size_t need, size_t size) {
  if (need <= *cap) return true;
  size_t want = *cap + *cap / 2 < need ? need : *cap + *cap / 2;
  if (want < 8) want = 8;
  size_t bytes;
  if (!np_mul_ok(want, size, &bytes)) return false;
  void *p = np_realloc(a, *items, *cap * size, bytes);
  if (!p) return false;
  *items = p;
  *cap = want;
  return true;
}

struct np_chunk {
  np_chunk *next;
  size_t cap, n;
  max_align_t data[];
};

#define ARENA_CHUNK ((size_t)16 << 10) /* a few dozen messages' worth of small slices */

void np_arena_init(np_arena *ar, const neap_alloc *a) {
  *ar = (np_arena){.alloc = a};
}

static np_chunk *chunk_new(np_arena *ar, size_t n) {
  size_t cap = n > ARENA_CHUNK ? n : ARENA_CHUNK;
  size_t bytes;
  if (!np_add_ok(cap, sizeof(np_chunk), &bytes)) return NULL;
  np_chunk *c = np_malloc(ar->alloc, bytes);
  if (!c) return NULL;
  c->cap = cap;
  c->n = 0;
  c->next = ar->chunks;
  ar->chunks = c;
  return c;
}

void *np_arena_alloc(np_arena *ar, size_t n) {
  if (n > SIZE_MAX - 8) return NULL;
  n = (n + 7) & ~(size_t)7;
  np_chunk *c = ar->chunks;
  if (!c || c->cap - c->n < n) c = chunk_new(ar, n);
  if (!c) return NULL;
  void *p = (char *)c->data + c->n;
  c->n += n;
  ar->used += n;
  return p;
}

bool np_arena_copy(np_arena *ar, np_str s, np_str *out) {
  if (s.n == SIZE_MAX) return false;
  char *p = np_arena_alloc(ar, s.n + 1);
  if (!p) return false;
  if (s.n) memcpy(p, s.p, s.n);
  p[s.n] = '\0';
  *out = (np_str){p, s.n};
  return true;
}

void np_arena_clear(np_arena *ar) {
  np_chunk *c = ar->chunks;
  if (!c) return;
  for (np_chunk *old = c->next, *next; old; old = next) {
    next = old->next;
    np_free(ar->alloc, old);
  }
  c->next = NULL;
  c->n = 0;
  ar->used = 0;
}

np_arena_place np_arena_here(const np_arena *ar) {
  return (np_arena_place){ar->chunks, ar->chunks ? ar->chunks->n : 0, ar->used};
}

void np_arena_back(np_arena *ar, np_arena_place to) {
  while (ar->chunks != to.chunk) {
    np_chunk *next = ar->chunks->next;
    np_free(ar->alloc, ar->chunks);
    ar->chunks = next;
  }
  if (ar->chunks) ar->chunks->n = to.n;
  ar->used = to.used;
}

void np_arena_free(np_arena *ar) {
  for (np_chunk *c = ar->chunks, *next; c; c = next) {
    next = c->next;
    np_free(ar->alloc, c);
  }
  ar->chunks = NULL;
  ar->used = 0;
}
