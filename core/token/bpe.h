/*
** Merging inside one piece, exact and linear. A row of tokens is the encoding of its
** bytes if and only if each pair of neighbours is: undoing the merges on both sides of
** the seam, latest first, meets no merge across it that would have come earlier. And
** every prefix of a text has one encoding. So: take the longest token, check the seam
** behind it, and go back where nothing fits. next: bpe.c
*/
#ifndef NP_TOKEN_BPE_H
#define NP_TOKEN_BPE_H

#include "token/vocab.h"

/* Bytes merged at a time; longer pieces go window by window. Tests build with a small one, so
** that guesses at a window's end go wrong. */
#ifndef NP_BPE_WINDOW
#define NP_BPE_WINDOW 4096
#endif

/* Room for one window, kept on the caller's stack. */
typedef struct np_bpe {
  uint32_t ids[NP_BPE_WINDOW];
  uint64_t dead[NP_BPE_WINDOW / 64 + 1]; /* bit i: no encoding goes through byte i */
} np_bpe;

/* The longest token that begins p[0, n), n > 0. */
uint32_t np_bpe_longest(const np_vocab *v, const uint8_t *p, size_t n);

/* True when no merge that comes before `limit` crosses the seam of `left` and `right`. */
bool np_bpe_seam_before(const np_vocab *v, uint32_t left, uint32_t right, uint32_t limit);

/* True when no merge ever does. */
static inline bool np_bpe_seam(const np_vocab *v, uint32_t left, uint32_t right) {
  return np_bpe_seam_before(v, left, right, NP_TOKEN_NONE);
}

/* Encodes p[0, n), 0 < n <= NP_BPE_WINDOW, behind the token `before` (or NP_TOKEN_NONE)
** into w->ids. 0 when no row of tokens fits behind `before`. */
size_t np_bpe_window(const np_vocab *v, uint32_t before, const uint8_t *p, size_t n,
                     np_bpe *w);

/* The next finished tokens of a piece, of which *done bytes and the token *before are
** known: all of it, or all but the end of a window, where later bytes might still change
** tokens. Returns their number, advances both; 0 when the guess at a window's end was
** wrong, which takes np_bpe_track. */
size_t np_bpe_next(const np_vocab *v, const uint8_t *p, size_t n, size_t *done,
                   uint32_t *before, np_bpe *w);

/* The last token and the number of tokens of every prefix of a text, byte by byte: slower
** than the above, in constant memory. */
typedef struct np_track {
  uint32_t last[256];
  size_t count[256];
  size_t
      at; /* bytes passed; the values of prefixes at .. at + 255 are in place i & 255 */
} np_track;

/* Begins behind `before` (or NP_TOKEN_NONE) with `count` tokens already counted. */
void np_track_begin(np_track *t, uint32_t before, size_t count);
/* Passes one byte of p[0, n), at < n; afterwards the values of the prefix t->at are
** final. NP_TOKEN_NONE as last token: its encoding does not go through the beginning. */
void np_track_step(const np_vocab *v, const uint8_t *p, size_t n, np_track *t);

#endif
