/*
** `pairs` and `next` in one order on every machine: numbers, then strings by bytes, then
** false and true. Stock order depends on a hash seed that is drawn from addresses and the
** clock. next: env_string.c
*/
#include "policy/host.h"

typedef struct sort_key {
  int rank; /* of its type */
  bool is_float;
  lua_Integer i;
  lua_Number d; /* of a float */
  const char *s;
  size_t n; /* of a string; a boolean's value */
} sort_key;

/* Reads the key at `index`. Raises for one that has no order. */
static sort_key key_at(lua_State *L, int index, const char *who) {
  sort_key k = {.rank = 0};
  int t = lua_type(L, index);
  if (t == LUA_TNUMBER && lua_isinteger(L, index)) {
    k.i = lua_tointeger(L, index);
  } else if (t == LUA_TNUMBER) {
    k.is_float = true;
    k.d = lua_tonumber(L, index);
  } else if (t == LUA_TSTRING) {
    k.rank = 1;
    k.s = lua_tolstring(L, index, &k.n);
  } else if (t == LUA_TBOOLEAN) {
    k.rank = 2;
    k.n = (size_t)lua_toboolean(L, index);
  } else {
    luaL_error(L, "%s: a %s as key has no order; use a number or a string", who,
               lua_typename(L, t));
  }
  return k;
}

/* A float that is a key is no integer, or lies beyond all of them: one as a double is near
** enough to compare. */
static int compare_numbers(const sort_key *a, const sort_key *b) {
  if (!a->is_float && !b->is_float) return (a->i > b->i) - (a->i < b->i);
  lua_Number x = a->is_float ? a->d : (lua_Number)a->i;
  lua_Number y = b->is_float ? b->d : (lua_Number)b->i;
  return (x > y) - (x < y);
}

static int compare(const sort_key *a, const sort_key *b) {
  if (a->rank != b->rank) return a->rank - b->rank;
  if (a->rank == 0) return compare_numbers(a, b);
  if (a->rank == 1) return np_str_cmp(np_str_of(a->s, a->n), np_str_of(b->s, b->n));
  return (int)a->n - (int)b->n;
}

/* ---- next ---- */

/* The least key above the given one: a walk over the whole table, paid as such. Meant for
** `next(t) == nil`; loops use pairs. */
static int order_next(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  bool first = lua_isnil(L, 2), found = false;
  sort_key after = {.rank = -1}, best = after;
  if (!first) after = key_at(L, 2, "next");
  uint64_t walked = 0;
  lua_pushnil(L); /* 3: the best key so far */
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    lua_pop(L, 1);
    sort_key k = key_at(L, -1, "next");
    walked++;
    if ((first || compare(&k, &after) > 0) && (!found || compare(&k, &best) < 0)) {
      best = k;
      found = true;
      lua_pushvalue(L, -1);
      lua_replace(L, 3);
    }
  }
  np_charge_slow(L, walked);
  if (!found) return 1; /* the nil at 3 is on top */
  lua_pushvalue(L, 3);
  lua_rawget(L, 1);
  return 2;
}

/* ---- pairs ---- */

typedef struct pair_key {
  sort_key key;
  lua_Integer at; /* in the table of keys */
} pair_key;

static void sift(pair_key *v, size_t root, size_t n) {
  for (size_t child; (child = 2 * root + 1) < n; root = child) {
    if (child + 1 < n && compare(&v[child].key, &v[child + 1].key) < 0) child++;
    if (compare(&v[root].key, &v[child].key) >= 0) return;
    pair_key t = v[root];
    v[root] = v[child];
    v[child] = t;
  }
}

/* Heap sort: keys are distinct, so stability does not matter, and nothing is allocated. */
static void sort_keys(pair_key *v, size_t n) {
  for (size_t i = n / 2; i-- > 0;) sift(v, i, n);
  for (size_t end = n; end-- > 1;) {
    pair_key t = v[0];
    v[0] = v[end];
    v[end] = t;
    sift(v, 0, end);
  }
}

