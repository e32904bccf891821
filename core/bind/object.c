/*
** The state object for Lua: proposing, reading, differences; of an open session, and of one that
** is only in the store. JSON goes in and out as text. next: inspect.c
*/
#include "bind/bind.h"
#include "bind/session.h"

static neap_str opt_str(lua_State *L, int at) {
  neap_str s = {"", 0};
  if (!lua_isnoneornil(L, at)) s.p = luaL_checklstring(L, at, &s.n);
  return s;
}

/* who, patch, reason, source, if_version: from `at` on. */
static neap_proposal check_proposal(lua_State *L, int at) {
  neap_proposal p = {.size = sizeof p};
  p.who = np_bind_check_cstr(L, at);
  p.patch = np_bind_check_str(L, at + 1);
  p.reason = opt_str(L, at + 2);
  p.source = luaL_optinteger(L, at + 3, 0);
  p.if_version = luaL_optinteger(L, at + 4, 0);
  return p;
}

static int push_failure(lua_State *L, const neap *n, neap_rc rc) {
  lua_pushnil(L);
  lua_pushstring(L, neap_error(n));
  lua_pushstring(L, neap_rc_name(rc));
  return 3;
}

/* state_propose(who, patch, reason, source, if_version): what was decided, as JSON; a refusal is
** nil, message, "refused" and that JSON. */
static int state_propose(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_proposal p = check_proposal(L, 2);
  neap_str answer = {"", 0};
  neap_rc rc = neap_state_propose(s, &p, &answer);
  int n = rc ? push_failure(L, neap_session_engine(s), rc) : 0;
  if (rc && rc != NEAP_E_REFUSED) return n;
  lua_pushlstring(L, answer.p, answer.n);
  return n + 1;
}

/* state_begin(json, reason) */
static int state_begin(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_rc rc = neap_state_begin(s, np_bind_check_str(L, 2), opt_str(L, 3));
  if (rc) return push_failure(L, s->engine, rc);
  lua_pushboolean(L, 1);
  return 1;
}

static int push_json(lua_State *L, neap_session *s, neap_rc rc, neap_str json) {
  if (rc) return push_failure(L, neap_session_engine(s), rc);
  lua_pushlstring(L, json.p, json.n);
  return 1;
}

/* state_get(version): JSON; 0 or nothing: the newest. Then the version. */
static int state_get(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  lua_Integer version = luaL_optinteger(L, 2, 0);
  neap_str json = {"", 0};
  neap_rc rc = neap_state_get(s, version, &json);
  int n = push_json(L, s, rc, json);
  if (rc) return n;
  lua_pushinteger(L, version ? version : np_object_version(s));
  return n + 1;
}

static int state_history(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str json = {"", 0};
  neap_rc rc = neap_state_history(s, &json);
  return push_json(L, s, rc, json);
}

/* state_diff(from, to): 0 is before the first. */
static int state_diff(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str json = {"", 0};
  neap_rc rc =
      neap_state_diff(s, luaL_checkinteger(L, 2), luaL_checkinteger(L, 3), &json);
  return push_json(L, s, rc, json);
}

/* ---- checkpoints ---- */

static int push_done(lua_State *L, const neap_session *s, neap_rc rc) {
  if (rc) return push_failure(L, s->engine, rc);
  lua_pushboolean(L, 1);
  return 1;
}

static int checkpoint(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  return push_done(L, s, neap_checkpoint(s, np_bind_check_cstr(L, 2)));
}

/* rollback(to, reason): a checkpoint's name, or an entry. */
static int rollback(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  np_str reason = np_bind_check_str(L, 3);
  if (lua_isinteger(L, 2))
    return push_done(L, s, neap_rollback(s, NULL, lua_tointeger(L, 2), reason));
  return push_done(L, s, neap_rollback(s, np_bind_check_cstr(L, 2), 0, reason));
}

/* refute(step, entry, reason); refutations(): JSON. */
static int refute(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  np_str reason = np_bind_check_str(L, 4);
  return push_done(
      L, s, neap_refute(s, luaL_optinteger(L, 2, 0), luaL_optinteger(L, 3, 0), reason));
}

