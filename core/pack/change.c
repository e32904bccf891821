/*
** One entry at a time: which rungs its kind has, what is pinned or held, and the change
** itself. Every refusal has a readable reason. next: preview.c, shrink.c
*/
#include "pack/change.h"

#include "render/mark.h"

static bool kind_allows(np_kind kind, np_rung rung) {
  switch (kind) {
    case NP_KIND_SYSTEM:
    case NP_KIND_TOOLS:
    case NP_KIND_STATE: return rung == NP_FULL;
    case NP_KIND_THOUGHT:
    case NP_KIND_NOTICE: return rung == NP_FULL || rung == NP_DROPPED;
    case NP_KIND_IMAGE:
    case NP_KIND_FILE: return rung == NP_FULL || rung == NP_MASKED || rung == NP_DROPPED;
    case NP_KIND_CALL: return rung == NP_FULL || rung == NP_TRIMMED || rung == NP_DROPPED;
    default: return true;
  }
}

bool np_entry_allows(const np_entry *en, np_rung rung) {
  if (en->opaque && rung != NP_FULL && rung != NP_DROPPED) return false;
  return kind_allows(en->kind, rung);
}

bool np_pack_is_pinned(const np_pack *p, int64_t id) {
  const np_entry *en = np_log_entry(p->log, id);
  return np_view_at(&p->view, id)->pinned || en->region == NP_REGION_FIXED ||
         en->kind == NP_KIND_SYSTEM || en->kind == NP_KIND_TOOLS ||
         en->kind == NP_KIND_STATE;
}

bool np_pack_is_held(const np_pack *p, int64_t id) {
  const np_entry *en = np_log_entry(p->log, id);
  const np_shown *s = np_view_at(&p->view, id);
  return s->held || s->fetched || en->region == NP_REGION_TASK ||
         (en->step == p->log->step && !en->fold) || np_pack_loop_blocks(p, id) ||
         np_view_is_pointed_at(&p->view, id);
}

static np_verdict set_flag(np_pack *p, int64_t id, np_flag flag, np_reason r) {
  np_shown *s = np_view_at(&p->view, id);
  bool *set = flag == NP_FLAG_PINNED ? &s->pinned : &s->held;
  if (*set) return NP_SAME;
  if (!np_pack_record(p, id, (np_rung)s->rung, (np_rung)s->rung, s->text, false, r)) {
    return NP_NO_MEMORY;
  }
  p->changes[p->change_count - 1].flag = (uint8_t)flag;
  *set = true;
  return NP_DONE;
}

np_verdict np_pack_pin(np_pack *p, int64_t id, np_reason r) {
  return set_flag(p, id, NP_FLAG_PINNED, r);
}

np_verdict np_pack_hold(np_pack *p, int64_t id, np_reason r) {
  return set_flag(p, id, NP_FLAG_HELD, r);
}

np_verdict np_pack_refuse(np_pack *p, const char *why) {
  p->refusal = why;
  p->refusals++;
  return NP_REFUSED;
}

/* The rules that hold for every lowering of one entry. `new_ok`: entries of the newest step
** may be changed (trims of what has just come in). */
static np_verdict may_change(np_pack *p, int64_t id, np_rung rung, bool new_ok) {
  const np_entry *en = np_log_entry(p->log, id);
  const np_shown *s = np_view_at(&p->view, id);
  if (s->folded) return np_pack_refuse(p, "a summary stands for the entry");
  if (!s->listed) return np_pack_refuse(p, "the entry is not part of the prompt");
  if (np_pack_is_pinned(p, id)) return np_pack_refuse(p, "the entry is pinned");
  if (!np_entry_allows(en, rung))
    return np_pack_refuse(p, "this kind of entry has no such rung");
  if (!np_pack_is_held(p, id)) return NP_DONE;
  const char *loop = np_pack_loop_blocks(p, id);
  if (loop) return np_pack_refuse(p, loop);
  bool only_new = !s->held && !s->fetched && en->region != NP_REGION_TASK;
  if (new_ok && only_new) return NP_DONE;
  if (s->fetched)
    return np_pack_refuse(p, "the entry was fetched by the model and is kept");
  if (en->region == NP_REGION_TASK) return np_pack_refuse(p, "the task is held");
  if (np_view_is_pointed_at(&p->view, id))
    return np_pack_refuse(p, "a later result is shown as the same as this one");
  return np_pack_refuse(p, s->held ? "the entry is held"
                                   : "entries of the newest step are held");
}

/* Shows `text` when it is cheaper than what is shown now, or when that is lower. */
static np_verdict show(np_pack *p, const np_entry *en, np_rung rung, np_str text,
                       np_reason r) {
  np_shown *s = np_view_at(&p->view, en->id);
  uint32_t tokens = np_pack_text_tokens(p, en, text);
  if (tokens >= s->tokens) return NP_SAME;
  if (!np_pack_record(p, en->id, (np_rung)s->rung, rung, s->text, false, r))
    return NP_NO_MEMORY;
  neap_rc rc = np_view_show_counted(&p->view, en->id, rung, text, tokens, NULL);
  return rc ? NP_NO_MEMORY : NP_DONE;
}

