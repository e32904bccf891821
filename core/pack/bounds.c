/*
** Bounds of regions: a region above its cap gives first, none gives below its minimum. Only
** shrink asks; the last resort and what a policy does to one entry do not. next: shrink.c
*/
#include "pack/bounds.h"

int64_t np_pack_cap(const np_pack *p, np_region region) {
  const np_bounds *b = &p->bounds[region];
  int64_t cap = b->max > 0 ? b->max : INT64_MAX;
  int64_t part = (int64_t)(b->share * (double)p->budget);
  return b->share > 0 && part < cap ? part : cap;
}

int64_t np_pack_over(const np_pack *p, np_region region) {
  int64_t cap = np_pack_cap(p, region);
  return p->view.region[region] > cap ? p->view.region[region] - cap : 0;
}

int64_t np_pack_room(const np_pack *p, np_region region) {
  int64_t room = p->view.region[region] - p->bounds[region].min;
  if (p->bounds[region].min <= 0) return INT64_MAX;
  return room > 0 ? room : 0;
}

bool np_pack_has_minimum(const np_pack *p) {
  for (int r = 0; r < NP_REGION_COUNT; r++) {
    if (p->bounds[r].min > 0) return true;
  }
  return false;
}

/* Takes back what was done since `mark` if it has brought a region below its minimum: what a
** notice costs or saves, and whose region it is in, is known only when it is there. */
static np_verdict settle(np_pack *p, size_t mark, const int64_t *before, np_verdict v) {
  bool low = false;
  for (int r = 0; v == NP_DONE && r < NP_REGION_COUNT; r++) {
    int64_t now = p->view.region[r];
    low = low || (now < p->bounds[r].min && now < before[r]);
  }
  if (!low) return v;
  return np_pack_undo(p, mark, NULL) ? NP_NO_MEMORY : NP_SAME;
}

np_verdict np_pack_lower_within(np_pack *p, int64_t id, int step, np_reason r) {
  int64_t before[NP_REGION_COUNT];
  size_t mark = np_pack_mark(p);
  if (!np_pack_has_minimum(p)) return np_pack_lower_step(p, id, step, r);
  memcpy(before, p->view.region, sizeof before);
  return settle(p, mark, before, np_pack_lower_step(p, id, step, r));
}

np_verdict np_pack_drop_within(np_pack *p, uint32_t atom, np_reason r) {
  int64_t before[NP_REGION_COUNT];
  size_t mark = np_pack_mark(p);
  if (!np_pack_has_minimum(p)) return np_pack_drop_atom(p, atom, r);
  memcpy(before, p->view.region, sizeof before);
  return settle(p, mark, before, np_pack_drop_atom(p, atom, r));
}

void np_candidates_filter(const np_pack *p, np_candidates *c, uint32_t keep) {
  size_t n = 0;
  for (size_t i = 0; i < c->count; i++) {
    const np_entry *en = np_log_entry(p->log, c->list[i].id);
    if (keep >> en->region & 1) c->list[n++] = c->list[i];
  }
  c->count = n;
  c->regions &= keep;
}
