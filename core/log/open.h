/*
** Calls that wait for a result, by the id that their result will name. For log.c only.
** next: open.c
*/
#ifndef NP_LOG_OPEN_H
#define NP_LOG_OPEN_H

#include "log/log.h"

/* Room for `more` calls; np_open_add then cannot fail. */
bool np_open_reserve(np_log *lg, size_t more);
void np_open_add(np_log *lg, np_entry *call);

/* Takes the call that a result answers: the oldest of its key in the newest batch that has
** one; NULL when none waits. The key is an id, or with `by_name` the function's name. */
np_entry *np_open_take(np_log *lg, np_str key, bool by_name);

#endif
