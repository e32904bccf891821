/*
** The asks of a session with their answers, as its log has them: what a replay of it is fed.
** next: notes.c
*/
#include "engine/engine.h"

typedef struct asked {
  np_str id, ask;                /* digits; the event's head */
  bool settled, refused, failed; /* failed: what a model wrote was given up */
  np_str code, text;
} asked;

typedef struct reading {
  np_arena arena;
  const neap_alloc *alloc;
  asked *list;
  size_t n, cap;
} reading;

static neap_rc add_ask(reading *r, np_str head, np_json id) {
  asked one = {.settled = false};
  void *list = r->list;
  bool ok = np_grow(r->alloc, &list, &r->cap, r->n + 1, sizeof one);
  r->list = list;
  if (!ok || !np_arena_copy(&r->arena, head, &one.ask) ||
      !np_arena_copy(&r->arena, id.raw, &one.id))
    return NEAP_E_MEMORY;
  r->list[r->n++] = one;
  return NEAP_OK;
}

static neap_rc add_answer(reading *r, np_json head, np_json id, np_str body) {
  np_json v;
  asked *a = NULL;
  for (size_t i = r->n; i-- > 0 && !a;) {
    if (np_str_eq(r->list[i].id, id.raw)) a = &r->list[i];
  }
  if (!a || a->settled) return NEAP_OK;
  a->settled = true;
  a->refused = np_json_get(head, "refused", &v) && np_str_is(v.raw, "true");
  a->code = NP_LIT("\"refused\"");
  bool coded = a->refused && np_json_get(head, "code", &v);
  if (coded && !np_arena_copy(&r->arena, v.raw, &a->code)) return NEAP_E_MEMORY;
  return np_arena_copy(&r->arena, body, &a->text) ? NEAP_OK : NEAP_E_MEMORY;
}

static bool member_is(np_json one, const char *name, const char *quoted) {
  np_json v;
  return np_json_get(one, name, &v) && np_str_is(v.raw, quoted);
}

/* Why an answer was not taken: no answer at all, or the second one that is wrong, ends the tries. */
static void add_check(reading *r, np_json head, np_json id) {
  np_json list, one;
  if (!np_json_get(head, "faults", &list) || list.type != NP_JSON_ARRAY) return;
  for (size_t i = r->n; i-- > 0;) {
    np_json_iter it = np_json_each(list);
    if (!np_str_eq(r->list[i].id, id.raw)) continue;
    while (np_json_next(&it, NULL, &one)) {
      bool none =
          member_is(one, "rung", "\"model\"") && member_is(one, "code", "\"none\"");
      if (none || member_is(one, "rung", "\"again\"")) r->list[i].failed = true;
    }
    return;
  }
}

static neap_rc take(void *ctx, const np_event *ev, bool purged) {
  np_json head, id;
  bool ours =
      ev->kind == NP_EV_ASK || ev->kind == NP_EV_ANSWER || ev->kind == NP_EV_CHECK;
  if (purged || !ours || np_json_check(ev->head, &head, NULL)) return NEAP_OK;
  if (!np_json_get(head, "ask", &id)) return NEAP_OK;
  if (ev->kind == NP_EV_ASK) return add_ask(ctx, ev->head, id);
  if (ev->kind == NP_EV_ANSWER) return add_answer(ctx, head, id, ev->body);
  add_check(ctx, head, id);
  return NEAP_OK;
}

static void add_member(np_buf *b, np_json head, const char *name) {
  np_json v;
  if (!np_json_get(head, name, &v)) return;
  np_buf_adds(b, ",\"");
  np_buf_adds(b, name);
  np_buf_adds(b, "\":");
  np_buf_add(b, v.raw);
}

static void add_object(np_buf *b, const asked *a) {
  np_json head;
  if (np_json_check(a->ask, &head, NULL)) return;
  np_buf_adds(b, "{\"ask\":");
  np_buf_add(b, a->id);
  add_member(b, head, "kind");
  add_member(b, head, "step");
  add_member(b, head, "max_tokens");
  add_member(b, head, "sha256");
  if (a->failed) np_buf_adds(b, ",\"failed\":true");
  if (a->settled && a->refused) {
    np_buf_adds(b, ",\"code\":");
    np_buf_add(b, a->code);
  }
  if (a->settled) {
    np_buf_adds(b, a->refused ? ",\"why\":" : ",\"answer\":");
    np_json_quote(b, a->text);
  }
  np_buf_addc(b, '}');
}

static neap_rc read_log(neap_session *s, reading *r) {
  np_store *st = s->engine->store;
  if (s->options.flags & NEAP_NO_LOG) return NEAP_OK;
  neap_rc rc = st->ops->flush(st, &s->err);
  return rc ? rc
            : st->ops->read(st, np_str_cstr(s->engine->tenant), np_str_cstr(s->name), 1,
                            take, r, &s->err);
}

neap_rc neap_asks(neap_session *s, neap_str *json) {
  neap_rc rc = np_session_enter_out(s, json);
  if (rc) return rc;
  reading r = {.alloc = &s->engine->alloc};
  np_arena_init(&r.arena, r.alloc);
  rc = read_log(s, &r);
  np_buf_clear(&s->text);
  np_buf_addc(&s->text, '[');
  for (size_t i = 0; !rc && i < r.n; i++) {
    if (i) np_buf_addc(&s->text, ',');
    add_object(&s->text, &r.list[i]);
  }
  np_buf_addc(&s->text, ']');
  np_free(r.alloc, r.list);
  np_arena_free(&r.arena);
  if (!rc && s->text.failed) rc = np_fail_mem(&s->err);
  if (rc == NEAP_E_MEMORY) np_fail_mem(&s->err);
  if (!rc) *json = np_buf_str(&s->text);
  return np_session_leave(s, rc);
}
