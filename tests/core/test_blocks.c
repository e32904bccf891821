/*
** Blocks: state, memory, evidence, notices. Their bodies in every format, before a rewrite and
** behind it; what rungs they have; the undo. next: test_pack.c
*/
#include "golden.h"
#include "render/check.h"

static np_vocab *vocab;

#define BEGINNING                                                                        \
  "{'role':'system','content':'S'}\n"                                                    \
  "{'kind':'memory','content':'M1 é'}\n"                                                \
  "{ 'role': 'user', 'content': 'T' }\n"
#define MIDDLE                                                                           \
  "{'role':'assistant','content':'','tool_calls':[{'id':'c','type':'function',"          \
  "'function':{'name':'sh','arguments':'{}'}}]}\n"                                       \
  "{'kind':'state','content':'S1'}\n"                                                    \
  "{'role':'tool','tool_call_id':'c','content':'R'}\n"                                   \
  "{'kind':'evidence','content':'E1','ts':1}\n"                                          \
  "{'kind':'notice','content':'N1'}\n"
#define END                                                                              \
  "{'role':'assistant','content':'A2'}\n"                                                \
  "{'kind':'state','content':'S2'}\n"                                                    \
  "{'kind':'memory','content':'M2'}\n"                                                   \
  "{'role':'user','content':'U2'}\n"

/* The first prompt, what the second adds to it, and one that is written anew. */
typedef struct golden_case {
  const char *format, *first, *second, *anew, *head;
} golden_case;

static const golden_case cases[] = {
#include "blocks.inc"
};

static bool lay(golden *g, bool now) {
  return np_pack_lay(&g->pack, now) == NP_DONE;
}

static void same(const golden_case *c, golden *g, const char *want) {
  np_buf b;
  np_err e = {0};
  np_buf_init(&b, &np_alloc_libc);
  np_str body = golden_body(g), text = golden_json(&b, want);
  golden_same(c->format, body, text);
  neap_rc rc = np_check(&np_alloc_libc, np_str_cstr(c->format), body, true, &e);
  if (rc) fprintf(stderr, "%s: %s\n", c->format, e.text);
  CHECK("its provider takes it", rc == NEAP_OK);
  np_buf_free(&b);
}

static void bodies(const golden_case *c) {
  golden g;
  golden_open(&g, vocab, c->format, 100000);
  golden_history(&g, BEGINNING);
  CHECK("the first prompt is laid", lay(&g, false));
  same(c, &g, c->first);
  golden_history(&g, MIDDLE);
  CHECK("what comes within an epoch is not", !lay(&g, false));
  same(c, &g, c->second);
  golden_history(&g, END);
  g.pack.view.want.order[0] = NP_REGION_STATE;
  g.pack.view.want.order[1] = NP_REGION_WARM;
  g.pack.view.want.order[2] = NP_REGION_MEMORY;
  golden_change(&g, "d5");
  CHECK("a rewrite lays what came", lay(&g, false));
  CHECK("once", !lay(&g, true));
  same(c, &g, c->anew);
  g.pack.view.want.head = true;
  CHECK("another place waits for a rewrite", !lay(&g, false));
  CHECK("or for who wants it now", lay(&g, true));
  same(c, &g, c->head);
  golden_close(&g);
}

#define LONG                                                                             \
  "one two three four five six seven eight nine ten\\n"                                  \
  "one two three four five six seven eight nine ten\\n"                                  \
  "one two three four five six seven eight nine ten\\n"                                  \
  "one two three four five six seven eight nine ten\\n"                                  \
  "one two three four five six seven eight nine ten\\n"

/* System, task, a block of that kind (entry 3), and two steps. */
static void open_kind(golden *g, const char *kind) {
  char line[600];
  golden_open(g, vocab, "openai", 100000);
  golden_history(g, "{'role':'system','content':'S'}\n{'role':'user','content':'T'}\n");
  snprintf(line, sizeof line, "{'kind':'%s','content':'" LONG "'}\n", kind);
  golden_history(g, line);
  golden_history(g, "{'role':'assistant','content':'A'}\n"
                    "{'role':'user','content':'" LONG "'}\n"
                    "{'role':'assistant','content':'B'}\n");
  lay(g, false);
}

typedef np_verdict (*lower_fn)(np_pack *p, int64_t id, np_reason r);

static np_verdict trim(np_pack *p, int64_t id, np_reason r) {
  return np_pack_trim(p, id, (np_trim_want){.tokens = 40}, r);
}

