/*
** Parts of the work, as the host or the policy names them: where one ends is the place to fold what
** it was about. They only mark a place; what is done there is the policy's. next: deeds.c
*/
#include "engine/engine.h"

#include "text/text.h"

#define NAME_BYTES 200 /* as of a checkpoint */

void np_phase_free(neap_session *s) {
  np_free(&s->engine->alloc, s->phases.all);
  np_arena_free(&s->phases.arena);
  s->phases = (np_phases){0};
}

const np_stage *np_phase_now(const neap_session *s, const np_stage **before) {
  const np_phases *p = &(s->live ? s->live : s)->phases;
  if (before) *before = p->count > 1 ? &p->all[p->count - 2] : NULL;
  return p->count ? &p->all[p->count - 1] : NULL;
}

static neap_rc keep(neap_session *s, np_stage new) {
  np_phases *p = &s->phases;
  void *all = p->all;
  bool ok = np_grow(&s->engine->alloc, &all, &p->cap, p->count + 1, sizeof *p->all);
  p->all = all;
  ok = ok && np_arena_copy(&p->arena, new.name, &new.name);
  if (!ok) return np_fail_mem(&s->err);
  p->all[p->count++] = new;
  return NEAP_OK;
}

neap_rc np_phase_check(np_str name, np_err *e) {
  bool whole = !name.n || !memchr(name.p, '\0', name.n);
  if (np_str_says(name) && whole && name.n <= NAME_BYTES && np_utf8_valid(name) == name.n)
    return NEAP_OK;
  return np_fail(e, NEAP_E_ARG, "a phase's name is 1 to %d bytes of UTF-8", NAME_BYTES);
}

/* The one that goes on already does not begin again. */
neap_rc np_phase_begin(neap_session *s, np_str name, np_who who) {
  np_buf head;
  const np_stage *now = np_phase_now(s, NULL);
  neap_rc rc = np_phase_check(name, &s->err);
  if (rc || (now && np_str_eq(now->name, name))) return rc;
  np_stage new = {name, s->log.step + 1};
  np_buf_init(&head, &s->engine->alloc);
  np_buf_adds(&head, "{\"name\":");
  np_json_quote(&head, name);
  np_buf_adds(&head, ",\"step\":");
  np_buf_int(&head, new.from);
  np_buf_adds(&head, ",\"who\":\"");
  np_buf_adds(&head, np_who_name(who));
  np_buf_adds(&head, "\"}");
  np_event ev = {.kind = NP_EV_PHASE, .head = np_buf_str(&head)};
  rc = head.failed ? np_fail_mem(&s->err) : np_session_write(s, &ev, 1);
  np_buf_free(&head);
  s->noted_at = s->claim.last_seq;
  return rc ? rc : keep(s, new);
}

/* ,"phase":{"name","from"} */
void np_phase_account(const neap_session *s, np_buf *b) {
  const np_stage *now = np_phase_now(s, NULL);
  if (!now) return;
  np_buf_adds(b, ",\"phase\":{\"name\":");
  np_json_quote(b, now->name);
  np_buf_adds(b, ",\"from\":");
  np_buf_int(b, now->from);
  np_buf_addc(b, '}');
}

neap_rc np_phase_take(neap_session *s, const np_event *ev) {
  np_json head, name, step;
  np_buf text;
  np_stage new = {NP_LIT(""), 0};
  bool ok = !np_json_check(ev->head, &head, NULL) && np_json_get(head, "name", &name) &&
            name.type == NP_JSON_STRING && np_json_get(head, "step", &step) &&
            step.type == NP_JSON_NUMBER && step.raw.n < 17;
  for (size_t i = 0; ok && i < step.raw.n; i++) {
    ok = step.raw.p[i] >= '0' && step.raw.p[i] <= '9';
    new.from = new.from * 10 + (step.raw.p[i] - '0');
  }
  if (!ok)
    return np_fail(&s->err, NEAP_E_CORRUPT,
                   "session %s: a phase's event is wrong; check the store", s->name);
  s->noted_at = ev->seq;
  np_buf_init(&text, &s->engine->alloc);
  np_json_text(name, &text);
  new.name = np_buf_str(&text);
  neap_rc rc = text.failed ? np_fail_mem(&s->err) : keep(s, new);
  np_buf_free(&text);
  return rc;
}

neap_rc neap_phase(neap_session *s, const char *name) {
  neap_rc rc = np_session_enter(s);
  if (rc) return rc;
  return np_session_leave(s, np_phase_begin(s, np_str_cstr(name), NP_WHO_CONTROLLER));
}
