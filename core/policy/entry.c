/*
** Entries as a policy sees them: handles with fields that are read from the log, the view
** and the citation index, and requests that the packer carries out or refuses. A handle
** holds an id and the call it belongs to, never a pointer. next: query.c
*/
#include <stdio.h>

#include "policy/host.h"
#include "text/text.h"

#define REQUEST 100 /* instructions for what a change costs in the core */

/* Every field, in the order of the list that np_field searches. */
#define FIELDS(X)                                                                        \
  X(id)                                                                                  \
  X(kind)                                                                                \
  X(region)                                                                              \
  X(rung)                                                                                \
  X(at)                                                                                  \
  X(step)                                                                                \
  X(age)                                                                                 \
  X(tokens)                                                                              \
  X(full_tokens)                                                                         \
  X(tool)                                                                                \
  X(path)                                                                                \
  X(name)                                                                                \
  X(message)                                                                             \
  X(citations)                                                                           \
  X(since_cited)                                                                         \
  X(identifiers)                                                                         \
  X(latest)                                                                              \
  X(written)                                                                             \
  X(worth)                                                                               \
  X(repeated_by)                                                                         \
  X(repeats)                                                                             \
  X(pair)                                                                                \
  X(sent)                                                                                \
  X(hash)                                                                                \
  X(is_error)                                                                            \
  X(refuted)                                                                             \
  X(pinned)                                                                              \
  X(held)                                                                                \
  X(text)

enum {
#define NP_X(name) FIELD_##name,
  FIELDS(NP_X)
#undef NP_X
};

static const char *const fields[] = {
#define NP_X(name) #name,
    FIELDS(NP_X)
#undef NP_X
        NULL};

static np_pack *pack_of(lua_State *L) {
  return np_host(L)->pack;
}

/* Fields are read in loops over whole histories: the type is known by its metatable's place,
** and only what is wrong goes the long way. */
static const np_entry *check_entry(lua_State *L, int arg) {
  const np_policy *p = np_host(L);
  const np_handle *h = lua_touserdata(L, arg);
  bool right = h && lua_getmetatable(L, arg);
  if (right) {
    right = lua_topointer(L, -1) == p->entry_type && h->generation == p->generation;
    lua_pop(L, 1);
  }
  if (!right || !p->pack) h = np_check_handle(L, arg, NP_ENTRY_TYPE);
  const np_entry *en = np_log_entry(p->pack->log, h->id);
  if (!en || (size_t)h->id > p->pack->view.count)
    luaL_error(L,
               "the entry is gone: its fold could not be made again when compact woke");
  return en;
}

void np_entry_push(lua_State *L, int64_t id) {
  np_handle *h = lua_newuserdatauv(L, sizeof *h, 0);
  h->generation = np_host(L)->generation;
  h->id = id;
  luaL_setmetatable(L, NP_ENTRY_TYPE);
}

/* ---- fields ---- */

static void push_str(lua_State *L, np_str s) {
  if (s.n) lua_pushlstring(L, s.p, s.n);
  else lua_pushnil(L);
}

static void push_text(lua_State *L, np_str s, const char *instead) {
  if (s.n > NP_POLICY_TEXT) {
    luaL_error(L, "the text has %I bytes, more than %d; %s", (LUAI_UACINT)s.n,
               (int)NP_POLICY_TEXT, instead);
  }
  np_charge(L, s.n / 64);
  lua_pushlstring(L, s.p, s.n);
}

static void push_hash(lua_State *L, const np_entry *en) {
  uint8_t sha[NP_SHA256];
  char hex[16];
  np_charge_slow(L, 50 + en->text.n / 16);
  np_sha256(en->text, sha);
  np_hex(sha, 8, hex);
  lua_pushlstring(L, hex, 16);
}

static int64_t since_cited(const np_pack *p, const np_entry *en, int64_t last_hit) {
  int64_t last = last_hit > en->step ? last_hit : en->step;
  int64_t since = p->log->step + 1 - last;
  return since < 1 ? 1 : since;
}

