/*
** The context of a call: numbers of the turn, the economy, random numbers, the session's
** state, and the requests that concern the whole prompt. It dies with the call. next: call.c
*/
#include <stdio.h>

#include "policy/host.h"
#include "text/text.h"

#define MOST_NAMES 64 /* fields and methods of one kind of handle */
#define FIELD 5       /* instructions: a field takes the time of some */

/* ---- handles ---- */

static int handle_newindex(lua_State *L) {
  return luaL_error(
      L, "fields of the context and of entries cannot be set; use its methods");
}

void np_open_handle(lua_State *L, const char *type, lua_CFunction index,
                    const char *const *fields, const luaL_Reg *methods) {
  luaL_newmetatable(L, type);
  lua_newtable(L);
  luaL_setfuncs(L, methods, 0);
  for (int i = 0; fields[i]; i++) {
    lua_pushinteger(L, i);
    lua_setfield(L, -2, fields[i]);
  }
  lua_pushcclosure(L, index, 1);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, handle_newindex);
  lua_setfield(L, -2, "__newindex");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 1);
}

/* Raises for a name that is neither a field nor a method: the fields as they are listed, then
** the methods by their names, since a table of Lua has no order. */
static int unknown_field(lua_State *L, const char *what, np_str name,
                         const char *const *fields) {
  const char *all[MOST_NAMES + 1];
  size_t n = 0;
  for (; n < MOST_NAMES && fields[n]; n++) all[n] = fields[n];
  size_t first = n;
  lua_pushnil(L);
  while (n < MOST_NAMES && lua_next(L, lua_upvalueindex(1))) {
    const char *method = lua_tostring(L, -2);
    bool is_method = lua_isfunction(L, -1);
    lua_pop(L, 1);
    if (!is_method) continue;
    size_t at = n++;
    for (; at > first && strcmp(all[at - 1], method) > 0; at--) all[at] = all[at - 1];
    all[at] = method;
  }
  all[n] = NULL;
  return np_unknown(L, what, name, all);
}

int np_field(lua_State *L, const char *what, const char *const *fields) {
  np_str name;
  np_charge(L, FIELD); /* else the clock would end what only reads fields */
  lua_pushvalue(L, 2);
  int t = lua_rawget(L, lua_upvalueindex(1));
  if (t == LUA_TFUNCTION) return -1;
  if (t == LUA_TNUMBER) return (int)lua_tointeger(L, -1);
  if (lua_type(L, 2) != LUA_TSTRING) luaL_error(L, "%s has a name", what);
  name.p = lua_tolstring(L, 2, &name.n);
  return unknown_field(L, what, name, fields);
}

np_handle *np_check_handle(lua_State *L, int arg, const char *type) {
  np_handle *h = luaL_checkudata(L, arg, type);
  np_policy *p = np_host(L);
  if (h->generation != p->generation || !p->pack) {
    luaL_error(L, "the context has ended; keep data in ctx.state, not handles");
  }
  return h;
}

/* What waits to be indexed is no work of the hook's. */
void np_index_need(lua_State *L) {
  np_policy *p = np_host(L);
  np_err e = {.code = NEAP_OK};
  if (!np_log_index_waits(p->pack->log)) return;
  int64_t since = np_pause();
  neap_rc rc = np_log_index_need(p->pack->log, &e);
  np_resume(p, since);
  if (rc) np_break(L, &e);
}

void np_check_change(lua_State *L) {
  if (np_host(L)->ranking) {
    luaL_error(L, "rank may look, not change anything; use assemble");
  }
  if (np_host(L)->hook == NP_HOOK_RECALL) {
    luaL_error(L, "recall may look, not change anything; use assemble");
  }
}

np_str np_by_line(lua_State *L, char *buf, size_t cap) {
  lua_Debug ar;
  snprintf(buf, cap, "%s", np_host(L)->sources[0].name.p);
  for (int level = 0; lua_getstack(L, level, &ar); level++) {
    if (lua_getinfo(L, "Sl", &ar) && ar.currentline > 0) {
      snprintf(buf, cap, "%s:%d", ar.short_src, ar.currentline);
      break;
    }
  }
  return np_str_cstr(buf);
}

