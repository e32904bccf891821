/*
** Folding: which atoms a summary may stand for, and the fold itself with its undo. A summary
** that does not make the prompt smaller is taken back at once. next: shrink.c
*/
#include "pack/change.h"

#include "render/mark.h"
#include "text/text.h"

/* Why an entry keeps its atom from being folded, or NULL. */
static const char *entry_blocks(const np_pack *p, const np_entry *en) {
  if (en->voided) return "a part was rolled back";
  if (np_view_at(&p->view, en->id)->folded) return "a summary stands for a part already";
  if (en->region != NP_REGION_HOT) return "only what is hot can be folded";
  if ((int64_t)en->message == p->log->user_message && en->kind == NP_KIND_USER)
    return "the newest user message stays";
  if (np_pack_is_pinned(p, en->id)) return "a part is pinned";
  if (en->step == p->log->step) return "the newest step is held";
  return np_pack_is_held(p, en->id) ? "a part is held" : NULL;
}

bool np_pack_may_fold(np_pack *p, uint32_t atom) {
  const np_atom *a = &p->log->atoms[atom];
  p->refusal = a->open ? "a call has no result yet" : NULL;
  if (!p->refusal && (size_t)a->last > p->view.count) p->refusal = "a part is too new";
  for (int64_t id = a->first; id && !p->refusal; id = np_log_entry(p->log, id)->next) {
    p->refusal = entry_blocks(p, np_log_entry(p->log, id));
  }
  return !p->refusal;
}

/* Tokens of what the atoms show now, framing left out. */
static int64_t shown_tokens(const np_pack *p, const uint32_t *atoms, size_t n,
                            int64_t *listed) {
  int64_t tokens = 0;
  for (size_t i = 0; i < n; i++) {
    for (int64_t id = p->log->atoms[atoms[i]].first; id;
         id = np_log_entry(p->log, id)->next) {
      tokens += np_view_at(&p->view, id)->tokens;
      *listed += np_view_at(&p->view, id)->listed;
    }
  }
  return tokens;
}

static const char *text_blocks(np_str text) {
  if (!text.n) return "the summary is empty";
  if (text.n > NP_SUMMARY_MAX) return "the summary has more than 65,536 bytes";
  return np_utf8_valid(text) == text.n ? NULL : "the summary is not UTF-8";
}

/* The rules that can be told without trying. */
static np_verdict may_fold(np_pack *p, const uint32_t *atoms, size_t n, np_str text) {
  int64_t listed = 0;
  const char *why = n ? text_blocks(text) : "the span is empty";
  if (why) return np_pack_refuse(p, why);
  for (size_t i = 0; i < n; i++) {
    if (atoms[i] >= p->log->atom_count || (i && atoms[i] <= atoms[i - 1]))
      return np_pack_refuse(p, "the span is damaged");
    if (!np_pack_may_fold(p, atoms[i])) return np_pack_refuse(p, p->refusal);
  }
  shown_tokens(p, atoms, n, &listed);
  return listed ? NP_DONE : np_pack_refuse(p, "the span is empty");
}

/* One change for the summary, which the undo goes by, and one for each entry it covers. */
static bool record(np_pack *p, int64_t summary, bool fold, np_reason r) {
  const np_fold *f = np_log_fold_of(p->log, np_log_entry(p->log, summary));
  np_rung from = (np_rung)NP_ABSENT, to = NP_FULL;
  if (!fold) from = (np_rung)np_view_at(&p->view, summary)->rung, to = (np_rung)NP_ABSENT;
  if (!np_pack_record(p, summary, from, to, np_view_at(&p->view, summary)->text, false,
                      r))
    return false;
  p->changes[p->change_count - 1].flag = fold ? NP_FLAG_FOLD : NP_FLAG_UNFOLD;
  for (size_t i = 0; i < f->count; i++) {
    for (int64_t id = p->log->atoms[f->atoms[i]].first; id;
         id = np_log_entry(p->log, id)->next) {
      const np_shown *s = np_view_at(&p->view, id);
      if (fold ? !s->listed : s->folded != summary) continue;
      np_rung rung = (np_rung)s->rung, out = (np_rung)NP_FOLDED;
      if (!np_pack_record(p, id, fold ? rung : out, fold ? out : rung, NP_LIT(""), false,
                          r))
        return false;
      p->changes[p->change_count - 1].flag = NP_FLAG_TOLD;
    }
  }
  return true;
}

