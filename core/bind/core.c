/*
** Registration of neap.core and the helpers that its files share. next: json.c
*/
#include "bind/bind.h"

#include "base/str.h"

static int buf_gc(lua_State *L) {
  np_buf_free(lua_touserdata(L, 1));
  return 0;
}

np_buf *np_bind_buf(lua_State *L) {
  np_buf *b = lua_newuserdatauv(L, sizeof *b, 0);
  np_buf_init(b, &np_alloc_libc);
  if (luaL_newmetatable(L, "neap.buffer")) {
    lua_pushcfunction(L, buf_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return b;
}

void np_bind_push_buf(lua_State *L, const np_buf *b) {
  if (b->failed) luaL_error(L, "out of memory");
  lua_pushlstring(L, b->n ? b->p : "", b->n);
}

int np_bind_fail_text(lua_State *L, neap_rc code, const char *text) {
  lua_pushnil(L);
  lua_pushstring(L, text);
  lua_pushstring(L, neap_rc_name(code));
  return 3;
}

int np_bind_fail(lua_State *L, const np_err *e) {
  return np_bind_fail_text(L, e->code, e->text[0] ? e->text : neap_rc_text(e->code));
}

static void push_codes(lua_State *L) {
  lua_createtable(L, NEAP_RC_COUNT, 0);
  for (int i = 0; i < NEAP_RC_COUNT; i++) {
    lua_createtable(L, 0, 2);
    lua_pushstring(L, neap_rc_name((neap_rc)i));
    lua_setfield(L, -2, "name");
    lua_pushstring(L, neap_rc_text((neap_rc)i));
    lua_setfield(L, -2, "text");
    lua_rawseti(L, -2, i + 1);
  }
}

/* `require` passes the module's name and the file it was found in; from the latter the
** vocabularies beside the module are found. */
static void note_module(lua_State *L) {
  const char *path = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
  const char *slash = path ? strrchr(path, '/') : NULL;
  if (!slash) return;
  lua_pushlstring(L, path, (size_t)(slash - path));
  lua_setfield(L, LUA_REGISTRYINDEX, NP_BIND_MODULE_DIR);
}

int luaopen_neap_core(lua_State *L) {
  luaL_checkversion(L);
  note_module(L);
  lua_createtable(L, 0, 24);
  lua_pushstring(L, neap_version());
  lua_setfield(L, -2, "version");
  push_codes(L);
  lua_setfield(L, -2, "codes");
  np_bind_json(L);
  np_bind_token(L);
  np_bind_model(L);
  np_bind_system(L);
  np_bind_resample(L);
  np_bind_grounds(L);
  np_bind_session(L);
  np_bind_policy(L);
  np_bind_project(L);
  np_bind_objects(L);
  return 1;
}
