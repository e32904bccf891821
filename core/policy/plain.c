/*
** Plain data of a policy as JSON and back: nil, booleans, numbers, strings and tables, each
** exactly as it was. An integer key that is not of a list becomes "#17", and a string key
** that begins with # gets another one. Keys are sorted: equal data are equal bytes.
** next: call.c
*/
#include <inttypes.h>
#include <stdio.h>

#include "policy/host.h"
#include "text/text.h"

#define DEPTH 32
#define NODES 100000
#define BYTES ((size_t)8 << 20)

typedef struct writer {
  lua_State *L;
  np_buf *out;
  const char *what;
  int nodes, depth;
  char path[240]; /* of the value: "state.items[3].text" */
} writer;

/* Raises "ctx.state.items[3]: WHY". */
static void refuse(writer *w, const char *why) {
  luaL_error(w->L, "%s%s: %s", w->what, w->path, why);
}

/* Appends a step to the path; returns its length before. A long path keeps its beginning. */
static size_t enter(writer *w, const char *fmt_key, lua_Integer index) {
  size_t n = strlen(w->path);
  if (fmt_key) snprintf(w->path + n, sizeof w->path - n, ".%.40s", fmt_key);
  else snprintf(w->path + n, sizeof w->path - n, "[%" PRId64 "]", (int64_t)index);
  return n;
}

static void write_value(writer *w, int index);

/* 17 digits give every double back; a point whatever the locale, and always a sign that it
** is no integer. */
static void write_float(writer *w, double d) {
  char text[40];
  bool point = false;
  if (d != d || d - d != 0) refuse(w, "not a finite number");
  snprintf(text, sizeof text, "%.17g", d);
  for (char *p = text; *p; p++) {
    if (!strchr("0123456789+-eE", *p)) *p = '.';
    if (strchr(".eE", *p)) point = true;
  }
  np_buf_adds(w->out, text);
  if (!point) np_buf_adds(w->out, ".0");
}

static void write_string(writer *w, int index) {
  np_str s;
  s.p = lua_tolstring(w->L, index, &s.n);
  np_charge_slow(w->L, s.n / 8);
  if (np_utf8_valid(s) != s.n) refuse(w, "not UTF-8");
  np_json_quote(w->out, s);
}

/* The number of items when the table is a list (keys 1 to n, n > 0), else 0; and how many
** keys it has. Raises for keys that are neither integers nor strings. */
static lua_Integer list_length(writer *w, int index, lua_Integer *keys) {
  lua_State *L = w->L;
  lua_Integer n = (lua_Integer)lua_rawlen(L, index);
  *keys = 0;
  lua_pushnil(L);
  while (lua_next(L, index)) {
    lua_pop(L, 1);
    ++*keys;
    if (lua_type(L, -1) == LUA_TSTRING) n = 0;
    else if (!lua_isinteger(L, -1)) refuse(w, "a key is neither a string nor an integer");
    else if (lua_tointeger(L, -1) < 1 || lua_tointeger(L, -1) > n) n = 0;
  }
  return *keys == n ? n : 0;
}

static void write_list(writer *w, int index, lua_Integer n) {
  np_buf_addc(w->out, '[');
  for (lua_Integer i = 1; i <= n; i++) {
    if (i > 1) np_buf_addc(w->out, ',');
    size_t at = enter(w, NULL, i);
    lua_rawgeti(w->L, index, i);
    write_value(w, lua_gettop(w->L));
    lua_pop(w->L, 1);
    w->path[at] = '\0';
  }
  np_buf_addc(w->out, ']');
}

static void write_key(writer *w, int index) {
  char text[32];
  if (lua_type(w->L, index) == LUA_TSTRING) {
    np_str s;
    s.p = lua_tolstring(w->L, index, &s.n);
    if (np_utf8_valid(s) != s.n) refuse(w, "a key is not UTF-8");
    if (s.n && s.p[0] == '#') {
      lua_pushfstring(w->L, "#%s", s.p); /* a NUL would end it */
      if (memchr(s.p, 0, s.n)) refuse(w, "a key holds a NUL");
      s.p = lua_tolstring(w->L, -1, &s.n);
      np_json_quote(w->out, s);
      lua_pop(w->L, 1);
    } else {
      np_json_quote(w->out, s);
    }
    return;
  }
  snprintf(text, sizeof text, "\"#%" PRId64 "\"", (int64_t)lua_tointeger(w->L, index));
  np_buf_adds(w->out, text);
}

