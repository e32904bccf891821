/*
** The system's random source, for the store's secret. Nothing else may be random.
** next: memory.c
*/
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* O_CLOEXEC, read */
#endif
#include <fcntl.h>
#include <unistd.h>

#include "store/row.h"

neap_rc np_random(uint8_t *out, size_t n, np_err *e) {
  int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  size_t got = 0;
  while (fd >= 0 && got < n) {
    ssize_t k = read(fd, out + got, n - got);
    if (k <= 0) break;
    got += (size_t)k;
  }
  if (fd >= 0) close(fd);
  if (got == n) return NEAP_OK;
  return np_fail(e, NEAP_E_IO,
                 "/dev/urandom cannot be read; the store needs it for a secret");
}
