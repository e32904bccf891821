/*
** Packing by rules that can be foretold: which rungs a history ends on under each order, what
** the last resort takes first and what it never takes, and what a refusal says.
** next: test_pack.c
*/
#include "golden.h"
#include "render/mark.h"

static np_vocab *v;

/* ---- a history to shrink ---- */

/* A message that begins as `start` and ends with a text of so many times two words. */
static void add_text(golden *g, const char *start, int words) {
  np_buf t, m;
  np_buf_init(&t, &np_alloc_libc);
  np_buf_init(&m, &np_alloc_libc);
  for (int i = 0; i < words; i++) {
    np_buf_adds(&t, i % 12 ? "some words " : "line ");
    if (i % 12 == 0)
      np_buf_addc(&t, (char)('a' + i / 12 % 26)); /* none is like the next */
    if (i % 12 == 0) np_buf_addc(&t, '\n');
  }
  golden_json(&m, start);
  np_json_quote(&m, np_buf_str(&t));
  np_buf_addc(&m, '}');
  golden_add(g, np_buf_str(&m));
  np_buf_free(&t);
  np_buf_free(&m);
}

#define CALL                                                                             \
  "{'role':'assistant','content':null,'tool_calls':[{'id':'c','type':'function','"       \
  "function':{'name':'bash','arguments':'{}'}}]}\n"

/* 1 system, 2 task, then four rounds of call (3, 5, 7, 9) and result (4, 6, 8, 10), 11 the
** newest step. */
static void history(golden *g, const char *format, int64_t budget) {
  golden_open(g, v, format, budget);
  golden_history(
      g, "{'role':'system','content':'be brief'}\n{'role':'user','content':'go'}\n");
  for (int i = 0; i < 4; i++) {
    golden_history(g, CALL);
    add_text(g, "{'role':'tool','tool_call_id':'c','content':", 400);
  }
  golden_history(g, "{'role':'assistant','content':'thinking'}\n");
}

/* One letter an entry: f t r m d; . where it has no place. */
static const char *rungs(const golden *g) {
  static char text[64];
  size_t n = g->pack.view.count < 63 ? g->pack.view.count : 63;
  for (size_t i = 0; i < n; i++) {
    const np_shown *s = &g->pack.view.shown[i];
    text[i] = s->listed ? np_rung_name((np_rung)s->rung)[0] : '.';
  }
  text[n] = '\0';
  return text;
}

static void expect(const char *what, const golden *g, const char *want) {
  bool ok = strcmp(rungs(g), want) == 0;
  if (!ok)
    fprintf(stderr, "%s: want %s, got %s (%lld tokens)\n", what, want, rungs(g),
            (long long)np_pack_tokens(&g->pack));
  CHECK("a history ends on these rungs", ok);
}

static double newest_low(void *ctx, int64_t id) {
  (void)ctx;
  return 100.0 - (double)id;
}

static double second_low(void *ctx, int64_t id) {
  (void)ctx;
  return id == 5 || id == 6 ? 0.25 : 1;
}

static double nonsense(void *ctx, int64_t id) {
  (void)ctx;
  return id == 6 ? -1 : id == 8 ? 0.0 / (double)(id - 8) : 1e308 * (double)(id > 8);
}

/* Of some 3,400 tokens a result has 835: at most 250 trimmed, some 60 as a reference, 25
** masked. */
typedef struct shrink {
  const char *what;
  np_order order;
  double (*rank)(void *ctx, int64_t id);
  int64_t keep; /* percent of the tokens */
  const char *want;
} shrink;

static const shrink shrinks[] = {
    {"nothing to do", NP_ORDER_RANK, NULL, 100, "fffffffffff"},
    {"by age: the oldest, one rung", NP_ORDER_RANK, NULL, 95, "ffftfffffff"},
    {"by age: the oldest to its end first", NP_ORDER_RANK, NULL, 77, "fffmfffffff"},
    {"then its call with it, then the next", NP_ORDER_RANK, NULL, 70, "ffddftfffff"},
    {"the next to its end", NP_ORDER_RANK, NULL, 52, "ffddfmfffff"},
    {"everything but system, task and newest step", NP_ORDER_RANK, NULL, 1,
     "ffddddddddf"},
    {"a low rank goes first", NP_ORDER_RANK, second_low, 95, "ffffftfffff"},
    {"ranks may put the newest first", NP_ORDER_RANK, newest_low, 77, "fffffffffmf"},
    {"a rank that is none counts as 1", NP_ORDER_RANK, nonsense, 95, "ffftfffffff"},
};

