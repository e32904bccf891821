/*
** By value: an entry is worth its rank times what its rung shows of it, and as little of that as
** possible is lost. Every atom is a set of options (value_options.c) of which choose.c takes
** one. What a notice costs is known only when it is there: for what a choice falls short of,
** it is chosen again. next: value_options.c
*/
#include "pack/bounds.h"
#include "pack/value.h"

static np_verdict lower(np_pack *p, const np_value_member *m, size_t rung, np_reason r) {
  return np_pack_lower_within(p, m->id, m->steps[rung], r);
}

/* The digits of a code say each member's rung, 0: as it is. */
static np_verdict lower_combined(np_pack *p, const np_value_set *s, int64_t code,
                                 np_reason r) {
  np_verdict v = NP_SAME;
  for (size_t i = 0; i < s->count && v != NP_NO_MEMORY; i++) {
    int64_t base = s->members[i].count + 1, digit = code % base;
    code /= base;
    if (digit) v = lower(p, &s->members[i], (size_t)digit - 1, r);
  }
  return v;
}

static np_verdict lower_row(np_pack *p, const np_value_set *s, int64_t steps,
                            np_reason r) {
  np_verdict v = NP_SAME;
  for (int64_t i = 0; i < steps && v != NP_NO_MEMORY; i++) {
    const np_step *step = &s->row.at[i];
    const np_value_member *m = &s->members[step->set];
    v = lower(p, m, step->option - step->set * NP_VALUE_RUNGS, r);
  }
  return v;
}

static np_verdict carry_out(np_pack *p, const np_value_set *s, int64_t code,
                            np_reason r) {
  if (code == NP_VALUE_DROP) return np_pack_drop_within(p, s->atom, r);
  return s->row.at ? lower_row(p, s, code, r) : lower_combined(p, s, code, r);
}

static bool carry_out_all(np_pack *p, const np_value_plan *pl, const size_t *picked,
                          np_reason r) {
  bool ok = true;
  for (size_t i = 0; ok && i < pl->set_count; i++) {
    if (picked[i] == NP_CHOICE_LEFT) continue;
    ok = carry_out(p, &pl->sets[i], pl->codes[picked[i]], r) != NP_NO_MEMORY;
  }
  return ok;
}

static np_region region_of(const np_pack *p, const np_value_set *s) {
  return np_log_entry(p->log, p->log->atoms[s->atom].first)->region;
}

static void sum_up(const np_pack *p, const np_value_plan *pl, const size_t *picked,
                   int64_t *saved) {
  memset(saved, 0, NP_REGION_COUNT * sizeof *saved);
  for (size_t i = 0; i < pl->set_count; i++) {
    if (picked[i] != NP_CHOICE_LEFT)
      saved[region_of(p, &pl->sets[i])] += pl->options[picked[i]].saved;
  }
}

/* The region that the choice would take furthest below its minimum, and how far; 0: none. */
static int64_t too_low(const np_pack *p, const int64_t *saved, np_region *region) {
  int64_t most = 0;
  for (int r = 0; r < NP_REGION_COUNT; r++) {
    int64_t room = np_pack_room(p, (np_region)r);
    if (saved[r] <= room || saved[r] - room <= most) continue;
    most = saved[r] - room;
    *region = (np_region)r;
  }
  return most;
}

/* The first set that may be lowered. The first choice of a shrink decides what is left alone of
** the beginning; later ones save behind the same place, or, where that cannot be, anywhere. */
static bool first_set(np_pack *p, const np_value_plan *pl, int64_t need, size_t *from) {
  np_front *f = &p->front;
  np_choice c = {pl->options, pl->first, pl->set_count};
  *from = 0;
  if (!(f->more > 0) || !pl->set_count) return true;
  if (!f->chosen) {
    bool ok = np_choose_front(p->alloc, &c, need, f->more, from);
    f->atom = pl->sets[*from].atom;
    f->chosen = true;
    return ok;
  }
  while (*from < pl->set_count && pl->sets[*from].atom < f->atom) (*from)++;
  c.first += *from;
  c.sets -= *from;
  if (!np_choose_can(&c, need)) *from = 0;
  return true;
}

/* One choice among the candidates' regions. Where it would take one too low, nothing is done and
** *low gets its bit; with `tries` it aims at so much less as often as that. */
static neap_rc choose_once(np_pack *p, const np_candidates *c, int64_t need, int tries,
                           uint32_t *low, np_reason r, np_err *e) {
  np_value_plan pl;
  np_region region = NP_REGION_HOT;
  int64_t saved[NP_REGION_COUNT], over = 1;
  bool ok = np_value_plan_make(p, c, &pl, e) == NEAP_OK;
  size_t from = 0, *picked = np_calloc(p->alloc, pl.set_count + 1, sizeof *picked);
  ok = ok && picked && first_set(p, &pl, need, &from);
  np_choice choice = {pl.options, from ? pl.first + from : pl.first, pl.set_count - from};
  for (size_t i = 0; ok && i < from; i++) picked[i] = NP_CHOICE_LEFT;
  for (int i = 0; ok && over && i <= tries; i++) {
    ok = np_choose(p->alloc, &choice, need, picked + from);
    if (ok) sum_up(p, &pl, picked, saved);
    over = ok ? too_low(p, saved, &region) : 0;
    need -= over;
  }
  *low = over ? UINT32_C(1) << region : 0;
  if (ok && !over) ok = carry_out_all(p, &pl, picked, r);
  np_free(p->alloc, picked);
  np_value_plan_free(p, &pl);
  return ok ? NEAP_OK : np_fail_mem(e);
}

#define TRIES 8 /* a choice saves less than one step more than it must */

/* A region that cannot give its part gives what it may, by choices of its own, and is then left
** aside. */
static neap_rc choose_within(np_pack *p, np_candidates *c, uint32_t low, int64_t need,
                             np_reason r, np_err *e) {
  np_candidates part = *c;
  np_region region = NP_REGION_FIXED;
  neap_rc rc = NEAP_OK;
  while (!(low >> region & 1)) region++;
  c->regions &= ~low;
  part.regions = low;
  for (int i = 0; !rc && i < 2; i++) {
    int64_t room = np_pack_room(p, region);
    rc = choose_once(p, &part, need < room ? need : room, TRIES, &low, r, e);
  }
  return rc;
}

/* Each round lowers something, or leaves a region aside, or is the last. */
neap_rc np_shrink_by_value(np_pack *p, const np_candidates *all, int64_t target,
                           np_reason r, np_err *e) {
  np_candidates c = *all; /* only its regions change */
  neap_rc rc = NEAP_OK;
  size_t before = SIZE_MAX;
  uint32_t low = 0;
  while (!rc && np_pack_tokens(p) > target && (low || np_pack_mark(p) != before)) {
    int64_t need = np_pack_tokens(p) - target;
    before = np_pack_mark(p);
    rc = choose_once(p, &c, need, 0, &low, r, e);
    if (!rc && low) rc = choose_within(p, &c, low, need, r, e);
  }
  return rc;
}
