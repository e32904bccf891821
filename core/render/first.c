/*
** Where the entries begin that are still shown. History only goes down, so a mark a kind is
** moved forward over what has been put away, and back when something is raised again.
** next: runs.c
*/
#include "render/view.h"

static bool is_there(const np_view *v, int64_t id, int kind, bool full) {
  const np_shown *s = np_view_at(v, id);
  if ((int)v->log->entries[id - 1].kind != kind || !s->listed) return false;
  return full ? s->rung == NP_FULL : s->rung != NP_DROPPED;
}

int64_t np_view_first(const np_view *v, uint32_t kinds, bool full) {
  np_view *w = (np_view *)(uintptr_t)v; /* the marks only remember; no view is const */
  int64_t *marks = full ? w->first_full : w->first_shown, end = (int64_t)v->count + 1;
  int64_t first = end;
  for (int k = 0; k < NP_KIND_COUNT; k++) {
    if (!(kinds >> k & 1)) continue;
    if (marks[k] < 1) marks[k] = 1;
    while (marks[k] < end && !is_there(v, marks[k], k, full)) marks[k]++;
    if (marks[k] < first) first = marks[k];
  }
  return first;
}

void np_view_raised(np_view *v, int64_t id) {
  np_kind kind = v->log->entries[id - 1].kind;
  if (id < v->first_full[kind]) v->first_full[kind] = id;
  if (id < v->first_shown[kind]) v->first_shown[kind] = id;
  if (kind == NP_KIND_THOUGHT) v->loop.at = 0;
}