static void push_cited(lua_State *L, const np_pack *p, const np_entry *en, int field) {
  np_index_need(L);
  np_cite_stat c = np_log_stat(p->log, en);
  switch (field) {
    case FIELD_citations: lua_pushinteger(L, c.hits); break;
    case FIELD_since_cited: lua_pushinteger(L, since_cited(p, en, c.last_hit)); break;
    case FIELD_identifiers: lua_pushinteger(L, c.identifiers); break;
    case FIELD_latest: lua_pushinteger(L, c.latest); break;
    case FIELD_written: lua_pushinteger(L, c.written); break;
    case FIELD_worth: lua_pushnumber(L, np_cite_worth(&c, &p->ladder.facts)); break;
    default:
      if (c.repeated_by) lua_pushinteger(L, c.repeated_by);
      else lua_pushnil(L);
  }
}

/* The walk over earlier entries is charged. */
static void push_same(lua_State *L, const np_pack *p, const np_entry *en) {
  int64_t same = 0;
  if (en->kind == NP_KIND_RESULT) {
    np_charge_slow(L, (uint64_t)en->id / 16);
    same = np_log_same(p->log, en);
  }
  if (same) lua_pushinteger(L, same);
  else lua_pushnil(L);
}

/* The call of a result, the result of a call: an entry, as the log pairs them. */
static void push_pair(lua_State *L, const np_pack *p, const np_entry *en) {
  if (en->pair > 0 && (size_t)en->pair <= p->view.count) np_entry_push(L, en->pair);
  else lua_pushnil(L);
}

static void push_field(lua_State *L, const np_entry *en, int field) {
  const np_pack *p = pack_of(L);
  const np_shown *s = np_view_at(&p->view, en->id);
  switch (field) {
    case FIELD_id: lua_pushinteger(L, en->id); break;
    case FIELD_kind: lua_pushstring(L, np_kind_name(en->kind)); break;
    case FIELD_region: lua_pushstring(L, np_region_name(en->region)); break;
    case FIELD_rung:
    case FIELD_at: lua_pushstring(L, np_rung_name((np_rung)s->rung)); break;
    case FIELD_step: lua_pushinteger(L, en->step); break;
    case FIELD_age: lua_pushinteger(L, np_pack_age(p, en)); break;
    case FIELD_tokens: lua_pushinteger(L, s->tokens); break;
    case FIELD_full_tokens: lua_pushinteger(L, s->full); break;
    case FIELD_tool: push_str(L, en->tool); break;
    case FIELD_path: push_str(L, en->path); break;
    case FIELD_name: push_str(L, p->log->messages[en->message].name); break;
    case FIELD_message: lua_pushinteger(L, (lua_Integer)en->message + 1); break;
    case FIELD_repeats: push_same(L, p, en); break;
    case FIELD_pair: push_pair(L, p, en); break;
    case FIELD_sent: lua_pushboolean(L, s->sent); break;
    case FIELD_hash: push_hash(L, en); break;
    case FIELD_refuted: {
      const np_turn *t = &np_host(L)->turn;
      lua_pushboolean(L, t->refuted && t->refuted(t->search_ctx, en));
      break;
    }
    case FIELD_is_error: lua_pushboolean(L, en->is_error); break;
    case FIELD_pinned: lua_pushboolean(L, np_pack_is_pinned(p, en->id)); break;
    case FIELD_held: lua_pushboolean(L, np_pack_is_held(p, en->id)); break;
    case FIELD_text: push_text(L, en->text, "read a part with e:lines(from, to)"); break;
    default: push_cited(L, p, en, field);
  }
}

static int entry_index(lua_State *L) {
  const np_entry *en = check_entry(L, 1);
  int field = np_field(L, "an entry's field", fields);
  if (field >= 0) push_field(L, en, field);
  return 1;
}

/* lines(from, to): 1-based, both included, as they came. */
static int entry_lines(lua_State *L) {
  const np_entry *en = check_entry(L, 1);
  lua_Integer from = luaL_checkinteger(L, 2), to = luaL_optinteger(L, 3, from);
  luaL_argcheck(L, from >= 1, 2, "lines count from 1");
  np_charge_slow(L, en->text.n / 16);
  np_str s =
      to < from ? np_str_of("", 0) : np_lines_slice(en->text, (size_t)from, (size_t)to);
  push_text(L, s, "ask for fewer lines");
  return 1;
}

