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

static state of_citation(const neap_session *s, const np_citation *c) {
  const int64_t *holders;
  size_t n = np_cite_holders(s->log.cite, c->text, &holders);
  state best = of_holder(&s->pack.view, c->credited, c->text);
  for (size_t i = 0; i < n && best != PRESENT && holders[i] < c->by; i++) {
    state one = of_holder(&s->pack.view, holders[i], c->text);
    if (one > best) best = one;
  }
  if (best != PRESENT && is_stated(&s->pack.view, c->text)) return PRESENT;
  return best < NOTED && is_noted(s, c->text) ? NOTED : best;
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

neap_rc np_session_measure(neap_session *s, np_measure *out, np_gone_fn gone, void *ctx) {
  *out = (np_measure){0};
  neap_rc rc = np_log_index_need(&s->log, &s->err);
  if (rc) return rc;
  size_t n = np_cite_count(s->log.cite);
  for (; s->measured < n; s->measured++) {
    const np_citation *c = np_cite_at(s->log.cite, s->measured);
    if (c->by <= s->measured_by) continue;
    if (!c->fact || (c->kind == NP_IDENT_WORD && !c->rare)) continue;
    state st = of_citation(s, c);
    if (c->kind == NP_IDENT_WORD) {
      out->words_cited++;
      out->words_present += st == PRESENT;
      continue;
    }
    const np_entry *source = np_log_keyed(&s->log, c->credited);
    count(&out->facts, st);
    count(&out->by_class[np_ident_class_of(c->text, c->kind)], st);
    count(&out->by_distance[distance_class(c->step - (source ? source->step : 0))], st);
    if (st == GONE && gone) gone(ctx, c);
  }
  return NEAP_OK;
}
