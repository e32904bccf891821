/*
** The state object of a session in the store that nobody has opened: read off its events, and
** changed by a proposal of its own, without policy, format or prompt. next: session.c
*/
#include "engine/engine.h"
#include "engine/words.h"

typedef struct record {
  int64_t seq, version;
  np_str head, patch, state; /* no state: it was refused */
  bool taken, lost;
} record;

typedef struct stored {
  neap *n;
  np_arena ar;
  record *all;
  size_t count, cap;
  np_str schema; /* as text; empty: none */
  np_str open;   /* settings of the last writer */
  const np_schema *rules;
  int64_t versions;
  bool waits; /* the last one was taken, and its state has not come yet */
  bool gap;   /* something of it was purged since the last that is whole */
  bool failed;
  np_err *e;
} stored;

static bool keep(stored *st, np_str s, np_str *out) {
  if (!np_arena_copy(&st->ar, s, out)) st->failed = true;
  return !st->failed;
}

static int64_t number_of(np_json head, const char *key) {
  np_json v;
  int64_t n = 0;
  if (!np_json_get(head, key, &v) || v.type != NP_JSON_NUMBER || v.raw.n > 17) return 0;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] >= '0' && v.raw.p[i] <= '9') n = n * 10 + (v.raw.p[i] - '0');
  }
  return n;
}

static void take_proposal(stored *st, const np_event *ev) {
  np_json head, v;
  void *all = st->all;
  record r = {.seq = ev->seq, .state = NP_LIT("")};
  if (np_json_check(ev->head, &head, NULL) || head.raw.n < 3) return;
  bool refused = np_json_get(head, "refused", &v) && np_str_is(v.raw, "true");
  r.version = number_of(head, "version");
  bool ok = np_grow(&st->n->alloc, &all, &st->cap, st->count + 1, sizeof *st->all);
  st->all = all;
  if (!ok || !keep(st, head.raw, &r.head) || !keep(st, ev->body, &r.patch)) {
    st->failed = true;
    return;
  }
  st->all[st->count++] = r;
  st->waits = !refused;
  if (!refused && r.version > st->versions) st->versions = r.version;
}

/* The last one that was taken and still counts; NULL: there is none. */
static const record *newest(const stored *st) {
  for (size_t i = st->count; i-- > 0;) {
    if (st->all[i].taken && !st->all[i].lost) return &st->all[i];
  }
  return NULL;
}

static np_str now(const stored *st) {
  const record *r = newest(st);
  return r ? r->state : NP_LIT("");
}

static int64_t version(const stored *st) {
  const record *r = newest(st);
  return r ? r->version : 0;
}

/* What the patch of a record makes of the object before it. */
static neap_rc apply(stored *st, record *r) {
  np_buf made;
  if (st->gap)
    return np_fail(st->e, NEAP_E_PURGED,
                   "a change of the state was purged before version %lld; what the state "
                   "is cannot be told",
                   (long long)r->version);
  if (!st->rules) return np_object_damaged(st->e);
  np_buf_init(&made, &st->n->alloc);
  neap_rc rc = np_object_apply(st->rules, now(st), r->patch, &made, &st->n->alloc, st->e);
  if (!rc) keep(st, np_buf_str(&made), &r->state);
  np_buf_free(&made);
  return rc;
}

/* The block that shows what was taken: whole, or the change. */
static neap_rc take_message(stored *st, np_str raw) {
  np_json message, kind, content;
  np_buf text;
  if (!st->waits || np_json_check(raw, &message, NULL)) return NEAP_OK;
  bool is_state = np_json_get(message, "kind", &kind) && kind.type == NP_JSON_STRING &&
                  np_json_is_key(kind.raw, "state") &&
                  np_json_get(message, "content", &content) &&
                  content.type == NP_JSON_STRING;
  if (!is_state) return NEAP_OK;
  record *r = &st->all[st->count - 1];
  np_buf_init(&text, &st->n->alloc);
  np_json_text(content, &text);
  if (text.failed) st->failed = true;
  np_str whole = np_object_of(np_buf_str(&text));
  neap_rc rc = whole.n || st->failed ? NEAP_OK : apply(st, r);
  if (whole.n) keep(st, whole, &r->state);
  if (whole.n) st->gap = false;
  r->taken = true;
  st->waits = false;
  np_buf_free(&text);
  return rc;
}

