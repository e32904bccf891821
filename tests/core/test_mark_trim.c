/*
** What is shown of a trimmed entry: never more than was asked for, whole characters, and
** lines that repeat folded. By hand, and on random texts by its promises.
** next: test_pack.c
*/
#include "render/trim_fold.h"
#include "text/text.h"
#include "trim_session.h"

/* ---- by lines ---- */

static void add_lines(np_buf *b, int from, int to) {
  for (int i = from; i <= to; i++) {
    np_buf_adds(b, "line ");
    np_buf_int(b, i);
    np_buf_adds(b, " of ");
    for (int k = i; k; k /= 3) np_buf_addc(b, (char)('a' + k % 3));
    np_buf_addc(b, '\n');
  }
}

static void by_lines(void) {
  session s;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  add_lines(&b, 1, 100);
  open_session(&s, np_buf_str(&b));
  np_str t = trim(&s, (np_trim_ask){.tokens = NP_TRIM_ANY, .lines = 6});
  CHECK("six lines of both ends and a mark", np_lines_count(t) == 7);
  CHECK("the first ones", has(t, "line 1 of b\n") && has(t, "line 3 of ab\n"));
  CHECK("and the last ones", has(t, "line 98 of ") && has(t, "line 100 of "));
  CHECK("the mark says which lines are cut", has(t, "lines 4\xE2\x80\x93"
                                                    "97; neap_read(3, \"4-97\")]"));
  t = trim(&s, (np_trim_ask){.tokens = NP_TRIM_ANY, .lines = 6, .keep = NP_KEEP_TAIL});
  CHECK("six lines of the tail", np_lines_count(t) == 7 && has(t, "line 95 of "));
  t = trim(&s, (np_trim_ask){.tokens = NP_TRIM_ANY, .lines = 6, .keep = NP_KEEP_HEAD});
  CHECK("six lines of the head", np_lines_count(t) == 7 && has(t, "line 6 of "));
  t = trim(&s, (np_trim_ask){.tokens = NP_TRIM_ANY, .lines = 6, .keep = NP_KEEP_DENSE});
  CHECK("six dense lines", !s.whole && np_lines_count(t) <= 6 + 6);
  t = trim(&s, (np_trim_ask){.tokens = 70, .lines = 90});
  CHECK("the tokens hold too", np_vocab_count(vocab, t) <= 70 && t.n > 0);
  t = trim(&s, (np_trim_ask){.tokens = NP_TRIM_ANY, .lines = 100});
  CHECK("as many lines as there are is the whole", s.whole && t.n == 0);
  close_session(&s);
  np_buf_free(&b);
}

/* ---- folding ---- */

static void folding(void) {
  session s;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  np_buf_adds(&b, "begin\n");
  for (int i = 1; i <= 300; i++) {
    np_buf_adds(&b, "waiting for the server, try ");
    np_buf_int(&b, i);
    np_buf_adds(&b, "\n");
  }
  np_buf_adds(&b, "it is up\n");
  for (int i = 0; i < 40; i++) np_buf_adds(&b, "................\n");
  np_buf_adds(&b, "end\n");
  open_session(&s, np_buf_str(&b));
  np_str t = trim(&s, (np_trim_ask){.tokens = 200});
  CHECK("a run is its first line, a count, its last",
        has(t, "begin\nwaiting for the server, try 1\n\xE2\x80\xA6 298 lines like these\n"
               "waiting for the server, try 300\nit is up\n"));
  CHECK(
      "so are lines that are the same",
      has(t,
          "................\n\xE2\x80\xA6 38 lines like these\n................\nend\n"));
  CHECK("the mark names lines of the text", has(t, "lines 3\xE2\x80\x93"
                                                   "341; neap_read(3, \"3-341\")]"));
  t = trim(&s, (np_trim_ask){.tokens = 80, .keep = NP_KEEP_HEAD});
  CHECK("a cut behind a run names its line too", has(t, ", \"3-"));
  t = trim(&s, (np_trim_ask){
                   .tokens = 90, .keep = NP_KEEP_ABOUT, .about = lit("try 217 server")});
  CHECK("a query may ask for one of them", has(t, "try 217\n"));
  close_session(&s);
  np_buf_clear(&b);
  for (int i = 1; i <= 200; i++) {
    np_buf_int(&b, i * 7919 % 1000);
    np_buf_adds(&b, " 12 ok\n");
  }
  open_session(&s, np_buf_str(&b));
  t = trim(&s, (np_trim_ask){.tokens = 100});
  CHECK("rows of numbers are not folded", !has(t, "like these"));
  close_session(&s);
  np_buf_free(&b);
}

