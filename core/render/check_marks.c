/*
** Anthropic's cache marks (prompt caching, AD): at most 4 in a request, the automatic one on
** top included; in the order tools, system, messages a mark of a longer life stands before
** those of a shorter. next: check_gemini.c
*/
#include "render/check_own.h"

#define MARKS_MAX 4

static neap_rc check_mark(np_checker *c, np_json holder) {
  np_json mark, type, ttl;
  if (!np_json_get(holder, "cache_control", &mark) || mark.type == NP_JSON_NULL)
    return NEAP_OK;
  np_json_get(mark, "type", &type);
  if (!np_json_is(type, "ephemeral")) return np_bad(c, "a cache mark of no known type");
  np_json_get(mark, "ttl", &ttl);
  bool longer = np_json_is(ttl, "1h");
  if (ttl.type && !longer && !np_json_is(ttl, "5m"))
    return np_bad(c, "a cache mark's ttl is 5m or 1h");
  if (++c->marks > MARKS_MAX) return np_bad(c, "more than %d cache marks", MARKS_MAX);
  if (longer && c->short_mark) return np_bad(c, "a mark of 1h behind one of 5m");
  c->short_mark = !longer;
  return NEAP_OK;
}

/* The marks of a list's items, and of the blocks inside a result. */
static neap_rc check_blocks(np_checker *c, const char *sub, np_json list) {
  np_json block, inner;
  neap_rc rc = NEAP_OK;
  np_json_iter it = np_json_each(list);
  for (size_t i = 0; !rc && np_json_next(&it, NULL, &block); i++) {
    c->sub = sub;
    if (sub) c->part = i;
    else c->item = i;
    if (np_json_get(block, "content", &inner) && inner.type == NP_JSON_ARRAY) {
      np_json part;
      np_json_iter parts = np_json_each(inner);
      while (!rc && np_json_next(&parts, NULL, &part)) rc = check_mark(c, part);
    }
    if (!rc) rc = check_mark(c, block);
  }
  return rc;
}

neap_rc np_check_marks(np_checker *c) {
  np_json list, m, content;
  neap_rc rc = NEAP_OK;
  np_checker_at(c, "tools", 0);
  if (np_json_get(c->root, "tools", &list)) rc = check_blocks(c, NULL, list);
  np_checker_at(c, "system", 0);
  if (!rc && np_json_get(c->root, "system", &list)) rc = check_blocks(c, NULL, list);
  np_json_get(c->root, "messages", &list);
  np_json_iter it = np_json_each(list);
  np_checker_at(c, "messages", 0);
  for (; !rc && np_json_next(&it, NULL, &m); np_checker_at(c, "messages", c->item + 1)) {
    if (np_json_get(m, "content", &content)) rc = check_blocks(c, "content", content);
    if (rc) return rc;
  }
  if (rc) return rc;
  np_checker_at(c, NULL, SIZE_MAX);
  return check_mark(c, c->root);
}
