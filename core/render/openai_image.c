/*
** Images by OpenAI's tile rule: low detail costs the base; otherwise the picture is fitted
** into 2048 x 2048, shrunk until its shortest side is at most 768, and costs a tile for every
** 512-pixel square. next: openai.c
*/
#include "render/openai.h"

typedef struct bytes {
  uint8_t b[4096]; /* enough for the headers; a JPEG's size may stand later */
  size_t n;
} bytes;

static int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes the start of a data URL's base64 text. */
static void decode(np_str url, bytes *out) {
  size_t at = np_str_find(url, NP_LIT("base64,"), 0);
  uint32_t bits = 0;
  int have = 0;
  out->n = 0;
  if (at == SIZE_MAX) return;
  for (at += 7; at < url.n && out->n < sizeof out->b; at++) {
    int v = sextet(url.p[at]);
    if (v < 0) break;
    bits = bits << 6 | (uint32_t)v;
    if ((have += 6) < 8) continue;
    out->b[out->n++] = (uint8_t)(bits >> (have -= 8));
  }
}

static uint32_t be16(const uint8_t *p) {
  return (uint32_t)p[0] << 8 | p[1];
}

static bool jpeg_size(const bytes *d, uint32_t *w, uint32_t *h) {
  size_t i = 2;
  while (i + 9 < d->n && d->b[i] == 0xFF) {
    uint8_t marker = d->b[i + 1];
    if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 &&
        marker != 0xCC) {
      *h = be16(d->b + i + 5);
      *w = be16(d->b + i + 7);
      return true;
    }
    i += 2 + be16(d->b + i + 2);
  }
  return false;
}

/* Width and height from a PNG, GIF, JPEG or lossy WebP header. */
static bool image_size(const bytes *d, uint32_t *w, uint32_t *h) {
  const uint8_t *b = d->b;
  if (d->n >= 24 && memcmp(b, "\x89PNG", 4) == 0) {
    *w = be16(b + 16) << 16 | be16(b + 18);
    *h = be16(b + 20) << 16 | be16(b + 22);
    return true;
  }
  if (d->n >= 10 && memcmp(b, "GIF8", 4) == 0) {
    *w = b[6] | (uint32_t)b[7] << 8;
    *h = b[8] | (uint32_t)b[9] << 8;
    return true;
  }
  if (d->n >= 30 && memcmp(b, "RIFF", 4) == 0 && memcmp(b + 8, "WEBPVP8 ", 8) == 0) {
    *w = (b[26] | (uint32_t)b[27] << 8) & 0x3FFF;
    *h = (b[28] | (uint32_t)b[29] << 8) & 0x3FFF;
    return true;
  }
  return d->n >= 4 && b[0] == 0xFF && b[1] == 0xD8 && jpeg_size(d, w, h);
}

static uint64_t tiles(uint64_t w, uint64_t h) {
  uint64_t longest = w > h ? w : h;
  if (longest > 2048) {
    w = w * 2048 / longest;
    h = h * 2048 / longest;
  }
  uint64_t shortest = w < h ? w : h;
  if (shortest > 768) {
    w = w * 768 / shortest;
    h = h * 768 / shortest;
  }
  if (!w) w = 1;
  if (!h) h = 1;
  return (w + 511) / 512 * ((h + 511) / 512);
}

#define MOST_TILES 8 /* 2048 x 768: what an image of unknown size may cost at most */

uint32_t np_openai_image_tokens(const np_vocab *v, np_json part) {
  const np_openai_cost *c = np_openai_cost_find(v);
  np_json image, url, detail = {0};
  bytes head;
  uint32_t w = 0, h = 0;
  np_json_get(part, "image_url", &image);
  if (!np_json_get(image, "url", &url)) url = image;
  np_json_get(image, "detail", &detail);
  if (np_str_is(detail.raw, "\"low\"")) return (uint32_t)c->image_base;
  decode(url.type == NP_JSON_STRING ? url.raw : NP_LIT(""), &head);
  uint64_t n = image_size(&head, &w, &h) ? tiles(w, h) : MOST_TILES;
  return (uint32_t)((uint64_t)c->image_base + (uint64_t)c->image_tile * n);
}
