/*
** Hot reload between turns: a new version is loaded and checked beside the old one, then
** serves one turn on trial; the old one is kept until that has gone well, and serves on when
** anything fails. The log tells which version decided what, with its text. next: turn.c
*/
#include "engine/engine.h"

static void add_sha(np_buf *b, const np_policy *p) {
  char hex[2 * NP_SHA256];
  np_hex(np_policy_info_of(p)->sha256, NP_SHA256, hex);
  np_buf_addc(b, '"');
  np_buf_add(b, np_str_of(hex, sizeof hex));
  np_buf_addc(b, '"');
}

/* The head tells what happened; the body of a version that serves is its text. */
neap_rc np_reload_log(neap_session *s, const char *result, np_str reason) {
  np_buf head, body;
  np_buf_init(&head, &s->engine->alloc);
  np_buf_init(&body, &s->engine->alloc);
  np_buf_adds(&head, "{\"result\":\"");
  np_buf_adds(&head, result);
  np_buf_adds(&head, "\",\"turn\":");
  np_buf_int(&head, s->turn + 1);
  np_buf_adds(&head, ",\"sha256\":");
  add_sha(&head, s->policy);
  if (reason.n) {
    np_buf_adds(&head, ",\"reason\":");
    np_json_quote(&head, reason);
  }
  np_buf_addc(&head, '}');
  neap_rc rc = reason.n ? NEAP_OK : np_policy_sources(s->policy, &body, &s->err);
  if (!rc && head.failed) rc = np_fail_mem(&s->err);
  if (!rc) rc = np_session_log(s, NP_EV_POLICY, np_buf_str(&head), np_buf_str(&body));
  np_buf_free(&head);
  np_buf_free(&body);
  return rc;
}

static neap_rc load_new(neap_session *s, np_policy **out, np_err *e) {
  np_str options = np_str_cstr(s->options.options_json);
  neap_rc rc =
      np_policy_load(&s->engine->alloc, s->options.policy, options, NULL, out, e);
  if (!rc) rc = np_policy_migrate(*out, s->policy, e);
  if (!rc) rc = np_policy_selftest(*out, e);
  if (!rc) return NEAP_OK;
  np_policy_free(*out);
  *out = NULL;
  return rc;
}

/* A version that has not served yet is no version to go back to. What the old one has asked
** a model is void: the new one starts afresh. */
static neap_rc swap_in(neap_session *s, np_policy *fresh) {
  neap_rc rc = np_asks_cancel(s, "the policy was reloaded");
  if (s->previous) np_policy_free(s->policy);
  else s->previous = s->policy;
  s->policy = fresh;
  s->reloads++;
  return rc;
}

static neap_rc reload(neap_session *s, np_err *e) {
  np_policy *fresh = NULL;
  neap_rc rc = load_new(s, &fresh, e);
  if (rc) {
    neap_rc logged = np_reload_log(s, "kept", np_str_cstr(e->text));
    return logged ? logged : rc;
  }
  if ((rc = swap_in(s, fresh))) return rc;
  return np_reload_log(s, "loaded", NP_LIT(""));
}

neap_rc np_reload_judge(neap_session *s, bool served) {
  if (served) {
    np_policy_free(s->previous);
    s->previous = NULL;
    return NEAP_OK;
  }
  np_policy_free(s->policy);
  s->policy = s->previous;
  s->previous = NULL;
  return np_reload_log(s, "kept",
                       NP_LIT("a hook of the new version failed in its first turn"));
}

/* A broken version is reported once; the old one keeps serving. */
neap_rc np_reload_poll(neap_session *s) {
  np_err e = {0};
  if ((s->options.flags & NEAP_NO_RELOAD) || !s->options.policy) return NEAP_OK;
  if (!np_policy_changed(s->policy)) return NEAP_OK;
  neap_rc rc = reload(s, &e);
  if (rc == NEAP_E_POLICY) {
    np_hook_error(s, &e);
    return NEAP_OK;
  }
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
