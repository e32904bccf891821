/*
** Results that come late, when what stands around them has been dropped: a random history found
** that a run went on over a result that is shown, another that the notice of a call's run still
** counted its stub. In JSON written here ' stands for ". next: test_pack.c
*/
#include "golden.h"

#define ASK "{'role':'user','content':'go'}\n"
#define CALLED                                                                           \
  "{'role':'assistant','content':[{'type':'tool_use','id':'t','name':'f','input':{}},"   \
  "{'type':'text','text':'said behind the call'}]}\n"
#define ON "{'role':'user','content':'go on with it'}\n"

/* Entries and tokens of every run are those of what is in it. */
static bool runs_are_right(const np_view *v, int *runs) {
  bool right = true;
  *runs = 0;
  for (int64_t id = v->head; id; id = np_view_at(v, id)->next) {
    if (!np_view_is_run_head(v, id)) continue;
    const np_run *r = &v->runs[np_view_at(v, id)->run];
    int64_t entries = 0, tokens = 0;
    for (int64_t i = id; i; i = i == r->last ? 0 : np_view_at(v, i)->next) {
      right = right && np_view_at(v, i)->rung == NP_DROPPED;
      entries += np_view_piece(v, i).entries;
      tokens += np_view_piece(v, i).tokens;
    }
    right = right && entries == r->entries && tokens == r->tokens;
    ++*runs;
  }
  return right;
}

static void come_late(const np_vocab *v, const char *drop, const char *late,
                      const char *more, int want, const char *what) {
  golden g;
  np_buf before;
  int runs;
  np_buf_init(&before, &np_alloc_libc);
  golden_open(&g, v, "anthropic", 100000);
  golden_history(&g, ASK CALLED ON);
  golden_change(&g, drop);
  golden_body(&g);
  golden_history(&g, late);
  int64_t tokens = np_pack_tokens(&g.pack);
  np_buf_add(&before, golden_body(&g));
  CHECK(what, runs_are_right(&g.pack.view, &runs) && runs == want);
  size_t mark = np_pack_mark(&g.pack);
  golden_change(&g, more);
  CHECK("a change is taken back", np_pack_undo(&g.pack, mark, NULL) == NEAP_OK);
  CHECK("and leaves the totals as they were", np_pack_tokens(&g.pack) == tokens);
  g.pack.view.dirty = 0;
  golden_same("a fresh rendering", golden_body(&g), np_buf_str(&before));
  golden_close(&g);
  np_buf_free(&before);
}

int main(void) {
  np_vocab *v = golden_vocab("o200k_base");
  if (!v) return check_done();
  const char *late = "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t',"
                     "'content':'the result'}]}\n";
  come_late(v, "d3 d4", late, "d5", 2, "a run is parted by a result that comes into it");
  come_late(v, "d2", late, "d4", 2, "a result's call is counted where it is");
  np_vocab_free(v);
  return check_done();
}
