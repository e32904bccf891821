/*
** Refutations: what an entry, or a step, has shown is wrong. A notice tells the model, a summary that
** comes to stand for it repeats that, and a step that uses it all the same is found by the index of
** citations: a fact whose every source is refuted. next: measure.c
*/
#include "engine/engine.h"

#include "text/text.h"

#define REASON_BYTES 400

void np_refuted_free(neap_session *s) {
  np_free(&s->engine->alloc, s->refuted.all);
  np_free(&s->engine->alloc, s->refuted.uses);
  np_free(&s->engine->alloc, s->refuted.stale);
  np_arena_free(&s->refuted.arena);
  np_buf_free(&s->refuted.object);
  s->refuted = (np_refuted){0};
}

static bool covers(const np_refutation *r, const np_entry *en) {
  return r->entry ? r->entry == en->id : r->step == en->step && en->id < r->notice;
}

/* Refuted by a notice before entry `by`. */
static bool covered(const neap_session *s, const np_entry *en, int64_t by) {
  for (size_t i = 0; i < s->refuted.count; i++) {
    const np_refutation *r = &s->refuted.all[i];
    if (r->notice < by && covers(r, en)) return true;
  }
  return false;
}

/* And so is what was passed from the scratchpad as resting on such an entry. */
static bool is_bad(const neap_session *s, const np_entry *en, int64_t by) {
  if (covered(s, en, by)) return true;
  int64_t source = np_scratch_source(s, en->id);
  const np_entry *from = source ? np_log_entry(&s->log, source) : NULL;
  return from && covered(s, from, by);
}

bool np_refuted_is(const neap_session *s, const np_entry *en) {
  return s->refuted.count && is_bad(s, en, INT64_MAX);
}

/* ---- what is told ---- */

typedef struct texts {
  const char *notice, *line;
} texts;

static const texts english = {
    "Correction: what step {step} has shown is refuted: \"{why}\". Do not use its facts "
    "any more.",
    "- [step {step}] Refuted: {why}. Do not use its facts any more."};
static const texts chinese = {
    "\xE6\x9B\xB4\xE6\xAD\xA3\xEF\xBC\x9Astep {step} "
    "\xE7\x9A\x84\xE7\xBB\x93\xE8\xAE\xBA\xE5"
    "\xB7\xB2\xE8\xA2\xAB\xE6\x8E\xA8\xE7\xBF\xBB\xEF\xBC\x9A{why}"
    "\xE3\x80\x82\xE5\x90\x8E\xE7"
    "\xBB\xAD\xE6\x8E\xA8\xE7\x90\x86\xE4\xB8\x8D\xE5\xBE\x97\xE5\x86\x8D\xE5\xBC\x95\xE7"
    "\x94"
    "\xA8\xE8\xAF\xA5\xE6\xAD\xA5\xE7\x9A\x84\xE4\xBA\x8B\xE5\xAE\x9E\xE3\x80\x82",
    "- [step {step}] "
    "\xE8\xAF\xA5\xE6\xAD\xA5\xE7\x9A\x84\xE7\xBB\x93\xE8\xAE\xBA\xE5\xB7\xB2"
    "\xE8\xA2\xAB\xE6\x8E\xA8\xE7\xBF\xBB\xEF\xBC\x9A{why}"
    "\xE3\x80\x82\xE5\x90\x8E\xE7\xBB\xAD"
    "\xE6\x8E\xA8\xE7\x90\x86\xE4\xB8\x8D\xE5\xBE\x97\xE5\x86\x8D\xE5\xBC\x95\xE7\x94\xA8"
    "\xE8"
    "\xAF\xA5\xE6\xAD\xA5\xE7\x9A\x84\xE4\xBA\x8B\xE5\xAE\x9E\xE3\x80\x82"};

static void fill(np_buf *out, const char *t, const np_refutation *r) {
  for (; *t; t++) {
    const char *end = *t == '{' ? strchr(t, '}') : NULL;
    if (!end) {
      np_buf_addc(out, *t);
      continue;
    }
    if (t[1] == 'w') np_add_reason(out, r->why);
    else np_buf_int(out, r->step);
    t = end;
  }
}

static const texts *texts_of(const neap_session *s, np_str why) {
  return np_session_is_chinese(s, why) ? &chinese : &english;
}

/* ---- refuting ---- */

