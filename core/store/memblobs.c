/*
** Content by hash in memory. next: memory.c
*/
#include "store/memblobs.h"

#include "store/memlog.h"

void np_memblobs_init(np_memblobs *m, const neap_alloc *a) {
  *m = (np_memblobs){.alloc = a};
}

void np_memblobs_free(np_memblobs *m) {
  for (size_t i = 0; i < m->cap; i++) {
    if (m->slots[i]) np_free(m->alloc, m->slots[i]->body);
    np_free(m->alloc, m->slots[i]);
  }
  np_free(m->alloc, m->slots);
  np_memblobs_init(m, m->alloc);
}

/* The slot where (tenant, hash) is or would go; the table has a free one. */
static size_t slot_of(const np_memblobs *m, np_str tenant, const uint8_t *hash) {
  uint64_t h = np_hash64(tenant) * 31 + np_hash64(np_hash_str(hash));
  size_t i = (size_t)h & (m->cap - 1);
  for (; m->slots[i]; i = (i + 1) & (m->cap - 1)) {
    const np_memblob *b = m->slots[i];
    if (memcmp(b->hash, hash, NP_SHA256) == 0 && np_str_eq(b->tenant, tenant)) break;
  }
  return i;
}

np_memblob *np_memblob_find(const np_memblobs *m, np_str tenant, const uint8_t *hash) {
  return m->cap ? m->slots[slot_of(m, tenant, hash)] : NULL;
}

static bool table_grow(np_memblobs *m) {
  if (m->n < m->cap / 4 * 3) return true;
  np_memblobs big = {.alloc = m->alloc, .n = m->n, .cap = m->cap ? m->cap * 2 : 64};
  big.slots = np_calloc(m->alloc, big.cap, sizeof *big.slots);
  if (!big.slots) return false;
  for (size_t i = 0; i < m->cap; i++) {
    np_memblob *b = m->slots[i];
    if (b) big.slots[slot_of(&big, b->tenant, b->hash)] = b;
  }
  np_free(m->alloc, m->slots);
  *m = big;
  return true;
}

/* The entry for (tenant, hash), an empty one when it is new. */
static np_memblob *entry(np_memblobs *m, np_str tenant, const uint8_t *hash) {
  if (!table_grow(m)) return NULL;
  size_t i = slot_of(m, tenant, hash);
  if (m->slots[i]) return m->slots[i];
  np_memblob *b = np_malloc(m->alloc, sizeof *b + tenant.n + 1);
  if (!b) return NULL;
  char *name = (char *)(b + 1);
  if (tenant.n) memcpy(name, tenant.p, tenant.n);
  *b = (np_memblob){.tenant = {name, tenant.n}};
  memcpy(b->hash, hash, NP_SHA256);
  m->slots[i] = b;
  m->n++;
  return b;
}

/* The copy is made first, so that a failure leaves no empty entry behind. */
np_memblob *np_memblob_put(np_memblobs *m, np_str tenant, const uint8_t *hash,
                           np_str body) {
  np_memblob *b = np_memblob_find(m, tenant, hash);
  if (b && b->body) return b;
  char *copy = np_malloc(m->alloc, body.n);
  if (!copy) return NULL;
  b = entry(m, tenant, hash);
  if (!b) {
    np_free(m->alloc, copy);
    return NULL;
  }
  if (body.n) memcpy(copy, body.p, body.n);
  b->body = copy;
  b->n = body.n;
  return b;
}

bool np_memblob_purge(np_memblobs *m, np_str tenant, const uint8_t *hash) {
  np_memblob *b = entry(m, tenant, hash);
  if (!b) return false;
  if (b->body) np_wipe(b->body, b->n);
  np_free(m->alloc, b->body);
  b->body = NULL;
  b->n = 0;
  return true;
}
