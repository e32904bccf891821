/*
** The turn's event and the way back: a stored session is read from its first event, turns
** are laid on the view as they were decided, and rendered again where that is needed
** (relive.c), so that frame, epoch and marks are what they were. The policy is not asked again. next: relive.c
*/
#include "engine/artifact.h"

#include <stdlib.h>

/* An NP_EV_TURN body: count of mark keys (8 bytes), state of ctx.random (8), then each changed
** entry: id (8 bytes), rung, flags (bit 0 pinned, bit 1 held, bit 2 fetched, bit 3 a summary
** that stands for its atoms, bit 4 dropped and named), length of its text (4), the text; all
** little-endian. With id 0 the rung says what the text is instead: */
enum {
  /* blocks were laid: the entry up to which (8 bytes), the order of regions (3), and where
  ** evidence and notices stand (1: at the head) */
  NOTE_LAY = 0,
  NOTE_KEY = 1,   /* the turn has brought another mark key, this one */
  NOTE_DIGEST = 2 /* np_pins_digest of the prompt */
};

static void add_le(np_buf *b, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; i++) np_buf_addc(b, (char)(v >> (8 * i) & 255));
}

static uint64_t get_le(const char *p, int bytes) {
  uint64_t v = 0;
  for (int i = 0; i < bytes; i++) v |= (uint64_t)(unsigned char)p[i] << (8 * i);
  return v;
}

static void add_entry(np_buf *b, const np_view *v, int64_t id) {
  const np_shown *s = np_view_at(v, id);
  add_le(b, (uint64_t)id, 8);
  np_buf_addc(b, (char)s->rung);
  bool live = np_log_entry(v->log, id)->fold && np_view_is_live(v, id);
  np_buf_addc(b, (char)((s->pinned ? 1 : 0) | (s->held ? 2 : 0) | (s->fetched ? 4 : 0) |
                        (live ? 8 : 0) | (s->named && s->rung == NP_DROPPED ? 16 : 0)));
  np_str text = s->rung == NP_FULL || s->rung == NP_DROPPED ? NP_LIT("") : s->text;
  add_le(b, text.n, 4);
  np_buf_add(b, text);
}

static void add_note(np_buf *b, unsigned what, size_t n) {
  add_le(b, 0, 8);
  add_le(b, what, 2);
  add_le(b, n, 4);
}

static void add_lay(np_buf *b, const np_lay *lay) {
  add_note(b, NOTE_LAY, 8 + NP_LAYOUT + 1);
  add_le(b, (uint64_t)lay->upto, 8);
  for (int i = 0; i < NP_LAYOUT; i++) np_buf_addc(b, (char)lay->layout.order[i]);
  np_buf_addc(b, (char)lay->layout.head);
}

static void add_pins(neap_session *s, np_buf *b) {
  uint8_t digest[NP_SHA256];
  if (s->rekeys != s->before.rekeys) {
    add_note(b, NOTE_KEY, NP_KEY);
    np_buf_add(b, np_str_of(s->pack.view.key, NP_KEY));
  }
  if (!np_session_writes(s)) return;
  np_pins_digest(s, digest);
  add_note(b, NOTE_DIGEST, NP_SHA256);
  np_buf_add(b, np_str_of((const char *)digest, NP_SHA256));
}

static bool seen_before(const np_pack *p, size_t i) {
  /* changes of one entry mostly follow one another */
  return i && p->changes[i - 1].entry == p->changes[i].entry;
}

/* The policy's state, when it is another than the one that was written last. */
static neap_rc take_state(neap_session *s) {
  np_buf now;
  np_buf_init(&now, np_temp(&s->pack.view));
  neap_rc rc = np_policy_state(s->policy, &now, &s->err);
  np_str was = s->turn_state.n ? np_buf_str(&s->turn_state) : NP_LIT("{}");
  int64_t version = np_policy_state_version(s->policy);
  if (!rc && (!np_str_eq(np_buf_str(&now), was) || version != s->state_version)) {
    s->state_version = version;
    np_buf_clear(&s->turn_state);
    np_buf_add(&s->turn_state, np_buf_str(&now));
    np_buf_clear(&s->state_head);
    np_buf_adds(&s->state_head, "{\"version\":");
    np_buf_int(&s->state_head, version);
    np_buf_addc(&s->state_head, '}');
    s->stated = false;
    if (s->turn_state.failed || s->state_head.failed) rc = np_fail_mem(&s->err);
  }
  np_buf_free(&now);
  return rc;
}

