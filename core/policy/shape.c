/*
** The table that a policy returns, field by field: what is unknown, of the wrong type or for
** another version of neap is an error that names the field and what would be right. Reads
** with raw access only: no metatable of a policy runs here. next: options.c
*/
#include <stdio.h>

#include "policy/host.h"
#include "text/text.h"

static np_str lua_str(lua_State *L, int index) {
  np_str s;
  s.p = lua_tolstring(L, index, &s.n);
  return s;
}

np_str np_keep_text(lua_State *L, int index) {
  np_str out;
  np_err e;
  if (np_arena_copy(&np_host(L)->arena, lua_str(L, index), &out)) return out;
  np_fail_mem(&e);
  np_break(L, &e);
  return (np_str){"", 0};
}

/* ---- names ---- */

#define LONGEST 24

static unsigned lower(unsigned a, unsigned b) {
  return a < b ? a : b;
}

/* Edits between two names (insert, delete, change, or swap two neighbours: the optimal string
** alignment distance), or 99 when one is long. Row i % 3 holds the distances from the first i
** letters of `a`; a swap looks two rows back. */
static unsigned distance(np_str a, np_str b) {
  unsigned rows[3][LONGEST + 1];
  if (a.n > LONGEST || b.n > LONGEST) return 99;
  for (unsigned j = 0; j <= b.n; j++) rows[0][j] = j;
  for (unsigned i = 1; i <= a.n; i++) {
    unsigned *row = rows[i % 3], *last = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
    row[0] = i;
    for (unsigned j = 1; j <= b.n; j++) {
      row[j] = last[j - 1] + (a.p[i - 1] != b.p[j - 1]);
      row[j] = lower(row[j], lower(last[j], row[j - 1]) + 1);
      bool swapped =
          i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1];
      if (swapped) row[j] = lower(row[j], second[j - 2] + 1);
    }
  }
  return rows[a.n % 3][b.n];
}

static const char *nearest(np_str name, const char *const *names) {
  const char *found = NULL;
  unsigned least = (unsigned)(name.n < 6 ? 3 : 4);
  for (; *names; names++) {
    unsigned d = distance(name, np_str_cstr(*names));
    if (d < least) {
      least = d;
      found = *names;
    }
  }
  return found;
}

int np_unknown(lua_State *L, const char *what, np_str name, const char *const *names) {
  char list[400] = "";
  size_t n = 0;
  const char *near = nearest(name, names);
  for (const char *const *p = names; *p && n < sizeof list - 50; p++) {
    n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", *p);
  }
  lua_pushlstring(L, name.p, name.n < 40 ? name.n : 40);
  if (near) {
    return luaL_error(L, "%s '%s' is not known; did you mean '%s'? There are: %s", what,
                      lua_tostring(L, -1), near, list);
  }
  return luaL_error(L, "%s '%s' is not known; there are: %s", what, lua_tostring(L, -1),
                    *list ? list : "none");
}

int np_check_name(lua_State *L, int arg, const char *what, const char *const *names) {
  if (lua_type(L, arg) != LUA_TSTRING) {
    return luaL_error(L, "%s must be a string, not a %s", what, luaL_typename(L, arg));
  }
  np_str s = lua_str(L, arg);
  for (int i = 0; names[i]; i++) {
    if (np_str_is(s, names[i])) return i;
  }
  return np_unknown(L, what, s, names);
}

/* ---- fields ---- */

/* Each reads the value on top of the stack, which may be nil, and leaves it there. */
typedef void (*reader)(lua_State *L, np_policy *p, const char *field);

static void read_api(lua_State *L, np_policy *p, const char *field) {
  (void)p;
  (void)field;
  if (lua_isinteger(L, -1) && lua_tointeger(L, -1) == NEAP_POLICY_API) return;
  if (lua_isnil(L, -1))
    luaL_error(L, "field 'api' is missing; write api = %d", NEAP_POLICY_API);
  luaL_error(L, "field 'api' is not %d; this is neap %s, whose policies have api = %d",
             NEAP_POLICY_API, NEAP_VERSION, NEAP_POLICY_API);
}

static np_str read_string(lua_State *L, const char *field, np_str absent) {
  if (lua_isnil(L, -1)) return absent;
  if (lua_type(L, -1) != LUA_TSTRING) {
    luaL_error(L, "field '%s' must be a string, not a %s", field, luaL_typename(L, -1));
  }
  np_str s = lua_str(L, -1);
  if (np_utf8_valid(s) != s.n) luaL_error(L, "field '%s' is not UTF-8", field);
  return np_keep_text(L, -1);
}

