/*
** Reading a schema: JSON Schema's words as far as they are known here, and neap's own. Whatever
** is not known is refused by its path: a word that is passed over would be a rule that nobody
** keeps. next: allow.c
*/
#include "log/value.h"

#include <stdlib.h>

static const char *const whos[NP_WHO_COUNT] = {"user", "controller", "model", "tool",
                                               "policy"};

const char *np_who_name(np_who who) {
  return whos[who];
}

bool np_who_parse(np_str name, np_who *out) {
  for (int i = 0; i < NP_WHO_COUNT; i++) {
    if (!np_str_is(name, whos[i])) continue;
    *out = (np_who)i;
    return true;
  }
  return false;
}

/* Tools read what strangers have written: they write only where a schema names them. */
#define USUAL_WRITERS                                                                    \
  (1u << NP_WHO_USER | 1u << NP_WHO_CONTROLLER | 1u << NP_WHO_MODEL | 1u << NP_WHO_POLICY)

#define KNOWN                                                                            \
  "type, enum, properties, required, items, additionalProperties, minimum, maximum, "    \
  "minLength, maxLength, minItems, maxItems, writers, hard, kind, title and description"

typedef struct reader {
  np_work w;
  np_arena *ar; /* what lives with the schema */
  np_err *err;
  size_t nodes;
} reader;

static neap_rc bad(reader *r, const char *word, const char *what) {
  np_str at = np_buf_str(&r->w.path);
  return np_fail(r->err, NEAP_E_CONFIG, "state schema at %.*s: %s %s",
                 at.n ? (int)at.n : 1, at.n ? at.p : "/", word, what);
}

static neap_rc no_memory(reader *r) {
  return np_fail_mem(r->err);
}

/* The text of a name; `lone` is how many halves of surrogate pairs it has. */
static neap_rc keep_text(reader *r, np_json str, np_str *out, size_t *lone) {
  np_buf b;
  np_buf_init(&b, r->ar->alloc);
  *lone = np_json_text(str, &b);
  bool ok = !b.failed && np_arena_copy(r->ar, np_buf_str(&b), out);
  np_buf_free(&b);
  return ok ? NEAP_OK : no_memory(r);
}

/* A name that a state can have. */
static neap_rc keep_key(reader *r, np_json str, np_str *out) {
  size_t lone;
  neap_rc rc = keep_text(r, str, out, &lone);
  if (rc || (!lone && out->n <= NP_KEY_BYTES && !memchr(out->p, '\0', out->n))) return rc;
  return bad(r, "properties",
             "has a name that no state can: at most 256 bytes, no zero character");
}

/* ---- words of one value each ---- */

static neap_rc read_count(reader *r, const char *word, np_json v, int64_t *out) {
  int64_t n = 0;
  bool ok = v.type == NP_JSON_NUMBER && v.raw.n <= 9;
  for (size_t i = 0; ok && i < v.raw.n; i++) {
    ok = v.raw.p[i] >= '0' && v.raw.p[i] <= '9';
    n = n * 10 + (v.raw.p[i] - '0');
  }
  *out = n;
  return ok ? NEAP_OK : bad(r, word, "is a whole number of at least 0");
}

static neap_rc read_number(reader *r, const char *word, np_json v, np_str *out) {
  if (v.type != NP_JSON_NUMBER) return bad(r, word, "is a number");
  return np_arena_copy(r->ar, v.raw, out) ? NEAP_OK : no_memory(r);
}

static neap_rc read_bool(reader *r, const char *word, np_json v, bool *out) {
  if (v.type != NP_JSON_BOOL) return bad(r, word, "is true or false");
  *out = v.raw.p[0] == 't';
  return NEAP_OK;
}

/* What is hard is so with all that is below. */
static neap_rc read_hard(reader *r, np_json v, bool *out) {
  bool above = *out;
  neap_rc rc = read_bool(r, "hard", v, out);
  if (!rc && above && !*out)
    return bad(r, "hard", "is not false below what is hard; leave it out");
  return rc;
}

static neap_rc read_type_name(reader *r, np_json v, unsigned *set) {
  static const char *const names[] = {"string", "number", "integer", "boolean",
                                      "array",  "object", "id"};
  for (size_t i = 0; v.type == NP_JSON_STRING && i < NP_COUNT(names); i++) {
    if (!np_json_is_key(v.raw, names[i])) continue;
    *set |= 1u << i;
    return NEAP_OK;
  }
  return bad(r, "type",
             "is one of string, number, integer, boolean, array, object, id, or a list "
             "of them");
}

