/*
** Properties of packing and rendering on random histories under random policies, in every
** format (NEAP_FORMAT: in one): a recount of the bytes equals the account, never over budget, always valid, within
** an epoch only appended to, undo leaves no trace. next: test_store.c
*/
#include "anthropic_check.h"
#include "check.h"
#include "cite/log_index.h"
#include "gemini_recount.h"
#include "history_contents.h"
#include "history_items.h"
#include "openai_check.h"
#include "pack/change.h"
#include "render/check.h"
#include "render/mark.h"
#include "render/repair.h"
#include "responses_recount.h"

static const np_reason reason = {{"chance", 6}, {"test.lua:1", 10}};
static const char *vocab_dir(void) {
  const char *dir = getenv("NEAP_DATA");
  return dir ? dir : "core/token/data";
}

static int folds, merges, unfolds, untouched, placed, pointed; /* of all worlds */
static uint32_t repairs;

typedef struct world {
  np_log log;
  np_pack pack;
  history h;
  np_buf last; /* of the last prompt, what must begin the next; seen: of this one */
  np_buf seen;
  np_str (*next)(history *h, int index); /* makes most of the messages */
  int messages, prompts, rewrites, overflows, folds, unfolds, untouched, placed;
  int resorts, pointed;
  uint32_t repairs; /* that were told */
  const char *wrong;
} world;

static void fail(world *w, const char *what) {
  if (!w->wrong) w->wrong = what;
}

static double some_rank(void *ctx, int64_t id) {
  world *w = ctx;
  return (double)((unsigned long long)id * 2654435761u % 97) / 7.0 +
         (double)w->prompts * 0;
}

/* Atoms between two entries that may be folded; sometimes one too many. */
static size_t some_atoms(world *w, uint32_t *atoms) {
  size_t n = 0, most = pick(&w->h, 12) + 1;
  np_pack *p = &w->pack;
  bool wrong = !pick(&w->h, 8);
  for (size_t i = pick(&w->h, p->log->atom_count); i < p->log->atom_count && n < most;
       i++) {
    if (wrong || np_pack_may_fold(p, (uint32_t)i)) atoms[n++] = (uint32_t)i;
  }
  return n;
}

/* Those of some steps, with what summaries of these stand for; sometimes others than are told. */
static size_t some_merge(world *w, uint32_t *atoms, np_takes *takes) {
  size_t n = 0;
  np_pack *p = &w->pack;
  int64_t from = (int64_t)pick(&w->h, (size_t)p->log->step + 1);
  int64_t before = from + (int64_t)pick(&w->h, 40);
  for (size_t i = 0; i < p->log->atom_count; i++) {
    int64_t s = np_pack_may_take(p, (uint32_t)i, from, before);
    int64_t step = np_log_entry(p->log, p->log->atoms[i].first)->step;
    bool in = step >= from && step < before;
    if (!s && !(in && np_pack_may_fold(p, (uint32_t)i))) continue;
    atoms[n++] = (uint32_t)i;
    if (!s || np_log_fold_of(p->log, np_log_entry(p->log, s))->atoms[0] != i) continue;
    takes->count++;
    if (s > takes->newest) takes->newest = s;
  }
  if (!pick(&w->h, 8)) takes->newest++;
  return n;
}

static void random_fold(world *w) {
  np_pack *p = &w->pack;
  np_takes takes = {0};
  uint32_t *atoms = np_calloc(&np_alloc_libc, p->log->atom_count + 1, sizeof *atoms);
  size_t n = pick(&w->h, 2) ? some_atoms(w, atoms) : some_merge(w, atoms, &takes);
  np_buf text;
  np_buf_init(&text, &np_alloc_libc);
  for (size_t i = pick(&w->h, pick(&w->h, 3) ? 20 : 300); i > 0; i--)
    np_buf_adds(&text, i % 7 ? "noted " : "- [step 3] src/a.c:41\n");
  size_t entries = p->log->entry_count, changes = p->change_count, live = p->view.live;
  int64_t before = np_pack_tokens(p);
  np_verdict v = np_pack_refold(p, atoms, n, takes, np_buf_str(&text), reason, NULL);
  w->folds += v == NP_DONE;
  merges += v == NP_DONE && takes.count;
  if (v == NP_DONE && np_pack_tokens(p) >= before) fail(w, "a fold has saved nothing");
  if (v == NP_DONE && p->view.live != live + 1 - takes.count)
    fail(w, "a fold has left the summaries that it takes in");
  if (v == NP_NO_MEMORY) fail(w, "a fold ran out of memory");
  if (v == NP_REFUSED && (np_pack_tokens(p) != before || p->log->entry_count != entries ||
                          p->change_count != changes || p->view.live != live))
    fail(w, "a refused fold left something");
  np_buf_free(&text);
  np_free(&np_alloc_libc, atoms);
}

