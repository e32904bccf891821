/*
** Hot reload between turns: a new version is loaded and checked beside the old one, then
** serves one turn on trial; the old one is kept until that has gone well, and serves on when
** anything fails. The log tells which version decided what, with its text. next: breaker.c
*/
#include "engine/engine.h"

static void add_sha(np_buf *b, const char *name, const uint8_t sha256[NP_SHA256]) {
  char hex[2 * NP_SHA256];
  np_hex(sha256, NP_SHA256, hex);
  np_buf_adds(b, ",\"");
  np_buf_adds(b, name);
  np_buf_adds(b, "\":\"");
  np_buf_add(b, np_str_of(hex, sizeof hex));
  np_buf_addc(b, '"');
}

static const uint8_t *sha_of(const np_policy *p) {
  return np_policy_info_of(p)->sha256;
}

/* {"result","turn","from","to","sha256","reason"}: `from` is what served before, `to` what was
** tried, "sha256" what serves now. */
static void add_head(np_buf *b, neap_session *s, const char *result, const uint8_t *from,
                     const uint8_t *to, np_str reason) {
  static const uint8_t none[NP_SHA256];
  np_buf_adds(b, "{\"result\":\"");
  np_buf_adds(b, result);
  np_buf_adds(b, "\",\"turn\":");
  np_buf_int(b, s->turn + 1);
  if (from) add_sha(b, "from", from);
  if (to && memcmp(to, none, NP_SHA256) != 0) add_sha(b, "to", to);
  add_sha(b, "sha256", sha_of(s->policy));
  if (reason.n) {
    np_buf_adds(b, ",\"reason\":");
    np_json_quote(b, reason);
  }
  np_buf_addc(b, '}');
}

/* The body of a version that begins to serve is its text. */
static neap_rc log_switch(neap_session *s, const char *result, const uint8_t *from,
                          const uint8_t *to, np_str reason) {
  np_buf head, body;
  np_buf_init(&head, &s->engine->alloc);
  np_buf_init(&body, &s->engine->alloc);
  add_head(&head, s, result, from, to, reason);
  neap_rc rc = reason.n ? NEAP_OK : np_policy_sources(s->policy, &body, &s->err);
  if (!rc && head.failed) rc = np_fail_mem(&s->err);
  if (!rc) rc = np_session_log(s, NP_EV_POLICY, np_buf_str(&head), np_buf_str(&body));
  np_buf_free(&head);
  np_buf_free(&body);
  return rc;
}

/* A version that has not served yet is no version to go back to. What the old one has asked
** a model is void: the new one starts afresh. */
neap_rc np_reload_swap(neap_session *s, np_policy *fresh) {
  uint8_t from[NP_SHA256];
  memcpy(from, sha_of(s->policy), NP_SHA256);
  neap_rc rc = np_asks_cancel(s, "the policy was reloaded");
  if (s->previous) np_policy_free(s->policy);
  else s->previous = s->policy;
  s->policy = fresh;
  s->reloads++;
  np_breaker_reset(s);
  return rc ? rc : log_switch(s, "loaded", from, sha_of(fresh), NP_LIT(""));
}

static neap_rc reload(neap_session *s, np_err *e) {
  np_policy *fresh = NULL;
  uint8_t tried[NP_SHA256];
  np_str options = np_str_cstr(s->options.options_json);
  neap_rc rc = np_policy_next(s->policy, options, &fresh, tried, e);
  if (!rc) return np_reload_swap(s, fresh);
  if (rc != NEAP_E_POLICY) return rc;
  neap_rc logged = log_switch(s, "kept", sha_of(s->policy), tried, np_str_cstr(e->text));
  return logged ? logged : rc;
}

/* The version that failed is not tried again before one of its files is another. */
static neap_rc roll_back(neap_session *s) {
  uint8_t from[NP_SHA256];
  np_policy *bad = s->policy;
  memcpy(from, sha_of(bad), NP_SHA256);
  s->policy = s->previous;
  s->previous = NULL;
  neap_rc rc = np_policy_shun(s->policy, bad, &s->err);
  np_policy_free(bad);
  if (rc) return rc;
  return log_switch(s, "rolled_back", from, sha_of(s->policy),
                    NP_LIT("a hook of the new version failed in its first turn"));
}

neap_rc np_reload_judge(neap_session *s, bool served) {
  if (!served) return roll_back(s);
  np_policy_free(s->previous);
  s->previous = NULL;
  return NEAP_OK;
}

#define HASH_SHOWN 8 /* digits: enough to tell two versions apart */

/* Whoever reads "unexpected symbol" wants to know what decides meanwhile. */
static neap_rc say_kept(neap_session *s, const np_err *e) {
  const np_policy_info *serves = np_policy_info_of(s->policy);
  char hex[2 * NP_SHA256];
  np_buf b;
  np_hex(serves->sha256, NP_SHA256, hex);
  np_buf_init(&b, &s->engine->alloc);
  np_buf_adds(&b, e->text);
  np_buf_adds(&b, "; not taken, ");
  np_buf_add(&b, serves->name);
  np_buf_adds(&b, " (");
  np_buf_add(&b, np_str_of(hex, HASH_SHOWN));
  np_buf_adds(&b, ") serves on");
  neap_rc rc = b.failed ? np_fail_mem(&s->err) : NEAP_OK;
  if (!rc) np_hook_say(s, np_buf_str(&b));
  np_buf_free(&b);
  return rc;
}

/* A broken version is reported once; the old one keeps serving. */
neap_rc np_reload_poll(neap_session *s) {
  np_err e = {0};
  if ((s->options.flags & NEAP_NO_RELOAD) || !s->options.policy) return NEAP_OK;
  if (!np_policy_changed(s->policy)) return NEAP_OK;
  neap_rc rc = reload(s, &e);
  if (rc == NEAP_E_POLICY) return say_kept(s, &e);
  if (rc) s->err = e.code ? e : s->err;
  return rc;
}

neap_rc neap_reload(neap_session *s) {
  np_err e = {0};
  neap_rc rc = np_session_enter(s);
  if (rc) return rc;
  if (!s->options.policy) {
    rc = np_fail(&s->err, NEAP_E_MISUSE, "session %s has no policy file to reload",
                 s->name);
  } else {
    rc = reload(s, &e);
    if (rc && e.code) s->err = e;
  }
  return np_session_leave(s, rc);
}
