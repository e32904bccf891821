/*
** Lua values to JSON: members in sorted order (or those of `order` first), raw values as they
** are, strings always valid UTF-8. The same table gives the same bytes on every run.
** next: token.c
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "bind/json.h"

typedef struct encoder {
  lua_State *L;
  np_buf *out;
  int order; /* stack index of a table name -> place, or 0 */
  int depth;
} encoder;

typedef struct member {
  np_str key;
  lua_Integer place;
} member;

static void put_value(encoder *e);

/* The shortest decimals that read back as the same number, with a point whatever the locale. */
static void put_float(encoder *e, double v) {
  char text[40];
  if (!isfinite(v)) luaL_error(e->L, "JSON has no infinite numbers");
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, v);
    if (strtod(text, NULL) == v) break;
  }
  for (char *p = text; *p; p++) {
    if (*p == ',') *p = '.';
  }
  np_buf_adds(e->out, text);
}

static void put_array(encoder *e, lua_Integer n) {
  np_buf_addc(e->out, '[');
  for (lua_Integer i = 1; i <= n; i++) {
    if (i > 1) np_buf_addc(e->out, ',');
    lua_geti(e->L, -1, i);
    put_value(e);
    lua_pop(e->L, 1);
  }
  np_buf_addc(e->out, ']');
}

static lua_Integer place_of(encoder *e) {
  if (!e->order) return LUA_MAXINTEGER;
  lua_pushvalue(e->L, -1);
  lua_rawget(e->L, e->order);
  lua_Integer place = lua_isinteger(e->L, -1) ? lua_tointeger(e->L, -1) : LUA_MAXINTEGER;
  lua_pop(e->L, 1);
  return place;
}

static int compare(const void *a, const void *b) {
  const member *x = a, *y = b;
  if (x->place != y->place) return x->place < y->place ? -1 : 1;
  return np_str_cmp(x->key, y->key);
}

/* Counts the members and checks that their names are strings. */
static size_t count_members(encoder *e) {
  size_t n = 0;
  lua_pushnil(e->L);
  while (lua_next(e->L, -2)) {
    if (lua_type(e->L, -2) != LUA_TSTRING) {
      luaL_error(e->L, "a table with both list items and names, or holes, is no JSON");
    }
    lua_pop(e->L, 1);
    n++;
  }
  return n;
}

#define FEW 16 /* members that are sorted on the stack */

/* The members, sorted; `few` or, when they are many, a userdata left on the stack. Their keys
** are held by the table itself, at `table`. */
static member *sorted_members(encoder *e, int table, size_t n, member *few) {
  member *list = n > FEW ? lua_newuserdatauv(e->L, n * sizeof *list, 0) : few;
  size_t i = 0;
  lua_pushnil(e->L);
  while (lua_next(e->L, table)) {
    lua_pop(e->L, 1);
    list[i].key.p = lua_tolstring(e->L, -1, &list[i].key.n);
    list[i].place = place_of(e);
    i++;
  }
  if (n) qsort(list, n, sizeof *list, compare);
  return list;
}

static void put_object(encoder *e) {
  member few[FEW];
  int table = lua_gettop(e->L);
  size_t n = count_members(e);
  member *list = sorted_members(e, table, n, few);
  np_buf_addc(e->out, '{');
  for (size_t i = 0; i < n; i++) {
    if (i) np_buf_addc(e->out, ',');
    np_json_quote(e->out, list[i].key);
    np_buf_addc(e->out, ':');
    lua_pushlstring(e->L, list[i].key.p, list[i].key.n);
    lua_rawget(e->L, table);
    put_value(e);
    lua_pop(e->L, 1);
  }
  np_buf_addc(e->out, '}');
  lua_settop(e->L, table);
}

static void put_table(encoder *e) {
  if (++e->depth > NP_JSON_DEPTH)
    luaL_error(e->L, "a table nested deeper than 512 levels");
  lua_Integer n = luaL_len(e->L, -1);
  if (n > 0 || np_bind_json_is_array(e->L, -1)) put_array(e, n);
  else put_object(e);
  e->depth--;
}

/* Writes the value at the top of the stack. */
static void put_value(encoder *e) {
  lua_State *L = e->L;
  luaL_checkstack(L, 8, "a table nested too deep");
  switch (lua_type(L, -1)) {
    case LUA_TNIL: np_buf_adds(e->out, "null"); return;
    case LUA_TBOOLEAN:
      np_buf_adds(e->out, lua_toboolean(L, -1) ? "true" : "false");
      return;
    case LUA_TNUMBER:
      if (lua_isinteger(L, -1)) np_buf_int(e->out, lua_tointeger(L, -1));
      else put_float(e, lua_tonumber(L, -1));
      return;
    case LUA_TSTRING: {
      size_t n;
      const char *p = lua_tolstring(L, -1, &n);
      np_json_quote(e->out, np_str_of(p, n));
      return;
    }
    case LUA_TTABLE: put_table(e); return;
    default: break;
  }
  const np_str *raw = np_bind_to_raw(L, -1);
  if (raw) {
    np_buf_add(e->out, *raw);
    return;
  }
  np_bind_push_null(L);
  bool null = lua_rawequal(L, -1, -2);
  lua_pop(L, 1);
  if (!null) luaL_error(L, "a %s has no form in JSON", luaL_typename(L, -1));
  np_buf_adds(e->out, "null");
}

/* Pushes the table name -> place of the list of names at `arg`. It is made once for a list,
** which must not change afterwards, and kept in upvalue 2 as long as the list lives. */
static int push_order(lua_State *L, int arg) {
  if (lua_isnoneornil(L, arg)) return 0;
  luaL_checktype(L, arg, LUA_TTABLE);
  lua_pushvalue(L, arg);
  if (lua_rawget(L, lua_upvalueindex(2)) == LUA_TTABLE) return lua_gettop(L);
  lua_pop(L, 1);
  lua_newtable(L);
  lua_Integer n = luaL_len(L, arg);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_geti(L, arg, i);
    lua_pushinteger(L, i);
    lua_rawset(L, -3);
  }
  lua_pushvalue(L, arg);
  lua_pushvalue(L, -2);
  lua_rawset(L, lua_upvalueindex(2));
  return lua_gettop(L);
}

int np_bind_json_encode(lua_State *L) {
  luaL_checkany(L, 1);
  lua_settop(L, 2);
  int order = push_order(L, 2);
  encoder e = {L, np_bind_scratch(L), order, 0};
  lua_pushvalue(L, 1);
  put_value(&e);
  np_bind_push_buf(L, e.out);
  return 1;
}
