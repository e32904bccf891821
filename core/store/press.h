/*
** Compression of contents by zstd, where neap is built with it. What is compressed says its size
** twice, in its frame and in its row; neither is trusted alone. next: press.c
*/
#ifndef NP_STORE_PRESS_H
#define NP_STORE_PRESS_H

#include "base/buf.h"

/* Smaller ones gain little, and a tenth must be gained. */
#define NP_PRESS_MIN ((size_t)4096)

/* What is kept from call to call; zeroed: nothing yet. */
typedef struct np_press {
  void *to, *from;
} np_press;

bool np_press_built(void); /* is it there at all? */
void np_press_free(np_press *p);
/* `out` gets the bytes compressed. False when they are not worth it, or cannot be. */
bool np_press_small(np_press *p, np_str bytes, np_buf *out);
/* The bytes again, of which there must be `size`; `out` gets them. False when they are not what
** they should be; out->failed: no memory. */
bool np_press_back(np_press *p, np_str bytes, size_t size, np_buf *out);

#endif