/* ---- economy ---- */

/* The one argument of a quote, {to = tokens}; without it the floor. */
static double check_quote(lua_State *L, const np_turn *t) {
  static const char *const names[] = {"to", NULL};
  double to = (double)t->floor;
  if (lua_isnoneornil(L, 1)) return to;
  if (lua_type(L, 1) != LUA_TTABLE)
    luaL_error(L, "quote takes a table, as quote { to = 50000 }, not a %s",
               luaL_typename(L, 1));
  int step = np_pairs_push(L, 1);
  while (np_pairs_next(L, step, 1)) {
    np_check_name(L, step + 1, "quote: key", names);
    if (lua_type(L, step + 2) != LUA_TNUMBER)
      luaL_error(L, "quote: to must be a number of tokens, not a %s",
                 luaL_typename(L, step + 2));
    to = lua_tonumber(L, step + 2);
    if (!(to >= 0 && to < 9e15))
      luaL_error(L, "quote: to must be a finite number of tokens of at least 0");
  }
  return to;
}

/* quote{to=}: what a rewrite down to `to` tokens (the floor) would cost now, in tokens of
** input; what it saves each turn; after how many turns it has paid. A cache that has
** forgotten the prompt has to take it anew in any case: then a rewrite is free. */
static int economy_quote(lua_State *L) {
  const np_policy *p = np_host(L);
  np_check_handle(L, lua_upvalueindex(1), NP_CONTEXT_TYPE);
  const np_turn *t = &p->turn;
  double to = check_quote(L, t), now = (double)np_pack_tokens(p->pack);
  const int64_t *region = p->pack->view.region;
  double front = (double)(region[NP_REGION_FIXED] + region[NP_REGION_TASK]);
  double again = to > front ? to - front : 0, less = now > to ? now - to : 0;
  double cost = (t->price_write - t->price_read) * again, saving = t->price_read * less;
  if (cost < 0 || t->cold) cost = 0;
  lua_createtable(L, 0, 3);
  lua_pushnumber(L, cost);
  lua_setfield(L, -2, "cost");
  lua_pushnumber(L, saving);
  lua_setfield(L, -2, "saving");
  if (saving > 0) {
    lua_pushnumber(L, cost / saving);
    lua_setfield(L, -2, "turns"); /* absent when it never pays */
  }
  return 1;
}

static void push_economy(lua_State *L, const np_turn *t) {
  lua_createtable(L, 0, 7);
  lua_pushinteger(L, t->front);
  lua_setfield(L, -2, "front");
  lua_pushnumber(L, t->price_read);
  lua_setfield(L, -2, "read");
  lua_pushnumber(L, t->price_write);
  lua_setfield(L, -2, "write");
  lua_pushboolean(L, t->cold);
  lua_setfield(L, -2, "cold");
  lua_pushinteger(L, t->floor);
  lua_setfield(L, -2, "floor");
  lua_pushinteger(L, t->height);
  lua_setfield(L, -2, "height");
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, economy_quote, 1);
  lua_setfield(L, -2, "quote");
}

/* ---- random numbers ---- */

