/*
** Which entries: ctx:entries{…}. One pass over the log's arrays makes a list of ids; handles
** are made as the loop asks for them. next: span.c
*/
#include "policy/host.h"

typedef struct filter {
  uint32_t kinds, regions, rungs; /* bits; all set when not asked */
  int64_t from, before;           /* steps */
  int64_t except_last, min_tokens;
  int sent, is_error; /* -1: not asked */
  bool newest;        /* first */
  int tools, paths;   /* stack index of a string or a list; 0: not asked */
} filter;

static np_str lua_str(lua_State *L, int index) {
  np_str s;
  s.p = lua_tolstring(L, index, &s.n);
  return s;
}

#define HANDLE 10 /* instructions that making one takes */

/* ---- arguments ---- */

static const char *const kind_names[] = {
#define NP_X(id, name) name,
    NP_KINDS(NP_X)
#undef NP_X
        NULL};

static uint32_t bit_of(lua_State *L, const char *what, const char *const *names) {
  return UINT32_C(1) << np_check_name(L, -1, what, names);
}

/* The string at the top, or the list of strings, as bits. */
static uint32_t check_bits(lua_State *L, const char *what, const char *const *names) {
  if (lua_type(L, -1) != LUA_TTABLE) return bit_of(L, what, names);
  uint32_t bits = 0;
  int list = lua_gettop(L), step = np_pairs_push(L, list);
  while (np_pairs_next(L, step, list)) bits |= bit_of(L, what, names);
  return bits;
}

static uint32_t check_rungs(lua_State *L) {
  const char *names[NP_RUNG_COUNT + 1] = {NULL};
  for (int i = 0; i < NP_RUNG_COUNT; i++) names[i] = np_rung_name((np_rung)i);
  return check_bits(L, "entries: at", names);
}

static uint32_t check_regions(lua_State *L) {
  const char *names[NP_REGION_COUNT + 1] = {NULL};
  for (int i = 0; i < NP_REGION_COUNT; i++) names[i] = np_region_name((np_region)i);
  return check_bits(L, "entries: region", names);
}

/* A number of steps, tokens or entries; a float is rounded down: before = 0.5 * n is fine. */
int64_t np_check_whole(lua_State *L, const char *who, const char *what) {
  if (lua_type(L, -1) != LUA_TNUMBER) {
    luaL_error(L, "%s: %s must be a number, not a %s", who, what, luaL_typename(L, -1));
  }
  if (lua_isinteger(L, -1)) return lua_tointeger(L, -1);
  lua_Number d = lua_tonumber(L, -1);
  if (!(d > -9e15 && d < 9e15))
    luaL_error(L, "%s: %s must be a finite number", who, what);
  int64_t i = (int64_t)d;
  return (lua_Number)i > d ? i - 1 : i;
}

/* A string or a list of strings, with nothing but the keys 1 to n: its length is then what was
** walked here, never a number that a hole makes up. 1: the caller fills in where it stands. */
static int check_names(lua_State *L, const char *what) {
  if (lua_type(L, -1) == LUA_TSTRING) return 1;
  if (lua_type(L, -1) != LUA_TTABLE)
    luaL_error(L, "entries: %s must be a string or a list, not a %s", what,
               luaL_typename(L, -1));
  int list = lua_gettop(L), step = np_pairs_push(L, list);
  for (lua_Integer n = 1; np_pairs_next(L, step, list); n++) {
    if (!lua_isinteger(L, step + 1) || lua_tointeger(L, step + 1) != n)
      luaL_error(L, "entries: %s must be a list of strings, without names and holes",
                 what);
    if (lua_type(L, -1) != LUA_TSTRING)
      luaL_error(L, "entries: %s must be a list of strings; it holds a %s", what,
                 luaL_typename(L, -1));
  }
  return 1;
}

static int check_bool(lua_State *L, const char *what) {
  if (!lua_isboolean(L, -1))
    luaL_error(L, "entries: %s must be true or false, not a %s", what,
               luaL_typename(L, -1));
  return lua_toboolean(L, -1);
}

enum {
  AT,
  BEFORE,
  EXCEPT_LAST,
  FROM,
  ERROR,
  KIND,
  MIN_TOKENS,
  NEWEST,
  PATH,
  REGION,
  SENT,
  TOOL
};
const char *const np_entries_keys[] = {
    "at",     "before", "except_last", "from", "is_error", "kind", "min_tokens",
    "newest", "path",   "region",      "sent", "tool",     NULL};

/* Reads the value at the top for the key. */
static void check_key(lua_State *L, int key, filter *f) {
  switch (key) {
    case AT: f->rungs = check_rungs(L); break;
    case BEFORE: f->before = np_check_whole(L, "entries", "before"); break;
    case EXCEPT_LAST: f->except_last = np_check_whole(L, "entries", "except_last"); break;
    case FROM: f->from = np_check_whole(L, "entries", "from"); break;
    case KIND: f->kinds = check_bits(L, "entries: kind", kind_names); break;
    case MIN_TOKENS: f->min_tokens = np_check_whole(L, "entries", "min_tokens"); break;
    case NEWEST: f->newest = check_bool(L, "newest"); break;
    case REGION: f->regions = check_regions(L); break;
    case SENT: f->sent = check_bool(L, "sent"); break;
    case ERROR: f->is_error = check_bool(L, "is_error"); break;
    case PATH: f->paths = check_names(L, "path"); break;
    default: f->tools = check_names(L, "tool");
  }
}

static int push_key(lua_State *L, const char *key) {
  lua_pushstring(L, key);
  lua_rawget(L, 2);
  return lua_gettop(L);
}

