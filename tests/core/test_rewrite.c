/*
** A policy that is rewritten at random while sessions run: good, broken, hostile, and pieces of
** these; with modules, asks, shadows, restarts. Whatever it is, each prompt is one that its
** provider takes (checked in builds for tests), a recount finds the account's total, none is over
** its budget, and no memory is left. NEAP_ROUNDS is the number of turns. next: test_reload.c
*/
#define _XOPEN_SOURCE 700
#include "reload_world.h"

#include "gemini_recount.h"
#include "history.h"
#include "openai_check.h"
#include "responses_recount.h"
#include "shipped.h"

/* Whole policies that fail, cheat or waste, in every hook and at load. */
static const char *const hostile[] = {
    "while true do end",
    "return setmetatable({}, { __index = function() error 'x' end })",
    "local t = {} for i = 1, 1e9 do t[i] = t end",
    "return { api = 1, assemble = function(ctx) while true do ctx:shrink(1) end end }",
    "return { api = 1, admit = function(ctx, e) e:drop() e:drop() e:restore() e:mask() "
    "error { e } end }",
    "return { api = 1, assemble = function(ctx) for e in ctx:entries {} do e:drop() end "
    "end }",
    "return { api = 1, assemble = function(ctx) for e in ctx:entries {} do e:pin() end "
    "end }",
    "return { api = 1, assemble = function(ctx) for e in ctx:entries {} do e:hold() end "
    "end }",
    "return { api = 1, rank = function() return 0 / 0 end, overflow = function(ctx) "
    "ctx:shrink(1) end }",
    "return { api = 1, rank = function(ctx, e) return e.id % 3 end, order = 'value', "
    "assemble = function(ctx) ctx:shrink(ctx.random(ctx.tokens), 'x', 0.5) end }",
    "return { api = 1, compact = function(ctx) local s = ctx:span { before = ctx.step } "
    "ctx:fold(s, ('neap\\xC2\\xB7aaaa ]['):rep(20)) error 'after' end }",
    "return { api = 1, compact = function(ctx) local a = ctx:ask_all { { prompt = 'x' }, "
    "{ span = ctx:span { before = ctx.step - 1 } } } ctx.state.a = a[1] "
    "ctx:fold(ctx:span { before = ctx.step - 1 }, a[2] or nil) end }",
    "return { api = 1, state_version = 2, migrate = function(old, from) old.n = from "
    "return old end, assemble = function(ctx) ctx.state.n = (ctx.state.n or 0) + 1 end }",
    "return { api = 1, assemble = function(ctx) ctx.state.big = ('x'):rep(100000) end }",
    "return { api = 1, assemble = function(ctx) ctx.state.f = ctx end }",
    "return { api = 1, on_error = 'fail', assemble = function(ctx) if ctx.random(2) == 1 "
    "then error 'no' end end }",
    "return { api = 1, selftest = function() return neap == nil end }",
    "return { api = 1, layout = { hot = { max = 1 } }, assemble = function(ctx) "
    "ctx:shrink(ctx.budget / 2) end }",
    "local function f(n) return n and f(n + 1) + 1 end return { api = 1, assemble = "
    "function() f(1) end }",
    "keep = keep or {} return { api = 1, admit = function(ctx, e) keep[#keep + 1] = e "
    "keep[1]:mask() end }",
};

typedef struct soak {
  world w;
  unsigned long long random;
  history h;
  int64_t turns, sent, overflow, failed, reloads, kept, refused_open, shadows;
  shipped shipped;
  bool module; /* the main file requires it */
} soak;

static unsigned dice(soak *k, unsigned n) {
  return (unsigned)(check_random(&k->random) % n);
}

static const char *any_shipped(soak *k) {
  return k->shipped.path[dice(k, (unsigned)k->shipped.count)];
}

/* ---- texts ---- */

static void add_file(np_buf *b, const char *path) {
  char part[4096];
  FILE *f = fopen(path, "rb");
  size_t n = 0;
  if (!f) exit(2);
  while ((n = fread(part, 1, sizeof part, f)) > 0) np_buf_add(b, np_str_of(part, n));
  fclose(f);
}

