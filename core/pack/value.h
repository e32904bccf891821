/*
** Lowering so that as little value as possible is lost. For pack/ only. next: value.c
*/
#ifndef NP_PACK_VALUE_H
#define NP_PACK_VALUE_H

#include "pack/candidates.h"
#include "pack/choose_steps.h"

/* Lowers until the prompt has at most `target` tokens, or nothing more may be lowered. */
neap_rc np_shrink_by_value(np_pack *p, const np_candidates *c, int64_t target,
                           np_reason r, np_err *e);

#define NP_VALUE_RUNGS NP_STEPS
#define NP_VALUE_COMBINED 3 /* so many members are combined in every way: 6^3 options */
#define NP_VALUE_DROP (-1)

/* An entry that may be lowered, and what its rungs would save and lose. */
typedef struct np_value_member {
  int64_t id;
  np_option options[NP_VALUE_RUNGS];
  uint8_t steps[NP_VALUE_RUNGS];
  uint8_t count;
} np_value_member;

/* An atom. An option's code is NP_VALUE_DROP, or the digits of its members' rungs, or, where
** there are many members, how many of their cheapest steps are taken. */
typedef struct np_value_set {
  uint32_t atom;
  np_value_member *members;
  size_t count;
  np_steps row; /* `set`: the member; `option`: its rung + NP_VALUE_RUNGS * the member */
} np_value_set;

typedef struct np_value_plan {
  np_value_member *members; /* of all sets */
  np_value_set *sets;
  size_t set_count;
  np_option *options;
  int64_t *codes; /* by option */
  size_t option_count, option_cap, code_cap;
  size_t *first; /* by set: its first option */
} np_value_plan;

/* What could be lowered now. np_value_plan_free in any case. NEAP_E_MEMORY only. */
neap_rc np_value_plan_make(np_pack *p, const np_candidates *c, np_value_plan *out,
                           np_err *e);
void np_value_plan_free(np_pack *p, np_value_plan *pl);

#endif
