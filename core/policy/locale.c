/*
** The C locale around every call into a policy, for this thread alone: `<` on strings and the
** point of a number are libc's, and a host may have set any locale. next: meter.c
*/
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* newlocale, uselocale */
#endif

#include <locale.h>

#include "policy/host.h"

bool np_locale_new(np_policy *p) {
  p->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  return p->locale != NULL;
}

void np_locale_free(np_policy *p) {
  if (p->locale) freelocale(p->locale);
}

void *np_locale_enter(const np_policy *p) {
  return uselocale(p->locale);
}

void np_locale_leave(void *was) {
  uselocale(was);
}