/* `Summary of steps 3-9:` and a line end lead the text: it is data, and says of what. */
static np_verdict lead(np_pack *p, const uint32_t *atoms, size_t n, np_str text,
                       np_str *out) {
  np_buf b;
  int64_t from = INT64_MAX, to = 0;
  for (size_t i = 0; i < n; i++) {
    const np_atom *a = &p->log->atoms[atoms[i]];
    int64_t first = np_log_entry(p->log, a->first)->step;
    int64_t last = np_log_entry(p->log, a->last)->step;
    if (first < from) from = first;
    if (last > to) to = last;
  }
  np_buf_init(&b, p->alloc);
  np_buf_adds(&b, from == to ? "Summary of step " : "Summary of steps ");
  np_buf_int(&b, from);
  if (from != to) np_buf_adds(&b, "-");
  if (from != to) np_buf_int(&b, to);
  np_buf_adds(&b, p->view.recall ? "; neap_recall finds the details:\n" : ":\n");
  np_buf_add(&b, text);
  if (p->lines) p->lines(p->lines_ctx, atoms, n, &b);
  bool ok = !b.failed && np_arena_copy(&p->turn, np_buf_str(&b), out);
  np_buf_free(&b);
  return ok ? NP_DONE : NP_NO_MEMORY;
}

static np_verdict fold(np_pack *p, const uint32_t *atoms, size_t n, np_str text,
                       np_reason r, int64_t *summary) {
  np_str whole;
  np_verdict v = may_fold(p, atoms, n, text);
  if (v == NP_DONE) v = lead(p, atoms, n, text, &whole);
  if (v != NP_DONE) return v;
  bool ok = !np_log_fold(p->log, atoms, n, whole, summary, NULL) &&
            !np_view_sync(&p->view, NULL) && record(p, *summary, true, r) &&
            !np_view_fold(&p->view, *summary, NULL);
  return ok ? NP_DONE : NP_NO_MEMORY;
}

/* ---- in the place of other summaries ---- */

int64_t np_pack_folded_by(const np_pack *p, uint32_t atom) {
  int64_t id = p->log->atoms[atom].first;
  while (id && !np_view_at(&p->view, id)->folded) id = np_log_entry(p->log, id)->next;
  return id ? np_view_at(&p->view, id)->folded : 0;
}

/* Both ascend, and the fold's first is atoms[0]. */
static bool holds_all(const uint32_t *atoms, size_t n, const np_fold *f) {
  size_t at = 0;
  for (size_t i = 0; i < n && at < f->count; i++) at += atoms[i] == f->atoms[at];
  return at == f->count;
}

/* Summaries that stand for some of the atoms; false when one stands for others as well. Linear
** in the atoms of each. */
static bool find_taken(const np_pack *p, const uint32_t *atoms, size_t n, np_takes *t) {
  size_t inside = 0, all = 0;
  *t = (np_takes){0};
  for (size_t i = 0; i < n; i++) {
    if (atoms[i] >= p->log->atom_count) return false;
    int64_t s = np_pack_folded_by(p, atoms[i]);
    if (!s) continue;
    inside++;
    const np_fold *f = np_log_fold_of(p->log, np_log_entry(p->log, s));
    if (f->atoms[0] != atoms[i]) continue;
    if (!holds_all(atoms + i, n - i, f)) return false;
    all += f->count;
    t->count++;
    if (s > t->newest) t->newest = s;
  }
  return inside == all;
}

static np_verdict unfold(np_pack *p, int64_t summary, np_reason r);

static np_verdict open_taken(np_pack *p, const uint32_t *atoms, size_t n, np_takes takes,
                             np_reason r) {
  np_takes now;
  if (!find_taken(p, atoms, n, &now) || now.count != takes.count ||
      now.newest != takes.newest)
    return np_pack_refuse(p, "other summaries stand there by now");
  for (size_t i = 0; i < n; i++) {
    int64_t s = np_pack_folded_by(p, atoms[i]);
    np_verdict v = s ? unfold(p, s, r) : NP_DONE; /* and folded anew at once */
    if (v != NP_DONE) return v;
  }
  return NP_DONE;
}

