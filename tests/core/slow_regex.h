/*
** A slow reference for the splitter: a backtracking matcher that reads the published patterns
** themselves. It knows what they use and nothing else: alternatives, sets with \p{…} and
** ranges, ? * + {1,3}, (?i:…) of literals, (?!\S). The categories are libutf8proc's.
** next: test_split_family.c
*/
#ifndef NP_TESTS_SLOW_REGEX_H
#define NP_TESTS_SLOW_REGEX_H

#include <utf8proc.h>

#include "check.h"

typedef struct slow_text {
  const int32_t *p; /* code points */
  size_t n;
} slow_text;

#define SLOW_NONE SIZE_MAX

/* ---- one character against one set; `*re` moves behind the set ---- */

static inline bool slow_space(int32_t c) {
  utf8proc_category_t k = utf8proc_category(c);
  return (c >= 9 && c <= 13) || c == 0x85 ||
         (k >= UTF8PROC_CATEGORY_ZS && k <= UTF8PROC_CATEGORY_ZP);
}

static inline int32_t slow_point(const char **re) {
  utf8proc_int32_t c;
  *re += utf8proc_iterate((const utf8proc_uint8_t *)*re, -1, &c);
  return c;
}

/* \p{L} \p{Lu} \s \S \r \n and escaped marks. */
static inline bool slow_escape(const char **re, int32_t c, int32_t *literal) {
  char e = *++*re;
  ++*re;
  *literal = -1;
  if (e == 's') return slow_space(c);
  if (e == 'S') return !slow_space(c);
  if (e == 'p') {
    const char *name = *re + 1, *close = strchr(name, '}');
    *re = close + 1;
    return !strncmp(utf8proc_category_string(c), name, (size_t)(close - name));
  }
  *literal = e == 'r' ? '\r' : e == 'n' ? '\n' : e;
  return c == *literal;
}

static inline bool slow_atom(const char **re, int32_t c, int32_t *literal) {
  if (**re == '\\') return slow_escape(re, c, literal);
  *literal = slow_point(re);
  return c == *literal;
}

/* c is -1 at the end of the text: in no set. */
static inline bool slow_set(const char **re, int32_t c) {
  int32_t low, high;
  if (**re != '[') return slow_atom(re, c, &low) && c >= 0;
  ++*re;
  bool found = false, negated = **re == '^';
  if (negated) ++*re;
  while (**re != ']') {
    found |= slow_atom(re, c, &low);
    if (low < 0 || **re != '-' || (*re)[1] == ']') continue;
    ++*re;
    slow_atom(re, c, &high);
    found |= c >= low && c <= high;
  }
  ++*re;
  return c >= 0 && found != negated;
}

static inline void slow_times(const char **re, size_t *min, size_t *max) {
  *min = *max = 1;
  if (**re == '?') *min = 0;
  else if (**re == '*') *min = 0, *max = SIZE_MAX;
  else if (**re == '+') *max = SIZE_MAX;
  else if (!strncmp(*re, "{1,3}", 5)) *max = 3, *re += 4;
  else return;
  ++*re;
}

/* ---- sequences ---- */

static inline int32_t slow_fold(int32_t c) {
  if (c == 0x17F) return 's';
  return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/* The literals of (?i:'s|'t|…) at `at`: the first that matches, or SLOW_NONE. *re moves
** behind the group. */
static inline size_t slow_group(const char **re, slow_text t, size_t at) {
  const char *p = *re + 4, *close = strchr(p, ')');
  *re = close + 1;
  while (p < close) {
    size_t k = at;
    for (; *p != '|' && *p != ')'; p++) {
      bool same = k != SLOW_NONE && k < t.n && slow_fold(t.p[k]) == *p;
      k = same ? k + 1 : SLOW_NONE;
    }
    if (k != SLOW_NONE) return k;
    p++;
  }
  return SLOW_NONE;
}

/* The sequence up to `|` or the end, at `at`: where the match ends, or SLOW_NONE. */
static inline size_t slow_sequence(const char *re, slow_text t, size_t at) {
  if (!*re || *re == '|') return at;
  if (!strncmp(re, "(?!\\S)", 6)) {
    bool blocked = at < t.n && !slow_space(t.p[at]);
    return blocked ? SLOW_NONE : slow_sequence(re + 6, t, at);
  }
  if (!strncmp(re, "(?i:", 4)) {
    size_t end = slow_group(&re, t, at);
    bool optional = *re == '?';
    re += optional;
    size_t got = end == SLOW_NONE ? SLOW_NONE : slow_sequence(re, t, end);
    return got == SLOW_NONE && optional ? slow_sequence(re, t, at) : got;
  }
  const char *rest = re;
  size_t min, max, n = 0;
  slow_set(&rest, -1);
  slow_times(&rest, &min, &max);
  for (const char *set = re; n < max && at + n < t.n; n++, set = re) {
    if (!slow_set(&set, t.p[at + n])) break;
  }
  for (; n != SLOW_NONE && n >= min; n--) {
    size_t got = slow_sequence(rest, t, at + n);
    if (got != SLOW_NONE) return got;
    if (n == 0) break;
  }
  return SLOW_NONE;
}

/* Where the first alternative that matches at `at` ends, or SLOW_NONE. */
static inline size_t slow_match(const char *re, slow_text t, size_t at) {
  for (;;) {
    size_t got = slow_sequence(re, t, at);
    if (got != SLOW_NONE) return got;
    for (int depth = 0; *re && (depth || *re != '|'); re++) {
      if (*re == '\\') re++;
      else if (*re == '[' || *re == '(') depth++;
      else if (*re == ']' || *re == ')') depth--;
    }
    if (!*re++) return SLOW_NONE;
  }
}

/* Marks the ends of pieces in `cut[1 .. n]`, inside the pieces that are there already: what
** matches is a piece, and what lies between matches is one. */
static inline void slow_split(const char *re, slow_text t, bool *cut) {
  for (size_t from = 0, to; from < t.n; from = to) {
    for (to = from + 1; !cut[to];) to++;
    slow_text part = {t.p + from, to - from};
    for (size_t at = 0; at < part.n;) {
      size_t end = slow_match(re, part, at);
      if (end != SLOW_NONE) cut[from + at] = cut[from + end] = true;
      at = end == SLOW_NONE ? at + 1 : end;
    }
  }
}

#endif
