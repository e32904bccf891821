/*
** Asking the host's model: ctx:summarize(span), ctx:ask{…}. The hook sleeps; the list of its
** asks outlives it until the turn it returned in is decided. Answers come through C only.
** next: call.c
*/
#include "policy/host.h"
#include "render/openai.h"
#include "text/text.h"

#define DEFAULT_TOKENS 1000 /* of an answer */
#define MOST_TOKENS 16000
#define ASKS 64                     /* of one run */
#define SPAN_TEXT ((size_t)1 << 20) /* bytes of what is summarized at once */
#define ENTRY_HEAD                                                                       \
  ((size_t)12 << 10) /* bytes of one entry in it: its head and its tail */
#define ENTRY_TAIL ((size_t)4 << 10)

/* ---- the text of a span ---- */

/* A long text's head and tail, with a line between them. */
static np_str shorten(np_str text, np_buf *out) {
  if (text.n <= ENTRY_HEAD + ENTRY_TAIL) return text;
  size_t head = np_grapheme_floor(text, ENTRY_HEAD);
  size_t tail = np_grapheme_floor(text, text.n - ENTRY_TAIL);
  np_buf_clear(out);
  np_buf_add(out, np_str_cut(text, 0, head));
  np_buf_adds(out, "\n(");
  np_buf_count(out, (int64_t)(tail - head));
  np_buf_adds(out, " bytes are left out here)\n");
  np_buf_add(out, np_str_cut(text, tail, text.n));
  return np_buf_str(out);
}

static void add_entry(const np_pack *p, const np_entry *en, int64_t *step, np_buf *part,
                      np_buf *out) {
  np_entry cut = *en;
  if (en->empty || en->kind == NP_KIND_LOG) return;
  if (en->step != *step) {
    np_buf_adds(out, "[step ");
    np_buf_int(out, en->step);
    np_buf_adds(out, "]\n");
  }
  *step = en->step;
  cut.text = shorten(en->text, part);
  np_text_block(&p->view, &cut, out);
}

/* The whole texts, as the plain-text form has them; more than SPAN_TEXT when too much. */
static void add_span(const np_pack *p, const np_span *s, np_buf *out) {
  int64_t step = -1;
  np_buf part;
  np_buf_init(&part, p->alloc);
  for (size_t i = 0; i < s->atoms && out->n <= SPAN_TEXT; i++) {
    int64_t id = p->log->atoms[s->atom[i]].first;
    for (; id && out->n <= SPAN_TEXT; id = np_log_entry(p->log, id)->next)
      add_entry(p, np_log_entry(p->log, id), &step, &part, out);
  }
  if (part.failed) out->failed = true;
  np_buf_free(&part);
}

/* ---- the list ---- */

np_ask *np_policy_asks(const np_policy *p, size_t *count) {
  *count = p->run.count;
  return p->run.asks;
}

const np_ask *np_policy_open_ask(const np_policy *p) {
  const np_run_of *r = &p->run;
  const np_ask *a = r->asleep && r->fed < r->count ? &r->asks[r->fed] : NULL;
  return a && a->state == NP_ASK_OPEN ? a : NULL;
}

static np_ask *add_ask(np_policy *p, const np_ask *from) {
  np_run_of *r = &p->run;
  void *asks = r->asks;
  bool ok = np_grow(&p->alloc, &asks, &r->cap, r->count + 1, sizeof(np_ask));
  r->asks = asks;
  if (!ok) return NULL;
  np_ask *a = &r->asks[r->count];
  *a = *from;
  if (!np_arena_copy(&r->arena, from->text, &a->text)) return NULL;
  a->answer = NP_LIT("");
  r->count++;
  return a;
}

neap_rc np_policy_restore_ask(np_policy *p, size_t place, const np_ask *ask, np_err *e) {
  if (place >= ASKS) return np_fail(e, NEAP_E_LIMIT, "too many asks of one run");
  if (place < p->run.count) p->run.count = place;
  return add_ask(p, ask) ? NEAP_OK : np_fail_mem(e);
}

neap_rc np_policy_answer(np_policy *p, int64_t ask, bool refused, np_str text,
                         np_err *e) {
  np_run_of *r = &p->run;
  size_t i = 0;
  while (i < r->count && (r->asks[i].id != ask || r->asks[i].state != NP_ASK_OPEN)) i++;
  if (i == r->count) {
    return np_fail(e, NEAP_E_NOTFOUND,
                   "no ask %lld is open; it was answered or cancelled, or never made",
                   (long long)ask);
  }
  if (!np_arena_copy(&r->arena, text, &r->asks[i].answer)) return np_fail_mem(e);
  r->asks[i].state = refused ? NP_ASK_REFUSED : NP_ASK_ANSWERED;
  return NEAP_OK;
}

