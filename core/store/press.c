/*
** Compression by zstd. The fastest level: on texts of 20 KB it makes 3.5 of 1 at 230 MB/s, and
** the slower ones gain a tenth for half of that. next: content.c
*/
#include "store/press.h"

#ifdef NEAP_ZSTD

#include <zstd.h>

#define LEVEL 1

bool np_press_built(void) {
  return true;
}

void np_press_free(np_press *p) {
  ZSTD_freeCCtx(p->to);
  ZSTD_freeDCtx(p->from);
  *p = (np_press){NULL, NULL};
}

bool np_press_small(np_press *p, np_str bytes, np_buf *out) {
  size_t most = bytes.n - bytes.n / 10;
  if (bytes.n < NP_PRESS_MIN) return false;
  if (!p->to) p->to = ZSTD_createCCtx();
  np_buf_clear(out);
  if (!p->to || !np_buf_reserve(out, most)) return false;
  size_t n = ZSTD_compressCCtx(p->to, out->p, most, bytes.p, bytes.n, LEVEL);
  if (ZSTD_isError(n)) return false; /* it does not fit: not worth it */
  out->n = n;
  return true;
}

bool np_press_back(np_press *p, np_str bytes, size_t size, np_buf *out) {
  np_buf_clear(out);
  if (bytes.n == 0 || ZSTD_getFrameContentSize(bytes.p, bytes.n) != size) return false;
  if (!p->from) p->from = ZSTD_createDCtx();
  if (!p->from || !np_buf_reserve(out, size)) {
    out->failed = true;
    return false;
  }
  size_t n = ZSTD_decompressDCtx(p->from, out->p, size, bytes.p, bytes.n);
  if (ZSTD_isError(n) || n != size) return false;
  out->n = n;
  return true;
}

#else

bool np_press_built(void) {
  return false;
}

void np_press_free(np_press *p) {
  *p = (np_press){NULL, NULL};
}

bool np_press_small(np_press *p, np_str bytes, np_buf *out) {
  (void)p;
  (void)bytes;
  (void)out;
  return false;
}

bool np_press_back(np_press *p, np_str bytes, size_t size, np_buf *out) {
  (void)p;
  (void)bytes;
  (void)size;
  (void)out;
  return false;
}

#endif
