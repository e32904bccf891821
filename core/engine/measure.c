/*
** Did the prompt hold what the model then used? For every identifier that a step cites and
** an earlier result or user message showed: present verbatim, noted in a shown summary, pointed
** at by a visible mark, or gone. A proxy, and said to be one. next: tools.c
*/
#include "engine/engine.h"
#include "render/mark.h"

typedef enum state { GONE, POINTED, NOTED, PRESENT } state;

/* How one holder shows the identifier in the last prompt. A mark points at what its call's
** arguments name; that of a message's own text names nothing. */
static state of_holder(const np_view *v, int64_t key, np_str ident) {
  const np_entry *en = np_log_keyed(v->log, key);
  if (!en || en->id > (int64_t)v->count) return GONE;
  const np_shown *s = np_view_at(v, en->id);
  if (!s->listed) return GONE;
  if (s->rung == NP_DROPPED) return np_mark_names(v, en->id) ? POINTED : GONE;
  if (np_shown_is_own(s)) return PRESENT;
  if (s->rung != NP_MASKED && np_ident_in(s->text, ident)) return PRESENT;
  return en->pair || en->kind == NP_KIND_CALL ? POINTED : GONE;
}

/* Whether a summary that is shown holds the identifier. */
static bool is_noted(const neap_session *s, np_str ident) {
  for (size_t i = 0; i < s->log.fold_count; i++) {
    const np_entry *en = np_log_entry(&s->log, s->log.folds[i].entry);
    if ((size_t)en->id > s->pack.view.count) break;
    const np_shown *sh = np_view_at(&s->pack.view, en->id);
    if (!sh->listed || sh->rung >= NP_MASKED) continue;
    if (np_ident_in(sh->rung == NP_FULL ? en->text : sh->text, ident)) return true;
  }
  return false;
}

/* Whether the state in its region does, which stands for all changes up to it. */
static bool is_stated(const np_view *v, np_str ident) {
  int64_t id = np_view_state(v, v->lay.upto);
  if (!id) return false;
  const np_shown *s = np_view_at(v, id);
  return s->listed && s->whole && np_ident_in(s->text, ident);
}

/* The best of all holders; of those that point, *from is the shortest, of equals the oldest. */
static state of_citation(const neap_session *s, const np_citation *c, int64_t *from) {
  const int64_t *holders;
  const np_view *v = &s->pack.view;
  size_t n = np_cite_holders(s->log.cite, c->text, &holders), least = SIZE_MAX;
  state best = GONE;
  for (size_t i = 0; i <= n && best != PRESENT; i++) {
    int64_t key = i < n ? holders[i] : c->credited;
    if (key >= c->by) continue;
    state one = of_holder(v, key, c->text);
    if (one > best) best = one;
    if (one != POINTED) continue;
    int64_t id = np_log_keyed(v->log, key)->id;
    size_t full = np_view_at(v, id)->full;
    if (full >= least) continue;
    least = full;
    *from = id;
  }
  if (best != PRESENT && is_stated(&s->pack.view, c->text)) return PRESENT;
  return best < NOTED && is_noted(s, c->text) ? NOTED : best;
}

/* Room for all entries, the new part empty. */
static bool fetched_room(neap_session *s) {
  void *p = s->fetched;
  size_t old = s->fetched_cap, need = s->log.entry_count + 1;
  if (!np_grow(&s->engine->alloc, &p, &s->fetched_cap, need, sizeof *s->fetched))
    return false;
  s->fetched = p;
  for (size_t i = old; i < s->fetched_cap; i++) s->fetched[i] = 0;
  return true;
}

/* What a recall fetches: what the entry does not show, as much of it as has room. */
static int64_t hidden(const neap_session *s, int64_t id) {
  const np_shown *sh = np_view_at(&s->pack.view, id);
  int64_t cut = (int64_t)sh->full - (int64_t)sh->tokens;
  int64_t room = s->pack.budget - (int64_t)np_pack_tokens(&s->pack);
  if (cut > room) cut = room;
  return cut > 0 ? cut : 0;
}

static void count(np_facts *f, state st) {
  f->cited++;
  if (st == PRESENT) f->present++;
  else if (st == NOTED) f->noted++;
  else if (st == POINTED) f->pointed++;
  else f->gone++;
}

static int distance_class(int64_t d) {
  return d <= 3 ? 0 : d <= 10 ? 1 : d <= 20 ? 2 : d <= 50 ? 3 : 4;
}

/* A fact that the last prompt did not show: it has to be fetched, or is gone. */
static void take_lost(neap_session *s, np_lost one, np_measure *out, np_lost_fn lost,
                      void *ctx) {
  one.shared = one.from && s->fetched[one.from] == s->looks;
  if (one.from && !one.shared) {
    s->fetched[one.from] = s->looks;
    one.tokens = hidden(s, one.from);
    out->recalls++;
    out->recalled += one.tokens;
  }
  if (lost) lost(ctx, &one);
}

static void take_fact(neap_session *s, const np_citation *c, np_measure *out,
                      np_lost_fn lost, void *ctx) {
  np_lost one = {.citation = c};
  state st = of_citation(s, c, &one.from);
  if (c->kind == NP_IDENT_WORD) {
    out->words_cited++;
    out->words_present += st == PRESENT;
    return;
  }
  const np_entry *source = np_log_keyed(&s->log, c->credited);
  count(&out->facts, st);
  count(&out->by_class[np_ident_class_of(c->text, c->kind)], st);
  count(&out->by_distance[distance_class(c->step - (source ? source->step : 0))], st);
  if (st <= POINTED) take_lost(s, one, out, lost, ctx);
}

neap_rc np_session_measure(neap_session *s, np_measure *out, np_lost_fn lost, void *ctx) {
  *out = (np_measure){0};
  neap_rc rc = np_log_index_need(&s->log, &s->err);
  if (rc) return rc;
  if (!fetched_room(s)) return np_fail_mem(&s->err);
  size_t n = np_cite_count(s->log.cite);
  int64_t step = -1;
  for (; s->measured < n; s->measured++) {
    const np_citation *c = np_cite_at(s->log.cite, s->measured);
    if (c->step != step) s->looks++;
    step = c->step;
    if (c->by <= s->measured_by) continue;
    if (!c->fact || (c->kind == NP_IDENT_WORD && !c->rare)) continue;
    take_fact(s, c, out, lost, ctx);
  }
  return NEAP_OK;
}
