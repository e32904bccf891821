/*
** An allocator for what does not outlive a call: blocks that were given back are kept and handed
** out again, so that a turn like the last one asks the host for nothing. Large blocks, and more
** than a little of it, go back to the host. next: buf.h
*/
#ifndef NP_BASE_SPARE_H
#define NP_BASE_SPARE_H

#include "base/mem.h"

#define NP_SPARE_SIZES 11 /* 64 bytes to 64 KiB, in powers of two */

typedef struct np_spare {
  neap_alloc alloc; /* to be used as any other; ends with np_spare_free */
  const neap_alloc *host;
  void *free[NP_SPARE_SIZES]; /* each begins with the next one */
  size_t kept;                /* bytes in them */
} np_spare;

/* The struct must stay where it is: its allocator points to it. One thread at a time. */
void np_spare_init(np_spare *s, const neap_alloc *host);
/* Gives back what is kept. What is in use must have been freed before. */
void np_spare_free(np_spare *s);

#endif
