/*
** Rendering into the frame. Walks the view's order of entries, group by group (neighbours of
** one response): first the notices of runs that end before what the group shows, then the
** group, then the notice of a run that starts behind it. next: ../pack/pack.h
*/
#include "render/frame.h"

void np_frame_init(np_frame *f, const neap_alloc *a) {
  *f = (np_frame){.alloc = a, .epoch = 1};
  np_buf_init(&f->bytes, a);
  np_buf_init(&f->old, a);
}

void np_frame_free(np_frame *f) {
  np_buf_free(&f->bytes);
  np_buf_free(&f->old);
  np_free(f->alloc, f->segments);
  np_free(f->alloc, f->old_segments);
}

typedef struct walk {
  np_frame *f;
  np_view *v;
  np_seam seam;
  np_buf notice;
  size_t kept; /* bytes that stay as they are */
  bool failed;
} walk;

static int64_t tokens_before(const np_frame *f) {
  return f->count ? f->segments[f->count - 1].tokens : 0;
}

static int64_t blocks_before(const np_frame *f) {
  return f->count ? f->segments[f->count - 1].blocks : 0;
}

/* Takes what was written as a segment. Writing may have made a list of the string that the
** segment before ended with. */
static void push(walk *w, np_segment_kind kind, int64_t ref, int64_t first,
                 int64_t tokens, int64_t blocks) {
  np_frame *f = w->f;
  void *segments = f->segments;
  if (!np_grow(f->alloc, &segments, &f->cap, f->count + 1, sizeof(np_segment))) {
    w->failed = true;
    return;
  }
  f->segments = segments;
  if (w->seam.grown && f->count) {
    size_t from = f->count > 1 ? f->segments[f->count - 2].end : 0;
    if (from < w->kept) w->kept = from;
    f->segments[f->count - 1].end += w->seam.grown;
    f->segments[f->count - 1].seam.reformed = true;
  }
  w->seam.grown = 0;
  f->segments[f->count] = (np_segment){.kind = kind,
                                       .ref = ref,
                                       .first = first,
                                       .seam = w->seam,
                                       .end = f->bytes.n,
                                       .tokens = tokens_before(f) + tokens,
                                       .blocks = blocks_before(f) + blocks};
  f->count++;
}

static void push_head(walk *w) {
  w->v->format->head(w->v, &w->seam, &w->f->bytes);
  push(w, NP_SEGMENT_HEAD, 0, 0, w->v->head_cost, 0);
}

static void push_notice(walk *w, const np_group *g, int64_t id) {
  const np_run *r = &w->v->runs[np_view_at(w->v, id)->run];
  np_run_text(w->v, r, &w->notice);
  w->v->format->notice(w->v, np_buf_str(&w->notice), &w->seam, &w->f->bytes);
  push(w, NP_SEGMENT_NOTICE, id, g->first, r->notice, 1);
}

static void push_message(walk *w, const np_group *g) {
  np_view *v = w->v;
  int64_t tokens = 0, blocks = 0;
  bool framed = false;
  for (int64_t id = g->first; (id = np_group_shown(v, g, id)) != 0;
       id = np_view_at(v, id)->next) {
    np_shown *s = np_view_at(v, id);
    const np_entry *en = np_log_entry(v->log, id);
    framed = framed || en->kind != NP_KIND_RESULT;
    blocks +=
        en->kind == NP_KIND_CALL && !en->pair ? 2 : 1; /* with the result made for it */
    tokens += (int64_t)s->tokens + s->frame;
    s->sent = true;
    s->unit = (uint32_t)w->f->count;
  }
  if (framed) tokens += v->framing[g->lead];
  v->format->group(v, g, &w->seam, &w->f->bytes);
  push(w, NP_SEGMENT_MESSAGE, (int64_t)g->lead, g->first, tokens, blocks);
}

/* The entries from `id` on that are of its response. *split gets where the notices before it
** end and those behind it begin: at the last that is shown, but nothing comes between calls
** and their results. */
static np_group group_at(const np_view *v, int64_t id, int64_t *shown, int64_t *split) {
  bool calls = false, results = false;
  np_group g = {.lead = np_view_message(v, np_log_entry(v->log, id))->lead, .first = id};
  int64_t from = id;
  *shown = 0;
  for (; id; id = np_view_at(v, id)->next) {
    const np_entry *en = np_log_entry(v->log, id);
    if (np_view_message(v, en)->lead != g.lead) break;
    if (np_view_at(v, id)->rung == NP_DROPPED) continue;
    *shown = id;
    calls = calls || en->kind == NP_KIND_CALL;
    results = results || (en->kind == NP_KIND_RESULT && en->pair);
  }
  g.behind = id;
  *split = results ? from : *shown && !calls ? *shown : g.behind;
  return g;
}

static void push_notices(walk *w, const np_group *g, int64_t from, int64_t to) {
  for (int64_t id = from; id != to; id = np_view_at(w->v, id)->next) {
    if (np_view_is_run_head(w->v, id)) push_notice(w, g, id);
  }
}