neap_rc np_events_turn(neap_session *s) {
  np_buf *head = &s->turn_head, *body = &s->turn_body;
  np_buf_clear(head);
  np_buf_clear(body);
  add_le(body, (uint64_t)s->rekeys, 8);
  add_le(body, s->random, 8);
  for (size_t i = 0; i < s->pack.change_count; i++) {
    unsigned flag = s->pack.changes[i].flag;
    if (flag == NP_FLAG_LAY) add_lay(body, &s->pack.view.lay);
    else if (flag != NP_FLAG_TOLD && flag != NP_FLAG_TOOLS && !seen_before(&s->pack, i))
      add_entry(body, &s->pack.view, s->pack.changes[i].entry);
  }
  add_pins(s, body);
  np_buf_add(head, np_buf_str(&s->account));
  neap_rc rc = body->failed || head->failed ? np_fail_mem(&s->err) : take_state(s);
  if (!rc) rc = np_notes_queue(s);
  if (!rc) rc = np_catalogue_queue(s);
  if (!rc) rc = np_asks_settle(s);
  if (rc) return rc;
  s->unwritten = true;
  if (np_policy_proposal(s->policy, 0)) return np_deeds_settle(s);
  return np_session_write(s, NULL, 0);
}

/* ---- resuming ---- */

static neap_rc damaged(neap_session *s, const char *what) {
  return np_fail(&s->err, NEAP_E_CORRUPT, "session %s: %s; check the store", s->name,
                 what);
}

/* A summary begins to stand for its atoms, or is opened. */
static neap_rc lay_fold(neap_session *s, int64_t id, bool live) {
  np_view *v = &s->pack.view;
  if (live == np_view_is_live(v, id)) return NEAP_OK;
  if (!live) return np_view_unfold(v, id, &s->err);
  const np_fold *f = np_log_fold_of(&s->log, np_log_entry(&s->log, id));
  for (size_t i = 0; i < f->count; i++) {
    if (np_view_at(v, s->log.atoms[f->atoms[i]].first)->folded)
      return damaged(s, "two summaries stand for one entry");
  }
  return np_view_fold(v, id, &s->err);
}

static neap_rc lay_entry(neap_session *s, int64_t id, np_rung rung, unsigned flags,
                         np_str text) {
  np_view *v = &s->pack.view;
  if (id < 1 || (size_t)id > v->count || rung >= NP_RUNG_COUNT) {
    return damaged(s, "a turn names an entry that does not exist");
  }
  np_shown *sh = np_view_at(v, id);
  sh->pinned = flags & 1;
  sh->held = flags & 2;
  sh->fetched = flags & 4;
  if (np_log_entry(&s->log, id)->fold) {
    neap_rc rc = lay_fold(s, id, (flags & 8) != 0);
    if (rc || !(flags & 8)) return rc;
  }
  if (sh->folded) return damaged(s, "a turn changes an entry behind a summary");
  if (sh->rung == rung && rung != NP_TRIMMED) return NEAP_OK;
  uint32_t atom = np_log_entry(&s->log, id)->atom;
  if (rung == NP_DROPPED) {
    np_view_name(v, atom, (flags & 16) != 0);
    return np_view_drop(v, atom, &s->err);
  }
  if (sh->rung == NP_DROPPED) {
    neap_rc rc = np_view_restore(v, atom, &s->err);
    if (rc) return rc;
  }
  return np_view_show(v, id, rung, text, &s->err);
}

