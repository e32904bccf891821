/*
** Shadows on random histories, in every form and format: the live prompts are the same bytes
** with and without one, and a shadow's prompts are those that its policy would have sent. Bad
** ones, ones that start late, stop or run out of memory harm nothing. next: test_reload.c
*/
#include "session.h"

#include "engine/engine.h"
#include "history.h"
#include "shipped.h"

/* Folds by asking, and counts in its state what it was told. */
static const char folding[] =
    "return { api = 1, tools = { 'recall', 'read' }, compact = function(ctx)\n"
    "  local old = ctx:span { from = 1, before = ctx.step - 2 }\n"
    "  if old.steps < 3 then return end\n"
    "  local t = ctx:summarize(old)\n"
    "  ctx.state.told = (ctx.state.told or 0) + (t and 1 or 0)\n"
    "  if t then ctx:fold(old, t) end\n"
    "end }\n";

/* Everything that a hook can see, in its decisions. */
static const char looking[] =
    "return { api = 1, order = 'value', rank = function(ctx, e)\n"
    "  return 1 + e.citations + e.identifiers + 1 / e.since_cited + e.age % 7 + "
    "(e.repeated_by or 0) % 5 end,\n"
    "assemble = function(ctx)\n"
    "  if ctx.tokens > ctx.economy.height then ctx:shrink(ctx.economy.floor) end\n"
    "  for e in ctx:entries { kind = 'result', before = ctx.step - 4 } do\n"
    "    if ctx.random(4) == 1 then e:trim { tokens = 60 } end\n"
    "  end end }\n";

static const char hostile[] =
    "return { api = 1, admit = function() error 'a' end, overflow = function() while "
    "true "
    "do end end, compact = function(ctx) ctx:ask { prompt = 'x' } error 'c' end }\n";

typedef struct play {
  const char *policy, *shadow, *format;
  int form, messages;
  int start, stop; /* messages before it starts, and is stopped; stop 0: never */
  unsigned long long seed;
  int64_t window;
  bool deaf; /* nobody answers the shadow */
  np_buf bodies, shadow_bodies;
  int turns, shadow_turns, failed;
} play;

static void answer(neap_session *s) {
  neap_ask a;
  char text[120], hex[2 * NP_SHA256];
  uint8_t sha[NP_SHA256];
  if (!neap_ask_next(s, &a)) return;
  np_sha256(a.text, sha);
  np_hex(sha, NP_SHA256, hex);
  for (size_t i = 0; i < 12; i++) hex[i] = (char)('a' + hex[i] % 26); /* no number */
  snprintf(text, sizeof text, "- [step 1] noted %.12s", hex);
  CHECK("an answer is taken", !neap_answer(s, a.id, np_str_cstr(text)));
}

static void add_line(np_buf *b, np_str text) {
  np_buf_add(b, text);
  np_buf_addc(b, '\n');
}

static void take_turn(play *p, neap_session *s) {
  neap_str body = NP_LIT("");
  neap_rc rc = neap_prompt(s, &body);
  CHECK("a prompt or no room for one", rc == NEAP_OK || rc == NEAP_E_BUDGET);
  if (rc && rc != NEAP_E_BUDGET) fprintf(stderr, "%s\n", neap_error(s->engine));
  add_line(&p->bodies, rc ? NP_LIT("overflow") : body);
  p->turns++;
  answer(s);
  if (!s->shadow) return;
  np_str sent = NP_LIT("overflow");
  if (!s->shadow->overflow) np_economy_body(s->shadow, &sent);
  add_line(&p->shadow_bodies, sent);
  p->shadow_turns++;
  p->failed += s->shadow->hook_failures > 0;
  if (!p->deaf) answer(s->shadow);
}

