/*
** The pack's life, its record of changes, and the undo. next: change.c
*/
#include "pack/pack.h"

#include "pack/change.h"

neap_rc np_pack_init(np_pack *p, const neap_alloc *a, np_log *lg, const np_vocab *vocab,
                     const np_format *format, int64_t budget, np_err *e) {
  *p = (np_pack){.alloc = a, .log = lg, .budget = budget};
  np_arena_init(&p->turn, a);
  np_frame_init(&p->frame, a);
  np_toolset_init(&p->tools, a);
  return np_view_init(&p->view, a, lg, vocab, format, e);
}

void np_pack_free(np_pack *p) {
  np_view_free(&p->view);
  np_frame_free(&p->frame);
  np_toolset_free(&p->tools);
  np_arena_free(&p->turn);
  np_free(p->alloc, p->changes);
  memset(p, 0, sizeof *p);
}

neap_rc np_pack_begin(np_pack *p, np_err *e) {
  p->change_count = 0;
  p->refusals = 0;
  p->refusal = NULL;
  np_arena_clear(&p->turn);
  return np_view_sync(&p->view, e);
}

static bool reserve_changes(np_pack *p, size_t more) {
  void *changes = p->changes;
  bool ok = np_grow(p->alloc, &changes, &p->change_cap, p->change_count + more,
                    sizeof(np_change));
  p->changes = changes;
  return ok;
}

bool np_pack_record(np_pack *p, int64_t id, np_rung from, np_rung to, np_str text_before,
                    bool atom, np_reason r) {
  np_change *c;
  np_str why, by;
  if (!reserve_changes(p, 1)) return false;
  /* one reason is given for many entries in a row: its copy is shared */
  np_change *last = p->change_count ? &p->changes[p->change_count - 1] : NULL;
  if (last && np_str_eq(last->why, r.why)) why = last->why;
  else if (!np_arena_copy(&p->turn, r.why, &why)) return false;
  if (last && np_str_eq(last->by, r.by)) by = last->by;
  else if (!np_arena_copy(&p->turn, r.by, &by)) return false;
  c = &p->changes[p->change_count++];
  *c = (np_change){.entry = id,
                   .from = (uint8_t)from,
                   .to = (uint8_t)to,
                   .why = why,
                   .by = by,
                   .text_before = text_before,
                   .atom = atom,
                   .sent = id && np_view_at(&p->view, id)->sent,
                   .named = id && np_view_at(&p->view, id)->named,
                   .dirty = p->view.dirty};
  return true;
}

/* Takes back the newest change. Parts of an atom were dropped or restored together: the
** first undone one does it for all, the others then find it done. */
static neap_rc undo_one(np_pack *p, const np_change *c, np_err *e) {
  const np_entry *en = np_log_entry(p->log, c->entry);
  if (c->flag == NP_FLAG_TOOLS)
    return np_pack_tools_load(p, c->text_before) ? NEAP_OK : np_fail_mem(e);
  if (c->flag == NP_FLAG_LAY) return np_pack_undo_lay(p, c->text_before, e);
  if (c->flag >= NP_FLAG_FOLD) return np_pack_undo_fold(p, c, e);
  if (c->flag) {
    np_shown *s = np_view_at(&p->view, c->entry);
    *(c->flag == NP_FLAG_PINNED ? &s->pinned : &s->held) = false;
    return NEAP_OK;
  }
  if (c->to == NP_DROPPED && np_view_at(&p->view, c->entry)->rung == NP_DROPPED) {
    np_runs_lift(&p->view, en->atom);
  }
  if (c->from == NP_DROPPED) {
    neap_rc rc = np_runs_settle(&p->view, e);
    np_view_name(&p->view, en->atom, c->named);
    return rc ? rc : np_view_drop(&p->view, en->atom, e);
  }
  return np_view_show(&p->view, c->entry, (np_rung)c->from, c->text_before, e);
}

neap_rc np_pack_undo(np_pack *p, size_t mark, np_err *e) {
  neap_rc rc = NEAP_OK;
  if (p->change_count <= mark) return NEAP_OK;
  uint32_t dirty = p->changes[mark].dirty;
  while (!rc && p->change_count > mark)
    rc = undo_one(p, &p->changes[--p->change_count], e);
  if (!rc) rc = np_runs_settle(&p->view, e);
  p->view.dirty = dirty; /* all stands as it did then */
  return rc;
}
