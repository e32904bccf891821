/*
** Contents that are let go, many at a time: what is counted of each while the events of a tenant
** go by once. No table and no lock here. next: release.c
*/
#ifndef NP_STORE_RELEASE_H
#define NP_STORE_RELEASE_H

#include "store/row.h"

typedef struct np_tally {
  const np_release *list; /* by hash */
  size_t n;
  struct np_tallied {
    int64_t apart; /* events that have it apart */
    bool held;     /* by another event */
  } * of;
} np_tally;

/* Errors: NEAP_E_MISUSE (the list is not by hash, or names one twice), NEAP_E_MEMORY. */
neap_rc np_tally_init(np_tally *t, const neap_alloc *a, const np_release *list, size_t n,
                      np_err *e);
void np_tally_free(np_tally *t, const neap_alloc *a);

/* Counts an event whose body is in that place; where in the list it is, SIZE_MAX: nowhere. */
size_t np_tally_add(np_tally *t, const uint8_t *hash, int place);
/* Where in the list it is, SIZE_MAX: nowhere. */
size_t np_tally_find(const np_tally *t, const uint8_t *hash);
/* Once all are counted: does the one there go? SIZE_MAX does not. */
bool np_tally_goes(const np_tally *t, size_t at);

#endif
