/*
** Projections of any bytes: random texts of every form, damaged ones too, by every kind of part
** and every limit. Ranges are in bounds, rise, cut no cluster, are shown byte for byte and in
** order; no more tokens than asked for; the same again. next: test_trim.c
*/
#include "project_help.h"

#define ROUNDS 4000
#define TEXT_MAX 6000

static unsigned long long state;

static size_t below(size_t n) {
  return (size_t)(check_random(&state) % n);
}

static const char *const pieces[] = {"\n",
                                     "\n",
                                     "\n",
                                     "\r\n",
                                     " ",
                                     "    ",
                                     "\t",
                                     "error",
                                     "timeout",
                                     "a,b,c",
                                     "1,\"x\ny\",3",
                                     "| a | b |",
                                     "|---|---|",
                                     "# Head",
                                     "## Sub",
                                     "```",
                                     "~~~~",
                                     "=====",
                                     "<h1>",
                                     "</h1>",
                                     "<!--",
                                     "-->",
                                     "<html>",
                                     "{\"a\":",
                                     "[1,2,3]",
                                     "}",
                                     "]",
                                     "{",
                                     "[",
                                     ",",
                                     ":",
                                     "\"",
                                     "\\",
                                     "null",
                                     "1e400",
                                     "NaN",
                                     "  File \"x.py\", line 3, in f",
                                     "Traceback (most recent call last):",
                                     "    at f (a.js:1:2)",
                                     "ValueError: no",
                                     "def f(x):",
                                     "static int f(void) {",
                                     "\xE4\xB8\xAD\xE6\x96\x87\xE5\xAD\x97",
                                     "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",
                                     "e\xCC\x81\xCC\x82",
                                     "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA",
                                     "\xFF",
                                     "\xE4\xB8",
                                     "\xCC\x81",
                                     "\xED\xA0\x80",
                                     "\xE0\xA4\x95\xE0\xA5\x8D\xE0\xA4\xB7",
                                     "12:00:01 worker 7 said hello"};

static np_str random_text(char *out) {
  size_t n = 0, most = below(4) ? below(400) : below(TEXT_MAX), one = below(3) ? 0 : 1;
  const char *again = pieces[below(NP_COUNT(pieces))];
  while (n + 80 < most) {
    size_t pick = below(10);
    if (pick == 0) {
      out[n++] = (char)below(256);
      continue;
    }
    const char *s = one && pick < 6 ? again : pieces[below(NP_COUNT(pieces))];
    size_t k = strlen(s);
    memcpy(out + n, s, k);
    n += k;
    if (pick == 1) out[n++] = '\n';
  }
  return np_str_of(out, n);
}

static const char *const words[] = {"",
                                    "all",
                                    "1-3",
                                    "2-",
                                    "-7",
                                    "5",
                                    "head 3",
                                    "tail 3",
                                    "ends 5",
                                    "ends 1",
                                    "head 500",
                                    "match error",
                                    "match -C 2 e",
                                    "match .",
                                    "match ^$",
                                    "match \\d+",
                                    "match [^a]{2,}",
                                    "match (?i)TIME|a",
                                    "match \xE4\xB8\xAD",
                                    "match -C 1 \\X",
                                    "errors",
                                    "json $",
                                    "json $..a",
                                    "json $.a",
                                    "json $[*]",
                                    "json $[1:3]",
                                    "json $..*",
                                    "json a[0]",
                                    "json $[-1]",
                                    "rows 1-2",
                                    "rows 2-",
                                    "section head",
                                    "section sub",
                                    "outline",
                                    "about error timeout",
                                    "about \xE4\xB8\xAD\xE6\x96\x87 7",
                                    "about x"};

