/*
** Breakpoints in whole requests: where they stand in small ones, and what always holds in
** random sessions: never more than four, none on a thought or on an empty text, none wanders
** within an epoch, the last prompt's end is marked in the next one, and but for the marks a
** prompt is what it would be without them. next: test_loop.c
*/
#include "session.h"

#include "anthropic_check.h"
#include "history.h"
#include "render/check.h"

static neap_session *open_session(neap *n, const char *name, const char *policy,
                                  int64_t window, neap_cache cache) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o,
                    .policy = policy,
                    .window = window,
                    .reserve = -1,
                    .format = "anthropic",
                    .model = "claude-opus-5",
                    .encoding = "o200k_base",
                    .cache = cache,
                    .flags = NEAP_NO_RELOAD | NEAP_NO_LOG};
  neap_rc rc = neap_session_open(n, name, &o, &s);
  if (rc) fprintf(stderr, "neap_session_open: %s\n", neap_error(n));
  CHECK("a session opens", rc == NEAP_OK);
  return s;
}

/* ---- what a body marks ---- */

typedef struct seen_marks {
  int64_t at[8]; /* places among the blocks, tools first */
  size_t count;
  int64_t blocks;
  bool wrong; /* on a thought, or on a text that is empty */
} seen_marks;

static void see_block(seen_marks *m, np_json block) {
  np_json mark, type, text;
  np_json_get(block, "type", &type);
  if (np_json_get(block, "cache_control", &mark)) {
    bool thought = type.raw.n && (np_str_is(type.raw, "\"thinking\"") ||
                                  np_str_is(type.raw, "\"redacted_thinking\""));
    bool empty = np_json_get(block, "text", &text) && text.raw.n == 2;
    m->wrong = m->wrong || thought || empty;
    if (m->count < NP_COUNT(m->at)) m->at[m->count] = m->blocks;
    m->count++;
  }
  m->blocks++;
}

static void see_list(seen_marks *m, np_json list) {
  np_json block;
  if (list.type == NP_JSON_STRING) m->blocks++;
  if (list.type != NP_JSON_ARRAY) return;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &block)) see_block(m, block);
}

static seen_marks see(np_str body) {
  seen_marks m = {0};
  np_json root, list, message, content;
  CHECK("a body is JSON", np_json_check(body, &root, NULL) == NEAP_OK);
  if (np_json_get(root, "tools", &list)) see_list(&m, list);
  if (np_json_get(root, "system", &list)) see_list(&m, list);
  np_json_get(root, "messages", &list);
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &message)) {
    if (np_json_get(message, "content", &content)) see_list(&m, content);
  }
  return m;
}

/* ---- small requests ---- */

static np_buf words_made;

/* `n` words without an end: enough for the shortest prefix that is kept at 600. */
static const char *words(int n) {
  words_made.alloc = &np_alloc_libc;
  np_buf_clear(&words_made);
  for (int i = 0; i < n; i++) np_buf_adds(&words_made, "tide ");
  np_buf_addc(&words_made, '\0');
  return words_made.p;
}

static void say_many(neap_session *s, const char *role, int n) {
  CHECK("a message is taken", neap_append(s, say(role, words(n), 1)) == NEAP_OK);
}

#define MARK "\"cache_control\":{\"type\":\"ephemeral\"}"

static void test_places(neap *n) {
  neap_session *s = open_session(n, "places", NULL, 100000, NEAP_CACHE_SHORT);
  append(s, "{'role':'system','content':'brief'}");
  append(s, "{'role':'user','content':'go'}");
  CHECK("too short to be kept: no mark", times(prompt(s), "cache_control") == 0);
  say_many(s, "assistant", 600);
  append(s, "{'role':'user','content':'more'}");
  np_str body = prompt(s);
  CHECK("the end is marked", times(body, MARK) == 1);
  CHECK("a string becomes a list for it",
        has(body, "\"content\":[{\"type\":\"text\",\"text\":\"more\"," MARK "}]}]}"));
  CHECK("a system text of a few words stays as it was",
        has(body, "\"system\":\"brief\""));
  append(s, "{'role':'assistant','content':[{'type':'text','text':'ok'} ]}");
  append(s, "{'role':'user','content':[{'type':'text','text':'on'} ]}");
  body = prompt(s);
  CHECK("the old end and the new one", times(body, MARK) == 2);
  CHECK("in the last block", has(body, "{\"type\":\"text\",\"text\":\"on\"," MARK "}"));
  neap_session_close(s);
}

