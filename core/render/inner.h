/*
** What a result holds, piece by piece, in whichever provider's form it came: texts, pictures,
** files. A format that has a place for pictures in results writes them from here; the others
** say in a word what was there. next: inner.c
*/
#ifndef NP_RENDER_INNER_H
#define NP_RENDER_INNER_H

#include "render/parts.h"

typedef struct np_inner {
  np_kind kind;  /* IMAGE, FILE, or TEXT: whatever is neither */
  np_json part;  /* as it came */
  np_json words; /* of a text: a string, or a value that is shown as its bytes */
} np_inner;

/* A walk over the pieces. A result that is one string has none. */
typedef struct np_inners {
  np_json
      lead; /* what Gemini's form has beside its parts; of type NONE when there is none */
  np_json_iter it;
} np_inners;
np_inners np_inner_each(const np_view *v, const np_entry *result);
bool np_inner_next(np_inners *all, np_inner *out);

/* Appends what a piece says: its text, half surrogates replaced; of a picture or file the word
** for it. */
void np_inner_text(const np_inner *in, np_buf *out);
uint32_t np_inner_tokens(const np_view *v, const np_inner *in);

/* Whether a format takes a picture or file of another form into a result. */
typedef bool (*np_inner_takes)(const np_view *v, np_json part, np_kind kind);
/* Whether the result is of another form than the session's, has its call, and holds something
** that the format takes. */
bool np_inner_crosses(const np_view *v, const np_entry *result, np_inner_takes takes);

/* Tokens of a picture by the model's rule, of a file by its pages; of one that has none, by its
** bytes. */
uint32_t np_inner_data_tokens(const np_view *v, const np_inner *in);

#endif
