/*
** Stored sessions for Lua: methods of an engine that list them, look into their logs, copy them,
** write them out and read them back. next: inspect.c
*/
#include <stdio.h>

#include "bind/bind.h"
#include "bind/session.h"

static int push_failure(lua_State *L, neap *n, neap_rc rc) {
  return np_bind_fail_text(L, rc, neap_error(n));
}

static int push_done(lua_State *L, neap *n, neap_rc rc) {
  if (rc) return push_failure(L, n, rc);
  lua_pushboolean(L, 1);
  return 1;
}

static void set_str(lua_State *L, const char *name, neap_str v) {
  lua_pushlstring(L, v.p ? v.p : "", v.n);
  lua_setfield(L, -2, name);
}

static void set_int(lua_State *L, const char *name, int64_t v) {
  lua_pushinteger(L, (lua_Integer)v);
  lua_setfield(L, -2, name);
}

/* ---- lists: Lua may raise when memory runs out, and must not do so inside a callback ---- */

typedef struct stored_row {
  int64_t events;
  size_t name;
} stored_row;

static int keep_session(void *ctx, const neap_stored *one) {
  np_buf *b = ctx;
  stored_row row = {one->events, one->name.n};
  np_buf_add(b, np_str_of((const char *)&row, sizeof row));
  np_buf_add(b, one->name);
  return !b->failed;
}

/* stored(): the tenant's sessions by name, as {name, events}. */
static int engine_stored(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  np_buf *rows = np_bind_buf(L);
  neap_rc rc = neap_session_list(n, keep_session, rows);
  if (rc) return push_failure(L, n, rc);
  if (rows->failed) return luaL_error(L, "out of memory");
  lua_newtable(L);
  for (size_t at = 0, i = 1; at < rows->n; i++) {
    stored_row row;
    memcpy(&row, rows->p + at, sizeof row);
    at += sizeof row;
    lua_createtable(L, 0, 2);
    set_str(L, "name", np_str_of(rows->p + at, row.name));
    set_int(L, "events", row.events);
    at += row.name;
    lua_rawseti(L, -2, (lua_Integer)i);
  }
  return 1;
}

#define PAGE ((size_t)1 << 20) /* bytes of events given at a time, or one event */

typedef struct event_row {
  int64_t seq;
  const char *kind;
  size_t head, body;
  int purged;
} event_row;

static int keep_event(void *ctx, const neap_event *ev) {
  np_buf *b = ctx;
  event_row row = {ev->seq, ev->kind, ev->head.n, ev->body.n, ev->purged};
  np_buf_add(b, np_str_of((const char *)&row, sizeof row));
  np_buf_add(b, ev->head);
  np_buf_add(b, ev->body);
  return !b->failed && b->n < PAGE;
}

static void push_events(lua_State *L, np_str rows) {
  lua_newtable(L);
  for (size_t at = 0, i = 1; at < rows.n; i++) {
    event_row row;
    memcpy(&row, rows.p + at, sizeof row);
    at += sizeof row;
    lua_createtable(L, 0, 5);
    set_int(L, "seq", row.seq);
    lua_pushstring(L, row.kind);
    lua_setfield(L, -2, "kind");
    set_str(L, "head", np_str_cut(rows, at, at + row.head));
    at += row.head;
    set_str(L, "body", np_str_cut(rows, at, at + row.body));
    at += row.body;
    lua_pushboolean(L, row.purged);
    lua_setfield(L, -2, "purged");
    lua_rawseti(L, -2, (lua_Integer)i);
  }
}

/* events(name, from): some of them from that one on, as {seq, kind, head, body, purged}; an
** empty list behind the last. */
static int engine_events(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  const char *name = np_bind_check_cstr(L, 2);
  lua_Integer from = luaL_optinteger(L, 3, 1);
  np_buf *rows = np_bind_buf(L);
  neap_rc rc = neap_session_events(n, name, (int64_t)from, keep_event, rows);
  if (rc && rows->n == 0) return push_failure(L, n, rc); /* else: told by the next call */
  if (rows->failed) return luaL_error(L, "out of memory");
  push_events(L, np_buf_str(rows));
  return 1;
}

/* ---- copies, out and in ---- */

static int64_t field(lua_State *L, const char *name) {
  int is_int = 1;
  lua_getfield(L, 4, name);
  lua_Integer v = lua_isnil(L, -1) ? 0 : lua_tointegerx(L, -1, &is_int);
  if (!is_int) luaL_error(L, "%s must be a whole number", name);
  lua_pop(L, 1);
  return (int64_t)v;
}

/* remove_session(name): how many events, and how many contents */
static int engine_remove_session(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  int64_t events = 0, contents = 0;
  neap_rc rc = neap_session_remove(n, luaL_checkstring(L, 2), &events, &contents);
  if (rc) return np_bind_push_failure(L, n, rc);
  lua_pushinteger(L, events);
  lua_pushinteger(L, contents);
  return 2;
}

/* fork(from, name, {turn=, events=}) */
static int engine_fork(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  const char *from = np_bind_check_cstr(L, 2), *name = np_bind_check_cstr(L, 3);
  neap_fork how = {.size = sizeof how};
  if (!lua_isnoneornil(L, 4)) {
    luaL_checktype(L, 4, LUA_TTABLE);
    how.turn = field(L, "turn");
    how.events = field(L, "events");
  }
  return push_done(L, n, neap_session_fork(n, from, &how, name));
}