/* In the order of the policy's own `pairs`. */
static void write_object(writer *w, int index) {
  lua_State *L = w->L;
  int step = np_pairs_push(L, index);
  np_buf_addc(w->out, '{');
  for (bool first = true; np_pairs_next(L, step, index); first = false) {
    if (!first) np_buf_addc(w->out, ',');
    write_key(w, step + 1);
    np_buf_addc(w->out, ':');
    bool named = lua_type(L, step + 1) == LUA_TSTRING;
    size_t at = enter(w, named ? lua_tostring(L, step + 1) : NULL,
                      named ? 0 : lua_tointeger(L, step + 1));
    write_value(w, step + 2);
    w->path[at] = '\0';
  }
  np_buf_addc(w->out, '}');
}

static void write_table(writer *w, int index) {
  lua_Integer keys;
  if (++w->depth > DEPTH) refuse(w, "deeper than 32 tables, or a circle");
  if (lua_getmetatable(w->L, index))
    refuse(w, "a table with a metatable is not plain data");
  luaL_checkstack(w->L, 8, "plain data");
  lua_Integer n = list_length(w, index, &keys);
  np_charge_slow(w->L, 4 * (uint64_t)keys);
  if (n) write_list(w, index, n);
  else write_object(w, index);
  w->depth--;
}

static void write_value(writer *w, int index) {
  lua_State *L = w->L;
  if (++w->nodes > NODES) refuse(w, "more than 100,000 values");
  if (w->out->n > BYTES) refuse(w, "more than 8 MiB");
  switch (lua_type(L, index)) {
    case LUA_TNIL: np_buf_adds(w->out, "null"); break;
    case LUA_TBOOLEAN:
      np_buf_adds(w->out, lua_toboolean(L, index) ? "true" : "false");
      break;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index)) np_buf_int(w->out, lua_tointeger(L, index));
      else write_float(w, lua_tonumber(L, index));
      break;
    case LUA_TSTRING: write_string(w, index); break;
    case LUA_TTABLE: write_table(w, index); break;
    default:
      lua_pushfstring(L, "a %s is not plain data", luaL_typename(L, index));
      refuse(w, lua_tostring(L, -1));
  }
}

void np_plain_write(lua_State *L, int index, const char *what, np_buf *out) {
  writer w = {.L = L, .out = out, .what = what};
  luaL_checkstack(L, 8, "plain data");
  write_value(&w, lua_absindex(L, index));
  if (!out->failed) return;
  np_err e;
  np_fail_mem(&e);
  np_break(L, &e);
}

/* ---- reading ---- */

static void push_text(lua_State *L, np_json v) {
  luaL_Buffer b;
  size_t n = v.raw.n; /* never longer when decoded */
  char *p = luaL_buffinitsize(L, &b, n);
  np_buf text = {.p = p, .cap = n, .alloc = &np_host(L)->alloc};
  np_json_text(v, &text);
  luaL_pushresultsize(&b, text.n);
}

static void push_number(lua_State *L, np_json v) {
  lua_pushlstring(L, v.raw.p, v.raw.n);
  if (!lua_stringtonumber(L, lua_tostring(L, -1))) lua_pushinteger(L, 0);
  lua_remove(L, -2);
}

/* Turns the key's text on top into the key that was written. */
static void unescape_key(lua_State *L) {
  size_t n;
  const char *s = lua_tolstring(L, -1, &n);
  if (n < 2 || s[0] != '#') return;
  if (s[1] == '#') lua_pushlstring(L, s + 1, n - 1);
  else if (!lua_stringtonumber(L, s + 1)) return;
  lua_remove(L, -2);
}

static void push_value(lua_State *L, np_json v, int depth) {
  if (depth > DEPTH) luaL_error(L, "state is deeper than 32 tables");
  luaL_checkstack(L, 6, "plain data");
  np_charge(L, 4 + v.raw.n / 64);
  np_str key;
  np_json item;
  np_json_iter it;
  switch (v.type) {
    case NP_JSON_BOOL: lua_pushboolean(L, v.raw.p[0] == 't'); break;
    case NP_JSON_NUMBER: push_number(L, v); break;
    case NP_JSON_STRING: push_text(L, v); break;
    case NP_JSON_ARRAY:
    case NP_JSON_OBJECT:
      lua_newtable(L);
      it = np_json_each(v);
      for (lua_Integer i = 1; np_json_next(&it, &key, &item); i++) {
        if (v.type == NP_JSON_ARRAY) lua_pushinteger(L, i);
        else push_text(L, (np_json){NP_JSON_STRING, key});
        if (v.type == NP_JSON_OBJECT) unescape_key(L);
        push_value(L, item, depth + 1);
        lua_rawset(L, -3);
      }
      break;
    default: lua_pushnil(L);
  }
}

void np_plain_read(lua_State *L, np_str json) {
  np_json v = {NP_JSON_OBJECT, NP_LIT("{}")};
  np_err e;
  if (json.n && np_json_check(json, &v, &e))
    luaL_error(L, "state is no JSON: %s", e.text);
  push_value(L, v, 0);
}
