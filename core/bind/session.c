/*
** Sessions for Lua: the engine's part of neap.core. A call checks its arguments, then calls
** the core, then pushes. A session keeps its engine alive; both close by themselves.
** next: inspect.c
*/
#include "bind/bind.h"
#include "bind/session.h"

#include <lauxlib.h>

#define ENGINE "neap.engine"
#define SESSION "neap.session"

typedef struct engine_box {
  neap *n; /* NULL when closed */
} engine_box;

static engine_box *to_engine(lua_State *L) {
  engine_box *b = luaL_checkudata(L, 1, ENGINE);
  if (!b->n) luaL_argerror(L, 1, "the engine is closed");
  return b;
}

neap *np_bind_to_engine(lua_State *L) {
  return to_engine(L)->n;
}

neap_session *np_bind_to_session(lua_State *L) {
  session_box *b = luaL_checkudata(L, 1, SESSION);
  if (!b->s) luaL_argerror(L, 1, "the session is closed");
  if (!lua_toboolean(L, lua_upvalueindex(1))) return b->s;
  np_shadow_before(b->s); /* all that has come, is there too */
  if (!b->s->shadow) luaL_argerror(L, 1, "the session has no shadow");
  return b->s->shadow;
}

/* nil, message, code. */
int np_bind_push_failure(lua_State *L, const neap *n, neap_rc rc) {
  lua_pushnil(L);
  lua_pushstring(L, n ? neap_error(n) : neap_rc_text(rc));
  lua_pushstring(L, neap_rc_name(rc));
  return 3;
}

static int push_done(lua_State *L, neap_session *s, neap_rc rc) {
  if (rc) return np_bind_push_failure(L, neap_session_engine(s), rc);
  lua_pushboolean(L, 1);
  return 1;
}

static neap_str check_str(lua_State *L, int at) {
  neap_str s;
  s.p = luaL_checklstring(L, at, &s.n);
  return s;
}

/* ---- reading a table of options ---- */

/* C would read a text up to its first zero byte: "a\0b" would be the tenant "a". */
static const char *field_str(lua_State *L, int t, const char *name) {
  lua_getfield(L, t, name);
  if (lua_isnil(L, -1)) return NULL; /* stays on the stack: anchors the string */
  if (!lua_isstring(L, -1)) luaL_error(L, "option %s must be a string", name);
  size_t n;
  const char *text = lua_tolstring(L, -1, &n);
  if (strlen(text) != n) luaL_error(L, "option %s must not hold a zero byte", name);
  return text;
}

static int64_t field_int(lua_State *L, int t, const char *name) {
  int is_int = 1;
  lua_Integer v = 0;
  lua_getfield(L, t, name);
  if (!lua_isnil(L, -1)) v = lua_tointegerx(L, -1, &is_int);
  if (!is_int) luaL_error(L, "option %s must be a whole number", name);
  lua_pop(L, 1);
  return (int64_t)v;
}

static double field_num(lua_State *L, int t, const char *name) {
  int is_num = 1;
  lua_Number v = 0;
  lua_getfield(L, t, name);
  if (!lua_isnil(L, -1)) v = lua_tonumberx(L, -1, &is_num);
  if (!is_num) luaL_error(L, "option %s must be a number", name);
  lua_pop(L, 1);
  return v;
}

static bool field_bool(lua_State *L, int t, const char *name) {
  lua_getfield(L, t, name);
  bool v = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return v;
}

/* ---- engine ---- */

static neap_store_failure check_failure(lua_State *L, const char *name) {
  if (!name || strcmp(name, "stop") == 0) return NEAP_STORE_STOP;
  if (strcmp(name, "hold") != 0)
    luaL_error(L, "option on_store_failure must be stop or hold");
  return NEAP_STORE_HOLD;
}

