/*
** The factor is the sum of what was reported over the sum of what was counted, of the last
** few reports but for the two extremes; it moves towards that by a tenth at most, so that one
** absurd report, which is dropped as an extreme soon, does little. The bound is two and a half
** times the largest error that is left, and falls to that slowly. next: usage.c
*/
#include "engine/gauge.h"

#define STEP 100000   /* millionths of the factor in one turn */
#define LOWEST 250000 /* a factor below or above these is no tokenizer's */
#define HIGHEST 4000000
#define FAR 3         /* times the factor: no report of this prompt */
#define TRUSTED 3     /* reports before the stated bound is given up */
#define FALL 20       /* of the bound goes in one turn: few reports tell little */
#define FLOOR 10000   /* 1 %: what a provider adds without telling */
#define WIDEST 500000 /* 50 %: beyond it the margin would be the window */
#define LARGEST INT64_C(100000000000) /* far above any window; sums of it fit */

void np_gauge_init(np_gauge *g, bool exact, int64_t factor, int64_t bound) {
  *g = (np_gauge){.exact = exact, .factor = factor, .bound = bound, .stated = bound};
  if (exact) g->factor = NP_MILLION;
  if (exact) g->bound = g->stated = 0;
}

static int64_t ratio(int64_t reported, int64_t counted) {
  return reported * NP_MILLION / counted;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high) {
  return v < low ? low : v > high ? high : v;
}

static uint32_t kept(const np_gauge *g) {
  return g->taken < NP_GAUGE_KEPT ? g->taken : NP_GAUGE_KEPT;
}

/* The places of the lowest and the highest ratio, when there are enough to do without. */
static bool extremes(const np_gauge *g, uint32_t *low, uint32_t *high) {
  uint32_t n = kept(g);
  *low = *high = 0;
  for (uint32_t i = 1; i < n; i++) {
    int64_t r = ratio(g->reported[i], g->counted[i]);
    if (r < ratio(g->reported[*low], g->counted[*low])) *low = i;
    if (r >= ratio(g->reported[*high], g->counted[*high])) *high = i;
  }
  return n >= 3;
}

static int64_t distance(const np_gauge *g, uint32_t i) {
  int64_t r = ratio(g->reported[i], g->counted[i]);
  return r > g->factor ? r - g->factor : g->factor - r;
}

/* Large prompts weigh more: a provider's fixed additions are little of them. Of two reports
** the nearer one is believed. */
static int64_t target(const np_gauge *g) {
  int64_t reported = 0, counted = 0;
  uint32_t low, high;
  bool drop = extremes(g, &low, &high);
  if (kept(g) == 2) {
    uint32_t i = distance(g, 1) < distance(g, 0);
    return ratio(g->reported[i], g->counted[i]);
  }
  for (uint32_t i = 0; i < kept(g); i++) {
    if (drop && (i == low || i == high)) continue;
    reported += g->reported[i];
    counted += g->counted[i];
  }
  return ratio(reported, counted);
}

/* The largest error but one that the kept reports have with this factor: the largest is the
** absurd one's, if there is one. */
static int64_t residual(const np_gauge *g) {
  int64_t first = 0, second = 0;
  for (uint32_t i = 0; i < kept(g); i++) {
    int64_t off = distance(g, i) * NP_MILLION / g->factor;
    if (off > first) {
      second = first;
      first = off;
    } else if (off > second) {
      second = off;
    }
  }
  return second;
}

static void correct(np_gauge *g, int64_t counted, int64_t reported) {
  uint32_t at = g->taken++ % NP_GAUGE_KEPT;
  g->counted[at] = counted;
  g->reported[at] = reported;
  int64_t step = g->factor * STEP / NP_MILLION;
  g->factor = clamp(target(g), g->factor - step, g->factor + step);
  g->factor = clamp(g->factor, LOWEST, HIGHEST);
  if (g->taken < TRUSTED) return;
  int64_t error = residual(g) * 5 / 2 + FLOOR, slowly = g->bound - g->bound / FALL;
  g->bound = clamp(error > slowly ? error : slowly, FLOOR, WIDEST);
}

static bool is_far(const np_gauge *g, int64_t counted, int64_t reported) {
  int64_t r = ratio(reported, counted);
  return r > g->factor * FAR || r < g->factor / FAR;
}

bool np_gauge_take(np_gauge *g, int64_t counted, int64_t reported, bool usable) {
  if (counted <= 0 || reported <= 0 || counted > LARGEST || reported > LARGEST)
    return false;
  int64_t estimate = np_gauge_estimate(g, counted);
  g->measured = true;
  g->drift = ratio(reported - estimate, estimate);
  if (!g->exact && usable && !is_far(g, counted, reported)) correct(g, counted, reported);
  return true;
}

static int64_t less_margin(const np_gauge *g, int64_t room) {
  return room * NP_MILLION / (NP_MILLION + g->bound);
}

int64_t np_gauge_margin(const np_gauge *g, int64_t room) {
  return room - less_margin(g, room);
}

int64_t np_gauge_budget(const np_gauge *g, int64_t room) {
  return less_margin(g, room) * NP_MILLION / g->factor;
}

int64_t np_gauge_estimate(const np_gauge *g, int64_t counted) {
  return (counted * g->factor + NP_MILLION - 1) / NP_MILLION;
}
