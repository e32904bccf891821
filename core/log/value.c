/*
** Reading, finding, comparing and writing the values of a state object. next: schema.c
*/
#include "log/value.h"

#include "text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void np_work_init(np_work *w, const neap_alloc *a, np_faults *faults) {
  *w = (np_work){.faults = faults};
  np_arena_init(&w->ar, a);
  np_buf_init(&w->path, a);
}

void np_work_free(np_work *w) {
  np_arena_free(&w->ar);
  np_buf_free(&w->path);
}

/* ---- where, and what is wrong ---- */

#define PATH_KEY 64 /* bytes of one key that a path shows */

size_t np_path_push(np_work *w, np_str key) {
  size_t was = w->path.n;
  np_buf_addc(&w->path, '/');
  for (size_t i = 0; i < key.n && i < PATH_KEY; i++) {
    if (key.p[i] == '~') np_buf_adds(&w->path, "~0");
    else if (key.p[i] == '/') np_buf_adds(&w->path, "~1");
    else np_buf_addc(&w->path, key.p[i]);
  }
  if (key.n > PATH_KEY) np_buf_adds(&w->path, "...");
  return was;
}

size_t np_path_push_at(np_work *w, size_t index) {
  size_t was = w->path.n;
  np_buf_addc(&w->path, '/');
  np_buf_int(&w->path, (int64_t)index);
  return was;
}

void np_fault(np_work *w, const char *fmt, ...) {
  char raw[300];
  np_err tidy;
  va_list args;
  np_buf *b = w->faults->list;
  if (w->faults->count++ >= NP_OBJECT_FAULTS) return;
  va_start(args, fmt);
  vsnprintf(raw, sizeof raw, fmt, args);
  va_end(args);
  np_fail(&tidy, NEAP_E_REFUSED, "%s", raw);
  np_buf_adds(b, w->faults->count > 1 ? ",{\"path\":" : "[{\"path\":");
  np_json_quote(b, np_buf_str(&w->path));
  np_buf_adds(b, ",\"what\":");
  np_json_quote(b, np_str_cstr(tidy.text));
  np_buf_addc(b, '}');
}

/* ---- reading ---- */

static bool no_memory(np_work *w) {
  w->failed = true;
  return false;
}

/* The decoded text of a string; what no text of a state holds is noted. */
static bool read_text(np_work *w, np_json str, np_str *out) {
  np_buf b;
  np_buf_init(&b, w->ar.alloc);
  size_t lone = np_json_text(str, &b);
  bool ok = !b.failed && np_arena_copy(&w->ar, np_buf_str(&b), out);
  np_buf_free(&b);
  if (!ok) return no_memory(w);
  if (lone) np_fault(w, "holds half a surrogate pair; write the whole character");
  if (memchr(out->p, '\0', out->n)) np_fault(w, "holds a zero character; leave it out");
  return !lone && !memchr(out->p, '\0', out->n);
}

static int by_key(const void *a, const void *b) {
  return np_str_cmp(((const np_value *)a)->key, ((const np_value *)b)->key);
}

static size_t count_items(np_json v) {
  np_json item;
  size_t n = 0;
  np_json_iter it = np_json_each(v);
  while (n <= NP_OBJECT_VALUES && np_json_next(&it, NULL, &item)) n++;
  return n;
}

static bool read_any(np_work *w, np_json v, bool nulls, int depth, np_value *out);

static bool read_key(np_work *w, np_str raw, np_value *out) {
  if (!read_text(w, np_json_of(raw), &out->key)) return false;
  if (out->key.n <= NP_KEY_BYTES) return true;
  np_fault(w, "a key of %zu bytes; at most %d are taken", out->key.n, NP_KEY_BYTES);
  return false;
}

/* Members by their keys, each of them once. */
static bool sort_members(np_work *w, np_value *object) {
  bool ok = true;
  qsort(object->items, object->count, sizeof *object->items, by_key);
  for (uint32_t i = 1; i < object->count; i++) {
    if (by_key(&object->items[i - 1], &object->items[i])) continue;
    size_t was = np_path_push(w, object->items[i].key);
    np_fault(w, "is given twice; give it once");
    np_path_pop(w, was);
    ok = false;
  }
  return ok;
}

static bool read_items(np_work *w, np_json v, bool nulls, int depth, np_value *out) {
  np_str raw;
  np_json item;
  size_t n = count_items(v), i = 0;
  bool ok = true;
  if (depth >= NP_OBJECT_DEPTH) {
    np_fault(w, "is deeper than %d levels", NP_OBJECT_DEPTH);
    return false;
  }
  if (n > NP_OBJECT_VALUES - w->values) {
    np_fault(w, "has more than %d values", NP_OBJECT_VALUES);
    return false;
  }
  w->values += n;
  out->items = np_arena_alloc(&w->ar, (n + 1) * sizeof *out->items);
  if (!out->items) return no_memory(w);
  out->cap = (uint32_t)n + 1;
  np_json_iter it = np_json_each(v);
  for (; i < n && np_json_next(&it, &raw, &item); i++) {
    np_value *to = &out->items[i];
    *to = (np_value){.key = NP_LIT("")};
    if (v.type == NP_JSON_OBJECT && !read_key(w, raw, to)) return false;
    size_t was =
        v.type == NP_JSON_OBJECT ? np_path_push(w, to->key) : np_path_push_at(w, i);
    ok = read_any(w, item, nulls, depth + 1, to) && ok;
    np_path_pop(w, was);
    if (w->failed) return false;
  }
  out->count = (uint32_t)n;
  return (v.type != NP_JSON_OBJECT || sort_members(w, out)) && ok;
}

