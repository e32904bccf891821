/*
** Free lists by size. A block is led by its size, which the caller does not tell when it gives it
** back. next: buf.c
*/
#include "base/spare.h"

/* Builds for tests keep nothing: every allocation can fail there, and sanitizers see what is
** used too late. */
#ifdef NEAP_CHECK
#define KEPT_MOST ((size_t)0)
#else
#define KEPT_MOST ((size_t)256 << 10) /* a turn's texts; more is the host's */
#endif
#define LEAST 64 /* bytes of the smallest block */

typedef struct head {
  size_t size; /* of the block behind it: LEAST << index, or its own if it is larger */
  size_t index;
} head;

/* The head takes as much as keeps what follows aligned. */
#define HEAD (sizeof(max_align_t) > sizeof(head) ? sizeof(max_align_t) : sizeof(head))

static head head_of(const void *p) {
  head h;
  memcpy(&h, (const char *)p - HEAD, sizeof h);
  return h;
}

static size_t index_of(size_t n) {
  size_t i = KEPT_MOST ? 0 : NP_SPARE_SIZES;
  while (i < NP_SPARE_SIZES && (size_t)LEAST << i < n) i++;
  return i;
}

static void *from_host(np_spare *s, size_t size, size_t index) {
  size_t bytes;
  if (!np_add_ok(size, HEAD, &bytes)) return NULL;
  char *block = np_malloc(s->host, bytes);
  if (!block) return NULL;
  head h = {size, index};
  memcpy(block, &h, sizeof h);
  return block + HEAD;
}

static void *spare_malloc(void *ctx, size_t n) {
  np_spare *s = ctx;
  size_t i = index_of(n);
  if (i == NP_SPARE_SIZES) return from_host(s, n, i);
  void *p = s->free[i];
  if (!p) return from_host(s, (size_t)LEAST << i, i);
  memcpy(&s->free[i], p, sizeof s->free[i]);
  s->kept -= (size_t)LEAST << i;
  return p;
}

static void spare_free(void *ctx, void *p) {
  np_spare *s = ctx;
  head h = head_of(p);
  if (h.index == NP_SPARE_SIZES || s->kept + h.size > KEPT_MOST) {
    np_free(s->host, (char *)p - HEAD);
    return;
  }
  memcpy(p, &s->free[h.index], sizeof s->free[h.index]);
  s->free[h.index] = p;
  s->kept += h.size;
}

static void *spare_realloc(void *ctx, void *p, size_t old, size_t n) {
  head h = head_of(p);
  if (n <= h.size) return p;
  void *moved = spare_malloc(ctx, n);
  if (!moved) return NULL;
  memcpy(moved, p, old < h.size ? old : h.size);
  spare_free(ctx, p);
  return moved;
}

void np_spare_init(np_spare *s, const neap_alloc *host) {
  *s = (np_spare){.host = host};
  s->alloc = (neap_alloc){spare_malloc, spare_realloc, spare_free, s};
}

void np_spare_free(np_spare *s) {
  for (size_t i = 0; i < NP_SPARE_SIZES; i++) {
    for (void *p = s->free[i], *next; p; p = next) {
      memcpy(&next, p, sizeof next);
      np_free(s->host, (char *)p - HEAD);
    }
    s->free[i] = NULL;
  }
  s->kept = 0;
}
