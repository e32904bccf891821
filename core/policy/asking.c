/*
** Asking the host's model: ctx:summarize(span), ctx:ask{…}, ctx:ask_all{ {…}, {…} }. The hook
** sleeps until all that it waits for is answered, or has timed out. next: call.c
*/
#include "policy/host.h"
#include "render/openai.h"
#include "text/text.h"

#define DEFAULT_TOKENS 1000 /* of an answer */
#define MOST_TOKENS 16000
#define DEFAULT_TURNS 20 /* without an answer */
#define MOST_TURNS 1000000
#define TOGETHER 16                 /* asks that are open at a time */
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

typedef struct span_text {
  np_buf text, notes, part, guarded;
  neap_ask_part *parts; /* so many as the span has entries, or NULL */
  size_t count;
  int64_t step;
  bool facts; /* results are kept word by word, elsewhere */
} span_text;

/* What a user or the model wrote must not pass for another step's heading or a result: what is
** made of the span goes by headings. */
static bool needs_guard(np_kind kind) {
  return kind == NP_KIND_USER || kind == NP_KIND_TEXT || kind == NP_KIND_THOUGHT ||
         kind == NP_KIND_FILE;
}

static void add_entry(const np_pack *p, const np_entry *en, span_text *t) {
  np_entry cut = *en;
  if (en->empty || en->kind == NP_KIND_LOG) return;
  if (en->step != t->step) {
    np_buf_adds(&t->text, "[step ");
    np_buf_int(&t->text, en->step);
    np_buf_adds(&t->text, "]\n");
  }
  t->step = en->step;
  cut.text = shorten(en->text, &t->part);
  if (t->facts && en->kind == NP_KIND_RESULT) cut.text = NP_LIT("(kept word by word)");
  if (needs_guard(en->kind)) {
    np_buf_clear(&t->guarded);
    np_text_guard(cut.text, &t->guarded);
    cut.text = np_buf_str(&t->guarded);
  }
  size_t from = t->text.n;
  np_text_block(&p->view, &cut, &t->text);
  if (t->parts)
    t->parts[t->count++] =
        (neap_ask_part){en->id, en->step, np_kind_name(en->kind), from, t->text.n};
}

/* A summary that the new one takes the place of, at the first of its atoms. */
static void add_taken(const np_pack *p, int64_t summary, uint32_t atom, np_buf *out) {
  const np_entry *en = np_log_entry(p->log, summary);
  if (np_log_fold_of(p->log, en)->atoms[0] != atom) return;
  if (out->n) np_buf_addc(out, '\n');
  np_buf_add(out, en->text);
}

/* The whole texts, as the plain-text form has them; more than SPAN_TEXT when too much. */
static void add_span(const np_pack *p, const np_span *s, span_text *t) {
  for (size_t i = 0; i < s->atoms && t->text.n <= SPAN_TEXT; i++) {
    int64_t taken = s->takes.count ? np_pack_folded_by(p, s->atom[i]) : 0;
    int64_t id = p->log->atoms[s->atom[i]].first;
    if (taken) add_taken(p, taken, s->atom[i], &t->notes);
    for (; id && !taken && t->text.n <= SPAN_TEXT; id = np_log_entry(p->log, id)->next)
      add_entry(p, np_log_entry(p->log, id), t);
  }
}

static size_t count_entries(const np_pack *p, const np_span *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->atoms; i++) n += p->log->atoms[s->atom[i]].members;
  return n;
}

/* ---- whether one may ---- */

