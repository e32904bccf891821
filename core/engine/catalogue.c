/*
** Tools that are not shown: found by words with neap_tools, called through it at once, shown
** from the next rewrite on. What was looked for is read off the calls, so that a session read
** back from its log comes to the same. next: ../bind/session.c
*/
#include "engine/engine.h"

#define SCHEMAS 5 /* given in full for one query: about what a model compares */
#define NAMES 30  /* of further ones, by name alone */
#define QUERY 400 /* bytes of one that count: each word is looked for everywhere */

static bool get_text(np_json args, const char *key, np_buf *out) {
  np_json v;
  np_buf_clear(out);
  if (!np_json_get(args, key, &v) || v.type != NP_JSON_STRING) return false;
  np_json_text(v, out);
  return out->n > 0 && !out->failed;
}

/* ---- the search ---- */

/* Longer words are rarer words; one in the name says more than one in the description. */
static size_t score(const np_tool_item *i, np_str query) {
  np_str word;
  size_t n = 0;
  while (np_query_next(&query, &word)) {
    if (np_query_in(i->name, word)) n += 3 * word.n;
    else if (np_query_in(i->description, word)) n += word.n;
  }
  return n;
}

/* The best by score, the earlier ones first among equals, as far as they have two thirds of the
** first one's: a word that many tools share finds none of them. *match: how many have any. */
static size_t best(const np_toolset *t, np_str query, size_t found[SCHEMAS],
                   size_t *match) {
  size_t scores[SCHEMAS], n = 0;
  query = np_str_cut(query, 0, QUERY);
  *match = 0;
  for (size_t i = 0; i < t->count; i++) {
    size_t sc = t->items[i].ours ? 0 : score(&t->items[i], query);
    if (!sc) continue;
    ++*match;
    if (n == SCHEMAS && scores[n - 1] >= sc) continue;
    size_t at = n < SCHEMAS ? n++ : n - 1;
    for (; at && scores[at - 1] < sc; at--) {
      scores[at] = scores[at - 1];
      found[at] = found[at - 1];
    }
    scores[at] = sc;
    found[at] = i;
  }
  while (n && 3 * scores[n - 1] < 2 * scores[0]) n--;
  return n;
}

/* ---- the answer ---- */

static bool is_shown(const np_tool_item *i) {
  return i->bits & NP_TOOL_SHOWN;
}

/* Names of what is not shown, or of what matches but is not among the best. */
static void add_names(const np_toolset *t, np_str query, const size_t *found, size_t n,
                      np_buf *out) {
  size_t added = 0, more = 0;
  query = np_str_cut(query, 0, QUERY);
  for (size_t i = 0; i < t->count; i++) {
    const np_tool_item *it = &t->items[i];
    bool given = it->ours || (n ? !score(it, query) : is_shown(it));
    for (size_t k = 0; k < n; k++) given = given || found[k] == i;
    if (given) continue;
    if (added == NAMES) {
      more++;
      continue;
    }
    if (added++) np_buf_adds(out, ", ");
    np_buf_add(out, it->name);
  }
  if (more) np_buf_adds(out, " and ");
  if (more) np_buf_int(out, (int64_t)more);
  if (more) np_buf_adds(out, " more");
}

static bool any_hidden(const np_toolset *t) {
  for (size_t i = 0; i < t->count; i++) {
    if (!t->items[i].ours && !is_shown(&t->items[i])) return true;
  }
  return false;
}

static void add_none(const np_toolset *t, np_str query, np_buf *out) {
  np_buf_adds(out, query.n ? "No tool matches." : "Give words in \"query\".");
  if (!any_hidden(t)) {
    np_buf_adds(out, " All tools there are are listed already.");
    return;
  }
  np_buf_adds(out, " Not listed are: ");
  add_names(t, query, NULL, 0, out);
}

static void add_found(const np_toolset *t, np_str query, const size_t *found, size_t n,
                      size_t match, np_buf *out) {
  for (size_t k = 0; k < n; k++) {
    const np_tool_item *it = &t->items[found[k]];
    np_buf_add(out, it->name);
    np_buf_adds(out, is_shown(it) ? " (listed already; call it by its name): " : ": ");
    np_buf_add(out, it->raw);
    np_buf_addc(out, '\n');
  }
  if (match > n) {
    np_buf_adds(out, "Also: ");
    add_names(t, query, found, n, out);
    np_buf_addc(out, '\n');
  }
  np_buf_adds(out, "Call one that is not listed by neap_tools with \"call\" and "
                   "\"arguments\".");
}

