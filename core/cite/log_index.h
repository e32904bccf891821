/*
** The citation index of a session's log. next: log_index.c
*/
#ifndef NP_CITE_LOG_INDEX_H
#define NP_CITE_LOG_INDEX_H

#include "cite/cite.h"
#include "log/log.h"

/* Gives the log an index. np_cite_free(lg->cite) frees it. */
neap_rc np_log_index_open(np_log *lg, np_err *e);
/* Takes in the entries that the log has got since the last call. NEAP_E_MEMORY only. */
neap_rc np_log_index_sync(np_log *lg, np_err *e);
/* Who wrote an entry. */
np_origin np_log_origin(const np_log *lg, const np_entry *en);

#endif