static void random_unfold(world *w) {
  const np_log *lg = &w->log;
  if (!lg->fold_count) return;
  np_reason r = reason;
  int64_t id = lg->folds[pick(&w->h, lg->fold_count)].entry;
  w->unfolds += np_pack_unfold(&w->pack, id, r) == NP_DONE;
}

/* One in three by lines too. */
static void random_trim(world *w, int64_t id, const np_keep *keep) {
  int64_t tokens = (int64_t)pick(&w->h, 200);
  np_trim_want want = {.tokens = tokens,
                       .lines = tokens % 3 ? 0 : tokens / 4,
                       .keep = keep,
                       .about = NP_LIT("error total")};
  np_pack_trim(&w->pack, id, want, reason);
}

/* What a policy says of places; it holds from the next rewrite on. */
static void random_layout(world *w) {
  np_layout *l = &w->pack.view.want;
  size_t from = pick(&w->h, NP_LAYOUT);
  np_region first = l->order[from];
  l->order[from] = l->order[0];
  l->order[0] = first;
  l->head = pick(&w->h, 2) == 0;
}

/* The next result from `id` on that an earlier one is the same as; else `id`. */
static int64_t again(const world *w, int64_t id) {
  for (int64_t i = id; i <= (int64_t)w->pack.view.count; i++) {
    if (np_log_same(&w->log, np_log_entry(&w->log, i))) return i;
  }
  return id;
}

static void random_change(world *w) {
  np_pack *p = &w->pack;
  if (!pick(&w->h, 20)) random_layout(w);
  if (!pick(&w->h, 24)) {
    np_pack_lay(p, pick(&w->h, 3) == 0);
    return;
  }
  if (!pick(&w->h, 6)) {
    random_fold(w);
    return;
  }
  if (!pick(&w->h, 16)) {
    random_unfold(w);
    return;
  }
  int64_t id = (int64_t)pick(&w->h, p->view.count) + 1;
  np_keep keep = (np_keep)pick(&w->h, 6);
  switch (pick(&w->h, 8)) {
    case 0: random_trim(w, id, &keep); break;
    case 1: np_pack_reference(p, pick(&w->h, 2) ? id : again(w, id), reason); break;
    case 2: np_pack_mask(p, id, reason); break;
    case 3: np_pack_drop(p, id, reason); break;
    case 4: np_pack_restore(p, id, reason); break;
    case 5:
      if (!pick(&w->h, 12)) np_pack_pin(p, id, reason);
      break;
    case 6:
      if (!pick(&w->h, 6)) np_pack_hold(p, id, reason);
      break;
    default:
      p->order = (np_order)pick(&w->h, 2);
      p->rank = pick(&w->h, 2) ? some_rank : NULL;
      p->rank_ctx = w;
      np_pack_shrink(p, (int64_t)pick(&w->h, (unsigned long long)p->budget), reason,
                     NULL);
  }
}

/* Random changes taken back again must leave totals as they were. */
static void random_undo(world *w) {
  int64_t before = np_pack_tokens(&w->pack);
  size_t mark = np_pack_mark(&w->pack), entries = w->log.entry_count;
  int n = (int)pick(&w->h, 6);
  for (int i = 0; i < n; i++) random_change(w);
  if (np_pack_undo(&w->pack, mark, NULL)) fail(w, "undo failed");
  if (np_pack_tokens(&w->pack) != before) fail(w, "undo left other totals");
  if (w->log.entry_count != entries) fail(w, "undo left a summary");
}