static neap_rc take_schema(stored *st, np_str text) {
  if (!keep(st, text, &st->schema)) return NEAP_OK;
  return np_schema_read(&st->ar, st->schema, &st->rules, st->e);
}

static void take_rollback(stored *st, np_str text) {
  np_json head;
  if (np_json_check(text, &head, NULL)) return;
  int64_t after = number_of(head, "after");
  for (size_t i = st->count; i-- > 0 && st->all[i].seq > after;) st->all[i].lost = true;
  st->waits = false;
}

/* The event's head, with its patch and what it made behind. */
static void add_record(const record *r, np_buf *b) {
  np_json v;
  np_buf_add(b, np_str_cut(r->head, 0, r->head.n - 1));
  np_buf_adds(b, r->lost ? ",\"void\":true,\"patch\":" : ",\"patch\":");
  if (np_json_check(r->patch, &v, NULL)) np_json_quote(b, r->patch);
  else np_buf_add(b, v.raw);
  if (r->taken) np_buf_adds(b, ",\"state\":");
  if (r->taken) np_buf_add(b, r->state.n ? r->state : NP_LIT("{}"));
  np_buf_addc(b, '}');
}

static neap_rc take(void *ctx, const np_event *ev, bool purged) {
  stored *st = ctx;
  if (purged) {
    st->gap = st->gap || st->waits || ev->kind == NP_EV_PROPOSAL;
    return NEAP_OK;
  }
  if (ev->kind == NP_EV_SCHEMA) return take_schema(st, ev->body);
  if (ev->kind == NP_EV_OPEN) keep(st, ev->head, &st->open);
  if (ev->kind == NP_EV_MESSAGE) return take_message(st, ev->body);
  if (ev->kind == NP_EV_PROPOSAL) take_proposal(st, ev);
  else if (ev->kind == NP_EV_ROLLBACK) take_rollback(st, ev->head);
  return NEAP_OK;
}

static void begin(stored *st, neap *n) {
  *st = (stored){.n = n, .schema = NP_LIT(""), .open = NP_LIT("")};
  np_arena_init(&st->ar, &n->alloc);
}

static void end(stored *st) {
  np_arena_free(&st->ar);
  np_free(&st->n->alloc, st->all);
}

static neap_rc read(stored *st, np_str session, np_err *e) {
  np_store *s = st->n->store;
  st->e = e;
  if (!s) return np_fail(e, NEAP_E_MISUSE, "the store is not open");
  neap_rc rc = s->ops->read(s, np_str_cstr(st->n->tenant), session, 1, take, st, e);
  if (rc) return rc;
  if (st->failed) return np_fail_mem(e);
  if (st->schema.n) return NEAP_OK;
  return np_fail(e, NEAP_E_NOTFOUND,
                 "session %.*s has no state object, or is not in this store",
                 session.n > 100 ? 100 : (int)session.n, session.p);
}

/* {"schema":…,"history":[…]}; of a taken proposal the record has the state it made. */
neap_rc np_stored_object(neap *n, np_str session, np_buf *out, np_err *e) {
  stored st;
  begin(&st, n);
  neap_rc rc = read(&st, session, e);
  np_buf_adds(out, "{\"schema\":");
  np_buf_add(out, st.schema);
  np_buf_adds(out, ",\"version\":");
  np_buf_int(out, version(&st));
  np_buf_adds(out, ",\"history\":[");
  for (size_t i = 0; !rc && i < st.count; i++) {
    if (i) np_buf_adds(out, ",\n");
    add_record(&st.all[i], out);
  }
  np_buf_adds(out, "]}");
  end(&st);
  return rc || !out->failed ? rc : np_fail_mem(e);
}

