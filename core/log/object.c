/*
** A proposal from its text to the object that it makes: read, patched, checked, compared,
** written. next: changes.c
*/
#include "log/value.h"

/* The object as it stands; an empty one where there is none yet. */
bool np_object_read(np_work *w, np_str now, np_value *out) {
  np_json v;
  *out = (np_value){.type = NP_JSON_OBJECT, .key = NP_LIT(""), .text = NP_LIT("")};
  if (!now.n) return true;
  if (np_json_check(now, &v, NULL)) return false;
  w->values = 0;
  return np_value_read(w, v, false, out) && v.type == NP_JSON_OBJECT;
}

neap_rc np_object_damaged(np_err *e) {
  return np_fail(e, NEAP_E_CORRUPT, "the state object cannot be read; check the store");
}

static neap_rc read_patch(np_work *w, np_str text, np_value *out) {
  np_json v;
  np_err why = {0};
  if (text.n > NP_PATCH_BYTES) {
    np_fault(w, "a patch of %zu bytes; at most %zu are taken", text.n, NP_PATCH_BYTES);
    return NEAP_E_REFUSED;
  }
  if (np_json_check(text, &v, &why)) {
    np_fault(w, "the patch is no JSON at byte %zu: %s", why.pos, why.text);
    return NEAP_E_REFUSED;
  }
  w->values = 0;
  bool ok = np_value_read(w, v, v.type == NP_JSON_OBJECT, out);
  return ok ? NEAP_OK : NEAP_E_REFUSED;
}

static void close_faults(np_faults *f) {
  if (f->count > NP_OBJECT_FAULTS)
    np_buf_adds(f->list,
                ",{\"path\":\"\",\"what\":\"more is wrong; set this right first\"}");
  if (f->count) np_buf_addc(f->list, ']');
}

static neap_rc verdict(const np_work *w, np_faults *f, np_err *e) {
  close_faults(f);
  if (w->failed || w->path.failed || f->list->failed) return np_fail_mem(e);
  return f->count ? NEAP_E_REFUSED : NEAP_OK;
}

/* What was written can be read back: patch and object together may be too deep or too much. */
static void check_size(np_work *w, np_str text) {
  np_value again;
  if (text.n > NP_OBJECT_BYTES) {
    np_fault(w, "the state would have %zu bytes; at most %zu are taken", text.n,
             NP_OBJECT_BYTES);
  } else {
    np_object_read(w, text, &again);
  }
}

static void propose(np_work *w, const np_schema *sc, const np_value *was, np_value *now,
                    const np_proposed *p, np_buf *out) {
  np_value patch;
  size_t before = out->n;
  if (read_patch(w, p->patch, &patch) || w->failed) return;
  np_patch_apply(w, now, &patch);
  if (w->failed || w->faults->count) return;
  if (p->who != NP_WHO_COUNT) np_schema_allow(w, sc, was, now, p);
  np_schema_check(w, sc, now);
  if (w->failed || w->faults->count) return;
  np_value_write(sc, now, true, out);
  if (out->failed) w->failed = true;
  else check_size(w, np_str_cut(np_buf_str(out), before, out->n));
}

neap_rc np_object_propose(const np_schema *sc, np_str now, const np_proposed *p,
                          np_buf *out, np_faults *faults, const neap_alloc *a,
                          np_err *e) {
  np_work w;
  np_value was, next;
  size_t before = out->n;
  np_work_init(&w, a, faults);
  bool ok = np_object_read(&w, now, &was) && np_object_read(&w, now, &next);
  if (ok) propose(&w, sc, &was, &next, p, out);
  neap_rc rc = ok || w.failed ? verdict(&w, faults, e) : np_object_damaged(e);
  if (rc) out->n = before;
  np_work_free(&w);
  return rc;
}

neap_rc np_object_apply(const np_schema *sc, np_str now, np_str patch, np_buf *out,
                        const neap_alloc *a, np_err *e) {
  np_work w;
  np_value next, change;
  np_buf list;
  size_t before = out->n;
  np_buf_init(&list, a);
  np_faults faults = {.list = &list};
  np_work_init(&w, a, &faults);
  bool ok = np_object_read(&w, now, &next) && !read_patch(&w, patch, &change);
  if (ok) np_patch_apply(&w, &next, &change);
  ok = ok && !faults.count;
  if (ok) np_value_write(sc, &next, true, out);
  neap_rc rc = w.failed || out->failed ? np_fail_mem(e)
               : ok                    ? NEAP_OK
                                       : np_object_damaged(e);
  if (rc) out->n = before;
  np_work_free(&w);
  np_buf_free(&list);
  return rc;
}

