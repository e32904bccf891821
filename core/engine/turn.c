/*
** One turn: reload (reload.c), take in what is new, let the policy speak, make it fit, render, log.
** What a hook asks for counts only when it returns; whatever it does, the last resort still
** fits the prompt. next: economy.c, account.c
*/
#include "engine/engine.h"

#include "text/text.h"

#ifdef NEAP_CHECK
#include "render/check.h"
#endif

void np_hook_say(neap_session *s, np_str text) {
  if (s->hook_errors.n) np_buf_addc(&s->hook_errors, ',');
  np_json_quote(&s->hook_errors, text);
  s->hook_failures++;
}

void np_hook_error(neap_session *s, const np_err *e) {
  np_hook_say(s, np_str_cstr(e->text));
}

#define SAID_MAX ((size_t)64 << 10) /* bytes of a turn's log */

/* What hooks log stands in the account; what is over the cap is left out, and said to be. */
static void take_line(void *session, np_str line) {
  neap_session *s = session;
  if (s->said_cut) return;
  s->said_cut = s->said.n + line.n > SAID_MAX;
  if (s->said.n) np_buf_addc(&s->said, ',');
  np_json_quote(&s->said, s->said_cut ? NP_LIT("(more is left out)") : line);
}

/* A failing hook is noted and the turn goes on, unless the policy says "fail" or is on trial:
** then the one before serves. */
static neap_rc hook_result(neap_session *s, neap_rc rc, const np_err *e) {
  if (!rc) return NEAP_OK;
  if (rc == NEAP_E_MEMORY) {
    s->err = *e;
    return rc;
  }
  np_hook_error(s, e);
  s->breaker.failed = true;
  if (!np_policy_info_of(s->policy)->fail_on_error && !s->previous) return NEAP_OK;
  s->err = *e;
  return NEAP_E_POLICY;
}

/* ---- hooks ---- */

#define ADMIT_FAILURES 3
#define ADMIT_INSTRUCTIONS 20000000 /* as for a load */
#define ADMIT_EACH 2000             /* and for each new entry */

/* Each call has a limit; that many entries came at once must not multiply it. */
static bool admit_goes_on(neap_session *s, int64_t spent, int64_t entries, int failures) {
  np_err e = {0};
  if (failures >= ADMIT_FAILURES) {
    np_fail(&e, NEAP_E_POLICY,
            "admit failed %d times in this turn; "
            "its other new entries are not offered",
            failures);
  } else if (spent > ADMIT_INSTRUCTIONS + ADMIT_EACH * entries) {
    np_fail(&e, NEAP_E_POLICY,
            "admit used %lld instructions in this turn; "
            "its other new entries are not offered; do less at a time",
            (long long)spent);
  } else {
    return true;
  }
  s->breaker.failed = true;
  np_hook_error(s, &e);
  return false;
}

static neap_rc admit_new(neap_session *s) {
  bool has = np_policy_has(s->policy, "admit") && !np_breaker_is_open(s);
  int64_t before = np_policy_spent(s->policy), first = s->admitted;
  neap_rc rc = NEAP_OK;
  int failures = 0;
  for (; !rc && s->admitted < (int64_t)s->log.entry_count; s->admitted++) {
    int64_t id = s->admitted + 1;
    np_err e = {0};
    if (!has || !np_view_at(&s->pack.view, id)->listed) continue;
    neap_rc got = np_policy_admit(s->policy, id, &e);
    failures += got != NEAP_OK;
    rc = hook_result(s, got, &e);
    if (id == (int64_t)s->log.entry_count) continue; /* there are no others */
    has = admit_goes_on(s, np_policy_spent(s->policy) - before, id - first, failures);
  }
  return rc;
}

static neap_rc run_hooks(neap_session *s) {
  np_err e = {0};
  if (np_breaker_is_open(s)) return NEAP_OK;
  neap_rc rc = hook_result(s, np_policy_compact(s->policy, &e), &e);
  if (rc) return rc;
  e = (np_err){0};
  return hook_result(s, np_policy_assemble(s->policy, &e), &e);
}