static int engine_new(lua_State *L) {
  if (lua_isnoneornil(L, 1)) {
    lua_settop(L, 0);
    lua_newtable(L);
  }
  luaL_checktype(L, 1, LUA_TTABLE);
  neap_config c = {.size = sizeof c};
  c.store = field_str(L, 1, "store");
  c.tenant = field_str(L, 1, "tenant");
  c.data = field_str(L, 1, "data");
  c.on_store_failure = check_failure(L, field_str(L, 1, "on_store_failure"));
  if (field_bool(L, 1, "fixed_secret")) c.flags |= NEAP_FIXED_SECRET;
  if (field_bool(L, 1, "readonly")) c.flags |= NEAP_READONLY;
  if (field_bool(L, 1, "compress")) c.flags |= NEAP_COMPRESS;
  engine_box *b = lua_newuserdatauv(L, sizeof *b, 0);
  b->n = NULL;
  luaL_setmetatable(L, ENGINE);
  neap_rc rc = neap_open(&c, &b->n);
  if (!rc) return 1;
  int n = np_bind_push_failure(L, b->n, rc);
  neap_close(b->n);
  b->n = NULL;
  return n;
}

/* true, or nil, why what waited for the store is lost, and the code. The handle is gone in both
** cases. */
static int engine_close(lua_State *L) {
  engine_box *b = luaL_checkudata(L, 1, ENGINE);
  neap *n = b->n;
  b->n = NULL;
  lua_settop(L, 0);
  neap_rc why = n ? neap_flush(n) : NEAP_OK;
  if (why) np_bind_push_failure(L, n, why); /* a close has no text */
  neap_rc rc = neap_close(n);
  if (rc && !why) return np_bind_push_failure(L, NULL, rc);
  if (rc || why == NEAP_E_FENCED) return 3;
  lua_settop(L, 0);
  lua_pushboolean(L, 1);
  return 1;
}

/* left_out(): the store's sessions whose policy is, as JSON. */
static int engine_left_out(lua_State *L) {
  engine_box *b = to_engine(L);
  np_err e = {.code = NEAP_OK};
  np_buf *out = np_bind_buf(L);
  neap_rc rc = np_breaker_list(b->n, out, &e);
  if (rc) return np_bind_fail(L, &e);
  np_bind_push_buf(L, out);
  return 1;
}

static neap_durable check_durable(lua_State *L, const char *name) {
  static const char *const names[] = {"process", "power", "batch", "memory"};
  for (int i = 0; name && i < 4; i++) {
    if (strcmp(name, names[i]) == 0) return (neap_durable)i;
  }
  if (name) luaL_error(L, "option durable must be process, power, batch or memory");
  return NEAP_DURABLE_PROCESS;
}

static neap_cache check_cache(lua_State *L, const char *name) {
  static const char *const names[] = {"5m", "1h", "none"};
  for (int i = 0; name && i < 3; i++) {
    if (strcmp(name, names[i]) == 0) return (neap_cache)i;
  }
  if (name) luaL_error(L, "option cache must be 5m, 1h or none");
  return NEAP_CACHE_SHORT;
}

static int engine_session(lua_State *L) {
  engine_box *eb = to_engine(L);
  luaL_checktype(L, 2, LUA_TTABLE);
  neap_options o = {.size = sizeof o};
  const char *name = field_str(L, 2, "name");
  o.policy = field_str(L, 2, "policy");
  o.format = field_str(L, 2, "format");
  o.encoding = field_str(L, 2, "encoding");
  o.model = field_str(L, 2, "model");
  o.prices = field_str(L, 2, "prices");
  o.options_json = field_str(L, 2, "options");
  o.state_schema = field_str(L, 2, "state_schema");
  o.durable = check_durable(L, field_str(L, 2, "durable"));
  o.cache = check_cache(L, field_str(L, 2, "cache"));
  o.window = field_int(L, 2, "window");
  o.reserve = field_int(L, 2, "reserve");
  o.alarm = field_num(L, 2, "alarm");
  o.state_share = field_num(L, 2, "state_share");
  o.failures = field_int(L, 2, "failures");
  if (field_bool(L, 2, "no_reload")) o.flags |= NEAP_NO_RELOAD;
  if (field_bool(L, 2, "no_tools")) o.flags |= NEAP_NO_TOOLS;
  if (field_bool(L, 2, "no_log")) o.flags |= NEAP_NO_LOG;
  if (field_bool(L, 2, "unchecked")) o.flags |= NEAP_UNCHECKED;
  session_box *b = lua_newuserdatauv(L, sizeof *b, 1);
  b->s = NULL;
  luaL_setmetatable(L, SESSION);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  neap_rc rc = neap_session_open(eb->n, name ? name : "session", &o, &b->s);
  return rc ? np_bind_push_failure(L, eb->n, rc) : 1;
}