static neap_rc read_type(reader *r, np_json v, unsigned *set) {
  np_json item;
  neap_rc rc = NEAP_OK;
  if (v.type != NP_JSON_ARRAY) return read_type_name(r, v, set);
  np_json_iter it = np_json_each(v);
  while (!rc && np_json_next(&it, NULL, &item)) rc = read_type_name(r, item, set);
  return rc || *set ? rc : bad(r, "type", "is an empty list; leave it out for any");
}

static neap_rc read_writers(reader *r, np_json v, unsigned *set) {
  np_json item;
  np_str name;
  np_who who;
  *set = 0;
  np_json_iter it = np_json_each(v);
  while (v.type == NP_JSON_ARRAY && np_json_next(&it, NULL, &item)) {
    name =
        item.type == NP_JSON_STRING ? np_str_cut(item.raw, 1, item.raw.n - 1) : item.raw;
    if (!np_who_parse(name, &who))
      return bad(r, "writers", "names user, controller, model, tool or policy");
    *set |= 1u << who;
  }
  return *set ? NEAP_OK : bad(r, "writers", "is a list of at least one writer");
}

static neap_rc read_kind(reader *r, np_json v, np_open_kind *out) {
  if (v.type == NP_JSON_STRING && np_json_is_key(v.raw, "pending"))
    *out = NP_OPEN_PENDING;
  else if (v.type == NP_JSON_STRING && np_json_is_key(v.raw, "blocked"))
    *out = NP_OPEN_BLOCKED;
  else return bad(r, "kind", "is pending or blocked");
  return NEAP_OK;
}

static neap_rc read_enum(reader *r, np_json v, np_value *out) {
  np_buf list;
  np_str kept;
  np_json copy;
  np_buf_init(&list, r->ar->alloc);
  r->w.faults = &(np_faults){.list = &list};
  neap_rc rc = np_arena_copy(r->ar, v.raw, &kept) ? NEAP_OK : no_memory(r);
  if (!rc && v.type != NP_JSON_ARRAY) rc = bad(r, "enum", "is a list of values");
  if (!rc) {
    np_arena mine = r->w.ar; /* the values live as long as the schema */
    copy = np_json_of(kept);
    r->w.ar = *r->ar;
    bool ok = np_value_read(&r->w, copy, false, out);
    *r->ar = r->w.ar;
    r->w.ar = mine;
    if (r->w.failed) rc = no_memory(r);
    else if (!ok || !out->count)
      rc = bad(r, "enum", "is a list of 1 to 4096 values, without null");
  }
  np_buf_free(&list);
  r->w.faults = NULL;
  return rc;
}

/* ---- the tree ---- */

static neap_rc read_schema(reader *r, np_json v, int depth, np_schema *out);

static int by_key(const void *a, const void *b) {
  return np_str_cmp((*(np_schema *const *)a)->key, (*(np_schema *const *)b)->key);
}

/* Where the properties are, in the order of their keys. */
static neap_rc sort_props(reader *r, np_schema *sc) {
  np_schema **order = np_calloc(r->ar->alloc, sc->prop_count + 1, sizeof *order);
  neap_rc rc = NEAP_OK;
  sc->by_key = np_arena_alloc(r->ar, (sc->prop_count + 1) * sizeof *sc->by_key);
  if (!order || !sc->by_key) rc = no_memory(r);
  for (size_t i = 0; !rc && i < sc->prop_count; i++) order[i] = &sc->props[i];
  if (!rc) qsort(order, sc->prop_count, sizeof(np_schema *), by_key);
  for (size_t i = 0; !rc && i < sc->prop_count; i++) {
    if (i && np_str_eq(order[i - 1]->key, order[i]->key))
      rc = bad(r, "properties", "has a member twice");
    sc->by_key[i] = (uint32_t)(order[i] - sc->props);
  }
  np_free(r->ar->alloc, order);
  return rc;
}

static np_schema begin(const np_schema *parent) {
  return (np_schema){.key = NP_LIT(""),
                     .writers = parent->writers,
                     .hard = parent->hard,
                     .min_length = -1,
                     .max_length = -1,
                     .min_items = -1,
                     .max_items = -1};
}