static bool is_over(const neap_session *s) {
  return np_pack_tokens(&s->pack) > s->pack.budget;
}

/* What is done without a policy. */
static neap_rc default_overflow(neap_session *s) {
  int64_t budget = s->pack.budget;
  np_reason r = {NP_LIT("overflow"), NP_LIT("default overflow")};
  return np_pack_shrink(&s->pack, budget / 10 * 7 + budget % 10 * 7 / 10, r, &s->err);
}

static neap_rc ask_overflow(neap_session *s) {
  np_err e = {0};
  if (np_breaker_is_open(s)) return default_overflow(s);
  int64_t over = np_pack_tokens(&s->pack) - s->pack.budget;
  return hook_result(s, np_policy_overflow(s->policy, over, &e), &e);
}

static neap_rc fit(neap_session *s) {
  if (!is_over(s)) return NEAP_OK;
  neap_rc rc = np_catalogue_settle(s, true); /* tools that are not wanted go first */
  if (rc || !is_over(s)) return rc;
  rc = ask_overflow(s);
  if (!rc && is_over(s)) rc = np_pack_last_resort(&s->pack, &s->err);
  return rc;
}

/* ---- the mark key ---- */

static bool derive_key(const neap_session *s, int64_t n, char key[4]) {
  static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
  uint8_t mac[NP_SHA256];
  np_buf text;
  np_buf_init(&text, &s->engine->alloc);
  np_buf_adds(&text, s->key_name);
  np_buf_addc(&text, '\0');
  np_buf_int(&text, n);
  np_hmac_sha256(np_str_of((const char *)s->engine->secret, NP_SHA256), np_buf_str(&text),
                 mac);
  bool ok = !text.failed;
  np_buf_free(&text);
  uint32_t bits = (uint32_t)mac[0] << 12 | (uint32_t)mac[1] << 4 | mac[2] >> 4;
  for (int i = 0; i < 4; i++) key[i] = digits[bits >> (15 - 5 * i) & 31];
  return ok;
}

/* The next key that no text holds. Twenty bits: a few tries are enough, and a text that held
** them all would be a megabyte of marks; then the last one serves. */
neap_rc np_session_key(neap_session *s) {
  char key[4];
  neap_rc rc = NEAP_OK;
  if (s->next_keys > s->rekeys) {
    s->rekeys = s->next_keys;
    return np_view_rekey(&s->pack.view, s->next_key, &s->err);
  }
  for (int tries = 0; tries < 64; tries++) {
    if (!derive_key(s, s->rekeys++, key)) return np_fail_mem(&s->err);
    rc = np_view_rekey(&s->pack.view, key, &s->err);
    if (rc || !s->pack.view.burnt) break;
  }
  return rc;
}

static bool will_rewrite(const neap_session *s) {
  return np_frame_rewrites(&s->pack.frame, &s->pack.view);
}

/* ---- the turn ---- */

/* Blocks take their places with a rewrite, which fitting may be the first to bring. */
static neap_rc fit_and_lay(neap_session *s) {
  neap_rc rc = NEAP_OK;
  np_verdict v = np_pack_lay(&s->pack, false);
  if (v != NP_NO_MEMORY) rc = fit(s);
  if (!rc && v == NP_SAME) v = np_pack_lay(&s->pack, false);
  if (v == NP_NO_MEMORY) return np_fail_mem(&s->err);
  return rc ? rc : fit(s);
}

static neap_rc fit_with_key(neap_session *s) {
  neap_rc rc = fit_and_lay(s);
  if (rc || !s->pack.view.burnt || !will_rewrite(s)) return rc;
  rc = np_session_key(s);
  return rc ? rc : fit(s);
}

/* Is what the session begins with mostly Chinese? A character says as much as three letters. */
static bool is_chinese(const neap_session *s) {
  size_t han = 0, letters = 0;
  for (size_t i = 0; i < s->log.entry_count; i++) {
    const np_entry *en = &s->log.entries[i];
    if (en->region != NP_REGION_FIXED && en->region != NP_REGION_TASK) continue;
    np_str t = np_str_cut(en->text, 0, 65536);
    for (size_t at = 0, n; at < t.n; at += n) {
      uint32_t c = np_utf8_decode(t.p + at, t.p + t.n, &n);
      han += np_is_cjk(c) ? 1 : 0;
      letters += (c | 32) >= 'a' && (c | 32) <= 'z' ? 1 : 0;
    }
  }
  return 3 * han > letters;
}