/* Every line of the folded text is a line of the text, at the place the map says. */
static bool fold_ok(np_str text, bool exact) {
  np_folded f;
  np_str rest, line;
  bool ok = np_fold_lines(text, exact, &np_alloc_libc, &f);
  size_t at = 0, next = 1, run = 0;
  rest = f.text;
  while (ok && np_line_next(&rest, &line)) {
    size_t from = np_folded_line(&f, ++at, false), to = np_folded_line(&f, at, true);
    ok = from == next && to >= from;
    next = to + 1;
    if (run < f.count && f.runs[run].at == at) {
      run++;
      ok = ok && to - from + 1 >= 3 && has(line, " lines like these");
    } else {
      np_str was = np_lines_slice(text, from, from);
      if (was.n && was.p[was.n - 1] == '\n') was.n--;
      ok = ok && from == to && np_str_eq(was, line);
    }
  }
  ok = ok && run == f.count && next == np_lines_count(text) + 1;
  np_folded_free(&f);
  return ok;
}

static void random_folds(unsigned long long *rng) {
  static const char *const lines[] = {"the same line again\n",
                                      "pump 12 is running now\n",
                                      "pump 7 is running now\n",
                                      "\n",
                                      "1 2 3 4 5 6\n",
                                      "x\n",
                                      "\xE4\xB8\xAD\xE6\x96\x87 9\n"};
  size_t wrong = 0;
  for (int round = 0; round < 2000; round++) {
    np_buf b;
    np_buf_init(&b, &np_alloc_libc);
    for (size_t i = check_random(rng) % 12; i > 0; i--) {
      size_t kind = check_random(rng) % NP_COUNT(lines), n = check_random(rng) % 9;
      for (size_t k = 0; k < n; k++)
        np_buf_adds(&b, lines[(kind + (k % 3 == 1)) % NP_COUNT(lines)]);
      for (size_t k = 0; k < n; k++) np_buf_adds(&b, lines[kind]);
    }
    if (b.n && check_random(rng) % 2) b.n--; /* no newline at the end */
    wrong += !fold_ok(np_buf_str(&b), false) || !fold_ok(np_buf_str(&b), true);
    np_buf_free(&b);
  }
  CHECK("folded lines are where they were", wrong == 0);
}

/* ---- promises ---- */

#define FAMILY                                                                           \
  "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7\xE2\x80\x8D" \
  "\xF0\x9F\x91\xA6"

static const char *const atoms[] = {
    "word ",
    "src/main.c:12: ",
    "Error: ",
    "1234 ",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\t",
    "\xE4\xB8\x8A\xE4\xB8\x8B\xE6\x96\x87",
    FAMILY,
    "e\xCC\x81",
    "{\"a\":[1,2]}",
    "at f (x.js:1:2)\n",
    "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA",
    "same line\nsame line\n",
    ("tick 1 of 900 done\ntick 2 of 900 done\ntick 3 of 900 done\ntick 4 of 900 done\n"
     "tick 5 of 900 done\ntick 6 of 900 done\n")};

static void random_text(unsigned long long *rng, np_buf *b) {
  size_t parts = check_random(rng) % 400;
  bool one_line = check_random(rng) % 5 == 0;
  np_buf_clear(b);
  for (size_t i = 0; i < parts; i++) {
    const char *a = atoms[check_random(rng) % NP_COUNT(atoms)];
    np_buf_adds(b, one_line && strchr(a, '\n') ? ", " : a);
  }
  if (b->n == 0) np_buf_adds(b, "empty");
}

