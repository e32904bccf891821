/*
** What an entry would show at a lower rung, and what that would cost. The cost is found out
** once: it depends on the entry, the ladder, the mark key and (where facts weigh something) on
** what of it nothing later holds; whatever changes one of these forgets it. next: shrink.c
*/
#include "pack/change.h"

#include "base/hash.h"
#include "cite/cite.h"
#include "cite/map.h"
#include "render/mark.h"

#define DEFAULT_TRIM 250 /* tokens of a trim that names none */

int64_t np_pack_trim_tokens(const np_pack *p, int level) {
  int64_t tokens = p->ladder.tokens[level];
  return tokens > 0 || level ? tokens : DEFAULT_TRIM;
}

np_keep np_pack_trim_keep(const np_pack *p, const np_entry *en) {
  if (p->ladder.keep_set) return p->ladder.keep;
  return en->kind == NP_KIND_RESULT ? NP_KEEP_DENSE : NP_KEEP_ENDS;
}

double np_pack_worth(const np_pack *p, const np_entry *en) {
  np_cite_stat st = np_log_stat(p->log, en);
  return p->ladder.by_facts ? np_cite_worth(&st, &p->ladder.facts) : st.identifiers;
}

np_trim_ask np_pack_ladder_ask(const np_pack *p, const np_entry *en, int level) {
  np_trim_ask ask = {.tokens = (size_t)np_pack_trim_tokens(p, level),
                     .keep = np_pack_trim_keep(p, en)};
  if (p->ladder.by_facts && np_pack_worth(p, en) > 0)
    ask.facts = (np_trim_facts){p->log, en, &p->ladder.facts};
  return ask;
}

np_verdict np_pack_text_of(np_pack *p, const np_entry *en, np_rung rung,
                           const np_trim_ask *ask, np_str *out) {
  np_buf b;
  bool whole = false;
  neap_rc rc = NEAP_OK;
  np_buf_init(&b, np_temp(&p->view));
  if (rung == NP_TRIMMED) {
    rc = np_mark_trimmed(&p->view, en, ask, &b, &whole, NULL);
  } else if (rung == NP_REFERENCE) {
    np_mark_reference(&p->view, en, &b);
  } else {
    np_mark_masked(&p->view, en, &b);
  }
  bool ok = !rc && !b.failed && np_arena_copy(&p->turn, np_buf_str(&b), out);
  np_buf_free(&b);
  return !ok ? NP_NO_MEMORY : whole ? NP_SAME : NP_DONE;
}

uint32_t np_pack_text_tokens(np_pack *p, const np_entry *en, np_str text) {
  np_str filled = np_view_text(&p->view, text, &p->view.scratch);
  if (p->view.scratch.failed) p->view.lost = true;
  return p->view.format->entry_tokens(&p->view, en, &filled);
}

static double weight_of(const np_pack *p, const np_entry *en, np_ident id) {
  uint32_t unused;
  if (!p->ladder.by_facts) return id.kind != NP_IDENT_WORD;
  if (id.kind == NP_IDENT_WORD && !(p->ladder.facts.word > 0)) return 0;
  return np_log_weight_of(p->log, en, id.text, &p->ladder.facts, &unused);
}

/* Hashes stand for identifiers: two that are confused count as one. */
double np_pack_shown_worth(np_pack *p, const np_entry *en, np_str text) {
  np_map seen;
  np_ident id;
  uint32_t item;
  double sum = 0;
  np_ident_iter it = np_ident_scan(text);
  np_map_init(&seen, np_temp(&p->view));
  while (np_ident_next(&it, &id)) {
    double weight = weight_of(p, en, id);
    if (!(weight > 0)) continue;
    if (!np_map_room(&seen)) {
      p->view.lost = true;
      break;
    }
    np_probe probe = np_map_find(&seen, np_hash64(id.text));
    if (!np_map_next(&seen, &probe, &item) && np_map_put(&seen, &probe, 0)) sum += weight;
  }
  np_map_free(&seen);
  return sum;
}

static bool same_facts(const np_ladder *a, const np_ladder *b) {
  const np_cite_weights *x = &a->facts, *y = &b->facts;
  if (a->by_facts != b->by_facts) return false;
  return !a->by_facts ||
         (x->name == y->name && x->number == y->number && x->word == y->word &&
          x->written == y->written && x->again == y->again);
}

/* Another ladder trims otherwise. */
static void check_ladder(np_pack *p) {
  np_ladder *was = &p->previewed, now = p->ladder;
  bool same = memcmp(was->tokens, now.tokens, sizeof now.tokens) == 0 &&
              was->by_shown == now.by_shown && was->keep_set == now.keep_set &&
              (!now.keep_set || was->keep == now.keep) && same_facts(was, &now);
  if (now.by_facts && np_log_index_need(p->log, NULL)) p->view.lost = true;
  if (same) return;
  *was = now;
  np_view_forget_previews(&p->view);
}

