/*
** Errors: the first stack trace, lines that speak of errors with two lines around them, then
** other warnings, then ends. Words are looked for in any case, as words of their own or as
** the end of a name ("TypeError"), not inside one. next: trim_about.c
*/
#include "base/hash.h"
#include "render/trim_plan.h"

#define CONTEXT 2
#define TRACE_GAP 1    /* lines between two frames that are none */
#define TRACE_HEAD 3   /* lines above the first frame where its error may stand */
#define SEEN_BITS 4096 /* errors told apart */

/* Scores. */
enum { AGAIN = 1, WARNING = 2, ERROR = 3 };

static const struct {
  const char *word;
  unsigned score;
} words[] = {
    {"error", ERROR},
    {"errors", ERROR},
    {"exception", ERROR},
    {"traceback", ERROR},
    {"fail", ERROR},
    {"failed", ERROR},
    {"failure", ERROR},
    {"failures", ERROR},
    {"fatal", ERROR},
    {"panic", ERROR},
    {"panicked", ERROR},
    {"err!", ERROR},
    {"segmentation fault", ERROR},
    {"assertion", ERROR},
    {"aborted", ERROR},
    {"denied", ERROR},
    {"undefined reference", ERROR},
    {"no such file", ERROR},
    {"warning", WARNING},
    {"warnings", WARNING},
    {"warn", WARNING},
};

#define BIT(c) (1u << ((c) - 'a'))
#define FIRST_LETTERS                                                                    \
  (BIT('a') | BIT('d') | BIT('e') | BIT('f') | BIT('n') | BIT('p') | BIT('s') |          \
   BIT('t') | BIT('u') | BIT('w'))

static bool is_letter(char c) {
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* A word may not go on as a longer word or a name: "error-attr", "error.rs", "errors/". At
** the end of a name it must be a heading ("TypeError: x"), not code ("onError(x)"). */
static bool ends_at(np_str s, size_t at, bool in_name) {
  if (at >= s.n) return true;
  char c = s.p[at];
  if (in_name) return c == ':' || c == ' ' || c == '\r' || c == '\n';
  if (c == '.') return at + 1 >= s.n || !is_letter(s.p[at + 1]);
  return !is_letter(c) && c != '_' && c != '-' && c != '/';
}

static bool stands_at(np_str s, size_t at, np_str word) {
  if (s.n - at < word.n) return false;
  for (size_t i = 0; i < word.n; i++) {
    if (lower(s.p[at + i]) != word.p[i]) return false;
  }
  return ends_at(s, at + word.n, at > 0 && is_letter(s.p[at - 1]));
}

/* "0 errors" and "no error" report none. */
static bool is_denied(np_str s, size_t at) {
  while (at > 0 && s.p[at - 1] == ' ') at--;
  if (at > 0 && s.p[at - 1] == '0')
    return at == 1 || s.p[at - 2] < '0' || s.p[at - 2] > '9';
  return at >= 2 && lower(s.p[at - 2]) == 'n' && lower(s.p[at - 1]) == 'o' &&
         (at == 2 || !is_letter(s.p[at - 3]));
}

/* A word may begin behind anything but a letter, and inside a name with a capital. */
static bool begins_at(np_str s, size_t at) {
  if (at == 0 || !is_letter(s.p[at - 1])) return true;
  return lower(s.p[at]) != s.p[at] && lower(s.p[at - 1]) == s.p[at - 1];
}

static unsigned word_score(np_str s, size_t at) {
  for (size_t i = 0; i < NP_COUNT(words); i++) {
    if (words[i].word[0] != lower(s.p[at])) continue;
    if (stands_at(s, at, np_str_cstr(words[i].word))) {
      return is_denied(s, at) ? 0 : words[i].score;
    }
  }
  return 0;
}

static unsigned line_score(np_str s) {
  unsigned best = 0;
  for (size_t i = 0; i < s.n && best < ERROR; i++) {
    char c = lower(s.p[i]);
    if (c < 'a' || c > 'w' || !(FIRST_LETTERS >> (c - 'a') & 1) || !begins_at(s, i))
      continue;
    unsigned k = word_score(s, i);
    if (k > best) best = k;
  }
  return best;
}

/* ---- stack traces ---- */

static bool starts(np_str s, const char *with) {
  size_t n = strlen(with);
  return s.n >= n && memcmp(s.p, with, n) == 0;
}

static np_str trimmed(np_str s) {
  while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) s = np_str_cut(s, 1, s.n);
  return s;
}

