/*
** Memory that runs out anywhere in a policy's life: loading a file with a module, every hook, a
** model's answer, state that is written and read, a reload with its migration. The n-th request
** for memory fails, alone or with all that follow, for every n: an error of memory or a success,
** nothing left, never an abort. next: test_policy.c
*/
#define _XOPEN_SOURCE 700
#include "apart.h"
#include "policy_world.h"

#include <sys/stat.h>

static np_vocab *vocab;
static char folder[] = "/tmp/neap-memory-XXXXXX";

static const char first[] =
    "local lib = require('lib')\n"
    "return { api = 1, order = 'value', state_version = 1, options = { n = 3, s = { "
    "default = "
    "'a', help = 'text' } },\n"
    "rank = function(ctx, e, o) return e.identifiers / e.age + #e.hash end,\n"
    "admit = function(ctx, e, o) if e.kind == 'result' then e:trim { tokens = 60 } end "
    "end,\n"
    "compact = function(ctx, o)\n"
    "  local span = ctx:span { before = 4 }\n"
    "  local text, why = ctx:ask { prompt = lib.join('sum', 'up') }\n"
    "  ctx:fold(span, text or why)\n"
    "  ctx.state.sums = { text }\n"
    "end,\n"
    "assemble = function(ctx, o)\n"
    "  local t = {} for e in ctx:entries { tool = { 'read', 'bash' } } do t[e.id] = "
    "e.text end\n"
    "  for k, v in pairs(t) do ctx.state[k] = { #v, v:sub(1, 30), [9] = { x = 0.1 } } "
    "end\n"
    "  for w in ('a bb ccc'):gmatch('%a+') do ctx.state[w] = w:gsub('.', { a = 'A' }) "
    "end\n"
    "  table.sort(t) neap.say(lib.join('x', ('%5.2f %q %s'):format(1.5, 'q', t)))\n"
    "  pcall(error, {}) xpcall(error, function(e) return e .. '' end, 'x')\n"
    "  ctx:shrink(2000)\n"
    "end,\n"
    "overflow = function(ctx, o, short) ctx:shrink(1800 - short) end,\n"
    "recall = function(ctx, query, o) local t = {} for e in ctx:entries() do t[#t + 1] = "
    "e.id "
    "end return t end,\n"
    "selftest = function() return lib.join('a', 'b') == 'a b' end }\n";

static const char second[] = "return { api = 1, state_version = 2,\n"
                             "migrate = function(old, from) old.from = from old.copy = { "
                             "old.a, old.bb } return old end,\n"
                             "selftest = function() end,\n"
                             "assemble = function(ctx) ctx.state.n = #ctx.state.copy for "
                             "e in ctx:entries { kind = "
                             "'result', before = 6 } do e:mask() end end }\n";

