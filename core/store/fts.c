/*
** FTS5 and neap's words: a tokenizer that hands text/words.c's words to FTS5, parts at the
** place of their word and only while indexing. next: words.c
*/
#include "store/fts.h"

#include "text/words.h"

/* ---- the tokenizer ---- */

typedef int (*token_fn)(void *ctx, int flags, const char *word, int n, int from, int to);

typedef struct tokens {
  token_fn fn;
  void *ctx;
  size_t count;
} tokens;

static int pass_word(void *ctx, const np_word *w) {
  tokens *t = ctx;
  t->count++;
  return t->fn(t->ctx, w->part ? FTS5_TOKEN_COLOCATED : 0, w->text.p, (int)w->text.n,
               (int)w->from, (int)w->to);
}

/* A query's text is one unit (query.c), of which the first word is the whole: a path's own words
** are units by themselves. */
static int pass_unit(void *ctx, const np_word *w) {
  tokens *t = ctx;
  int rc = t->fn(t->ctx, 0, w->text.p, (int)w->text.n, (int)w->from, (int)w->to);
  t->count++;
  return rc ? rc : SQLITE_DONE;
}

static int create(void *ctx, const char **words, int n, Fts5Tokenizer **out) {
  (void)words;
  (void)n;
  *out = ctx; /* it has no state but the connection's counter */
  return SQLITE_OK;
}

static void destroy(Fts5Tokenizer *t) {
  (void)t;
}

static int run(Fts5Tokenizer *tokenizer, void *ctx, np_words_for use, np_str text,
               token_fn fn) {
  np_sqlite *sq = (np_sqlite *)(void *)tokenizer;
  tokens t = {.fn = fn, .ctx = ctx};
  np_word_fn pass = use == NP_WORDS_QUERY ? pass_unit : pass_word;
  int rc = text.n ? np_words_each(text, use, pass, &t) : 0;
  sq->counted = t.count;
  return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int tokenize(Fts5Tokenizer *tokenizer, void *ctx, int flags, const char *p, int n,
                    token_fn fn) {
  np_words_for use = (flags & FTS5_TOKENIZE_QUERY) ? NP_WORDS_QUERY : NP_WORDS_INDEX;
  return run(tokenizer, ctx, use, (np_str){p, n > 0 ? (size_t)n : 0}, fn);
}

/* What older stores are indexed by: a path is not looked for there, only its words. */
static int tokenize_plain(Fts5Tokenizer *tokenizer, void *ctx, int flags, const char *p,
                          int n, token_fn fn) {
  np_words_for use = (flags & FTS5_TOKENIZE_QUERY) ? NP_WORDS_QUERY : NP_WORDS_PLAIN;
  return run(tokenizer, ctx, use, (np_str){p, n > 0 ? (size_t)n : 0}, fn);
}

/* ---- the connection ---- */

/* NULL and no failure: there is none. */
static neap_rc find_api(np_sqlite *sq, fts5_api **api, np_err *e) {
  sqlite3_stmt *st = NULL;
  *api = NULL;
  int rc = sqlite3_prepare_v2(sq->db, "SELECT fts5(?1)", -1, &st, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite3_bind_pointer(st, 1, (void *)api, "fts5_api_ptr", NULL);
  if (rc == SQLITE_OK) rc = sqlite3_step(st);
  sqlite3_finalize(st);
  bool none = (rc & 0xFF) == SQLITE_ERROR; /* no such function */
  return rc == SQLITE_ROW || rc == SQLITE_DONE || none ? NEAP_OK : np_sq_fail(sq, rc, e);
}

neap_rc np_fts_ready(np_sqlite *sq, np_err *e) {
  fts5_tokenizer words = {create, destroy, tokenize};
  fts5_tokenizer plain = {create, destroy, tokenize_plain};
  if (sq->fts) return NEAP_OK;
  fts5_api *api;
  neap_rc found = find_api(sq, &api, e);
  if (found != NEAP_OK) return found;
  if (!api) {
    return np_sq_say(sq, NEAP_E_LIMIT,
                     "this SQLite is built without FTS5, so nothing can be searched; use "
                     "one with ENABLE_FTS5",
                     e);
  }
  int rc = api->xCreateTokenizer(api, "neap", sq, &plain, NULL);
  if (rc == SQLITE_OK) rc = api->xCreateTokenizer(api, "neap_paths", sq, &words, NULL);
  if (rc != SQLITE_OK) return np_sq_fail(sq, rc, e);
  sq->fts = api;
  return NEAP_OK;
}

/* Without a copy of the text, without FTS5's own table of sizes (docs have theirs), and
** without places: which entries hold a word is all that ranking needs (tests/bench/recall.lua
** finds no more with them), and the index is less than half as large. Segments are merged by
** eights, not by fours: a sixth less work for an index that is searched about as fast. */
neap_rc np_fts_make(np_sqlite *sq, np_err *e) {
  bool there = false;
  neap_rc rc = np_fts_ready(sq, e);
  if (rc == NEAP_OK) rc = np_fts_there(sq, &there, e);
  if (rc != NEAP_OK || there) return rc;
  return np_sq_exec(sq,
                    "CREATE VIRTUAL TABLE words USING fts5(body, content='',"
                    " columnsize=0, detail=none, tokenize='neap_paths');"
                    "INSERT INTO words(words, rank) VALUES('automerge', 8)",
                    e);
}

neap_rc np_fts_there(np_sqlite *sq, bool *there, np_err *e) {
  int64_t n = 0;
  neap_rc rc = NEAP_OK;
  if (!sq->words && sq->version >= 2)
    rc = np_sq_int(sq, "SELECT count(*) FROM sqlite_schema WHERE name = 'words'", &n, e);
  sq->words = sq->words || n > 0;
  *there = sq->words;
  return rc;
}
