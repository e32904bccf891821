/*
** A shadow: a second policy on the messages of a session, which sends nothing. It is a session
** of its own whose log mirrors the live one's: texts, counts and the index of citations are
** shared, and only read; view, rungs, folds, epochs and economy are its own. It takes each turn
** after the live prompt is made, so that nothing of it can be in that. next: turn.c
*/
#include "engine/engine.h"

typedef struct side {
  int64_t turns, tokens, cost, rewrites, overflow, errors;
  np_facts facts;
} side;

struct np_shade {
  bool asks;                      /* somebody answers what it asks */
  bool begun, late;               /* its head is set; it began after the first turn */
  int64_t turn;                   /* the live one that was taken last */
  uint64_t news, stuck;           /* of the live session then; at an overflow */
  size_t measured_live, measured; /* citations that prompts were held against */
  side live, own;                 /* in all */
  np_facts facts_live, facts;     /* used since the last turn */
};

bool np_shadow_is_mute(const neap_session *s) {
  return s->live && !s->shade->asks;
}

/* ---- its life ---- */

void np_shadow_free(neap_session *s) {
  neap_session *t = s->shadow;
  s->shadow = NULL;
  if (!t) return;
  np_free(&s->engine->alloc, t->shade);
  t->shade = NULL;
  np_session_free(t);
}

/* What it could not do is told in the next account; the session goes on without it. */
static void end(neap_session *s, const char *why) {
  np_shadow_free(s);
  np_buf_clear(&s->shadow_end);
  np_buf_adds(&s->shadow_end, "{\"ended\":");
  np_json_quote(&s->shadow_end, np_str_cstr(why));
  np_buf_addc(&s->shadow_end, '}');
}

/* The same settings, another policy. */
static neap_rc open_parts(neap_session *t, const neap_session *s, const char *path,
                          const char *options_json) {
  neap_options o = s->options;
  o.size = sizeof o;
  o.policy = path;
  o.options_json = options_json;
  o.shadow = o.shadow_json = NULL;
  o.flags |= NEAP_NO_LOG | (s->turn ? NEAP_NO_TOOLS : 0);
  neap_rc rc = np_session_options(t, &o);
  if (!rc) rc = np_session_parts(t);
  if (rc) return rc;
  np_view_pair(&t->pack.view, &s->pack.view);
  t->pack.view.model = s->pack.view.model;
  t->model_name = s->model_name;
  t->minimum = s->minimum;
  t->measured = np_cite_count(s->log.cite);
  return NEAP_OK;
}

neap_rc np_shadow_start(neap_session *s, const char *path, const char *options_json,
                        bool asks) {
  const neap_alloc *a = &s->engine->alloc;
  neap_session *t = np_session_new(s->engine, s->name);
  np_shade *d = np_calloc(a, 1, sizeof *d);
  neap_rc rc = t && t->name && d ? NEAP_OK : np_fail_mem(&s->err);
  /* from now on the index is up to date whenever it is read */
  if (!rc && (rc = np_log_index_need(&s->log, &s->err))) s->broken = true;
  if (!rc) {
    *d = (np_shade){.asks = asks,
                    .late = s->turn > 0,
                    .turn = s->turn,
                    .measured = np_cite_count(s->log.cite),
                    .measured_live = np_cite_count(s->log.cite)};
    t->live = s;
    t->shade = d;
    rc = open_parts(t, s, path, options_json);
    if (rc) s->err = t->err;
  }
  if (rc) {
    np_free(a, d);
    if (t) np_session_free(t);
    return rc;
  }
  np_shadow_free(s);
  s->shadow = t;
  return NEAP_OK;
}

neap_rc np_shadow_set(neap_session *s, const char *path, const char *options_json,
                      bool asks) {
  neap_rc rc = np_session_enter(s);
  if (rc) return rc;
  if (path) rc = np_shadow_start(s, path, options_json, asks);
  else np_shadow_free(s);
  /* what could not be made for it says nothing of the session */
  bool broken = s->broken;
  rc = np_session_leave(s, rc);
  s->broken = broken;
  return rc;
}

neap_rc neap_shadow(neap_session *s, const char *path, const char *options_json) {
  return np_shadow_set(s, path, options_json, false);
}

/* ---- facts ---- */

static void add_facts(np_facts *sum, const np_facts *f) {
  sum->cited += f->cited;
  sum->present += f->present;
  sum->noted += f->noted;
  sum->pointed += f->pointed;
  sum->gone += f->gone;
}

