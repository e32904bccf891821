/*
** Calling hooks: each in a coroutine that C owns, on a full budget, all or nothing. A hook
** that fails has asked for nothing: the pack is undone to where it was, ctx.state and the
** random numbers are as before. next: reload.c
*/
#include <stdio.h>

#include "policy/host.h"

static const char *const hook_names[] = {
#define NP_X(id, name) name,
    NP_HOOKS(NP_X)
#undef NP_X
};

typedef struct job {
  np_hook hook;
  bool has_entry, has_number;
  int64_t entry, number;
  np_str query;   /* recall: what is searched */
  int64_t *found; /* and where its answer goes, at most `room` ids */
  size_t room, count;
  int64_t from; /* migrate: the version of the state that p->state holds */
} job;

void np_state_push(lua_State *L) {
  np_policy *p = np_host(L);
  if (!p->state_read) {
    np_plain_read(L, np_buf_str(&p->state));
    lua_rawseti(L, LUA_REGISTRYINDEX, p->state_ref);
    p->state_read = true;
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, p->state_ref);
}

static void fill_slot(lua_State *L, int ref) {
  lua_rawseti(L, LUA_REGISTRYINDEX, ref);
}

/* Pushes ctx and o, and keeps them for the rank hook. */
static void push_context(lua_State *L) {
  np_policy *p = np_host(L);
  np_context_push(L);
  lua_pushvalue(L, -1);
  fill_slot(L, p->ctx_ref);
  np_options_push(L);
  lua_pushvalue(L, -1);
  fill_slot(L, p->options_ref);
}

/* ---- what runs in the coroutine ---- */

/* admit(ctx, entry, o), overflow(ctx, o, short), the others (ctx, o). */
static void run_hook(lua_State *L, const job *j) {
  const np_policy *p = np_host(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, p->hooks[j->hook]);
  push_context(L);
  if (j->has_entry) {
    np_entry_push(L, j->entry);
    lua_insert(L, -2);
  }
  if (j->has_number) lua_pushinteger(L, j->number);
  lua_call(L, 2 + j->has_entry + j->has_number, 0);
}

/* recall(ctx, query, o) returns entry ids, best first. */
static void run_recall(lua_State *L, job *j) {
  np_policy *p = np_host(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, p->hooks[NP_HOOK_RECALL]);
  push_context(L);
  lua_pushlstring(L, j->query.p, j->query.n);
  lua_insert(L, -2);
  lua_call(L, 3, 1);
  if (lua_type(L, -1) != LUA_TTABLE) {
    luaL_error(L, "recall must return a list of entry ids, not a %s",
               luaL_typename(L, -1));
  }
  for (lua_Integer i = 1; j->count < j->room && lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
    int64_t id = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
    if (!np_log_entry(p->pack->log, id)) {
      luaL_error(L, "recall: item %I of the list is no entry's id", (LUAI_UACINT)i);
    }
    j->found[j->count++] = id;
    lua_pop(L, 1);
  }
}

static void run_default_overflow(lua_State *L) {
  np_policy *p = np_host(L);
  push_context(L); /* for a rank hook */
  np_shrink(L, p->turn.budget / 10 * 7 + p->turn.budget % 10 * 7 / 10, 0,
            (np_reason){NP_LIT("overflow"), NP_LIT("default overflow")});
}

static void run_selftest(lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, np_host(L)->hooks[NP_HOOK_SELFTEST]);
  lua_call(L, 0, 1);
  if (lua_isboolean(L, -1) && !lua_toboolean(L, -1)) {
    luaL_error(L, "selftest returned false; the version is refused");
  }
}

/* migrate(old_state, from): what it returns is the new state. */
static void run_migrate(lua_State *L, const job *j) {
  np_policy *p = np_host(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, p->hooks[NP_HOOK_MIGRATE]);
  np_plain_read(L, np_buf_str(&p->state));
  lua_pushinteger(L, j->from);
  lua_call(L, 2, 1);
  if (lua_type(L, -1) != LUA_TTABLE) {
    luaL_error(L, "migrate must return the new state, a table, not a %s",
               luaL_typename(L, -1));
  }
  fill_slot(L, p->state_ref);
  p->state_read = true;
}

/* Each change of the state is kept in the log: a policy must not fill the store with it. */
#define STATE_BYTES ((size_t)256 << 10)

/* What the hook leaves in ctx.state, written down: still in its coroutine. */
static int write_state(lua_State *L) {
  np_policy *p = np_host(L);
  if (!p->state_read) return 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, p->state_ref);
  np_plain_write(L, -1, "ctx.state", &p->next_state);
  if (p->next_state.n > STATE_BYTES)
    return luaL_error(L, "ctx.state has %I bytes and may have 262,144; keep less in it",
                      (LUAI_UACINT)p->next_state.n);
  return 0;
}