/* What a hook has changed before it sleeps could not be taken back and asked for again, but
** for its folds. */
static void check_unchanged(lua_State *L) {
  np_policy *p = np_host(L);
  size_t opened = 0, others = 0;
  for (size_t i = p->run.mark; i < p->pack->change_count; i++) {
    np_flag flag = (np_flag)p->pack->changes[i].flag;
    opened += flag == NP_FLAG_UNFOLD;
    others += flag != NP_FLAG_FOLD && flag != NP_FLAG_TOLD && flag != NP_FLAG_UNFOLD;
  }
  /* what a fold has taken in, it opens when it is asked for again */
  size_t taken = 0;
  for (size_t i = 0; i < p->run.wish_count; i++) taken += p->run.wishes[i].takes.count;
  if (others || opened != taken)
    luaL_error(L,
               "ask a model before you change entries: what a hook asks for counts when "
               "it returns");
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

static void check_may_ask(lua_State *L, size_t n) {
  const np_policy *p = np_host(L);
  if (p->hook != NP_HOOK_COMPACT || p->ranking)
    luaL_error(L, "only compact may ask a model");
  if (!lua_isyieldable(L))
    luaL_error(L, "a model cannot be asked inside pcall, table.sort or string.gsub");
  if (!p->turn.asks) luaL_error(L, "there is no model to ask here");
  if (p->run.fed + n > NP_ASKS)
    luaL_error(L, "more than %d asks in one compact; return and go on next time",
               NP_ASKS);
  check_unchanged(L);
}

/* ---- answers ---- */

static bool is_blank(np_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] != ' ' && s.p[i] != '\n' && s.p[i] != '\t' && s.p[i] != '\r') return false;
  }
  return true;
}

/* The answer; or nil, why there is none, and a word for it. */
static int push_answer(lua_State *L, const np_ask *a) {
  np_str why = a->answer, code = a->code;
  if (a->state == NP_ASK_ANSWERED && !is_blank(a->answer)) {
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    luaL_addlstring(&b, a->answer.p, a->answer.n);
    luaL_addlstring(&b, a->kept.p, a->kept.n);
    luaL_pushresult(&b);
    return 1;
  }
  if (a->state == NP_ASK_ANSWERED)
    why = NP_LIT("the answer is empty"), code = NP_LIT("empty");
  lua_pushnil(L);
  lua_pushlstring(L, why.p, why.n);
  lua_pushlstring(L, code.p, code.n);
  return 3;
}

/* Two lists: answers, with false where there is none; and why not, or false. */
static int push_answers(lua_State *L, const np_ask *list, size_t n) {
  lua_createtable(L, (int)n, 0);
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    int pushed = push_answer(L, &list[i]);
    if (pushed == 3) lua_pop(L, 2);
    if (pushed == 3) lua_pushboolean(L, 0), lua_replace(L, -2);
    lua_rawseti(L, -3, (lua_Integer)i + 1);
    if (pushed == 1) lua_pushboolean(L, 0);
    else lua_pushlstring(L, list[i].code.p, list[i].code.n);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 2;
}

int np_answer_push(lua_State *L) {
  np_run_of *r = &np_host(L)->run;
  const np_ask *first = &r->asks[r->fed];
  size_t n = r->waits;
  r->fed += n;
  r->waits = 0;
  return r->together ? push_answers(L, first, n) : push_answer(L, first);
}

/* ---- asking ---- */

typedef struct question {
  bool summary, prompted, facts;
  np_str text, notes, kept;
  neap_ask_part *parts;
  size_t part_count;
  int64_t max_tokens, turns;
  const char *why; /* it is refused at once */
} question;

static np_ask *put(lua_State *L, size_t place, const question *q) {
  np_policy *p = np_host(L);
  np_err e;
  np_ask ask = {.summary = q->summary,
                .step = p->pack->log->step + 1,
                .max_tokens = q->max_tokens,
                .turns = q->turns,
                .text = q->text,
                .notes = q->notes,
                .kept = q->kept,
                .parts = q->parts,
                .part_count = q->part_count};
  const char *why = p->turn.no_model ? p->turn.no_model : q->why;
  np_charge_slow(L, 100 + q->text.n / 16);
  np_sha256(q->text, ask.sha256);
  np_ask *a = np_ask_at(p, place, &ask);
  if (!a) {
    np_fail_mem(&e);
    np_break(L, &e);
    return NULL;
  }
  if (why) {
    a->state = NP_ASK_REFUSED;
    a->answer = np_str_cstr(why);
    a->code = p->turn.no_model ? NP_LIT("shadow") : NP_LIT("span");
  }
  return a;
}