/* The engine's tools come with the first prompt or never: schemas begin every prompt. */
static neap_rc offer_tools(neap_session *s) {
  np_buf list;
  np_str kept;
  const np_policy_info *info = np_policy_info_of(s->policy);
  const np_toolset *tools = &s->pack.tools;
  if (s->turn || (s->options.flags & NEAP_NO_TOOLS)) return NEAP_OK;
  bool fetch = info->wants_tools && !tools->recall;
  bool find =
      info->wants_catalogue && tools->count && !np_toolset_has(tools, "neap_tools");
  bool state = info->wants_state && (s->live ? s->live : s)->object.schema &&
               !np_toolset_has(tools, "neap_state");
  bool scratch = info->wants_scratch && !np_toolset_has(tools, "neap_scratch");
  if (!fetch && !find && !state && !scratch) return NEAP_OK;
  np_buf_init(&list, &s->engine->alloc);
  np_offer offer = {fetch, find, state, scratch, info->wants_pointers, is_chinese(s)};
  neap_rc rc = np_tools_schemas(s, s->tools, offer, &list, &s->err);
  if (!rc && !np_arena_copy(&s->arena, np_buf_str(&list), &kept))
    rc = np_fail_mem(&s->err);
  np_buf_free(&list);
  if (!rc) rc = np_session_log(s, NP_EV_TOOLS, NP_LIT(""), kept);
  if (rc) return rc;
  s->tools = kept;
  np_buf_clear(&s->toolset);
  return np_pack_tools_set(&s->pack, s->tools, s->request, fetch || tools->recall,
                           &s->err);
}

/* What the model fetched by the engine's tools is kept: named by its call. */
void np_turn_fetched(neap_session *s) {
  for (int64_t id = s->admitted + 1; id <= (int64_t)s->log.entry_count; id++) {
    const np_entry *en = np_log_entry(&s->log, id);
    bool ours = en->kind == NP_KIND_RESULT && en->pair && np_tools_fetches(en->tool);
    if (ours) np_view_at(&s->pack.view, id)->fetched = true;
  }
}

static neap_rc remember(neap_session *s) {
  np_before *b = &s->before;
  b->admitted = s->admitted;
  b->rekeys = s->rekeys;
  b->random = s->random;
  memcpy(b->key, s->pack.view.key, sizeof b->key);
  np_buf_clear(&b->state);
  return np_policy_state(s->policy, &b->state, &s->err);
}

/* A turn that fails has changed nothing, and the next one asks `admit` again. */
static neap_rc take_back(neap_session *s) {
  np_before *b = &s->before;
  neap_rc rc = np_pack_undo(&s->pack, 0, &s->err);
  if (!rc && s->rekeys != b->rekeys) rc = np_view_rekey(&s->pack.view, b->key, &s->err);
  if (!rc) rc = np_policy_set_state(s->policy, np_buf_str(&b->state), &s->err);
  np_policy_proposals_done(s->policy);
  s->admitted = b->admitted;
  s->rekeys = b->rekeys;
  s->random = b->random;
  return rc;
}

/* A request without a message is one that every provider refuses: nothing has come, or only
** what has nothing in it, or what this format has no place for. */
static neap_rc check_begun(neap_session *s) {
  if (s->pack.view.head) return NEAP_OK;
  if (s->log.message_count)
    return np_fail(
        &s->err, NEAP_E_MISUSE,
        "session \"%s\" has nothing to send: its messages are empty, or nothing "
        "that %s has a place for; append one with a text",
        s->name, s->pack.view.format->name);
  return np_fail(&s->err, NEAP_E_MISUSE,
                 "session \"%s\" has no message yet; append one before the first prompt",
                 s->name);
}

