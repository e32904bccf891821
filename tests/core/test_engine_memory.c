/*
** Memory that runs out at any allocation, and sessions used by two at once: a code, no crash,
** no leak, and what was acknowledged is there when the session is opened again.
** next: test_shrink.c
*/
#include "session.h"

#include <threads.h>

/* ---- an allocator that fails once ---- */

typedef struct heap {
  long live, count, fail_at; /* blocks; allocations so far; the one that fails, 0: none */
  bool failed;
  void (*spy)(void); /* called at each allocation */
} heap;

static heap h;

static bool refuse(void) {
  if (h.spy) h.spy();
  if (++h.count != h.fail_at) return false;
  h.failed = true;
  return true;
}

static void *heap_malloc(void *ctx, size_t n) {
  (void)ctx;
  void *p = refuse() ? NULL : malloc(n ? n : 1);
  h.live += p != NULL;
  return p;
}

static void *heap_realloc(void *ctx, void *p, size_t old, size_t n) {
  (void)ctx;
  (void)old;
  void *q = refuse() ? NULL : realloc(p, n ? n : 1);
  if (!p && q) h.live++;
  return q;
}

static void heap_free(void *ctx, void *p) {
  (void)ctx;
  h.live -= p != NULL;
  free(p);
}

static neap_config config(const char *store) {
  return (neap_config){.size = sizeof(neap_config),
                       .store = store,
                       .data = data_dir(),
                       .flags = NEAP_FIXED_SECRET,
                       .alloc = {heap_malloc, heap_realloc, heap_free, NULL}};
}

static bool is_clean(neap_rc rc) {
  return rc == NEAP_OK || rc == NEAP_E_MEMORY;
}

/* ---- the sweep ---- */

static const char lua[] =
    "return { api = 1, tools = { 'recall', 'read' }, order = 'value',\n"
    "  admit = function(ctx, e) ctx.state.n = (ctx.state.n or 0) + 1 if e.kind == "
    "'result' then e:trim { tokens = 40 } end end,\n"
    "  rank = function(ctx, e) return e.id end,\n"
    "  assemble = function(ctx) ctx:shrink(260, 'small') end }\n";

/* Asks, sleeps, folds what it asked about, and folds once more by itself. */
static const char folding[] =
    "return { api = 1, compact = function(ctx)\n"
    "  local old = ctx:span { before = ctx.step - 1 }\n"
    "  if old.steps > 0 then ctx:fold(old, ctx:summarize(old), 'old') end end,\n"
    "  assemble = function(ctx)\n"
    "  if ctx.step == 4 then ctx:fold(ctx:span { before = 3 }, '- all of it') end\n"
    "  ctx:shrink(300, 'small') end }\n";

/* Chooses tools, again and again; one of them is found in the catalogue. */
static const char choosing[] =
    "return { api = 1, tools = { 'recall', 'read', 'tools' }, assemble = function(ctx)\n"
    "  local list = ctx:tools()\n"
    "  ctx:tools { keep = { list[1 + ctx.step % 2].name }, why = 'by turns' }\n"
    "  for e in ctx:entries { kind = 'result', except_last = 2 } do e:mask() end end,\n"
    "  overflow = function(ctx) ctx:tools { 'grep' } end }\n";

typedef struct progress {
  int messages; /* acknowledged */
  int prompts;
  neap_rc first; /* failure */
} progress;

static const char *format, *tools; /* tools: in JSON with ' for ", or NULL */
static const char *schema;         /* of a state object, or NULL */
static np_buf bodies, whole; /* of the session that runs; of one that had memory enough */

static bool step(progress *p, neap_rc rc) {
  if (rc == NEAP_OK) return true;
  if (!p->first) p->first = rc;
  return false;
}

/* The state begins, or changes. */
static neap_rc propose(neap_session *s, int i) {
  char patch[200];
  snprintf(patch, sizeof patch,
           i ? "{\"at\":%d,\"list\":[\"one\",\"two\",\"three\",\"new\"]}"
             : "{\"goal\":\"to find where the fault is and to mend it in all "
               "files\",\"list\":[\"one\",\"two\",\"three\"],\"at\":%d}",
           i);
  neap_proposal p = {.size = sizeof p,
                     .who = "user",
                     .patch = np_str_cstr(patch),
                     .reason = NP_LIT("it is so"),
                     .source = 1};
  return neap_state_propose(s, &p, NULL);
}