static void forget(np_policy *p) {
  np_run_of *r = &p->run;
  r->count = r->fed = r->wish_count = 0;
  r->asleep = r->over = false;
  np_arena_clear(&r->arena);
}

bool np_policy_settle_asks(np_policy *p, const char **result) {
  bool any = p->run.over && p->run.count > 0;
  *result = p->run.result;
  if (p->run.over) forget(p);
  return any;
}

/* The thread stays in its slot until the next run, never to be resumed. */
void np_policy_cancel_asks(np_policy *p) {
  forget(p);
}

void np_run_start(np_policy *p) {
  np_run_of *r = &p->run;
  r->fed = r->wish_count = 0;
  r->asleep = r->over = false;
  r->generation = p->generation;
}

void np_run_free(np_policy *p) {
  np_free(&p->alloc, p->run.asks);
  np_free(&p->alloc, p->run.wishes);
  np_arena_free(&p->run.arena);
}

int64_t np_turn_step(const np_policy *p) {
  const np_run_of *r = &p->run;
  bool again = p->hook == NP_HOOK_COMPACT && r->fed < r->count;
  return again ? r->asks[r->fed].step : p->pack->log->step + 1;
}

/* ---- what is asked for again ---- */

void np_note_fold(lua_State *L, const np_span *s, np_str text, np_reason why) {
  np_policy *p = np_host(L);
  np_run_of *r = &p->run;
  np_wish w = {.atoms = s->atoms};
  np_err e;
  if (p->hook != NP_HOOK_COMPACT) return;
  void *wishes = r->wishes;
  bool ok = np_grow(&p->alloc, &wishes, &r->wish_cap, r->wish_count + 1, sizeof(np_wish));
  r->wishes = wishes;
  w.atom = ok ? np_arena_alloc(&r->arena, s->atoms * sizeof *w.atom) : NULL;
  if (!w.atom || !np_arena_copy(&r->arena, text, &w.text) ||
      !np_arena_copy(&r->arena, why.why, &w.why) ||
      !np_arena_copy(&r->arena, why.by, &w.by)) {
    np_fail_mem(&e);
    np_break(L, &e);
    return;
  }
  memcpy(w.atom, s->atom, s->atoms * sizeof *w.atom);
  r->wishes[r->wish_count++] = w;
}

neap_rc np_wishes_repeat(np_policy *p, np_err *e) {
  np_run_of *r = &p->run;
  size_t kept = 0;
  for (size_t i = 0; i < r->wish_count; i++) {
    np_wish w = r->wishes[i];
    np_verdict v =
        np_pack_fold(p->pack, w.atom, w.atoms, w.text, (np_reason){w.why, w.by}, NULL);
    if (v == NP_NO_MEMORY) return np_fail_mem(e);
    if (v == NP_DONE) r->wishes[kept++] = w;
  }
  r->wish_count = kept;
  return NEAP_OK;
}

/* ---- asking ---- */

/* What a hook has changed before it sleeps could not be taken back and asked for again, but
** for its folds. */
static void check_unchanged(lua_State *L) {
  np_policy *p = np_host(L);
  for (size_t i = p->run.mark; i < p->pack->change_count; i++) {
    if (p->pack->changes[i].flag != NP_FLAG_FOLD &&
        p->pack->changes[i].flag != NP_FLAG_TOLD)
      luaL_error(L, "ask a model before you change entries: what a hook asks for counts "
                    "when it returns");
  }
  if (!p->state_read) return;
  np_buf_clear(&p->next_state);
  lua_rawgeti(L, LUA_REGISTRYINDEX, p->state_ref);
  np_plain_write(L, -1, "ctx.state", &p->next_state);
  lua_pop(L, 1);
  np_str was = p->state.n ? np_buf_str(&p->state) : NP_LIT("{}");
  if (!np_str_eq(np_buf_str(&p->next_state), was))
    luaL_error(
        L, "ask a model before you change ctx.state: it counts when the hook returns");
  np_buf_clear(&p->next_state);
}

static void check_may_ask(lua_State *L) {
  const np_policy *p = np_host(L);
  if (p->hook != NP_HOOK_COMPACT || p->ranking)
    luaL_error(L, "only compact may ask a model");
  if (!lua_isyieldable(L))
    luaL_error(L, "a model cannot be asked inside pcall, table.sort or string.gsub");
  if (!p->turn.asks) luaL_error(L, "there is no model to ask here");
  if (p->run.fed >= ASKS)
    luaL_error(L, "more than %d asks in one compact; return and go on next time", ASKS);
  check_unchanged(L);
}

int np_answer_push(lua_State *L) {
  np_run_of *r = &np_host(L)->run;
  const np_ask *a = &r->asks[r->fed++];
  if (a->state == NP_ASK_ANSWERED) {
    lua_pushlstring(L, a->answer.p, a->answer.n);
    return 1;
  }
  lua_pushnil(L);
  lua_pushlstring(L, a->answer.p, a->answer.n);
  return 2;
}

