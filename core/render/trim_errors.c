/*
** Errors: the first stack trace, lines that speak of errors with two lines around them, then
** other warnings, then ends. What counts is in text/errors.h. next: trim_about.c
*/
#include "base/hash.h"
#include "render/trim_plan.h"
#include "text/errors.h"

#define CONTEXT 2
#define TRACE_GAP 1    /* lines between two frames that are none */
#define TRACE_HEAD 6   /* lines above the first frame where its error may stand */
#define SEEN_BITS 4096 /* errors told apart */

/* Scores: a line like one that was there, and those of text/errors.h. */
enum { AGAIN = 1, WARNING = NP_ERROR_WARNING, ERROR = NP_ERROR_LINE };

/* ---- stack traces ---- */

static bool starts(np_str s, const char *with) {
  size_t n = strlen(with);
  while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) s = np_str_cut(s, 1, s.n);
  return s.n >= n && memcmp(s.p, with, n) == 0;
}

/* The end of the trace of which unit i is the first frame; *frames says how many it has. */
static size_t trace_end(const np_plan *p, size_t i, size_t *frames) {
  size_t end = i, gap = 0;
  *frames = 0;
  for (; i < p->n && gap <= TRACE_GAP; i++) {
    if (np_error_is_frame(np_plan_unit(p, i))) {
      ++*frames;
      end = i + 1;
      gap = 0;
    } else if (!np_error_is_caret(np_plan_unit(p, i))) {
      gap++;
    }
  }
  while (end < p->n && np_error_is_indented(np_plan_unit(p, end)))
    end++; /* the last frame's source */
  return end;
}

/* The first trace with its error above (most languages) or below it (Python). */
static void find_trace(np_plan *p) {
  size_t frames = 0, from = 0, to = 0, least = 2;
  for (; from<p->n; from = to> from ? to : from + 1) {
    to = from;
    if (!np_error_is_frame(np_plan_unit(p, from))) continue;
    to = trace_end(p, from, &frames);
    bool python = from > 0 && starts(np_plan_unit(p, from - 1), "Traceback");
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
    unsigned score = np_error_score(s);
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
