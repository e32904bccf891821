/*
** A policy's options: a plain default or {default, help, min, max}, and what the host sets
** instead. Every value is checked here once; hooks get a fresh table of them. next: shape.c
*/
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "policy/host.h"

#define OPTIONS 100

static const char *const kind_names[] = {"true or false", "a whole number", "a number",
                                         "a string"};

static np_str lua_str(lua_State *L, int index) {
  np_str s;
  s.p = lua_tolstring(L, index, &s.n);
  return s;
}

static bool is_name(np_str s) {
  if (s.n == 0 || s.n > 40 || s.p[0] < 'a' || s.p[0] > 'z') return false;
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_') return false;
  }
  return true;
}

/* The value at the top as the option's default; decides its kind. */
static void read_default(lua_State *L, np_option *o) {
  int t = lua_type(L, -1);
  if (t == LUA_TBOOLEAN) {
    o->kind = NP_OPTION_BOOL;
    o->fallback.i = lua_toboolean(L, -1);
  } else if (t == LUA_TNUMBER && lua_isinteger(L, -1)) {
    o->kind = NP_OPTION_INTEGER;
    o->fallback.i = lua_tointeger(L, -1);
    o->fallback.d = (double)o->fallback.i;
  } else if (t == LUA_TNUMBER) {
    o->kind = NP_OPTION_NUMBER;
    o->fallback.d = lua_tonumber(L, -1);
    if (o->fallback.d - o->fallback.d != 0) {
      luaL_error(L, "option '%s': its default is not finite; give a number", o->name.p);
    }
  } else if (t == LUA_TSTRING) {
    o->kind = NP_OPTION_STRING;
    o->fallback.s = np_keep_text(L, -1);
  } else {
    luaL_error(L, "option '%s': its default is %s; give a boolean, a number or a string",
               o->name.p, t == LUA_TNIL ? "missing" : luaL_typename(L, -1));
  }
}

/* A bound at the top: a number, of a number. */
static void read_bound(lua_State *L, np_option *o, const char *field) {
  bool number = o->kind == NP_OPTION_INTEGER || o->kind == NP_OPTION_NUMBER;
  if (!number || lua_type(L, -1) != LUA_TNUMBER) {
    luaL_error(L, "option '%s': %s must be a number, of an option that is one", o->name.p,
               field);
  }
  bool min = field[1] == 'i';
  if (min) o->min = lua_tonumber(L, -1);
  else o->max = lua_tonumber(L, -1);
  *(min ? &o->has_min : &o->has_max) = true;
}

/* The table {default, help, min, max} at `index`. */
static void read_table(lua_State *L, int index, np_option *o) {
  static const char *const fields[] = {"default", "help", "max", "min", NULL};
  char what[80];
  snprintf(what, sizeof what, "option '%s': field", o->name.p);
  lua_pushliteral(L, "default");
  lua_rawget(L, index);
  read_default(L, o);
  lua_pop(L, 1);
  int step = np_pairs_push(L, index);
  while (np_pairs_next(L, step, index)) {
    if (lua_type(L, step + 1) != LUA_TSTRING) {
      luaL_error(L, "option '%s': fields have names: default, help, min, max", o->name.p);
    }
    const char *field = lua_tostring(L, step + 1);
    if (strcmp(field, "help") == 0) {
      if (lua_type(L, -1) != LUA_TSTRING)
        luaL_error(L, "option '%s': help must be a string", o->name.p);
      o->help = np_keep_text(L, -1);
    } else if (strcmp(field, "min") == 0 || strcmp(field, "max") == 0) {
      read_bound(L, o, field);
    } else if (strcmp(field, "default") != 0) {
      np_unknown(L, what, lua_str(L, step + 1), fields);
    }
  }
}

/* Raises when the value is out of range. Integers beyond 2^53 compare as doubles. */
static void check_range(lua_State *L, const np_option *o, double d, const char *whose) {
  char bound[40];
  bool low = o->has_min && d < o->min, high = o->has_max && d > o->max;
  if (!low && !high) return;
  snprintf(bound, sizeof bound, "%.14g", low ? o->min : o->max);
  luaL_error(L, "option '%s': %s is %s %s; choose another value", o->name.p, whose,
             low ? "below the least value" : "above the greatest value", bound);
}

