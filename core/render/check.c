/*
** The rules that all providers have: valid JSON in valid UTF-8 without half surrogates, no
** member twice; and the plain-text form's. next: check_chat.c, check_responses.c,
** check_anthropic.c, check_gemini.c
*/
#include "render/check_own.h"

#include <stdarg.h>
#include <stdio.h>

#include "text/text.h"

/* ---- where and what ---- */

void np_checker_at(np_checker *c, const char *list, size_t i) {
  c->list = list;
  c->item = i;
  c->sub = NULL;
  c->part = SIZE_MAX;
}

neap_rc np_bad(np_checker *c, const char *what, ...) {
  char where[120] = "", text[300];
  int n = 0;
  va_list args;
  if (c->list) n = snprintf(where, sizeof where, "%s", c->list);
  if (c->list && c->item != SIZE_MAX)
    n += snprintf(where + n, sizeof where - (size_t)n, "[%zu]", c->item);
  if (c->sub) n += snprintf(where + n, sizeof where - (size_t)n, ".%s", c->sub);
  if (c->sub && c->part != SIZE_MAX)
    snprintf(where + n, sizeof where - (size_t)n, "[%zu]", c->part);
  va_start(args, what);
  vsnprintf(text, sizeof text, what, args);
  va_end(args);
  return np_fail(c->err, NEAP_E_SHAPE, "%s: %s", *where ? where : "body", text);
}

np_str np_checker_text(np_checker *c, np_json v) {
  np_buf_clear(&c->text);
  np_json_text(v, &c->text);
  return np_buf_str(&c->text);
}

bool np_checker_string(np_json object, const char *key, np_json *out) {
  bool is =
      np_json_get(object, key, out) && out->type == NP_JSON_STRING && out->raw.n > 2;
  if (!is) *out = (np_json){0};
  return is;
}

/* Escaped white space counts: \n and \t are what a blank text is made of. */
bool np_is_blank(np_json string) {
  for (size_t i = 1; i + 1 < string.raw.n; i++) {
    char ch = string.raw.p[i];
    if (ch == '\\') ch = strchr("ntrf", string.raw.p[++i]) ? ' ' : 'x';
    if (ch != ' ') return false;
  }
  return true;
}

bool np_json_is(np_json v, const char *text) {
  return v.type == NP_JSON_STRING && np_json_is_key(v.raw, text);
}

/* ---- tools ---- */

neap_rc np_checker_tool(np_checker *c, np_json name) {
  if (name.type != NP_JSON_STRING || name.raw.n <= 2)
    return np_bad(c, "a tool needs a name");
  np_name *n = np_names_add(c, &c->tools, np_checker_text(c, name));
  if (!n) return np_fail_mem(c->err);
  if (n->state++) return np_bad(c, "two tools are named %.*s", (int)n->text.n, n->text.p);
  return NEAP_OK;
}

neap_rc np_checker_known(np_checker *c, np_json name) {
  if (!c->strict || !c->tools.used) return NEAP_OK;
  np_str text = np_checker_text(c, name);
  if (np_names_find(&c->tools, text)) return NEAP_OK;
  return np_bad(c, "calls %.*s, which is not among the request's tools",
                text.n > 64 ? 64 : (int)text.n, text.p);
}

neap_rc np_checker_arguments(np_checker *c, np_json text) {
  np_json v;
  /* what is nested too deep for us may still be JSON */
  if (!c->strict || np_json_check(np_checker_text(c, text), &v, NULL) != NEAP_E_JSON)
    return NEAP_OK;
  return np_bad(c, "a call's arguments are no JSON");
}

/* ---- images: the four types that OpenAI's and Anthropic's vision guides name ---- */

bool np_is_image_type(np_str type) {
  return np_str_is(type, "image/png") || np_str_is(type, "image/jpeg") ||
         np_str_is(type, "image/gif") || np_str_is(type, "image/webp");
}

neap_rc np_checker_url(np_checker *c, np_json url) {
  np_str text = np_checker_text(c, url);
  if (text.n < 5 || memcmp(text.p, "data:", 5) != 0) return NEAP_OK;
  size_t end = np_str_find(text, NP_LIT(";base64,"), 0);
  if (end == SIZE_MAX || end + 8 == text.n)
    return np_bad(c, "an image's data URL has no data");
  if (np_is_image_type(np_str_cut(text, 5, end))) return NEAP_OK;
  return np_bad(c, "no image type that the provider takes: %.*s",
                end > 45 ? 40 : (int)(end - 5), text.p + 5);
}

