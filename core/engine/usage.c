/*
** What a response says its prompt took: every provider's form is another member. And the
** event by which a session keeps it. next: account.c
*/
#include "engine/engine.h"

/* A whole number of at most 18 digits; false for anything else, a fraction or a minus too. */
static bool read_count(np_json v, int64_t *out) {
  int64_t n = 0;
  if (v.type != NP_JSON_NUMBER || v.raw.n > 18) return false;
  for (size_t i = 0; i < v.raw.n; i++) {
    if (v.raw.p[i] < '0' || v.raw.p[i] > '9') return false;
    n = n * 10 + (v.raw.p[i] - '0');
  }
  *out = n;
  return true;
}

/* A member that may be left out or null. */
static bool add_optional(np_json object, const char *name, int64_t *sum) {
  np_json v;
  int64_t n = 0;
  if (!np_json_get(object, name, &v) || v.type == NP_JSON_NULL) return true;
  if (!read_count(v, &n) || *sum > INT64_MAX / 2) return false;
  *sum += n;
  return true;
}

/* Chat Completions and Gemini count what was cached in; Anthropic's input_tokens are only
** what was neither read from the cache nor written to it; Responses have no such members. */
bool np_usage_input(np_json response, int64_t *tokens) {
  np_json usage, v;
  if (np_json_get(response, "usageMetadata", &usage))
    return np_json_get(usage, "promptTokenCount", &v) && read_count(v, tokens);
  if (!np_json_get(response, "usage", &usage)) return false;
  if (np_json_get(usage, "prompt_tokens", &v)) return read_count(v, tokens);
  return np_json_get(usage, "input_tokens", &v) && read_count(v, tokens) &&
         add_optional(usage, "cache_creation_input_tokens", tokens) &&
         add_optional(usage, "cache_read_input_tokens", tokens);
}

/* ---- the event ---- */

static void add_number(np_buf *b, const char *name, int64_t v) {
  np_buf_adds(b, ",\"");
  np_buf_adds(b, name);
  np_buf_adds(b, "\":");
  np_buf_int(b, v);
}

/* Factor and bound stand in the event as they are from then on: a later version that finds
** others from the same reports does not change what was. */
static void write_event(np_buf *b, const neap_session *s, const np_gauge *g,
                        int64_t counted, int64_t reported) {
  np_buf_adds(b, "{\"model\":");
  np_json_quote(b, np_str_cstr(s->model_name));
  add_number(b, "counted", counted);
  add_number(b, "reported", reported);
  np_buf_adds(b, g->taken != s->gauge.taken ? ",\"used\":true" : ",\"used\":false");
  add_number(b, "factor", g->factor);
  add_number(b, "bound", g->bound);
  np_buf_addc(b, '}');
}

neap_rc np_usage_read(neap_session *s, np_str response, np_gauge *next) {
  np_json root;
  int64_t reported = 0;
  *next = s->gauge;
  np_buf_clear(&s->usage);
  if (!s->asked_tokens || np_json_check(response, &root, NULL)) return NEAP_OK;
  if (!np_usage_input(root, &reported)) return NEAP_OK;
  if (!np_gauge_take(next, s->asked_tokens, reported, !s->asked_guess)) return NEAP_OK;
  write_event(&s->usage, s, next, s->asked_tokens, reported);
  return s->usage.failed ? np_fail_mem(&s->err) : NEAP_OK;
}

/* Reports of another model say nothing of this one. */
neap_rc np_usage_take(neap_session *s, const np_event *ev) {
  np_json head, v, used;
  int64_t counted = 0, reported = 0, factor = 0, bound = 0;
  bool ok = !np_json_check(ev->head, &head, NULL);
  ok = ok && np_json_get(head, "model", &v);
  if (ok && !np_json_is_key(v.raw, s->model_name)) return NEAP_OK;
  ok = ok && np_json_get(head, "counted", &v) && read_count(v, &counted);
  ok = ok && np_json_get(head, "reported", &v) && read_count(v, &reported);
  ok = ok && np_json_get(head, "factor", &v) && read_count(v, &factor);
  ok = ok && np_json_get(head, "bound", &v) && read_count(v, &bound);
  ok = ok && factor > 0 && factor <= 4 * (int64_t)NP_MILLION && bound <= NP_MILLION;
  if (!ok) {
    return np_fail(&s->err, NEAP_E_CORRUPT,
                   "session %s: an event of usage is wrong; check the store", s->name);
  }
  np_json_get(head, "used", &used);
  np_gauge_take(&s->gauge, counted, reported, np_str_is(used.raw, "true"));
  if (s->gauge.exact) return NEAP_OK;
  s->gauge.factor = factor;
  s->gauge.bound = bound;
  return NEAP_OK;
}
