/*
** Lowering until a target is met. By rank: the lowest rank first, among equals the oldest,
** one rung at a time down to the end before the next is touched; easy to predict and to
** explain. By value: see value.c. next: value.c, then last_resort.c
*/
#include "pack/bounds.h"
#include "pack/value.h"

#include <stdlib.h>

static int by_rank(const void *a, const void *b) {
  const np_candidate *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  return (int)x->whole - (int)y->whole;
}

/* All the rungs of one entry, or the end of an atom. */
static np_verdict lower_candidate(np_pack *p, const np_candidate *c, int64_t target,
                                  np_reason r) {
  if (c->whole) {
    return np_pack_may_drop(p, c->atom) ? np_pack_drop_within(p, c->atom, r) : NP_SAME;
  }
  np_verdict v = NP_SAME;
  for (int rung = NP_TRIMMED; rung < NP_DROPPED && np_pack_tokens(p) > target; rung++) {
    v = np_pack_lower_within(p, c->id, np_rung_step((np_rung)rung), r);
    if (v == NP_NO_MEMORY) break;
  }
  return v;
}

static neap_rc shrink_by_rank(np_pack *p, np_candidates *c, int64_t target, np_reason r,
                              np_err *e) {
  if (c->count) qsort(c->list, c->count, sizeof *c->list, by_rank);
  for (size_t i = 0; i < c->count && np_pack_tokens(p) > target; i++) {
    if (lower_candidate(p, &c->list[i], target, r) == NP_NO_MEMORY) return np_fail_mem(e);
  }
  return NEAP_OK;
}

/* One rung of all candidates, where that makes the prompt smaller by itself. */
static neap_rc shave(np_pack *p, const np_candidates *c, int rung, int64_t target,
                     np_reason r, np_err *e) {
  neap_rc rc = NEAP_OK;
  for (size_t i = 0; !rc && i < c->count && np_pack_tokens(p) > target; i++) {
    size_t mark = np_pack_mark(p);
    int64_t before = np_pack_tokens(p);
    np_verdict v = NP_SAME;
    if (c->list[i].whole != (rung == NP_DROPPED)) continue;
    if (rung == NP_DROPPED) v = lower_candidate(p, &c->list[i], target, r);
    else v = np_pack_lower_within(p, c->list[i].id, np_rung_step((np_rung)rung), r);
    if (v == NP_NO_MEMORY) return np_fail_mem(e);
    if (np_pack_tokens(p) >= before) rc = np_pack_undo(p, mark, e);
  }
  return rc;
}

/* Where a minimum has kept an entry from going at once, it may still go in part, or another in
** its place: by small steps, lowest rank first, until nothing does. */
static neap_rc shrink(np_pack *p, np_candidates *c, int64_t target, np_reason r,
                      np_err *e) {
  neap_rc rc = p->order == NP_ORDER_VALUE ? np_shrink_by_value(p, c, target, r, e)
                                          : shrink_by_rank(p, c, target, r, e);
  size_t before = SIZE_MAX;
  if (!np_pack_has_minimum(p)) return rc;
  if (c->count) qsort(c->list, c->count, sizeof *c->list, by_rank);
  while (!rc && np_pack_tokens(p) > target && np_pack_mark(p) != before) {
    before = np_pack_mark(p);
    for (int rung = NP_TRIMMED; !rc && rung <= NP_DROPPED; rung++)
      rc = shave(p, c, rung, target, r, e);
  }
  return rc;
}

/* A region above its cap, down to it. */
static neap_rc shrink_region(np_pack *p, np_region region, int64_t tokens, np_reason r,
                             np_err *e) {
  np_candidates c;
  int64_t target = np_pack_tokens(p) - np_pack_over(p, region);
  if (target < tokens) target = tokens;
  if (np_pack_tokens(p) <= target) return NEAP_OK;
  neap_rc rc = np_candidates_gather(p, &c, e);
  np_candidates_filter(p, &c, 1u << region);
  if (!rc) rc = shrink(p, &c, target, r, e);
  np_candidates_free(p, &c);
  return rc;
}

/* What is above its cap, until nothing is or nothing more gives: what goes in one region may
** add to the notice of another. */
static neap_rc shrink_to_caps(np_pack *p, int64_t tokens, np_reason r, np_err *e) {
  neap_rc rc = NEAP_OK;
  size_t before = SIZE_MAX;
  while (!rc && np_pack_mark(p) != before) {
    before = np_pack_mark(p);
    for (int region = NP_REGION_MEMORY; !rc && region < NP_REGION_COUNT; region++) {
      rc = shrink_region(p, (np_region)region, tokens, r, e);
    }
  }
  return rc;
}

/* States that say nothing go first. The last pass: all have given, and where that has brought
** a region above its cap by a notice, it gives that, too. */
neap_rc np_pack_shrink(np_pack *p, int64_t tokens, np_reason r, np_err *e) {
  np_candidates c;
  bool stale = np_pack_tokens(p) > tokens && np_pack_stale(p) > 0;
  if (stale && np_pack_lay(p, true) == NP_NO_MEMORY) return np_fail_mem(e);
  neap_rc rc = shrink_to_caps(p, tokens, r, e);
  if (rc || np_pack_tokens(p) <= tokens) return rc;
  rc = np_candidates_gather(p, &c, e);
  if (!rc) rc = shrink(p, &c, tokens, r, e);
  np_candidates_free(p, &c);
  return rc ? rc : shrink_to_caps(p, 0, r, e);
}

neap_rc np_pack_shrink_behind(np_pack *p, int64_t tokens, double front, np_reason r,
                              np_err *e) {
  p->front = (np_front){.more = front};
  neap_rc rc = np_pack_shrink(p, tokens, r, e);
  p->front = (np_front){0};
  return rc;
}
