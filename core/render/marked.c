/*
** Which entries bring cache marks, and whose are still written: a provider takes a few, and a
** host that marks its newest message every time would soon have more. next: runs.c
*/
#include "render/runs.h"

#define MARKS_MAX 4 /* in one request; Anthropic, prompt caching */

bool np_view_note_marks(np_view *v, const np_entry *en) {
  void *list = v->marked;
  uint32_t n = v->format->marks ? v->format->marks(v, en) : 0;
  if (!n) return true;
  if (en->region == NP_REGION_FIXED) {
    v->marks_fixed += n;
    return true;
  }
  bool ok =
      np_grow(v->alloc, &list, &v->marked_cap, v->marked_count + 1, sizeof *v->marked);
  v->marked = list;
  if (!ok) return false;
  v->marked[v->marked_count++] = en->id;
  v->marks_live += n;
  return true;
}

/* The oldest go first. Nothing of them changes but the mark. */
void np_view_settle_marks(np_view *v) {
  uint32_t fixed = v->marks_fixed + v->marks_head;
  while (v->marks_live + fixed > MARKS_MAX && v->marked_live < v->marked_count) {
    int64_t id = v->marked[v->marked_live++];
    np_view_at(v, id)->unmarked = true;
    v->marks_live -= v->format->marks(v, np_log_entry(v->log, id));
    if (np_view_is_shown(v, id)) np_view_touch(v, id);
  }
}
