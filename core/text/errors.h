/*
** What in a text speaks of errors. next: errors.c
*/
#ifndef NP_TEXT_ERRORS_H
#define NP_TEXT_ERRORS_H

#include "base/str.h"

enum { NP_ERROR_WARNING = 2, NP_ERROR_LINE = 3 };

/* NP_ERROR_LINE, NP_ERROR_WARNING, or 0: by its words. */
unsigned np_error_score(np_str line);
/* Whether the line is a frame of a stack trace in a usual language. */
bool np_error_is_frame(np_str line);
/* Begins with blanks and is not empty. */
bool np_error_is_indented(np_str line);
bool np_error_is_caret(np_str line);

#endif