/* Ties the policy to the turn; one that is left out ranks nothing. */
static void attach(neap_session *s) {
  np_turn turn;
  np_economy(s, &turn);
  np_policy_attach(s->policy, &s->pack, &turn, take_line, s);
  if (!np_breaker_is_open(s)) return;
  s->pack.order = NP_ORDER_RANK;
  s->pack.ladder = (np_ladder){0};
  memset(s->pack.bounds, 0, sizeof s->pack.bounds);
  s->pack.rank = NULL;
}

static neap_rc begin(neap_session *s) {
  s->overflow = false;
  s->short_by = 0;
  s->reloads = s->hook_failures = 0;
  s->breaker.failed = false;
  s->pack.budget = np_gauge_budget(&s->gauge, s->window - s->reserve);
  neap_rc rc = np_reload_poll(s);
  if (!rc) rc = offer_tools(s);
  if (!rc) rc = np_prefix_look(s);
  if (!rc) rc = np_pack_begin(&s->pack, &s->err);
  if (!rc) rc = check_begun(s);
  if (!rc) rc = remember(s);
  if (!rc) rc = np_catalogue_seen(s);
  if (!rc) rc = np_asks_expire(s);
  if (!rc) rc = np_refuted_look(s);
  if (rc) return rc;
  np_turn_fetched(s);
  attach(s);
  return NEAP_OK;
}

/* Are the system texts alone more than the budget? No hook can change that. Entries are gone
** through only where their region is above it: a turn costs what is new. */
static bool is_hopeless(const neap_session *s) {
  int64_t n = 0;
  if ((int64_t)s->pack.view.region[NP_REGION_FIXED] <= s->pack.budget) return false;
  for (size_t i = 0; i < s->pack.view.count; i++) {
    if (s->log.entries[i].kind == NP_KIND_SYSTEM)
      n += (int64_t)s->pack.view.shown[i].tokens;
  }
  return n > s->pack.budget;
}

/* Finds how little the prompt could have, which is what the host is told. */
static neap_rc tell_hopeless(neap_session *s) {
  neap_rc rc = np_catalogue_settle(s, true);
  return rc ? rc : np_pack_last_resort(&s->pack, &s->err);
}

/* What the hooks ask for, and then what is needed to make it fit. */
static neap_rc decide(neap_session *s) {
  if (is_hopeless(s)) return tell_hopeless(s);
  neap_rc rc = admit_new(s);
  if (rc) return rc;
  attach(s);
  rc = run_hooks(s);
  if (!rc) rc = np_catalogue_settle(s, false);
  if (!rc) rc = fit_with_key(s);
  return rc ? rc : np_catalogue_settle(s, false);
}

/* The first turn of a version that was swapped in. When a hook of it fails, all is taken back
** and the version before serves the turn, and goes on serving. */
static neap_rc decide_on_trial(neap_session *s) {
  neap_rc rc = decide(s);
  if (rc == NEAP_E_BUDGET || rc == NEAP_E_MEMORY) return rc;
  bool failed = rc != NEAP_OK || s->breaker.failed;
  if (failed) rc = take_back(s);
  if (!rc) rc = np_reload_judge(s, !failed);
  if (rc || !failed) return rc;
  s->err = (np_err){0};
  s->breaker.failed = false;
  attach(s);
  return decide(s);
}

/* Errors of hooks are told once, in the account of the turn or of the next one: a recall hook
** runs between turns. */
static neap_rc make_account(neap_session *s) {
  np_buf_clear(&s->account);
  neap_rc rc = np_turn_account(s, &s->account);
  np_buf_clear(&s->hook_errors);
  np_buf_clear(&s->said);
  s->said_cut = false;
  if (!s->overflow)
    np_buf_clear(&s->warnings); /* else the first prompt's account has them */
  return rc;
}

