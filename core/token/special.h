/*
** Finding special tokens in a text. There may be thousands, which differ in their last bytes
** alone; a table by length and hash looks at each place once for each length there is.
** next: special.c
*/
#ifndef NP_TOKEN_SPECIAL_H
#define NP_TOKEN_SPECIAL_H

#include "token/vocab.h"

typedef struct np_specials {
  const np_vocab *v;
  uint32_t *slots; /* place of a special token + 1, by the hash of its text */
  size_t mask;
  uint16_t lengths[256]; /* those there are, the longest first */
  size_t length_n;
} np_specials;

/* False when out of memory. */
bool np_specials_open(np_specials *s, const np_vocab *v, const neap_alloc *a);
void np_specials_close(np_specials *s, const neap_alloc *a);

/* The longest special token whose text is at p, or NULL. */
const np_special *np_specials_at(const np_specials *s, const uint8_t *p,
                                 const uint8_t *end);

#endif
