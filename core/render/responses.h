/*
** OpenAI's Responses form: a list of items. next: responses_count.c, responses_picture.c,
** responses.c, responses_head.c
*/
#ifndef NP_RENDER_RESPONSES_H
#define NP_RENDER_RESPONSES_H

#include "render/parts.h"

uint32_t np_responses_entry_tokens(const np_view *v, const np_entry *en,
                                   const np_str *text);
uint32_t np_responses_message_tokens(const np_view *v, const np_message *lead);
uint32_t np_responses_result_tokens(const np_view *v, const np_entry *en);
uint32_t np_responses_head_tokens(const np_view *v);

/* Whether an entry's message is of this form. */
bool np_responses_owns(const np_view *v, const np_entry *en);
/* Whether an image can go as an input_image: the user's, of a type that the provider takes. */
bool np_responses_takes(const np_view *v, const np_entry *en);
/* np_format.takes */
bool np_responses_takes_inner(const np_view *v, np_json part, np_kind kind);
/* The part of one that it takes. */
void np_responses_picture(np_json part, np_kind kind, np_buf *out);
/* Whether the result has a list of parts, and its call is one that a list may answer. */
bool np_responses_has_list(const np_view *v, const np_entry *en);
/* Whether the result is one of another form that holds pictures or files, its call one whose
** output may be a list; its output as a list; tokens of a result's list. */
bool np_responses_is_mixed(const np_view *v, const np_entry *en);
void np_responses_mixed(const np_view *v, const np_entry *en, np_buf *out);
uint32_t np_responses_inner_tokens(const np_view *v, const np_entry *en);
/* Whether an output is no list or one without empty texts; the list without them. */
bool np_responses_is_sound(np_json output);
void np_responses_sound(const np_message *m, np_json output, np_buf *out);
/* Whether a call's own id goes out as it came. */
bool np_responses_keeps_id(const np_view *v, const np_entry *call);
/* Whether an entry of this form is an item or part of the type that it must have there. */
bool np_responses_fits(const np_view *v, const np_entry *en);
/* Arguments of a call as they go out, the key filled in. */
void np_responses_arguments(const np_view *v, const np_entry *call, np_str text,
                            np_buf *out);

/* The request's members, its tools and what opens the list. */
void np_responses_head(const np_view *v, np_seam *seam, np_buf *out);
/* The tools that the provider takes, as a list; nothing when there are none. */
void np_responses_tools(const np_view *v, np_buf *out);

extern const np_format np_format_responses;

#endif
