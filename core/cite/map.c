/*
** The hash table: at most half full, triangular steps, so that a search that finds nothing
** looks at two or three slots. next: index.c
*/
#include "cite/map.h"

#define FIRST_SIZE 64
#define MAX_STEPS 128 /* at half load a longer search is not chance but made */

void np_map_init(np_map *m, const neap_alloc *a) {
  *m = (np_map){.alloc = a};
}

void np_map_free(np_map *m) {
  np_free(m->alloc, m->slots);
  m->slots = NULL;
  m->mask = m->n = 0;
}

static void move_slot(np_map *m, np_slot s) {
  size_t at = np_map_place(s.tag) & m->mask;
  for (size_t step = 1; m->slots[at].item; step++) at = (at + step) & m->mask;
  m->slots[at] = s;
}

bool np_map_grow(np_map *m) {
  size_t old = m->slots ? m->mask + 1 : 0;
  size_t size = old ? old * 2 : FIRST_SIZE;
  np_slot *from = m->slots,
          *to = size > old ? np_calloc(m->alloc, size, sizeof *to) : NULL;
  if (!to) return false;
  m->slots = to;
  m->mask = size - 1;
  for (size_t i = 0; i < old; i++) {
    if (from[i].item) move_slot(m, from[i]);
  }
  np_free(m->alloc, from);
  return true;
}

bool np_map_next(const np_map *m, np_probe *p, uint32_t *item) {
  if (!m->slots) return false;
  for (;;) {
    if (p->step) p->at = (p->at + p->step) & m->mask;
    const np_slot *s = &m->slots[p->at];
    if (s->item == 0 || ++p->step > MAX_STEPS) return false;
    if (s->tag != p->tag) continue;
    *item = s->item - 1;
    return true;
  }
}

bool np_map_put(np_map *m, const np_probe *p, uint32_t item) {
  np_slot *s = &m->slots[p->at];
  if (s->item || item == UINT32_MAX) return false;
  *s = (np_slot){p->tag, item + 1};
  m->n++;
  return true;
}
