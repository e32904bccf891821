/*
** A session that is closed and opened again between any two turns goes on as one that never was:
** the same prompts and the same accounts, in every format, while things are lowered, dropped and
** folded, and while the policy asks for citations. next: test_heap.c
*/
#include "session.h"

/* Folds what is old now and then, ranks by citations, and lowers when the prompt is too high. */
static const char lua[] =
    "return { api = 1, order = 'value', tools = { 'recall' },\n"
    "  rank = function(ctx, e) return 1 + e.citations + e.identifiers / e.since_cited "
    "end,\n"
    "  compact = function(ctx)\n"
    "    if ctx.step % 4 ~= 0 then return end\n"
    "    local old = ctx:span { before = ctx.step - 5 }\n"
    "    if old.steps > 1 then ctx:fold(old, '- steps until ' .. ctx.step) end end,\n"
    "  assemble = function(ctx)\n"
    "    ctx.state.n = (ctx.state.n or 0) + ctx.random()\n"
    "    if ctx.tokens > 5000 then ctx:shrink(4200, 'high') end\n"
    "    if ctx.step % 7 == 0 then\n"
    "      for e in ctx:entries { kind = 'result', before = ctx.step - 6 } do e:drop() "
    "break end\n"
    "    end end }\n";

typedef struct side {
  neap *n;
  neap_session *s;
  const char *store;
  const char *policy, *format;
} side;

static void side_open(side *d) {
  neap_config c = {.size = sizeof c,
                   .store = d->store,
                   .data = data_dir(),
                   .flags = NEAP_FIXED_SECRET};
  neap_options o = {.size = sizeof o,
                    .policy = d->policy,
                    .format = d->format,
                    .encoding = "o200k_base",
                    .window = 8000};
  bool ok = !neap_open(&c, &d->n) && !neap_session_open(d->n, "relive", &o, &d->s);
  if (!ok) fprintf(stderr, "%s\n", neap_error(d->n));
  CHECK("a session opens, or opens again", ok);
}

static void both(side *a, side *b, const char *message) {
  neap_str m = {message, strlen(message)};
  CHECK("a message is taken",
        neap_append(a->s, m) == NEAP_OK && neap_append(b->s, m) == NEAP_OK);
}

/* A call and its result, which is long now and then and names things again. */
static void both_step(side *a, side *b, int i) {
  char m[4096];
  snprintf(m, sizeof m,
           "{\"role\":\"assistant\",\"content\":\"file_%d.c says E%d\",\"tool_calls\":[{"
           "\"id\":\"c%d\",\"type\":\"function\",\"function\":{\"name\":\"read\","
           "\"arguments\":\"{\\\"path\\\":\\\"src/file_%d.c\\\"}\"}}]}",
           i / 2, i / 3, i, i);
  both(a, b, m);
  int at = snprintf(m, sizeof m,
                    "{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"", i);
  for (int k = 0; k < 1 + i * 7 % 24; k++) {
    at += snprintf(m + at, sizeof m - (size_t)at,
                   "line %d of src/file_%d.c: the value of E%d\\n", k, i, i * k % 50);
  }
  snprintf(m + at, sizeof m - (size_t)at, "\"}");
  both(a, b, m);
  if (i % 11 == 0) both(a, b, "{\"role\":\"user\",\"content\":\"And then?\"}");
}

static bool same(neap_str a, neap_str b) {
  return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static int folds, rewrites, errors; /* that accounts have told of */

static bool says(neap_str s, const char *what) {
  return np_str_find((np_str){s.p, s.n}, np_str_cstr(what), 0) != SIZE_MAX;
}

/* Both make the turn; whether prompt and account are the same. */
static bool same_turn(side *a, side *b) {
  neap_str x = {NULL, 0}, y = {NULL, 0};
  neap_rc first = neap_prompt(a->s, &x), second = neap_prompt(b->s, &y);
  if (first != second || (!first && !same(x, y))) return false;
  if (neap_account(a->s, &x) || neap_account(b->s, &y)) return false;
  folds += says(x, "\"to\":\"folded\"");
  rewrites += says(x, "\"rewrite\":true");
  errors += !says(x, "\"hook_errors\":[]");
  if (!same(x, y))
    fprintf(stderr, "%.*s\n%.*s\n", (int)(x.n < 500 ? x.n : 500), x.p,
            (int)(y.n < 500 ? y.n : 500), y.p);
  return same(x, y);
}

static void run(const char *policy, const char *format, int every) {
  side a = {.policy = policy, .format = format}, b = a;
  char name[40];
  snprintf(name, sizeof name, "%s%d.db", format, every);
  b.store = dir_path(name);
  unlink(b.store);
  side_open(&a);
  side_open(&b);
  both(&a, &b, "{\"role\":\"system\",\"content\":\"Be brief.\"}");
  both(&a, &b, "{\"role\":\"user\",\"content\":\"Mend the build.\"}");
  bool ok = true;
  for (int i = 1; i <= 60 && ok; i++) {
    both_step(&a, &b, i);
    if (i % every == 0) {
      neap_close(b.n);
      side_open(&b);
    }
    ok = same_turn(&a, &b);
    if (!ok) fprintf(stderr, "%s in %s: turn %d differs\n", policy, format, i);
  }
  CHECK("a session that was read back goes on as before", ok);
  neap_close(a.n);
  neap_close(b.n);
}

int main(void) {
  static const char *const formats[] = {"openai", "responses", "anthropic", "gemini",
                                        "text"};
  dir_make();
  const char *folding = policy_file("folding.lua", lua);
  for (size_t f = 0; f < NP_COUNT(formats); f++) {
    run(folding, formats[f], 1);
    run(folding, formats[f], 7);
    run("policies/tide.lua", formats[f], 5);
    run("policies/sliding_window.lua", formats[f], 4);
  }
  fprintf(stderr, "%d folds, %d rewrites\n", folds, rewrites);
  CHECK("there was something to read back", folds > 20 && rewrites > 100 && !errors);
  dir_remove();
  return check_done();
}
