/*
** The state object of a session: who proposes what, and what is decided. What a proposal does is
** decided in log/object.c. next: versions.c
*/
#include "engine/engine.h"

#include "engine/answer.h"
#include "text/text.h"

/* ---- what is known ---- */

void np_object_account(neap_session *s, np_buf *b) {
  const np_object *o = s->live ? &s->live->object : &s->object;
  np_open_things open;
  if (!o->schema) return;
  if (np_object_count(o->schema, np_object_now(s), &open, &s->engine->alloc, NULL)) {
    b->failed = true;
    return;
  }
  np_buf_adds(b, ",\"state\":{\"version\":");
  np_buf_int(b, np_object_version(s));
  np_buf_adds(b, ",\"pending\":");
  np_buf_int(b, open.pending);
  np_buf_adds(b, ",\"blocked\":");
  np_buf_int(b, open.blocked);
  np_buf_addc(b, '}');
}

/* ---- the schema ---- */

neap_rc np_object_take_schema(neap_session *s, np_str json) {
  np_object *o = &s->object;
  np_str kept;
  if (!np_arena_copy(&o->arena, json, &kept)) return np_fail_mem(&s->err);
  neap_rc rc = np_schema_read(&o->arena, kept, &o->schema, &s->err);
  if (rc) o->schema = NULL;
  else o->schema_text = kept;
  return rc;
}

/* An object that was taken before must stand under a schema that is new. */
static neap_rc check_standing(neap_session *s) {
  np_buf list;
  np_err e = {0};
  np_buf_init(&list, &s->engine->alloc);
  np_faults faults = {.list = &list};
  np_str now = np_object_now(s);
  neap_rc rc =
      now.n ? np_object_check(s->object.schema, now, &faults, &s->engine->alloc, &e)
            : NEAP_OK;
  if (rc == NEAP_E_REFUSED)
    np_fail(&s->err, NEAP_E_CONFIG,
            "the state of session %s does not stand under the new schema: %.*s", s->name,
            list.n > 300 ? 300 : (int)list.n, list.p);
  else if (rc) s->err = e;
  np_buf_free(&list);
  return rc == NEAP_E_REFUSED ? NEAP_E_CONFIG : rc;
}

neap_rc np_object_open(neap_session *s) {
  np_str json = np_str_cstr(s->options.state_schema);
  if (s->options.state_schema && !json.n)
    return np_fail(
        &s->err, NEAP_E_CONFIG,
        "state schema at /: it is an empty text; give an object, or no schema");
  if (!json.n || np_str_eq(json, s->object.schema_text)) return NEAP_OK;
  neap_rc rc = np_object_take_schema(s, json);
  if (!rc) rc = check_standing(s);
  return rc ? rc : np_session_log(s, NP_EV_SCHEMA, NP_LIT(""), json);
}

/* ---- records ---- */

#define SHOWN_PATCH ((size_t)4 << 10) /* of a refused one: it is told, not used again */

void np_object_head(const np_proposal *p, np_buf *b) {
  np_buf_adds(b, "{\"who\":\"");
  np_buf_adds(b, np_who_name(p->who));
  np_buf_adds(b, p->refused ? "\",\"refused\":true,\"version\":" : "\",\"version\":");
  np_buf_int(b, p->version);
  np_buf_adds(b, ",\"source\":");
  np_buf_int(b, p->source);
  np_buf_adds(b, ",\"step\":");
  np_buf_int(b, p->step > 0 ? p->step : 0);
  np_buf_adds(b, ",\"reason\":");
  np_json_quote(b, p->reason);
  if (p->refused) np_buf_adds(b, ",\"faults\":");
  if (p->refused) np_buf_add(b, p->faults);
  np_buf_addc(b, '}');
}

/* The events of one proposal, in one write: of a taken one with the entry that shows it, of a
** call's with its result. */
static neap_rc write(neap_session *s, np_proposal *p, np_str object, np_str result) {
  np_buf head, block;
  np_str messages[2];
  size_t n = 0;
  np_buf_init(&head, &s->engine->alloc);
  np_buf_init(&block, &s->engine->alloc);
  np_object_head(p, &head);
  if (result.n) messages[n++] = result;
  neap_rc rc = NEAP_OK;
  if (!p->refused) rc = np_object_block(np_object_now(s), p, object, &block, &s->err);
  if (!p->refused) messages[n++] = np_buf_str(&block);
  np_event ev = {.kind = NP_EV_PROPOSAL, .head = np_buf_str(&head), .body = p->patch};
  if (!rc && head.failed) rc = np_fail_mem(&s->err);
  if (!rc)
    rc = n ? np_session_append_led(s, &ev, messages, n) : np_session_write(s, &ev, 1);
  np_buf_free(&head);
  np_buf_free(&block);
  if (!rc) rc = np_version_keep(s, p);
  if (rc || p->refused) return rc;
  p->entry = (int64_t)s->log.entry_count;
  return np_version_shown(s, p->entry, object);
}

