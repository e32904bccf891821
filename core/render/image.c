/*
** Reading a picture's size, and the providers' rules for its tokens. All arithmetic is in
** whole numbers, so it is the same everywhere. next: model.c
*/
#include "render/image.h"

/* ---- the size ---- */

typedef struct bytes {
  uint8_t b[4096]; /* enough for the headers; a JPEG's size may stand later */
  size_t n;
} bytes;

static int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* The start of base64 text. JSON may write a slash as \/: the backslash is passed over. */
static void decode(np_str text, bytes *out) {
  uint32_t bits = 0;
  int have = 0;
  out->n = 0;
  for (size_t at = 0; at < text.n && out->n < sizeof out->b; at++) {
    if (text.p[at] == '\\') continue;
    int v = sextet(text.p[at]);
    if (v < 0) break;
    bits = bits << 6 | (uint32_t)v;
    if ((have += 6) < 8) continue;
    out->b[out->n++] = (uint8_t)(bits >> (have -= 8));
  }
}

static uint32_t be16(const uint8_t *p) {
  return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t le24(const uint8_t *p) {
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}

static bool jpeg_size(const bytes *d, np_image *out) {
  size_t i = 2;
  while (i + 9 < d->n && d->b[i] == 0xFF) {
    uint8_t marker = d->b[i + 1];
    if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 &&
        marker != 0xCC) {
      out->h = be16(d->b + i + 5);
      out->w = be16(d->b + i + 7);
      return true;
    }
    i += 2 + be16(d->b + i + 2);
  }
  return false;
}

/* The three kinds of WebP: lossy, lossless (14 bits each), extended (24 bits each). */
static bool webp_size(const uint8_t *b, np_image *out) {
  if (memcmp(b + 12, "VP8 ", 4) == 0) {
    out->w = le24(b + 26) & 0x3FFF;
    out->h = le24(b + 28) & 0x3FFF;
    return true;
  }
  if (memcmp(b + 12, "VP8L", 4) == 0) {
    uint32_t bits = le24(b + 21) | (uint32_t)b[24] << 24;
    out->w = (bits & 0x3FFF) + 1;
    out->h = (bits >> 14 & 0x3FFF) + 1;
    return true;
  }
  if (memcmp(b + 12, "VP8X", 4) != 0) return false;
  out->w = le24(b + 24) + 1;
  out->h = le24(b + 27) + 1;
  return true;
}

static bool header_size(const bytes *d, np_image *out) {
  const uint8_t *b = d->b;
  if (d->n >= 24 && memcmp(b, "\x89PNG", 4) == 0) {
    out->w = be16(b + 16) << 16 | be16(b + 18);
    out->h = be16(b + 20) << 16 | be16(b + 22);
    return true;
  }
  if (d->n >= 10 && memcmp(b, "GIF8", 4) == 0) {
    out->w = b[6] | (uint32_t)b[7] << 8;
    out->h = b[8] | (uint32_t)b[9] << 8;
    return true;
  }
  if (d->n >= 32 && memcmp(b, "RIFF", 4) == 0 && memcmp(b + 8, "WEBP", 4) == 0)
    return webp_size(b, out);
  return d->n >= 4 && b[0] == 0xFF && b[1] == 0xD8 && jpeg_size(d, out);
}

/* ---- the part ---- */

/* The base64 text of the picture; empty when it is elsewhere. Tools give it side by side with
** its mimeType. */
static np_str data_of(np_json part) {
  static const char *const holders[] = {"source", "inlineData", "inline_data"};
  np_json image, url;
  for (size_t i = 0; i < NP_COUNT(holders); i++) {
    if (np_json_get(part, holders[i], &image) && np_json_get(image, "data", &url) &&
        url.type == NP_JSON_STRING)
      return url.raw;
  }
  if (np_json_get(part, "data", &url) && url.type == NP_JSON_STRING) return url.raw;
  if (!np_json_get(part, "image_url", &image)) return NP_LIT("");
  if (!np_json_get(image, "url", &url)) url = image;
  if (url.type != NP_JSON_STRING) return NP_LIT("");
  size_t at = np_str_find(url.raw, NP_LIT("base64,"), 0);
  return at == SIZE_MAX ? NP_LIT("") : np_str_cut(url.raw, at + 7, url.raw.n);
}

/* A JSON string's bytes between its quotes. */
static np_str unquoted(np_str raw) {
  return raw.n && raw.p[0] == '"' ? np_str_cut(raw, 1, raw.n) : raw;
}