static void play_run(play *p) {
  history h = {.random = p->seed, .form = p->form};
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o,
                    .policy = p->policy,
                    .window = p->window,
                    .format = p->format,
                    .flags = NEAP_NO_RELOAD};
  neap *n = engine_open(":memory:");
  np_buf_init(&h.b, &np_alloc_libc);
  np_buf_init(&p->bodies, &np_alloc_libc);
  np_buf_init(&p->shadow_bodies, &np_alloc_libc);
  if (neap_session_open(n, "run", &o, &s)) {
    fprintf(stderr, "%s\n", neap_error(n));
    exit(2);
  }
  unsigned long long beat = p->seed;
  bool begun = false;
  for (int i = 0; i < p->messages; i++) {
    if (p->shadow && i == p->start) {
      neap_rc rc = np_shadow_start(s, p->shadow, NULL, !p->deaf);
      if (rc) fprintf(stderr, "%s: %s\n", p->shadow, s->err.text);
      CHECK("a shadow starts", rc == NEAP_OK);
    }
    if (p->stop && i == p->stop) CHECK("and stops", !neap_shadow(s, NULL, NULL));
    neap_append(s, history_next(&h, i));
    begun = begun || s->log.begun;
    if (begun && check_random(&beat) % 3 == 0 && s->log.entry_count > 2) take_turn(p, s);
  }
  np_buf_free(&h.b);
  neap_close(n);
}

static void play_free(play *p) {
  np_buf_free(&p->bodies);
  np_buf_free(&p->shadow_bodies);
}

static bool same(const np_buf *a, const np_buf *b) {
  return np_str_eq(np_buf_str(a), np_buf_str(b));
}

static void say_first(const play *p, const np_buf *a, const np_buf *b) {
  size_t i = 0;
  while (i < a->n && i < b->n && a->p[i] == b->p[i]) i++;
  size_t from = i > 60 ? i - 60 : 0;
  fprintf(stderr, "%s beside %s, %s, form %d, seed %llu: at %zu of %zu and %zu\n",
          p->shadow, p->policy, p->format, p->form, p->seed, i, a->n, b->n);
  fprintf(stderr, "  %.*s\n  %.*s\n", (int)(a->n - from < 160 ? a->n - from : 160),
          a->p + from, (int)(b->n - from < 160 ? b->n - from : 160), b->p + from);
}

/* The live prompts do not know of it. */
static void check_unseen(const play *with) {
  play without = *with;
  without.shadow = NULL;
  play_run(&without);
  if (!same(&with->bodies, &without.bodies))
    say_first(with, &with->bodies, &without.bodies);
  CHECK("the same prompts with and without a shadow",
        same(&with->bodies, &without.bodies));
  play_free(&without);
}

/* What it would have sent is what its policy sends when it is the live one. */
static void check_true(const play *with) {
  play alone = *with;
  alone.policy = with->shadow;
  alone.shadow = NULL;
  alone.turns = 0;
  play_run(&alone);
  if (!same(&with->shadow_bodies, &alone.bodies))
    say_first(with, &with->shadow_bodies, &alone.bodies);
  CHECK("a shadow decides as it would alone", same(&with->shadow_bodies, &alone.bodies));
  CHECK("in every turn", with->shadow_turns == alone.turns && alone.turns > 0);
  play_free(&alone);
}

static void test_same(int rounds) {
  static const char *const formats[] = {"openai", "anthropic", "responses", "gemini",
                                        "text"};
  unsigned long long seed = check_seed(20261130);
  shipped all = shipped_policies();
  const char *policies[SHIPPED_MOST + 3];
  size_t count = all.count;
  for (size_t i = 0; i < count; i++) policies[i] = all.path[i];
  policies[count++] = policy_file("folding.lua", folding);
  policies[count++] = policy_file("looking.lua", looking);
  policies[count++] = policy_file("hostile.lua", hostile);
  for (int i = 0; i < rounds; i++) {
    play p = {.policy = policies[check_random(&seed) % count],
              .shadow = policies[check_random(&seed) % count],
              .format = formats[i % 5],
              .form = (int)(check_random(&seed) % 5),
              .messages = 10 + (int)(check_random(&seed) % 60),
              .window = 3000 + (int64_t)(check_random(&seed) % 6000)};
    p.seed = check_random(&seed);
    play_run(&p);
    check_unseen(&p);
    check_true(&p);
    play_free(&p);
    p = (play){.policy = p.policy,
               .shadow = p.shadow,
               .format = p.format,
               .form = p.form,
               .messages = p.messages,
               .window = p.window,
               .seed = p.seed,
               .start = p.messages / 3,
               .stop = i % 2 ? p.messages * 2 / 3 : 0,
               .deaf = i % 3 == 0};
    play_run(&p);
    check_unseen(&p);
    play_free(&p);
  }
}

