/*
** The image of a vocabulary, and so the form of a ready file: a head, then flat tables at
** offsets the head gives, each at a multiple of 64, in the byte order of the machine that
** made it and in types of fixed size. It is checked in two ways when it is opened. A sum
** over all bytes finds what happens to files: bits that flip, ends cut off. It is no proof
** of origin: someone can write a file with a right sum that counts wrongly. But no file,
** whatever it holds when it is opened, makes neap read outside it or run without end. A ready
** file is mapped: one that is cut short or written in place while it is open is not guarded
** against, only one that is replaced (by a rename, as `make` and `neap vocab` do).
** next: image.c
*/
#ifndef NP_TOKEN_IMAGE_H
#define NP_TOKEN_IMAGE_H

#include "token/vocab.h"

#define NP_IMAGE_VERSION 1
#define NP_IMAGE_ORDER 0x01020304u
#define NP_IMAGE_LARGEST ((uint64_t)256 << 20) /* bytes; no vocabulary comes near */
#define NP_IMAGE_LINE 64

enum {
  NP_PART_KEYS,
  NP_PART_FAR,
  NP_PART_MERGES,
  NP_PART_SHORTER,
  NP_PART_PIECES,
  NP_PART_PAIRS,
  NP_PART_MAYBE,
  NP_PART_KNOWN,
  NP_PART_STARTS,
  NP_PART_SEAMS,
  NP_PART_EDGES,
  NP_PART_TWO,
  NP_PART_BYTE,
  NP_PART_EXTERNAL,
  NP_PART_RANKS,
  NP_PART_SPECIAL,
  NP_PART_TEXTS,
  NP_PARTS
};

typedef struct np_part {
  uint64_t at, n; /* offset from the image's beginning, items */
} np_part;

typedef struct np_image_head {
  char magic[8];
  uint32_t version, order;
  uint64_t size; /* bytes of the whole image */
  uint64_t sum;  /* np_image_sum of all that follows this field */
  uint32_t split, flags, tokens, longest;
  uint32_t exact, name_n, source_n, zero; /* the texts begin with name, 0, source, 0 */
  uint64_t lengths[4];
  np_part parts[NP_PARTS];
} np_image_head;

/* Bytes of an item of a part. */
size_t np_image_item(int part);
uint64_t np_image_sum(const uint8_t *p, size_t n);
/* Writes magic, sizes and sum into the head of a finished image. */
void np_image_seal(uint8_t *image, size_t n);

/* Points the tables of `v` into `image`, whose head and parts are sound. */
void np_image_bind(np_vocab *v, np_str image);

/* A vocabulary over `image`, which is checked, must be 8-byte aligned and must outlive it.
** `where` is for messages. */
neap_rc np_image_open(const neap_alloc *a, const char *where, np_str image,
                      np_vocab **out, np_err *e);

#endif
