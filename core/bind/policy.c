/*
** The names that policies can use, for the checker and the tests. next: system.c
*/
#include "bind/bind.h"

#include "policy/policy.h"

/* policy_names(): JSON. */
static int policy_names(lua_State *L) {
  np_err e;
  np_buf *out = np_bind_buf(L);
  if (np_policy_names(&np_alloc_libc, out, &e)) return np_bind_fail(L, &e);
  np_bind_push_buf(L, out);
  return 1;
}

void np_bind_policy(lua_State *L) {
  lua_pushcfunction(L, policy_names);
  lua_setfield(L, -2, "policy_names");
}