/* ---- a scripted session: results that repeat lines, responses that follow each other ---- */

static neap_str items(int i, bool call) {
  char text[400];
  snprintf(text, sizeof text,
           "{'output':[{'type':'message','role':'assistant','content':[{'type':'"
           "output_text','text':'step %d, src/f%d.c'}]}%s",
           i, i % 4, call ? "" : "]}");
  json(text);
  if (!call) return np_buf_str(&made);
  snprintf(text, sizeof text,
           ",{\"type\":\"function_call\",\"call_id\":\"c%d\",\"name\":\"read\","
           "\"arguments\":\"{\\\"path\\\":\\\"src/f%d.c\\\"}\"}]}",
           i, i % 4);
  np_buf_adds(&made, text);
  return np_buf_str(&made);
}

static void script(play *p) {
  neap_session *s = NULL;
  neap_call c;
  neap_options o = {.size = sizeof o,
                    .policy = p->policy,
                    .window = p->window,
                    .format = p->format,
                    .flags = NEAP_NO_RELOAD};
  neap *n = engine_open(":memory:");
  np_buf_init(&p->bodies, &np_alloc_libc);
  np_buf_init(&p->shadow_bodies, &np_alloc_libc);
  if (neap_session_open(n, "run", &o, &s)) exit(2);
  if (p->shadow) CHECK("a shadow starts", !np_shadow_start(s, p->shadow, NULL, true));
  append(s, "{'role':'user','content':'repair src/f1.c'}");
  for (int i = 0; i < p->messages; i++) {
    take_turn(p, s);
    CHECK("a response is taken", !neap_append_response(s, items(i, i % 3 != 0)));
    while (neap_next_call(s, &c)) {
      np_buf out;
      np_buf_init(&out, &np_alloc_libc);
      for (int k = 0; k < 30; k++) {
        np_buf_adds(&out, "line ");
        np_buf_int(&out, k * 7 + i % 2);
        np_buf_adds(&out, " of value_");
        np_buf_int(&out, i % 4 * 100 + k);
        np_buf_adds(&out, "\n");
      }
      CHECK("a result is taken", !neap_append_result(s, &c, np_buf_str(&out)));
      np_buf_free(&out);
    }
  }
  p->failed = (int)s->log.fold_count;
  neap_str all;
  if (s->shadow && !neap_shadow_account(s, &all)) {
    CHECK("as many steps", s->shadow->log.step == s->log.step);
    CHECK("none of the live summaries",
          s->shadow->log.entry_count - s->shadow->log.fold_count ==
              s->log.entry_count - s->log.fold_count);
  }
  neap_close(n);
}

/* Whatever a hook can know of an entry is the same, ids of others too, though the live session
** has summaries among its entries. */
static void test_script(void) {
  static const char telling[] =
      "return { api = 1, assemble = function(ctx)\n"
      "  for e in ctx:entries { at = 'full', before = ctx.step - 1 } do\n"
      "    local sum = e.citations * 3 + e.identifiers + e.since_cited + e.id + "
      "e.message + "
      "e.full_tokens\n"
      "    if e.kind == 'result' and e.repeated_by then\n"
      "      if (e.repeated_by + e.id) % 3 > 0 then e:mask('again in ' .. e.repeated_by) "
      "end\n"
      "    elseif e.kind ~= 'result' and sum % 3 == 0 then e:mask(('sum "
      "%d'):format(sum)) "
      "end\n"
      "  end end }\n";
  const char *policies[] = {policy_file("folding.lua", folding),
                            policy_file("telling.lua", telling),
                            policy_file("looking.lua", looking)};
  static const char *const formats[] = {"responses", "openai", "text"};
  for (size_t i = 0; i < 27; i++) {
    play p = {.policy = policies[i % 3],
              .shadow = policies[i / 3 % 3],
              .format = formats[i / 9],
              .messages = 24,
              .window = 6000};
    script(&p);
    CHECK("the live one folds when it should", (p.failed > 0) == (i % 3 == 0));
    play alone = p;
    alone.policy = p.shadow;
    alone.shadow = NULL;
    alone.turns = 0;
    script(&alone);
    if (!same(&p.shadow_bodies, &alone.bodies))
      say_first(&p, &p.shadow_bodies, &alone.bodies);
    CHECK("a shadow decides as it would alone", same(&p.shadow_bodies, &alone.bodies));
    CHECK("in every turn", p.shadow_turns == alone.turns);
    play_free(&p);
    play_free(&alone);
  }
}

