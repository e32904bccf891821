/*
** The policy's `table`: as in the manual, over plain tables only (a metatable could make
** C loop for ever), and every item is paid. `sort` is a stable merge: the stock one draws
** its pivots from the clock. next: env_neap.c
*/
#include <limits.h>

#include "policy/host.h"

#define MOVED 1 /* instructions for an item that C moves */
#define COMPARED 4

static lua_Integer plain_length(lua_State *L, int arg) {
  np_check_plain(L, arg);
  return (lua_Integer)lua_rawlen(L, arg);
}

static void pay(lua_State *L, lua_Integer items, uint64_t each) {
  if (items <= 0) return;
  np_charge_slow(L,
                 (uint64_t)items > UINT64_MAX / 8 ? UINT64_MAX : (uint64_t)items * each);
}

static int table_insert(lua_State *L) {
  lua_Integer n = plain_length(L, 1), at;
  int args = lua_gettop(L);
  if (n == LUA_MAXINTEGER) return luaL_error(L, "the table is full");
  at = ++n;
  if (args != 2 && args != 3)
    return luaL_error(L, "wrong number of arguments to 'insert'");
  if (args == 3) {
    at = luaL_checkinteger(L, 2);
    luaL_argcheck(L, at >= 1 && at <= n, 2, "position out of bounds");
    pay(L, n - at, MOVED);
    for (lua_Integer i = n; i > at; i--) {
      lua_rawgeti(L, 1, i - 1);
      lua_rawseti(L, 1, i);
    }
  }
  lua_rawseti(L, 1, at);
  return 0;
}

static int table_remove(lua_State *L) {
  lua_Integer n = plain_length(L, 1);
  lua_Integer at = luaL_optinteger(L, 2, n);
  if (lua_gettop(L) > 1) {
    bool behind = n < LUA_MAXINTEGER && at == n + 1;
    luaL_argcheck(L, (n == 0 && at == 0) || (at >= 1 && at <= n) || behind, 2,
                  "position out of bounds");
  }
  pay(L, n - at, MOVED);
  lua_rawgeti(L, 1, at);
  for (; at < n; at++) {
    lua_rawgeti(L, 1, at + 1);
    lua_rawseti(L, 1, at);
  }
  lua_pushnil(L);
  lua_rawseti(L, 1, at);
  return 1;
}

static int table_move(lua_State *L) {
  lua_Integer f = luaL_checkinteger(L, 2), e = luaL_checkinteger(L, 3);
  lua_Integer t = luaL_checkinteger(L, 4);
  int to = lua_isnoneornil(L, 5) ? 1 : 5;
  np_check_plain(L, 1);
  np_check_plain(L, to);
  if (e >= f) {
    luaL_argcheck(L, f > 0 || e < LUA_MAXINTEGER + f, 3, "too many elements to move");
    lua_Integer n = e - f + 1;
    luaL_argcheck(L, t <= LUA_MAXINTEGER - n + 1, 4, "destination wrap around");
    pay(L, n, MOVED);
    bool up = t > e || t <= f || (to != 1 && !lua_rawequal(L, 1, to));
    for (lua_Integer k = 0; k < n; k++) {
      lua_Integer i = up ? k : n - 1 - k;
      lua_rawgeti(L, 1, f + i);
      lua_rawseti(L, to, t + i);
    }
  }
  lua_pushvalue(L, to);
  return 1;
}

static int table_concat(lua_State *L) {
  lua_Integer last = plain_length(L, 1);
  size_t sep_len;
  const char *sep = luaL_optlstring(L, 2, "", &sep_len);
  lua_Integer i = luaL_optinteger(L, 3, 1);
  last = luaL_optinteger(L, 4, last);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (; i <= last; i++) {
    int t = lua_rawgeti(L, 1, i);
    if (t != LUA_TSTRING && t != LUA_TNUMBER) {
      return luaL_error(L, "invalid value (a %s) at index %I in table for 'concat'",
                        lua_typename(L, t), (LUAI_UACINT)i);
    }
    np_plain_nan(L, lua_gettop(L));
    size_t n = t == LUA_TSTRING ? lua_rawlen(L, -1) : 16;
    np_charge_slow(L, 2 + (n + sep_len) / 64);
    luaL_addvalue(&b);
    if (i == last) break; /* also when it is the largest integer */
    luaL_addlstring(&b, sep, sep_len);
  }
  luaL_pushresult(&b);
  return 1;
}

