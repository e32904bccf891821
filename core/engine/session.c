/*
** Sessions: opening, the guard around every call, and appending. A change is in the store
** before it is acknowledged. next: append.c
*/
#include "engine/words.h"

#include "text/text.h"

/* ---- the guard ---- */

neap_rc np_session_enter(neap_session *s) {
  if (!s) return NEAP_E_ARG;
  if (atomic_flag_test_and_set(&s->busy)) {
    np_err e;
    np_fail(&e, NEAP_E_MISUSE,
            "session %s is in use by another thread; use it from one at a time", s->name);
    return np_engine_fail(s->engine, &e);
  }
  s->err = (np_err){0};
  if (!s->broken) return NEAP_OK;
  np_fail(&s->err, NEAP_E_MEMORY, "session %s ran out of memory and must be opened again",
          s->name);
  return np_session_leave(s, NEAP_E_MEMORY);
}

/* Enters with what the host hands over: no text has a NULL pointer, or more bytes than a
** memory. Nothing at all is the empty text. */
neap_rc np_session_enter_text(neap_session *s, neap_str *text) {
  neap_rc rc = np_session_enter(s);
  if (rc) return rc;
  if (!text->p && !text->n) *text = NP_LIT("");
  if (text->p && text->n <= PTRDIFF_MAX) return NEAP_OK;
  rc = np_fail(
      &s->err, NEAP_E_ARG,
      "a text of %zu bytes at %s cannot be; give pointer and length of one string",
      text->n, text->p ? "its place" : "NULL");
  return np_session_leave(s, rc);
}

/* Enters with the place that an answer is for. */
neap_rc np_session_enter_out(neap_session *s, const void *out) {
  neap_rc rc = np_session_enter(s);
  if (rc || out) return rc;
  rc = np_fail(&s->err, NEAP_E_ARG, "the place for the answer is NULL; give one");
  return np_session_leave(s, rc);
}

neap_rc np_session_leave(neap_session *s, neap_rc rc) {
  if (rc == NEAP_E_MEMORY) s->broken = true;
  if (rc && !s->err.code) np_fail(&s->err, rc, "%s", neap_rc_text(rc));
  if (rc) np_engine_fail(s->engine, &s->err);
  atomic_flag_clear(&s->busy);
  return rc;
}

neap_rc np_session_queue(neap_session *s, np_event_kind kind, np_str head, np_str body) {
  void *queue = s->queue;
  np_event ev = {.kind = kind};
  bool ok = np_grow(&s->engine->alloc, &queue, &s->queue_cap, s->queue_count + 1,
                    sizeof(np_event));
  s->queue = queue;
  ok = ok && np_arena_copy(&s->queue_text, head, &ev.head) &&
       np_arena_copy(&s->queue_text, body, &ev.body);
  if (!ok) return np_fail_mem(&s->err);
  s->queue[s->queue_count++] = ev;
  return NEAP_OK;
}

static void forget_queue(neap_session *s) {
  s->queue_count = 0;
  np_arena_clear(&s->queue_text);
}

static np_event *add_events(np_event *to, const np_event *ev, size_t n) {
  if (n) memcpy(to, ev, n * sizeof *ev);
  return to + n;
}

/* Everything that waits and `ev`, in the order of the log: s->batch. */
static bool gather(neap_session *s, const np_event *ev, size_t n, size_t *count) {
  void *batch = s->batch;
  bool ok = np_grow(&s->engine->alloc, &batch, &s->batch_cap, s->queue_count + 2 + n,
                    sizeof(np_event));
  s->batch = batch;
  if (!ok) return false;
  np_event *at = add_events(s->batch, s->queue, s->queue_count);
  if (s->unwritten) {
    np_event turn = {.kind = NP_EV_TURN,
                     .head = np_buf_str(&s->turn_head),
                     .body = np_buf_str(&s->turn_body)};
    np_event state = {.kind = NP_EV_STATE,
                      .head = np_buf_str(&s->state_head),
                      .body = np_buf_str(&s->turn_state)};
    at = add_events(at, &turn, 1);
    at = add_events(at, &state, s->stated ? 0 : 1);
  }
  at = add_events(at, ev, n);
  *count = (size_t)(at - s->batch);
  for (size_t i = 0; i < *count; i++) {
    s->batch[i].version = NP_LOG_VERSION;
    s->batch[i].seq = s->claim.last_seq + 1 + (int64_t)i;
    if (!s->batch[i].head.p) s->batch[i].head = NP_LIT("");
    if (!s->batch[i].body.p) s->batch[i].body = NP_LIT("");
  }
  return true;
}

