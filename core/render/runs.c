/*
** Neighbouring dropped entries share one notice. A run knows its ends, and its ends know the
** run, so that dropping costs the same however long the run is. next: frame.c
*/
#include "render/runs.h"

#include "render/mark.h"

void np_run_text(const np_view *v, const np_run *r, np_buf *out) {
  np_buf raw;
  np_buf_init(&raw, np_temp(v));
  np_mark_run(v, r, &raw);
  np_buf_clear(out);
  np_str filled = np_view_text(v, np_buf_str(&raw), out);
  if (filled.p != out->p) np_buf_add(out, filled);
  if (raw.failed || out->failed) np_view_lose(v);
  np_buf_free(&raw);
}

static void remove_notice(np_view *v, np_run *r) {
  np_view_add(v, r->region, -(int64_t)r->notice);
  r->notice = 0;
}

/* Counts a run's notice anew, in the region where it stands. */
static void count_notice(np_view *v, np_run *r) {
  remove_notice(v, r);
  np_run_text(v, r, &v->scratch);
  r->notice = v->format->notice_tokens(v, np_buf_str(&v->scratch));
  if (!r->notice) r->notice = 1;
  r->region = np_log_entry(v->log, r->first)->region;
  np_view_add(v, r->region, r->notice);
}

static uint32_t new_run(np_view *v, int64_t id) {
  void *runs = v->runs;
  if (!np_grow(v->alloc, &runs, &v->run_cap, v->run_count + 1, sizeof(np_run)))
    return UINT32_MAX;
  v->runs = runs;
  np_piece one = np_view_piece(v, id);
  v->runs[v->run_count] = (np_run){.first = id,
                                   .last = id,
                                   .entries = one.entries,
                                   .tokens = one.tokens,
                                   .step_from = one.step_from,
                                   .step_to = one.step_to};
  return (uint32_t)v->run_count++;
}

/* Joins run `b`, right behind run `a`, to it. */
static uint32_t join(np_view *v, uint32_t a, uint32_t b) {
  np_run *l = &v->runs[a], *r = &v->runs[b];
  l->last = r->last;
  l->entries += r->entries;
  l->tokens += r->tokens;
  if (r->step_from < l->step_from) l->step_from = r->step_from;
  if (r->step_to > l->step_to) l->step_to = r->step_to;
  remove_notice(v, r);
  np_view_at(v, l->first)->run = a;
  np_view_at(v, l->last)->run = a;
  if (b == v->run_count - 1) v->run_count--; /* the slot is free again */
  return a;
}

static bool is_dropped(const np_view *v, int64_t id) {
  return id && np_view_at(v, id)->rung == NP_DROPPED;
}

/* Drops without counting the notice; *run gets the run it is in. */
static neap_rc drop_entry(np_view *v, int64_t id, uint32_t *run, np_err *e) {
  uint32_t at = new_run(v, id);
  if (at == UINT32_MAX) return np_fail_mem(e);
  np_view_touch(v, id);
  np_view_hide(v, id);
  np_shown *s = np_view_at(v, id);
  s->run = at;
  if (is_dropped(v, s->prev)) at = join(v, np_view_at(v, s->prev)->run, at);
  if (is_dropped(v, s->next)) at = join(v, at, np_view_at(v, s->next)->run);
  *run = at;
  np_view_touch(v, v->runs[at].first);
  return NEAP_OK;
}

/* The next listed member of an atom behind `id` (0: the first), or 0. */
static int64_t next_member(const np_view *v, uint32_t atom, int64_t id) {
  do {
    id = id ? np_log_entry(v->log, id)->next : v->log->atoms[atom].first;
  } while (id && !np_view_at(v, id)->listed);
  return id;
}

void np_view_name(np_view *v, uint32_t atom, bool named) {
  int64_t id = 0;
  while ((id = next_member(v, atom, id)) != 0) {
    np_shown *s = np_view_at(v, id);
    if (s->rung != NP_DROPPED) s->named = named;
  }
}

neap_rc np_view_drop(np_view *v, uint32_t atom, np_err *e) {
  uint32_t run = UINT32_MAX, last = UINT32_MAX;
  int64_t id = 0;
  while ((id = next_member(v, atom, id)) != 0) {
    if (np_view_at(v, id)->rung == NP_DROPPED) continue;
    neap_rc rc = drop_entry(v, id, &run, e);
    if (rc) return rc;
    /* an earlier part of the atom may be a run of its own */
    bool apart = last != UINT32_MAX && last != run &&
                 np_view_at(v, v->runs[last].first)->run == last;
    if (apart) count_notice(v, &v->runs[last]);
    last = run;
  }
  if (run != UINT32_MAX) count_notice(v, &v->runs[run]);
  if (v->format->turns) np_view_retail(v);
  return v->lost ? np_fail_mem(e) : NEAP_OK;
}

