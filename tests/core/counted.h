/*
** Read before every file of the library that test_linear links with: what the C library
** looks at for it is counted byte for byte, as its own steps are. next: test_linear.c
*/
#ifndef NP_TESTS_COUNTED_H
#define NP_TESTS_COUNTED_H

#include <string.h>

void np_counted(size_t bytes);

static inline void *np_counted_memchr(const void *p, int c, size_t n) {
  void *at = n ? memchr(p, c, n) : NULL;
  np_counted(at ? (size_t)((const char *)at - (const char *)p) + 1 : n);
  return at;
}

/* Up to the first difference, as a library may stop there. */
static inline int np_counted_memcmp(const void *p, const void *q, size_t n) {
  const unsigned char *a = p, *b = q;
  size_t same = 0;
  while (same < n && a[same] == b[same]) same++;
  np_counted(same + (same < n));
  return same < n ? (int)a[same] - (int)b[same] : 0;
}

static inline void *np_counted_memcpy(void *to, const void *from, size_t n) {
  np_counted(n);
  return memcpy(to, from, n);
}

static inline void *np_counted_memmove(void *to, const void *from, size_t n) {
  np_counted(n);
  return memmove(to, from, n);
}

static inline void *np_counted_memset(void *to, int c, size_t n) {
  np_counted(n);
  return memset(to, c, n);
}

#undef memchr
#undef memcmp
#undef memcpy
#undef memmove
#undef memset
#define memchr(p, c, n) np_counted_memchr((p), (c), (n))
#define memcmp(p, q, n) np_counted_memcmp((p), (q), (n))
#define memcpy(to, from, n) np_counted_memcpy((to), (from), (n))
#define memmove(to, from, n) np_counted_memmove((to), (from), (n))
#define memset(to, c, n) np_counted_memset((to), (c), (n))

#endif