static int previews; /* of all worlds */

/* One trim or several, whose worth is what they show, or not. */
static void other_ladder(world *w) {
  int64_t first = (int64_t)pick(&w->h, 3) * 80, rest = (int64_t)pick(&w->h, 3);
  np_ladder *l = &w->pack.ladder;
  *l = (np_ladder){.tokens = {first}, .by_shown = pick(&w->h, 2) > 0};
  for (int i = 1; first && i <= rest; i++) l->tokens[i] = first - 25 * i;
  l->by_facts = pick(&w->h, 2) > 0;
  l->facts = (np_cite_weights){1, 0.5, (double)pick(&w->h, 2), 4, 2};
  l->named = pick(&w->h, 2) ? (double)(1 + pick(&w->h, 3)) : 0;
}

/* What is remembered of a lower step is what it comes to now. */
static void check_previews(world *w) {
  np_pack *p = &w->pack;
  uint32_t any;
  np_pack_preview(p, 1, NP_MASKED, &any); /* another ladder makes itself felt here */
  for (int64_t id = 1; id <= (int64_t)p->view.count; id++) {
    np_shown *s = np_view_at(&p->view, id);
    /* facts that have left the entry since make themselves felt here */
    if (s->listed && s->preview[0]) np_pack_preview_step(p, id, 0, &any);
    for (int step = 0; s->listed && step < NP_STEPS; step++) {
      uint32_t tokens, known = s->preview[step];
      float kept = step < NP_TRIMS ? s->kept[step] : 0;
      if (!known) continue;
      s->preview[step] = 0;
      np_pack_preview_step(p, id, step, &tokens);
      if (s->preview[step] != known) fail(w, "a preview is out of date");
      if (step < NP_TRIMS && p->ladder.by_shown && s->kept[step] != kept)
        fail(w, "the names of a preview are out of date");
      previews++;
    }
  }
}

static void check_regions(world *w) {
  int64_t sum = 0;
  for (int r = 0; r < NP_REGION_COUNT; r++) sum += w->pack.view.region[r];
  if (sum != w->pack.view.total) fail(w, "regions do not add up");
}

/* What is shown as the same as an earlier result stands behind that, which is whole, as long as
** no last resort was needed. */
static void check_pointers(world *w) {
  const np_view *v = &w->pack.view;
  for (size_t i = 0; i < v->pointer_count; i++) {
    const np_shown *s = np_view_at(v, v->pointers[i].from);
    if (!s->listed || s->rung != NP_REFERENCE || !np_mark_is_same(s->text)) continue;
    const np_shown *first = np_view_at(v, v->pointers[i].to);
    w->pointed++;
    if (w->resorts || (first->listed && first->rung == NP_FULL)) continue;
    fail(w, "a result is shown as the same as one that is not shown");
  }
}

/* A run's notice counts what is in it, and nothing that is shown stands in it. */
static void check_run(world *w, int64_t id) {
  const np_view *v = &w->pack.view;
  const np_run *r = &v->runs[np_view_at(v, id)->run];
  int64_t entries = 0, tokens = 0;
  for (; id; id = id == r->last ? 0 : np_view_at(v, id)->next) {
    np_piece one = np_view_piece(v, id);
    if (np_view_at(v, id)->rung != NP_DROPPED) fail(w, "a shown entry is in a run");
    entries += one.entries;
    tokens += one.tokens;
  }
  if (entries != r->entries || tokens != r->tokens)
    fail(w, "a notice counts other entries or tokens than are in its run");
}

/* As it is, or as a string of JSON. */
static bool is_in(np_str body, np_str text) {
  np_buf quoted;
  np_buf_init(&quoted, &np_alloc_libc);
  np_json_quote(&quoted, text);
  np_str inside = np_str_cut(np_buf_str(&quoted), 1, quoted.n - 1);
  bool found =
      np_str_find(body, text, 0) != SIZE_MAX || np_str_find(body, inside, 0) != SIZE_MAX;
  np_buf_free(&quoted);
  return found;
}

