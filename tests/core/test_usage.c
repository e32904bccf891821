/*
** Calibration: a provider that counts by a factor of its own and a little noise, and what it
** reports. Counts converge, the window is never exceeded, an absurd report does little, a
** session that is resumed goes on with the same bytes. next: test_engine.c
*/
#include "session.h"

#include "engine/engine.h"

#define SEEDS 4 /* of the noise; more find nothing else */

static uint64_t random_state;

static uint32_t draw(uint32_t below) {
  random_state =
      random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(random_state >> 33) % below;
}

/* What the provider counts: millionths of its factor, and up to a hundredth of noise. */
static int64_t true_tokens(int64_t counted, int64_t factor) {
  int64_t noise = (int64_t)draw(20001) - 10000;
  return counted * factor / NP_MILLION * (NP_MILLION + noise) / NP_MILLION;
}

static int64_t distance(int64_t a, int64_t b) {
  return (a > b ? a - b : b - a) * NP_MILLION / b;
}

/* ---- the gauge alone ---- */

static void start(np_gauge *g) {
  np_gauge_init(g, false, 1200000, 200000);
}

static void test_converges(uint64_t seed) {
  random_state = seed;
  for (int64_t factor = 800000; factor <= 1350000; factor += 10000) {
    np_gauge g;
    start(&g);
    bool over = false;
    for (int turn = 1; turn <= 40; turn++) {
      int64_t room = 100000, counted = np_gauge_budget(&g, room); /* as full as may be */
      int64_t was = g.factor, told = true_tokens(counted, factor);
      over = over || told > room;
      CHECK("a report is taken", np_gauge_take(&g, counted, told, true));
      CHECK("a step is bounded", distance(g.factor, was) <= 100001);
      if (turn >= 10 && distance(g.factor, factor) >= 10000)
        fprintf(stderr, "seed %llu, factor %lld, turn %d: %lld\n",
                (unsigned long long)seed, (long long)factor, turn, (long long)g.factor);
      CHECK("within 1 %% after 10 turns",
            turn < 10 || distance(g.factor, factor) < 10000);
      CHECK("the bound follows", turn < 40 || g.bound <= 50000);
    }
    CHECK("never over the window", !over);
  }
}

static void test_absurd(void) {
  static const int64_t wrong[] = {0,         -1,       -1000000, INT64_C(1000000000000),
                                  INT64_MAX, INT64_MIN};
  np_gauge g, was;
  start(&g);
  for (size_t i = 0; i < NP_COUNT(wrong); i++) {
    was = g;
    CHECK("what is no count is refused", !np_gauge_take(&g, 1000, wrong[i], true));
    CHECK("and changes nothing", memcmp(&g, &was, sizeof g) == 0);
  }
  CHECK("nothing was counted", !np_gauge_take(&g, 0, 1000, true));
  CHECK("a report of another prompt is only told",
        np_gauge_take(&g, 1000, 50000, true) && g.factor == was.factor && g.measured &&
            g.drift > NP_MILLION);
  CHECK("so is one of guesses",
        np_gauge_take(&g, 1000, 1100, false) && g.factor == was.factor && g.taken == 0);
  for (int at = 0; at < 12; at++) {
    np_gauge twin;
    start(&g);
    start(&twin);
    for (int turn = 0; turn < 24; turn++) {
      int64_t before = g.factor;
      bool odd = turn == at;
      np_gauge_take(&g, 10000, odd ? 30000 : 11000, true);
      np_gauge_take(&twin, 10000, 11000, true);
      CHECK("one absurd report moves the factor by a tenth at most",
            distance(g.factor, before) <= 100001);
      CHECK("among others it moves nothing, the budget neither",
            at < 5 || (g.factor == twin.factor && g.bound == twin.bound));
    }
    CHECK("it is forgotten", distance(g.factor, 1100000) < 2000 && g.bound == twin.bound);
  }
}