/* What was not sent showed nothing. Who else measures the session goes on where he was. */
static neap_rc measure(neap_session *s, size_t *measured, side *sum, np_facts *turn) {
  np_measure m;
  size_t others = s->measured;
  s->measured = *measured;
  neap_rc rc = np_session_measure(s, &m, NULL, NULL);
  *measured = s->measured;
  s->measured = others;
  if (s->overflow) m.facts = (np_facts){.cited = m.facts.cited, .gone = m.facts.cited};
  add_facts(&sum->facts, &m.facts);
  add_facts(turn, &m.facts);
  return rc;
}

/* Holds what the last step used against both of the last prompts. */
static neap_rc look_back(neap_session *s) {
  neap_session *t = s->shadow;
  np_shade *d = t->shade;
  neap_rc rc = np_log_mirror_sync(&t->log, &t->err);
  if (!rc) rc = np_log_index_sync(&t->log, &t->err);
  if (rc) return rc;
  rc = measure(s, &d->measured_live, &d->live, &d->facts_live);
  return rc ? rc : measure(t, &d->measured, &d->own, &d->facts);
}

void np_shadow_before(neap_session *s) {
  if (s->shadow && look_back(s)) end(s, "the shadow ran out of memory");
}

/* ---- a turn ---- */

/* In millionths of one uncached token. */
static int64_t cost_of(const neap_session *s) {
  int64_t read = s->bill.read, written = s->bill.written;
  int64_t rest = np_pack_tokens(&s->pack) - read - written;
  int64_t write =
      s->options.cache == NEAP_CACHE_LONG ? s->cache->write_long : s->cache->write;
  return rest * NP_MILLION + read * s->cache->read + written * write;
}

static void add_turn(side *sum, const neap_session *s, bool sent) {
  sum->turns++;
  sum->errors += s->hook_failures;
  if (!sent) {
    sum->overflow++;
    return;
  }
  sum->tokens += np_pack_tokens(&s->pack);
  sum->cost += cost_of(s);
  sum->rewrites += s->rendered.rewrite;
}

static void add_int(np_buf *b, const char *name, int64_t v) {
  np_buf_adds(b, ",\"");
  np_buf_adds(b, name);
  np_buf_adds(b, "\":");
  np_buf_int(b, v);
}

/* ,"facts":{"cited","gone","gone_more"} */
static void add_gone(np_buf *b, const np_facts *own, const np_facts *live) {
  np_buf_adds(b, ",\"facts\":{\"cited\":");
  np_buf_int(b, own->cited);
  add_int(b, "gone", own->gone);
  add_int(b, "gone_more", own->gone - live->gone);
  np_buf_addc(b, '}');
}

/* The object of one turn. Where one of the two was not sent there is no difference. */
static void add_object(np_buf *b, const neap_session *t, bool live_sent, bool sent) {
  const neap_session *s = t->live;
  const np_shade *d = t->shade;
  np_buf_adds(b, "{\"policy\":");
  np_json_quote(b, np_policy_info_of(t->policy)->name);
  if (sent) {
    add_int(b, "tokens", np_pack_tokens(&t->pack));
    np_account_millionths(b, "cost", cost_of(t));
    add_int(b, "cached", t->rendered.cached);
    add_int(b, "epoch", t->pack.frame.epoch);
    np_buf_adds(b, t->rendered.rewrite ? ",\"rewrite\":true" : ",\"rewrite\":false");
  } else {
    np_buf_adds(b, ",\"overflow\":true");
  }
  if (sent && live_sent) {
    add_int(b, "tokens_more", np_pack_tokens(&t->pack) - np_pack_tokens(&s->pack));
    np_account_millionths(b, "cost_more", cost_of(t) - cost_of(s));
  }
  add_gone(b, &d->facts, &d->facts_live);
  add_int(b, "hook_failures", t->hook_failures);
  np_buf_addc(b, '}');
}

/* Into the account of the turn, and an event with the next that is written. */
static neap_rc tell(neap_session *s, np_str object) {
  np_buf head;
  np_buf *b = &s->account;
  np_err mine = s->err;
  np_buf_init(&head, &s->engine->alloc);
  np_buf_adds(&head, "{\"turn\":");
  np_buf_int(&head, s->turn);
  np_buf_adds(&head, ",\"shadow\":");
  np_buf_add(&head, object);
  np_buf_addc(&head, '}');
  bool ok = !head.failed && np_buf_reserve(b, object.n + 20);
  if (ok && b->n) {
    b->n--; /* its brace */
    np_buf_adds(b, ",\"shadow\":");
    np_buf_add(b, object);
    np_buf_addc(b, '}');
  }
  bool log = ok && !(s->options.flags & NEAP_NO_LOG);
  ok = ok && (!log || !np_session_queue(s, NP_EV_SHADOW, np_buf_str(&head), NP_LIT("")));
  np_buf_free(&head);
  s->err = mine;
  return ok ? NEAP_OK : NEAP_E_MEMORY;
}

