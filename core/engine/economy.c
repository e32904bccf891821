/*
** The economy: what a rewrite costs and when it pays, from prices and the measured growth.
** With a cached token at r and a written one at w, a floor of L tokens after each rewrite of
** which P never change, and a growth of k a turn, the cheapest height is
** L + sqrt(2 (L - P) k (w - r) / r); what is offered to policies is twice as far above L',
** since height keeps information. next: account.c
*/
#include "engine/engine.h"

#include <math.h>

/* Uncached 1, cached read 0.1, cache write 1.25: the newest generation of both large
** providers (their pricing pages, 2026). */
static const double price_read = 0.1, price_write = 1.25;

/* after a rewrite; the core delays nothing, it lives in this figure */
#define QUIET_TURNS 3

/* Tokens before the first entry that may change: head, fixed and task. */
static int64_t front_tokens(const np_view *v) {
  return v->region[NP_REGION_FIXED] + v->region[NP_REGION_TASK];
}

bool np_economy_growth(const neap_session *s, double *tokens) {
  size_t n = s->growth_count < NP_GROWTH ? s->growth_count : NP_GROWTH;
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (double)s->growth[i];
  *tokens = n ? sum / (double)n : 1;
  if (*tokens < 1) *tokens = 1;
  return n > 0;
}

static double mean_growth(const neap_session *s) {
  double k;
  np_economy_growth(s, &k);
  return k;
}

static int64_t height(const neap_session *s) {
  int64_t budget = s->pack.budget;
  if (s->pack.frame.epoch <= 1 || s->turns_since_rewrite < QUIET_TURNS) return budget;
  if (price_read <= 0 || price_read >= price_write) return budget;
  double room = (double)(s->tokens_after_rewrite - s->front_tokens);
  if (room < 0) room = 0;
  double up =
      2 * sqrt(2 * room * mean_growth(s) * (price_write - price_read) / price_read);
  double h = (double)s->tokens_after_rewrite + up;
  return h > (double)budget ? budget : (int64_t)h;
}

void np_economy(const neap_session *s, np_turn *turn) {
  int64_t budget = s->pack.budget;
  *turn = (np_turn){.window = s->window,
                    .reserve = s->reserve,
                    .budget = budget,
                    .price_read = price_read,
                    .price_write = price_write};
  turn->measured = s->gauge.measured;
  turn->drift = (double)s->gauge.drift / NP_MILLION;
  turn->floor = s->pack.view.recall ? budget / 2 : budget * 7 / 10;
  turn->height = height(s);
  turn->asks = (int64_t *)(uintptr_t)&s->asked;     /* counted while hooks run */
  turn->random = (uint64_t *)(uintptr_t)&s->random; /* drawn from while hooks run */
}

/* Growth counts appendices only; a rewrite starts the count of quiet turns. */
void np_turn_after(neap_session *s) {
  int64_t now = np_pack_tokens(&s->pack);
  s->turn++;
  if (s->rendered.rewrite) {
    s->turns_since_rewrite = 0;
    s->tokens_after_rewrite = now;
    s->front_tokens = front_tokens(&s->pack.view);
  } else {
    s->turns_since_rewrite++;
    if (s->turn > 1) s->growth[s->growth_count++ % NP_GROWTH] = now - s->last_tokens;
  }
  s->last_tokens = now;
  np_outlook_after(s);
  s->asked_tokens = now;
  s->asked_guess = np_view_guesses(&s->pack.view);
}
