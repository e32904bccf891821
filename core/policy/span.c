/*
** Runs of whole atoms, and the fold of one: ctx:span{…}, ctx:fold(span, text). A span is a
** list of atoms as they were when it was made; what may be folded is asked again when it is.
** next: ask.c
*/
#include "base/json.h"
#include "policy/host.h"
#include "text/text.h"

static const char *const fields[] = {"atoms", "entries", "merged",
                                     "steps", "tokens",  NULL};

np_span *np_check_span(lua_State *L, int arg) {
  return (np_span *)np_check_handle(L, arg, NP_SPAN_TYPE);
}

static int span_index(lua_State *L) {
  const np_span *s = np_check_span(L, 1);
  const int64_t values[] = {(int64_t)s->atoms, s->entries, s->merged, s->steps,
                            s->tokens};
  lua_pushinteger(L, values[np_field(L, "a span's field", fields)]);
  return 1;
}

/* Adds an atom all of whose entries are of those steps. Its members need not be neighbours. */
static void add_atom(np_pack *p, uint32_t atom, int64_t from, int64_t before, np_span *s,
                     int64_t *step) {
  int64_t tokens = 0, entries = 0, first = p->log->atoms[atom].first;
  for (int64_t id = first; id; id = np_log_entry(p->log, id)->next) {
    const np_entry *en = np_log_entry(p->log, id);
    if (en->step < from || en->step >= before) return;
    if ((size_t)id > p->view.count) return;
    entries += np_view_at(&p->view, id)->listed;
    tokens += np_view_at(&p->view, id)->tokens;
  }
  if (entries == 0 || !np_pack_may_fold(p, atom)) return;
  s->entries += entries;
  s->tokens += tokens;
  s->atom[s->atoms++] = atom;
  int64_t own = np_log_entry(p->log, first)->step;
  if (own != *step) s->steps++;
  *step = own;
}

/* An atom of a summary that is to be taken in. */
static bool add_taken(np_pack *p, uint32_t atom, int64_t from, int64_t before,
                      np_span *s) {
  int64_t summary = np_pack_may_take(p, atom, from, before);
  if (!summary) return false;
  s->atom[s->atoms++] = atom;
  const np_fold *f = np_log_fold_of(p->log, np_log_entry(p->log, summary));
  if (f->atoms[0] != atom) return true;
  s->merged += np_view_at(&p->view, summary)->tokens;
  s->takes.count++;
  if (summary > s->takes.newest) s->takes.newest = summary;
  return true;
}

const char *const np_span_keys[] = {"before", "from", "merge", NULL};

/* The argument table's two numbers, and whether summaries are taken in. */
static void check_range(lua_State *L, int64_t *from, int64_t *before, bool *merge) {
  *from = INT64_MIN;
  *before = INT64_MAX;
  *merge = false;
  if (lua_isnil(L, 2)) return;
  luaL_checktype(L, 2, LUA_TTABLE);
  int step = np_pairs_push(L, 2);
  while (np_pairs_next(L, step, 2)) {
    int key = np_check_name(L, step + 1, "span: key", np_span_keys);
    if (key == 2) {
      if (!lua_isboolean(L, -1)) luaL_error(L, "span: merge must be true or false");
      *merge = lua_toboolean(L, -1);
    } else {
      *(key ? from : before) = np_check_whole(L, "span", np_span_keys[key]);
    }
  }
}

/* The first atom that can lie in those steps: atoms are in the order of their first entries.
** One that is begun before reaches into the steps, and is not taken. */
static size_t first_atom(const np_pack *p, int64_t from) {
  int64_t i = np_first_of_step(p, from);
  return i < (int64_t)p->log->entry_count ? p->log->entries[i].atom : p->log->atom_count;
}

static bool begins_later(const np_log *lg, size_t atom, int64_t before) {
  const np_atom *a = &lg->atoms[atom];
  return a->members && np_log_entry(lg, a->first)->step >= before;
}

/* span{from=, before=, merge=}: the whole atoms of those steps, without what is pinned, held,
** open, folded or outside the hot region; with merge=true also those that summaries of these steps
** alone stand for: its fold takes their place. */
int np_context_span(lua_State *L) {
  int64_t from, before, step = -1;
  bool merge;
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  np_policy *p = np_host(L);
  const np_log *lg = p->pack->log;
  lua_settop(L, 2);
  check_range(L, &from, &before, &merge);
  size_t first = first_atom(p->pack, from), end = first_atom(p->pack, before);
  while (end < lg->atom_count && !begins_later(lg, end, before)) end++;
  if (first > end) first = end;
  np_charge_slow(L, 20 + 4 * (uint64_t)(end - first));
  size_t room = sizeof(np_span) + (end - first) * sizeof(uint32_t);
  np_span *s = lua_newuserdatauv(L, room, 0);
  *s = (np_span){.handle.generation = p->generation};
  for (size_t i = first; i < end; i++) {
    if (!lg->atoms[i].members) continue;
    if (!merge || !add_taken(p->pack, (uint32_t)i, from, before, s))
      add_atom(p->pack, (uint32_t)i, from, before, s, &step);
  }
  p->pack->refusal = NULL;
  luaL_setmetatable(L, NP_SPAN_TYPE);
  return 1;
}

