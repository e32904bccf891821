/*
** A hash table from 64-bit hashes to 32-bit numbers, by open addressing; what a number means
** and whether two are equal is the caller's. Nothing ever walks over a table, so no order of
** hashes reaches any output. next: index.h
*/
#ifndef NP_CITE_MAP_H
#define NP_CITE_MAP_H

#include "base/mem.h"
#include "base/port.h"

typedef struct np_slot {
  uint32_t tag;  /* half of the hash; places the slot as well */
  uint32_t item; /* the number + 1; 0 when empty */
} np_slot;

typedef struct np_map {
  const neap_alloc *alloc;
  np_slot *slots;
  size_t mask, n;
} np_map;

typedef struct np_probe {
  size_t at;
  uint32_t tag, step;
} np_probe;

void np_map_init(np_map *m, const neap_alloc *a);
void np_map_free(np_map *m);

/* Makes room for one more; false when out of memory. Before np_map_find that may put. */
bool np_map_grow(np_map *m);
static inline bool np_map_room(np_map *m) {
  return (m->slots && m->n + 1 <= (m->mask + 1) / 2) || np_map_grow(m);
}
/* The tag again, mixed, since its low bits would run in order. */
static inline size_t np_map_place(uint32_t tag) {
  uint64_t h = tag * 0x9E3779B97F4A7C15ull;
  return (size_t)(h >> 29);
}

/* Starts a search. On a table without room nothing is found. */
static inline np_probe np_map_find(const np_map *m, uint64_t hash) {
  uint32_t tag = (uint32_t)(hash >> 32);
  return (np_probe){np_map_place(tag) & m->mask, tag, 0};
}

/* Hints that a search for the hash comes soon: the slot, and later what it names, are fetched
** from memory meanwhile. np_map_peek is the number that the first slot holds, if it may be it. */
static inline void np_map_ahead(const np_map *m, uint64_t hash) {
  if (m->slots) np_prefetch(&m->slots[np_map_place((uint32_t)(hash >> 32)) & m->mask]);
}

static inline bool np_map_peek(const np_map *m, uint64_t hash, uint32_t *item) {
  uint32_t tag = (uint32_t)(hash >> 32);
  if (!m->slots) return false;
  const np_slot *s = &m->slots[np_map_place(tag) & m->mask];
  if (!s->item || s->tag != tag) return false;
  *item = s->item - 1;
  return true;
}

/* The next number with this hash; false when there is none. A search looks at no more than
** 128 slots: hashes made to collide cannot make it slow, only forgetful. */
bool np_map_next(const np_map *m, np_probe *p, uint32_t *item);
/* Puts a number where the search ended; false (nothing is put) where it was given up. */
bool np_map_put(np_map *m, const np_probe *p, uint32_t item);

#endif