/* A session that the engine has closed with itself is not closed twice. */
static int session_close(lua_State *L) {
  session_box *b = luaL_checkudata(L, 1, SESSION);
  lua_getiuservalue(L, 1, 1);
  engine_box *eb = luaL_testudata(L, -1, ENGINE);
  if (b->s && eb && eb->n) neap_session_close(b->s);
  b->s = NULL;
  return 0;
}

/* ---- the loop ---- */

static int session_set_tools(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  return push_done(L, s, neap_set_tools(s, check_str(L, 2)));
}

static int session_set_request(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  return push_done(L, s, neap_set_request(s, check_str(L, 2)));
}

/* set_now(ms): the time, in milliseconds since 1970. */
static int session_set_now(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  return push_done(L, s, neap_set_now(s, luaL_checkinteger(L, 2)));
}

static int session_append(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  return push_done(L, s, neap_append(s, check_str(L, 2)));
}

static int session_append_response(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  return push_done(L, s, neap_append_response(s, check_str(L, 2)));
}

static int session_prompt(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str body;
  neap_rc rc = neap_prompt(s, &body);
  if (rc) return np_bind_push_failure(L, neap_session_engine(s), rc);
  lua_pushlstring(L, body.p, body.n);
  return 1;
}

/* A turn without its bytes: for replays that only measure. */
static int session_assemble(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str body;
  return push_done(L, s, neap_prompt(s, &body));
}

static int session_account(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str json;
  neap_rc rc = neap_account(s, &json);
  if (rc) return np_bind_push_failure(L, neap_session_engine(s), rc);
  lua_pushlstring(L, json.p, json.n);
  return 1;
}

static int session_reload(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  return push_done(L, s, neap_reload(s));
}

static void set_str(lua_State *L, const char *name, neap_str v) {
  lua_pushlstring(L, v.p ? v.p : "", v.n);
  lua_setfield(L, -2, name);
}

static int session_next_call(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_call c;
  if (!neap_next_call(s, &c)) return 0;
  lua_createtable(L, 0, 4);
  lua_pushinteger(L, (lua_Integer)c.entry);
  lua_setfield(L, -2, "entry");
  set_str(L, "id", c.id);
  set_str(L, "name", c.name);
  set_str(L, "arguments", c.arguments);
  return 1;
}

/* The call that the table at 2 stands for; its strings stay anchored in the table. */
static neap_call check_call(lua_State *L) {
  neap_call c = {0};
  luaL_checktype(L, 2, LUA_TTABLE);
  c.entry = field_int(L, 2, "entry");
  lua_getfield(L, 2, "name");
  c.name.p = luaL_tolstring(L, -1, &c.name.n);
  lua_getfield(L, 2, "arguments");
  c.arguments.p = luaL_tolstring(L, -1, &c.arguments.n);
  return c;
}

static int session_handle(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_call c = check_call(L);
  lua_pushboolean(L, neap_handle(s, &c));
  return 1;
}

static int session_append_result(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str text = check_str(L, 3);
  neap_call c = check_call(L);
  return push_done(L, s, neap_append_result(s, &c, text));
}