static neap_rc keep(neap_session *s, np_refutation r) {
  np_refuted *b = &s->refuted;
  void *all = b->all;
  np_buf line;
  np_buf_init(&line, &s->engine->alloc);
  fill(&line, texts_of(s, r.why)->line, &r);
  bool ok = np_grow(&s->engine->alloc, &all, &b->cap, b->count + 1, sizeof *b->all);
  b->all = all;
  ok = ok && !line.failed && np_arena_copy(&b->arena, r.why, &r.why) &&
       np_arena_copy(&b->arena, np_buf_str(&line), &r.line);
  np_buf_free(&line);
  if (!ok) return np_fail_mem(&s->err);
  b->all[b->count++] = r;
  return NEAP_OK;
}

static void add_int(np_buf *b, const char *name, int64_t v) {
  np_buf_adds(b, name);
  np_buf_int(b, v);
}

static void add_head(np_buf *b, const np_refutation *r) {
  add_int(b, "{\"step\":", r->step);
  add_int(b, ",\"entry\":", r->entry);
  add_int(b, ",\"notice\":", r->notice);
  np_buf_adds(b, ",\"reason\":");
  np_json_quote(b, r->why);
  np_buf_addc(b, '}');
}

static neap_rc write(neap_session *s, const np_refutation *r) {
  np_buf head, text, message;
  const neap_alloc *a = &s->engine->alloc;
  np_buf_init(&head, a);
  np_buf_init(&text, a);
  np_buf_init(&message, a);
  add_head(&head, r);
  fill(&text, texts_of(s, r->why)->notice, r);
  np_buf_adds(&message, "{\"kind\":\"notice\",\"content\":");
  np_json_quote(&message, np_buf_str(&text));
  np_buf_addc(&message, '}');
  np_event ev = {.kind = NP_EV_REFUTE, .head = np_buf_str(&head)};
  np_str one = np_buf_str(&message);
  bool ok = !head.failed && !text.failed && !message.failed;
  neap_rc rc = ok ? np_session_append_led(s, &ev, &one, 1) : np_fail_mem(&s->err);
  np_buf_free(&head);
  np_buf_free(&text);
  np_buf_free(&message);
  return rc;
}

static neap_rc check(neap_session *s, np_refutation *r) {
  const np_entry *en = np_log_entry(&s->log, r->entry);
  if (r->entry && (!en || en->voided))
    return np_fail(&s->err, NEAP_E_NOTFOUND, "session %s has no entry %lld that counts",
                   s->name, (long long)r->entry);
  if (r->entry) r->step = en->step;
  if (r->step < 0 || r->step > s->log.step)
    return np_fail(&s->err, NEAP_E_NOTFOUND, "session %s has no step %lld yet", s->name,
                   (long long)r->step);
  if (np_str_says(r->why) && r->why.n <= REASON_BYTES &&
      np_utf8_valid(r->why) == r->why.n)
    return NEAP_OK;
  return np_fail(&s->err, NEAP_E_ARG, "a reason is 1 to %d bytes of UTF-8", REASON_BYTES);
}

neap_rc neap_refute(neap_session *s, int64_t step, int64_t entry, neap_str reason) {
  neap_rc rc = np_session_enter_text(s, &reason);
  if (rc) return rc;
  np_refutation r = {.step = step, .entry = entry, .why = reason};
  rc = check(s, &r);
  r.notice = (int64_t)s->log.entry_count + 1;
  if (!rc) rc = write(s, &r);
  return np_session_leave(s, rc ? rc : keep(s, r));
}

/* ---- uses of what is refuted ---- */

static bool is_source(np_origin who) {
  return who == NP_ORIGIN_RESULT || who == NP_ORIGIN_USER || who == NP_ORIGIN_TASK ||
         who == NP_ORIGIN_FIXED;
}

/* Whether everything that the fact could be known from was refuted before it was used. What is said
** by so many that not all are listed is no such fact. */
static bool is_polluted(const neap_session *s, const np_citation *c) {
  const int64_t *holders;
  size_t n = np_cite_holders(s->log.cite, c->text, &holders);
  bool any = false;
  if (!c->fact || c->kind == NP_IDENT_WORD || n >= 64) return false;
  for (size_t i = 0; i < n && holders[i] < c->by; i++) {
    const np_entry *en = np_log_entry(&s->log, holders[i]);
    if (!en || !is_source(np_log_origin(&s->log, en))) continue;
    if (!is_bad(s, en, c->by)) return false;
    any = true;
  }
  return any;
}

