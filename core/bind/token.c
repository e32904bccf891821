/*
** core.encodings, core.encoding, core.vocab_import: the tokenizer for Lua. An encoding is a
** userdata that owns its vocabulary; count takes any bytes. A counter is one that refers to
** its encoding.
** next: system.c
*/
#include "token/append.h"
#include "token/import.h"
#include "bind/bind.h"

#define TYPE "neap.encoding"

static np_vocab *check_vocab(lua_State *L) {
  np_vocab **v = luaL_checkudata(L, 1, TYPE);
  if (!*v) luaL_argerror(L, 1, "the encoding is closed");
  return *v;
}

static int encoding_close(lua_State *L) {
  np_vocab **v = luaL_checkudata(L, 1, TYPE);
  np_vocab_free(*v);
  *v = NULL;
  return 0;
}

static np_vocab **new_vocab(lua_State *L) {
  np_vocab **v = lua_newuserdatauv(L, sizeof *v, 0);
  *v = NULL;
  luaL_setmetatable(L, TYPE);
  return v;
}

/* encoding(name [, folder]): without a folder from those of neap and of the user */
static int encoding_open(lua_State *L) {
  np_err e = {0};
  np_str name = np_bind_check_str(L, 1);
  bool any = lua_isnoneornil(L, 2);
  lua_settop(L, any ? 1 : 2);
  if (any) np_bind_push_data_dir(L);
  const char *dir = np_bind_check_cstr(L, 2);
  np_vocab **v = new_vocab(L);
  neap_rc rc = any ? np_vocab_open_any(&np_alloc_libc, dir, name, v, &e)
                   : np_vocab_open(&np_alloc_libc, dir, name, v, &e);
  return rc ? np_bind_fail(L, &e) : 1;
}

/* vocab_import(text, where, name, source [, pattern]): the encoding and the bytes of its
** ready file; or nil, message, code, and for JSON that is none its place from 1 on */
static int vocab_import(lua_State *L) {
  np_err e = {0};
  np_str text = np_bind_check_str(L, 1), pattern = {"", 0};
  np_import how = {.where = np_bind_check_cstr(L, 2),
                   .name = np_bind_check_str(L, 3),
                   .source = np_bind_check_str(L, 4)};
  if (!lua_isnoneornil(L, 5)) pattern = np_bind_check_str(L, 5);
  how.pattern = pattern;
  np_vocab **v = new_vocab(L);
  if (np_vocab_import(&np_alloc_libc, text, &how, v, &e)) {
    np_bind_fail(L, &e);
    if (e.code != NEAP_E_JSON && e.code != NEAP_E_UTF8 && e.code != NEAP_E_LIMIT)
      return 3;
    lua_pushinteger(L, (lua_Integer)e.pos + 1);
    return 4;
  }
  np_str image = np_vocab_image(*v);
  lua_pushlstring(L, image.p, image.n);
  return 2;
}

/* vocab_dir(): where imported vocabularies are kept */
static int vocab_dir(lua_State *L) {
  np_buf *path = np_bind_buf(L);
  np_vocab_user_dir(path);
  if (path->failed) return luaL_error(L, "out of memory");
  lua_pushstring(L, path->p);
  return 1;
}

static int encoding_count(lua_State *L) {
  np_vocab *v = check_vocab(L);
  lua_pushinteger(L, (lua_Integer)np_vocab_count(v, np_bind_check_str(L, 2)));
  return 1;
}

/* fit(text, tokens [, at [, from_end]]): the part of the text that fits; at is "character",
** "grapheme" or "line" */
static int encoding_fit(lua_State *L) {
  static const char *const cuts[] = {"character", "grapheme", "line", NULL};
  np_vocab *v = check_vocab(L);
  np_str text = np_bind_check_str(L, 2);
  lua_Integer tokens = luaL_checkinteger(L, 3);
  luaL_argcheck(L, tokens >= 0, 3, "a number of tokens is not negative");
  np_cut kind = (np_cut)luaL_checkoption(L, 4, "character", cuts);
  bool tail = lua_toboolean(L, 5);
  size_t n = np_vocab_fit_cut(v, text, (size_t)tokens, tail, kind);
  lua_pushlstring(L, tail ? text.p + text.n - n : text.p, n);
  return 1;
}

