/*
** The time, which only the host can tell: it is in the log, so that a session that is read back
** decides what it decided. next: economy.c
*/
#include "engine/engine.h"

#define NOW_BYTES 8 /* an event's body: milliseconds, little-endian */
#define NOW_MAX INT64_C(253402300799999) /* the last of the year 9999 */

neap_rc np_now_take(neap_session *s, const np_event *ev) {
  uint64_t ms = 0;
  for (size_t i = 0; i < ev->body.n && i < NOW_BYTES; i++)
    ms |= (uint64_t)(unsigned char)ev->body.p[i] << (8 * i);
  if (ev->body.n != NOW_BYTES || ms > (uint64_t)NOW_MAX) {
    return np_fail(&s->err, NEAP_E_CORRUPT,
                   "session %s: an event of the time is damaged; check the store",
                   s->name);
  }
  s->now = (int64_t)ms;
  return NEAP_OK;
}

static neap_rc check(neap_session *s, int64_t ms) {
  if (ms < 1 || ms > NOW_MAX) {
    return np_fail(&s->err, NEAP_E_ARG,
                   "the time %lld is out of range; give milliseconds since 1970",
                   (long long)ms);
  }
  if (ms >= s->now) return NEAP_OK;
  return np_fail(&s->err, NEAP_E_ARG,
                 "the time %lld is before the last one told, %lld; it only goes on",
                 (long long)ms, (long long)s->now);
}

neap_rc neap_set_now(neap_session *s, int64_t ms) {
  char body[NOW_BYTES];
  neap_rc rc = np_session_enter(s);
  if (rc) return rc;
  rc = check(s, ms);
  for (size_t i = 0; i < NOW_BYTES; i++) body[i] = (char)((uint64_t)ms >> (8 * i) & 255);
  if (!rc && ms != s->now) {
    rc = np_session_log(s, NP_EV_NOW, NP_LIT(""), np_str_of(body, NOW_BYTES));
    s->news--; /* what did not fit does not fit later either */
  }
  if (!rc) s->now = ms;
  return np_session_leave(s, rc);
}