static neap_rc read_props(reader *r, np_json v, int depth, np_schema *sc) {
  np_json item;
  np_str key;
  size_t n = 0;
  neap_rc rc = NEAP_OK;
  if (v.type != NP_JSON_OBJECT) return bad(r, "properties", "is an object of schemas");
  np_json_iter it = np_json_each(v);
  while (np_json_next(&it, &key, &item)) n++;
  sc->props = np_arena_alloc(r->ar, (n + 1) * sizeof *sc->props);
  if (!sc->props) return no_memory(r);
  it = np_json_each(v);
  while (!rc && np_json_next(&it, &key, &item)) {
    np_schema *prop = &sc->props[sc->prop_count++];
    *prop = begin(sc);
    rc = keep_key(r, np_json_of(key), &prop->key);
    size_t was = np_path_push(&r->w, prop->key);
    if (!rc) rc = read_schema(r, item, depth + 1, prop);
    np_path_pop(&r->w, was);
  }
  return rc ? rc : sort_props(r, sc);
}

static neap_rc read_required(reader *r, np_json v, np_schema *sc) {
  np_json item;
  neap_rc rc = NEAP_OK;
  if (v.type != NP_JSON_ARRAY) return bad(r, "required", "is a list of names");
  np_json_iter it = np_json_each(v);
  while (!rc && np_json_next(&it, NULL, &item)) {
    np_str name = NP_LIT("");
    size_t lone;
    if (item.type != NP_JSON_STRING) return bad(r, "required", "is a list of names");
    rc = keep_text(r, item, &name, &lone);
    const np_schema *prop = np_schema_member(sc, name);
    if (!rc && (!prop || prop == sc->more))
      return bad(r, "required", "names what is not among the properties");
    if (!rc) ((np_schema *)(uintptr_t)prop)->required = true; /* one of sc->props */
  }
  return rc;
}

static neap_rc read_below(reader *r, np_json v, int depth, const np_schema *sc,
                          const char *step, const np_schema **out) {
  np_schema *below = np_arena_alloc(r->ar, sizeof *below);
  if (!below) return no_memory(r);
  *below = begin(sc);
  *out = below;
  if (v.type == NP_JSON_BOOL) return NEAP_OK;
  size_t was = np_path_push(&r->w, np_str_cstr(step));
  neap_rc rc = read_schema(r, v, depth + 1, below);
  np_path_pop(&r->w, was);
  return rc;
}

static neap_rc read_word(reader *r, np_str key, np_json v, np_schema *sc) {
  static const char *const aside[] = {"title", "description", "$schema", "$comment"};
#define IS(word) np_json_is_key(key, #word)
  if (IS(type)) return read_type(r, v, &sc->types);
  if (IS(enum)) return read_enum(r, v, &sc->choice);
  if (IS(minimum)) return read_number(r, "minimum", v, &sc->minimum);
  if (IS(maximum)) return read_number(r, "maximum", v, &sc->maximum);
  if (IS(minLength)) return read_count(r, "minLength", v, &sc->min_length);
  if (IS(maxLength)) return read_count(r, "maxLength", v, &sc->max_length);
  if (IS(minItems)) return read_count(r, "minItems", v, &sc->min_items);
  if (IS(maxItems)) return read_count(r, "maxItems", v, &sc->max_items);
  if (IS(hard)) return read_hard(r, v, &sc->hard);
  if (IS(kind)) return read_kind(r, v, &sc->open);
  if (IS(writers) || IS(properties) || IS(required) || IS(items) ||
      IS(additionalProperties))
    return NEAP_OK; /* after these, which they depend on */
#undef IS
  for (size_t i = 0; i < NP_COUNT(aside); i++) {
    if (np_json_is_key(key, aside[i])) return NEAP_OK;
  }
  return np_fail(r->err, NEAP_E_CONFIG,
                 "state schema at %.*s: %.*s is not known; use " KNOWN,
                 r->w.path.n ? (int)r->w.path.n : 1, r->w.path.n ? r->w.path.p : "/",
                 key.n > 40 ? 40 : (int)key.n, key.p);
}

/* Who may write what is below depends on who may write here. */
static neap_rc read_rights(reader *r, np_json v, np_schema *sc) {
  np_json list;
  unsigned set = 0;
  if (np_json_get(v, "writers", &list)) {
    neap_rc rc = read_writers(r, list, &set);
    if (rc) return rc;
    if (sc->hard && set != 1u << NP_WHO_USER)
      return bad(r, "writers", "of what is hard are the user alone; leave them out");
    sc->writers = set;
  }
  if (sc->hard) sc->writers = 1u << NP_WHO_USER;
  return NEAP_OK;
}

