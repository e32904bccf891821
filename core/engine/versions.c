/*
** Versions of the state object: the log holds the first whole, and of the others the change. What a
** version was is made again from the last one that is whole; the newest is kept. An entry tells
** the change, and in its region, when a prompt is written anew, it stands for the whole.
** next: proposals.c
*/
#include "engine/engine.h"

#include "log/value.h"

#define LEAD "State:\n"
#define DEPTH 32 /* changes between two versions that are kept whole */

void np_object_free(neap_session *s) {
  np_free(&s->engine->alloc, s->object.all);
  np_arena_free(&s->object.arena);
  np_buf_free(&s->object.now);
  s->object = (np_object){0};
}

/* ---- blocks ---- */

np_str np_object_of(np_str text) {
  size_t n = sizeof LEAD - 1;
  bool led = text.n > n && memcmp(text.p, LEAD, n) == 0;
  return led ? np_str_cut(text, n, text.n) : NP_LIT("");
}

static void add_int(np_buf *b, const char *name, int64_t v) {
  np_buf_adds(b, name);
  np_buf_int(b, v);
}

static void add_title(const np_proposal *p, np_buf *b) {
  add_int(b, "State changed to version ", p->version);
  np_buf_adds(b, " (by ");
  np_buf_adds(b, np_who_name(p->who));
  if (p->step >= 0) add_int(b, ", step ", p->step);
  if (p->source) add_int(b, ", from entry ", p->source);
  np_buf_adds(b, p->reason.n ? ": " : "");
  if (p->reason.n) np_value_quote(b, p->reason);
  np_buf_addc(b, ')');
}

/* What the entry of a version says: the change, or the whole where that is no longer. */
static neap_rc add_text(np_str was, const np_proposal *p, np_str object, np_buf *b,
                        np_err *e) {
  neap_rc rc = NEAP_OK;
  if (was.n) {
    add_title(p, b);
    rc = np_object_changes(was, object, b, b->alloc, e);
  }
  if (was.n && b->n <= sizeof LEAD - 1 + object.n) return rc;
  np_buf_clear(b);
  np_buf_adds(b, LEAD);
  np_buf_add(b, object);
  return rc;
}

neap_rc np_object_block(np_str was, const np_proposal *p, np_str object, np_buf *out,
                        np_err *e) {
  np_buf text;
  np_buf_init(&text, out->alloc);
  neap_rc rc = add_text(was, p, object, &text, e);
  np_buf_adds(out, "{\"kind\":\"state\",\"content\":");
  np_json_quote(out, np_buf_str(&text));
  np_buf_addc(out, '}');
  if (!rc && (text.failed || out->failed)) rc = np_fail_mem(e);
  np_buf_free(&text);
  return rc;
}

/* ---- what is known ---- */

static const np_object *object_of(const neap_session *s) {
  return s->live ? &s->live->object : &s->object;
}

const np_proposal *np_version_newest(const neap_session *s) {
  const np_object *o = object_of(s);
  return o->newest ? &o->all[o->newest - 1] : NULL;
}

const np_proposal *np_version_of(const neap_session *s, int64_t version) {
  const np_object *o = &s->object;
  for (size_t i = o->count; i-- > 0;) {
    const np_proposal *p = &o->all[i];
    if (!p->refused && p->entry && p->version == version) return p;
  }
  return NULL;
}

int64_t np_object_version(const neap_session *s) {
  const np_proposal *p = np_version_newest(s);
  return p ? p->version : 0;
}

np_str np_object_now(const neap_session *s) {
  return np_buf_str(&object_of(s)->now);
}

neap_rc np_version_next(const np_proposal *p, np_str was, np_buf *out,
                        const neap_alloc *a, np_err *e) {
  if (!p->whole.n) return np_object_apply(p->schema, was, p->patch, out, a, e);
  np_buf_add(out, p->whole);
  return out->failed ? np_fail_mem(e) : NEAP_OK;
}

/* Its changes are carried out from the last version that is whole. */
static neap_rc make_again(const np_object *o, const np_proposal *p, np_buf *out,
                          const neap_alloc *a, np_err *e) {
  const np_proposal *chain[DEPTH];
  size_t n = 0;
  neap_rc rc = NEAP_OK;
  np_buf next;
  for (; !p->whole.n && n < DEPTH; p = &o->all[p->before - 1]) chain[n++] = p;
  np_buf_init(&next, a);
  np_buf_add(out, p->whole);
  while (!rc && n--) {
    np_buf_clear(&next);
    rc = np_object_apply(chain[n]->schema, np_buf_str(out), chain[n]->patch, &next, a, e);
    np_buf was = *out;
    *out = next;
    next = was;
  }
  if (!rc && out->failed) rc = np_fail_mem(e);
  np_buf_free(&next);
  return rc;
}

neap_rc np_version_text(const neap_session *s, const np_proposal *p, np_buf *out,
                        np_err *e) {
  np_buf_clear(out);
  if (!p) return NEAP_OK;
  if (p != np_version_newest(s))
    return make_again(object_of(s), p, out, &s->engine->alloc, e);
  np_buf_add(out, np_object_now(s));
  return out->failed ? np_fail_mem(e) : NEAP_OK;
}

