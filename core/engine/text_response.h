/*
** An answer in the plain-text form, read back into a chat message. next: text_response.c
*/
#ifndef NP_ENGINE_TEXT_RESPONSE_H
#define NP_ENGINE_TEXT_RESPONSE_H

#include "base/json.h"

/* Appends the message that `text` stands for: `<think>…</think>` is reasoning, lines
** `Action: {"action","args"}` are calls (ids c<step>-<n>), the rest, without a leading
** `Answer:`, is content. */
void np_text_response(np_str text, int64_t step, np_buf *out);

#endif
