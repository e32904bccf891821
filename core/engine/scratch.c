/*
** The scratchpad: conclusions that nobody has verified yet. They stand in the log and in no prompt
** until code passes them: then they are an entry with their source, or a version of the state
** object. What is rejected stays in the record alone. next: phase.c
*/
#include "engine/engine.h"

#include "engine/answer.h"
#include "text/text.h"

#define TEXT_BYTES 4096  /* of a text, and of a patch: a conclusion, not a document */
#define REASON_BYTES 400 /* as of a rollback */
#define WAITING_MAX 256  /* at once: a pad that nobody looks at must not grow for ever */

void np_scratch_free(neap_session *s) {
  np_free(&s->engine->alloc, s->scratch.all);
  np_free(&s->engine->alloc, s->scratch.passed);
  np_arena_free(&s->scratch.arena);
  s->scratch = (np_scratch){0};
}

/* ---- what is known ---- */

static neap_rc keep(neap_session *s, np_draft note) {
  np_scratch *b = &s->scratch;
  void *all = b->all;
  bool ok = np_grow(&s->engine->alloc, &all, &b->cap, b->count + 1, sizeof *b->all);
  b->all = all;
  ok = ok && np_arena_copy(&b->arena, note.text, &note.text) &&
       np_arena_copy(&b->arena, note.patch, &note.patch);
  if (!ok) return np_fail_mem(&s->err);
  b->all[b->count++] = note;
  b->waiting++;
  if (note.id > b->given) b->given = note.id;
  return NEAP_OK;
}

static np_draft *find(const neap_session *s, int64_t id) {
  const np_scratch *b = &s->scratch;
  size_t lo = 0, hi = b->count;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (b->all[mid].id < id) lo = mid + 1;
    else hi = mid;
  }
  return lo < b->count && b->all[lo].id == id ? &b->all[lo] : NULL;
}

int64_t np_scratch_source(const neap_session *s, int64_t entry) {
  const np_scratch *b = &s->scratch;
  size_t lo = 0, hi = b->passed_count;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (b->passed[mid].entry < entry) lo = mid + 1;
    else hi = mid;
  }
  bool is = lo < b->passed_count && b->passed[lo].entry == entry;
  return is ? b->passed[lo].source : 0;
}

static bool note_passed(neap_session *s, int64_t entry, int64_t source) {
  np_scratch *b = &s->scratch;
  void *all = b->passed;
  bool ok = np_grow(&s->engine->alloc, &all, &b->passed_cap, b->passed_count + 1,
                    sizeof *b->passed);
  b->passed = all;
  if (ok) b->passed[b->passed_count++] = (np_passed){entry, source};
  return ok;
}

static neap_rc settle(neap_session *s, np_draft *note, const np_verdict_of *v) {
  np_scratch *b = &s->scratch;
  bool shown = v->pass && v->entry;
  if (!np_arena_copy(&b->arena, v->reason, &note->reason) ||
      (shown && !note_passed(s, v->entry, note->source)))
    return np_fail_mem(&s->err);
  note->status = v->pass ? NP_DRAFT_PASSED : NP_DRAFT_REJECTED;
  note->by = v->who;
  note->entry = v->entry;
  b->waiting--;
  return NEAP_OK;
}

/* ---- events ---- */

static void add_int(np_buf *b, const char *name, int64_t v) {
  np_buf_adds(b, name);
  np_buf_int(b, v);
}

static void add_members(const np_draft *n, np_buf *b) {
  add_int(b, "\"id\":", n->id);
  np_buf_adds(b, ",\"who\":\"");
  np_buf_adds(b, np_who_name(n->who));
  add_int(b, "\",\"source\":", n->source);
  add_int(b, ",\"step\":", n->step);
  if (n->patch.n) np_buf_adds(b, ",\"patch\":");
  np_buf_add(b, n->patch);
}

static void put_head(const np_draft *n, np_buf *b) {
  np_buf_adds(b, "{\"op\":\"put\",");
  add_members(n, b);
  np_buf_addc(b, '}');
}

