/*
** The one place of the tokenizer that reads files. next: vocab.c
*/
#include <stdio.h>
#include <stdlib.h>

#include "base/port.h"
#include "token/vocab.h"

#define LARGEST                                                                          \
  ((size_t)64 << 20) /* no vocabulary comes near; bounds what a bad file costs */
#define STEP ((size_t)1 << 20)

static neap_rc read_all(const neap_alloc *a, FILE *f, const char *path, uint8_t **p,
                        size_t *n, np_err *e) {
  void *bytes = NULL;
  size_t cap = 0;
  for (*n = 0; !feof(f) && !ferror(f) && *n <= LARGEST;) {
    bool ok = np_grow(a, &bytes, &cap, *n + STEP, 1);
    *p = bytes;
    if (!ok) return np_fail_mem(e);
    *n += fread(*p + *n, 1, STEP, f);
  }
  if (ferror(f)) {
    return np_fail(e, NEAP_E_VOCAB, "%s: cannot be read to its end; check the disk",
                   path);
  }
  if (*n <= LARGEST) return NEAP_OK;
  return np_fail(e, NEAP_E_VOCAB, "%s: is larger than any vocabulary; install neap again",
                 path);
}

neap_rc np_vocab_read(const neap_alloc *a, const char *path, uint8_t **p, size_t *n,
                      np_err *e) {
  *p = NULL;
  *n = 0;
  FILE *f = np_port_readable(path) ? fopen(path, "rb") : NULL;
  if (!f) {
    return np_fail(e, NEAP_E_VOCAB,
                   "%s: cannot be opened; NEAP_DATA names the folder of the vocabularies",
                   path);
  }
  neap_rc rc = read_all(a, f, path, p, n, e);
  fclose(f);
  if (rc != NEAP_OK) {
    np_free(a, *p);
    *p = NULL;
  }
  return rc;
}

void np_vocab_user_dir(np_buf *path) {
  const char *data = getenv("NEAP_DATA"), *share = getenv("XDG_DATA_HOME");
  const char *home = getenv("HOME");
  if (data && *data) {
    np_buf_adds(path, data);
  } else if (share && *share) {
    np_buf_adds(path, share);
    np_buf_adds(path, "/neap/vocabularies");
  } else {
    np_buf_adds(path, home && *home ? home : ".");
    np_buf_adds(path, "/.local/share/neap/vocabularies");
  }
  np_buf_addc(path, '\0');
}

neap_rc np_vocab_open_any(const neap_alloc *a, const char *dir, np_str name,
                          np_vocab **out, np_err *e) {
  neap_rc rc = np_vocab_open(a, dir, name, out, e);
  if (rc != NEAP_E_ENCODING) return rc;
  np_buf user;
  np_buf_init(&user, a);
  np_vocab_user_dir(&user);
  rc = user.failed ? np_fail_mem(e) : np_vocab_open(a, user.p, name, out, e);
  np_buf_free(&user);
  return rc;
}
