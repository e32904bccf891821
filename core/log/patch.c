/*
** Patches of a state object: a merge patch (RFC 7396: members to set, null takes one away, lists
** are replaced) or a list of operations (add, replace, remove, test; paths as in RFC 6901).
** What does not fit is noted by its path. next: object.c
*/
#include "log/value.h"

/* ---- merge ---- */

static void merge(np_work *w, np_value *to, const np_value *patch);

static void set_merged(np_work *w, np_value *slot, np_str key, const np_value *patch) {
  bool fresh = patch->type == NP_JSON_OBJECT && slot->type != NP_JSON_OBJECT;
  if (patch->type != NP_JSON_OBJECT) *slot = *patch;
  else if (fresh) *slot = (np_value){.type = NP_JSON_OBJECT, .text = NP_LIT("")};
  slot->key = key;
  if (patch->type == NP_JSON_OBJECT) merge(w, slot, patch);
}

/* Nulls in a list are not a merge patch's to take away, and no state's to keep. */
static void refuse_nulls(np_work *w, const np_value *v) {
  if (v->type == NP_JSON_NULL) np_fault(w, "is null, which a state does not keep");
  if (v->type != NP_JSON_ARRAY && v->type != NP_JSON_OBJECT) return;
  for (uint32_t i = 0; i < v->count; i++) {
    size_t was = v->type == NP_JSON_ARRAY ? np_path_push_at(w, i)
                                          : np_path_push(w, v->items[i].key);
    refuse_nulls(w, &v->items[i]);
    np_path_pop(w, was);
  }
}

/* Both are in the order of their keys: one walk over the two. */
static void merge(np_work *w, np_value *to, const np_value *patch) {
  np_value out = *to;
  uint32_t i = 0, room = to->count + patch->count;
  out.count = 0;
  out.cap = room + 1;
  out.items = np_arena_alloc(&w->ar, out.cap * sizeof *out.items);
  if (!out.items) {
    w->failed = true;
    return;
  }
  for (uint32_t j = 0; j < patch->count && !w->failed; j++) {
    const np_value *p = &patch->items[j];
    while (i < to->count && np_str_cmp(to->items[i].key, p->key) < 0)
      out.items[out.count++] = to->items[i++];
    np_value slot = {.text = NP_LIT("")};
    if (i < to->count && np_str_eq(to->items[i].key, p->key)) slot = to->items[i++];
    size_t was = np_path_push(w, p->key);
    if (p->type == NP_JSON_ARRAY) refuse_nulls(w, p);
    if (p->type != NP_JSON_NULL) {
      set_merged(w, &slot, p->key, p);
      out.items[out.count++] = slot;
    }
    np_path_pop(w, was);
  }
  while (i < to->count) out.items[out.count++] = to->items[i++];
  *to = out;
}

/* ---- operations ---- */

typedef enum verb { ADD, REPLACE, REMOVE, TEST, VERBS } verb;
static const char *const verbs[VERBS] = {"add", "replace", "remove", "test"};

typedef struct step {
  verb verb;
  np_str path;
  const np_value *value;
} step;

static const np_value *member(const np_value *object, const char *key) {
  uint32_t at;
  return np_value_find(object, np_str_cstr(key), &at) ? &object->items[at] : NULL;
}

static bool fault(np_work *w, const char *what) {
  np_fault(w, "%s", what);
  return false;
}

static bool read_verb(np_work *w, const np_value *op, verb *out) {
  for (int i = 0; op && op->type == NP_JSON_STRING && i < VERBS; i++) {
    if (!np_str_is(op->text, verbs[i])) continue;
    *out = (verb)i;
    return true;
  }
  return fault(w, "needs an op: add, replace, remove or test");
}

static bool read_step(np_work *w, const np_value *v, step *out) {
  if (v->type != NP_JSON_OBJECT) return fault(w, "is no operation {op, path, value}");
  for (uint32_t i = 0; i < v->count; i++) {
    np_str k = v->items[i].key;
    if (np_str_is(k, "op") || np_str_is(k, "path") || np_str_is(k, "value")) continue;
    return fault(w, "has a member besides op, path and value");
  }
  const np_value *path = member(v, "path");
  if (!read_verb(w, member(v, "op"), &out->verb)) return false;
  if (!path || path->type != NP_JSON_STRING)
    return fault(w, "needs a path such as /progress/-");
  out->path = path->text;
  out->value = member(v, "value");
  if (path->text.n && path->text.p[0] != '/')
    return fault(w, "has a path that does not begin with /");
  if (out->verb != REMOVE && !out->value) return fault(w, "needs a value");
  if (out->verb == REMOVE && out->value) return fault(w, "takes away and has a value");
  return true;
}

