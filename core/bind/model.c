/*
** The tables of models and of caches for Lua: core.models() and core.model(name), the formats
** of this build, core.caches(), core.cache(model) and core.format_cache(format). Values only.
** next: token.c
*/
#include "bind/bind.h"
#include "render/cache.h"
#include "render/view.h"

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

/* ---- caches ---- */

static void set_units(lua_State *L, const char *name, int64_t millionths) {
  lua_pushnumber(L, (lua_Number)millionths / NP_MILLION);
  lua_setfield(L, -2, name);
}

static void set_int(lua_State *L, const char *name, int64_t v) {
  lua_pushinteger(L, (lua_Integer)v);
  lua_setfield(L, -2, name);
}

static void push_cache(lua_State *L, const np_cache *c) {
  lua_createtable(L, 0, 12);
  lua_pushstring(L, c->name);
  lua_setfield(L, -2, "name");
  set_units(L, "read", c->read);
  set_units(L, "write", c->write);
  if (c->write_long) set_units(L, "write_long", c->write_long);
  set_int(L, "minimum", c->minimum);
  set_int(L, "step", c->step);
  if (c->ttl) set_int(L, "ttl", c->ttl);
  if (c->ttl_long) set_int(L, "ttl_long", c->ttl_long);
  set_int(L, "marks", c->marks);
  set_int(L, "look_back", c->look_back);
  if (c->input) {
    lua_pushnumber(L, (lua_Number)c->input / 1000);
    lua_setfield(L, -2, "dollars");
  }
  lua_pushstring(L, c->source);
  lua_setfield(L, -2, "source");
  lua_pushstring(L, c->date);
  lua_setfield(L, -2, "date");
}

static int caches(lua_State *L) {
  lua_newtable(L);
  for (size_t i = 0; np_cache_at(i); i++) {
    push_cache(L, np_cache_at(i));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* The row of a model's full name; nil when none fits. */
static int cache(lua_State *L) {
  const np_cache *c = np_cache_find(np_bind_check_str(L, 1));
  if (!c) return 0;
  push_cache(L, c);
  return 1;
}

/* The row that a session of this format has when it names no model. */
static int format_cache(lua_State *L) {
  push_cache(L, np_cache_default(np_bind_check_str(L, 1)));
  return 1;
}

static int formats(lua_State *L) {
  lua_newtable(L);
  for (size_t i = 0; np_format_at(i); i++) {
    lua_pushstring(L, np_format_at(i)->name);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static const luaL_Reg functions[] = {
    {"models", models},
    {"model", model},
    {"caches", caches},
    {"cache", cache},
    {"format_cache", format_cache},
    {"formats", formats},
    {NULL, NULL},
};

void np_bind_model(lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
