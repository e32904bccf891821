/*
** Base64 (RFC 4648, padded) for bytes that are no text, where text must stand. next: hash.h
*/
#ifndef NP_BASE_BASE64_H
#define NP_BASE_BASE64_H

#include "base/buf.h"

void np_base64(np_buf *out, np_str bytes);
/* Appends what `text` stands for; false when it is not exactly what np_base64 writes. */
bool np_base64_read(np_str text, np_buf *out);

#endif