/* output(): what a result is by its text and the call that made it: { kind, tokens, keep,
** careful }. */
static int entry_output(lua_State *L) {
  const np_entry *en = check_entry(L, 1), *call = NULL;
  if (en->kind == NP_KIND_RESULT && en->pair > 0)
    call = np_log_entry(pack_of(L)->log, en->pair);
  np_str args = call ? np_str_cut(call->text, 0, 1800) : np_str_of("", 0), hint;
  lua_settop(L, 1);
  lua_pushlstring(L, en->tool.n ? en->tool.p : "", en->tool.n < 100 ? en->tool.n : 100);
  lua_pushliteral(L, " ");
  lua_pushlstring(L, args.p, args.n);
  lua_concat(L, 3);
  hint.p = lua_tolstring(L, -1, &hint.n);
  return np_grammar_kind(L, en->text, hint);
}

static int entry_eq(lua_State *L) {
  const np_handle *a = luaL_testudata(L, 1, NP_ENTRY_TYPE);
  const np_handle *b = luaL_testudata(L, 2, NP_ENTRY_TYPE);
  lua_pushboolean(L, a && b && a->id == b->id && a->generation == b->generation);
  return 1;
}

static int entry_tostring(lua_State *L) {
  const np_handle *h = luaL_checkudata(L, 1, NP_ENTRY_TYPE);
  lua_pushfstring(L, "entry %I", (LUAI_UACINT)h->id);
  return 1;
}

/* ---- requests ---- */

/* true; or false and why not. */
static int push_verdict(lua_State *L, np_verdict v) {
  np_err e;
  if (v == NP_NO_MEMORY) {
    np_fail_mem(&e);
    return np_break(L, &e);
  }
  lua_pushboolean(L, v == NP_DONE);
  if (v == NP_DONE) return 1;
  const char *why = pack_of(L)->refusal;
  lua_pushstring(L, v == NP_SAME ? "nothing to do: so already, or not cheaper"
                    : why        ? why
                                 : "refused");
  return 2;
}

typedef np_verdict (*request)(np_pack *p, int64_t id, np_reason r);

/* e:mask(why) and its like. */
static int simple_request(lua_State *L, request f, const char *why) {
  char by[LUA_IDSIZE + 24];
  np_policy *p = np_host(L);
  const np_entry *en = check_entry(L, 1);
  np_check_change(L);
  np_reason r = {np_str_cstr(why), np_by_line(L, by, sizeof by)};
  if (!lua_isnoneornil(L, 2)) {
    luaL_checktype(L, 2, LUA_TSTRING);
    r.why.p = lua_tolstring(L, 2, &r.why.n);
    luaL_argcheck(L, r.why.n <= 200 && np_utf8_valid(r.why) == r.why.n, 2,
                  "a reason is at most 200 bytes of UTF-8");
  }
  np_charge_slow(L, REQUEST);
  int64_t since = np_pause();
  np_verdict v = f(p->pack, en->id, r);
  np_resume(p, since);
  return push_verdict(L, v);
}

static int entry_reference(lua_State *L) {
  return simple_request(L, np_pack_reference, "reference");
}

static int entry_mask(lua_State *L) {
  return simple_request(L, np_pack_mask, "mask");
}

static int entry_drop(lua_State *L) {
  return simple_request(L, np_pack_drop, "drop");
}

static int entry_restore(lua_State *L) {
  return simple_request(L, np_pack_restore, "restore");
}

typedef struct trim_args {
  int64_t tokens, lines;
  np_keep keep;
  bool keep_set;
  np_str about, why;
} trim_args;

