/*
** The thinking loop: from the last user text on, until the model answers without calls. Its
** signed thoughts are noted as they come; which of them still stand is a question of rungs.
** next: runs.c
*/
#include "render/runs.h"

static bool is_heard(const np_view *v, const np_entry *en) {
  return np_view_message(v, en)->role == NP_ROLE_USER && en->kind != NP_KIND_RESULT &&
         !np_log_is_block(en->kind);
}

static bool add_thought(np_view *v, int64_t id) {
  np_loop *l = &v->loop;
  void *ids = l->ids;
  if (!np_grow(v->alloc, &ids, &l->cap, l->count + 1, sizeof *l->ids)) return false;
  l->ids = ids;
  l->ids[l->count++] = id;
  return true;
}

bool np_view_note_loop(np_view *v, const np_entry *en) {
  np_loop *l = &v->loop;
  if (!v->format->loops) return true;
  if (is_heard(v, en)) {
    l->count = l->at = 0;
    l->step = 0;
  } else if (np_view_message(v, en)->role == NP_ROLE_ASSISTANT) {
    if (l->step != en->step) {
      if (l->step && !l->calls) l->count = l->at = 0; /* it had ended there */
      l->step = en->step;
      l->calls = false;
    }
    l->calls = l->calls || en->kind == NP_KIND_CALL;
    if (en->kind == NP_KIND_THOUGHT) return add_thought(v, en->id);
  }
  return true;
}

/* A thought of an open loop is dropped only when its step is closed: what is left of the loop
** begins with the first that is shown. */
bool np_view_loop(const np_view *v, int64_t *from, int64_t *last) {
  np_loop *l =
      &((np_view *)(uintptr_t)v)->loop; /* `at` only remembers; no view is const */
  if (!l->count || !l->calls) return false;
  while (l->at < l->count && !np_view_is_shown(v, l->ids[l->at])) l->at++;
  if (l->at == l->count) return false;
  const np_message *m = np_view_message(v, np_log_entry(v->log, l->ids[l->at]));
  *from = v->log->messages[m->lead].first;
  *last = l->ids[l->count - 1];
  return true;
}
