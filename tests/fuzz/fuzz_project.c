/*
** Fuzzing projections without a vocabulary (libFuzzer): the first line of the input are the words,
** the rest is the text. Ranges must rise, be in bounds and cut no cluster.
** next: ../core/test_project_random.c
*/
#include <stdlib.h>

#include "render/project.h"
#include "text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(np_str text, const np_projection *p) {
  size_t behind = 0;
  for (size_t i = 0; i < p->count; i++) {
    const np_range *k = &p->kept[i];
    if (k->from >= k->to || k->to > text.n || (i && k->from <= behind)) abort();
    if (np_grapheme_floor(text, k->from) != k->from) abort();
    if (np_grapheme_floor(text, k->to) != k->to) abort();
    behind = k->to;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  np_str all = {(const char *)data, size}, words = all;
  np_err e;
  np_projection p;
  np_arena ar;
  np_buf shown;
  np_project_ask ask = {.tokens = NP_TRIM_ANY};
  size_t end = size ? np_line_end(all, 0) : 0;
  words.n = end;
  np_str text = np_str_cut(all, end, size);
  if (!size || np_extract_parse(words, &ask.what, &e)) return 0;
  np_arena_init(&ar, &np_alloc_libc);
  np_buf_init(&shown, &np_alloc_libc);
  if (np_project(NULL, text, &ask, &ar, &p, &shown, &e) == NEAP_OK) look(text, &p);
  np_buf_free(&shown);
  np_arena_free(&ar);
  return 0;
}
