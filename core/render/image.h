/*
** What an image costs, by its size: every provider's rule is a row of figures, and one walk
** finds the picture's bytes in any form of part and reads the size from their header.
** next: image.c, then model.h
*/
#ifndef NP_RENDER_IMAGE_H
#define NP_RENDER_IMAGE_H

#include "base/json.h"

typedef enum np_image_rule {
  NP_IMAGE_TILES,   /* base, and `tile` for each 512-pixel square after two shrinks */
  NP_IMAGE_PATCHES, /* `side`-pixel squares, at most `most`, times a factor */
  NP_IMAGE_CROPS,   /* `tile` for each crop, whose size follows from the shorter side */
  NP_IMAGE_FLAT     /* `base`, whatever the size */
} np_image_rule;

typedef struct np_image_cost {
  np_image_rule rule;
  uint32_t base, tile; /* tokens */
  uint32_t side;       /* of a patch, pixels */
  uint32_t edge;       /* the longer side is shrunk to it; 0: no limit */
  uint32_t most;       /* patches at most, the picture is shrunk to that */
  bool whole;          /* shrunk to whole patches; else as little as is needed */
  uint32_t percent;    /* a patch's tokens in hundredths */
} np_image_cost;

typedef struct np_image {
  uint32_t w, h; /* pixels; 0: not known */
  bool low;      /* asked for in low detail */
} np_image;

/* Reads an image part of any provider: a data URL in image_url (object or string), base64 in
** source.data or inlineData.data. Formats: PNG, GIF, JPEG, WebP (lossy, lossless, extended).
** A picture that is elsewhere, or of a form not known, has the size 0 x 0. */
np_image np_image_read(np_json part);

/* Tokens of a picture. One of unknown size costs the most there can be; *sure (may be NULL)
** is false then, unless the rule does not ask for the size. */
uint32_t np_image_tokens(const np_image_cost *c, np_image image, bool *sure);

#endif