static bool is_indented(np_str s) {
  return s.n > 1 && (s.p[0] == ' ' || s.p[0] == '\t') && trimmed(s).p[0] > ' ';
}

/* One line of a trace in the usual languages: "  at f (x.js:1)", "  File "x.py", line 1",
** "	from x.rb:1", "#0 0x…", "	/x.go:1". */
static bool is_frame(np_str line) {
  np_str s = trimmed(line);
  bool in = s.n < line.n;
  if (s.n > 2 && s.p[0] == '#') return s.p[1] >= '0' && s.p[1] <= '9';
  if (!in) return false;
  return starts(s, "at ") || starts(s, "File \"") || starts(s, "from ") ||
         starts(s, "... ") || (line.p[0] == '\t' && s.p[0] == '/');
}

/* The end of the trace of which unit i is the first frame; *frames says how many it has. */
static size_t trace_end(const np_plan *p, size_t i, size_t *frames) {
  size_t end = i, gap = 0;
  *frames = 0;
  for (; i < p->n && gap <= TRACE_GAP; i++) {
    if (is_frame(np_plan_unit(p, i))) {
      ++*frames;
      end = i + 1;
      gap = 0;
    } else {
      gap++;
    }
  }
  while (end < p->n && is_indented(np_plan_unit(p, end)))
    end++; /* the last frame's source */
  return end;
}

/* The first trace with its error above (most languages) or below it (Python). */
static void find_trace(np_plan *p) {
  size_t frames = 0, from = 0, to = 0, least = 2;
  for (; from<p->n; from = to> from ? to : from + 1) {
    to = from;
    if (!is_frame(np_plan_unit(p, from))) continue;
    to = trace_end(p, from, &frames);
    bool python = from > 0 && starts(trimmed(np_plan_unit(p, from - 1)), "Traceback");
    if (python && to < p->n) to++;
    if (frames >= least || python) break;
  }
  if (from >= p->n) return;
  for (size_t k = 1; k <= TRACE_HEAD && k <= from; k++) {
    if (p->units[from - k].score < ERROR) continue;
    from -= k;
    break;
  }
  p->trace_from = from;
  p->trace_to = to;
}

/* ---- the choice ---- */

/* The line without its digits, so that a thousand alike are one. */
static uint64_t shape(np_str s) {
  char text[160];
  size_t n = 0;
  for (size_t i = 0; i < s.n && n < sizeof text; i++) {
    if (s.p[i] < '0' || s.p[i] > '9') text[n++] = s.p[i];
  }
  return np_hash64(np_str_of(text, n));
}

void np_errors_score(np_plan *p, bool *found) {
  uint64_t seen[SEEN_BITS / 64] = {0};
  p->trace_from = p->trace_to = 0;
  *found = false;
  for (size_t i = 0; i < p->n; i++) {
    np_str s = np_plan_unit(p, i);
    unsigned score = line_score(s);
    if (score == 0) continue;
    *found = true;
    uint64_t bit = shape(s) % SEEN_BITS, mask = 1ull << (bit & 63);
    if (seen[bit >> 6] & mask) score = AGAIN;
    seen[bit >> 6] |= mask;
    p->units[i].score = score;
  }
  find_trace(p);
  if (p->trace_to > p->trace_from) *found = true;
}

/* The trace may take the whole budget; of what it leaves, two thirds are for errors with the
** lines around them, the rest for errors alone. */
bool np_errors_keep(np_plan *p) {
  size_t budget = p->budget;
  for (size_t i = p->trace_from; i < p->trace_to && np_plan_take(p, i);) i++;
  p->budget = budget - (budget > p->used ? (budget - p->used) / 3 : 0);
  bool ok = np_plan_best(p, ERROR, CONTEXT);
  p->budget = budget;
  if (!ok || !np_plan_best(p, AGAIN, 0)) return false;
  np_plan_fill(p);
  return true;
}
