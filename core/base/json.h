/*
** JSON as raw slices. A text is checked once (syntax, UTF-8, depth); afterwards values are
** slices of it and walking cannot fail. Nothing here re-prints what came from outside:
** numbers, escapes, key order and white space stay as they were. next: hash.h
*/
#ifndef NP_BASE_JSON_H
#define NP_BASE_JSON_H

#include "base/buf.h"
#include "base/err.h"

#define NP_JSON_DEPTH 512 /* deeper input is refused with NEAP_E_LIMIT */

typedef enum np_json_type {
  NP_JSON_NONE, /* absent */
  NP_JSON_NULL,
  NP_JSON_BOOL,
  NP_JSON_NUMBER,
  NP_JSON_STRING,
  NP_JSON_ARRAY,
  NP_JSON_OBJECT
} np_json_type;

typedef struct np_json {
  np_json_type type;
  np_str raw; /* the value's bytes, quotes and brackets included */
} np_json;

/* Checks that `text` is exactly one JSON value (white space around it allowed, no BOM) in
** valid UTF-8. Errors: NEAP_E_JSON or NEAP_E_UTF8 with the byte offset, NEAP_E_LIMIT. */
neap_rc np_json_check(np_str text, np_json *out, np_err *e);

/* Checks one value at the start of `text` and says in *used how many bytes it and the white
** space before it took: for several records on one line. */
neap_rc np_json_check_prefix(np_str text, np_json *out, size_t *used, np_err *e);

/* A slice that was checked, as a value: its first byte tells the type. */
np_json np_json_of(np_str checked);

/* Iteration over an array's items or an object's members. Only for checked values. */
typedef struct np_json_iter {
  const char *p, *end;
  bool object;
} np_json_iter;
np_json_iter np_json_each(np_json v);
/* `key` (may be NULL for arrays) gets the raw key with its quotes. */
bool np_json_next(np_json_iter *it, np_str *key, np_json *value);

/* Past the value, or the string, that begins at `p` in a checked text; at most `end`. */
const char *np_json_value_end(const char *p, const char *end);
const char *np_json_string_end(const char *p, const char *end);

/* Member `key` of an object; the last one wins when it is doubled (as in most parsers).
** False, with out->type NP_JSON_NONE, when absent or `obj` is no object. */
bool np_json_get(np_json obj, const char *key, np_json *out);
bool np_json_is_key(np_str raw_key, const char *key); /* compares after unescaping */

/* An object's members, walked once: for who asks for many of them. */
typedef struct np_members {
  np_json object;
  size_t count; /* more than there is room for: the object is walked each time */
  np_str keys[16];
  np_json values[16];
} np_members;
void np_members_of(np_json object, np_members *out);
/* As np_json_get. */
bool np_members_get(const np_members *m, const char *key, np_json *out);

/* Appends the decoded text of a string value. A lone surrogate becomes U+FFFD; the return
** says how many there were. A \u0000 becomes a NUL byte. */
size_t np_json_text(np_json str, np_buf *out);
/* True when the string value holds a lone surrogate escape. */
bool np_json_has_lone(np_json v);

/* Appends the value's bytes with every lone surrogate escape replaced by \ufffd. */
void np_json_copy_repaired(np_str raw, np_buf *out);

/* Appends `s` as a JSON string with the shortest escapes; bytes that are not UTF-8 become
** U+FFFD, so that what goes out is always valid. */
void np_json_quote(np_buf *b, np_str s);

#endif
