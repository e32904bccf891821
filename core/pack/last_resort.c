/*
** The last resort: makes a prompt fit whatever the policy did. Old states, then oldest first, results to
** masked, then whole atoms dropped; then the entries that are held are trimmed to what is
** left, the largest first, and at the very end what only a policy holds is dropped. What is
** fixed or pinned is never touched. next: ../policy/policy.h
*/
#include "pack/candidates.h"

#include <stdio.h>

static const np_reason reason = {{"the prompt did not fit", 22}, {"last resort", 11}};

static bool fits(const np_pack *p) {
  return np_pack_tokens(p) <= p->budget;
}

static neap_rc mask_results(np_pack *p, np_err *e) {
  for (size_t i = 0; i < p->view.count && !fits(p); i++) {
    const np_entry *en = &p->log->entries[i];
    if (en->kind != NP_KIND_RESULT || !p->view.shown[i].listed) continue;
    if (np_pack_is_pinned(p, en->id) || np_pack_is_held(p, en->id)) continue;
    if (np_pack_lower(p, en->id, NP_MASKED, reason) == NP_NO_MEMORY)
      return np_fail_mem(e);
  }
  return NEAP_OK;
}

typedef bool (*may_drop_fn)(const np_pack *p, uint32_t atom);

/* Oldest first. A small atom between held ones may cost less than its notice: a run that has
** saved nothing when it ends is taken back. */
static neap_rc drop_while(np_pack *p, may_drop_fn may_drop, np_err *e) {
  size_t mark = np_pack_mark(p);
  int64_t before = np_pack_tokens(p);
  neap_rc rc = NEAP_OK;
  for (size_t i = 0; !rc && i < p->log->atom_count && !fits(p); i++) {
    if (!may_drop(p, (uint32_t)i)) {
      if (np_pack_tokens(p) >= before) rc = np_pack_undo(p, mark, e);
      mark = np_pack_mark(p);
      before = np_pack_tokens(p);
    } else if (np_pack_drop_atom(p, (uint32_t)i, reason) == NP_NO_MEMORY) {
      rc = np_fail_mem(e);
    }
  }
  return rc || np_pack_tokens(p) < before ? rc : np_pack_undo(p, mark, e);
}

static neap_rc drop_atoms(np_pack *p, np_err *e) {
  return drop_while(p, np_pack_may_drop, e);
}

static bool may_trim(const np_pack *p, const np_entry *en) {
  const np_shown *s = np_view_at(&p->view, en->id);
  return s->listed && s->rung < NP_TRIMMED + 1 && !np_pack_is_pinned(p, en->id) &&
         np_entry_allows(en, NP_TRIMMED);
}

#define LEVEL_MIN 48 /* tokens: below this a trim is hardly more than its mark */

/* Tokens that the prompt would have with every held entry cut to `level`. */
static int64_t tokens_at(const np_pack *p, int64_t level) {
  int64_t n = np_pack_tokens(p);
  for (size_t i = 0; i < p->view.count; i++) {
    const np_shown *s = &p->view.shown[i];
    if ((int64_t)s->tokens > level && may_trim(p, &p->log->entries[i])) {
      n -= (int64_t)s->tokens - level;
    }
  }
  return n;
}

/* The highest level at which it has `target` tokens, so that only the largest are cut and all
** alike. */
static int64_t find_level(const np_pack *p, int64_t target) {
  int64_t low = LEVEL_MIN, high = p->budget > LEVEL_MIN ? p->budget : LEVEL_MIN;
  while (low < high) {
    int64_t mid = low + (high - low + 1) / 2;
    if (tokens_at(p, mid) <= target) low = mid;
    else high = mid - 1;
  }
  return low;
}

