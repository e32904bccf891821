/*
** Every name that a policy can use, as JSON, read from a running state: its environment, the
** metatables of its handles, the keys its calls take. Checkers, manuals and tests compare with
** it. next: policy.h
*/
#include "policy/host.h"

static void name_open(np_buf *out, const char *name, char bracket) {
  if (out->n && !strchr("{[", out->p[out->n - 1])) np_buf_addc(out, ',');
  np_json_quote(out, np_str_cstr(name));
  np_buf_addc(out, ':');
  np_buf_addc(out, bracket);
}

static void write_list(np_buf *out, const char *name, const char *const *list) {
  name_open(out, name, '[');
  for (int i = 0; list[i]; i++) {
    if (i) np_buf_addc(out, ',');
    np_json_quote(out, np_str_cstr(list[i]));
  }
  np_buf_addc(out, ']');
}

/* The names in the table at the top whose values are of `type`; LUA_TNONE: all. */
static void write_names(lua_State *L, np_buf *out, const char *name, int type) {
  int t = lua_gettop(L), step = np_pairs_push(L, t);
  bool any = false;
  name_open(out, name, '[');
  while (np_pairs_next(L, step, t)) {
    if (type != LUA_TNONE && lua_type(L, step + 2) != type) continue;
    if (any) np_buf_addc(out, ',');
    any = true;
    np_json_quote(out, np_str_cstr(lua_tostring(L, step + 1)));
  }
  np_buf_addc(out, ']');
}

/* A handle's fields and methods: its index function has them in its first upvalue. */
static void write_handle(lua_State *L, np_buf *out, const char *name, const char *type) {
  luaL_getmetatable(L, type);
  lua_getfield(L, -1, "__index");
  lua_getupvalue(L, -1, 1);
  name_open(out, name, '{');
  write_names(L, out, "fields", LUA_TNUMBER);
  write_names(L, out, "methods", LUA_TFUNCTION);
  np_buf_addc(out, '}');
  lua_pop(L, 3);
}

/* The globals; a library's is followed by what is in it. The environment itself is empty,
** what it has stands behind its metatable. */
static void write_globals(lua_State *L, np_buf *out) {
  lua_getfield(L, LUA_REGISTRYINDEX, "neap.env");
  lua_getmetatable(L, -1);
  lua_getfield(L, -1, "__index");
  write_names(L, out, "globals", LUA_TNONE);
  int t = lua_gettop(L), step = np_pairs_push(L, t);
  name_open(out, "libraries", '{');
  while (np_pairs_next(L, step, t)) {
    if (lua_type(L, step + 2) == LUA_TTABLE)
      write_names(L, out, lua_tostring(L, step + 1), LUA_TNONE);
  }
  np_buf_addc(out, '}');
  lua_pop(L, 3);
}

static int names_body(lua_State *L) {
  np_buf *out = lua_touserdata(L, 1);
  static const char *const hooks[] = {
#define NP_X(id, name) name,
      NP_HOOKS(NP_X)
#undef NP_X
          NULL};
  luaL_checkstack(L, 40, "names");
  np_buf_addc(out, '{');
  write_globals(L, out);
  write_handle(L, out, "context", NP_CONTEXT_TYPE);
  write_handle(L, out, "entry", NP_ENTRY_TYPE);
  write_handle(L, out, "span", NP_SPAN_TYPE);
  write_list(out, "hooks", hooks);
  write_list(out, "policy", np_policy_keys);
  name_open(out, "keys", '{');
  write_list(out, "ask", np_ask_keys);
  write_list(out, "ask_all", np_ask_all_keys);
  write_list(out, "due", np_due_keys);
  write_list(out, "entries", np_entries_keys);
  write_list(out, "propose", np_propose_keys);
  write_list(out, "scratch", np_scratch_keys);
  write_list(out, "span", np_span_keys);
  write_list(out, "summarize", np_summarize_keys);
  write_list(out, "tools", np_tools_keys);
  write_list(out, "trim", np_trim_keys);
  np_buf_adds(out, "}}");
  return 0;
}

neap_rc np_policy_names(const neap_alloc *a, np_buf *out, np_err *e) {
  np_policy *p;
  neap_rc rc = np_policy_load(a, NULL, NP_LIT(""), NULL, &p, e);
  if (rc) return rc;
  rc = np_enter(p, p->limits.load_instructions, -1, names_body, out, e);
  np_policy_free(p);
  if (!rc && out->failed) rc = np_fail_mem(e);
  return rc;
}