void np_catalogue_answer(neap_session *s, np_json args, np_buf *out) {
  const np_toolset *t = &s->pack.tools;
  size_t found[SCHEMAS], match;
  np_buf text;
  np_buf_init(&text, &s->engine->alloc);
  if (get_text(args, "call", &text)) { /* else it were the host's to run */
    np_buf_adds(out, "There is no tool of the name ");
    np_json_quote(out, np_buf_str(&text));
    np_buf_adds(out, "; look for one with \"query\".");
  } else {
    get_text(args, "query", &text);
    np_str query = np_buf_str(&text);
    size_t n = best(t, query, found, &match);
    if (n) add_found(t, query, found, n, match, out);
    else add_none(t, query, out);
  }
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

/* ---- calls ---- */

void np_catalogue_pass(neap_session *s, neap_call *c) {
  np_json args, inner;
  size_t from, to;
  if (!np_str_is(c->name, "neap_tools") || np_json_check(c->arguments, &args, NULL))
    return;
  if (args.type != NP_JSON_OBJECT || !get_text(args, "call", &s->text)) return;
  if (!np_toolset_find(&s->pack.tools, np_buf_str(&s->text), &from, &to)) return;
  const np_tool_item *it = np_toolset_at(&s->pack.tools, from);
  if (it->ours) return;
  c->name = it->name;
  c->arguments = NP_LIT("{}");
  if (!np_json_get(args, "arguments", &inner) || inner.type == NP_JSON_NULL) return;
  c->arguments = inner.raw;
  /* models also write the object as a string; it lives as long as other arguments do */
  np_str kept;
  if (get_text(args, "arguments", &s->text) &&
      np_arena_copy(&s->arena, np_buf_str(&s->text), &kept))
    c->arguments = kept;
}

static void note_found(np_toolset *t, np_str name) {
  size_t from, to;
  if (!np_toolset_find(t, name, &from, &to)) return;
  for (; from < to; from++) np_toolset_at(t, from)->bits |= NP_TOOL_FOUND;
}

static void note_query(np_toolset *t, np_str query) {
  size_t found[SCHEMAS], match, n = best(t, query, found, &match);
  for (size_t k = 0; k < n; k++) t->items[found[k]].bits |= NP_TOOL_FOUND;
}

/* A call of neap_tools: what it finds or calls is to be shown. */
static bool note_search(neap_session *s, const np_entry *en) {
  np_json args;
  np_buf text;
  if (np_json_check(en->text, &args, NULL) || args.type != NP_JSON_OBJECT) return true;
  np_buf_init(&text, &s->engine->alloc);
  if (get_text(args, "call", &text)) note_found(&s->pack.tools, np_buf_str(&text));
  else if (get_text(args, "query", &text)) note_query(&s->pack.tools, np_buf_str(&text));
  bool ok = !text.failed;
  np_buf_free(&text);
  return ok;
}

/* One that is called though it is not shown: the model knows it all the same. */
static void note_call(np_toolset *t, const np_entry *en) {
  size_t from, to;
  if (!np_toolset_find(t, en->tool, &from, &to)) return;
  for (; from < to; from++) {
    np_tool_item *it = np_toolset_at(t, from);
    it->calls++;
    it->last = en->step;
    if (!is_shown(it)) it->bits |= NP_TOOL_FOUND;
  }
}

neap_rc np_catalogue_seen(neap_session *s) {
  np_toolset *t = &s->pack.tools;
  bool offered = np_toolset_has(t, "neap_tools");
  for (; t->count && t->seen < s->log.entry_count; t->seen++) {
    const np_entry *en = &s->log.entries[t->seen];
    if (en->kind != NP_KIND_CALL) continue;
    if (!offered || !np_str_is(en->tool, "neap_tools")) note_call(t, en);
    else if (!note_search(s, en)) return np_fail_mem(&s->err);
  }
  return NEAP_OK;
}

neap_rc np_catalogue_settle(neap_session *s, bool now) {
  return np_pack_tools_settle(&s->pack, now) == NP_NO_MEMORY ? np_fail_mem(&s->err)
                                                             : NEAP_OK;
}

/* ---- the log ---- */

static bool is_untouched(const np_toolset *t) {
  for (size_t i = 0; i < t->count; i++) {
    if (t->items[i].bits != (NP_TOOL_SHOWN | NP_TOOL_WANTED)) return false;
  }
  return true;
}

static void add_shown(const np_toolset *t, np_buf *b) {
  char sep = '[';
  np_buf_adds(b, "{\"shown\":");
  for (size_t i = 0; i < t->count; i++) {
    if (!is_shown(&t->items[i])) continue;
    np_buf_addc(b, sep);
    np_json_quote(b, t->items[i].name);
    sep = ',';
  }
  np_buf_adds(b, sep == '[' ? "[]}" : "]}");
}

neap_rc np_catalogue_queue(neap_session *s) {
  np_toolset *t = &s->pack.tools;
  np_buf head;
  if (!s->toolset.n && is_untouched(t)) return NEAP_OK;
  np_buf_clear(&t->saved);
  np_toolset_save(t, &t->saved);
  if (np_str_eq(np_buf_str(&t->saved), np_buf_str(&s->toolset)) && !t->saved.failed)
    return NEAP_OK;
  np_buf_init(&head, &s->engine->alloc);
  add_shown(t, &head);
  np_buf_clear(&s->toolset);
  np_buf_add(&s->toolset, np_buf_str(&t->saved));
  bool failed = head.failed || t->saved.failed || s->toolset.failed;
  neap_rc rc = failed ? np_fail_mem(&s->err)
                      : np_session_queue(s, NP_EV_TOOLSET, np_buf_str(&head),
                                         np_buf_str(&s->toolset));
  np_buf_free(&head);
  return rc;
}

neap_rc np_catalogue_lay(neap_session *s) {
  if (!s->toolset.n) return NEAP_OK;
  if (np_pack_tools_load(&s->pack, np_buf_str(&s->toolset))) return NEAP_OK;
  if (s->pack.view.lost) return np_fail_mem(&s->err);
  return np_fail(&s->err, NEAP_E_CORRUPT,
                 "session %s: a turn has other tools than the session; check the store",
                 s->name);
}

/* ---- the account ---- */

static void add_moved(const np_toolset *t, np_str before, bool came, np_buf *b) {
  char sep = '[';
  for (size_t i = 0; i < t->count; i++) {
    bool was = ((unsigned char)before.p[i] - (unsigned)'0') & NP_TOOL_SHOWN;
    if (was == is_shown(&t->items[i]) || was == came) continue;
    if (sep == '[') np_buf_adds(b, came ? ",\"added\":" : ",\"removed\":");
    np_buf_addc(b, sep);
    np_json_quote(b, t->items[i].name);
    sep = ',';
  }
  if (sep != '[') np_buf_addc(b, ']');
}

/* How many are shown, how many not, tokens of the list; what a turn has changed, and why. */
void np_catalogue_account(const neap_session *s, np_buf *b) {
  const np_toolset *t = &s->pack.tools;
  const np_change *first = NULL, *last = NULL;
  int64_t shown = 0;
  if (!t->count) return;
  for (size_t i = 0; i < t->count; i++) shown += is_shown(&t->items[i]) ? 1 : 0;
  for (size_t i = 0; i < s->pack.change_count; i++) {
    if (s->pack.changes[i].flag != NP_FLAG_TOOLS) continue;
    last = &s->pack.changes[i];
    if (!first) first = last;
  }
  np_buf_adds(b, ",\"tools\":{\"shown\":");
  np_buf_int(b, shown);
  np_buf_adds(b, ",\"hidden\":");
  np_buf_int(b, (int64_t)t->count - shown);
  np_buf_adds(b, ",\"tokens\":");
  np_buf_int(b, s->pack.view.tools_cost);
  size_t from = b->n;
  if (first) add_moved(t, first->text_before, true, b);
  if (first) add_moved(t, first->text_before, false, b);
  if (last && b->n > from) {
    np_buf_adds(b, ",\"why\":");
    np_json_quote(b, last->why);
    np_buf_adds(b, ",\"by\":");
    np_json_quote(b, last->by);
  }
  np_buf_addc(b, '}');
}
