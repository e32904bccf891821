/*
** Borders between grapheme clusters. A border is found from an anchor: a pair of characters
** that break whatever stands before them. From the anchor on, libutf8proc's rules decide.
** No anchor within 64 characters: the cluster is no text anyone reads, and any border
** between characters will do. next: lines.c
*/
#include <utf8proc.h>

#include "text/text.h"

#define LOOK_BACK 64   /* characters; family emoji have 11 */
#define FLAG_BACK 4096 /* letters of a run of flags: only their parity is asked for */

/* The character that ends at `at`; *n gets its length. */
static uint32_t before(np_str s, size_t at, size_t *n) {
  size_t from = np_utf8_floor(s, at - 1);
  uint32_t c = np_utf8_decode(s.p + from, s.p + s.n, n);
  *n = at - from;
  return c;
}

static bool is_flag_letter(uint32_t c) {
  return c >= 0x1F1E6 && c <= 0x1F1FF;
}

/* True when a and b break in every context. What libutf8proc says without state is so, but
** for what looks further back: joined emoji, and conjuncts of Indic scripts. */
static bool breaks_always(uint32_t a, uint32_t b) {
  if (a < 0x80 && b < 0x80) return !(a == '\r' && b == '\n');
  const utf8proc_property_t *mark = utf8proc_get_property((utf8proc_int32_t)a);
  if (a == 0x200D) { /* the zero width joiner */
    const utf8proc_property_t *k = utf8proc_get_property((utf8proc_int32_t)b);
    if (k->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC) return false;
  }
  bool indic = b >= 0x0900 && b <= 0x0DFF;
  if (indic && (a == 0x200D || mark->combining_class)) return false;
  return utf8proc_grapheme_break((utf8proc_int32_t)a, (utf8proc_int32_t)b);
}

/* Where a run of flag letters that reaches `at` begins, so far as its parity matters. */
static size_t flags_from(np_str s, size_t at) {
  size_t n, letters = 0;
  while (at > 0 && letters < FLAG_BACK && is_flag_letter(before(s, at, &n))) {
    at -= n;
    letters++;
  }
  return at;
}

/* The nearest sure border at or before `at` (itself a border between characters); false
** when there is none in reach. */
static bool anchor(np_str s, size_t at, size_t *out) {
  size_t n;
  uint32_t next = 0, c;
  if (at < s.n) next = np_utf8_decode(s.p + at, s.p + s.n, &n);
  for (size_t i = 0; at > 0 && at < s.n; i++) {
    c = before(s, at, &n);
    if (breaks_always(c, next)) break;
    if (i == LOOK_BACK) return false;
    if (is_flag_letter(c) && is_flag_letter(next)) {
      at = flags_from(s, at);
      if (at == 0 || is_flag_letter(before(s, at, &n))) break;
      next = c;
      i = 0;
      continue;
    }
    at -= n;
    next = c;
  }
  *out = at;
  return true;
}

/* The end of the cluster that begins at `at`, or the first border between characters more
** than LOOK_BACK on. */
static size_t cluster_end(np_str s, size_t at) {
  utf8proc_int32_t state = 0;
  size_t n;
  uint32_t c = np_utf8_decode(s.p + at, s.p + s.n, &n);
  for (size_t i = 0; i < LOOK_BACK; i++) {
    at += n;
    if (at >= s.n) break;
    uint32_t next = np_utf8_decode(s.p + at, s.p + s.n, &n);
    if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)c, (utf8proc_int32_t)next,
                                         &state)) {
      return at;
    }
    c = next;
  }
  return at < s.n ? at : s.n;
}

/* The cluster [*from, *to) that holds the character border `at`; empty when `at` is a border
** already. */
static void around(np_str s, size_t at, size_t *from, size_t *to) {
  size_t a;
  *from = *to = at;
  if (at == 0 || at >= s.n || !anchor(s, at, &a)) return;
  while (a < at) {
    size_t end = cluster_end(s, a);
    if (end > at) {
      *from = a;
      *to = end;
      return;
    }
    a = end;
  }
}

size_t np_grapheme_floor(np_str s, size_t at) {
  size_t from, to;
  around(s, np_utf8_floor(s, at), &from, &to);
  return from;
}

size_t np_grapheme_ceil(np_str s, size_t at) {
  size_t from, to, floor = np_utf8_floor(s, at), n;
  if (floor < at && floor < s.n) {
    np_utf8_decode(s.p + floor, s.p + s.n, &n);
    floor += n;
  }
  around(s, floor, &from, &to);
  return to;
}