/* Answered already: returns it. Else the hook sleeps, and returns it when it wakes. */
static int wait_for(lua_State *L, size_t n, bool together) {
  np_run_of *r = &np_host(L)->run;
  r->waits = n;
  r->together = together;
  r->asleep = true;
  if (np_policy_open_ask(np_host(L), 0)) return lua_yield(L, 0);
  r->asleep = false;
  return np_answer_push(L);
}

static int64_t check_within(lua_State *L, const char *who, const char *what,
                            int64_t most) {
  int64_t n = np_check_whole(L, who, what);
  if (n < 1 || n > most)
    luaL_error(L, "%s: %s must be from 1 to %d", who, what, (int)most);
  return n;
}

const char *const np_summarize_keys[] = {"max_tokens", "mode", "turns", NULL};
const char *const np_ask_keys[] = {"max_tokens", "prompt", "turns", NULL};
const char *const np_ask_all_keys[] = {"max_tokens", "prompt", "span", "turns", NULL};

static np_str check_prompt(lua_State *L, const char *who) {
  np_str prompt;
  if (lua_type(L, -1) != LUA_TSTRING) luaL_error(L, "%s: prompt must be a string", who);
  prompt.p = lua_tolstring(L, -1, &prompt.n); /* the argument table keeps it */
  if (!prompt.n || prompt.n > NP_POLICY_TEXT || np_utf8_valid(prompt) != prompt.n)
    luaL_error(L, "%s: prompt must be UTF-8 of 1 to %d bytes", who, (int)NP_POLICY_TEXT);
  return prompt;
}

/* The span's text, kept for the turn. What cannot be asked is a question without a text. */
static void take_span(lua_State *L, const np_span *s, question *q) {
  np_policy *p = np_host(L);
  np_arena *ar = &p->pack->turn;
  span_text t = {.step = -1, .facts = q->facts};
  np_err e;
  size_t most = count_entries(p->pack, s);
  np_buf_init(&t.text, &p->alloc);
  np_buf_init(&t.notes, &p->alloc);
  np_buf_init(&t.part, &p->alloc);
  np_buf_init(&t.guarded, &p->alloc);
  t.parts = most ? np_arena_alloc(ar, most * sizeof *t.parts) : NULL;
  add_span(p->pack, s, &t);
  bool large = t.text.n > SPAN_TEXT;
  bool ok = !t.text.failed && !t.notes.failed && !t.part.failed && !t.guarded.failed &&
            (t.parts || !most);
  ok = ok && (large || np_arena_copy(ar, np_buf_str(&t.text), &q->text)) &&
       np_arena_copy(ar, np_buf_str(&t.notes), &q->notes);
  np_buf_free(&t.text);
  np_buf_free(&t.notes);
  np_buf_free(&t.part);
  np_buf_free(&t.guarded);
  np_fail_mem(&e);
  if (!ok) np_break(L, &e);
  q->parts = t.parts;
  q->part_count = large ? 0 : t.count;
  if (large) q->text = NP_LIT("");
  if (large) q->why = "the span has more than 1 MiB of text; take a smaller one";
  if (!s->atoms) q->why = "the span is empty";
}

static uint64_t bytes_of(const np_pack *p, const np_span *s) {
  uint64_t n = 0;
  for (size_t i = 0; i < s->atoms; i++) {
    for (int64_t id = p->log->atoms[s->atom[i]].first; id;
         id = np_log_entry(p->log, id)->next)
      n += np_log_entry(p->log, id)->text.n;
  }
  return n;
}

/* In the mode `facts`: what is kept of the results, and so many tokens fewer to be answered. */
static void take_facts(lua_State *L, const np_span *s, question *q) {
  np_policy *p = np_host(L);
  np_buf kept;
  np_err e;
  size_t used;
  np_buf_init(&kept, &p->alloc);
  neap_rc rc = np_facts_add(p->pack, s, (size_t)q->max_tokens / 2, &kept, &used, &e);
  if (!rc && !np_arena_copy(&p->pack->turn, np_buf_str(&kept), &q->kept))
    rc = np_fail_mem(&e);
  np_buf_free(&kept);
  if (rc) np_break(L, &e);
  q->max_tokens -= (int64_t)used;
}