static void test_by_rank(void) {
  for (size_t i = 0; i < NP_COUNT(shrinks); i++) {
    golden g;
    history(&g, "openai", 100000);
    g.pack.order = shrinks[i].order;
    g.pack.rank = shrinks[i].rank;
    int64_t target = np_pack_tokens(&g.pack) * shrinks[i].keep / 100;
    CHECK("it shrinks", np_pack_shrink(&g.pack, target, golden_reason, NULL) == NEAP_OK);
    expect(shrinks[i].what, &g, shrinks[i].want);
    golden_close(&g);
  }
}

/* By value: all of one rank go down together, by what a token of theirs is worth; a low rank
** pays first. */
static void test_by_value(void) {
  golden g;
  history(&g, "openai", 100000);
  int64_t all = np_pack_tokens(&g.pack), before = all;
  g.pack.order = NP_ORDER_VALUE;
  g.pack.rank = second_low;
  while (np_view_at(&g.pack.view, 6)->rung == NP_FULL && np_pack_tokens(&g.pack) > 200) {
    np_pack_shrink(&g.pack, np_pack_tokens(&g.pack) - 1, golden_reason, NULL);
    CHECK("each step saves something", np_pack_tokens(&g.pack) < before);
    before = np_pack_tokens(&g.pack);
  }
  const np_shown *s = g.pack.view.shown;
  CHECK("the low rank pays before the others",
        s[3].rung == NP_FULL && s[7].rung == NP_FULL && s[9].rung == NP_FULL);
  while (s[9].rung == NP_FULL && before > 200) {
    np_pack_shrink(&g.pack, before - 1, golden_reason, NULL);
    before = np_pack_tokens(&g.pack);
  }
  CHECK("equals pay alike",
        s[3].rung > NP_FULL && s[7].rung > NP_FULL && s[9].rung < NP_DROPPED);
  CHECK("the low rank has paid more", s[5].rung >= s[9].rung);
  CHECK("nothing pinned or held has",
        s[0].rung == NP_FULL && s[1].rung == NP_FULL && s[10].rung == NP_FULL);
  golden_close(&g);
  history(&g, "openai", 100000);
  g.pack.order = NP_ORDER_VALUE;
  CHECK("everything may go", np_pack_shrink(&g.pack, 1, golden_reason, NULL) == NEAP_OK);
  expect("by value to the end", &g, "ffddddddddf");
  golden_close(&g);
}

/* Of two results of one rank the one that gives more tokens per step pays first. */
static void test_value_of_size(void) {
  golden g;
  golden_open(&g, v, "openai", 100000);
  golden_history(&g, "{'role':'user','content':'go'}\n" CALL);
  add_text(&g, "{'role':'tool','tool_call_id':'c','content':", 60);
  golden_history(&g, CALL);
  add_text(&g, "{'role':'tool','tool_call_id':'c','content':", 3000);
  golden_history(&g, "{'role':'assistant','content':'x'}\n");
  g.pack.order = NP_ORDER_VALUE;
  np_pack_shrink(&g.pack, np_pack_tokens(&g.pack) - 1, golden_reason, NULL);
  const np_shown *s = g.pack.view.shown;
  CHECK("the large one pays, though it is newer",
        s[2].rung == NP_FULL && s[4].rung > NP_FULL);
  golden_close(&g);
}

/* The id of the first entry that is not shown in full. */
static size_t first_lowered(const golden *g) {
  size_t i = 0;
  while (i < g->pack.view.count && g->pack.view.shown[i].rung == NP_FULL) i++;
  return i + 1;
}

/* Equals pay alike; for what is given the older ones stay, and what is asked for is met. */
static void test_front(void) {
  static const double fronts[] = {0, 0.2, 1, 1000};
  size_t before = 0;
  for (size_t i = 0; i < NP_COUNT(fronts); i++) {
    golden g;
    history(&g, "openai", 100000);
    g.pack.order = NP_ORDER_VALUE;
    int64_t target = np_pack_tokens(&g.pack) * 70 / 100;
    neap_rc rc = np_pack_shrink_behind(&g.pack, target, fronts[i], golden_reason, NULL);
    CHECK("it shrinks as far", rc == NEAP_OK && np_pack_tokens(&g.pack) <= target);
    CHECK("the more is given the longer the beginning that stays",
          first_lowered(&g) >= before);
    before = first_lowered(&g);
    golden_close(&g);
  }
  CHECK("all that is given leaves the first result alone", before > 4);
  golden g;
  history(&g, "openai", 100000);
  g.pack.order = NP_ORDER_VALUE;
  np_pack_shrink_behind(&g.pack, 1, 1000, golden_reason, NULL);
  expect("where everything is needed nothing is left alone", &g, "ffddddddddf");
  golden_close(&g);
}

