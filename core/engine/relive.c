/*
** A turn that is read back, once what it decided is laid on the view. Where no rule of the cache
** asks for every prompt in between, it is not rendered: its account says whether it was a
** rewrite and of which epoch, and the frame is made once, after the last turn. next: response.c
*/
#include "engine/engine.h"

/* Prompts are marked, or billed, by where their segments ended at each turn. */
static bool needs_prompts(const neap_session *s) {
  return s->rendering || s->cache->marks || s->pack.view.format->marks;
}

/* What the account says of the rendering; false: nothing. */
static bool read_account(np_str account, bool *rewrite, int64_t *epoch) {
  np_json head, r, n;
  if (np_json_check(account, &head, NULL) || !np_json_get(head, "rewrite", &r) ||
      !np_json_get(head, "epoch", &n) || r.type != NP_JSON_BOOL ||
      n.type != NP_JSON_NUMBER || n.raw.n > 9)
    return false;
  *rewrite = r.raw.p[0] == 't';
  *epoch = 0;
  for (size_t i = 0; i < n.raw.n; i++) {
    if (n.raw.p[i] < '0' || n.raw.p[i] > '9') return false;
    *epoch = *epoch * 10 + (n.raw.p[i] - '0');
  }
  return true;
}

static neap_rc render(neap_session *s) {
  return np_frame_render(&s->pack.frame, &s->pack.view, &s->rendered, &s->err);
}

void np_relive_sent(neap_session *s, int64_t id) {
  np_view *v = &s->pack.view;
  if (np_view_is_shown(v, id)) np_view_at(v, id)->sent = true;
}

/* All that has come since the last turn; after a fold, anything may stand where it did not. */
static void mark_sent(neap_session *s, bool folded) {
  int64_t end = (int64_t)s->pack.view.count;
  for (int64_t id = folded ? 1 : s->relived + 1; id <= end; id++) np_relive_sent(s, id);
  s->relived = end;
}

neap_rc np_relive_turn(neap_session *s, np_str account, bool folded) {
  bool rewrite = false;
  int64_t epoch = 0;
  if (needs_prompts(s) || s->back.due || !read_account(account, &rewrite, &epoch)) {
    neap_rc rc = render(s);
    np_back_rendered(s);
    s->relived = (int64_t)s->pack.view.count;
    s->unrendered = false;
    return rc ? rc : np_turn_after(s);
  }
  mark_sent(s, folded);
  s->rendered = (np_rendered){.body = NP_LIT(""), .rewrite = rewrite};
  s->pack.frame.epoch = epoch;
  s->unrendered = true;
  np_turn_follow(s);
  return NEAP_OK;
}

neap_rc np_relive_end(neap_session *s) {
  int64_t epoch = s->pack.frame.epoch;
  if (!s->unrendered) return NEAP_OK;
  s->unrendered = false;
  neap_rc rc = render(s);
  s->pack.frame.epoch = epoch;
  return rc;
}