bool np_session_writes(const neap_session *s) {
  return !(s->engine->flags & NEAP_READONLY) && !(s->options.flags & NEAP_NO_LOG);
}

neap_rc np_session_write(neap_session *s, const np_event *ev, size_t n) {
  np_store *st = s->engine->store;
  size_t k = 0;
  s->news += n;
  if (np_session_writes(s) && !gather(s, ev, n, &k)) return np_fail_mem(&s->err);
  neap_rc rc =
      k ? st->ops->append(st, &s->claim, s->batch, k, s->options.durable, &s->err)
        : NEAP_OK;
  if (rc) return rc;
  forget_queue(s);
  s->stated = s->stated || s->unwritten;
  s->unwritten = false;
  return NEAP_OK;
}

neap_rc np_session_log(neap_session *s, np_event_kind kind, np_str head, np_str body) {
  np_event ev = {.kind = kind, .head = head, .body = body};
  return np_session_write(s, &ev, 1);
}

/* ---- opening ---- */

#define DEFAULT_WINDOW 200000
#define DEFAULT_RESERVE 8000
#define WINDOW_MAX 1000000000000 /* far above any model; sums of it fit everywhere */

int64_t np_session_reserve(int64_t window) {
  return window / 8 < DEFAULT_RESERVE ? window / 8 : DEFAULT_RESERVE;
}

/* Names the figures, so that a wrong setting is found without looking anything up. */
static neap_rc set_window(neap_session *s) {
  int64_t w = s->options.window ? s->options.window : DEFAULT_WINDOW;
  int64_t r = s->options.reserve;
  if (w < 0 || w > WINDOW_MAX) {
    return np_fail(&s->err, NEAP_E_CONFIG,
                   "window %lld is %s; give the model's window in tokens", (long long)w,
                   w < 0 ? "negative" : "out of range");
  }
  if (r < -1) {
    return np_fail(&s->err, NEAP_E_CONFIG, "reserve %lld is negative; use -1 for none",
                   (long long)r);
  }
  if (r == 0) r = np_session_reserve(w);
  if (r < 0) r = 0;
  if (r >= w) {
    return np_fail(
        &s->err, NEAP_E_CONFIG,
        "window %lld minus reserve %lld leaves no room for a prompt; use a larger "
        "window or a smaller reserve",
        (long long)w, (long long)r);
  }
  s->window = w;
  s->reserve = r;
  return NEAP_OK;
}

static neap_rc check_alarm(neap_session *s) {
  double over = s->options.alarm;
  if (over >= -1 && over <= 1) return NEAP_OK; /* no NaN either */
  return np_fail(&s->err, NEAP_E_CONFIG,
                 "alarm must be a share of the budget between 0 and 1, or -1 for none");
}

/* What this version does not know is not left out silently. */
static neap_rc check_known(neap_session *s) {
  if ((unsigned)s->options.durable > NEAP_DURABLE_MEMORY) {
    return np_fail(&s->err, NEAP_E_CONFIG, "durable %d is not known; use one of neap.h",
                   (int)s->options.durable);
  }
  if ((unsigned)s->options.cache > NEAP_CACHE_NONE) {
    return np_fail(&s->err, NEAP_E_CONFIG, "cache %d is not known; use one of neap.h",
                   (int)s->options.cache);
  }
  if (s->options.flags &
      ~(NEAP_NO_RELOAD | NEAP_NO_TOOLS | NEAP_NO_LOG | NEAP_UNCHECKED)) {
    return np_fail(&s->err, NEAP_E_CONFIG, "flags %d are not known; use those of neap.h",
                   s->options.flags);
  }
  return NEAP_OK;
}

static neap_rc keep_cstr(neap_session *s, const char **str) {
  np_str kept;
  if (!*str) return NEAP_OK;
  if (!np_arena_copy(&s->arena, np_str_cstr(*str), &kept)) return np_fail_mem(&s->err);
  *str = kept.p;
  return NEAP_OK;
}

