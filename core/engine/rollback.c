/*
** Checkpoints, and going back to one. What came behind the mark is void: it keeps its ids and its
** texts, and the session is what it would be had it never been, but for one notice that says what
** was tried and not to try it again. The log is only appended to: going back reads it anew and
** leaves out what is void. next: restart.c
*/
#include "engine/engine.h"

#include "text/text.h"

#define NAME_BYTES 200
#define REASON_BYTES 400

void np_back_free(neap_session *s) {
  np_free(&s->engine->alloc, s->back.marks);
  np_free(&s->engine->alloc, s->back.gone);
  np_arena_free(&s->back.arena);
  s->back = (np_back){0};
}

/* ---- which events are void ---- */

/* The first whose rollback came behind that event. */
static size_t first_behind(const np_back *b, int64_t seq) {
  size_t lo = 0, hi = b->gone_count;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (b->gone[mid].until <= seq) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

bool np_back_is_void(const neap_session *s, int64_t seq) {
  const np_back *b = &s->back;
  size_t i = first_behind(b, seq);
  bool record = i && b->gone[i - 1].until == seq - 1;
  return !record && i < b->gone_count && b->gone[i].lowest < seq;
}

static bool knows(const neap_session *s, int64_t seq) {
  size_t i = first_behind(&s->back, seq);
  return i && s->back.gone[i - 1].until == seq;
}

const np_gone *np_back_of(const neap_session *s, int64_t entry) {
  for (size_t i = 0; i < s->back.gone_count; i++) {
    const np_gone *g = &s->back.gone[i];
    if (g->from <= entry && entry <= g->to) return g;
  }
  return NULL;
}

void np_void_tell(np_str why, np_buf *out) {
  np_buf_adds(out, "Void: rolled back because \"");
  np_add_reason(out, why);
  np_buf_adds(out, "\". What follows is no fact of this session.\n");
}

void np_back_tell(const neap_session *s, const np_entry *en, np_buf *out) {
  const np_gone *g = np_back_of(s, en->id);
  np_void_tell(g ? g->why : NP_LIT(""), out);
}

static neap_rc add_gone(neap_session *s, np_gone gone) {
  np_back *b = &s->back;
  void *list = b->gone;
  bool ok =
      np_grow(&s->engine->alloc, &list, &b->gone_cap, b->gone_count + 1, sizeof *b->gone);
  b->gone = list;
  ok = ok && np_arena_copy(&b->arena, gone.why, &gone.why);
  if (!ok) return np_fail_mem(&s->err);
  gone.lowest = gone.after;
  b->gone[b->gone_count++] = gone;
  for (size_t i = b->gone_count; i-- > 0;) {
    if (b->gone[i].lowest > gone.after) b->gone[i].lowest = gone.after;
  }
  return NEAP_OK;
}

static neap_rc add_mark(neap_session *s, np_str name, int64_t seq, int64_t entry) {
  np_back *b = &s->back;
  void *list = b->marks;
  np_mark m = {.seq = seq, .entry = entry};
  bool ok = np_grow(&s->engine->alloc, &list, &b->mark_cap, b->mark_count + 1,
                    sizeof *b->marks);
  b->marks = list;
  ok = ok && np_arena_copy(&b->arena, name, &m.name);
  if (!ok) return np_fail_mem(&s->err);
  b->marks[b->mark_count++] = m;
  return NEAP_OK;
}

/* ---- where one can go back to ---- */

/* The newest mark of that name. */
static const np_mark *find_mark(const neap_session *s, np_str name) {
  for (size_t i = s->back.mark_count; i-- > 0;) {
    if (np_str_eq(s->back.marks[i].name, name)) return &s->back.marks[i];
  }
  return NULL;
}

/* The last entry of the message, and of the response it is of, that `entry` is in. */
static int64_t end_of_response(const neap_session *s, int64_t entry) {
  const np_log *lg = &s->log;
  uint32_t lead = lg->messages[np_log_entry(lg, entry)->message].lead;
  while (entry < (int64_t)lg->entry_count &&
         lg->messages[np_log_entry(lg, entry + 1)->message].lead == lead)
    entry++;
  return entry;
}

/* A call of the last response up to there whose result comes later or not at all; 0: none. What
** the model has gone on without is not waited for. */
static int64_t open_call(const neap_session *s, int64_t entry) {
  const np_log *lg = &s->log;
  for (int64_t id = entry; id > 0; id--) {
    const np_entry *en = np_log_entry(lg, id);
    if (en->voided || en->kind == NP_KIND_RESULT || np_log_is_block(en->kind)) continue;
    if (en->kind == NP_KIND_USER || en->kind == NP_KIND_SYSTEM) return 0;
    uint32_t lead = lg->messages[en->message].lead;
    for (; id > 0 && lg->messages[np_log_entry(lg, id)->message].lead == lead; id--) {
      en = np_log_entry(lg, id);
      if (en->kind == NP_KIND_CALL && (!en->pair || en->pair > entry)) return id;
    }
    return 0;
  }
  return 0;
}

static neap_rc check_cut(neap_session *s, int64_t entry) {
  int64_t call = open_call(s, entry);
  if (!call) return NEAP_OK;
  return np_fail(
      &s->err, NEAP_E_MISUSE,
      "call %lld has no result there yet; take the place behind its results, or "
      "before entry %lld",
      (long long)call, (long long)call);
}

static neap_rc check_logged(neap_session *s) {
  if (np_session_writes(s)) return NEAP_OK;
  return np_fail(&s->err, NEAP_E_MISUSE,
                 "session %s writes no log, and without one there is no way back",
                 s->name);
}

/* ---- checkpoints ---- */

static neap_rc check_name(neap_session *s, np_str name) {
  if (name.n && name.n <= NAME_BYTES && np_utf8_valid(name) == name.n) return NEAP_OK;
  return np_fail(&s->err, NEAP_E_ARG, "a checkpoint's name is 1 to %d bytes of UTF-8",
                 NAME_BYTES);
}

static neap_rc mark(neap_session *s, np_str name) {
  np_buf head;
  int64_t entry = (int64_t)s->log.entry_count;
  np_buf_init(&head, &s->engine->alloc);
  np_buf_adds(&head, "{\"name\":");
  np_json_quote(&head, name);
  np_buf_adds(&head, ",\"entry\":");
  np_buf_int(&head, entry);
  np_buf_adds(&head, ",\"step\":");
  np_buf_int(&head, s->log.step);
  np_buf_addc(&head, '}');
  neap_rc rc = head.failed ? np_fail_mem(&s->err)
                           : np_session_log(s, NP_EV_MARK, np_buf_str(&head), NP_LIT(""));
  np_buf_free(&head);
  return rc ? rc : add_mark(s, name, s->claim.last_seq, entry);
}

neap_rc neap_checkpoint(neap_session *s, const char *name) {
  neap_rc rc = np_session_enter(s);
  if (rc) return rc;
  rc = check_name(s, np_str_cstr(name));
  if (!rc) rc = check_logged(s);
  if (!rc) rc = check_cut(s, (int64_t)s->log.entry_count);
  return np_session_leave(s, rc ? rc : mark(s, np_str_cstr(name)));
}

/* ---- the record ---- */

typedef struct record {
  const char *title, *steps, *no_steps, *no_entries;
} record;

/* {a}–{b} are steps, {n} how many, {from}–{to} entries, {why} the reason. */
static const record english = {
    "## Void attempt\n",
    "- {n} steps were carried out (steps {a}\xE2\x80\x93{b}, entries "
    "{from}\xE2\x80\x93{to}) and are void, because: \"{why}\". Do not repeat this path.",
    "- Entries {from}\xE2\x80\x93{to} are void, because: \"{why}\". Do not repeat this "
    "path.",
    "- What was noted since is void, because: \"{why}\". Do not repeat this path."};
static const record chinese = {
    "## \xE5\xB7\xB2\xE4\xBD\x9C\xE5\xBA\x9F\xE7\x9A\x84\xE5\xB0\x9D\xE8\xAF\x95\n",
    "- \xE6\x9B\xBE\xE6\x89\xA7\xE8\xA1\x8C {n} \xE6\xAD\xA5\xEF\xBC\x88step {a}~{b}\xEF"
    "\xBC\x8C\xE6\x9D\xA1\xE7\x9B\xAE {from}~{to}\xEF\xBC\x89\xEF\xBC\x8C\xE5\x9B\xA0"
    "\xE3\x80\x8C{why}\xE3\x80\x8D\xE8\xA2\xAB\xE4\xBD\x9C\xE5\xBA\x9F\xE3\x80\x82\xE7"
    "\xBB\x93\xE8\xAE\xBA\xEF\xBC\x9A\xE4\xB8\x8D\xE8\xA6\x81\xE9\x87\x8D\xE5\xA4\x8D"
    "\xE8\xAF\xA5\xE8\xB7\xAF\xE5\xBE\x84\xE3\x80\x82",
    "- \xE6\x9D\xA1\xE7\x9B\xAE {from}~{to} \xE5\x9B\xA0\xE3\x80\x8C{why}\xE3\x80\x8D\xE8"
    "\xA2\xAB\xE4\xBD\x9C\xE5\xBA\x9F\xE3\x80\x82\xE7\xBB\x93\xE8\xAE\xBA\xEF\xBC\x9A"
    "\xE4\xB8\x8D\xE8\xA6\x81\xE9\x87\x8D\xE5\xA4\x8D\xE8\xAF\xA5\xE8\xB7\xAF\xE5\xBE"
    "\x84\xE3\x80\x82",
    "- 此后的记录因「{why}」被作废。结论：不要重复该路径。"};

/* Mostly Chinese: a character says as much as two or three letters. */
bool np_text_is_chinese(np_str s) {
  size_t cjk = 0, letters = 0;
  for (size_t i = 0; i < s.n; i++) {
    unsigned char c = (unsigned char)s.p[i];
    cjk += c >= 0xE4 && c <= 0xE9; /* the first byte of U+4000 to U+9FFF */
    letters += (c | 32) >= 'a' && (c | 32) <= 'z';
  }
  return cjk * 3 > letters;
}

/* What the session is about decides the language: its task, or without one the reason. */
bool np_session_is_chinese(const neap_session *s, np_str otherwise) {
  if (s->log.task_message < 0) return np_text_is_chinese(otherwise);
  const np_message *m = &s->log.messages[s->log.task_message];
  const np_entry *en = m->entries ? np_log_entry(&s->log, m->first) : NULL;
  return np_text_is_chinese(en ? np_str_cut(en->text, 0, 4096) : otherwise);
}

/* One line, without what would end the quotes and what is not seen: a reason may come from
** anywhere. */
void np_add_reason(np_buf *out, np_str why) {
  for (size_t i = 0, n; i < why.n; i += n) {
    uint32_t c = np_utf8_decode(why.p + i, why.p + why.n, &n);
    if (c < 0x20 || np_is_unseen(c)) np_buf_addc(out, ' ');
    else if (c == '"') np_buf_addc(out, '\'');
    else np_buf_add(out, np_str_cut(why, i, i + n));
  }
}

static void fill(np_buf *out, const char *t, const np_gone *g) {
  for (; *t; t++) {
    const char *end = *t == '{' ? strchr(t, '}') : NULL;
    if (!end) {
      np_buf_addc(out, *t);
      continue;
    }
    np_str name = np_str_of(t + 1, (size_t)(end - t - 1));
    if (np_str_is(name, "why")) np_add_reason(out, g->why);
    else if (np_str_is(name, "n")) np_buf_int(out, g->step_to - g->step_from + 1);
    else if (np_str_is(name, "a")) np_buf_int(out, g->step_from);
    else if (np_str_is(name, "b")) np_buf_int(out, g->step_to);
    else if (np_str_is(name, "from")) np_buf_int(out, g->from);
    else np_buf_int(out, g->to);
    t = end;
  }
}

static void add_record(const neap_session *s, const np_gone *g, np_buf *out) {
  const record *r = np_session_is_chinese(s, g->why) ? &chinese : &english;
  np_buf text;
  np_buf_init(&text, out->alloc);
  np_buf_adds(&text, r->title);
  const char *form = g->from > g->to              ? r->no_entries
                     : g->step_to >= g->step_from ? r->steps
                                                  : r->no_steps;
  fill(&text, form, g);
  np_buf_adds(out, "{\"kind\":\"notice\",\"content\":");
  np_json_quote(out, np_buf_str(&text));
  np_buf_addc(out, '}');
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

static void add_int(np_buf *b, const char *name, int64_t v) {
  np_buf_adds(b, name);
  np_buf_int(b, v);
}

static void add_head(const np_gone *g, np_buf *b) {
  add_int(b, "{\"after\":", g->after);
  add_int(b, ",\"entries\":[", g->from);
  add_int(b, ",", g->to);
  add_int(b, "],\"steps\":[", g->step_from);
  add_int(b, ",", g->step_to);
  np_buf_adds(b, "],\"reason\":");
  np_json_quote(b, g->why);
  np_buf_addc(b, '}');
}

/* ---- going back ---- */

/* Both events in one write: there is no going back without its record. */
static neap_rc write(neap_session *s, np_gone *g) {
  np_buf head, message;
  np_buf_init(&head, &s->engine->alloc);
  np_buf_init(&message, &s->engine->alloc);
  add_head(g, &head);
  add_record(s, g, &message);
  np_event ev[2] = {{.kind = NP_EV_ROLLBACK, .head = np_buf_str(&head)},
                    {.kind = NP_EV_MESSAGE, .body = np_buf_str(&message)}};
  neap_rc rc =
      head.failed || message.failed ? np_fail_mem(&s->err) : np_session_write(s, ev, 2);
  g->until = s->claim.last_seq - 1;
  np_buf_free(&head);
  np_buf_free(&message);
  return rc;
}

/* The session as it is without what is void. When that cannot be made it is at least not used. */
static neap_rc apply(neap_session *s, const np_gone *g) {
  np_store *st = s->engine->store;
  neap_rc rc = add_gone(s, *g);
  if (!rc) rc = st->ops->flush(st, &s->err);
  if (!rc) rc = np_session_restart(s);
  if (rc) s->broken = true;
  return rc;
}

static neap_rc find_cut(neap_session *s, const char *name, int64_t entry, np_gone *g) {
  if (name) {
    const np_mark *m = find_mark(s, np_str_cstr(name));
    if (!m)
      return np_fail(&s->err, NEAP_E_NOTFOUND,
                     "session %s has no checkpoint %.100s, or it was rolled back itself",
                     s->name, name);
    *g = (np_gone){.after = m->seq, .from = m->entry + 1};
    return NEAP_OK;
  }
  const np_entry *en = np_log_entry(&s->log, entry);
  if (!en || en->voided)
    return np_fail(&s->err, NEAP_E_NOTFOUND, "session %s has no entry %lld%s", s->name,
                   (long long)entry, en ? " that still counts" : "");
  if (end_of_response(s, entry) != entry)
    return np_fail(&s->err, NEAP_E_MISUSE,
                   "entry %lld is inside a message; take %lld, its last",
                   (long long)entry, (long long)end_of_response(s, entry));
  *g = (np_gone){.after = s->log.messages[en->message].seq, .from = entry + 1};
  if (g->after) return check_cut(s, entry);
  return np_fail(&s->err, NEAP_E_MISUSE,
                 "entry %lld is a summary of the engine's; take one of the messages",
                 (long long)entry);
}

static neap_rc roll_back(neap_session *s, const char *name, int64_t entry, np_str why) {
  np_gone g;
  neap_rc rc = check_logged(s);
  if (!rc) rc = find_cut(s, name, entry, &g);
  if (!rc && (!np_str_says(why) || why.n > REASON_BYTES || np_utf8_valid(why) != why.n))
    rc = np_fail(&s->err, NEAP_E_ARG, "a reason is 1 to %d bytes of UTF-8", REASON_BYTES);
  if (rc) return rc;
  g.to = (int64_t)s->log.entry_count;
  g.why = why;
  if (g.from > g.to && s->noted_at <= g.after)
    return np_fail(&s->err, NEAP_E_MISUSE,
                   "nothing has come since; there is nothing to void");
  const np_entry *last = np_log_entry(&s->log, g.from - 1);
  g.step_from = (last ? last->step : 0) + 1;
  g.step_to = s->log.step;
  rc = write(s, &g);
  return rc ? rc : apply(s, &g);
}

neap_rc neap_rollback(neap_session *s, const char *name, int64_t entry, neap_str reason) {
  neap_rc rc = np_session_enter_text(s, &reason);
  if (rc) return rc;
  np_buf why; /* the session's own memory is given back meanwhile */
  np_buf_init(&why, &s->engine->alloc);
  np_buf_add(&why, reason);
  rc = why.failed ? np_fail_mem(&s->err) : roll_back(s, name, entry, np_buf_str(&why));
  np_buf_free(&why);
  return np_session_leave(s, rc);
}

/* ---- reading back ---- */

static neap_rc damaged(neap_session *s) {
  return np_fail(&s->err, NEAP_E_CORRUPT,
                 "session %s: a rollback's event is wrong; check the store", s->name);
}

static int64_t number_of(np_json v) {
  int64_t n = 0;
  if (v.type != NP_JSON_NUMBER || v.raw.n > 17) return -1;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] < '0' || v.raw.p[i] > '9') return -1;
    n = n * 10 + (v.raw.p[i] - '0');
  }
  return n;
}

