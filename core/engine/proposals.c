/*
** The model proposes: the tool neap_state, what it says of itself, and its answers. The model
** writes nothing: what it sends is checked like anybody's. next: stored_object.c
*/
#include "engine/engine.h"

/* What the tool says of itself, in the language of the task. */
typedef struct words {
  const char *what, *patch, *steps, *reason, *nothing;
} words;

static const words english = {
    "Proposes a change of the state of this session. It is checked and taken whole or "
    "not "
    "at all; the answer says why not. You may change: ",
    "members to set, as in the state; null takes one away; lists are given whole",
    "instead of patch: steps such as "
    "{\\\"op\\\":\\\"add\\\",\\\"path\\\":\\\"/pending/-\\\","
    "\\\"value\\\":\\\"…\\\"}; op is add, replace, remove or test",
    "why, in a sentence", "nothing"};
static const words chinese = {
    "提议修改本会话的状态。提议经检查后整体采纳或整体拒绝，拒绝时说明原因。你可以修改：",
    "要设置的成员，写法同状态；null 表示删除；列表须完整给出",
    "代替 patch 的步骤，例如 {\\\"op\\\":\\\"add\\\",\\\"path\\\":\\\"/pending/-\\\","
    "\\\"value\\\":\\\"…\\\"}；op 为 add、replace、remove 或 test",
    "原因，一句话", "无"};

void np_object_tool(const neap_session *s, bool is_chinese, np_buf *out) {
  const np_object *o = s->live ? &s->live->object : &s->object;
  const words *w = is_chinese ? &chinese : &english;
  np_buf paths, quoted;
  if (!o->schema) return;
  np_buf_init(&paths, out->alloc);
  np_buf_init(&quoted, out->alloc);
  np_schema_writable(o->schema, NP_WHO_MODEL, &paths);
  if (!paths.n) np_buf_adds(&paths, w->nothing);
  np_json_quote(&quoted, np_buf_str(&paths));
  np_buf_adds(out, "{\"type\":\"function\",\"function\":{\"name\":\"neap_state\","
                   "\"description\":\"");
  np_buf_adds(out, w->what);
  np_buf_add(out, np_str_cut(np_buf_str(&quoted), 1, quoted.n - 1));
  np_buf_adds(out, is_chinese ? "。" : ".");
  np_buf_adds(out, "\",\"parameters\":{\"type\":\"object\",\"properties\":{\"patch\":{"
                   "\"type\":\"object\",\"description\":\"");
  np_buf_adds(out, w->patch);
  np_buf_adds(out, "\"},\"operations\":{\"type\":\"array\",\"items\":{\"type\":"
                   "\"object\"},\"description\":\"");
  np_buf_adds(out, w->steps);
  np_buf_adds(out, "\"},\"reason\":{\"type\":\"string\",\"description\":\"");
  np_buf_adds(out, w->reason);
  np_buf_adds(out, "\"}},\"required\":[\"reason\"]}}}");
  if (paths.failed || quoted.failed) out->failed = true;
  np_buf_free(&paths);
  np_buf_free(&quoted);
}

/* ---- a policy ---- */

neap_rc np_object_try(const neap_session *s, const np_pending *p, np_buf *faults,
                      np_err *e) {
  const neap_session *live = s->live ? s->live : s;
  np_buf out;
  np_faults f = {.list = faults};
  np_proposed ask = {NP_WHO_POLICY, p->patch, np_str_says(p->reason)};
  if (p->source && !np_log_entry(&live->log, p->source))
    return np_fail(e, NEAP_E_ARG, "the source %lld is no entry", (long long)p->source);
  np_buf_init(&out, &live->engine->alloc);
  neap_rc rc = np_object_decide(s, &ask, &out, &f, e);
  np_buf_free(&out);
  return rc;
}

/* ---- the model ---- */

/* A patch as the model gives it: a member of its own, which may be JSON in a string. */
static bool read_patch(np_json args, np_buf *text, np_str *patch) {
  np_json v;
  if (!np_json_get(args, "patch", &v) && !np_json_get(args, "operations", &v))
    return false;
  if (v.type == NP_JSON_STRING) np_json_text(v, text);
  else np_buf_add(text, v.raw);
  *patch = np_buf_str(text);
  return true;
}

/* At most 1,000 bytes of the reason count. */
static np_str cut_reason(np_str s) {
  size_t n = s.n > 1000 ? 1000 : s.n;
  while (n && n < s.n && ((unsigned char)s.p[n] & 0xC0) == 0x80) n--;
  return np_str_cut(s, 0, n);
}

neap_rc np_object_handle(neap_session *s, const neap_call *c, const np_entry *call) {
  const neap_alloc *a = &s->engine->alloc;
  np_json args = {0}, v;
  np_buf text, reason, answer;
  neap_proposal p = {.size = sizeof p, .who = "model", .source = call->id};
  np_buf_init(&text, a);
  np_buf_init(&reason, a);
  np_buf_init(&answer, a);
  if (np_json_check(c->arguments, &args, NULL)) args = (np_json){0};
  read_patch(args, &text, &p.patch);
  if (np_json_get(args, "reason", &v) && v.type == NP_JSON_STRING)
    np_json_text(v, &reason);
  p.reason = cut_reason(np_buf_str(&reason));
  bool ok = !text.failed && !reason.failed;
  neap_rc rc = ok ? np_object_change(s, &p, call, &answer) : np_fail_mem(&s->err);
  np_buf_free(&text);
  np_buf_free(&reason);
  np_buf_free(&answer);
  if (rc != NEAP_E_REFUSED) return rc;
  s->err = (np_err){0}; /* the model has been told */
  return NEAP_OK;
}
