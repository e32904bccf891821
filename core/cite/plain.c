/*
** What the citation index takes for a name, and a writer may say without having seen it: a whole
** number (a term already), a stretch of numbers such as 298-306 (each of the two is a term),
** compounds of English such as off-by-one, non-empty and user-facing, which are prose as single
** words are, and JSON and README. left-pad is none: its parts do not say how it is meant.
** next: grounds.c
*/
#include "cite/grounds.h"

/* The first part of a compound: whatever follows, it is prose. */
static const char *const before[] = {
    "non",  "re",   "pre",   "post",   "multi",   "self",  "auto", "cross",
    "per",  "over", "under", "sub",    "well",    "mid",   "semi", "so",
    "half", "full", "high",  "low",    "top",     "third", "one",  "single",
    "long", "real", "best",  "double", "already", "newly", "un",   "quasi"};

/* The last part of one. */
static const char *const behind[] = {
    "level",     "specific",  "only",       "based",       "related",   "driven",
    "like",      "free",      "wide",       "side",        "facing",    "friendly",
    "aware",     "sensitive", "existing",   "insensitive", "separated", "running",
    "defined",   "generated", "supplied",   "provided",    "visible",   "readable",
    "dependent", "scoped",    "backed",     "written",     "ended",     "style",
    "heavy",     "oriented",  "compatible", "formed",      "ready",     "safe"};

static const char *const whole[] = {
    "off-by-one",       "up-to-date",   "end-to-end",  "step-by-step", "as-is",
    "in-memory",        "follow-up",    "follow-ups",  "built-in",     "built-ins",
    "read-only",        "write-only",   "round-trip",  "dry-run",      "no-op",
    "proof-of-concept", "in-place",     "in-progress", "on-disk",      "command-line",
    "human-readable",   "case-by-case", "trade-off",   "back-up",      "opt-in",
    "opt-out",          "fall-back",    "time-out",    "line-by-line", "key-value",
    "first-class",      "out-of-range", "out-of-date", "up-front",     "drop-in",
    "stand-in",         "look-up",      "set-up",      "clean-up",     "time-consuming",
    "append-only",      "type-check",   "unit-test",   "unit-tests",   "code-review",
    "sanity-check",     "spot-check",   "brand-new"};

/* Capitals that all writers know. */
static const char *const known[] = {"JSON",  "HTTP", "HTTPS", "HTML", "YAML", "README",
                                    "ASCII", "REST", "CRUD",  "UUID", "TODO", "POSIX"};

static bool is_one_of(np_str s, const char *const *list, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (np_str_is(s, list[i])) return true;
  }
  return false;
}

static bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}

/* Small letters parted by single hyphens. */
static bool is_hyphened(np_str s) {
  size_t joints = 0;
  for (size_t i = 0; i < s.n; i++) {
    if (is_small(s.p[i])) continue;
    if (s.p[i] != '-' || i == 0 || i + 1 == s.n || s.p[i - 1] == '-') return false;
    joints++;
  }
  return joints > 0;
}

static bool is_compound(np_str s) {
  size_t first = 0, last = s.n;
  if (!is_hyphened(s)) return false;
  while (s.p[first] != '-') first++;
  while (s.p[last - 1] != '-') last--;
  return is_one_of(s, whole, NP_COUNT(whole)) ||
         is_one_of(np_str_cut(s, 0, first), before, NP_COUNT(before)) ||
         is_one_of(np_str_cut(s, last, s.n), behind, NP_COUNT(behind));
}

/* At most six digits, none of them a zero that leads; its end, or `from`. */
static size_t past_count(np_str s, size_t from, int64_t *n) {
  size_t at = from;
  *n = 0;
  if (at < s.n && s.p[at] == '0') return from;
  for (; at < s.n && s.p[at] >= '0' && s.p[at] <= '9'; at++) {
    if (at - from == 6) return from;
    *n = *n * 10 + (s.p[at] - '0');
  }
  return at;
}

/* From a number to a larger one of as many digits, or of one more: 555-1234 is none. */
static bool is_stretch(np_str s) {
  int64_t from, to;
  size_t a = past_count(s, 0, &from);
  if (a == 0 || a == s.n || s.p[a] != '-') return false;
  size_t b = past_count(s, a + 1, &to);
  return b == s.n && b > a + 1 && from < to && b - (a + 1) <= a + 1;
}

bool np_name_is_plain(np_str name) {
  return np_term_is_number(name) || is_stretch(name) || is_compound(name) ||
         is_one_of(name, known, NP_COUNT(known));
}
