/*
** Sessions as they lie in the store, whoever has them open: listed, shown event by event, copied,
** written out as lines and read back. next: stored.c
*/
#ifndef NP_ENGINE_STORED_H
#define NP_ENGINE_STORED_H

#include "engine/engine.h"

#define NP_EXPORT_VERSION 1 /* of the lines; newer are refused */

/* "message"; NULL for a kind that this version does not know. */
const char *np_event_name(int32_t kind);
bool np_event_kind_of(np_str name, int32_t *kind);

neap_rc np_stored_name(neap *n, const char *name, np_err *e); /* it can be one */
/* The store, or why there is none. */
neap_rc np_stored_store(neap *n, np_store **st, np_err *e);

/* The content of an event that has it apart, for a copy of it elsewhere: it is what its hash says. */
neap_rc np_stored_apart(np_store *st, np_str tenant, const np_event *ev, np_buf *out,
                        np_err *e);

/* A session of that name is open in this handle. */
bool np_stored_is_open(neap *n, np_str session);

#endif