/* Every dropped entry is told of by a notice that is in the prompt. */
static void check_told(world *w, np_str body) {
  const np_view *v = &w->pack.view;
  int64_t dropped = 0, told = 0;
  np_buf text;
  np_buf_init(&text, &np_alloc_libc);
  for (size_t i = 0; i < v->count; i++) {
    const np_shown *s = &v->shown[i];
    if (s->listed && s->rung == NP_DROPPED)
      dropped += np_view_piece(v, (int64_t)i + 1).entries;
    if (s->folded && (s->listed || !np_view_is_live(v, s->folded)))
      fail(w, "a folded entry is shown, or no summary stands for it");
    if (!np_view_is_run_head(v, (int64_t)i + 1)) continue;
    const np_run *r = &v->runs[v->shown[i].run];
    check_run(w, (int64_t)i + 1);
    np_run_text(v, r, &text);
    if (!is_in(body, np_buf_str(&text))) fail(w, "a notice is not in the prompt");
    told += r->entries;
  }
  if (dropped != told) fail(w, "dropped entries and notices differ");
  np_buf_free(&text);
}

/* Brackets aside: what a provider reads of the last prompt begins this one. */
static void check_prefix(world *w, const np_rendered *r, np_str now) {
  np_str was = np_buf_str(&w->last);
  bool begins = now.n >= was.n && (!was.n || memcmp(now.p, was.p, was.n) == 0);
  if (!r->rewrite && !begins)
    fail(w, "an epoch's prompt does not begin with the last one");
  np_buf_clear(&w->last);
  np_buf_add(&w->last, now);
}

/* The provider's rules, by the validator. */
static void check_valid(world *w, np_str body) {
  static np_err e;
  np_str format = np_str_cstr(w->pack.view.format->name);
  if (np_check(&np_alloc_libc, format, body, true, &e)) fail(w, e.text);
}

/* Counts the body independently; `seen` gets what must begin the next prompt. */
static void check_tokens(world *w, np_str body, np_buf *seen) {
  const np_view *v = &w->pack.view;
  const char *wrong = NULL;
  int64_t tokens = 0;
  if (v->format->shape == NP_SHAPE_ANTHROPIC) {
    wrong = anthropic_count(v->vocab, v->model, body, seen, &tokens);
  } else {
    np_buf_clear(seen);
    np_buf_add(seen, np_str_cut(body, 0, w->pack.frame.body_end));
    if (v->format->shape == NP_SHAPE_RESPONSES)
      tokens = responses_recount(v->vocab, body, v->model, 0);
    else if (v->format->shape == NP_SHAPE_GEMINI)
      tokens = gemini_recount(v->vocab, body, v->model, 0);
    else if (v->format->parts) wrong = openai_check(v->vocab, body, 0, &tokens);
    else tokens = (int64_t)np_vocab_count(v->vocab, body);
  }
  if (wrong) fail(w, wrong);
  if (tokens != np_pack_tokens(&w->pack)) fail(w, "recount differs from the account");
  if (tokens > w->pack.budget) fail(w, "over budget");
}

/* What is shown whole, in its own form, has the bytes that came in, unless a repair is told. */
static void check_untouched(world *w, np_str body) {
  const np_view *v = &w->pack.view;
  np_repair_memo memo = {0};
  for (size_t i = 0; i < v->count; i++) {
    const np_entry *en = &w->log.entries[i];
    const np_shown *s = &v->shown[i];
    const np_message *m = np_view_message(v, en);
    bool shown = s->listed && s->rung == NP_FULL && en->kind != NP_KIND_SUMMARY;
    if (!shown || m->shape != v->format->shape || s->unmarked) continue;
    uint32_t set = np_repairs(v, en, &memo);
    w->repairs |= set;
    if (set) continue;
    w->untouched++;
    if (np_str_find(body, en->raw.raw, 0) != SIZE_MAX) continue;
    fprintf(stderr, "%.*s\n", en->raw.raw.n > 400 ? 400 : (int)en->raw.raw.n,
            en->raw.raw.p);
    fail(w, "an entry was changed, and no repair is told");
  }
}

