/*
** Lowering by the least value lost per token saved. For pack/ only. next: value.c
*/
#ifndef NP_PACK_VALUE_H
#define NP_PACK_VALUE_H

#include "pack/candidates.h"

neap_rc np_shrink_by_value(np_pack *p, np_candidates *c, int64_t target, np_reason r,
                           np_err *e);

#endif