/* "notes" or "facts". */
static bool check_mode(lua_State *L) {
  static const char *const modes[] = {"notes", "facts", NULL};
  np_str s = np_check_str(L, -1);
  for (int i = 0; modes[i]; i++) {
    if (np_str_is(s, modes[i])) return i == 1;
  }
  return luaL_error(L, "summarize: mode must be \"notes\" or \"facts\"") != 0;
}

/* Reads the table at `index`, whose keys are of the list. */
static void read_question(lua_State *L, int index, const char *who,
                          const char *const *keys, question *q) {
  char what[40];
  snprintf(what, sizeof what, "%s: argument", who);
  luaL_checktype(L, index, LUA_TTABLE);
  int step = np_pairs_push(L, index);
  while (np_pairs_next(L, step, index)) {
    const char *key = keys[np_check_name(L, step + 1, what, keys)];
    if (strcmp(key, "max_tokens") == 0)
      q->max_tokens = check_within(L, who, "max_tokens", MOST_TOKENS);
    else if (strcmp(key, "turns") == 0)
      q->turns = check_within(L, who, "turns", MOST_TURNS);
    else if (strcmp(key, "mode") == 0) q->facts = check_mode(L);
    else if (strcmp(key, "prompt") == 0) {
      q->prompted = true;
      q->text = check_prompt(L, who);
    } else {
      q->summary = true;
      take_span(L, np_check_span(L, lua_gettop(L)), q);
    }
  }
}

static question no_question(void) {
  return (question){.text = NP_LIT(""),
                    .notes = NP_LIT(""),
                    .kept = NP_LIT(""),
                    .max_tokens = DEFAULT_TOKENS,
                    .turns = DEFAULT_TURNS};
}

/* summarize(span, {max_tokens=, turns=, mode=}): the summary; or nil, why there is none, and a
** code. */
int np_context_summarize(lua_State *L) {
  question q = no_question();
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  const np_span *s = np_check_span(L, 2);
  check_may_ask(L, 1);
  lua_settop(L, 3);
  if (!lua_isnil(L, 3)) read_question(L, 3, "summarize", np_summarize_keys, &q);
  q.summary = true;
  take_span(L, s, &q);
  if (q.facts) np_charge_slow(L, 100 + bytes_of(np_host(L)->pack, s) / 4);
  if (q.facts && !q.why) take_facts(L, s, &q);
  put(L, np_host(L)->run.fed, &q);
  return wait_for(L, 1, false);
}

/* ask{prompt=, max_tokens=, turns=}: the answer; or nil, why there is none, and a code. */
int np_context_ask(lua_State *L) {
  question q = no_question();
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  check_may_ask(L, 1);
  lua_settop(L, 2);
  read_question(L, 2, "ask", np_ask_keys, &q);
  if (!q.prompted)
    luaL_error(L, "ask: prompt must be UTF-8 of 1 to %d bytes", (int)NP_POLICY_TEXT);
  put(L, np_host(L)->run.fed, &q);
  return wait_for(L, 1, false);
}

/* ask_all{ {prompt= or span=, max_tokens=, turns=}, … }: all are open at once. */
int np_context_ask_all(lua_State *L) {
  np_check_handle(L, 1, NP_CONTEXT_TYPE);
  lua_settop(L, 2);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_Unsigned n = lua_rawlen(L, 2);
  if (n < 1 || n > TOGETHER)
    luaL_error(L, "ask_all: a list of 1 to %d questions is expected", TOGETHER);
  check_may_ask(L, n);
  for (lua_Unsigned i = 0; i < n; i++) {
    question q = no_question();
    lua_settop(L, 2);
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    read_question(L, 3, "ask_all", np_ask_all_keys, &q);
    if (q.summary == q.prompted)
      luaL_error(L, "ask_all: question %d needs either a prompt or a span", (int)i + 1);
    put(L, np_host(L)->run.fed + i, &q);
  }
  return wait_for(L, n, true);
}
