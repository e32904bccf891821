/*
** What lies between two objects, as operations of a patch, a line each, for a model to read: in
** their order they make the second of the first. A list is compared item by item, so that what is
** said grows with what has changed and not with what is there. Says, changes nothing.
** next: parse.c
*/
#include "log/value.h"

#define AHEAD 8   /* items that may have come or gone at one place of a list */
#define SHOWN 120 /* bytes of a value that is no more */

typedef struct walk {
  np_buf path; /* whole keys, other than in what is said to be wrong */
  np_buf text; /* of one value */
  np_buf *out;
} walk;

/* ---- lines ---- */

/* A path stands as it is where no word ends in it. */
static bool is_plain(np_str path) {
  for (size_t i = 0; i < path.n; i++) {
    unsigned char c = (unsigned char)path.p[i];
    if (c <= ' ' || c >= 0x7F || c == '"' || c == '\\') return false;
  }
  return path.n > 0;
}

static np_str text_of(walk *w, const np_value *v) {
  np_buf_clear(&w->text);
  np_value_write(NULL, v, false, &w->text);
  return np_buf_str(&w->text);
}

static void add_old(walk *w, const np_value *was) {
  np_str old = text_of(w, was);
  size_t n = old.n > SHOWN ? SHOWN : old.n;
  while (n && n < old.n && ((unsigned char)old.p[n] & 0xC0) == 0x80) n--;
  np_buf_adds(w->out, " (was ");
  np_buf_add(w->out, np_str_cut(old, 0, n));
  if (n < old.n) {
    np_buf_adds(w->out, "\xE2\x80\xA6 ");
    np_buf_count(w->out, (int64_t)old.n);
    np_buf_adds(w->out, " bytes");
  }
  np_buf_addc(w->out, ')');
}

static void say(walk *w, const char *op, const np_value *was, const np_value *now) {
  np_str path = np_buf_str(&w->path);
  np_buf_addc(w->out, '\n');
  np_buf_adds(w->out, op);
  if (is_plain(path)) np_buf_add(w->out, path);
  else np_value_quote(w->out, path);
  if (now) np_buf_addc(w->out, ' ');
  if (now) np_buf_add(w->out, text_of(w, now));
  if (was) add_old(w, was);
}

/* ---- paths ---- */

static size_t push_key(walk *w, np_str key) {
  size_t was = w->path.n;
  np_buf_addc(&w->path, '/');
  for (size_t i = 0; i < key.n; i++) {
    if (key.p[i] == '~') np_buf_adds(&w->path, "~0");
    else if (key.p[i] == '/') np_buf_adds(&w->path, "~1");
    else np_buf_addc(&w->path, key.p[i]);
  }
  return was;
}

static size_t push_index(walk *w, uint32_t i) {
  size_t was = w->path.n;
  np_buf_addc(&w->path, '/');
  np_buf_int(&w->path, i);
  return was;
}

/* ---- what differs ---- */

static void compare(walk *w, const np_value *a, const np_value *b);

/* A member or an item: one that is new, one that is gone, or one that may have changed. */
static void compare_part(walk *w, const np_value *a, const np_value *b) {
  if (!a) say(w, "add ", NULL, b);
  else if (!b) say(w, "remove ", a, NULL);
  else compare(w, a, b);
}

static void compare_members(walk *w, const np_value *a, const np_value *b) {
  for (uint32_t i = 0, j = 0; i < a->count || j < b->count;) {
    const np_value *x = i < a->count ? &a->items[i] : NULL;
    const np_value *y = j < b->count ? &b->items[j] : NULL;
    int c = !x ? 1 : !y ? -1 : np_str_cmp(x->key, y->key);
    size_t was = push_key(w, c <= 0 ? x->key : y->key);
    compare_part(w, c <= 0 ? x : NULL, c >= 0 ? y : NULL);
    w->path.n = was;
    i += c <= 0;
    j += c >= 0;
  }
}

/* How many items before the one like `v` there are from `at` on; 0: none is near. */
static uint32_t ahead(const np_value *list, uint32_t at, uint32_t end,
                      const np_value *v) {
  for (uint32_t d = 1; d <= AHEAD && at + d < end; d++) {
    if (np_value_same(&list->items[at + d], v, false)) return d;
  }
  return 0;
}

/* What is behind the last difference is the same in both, and is not walked over. At each place
** the list is the items of `b` up to there, and those of `a` from there on. */
static void compare_items(walk *w, const np_value *a, const np_value *b) {
  uint32_t i = 0, j = 0, n = a->count, m = b->count, gone = 0, come = 0;
  while (n && m && np_value_same(&a->items[n - 1], &b->items[m - 1], false)) n--, m--;
  while (i < n || j < m) {
    const np_value *x = i < n ? &a->items[i] : NULL;
    const np_value *y = j < m ? &b->items[j] : NULL;
    bool both = x && y && !gone && !come;
    if (both && !np_value_same(x, y, false)) {
      gone = ahead(a, i, n, y);
      come = gone ? 0 : ahead(b, j, m, x);
    }
    size_t was = push_index(w, j);
    if (gone) compare_part(w, x, NULL);
    else if (come) compare_part(w, NULL, y);
    else compare_part(w, x, y);
    w->path.n = was;
    i += x && !come;
    j += y && !gone;
    gone -= gone > 0;
    come -= come > 0;
  }
}

static void compare(walk *w, const np_value *a, const np_value *b) {
  if (np_value_same(a, b, false)) return;
  if (a->type == NP_JSON_OBJECT && b->type == NP_JSON_OBJECT) compare_members(w, a, b);
  else if (a->type == NP_JSON_ARRAY && b->type == NP_JSON_ARRAY) compare_items(w, a, b);
  else say(w, "replace ", a, b);
}

neap_rc np_object_changes(np_str from, np_str to, np_buf *out, const neap_alloc *a,
                          np_err *e) {
  np_work w;
  np_value x, y;
  np_buf list;
  walk k = {.out = out};
  np_buf_init(&list, a);
  np_buf_init(&k.path, a);
  np_buf_init(&k.text, a);
  np_faults none = {.list = &list};
  np_work_init(&w, a, &none);
  bool ok = np_object_read(&w, from, &x) && np_object_read(&w, to, &y);
  if (ok) compare(&k, &x, &y);
  bool failed = w.failed || k.path.failed || k.text.failed || out->failed;
  neap_rc rc = failed ? np_fail_mem(e) : ok ? NEAP_OK : np_object_damaged(e);
  np_work_free(&w);
  np_buf_free(&list);
  np_buf_free(&k.path);
  np_buf_free(&k.text);
  return rc;
}
