/*
** Projections: what each choice keeps, on small texts by hand and on random ones by its
** promises. Uses the vocabularies of core/token/data (NEAP_VOCAB names another folder).
** next: test_pack.c
*/
#include "check.h"
#include "cite/cite.h"
#include "render/trim.h"
#include "text/text.h"

static np_vocab *vocab;
static const np_str gap = {"[...]", 5};

static np_str lit(const char *s) {
  return np_str_cstr(s);
}

static size_t count(np_str s) {
  return np_vocab_count(vocab, s);
}

static np_trim choose(np_arena *ar, np_str text, size_t limit, np_keep keep,
                      const char *about) {
  np_trim t;
  np_err e = {0};
  np_trim_ask ask = {.tokens = limit, .keep = keep, .about = lit(about)};
  neap_rc rc = np_trim_choose(vocab, text, &ask, gap, ar, &t, &e);
  CHECK("a projection is found", rc == NEAP_OK);
  return t;
}

/* The joined text, copied into the arena. */
static np_str joined(np_arena *ar, np_str text, const np_trim *t) {
  np_buf b;
  np_str s = {"", 0};
  np_buf_init(&b, &np_alloc_libc);
  np_trim_join(text, t, gap, &b);
  np_arena_copy(ar, np_buf_str(&b), &s);
  np_buf_free(&b);
  return s;
}

static np_str show(np_arena *ar, np_str text, size_t limit, np_keep keep,
                   const char *about) {
  np_trim t = choose(ar, text, limit, keep, about);
  return joined(ar, text, &t);
}

static bool has(np_str s, const char *part) {
  return np_str_find(s, lit(part), 0) != SIZE_MAX;
}

/* ---- by hand ---- */

static void names(void) {
  for (int k = NP_KEEP_ENDS; k <= NP_KEEP_ABOUT; k++) {
    np_keep got = NP_KEEP_ENDS;
    bool ok = np_keep_parse(lit(np_keep_name((np_keep)k)), &got);
    CHECK("a choice is found by its name", ok && got == (np_keep)k);
  }
  np_keep got;
  CHECK("an unknown name is refused", !np_keep_parse(lit("middle"), &got));
  CHECK("so is none", !np_keep_parse(lit(""), &got));
}

/* `lines` numbered lines, with `special` in place of line number `at`. */
static np_str numbered(np_arena *ar, size_t lines, size_t at, const char *special) {
  np_buf b;
  np_str s = {"", 0};
  np_buf_init(&b, &np_alloc_libc);
  for (size_t i = 1; i <= lines; i++) {
    char line[64];
    snprintf(line, sizeof line, "this is plain line %zu\n", i);
    np_buf_adds(&b, i == at ? special : line);
  }
  np_arena_copy(ar, np_buf_str(&b), &s);
  np_buf_free(&b);
  return s;
}

static void ends(void) {
  np_arena ar;
  np_arena_init(&ar, &np_alloc_libc);
  np_str text = numbered(&ar, 100, 0, "");
  np_trim t = choose(&ar, text, 60, NP_KEEP_ENDS, "");
  CHECK("ends are two ranges",
        t.count == 2 && t.kept[0].from == 0 && t.kept[1].to == text.n);
  size_t top = t.kept[0].line_to, bottom = 101 - t.kept[1].line_from;
  CHECK("of the same size, to a line", top - bottom + 1 <= 2);
  CHECK("that name their lines",
        t.lines == 100 && t.kept[0].line_from == 1 && t.kept[1].line_to == 100);
  CHECK("and what is cut", t.cut_from == t.kept[0].line_to + 1 &&
                               t.cut_to == t.kept[1].line_from - 1 && !t.whole);
  np_str s = joined(&ar, text, &t);
  CHECK("with the gap on its own line", has(s, "\n[...]\nthis is"));
  CHECK("within the limit, not far below", count(s) <= 60 && count(s) > 40);
  t = choose(&ar, text, 60, NP_KEEP_HEAD, "");
  CHECK("head is one range", t.count == 1 && t.kept[0].from == 0 && t.cut_to == 100);
  t = choose(&ar, text, 60, NP_KEEP_TAIL, "");
  CHECK("tail is one range", t.count == 1 && t.kept[0].to == text.n && t.cut_from == 1);
  t = choose(&ar, text, 100000, NP_KEEP_DENSE, "");
  CHECK("what fits is whole",
        t.whole && t.count == 1 && t.kept[0].to == text.n && !t.cut_to);
  t = choose(&ar, text, count(text), NP_KEEP_ENDS, "");
  CHECK("to the token", t.whole);
  t = choose(&ar, text, count(text) - 1, NP_KEEP_ENDS, "");
  CHECK("and not beyond", !t.whole && t.count == 2);
  t = choose(&ar, lit(""), 0, NP_KEEP_ENDS, "");
  CHECK("nothing is whole", t.whole && t.count == 0 && t.lines == 0);
  t = choose(&ar, text, 0, NP_KEEP_ERRORS, "");
  CHECK("a limit of 0 keeps nothing",
        !t.whole && t.count == 0 && t.cut_from == 1 && t.cut_to == 100);
  np_arena_free(&ar);
}

