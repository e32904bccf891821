/*
** What a thinking loop that is open forbids. Its thoughts and its structure stay; where the
** provider binds a thought to all that stands before it, that stays, too. When nothing else
** makes a prompt fit, the loop's steps are closed: their thoughts go, and they are history like
** any other. next: last_resort.c
*/
#include "pack/change.h"

static bool binds(const np_pack *p) {
  return np_model_binds(p->view.model);
}

const char *np_pack_loop_blocks(const np_pack *p, int64_t id) {
  int64_t from, last;
  const np_entry *en = np_log_entry(p->log, id);
  if (!np_view_loop(&p->view, &from, &last)) return NULL;
  if (binds(p) && id <= last && np_view_at(&p->view, id)->sent)
    return "the thinking loop is open, and the provider binds its thoughts to what "
           "stands before them";
  if (id < from || en->kind == NP_KIND_RESULT) return NULL;
  return "the thinking loop is open: its thoughts and calls stay";
}

static const np_reason reason = {
    {"the thinking loop was closed, as nothing else fits", 50}, {"last resort", 11}};

/* Older steps; and the newest where its thought would not hold without them. */
neap_rc np_pack_close_loop(np_pack *p, np_err *e) {
  int64_t from, last;
  if (!np_view_loop(&p->view, &from, &last)) return NEAP_OK;
  for (size_t i = 0; i < p->view.loop.count; i++) {
    const np_entry *en = np_log_entry(p->log, p->view.loop.ids[i]);
    if (en->step == p->log->step && !binds(p)) continue;
    if (np_pack_drop_atom(p, en->atom, reason) == NP_NO_MEMORY) return np_fail_mem(e);
  }
  return NEAP_OK;
}
