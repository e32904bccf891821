/*
** The policy's `string`: as in the manual, but every byte is paid, case is that of ASCII
** whatever the locale, and nothing prints an address. Patterns are match.c's. next: match.c
*/
#include <lualib.h>
#include <stdio.h>

#include "policy/host.h"

#define BYTES 64 /* copied in the time of an instruction */

/* The 1-based position `i` in a text of `n` bytes, negative from the end: as a first byte
** (at least 1) or as a last one (at most n). */
static size_t first_at(lua_Integer i, size_t n) {
  if (i > 0) return (size_t)i;
  if (i == 0 || i < -(lua_Integer)n) return 1;
  return (size_t)((lua_Integer)n + i + 1);
}

static size_t last_at(lua_Integer i, size_t n) {
  if (i > (lua_Integer)n) return n;
  if (i >= 0) return (size_t)i;
  return i < -(lua_Integer)n ? 0 : (size_t)((lua_Integer)n + i + 1);
}

static int string_len(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)np_check_str(L, 1).n);
  return 1;
}

static int string_sub(lua_State *L) {
  np_str s = np_check_str(L, 1);
  size_t from = first_at(luaL_checkinteger(L, 2), s.n);
  size_t to = last_at(luaL_optinteger(L, 3, -1), s.n);
  size_t n = from > to ? 0 : to - from + 1;
  np_charge(L, n / BYTES);
  lua_pushlstring(L, n ? s.p + from - 1 : "", n);
  return 1;
}

static int string_byte(lua_State *L) {
  np_str s = np_check_str(L, 1);
  lua_Integer i = luaL_optinteger(L, 2, 1);
  size_t from = first_at(i, s.n);
  size_t to = last_at(luaL_optinteger(L, 3, i), s.n);
  if (from > to) return 0;
  if (to - from >= 1000000) return luaL_error(L, "string slice too long");
  int n = (int)(to - from) + 1;
  np_charge(L, (uint64_t)n);
  luaL_checkstack(L, n, "string slice too long");
  for (int k = 0; k < n; k++) {
    lua_pushinteger(L, (unsigned char)s.p[from - 1 + (size_t)k]);
  }
  return n;
}

static int string_char(lua_State *L) {
  int n = lua_gettop(L);
  luaL_Buffer b;
  np_charge(L, (uint64_t)n);
  char *p = luaL_buffinitsize(L, &b, (size_t)n);
  for (int i = 1; i <= n; i++) {
    lua_Integer c = luaL_checkinteger(L, i);
    luaL_argcheck(L, c >= 0 && c <= 255, i, "value out of range");
    p[i - 1] = (char)c;
  }
  luaL_pushresultsize(&b, (size_t)n);
  return 1;
}

typedef char (*byte_map)(np_str s, size_t i);

static char upper_at(np_str s, size_t i) {
  return s.p[i] >= 'a' && s.p[i] <= 'z' ? (char)(s.p[i] - 32) : s.p[i];
}

static char lower_at(np_str s, size_t i) {
  return s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32) : s.p[i];
}

static char reverse_at(np_str s, size_t i) {
  return s.p[s.n - 1 - i];
}

static int map_bytes(lua_State *L, byte_map f) {
  np_str s = np_check_str(L, 1);
  luaL_Buffer b;
  np_charge_slow(L, s.n / 8);
  char *p = luaL_buffinitsize(L, &b, s.n);
  for (size_t i = 0; i < s.n; i++) p[i] = f(s, i);
  luaL_pushresultsize(&b, s.n);
  return 1;
}

static int string_upper(lua_State *L) {
  return map_bytes(L, upper_at);
}

static int string_lower(lua_State *L) {
  return map_bytes(L, lower_at);
}

static int string_reverse(lua_State *L) {
  return map_bytes(L, reverse_at);
}

static int string_rep(lua_State *L) {
  np_str s = np_check_str(L, 1);
  lua_Integer n = luaL_checkinteger(L, 2);
  np_str sep = {"", 0};
  size_t unit, total;
  if (!lua_isnoneornil(L, 3)) sep = np_check_str(L, 3);
  if (n <= 0 || (s.n == 0 && sep.n == 0)) {
    lua_pushliteral(L, "");
    return 1;
  }
  if (!np_add_ok(s.n, sep.n, &unit) || !np_mul_ok(unit, (size_t)n, &total) ||
      total - sep.n > np_host(L)->heap.block) {
    return luaL_error(L, "resulting string too large");
  }
  total -= sep.n;
  np_charge_slow(L, (uint64_t)n + total / BYTES);
  luaL_Buffer b;
  char *p = luaL_buffinitsize(L, &b, total);
  for (lua_Integer i = 0; i < n; i++) {
    memcpy(p, s.p, s.n);
    p += s.n;
    if (i + 1 < n && sep.n) memcpy(p, sep.p, sep.n);
    p += sep.n;
  }
  luaL_pushresultsize(&b, total);
  return 1;
}

/* ---- format ---- */

