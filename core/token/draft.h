/*
** A vocabulary as someone else wrote it down: tokens with the ids their model knows, merges
** in the order of their files, special tokens. It is read from a file (hf.c, tiktoken.c),
** put in order (rank.c) and built. next: draft.c
*/
#ifndef NP_TOKEN_DRAFT_H
#define NP_TOKEN_DRAFT_H

#include "token/vocab.h"

#define NP_DRAFT_LONGEST 255 /* bytes of a token: what a vocabulary can hold */

typedef struct np_draft_token {
  uint32_t id;          /* the model's */
  uint32_t at, n;       /* its bytes, among the draft's */
  uint32_t rank;        /* when it is made (rank.c), or NP_TOKEN_NONE */
  uint32_t left, right; /* places of the tokens that make it, where rank.c found them */
} np_draft_token;

typedef struct np_draft_special {
  uint32_t id, at, n;
} np_draft_special;

/* Places of tokens. */
typedef struct np_draft_merge {
  uint32_t left, right, result;
} np_draft_merge;

typedef struct np_draft {
  const neap_alloc *alloc;
  const char *where; /* for messages: the file's name */
  uint32_t split, flags;
  np_buf bytes;
  np_draft_token *tokens;
  size_t token_n, token_cap;
  np_draft_merge *merges;
  size_t merge_n, merge_cap;
  np_draft_special *special;
  size_t special_n, special_cap;
  uint32_t *slots; /* places of tokens + 1, by hash of their bytes; 2^slot_bits of them */
  unsigned slot_bits;
} np_draft;

void np_draft_init(np_draft *d, const neap_alloc *a, const char *where);
void np_draft_free(np_draft *d);

/* The place of the token with these bytes, or NP_TOKEN_NONE. */
uint32_t np_draft_find(const np_draft *d, np_str bytes);
static inline np_str np_draft_text(const np_draft *d, uint32_t place) {
  return np_str_of(d->bytes.p + d->tokens[place].at, d->tokens[place].n);
}

/* Adds a token. NEAP_E_VOCAB when it is empty, too long, or there already. */
neap_rc np_draft_add(np_draft *d, np_str bytes, uint32_t id, np_err *e);
/* Adds a merge of two tokens that are there into one that is. */
neap_rc np_draft_merge_add(np_draft *d, np_draft_merge m, np_err *e);
/* Adds a special token whose text, n bytes from `at`, is among the draft's bytes. */
neap_rc np_draft_special_add(np_draft *d, size_t at, size_t n, uint32_t id, np_err *e);
/* Sorts them by id. NEAP_E_VOCAB when two have the same id or text. */
neap_rc np_draft_special_sort(np_draft *d, np_err *e);
/* The special token with that id among sorted ones, or NP_TOKEN_NONE. */
uint32_t np_draft_special_find(const np_draft *d, uint32_t id);
static inline np_str np_draft_special_text(const np_draft *d, uint32_t i) {
  return np_str_of(d->bytes.p + d->special[i].at, d->special[i].n);
}

/* Finds each token's own merge and its rank. NEAP_E_VOCAB, with the reason, for a file whose
** merges cannot be carried out in the order of ranks. */
neap_rc np_draft_rank(np_draft *d, np_err *e);

/* Ranks the tokens and builds the vocabulary (finish.c). */
neap_rc np_draft_build(np_draft *d, np_str name, np_str source, np_vocab **out,
                       np_err *e);

/* A token for a message: at most 40 bytes of it, as a JSON string. `b` holds it. */
const char *np_draft_show(np_buf *b, np_str bytes);
/* "WHERE: token SHOWN WHAT; check the file". */
neap_rc np_draft_fail(const np_draft *d, np_str bytes, const char *what, np_err *e);

#endif
