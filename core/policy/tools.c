/*
** ctx:tools: without an argument what there is, with one what is to be shown. Tools have
** names, no entries. next: ask.c
*/
#include "policy/host.h"

#define NAMES 5 /* in one message */

static np_str lua_str(lua_State *L, int index) {
  np_str s;
  s.p = lua_tolstring(L, index, &s.n);
  return s;
}

/* ---- the list ---- */

static void set_int(lua_State *L, const char *key, int64_t v) {
  lua_pushinteger(L, (lua_Integer)v);
  lua_setfield(L, -2, key);
}

static void set_bool(lua_State *L, const char *key, bool v) {
  lua_pushboolean(L, v);
  lua_setfield(L, -2, key);
}

static void push_item(lua_State *L, np_pack *p, size_t i) {
  const np_tool_item *it = &p->tools.items[i];
  lua_createtable(L, 0, 8);
  lua_pushlstring(L, it->name.p, it->name.n);
  lua_setfield(L, -2, "name");
  set_int(L, "tokens", np_pack_tool_tokens(p, i));
  set_int(L, "calls", it->calls);
  if (it->calls) set_int(L, "last", it->last);
  set_bool(L, "shown", it->bits & NP_TOOL_SHOWN);
  set_bool(L, "named", p->tools.named[i]);
  set_bool(L, "found", it->bits & NP_TOOL_FOUND);
  set_bool(L, "fixed", it->fixed);
}

