/*
** A hash table from 64-bit hashes to 32-bit numbers, by open addressing; what a number means
** and whether two are equal is the caller's. Nothing ever walks over a table, so no order of
** hashes reaches any output. next: index.h
*/
#ifndef NP_CITE_MAP_H
#define NP_CITE_MAP_H

#include "base/mem.h"

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
bool np_map_room(np_map *m);
/* Starts a search. On a table without room nothing is found. */
np_probe np_map_find(const np_map *m, uint64_t hash);
/* Hints that a search for the hash comes soon: the slot, and later what it names, are fetched
** from memory meanwhile. np_map_peek is the number that the first slot holds, if it may be it. */
void np_map_ahead(const np_map *m, uint64_t hash);
bool np_map_peek(const np_map *m, uint64_t hash, uint32_t *item);
/* The next number with this hash; false when there is none. A search looks at no more than
** 128 slots: hashes made to collide cannot make it slow, only forgetful. */
bool np_map_next(const np_map *m, np_probe *p, uint32_t *item);
/* Puts a number where the search ended; false (nothing is put) where it was given up. */
bool np_map_put(np_map *m, const np_probe *p, uint32_t item);

#endif