/* A character cut in two would be a cluster that the text does not have at its border: every
** line of what is shown must be made of whole clusters of the text. */
static bool clusters_whole(np_str text, np_str shown) {
  np_str rest = shown, line;
  while (np_line_next(&rest, &line)) {
    if (line.n && line.p[line.n - 1] == '\r') line.n--; /* one cluster with its newline */
    size_t at = line.n ? np_str_find(text, line, 0) : SIZE_MAX;
    if (at == SIZE_MAX) continue; /* a mark, a gap */
    bool ok = false;
    for (; at != SIZE_MAX && !ok; at = np_str_find(text, line, at + 1)) {
      ok = np_grapheme_floor(text, at) == at &&
           np_grapheme_floor(text, at + line.n) == at + line.n;
    }
    if (!ok) return false;
  }
  return true;
}

static const char *broken(session *s, np_trim_ask ask) {
  np_str text = text_of(s), t = trim(s, ask);
  np_buf first;
  np_buf_init(&first, &np_alloc_libc);
  np_buf_add(&first, t);
  bool whole = s->whole;
  np_str again = trim(s, ask), shown = np_buf_str(&first);
  const char *wrong = NULL;
  size_t all = np_vocab_count(vocab, text);
  bool fits = all <= ask.tokens && (!ask.lines || np_lines_count(text) <= ask.lines);
  if (!np_str_eq(shown, again) || whole != s->whole) wrong = "not the same twice";
  else if (fits && !whole) wrong = "what fits is cut";
  else if (whole && shown.n) wrong = "a text though nothing is to be done";
  else if (whole && !fits && ask.tokens >= 64) wrong = "nothing is cut";
  else if (!whole && np_vocab_count(vocab, shown) > ask.tokens) wrong = "too many tokens";
  else if (np_utf8_valid(shown) != shown.n) wrong = "not UTF-8";
  else if (!whole && !has(shown, "[neap\xC2\xB7K7Q2 3: ")) wrong = "no mark";
  else if (!clusters_whole(text, shown)) wrong = "a cluster is cut";
  np_buf_free(&first);
  return wrong;
}

static void promises(unsigned long long *rng) {
  np_buf b;
  size_t wrong = 0;
  np_buf_init(&b, &np_alloc_libc);
  for (int round = 0; round < 150; round++) {
    session s;
    random_text(rng, &b);
    open_session(&s, np_buf_str(&b));
    size_t all = np_vocab_count(vocab, text_of(&s));
    for (int k = 0; k < 8; k++) {
      np_trim_ask ask = {.tokens = check_random(rng) % (k < 4 ? all + 2 : 120),
                         .lines = check_random(rng) % 3 ? 0 : 1 + check_random(rng) % 20,
                         .keep = (np_keep)(check_random(rng) % (NP_KEEP_ABOUT + 1)),
                         .about = lit("error 1234 tick 3")};
      if (ask.lines && k % 2) ask.tokens = NP_TRIM_ANY;
      const char *why = broken(&s, ask);
      if (!why) continue;
      wrong++;
      fprintf(stderr, "round %d: %zu of %zu tokens, %zu lines, keep %s: %s\n", round,
              ask.tokens, all, ask.lines, np_keep_name(ask.keep), why);
    }
    close_session(&s);
  }
  CHECK("every promise holds", wrong == 0);
  np_buf_free(&b);
}

/* Limits that fall everywhere in a text of letters of one to four bytes and long clusters. */
static void every_limit(void) {
  session s;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  for (int i = 0; i < 10000; i++)
    np_buf_adds(&b, "\xE4\xB8\x8A\xE4\xB8\x8B\xE6\x96\x87" FAMILY "e\xCC\x81");
  open_session(&s, np_buf_str(&b));
  size_t wrong = 0;
  for (size_t tokens = 64; tokens < 124; tokens++) {
    for (int k = NP_KEEP_ENDS; k <= NP_KEEP_TAIL; k++) {
      np_str t = trim(&s, (np_trim_ask){.tokens = tokens, .keep = (np_keep)k});
      wrong += s.whole || np_vocab_count(vocab, t) > tokens;
      wrong += np_utf8_valid(t) != t.n || !clusters_whole(text_of(&s), t);
    }
  }
  CHECK("wherever a limit falls, clusters stay whole", wrong == 0);
  close_session(&s);
  np_buf_free(&b);
}

int main(void) {
  unsigned long long rng = check_seed(20261130);
  vocab = golden_vocab("o200k_base");
  if (!vocab) return check_done();
  by_lines();
  folding();
  random_folds(&rng);
  promises(&rng);
  every_limit();
  np_vocab_free(vocab);
  return check_done();
}
