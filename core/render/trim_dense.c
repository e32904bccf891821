/*
** Dense: some head and tail, then the lines with the most new identifiers for their length, or
** with the most of what a policy's facts weigh.
** Of what a model cites later this keeps far more than ends do, where the text is code, a
** listing or a log; where it is prose, half goes to the ends. next: trim_errors.c
*/
#include "base/hash.h"
#include "cite/cite.h"
#include "cite/map.h"
#include "render/trim_plan.h"

#define ENDS_PERCENT 12 /* of the limit, for the head and for the tail */
#define PROSE_PERCENT 25
#define SAMPLES 16 /* pieces of the text that tell prose from the rest */
#define SAMPLE 4096
#define LENGTH_BONUS                                                                     \
  10 /* bytes added to a line's length, so that the shortest do not win */

/* Prose has many words and few names: under one in four. */
static bool is_prose(np_str text) {
  size_t names = 0, words = 0, step = text.n / SAMPLES;
  if (step < SAMPLE) step = SAMPLE;
  for (size_t at = 0; at < text.n; at += step) {
    np_ident_iter it = np_ident_scan(np_str_cut(text, at, at + SAMPLE));
    np_ident id;
    while (np_ident_next(&it, &id)) {
      bool name = id.kind == NP_IDENT_NAME || id.kind == NP_IDENT_NUMBER;
      names += name;
      words += !name;
    }
  }
  return names * 4 < words;
}

/* What an identifier counts: 1, or what the fact weighs that it is. */
static double weight_of(const np_plan *p, np_ident id) {
  const np_trim_facts *f = &p->facts;
  uint32_t unused;
  if (!f->weights) return id.kind != NP_IDENT_WORD;
  if (id.kind == NP_IDENT_WORD && !(f->weights->word > 0)) return 0;
  return np_log_weight_of(f->log, f->of, id.text, f->weights, &unused);
}

/* Enters the identifiers of `s`; *fresh gets what the new ones count. Hashes stand for
** identifiers: two that are confused cost a line a little of its score. */
static bool see(const np_plan *p, np_map *seen, np_str s, double *fresh) {
  np_ident_iter it = np_ident_scan(s);
  np_ident id;
  uint32_t item;
  *fresh = 0;
  while (np_ident_next(&it, &id)) {
    double weight = weight_of(p, id);
    if (!(weight > 0)) continue;
    if (!np_map_room(seen)) return false;
    np_probe probe = np_map_find(seen, np_hash64(id.text));
    if (np_map_next(seen, &probe, &item)) continue;
    if (np_map_put(seen, &probe, 0)) *fresh += weight;
  }
  return true;
}

/* For a unit's length, in parts of `one`; at most `most`. */
static unsigned score_of(double fresh, np_str s, double one, unsigned most) {
  double score = fresh * one / (double)(s.n + LENGTH_BONUS);
  return score < most ? (unsigned)score : most;
}

static bool score_units(np_plan *p, np_map *seen) {
  double fresh;
  for (size_t i = 0; i < p->n; i++) {
    if ((i < p->first || i >= p->last) && !see(p, seen, np_plan_unit(p, i), &fresh))
      return false;
  }
  for (size_t i = p->first; i < p->last; i++) {
    np_str s = np_plan_unit(p, i);
    if (!see(p, seen, s, &fresh)) return false;
    p->units[i].score = score_of(fresh, s, 65536, 0x7FFFFFFF) & 0x7FFFFFFF;
  }
  return true;
}

/* Head and tail are settled first: what they show is not new in the middle. */
bool np_dense_score(np_plan *p) {
  unsigned percent = is_prose(p->text) ? PROSE_PERCENT : ENDS_PERCENT;
  size_t share = np_plan_share(p->limit, percent);
  size_t lines = np_plan_share_lines(p, percent);
  np_plan_reset(p);
  p->first = np_plan_head(p, share, lines);
  p->last = np_plan_tail(p, share, lines);
  if (p->last < p->first) p->last = p->first;
  np_map seen;
  np_map_init(&seen, p->alloc);
  bool ok = score_units(p, &seen);
  np_map_free(&seen);
  return ok;
}

bool np_dense_add(np_plan *p) {
  double fresh;
  np_map seen;
  np_map_init(&seen, p->alloc);
  bool ok = true;
  for (size_t i = 0; ok && i < p->n; i++) {
    np_str s = np_plan_unit(p, i);
    ok = see(p, &seen, s, &fresh);
    p->units[i].score += score_of(fresh, s, 32768, 0x7FFF) & 0x7FFF;
  }
  np_map_free(&seen);
  return ok;
}

bool np_dense_keep(np_plan *p) {
  for (size_t i = 0; i < p->first && np_plan_take(p, i);) i++;
  for (size_t i = p->n; i > p->last && np_plan_take(p, i - 1);) i--;
  if (!np_plan_best(p, 1, 0)) return false;
  np_plan_fill(p);
  return true;
}
