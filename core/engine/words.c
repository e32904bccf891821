/*
** The index of words follows the log: what of an entry goes in, in steps that hold the store
** for a few milliseconds each. A session that writes nothing has an index of its own, in
** memory. next: recall.c
*/
#include "engine/words.h"

#include "cite/log_index.h"
#include "engine/artifact.h"
#include "text/text.h"

#define STEP_DOCS 1024               /* entries of one step: some 30 ms */
#define STEP_BYTES ((size_t)1 << 20) /* or this much text */
#define FOLLOW 16      /* entries that wait before an append takes them along */
#define LEAVE_STEPS 16 /* of a session that is closed */

/* ---- what goes in ---- */

/* What was rolled back is found as what it was, and told as void. */
static np_kind kind_of(const np_entry *en) {
  return en->voided ? en->was : en->kind;
}

/* Recalled text would be found for what was asked, not for what it says. State and notices hold
** for a time, and the host says them again; summaries say what is indexed already, and what the
** engine has put in the log as a text alone has no message to be read from again. */
static bool is_searched(const np_log *lg, const np_entry *en) {
  bool ours = en->tool.n && np_tools_fetches(en->tool);
  if (en->voided && (!lg->messages[en->message].seq || en->was == NP_KIND_THOUGHT))
    return false;
  switch (kind_of(en)) {
    case NP_KIND_CALL: return !ours;
    case NP_KIND_RESULT: return !ours && en->text.n;
    case NP_KIND_USER:
    case NP_KIND_FILE:
    case NP_KIND_MEMORY:
    case NP_KIND_EVIDENCE:
    case NP_KIND_TEXT:
    case NP_KIND_THOUGHT: return en->text.n && !en->opaque;
    default: return false;
  }
}

static np_doc_rank rank_of(const np_log *lg, const np_entry *en) {
  if ((int64_t)en->message == lg->task_message) return NP_DOC_TASK;
  if (kind_of(en) == NP_KIND_CALL) return NP_DOC_CALL;
  bool said = kind_of(en) == NP_KIND_TEXT || kind_of(en) == NP_KIND_THOUGHT;
  return said ? NP_DOC_SAID : NP_DOC_SOURCE;
}

static bool is_json(np_str text) {
  np_json v;
  if (!text.n || (text.p[0] != '{' && text.p[0] != '[')) return false;
  return np_json_check(text, &v, NULL) == NEAP_OK;
}

/* Strings as what they say: "\n" in one is no letter n. */
static void add_strings(np_str json, np_buf *out) {
  const char *p = json.p, *end = json.p + json.n;
  while (p < end) {
    if (*p != '"') {
      np_buf_addc(out, *p++);
      continue;
    }
    const char *to = np_json_string_end(p, end);
    np_json_text(np_json_of(np_str_of(p, (size_t)(to - p))), out);
    np_buf_addc(out, ' ');
    p = to;
  }
}

static void add_words(const np_entry *en, np_buf *out) {
  if (kind_of(en) == NP_KIND_CALL) {
    np_buf_add(out, en->tool);
    np_buf_addc(out, ' ');
  }
  if (is_json(en->text)) add_strings(en->text, out);
  else np_buf_add(out, en->text);
}

bool np_words_text(void *ctx, np_str body, int32_t part, np_buf *out) {
  np_log lg;
  size_t message;
  if (part < 0 || np_log_init(&lg, ctx, NULL)) return false;
  bool found = np_log_append(&lg, body, &message, NULL) == NEAP_OK &&
               (size_t)part < lg.entry_count;
  if (found) add_words(&lg.entries[part], out);
  np_log_free(&lg);
  return found;
}

/* ---- a step ---- */

typedef struct feed {
  np_store *st;
  np_log *lg;
  np_docs docs;
  np_doc doc[STEP_DOCS];
  np_buf text; /* of those whose words are not their text as it stands */
} feed;

