/*
** Unicode's form C (canonical composition) as vocabularies that ask for it mean it: that of
** Unicode 9.0. A text is a row of parts that are normalized one by one; a part is a character
** that begins one and those behind it that may be moved or composed. Bytes that are not
** UTF-8 stay and are parts of their own. Linear, also in rows of a million marks.
** next: nfc.c
*/
#ifndef NP_TEXT_NFC_H
#define NP_TEXT_NFC_H

#include "base/buf.h"

/* True when no part of the text can change: most texts, at the speed of a look at each
** byte. False says nothing. */
bool np_nfc_plain(np_str s);

/* Appends the normalized text; out->failed says that memory was out. */
void np_nfc(np_str s, np_buf *out);

/* True where a part begins, and at the end of `s`. */
bool np_nfc_between(np_str s, size_t at);

/* Where a part of `s` begins (or `s` ends) before which normalization leaves `*size` bytes, or
** the nearest fewer; with `up`, the nearest more. *size becomes their number. SIZE_MAX when
** out of memory. */
size_t np_nfc_place(np_str s, const neap_alloc *a, bool up, size_t *size);

#endif