static void read_text(lua_State *L, np_policy *p, const char *field) {
  np_str *slot = *field == 'n'   ? &p->info.name
                 : *field == 'a' ? &p->info.about
                                 : &p->info.source;
  *slot = read_string(L, field, *slot);
  if (*field == 'n' && (slot->n == 0 || slot->n > 64)) {
    luaL_error(L, "field 'name' must have 1 to 64 bytes");
  }
}

static void read_tools(lua_State *L, np_policy *p, const char *field) {
  static const char *const tools[] = {"read",     "recall",  "tools", "state",
                                      "pointers", "scratch", NULL};
  if (lua_isnil(L, -1)) return;
  if (lua_type(L, -1) != LUA_TTABLE)
    luaL_error(L, "field '%s' must be a list of names", field);
  int list = lua_gettop(L), step = np_pairs_push(L, list);
  while (np_pairs_next(L, step, list)) {
    int which = np_check_name(L, step + 2, "tool", tools);
    if (which == 4) p->info.wants_pointers = true;
    *(which == 5   ? &p->info.wants_scratch
      : which == 3 ? &p->info.wants_state
      : which == 2 ? &p->info.wants_catalogue
                   : &p->info.wants_tools) = true;
  }
}

static void read_bound(lua_State *L, const char *region, int field, np_bounds *b) {
  bool whole = lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 1;
  double n = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;
  if (field == 2) {
    if (!(n > 0 && n <= 1))
      luaL_error(L, "layout: %s.share must be above 0, at most 1", region);
    b->share = n;
    return;
  }
  if (!whole) {
    luaL_error(L, "layout: %s.%s must be a whole number of at least 1", region,
               field ? "min" : "max");
  }
  *(field ? &b->min : &b->max) = lua_tointeger(L, -1);
}

/* { "warm", min = 500, max = 4000, share = 0.2 } */
static void read_bounds(lua_State *L, int index, const char *region, np_bounds *b) {
  static const char *const fields[] = {"max", "min", "share", NULL};
  int step = np_pairs_push(L, index);
  while (np_pairs_next(L, step, index)) {
    if (lua_isinteger(L, step + 1) && lua_tointeger(L, step + 1) == 1) continue;
    int field = np_check_name(L, step + 1, "layout: field", fields);
    read_bound(L, region, field, b);
  }
  if (b->max && b->min > b->max)
    luaL_error(L, "layout: %s.min is more than its max", region);
}

/* The region becomes the n-th; those it goes before keep their order. */
static void put_region(np_layout *l, size_t n, np_region r) {
  size_t i = n;
  while (l->order[i] != r) i++;
  for (; i > n; i--) l->order[i] = l->order[i - 1];
  l->order[n] = r;
}

static void read_place(lua_State *L, np_policy *p, const char *field) {
  static const char *const places[] = {"head", "tail", NULL};
  if (lua_isnil(L, -1)) return;
  p->info.layout.head = np_check_name(L, -1, field, places) == 0;
}

/* The regions between the task and the end, in order, and what each may have. The hot one is
** always the last. */
static void read_layout(lua_State *L, np_policy *p, const char *field) {
  static const char *const regions[] = {"hot", "memory", "state", "warm", NULL};
  static const np_region numbers[] = {NP_REGION_HOT, NP_REGION_MEMORY, NP_REGION_STATE,
                                      NP_REGION_WARM};
  bool seen[4] = {false};
  size_t n = 0;
  if (lua_isnil(L, -1)) return;
  if (lua_type(L, -1) != LUA_TTABLE)
    luaL_error(L, "field '%s' must be a list of regions", field);
  int list = lua_gettop(L), step = np_pairs_push(L, list);
  while (np_pairs_next(L, step, list)) {
    bool bounded = lua_type(L, step + 2) == LUA_TTABLE;
    if (bounded) lua_rawgeti(L, step + 2, 1);
    else lua_pushvalue(L, step + 2);
    int i = np_check_name(L, -1, "layout: region", regions);
    lua_pop(L, 1);
    if (seen[0]) luaL_error(L, "layout: region 'hot' is always the last");
    if (seen[i]) luaL_error(L, "layout: region '%s' stands twice", regions[i]);
    seen[i] = true;
    if (i) put_region(&p->info.layout, n++, numbers[i]);
    if (bounded) read_bounds(L, step + 2, regions[i], &p->info.bounds[numbers[i]]);
  }
}

static void read_order(lua_State *L, np_policy *p, const char *field) {
  static const char *const orders[] = {"rank", "value", NULL};
  (void)field;
  if (lua_isnil(L, -1)) return;
  p->info.order = np_check_name(L, -1, "order", orders) ? NP_ORDER_VALUE : NP_ORDER_RANK;
}

