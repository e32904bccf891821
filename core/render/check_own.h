/*
** What the validators share: where they are in the body, names they have met, the rules that
** every provider has. next: check_names.c
*/
#ifndef NP_RENDER_CHECK_OWN_H
#define NP_RENDER_CHECK_OWN_H

#include "base/json.h"
#include "render/check.h"

/* A table of texts (ids, names), each with a number that is its finder's to use. */
typedef struct np_name {
  np_str text; /* p == NULL: a free slot */
  size_t state;
} np_name;

typedef struct np_names {
  np_name *slots;
  size_t used, cap;
} np_names;

typedef struct np_checker {
  const neap_alloc *alloc;
  np_err *err;
  bool strict;
  np_json root;
  np_buf text;    /* the text decoded last */
  np_arena arena; /* texts of names */
  np_names tools; /* that the request has */
  np_names ids;
  size_t open; /* calls that wait for their results */
  /* where: list[item].sub[part]; NULL and SIZE_MAX are left out */
  const char *list, *sub;
  size_t item, part;
  /* of the provider at hand */
  size_t marks; /* cache marks so far */
  bool short_mark;
} np_checker;

/* "messages[3].content[0]: what", NEAP_E_SHAPE. `what` is printf's. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
neap_rc
np_bad(np_checker *c, const char *what, ...);

/* NULL when it is not there. */
np_name *np_names_find(const np_names *t, np_str text);
/* Finds or adds (state 0, the text copied); NULL when out of memory. */
np_name *np_names_add(np_checker *c, np_names *t, np_str text);
void np_names_clear(np_names *t);

/* The decoded text of a string, valid until the next call; empty when it is none. */
np_str np_checker_text(np_checker *c, np_json v);
/* Member `key` when it is a string of at least one byte; else *out is of type NONE. */
bool np_checker_string(np_json object, const char *key, np_json *out);
bool np_is_blank(np_json string); /* white space alone */
bool np_json_is(np_json v, const char *text);
/* Moves to list[i], no part. */
void np_checker_at(np_checker *c, const char *list, size_t i);

/* Notes a tool that the request has; doubled names are refused. */
neap_rc np_checker_tool(np_checker *c, np_json name);
/* In strict checks: the tool must be one that the request has, if it has any. */
neap_rc np_checker_known(np_checker *c, np_json name);
/* A media type that every provider takes for images: PNG, JPEG, GIF, WebP. */
bool np_is_image_type(np_str type);
/* A data URL must be base64 of such a type; any other address passes. */
neap_rc np_checker_url(np_checker *c, np_json url);
/* In strict checks: text that must be JSON. */
neap_rc np_checker_arguments(np_checker *c, np_json text);

neap_rc np_check_chat(np_checker *c);
neap_rc np_check_responses(np_checker *c);
neap_rc np_check_anthropic(np_checker *c);
neap_rc np_check_marks(np_checker *c); /* anthropic's cache marks */
neap_rc np_check_gemini(np_checker *c);
neap_rc np_check_text(np_checker *c, np_str body);

#endif
