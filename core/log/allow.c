/*
** What a schema says of an object: whether every value is as it should be, and whether what has
** changed was for that writer to change. The second is told by comparing the object before and
** behind, so that no way of writing a patch leads around it. next: object.c
*/
#include "log/value.h"

#include "text/text.h"

/* ---- values ---- */

static unsigned type_of(const np_value *v) {
  switch (v->type) {
    case NP_JSON_STRING: return NP_TYPE_STRING | NP_TYPE_ID;
    case NP_JSON_BOOL: return NP_TYPE_BOOLEAN;
    case NP_JSON_ARRAY: return NP_TYPE_ARRAY;
    case NP_JSON_OBJECT: return NP_TYPE_OBJECT;
    default: break;
  }
  bool whole = true;
  for (size_t i = 0; i < v->text.n; i++) {
    char c = v->text.p[i];
    whole = whole && ((c >= '0' && c <= '9') || (c == '-' && !i));
  }
  return whole ? NP_TYPE_NUMBER | NP_TYPE_INTEGER : NP_TYPE_NUMBER;
}

static void name_types(unsigned set, char out[96]) {
  static const char *const names[] = {"string", "number", "integer", "boolean",
                                      "array",  "object", "id"};
  size_t n = 0;
  for (size_t i = 0; i < NP_COUNT(names); i++) {
    size_t more = strlen(names[i]);
    if (!(set >> i & 1) || n + more + 5 > 96) continue;
    if (n) memcpy(out + n, " or ", 4), n += 4;
    memcpy(out + n, names[i], more);
    n += more;
  }
  out[n] = '\0';
}

#define ID_BYTES 128

/* An id is a word: what names a thing elsewhere, never prose. */
static bool is_id(np_str s) {
  for (size_t i = 0; i < s.n; i++) {
    unsigned char c = (unsigned char)s.p[i];
    bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                (c >= 'A' && c <= 'Z') || strchr("_-.:/@#+=", c) != NULL;
    if (!word || !c) return false;
  }
  return s.n > 0 && s.n <= ID_BYTES;
}

static void check_length(np_work *w, int64_t n, int64_t min, int64_t max,
                         const char *what) {
  if (min >= 0 && n < min)
    np_fault(w, "has %lld %s and needs at least %lld", (long long)n, what,
             (long long)min);
  if (max >= 0 && n > max)
    np_fault(w, "has %lld %s and may have %lld", (long long)n, what, (long long)max);
}

static int64_t count_chars(np_str s) {
  int64_t n = 0;
  for (size_t i = 0; i < s.n; i++) n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
  return n;
}

static void check_text(np_work *w, const np_schema *sc, const np_value *v) {
  if (sc->min_length >= 0 || sc->max_length >= 0)
    check_length(w, count_chars(v->text), sc->min_length, sc->max_length, "characters");
  if ((sc->types & (NP_TYPE_ID | NP_TYPE_STRING)) == NP_TYPE_ID && !is_id(v->text))
    np_fault(w, "is no id: at most %d of letters, digits and _-.:/@#+=", ID_BYTES);
}

static int shown(np_str s) {
  return s.n > 60 ? 60 : (int)s.n;
}

static void check_number(np_work *w, const np_schema *sc, const np_value *v) {
  if (sc->minimum.n && np_number_cmp(v->text, sc->minimum) < 0)
    np_fault(w, "%.*s is below the minimum %.*s", shown(v->text), v->text.p,
             shown(sc->minimum), sc->minimum.p);
  if (sc->maximum.n && np_number_cmp(v->text, sc->maximum) > 0)
    np_fault(w, "%.*s is above the maximum %.*s", shown(v->text), v->text.p,
             shown(sc->maximum), sc->maximum.p);
}

static void check_choice(np_work *w, const np_schema *sc, const np_value *v) {
  np_buf list;
  if (sc->choice.type == NP_JSON_NONE) return;
  for (uint32_t i = 0; i < sc->choice.count; i++) {
    if (np_value_same(&sc->choice.items[i], v, true)) return;
  }
  np_buf_init(&list, w->ar.alloc);
  np_value_write(NULL, &sc->choice, false, &list);
  if (list.failed) w->failed = true;
  np_fault(w, "is none of %.*s", list.n > 200 ? 200 : (int)list.n, list.p ? list.p : "");
  np_buf_free(&list);
}

static void check_members(np_work *w, const np_schema *sc, const np_value *v) {
  uint32_t at;
  for (size_t i = 0; i < sc->prop_count; i++) {
    if (!sc->props[i].required || np_value_find(v, sc->props[i].key, &at)) continue;
    size_t was = np_path_push(w, sc->props[i].key);
    np_fault(w, "is required and is not there");
    np_path_pop(w, was);
  }
  for (uint32_t i = 0; i < v->count; i++) {
    const np_schema *m = np_schema_member(sc, v->items[i].key);
    size_t was = np_path_push(w, v->items[i].key);
    if (m) np_schema_check(w, m, &v->items[i]);
    else if (sc->types || sc->prop_count) np_fault(w, "is not in the schema");
    np_path_pop(w, was);
  }
}