/* ---- fold ---- */

static np_str check_text(lua_State *L, int arg) {
  np_str s;
  luaL_checktype(L, arg, LUA_TSTRING);
  s.p = lua_tolstring(L, arg, &s.n);
  return s;
}

/* The reason at `arg`, or `otherwise`. */
np_str np_check_why(lua_State *L, int arg, const char *otherwise) {
  if (lua_isnoneornil(L, arg)) return np_str_cstr(otherwise);
  np_str s = check_text(L, arg);
  luaL_argcheck(L, s.n <= 200 && np_utf8_valid(s) == s.n, arg,
                "a reason is at most 200 bytes of UTF-8");
  return s;
}

static int push_no(lua_State *L, const char *why) {
  lua_pushboolean(L, 0);
  lua_pushstring(L, why);
  return 2;
}

/* A fold may make the order of the whole session anew, and counts its text. */
static uint64_t price_of_fold(const np_pack *p, np_str text) {
  return 200 + 4 * (uint64_t)p->log->entry_count + text.n / 4;
}

/* false, and which values of a text stand in nothing that it may be drawn from: the first of them. */
static int push_unfounded(lua_State *L) {
  np_policy *p = np_host(L);
  np_json all, one, value;
  luaL_Buffer b;
  np_buf *list = &p->patch;
  np_buf_clear(list);
  np_buf_addc(list, '[');
  np_buf_add(list, np_buf_str(&p->faults));
  np_buf_addc(list, ']');
  lua_pushboolean(L, 0);
  luaL_buffinit(L, &b);
  luaL_addstring(&b, "the text says what neither its steps nor the notes hold: ");
  if (!list->failed && !np_json_check(np_buf_str(list), &all, NULL)) {
    np_json_iter it = np_json_each(all);
    for (int i = 0; i < 5 && np_json_next(&it, NULL, &one); i++) {
      if (!np_json_get(one, "value", &value)) continue;
      if (i) luaL_addstring(&b, ", ");
      luaL_addlstring(&b, value.raw.p, value.raw.n);
    }
  }
  luaL_pushresult(&b);
  return 2;
}

/* False when the text says what it may not; the account tells it. */
static bool is_founded(lua_State *L, const np_span *s, np_str text) {
  np_policy *p = np_host(L);
  np_err e = {.code = NEAP_OK};
  if (p->turn.unchecked || np_utf8_valid(text) != text.n) return true; /* is refused */
  int64_t since = np_pause();
  neap_rc rc = np_wording_fold(p, s, text, &p->faults, &e);
  np_resume(p, since);
  if (rc) return np_break(L, &e) != 0; /* raises */
  if (!p->faults.n) return true;
  if (p->wording.n + p->faults.n <= NP_ANSWER_MAX) {
    if (p->wording.n) np_buf_addc(&p->wording, ',');
    np_buf_add(&p->wording, np_buf_str(&p->faults));
  }
  return false;
}

/* fold(span, text, why): true; or false and why not. Without a text, which is what a model that
** did not answer gives, nothing is folded, and `why` is what it said. */
int np_context_fold(lua_State *L) {
  char by[LUA_IDSIZE + 24];
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  np_check_change(L);
  np_policy *p = np_host(L);
  const np_span *s = np_check_span(L, 2);
  if (lua_isnoneornil(L, 3)) {
    np_str said = np_check_why(L, 4, "there is no summary");
    lua_pushboolean(L, 0);
    lua_pushlstring(L, said.p, said.n);
    return 2;
  }
  np_str text = check_text(L, 3);
  np_reason r = {np_check_why(L, 4, "fold"), np_by_line(L, by, sizeof by)};
  np_charge_slow(L, price_of_fold(p->pack, text));
  if (!is_founded(L, s, text)) return push_unfounded(L);
  int64_t since = np_pause();
  np_verdict v = np_pack_refold(p->pack, s->atom, s->atoms, s->takes, text, r, NULL);
  np_resume(p, since);
  if (v == NP_NO_MEMORY) {
    np_err e;
    np_fail_mem(&e);
    return np_break(L, &e);
  }
  if (v != NP_DONE) return push_no(L, p->pack->refusal ? p->pack->refusal : "refused");
  np_note_fold(L, s, text, r);
  lua_pushboolean(L, 1);
  return 1;
}

void np_span_open(lua_State *L) {
  static const luaL_Reg methods[] = {{NULL, NULL}};
  np_open_handle(L, NP_SPAN_TYPE, span_index, fields, methods);
}
