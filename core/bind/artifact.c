/*
** Artifacts for Lua: methods of engines and sessions. A table says what an artifact is of, and
** what of it is wanted; one comes back as a table. next: inspect.c
*/
#include "bind/bind.h"
#include "bind/session.h"

static neap_str text_field(lua_State *L, int t, const char *name) {
  neap_str s = {NULL, 0};
  if (lua_getfield(L, t, name) == LUA_TNIL) return s; /* stays: anchors the string */
  if (lua_type(L, -1) != LUA_TSTRING) luaL_error(L, "option %s must be a string", name);
  s.p = lua_tolstring(L, -1, &s.n);
  return s;
}

static int64_t int_field(lua_State *L, int t, const char *name) {
  int is_int = 1;
  lua_Integer v = 0;
  if (lua_getfield(L, t, name) != LUA_TNIL) v = lua_tointegerx(L, -1, &is_int);
  if (!is_int) luaL_error(L, "option %s must be a whole number", name);
  lua_pop(L, 1);
  return (int64_t)v;
}

/* A table of options at `at`, or none. */
static int options_at(lua_State *L, int at) {
  if (lua_isnoneornil(L, at)) {
    lua_settop(L, at - 1);
    lua_newtable(L);
  }
  luaL_checktype(L, at, LUA_TTABLE);
  return at;
}

static neap_artifact check_artifact(lua_State *L, int at) {
  neap_artifact a = {.size = sizeof a};
  options_at(L, at);
  a.tool = text_field(L, at, "tool");
  a.query = text_field(L, at, "query");
  a.path = text_field(L, at, "path");
  a.kind = text_field(L, at, "kind");
  a.made = int_field(L, at, "made");
  a.ttl = int_field(L, at, "ttl");
  return a;
}

static neap_window check_window(lua_State *L, int at) {
  neap_window w = {.size = sizeof w};
  options_at(L, at);
  w.first_line = int_field(L, at, "first_line");
  w.last_line = int_field(L, at, "last_line");
  w.from = int_field(L, at, "from");
  w.to = int_field(L, at, "to");
  w.now = int_field(L, at, "now");
  return w;
}

/* ---- giving back ------------------------------------------------------------------- */

/* What the core tells is copied, so that nothing of Lua's is called, and nothing can raise,
** inside it. */
typedef struct row {
  int64_t id, bytes, lines, made, ttl, at;
  int state;
  size_t session, tool, query, path, kind, sha256, body; /* bytes of each, which follow */
} row;

static void keep(void *ctx, const neap_artifact *a, neap_str body) {
  np_buf *rows = ctx;
  row r;
  memset(&r, 0, sizeof r);
  r.id = a->id;
  r.bytes = a->bytes;
  r.lines = a->lines;
  r.made = a->made;
  r.ttl = a->ttl;
  r.at = a->at;
  r.state = (int)a->state;
  r.session = a->session.n;
  r.tool = a->tool.n;
  r.query = a->query.n;
  r.path = a->path.n;
  r.kind = a->kind.n;
  r.sha256 = a->sha256.n;
  r.body = body.n;
  np_buf_add(rows, np_str_of((const char *)&r, sizeof r));
  np_buf_add(rows, a->session);
  np_buf_add(rows, a->tool);
  np_buf_add(rows, a->query);
  np_buf_add(rows, a->path);
  np_buf_add(rows, a->kind);
  np_buf_add(rows, a->sha256);
  np_buf_add(rows, body);
}

static const char *set_text(lua_State *L, const char *name, const char *p, size_t n) {
  if (n) {
    lua_pushlstring(L, p, n);
    lua_setfield(L, -2, name);
  }
  return p + n;
}

static void set_int(lua_State *L, const char *name, int64_t v, bool always) {
  if (!v && !always) return;
  lua_pushinteger(L, (lua_Integer)v);
  lua_setfield(L, -2, name);
}

