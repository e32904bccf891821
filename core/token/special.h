/*
** Finding special tokens in a text. There may be thousands, which differ in their last bytes
** alone and have all lengths there are; sorted, each place of the text costs one search among
** them. next: special.c
*/
#ifndef NP_TOKEN_SPECIAL_H
#define NP_TOKEN_SPECIAL_H

#include "token/vocab.h"

typedef struct np_special_place {
  np_str text;
  uint32_t place; /* of the special token in the vocabulary */
  uint32_t up;    /* the longest one that this begins with, counted from 1; 0: none */
} np_special_place;

typedef struct np_specials {
  const np_vocab *v;
  np_special_place *list; /* by their bytes */
  uint32_t n;
} np_specials;

/* False when out of memory. */
bool np_specials_open(np_specials *s, const np_vocab *v, const neap_alloc *a);
void np_specials_close(np_specials *s, const neap_alloc *a);

/* The longest special token whose text is at p, or NULL. */
const np_special *np_specials_at(const np_specials *s, const uint8_t *p,
                                 const uint8_t *end);

#endif