neap_rc np_object_check(const np_schema *sc, np_str now, np_faults *faults,
                        const neap_alloc *a, np_err *e) {
  np_work w;
  np_value v;
  np_work_init(&w, a, faults);
  bool ok = np_object_read(&w, now, &v);
  if (ok) np_schema_check(&w, sc, &v);
  neap_rc rc = ok || w.failed ? verdict(&w, faults, e) : np_object_damaged(e);
  np_work_free(&w);
  return rc;
}

/* ---- what is open ---- */

static void count_open(const np_schema *sc, const np_value *v, np_open_things *out) {
  if (sc->open == NP_OPEN_PENDING) out->pending += v->count;
  if (sc->open == NP_OPEN_BLOCKED) out->blocked += v->count;
  for (uint32_t i = 0; i < v->count; i++) {
    const np_schema *below =
        v->type == NP_JSON_OBJECT ? np_schema_member(sc, v->items[i].key) : sc->items;
    if (below) count_open(below, &v->items[i], out);
  }
}

neap_rc np_object_count(const np_schema *sc, np_str now, np_open_things *out,
                        const neap_alloc *a, np_err *e) {
  np_work w;
  np_value v;
  np_buf list;
  np_buf_init(&list, a);
  np_faults none = {.list = &list};
  np_work_init(&w, a, &none);
  *out = (np_open_things){0};
  bool ok = np_object_read(&w, now, &v);
  if (ok) count_open(sc, &v, out);
  neap_rc rc = w.failed ? np_fail_mem(e) : ok ? NEAP_OK : np_object_damaged(e);
  np_work_free(&w);
  np_buf_free(&list);
  return rc;
}

/* ---- what a writer may change ---- */

static void add_writable(const np_schema *sc, np_who who, np_buf *path, np_buf *out) {
  bool may = sc->writers >> who & 1, parts = false;
  for (size_t i = 0; i < sc->prop_count; i++) {
    size_t was = path->n;
    np_buf_addc(path, '/');
    np_buf_add(path, sc->props[i].key);
    add_writable(&sc->props[i], who, path, out);
    path->n = was;
    parts = true;
  }
  if (!may || (parts && !sc->more) || !path->n) return;
  if (out->n) np_buf_adds(out, ", ");
  np_buf_add(out, np_buf_str(path));
  if (sc->types == NP_TYPE_ARRAY) np_buf_adds(out, " (list)");
  else if (sc->types == NP_TYPE_OBJECT) np_buf_adds(out, " (object)");
}

void np_schema_writable(const np_schema *sc, np_who who, np_buf *out) {
  np_buf path;
  np_buf_init(&path, out->alloc);
  add_writable(sc, who, &path, out);
  if (path.failed) out->failed = true;
  np_buf_free(&path);
}

/* ---- differences ---- */

static void add_side(np_buf *out, const char *name, const np_value *v) {
  if (!v) return;
  np_buf_adds(out, name);
  np_value_write(NULL, v, false, out);
}

static void diff(np_work *w, const np_value *a, const np_value *b, np_buf *out) {
  if (a && b && np_value_same(a, b, false)) return;
  bool both = a && b && a->type == NP_JSON_OBJECT && b->type == NP_JSON_OBJECT;
  if (!both) {
    np_buf_adds(out, out->p[out->n - 1] == '[' ? "{\"path\":" : ",{\"path\":");
    np_json_quote(out, np_buf_str(&w->path));
    add_side(out, ",\"from\":", a);
    add_side(out, ",\"to\":", b);
    np_buf_addc(out, '}');
    return;
  }
  for (uint32_t i = 0, j = 0; i < a->count || j < b->count;) {
    const np_value *x = i < a->count ? &a->items[i] : NULL;
    const np_value *y = j < b->count ? &b->items[j] : NULL;
    int c = !x ? 1 : !y ? -1 : np_str_cmp(x->key, y->key);
    size_t was = np_path_push(w, c <= 0 ? x->key : y->key);
    diff(w, c <= 0 ? x : NULL, c >= 0 ? y : NULL, out);
    np_path_pop(w, was);
    i += c <= 0;
    j += c >= 0;
  }
}

neap_rc np_object_diff(np_str from, np_str to, np_buf *out, const neap_alloc *a,
                       np_err *e) {
  np_work w;
  np_value x, y;
  np_buf list;
  np_buf_init(&list, a);
  np_faults none = {.list = &list};
  np_work_init(&w, a, &none);
  bool ok = np_object_read(&w, from, &x) && np_object_read(&w, to, &y);
  np_buf_addc(out, '[');
  if (ok && !out->failed) diff(&w, &x, &y, out);
  np_buf_addc(out, ']');
  bool failed = w.failed || w.path.failed || out->failed;
  neap_rc rc = failed ? np_fail_mem(e) : ok ? NEAP_OK : np_object_damaged(e);
  np_work_free(&w);
  np_buf_free(&list);
  return rc;
}