neap_rc np_session_options(neap_session *s, const neap_options *o) {
  if (o)
    memcpy(&s->options, o, o->size < sizeof s->options ? o->size : sizeof s->options);
  if (!s->options.format) s->options.format = "openai";
  neap_rc rc = keep_cstr(s, &s->options.policy);
  if (!rc) rc = keep_cstr(s, &s->options.format);
  if (!rc) rc = keep_cstr(s, &s->options.encoding);
  if (!rc) rc = keep_cstr(s, &s->options.model);
  if (!rc) rc = keep_cstr(s, &s->options.prices);
  if (!rc) rc = keep_cstr(s, &s->options.shadow);
  if (!rc) rc = keep_cstr(s, &s->options.shadow_json);
  if (!rc) rc = keep_cstr(s, &s->options.state_schema);
  if (!rc) rc = keep_cstr(s, &s->options.options_json);
  s->given = s->options;
  return rc;
}

static neap_rc find_format(neap_session *s, const np_format **out) {
  np_buf known;
  *out = np_format_find(np_str_cstr(s->options.format));
  if (*out) return NEAP_OK;
  np_buf_init(&known, &s->engine->alloc);
  for (size_t i = 0; np_format_at(i); i++) {
    np_buf_adds(&known, i ? ", " : "");
    np_buf_adds(&known, np_format_at(i)->name);
  }
  np_str k = np_buf_str(&known);
  np_fail(&s->err, NEAP_E_FORMAT, "format %.40s is not built in; use one of: %.*s",
          s->options.format, (int)k.n, k.p);
  np_buf_free(&known);
  return NEAP_E_FORMAT;
}

/* The model's row decides encoding, factor and window, where the host does not. An encoding
** that is named counts exactly, whatever the model. */
static neap_rc choose_model(neap_session *s, const np_model **out) {
  neap_options *o = &s->options;
  const char *encoding = o->encoding;
  *out = o->model ? np_model_find(np_str_cstr(o->model))
                  : np_model_default(np_str_cstr(o->format));
  if (!*out && !encoding) {
    return np_fail(&s->err, NEAP_E_CONFIG,
                   "model %.60s is not in the table; name the encoding to count by",
                   o->model);
  }
  const np_model *m = *out ? *out : np_model_default(np_str_cstr(o->format));
  s->model_name = o->model ? o->model : encoding ? encoding : m->name;
  if (!encoding) o->encoding = m->encoding;
  if (!o->window && o->model) o->window = m->window;
  np_gauge_init(&s->gauge, encoding || m->exact, m->factor, m->bound);
  *out = m;
  return NEAP_OK;
}

neap_rc np_session_parts(neap_session *s) {
  const np_format *format = NULL;
  const np_model *model = NULL;
  np_str options = np_str_cstr(s->options.options_json);
  neap_rc rc = check_known(s);
  if (!rc) rc = check_alarm(s);
  if (!rc) rc = np_share_open(s);
  if (!rc) rc = find_format(s, &format);
  if (!rc) rc = choose_model(s, &model);
  if (!rc) rc = np_economy_choose(s);
  if (!rc) rc = set_window(s);
  if (!rc)
    rc = np_engine_vocab(s->engine, np_str_cstr(s->options.encoding), &s->vocab, &s->err);
  if (!rc) rc = np_log_init(&s->log, &s->engine->alloc, &s->err);
  if (!rc && s->live) np_log_mirror(&s->log, &s->live->log);
  if (!rc) rc = np_log_index_open(&s->log, &s->err);
  if (!rc) {
    rc = np_pack_init(&s->pack, &s->engine->alloc, &s->log, s->vocab, format,
                      np_gauge_budget(&s->gauge, s->window - s->reserve), &s->err);
  }
  if (!rc) {
    s->pack.view.model = model;
    s->pack.lines = np_refuted_lines;
    s->pack.lines_ctx = s;
    s->pack.view.whole = np_object_whole;
    s->pack.view.whole_ctx = s;
  }
  if (!rc && !s->policy) {
    rc = np_policy_load(&s->engine->alloc, s->options.policy, options, NULL, &s->policy,
                        &s->err);
  }
  if (!rc) rc = np_policy_selftest(s->policy, &s->err);
  if (!rc) s->state_version = np_policy_state_version(s->policy);
  return rc ? rc : np_session_key(s);
}

