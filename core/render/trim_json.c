/*
** JSON to about so many bytes. A value that is too long is a string, which is cut as any text
** is, or a container: its items are the units of a plan whose costs are bytes, so that head,
** tail, errors, dense and about choose among them as among lines. What is chosen shares the
** bytes, the long items equally. next: mark_json.c
*/
#include "render/trim_json.h"

#include "render/trim_fold.h"
#include "render/trim_plan.h"
#include "text/text.h"

#define DEPTH 12    /* levels that are looked into; each is one more walk */
#define MARKER 32   /* bytes of what stands for items that are left out */
#define STRING 24   /* bytes: a string gets no less, or only an ellipsis */
#define ITEM_MIN 40 /* bytes that a long item gets at least ... */
#define ITEM_MAX 320
#define ITEM_SHARE 6 /* ... and a sixth of its container's between the two */
#define ELLIPSIS "\xE2\x80\xA6"

bool np_json_read(np_str text, np_json_doc *out) {
  np_str rest = text, line;
  size_t lines = 0;
  *out = (np_json_doc){.text = text};
  if (np_json_check(text, &out->value, NULL) == NEAP_OK)
    return out->value.type >= NP_JSON_STRING;
  while (np_line_next(&rest, &line)) {
    np_json v;
    size_t at = 0;
    while (at < line.n && strchr(" \t\r", line.p[at]) && line.p[at]) at++;
    if (at == line.n) continue;
    if (line.p[at] != '{' && line.p[at] != '[') return false;
    if (np_json_check(line, &v, NULL)) return false;
    lines++;
  }
  out->value.type = NP_JSON_NONE;
  return lines > 1;
}

typedef struct job {
  const np_json_ask *ask;
  np_str text;
  const neap_alloc *alloc;
  np_buf *out;
  size_t from, to; /* what was cut */
  bool marked;     /* the mark has its place */
} job;

static void note_cut(job *j, np_str s) {
  size_t from = (size_t)(s.p - j->text.p), to = from + s.n;
  if (from < j->from) j->from = from;
  if (to > j->to) j->to = to;
}

/* ---- strings ---- */

static void quote_inside(np_buf *out, np_str s) {
  np_buf q;
  np_buf_init(&q, out->alloc);
  np_json_quote(&q, s);
  if (q.failed) out->failed = true;
  else np_buf_add(out, np_str_cut(np_buf_str(&q), 1, q.n - 1));
  np_buf_free(&q);
}

/* The text, folded and cut, without its quotes. */
static bool cut_string(job *j, np_str text, size_t bytes) {
  const np_json_ask *k = j->ask;
  np_trim_ask ask = *k->ask;
  np_folded f;
  np_trim t;
  np_arena ar;
  np_buf shown;
  ask.lines = 0;
  ask.tokens = (size_t)((uint64_t)bytes * k->tokens / (j->text.n + 1)) + 1;
  np_arena_init(&ar, j->alloc);
  np_buf_init(&shown, j->alloc);
  bool ok =
      np_fold_lines(text, ask.keep == NP_KEEP_ABOUT, j->alloc, &f) &&
      np_trim_choose(k->v, f.text, &ask, NP_LIT(ELLIPSIS), &ar, &t, NULL) == NEAP_OK;
  if (ok) np_trim_join(f.text, &t, NP_LIT(ELLIPSIS), &shown);
  if (ok && t.count < 2 && !t.whole) {
    size_t at = ask.keep == NP_KEEP_TAIL ? 0 : shown.n;
    if (at == 0) np_buf_adds(j->out, ELLIPSIS);
    quote_inside(j->out, np_buf_str(&shown));
    if (at) np_buf_adds(j->out, ELLIPSIS);
  } else if (ok) {
    quote_inside(j->out, np_buf_str(&shown));
  }
  ok = ok && !shown.failed;
  np_buf_free(&shown);
  np_arena_free(&ar);
  np_folded_free(&f);
  return ok;
}

static bool emit_string(job *j, np_json v, size_t bytes, bool top) {
  np_buf text;
  bool ok = true;
  note_cut(j, v.raw);
  np_buf_addc(j->out, '"');
  np_buf_init(&text, j->alloc);
  if (bytes >= STRING) {
    np_json_text(v, &text);
    ok = !text.failed && cut_string(j, np_buf_str(&text), bytes);
  } else if (!top) {
    np_buf_adds(j->out, ELLIPSIS);
  }
  np_buf_free(&text);
  if (top) np_buf_addc(j->out, NP_TRIM_MARK);
  j->marked |= top;
  np_buf_addc(j->out, '"');
  return ok;
}

/* ---- items ---- */

typedef enum shape { LINES, ARRAY, OBJECT } shape;

/* A walk over a container's items, in step with the units of its plan. */
typedef struct walk {
  shape shape;
  np_str rest; /* of lines */
  np_json_iter it;
} walk;

/* An item: its bytes from behind the comma before it; its key, for its place; its value. */
typedef struct item {
  const char *start;
  np_str key;
  np_json value;
} item;

