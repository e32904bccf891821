/*
** Searching the session's earlier entries from a hook, by the engine's index of words: what
** neap_recall finds, as ids. next: call.c
*/
#include "policy/host.h"

#define QUERY_MAX 4096 /* bytes */
#define ROOM 20        /* ids of one answer */

/* search(query, k): up to k (3) ids, best first; or nil and why nothing can be searched. */
int np_context_search(lua_State *L) {
  int64_t ids[ROOM];
  size_t n = 0;
  np_str query;
  np_err e = {.code = NEAP_OK};
  np_policy *p = np_host(L);
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  luaL_checktype(L, 2, LUA_TSTRING);
  query.p = lua_tolstring(L, 2, &query.n);
  lua_Integer k = luaL_optinteger(L, 3, 3);
  luaL_argcheck(L, query.n <= QUERY_MAX, 2, "a query is at most 4,096 bytes");
  luaL_argcheck(L, k >= 1 && k <= ROOM, 3, "between 1 and 20 entries");
  if (p->ranking) luaL_error(L, "rank may not search; search in assemble");
  if (!p->turn.search) luaL_error(L, "this session has no index to search");
  np_charge_slow(L, 2000 + query.n * 8);
  int64_t since = np_pause();
  neap_rc rc = p->turn.search(p->turn.search_ctx, query, ids, (size_t)k, &n, &e);
  np_resume(p, since);
  if (rc == NEAP_E_MEMORY) return np_break(L, &e);
  if (rc) {
    lua_pushnil(L);
    lua_pushstring(L, e.text);
    return 2;
  }
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushinteger(L, ids[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}
