/*
** One walk over a JSON text, byte after byte, for who looks at its structure: paths, shapes. It
** takes literals that are no JSON (NaN, 1., 0x1F) as they are, and several values one behind the
** other (JSON lines) as the items of an array. next: json_walk.c
*/
#ifndef NP_TEXT_JSON_WALK_H
#define NP_TEXT_JSON_WALK_H

#include "base/json.h"

/* A value that begins. */
typedef struct np_json_place {
  np_json_type type;
  np_str key;     /* with its quotes; empty in an array */
  size_t index;   /* in its array or object */
  size_t size;    /* of its array, with `sizes`; else 0 */
  size_t at;      /* its first byte */
  uint64_t above; /* what `begin` returned for what holds it; 0 for the top */
  bool top;       /* nothing holds it */
} np_json_place;

typedef struct np_json_walker {
  /* Returns what is to be known of the value: given to its items and to `end`. */
  uint64_t (*begin)(void *ctx, const np_json_place *p);
  void (*end)(void *ctx, uint64_t what, size_t from, size_t to, size_t items);
  void *ctx;
  bool sizes; /* arrays are counted before, in a walk of their own */
} np_json_walker;

/* Errors: NEAP_E_JSON with the byte, NEAP_E_LIMIT (nested too deep), NEAP_E_MEMORY. */
neap_rc np_json_walk(np_str text, const np_json_walker *w, const neap_alloc *a,
                     np_err *e);

#endif