int64_t np_pack_may_take(np_pack *p, uint32_t atom, int64_t from, int64_t before) {
  int64_t s = np_pack_folded_by(p, atom);
  if (!s || np_pack_is_pinned(p, s) || np_pack_is_held(p, s)) return 0;
  const np_fold *f = np_log_fold_of(p->log, np_log_entry(p->log, s));
  return f->step_from >= from && f->step_to < before ? s : 0;
}

np_verdict np_pack_refold(np_pack *p, const uint32_t *atoms, size_t n, np_takes takes,
                          np_str text, np_reason r, int64_t *summary) {
  int64_t id = 0, before = np_pack_tokens(p);
  size_t mark = np_pack_mark(p);
  np_verdict v = takes.count ? open_taken(p, atoms, n, takes, r) : NP_DONE;
  if (v == NP_DONE) v = fold(p, atoms, n, text, r, &id);
  if (v == NP_DONE && np_pack_tokens(p) >= before)
    v = np_pack_refuse(p, "the summary is not cheaper than what it stands for");
  if (v == NP_NO_MEMORY) return v;
  if (v != NP_DONE && np_pack_undo(p, mark, NULL)) return NP_NO_MEMORY;
  if (v == NP_DONE && summary) *summary = id;
  return v;
}

np_verdict np_pack_fold(np_pack *p, const uint32_t *atoms, size_t n, np_str text,
                        np_reason r, int64_t *summary) {
  return np_pack_refold(p, atoms, n, (np_takes){0}, text, r, summary);
}

/* Something that it stands for is shown as the same as an earlier result, which was there when
** that was said and is not now. */
static bool points_nowhere(const np_pack *p, int64_t summary) {
  const np_view *v = &p->view;
  for (size_t i = 0; i < v->pointer_count; i++) {
    const np_shown *s = np_view_at(v, v->pointers[i].from);
    const np_shown *first = np_view_at(v, v->pointers[i].to);
    if (s->folded != summary || s->rung != NP_REFERENCE) continue;
    if (!np_mark_is_same(s->text)) continue;
    bool there = first->listed || first->folded == summary;
    if (!there || first->rung != NP_FULL) return true;
  }
  return false;
}

np_verdict np_pack_unfold(np_pack *p, int64_t summary, np_reason r) {
  if (np_log_entry(p->log, summary) && points_nowhere(p, summary))
    return np_pack_refuse(p,
                          "a result in it is the same as one that is not shown any more");
  return unfold(p, summary, r);
}

static np_verdict unfold(np_pack *p, int64_t summary, np_reason r) {
  const np_entry *en = np_log_entry(p->log, summary);
  if (!en || !en->fold) return np_pack_refuse(p, "the entry is no summary");
  if (!np_view_is_live(&p->view, summary)) return NP_SAME;
  if (np_pack_is_pinned(p, summary)) return np_pack_refuse(p, "the entry is pinned");
  const np_fold *f = np_log_fold_of(p->log, en);
  const char *loop = np_pack_loop_blocks(p, p->log->atoms[f->atoms[0]].first);
  if (loop) return np_pack_refuse(p, loop);
  if (!record(p, summary, false, r)) return NP_NO_MEMORY;
  return np_view_unfold(&p->view, summary, NULL) ? NP_NO_MEMORY : NP_DONE;
}

/* A summary that was opened has its rung again; one that was made has never been. */
neap_rc np_pack_undo_fold(np_pack *p, const np_change *c, np_err *e) {
  neap_rc rc = np_runs_settle(&p->view, e);
  if (rc || c->flag == NP_FLAG_TOLD) return rc;
  if (c->flag == NP_FLAG_FOLD) {
    rc = np_view_unfold(&p->view, c->entry, e);
    if (rc) return rc;
    np_view_pop(&p->view);
    np_log_unfold(p->log);
    return NEAP_OK;
  }
  rc = np_view_fold(&p->view, c->entry, e);
  if (rc || c->from == NP_FULL) return rc;
  if (c->from == NP_DROPPED)
    return np_view_drop(&p->view, np_log_entry(p->log, c->entry)->atom, e);
  return np_view_show(&p->view, c->entry, (np_rung)c->from, c->text_before, e);
}
