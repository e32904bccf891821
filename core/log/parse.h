/*
** Cutting a message into parts, before anything is kept. next: parser.h
*/
#ifndef NP_LOG_PARSE_H
#define NP_LOG_PARSE_H

#include "log/log.h"

typedef struct np_part {
  np_kind kind;
  np_place place;
  uint32_t index;
  np_json raw;
  np_str text, tool, call_id, path;
  bool is_error, empty, opaque, by_name, loose;
} np_part;

typedef struct np_parsed {
  np_message message; /* raw, json, role, name, shape, lone */
  np_part *parts;
  size_t count, cap;
  struct np_parsed *next; /* the next that is staged with it */
} np_parsed;

/* Parses `raw`, which must live as long as the texts, some of which are slices of it; the
** others go to `ar`, the array of parts to `work`. `native` is the form of what could be of
** several. */
neap_rc np_parse_message(np_arena *ar, np_arena *work, np_buf *scratch, np_str raw,
                         np_shape native, np_parsed *out, np_err *e);

#endif
