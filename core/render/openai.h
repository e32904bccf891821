/*
** OpenAI's Chat Completions form: counting and rendering. next: openai_count.c, openai.c,
** openai_convert.c
*/
#ifndef NP_RENDER_OPENAI_H
#define NP_RENDER_OPENAI_H

#include "render/view.h"

/* The published counting rules and, where none are published, ours. Data, so that another
** model's figures are another row. */
typedef struct np_openai_cost {
  const char *encoding;
  int message; /* each message */
  int name;    /* a name, besides its tokens */
  int reply;   /* priming of the answer, once */
  int call;    /* a call, besides the tokens of name and arguments */
  int result;  /* a result, besides its content */
  int func_init, prop_init, prop_key, enum_init, enum_item, func_end; /* tool schemas */
  /* the older `functions` member: all of them, the first system message beside them, a
  ** result of one, function_call "none", one that is named */
  int functions, functions_system, function_result, function_none, function_named;
} np_openai_cost;

const np_openai_cost *np_openai_cost_find(const np_vocab *v);

uint32_t np_openai_entry_tokens(const np_view *v, const np_entry *en, const np_str *text);
uint32_t np_openai_message_tokens(const np_view *v, const np_message *m);
uint32_t np_openai_result_tokens(const np_view *v, const np_entry *en);
uint32_t np_openai_notice_tokens(const np_view *v, np_str text);
uint32_t np_openai_head_tokens(const np_view *v);
uint32_t np_openai_tail_tokens(const np_view *v);

/* Tokens of a list of tool schemas by the published rule. */
uint32_t np_openai_tools_tokens(const np_view *view, np_json tools);
/* Tokens of the request members `functions` and `function_call`; 0 when there are none. */
uint32_t np_openai_functions_tokens(const np_view *view);
/* What the first system message costs besides, when there are functions; may be below 0. */
int64_t np_openai_functions_system(const np_view *view, const np_message *m);

/* Whether a call goes out under an id that is made for it: it has none, or that of another of
** its message, or one that only made ones have. Ids are any text here, and may come again. */
bool np_openai_renames(const np_entry *call);
/* Whether an image of another provider's form can go as an image_url. */
bool np_openai_takes(const np_entry *en);
/* A group of another form, written anew as chat messages. */
void np_openai_convert(const np_view *v, const np_group *g, bool first, np_buf *out);

/* Appends a text of which lines that read like a heading of the plain-text form are led by a
** backslash. */
void np_text_guard(np_str text, np_buf *out);
/* An entry's whole text as a block of the plain-text form; results are guarded. */
void np_text_block(const np_view *v, const np_entry *en, np_buf *out);

extern const np_format np_format_openai;
extern const np_format np_format_text;

#endif