/* Rendering everything anew gives the same bytes as appending did. */
static void check_fresh(world *w) {
  np_rendered again;
  np_buf copy;
  np_buf_init(&copy, &np_alloc_libc);
  np_buf_add(&copy, np_buf_str(&w->pack.frame.bytes));
  w->pack.view.dirty = 0;
  np_frame_render(&w->pack.frame, &w->pack.view, &again, NULL);
  if (!np_str_eq(again.body, np_buf_str(&copy))) fail(w, "a fresh rendering differs");
  if (again.rewrite) fail(w, "a fresh rendering is taken for a rewrite");
  np_buf_free(&copy);
}

/* Where entries begin that are still shown is where a walk over all of them finds the first. */
static void check_first(world *w) {
  const np_view *v = &w->pack.view;
  uint32_t kinds = (uint32_t)pick(&w->h, UINT32_C(1) << NP_KIND_COUNT);
  bool full = pick(&w->h, 2) == 0, hot = pick(&w->h, 2) == 0;
  int64_t id = 1, end = (int64_t)v->count + 1;
  for (; id < end; id++) {
    const np_shown *s = np_view_at(v, id);
    const np_entry *en = &w->log.entries[id - 1];
    if (!(kinds >> en->kind & 1) || !s->listed || en->region == NP_REGION_FIXED) continue;
    if (hot && en->region != NP_REGION_HOT) continue;
    if (full ? s->rung == NP_FULL : s->rung != NP_DROPPED) break;
  }
  if (np_view_first(v, kinds, hot, full) != id) fail(w, "the first entry is another one");
}

/* The next entry of the order that is a block in its place or a summary is to be of the region,
** ids rising; returns what stands behind them. */
static int64_t check_row(world *w, int64_t id, np_region region) {
  const np_view *v = &w->pack.view;
  int64_t last = 0;
  for (; id; id = np_view_at(v, id)->next) {
    const np_entry *en = np_log_entry(&w->log, id);
    bool summary = en->kind == NP_KIND_SUMMARY, block = np_log_is_block(en->kind);
    if (en->region != region || !(block || summary) || (block && id > v->lay.upto))
      return id;
    if (id < last) fail(w, "blocks of one region are out of order");
    last = id;
    w->placed++;
  }
  return id;
}

/* Behind a rewrite: the task, the regions in the layout's order, the newest state alone, and
** evidence and notices where the layout has them. */
static void check_places(world *w, bool rewrite) {
  const np_view *v = &w->pack.view;
  const np_layout *l = &v->lay.layout;
  if (v->block_count == 0) return;
  if (rewrite &&
      (v->lay.upto < v->blocks[v->block_count - 1] ||
       memcmp(l->order, v->want.order, sizeof l->order) != 0 || l->head != v->want.head))
    fail(w, "a prompt was written anew without its blocks laid");
  int64_t id = v->front ? np_view_at(v, v->front)->next : v->head, states = 0;
  if (v->front != v->lay.front) return; /* the task has come since */
  for (size_t i = 0; i < NP_LAYOUT; i++) id = check_row(w, id, l->order[i]);
  if (l->head) id = check_row(w, id, NP_REGION_HOT);
  for (; id; id = np_view_at(v, id)->next) {
    const np_entry *en = np_log_entry(&w->log, id);
    bool early = id <= v->lay.upto;
    if (en->kind == NP_KIND_SUMMARY) fail(w, "a summary is out of its place");
    if (early && (en->kind == NP_KIND_STATE || en->kind == NP_KIND_MEMORY))
      fail(w, "a block is out of its place");
    if (early && l->head && np_log_is_block(en->kind))
      fail(w, "evidence or a notice is out of its place");
  }
  for (id = v->front ? v->head : 0; id; id = np_view_at(v, id)->next) {
    const np_entry *en = np_log_entry(&w->log, id);
    states += en->kind == NP_KIND_STATE && id <= v->lay.upto;
    if (id == v->front) break;
    if (np_log_is_block(en->kind) && id <= v->lay.upto &&
        (l->head || en->region < NP_REGION_HOT))
      fail(w, "a block stands before the task");
  }
  for (id = v->front; id; id = np_view_at(v, id)->next)
    states += id <= v->lay.upto && np_log_entry(&w->log, id)->kind == NP_KIND_STATE;
  if (states > 1) fail(w, "two states stand in their place");
}

