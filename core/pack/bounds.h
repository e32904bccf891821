/*
** What a policy's layout says of a region's size. For pack/ only. next: bounds.c
*/
#ifndef NP_PACK_BOUNDS_H
#define NP_PACK_BOUNDS_H

#include "pack/candidates.h"

/* The most tokens that the region may have, of its max and its share; INT64_MAX: any number. */
int64_t np_pack_cap(const np_pack *p, np_region region);
/* Tokens by which the region is above its cap: 0 when it has none, or is not. */
int64_t np_pack_over(const np_pack *p, np_region region);

bool np_pack_has_minimum(const np_pack *p);
/* What the region has above its minimum; INT64_MAX when it has none. */
int64_t np_pack_room(const np_pack *p, np_region region);

/* np_pack_lower and np_pack_drop_atom where no region comes below its minimum by it, or falls
** further; else NP_SAME. */
np_verdict np_pack_lower_within(np_pack *p, int64_t id, int step, np_reason r);
np_verdict np_pack_drop_within(np_pack *p, uint32_t atom, np_reason r);

/* Keeps of the candidates those that `keep` (a set of bits by region) names. */
void np_candidates_filter(const np_pack *p, np_candidates *c, uint32_t keep);

#endif