static int compact_done(lua_State *L, int status, lua_KContext k) {
  (void)status;
  (void)k;
  return write_state(L);
}

/* compact(ctx, o) may sleep: nothing of C's is below it but this. */
static int run_compact(lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, np_host(L)->hooks[NP_HOOK_COMPACT]);
  push_context(L);
  lua_callk(L, 2, 0, 0, compact_done);
  return compact_done(L, LUA_OK, 0);
}

static int job_body(lua_State *L) {
  job *j = lua_touserdata(L, 1);
  np_policy *p = np_host(L);
  if (j->hook == NP_HOOK_COMPACT) return run_compact(L);
  if (j->hook == NP_HOOK_SELFTEST) run_selftest(L);
  else if (j->hook == NP_HOOK_RECALL) run_recall(L, j);
  else if (j->hook == NP_HOOK_MIGRATE) run_migrate(L, j);
  else if (p->hooks[j->hook]) run_hook(L, j);
  else run_default_overflow(L);
  return write_state(L);
}

/* Runs a coroutine on. One that fails is left to the collector: closing its variables would
** run the policy's code with hooks off. */
static int resume(lua_State *L, lua_State *co, int args) {
  np_policy *p = np_host(L);
  int results;
  p->active = co;
  int status = lua_resume(co, L, args, &results);
  p->active = L;
  if (status == LUA_OK) return 0;
  if (status == LUA_YIELD && p->run.asleep && p->hook == NP_HOOK_COMPACT) return 0;
  if (status == LUA_YIELD) return luaL_error(L, "a hook cannot sleep");
  p->heap.out = status == LUA_ERRMEM;
  lua_xmove(co, L, 1);
  return lua_error(L);
}

/* Pushes the coroutine that the call runs in. One whose last call ended well serves again; that
** of compact is its own, with a slot to sleep in. */
static lua_State *push_thread(lua_State *L) {
  np_policy *p = np_host(L);
  bool sleeps = p->hook == NP_HOOK_COMPACT;
  if (!sleeps && p->thread_idle) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, p->thread_ref);
    lua_State *co = lua_tothread(L, -1);
    lua_sethook(co, lua_gethook(L), LUA_MASKCOUNT, p->meter.interval);
    return co;
  }
  lua_State *co = lua_newthread(L); /* inherits the armed hook */
  lua_pushvalue(L, -1);
  fill_slot(L, sleeps ? p->run.thread : p->thread_ref);
  return co;
}

static int call_body(lua_State *L) {
  np_policy *p = np_host(L);
  lua_State *co = push_thread(L);
  lua_pushcfunction(co, job_body);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  p->thread_idle = p->thread_idle && p->hook == NP_HOOK_COMPACT;
  resume(L, co, 1);
  if (p->hook == NP_HOOK_COMPACT) return 0;
  lua_settop(co, 0);
  p->thread_idle = true;
  return 0;
}

/* Goes on with compact, its answer in hand, on a full budget. */
static int wake_body(lua_State *L) {
  np_policy *p = np_host(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, p->run.thread);
  lua_State *co = lua_tothread(L, -1);
  lua_sethook(co, lua_gethook(L), LUA_MASKCOUNT, p->meter.interval);
  push_context(L); /* for a rank hook */
  p->run.asleep = false;
  int n = np_answer_push(L);
  lua_xmove(L, co, n);
  return resume(L, co, n);
}

/* ---- what it cost ---- */

void np_policy_measure(np_policy *p) {
  p->measured = true;
}

bool np_policy_cost(const np_policy *p, size_t i, np_cost *out) {
  if (i >= NP_HOOK_COUNT) return false;
  *out = p->cost[i];
  out->hook = hook_names[i];
  return true;
}

int64_t np_policy_spent(const np_policy *p) {
  int64_t n = 0;
  for (size_t i = 0; i < NP_HOOK_COUNT; i++) n += p->cost[i].instructions;
  return n;
}

static void add_cost(np_policy *p, np_hook hook, int64_t instructions, size_t bytes) {
  np_cost *c = &p->cost[hook];
  c->calls++;
  c->instructions += instructions;
  if (instructions > c->most) c->most = instructions;
  if ((int64_t)bytes > c->bytes) c->bytes = (int64_t)bytes;
}

/* ---- ranks ---- */

typedef struct rank_job {
  int64_t entry;
  double rank;
} rank_job;

/* "mask.lua:20: rank of entry 7 is nan; …", the line where the hook begins. */
static void refuse_rank(lua_State *L, int64_t entry) {
  lua_Debug ar;
  char value[40];
  if (lua_type(L, -1) == LUA_TNUMBER) {
    double d = lua_tonumber(L, -1);
    if (d != d) snprintf(value, sizeof value, "nan");
    else snprintf(value, sizeof value, "%.14g", d);
  } else {
    snprintf(value, sizeof value, "a %s", luaL_typename(L, -1));
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, np_host(L)->hooks[NP_HOOK_RANK]);
  lua_getinfo(L, ">S", &ar);
  lua_pushfstring(L,
                  "%s:%d: rank of entry %I is %s; return a finite number of at least 0",
                  ar.short_src, ar.linedefined, (LUAI_UACINT)entry, value);
  lua_error(L);
}