static int table_pack(lua_State *L) {
  int n = lua_gettop(L);
  pay(L, n, MOVED);
  lua_createtable(L, n, 1);
  lua_insert(L, 1);
  for (int i = n; i >= 1; i--) lua_rawseti(L, 1, i);
  lua_pushinteger(L, n);
  lua_setfield(L, 1, "n");
  return 1;
}

static int table_unpack(lua_State *L) {
  lua_Integer i = luaL_optinteger(L, 2, 1), last;
  np_check_plain(L, 1);
  last = lua_isnoneornil(L, 3) ? (lua_Integer)lua_rawlen(L, 1) : luaL_checkinteger(L, 3);
  if (i > last) return 0;
  lua_Unsigned n = (lua_Unsigned)last - (lua_Unsigned)i;
  if (n >= (unsigned)INT_MAX || !lua_checkstack(L, (int)n + 1)) {
    return luaL_error(L, "too many results to unpack");
  }
  pay(L, (lua_Integer)n + 1, MOVED);
  for (; i < last; i++) lua_rawgeti(L, 1, i);
  lua_rawgeti(L, 1, last);
  return (int)n + 1;
}

/* ---- sort ---- */

/* Strings compare by bytes, whatever the locale. */
static bool less(lua_State *L, int a, int b) {
  if (lua_type(L, 2) == LUA_TFUNCTION) {
    a = lua_absindex(L, a);
    b = lua_absindex(L, b);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, a);
    lua_pushvalue(L, b);
    lua_call(L, 2, 1);
    bool r = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return r;
  }
  if (lua_type(L, a) == LUA_TSTRING && lua_type(L, b) == LUA_TSTRING) {
    np_str x, y;
    x.p = lua_tolstring(L, a, &x.n);
    y.p = lua_tolstring(L, b, &y.n);
    np_charge(L, (x.n < y.n ? x.n : y.n) / 64);
    return np_str_cmp(x, y) < 0;
  }
  return lua_compare(L, a, b, LUA_OPLT);
}

/* Merges from[lo..mid) and from[mid..hi) (offsets from 1) into `to`. */
static void merge(lua_State *L, int from, int to, lua_Integer lo, lua_Integer mid,
                  lua_Integer hi) {
  lua_Integer a = lo, b = mid;
  np_charge_slow(L, (uint64_t)(hi - lo) * COMPARED);
  for (lua_Integer k = lo; k < hi; k++) {
    bool second = a >= mid;
    if (!second && b < hi) {
      lua_rawgeti(L, from, b);
      lua_rawgeti(L, from, a);
      second = less(L, -2, -1);
      lua_pop(L, 2);
    }
    lua_rawgeti(L, from, second ? b++ : a++);
    lua_rawseti(L, to, k);
  }
}

/* Bottom up between two copies; the table itself is written at the end, so that a failing
** comparison loses nothing. */
static int table_sort(lua_State *L) {
  lua_Integer n = plain_length(L, 1);
  if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  luaL_argcheck(L, n < INT_MAX, 1, "array too big");
  pay(L, n, 3 * MOVED);
  lua_createtable(L, (int)n, 0);
  lua_createtable(L, (int)n, 0);
  int from = 3, to = 4;
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, 1, i);
    lua_rawseti(L, from, i);
  }
  for (lua_Integer width = 1; width < n; width *= 2) {
    for (lua_Integer lo = 1; lo <= n; lo += 2 * width) {
      lua_Integer mid = lo + width > n + 1 ? n + 1 : lo + width;
      lua_Integer hi = mid + width > n + 1 ? n + 1 : mid + width;
      merge(L, from, to, lo, mid, hi);
    }
    int t = from;
    from = to;
    to = t;
  }
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, from, i);
    lua_rawseti(L, 1, i);
  }
  return 0;
}

void np_env_table(lua_State *L) {
  static const luaL_Reg functions[] = {{"concat", table_concat}, {"insert", table_insert},
                                       {"move", table_move},     {"pack", table_pack},
                                       {"remove", table_remove}, {"sort", table_sort},
                                       {"unpack", table_unpack}, {NULL, NULL}};
  lua_createtable(L, 0, 7);
  luaL_setfuncs(L, functions, 0);
}