static int64_t member(np_json head, const char *name) {
  np_json v;
  return np_json_get(head, name, &v) ? number_of(v) : -1;
}

static bool read_pair(np_json head, const char *name, int64_t *a, int64_t *b) {
  np_json list, x = {0}, y = {0};
  if (!np_json_get(head, name, &list) || list.type != NP_JSON_ARRAY) return false;
  np_json_iter it = np_json_each(list);
  if (!np_json_next(&it, NULL, &x) || !np_json_next(&it, NULL, &y)) return false;
  *a = number_of(x);
  *b = number_of(y);
  return *a >= 0 && *b >= 0;
}

bool np_gone_read(np_str head, np_gone *g, np_buf *why) {
  np_json h, v;
  *g = (np_gone){0};
  if (np_json_check(head, &h, NULL)) return false;
  g->after = member(h, "after");
  if (g->after < 0 || !read_pair(h, "entries", &g->from, &g->to) ||
      !read_pair(h, "steps", &g->step_from, &g->step_to))
    return false;
  if (np_json_get(h, "reason", &v) && v.type == NP_JSON_STRING) np_json_text(v, why);
  g->why = np_buf_str(why);
  return true;
}

static neap_rc take_gone(neap_session *s, const np_event *ev) {
  np_gone g;
  np_buf why;
  np_buf_init(&why, &s->engine->alloc);
  bool good = np_gone_read(ev->head, &g, &why) && g.after < ev->seq;
  g.until = ev->seq;
  neap_rc rc = why.failed ? np_fail_mem(&s->err) : good ? add_gone(s, g) : damaged(s);
  np_buf_free(&why);
  return rc;
}