static void check_items(np_work *w, const np_schema *sc, const np_value *v) {
  check_length(w, v->count, sc->min_items, sc->max_items, "items");
  for (uint32_t i = 0; sc->items && i < v->count; i++) {
    size_t was = np_path_push_at(w, i);
    np_schema_check(w, sc->items, &v->items[i]);
    np_path_pop(w, was);
  }
}

void np_schema_check(np_work *w, const np_schema *sc, const np_value *v) {
  char names[96];
  if (sc->types && !(type_of(v) & sc->types)) {
    name_types(sc->types, names);
    np_fault(w, "must be %s", names);
    return;
  }
  check_choice(w, sc, v);
  if (v->type == NP_JSON_STRING) check_text(w, sc, v);
  if (v->type == NP_JSON_NUMBER) check_number(w, sc, v);
  if (v->type == NP_JSON_OBJECT) check_members(w, sc, v);
  if (v->type == NP_JSON_ARRAY) check_items(w, sc, v);
}

/* ---- who may ---- */

static void name_writers(unsigned set, np_buf *out) {
  for (int i = 0, n = 0; i < NP_WHO_COUNT; i++) {
    if (!(set >> i & 1)) continue;
    if (n++) np_buf_adds(out, ", ");
    np_buf_adds(out, np_who_name((np_who)i));
  }
}

static void refuse(np_work *w, const np_schema *sc, np_who who) {
  np_buf list;
  if (sc->hard) {
    np_fault(w, "is a hard constraint: the user alone changes it, not the %s",
             np_who_name(who));
    return;
  }
  np_buf_init(&list, w->ar.alloc);
  name_writers(sc->writers, &list);
  if (list.failed) w->failed = true;
  np_fault(w, "is not for the %s to change; who may: %.*s", np_who_name(who), (int)list.n,
           list.p ? list.p : "");
  np_buf_free(&list);
}

/* Something that was open is there no more, or is another: `now` does not begin with all of it.
** NULL: nothing. */
static bool closes(const np_value *was, const np_value *now) {
  if (!was || was->type != NP_JSON_ARRAY) return false;
  if (!now || now->type != NP_JSON_ARRAY || now->count < was->count)
    return was->count > 0;
  for (uint32_t i = 0; i < was->count; i++) {
    if (!np_value_same(&was->items[i], &now->items[i], false)) return true;
  }
  return false;
}

static const np_value *part(const np_value *v, np_json_type type, uint32_t i) {
  return v && v->type == type && i < v->count ? &v->items[i] : NULL;
}

static void allow_member(np_work *w, const np_schema *sc, np_str key, const np_value *was,
                         const np_value *now, const np_proposed *p) {
  const np_schema *m = np_schema_member(sc, key);
  size_t at = np_path_push(w, key);
  np_schema_allow(w, m ? m : sc, was, now, p);
  np_path_pop(w, at);
}

/* Members of both, in the order of their keys. */
static void allow_members(np_work *w, const np_schema *sc, const np_value *was,
                          const np_value *now, const np_proposed *p) {
  uint32_t i = 0, j = 0;
  for (;;) {
    const np_value *a = part(was, NP_JSON_OBJECT, i), *b = part(now, NP_JSON_OBJECT, j);
    if (!a && !b) return;
    int c = !a ? 1 : !b ? -1 : np_str_cmp(a->key, b->key);
    allow_member(w, sc, c <= 0 ? a->key : b->key, c <= 0 ? a : NULL, c >= 0 ? b : NULL,
                 p);
    i += c <= 0;
    j += c >= 0;
  }
}

static bool is_type(const np_value *a, const np_value *b, np_json_type type) {
  return (!a || a->type == type) && (!b || b->type == type);
}

/* A part whose parts may have writers of their own is told by those; that there is an empty one,
** or none any more, is for who may write here. */
static bool has_parts(const np_value *was, const np_value *now) {
  return (was && was->count) || (now && now->count);
}

void np_schema_allow(np_work *w, const np_schema *sc, const np_value *was,
                     const np_value *now, const np_proposed *p) {
  if (was && now && np_value_same(was, now, false)) return;
  bool may = sc->writers >> p->who & 1;
  if (!may && (!was || !now)) {
    refuse(w, sc, p->who);
    return;
  }
  if (sc->open && may && !p->reasoned && closes(was, now))
    np_fault(w, "what is open goes only with a reason: say how it was settled");
  if (is_type(was, now, NP_JSON_OBJECT) && has_parts(was, now)) {
    allow_members(w, sc, was, now, p);
  } else if (is_type(was, now, NP_JSON_ARRAY) && has_parts(was, now) && sc->items) {
    uint32_t n = was ? was->count : 0, m = now ? now->count : 0;
    for (uint32_t i = 0; i < n || i < m; i++) {
      size_t at = np_path_push_at(w, i);
      np_schema_allow(w, sc->items, part(was, NP_JSON_ARRAY, i),
                      part(now, NP_JSON_ARRAY, i), p);
      np_path_pop(w, at);
    }
  } else if (!may) {
    refuse(w, sc, p->who);
  } else if (was && now && was->type != now->type && (was->count || now->count)) {
    /* another type: all that was there goes, and all that is there comes */
    np_schema_allow(w, sc, was, NULL, p);
    np_schema_allow(w, sc, NULL, now, p);
  }
}