static bool is_same(const np_ask *a, const np_ask *b) {
  return a->summary == b->summary && a->max_tokens == b->max_tokens &&
         memcmp(a->sha256, b->sha256, NP_SHA256) == 0;
}

/* The ask of the list that this is, or a new one; what came behind it is void. */
static np_ask *find_ask(np_policy *p, np_ask *ask) {
  np_run_of *r = &p->run;
  if (r->fed < r->count && is_same(&r->asks[r->fed], ask)) {
    np_ask *a = &r->asks[r->fed];
    return a->text.n || np_arena_copy(&r->arena, ask->text, &a->text) ? a : NULL;
  }
  r->count = r->fed;
  ask->id = ++*p->turn.asks;
  return add_ask(p, ask);
}

/* Answered already: returns it. Else the hook sleeps, and returns it when it wakes. */
static int ask_for(lua_State *L, bool summary, np_str text, int64_t max_tokens) {
  np_policy *p = np_host(L);
  np_err e;
  np_ask ask = {.summary = summary,
                .step = p->pack->log->step + 1,
                .max_tokens = max_tokens,
                .text = text};
  if (p->turn.no_model) {
    lua_pushnil(L);
    lua_pushstring(L, p->turn.no_model);
    return 2;
  }
  np_charge_slow(L, 100 + text.n / 16);
  np_sha256(text, ask.sha256);
  np_ask *a = find_ask(p, &ask);
  if (!a) {
    np_fail_mem(&e);
    return np_break(L, &e);
  }
  if (a->state != NP_ASK_OPEN) return np_answer_push(L);
  p->run.asleep = true;
  return lua_yield(L, 0);
}

static int64_t check_tokens(lua_State *L, const char *who) {
  int64_t n = np_check_whole(L, who, "max_tokens");
  if (n < 1 || n > MOST_TOKENS)
    luaL_error(L, "%s: max_tokens must be from 1 to %d", who, MOST_TOKENS);
  return n;
}

const char *const np_summarize_keys[] = {"max_tokens", NULL};
const char *const np_ask_keys[] = {"max_tokens", "prompt", NULL};

/* summarize(span, {max_tokens=}): the summary; or nil and why there is none. */
int np_context_summarize(lua_State *L) {
  int64_t tokens = DEFAULT_TOKENS;
  np_buf text;
  np_str kept;
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  np_policy *p = np_host(L);
  const np_span *s = np_check_span(L, 2);
  check_may_ask(L);
  lua_settop(L, 3);
  if (!lua_isnil(L, 3)) {
    luaL_checktype(L, 3, LUA_TTABLE);
    int step = np_pairs_push(L, 3);
    while (np_pairs_next(L, step, 3)) {
      np_check_name(L, step + 1, "summarize: argument", np_summarize_keys);
      tokens = check_tokens(L, "summarize");
    }
  }
  np_buf_init(&text, &p->alloc);
  add_span(p->pack, s, &text);
  bool large = text.n > SPAN_TEXT, ok = !text.failed;
  ok = ok && (large || np_arena_copy(&p->pack->turn, np_buf_str(&text), &kept));
  np_buf_free(&text);
  if (ok && !large && s->atoms) return ask_for(L, true, kept, tokens);
  np_err e;
  np_fail_mem(&e);
  if (!ok) return np_break(L, &e);
  lua_pushnil(L);
  lua_pushstring(L, large ? "the span has more than 1 MiB of text; take a smaller one"
                          : "the span is empty");
  return 2;
}

/* ask{prompt=, max_tokens=}: the answer; or nil and why there is none. */
int np_context_ask(lua_State *L) {
  int64_t tokens = DEFAULT_TOKENS;
  np_str prompt = NP_LIT("");
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  check_may_ask(L);
  lua_settop(L, 2);
  luaL_checktype(L, 2, LUA_TTABLE);
  int step = np_pairs_push(L, 2);
  while (np_pairs_next(L, step, 2)) {
    if (np_check_name(L, step + 1, "ask: argument", np_ask_keys) == 0) {
      tokens = check_tokens(L, "ask");
    } else {
      if (lua_type(L, -1) != LUA_TSTRING) luaL_error(L, "ask: prompt must be a string");
      prompt.p = lua_tolstring(L, -1, &prompt.n); /* the argument table keeps it */
    }
  }
  if (!prompt.n || prompt.n > NP_POLICY_TEXT || np_utf8_valid(prompt) != prompt.n)
    luaL_error(L, "ask: prompt must be UTF-8 of 1 to %d bytes", (int)NP_POLICY_TEXT);
  return ask_for(L, false, prompt, tokens);
}
