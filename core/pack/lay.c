/*
** When blocks take their places: with a rewrite, which is paid for anyway, or before anything
** else is lowered, as a state that a newer one has taken the place of tells the model nothing.
** next: shrink.c
*/
#include "pack/change.h"

static const np_reason superseded = {{"a newer state stands", 20}, {"layout", 6}};
static const np_reason laid = {{"the prompt is written anew", 26}, {"layout", 6}};

static bool is_stale(const np_pack *p, int64_t id, int64_t newest) {
  return np_log_entry(p->log, id)->kind == NP_KIND_STATE && id != newest &&
         np_view_at(&p->view, id)->listed;
}

/* Old ones go, and the newest is written whole. */
int64_t np_pack_stale(np_pack *p) {
  int64_t tokens = 0, newest = np_view_state(&p->view, INT64_MAX);
  for (size_t i = 0; i < p->view.block_count; i++) {
    int64_t id = p->view.blocks[i];
    if (is_stale(p, id, newest)) tokens += np_view_at(&p->view, id)->tokens;
  }
  if (!tokens || !np_view_at(&p->view, newest)->listed) return tokens;
  tokens -= np_view_state_tokens(&p->view, newest);
  tokens += np_view_at(&p->view, newest)->tokens;
  return tokens;
}

/* How they stood, for the undo; then one change for each state that goes, for the account. */
static bool record(np_pack *p) {
  np_lay was = p->view.lay;
  np_str saved;
  int64_t newest = np_view_state(&p->view, INT64_MAX);
  was.opening = p->view.opening;
  if (!np_arena_copy(&p->turn, np_str_of((const char *)&was, sizeof was), &saved) ||
      !np_pack_record(p, 0, NP_FULL, NP_FULL, saved, false, laid))
    return false;
  p->changes[p->change_count - 1].flag = NP_FLAG_LAY;
  for (size_t i = 0; i < p->view.block_count; i++) {
    int64_t id = p->view.blocks[i];
    if (!is_stale(p, id, newest)) continue;
    if (!np_pack_record(p, id, NP_FULL, (np_rung)NP_ABSENT, NP_LIT(""), false,
                        superseded))
      return false;
    p->changes[p->change_count - 1].flag = NP_FLAG_TOLD;
  }
  return true;
}

np_verdict np_pack_lay(np_pack *p, bool now) {
  np_view *v = &p->view;
  if (!np_view_lay_due(v) || !(now || np_frame_rewrites(&p->frame, v))) return NP_SAME;
  if (!record(p)) return NP_NO_MEMORY;
  return np_view_lay(v, np_view_lay_now(v), NULL) ? NP_NO_MEMORY : NP_DONE;
}

neap_rc np_pack_undo_lay(np_pack *p, np_str saved, np_err *e) {
  np_lay was;
  memcpy(&was, saved.p, sizeof was);
  neap_rc rc = np_runs_settle(&p->view, e);
  return rc ? rc : np_view_lay(&p->view, was, e);
}