/* As the engine does: blocks take their places with a rewrite, which fitting may bring. */
static bool fit(world *w) {
  np_pack *p = &w->pack;
  for (int i = 0; i < 2; i++) {
    if (np_pack_lay(p, false) == NP_NO_MEMORY) fail(w, "laying ran out of memory");
    w->resorts += np_pack_tokens(p) > p->budget;
    if (np_pack_tokens(p) > p->budget && np_pack_last_resort(p, NULL)) return false;
  }
  if (np_pack_lay(p, false) != NP_SAME) fail(w, "blocks are laid a third time");
  return np_pack_tokens(p) <= p->budget;
}

static void turn(world *w) {
  np_rendered r;
  np_pack *p = &w->pack;
  if (np_pack_begin(p, NULL)) fail(w, "begin failed");
  int n = pick(&w->h, 3) ? 0 : (int)pick(&w->h, 5);
  for (int i = 0; i < n; i++) random_change(w);
  check_first(w);
  if (!pick(&w->h, 4)) random_undo(w);
  check_first(w);
  check_regions(w);
  size_t mark = np_pack_mark(p);
  int64_t before = np_pack_tokens(p);
  if (!fit(w)) {
    w->overflows++;
    if (np_pack_undo(p, mark, NULL) || np_pack_tokens(p) != before)
      fail(w, "undo of an overflow");
    return;
  }
  if (np_frame_render(&p->frame, &p->view, &r, NULL)) fail(w, "render failed");
  w->prompts++;
  w->rewrites += r.rewrite;
  check_valid(w, r.body);
  check_tokens(w, r.body, &w->seen);
  check_regions(w);
  check_prefix(w, &r, np_buf_str(&w->seen));
  check_places(w, r.rewrite);
  if (!pick(&w->h, 5)) check_told(w, p->view.format->parts ? r.body : r.body);
  check_pointers(w);
  if (!pick(&w->h, 5)) check_fresh(w);
  if (w->prompts % 4 == 0) check_untouched(w, r.body);
  if (!pick(&w->h, 8)) other_ladder(w);
  if (np_pack_prepare(p, NULL)) fail(w, "no memory for previews");
  if (!pick(&w->h, 3)) check_previews(w);
  if (!pick(&w->h, 20)) {
    char key[4] = {'b', 'c', (char)('a' + pick(&w->h, 26)), 'd'};
    if (np_view_rekey(&p->view, key, NULL)) fail(w, "rekey failed");
  }
}

static void add_messages(world *w, int n) {
  size_t index;
  for (int i = 0; i < n; i++) {
    np_str m = w->next(&w->h, w->messages++);
    np_err e = {0};
    if (np_log_append(&w->log, m, &index, &e) || np_log_index_sync(&w->log, &e)) {
      fprintf(stderr, "%s: %.*s\n", e.text, (int)(m.n < 400 ? m.n : 400), m.p);
      fail(w, "a message was refused");
    }
  }
}