/* Cut off, a piece taken out, a byte changed, a piece of it twice. */
static void damage(soak *k, np_buf *b) {
  if (!b->n) return;
  size_t at = dice(k, (unsigned)b->n), n = dice(k, (unsigned)(b->n - at)) % 40;
  switch (dice(k, 4)) {
    case 0: b->n = at; break;
    case 1:
      memmove(b->p + at, b->p + at + n, b->n - at - n);
      b->n -= n;
      break;
    case 2: b->p[at] = (char)(1 + dice(k, 255)); break;
    default: /* room first: what is added is its own */
      if (np_buf_reserve(b, n)) np_buf_add(b, np_str_of(b->p + at, n));
  }
}

static void make_text(soak *k, np_buf *b) {
  np_buf_clear(b);
  if (dice(k, 3)) add_file(b, any_shipped(k));
  else np_buf_adds(b, hostile[dice(k, NP_COUNT(hostile))]);
  if (dice(k, 3) == 0) damage(k, b);
}

static void put_bytes(soak *k, const char *name, np_str text) {
  FILE *f = fopen(world_path(&k->w, name), "wb");
  if (!f || fwrite(text.p, 1, text.n, f) != text.n || fclose(f)) exit(2);
  world_age(&k->w, name, 5 + (int)dice(k, 100));
}

/* As editors write: in place, or renamed over. */
static void rewrite(soak *k) {
  np_buf text;
  const char *name = k->module ? "part.lua" : "p.lua";
  np_buf_init(&text, &np_alloc_libc);
  make_text(k, &text);
  put_bytes(k, dice(k, 2) ? name : "new.tmp", np_buf_str(&text));
  if (access(world_path(&k->w, "new.tmp"), F_OK) == 0)
    world_rename(&k->w, "new.tmp", name);
  if (dice(k, 20) == 0) {
    k->module = !k->module;
    if (k->module) world_put(&k->w, "p.lua", "return require 'part'");
  }
  np_buf_free(&text);
}

/* ---- a turn ---- */

static int64_t recount(const np_view *v, np_str body, const char **wrong) {
  int64_t tokens = -1;
  if (v->format->shape == NP_SHAPE_ANTHROPIC) return -1;
  if (v->format->shape == NP_SHAPE_RESPONSES)
    return responses_recount(v->vocab, body, v->model, 0);
  if (v->format->shape == NP_SHAPE_GEMINI)
    return gemini_recount(v->vocab, body, v->model, 0);
  if (!v->format->parts) return (int64_t)np_vocab_count(v->vocab, body);
  *wrong = openai_check(v->vocab, body, 0, &tokens);
  return tokens;
}

static void check_prompt(soak *k, np_str body) {
  const neap_session *s = k->w.s;
  const char *wrong = NULL;
  int64_t tokens = np_pack_tokens(&s->pack), found = recount(&s->pack.view, body, &wrong);
  if (found >= 0 && found != tokens) wrong = "a recount finds another total";
  if (tokens > s->pack.budget) wrong = "over budget";
  if (wrong)
    fprintf(stderr, "turn %lld, %s: %s: %lld, %lld counted, budget %lld\n",
            (long long)k->turns, k->w.options.format, wrong, (long long)tokens,
            (long long)found, (long long)s->pack.budget);
  CHECK("a prompt is right, whatever the policy is", !wrong);
}

static void answer_asks(soak *k, neap_session *s) {
  neap_ask a = {0};
  while (neap_ask_after(s, a.id, &a)) {
    unsigned way = dice(k, 6);
    if (way == 0) neap_refuse(s, a.id, "error", NP_LIT("503"));
    if (way == 1) neap_answer(s, a.id, NP_LIT(""));
    if (way > 2) neap_answer(s, a.id, NP_LIT("- [step 1] noted src/ledger.c, 42"));
  }
}

static void take_turn(soak *k) {
  neap_str body = NP_LIT("");
  neap_session *s = k->w.s;
  neap_rc rc = neap_prompt(s, &body);
  bool may = rc == NEAP_OK || rc == NEAP_E_BUDGET ||
             (rc == NEAP_E_POLICY && np_policy_info_of(s->policy)->fail_on_error);
  if (!may) fprintf(stderr, "turn %lld: %s\n", (long long)k->turns, neap_error(k->w.n));
  CHECK("a prompt, no room, or the policy's own wish", may);
  k->turns++;
  k->sent += rc == NEAP_OK;
  k->overflow += rc == NEAP_E_BUDGET;
  k->failed += rc == NEAP_E_POLICY;
  k->reloads += s->reloads;
  if (!rc) check_prompt(k, body);
  answer_asks(k, s);
  if (s->shadow) answer_asks(k, s->shadow);
}