/* Pushes a table of the keys of the table at 1 as they come; says whether that is in order. */
static lua_Integer gather(lua_State *L, bool *sorted) {
  lua_Integer n = 0;
  sort_key last = {.rank = -1};
  *sorted = true;
  lua_newtable(L);
  int keys = lua_gettop(L);
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    lua_pop(L, 1);
    sort_key k = key_at(L, -1, "pairs");
    if (n && compare(&last, &k) > 0) *sorted = false;
    last = k;
    lua_pushvalue(L, -1);
    lua_rawseti(L, keys, ++n);
    if (n % 1024 == 0) np_charge_slow(L, 4096);
  }
  np_charge_slow(L, 4 * ((uint64_t)n % 1024));
  return n;
}

/* Replaces the keys on top by the same in order. */
static void put_in_order(lua_State *L, lua_Integer n) {
  int keys = lua_gettop(L);
  uint64_t cost = (uint64_t)n;
  for (lua_Integer m = n; m > 1; m /= 2) cost += (uint64_t)n;
  np_charge_slow(L, cost);
  pair_key *v = lua_newuserdatauv(L, (size_t)n * sizeof *v, 0);
  lua_createtable(L, n < 1 << 20 ? (int)n : 0, 0);
  for (lua_Integer i = 0; i < n; i++) {
    lua_rawgeti(L, keys, i + 1);
    v[i].key = key_at(L, -1, "pairs"); /* strings stay: the keys hold them */
    v[i].at = i + 1;
    lua_pop(L, 1);
  }
  sort_keys(v, (size_t)n);
  for (lua_Integer i = 0; i < n; i++) {
    lua_rawgeti(L, keys, v[i].at);
    lua_rawseti(L, -2, i + 1);
  }
  lua_replace(L, keys);
  lua_settop(L, keys);
}

/* Upvalues: the keys, the index of the last one given. Keys that were removed meanwhile are
** left out; new ones are not seen. A policy may call it with anything. */
static int pairs_step(lua_State *L) {
  lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  for (;;) {
    i++;
    if (lua_rawgeti(L, lua_upvalueindex(1), i) == LUA_TNIL) return 1;
    lua_pushvalue(L, 2);
    if (lua_rawget(L, 1) != LUA_TNIL) break;
    lua_settop(L, 1);
    if (i % 1024 == 0) np_charge_slow(L, 1024);
  }
  lua_pushinteger(L, i);
  lua_replace(L, lua_upvalueindex(2));
  return 2;
}

/* The keys of a table as they are, whatever its metatable says. */
static int raw_pairs(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  bool sorted;
  lua_Integer n = gather(L, &sorted);
  if (!sorted) put_in_order(L, n);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, pairs_step, 2);
  lua_pushvalue(L, 1);
  return 2;
}

static int order_pairs(lua_State *L) {
  luaL_checkany(L, 1);
  if (luaL_getmetafield(L, 1, "__pairs") == LUA_TNIL) return raw_pairs(L);
  lua_pushvalue(L, 1);
  lua_call(L, 1, 3);
  return 3;
}

int np_pairs_push(lua_State *L, int index) {
  index = lua_absindex(L, index);
  luaL_checkstack(L, 6, "pairs");
  lua_pushcfunction(L, raw_pairs);
  lua_pushvalue(L, index);
  lua_call(L, 1, 1);
  return lua_gettop(L);
}

bool np_pairs_next(lua_State *L, int step, int index) {
  lua_settop(L, step);
  lua_pushvalue(L, step);
  lua_pushvalue(L, index);
  lua_call(L, 1, 2);
  if (!lua_isnil(L, -2)) return true;
  lua_settop(L, step - 1);
  return false;
}

void np_env_order(lua_State *L) {
  lua_pushcfunction(L, order_next);
  lua_pushcfunction(L, order_pairs);
}
