/*
** Choosing and writing breakpoints. Any segment can be a prefix's end but one whose last block
** is a thought, or whose bytes end in no block: the one before it is taken then.
** next: ../pack/pack.h
*/
#include "render/breaks.h"

#define NONE SIZE_MAX
#define OPEN ",\"cache_control\":"

/* ---- places ---- */

static size_t skip_white_back(np_str s, size_t end) {
  while (end && strchr(" \n\r\t", s.p[end - 1]) && s.p[end - 1]) end--;
  return end;
}

/* Where a mark goes into segment i: before the brace that ends its last block. NONE when it
** ends in none. */
static size_t brace_of(const np_frame *f, size_t i) {
  np_str bytes = np_buf_str(&f->bytes);
  size_t end = f->segments[i].end, from = i ? f->segments[i - 1].end : 0;
  if (i == 0) { /* tools, closed by `],` */
    if (end < 2 || bytes.p[end - 1] != ',' || bytes.p[end - 2] != ']') return NONE;
    end -= 2;
  }
  end = skip_white_back(bytes, end);
  return end > from && bytes.p[end - 1] == '}' ? end - 1 : NONE;
}

/* A content that still is a single string, as it came. */
static bool is_bare(const np_segment *s) {
  return s->seam.bare && !s->seam.reformed;
}

/* The last entry that segment i shows, NULL for a notice and for the head. */
static const np_entry *last_entry(const np_frame *f, const np_view *v, size_t i) {
  const np_entry *last = NULL;
  uint32_t lead = 0;
  if (f->segments[i].kind != NP_SEGMENT_MESSAGE) return NULL;
  for (int64_t id = f->segments[i].first; id; id = np_view_at(v, id)->next) {
    const np_entry *en = np_log_entry(v->log, id);
    if (id == f->segments[i].first) lead = np_view_message(v, en)->lead;
    if (np_view_message(v, en)->lead != lead) break;
    if (np_view_at(v, id)->rung != NP_DROPPED && np_view_at(v, id)->unit == i) last = en;
  }
  return last;
}

static bool can_mark(const np_frame *f, const np_view *v, size_t i) {
  if (!v->format->marks) return i > 0 || v->tools.n;
  if (!is_bare(&f->segments[i]) && brace_of(f, i) == NONE) return false;
  const np_entry *last = last_entry(f, v, i);
  return !last || last->kind != NP_KIND_THOUGHT;
}

/* The last segment up to `i` that can be marked and is long enough; NONE: there is none. */
static size_t place(const np_frame *f, const np_view *v, size_t i, int64_t minimum) {
  for (; i != NONE && f->segments[i].tokens >= minimum; i--) {
    if (can_mark(f, v, i)) return i;
  }
  return NONE;
}

/* ---- the plan ---- */

/* The last of what stands before the messages. */
static size_t front_of(const np_frame *f, const np_view *v) {
  size_t i = 0;
  while (i + 1 < f->count) {
    const np_entry *en = np_log_entry(v->log, f->segments[i + 1].first);
    if (!en || en->region != NP_REGION_FIXED) break;
    i++;
  }
  return i;
}

static void add(np_breaks *b, size_t at) {
  size_t i = b->count;
  if (at == NONE) return;
  for (size_t j = 0; j < b->count; j++) {
    if (b->at[j] == at) return;
  }
  for (; i && b->at[i - 1] > at; i--) b->at[i] = b->at[i - 1];
  b->at[i] = at;
  b->count++;
}

void np_breaks_plan(np_breaks *b, const np_frame *f, const np_view *v,
                    const np_rendered *r, int64_t minimum) {
  size_t newest = place(f, v, f->count - 1, minimum);
  size_t stem = b->stem - 1, last = b->newest - 1; /* NONE when there was none */
  b->count = 0;
  add(b, place(f, v, front_of(f, v), minimum));
  if (stem != NONE && stem < r->common) add(b, stem);
  if (r->rewrite) stem = r->common ? place(f, v, r->common - 1, minimum) : NONE;
  else if (stem == NONE) stem = newest;
  add(b, stem);
  if (!r->rewrite && last != NONE && last < r->common) add(b, last);
  add(b, newest);
  b->stem = stem + 1;
  b->newest = newest + 1;
}

bool np_breaks_are_hosts(const np_view *v) {
  return v->marks_head || v->marks_fixed || v->marked_count;
}

/* The automatic mark in the request's members moves with the end. */
static bool is_automatic(const np_view *v) {
  np_json request, mark;
  return v->request.n && !np_json_check(v->request, &request, NULL) &&
         np_json_get(request, "cache_control", &mark) && mark.type != NP_JSON_NULL;
}

void np_breaks_of_host(np_breaks *b, const np_frame *f, const np_view *v) {
  *b = (np_breaks){0};
  bool automatic = is_automatic(v);
  if (v->marks_head > (automatic ? 1 : 0)) add(b, 0);
  if (v->marks_fixed) add(b, front_of(f, v));
  for (size_t i = v->marked_live; i < v->marked_count; i++) {
    const np_shown *s = np_view_at(v, v->marked[i]);
    bool here = s->listed && s->rung != NP_DROPPED && s->unit < f->count;
    if (here && b->count < NP_BREAKS_MAX) add(b, s->unit);
  }
  if (automatic && b->count < NP_BREAKS_MAX) add(b, f->count - 1);
}

/* ---- the bytes ---- */

static void write_to(np_str body, size_t *at, size_t end, np_buf *out) {
  np_buf_add(out, np_str_cut(body, *at, end));
  *at = end;
}

void np_breaks_write(const np_breaks *b, const np_frame *f, np_str body, np_str mark,
                     np_buf *out) {
  size_t at = 0;
  for (size_t i = 0; i < b->count; i++) {
    const np_segment *s = &f->segments[b->at[i]];
    bool bare = is_bare(s);
    if (bare) {
      write_to(body, &at, s->end - s->seam.size, out);
      np_buf_adds(out, NP_LIST_LEAD);
    }
    write_to(body, &at, bare ? s->end : brace_of(f, b->at[i]), out);
    np_buf_adds(out, OPEN);
    np_buf_add(out, mark);
    if (bare) np_buf_adds(out, "}]");
  }
  write_to(body, &at, body.n, out);
}
