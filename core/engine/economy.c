/*
** The economy: what a rewrite costs and when it pays, from prices and the measured growth.
** With a cached token at r and a written one at w, a floor of L tokens after each rewrite of
** which P never change, and a growth of k a turn, the cheapest height is
** L + sqrt(2 (L - P) k (w - r) / r); what is offered to policies is twice as far above L',
** since height keeps information. next: account.c
*/
#include "engine/artifact.h"

#include <math.h>

/* after a rewrite; the core delays nothing, it lives in this figure */
#define QUIET_TURNS 3

/* ---- prices ---- */

/* The host's choice, or the model's, or what the format's provider asks for its newest. */
neap_rc np_economy_choose(neap_session *s) {
  const char *prices = s->options.prices, *model = s->options.model;
  s->cache = NULL;
  if (prices || model) s->cache = np_cache_find(np_str_cstr(prices ? prices : model));
  if (prices && !s->cache) {
    return np_fail(&s->err, NEAP_E_CONFIG,
                   "prices of %.60s are not in the table; name a model, as gpt-5",
                   prices);
  }
  if (!s->cache) s->cache = np_cache_default(np_str_cstr(s->options.format));
  if (s->options.cache == NEAP_CACHE_LONG && !s->cache->write_long) {
    return np_fail(&s->err, NEAP_E_CONFIG,
                   "the cache of %s has no longer life; leave out the option cache",
                   s->cache->name);
  }
  /* the provider's tokens are the counted ones times the factor */
  s->minimum = (s->cache->minimum * NP_MILLION + s->gauge.factor - 1) / s->gauge.factor;
  return NEAP_OK;
}

static int64_t write_price(const neap_session *s) {
  return s->options.cache == NEAP_CACHE_LONG ? s->cache->write_long : s->cache->write;
}

static int64_t life_ms(const neap_session *s) {
  const np_cache *c = s->cache;
  return (s->options.cache == NEAP_CACHE_LONG ? c->ttl_long : c->ttl) * 1000;
}

void np_economy_settings(const neap_session *s, np_buf *out) {
  const np_cache *c = s->cache;
  np_buf_adds(out, ",\"prices\":{\"name\":");
  np_json_quote(out, np_str_cstr(c->name));
  np_buf_adds(out, ",\"read\":");
  np_buf_int(out, c->read);
  np_buf_adds(out, ",\"write\":");
  np_buf_int(out, write_price(s));
  np_buf_adds(out, ",\"ttl\":");
  np_buf_int(out, life_ms(s) / 1000);
  np_buf_adds(out, ",\"marks\":");
  np_buf_int(out, (int64_t)s->options.cache);
  np_buf_adds(out, ",\"minimum\":");
  np_buf_int(out, s->minimum);
  np_buf_addc(out, '}');
}

static double in_units(int64_t millionths) {
  return (double)millionths / NP_MILLION;
}

/* Whether what was sent last has left the cache by now. */
static bool is_cold(const neap_session *s) {
  int64_t life = life_ms(s);
  return life && s->now && s->sent_at && s->now - s->sent_at > life;
}

/* ---- the level ---- */

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

/* Growth a turn to be expected until the next rewrite: the mean since the last one, and soon
** after that of the last turns. A mean of only a few falls below the growth now and then, and
** the first such fall would be taken for the height. */
static double expected_growth(const neap_session *s) {
  double k;
  np_economy_growth(s, &k);
  if (s->turns_since_rewrite <= NP_GROWTH) return k;
  k = (double)(s->last_tokens - s->tokens_after_rewrite) / (double)s->turns_since_rewrite;
  return k < 1 ? 1 : k;
}

static int64_t height(const neap_session *s) {
  int64_t budget = s->pack.budget;
  if (s->pack.frame.epoch - s->back.epochs <= 1 || s->turns_since_rewrite < QUIET_TURNS)
    return budget;
  double read = in_units(s->cache->read), write = in_units(write_price(s));
  if (read <= 0 || read >= write) return budget;
  double room = (double)(s->tokens_after_rewrite - s->front_tokens);
  if (room < 0) room = 0;
  double up = 2 * sqrt(2 * room * expected_growth(s) * (write - read) / read);
  double h = (double)s->tokens_after_rewrite + up;
  return h > (double)budget ? budget : (int64_t)h;
}

static bool is_refuted(const void *session, const np_entry *en) {
  return np_refuted_is(session, en);
}

