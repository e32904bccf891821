/*
** For who checks policies: the names that they can use, what their hooks cost, and the
** providers' rules. next: system.c
*/
#include "bind/bind.h"

#include "bind/session.h"
#include "policy/policy.h"
#include "render/check.h"

/* policy_names(): JSON. */
static int policy_names(lua_State *L) {
  np_err e;
  np_buf *out = np_bind_buf(L);
  if (np_policy_names(&np_alloc_libc, out, &e)) return np_bind_fail(L, &e);
  np_bind_push_buf(L, out);
  return 1;
}

/* check_request(format, body): true; or nil and the rule of the provider that is broken. */
static int check_request(lua_State *L) {
  np_err e;
  np_str format = np_bind_check_str(L, 1), body = np_bind_check_str(L, 2);
  if (np_check(&np_alloc_libc, format, body, false, &e)) return np_bind_fail(L, &e);
  lua_pushboolean(L, 1);
  return 1;
}

/* session:measure_hooks() */
static int measure_hooks(lua_State *L) {
  np_policy_measure(np_bind_to_session(L)->policy);
  return 0;
}

static void set_count(lua_State *L, const char *name, int64_t v) {
  lua_pushinteger(L, (lua_Integer)v);
  lua_setfield(L, -2, name);
}

/* session:hook_costs(): a list of {hook, calls, instructions, most, bytes}. */
static int hook_costs(lua_State *L) {
  const np_policy *p = np_bind_to_session(L)->policy;
  np_cost c;
  lua_newtable(L);
  for (size_t i = 0; np_policy_cost(p, i, &c); i++) {
    lua_createtable(L, 0, 5);
    lua_pushstring(L, c.hook);
    lua_setfield(L, -2, "hook");
    set_count(L, "calls", c.calls);
    set_count(L, "instructions", c.instructions);
    set_count(L, "most", c.most);
    set_count(L, "bytes", c.bytes);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* session:policy_table(): what its file says: {hooks, tools, state_version, sources}, sources
** being JSON. */
static int policy_table(lua_State *L) {
  const np_policy *p = np_bind_to_session(L)->policy;
  const np_policy_info *info = np_policy_info_of(p);
  np_err e;
  np_cost c;
  np_buf *out = np_bind_buf(L);
  if (np_policy_sources(p, out, &e)) return np_bind_fail(L, &e);
  lua_createtable(L, 0, 4);
  np_bind_push_buf(L, out);
  lua_setfield(L, -2, "sources");
  lua_pushboolean(L, info->wants_tools);
  lua_setfield(L, -2, "tools");
  set_count(L, "state_version", np_policy_state_version(p));
  lua_newtable(L);
  for (size_t i = 0; np_policy_cost(p, i, &c); i++) {
    lua_pushboolean(L, np_policy_has(p, c.hook));
    lua_setfield(L, -2, c.hook);
  }
  lua_setfield(L, -2, "hooks");
  return 1;
}

const luaL_Reg np_bind_hooks[] = {{"measure_hooks", measure_hooks},
                                  {"hook_costs", hook_costs},
                                  {"policy_table", policy_table},
                                  {NULL, NULL}};

void np_bind_policy(lua_State *L) {
  lua_pushcfunction(L, policy_names);
  lua_setfield(L, -2, "policy_names");
  lua_pushcfunction(L, check_request);
  lua_setfield(L, -2, "check_request");
}
