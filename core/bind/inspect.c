/*
** Looking into a session: entries, what is shown, segments, measures. For reports, `show`,
** `explain` and tests; nothing here changes a session. next: ../cli/main.c
*/
#include "bind/session.h"

static void set_int(lua_State *L, const char *name, int64_t v) {
  lua_pushinteger(L, (lua_Integer)v);
  lua_setfield(L, -2, name);
}

static void set_bool(lua_State *L, const char *name, bool v) {
  lua_pushboolean(L, v);
  lua_setfield(L, -2, name);
}

static void set_str(lua_State *L, const char *name, np_str v) {
  lua_pushlstring(L, v.p ? v.p : "", v.n);
  lua_setfield(L, -2, name);
}

static void set_cstr(lua_State *L, const char *name, const char *v) {
  lua_pushstring(L, v);
  lua_setfield(L, -2, name);
}

static int entry_count(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  lua_pushinteger(L, (lua_Integer)s->log.entry_count);
  return 1;
}

static void set_shown(lua_State *L, const neap_session *s, int64_t id) {
  np_shown none = {0};
  const np_shown *sh =
      (size_t)id <= s->pack.view.count ? np_view_at(&s->pack.view, id) : &none;
  set_cstr(L, "rung", np_rung_name(sh->folded ? (np_rung)NP_FOLDED : (np_rung)sh->rung));
  if (sh->folded) set_int(L, "folded", sh->folded);
  set_int(L, "tokens", sh->tokens);
  set_int(L, "full_tokens", sh->full);
  set_bool(L, "pinned", sh->pinned);
  set_bool(L, "held", sh->held);
  set_bool(L, "listed", sh->listed);
  set_bool(L, "sent", sh->sent);
}

/* Entries that are not indexed yet are now. */
static void need_index(lua_State *L, neap_session *s) {
  np_err e = {.code = NEAP_OK};
  if (np_log_index_need(&s->log, &e)) luaL_error(L, "%s", e.text);
}

static void set_stat(lua_State *L, neap_session *s, int64_t id) {
  need_index(L, s);
  np_cite_stat st = np_log_stat(&s->log, np_log_entry(&s->log, id));
  set_int(L, "citations", st.hits);
  set_int(L, "identifiers", st.identifiers);
  set_int(L, "last_hit", st.last_hit);
  if (st.repeated_by) set_int(L, "repeated_by", st.repeated_by);
}

static int entry(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  const np_entry *en = np_log_entry(&s->log, luaL_checkinteger(L, 2));
  if (!en) return 0;
  lua_createtable(L, 0, 24);
  set_int(L, "id", en->id);
  set_cstr(L, "kind", np_kind_name(en->kind));
  set_cstr(L, "region", np_region_name(en->region));
  set_int(L, "step", en->step);
  set_int(L, "message", (int64_t)en->message + 1);
  set_int(L, "atom", (int64_t)en->atom + 1);
  set_str(L, "tool", en->tool);
  set_str(L, "path", en->path);
  if (en->pair) set_int(L, "pair", en->pair);
  set_bool(L, "is_error", en->is_error);
  set_bool(L, "empty", en->empty);
  set_bool(L, "voided", en->voided);
  set_shown(L, s, en->id);
  set_stat(L, s, en->id);
  return 1;
}

/* What stands in the prompt for an entry: its text, its replacement, or nothing. */
static int shown(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  const np_entry *en = np_log_entry(&s->log, luaL_checkinteger(L, 2));
  if (!en || (size_t)en->id > s->pack.view.count) return 0;
  const np_shown *sh = np_view_at(&s->pack.view, en->id);
  if (!sh->listed || sh->rung == NP_DROPPED) return 0;
  np_str t =
      sh->rung == NP_FULL ? en->text : np_view_text(&s->pack.view, sh->text, &s->text);
  lua_pushlstring(L, t.p, t.n);
  return 1;
}

static const char *const segment_kinds[] = {"head", "message", "notice"};

/* What is of the segment's response, in the order of rendering. */
static void push_entries(lua_State *L, const neap_session *s, const np_segment *seg) {
  const np_view *v = &s->pack.view;
  lua_Integer n = 0;
  lua_newtable(L);
  if (seg->kind != NP_SEGMENT_MESSAGE) return;
  for (int64_t id = seg->first; id; id = np_view_at(v, id)->next) {
    const np_entry *en = np_log_entry(&s->log, id);
    if ((int64_t)np_view_message(v, en)->lead != seg->ref) break;
    lua_pushinteger(L, (lua_Integer)id);
    lua_rawseti(L, -2, ++n);
  }
}