static int push_list(lua_State *L) {
  np_pack *p = np_host(L)->pack;
  const np_toolset *t = &p->tools;
  np_charge_slow(L, 10 * t->count + p->log->entry_count / 16 + t->all.n / 16);
  np_pack_tools_named(p);
  lua_createtable(L, t->count < 1000 ? (int)t->count : 0, 0);
  for (size_t i = 0; i < t->count; i++) {
    push_item(L, p, i);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  if (p->view.lost) {
    np_err e;
    np_fail_mem(&e);
    return np_break(L, &e);
  }
  return 1;
}

/* ---- the wish ---- */

typedef struct wish {
  bool *wanted; /* by item, of the state's memory */
  bool drop;    /* the list names what is not wanted */
  int list;     /* stack index */
} wish;

/* Those of the name at the top; an unknown one is no wish at all. */
static bool take_name(lua_State *L, const np_toolset *t, wish *w) {
  size_t from, to;
  if (lua_type(L, -1) != LUA_TSTRING)
    luaL_error(L, "tools: a tool is given by its name, not by a %s",
               luaL_typename(L, -1));
  if (!np_toolset_find(t, lua_str(L, -1), &from, &to)) return false;
  for (; from < to; from++) w->wanted[t->by_name[from]] = !w->drop;
  return true;
}

const char *const np_tools_keys[] = {"drop", "keep", "why", NULL};

/* {"a", "b"}, {keep = {…}}, {drop = {…}}; why may stand beside them. */
static void read_wish(lua_State *L, wish *w, np_str *why) {
  luaL_checktype(L, 2, LUA_TTABLE);
  w->list = 0;
  bool plain = lua_rawlen(L, 2) > 0;
  int step = np_pairs_push(L, 2);
  while (np_pairs_next(L, step, 2)) {
    if (plain && lua_isinteger(L, step + 1)) continue;
    int key = np_check_name(L, step + 1, "tools: key", np_tools_keys);
    if (key == 2) {
      *why = np_check_why(L, step + 2, "");
      continue;
    }
    if (w->list || plain) luaL_error(L, "tools: give one list: names, keep or drop");
    luaL_checktype(L, step + 2, LUA_TTABLE);
    w->drop = key == 0;
    w->list = -1;
  }
  lua_settop(L, 2);
  if (!plain && !w->list)
    luaL_error(L, "tools: give the names to show, or keep = {…}, or drop = {…}");
  if (!plain) {
    lua_pushstring(L, w->drop ? "drop" : "keep");
    lua_rawget(L, 2);
  }
  w->list = lua_gettop(L);
}

static int push_no(lua_State *L, const char *why) {
  lua_pushboolean(L, 0);
  lua_pushstring(L, why);
  return 2;
}

static int push_unknown(lua_State *L, np_pack *p, np_str name) {
  const np_toolset *t = &p->tools;
  luaL_Buffer b;
  p->refusals++;
  lua_pushboolean(L, 0);
  lua_pushlstring(L, name.p, name.n < 60 ? name.n : 60);
  name = lua_str(L, -1); /* kept on the stack */
  luaL_buffinit(L, &b);
  luaL_addstring(&b, "there is no tool '");
  luaL_addlstring(&b, name.p, name.n);
  luaL_addstring(&b, t->count ? "'; there are: " : "'; there are none");
  for (size_t i = 0; i < t->count && i < 20; i++) {
    if (i) luaL_addstring(&b, ", ");
    luaL_addlstring(&b, t->items[i].name.p, t->items[i].name.n);
  }
  if (t->count > 20) luaL_addstring(&b, ", …");
  luaL_pushresult(&b);
  lua_remove(L, -2);
  return 2;
}

/* ---- what has come of it ---- */

typedef enum delay { IN_FORCE, NAMED, REQUESTED, LOOKED_FOR, LATER, NO_ROOM } delay;

static delay delay_of(const np_pack *p, size_t i) {
  const np_tool_item *it = &p->tools.items[i];
  bool shown = it->bits & NP_TOOL_SHOWN, wanted = it->bits & NP_TOOL_WANTED;
  bool now = np_frame_rewrites(&p->frame, &p->view);
  if (shown == wanted || it->ours) return IN_FORCE;
  if (!shown) return now ? NO_ROOM : LATER;
  if (it->fixed) return REQUESTED;
  if (it->bits & NP_TOOL_FOUND) return LOOKED_FOR;
  return p->tools.named[i] ? NAMED : LATER;
}

/* Each reason with the tools that it holds for. */
static int push_outcome(lua_State *L, np_pack *p) {
  static const char *const texts[] = {"",
                                      "named in visible history",
                                      "the request names it",
                                      "the model has looked for it",
                                      "at the next rewrite",
                                      "no room"};
  luaL_Buffer b;
  bool any = false;
  np_pack_tools_named(p);
  lua_pushboolean(L, 0);
  luaL_buffinit(L, &b);
  for (int d = NAMED; d <= NO_ROOM; d++) {
    size_t n = 0;
    for (size_t i = 0; i < p->tools.count; i++) {
      if (delay_of(p, i) != (delay)d) continue;
      if (n++ >= NAMES) continue;
      luaL_addstring(&b, n > 1 ? ", " : any ? "; " : "");
      luaL_addlstring(&b, p->tools.items[i].name.p, p->tools.items[i].name.n);
      any = true;
    }
    if (n > NAMES) luaL_addstring(&b, ", …");
    if (n) luaL_addstring(&b, ": ");
    if (n) luaL_addstring(&b, texts[d]);
  }
  luaL_pushresult(&b);
  if (any) return 2;
  lua_pop(L, 2);
  lua_pushboolean(L, 1);
  return 1;
}

static void check_hook(lua_State *L) {
  const np_policy *p = np_host(L);
  np_check_change(L);
  if (p->hook == NP_HOOK_ASSEMBLE || p->hook == NP_HOOK_OVERFLOW) return;
  luaL_error(L, "tools are chosen in assemble and in overflow");
}

int np_context_tools(lua_State *L) {
  char by[LUA_IDSIZE + 24];
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  if (lua_isnoneornil(L, 2)) return push_list(L);
  check_hook(L);
  np_policy *p = np_host(L);
  np_pack *pack = p->pack;
  const np_toolset *t = &pack->tools;
  np_reason r = {NP_LIT("tools"), np_by_line(L, by, sizeof by)};
  wish w = {.list = 0};
  read_wish(L, &w, &r.why);
  if (!r.why.n) r.why = NP_LIT("tools");
  np_charge_slow(L, 10 * t->count + pack->log->entry_count / 16 + t->all.n / 16);
  w.wanted = lua_newuserdatauv(L, t->count + 1, 0);
  for (size_t i = 0; i < t->count; i++) w.wanted[i] = w.drop;
  int step = np_pairs_push(L, w.list);
  while (np_pairs_next(L, step, w.list)) {
    if (lua_isinteger(L, step + 1) && !take_name(L, t, &w))
      return push_unknown(L, pack, lua_str(L, -1));
  }
  int64_t since = np_pause();
  np_verdict v = np_pack_tools_want(pack, w.wanted, p->hook == NP_HOOK_OVERFLOW, r);
  np_resume(p, since);
  if (v == NP_NO_MEMORY) {
    np_err e;
    np_fail_mem(&e);
    return np_break(L, &e);
  }
  return v == NP_REFUSED ? push_no(L, pack->refusal) : push_outcome(L, pack);
}