/* Every kept range stands in what is shown, in order; numbered ones line by line. */
static bool shown_in_order(np_str text, const projected *r, np_extract_kind kind) {
  size_t at = 0;
  bool numbered = kind == NP_EXTRACT_MATCH || kind == NP_EXTRACT_OUTLINE;
  for (size_t i = 0; i < r->p.count; i++) {
    np_range k = r->p.kept[i];
    for (size_t from = k.from; from < k.to;) {
      size_t to = numbered ? np_line_end(text, from) : k.to;
      if (to > k.to) to = k.to;
      np_str part = np_str_cut(text, from, to);
      size_t hit = np_str_find(r->text, part, at);
      if (hit == SIZE_MAX) return false;
      at = hit + part.n;
      from = to;
    }
  }
  return true;
}

static void one_round(char *buf) {
  np_str text = random_text(buf);
  const char *w = words[below(NP_COUNT(words))];
  size_t tokens = below(3) == 0 ? NP_TRIM_ANY : below(2) ? below(40) : below(1500);
  np_extract what;
  np_err e;
  if (np_extract_parse(np_str_cstr(w), &what, &e)) {
    CHECK("the words are right", false);
    return;
  }
  projected r = project_what(text, &what, tokens);
  const char *fault = project_fault(text, &r, tokens);
  if (!fault && !shown_in_order(text, &r, what.kind)) fault = "a range is not shown";
  if (!fault && r.rc && (r.rc == NEAP_E_MEMORY || !r.err.text[0]))
    fault = "an odd failure";
  if (!fault && r.rc && np_utf8_valid(np_str_cstr(r.err.text)) != strlen(r.err.text))
    fault = "a message that is no UTF-8";
  if (fault)
    fprintf(stderr, "%s: %s, %zu tokens, text of %zu:\n%.*s\n--- shown:\n%.*s\n", fault,
            w, tokens, text.n, (int)text.n, text.p, (int)r.text.n, r.text.p);
  CHECK("what always holds of a projection", !fault);
}

/* The ranges of lines 1-k and (k+1)- are the text again. */
static void halves(char *buf) {
  np_str text = random_text(buf);
  size_t lines = np_lines_count(text), k = 1 + below(lines + 1);
  np_extract a = {.kind = NP_EXTRACT_LINES, .from = 1, .to = k}, b = a;
  b.from = k + 1;
  b.to = SIZE_MAX;
  if (k >= lines) return;
  projected r = project_what(text, &a, NP_TRIM_ANY);
  size_t n = r.text.n;
  bool ok = r.rc == NEAP_OK && np_str_eq(r.text, np_str_cut(text, 0, n));
  r = project_what(text, &b, NP_TRIM_ANY);
  ok = ok && r.rc == NEAP_OK && np_str_eq(r.text, np_str_cut(text, n, text.n));
  CHECK("two ranges are the whole", ok);
}

/* Any bytes as words. */
static void any_words(char *buf) {
  char text[64];
  np_str s = random_text(buf);
  size_t n = below(sizeof text);
  static const char *const starts[] = {"",      "json $",   "match ",
                                       "rows ", "section ", "head "};
  const char *start = starts[below(NP_COUNT(starts))];
  size_t k = strlen(start);
  memcpy(text, start, k);
  for (size_t i = k; i < n; i++)
    text[i] = below(3) ? "$.[]*:,'\"()\\?+-0123abc {}|^"[below(28)] : (char)below(256);
  np_extract what;
  np_err e = {0};
  if (np_extract_parse(np_str_of(text, n > k ? n : k), &what, &e)) {
    CHECK("wrong words have a message", e.code == NEAP_E_ARG && e.text[0]);
    return;
  }
  projected r = project_what(s, &what, below(100));
  CHECK("any words do no harm", r.rc || !project_fault(s, &r, 100));
}

int main(void) {
  const char *rounds = getenv("NEAP_ROUNDS");
  unsigned long n = rounds ? strtoul(rounds, NULL, 10) : ROUNDS;
  static char buf[TEXT_MAX + 100];
  state = check_seed(20);
  project_begin();
  for (unsigned long i = 0; i < n; i++) {
    one_round(buf);
    if (i % 8 == 0) halves(buf);
    any_words(buf);
  }
  project_end();
  return check_done();
}
