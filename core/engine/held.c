/*
** What waits for the store, where the host has said that a session goes on without it
** (NEAP_STORE_HOLD): the account of each turn tells. The log does not: it depends on no disk.
** next: pins.c
*/
#include "engine/engine.h"

static bool look(const neap_session *s, np_waiting *out) {
  np_store *st = s->engine->store;
  *out = (np_waiting){.events = 0};
  if (!st->hold || !st->ops->waiting || !np_session_writes(s)) return false;
  st->ops->waiting(st, np_str_cstr(s->engine->tenant), np_str_cstr(s->name), out);
  return out->events > 0;
}

bool np_store_waits(const neap_session *s) {
  np_waiting w;
  return look(s, &w);
}

/* Puts a member `store` at the end of the account. */
neap_rc np_store_tell(neap_session *s) {
  np_waiting w;
  np_buf *b = &s->account;
  if (!look(s, &w) || b->n < 2) return NEAP_OK;
  b->n--; /* the closing brace */
  np_buf_adds(b, ",\"store\":{\"waiting\":");
  np_buf_int(b, w.events);
  np_buf_adds(b, ",\"bytes\":");
  np_buf_int(b, w.bytes);
  np_buf_adds(b, ",\"code\":\"");
  np_buf_adds(b, neap_rc_name(w.why.code));
  np_buf_adds(b, "\",\"why\":");
  np_json_quote(b, np_str_cstr(w.why.text));
  np_buf_adds(b, "}}");
  return b->failed ? np_fail_mem(&s->err) : NEAP_OK;
}
