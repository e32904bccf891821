/*
** neap.grammar.NAME(text): trusted Lua parses for a policy. lua/neap/grammar/NAME.lua runs, with
** LPeg, in a state of its own that is made when the first one is called; the policy gets plain
** data, a copy. What LPeg does is no instruction, so the text has a cap and its bytes are paid
** before; what Lua does there is paid after. next: ../../lua/neap/grammar/README.md
*/
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* PATH_MAX, opendir */
#endif

#include <dirent.h>
#include <limits.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/port.h"
#include "policy/host.h"
#include "text/text.h"

#ifndef NEAP_LUA_DIR
#define NEAP_LUA_DIR "/usr/local/share/lua/5.4"
#endif

#define NAME_MAX_BYTES 40
#define GRAMMARS 64 /* that a message lists */
#define PER_BYTE 20 /* instructions: a text full of errors takes 200 ns for a byte */
#define FIRST_CALL 100000 /* what making the state and loading a grammar takes */
#define INSTRUCTIONS INT64_C(20000000)

/* ---- where they are ---- */

/* Writes the texts of the list, which NULL ends, one behind the other. */
static bool join(char *out, size_t cap, const char *const *texts) {
  size_t at = 0;
  for (; *texts; texts++) {
    size_t n = strlen(*texts);
    if (n >= cap - at) return false;
    memcpy(out + at, *texts, n);
    at += n;
  }
  out[at] = '\0';
  return true;
}

/* The folder of the grammars below `dir`, or with a name the grammar's file. */
static bool grammar_path(char *out, size_t cap, const char *dir, const char *name) {
  const char *const folder[] = {dir, "/neap/grammar", NULL};
  const char *const file[] = {dir, "/neap/grammar/", name, ".lua", NULL};
  return join(out, cap, name ? file : folder);
}

/* Whether dir/tail, which goes to `out`, holds neap/grammar. */
static bool holds(char *out, size_t cap, const char *dir, const char *tail) {
  char path[PATH_MAX];
  const char *const both[] = {dir, tail, NULL};
  if (!join(out, cap, both) || !grammar_path(path, sizeof path, out, NULL)) return false;
  DIR *d = opendir(path);
  if (d) closedir(d);
  return d != NULL;
}

/* The folder that holds neap/: NEAP_LUA, beside the program or the library, the prefix. Where
** the engine looks for its vocabularies there is one beside them. */
static bool find_lua_dir(char *out, size_t cap) {
  static const char *const tails[] = {"/share/lua/5.4", "/../share/lua/5.4",
                                      "/../../share/lua/5.4",
                                      "/../../../../share/lua/5.4"};
  char self[PATH_MAX];
  const char *named = getenv("NEAP_LUA");
  if (named && *named) return holds(out, cap, named, "");
  bool known = np_port_self_dir(self, sizeof self);
  for (size_t i = 0; known && i < NP_COUNT(tails); i++) {
    if (holds(out, cap, self, tails[i])) return true;
  }
  return holds(out, cap, NEAP_LUA_DIR, "");
}

static bool is_name(np_str s) {
  if (s.n == 0 || s.n > NAME_MAX_BYTES || !(s.p[0] >= 'a' && s.p[0] <= 'z')) return false;
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_') return false;
  }
  return true;
}

static int by_bytes(const void *a, const void *b) {
  return strcmp(a, b);
}

/* Raises "grammar 'x' is not known; there are: …". Nothing raises while the folder is open. */
static int unknown(lua_State *L, const char *dir, np_str name) {
  char names[GRAMMARS][NAME_MAX_BYTES + 1], path[PATH_MAX];
  const char *list[GRAMMARS + 1] = {NULL};
  size_t n = 0;
  grammar_path(path, sizeof path, dir, NULL);
  DIR *d = opendir(path);
  /* cppcheck-suppress readdirCalled ; the stream is our own */
  for (struct dirent *f; d && n < GRAMMARS && (f = readdir(d)) != NULL;) {
    np_str s = np_str_cstr(f->d_name);
    if (s.n < 5 || memcmp(s.p + s.n - 4, ".lua", 4) != 0) continue;
    s.n -= 4;
    if (!is_name(s)) continue;
    memcpy(names[n], s.p, s.n);
    names[n++][s.n] = '\0';
  }
  if (d) closedir(d);
  qsort(names, n, sizeof names[0], by_bytes);
  for (size_t i = 0; i < n; i++) list[i] = names[i];
  return np_unknown(L, "grammar", name, list);
}

/* ---- inside the trusted state ---- */

