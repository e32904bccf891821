/*
** What a session takes from the heap, by an allocator that counts: a turn that only appends asks
** the host for nothing but room for what has come, and an old entry keeps little besides its
** texts. Links with the library as it is installed. next: test_shrink.c
*/
#include "session.h"

#include "base/spare.h"
#include "counted_heap.h"
#include "policy/pool.h"

/* ---- what hands blocks out again ---- */

static const neap_alloc host = {heap_malloc, heap_realloc, heap_free, NULL};

typedef struct block {
  unsigned char *p;
  size_t n;
} block;

static bool is_filled(const block *b, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (b->p[i] != (unsigned char)b->n) return false;
  }
  return true;
}

typedef void *(*resize_fn)(void *of, void *p, size_t old, size_t n);

static void *resize_pool(void *of, void *p, size_t old, size_t n) {
  return np_pool_realloc(of, p, old, n);
}

static void *resize_spare(void *of, void *p, size_t old, size_t n) {
  np_spare *sp = of;
  if (n) return np_realloc(&sp->alloc, p, old, n);
  np_free(&sp->alloc, p);
  return NULL;
}

/* Blocks of all sizes come, grow, shrink and go: none ever holds another's bytes. */
static bool holds(resize_fn resize, void *of, unsigned long long seed) {
  enum { BLOCKS = 64, ROUNDS = 40000 };
  static block list[BLOCKS];
  bool ok = true;
  for (int i = 0; i < ROUNDS && ok; i++) {
    block *b = &list[check_random(&seed) % BLOCKS];
    size_t most = check_random(&seed) % 20 ? 700 : 100000;
    size_t n = check_random(&seed) % 3 ? 1 + check_random(&seed) % most : 0;
    if (b->n) ok = is_filled(b, b->n);
    b->p = b->n || n ? resize(of, b->n ? b->p : NULL, b->n, n) : NULL;
    ok = ok && (!n || (b->p && (uintptr_t)b->p % 16 == 0));
    if (ok && n && b->n) {
      block kept = {b->p, b->n};
      ok = is_filled(&kept, b->n < n ? b->n : n);
    }
    if (ok && n) memset(b->p, (unsigned char)n, n);
    b->n = n;
  }
  for (int i = 0; i < BLOCKS; i++) {
    if (list[i].n) resize(of, list[i].p, list[i].n, 0);
    list[i] = (block){NULL, 0};
  }
  return ok;
}

static void test_blocks(void) {
  unsigned long long seed = check_seed(20261130);
  np_pool pool;
  np_spare spare;
  np_pool_init(&pool, &host);
  CHECK("blocks of a pool keep to themselves", holds(resize_pool, &pool, seed));
  long calls = h.calls;
  void *p = np_pool_realloc(&pool, NULL, 0, 100);
  np_pool_realloc(&pool, p, 100, 0);
  CHECK("what was given back is handed out again",
        np_pool_realloc(&pool, NULL, 0, 100) == p && h.calls == calls);
  np_pool_free(&pool);
  CHECK("a pool gives all back", h.bytes == 0);
  np_spare_init(&spare, &host);
  CHECK("spare blocks keep to themselves", holds(resize_spare, &spare, seed));
  CHECK("only so much is kept", spare.kept <= 256 << 10);
  np_spare_free(&spare);
  CHECK("all that was spare is given back", h.bytes == 0);
}

static neap *n;
static neap_session *s;

static void open_with(const char *policy, const char *format) {
  neap_config c = {.size = sizeof c,
                   .data = data_dir(),
                   .flags = NEAP_FIXED_SECRET,
                   .alloc = {heap_malloc, heap_realloc, heap_free, NULL}};
  neap_options o = {.size = sizeof o,
                    .policy = policy,
                    .format = format,
                    .encoding = "o200k_base",
                    .window = 16000,
                    .flags = NEAP_NO_LOG}; /* the store in memory keeps every event */
  bool ok = !neap_open(&c, &n) && !neap_session_open(n, "heap", &o, &s);
  if (!ok) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("a session opens", ok);
}

static void take(const char *message) {
  neap_rc rc = neap_append(s, (neap_str){message, strlen(message)});
  if (rc) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("a message is taken", rc == NEAP_OK);
}

