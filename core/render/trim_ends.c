/*
** Head, tail, or both. Walks inwards from the ends and so never looks at the middle of a
** long text; a line longer than the limit is cut to the token. next: trim_dense.c
*/
#include "render/trim_plan.h"
#include "text/text.h"

/* Extends the head by lines while they cost at most `amount` and are at most `lines`; returns
** what they cost. p->count goes up by each line. */
static size_t grow_head(np_plan *p, size_t amount, size_t lines) {
  size_t spent = 0, tokens;
  for (; p->head < p->tail && lines > 0; lines--) {
    np_str rest = np_str_cut(p->text, p->head, p->tail);
    const char *nl = memchr(rest.p, '\n', rest.n);
    np_str line = np_str_cut(rest, 0, nl ? (size_t)(nl - rest.p) + 1 : rest.n);
    size_t n = np_plan_fit(p, line, amount - spent, false), to = p->head + n;
    bool all = n == line.n;
    if (!all && np_plan_fits(p, line, p->limit, &tokens)) break;
    if (!all) to = np_grapheme_floor(p->text, to);
    spent += np_vocab_count(p->v, np_str_cut(p->text, p->head, to));
    p->count += to > p->head;
    p->head = to;
    if (!all || spent >= amount) break;
  }
  return spent < amount ? spent : amount; /* a shorter cut may count a token more */
}

/* The beginning of the line that ends at p->tail. */
static size_t line_start(const np_plan *p) {
  size_t at = p->tail - 1; /* its newline, or its last byte */
  while (at > p->head && p->text.p[at - 1] != '\n') at--;
  return at;
}

static size_t grow_tail(np_plan *p, size_t amount, size_t lines) {
  size_t spent = 0, tokens;
  for (; p->head < p->tail && lines > 0; lines--) {
    size_t from = line_start(p);
    np_str line = np_str_cut(p->text, from, p->tail);
    size_t n = np_plan_fit(p, line, amount - spent, true);
    bool all = n == line.n;
    if (!all && np_plan_fits(p, line, p->limit, &tokens)) break;
    if (!all) from = np_grapheme_ceil(p->text, p->tail - n);
    spent += np_vocab_count(p->v, np_str_cut(p->text, from, p->tail));
    p->count += from < p->tail;
    p->tail = from;
    if (!all || spent >= amount) break;
  }
  return spent < amount ? spent : amount;
}

/* Half for the head; what it leaves and the rest for the tail; what that leaves for the head
** again. A gap is paid for as soon as both ends may show. */
static void both(np_plan *p) {
  size_t budget = p->budget, gap = p->gap_cost + 1;
  if (budget <= gap) {
    grow_head(p, budget, p->lines);
    return;
  }
  size_t spent = grow_head(p, (budget - gap) / 2, p->lines / 2 + p->lines % 2);
  spent += grow_tail(p, budget - gap - spent, p->lines - p->count);
  size_t reserve = p->tail < p->text.n ? gap : 0;
  if (spent + reserve < budget)
    grow_head(p, budget - reserve - spent, p->lines - p->count);
}

void np_plan_ends(np_plan *p, np_keep keep) {
  p->head = 0;
  p->tail = p->text.n;
  p->count = 0;
  if (p->budget == 0) return;
  if (keep == NP_KEEP_HEAD) {
    grow_head(p, p->budget, p->lines);
  } else if (keep == NP_KEEP_TAIL) {
    grow_tail(p, p->budget, p->lines);
  } else {
    both(p);
  }
}
