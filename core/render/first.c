/*
** Where the entries begin that are still shown. History only goes down, so a mark a kind is
** moved forward over what has been put away, and back when something is raised again.
** next: runs.c
*/
#include "render/view.h"

static bool is_there(const np_view *v, int64_t id, int kind, bool hot, bool full) {
  const np_shown *s = np_view_at(v, id);
  const np_entry *en = &v->log->entries[id - 1];
  if ((int)en->kind != kind || en->region == NP_REGION_FIXED || !s->listed) return false;
  if (hot && en->region != NP_REGION_HOT) return false;
  return full ? s->rung == NP_FULL : s->rung != NP_DROPPED;
}

int64_t np_view_first(const np_view *v, uint32_t kinds, bool hot, bool full) {
  np_view *w = (np_view *)(uintptr_t)v; /* the marks only remember; no view is const */
  int64_t *marks = full ? w->first_full[hot] : w->first_shown[hot];
  int64_t end = (int64_t)v->count + 1, first = end;
  for (int k = 0; k < NP_KIND_COUNT; k++) {
    if (!(kinds >> k & 1)) continue;
    if (marks[k] < 1) marks[k] = 1;
    while (marks[k] < end && !is_there(v, marks[k], k, hot, full)) marks[k]++;
    if (marks[k] < first) first = marks[k];
  }
  return first;
}

static bool is_new(const np_view *v, int64_t id, bool shown) {
  const np_shown *s = np_view_at(v, id);
  if (!s->listed || s->sent || (shown && s->rung == NP_DROPPED)) return false;
  return v->log->entries[id - 1].region != NP_REGION_FIXED;
}

int64_t np_view_first_new(const np_view *v, bool shown) {
  int64_t *mark = &((np_view *)(uintptr_t)v)->first_new[shown]; /* as above */
  int64_t end = (int64_t)v->count + 1;
  if (*mark < 1) *mark = 1;
  while (*mark < end && !is_new(v, *mark, shown)) ++*mark;
  return *mark;
}

static void lower(int64_t *mark, int64_t id) {
  if (id < *mark) *mark = id;
}

void np_view_raised(np_view *v, int64_t id) {
  np_kind kind = v->log->entries[id - 1].kind;
  for (int hot = 0; hot < 2; hot++) {
    lower(&v->first_new[hot], id);
    lower(&v->first_full[hot][kind], id);
    lower(&v->first_shown[hot][kind], id);
  }
}

void np_view_taken(np_view *v) {
  for (int i = 0; i < 2; i++) lower(&v->first_new[i], (int64_t)v->count);
  for (int i = 0; i < 2 * NP_KIND_COUNT; i++) {
    lower(&v->first_full[i / NP_KIND_COUNT][i % NP_KIND_COUNT], (int64_t)v->count);
    lower(&v->first_shown[i / NP_KIND_COUNT][i % NP_KIND_COUNT], (int64_t)v->count);
  }
}
