/*
** What is inside a provider's response, and what goes back for a call. For response.c only.
** next: answer.c
*/
#ifndef NP_ENGINE_ANSWER_H
#define NP_ENGINE_ANSWER_H

#include "log/log.h"

typedef struct np_answer {
  np_str *messages; /* raw: slices of the response, or written anew; owned by the arena */
  size_t count;
  size_t cap;
} np_answer;

/* Finds the messages in a response body of any provider: one, or for Responses an item each.
** NEAP_E_JSON, NEAP_E_UTF8, NEAP_E_SHAPE (the provider's own error, a body of no known form). */
neap_rc np_answer_read(np_arena *ar, np_str response, np_answer *out, np_err *e);

/* The message that carries a call's result, in the form of the call's own message. */
void np_answer_result(const np_log *lg, const np_entry *call, np_str text, np_buf *out);

#endif