/* A text that was built is found by its offset until all of them are. */
static size_t add_doc(feed *f, const np_entry *en) {
  const np_message *m = &f->lg->messages[en->message];
  np_doc *d = &f->doc[f->docs.n++];
  *d = (np_doc){.entry = en->id,
                .seq = m->seq,
                .part = (int32_t)(en->id - m->first),
                .rank = rank_of(f->lg, en),
                .step = en->step,
                .pair = en->kind == NP_KIND_RESULT ? en->pair : 0};
  if (kind_of(en) != NP_KIND_CALL && !is_json(en->text)) {
    d->text = en->text;
    return en->text.n;
  }
  size_t from = f->text.n;
  add_words(en, &f->text);
  d->text = (np_str){NULL, f->text.n - from};
  return d->text.n;
}

static void gather(feed *f) {
  size_t bytes = 0, at = 0;
  int64_t id = f->docs.from.entry;
  while (id < (int64_t)f->lg->entry_count && f->docs.n < STEP_DOCS &&
         bytes < STEP_BYTES) {
    const np_entry *en = np_log_entry(f->lg, ++id);
    if (is_searched(f->lg, en)) bytes += add_doc(f, en);
  }
  f->docs.to.entry = id;
  for (size_t i = 0; i < f->docs.n; i++) {
    if (f->doc[i].text.p) continue;
    f->doc[i].text.p = f->text.p ? f->text.p + at : "";
    at += f->doc[i].text.n;
  }
}

/* Citations of what is in the index by now; the others wait. */
static neap_rc gather_cited(feed *f, int64_t **out, np_err *e) {
  const np_cite *c = f->lg->cite;
  int64_t all = (int64_t)np_cite_count(c), at = f->docs.from.cited;
  size_t room = all > at ? (size_t)(all - at) : 0;
  if (room > STEP_DOCS) room = STEP_DOCS;
  if (!room) return NEAP_OK;
  *out = np_calloc(f->lg->alloc, room, sizeof **out);
  if (!*out) return np_fail_mem(e);
  for (size_t i = 0; i < room; i++, at++) {
    const np_citation *one = np_cite_at(c, (size_t)at);
    if (one->by > f->docs.to.entry) break;
    if (one->fact && one->rare && one->kind != NP_IDENT_WORD)
      (*out)[f->docs.cited_n++] = one->credited;
  }
  f->docs.cited = *out;
  f->docs.to.cited = at;
  return NEAP_OK;
}

/* *more while the log is ahead. */
static neap_rc step(feed *f, bool *more, np_err *e) {
  int64_t *cited = NULL;
  np_docs *d = &f->docs;
  *more = false;
  neap_rc rc = f->st->ops->indexed(f->st, d->tenant, d->session, &d->from, e);
  int64_t entries = (int64_t)f->lg->entry_count;
  int64_t citations = (int64_t)np_cite_count(f->lg->cite);
  if (rc != NEAP_OK || (d->from.entry >= entries && d->from.cited >= citations &&
                        d->from.seq >= d->to.seq))
    return rc;
  d->doc = f->doc;
  d->n = d->cited_n = 0;
  d->to.entry = d->from.entry;
  d->to.cited = d->from.cited;
  np_buf_clear(&f->text);
  gather(f);
  rc = f->text.failed ? np_fail_mem(e) : gather_cited(f, &cited, e);
  int64_t seq = d->to.seq;
  *more = d->to.entry < entries || d->to.cited < citations;
  if (*more || seq < d->from.seq) d->to.seq = d->from.seq;
  if (rc == NEAP_OK) rc = f->st->ops->index(f->st, d, e);
  d->to.seq = seq;
  np_free(f->lg->alloc, cited);
  return rc;
}

/* At most so many steps. */
static neap_rc run(np_store *st, np_log *lg, const np_docs *docs, int steps, np_err *e) {
  feed *f = np_calloc(lg->alloc, 1, sizeof *f);
  bool more = true;
  if (!f) return np_fail_mem(e);
  f->st = st;
  f->lg = lg;
  f->docs = *docs;
  np_buf_init(&f->text, lg->alloc);
  neap_rc rc = NEAP_OK;
  while (rc == NEAP_OK && more && steps-- > 0) rc = step(f, &more, e);
  np_buf_free(&f->text);
  np_free(lg->alloc, f);
  return rc;
}

/* ---- a session's own ---- */

static bool writes(const neap_session *s) {
  return s->claim.fence > 0;
}

