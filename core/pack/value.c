/*
** By value: an entry is worth its rank times what its rung shows of it, and as little of that as
** possible is lost. Every atom is a set of options (value_options.c) of which choose.c takes
** one. What a notice costs is known only when it is there: for what a choice falls short of,
** it is chosen again. next: value_options.c
*/
#include "pack/value.h"

#include "pack/bounds.h"

static np_verdict lower(np_pack *p, const np_value_member *m, size_t rung, np_reason r) {
  return np_pack_lower_within(p, m->id, (np_rung)m->rungs[rung], r);
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

/* One choice, carried out. */
static neap_rc choose_once(np_pack *p, const np_value_plan *pl, int64_t need, np_reason r,
                           np_err *e) {
  np_choice c = {pl->options, pl->first, pl->set_count};
  size_t *picked = np_calloc(p->alloc, pl->set_count + 1, sizeof *picked);
  bool ok = picked && np_choose(p->alloc, &c, need, picked);
  for (size_t i = 0; ok && i < pl->set_count; i++) {
    if (picked[i] == NP_CHOICE_LEFT) continue;
    ok = carry_out(p, &pl->sets[i], pl->codes[picked[i]], r) != NP_NO_MEMORY;
  }
  np_free(p->alloc, picked);
  return ok ? NEAP_OK : np_fail_mem(e);
}

/* Each round lowers something or is the last. */
neap_rc np_shrink_by_value(np_pack *p, const np_candidates *c, int64_t target,
                           np_reason r, np_err *e) {
  neap_rc rc = NEAP_OK;
  size_t before = SIZE_MAX;
  while (!rc && np_pack_tokens(p) > target && np_pack_mark(p) != before) {
    np_value_plan pl;
    before = np_pack_mark(p);
    rc = np_value_plan_make(p, c, &pl, e);
    if (!rc) rc = choose_once(p, &pl, np_pack_tokens(p) - target, r, e);
    np_value_plan_free(p, &pl);
  }
  return rc;
}
