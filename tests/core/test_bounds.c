/*
** Bounds of regions: shrink takes from a region above its cap first, and leaves each its
** minimum. On random sessions with summaries. next: test_pack.c
*/
#include "golden.h"
#include "pack/bounds.h"

static np_vocab *vocab;

static void add_message(unsigned long long *rng, golden *g, const char *start,
                        size_t words) {
  np_buf t, m;
  np_buf_init(&t, &np_alloc_libc);
  np_buf_init(&m, &np_alloc_libc);
  for (size_t i = 0; i < words; i++) {
    np_buf_adds(&t, check_random(rng) % 9 ? "word" : "id_");
    np_buf_int(&t, (int64_t)(check_random(rng) % 1000));
    np_buf_addc(&t, check_random(rng) % 7 ? ' ' : '\n');
  }
  golden_json(&m, start);
  np_json_quote(&m, np_buf_str(&t));
  np_buf_addc(&m, '}');
  golden_add(g, np_buf_str(&m));
  np_buf_free(&t);
  np_buf_free(&m);
}

#define CALL                                                                             \
  "{'role':'assistant','content':'next','tool_calls':[{'id':'c','type':'function',"      \
  "'function':{'name':'sh','arguments':'{}'}}]}\n"

static void add_steps(unsigned long long *rng, golden *g, int steps) {
  for (int i = 0; i < steps; i++) {
    golden_history(g, CALL);
    add_message(rng, g, "{'role':'tool','tool_call_id':'c','content':",
                5 + check_random(rng) % 300);
    if (check_random(rng) % 4 == 0)
      add_message(rng, g, "{'role':'user','content':", 3 + check_random(rng) % 60);
  }
  golden_history(g, "{'role':'assistant','content':'done'}\n");
  CHECK("a turn begins", np_pack_begin(&g->pack, NULL) == NEAP_OK);
}

/* Summaries of long texts for the first batches. */
static size_t add_summaries(unsigned long long *rng, golden *g) {
  size_t made = 0;
  for (uint32_t atom = 0; atom < g->log.atom_count && made < 4; atom++) {
    np_buf t;
    np_buf_init(&t, &np_alloc_libc);
    for (size_t i = check_random(rng) % 60; i > 0; i--) {
      np_buf_adds(&t, "it was said that ");
      np_buf_int(&t, (int64_t)(check_random(rng) % 100));
      np_buf_adds(&t, i % 3 ? ", " : " is so.\n");
    }
    np_buf_adds(&t, "ok");
    made +=
        np_pack_may_fold(&g->pack, atom) &&
        np_pack_fold(&g->pack, &atom, 1, np_buf_str(&t), golden_reason, NULL) == NP_DONE;
    np_buf_free(&t);
  }
  return made;
}

static int64_t tokens_in(const golden *g, np_region r) {
  return g->pack.view.region[r];
}

/* Whether one change makes region and prompt smaller and takes no region below its minimum; it is taken
** back. */
static bool helps(golden *g, np_region region, int64_t id, int rung) {
  int64_t before[NP_REGION_COUNT];
  uint32_t atom = np_log_entry(&g->log, id)->atom;
  size_t mark = np_pack_mark(&g->pack);
  int64_t total = np_pack_tokens(&g->pack);
  memcpy(before, g->pack.view.region, sizeof before);
  if (rung != NP_DROPPED) np_pack_lower(&g->pack, id, (np_rung)rung, golden_reason);
  else if (np_pack_may_drop(&g->pack, atom))
    np_pack_drop_atom(&g->pack, atom, golden_reason);
  bool yes = tokens_in(g, region) < before[region] && np_pack_tokens(&g->pack) < total;
  for (int r = 0; r < NP_REGION_COUNT; r++) {
    int64_t now = tokens_in(g, (np_region)r);
    if (now < g->pack.bounds[r].min && now < before[r]) yes = false;
  }
  np_pack_undo(&g->pack, mark, NULL);
  return yes;
}

/* Whether the region could still give something. */
static bool could_give(golden *g, np_region region) {
  for (size_t i = 0; i < g->log.entry_count; i++) {
    const np_entry *en = &g->log.entries[i];
    if (en->region != region || !np_candidates_may_lower(&g->pack, en->id)) continue;
    for (int rung = NP_TRIMMED; rung <= NP_DROPPED; rung++) {
      if (helps(g, region, en->id, rung)) return true;
    }
  }
  return false;
}

