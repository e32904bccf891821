/*
** The scanner of identifiers from inside. next: ident.c
*/
#ifndef NP_CITE_SCAN_H
#define NP_CITE_SCAN_H

#include "cite/cite.h"

/* A quotation mark stands at it->p, and no quotation that was looked at reaches over it. */
static inline bool np_quote_begins(const np_ident_iter *it) {
  char c = *it->p;
  return (c == '"' || c == '\'' || c == '`') && it->p >= it->unquoted;
}

/* Where a quotation begins at it->p, notes where it ends. True when it is an identifier; it->p is
** then behind the mark, as what the quotation holds is found as ever. At most 67 bytes are
** looked at. */
bool np_quote_take(np_ident_iter *it, np_ident *out);
/* Tells what the scanner has found in quotation marks from all else that it finds. */
static inline bool np_quote_is(np_str ident) {
  return memchr(ident.p, ' ', ident.n) != NULL;
}
/* The quotation stands in the text, with or without marks, no part of longer words. */
bool np_quote_in(np_str text, np_str quote);

#endif