np_verdict np_pack_lower_step(np_pack *p, int64_t id, int step, np_reason r) {
  const np_entry *en = np_log_entry(p->log, id);
  np_rung rung = np_step_rung(step), now = (np_rung)np_view_at(&p->view, id)->rung;
  np_str text;
  bool again = rung == NP_TRIMMED && now == NP_TRIMMED && step > 0; /* a smaller trim */
  if (!np_entry_allows(en, rung) || (now >= rung && !again)) return NP_SAME;
  np_trim_ask ask = np_pack_ladder_ask(p, en, step < NP_TRIMS ? step : 0);
  np_verdict v = np_pack_text_of(p, en, rung, &ask, &text);
  return v == NP_DONE ? show(p, en, rung, text, r) : v;
}

np_verdict np_pack_lower(np_pack *p, int64_t id, np_rung rung, np_reason r) {
  return np_pack_lower_step(p, id, np_rung_step(rung), r);
}

np_verdict np_pack_trim(np_pack *p, int64_t id, np_trim_want want, np_reason r) {
  const np_entry *en = np_log_entry(p->log, id);
  np_str text;
  np_verdict v = may_change(p, id, NP_TRIMMED, true);
  if (v != NP_DONE) return v;
  if (np_view_at(&p->view, id)->rung > NP_TRIMMED) return NP_SAME;
  np_trim_ask ask = np_pack_ladder_ask(p, en, 0);
  if (want.tokens > 0 || want.lines > 0)
    ask.tokens = want.tokens > 0 ? (size_t)want.tokens : NP_TRIM_ANY;
  if (want.lines > 0) ask.lines = (size_t)want.lines;
  if (want.keep) ask.keep = *want.keep;
  ask.about = want.about;
  v = np_pack_text_of(p, en, NP_TRIMMED, &ask, &text);
  if (v == NP_SAME && en->kind != NP_KIND_CALL &&
      np_vocab_count(p->view.vocab, en->text) > ask.tokens)
    return np_pack_refuse(p, "the mark alone has more tokens than the trim may have");
  return v == NP_DONE ? show(p, en, NP_TRIMMED, text, r) : v;
}

np_verdict np_pack_retrim(np_pack *p, int64_t id, int64_t tokens, np_reason r) {
  const np_entry *en = np_log_entry(p->log, id);
  np_str text;
  np_trim_ask ask = {.tokens = (size_t)tokens, .keep = NP_KEEP_ENDS};
  np_verdict v = np_pack_text_of(p, en, NP_TRIMMED, &ask, &text);
  return v == NP_DONE ? show(p, en, NP_TRIMMED, text, r) : v;
}

static np_verdict put_away(np_pack *p, int64_t id, np_rung rung, np_reason r) {
  np_verdict v = may_change(p, id, rung, false);
  return v == NP_DONE ? np_pack_lower(p, id, rung, r) : v;
}

/* The earlier result of the same text, where it is shown whole. */
static const np_entry *shown_before(const np_pack *p, int64_t id) {
  const np_entry *en = np_log_entry(p->log, id);
  const np_entry *first = np_log_entry(p->log, np_log_same(p->log, en));
  if (!first) return NULL;
  const np_shown *s = np_view_at(&p->view, first->id);
  return s->listed && s->rung == NP_FULL ? first : NULL;
}

/* What is the same as an earlier result that is shown says just that: nothing is hidden by it, so
** that it may be new. */
static np_verdict point_back(np_pack *p, int64_t id, const np_entry *first, np_reason r) {
  np_buf b;
  np_str text;
  np_verdict v = may_change(p, id, NP_REFERENCE, true);
  if (v != NP_DONE || np_view_at(&p->view, id)->rung >= NP_REFERENCE)
    return v == NP_DONE ? NP_SAME : v;
  np_buf_init(&b, p->alloc);
  np_mark_same(&p->view, np_log_entry(p->log, id), first, &b);
  bool ok = !b.failed && np_arena_copy(&p->turn, np_buf_str(&b), &text);
  np_buf_free(&b);
  return ok ? show(p, np_log_entry(p->log, id), NP_REFERENCE, text, r) : NP_NO_MEMORY;
}

np_verdict np_pack_reference(np_pack *p, int64_t id, np_reason r) {
  const np_entry *first = shown_before(p, id);
  return first ? point_back(p, id, first, r) : put_away(p, id, NP_REFERENCE, r);
}

np_verdict np_pack_mask(np_pack *p, int64_t id, np_reason r) {
  return put_away(p, id, NP_MASKED, r);
}

