/*
** The program: starts the trusted Lua state, finds lua/neap, and hands its arguments to
** require("neap.cli").main. Everything else is Lua. next: ../../lua/neap/cli/init.lua
*/
#define _XOPEN_SOURCE 700 /* readlink */

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bind/bind.h"
#include "cli/blocks.h"

#ifndef NEAP_LUA_DIR
#define NEAP_LUA_DIR "/usr/local/share/lua/5.4"
#endif

/* The folder of the running program: what the system says, else what it was called by. */
static void push_exe_dir(lua_State *L, const char *called) {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  const char *p = n > 0 ? path : called;
  size_t len = n > 0 ? (size_t)n : strlen(called);
  while (len && p[len - 1] != '/') len--;
  if (len > 1) len--;
  lua_pushlstring(L, len ? p : ".", len ? len : 1);
}

static bool holds_neap(lua_State *L, const char *dir) {
  struct stat st;
  const char *file = lua_pushfstring(L, "%s/neap/cli/init.lua", dir);
  bool found = stat(file, &st) == 0;
  lua_pop(L, 1);
  return found;
}

/* Pushes the folder that holds neap/: NEAP_LUA, beside the program, the prefix. */
static bool push_lua_dir(lua_State *L, const char *exe_dir) {
  static const char *const below[] = {"/share/lua/5.4", "/../share/lua/5.4", "/../lua"};
  const char *named = getenv("NEAP_LUA");
  if (named && *named) {
    lua_pushstring(L, named);
    return holds_neap(L, named);
  }
  for (size_t i = 0; i < NP_COUNT(below); i++) {
    if (holds_neap(L, lua_pushfstring(L, "%s%s", exe_dir, below[i]))) return true;
    lua_pop(L, 1);
  }
  lua_pushliteral(L, NEAP_LUA_DIR);
  return holds_neap(L, NEAP_LUA_DIR);
}

/* Our modules come first, whatever LUA_PATH says; the rest stays for lpeg. */
static void set_path(lua_State *L, const char *dir) {
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "path");
  lua_pushfstring(L, "%s/?.lua;%s/?/init.lua;%s", dir, dir, lua_tostring(L, -1));
  lua_setfield(L, -3, "path");
  lua_pop(L, 2);
}

static void set_arg(lua_State *L, int argc, char **argv) {
  lua_createtable(L, argc, 1);
  for (int i = 0; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i);
  }
}

/* A Lua error here is a fault of ours: say where it was. */
static int with_traceback(lua_State *L) {
  const char *text = luaL_tolstring(L, 1, NULL);
  luaL_traceback(L, L, text, 1);
  return 1;
}

/* Runs in protected mode; arguments: argc and argv. Returns the exit code. */
static int run(lua_State *L) {
  int argc = (int)lua_tointeger(L, 1);
  char **argv = lua_touserdata(L, 2);
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_neap_core);
  lua_setfield(L, -2, "neap.core");
  push_exe_dir(L, argv[0]);
  const char *exe_dir = lua_tostring(L, -1);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, NP_BIND_EXE_DIR);
  if (!push_lua_dir(L, exe_dir)) {
    fprintf(stderr, "neap: %s: holds no neap/cli; set NEAP_LUA to the folder that does\n",
            lua_tostring(L, -1));
    lua_pushinteger(L, 2);
    return 1;
  }
  set_path(L, lua_tostring(L, -1));
  lua_getglobal(L, "require");
  lua_pushliteral(L, "neap.cli");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "main");
  set_arg(L, argc, argv);
  lua_call(L, 1, 1);
  return 1;
}

/* Lua calls it for an error that nothing catches, which no call here can raise. */
static int panic(lua_State *L) {
  fprintf(stderr, "neap: internal error: %s\n", lua_tostring(L, -1));
  return 0;
}

int main(int argc, char **argv) {
  int code = 2;
  blocks small = {0};
  lua_State *L = lua_newstate(blocks_alloc, &small);
  if (L) lua_atpanic(L, panic);
  if (!L || argc < 1) {
    fputs("neap: out of memory; close other programs\n", stderr);
    return 2;
  }
  lua_gc(L, LUA_GCGEN, 0, 0); /* texts of recordings die young: a third less memory */
  lua_pushcfunction(L, with_traceback);
  lua_pushcfunction(L, run);
  lua_pushinteger(L, argc);
  lua_pushlightuserdata(L, argv);
  if (lua_pcall(L, 2, 1, 1) != LUA_OK) {
    fprintf(stderr, "neap: internal error: %s\n", lua_tostring(L, -1));
  } else {
    code = (int)lua_tointeger(L, -1);
  }
  lua_close(L);
  blocks_free(&small);
  return code;
}
