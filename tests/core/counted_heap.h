/*
** A heap of the host's kind that counts what is asked of it. next: test_heap.c
*/
#ifndef NP_TESTS_COUNTED_HEAP_H
#define NP_TESTS_COUNTED_HEAP_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct heap {
  long calls; /* that asked for memory */
  long bytes; /* held */
} heap;

static heap h;

/* Blocks are led by their size: the host is not told it when it frees. */
static void *heap_realloc(void *ctx, void *p, size_t old, size_t n) {
  max_align_t *block = p ? (max_align_t *)p - 1 : NULL;
  size_t was = 0;
  (void)ctx;
  (void)old;
  if (block) memcpy(&was, block, sizeof was);
  max_align_t *again = realloc(block, n + sizeof *again);
  if (!again) return NULL;
  memcpy(again, &n, sizeof n);
  h.calls++;
  h.bytes += (long)n - (long)was;
  return again + 1;
}

static void *heap_malloc(void *ctx, size_t n) {
  return heap_realloc(ctx, NULL, 0, n);
}

static void heap_free(void *ctx, void *p) {
  max_align_t *block = (max_align_t *)p - 1;
  size_t n;
  (void)ctx;
  memcpy(&n, block, sizeof n);
  h.bytes -= (long)n;
  free(block);
}

#endif