static neap_rc read_parts(reader *r, np_json v, int depth, np_schema *sc) {
  np_json part;
  neap_rc rc = NEAP_OK;
  if (np_json_get(v, "items", &part))
    rc = read_below(r, part, depth, sc, "items", &sc->items);
  if (!rc && np_json_get(v, "additionalProperties", &part) &&
      !(part.type == NP_JSON_BOOL && part.raw.p[0] == 'f'))
    rc = read_below(r, part, depth, sc, "additionalProperties", &sc->more);
  if (!rc && np_json_get(v, "properties", &part)) rc = read_props(r, part, depth, sc);
  if (!rc && np_json_get(v, "required", &part)) rc = read_required(r, part, sc);
  if (!rc && sc->open && sc->types != NP_TYPE_ARRAY)
    return bad(r, "kind", "is a list's: its type is array");
  return rc;
}

/* Bounds that leave nothing: no state could ever stand there, and each proposal would be told. */
static neap_rc check_bounds(reader *r, const np_schema *sc) {
  const char *above = "is above its maximum: nothing can stand there";
  if (sc->minimum.n && sc->maximum.n && np_number_cmp(sc->minimum, sc->maximum) > 0)
    return bad(r, "minimum", above);
  if (sc->max_length >= 0 && sc->min_length > sc->max_length)
    return bad(r, "minLength", above);
  if (sc->max_items >= 0 && sc->min_items > sc->max_items)
    return bad(r, "minItems", above);
  return NEAP_OK;
}

/* Words before it are all known ones, so that there are few. */
static bool is_twice(np_json v, np_str key) {
  np_json word;
  np_str other;
  np_json_iter it = np_json_each(v);
  while (np_json_next(&it, &other, &word) && other.p != key.p) {
    if (np_str_eq(other, key)) return true;
  }
  return false;
}

static neap_rc read_schema(reader *r, np_json v, int depth, np_schema *out) {
  np_json word;
  np_str key;
  neap_rc rc = NEAP_OK;
  if (v.type != NP_JSON_OBJECT) return bad(r, "a schema", "is an object");
  if (depth >= NP_OBJECT_DEPTH) return bad(r, "a schema", "is deeper than 32 levels");
  if (++r->nodes > NP_OBJECT_VALUES) return bad(r, "a schema", "has too many parts");
  np_json_iter it = np_json_each(v);
  while (!rc && np_json_next(&it, &key, &word)) {
    rc = is_twice(v, key) ? bad(r, "a word", "stands twice")
                          : read_word(r, key, word, out);
  }
  if (!rc) rc = check_bounds(r, out);
  if (!rc) rc = read_rights(r, v, out);
  if (!rc) rc = read_parts(r, v, depth, out);
  return rc;
}

neap_rc np_schema_read(np_arena *ar, np_str json, const np_schema **out, np_err *e) {
  reader r = {.ar = ar, .err = e};
  const np_schema root = {.writers = USUAL_WRITERS};
  np_json v;
  np_err why = {0};
  if (json.n > NP_SCHEMA_BYTES)
    return np_fail(e, NEAP_E_LIMIT, "a state schema of %zu bytes; at most %zu are taken",
                   json.n, NP_SCHEMA_BYTES);
  neap_rc rc = np_json_check(json, &v, &why);
  if (rc)
    return np_fail(e, rc, "the state schema is no JSON at byte %zu: %s", why.pos,
                   why.text);
  np_schema *sc = np_arena_alloc(ar, sizeof *sc);
  if (!sc) return np_fail_mem(e);
  *sc = begin(&root);
  np_work_init(&r.w, ar->alloc, NULL);
  rc = read_schema(&r, v, 0, sc);
  if (!rc && sc->types != NP_TYPE_OBJECT)
    rc = bad(&r, "type", "is object: the state is one");
  if (!rc && r.w.path.failed) rc = np_fail_mem(e);
  np_work_free(&r.w);
  *out = sc;
  return rc;
}

const np_schema *np_schema_member(const np_schema *sc, np_str key) {
  size_t lo = 0, hi = sc->by_key ? sc->prop_count : 0;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    const np_schema *prop = &sc->props[sc->by_key[mid]];
    int c = np_str_cmp(prop->key, key);
    if (c == 0) return prop;
    if (c < 0) lo = mid + 1;
    else hi = mid;
  }
  return sc->more;
}
