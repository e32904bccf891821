/*
** Build-time tool: makes the ready file of a vocabulary from its compact one.
** Usage: ready COMPACT READY. next: ../image.h
*/
#include <stdio.h>
#include <stdlib.h>

#include "token/vocab.h"

static int complain(const char *what) {
  fprintf(stderr, "ready: %s\n", what);
  return 1;
}

int main(int argc, char **argv) {
  np_err e = {0};
  np_vocab *v = NULL;
  uint8_t *p = NULL;
  size_t n = 0;
  if (argc != 3) return complain("usage: ready COMPACT READY");
  neap_rc rc = np_vocab_read(&np_alloc_libc, argv[1], &p, &n, &e);
  if (!rc) {
    np_str file = {(const char *)p, n};
    rc = np_vocab_from_bytes(&np_alloc_libc, argv[1], file, &v, &e);
  }
  free(p);
  if (rc) return complain(e.text);
  np_str image = np_vocab_image(v);
  FILE *f = fopen(argv[2], "wb");
  bool ok = f && fwrite(image.p, 1, image.n, f) == image.n;
  if (f) ok = fclose(f) == 0 && ok;
  np_vocab_free(v);
  return ok ? 0 : complain("the ready file cannot be written");
}