/* What is not written cannot be found in the store either. */
static neap_rc index_of(neap_session *s, np_store **out, np_err *e) {
  if (!writes(s) && !s->words) {
    neap_rc rc = np_store_memory_open(&s->engine->alloc, &s->words, e);
    if (rc != NEAP_OK) return rc;
  }
  *out = writes(s) ? s->engine->store : s->words;
  return NEAP_OK;
}

/* `settle`: also notes that nothing more is in the log, for who has not read it. */
static neap_rc sync(neap_session *s, int steps, bool settle, np_err *e) {
  np_store *st = NULL;
  np_docs d = {.tenant = np_str_cstr(s->engine->tenant),
               .session = np_str_cstr(s->name),
               .fence = s->claim.fence};
  d.to.seq = settle ? s->claim.last_seq : 0;
  neap_rc rc = index_of(s, &st, e);
  if (rc == NEAP_OK) rc = run(st, &s->log, &d, steps, e);
  if (rc == NEAP_OK) s->followed = (int64_t)s->log.entry_count;
  return rc;
}

neap_rc np_words_sync(neap_session *s, np_err *e) {
  neap_rc rc = np_log_index_need(&s->log, e);
  return rc == NEAP_OK ? sync(s, INT32_MAX, false, e) : rc;
}

/* A store in memory is indexed when it is asked: most never are. */
static bool may_follow(const neap_session *s) {
  return writes(s) && strcmp(s->engine->store->ops->name, "memory") != 0;
}

void np_words_follow(neap_session *s) {
  np_err e = {0};
  bool now = s->options.durable == NEAP_DURABLE_PROCESS ||
             s->options.durable == NEAP_DURABLE_POWER;
  if (!now || !may_follow(s)) return;
  if ((int64_t)s->log.entry_count - s->followed < FOLLOW) return;
  sync(s, 1, false, &e);
  s->followed = (int64_t)s->log.entry_count;
}

void np_words_leave(neap_session *s) {
  np_err e = {0};
  if (s->log.alloc && s->log.cite && may_follow(s)) sync(s, LEAVE_STEPS, true, &e);
}

neap_rc np_words_recall(neap_session *s, np_str query, np_hit *hits, size_t room,
                        size_t *n, size_t *voided, np_err *e) {
  np_store *st = NULL;
  np_buf names;
  np_find find = {np_str_cstr(s->engine->tenant), np_str_cstr(s->name), query, room};
  np_hit all[NP_HITS_MAX]; /* some may be void: the index knows nothing of that */
  size_t found = 0;
  if (s->back.gone_count) find.k = NP_HITS_MAX;
  size_t left = 0;
  *n = 0;
  neap_rc rc = np_words_sync(s, e);
  if (rc == NEAP_OK) rc = index_of(s, &st, e);
  if (rc != NEAP_OK) return rc;
  np_buf_init(&names, &s->engine->alloc);
  rc = st->ops->find(st, &find, all, &found, &names, e);
  np_buf_free(&names);
  for (size_t i = 0; i < found; i++) {
    const np_entry *en = np_log_entry(&s->log, all[i].entry);
    left += en && en->voided ? 1 : 0;
    if (!en || en->voided || *n == room) continue;
    hits[*n] = all[i];
    hits[(*n)++].session = find.session;
  }
  if (voided) *voided = left;
  return rc;
}

/* ---- sessions of the store ---- */

/* Only what makes entries: their ids and steps are those that a resumed session has. An
** artifact has an id, and nothing that is searched. */
static neap_rc enter(neap_session *s, const np_event *ev, bool purged) {
  size_t at;
  if (ev->kind == NP_EV_FILE) {
    s->claim.last_seq = ev->seq;
    return np_files_take(s, ev, purged);
  }
  bool enters = ev->kind == NP_EV_MESSAGE || ev->kind == NP_EV_NOTE;
  if (purged && enters) return NEAP_E_PURGED;
  s->claim.last_seq = ev->seq;
  if (ev->kind == NP_EV_RESPONSE) s->log.fresh = true;
  if (ev->kind == NP_EV_NOTE) /* what it stands for is no matter, and may be void */
    return np_log_append_void_text(&s->log, ev->body, 0, &s->err);
  if (ev->kind != NP_EV_MESSAGE) return NEAP_OK;
  neap_rc rc = np_log_append(&s->log, ev->body, &at, &s->err);
  if (rc == NEAP_OK) s->log.messages[at].seq = ev->seq;
  return rc;
}