static neap_rc trim_to(np_pack *p, int64_t level, np_err *e) {
  for (size_t i = p->view.count; i-- > 0 && !fits(p);) {
    const np_entry *en = &p->log->entries[i];
    if (!may_trim(p, en) || (int64_t)p->view.shown[i].tokens <= level) continue;
    if (np_pack_retrim(p, en->id, level, reason) == NP_NO_MEMORY) return np_fail_mem(e);
  }
  return NEAP_OK;
}

#define TRIES 6

/* What is around a text (a call's name, a heading) is not in its trim: what a try is over, the
** next one aims lower. */
static neap_rc trim_held(np_pack *p, np_err *e) {
  int64_t target = p->budget;
  neap_rc rc = NEAP_OK;
  for (int i = 0; !rc && i < TRIES && !fits(p); i++) {
    rc = trim_to(p, find_level(p, target), e);
    target -= np_pack_tokens(p) - p->budget;
  }
  return rc;
}

/* Held results and images to a mark: what is left when even trims are too much. */
static neap_rc mask_held(np_pack *p, np_err *e) {
  for (size_t i = 0; i < p->view.count && !fits(p); i++) {
    const np_entry *en = &p->log->entries[i];
    if (!p->view.shown[i].listed || np_pack_is_pinned(p, en->id)) continue;
    if (en->kind != NP_KIND_RESULT && en->kind != NP_KIND_IMAGE &&
        en->kind != NP_KIND_FILE)
      continue;
    if (p->view.shown[i].rung == NP_DROPPED) continue;
    if (np_pack_lower(p, en->id, NP_MASKED, reason) == NP_NO_MEMORY)
      return np_fail_mem(e);
  }
  return NEAP_OK;
}

/* A policy that holds too much (every user message of a long chat) must not end a session:
** what it holds goes too, when nothing else is left. */
static neap_rc drop_held(np_pack *p, np_err *e) {
  return drop_while(p, np_pack_may_drop_held, e);
}

/* Says what is left: which of it is too much, the host can tell from the figures. */
static neap_rc cannot_fit(const np_pack *p, np_err *e) {
  const np_view *v = &p->view;
  long long fixed = (long long)v->region[NP_REGION_FIXED], pinned = 0, state = 0;
  char last[80] = "";
  for (size_t i = 0; i < v->count; i++) {
    const np_shown *s = &v->shown[i];
    if (s->listed && s->pinned && p->log->entries[i].region != NP_REGION_FIXED)
      pinned += s->tokens;
    if (s->listed && p->log->entries[i].kind == NP_KIND_STATE) state += s->tokens;
  }
  if (state) snprintf(last, sizeof last, "; %lld of these are the state object", state);
  long long all = (long long)np_pack_tokens(p);
  return np_fail(
      e, NEAP_E_BUDGET,
      "the prompt needs %lld tokens and the budget is %lld: %lld are tools and "
      "system, %lld is pinned, %lld are the task, the newest step and marks%s; use a "
      "larger window or a smaller reserve%s%s",
      all, (long long)p->budget, fixed, pinned, all - fixed - pinned, last,
      pinned ? ", or pin less" : "", state ? ", or propose a smaller state" : "");
}

typedef neap_rc (*stage)(np_pack *p, np_err *e);

/* States that a newer one has taken the place of. */
static neap_rc lay(np_pack *p, np_err *e) {
  bool stale = np_pack_stale(p) > 0;
  return stale && np_pack_lay(p, true) == NP_NO_MEMORY ? np_fail_mem(e) : NEAP_OK;
}

neap_rc np_pack_last_resort(np_pack *p, np_err *e) {
  /* a thinking loop that is open stays while anything else can go */
  static const stage stages[] = {
      lay,        mask_results, drop_atoms, np_pack_close_loop, mask_results,
      drop_atoms, trim_held,    mask_held,  drop_held};
  for (size_t i = 0; i < NP_COUNT(stages) && !fits(p); i++) {
    neap_rc rc = stages[i](p, e);
    if (rc) return rc;
  }
  if (fits(p)) return NEAP_OK;
  return cannot_fit(p, e);
}
