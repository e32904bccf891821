/*
** What a policy can see: a table built from nothing by an allow-list. Stock libraries are
** opened privately and only the functions named here are copied; what could loop in C, hang
** the collector, show an address or depend on the machine is replaced.
**
** A global that a policy writes is an error: it would outlive a call that failed.
** next: env_order.c, env_string.c, env_table.c, env_neap.c
*/
#include <lualib.h>

#include "policy/host.h"

static const char *const base_names[] = {"assert", "error",  "ipairs", "rawequal",
                                         "rawget", "rawlen", "rawset", "select",
                                         "type",   NULL};
/* Trigonometry is absent: its last digit differs between C libraries. */
static const char *const math_names[] = {
    "abs",        "ceil", "floor", "fmod", "huge",      "max",  "maxinteger", "min",
    "mininteger", "modf", "pi",    "sqrt", "tointeger", "type", "ult",        NULL};

void np_check_plain(lua_State *L, int arg) {
  luaL_checktype(L, arg, LUA_TTABLE);
  if (lua_getmetatable(L, arg))
    luaL_argerror(L, arg, "a plain table expected, without a metatable");
}

/* ---- replaced: what may not swallow a kill ---- */

static int env_pcall(lua_State *L) {
  luaL_checkany(L, 1);
  luaL_checkstack(L, 2, "too many arguments");
  int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  np_rethrow(L);
  luaL_checkstack(L, 1, "too many results");
  lua_pushboolean(L, status == LUA_OK);
  lua_insert(L, 1);
  return lua_gettop(L);
}

/* The handler runs after the stack has unwound: hooks are off inside a handler that Lua
** calls for an error that a hook has raised, and a loop there would never end. */
static int env_xpcall(lua_State *L) {
  luaL_checktype(L, 2, LUA_TFUNCTION);
  luaL_checkstack(L, 3, "too many arguments");
  lua_pushvalue(L, 1);
  lua_insert(L, 3);
  int status = lua_pcall(L, lua_gettop(L) - 3, LUA_MULTRET, 0);
  np_rethrow(L);
  luaL_checkstack(L, 2, "too many results");
  if (status == LUA_OK) {
    lua_pushboolean(L, 1);
    lua_replace(L, 2);
    return lua_gettop(L) - 1;
  }
  lua_pushvalue(L, 2);
  lua_insert(L, 3);
  lua_pcall(L, 1, LUA_MULTRET, 0);
  np_rethrow(L);
  luaL_checkstack(L, 1, "too many results");
  lua_pushboolean(L, 0);
  lua_replace(L, 2);
  return lua_gettop(L) - 1;
}

/* ---- replaced: metatables ---- */

/* __gc would run without a hook, and weak tables show when the collector runs. */
static int env_setmetatable(lua_State *L) {
  static const char *const refused[] = {"__gc", "__mode"};
  luaL_checktype(L, 1, LUA_TTABLE);
  int t = lua_type(L, 2);
  luaL_argexpected(L, t == LUA_TNIL || t == LUA_TTABLE, 2, "nil or table");
  lua_settop(L, 2);
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) {
    return luaL_error(L, "cannot change a protected metatable");
  }
  for (size_t i = 0; t == LUA_TTABLE && i < NP_COUNT(refused); i++) {
    lua_pushstring(L, refused[i]);
    if (lua_rawget(L, 2) != LUA_TNIL) {
      return luaL_error(L, "%s is not allowed in a policy; leave it out", refused[i]);
    }
    lua_pop(L, 1);
  }
  lua_setmetatable(L, 1);
  return 1;
}

static int env_getmetatable(lua_State *L) {
  luaL_checkany(L, 1);
  if (lua_type(L, 1) != LUA_TTABLE || !lua_getmetatable(L, 1)) {
    lua_pushnil(L);
    return 1;
  }
  luaL_getmetafield(L, 1, "__metatable");
  return 1;
}

/* ---- replaced: text of values ---- */

void np_plain_nan(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TNUMBER) return;
  lua_Number d = lua_tonumber(L, index);
  if (d == d) return;
  lua_pushliteral(L, "nan");
  lua_replace(L, index);
}

np_str np_check_str(lua_State *L, int arg) {
  np_str s;
  np_plain_nan(L, arg);
  s.p = luaL_checklstring(L, arg, &s.n);
  return s;
}

void np_env_tostring(lua_State *L, int index) {
  index = lua_absindex(L, index);
  int t = lua_type(L, index);
  if (t == LUA_TNUMBER) {
    lua_pushvalue(L, index);
    np_plain_nan(L, lua_gettop(L));
    luaL_tolstring(L, -1, NULL);
    lua_remove(L, -2);
  } else if (luaL_callmeta(L, index, "__tostring")) {
    if (!lua_isstring(L, -1)) luaL_error(L, "'__tostring' must return a string");
  } else if (t == LUA_TTABLE || t == LUA_TFUNCTION || t == LUA_TUSERDATA) {
    lua_pushstring(L, lua_typename(L, t)); /* no address */
  } else {
    luaL_tolstring(L, index, NULL);
  }
}

static int env_tostring(lua_State *L) {
  luaL_checkany(L, 1);
  np_env_tostring(L, 1);
  return 1;
}