static void verdict_head(int64_t id, const np_verdict_of *v, np_buf *b) {
  np_buf_adds(b, v->pass ? "{\"op\":\"pass\"" : "{\"op\":\"reject\"");
  add_int(b, ",\"id\":", id);
  np_buf_adds(b, ",\"who\":\"");
  np_buf_adds(b, np_who_name(v->who));
  add_int(b, "\",\"entry\":", v->entry);
  np_buf_adds(b, ",\"reason\":");
  np_json_quote(b, v->reason);
  np_buf_addc(b, '}');
}

/* With `message` (empty: none) in the same write. */
static neap_rc write(neap_session *s, np_buf *head, np_str body, np_str message) {
  np_event ev = {.kind = NP_EV_SCRATCH, .head = np_buf_str(head), .body = body};
  neap_rc rc = head->failed ? np_fail_mem(&s->err)
               : message.n  ? np_session_append_led(s, &ev, &message, 1)
                            : np_session_write(s, &ev, 1);
  s->noted_at = s->claim.last_seq;
  np_buf_free(head);
  return rc;
}

/* ---- putting ---- */

static bool is_text(np_str t, bool must, size_t most) {
  bool zero = t.n && memchr(t.p, '\0', t.n);
  return (np_str_says(t) || !must) && t.n <= most && !zero && np_utf8_valid(t) == t.n;
}

static neap_rc check_patch(const neap_session *s, np_str patch, np_err *e) {
  np_json v;
  if (!patch.n) return NEAP_OK;
  if (!s->object.schema)
    return np_fail(e, NEAP_E_MISUSE,
                   "session %s has no state object for a patch; open it with a "
                   "state_schema, or give the text alone",
                   s->name);
  if (patch.n > TEXT_BYTES)
    return np_fail(e, NEAP_E_ARG, "a patch on the scratchpad has at most %d bytes",
                   TEXT_BYTES);
  neap_rc rc = np_json_check(patch, &v, e);
  if (rc) return rc;
  if (v.type == NP_JSON_OBJECT || v.type == NP_JSON_ARRAY) return NEAP_OK;
  return np_fail(e, NEAP_E_ARG, "a patch is an object, or a list of operations");
}

neap_rc np_scratch_check(const neap_session *s, const np_draft *n, np_err *e) {
  if (!is_text(n->text, true, TEXT_BYTES))
    return np_fail(
        e, NEAP_E_ARG,
        "a text on the scratchpad is 1 to %d bytes of UTF-8 without a zero byte",
        TEXT_BYTES);
  if (n->source && !np_log_entry(&s->log, n->source))
    return np_fail(e, NEAP_E_ARG, "the source %lld is no entry of session %s",
                   (long long)n->source, s->name);
  if (s->scratch.waiting >= WAITING_MAX)
    return np_fail(e, NEAP_E_LIMIT,
                   "%d texts wait on the scratchpad of session %s; pass or reject some",
                   WAITING_MAX, s->name);
  return check_patch(s, n->patch, e);
}

/* `result`: the message that answers the model's call; empty: none. Sets the id. */
static neap_rc put(neap_session *s, np_draft *n, np_str result) {
  np_buf head;
  np_buf_init(&head, &s->engine->alloc);
  n->id = s->scratch.given + 1;
  put_head(n, &head);
  neap_rc rc = write(s, &head, n->text, result);
  return rc ? rc : keep(s, *n);
}

neap_rc np_scratch_put(neap_session *s, np_draft *n) {
  n->step = s->log.step;
  neap_rc rc = np_scratch_check(s, n, &s->err);
  return rc ? rc : put(s, n, NP_LIT(""));
}

/* ---- passing and rejecting ---- */