static np_option *add_option(lua_State *L, np_str name) {
  np_policy *p = np_host(L);
  void *list = p->options;
  if (p->option_count >= OPTIONS) luaL_error(L, "options: more than 100; make fewer");
  bool ok =
      np_grow(&p->alloc, &list, &p->option_cap, p->option_count + 1, sizeof(np_option));
  p->options = list;
  if (!ok) {
    np_err e;
    np_fail_mem(&e);
    np_break(L, &e);
  }
  np_option *o = &p->options[p->option_count++];
  *o = (np_option){.name = name, .help = NP_LIT("")};
  return o;
}

static void read_option(lua_State *L, int key, int value) {
  if (lua_type(L, key) != LUA_TSTRING || !is_name(lua_str(L, key))) {
    luaL_error(L, "options: a name is small letters, digits and _; name each option");
  }
  np_option *o = add_option(L, np_keep_text(L, key));
  if (lua_type(L, value) == LUA_TTABLE) {
    read_table(L, value, o);
  } else {
    lua_pushvalue(L, value);
    read_default(L, o);
    lua_pop(L, 1);
  }
  if (o->has_min && o->has_max && !(o->min <= o->max)) {
    luaL_error(L, "option '%s': min is above max; swap them", o->name.p);
  }
  check_range(L, o, o->fallback.d, "its default");
  o->value = o->fallback;
}

/* ---- what the host sets ---- */

static np_option *find_option(lua_State *L, np_str name) {
  np_policy *p = np_host(L);
  const char *names[OPTIONS + 1];
  for (size_t i = 0; i < p->option_count; i++) {
    if (np_str_eq(p->options[i].name, name)) return &p->options[i];
    names[i] = p->options[i].name.p;
  }
  names[p->option_count] = NULL;
  np_unknown(L, "option", name, names);
  return NULL;
}

static int wrong_kind(lua_State *L, const np_option *o, np_json v) {
  lua_pushlstring(L, v.raw.p, v.raw.n < 40 ? v.raw.n : 40);
  return luaL_error(L, "option '%s' must be %s, not %s", o->name.p, kind_names[o->kind],
                    lua_tostring(L, -1));
}

/* The JSON number as the option's kind; a whole number may be written 10.0. */
static void set_number(lua_State *L, np_option *o, np_json v) {
  lua_pushlstring(L, v.raw.p, v.raw.n < 400 ? v.raw.n : 400);
  if (v.raw.n >= 400 || !lua_stringtonumber(L, lua_tostring(L, -1))) wrong_kind(L, o, v);
  int whole;
  o->value.d = lua_tonumber(L, -1);
  o->value.i = lua_tointegerx(L, -1, &whole);
  if (o->kind == NP_OPTION_INTEGER && !whole) wrong_kind(L, o, v);
  if (o->value.d - o->value.d != 0) wrong_kind(L, o, v);
  lua_pop(L, 2);
  check_range(L, o, o->value.d, "the value");
}

static void set_string(lua_State *L, np_option *o, np_json v) {
  luaL_Buffer b;
  np_buf text = {.p = luaL_buffinitsize(L, &b, v.raw.n),
                 .cap = v.raw.n,
                 .alloc = &np_host(L)->alloc};
  np_json_text(v, &text);
  luaL_pushresultsize(&b, text.n);
  o->value.s = np_keep_text(L, -1);
  lua_pop(L, 1);
}

static void set_option(lua_State *L, np_option *o, np_json v) {
  static const np_json_type types[] = {NP_JSON_BOOL, NP_JSON_NUMBER, NP_JSON_NUMBER,
                                       NP_JSON_STRING};
  if (v.type != types[o->kind]) wrong_kind(L, o, v);
  if (o->kind == NP_OPTION_BOOL) o->value.i = v.raw.p[0] == 't';
  else if (o->kind == NP_OPTION_STRING) set_string(L, o, v);
  else set_number(L, o, v);
}

