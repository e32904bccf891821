/*
** What a text may be drawn from, for trusted Lua: the same check that the engine makes of summaries
** and of policies' own words. next: resample.c
*/
#include "cite/grounds.h"

#include "bind/bind.h"

#define TYPE "neap.grounds"

/* terms(text): its words and numbers in order of place, each whole */
static int grounds_terms(lua_State *L) {
  np_term_iter it = np_term_scan(np_bind_check_str(L, 1));
  np_term term;
  lua_newtable(L);
  for (lua_Integer i = 1; np_term_next(&it, &term); i++) {
    lua_pushlstring(L, term.text.p, term.text.n);
    lua_rawseti(L, -2, i);
  }
  return 1;
}

/* is_plain(name): one that need not stand anywhere */
static int grounds_plain(lua_State *L) {
  lua_pushboolean(L, np_name_is_plain(np_bind_check_str(L, 1)));
  return 1;
}

static int gc(lua_State *L) {
  np_grounds **g = luaL_checkudata(L, 1, TYPE);
  np_grounds_free(*g);
  *g = NULL;
  return 0;
}

/* grounds(text): the text is kept by it */
static int grounds(lua_State *L) {
  np_err e = {0};
  np_str text = np_bind_check_str(L, 1);
  np_grounds **g = lua_newuserdatauv(L, sizeof *g, 1);
  *g = NULL;
  luaL_setmetatable(L, TYPE);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  *g = np_grounds_new(&np_alloc_libc);
  if (!*g || np_grounds_add(*g, text, &e)) return luaL_error(L, "out of memory");
  return 1;
}

static np_grounds *check_grounds(lua_State *L) {
  np_grounds **g = luaL_checkudata(L, 1, TYPE);
  luaL_argcheck(L, *g != NULL, 1, "the grounds are closed");
  return *g;
}

static int grounds_holds(lua_State *L) {
  np_grounds *g = check_grounds(L);
  lua_pushboolean(L, np_grounds_hold(g, np_bind_check_str(L, 2)));
  return 1;
}

/* word(w): in small letters or capitals */
static int grounds_word(lua_State *L) {
  bool has;
  np_grounds *g = check_grounds(L);
  if (np_grounds_word(g, np_bind_check_str(L, 2), &has, NULL))
    return luaL_error(L, "out of memory");
  lua_pushboolean(L, has);
  return 1;
}

void np_bind_grounds(lua_State *L) {
  static const luaL_Reg methods[] = {{"holds", grounds_holds},
                                     {"word", grounds_word},
                                     {"__gc", gc},
                                     {"__close", gc},
                                     {NULL, NULL}};
  static const luaL_Reg functions[] = {{"terms", grounds_terms},
                                       {"grounds", grounds},
                                       {"is_plain", grounds_plain},
                                       {NULL, NULL}};
  luaL_newmetatable(L, TYPE);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  luaL_setfuncs(L, functions, 0);
}