/* The stock function in the first upvalue, paid by the length of its string arguments. */
static int env_paid(lua_State *L) {
  size_t bytes = 0;
  for (int i = 1; i <= lua_gettop(L) && i <= 4; i++) {
    if (lua_type(L, i) == LUA_TSTRING) bytes += lua_rawlen(L, i);
  }
  np_charge_slow(L, bytes / 8);
  luaL_checkstack(L, 1, "too many arguments");
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/* ---- the table ---- */

/* Copies the named fields of the table at -2 to the one at -1. */
static void copy_names(lua_State *L, const char *const *names) {
  for (; *names; names++) {
    lua_getfield(L, -2, *names);
    lua_setfield(L, -2, *names);
  }
}

static void paid_copy(lua_State *L, const char *name) {
  lua_getfield(L, -2, name);
  lua_pushcclosure(L, env_paid, 1);
  lua_setfield(L, -2, name);
}

/* Pushes a library's stock table; it stays out of reach of the policy. */
static void stock(lua_State *L, const char *name, lua_CFunction open) {
  lua_pushcfunction(L, open);
  lua_pushstring(L, name);
  lua_call(L, 1, 1);
}

static int math_exp(lua_State *L) {
  lua_pushnumber(L, np_exp(luaL_checknumber(L, 1)));
  return 1;
}

static int math_log(lua_State *L) {
  double x = luaL_checknumber(L, 1);
  double base = luaL_optnumber(L, 2, 0);
  double y = np_log_of(x);
  if (!lua_isnoneornil(L, 2)) y = y / np_log_of(base);
  lua_pushnumber(L, y);
  return 1;
}

static void add_math(lua_State *L) {
  static const luaL_Reg ours[] = {{"exp", math_exp}, {"log", math_log}, {NULL, NULL}};
  stock(L, LUA_MATHLIBNAME, luaopen_math);
  lua_newtable(L);
  copy_names(L, math_names);
  luaL_setfuncs(L, ours, 0);
  lua_setfield(L, -3, "math");
  lua_pop(L, 1);
}

static void add_utf8(lua_State *L) {
  static const char *const plain[] = {"charpattern", NULL};
  stock(L, LUA_UTF8LIBNAME, luaopen_utf8);
  lua_newtable(L);
  copy_names(L, plain);
  static const char *const paid[] = {"char", "codepoint", "codes", "len", "offset"};
  for (size_t i = 0; i < NP_COUNT(paid); i++) paid_copy(L, paid[i]);
  lua_setfield(L, -3, "utf8");
  lua_pop(L, 1);
}

/* Sets the field `name` of the table at the top to a copy of the table at `from`. */
static void set_copy(lua_State *L, int from, const char *name) {
  lua_newtable(L);
  lua_pushnil(L);
  while (lua_next(L, from)) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
  lua_setfield(L, -2, name);
}

/* Messages name a function by searching the table of loaded libraries: it gets copies of
** what the policy sees, which the policy cannot change. */
static void name_functions(lua_State *L) {
  static const char *const names[] = {"math", "neap", "string", "table", "utf8"};
  int env = lua_gettop(L);
  lua_newtable(L);
  set_copy(L, env, "_G");
  for (size_t i = 0; i < NP_COUNT(names); i++) {
    lua_getfield(L, env, names[i]);
    lua_insert(L, -2);
    set_copy(L, lua_gettop(L) - 1, names[i]);
    lua_remove(L, -2);
  }
  lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
}

/* Refuses a global that a policy writes. */
static int env_newindex(lua_State *L) {
  if (lua_type(L, 2) != LUA_TSTRING) return luaL_error(L, "globals cannot be written");
  return luaL_error(L,
                    "global '%s' cannot be written; write local, or keep it in ctx.state",
                    lua_tostring(L, 2));
}

/* The environment is empty; reads go to the real table behind it, writes are refused. */
static void wrap(lua_State *L) {
  lua_newtable(L);
  lua_createtable(L, 0, 3);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, env_newindex);
  lua_setfield(L, -2, "__newindex");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  lua_remove(L, -2);
}

void np_env_open(lua_State *L) {
  static const luaL_Reg ours[] = {{"pcall", env_pcall},
                                  {"xpcall", env_xpcall},
                                  {"setmetatable", env_setmetatable},
                                  {"getmetatable", env_getmetatable},
                                  {"tostring", env_tostring},
                                  {"require", np_require},
                                  {NULL, NULL}};
  stock(L, "_G", luaopen_base);
  lua_newtable(L);
  copy_names(L, base_names);
  paid_copy(L, "tonumber");
  luaL_setfuncs(L, ours, 0);
  lua_remove(L, -2);
  lua_newtable(L); /* the stock globals are gone */
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  np_env_order(L);
  lua_setfield(L, -3, "pairs");
  lua_setfield(L, -2, "next");
  add_math(L);
  add_utf8(L);
  np_env_string(L);
  lua_setfield(L, -2, "string");
  np_env_table(L);
  lua_setfield(L, -2, "table");
  np_env_neap(L);
  lua_setfield(L, -2, "neap");
  name_functions(L);
  wrap(L);
}
