/*
** The headings of Markdown and HTML. What stands in fenced code, comments, scripts and styles is
** none. next: headings.c
*/
#ifndef NP_TEXT_HEADINGS_H
#define NP_TEXT_HEADINGS_H

#include "base/str.h"

typedef struct np_heading {
  size_t from, to; /* its bytes: line or lines, or tag to tag */
  unsigned level;  /* 1 to 6 */
  np_str title;    /* without its marks; of HTML with the tags in it */
} np_heading;

/* Returning false stops. */
typedef bool (*np_heading_fn)(void *ctx, const np_heading *h);

/* Calls `fn` for each, in order. Linear. */
void np_headings_each(np_str text, np_heading_fn fn, void *ctx);
bool np_is_html(np_str text);

#endif
