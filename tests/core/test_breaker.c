/*
** The circuit breaker: a policy that fails in turn after turn is left out for a while, and the
** prompts fit all the same; a changed one serves at once; stopped and resumed anywhere, a
** session does the same. next: test_fold.c
*/
#define _XOPEN_SOURCE 700
#include "reload_world.h"

/* Fails in the turns of `list`, else counts. */
#define FAILS(list)                                                                      \
  "local bad = {} for _, n in ipairs { " list                                            \
  " } do bad[n] = true end return { api = 1, assemble = function(ctx) if bad[ctx.step] " \
  "then error('no ' .. ctx.step) end ctx.state.n = (ctx.state.n or 0) + 1 end }"

typedef struct plan {
  const char *list;
  int64_t failures;
  int turns;
  int errors;          /* hook errors that are told */
  int64_t served;      /* turns in which the hook did its work */
  const char *results; /* of the log, one letter each */
} plan;

static const plan plans[] = {
    {"", 0, 8, 0, 8, ""},
    {"2, 4, 6, 8", 0, 10, 4, 6, "ffff"},
    {"2, 3, 4, 5", 0, 8, 4, 4, "ffff"},
    {"2, 3, 4, 5, 6", 0, 8, 5, 1, "fffffo"},
    {"2, 3, 4, 5, 6, 7", 0, 30, 5, 5, "fffffob"},
    {"2, 3, 4, 5, 6, 27", 0, 50, 6, 4, "fffffofob"},
    {"1, 2", 2, 30, 2, 8, "ffob"},
    {"1", 1, 5, 1, 0, "fo"},
    {"1, 2, 3, 4, 5, 6, 7, 8, 9", -1, 12, 9, 3, "fffffffff"},
};

static neap_rc gather(void *ctx, const np_event *ev, bool purged) {
  char *out = ctx, result[20];
  np_json head;
  (void)purged;
  if (ev->kind != NP_EV_POLICY || np_json_check(ev->head, &head, NULL)) return NEAP_OK;
  world_member(head, "result", result, sizeof result);
  size_t n = strlen(out);
  if (n < 60)
    snprintf(out + n, 2, "%c", strcmp(result, "left_out") == 0 ? 'o' : result[0]);
  return NEAP_OK;
}

static void results(world *w, char out[64]) {
  np_err e;
  np_store *st = w->n->store;
  out[0] = '\0';
  st->ops->read(st, NP_LIT(""), NP_LIT("run"), 1, gather, out, &e);
}

/* Without the name of the folder, which stands in messages. */
static void add_blind(np_buf *out, np_str text, const char *dir) {
  size_t at;
  while ((at = np_str_find(text, np_str_cstr(dir), 0)) != SIZE_MAX) {
    np_buf_add(out, np_str_cut(text, 0, at));
    text = np_str_cut(text, at + strlen(dir), text.n);
  }
  np_buf_add(out, text);
  np_buf_addc(out, '\n');
}

/* `every`: closed and opened again after so many turns; 0: never. */
static void run(const plan *p, int every, np_buf *accounts) {
  char text[600], got[64];
  neap_str a;
  world w;
  world_dir(&w);
  snprintf(text, sizeof text, FAILS("%s"), p->list);
  world_put(&w, "p.lua", text);
  w.options.failures = p->failures;
  world_start(&w, "p.lua");
  for (int i = 0; i < p->turns; i++) {
    world_turn(&w);
    neap_account(w.s, &a);
    add_blind(accounts, a, w.dir);
    if (every && i % every == every - 1) world_restart(&w);
  }
  results(&w, got);
  bool right = w.errors == p->errors && strcmp(got, p->results) == 0;
  int64_t served = p->served ? p->served : -1;
  right = right && world_state(&w) == served;
  if (!right)
    fprintf(stderr, "fails in %s: %d errors, %s, served %lld\n", p->list, w.errors, got,
            (long long)world_state(&w));
  CHECK("a policy that fails too often in a row is left out, and comes back", right);
  world_close(&w);
}

static void test_plans(void) {
  for (size_t i = 0; i < NP_COUNT(plans); i++) {
    np_buf whole, cut;
    np_buf_init(&whole, &np_alloc_libc);
    run(&plans[i], 0, &whole);
    for (int every = 1; every < 4; every++) {
      np_buf_init(&cut, &np_alloc_libc);
      run(&plans[i], every, &cut);
      bool same = np_str_eq(np_buf_str(&whole), np_buf_str(&cut));
      if (!same) fprintf(stderr, "fails in %s, stopped every %d\n", plans[i].list, every);
      CHECK("a session that was stopped does the same", same);
      np_buf_free(&cut);
    }
    np_buf_free(&whole);
  }
}

static bool account_has(world *w, const char *text) {
  neap_str a;
  return !neap_account(w->s, &a) && np_str_find(a, np_str_cstr(text), 0) != SIZE_MAX;
}

static void test_change(void) {
  world w;
  world_dir(&w);
  world_put(&w, "p.lua", FAILS("1, 2, 3, 4, 5"));
  world_start(&w, "p.lua");
  for (int i = 0; i < 4; i++) world_turn(&w);
  CHECK("the account counts", account_has(&w, "\"policy_failed\":4"));
  world_turn(&w);
  CHECK("and tells until when", account_has(&w, "\"policy_out_until\":25"));
  world_turn(&w);
  CHECK("without the policy nothing fails", w.errors == 5 && world_state(&w) == -1);
  world_put(&w, "p.lua", FAILS("1") " --[[ mended ]]");
  world_turn(&w);
  CHECK("a changed one serves at once", world_state(&w) == 1 && w.errors == 5);
  CHECK("as if nothing had been",
        !account_has(&w, "policy_failed") && !account_has(&w, "policy_out_until"));
  world_close(&w);
}

/* A large history under a small window: without its policy the engine makes it fit. */
static void test_fits(void) {
  static const char lua[] =
      "return { api = 1, order = 'value', admit = function() error 'a' end, rank = "
      "function() error 'r' end, overflow = function() error 'o' end, on_error = '%s' }";
  for (int fail = 0; fail < 2; fail++) {
    char text[400];
    world w;
    neap_str body;
    world_dir(&w);
    snprintf(text, sizeof text, lua, fail ? "fail" : "skip");
    world_put(&w, "p.lua", text);
    w.options.window = 2000;
    world_start(&w, "p.lua");
    int refused = 0;
    for (int i = 0; i < 30; i++) {
      np_buf m;
      np_buf_init(&m, &np_alloc_libc);
      np_buf_adds(&m, "{\"role\":\"user\",\"content\":\"");
      for (int k = 0; k < 200; k++) np_buf_adds(&m, "words ");
      np_buf_adds(&m, "\"}");
      neap_append(w.s, np_buf_str(&m));
      np_buf_free(&m);
      neap_rc rc = neap_prompt(w.s, &body);
      refused += rc == NEAP_E_POLICY;
      CHECK("a prompt, or the policy's error", rc == (fail ? NEAP_E_POLICY : NEAP_OK));
      if (!rc) CHECK("within the budget", np_pack_tokens(&w.s->pack) <= 1750);
      neap_append(w.s, NP_LIT("{\"role\":\"assistant\",\"content\":\"so\"}"));
    }
    CHECK("with \"fail\" the host decides, every time", refused == (fail ? 30 : 0));
    world_close(&w);
  }
}

int main(void) {
  test_plans();
  test_change();
  test_fits();
  return check_done();
}