/* ---- the ladder ---- */

/* A result of 12 lines, of which the first half has a name each. */
static void named_result(golden *g) {
  np_buf m, t;
  np_buf_init(&m, &np_alloc_libc);
  np_buf_init(&t, &np_alloc_libc);
  for (int i = 0; i < 12; i++) {
    if (i < 6) np_buf_adds(&t, "name_");
    np_buf_addc(&t, (char)('a' + i));
    np_buf_adds(&t, i < 6 ? "1 is what this line is about, and more of it\n"
                          : " has nothing that is a name of anything at all\n");
  }
  golden_json(&m, "{'role':'tool','tool_call_id':'c','content':");
  np_json_quote(&m, np_buf_str(&t));
  np_buf_addc(&m, '}');
  golden_history(g, CALL);
  golden_add(g, np_buf_str(&m));
  np_buf_free(&m);
  np_buf_free(&t);
}

static uint32_t trim_to(golden *g, int64_t id, int step) {
  np_pack_lower_step(&g->pack, id, step, golden_reason);
  return np_view_at(&g->pack.view, id)->tokens;
}

/* Several trims: each smaller than the one before, also of what is trimmed already, and undone
** one by one. */
static void test_trims(void) {
  golden g;
  history(&g, "openai", 100000);
  g.pack.ladder = (np_ladder){.tokens = {500, 200, 80}};
  uint32_t first = trim_to(&g, 4, 0);
  size_t mark = np_pack_mark(&g.pack);
  CHECK("the first trim", first <= 500 && first > 300);
  uint32_t second = trim_to(&g, 4, 1);
  CHECK("the second is smaller, of the same rung",
        second <= 200 && second > 80 && np_view_at(&g.pack.view, 4)->rung == NP_TRIMMED);
  CHECK("a larger one does nothing", trim_to(&g, 4, 0) == second);
  CHECK("the third", trim_to(&g, 4, 2) <= 80);
  np_pack_undo(&g.pack, mark, NULL);
  CHECK("undone it is the first again", np_view_at(&g.pack.view, 4)->tokens == first);
  int64_t all = np_pack_tokens(&g.pack);
  g.pack.order = NP_ORDER_VALUE;
  np_pack_shrink(&g.pack, all - 1, golden_reason, NULL);
  CHECK("a choice takes some step of some result", np_pack_tokens(&g.pack) < all);
  golden_close(&g);
}

/* A trim that shows all names is worth all of the entry: it goes before what loses names. */
static void test_worth_by_shown(void) {
  for (int by = 0; by < 2; by++) {
    golden g;
    golden_open(&g, v, "openai", 100000);
    golden_history(&g, "{'role':'user','content':'go'}\n");
    named_result(&g);
    golden_history(&g, "{'role':'assistant','content':'x'}\n");
    g.pack.order = NP_ORDER_VALUE;
    g.pack.ladder =
        (np_ladder){.tokens = {130, 60}, .by_shown = by > 0, .worth_set = true};
    np_pack_shrink(&g.pack, np_pack_tokens(&g.pack) - 1, golden_reason, NULL);
    const np_shown *s = np_view_at(&g.pack.view, 3);
    np_str text = s->text;
    bool kept = np_str_find(text, NP_LIT("name_f1"), 0) != SIZE_MAX;
    if (by) CHECK("the cheap step keeps the names", s->rung == NP_TRIMMED && kept);
    CHECK("it is lowered", s->rung > NP_FULL);
    CHECK("names are counted once",
          np_pack_shown_worth(&g.pack, np_log_entry(g.pack.log, 3),
                              NP_LIT("ab_1 cd_2 ab_1 words")) == 2);
    golden_close(&g);
  }
}

