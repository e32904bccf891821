/*
** Telling whose form a message has, from its own members. next: shape.c
*/
#ifndef NP_LOG_SHAPE_H
#define NP_LOG_SHAPE_H

#include "log/log.h"

/* The shape that the members of a message (an object) name; `native` when none does, since a
** plain text looks alike everywhere. NEAP_E_SHAPE when they name two, with both by name. */
neap_rc np_shape_of(const np_members *message, np_shape native, np_shape *out, np_err *e);

/* A member of neap's native form, which no provider knows. */
bool np_shape_is_native(np_str key);

/* Ends with `suffix`, as a raw JSON string. */
bool np_shape_ends(np_json type, const char *suffix);

#endif
