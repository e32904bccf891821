/*
** When to act: parts of the work, and a trigger of two parts: something calls for it, and enough has
** been done since the last rewrite for it to pay. next: map.c
*/
#include "policy/host.h"

const char *const np_due_keys[] = {"drift", "phase", "turns", "usage", NULL};

static void push_name(lua_State *L, np_str name) {
  if (name.n) lua_pushlstring(L, name.p, name.n);
  else lua_pushnil(L);
}

/* phase(): name, first step, and the same of the one before; nil where there is none.
** phase(name): the next one begins with this turn's step: true, or nil and why not. */
int np_context_phase(lua_State *L) {
  const np_turn *t = &np_host(L)->turn;
  np_pending new = {.deed = NP_DEED_PHASE, .patch = NP_LIT(""), .reason = NP_LIT("")};
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  if (lua_isnoneornil(L, 2)) {
    push_name(L, t->phase);
    lua_pushinteger(L, t->phase_from);
    push_name(L, t->phase_before);
    lua_pushinteger(L, t->before_from);
    return t->phase_before.n ? 4 : t->phase.n ? (lua_pop(L, 2), 2) : (lua_pop(L, 3), 1);
  }
  luaL_checktype(L, 2, LUA_TSTRING);
  np_check_change(L);
  if (!t->attempt) luaL_error(L, "this session has no phases");
  new.text = np_check_str(L, 2);
  return np_deed_ask(L, new, 200);
}

typedef struct due {
  double usage, drift; /* negative: not asked for */
  int64_t turns;       /* at least so many; -1: not asked for */
  bool phase;
  np_str named; /* a phase of that name; empty: any */
} due;

static double check_share(lua_State *L, const char *key) {
  double d = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;
  if (!(d >= 0 && d <= 1)) luaL_error(L, "due: %s must be a number from 0 to 1", key);
  return d;
}

/* A name, or true for any. */
static void check_phase(lua_State *L, due *d) {
  d->phase = lua_toboolean(L, -1);
  if (lua_type(L, -1) == LUA_TSTRING) d->named.p = lua_tolstring(L, -1, &d->named.n);
  else if (lua_type(L, -1) != LUA_TBOOLEAN)
    luaL_error(L, "due: phase must be true or a name");
}

static due check_due(lua_State *L) {
  due d = {-1, -1, -1, false, NP_LIT("")};
  luaL_checktype(L, 2, LUA_TTABLE);
  int step = np_pairs_push(L, 2);
  while (np_pairs_next(L, step, 2)) {
    int which = np_check_name(L, step + 1, "due: key", np_due_keys);
    lua_pushvalue(L, step + 2); /* the argument table keeps a name */
    if (which == 0) d.drift = check_share(L, "drift");
    else if (which == 1) check_phase(L, &d);
    else if (which == 2) d.turns = np_check_whole(L, "due", "turns");
    else d.usage = check_share(L, "usage");
    lua_pop(L, 1);
  }
  if (d.usage < 0 && d.drift < 0 && !d.phase && d.turns < 0)
    luaL_error(
        L, "due takes usage, drift, phase or turns, as due { usage = 0.8, turns = 10 }");
  return d;
}

static bool is_adrift(lua_State *L, double limit) {
  double share;
  np_index_need(L);
  return np_cite_drift(np_host(L)->pack->log->cite, &share) && share >= limit;
}

static bool is_full(const np_policy *p, double limit) {
  return p->turn.budget > 0 &&
         (double)np_pack_tokens(p->pack) >= limit * (double)p->turn.budget;
}

/* due{usage=, drift=, phase=, turns=}: which of the first three has come, once so many turns were
** since the last rewrite; nil: none. `turns` alone is one, too. */
int np_context_due(lua_State *L) {
  np_policy *p = np_host(L);
  const char *which = NULL;
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  lua_settop(L, 2);
  due d = check_due(L);
  bool phase =
      d.phase && p->turn.phase_fresh && (!d.named.n || np_str_eq(d.named, p->turn.phase));
  bool alone = d.usage < 0 && d.drift < 0 && !d.phase;
  if (p->turn.quiet >= d.turns) {
    if (d.usage >= 0 && is_full(p, d.usage)) which = "usage";
    else if (phase) which = "phase";
    else if (d.drift >= 0 && is_adrift(L, d.drift)) which = "drift";
    else if (alone) which = "turns";
  }
  if (which) lua_pushstring(L, which);
  else lua_pushnil(L);
  return 1;
}