/* The filter in the table at 2, or none. Leaves the lists of names on the stack. */
static filter check_filter(lua_State *L) {
  filter f = {.kinds = UINT32_MAX,
              .regions = UINT32_MAX,
              .rungs = UINT32_MAX,
              .from = INT64_MIN,
              .before = INT64_MAX,
              .sent = -1,
              .is_error = -1};
  if (lua_isnoneornil(L, 2)) return f;
  luaL_checktype(L, 2, LUA_TTABLE);
  int step = np_pairs_push(L, 2);
  while (np_pairs_next(L, step, 2)) {
    check_key(L, np_check_name(L, step + 1, "entries: key", np_entries_keys), &f);
  }
  if (f.tools) f.tools = push_key(L, "tool");
  if (f.paths) f.paths = push_key(L, "path");
  return f;
}

/* ---- the pass ---- */

static bool has_name(lua_State *L, int index, np_str name) {
  if (lua_type(L, index) == LUA_TSTRING) return np_str_eq(lua_str(L, index), name);
  lua_Integer n = (lua_Integer)lua_rawlen(L, index);
  bool found = false;
  for (lua_Integer i = 1; i <= n && !found; i++) {
    lua_rawgeti(L, index, i);
    found = lua_type(L, -1) == LUA_TSTRING && np_str_eq(lua_str(L, -1), name);
    lua_pop(L, 1);
  }
  return found;
}

static bool matches(lua_State *L, const np_pack *p, const np_entry *en, const filter *f) {
  const np_shown *s = np_view_at(&p->view, en->id);
  if (!s->listed || !(f->kinds >> en->kind & 1) || !(f->rungs >> s->rung & 1))
    return false;
  if (!(f->regions >> en->region & 1) || en->region == NP_REGION_FIXED) return false;
  if (en->step < f->from || en->step >= f->before) return false;
  if (s->tokens < f->min_tokens || (f->sent >= 0 && s->sent != (f->sent == 1)))
    return false;
  if (f->is_error >= 0 && en->is_error != (f->is_error == 1)) return false;
  if (np_pack_is_pinned(p, en->id)) return false;
  if (f->paths && !has_name(L, f->paths, en->path)) return false;
  return !f->tools || has_name(L, f->tools, en->tool);
}

/* How many entries of the log the view has taken in. */
static int64_t entry_count(const np_pack *p) {
  return (int64_t)(p->view.count < p->log->entry_count ? p->view.count
                                                       : p->log->entry_count);
}

/* The first entry of step `from` or later, as an index: steps never fall. */
int64_t np_first_of_step(const np_pack *p, int64_t from) {
  int64_t lo = 0, hi = entry_count(p);
  while (lo < hi) {
    int64_t mid = lo + (hi - lo) / 2;
    if (p->log->entries[mid].step < from) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/* The first entry that can match, as an index: what is asked for at rungs that history only
** goes down from begins where such entries begin. */
static int64_t first_match(const np_pack *p, const filter *f) {
  int64_t from = np_first_of_step(p, f->from), first = 0;
  bool shown = !(f->rungs >> NP_DROPPED & 1);
  if (f->sent == 0) first = np_view_first_new(&p->view, shown) - 1;
  if (first > from) from = first;
  if (!shown) return from;
  bool full = f->rungs == UINT32_C(1) << NP_FULL;
  bool hot = f->regions == UINT32_C(1) << NP_REGION_HOT;
  first = np_view_first(&p->view, f->kinds, hot, full) - 1;
  return first > from ? first : from;
}

/* Names in a list, each of which may have to be compared. */
static uint64_t name_count(lua_State *L, int index) {
  return index && lua_type(L, index) == LUA_TTABLE ? lua_rawlen(L, index) : 0;
}

/* Upvalues: the ids, how many, the last one given. */
static int entries_step(lua_State *L) {
  const int64_t *ids = lua_touserdata(L, lua_upvalueindex(1));
  lua_Integer n = lua_tointeger(L, lua_upvalueindex(2));
  lua_Integer i = lua_tointeger(L, lua_upvalueindex(3));
  np_check_handle(L, lua_upvalueindex(4), NP_CONTEXT_TYPE);
  if (i >= n) return 0;
  np_charge(L, HANDLE);
  lua_pushinteger(L, i + 1);
  lua_replace(L, lua_upvalueindex(3));
  np_entry_push(L, ids[i]);
  return 1;
}

static void turn_round(int64_t *ids, lua_Integer n) {
  for (lua_Integer i = 0; i < n / 2; i++) {
    int64_t id = ids[i];
    ids[i] = ids[n - 1 - i];
    ids[n - 1 - i] = id;
  }
}

/* entries{…}: an iterator and how many it gives, oldest first, or newest first where asked. What
** is changed in the loop does not change the list. */
int np_context_entries(lua_State *L) {
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  const np_pack *p = np_host(L)->pack;
  lua_settop(L, 2);
  filter f = check_filter(L);
  int64_t end = entry_count(p), from = first_match(p, &f);
  if (from > end) from = end;
  uint64_t names = name_count(L, f.tools) + name_count(L, f.paths);
  np_charge_slow(L, 20 + (uint64_t)(end - from) * (1 + names));
  int64_t *ids = lua_newuserdatauv(L, (size_t)(end - from + 1) * sizeof *ids, 0);
  lua_Integer n = 0;
  for (int64_t i = from; i < end && p->log->entries[i].step < f.before; i++) {
    if (matches(L, p, &p->log->entries[i], &f)) ids[n++] = i + 1;
  }
  if (f.except_last > 0) n = n > f.except_last ? n - f.except_last : 0;
  if (f.newest) turn_round(ids, n);
  lua_pushinteger(L, n);
  lua_pushinteger(L, 0);
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, entries_step, 4);
  lua_pushinteger(L, n);
  return 2;
}
