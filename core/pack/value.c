/*
** By value: an entry is worth its rank times what its rung shows of it. The next step is
** always the one that loses the least value per token it saves: a rung of one entry, or the
** drop of a whole atom. Only steps on an entry's lower hull are offered, so the ratios of an
** entry rise and one heap serves all. next: last_resort.c
*/
#include "pack/value.h"

/* What is left of an entry's value at each rung. */
static const double worth[NP_RUNG_COUNT] = {1.0, 0.6, 0.3, 0.1, 0.0};

typedef struct step {
  double ratio; /* value lost per token saved */
  int64_t id;   /* entry, or an atom's last entry */
  uint32_t atom, version;
  uint8_t from, to; /* rungs; to == NP_DROPPED: the whole atom */
} step;

typedef struct values {
  np_pack *p;
  const double *rank;
  step *heap;
  size_t count, cap;
  uint32_t *version; /* by atom: steps of an older version are stale */
} values;

static bool less(const step *a, const step *b) {
  if (a->ratio != b->ratio) return a->ratio < b->ratio;
  if (a->id != b->id) return a->id < b->id;
  return a->to < b->to;
}

static bool push(values *vs, step s) {
  void *heap = vs->heap;
  bool ok = np_grow(vs->p->alloc, &heap, &vs->cap, vs->count + 1, sizeof(step));
  vs->heap = heap;
  if (!ok) return false;
  size_t i = vs->count++;
  for (; i && less(&s, &vs->heap[(i - 1) / 2]); i = (i - 1) / 2) {
    vs->heap[i] = vs->heap[(i - 1) / 2];
  }
  vs->heap[i] = s;
  return true;
}

static step pop(values *vs) {
  step top = vs->heap[0], last = vs->heap[--vs->count];
  size_t i = 0;
  for (size_t child = 1; child < vs->count; child = 2 * i + 1) {
    if (child + 1 < vs->count && less(&vs->heap[child + 1], &vs->heap[child])) child++;
    if (!less(&vs->heap[child], &last)) break;
    vs->heap[i] = vs->heap[child];
    i = child;
  }
  if (vs->count) vs->heap[i] = last;
  return top;
}

/* The best next rung of an entry: of all lower ones, the least loss per token saved. */
static np_verdict push_entry(values *vs, int64_t id) {
  np_shown *s = np_view_at(&vs->p->view, id);
  const np_entry *en = np_log_entry(vs->p->log, id);
  step best = {
      .id = id, .atom = en->atom, .version = vs->version[en->atom], .from = s->rung};
  for (int rung = s->rung + 1; rung < NP_DROPPED; rung++) {
    np_str text;
    uint32_t tokens;
    np_verdict v = np_pack_preview(vs->p, id, (np_rung)rung, &text, &tokens);
    if (v == NP_NO_MEMORY) return v;
    if (v != NP_DONE) continue;
    double lost = vs->rank[id - 1] * (worth[s->rung] - worth[rung]);
    double ratio = lost / (double)(s->tokens - tokens);
    if (!best.to || ratio < best.ratio) {
      best.ratio = ratio;
      best.to = (uint8_t)rung;
    }
  }
  if (!best.to) return NP_SAME;
  return push(vs, best) ? NP_DONE : NP_NO_MEMORY;
}

/* Value and tokens that the atom's entries still have. Its notice is mostly shared with its
** neighbours' and left out. */
static np_verdict push_atom(values *vs, uint32_t atom) {
  const np_atom *a = &vs->p->log->atoms[atom];
  double lost = 0, saved = 0;
  if (!np_pack_may_drop(vs->p, atom)) return NP_SAME;
  for (int64_t id = a->first; id; id = np_log_entry(vs->p->log, id)->next) {
    const np_entry *en = np_log_entry(vs->p->log, id);
    const np_shown *s = np_view_at(&vs->p->view, id);
    if (!s->listed || s->rung == NP_DROPPED) continue;
    lost += vs->rank[id - 1] * worth[s->rung];
    saved += s->tokens;
    if (vs->p->log->messages[en->message].first == id)
      saved += vs->p->view.framing[en->message];
  }
  if (saved <= 0) return NP_SAME;
  step s = {.ratio = lost / saved,
            .id = a->last,
            .atom = atom,
            .version = vs->version[atom],
            .from = NP_FULL,
            .to = NP_DROPPED};
  return push(vs, s) ? NP_DONE : NP_NO_MEMORY;
}

static np_verdict take(values *vs, const step *s, np_reason r) {
  if (s->version != vs->version[s->atom]) {
    if (s->to == NP_DROPPED) return NP_SAME; /* a newer one is in the heap */
    if (np_view_at(&vs->p->view, s->id)->rung != s->from) return NP_SAME;
  }
  if (s->to == NP_DROPPED) return np_pack_drop_atom(vs->p, s->atom, r);
  np_verdict v = np_pack_lower(vs->p, s->id, (np_rung)s->to, r);
  if (v != NP_DONE) return v;
  vs->version[s->atom]++;
  v = push_entry(vs, s->id);
  if (v == NP_NO_MEMORY) return v;
  v = push_atom(vs, s->atom);
  return v == NP_NO_MEMORY ? v : NP_DONE;
}

static np_verdict fill(values *vs, const np_candidates *c) {
  np_verdict v = NP_DONE;
  for (size_t i = 0; i < c->count && v != NP_NO_MEMORY; i++) {
    v = c->list[i].whole ? push_atom(vs, c->list[i].atom) : push_entry(vs, c->list[i].id);
  }
  return v;
}

neap_rc np_shrink_by_value(np_pack *p, np_candidates *c, int64_t target, np_reason r,
                           np_err *e) {
  values vs = {.p = p, .rank = c->rank};
  vs.version = np_calloc(p->alloc, p->log->atom_count + 1, sizeof(uint32_t));
  np_verdict v = vs.version ? fill(&vs, c) : NP_NO_MEMORY;
  while (v != NP_NO_MEMORY && vs.count && np_pack_tokens(p) > target) {
    step s = pop(&vs);
    if (np_view_at(&p->view, s.id)->rung == NP_DROPPED) continue;
    v = take(&vs, &s, r);
  }
  np_free(p->alloc, vs.version);
  np_free(p->alloc, vs.heap);
  return v == NP_NO_MEMORY ? np_fail_mem(e) : NEAP_OK;
}