static uint64_t next_random(lua_State *L) {
  uint64_t *state = np_host(L)->turn.random;
  if (!state) luaL_error(L, "ctx.random: this session records no random numbers");
  uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64: any seed will do */
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

/* A number in [0, range], every one as likely. */
static uint64_t next_below(lua_State *L, uint64_t range) {
  if (range == UINT64_MAX) return next_random(L);
  uint64_t n = range + 1, limit = UINT64_MAX - UINT64_MAX % n, x;
  do {
    x = next_random(L);
  } while (x >= limit);
  return x % n;
}

/* random(): in [0, 1); random(n): 1 to n; random(m, n): m to n. */
static int context_random(lua_State *L) {
  np_check_handle(L, lua_upvalueindex(1), NP_CONTEXT_TYPE);
  if (luaL_testudata(L, 1, NP_CONTEXT_TYPE))
    lua_remove(L, 1); /* ctx:random() is fine too */
  np_charge(L, 8 * FIELD);
  int n = lua_gettop(L);
  if (n == 0) {
    lua_pushnumber(L, (double)(next_random(L) >> 11) * (0.5 / ((uint64_t)1 << 52)));
    return 1;
  }
  lua_Integer lo = n == 1 ? 1 : luaL_checkinteger(L, 1),
              hi = luaL_checkinteger(L, n == 1 ? 1 : 2);
  luaL_argcheck(L, lo <= hi, n == 1 ? 1 : 2, "interval is empty");
  uint64_t x = (uint64_t)lo + next_below(L, (uint64_t)hi - (uint64_t)lo);
  lua_pushinteger(L, (lua_Integer)x);
  return 1;
}

/* ---- the whole prompt ---- */

/* A shrink may have to count every text anew. The first of a call is the host's to pay: it is
** what a policy is for; further ones are the policy's. */
static uint64_t price_of_shrink(np_policy *p) {
  const np_log *lg = p->pack->log;
  uint64_t bytes = 0;
  for (size_t i = 0; p->shrunk && i < lg->entry_count; i++)
    bytes += lg->entries[i].text.n;
  p->shrunk = true;
  return 100 + lg->entry_count + bytes / 16;
}

void np_shrink(lua_State *L, int64_t tokens, double front, np_reason r) {
  np_policy *p = np_host(L);
  np_err e = {.code = NEAP_OK};
  np_charge_slow(L, price_of_shrink(p));
  int64_t since = np_pause();
  neap_rc rc = np_pack_shrink_behind(p->pack, tokens, front, r, &e);
  np_resume(p, since);
  if (rc) np_break(L, &e);
  np_rethrow(L); /* a rank has failed */
}

/* How much more value may go so that the prompt's beginning stays: by value only. */
static double check_front(lua_State *L) {
  lua_Number front = luaL_optnumber(L, 4, 0);
  luaL_argcheck(L, front >= 0 && front < 1e15, 4,
                "front must be a finite number of at least 0");
  luaL_argcheck(L, front <= 0 || np_host(L)->pack->order == NP_ORDER_VALUE, 4,
                "front needs order = \"value\"");
  return front;
}

static int context_shrink(lua_State *L) {
  char by[LUA_IDSIZE + 24];
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  np_check_change(L);
  lua_Number tokens = luaL_checknumber(L, 2);
  luaL_argcheck(L, tokens >= 0 && tokens < 9e15, 2,
                "tokens must be a finite number of at least 0");
  np_reason r = {NP_LIT("shrink"), np_by_line(L, by, sizeof by)};
  if (!lua_isnoneornil(L, 3)) {
    luaL_checktype(L, 3, LUA_TSTRING);
    r.why.p = lua_tolstring(L, 3, &r.why.n);
    luaL_argcheck(L, r.why.n <= 200 && np_utf8_valid(r.why) == r.why.n, 3,
                  "a reason is at most 200 bytes of UTF-8");
  }
  np_shrink(L, (int64_t)tokens, check_front(L), r);
  lua_pushboolean(L, np_pack_tokens(np_host(L)->pack) <= (int64_t)tokens);
  return 1;
}

/* ---- fields ---- */

#define FIELDS(X)                                                                        \
  X(step)                                                                                \
  X(tokens)                                                                              \
  X(budget)                                                                              \
  X(usage)                                                                               \
  X(window)                                                                              \
  X(economy)                                                                             \
  X(drift)                                                                               \
  X(miscount)                                                                            \
  X(pollution)                                                                           \
  X(state)                                                                               \
  X(now)                                                                                 \
  X(random)

enum {
#define NP_X(name) FIELD_##name,
  FIELDS(NP_X)
#undef NP_X
};

static const char *const fields[] = {
#define NP_X(name) #name,
    FIELDS(NP_X)
#undef NP_X
        NULL};

static int context_index(lua_State *L) {
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  const np_policy *p = np_host(L);
  double share;
  switch (np_field(L, "a context's field", fields)) {
    case FIELD_step: lua_pushinteger(L, np_turn_step(p)); break;
    case FIELD_tokens: lua_pushinteger(L, np_pack_tokens(p->pack)); break;
    case FIELD_budget: lua_pushinteger(L, p->turn.budget); break;
    case FIELD_usage:
      lua_pushnumber(L, p->turn.budget > 0
                            ? (double)np_pack_tokens(p->pack) / (double)p->turn.budget
                            : 0);
      break;
    case FIELD_window: lua_pushinteger(L, p->turn.window); break;
    case FIELD_economy: push_economy(L, &p->turn); break;
    case FIELD_drift:
      np_index_need(L);
      if (np_cite_drift(p->pack->log->cite, &share)) lua_pushnumber(L, share);
      else lua_pushnil(L);
      break;
    case FIELD_miscount:
      if (p->turn.measured) lua_pushnumber(L, p->turn.drift);
      else lua_pushnil(L);
      break;
    case FIELD_pollution:
      if (p->turn.polluted >= 0) lua_pushinteger(L, p->turn.polluted);
      else lua_pushnil(L);
      break;
    case FIELD_state: np_state_push(L); break;
    case FIELD_now:
      if (p->turn.now) lua_pushinteger(L, p->turn.now);
      else lua_pushnil(L);
      break;
    case FIELD_random:
      lua_pushvalue(L, 1);
      lua_pushcclosure(L, context_random, 1);
      break;
    default: break; /* a method, pushed */
  }
  return 1;
}

/* Only ctx.state may be set: to a table. */
static int context_newindex(lua_State *L) {
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "state") != 0) {
    return handle_newindex(L);
  }
  if (lua_type(L, 3) != LUA_TTABLE) return luaL_error(L, "ctx.state must be a table");
  np_policy *p = np_host(L);
  lua_settop(L, 3);
  lua_rawseti(L, LUA_REGISTRYINDEX, p->state_ref);
  p->state_read = true;
  return 0;
}