static void read_on_error(lua_State *L, np_policy *p, const char *field) {
  static const char *const ways[] = {"skip", "fail", NULL};
  if (lua_isnil(L, -1)) return;
  p->info.fail_on_error = np_check_name(L, -1, field, ways) == 1;
}

static void read_version(lua_State *L, np_policy *p, const char *field) {
  if (lua_isnil(L, -1)) return;
  if (!lua_isinteger(L, -1)) luaL_error(L, "field '%s' must be a whole number", field);
  p->state_version = lua_tointeger(L, -1);
}

/* tokens = 250, or a list, each less than the one before. */
static void read_trims(lua_State *L, np_ladder *ladder) {
  int list = lua_gettop(L);
  bool many = lua_type(L, list) == LUA_TTABLE;
  lua_Integer n = many ? (lua_Integer)lua_rawlen(L, list) : 1;
  if (n < 1 || n > NP_TRIMS)
    luaL_error(L, "ladder.trimmed.tokens may list 1 to %d sizes", NP_TRIMS);
  for (lua_Integer i = 0; i < n; i++) {
    if (many) lua_rawgeti(L, list, i + 1);
    else lua_pushvalue(L, list);
    if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 1) {
      luaL_error(L, "ladder.trimmed.tokens must be a whole number of at least 1");
    }
    ladder->tokens[i] = lua_tointeger(L, -1);
    if (i && ladder->tokens[i] >= ladder->tokens[i - 1])
      luaL_error(L, "ladder.trimmed.tokens must list the larger before the smaller");
    lua_pop(L, 1);
  }
}

static void read_keep(lua_State *L, np_ladder *ladder) {
  if (lua_type(L, -1) != LUA_TSTRING || !np_keep_parse(lua_str(L, -1), &ladder->keep) ||
      ladder->keep == NP_KEEP_ABOUT) {
    luaL_error(L, "ladder.trimmed.keep must be ends, head, tail, errors or dense");
  }
  ladder->keep_set = true;
}

static void read_trimmed(lua_State *L, int index, np_ladder *ladder) {
  static const char *const fields[] = {"keep", "tokens", "worth", NULL};
  int step = np_pairs_push(L, index);
  while (np_pairs_next(L, step, index)) {
    int field = np_check_name(L, step + 1, "ladder.trimmed: field", fields);
    if (field == 0) read_keep(L, ladder);
    else if (field == 1) read_trims(L, ladder);
    else if (lua_type(L, -1) == LUA_TSTRING && np_str_is(lua_str(L, -1), "shown"))
      ladder->by_shown = true;
    else luaL_error(L, "ladder.trimmed.worth can only be \"shown\"");
  }
}

/* { worth = 0.1 }: what is left of an entry's value. */
static void read_worth(lua_State *L, int index, const char *rung, double *worth) {
  static const char *const fields[] = {"worth", NULL};
  int step = np_pairs_push(L, index);
  while (np_pairs_next(L, step, index)) {
    np_check_name(L, step + 1, "ladder: field", fields);
    double x = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;
    if (!(x >= 0 && x <= 1))
      luaL_error(L, "ladder.%s.worth must be a number from 0 to 1", rung);
    *worth = x;
  }
}

static void read_dropped(lua_State *L, int index, np_ladder *ladder) {
  static const char *const fields[] = {"named", NULL};
  int step = np_pairs_push(L, index);
  while (np_pairs_next(L, step, index)) {
    np_check_name(L, step + 1, "ladder.dropped: field", fields);
    double x = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;
    if (!(x >= 0)) luaL_error(L, "ladder.dropped.named must be a number of at least 0");
    ladder->named = x;
  }
}

/* ladder = { trimmed = { tokens = { 1000, 250 }, keep = "dense", worth = "shown" },
**            reference = { worth = 0.3 }, masked = { worth = 0.1 }, dropped = { named = 2 } } */
static void read_ladder(lua_State *L, np_policy *p, const char *field) {
  static const char *const rungs[] = {"dropped", "masked", "reference", "trimmed", NULL};
  np_ladder *ladder = &p->info.ladder;
  if (lua_isnil(L, -1)) return;
  if (lua_type(L, -1) != LUA_TTABLE) luaL_error(L, "field '%s' must be a table", field);
  int list = lua_gettop(L), step = np_pairs_push(L, list);
  ladder->worth_set = true;
  ladder->reference = 0.3;
  ladder->masked = 0.1;
  while (np_pairs_next(L, step, list)) {
    int rung = np_check_name(L, step + 1, "ladder: rung", rungs);
    if (lua_type(L, step + 2) != LUA_TTABLE)
      luaL_error(L, "ladder.%s must be a table", rungs[rung]);
    if (rung == 0) read_dropped(L, step + 2, ladder);
    else if (rung == 3) read_trimmed(L, step + 2, ladder);
    else
      read_worth(L, step + 2, rungs[rung],
                 rung == 2 ? &ladder->reference : &ladder->masked);
  }
}

