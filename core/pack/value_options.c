/*
** What a prompt offers to a choice: for every atom what its entries' lower rungs, or its drop,
** would save and lose. next: last_resort.c
*/
#include "pack/value.h"

/* What is left of an entry's value at each rung, where the ladder does not say. */
static const double usual[NP_RUNG_COUNT] = {1.0, 0.6, 0.3, 0.1, 0.0};

/* Of a text with `kept` identifiers (or facts of that weight) and `tokens` of the entry's: the
** share of what it has of both, where one name counts as much as all the tokens. */
static double share(double kept, double all, uint32_t tokens, uint32_t full) {
  if (kept > all) kept = all;
  return (kept + (double)tokens / (full ? full : 1)) / (all + 1);
}

static double worth_at(const np_pack *p, np_rung rung) {
  if (!p->ladder.worth_set || rung == NP_FULL || rung == NP_DROPPED) return usual[rung];
  if (rung == NP_REFERENCE) return p->ladder.reference;
  return rung == NP_MASKED ? p->ladder.masked : usual[rung];
}

/* What is left now. */
static double worth_now(np_pack *p, const np_entry *en, double all) {
  const np_shown *s = np_view_at(&p->view, en->id);
  if (s->rung != NP_TRIMMED || !p->ladder.by_shown) return worth_at(p, (np_rung)s->rung);
  return share(np_pack_shown_worth(p, en, s->text), all, s->tokens, s->full);
}

static bool add_option(np_pack *p, np_value_plan *pl, np_option o, int64_t code) {
  void *options = pl->options, *codes = pl->codes;
  bool ok = np_grow(p->alloc, &options, &pl->option_cap, pl->option_count + 1, sizeof o);
  pl->options = options;
  ok = ok && np_grow(p->alloc, &codes, &pl->code_cap, pl->option_count + 1, sizeof code);
  pl->codes = codes;
  if (!ok) return false;
  pl->options[pl->option_count] = o;
  pl->codes[pl->option_count++] = code;
  return true;
}

/* ---- entries ---- */

static np_verdict fill_member(np_pack *p, const np_candidates *c, int64_t id,
                              np_value_member *out) {
  const np_shown *s = np_view_at(&p->view, id);
  const np_entry *en = np_log_entry(p->log, id);
  double all = p->ladder.by_shown ? np_pack_worth(p, en) : 0;
  double now = worth_now(p, en, all);
  *out = (np_value_member){.id = id};
  for (int step = 0; step < NP_STEPS; step++) {
    np_rung rung = np_step_rung(step);
    uint32_t tokens;
    bool again = rung == NP_TRIMMED && s->rung == NP_TRIMMED && step > 0;
    if (s->rung >= rung && !again) continue;
    np_verdict v = np_pack_preview_step(p, id, step, &tokens);
    if (v == NP_NO_MEMORY) return v;
    if (v != NP_DONE) continue;
    double then = rung == NP_TRIMMED && p->ladder.by_shown
                      ? share(s->kept[step], all, tokens, s->full)
                      : worth_at(p, rung);
    double lost = now > then ? now - then : 0;
    out->options[out->count] =
        (np_option){(int64_t)s->tokens - tokens, np_candidates_rank(c, id) * lost};
    out->steps[out->count++] = (uint8_t)step;
  }
  return NP_DONE;
}

static np_verdict fill_members(np_pack *p, const np_candidates *c, np_value_set *set) {
  const np_atom *a = &p->log->atoms[set->atom];
  for (int64_t id = a->first; id; id = np_log_entry(p->log, id)->next) {
    if (!np_candidates_may_lower(p, id)) continue;
    np_value_member *m = &set->members[set->count];
    if (fill_member(p, c, id, m) == NP_NO_MEMORY) return NP_NO_MEMORY;
    if (m->count) set->count++;
  }
  return NP_DONE;
}

/* ---- atoms ---- */

/* Every combination of the members' rungs. */
static bool add_combined(np_pack *p, np_value_plan *pl, const np_value_set *s) {
  int64_t codes = 1;
  bool ok = true;
  for (size_t i = 0; i < s->count; i++) codes *= s->members[i].count + 1;
  for (int64_t code = 1; code < codes && ok; code++) {
    np_option sum = {0, 0};
    int64_t rest = code;
    for (size_t i = 0; i < s->count; i++) {
      const np_value_member *m = &s->members[i];
      int64_t digit = rest % (m->count + 1);
      rest /= m->count + 1;
      if (!digit) continue;
      sum.saved += m->options[digit - 1].saved;
      sum.lost += m->options[digit - 1].lost;
    }
    ok = add_option(p, pl, sum, code);
  }
  return ok;
}