static const np_region both[] = {NP_REGION_WARM, NP_REGION_HOT};

static void random_bounds(unsigned long long *rng, golden *g) {
  for (size_t i = 0; i < NP_COUNT(both); i++) {
    np_bounds *b = &g->pack.bounds[both[i]];
    size_t now = (size_t)tokens_in(g, both[i]);
    *b = (np_bounds){0};
    if (check_random(rng) % 2) b->min = (int64_t)(check_random(rng) % (now + 100));
    if (check_random(rng) % 2)
      b->max = b->min + (int64_t)(check_random(rng) % (now + 10)) + 1;
    if (check_random(rng) % 3 == 0) b->share = (double)(1 + check_random(rng) % 64) / 64;
  }
}

static int64_t cap_of(const golden *g, np_region r) {
  const np_bounds *b = &g->pack.bounds[r];
  int64_t share = b->share > 0 ? (int64_t)(b->share * (double)g->pack.budget) : INT64_MAX;
  return b->max && b->max < share ? b->max : share;
}

static const char *broken(golden *g, int64_t target) {
  int64_t before[NP_REGION_COUNT];
  memcpy(before, g->pack.view.region, sizeof before);
  if (np_pack_shrink(&g->pack, target, golden_reason, NULL)) return "shrink fails";
  for (size_t i = 0; i < NP_COUNT(both); i++) {
    np_region r = both[i], other = both[1 - i];
    int64_t now = tokens_in(g, r), min = g->pack.bounds[r].min;
    if (now < min && now < before[r]) return "a region is below its minimum";
    bool above = np_pack_over(&g->pack, r) > 0;
    bool spent = np_pack_over(&g->pack, other) == 0 &&
                 before[other] <= cap_of(g, other) && tokens_in(g, other) < before[other];
    if (above && spent && could_give(g, r))
      return "a region within its cap gave before one above it";
  }
  if (np_pack_tokens(&g->pack) > target &&
      (could_give(g, both[0]) || could_give(g, both[1])))
    return "there was more to give";
  return NULL;
}

static void at_random(void) {
  unsigned long long rng = check_seed(20261130);
  size_t wrong = 0, changed = 0, summaries = 0, kept = 0;
  for (int round = 0; round < 60; round++) {
    golden g;
    golden_open(&g, vocab, "openai", 4000 + (int64_t)(check_random(&rng) % 4000));
    golden_history(&g,
                   "{'role':'system','content':'s'}\n{'role':'user','content':'go'}\n");
    add_steps(&rng, &g, 6 + (int)(check_random(&rng) % 12));
    summaries += add_summaries(&rng, &g);
    g.pack.order = round % 2 ? NP_ORDER_VALUE : NP_ORDER_RANK;
    for (int k = 0; k < 4; k++) {
      size_t mark = np_pack_mark(&g.pack);
      random_bounds(&rng, &g);
      int64_t target = (int64_t)(check_random(&rng) % (size_t)np_pack_tokens(&g.pack));
      const char *why = broken(&g, target);
      changed += np_pack_mark(&g.pack) > mark;
      for (size_t i = 0; i < NP_COUNT(both); i++)
        kept += np_pack_room(&g.pack, both[i]) < 40;
      if (why)
        fprintf(stderr, "round %d, target %lld: %s\n", round, (long long)target, why);
      wrong += why != NULL;
      np_pack_undo(&g.pack, mark, NULL);
    }
    golden_close(&g);
  }
  fprintf(stderr, "%zu shrinks, %zu met a minimum, %zu summaries\n", changed, kept,
          summaries);
  CHECK("bounds hold", wrong == 0);
  CHECK("they were put to the test", changed > 100 && kept > 0 && summaries > 60);
}

