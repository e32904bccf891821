/*
** Feeding the store's index of words from a log, and asking it. The index follows the log:
** it may be behind, and is brought up before it is asked. next: words.c
*/
#ifndef NP_ENGINE_WORDS_H
#define NP_ENGINE_WORDS_H

#include "engine/engine.h"

/* What np_doc_text_fn is: the entry's words from its event's body. `ctx` is the allocator. */
bool np_words_text(void *ctx, np_str body, int32_t part, np_buf *out);

/* Brings the session's index up to its log. */
neap_rc np_words_sync(neap_session *s, np_err *e);
/* The same after an append, in one step at most, once enough has come; what fails here fails
** again, and is told, when the index is asked. */
void np_words_follow(neap_session *s);
/* And when it is closed, in a few steps. */
void np_words_leave(neap_session *s);
/* Reads a session that is in the store, and brings its index up. */
neap_rc np_words_catch_up(neap *n, np_str session, np_err *e);

/* How many entries a session in the store has; and the text of one of them. NEAP_E_NOTFOUND;
** NEAP_E_PURGED when it stands behind what was purged, and its number is not known any more. */
neap_rc np_words_entries(neap *n, np_str session, int64_t *entries, np_err *e);
neap_rc np_words_entry(neap *n, np_str session, int64_t entry, np_buf *text, np_err *e);

/* Whether the events of a session that is to come into the store can be read as above: its
** messages make entries, and what its artifacts say of themselves is so. What could not be would
** keep all of the tenant's sessions from being searched and listed. *at: the first that cannot. */
neap_rc np_words_check(neap *n, np_str session, const np_event *ev, size_t count,
                       size_t *at, np_err *e);

/* The best entries of the session for a query, best first; ids of at most `room`. *voided (may be
** NULL): how many that match are left out, as they were rolled back. */
neap_rc np_words_recall(neap_session *s, np_str query, np_hit *hits, size_t room,
                        size_t *n, size_t *voided, np_err *e);

/* Of a session that lies in the store: whether that entry was rolled back, and why. */
neap_rc np_voided(neap *n, np_str session, int64_t entry, np_buf *why, bool *is,
                  np_err *e);
/* Which of the hits were. */
neap_rc np_voided_hits(neap *n, const np_hit *hits, size_t count, bool *voided,
                       np_err *e);

/* At most `chars` characters of the text on one line, from where most of the query's words
** stand; "…" where something is left out. */
void np_snippet(np_str text, np_str query, size_t chars, np_buf *out);

#endif