/* Tools and members as the host gave them: the engine's own are this policy's to offer. */
static neap_rc take_head(neap_session *t) {
  const neap_session *s = t->live;
  np_shade *d = t->shade;
  if (d->begun) return NEAP_OK;
  d->begun = true;
  t->tools = t->host_tools = d->late ? s->tools : s->host_tools;
  t->request = s->request;
  return np_pack_tools_set(&t->pack, t->tools, t->request, d->late && s->pack.view.recall,
                           &t->err);
}

static neap_rc assemble(neap_session *s) {
  neap_session *t = s->shadow;
  np_shade *d = t->shade;
  t->gauge = s->gauge;
  t->now = s->now;
  t->news += s->news - d->news;
  d->news = s->news;
  t->err = (np_err){0};
  neap_rc rc = take_head(t);
  return rc ? rc : np_turn_assemble(t);
}

/* A turn is taken once, however often it is asked for. */
static bool is_taken(const neap_session *s, neap_rc rc) {
  np_shade *d = s->shadow->shade;
  if (rc) {
    bool taken = d->stuck == s->news + 1;
    d->stuck = s->news + 1;
    return taken;
  }
  bool taken = d->turn == s->turn;
  d->turn = s->turn;
  return taken;
}

static neap_rc take_turn(neap_session *s, bool live_sent) {
  neap_session *t = s->shadow;
  np_buf object;
  neap_rc rc = assemble(s);
  if (rc && rc != NEAP_E_BUDGET && rc != NEAP_E_POLICY) return rc;
  if (rc == NEAP_E_POLICY) t->overflow = true; /* nothing would have been sent */
  add_turn(&t->shade->live, s, live_sent);
  add_turn(&t->shade->own, t, !rc);
  np_buf_init(&object, &s->engine->alloc);
  add_object(&object, t, live_sent, !rc);
  t->shade->facts = t->shade->facts_live = (np_facts){0};
  rc = object.failed ? NEAP_E_MEMORY : tell(s, np_buf_str(&object));
  np_buf_free(&object);
  return rc;
}

void np_shadow_turn(neap_session *s, neap_rc rc) {
  if (rc && rc != NEAP_E_BUDGET) return;
  if (s->shadow && !is_taken(s, rc)) {
    neap_rc made = take_turn(s, !rc);
    if (made == NEAP_E_MEMORY) end(s, "the shadow ran out of memory");
    else if (made) end(s, s->shadow->err.text);
  }
  if (!s->shadow_end.n) return;
  tell(s, np_buf_str(&s->shadow_end));
  np_buf_clear(&s->shadow_end);
}

/* ---- in all ---- */

static void add_side(np_buf *b, const char *name, const side *x, bool last) {
  np_buf_adds(b, ",\"");
  np_buf_adds(b, name);
  np_buf_adds(b, "\":{\"tokens\":");
  np_buf_int(b, x->tokens);
  np_account_millionths(b, "cost", x->cost);
  add_int(b, "epochs", x->rewrites + 1);
  add_int(b, "overflow", x->overflow);
  add_int(b, "hook_failures", x->errors);
  np_buf_adds(b, ",\"facts\":{\"cited\":");
  np_buf_int(b, x->facts.cited);
  add_int(b, "present", x->facts.present);
  add_int(b, "noted", x->facts.noted);
  add_int(b, "pointed", x->facts.pointed);
  add_int(b, "gone", x->facts.gone);
  np_buf_adds(b, last ? "}}}" : "}}");
}

neap_rc neap_shadow_account(neap_session *s, neap_str *json) {
  neap_rc rc = np_session_enter_out(s, json);
  if (rc) return rc;
  *json = NP_LIT("{}");
  neap_session *t = s->shadow;
  if (t && look_back(s)) rc = np_fail_mem(&s->err);
  if (!t || rc) return np_session_leave(s, rc);
  char hex[2 * NP_SHA256];
  np_hex(np_policy_info_of(t->policy)->sha256, NP_SHA256, hex);
  np_buf *b = &t->text;
  np_buf_clear(b);
  np_buf_adds(b, "{\"policy\":");
  np_json_quote(b, np_policy_info_of(t->policy)->name);
  np_buf_adds(b, ",\"policy_sha256\":\"");
  np_buf_add(b, np_str_of(hex, sizeof hex));
  np_buf_adds(b, "\"");
  add_int(b, "turns", t->shade->own.turns);
  add_side(b, "live", &t->shade->live, false);
  add_side(b, "shadow", &t->shade->own, true);
  *json = np_buf_str(b);
  return np_session_leave(s, b->failed ? np_fail_mem(&s->err) : NEAP_OK);
}