neap_rc np_scratch_check_verdict(const neap_session *s, int64_t id,
                                 const np_verdict_of *v, np_err *e) {
  const np_draft *n = find(s, id);
  if (!n || n->status != NP_DRAFT_WAITING)
    return np_fail(e, NEAP_E_NOTFOUND, "nothing of number %lld waits on the scratchpad%s",
                   (long long)id, n ? " any more" : "");
  if (v->who == NP_WHO_MODEL || v->who == NP_WHO_TOOL)
    return np_fail(e, NEAP_E_ARG,
                   "who passes or rejects is user, controller or policy: what a model "
                   "says is what is to be verified");
  if (!is_text(v->reason, !v->pass, REASON_BYTES))
    return np_fail(e, NEAP_E_ARG, "a reason is 1 to %d bytes of UTF-8", REASON_BYTES);
  const np_entry *en = n->source ? np_log_entry(&s->log, n->source) : NULL;
  if (v->pass && en && (en->voided || np_refuted_is(s, en)))
    return np_fail(e, NEAP_E_REFUSED,
                   "number %lld rests on entry %lld, which is %s; reject it",
                   (long long)id, (long long)n->source, en->voided ? "void" : "refuted");
  return NEAP_OK;
}

/* The block that shows what was passed: it says who has verified it and where it is from. */
static void make_block(const neap_session *s, const np_draft *n, const np_verdict_of *v,
                       np_buf *out) {
  bool chinese = np_session_is_chinese(s, n->text);
  np_buf text;
  np_buf_init(&text, out->alloc);
  np_buf_adds(&text, chinese ? "\xE5\xB7\xB2\xE6\xA0\xB8\xE5\xAE\x9E\xEF\xBC\x88"
                             : "Verified by ");
  np_buf_adds(&text, np_who_name(v->who));
  if (n->source)
    add_int(&text, chinese ? "\xEF\xBC\x8C\xE6\x9D\xA1\xE7\x9B\xAE " : " from entry ",
            n->source);
  np_buf_adds(&text, chinese ? "\xEF\xBC\x89\xEF\xBC\x9A" : ": ");
  np_buf_add(&text, n->text);
  np_buf_adds(out, v->memory ? "{\"kind\":\"memory\",\"content\":"
                             : "{\"kind\":\"evidence\",\"content\":");
  np_json_quote(out, np_buf_str(&text));
  np_buf_addc(out, '}');
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

/* A patch is a proposal of whoever put it there, with his rights and no more. Whether it would be
** taken, and whether it would change anything. */
static neap_rc try_patch(const neap_session *s, const np_draft *d, bool *changes,
                         np_err *e) {
  np_buf out, list;
  np_str now = np_object_now(s);
  np_buf_init(&out, &s->engine->alloc);
  np_buf_init(&list, &s->engine->alloc);
  np_faults faults = {.list = &list};
  np_proposed ask = {d->who, d->patch, true};
  neap_rc rc = np_object_decide(s, &ask, &out, &faults, e);
  *changes = !rc && !np_object_same(now, np_buf_str(&out));
  if (rc == NEAP_E_REFUSED) np_object_refusal(np_buf_str(&list), &s->engine->alloc, e);
  np_buf_free(&out);
  np_buf_free(&list);
  return rc;
}

/* The verdict and the version that it makes, in one write. */
static neap_rc pass_patch(neap_session *s, const np_draft *d, np_verdict_of *v) {
  np_buf head, answer;
  bool changes = false;
  neap_proposal p = {.size = sizeof p,
                     .who = np_who_name(d->who),
                     .patch = d->patch,
                     .reason = d->text.n > 1000 ? NP_LIT("verified") : d->text,
                     .source = d->source};
  neap_rc rc = try_patch(s, d, &changes, &s->err);
  if (rc) return rc;
  v->entry = changes ? (int64_t)s->log.entry_count + 1 : 0;
  np_buf_init(&head, &s->engine->alloc);
  np_buf_init(&answer, &s->engine->alloc);
  verdict_head(d->id, v, &head);
  rc = head.failed ? np_fail_mem(&s->err)
                   : np_session_queue(s, NP_EV_SCRATCH, np_buf_str(&head), NP_LIT(""));
  if (!rc && changes) rc = np_object_change(s, &p, NULL, &answer);
  else if (!rc) rc = np_session_write(s, NULL, 0);
  s->noted_at = s->claim.last_seq;
  np_buf_free(&head);
  np_buf_free(&answer);
  return rc;
}

static neap_rc pass_text(neap_session *s, const np_draft *d, np_verdict_of *v) {
  np_buf head, block;
  np_buf_init(&head, &s->engine->alloc);
  np_buf_init(&block, &s->engine->alloc);
  v->entry = (int64_t)s->log.entry_count + 1;
  make_block(s, d, v, &block);
  verdict_head(d->id, v, &head);
  neap_rc rc = block.failed ? np_fail_mem(&s->err)
                            : write(s, &head, NP_LIT(""), np_buf_str(&block));
  np_buf_free(&head);
  np_buf_free(&block);
  return rc;
}

static neap_rc reject(neap_session *s, const np_draft *d, const np_verdict_of *v) {
  np_buf head;
  np_buf_init(&head, &s->engine->alloc);
  verdict_head(d->id, v, &head);
  return write(s, &head, NP_LIT(""), NP_LIT(""));
}

neap_rc np_scratch_settle(neap_session *s, int64_t id, np_verdict_of *v) {
  neap_rc rc = np_scratch_check_verdict(s, id, v, &s->err);
  if (rc) return rc;
  np_draft d = *find(s, id);
  rc = !v->pass    ? reject(s, &d, v)
       : d.patch.n ? pass_patch(s, &d, v)
                   : pass_text(s, &d, v);
  return rc ? rc : settle(s, find(s, id), v);
}

/* ---- the list ---- */

static void add_draft(np_buf *b, const np_draft *n) {
  static const char *const status[] = {"waiting", "passed", "rejected"};
  np_buf_addc(b, '{');
  add_members(n, b);
  np_buf_adds(b, ",\"text\":");
  np_json_quote(b, n->text);
  np_buf_adds(b, ",\"status\":\"");
  np_buf_adds(b, status[n->status]);
  np_buf_addc(b, '"');
  if (n->status != NP_DRAFT_WAITING) {
    np_buf_adds(b, ",\"by\":\"");
    np_buf_adds(b, np_who_name(n->by));
    np_buf_adds(b, "\",\"reason\":");
    np_json_quote(b, n->reason);
  }
  if (n->entry) add_int(b, ",\"entry\":", n->entry);
  np_buf_addc(b, '}');
}

void np_scratch_list(const neap_session *s, bool waiting, np_buf *b) {
  const np_scratch *p = &(s->live ? s->live : s)->scratch;
  bool any = false;
  np_buf_addc(b, '[');
  for (size_t i = 0; i < p->count; i++) {
    if (waiting && p->all[i].status != NP_DRAFT_WAITING) continue;
    if (any) np_buf_adds(b, ",\n");
    any = true;
    add_draft(b, &p->all[i]);
  }
  np_buf_addc(b, ']');
}

/* ---- the model ---- */

static const char english[] =
    "{\"type\":\"function\",\"function\":{\"name\":\"neap_scratch\",\"description\":"
    "\"Notes "
    "a conclusion that is not verified yet. It is no fact of this session until code has "
    "checked it; then it is shown.\",\"parameters\":{\"type\":\"object\",\"properties\":{"
    "\"text\":{\"type\":\"string\",\"description\":\"the conclusion, in a sentence\"},"
    "\"source\":{\"type\":\"string\",\"description\":\"number of the entry it rests on, "
    "as "
    "in a [neap] mark\"}},\"required\":[\"text\"]}}}";
static const char chinese[] =
    "{\"type\":\"function\",\"function\":{\"name\":\"neap_scratch\",\"description\":\""
    "记下尚未核实的结论。程序核实之前它不是事实，核实后才会显示。\",\"parameters\":{"
    "\"type\":"
    "\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"description\":"
    "\"结论，一句话"
    "\"},\"source\":{\"type\":\"string\",\"description\":\"所依据条目的编号，见 [neap] "
    "标记"
    "\"}},\"required\":[\"text\"]}}}";

void np_scratch_tool(bool is_chinese, np_buf *out) {
  np_buf_adds(out, is_chinese ? chinese : english);
}

/* A source as the model writes it: 17, "17" or "#17". */
static int64_t source_of(np_json args) {
  np_json v;
  int64_t n = 0;
  if (!np_json_get(args, "source", &v) || v.raw.n > 20) return 0;
  for (size_t i = 0; i < v.raw.n; i++) {
    char c = v.raw.p[i];
    if (c >= '0' && c <= '9') n = n * 10 + (c - '0');
    else if (n) break;
    if (n > INT32_MAX) return 0;
  }
  return n;
}

static neap_rc answer(neap_session *s, const np_entry *call, np_draft *n,
                      const np_err *why) {
  np_buf text, message;
  np_buf_init(&text, &s->engine->alloc);
  np_buf_init(&message, &s->engine->alloc);
  if (why->code) {
    np_buf_adds(&text, "Not noted: ");
    np_buf_adds(&text, why->text);
  } else {
    add_int(&text, "Noted as ", s->scratch.given + 1);
    np_buf_adds(&text, ", not verified: no fact of this session until it is shown.");
  }
  np_answer_result(&s->log, call, np_buf_str(&text), &message);
  np_str one = np_buf_str(&message);
  neap_rc rc = text.failed || message.failed ? np_fail_mem(&s->err)
               : why->code                   ? np_session_append(s, &one, 1, NP_LIT(""))
                                             : put(s, n, one);
  np_buf_free(&text);
  np_buf_free(&message);
  return rc;
}

neap_rc np_scratch_handle(neap_session *s, const neap_call *c, const np_entry *call) {
  np_json args, v;
  np_buf text;
  np_err why = {0};
  np_draft n = {.who = NP_WHO_MODEL, .step = s->log.step, .patch = NP_LIT("")};
  np_buf_init(&text, &s->engine->alloc);
  if (!np_json_check(c->arguments, &args, NULL)) {
    if (np_json_get(args, "text", &v) && v.type == NP_JSON_STRING) np_json_text(v, &text);
    n.source = source_of(args);
  }
  n.text = np_buf_str(&text);
  if (!n.source) n.source = call->id;
  neap_rc rc = text.failed ? np_fail_mem(&s->err) : NEAP_OK;
  if (!rc) {
    np_scratch_check(s, &n, &why);
    rc = answer(s, call, &n, &why);
  }
  np_buf_free(&text);
  return rc;
}

/* ---- reading back ---- */

static neap_rc damaged(neap_session *s) {
  return np_fail(&s->err, NEAP_E_CORRUPT,
                 "session %s: a scratchpad's event is wrong; check the store", s->name);
}

static int64_t member(np_json head, const char *name) {
  np_json v;
  int64_t n = 0;
  if (!np_json_get(head, name, &v) || v.type != NP_JSON_NUMBER || v.raw.n > 17) return -1;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] < '0' || v.raw.p[i] > '9') return -1;
    n = n * 10 + (v.raw.p[i] - '0');
  }
  return n;
}