static void long_line(void) {
  np_arena ar;
  np_arena_init(&ar, &np_alloc_libc);
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  for (int i = 0; i < 2000; i++)
    np_buf_adds(&b,
                i % 3 ? "some words, " : "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB");
  np_str text = np_buf_str(&b);
  np_trim t = choose(&ar, text, 50, NP_KEEP_ENDS, "");
  CHECK("a long line is cut inside",
        t.count == 2 && t.kept[0].from == 0 && t.kept[1].to == text.n);
  np_str s = joined(&ar, text, &t);
  CHECK("close to the limit", count(s) <= 50 && count(s) >= 35);
  CHECK("in line 1", t.cut_from == 1 && t.cut_to == 1 && t.kept[1].line_from == 1);
  s = show(&ar, text, 40, NP_KEEP_DENSE, "");
  CHECK("other choices cut it too", s.n > 0 && count(s) <= 40);
  np_buf_free(&b);
  np_arena_free(&ar);
}

static void errors(void) {
  np_arena ar;
  np_arena_init(&ar, &np_alloc_libc);
  np_str text = numbered(&ar, 300, 150, "src/app.c:7: Error: no member named x\n");
  np_str s = show(&ar, text, 120, NP_KEEP_ERRORS, "");
  CHECK("keeps the error", has(s, "no member named x"));
  CHECK("with two lines around it", has(s, "line 148\n") && has(s, "line 149\n") &&
                                        has(s, "line 151\n") && has(s, "line 152\n"));
  CHECK("and the ends", has(s, "line 1\n") && has(s, "line 300\n"));
  text = numbered(&ar, 300, 200,
                  "Traceback (most recent call last):\n"
                  "  File \"a.py\", line 3, in <module>\n    main()\n"
                  "  File \"a.py\", line 2, in main\n    raise Odd(1)\n"
                  "a.Odd: 1\n");
  s = show(&ar, text, 160, NP_KEEP_ERRORS, "");
  CHECK("keeps a Python trace whole",
        has(s, "Traceback") && has(s, "raise Odd(1)\na.Odd: 1\n"));
  text = numbered(&ar, 300, 200,
                  "TypeError: x is not a function\n    at f (/app/x.js:3:4)\n"
                  "    at g (/app/y.js:5:6)\n    at main (/app/z.js:1:1)\n");
  s = show(&ar, text, 130, NP_KEEP_ERRORS, "");
  CHECK("keeps a JavaScript trace whole",
        has(s, "TypeError") && has(s, "at main (/app/z.js:1:1)"));
  text = numbered(&ar, 300, 200,
                  "all done: 0 errors, no warnings, terror, errorless, lib-error-dev, "
                  "error.rs, onError(x)\n");
  s = show(&ar, text, 60, NP_KEEP_ERRORS, "");
  CHECK("what denies an error is none", !has(s, "all done"));
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  for (int i = 0; i < 500; i++)
    np_buf_adds(&b, "x.c:1: warning: unused variable\nplain text here\n");
  np_buf_adds(&b, "x.c:9: fatal error: stop here\n");
  for (int i = 0; i < 500; i++) np_buf_adds(&b, "plain text after that\n");
  s = show(&ar, np_buf_str(&b), 100, NP_KEEP_ERRORS, "");
  CHECK("a thousand warnings do not hide an error", has(s, "fatal error: stop here"));
  np_buf_free(&b);
  np_arena_free(&ar);
}