/* ---- proposing ---- */

#define REASON_BYTES 1000

neap_rc np_object_args(const neap_proposal *p, np_proposal *out, np_err *e) {
  if (!np_who_parse(np_str_cstr(p->who), &out->who))
    return np_fail(e, NEAP_E_ARG,
                   "who proposes? give user, controller, model, tool or policy");
  if (p->reason.n > REASON_BYTES || np_utf8_valid(p->reason) != p->reason.n)
    return np_fail(e, NEAP_E_ARG, "a reason is at most %d bytes of UTF-8", REASON_BYTES);
  out->source = p->source;
  out->reason = p->reason.p ? p->reason : NP_LIT("");
  out->patch = p->patch.p ? p->patch : NP_LIT("");
  out->faults = NP_LIT("");
  return NEAP_OK;
}

static neap_rc check_args(neap_session *s, const neap_proposal *p, np_proposal *out) {
  if (!s->object.schema)
    return np_fail(&s->err, NEAP_E_MISUSE,
                   "session %s has no state object; open it with a state_schema",
                   s->name);
  if (p->source && !np_log_entry(&s->log, p->source))
    return np_fail(&s->err, NEAP_E_ARG, "the source %lld is no entry of session %s",
                   (long long)p->source, s->name);
  out->step = s->log.step;
  return np_object_args(p, out, &s->err);
}

/* Two who read the same version and both write: the second is told. */
bool np_object_is_late(int64_t now, const neap_proposal *p, np_buf *faults) {
  int64_t want = p->if_version < 0 ? 0 : p->if_version;
  if (!p->if_version || want == now) return false;
  np_buf_adds(faults, "[{\"path\":\"\",\"what\":\"the state is at version ");
  np_buf_int(faults, now);
  np_buf_adds(faults, ", not ");
  np_buf_int(faults, want);
  np_buf_adds(faults, "; look at it again\"}]");
  return true;
}

void np_object_answer(const np_proposal *p, bool changed, np_buf *b) {
  np_buf_adds(b, p->refused ? "{\"committed\":false" : "{\"committed\":true");
  np_buf_adds(b, ",\"version\":");
  np_buf_int(b, p->version);
  if (p->refused) {
    np_buf_adds(b, ",\"faults\":");
    np_buf_add(b, p->faults);
  } else if (changed) {
    np_buf_adds(b, ",\"entry\":");
    np_buf_int(b, p->entry);
  } else {
    np_buf_adds(b, ",\"changed\":false");
  }
  np_buf_addc(b, '}');
}

/* Nothing yet is an object without members. */
bool np_object_same(np_str a, np_str b) {
  return np_str_eq(a.n ? a : NP_LIT("{}"), b.n ? b : NP_LIT("{}"));
}

/* Each fault as `PATH: WHAT`, with `sep` before it. */
static void tell_faults(np_str faults, const char *sep, np_buf *b) {
  np_json list, item, path = {0}, what = {0};
  if (np_json_check(faults, &list, NULL)) return;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &item)) {
    np_json_get(item, "path", &path);
    np_json_get(item, "what", &what);
    np_buf_adds(b, sep);
    np_json_text(path, b);
    np_buf_adds(b, path.raw.n > 2 ? ": " : "");
    np_json_text(what, b);
  }
}

/* The refusal as one line. */
neap_rc np_object_refusal(np_str faults, const neap_alloc *a, np_err *e) {
  np_buf b;
  np_buf_init(&b, a);
  tell_faults(faults, "; ", &b);
  np_str text = np_str_cut(np_buf_str(&b), 2, b.n);
  neap_rc rc = np_fail(e, NEAP_E_REFUSED, "the state stays as it is: %.*s",
                       text.n > 440 ? 440 : (int)text.n, text.p);
  np_buf_free(&b);
  return rc;
}

