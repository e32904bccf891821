/*
** Anthropic's Messages form. Neighbours of one role make up one message, whose brackets are
** closed only when the next one begins: so that what comes later is an appendix.
** next: anthropic.c, anthropic_block.c, anthropic_count.c
*/
#ifndef NP_RENDER_ANTHROPIC_H
#define NP_RENDER_ANTHROPIC_H

#include "render/parts.h"

/* What a body has come to: np_seam.state. */
enum {
  NP_ANTHROPIC_NONE,
  NP_ANTHROPIC_SYSTEM,
  NP_ANTHROPIC_USER,
  NP_ANTHROPIC_ASSISTANT
};

/* A first message must be the user's, and so must the last: what stands there when the history
** has none. Both are no part of what is frozen. */
#define NP_ANTHROPIC_BEGIN "(no user message stands before this)"
#define NP_ANTHROPIC_GO_ON "(go on)"

/* Whether the entry stands in the request's system member. One that came later is user text,
** as this form has no system messages. */
bool np_anthropic_is_system(const np_entry *en);
/* Whether what was listed first is the assistant's: then the user's word is put before all. */
bool np_anthropic_begins(const np_view *v);
/* Whether the last thing shown is the assistant's. */
bool np_anthropic_ends(const np_view *v);
/* np_format.ends: something is shown, and the assistant's is the last of it. */
bool np_anthropic_closes(const np_view *v);

/* Whether a message that has thoughts must begin with one; then one behind other blocks begins a
** message of its own. */
bool np_anthropic_thinks_first(const np_view *v);

/* The text of an entry of which `text` is shown (NULL: its own), as it goes out. */
void np_anthropic_text(const np_view *v, const np_entry *en, const np_str *text,
                       np_buf *out);
/* Whether an image or file of another form has a place in this one. */
bool np_anthropic_takes(const np_entry *en);

/* np_format.takes */
bool np_anthropic_takes_inner(const np_view *v, np_json part, np_kind kind);
/* The block of one that it takes. */
void np_anthropic_picture(np_json part, np_kind kind, np_buf *out);
/* Whether the result is one of another form that holds pictures or files; its content as
** blocks; tokens of a result's list, `each` of them for a picture or file besides its own. */
bool np_anthropic_is_mixed(const np_view *v, const np_entry *en);
void np_anthropic_mixed(const np_view *v, const np_entry *en, np_buf *out);
uint32_t np_anthropic_inner_tokens(const np_view *v, const np_entry *en, uint32_t each);

/* np_format.marks */
uint32_t np_anthropic_marks(const np_view *v, const np_entry *en);
/* A block, or a message's list up to its bracket, without the cache marks that are let go. */
void np_anthropic_unmarked(const np_message *m, np_json block, np_buf *out);
void np_anthropic_content(const np_view *v, const np_message *m, np_json list,
                          np_buf *out);

/* Appends the block of an entry that is shown. */
void np_anthropic_block(const np_view *v, const np_entry *en, np_buf *out);
/* The result that stands for a call's missing one. */
void np_anthropic_stub(const np_view *v, const np_entry *call, np_buf *out);
/* Schemas of any form; `"tools":[…],` or nothing. */
void np_anthropic_tools(const np_view *v, np_buf *out);

uint32_t np_anthropic_entry_tokens(const np_view *v, const np_entry *en,
                                   const np_str *text);
uint32_t np_anthropic_message_tokens(const np_view *v, const np_message *m);
uint32_t np_anthropic_result_tokens(const np_view *v, const np_entry *en);
uint32_t np_anthropic_notice_tokens(const np_view *v, np_str text);
uint32_t np_anthropic_head_tokens(const np_view *v);
uint32_t np_anthropic_tail_tokens(const np_view *v);

extern const np_format np_format_anthropic;

#endif