static bool read_who(np_json head, np_who *who) {
  np_json v;
  return np_json_get(head, "who", &v) && v.raw.n > 2 &&
         np_who_parse(np_str_cut(v.raw, 1, v.raw.n - 1), who);
}

static neap_rc take_verdict(neap_session *s, np_json head, bool pass) {
  np_json v;
  np_buf reason;
  np_verdict_of one = {.pass = pass, .entry = member(head, "entry")};
  np_draft *n = find(s, member(head, "id"));
  const np_scratch *b = &s->scratch;
  int64_t last = b->passed_count ? b->passed[b->passed_count - 1].entry : 0;
  if (pass && one.entry && one.entry <= last) return damaged(s);
  if (!n || n->status != NP_DRAFT_WAITING || !read_who(head, &one.who) || one.entry < 0)
    return damaged(s);
  np_buf_init(&reason, &s->engine->alloc);
  if (np_json_get(head, "reason", &v) && v.type == NP_JSON_STRING)
    np_json_text(v, &reason);
  one.reason = np_buf_str(&reason);
  neap_rc rc = reason.failed ? np_fail_mem(&s->err) : settle(s, n, &one);
  np_buf_free(&reason);
  return rc;
}

neap_rc np_scratch_take(neap_session *s, const np_event *ev, bool lost) {
  np_json head, op, patch;
  np_draft n = {.text = ev->body, .patch = NP_LIT("")};
  if (np_json_check(ev->head, &head, NULL) || !np_json_get(head, "op", &op))
    return damaged(s);
  bool put_op = np_str_is(op.raw, "\"put\"");
  n.id = member(head, "id");
  if (lost) {
    if (put_op && n.id > s->scratch.given) s->scratch.given = n.id;
    return NEAP_OK;
  }
  s->noted_at = ev->seq;
  if (!put_op) return take_verdict(s, head, np_str_is(op.raw, "\"pass\""));
  n.source = member(head, "source");
  n.step = member(head, "step");
  if (np_json_get(head, "patch", &patch)) n.patch = patch.raw;
  if (n.id <= s->scratch.given || n.source < 0 || n.step < 0 || !read_who(head, &n.who))
    return damaged(s);
  return keep(s, n);
}