static int refutations(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str json = {"", 0};
  neap_rc rc = neap_refutations(s, &json);
  return push_json(L, s, rc, json);
}

/* polluted(): how much has been refuted, and how many steps have used what is, the last one too. */
static int polluted(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  if (np_refuted_look(s)) return luaL_error(L, "out of memory");
  lua_pushinteger(L, (lua_Integer)s->refuted.count);
  lua_pushinteger(L, (lua_Integer)s->refuted.steps);
  return 2;
}

/* ---- the scratchpad, phases ---- */

/* scratch_put(who, text, patch, source): its number. */
static int scratch_put(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  int64_t id = 0;
  neap_scratch p = {.size = sizeof p,
                    .who = np_bind_check_cstr(L, 2),
                    .text = np_bind_check_str(L, 3),
                    .patch = opt_str(L, 4),
                    .source = luaL_optinteger(L, 5, 0)};
  neap_rc rc = neap_scratch_put(s, &p, &id);
  if (rc) return push_failure(L, s->engine, rc);
  lua_pushinteger(L, id);
  return 1;
}

/* scratch_pass(id, who, reason, into): the entry, 0: none. */
static int scratch_pass(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  int64_t entry = 0;
  neap_rc rc = neap_scratch_pass(s, luaL_checkinteger(L, 2), np_bind_check_cstr(L, 3),
                                 opt_str(L, 4), np_bind_opt_cstr(L, 5), &entry);
  if (rc) return push_failure(L, s->engine, rc);
  lua_pushinteger(L, entry);
  return 1;
}

static int scratch_reject(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  return push_done(L, s,
                   neap_scratch_reject(s, luaL_checkinteger(L, 2),
                                       np_bind_check_cstr(L, 3),
                                       np_bind_check_str(L, 4)));
}

static int scratch_list(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  neap_str json = {"", 0};
  neap_rc rc = neap_scratch_list(s, &json);
  return push_json(L, s, rc, json);
}

static int phase(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  return push_done(L, s, neap_phase(s, np_bind_check_cstr(L, 2)));
}

const luaL_Reg np_bind_object[] = {{"state_begin", state_begin},
                                   {"scratch_put", scratch_put},
                                   {"scratch_pass", scratch_pass},
                                   {"scratch_reject", scratch_reject},
                                   {"scratch_list", scratch_list},
                                   {"phase", phase},
                                   {"state_propose", state_propose},
                                   {"state_get", state_get},
                                   {"state_history", state_history},
                                   {"state_diff", state_diff},
                                   {"checkpoint", checkpoint},
                                   {"rollback", rollback},
                                   {"refute", refute},
                                   {"refutations", refutations},
                                   {"polluted", polluted},
                                   {NULL, NULL}};

/* ---- of the store ---- */

/* state_stored(session): {"schema","version","history"} as JSON. */
int np_bind_state_stored(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  np_str session = np_bind_check_str(L, 2);
  np_err e = {.code = NEAP_OK};
  np_buf *out = np_bind_buf(L);
  if (np_stored_object(n, session, out, &e)) return np_bind_fail(L, &e);
  np_bind_push_buf(L, out);
  return 1;
}

/* state_stored_propose(session, who, patch, reason, source, if_version): the answer as JSON. */
int np_bind_state_stored_propose(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  const char *session = np_bind_check_cstr(L, 2);
  neap_proposal p = check_proposal(L, 3);
  np_err e = {.code = NEAP_OK};
  np_buf *out = np_bind_buf(L);
  if (np_stored_propose(n, session, &p, out, &e)) return np_bind_fail(L, &e);
  np_bind_push_buf(L, out);
  return 1;
}

/* object_diff(from, to): what lies between two objects, all three as JSON. */
static int object_diff(lua_State *L) {
  np_str from = np_bind_check_str(L, 1), to = np_bind_check_str(L, 2);
  np_err e = {.code = NEAP_OK};
  np_buf *out = np_bind_buf(L);
  if (np_object_diff(from, to, out, &np_alloc_libc, &e)) return np_bind_fail(L, &e);
  np_bind_push_buf(L, out);
  return 1;
}

void np_bind_objects(lua_State *L) {
  lua_pushcfunction(L, object_diff);
  lua_setfield(L, -2, "object_diff");
}