/* The first use from `lo` up to `hi` whose entry, and so whose step, is not before that. */
static size_t first_use(const np_refuted *b, size_t lo, size_t hi, int64_t entry) {
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (b->uses[mid].entry < entry) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/* Uses come in the order of their entries, twice a look: by citations, by values. */
static bool has_step(const np_refuted *b, size_t from, size_t to, const np_citation *c) {
  size_t i = first_use(b, from, to, c->by);
  return (i < to && b->uses[i].step == c->step) ||
         (i > from && b->uses[i - 1].step == c->step);
}

static bool note_use(neap_session *s, const np_citation *c) {
  np_refuted *b = &s->refuted;
  void *uses = b->uses;
  size_t mid = b->mid < b->use_count ? b->mid : b->use_count;
  bool fresh = c->step > b->last_step && !has_step(b, b->first, mid, c) &&
               !has_step(b, mid, b->use_count, c);
  if (!np_grow(&s->engine->alloc, &uses, &b->use_cap, b->use_count + 1, sizeof *b->uses))
    return false;
  b->uses = uses;
  b->uses[b->use_count++] = (np_use){c->by, c->step, c->credited, c->text};
  b->steps += fresh;
  return true;
}

/* ---- values of the state that rest on what is refuted ---- */

static bool lies_in(np_str path, np_str above) {
  return path.n >= above.n && memcmp(path.p, above.p, above.n) == 0 &&
         (path.n == above.n || path.p[above.n] == '/');
}

/* What a version has set: paths below it that were stale are not any more; where its own source
** is refuted, it is. */
static bool note_path(neap_session *s, np_str path, np_str value, const np_proposal *p,
                      bool bad) {
  np_refuted *b = &s->refuted;
  for (size_t i = 0; i < b->stale_count; i++) {
    if (!b->stale[i].until && lies_in(b->stale[i].path, path))
      b->stale[i].until = p->entry;
  }
  if (!bad) return true;
  void *all = b->stale;
  np_stale one = {.entry = p->entry, .source = p->source};
  bool ok = np_grow(&s->engine->alloc, &all, &b->stale_cap, b->stale_count + 1,
                    sizeof *b->stale);
  b->stale = all;
  ok = ok && np_arena_copy(&b->arena, path, &one.path) &&
       np_arena_copy(&b->arena, value, &one.value);
  if (ok) b->stale[b->stale_count++] = one;
  return ok;
}

static neap_rc walk_version(neap_session *s, np_str before, np_str now,
                            const np_proposal *p) {
  np_json list, item, v;
  np_buf changes, path;
  const np_entry *en = p->source ? np_log_entry(&s->log, p->source) : NULL;
  bool bad = en && np_refuted_is(s, en);
  np_buf_init(&changes, &s->engine->alloc);
  np_buf_init(&path, &s->engine->alloc);
  neap_rc rc = np_object_diff(before, now, &changes, &s->engine->alloc, &s->err);
  if (!rc && !np_json_check(np_buf_str(&changes), &list, NULL)) {
    np_json_iter it = np_json_each(list);
    while (!rc && np_json_next(&it, NULL, &item)) {
      np_buf_clear(&path);
      if (!np_json_get(item, "path", &v)) continue;
      np_json_text(v, &path);
      bool set = np_json_get(item, "to", &v);
      np_str value = set ? v.raw : NP_LIT("");
      if (path.failed || !note_path(s, np_buf_str(&path), value, p, bad && set))
        rc = np_fail_mem(&s->err);
    }
  }
  np_buf_free(&changes);
  np_buf_free(&path);
  return rc;
}

/* Walks a version, and the object goes on to it. */
static neap_rc find_stale_of(neap_session *s, const np_proposal *p) {
  np_refuted *b = &s->refuted;
  const neap_alloc *a = &s->engine->alloc;
  np_buf now;
  if (p->refused || p->lost || !p->entry) return NEAP_OK;
  np_buf_init(&now, a);
  neap_rc rc = np_version_next(p, np_buf_str(&b->object), &now, a, &s->err);
  if (!rc) rc = walk_version(s, np_buf_str(&b->object), np_buf_str(&now), p);
  np_buf_free(&b->object);
  b->object = now;
  return rc;
}

/* Versions that have come since; after a refutation all of them. */
static neap_rc find_stale(neap_session *s) {
  np_refuted *b = &s->refuted;
  neap_rc rc = NEAP_OK;
  if (b->walked != b->count) {
    b->stale_count = b->versions = 0;
    np_buf_clear(&b->object);
  }
  for (; !rc && b->versions < s->object.count; b->versions++)
    rc = find_stale_of(s, &s->object.all[b->versions]);
  b->walked = b->count;
  return rc;
}

/* Something that stands has shown it before. */
static bool is_known(const neap_session *s, np_str ident, int64_t by) {
  const int64_t *holders;
  size_t n = np_cite_holders(s->log.cite, ident, &holders);
  for (size_t i = 0; i < n && holders[i] < by; i++) {
    const np_entry *en = np_log_entry(&s->log, holders[i]);
    if (en && is_source(np_log_origin(&s->log, en)) && !is_bad(s, en, by)) return true;
  }
  return false;
}

static bool noted_in(const np_refuted *b, size_t from, size_t to, int64_t entry,
                     np_str text) {
  for (size_t i = first_use(b, from, to, entry); i < to && b->uses[i].entry == entry;
       i++) {
    if (np_str_eq(b->uses[i].text, text)) return true;
  }
  return false;
}

/* By this look: each entry is looked through once. */
static bool is_noted(const neap_session *s, int64_t entry, np_str text) {
  const np_refuted *b = &s->refuted;
  return noted_in(b, b->first, b->mid, entry, text) ||
         noted_in(b, b->mid, b->use_count, entry, text);
}

/* A step writes what only a value of the state has, and that rests on what is refuted. */
static neap_rc scan_value(neap_session *s, const np_entry *en, const np_stale *st) {
  np_buf text;
  np_ident id;
  np_json v;
  neap_rc rc = NEAP_OK;
  const np_entry *from = np_log_entry(&s->log, st->source);
  bool stands = en->id > st->entry && (!st->until || en->id < st->until);
  if (!stands || !from || !is_bad(s, from, en->id)) return NEAP_OK;
  np_buf_init(&text, &s->engine->alloc);
  if (!np_json_check(st->value, &v, NULL) && v.type == NP_JSON_STRING)
    np_json_text(v, &text);
  else np_buf_add(&text, st->value);
  np_ident_iter it = np_ident_scan(np_buf_str(&text));
  while (!rc && np_ident_next(&it, &id)) {
    np_citation c = {.by = en->id, .step = en->step, .credited = st->entry};
    if (id.kind == NP_IDENT_WORD || !np_ident_in(en->text, id.text) ||
        is_noted(s, en->id, id.text) || is_known(s, id.text, en->id))
      continue;
    if (!np_arena_copy(&s->refuted.arena, id.text, &c.text) || !note_use(s, &c))
      rc = np_fail_mem(&s->err);
  }
  if (text.failed) rc = np_fail_mem(&s->err);
  np_buf_free(&text);
  return rc;
}

static neap_rc scan_values(neap_session *s) {
  np_refuted *b = &s->refuted;
  neap_rc rc = NEAP_OK;
  for (; !rc && b->scanned < (int64_t)s->log.entry_count; b->scanned++) {
    const np_entry *en = np_log_entry(&s->log, b->scanned + 1);
    if (en->voided || np_log_origin(&s->log, en) != NP_ORIGIN_MODEL) continue;
    for (size_t i = 0; !rc && i < b->stale_count; i++)
      rc = scan_value(s, en, &b->stale[i]);
  }
  return rc;
}

neap_rc np_refuted_look(neap_session *s) {
  np_refuted *b = &s->refuted;
  if (!b->count) return NEAP_OK;
  neap_rc rc = np_log_index_need(&s->log, &s->err);
  if (!rc) rc = find_stale(s);
  if (rc) return rc;
  size_t end = np_cite_count(s->log.cite);
  for (size_t i = b->first; i < b->use_count; i++) {
    if (b->uses[i].step > b->last_step) b->last_step = b->uses[i].step;
  }
  b->first = b->use_count;
  b->mid = SIZE_MAX;
  for (; b->looked < end; b->looked++) {
    const np_citation *c = np_cite_at(s->log.cite, b->looked);
    if (is_polluted(s, c) && !note_use(s, c)) return np_fail_mem(&s->err);
  }
  b->mid = b->use_count;
  return scan_values(s);
}

/* {"refuted":n,"steps":n,"uses":[…]} with those since the last turn. */
void np_refuted_account(neap_session *s, np_buf *b) {
  np_refuted *r = &s->refuted;
  if (!r->count) return;
  add_int(b, ",\"pollution\":{\"refuted\":", (int64_t)r->count);
  add_int(b, ",\"steps\":", r->steps);
  np_buf_adds(b, ",\"uses\":[");
  bool any = false;
  for (size_t i = r->told; i < r->use_count; i++) {
    if (r->uses[i].entry <= r->known) continue;
    add_int(b, any ? ",{\"entry\":" : "{\"entry\":", r->uses[i].entry);
    any = true;
    add_int(b, ",\"step\":", r->uses[i].step);
    add_int(b, ",\"source\":", r->uses[i].source);
    np_buf_adds(b, ",\"text\":");
    np_json_quote(b, r->uses[i].text);
    np_buf_addc(b, '}');
  }
  np_buf_addc(b, ']');
  bool stale = false;
  for (size_t i = 0; i < r->stale_count; i++) stale = stale || !r->stale[i].until;
  if (stale) np_buf_adds(b, ",\"state\":");
  if (stale) np_refuted_stale(s, b);
  np_buf_addc(b, '}');
  r->told = r->use_count;
}

void np_refuted_stale(const neap_session *s, np_buf *b) {
  const np_refuted *r = &(s->live ? s->live : s)->refuted;
  bool any = false;
  np_buf_addc(b, '[');
  for (size_t i = 0; i < r->stale_count; i++) {
    if (r->stale[i].until) continue;
    np_buf_adds(b, any ? ",{\"path\":" : "{\"path\":");
    any = true;
    np_json_quote(b, r->stale[i].path);
    add_int(b, ",\"entry\":", r->stale[i].entry);
    add_int(b, ",\"source\":", r->stale[i].source);
    np_buf_addc(b, '}');
  }
  np_buf_addc(b, ']');
}

/* ---- for notes ---- */

/* np_pack.lines: what a summary of those atoms has to say besides its text. */
bool np_refuted_lines(void *ctx, const uint32_t *atoms, size_t n, np_buf *out) {
  const neap_session *s = ctx;
  for (size_t k = 0; k < s->refuted.count; k++) {
    const np_refutation *r = &s->refuted.all[k];
    bool in = false;
    for (size_t i = 0; i < n && !in; i++) {
      int64_t id = s->log.atoms[atoms[i]].first;
      for (; id && !in; id = np_log_entry(&s->log, id)->next)
        in = id == r->notice || covers(r, np_log_entry(&s->log, id));
    }
    if (in) np_buf_addc(out, '\n');
    if (in) np_buf_add(out, r->line);
  }
  return !out->failed;
}

neap_rc neap_refutations(neap_session *s, neap_str *json) {
  neap_rc rc = np_session_enter_out(s, json);
  if (rc) return rc;
  np_buf *b = &s->text;
  np_buf_clear(b);
  np_buf_addc(b, '[');
  for (size_t i = 0; i < s->refuted.count; i++) {
    if (i) np_buf_addc(b, ',');
    add_head(b, &s->refuted.all[i]);
    b->n--;
    np_buf_adds(b, ",\"line\":");
    np_json_quote(b, s->refuted.all[i].line);
    np_buf_addc(b, '}');
  }
  np_buf_addc(b, ']');
  *json = np_buf_str(b);
  return np_session_leave(s, b->failed ? np_fail_mem(&s->err) : NEAP_OK);
}

/* ---- reading back ---- */

static int64_t member(np_json head, const char *name) {
  np_json v;
  int64_t n = 0;
  if (!np_json_get(head, name, &v) || v.type != NP_JSON_NUMBER || v.raw.n > 17) return -1;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] < '0' || v.raw.p[i] > '9') return -1;
    n = n * 10 + (v.raw.p[i] - '0');
  }
  return n;
}

neap_rc np_refuted_take(neap_session *s, const np_event *ev) {
  np_json head, v;
  np_buf why;
  np_refutation r = {0};
  bool ok = !np_json_check(ev->head, &head, NULL);
  if (ok)
    r = (np_refutation){member(head, "step"), member(head, "entry"),
                        member(head, "notice"), NP_LIT(""), NP_LIT("")};
  if (!ok || r.step < 0 || r.entry < 0 || r.notice < 1)
    return np_fail(&s->err, NEAP_E_CORRUPT,
                   "session %s: a refutation's event is wrong; check the store", s->name);
  np_buf_init(&why, &s->engine->alloc);
  if (np_json_get(head, "reason", &v) && v.type == NP_JSON_STRING) np_json_text(v, &why);
  r.why = np_buf_str(&why);
  neap_rc rc = why.failed ? np_fail_mem(&s->err) : keep(s, r);
  np_buf_free(&why);
  return rc;
}
