/*
** A stack of open containers and a place in the text; nothing is looked at twice, but with sizes.
** next: json_path.c
*/
#include "text/json_walk.h"

typedef struct frame {
  uint64_t what;
  size_t index, from, number;
  bool object;
} frame;

typedef struct walk {
  const np_json_walker *to; /* NULL: only counts */
  np_str text;
  size_t at;
  bool lines; /* several values */
  frame stack[NP_JSON_DEPTH + 1];
  size_t depth;
  size_t *sizes, opened, cap; /* of containers, as they open */
  const neap_alloc *alloc;
  np_err *err;
} walk;

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_literal(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '+' || c == '-' || c == '.' || c == '_';
}

static char next(walk *w) {
  while (w->at < w->text.n && is_space(w->text.p[w->at])) w->at++;
  return w->at < w->text.n ? w->text.p[w->at] : '\0';
}

static neap_rc fail(walk *w, const char *wanted) {
  return np_fail(w->err, NEAP_E_JSON,
                 "the text is no JSON: at byte %zu of %zu %s was expected", w->at,
                 w->text.n, wanted);
}

/* Behind the string at w->at; SIZE_MAX when it does not end. */
static size_t string_end(const walk *w) {
  for (size_t i = w->at + 1; i < w->text.n; i++) {
    char c = w->text.p[i];
    if (c == '"') return i + 1;
    if (c == '\\') i++;
  }
  return SIZE_MAX;
}

static np_json_type type_of(char c) {
  switch (c) {
    case '{': return NP_JSON_OBJECT;
    case '[': return NP_JSON_ARRAY;
    case '"': return NP_JSON_STRING;
    case 't':
    case 'f': return NP_JSON_BOOL;
    case 'n': return NP_JSON_NULL;
    default: return NP_JSON_NUMBER;
  }
}

static uint64_t begin(walk *w, np_str key, char c) {
  frame *f = w->depth ? &w->stack[w->depth - 1] : NULL;
  if (!w->to) return 0;
  np_json_place p = {.type = type_of(c), .key = key, .at = w->at, .top = !f};
  if (f) {
    p.index = f->index;
    p.above = f->what;
    p.size = w->to->sizes && !f->object ? w->sizes[f->number] : 0;
  }
  return w->to->begin(w->to->ctx, &p);
}

static void end(walk *w, uint64_t what, size_t from, size_t items) {
  if (w->depth) w->stack[w->depth - 1].index++;
  if (w->to) w->to->end(w->to->ctx, what, from, w->at, items);
}

static neap_rc open(walk *w, uint64_t what, bool object, size_t width) {
  if (w->depth > NP_JSON_DEPTH)
    return np_fail(w->err, NEAP_E_LIMIT, "the JSON is nested deeper than %d",
                   NP_JSON_DEPTH);
  if (!w->to) {
    void *sizes = w->sizes;
    if (!np_grow(w->alloc, &sizes, &w->cap, w->opened + 1, sizeof *w->sizes))
      return np_fail_mem(w->err);
    w->sizes = sizes;
    w->sizes[w->opened] = 0;
  }
  w->stack[w->depth++] = (frame){what, 0, w->at, w->opened++, object};
  w->at += width;
  return NEAP_OK;
}

static void close(walk *w, size_t width) {
  frame f = w->stack[--w->depth];
  w->at += width;
  if (!w->to) w->sizes[f.number] = f.index;
  end(w, f.what, f.from, f.index);
}

static neap_rc read_key(walk *w, np_str *key) {
  if (next(w) != '"') return fail(w, "a key in quotes");
  size_t to = string_end(w);
  if (to == SIZE_MAX) return fail(w, "the end of a string");
  *key = np_str_cut(w->text, w->at, to);
  w->at = to;
  if (next(w) != ':') return fail(w, "a colon");
  w->at++;
  next(w);
  return NEAP_OK;
}

/* One value: a container is only opened. */
static neap_rc read_value(walk *w, np_str key) {
  char c = next(w);
  size_t from = w->at, to = from;
  if (c == '{' || c == '[') return open(w, begin(w, key, c), c == '{', 1);
  if (c == '"') to = string_end(w);
  else
    while (to < w->text.n && is_literal(w->text.p[to])) to++;
  if (to == SIZE_MAX) return fail(w, "the end of a string");
  if (to == from) return fail(w, "a value");
  uint64_t what = begin(w, key, c);
  w->at = to;
  end(w, what, from, 0);
  return NEAP_OK;
}

/* The next item of the innermost container, or its end. */
static neap_rc read_item(walk *w) {
  frame *f = &w->stack[w->depth - 1];
  bool lines = w->lines && w->depth == 1;
  np_str key = {"", 0};
  char c = next(w), closing = f->object ? '}' : ']';
  if (lines && w->at >= w->text.n) {
    close(w, 0);
    return NEAP_OK;
  }
  if (c == closing && !lines) {
    close(w, 1);
    return NEAP_OK;
  }
  if (f->index && !lines) {
    if (c != ',') return fail(w, f->object ? "a comma or }" : "a comma or ]");
    w->at++;
    next(w);
  }
  if (f->object) {
    neap_rc rc = read_key(w, &key);
    if (rc) return rc;
  }
  return read_value(w, key);
}

static neap_rc walk_all(walk *w) {
  w->at = w->depth = w->opened = 0;
  neap_rc rc = NEAP_OK;
  if (w->lines) rc = open(w, begin(w, NP_LIT(""), '['), false, 0);
  else rc = read_value(w, NP_LIT(""));
  while (!rc && w->depth) rc = read_item(w);
  if (!rc && next(w)) rc = fail(w, "its end");
  else if (!rc && w->at < w->text.n) rc = fail(w, "its end");
  return rc;
}

/* Whether more than one container stands at the top: looks at the first alone. */
static bool has_lines(walk *w) {
  size_t depth = 0, i;
  char c = next(w);
  if (c != '{' && c != '[') return false;
  for (i = w->at; i < w->text.n; i++) {
    c = w->text.p[i];
    if (c == '"') {
      w->at = i;
      i = string_end(w);
      if (i == SIZE_MAX) return false;
      i--;
    }
    if (c == '{' || c == '[') depth++;
    if ((c == '}' || c == ']') && --depth == 0) break;
  }
  w->at = i + 1;
  c = i < w->text.n ? next(w) : '\0';
  return c == '{' || c == '[';
}

neap_rc np_json_walk(np_str text, const np_json_walker *to, const neap_alloc *a,
                     np_err *e) {
  walk *w = np_malloc(a, sizeof *w);
  neap_rc rc = NEAP_OK;
  if (!w) return np_fail_mem(e);
  *w = (walk){.text = text, .alloc = a, .err = e};
  w->lines = has_lines(w);
  if (to->sizes) rc = walk_all(w);
  w->to = to;
  if (!rc) rc = walk_all(w);
  np_free(a, w->sizes);
  np_free(a, w);
  return rc;
}