/* np_view.whole: a state's entry that tells a change stands for this. */
bool np_object_whole(void *ctx, int64_t id, np_buf *out) {
  const neap_session *s = ctx, *live = s->live ? s->live : s;
  const np_entry *en = np_log_entry(&s->log, id);
  const np_object *o = &live->object;
  np_err e;
  if (s->live) id = en->key;
  size_t i = o->count;
  while (i && o->all[i - 1].entry != id) i--;
  if (!i || np_object_of(en->text).n) return false;
  np_buf text;
  np_buf_init(&text, &s->engine->alloc);
  neap_rc rc = np_version_text(s, &o->all[i - 1], &text, &e);
  np_buf_adds(out, LEAD);
  np_buf_add(out, np_buf_str(&text));
  if (rc) out->failed = true;
  np_buf_free(&text);
  return true;
}

/* ---- keeping ---- */

neap_rc np_version_keep(neap_session *s, const np_proposal *p) {
  np_object *o = &s->object;
  void *all = o->all;
  np_proposal kept = *p;
  bool ok = np_grow(&s->engine->alloc, &all, &o->cap, o->count + 1, sizeof *o->all);
  o->all = all;
  ok = ok && np_arena_copy(&o->arena, p->reason, &kept.reason) &&
       np_arena_copy(&o->arena, p->patch, &kept.patch) &&
       np_arena_copy(&o->arena, p->faults, &kept.faults);
  if (!ok) return np_fail_mem(&s->err);
  kept.schema = o->schema;
  o->all[o->count++] = kept;
  if (!p->refused && p->version > o->versions) o->versions = p->version;
  return NEAP_OK;
}

neap_rc np_version_shown(neap_session *s, int64_t entry, np_str object) {
  np_object *o = &s->object;
  np_proposal *p = &o->all[o->count - 1];
  const np_proposal *was = np_version_newest(s);
  p->entry = entry;
  p->whole = np_object_of(np_log_entry(&s->log, entry)->text);
  p->before = o->newest;
  p->depth = p->whole.n || !was ? 0 : was->depth + 1;
  bool deep = !p->whole.n && (!was || p->depth >= DEPTH);
  bool ok = !deep || np_arena_copy(&o->arena, object, &p->whole);
  if (deep && ok) p->depth = 0; /* else the next is kept whole: no chain grows longer */
  np_buf_clear(&o->now);
  np_buf_add(&o->now, object);
  o->newest = o->count;
  return ok && !o->now.failed ? NEAP_OK : np_fail_mem(&s->err);
}

/* ---- reading back ---- */

static neap_rc damaged(neap_session *s) {
  return np_fail(&s->err, NEAP_E_CORRUPT,
                 "session %s: a proposal's event is wrong; check the store", s->name);
}

static int64_t number_of(np_json head, const char *key) {
  np_json v;
  int64_t n = 0;
  if (!np_json_get(head, key, &v) || v.type != NP_JSON_NUMBER || v.raw.n > 17) return 0;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] < '0' || v.raw.p[i] > '9') return 0;
    n = n * 10 + (v.raw.p[i] - '0');
  }
  return n;
}

/* A taken one stands open until the message that shows it: np_object_take_state. */
neap_rc np_object_take(neap_session *s, const np_event *ev, bool lost) {
  np_json head, v;
  np_buf reason;
  np_proposal p = {.patch = ev->body, .faults = NP_LIT(""), .lost = lost};
  if (np_json_check(ev->head, &head, NULL) || !np_json_get(head, "who", &v) ||
      v.raw.n < 3 || !np_who_parse(np_str_cut(v.raw, 1, v.raw.n - 1), &p.who))
    return damaged(s);
  p.refused = np_json_get(head, "refused", &v) && np_str_is(v.raw, "true");
  p.version = number_of(head, "version");
  p.source = number_of(head, "source");
  p.step = number_of(head, "step");
  if (p.refused && np_json_get(head, "faults", &v)) p.faults = v.raw;
  np_buf_init(&reason, &s->engine->alloc);
  if (np_json_get(head, "reason", &v)) np_json_text(v, &reason);
  p.reason = np_buf_str(&reason);
  neap_rc rc = reason.failed ? np_fail_mem(&s->err) : np_version_keep(s, &p);
  np_buf_free(&reason);
  return rc;
}

/* Logs of before have each version whole. */
neap_rc np_object_take_state(neap_session *s, int64_t entry) {
  np_object *o = &s->object;
  const np_entry *en = np_log_entry(&s->log, entry);
  np_buf made;
  if (!o->count || !en || en->kind != NP_KIND_STATE) return NEAP_OK;
  const np_proposal *p = &o->all[o->count - 1];
  if (p->refused || p->lost || p->entry) return NEAP_OK;
  np_str object = np_object_of(en->text);
  if (object.n) return np_version_shown(s, entry, object);
  if (!o->newest || !p->schema) return damaged(s);
  np_buf_init(&made, &s->engine->alloc);
  neap_rc rc = np_object_apply(p->schema, np_buf_str(&o->now), p->patch, &made,
                               &s->engine->alloc, &s->err);
  if (!rc) rc = np_version_shown(s, entry, np_buf_str(&made));
  np_buf_free(&made);
  return rc;
}