/* ---- the host ---- */

neap_rc neap_scratch_put(neap_session *s, const neap_scratch *p, int64_t *id) {
  neap_scratch mine = {0};
  neap_rc rc = np_session_enter_out(s, p);
  if (rc) return rc;
  memcpy(&mine, p, p->size < sizeof mine ? p->size : sizeof mine);
  np_draft n = {.source = mine.source,
                .text = mine.text.p ? mine.text : NP_LIT(""),
                .patch = mine.patch.p ? mine.patch : NP_LIT("")};
  if (!np_who_parse(np_str_cstr(mine.who), &n.who))
    rc = np_fail(&s->err, NEAP_E_ARG,
                 "who concludes? give user, controller, model, tool or policy");
  if (!rc) rc = np_scratch_put(s, &n);
  if (id) *id = rc ? 0 : n.id;
  return np_session_leave(s, rc);
}

static neap_rc decide(neap_session *s, int64_t id, const char *who, neap_str reason,
                      np_verdict_of v, int64_t *entry) {
  neap_rc rc = np_session_enter_text(s, &reason);
  if (rc) return rc;
  v.reason = reason;
  if (!np_who_parse(np_str_cstr(who), &v.who))
    rc = np_fail(&s->err, NEAP_E_ARG, "who decides? give user, controller or policy");
  if (!rc) rc = np_scratch_settle(s, id, &v);
  if (entry) *entry = rc ? 0 : v.entry;
  return np_session_leave(s, rc);
}

