/*
** Fuzzing the splitter (libFuzzer): every path that this machine has cuts any bytes into
** the pieces of np_split_next. The first byte is how many pieces are asked for at a time.
** next: ../core/test_split.c
*/
#include <stdlib.h>

#include "token/split_many.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(np_split_path path, np_split_kind kind, const uint8_t *p,
                    const uint8_t *end, size_t cap) {
  uint32_t ends[256];
  while (p < end) {
    size_t n = np_split_by(path, kind, p, end, ends, cap);
    if (!n || n > cap) abort();
    const uint8_t *q = p;
    for (size_t i = 0; i < n; i++) {
      q += np_split_next(kind, q, end);
      if (q != p + ends[i]) abort();
    }
    p = q;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size) return 0;
  size_t cap = data[0] ? data[0] : 256;
  for (unsigned path = 0; path < NP_SPLIT_PATHS; path++) {
    if (!np_split_can(path)) continue;
    for (unsigned kind = 1; kind < NP_SPLIT_END; kind++) {
      compare(path, kind, data + 1, data + size, cap);
    }
  }
  return 0;
}