/* A call and a result of some two hundred tokens. */
static void round_of(int i) {
  static char m[4096];
  snprintf(m, sizeof m,
           "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%d\","
           "\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":"
           "\"{\\\"path\\\":\\\"src/file_%d.c\\\"}\"}}]}",
           i, i);
  take(m);
  int at = snprintf(m, sizeof m,
                    "{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"", i);
  for (int k = 0; k < 12; k++) {
    at += snprintf(m + at, sizeof m - (size_t)at,
                   "line %d of %d: nobody could say what had been there, error E%d\\n", k,
                   i, i);
  }
  snprintf(m + at, sizeof m - (size_t)at, "\"}");
  take(m);
}

static long prompt_calls(bool *rewrite) {
  neap_str body, account;
  long before = h.calls;
  CHECK("a prompt is made", neap_prompt(s, &body) == NEAP_OK);
  long calls = h.calls - before;
  neap_account(s, &account);
  *rewrite = np_str_find((np_str){account.p, account.n}, NP_LIT("\"rewrite\":true"), 0) !=
             SIZE_MAX;
  return calls;
}

/* ---- allocations ---- */

typedef struct steady {
  const char *policy, *format;
} steady;

/* A window that slides, and results that are masked, change what was sent at every turn. */
static bool always_rewrites(const char *policy) {
  return policy && (strstr(policy, "sliding") || strstr(policy, "mask"));
}

/* Arrays grow now and then; all other turns that only append are to ask for nothing. */
static void test_steady_turns(void) {
  static const steady cases[] = {{NULL, "openai"},
                                 {"policies/full.lua", "openai"},
                                 {"policies/sliding_window.lua", "openai"},
                                 {"policies/mask_observations.lua", "openai"},
                                 {"policies/tide.lua", "openai"},
                                 {"policies/tide.lua", "anthropic"},
                                 {"policies/tide.lua", "responses"},
                                 {"policies/tide.lua", "gemini"},
                                 {"policies/tide.lua", "text"}};
  enum { WARM = 120, LOOKED = 100 };
  for (size_t c = 0; c < NP_COUNT(cases); c++) {
    open_with(cases[c].policy, cases[c].format);
    take("{\"role\":\"user\",\"content\":\"Mend the build.\"}");
    int appended = 0, quiet = 0;
    bool rewrite;
    for (int i = 1; i <= WARM + LOOKED; i++) {
      round_of(i);
      long calls = prompt_calls(&rewrite);
      bool looked = i > WARM && (!rewrite || always_rewrites(cases[c].policy));
      appended += looked;
      quiet += looked && !calls;
    }
    bool ok = appended >= LOOKED / 2 && quiet >= appended * 9 / 10;
    if (!ok)
      fprintf(stderr, "%s in %s: %d turns of %d asked for nothing\n",
              cases[c].policy ? cases[c].policy : "no policy", cases[c].format, quiet,
              appended);
    CHECK("a steady turn takes nothing from the heap", ok);
    neap_close(n);
    CHECK("all of it is given back", h.bytes == 0);
  }
}

/* ---- memory ---- */

/* Bytes for each entry besides its text, as it came and decoded: its records and its share of
** the citation index, which holds 18 identifiers and 12 lines for two of these entries. */
#define ENTRY_MOST 1400

static void test_old_entries(void) {
  enum { FEW = 500, MANY = 3000 };
  bool rewrite;
  long few = 0, text = 0;
  open_with("policies/sliding_window.lua", "openai");
  take("{\"role\":\"user\",\"content\":\"Mend the build.\"}");
  for (int i = 1; i <= MANY; i++) {
    round_of(i);
    prompt_calls(&rewrite);
    if (i == FEW) few = h.bytes;
    if (i <= FEW) continue;
    for (int64_t id = 2 * i; id <= 2 * i + 1; id++) {
      neap_str t = {NULL, 0};
      if (!neap_entry_text(s, id, &t)) text += (long)t.n;
    }
  }
  double entries = 2.0 * (MANY - FEW), each = (double)(h.bytes - few) / entries;
  double rest = each - 2 * (double)text / entries;
  fprintf(stderr, "an old entry keeps %.0f bytes, %.0f besides its texts\n", each, rest);
  CHECK("an old entry keeps little besides its texts", rest > 0 && rest < ENTRY_MOST);
  neap_close(n);
}

int main(void) {
#ifdef NEAP_CHECK
  check_skip("a steady turn takes nothing from the heap",
             "this build keeps no memory for later");
  return check_done();
#endif
  test_blocks();
  test_steady_turns();
  test_old_entries();
  return check_done();
}