static walk walk_begin(const job *j, np_json v) {
  walk w = {.shape = v.type == NP_JSON_NONE     ? LINES
                     : v.type == NP_JSON_OBJECT ? OBJECT
                                                : ARRAY};
  if (w.shape == LINES) w.rest = j->text;
  else w.it = np_json_each(v);
  return w;
}

/* Blank lines belong to the next one. `behind`: where the last item ended, comma included. */
static bool walk_next(walk *w, const char *behind, item *out) {
  np_str line;
  *out = (item){.start = behind};
  if (w->shape != LINES) return np_json_next(&w->it, &out->key, &out->value);
  while (np_line_next(&w->rest, &line)) {
    size_t at = 0, end = line.n;
    while (at < end && (unsigned char)line.p[at] <= ' ') at++;
    while (end > at && (unsigned char)line.p[end - 1] <= ' ') end--;
    if (at == end) continue;
    out->value = np_json_of(np_str_cut(line, at, end));
    return true;
  }
  return false;
}

static const char *end_of(const item *i) {
  return i->value.raw.p + i->value.raw.n;
}

/* Behind the comma, or the end of the line, that follows an item; white space behind the last
** one is not its own. */
static const char *behind_item(shape s, const item *i, const char *end) {
  const char *p = end_of(i);
  char stop = s == LINES ? '\n' : ',';
  while (p < end && *p != stop) {
    p++;
  }
  return p < end ? p + 1 : s == LINES ? p : end_of(i);
}

/* The part of the text that holds the items. */
static np_str inside_of(const job *j, np_json v) {
  return v.type == NP_JSON_NONE ? j->text : np_str_cut(v.raw, 1, v.raw.n - 1);
}

/* Every item is a unit; one that is long costs what it gets at least. */
static bool gather(job *j, np_json v, np_plan *p, size_t least) {
  np_str inside = p->text;
  const char *at = inside.p, *end = inside.p + inside.n;
  item i;
  for (walk w = walk_begin(j, v); walk_next(&w, at, &i);) {
    const char *next = behind_item(w.shape, &i, end);
    size_t size = (size_t)(next - at), lead = (size_t)(i.value.raw.p - at);
    size_t cost = i.value.raw.n > least ? lead + least : size;
    if (!np_plan_add(p, (size_t)(at - inside.p), cost + 1)) return false;
    at = next;
  }
  if (!np_plan_add(p, inside.n, 0)) return false;
  p->n--;
  return true;
}

static bool choose_items(np_plan *p, np_keep keep) {
  bool found = true, ok = true;
  size_t all = 0;
  for (size_t i = 0; i < p->n; i++) all += p->units[i].tokens;
  np_plan_reset(p);
  if (all <= p->budget) {
    np_plan_head(p, p->budget, SIZE_MAX);
    return true;
  }
  if (keep == NP_KEEP_DENSE) ok = np_dense_score(p);
  else if (keep == NP_KEEP_ERRORS) np_errors_score(p, &found);
  else if (keep == NP_KEEP_ABOUT) np_about_score(p, &found);
  np_plan_reset(p);
  if (!ok) return false;
  if (keep == NP_KEEP_HEAD) np_plan_head(p, p->budget, SIZE_MAX);
  else if (keep == NP_KEEP_TAIL) np_plan_tail(p, p->budget, SIZE_MAX);
  else if (keep == NP_KEEP_DENSE) return np_dense_keep(p);
  else if (keep == NP_KEEP_ERRORS && found) return np_errors_keep(p);
  else if (keep == NP_KEEP_ABOUT && found) return np_about_keep(p);
  else np_plan_fill(p);
  return true;
}

static size_t unit_size(const np_plan *p, size_t i) {
  return p->units[i + 1].from - p->units[i].from;
}

/* The bytes that no kept item may exceed, so that together they have at most the budget, but
** for what each gets at least. The first guess rises as short ones leave something over. */
static size_t share_of(const np_plan *p, size_t least) {
  size_t budget = p->budget > p->runs * MARKER ? p->budget - p->runs * MARKER : 0;
  size_t share = p->count ? budget / p->count : 0;
  for (int i = 0; i < 4; i++) {
    size_t small = 0, large = 0;
    for (size_t k = 0; k < p->n; k++) {
      if (!p->units[k].kept) continue;
      if (unit_size(p, k) <= share) small += unit_size(p, k);
      else large++;
    }
    if (large == 0 || small > budget) break;
    share = (budget - small) / large;
  }
  return share > least ? share : least;
}

/* ---- writing ---- */

/* Items that are left out in a row. */
typedef struct gap {
  size_t count, number; /* how many; which gap of the container this is */
  np_str lead;          /* white space before the first */
} gap;

static void write_separator(job *j, shape s, bool *any) {
  if (*any && s != LINES) np_buf_addc(j->out, ',');
  *any = true;
}