static void test_exact(void) {
  np_gauge g;
  np_gauge_init(&g, true, 5, 5);
  CHECK("no margin", np_gauge_budget(&g, 1000) == 1000 && np_gauge_margin(&g, 1000) == 0);
  CHECK("a difference is told", np_gauge_take(&g, 1000, 1020, true) && g.drift == 20000);
  np_gauge_take(&g, 1000, 980, true);
  CHECK("below too", g.drift == -20000);
  CHECK("nothing is corrected",
        g.factor == NP_MILLION && g.bound == 0 && np_gauge_budget(&g, 1000) == 1000);
}

static void test_budget(void) {
  np_gauge g;
  static const int64_t rooms[] = {1, 2, 999, 8192, 200000, 1000000000000};
  for (int64_t factor = 250000; factor <= 4000000; factor += 62501) {
    for (int64_t bound = 10000; bound <= 500000; bound += 70001) {
      np_gauge_init(&g, false, factor, bound);
      for (size_t i = 0; i < NP_COUNT(rooms); i++) {
        int64_t n = np_gauge_budget(&g, rooms[i]), margin = np_gauge_margin(&g, rooms[i]);
        CHECK("count x factor is within window less margin",
              n >= 0 && np_gauge_estimate(&g, n) <= rooms[i] - margin);
        CHECK("with the whole error it is within the window",
              (double)n * (double)factor / 1e6 * (1 + (double)bound / 1e6) <=
                  (double)rooms[i] * (1 + 1e-12));
        CHECK("the margin is a third at most", margin <= rooms[i] / 3 + 1);
      }
    }
  }
}

/* ---- what a response says ---- */

static void test_forms(void) {
  static const struct {
    const char *response;
    int64_t tokens;
  } cases[] = {
      {"{'usage':{'prompt_tokens':120,'completion_tokens':5,'prompt_tokens_details':"
       "{'cached_tokens':64}}}",
       120},
      {"{'usage':{'input_tokens':120,'input_tokens_details':{'cached_tokens':64}}}", 120},
      {"{'usage':{'input_tokens':20,'cache_creation_input_tokens':30,"
       "'cache_read_input_tokens':70}}",
       120},
      {"{'usage':{'input_tokens':120,'cache_creation_input_tokens':null}}", 120},
      {"{'usageMetadata':{'promptTokenCount':120,'cachedContentTokenCount':64}}", 120},
      {"{}", -1},
      {"[]", -1},
      {"{'usage':null}", -1},
      {"{'usage':{}}", -1},
      {"{'usage':{'prompt_tokens':'120'}}", -1},
      {"{'usage':{'prompt_tokens':-5}}", -1},
      {"{'usage':{'prompt_tokens':1.5}}", -1},
      {"{'usage':{'prompt_tokens':1e3}}", -1},
      {"{'usage':{'prompt_tokens':99999999999999999999}}", -1},
      {"{'usage':{'input_tokens':20,'cache_read_input_tokens':-70}}", -1},
      {"{'usageMetadata':{'totalTokenCount':9}}", -1},
  };
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    np_json root;
    int64_t n = -1;
    np_json_check(json(cases[i].response), &root, NULL);
    bool found = np_usage_input(root, &n);
    if (found != (cases[i].tokens >= 0) || (found && n != cases[i].tokens))
      fprintf(stderr, "%s: %lld\n", cases[i].response, (long long)n);
    CHECK("a provider's usage is read",
          found == (cases[i].tokens >= 0) && (!found || n == cases[i].tokens));
  }
}

/* ---- sessions ---- */

static const char policy[] =
    "return { api = 1, assemble = function(ctx)\n"
    "  if ctx.step == 1 then assert(ctx.miscount == nil) end\n"
    "  if ctx.miscount then assert(ctx.miscount > -1 and ctx.miscount < 1) end\n"
    "  if ctx.usage > 0.9 then ctx:shrink(0.7 * ctx.budget) end end }";

