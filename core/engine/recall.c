/*
** Finding again: the tool neap_recall, what a policy's hooks ask, and the host's searches, all
** by the store's one index of words. next: asks.c
*/
#include "engine/words.h"

#include "render/trim.h"
#include "text/text.h"

/* ---- neap_recall ---- */

#define HITS 3         /* entries given back: more is noise, fewer miss; */
#define HIT_TOKENS 375 /* of each; 1,500 characters, both as in the founding design */

/* What the policy's recall hook finds, or the index when it has none or the hook fails; a
** hook that fails is noted. */
static neap_rc find_ids(neap_session *s, np_str query, int64_t ids[HITS], size_t *n,
                        size_t *voided, np_err *e) {
  np_err hook = {0};
  *voided = 0;
  if (np_policy_has(s->policy, "recall") && s->turn &&
      !np_view_sync(&s->pack.view, &hook)) {
    if (!np_policy_recall(s->policy, query, ids, HITS, n, &hook)) return NEAP_OK;
    np_hook_error(s, &hook);
  }
  np_hit hits[NP_HITS_MAX];
  neap_rc rc = np_words_recall(s, query, hits, HITS, n, voided, e);
  for (size_t i = 0; i < *n; i++) ids[i] = hits[i].entry;
  return rc;
}

/* The parts of the text that are about the query, in whole lines where they fit. */
static neap_rc add_text(neap_session *s, const np_entry *en, np_str query, bool *whole,
                        np_buf *out) {
  np_arena ar;
  np_trim t;
  np_trim_ask ask = {.tokens = HIT_TOKENS, .keep = NP_KEEP_ABOUT, .about = query};
  np_str gap = NP_LIT("\xE2\x80\xA6");
  np_arena_init(&ar, &s->engine->alloc);
  neap_rc rc = np_trim_choose(s->vocab, en->text, &ask, gap, &ar, &t, &s->err);
  if (rc == NEAP_OK) {
    *whole = t.whole;
    np_trim_join(en->text, &t, gap, out);
  }
  np_arena_free(&ar);
  return rc;
}

static neap_rc add_hit(neap_session *s, const np_entry *en, np_str query, np_buf *out) {
  np_buf text;
  bool whole = true;
  np_buf_init(&text, &s->engine->alloc);
  neap_rc rc = add_text(s, en, query, &whole, &text);
  np_buf_adds(out, "[step ");
  np_buf_int(out, en->step);
  np_buf_adds(out, ", entry ");
  np_buf_int(out, en->id);
  if (!whole) {
    np_buf_adds(out, "; in part, neap_read(");
    np_buf_int(out, en->id);
    np_buf_adds(out, ") gives all");
  }
  np_buf_adds(out, "]\n");
  if (en->voided) np_back_tell(s, en, out); /* a policy's hook may find what it likes */
  np_buf_add(out, np_buf_str(&text));
  if (text.failed) out->failed = true;
  np_buf_free(&text);
  return rc;
}

/* What keeps the index from being asked is said to the model and to the host. */
static neap_rc add_failure(neap_session *s, const np_err *e, np_buf *out) {
  if (e->code == NEAP_E_MEMORY) return np_fail_mem(&s->err);
  np_hook_error(s, e);
  np_buf_adds(out, "Earlier steps cannot be searched now (");
  np_buf_adds(out, e->text);
  np_buf_adds(out, "). neap_read gives an entry by its number.");
  return NEAP_OK;
}

static const char no_hit[] =
    "No earlier step matches. Try other words: names, error codes, file names.";
static const char no_words[] = "Give words in \"query\": names, error codes, file names.";
static const char no_hit_chinese[] =
    "未命中任何历史步骤。可换用更具体的关键词（服务名、错误码、文件名）。";

static bool has_cjk(np_str text) {
  text = np_str_cut(text, 0, 4096);
  for (size_t at = 0, n; at < text.n; at += n) {
    if (np_is_cjk(np_utf8_decode(text.p + at, text.p + text.n, &n))) return true;
  }
  return false;
}

/* What was rolled back is no fact, and that it is left out is said. */
static void add_voided(size_t n, bool chinese, np_buf *out) {
  np_buf_adds(out, chinese ? "\n[另有 " : "\n[");
  np_buf_int(out, (int64_t)n);
  if (chinese) np_buf_adds(out, " 条匹配的内容已被回滚，不予显示。]");
  else
    np_buf_adds(out,
                n == 1 ? " more entry that matches was rolled back and is left out.]"
                       : " more entries that match were rolled back and are left out.]");
}