static neap_rc collect(void *ctx, const np_event *ev, bool purged) {
  neap_session *s = ctx;
  if (s->read_to && ev->seq > s->read_to) return NEAP_E_LIMIT;
  if (purged || ev->kind != NP_EV_ROLLBACK) return NEAP_OK;
  return knows(s, ev->seq) ? NEAP_OK : take_gone(s, ev);
}

neap_rc np_back_collect(neap_session *s) {
  np_store *st = s->engine->store;
  s->err = (np_err){0};
  neap_rc rc = st->ops->read(st, np_str_cstr(s->engine->tenant), np_str_cstr(s->name),
                             s->back.found, collect, s, &s->err);
  return rc == NEAP_E_LIMIT && s->read_to && !s->err.code ? NEAP_OK : rc;
}

/* One that nobody knows of yet ends the reading: what was read behind its mark is void. */
neap_rc np_back_take(neap_session *s, const np_event *ev) {
  if (!knows(s, ev->seq)) {
    s->back.found = ev->seq;
    return NEAP_E_REFUSED;
  }
  s->back.due = true;
  return np_relive_end(s);
}

neap_rc np_mark_take(neap_session *s, const np_event *ev) {
  np_json head, v;
  np_buf name;
  if (np_json_check(ev->head, &head, NULL) || !np_json_get(head, "name", &v) ||
      member(head, "entry") < 0)
    return damaged(s);
  np_buf_init(&name, &s->engine->alloc);
  np_json_text(v, &name);
  neap_rc rc = name.failed
                   ? np_fail_mem(&s->err)
                   : add_mark(s, np_buf_str(&name), ev->seq, member(head, "entry"));
  np_buf_free(&name);
  return rc;
}