static void set_int(lua_State *L, const char *name, int64_t v) {
  lua_pushinteger(L, (lua_Integer)v);
  lua_setfield(L, -2, name);
}

/* A list of { entry, step, kind, from, to }: the first byte is 1, and `to` is the last. */
static void push_parts(lua_State *L, const neap_ask *a) {
  lua_createtable(L, a->part_count < INT_MAX ? (int)a->part_count : 0, 0);
  for (size_t i = 0; i < a->part_count; i++) {
    const neap_ask_part *p = &a->parts[i];
    lua_createtable(L, 0, 5);
    set_int(L, "entry", p->entry);
    set_int(L, "step", p->step);
    set_int(L, "from", (int64_t)p->from + 1);
    set_int(L, "to", (int64_t)p->to);
    lua_pushstring(L, p->kind);
    lua_setfield(L, -2, "kind");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* next_ask(after): the first open ask whose id is greater, as a table, or nothing. */
static int session_next_ask(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_ask a;
  if (!neap_ask_after(s, luaL_optinteger(L, 2, 0), &a)) return 0;
  lua_createtable(L, 0, 4);
  lua_pushinteger(L, (lua_Integer)a.id);
  lua_setfield(L, -2, "id");
  lua_pushstring(L, a.kind);
  lua_setfield(L, -2, "kind");
  lua_pushinteger(L, (lua_Integer)a.max_tokens);
  lua_setfield(L, -2, "max_tokens");
  set_str(L, "text", a.text);
  set_str(L, "notes", a.notes);
  push_parts(L, &a);
  lua_setfield(L, -2, "parts");
  return 1;
}

/* answer(id, text, why, code, verified): nil for a text says that there is none, and why. One that
** trusted Lua has verified, or only picked out of the steps, is not looked at again. */
static int session_answer(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  lua_Integer id = luaL_checkinteger(L, 2);
  bool verified = lua_toboolean(L, 6);
  if (!lua_isnoneornil(L, 3) && verified)
    return push_done(L, s, np_answer_verified(s, id, check_str(L, 3)));
  if (!lua_isnoneornil(L, 3)) return push_done(L, s, neap_answer(s, id, check_str(L, 3)));
  neap_str why = {NULL, 0};
  if (!lua_isnoneornil(L, 4)) why = check_str(L, 4);
  const char *code = luaL_optstring(L, 5, why.p ? "error" : "refused");
  return push_done(L, s, neap_refuse(s, id, code, why));
}

/* ask_faults(id, json): why an answer was not given */
static int session_ask_faults(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  lua_Integer id = luaL_checkinteger(L, 2);
  return push_done(L, s, neap_ask_faults(s, id, check_str(L, 3)));
}

/* asks(): all of them with their answers, as JSON. */
static int session_asks(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str json;
  neap_rc rc = neap_asks(s, &json);
  if (rc) return np_bind_push_failure(L, neap_session_engine(s), rc);
  lua_pushlstring(L, json.p, json.n);
  return 1;
}

/* shadow(path, options): a policy beside the session's own, whose asks are answered here; without
** a path there is none any more. */
static int session_shadow(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  const char *path = np_bind_opt_cstr(L, 2);
  const char *options = np_bind_opt_cstr(L, 3);
  return push_done(L, s, np_shadow_set(s, path, options, true));
}

static int session_has_shadow(lua_State *L) {
  lua_pushboolean(L, np_bind_to_session(L)->shadow != NULL);
  return 1;
}

static int session_shadow_totals(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str json;
  neap_rc rc = neap_shadow_account(s, &json);
  if (rc) return np_bind_push_failure(L, neap_session_engine(s), rc);
  lua_pushlstring(L, json.p, json.n);
  return 1;
}

static int session_text(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str text;
  neap_rc rc = neap_entry_text(s, luaL_checkinteger(L, 2), &text);
  if (rc) return np_bind_push_failure(L, neap_session_engine(s), rc);
  lua_pushlstring(L, text.p ? text.p : "", text.n);
  return 1;
}

/* read(id, part, tokens): what neap_read gives. */
static int session_read(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str text, id = check_str(L, 2);
  neap_str part = lua_isnoneornil(L, 3) ? NP_LIT("") : check_str(L, 3);
  lua_Integer tokens = luaL_optinteger(L, 4, 0);
  luaL_argcheck(L, tokens >= 0, 4, "a limit is not below 0");
  neap_rc rc = neap_read(s, id, part, (size_t)tokens, &text);
  if (rc) return np_bind_push_failure(L, neap_session_engine(s), rc);
  lua_pushlstring(L, text.p ? text.p : "", text.n);
  return 1;
}

/* resolve(arguments): with texts in place of pointers. */
static int session_resolve(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str resolved;
  neap_rc rc = neap_resolve(s, check_str(L, 2), &resolved);
  if (rc) return np_bind_push_failure(L, neap_session_engine(s), rc);
  lua_pushlstring(L, resolved.p ? resolved.p : "", resolved.n);
  return 1;
}

/* ---- finding again ---- */

typedef struct hit_row {
  int64_t entry, step;
  double score;
  size_t session, snippet;
  int voided;
} hit_row;

/* Lua may raise an error when memory runs out, and must not do so in here. */
static void keep_hit(void *ctx, const neap_hit *h) {
  np_buf *b = ctx;
  hit_row row = {h->entry, h->step, h->score, h->session.n, h->snippet.n, h->voided};
  np_buf_add(b, np_str_of((const char *)&row, sizeof row));
  np_buf_add(b, h->session);
  np_buf_add(b, h->snippet);
}

static void push_hits(lua_State *L, np_str rows) {
  lua_newtable(L);
  for (size_t at = 0, i = 1; at < rows.n; i++) {
    hit_row row;
    memcpy(&row, rows.p + at, sizeof row);
    at += sizeof row;
    lua_createtable(L, 0, 6);
    set_str(L, "session", np_str_cut(rows, at, at + row.session));
    at += row.session;
    set_str(L, "snippet", np_str_cut(rows, at, at + row.snippet));
    at += row.snippet;
    lua_pushinteger(L, (lua_Integer)row.entry);
    lua_setfield(L, -2, "entry");
    lua_pushinteger(L, (lua_Integer)row.step);
    lua_setfield(L, -2, "step");
    lua_pushnumber(L, row.score);
    lua_setfield(L, -2, "score");
    if (row.voided) {
      lua_pushboolean(L, 1);
      lua_setfield(L, -2, "voided");
    }
    lua_rawseti(L, -2, (lua_Integer)i);
  }
}

static size_t check_k(lua_State *L, int at) {
  lua_Integer k = luaL_optinteger(L, at, 0);
  luaL_argcheck(L, k >= 0 && k <= 100, at, "at most 100 hits");
  return (size_t)k;
}

/* recall(query, k): the session's own entries, as {session, entry, step, score, snippet}. */
static int session_recall(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str query = check_str(L, 2);
  size_t k = check_k(L, 3);
  np_buf *rows = np_bind_buf(L); /* an error of Lua's frees it */
  neap_rc rc = neap_session_recall(s, query, k, keep_hit, rows);
  if (rc) return np_bind_push_failure(L, neap_session_engine(s), rc);
  if (rows->failed) return luaL_error(L, "out of memory");
  push_hits(L, np_buf_str(rows));
  return 1;
}

/* recall(query, session, k): the same of the store; all sessions when none is named. */
static int engine_recall(lua_State *L) {
  engine_box *b = to_engine(L);
  neap_str query = check_str(L, 2);
  const char *session = np_bind_opt_cstr(L, 3);
  size_t k = check_k(L, 4);
  np_buf *rows = np_bind_buf(L); /* an error of Lua's frees it */
  neap_rc rc = neap_recall(b->n, session, query, k, keep_hit, rows);
  if (rc) return np_bind_push_failure(L, b->n, rc);
  if (rows->failed) return luaL_error(L, "out of memory");
  push_hits(L, np_buf_str(rows));
  return 1;
}

static int session_tostring(lua_State *L) {
  session_box *b = luaL_checkudata(L, 1, SESSION);
  if (b->s)
    lua_pushfstring(L, "neap.session (%I entries)", (LUAI_UACINT)b->s->log.entry_count);
  else lua_pushliteral(L, "neap.session (closed)");
  return 1;
}

static const luaL_Reg engine_methods[] = {
    {"session", engine_session},
    {"recall", engine_recall},
    {"left_out", engine_left_out},
    {"state_stored", np_bind_state_stored},
    {"state_stored_propose", np_bind_state_stored_propose},
    {"close", engine_close},
    {NULL, NULL}};

static const luaL_Reg session_methods[] = {
    {"set_tools", session_set_tools},
    {"set_request", session_set_request},
    {"set_now", session_set_now},
    {"append", session_append},
    {"append_response", session_append_response},
    {"prompt", session_prompt},
    {"assemble", session_assemble},
    {"account", session_account},
    {"reload", session_reload},
    {"next_call", session_next_call},
    {"handle", session_handle},
    {"append_result", session_append_result},
    {"next_ask", session_next_ask},
    {"answer", session_answer},
    {"asks", session_asks},
    {"ask_faults", session_ask_faults},
    {"text", session_text},
    {"shadow", session_shadow},
    {"has_shadow", session_has_shadow},
    {"shadow_totals", session_shadow_totals},
    {"read", session_read},
    {"resolve", session_resolve},
    {"recall", session_recall},
    {"close", session_close},
    {NULL, NULL},
};

/* These are of the session's shadow: np_bind_to_session looks at their upvalue. */
static const luaL_Reg shadow_methods[] = {
    {"shadow_account", session_account},
    {"shadow_next_ask", session_next_ask},
    {"shadow_answer", session_answer},
    {"shadow_text", session_text},
    {NULL, NULL},
};

static void set_shadow_methods(lua_State *L, const luaL_Reg *methods) {
  lua_pushboolean(L, 1);
  luaL_setfuncs(L, methods, 1);
}

static void new_class(lua_State *L, const char *name, const luaL_Reg *methods,
                      lua_CFunction close) {
  luaL_newmetatable(L, name);
  lua_newtable(L);
  luaL_setfuncs(L, methods, 0);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, close);
  lua_setfield(L, -2, "__gc");
  lua_pushcfunction(L, close);
  lua_setfield(L, -2, "__close");
}

void np_bind_session(lua_State *L) {
  new_class(L, ENGINE, engine_methods, engine_close);
  lua_getfield(L, -1, "__index");
  luaL_setfuncs(L, np_bind_stored, 0);
  luaL_setfuncs(L, np_bind_artifacts, 0);
  lua_pop(L, 2);
  new_class(L, SESSION, session_methods, session_close);
  lua_pushcfunction(L, session_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_getfield(L, -1, "__index");
  luaL_setfuncs(L, np_bind_inspect, 0);
  luaL_setfuncs(L, np_bind_lab, 0);
  luaL_setfuncs(L, np_bind_session_artifacts, 0);
  set_shadow_methods(L, shadow_methods);
  set_shadow_methods(L, np_bind_inspect_shadow);
  set_shadow_methods(L, np_bind_lab_shadow);
  luaL_setfuncs(L, np_bind_hooks, 0);
  luaL_setfuncs(L, np_bind_object, 0);
  lua_pop(L, 2);
  lua_pushcfunction(L, engine_new);
  lua_setfield(L, -2, "engine");
}
