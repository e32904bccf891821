/*
** Entering what has been parsed, for log/ only. next: log.c
*/
#ifndef NP_LOG_PLACE_H
#define NP_LOG_PLACE_H

#include "log/parse.h"

/* Room for so many parts of so many messages, so that nothing can fail half-way. */
bool np_log_reserve(np_log *lg, size_t parts, size_t messages);
uint32_t np_log_new_atom(np_log *lg, np_kind kind);
void np_log_join_atom(np_log *lg, np_entry *en, uint32_t atom);
/* Enters a message for which there is room; its index. */
size_t np_log_take(np_log *lg, const np_parsed *parsed);
np_entry *np_log_add_entry(np_log *lg, const np_message *m, size_t message,
                           const np_part *p);

#endif