static np_str check_field_text(lua_State *L, const char *field, size_t most) {
  np_str s;
  if (lua_type(L, -1) != LUA_TSTRING) {
    luaL_error(L, "trim: %s must be a string, not a %s", field, luaL_typename(L, -1));
  }
  s.p = lua_tolstring(L, -1, &s.n); /* the argument table keeps it */
  if (s.n > most || np_utf8_valid(s) != s.n) {
    luaL_error(L, "trim: %s is longer than %d bytes, or not UTF-8", field, (int)most);
  }
  return s;
}

/* A number of at least 1; what is behind its point does not count: 0.1 * ctx.budget is fine. */
static int64_t check_field_count(lua_State *L, const char *field) {
  if (lua_type(L, -1) != LUA_TNUMBER || !(lua_tonumber(L, -1) >= 1) ||
      lua_tonumber(L, -1) > 9e15) {
    luaL_error(L, "trim: %s must be a number of at least 1", field);
  }
  return (int64_t)lua_tonumber(L, -1);
}

const char *const np_trim_keys[] = {"about", "keep", "lines", "tokens", "why", NULL};

/* trim{tokens=, lines=, keep=, about=, why=}: all may be left out. */
static trim_args check_trim(lua_State *L) {
  trim_args t = {.about = NP_LIT(""), .why = NP_LIT("trim")};
  if (lua_isnoneornil(L, 2)) return t;
  luaL_checktype(L, 2, LUA_TTABLE);
  int step = np_pairs_push(L, 2);
  while (np_pairs_next(L, step, 2)) {
    switch (np_check_name(L, step + 1, "trim: argument", np_trim_keys)) {
      case 0: t.about = check_field_text(L, "about", 4096); break;
      case 1:
        t.keep_set = np_keep_parse(check_field_text(L, "keep", 20), &t.keep);
        if (!t.keep_set) {
          luaL_error(L, "trim: keep must be ends, head, tail, errors, dense or about");
        }
        break;
      case 2: t.lines = check_field_count(L, "lines"); break;
      case 3: t.tokens = check_field_count(L, "tokens"); break;
      default: t.why = check_field_text(L, "why", 200);
    }
  }
  if (t.keep_set && t.keep == NP_KEEP_ABOUT && t.about.n == 0) {
    luaL_error(L, "trim: keep = \"about\" needs about = \"words\"");
  }
  return t;
}

static int entry_trim(lua_State *L) {
  char by[LUA_IDSIZE + 24];
  np_policy *p = np_host(L);
  const np_entry *en = check_entry(L, 1);
  np_check_change(L);
  trim_args t = check_trim(L);
  np_reason r = {t.why, np_by_line(L, by, sizeof by)};
  bool searches = t.keep_set && t.keep == NP_KEEP_ABOUT; /* takes five times as long */
  np_charge_slow(L, REQUEST + en->text.n / (searches ? 2 : 8) + t.about.n);
  int64_t since = np_pause();
  np_trim_want want = {t.tokens, t.lines, t.keep_set ? &t.keep : NULL, t.about};
  np_verdict v = np_pack_trim(p->pack, en->id, want, r);
  np_resume(p, since);
  return push_verdict(L, v);
}

static int entry_pin(lua_State *L) {
  return simple_request(L, np_pack_pin, "pin");
}

static int entry_hold(lua_State *L) {
  return simple_request(L, np_pack_hold, "hold");
}

void np_entry_open(lua_State *L) {
  static const luaL_Reg methods[] = {{"trim", entry_trim},
                                     {"reference", entry_reference},
                                     {"mask", entry_mask},
                                     {"drop", entry_drop},
                                     {"restore", entry_restore},
                                     {"pin", entry_pin},
                                     {"hold", entry_hold},
                                     {"lines", entry_lines},
                                     {"output", entry_output},
                                     {"peek", np_entry_peek},
                                     {NULL, NULL}};
  np_open_handle(L, NP_ENTRY_TYPE, entry_index, fields, methods);
  luaL_getmetatable(L, NP_ENTRY_TYPE);
  np_host(L)->entry_type = lua_topointer(L, -1);
  lua_pushcfunction(L, entry_eq);
  lua_setfield(L, -2, "__eq");
  lua_pushcfunction(L, entry_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pop(L, 1);
}