/* The steps of the members' hulls, one after the other. */
static bool add_row(np_pack *p, np_value_plan *pl, np_value_set *s) {
  size_t *first = np_calloc(p->alloc, s->count + 1, sizeof *first);
  np_option *all = np_calloc(p->alloc, s->count * NP_VALUE_RUNGS, sizeof *all);
  bool ok = first && all;
  for (size_t i = 0; ok && i < s->count; i++) {
    memcpy(all + i * NP_VALUE_RUNGS, s->members[i].options, sizeof s->members[i].options);
  }
  for (size_t i = 0; ok && i <= s->count; i++) first[i] = i * NP_VALUE_RUNGS;
  np_choice c = {all, first, s->count};
  ok = ok && np_steps_make(p->alloc, &c, 0, &s->row);
  np_option sum = {0, 0};
  for (size_t i = 0; ok && i < s->row.count; i++) {
    sum.saved += s->row.at[i].saved;
    sum.lost += s->row.at[i].lost;
    ok = add_option(p, pl, sum, (int64_t)i + 1);
  }
  np_free(p->alloc, first);
  np_free(p->alloc, all);
  return ok;
}

/* The framing that goes with an entry of an atom that is dropped: a result's own, or that of
** its response, when no other entry of it is left. `shown` counts those of the response. */
static int64_t framing_of(const np_view *v, const np_entry *en, uint32_t *lead,
                          uint32_t *shown) {
  uint32_t own = np_view_message(v, en)->lead;
  if (en->kind == NP_KIND_RESULT) return np_view_at(v, en->id)->frame;
  *shown = own == *lead ? *shown + 1 : 1;
  *lead = own;
  return *shown == v->visible[own] ? v->framing[own] : 0;
}

/* What the atom's entries still have. Its notice is mostly shared with its neighbours' and left
** out. */
static bool add_drop(np_pack *p, const np_candidates *c, np_value_plan *pl,
                     uint32_t atom) {
  np_option sum = {0, 0};
  if (!np_pack_may_drop(p, atom)) return true;
  uint32_t lead = UINT32_MAX, shown = 0;
  const np_atom *a = &p->log->atoms[atom];
  for (int64_t id = a->first; id; id = np_log_entry(p->log, id)->next) {
    const np_entry *en = np_log_entry(p->log, id);
    const np_shown *s = np_view_at(&p->view, id);
    if (!s->listed || s->rung == NP_DROPPED) continue;
    double all = p->ladder.by_shown ? np_pack_worth(p, en) : 0;
    sum.lost += np_candidates_rank(c, id) * worth_now(p, en, all);
    sum.saved += s->tokens + framing_of(&p->view, en, &lead, &shown);
  }
  return sum.saved <= 0 || add_option(p, pl, sum, NP_VALUE_DROP);
}

static bool add_set(np_pack *p, const np_candidates *c, np_value_plan *pl, uint32_t atom,
                    np_value_member *members) {
  np_value_set *set = &pl->sets[pl->set_count];
  size_t before = pl->option_count;
  *set = (np_value_set){.atom = atom, .members = members};
  if (fill_members(p, c, set) == NP_NO_MEMORY) return false;
  pl->first[pl->set_count++] = before; /* from here on its row is freed with the plan */
  bool ok = !set->count                       ? true
            : set->count <= NP_VALUE_COMBINED ? add_combined(p, pl, set)
                                              : add_row(p, pl, set);
  if (!ok || !add_drop(p, c, pl, atom)) return false;
  if (pl->option_count == before) pl->set_count--;
  return true;
}

neap_rc np_value_plan_make(np_pack *p, const np_candidates *c, np_value_plan *out,
                           np_err *e) {
  size_t used = 0;
  *out = (np_value_plan){0};
  out->members = np_calloc(p->alloc, c->count + 1, sizeof *out->members);
  out->sets = np_calloc(p->alloc, c->atom_count + 1, sizeof *out->sets);
  out->first = np_calloc(p->alloc, c->atom_count + 1, sizeof *out->first);
  if (!out->members || !out->sets || !out->first) return np_fail_mem(e);
  for (size_t i = 0; i < c->atom_count; i++) {
    size_t sets = out->set_count;
    uint32_t atom = c->atoms[i];
    const np_entry *first = np_log_entry(p->log, p->log->atoms[atom].first);
    if (!(c->regions >> first->region & 1)) continue;
    if (!add_set(p, c, out, atom, out->members + used)) return np_fail_mem(e);
    if (out->set_count > sets) used += out->sets[sets].count;
  }
  out->first[out->set_count] = out->option_count;
  return NEAP_OK;
}

void np_value_plan_free(np_pack *p, np_value_plan *pl) {
  for (size_t i = 0; i < pl->set_count; i++) np_free(p->alloc, pl->sets[i].row.at);
  np_free(p->alloc, pl->members);
  np_free(p->alloc, pl->sets);
  np_free(p->alloc, pl->options);
  np_free(p->alloc, pl->codes);
  np_free(p->alloc, pl->first);
  *pl = (np_value_plan){0};
}