/* ---- members that stand twice: RFC 8259 leaves their meaning open ---- */

static neap_rc check_key(np_checker *c, np_names *seen, np_str key) {
  np_name *n = np_names_add(c, seen, np_checker_text(c, (np_json){NP_JSON_STRING, key}));
  if (!n) return np_fail_mem(c->err);
  if (!n->state++) return NEAP_OK;
  return np_bad(c, "member %.*s stands twice in one object, at byte %zu",
                key.n > 60 ? 60 : (int)key.n, key.p, (size_t)(key.p - c->root.raw.p));
}

/* Recursion is bounded by NP_JSON_DEPTH. An object's keys are looked at before its values, so
** that one table serves all. */
static neap_rc check_keys(np_checker *c, np_names *seen, np_json v) {
  np_str key;
  np_json value;
  neap_rc rc = NEAP_OK;
  np_names_clear(seen);
  np_arena_place here = np_arena_here(&c->arena);
  np_json_iter it = np_json_each(v);
  while (!rc && v.type == NP_JSON_OBJECT && np_json_next(&it, &key, &value))
    rc = check_key(c, seen, key);
  np_arena_back(&c->arena, here);
  it = np_json_each(v);
  while (!rc && np_json_next(&it, NULL, &value)) {
    if (value.type >= NP_JSON_ARRAY) rc = check_keys(c, seen, value);
  }
  return rc;
}

static neap_rc check_doubled(np_checker *c) {
  np_names seen = {0};
  neap_rc rc = check_keys(c, &seen, c->root);
  np_free(c->alloc, seen.slots);
  return rc;
}

/* ---- plain text ---- */

/* The last line says whose turn it is: "[step 12]". What stands above is prose, in which
** anything may occur; a result's lines are guarded by the renderer, not recognizable here. */
neap_rc np_check_text(np_checker *c, np_str body) {
  size_t at = np_utf8_valid(body), n = body.n, digits = 0;
  if (at != body.n)
    return np_fail_at(c->err, NEAP_E_UTF8, at, "a byte that is not UTF-8");
  bool ends = n >= 2 && body.p[n - 1] == '\n' && body.p[n - 2] == ']';
  for (n -= ends ? 2 : n; n && body.p[n - 1] >= '0' && body.p[n - 1] <= '9'; n--)
    digits++;
  ends = ends && digits && n >= 6 && memcmp(body.p + n - 6, "[step ", 6) == 0;
  if (!ends || (n > 6 && body.p[n - 7] != '\n'))
    return np_bad(c, "the last line must be [step N]");
  return n > 6 ? NEAP_OK : np_bad(c, "nothing stands before the last line");
}

/* ---- */

typedef struct form {
  const char *name;
  neap_rc (*check)(np_checker *c);
} form;

static const form forms[] = {
    {"openai", np_check_chat},
    {"responses", np_check_responses},
    {"anthropic", np_check_anthropic},
    {"gemini", np_check_gemini},
};

static neap_rc check_body(np_checker *c, const form *f, np_str body) {
  neap_rc rc = np_json_check(body, &c->root, c->err);
  if (rc) return rc;
  if (c->root.type != NP_JSON_OBJECT) return np_bad(c, "a request body is an object");
  if (np_json_has_lone(c->root)) return np_bad(c, "half a surrogate pair in a string");
  if (c->strict) rc = check_doubled(c);
  return rc ? rc : f->check(c);
}

neap_rc np_check(const neap_alloc *a, np_str format, np_str body, bool strict,
                 np_err *e) {
  np_checker c = {.alloc = a, .err = e, .strict = strict, .item = SIZE_MAX};
  size_t i = 0;
  if (np_str_is(format, "text")) return np_check_text(&c, body);
  while (i < NP_COUNT(forms) && !np_str_is(format, forms[i].name)) i++;
  if (i == NP_COUNT(forms)) {
    return np_fail(e, NEAP_E_FORMAT, "no rules are known for format %.*s",
                   format.n > 40 ? 40 : (int)format.n, format.p);
  }
  np_buf_init(&c.text, a);
  np_arena_init(&c.arena, a);
  neap_rc rc = check_body(&c, &forms[i], body);
  if (c.text.failed && !rc) rc = np_fail_mem(e);
  np_buf_free(&c.text);
  np_arena_free(&c.arena);
  np_free(a, c.tools.slots);
  np_free(a, c.ids.slots);
  return rc;
}