/* Takes `id`, right behind run `at`, into it. */
static void extend(np_view *v, uint32_t at, int64_t id) {
  np_run *r = &v->runs[at];
  np_piece one = np_view_piece(v, id);
  r->last = id;
  r->entries += one.entries;
  r->tokens += one.tokens;
  if (one.step_from < r->step_from) r->step_from = one.step_from;
  if (one.step_to > r->step_to) r->step_to = one.step_to;
  np_view_at(v, id)->run = at;
}

/* Makes runs anew for the entries from `from` to `to` (0: the last), of which some are shown
** again. */
static neap_rc rebuild(np_view *v, int64_t from, int64_t to, np_err *e) {
  uint32_t run = UINT32_MAX;
  for (int64_t id = from; id; id = id == to ? 0 : np_view_at(v, id)->next) {
    if (!is_dropped(v, id)) {
      if (run != UINT32_MAX) count_notice(v, &v->runs[run]);
      run = UINT32_MAX;
    } else if (run != UINT32_MAX) {
      extend(v, run, id);
    } else {
      run = new_run(v, id);
      if (run == UINT32_MAX) return np_fail_mem(e);
      np_view_at(v, id)->run = run;
    }
  }
  if (run != UINT32_MAX) count_notice(v, &v->runs[run]);
  return NEAP_OK;
}

/* Lifting many atoms out of one run would walk the run for each: all are lifted first, and
** the runs made anew in one walk. */
void np_runs_lift(np_view *v, uint32_t atom) {
  for (int64_t id = 0; (id = next_member(v, atom, id)) != 0;) {
    if (!is_dropped(v, id)) continue;
    np_view_unhide(v, id);
    np_view_at(v, id)->text = NP_LIT("");
    v->loose = true;
  }
}

neap_rc np_runs_settle(np_view *v, np_err *e) {
  if (!v->loose) return NEAP_OK;
  v->loose = false;
  for (size_t i = 0; i < v->run_count; i++) {
    if (v->runs[i].notice) remove_notice(v, &v->runs[i]);
  }
  v->run_count = 0;
  neap_rc rc = rebuild(v, v->head, 0, e);
  if (v->format->turns) np_view_retail(v);
  return rc || !v->lost ? rc : np_fail_mem(e);
}

static void run_around(const np_view *v, int64_t id, int64_t *from, int64_t *to) {
  *from = *to = id;
  while (is_dropped(v, np_view_at(v, *from)->prev)) *from = np_view_at(v, *from)->prev;
  while (is_dropped(v, np_view_at(v, *to)->next)) *to = np_view_at(v, *to)->next;
}

/* A result that came late to a call in the middle of a run: the run takes it in. */
static uint32_t join_inside(np_view *v, int64_t id) {
  int64_t from, to;
  run_around(v, np_view_at(v, id)->prev, &from, &to);
  uint32_t at = np_view_at(v, from)->run;
  np_run *r = &v->runs[at];
  const np_entry *en = np_log_entry(v->log, id);
  r->entries++;
  r->tokens += np_view_at(v, id)->full;
  if (en->step > r->step_to) r->step_to = en->step;
  np_view_hide(v, id);
  np_view_touch(v, from);
  return at;
}

neap_rc np_runs_drop(np_view *v, int64_t id, int64_t saved, np_err *e) {
  uint32_t run;
  neap_rc rc = NEAP_OK;
  const np_shown *s = np_view_at(v, id);
  if (is_dropped(v, s->prev) && is_dropped(v, s->next)) run = join_inside(v, id);
  else rc = drop_entry(v, id, &run, e);
  if (rc) return rc;
  int64_t from, to;
  run_around(v, np_log_entry(v->log, id)->pair, &from, &to);
  uint32_t of = np_view_at(v, from)->run; /* the call's, which may be another run */
  v->runs[of].tokens -= saved;
  np_view_touch(v, from);
  if (of != run) count_notice(v, &v->runs[of]);
  count_notice(v, &v->runs[run]);
  return NEAP_OK;
}

neap_rc np_runs_part(np_view *v, int64_t id, np_err *e) {
  int64_t from, to, unused;
  const np_shown *s = np_view_at(v, id);
  if (!is_dropped(v, s->prev) || !is_dropped(v, s->next)) return NEAP_OK;
  run_around(v, s->prev, &from, &unused);
  run_around(v, s->next, &unused, &to);
  remove_notice(v, &v->runs[np_view_at(v, from)->run]);
  np_view_touch(v, from);
  return rebuild(v, from, to, e);
}

neap_rc np_view_restore(np_view *v, uint32_t atom, np_err *e) {
  int64_t id = 0;
  while ((id = next_member(v, atom, id)) != 0) {
    if (!is_dropped(v, id)) continue;
    int64_t from, to;
    run_around(v, id, &from, &to);
    remove_notice(v, &v->runs[np_view_at(v, from)->run]);
    np_view_touch(v, from);
    np_view_unhide(v, id);
    np_view_at(v, id)->text = NP_LIT("");
    neap_rc rc = rebuild(v, from, to, e);
    if (rc) return rc;
  }
  if (v->format->turns) np_view_retail(v);
  return v->lost ? np_fail_mem(e) : NEAP_OK;
}