static void about(void) {
  np_arena ar;
  np_arena_init(&ar, &np_alloc_libc);
  np_str text = numbered(&ar, 400, 222, "config: readTimeout = 30\n");
  np_str s = show(&ar, text, 60, NP_KEEP_ABOUT, "what is the read timeout?");
  CHECK("keeps the line that shares rare words", has(s, "readTimeout = 30"));
  CHECK("with a line around it", has(s, "line 221\n") && has(s, "line 223\n"));
  s = show(&ar, text, 60, NP_KEEP_ABOUT, "line 317");
  CHECK("a number is a word", has(s, "line 317\n"));
  CHECK("no shared word gives the ends",
        np_str_eq(show(&ar, text, 60, NP_KEEP_ABOUT, "zebra"),
                  show(&ar, text, 60, NP_KEEP_ENDS, "")));
  CHECK("so does no query", np_str_eq(show(&ar, text, 60, NP_KEEP_ABOUT, ""),
                                      show(&ar, text, 60, NP_KEEP_ENDS, "")));
  text = numbered(
      &ar, 400, 222,
      "\xE5\x8C\x97\xE4\xBA\xAC\xE9\xA5\xAD\xE5\xBA\x97\xE8\xAF\x84\xE5\x88\x86\n");
  s = show(&ar, text, 60, NP_KEEP_ABOUT,
           "\xE5\x93\xAA\xE4\xB8\xAA\xE9\xA5\xAD\xE5\xBA\x97");
  CHECK("CJK pairs are words", has(s, "\xE9\xA5\xAD\xE5\xBA\x97"));
  np_arena_free(&ar);
}

static void dense(void) {
  np_arena ar;
  np_arena_init(&ar, &np_alloc_libc);
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  for (int i = 0; i < 300; i++) {
    if (i % 50 == 25) {
      char line[64];
      snprintf(line, sizeof line, "file_%d.c user_%d 0x%04x\n", i, i + 1000, i * 77);
      np_buf_adds(&b, line);
    }
    np_buf_adds(&b, "src/same.c: checking that nothing has been changed here at all\n");
  }
  np_str text = np_buf_str(&b), s = show(&ar, text, 250, NP_KEEP_DENSE, "");
  size_t found = 0;
  for (int i = 25; i < 300; i += 50) {
    char name[32];
    snprintf(name, sizeof name, "user_%d", i + 1000);
    found += has(s, name);
  }
  CHECK("keeps the lines with new identifiers", found == 6);
  CHECK("and some head and tail",
        np_str_eq(np_str_cut(s, 0, 10), np_str_cut(text, 0, 10)));
  np_buf_free(&b);
  np_arena_free(&ar);
}

/* ---- promises, on random texts ---- */

static const char *const atoms[] = {
    "word ",
    "the ",
    "src/main.c:12: ",
    "Error: ",
    "warning ",
    "id_42 ",
    "1234 ",
    "\n",
    "\n",
    "\r\n",
    "\n\n",
    "    ",
    "\t",
    "{\"a\":1},",
    "\xE4\xB8\xAD\xE6\x96\x87",
    "\xE3\x80\x82",
    "e\xCC\x81",
    "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA6",
    "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA",
    "    at f (x.js:1:2)\n",
    "  File \"x.py\", line 1\n",
    "Traceback (most recent call last):\n",
    "\xFF",
    "\xC3",
    "\xE4\xB8",
    "-----",
    "aaaaaaaaaaaaaaaa",
    "[...]",
    "\xE0\xA4\x95\xE0\xA5\x8D\xE0\xA4\xB7"};

static np_str random_text(unsigned long long *rng, char *out, size_t parts) {
  size_t n = 0, one_line = check_random(rng) % 4 == 0;
  for (size_t i = 0; i < parts; i++) {
    const char *s = atoms[check_random(rng) % NP_COUNT(atoms)];
    if (one_line && strchr(s, '\n')) s = ", ";
    memcpy(out + n, s, strlen(s));
    n += strlen(s);
  }
  return np_str_of(out, n);
}

