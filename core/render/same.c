/*
** Whether two renderings of a segment are one to the provider: bytes alike, but for cache marks
** and for the brackets that make a list of a single text. next: frame.c
*/
#include "render/frame.h"

#define NAME "\"cache_control\""
#define SHARED 40 /* bytes that a mark and what stands behind it may have alike at most */

static size_t skip_white(np_str s, size_t i) {
  while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\n' || s.p[i] == '\t' || s.p[i] == '\r'))
    i++;
  return i;
}

/* Bytes of `"cache_control": …` at i, 0 when there is none. */
static size_t member_at(np_str s, size_t i) {
  np_json value;
  size_t used, at = i, n = sizeof NAME - 1;
  if (s.n - i < n || memcmp(s.p + i, NAME, n) != 0) return 0;
  at = skip_white(s, at + n);
  if (at >= s.n || s.p[at] != ':') return 0;
  at++;
  if (np_json_check_prefix(np_str_cut(s, at, s.n), &value, &used, NULL)) return 0;
  return at + used - i;
}

/* A mark with the comma before it, or as first member with the one behind it. */
static size_t mark_at(np_str s, size_t i) {
  size_t at = skip_white(s, i), n;
  if (at < s.n && s.p[at] == ',') {
    at = skip_white(s, at + 1);
    n = member_at(s, at);
    return n ? at + n - i : 0;
  }
  n = member_at(s, at);
  if (!n) return 0;
  at = skip_white(s, at + n);
  return at < s.n && s.p[at] == ',' ? skip_white(s, at + 1) - i : at - i;
}

/* At a difference: a mark that only `a` has, which may begin a little before. */
static bool pass_mark(np_str a, size_t *i, size_t *j) {
  for (size_t back = 0; back <= SHARED && back <= *i && back <= *j; back++) {
    size_t n = mark_at(a, *i - back);
    if (n <= back) continue;
    *i += n - back;
    *j -= back;
    return true;
  }
  return false;
}

static bool pass_lead(np_str list, size_t *i, np_str bare, size_t j) {
  size_t n = sizeof NP_LIST_LEAD - 1;
  if (bare.p[j] != '"' || list.n - *i < n || memcmp(list.p + *i, NP_LIST_LEAD, n) != 0)
    return false;
  *i += n;
  return true;
}

bool np_same_aside(np_str a, np_str b) {
  size_t i = 0, j = 0;
  bool a_list = false, b_list = false;
  if (np_str_eq(a, b)) return true;
  for (;;) {
    while (i < a.n && j < b.n && a.p[i] == b.p[j]) i++, j++;
    if (pass_mark(a, &i, &j) || pass_mark(b, &j, &i)) continue;
    if (i >= a.n || j >= b.n) break;
    bool passed = a_list || b_list;
    if (passed) return false;
    a_list = pass_lead(a, &i, b, j);
    b_list = !a_list && pass_lead(b, &j, a, i);
    if (!a_list && !b_list) return false;
  }
  return a.n - i == (size_t)a_list && b.n - j == (size_t)b_list;
}
