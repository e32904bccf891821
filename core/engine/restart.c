/*
** A session made anew where it stands, from its log: the host's handle stays, and so does the
** policy that serves; everything that was derived is derived again. next: stored.c
*/
#include "engine/engine.h"

/* What outlives it. */
typedef struct kept {
  np_arena text;
  neap_options given;
  np_str name, shadow, shadow_json;
  bool asks;
  np_policy *policy, *previous;
  np_claim claim;
  np_back back;
  bool rendering; /* of a replay */
  int64_t read_to;
} kept;

static bool keep(np_arena *ar, const char **str) {
  np_str s = np_str_cstr(*str);
  if (!*str) return true;
  if (!np_arena_copy(ar, s, &s)) return false;
  *str = s.p;
  return true;
}

static bool keep_options(neap_session *s, kept *k) {
  neap_options *o = &k->given;
  *o = s->given;
  bool ok = keep(&k->text, &o->policy) && keep(&k->text, &o->format) &&
            keep(&k->text, &o->encoding) && keep(&k->text, &o->options_json) &&
            keep(&k->text, &o->model) && keep(&k->text, &o->prices) &&
            keep(&k->text, &o->shadow) && keep(&k->text, &o->shadow_json) &&
            keep(&k->text, &o->state_schema);
  return ok && np_arena_copy(&k->text, np_str_cstr(s->name), &k->name);
}

static bool keep_shadow(neap_session *s, kept *k) {
  const neap_session *t = s->shadow;
  if (!t) return true;
  k->asks = !np_shadow_is_mute(t);
  return np_arena_copy(&k->text, np_str_cstr(t->options.policy), &k->shadow) &&
         np_arena_copy(&k->text, np_str_cstr(t->options.options_json), &k->shadow_json);
}

/* Empties the session; of what is kept it has nothing any more. */
static void take_out(neap_session *s, kept *k) {
  k->policy = s->policy;
  k->previous = s->previous;
  k->claim = s->claim;
  k->back = s->back;
  k->rendering = s->rendering;
  k->read_to = s->read_to;
  s->policy = s->previous = NULL;
  s->back = (np_back){0};
  np_session_clear(s);
}

/* Other threads walk over the list of sessions: its link stays as it is. */
static bool put_back(neap_session *s, neap *n, kept *k) {
  mtx_lock(&n->lock);
  neap_session *next = s->next;
  memset(s, 0, sizeof *s);
  s->next = next;
  mtx_unlock(&n->lock);
  atomic_flag_test_and_set(&s->busy);
  bool ok = np_session_init(s, n, k->name.p);
  s->policy = k->policy;
  s->previous = k->previous;
  s->claim = k->claim;
  s->claim.session = np_str_cstr(s->name);
  s->back = k->back;
  s->rendering = k->rendering;
  s->read_to = k->read_to;
  s->back.mark_count = 0;
  s->back.due = s->back.now = false;
  s->back.reached = s->back.epochs = 0;
  return ok;
}

static neap_rc derive(neap_session *s, kept *k) {
  np_policy_cancel_asks(s->policy);
  np_policy_proposals_done(s->policy);
  neap_rc rc = np_session_options(s, &k->given);
  if (!rc) rc = np_session_parts(s);
  if (!rc) rc = np_policy_set_state(s->policy, NP_LIT("{}"), &s->err);
  if (!rc) rc = np_events_resume(s);
  if (!rc && k->shadow.n)
    rc = np_shadow_start(s, k->shadow.p, k->shadow_json.n ? k->shadow_json.p : NULL,
                         k->asks);
  return rc;
}

neap_rc np_session_restart(neap_session *s) {
  neap *n = s->engine;
  kept k = {.shadow = NP_LIT(""), .shadow_json = NP_LIT("")};
  np_arena_init(&k.text, &n->alloc);
  neap_rc rc = keep_options(s, &k) && keep_shadow(s, &k) ? NEAP_OK : np_fail_mem(&s->err);
  if (!rc) {
    np_shadow_free(s);
    take_out(s, &k);
    rc = put_back(s, n, &k) ? derive(s, &k) : np_fail_mem(&s->err);
  }
  np_arena_free(&k.text);
  return rc;
}
