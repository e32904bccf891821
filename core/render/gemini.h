/*
** Gemini's form: contents, turns of user and model that alternate, made of parts. What follows
** a turn of the same role is put into it. next: gemini_count.c, gemini_picture.c, gemini_parts.c,
** gemini.c, gemini_head.c
*/
#ifndef NP_RENDER_GEMINI_H
#define NP_RENDER_GEMINI_H

#include "render/parts.h"

/* A history that begins with the model, or ends with it, is none that the provider takes. */
#define NP_GEMINI_OPENING "(The conversation begins with the model.)"
#define NP_GEMINI_CLOSING "Continue."

uint32_t np_gemini_entry_tokens(const np_view *v, const np_entry *en, const np_str *text);
uint32_t np_gemini_message_tokens(const np_view *v, const np_message *lead);
uint32_t np_gemini_result_tokens(const np_view *v, const np_entry *en);
uint32_t np_gemini_notice_tokens(const np_view *v, np_str text);
uint32_t np_gemini_head_tokens(const np_view *v);
uint32_t np_gemini_tail_tokens(const np_view *v);

bool np_gemini_owns(const np_view *v, const np_entry *en);
/* Whether an image can go as inline data, or goes as it came. */
bool np_gemini_takes(const np_view *v, const np_entry *en);
/* Whether the model is of the third generation or later. */
bool np_gemini_is_third(const np_view *v);
/* A picture or file as {"inlineData":…}. */
void np_gemini_blob(np_json part, np_buf *out);
/* Whether the result is one of another form that holds pictures or files that the model takes;
** what of it is text, not quoted; the rest, as a list; tokens of a result that is shown whole. */
bool np_gemini_is_mixed(const np_view *v, const np_entry *en);
void np_gemini_mixed_text(const np_view *v, const np_entry *en, np_buf *out);
void np_gemini_mixed_parts(const np_view *v, const np_entry *en, np_buf *out);
uint32_t np_gemini_whole_tokens(const np_view *v, const np_entry *en);
/* np_format.takes */
bool np_gemini_takes_inner(const np_view *v, np_json part, np_kind kind);
/* Whether the history begins with the model; the prompt would end with it. */
bool np_gemini_opens_late(const np_view *v);
bool np_gemini_closes(const np_view *v);
/* The signature that a part has, of type NONE when it has none. */
np_json np_gemini_signature(np_json part);
/* Name of a call's function as it goes out. */
void np_gemini_name(const np_view *v, const np_entry *call, np_buf *out);
/* Whether a call has an id where it goes out, with `named` all have; whether that is its own;
** whether a result of this form has the name and id of its call. */
bool np_gemini_has_id(const np_view *v, const np_entry *call, bool named);
bool np_gemini_keeps_id(const np_view *v, const np_entry *call);
bool np_gemini_fits(const np_view *v, const np_entry *call, const np_entry *en,
                    bool named);
/* Whether the results stand behind the calls of a group in their order: they need no ids. */
bool np_gemini_is_straight(const np_view *v, const np_group *g);
/* Arguments of a call as they go out, the key filled in. */
void np_gemini_arguments(const np_view *v, const np_entry *call, np_str text,
                         np_buf *out);

/* Parts. With `named` calls without an id get one: where their results are not in their order.
** `leads` is set for the first call of a turn, which is to have a signature. */
void np_gemini_text(np_str text, np_buf *out); /* {"text":…} */
void np_gemini_part(const np_view *v, const np_entry *en, np_buf *out);
void np_gemini_call(const np_view *v, const np_entry *en, bool named, bool leads,
                    np_buf *out);
void np_gemini_result(const np_view *v, const np_entry *en, bool named, np_buf *out);
/* Whether that is the part as it came. */
bool np_gemini_keeps_result(const np_view *v, const np_entry *en, bool named);
void np_gemini_stub(const np_view *v, const np_entry *call, bool named, np_buf *out);

void np_gemini_head(const np_view *v, np_seam *seam, np_buf *out);
/* The tools that the provider takes, as a list; nothing when there are none. */
void np_gemini_tools(const np_view *v, np_buf *out);
/* Whether the host's members hold the system's instruction. */
bool np_gemini_instructed(const np_view *v);

extern const np_format np_format_gemini;

#endif
