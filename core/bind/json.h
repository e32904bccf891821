/*
** What decoding and encoding share: the names of marked values. next: json.c
*/
#ifndef NP_BIND_JSON_H
#define NP_BIND_JSON_H

#include "bind/bind.h"

#define NP_JSON_ARRAY_NAME "neap.json_array"
#define NP_JSON_RAW "neap.json_raw"
#define NP_JSON_NULL_KEY "neap.json_null"

void np_bind_push_null(lua_State *L);
/* Is the value at `at` a table with that metatable? */
bool np_bind_json_is(lua_State *L, int at, const char *metatable);
/* encode(value [, order]) */
int np_bind_json_encode(lua_State *L);

#endif
