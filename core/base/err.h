/*
** Errors: a code, a place and one line of text, filled in by whoever fails and carried
** up unchanged. Names and default texts of the codes are one table (err.c), from which C,
** Lua and the manual are made. next: str.h
*/
#ifndef NP_BASE_ERR_H
#define NP_BASE_ERR_H

#include "base/str.h"

typedef struct np_err {
  neap_rc code;
  size_t pos;     /* byte offset in the input, where that makes sense */
  char text[480]; /* one line, NUL-terminated, valid UTF-8: what is wrong; what to do */
} np_err;

/* Fills `e` (may be NULL) and returns `code`. `fmt` is printf's, without %f and %g (locale). */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
neap_rc
np_fail(np_err *e, neap_rc code, const char *fmt, ...);
neap_rc np_fail_at(np_err *e, neap_rc code, size_t pos, const char *text);
neap_rc np_fail_mem(np_err *e); /* NEAP_E_MEMORY */

#endif
