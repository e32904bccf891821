/*
** Values, and what they may be drawn from. A value is what of a text must not be invented or
** changed: a number as it is written, a word with a digit, an underscore or an inner capital, a
** name or a path. Grounds are texts: of some values they can tell whether any of them has it.
** One check serves summaries of models and of hosts and a policy's own words. next: term.c, plain.c
*/
#ifndef NP_CITE_GROUNDS_H
#define NP_CITE_GROUNDS_H

#include "base/err.h"
#include "base/mem.h"

/* ---- terms: words and numbers, whole ---- */

typedef enum np_term_kind {
  NP_TERM_WORD,   /* a run of [A-Za-z0-9_] */
  NP_TERM_NUMBER, /* -5, 1,000, 500.00, 12:30, 5%: whole, no letter beside it */
  NP_TERM_WIDE,   /* full-width digits */
  NP_TERM_COUNTED /* Chinese numerals, two or more of them: 五百, 百分之五 */
} np_term_kind;

typedef struct np_term {
  np_str text;
  np_term_kind kind;
} np_term;

typedef struct np_term_iter {
  const char *p, *begin, *end;
} np_term_iter;

np_term_iter np_term_scan(np_str text);
/* The next in order of place; false at the end. Linear in all. */
bool np_term_next(np_term_iter *it, np_term *out);
/* Is the T there that parts date and time in 2024-03-22T02:00:07? Both are terms of their own. */
bool np_term_parts_stamp(np_str text, size_t at);
/* Is the text one number, whole? What is found as a name in a number is a part of it: 234.56 of
** 1,234.56 is another amount. */
bool np_term_is_number(np_str text);
/* Need a name of the citation index not stand anywhere? Numbers are terms; 298-306 is two of them;
** off-by-one and user-facing are prose. plain.c */
bool np_name_is_plain(np_str name);
/* Is it a value: a number, or a word that is none of the language's? */
bool np_term_is_value(np_term t);

/* ---- grounds ---- */

typedef struct np_grounds np_grounds;

np_grounds *np_grounds_new(const neap_alloc *a); /* NULL: out of memory */
void np_grounds_free(np_grounds *g);             /* NULL is fine */
/* Adds a text, which stays where it is until the grounds are freed. NEAP_E_MEMORY. */
neap_rc np_grounds_add(np_grounds *g, np_str text, np_err *e);
/* Does one of the texts have the value, with borders at both ends? Of a longer name no part that
** goes on in letters, digits or by a joint: pump.c is not in old-pump.c. After 400 names that had
** to be looked for byte by byte since a text was added, what is no term is taken for missing. */
bool np_grounds_hold(np_grounds *g, np_str value);
/* Does one of them have the word of ASCII letters, in small ones or capitals? NEAP_E_MEMORY. */
neap_rc np_grounds_word(np_grounds *g, np_str word, bool *has, np_err *e);

#endif