/* What the model is told, line by line. */
static void tell_model(np_buf *b, const np_proposal *p, bool changed) {
  if (!p->refused) {
    np_buf_adds(b, changed ? "Committed as version " : "Nothing has changed: version ");
    np_buf_int(b, p->version);
    np_buf_adds(b, changed ? "." : " stands.");
    return;
  }
  np_buf_adds(b, "Refused; nothing has changed. Version ");
  np_buf_int(b, p->version);
  np_buf_adds(b, " stands.");
  tell_faults(p->faults, "\n", b);
}

/* The result message of the model's call. */
static neap_rc make_result(neap_session *s, const np_entry *call, const np_proposal *p,
                           bool changed, np_buf *out) {
  np_buf text;
  np_buf_init(&text, &s->engine->alloc);
  tell_model(&text, p, changed);
  np_answer_result(&s->log, call, np_buf_str(&text), out);
  bool ok = !text.failed && !out->failed;
  np_buf_free(&text);
  return ok ? NEAP_OK : np_fail_mem(&s->err);
}

static neap_rc finish(neap_session *s, np_proposal *p, np_str object, bool changed,
                      const np_entry *call) {
  np_buf result;
  np_buf_init(&result, &s->engine->alloc);
  neap_rc rc = call ? make_result(s, call, p, changed, &result) : NEAP_OK;
  np_str message = np_buf_str(&result);
  if (!rc && (changed || p->refused)) rc = write(s, p, object, message);
  else if (!rc && call) rc = np_session_append(s, &message, 1, NP_LIT(""));
  np_buf_free(&result);
  return rc;
}

neap_rc np_object_change(neap_session *s, const neap_proposal *p, const np_entry *call,
                         np_buf *answer) {
  const neap_alloc *a = &s->engine->alloc;
  np_proposal made = {0};
  np_buf object, list;
  neap_rc rc = check_args(s, p, &made);
  if (rc) return rc;
  np_buf_init(&object, a);
  np_buf_init(&list, a);
  np_faults faults = {.list = &list};
  np_proposed ask = {made.who, made.patch, np_str_says(made.reason)};
  np_str now = np_object_now(s);
  made.refused = np_object_is_late(np_object_version(s), p, &list);
  if (!made.refused) rc = np_object_decide(s, &ask, &object, &faults, &s->err);
  if (rc == NEAP_E_REFUSED) made.refused = true, rc = NEAP_OK;
  bool changed = !made.refused && !np_object_same(now, np_buf_str(&object));
  made.version = changed ? s->object.versions + 1 : np_object_version(s);
  made.faults = np_buf_str(&list);
  if (made.refused) made.patch = np_str_cut(made.patch, 0, SHOWN_PATCH);
  if (!rc && (list.failed || object.failed)) rc = np_fail_mem(&s->err);
  if (!rc) rc = finish(s, &made, np_buf_str(&object), changed, call);
  if (!rc) np_object_answer(&made, changed, answer);
  if (!rc && made.refused) rc = np_object_refusal(made.faults, a, &s->err);
  np_buf_free(&object);
  np_buf_free(&list);
  return rc;
}

/* ---- the host ---- */

neap_rc neap_state_propose(neap_session *s, const neap_proposal *p, neap_str *answer) {
  neap_proposal mine = {0};
  neap_rc rc = np_session_enter_out(s, p);
  if (rc) return rc;
  memcpy(&mine, p, p->size < sizeof mine ? p->size : sizeof mine);
  if (mine.patch.n > PTRDIFF_MAX || (mine.patch.n && !mine.patch.p))
    rc = np_fail(&s->err, NEAP_E_ARG, "the patch has no text; give pointer and length");
  np_buf_clear(&s->text);
  if (!rc) rc = np_object_change(s, &mine, NULL, &s->text);
  bool told = !rc || rc == NEAP_E_REFUSED;
  if (told && s->text.failed) rc = np_fail_mem(&s->err);
  if (answer) *answer = told ? np_buf_str(&s->text) : NP_LIT("");
  return np_session_leave(s, rc);
}

