/*
** Importing: the vocabulary files of others, and the table of the split patterns they name.
** What is not known is refused by name: a count that is nearly right is of no use.
** next: import.c
*/
#ifndef NP_TOKEN_IMPORT_H
#define NP_TOKEN_IMPORT_H

#include "base/json.h"
#include "token/draft.h"

typedef struct np_import {
  const char *where; /* the file's name, for messages */
  np_str name;       /* what the vocabulary is to be called */
  np_str pattern;    /* the name of a split family, or its pattern; for .tiktoken files */
  np_str source;     /* where it comes from, as `neap encodings` shows it */
} np_import;

/* Reads a Hugging Face tokenizer.json or a .tiktoken file; which of them, the text says.
** Errors: NEAP_E_VOCAB with one line that names what is wrong or not known; NEAP_E_JSON and
** NEAP_E_UTF8 with the offset; NEAP_E_LIMIT; NEAP_E_MEMORY. */
neap_rc np_vocab_import(const neap_alloc *a, np_str text, const np_import *how,
                        np_vocab **out, np_err *e);

/* Whether `name` can be given to a vocabulary: 1 to 64 letters, digits, `.`, `_`, `-`,
** beginning with a letter or digit, and none of the built-in ones. */
bool np_import_name_ok(np_str name);

/* The readers of one kind of file each; they fill a draft. */
neap_rc np_hf_read(np_draft *d, np_str text, np_err *e);
neap_rc np_tiktoken_read(np_draft *d, np_str text, np_str pattern, np_err *e);

/* The split family of a `pre_tokenizer`. NEAP_E_VOCAB names the step that is not known. */
neap_rc np_pattern_of(const np_draft *d, np_json pre_tokenizer, uint32_t *split,
                      np_err *e);
/* The split family called `name`, or whose only pattern it is; 0 when there is none. */
uint32_t np_pattern_named(np_str name);
/* The names of the families, parted by ", ". */
void np_pattern_names(np_buf *b);

#endif
