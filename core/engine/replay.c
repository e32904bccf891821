/*
** A stored session run again. Two sessions read its log side by side: one lays the turns as they
** were decided, the other has the policy decide them again from the same input. The first one's
** prompts must have the digests that the log tells, the second one's must be the first one's.
** Neither writes. next: upkeep.c
*/
#include "engine/stored.h"

typedef struct replay {
  neap *n;
  np_store *st;
  np_str tenant, name;
  neap_session *was, *is;
  np_buf open; /* head and body of the last NP_EV_OPEN that counted */
  int64_t seq; /* of the event that is being read */
  bool skip_shown;
  bool reloaded; /* another policy serves than the one of the last NP_EV_OPEN */
  neap_replayed out;
  np_buf bodies[2]; /* of the turn that differs */
  char cause[480];
  np_err *e;
} replay;

/* ---- settings ---- */

/* A member of an object as a C string in `ar`, or NULL. */
static const char *text_of(np_json head, const char *name, np_arena *ar,
                           const neap_alloc *a) {
  np_json v;
  np_buf b;
  np_str kept = {NULL, 0};
  if (!np_json_get(head, name, &v) || v.type != NP_JSON_STRING) return NULL;
  np_buf_init(&b, a);
  np_json_text(v, &b);
  if (b.failed || !np_arena_copy(ar, np_buf_str(&b), &kept)) kept.p = NULL;
  np_buf_free(&b);
  return kept.p;
}

static int64_t number_of(np_json head, const char *name) {
  np_json v;
  int64_t n = 0;
  if (!np_json_get(head, name, &v) || v.type != NP_JSON_NUMBER || v.raw.n > 15) return 0;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] < '0' || v.raw.p[i] > '9') return 0;
    n = n * 10 + (v.raw.p[i] - '0');
  }
  return n;
}

/* The options that a writer had (the engine's tools came by the log), as the head of its NP_EV_OPEN tells them. An encoding that was
** named counts exactly, one that came with the model by the model's factor. */
static void read_options(np_json head, np_arena *ar, const neap_alloc *a,
                         neap_options *o) {
  np_json prices, options, unchecked;
  np_str kept;
  const char *model = text_of(head, "model", ar, a);
  *o = (neap_options){.size = sizeof *o,
                      .flags = NEAP_NO_RELOAD | NEAP_NO_LOG | NEAP_NO_TOOLS};
  o->format = text_of(head, "format", ar, a);
  o->encoding = text_of(head, "encoding", ar, a);
  o->window = number_of(head, "window");
  o->reserve = number_of(head, "reserve");
  if (!o->reserve) o->reserve = -1;
  const np_model *row = model ? np_model_find(np_str_cstr(model)) : NULL;
  if (row) o->model = model;
  bool by_model = row && o->encoding && strcmp(row->encoding, o->encoding) == 0 &&
                  (row->exact || number_of(head, "factor") != NP_MILLION);
  if (by_model) o->encoding = NULL;
  if (np_json_get(head, "prices", &prices)) {
    o->prices = text_of(prices, "name", ar, a);
    o->cache = (neap_cache)number_of(prices, "marks");
  }
  o->failures = number_of(head, "failures");
  o->state_share = (double)number_of(head, "state_share") / NP_MILLION;
  if (o->state_share <= 0) o->state_share = -1; /* none, or a log of before */
  if (np_json_get(head, "unchecked", &unchecked)) o->flags |= NEAP_UNCHECKED;
  if (np_json_get(head, "options", &options) && np_arena_copy(ar, options.raw, &kept))
    o->options_json = kept.p;
}

static neap_rc pin_policy(neap_session *s, np_str sources) {
  np_policy *p = NULL;
  np_str options = np_str_cstr(s->options.options_json);
  neap_rc rc = np_policy_load_sources(&s->engine->alloc, sources, options, &p, &s->err);
  if (rc) return rc;
  np_policy_free(s->policy);
  s->policy = p;
  s->state_version = np_policy_state_version(p);
  return np_policy_selftest(p, &s->err);
}

/* The options of the policy that is pinned; a restart knows of none. */
static neap_rc keep_settings(neap_session *s, np_str options) {
  np_str kept;
  if (!options.p) return NEAP_OK;
  if (!np_arena_copy(&s->arena, options, &kept)) return np_fail_mem(&s->err);
  s->options.options_json = kept.p;
  return NEAP_OK;
}

