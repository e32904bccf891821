/*
** e:peek(part, tokens) and ctx:peek(id, part, tokens): a part of an entry's text, however large that
** is, or of an artifact's: what a policy hands to a sub-task. The same forms as neap_read's; capped
** and charged. ctx:artifacts() says what there is. next: context.c
*/
#include "policy/host.h"
#include "render/project.h"
#include "store/store.h"

#define PLAIN 1000 /* tokens, when the policy names no limit */

typedef struct peek {
  np_arena ar;
  np_buf shown, text;
} peek;

/* Nothing waits for the collector, which does not see how much it is. */
static void empty(peek *p) {
  np_buf_free(&p->shown);
  np_buf_free(&p->text);
  np_arena_free(&p->ar);
}

static int peek_gc(lua_State *L) {
  empty(lua_touserdata(L, 1));
  return 0;
}

/* What it holds is freed whatever is raised. */
static peek *peek_new(lua_State *L) {
  peek *p = lua_newuserdatauv(L, sizeof *p, 0);
  np_arena_init(&p->ar, &np_host(L)->alloc);
  np_buf_init(&p->shown, &np_host(L)->alloc);
  np_buf_init(&p->text, &np_host(L)->alloc);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, peek_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  return p;
}

/* What is asked for: the arguments from `at` on. */
static np_project_ask check_ask(lua_State *L, int at) {
  np_project_ask ask = {.tokens = 0};
  np_err e = {0};
  np_str words = np_check_str(L, at);
  lua_Integer tokens = luaL_optinteger(L, at + 1, PLAIN);
  luaL_argcheck(L, tokens > 0 && tokens <= (lua_Integer)(NP_POLICY_TEXT / 8), at + 1,
                "a limit in tokens");
  if (np_extract_parse(words, &ask.what, &e)) luaL_error(L, "%s", e.text);
  ask.tokens = (size_t)tokens;
  return ask;
}

static int push_why(lua_State *L, const np_err *e) {
  if (e->code == NEAP_E_MEMORY) return luaL_error(L, "out of memory");
  lua_pushnil(L);
  lua_pushstring(L, e->text);
  return 2;
}

static int give(lua_State *L, peek *p, np_str text, const np_project_ask *ask) {
  np_projection out;
  np_err e = {0};
  int64_t since = np_pause(); /* charged by bytes, the same on every machine */
  neap_rc rc =
      np_project(np_host(L)->pack->view.vocab, text, ask, &p->ar, &out, &p->shown, &e);
  np_resume(np_host(L), since);
  if (rc == NEAP_OK && p->shown.failed) rc = np_fail_mem(&e);
  if (rc == NEAP_OK) lua_pushlstring(L, p->shown.p ? p->shown.p : "", p->shown.n);
  empty(p);
  return rc == NEAP_OK ? 1 : push_why(L, &e);
}

static int give_entry(lua_State *L, const np_entry *en, int at) {
  np_project_ask ask = check_ask(L, at);
  np_charge_slow(L, 50 + en->text.n / 16);
  return give(L, peek_new(L), en->text, &ask);
}

int np_entry_peek(lua_State *L) {
  const np_handle *h = np_check_handle(L, 1, NP_ENTRY_TYPE);
  return give_entry(L, np_log_entry(np_host(L)->pack->log, h->id), 2);
}

/* ---- artifacts ---- */

/* Of lines only those are read. *ask becomes what to show of what was. */
static np_window window_of(const np_outside *a, np_project_ask *ask) {
  np_window w = {.by_lines = true, .from = 1, .to = SIZE_MAX};
  if (ask->what.kind != NP_EXTRACT_LINES || ask->what.from > (size_t)a->lines) return w;
  w.from = ask->what.from;
  w.to = ask->what.to;
  ask->what = (np_extract){.kind = NP_EXTRACT_ALL};
  ask->lines_before = w.from - 1;
  ask->lines_total = (size_t)a->lines;
  return w;
}

/* What is looked through is charged before it is read; of lines what was read, afterwards. */
static int give_artifact(lua_State *L, const np_outside *a) {
  np_policy *p = np_host(L);
  np_project_ask ask = check_ask(L, 3);
  np_window w = window_of(a, &ask);
  np_err e = {0};
  np_charge_slow(L, 2000 + (ask.lines_total ? 0 : (size_t)a->bytes / 16));
  peek *k = peek_new(L);
  int64_t since = np_pause();
  neap_rc rc = p->turn.artifact_text(p->turn.artifact_ctx, a->id, &w, &k->text, &e);
  np_resume(p, since);
  if (k->text.failed) return luaL_error(L, "out of memory");
  if (ask.lines_total) np_charge_slow(L, k->text.n / 16);
  return rc == NEAP_OK ? give(L, k, np_buf_str(&k->text), &ask) : push_why(L, &e);
}

static bool find_artifact(const np_policy *p, int64_t id, np_outside *out) {
  return p->turn.artifact && p->turn.artifact(p->turn.artifact_ctx, id - 1, out) &&
         out->id == id;
}

/* peek(id, part, tokens): the same of any entry by its number, also of an artifact. */
int np_context_peek(lua_State *L) {
  np_policy *p = np_host(L);
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  lua_Integer id = luaL_checkinteger(L, 2);
  const np_entry *en = np_log_entry(p->pack->log, id);
  np_outside a;
  if (p->ranking) return luaL_error(L, "rank may not read; peek in assemble");
  if (find_artifact(p, id, &a)) return give_artifact(L, &a);
  if (en && !en->apart && !en->voided) return give_entry(L, en, 3);
  lua_pushnil(L);
  lua_pushfstring(L,
                  en && en->voided ? "entry %I was rolled back" : "there is no entry %I",
                  (LUAI_UACINT)id);
  return 2;
}

static void set_text(lua_State *L, const char *name, np_str text) {
  if (!text.n) return;
  lua_pushlstring(L, text.p, text.n);
  lua_setfield(L, -2, name);
}

static void set_number(lua_State *L, const char *name, int64_t n) {
  lua_pushinteger(L, n);
  lua_setfield(L, -2, name);
}

/* artifacts(): what the host has put beside the session, oldest first. */
int np_context_artifacts(lua_State *L) {
  np_policy *p = np_host(L);
  np_outside a = {0};
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  lua_newtable(L);
  for (lua_Integer i = 1;
       p->turn.artifact && p->turn.artifact(p->turn.artifact_ctx, a.id, &a); i++) {
    np_charge_slow(L, 100);
    lua_createtable(L, 0, 8);
    set_number(L, "id", a.id);
    set_number(L, "bytes", a.bytes);
    set_number(L, "lines", a.lines);
    set_number(L, "step", a.step);
    set_text(L, "tool", a.tool);
    set_text(L, "query", a.query);
    set_text(L, "path", a.path);
    set_text(L, "kind", a.kind);
    lua_rawseti(L, -2, i);
  }
  return 1;
}
