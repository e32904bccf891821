/*
** The circuit breaker: a policy of which a hook has failed in each of the last n turns is left
** out for twenty, in which the engine does what it does without a policy; then it has one turn
** to do better. Decided by turns alone, so that every run does the same; a reload begins anew.
** With on_error = "fail" the host decides. next: turn.c
*/
#include "engine/engine.h"

#define FAILURES 5 /* turns in a row, where the host says nothing */
#define TURNS_WITHOUT 20

bool np_breaker_is_open(const neap_session *s) {
  return s->turn < s->breaker.until;
}

void np_breaker_reset(neap_session *s) {
  s->breaker = (np_breaker){0};
}

static neap_rc note(neap_session *s, const char *result, const char *what, int64_t n) {
  np_buf head;
  char hex[2 * NP_SHA256];
  np_hex(np_policy_info_of(s->policy)->sha256, NP_SHA256, hex);
  np_buf_init(&head, &s->engine->alloc);
  np_buf_adds(&head, "{\"result\":\"");
  np_buf_adds(&head, result);
  np_buf_adds(&head, "\",\"turn\":");
  np_buf_int(&head, s->turn);
  np_buf_adds(&head, ",\"");
  np_buf_adds(&head, what);
  np_buf_adds(&head, "\":");
  np_buf_int(&head, n);
  np_buf_adds(&head, ",\"sha256\":\"");
  np_buf_add(&head, np_str_of(hex, sizeof hex));
  np_buf_adds(&head, "\"}");
  neap_rc rc = head.failed
                   ? np_fail_mem(&s->err)
                   : np_session_queue(s, NP_EV_POLICY, np_buf_str(&head), NP_LIT(""));
  np_buf_free(&head);
  return rc;
}

static int64_t most_failures(const neap_session *s) {
  int64_t n = s->options.failures ? s->options.failures : FAILURES;
  return n < 0 ? INT64_MAX : n;
}

/* What it has asked a model is void. */
static neap_rc leave_out(neap_session *s) {
  s->breaker.until = s->turn + TURNS_WITHOUT;
  neap_rc rc = np_asks_cancel(s, "the policy is left out");
  return rc ? rc : note(s, "left_out", "until", s->breaker.until);
}

/* A turn was decided, and is number s->turn. */
neap_rc np_breaker_settle(neap_session *s) {
  np_breaker *b = &s->breaker;
  if (s->turn <= b->until) return NEAP_OK; /* it was not asked */
  bool failed = b->failed, again = b->until > 0;
  b->failed = false;
  if (!failed) {
    bool back = again;
    np_breaker_reset(s);
    return back ? note(s, "back", "row", 0) : NEAP_OK;
  }
  neap_rc rc = note(s, "failed", "row", ++b->row);
  if (rc || (b->row < most_failures(s) && !again)) return rc;
  return leave_out(s);
}

/* ---- reading back ---- */

static int64_t number_of(np_json head, const char *key) {
  np_json v;
  int64_t n = 0;
  if (!np_json_get(head, key, &v) || v.type != NP_JSON_NUMBER || v.raw.n > 15) return 0;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] < '0' || v.raw.p[i] > '9') return 0;
    n = n * 10 + (v.raw.p[i] - '0');
  }
  return n;
}

static bool is_serving(const neap_session *s, np_json head) {
  char hex[2 * NP_SHA256 + 2];
  np_json v;
  hex[0] = hex[sizeof hex - 1] = '"';
  np_hex(np_policy_info_of(s->policy)->sha256, NP_SHA256, hex + 1);
  return np_json_get(head, "sha256", &v) && np_str_eq(v.raw, np_str_of(hex, sizeof hex));
}

/* Another version than the one that serves now has nothing to answer for. */
void np_breaker_take(neap_session *s, const np_event *ev) {
  np_json head, v;
  np_breaker *b = &s->breaker;
  if (np_json_check(ev->head, &head, NULL) || !np_json_get(head, "result", &v)) return;
  if (!is_serving(s, head)) {
    np_breaker_reset(s);
    return;
  }
  if (np_str_is(v.raw, "\"failed\"")) {
    b->row = number_of(head, "row");
    b->told = true;
  } else if (np_str_is(v.raw, "\"left_out\"")) {
    b->until = number_of(head, "until");
  } else if (!np_str_is(v.raw, "\"kept\"")) {
    np_breaker_reset(s);
  }
}

/* A turn without a failure ends the row. */
void np_breaker_turn(neap_session *s) {
  if (!s->breaker.told && s->turn > s->breaker.until) s->breaker.row = 0;
  s->breaker.told = false;
}

/* ---- of all sessions in a store ---- */

#define LAST_EVENTS 1000 /* more than the turns without a policy can have */

typedef struct finding {
  int64_t until, at, turns; /* as the last event says, and the turns behind it */
} finding;

static neap_rc find(void *ctx, const np_event *ev, bool purged) {
  finding *f = ctx;
  np_json head, v;
  if (ev->kind == NP_EV_TURN) f->turns++;
  if (purged || ev->kind != NP_EV_POLICY || np_json_check(ev->head, &head, NULL) ||
      !np_json_get(head, "result", &v))
    return NEAP_OK;
  if (np_str_is(v.raw, "\"failed\"") || np_str_is(v.raw, "\"kept\"")) return NEAP_OK;
  bool out = np_str_is(v.raw, "\"left_out\"");
  *f = (finding){.until = out ? number_of(head, "until") : 0,
                 .at = number_of(head, "turn"),
                 .turns = -1}; /* its own turn follows */
  return NEAP_OK;
}

typedef struct listing {
  np_buf names; /* each with its number of events: they are read one by one, later */
} listing;

static neap_rc note_session(void *ctx, const np_session_row *row) {
  listing *l = ctx;
  np_buf_int(&l->names, row->events);
  np_buf_addc(&l->names, ' ');
  np_buf_add(&l->names, row->name);
  np_buf_addc(&l->names, '\0');
  return l->names.failed ? NEAP_E_MEMORY : NEAP_OK;
}

static void add_finding(np_buf *b, np_str name, const finding *f) {
  int64_t left = f->until - f->at - (f->turns > 0 ? f->turns : 0);
  if (!f->until || left <= 0) return;
  np_buf_adds(b, b->n > 1 ? ",{\"session\":" : "{\"session\":");
  np_json_quote(b, name);
  np_buf_adds(b, ",\"turns\":");
  np_buf_int(b, left);
  np_buf_addc(b, '}');
}

neap_rc np_breaker_list(neap *n, np_buf *out, np_err *e) {
  np_store *st = n->store;
  np_str tenant = np_str_cstr(n->tenant);
  listing l;
  np_buf_init(&l.names, &n->alloc);
  np_buf_addc(out, '[');
  neap_rc rc = st->ops->sessions(st, tenant, note_session, &l, e);
  for (size_t at = 0; !rc && at < l.names.n;) {
    const char *row = l.names.p + at;
    size_t end = strlen(row), name = np_str_find(np_str_of(row, end), NP_LIT(" "), 0) + 1;
    int64_t events = 0;
    for (size_t i = 0; i + 1 < name; i++) events = events * 10 + (row[i] - '0');
    finding f = {0};
    np_str session = np_str_of(row + name, end - name);
    int64_t from = events > LAST_EVENTS ? events - LAST_EVENTS : 1;
    rc = st->ops->read(st, tenant, session, from, find, &f, e);
    if (!rc) add_finding(out, session, &f);
    at += end + 1;
  }
  np_buf_addc(out, ']');
  np_buf_free(&l.names);
  return rc || !out->failed ? rc : np_fail_mem(e);
}
