/*
** core.json: JSON to Lua values and back, with nothing changed on the way. Objects are plain
** tables, arrays are tables marked as such, null is json.null. Whole numbers that a Lua
** integer writes in the same way are integers; every other number, and each member that the
** caller names, stays a raw slice that encode() writes back untouched. next: encode.c
*/
#include "bind/json.h"

#include "base/json.h"

/* ---- marked values ---- */

static int null_text(lua_State *L) {
  lua_pushliteral(L, "null");
  return 1;
}

void np_bind_push_null(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, NP_JSON_NULL_KEY);
}

bool np_bind_json_is_array(lua_State *L, int at) {
  if (lua_type(L, at) != LUA_TTABLE || !lua_getmetatable(L, at)) return false;
  luaL_getmetatable(L, NP_JSON_ARRAY_NAME);
  bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

/* ---- decoding ---- */

typedef struct decoder {
  lua_State *L;
  np_buf *scratch; /* unescaped strings */
  const char *end; /* of the text that holds the value */
  int text;        /* stack index of that text */
  int raw_keys;    /* stack index of the set of members to keep raw, or 0 */
  bool shallow;    /* objects and lists in members stay raw, too */
} decoder;

/* What one call may leave allocated for the next. */
#define SCRATCH_MOST (1 << 20)

np_buf *np_bind_scratch(lua_State *L) {
  np_buf *b = lua_touserdata(L, lua_upvalueindex(1));
  if (b->cap > SCRATCH_MOST) np_buf_free(b);
  np_buf_clear(b);
  return b;
}

static const char *skip_white(const char *p) {
  while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') p++;
  return p;
}

static const char *push_string(decoder *d, const char *p) {
  const char *end = np_json_string_end(p, d->end);
  size_t n = (size_t)(end - p);
  if (!memchr(p, '\\', n)) {
    lua_pushlstring(d->L, p + 1, n - 2);
    return end;
  }
  np_buf_clear(d->scratch);
  np_json_text((np_json){NP_JSON_STRING, {p, n}}, d->scratch);
  np_bind_push_buf(d->L, d->scratch);
  return end;
}

/* An integer when its own digits come back from it, else the raw number. */
static const char *push_number(decoder *d, const char *p) {
  const char *end = p;
  while (strchr("+-.0123456789eE", *end) && *end) end++;
  char digits[32];
  size_t n = (size_t)(end - p);
  if (n <= 20 && !memchr(p, '.', n) && !memchr(p, 'e', n) && !memchr(p, 'E', n)) {
    memcpy(digits, p, n);
    digits[n] = '\0';
    if (strcmp(digits, "-0") != 0 && lua_stringtonumber(d->L, digits)) {
      if (lua_isinteger(d->L, -1)) return end;
      lua_pop(d->L, 1);
    }
  }
  np_bind_push_raw(d->L, np_str_of(p, n), d->text);
  return end;
}

static const char *push_value(decoder *d, const char *p);

static const char *push_array(decoder *d, const char *p) {
  lua_newtable(d->L);
  luaL_setmetatable(d->L, NP_JSON_ARRAY_NAME);
  p = skip_white(p + 1);
  for (lua_Integer i = 1; *p != ']'; i++) {
    p = skip_white(push_value(d, p));
    lua_rawseti(d->L, -2, i);
    if (*p == ',') p = skip_white(p + 1);
  }
  return p + 1;
}

/* Does the value at p, whose key is at the top of the stack, stay raw? */
static bool stays_raw(decoder *d, const char *p) {
  if (!d->raw_keys) return false;
  lua_pushvalue(d->L, -1);
  int type = lua_rawget(d->L, d->raw_keys);
  bool raw = lua_toboolean(d->L, -1);
  lua_pop(d->L, 1);
  return raw || (type == LUA_TNIL && d->shallow && (*p == '{' || *p == '['));
}

static const char *push_object(decoder *d, const char *p) {
  lua_newtable(d->L);
  p = skip_white(p + 1);
  while (*p != '}') {
    p = skip_white(push_string(d, p));
    p = skip_white(p + 1); /* the colon */
    if (stays_raw(d, p)) {
      const char *end = np_json_value_end(p, d->end);
      np_bind_push_raw(d->L, np_str_of(p, (size_t)(end - p)), d->text);
      p = end;
    } else {
      p = push_value(d, p);
    }
    lua_rawset(d->L, -3);
    p = skip_white(p);
    if (*p == ',') p = skip_white(p + 1);
  }
  return p + 1;
}

/* Pushes the value at p, which was checked: no end has to be looked for. The depth is at
** most NP_JSON_DEPTH. */
static const char *push_value(decoder *d, const char *p) {
  luaL_checkstack(d->L, 8, "JSON nested too deep");
  switch (*p) {
    case '{': return push_object(d, p);
    case '[': return push_array(d, p);
    case '"': return push_string(d, p);
    case 't': lua_pushboolean(d->L, 1); return p + 4;
    case 'f': lua_pushboolean(d->L, 0); return p + 5;
    case 'n': np_bind_push_null(d->L); return p + 4;
    default: return push_number(d, p);
  }
}

static int fail_at(lua_State *L, const np_err *e, size_t offset) {
  np_bind_fail(L, e);
  lua_pushinteger(L, (lua_Integer)(offset + e->pos + 1));
  return 4;
}

static int check_raw_keys(lua_State *L, int arg) {
  if (lua_isnoneornil(L, arg)) return 0;
  luaL_checktype(L, arg, LUA_TTABLE);
  return arg;
}

/* Pushes the value `v`, which is a slice of the string at `text`. The scanners above stop at
** what ends a value: a Lua string has a NUL behind it, and a value in it is followed by more. */
static void push_checked(lua_State *L, np_str v, int text, int raw_keys) {
  size_t n;
  const char *whole = lua_tolstring(L, text, &n);
  decoder d = {L, np_bind_scratch(L), whole + n, text, raw_keys, false};
  if (raw_keys) {
    lua_pushliteral(L, "*");
    lua_rawget(L, raw_keys);
    d.shallow = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  push_value(&d, v.p);
}

/* The JSON at argument 1: a raw value, or a string that is checked now. Argument 1 becomes
** the string that holds it. False with what the function returns on the stack. */
static bool check_value(lua_State *L, np_json *v) {
  np_err e;
  const np_str *slice = np_bind_to_raw(L, 1);
  if (slice) {
    *v = np_json_of(*slice);
    np_bind_push_raw_text(L, 1);
    lua_replace(L, 1);
    return true;
  }
  neap_rc rc = np_json_check(np_bind_check_str(L, 1), v, &e);
  if (rc) fail_at(L, &e, 0);
  return !rc;
}

/* decode(json [, raw_keys]): the members named in raw_keys stay raw; with raw_keys["*"] all
** objects and lists do, but those that it says false of */
static int json_decode(lua_State *L) {
  np_json v;
  lua_settop(L, 2);
  int raw_keys = check_raw_keys(L, 2);
  if (!check_value(L, &v)) return 4;
  push_checked(L, v.raw, 1, raw_keys);
  return 1;
}

/* decode_at(text, pos [, raw_keys [, stop]]): also the position after the value, which must
** end before `stop`, the value's own position, and the value as a raw one */
static int json_decode_at(lua_State *L) {
  np_json v;
  np_err e;
  size_t used;
  np_str text = np_bind_check_str(L, 1);
  lua_Integer pos = luaL_checkinteger(L, 2);
  luaL_argcheck(L, pos >= 1 && (size_t)pos <= text.n + 1, 2, "outside of the text");
  int raw_keys = check_raw_keys(L, 3);
  size_t from = (size_t)pos - 1;
  lua_Integer stop = luaL_optinteger(L, 4, (lua_Integer)text.n + 1);
  luaL_argcheck(L, stop >= pos && (size_t)stop <= text.n + 1, 4, "outside of the text");
  np_str rest = np_str_cut(text, from, (size_t)stop - 1);
  if (np_json_check_prefix(rest, &v, &used, &e)) return fail_at(L, &e, from);
  push_checked(L, v.raw, 1, raw_keys);
  lua_pushinteger(L, pos + (lua_Integer)used);
  lua_pushinteger(L, (lua_Integer)(v.raw.p - text.p) + 1);
  np_bind_push_raw(L, v.raw, 1);
  return 4;
}

/* items(json): the items of a list, raw: strings when it was given as one */
static int json_items(lua_State *L) {
  np_json v, item;
  bool slices = np_bind_to_raw(L, 1) != NULL;
  lua_settop(L, 1);
  if (!check_value(L, &v)) return 4;
  if (v.type != NP_JSON_ARRAY)
    return np_bind_fail_text(L, NEAP_E_SHAPE, "a list is expected");
  np_json_iter it = np_json_each(v);
  lua_newtable(L);
  for (lua_Integer i = 1; np_json_next(&it, NULL, &item); i++) {
    if (slices) np_bind_push_raw(L, item.raw, 1);
    else lua_pushlstring(L, item.raw.p, item.raw.n);
    lua_rawseti(L, 2, i);
  }
  return 1;
}

static int json_quote(lua_State *L) {
  np_str s = np_bind_check_str(L, 1);
  np_buf *b = np_bind_scratch(L);
  np_json_quote(b, s);
  np_bind_push_buf(L, b);
  return 1;
}

/* raw(text): a value that encode() writes as it is; the text must be JSON. A raw value is
** one already. */
static int json_raw(lua_State *L) {
  np_json v;
  np_err e;
  lua_settop(L, 1);
  if (np_bind_to_raw(L, 1)) return 1;
  if (np_json_check(np_bind_check_str(L, 1), &v, &e)) return luaL_argerror(L, 1, e.text);
  np_bind_push_raw(L, v.raw, 1);
  return 1;
}

static int json_array(lua_State *L) {
  if (lua_isnoneornil(L, 1)) {
    lua_settop(L, 0);
    lua_newtable(L);
  }
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  luaL_setmetatable(L, NP_JSON_ARRAY_NAME);
  return 1;
}

static int json_is_array(lua_State *L) {
  lua_pushboolean(L, np_bind_json_is_array(L, 1));
  return 1;
}

static const luaL_Reg functions[] = {
    {"decode", json_decode},         {"decode_at", json_decode_at},
    {"encode", np_bind_json_encode}, {"items", json_items},
    {"quote", json_quote},           {"raw", json_raw},
    {"is_raw", np_bind_json_is_raw}, {"kind", np_bind_json_kind},
    {"offset", np_bind_json_offset}, {"array", json_array},
    {"is_array", json_is_array},     {NULL, NULL},
};

static void make_metatables(lua_State *L) {
  luaL_newmetatable(L, NP_JSON_ARRAY_NAME);
  lua_pop(L, 1);
  np_bind_make_raw(L);
  if (lua_getfield(L, LUA_REGISTRYINDEX, NP_JSON_NULL_KEY) == LUA_TNIL) {
    lua_newuserdatauv(L, 1, 0);
    luaL_newmetatable(L, "neap.null");
    lua_pushcfunction(L, null_text);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
    lua_setfield(L, LUA_REGISTRYINDEX, NP_JSON_NULL_KEY);
  }
  lua_pop(L, 1);
}

static void push_weak_keys(lua_State *L) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
}

/* The functions share two upvalues: a buffer, and the orders that encode() has seen. */
void np_bind_json(lua_State *L) {
  make_metatables(L);
  luaL_newlibtable(L, functions);
  np_bind_buf(L);
  push_weak_keys(L);
  luaL_setfuncs(L, functions, 2);
  np_bind_push_null(L);
  lua_setfield(L, -2, "null");
  lua_setfield(L, -2, "json");
}