static neap_rc take(void *ctx, const np_event *ev, bool purged) {
  neap_session *s = ctx;
  neap_rc rc = enter(s, ev, purged);
  bool entered = ev->kind == NP_EV_FILE || ev->kind == NP_EV_MESSAGE;
  return rc == NEAP_OK && entered ? np_log_index_sync(&s->log, &s->err) : rc;
}

/* A log is read up to what was purged: what follows cannot be numbered. */
static neap_rc read_log(neap_session *s, np_claim *look, np_err *e) {
  np_store *st = s->engine->store;
  np_str tenant = np_str_cstr(s->engine->tenant), name = np_str_cstr(s->name);
  neap_rc rc = np_log_init(&s->log, &s->engine->alloc, e);
  if (rc == NEAP_OK) rc = np_log_index_open(&s->log, e);
  if (rc == NEAP_OK) rc = st->ops->claim(st, tenant, name, true, look, e);
  if (rc != NEAP_OK) return rc;
  rc = st->ops->read(st, tenant, name, 1, take, s, e);
  if (rc == NEAP_OK || rc == NEAP_E_PURGED || !s->err.code) return rc;
  if (rc == NEAP_E_MEMORY) return np_fail_mem(e);
  return np_fail(e, rc, "session %.80s, event %lld cannot be read (%s); check the store",
                 s->name, (long long)s->claim.last_seq, s->err.text);
}

static neap_rc index_session(neap_session *s, np_err *e) {
  np_claim look;
  np_str tenant = np_str_cstr(s->engine->tenant), name = np_str_cstr(s->name);
  neap_rc rc = read_log(s, &look, e);
  if (rc != NEAP_OK && rc != NEAP_E_PURGED) return rc;
  np_docs d = {.tenant = tenant, .session = name};
  d.to.seq = rc == NEAP_E_PURGED ? look.last_seq : s->claim.last_seq;
  return run(s->engine->store, &s->log, &d, INT32_MAX, e);
}

/* What is to be done with a session that was not opened. */
typedef struct visit {
  neap_rc (*fn)(neap_session *s, struct visit *v, np_err *e);
  int64_t entry;
  np_buf *text;
  const np_event *ev;
  size_t count;
} visit;

static neap_rc visit_session(neap *n, np_str session, visit *v, np_err *e) {
  np_str name;
  neap_session *s =
      np_calloc(&n->alloc, 1, sizeof *s); /* never opened: a log and a name */
  if (!s) return np_fail_mem(e);
  s->engine = n;
  np_arena_init(&s->arena, &n->alloc);
  neap_rc rc = np_arena_copy(&s->arena, session, &name) ? NEAP_OK : np_fail_mem(e);
  if (rc == NEAP_OK) {
    s->name = (char *)(uintptr_t)name.p;
    rc = v->fn(s, v, e);
  }
  np_cite_free(s->log.cite);
  if (s->log.alloc) np_log_free(&s->log);
  np_free(&n->alloc, s->files);
  np_arena_free(&s->arena);
  np_free(&n->alloc, s);
  return rc;
}

static neap_rc do_index(neap_session *s, visit *v, np_err *e) {
  (void)v;
  return index_session(s, e);
}

neap_rc np_words_catch_up(neap *n, np_str session, np_err *e) {
  visit v = {.fn = do_index};
  return visit_session(n, session, &v, e);
}

static neap_rc fail_behind(const neap_session *s, np_err *e) {
  return np_fail(e, NEAP_E_PURGED,
                 "session %s: a message was purged, and what stands behind it has no "
                 "number any more; use another session",
                 s->name);
}

/* The oldest call whose result has not come: the result is what was purged, if it was one. */
static const np_entry *waits(const np_log *lg) {
  for (int64_t id = 1; id <= (int64_t)lg->entry_count; id++) {
    const np_entry *en = np_log_entry(lg, id);
    if (en->kind == NP_KIND_CALL && !en->pair) return en;
  }
  return NULL;
}