/* Pushes the artifact at `p`, and behind it its bytes; gives what follows. */
static const char *push_row(lua_State *L, const char *p) {
  static const char *const states[] = {"there", "expired", "purged"};
  row r;
  memcpy(&r, p, sizeof r);
  lua_createtable(L, 0, 12);
  p = set_text(L, "session", p + sizeof r, r.session);
  p = set_text(L, "tool", p, r.tool);
  p = set_text(L, "query", p, r.query);
  p = set_text(L, "path", p, r.path);
  p = set_text(L, "kind", p, r.kind);
  p = set_text(L, "sha256", p, r.sha256);
  set_int(L, "id", r.id, true);
  set_int(L, "bytes", r.bytes, true);
  set_int(L, "lines", r.lines, true);
  set_int(L, "at", r.at, true);
  set_int(L, "made", r.made, false);
  set_int(L, "ttl", r.ttl, false);
  lua_pushstring(L, states[r.state]);
  lua_setfield(L, -2, "state");
  lua_pushlstring(L, p, r.body);
  return p + r.body;
}

/* ---- engines ----------------------------------------------------------------------- */

static int engine_put(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  const char *session = np_bind_opt_cstr(L, 2);
  np_str bytes = np_bind_check_str(L, 3);
  neap_artifact a = check_artifact(L, 4);
  int64_t id = 0;
  neap_rc rc = neap_artifact_put(n, session, bytes, &a, &id);
  if (rc) return np_bind_push_failure(L, n, rc);
  lua_pushinteger(L, (lua_Integer)id);
  return 1;
}

static int engine_get(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  const char *session = np_bind_opt_cstr(L, 2);
  int64_t id = luaL_checkinteger(L, 3);
  neap_window w = check_window(L, 4);
  np_buf *rows = np_bind_buf(L);
  neap_rc rc = neap_artifact_get(n, session, id, &w, keep, rows);
  if (rc) return np_bind_push_failure(L, n, rc);
  if (rows->failed) return luaL_error(L, "out of memory");
  push_row(L, rows->p);
  lua_insert(L, -2); /* the bytes, then what they are of */
  return 2;
}

static int engine_artifacts(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  const char *session = np_bind_opt_cstr(L, 2);
  int64_t now = luaL_optinteger(L, 3, 0);
  np_buf *rows = np_bind_buf(L);
  neap_rc rc = neap_artifact_list(n, session, now, keep, rows);
  if (rc) return np_bind_push_failure(L, n, rc);
  if (rows->failed) return luaL_error(L, "out of memory");
  lua_newtable(L);
  const char *p = rows->p;
  for (lua_Integer i = 1; rows->n && p < rows->p + rows->n; i++) {
    p = push_row(L, p);
    lua_pop(L, 1);
    lua_rawseti(L, -2, i);
  }
  return 1;
}

/* expire(now): how many artifacts were let go. */
static int engine_expire(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  int64_t count = 0;
  neap_rc rc = neap_artifact_expire(n, luaL_checkinteger(L, 2), &count);
  if (rc) return np_bind_push_failure(L, n, rc);
  lua_pushinteger(L, (lua_Integer)count);
  return 1;
}

static int engine_remove(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  neap_rc rc = neap_artifact_remove(n, np_bind_opt_cstr(L, 2), luaL_checkinteger(L, 3));
  if (rc) return np_bind_push_failure(L, n, rc);
  lua_pushboolean(L, 1);
  return 1;
}

const luaL_Reg np_bind_artifacts[] = {
    {"put", engine_put},       {"get", engine_get},       {"artifacts", engine_artifacts},
    {"remove", engine_remove}, {"expire", engine_expire}, {NULL, NULL}};

/* ---- sessions ---------------------------------------------------------------------- */

static int session_put(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  np_str bytes = np_bind_check_str(L, 2);
  neap_artifact a = check_artifact(L, 3);
  int64_t id = 0;
  neap_rc rc = neap_session_put(s, bytes, &a, &id);
  if (rc) return np_bind_push_failure(L, neap_session_engine(s), rc);
  lua_pushinteger(L, (lua_Integer)id);
  return 1;
}

static int session_get(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  int64_t id = luaL_checkinteger(L, 2);
  neap_window w = check_window(L, 3);
  neap_str text;
  neap_rc rc = neap_session_get(s, id, &w, &text);
  if (rc) return np_bind_push_failure(L, neap_session_engine(s), rc);
  lua_pushlstring(L, text.n ? text.p : "", text.n);
  return 1;
}

const luaL_Reg np_bind_session_artifacts[] = {
    {"put", session_put}, {"get", session_get}, {NULL, NULL}};
