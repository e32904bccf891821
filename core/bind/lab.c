/*
** What the laboratory needs of a session in bulk: what each prompt showed of every entry, and
** what later steps took from it. Looks only. next: ../cli/main.c
*/
#include "bind/session.h"
#include "render/mark.h"

static lua_Integer tokens_of(const np_view *v, int64_t id) {
  if ((size_t)id > v->count) return 0;
  const np_shown *sh = np_view_at(v, id);
  return sh->listed && sh->rung != NP_DROPPED ? (lua_Integer)sh->tokens : 0;
}

/* What can be used by later steps; what density.lua asks about. */
static bool is_source(np_kind kind) {
  return kind == NP_KIND_RESULT || kind == NP_KIND_USER || kind == NP_KIND_FILE ||
         kind == NP_KIND_MEMORY || kind == NP_KIND_EVIDENCE;
}

/* take_shown(last, runs, step, sources): entries whose tokens in the prompt are others than in
** `last` (entry -> tokens) are put there, and appended to `runs` as entry, step, tokens. With
** `sources` only those that later steps can use. */
static int take_shown(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_Integer step = luaL_checkinteger(L, 4), n = (lua_Integer)lua_rawlen(L, 3);
  bool sources = lua_toboolean(L, 5);
  lua_settop(L, 3);
  for (int64_t id = 1; id <= (int64_t)s->log.entry_count; id++) {
    if (sources && !is_source(s->log.entries[id - 1].kind)) continue;
    lua_Integer now = tokens_of(&s->pack.view, id);
    lua_rawgeti(L, 2, (lua_Integer)id);
    lua_Integer was = lua_tointeger(L, -1);
    bool known = !lua_isnil(L, -1);
    lua_pop(L, 1);
    if (known && was == now) continue;
    lua_pushinteger(L, now);
    lua_rawseti(L, 2, (lua_Integer)id);
    if (!known && !now) continue;
    const lua_Integer run[] = {(lua_Integer)id, step, now};
    for (size_t i = 0; i < NP_COUNT(run); i++) {
      lua_pushinteger(L, run[i]);
      lua_rawseti(L, 3, ++n);
    }
  }
  return 0;
}

/* shows(id, text): whether the text stands in what the prompt shows of the entry. */
static int shows(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  const np_view *v = &s->pack.view;
  const np_entry *en = np_log_entry(&s->log, luaL_checkinteger(L, 2));
  np_str text, there = {0};
  text.p = luaL_checklstring(L, 3, &text.n);
  const np_shown *sh = en && (size_t)en->id <= v->count ? np_view_at(v, en->id) : NULL;
  if (sh && sh->listed && sh->rung != NP_DROPPED)
    there = sh->rung == NP_FULL ? en->text : np_view_text(v, sh->text, &s->text);
  lua_pushboolean(L, there.n && np_str_find(there, text, 0) != SIZE_MAX);
  return 1;
}

/* named(id): whether the notice of what was dropped names the entry. */
static int named(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  lua_Integer id = luaL_checkinteger(L, 2);
  const np_view *v = &s->pack.view;
  lua_pushboolean(L, id > 0 && (size_t)id <= v->count && np_mark_names(v, id));
  return 1;
}

/* by_rung(): tokens of the prompt's entries by how much of each is shown; summaries apart. What
** frames messages, and notices, are in none. */
static int by_rung(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  const np_view *v = &s->pack.view;
  int64_t sums[NP_DROPPED] = {0}, summaries = 0;
  for (int64_t id = 1; id <= (int64_t)v->count; id++) {
    const np_shown *sh = np_view_at(v, id);
    if (!sh->listed || sh->rung >= NP_DROPPED) continue;
    if (s->log.entries[id - 1].kind == NP_KIND_SUMMARY) summaries += sh->tokens;
    else sums[sh->rung] += sh->tokens;
  }
  lua_createtable(L, 0, NP_DROPPED + 1);
  for (int r = 0; r < NP_DROPPED; r++) {
    if (!sums[r]) continue;
    lua_pushinteger(L, (lua_Integer)sums[r]);
    lua_setfield(L, -2, np_rung_name((np_rung)r));
  }
  if (summaries) {
    lua_pushinteger(L, (lua_Integer)summaries);
    lua_setfield(L, -2, "summary");
  }
  return 1;
}

/* kind(id): its kind, without the rest that entry(id) tells. */
static int kind(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  const np_entry *en = np_log_entry(&s->log, luaL_checkinteger(L, 2));
  if (!en) return 0;
  lua_pushstring(L, np_kind_name(en->kind));
  return 1;
}

/* uses(id): the weight of the entry's identifiers, and of each that a later step wrote the last
** such step and its weight, one after the other in a list. */
static int uses(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  const np_entry *en = np_log_entry(&s->log, luaL_checkinteger(L, 2));
  np_err e = {.code = NEAP_OK};
  if (np_log_index_need(&s->log, &e)) return luaL_error(L, "%s", e.text);
  if (!en) return 0;
  size_t at = 0;
  np_cite_use use;
  lua_pushnumber(L, np_cite_weight(s->log.cite, en->key));
  lua_newtable(L);
  for (lua_Integer n = 0; np_cite_use_next(s->log.cite, en->key, &at, &use);) {
    lua_pushinteger(L, (lua_Integer)use.step);
    lua_rawseti(L, -2, ++n);
    lua_pushnumber(L, use.weight);
    lua_rawseti(L, -2, ++n);
  }
  return 2;
}

/* facts([words]): every citation of a fact so far, as the entry that is credited, the step that
** cites and the name, one after the other in a list; or of rare plain words, the second measure. */
static int facts(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  np_err e = {.code = NEAP_OK};
  bool words = lua_toboolean(L, 2);
  if (np_log_index_need(&s->log, &e)) return luaL_error(L, "%s", e.text);
  lua_newtable(L);
  lua_Integer n = 0;
  for (size_t i = 0; i < np_cite_count(s->log.cite); i++) {
    const np_citation *c = np_cite_at(s->log.cite, i);
    if (!c->fact || words != (c->kind == NP_IDENT_WORD) || (words && !c->rare)) continue;
    lua_pushinteger(L, (lua_Integer)c->credited);
    lua_rawseti(L, -2, ++n);
    lua_pushinteger(L, (lua_Integer)c->step);
    lua_rawseti(L, -2, ++n);
    lua_pushlstring(L, c->text.p, c->text.n);
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}

const luaL_Reg np_bind_lab[] = {
    {"take_shown", take_shown}, {"shows", shows},     {"kind", kind},   {"uses", uses},
    {"facts", facts},           {"by_rung", by_rung}, {"named", named}, {NULL, NULL}};

const luaL_Reg np_bind_lab_shadow[] = {{"shadow_take_shown", take_shown},
                                       {"shadow_shows", shows},
                                       {"shadow_named", named},
                                       {"shadow_by_rung", by_rung},
                                       {"shadow_kind", kind},
                                       {"shadow_uses", uses},
                                       {NULL, NULL}};