/* A short session; goes on after a failure, as a host that does not look would. */
static progress live(neap *n, const char *name, const char *policy) {
  progress p = {0};
  neap_session *s = NULL;
  neap_str body;
  neap_call c;
  neap_ask ask;
  neap_options o = {.size = sizeof o,
                    .policy = policy,
                    .window = 1000,
                    .format = format,
                    .reserve = -1,
                    .state_schema = schema,
                    .flags = NEAP_NO_RELOAD};
  np_buf_clear(&bodies);
  if (!step(&p, neap_session_open(n, name, &o, &s))) {
    CHECK("a session that did not open is none", s == NULL);
    return p;
  }
  step(&p, neap_set_request(s, json("{'model':'m'}")));
  if (tools) step(&p, neap_set_tools(s, json(tools)));
  p.messages += step(&p, append(s, "{'role':'user','content':'find src/file.c:12'}"));
  for (int i = 0; i < 3; i++) {
    if (schema) step(&p, propose(s, i));
    if (schema && i == 2) step(&p, neap_refute(s, 0, 1, NP_LIT("it was another")));
    body = NP_LIT("");
    p.prompts += step(&p, neap_prompt(s, &body));
    np_buf_add(&bodies, body);
    if (neap_ask_next(s, &ask)) step(&p, neap_answer(s, ask.id, NP_LIT("- [step 1] it")));
    p.messages += step(&p, neap_append_response(s, response("looking at it",
                                                            i != 1  ? "bash"
                                                            : tools ? "neap_tools"
                                                                    : "neap_recall",
                                                            2, i)));
    while (neap_next_call(s, &c)) {
      if (neap_handle(s, &c) &&
          step(&p, neap_append_result(
                       s, &c, say("user", "src/file.c:12: words and more\n", 20))))
        p.messages++;
    }
  }
  p.messages +=
      step(&p, append(s, "{'role':'tool','tool_call_id':'lost','content':[{'type':'text',"
                         "'text':'x'},{'type':'text','text':''}]}"));
  p.messages += step(&p, neap_append_response(s, response("", "bash", 2, 9)));
  body = NP_LIT("");
  p.prompts += step(&p, neap_prompt(s, &body)); /* with stubs */
  np_buf_add(&bodies, body);
  step(&p, neap_account(s, &body));
  neap_session_close(s);
  blind_marks(&bodies);
  return p;
}

/* Messages that are there when the session is opened with memory enough. */
static void check_kept(neap *n, const char *name, const char *policy, const progress *p) {
  neap_session *s = NULL;
  neap_str text;
  neap_options o = {.size = sizeof o,
                    .policy = policy,
                    .window = 1000,
                    .format = format,
                    .reserve = -1,
                    .flags = NEAP_NO_RELOAD};
  neap_rc rc = neap_session_open(n, name, &o, &s);
  if (rc) fprintf(stderr, "allocation %ld: %s\n", h.fail_at, neap_error(n));
  CHECK("a session whose memory ran out opens again", rc == NEAP_OK);
  if (rc) return;
  int entries = 0;
  while (!neap_entry_text(s, entries + 1, &text)) entries++;
  CHECK("what was acknowledged is there", entries >= p->messages);
  if (p->messages) {
    neap_str body;
    rc = neap_prompt(s, &body);
    if (rc) fprintf(stderr, "allocation %ld: %s\n", h.fail_at, neap_error(n));
    CHECK("and it goes on", rc == NEAP_OK);
  }
  neap_session_close(s);
}

/* Every allocation fails once, each in a session of its own; one engine, so that the
** vocabulary is loaded once. */
static void sweep(const char *store, const char *policy, const char *kind, long stride) {
  neap *n = NULL;
  const neap_encoding *enc;
  neap_config c = config(store);
  format = kind;
  h = (heap){0};
  CHECK("the engine opens", neap_open(&c, &n) == NEAP_OK);
  CHECK("the vocabulary loads", neap_encoding_get(n, "o200k_base", &enc) == NEAP_OK);
  long failures = 0, at = 1;
  live(n, "whole", policy);
  np_buf_clear(&whole);
  np_buf_add(&whole, np_buf_str(&bodies));
  for (bool through = false; !through && at < 20000; at += stride) {
    char name[40];
    snprintf(name, sizeof name, "s%ld", at);
    h.count = 0;
    h.fail_at = at;
    h.failed = false;
    progress p = live(n, name, policy);
    h.fail_at = 0;
    if (!is_clean(p.first))
      fprintf(stderr, "allocation %ld: %s: %s\n", at, neap_rc_name(p.first),
              neap_error(n));
    CHECK("running out of memory is told as that", is_clean(p.first));
    CHECK("without it nothing fails", h.failed || (p.first == NEAP_OK && p.prompts == 4));
    bool same = p.first || np_str_eq(np_buf_str(&bodies), np_buf_str(&whole));
    if (!same) fprintf(stderr, "allocation %ld: other prompts\n", at);
    CHECK("a failure that is not told changes nothing", same);
    failures += p.first == NEAP_E_MEMORY;
    through = !h.failed;
    check_kept(n, name, policy, &p);
  }
  CHECK("there were many failures", failures > 40);
  neap_close(n);
  if (h.live) fprintf(stderr, "%ld blocks leaked\n", h.live);
  CHECK("nothing leaks", h.live == 0);
}

