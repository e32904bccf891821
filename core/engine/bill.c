/*
** Two kinds of cache. One finds the longest prefix that it has seen, in steps, from a minimum
** on. The other keeps prefixes only where the prompt is marked: from each mark it looks back
** over a few blocks for one that was kept, and what lies between is written.
** next: economy.c
*/
#include "engine/bill.h"

void np_bill_init(np_bill *b, const neap_alloc *a) {
  *b = (np_bill){.alloc = a};
}

void np_bill_free(np_bill *b) {
  np_free(b->alloc, b->kept);
}

/* ---- a cache that finds prefixes itself ---- */

static void by_prefix(np_bill *b, const np_cache *c, const np_billed *p) {
  int64_t cached = p->cold ? 0 : p->rendered->cached;
  if (cached >= p->minimum && c->step > 0) b->read = cached - cached % c->step;
  if (p->tokens >= p->minimum) b->written = p->tokens - b->read;
}

/* ---- a cache of marked prefixes ---- */

#define KEPT_MOST 512 /* the oldest are forgotten first: a session may have any length */

/* Forgets what the prompt does not begin with any more, and what was not used for too long. */
static void forget(np_bill *b, const np_billed *p) {
  size_t n = 0;
  for (size_t i = 0; i < b->count; i++) {
    const np_kept *k = &b->kept[i];
    bool old = p->cold || (p->ttl && p->now && k->used && p->now - k->used > p->ttl);
    if (!old && k->segments <= p->rendered->common) b->kept[n++] = *k;
  }
  b->count = n;
}

/* The longest prefix kept that a mark behind `segments` segments finds. */
static np_kept *find(np_bill *b, const np_cache *c, size_t segments, int64_t blocks) {
  for (size_t i = b->count; i > 0; i--) {
    np_kept *k = &b->kept[i - 1];
    if (k->segments > segments) continue;
    return k->segments == segments || blocks - k->blocks < (int64_t)c->look_back ? k
                                                                                 : NULL;
  }
  return NULL;
}

static void forget_one(np_bill *b) {
  b->count--;
  memmove(b->kept, b->kept + 1, b->count * sizeof *b->kept);
}

static bool keep(np_bill *b, np_kept one) {
  void *kept = b->kept;
  if (b->count == KEPT_MOST) forget_one(b);
  size_t i = b->count;
  while (i && b->kept[i - 1].segments > one.segments) i--;
  if (i && b->kept[i - 1].segments == one.segments) {
    b->kept[i - 1].used = one.used;
    return true;
  }
  bool ok = np_grow(b->alloc, &kept, &b->cap, b->count + 1, sizeof *b->kept);
  b->kept = kept;
  if (!ok) return false;
  memmove(b->kept + i + 1, b->kept + i, (b->count - i) * sizeof *b->kept);
  b->kept[i] = one;
  b->count++;
  return true;
}

static bool by_marks(np_bill *b, const np_cache *c, const np_billed *p) {
  const np_segment *segments = p->frame->segments;
  int64_t last = 0;
  forget(b, p);
  for (size_t i = 0; i < p->breaks->count; i++) {
    const np_segment *s = &segments[p->breaks->at[i]];
    np_kept *found = find(b, c, p->breaks->at[i] + 1, s->blocks);
    if (found) found->used = p->now;
    if (found && found->tokens > b->read) b->read = found->tokens;
    last = s->tokens;
  }
  b->written = last > b->read ? last - b->read : 0;
  for (size_t i = 0; i < p->breaks->count; i++) {
    const np_segment *s = &segments[p->breaks->at[i]];
    if (!keep(b, (np_kept){p->breaks->at[i] + 1, s->tokens, s->blocks, p->now}))
      return false;
  }
  return true;
}

bool np_bill_prompt(np_bill *b, const np_cache *cache, const np_billed *p) {
  b->read = b->written = 0;
  if (cache->marks) return by_marks(b, cache, p);
  by_prefix(b, cache, p);
  return true;
}
