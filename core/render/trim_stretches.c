/*
** Stretches that were found in the text: only they may be kept, by rank, and within a rank in
** order, up to the first that does not fit: so what is left out can be asked for from there.
** A line that is far too long is kept around what was found in it. next: project.h
*/
#include "render/trim_plan.h"
#include "text/text.h"

#define RANKS 3 /* ranks are told apart up to here */

/* The part of the line [from, to) that may be shown: a half of the limit, an eighth of it before
** the focus. */
static void narrow(const np_plan *p, size_t focus, size_t *from, size_t *to) {
  size_t tokens, half = p->limit / 2;
  np_str line = np_str_cut(p->text, *from, *to);
  if (line.n <= half || np_plan_fits(p, line, half, &tokens)) return;
  np_str before = np_str_cut(p->text, *from, focus);
  size_t back = np_plan_fit(p, before, half / 4, true);
  size_t start = focus - back;
  if (back < before.n) start = np_grapheme_ceil(p->text, start);
  if (start > focus) start = np_grapheme_floor(p->text, focus);
  size_t n = np_plan_fit(p, np_str_cut(p->text, start, *to), half, false);
  if (start + n < *to) *to = np_grapheme_floor(p->text, start + n);
  if (*to < start) *to = start;
  *from = start;
}

static bool add_unit(np_plan *p, size_t from, unsigned rank) {
  if (!np_plan_add(p, from, 0)) return false;
  p->units[p->n - 1].score = rank < RANKS ? RANKS - rank : 1;
  return true;
}

/* What lies between stretches, with no score. */
static bool add_gap(np_plan *p, size_t from, size_t to) {
  return from >= to || np_plan_add(p, from, 0);
}

static bool cut_stretch(np_plan *p, const np_stretch *s, size_t *behind) {
  for (size_t at = s->from, end; at < s->to; at = end) {
    end = s->apart ? s->to : np_line_end(p->text, at);
    if (end > s->to) end = s->to;
    bool here = s->focus >= at && s->focus < end;
    size_t from = at, to = end;
    narrow(p, here ? s->focus : at, &from, &to);
    if (from >= to) continue;
    if (!add_gap(p, *behind, from) || !add_unit(p, from, s->rank)) return false;
    *behind = to;
  }
  return true;
}

bool np_stretches_cut(np_plan *p, const np_stretches *stretches) {
  size_t behind = 0;
  for (size_t i = 0; i < stretches->n; i++) {
    if (!cut_stretch(p, &stretches->at[i], &behind)) return false;
  }
  if (!add_gap(p, behind, p->text.n) || !np_plan_add(p, p->text.n, 0)) return false;
  p->n--;
  return true;
}

void np_stretches_keep(np_plan *p) {
  for (unsigned score = RANKS; score > 0; score--) {
    for (size_t i = 0; i < p->n; i++) {
      if (p->units[i].score == score && !np_plan_take(p, i)) return;
    }
  }
}
