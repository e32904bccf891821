/*
** Choosing. For many sets see choose_many.c. For few sets the least loss there is: states (saved, lost) grow set by set, a state that another beats in both
** is dropped (Nemhauser and Ullmann 1969), and so is one that even the linear relaxation of
** what is left cannot bring below the best way known. next: value.c
*/
#include "pack/choose_steps.h"

#include <stdlib.h>

static void pick_steps(const np_steps *s, size_t n, size_t *picked) {
  for (size_t i = 0; i < n; i++) picked[s->at[i].set] = s->at[i].option;
}

/* ---- the least loss ---------------------------------------------------------------- */

#define STATES_MAX ((size_t)1 << 20) /* 24 bytes each: 24 MB for as long as one choice */

typedef struct state {
  int64_t saved; /* at most `need` */
  double lost;
  uint32_t from;   /* the state of the level before */
  uint32_t option; /* of the level's set, counted from 1; 0: left */
} state;

/* The sets from one on, in the linear relaxation: how little a saving costs at least. */
typedef struct rest {
  np_steps steps;
  int64_t *saved; /* sums of the first i steps, count + 1 of them */
  double *lost;
} rest;

typedef struct search {
  const neap_alloc *alloc;
  const np_choice *choice;
  int64_t need;
  rest rests[NP_CHOICE_EXACT + 1];
  state *states; /* level behind level */
  size_t cap, count;
  size_t level[NP_CHOICE_EXACT + 2]; /* where each begins */
  double best;                       /* loss of the best way known … */
  size_t best_level, best_state;     /* … from this state on … */
  size_t best_steps;                 /* … by so many steps of the rest */
  bool failed;                       /* out of memory */
  bool full;                         /* more states than STATES_MAX */
} search;

static void rest_make(search *s, size_t set) {
  rest *r = &s->rests[set];
  if (!np_steps_make(s->alloc, s->choice, set, &r->steps)) {
    s->failed = true;
    return;
  }
  r->saved = np_calloc(s->alloc, r->steps.count + 1, sizeof *r->saved);
  r->lost = np_calloc(s->alloc, r->steps.count + 1, sizeof *r->lost);
  if (!r->saved || !r->lost) s->failed = true;
  for (size_t i = 0; !s->failed && i < r->steps.count; i++) {
    r->saved[i + 1] = r->saved[i] + r->steps.at[i].saved;
    r->lost[i + 1] = r->lost[i] + r->steps.at[i].lost;
  }
}

/* How many whole steps of the rest it takes to save `need`; one more than there are when they
** cannot. */
static size_t steps_for(const rest *r, int64_t need) {
  size_t low = 0, high = r->steps.count + 1;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (mid <= r->steps.count && r->saved[mid] < need) low = mid + 1;
    else high = mid;
  }
  return low;
}

/* Looks at what the rest can make of a state: a whole way that is better than the best known
** is kept, and false says that no way from here can be better than that. */
static bool is_promising(search *s, size_t level, size_t at) {
  const rest *r = &s->rests[level];
  const state *st = &s->states[at];
  int64_t need = s->need - st->saved;
  size_t n = steps_for(r, need);
  if (n > r->steps.count) return false;
  if (st->lost + r->lost[n] < s->best) {
    s->best = st->lost + r->lost[n];
    s->best_level = level;
    s->best_state = at;
    s->best_steps = n;
  }
  if (!n) return false; /* nothing more is needed */
  double part = (double)(need - r->saved[n - 1]) * r->steps.at[n - 1].ratio;
  return st->lost + r->lost[n - 1] + part < s->best;
}

static int by_state(const void *a, const void *b) {
  const state *x = a, *y = b;
  if (x->saved != y->saved) return x->saved > y->saved ? -1 : 1;
  if (x->lost != y->lost) return x->lost < y->lost ? -1 : 1;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return x->option < y->option ? -1 : x->option > y->option;
}