static void add_phase(const neap_session *s, np_turn *turn) {
  const np_stage *before, *now = np_phase_now(s, &before);
  turn->phase_fresh = (s->live ? s->live : s)->phases.count > s->phases.settled;
  turn->phase = now ? now->name : NP_LIT("");
  turn->phase_from = now ? now->from : 0;
  turn->phase_before = before ? before->name : NP_LIT("");
  turn->before_from = before ? before->from : 0;
}

static np_str object_now(const void *session) {
  return np_object_now(session);
}

void np_economy(const neap_session *s, np_turn *turn) {
  int64_t budget = s->pack.budget;
  *turn = (np_turn){.window = s->window,
                    .reserve = s->reserve,
                    .budget = budget,
                    .now = s->now,
                    .cold = is_cold(s),
                    .price_read = in_units(s->cache->read),
                    .price_write = in_units(write_price(s))};
  turn->measured = s->gauge.measured;
  turn->drift = (double)s->gauge.drift / NP_MILLION;
  turn->floor = s->pack.view.recall ? budget / 2 : budget * 7 / 10;
  turn->height = height(s);
  turn->front = front_tokens(&s->pack.view);
  turn->asks = (int64_t *)(uintptr_t)&s->asked; /* counted while hooks run */
  turn->unchecked = ((s->live ? s->live : s)->options.flags & NEAP_UNCHECKED) != 0;
  turn->no_model = np_shadow_is_mute(s) ? "a shadow asks no model" : NULL;
  turn->search = np_recall_search;
  turn->search_ctx = (void *)(uintptr_t)s;          /* its index is brought up first */
  turn->random = (uint64_t *)(uintptr_t)&s->random; /* drawn from while hooks run */
  turn->artifact = np_files_next;
  turn->artifact_text = np_files_text;
  turn->artifact_ctx = (void *)(uintptr_t)(s->live ? s->live : s);
  turn->object = object_now;
  turn->has_object = (s->live ? s->live : s)->object.schema != NULL;
  turn->attempt = np_deed_try;
  turn->look = np_deed_look;
  turn->deed_ctx = turn->search_ctx;
  turn->quiet = s->turns_since_rewrite;
  add_phase(s, turn);
  turn->polluted = s->refuted.count ? s->refuted.steps : -1;
  turn->refuted = s->refuted.count ? is_refuted : NULL;
}

/* ---- after a turn ---- */

/* The host's marks, or the engine's; where prefixes are kept unmarked a plan does no harm. */
static void plan(neap_session *s) {
  const np_frame *f = &s->pack.frame;
  const np_view *v = &s->pack.view;
  if (np_breaks_are_hosts(v)) np_breaks_of_host(&s->breaks, f, v);
  else if (v->format->marks && s->options.cache == NEAP_CACHE_NONE)
    s->breaks = (np_breaks){0};
  else np_breaks_plan(&s->breaks, f, v, &s->rendered, s->minimum);
}

neap_rc np_economy_body(neap_session *s, np_str *body) {
  const np_view *v = &s->pack.view;
  np_str mark = s->options.cache == NEAP_CACHE_LONG
                    ? NP_LIT("{\"type\":\"ephemeral\",\"ttl\":\"1h\"}")
                    : NP_LIT("{\"type\":\"ephemeral\"}");
  *body = s->rendered.body;
  if (!v->format->marks || !s->breaks.count || np_breaks_are_hosts(v)) return NEAP_OK;
  np_buf_clear(&s->marked);
  np_breaks_write(&s->breaks, &s->pack.frame, s->rendered.body, mark, &s->marked);
  *body = np_buf_str(&s->marked);
  return s->marked.failed ? np_fail_mem(&s->err) : NEAP_OK;
}

/* What the prompt costs, and where the next one finds it. */
static neap_rc bill(neap_session *s) {
  const np_frame *f = &s->pack.frame;
  plan(s);
  np_billed p = {.frame = f,
                 .rendered = &s->rendered,
                 .breaks = &s->breaks,
                 .tokens = np_pack_tokens(&s->pack),
                 .minimum = s->minimum,
                 .now = s->now,
                 .ttl = life_ms(s),
                 .cold = s->cold};
  return np_bill_prompt(&s->bill, s->cache, &p) ? NEAP_OK : np_fail_mem(&s->err);
}

/* Growth counts appendices only; a rewrite starts the count of quiet turns. */
void np_turn_follow(neap_session *s) {
  int64_t now = np_pack_tokens(&s->pack);
  s->turn++;
  if (s->rendered.rewrite) {
    s->turns_since_rewrite = 0;
    s->phases.settled = (s->live ? s->live : s)->phases.count;
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
  s->cold = is_cold(s);
  s->sent_at = s->now;
}

neap_rc np_turn_after(neap_session *s) {
  np_turn_follow(s);
  return bill(s);
}