static void read_overrides(lua_State *L, np_str json) {
  np_json root, v;
  np_str key;
  np_err e;
  if (json.n == 0) return;
  if (np_json_check(json, &root, &e) || root.type != NP_JSON_OBJECT) {
    luaL_error(L,
               "options: the host's options are no JSON object; give {\"name\": value}");
  }
  np_json_iter it = np_json_each(root);
  while (np_json_next(&it, &key, &v)) {
    luaL_Buffer b;
    np_buf text = {
        .p = luaL_buffinitsize(L, &b, key.n), .cap = key.n, .alloc = &np_host(L)->alloc};
    np_json_text((np_json){NP_JSON_STRING, key}, &text);
    luaL_pushresultsize(&b, text.n);
    set_option(L, find_option(L, lua_str(L, -1)), v);
    lua_pop(L, 1);
  }
}

void np_options_read(lua_State *L, int index, np_str overrides) {
  index = lua_absindex(L, index);
  if (lua_type(L, index) == LUA_TTABLE) {
    int step = np_pairs_push(L, index);
    while (np_pairs_next(L, step, index)) read_option(L, step + 1, step + 2);
  } else if (!lua_isnil(L, index)) {
    luaL_error(L, "options must be a table, not a %s", luaL_typename(L, index));
  }
  read_overrides(L, overrides);
}

/* ---- what a hook gets ---- */

static int unknown_read(lua_State *L) {
  if (lua_type(L, 2) != LUA_TSTRING) return 0;
  find_option(L, lua_str(L, 2)); /* raises */
  return 0;
}

static void push_value(lua_State *L, const np_option *o, const np_option_value *v) {
  switch (o->kind) {
    case NP_OPTION_BOOL: lua_pushboolean(L, (int)v->i); break;
    case NP_OPTION_INTEGER: lua_pushinteger(L, v->i); break;
    case NP_OPTION_NUMBER: lua_pushnumber(L, v->d); break;
    case NP_OPTION_STRING: lua_pushlstring(L, v->s.p, v->s.n); break;
  }
}

void np_options_open(lua_State *L) {
  luaL_newmetatable(L, NP_OPTIONS_TYPE);
  lua_pushcfunction(L, unknown_read);
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 1);
}

void np_options_push(lua_State *L) {
  np_policy *p = np_host(L);
  lua_createtable(L, 0, (int)p->option_count);
  for (size_t i = 0; i < p->option_count; i++) {
    push_value(L, &p->options[i], &p->options[i].value);
    lua_setfield(L, -2, p->options[i].name.p);
  }
  luaL_setmetatable(L, NP_OPTIONS_TYPE);
}

/* ---- as JSON ---- */

/* The shortest digits that give the number back; a point whatever the locale. */
static void write_number(np_buf *out, double d) {
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, d);
    if (strtod(text, NULL) == d) break;
  }
  for (char *p = text; *p; p++) {
    if (!strchr("0123456789+-eE", *p)) *p = '.';
  }
  np_buf_adds(out, text);
}

static void write_value(np_buf *out, const np_option *o, const np_option_value *v) {
  switch (o->kind) {
    case NP_OPTION_BOOL: np_buf_adds(out, v->i ? "true" : "false"); break;
    case NP_OPTION_INTEGER: np_buf_int(out, v->i); break;
    case NP_OPTION_NUMBER: write_number(out, v->d); break;
    case NP_OPTION_STRING: np_json_quote(out, v->s); break;
  }
}

static void write_option(np_buf *out, const np_option *o) {
  np_json_quote(out, o->name);
  np_buf_adds(out, ":{\"value\":");
  write_value(out, o, &o->value);
  np_buf_adds(out, ",\"default\":");
  write_value(out, o, &o->fallback);
  if (o->has_min) np_buf_adds(out, ",\"min\":"), write_number(out, o->min);
  if (o->has_max) np_buf_adds(out, ",\"max\":"), write_number(out, o->max);
  np_buf_adds(out, ",\"help\":");
  np_json_quote(out, o->help);
  np_buf_addc(out, '}');
}

neap_rc np_policy_options(const np_policy *p, np_buf *out, np_err *e) {
  np_buf_addc(out, '{');
  for (size_t i = 0; i < p->option_count; i++) {
    if (i) np_buf_addc(out, ',');
    write_option(out, &p->options[i]); /* they were read in the order of their names */
  }
  np_buf_addc(out, '}');
  return out->failed ? np_fail_mem(e) : NEAP_OK;
}
