/*
** The citation index of a session's log. next: log_index.c
*/
#ifndef NP_CITE_LOG_INDEX_H
#define NP_CITE_LOG_INDEX_H

#include "cite/cite.h"
#include "log/log.h"

/* Gives the log an index; a mirror has that of the other log, and one of its summaries. */
neap_rc np_log_index_open(np_log *lg, np_err *e);
/* The entries so far are to be indexed, but not now: a session that is read back may never be
** asked for a citation. Summaries of a turn that is not decided yet are never in between. */
void np_log_index_note(np_log *lg);
/* Takes in what was noted: before every question to the index. NEAP_E_MEMORY only. */
neap_rc np_log_index_need(np_log *lg, np_err *e);
/* Notes, and takes in all of it, or some more than has come where much waits. */
neap_rc np_log_index_come(np_log *lg, np_err *e);
/* Notes, and takes in all. */
neap_rc np_log_index_sync(np_log *lg, np_err *e);
static inline bool np_log_index_waits(const np_log *lg) {
  return lg->indexed < lg->noted;
}
/* What the index says of an entry; ids are those of its log. */
np_cite_stat np_log_stat(const np_log *lg, const np_entry *en);
/* np_cite_weight_of, in the index that has the entry. */
double np_log_weight_of(const np_log *lg, const np_entry *en, np_str ident,
                        const np_cite_weights *w, uint32_t *number);
/* Frees what np_log_index_open has made. */
void np_log_index_close(np_log *lg);
/* Who wrote an entry. */
np_origin np_log_origin(const np_log *lg, const np_entry *en);

#endif