/* Of lines with as many names those stay whose names the model has written since; what it has
** written shows further down and is not kept twice. */
static void test_worth_by_facts(void) {
  golden g;
  golden_open(&g, v, "openai", 100000);
  golden_history(&g, "{'role':'user','content':'go'}\n");
  named_result(&g);
  golden_history(&g, "{'role':'assistant','content':'see name_c1'}\n"
                     "{'role':'assistant','content':'x'}\n");
  const np_entry *en = np_log_entry(g.pack.log, 3);
  g.pack.ladder = (np_ladder){.tokens = {130, 60}, .by_shown = true, .by_facts = true};
  g.pack.ladder.facts = (np_cite_weights){.name = 1, .number = 1, .written = 8};
  uint32_t unused, tokens = 0;
  np_pack_preview_step(&g.pack, 3, 0, &tokens);
  double before = np_pack_worth(&g.pack, en);
  CHECK("what stands further down weighs nothing",
        np_pack_shown_worth(&g.pack, en, NP_LIT("name_a1 name_c1 name_a1")) == 1 &&
            np_log_weight_of(g.pack.log, np_log_entry(g.pack.log, 4), NP_LIT("name_c1"),
                             &g.pack.ladder.facts, &unused) == 9);
  golden_history(&g, "{'role':'user','content':'and name_a1, name_b1?'}\n");
  np_pack_preview_step(&g.pack, 3, 0, &tokens);
  CHECK("nor does what has come since", np_pack_worth(&g.pack, en) == before - 2);
  np_str shown;
  np_trim_ask ask = np_pack_ladder_ask(&g.pack, en, 0);
  CHECK("a trim", np_pack_text_of(&g.pack, en, NP_TRIMMED, &ask, &shown) == NP_DONE);
  CHECK("its preview is what it would show now",
        np_view_at(&g.pack.view, 3)->kept[0] ==
                (float)np_pack_shown_worth(&g.pack, en, shown) &&
            np_pack_text_tokens(&g.pack, en, shown) == tokens);
  golden_close(&g);
}

static bool notice_has(const np_view *view, int64_t id, const char *what) {
  np_buf text;
  np_buf_init(&text, &np_alloc_libc);
  np_run_text(view, &view->runs[np_view_at(view, id)->run], &text);
  bool has = np_str_find(np_buf_str(&text), np_str_cstr(what), 0) != SIZE_MAX;
  np_buf_free(&text);
  return has;
}

/* Notices name the results that show as much as a policy says, and no others. */
static void test_named(void) {
  static const double least[] = {0, 6, 7}; /* identifiers */
  for (int i = 0; i < 3; i++) {
    golden g;
    bool named = i == 1;
    golden_open(&g, v, "openai", 100000);
    golden_history(&g, "{'role':'user','content':'go'}\n");
    named_result(&g);
    golden_history(&g, CALL);
    add_text(&g, "{'role':'tool','tool_call_id':'c','content':", 40);
    golden_history(&g, "{'role':'assistant','content':'x'}\n");
    g.pack.ladder.named = least[i];
    np_pack_drop(&g.pack, 3, golden_reason);
    np_pack_drop(&g.pack, 5, golden_reason);
    const np_view *view = &g.pack.view;
    CHECK("what shows enough is named", notice_has(view, 2, ": 3 bash \"{}\"") == named &&
                                            np_mark_names(view, 3) == named);
    CHECK("what shows nothing is not",
          !notice_has(view, 2, "5 bash") && !np_mark_names(view, 5));
    CHECK("nor what is shown", !np_mark_names(view, 1) && !np_mark_names(view, 6));
    np_pack_restore(&g.pack, 3, golden_reason);
    CHECK("once it is back, it is named no more",
          !notice_has(view, 4, "3 bash") && !np_mark_names(view, 3));
    golden_close(&g);
  }
}

static void test_ladder(void) {
  golden g;
  history(&g, "openai", 100000);
  g.pack.ladder.tokens[0] = 120;
  np_pack_lower(&g.pack, 4, NP_TRIMMED, golden_reason);
  CHECK("a ladder's trim has its tokens", np_view_at(&g.pack.view, 4)->tokens <= 120 &&
                                              np_view_at(&g.pack.view, 4)->tokens > 70);
  g.pack.ladder.tokens[0] = 0;
  np_pack_lower(&g.pack, 6, NP_TRIMMED, golden_reason);
  CHECK("without one it is 250", np_view_at(&g.pack.view, 6)->tokens <= 250 &&
                                     np_view_at(&g.pack.view, 6)->tokens > 200);
  CHECK("what is not cheaper is skipped",
        np_pack_lower(&g.pack, 11, NP_MASKED, golden_reason) == NP_SAME);
  CHECK("a lower rung is not raised",
        np_pack_lower(&g.pack, 4, NP_MASKED, golden_reason) == NP_DONE &&
            np_pack_lower(&g.pack, 4, NP_REFERENCE, golden_reason) == NP_SAME);
  golden_close(&g);
}