/* facts = { name = 1, number = 0.3, word = 0.2, written = 8, again = 8 } */
static void read_facts(lua_State *L, np_policy *p, const char *field) {
  static const char *const names[] = {"again", "name", "number", "word", "written", NULL};
  np_ladder *ladder = &p->info.ladder;
  np_cite_weights *w = &ladder->facts;
  double *const at[] = {&w->again, &w->name, &w->number, &w->word, &w->written};
  *w = (np_cite_weights){.name = 1, .number = 1};
  if (lua_isnil(L, -1)) return;
  if (lua_type(L, -1) != LUA_TTABLE) luaL_error(L, "field '%s' must be a table", field);
  int list = lua_gettop(L), step = np_pairs_push(L, list);
  while (np_pairs_next(L, step, list)) {
    int name = np_check_name(L, step + 1, "facts: field", names);
    double x = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;
    if (!(x >= 0 && x <= 1000))
      luaL_error(L, "facts.%s must be a number from 0 to 1000", names[name]);
    *at[name] = x;
  }
  ladder->by_facts = true;
}

static void read_hook(lua_State *L, np_policy *p, const char *field) {
  static const char *const names[] = {
#define NP_X(id, name) name,
      NP_HOOKS(NP_X)
#undef NP_X
  };
  if (lua_isnil(L, -1)) return;
  if (lua_type(L, -1) != LUA_TFUNCTION) {
    luaL_error(L, "hook '%s' must be a function, not a %s", field, luaL_typename(L, -1));
  }
  int i = 0;
  while (strcmp(names[i], field) != 0) i++;
  lua_pushvalue(L, -1);
  p->hooks[i] = luaL_ref(L, LUA_REGISTRYINDEX);
}

static void read_nothing(lua_State *L, np_policy *p, const char *field) {
  (void)L;
  (void)p;
  (void)field;
}

/* Every field there is. */
#define FIELDS(X)                                                                        \
  X(api, read_api)                                                                       \
  X(name, read_text)                                                                     \
  X(about, read_text)                                                                    \
  X(source, read_text)                                                                   \
  X(options, read_nothing)                                                               \
  X(tools, read_tools)                                                                   \
  X(layout, read_layout)                                                                 \
  X(place, read_place)                                                                   \
  X(order, read_order)                                                                   \
  X(facts, read_facts)                                                                   \
  X(ladder, read_ladder)                                                                 \
  X(state_version, read_version)                                                         \
  X(on_error, read_on_error)                                                             \
  X(admit, read_hook)                                                                    \
  X(rank, read_hook)                                                                     \
  X(compact, read_hook)                                                                  \
  X(assemble, read_hook)                                                                 \
  X(overflow, read_hook)                                                                 \
  X(recall, read_hook)                                                                   \
  X(migrate, read_hook)                                                                  \
  X(selftest, read_hook)

const char *const np_policy_keys[] = {
#define NP_X(name, f) #name,
    FIELDS(NP_X)
#undef NP_X
        NULL};

static const reader readers[] = {
#define NP_X(name, f) f,
    FIELDS(NP_X)
#undef NP_X
};

static void check_unknown(lua_State *L, int index) {
  int step = np_pairs_push(L, index);
  while (np_pairs_next(L, step, index)) {
    if (lua_type(L, step + 1) != LUA_TSTRING) {
      luaL_error(L, "the policy's table holds a value without a name; name each field");
    }
    np_check_name(L, step + 1, "field", np_policy_keys);
  }
}

void np_shape_read(lua_State *L, int index, np_str overrides) {
  np_policy *p = np_host(L);
  index = lua_absindex(L, index);
  if (lua_type(L, index) != LUA_TTABLE) {
    luaL_error(L, "returns a %s; a policy ends with return { api = %d, … }",
               luaL_typename(L, index), NEAP_POLICY_API);
  }
  luaL_checkstack(L, 20, "policy");
  for (int i = 0; np_policy_keys[i]; i++) {
    lua_pushstring(L, np_policy_keys[i]);
    lua_rawget(L, index);
    readers[i](L, p, np_policy_keys[i]);
    lua_settop(L, index);
    if (i == 0) {
      if (lua_getmetatable(L, index)) {
        luaL_error(L, "the policy's table has a metatable; return a plain one");
      }
      lua_settop(L, index);
      check_unknown(L, index); /* another api has other fields: that is said first */
    }
  }
  lua_pushliteral(L, "options");
  lua_rawget(L, index);
  np_options_read(L, -1, overrides);
  lua_settop(L, index);
}
