/*
** A growing byte buffer. A failed allocation is sticky: later writes do nothing, and the
** writer checks `failed` once at the end. next: json.h
*/
#ifndef NP_BASE_BUF_H
#define NP_BASE_BUF_H

#include "base/mem.h"

typedef struct np_buf {
  char *p;
  size_t n, cap;
  const neap_alloc *alloc;
  bool failed;
} np_buf;

void np_buf_init(np_buf *b, const neap_alloc *a);
void np_buf_free(np_buf *b);
bool np_buf_reserve(np_buf *b, size_t more); /* room for `more` bytes beyond n */
void np_buf_add(np_buf *b, np_str s);
void np_buf_addc(np_buf *b, char c);
void np_buf_adds(np_buf *b, const char *cstr);
void np_buf_int(np_buf *b, int64_t v);   /* decimal */
void np_buf_count(np_buf *b, int64_t v); /* decimal with thousands commas: 21,870 */
/* fixed-point, '.' whatever the locale */
void np_buf_num(np_buf *b, double v, int decimals);
static inline void np_buf_clear(np_buf *b) {
  b->n = 0;
  b->failed = false;
}
static inline np_str np_buf_str(const np_buf *b) {
  return (np_str){b->p ? b->p : "", b->n};
}

#endif
