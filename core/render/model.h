/*
** What is known of each model: its encoding, how far a count may be off, its window, what its
** images and tools cost. Figures that change: data with source and date. A name that the
** table does not hold is for the caller to refuse. next: model.c
*/
#ifndef NP_RENDER_MODEL_H
#define NP_RENDER_MODEL_H

#include "render/image.h"

#define NP_MILLION 1000000 /* factors and bounds are in millionths: no float decides */

typedef struct np_model {
  const char *name;     /* how its names begin; the longest such row is the model's */
  const char *encoding; /* its own, or the nearest public one */
  bool exact;           /* its own */
  int64_t factor;       /* its tokens for one of the encoding, in millionths */
  int64_t bound;        /* of the relative error of that, in millionths; 0 when exact */
  int64_t window;       /* tokens; 0: not known */
  const np_image_cost *image;
  uint32_t page; /* a page of a document: its picture, and what text one may have */
  uint32_t tools, tools_forced; /* what the provider adds once when there are tools */
  const char *source, *date;
} np_model;

/* The row of a model's full name, with or without the provider's prefix ("anthropic/…",
** "us.anthropic.…"). NULL: none fits. */
const np_model *np_model_find(np_str name);
/* Bytes of a row's name where a model's full name begins with it, behind its provider's prefix
** if it has one; 0: it does not. */
size_t np_model_fit(np_str name, const char *row);
/* Whether the model's signed thoughts hold only behind the bytes that they came from: a change
** before one voids it. Anthropic, extended thinking: the 2026 generation, the default for
** accounts from 2026-08-31. */
bool np_model_binds(const np_model *m);
/* Whatever a format's provider serves: for sessions that name no model. Never NULL. */
const np_model *np_model_default(np_str format);
const np_model *np_model_at(size_t i); /* NULL past the last */

#endif
