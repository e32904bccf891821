/*
** Where blocks stand. What comes within an epoch stands behind the last content; when the
** prompt is written anew, memory, summaries and the newest state stand in their regions behind
** the task, and evidence and notices before the rest of what is hot if that is wanted. Laying
** them walks the session once; it is done with a rewrite or not at all. next: frame.c
*/
#include "render/runs.h"

/* The order in which an empty layout has the regions. */
static const np_region usual[NP_LAYOUT] = {NP_REGION_MEMORY, NP_REGION_WARM,
                                           NP_REGION_STATE};

np_layout np_layout_usual(void) {
  np_layout l = {.head = false};
  memcpy(l.order, usual, sizeof usual);
  return l;
}

bool np_view_note_block(np_view *v, const np_entry *en) {
  void *list = v->blocks;
  if (!np_log_is_block(en->kind)) return true;
  bool ok =
      np_grow(v->alloc, &list, &v->block_cap, v->block_count + 1, sizeof *v->blocks);
  v->blocks = list;
  if (ok) v->blocks[v->block_count++] = en->id;
  return ok;
}

static bool is_hot(const np_entry *en) {
  return en->region == NP_REGION_HOT;
}

/* Stands elsewhere than in the order of the log. */
static bool is_placed(const np_view *v, const np_entry *en) {
  if (en->kind == NP_KIND_SUMMARY) return true;
  return np_log_is_block(en->kind) && en->id <= v->lay.upto &&
         (!is_hot(en) || v->lay.layout.head);
}

/* ---- the order of rendering ---- */

static int64_t insert(np_view *v, int64_t after, int64_t id) {
  if (!np_view_at(v, id)->listed) return after;
  np_view_link_behind(v, id, after);
  return id;
}

static int64_t insert_blocks(np_view *v, int64_t after, np_region r) {
  for (size_t i = 0; i < v->block_count && v->blocks[i] <= v->lay.upto; i++) {
    const np_entry *en = np_log_entry(v->log, v->blocks[i]);
    if (en->region == r) after = insert(v, after, en->id);
  }
  return after;
}

/* Entries by id, each behind what it belongs to; then what has a place of its own. */
void np_view_order(np_view *v) {
  np_view_unlink(v);
  for (size_t i = 0; i < v->count; i++) {
    const np_entry *en = &v->log->entries[i];
    if (v->shown[i].listed && !is_placed(v, en)) np_view_link(v, en->id);
  }
  int64_t at = v->lay.front;
  for (size_t r = 0; r < NP_LAYOUT; r++) {
    np_region region = v->lay.layout.order[r];
    at = insert_blocks(v, at, region);
    for (size_t i = 0; region == NP_REGION_WARM && i < v->log->fold_count; i++) {
      int64_t id = v->log->folds[i].entry;
      if ((size_t)id <= v->count) at = insert(v, at, id);
    }
  }
  if (v->lay.layout.head) insert_blocks(v, at, NP_REGION_HOT);
}

/* ---- the newest state ---- */

int64_t np_view_state(const np_view *v, int64_t upto) {
  for (size_t i = v->block_count; i-- > 0;) {
    const np_entry *en = np_log_entry(v->log, v->blocks[i]);
    if (en->kind == NP_KIND_STATE && en->id <= upto) return en->id;
  }
  return 0;
}

/* A state's own text is what has changed. False: it stands for nothing else. */
static bool whole_of(np_view *v, int64_t id, np_buf *out) {
  return v->whole && v->whole(v->whole_ctx, id, out);
}

int64_t np_view_state_tokens(np_view *v, int64_t id) {
  np_buf text;
  np_shown *s = np_view_at(v, id);
  int64_t n = s->tokens;
  if (s->whole) return n;
  np_buf_init(&text, np_temp(v));
  if (whole_of(v, id, &text))
    n = np_view_count(v, np_log_entry(v->log, id), np_buf_str(&text));
  if (text.failed) v->lost = true;
  np_buf_free(&text);
  return n;
}

