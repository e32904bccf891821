/*
** What the provider would bill for a prompt: tokens read from its cache, tokens written to it,
** and the rest at the full price. next: bill.c
*/
#ifndef NP_ENGINE_BILL_H
#define NP_ENGINE_BILL_H

#include "render/breaks.h"
#include "render/cache.h"

/* A prefix that is kept: so many segments. */
typedef struct np_kept {
  size_t segments;
  int64_t tokens, blocks;
  int64_t used; /* milliseconds, when it was written or last read */
} np_kept;

typedef struct np_bill {
  const neap_alloc *alloc;
  np_kept *kept; /* ascending; only where prefixes are kept at marks */
  size_t count, cap;
  int64_t read, written; /* of the last prompt */
} np_bill;

/* One prompt, in the cache's terms. */
typedef struct np_billed {
  const np_frame *frame;
  const np_rendered *rendered;
  const np_breaks *breaks;
  int64_t tokens;  /* of the whole prompt */
  int64_t minimum; /* counted tokens of the shortest prefix that is kept */
  int64_t now;     /* milliseconds; 0: not known, nothing ages */
  int64_t ttl;     /* likewise; 0: nothing ages */
  bool cold;       /* more than that since the last prompt */
} np_billed;

void np_bill_init(np_bill *b, const neap_alloc *a);
void np_bill_free(np_bill *b);
/* Fills in b->read and b->written. False: out of memory. */
bool np_bill_prompt(np_bill *b, const np_cache *cache, const np_billed *p);

#endif
