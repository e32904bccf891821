/*
** The count of a text that arrives bit by bit: after each append it is exactly what
** np_vocab_count gives for the whole text. Only the pieces that later bytes may still
** change are kept; what is settled is a number. next: append.c
*/
#ifndef NP_TOKEN_APPEND_H
#define NP_TOKEN_APPEND_H

#include "token/piece.h"

/* What the last piece of the text is so far. */
typedef enum np_phase {
  NP_PHASE_NONE,    /* nothing yet */
  NP_PHASE_LEAD,    /* one character, no letter, number or line end */
  NP_PHASE_FRONT,   /* 'r, 'v or 'l, where that may begin a contraction */
  NP_PHASE_WORD,    /* letters, perhaps with a lead */
  NP_PHASE_QUOTE,   /* a word, then an apostrophe */
  NP_PHASE_QUOTE2,  /* a word, then 'r, 'v or 'l */
  NP_PHASE_DIGITS,  /* numbers */
  NP_PHASE_SYMBOLS, /* neither letters nor numbers, perhaps behind a blank */
  NP_PHASE_ENDS,    /* the same, then line ends */
  NP_PHASE_WHITE    /* white space: from two characters on, or from a line end on */
} np_phase;

/* Memory: the bytes of the last piece, or run of white space, and np_open_piece's for it.
** At most 64 kB more are held during an append. */
typedef struct np_counter {
  const np_vocab *v;
  neap_alloc alloc;
  size_t settled, open; /* tokens before byte `from` of the text kept, and behind */
  uint8_t *p;           /* the text kept: [from, n) is open, [from, at) has been read */
  size_t from, at, n, cap;
  np_phase phase;
  bool lower;      /* of a word with cases: it has had a lower-case letter */
  unsigned lead;   /* of a LEAD: its byte if ASCII, else 0 */
  bool is_white;   /* of a LEAD */
  unsigned digits; /* of DIGITS: how many */
  /* Within the open text: where the piece ends when nothing follows, or 0: behind the
  ** last letter without case of a word that has had no lower-case letter, behind the last
  ** line end in white space, before the apostrophe of a QUOTE. */
  size_t cut;
  size_t last;                 /* where the last character of white space begins */
  np_open_piece first, second; /* before and behind `cut`, while they are open */
  bool failed;                 /* out of memory: only a reset helps */
} np_counter;

/* Begins with the empty text. `v` must outlive the counter. */
void np_counter_init(np_counter *c, const np_vocab *v, const neap_alloc *a);
void np_counter_free(np_counter *c);
/* Back to the empty text; keeps the memory. */
void np_counter_reset(np_counter *c);
/* A counter of the same text, to go on differently; *to is uninitialized or freed. False
** when out of memory. */
bool np_counter_copy(const np_counter *c, np_counter *to);

/* Appends any bytes, half characters too. False when out of memory: then the counter
** takes nothing more until it is reset. Time is linear in the bytes appended in all,
** however they are cut, for the patterns of cl100k, o200k, qwen2, qwen35 and tekken; for
** others each append counts again what follows the last border of append.c's table,
** mostly a word or a sentence. */
bool np_counter_add(np_counter *c, np_str bytes);

/* The tokens of the whole text. */
static inline size_t np_counter_tokens(const np_counter *c) {
  return c->settled + c->open;
}

#endif