/* Once all is laid: those of the changed entries that the prompt shows. */
static void mark_changed(neap_session *s, np_str body) {
  for (size_t at = 16; at < body.n; at += 14 + (size_t)get_le(body.p + at + 10, 4)) {
    int64_t id = (int64_t)get_le(body.p + at, 8);
    if (id) np_relive_sent(s, id);
  }
}

static neap_rc lay_blocks(neap_session *s, np_str text) {
  np_lay lay = {0};
  bool seen[NP_REGION_COUNT] = {false};
  if (text.n != 8 + NP_LAYOUT + 1) return damaged(s, "a turn is cut short");
  lay.upto = (int64_t)get_le(text.p, 8);
  lay.front = s->pack.view.front;
  if (lay.upto < 0 || (size_t)lay.upto > s->pack.view.count)
    return damaged(s, "a turn names an entry that does not exist");
  for (int i = 0; i < NP_LAYOUT; i++) {
    unsigned r = (unsigned char)text.p[8 + i];
    if (r < NP_REGION_MEMORY || r > NP_REGION_STATE || seen[r])
      return damaged(s, "a turn names a region that does not exist");
    seen[r] = true;
    lay.layout.order[i] = (np_region)r;
  }
  lay.layout.head = text.p[8 + NP_LAYOUT] == 1;
  return np_view_lay(&s->pack.view, lay, &s->err);
}

/* The text of a note, with `text.p` NULL when the turn has none of the kind; false when the
** body is cut short. */
static bool find_note(np_str body, unsigned what, np_str *text) {
  *text = (np_str){NULL, 0};
  size_t at = 16;
  while (at < body.n) {
    if (body.n - at < 14) return false;
    const char *p = body.p + at;
    size_t n = (size_t)get_le(p + 10, 4);
    if (body.n - at - 14 < n) return false;
    if (!get_le(p, 8) && (unsigned char)p[8] == what) *text = np_str_of(p + 14, n);
    at += 14 + n;
  }
  return body.n >= 16;
}

#define KEYS_MOST 4096 /* that a turn may have derived: a few are, 64 at a time */

/* Logs of before pin no key: it is derived as it was then. */
static neap_rc lay_pins(neap_session *s, np_str body) {
  np_str key, digest;
  if (!find_note(body, NOTE_KEY, &key) || !find_note(body, NOTE_DIGEST, &digest))
    return damaged(s, "a turn is cut short");
  if (digest.p && digest.n != NP_SHA256) return damaged(s, "a turn's digest is none");
  s->digested = digest.p != NULL;
  if (digest.p) memcpy(s->digest, digest.p, NP_SHA256);
  int64_t rekeys = (int64_t)get_le(body.p, 8);
  neap_rc rc = np_view_sync(&s->pack.view, &s->err);
  if (!rc && key.p) rc = np_pins_key(s, key, rekeys);
  if (!rc && (rekeys < 0 || rekeys > s->rekeys + KEYS_MOST))
    return damaged(s, "a turn has derived more keys than there are");
  while (!rc && s->rekeys < rekeys) rc = np_session_key(s);
  return rc;
}

static neap_rc lay_turn(neap_session *s, np_str account, np_str body) {
  size_t at = 16;
  bool folded = false;
  neap_rc rc = lay_pins(s, body);
  if (rc) return rc;
  s->random = get_le(body.p + 8, 8);
  rc = np_catalogue_seen(s);
  if (!rc) rc = np_catalogue_lay(s);
  np_turn_fetched(s);
  while (!rc && at < body.n) {
    if (body.n - at < 14) return damaged(s, "a turn is cut short");
    const char *p = body.p + at;
    size_t n = (size_t)get_le(p + 10, 4);
    int64_t id = (int64_t)get_le(p, 8);
    const np_entry *en = np_log_entry(&s->log, id);
    folded = folded || (en && en->fold);
    if (body.n - at - 14 < n) return damaged(s, "a turn is cut short");
    np_str text = np_str_of(p + 14, n);
    if (id) rc = lay_entry(s, id, (np_rung)p[8], (unsigned char)p[9], text);
    else if (p[8] == NOTE_LAY) rc = lay_blocks(s, text);
    at += 14 + n;
  }
  if (rc) return rc;
  mark_changed(s, body);
  s->admitted = s->told = s->refuted.known = (int64_t)s->log.entry_count;
  rc = np_relive_turn(s, account, folded);
  np_breaker_turn(s);
  return rc;
}