/* The log ends before what was purged: its first entry is the next one, and the call that waits
** is how to make it again. */
static neap_rc fail_purged(const neap_session *s, np_err *e) {
  const np_entry *call = waits(&s->log);
  np_str tool = call ? call->tool : NP_LIT(""), words = call ? call->text : NP_LIT("");
  words = np_str_cut(words, 0, np_utf8_floor(words, words.n < 160 ? words.n : 160));
  return np_fail(e, NEAP_E_PURGED,
                 "entry %.80s/%lld was purged by its owner; it cannot be restored%s%.*s%s"
                 "%.*s",
                 s->name, (long long)s->log.entry_count + 1,
                 call ? "; make it again with " : "", (int)(tool.n > 80 ? 80 : tool.n),
                 tool.p, call ? " " : "", (int)words.n, words.p);
}

static neap_rc do_count(neap_session *s, visit *v, np_err *e) {
  np_claim look;
  neap_rc rc = read_log(s, &look, e);
  v->entry = (int64_t)s->log.entry_count;
  return rc == NEAP_E_PURGED ? fail_behind(s, e) : rc;
}

neap_rc np_words_entries(neap *n, np_str session, int64_t *entries, np_err *e) {
  visit v = {.fn = do_count};
  neap_rc rc = visit_session(n, session, &v, e);
  *entries = v.entry;
  return rc;
}

static neap_rc do_text(neap_session *s, visit *v, np_err *e) {
  np_claim look;
  neap_rc rc = read_log(s, &look, e);
  const np_entry *en = s->log.alloc ? np_log_entry(&s->log, v->entry) : NULL;
  if (rc != NEAP_OK && rc != NEAP_E_PURGED) return rc;
  if (en) {
    np_buf_add(v->text, en->text);
    return v->text->failed ? np_fail_mem(e) : NEAP_OK;
  }
  if (rc == NEAP_E_PURGED) {
    bool next = s->log.alloc && v->entry == (int64_t)s->log.entry_count + 1;
    return next ? fail_purged(s, e) : fail_behind(s, e);
  }
  return np_fail(e, NEAP_E_NOTFOUND, "session %s has no entry %lld", s->name,
                 (long long)v->entry);
}

neap_rc np_words_entry(neap *n, np_str session, int64_t entry, np_buf *text, np_err *e) {
  visit v = {.fn = do_text, .entry = entry, .text = text};
  return visit_session(n, session, &v, e);
}

/* ---- what is to come into the store ---- */

static neap_rc check_file(neap_session *s, const np_event *ev, bool numbered, np_err *e) {
  np_file f;
  bool purged = ev->gone.n > 0;
  bool good = np_file_read(&s->arena, ev, purged, &f) &&
              (purged || ((ev->apart || !ev->body.n) && f.bytes == (int64_t)ev->body.n &&
                          f.lines == (int64_t)np_lines_count(ev->body)));
  if (good && numbered) return np_files_take(s, ev, purged);
  if (good) return NEAP_OK;
  return np_fail(e, NEAP_E_SHAPE, "what it says of its artifact is not so");
}

/* Behind a message that was purged nothing has a number; what artifacts say is checked. */
static neap_rc do_check(neap_session *s, visit *v, np_err *e) {
  neap_rc rc = np_log_init(&s->log, &s->engine->alloc, e);
  bool numbered = true;
  for (v->entry = 0; rc == NEAP_OK && v->entry < (int64_t)v->count; v->entry++) {
    const np_event *ev = &v->ev[v->entry];
    if (ev->kind == NP_EV_FILE) rc = check_file(s, ev, numbered, &s->err);
    else if (ev->apart) rc = np_fail(&s->err, NEAP_E_SHAPE, "only an artifact is apart");
    else if (numbered) rc = enter(s, ev, ev->gone.n > 0);
    if (rc == NEAP_E_PURGED) {
      numbered = false;
      rc = NEAP_OK;
    }
    if (rc != NEAP_OK) break;
  }
  if (rc != NEAP_OK && s->err.code) *e = s->err;
  return rc;
}

neap_rc np_words_check(neap *n, np_str session, const np_event *ev, size_t count,
                       size_t *at, np_err *e) {
  visit v = {.fn = do_check, .ev = ev, .count = count};
  neap_rc rc = visit_session(n, session, &v, e);
  *at = (size_t)v.entry;
  return rc;
}