static neap_rc answer(neap_session *s, np_str query, np_buf *out) {
  int64_t ids[HITS];
  size_t n = 0, voided = 0;
  np_err e = {0};
  neap_rc rc = find_ids(s, query, ids, &n, &voided, &e);
  if (rc) return add_failure(s, &e, out);
  if (!n) np_buf_adds(out, has_cjk(query) ? no_hit_chinese : no_hit);
  for (size_t i = 0; !rc && i < n; i++) {
    if (i) np_buf_adds(out, "\n---\n");
    rc = add_hit(s, np_log_entry(&s->log, ids[i]), query, out);
  }
  if (voided) add_voided(voided, has_cjk(query), out);
  return rc;
}

static bool is_blank(np_str text) {
  size_t at = 0;
  while (at < text.n && (text.p[at] == ' ' || text.p[at] == '\n')) at++;
  return at == text.n;
}

neap_rc np_recall_answer(neap_session *s, np_json args, np_buf *out) {
  np_json v;
  np_buf query;
  np_buf_init(&query, &s->engine->alloc);
  if (np_json_get(args, "query", &v)) {
    if (v.type == NP_JSON_STRING) np_json_text(v, &query);
    if (v.type == NP_JSON_NUMBER) np_buf_add(&query, v.raw);
  }
  neap_rc rc = NEAP_OK;
  if (query.failed) rc = np_fail_mem(&s->err);
  else if (is_blank(np_buf_str(&query))) np_buf_adds(out, no_words);
  else rc = answer(s, np_buf_str(&query), out);
  np_buf_free(&query);
  return rc;
}

/* ---- policies ---- */

neap_rc np_recall_search(void *ctx, np_str query, int64_t *ids, size_t room, size_t *n,
                         np_err *e) {
  np_hit hits[NP_HITS_MAX];
  neap_rc rc = np_words_recall(ctx, query, hits, room, n, NULL, e);
  for (size_t i = 0; i < *n; i++) ids[i] = hits[i].entry;
  return rc;
}

/* ---- hosts ---- */

#define SNIPPET 160 /* characters: a preview's length */
#define K_PLAIN 10

/* What is given of a hit, and to whom. */
typedef struct giving {
  np_str query;
  neap_hit_fn fn;
  void *ctx;
} giving;

static void give(const np_hit *h, np_str text, bool voided, const giving *g, np_buf *b) {
  np_buf_clear(b);
  np_snippet(text, g->query, SNIPPET, b);
  neap_hit hit = {h->session, h->entry, h->step, h->score, np_buf_str(b), voided};
  if (!b->failed) g->fn(g->ctx, &hit);
}

static size_t how_many(size_t k) {
  if (k == 0) return K_PLAIN;
  return k < NP_HITS_MAX ? k : NP_HITS_MAX;
}

neap_rc neap_session_recall(neap_session *s, neap_str query, size_t k, neap_hit_fn fn,
                            void *ctx) {
  np_hit hits[NP_HITS_MAX];
  size_t n = 0;
  np_buf b;
  neap_rc rc = np_session_enter_text(s, &query);
  if (rc) return rc;
  if (!fn) {
    rc = np_fail(&s->err, NEAP_E_ARG, "the function that takes the hits is NULL");
    return np_session_leave(s, rc);
  }
  np_buf_init(&b, &s->engine->alloc);
  rc = np_words_recall(s, query, hits, how_many(k), &n, NULL, &s->err);
  for (size_t i = 0; !rc && i < n; i++) {
    give(&hits[i], np_log_entry(&s->log, hits[i].entry)->text, false,
         &(giving){query, fn, ctx}, &b);
    if (b.failed) rc = np_fail_mem(&s->err);
  }
  np_buf_free(&b);
  return np_session_leave(s, rc);
}

/* Sessions that the index has not come up to, by name. */
typedef struct behind {
  neap *n;
  np_str only;  /* empty: all of them */
  np_buf names; /* each with a NUL behind it */
  size_t count;
  bool found;
  np_err *err;
} behind;

