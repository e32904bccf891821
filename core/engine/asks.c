/*
** What policies ask a model: given to the host, answered by it, and logged, so that a hook
** that has to start again after a restart is given the same answers. next: checks.c
*/
#include "engine/engine.h"

#include "text/text.h"

/* ---- to the log ---- */

static void add_int(np_buf *b, const char *name, int64_t v) {
  np_buf_adds(b, name);
  np_buf_int(b, v);
}

static neap_rc queue_ask(neap_session *s, np_ask *a, size_t place) {
  np_buf head;
  char hex[2 * NP_SHA256];
  np_hex(a->sha256, NP_SHA256, hex);
  np_buf_init(&head, &s->engine->alloc);
  add_int(&head, "{\"ask\":", a->id);
  np_buf_adds(&head, a->summary ? ",\"kind\":\"summary\"" : ",\"kind\":\"ask\"");
  add_int(&head, ",\"step\":", a->step);
  add_int(&head, ",\"max_tokens\":", a->max_tokens);
  add_int(&head, ",\"turns\":", a->turns);
  add_int(&head, ",\"place\":", (int64_t)place);
  np_buf_adds(&head, ",\"sha256\":\"");
  np_buf_add(&head, np_str_of(hex, sizeof hex));
  np_buf_adds(&head, "\"}");
  /* a span's text is that of the entries, which the log holds */
  np_str body = a->summary ? NP_LIT("") : a->text;
  neap_rc rc = head.failed ? np_fail_mem(&s->err)
                           : np_session_queue(s, NP_EV_ASK, np_buf_str(&head), body);
  np_buf_free(&head);
  a->logged = !rc;
  return rc;
}

neap_rc np_asks_queue(neap_session *s) {
  size_t n;
  neap_rc rc = NEAP_OK;
  np_ask *asks = np_policy_asks(s->policy, &n);
  for (size_t i = 0; !rc && i < n; i++) {
    if (!asks[i].logged) rc = queue_ask(s, &asks[i], i);
  }
  return rc;
}

static neap_rc queue_settled(neap_session *s, const char *result, const char *why) {
  np_buf head;
  np_buf_init(&head, &s->engine->alloc);
  np_buf_adds(&head, "{\"result\":\"");
  np_buf_adds(&head, result);
  np_buf_addc(&head, '"');
  if (why) {
    np_buf_adds(&head, ",\"why\":");
    np_json_quote(&head, np_str_cstr(why));
  }
  np_buf_addc(&head, '}');
  neap_rc rc = head.failed
                   ? np_fail_mem(&s->err)
                   : np_session_queue(s, NP_EV_SETTLED, np_buf_str(&head), NP_LIT(""));
  np_buf_free(&head);
  return rc;
}

neap_rc np_asks_settle(neap_session *s) {
  const char *result;
  neap_rc rc = np_asks_queue(s);
  if (rc || !np_policy_settle_asks(s->policy, &result)) return rc;
  return queue_settled(s, result, NULL);
}

neap_rc np_asks_cancel(neap_session *s, const char *why) {
  size_t n;
  np_policy_asks(s->policy, &n);
  np_policy_cancel_asks(s->policy);
  return n ? queue_settled(s, "cancelled", why) : NEAP_OK;
}

/* ---- answers ---- */

/* {"ask":3,"refused":true,"code":"timeout"} */
static bool add_answer(np_buf *head, int64_t id, np_str code, bool vouched) {
  add_int(head, "{\"ask\":", id);
  np_buf_adds(head, code.n ? ",\"refused\":true,\"code\":\"" : ",\"refused\":false");
  np_buf_add(head, code);
  if (code.n) np_buf_addc(head, '"');
  else if (!vouched) np_buf_adds(head, ",\"unchecked\":true");
  np_buf_addc(head, '}');
  return !head->failed;
}

/* Asks that have been open for as many turns as their policy waits: told with the next turn. */
neap_rc np_asks_expire(neap_session *s) {
  np_str code = NP_LIT("timeout"), why = NP_LIT("no answer has come in time");
  size_t n;
  neap_rc rc = np_asks_queue(s);
  const np_ask *asks = np_policy_asks(s->policy, &n);
  for (size_t i = 0; !rc && i < n; i++) {
    const np_ask *a = &asks[i];
    bool waits = !a->turns || s->log.step + 1 - a->step < a->turns;
    if (a->state != NP_ASK_OPEN || waits) continue;
    np_buf head;
    np_buf_init(&head, &s->engine->alloc);
    if (!add_answer(&head, a->id, code, true)) rc = np_fail_mem(&s->err);
    if (!rc) rc = np_session_queue(s, NP_EV_ANSWER, np_buf_str(&head), why);
    if (!rc) rc = np_policy_answer(s->policy, a->id, code, why, false, &s->err);
    np_buf_free(&head);
  }
  return rc;
}

