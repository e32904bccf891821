/*
** core.project, core.extract_kind, core.error_lines: parts of texts for Lua.
** next: ../render/project.h
*/
#include "base/hash.h"
#include "bind/bind.h"
#include "render/project.h"
#include "text/errors.h"
#include "text/text.h"

#define RANGES_MAX 1000 /* given to Lua one by one; the count says how many there are */

static int arena_gc(lua_State *L) {
  np_arena_free(lua_touserdata(L, 1));
  return 0;
}

/* An arena on the stack that nothing can leak. */
static np_arena *push_arena(lua_State *L) {
  np_arena *ar = lua_newuserdatauv(L, sizeof *ar, 0);
  np_arena_init(ar, &np_alloc_libc);
  if (luaL_newmetatable(L, "neap.arena")) {
    lua_pushcfunction(L, arena_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return ar;
}

static size_t option(lua_State *L, int at, const char *name, size_t fallback) {
  if (!lua_istable(L, at)) return fallback;
  int type = lua_getfield(L, at, name);
  lua_Integer n = type == LUA_TNIL ? 0 : luaL_checkinteger(L, -1);
  lua_pop(L, 1);
  if (n < 0) luaL_error(L, "%s is below 0", name);
  return type == LUA_TNIL ? fallback : (size_t)n;
}

static void set(lua_State *L, const char *name, size_t n) {
  lua_pushinteger(L, (lua_Integer)n);
  lua_setfield(L, -2, name);
}

static void push_ranges(lua_State *L, const np_projection *p) {
  size_t n = p->count < RANGES_MAX ? p->count : RANGES_MAX;
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_createtable(L, 0, 4);
    set(L, "from", p->kept[i].from + 1);
    set(L, "to", p->kept[i].to);
    set(L, "line_from", p->kept[i].line_from);
    set(L, "line_to", p->kept[i].line_to);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_result(lua_State *L, const np_projection *p, const np_buf *shown) {
  lua_createtable(L, 0, 12);
  np_bind_push_buf(L, shown);
  lua_setfield(L, -2, "text");
  set(L, "tokens", p->tokens);
  set(L, "lines", p->lines);
  set(L, "found", p->found);
  set(L, "shown", p->shown);
  set(L, "count", p->count);
  if (p->rest_from) set(L, "rest_from", p->rest_from);
  if (p->rest_from) set(L, "rest_to", p->rest_to);
  lua_pushboolean(L, p->whole);
  lua_setfield(L, -2, "whole");
  lua_pushboolean(L, p->made);
  lua_setfield(L, -2, "made");
  push_ranges(L, p);
  lua_setfield(L, -2, "ranges");
}

static void push_locator(lua_State *L, const np_projection *p, np_str text) {
  char hex[2 * NP_SHA256];
  uint8_t sum[NP_SHA256];
  np_str hash = {hex, 0}, id = {"", 0};
  if (lua_istable(L, 4) && lua_getfield(L, 4, "hash") == LUA_TSTRING)
    hash.p = lua_tolstring(L, -1, &hash.n);
  if (!hash.n) {
    np_sha256(text, sum);
    np_hex(sum, sizeof sum, hex);
    hash = np_str_of(hex, sizeof hex);
  }
  if (lua_istable(L, 4) && lua_getfield(L, 4, "id") != LUA_TNIL)
    id.p = luaL_tolstring(L, -1, &id.n);
  np_buf *b = np_bind_buf(L);
  np_locator_add(p, id, hash, b);
  np_bind_push_buf(L, b);
}

/* A Lua function as judge of lines; what it raises is kept until the core has let go. */
typedef struct judge {
  lua_State *L;
  int function, error; /* places on the stack; error 0: none */
} judge;

static unsigned ask_judge(void *ctx, np_str line) {
  judge *j = ctx;
  if (j->error) return 0;
  lua_pushvalue(j->L, j->function);
  lua_pushlstring(j->L, line.p, line.n);
  if (lua_pcall(j->L, 1, 1, 0) != LUA_OK) {
    j->error = lua_gettop(j->L);
    return 0;
  }
  lua_Number n = lua_tonumber(j->L, -1);
  lua_pop(j->L, 1);
  return n > 0 ? n < 1e6 ? (unsigned)(n * 1000) : 1000000000u : 0;
}

/* project(encoding or nil, text, words [, {tokens, id, hash, lines_before, bytes_before,
** lines_total, score}]): { text, tokens, lines, found, shown, count, ranges, whole, made, rest_from,
** rest_to, locator }, or nil, message, code. Without an encoding there is no limit. `score` is a
** function that judges the lines of `about` in the place of words: score(line), 0 or more. */
static int project(lua_State *L) {
  np_err e = {0};
  np_projection p = {0};
  np_vocab **v = lua_isnil(L, 1) ? NULL : luaL_checkudata(L, 1, "neap.encoding");
  np_str text = np_bind_check_str(L, 2), words = np_bind_check_str(L, 3);
  lua_settop(L, 4);
  np_project_ask ask = {.tokens = option(L, 4, "tokens", NP_TRIM_ANY),
                        .lines_before = option(L, 4, "lines_before", 0),
                        .bytes_before = option(L, 4, "bytes_before", 0),
                        .lines_total = option(L, 4, "lines_total", 0),
                        .asked = true};
  if (ask.tokens == NP_TRIM_ANY) ask.asked = false;
  luaL_argcheck(L, !v || *v, 1, "the encoding is closed");
  np_arena *ar = push_arena(L);
  np_buf *shown = np_bind_buf(L);
  judge j = {L, 0, 0};
  np_scorer scorer = {ask_judge, &j};
  if (lua_istable(L, 4) && lua_getfield(L, 4, "score") == LUA_TFUNCTION) {
    j.function = lua_gettop(L);
    ask.scorer = &scorer;
  }
  neap_rc rc = np_extract_parse(words, &ask.what, &e);
  if (!rc) rc = np_project(v ? *v : NULL, text, &ask, ar, &p, shown, &e);
  if (j.error) {
    lua_settop(L, j.error);
    return lua_error(L);
  }
  if (rc) return np_bind_fail(L, &e);
  push_result(L, &p, shown);
  int at = lua_gettop(L);
  push_locator(L, &p, text);
  lua_setfield(L, at, "locator");
  lua_settop(L, at);
  return 1;
}

/* extract_kind(words): "lines", "head", …; or nil, message, code */
static int extract_kind(lua_State *L) {
  np_err e = {0};
  np_extract what;
  if (np_extract_parse(np_bind_check_str(L, 1), &what, &e)) return np_bind_fail(L, &e);
  lua_pushstring(L, np_extract_name(what.kind));
  return 1;
}

/* error_lines(text): the numbers of the lines that speak of errors; how many frames of stack
** traces there are */
static int error_lines(lua_State *L) {
  np_str rest = np_bind_check_str(L, 1), line;
  lua_Integer at = 0, n = 0, frames = 0;
  lua_newtable(L);
  while (np_line_next(&rest, &line)) {
    at++;
    frames += np_error_is_frame(line);
    if (np_error_score(line) < NP_ERROR_LINE) continue;
    lua_pushinteger(L, at);
    lua_rawseti(L, -2, ++n);
  }
  lua_pushinteger(L, frames);
  return 2;
}

void np_bind_project(lua_State *L) {
  static const luaL_Reg functions[] = {{"project", project},
                                       {"extract_kind", extract_kind},
                                       {"error_lines", error_lines},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