/* Which of trim, reference, mask and drop the kinds have. */
static void rungs(void) {
  static const lower_fn lower[] = {trim, np_pack_reference, np_pack_mask, np_pack_drop};
  static const struct {
    const char *kind, *has;
    np_region region;
  } kinds[] = {{"state", "", NP_REGION_STATE},
               {"memory", "trmd", NP_REGION_MEMORY},
               {"evidence", "trmd", NP_REGION_HOT},
               {"notice", "d", NP_REGION_HOT}};
  for (size_t k = 0; k < NP_COUNT(kinds); k++) {
    golden g;
    open_kind(&g, kinds[k].kind);
    const np_entry *en = np_log_entry(&g.log, 3);
    CHECK("its kind", strcmp(np_kind_name(en->kind), kinds[k].kind) == 0);
    CHECK("its region", en->region == kinds[k].region);
    CHECK("it is one atom", g.log.atoms[en->atom].members == 1);
    CHECK("the task is the user's", np_log_entry(&g.log, 2)->region == NP_REGION_TASK);
    for (size_t i = 0; i < NP_COUNT(lower); i++) {
      size_t mark = np_pack_mark(&g.pack);
      bool has = strchr(kinds[k].has, "trmd"[i]) != NULL;
      np_verdict v = lower[i](&g.pack, 3, golden_reason);
      CHECK("it has the rungs of its kind", v == (has ? NP_DONE : NP_REFUSED));
      np_pack_undo(&g.pack, mark, NULL);
    }
    bool hot = kinds[k].region == NP_REGION_HOT;
    CHECK("only what is hot is folded", np_pack_may_fold(&g.pack, en->atom) == hot);
    golden_close(&g);
  }
}

/* A state that says nothing any more goes before anything else does. */
static void old_states(void) {
  golden g;
  open_kind(&g, "state");
  golden_body(&g);
  golden_history(&g, "{'kind':'state','content':'new'}\n"
                     "{'role':'assistant','content':'C'}\n");
  size_t mark = np_pack_mark(&g.pack);
  int64_t before = np_pack_tokens(&g.pack);
  CHECK("an old state has tokens", np_pack_stale(&g.pack) > 40);
  np_pack_shrink(&g.pack, before - 10, golden_reason, NULL);
  CHECK("it goes", !np_view_at(&g.pack.view, 3)->listed && !np_pack_stale(&g.pack));
  for (size_t i = 3; i < g.log.entry_count; i++)
    CHECK("nothing else does", np_view_at(&g.pack.view, (int64_t)i + 1)->rung == NP_FULL);
  np_pack_undo(&g.pack, mark, NULL);
  CHECK("the undo brings it back",
        np_view_at(&g.pack.view, 3)->listed && np_pack_tokens(&g.pack) == before);
  g.pack.budget = before - 10;
  CHECK("it goes first in the last resort, too",
        np_pack_last_resort(&g.pack, NULL) == NEAP_OK &&
            !np_view_at(&g.pack.view, 3)->listed && g.pack.change_count == 2);
  golden_close(&g);
}

static void refused(void) {
  static const char *const bad[][2] = {
      {"{'kind':'memo','content':'x'}", "unknown kind"},
      {"{'kind':'summary','content':'x'}", "unknown kind"},
      {"{'kind':7,'content':'x'}", "unknown kind"},
      {"{'kind':'state'}", "needs its content"},
      {"{'kind':'state','content':''}", "needs its content"},
      {"{'kind':'state','content':['x']}", "needs its content"},
      {"{'kind':'state','content':'x','name':'y'}", "no \"name\""},
      {"{'content':'x'}", "needs a role"}};
  golden g;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  golden_open(&g, vocab, "openai", 1000);
  for (size_t i = 0; i < NP_COUNT(bad); i++) {
    np_err e = {0};
    size_t at;
    neap_rc rc = np_log_append(&g.log, golden_json(&b, bad[i][0]), &at, &e);
    if (!strstr(e.text, bad[i][1])) fprintf(stderr, "%s: %s\n", bad[i][0], e.text);
    CHECK("it is refused by name", rc == NEAP_E_SHAPE && strstr(e.text, bad[i][1]));
  }
  CHECK("nothing is kept", g.log.entry_count == 0);
  golden_add(&g, golden_json(&b, "{'role':'user','kind':'x','content':'a message'}"));
  CHECK("what has a role is a message",
        np_log_entry(&g.log, 1)->kind == NP_KIND_USER &&
            np_log_entry(&g.log, 1)->region == NP_REGION_TASK);
  np_buf_free(&b);
  golden_close(&g);
}

int main(void) {
  vocab = golden_vocab("o200k_base");
  if (!vocab) return check_done();
  for (size_t i = 0; i < NP_COUNT(cases); i++) bodies(&cases[i]);
  rungs();
  old_states();
  refused();
  np_vocab_free(vocab);
  return check_done();
}
