/*
** Text by Unicode's rules: validity, characters, grapheme clusters, lines. Tables come from
** libutf8proc; nothing depends on the locale. next: utf8.c
*/
#ifndef NP_TEXT_TEXT_H
#define NP_TEXT_TEXT_H

#include "base/buf.h"

/* Decodes the sequence at p; *n gets its length, 1 and U+FFFD when malformed. Its length
** alone is np_utf8_len (base/str.h). */
uint32_t np_utf8_decode(const char *p, const char *end, size_t *n);
/* Offset of the first malformed byte, or s.n. */
size_t np_utf8_valid(np_str s);
/* Appends `s` with every malformed byte replaced by U+FFFD; returns how many. */
size_t np_utf8_repair(np_str s, np_buf *out);

/* The last border at or before `at` (first at or after, for _ceil): between characters, or
** between grapheme clusters (UAX 29, extended). Looks back at most 64 characters (4,096 in a
** run of flags); in a cluster longer than that any border between characters counts. */
size_t np_utf8_floor(np_str s, size_t at);
size_t np_grapheme_floor(np_str s, size_t at);
size_t np_grapheme_ceil(np_str s, size_t at);

bool np_is_cjk(uint32_t c); /* ideographs, kana, hangul */
/* The bytes of the CJK character that begins at `p`, which is before `end`; 0 when none does. */
static inline size_t np_cjk_len(const char *p, const char *end) {
  const unsigned char *s = (const unsigned char *)p;
  size_t n;
  if (*s < 0xE1) return 0; /* nothing CJK below U+1100 */
  if (*s >= 0xE4 && *s <= 0xE9 && end - p >= 3 && (s[1] & 0xC0) == 0x80 &&
      (s[2] & 0xC0) == 0x80 && (*s > 0xE4 || s[1] >= 0xB8)) {
    return 3; /* U+4E00 to U+9FFF, nearly all of them */
  }
  return np_is_cjk(np_utf8_decode(p, end, &n)) ? n : 0;
}
bool np_is_letter(uint32_t c); /* category L */
/* What is obeyed and not shown: controls from DEL on, ends of lines that are no newline, marks of
** direction, blanks without width, tags; not the joiners, which scripts and emoji need. */
bool np_is_unseen(uint32_t c);
bool np_is_mark(uint32_t c); /* categories Mn and Mc: what stands on a letter */

/* Lines: "\n" ends one; a last line without it counts. An empty text has 0 lines. */
size_t np_lines_count(np_str s);
/* Bytes of 1-based lines from..to (both included), their newlines too; empty when outside. */
np_str np_lines_slice(np_str s, size_t from, size_t to);
/* Newline bytes of `s`. */
size_t np_lines_newlines(np_str s);
/* Where the last `n` lines begin; 0 when there are no more. */
size_t np_lines_back(np_str s, size_t n);
/* Behind the line that begins at `at`, its newline included. */
static inline size_t np_line_end(np_str s, size_t at) {
  const char *nl = at < s.n ? memchr(s.p + at, '\n', s.n - at) : NULL;
  return nl ? (size_t)(nl - s.p) + 1 : s.n;
}
/* Next line of *rest without its newline; false at the end. */
bool np_line_next(np_str *rest, np_str *line);

#endif
