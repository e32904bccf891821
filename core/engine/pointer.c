/*
** Pointers: a string argument of a call that is all `neap:17` or `neap:17#PART` stands for the
** text of that entry, or the part, which the host's tool gets without the model reading it. Of the
** session alone, and never its system rules: a call may be made because some page said so.
** next: recall.c
*/
#include "engine/read.h"

#include "text/text.h"

#define SCHEME "neap:"
#define POINTED_MAX                                                                      \
  ((size_t)64 << 20) /* bytes of all texts of one call: as of one body */

/* Is it a pointer? Then *id and *part are slices of it. Else it is a text like any other. */
static bool parse(np_str text, np_str *id, np_str *part) {
  size_t n = sizeof SCHEME - 1, at = n;
  if (text.n <= n || memcmp(text.p, SCHEME, n) != 0) return false;
  while (at < text.n && text.p[at] >= '0' && text.p[at] <= '9') at++;
  if (at == n || (at < text.n && text.p[at] != '#')) return false;
  *id = np_str_cut(text, n, at);
  *part = np_str_cut(text, at < text.n ? at + 1 : at, text.n);
  return true;
}

/* The bytes of a part as they are: nothing is numbered, nothing stands for what is between. */
static neap_rc add_bytes(const neap_session *s, const np_wanted *w, np_str text,
                         np_buf *out, np_err *e) {
  np_stretches at = {0};
  neap_rc rc = np_extract_select(text, &w->part, &s->engine->alloc, &at, e);
  np_buf_add(out, np_buf_str(&at.made));
  for (size_t i = 0; i < at.n && !at.made.n; i++)
    np_buf_add(out, np_str_cut(text, at.at[i].from, at.at[i].to));
  np_stretches_free(&at);
  return rc;
}

static neap_rc add_pointed(neap_session *s, np_str id, np_str part, np_buf *out,
                           np_err *e) {
  np_wanted w;
  np_buf text, origin;
  np_buf_init(&text, &s->engine->alloc);
  np_buf_init(&origin, &s->engine->alloc);
  neap_rc rc = np_wanted_make(s, id, part, &w, e);
  const np_entry *en = rc ? NULL : np_log_entry(&s->log, w.id);
  if (en && en->region == NP_REGION_FIXED) {
    rc = np_fail(e, NEAP_E_NOTFOUND,
                 "neap:%lld is a rule of the session, not a text to pass on",
                 (long long)w.id);
  }
  if (en && en->voided) {
    const np_gone *g = np_back_of(s, en->id);
    np_str why = g ? g->why : NP_LIT("");
    rc = np_fail(e, NEAP_E_NOTFOUND,
                 "neap:%lld is void: rolled back because \"%.*s\"; it is no fact of this "
                 "session, and is not passed on",
                 (long long)w.id, (int)np_utf8_floor(why, why.n < 200 ? why.n : 200),
                 why.p);
  }
  if (!rc) rc = np_read_source(s, &w, &text, &origin, e);
  if (!rc) rc = add_bytes(s, &w, np_buf_str(&text), out, e);
  if (!rc && out->n > POINTED_MAX) {
    rc =
        np_fail(e, NEAP_E_LIMIT,
                "the texts that the call points at have more than 64 MB; point at parts");
  }
  np_wanted_free(&w);
  np_buf_free(&text);
  np_buf_free(&origin);
  return rc;
}

/* A string value, quotes included, as it came or as the text that it points at. */
static neap_rc add_string(neap_session *s, np_str raw, bool *pointed, np_buf *out,
                          np_err *e) {
  np_buf text, value;
  np_str id, part;
  neap_rc rc = NEAP_OK;
  if (raw.n < sizeof SCHEME + 2 || memcmp(raw.p + 1, SCHEME, sizeof SCHEME - 1) != 0) {
    np_buf_add(out, raw);
    return NEAP_OK;
  }
  np_buf_init(&text, &s->engine->alloc);
  np_buf_init(&value, &s->engine->alloc);
  np_json_text(np_json_of(raw), &value);
  if (!value.failed && parse(np_buf_str(&value), &id, &part)) {
    *pointed = true;
    rc = add_pointed(s, id, part, &text, e);
    np_json_quote(out, np_buf_str(&text));
  } else {
    np_buf_add(out, raw);
  }
  if (value.failed || text.failed) rc = np_fail_mem(e);
  np_buf_free(&text);
  np_buf_free(&value);
  return rc;
}

static const char *skip_space(const char *p, const char *end) {
  while (p < end && (*p == ' ' || (*p >= '\t' && *p <= '\r'))) p++;
  return p;
}

/* All string values of the checked JSON, however deep; keys are no values. */
static neap_rc resolve(neap_session *s, np_str json, bool *pointed, np_buf *out,
                       np_err *e) {
  const char *p = json.p, *end = json.p + json.n;
  neap_rc rc = NEAP_OK;
  while (rc == NEAP_OK && p < end) {
    const char *to = memchr(p, '"', (size_t)(end - p));
    if (!to) to = end;
    np_buf_add(out, np_str_of(p, (size_t)(to - p)));
    if (to == end) break;
    p = np_json_string_end(to, end);
    np_str raw = np_str_of(to, (size_t)(p - to));
    const char *next = skip_space(p, end);
    if (next < end && *next == ':') np_buf_add(out, raw);
    else rc = add_string(s, raw, pointed, out, e);
    if (rc == NEAP_OK && out->n > 2 * POINTED_MAX + json.n)
      rc = np_fail(
          e, NEAP_E_LIMIT,
          "the texts that the call points at have more than 64 MB; point at parts");
  }
  return rc == NEAP_OK && out->failed ? np_fail_mem(e) : rc;
}

neap_rc neap_resolve(neap_session *s, neap_str arguments, neap_str *resolved) {
  np_json v;
  bool pointed = false;
  neap_rc rc = np_session_enter_out(s, resolved);
  if (rc) return rc;
  np_buf_clear(&s->text);
  *resolved = arguments;
  bool any = arguments.p && np_str_find(arguments, NP_LIT(SCHEME), 0) != SIZE_MAX;
  if (any && np_json_check(arguments, &v, NULL) == NEAP_OK)
    rc = resolve(s, v.raw, &pointed, &s->text, &s->err);
  if (rc == NEAP_OK && pointed) *resolved = np_buf_str(&s->text);
  return np_session_leave(s, rc);
}
