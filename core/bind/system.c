/*
** What trusted Lua needs of the system and of the core's small parts: files by name, folders,
** hashes, UTF-8, identifiers. Nothing here is seen by a policy. next: session.c
*/
#define _XOPEN_SOURCE 700 /* realpath, and all of POSIX 2008 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "bind/bind.h"
#include "cite/cite.h"
#include "text/text.h"

#ifndef NEAP_DATA_DIR
#define NEAP_DATA_DIR "/usr/local/share/neap"
#endif

static int fail_errno(lua_State *L, int number) {
  return np_bind_fail_text(L, number == ENOENT ? NEAP_E_NOTFOUND : NEAP_E_IO,
                           strerror(number));
}

/* ---- files ---- */

static int system_stat(lua_State *L) {
  struct stat st;
  if (stat(luaL_checkstring(L, 1), &st) != 0) return fail_errno(L, errno);
  lua_createtable(L, 0, 4);
  lua_pushstring(L, S_ISREG(st.st_mode)   ? "file"
                    : S_ISDIR(st.st_mode) ? "directory"
                                          : "other");
  lua_setfield(L, -2, "type");
  lua_pushinteger(L, (lua_Integer)st.st_size);
  lua_setfield(L, -2, "size");
  lua_pushinteger(L, (lua_Integer)st.st_mtime);
  lua_setfield(L, -2, "mtime");
  lua_pushinteger(L, (lua_Integer)st.st_mtim.tv_nsec);
  lua_setfield(L, -2, "mtime_ns"); /* within the second */
  return 1;
}

static int dir_gc(lua_State *L) {
  DIR **d = lua_touserdata(L, 1);
  if (*d) closedir(*d);
  *d = NULL;
  return 0;
}

