/*
** The account of a turn as one JSON object. next: outlook.c
*/
#include "engine/read.h"
#include "pack/bounds.h"
#include "render/repair.h"

#include <stdlib.h>

static void add_int(np_buf *b, const char *name, int64_t v) {
  np_buf_addc(b, ',');
  np_buf_addc(b, '"');
  np_buf_adds(b, name);
  np_buf_adds(b, "\":");
  np_buf_int(b, v);
}

/* Millionths as a decimal number: 1.15, -0.003. */
void np_account_millionths(np_buf *b, const char *name, int64_t v) {
  char digits[8];
  uint64_t n = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  int used = 6;
  np_buf_adds(b, ",\"");
  np_buf_adds(b, name);
  np_buf_adds(b, v < 0 ? "\":-" : "\":");
  np_buf_int(b, (int64_t)(n / NP_MILLION));
  for (int i = 5; i >= 0; i--, n /= 10) digits[i] = (char)('0' + n % 10);
  while (used && digits[used - 1] == '0') used--;
  if (used) np_buf_addc(b, '.');
  np_buf_add(b, np_str_of(digits, (size_t)used));
}

/* Of an estimate: what the tokens are times the factor, and what is kept free for its error.
** The budget is in the model's tokens: tokens x factor is at most that. */
static void add_estimate(np_buf *b, const neap_session *s) {
  const np_gauge *g = &s->gauge;
  int64_t room = s->window - s->reserve, margin = np_gauge_margin(g, room);
  add_int(b, "budget", room - margin);
  if (!g->exact) {
    np_account_millionths(b, "factor", g->factor);
    add_int(b, "estimate", np_gauge_estimate(g, np_pack_tokens(&s->pack)));
    add_int(b, "margin", margin);
  }
  if (g->measured) np_account_millionths(b, "drift", g->drift);
}

static void add_regions(np_buf *b, const np_view *v) {
  char sep = '{';
  np_buf_adds(b, ",\"regions\":");
  for (int r = 0; r < NP_REGION_COUNT; r++) {
    if (!v->region[r]) continue;
    np_buf_addc(b, sep);
    np_json_quote(b, np_str_cstr(np_region_name((np_region)r)));
    np_buf_addc(b, ':');
    np_buf_int(b, v->region[r]);
    sep = ',';
  }
  if (sep == '{') np_buf_addc(b, sep);
  np_buf_addc(b, '}');
}

/* What the policy's layout says of regions, its shares as tokens; nothing where it says
** nothing. */
static void add_limits(np_buf *b, const np_pack *p) {
  char sep = '{';
  for (int i = 0; i < NP_REGION_COUNT; i++) {
    np_region r = (np_region)i;
    int64_t min = p->bounds[r].min, cap = np_pack_cap(p, r);
    if (min <= 0 && cap == INT64_MAX) continue;
    if (sep == '{') np_buf_adds(b, ",\"limits\":");
    np_buf_addc(b, sep);
    np_json_quote(b, np_str_cstr(np_region_name(r)));
    np_buf_adds(b, min > 0 ? ":{\"min\":" : ":{");
    if (min > 0) np_buf_int(b, min);
    if (cap < INT64_MAX) np_buf_adds(b, min > 0 ? ",\"max\":" : "\"max\":");
    if (cap < INT64_MAX) np_buf_int(b, cap);
    np_buf_addc(b, '}');
    sep = ',';
  }
  if (sep == ',') np_buf_addc(b, '}');
}

/* A turn's changes, one per entry: from its rung before the turn to its rung now, with the
** reason of the last step. */
typedef struct net {
  int64_t entry;
  uint32_t order;
  const np_change *change;
} net;

static int by_entry(const void *a, const void *b) {
  const net *x = a, *y = b;
  if (x->entry != y->entry) return x->entry < y->entry ? -1 : 1;
  return x->order < y->order ? -1 : 1;
}

static void add_change(np_buf *b, const np_change *first, const np_change *last,
                       char *sep) {
  if (first->from == last->to) return;
  np_buf_addc(b, *sep);
  np_buf_adds(b, "{\"entry\":");
  np_buf_int(b, first->entry);
  np_buf_adds(b, ",\"from\":\"");
  np_buf_adds(b, np_rung_name((np_rung)first->from));
  np_buf_adds(b, "\",\"to\":\"");
  np_buf_adds(b, np_rung_name((np_rung)last->to));
  np_buf_adds(b, "\",\"why\":");
  np_json_quote(b, last->why);
  np_buf_adds(b, ",\"by\":");
  np_json_quote(b, last->by);
  np_buf_adds(b, first->sent ? ",\"sent\":true}" : ",\"sent\":false}");
  *sep = ',';
}

static neap_rc add_changes(const neap_session *s, np_buf *b) {
  const np_pack *p = &s->pack;
  const neap_alloc *temp = np_temp(&p->view);
  net *list = np_calloc(temp, p->change_count + 1, sizeof *list);
  if (!list) return NEAP_E_MEMORY;
  size_t n = 0;
  for (size_t i = 0; i < p->change_count; i++) {
    unsigned flag = p->changes[i].flag;
    if (!p->changes[i].entry || flag == NP_FLAG_PINNED || flag == NP_FLAG_HELD) continue;
    list[n++] = (net){p->changes[i].entry, (uint32_t)i, &p->changes[i]};
  }
  qsort(list, n, sizeof *list, by_entry);
  char sep = '[';
  np_buf_adds(b, ",\"changed\":");
  for (size_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && list[j].entry == list[i].entry;) j++;
    add_change(b, list[i].change, list[j - 1].change, &sep);
  }
  if (sep == '[') np_buf_addc(b, sep);
  np_buf_addc(b, ']');
  np_free(temp, list);
  return NEAP_OK;
}

