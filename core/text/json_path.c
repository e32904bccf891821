/*
** JSON paths, a part of RFC 9535: names, indexes, slices with a step above 0, wildcards, lists
** of them, descendants; no filters. The path is an automaton of which all states are walked at
** once, so that time is linear whatever the path. A value inside a value that is found is no
** find of its own. next: rows.c
*/
#include "text/extract_own.h"
#include "text/json_walk.h"
#include "text/text.h"

#define SEGMENTS 48  /* a bit each */
#define SELECTORS 96 /* of all segments */
#define FOUND (UINT64_C(1) << 62)
#define INSIDE (UINT64_C(1) << 63) /* of a value that was found */

typedef enum selector_kind { NAME, INDEX, SLICE, WILD } selector_kind;

typedef struct selector {
  selector_kind kind;
  np_str name; /* as it is written, without quotes; decoded when it has a backslash */
  int64_t from, to, step;
  bool has_from, has_to;
} selector;

typedef struct path {
  np_str text;
  size_t at;
  selector all[SELECTORS];
  size_t selectors, segments;
  struct {
    size_t first, count, end; /* of its selectors; where it ends in the text */
    bool deep;
  } segment[SEGMENTS];
  bool sizes; /* it counts from ends */
} path;

static char peek(const path *p) {
  return p->at < p->text.n ? p->text.p[p->at] : '\0';
}

static bool take(path *p, char c) {
  if (peek(p) != c || p->at >= p->text.n) return false;
  p->at++;
  return true;
}

static void skip_blanks(path *p) {
  while (peek(p) == ' ') p->at++;
}

static bool take_int(path *p, int64_t *out) {
  bool minus = take(p, '-'), any = false;
  *out = 0;
  for (char c; (c = peek(p)) >= '0' && c <= '9'; p->at++, any = true) {
    if (*out > INT64_C(1000000000000)) return false;
    *out = *out * 10 + (c - '0');
  }
  if (minus) *out = -*out;
  return any;
}

/* In quotes of either kind; a backslash keeps the next character. */
static bool take_quoted(path *p, np_str *out) {
  char quote = peek(p);
  size_t from = ++p->at;
  while (p->at < p->text.n && p->text.p[p->at] != quote)
    p->at += p->text.p[p->at] == '\\' ? 2 : 1;
  if (p->at >= p->text.n) return false;
  *out = np_str_cut(p->text, from, p->at++);
  return true;
}

static bool take_name(path *p, np_str *out) {
  size_t from = p->at;
  while (p->at < p->text.n && !strchr(".[ ", p->text.p[p->at])) p->at++;
  *out = np_str_cut(p->text, from, p->at);
  return out->n > 0;
}

static bool read_slice(path *p, selector *s) {
  s->kind = SLICE;
  s->step = 1;
  skip_blanks(p);
  s->has_to = take_int(p, &s->to);
  skip_blanks(p);
  if (take(p, ':')) {
    skip_blanks(p);
    if (!take_int(p, &s->step) && peek(p) != ']') return false;
    if (s->step == 0) s->step = 1;
  }
  return s->step > 0;
}

static bool read_selector(path *p, selector *s) {
  char c = peek(p);
  *s = (selector){.kind = WILD};
  if (take(p, '*')) return true;
  if (c == '\'' || c == '"') {
    s->kind = NAME;
    return take_quoted(p, &s->name);
  }
  size_t start = p->at;
  s->has_from = take_int(p, &s->from);
  if (!s->has_from && p->at != start) return false;
  skip_blanks(p);
  if (take(p, ':')) return read_slice(p, s);
  s->kind = INDEX;
  return s->has_from;
}

static bool add_selector(path *p, selector s) {
  if (p->selectors == SELECTORS) return false;
  bool slice = s.kind == SLICE,
       back = (s.has_from && s.from < 0) || (s.has_to && s.to < 0);
  if ((s.kind == INDEX || slice) && back) p->sizes = true;
  p->all[p->selectors++] = s;
  p->segment[p->segments].count++;
  return true;
}

static bool read_bracket(path *p) {
  selector s;
  do {
    skip_blanks(p);
    if (!read_selector(p, &s) || !add_selector(p, s)) return false;
    skip_blanks(p);
  } while (take(p, ','));
  return take(p, ']');
}

