/*
** What decoding, encoding and raw values share. next: raw.c, json.c
*/
#ifndef NP_BIND_JSON_H
#define NP_BIND_JSON_H

#include "bind/bind.h"

#define NP_JSON_ARRAY_NAME "neap.json_array"
#define NP_JSON_RAW "neap.json_raw"
#define NP_JSON_NULL_KEY "neap.json_null"

/* An empty buffer that the functions of core.json share: for one call, and none inside it. */
np_buf *np_bind_scratch(lua_State *L);
void np_bind_push_null(lua_State *L);
/* Is the value at `at` a table that is marked as an array? */
bool np_bind_json_is_array(lua_State *L, int at);
/* encode(value [, order]) */
int np_bind_json_encode(lua_State *L);

/* The raw value at `at`, or NULL. */
np_str *np_bind_to_raw(lua_State *L, int at);
/* Pushes a raw value: a slice of the Lua string at the stack's index `text`, checked. */
void np_bind_push_raw(lua_State *L, np_str raw, int text);
/* Pushes the string that the raw value at `at` is a slice of. */
void np_bind_push_raw_text(lua_State *L, int at);
void np_bind_make_raw(lua_State *L);
int np_bind_json_is_raw(lua_State *L);
int np_bind_json_kind(lua_State *L);
int np_bind_json_offset(lua_State *L);

#endif