neap_rc np_void_take(neap_session *s, const np_event *ev) {
  np_json head;
  neap_rc rc = NEAP_OK;
  switch (ev->kind) {
    case NP_EV_MESSAGE:
      rc = np_log_append_void(&s->log, ev->body, ev->seq, &s->err);
      break;
    case NP_EV_NOTE: rc = np_log_append_void_text(&s->log, ev->body, 0, &s->err); break;
    case NP_EV_PROPOSAL: return np_object_take(s, ev, true);
    case NP_EV_SCRATCH: return np_scratch_take(s, ev, true);
    case NP_EV_ASK: /* ids are not given twice: an answer may still be on its way */
      if (!np_json_check(ev->head, &head, NULL) && member(head, "ask") > s->asked)
        s->asked = member(head, "ask");
      return NEAP_OK;
    case NP_EV_TURN: /* it was sent all the same */
      s->sent_at = s->now;
      if (!np_json_check(ev->head, &head, NULL) &&
          member(head, "epoch") > s->back.reached)
        s->back.reached = member(head, "epoch");
      return NEAP_OK;
    default: return NEAP_OK;
  }
  if (!rc) np_log_index_note(&s->log);
  return rc;
}

/* ---- the turn behind it ---- */

/* Epochs never fall. One that no rewrite has begun is none to what a policy is told: for that the
** rollback has never been. */
void np_back_rendered(neap_session *s) {
  np_back *b = &s->back;
  int64_t *epoch = &s->pack.frame.epoch, last = *epoch - s->rendered.rewrite;
  b->now = b->due;
  b->due = false;
  if (!b->now) return;
  if (b->reached > last) last = b->reached;
  b->epochs += last + 1 - *epoch;
  *epoch = last + 1;
}

void np_back_account(const neap_session *s, np_buf *b) {
  if (!s->back.now || !s->back.gone_count) return;
  const np_gone *g = &s->back.gone[s->back.gone_count - 1];
  add_int(b, ",\"rolled_back\":{\"entries\":[", g->from);
  add_int(b, ",", g->to);
  np_buf_adds(b, "],\"why\":");
  np_json_quote(b, g->why);
  np_buf_addc(b, '}');
}