/* encode(text [, special]): the ids, as a list */
static int encoding_encode(lua_State *L) {
  np_vocab *v = check_vocab(L);
  np_str text = np_bind_check_str(L, 2);
  bool special = lua_toboolean(L, 3);
  np_buf *own = np_bind_buf(L); /* holds the ids, so that a raised error frees them */
  uint32_t *ids = NULL;
  size_t n = 0, cap = 0;
  np_err e = {0};
  neap_rc rc = np_vocab_encode(v, text, special, &np_alloc_libc, &ids, &n, &cap, &e);
  own->p = (char *)ids;
  own->cap = cap * sizeof *ids;
  if (rc) return np_bind_fail(L, &e);
  lua_createtable(L, n < 1 << 26 ? (int)n : 0, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushinteger(L, ids[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static uint32_t check_id(lua_State *L, lua_Integer i) {
  int is_integer;
  lua_geti(L, 2, i);
  lua_Integer id = lua_tointegerx(L, -1, &is_integer);
  if (!is_integer || id < 0 || id > UINT32_MAX) {
    luaL_error(L, "bad argument #1 to 'decode' (item %I is no token id)", i);
  }
  lua_pop(L, 1);
  return (uint32_t)id;
}

/* decode(ids): the bytes, or nil, message, code, index */
static int encoding_decode(lua_State *L) {
  np_vocab *v = check_vocab(L);
  luaL_checktype(L, 2, LUA_TTABLE);
  np_err e = {0};
  size_t n = (size_t)luaL_len(L, 2);
  uint32_t *ids = lua_newuserdatauv(L, n ? n * sizeof *ids : 1, 0);
  for (size_t i = 0; i < n; i++) ids[i] = check_id(L, (lua_Integer)i + 1);
  np_buf *out = np_bind_buf(L);
  if (np_vocab_decode(v, ids, n, out, &e)) {
    np_bind_fail(L, &e);
    lua_pushinteger(L, (lua_Integer)e.pos + 1);
    return 4;
  }
  np_bind_push_buf(L, out);
  return 1;
}

/* ---- counters ---------------------------------------------------------------------- */

#define COUNTER "neap.counter"

/* The encoding is the user value; it may have been closed by name meanwhile. */
static np_counter *check_counter(lua_State *L) {
  np_counter *c = luaL_checkudata(L, 1, COUNTER);
  if (!c->v) luaL_argerror(L, 1, "the counter is closed");
  lua_getiuservalue(L, 1, 1);
  np_vocab **v = lua_touserdata(L, -1);
  if (!*v) luaL_argerror(L, 1, "the encoding is closed");
  lua_pop(L, 1);
  return c;
}

/* Pushes a counter that is closed; its user value is the encoding at `enc`. */
static np_counter *push_counter(lua_State *L, int enc) {
  lua_pushvalue(L, enc);
  np_counter *c = lua_newuserdatauv(L, sizeof *c, 1);
  *c = (np_counter){.alloc = np_alloc_libc};
  luaL_setmetatable(L, COUNTER);
  lua_rotate(L, -2, 1);
  lua_setiuservalue(L, -2, 1);
  return c;
}

static int encoding_counter(lua_State *L) {
  np_vocab *v = check_vocab(L);
  np_counter_init(push_counter(L, 1), v, &np_alloc_libc);
  return 1;
}

/* add(bytes): the tokens so far */
static int counter_add(lua_State *L) {
  np_counter *c = check_counter(L);
  if (!np_counter_add(c, np_bind_check_str(L, 2))) {
    return np_bind_fail_text(L, NEAP_E_MEMORY, neap_rc_text(NEAP_E_MEMORY));
  }
  lua_pushinteger(L, (lua_Integer)np_counter_tokens(c));
  return 1;
}

static int counter_tokens(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)np_counter_tokens(check_counter(L)));
  return 1;
}

static int counter_reset(lua_State *L) {
  np_counter_reset(check_counter(L));
  return 0;
}

static int counter_copy(lua_State *L) {
  np_counter *c = check_counter(L);
  lua_getiuservalue(L, 1, 1);
  if (np_counter_copy(c, push_counter(L, lua_gettop(L)))) return 1;
  return np_bind_fail_text(L, NEAP_E_MEMORY, neap_rc_text(NEAP_E_MEMORY));
}

static int counter_close(lua_State *L) {
  np_counter *c = luaL_checkudata(L, 1, COUNTER);
  np_counter_free(c);
  c->v = NULL;
  return 0;
}

static const luaL_Reg counter_methods[] = {
    {"add", counter_add},   {"tokens", counter_tokens}, {"reset", counter_reset},
    {"copy", counter_copy}, {"close", counter_close},   {NULL, NULL},
};

static const luaL_Reg counter_meta[] = {
    {"__gc", counter_close},
    {"__close", counter_close},
    {NULL, NULL},
};

/* ---- encodings --------------------------------------------------------------------- */

static void push_info(lua_State *L, const np_encoding_info *info) {
  lua_createtable(L, 0, 4);
  lua_pushstring(L, info->name);
  lua_setfield(L, -2, "name");
  lua_pushinteger(L, info->tokens);
  lua_setfield(L, -2, "tokens");
  lua_pushstring(L, info->source);
  lua_setfield(L, -2, "source");
  lua_pushboolean(L, info->exact);
  lua_setfield(L, -2, "exact");
}

static int encoding_info(lua_State *L) {
  push_info(L, np_vocab_info(check_vocab(L)));
  return 1;
}

static int encoding_text(lua_State *L) {
  np_vocab **v = luaL_checkudata(L, 1, TYPE);
  lua_pushfstring(L, TYPE " (%s)", *v ? np_vocab_info(*v)->name : "closed");
  return 1;
}

static int encodings(lua_State *L) {
  size_t n = np_encoding_count();
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    push_info(L, np_encoding_at(i));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static const luaL_Reg methods[] = {
    {"count", encoding_count},   {"encode", encoding_encode},
    {"decode", encoding_decode}, {"info", encoding_info},
    {"close", encoding_close},   {"counter", encoding_counter},
    {"fit", encoding_fit},       {NULL, NULL},
};

static const luaL_Reg meta[] = {
    {"__gc", encoding_close},
    {"__close", encoding_close},
    {"__tostring", encoding_text},
    {NULL, NULL},
};

static const luaL_Reg functions[] = {
    {"encodings", encodings},
    {"encoding", encoding_open},
    {"vocab_import", vocab_import},
    {"vocab_dir", vocab_dir},
    {NULL, NULL},
};

static void make_type(lua_State *L, const char *name, const luaL_Reg *events,
                      const luaL_Reg *functions_of_it) {
  luaL_newmetatable(L, name);
  luaL_setfuncs(L, events, 0);
  lua_newtable(L);
  luaL_setfuncs(L, functions_of_it, 0);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

void np_bind_token(lua_State *L) {
  make_type(L, TYPE, meta, methods);
  make_type(L, COUNTER, counter_meta, counter_methods);
  luaL_setfuncs(L, functions, 0);
}