/* The run of dropped entries that reaches from the group, behind all that it shows, over what
** follows; NULL: none does. */
static const np_run *run_over(const np_view *v, const np_group *g) {
  const np_run *r = NULL;
  if (!g->behind || np_view_at(v, g->behind)->rung != NP_DROPPED) return NULL;
  for (int64_t id = g->first; id != g->behind; id = np_view_at(v, id)->next) {
    if (np_view_is_run_head(v, id)) r = &v->runs[np_view_at(v, id)->run];
    else if (np_view_at(v, id)->rung != NP_DROPPED) r = NULL;
  }
  return r;
}

static uint32_t lead_of(const np_view *v, int64_t id) {
  return np_view_message(v, np_log_entry(v->log, id))->lead;
}

/* Where to go on behind a group: what lies inside the run that reaches over it shows nothing,
** so the walk goes on with the response that the run ends in. */
static int64_t skip_run(const np_view *v, const np_group *g) {
  const np_run *r = run_over(v, g);
  if (!r) return g->behind;
  int64_t id = r->last;
  uint32_t lead = lead_of(v, id);
  while (id != g->behind && lead_of(v, np_view_at(v, id)->prev) == lead)
    id = np_view_at(v, id)->prev;
  return id;
}

static int64_t push_group(walk *w, int64_t id) {
  int64_t shown, split;
  np_group g = group_at(w->v, id, &shown, &split);
  for (int64_t i = id; i != g.behind; i = np_view_at(w->v, i)->next)
    np_view_at(w->v, i)->unit = UINT32_MAX;
  push_notices(w, &g, id, split);
  if (shown) push_message(w, &g);
  push_notices(w, &g, split, g.behind);
  return skip_run(w->v, &g);
}

/* The segment to render again from, and the entry to go on with: where something changed, at
** its group; else behind everything. Entries that come in the middle, and runs that grow,
** count as changes. */
static size_t rewind_to(const np_frame *f, const np_view *v, int64_t *entry) {
  size_t from = v->dirty;
  if (from >= f->count) {
    *entry = f->last ? np_view_at(v, f->last)->next : v->head;
    return f->count;
  }
  /* a string that became a list for what stood behind it is written anew, too */
  while (from > 1 && (f->segments[from - 1].first == f->segments[from].first ||
                      f->segments[from - 1].seam.reformed))
    from--;
  *entry = from > 1 ? f->segments[from].first : v->head;
  if (from <= 1 || np_view_at(v, *entry)->listed) return from;
  *entry = v->head; /* what began the group has gone: a summary stands for it */
  return 0;
}

static bool save_old(np_frame *f, size_t from) {
  void *old = f->old_segments;
  size_t n = f->count - from, at = from ? f->segments[from - 1].end : 0;
  if (!np_grow(f->alloc, &old, &f->old_cap, n, sizeof(np_segment))) return false;
  f->old_segments = old;
  if (n) memcpy(f->old_segments, f->segments + from, n * sizeof(np_segment));
  np_buf_clear(&f->old);
  np_buf_add(&f->old, np_str_cut(np_buf_str(&f->bytes), at, f->body_end));
  f->old_base = at;
  f->count = from;
  f->bytes.n = at;
  return !f->old.failed;
}

/* How many of the old segments stand again, byte for byte, brackets and marks aside. */
static size_t common(const np_frame *f, size_t from, size_t old_count) {
  size_t was = f->old_base, now = from ? f->segments[from - 1].end : 0, i = 0;
  while (i < old_count && from + i < f->count) {
    size_t was_end = f->old_segments[i].end, end = f->segments[from + i].end;
    np_str a = np_str_cut(np_buf_str(&f->old), was - f->old_base, was_end - f->old_base);
    if (!np_same_aside(a, np_str_cut(np_buf_str(&f->bytes), now, end))) break;
    was = was_end;
    now = end;
    i++;
  }
  return from + i;
}

neap_rc np_frame_render(np_frame *f, np_view *v, np_rendered *out, np_err *e) {
  walk w = {.f = f, .v = v};
  int64_t id;
  size_t old_count = f->count, from = rewind_to(f, v, &id);
  np_buf_init(&w.notice, np_temp(v));
  if (!save_old(f, from)) return np_fail_mem(e);
  w.kept = f->old_base;
  np_view_forget_units(v);
  if (from) w.seam = f->segments[from - 1].seam;
  if (!from) push_head(&w);
  while (id && !w.failed) id = push_group(&w, id);
  f->body_end = f->bytes.n;
  v->format->tail(v, w.seam, &f->bytes);
  size_t same = common(f, from, old_count - from);
  w.failed = w.failed || f->bytes.failed || v->lost;
  np_buf_free(&w.notice);
  if (w.failed) return np_fail_mem(e);
  *out = (np_rendered){.body = np_buf_str(&f->bytes),
                       .rewrite = same < f->sent,
                       .kept = w.kept,
                       .common = same};
  if (out->rewrite) f->epoch++;
  out->cached = same && f->sent ? f->segments[same - 1].tokens : 0;
  f->sent = f->count;
  f->last = v->tail;
  v->dirty = UINT32_MAX;
  return NEAP_OK;
}