/* ---- a session ---- */

/* With a file that does not load a session does not open: then a good one is put there. */
static void open_session(soak *k) {
  if (!neap_session_open(k->w.n, "run", &k->w.options, &k->w.s)) return;
  k->refused_open++;
  k->module = false;
  world_put(&k->w, "p.lua",
            "return { api = 1, state_version = 2, migrate = function() "
            "return {} end }");
  neap_rc rc = neap_session_open(k->w.n, "run", &k->w.options, &k->w.s);
  if (rc) fprintf(stderr, "%s\n", neap_error(k->w.n));
  CHECK("a session opens with a good policy", rc == NEAP_OK);
  if (rc) exit(check_done());
}

static void start_engine(soak *k) {
  static const char *const formats[] = {"openai", "responses", "gemini", "text",
                                        "anthropic"};
  static char path[300];
  const char *data = getenv("NEAP_DATA");
  world *w = &k->w;
  neap_config c = {.size = sizeof c,
                   .data = data ? data : "core/token/data",
                   .flags = NEAP_FIXED_SECRET};
  world_dir(w);
  c.alloc = (neap_alloc){world_malloc, world_realloc, world_free, w};
  if (neap_open(&c, &w->n)) exit(2);
  snprintf(path, sizeof path, "%s", world_path(w, "p.lua"));
  w->options = (neap_options){.size = sizeof w->options,
                              .policy = path,
                              .window = 2500 + dice(k, 8000),
                              .format = formats[dice(k, NP_COUNT(formats))],
                              .flags = NEAP_NO_TOOLS};
  world_put(w, "p.lua", "return { api = 1 }");
  world_put(w, "part.lua", "return { api = 1 }");
  k->module = false;
  open_session(k);
}

static void meddle(soak *k) {
  if (dice(k, 3) == 0) rewrite(k);
  if (dice(k, 60) == 0) {
    neap_session_close(k->w.s);
    k->w.s = NULL;
    open_session(k);
  }
  if (dice(k, 40) == 0) neap_reload(k->w.s);
  if (dice(k, 50)) return;
  bool on = dice(k, 3) > 0;
  const char *path = dice(k, 2) ? k->w.options.policy : any_shipped(k);
  neap_rc rc = np_shadow_set(k->w.s, on ? path : NULL, NULL, true);
  CHECK("a shadow starts or is refused", rc == NEAP_OK || rc == NEAP_E_POLICY);
  k->shadows += on && !rc;
}

static void play(soak *k, int turns) {
  char clean[300];
  start_engine(k);
  k->h = (history){.random = check_random(&k->random), .form = (int)dice(k, 5)};
  np_buf_init(&k->h.b, &np_alloc_libc);
  int64_t end = k->turns + turns;
  for (int i = 0; k->turns < end && i < 100 * turns; i++) {
    neap_append(k->w.s, history_next(&k->h, i));
    if (!k->w.s->log.begun || !k->w.s->pack.log->entry_count || dice(k, 2)) continue;
    if (i < 3) continue;
    meddle(k);
    take_turn(k);
  }
  np_buf_free(&k->h.b);
  neap_close(k->w.n);
  CHECK("no memory is left", k->w.blocks == 0 && k->w.bytes == 0);
  snprintf(clean, sizeof clean, "rm -rf '%s'", k->w.dir);
  if (system(clean)) fprintf(stderr, "%s is left\n", k->w.dir);
}

int main(void) {
  const char *rounds = getenv("NEAP_ROUNDS");
  int64_t turns = rounds ? atoll(rounds) : 1200;
  soak *k = calloc(1, sizeof *k);
  if (!k) return 2;
  k->random = check_seed(20261130);
  k->shipped = shipped_policies();
  while (k->turns < turns) play(k, 60);
  fprintf(
      stderr,
      "%lld turns: %lld sent, %lld did not fit, %lld failed as asked; %lld reloads, %lld "
      "refused to open, %lld shadows\n",
      (long long)k->turns, (long long)k->sent, (long long)k->overflow,
      (long long)k->failed, (long long)k->reloads, (long long)k->refused_open,
      (long long)k->shadows);
  CHECK("most were sent, and versions came and went",
        k->sent > k->turns / 2 && k->reloads > k->turns / 20 && k->shadows > 0);
  free(k);
  return check_done();
}