np_image np_image_read(np_json part) {
  np_image out = {0};
  np_json holder, detail;
  bytes head;
  np_json_get(part, "image_url", &holder);
  if (!np_json_get(holder, "detail", &detail)) np_json_get(part, "detail", &detail);
  out.low = detail.type == NP_JSON_STRING && np_json_is_key(detail.raw, "low");
  decode(unquoted(data_of(part)), &head);
  if (!header_size(&head, &out)) out.w = out.h = 0;
  return out;
}

/* ---- the rules ---- */

static void shrink(uint64_t *w, uint64_t *h, uint64_t side, uint64_t limit) {
  if (side <= limit) return;
  *w = *w * limit / side;
  *h = *h * limit / side;
}

static uint64_t longer(uint64_t w, uint64_t h) {
  return w > h ? w : h;
}

static uint64_t shorter(uint64_t w, uint64_t h) {
  return w < h ? w : h;
}

static uint64_t squares(uint64_t w, uint64_t h, uint64_t side) {
  if (!w) w = 1;
  if (!h) h = 1;
  return (w + side - 1) / side * ((h + side - 1) / side);
}

/* Fitted into 2048 x 2048, then shrunk until the shorter side is at most 768. */
static uint64_t tiles(uint64_t w, uint64_t h) {
  shrink(&w, &h, longer(w, h), 2048);
  shrink(&w, &h, shorter(w, h), 768);
  return squares(w, h, 512);
}

static uint64_t root(uint64_t x) {
  uint64_t r = 0;
  for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1) {
    if ((r | bit) * (r | bit) <= x) r |= bit;
  }
  return r;
}

/* Shrunk until one side is a whole number of patches and all are at most `most`: OpenAI's
** rule r = sqrt(side^2 * most / (w * h)), times what makes the tighter side whole. */
static uint64_t whole_patches(const np_image_cost *c, uint64_t w, uint64_t h) {
  uint64_t across = root(c->most * w / h), down = root(c->most * h / w);
  if (!across || !down) return c->most; /* thinner than a patch */
  if (across * h < down * w) return across * ((h * across + w - 1) / w);
  return down * ((w * down + h - 1) / h);
}

/* Shrunk with its shape kept until its squares are at most `most`: the largest width that
** fits, found by halving. The squares grow with the width. */
static uint64_t patches(const np_image_cost *c, uint64_t w, uint64_t h) {
  if (c->edge) shrink(&w, &h, longer(w, h), c->edge);
  uint64_t n = squares(w, h, c->side);
  if (!c->most || n <= c->most) return n;
  if (c->whole) return whole_patches(c, w, h);
  uint64_t low = 1, high = w;
  while (low < high) {
    uint64_t middle = (low + high + 1) / 2;
    if (squares(middle, h * middle / w, c->side) <= c->most) low = middle;
    else high = middle - 1;
  }
  n = squares(low, h * low / w, c->side);
  return n > c->most ? c->most : n; /* a picture a pixel wide */
}

/* Both sides at most 384: one. Otherwise crops of two thirds of the shorter side, from 256
** to 768 pixels. */
static uint64_t crops(uint64_t w, uint64_t h) {
  if (longer(w, h) <= 384) return 1;
  uint64_t side = shorter(w, h) * 2 / 3;
  return squares(w, h, side < 256 ? 256 : side > 768 ? 768 : side);
}

#define MOST_TILES 8   /* 2048 x 768 */
#define MOST_CROPS 121 /* 8,000 x 8,000 */
#define MOST_PIXELS 8000

static uint64_t at_most(const np_image_cost *c) {
  switch (c->rule) {
    case NP_IMAGE_TILES: return c->base + (uint64_t)c->tile * MOST_TILES;
    case NP_IMAGE_CROPS: return (uint64_t)c->tile * MOST_CROPS;
    case NP_IMAGE_FLAT: return c->base;
    default: break;
  }
  uint64_t n = c->most ? c->most : squares(MOST_PIXELS, MOST_PIXELS, c->side);
  return (n * c->percent + 99) / 100;
}

uint32_t np_image_tokens(const np_image_cost *c, np_image image, bool *sure) {
  bool known = image.w && image.h;
  uint64_t n = at_most(c);
  if (c->rule == NP_IMAGE_FLAT) known = true;
  else if (c->rule == NP_IMAGE_TILES && image.low) {
    known = true;
    n = c->base;
  } else if (known && c->rule == NP_IMAGE_TILES) {
    n = c->base + c->tile * tiles(image.w, image.h);
  } else if (known && c->rule == NP_IMAGE_CROPS) {
    n = c->tile * crops(image.w, image.h);
  } else if (known) {
    n = (patches(c, image.w, image.h) * c->percent + 99) / 100;
  }
  if (sure) *sure = known;
  return n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)n;
}