static neap_session *open_model(neap *n, const char *model, const char *encoding,
                                int64_t window) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o,
                    .policy = policy_file("usage.lua", policy),
                    .window = window,
                    .reserve = -1,
                    .model = model,
                    .encoding = encoding,
                    .flags = NEAP_NO_RELOAD};
  neap_rc rc = neap_session_open(n, "usage", &o, &s);
  if (rc) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("a session with a model opens", rc == NEAP_OK);
  return s;
}

/* An answer that calls, with what the prompt took. */
static neap_str told(int turn, int64_t tokens) {
  char text[400];
  snprintf(
      text, sizeof text,
      "{'choices':[{'message':{'role':'assistant','content':null,'tool_calls':[{'id':"
      "'c%d','type':'function','function':{'name':'read','arguments':'{}'}}]}}],"
      "'usage':{'prompt_tokens':%lld}}",
      turn, (long long)tokens);
  return json(text);
}

static void one_turn(neap_session *s, int turn, int64_t factor, np_buf *body) {
  neap_call c;
  neap_str p = prompt(s);
  np_buf_add(body, p);
  int64_t counted = number(account(s), "tokens");
  int64_t room = s->window - s->reserve;
  int64_t tokens = true_tokens(counted, factor);
  if (tokens > room)
    fprintf(stderr, "turn %d: %lld of %lld\n", turn, (long long)tokens, (long long)room);
  CHECK("what the provider counts is within the window", tokens <= room);
  CHECK("the estimate is within the budget",
        number(account(s), "estimate") <= number(account(s), "budget"));
  CHECK("an estimate says so", has(account(s), "\"exact\":false"));
  CHECK("a response is taken", neap_append_response(s, told(turn, tokens)) == NEAP_OK);
  CHECK("it calls", neap_next_call(s, &c) == 1);
  np_buf out;
  np_buf_init(&out, &np_alloc_libc);
  for (int i = 0; i < 60 + turn * 7 % 90; i++)
    np_buf_adds(&out, "the tide is going out\n");
  CHECK("a result is taken", neap_append_result(s, &c, np_buf_str(&out)) == NEAP_OK);
  np_buf_free(&out);
}

/* Twenty turns; with `store`, closed and opened again before turn `at`. */
static void run(const char *store, int at, int64_t factor, np_buf *body, np_gauge *last) {
  neap *n = engine_open(store);
  neap_session *s = open_model(n, "claude-sonnet-4-5", NULL, 3000);
  append(s, "{'role':'user','content':'When does it turn?'}");
  random_state = 7;
  for (int turn = 1; turn <= 20; turn++) {
    if (turn == at) {
      neap_close(n);
      n = engine_open(store);
      s = open_model(n, "claude-sonnet-4-5", NULL, 3000);
    }
    one_turn(s, turn, factor, body);
  }
  *last = s->gauge;
  neap_close(n);
}

static void test_session(int64_t factor) {
  np_buf whole, resumed;
  np_gauge a, b;
  np_buf_init(&whole, &np_alloc_libc);
  np_buf_init(&resumed, &np_alloc_libc);
  run(NULL, 0, factor, &whole, &a);
  CHECK("counts converge", distance(a.factor, factor) < 10000);
  np_buf_clear(&resumed);
  run(NULL, 0, factor, &resumed, &b);
  CHECK("the same run has the same bytes",
        np_str_eq(np_buf_str(&whole), np_buf_str(&resumed)));
  for (int at = 2; at <= 20; at += 6) {
    const char *store = dir_path("usage.db");
    remove(store);
    np_buf_clear(&resumed);
    run(store, at, factor, &resumed, &b);
    CHECK("a resumed session has the same bytes",
          np_str_eq(np_buf_str(&whole), np_buf_str(&resumed)));
    CHECK("and the same gauge", memcmp(&a, &b, sizeof a) == 0);
  }
  np_buf_free(&whole);
  np_buf_free(&resumed);
}