static void sweep_open(const char *store) {
  h = (heap){0};
  for (long at = 1; at < 500; at++) {
    neap *n = NULL;
    neap_config c = config(store);
    h.count = 0;
    h.fail_at = at;
    h.failed = false;
    neap_rc rc = neap_open(&c, &n);
    CHECK("opening without memory is told", is_clean(rc) && (h.failed || rc == NEAP_OK));
    CHECK("and has a text", rc == NEAP_OK || *neap_error(n));
    neap_close(n);
    CHECK("opening leaks nothing", h.live == 0);
    if (!h.failed) return;
  }
  CHECK("opening comes to an end", !"it did");
}

static void sweep_encoding(void) {
  neap *n = NULL;
  neap_config c = config(NULL);
  h = (heap){0};
  CHECK("the engine opens", neap_open(&c, &n) == NEAP_OK);
  for (long at = 1; at < 100; at++) {
    const neap_encoding *enc = NULL;
    h.count = 0;
    h.fail_at = at;
    h.failed = false;
    neap_rc rc = neap_encoding_get(n, "o200k_base", &enc);
    CHECK("loading without memory is told",
          h.failed ? rc == NEAP_E_MEMORY && !enc : rc == NEAP_OK && enc);
    if (!h.failed) break;
  }
  neap_close(n);
  CHECK("loading leaks nothing", h.live == 0);
}

/* ---- two at once ---- */

static neap_session *shared;
static neap_rc seen;
static bool in_spy;

static int other_thread(void *arg) {
  neap_str p;
  (void)arg;
  seen = neap_append(shared, NP_LIT("{\"role\":\"user\",\"content\":\"x\"}"));
  if (seen == NEAP_E_MISUSE) seen = neap_prompt(shared, &p);
  return 0;
}

/* Runs inside another call on the session. */
static void meddle(void) {
  thrd_t t;
  if (in_spy || seen) return;
  in_spy = true;
  if (thrd_create(&t, other_thread, NULL) == thrd_success) thrd_join(t, NULL);
  in_spy = false;
}

static void test_misuse(void) {
  neap *n = NULL;
  neap_config c = config(NULL);
  neap_str text, body;
  h = (heap){0};
  CHECK("the engine opens", neap_open(&c, &n) == NEAP_OK);
  shared = session_open(n, "shared", NULL, 9000, NULL);
  seen = NEAP_OK;
  h.spy = meddle;
  CHECK("the one that was first goes on",
        append(shared, "{'role':'user','content':'first'}") == NEAP_OK);
  h.spy = NULL;
  CHECK("the other is told", seen == NEAP_E_MISUSE);
  CHECK("it is told which",
        strstr(neap_error(n), "session shared is in use by another thread"));
  CHECK("nothing of it was done", neap_entry_text(shared, 2, &text) == NEAP_E_NOTFOUND);
  CHECK("the session is as good as before",
        neap_prompt(shared, &body) == NEAP_OK && has(body, "first"));
  neap_close(n);
  CHECK("nothing leaks", h.live == 0);
}

int main(void) {
  dir_make();
  np_buf_init(&bodies, &np_alloc_libc);
  np_buf_init(&whole, &np_alloc_libc);
  const char *policy = policy_file("small.lua", lua);
  sweep(NULL, NULL, "openai", 1);
  sweep(NULL, NULL, "text", 1);
  sweep(NULL, policy, "openai", 5); /* Lua's own allocations are many and alike */
  sweep(NULL, policy_file("folding.lua", folding), "text", 7);
  CHECK("that one folds", has(np_buf_str(&whole), "Summary of"));
  tools =
      "[{'type':'function','function':{'name':'bash'}},{'type':'function','function':"
      "{'name':'grep','description':'finds a needle'}},{'type':'function','function':{"
      "'name':'edit'}}]";
  sweep(NULL, policy_file("choosing.lua", choosing), "openai", 5);
  CHECK("that one chooses", !has(np_buf_str(&whole), "{\"name\":\"edit\"") &&
                                times(np_buf_str(&whole), "{\"name\":\"bash\"}") < 4);
  tools = NULL;
  schema = "{\"type\":\"object\",\"additionalProperties\":true}";
  sweep(NULL, policy, "openai", 5);
  CHECK("that one writes its state whole", has(np_buf_str(&whole), "\\\"at\\\":2"));
  sweep(NULL, NULL, "openai", 2);
  CHECK("that one changes it", has(np_buf_str(&whole), "State changed to version 2"));
  schema = NULL;
  sweep(dir_path("sweep.db"), NULL, "openai", 3);
  sweep_open(NULL);
  sweep_open(dir_path("open.db"));
  sweep_encoding();
  test_misuse();
  np_buf_free(&made);
  np_buf_free(&bodies);
  np_buf_free(&whole);
  dir_remove();
  return check_done();
}