/* Facts leave an entry and never come back: how many are left says whether its trims are still
** what they were. */
static void check_facts(const np_pack *p, const np_entry *en, np_shown *s) {
  if (!p->ladder.by_facts) return;
  np_cite_stat st = np_log_stat(p->log, en);
  if (s->latest == st.latest + st.words) return;
  s->latest = st.latest + st.words;
  memset(s->preview, 0, NP_TRIMS * sizeof s->preview[0]);
}

/* Finds out a preview: tokens + 1, or that there is none; 0: out of memory. */
static uint32_t find_out(np_pack *p, const np_entry *en, int step) {
  np_str text;
  np_arena_place here = np_arena_here(&p->turn);
  np_trim_ask ask = np_pack_ladder_ask(p, en, step < NP_TRIMS ? step : 0);
  np_verdict v = np_pack_text_of(p, en, np_step_rung(step), &ask, &text);
  if (v == NP_DONE && step < NP_TRIMS && p->ladder.by_shown) {
    np_view_at(&p->view, en->id)->kept[step] = (float)np_pack_shown_worth(p, en, text);
  }
  uint32_t found = v == NP_NO_MEMORY ? 0
                   : v == NP_DONE    ? np_pack_text_tokens(p, en, text) + 1
                                     : NP_NO_PREVIEW;
  np_arena_back(&p->turn, here); /* the count is enough */
  return found;
}

/* A call without a result has a stub made for it as long as it has none. */
static bool may_change(const np_entry *en) {
  return en->kind == NP_KIND_CALL && !en->pair;
}

np_verdict np_pack_preview_step(np_pack *p, int64_t id, int step, uint32_t *tokens) {
  const np_entry *en = np_log_entry(p->log, id);
  check_ladder(p);
  if (!np_entry_allows(en, np_step_rung(step))) return NP_SAME;
  if (step < NP_TRIMS && !np_pack_trim_tokens(p, step)) return NP_SAME;
  np_shown *s = np_view_at(&p->view, id);
  check_facts(p, en, s);
  uint32_t known = s->preview[step];
  if (!known) {
    known = find_out(p, en, step);
    if (!known) return NP_NO_MEMORY;
    if (!may_change(en)) s->preview[step] = known;
  }
  if (known == NP_NO_PREVIEW) return NP_SAME;
  *tokens = known - 1;
  return *tokens < s->tokens ? NP_DONE : NP_SAME;
}

np_verdict np_pack_preview(np_pack *p, int64_t id, np_rung rung, uint32_t *tokens) {
  return np_pack_preview_step(p, id, np_rung_step(rung), tokens);
}

/* ---- ahead of time ---- */

#define NEAR_SHARE 4 /* of the budget: below a quarter of it no rewrite is near */
#define LOOKS 256    /* entries that a turn passes over at most */
#define MOST 32      /* previews of entries that a turn makes at most */

static bool wants_preview(const np_pack *p, int64_t id) {
  const np_entry *en = np_log_entry(p->log, id);
  const np_shown *s = np_view_at(&p->view, id);
  return s->listed && s->rung < NP_MASKED && !np_pack_is_pinned(p, id) &&
         !np_pack_is_held(p, id) && !may_change(en);
}

static bool preview_all(np_pack *p, int64_t id) {
  uint32_t tokens;
  np_verdict v = NP_DONE;
  for (int step = 0; step < NP_STEPS && v != NP_NO_MEMORY; step++) {
    if (np_step_rung(step) >= np_view_at(&p->view, id)->rung)
      v = np_pack_preview_step(p, id, step, &tokens);
  }
  return v != NP_NO_MEMORY;
}

/* Twice as many as have come since the last turn, so that it catches up with a history that
** was there before. */
neap_rc np_pack_prepare(np_pack *p, np_err *e) {
  int64_t end = (int64_t)p->view.count, come = end - p->seen, looks = LOOKS;
  p->seen = end;
  if (p->order != NP_ORDER_VALUE || p->view.total < p->budget / NEAR_SHARE)
    return NEAP_OK;
  if (p->ahead > end) p->ahead = end;
  int64_t left = come < MOST / 2 ? 2 * come + 2 : MOST;
  for (; left > 0 && looks > 0 && p->ahead < end; looks--) {
    int64_t id = p->ahead + 1;
    if (np_log_entry(p->log, id)->step == p->log->step) break; /* held until the next */
    p->ahead++;
    if (!wants_preview(p, id)) continue;
    if (!preview_all(p, id)) return np_fail_mem(e);
    left--;
  }
  return NEAP_OK;
}