typedef struct job {
  const char *dir, *name;
  np_str text; /* the grammar's source, or the subject */
  np_buf *out;
  np_str hint; /* empty: none */
} job;

static int open_body(lua_State *L) {
  const job *j = lua_touserdata(L, 1);
  luaL_openlibs(L);
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "path");
  lua_pushfstring(L, "%s/?.lua;%s/?/init.lua;%s", j->dir, j->dir, lua_tostring(L, -1));
  lua_setfield(L, -3, "path");
  return 0;
}

static bool has_lpeg(lua_State *L) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "lpeg");
  return lua_pcall(L, 1, 1, 0) == LUA_OK;
}

/* LPeg takes Lua's functions from the process, where a host may have hidden them. */
static void check_lpeg(lua_State *L) {
  if (has_lpeg(L)) return;
  const char *why = lua_tostring(L, -1);
  if (why && strstr(why, "undefined symbol")) {
    np_port_show_names((const void *)(uintptr_t)lua_newstate);
    if (has_lpeg(L)) return;
    why = lua_tostring(L, -1);
  }
  if (why && strstr(why, "module 'lpeg' not found"))
    luaL_error(L, "LPeg is not installed for Lua 5.4; install Debian's lua-lpeg, or the "
                  "rock lpeg");
  luaL_error(L, "LPeg cannot be loaded: %s", why ? why : "it says nothing");
}

/* Runs the file once and keeps its parse function under the grammar's name. */
static int load_body(lua_State *L) {
  const job *j = lua_touserdata(L, 1);
  check_lpeg(L);
  lua_pushfstring(L, "@neap/grammar/%s.lua", j->name);
  if (luaL_loadbufferx(L, j->text.p, j->text.n, lua_tostring(L, -1), "t")) lua_error(L);
  lua_pushfstring(L, "neap.grammar.%s", j->name);
  lua_call(L, 1, 1);
  if (lua_type(L, -1) != LUA_TTABLE || lua_getfield(L, -1, "parse") != LUA_TFUNCTION)
    luaL_error(L, "neap/grammar/%s.lua returns no table with a function parse", j->name);
  lua_setfield(L, LUA_REGISTRYINDEX, j->name);
  return 0;
}

static int parse_body(lua_State *L) {
  const job *j = lua_touserdata(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, j->name);
  lua_pushlstring(L, j->text.p, j->text.n);
  if (j->hint.n) lua_pushlstring(L, j->hint.p, j->hint.n);
  lua_call(L, j->hint.n ? 2 : 1, 1);
  np_plain_write(L, -1, "its result", j->out);
  return 0;
}

/* ---- from a policy ---- */

/* Raises what the trusted state has said. Memory that ran out is the host's. */
static int fail(lua_State *L, const np_err *e) {
  if (e->code == NEAP_E_MEMORY) return np_break(L, e);
  return luaL_error(L, "%s", e->text);
}

/* Makes the trusted state when there is none. */
static neap_rc make_trusted(np_policy *p, const char *dir, np_err *e) {
  job j = {.dir = dir, .hint = {"", 0}};
  if (p->trusted) return NEAP_OK;
  np_policy *t = np_policy_new(&p->alloc, NULL);
  if (!t) return np_fail_mem(e);
  t->info.path = NP_LIT("neap.grammar");
  neap_rc rc = np_enter(t, INSTRUCTIONS, -1, open_body, &j, e);
  if (rc) np_policy_free(t);
  else p->trusted = t;
  return rc;
}

static neap_rc load_grammar(np_policy *p, const char *dir, const char *name, np_err *e) {
  char path[PATH_MAX];
  np_source src;
  np_buf text;
  neap_rc rc = make_trusted(p, dir, e);
  if (rc) return rc;
  if (!grammar_path(path, sizeof path, dir, name))
    return np_fail(e, NEAP_E_POLICY, "neap.grammar: the path of its folder is too long");
  rc = np_source_read(p, path, &src, &text, e);
  if (rc) return rc;
  job j = {dir, name, np_buf_str(&text), NULL, {"", 0}};
  rc = np_enter(p->trusted, INSTRUCTIONS, -1, load_body, &j, e);
  np_buf_free(&text);
  return rc;
}

static void load(lua_State *L, const char *name) {
  np_policy *p = np_host(L);
  char dir[PATH_MAX];
  np_err e = {.code = NEAP_OK};
  np_charge_slow(L, FIRST_CALL);
  int64_t since = np_pause();
  neap_rc rc = find_lua_dir(dir, sizeof dir)
                   ? load_grammar(p, dir, name, &e)
                   : np_fail(&e, NEAP_E_POLICY, "neap.grammar: its folder is gone");
  np_resume(p, since);
  if (rc) fail(L, &e);
}

