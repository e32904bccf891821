/*
** What in a text is likely to be another one next time: clock times, time stamps, random ids.
** Where such a text begins a prompt, no provider finds the prompt in its cache. next: passing.c
*/
#ifndef NP_TEXT_PASSING_H
#define NP_TEXT_PASSING_H

#include "base/str.h"

typedef enum np_passing_kind {
  NP_PASSING_NONE,
  NP_PASSING_CLOCK,
  NP_PASSING_ID
} np_passing_kind;

typedef struct np_passing {
  np_passing_kind kind;
  np_str text; /* a slice of what was searched */
} np_passing;

/* The first of them at or behind offset *at, which is moved behind it; kind NONE when there is
** no more. A clock is a date with a time, a time with seconds (12:05:33), or a run of 10 or 13
** digits that can be seconds or milliseconds of this century; an id is a UUID or a run of 24 or
** more hexadecimal digits that holds both letters and figures. A date alone is none of them. */
np_passing np_passing_next(np_str s, size_t *at);

#endif