static void add_member(np_buf *b, const char *name, np_str value) {
  np_buf_adds(b, ",\"");
  np_buf_adds(b, name);
  np_buf_adds(b, "\":");
  np_json_quote(b, value);
}

/* What a prompt depends on besides the events that follow. */
static void add_settings(const neap_session *s, np_buf *b) {
  const np_policy_info *policy = np_policy_info_of(s->policy);
  const char *options = s->options.options_json;
  char hex[2 * NP_SHA256];
  np_hex(policy->sha256, NP_SHA256, hex);
  np_buf_adds(b, "{\"neap\":\"" NEAP_VERSION "\",\"renderer\":");
  np_buf_int(b, NP_RENDERER);
  np_buf_adds(b, ",\"unicode\":\"" NP_UNICODE "\"");
  add_member(b, "format", np_str_cstr(s->options.format));
  add_member(b, "encoding", np_str_cstr(s->options.encoding));
  add_member(b, "vocabulary", np_str_cstr(np_vocab_info(s->vocab)->source));
  add_member(b, "model", np_str_cstr(s->model_name));
  np_buf_adds(b, ",\"factor\":");
  np_buf_int(b, s->gauge.factor);
  np_buf_adds(b, ",\"margin\":");
  np_buf_int(b, np_gauge_margin(&s->gauge, s->window - s->reserve));
  np_buf_adds(b, ",\"window\":");
  np_buf_int(b, s->window);
  np_buf_adds(b, ",\"reserve\":");
  np_buf_int(b, s->reserve);
  add_member(b, "policy", policy->name);
  add_member(b, "policy_sha256", np_str_of(hex, sizeof hex));
  np_economy_settings(s, b);
  np_buf_adds(b, ",\"failures\":");
  np_buf_int(b, s->options.failures);
  np_share_settings(s, b);
  if (s->options.flags & NEAP_UNCHECKED) np_buf_adds(b, ",\"unchecked\":true");
  np_pins_open(s, b);
  np_buf_adds(b, ",\"options\":");
  np_buf_adds(b, options && *options ? options : "{}");
  np_buf_addc(b, '}');
}

/* The body is the policy's text: the log pins what decided. */
static neap_rc log_open(neap_session *s) {
  np_buf head, body;
  np_buf_init(&head, &s->engine->alloc);
  np_buf_init(&body, &s->engine->alloc);
  add_settings(s, &head);
  neap_rc rc = head.failed ? np_fail_mem(&s->err) : NEAP_OK;
  if (!rc) rc = np_policy_sources(s->policy, &body, &s->err);
  if (!rc) rc = np_session_log(s, NP_EV_OPEN, np_buf_str(&head), np_buf_str(&body));
  np_buf_free(&head);
  np_buf_free(&body);
  return rc;
}

static neap_rc claim(neap_session *s) {
  np_store *st = s->engine->store;
  if (s->options.flags & NEAP_NO_LOG) return NEAP_OK;
  return st->ops->claim(st, np_str_cstr(s->engine->tenant), np_str_cstr(s->name),
                        (s->engine->flags & NEAP_READONLY) != 0, &s->claim, &s->err);
}

bool np_session_init(neap_session *s, neap *n, const char *name) {
  s->engine = n;
  s->random = 1;
  s->call_message = SIZE_MAX;
  np_arena_init(&s->arena, &n->alloc);
  np_buf_init(&s->account, &n->alloc);
  np_buf_init(&s->text, &n->alloc);
  np_buf_init(&s->body, &n->alloc);
  np_buf_init(&s->hook_errors, &n->alloc);
  np_buf_init(&s->said, &n->alloc);
  np_buf_init(&s->warnings, &n->alloc);
  np_buf_init(&s->shadow_end, &n->alloc);
  np_buf_init(&s->before.state, &n->alloc);
  np_buf_init(&s->turn_head, &n->alloc);
  np_buf_init(&s->turn_body, &n->alloc);
  np_buf_init(&s->turn_state, &n->alloc);
  np_buf_init(&s->state_head, &n->alloc);
  np_buf_init(&s->usage, &n->alloc);
  np_buf_init(&s->toolset, &n->alloc);
  np_arena_init(&s->queue_text, &n->alloc);
  np_bill_init(&s->bill, &n->alloc);
  np_buf_init(&s->marked, &n->alloc);
  np_arena_init(&s->object.arena, &n->alloc);
  np_buf_init(&s->object.now, &n->alloc);
  np_arena_init(&s->back.arena, &n->alloc);
  np_arena_init(&s->refuted.arena, &n->alloc);
  np_buf_init(&s->refuted.object, &n->alloc);
  np_buf_init(&s->faults, &n->alloc);
  np_arena_init(&s->scratch.arena, &n->alloc);
  np_arena_init(&s->phases.arena, &n->alloc);
  s->stated = true;
  np_str kept;
  s->name = np_arena_copy(&s->arena, np_str_cstr(name), &kept) ? (char *)(uintptr_t)kept.p
                                                               : NULL;
  s->key_name = s->name;
  return s->name != NULL;
}