/* Length of the conversion that begins at the % of f[at], or raises. */
static size_t spec_length(lua_State *L, np_str f, size_t at) {
  size_t i = at + 1;
  while (i < f.n && f.p[i] && strchr("-+ #0123456789.", f.p[i])) i++;
  if (i >= f.n || i - at > 20) luaL_error(L, "invalid conversion '%%' to 'format'");
  return i - at + 1;
}

/* Pushes the number at `arg`; a NaN without its sign, which is the processor's. */
static void push_number(lua_State *L, int arg) {
  lua_Number d = luaL_checknumber(L, arg);
  uint64_t nan = UINT64_C(0x7FF8) << 48;
  if (d != d) memcpy(&d, &nan, sizeof d);
  lua_pushnumber(L, d);
}

/* %q of a float: 17 digits give every double back. The stock one writes %a, of which libc
** chooses the form. */
static bool push_quoted_float(lua_State *L, int arg) {
  char text[40];
  if (lua_type(L, arg) != LUA_TNUMBER || lua_isinteger(L, arg)) return false;
  lua_Number d = lua_tonumber(L, arg);
  if (d != d) snprintf(text, sizeof text, "(0/0)");
  else if (d - d != 0) snprintf(text, sizeof text, d > 0 ? "1e9999" : "-1e9999");
  else snprintf(text, sizeof text, "%.17g", d);
  lua_pushstring(L, text);
  if (!strpbrk(text, ".en/")) lua_pushliteral(L, ".0"), lua_concat(L, 2);
  return true;
}

/* Pushes argument `arg` formatted by `spec` with the stock function, the first upvalue. */
static void push_formatted(lua_State *L, np_str spec, int arg) {
  char conv = spec.p[spec.n - 1];
  if (conv == 'p') luaL_error(L, "'%%p' shows an address; a policy has none");
  if (conv == 'a' || conv == 'A')
    luaL_error(L, "'%%%c' differs between C libraries; use '%%.17g'", conv);
  if (conv == 'q' && spec.n == 2 && push_quoted_float(L, arg)) return;
  if (strchr("diucxXo", conv)) luaL_checkinteger(L, arg);
  else if (strchr("eEfFgG", conv)) luaL_checknumber(L, arg);
  else luaL_checkany(L, arg);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushlstring(L, spec.p, spec.n);
  if (conv == 's') np_env_tostring(L, arg);
  else if (strchr("eEfFgG", conv)) push_number(L, arg);
  else lua_pushvalue(L, arg);
  if (lua_type(L, -1) == LUA_TSTRING) np_charge_slow(L, lua_rawlen(L, -1) / 8);
  if (spec.n == 2 && conv == 's') {
    lua_replace(L, -3);
    lua_pop(L, 1);
  } else {
    lua_call(L, 2, 1);
  }
}

static int string_format(lua_State *L) {
  np_str f = np_check_str(L, 1);
  int arg = 1, args = lua_gettop(L);
  luaL_Buffer b;
  np_charge_slow(L, f.n / 4);
  luaL_buffinit(L, &b);
  for (size_t i = 0; i < f.n;) {
    if (f.p[i] != '%') {
      luaL_addchar(&b, f.p[i++]);
    } else if (i + 1 < f.n && f.p[i + 1] == '%') {
      luaL_addchar(&b, '%');
      i += 2;
    } else {
      size_t n = spec_length(L, f, i);
      if (++arg > args) return luaL_argerror(L, arg, "no value");
      push_formatted(L, np_str_of(f.p + i, n), arg);
      luaL_addvalue(&b);
      np_charge(L, 20);
      i += n;
    }
  }
  luaL_pushresult(&b);
  return 1;
}

/* ---- the table ---- */

static void push_functions(lua_State *L) {
  static const luaL_Reg functions[] = {{"byte", string_byte},
                                       {"char", string_char},
                                       {"find", np_env_find},
                                       {"gmatch", np_env_gmatch},
                                       {"gsub", np_env_gsub},
                                       {"len", string_len},
                                       {"lower", string_lower},
                                       {"match", np_env_match},
                                       {"rep", string_rep},
                                       {"reverse", string_reverse},
                                       {"sub", string_sub},
                                       {"upper", string_upper},
                                       {NULL, NULL}};
  lua_createtable(L, 0, 13);
  luaL_setfuncs(L, functions, 0);
  lua_pushvalue(L, -2);
  lua_pushcclosure(L, string_format, 1);
  lua_setfield(L, -2, "format");
}

/* Methods of strings come from a copy that no policy can reach. */
void np_env_string(lua_State *L) {
  lua_pushcfunction(L, luaopen_string);
  lua_pushliteral(L, LUA_STRLIBNAME);
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "format");
  lua_remove(L, -2);
  lua_pushliteral(L, "");
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, -3);
  push_functions(L);
  lua_setfield(L, -3, "__index");
  lua_pop(L, 1);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
  push_functions(L);
  lua_remove(L, -2);
}
