/*
** How large the state object may be: a share of what a prompt has room for, since it stands in every
** prompt and nothing of it is ever put away. A proposal that makes it larger than that is refused,
** and told which paths take the room; one that makes it smaller is not. next: versions.c
*/
#include "engine/engine.h"

#define DEFAULT_SHARE (NP_MILLION / 4)
#define PATHS 8 /* that one refusal lists */

neap_rc np_share_open(neap_session *s) {
  double share = s->options.state_share;
  if ((share >= 0 && share <= 1) || share == -1) return NEAP_OK; /* no NaN either */
  return np_fail(&s->err, NEAP_E_CONFIG,
                 "state_share must be a share of the budget between 0 and 1, or -1 for "
                 "none");
}

/* In millionths; -1: there is no limit but 64 KiB. */
static int64_t share_of(const neap_session *s) {
  double share = s->options.state_share;
  if (share < 0) return -1;
  return share > 0 ? (int64_t)(share * NP_MILLION + 0.5) : DEFAULT_SHARE;
}

void np_share_settings(const neap_session *s, np_buf *out) {
  np_buf_adds(out, ",\"state_share\":");
  np_buf_int(out, share_of(s));
}

static int64_t limit_of(int64_t share, int64_t budget) {
  if (share < 0 || budget <= 0) return INT64_MAX;
  return budget / NP_MILLION * share + budget % NP_MILLION * share / NP_MILLION;
}

/* ---- what is told ---- */

static void add_fault(np_buf *b, np_str path, np_str what) {
  np_buf_adds(b, b->n ? ",{\"path\":" : "[{\"path\":");
  np_json_quote(b, path);
  np_buf_adds(b, ",\"what\":");
  np_json_quote(b, what);
  np_buf_addc(b, '}');
}

static int64_t tokens_of(const np_vocab *v, np_json item, const char *side) {
  np_json value;
  return np_json_get(item, side, &value) ? (int64_t)np_vocab_count(v, value.raw) : 0;
}

/* A path that the proposal makes longer. */
static void add_growth(const np_vocab *v, np_json item, np_buf *list, int *told) {
  np_json path;
  np_buf text, what;
  int64_t was = tokens_of(v, item, "from"), now = tokens_of(v, item, "to");
  if (now <= was || *told >= PATHS || !np_json_get(item, "path", &path)) return;
  np_buf_init(&text, list->alloc);
  np_buf_init(&what, list->alloc);
  np_json_text(path, &text);
  np_buf_adds(&what, "would have ");
  np_buf_count(&what, now);
  np_buf_adds(&what, " tokens, ");
  np_buf_count(&what, now - was);
  np_buf_adds(&what, " more than now");
  add_fault(list, np_buf_str(&text), np_buf_str(&what));
  ++*told;
  if (text.failed || what.failed) list->failed = true;
  np_buf_free(&text);
  np_buf_free(&what);
}

static void add_size(int64_t tokens, int64_t limit, np_buf *list) {
  np_buf what;
  np_buf_init(&what, list->alloc);
  np_buf_adds(&what, "the state would have ");
  np_buf_count(&what, tokens);
  np_buf_adds(&what, " tokens; its share of the budget is ");
  np_buf_count(&what, limit);
  np_buf_adds(&what, ": keep less in it, or raise state_share");
  add_fault(list, NP_LIT(""), np_buf_str(&what));
  if (what.failed) list->failed = true;
  np_buf_free(&what);
}

static neap_rc refuse(const np_vocab *v, np_str was, np_str now, np_buf *list,
                      np_err *e) {
  np_buf changes;
  np_json all, item;
  int told = 0;
  np_buf_init(&changes, list->alloc);
  neap_rc rc = np_object_diff(was, now, &changes, list->alloc, e);
  if (!rc && !np_json_check(np_buf_str(&changes), &all, NULL)) {
    np_json_iter it = np_json_each(all);
    while (np_json_next(&it, NULL, &item)) add_growth(v, item, list, &told);
  }
  np_buf_addc(list, ']');
  np_buf_free(&changes);
  return rc ? rc : NEAP_E_REFUSED;
}

/* ---- deciding ---- */

neap_rc np_share_check(const np_vocab *v, int64_t limit, np_str was, np_str now,
                       np_buf *list, np_err *e) {
  if ((int64_t)now.n <= limit) return NEAP_OK; /* no token has less than a byte */
  int64_t tokens = (int64_t)np_vocab_count(v, now);
  if (tokens <= limit || tokens <= (int64_t)np_vocab_count(v, was)) return NEAP_OK;
  add_size(tokens, limit, list);
  return refuse(v, was, now, list, e);
}

neap_rc np_object_decide(const neap_session *s, const np_proposed *ask, np_buf *out,
                         np_faults *faults, np_err *e) {
  const neap_session *live = s->live ? s->live : s;
  const neap_alloc *a = &live->engine->alloc;
  np_str now = np_object_now(live);
  size_t before = out->n;
  neap_rc rc = np_object_propose(live->object.schema, now, ask, out, faults, a, e);
  if (rc) return rc;
  np_str made = np_str_cut(np_buf_str(out), before, out->n);
  int64_t budget = np_gauge_budget(&live->gauge, live->window - live->reserve);
  rc = np_share_check(live->vocab, limit_of(share_of(live), budget), now, made,
                      faults->list, e);
  if (rc) out->n = before;
  return rc;
}

static int64_t number_of(np_json head, const char *name) {
  np_json v;
  int64_t n = 0;
  if (!np_json_get(head, name, &v) || v.type != NP_JSON_NUMBER || v.raw.n > 15) return 0;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] < '0' || v.raw.p[i] > '9') return -1;
    n = n * 10 + (v.raw.p[i] - '0');
  }
  return n;
}

neap_rc np_share_stored(neap *n, np_str settings, np_str was, np_str now, np_buf *list,
                        np_err *e) {
  np_json head, name;
  np_buf encoding;
  const np_vocab *v = NULL;
  if (!settings.n || np_json_check(settings, &head, NULL)) return NEAP_OK;
  int64_t share = number_of(head, "state_share"), factor = number_of(head, "factor");
  int64_t room =
      number_of(head, "window") - number_of(head, "reserve") - number_of(head, "margin");
  if (factor <= 0) factor = NP_MILLION;
  int64_t limit = limit_of(share ? share : -1, room * NP_MILLION / factor);
  if ((int64_t)now.n <= limit || !np_json_get(head, "encoding", &name)) return NEAP_OK;
  np_buf_init(&encoding, &n->alloc);
  np_json_text(name, &encoding);
  neap_rc rc =
      encoding.failed ? np_fail_mem(e) : np_engine_vocab(n, np_buf_str(&encoding), &v, e);
  np_buf_free(&encoding);
  return rc ? rc : np_share_check(v, limit, was, now, list, e);
}
