/*
** Appending messages: checked first, then written, then kept. next: turn.c
*/
#include "engine/words.h"

#include "log/parse.h"

static neap_rc stage(neap_session *s, const np_str *messages, size_t n, np_staged *out) {
  neap_rc rc = np_log_stage(&s->log, messages[0], out, &s->err);
  for (size_t i = 1; !rc && i < n; i++)
    rc = np_log_stage_more(&s->log, messages[i], out, &s->err);
  return rc;
}

/* The events of an append: what leads it, usage and body of a response, then its messages. */
static size_t make_events(const neap_session *s, const np_event *lead,
                          const np_str *messages, size_t n, np_str response,
                          np_event *ev) {
  size_t k = 0;
  if (lead) ev[k++] = *lead;
  if (response.n && s->usage.n)
    ev[k++] = (np_event){.kind = NP_EV_USAGE, .head = np_buf_str(&s->usage)};
  if (response.n) ev[k++] = (np_event){.kind = NP_EV_RESPONSE, .body = response};
  for (size_t i = 0; i < n; i++)
    ev[k++] = (np_event){.kind = NP_EV_MESSAGE, .body = messages[i]};
  return k;
}

/* A state that stands beside the object would be one that nobody has checked. */
static neap_rc check_state(neap_session *s, const np_staged *staged) {
  const np_parsed *p = staged->parsed;
  if (!s->object.schema || !p->count || p->parts[0].kind != NP_KIND_STATE) return NEAP_OK;
  np_log_give_up(&s->log, staged);
  return np_fail(&s->err, NEAP_E_MISUSE,
                 "session %s has a state object; propose a change of it instead of "
                 "appending a state",
                 s->name);
}

/* Checks first, then writes, then keeps: what is refused leaves no trace, and what is kept is
** in the store. */
static neap_rc append(neap_session *s, const np_event *lead, const np_str *messages,
                      size_t n, np_str response) {
  np_staged staged;
  const neap_alloc *temp = np_temp(&s->pack.view);
  np_event *ev = np_calloc(temp, n + 3, sizeof *ev);
  if (!ev) return np_fail_mem(&s->err);
  neap_rc rc = stage(s, messages, n, &staged);
  if (!rc && !lead) rc = check_state(s, &staged);
  if (!rc) {
    rc = np_session_write(s, ev, make_events(s, lead, messages, n, response, ev));
    if (rc) np_log_give_up(&s->log, &staged);
  }
  np_free(temp, ev);
  if (rc) return rc;
  s->log.fresh = response.n > 0;
  size_t at = np_log_enter(&s->log, &staged);
  for (size_t i = 0; s->claim.fence != 0 && i < n; i++)
    s->log.messages[at + i].seq = s->claim.last_seq - (int64_t)(n - 1 - i);
  rc = np_log_index_come(&s->log, &s->err);
  if (!rc) np_words_follow(s);
  return rc;
}

neap_rc np_session_append(neap_session *s, const np_str *messages, size_t n,
                          np_str response) {
  return append(s, NULL, messages, n, response);
}

neap_rc np_session_append_led(neap_session *s, const np_event *lead,
                              const np_str *messages, size_t n) {
  return append(s, lead, messages, n, NP_LIT(""));
}

neap_rc neap_append(neap_session *s, neap_str message) {
  neap_rc rc = np_session_enter_text(s, &message);
  if (rc) return rc;
  return np_session_leave(s, np_session_append(s, &message, 1, NP_LIT("")));
}
