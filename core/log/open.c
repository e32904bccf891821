/*
** A table from an id to the calls that wait under it. Providers use ids again, so a key has
** a list: the newest batch first, inside a batch the oldest first. Adding and taking cost the
** same however many calls were left without a result. next: parse.c
*/
#include "log/open.h"

#include "base/hash.h"

/* Some forms have no ids: such calls are found by name, and never by an id. */
static bool is_by_name(const np_entry *call) {
  return call->by_name;
}

static np_str key_of(const np_entry *call) {
  return is_by_name(call) ? call->tool : call->call_id;
}

/* The slot of a key, or the free one where it would go. There is always a free one. */
static np_open *find(const np_log *lg, np_str key, bool by_name) {
  size_t mask = lg->open_cap - 1, i = (size_t)(np_hash64(key) + by_name) & mask;
  for (;; i = (i + 1) & mask) {
    np_open *o = &lg->open[i];
    if (!o->key) return o;
    const np_entry *call = np_log_entry(lg, o->key);
    if (is_by_name(call) == by_name && np_str_eq(key_of(call), key)) return o;
  }
}

static void move_slots(np_log *lg, const np_open *old, size_t cap) {
  for (size_t i = 0; i < cap; i++) {
    if (!old[i].key) continue;
    const np_entry *call = np_log_entry(lg, old[i].key);
    *find(lg, key_of(call), is_by_name(call)) = old[i];
  }
}

bool np_open_reserve(np_log *lg, size_t more) {
  size_t cap = lg->open_cap ? lg->open_cap : 16;
  while (cap / 2 < lg->open_used + more) cap *= 2; /* half empty: short walks */
  if (cap == lg->open_cap) return true;
  np_open *fresh = np_calloc(lg->alloc, cap, sizeof *fresh), *old = lg->open;
  size_t old_cap = lg->open_cap;
  if (!fresh) return false;
  lg->open = fresh;
  lg->open_cap = cap;
  move_slots(lg, old, old_cap);
  np_free(lg->alloc, old);
  return true;
}

static uint32_t lead_of(const np_log *lg, const np_entry *en) {
  return lg->messages[en->message].lead;
}

/* Calls are added while their response is, before any result: the head's batch is then the
** newest, and `tail` its end. */
void np_open_add(np_log *lg, np_entry *call) {
  np_open *o = find(lg, key_of(call), is_by_name(call));
  if (!o->key) {
    o->key = call->id;
    lg->open_used++;
  } else {
    call->again = true;
  }
  const np_entry *head = np_log_entry(lg, o->head);
  if (head && lead_of(lg, head) == lead_of(lg, call)) {
    np_entry *tail = np_log_entry(lg, o->tail);
    call->twin = tail->twin + 1;
    call->waits = tail->waits;
    tail->waits = call->id;
  } else {
    call->waits = o->head;
    o->head = call->id;
  }
  o->tail = call->id;
}

np_entry *np_open_take(np_log *lg, np_str key, bool by_name) {
  if (!lg->open_cap) return NULL;
  np_open *o = find(lg, key, by_name);
  np_entry *call = np_log_entry(lg, o->head);
  if (!call) return NULL;
  o->head = call->waits;
  call->waits = 0;
  return call;
}