/* A session that knows the log up to the event before `ev`, under these settings. */
static neap_rc open_one(replay *r, const np_event *ev, bool rendering,
                        neap_session **out) {
  np_json head;
  neap_options o;
  np_arena ar;
  neap_rc rc = np_json_check(ev->head, &head, r->e);
  if (rc) return rc;
  neap_session *s = np_session_new(r->n, r->name.p);
  if (!s || !s->name) {
    if (s) np_session_free(s);
    return np_fail_mem(r->e);
  }
  np_arena_init(&ar, &r->n->alloc);
  read_options(head, &ar, &r->n->alloc, &o);
  np_str options = np_str_cstr(o.options_json);
  o.options_json = NULL; /* of the policy that is pinned, not of the empty one */
  rc = np_session_options(s, &o);
  if (!rc) rc = np_session_parts(s);
  if (!rc) rc = keep_settings(s, options);
  if (!rc) rc = pin_policy(s, ev->body);
  s->rendering = rendering;
  s->read_to = ev->seq - 1; /* where reading stops */
  if (!rc && s->read_to) rc = np_events_resume(s);
  if (!rc) rc = keep_settings(s, options);
  if (!rc) rc = np_events_take(s, ev, false);
  if (rc) *r->e = s->err;
  np_arena_free(&ar);
  if (!rc) *out = s;
  else np_session_free(s);
  return rc;
}

/* Without what differs from one opening to the next and decides nothing: the mark key. */
static void add_settings(np_str head, np_buf *out) {
  size_t key = np_str_find(head, NP_LIT(",\"session\":"), 0);
  if (key == SIZE_MAX) key = head.n;
  size_t options = np_str_find(head, NP_LIT(",\"options\":"), key);
  np_buf_add(out, np_str_cut(head, 0, key));
  np_buf_add(out, np_str_cut(head, options == SIZE_MAX ? head.n : options, head.n));
}

static neap_rc take_open(replay *r, const np_event *ev) {
  np_buf now;
  np_buf_init(&now, &r->n->alloc);
  add_settings(ev->head, &now);
  np_buf_addc(&now, '\n');
  np_buf_add(&now, ev->body);
  bool same = r->is && !r->reloaded && np_str_eq(np_buf_str(&now), np_buf_str(&r->open));
  np_buf_free(&r->open);
  r->open = now;
  if (now.failed) return np_fail_mem(r->e);
  /* who reads a log back knows of no ask that was given up before it was written */
  if (same) r->is->asked = r->was->asked;
  if (same) return NEAP_OK;
  if (r->was) np_session_free(r->was);
  if (r->is) np_session_free(r->is);
  r->was = r->is = NULL;
  r->reloaded = false;
  neap_rc rc = open_one(r, ev, true, &r->was);
  return rc ? rc : open_one(r, ev, false, &r->is);
}

/* ---- what differs ---- */

static bool tells(np_str open, const char *name, const char *mine) {
  np_err text;
  np_fail(&text, NEAP_OK, "\"%s\":%s", name, mine);
  return np_str_find(open, np_str_cstr(text.text), 0) != SIZE_MAX;
}

/* The pinned thing that is another here, if there is one. */
static const char *other_pin(const replay *r) {
  np_str open = np_buf_str(&r->open);
  np_err number;
  np_fail(&number, NEAP_OK, "%d", NP_RENDERER);
  if (!tells(open, "neap", "\"" NEAP_VERSION "\""))
    return "another version of neap wrote it";
  if (!tells(open, "renderer", number.text)) return "another renderer made its prompts";
  if (!tells(open, "unicode", "\"" NP_UNICODE "\""))
    return "its Unicode tables were others";
  np_buf b;
  np_buf_init(&b, &r->n->alloc);
  np_json_quote(&b, np_str_cstr(np_vocab_info(r->is->vocab)->source));
  np_buf_addc(&b, '\0');
  bool same = b.failed || tells(open, "vocabulary", b.p);
  np_buf_free(&b);
  return same ? NULL : "its vocabulary was another";
}

