/*
** Regular expressions that come from models, on texts that come from anywhere: Perl's syntax
** (PCRE2), line by line, with one budget of steps for a whole text, so that no pattern takes
** longer than its text allows. Never compiled to machine code. next: regex.c
*/
#ifndef NP_TEXT_REGEX_H
#define NP_TEXT_REGEX_H

#include "base/buf.h"
#include "base/err.h"

typedef struct np_regex np_regex;

#define NP_REGEX_MAX 2048      /* bytes of a pattern */
#define NP_REGEX_PER_BYTE 32   /* steps for a byte of text; usual patterns take up to 8 */
#define NP_REGEX_BASE 1000000u /* and for any text */

/* Reads a pattern. `fold`: upper and lower case are one. Errors: NEAP_E_ARG (what is wrong and
** where; also what could not be kept within the budget: back references, counts above 255),
** NEAP_E_MEMORY. np_regex_free (NULL is fine). */
neap_rc np_regex_new(np_str pattern, bool fold, const neap_alloc *a, np_regex **out,
                     np_err *e);
void np_regex_free(np_regex *r);

/* Gives the budget for a text of so many bytes. */
void np_regex_allow(np_regex *r, size_t bytes);
/* Steps that are left. */
uint64_t np_regex_left(const np_regex *r);

/* Looks for the first match in `line`, which holds no newline: *found, and its bytes [*from,
** *to). Bytes that are not UTF-8 match nothing. Errors: NEAP_E_LIMIT (the budget is spent, or
** memory's limit), NEAP_E_MEMORY. */
neap_rc np_regex_find(np_regex *r, np_str line, bool *found, size_t *from, size_t *to,
                      np_err *e);

#endif
