/*
** Folds: a summary stands for whole atoms, which then have no place in the order of rendering
** and no notice. The order and the runs are made anew, which costs a walk over the session;
** folds are rare, and everything then stands where it would had the others never been.
** next: lay.c
*/
#include "render/runs.h"

/* The first entry in the order, from `id` on, that the fold covers or opens; 0: none. */
static int64_t first_of(const np_view *v, int64_t id, const bool *atoms) {
  while (id && !atoms[np_log_entry(v->log, id)->atom]) id = np_view_at(v, id)->next;
  return id;
}

/* Which atoms a fold covers, by atom; NULL when out of memory. */
static bool *mark_atoms(const np_view *v, const np_fold *f) {
  bool *atoms = np_calloc(v->alloc, v->log->atom_count + 1, sizeof *atoms);
  for (size_t i = 0; atoms && i < f->count; i++) atoms[f->atoms[i]] = true;
  return atoms;
}

/* Marks what is shown at `id` or before it as changed: a notice behind it may grow or go. */
static void touch_shown(np_view *v, int64_t id) {
  while (id && np_view_at(v, id)->rung == NP_DROPPED) id = np_view_at(v, id)->prev;
  np_view_touch(v, id);
}

static void touch_before(np_view *v, const bool *atoms) {
  int64_t first = first_of(v, v->head, atoms);
  if (first) touch_shown(v, np_view_at(v, first)->prev);
}

/* Dropped entries are lifted out of their runs without becoming visible. */
static void close_entry(np_view *v, int64_t id, int64_t summary) {
  np_shown *s = np_view_at(v, id);
  if (!s->listed) return;
  if (s->rung != NP_DROPPED) np_view_conceal(v, id);
  s->listed = false;
  s->folded = (uint32_t)summary;
}

static void open_entry(np_view *v, int64_t id, int64_t summary) {
  np_shown *s = np_view_at(v, id);
  if (s->folded != summary) return;
  s->folded = 0;
  s->listed = true;
  np_view_raised(v, id);
  if (s->rung != NP_DROPPED) np_view_reveal(v, id);
}

typedef void (*change_fn)(np_view *v, int64_t id, int64_t summary);

static void each_entry(np_view *v, const np_fold *f, change_fn change) {
  for (size_t i = 0; i < f->count; i++) {
    int64_t id = v->log->atoms[f->atoms[i]].first;
    for (; id; id = np_log_entry(v->log, id)->next) change(v, id, f->entry);
  }
}

static void show_summary(np_view *v, int64_t id) {
  np_shown *s = np_view_at(v, id);
  v->live++;
  s->listed = true;
  s->rung = NP_FULL;
  np_view_raised(v, id);
  s->text = NP_LIT("");
  memset(s->preview, 0, sizeof s->preview);
  s->full = v->format->entry_tokens(v, np_log_entry(v->log, id), NULL);
  np_view_reveal(v, id);
}

static void hide_summary(np_view *v, int64_t id) {
  np_shown *s = np_view_at(v, id);
  if (s->rung != NP_DROPPED) np_view_conceal(v, id);
  v->live--;
  s->listed = false;
}

/* Notices and order made anew. */
static neap_rc settle(np_view *v, np_err *e) {
  np_view_order(v);
  v->loose = true;
  v->refolded = true;
  return np_runs_settle(v, e);
}

neap_rc np_view_fold(np_view *v, int64_t summary, np_err *e) {
  const np_fold *f = np_log_fold_of(v->log, np_log_entry(v->log, summary));
  bool *atoms = mark_atoms(v, f);
  if (!atoms) return np_fail_mem(e);
  touch_before(v, atoms);
  touch_shown(v, v->lay.front);
  each_entry(v, f, close_entry);
  show_summary(v, summary);
  np_free(v->alloc, atoms);
  return settle(v, e);
}

neap_rc np_view_unfold(np_view *v, int64_t summary, np_err *e) {
  const np_fold *f = np_log_fold_of(v->log, np_log_entry(v->log, summary));
  bool *atoms = mark_atoms(v, f);
  if (!atoms) return np_fail_mem(e);
  touch_shown(v, np_view_at(v, summary)->prev);
  hide_summary(v, summary);
  each_entry(v, f, open_entry);
  neap_rc rc = settle(v, e);
  if (!rc) touch_before(v, atoms);
  np_free(v->alloc, atoms);
  return rc;
}

np_piece np_view_piece(const np_view *v, int64_t id) {
  const np_entry *en = np_log_entry(v->log, id);
  const np_fold *f = np_log_fold_of(v->log, en);
  np_piece p = {1, np_view_at(v, id)->full, en->step, en->step};
  if (!f) return p;
  p = (np_piece){0, 0, f->step_from, f->step_to};
  for (size_t i = 0; i < f->count; i++) {
    int64_t at = v->log->atoms[f->atoms[i]].first;
    for (; at; at = np_log_entry(v->log, at)->next) {
      if (np_view_at(v, at)->folded != id) continue;
      p.entries++;
      p.tokens += np_view_at(v, at)->full;
    }
  }
  return p;
}

/* What is not shown has no segment any more. */
void np_view_forget_units(np_view *v) {
  for (size_t i = 0; v->refolded && i < v->count; i++) {
    if (!np_view_is_shown(v, (int64_t)i + 1)) v->shown[i].unit = UINT32_MAX;
  }
  v->refolded = false;
}

void np_view_pop(np_view *v) {
  np_view_taken(v);
  v->count--;
  v->messages--;
}