static bool read_segment(path *p, bool first) {
  selector s = {.kind = NAME};
  p->segment[p->segments].first = p->selectors;
  p->segment[p->segments].count = 0;
  bool dot = take(p, '.'), deep = dot && take(p, '.');
  p->segment[p->segments].deep = deep;
  if ((!dot || deep) && take(p, '[')) return read_bracket(p);
  if (!dot && !first) return false;
  if (take(p, '*')) s.kind = WILD;
  else if (!take_name(p, &s.name)) return false;
  return add_selector(p, s);
}

static bool read_path(path *p) {
  bool first = !take(p, '$');
  for (; p->at < p->text.n; p->segments++, first = false) {
    if (p->segments == SEGMENTS || !read_segment(p, first)) return false;
    p->segment[p->segments].end = p->at;
  }
  return true;
}

/* ---- matching ---- */

typedef struct matcher {
  np_extract_job *job;
  path path;
  np_buf key;
  size_t reached; /* segments that led somewhere */
  size_t there;   /* where that is */
  bool failed;
} matcher;

static bool is_name(matcher *m, np_str raw, np_str name) {
  np_str key = np_str_cut(raw, 1, raw.n - 1);
  np_json v;
  if (np_str_eq(key, name)) return true;
  if (!memchr(key.p, '\\', key.n) || np_json_check(raw, &v, NULL)) return false;
  np_buf_clear(&m->key);
  np_json_text(v, &m->key);
  return np_str_eq(np_buf_str(&m->key), name);
}

static int64_t from_end(int64_t i, size_t size) {
  return i < 0 ? i + (int64_t)size : i;
}

static bool in_slice(const selector *s, int64_t i, size_t size) {
  int64_t from = s->has_from ? from_end(s->from, size) : 0;
  if (from < 0) from = 0;
  if (i < from || (i - from) % s->step) return false;
  return !s->has_to || i < from_end(s->to, size);
}

static bool selects(matcher *m, const selector *s, const np_json_place *p) {
  int64_t i = (int64_t)p->index;
  switch (s->kind) {
    case WILD: return true;
    case NAME: return p->key.n && is_name(m, p->key, s->name);
    case INDEX: return !p->key.n && i == from_end(s->from, p->size);
    default: return !p->key.n && in_slice(s, i, p->size);
  }
}

static bool any_selects(matcher *m, size_t segment, const np_json_place *p) {
  const path *q = &m->path;
  for (size_t k = 0; k < q->segment[segment].count; k++) {
    if (selects(m, &q->all[q->segment[segment].first + k], p)) return true;
  }
  return false;
}

static uint64_t begin(void *ctx, const np_json_place *p) {
  matcher *m = ctx;
  uint64_t states = p->top ? 1 : 0;
  if (p->above & (INSIDE | FOUND)) return INSIDE;
  for (size_t i = 0; i < m->path.segments && !p->top; i++) {
    if (!(p->above >> i & 1)) continue;
    if (m->path.segment[i].deep) states |= UINT64_C(1) << i;
    if (!any_selects(m, i, p)) continue;
    states |= UINT64_C(1) << (i + 1);
    if (i + 1 <= m->reached) continue;
    m->reached = i + 1;
    m->there = p->at;
  }
  return states >> m->path.segments & 1 ? FOUND : states;
}

static void end(void *ctx, uint64_t what, size_t from, size_t to, size_t items) {
  matcher *m = ctx;
  (void)items;
  if (what != FOUND) return;
  np_stretch s = {.from = from, .to = to, .focus = from, .apart = true};
  m->job->out->found++;
  if (!np_stretches_add(m->job->out, m->job->alloc, s)) m->failed = true;
}

/* ---- what is told when there is nothing ---- */

#define KEYS 12 /* that are named */

typedef struct teller {
  np_buf *out;
  size_t at, found, items;
  bool top; /* it is the whole, else what begins at `at` within it */
  bool object, list;
} teller;

static uint64_t tell_begin(void *ctx, const np_json_place *p) {
  teller *t = ctx;
  if (t->top ? p->top : p->at == t->at && !p->top) {
    t->object = p->type == NP_JSON_OBJECT;
    t->list = p->type == NP_JSON_ARRAY;
    return 1;
  }
  if (p->above == 1 && p->key.n && t->found < KEYS && p->key.n < 60) {
    np_buf_adds(t->out, t->found++ ? ", " : "");
    np_buf_add(t->out, p->key);
  }
  return 0;
}

