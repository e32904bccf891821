/*
** What lies ahead: how many steps are left, whether usage is high, and, when nothing fits, which
** single change would help. next: events.c
*/
#include "engine/engine.h"

#define DEFAULT_ALARM 0.7 /* share of the budget from which on a turn is worth a word */

static double threshold(const neap_session *s) {
  return s->options.alarm ? s->options.alarm : DEFAULT_ALARM;
}

/* Told once, when usage rises over the threshold. */
void np_outlook_after(neap_session *s) {
  double over = threshold(s);
  bool high =
      over > 0 && (double)np_pack_tokens(&s->pack) > over * (double)s->pack.budget;
  s->alarm = high && !s->alarmed;
  s->alarmed = high;
}

static void add_int(np_buf *b, const char *name, int64_t v) {
  np_buf_adds(b, name);
  np_buf_int(b, v);
}

/* Four places, without the zeros at its end: a number that every reader takes for one. */
static void add_share(np_buf *b, const char *name, double share) {
  np_buf_adds(b, name);
  np_buf_num(b, share, 4);
  while (!b->failed && b->p[b->n - 1] == '0' && b->p[b->n - 2] != '.') b->n--;
}

/* The supportable steps are (budget - what is fixed) / growth; what is left of them is what is
** left of the budget. By the growth of the last turns, if nothing is put away. */
void np_outlook_add(const neap_session *s, np_buf *b) {
  double growth;
  int64_t tokens = np_pack_tokens(&s->pack), left = s->pack.budget - tokens;
  if (np_economy_growth(s, &growth)) {
    add_int(b, ",\"growth\":", (int64_t)(growth + 0.5));
    add_int(b, ",\"steps_left\":", left < 0 ? 0 : (int64_t)((double)left / growth));
  }
  if (!s->alarm) return;
  add_share(b, ",\"alarm\":{\"usage\":", (double)tokens / (double)s->pack.budget);
  add_share(b, ",\"over\":", threshold(s));
  np_buf_addc(b, '}');
}

static int64_t largest_entry(const np_view *v) {
  int64_t largest = 0;
  for (int64_t id = 1; id <= (int64_t)v->count; id++) {
    const np_shown *s = np_view_at(v, id);
    if (!s->listed || s->rung == NP_DROPPED) continue;
    if (!largest || s->tokens > np_view_at(v, largest)->tokens) largest = id;
  }
  return largest;
}

/* A reserve that the host has not named grows with the window, and so does the margin of an
** estimate. */
static bool is_enough(const neap_session *s, int64_t window, int64_t tokens) {
  int64_t reserve = s->options.reserve ? s->reserve : np_session_reserve(window);
  return np_gauge_budget(&s->gauge, window - reserve) >= tokens;
}

/* The smallest window with room for the tokens that are left when nothing more can go. */
static int64_t window_for(const neap_session *s, int64_t tokens) {
  int64_t low = s->window, high = s->window;
  while (!is_enough(s, high, tokens)) {
    low = high + 1;
    high *= 2;
  }
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (is_enough(s, middle, tokens)) high = middle;
    else low = middle + 1;
  }
  return high;
}

void np_outlook_help(const neap_session *s, np_buf *b) {
  const np_view *v = &s->pack.view;
  int64_t largest = largest_entry(v);
  add_int(b, ",\"help\":[{\"change\":\"window\",\"at_least\":",
          window_for(s, np_pack_tokens(&s->pack)));
  np_buf_addc(b, '}');
  if (s->reserve >= s->short_by) {
    add_int(b, ",{\"change\":\"reserve\",\"at_most\":", s->reserve - s->short_by);
    np_buf_addc(b, '}');
  }
  if (largest && (int64_t)np_view_at(v, largest)->tokens > s->short_by) {
    add_int(b, ",{\"change\":\"entry\",\"entry\":", largest);
    add_int(b, ",\"shorter_by\":", s->short_by);
    np_buf_addc(b, '}');
  }
  if (v->tools.n && (int64_t)v->head_cost > s->short_by) {
    add_int(b, ",{\"change\":\"tools\",\"shorter_by\":", s->short_by);
    np_buf_addc(b, '}');
  }
  np_buf_addc(b, ']');
}