/* The next key of a pointer, decoded; false: a ~ that stands for nothing. */
static bool next_key(np_work *w, np_str *rest, np_str *key) {
  size_t end = 1;
  np_buf b;
  bool ok = true;
  np_buf_init(&b, w->ar.alloc);
  while (end < rest->n && rest->p[end] != '/') end++;
  for (size_t i = 1; ok && i < end; i++) {
    char c = rest->p[i];
    if (c == '~') {
      char d = ++i < end ? rest->p[i] : 0;
      ok = d == '0' || d == '1';
      c = d == '1' ? '/' : '~';
    }
    np_buf_addc(&b, c);
  }
  if (b.failed || !np_arena_copy(&w->ar, np_buf_str(&b), key)) w->failed = true;
  np_buf_free(&b);
  *rest = np_str_cut(*rest, end, rest->n);
  return ok && !w->failed;
}

/* An index: digits without a zero before them. `end`: that behind the last is one too. */
static bool read_index(const np_value *list, np_str key, bool end, uint32_t *out) {
  uint64_t n = 0;
  if (end && np_str_is(key, "-")) {
    *out = list->count;
    return true;
  }
  if (!key.n || key.n > 9 || (key.n > 1 && key.p[0] == '0')) return false;
  for (size_t i = 0; i < key.n; i++) {
    if (key.p[i] < '0' || key.p[i] > '9') return false;
    n = n * 10 + (uint64_t)(key.p[i] - '0');
  }
  *out = (uint32_t)n;
  return n < list->count + (end ? 1u : 0u);
}

/* Whether the key is there in `in`, and where it is or would be; false is noted. */
static bool find(np_work *w, const np_value *in, np_str key, bool may_be_new,
                 uint32_t *at, bool *there) {
  *there = true;
  if (in->type == NP_JSON_OBJECT) {
    *there = np_value_find(in, key, at);
    return *there || may_be_new || fault(w, "is not there");
  }
  if (in->type != NP_JSON_ARRAY) return fault(w, "has no parts");
  if (!read_index(in, key, may_be_new, at))
    return fault(w, may_be_new ? "has no such place; - is its end" : "has no such place");
  *there = *at < in->count;
  return true;
}

static void apply_at(np_work *w, np_value *in, np_str key, const step *s) {
  uint32_t at;
  bool there, list = in->type == NP_JSON_ARRAY;
  if (!find(w, in, key, s->verb == ADD, &at, &there)) return;
  if (s->verb == REMOVE) {
    np_value_remove(in, at);
  } else if (s->verb == TEST) {
    if (!np_value_same(&in->items[at], s->value, true)) np_fault(w, "is not that value");
  } else {
    np_value *to =
        s->verb == ADD && (list || !there) ? np_value_insert(w, in, at) : &in->items[at];
    if (!to) return;
    *to = *s->value;
    to->key = list ? NP_LIT("") : key;
  }
}

static void apply_root(np_work *w, np_value *object, const step *s) {
  if (s->verb == TEST) {
    if (!np_value_same(object, s->value, true)) np_fault(w, "is not that value");
  } else if (s->verb == REMOVE || s->value->type != NP_JSON_OBJECT) {
    np_fault(w, "the whole state is an object and stays one");
  } else {
    *object = *s->value;
    object->key = NP_LIT("");
  }
}

/* Values may come twice, in a patch and in the object: what is changed in place must not be
** shared. Lists of a value that was set are its own, as each step of a patch has its own. */
static void apply_step(np_work *w, np_value *object, const step *s) {
  np_str rest = s->path, key;
  np_value *in = object;
  if (!rest.n) {
    apply_root(w, object, s);
    return;
  }
  for (;;) {
    if (!next_key(w, &rest, &key)) {
      if (!w->failed) np_fault(w, "has ~ in its path, which is written ~0");
      return;
    }
    size_t was = np_path_push(w, key);
    uint32_t at = 0;
    bool there, last = !rest.n;
    if (last) apply_at(w, in, key, s);
    bool ok = !last && find(w, in, key, false, &at, &there);
    if (!ok) {
      (void)was;
      return;
    }
    in = &in->items[at];
  }
}

static void apply_steps(np_work *w, np_value *object, const np_value *list) {
  if (list->count > NP_PATCH_STEPS) {
    np_fault(w, "a patch of %u operations; at most %d are taken", list->count,
             NP_PATCH_STEPS);
    return;
  }
  for (uint32_t i = 0; i < list->count && !w->failed; i++) {
    step s;
    size_t faults = w->faults->count, was = w->path.n;
    bool ok = read_step(w, &list->items[i], &s);
    if (ok) apply_step(w, object, &s);
    np_path_pop(w, was);
    if (!ok || w->faults->count > faults) return; /* the others rest on it */
  }
}

void np_patch_apply(np_work *w, np_value *object, const np_value *patch) {
  if (patch->type == NP_JSON_OBJECT) merge(w, object, patch);
  else if (patch->type == NP_JSON_ARRAY) apply_steps(w, object, patch);
  else np_fault(w, "a patch is an object of what to set, or a list of operations");
}