static neap_rc look(void *ctx, const np_session_row *row) {
  behind *b = ctx;
  np_indexed at;
  np_store *st = b->n->store;
  if (b->only.n && !np_str_eq(b->only, row->name)) return NEAP_OK;
  b->found = true;
  neap_rc rc = st->ops->indexed(st, np_str_cstr(b->n->tenant), row->name, &at, b->err);
  if (rc || at.seq >= row->events) return rc;
  np_buf_add(&b->names, row->name);
  np_buf_addc(&b->names, '\0');
  b->count++;
  return b->names.failed ? np_fail_mem(b->err) : NEAP_OK;
}

static neap_rc fail_behind(const behind *b, np_err *e) {
  return np_fail(e, NEAP_E_READONLY,
                 "%zu session%s of the store hold%s what is not indexed yet; open the "
                 "store once for writing and search again",
                 b->count, b->count == 1 ? "" : "s", b->count == 1 ? "s" : "");
}

/* Brings the index up to what is in the store, or says that it is not. */
static neap_rc catch_up(neap *n, np_str session, np_err *e) {
  np_store *st = n->store;
  behind b = {.n = n, .only = session, .err = e};
  np_buf_init(&b.names, &n->alloc);
  neap_rc rc = st->ops->sessions(st, np_str_cstr(n->tenant), look, &b, e);
  if (!rc && session.n && !b.found) {
    rc =
        np_fail(e, NEAP_E_NOTFOUND, "there is no session %.*s; check its name and tenant",
                (int)session.n, session.p);
  }
  if (!rc && b.count && (n->flags & NEAP_READONLY)) rc = fail_behind(&b, e);
  for (size_t at = 0; !rc && at < b.names.n;) {
    np_str name = np_str_cstr(b.names.p + at);
    rc = np_words_catch_up(n, name, e);
    at += name.n + 1;
  }
  np_buf_free(&b.names);
  return rc;
}

typedef struct body {
  np_buf text;
  int64_t seq;
  int32_t part;
  const neap_alloc *alloc;
} body;

/* The hit's own event, and no further. */
static neap_rc take_body(void *ctx, const np_event *ev, bool purged) {
  body *b = ctx;
  if (ev->seq == b->seq && !purged)
    np_words_text((void *)(uintptr_t)b->alloc, ev->body, b->part, &b->text);
  return NEAP_E_LIMIT;
}

static neap_rc give_stored(neap *n, const np_hit *h, bool voided, const giving *g,
                           np_err *e) {
  np_store *st = n->store;
  body b = {.seq = h->seq, .part = h->part, .alloc = &n->alloc};
  np_buf line;
  np_buf_init(&b.text, &n->alloc);
  np_buf_init(&line, &n->alloc);
  neap_rc rc =
      st->ops->read(st, np_str_cstr(n->tenant), h->session, h->seq, take_body, &b, e);
  if (rc == NEAP_E_LIMIT) rc = NEAP_OK;
  if (!rc) give(h, np_buf_str(&b.text), voided, g, &line);
  if (!rc && (b.text.failed || line.failed)) rc = np_fail_mem(e);
  np_buf_free(&b.text);
  np_buf_free(&line);
  return rc;
}

neap_rc neap_recall(neap *n, const char *session, neap_str query, size_t k,
                    neap_hit_fn fn, void *ctx) {
  np_hit hits[NP_HITS_MAX];
  bool voided[NP_HITS_MAX];
  np_err e = {0};
  np_buf names;
  size_t count = 0;
  if (!n || !fn || (query.n && !query.p)) return NEAP_E_ARG;
  if (!n->store) return n->error.code ? n->error.code : NEAP_E_MISUSE;
  np_find find = {np_str_cstr(n->tenant), np_str_cstr(session), query, how_many(k)};
  np_buf_init(&names, &n->alloc);
  neap_rc rc = catch_up(n, find.session, &e);
  if (!rc) rc = n->store->ops->find(n->store, &find, hits, &count, &names, &e);
  if (!rc) rc = np_voided_hits(n, hits, count, voided, &e);
  for (size_t i = 0; !rc && i < count; i++)
    rc = give_stored(n, &hits[i], voided[i], &(giving){query, fn, ctx}, &e);
  np_buf_free(&names);
  return rc ? np_engine_fail(n, &e) : NEAP_OK;
}
