/*
** What a provider's cache of prompts costs and how it works, by model: prices of a token read
** and of one written, the shortest prefix that is kept, how long it lives, where it may be
** found again. Figures that change: data with source and date. What a prompt would be billed
** by them is engine/bill.c. next: cache.c
*/
#ifndef NP_RENDER_CACHE_H
#define NP_RENDER_CACHE_H

#include "render/model.h"

typedef struct np_cache {
  const char *name; /* how names of models begin; the longest such row is the model's */
  /* in millionths of an uncached token: one read from the cache, one written to it, one
  ** written for the longer life (0: there is none) */
  int64_t read, write, write_long;
  int64_t minimum; /* tokens of the shortest prefix that is kept */
  int64_t step;    /* cached tokens are counted in steps of this size */
  /* seconds that a prefix lives after its last use, and the longer life; 0: none is stated */
  int64_t ttl, ttl_long;
  /* prefixes are kept only at so many marked places; 0: anywhere, without marks */
  uint32_t marks;
  uint32_t
      look_back; /* blocks, the marked one with them, that are looked at for one kept */
  int64_t input; /* thousandths of a dollar for a million uncached tokens; 0: not known */
  const char *source, *date;
} np_cache;

/* The row of a model's full name, with or without its provider's prefix. NULL: none fits. */
const np_cache *np_cache_find(np_str name);
/* For sessions that name no model: the newest generation of the format's provider. Never
** NULL; a format without a provider has the same factors and no other rule. */
const np_cache *np_cache_default(np_str format);
const np_cache *np_cache_at(size_t i); /* NULL past the last */

#endif