/* ---- atoms ---- */

typedef bool (*member_fn)(np_pack *p, int64_t id, void *ctx);

/* Calls `fn` for every listed entry of an atom; false as soon as one says so. */
static bool each_member(np_pack *p, uint32_t atom, member_fn fn, void *ctx) {
  for (int64_t id = p->log->atoms[atom].first; id; id = np_log_entry(p->log, id)->next) {
    if (np_view_at(&p->view, id)->listed && !fn(p, id, ctx)) return false;
  }
  return true;
}

static bool is_free(np_pack *p, int64_t id, void *ctx) {
  (void)ctx;
  return !np_pack_is_pinned(p, id) && !np_pack_is_held(p, id);
}

bool np_pack_may_drop(const np_pack *p, uint32_t atom) {
  np_pack *q = (np_pack *)(uintptr_t)p; /* is_free changes nothing */
  return each_member(q, atom, is_free, NULL);
}

/* Held by a policy's word, not by a rule: neither task nor fetched, nor a message of the newest
** step. What a host has put beside the messages (memory, evidence) is none. */
static bool is_loose(np_pack *p, int64_t id, void *ctx) {
  const np_entry *en = np_log_entry(p->log, id);
  (void)ctx;
  return !np_pack_is_pinned(p, id) && en->region != NP_REGION_TASK &&
         (en->step != p->log->step || en->fold || np_log_is_block(en->kind)) &&
         !np_view_at(&p->view, id)->fetched;
}

bool np_pack_may_drop_held(const np_pack *p, uint32_t atom) {
  np_pack *q = (np_pack *)(uintptr_t)p; /* is_loose changes nothing */
  return each_member(q, atom, is_loose, NULL);
}

static bool note_drop(np_pack *p, int64_t id, void *ctx) {
  const np_shown *s = np_view_at(&p->view, id);
  const np_reason *r = ctx;
  if (s->rung == NP_DROPPED) return true;
  return np_pack_record(p, id, (np_rung)s->rung, NP_DROPPED, s->text, true, *r);
}

/* Whether what its results show is worth being found again. */
static bool is_named(np_pack *p, uint32_t atom) {
  double sum = 0;
  if (!(p->ladder.named > 0)) return false;
  if (np_log_index_need(p->log, NULL)) p->view.lost = true;
  for (int64_t id = p->log->atoms[atom].first; id; id = np_log_entry(p->log, id)->next) {
    const np_entry *en = np_log_entry(p->log, id);
    if (en->kind == NP_KIND_RESULT) sum += np_pack_worth(p, en);
  }
  return sum >= p->ladder.named;
}

np_verdict np_pack_drop_atom(np_pack *p, uint32_t atom, np_reason r) {
  size_t mark = p->change_count;
  if (!each_member(p, atom, note_drop, &r)) return NP_NO_MEMORY;
  if (p->change_count == mark) return NP_SAME;
  np_view_name(&p->view, atom, is_named(p, atom));
  return np_view_drop(&p->view, atom, NULL) ? NP_NO_MEMORY : NP_DONE;
}

np_verdict np_pack_drop(np_pack *p, int64_t id, np_reason r) {
  const np_entry *en = np_log_entry(p->log, id);
  np_verdict v = may_change(p, id, NP_DROPPED, false);
  if (v != NP_DONE) return v;
  if (!np_pack_may_drop(p, en->atom))
    return np_pack_refuse(p, "a part of its atom is pinned or held");
  return np_pack_drop_atom(p, en->atom, r);
}

static bool note_restore(np_pack *p, int64_t id, void *ctx) {
  const np_shown *s = np_view_at(&p->view, id);
  const np_reason *r = ctx;
  if (s->rung != NP_DROPPED) return true;
  return np_pack_record(p, id, NP_DROPPED, NP_FULL, NP_LIT(""), true, *r);
}

np_verdict np_pack_restore(np_pack *p, int64_t id, np_reason r) {
  const np_entry *en = np_log_entry(p->log, id);
  np_shown *s = np_view_at(&p->view, id);
  if (!s->listed) return np_pack_refuse(p, "the entry is not part of the prompt");
  if (s->rung == NP_FULL) return NP_SAME;
  const char *loop = np_pack_loop_blocks(p, id);
  if (loop) return np_pack_refuse(p, loop);
  if (s->rung == NP_DROPPED) {
    if (!each_member(p, en->atom, note_restore, &r)) return NP_NO_MEMORY;
    return np_view_restore(&p->view, en->atom, NULL) ? NP_NO_MEMORY : NP_DONE;
  }
  if (!np_pack_record(p, id, (np_rung)s->rung, NP_FULL, s->text, false, r))
    return NP_NO_MEMORY;
  return np_view_show(&p->view, id, NP_FULL, NP_LIT(""), NULL) ? NP_NO_MEMORY : NP_DONE;
}
