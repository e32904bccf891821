/*
** The tokenizer: byte-pair encodings, exact, with a splitter of our own instead of a regex
** engine. A vocabulary is immutable after loading and may be used by any number of threads.
** next: split.c, then bpe.c
*/
#ifndef NP_TOKEN_TOKEN_H
#define NP_TOKEN_TOKEN_H

#include "base/buf.h"
#include "base/err.h"

typedef struct np_vocab np_vocab; /* the public neap_encoding is this */

typedef struct np_encoding_info {
  const char *name;   /* "o200k_base" */
  uint32_t tokens;    /* ordinary tokens in the vocabulary */
  const char *source; /* "npm tiktoken 1.0.22, MIT" */
  bool exact;
} np_encoding_info;

/* The table of known encodings. */
size_t np_encoding_count(void);
const np_encoding_info *np_encoding_at(size_t i);
const np_encoding_info *np_encoding_find(np_str name); /* NULL when unknown */

/* Loads `name` from its compact file in folder `dir` (checksum verified). The result is freed
** with np_vocab_free. Errors: NEAP_E_ENCODING (unknown), NEAP_E_VOCAB (missing or damaged;
** the text names the file and what to do), NEAP_E_MEMORY. */
neap_rc np_vocab_open(const neap_alloc *a, const char *dir, np_str name, np_vocab **out,
                      np_err *e);
void np_vocab_free(np_vocab *v);
const np_encoding_info *np_vocab_info(const np_vocab *v);

/* Number of tokens of any bytes; special-token text is ordinary text. Never fails: needs no
** heap for pieces up to a few kB, and falls back to a slower path with no heap when memory
** is out. Linear in n for every input. */
size_t np_vocab_count(const np_vocab *v, np_str text);

/* Appends the ids to *ids (grown through `a`, capacity *cap); *n is their number. With
** `special` the text of special tokens becomes their ids. */
neap_rc np_vocab_encode(const np_vocab *v, np_str text, bool special, const neap_alloc *a,
                        uint32_t **ids, size_t *n, size_t *cap, np_err *e);

/* Appends the bytes of `ids`. NEAP_E_ARG with the index in e->pos for an id that is none. */
neap_rc np_vocab_decode(const np_vocab *v, const uint32_t *ids, size_t n, np_buf *out,
                        np_err *e);

/* The longest prefix (or suffix, when `tail`) of `text` that has at most `limit` tokens when
** counted alone, ends between UTF-8 characters, and is found in O(n) amortised time. Returns
** its length in bytes. */
size_t np_vocab_fit(const np_vocab *v, np_str text, size_t limit, bool tail);

#endif