static int write_out(void *ctx, neap_str bytes) {
  return fwrite(bytes.p, 1, bytes.n, ctx) == bytes.n;
}

/* export(name, file): to an open file of Lua's */
static int engine_export(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  const char *name = np_bind_check_cstr(L, 2);
  luaL_Stream *file = luaL_checkudata(L, 3, LUA_FILEHANDLE);
  if (!file->closef) luaL_argerror(L, 3, "the file is closed");
  return push_done(L, n, neap_session_export(n, name, write_out, file->f));
}

static int keep_name(void *ctx, neap_str name) {
  np_buf_add(ctx, name);
  return 1;
}

/* import(text, name): the session's name */
static int engine_import(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  np_str text = np_bind_check_str(L, 2);
  const char *name = np_bind_opt_cstr(L, 3);
  np_buf *said = np_bind_buf(L);
  neap_rc rc = neap_session_import(n, text, name, keep_name, said);
  if (rc) return push_failure(L, n, rc);
  np_bind_push_buf(L, said);
  return 1;
}

typedef struct replayed {
  int64_t same, turn, unpinned;
  size_t at, was, is;
} replayed;

static void keep_replayed(void *ctx, const neap_replayed *r) {
  np_buf *b = ctx;
  replayed row = {r->same, r->turn, r->unpinned, r->at, r->was.n, r->is.n};
  np_buf_add(b, np_str_of((const char *)&row, sizeof row));
  np_buf_add(b, r->was);
  np_buf_add(b, r->is);
  np_buf_adds(b, r->cause);
}

/* replay(name): {same, unpinned}, and where a prompt is another turn, at (from 1), was, is, cause */
static int engine_replay(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  const char *name = np_bind_check_cstr(L, 2);
  np_buf *b = np_bind_buf(L);
  replayed r;
  neap_rc rc = neap_session_replay(n, name, keep_replayed, b);
  if (rc) return push_failure(L, n, rc);
  if (b->failed || b->n < sizeof r) return luaL_error(L, "out of memory");
  memcpy(&r, b->p, sizeof r);
  np_str rest = np_str_cut(np_buf_str(b), sizeof r, b->n);
  lua_createtable(L, 0, 7);
  set_int(L, "same", r.same);
  set_int(L, "unpinned", r.unpinned);
  if (!r.turn) return 1;
  set_int(L, "turn", r.turn);
  set_int(L, "at", (int64_t)r.at + 1);
  set_str(L, "was", np_str_cut(rest, 0, r.was));
  set_str(L, "is", np_str_cut(rest, r.was, r.was + r.is));
  set_str(L, "cause", np_str_cut(rest, r.was + r.is, rest.n));
  return 1;
}

/* ---- the store as a whole ---- */

static int engine_flush(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  return push_done(L, n, neap_flush(n));
}

static int keep_line(void *ctx, neap_str line) {
  np_buf_add(ctx, line);
  np_buf_addc(ctx, '\n');
  return 1;
}

/* check(): the lines of its faults, "" for none; nil, message, code when it could not look */
static int engine_check(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  np_buf *lines = np_bind_buf(L);
  neap_rc rc = neap_store_check(n, keep_line, lines);
  if (rc && rc != NEAP_E_CORRUPT) return push_failure(L, n, rc);
  np_bind_push_buf(L, lines);
  return 1;
}

/* stats(): as JSON */
static int engine_stats(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  np_buf *out = np_bind_buf(L);
  neap_rc rc = neap_store_stats(n, keep_name, out);
  if (rc) return push_failure(L, n, rc);
  np_bind_push_buf(L, out);
  return 1;
}

static int engine_vacuum(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  neap_swept s;
  neap_rc rc = neap_store_vacuum(n, &s);
  if (rc) return push_failure(L, n, rc);
  lua_createtable(L, 0, 4);
  set_int(L, "contents", s.contents);
  set_int(L, "bytes", s.bytes);
  set_int(L, "before", s.before);
  set_int(L, "after", s.after);
  return 1;
}

static int engine_backup(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  return push_done(L, n, neap_store_backup(n, np_bind_check_cstr(L, 2)));
}

/* copy(name, engine) */
static int engine_copy(lua_State *L) {
  neap *n = np_bind_to_engine(L);
  const char *name = np_bind_check_cstr(L, 2);
  lua_settop(L, 3);
  lua_pushvalue(L, 1); /* kept, so that the collector leaves it alone */
  lua_copy(L, 3, 1);
  neap *to = np_bind_to_engine(L);
  return push_done(L, n, neap_session_copy(n, name, to));
}

const luaL_Reg np_bind_stored[] = {
    {"stored", engine_stored}, {"events", engine_events},
    {"fork", engine_fork},     {"remove_session", engine_remove_session},
    {"replay", engine_replay}, {"export", engine_export},
    {"import", engine_import}, {"flush", engine_flush},
    {"check", engine_check},   {"stats", engine_stats},
    {"vacuum", engine_vacuum}, {"backup", engine_backup},
    {"copy", engine_copy},     {NULL, NULL}};
