/*
** Entries that the engine makes, in the log: what a summary covers, why, its version, and its
** text. They are written with the turn that made them, or never. next: response.c
*/
#include "engine/engine.h"

static void add_atoms(np_buf *b, const np_fold *f) {
  np_buf_adds(b, ",\"atoms\":");
  for (size_t i = 0; i < f->count; i++) {
    np_buf_addc(b, i ? ',' : '[');
    np_buf_int(b, f->atoms[i]);
  }
  np_buf_addc(b, ']');
}

static neap_rc queue_summary(neap_session *s, const np_change *c) {
  const np_entry *en = np_log_entry(&s->log, c->entry);
  const np_fold *f = np_log_fold_of(&s->log, en);
  np_buf head;
  np_buf_init(&head, &s->engine->alloc);
  np_buf_adds(&head, "{\"kind\":\"summary\",\"entry\":");
  np_buf_int(&head, en->id);
  np_buf_adds(&head, ",\"version\":");
  np_buf_int(&head, en->fold);
  np_buf_adds(&head, ",\"steps\":[");
  np_buf_int(&head, f->step_from);
  np_buf_addc(&head, ',');
  np_buf_int(&head, f->step_to);
  np_buf_addc(&head, ']');
  add_atoms(&head, f);
  np_buf_adds(&head, ",\"why\":");
  np_json_quote(&head, c->why);
  np_buf_adds(&head, ",\"by\":");
  np_json_quote(&head, c->by);
  np_buf_addc(&head, '}');
  neap_rc rc = head.failed ? np_fail_mem(&s->err)
                           : np_session_queue(s, NP_EV_NOTE, np_buf_str(&head), en->text);
  np_buf_free(&head);
  return rc;
}

neap_rc np_notes_queue(neap_session *s) {
  neap_rc rc = NEAP_OK;
  for (size_t i = 0; !rc && i < s->pack.change_count; i++) {
    const np_change *c = &s->pack.changes[i];
    if (c->flag == NP_FLAG_FOLD) rc = queue_summary(s, c);
  }
  return rc;
}

/* ---- reading back ---- */

static neap_rc damaged(neap_session *s, const char *what) {
  return np_fail(&s->err, NEAP_E_CORRUPT, "session %s: %s; check the store", s->name,
                 what);
}

/* A whole number of at most nine digits; -1: it is none. */
static int64_t number_of(np_json v) {
  int64_t n = 0;
  if (v.type != NP_JSON_NUMBER || v.raw.n > 9) return -1;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] < '0' || v.raw.p[i] > '9') return -1;
    n = n * 10 + (v.raw.p[i] - '0');
  }
  return n;
}

/* The list `atoms`, in an array of the caller's; SIZE_MAX when it is not one. */
static size_t read_atoms(neap_session *s, np_json head, uint32_t *out, size_t room) {
  np_json list, item;
  size_t n = 0;
  if (!np_json_get(head, "atoms", &list) || list.type != NP_JSON_ARRAY) return SIZE_MAX;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &item)) {
    int64_t atom = number_of(item);
    bool may = atom >= 0 && atom < (int64_t)s->log.atom_count && n < room;
    if (!may || s->log.atoms[atom].open) return SIZE_MAX;
    out[n++] = (uint32_t)atom;
  }
  return n;
}

neap_rc np_notes_take(neap_session *s, const np_event *ev) {
  np_json head, v;
  int64_t id = 0;
  size_t room = s->log.atom_count;
  if (np_json_check(ev->head, &head, NULL) || !np_json_get(head, "entry", &v))
    return damaged(s, "a summary's event cannot be read");
  uint32_t *atoms = np_calloc(&s->engine->alloc, room + 1, sizeof *atoms);
  if (!atoms) return np_fail_mem(&s->err);
  size_t n = read_atoms(s, head, atoms, room);
  neap_rc rc = NEAP_E_ARG;
  if (n != SIZE_MAX) {
    rc = np_log_fold(&s->log, atoms, n, ev->body, &id, &s->err);
  }
  np_free(&s->engine->alloc, atoms);
  if (rc == NEAP_E_MEMORY) return rc;
  return rc || id != number_of(v) ? damaged(s, "a summary's event is wrong") : NEAP_OK;
}