static const char *at(const char *name) {
  static char path[100];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void put(const char *name, const char *text) {
  FILE *f = fopen(at(name), "wb");
  if (!f || fputs(text, f) < 0 || fclose(f)) exit(2);
}

/* ---- one life ---- */

static neap_rc run_hooks(np_policy *p, np_err *e) {
  int64_t found[8];
  size_t count;
  neap_rc rc = np_policy_selftest(p, e);
  for (int64_t id = 1; !rc && id < 12; id++) rc = np_policy_admit(p, id, e);
  if (!rc) rc = np_policy_compact(p, e);
  const np_ask *ask = np_policy_open_ask(p, 0);
  if (!rc && !ask) rc = np_fail(e, NEAP_E_MISUSE, "nothing was asked");
  if (!rc)
    rc = np_policy_answer(p, ask->id, NP_LIT(""), NP_LIT("the sum of it"), true, e);
  if (!rc) rc = np_policy_compact(p, e);
  if (!rc) rc = np_policy_assemble(p, e);
  if (!rc) rc = np_policy_overflow(p, 5, e);
  if (!rc) rc = np_policy_recall(p, NP_LIT("value"), found, NP_COUNT(found), &count, e);
  return rc;
}

static neap_rc convert(const neap_alloc *a, np_policy *p, np_err *e) {
  np_buf b;
  np_buf_init(&b, a);
  neap_rc rc = np_policy_state(p, &b, e);
  if (!rc) rc = np_policy_set_state(p, np_buf_str(&b), e);
  np_buf_clear(&b);
  if (!rc) rc = np_policy_options(p, &b, e);
  np_buf_clear(&b);
  if (!rc) rc = np_policy_sources(p, &b, e);
  np_buf_free(&b);
  return rc;
}

/* The second version beside the first, as the engine swaps it in. */
static neap_rc reload(const neap_alloc *a, world *w, np_policy *old, np_err *e) {
  np_policy *p = NULL;
  np_policy_changed(old);
  neap_rc rc = np_policy_load(a, at("second.lua"), NP_LIT(""), NULL, &p, e);
  if (!rc) rc = np_policy_migrate(p, old, e);
  if (!rc) rc = np_policy_selftest(p, e);
  if (!rc) world_attach(w, p);
  if (!rc) rc = np_policy_assemble(p, e);
  np_policy_free(p);
  return rc;
}

static neap_rc live(const neap_alloc *a, np_err *e) {
  world w;
  int64_t ask = 0;
  np_policy *p = NULL;
  world_open(&w, vocab, 8);
  w.turn.asks = &ask;
  neap_rc rc =
      np_policy_load(a, at("first.lua"), NP_LIT("{\"n\":4,\"s\":\"b\"}"), NULL, &p, e);
  if (!rc) {
    world_attach(&w, p);
    rc = run_hooks(p, e);
  }
  if (!rc) rc = convert(a, p, e);
  if (!rc) rc = reload(a, &w, p, e);
  np_policy_free(p);
  world_close(&w);
  return rc;
}

/* ---- all of them ---- */

/* Every n, in a process of its own: an abort is a failure of the sweep. */
static bool sweep(const void *arg) {
  bool once = *(const bool *)arg, ended = false;
  int64_t n = 1, failures = 0;
  for (; n < 1000000 && !ended; n += n < 700 ? 1 : 3) {
    counter c = {.fail_at = n, .once = once};
    neap_alloc a = counter_alloc(&c);
    np_err e = {.code = NEAP_OK};
    neap_rc rc = live(&a, &e);
    ended = c.made < n;
    failures += rc != NEAP_OK;
    if (c.live == 0 && (rc == NEAP_OK || rc == NEAP_E_MEMORY) && (rc || once || ended))
      continue;
    fprintf(stderr, "request %d of memory fails%s: %s; %d blocks left\n", (int)n,
            once ? "" : " and all that follow", rc ? e.text : "it goes well",
            (int)c.live);
    return false;
  }
  fprintf(stderr, "%d requests, %d failures\n", (int)n, (int)failures);
  return n > 500 && failures > (once ? 50 : 500);
}

int main(void) {
  static const bool once[] = {false, true};
  np_err e = {.code = NEAP_OK};
  vocab = world_vocab();
  if (!mkdtemp(folder)) exit(2);
  put("first.lua", first);
  put("second.lua", second);
  put("lib.lua", "return { join = function(...) return table.concat({ ... }, ' ') end }");
  neap_rc rc = live(&np_alloc_libc, &e);
  if (rc) fprintf(stderr, "%s\n", e.text);
  CHECK("a policy lives", rc == NEAP_OK);
  CHECK("it may run out of memory anywhere", !apart(sweep, &once[0]));
  CHECK("for a moment as well", !apart(sweep, &once[1]));
  np_vocab_free(vocab);
  static const char *const files[] = {"first.lua", "second.lua", "lib.lua"};
  for (size_t i = 0; i < NP_COUNT(files); i++) unlink(at(files[i]));
  rmdir(folder);
  return check_done();
}
