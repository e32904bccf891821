/*
** Measures the sandbox, for policy.lua, which knows what the rows mean: a hook's call, an
** entry's field, a walk over a history, a state's memory, a reload. CPU time of this process,
** the best of several. `bench_policy DATA`. One JSON object a line. next: policy.lua
*/
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../core/policy_world.h"
#include "policy/host.h"

#define TRIES 9

static np_vocab *vocab;

static double cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void say(const char *name, double value) {
  printf("{\"name\":\"%s\",\"value\":%.9g}\n", name, value);
}

static np_policy *load(const char *text) {
  np_policy *p = NULL;
  np_err e;
  if (np_policy_load_text(&np_alloc_libc, NP_LIT("b.lua"), np_str_cstr(text), NP_LIT(""),
                          &(np_limits){.call_instructions = 1 << 30, .call_ms = 60000},
                          &p, &e)) {
    fprintf(stderr, "bench_policy: %s\n", e.text);
    exit(2);
  }
  return p;
}

static void assemble(np_policy *p) {
  np_err e;
  if (!np_policy_assemble(p, &e)) return;
  fprintf(stderr, "bench_policy: %s\n", e.text);
  exit(2);
}

/* Seconds of the fastest of some tries of `n` calls, for one. */
static double best_of(void (*f)(void *), void *arg, int n) {
  double best = 1e9;
  for (int i = 0; i < TRIES; i++) {
    double from = cpu();
    for (int k = 0; k < n; k++) f(arg);
    double spent = (cpu() - from) / n;
    if (spent < best) best = spent;
  }
  return best;
}

static void call_hook(void *p) {
  assemble(p);
}

static void call_bare(void *arg) {
  lua_State *L = arg;
  lua_pushvalue(L, 1);
  lua_pcall(L, 0, 0, 0);
}

/* What the host adds to a call of an empty function. */
static void bench_call(world *w) {
  np_policy *p = load("return { api = 1, assemble = function(ctx, o) end }");
  world_attach(w, p);
  double hook = best_of(call_hook, p, 20000);
  np_policy_free(p);
  lua_State *L = luaL_newstate();
  if (luaL_loadstring(L, "return")) exit(2);
  say("hook", hook - best_of(call_bare, L, 20000));
  lua_close(L);
}

/* One run of a hook with `body` in it. */
static double time_body(world *w, const char *body, int n) {
  char text[500];
  snprintf(text, sizeof text, "return { api = 1, assemble = function(ctx, o) %s end }",
           body);
  np_policy *p = load(text);
  world_attach(w, p);
  double spent = best_of(call_hook, p, n);
  np_policy_free(p);
  return spent;
}

static void bench_fields(world *w) {
  double loop =
      time_body(w, "local e = ctx:entries()() for i = 1, 100000 do local x = i end", 3);
  double field = time_body(
      w, "local e = ctx:entries()() for i = 1, 100000 do local x = e.tokens end", 3);
  double kind = time_body(
      w, "local e = ctx:entries()() for i = 1, 100000 do local x = e.kind end", 3);
  say("field", (field - loop) / 100000);
  say("field_text", (kind - loop) / 100000);
}

static void bench_walk(world *w) {
  say("walk", time_body(w, "for e in ctx:entries() do end", 5));
}

/* An empty policy's, and the largest of those that are shipped. */
static void bench_memory(void) {
  np_policy *p = load("return { api = 1 }");
  say("memory", (double)p->heap.bytes);
  np_policy_free(p);
  size_t most = 0;
  DIR *dir = opendir("policies");
  for (struct dirent *d; dir && (d = readdir(dir)) != NULL;) {
    char path[400];
    np_err e;
    snprintf(path, sizeof path, "policies/%s", d->d_name);
    if (!strstr(d->d_name, ".lua") ||
        np_policy_load(&np_alloc_libc, path, NP_LIT(""), NULL, &p, &e))
      continue;
    if (p->heap.bytes > most) most = p->heap.bytes;
    np_policy_free(p);
  }
  if (dir) closedir(dir);
  if (most) say("memory_shipped", (double)most);
}

/* A policy of 300 lines: functions of some length, options, several hooks. */
static void write_policy(np_buf *b) {
  np_buf_adds(b, "local M = {}\n");
  for (int i = 0; i < 24; i++) {
    char line[600];
    snprintf(line, sizeof line,
             "-- what the text says, number %d\nlocal function step_%d(ctx, e, o)\n"
             "  local worth = 1 + 0.3 * e.citations\n  if e.kind == 'result' then\n"
             "    worth = worth * neap.pow(1 + e.identifiers, 0.75)\n"
             "  elseif e.is_error then\n    worth = worth + o.keep\n  end\n"
             "  for i = 1, %d do\n    worth = worth + i / (e.age + 1)\n  end\n"
             "  return worth\nend\n",
             i, i, i);
    np_buf_adds(b, line);
    snprintf(line, sizeof line, "M[%d] = step_%d\n", i + 1, i);
    np_buf_adds(b, line);
  }
  np_buf_adds(
      b, "return { api = 1, options = { keep = 10, slack = { default = 2, min = 0 } },\n"
         "rank = function(ctx, e, o) return M[1](ctx, e, o) end,\n"
         "assemble = function(ctx, o)\n for e in ctx:entries { kind = 'result', "
         "except_last = o.keep } do e:mask() end\nend }\n");
  np_buf_addc(b, '\0');
}

typedef struct version {
  np_policy *p;
  const char *text;
} version;

static void reload(void *arg) {
  version *v = arg;
  np_policy *fresh = load(v->text);
  np_err e;
  if (np_policy_migrate(fresh, v->p, &e) || np_policy_selftest(fresh, &e)) exit(2);
  np_policy_free(v->p);
  v->p = fresh;
}

static void bench_reload(void) {
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  write_policy(&b);
  size_t lines = 0;
  for (size_t i = 0; i < b.n; i++) lines += b.p[i] == '\n';
  if (lines < 300) exit(2);
  version v = {load(b.p), b.p};
  if (np_policy_set_state(v.p, NP_LIT("{\"seen\":[1,2,3],\"n\":7}"), NULL)) exit(2);
  say("reload", best_of(reload, &v, 50));
  say("memory_300", (double)v.p->heap.bytes);
  np_policy_free(v.p);
  np_buf_free(&b);
}

/* A log of a build, half of it errors; the parser is there already. */
static void bench_grammar(world *w) {
  static const char body[] = "local s = ('cc -O2 -c src/file.c -o "
                             "build/file.o\\nsrc/file.c:12:5: error: no such "
                             "thing\\n'):rep(820) assert(#neap.grammar.errors(s) == 820)";
  np_policy *p =
      load("return { api = 1, assemble = function() neap.grammar.errors('') end }");
  np_err e;
  world_attach(w, p);
  bool there = np_policy_assemble(p, &e) == NEAP_OK;
  np_policy_free(p);
  if (there) say("grammar", time_body(w, body, 3));
}

int main(int argc, char **argv) {
  world small, large;
  if (argc > 1) setenv("NEAP_DATA", argv[1], 1);
  vocab = world_vocab();
  world_open(&small, vocab, 12);
  world_open(&large, vocab, 5000);
  bench_call(&small);
  bench_fields(&small);
  bench_walk(&large);
  bench_memory();
  bench_reload();
  bench_grammar(&small);
  world_close(&large);
  world_close(&small);
  np_vocab_free(vocab);
  return 0;
}