static int context_tostring(lua_State *L) {
  luaL_checkudata(L, 1, NP_CONTEXT_TYPE);
  lua_pushliteral(L, "context");
  return 1;
}

void np_context_push(lua_State *L) {
  np_handle *h = lua_newuserdatauv(L, sizeof *h, 0);
  h->generation = np_host(L)->generation;
  h->id = 0;
  luaL_setmetatable(L, NP_CONTEXT_TYPE);
}

static int new_slot(lua_State *L) {
  lua_pushboolean(L, 0);
  return luaL_ref(L, LUA_REGISTRYINDEX);
}

void np_context_open(lua_State *L) {
  static const luaL_Reg methods[] = {{"entries", np_context_entries},
                                     {"span", np_context_span},
                                     {"shrink", context_shrink},
                                     {"tools", np_context_tools},
                                     {"fold", np_context_fold},
                                     {"summarize", np_context_summarize},
                                     {"ask", np_context_ask},
                                     {"ask_all", np_context_ask_all},
                                     {"log", np_context_log},
                                     {"search", np_context_search},
                                     {"map", np_context_map},
                                     {"object", np_context_object},
                                     {"propose", np_context_propose},
                                     {"scratch", np_context_scratch},
                                     {"scratchpad", np_context_scratchpad},
                                     {"stale", np_context_stale},
                                     {"pass", np_context_pass},
                                     {"reject", np_context_reject},
                                     {"phase", np_context_phase},
                                     {"due", np_context_due},
                                     {"peek", np_context_peek},
                                     {"artifacts", np_context_artifacts},
                                     {NULL, NULL}};
  np_policy *p = np_host(L);
  np_open_handle(L, NP_CONTEXT_TYPE, context_index, fields, methods);
  luaL_getmetatable(L, NP_CONTEXT_TYPE);
  lua_pushcfunction(L, context_newindex);
  lua_setfield(L, -2, "__newindex");
  lua_pushcfunction(L, context_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pop(L, 1);
  np_span_open(L);
  np_entry_open(L);
  np_options_open(L);
  p->ctx_ref = new_slot(L);
  p->options_ref = new_slot(L);
  p->state_ref = new_slot(L);
  p->run.thread = new_slot(L);
  p->thread_ref = new_slot(L);
}