neap_session *np_session_new(neap *n, const char *name) {
  neap_session *s = np_calloc(&n->alloc, 1, sizeof *s);
  if (!s) return NULL;
  atomic_flag_clear(&s->busy);
  np_session_init(s, n, name);
  return s;
}

static void add_session(neap *n, neap_session *s) {
  mtx_lock(&n->lock);
  s->next = n->sessions;
  n->sessions = s;
  mtx_unlock(&n->lock);
}

/* Names are keys and stand in messages: UTF-8, so that both are the same everywhere. */
static neap_rc check_name(neap *n, const char *name) {
  np_err e = {0};
  np_str s = np_str_cstr(name);
  size_t at = np_utf8_valid(s);
  if (at == s.n) return NEAP_OK;
  np_fail(&e, NEAP_E_ARG,
          "the session's name is not UTF-8 at byte %zu; use a name in UTF-8", at);
  e.pos = at;
  return np_engine_fail(n, &e);
}

neap_rc neap_session_open(neap *n, const char *name, const neap_options *o,
                          neap_session **out) {
  if (out) *out = NULL;
  if (!n || !name || !out) return NEAP_E_ARG;
  neap_rc wrong = check_name(n, name);
  if (wrong) return wrong;
  if (!n->store) return n->error.code ? n->error.code : NEAP_E_MISUSE;
  neap_session *s = np_session_new(n, name);
  if (!s || !s->name) {
    np_err e;
    if (s) neap_session_close(s);
    np_fail_mem(&e);
    return np_engine_fail(n, &e);
  }
  add_session(n, s);
  neap_rc rc = np_session_options(s, o);
  if (!rc) rc = np_session_parts(s);
  if (!rc) rc = claim(s);
  if (!rc && s->claim.last_seq) rc = np_events_resume(s);
  if (!rc) rc = log_open(s);
  if (!rc) rc = np_object_open(s);
  if (!rc && s->options.shadow)
    rc = np_shadow_start(s, s->options.shadow, s->options.shadow_json, false);
  if (rc) {
    np_engine_fail(n, &s->err);
    neap_session_close(s);
    return rc;
  }
  *out = s;
  return NEAP_OK;
}

static void remove_session(neap_session *s) {
  mtx_lock(&s->engine->lock);
  neap_session **at = &s->engine->sessions;
  while (*at && *at != s) at = &(*at)->next;
  if (*at) *at = s->next;
  mtx_unlock(&s->engine->lock);
}

void neap_session_close(neap_session *s) {
  if (!s) return;
  neap *n = s->engine;
  remove_session(s);
  if (n->store) n->store->ops->flush(n->store, NULL);
  if (n->store) np_words_leave(s);
  np_session_free(s);
}

void np_session_clear(neap_session *s) {
  neap *n = s->engine;
  np_shadow_free(s);
  if (s->words) s->words->ops->close(s->words, NULL);
  np_policy_free(s->policy);
  np_policy_free(s->previous);
  if (s->pack.alloc) np_pack_free(&s->pack);
  if (s->log.alloc) np_log_index_close(&s->log);
  if (s->log.alloc) np_log_free(&s->log);
  np_buf_free(&s->account);
  np_buf_free(&s->text);
  np_buf_free(&s->body);
  np_buf_free(&s->hook_errors);
  np_buf_free(&s->said);
  np_buf_free(&s->warnings);
  np_buf_free(&s->shadow_end);
  np_buf_free(&s->before.state);
  np_buf_free(&s->turn_head);
  np_buf_free(&s->turn_body);
  np_buf_free(&s->turn_state);
  np_buf_free(&s->state_head);
  np_buf_free(&s->usage);
  np_buf_free(&s->toolset);
  np_free(&n->alloc, s->queue);
  np_free(&n->alloc, s->fetched);
  np_free(&n->alloc, s->files);
  np_free(&n->alloc, s->batch);
  np_arena_free(&s->queue_text);
  np_bill_free(&s->bill);
  np_buf_free(&s->marked);
  np_object_free(s);
  np_back_free(s);
  np_refuted_free(s);
  np_scratch_free(s);
  np_phase_free(s);
  np_buf_free(&s->faults);
  np_arena_free(&s->arena);
}