/* ---- what is told ---- */

static int64_t shadow_number(neap_str account, const char *key) {
  np_json root, v;
  if (np_json_check(account, &root, NULL) || !np_json_get(root, "shadow", &v)) return -1;
  return number(v.raw, key);
}

static neap_rc count_events(void *ctx, const np_event *ev, bool purged) {
  (void)purged;
  if (ev->kind == NP_EV_SHADOW) {
    ++*(int *)ctx;
    CHECK("an event says of which turn", has(ev->head, "{\"turn\":"));
    CHECK("and what", has(ev->head, "\"tokens\":") && has(ev->head, "\"cost\":"));
  }
  return NEAP_OK;
}

static void test_told(void) {
  np_err e;
  neap_str all;
  int events = 0;
  int64_t tokens = 0, live = 0;
  neap *n = engine_open(":memory:");
  neap_session *s =
      session_open(n, "t", policy_file("folding.lua", folding), 6000, "openai");
  CHECK("none yet", !neap_shadow_account(s, &all) && np_str_is(all, "{}"));
  CHECK("a policy that does not load is refused",
        neap_shadow(s, policy_file("bad.lua", "return {"), NULL) == NEAP_E_POLICY);
  CHECK("with its line", has(np_str_cstr(neap_error(n)), "bad.lua:1:"));
  CHECK("an option that is not known, too",
        neap_shadow(s, "policies/tide.lua", "{\"nothing\":1}") == NEAP_E_POLICY);
  CHECK("a good one starts",
        !neap_shadow(s, "policies/mask_observations.lua", "{\"keep\":1}"));
  append(s, "{'role':'user','content':'u'}");
  for (int i = 0; i < 9; i++) {
    round_trip(s, i, 1, 60, NULL);
    neap_str a = account(s);
    int64_t own = shadow_number(a, "tokens"), more = shadow_number(a, "tokens_more");
    CHECK("the account has the shadow's tokens",
          own > 0 && own - more == number(a, "tokens"));
    tokens += own;
    live += number(a, "tokens");
  }
  append(s, "{'role':'user','content':'it was src/file.c 0 100'}");
  CHECK("there are totals", !neap_shadow_account(s, &all));
  np_json root, v;
  np_json_check(all, &root, NULL);
  CHECK("which add up", number(all, "turns") == 9 && np_json_get(root, "shadow", &v) &&
                            number(v.raw, "tokens") == tokens &&
                            np_json_get(root, "live", &v) &&
                            number(v.raw, "tokens") == live);
  CHECK("its policy is named", has(all, "\"policy\":\"mask_observations\""));
  n->store->ops->read(n->store, NP_LIT(""), NP_LIT("t"), 1, count_events, &events, &e);
  CHECK("the log has a line a turn", events == 9);
  CHECK("it stops", !neap_shadow(s, NULL, NULL) && !neap_shadow(s, NULL, NULL));
  prompt(s);
  CHECK("and is told no more", !has(account(s), "\"shadow\""));
  neap_close(n);
}

