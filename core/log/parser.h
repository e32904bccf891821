/*
** What the parsers of the four shapes share. For log/ only. next: parse.c
*/
#ifndef NP_LOG_PARSER_H
#define NP_LOG_PARSER_H

#include "log/parse.h"

typedef struct np_parser {
  np_arena *ar;   /* texts that are kept */
  np_arena *work; /* what is given up once the message is entered */
  np_buf *scratch;
  np_parsed *out;
  np_err *err;
  np_members members; /* of the message */
} np_parser;

/* Member `key` of the message. */
static inline bool np_parser_get(const np_parser *p, const char *key, np_json *out) {
  return np_members_get(&p->members, key, out);
}

/* One for each shape: fills p->out from its message's JSON, an object. */
neap_rc np_parse_chat(np_parser *p);
neap_rc np_parse_anthropic(np_parser *p);
neap_rc np_parse_responses(np_parser *p);
neap_rc np_parse_gemini(np_parser *p);

/* A message that is a block, which has a kind and neither role nor type; and what it becomes:
** one part of that kind. parse_block.c */
bool np_parser_is_block(const np_parser *p);
neap_rc np_parse_block(np_parser *p, np_shape native);

/* NEAP_E_SHAPE with that text. */
neap_rc np_parser_fail(np_parser *p, const char *text);
/* The decoded text of a JSON string: its own bytes where nothing is escaped, else a copy in the
** arena. */
bool np_parser_keep(np_parser *p, np_json str, np_str *out);
/* A new part, its texts empty; NULL when out of memory. */
np_part *np_parser_add(np_parser *p, np_kind kind, np_place place, uint32_t index,
                       np_json raw);
/* A part whose text is the JSON string `text`; empty when that is. */
neap_rc np_parser_text(np_parser *p, np_kind kind, np_place place, uint32_t index,
                       np_json raw, np_json text);
/* A part of which the raw bytes are the text. */
neap_rc np_parser_raw(np_parser *p, np_kind kind, np_place place, uint32_t index,
                      np_json raw, bool opaque);
/* Sets the first string argument that reads like a path; no JSON, no path. */
bool np_parser_path(np_parser *p, np_part *part);
/* The texts of a list of parts, joined; what is no text is only named. *odd, where given, is
** set when there was such, or an empty text, or nothing at all. */
neap_rc np_parser_join(np_parser *p, np_json list, np_str *out, bool *odd);
/* The kind of a message's own text. */
np_kind np_parser_kind(np_role role);
/* Sets the message's role from its `role` member. */
neap_rc np_parser_role(np_parser *p);

#endif
