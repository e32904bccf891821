/*
** Responses and calls: what the model answered becomes a message, its calls are handed out
** one by one, their results come back. next: text_response.c, tools.c
*/
#include "engine/engine.h"

#include "engine/text_response.h"
#include "text/text.h"

/* The message inside a chat completion, or the value itself when it is a message. */
static neap_rc find_message(neap_session *s, np_str response, np_str *message) {
  np_json root, choices, choice = {0}, v;
  neap_rc rc = np_json_check(response, &root, &s->err);
  if (rc) return rc;
  if (np_json_get(root, "error", &v) && v.type == NP_JSON_OBJECT) {
    return np_fail(&s->err, NEAP_E_SHAPE,
                   "the response is the provider's error, not an answer: %.*s",
                   v.raw.n > 200 ? 200 : (int)v.raw.n, v.raw.p);
  }
  if (np_json_get(root, "choices", &choices) && choices.type == NP_JSON_ARRAY) {
    np_json_iter it = np_json_each(choices);
    if (!np_json_next(&it, NULL, &choice) || !np_json_get(choice, "message", &v)) {
      return np_fail(&s->err, NEAP_E_SHAPE, "the response has no choices[0].message");
    }
    *message = v.raw;
    return NEAP_OK;
  }
  if (np_json_get(root, "role", &v)) {
    *message = root.raw;
    return NEAP_OK;
  }
  return np_fail(&s->err, NEAP_E_SHAPE,
                 "the response has neither choices nor a role; give the "
                 "provider's body as it came");
}

static neap_rc append_response(neap_session *s, np_str response) {
  np_str message;
  np_gauge next = s->gauge;
  neap_rc rc = NEAP_OK;
  np_buf_clear(&s->usage);
  if (s->pack.view.format->parts) {
    rc = find_message(s, response, &message);
    if (!rc) rc = np_usage_read(s, response, &next);
  } else {
    np_buf_clear(&s->body);
    np_text_response(response, s->log.step + 1, &s->body);
    message = np_buf_str(&s->body);
    if (s->body.failed) rc = np_fail_mem(&s->err);
  }
  if (!rc) rc = np_session_append(s, message, response);
  if (rc) return rc;
  s->gauge = next;
  s->asked_tokens = 0;
  s->call_message = s->log.message_count - 1;
  s->call_at = 0;
  return NEAP_OK;
}

neap_rc neap_append_response(neap_session *s, neap_str response) {
  neap_rc rc = np_session_enter_text(s, &response);
  if (rc) return rc;
  return np_session_leave(s, append_response(s, response));
}

int neap_next_call(neap_session *s, neap_call *c) {
  if (np_session_enter_out(s, c)) return 0;
  int found = 0;
  const np_message *m =
      s->call_message < s->log.message_count ? &s->log.messages[s->call_message] : NULL;
  while (m && !found && s->call_at < m->entries) {
    const np_entry *en = np_log_entry(&s->log, m->first + s->call_at++);
    if (en->kind != NP_KIND_CALL || en->pair) continue;
    *c = (neap_call){en->id, en->call_id, en->tool, en->text};
    found = 1;
  }
  np_session_leave(s, NEAP_OK);
  return found;
}

/* A tool message for the call; text that is not UTF-8 is repaired, since a request could not
** carry it. */
static neap_rc result_message(neap_session *s, const np_entry *call, np_str text) {
  np_json id = {0}, name = {0};
  np_buf *b = &s->body;
  np_buf_clear(b);
  if (call->place == NP_PLACE_FUNCTION) {
    np_json_get(call->raw, "name", &name);
    np_buf_adds(b, "{\"role\":\"function\",\"name\":");
    np_buf_add(b, name.raw);
  } else {
    np_json_get(call->raw, "id", &id);
    np_buf_adds(b, "{\"role\":\"tool\",\"tool_call_id\":");
    np_buf_add(b, id.raw);
  }
  np_buf_adds(b, ",\"content\":");
  np_json_quote(b, text);
  np_buf_addc(b, '}');
  return b->failed ? np_fail_mem(&s->err)
                   : np_session_append(s, np_buf_str(b), NP_LIT(""));
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
  if (!rc) rc = np_tools_answer(s, c, &s->text);
  if (!rc) rc = result_message(s, call, np_buf_str(&s->text));
  np_session_leave(s, rc);
  return 0;
}