/* In the options, from the first turn on; its asks are refused, which it sees. */
static void test_option(void) {
  neap_session *s = NULL;
  neap *n = engine_open(":memory:");
  neap_options o = {.size = sizeof o, .window = 6000, .flags = NEAP_NO_RELOAD};
  o.shadow = policy_file("asks.lua", "return { api = 1, compact = function(ctx)\n"
                                     "  local t, why = ctx:ask { prompt = 'x' }\n"
                                     "  if not t then ctx.state.why = why end end }\n");
  CHECK("a session with a shadow", !neap_session_open(n, "o", &o, &s));
  append(s, "{'role':'user','content':'u'}");
  neap_ask a;
  round_trip(s, 1, 1, 20, NULL);
  np_buf state;
  np_buf_init(&state, &np_alloc_libc);
  np_policy_state(s->shadow->policy, &state, NULL);
  CHECK("is told why there is no answer",
        has(np_buf_str(&state), "a shadow asks no model"));
  CHECK("the host is not asked", neap_ask_next(s, &a) == 0);
  np_buf_free(&state);
  o.shadow = "absent.lua";
  neap_session *t = NULL;
  CHECK("one that is not there is an error",
        neap_session_open(n, "p", &o, &t) == NEAP_E_POLICY && !t);
  neap_close(n);
}

/* ---- out of memory ---- */

static int64_t left_to_fail;

static void *scarce_malloc(void *ctx, size_t n) {
  (void)ctx;
  return left_to_fail && --left_to_fail == 0 ? (left_to_fail = 1, NULL) : malloc(n);
}

static void *scarce_realloc(void *ctx, void *p, size_t old, size_t n) {
  (void)ctx, (void)old;
  return left_to_fail && --left_to_fail == 0 ? (left_to_fail = 1, NULL) : realloc(p, n);
}

static void scarce_free(void *ctx, void *p) {
  (void)ctx;
  free(p);
}

/* From its k-th allocation on the shadow gets nothing more, in the third turn. */
static bool starve(int64_t k, np_buf *bodies) {
  neap_config c = {.size = sizeof c, .data = data_dir(), .flags = NEAP_FIXED_SECRET};
  c.alloc = (neap_alloc){scarce_malloc, scarce_realloc, scarce_free, NULL};
  neap *n = NULL;
  bool failed = false;
  if (neap_open(&c, &n)) exit(2);
  neap_session *s = session_open(n, "m", "policies/tide.lua", 3000, "openai");
  if (k)
    CHECK("it starts", !np_shadow_start(s, policy_file("looking.lua", looking), NULL, 0));
  append(s, "{'role':'user','content':'u'}");
  for (int i = 0; i < 6; i++) {
    neap_session *t = s->shadow;
    if (i == 2) s->shadow = NULL;
    np_buf_add(bodies, prompt(s));
    if (i == 2) {
      s->shadow = t;
      left_to_fail = k;
      np_shadow_before(s);
      np_shadow_turn(s, NEAP_OK);
      failed = left_to_fail == 1 && k;
      left_to_fail = 0;
    }
    account(s);
    neap_append_response(s, response("looking", "bash", 0, i));
    neap_append(s, say("user", "words src/file.c 12345 ", 90));
  }
  neap_close(n);
  return failed;
}

static void test_starved(void) {
  np_buf whole, with;
  np_buf_init(&whole, &np_alloc_libc);
  np_buf_init(&with, &np_alloc_libc);
  starve(0, &whole);
  int64_t k = 1;
  for (bool failed = true; failed && k < 4000; k += 1 + k / 12) {
    np_buf_clear(&with);
    failed = starve(k, &with);
    if (!same(&whole, &with)) fprintf(stderr, "starved at %lld\n", (long long)k);
    CHECK("a shadow without memory harms nothing", same(&whole, &with));
  }
  CHECK("it was starved at several places", k > 20);
  np_buf_free(&whole);
  np_buf_free(&with);
}

int main(void) {
  const char *rounds = getenv("NEAP_ROUNDS");
  dir_make();
  test_script();
  test_told();
  test_option();
  test_starved();
  test_same(rounds ? atoi(rounds) : 20);
  dir_remove();
  return check_done();
}