static void test_thought(neap *n) {
  neap_session *s = open_session(n, "thought", NULL, 100000, NEAP_CACHE_SHORT);
  say_many(s, "user", 700);
  append(s,
         "{'role':'assistant','content':[{'type':'thinking','thinking':'hm','signature':"
         "'s'}]}");
  seen_marks m = see(prompt(s));
  CHECK("a thought has no mark, what stands before it has", m.count == 1 && !m.at[0]);
  neap_session_close(s);
}

static void test_front(neap *n) {
  neap_session *s = open_session(n, "front", NULL, 100000, NEAP_CACHE_LONG);
  CHECK("system", neap_append(s, say("system", words(700), 1)) == NEAP_OK);
  append(s, "{'role':'user','content':'go'}");
  np_str body = prompt(s);
  CHECK("system and the end", times(body, "cache_control") == 2);
  CHECK("for the longer life",
        times(body, "\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}") == 2);
  CHECK("the system text is a list",
        has(body, "\"system\":[{\"type\":\"text\",\"text\":\"tide "));
  neap_session_close(s);
  s = open_session(n, "tools", NULL, 100000, NEAP_CACHE_SHORT);
  np_buf tools;
  np_buf_init(&tools, &np_alloc_libc);
  np_buf_adds(&tools, "[{\"name\":\"a\",\"description\":\"");
  np_buf_adds(&tools, words(700));
  np_buf_adds(&tools, "\",\"input_schema\":{\"type\":\"object\"}} ]");
  CHECK("tools", neap_set_tools(s, np_buf_str(&tools)) == NEAP_OK);
  append(s, "{'role':'user','content':'go'}");
  body = prompt(s);
  CHECK("without a system text the last tool",
        has(body, "\"input_schema\":{\"type\":\"object\"}," MARK "}"));
  np_buf_free(&tools);
  neap_session_close(s);
}

static void test_choices(neap *n) {
  neap_session *s = open_session(n, "none", NULL, 100000, NEAP_CACHE_NONE);
  say_many(s, "user", 700);
  CHECK("none are asked for", times(prompt(s), "cache_control") == 0);
  CHECK("and nothing is written", number(account(s), "written") == 0);
  neap_session_close(s);
  s = open_session(n, "host", NULL, 100000, NEAP_CACHE_SHORT);
  say_many(s, "user", 700);
  append(s, "{'role':'assistant','content':'ok'}");
  append(s, "{'role':'user','content':[{'type':'text','text':'go','cache_control':{"
            "'type':'ephemeral'}}]}");
  CHECK("the host's are the only ones", times(prompt(s), "cache_control") == 1);
  CHECK("and what they keep is billed", number(account(s), "written") > 700);
  neap_session_close(s);
  neap_options o = {.size = sizeof o, .format = "openai", .cache = NEAP_CACHE_LONG};
  CHECK("no longer life", neap_session_open(n, "x", &o, &s) == NEAP_E_CONFIG);
  o.cache = (neap_cache)7;
  CHECK("no such choice", neap_session_open(n, "x", &o, &s) == NEAP_E_CONFIG);
  o = (neap_options){.size = sizeof o};
  CHECK("opens", neap_session_open(n, "chat", &o, &s) == NEAP_OK);
  say_many(s, "user", 700);
  CHECK("other providers need none", times(prompt(s), "cache_control") == 0);
  neap_session_close(s);
}

/* ---- random sessions ---- */

static const char *const policies[] = {
    "return { api = 1 }",
    "return { api = 1, assemble = function(ctx) if ctx.step % 7 == 0 then "
    "ctx:shrink(0.6 * ctx.tokens) end end }",
    "return { api = 1, assemble = function(ctx) for e in ctx:entries { kind = 'result', "
    "at = 'full', except_last = 2 } do e:mask() end end }",
    "return { api = 1, assemble = function(ctx) if ctx.random(4) == 1 then for e in "
    "ctx:entries { region = 'hot' } do if ctx.random(3) == 1 then e:drop() end end end "
    "end }",
};

/* Blocks and roles are those of the session without marks. */
static void check_alike(const np_vocab *v, np_str marked, np_str plain) {
  np_buf a, b;
  int64_t tokens;
  const np_model *model = np_model_default(NP_LIT("anthropic"));
  np_buf_init(&a, &np_alloc_libc);
  np_buf_init(&b, &np_alloc_libc);
  CHECK("readable", !anthropic_count(v, model, marked, &a, &tokens));
  CHECK("readable", !anthropic_count(v, model, plain, &b, &tokens));
  CHECK("but for the marks nothing differs", np_str_eq(np_buf_str(&a), np_buf_str(&b)));
  np_buf_free(&a);
  np_buf_free(&b);
}

