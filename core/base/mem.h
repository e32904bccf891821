/*
** Memory: the host's allocator, a bump arena, and growing arrays. No global state; every
** structure knows the allocator it came from. next: buf.h
*/
#ifndef NP_BASE_MEM_H
#define NP_BASE_MEM_H

#include "base/str.h"

/* The C library's allocator, used where the host gives none. */
extern const neap_alloc np_alloc_libc;

/* NULL when out of memory */
void *np_malloc(const neap_alloc *a, size_t n);
/* zeroed; overflow-checked */
void *np_calloc(const neap_alloc *a, size_t count, size_t size);
/* p stays valid on NULL */
void *np_realloc(const neap_alloc *a, void *p, size_t old, size_t n);
/* NULL is fine */
void np_free(const neap_alloc *a, void *p);

/* Makes room for `need` items of `size` bytes in *items (capacity *cap, in items), growing
** by half. Returns false, with nothing changed, when out of memory or on overflow. */
bool np_grow(const neap_alloc *a, void **items, size_t *cap, size_t need, size_t size);

/* A bump arena: many small allocations with one end of life. */
typedef struct np_chunk np_chunk;
typedef struct np_arena {
  const neap_alloc *alloc;
  np_chunk *chunks; /* newest first */
  size_t used;      /* bytes handed out, for accounts of memory */
} np_arena;

void np_arena_init(np_arena *ar, const neap_alloc *a);
/* 8-byte aligned; NULL when out of memory */
void *np_arena_alloc(np_arena *ar, size_t n);
bool np_arena_copy(np_arena *ar, np_str s, np_str *out); /* a copy followed by a NUL */
/* forgets all, keeps one chunk for reuse */
void np_arena_clear(np_arena *ar);
void np_arena_free(np_arena *ar);

/* A place to go back to: everything handed out since is given up. */
typedef struct np_arena_place {
  np_chunk *chunk;
  size_t n, used;
} np_arena_place;
np_arena_place np_arena_here(const np_arena *ar);
void np_arena_back(np_arena *ar, np_arena_place to);

#endif