static void tell_end(void *ctx, uint64_t what, size_t from, size_t to, size_t items) {
  teller *t = ctx;
  (void)from;
  (void)to;
  if (what == 1) t->items = items;
}

/* What the path leads to before it leads nowhere, in words. */
static void add_shape(const teller *t, np_str keys, np_buf *out) {
  if (t->object && t->found) {
    np_buf_adds(out, "an object with ");
    np_buf_add(out,
               np_str_cut(keys, 0, np_utf8_floor(keys, keys.n < 240 ? keys.n : 240)));
    np_buf_adds(out, t->items > t->found || keys.n > 240 ? ", \xE2\x80\xA6" : "");
  } else if (t->object || t->list) {
    np_buf_adds(out, t->object ? "an object with " : "a list with ");
    np_buf_int(out, (int64_t)t->items);
    np_buf_adds(out, t->object ? " member" : " item");
    np_buf_adds(out, t->items == 1 ? "" : "s");
  } else {
    np_buf_adds(out, "a plain value");
  }
}

static neap_rc fail_none(matcher *m) {
  np_extract_job *j = m->job;
  np_str words = m->path.text, way = NP_LIT("$");
  np_buf keys, shape;
  np_buf_init(&keys, j->alloc);
  np_buf_init(&shape, j->alloc);
  teller t = {.out = &keys, .at = m->there, .top = m->reached == 0};
  np_json_walker w = {tell_begin, tell_end, &t, false};
  np_json_walk(j->text, &w, j->alloc, NULL);
  add_shape(&t, np_buf_str(&keys), &shape);
  if (m->reached) way = np_str_cut(words, 0, m->path.segment[m->reached - 1].end);
  neap_rc rc;
  if (keys.failed || shape.failed) rc = np_fail_mem(j->err);
  else
    rc = np_fail(j->err, NEAP_E_NOTFOUND, "nothing is at %.*s; %.*s is %.*s",
                 (int)np_utf8_floor(words, words.n < 80 ? words.n : 80), words.p,
                 (int)np_utf8_floor(way, way.n < 80 ? way.n : 80), way.p, (int)shape.n,
                 np_buf_str(&shape).p);
  np_buf_free(&shape);
  np_buf_free(&keys);
  return rc;
}

/* The values at the path that m->path holds. */
static neap_rc find(matcher *m) {
  np_extract_job *j = m->job;
  np_json_walker w = {begin, end, m, m->path.sizes};
  neap_rc rc = np_json_walk(j->text, &w, j->alloc, j->err);
  if (!rc && (m->failed || m->key.failed)) rc = np_fail_mem(j->err);
  if (!rc && !j->out->found) rc = fail_none(m);
  return rc;
}

static neap_rc run(np_extract_job *j, np_str words) {
  matcher *m = np_calloc(j->alloc, 1, sizeof *m);
  if (!m) return np_fail_mem(j->err);
  m->job = j;
  m->path.text = words;
  np_buf_init(&m->key, j->alloc);
  neap_rc rc;
  if (read_path(&m->path)) rc = find(m);
  else
    rc =
        np_fail(j->err, NEAP_E_ARG,
                "the path \"%.*s\" cannot be read at %zu; it is written $.items[0].name, "
                "$.items[0:20], $..name, $['a b'], $.items[*]",
                (int)(words.n < 80 ? words.n : 80), words.p, m->path.at);
  np_buf_free(&m->key);
  np_free(j->alloc, m);
  return rc;
}

neap_rc np_extract_json(np_extract_job *j) {
  return run(j, j->what->argument);
}

neap_rc np_extract_items(np_extract_job *j) {
  np_buf words;
  np_buf_init(&words, j->alloc);
  np_buf_adds(&words, "$[");
  np_buf_int(&words, (int64_t)j->what->from - 1);
  np_buf_addc(&words, ':');
  if (j->what->to != SIZE_MAX) np_buf_int(&words, (int64_t)j->what->to);
  np_buf_addc(&words, ']');
  neap_rc rc = words.failed ? np_fail_mem(j->err) : run(j, np_buf_str(&words));
  np_buf_free(&words);
  return rc;
}