static int segments(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  const np_frame *f = &s->pack.frame;
  lua_createtable(L, (int)f->count, 0);
  for (size_t i = 0; i < f->count; i++) {
    const np_segment *seg = &f->segments[i];
    size_t from = i ? f->segments[i - 1].end : 0;
    lua_createtable(L, 0, 5);
    set_cstr(L, "kind", segment_kinds[seg->kind]);
    if (seg->kind == NP_SEGMENT_MESSAGE) {
      set_int(L, "message", seg->ref + 1);
      set_cstr(L, "role", np_role_name(s->log.messages[seg->ref].role));
    }
    push_entries(L, s, seg);
    lua_setfield(L, -2, "entries");
    set_int(L, "tokens", np_segment_tokens(f, i));
    set_str(L, "bytes", np_str_of(f->bytes.p + from, seg->end - from));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* Tokens of a text in the session's encoding. */
static int count(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  np_str text;
  text.p = luaL_checklstring(L, 2, &text.n);
  lua_pushinteger(L, (lua_Integer)np_vocab_count(s->vocab, text));
  return 1;
}

/* ---- measures ---- */

static void push_facts(lua_State *L, const np_facts *f) {
  lua_createtable(L, 0, 5);
  set_int(L, "cited", f->cited);
  set_int(L, "present", f->present);
  set_int(L, "noted", f->noted);
  set_int(L, "pointed", f->pointed);
  set_int(L, "gone", f->gone);
}

/* Onto the list on top of the stack; the citation stays there. */
static void add_citation(lua_State *L, const np_citation *c) {
  lua_createtable(L, 0, 7);
  set_str(L, "identifier", c->text);
  set_int(L, "by", c->by);
  set_int(L, "step", c->step);
  set_int(L, "first", c->first);
  set_int(L, "credited", c->credited);
  lua_pushvalue(L, -1);
  lua_rawseti(L, -3, (lua_Integer)lua_rawlen(L, -3) + 1);
}

/* Called while the lists of what is pointed at and of what is gone are on top of the stack. */
static void add_lost(void *ctx, const np_lost *lost) {
  lua_State *L = ctx;
  lua_pushvalue(L, lost->from ? -2 : -1);
  add_citation(L, lost->citation);
  if (lost->from) {
    set_int(L, "from", lost->from);
    set_int(L, "tokens", lost->tokens);
    set_bool(L, "shared", lost->shared);
  }
  lua_pop(L, 2);
}

static int measure(lua_State *L) {
  static const char *const distances[NP_DISTANCES] = {"1-3", "4-10", "11-20", "21-50",
                                                      "51+"};
  neap_session *s = np_bind_to_session(L);
  np_measure m;
  luaL_checkstack(L, 10, NULL);
  lua_createtable(L, 0, 7);
  lua_newtable(L);
  lua_newtable(L);
  if (np_session_measure(s, &m, add_lost, L)) return luaL_error(L, "out of memory");
  lua_setfield(L, -3, "gone_list");
  lua_setfield(L, -2, "pointed_list");
  set_int(L, "recalls", m.recalls);
  set_int(L, "recalled", m.recalled);
  push_facts(L, &m.facts);
  lua_createtable(L, 0, NP_DISTANCES);
  for (int i = 0; i < NP_DISTANCES; i++) {
    push_facts(L, &m.by_distance[i]);
    lua_setfield(L, -2, distances[i]);
  }
  lua_setfield(L, -2, "by_distance");
  lua_newtable(L);
  for (int i = 0; i < NP_CLASS_COUNT; i++) {
    if (!m.by_class[i].cited) continue;
    push_facts(L, &m.by_class[i]);
    lua_setfield(L, -2, np_ident_class_name((np_ident_class)i));
  }
  lua_setfield(L, -2, "by_class");
  lua_setfield(L, -2, "facts");
  lua_createtable(L, 0, 2);
  set_int(L, "cited", m.words_cited);
  set_int(L, "present", m.words_present);
  lua_setfield(L, -2, "words");
  return 1;
}

/* citations(id): those that an entry received and made, for `explain`. Without an id: all rare
** ones of facts. */
static int citations(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  int64_t id = luaL_optinteger(L, 2, 0);
  need_index(L, s);
  lua_newtable(L);
  for (size_t i = 0; i < np_cite_count(s->log.cite); i++) {
    const np_citation *c = np_cite_at(s->log.cite, i);
    bool wanted = id ? c->credited == id || c->by == id : c->fact && c->rare;
    if (c->kind == NP_IDENT_WORD || !wanted) continue;
    add_citation(L, c);
    lua_pop(L, 1);
  }
  return 1;
}

static int policy(lua_State *L) {
  neap_session *s = np_bind_to_session(L);
  const np_policy_info *info = np_policy_info_of(s->policy);
  char hex[2 * NP_SHA256];
  np_buf_clear(&s->text);
  neap_rc rc = np_policy_options(s->policy, &s->text, &s->err);
  lua_createtable(L, 0, 6);
  set_str(L, "name", info->name);
  set_str(L, "about", info->about);
  set_str(L, "source", info->source);
  set_str(L, "path", info->path);
  np_hex(info->sha256, NP_SHA256, hex);
  set_str(L, "sha256", np_str_of(hex, sizeof hex));
  if (!rc) set_str(L, "options", np_buf_str(&s->text));
  return 1;
}

const luaL_Reg np_bind_inspect[] = {
    {"entry_count", entry_count}, {"entry", entry},     {"shown", shown},
    {"segments", segments},       {"measure", measure}, {"citations", citations},
    {"policy", policy},           {"count", count},     {NULL, NULL},
};

const luaL_Reg np_bind_inspect_shadow[] = {
    {"shadow_measure", measure}, {"shadow_policy", policy},
    {"shadow_entry", entry},     {"shadow_entry_count", entry_count},
    {"shadow_shown", shown},     {NULL, NULL}};
