/*
** e:peek(part, tokens): a part of an entry's text, however large that is: what a policy hands to a
** sub-task. The same forms as neap_read's; capped and charged. next: context.c
*/
#include "policy/host.h"
#include "render/project.h"

#define PLAIN 1000 /* tokens, when the policy names no limit */

typedef struct peek {
  np_arena ar;
  np_buf shown;
} peek;

static int peek_gc(lua_State *L) {
  peek *p = lua_touserdata(L, 1);
  np_buf_free(&p->shown);
  np_arena_free(&p->ar);
  return 0;
}

/* What it holds is freed whatever is raised. */
static peek *peek_new(lua_State *L) {
  peek *p = lua_newuserdatauv(L, sizeof *p, 0);
  np_arena_init(&p->ar, &np_host(L)->alloc);
  np_buf_init(&p->shown, &np_host(L)->alloc);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, peek_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  return p;
}

int np_entry_peek(lua_State *L) {
  const np_handle *h = np_check_handle(L, 1, NP_ENTRY_TYPE);
  const np_pack *pack = np_host(L)->pack;
  np_str text = np_log_entry(pack->log, h->id)->text, words = np_check_str(L, 2);
  lua_Integer tokens = luaL_optinteger(L, 3, PLAIN);
  np_project_ask ask = {.tokens = 0};
  np_projection out;
  np_err e = {0};
  luaL_argcheck(L, tokens > 0 && tokens <= (lua_Integer)(NP_POLICY_TEXT / 8), 3,
                "a limit in tokens");
  if (np_extract_parse(words, &ask.what, &e)) return luaL_error(L, "%s", e.text);
  ask.tokens = (size_t)tokens;
  np_charge_slow(L, 50 + text.n / 16);
  peek *p = peek_new(L);
  neap_rc rc = np_project(pack->view.vocab, text, &ask, &p->ar, &out, &p->shown, &e);
  if (rc == NEAP_E_MEMORY || p->shown.failed) return luaL_error(L, "out of memory");
  if (rc != NEAP_OK) {
    lua_pushnil(L);
    lua_pushstring(L, e.text);
    return 2;
  }
  lua_pushlstring(L, p->shown.p ? p->shown.p : "", p->shown.n);
  return 1;
}
