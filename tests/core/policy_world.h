/*
** What the tests of policies share: a small real history with its pack, an allocator that
** counts and can be told to fail, and one call that loads a policy and runs a hook.
** next: test_policy.c
*/
#ifndef NP_TESTS_POLICY_WORLD_H
#define NP_TESTS_POLICY_WORLD_H

#include "check.h"
#include "base/hash.h"
#include "cite/log_index.h"
#include "policy/policy.h"

typedef struct counter {
  int64_t live, made, fail_at; /* fail_at: 0 never, n: the n-th and all later ones */
  bool once;                   /* the n-th alone */
} counter;

static inline bool counter_fails(counter *c) {
  c->made++;
  return c->fail_at && (c->once ? c->made == c->fail_at : c->made >= c->fail_at);
}

static void *counter_malloc(void *ctx, size_t n) {
  counter *c = ctx;
  if (counter_fails(c)) return NULL;
  c->live++;
  return malloc(n);
}

static void *counter_realloc(void *ctx, void *p, size_t old, size_t n) {
  counter *c = ctx;
  (void)old;
  if (counter_fails(c)) return NULL;
  return realloc(p, n);
}

static void counter_free(void *ctx, void *p) {
  counter *c = ctx;
  c->live--;
  free(p);
}

static inline neap_alloc counter_alloc(counter *c) {
  return (neap_alloc){counter_malloc, counter_realloc, counter_free, c};
}

typedef struct world {
  np_vocab *vocab;
  np_log log;
  np_pack pack;
  np_turn turn;
  uint64_t random;
  np_buf said;
} world;

static void world_say(void *ctx, np_str line) {
  np_buf *said = ctx;
  np_buf_add(said, line);
  np_buf_addc(said, '\n');
}

static inline void world_add(world *w, const char *json) {
  size_t index;
  np_err e = {0};
  if (np_log_append(&w->log, np_str_cstr(json), &index, &e) ||
      np_log_index_sync(&w->log, &e)) {
    fprintf(stderr, "%s\n", e.text);
    exit(2);
  }
}

/* A call of `tool` and its result of `lines` lines. */
static inline void world_call(world *w, int n, const char *tool, int lines) {
  char head[300];
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  snprintf(
      head, sizeof head,
      "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%d\",\"type\":"
      "\"function\",\"function\":{\"name\":\"%s\",\"arguments\":\"{\\\"path\\\":\\\"src/"
      "f%d.c\\\"}\"}}]}",
      n, tool, n);
  world_add(w, head);
  snprintf(head, sizeof head,
           "{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"", n);
  np_buf_adds(&b, head);
  for (int i = 0; i < lines; i++) {
    snprintf(head, sizeof head, "line %d of src/f%d.c holds value_%d\\n", i, n,
             n * 100 + i);
    np_buf_adds(&b, head);
  }
  np_buf_adds(&b, "\"}");
  np_buf_addc(&b, '\0');
  world_add(w, b.p);
  np_buf_free(&b);
}

/* system, task, then `calls` calls of which every third is of bash, a user message in the
** middle. */
static inline void world_open(world *w, np_vocab *vocab, int calls) {
  np_err e = {0};
  *w = (world){.vocab = vocab, .random = 1};
  np_buf_init(&w->said, &np_alloc_libc);
  np_log_init(&w->log, &np_alloc_libc, &e);
  np_log_index_open(&w->log, &e);
  world_add(w, "{\"role\":\"system\",\"content\":\"You are careful.\"}");
  world_add(w, "{\"role\":\"user\",\"content\":\"Repair src/f1.c, please.\"}");
  for (int i = 1; i <= calls; i++) {
    world_call(w, i, i % 3 ? "read" : "bash", 20 + i % 7);
    if (i == calls / 2)
      world_add(w, "{\"role\":\"user\",\"content\":\"Mind value_205 as well.\"}");
  }
  np_pack_init(&w->pack, &np_alloc_libc, &w->log, vocab, np_format_find(NP_LIT("openai")),
               4000, &e);
  np_pack_begin(&w->pack, &e);
  w->turn = (np_turn){.window = 5000,
                      .reserve = 1000,
                      .budget = 4000,
                      .now = 1700000000000,
                      .floor = 2000,
                      .height = 3500,
                      .price_read = 0.1,
                      .price_write = 1.25,
                      .random = &w->random};
}

static inline void world_close(world *w) {
  np_pack_free(&w->pack);
  np_cite_free(w->log.cite);
  np_log_free(&w->log);
  np_buf_free(&w->said);
}

static inline void world_attach(world *w, np_policy *p) {
  np_policy_attach(p, &w->pack, &w->turn, world_say, &w->said);
}

/* Rung and tokens of every entry, as one number. */
static inline uint64_t world_mark(const world *w) {
  uint64_t sum = (uint64_t)w->pack.view.total;
  for (size_t i = 0; i < w->pack.view.count; i++) {
    const np_shown *s = &w->pack.view.shown[i];
    sum =
        sum * 1099511628211u + s->rung * 64u + s->tokens * 4u + s->pinned * 2u + s->held;
    sum = sum * 1099511628211u + np_hash64(s->text);
  }
  return sum;
}

static inline np_vocab *world_vocab(void) {
  np_vocab *v = NULL;
  np_err e = {0};
  const char *dir = getenv("NEAP_DATA");
  if (np_vocab_open(&np_alloc_libc, dir ? dir : "core/token/data", NP_LIT("o200k_base"),
                    &v, &e)) {
    fprintf(stderr, "%s\n", e.text);
    exit(2);
  }
  return v;
}

/* A text that holds one of the alternatives of `expected`, separated by " | ". */
static inline bool world_says(const char *text, const char *expected) {
  char part[200];
  while (*expected) {
    const char *end = strstr(expected, " | ");
    size_t n = end ? (size_t)(end - expected) : strlen(expected);
    snprintf(part, sizeof part, "%.*s", (int)n, expected);
    if (strstr(text, part)) return true;
    expected = end ? end + 3 : expected + n;
  }
  return false;
}

typedef struct world_outcome {
  neap_rc rc;
  np_err e;
  uint64_t mark;
  int64_t tokens;
} world_outcome;

/* Loads `text`, runs its assemble on a fresh history; what was said is in w->said. */
static inline world_outcome world_run(world *w, const char *text, const char *options) {
  world_outcome o = {.rc = NEAP_OK};
  np_policy *p = NULL;
  o.rc = np_policy_load_text(&np_alloc_libc, NP_LIT("p.lua"), np_str_cstr(text),
                             np_str_cstr(options), &(np_limits){.call_ms = -1}, &p, &o.e);
  if (!o.rc) {
    world_attach(w, p);
    o.rc = np_policy_assemble(p, &o.e);
  }
  o.mark = world_mark(w);
  o.tokens = np_pack_tokens(&w->pack);
  np_policy_free(p);
  return o;
}

#define WORLD_ASSEMBLE(body)                                                             \
  "return { api = 1, assemble = function(ctx, o) " body " end }"

#endif
