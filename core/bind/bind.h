/*
** The Lua module neap.core: what trusted Lua sees of the core. A function here checks its
** arguments, calls the core and pushes; misuse raises, what the world does comes back as
** nil, message, code. Memory that must outlive a raising call is kept in a userdata.
** next: core.c (registration), json.c, token.c, system.c, session.c
*/
#ifndef NP_BIND_BIND_H
#define NP_BIND_BIND_H

#include <lauxlib.h>
#include <lua.h>

#include "base/buf.h"
#include "base/err.h"

/* Registry fields: the folders of the program and of the module, set by who knows them. */
#define NP_BIND_EXE_DIR "neap.exe_dir"
#define NP_BIND_MODULE_DIR "neap.module_dir"

NEAP_API int luaopen_neap_core(lua_State *L);

/* Each adds its functions to the module's table at the top of the stack. */
void np_bind_json(lua_State *L);
void np_bind_token(lua_State *L);
void np_bind_model(lua_State *L);
void np_bind_system(lua_State *L);
void np_bind_resample(lua_State *L);
void np_bind_grounds(lua_State *L);
void np_bind_session(lua_State *L);
void np_bind_policy(lua_State *L);
void np_bind_project(lua_State *L);
void np_bind_objects(lua_State *L);

/* Pushes a userdata that owns an empty buffer; it is freed with the userdata. */
np_buf *np_bind_buf(lua_State *L);
/* Pushes the buffer's bytes; raises when an allocation failed. */
void np_bind_push_buf(lua_State *L, const np_buf *b);

static inline np_str np_bind_check_str(lua_State *L, int arg) {
  size_t n;
  const char *p = luaL_checklstring(L, arg, &n);
  return np_str_of(p, n);
}

/* A name or a path: C would read it up to its first zero byte, which may be another one's. */
static inline const char *np_bind_check_cstr(lua_State *L, int arg) {
  size_t n;
  const char *p = luaL_checklstring(L, arg, &n);
  luaL_argcheck(L, strlen(p) == n, arg, "it must not hold a zero byte");
  return p;
}
/* NULL when there is none. */
static inline const char *np_bind_opt_cstr(lua_State *L, int arg) {
  return lua_isnoneornil(L, arg) ? NULL : np_bind_check_cstr(L, arg);
}

/* Pushes nil, message, code and returns 3. */
int np_bind_fail(lua_State *L, const np_err *e);
int np_bind_fail_text(lua_State *L, neap_rc code, const char *text);

/* Finds the folder of the vocabularies and pushes it: NEAP_DATA, beside the program or the
** module, the prefix. */
void np_bind_push_data_dir(lua_State *L);

#endif
