/*
** Answers that were looked at and not taken: why, in the log, and how many, in the account. Who looks
** is the host, or the trusted Lua that verifies notes; nothing else of the session changes.
** next: ask_log.c
*/
#include "engine/engine.h"

static neap_rc damaged(neap_session *s) {
  return np_fail(&s->err, NEAP_E_CORRUPT,
                 "session %s: a check's event is wrong; check the store", s->name);
}

static bool is_list(np_str text, np_json *list) {
  np_json one;
  if (np_json_check(text, list, NULL) || list->type != NP_JSON_ARRAY) return false;
  np_json_iter it = np_json_each(*list);
  bool any = false;
  while (np_json_next(&it, NULL, &one)) {
    if (one.type != NP_JSON_OBJECT) return false;
    any = true;
  }
  return any;
}

/* Counted, and told in the next account. */
static neap_rc keep(neap_session *s, np_json list) {
  np_json one;
  np_json_iter it = np_json_each(list);
  s->unverified++;
  while (np_json_next(&it, NULL, &one)) {
    if (s->faults.n + one.raw.n > NP_ANSWER_MAX) break; /* the log has them all */
    if (s->faults.n) np_buf_addc(&s->faults, ',');
    np_buf_add(&s->faults, one.raw);
  }
  return s->faults.failed ? np_fail_mem(&s->err) : NEAP_OK;
}

/* Of an ask at once; of what a turn's hooks wrote (ask 0) with the turn. */
static neap_rc write(neap_session *s, int64_t ask, np_json list) {
  np_buf head;
  neap_rc rc = np_asks_queue(s);
  np_buf_init(&head, &s->engine->alloc);
  np_buf_adds(&head, "{\"ask\":");
  np_buf_int(&head, ask);
  np_buf_adds(&head, ",\"faults\":");
  np_buf_add(&head, list.raw);
  np_buf_addc(&head, '}');
  if (!rc && head.failed) rc = np_fail_mem(&s->err);
  np_str none = NP_LIT("");
  if (!rc && ask) rc = np_session_log(s, NP_EV_CHECK, np_buf_str(&head), none);
  else if (!rc) rc = np_session_queue(s, NP_EV_CHECK, np_buf_str(&head), none);
  np_buf_free(&head);
  return rc;
}

neap_rc np_checks_tell(neap_session *s, int64_t ask, np_str faults, np_json *list) {
  np_str kept;
  np_buf b;
  np_buf_init(&b, &s->engine->alloc);
  np_buf_addc(&b, '[');
  np_buf_add(&b, faults);
  np_buf_addc(&b, ']');
  bool ok = !b.failed && np_arena_copy(&s->pack.turn, np_buf_str(&b), &kept);
  np_buf_free(&b);
  if (!ok) return np_fail_mem(&s->err);
  if (!is_list(kept, list)) return NEAP_OK;
  neap_rc rc = write(s, ask, *list);
  return rc ? rc : keep(s, *list);
}

/* What folds of the turn say that they may not, told with the turn. A shadow has no log. */
neap_rc np_checks_turn(neap_session *s) {
  np_json list;
  np_buf faults;
  np_buf_init(&faults, &s->engine->alloc);
  np_policy_take_faults(s->policy, &faults);
  neap_rc rc = faults.failed ? np_fail_mem(&s->err) : NEAP_OK;
  if (!rc && faults.n && !s->live) rc = np_checks_tell(s, 0, np_buf_str(&faults), &list);
  np_buf_free(&faults);
  return rc;
}

static neap_rc check(neap_session *s, int64_t ask, np_str faults, np_json *list) {
  if (!np_ask_is_open(s, ask))
    return np_fail(&s->err, NEAP_E_NOTFOUND, "no ask %lld is open", (long long)ask);
  if (faults.n > NP_ANSWER_MAX)
    return np_fail(&s->err, NEAP_E_LIMIT, "faults of %zu bytes; at most %zu are kept",
                   faults.n, NP_ANSWER_MAX);
  if (is_list(faults, list)) return NEAP_OK;
  return np_fail(&s->err, NEAP_E_ARG, "faults are a JSON array of one or more objects");
}

neap_rc neap_ask_faults(neap_session *s, int64_t ask, neap_str faults) {
  np_json list;
  neap_rc rc = np_session_enter_text(s, &faults);
  if (rc) return rc;
  rc = check(s, ask, faults, &list);
  if (!rc) rc = write(s, ask, list);
  return np_session_leave(s, rc ? rc : keep(s, list));
}

/* ,"checks":{"refused":n,"faults":[…]}: of all, and of those since the account before; with
** "unchecked":true where texts of hosts and policies are taken as they are. */
void np_checks_account(neap_session *s, np_buf *b) {
  bool unchecked = (s->options.flags & NEAP_UNCHECKED) != 0;
  if (!s->unverified && !unchecked) return;
  np_buf_adds(b, unchecked ? ",\"checks\":{\"unchecked\":true,\"refused\":"
                           : ",\"checks\":{\"refused\":");
  np_buf_int(b, s->unverified);
  np_buf_adds(b, ",\"faults\":[");
  np_buf_add(b, np_buf_str(&s->faults));
  np_buf_adds(b, "]}");
  np_buf_clear(&s->faults);
}

neap_rc np_checks_take(neap_session *s, const np_event *ev) {
  np_json head, list;
  if (np_json_check(ev->head, &head, NULL) || !np_json_get(head, "faults", &list) ||
      !is_list(list.raw, &list))
    return damaged(s);
  return keep(s, list);
}
