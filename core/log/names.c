/*
** Names of kinds, regions and roles. next: parse.c
*/
#include "log/log.h"

static const char *const kinds[NP_KIND_COUNT] = {
#define NAME(id, name) name,
    NP_KINDS(NAME)
#undef NAME
};

static const char *const regions[NP_REGION_COUNT] = {"fixed", "task",  "memory",
                                                     "warm",  "state", "hot"};

static const char *const roles[NP_ROLE_COUNT] = {"system",    "developer", "user",
                                                 "assistant", "tool",      "function"};

const char *np_kind_name(np_kind k) {
  return kinds[k];
}

bool np_kind_parse(np_str name, np_kind *out) {
  for (int i = 0; i < NP_KIND_COUNT; i++) {
    if (np_str_is(name, kinds[i])) {
      *out = (np_kind)i;
      return true;
    }
  }
  return false;
}

const char *np_region_name(np_region r) {
  return regions[r];
}

const char *np_role_name(np_role r) {
  return roles[r];
}
