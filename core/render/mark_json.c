/*
** How many bytes of JSON the tokens allow: tries, each counted exactly as it would be shown,
** and the longest that fits is taken. next: frame.h
*/
#include "render/mark_json.h"

#include "text/text.h"

#define TRIES 9
#define GOOD 94 /* percent of the tokens: nearer is not looked for */

typedef struct search {
  np_view *v;
  const np_entry *en;
  const np_json_doc *doc;
  const np_trim_ask *ask;
  size_t all;   /* tokens of the text */
  size_t lines; /* that it may have */
  np_buf raw, shown, best;
  size_t got, got_lines; /* of the last try */
} search;

static size_t count(const search *s, np_str text) {
  return np_vocab_count(s->v->vocab, text);
}

/* The mark stands in a string: its quotes are single ones. */
static void add_mark(const search *s, size_t from, size_t to, size_t kept, np_buf *out) {
  np_str text = s->doc->text;
  size_t first = np_lines_count(np_str_cut(text, 0, from + 1));
  size_t last = np_lines_count(np_str_cut(text, 0, to));
  size_t at = out->n;
  np_mark_cut(s->v, s->en, (int64_t)(s->all > kept ? s->all - kept : 0), (int64_t)first,
              (int64_t)last, out);
  for (size_t i = at; i < out->n; i++) {
    if (out->p[i] == '"') out->p[i] = '\'';
  }
}

static void fill_mark(search *s, size_t from, size_t to) {
  np_str raw = np_buf_str(&s->raw);
  const char *place = memchr(raw.p, NP_TRIM_MARK, raw.n);
  size_t at = place ? (size_t)(place - raw.p) : raw.n;
  np_str before = np_str_cut(raw, 0, at), behind = np_str_cut(raw, at + 1, raw.n);
  np_buf_clear(&s->shown);
  np_buf_add(&s->shown, before);
  add_mark(s, from, to, count(s, before) + count(s, behind), &s->shown);
  np_buf_add(&s->shown, behind);
}

/* Renders at about so many bytes; *fits says whether that is within the limits. */
static bool try_bytes(search *s, size_t bytes, bool *fits) {
  np_json_ask ask = {s->v->vocab, s->ask, bytes, s->all};
  size_t from, to;
  np_buf_clear(&s->raw);
  if (!np_json_trim(s->doc, &ask, np_temp(s->v), &s->raw, &from, &to)) return false;
  fill_mark(s, from, to);
  np_str filled = np_view_text(s->v, np_buf_str(&s->shown), &s->v->scratch);
  if (s->shown.failed || s->v->scratch.failed) return false;
  s->got = count(s, filled);
  s->got_lines = np_lines_count(filled);
  *fits = s->got <= s->ask->tokens && s->got_lines <= s->lines;
  if (!*fits) return true;
  np_buf better = s->shown;
  s->shown = s->best;
  s->best = better;
  return true;
}

/* The part of `bytes` that `limit` is of `got`. */
static size_t scale(size_t bytes, size_t limit, size_t got) {
  uint64_t tenth = got ? (uint64_t)limit * 1024 / got : 1024;
  return (size_t)(bytes / 1024 * tenth + bytes % 1024 * tenth / 1024);
}

static size_t next_guess(const search *s, size_t bytes) {
  size_t a = scale(bytes, s->ask->tokens < s->all ? s->ask->tokens : s->all, s->got);
  size_t b = s->lines == SIZE_MAX ? SIZE_MAX : scale(bytes, s->lines, s->got_lines);
  return a < b ? a : b;
}

/* Between what fits and what does not: where the last try points to, else the middle. */
static bool find(search *s, bool *found) {
  size_t low = 0, high = s->doc->text.n, room = s->v->recall ? 52 : 36;
  size_t tokens = s->ask->tokens > room ? s->ask->tokens - room : 0;
  size_t bytes = scale(high, tokens < s->all ? tokens : s->all, s->all);
  bool fits;
  if (bytes >= high) bytes = high / 2; /* the lines are too many */
  for (int i = 0; i < TRIES && high > low; i++) {
    if (!try_bytes(s, bytes, &fits)) return false;
    *found |= fits;
    if (fits && s->got >= s->ask->tokens / 100 * GOOD) return true;
    if (fits) low = bytes;
    else high = bytes;
    size_t guess = next_guess(s, bytes);
    bytes = guess > low && guess < high ? guess : low + (high - low) / 2;
  }
  if (*found) return true;
  return try_bytes(s, 0, found);
}

neap_rc np_mark_json(np_view *v, const np_entry *en, const np_json_doc *doc, size_t all,
                     const np_trim_ask *ask, np_buf *out, bool *over, np_err *e) {
  search s = {.v = v, .en = en, .doc = doc, .ask = ask, .all = all};
  bool found = false;
  s.lines = ask->lines ? ask->lines : SIZE_MAX;
  np_buf_init(&s.raw, np_temp(v));
  np_buf_init(&s.shown, np_temp(v));
  np_buf_init(&s.best, np_temp(v));
  bool ok = find(&s, &found);
  if (ok && found) np_buf_add(out, np_buf_str(&s.best));
  *over = !found;
  np_buf_free(&s.raw);
  np_buf_free(&s.shown);
  np_buf_free(&s.best);
  return ok && !out->failed ? NEAP_OK : np_fail_mem(e);
}