/* Pushes a userdata that owns an open folder. */
static DIR **new_dir(lua_State *L) {
  DIR **d = lua_newuserdatauv(L, sizeof *d, 0);
  *d = NULL;
  if (luaL_newmetatable(L, "neap.dir")) {
    lua_pushcfunction(L, dir_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return d;
}

/* list(path): the names in a folder, sorted by their bytes */
static int system_list(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  struct dirent *item;
  DIR **d = new_dir(L);
  *d = opendir(path);
  if (!*d) return fail_errno(L, errno);
  lua_getglobal(L, "table");
  lua_getfield(L, -1, "sort");
  lua_newtable(L);
  /* Each call has a folder of its own: */
  /* cppcheck-suppress readdirCalled */
  for (lua_Integer i = 1; (item = readdir(*d)) != NULL;) {
    if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0) continue;
    lua_pushstring(L, item->d_name);
    lua_rawseti(L, -2, i++);
  }
  closedir(*d);
  *d = NULL;
  lua_pushvalue(L, -1);
  lua_insert(L, -3); /* the list stays below the call */
  lua_call(L, 1, 0);
  return 1;
}

static bool is_folder(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* mkdir(path): with its parents; true also when it was there */
static int system_mkdir(lua_State *L) {
  size_t n;
  const char *path = luaL_checklstring(L, 1, &n);
  char *copy = lua_newuserdatauv(L, n + 1, 0);
  memcpy(copy, path, n + 1);
  for (size_t i = 1; i <= n; i++) {
    if (copy[i] != '/' && copy[i] != '\0') continue;
    copy[i] = '\0';
    if (mkdir(copy, 0777) != 0) {
      int number = errno;
      if (!is_folder(copy)) return fail_errno(L, number);
    }
    copy[i] = path[i];
  }
  lua_pushboolean(L, 1);
  return 1;
}

/* fresh(path, private): makes an empty file beside it, of a name that nobody else has, and
** returns that name: what is written there can take the path's place by a rename. A private one
** is its owner's alone. */
static int system_fresh(lua_State *L) {
  enum { TRIES = 100 }; /* a killed process may have left some behind */
  const char *path = luaL_checkstring(L, 1);
  mode_t mode = lua_toboolean(L, 2) ? 0600 : 0666;
  int fd = -1, number = EEXIST;
  for (int i = 0; fd < 0 && number == EEXIST && i < TRIES; i++) {
    lua_settop(L, 1);
    lua_pushfstring(L, "%s.%I.%d.new", path, (LUAI_UACINT)getpid(), i);
    fd = open(lua_tostring(L, 2), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) number = errno;
  }
  if (fd < 0) return fail_errno(L, number);
  close(fd);
  return 1;
}

static int system_realpath(lua_State *L) {
  char *real = realpath(luaL_checkstring(L, 1), NULL);
  if (!real) return fail_errno(L, errno);
  np_buf *own = np_bind_buf(L);
  own->p = real; /* freed with the buffer, also when pushing raises */
  own->n = strlen(real);
  own->cap = own->n + 1;
  np_bind_push_buf(L, own);
  return 1;
}

static int system_isatty(lua_State *L) {
  lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
  return 1;
}

/* terminal(fd): its lines and columns, or nil when it is none or does not say */
static int system_terminal(lua_State *L) {
  struct winsize size;
  if (ioctl((int)luaL_checkinteger(L, 1), TIOCGWINSZ, &size) != 0) return 0;
  if (size.ws_row == 0 || size.ws_col == 0) return 0;
  lua_pushinteger(L, size.ws_row);
  lua_pushinteger(L, size.ws_col);
  return 2;
}

/* ---- time, for those who wait; no output depends on it ---- */

/* sleep_ms(n): waits, at most an hour; a signal may end it early */
static int system_sleep_ms(lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  luaL_argcheck(L, n >= 0 && n <= 3600000, 1, "0 to 3,600,000 are expected");
  struct timespec t = {.tv_sec = (time_t)(n / 1000),
                       .tv_nsec = (long)(n % 1000) * 1000000};
  nanosleep(&t, NULL);
  return 0;
}

/* ticks_ms(): milliseconds of a clock that only goes forward */
static int system_ticks_ms(lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  lua_pushinteger(L, (lua_Integer)t.tv_sec * 1000 + t.tv_nsec / 1000000);
  return 1;
}

/* ---- where things are ---- */

static const char *registry_text(lua_State *L, const char *key) {
  lua_getfield(L, LUA_REGISTRYINDEX, key);
  const char *text = lua_tostring(L, -1); /* the registry keeps it alive */
  lua_pop(L, 1);
  return text;
}

static int system_exe_dir(lua_State *L) {
  const char *dir = registry_text(L, NP_BIND_EXE_DIR);
  lua_pushstring(L, dir ? dir : "");
  return 1;
}

void np_bind_push_data_dir(lua_State *L) {
  static const struct {
    const char *base, *below;
  } places[] = {
      {NP_BIND_EXE_DIR, "/share/neap/vocabularies"},
      {NP_BIND_EXE_DIR, "/../share/neap/vocabularies"},
      {NP_BIND_MODULE_DIR, "/../../share/neap/vocabularies"},
      {NP_BIND_MODULE_DIR, "/../../../../share/neap/vocabularies"},
  };
  const char *named = getenv("NEAP_DATA");
  if (named && *named) {
    lua_pushstring(L, named);
    return;
  }
  for (size_t i = 0; i < NP_COUNT(places); i++) {
    const char *base = registry_text(L, places[i].base);
    if (!base) continue;
    if (is_folder(lua_pushfstring(L, "%s%s", base, places[i].below))) return;
    lua_pop(L, 1);
  }
  lua_pushliteral(L, NEAP_DATA_DIR "/vocabularies");
}

static int system_data_dir(lua_State *L) {
  np_bind_push_data_dir(L);
  return 1;
}

/* ---- the core's small parts ---- */

static int system_sha256(lua_State *L) {
  uint8_t hash[NP_SHA256];
  char hex[2 * NP_SHA256];
  np_sha256(np_bind_check_str(L, 1), hash);
  np_hex(hash, sizeof hash, hex);
  lua_pushlstring(L, hex, sizeof hex);
  return 1;
}

/* utf8_valid(s): true, or false and the 1-based place of the first malformed byte */
static int system_utf8_valid(lua_State *L) {
  np_str s = np_bind_check_str(L, 1);
  size_t at = np_utf8_valid(s);
  lua_pushboolean(L, at == s.n);
  if (at == s.n) return 1;
  lua_pushinteger(L, (lua_Integer)at + 1);
  return 2;
}

/* cite_scan(text): its identifiers in order of place, words left out */
static int system_cite_scan(lua_State *L) {
  np_ident_iter it = np_ident_scan(np_bind_check_str(L, 1));
  np_ident ident;
  lua_newtable(L);
  for (lua_Integer i = 1; np_ident_next(&it, &ident);) {
    if (ident.kind == NP_IDENT_WORD) continue;
    lua_pushlstring(L, ident.text.p, ident.text.n);
    lua_rawseti(L, -2, i++);
  }
  return 1;
}

static const luaL_Reg functions[] = {
    {"stat", system_stat},
    {"list", system_list},
    {"mkdir", system_mkdir},
    {"realpath", system_realpath},
    {"isatty", system_isatty},
    {"terminal", system_terminal},
    {"sleep_ms", system_sleep_ms},
    {"ticks_ms", system_ticks_ms},
    {"exe_dir", system_exe_dir},
    {"data_dir", system_data_dir},
    {"sha256", system_sha256},
    {"utf8_valid", system_utf8_valid},
    {"cite_scan", system_cite_scan},
    {"fresh", system_fresh},
    {NULL, NULL},
};

void np_bind_system(lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