/* `"312 items left out"`, with the mark in the outermost container's first one. */
static void write_gap(job *j, shape s, const gap *g, bool top, bool *any) {
  write_separator(j, s, any);
  np_buf_add(j->out, g->lead);
  if (s == OBJECT) {
    np_buf_adds(j->out, "\"" ELLIPSIS);
    if (g->number > 1) np_buf_int(j->out, (int64_t)g->number);
    np_buf_adds(j->out, "\":");
  }
  np_buf_addc(j->out, '"');
  if (g->count) {
    np_buf_count(j->out, (int64_t)g->count);
    np_buf_adds(j->out, s == LINES    ? " lines left out"
                        : s == OBJECT ? " members left out"
                                      : " items left out");
  }
  if (top && !j->marked) {
    if (g->count) np_buf_adds(j->out, ": ");
    np_buf_addc(j->out, NP_TRIM_MARK);
    j->marked = true;
  }
  np_buf_addc(j->out, '"');
  if (s == LINES) np_buf_addc(j->out, '\n');
}

static np_str lead_of(const item *i) {
  const char *to = i->key.n ? i->key.p : i->value.raw.p;
  return np_str_of(i->start, (size_t)(to - i->start));
}

static bool emit(job *j, np_json v, size_t bytes, int depth);

static bool write_item(job *j, shape s, const item *i, size_t share, size_t least,
                       int depth, bool *any) {
  size_t lead = (size_t)(i->value.raw.p - i->start);
  write_separator(j, s, any);
  np_buf_add(j->out, np_str_of(i->start, lead));
  bool ok = emit(j, i->value, share > lead + least ? share - lead : least, depth + 1);
  if (s == LINES) np_buf_addc(j->out, '\n');
  return ok;
}

static bool write_items(job *j, np_json v, const np_plan *p, size_t least, int depth) {
  size_t share = share_of(p, least), n = 0;
  const char *at = p->text.p, *end = at + p->text.n;
  bool any = false, ok = true;
  gap g = {0};
  item i;
  walk w = walk_begin(j, v);
  for (; ok && walk_next(&w, at, &i); n++) {
    at = behind_item(w.shape, &i, end);
    if (p->units[n].kept) {
      if (g.count) write_gap(j, w.shape, &g, depth == 0, &any);
      g.count = 0;
      ok = write_item(j, w.shape, &i, share, least, depth, &any);
      continue;
    }
    note_cut(j, i.value.raw);
    if (g.count++ == 0) {
      g.number++;
      g.lead = lead_of(&i);
    }
  }
  if (depth == 0 && !j->marked && !g.count) g.number++;
  if (g.count || (depth == 0 && !j->marked)) write_gap(j, w.shape, &g, depth == 0, &any);
  if (w.shape != LINES && at <= end)
    np_buf_add(j->out, np_str_of(at, (size_t)(end - at)));
  return ok;
}

static bool emit_items(job *j, np_json v, size_t bytes, int depth) {
  size_t least = bytes / ITEM_SHARE;
  if (least < ITEM_MIN) least = ITEM_MIN;
  if (least > ITEM_MAX) least = ITEM_MAX;
  np_plan p = {.v = j->ask->v,
               .text = inside_of(j, v),
               .about = j->ask->ask->about,
               .facts = j->ask->ask->facts,
               .alloc = j->alloc,
               .limit = bytes,
               .budget = bytes,
               .lines = SIZE_MAX,
               .gap_cost = MARKER};
  if (v.type != NP_JSON_NONE) np_buf_addc(j->out, v.raw.p[0]);
  bool ok = gather(j, v, &p, least) && choose_items(&p, j->ask->ask->keep) &&
            write_items(j, v, &p, least, depth);
  if (v.type != NP_JSON_NONE) np_buf_addc(j->out, v.raw.p[v.raw.n - 1]);
  np_free(j->alloc, p.units);
  return ok;
}

#define SCALAR 64 /* bytes: a longer number is no number anyone reads */

static bool emit(job *j, np_json v, size_t bytes, int depth) {
  bool scalar = v.type < NP_JSON_STRING;
  if (v.raw.n <= bytes || (scalar && v.raw.n <= SCALAR)) {
    np_buf_add(j->out, v.raw);
    return true;
  }
  if (v.type == NP_JSON_STRING) return emit_string(j, v, bytes, depth == 0);
  if (!scalar && depth < DEPTH && (depth == 0 || bytes >= MARKER))
    return emit_items(j, v, bytes, depth);
  note_cut(j, v.raw);
  np_buf_adds(j->out, "\"" ELLIPSIS "\"");
  return true;
}

bool np_json_trim(const np_json_doc *t, const np_json_ask *ask, const neap_alloc *a,
                  np_buf *out, size_t *from, size_t *to) {
  job j = {.ask = ask, .text = t->text, .alloc = a, .out = out, .from = t->text.n};
  bool ok = t->value.type == NP_JSON_STRING ? emit_string(&j, t->value, ask->bytes, true)
                                            : emit_items(&j, t->value, ask->bytes, 0);
  *from = j.from;
  *to = j.to;
  return ok && !out->failed;
}
