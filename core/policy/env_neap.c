/*
** The global `neap` of a policy: pure helpers, and a line for the log, which is `say`.
** next: match.c
*/
#include "policy/host.h"
#include "text/text.h"

static int neap_exp(lua_State *L) {
  lua_pushnumber(L, np_exp(luaL_checknumber(L, 1)));
  return 1;
}

static int neap_ln(lua_State *L) {
  lua_pushnumber(L, np_log_of(luaL_checknumber(L, 1)));
  return 1;
}

/* log(x, base): of base e without one. Who wants a line in the log is told where. */
static int neap_log(lua_State *L) {
  if (lua_type(L, 1) == LUA_TSTRING)
    luaL_error(L, "neap.log is the logarithm; neap.say writes a line for the host");
  double y = np_log_of(luaL_checknumber(L, 1));
  if (!lua_isnoneornil(L, 2)) y /= np_log_of(luaL_checknumber(L, 2));
  lua_pushnumber(L, y);
  return 1;
}

static int neap_pow(lua_State *L) {
  double x = luaL_checknumber(L, 1), y = luaL_checknumber(L, 2);
  lua_pushnumber(L, np_pow(x, y));
  return 1;
}

/* clamp(x, lo, hi): x, lo or hi, as it is. */
static int neap_clamp(lua_State *L) {
  for (int i = 1; i <= 3; i++) luaL_checknumber(L, i);
  luaL_argcheck(L, lua_compare(L, 2, 3, LUA_OPLE), 3,
                "the upper bound is below the lower one");
  int pick = 1;
  if (lua_compare(L, 1, 2, LUA_OPLT)) pick = 2;
  else if (lua_compare(L, 3, 1, LUA_OPLT)) pick = 3;
  lua_pushvalue(L, pick);
  return 1;
}

/* Joins the arguments with spaces, as print does. */
static void join(lua_State *L) {
  int n = lua_gettop(L);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 1; i <= n; i++) {
    if (i > 1) luaL_addchar(&b, ' ');
    np_env_tostring(L, i);
    np_charge_slow(L, 10 + (lua_type(L, -1) == LUA_TSTRING ? lua_rawlen(L, -1) / 8 : 0));
    luaL_addvalue(&b);
  }
  luaL_pushresult(&b);
}

/* say(…): gives the arguments as a line to the host's log. What is over the cap of a call is left
** out. */
static int say(lua_State *L) {
  np_policy *p = np_host(L);
  np_str line;
  join(L);
  line.p = lua_tolstring(L, -1, &line.n);
  if (line.n >= NP_POLICY_TEXT - p->said) return 0;
  p->said += line.n + 1;
  np_buf text; /* a cut in the middle of a character must not fail a hook */
  np_buf_init(&text, &p->alloc);
  np_utf8_repair(line, &text);
  if (p->say && !text.failed) p->say(p->say_ctx, np_buf_str(&text));
  bool failed = text.failed;
  np_buf_free(&text);
  if (!failed) return 0;
  np_err e;
  np_fail_mem(&e);
  return np_break(L, &e);
}

/* ctx:log(…) */
int np_context_log(lua_State *L) {
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  lua_remove(L, 1);
  return say(L);
}

void np_env_neap(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"clamp", neap_clamp}, {"exp", neap_exp}, {"ln", neap_ln}, {"log", neap_log},
      {"pow", neap_pow},     {"say", say},      {NULL, NULL}};
  lua_createtable(L, 0, 8);
  luaL_setfuncs(L, functions, 0);
  lua_pushinteger(L, NEAP_POLICY_API);
  lua_setfield(L, -2, "api");
  np_env_grammar(L);
  lua_setfield(L, -2, "grammar");
}
