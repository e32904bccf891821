/*
** Responses and calls: what the model answered becomes a message, its calls are handed out
** one by one, their results come back. next: answer.c, text_response.c, tools.c
*/
#include "engine/engine.h"

#include "engine/answer.h"
#include "engine/text_response.h"
#include "text/text.h"

static neap_rc read_text(neap_session *s, np_arena *ar, np_str response, np_answer *out) {
  np_buf_clear(&s->body);
  np_text_response(response, s->log.step + 1, &s->body);
  out->messages = np_arena_alloc(ar, sizeof *out->messages);
  if (s->body.failed || !out->messages) return np_fail_mem(&s->err);
  out->messages[0] = np_buf_str(&s->body);
  out->count = 1;
  return NEAP_OK;
}

static neap_rc append_response(neap_session *s, np_arena *ar, np_str response) {
  np_answer answer = {0};
  np_gauge next = s->gauge;
  neap_rc rc;
  np_buf_clear(&s->usage);
  if (s->pack.view.format->parts) {
    rc = np_answer_read(ar, response, &answer, &s->err);
    if (!rc) rc = np_usage_read(s, response, &next);
  } else {
    rc = read_text(s, ar, response, &answer);
  }
  size_t first = s->log.message_count;
  if (!rc) rc = np_session_append(s, answer.messages, answer.count, response);
  if (rc) return rc;
  s->gauge = next;
  s->asked_tokens = 0;
  s->call_message = first;
  s->call_at = 0;
  return NEAP_OK;
}

neap_rc neap_append_response(neap_session *s, neap_str response) {
  neap_rc rc = np_session_enter_text(s, &response);
  if (rc) return rc;
  np_arena ar;
  np_arena_init(&ar, &s->engine->alloc);
  rc = append_response(s, &ar, response);
  np_arena_free(&ar);
  return np_session_leave(s, rc);
}

int neap_next_call(neap_session *s, neap_call *c) {
  if (np_session_enter_out(s, c)) return 0;
  int found = 0;
  const np_message *m =
      s->call_message < s->log.message_count ? &s->log.messages[s->call_message] : NULL;
  while (m && !found) {
    const np_entry *en = np_log_entry(&s->log, m->first + s->call_at);
    if (!en || en->step != m->step) break;
    s->call_at++;
    if (en->kind != NP_KIND_CALL || en->pair) continue;
    *c = (neap_call){en->id, en->call_id, en->tool, en->text};
    np_catalogue_pass(s, c);
    found = 1;
  }
  np_session_leave(s, NEAP_OK);
  return found;
}

/* Text that is not UTF-8 is repaired, since a request could not carry it. */
static neap_rc result_message(neap_session *s, const np_entry *call, np_str text) {
  np_buf_clear(&s->body);
  np_answer_result(&s->log, call, text, &s->body);
  np_str message = np_buf_str(&s->body);
  return s->body.failed ? np_fail_mem(&s->err)
                        : np_session_append(s, &message, 1, NP_LIT(""));
}

static neap_rc find_call(neap_session *s, const neap_call *c, const np_entry **out) {
  const np_entry *en = c ? np_log_entry(&s->log, c->entry) : NULL;
  if (!en || en->kind != NP_KIND_CALL) {
    return np_fail(&s->err, NEAP_E_ARG, "there is no call of that number in session %s",
                   s->name);
  }
  if (en->pair) {
    return np_fail(&s->err, NEAP_E_MISUSE, "call %lld has its result already",
                   (long long)en->id);
  }
  *out = en;
  return NEAP_OK;
}

neap_rc neap_append_result(neap_session *s, const neap_call *c, neap_str text) {
  const np_entry *call;
  neap_rc rc = np_session_enter_text(s, &text);
  if (rc) return rc;
  rc = find_call(s, c, &call);
  if (!rc) rc = result_message(s, call, text);
  return np_session_leave(s, rc);
}

/* Calls named neap_* are the engine's, whether it can answer them or only say why not. */
int neap_handle(neap_session *s, const neap_call *c) {
  const np_entry *call;
  if (!c || !np_tools_is_ours(c->name)) return 1;
  if (np_session_enter(s)) return 0;
  neap_rc rc = find_call(s, c, &call);
  if (!rc && s->object.schema && np_str_is(c->name, "neap_state")) {
    rc = np_object_handle(s, c, call);
  } else if (!rc && np_str_is(c->name, "neap_scratch")) {
    rc = np_scratch_handle(s, c, call);
  } else if (!rc) {
    rc = np_tools_answer(s, c, &s->text);
    if (!rc) rc = result_message(s, call, np_buf_str(&s->text));
  }
  np_session_leave(s, rc);
  return 0;
}
