/*
** The table of models for Lua: core.models() and core.model(name). Values only. next: token.c
*/
#include "bind/bind.h"
#include "render/model.h"

#include <lauxlib.h>

static void push_model(lua_State *L, const np_model *m) {
  lua_createtable(L, 0, 8);
  lua_pushstring(L, m->name);
  lua_setfield(L, -2, "name");
  lua_pushstring(L, m->encoding);
  lua_setfield(L, -2, "encoding");
  lua_pushboolean(L, m->exact);
  lua_setfield(L, -2, "exact");
  lua_pushnumber(L, (lua_Number)m->factor / NP_MILLION);
  lua_setfield(L, -2, "factor");
  lua_pushnumber(L, (lua_Number)m->bound / NP_MILLION);
  lua_setfield(L, -2, "bound");
  if (m->window) {
    lua_pushinteger(L, (lua_Integer)m->window);
    lua_setfield(L, -2, "window");
  }
  lua_pushstring(L, m->source);
  lua_setfield(L, -2, "source");
  lua_pushstring(L, m->date);
  lua_setfield(L, -2, "date");
}

static int models(lua_State *L) {
  lua_newtable(L);
  for (size_t i = 0; np_model_at(i); i++) {
    push_model(L, np_model_at(i));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* The row of a model's full name; nil when none fits. */
static int model(lua_State *L) {
  np_str name;
  name.p = luaL_checklstring(L, 1, &name.n);
  const np_model *m = np_model_find(name);
  if (!m) return 0;
  push_model(L, m);
  return 1;
}

static const luaL_Reg functions[] = {{"models", models}, {"model", model}, {NULL, NULL}};

void np_bind_model(lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