static bool is_in(const seen_marks *m, int64_t at) {
  for (size_t i = 0; i < m->count && i < NP_COUNT(m->at); i++) {
    if (m->at[i] == at) return true;
  }
  return false;
}

/* Within an epoch the last prompt's end is still marked, and what else is marked was before. */
static void check_still(const seen_marks *was, const seen_marks *now) {
  if (was->count) CHECK("the last end is found", is_in(now, was->at[was->count - 1]));
  for (size_t i = 0; i + 1 < now->count; i++)
    CHECK("no mark wanders", is_in(was, now->at[i]));
}

typedef struct pair {
  neap_session *marked, *plain;
  seen_marks was;
  int64_t stem; /* the mark that the epoch began with; -1: none */
  int64_t epoch;
  int prompts, rewrites, kept;
} pair;

/* The end of the first prompt; of a rewrite, what it has left as it was. */
static int64_t stem_of(const pair *p, const seen_marks *now) {
  size_t behind = p->prompts ? 1 : 0;
  return now->count > behind && now->count <= 4 ? now->at[now->count - 1 - behind] : -1;
}

static void check_turn(pair *p, const np_vocab *v) {
  np_err e = {0};
  neap_str body, plain;
  neap_rc rc = neap_prompt(p->marked, &body);
  CHECK("both or none", rc == neap_prompt(p->plain, &plain));
  if (rc) return;
  rc = np_check(&np_alloc_libc, NP_LIT("anthropic"), body, true, &e);
  if (rc) fprintf(stderr, "%s\n", e.text);
  CHECK("the provider takes it", rc == NEAP_OK);
  seen_marks now = see(body);
  bool hosts = times(plain, "\"cache_control\"") > 0; /* then there are no others */
  CHECK("at most four", now.count <= 4);
  CHECK("none where it may not be", hosts || !now.wrong);
  check_alike(v, body, plain);
  neap_str a = account(p->marked);
  int64_t epoch = number(a, "epoch"), billed = number(a, "billed_cached");
  CHECK("no more is billed than is there",
        billed >= 0 && billed <= number(a, "cached") &&
            billed + number(a, "written") <= number(a, "tokens"));
  bool goes_on = p->prompts && epoch == p->epoch;
  if (goes_on && !hosts) check_still(&p->was, &now);
  if (goes_on && !hosts && p->stem >= 0)
    CHECK("what the epoch began with stays marked", is_in(&now, p->stem));
  if (!goes_on) p->stem = stem_of(p, &now);
  p->rewrites += p->prompts && epoch != p->epoch;
  p->kept += billed > 0;
  p->was = now;
  p->epoch = epoch;
  p->prompts++;
}

static void test_random(neap *n, const np_vocab *v, unsigned long long seed) {
  int prompts = 0, rewrites = 0, kept = 0;
  for (int run = 0; run < 24; run++) {
    char name[40];
    history h = {.random = seed + (unsigned long long)run};
    np_buf_init(&h.b, &np_alloc_libc);
    h.form = run % 3 == 0 ? 4 : run % 3 == 1 ? 1 : 0;
    const char *policy = policy_file("p.lua", policies[run % 4]);
    int64_t window = run % 2 ? 4000 : 100000;
    snprintf(name, sizeof name, "s%d", run);
    pair p = {0};
    p.marked = open_session(n, name, policy, window, NEAP_CACHE_SHORT);
    p.plain = open_session(n, name, policy, window, NEAP_CACHE_NONE);
    for (int i = 0; i < 60; i++) {
      np_str m = history_next(&h, i);
      neap_rc rc = neap_append(p.marked, m);
      CHECK("both take it or none", rc == neap_append(p.plain, m));
      if (i && pick(&h, 2)) check_turn(&p, v);
    }
    prompts += p.prompts, rewrites += p.rewrites, kept += p.kept;
    neap_session_close(p.marked);
    neap_session_close(p.plain);
    np_buf_free(&h.b);
  }
  CHECK("there were many prompts", prompts > 300);
  CHECK("and rewrites", rewrites > 20);
  CHECK("and prefixes that were found", kept > 100);
}

int main(void) {
  np_vocab *v = NULL;
  dir_make();
  neap *n = engine_open(NULL);
  const neap_encoding *enc = NULL;
  CHECK("a vocabulary", neap_encoding_get(n, "o200k_base", &enc) == NEAP_OK);
  v = (np_vocab *)(uintptr_t)enc;
  test_places(n);
  test_thought(n);
  test_front(n);
  test_choices(n);
  test_random(n, v, check_seed(11));
  neap_close(n);
  dir_remove();
  np_buf_free(&made);
  np_buf_free(&words_made);
  return check_done();
}