static bool read_any(np_work *w, np_json v, bool nulls, int depth, np_value *out) {
  out->type = v.type;
  out->text = v.raw;
  if (v.type == NP_JSON_STRING) return read_text(w, v, &out->text);
  if (v.type == NP_JSON_ARRAY || v.type == NP_JSON_OBJECT)
    return read_items(w, v, nulls, depth, out);
  if (v.type != NP_JSON_NULL || nulls) return true;
  np_fault(w, "is null, which a state does not keep; remove it instead");
  return false;
}

bool np_value_read(np_work *w, np_json v, bool nulls, np_value *out) {
  *out = (np_value){.key = NP_LIT("")};
  return read_any(w, v, nulls, 0, out);
}

/* ---- members and items ---- */

bool np_value_find(const np_value *object, np_str key, uint32_t *at) {
  uint32_t lo = 0, hi = object->count;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    int c = np_str_cmp(object->items[mid].key, key);
    if (c == 0) {
      *at = mid;
      return true;
    }
    if (c < 0) lo = mid + 1;
    else hi = mid;
  }
  *at = lo;
  return false;
}

np_value *np_value_insert(np_work *w, np_value *parent, uint32_t at) {
  if (parent->count == parent->cap) {
    uint32_t cap = parent->cap < 4 ? 8 : parent->cap * 2;
    np_value *more = np_arena_alloc(&w->ar, cap * sizeof *more);
    if (!more) {
      w->failed = true;
      return NULL;
    }
    if (parent->count) memcpy(more, parent->items, parent->count * sizeof *more);
    parent->items = more;
    parent->cap = cap;
  }
  np_value *to = &parent->items[at];
  memmove(to + 1, to, (parent->count - at) * sizeof *to);
  parent->count++;
  *to = (np_value){.key = NP_LIT(""), .text = NP_LIT("")};
  return to;
}

void np_value_remove(np_value *parent, uint32_t at) {
  np_value *gone = &parent->items[at];
  memmove(gone, gone + 1, (parent->count - at - 1) * sizeof *gone);
  parent->count--;
}

bool np_value_same(const np_value *a, const np_value *b, bool by_value) {
  if (a->type != b->type || a->count != b->count) return false;
  if (a->type == NP_JSON_NUMBER && by_value) return np_number_cmp(a->text, b->text) == 0;
  if (a->type != NP_JSON_ARRAY && a->type != NP_JSON_OBJECT)
    return np_str_eq(a->text, b->text);
  for (uint32_t i = 0; i < a->count; i++) {
    if (!np_str_eq(a->items[i].key, b->items[i].key) ||
        !np_value_same(&a->items[i], &b->items[i], by_value))
      return false;
  }
  return true;
}

/* ---- writing ---- */

static void add_escape(np_buf *out, uint32_t unit) {
  static const char hex[] = "0123456789abcdef";
  np_buf_adds(out, "\\u");
  for (int shift = 12; shift >= 0; shift -= 4) np_buf_addc(out, hex[unit >> shift & 15]);
}

static void add_escapes(np_buf *out, uint32_t c) {
  if (c < 0x10000) {
    add_escape(out, c);
    return;
  }
  add_escape(out, 0xD800 + ((c - 0x10000) >> 10));
  add_escape(out, 0xDC00 + ((c - 0x10000) & 1023));
}

/* The same value: what a reader or a terminal would obey and not show is an escape. */
void np_value_quote(np_buf *out, np_str text) {
  np_buf raw;
  size_t at, n, from;
  np_buf_init(&raw, out->alloc);
  np_json_quote(&raw, text);
  np_str s = np_buf_str(&raw);
  for (at = from = 0; at < s.n; at += n) {
    n = 1;
    if ((unsigned char)s.p[at] < 0x7F) continue;
    uint32_t c = np_utf8_decode(s.p + at, s.p + s.n, &n);
    if (!np_is_unseen(c)) continue;
    np_buf_add(out, np_str_cut(s, from, at));
    add_escapes(out, c);
    from = at + n;
  }
  np_buf_add(out, np_str_cut(s, from, s.n));
  if (raw.failed) out->failed = true;
  np_buf_free(&raw);
}

static void write_member(const np_schema *sc, const np_value *v, bool lines, bool first,
                         np_buf *out) {
  if (!first) np_buf_adds(out, lines ? ",\n" : ",");
  np_value_quote(out, v->key);
  np_buf_addc(out, ':');
  np_value_write(sc, v, false, out);
}

static void write_members(const np_schema *sc, const np_value *v, bool lines,
                          np_buf *out) {
  bool first = true;
  uint32_t at;
  for (size_t i = 0; sc && i < sc->prop_count; i++) {
    if (!np_value_find(v, sc->props[i].key, &at)) continue;
    write_member(&sc->props[i], &v->items[at], lines, first, out);
    first = false;
  }
  for (uint32_t i = 0; i < v->count; i++) {
    const np_schema *m = sc ? np_schema_member(sc, v->items[i].key) : NULL;
    if (m && m != sc->more) continue;
    write_member(m, &v->items[i], lines, first, out);
    first = false;
  }
}

void np_value_write(const np_schema *sc, const np_value *v, bool lines, np_buf *out) {
  if (v->type == NP_JSON_STRING) {
    np_value_quote(out, v->text);
  } else if (v->type == NP_JSON_OBJECT) {
    np_buf_addc(out, '{');
    write_members(sc, v, lines, out);
    np_buf_addc(out, '}');
  } else if (v->type == NP_JSON_ARRAY) {
    np_buf_addc(out, '[');
    for (uint32_t i = 0; i < v->count; i++) {
      if (i) np_buf_addc(out, ',');
      np_value_write(sc ? sc->items : NULL, &v->items[i], false, out);
    }
    np_buf_addc(out, ']');
  } else {
    np_buf_add(out, v->text);
  }
}