/* The line that holds byte `at`, newline included. */
static np_str line_at(np_str text, size_t at) {
  size_t from = at, to = at;
  while (from > 0 && text.p[from - 1] != '\n') from--;
  while (to < text.n && text.p[to] != '\n') to++;
  return np_str_cut(text, from, to + 1);
}

/* A border inside a line is right only where the whole line is over the limit. */
static bool border_ok(np_str text, size_t at, size_t limit) {
  if (at == 0 || at >= text.n) return true;
  if (np_utf8_floor(text, at) != at || np_grapheme_floor(text, at) != at) return false;
  return text.p[at - 1] == '\n' || count(line_at(text, at)) > limit;
}

static bool ranges_ok(np_str text, const np_trim *t, size_t limit) {
  size_t end = 0;
  for (size_t i = 0; i < t->count; i++) {
    const np_range *r = &t->kept[i];
    if (r->from >= r->to || r->to > text.n || (i && r->from <= end)) return false;
    if (!border_ok(text, r->from, limit) || !border_ok(text, r->to, limit)) return false;
    if (r->line_from != np_lines_count(np_str_cut(text, 0, r->from + 1))) return false;
    if (r->line_to != np_lines_count(np_str_cut(text, 0, r->to))) return false;
    end = r->to;
  }
  return true;
}

static bool cut_ok(np_str text, const np_trim *t) {
  size_t first = t->count && t->kept[0].from == 0 ? t->kept[0].to : 0;
  size_t last = t->count && t->kept[t->count - 1].to == text.n
                    ? t->kept[t->count - 1].from
                    : text.n;
  return t->cut_from == np_lines_count(np_str_cut(text, 0, first + 1)) &&
         t->cut_to == np_lines_count(np_str_cut(text, 0, last));
}

static size_t promise_broken(np_arena *ar, np_str text, size_t limit, np_keep keep) {
  np_trim t =
      choose(ar, text, limit, keep, "main error 1234 \xE4\xB8\xAD\xE6\x96\x87 fox");
  np_str s = joined(ar, text, &t);
  if (t.whole) return count(text) > limit || s.n != text.n || t.count != (text.n > 0);
  size_t wrong = 0;
  wrong += count(text) <= limit;
  wrong += count(s) > limit;
  wrong += limit == 0 && t.count > 0;
  wrong += t.lines != np_lines_count(text);
  wrong += !ranges_ok(text, &t, limit);
  wrong += !cut_ok(text, &t);
  np_trim again =
      choose(ar, text, limit, keep, "main error 1234 \xE4\xB8\xAD\xE6\x96\x87 fox");
  wrong += !np_str_eq(s, joined(ar, text, &again));
  return wrong;
}

static void promises(void) {
  static char raw[65536];
  unsigned long long rng = check_seed(31337);
  size_t wrong = 0, kept = 0, limits = 0;
  np_arena ar;
  np_arena_init(&ar, &np_alloc_libc);
  for (int round = 0; round < 250; round++) {
    np_str text = random_text(&rng, raw, check_random(&rng) % 400);
    size_t all = count(text);
    for (int k = 0; k < 8; k++) {
      np_keep keep = (np_keep)(check_random(&rng) % (NP_KEEP_ABOUT + 1));
      size_t limit = k < 4 ? check_random(&rng) % (all + 2) : check_random(&rng) % 30;
      size_t bad = promise_broken(&ar, text, limit, keep);
      if (bad) {
        fprintf(stderr, "round %d, limit %zu of %zu, keep %s: %zu promises broken\n",
                round, limit, all, np_keep_name(keep), bad);
      }
      wrong += bad;
      if (limit < 60 || limit >= all) continue;
      limits++;
      kept += count(show(&ar, text, limit, keep, "fox")) * 100 / limit;
    }
    np_arena_clear(&ar);
  }
  CHECK("every promise holds", wrong == 0);
  fprintf(stderr, "limits are used to %zu %%\n", limits ? kept / limits : 0);
  CHECK("limits are used, not undercut", limits > 100 && kept / limits > 70);
  np_arena_free(&ar);
}