static void say_cause(replay *r, const char *what) {
  np_err text;
  const char *pin = r->is ? other_pin(r) : NULL;
  np_fail(&text, NEAP_OK, "%s%s%s", pin ? pin : what, pin ? ": " : "", pin ? what : "");
  memcpy(r->cause, text.text, sizeof r->cause);
}

/* NEAP_E_LIMIT ends the reading. */
static neap_rc differs(replay *r, np_str was, np_str is, const char *what) {
  np_buf_clear(&r->bodies[0]);
  np_buf_clear(&r->bodies[1]);
  np_buf_add(&r->bodies[0], was);
  np_buf_add(&r->bodies[1], is);
  if (r->bodies[0].failed || r->bodies[1].failed) return np_fail_mem(r->e);
  size_t at = 0;
  while (at < was.n && at < is.n && was.p[at] == is.p[at]) at++;
  r->out.turn = r->was->turn;
  r->out.at = at;
  say_cause(r, what);
  return NEAP_E_LIMIT;
}

/* ---- events ---- */

static neap_rc take_turn(replay *r, const np_event *ev) {
  uint8_t digest[NP_SHA256];
  np_str was, is = NP_LIT("");
  neap_rc rc = np_events_take(r->was, ev, false);
  if (!rc) rc = np_economy_body(r->was, &was);
  if (rc) {
    *r->e = r->was->err;
    return rc;
  }
  np_pins_digest(r->was, digest);
  if (r->was->digested && memcmp(digest, r->was->digest, NP_SHA256) != 0)
    return differs(
        r, was, is,
        "what its log says was decided makes another prompt than the one that was "
        "sent, which is not kept");
  r->out.unpinned += !r->was->digested;
  memcpy(r->is->next_key, r->was->pack.view.key, NP_KEY);
  r->is->next_keys = r->was->rekeys;
  rc = np_turn_assemble(r->is);
  if (!rc) rc = np_economy_body(r->is, &is);
  if (rc == NEAP_E_MEMORY) return np_fail_mem(r->e);
  if (rc) return differs(r, was, NP_LIT(""), r->is->err.text);
  r->is->call_message = SIZE_MAX;
  if (!np_str_eq(was, is))
    return differs(
        r, was, is,
        "the policy decides otherwise from the same input; a hook may have been "
        "ended by the clock");
  r->out.same++;
  return NEAP_OK;
}

static neap_rc take_policy(replay *r, const np_event *ev) {
  np_json head, result;
  np_policy *fresh = NULL;
  neap_session *s = r->is;
  if (np_json_check(ev->head, &head, NULL) || !np_json_get(head, "result", &result) ||
      !np_str_is(result.raw, "\"loaded\"") || ev->body.n == 0)
    return NEAP_OK;
  r->reloaded = true;
  np_str options = np_str_cstr(s->options.options_json);
  neap_rc rc = np_policy_load_sources(&r->n->alloc, ev->body, options, &fresh, r->e);
  if (!rc) rc = np_policy_migrate(fresh, s->policy, r->e);
  if (!rc) rc = np_policy_selftest(fresh, r->e);
  if (rc) {
    np_policy_free(fresh);
    return rc;
  }
  rc = np_reload_swap(s, fresh);
  if (rc) *r->e = s->err;
  return rc;
}

/* What a policy has asked for in its turn comes again with that turn. */
static bool is_policys(np_str head) {
  return np_str_find(head, NP_LIT("\"who\":\"policy\""), 0) != SIZE_MAX;
}

/* And with it the entry that shows it: a version's, or what was passed. */
static bool is_shown(const np_event *ev) {
  if (ev->kind == NP_EV_SCRATCH)
    return np_str_find(ev->head, NP_LIT("\"op\":\"pass\""), 0) == 1 &&
           np_str_find(ev->head, NP_LIT("\"entry\":0,"), 0) == SIZE_MAX;
  return ev->kind == NP_EV_PROPOSAL &&
         np_str_find(ev->head, NP_LIT("\"refused\":true"), 0) == SIZE_MAX;
}

