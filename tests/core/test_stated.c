/*
** The state object in prompts: its changes are appended, and the whole stands in its region when the
** prompt is written anew. Whatever comes, in every format, the account is what a recount finds, and
** a turn that cannot fit leaves all as it was. A change costs its own tokens and bytes, however
** large the state is. next: test_kept.c
*/
#include "watch.h"

static const char open_schema[] = "{\"type\":\"object\",\"additionalProperties\":true}";

/* Rewrites at every fifth step. */
static const char masks[] =
    "return { api = 1, assemble = function(ctx)\n"
    "  if ctx.step % 5 ~= 0 then return end\n"
    "  for e in ctx:entries { kind = 'result', at = 'full' } do e:mask('old') end\n"
    "end }\n";

static neap_session *stated_open(neap *n, const char *name, const char *format,
                                 int64_t window) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o,
                    .policy = policy_file("masks.lua", masks),
                    .window = window,
                    .reserve = -1,
                    .format = format,
                    .state_schema = open_schema,
                    .state_share = 1,
                    .flags = NEAP_NO_RELOAD};
  neap_rc rc = neap_session_open(n, name, &o, &s);
  if (rc) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("a session with a state opens", rc == NEAP_OK);
  if (rc) exit(check_done());
  return s;
}

static neap_rc propose(neap_session *s, const char *patch) {
  return neap_state_propose(s,
                            &(neap_proposal){.size = sizeof(neap_proposal),
                                             .who = "user",
                                             .patch = np_str_cstr(patch),
                                             .reason = NP_LIT("so \"it\" is")},
                            NULL);
}

/* ---- any history ---- */

static void add_words(char *out, size_t room, int n) {
  size_t at = strlen(out);
  for (int i = 0; i < n && at + 8 < room; i++)
    at += (size_t)snprintf(out + at, room - at, "w%d ", i % 7);
}

static neap_rc change(neap_session *s, unsigned long long *seed) {
  char patch[4000];
  int k = (int)(check_random(seed) % 9), what = (int)(check_random(seed) % 6);
  int words = (int)(check_random(seed) % 9 == 0 ? 300 : check_random(seed) % 30);
  if (what == 0) {
    snprintf(patch, sizeof patch, "{\"k%d\":null}", k);
  } else if (what == 1) {
    snprintf(patch, sizeof patch, "{\"k%d\":[\"a\",\"b\",%d.50]}", k, words);
  } else if (what == 2) {
    snprintf(patch, sizeof patch,
             "[{\"op\":\"add\",\"path\":\"/k%d/0\",\"value\":{\"x y\":%d}}]", k, words);
  } else {
    snprintf(patch, sizeof patch, "{\"k%d\":\"", k);
    add_words(patch, sizeof patch - 8, words);
    memcpy(patch + strlen(patch), "\"}", 3);
  }
  return propose(s, patch);
}

/* The largest state that has a share of the whole budget: no prompt has room for it. */
static void fill(neap_session *s) {
  static char patch[9000];
  neap_rc rc = NEAP_E_REFUSED;
  for (int words = 2600; rc == NEAP_E_REFUSED && words > 0; words -= 20) {
    snprintf(patch, sizeof patch, "{\"k0\":\"");
    add_words(patch, sizeof patch - 8, words);
    memcpy(patch + strlen(patch), "\"}", 3);
    rc = propose(s, patch);
  }
  CHECK("a state as large as can be is taken", rc == NEAP_OK);
}