static int rank_body(lua_State *L) {
  rank_job *j = lua_touserdata(L, 1);
  const np_policy *p = np_host(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, p->hooks[NP_HOOK_RANK]);
  lua_rawgeti(L, LUA_REGISTRYINDEX, p->ctx_ref);
  np_entry_push(L, j->entry);
  lua_rawgeti(L, LUA_REGISTRYINDEX, p->options_ref);
  lua_call(L, 3, 1);
  double d = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;
  if (!(d >= 0 && d - d == 0)) refuse_rank(L, j->entry);
  j->rank = d;
  return 0;
}

/* The pack's question. Nothing may be thrown through the pack: a rank that fails makes the
** whole call fail, as soon as the pack has returned. */
static double ask_rank(void *ctx, int64_t entry) {
  np_policy *p = ctx;
  lua_State *L = p->active;
  rank_job j = {entry, 1};
  np_err e = {.code = NEAP_OK};
  if (!L || p->broken.code) return 1;
  int64_t left = p->meter.left;
  p->ranking = true;
  if (!lua_checkstack(L, 8)) {
    np_fail_mem(&e);
  } else {
    lua_pushcfunction(L, rank_body);
    lua_pushlightuserdata(L, &j);
    int status = lua_pcall(L, 1, 0, 0);
    if (status) np_caught(p, L, status, &e);
  }
  p->ranking = false;
  if (p->measured) add_cost(p, NP_HOOK_RANK, left - p->meter.left, 0);
  if (!e.code) return j.rank;
  p->broken = e;
  p->meter.killed = true;
  snprintf(p->meter.why, sizeof p->meter.why, "%s", e.text);
  return 1;
}

/* ---- calls ---- */

void np_policy_attach(np_policy *p, np_pack *pack, const np_turn *turn, np_policy_say say,
                      void *say_ctx) {
  p->pack = pack;
  p->turn = *turn;
  p->say = say;
  p->say_ctx = say_ctx;
  pack->order = p->info.order;
  pack->ladder = p->info.ladder;
  memcpy(pack->bounds, p->info.bounds, sizeof pack->bounds);
  pack->view.want = p->info.layout;
  pack->rank = p->hooks[NP_HOOK_RANK] ? ask_rank : NULL;
  pack->rank_ctx = p;
}

static void commit_state(np_policy *p) {
  if (!p->state_read) return;
  np_buf old = p->state;
  p->state = p->next_state;
  p->next_state = old;
}

/* Runs a job; handles of it end with it, or sleep with it. */
static neap_rc run(np_policy *p, job *j, np_err *e) {
  bool wakes = j->hook == NP_HOOK_COMPACT && p->run.asleep;
  p->generation = wakes ? p->run.generation : ++p->generations;
  p->hook = j->hook;
  p->ranking = p->state_read = false;
  np_buf_clear(&p->next_state);
  if (j->hook == NP_HOOK_COMPACT && !wakes) np_run_start(p);
  size_t before = p->heap.bytes;
  neap_rc rc = np_enter(p, p->limits.call_instructions, p->limits.call_ms,
                        wakes ? wake_body : call_body, j, e);
  if (p->hooks[j->hook])
    add_cost(p, j->hook, p->meter.limit - p->meter.left, p->heap.peak - before);
  p->generation = ++p->generations;
  if (!rc && !(j->hook == NP_HOOK_COMPACT && p->run.asleep)) commit_state(p);
  return rc;
}

static neap_rc busy(np_err *e) {
  return np_fail(e, NEAP_E_MISUSE, "a hook of this policy is running; call it later");
}

/* Calls a hook over the pack, all or nothing. */
static neap_rc call(np_policy *p, job *j, np_err *e) {
  np_err undo;
  if (p->active) return busy(e);
  if (!p->pack)
    return np_fail(e, NEAP_E_MISUSE, "%s: no pack is attached", hook_names[j->hook]);
  size_t mark = np_pack_mark(p->pack), pending = p->pending_count;
  uint64_t random = p->turn.random ? *p->turn.random : 0;
  neap_rc rc = run(p, j, e);
  if (!rc) return rc;
  if (p->turn.random) *p->turn.random = random;
  np_pending_back(p, pending);
  if (np_pack_undo(p->pack, mark, &undo)) {
    if (e) *e = undo;
    return undo.code;
  }
  return rc;
}