/* In its region it stands for the whole; where it came, for the change. One that is superseded keeps
** what it was, for the undo. */
static void settle_text(np_view *v, int64_t id, bool placed, bool behind) {
  np_shown *s = np_view_at(v, id);
  np_buf text;
  if (s->whole ? !behind : !placed) return;
  np_buf_init(&text, np_temp(v));
  bool whole = placed && whole_of(v, id, &text);
  if (text.failed || (whole && !np_arena_copy(&v->arena, np_buf_str(&text), &s->text)))
    v->lost = true;
  np_buf_free(&text);
  if (whole == s->whole) return;
  if (s->listed) np_view_conceal(v, id);
  s->whole = whole;
  if (s->listed) np_view_reveal(v, id);
  if (s->listed) np_view_touch(v, id);
}

/* Of the states up to there the newest has a place; all that came behind it have, too. */
static void settle_states(np_view *v, int64_t upto) {
  int64_t newest = np_view_state(v, upto);
  for (size_t i = 0; i < v->block_count; i++) {
    int64_t id = v->blocks[i];
    np_shown *s = np_view_at(v, id);
    bool stays = id == newest || id > upto;
    if (np_log_entry(v->log, id)->kind != NP_KIND_STATE) continue;
    settle_text(v, id, id == newest, id > upto);
    if (s->listed == stays) continue;
    s->listed = stays;
    if (stays) np_view_reveal(v, id);
    else np_view_conceal(v, id);
    if (stays) np_view_raised(v, id);
  }
}

/* ---- laying ---- */

static bool same_layout(const np_layout *a, const np_layout *b) {
  return a->head == b->head && memcmp(a->order, b->order, sizeof a->order) == 0;
}

bool np_view_lay_due(const np_view *v) {
  if (!v->block_count) return false;
  return v->blocks[v->block_count - 1] > v->lay.upto || v->lay.front != v->front ||
         !same_layout(&v->lay.layout, &v->want);
}

np_lay np_view_lay_now(const np_view *v) {
  return (np_lay){.layout = v->want, .upto = (int64_t)v->count, .front = v->front};
}

/* A block may open the prompt until something else does. */
static void find_opening(np_view *v) {
  const np_entry *en = np_log_entry(v->log, v->opening);
  if (en && !np_log_is_block(en->kind)) return;
  int64_t id = v->head;
  while (id && np_log_entry(v->log, id)->region == NP_REGION_FIXED)
    id = np_view_at(v, id)->next;
  v->opening = id;
}

/* What stands before the first entry that has another neighbour now is as it was. */
static void touch_changed(np_view *v, const int64_t *was, size_t n) {
  int64_t id = v->head, last = 0;
  size_t i = 0;
  while (i < n && id && was[i] == id) {
    last = id;
    id = np_view_at(v, id)->next;
    i++;
  }
  if (i == n && !id) return;
  while (last && np_view_at(v, last)->rung == NP_DROPPED)
    last = np_view_at(v, last)->prev;
  np_view_touch(v, last);
}

neap_rc np_view_lay(np_view *v, np_lay lay, np_err *e) {
  size_t n = 0;
  int64_t *was = np_calloc(v->alloc, v->count + 1, sizeof *was);
  if (!was) return np_fail_mem(e);
  for (int64_t id = v->head; id; id = np_view_at(v, id)->next) was[n++] = id;
  settle_states(v, lay.upto);
  v->lay = lay;
  np_view_order(v);
  if (lay.opening) v->opening = lay.opening;
  else find_opening(v);
  v->loose = true;
  v->refolded = true;
  neap_rc rc = np_runs_settle(v, e);
  if (!rc) touch_changed(v, was, n);
  np_view_retail(v);
  np_free(v->alloc, was);
  return rc || !v->lost ? rc : np_fail_mem(e);
}