static void test_any(neap *n, const char *format, unsigned long long *seed, int *stuck) {
  char name[40];
  watch w;
  neap_str body;
  neap_session *s;
  snprintf(name, sizeof name, "any %s", format);
  s = stated_open(n, name, format, 2600);
  watch_open(&w);
  CHECK("a task is taken", !append(s, "{'role':'user','content':'do it'}"));
  for (int turn = 0; turn < 60; turn++) {
    for (int i = (int)(check_random(seed) % 4); i > 0; i--) {
      neap_rc rc = change(s, seed);
      CHECK("a proposal is taken or refused", !rc || rc == NEAP_E_REFUSED);
    }
    if (turn == 30) fill(s);
    neap_rc rc = neap_prompt(s, &body);
    CHECK("there is a prompt, or no room", !rc || rc == NEAP_E_BUDGET);
    *stuck += rc == NEAP_E_BUDGET;
    if (rc)
      CHECK("the state is taken away", !propose(s, "[{\"op\":\"replace\",\"path\":\"\","
                                                   "\"value\":{\"k0\":1}}]"));
    if (rc) rc = neap_prompt(s, &body);
    const char *wrong = rc ? neap_error(n) : watch_prompt(&w, s, body);
    if (wrong) fprintf(stderr, "%s, turn %d: %s\n", format, turn, wrong);
    CHECK("a prompt is what its account says", !wrong);
    if (!rc) round_trip(s, turn, 1 + turn % 2, 12, NULL);
    watch_prefix(&w, s);
  }
  watch_close(&w);
  neap_session_close(s);
}

/* ---- what a change costs ---- */

static int count_bytes(void *ctx, neap_str text) {
  *(size_t *)ctx += text.n;
  return 1;
}

static size_t log_bytes(neap *n, const char *name) {
  size_t bytes = 0;
  CHECK("the log is written out", !neap_session_export(n, name, count_bytes, &bytes));
  return bytes;
}

typedef struct cost {
  int64_t tokens[201];
  size_t bytes[3]; /* of the log after no change, a hundred and two hundred */
} cost;

/* A state of `items` texts, and a change of one more at a time. */
static void measure(neap *n, int items, cost *out) {
  np_buf first;
  char name[20], patch[100];
  snprintf(name, sizeof name, "cost %d", items);
  neap_session *s = stated_open(n, name, "openai", 1000000);
  np_buf_init(&first, &np_alloc_libc);
  np_buf_adds(&first, "{\"list\":[\"item\"");
  for (int i = 1; i < items; i++) np_buf_adds(&first, ",\"one more item\"");
  np_buf_adds(&first, "],\"port\":0}");
  np_buf_addc(&first, '\0');
  CHECK("a task is taken", !append(s, "{'role':'user','content':'do it'}"));
  CHECK("the first state is taken", !propose(s, first.p));
  for (int i = 0; i <= 200; i++) {
    snprintf(patch, sizeof patch,
             i % 2 ? "{\"port\":%d}"
                   : "[{\"op\":\"add\",\"path\":\"/list/-\",\"value\":\"new %d\"}]",
             1000 + i);
    if (i) CHECK("a change is taken", !propose(s, patch));
    prompt(s);
    out->tokens[i] = number(account(s), "tokens");
    if (i % 100 == 0) out->bytes[i / 100] = log_bytes(n, name);
  }
  CHECK("in one epoch", number(account(s), "epoch") == 1);
  np_buf_free(&first);
  neap_session_close(s);
}

static void test_cost(neap *n) {
  static cost small, large;
  bool alike = true, few = true;
  measure(n, 30, &small);
  measure(n, 3000, &large);
  for (int i = 1; i <= 200; i++) {
    int64_t a = small.tokens[i] - small.tokens[i - 1];
    int64_t b = large.tokens[i] - large.tokens[i - 1];
    alike = alike && a - b <= 3 && b - a <= 3; /* an index of four digits */
    few = few && a > 0 && a <= 60;
  }
  CHECK("a change costs the same in a state a hundred times as large", alike);
  CHECK("and few tokens", few);
  size_t once = large.bytes[1] - large.bytes[0], again = large.bytes[2] - large.bytes[1];
  CHECK("in the log, too", again < once + once / 5 && once < 300 * 1024);
}

int main(void) {
  static const char *const formats[] = {"openai", "responses", "anthropic", "gemini",
                                        "text"};
  unsigned long long seed = check_seed(3);
  int stuck = 0;
  dir_make();
  neap *n = engine_open(NULL);
  for (size_t i = 0; i < NP_COUNT(formats); i++) test_any(n, formats[i], &seed, &stuck);
  CHECK("in each some turn had no room", stuck >= (int)NP_COUNT(formats));
  test_cost(n);
  neap_close(n);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
