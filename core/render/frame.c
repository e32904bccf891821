/*
** Rendering into the frame. Walks the view's order of entries, message by message: first the
** notices of runs that end before what the message shows, then the message, then the notice
** of a run that starts behind it. next: ../pack/pack.h
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
  np_buf notice;
  bool failed;
} walk;

static int64_t tokens_before(const np_frame *f) {
  return f->count ? f->segments[f->count - 1].tokens : 0;
}

static void push(walk *w, np_segment_kind kind, int64_t ref, int64_t tokens) {
  np_frame *f = w->f;
  void *segments = f->segments;
  if (!np_grow(f->alloc, &segments, &f->cap, f->count + 1, sizeof(np_segment))) {
    w->failed = true;
    return;
  }
  f->segments = segments;
  f->segments[f->count] = (np_segment){kind, ref, f->bytes.n, tokens_before(f) + tokens};
  f->count++;
}

static void push_head(walk *w) {
  w->v->format->head(w->v, &w->f->bytes);
  push(w, NP_SEGMENT_HEAD, 0, w->v->head_cost);
}

static void push_notice(walk *w, int64_t id) {
  const np_run *r = &w->v->runs[np_view_at(w->v, id)->run];
  np_run_text(w->v, r, &w->notice);
  w->v->format->notice(w->v, np_buf_str(&w->notice), w->f->count == 1, &w->f->bytes);
  push(w, NP_SEGMENT_NOTICE, id, r->notice);
}

/* Tokens of a message: its framing and what its entries show. */
static int64_t message_tokens(const np_view *v, const np_message *m, size_t index) {
  int64_t n = v->framing[index];
  for (uint32_t i = 0; i < m->entries; i++) n += np_view_at(v, m->first + i)->tokens;
  return n;
}

static void push_message(walk *w, size_t index) {
  np_view *v = w->v;
  const np_message *m = &v->log->messages[index];
  v->unit[index] = (uint32_t)w->f->count;
  v->format->message(v, index, w->f->count == 1, &w->f->bytes);
  push(w, NP_SEGMENT_MESSAGE, (int64_t)index, message_tokens(v, m, index));
  for (uint32_t i = 0; i < m->entries; i++) np_view_at(v, m->first + i)->sent = true;
}

/* The entries from `id` on that belong to its message: the last that is shown (0: none), and
** the first entry behind them. */
static int64_t group(const np_view *v, int64_t id, int64_t *behind) {
  uint32_t message = np_log_entry(v->log, id)->message;
  int64_t shown = 0;
  while (id && np_log_entry(v->log, id)->message == message) {
    if (np_view_at(v, id)->rung != NP_DROPPED) shown = id;
    id = np_view_at(v, id)->next;
  }
  *behind = id;
  return shown;
}

/* The run that starts at `id`, or NULL. */
static const np_run *run_at(const np_view *v, int64_t id) {
  return np_view_is_run_head(v, id) ? &v->runs[np_view_at(v, id)->run] : NULL;
}

/* Where to go on behind a group: what lies inside the run that reaches over it shows nothing,
** so the walk goes on with the message that the run ends in. */
static int64_t skip_run(const np_view *v, const np_run *r, int64_t behind) {
  if (!r || !behind || np_view_at(v, behind)->rung != NP_DROPPED) return behind;
  int64_t id = r->last;
  uint32_t message = np_log_entry(v->log, id)->message;
  while (id != behind &&
         np_log_entry(v->log, np_view_at(v, id)->prev)->message == message)
    id = np_view_at(v, id)->prev;
  return id;
}

static int64_t push_group(walk *w, int64_t id) {
  np_view *v = w->v;
  int64_t behind, shown = group(v, id, &behind);
  size_t message = np_log_entry(v->log, id)->message;
  const np_run *run = NULL;
  bool open = shown != 0; /* the message is still to come */
  v->unit[message] = UINT32_MAX;
  for (; id != behind; id = np_view_at(v, id)->next) {
    if (run_at(v, id)) {
      run = run_at(v, id);
      if (open || !shown) push_notice(w, id);
    } else if (np_view_at(v, id)->rung != NP_DROPPED) {
      run = NULL;
    }
    if (id != shown) continue;
    push_message(w, message);
    open = false;
    for (int64_t i = np_view_at(v, id)->next; i != behind; i = np_view_at(v, i)->next) {
      if (np_view_is_run_head(v, i)) push_notice(w, i);
    }
  }
  return skip_run(v, run, behind);
}