void np_session_free(neap_session *s) {
  neap *n = s->engine;
  np_session_clear(s);
  np_free(&n->alloc, s);
}

neap *neap_session_engine(neap_session *s) {
  return s ? s->engine : NULL;
}

/* ---- what the host supplies ---- */

static neap_rc check_head(neap_session *s, np_str json, np_json_type type,
                          const char *what) {
  np_json v;
  neap_rc rc = np_json_check(json, &v, &s->err);
  if (rc) return rc;
  return v.type == type ? NEAP_OK : np_fail(&s->err, NEAP_E_SHAPE, "%s", what);
}

/* What neap writes itself, under whichever name the provider has for it. */
static neap_rc check_members(neap_session *s, np_json members) {
  static const char *const ours[] = {"messages", "input", "contents", "tools"};
  np_json v;
  for (size_t i = 0; i < NP_COUNT(ours); i++) {
    if (!np_json_get(members, ours[i], &v)) continue;
    return np_fail(&s->err, NEAP_E_SHAPE,
                   "messages and tools are the engine's; leave %s out of the request "
                   "members",
                   ours[i]);
  }
  return NEAP_OK;
}

neap_rc np_session_check_head(neap_session *s, np_event_kind kind, np_str json) {
  np_json members;
  if (kind == NP_EV_TOOLS)
    return check_head(s, json, NP_JSON_ARRAY, "tools must be a JSON array of schemas");
  neap_rc rc =
      check_head(s, json, NP_JSON_OBJECT, "request members must be a JSON object");
  if (!rc && !np_json_check(json, &members, NULL)) rc = check_members(s, members);
  return rc;
}

static neap_rc too_late(neap_session *s, const char *what) {
  return np_fail(&s->err, NEAP_E_MISUSE,
                 "%s are set before the first prompt, since they begin it; give the same "
                 "again, or none",
                 what);
}

static neap_rc set_head(neap_session *s, np_str json, np_str *field, np_event_kind kind) {
  np_str kept;
  if (!np_arena_copy(&s->arena, json, &kept)) return np_fail_mem(&s->err);
  neap_rc rc = np_session_log(s, kind, NP_LIT(""), kept);
  if (rc) return rc;
  *field = kept;
  if (kind == NP_EV_TOOLS) s->host_tools = kept;
  /* new tools are without the engine's until the next prompt offers them */
  bool recall = kind != NP_EV_TOOLS && s->pack.view.recall;
  np_buf_clear(&s->toolset);
  return np_pack_tools_set(&s->pack, s->tools, s->request, recall, &s->err);
}

neap_rc neap_set_tools(neap_session *s, neap_str json) {
  bool same = true;
  neap_rc rc = np_session_enter_text(s, &json);
  if (rc) return rc;
  rc = np_session_check_head(s, NP_EV_TOOLS, json);
  if (!rc && s->turn) rc = np_tools_same(s, json, &same);
  else if (!rc) rc = set_head(s, json, &s->tools, NP_EV_TOOLS);
  if (!rc && !same) rc = too_late(s, "tools");
  return np_session_leave(s, rc);
}

neap_rc neap_set_request(neap_session *s, neap_str json) {
  neap_rc rc = np_session_enter_text(s, &json);
  if (rc) return rc;
  rc = np_session_check_head(s, NP_EV_REQUEST, json);
  if (!rc && s->turn)
    rc = np_str_eq(json, s->request) ? NEAP_OK : too_late(s, "request members");
  else if (!rc) rc = set_head(s, json, &s->request, NP_EV_REQUEST);
  return np_session_leave(s, rc);
}