static bool add_state(search *s, state st) {
  void *states = s->states;
  s->full = s->full || s->count >= STATES_MAX;
  if (s->full) return false;
  bool ok = np_grow(s->alloc, &states, &s->cap, s->count + 1, sizeof st);
  s->states = states;
  if (ok) s->states[s->count++] = st;
  s->failed = s->failed || !ok;
  return ok;
}

/* From every state of a level on: leave the set, or take one of its options. */
static bool branch(search *s, size_t set) {
  const np_choice *c = s->choice;
  size_t end = s->level[set + 1], first = c->first[set];
  bool ok = true;
  for (size_t i = s->level[set]; i < end && ok; i++) {
    state st = s->states[i];
    int64_t left = s->need - st.saved;
    uint32_t from = (uint32_t)(i - s->level[set]);
    ok = add_state(s, (state){st.saved, st.lost, from, 0});
    for (size_t o = first; o < c->first[set + 1] && ok; o++) {
      int64_t more = c->options[o].saved < left ? c->options[o].saved : left;
      ok = add_state(s, (state){st.saved + more, st.lost + c->options[o].lost, from,
                                (uint32_t)(o - first + 1)});
    }
  }
  return ok;
}

/* Keeps of the newest level what nothing beats and what may still win. */
static void prune(search *s, size_t level) {
  size_t from = s->level[level], kept = from;
  double least = 0;
  qsort(s->states + from, s->count - from, sizeof *s->states, by_state);
  for (size_t i = from; i < s->count; i++) {
    if (i > from && s->states[i].lost >= least) continue;
    least = s->states[i].lost;
    s->states[kept] = s->states[i];
    if (is_promising(s, level, kept)) kept++;
    else if (s->best_level == level && s->best_state == kept) kept++;
  }
  s->count = kept;
}

/* Reads the best way off its end. */
static void read_off(const search *s, size_t *picked) {
  size_t at = s->best_state;
  pick_steps(&s->rests[s->best_level].steps, s->best_steps, picked);
  for (size_t set = s->best_level; set-- > 0;) {
    const state *st = &s->states[at];
    if (st->option) picked[set] = s->choice->first[set] + st->option - 1;
    at = s->level[set] + st->from;
  }
}

/* Level by level; what is best at the end is the best there is. */
static void search_all(search *s) {
  size_t sets = s->choice->sets;
  for (size_t i = 0; i <= sets && !s->failed; i++) rest_make(s, i);
  if (s->failed || !add_state(s, (state){0})) return;
  is_promising(s, 0, 0);
  for (size_t i = 0; i < sets; i++) {
    s->level[i + 1] = s->count;
    if (!branch(s, i)) return;
    prune(s, i + 1);
  }
}

/* Beyond STATES_MAX the steps stand that were taken in a row: within one step of the bound, as
** for many sets. */
static bool improve(const neap_alloc *a, const np_choice *c, int64_t need, double lost,
                    size_t *picked) {
  search s = {.alloc = a, .choice = c, .need = need, .best = lost + 1};
  search_all(&s);
  if (!s.failed && !s.full) {
    for (size_t i = 0; i < c->sets; i++) picked[i] = NP_CHOICE_LEFT;
    read_off(&s, picked);
  }
  for (size_t i = 0; i <= c->sets; i++) {
    np_free(a, s.rests[i].steps.at);
    np_free(a, s.rests[i].saved);
    np_free(a, s.rests[i].lost);
  }
  np_free(a, s.states);
  return !s.failed;
}

bool np_choose(const neap_alloc *a, const np_choice *c, int64_t need, size_t *picked) {
  np_steps steps;
  double lost;
  int64_t most = 0;
  for (size_t i = 0; i < c->sets; i++) picked[i] = NP_CHOICE_LEFT;
  if (need <= 0 || !c->sets) return true;
  if (!np_steps_make(a, c, 0, &steps)) return false;
  bool ok = np_choose_steps(a, c, &steps, need, picked, &lost);
  for (size_t i = 0; i < steps.count; i++) most += steps.at[i].saved;
  np_free(a, steps.at);
  if (!ok || c->sets > NP_CHOICE_EXACT || most < need) return ok;
  return improve(a, c, need, lost, picked);
}
