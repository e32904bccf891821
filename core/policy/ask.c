/*
** The asks of a run of compact: a list that outlives the sleeping hook until the turn it returned
** in is decided, and what it asked for meanwhile, to be asked for again. Answers come through C
** only. next: asking.c
*/
#include "policy/host.h"

/* ---- the list ---- */

np_ask *np_policy_asks(const np_policy *p, size_t *count) {
  *count = p->run.count;
  return p->run.asks;
}

const np_ask *np_policy_open_ask(const np_policy *p, int64_t after) {
  const np_run_of *r = &p->run;
  size_t end = r->fed + r->waits < r->count ? r->fed + r->waits : r->count;
  for (size_t i = r->fed; r->asleep && i < end; i++) {
    if (r->asks[i].state == NP_ASK_OPEN && r->asks[i].id > after) return &r->asks[i];
  }
  return NULL;
}

/* The text and what goes with it, kept with the run. */
static bool keep_text(np_run_of *r, const np_ask *from, np_ask *to) {
  size_t n = from->part_count;
  neap_ask_part *parts = n ? np_arena_alloc(&r->arena, n * sizeof *parts) : NULL;
  if (n && !parts) return false;
  if (n) memcpy(parts, from->parts, n * sizeof *parts);
  to->parts = parts;
  to->part_count = n;
  return np_arena_copy(&r->arena, from->notes, &to->notes) &&
         np_arena_copy(&r->arena, from->kept, &to->kept) &&
         np_arena_copy(&r->arena, from->text, &to->text);
}

static np_ask *add_ask(np_policy *p, const np_ask *from) {
  np_run_of *r = &p->run;
  void *asks = r->asks;
  bool ok = np_grow(&p->alloc, &asks, &r->cap, r->count + 1, sizeof(np_ask));
  r->asks = asks;
  if (!ok) return NULL;
  np_ask *a = &r->asks[r->count];
  *a = *from;
  if (!keep_text(r, from, a)) return NULL;
  a->answer = a->code = NP_LIT("");
  r->count++;
  return a;
}

neap_rc np_policy_restore_ask(np_policy *p, size_t place, const np_ask *ask, np_err *e) {
  if (place >= NP_ASKS) return np_fail(e, NEAP_E_LIMIT, "too many asks of one run");
  if (place < p->run.count) p->run.count = place;
  return add_ask(p, ask) ? NEAP_OK : np_fail_mem(e);
}

neap_rc np_policy_answer(np_policy *p, int64_t ask, np_str code, np_str text,
                         bool vouched, np_err *e) {
  np_run_of *r = &p->run;
  size_t i = 0;
  while (i < r->count && (r->asks[i].id != ask || r->asks[i].state != NP_ASK_OPEN)) i++;
  if (i == r->count) {
    return np_fail(
        e, NEAP_E_NOTFOUND,
        "no ask %lld is open; it was answered, timed out or cancelled, or never "
        "made",
        (long long)ask);
  }
  if (!np_arena_copy(&r->arena, text, &r->asks[i].answer) ||
      !np_arena_copy(&r->arena, code, &r->asks[i].code))
    return np_fail_mem(e);
  r->asks[i].vouched = vouched && !code.n;
  r->asks[i].state = code.n ? NP_ASK_REFUSED : NP_ASK_ANSWERED;
  return NEAP_OK;
}

static void forget(np_policy *p) {
  np_run_of *r = &p->run;
  r->count = r->fed = r->waits = r->wish_count = 0;
  r->map_count = r->map_bytes = 0;
  r->asleep = r->over = false;
  np_arena_clear(&r->arena);
}

bool np_policy_settle_asks(np_policy *p, const char **result) {
  bool any = p->run.over && p->run.count > 0;
  *result = p->run.result;
  if (p->run.over) forget(p);
  return any;
}

/* The thread stays in its slot until the next run, never to be resumed. */
void np_policy_cancel_asks(np_policy *p) {
  if (p->run.asleep) np_pending_forget(p, NP_HOOK_COMPACT);
  forget(p);
}

void np_run_start(np_policy *p) {
  np_run_of *r = &p->run;
  r->fed = r->waits = r->wish_count = 0;
  r->map_count = r->map_bytes = 0;
  r->asleep = r->over = false;
  r->generation = p->generation;
  np_pending_forget(p, NP_HOOK_COMPACT);
}

void np_run_free(np_policy *p) {
  np_free(&p->alloc, p->run.asks);
  np_free(&p->alloc, p->run.wishes);
  np_free(&p->alloc, p->run.maps);
  np_arena_free(&p->run.arena);
}

int64_t np_turn_step(const np_policy *p) {
  const np_run_of *r = &p->run;
  bool again = p->hook == NP_HOOK_COMPACT && r->fed < r->count;
  return again ? r->asks[r->fed].step : p->pack->log->step + 1;
}

/* ---- what is asked for again ---- */

void np_note_fold(lua_State *L, const np_span *s, np_str text, np_reason why) {
  np_policy *p = np_host(L);
  np_run_of *r = &p->run;
  np_wish w = {.atoms = s->atoms, .takes = s->takes};
  np_err e;
  if (p->hook != NP_HOOK_COMPACT) return;
  void *wishes = r->wishes;
  bool ok = np_grow(&p->alloc, &wishes, &r->wish_cap, r->wish_count + 1, sizeof(np_wish));
  r->wishes = wishes;
  w.atom = ok ? np_arena_alloc(&r->arena, s->atoms * sizeof *w.atom) : NULL;
  if (!w.atom || !np_arena_copy(&r->arena, text, &w.text) ||
      !np_arena_copy(&r->arena, why.why, &w.why) ||
      !np_arena_copy(&r->arena, why.by, &w.by)) {
    np_fail_mem(&e);
    np_break(L, &e);
    return;
  }
  memcpy(w.atom, s->atom, s->atoms * sizeof *w.atom);
  r->wishes[r->wish_count++] = w;
}

neap_rc np_wishes_repeat(np_policy *p, np_err *e) {
  np_run_of *r = &p->run;
  size_t kept = 0;
  for (size_t i = 0; i < r->wish_count; i++) {
    np_wish w = r->wishes[i];
    np_verdict v = np_pack_refold(p->pack, w.atom, w.atoms, w.takes, w.text,
                                  (np_reason){w.why, w.by}, NULL);
    if (v == NP_NO_MEMORY) return np_fail_mem(e);
    if (v == NP_DONE) r->wishes[kept++] = w;
  }
  r->wish_count = kept;
  return NEAP_OK;
}

/* ---- by place ---- */

static bool is_same(const np_ask *a, const np_ask *b) {
  return a->summary == b->summary && a->max_tokens == b->max_tokens &&
         a->turns == b->turns && memcmp(a->sha256, b->sha256, NP_SHA256) == 0;
}

np_ask *np_ask_at(np_policy *p, size_t place, np_ask *ask) {
  np_run_of *r = &p->run;
  np_ask *a = place < r->count ? &r->asks[place] : NULL;
  if (a && is_same(a, ask)) return a->text.n || keep_text(r, ask, a) ? a : NULL;
  r->count = place;
  ask->id = ++*p->turn.asks;
  return add_ask(p, ask);
}