/* The factor is the model's: another one starts from its own row. */
static void test_per_model(void) {
  const char *store = dir_path("models.db");
  np_buf body;
  np_buf_init(&body, &np_alloc_libc);
  neap *n = engine_open(store);
  neap_session *s = open_model(n, "claude-opus-5", NULL, 9000);
  append(s, "{'role':'user','content':'go'}");
  for (int turn = 1; turn <= 4; turn++) one_turn(s, turn, 1100000, &body);
  int64_t learnt = s->gauge.factor;
  CHECK("it has learnt", learnt != np_model_find(NP_LIT("claude-opus-5"))->factor);
  neap_close(n);
  n = engine_open(store);
  s = open_model(n, "gemini-3-pro", NULL, 9000);
  CHECK("another model has its own factor",
        s->gauge.factor == np_model_find(NP_LIT("gemini-3-pro"))->factor &&
            !s->gauge.measured);
  neap_close(n);
  n = engine_open(store);
  s = open_model(n, "claude-opus-5", NULL, 9000);
  CHECK("the first one's is kept", s->gauge.factor == learnt);
  neap_close(n);
  np_buf_free(&body);
}

static void test_exact_session(neap *n) {
  neap_session *s = open_model(n, "gpt-4o", NULL, 0);
  CHECK("the window is the model's", s->window == 128000);
  append(s, "{'role':'user','content':'go'}");
  prompt(s);
  int64_t tokens = number(account(s), "tokens");
  CHECK("exact, and no drift yet", has(account(s), "\"exact\":true") &&
                                       !has(account(s), "drift") &&
                                       !has(account(s), "factor"));
  neap_append_response(s, told(1, tokens * 2));
  prompt(s);
  CHECK("the drift is told", has(account(s), "\"drift\":1"));
  CHECK("and nothing else changes",
        has(account(s), "\"exact\":true") && number(account(s), "budget") == 128000);
  neap_append_response(s, told(2, 1000000000000));
  prompt(s);
  CHECK("an absurd one is passed over", has(account(s), "\"drift\":1"));
  neap_session_close(s);
}

static void test_names(neap *n) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o, .model = "tide-9"};
  CHECK("a model that is not known is refused by name",
        neap_session_open(n, "x", &o, &s) == NEAP_E_CONFIG &&
            has(np_str_cstr(neap_error(n)), "tide-9"));
  o.encoding = "cl100k_base";
  CHECK("with an encoding it is taken", neap_session_open(n, "x", &o, &s) == NEAP_OK);
  CHECK("and counts exactly", s->gauge.exact && s->window == 200000);
  neap_session_close(s);
  s = open_model(n, "claude-opus-5", "o200k_base", 5000);
  CHECK("so does any other", s->gauge.exact && s->pack.budget == 5000);
  neap_session_close(s);
}

/* An image that is elsewhere is counted as the largest there can be, and not called exact. */
static void test_guess(neap *n) {
  neap_session *s = open_model(n, NULL, NULL, 2000);
  append(s, "{'role':'user','content':'Look at this.'}");
  prompt(s);
  CHECK("text is exact", has(account(s), "\"exact\":true"));
  append(s, "{'role':'user','content':[{'type':'image_url','image_url':{'url':"
            "'https://x/y.png'}}]}");
  prompt(s);
  CHECK("an image of unknown size is not", has(account(s), "\"exact\":false"));
  CHECK("it counts as the largest", number(account(s), "tokens") > 1445);
  append(s, "{'role':'assistant','content':'A quay.'}");
  neap_append(s, say("user", "And now? ", 300));
  prompt(s);
  CHECK("an image that is not shown is no guess",
        has(account(s), "\"exact\":true") && number(account(s), "tokens") < 1445);
  neap_session_close(s);
}

int main(void) {
  dir_make();
  for (uint64_t seed = 1; seed <= SEEDS; seed++) test_converges(seed);
  test_absurd();
  test_exact();
  test_budget();
  test_forms();
  test_session(800000);
  test_session(1100000);
  test_session(1350000);
  test_per_model();
  neap *n = engine_open(NULL);
  test_exact_session(n);
  test_names(n);
  test_guess(n);
  neap_close(n);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