/* What a turn makes by itself is not given to who makes it again. */
static bool is_input(replay *r, const np_event *ev) {
  bool shown = r->skip_shown && (ev->kind == NP_EV_MESSAGE || ev->kind == NP_EV_PROPOSAL);
  if (shown && ev->kind == NP_EV_PROPOSAL) return false; /* of a patch that was passed */
  r->skip_shown = false;
  switch (ev->kind) {
    case NP_EV_NOTE:
    case NP_EV_ASK:
    case NP_EV_SETTLED:
    case NP_EV_STATE:
    case NP_EV_TOOLSET:
    case NP_EV_SHADOW: return false;
    case NP_EV_PROPOSAL:
    case NP_EV_SCRATCH:
    case NP_EV_PHASE:
      r->skip_shown = is_policys(ev->head) && is_shown(ev);
      return !is_policys(ev->head);
    default: return !shown;
  }
}

/* As it went: the session is derived anew from what is not void, with the policy that serves, whose
** decisions up to there the log holds. */
static neap_rc go_back(replay *r, neap_session *s, const np_event *ev) {
  np_buf options;
  np_buf_init(&options, &r->n->alloc);
  np_buf_adds(&options, s->options.options_json ? s->options.options_json : "");
  s->read_to = ev->seq;
  s->back.found = ev->seq;
  neap_rc rc = options.failed ? np_fail_mem(&s->err) : np_back_collect(s);
  if (!rc) rc = np_session_restart(s);
  if (!rc && options.n) rc = keep_settings(s, np_buf_str(&options));
  if (rc) *r->e = s->err;
  np_buf_free(&options);
  return rc;
}

static neap_rc take_rollback(replay *r, const np_event *ev) {
  neap_rc rc = go_back(r, r->was, ev);
  return rc ? rc : go_back(r, r->is, ev);
}

static neap_rc take(void *ctx, const np_event *ev, bool purged) {
  replay *r = ctx;
  r->seq = ev->seq;
  if (purged && ev->kind != NP_EV_FILE)
    return np_fail(
        r->e, NEAP_E_PURGED,
        "event %lld of session %s was purged; what came from it cannot be made "
        "again",
        (long long)ev->seq, r->name.p);
  if (ev->kind == NP_EV_OPEN) return take_open(r, ev);
  if (!r->is)
    return np_fail(r->e, NEAP_E_CORRUPT, "session %s does not begin with its settings",
                   r->name.p);
  if (ev->kind == NP_EV_TURN) return take_turn(r, ev);
  if (ev->kind == NP_EV_ROLLBACK) return take_rollback(r, ev);
  neap_rc rc = np_events_take(r->was, ev, purged);
  if (rc) {
    *r->e = r->was->err;
    return rc;
  }
  if (ev->kind == NP_EV_POLICY) return take_policy(r, ev);
  if (!is_input(r, ev)) return NEAP_OK;
  r->is->news++;
  rc = np_events_take(r->is, ev, purged);
  if (rc) *r->e = r->is->err;
  return rc;
}

neap_rc neap_session_replay(neap *n, const char *name, neap_replay_fn fn, void *ctx) {
  np_err e = {0};
  np_claim look;
  if (!n || !name || !fn) return NEAP_E_ARG;
  replay r = {.n = n,
              .tenant = np_str_cstr(n->tenant),
              .name = np_str_cstr(name),
              .out = {.cause = ""},
              .e = &e};
  np_buf_init(&r.open, &n->alloc);
  for (int i = 0; i < 2; i++) np_buf_init(&r.bodies[i], &n->alloc);
  neap_rc rc = np_stored_store(n, &r.st, &e);
  if (!rc) rc = r.st->ops->claim(r.st, r.tenant, r.name, true, &look, &e);
  if (!rc) rc = r.st->ops->read(r.st, r.tenant, r.name, 1, take, &r, &e);
  if (rc == NEAP_E_LIMIT && r.out.turn) rc = NEAP_OK;
  if (!rc) {
    r.out.was = np_buf_str(&r.bodies[0]);
    r.out.is = np_buf_str(&r.bodies[1]);
    r.out.cause = r.cause;
    fn(ctx, &r.out);
  }
  if (r.was) np_session_free(r.was);
  if (r.is) np_session_free(r.is);
  np_buf_free(&r.open);
  for (int i = 0; i < 2; i++) np_buf_free(&r.bodies[i]);
  return rc ? np_engine_fail(n, &e) : NEAP_OK;
}