/* ---- the last resort ---- */

typedef struct resort {
  const char *what;
  int64_t budget;
  const char *pinned, *held; /* ids */
  neap_rc rc;
  const char *want;
} resort;

/* The whole has about 3,400 tokens; a masked result saves 810 of them. */
static const resort resorts[] = {
    {"it fits", 100000, "", "", NEAP_OK, "fffffffffff"},
    {"the oldest results first", 3300, "", "", NEAP_OK, "fffmfffffff"},
    {"and then the next", 2200, "", "", NEAP_OK, "fffmfmfffff"},
    {"what is held waits", 2200, "", "4", NEAP_OK, "fffffmfmfff"},
    {"so does what is pinned", 2200, "4", "", NEAP_OK, "fffffmfmfff"},
    {"all results before any atom", 260, "", "", NEAP_OK, "fffmfmfmfmf"},
    {"then atoms, the oldest first", 150, "", "", NEAP_OK, "ffddfmfmfmf"},
    {"all atoms before what is held", 700, "", "8", NEAP_OK, "ffddddftddf"},
    {"pinned never", 500, "8", "", NEAP_E_BUDGET, NULL},
    {"pinned never, though it is the newest", 500, "11 10", "", NEAP_E_BUDGET, NULL},
    {"fixed never", 10, "", "", NEAP_E_BUDGET, NULL},
};

static void flag(golden *g, const char *ids, bool pin) {
  while (*ids) {
    char *end;
    long id = strtol(ids, &end, 10);
    np_verdict done = pin ? np_pack_pin(&g->pack, id, golden_reason)
                          : np_pack_hold(&g->pack, id, golden_reason);
    CHECK("a flag is set", done == NP_DONE);
    ids = *end ? end + 1 : end;
  }
}

static void test_last_resort(void) {
  for (size_t i = 0; i < NP_COUNT(resorts); i++) {
    const resort *r = &resorts[i];
    golden g;
    np_err e = {0};
    history(&g, "openai", r->budget);
    flag(&g, r->pinned, true);
    flag(&g, r->held, false);
    size_t mark = np_pack_mark(&g.pack);
    int64_t before = np_pack_tokens(&g.pack);
    neap_rc rc = np_pack_last_resort(&g.pack, &e);
    if (rc != r->rc) fprintf(stderr, "%s: %s\n", r->what, e.text);
    CHECK("the last resort ends as foretold", rc == r->rc);
    if (r->want) expect(r->what, &g, r->want);
    if (rc == NEAP_OK) CHECK("it fits", np_pack_tokens(&g.pack) <= r->budget);
    else
      CHECK("it says what is missing",
            strstr(e.text, "the budget is") && strstr(e.text, "larger window"));
    if (rc)
      CHECK("it names what is pinned, if anything is",
            !strstr(e.text, "pin less") == !*r->pinned &&
                !strstr(e.text, " 0 is pinned") == (*r->pinned != 0));
    CHECK("what is fixed or pinned is whole",
          np_view_at(&g.pack.view, 1)->rung == NP_FULL &&
              (!*r->pinned ||
               np_view_at(&g.pack.view, strtol(r->pinned, NULL, 10))->rung == NP_FULL));
    CHECK("all of it can be taken back", np_pack_undo(&g.pack, mark, NULL) == NEAP_OK &&
                                             np_pack_tokens(&g.pack) == before);
    if (!*r->held && !*r->pinned) expect(r->what, &g, "fffffffffff");
    golden_close(&g);
  }
}

/* The task and the newest step are held: cut at both ends, the largest first, all alike. */
static void test_held(void) {
  golden g;
  golden_open(&g, v, "openai", 900);
  add_text(&g, "{'role':'user','content':", 600);
  golden_history(&g, "{'role':'assistant','content':'short'}\n");
  add_text(&g, "{'role':'user','content':", 600);
  golden_history(&g, CALL);
  add_text(&g, "{'role':'tool','tool_call_id':'c','content':", 900);
  np_pack_begin(&g.pack, NULL);
  CHECK("it fits",
        np_pack_last_resort(&g.pack, NULL) == NEAP_OK && np_pack_tokens(&g.pack) <= 900);
  expect("dropped what may, trimmed what is held", &g, "tddft");
  CHECK("nothing is cut more than is needed", np_pack_tokens(&g.pack) > 800);
  int64_t a = np_view_at(&g.pack.view, 1)->tokens,
          b = np_view_at(&g.pack.view, 5)->tokens;
  CHECK("the large ones are cut alike", a - b < 60 && b - a < 60);
  golden_close(&g);
}