neap_rc np_policy_admit(np_policy *p, int64_t entry, np_err *e) {
  job j = {.hook = NP_HOOK_ADMIT, .has_entry = true, .entry = entry};
  if (!p->hooks[NP_HOOK_ADMIT]) return NEAP_OK;
  if (!p->pack || !np_log_entry(p->pack->log, entry)) {
    return np_fail(e, NEAP_E_ARG, "admit: there is no entry of that id");
  }
  return call(p, &j, e);
}

/* A hook that sleeps has asked for nothing yet. */
static neap_rc compact(np_policy *p, np_err *e) {
  job j = {.hook = NP_HOOK_COMPACT};
  np_err undo = {.code = NEAP_OK};
  size_t mark = p->run.mark = np_pack_mark(p->pack);
  neap_rc rc = p->run.asleep ? np_wishes_repeat(p, e) : NEAP_OK;
  if (!rc) rc = call(p, &j, e);
  if (rc) p->run.asleep = false;
  if (rc) np_pending_forget(p, NP_HOOK_COMPACT);
  if (rc || p->run.asleep) np_pack_undo(p->pack, mark, &undo);
  p->run.over = !p->run.asleep;
  p->run.result = rc ? "failed" : "done";
  if (!undo.code) return rc;
  if (e) *e = undo;
  return undo.code;
}

neap_rc np_policy_compact(np_policy *p, np_err *e) {
  if (!p->hooks[NP_HOOK_COMPACT] || np_policy_open_ask(p, 0)) return NEAP_OK;
  if (p->active) return busy(e);
  if (!p->pack) return np_fail(e, NEAP_E_MISUSE, "compact: no pack is attached");
  return compact(p, e);
}

neap_rc np_policy_assemble(np_policy *p, np_err *e) {
  job j = {.hook = NP_HOOK_ASSEMBLE};
  return p->hooks[NP_HOOK_ASSEMBLE] ? call(p, &j, e) : NEAP_OK;
}

neap_rc np_policy_overflow(np_policy *p, int64_t short_by, np_err *e) {
  job j = {.hook = NP_HOOK_OVERFLOW, .has_number = true, .number = short_by};
  return call(p, &j, e);
}

neap_rc np_policy_recall(np_policy *p, np_str query, int64_t *found, size_t room,
                         size_t *count, np_err *e) {
  job j = {.hook = NP_HOOK_RECALL, .query = query, .found = found, .room = room};
  neap_rc rc = call(p, &j, e);
  *count = rc ? 0 : j.count;
  return rc;
}

neap_rc np_policy_selftest(np_policy *p, np_err *e) {
  job j = {.hook = NP_HOOK_SELFTEST};
  if (!p->hooks[NP_HOOK_SELFTEST]) return NEAP_OK;
  return p->active ? busy(e) : run(p, &j, e);
}

/* ---- state ---- */

neap_rc np_policy_state(np_policy *p, np_buf *out, np_err *e) {
  np_buf_add(out, p->state.n ? np_buf_str(&p->state) : NP_LIT("{}"));
  return out->failed ? np_fail_mem(e) : NEAP_OK;
}

neap_rc np_policy_set_state(np_policy *p, np_str json, np_err *e) {
  np_json v;
  if (p->active) return busy(e);
  neap_rc rc = np_json_check(json, &v, e);
  if (rc) return rc;
  if (v.type != NP_JSON_OBJECT && v.type != NP_JSON_ARRAY) {
    return np_fail(e, NEAP_E_SHAPE, "a policy's state is a JSON object or array");
  }
  np_buf_clear(&p->next_state);
  np_buf_add(&p->next_state, v.raw);
  if (p->next_state.failed) return np_fail_mem(e);
  p->state_read = true;
  commit_state(p);
  p->state_read = false;
  return NEAP_OK;
}

int64_t np_policy_state_version(const np_policy *p) {
  return p->state_version;
}

neap_rc np_policy_take_state(np_policy *p, np_str json, int64_t from, np_err *e) {
  job j = {.hook = NP_HOOK_MIGRATE, .from = from};
  if (p->active) return busy(e);
  bool empty = json.n == 0 || np_str_is(json, "{}");
  neap_rc rc = json.n ? np_policy_set_state(p, json, e) : NEAP_OK;
  if (!json.n) np_buf_clear(&p->state);
  if (rc || from == p->state_version) return rc;
  if (p->hooks[NP_HOOK_MIGRATE]) return run(p, &j, e);
  if (empty) return NEAP_OK;
  np_buf_clear(&p->state);
  return np_fail(e, NEAP_E_POLICY,
                 "%s: state_version is %lld and was %lld; write migrate(old_state, from)",
                 p->info.path.p, (long long)p->state_version, (long long)from);
}

neap_rc np_policy_migrate(np_policy *p, np_policy *old, np_err *e) {
  return np_policy_take_state(p, np_buf_str(&old->state), old->state_version, e);
}