/* Upvalues: the grammar's name, whether it is loaded. */
static void ensure_loaded(lua_State *L, const char *name) {
  if (lua_toboolean(L, lua_upvalueindex(2))) return;
  load(L, name);
  lua_pushboolean(L, 1);
  lua_replace(L, lua_upvalueindex(2));
}

/* The subject, which may have two parts, as UTF-8: a cut in the middle of a character must not
** fail a hook. It and the result lie in buffers of the trusted state, so that nothing is lost when
** this raises. */
static int parse(lua_State *L, const char *name, np_str text, np_str more, np_str hint) {
  np_policy *t = np_host(L)->trusted;
  np_err e = {.code = NEAP_OK};
  np_buf_clear(&t->state);
  np_buf_clear(&t->next_state);
  np_utf8_repair(text, &t->state);
  np_utf8_repair(more, &t->state);
  if (t->state.failed) {
    np_fail_mem(&e);
    return np_break(L, &e);
  }
  job j = {NULL, name, np_buf_str(&t->state), &t->next_state, hint};
  if (np_enter(t, INSTRUCTIONS, -1, parse_body, &j, &e)) return fail(L, &e);
  np_charge_slow(L, (uint64_t)(t->meter.limit - t->meter.left));
  np_plain_read(L, np_buf_str(&t->next_state));
  return 1;
}

#define KIND_HEAD 32000 /* bytes that neap.kinds looks at, and some */
#define KIND_TAIL 12000
#define HINT_MAX 2000

int np_grammar_kind(lua_State *L, np_str text, np_str hint) {
  static const char loaded[] = "neap.grammar.kind";
  np_str tail = {"", 0};
  if (text.n > KIND_HEAD + KIND_TAIL) {
    tail = np_str_cut(text, np_utf8_floor(text, text.n - KIND_TAIL), text.n);
    text = np_str_cut(text, 0, np_utf8_floor(text, KIND_HEAD));
  }
  np_charge_slow(L, 100 + PER_BYTE * (text.n + tail.n));
  if (lua_getfield(L, LUA_REGISTRYINDEX, loaded) != LUA_TBOOLEAN) {
    load(L, "kind");
    lua_pushboolean(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, loaded);
  }
  lua_pop(L, 1);
  hint = np_str_cut(hint, 0, np_utf8_floor(hint, hint.n < HINT_MAX ? hint.n : HINT_MAX));
  return parse(L, "kind", text, tail, hint);
}

static int grammar_call(lua_State *L) {
  const char *name = lua_tostring(L, lua_upvalueindex(1));
  luaL_checktype(L, 1, LUA_TSTRING);
  np_str text = np_check_str(L, 1), none = {"", 0}, hint = none;
  if (!lua_isnoneornil(L, 2)) hint = np_check_str(L, 2);
  luaL_argcheck(L, hint.n <= HINT_MAX, 2, "a hint has at most 2,000 bytes");
  if (text.n > NP_POLICY_TEXT)
    return luaL_error(L, "neap.grammar.%s: the text has more than %d bytes; give a part",
                      name, (int)NP_POLICY_TEXT);
  np_charge_slow(L, 100 + PER_BYTE * text.n);
  ensure_loaded(L, name);
  return parse(L, name, text, none, hint);
}

/* neap.grammar.NAME; the upvalue holds those asked for before. */
static int grammar_index(lua_State *L) {
  char dir[PATH_MAX], path[PATH_MAX];
  luaL_checktype(L, 2, LUA_TSTRING);
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
  np_str name = np_check_str(L, 2);
  np_charge_slow(L, 1000);
  if (!find_lua_dir(dir, sizeof dir))
    return luaL_error(L, "neap.grammar: no folder neap/grammar was found; NEAP_LUA names "
                         "the folder that holds neap/");
  if (!is_name(name) || !grammar_path(path, sizeof path, dir, name.p) ||
      !np_port_readable(path))
    return unknown(L, dir, name);
  lua_pushvalue(L, 2);
  lua_pushboolean(L, 0);
  lua_pushcclosure(L, grammar_call, 2);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  lua_rawset(L, lua_upvalueindex(1));
  return 1;
}

static int grammar_newindex(lua_State *L) {
  return luaL_error(L, "a grammar is a file of neap's own; a policy adds none");
}

void np_env_grammar(lua_State *L) {
  lua_newtable(L);
  lua_createtable(L, 0, 3);
  lua_newtable(L);
  lua_pushcclosure(L, grammar_index, 1);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, grammar_newindex);
  lua_setfield(L, -2, "__newindex");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
}
