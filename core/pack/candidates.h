/*
** What may be lowered, with ranks asked once. For pack/ only. next: candidates.c
*/
#ifndef NP_PACK_CANDIDATES_H
#define NP_PACK_CANDIDATES_H

#include "pack/change.h"

typedef struct np_candidate {
  int64_t id; /* an entry; for an atom its last entry */
  uint32_t atom;
  bool whole;  /* the atom as a whole: may be dropped */
  double rank; /* of an atom: the highest of its entries' */
} np_candidate;

typedef struct np_candidates {
  np_candidate *list;
  size_t count, cap;
  int64_t *ids;  /* of the entries that are shown, ascending */
  double *ranks; /* of each; 0: it may not be lowered */
  size_t shown;
  uint32_t *atoms; /* that they are of, ascending */
  size_t atom_count;
  uint32_t regions; /* bits: of which entries there are in the list */
} np_candidates;

/* Fills `out` (freed by np_candidates_free) with every entry and atom that may be lowered.
** A rank that is no finite number >= 0 counts as 1 (the policy host reports it). */
neap_rc np_candidates_gather(np_pack *p, np_candidates *out, np_err *e);
/* Listed, not dropped, neither pinned nor held. */
bool np_candidates_may_lower(const np_pack *p, int64_t id);
/* The rank of an entry that is shown. */
double np_candidates_rank(const np_candidates *c, int64_t id);
void np_candidates_free(np_pack *p, np_candidates *c);

#endif
