/*
** Raw JSON values for Lua: slices of a text that was checked, kept as they came and written
** back untouched. A slice is a userdata that holds on to its text: nothing is copied, and
** nothing is checked or looked for twice. Lua cannot change one. next: json.c
*/
#include "bind/json.h"

np_str *np_bind_to_raw(lua_State *L, int at) {
  return luaL_testudata(L, at, NP_JSON_RAW);
}

void np_bind_push_raw(lua_State *L, np_str raw, int text) {
  np_str *slice = lua_newuserdatauv(L, sizeof *slice, 1);
  *slice = raw;
  lua_pushvalue(L, text);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, NP_JSON_RAW);
}

void np_bind_push_raw_text(lua_State *L, int at) {
  lua_getiuservalue(L, at, 1);
}

static int raw_text(lua_State *L) {
  const np_str *slice = luaL_checkudata(L, 1, NP_JSON_RAW);
  lua_pushlstring(L, slice->p, slice->n);
  return 1;
}

/* slice.raw: its bytes as a string; there is no other member. */
static int raw_index(lua_State *L) {
  luaL_checkudata(L, 1, NP_JSON_RAW);
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  return strcmp(name, "raw") == 0 ? raw_text(L) : 0;
}

static int raw_eq(lua_State *L) {
  const np_str *a = luaL_testudata(L, 1, NP_JSON_RAW);
  const np_str *b = luaL_testudata(L, 2, NP_JSON_RAW);
  lua_pushboolean(L, a && b && np_str_eq(*a, *b));
  return 1;
}

/* is_raw(value) */
int np_bind_json_is_raw(lua_State *L) {
  lua_pushboolean(L, np_bind_to_raw(L, 1) != NULL);
  return 1;
}

/* kind(value): what a raw value is; nothing for any other value */
int np_bind_json_kind(lua_State *L) {
  const np_str *slice = np_bind_to_raw(L, 1);
  if (!slice) return 0;
  switch (*slice->p) {
    case '{': lua_pushliteral(L, "object"); break;
    case '[': lua_pushliteral(L, "array"); break;
    case '"': lua_pushliteral(L, "string"); break;
    case 't':
    case 'f': lua_pushliteral(L, "boolean"); break;
    case 'n': lua_pushliteral(L, "null"); break;
    default: lua_pushliteral(L, "number"); break;
  }
  return 1;
}

/* offset(value): the place in its text where a raw value begins, and the text */
int np_bind_json_offset(lua_State *L) {
  const np_str *slice = luaL_checkudata(L, 1, NP_JSON_RAW);
  np_bind_push_raw_text(L, 1);
  lua_pushinteger(L, slice->p - lua_tostring(L, -1) + 1);
  lua_insert(L, -2);
  return 2;
}

void np_bind_make_raw(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"__tostring", raw_text}, {"__index", raw_index}, {"__eq", raw_eq}, {NULL, NULL}};
  luaL_newmetatable(L, NP_JSON_RAW);
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
}