neap_rc neap_scratch_pass(neap_session *s, int64_t id, const char *who, neap_str reason,
                          const char *into, int64_t *entry) {
  np_str to = np_str_cstr(into);
  if (entry) *entry = 0;
  if (!to.n || np_str_is(to, "evidence") || np_str_is(to, "memory"))
    return decide(s, id, who, reason,
                  (np_verdict_of){.pass = true, .memory = np_str_is(to, "memory")},
                  entry);
  neap_rc rc = np_session_enter(s);
  if (rc) return rc;
  rc = np_fail(&s->err, NEAP_E_ARG,
               "what is passed becomes evidence or memory, not %.40s", into);
  return np_session_leave(s, rc);
}

neap_rc neap_scratch_reject(neap_session *s, int64_t id, const char *who,
                            neap_str reason) {
  return decide(s, id, who, reason, (np_verdict_of){.pass = false}, NULL);
}

neap_rc neap_scratch_list(neap_session *s, neap_str *json) {
  neap_rc rc = np_session_enter_out(s, json);
  if (rc) return rc;
  np_buf_clear(&s->text);
  np_scratch_list(s, false, &s->text);
  *json = np_buf_str(&s->text);
  return np_session_leave(s, s->text.failed ? np_fail_mem(&s->err) : NEAP_OK);
}
