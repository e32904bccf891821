/*
** Intervals by resampling: a mean over recordings is worth what it says of other recordings of
** the kind. A generator of its own, so that they are the same on every machine.
** next: ../cli/main.c
*/
#include <lauxlib.h>
#include <stdlib.h>

#include "bind/bind.h"

#define MOST 1000000 /* recordings */

static uint64_t draw(uint64_t *x) { /* xorshift, never 0 */
  *x ^= *x << 13;
  *x ^= *x >> 7;
  *x ^= *x << 17;
  return *x >> 1;
}

typedef struct sample {
  const double *part, *whole;
  const lua_Integer *size;
  size_t groups;
} sample;

/* The mean over the groups of part / whole, of members drawn with replacement within each; a
** group whose wholes are 0 is left out. */
static double one_mean(const sample *s, uint64_t *x) {
  double sum = 0;
  size_t from = 0, used = 0;
  for (size_t g = 0; g < s->groups; g++) {
    size_t n = (size_t)s->size[g];
    double part = 0, whole = 0;
    for (size_t k = 0; k < n; k++) {
      size_t i = from + (size_t)(draw(x) % n);
      part += s->part[i];
      whole += s->whole[i];
    }
    from += n;
    if (whole <= 0) continue;
    sum += part / whole;
    used++;
  }
  return used ? sum / (double)used : 0;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double *numbers(lua_State *L, int arg, size_t n) {
  luaL_checktype(L, arg, LUA_TTABLE);
  luaL_argcheck(L, lua_rawlen(L, arg) == n, arg, "as many parts as wholes are expected");
  double *list = lua_newuserdatauv(L, (n + 1) * sizeof *list, 0);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    list[i] = lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  return list;
}

static lua_Integer *sizes(lua_State *L, int arg, size_t n, size_t *groups) {
  luaL_checktype(L, arg, LUA_TTABLE);
  *groups = lua_rawlen(L, arg);
  lua_Integer *list = lua_newuserdatauv(L, (*groups + 1) * sizeof *list, 0), sum = 0;
  for (size_t i = 0; i < *groups; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    list[i] = lua_tointeger(L, -1);
    lua_pop(L, 1);
    luaL_argcheck(L, list[i] > 0 && list[i] <= MOST, arg, "sizes of groups are expected");
    sum += list[i];
  }
  luaL_argcheck(L, sum == (lua_Integer)n, arg, "the sizes must add up to the parts");
  return list;
}

/* resample(parts, wholes, sizes, times): the 2.5 % and 97.5 % places of the mean over groups of
** part / whole; members of a group stand together. Seeded, linear in members x times. */
static int resample(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  size_t n = lua_rawlen(L, 1);
  lua_Integer times = luaL_checkinteger(L, 4);
  luaL_argcheck(L, n > 0 && n <= MOST, 1, "1 to 1000000 parts are expected");
  luaL_argcheck(L, times >= 40 && times <= 100000, 4, "40 to 100000 is expected");
  sample s = {.groups = 0};
  s.part = numbers(L, 1, n);
  s.whole = numbers(L, 2, n);
  s.size = sizes(L, 3, n, &s.groups);
  double *means = lua_newuserdatauv(L, (size_t)times * sizeof *means, 0);
  uint64_t x = 1;
  for (lua_Integer i = 0; i < times; i++) means[i] = one_mean(&s, &x);
  qsort(means, (size_t)times, sizeof *means, by_value);
  lua_pushnumber(L, means[times / 40 - 1]);
  lua_pushnumber(L, means[times - times / 40 - 1]);
  return 2;
}

static const luaL_Reg functions[] = {{"resample", resample}, {NULL, NULL}};

void np_bind_resample(lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
