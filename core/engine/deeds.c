/*
** What a policy's hooks ask for besides the prompt: proposals, the scratchpad, phases. It is tried
** when it is asked for, so that the hook is told what is wrong, and done when the turn is decided,
** behind the turn's own events. A shadow's changes nothing. next: stored_object.c
*/
#include "engine/engine.h"

static np_draft draft_of(const np_pending *p) {
  return (np_draft){
      .who = NP_WHO_POLICY, .source = p->source, .text = p->text, .patch = p->patch};
}

static np_verdict_of verdict_of(const np_pending *p) {
  return (np_verdict_of){.pass = p->deed == NP_DEED_PASS,
                         .memory = p->memory,
                         .who = NP_WHO_POLICY,
                         .reason = p->reason};
}

neap_rc np_deed_try(void *ctx, const np_pending *p, np_buf *faults, np_err *e) {
  const neap_session *s = ctx, *live = s->live ? s->live : s;
  np_draft draft = draft_of(p);
  np_verdict_of verdict = verdict_of(p);
  switch (p->deed) {
    case NP_DEED_PROPOSE: return np_object_try(s, p, faults, e);
    case NP_DEED_SCRATCH: return np_scratch_check(live, &draft, e);
    case NP_DEED_PHASE: return np_phase_check(p->text, e);
    default: return np_scratch_check_verdict(live, p->id, &verdict, e);
  }
}

void np_deed_look(void *ctx, np_sight what, np_buf *out) {
  if (what == NP_SIGHT_STALE) np_refuted_stale(ctx, out);
  else np_scratch_list(ctx, true, out);
}

static neap_rc propose(neap_session *s, const np_pending *p) {
  np_buf answer;
  neap_proposal one = {.size = sizeof one,
                       .who = "policy",
                       .patch = p->patch,
                       .reason = p->reason,
                       .source = p->source};
  np_buf_init(&answer, &s->engine->alloc);
  neap_rc rc = np_object_change(s, &one, NULL, &answer);
  np_buf_free(&answer);
  return rc == NEAP_E_REFUSED ? NEAP_OK : rc; /* the history has it */
}

static neap_rc carry_out(neap_session *s, const np_pending *p) {
  np_draft draft = draft_of(p);
  np_verdict_of verdict = verdict_of(p);
  switch (p->deed) {
    case NP_DEED_PROPOSE: return propose(s, p);
    case NP_DEED_SCRATCH: return np_scratch_put(s, &draft);
    case NP_DEED_PHASE: return np_phase_begin(s, p->text, NP_WHO_POLICY);
    default: return np_scratch_settle(s, p->id, &verdict);
  }
}

/* What another of the same turn has made wrong is not done, and said in the next account. */
static neap_rc tell(neap_session *s, neap_rc rc) {
  bool ours = rc == NEAP_E_REFUSED || rc == NEAP_E_NOTFOUND || rc == NEAP_E_LIMIT;
  if (ours) np_hook_error(s, &s->err);
  return ours ? NEAP_OK : rc;
}

/* The turn's events go first, with the first deed in one write. */
neap_rc np_deeds_settle(neap_session *s) {
  const np_pending *p;
  neap_rc rc = NEAP_OK;
  for (size_t i = 0; !s->live && !rc && (p = np_policy_proposal(s->policy, i)); i++)
    rc = tell(s, carry_out(s, p));
  if (!rc && s->unwritten) rc = np_session_write(s, NULL, 0); /* nothing has changed */
  if (!rc) s->err = (np_err){0};
  if (!rc) np_policy_proposals_done(s->policy);
  return rc;
}