static const char *run_world(const np_vocab *v, const np_format *f,
                             unsigned long long seed, int *prompts, int *rewrites,
                             int *overflows) {
  static const int64_t budgets[] = {300, 900, 3000, 9000, 40000};
  static np_str (*const makers[])(history *, int) = {history_next, history_items,
                                                     history_contents};
  world w = {.h = {.random = seed}};
  np_buf_init(&w.h.b, &np_alloc_libc);
  np_buf_init(&w.last, &np_alloc_libc);
  np_buf_init(&w.seen, &np_alloc_libc);
  w.h.form = (int)pick(&w.h, 6) % 5;
  w.next = makers[pick(&w.h, NP_COUNT(makers))];
  np_log_init(&w.log, &np_alloc_libc, NULL);
  np_log_index_open(&w.log, NULL);
  np_pack_init(&w.pack, &np_alloc_libc, &w.log, v, f,
               budgets[pick(&w.h, NP_COUNT(budgets))], NULL);
  if (!pick(&w.h, 4))
    np_view_set_head(&w.pack.view, NP_LIT(""),
                     NP_LIT("{\"thinking\":{\"type\":\"enabled\"}}"), false);
  random_layout(&w);
  int turns = (int)pick(&w.h, 40) + 3;
  add_messages(&w, 2);
  for (int i = 0; i < turns && !w.wrong; i++) {
    add_messages(&w, (int)pick(&w.h, 4) + 1);
    turn(&w);
  }
  *prompts += w.prompts;
  *rewrites += w.rewrites;
  *overflows += w.overflows;
  folds += w.folds;
  unfolds += w.unfolds;
  untouched += w.untouched;
  pointed += w.pointed;
  repairs |= w.repairs;
  placed += w.placed;
  np_pack_free(&w.pack);
  np_cite_free(w.log.cite);
  np_log_free(&w.log);
  np_buf_free(&w.h.b);
  np_buf_free(&w.last);
  np_buf_free(&w.seen);
  return w.wrong;
}

/* What shown entries of a form of their own are repaired for. */
#define OFTEN                                                                            \
  (NP_REPAIRED(EMPTY) | NP_REPAIRED(SURROGATE) | NP_REPAIRED(ID) | NP_REPAIRED(STUB) |   \
   NP_REPAIRED(ORPHAN) | NP_REPAIRED(PARTED) | NP_REPAIRED(PICTURE) |                    \
   NP_REPAIRED(PART) | NP_REPAIRED(ROLE) | NP_REPAIRED(MEMBER))

static void test_random_histories(const np_vocab *v) {
  const char *text = getenv("NEAP_ROUNDS"), *only = getenv("NEAP_FORMAT");
  int rounds = text ? atoi(text) : 400, prompts = 0, rewrites = 0, overflows = 0;
  unsigned long long seed = check_seed(20261129);
  for (int i = 0; i < rounds; i++) {
    for (size_t f = 0; np_format_at(f); f++) {
      if (only && strcmp(only, np_format_at(f)->name) != 0) continue;
      const char *wrong = run_world(v, np_format_at(f), seed + (unsigned long long)i,
                                    &prompts, &rewrites, &overflows);
      if (!wrong) continue;
      fprintf(stderr, "format %s, NEAP_SEED=%llu: %s\n", np_format_at(f)->name,
              seed + (unsigned long long)i, wrong);
      CHECK("every property holds on a random history", wrong == NULL);
      if (check_failed > 5) return;
    }
  }
  fprintf(stderr, "%d pointed, %d untouched\n", pointed, untouched);
  fprintf(stderr,
          "%d prompts, %d rewrites, %d overflows, %d folds, %d merges, %d unfolds\n",
          prompts, rewrites, overflows, folds, merges, unfolds);
  CHECK("histories had blocks in places", placed > rounds);
  CHECK("histories made folds", folds > rounds);
  CHECK("some took the place of others", merges > rounds / 20);
  CHECK("summaries were opened again", unfolds > rounds / 20);
  CHECK("histories made prompts", prompts > (text || only ? rounds : 20000));
  CHECK("previews were remembered", previews > rounds);
  CHECK("histories made rewrites", rewrites > rounds / 2);
  CHECK("results were shown as the same as others",
        pointed > rounds / 40 || rounds < 400 || only);
  CHECK("entries were found as they came", untouched > rounds * 10 || only);
  CHECK("there were repairs of most kinds",
        (repairs & OFTEN) == OFTEN || rounds < 400 || only);
  CHECK("properties were checked", check_failed == 0);
}

int main(void) {
  np_vocab *v = NULL;
  np_err e = {0};
  if (np_vocab_open(&np_alloc_libc, vocab_dir(), NP_LIT("o200k_base"), &v, &e)) {
    fprintf(stderr, "%s\n", e.text);
    CHECK("the vocabulary loads", v != NULL);
    return check_done();
  }
  test_random_histories(v);
  np_vocab_free(v);
  return check_done();
}