/* One region gives, the other does not. */
static void by_hand(void) {
  unsigned long long rng = 1;
  for (int order = NP_ORDER_RANK; order <= NP_ORDER_VALUE; order++) {
    golden g;
    golden_open(&g, vocab, "openai", 100000);
    golden_history(&g, "{'role':'user','content':'go'}\n");
    add_steps(&rng, &g, 12);
    CHECK("there are summaries", add_summaries(&rng, &g) > 0);
    g.pack.order = (np_order)order;
    int64_t hot = tokens_in(&g, NP_REGION_HOT), warm = tokens_in(&g, NP_REGION_WARM);
    size_t mark = np_pack_mark(&g.pack);
    g.pack.bounds[NP_REGION_HOT].max = hot - 300;
    np_pack_shrink(&g.pack, np_pack_tokens(&g.pack) - 300, golden_reason, NULL);
    CHECK("what is above its cap gives", tokens_in(&g, NP_REGION_HOT) <= hot - 300 &&
                                             tokens_in(&g, NP_REGION_WARM) == warm);
    np_pack_undo(&g.pack, mark, NULL);
    g.pack.bounds[NP_REGION_HOT] = (np_bounds){.min = hot - 200};
    np_pack_shrink(&g.pack, 0, golden_reason, NULL);
    CHECK("a minimum is kept", tokens_in(&g, NP_REGION_HOT) >= hot - 200);
    CHECK("while the other region gives", tokens_in(&g, NP_REGION_WARM) < warm);
    np_pack_undo(&g.pack, mark, NULL);
    g.pack.bounds[NP_REGION_HOT] = (np_bounds){.share = 0.001};
    CHECK("a share is of the budget", np_pack_over(&g.pack, NP_REGION_HOT) == hot - 100);
    golden_close(&g);
  }
}

static void open_session(unsigned long long *rng, golden *g, int order) {
  golden_open(g, vocab, "openai", 100000);
  golden_history(g, "{'role':'user','content':'go'}\n");
  add_steps(rng, g, 12);
  CHECK("there are summaries", add_summaries(rng, g) > 1);
  g->pack.order = (np_order)order;
}

/* A notice counts where it stands, and may grow by what goes behind it. */
static void notices(void) {
  unsigned long long rng = 1;
  for (int order = NP_ORDER_RANK; order <= NP_ORDER_VALUE; order++) {
    golden g;
    open_session(&rng, &g, order);
    int64_t hot = tokens_in(&g, NP_REGION_HOT), warm = tokens_in(&g, NP_REGION_WARM);
    const np_fold *newest = &g.log.folds[g.log.fold_count - 1];
    uint32_t atom = np_log_entry(&g.log, newest->entry)->atom;
    int64_t tokens = np_view_at(&g.pack.view, newest->entry)->tokens;
    np_pack_drop_atom(&g.pack, atom, golden_reason);
    CHECK("the notice of a summary is warm", tokens_in(&g, NP_REGION_HOT) == hot);
    CHECK("it has tokens", tokens_in(&g, NP_REGION_WARM) > warm - tokens);
    warm = tokens_in(&g, NP_REGION_WARM);
    g.pack.bounds[NP_REGION_WARM].max = warm;
    np_pack_shrink(&g.pack, warm + 60, golden_reason, NULL);
    CHECK("hot has given", tokens_in(&g, NP_REGION_HOT) < hot - 300);
    CHECK("a notice that grew is made up for", !np_pack_over(&g.pack, NP_REGION_WARM));
    golden_close(&g);
  }
}

/* What the rungs have lost, each entry being worth 10. */
static int64_t lost(const golden *g) {
  static const int of[NP_RUNG_COUNT] = {0, 4, 7, 9, 10};
  int64_t n = 0;
  for (size_t i = 0; i < g->log.entry_count; i++) n += of[g->pack.view.shown[i].rung];
  return n;
}

/* What stops at a minimum has gone by value, too: by rank more than twice as much is lost. */
static void by_value_within(void) {
  unsigned long long rng = 1;
  int64_t loss[2];
  golden g;
  open_session(&rng, &g, NP_ORDER_VALUE);
  g.pack.bounds[NP_REGION_WARM].min = tokens_in(&g, NP_REGION_WARM);
  g.pack.bounds[NP_REGION_HOT].min = tokens_in(&g, NP_REGION_HOT) / 2;
  for (int order = NP_ORDER_RANK; order <= NP_ORDER_VALUE; order++) {
    size_t mark = np_pack_mark(&g.pack);
    g.pack.order = (np_order)order;
    np_pack_shrink(&g.pack, 0, golden_reason, NULL);
    loss[order] = lost(&g);
    np_pack_undo(&g.pack, mark, NULL);
  }
  fprintf(stderr, "lost by rank %d, by value %d\n", (int)loss[0], (int)loss[1]);
  CHECK("a minimum costs little value", loss[1] > 0 && 2 * loss[1] < loss[0]);
  golden_close(&g);
}

int main(void) {
  vocab = golden_vocab("o200k_base");
  if (!vocab) return check_done();
  by_hand();
  notices();
  by_value_within();
  at_random();
  np_vocab_free(vocab);
  return check_done();
}