/* ---- the host ---- */

int neap_ask_after(neap_session *s, int64_t after, neap_ask *a) {
  if (np_session_enter_out(s, a)) return 0;
  const np_ask *open = np_policy_open_ask(s->policy, after);
  if (open) {
    *a = (neap_ask){.id = open->id,
                    .kind = open->summary ? "summary" : "ask",
                    .text = open->text,
                    .max_tokens = open->max_tokens,
                    .notes = open->notes,
                    .parts = open->parts,
                    .part_count = open->part_count};
  }
  np_session_leave(s, NEAP_OK);
  return open != NULL;
}

int neap_ask_next(neap_session *s, neap_ask *a) {
  return neap_ask_after(s, 0, a);
}

static neap_rc check_answer(neap_session *s, np_str text) {
  if (text.n > NP_ANSWER_MAX) {
    return np_fail(&s->err, NEAP_E_LIMIT,
                   "an answer of %zu bytes; at most %zu are taken, ask for fewer tokens",
                   text.n, NP_ANSWER_MAX);
  }
  size_t at = np_utf8_valid(text);
  if (at == text.n) return NEAP_OK;
  return np_fail(&s->err, NEAP_E_UTF8, "the answer is not UTF-8 at byte %zu", at);
}

/* The open ask of that id, or NULL. */
static np_ask *open_ask(const neap_session *s, int64_t id) {
  size_t n;
  np_ask *asks = np_policy_asks(s->policy, &n);
  for (size_t i = 0; i < n; i++) {
    if (asks[i].id == id && asks[i].state == NP_ASK_OPEN) return &asks[i];
  }
  return NULL;
}

bool np_ask_is_open(const neap_session *s, int64_t id) {
  return open_ask(s, id) != NULL;
}

/* The log first: an answer that was taken survives. One that is not open is refused by the
** policy without a trace. */
static neap_rc answer(neap_session *s, int64_t id, np_str code, np_str text,
                      bool vouched) {
  np_buf head;
  if (!np_ask_is_open(s, id))
    return np_policy_answer(s->policy, id, code, text, false, &s->err);
  neap_rc rc = np_asks_queue(s);
  np_buf_init(&head, &s->engine->alloc);
  if (!add_answer(&head, id, code, vouched) && !rc) rc = np_fail_mem(&s->err);
  if (!rc) rc = np_session_log(s, NP_EV_ANSWER, np_buf_str(&head), text);
  if (!rc) rc = np_policy_answer(s->policy, id, code, text, vouched, &s->err);
  np_buf_free(&head);
  return rc;
}

/* What it says of values that nothing else does is told to log and account. The second time the
** policy is told that there is no answer: no host asks for ever. */
static neap_rc not_taken(neap_session *s, int64_t id, np_str faults) {
  np_json list, one, what;
  np_buf text;
  np_ask *a = open_ask(s, id);
  np_str first = NP_LIT("");
  neap_rc rc = np_checks_tell(s, id, faults, &list);
  if (rc) return rc;
  np_json_iter it = np_json_each(list);
  np_buf_init(&text, &s->engine->alloc);
  if (np_json_next(&it, NULL, &one) && np_json_get(one, "what", &what)) {
    np_json_text(what, &text);
    first = np_buf_str(&text);
  }
  const char *next = ++a->tries < 2 ? "ask once more" : "the policy is told of it";
  if (a->tries > 1) rc = answer(s, id, NP_LIT("unverified"), first, false);
  if (!rc)
    rc = np_fail(&s->err, NEAP_E_UNVERIFIED, "the answer was not taken: %.*s; %s",
                 (int)(first.n < 300 ? first.n : 300), first.p, next);
  np_buf_free(&text);
  return rc;
}

/* A text that a host has written; a summary's is looked at first. */
static neap_rc check_and_answer(neap_session *s, int64_t id, np_str text) {
  np_buf faults;
  bool vouched = false;
  neap_rc rc = NEAP_OK;
  np_buf_init(&faults, &s->engine->alloc);
  if (!(s->options.flags & NEAP_UNCHECKED) && np_ask_is_open(s, id))
    rc = np_policy_check_answer(s->policy, id, text, &faults, &vouched, &s->err);
  if (!rc && faults.n) rc = not_taken(s, id, np_buf_str(&faults));
  else if (!rc) rc = answer(s, id, NP_LIT(""), text, vouched);
  np_buf_free(&faults);
  return rc;
}

