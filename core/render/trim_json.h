/*
** Trims of JSON that parse: of arrays and objects some items are left out, and an item in
** their place says how many; long strings are cut. What is kept stays as it came, byte for
** byte, but for strings that are cut, which are written anew. next: trim_json.c
*/
#ifndef NP_RENDER_TRIM_JSON_H
#define NP_RENDER_TRIM_JSON_H

#include "base/json.h"
#include "render/trim.h"

/* Stands where the mark of the whole goes, inside a string; it cannot occur in UTF-8. */
#define NP_TRIM_MARK '\xFE'

typedef struct np_json_doc {
  np_str text;
  np_json value; /* type NP_JSON_NONE: one value a line */
} np_json_doc;

/* Whether `text` is one JSON array, object or string, or two lines or more that each are an
** array or an object (blank ones between do not count). */
bool np_json_read(np_str text, np_json_doc *out);

/* How a text of that many tokens is cut to about `bytes`. */
typedef struct np_json_ask {
  const np_vocab *v;
  const np_trim_ask *ask; /* only `keep` and `about` count here */
  size_t bytes, tokens;   /* of what is to be shown; of the whole text */
} np_json_ask;

/* Appends the trim with one NP_TRIM_MARK in it. What was cut lies between bytes *from and *to
** of the text. Time and memory are linear in the text (items deeper than 12 levels are left
** out whole). False when out of memory. */
bool np_json_trim(const np_json_doc *t, const np_json_ask *ask, const neap_alloc *a,
                  np_buf *out, size_t *from, size_t *to);

#endif
