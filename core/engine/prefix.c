/*
** A look at what begins every prompt. A provider finds a prompt in its cache only when it begins
** with the same bytes: a clock or a random id in the system text or the tools, or members in
** another order, and nothing is ever found. Said once a session, with the bytes. It changes
** nothing. next: tools.c
*/
#include "engine/engine.h"
#include "text/passing.h"

#define EACH_MOST 3          /* findings of one text */
#define QUOTE 48             /* bytes on either side of a difference */
#define KEPT_MOST (1u << 20) /* bytes of a prefix that are kept for the next session */

static void add_quote(np_buf *b, const char *name, np_str text) {
  np_buf_adds(b, name);
  np_json_quote(b, text);
}

static void begin_finding(np_buf *b, const char *what, const char *where) {
  np_buf_adds(b, b->n ? ",{\"what\":\"" : "{\"what\":\"");
  np_buf_adds(b, what);
  np_buf_adds(b, "\",\"where\":\"");
  np_buf_adds(b, where);
  np_buf_addc(b, '"');
}

/* ---- in one text ---- */

static void look_for_passing(np_buf *b, const char *where, np_str text) {
  size_t at = 0;
  for (int i = 0; i < EACH_MOST; i++) {
    np_passing found = np_passing_next(text, &at);
    if (!found.kind) return;
    begin_finding(b, found.kind == NP_PASSING_CLOCK ? "clock" : "id", where);
    add_quote(b, ",\"bytes\":", found.text);
    np_buf_addc(b, '}');
  }
}

/* ---- against the session before ---- */

#define DEPTH_MOST 64

/* Whether two values are the same but for the order of members. */
static bool is_same(np_json a, np_json b, int depth) {
  np_str key;
  np_json x, y;
  if (a.type != b.type) return false;
  if (np_str_eq(a.raw, b.raw)) return true;
  if ((a.type != NP_JSON_ARRAY && a.type != NP_JSON_OBJECT) || depth > DEPTH_MOST)
    return false;
  np_json_iter i = np_json_each(a), k = np_json_each(b);
  if (a.type == NP_JSON_ARRAY) {
    bool more = np_json_next(&i, NULL, &x), also = np_json_next(&k, NULL, &y);
    for (; more && also;
         more = np_json_next(&i, NULL, &x), also = np_json_next(&k, NULL, &y)) {
      if (!is_same(x, y, depth + 1)) return false;
    }
    return more == also;
  }
  size_t left = 0, right = 0;
  np_str other;
  while (np_json_next(&k, &other, &y)) right++;
  for (; np_json_next(&i, &key, &x); left++) {
    bool found = false;
    k = np_json_each(b);
    while (!found && np_json_next(&k, &other, &y)) found = np_str_eq(key, other);
    if (!found || !is_same(x, y, depth + 1)) return false;
  }
  return left == right;
}

static size_t common(np_str a, np_str b) {
  size_t n = 0;
  while (n < a.n && n < b.n && a.p[n] == b.p[n]) n++;
  return n;
}

/* The bytes around a place, cut between characters. */
static np_str around(np_str s, size_t at) {
  size_t from = at > QUOTE / 2 ? at - QUOTE / 2 : 0, to = at + QUOTE / 2;
  if (to > s.n) to = s.n;
  while (from > 0 && ((unsigned char)s.p[from] & 0xC0) == 0x80) from--;
  while (to < s.n && ((unsigned char)s.p[to] & 0xC0) == 0x80) to++;
  return np_str_cut(s, from, to);
}

/* Texts that share half their bytes are two editions of one; others are other programs. */
static void compare(np_buf *b, const char *where, np_str was, np_str now, bool json) {
  np_json x, y;
  size_t at = common(was, now);
  if (!was.n || !now.n || np_str_eq(was, now)) return;
  bool order = json && !np_json_check(was, &x, NULL) && !np_json_check(now, &y, NULL) &&
               is_same(x, y, 0);
  if (!order && at < now.n / 2) return;
  begin_finding(b, order ? "order" : "changed", where);
  add_quote(b, ",\"was\":", around(was, at));
  add_quote(b, ",\"bytes\":", around(now, at));
  np_buf_addc(b, '}');
}

/* ---- the session's own ---- */

/* Texts of the system messages, one behind the other. */
static void gather(const neap_session *s, np_buf *out) {
  for (size_t i = 0; i < s->log.entry_count; i++) {
    const np_entry *en = &s->log.entries[i];
    if (en->kind == NP_KIND_SYSTEM) np_buf_add(out, en->text);
  }
}

/* Keeps this prefix for the next session of the engine. */
static bool keep(np_buf *kept, np_str text) {
  np_buf_clear(kept);
  if (text.n <= KEPT_MOST) np_buf_add(kept, text);
  bool ok = !kept->failed;
  if (!ok) np_buf_clear(kept);
  return ok;
}

/* Texts are only added: another length is another prefix. */
static size_t prefix_size(const neap_session *s) {
  size_t n = 1 + s->tools.n;
  for (size_t i = 0; i < s->log.entry_count; i++) {
    if (s->log.entries[i].kind == NP_KIND_SYSTEM) n += s->log.entries[i].text.n;
  }
  return n;
}

neap_rc np_prefix_look(neap_session *s) {
  neap *n = s->engine;
  np_buf system, *b = &s->warnings;
  size_t size = s->turn ? 0 : prefix_size(s);
  if (s->turn || size == s->looked)
    return NEAP_OK; /* a prompt before may not have fitted */
  np_buf_clear(b);
  np_buf_init(&system, &n->alloc);
  gather(s, &system);
  look_for_passing(b, "system", np_buf_str(&system));
  look_for_passing(b, "tools", s->tools);
  bool ok = true;
  if (!(s->options.flags & NEAP_NO_LOG)) { /* replays are of different programs */
    mtx_lock(&n->lock);
    compare(b, "system", np_buf_str(&n->last_system), np_buf_str(&system), false);
    compare(b, "tools", np_buf_str(&n->last_tools), s->tools, true);
    ok = keep(&n->last_system, np_buf_str(&system)) && keep(&n->last_tools, s->tools);
    mtx_unlock(&n->lock);
  }
  ok = ok && !b->failed && !system.failed;
  np_buf_free(&system);
  s->looked = ok ? size : 0;
  return ok ? NEAP_OK : np_fail_mem(&s->err);
}
