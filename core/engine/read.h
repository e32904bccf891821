/*
** Reading a part of an entry again, for the model and for hosts. next: read.c
*/
#ifndef NP_ENGINE_READ_H
#define NP_ENGINE_READ_H

#include "engine/engine.h"
#include "text/extract.h"

/* A part of an entry, as a call asks for it. */
typedef struct np_wanted {
  np_buf name;    /* of the entry, as it was written: "17", "SESSION/17" */
  np_buf words;   /* of the part: "41-380" */
  np_str session; /* empty: this one */
  int64_t id;
  np_extract part;
} np_wanted;

/* Reads the arguments `id` and `part` (or `lines`). False: one line in *e says the right forms.
** np_wanted_free in any case. */
bool np_wanted_read(const neap_session *s, np_json args, np_wanted *w, np_err *e);
void np_wanted_free(np_wanted *w);

/* Appends the part of the text behind a head that says where it is from and what made it
** (`origin`, may be empty), and a line that says what remains; or one line that says why there is
** none. At most so many tokens of the text. NEAP_E_MEMORY only. */
neap_rc np_read_part(neap_session *s, const np_wanted *w, np_str text, np_str origin,
                     size_t tokens, np_buf *out);
/* Appends what made an entry, and when. */
void np_read_origin(const neap_session *s, const np_entry *en, np_buf *out);

/* What neap_read answers. */
neap_rc np_read_answer(neap_session *s, np_json args, np_buf *out);

#endif
