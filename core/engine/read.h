/*
** Reading a part of an entry again, for the model and for hosts. next: read.c
*/
#ifndef NP_ENGINE_READ_H
#define NP_ENGINE_READ_H

#include "engine/engine.h"
#include "text/extract.h"

/* A part of an entry, as a call asks for it. */
typedef struct np_wanted {
  np_buf name;    /* of the entry: "17", "SESSION/17" */
  np_buf words;   /* of the part: "41-380" */
  np_str session; /* empty: this one */
  int64_t id;
  np_extract part;
} np_wanted;

/* Reads the arguments `id` and `part` (or `lines`). False: one line in *e says the right forms.
** np_wanted_free in any case. */
bool np_wanted_read(const neap_session *s, np_json args, np_wanted *w, np_err *e);
/* The same of texts. */
neap_rc np_wanted_make(const neap_session *s, np_str id, np_str part, np_wanted *w,
                       np_err *e);
void np_wanted_free(np_wanted *w);

/* Appends the whole text of what is wanted, and what made it (`bash "make test", step 12`), which
** is there also when the text is not. Errors: NEAP_E_NOTFOUND, _EXPIRED, _PURGED, store. */
neap_rc np_read_source(neap_session *s, const np_wanted *w, np_buf *text, np_buf *origin,
                       np_err *e);

/* Appends the part of the text behind a head that says where it is from and what made it
** (`origin`, may be empty), and a line that says what remains. At most so many tokens of the
** text. Errors: those of np_project. */
neap_rc np_read_part(neap_session *s, const np_wanted *w, np_str text, np_str origin,
                     size_t tokens, np_buf *out, np_err *e);

/* Appends a text as a part of one line: names come from anywhere. */
void np_read_add_line(np_str text, np_buf *out);

/* What neap_read answers. */
neap_rc np_read_answer(neap_session *s, np_json args, np_buf *out);
/* Says why there is no text, and how to make it again: never as if it had been read. */
void np_read_say_gone(const np_err *e, np_str origin, np_buf *out);
/* How many readings so far have found nothing where there was something. */
int64_t np_read_dangling(neap_session *s);

#endif
