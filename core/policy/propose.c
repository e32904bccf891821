/*
** What a hook asks for besides the prompt: it is tried at once, so that the hook is told what is
** wrong, and done when the turn is decided: a hook that fails has asked for nothing. And the state
** object for a policy: reading it, and proposing a change of it. next: scratch.c
*/
#include "policy/host.h"

const char *const np_propose_keys[] = {"reason", "source", NULL};

#define REASON_BYTES 1000
#define PENDING_MAX 300 /* of one turn: a whole scratchpad can be gone through */
#define PROPOSED_MAX 16 /* of them proposals */

void np_pending_free(np_policy *p) {
  np_free(&p->alloc, p->pending);
  np_arena_free(&p->pending_text);
}

static void settle(np_policy *p) {
  if (!p->pending_count) np_arena_clear(&p->pending_text);
}

void np_pending_back(np_policy *p, size_t mark) {
  if (p->pending_count > mark) p->pending_count = mark;
  settle(p);
}

/* Those of one hook, or with `ready` those of every hook but a compact that sleeps. */
static void remove_some(np_policy *p, np_hook hook, bool ready) {
  size_t kept = 0;
  for (size_t i = 0; i < p->pending_count; i++) {
    bool sleeps = p->pending[i].hook == NP_HOOK_COMPACT && p->run.asleep;
    if (ready ? !sleeps : p->pending[i].hook == (int)hook) continue;
    p->pending[kept++] = p->pending[i];
  }
  p->pending_count = kept;
  settle(p);
}

void np_pending_forget(np_policy *p, np_hook hook) {
  remove_some(p, hook, false);
}

void np_policy_proposals_done(np_policy *p) {
  remove_some(p, NP_HOOK_COUNT, true);
}

const np_pending *np_policy_proposal(const np_policy *p, size_t i) {
  for (size_t at = 0; at < p->pending_count; at++) {
    if (p->pending[at].hook == NP_HOOK_COMPACT && p->run.asleep) continue;
    if (!i--) return &p->pending[at];
  }
  return NULL;
}

static bool keep(np_policy *p, np_pending new) {
  void *list = p->pending;
  bool ok = np_grow(&p->alloc, &list, &p->pending_cap, p->pending_count + 1,
                    sizeof *p->pending);
  p->pending = list;
  ok = ok && np_arena_copy(&p->pending_text, new.text, &new.text) &&
       np_arena_copy(&p->pending_text, new.patch, &new.patch) &&
       np_arena_copy(&p->pending_text, new.reason, &new.reason);
  if (ok) p->pending[p->pending_count++] = new;
  return ok;
}

static np_str object_now(const np_policy *p) {
  return p->turn.object ? p->turn.object(p->turn.deed_ctx) : NP_LIT("");
}

/* object(): the state object, a table of the policy's own; nil where there is none yet. */
int np_context_object(lua_State *L) {
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  np_str json = object_now(np_host(L));
  np_charge_slow(L, 20 + json.n / 4);
  if (json.n) np_plain_read(L, json);
  else lua_pushnil(L);
  return 1;
}

/* A text of the options: it stays in their table. */
np_str np_deed_text(lua_State *L, int index, const char *who, const char *key) {
  np_str s = NP_LIT("");
  lua_getfield(L, index, key);
  if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TSTRING)
    luaL_error(L, "%s: %s must be a string", who, key);
  if (!lua_isnil(L, -1)) s.p = lua_tolstring(L, -1, &s.n);
  lua_pop(L, 1);
  return s;
}

/* {reason=, source=} */
static void read_options(lua_State *L, np_pending *out) {
  if (lua_isnoneornil(L, 3)) return;
  luaL_checktype(L, 3, LUA_TTABLE);
  int step = np_pairs_push(L, 3);
  while (np_pairs_next(L, step, 3)) {
    if (np_check_name(L, step + 1, "propose: key", np_propose_keys) != 1) continue;
    lua_pushvalue(L, step + 2);
    out->source = np_check_whole(L, "propose", "source");
    lua_pop(L, 1);
  }
  out->reason = np_deed_text(L, 3, "propose", "reason");
  if (out->reason.n > REASON_BYTES)
    luaL_error(L, "propose: a reason has at most 1,000 bytes");
}

/* The faults as one text, a line each; built in the policy's buffer, which an error of Lua's does
** not lose. */
static int push_faults(lua_State *L) {
  np_policy *p = np_host(L);
  np_json all, item, path, what;
  np_buf *b = &p->patch;
  np_buf_clear(b);
  if (!np_json_check(np_buf_str(&p->faults), &all, NULL)) {
    np_json_iter it = np_json_each(all);
    while (np_json_next(&it, NULL, &item)) {
      np_json_get(item, "path", &path);
      np_json_get(item, "what", &what);
      if (b->n) np_buf_addc(b, '\n');
      np_json_text(path, b);
      if (path.raw.n > 2) np_buf_adds(b, ": ");
      np_json_text(what, b);
    }
  }
  lua_pushlstring(L, b->p ? b->p : "", b->n);
  return 1;
}

static void push_patch(lua_State *L, np_buf *out) {
  if (lua_type(L, 2) == LUA_TSTRING) np_buf_add(out, np_check_str(L, 2));
  else np_plain_write(L, 2, "propose: patch", out);
}

static size_t proposed(const np_policy *p) {
  size_t n = 0;
  for (size_t i = 0; i < p->pending_count; i++)
    n += p->pending[i].deed == NP_DEED_PROPOSE;
  return n;
}

int np_deed_ask(lua_State *L, np_pending new, uint64_t charge) {
  np_policy *p = np_host(L);
  np_err e = {.code = NEAP_OK};
  new.hook = (int)p->hook;
  if (p->pending_count >= PENDING_MAX)
    luaL_error(L, "a hook asks for at most %d things besides the prompt", PENDING_MAX);
  np_charge_slow(L, charge);
  np_buf_clear(&p->faults);
  neap_rc rc = p->turn.attempt(p->turn.deed_ctx, &new, &p->faults, &e);
  if (rc == NEAP_E_MEMORY) return np_break(L, &e);
  if (rc && !p->faults.n) {
    lua_pushnil(L);
    lua_pushstring(L, e.text);
    return 2;
  }
  if (rc) {
    lua_pushnil(L);
    return 1 + push_faults(L);
  }
  if (!keep(p, new)) {
    np_fail_mem(&e);
    return np_break(L, &e);
  }
  lua_pushboolean(L, 1);
  return 1;
}

/* propose(patch, {reason=, source=}): true, or nil and what is wrong. */
int np_context_propose(lua_State *L) {
  np_policy *p = np_host(L);
  np_err e = {.code = NEAP_OK};
  np_pending new = {.deed = NP_DEED_PROPOSE, .reason = NP_LIT(""), .text = NP_LIT("")};
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  np_check_change(L);
  if (lua_type(L, 2) != LUA_TSTRING) luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 3);
  read_options(L, &new);
  if (!p->turn.attempt || !p->turn.has_object)
    luaL_error(L, "this session has no state object");
  if (proposed(p) >= PROPOSED_MAX)
    luaL_error(L, "a turn takes at most 16 proposals; put them into one");
  np_buf_clear(&p->patch);
  push_patch(L, &p->patch);
  if (p->patch.failed) {
    np_fail_mem(&e);
    return np_break(L, &e);
  }
  new.patch = np_buf_str(&p->patch);
  return np_deed_ask(L, new, 1000 + p->patch.n / 4 + object_now(p).n / 4);
}