static void add_repair(np_buf *b, int64_t id, np_repair what, char *sep) {
  if (*sep == '[') np_buf_adds(b, ",\"repaired\":");
  np_buf_addc(b, *sep);
  np_buf_adds(b, "{\"entry\":");
  np_buf_int(b, id);
  np_buf_adds(b, ",\"what\":\"");
  np_buf_adds(b, np_repair_name(what));
  np_buf_adds(b, "\"}");
  *sep = ',';
}

/* What was done to the entries that no prompt before has taken in; what stands around all of
** them is said with the first, and each time with the last. */
static void add_repairs(np_buf *b, const neap_session *s) {
  const np_view *v = &s->pack.view;
  np_repair_memo memo = {0};
  char sep = '[';
  for (int64_t id = s->told + 1; id <= (int64_t)v->count; id++) {
    const np_entry *en = np_log_entry(&s->log, id);
    if (en->kind == NP_KIND_STATE && !np_view_at(v, id)->listed) continue;
    uint32_t set = np_repairs(v, en, &memo);
    if (id == v->opening && v->format->begins && v->format->begins(v))
      set |= NP_REPAIRED(FIRST);
    for (int r = 0; r < NP_REPAIR_COUNT; r++) {
      if (set >> r & 1) add_repair(b, id, (np_repair)r, &sep);
    }
  }
  if (v->tail && v->format->ends && v->format->ends(v))
    add_repair(b, v->tail, NP_REPAIR_LAST, &sep);
  if (sep == ',') np_buf_addc(b, ']');
}

/* What stands in the way when nothing more may be cut: by region and the largest entries. */
static void add_overflow(const neap_session *s, np_buf *b) {
  const np_view *v = &s->pack.view;
  char sep = '[';
  np_buf_adds(b, ",\"overflow\":{\"short\":");
  np_buf_int(b, s->short_by);
  add_regions(b, v);
  np_buf_adds(b, ",\"entries\":");
  for (size_t i = 0; i < v->count; i++) {
    const np_shown *sh = &v->shown[i];
    if (!sh->listed || sh->rung == NP_DROPPED) continue;
    np_buf_addc(b, sep);
    np_buf_adds(b, "{\"entry\":");
    np_buf_int(b, (int64_t)i + 1);
    np_buf_adds(b, ",\"kind\":\"");
    np_buf_adds(b, np_kind_name(s->log.entries[i].kind));
    np_buf_adds(b, "\",\"rung\":\"");
    np_buf_adds(b, np_rung_name((np_rung)sh->rung));
    np_buf_addc(b, '"');
    add_int(b, "tokens", sh->tokens);
    np_buf_addc(b, '}');
    sep = ',';
  }
  if (sep == '[') np_buf_addc(b, sep);
  np_buf_addc(b, ']');
  np_outlook_help(s, b);
  np_buf_addc(b, '}');
}

neap_rc np_turn_account(neap_session *s, np_buf *b) {
  np_buf_adds(b, "{\"turn\":");
  np_buf_int(b, s->log.step + 1);
  add_int(b, "step", s->log.step + 1);
  add_int(b, "tokens", np_pack_tokens(&s->pack));
  bool exact =
      s->gauge.exact && np_vocab_info(s->vocab)->exact && !np_view_guesses(&s->pack.view);
  np_buf_adds(b, exact ? ",\"exact\":true" : ",\"exact\":false");
  add_estimate(b, s);
  if (!s->overflow) {
    add_int(b, "cached", s->rendered.cached);
    add_int(b, "epoch", s->pack.frame.epoch);
    add_int(b, "billed_cached", s->bill.read);
    add_int(b, "written", s->bill.written);
    if (s->cold) np_buf_adds(b, ",\"cold\":true");
    bool anew = s->rendered.rewrite || s->back.now;
    np_buf_adds(b, anew ? ",\"rewrite\":true" : ",\"rewrite\":false");
    np_back_account(s, b);
  }
  add_regions(b, &s->pack.view);
  add_limits(b, &s->pack);
  np_catalogue_account(s, b);
  np_object_account(s, b);
  np_refuted_account(s, b);
  np_phase_account(s, b);
  np_checks_account(s, b);
  if (!s->overflow) np_outlook_add(s, b);
  neap_rc rc = add_changes(s, b);
  np_buf_adds(b, ",\"hook_errors\":[");
  np_buf_add(b, np_buf_str(&s->hook_errors));
  np_buf_addc(b, ']');
  if (s->warnings.n) {
    np_buf_adds(b, ",\"warnings\":[");
    np_buf_add(b, np_buf_str(&s->warnings));
    np_buf_addc(b, ']');
  }
  if (s->said.n) {
    np_buf_adds(b, ",\"log\":[");
    np_buf_add(b, np_buf_str(&s->said));
    np_buf_addc(b, ']');
  }
  add_int(b, "refused", s->pack.refusals);
  if (s->reloads) add_int(b, "reloaded", s->reloads);
  if (s->breaker.row) add_int(b, "policy_failed", s->breaker.row);
  if (s->breaker.until) add_int(b, "policy_out_until", s->breaker.until);
  if (s->pack.view.left_out) add_int(b, "left_out", s->pack.view.left_out);
  int64_t dangling = np_read_dangling(s);
  if (dangling) add_int(b, "dangling", dangling);
  if (!s->overflow) add_repairs(b, s);
  if (s->overflow) add_overflow(s, b);
  np_buf_addc(b, '}');
  return rc || b->failed || s->said.failed ? np_fail_mem(&s->err) : NEAP_OK;
}