/* What was an object elsewhere: all of the schema is held against it but who may write. */
static neap_rc begin_with(neap_session *s, np_str json, np_str reason) {
  const neap_alloc *a = &s->engine->alloc;
  neap_proposal given = {.size = sizeof given, .who = "user", .patch = json};
  np_proposal made = {0};
  np_buf object, list;
  given.reason = reason;
  neap_rc rc = check_args(s, &given, &made);
  if (rc) return rc;
  if (np_object_version(s))
    return np_fail(&s->err, NEAP_E_MISUSE,
                   "the state of session %s is at version %lld already; propose a change",
                   s->name, (long long)np_object_version(s));
  np_buf_init(&object, a);
  np_buf_init(&list, a);
  np_faults faults = {.list = &list};
  np_proposed ask = {NP_WHO_COUNT, json, true};
  rc = np_object_decide(s, &ask, &object, &faults, &s->err);
  if (rc == NEAP_E_REFUSED) rc = np_object_refusal(np_buf_str(&list), a, &s->err);
  made.version = s->object.versions + 1;
  if (!rc && object.failed) rc = np_fail_mem(&s->err);
  if (!rc) rc = finish(s, &made, np_buf_str(&object), true, NULL);
  np_buf_free(&object);
  np_buf_free(&list);
  return rc;
}

neap_rc neap_state_begin(neap_session *s, neap_str json, neap_str reason) {
  neap_rc rc = np_session_enter_text(s, &json);
  if (rc) return rc;
  return np_session_leave(s, begin_with(s, json, reason.p ? reason : NP_LIT("")));
}

neap_rc neap_state_get(neap_session *s, int64_t version, neap_str *json) {
  neap_rc rc = np_session_enter_out(s, json);
  if (rc) return rc;
  const np_proposal *p = version ? np_version_of(s, version) : np_version_newest(s);
  np_buf_clear(&s->text);
  if (p && p != np_version_newest(s)) rc = np_version_text(s, p, &s->text, &s->err);
  *json = p == np_version_newest(s) ? np_object_now(s) : np_buf_str(&s->text);
  if (!p)
    rc = np_fail(&s->err, NEAP_E_NOTFOUND,
                 version ? "the state of session %s has no version %lld"
                         : "the state of session %s has no version yet",
                 s->name, (long long)version);
  return np_session_leave(s, rc);
}

static void add_record(np_buf *b, const np_proposal *p) {
  np_json patch;
  np_object_head(p, b);
  b->n--; /* its brace */
  if (p->entry) np_buf_adds(b, ",\"entry\":");
  if (p->entry) np_buf_int(b, p->entry);
  if (p->lost) np_buf_adds(b, ",\"void\":true");
  np_buf_adds(b, ",\"patch\":");
  if (np_json_check(p->patch, &patch, NULL)) np_json_quote(b, p->patch);
  else np_buf_add(b, patch.raw);
  np_buf_addc(b, '}');
}

neap_rc neap_state_history(neap_session *s, neap_str *json) {
  neap_rc rc = np_session_enter_out(s, json);
  if (rc) return rc;
  np_buf_clear(&s->text);
  np_buf_addc(&s->text, '[');
  for (size_t i = 0; i < s->object.count; i++) {
    if (i) np_buf_adds(&s->text, ",\n");
    add_record(&s->text, &s->object.all[i]);
  }
  np_buf_addc(&s->text, ']');
  *json = np_buf_str(&s->text);
  return np_session_leave(s, s->text.failed ? np_fail_mem(&s->err) : NEAP_OK);
}

neap_rc neap_state_diff(neap_session *s, int64_t from, int64_t to, neap_str *json) {
  neap_rc rc = np_session_enter_out(s, json);
  np_buf was, now;
  if (rc) return rc;
  const np_proposal *a = from ? np_version_of(s, from) : NULL;
  const np_proposal *b = to ? np_version_of(s, to) : NULL;
  np_buf_init(&was, &s->engine->alloc);
  np_buf_init(&now, &s->engine->alloc);
  np_buf_clear(&s->text);
  if ((from && !a) || (to && !b))
    rc = np_fail(&s->err, NEAP_E_NOTFOUND, "the state of session %s has no version %lld",
                 s->name, (long long)(from && !a ? from : to));
  if (!rc) rc = np_version_text(s, a, &was, &s->err);
  if (!rc) rc = np_version_text(s, b, &now, &s->err);
  if (!rc)
    rc = np_object_diff(np_buf_str(&was), np_buf_str(&now), &s->text, &s->engine->alloc,
                        &s->err);
  *json = np_buf_str(&s->text);
  np_buf_free(&was);
  np_buf_free(&now);
  return np_session_leave(s, rc);
}