static neap_rc keep_head(neap_session *s, const np_event *ev, np_str *field) {
  neap_rc rc = np_session_check_head(s, (np_event_kind)ev->kind, ev->body);
  if (rc) return rc;
  if (!np_arena_copy(&s->arena, ev->body, field)) return np_fail_mem(&s->err);
  bool recall = np_str_find(s->tools, NP_LIT("\"neap_read\""), 0) != SIZE_MAX;
  np_buf_clear(&s->toolset);
  return np_pack_tools_set(&s->pack, s->tools, s->request, recall, &s->err);
}

/* The version stands in the head; logs of before have none, and it is the policy's. */
static neap_rc take_old_state(neap_session *s, const np_event *ev) {
  np_json head, v;
  int64_t version = np_policy_state_version(s->policy);
  if (!np_json_check(ev->head, &head, NULL) && np_json_get(head, "version", &v) &&
      v.raw.n < 18) {
    char digits[20] = "";
    memcpy(digits, v.raw.p, v.raw.n);
    version = strtoll(digits, NULL, 10);
  }
  s->state_version = version;
  np_buf_clear(&s->turn_state);
  np_buf_add(&s->turn_state, ev->body);
  return s->turn_state.failed ? np_fail_mem(&s->err) : NEAP_OK;
}

static neap_rc newer(neap_session *s, const np_event *ev) {
  return np_fail(&s->err, NEAP_E_NEWER,
                 "session %s: event %lld is of version %d, this neap reads up to %d; "
                 "update neap",
                 s->name, (long long)ev->seq, (int)ev->version, NP_LOG_VERSION);
}

/* Without it what follows would be another session: it is said, and what stands before remains.
** Of a response only that it came is needed: its messages follow. */
static neap_rc gone(neap_session *s, const np_event *ev) {
  return np_fail(&s->err, NEAP_E_PURGED,
                 "session %s: event %lld was purged by its owner, and the session cannot "
                 "be opened; fork its first %lld events to go on from there",
                 s->name, (long long)ev->seq, (long long)ev->seq - 1);
}