/* A small message between pinned ones costs less than the notice that it is gone. */
static void test_small_atoms(void) {
  golden g;
  golden_open(&g, v, "openai", 1000);
  golden_history(&g, "{'role':'user','content':'go'}\n");
  for (int i = 0; i < 6; i++)
    golden_history(
        &g, "{'role':'assistant','content':'ok'}\n{'role':'user','content':'more'}\n");
  golden_history(&g, "{'role':'assistant','content':'x'}\n");
  for (int64_t id = 3; id <= 13; id += 2) np_pack_pin(&g.pack, id, golden_reason);
  int64_t before = np_pack_tokens(&g.pack);
  g.pack.budget = before - 1;
  CHECK("it cannot be made to fit", np_pack_last_resort(&g.pack, NULL) == NEAP_E_BUDGET);
  CHECK("and is not made larger", np_pack_tokens(&g.pack) == before);
  expect("nothing was dropped for a notice", &g, "ffffffffffffff");
  golden_close(&g);
}

/* A policy that holds every user message of a long chat does not end the session. */
static void test_held_by_a_policy(void) {
  golden g;
  golden_open(&g, v, "openai", 400);
  golden_history(&g, "{'role':'user','content':'go'}\n");
  for (int i = 0; i < 40; i++)
    golden_history(&g, "{'role':'user','content':'one more thing to think of, please'}\n"
                       "{'role':'assistant','content':'thought of'}\n");
  for (int64_t id = 2; id <= 80; id += 2) np_pack_hold(&g.pack, id, golden_reason);
  CHECK("it fits", np_pack_last_resort(&g.pack, NULL) == NEAP_OK &&
                       np_pack_tokens(&g.pack) <= g.pack.budget);
  CHECK("the task stays", np_view_at(&g.pack.view, 1)->rung == NP_FULL);
  CHECK("the oldest went", np_view_at(&g.pack.view, 2)->rung == NP_DROPPED);
  CHECK("the newest stay", np_view_at(&g.pack.view, 80)->rung == NP_FULL);
  golden_close(&g);
}

/* A call is dropped while it waits; its result comes late, and both are shown again. */
static void test_late_result(void) {
  golden g;
  int64_t tokens = 0;
  golden_open(&g, v, "openai", 100000);
  golden_history(&g, "{'role':'user','content':'go'}\n" CALL
                     "{'role':'user','content':'wait'}\n");
  golden_change(&g, "d2");
  golden_history(&g, "{'role':'tool','tool_call_id':'c','content':'late'}\n");
  expect("the result goes with its call", &g, "fdfd");
  golden_change(&g, "x2");
  expect("and comes back with it", &g, "ffff");
  CHECK("what is shown again is counted anew",
        openai_check(v, golden_body(&g), 0, &tokens) == NULL &&
            tokens == np_pack_tokens(&g.pack));
  golden_close(&g);
}

/* Thirty thousand atoms dropped and taken back: lifting them one by one out of one run would
** be 10^9 steps, and as many slots. */
static void test_many_atoms(void) {
  enum { N = 30000 };
  golden g;
  golden_open(&g, v, "openai", 10);
  golden_history(&g, "{'role':'user','content':'go'}\n");
  bool taken = true;
  for (int i = 0; i < N; i++) {
    size_t index;
    const char *m =
        i % 2 ? "{\"role\":\"user\",\"content\":\"a user says some words\"}"
              : "{\"role\":\"assistant\",\"content\":\"and an answer is given\"}";
    taken = taken && np_log_append(&g.log, np_str_cstr(m), &index, NULL) == NEAP_OK;
  }
  CHECK("all are taken", taken);
  np_pack_begin(&g.pack, NULL);
  np_str first = golden_body(&g);
  size_t length = first.n;
  int64_t before = np_pack_tokens(&g.pack);
  CHECK("it cannot fit", np_pack_last_resort(&g.pack, NULL) == NEAP_E_BUDGET);
  CHECK("all was tried", np_pack_tokens(&g.pack) < 100);
  CHECK("a run takes one slot or two", g.pack.view.run_count < 4);
  CHECK("it is taken back",
        np_pack_undo(&g.pack, 0, NULL) == NEAP_OK && np_pack_tokens(&g.pack) == before);
  CHECK("no slot is left over", g.pack.view.run_count == 0 && g.pack.view.run_cap < 100);
  CHECK("nothing counts as changed", g.pack.view.dirty == UINT32_MAX);
  g.pack.view.dirty = 0;
  CHECK("the bytes are the same", golden_body(&g).n == length);
  golden_close(&g);
}