/* After an overflow the account shows what was tried; then all of it is taken back. */
static neap_rc give_up(neap_session *s, neap_rc why) {
  np_err first = s->err;
  neap_rc rc = NEAP_OK;
  if (why == NEAP_E_MEMORY) return why;
  if (why == NEAP_E_BUDGET) {
    s->overflow = true;
    s->short_by = np_pack_tokens(&s->pack) - s->pack.budget;
    rc = make_account(s);
  }
  if (!rc) rc = take_back(s);
  if (rc) return NEAP_E_MEMORY; /* nothing else can go wrong in taking back */
  s->err = first;
  if (why == NEAP_E_BUDGET) {
    s->stuck = s->news + 1;
    s->stuck_why = first;
  }
  return why;
}

/* After an overflow nothing is tried again until something has changed: a message, an answer,
** tools, the policy. */
static bool is_stuck(neap_session *s, neap_rc *rc) {
  if (!s->stuck) return false;
  *rc = np_reload_poll(s);
  if (*rc) return true;
  if (s->stuck != s->news + 1) {
    s->stuck = 0;
    return false;
  }
  s->err = s->stuck_why;
  *rc = NEAP_E_BUDGET;
  return true;
}

/* A turn that the store has not taken is the one to go on with: it is decided and rendered. */
neap_rc np_turn_assemble(neap_session *s) {
  neap_rc rc = NEAP_OK;
  if (s->unwritten) return np_session_write(s, NULL, 0);
  if (is_stuck(s, &rc)) return rc;
  rc = begin(s);
  if (rc) return rc;
  rc = s->previous ? decide_on_trial(s) : decide(s);
  if (rc) return give_up(s, rc);
  rc = np_frame_render(&s->pack.frame, &s->pack.view, &s->rendered, &s->err);
  if (rc) return rc;
  s->admitted = (int64_t)s->log.entry_count; /* summaries of this turn are not offered */
  np_back_rendered(s);
  rc = s->rendered.rewrite ? NEAP_OK : np_pack_prepare(&s->pack, &s->err);
  if (!rc) rc = np_turn_after(s);
  if (!rc) rc = np_breaker_settle(s);
  if (!rc) rc = np_checks_turn(s);
  if (!rc) rc = make_account(s);
  if (rc) return rc;
  s->told = (int64_t)s->log.entry_count;
  return np_events_turn(s);
}

/* NEAP_DURABLE_BATCH promises that a prompt that was handed out is in the store. */
static neap_rc flush(neap_session *s) {
  np_store *st = s->engine->store;
  if (s->options.durable != NEAP_DURABLE_BATCH) return NEAP_OK;
  neap_rc rc = st->ops->flush(st, &s->err);
  if (!rc || !np_store_waits(s)) return rc;
  s->err = (np_err){0};
  return NEAP_OK;
}

/* Builds for tests look at every prompt: whatever was appended, it must be one that its
** provider takes. The memory is not the host's, whose allocator the tests count. */
static neap_rc check_rules(neap_session *s, np_str body) {
#ifdef NEAP_CHECK
  np_err e = {0};
  const char *format = s->pack.view.format->name;
  neap_rc rc = np_check(&np_alloc_libc, np_str_cstr(format), body, false, &e);
  if (rc)
    return np_fail(&s->err, rc, "a bug of neap: the prompt breaks a rule of %s: %s",
                   format, e.text);
#endif
  (void)s, (void)body;
  return NEAP_OK;
}

neap_rc neap_prompt(neap_session *s, neap_str *body) {
  np_str made = {NULL, 0};
  neap_rc rc = np_session_enter_out(s, body);
  if (rc) return rc;
  np_shadow_before(s);
  rc = np_turn_assemble(s);
  np_shadow_turn(s, rc);
  if (!rc) rc = np_economy_body(s, &made);
  if (!rc) rc = check_rules(s, made);
  if (!rc) rc = flush(s);
  if (!rc) rc = np_store_tell(s);
  if (!rc) {
    s->call_message = SIZE_MAX;
    *body = made;
  }
  return np_session_leave(s, rc);
}

neap_rc neap_account(neap_session *s, neap_str *json) {
  neap_rc rc = np_session_enter_out(s, json);
  if (rc) return rc;
  *json = s->account.n ? np_buf_str(&s->account) : NP_LIT("{}");
  return np_session_leave(s, NEAP_OK);
}
