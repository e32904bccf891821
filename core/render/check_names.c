/*
** The table of names a validator has met. next: check.c
*/
#include "render/check_own.h"

#include "base/hash.h"

/* The slot of a text, or the free one where it would go. There is always a free one. */
static np_name *slot_of(const np_names *t, np_str text) {
  size_t mask = t->cap - 1, i = (size_t)np_hash64(text) & mask;
  while (t->slots[i].text.p && !np_str_eq(t->slots[i].text, text)) i = (i + 1) & mask;
  return &t->slots[i];
}

np_name *np_names_find(const np_names *t, np_str text) {
  np_name *n = t->cap ? slot_of(t, text) : NULL;
  return n && n->text.p ? n : NULL;
}

static bool widen(np_checker *c, np_names *t) {
  np_names wide = {.used = t->used, .cap = t->cap ? t->cap * 2 : 64};
  wide.slots = np_calloc(c->alloc, wide.cap, sizeof *wide.slots);
  if (!wide.slots) return false;
  for (size_t i = 0; i < t->cap; i++) {
    if (t->slots[i].text.p) *slot_of(&wide, t->slots[i].text) = t->slots[i];
  }
  np_free(c->alloc, t->slots);
  *t = wide;
  return true;
}

np_name *np_names_add(np_checker *c, np_names *t, np_str text) {
  if (t->used >= t->cap / 2 && !widen(c, t)) return NULL; /* half empty: short walks */
  np_name *n = slot_of(t, text);
  if (n->text.p) return n;
  if (!np_arena_copy(&c->arena, text, &n->text)) {
    n->text = (np_str){0};
    return NULL;
  }
  t->used++;
  return n;
}

void np_names_clear(np_names *t) {
  if (t->slots) memset(t->slots, 0, t->cap * sizeof *t->slots);
  t->used = 0;
}
