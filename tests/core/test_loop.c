/*
** Thinking loops: signed thoughts and what they are bound to. Nothing before them changes while
** their loop is open, unless nothing else makes the prompt fit; results inside may be put away
** where the provider does not bind. In JSON written here ' stands for ". next: test_pack.c
*/
#include "golden.h"
#include "pack/pack.h"
#include "render/check.h"

static const char words[] =
    "one two three four five six seven eight nine ten one two three four five six seven "
    "eight nine ten one two three four five six seven eight nine ten one two three four";

/* u, a[th1,{t1}], r1, a[th2,{t2}], r2 */
static void begin(golden *g, const np_vocab *v, const char *model, int64_t budget) {
  char line[2000];
  golden_open(g, v, "anthropic", budget);
  g->pack.view.model = np_model_find(np_str_cstr(model));
  CHECK("the model is known", g->pack.view.model != NULL);
  golden_history(g, "{'role':'user','content':'go'}\n");
  for (int i = 1; i <= 2; i++) {
    snprintf(line, sizeof line,
             "{'role':'assistant','content':[{'type':'thinking','thinking':'thought %d',"
             "'signature':'s%d'},{'type':'tool_use','id':'t%d','name':'bash','input':{"
             "'command':'step %d'}}]}\n{'role':'user','content':[{'type':'tool_result',"
             "'tool_use_id':'t%d','content':'%s'}]}\n",
             i, i, i, i, i, words);
    golden_history(g, line);
    golden_body(g);
  }
}

static bool stands(np_str body, const char *text) {
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  bool found = np_str_find(body, golden_json(&b, text), 0) != SIZE_MAX;
  np_buf_free(&b);
  return found;
}

static const char *const thoughts[] = {
    "{'type':'thinking','thinking':'thought 1','signature':'s1'}",
    "{'type':'thinking','thinking':'thought 2','signature':'s2'}"};

static bool both_stand(golden *g) {
  np_str body = golden_body(g);
  np_err e = {0};
  neap_rc rc = np_check(&np_alloc_libc, NP_LIT("anthropic"), body, true, &e);
  if (rc) fprintf(stderr, "%s\n", e.text);
  CHECK("the provider takes it", rc == NEAP_OK);
  return stands(body, thoughts[0]) && stands(body, thoughts[1]);
}

static np_reason why = {{"test", 4}, {"test_loop.c", 11}};

static bool refused(golden *g, np_verdict v) {
  return v == NP_REFUSED && strstr(g->pack.refusal, "the thinking loop is open") != NULL;
}

/* Entries: 1 user, 2 thought, 3 call, 4 result, 5 thought, 6 call, 7 result. */
static void test_not_bound(const np_vocab *v) {
  golden g;
  begin(&g, v, "claude-sonnet-4-5", 100000);
  np_pack *p = &g.pack;
  CHECK("all is sent", both_stand(&g));
  CHECK("an older result may be masked", np_pack_mask(p, 4, why) == NP_DONE);
  CHECK("both thoughts are untouched", both_stand(&g));
  CHECK("a thought stays", refused(&g, np_pack_drop(p, 2, why)));
  CHECK("a call stays", refused(&g, np_pack_drop(p, 3, why)));
  CHECK("its exchange cannot be folded", !np_pack_may_fold(p, p->log->entries[2].atom));
  golden_history(&g, "{'role':'assistant','content':[{'type':'text','text':'done'}]}\n");
  CHECK("after an answer it is closed", np_pack_drop(p, 2, why) == NP_DONE);
  CHECK("and its exchanges are history", np_pack_drop(p, 3, why) == NP_DONE);
  golden_close(&g);
}

static void test_bound(const np_vocab *v) {
  golden g;
  begin(&g, v, "claude-opus-5", 100000);
  np_pack *p = &g.pack;
  int64_t before = np_pack_tokens(p);
  CHECK("a result before a thought stays", refused(&g, np_pack_mask(p, 4, why)));
  CHECK("it is not trimmed either",
        refused(&g, np_pack_trim(p, 4, (np_trim_want){.tokens = 60}, why)));
  CHECK("a shrink passes it by",
        np_pack_shrink(p, 10, why, NULL) == NEAP_OK && np_pack_tokens(p) == before);
  CHECK("nothing has changed", both_stand(&g));
  np_keep keep = NP_KEEP_HEAD;
  CHECK("what is new behind the last thought may be trimmed",
        np_pack_trim(p, 7, (np_trim_want){.tokens = 60, .keep = &keep}, why) == NP_SAME ||
            np_view_at(&p->view, 7)->rung == NP_TRIMMED || np_view_at(&p->view, 7)->sent);
  golden_history(&g, "{'role':'user','content':[{'type':'text','text':'stop'}]}\n");
  CHECK("a word of the user's ends it", np_pack_mask(p, 4, why) == NP_DONE);
  golden_close(&g);
}

/* What cannot fit closes the loop, and says so. */
static void test_closed(const np_vocab *v) {
  golden g;
  begin(&g, v, "claude-opus-5", 100000);
  np_pack *p = &g.pack;
  p->budget = np_pack_tokens(p) - 20;
  np_err e = {0};
  CHECK("the last resort makes it fit",
        np_pack_last_resort(p, &e) == NEAP_OK && np_pack_tokens(p) <= p->budget);
  bool told = false;
  for (size_t i = 0; i < p->change_count; i++)
    told =
        told || (p->changes[i].entry == 2 && p->changes[i].to == NP_DROPPED &&
                 np_str_find(p->changes[i].why, NP_LIT("loop was closed"), 0) == 0 + 13);
  CHECK("the change says why", told);
  np_str body = golden_body(&g);
  CHECK("no thought stands behind a change",
        !stands(body, thoughts[0]) && !stands(body, thoughts[1]));
  CHECK("the provider takes it",
        np_check(&np_alloc_libc, NP_LIT("anthropic"), body, true, &e) == NEAP_OK);
  golden_close(&g);
}

int main(void) {
  np_vocab *v = golden_vocab("o200k_base");
  if (!v) return check_done();
  test_not_bound(v);
  test_bound(v);
  test_closed(v);
  np_vocab_free(v);
  return check_done();
}