/* ---- refusals ---- */

static void refused(golden *g, np_verdict got, const char *text) {
  bool ok = got == NP_REFUSED && g->pack.refusal && strcmp(g->pack.refusal, text) == 0;
  if (!ok)
    fprintf(stderr, "want \"%s\", got %d \"%s\"\n", text, (int)got,
            g->pack.refusal ? g->pack.refusal : "");
  CHECK("a refusal says which rule", ok);
  g->pack.refusal = NULL;
}

static void test_refusals(void) {
  golden g;
  np_pack *p = &g.pack;
  np_reason r = golden_reason;
  golden_open(&g, v, "openai", 100000);
  golden_history(
      &g,
      "{'role':'system','content':'s'}\n{'role':'user','content':'go'}\n{'role':'user','"
      "content':''}\n"
      "{'role':'assistant','content':'a','reasoning':'r','tool_calls':[{'id':'c','type':'"
      "function','function':"
      "{'name':'bash','arguments':'{}'}}]}\n{'role':'tool','tool_call_id':'c','content':'"
      "out'}\n"
      "{'role':'user','content':[{'type':'image_url','image_url':{'url':'x'}},{'type':'"
      "text','text':'see'}]}\n"
      "{'role':'system','content':'later rule'}\n{'role':'assistant','content':'new'}\n");
  /* 4 thought, 5 text, 6 call, 7 result, 8 image, 9 text, 10 system, 11 newest */
  refused(&g, np_pack_mask(p, 1, r), "the entry is pinned");
  refused(&g, np_pack_drop(p, 10, r), "the entry is pinned");
  refused(&g, np_pack_mask(p, 2, r), "the task is held");
  refused(&g, np_pack_trim(p, 2, (np_trim_want){.tokens = 10}, r), "the task is held");
  refused(&g, np_pack_mask(p, 3, r), "the entry is not part of the prompt");
  refused(&g, np_pack_restore(p, 4, r), "the entry is not part of the prompt");
  refused(&g, np_pack_mask(p, 6, r), "this kind of entry has no such rung");
  refused(&g, np_pack_trim(p, 8, (np_trim_want){.tokens = 10}, r),
          "this kind of entry has no such rung");
  refused(&g, np_pack_reference(p, 8, r), "this kind of entry has no such rung");
  refused(&g, np_pack_mask(p, 11, r), "entries of the newest step are held");
  CHECK("what has just come in may be trimmed",
        np_pack_trim(p, 11, (np_trim_want){.tokens = 10}, r) == NP_SAME);
  CHECK("a flag is set once",
        np_pack_hold(p, 5, r) == NP_DONE && np_pack_hold(p, 5, r) == NP_SAME);
  refused(&g, np_pack_drop(p, 5, r), "the entry is held");
  np_pack_pin(p, 6, r);
  refused(&g, np_pack_drop(p, 7, r), "a part of its atom is pinned or held");
  np_view_at(&p->view, 9)->fetched = true;
  refused(&g, np_pack_mask(p, 9, r), "the entry was fetched by the model and is kept");
  refused(&g, np_pack_drop(p, 8, r), "a part of its atom is pinned or held");
  CHECK("refusals are counted", p->refusals == 14);
  golden_close(&g);
}

int main(void) {
  v = golden_vocab("o200k_base");
  if (!v) return check_done();
  test_by_rank();
  test_by_value();
  test_value_of_size();
  test_front();
  test_ladder();
  test_trims();
  test_worth_by_shown();
  test_worth_by_facts();
  test_named();
  test_last_resort();
  test_held();
  test_small_atoms();
  test_held_by_a_policy();
  test_late_result();
  test_many_atoms();
  test_refusals();
  np_vocab_free(v);
  return check_done();
}