static neap_rc take(neap_session *s, const np_event *ev, bool purged) {
  size_t index;
  if (ev->kind == NP_EV_FILE) {
    neap_rc rc = np_files_take(s, ev, purged);
    if (!rc) np_log_index_note(&s->log);
    return rc;
  }
  if (purged && ev->kind != NP_EV_RESPONSE) return gone(s, ev);
  if (ev->version > NP_LOG_VERSION) return newer(s, ev);
  if (ev->kind != NP_EV_TOOLS && ev->kind != NP_EV_REQUEST && ev->kind != NP_EV_SCHEMA &&
      ev->kind != NP_EV_NOW && np_back_is_void(s, ev->seq))
    return np_void_take(s, ev);
  switch (ev->kind) {
    case NP_EV_TOOLS: {
      neap_rc rc = keep_head(s, ev, &s->tools);
      s->host_tools = s->tools;
      return rc;
    }
    case NP_EV_OPEN: return np_pins_take(s, ev->head);
    case NP_EV_REQUEST: return keep_head(s, ev, &s->request);
    case NP_EV_MESSAGE: {
      neap_rc rc = np_log_append(&s->log, ev->body, &index, &s->err);
      if (!rc) s->log.messages[index].seq = ev->seq;
      if (!rc) np_log_index_note(&s->log);
      if (!rc) rc = np_object_take_state(s, s->log.messages[index].first);
      return rc;
    }
    case NP_EV_SCHEMA: return np_object_take_schema(s, ev->body);
    case NP_EV_PROPOSAL: return np_object_take(s, ev, false);
    case NP_EV_MARK: return np_mark_take(s, ev);
    case NP_EV_ROLLBACK: return np_back_take(s, ev);
    case NP_EV_REFUTE: return np_refuted_take(s, ev);
    case NP_EV_SCRATCH: return np_scratch_take(s, ev, false);
    case NP_EV_PHASE: return np_phase_take(s, ev);
    case NP_EV_CHECK: return np_checks_take(s, ev);
    case NP_EV_ASK:
    case NP_EV_ANSWER:
    case NP_EV_SETTLED: return np_asks_take(s, ev);
    case NP_EV_NOW: return np_now_take(s, ev);
    case NP_EV_POLICY: np_breaker_take(s, ev); return NEAP_OK;
    case NP_EV_NOTE: return np_notes_take(s, ev);
    case NP_EV_USAGE: return np_usage_take(s, ev);
    case NP_EV_TOOLSET:
      np_buf_clear(&s->toolset);
      np_buf_add(&s->toolset, ev->body);
      return s->toolset.failed ? np_fail_mem(&s->err) : NEAP_OK;
    case NP_EV_TURN:
      s->call_message = SIZE_MAX;
      np_buf_clear(&s->faults); /* its account has told them */
      return lay_turn(s, ev->head, ev->body);
    case NP_EV_STATE: return take_old_state(s, ev);
    case NP_EV_RESPONSE: /* its messages follow: calls in them may still wait */
      s->log.fresh = true;
      s->asked_tokens = 0;
      s->call_message = s->log.message_count;
      s->call_at = 0;
      return NEAP_OK;
    default: return NEAP_OK; /* told for readers of the log; nothing to do */
  }
}

static neap_rc take_counted(void *ctx, const np_event *ev, bool purged) {
  neap_session *s = ctx;
  if (s->read_to && ev->seq > s->read_to) return NEAP_E_LIMIT;
  return np_events_take(s, ev, purged);
}

/* What is wrong with a text says nothing of where that stands. */
static neap_rc locate(neap_session *s, const np_event *ev, neap_rc rc) {
  np_err why = s->err;
  if (why.code != rc) return rc; /* who reads stops here */
  return np_fail(&s->err, rc,
                 "session %s, event %lld cannot be read (%s); check the store", s->name,
                 (long long)ev->seq, why.text);
}

neap_rc np_events_take(void *ctx, const np_event *ev, bool purged) {
  neap_session *s = ctx;
  neap_rc rc = take(s, ev, purged);
  switch (rc) {
    case NEAP_E_ARG:
    case NEAP_E_JSON:
    case NEAP_E_UTF8:
    case NEAP_E_SHAPE:
    case NEAP_E_LIMIT: return locate(s, ev, rc);
    default: return rc;
  }
}

neap_rc np_events_resume(neap_session *s) {
  np_store *st = s->engine->store;
  neap_rc rc = st->ops->read(st, np_str_cstr(s->engine->tenant), np_str_cstr(s->name), 1,
                             take_counted, s, &s->err);
  if (rc == NEAP_E_LIMIT && s->read_to && !s->err.code) rc = NEAP_OK;
  if (rc == NEAP_E_REFUSED && s->back.found) { /* what is void is read otherwise */
    rc = np_back_collect(s);
    if (!rc) rc = np_session_restart(s);
    atomic_flag_clear(&s->busy); /* no call is in it: it is being opened */
    return rc;
  }
  return rc ? rc : np_events_end(s);
}

neap_rc np_events_end(neap_session *s) {
  neap_rc rc = np_relive_end(s);
  if (!rc) rc = np_view_sync(&s->pack.view, &s->err);
  if (!rc && s->turn_state.n) {
    np_str state = np_buf_str(&s->turn_state);
    rc = np_policy_take_state(s->policy, state, s->state_version, &s->err);
  }
  s->measured_by = (int64_t)s->log.noted;
  return rc;
}