/* ---- proposing ---- */

/* What a session would do, without one: the events are the same. */
static neap_rc write(stored *st, const char *session, const np_event *ev, size_t n,
                     np_err *e) {
  np_store *s = st->n->store;
  np_claim claim;
  np_event batch[2];
  neap_rc rc = s->ops->claim(s, np_str_cstr(st->n->tenant), np_str_cstr(session), false,
                             &claim, e);
  if (rc) return rc;
  for (size_t i = 0; i < n; i++) {
    batch[i] = ev[i];
    batch[i].version = NP_LOG_VERSION;
    batch[i].seq = claim.last_seq + 1 + (int64_t)i;
    if (!batch[i].head.p) batch[i].head = NP_LIT("");
  }
  return s->ops->append(s, &claim, batch, n, NEAP_DURABLE_PROCESS, e);
}

static neap_rc decide(stored *st, const char *session, const neap_proposal *p,
                      np_proposal *made, np_buf *answer, np_err *e) {
  const neap_alloc *a = &st->n->alloc;
  np_buf object, list;
  neap_rc rc = NEAP_OK;
  np_buf_init(&object, a);
  np_buf_init(&list, a);
  made->refused = np_object_is_late(version(st), p, &list);
  np_faults faults = {.list = &list};
  np_proposed ask = {made->who, made->patch, np_str_says(made->reason)};
  if (!made->refused)
    rc = np_object_propose(st->rules, now(st), &ask, &object, &faults, a, e);
  if (!rc && !made->refused)
    rc = np_share_stored(st->n, st->open, now(st), np_buf_str(&object), &list, e);
  if (rc == NEAP_E_REFUSED) made->refused = true, rc = NEAP_OK;
  bool changed = !made->refused && !np_object_same(now(st), np_buf_str(&object));
  made->version = changed ? st->versions + 1 : version(st);
  made->faults = np_buf_str(&list);
  np_buf head, block;
  np_buf_init(&head, a);
  np_buf_init(&block, a);
  np_object_head(made, &head);
  if (!rc) rc = np_object_block(now(st), made, np_buf_str(&object), &block, e);
  np_event ev[2] = {
      {.kind = NP_EV_PROPOSAL, .head = np_buf_str(&head), .body = made->patch},
      {.kind = NP_EV_MESSAGE, .body = np_buf_str(&block)}};
  if (!rc && (head.failed || block.failed || list.failed)) rc = np_fail_mem(e);
  if (!rc && (changed || made->refused))
    rc = write(st, session, ev, made->refused ? 1 : 2, e);
  if (!rc) np_object_answer(made, changed, answer);
  np_buf_free(&head);
  np_buf_free(&block);
  np_buf_free(&object);
  np_buf_free(&list);
  return rc;
}

/* As for a session that is open: what a proposal rests on must be there. */
static neap_rc check_source(neap *n, const char *session, int64_t source, np_err *e) {
  np_buf text;
  if (!source) return NEAP_OK;
  np_buf_init(&text, &n->alloc);
  neap_rc rc = np_words_entry(n, np_str_cstr(session), source, &text, e);
  np_buf_free(&text);
  if (rc != NEAP_E_NOTFOUND) return rc;
  *e = (np_err){0};
  return np_fail(e, NEAP_E_ARG, "the source %lld is no entry of session %s",
                 (long long)source, session);
}

/* Takes the session over from whoever has it open, who is told so at his next write. */
neap_rc np_stored_propose(neap *n, const char *session, const neap_proposal *p,
                          np_buf *answer, np_err *e) {
  stored st;
  np_proposal made = {.step = -1}; /* which it is only a session knows */
  begin(&st, n);
  neap_rc rc = read(&st, np_str_cstr(session), e);
  if (!rc) rc = check_source(n, session, p->source, e);
  if (!rc) rc = np_object_args(p, &made, e);
  if (!rc) rc = decide(&st, session, p, &made, answer, e);
  end(&st);
  return rc;
}