/* ---- large inputs: no assertion on time, but quadratic work would not end ---- */

static void large(void) {
  size_t n = 10 << 20;
  char *p = malloc(n);
  if (!p) {
    check_skip("large texts", "out of memory");
    return;
  }
  static const char *const fill[] = {"path/to/file_%zu.c:%zu: note here\n",
                                     "%zu words, no newline, %zu; ",
                                     "a",
                                     "\n",
                                     "\xE4\xB8\xAD",
                                     "Error %zu: failed %zu\n",
                                     "\xF0\x9F\x87\xA9",
                                     "  at x%zu (y:%zu)\n",
                                     "    "};
  np_arena ar;
  np_arena_init(&ar, &np_alloc_libc);
  for (size_t f = 0; f < NP_COUNT(fill); f++) {
    size_t at = 0;
    for (size_t i = 0; at + 128 < n; i++) {
      char piece[96];
      size_t m = (size_t)snprintf(piece, sizeof piece, fill[f], i, i * 7919 % 100003);
      memcpy(p + at, piece, m);
      at += m;
    }
    for (int k = NP_KEEP_ENDS; k <= NP_KEEP_ABOUT; k++) {
      np_str s = show(&ar, np_str_of(p, at), 250, (np_keep)k, "file_77 words");
      CHECK("10 MB are cut to the limit", s.n > 0 && count(s) <= 250);
      np_arena_clear(&ar);
    }
  }
  np_arena_free(&ar);
  free(p);
}

/* ---- memory ---- */

typedef struct counter {
  size_t left, live;
} counter;

static void *count_malloc(void *ctx, size_t n) {
  counter *k = ctx;
  if (k->left == 0) return NULL;
  k->left--;
  void *p = malloc(n);
  k->live += p != NULL;
  return p;
}

static void *count_realloc(void *ctx, void *p, size_t old, size_t n) {
  (void)old;
  counter *k = ctx;
  if (k->left == 0) return NULL;
  k->left--;
  return realloc(p, n);
}

static void count_free(void *ctx, void *p) {
  counter *k = ctx;
  k->live -= p != NULL;
  free(p);
}

static void out_of_memory(void) {
  np_arena keep;
  np_arena_init(&keep, &np_alloc_libc);
  np_str text = numbered(&keep, 200, 100, "src/x_1.c: error: y_2\n");
  size_t failed = 0, bad = 0;
  for (int k = NP_KEEP_ENDS; k <= NP_KEEP_ABOUT; k++) {
    bool done = false;
    for (size_t left = 0; !done && left < 500; left++) {
      counter c = {left, 0};
      neap_alloc a = {count_malloc, count_realloc, count_free, &c};
      np_arena ar;
      np_trim t;
      np_err e = {0};
      np_trim_ask ask = {.tokens = 80, .keep = (np_keep)k, .about = lit("line 42")};
      np_arena_init(&ar, &a);
      neap_rc rc = np_trim_choose(vocab, text, &ask, gap, &ar, &t, &e);
      np_arena_free(&ar);
      done = rc == NEAP_OK;
      failed += rc == NEAP_E_MEMORY;
      bad += (rc && rc != NEAP_E_MEMORY) || c.live != 0;
    }
    bad += !done;
  }
  CHECK("every failing allocation is reported, and nothing leaks",
        bad == 0 && failed > 20);
  np_arena_free(&keep);
}

int main(void) {
  const char *dir = getenv("NEAP_VOCAB");
  np_err e = {0};
  neap_rc rc = np_vocab_open(&np_alloc_libc, dir ? dir : "core/token/data",
                             lit("o200k_base"), &vocab, &e);
  if (rc) fprintf(stderr, "%s\n", e.text);
  CHECK("the vocabulary opens", rc == NEAP_OK);
  if (rc) return check_done();
  names();
  ends();
  long_line();
  errors();
  about();
  dense();
  promises();
  large();
  out_of_memory();
  np_vocab_free(vocab);
  return check_done();
}
