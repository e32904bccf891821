/*
** What building an image takes: the plan of its parts, then the fillers of single tables.
** next: build.c, then table.c
*/
#ifndef NP_TOKEN_BUILD_H
#define NP_TOKEN_BUILD_H

#include "token/image.h"

/* An image in the making: `v` reads what is already there, `base` is written to. */
typedef struct np_build {
  const neap_alloc *alloc;
  const np_vocab_parts *in;
  np_vocab *v;
  uint8_t *base;
  np_image_head head;
  np_err *e;
} np_build;

/* Where a part is written. */
void *np_build_part(const np_build *b, int part);

static inline uint32_t np_build_len(const np_vocab_parts *in, uint32_t id) {
  return in->start[id + 1] - in->start[id];
}

static inline const uint8_t *np_build_bytes(const np_vocab_parts *in, uint32_t id) {
  return in->bytes + in->start[id];
}

/* No merge makes it. */
static inline bool np_build_is_atom(const np_vocab_parts *in, uint32_t id) {
  return in->left[id] == id;
}

/* Merges make it, or need it to begin with: not an atom of several bytes. */
static inline bool np_build_is_made(const np_vocab_parts *in, uint32_t id) {
  return !np_build_is_atom(in, id) || np_build_len(in, id) == 1;
}

/* The merge of `id` joins two characters that are not ASCII. */
static inline bool np_build_is_edge(const np_vocab_parts *in, uint32_t id) {
  if (np_build_is_atom(in, id)) return false;
  const uint8_t *p = np_build_bytes(in, id) + np_build_len(in, in->left[id]);
  return np_is_edge(p[-1], p[0]);
}

/* Table by table, in this order. NEAP_E_VOCAB with the rank for what only shows here. */
neap_rc np_build_tables(np_build *b);
/* The number of beginnings of three bytes, for the plan. NEAP_E_MEMORY. */
neap_rc np_build_starts(const np_build *b, uint64_t *n);

#endif