static neap_rc take_answer(neap_session *s, int64_t ask, np_str text, bool vouched) {
  bool none = text.p == NULL;
  if (none) text = NP_LIT("the host gave no answer");
  neap_rc rc = np_session_enter_text(s, &text);
  if (rc) return rc;
  rc = check_answer(s, text);
  if (!rc && none) rc = answer(s, ask, NP_LIT("refused"), text, false);
  else if (!rc && vouched) rc = answer(s, ask, NP_LIT(""), text, true);
  else if (!rc) rc = check_and_answer(s, ask, text);
  return np_session_leave(s, rc);
}

neap_rc neap_answer(neap_session *s, int64_t ask, neap_str text) {
  return take_answer(s, ask, text, false);
}

neap_rc np_answer_verified(neap_session *s, int64_t ask, np_str text) {
  return take_answer(s, ask, text, true);
}

static neap_rc check_code(neap_session *s, const char *code) {
  static const char *const codes[] = {"refused", "error", "timeout", "cancelled"};
  for (size_t i = 0; code && i < NP_COUNT(codes); i++) {
    if (strcmp(codes[i], code) == 0) return NEAP_OK;
  }
  return np_fail(
      &s->err, NEAP_E_ARG,
      "there is no answer, but why? give refused, error, timeout or cancelled");
}

neap_rc neap_refuse(neap_session *s, int64_t ask, const char *code, neap_str why) {
  if (!why.p) why = NP_LIT("the host gave no answer");
  neap_rc rc = np_session_enter_text(s, &why);
  if (rc) return rc;
  rc = check_code(s, code);
  if (!rc) rc = check_answer(s, why);
  return np_session_leave(s, rc ? rc : answer(s, ask, np_str_cstr(code), why, false));
}

/* ---- reading back ---- */

static neap_rc damaged(neap_session *s) {
  return np_fail(&s->err, NEAP_E_CORRUPT,
                 "session %s: an ask's event is wrong; check the store", s->name);
}

static int64_t number_of(np_json head, const char *key) {
  np_json v;
  int64_t n = 0;
  if (!np_json_get(head, key, &v) || v.type != NP_JSON_NUMBER || v.raw.n > 17) return -1;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] < '0' || v.raw.p[i] > '9') return -1;
    n = n * 10 + (v.raw.p[i] - '0');
  }
  return n;
}

static int nibble(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_sha(np_json head, uint8_t out[NP_SHA256]) {
  np_json v;
  if (!np_json_get(head, "sha256", &v) || v.raw.n != 2 * NP_SHA256 + 2) return false;
  for (size_t i = 0; i < NP_SHA256; i++) {
    int hi = nibble(v.raw.p[1 + 2 * i]), lo = nibble(v.raw.p[2 + 2 * i]);
    if (hi < 0 || lo < 0) return false;
    out[i] = (uint8_t)(hi << 4 | lo);
  }
  return true;
}

static neap_rc take_ask(neap_session *s, np_json head) {
  np_json kind;
  np_ask a = {
      .logged = true, .text = NP_LIT(""), .notes = NP_LIT(""), .kept = NP_LIT("")};
  a.id = number_of(head, "ask");
  a.step = number_of(head, "step");
  a.max_tokens = number_of(head, "max_tokens");
  int64_t place = number_of(head, "place"), turns = number_of(head, "turns");
  a.turns = turns < 0 ? 0 : turns; /* older logs have none */
  np_json_get(head, "kind", &kind);
  a.summary = np_json_is_key(kind.raw, "summary");
  if (a.id <= s->asked || a.step < 0 || a.max_tokens < 1 || place < 0 ||
      !read_sha(head, a.sha256))
    return damaged(s);
  s->asked = a.id;
  return np_policy_restore_ask(s->policy, (size_t)place, &a, &s->err);
}

neap_rc np_asks_take(neap_session *s, const np_event *ev) {
  np_json head, v;
  if (np_json_check(ev->head, &head, NULL)) return damaged(s);
  if (ev->kind == NP_EV_ASK) return take_ask(s, head);
  if (ev->kind == NP_EV_SETTLED) {
    np_policy_cancel_asks(s->policy);
    return NEAP_OK;
  }
  np_str code = NP_LIT("");
  if (np_json_get(head, "refused", &v) && np_str_is(v.raw, "true"))
    code = NP_LIT("refused");
  if (code.n && np_json_get(head, "code", &v) && v.raw.n > 2)
    code = np_str_cut(v.raw, 1, v.raw.n - 1);
  bool vouched = !np_json_get(head, "unchecked", &v);
  neap_rc rc = np_policy_answer(s->policy, number_of(head, "ask"), code, ev->body,
                                vouched, &s->err);
  return rc == NEAP_E_NOTFOUND ? damaged(s) : rc;
}