/* The first entry to render when segments from `from` on are given up: the first of the
** message that stood there. */
static int64_t start_entry(const np_view *v, const np_frame *f, size_t from) {
  if (from <= 1) return v->head;
  const np_message *m = &v->log->messages[f->segments[from].ref];
  for (uint32_t i = 0; i < m->entries; i++) {
    if (np_view_at(v, m->first + i)->listed) return m->first + i;
  }
  return v->head;
}

/* Segment `at` is a notice of the same message as `entry`: its group is rendered whole. */
static bool stands_before(const np_view *v, const np_frame *f, size_t at, int64_t entry) {
  if (f->segments[at].kind != NP_SEGMENT_NOTICE) return false;
  return np_log_entry(v->log, f->segments[at].ref)->message ==
         np_log_entry(v->log, entry)->message;
}

/* The segment to render again from, and the entry to go on with: where something changed, at
** its message; else behind everything. Entries that come in the middle, and runs that grow,
** count as changes. */
static size_t rewind_to(const np_frame *f, const np_view *v, int64_t *entry) {
  if (v->dirty < f->count) {
    size_t from = v->dirty;
    *entry = start_entry(v, f, from);
    while (from > 1 && stands_before(v, f, from - 1, *entry)) from--;
    return from;
  }
  *entry = f->last ? np_view_at(v, f->last)->next : v->head;
  return f->count;
}

static bool save_old(np_frame *f, size_t from) {
  void *old = f->old_segments;
  size_t n = f->count - from, at = from ? f->segments[from - 1].end : 0;
  if (!np_grow(f->alloc, &old, &f->old_cap, n, sizeof(np_segment))) return false;
  f->old_segments = old;
  if (n) memcpy(f->old_segments, f->segments + from, n * sizeof(np_segment));
  np_buf_clear(&f->old);
  np_buf_add(&f->old, np_str_cut(np_buf_str(&f->bytes), at, f->body_end));
  f->count = from;
  f->bytes.n = at;
  return !f->old.failed;
}

/* How many of the old segments stand again, byte for byte, at the same place. */
static size_t common(const np_frame *f, size_t from, size_t old_count) {
  size_t base = from ? f->segments[from - 1].end : 0, i = 0;
  while (i < old_count && from + i < f->count) {
    size_t end = f->old_segments[i].end;
    size_t start = i ? f->old_segments[i - 1].end : base;
    if (f->segments[from + i].end != end ||
        memcmp(f->bytes.p + start, f->old.p + start - base, end - start) != 0) {
      break;
    }
    i++;
  }
  return from + i;
}

neap_rc np_frame_render(np_frame *f, np_view *v, np_rendered *out, np_err *e) {
  walk w = {.f = f, .v = v};
  int64_t id;
  size_t old_count = f->count, from = rewind_to(f, v, &id);
  np_buf_init(&w.notice, f->alloc);
  if (!save_old(f, from)) return np_fail_mem(e);
  np_view_forget_units(v);
  if (from == 0) push_head(&w);
  while (id && !w.failed) id = push_group(&w, id);
  f->body_end = f->bytes.n;
  v->format->tail(v, &f->bytes);
  size_t same = common(f, from, old_count - from);
  w.failed = w.failed || f->bytes.failed || v->lost;
  np_buf_free(&w.notice);
  if (w.failed) return np_fail_mem(e);
  *out = (np_rendered){
      .body = np_buf_str(&f->bytes), .rewrite = same < f->sent, .common = same};
  if (out->rewrite) f->epoch++;
  out->cached = same && f->sent ? f->segments[same - 1].tokens : 0;
  f->sent = f->count;
  f->last = v->tail;
  v->dirty = UINT32_MAX;
  return NEAP_OK;
}
