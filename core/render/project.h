/*
** Projections: a part of a stored text as it is shown, with what was cut marked, its line
** numbers, and never more tokens than asked for. Pure functions of text, part and limit; where
** the text comes from and who sees it is the caller's. next: project.c
*/
#ifndef NP_RENDER_PROJECT_H
#define NP_RENDER_PROJECT_H

#include "render/trim.h"
#include "text/extract.h"

typedef struct np_project_ask {
  np_extract what;
  /* at most, of what is shown, gaps included; NP_TRIM_ANY: no limit */
  size_t tokens;
  /* The text is a window of a longer one: lines and bytes before it, lines of the whole (0:
  ** those of the text and before). Numbers are then those of the whole. */
  size_t lines_before, bytes_before, lines_total;
  /* The limit is what somebody asked for, not only what there is room for: ERRORS and ABOUT may
  ** fill it, where they are content with NP_PROJECT_PLAIN otherwise. */
  bool asked;
  const np_scorer *scorer; /* of ABOUT: a host's own; NULL: by words */
} np_project_ask;

#define NP_PROJECT_PLAIN 1500 /* tokens: a long log's errors and its end */

typedef struct np_projection {
  np_range
      *kept; /* rising, disjoint ranges of the text that are shown; owned by the arena */
  size_t count;
  size_t lines;              /* of the whole text */
  size_t rest_from, rest_to; /* lines asked for, but left out for the limit; 0: none */
  size_t found, shown; /* MATCH, JSON, ROWS, OUTLINE: how many there are, and shown */
  size_t tokens;       /* of what is shown */
  bool whole;          /* the whole text is shown, as it is */
  bool made;           /* shown is no slice of the text (the shape of JSON) */
} np_projection;

/* Appends the projection to `shown` and describes it in *out. What is left out between kept
** ranges is a line `[… lines 42-353]`; so is what the limit has cut off at the ends of
** the part. Matches and outlines have the number before each line (`42: text`), and between
** neighbours that are none a line `…` (not in outlines). With a limit too small for anything
** nothing is shown, never more. Ranges are cut between graphemes; a
** line that fits is not cut. Deterministic, linear but for sorting. `v` may be NULL when there
** is no limit: tokens are then not counted.
** Errors: those of np_extract_select; NEAP_E_MEMORY. */
neap_rc np_project(const np_vocab *v, np_str text, const np_project_ask *ask,
                   np_arena *ar, np_projection *out, np_buf *shown, np_err *e);

/* Appends where it is from, for the head of an answer: `17, lines 41-60, 90-95 of 700, sha256
** 3f2a9c01b4de`. `hash`: the whole text's, in hex (its first 12 are given); empty: none. */
void np_locator_add(const np_projection *p, np_str id, np_str hash, np_buf *out);

#endif
