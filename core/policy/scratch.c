/*
** The scratchpad for a policy: what waits there, a text of its own, and its verdict: what it passes
** is shown from the next prompt on. next: trigger.c
*/
#include "policy/host.h"

const char *const np_scratch_keys[] = {"patch", "source", NULL};

static void check_pad(lua_State *L) {
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  if (!np_host(L)->turn.attempt) luaL_error(L, "this session has no scratchpad");
}

static int look(lua_State *L, np_sight what) {
  np_policy *p = np_host(L);
  check_pad(L);
  np_buf_clear(&p->patch);
  p->turn.look(p->turn.deed_ctx, what, &p->patch);
  if (p->patch.failed) {
    np_err e;
    np_fail_mem(&e);
    return np_break(L, &e);
  }
  np_charge_slow(L, 20 + p->patch.n / 4);
  np_plain_read(L, np_buf_str(&p->patch));
  return 1;
}

/* scratchpad(): what waits, oldest first: { id, who, source, step, text, patch } each. */
int np_context_scratchpad(lua_State *L) {
  return look(L, NP_SIGHT_SCRATCH);
}

/* stale(): values of the state object that rest on what is refuted: { path, entry, source } each. */
int np_context_stale(lua_State *L) {
  return look(L, NP_SIGHT_STALE);
}

/* {source=, patch=}: the patch as JSON in the policy's buffer. */
static void read_options(lua_State *L, np_pending *out) {
  np_policy *p = np_host(L);
  np_buf_clear(&p->patch);
  if (lua_isnoneornil(L, 3)) return;
  luaL_checktype(L, 3, LUA_TTABLE);
  int step = np_pairs_push(L, 3);
  while (np_pairs_next(L, step, 3)) {
    int which = np_check_name(L, step + 1, "scratch: key", np_scratch_keys);
    lua_pushvalue(L, step + 2);
    if (which == 1) {
      out->source = np_check_whole(L, "scratch", "source");
    } else if (lua_type(L, -1) == LUA_TSTRING) {
      np_buf_add(&p->patch, np_check_str(L, lua_gettop(L)));
    } else {
      luaL_checktype(L, -1, LUA_TTABLE);
      np_plain_write(L, lua_gettop(L), "scratch: patch", &p->patch);
    }
    lua_pop(L, 1);
  }
  if (!p->patch.failed) return;
  np_err e;
  np_fail_mem(&e);
  np_break(L, &e);
}

/* scratch(text, {source=, patch=}): true, or nil and why not. */
int np_context_scratch(lua_State *L) {
  np_pending new = {.deed = NP_DEED_SCRATCH, .reason = NP_LIT("")};
  check_pad(L);
  np_check_change(L);
  luaL_checktype(L, 2, LUA_TSTRING);
  lua_settop(L, 3);
  read_options(L, &new);
  new.text = np_check_str(L, 2);
  new.patch = np_buf_str(&np_host(L)->patch);
  if (!new.patch.p) new.patch = NP_LIT("");
  return np_deed_ask(L, new, 200 + new.text.n / 16 + new.patch.n / 4);
}

/* A verdict on the number at 2, its reason at 3. */
static int decide(lua_State *L, np_pending new) {
  np_policy *p = np_host(L);
  check_pad(L);
  np_check_change(L);
  new.id = luaL_checkinteger(L, 2);
  if (!lua_isnoneornil(L, 3)) {
    luaL_checktype(L, 3, LUA_TSTRING);
    new.reason = np_check_str(L, 3);
  }
  for (size_t i = 0; i < p->pending_count; i++) {
    np_deed deed = p->pending[i].deed;
    bool verdict = deed == NP_DEED_PASS || deed == NP_DEED_REJECT;
    if (!verdict || p->pending[i].id != new.id) continue;
    lua_pushnil(L);
    lua_pushfstring(L, "number %I is decided in this turn already", (LUAI_UACINT) new.id);
    return 2;
  }
  return np_deed_ask(L, new, 200 + new.reason.n / 16);
}

/* pass(id, reason, into): true, or nil and why not. */
int np_context_pass(lua_State *L) {
  static const char *const kinds[] = {"evidence", "memory", NULL};
  np_pending new = {.deed = NP_DEED_PASS,
                    .text = NP_LIT(""),
                    .patch = NP_LIT(""),
                    .reason = NP_LIT("")};
  lua_settop(L, 4);
  new.memory = luaL_checkoption(L, 4, "evidence", kinds) == 1;
  return decide(L, new);
}

/* reject(id, reason) */
int np_context_reject(lua_State *L) {
  np_pending new = {.deed = NP_DEED_REJECT,
                    .text = NP_LIT(""),
                    .patch = NP_LIT(""),
                    .reason = NP_LIT("")};
  lua_settop(L, 3);
  return decide(L, new);
}
