/*
** Opens images: the sum first, then bounds, then every value that is used as an index.
** next: build.c
*/
#include "token/image.h"

#define AGAIN "install neap again or run `make`"

size_t np_image_item(int part) {
  static const uint8_t sizes[NP_PARTS] = {
      [NP_PART_KEYS] = sizeof(np_key),
      [NP_PART_FAR] = 1,
      [NP_PART_MERGES] = sizeof(uint64_t),
      [NP_PART_SHORTER] = sizeof(uint32_t),
      [NP_PART_PIECES] = sizeof(uint32_t),
      [NP_PART_PAIRS] = sizeof(uint64_t),
      [NP_PART_MAYBE] = sizeof(uint64_t),
      [NP_PART_KNOWN] = sizeof(uint64_t),
      [NP_PART_STARTS] = sizeof(uint64_t),
      [NP_PART_SEAMS] = sizeof(uint64_t),
      [NP_PART_EDGES] = sizeof(uint16_t),
      [NP_PART_TWO] = sizeof(uint32_t),
      [NP_PART_BYTE] = sizeof(uint32_t),
      [NP_PART_EXTERNAL] = sizeof(uint32_t),
      [NP_PART_RANKS] = sizeof(uint32_t),
      [NP_PART_SPECIAL] = sizeof(np_special),
      [NP_PART_TEXTS] = 1,
  };
  return sizes[part];
}

static uint64_t load_native(const uint8_t *p) {
  uint64_t x;
  memcpy(&x, p, sizeof x);
  return x;
}

static inline uint64_t stir(uint64_t row, uint64_t word) {
  return (row ^ word) * NP_MIX2;
}

/* Four rows side by side, so that it runs at the speed of memory. Each step is one-to-one in
** its row: no change of a single word goes unseen. */
uint64_t np_image_sum(const uint8_t *p, size_t n) {
  uint64_t a = n, b = 1, c = 2, d = 3;
  const uint8_t *end = p + n / 32 * 32;
  for (; p < end; p += 32) {
    a = stir(a, load_native(p));
    b = stir(b, load_native(p + 8));
    c = stir(c, load_native(p + 16));
    d = stir(d, load_native(p + 24));
  }
  for (size_t i = 0; i < n % 32; i++) a = stir(a, p[i]);
  const uint64_t row[4] = {a, b, c, d};
  uint64_t h = 0;
  for (int i = 0; i < 4; i++) h = (h ^ row[i] ^ row[i] >> 32) * NP_MIX;
  return h ^ h >> 32;
}

#define SUM_FROM (offsetof(np_image_head, sum) + sizeof(uint64_t))

void np_image_seal(uint8_t *image, size_t n) {
  np_image_head h;
  memcpy(&h, image, sizeof h);
  memcpy(h.magic, "neapmap\n", sizeof h.magic);
  h.version = NP_IMAGE_VERSION;
  h.order = NP_IMAGE_ORDER;
  h.size = n;
  h.sum = np_image_sum(image + SUM_FROM, n - SUM_FROM);
  memcpy(image, &h, sizeof h);
}

/* ---- checks ------------------------------------------------------------------------ */

static neap_rc check_head(const char *where, np_str image, np_image_head *h, np_err *e) {
  if (image.n < 8 || memcmp(image.p, "neapmap\n", 8) != 0) {
    return np_fail(e, NEAP_E_VOCAB, "%s: is no ready vocabulary; " AGAIN, where);
  }
  if (image.n < sizeof *h) {
    return np_fail(e, NEAP_E_VOCAB, "%s: is cut off; " AGAIN, where);
  }
  memcpy(h, image.p, sizeof *h);
  if (h->order == 0x04030201u) {
    return np_fail(e, NEAP_E_VOCAB,
                   "%s: was made for machines of the other byte order; " AGAIN, where);
  }
  if (h->version != NP_IMAGE_VERSION) {
    return np_fail(e, NEAP_E_VOCAB,
                   "%s: has version %u of the format, this neap reads version %d; " AGAIN,
                   where, (unsigned)h->version, NP_IMAGE_VERSION);
  }
  if (h->size != image.n) {
    return np_fail(e, NEAP_E_VOCAB, "%s: has %lu bytes where its head says %lu; " AGAIN,
                   where, (unsigned long)image.n, (unsigned long)h->size);
  }
  const uint8_t *p = (const uint8_t *)image.p;
  if (h->order == NP_IMAGE_ORDER &&
      h->sum == np_image_sum(p + SUM_FROM, image.n - SUM_FROM)) {
    return NEAP_OK;
  }
  return np_fail(e, NEAP_E_VOCAB, "%s: is damaged (its checksum differs); " AGAIN, where);
}

static bool is_power(uint64_t n, uint64_t least) {
  return n >= least && n <= NP_IMAGE_LARGEST && (n & (n - 1)) == 0;
}

/* Every part lies inside the image and has the number of items that others rely on. */
static bool has_parts(const np_image_head *h) {
  if (h->size > NP_IMAGE_LARGEST || h->tokens < 256 || h->tokens > NP_TOKEN_LIMIT ||
      h->longest < 1 || h->longest > NP_TOKEN_LONGEST) {
    return false;
  }
  for (int i = 0; i < NP_PARTS; i++) {
    np_part part = h->parts[i];
    if (part.at % NP_IMAGE_LINE || part.at < sizeof *h || part.at > h->size ||
        part.n > (h->size - part.at) / np_image_item(i)) {
      return false;
    }
  }
  const np_part *p = h->parts;
  uint64_t external = p[NP_PART_EXTERNAL].n, ranks = p[NP_PART_RANKS].n;
  return p[NP_PART_KEYS].n == h->tokens && p[NP_PART_MERGES].n == h->tokens &&
         p[NP_PART_SHORTER].n == h->tokens && is_power(p[NP_PART_PIECES].n, 16) &&
         is_power(p[NP_PART_PAIRS].n, 16) && is_power(p[NP_PART_MAYBE].n, 2) &&
         is_power(p[NP_PART_KNOWN].n, 2) && is_power(p[NP_PART_STARTS].n, 16) &&
         is_power(p[NP_PART_SEAMS].n, 2) && p[NP_PART_EDGES].n == 4096 &&
         p[NP_PART_TWO].n == 65536 && p[NP_PART_BYTE].n == 256 &&
         (external ? external == h->tokens && ranks : ranks == 0);
}

/* The texts of name and source end in a zero and hold no other. */
static bool has_names(const np_image_head *h, const char *texts) {
  uint64_t n = h->parts[NP_PART_TEXTS].n, name = h->name_n, source = h->source_n;
  if (!name || !source || name + source + 2 > n) return false;
  const char *next = texts + name + 1;
  return memchr(texts, 0, name + 1) == texts + name &&
         memchr(next, 0, source + 1) == next + source;
}

/* Parts come before what they make, so that undoing merges ends. A part's rank less the
** token's own borrows the highest bit when it is the lower one. One sum of bits for all: the
** loop has no branch to keep it from running several at a time. */
static bool has_merges(const np_vocab *v) {
  uint64_t bad = 0;
  for (uint64_t id = 0; id < v->tokens; id++) {
    uint64_t m = v->merges[id], left = m >> 28, right = m >> 8 & 0xFFFFF;
    uint64_t made = ((left - id) & (right - id)) >> 63;
    uint64_t atom = ((left ^ id) | (right ^ id)) == 0;
    bad |= (made | atom) ^ 1;
    bad |= (m & 0xFF) == 0;
  }
  return !bad;
}

static bool has_bytes(const np_vocab *v) {
  for (unsigned i = 0; i < 256; i++) {
    if (v->byte[i] >= v->tokens || np_token_len(v, v->byte[i]) != 1) return false;
  }
  for (unsigned i = 0; i < 65536; i++) {
    uint32_t id = v->two[i];
    if (id == NP_TOKEN_NONE) continue;
    if (id >= v->tokens || np_token_len(v, id) != 2) return false;
  }
  return true;
}

static bool has_special(const np_vocab *v, uint64_t texts) {
  for (uint32_t i = 0; i < v->specials; i++) {
    np_special s = v->special[i];
    if (s.n < 1 || s.n > 256 || s.at > texts || s.n > texts - s.at) return false;
    if ((uint8_t)v->texts[s.at] != s.first) return false;
    if (i && s.id <= v->special[i - 1].id) return false;
  }
  return true;
}

/* ---- opening ----------------------------------------------------------------------- */

static np_slots slots_of(const char *base, const np_part *part) {
  uint32_t bits = 1;
  while ((uint64_t)1 << bits < part->n) bits++;
  return (np_slots){base + part->at, (uint32_t)(((uint64_t)1 << bits) - 1), 64 - bits};
}

static void bind_tables(np_vocab *v, const char *base, const np_part *p) {
  v->keys = (const void *)(base + p[NP_PART_KEYS].at);
  v->far = (const void *)(base + p[NP_PART_FAR].at);
  v->far_n = (uint32_t)p[NP_PART_FAR].n;
  v->merges = (const void *)(base + p[NP_PART_MERGES].at);
  v->shorter = (const void *)(base + p[NP_PART_SHORTER].at);
  v->pieces = slots_of(base, &p[NP_PART_PIECES]);
  v->pairs = slots_of(base, &p[NP_PART_PAIRS]);
  v->maybe = slots_of(base, &p[NP_PART_MAYBE]);
  v->known = slots_of(base, &p[NP_PART_KNOWN]);
  v->starts = slots_of(base, &p[NP_PART_STARTS]);
  v->seams = slots_of(base, &p[NP_PART_SEAMS]);
  v->edges = (const void *)(base + p[NP_PART_EDGES].at);
  v->two = (const void *)(base + p[NP_PART_TWO].at);
  v->byte = (const void *)(base + p[NP_PART_BYTE].at);
  bool same = p[NP_PART_EXTERNAL].n == 0;
  v->external = same ? NULL : (const void *)(base + p[NP_PART_EXTERNAL].at);
  v->ranks = same ? NULL : (const void *)(base + p[NP_PART_RANKS].at);
  v->externals = (uint32_t)p[NP_PART_RANKS].n;
  v->special = (const void *)(base + p[NP_PART_SPECIAL].at);
  v->specials = (uint32_t)p[NP_PART_SPECIAL].n;
  v->texts = base + p[NP_PART_TEXTS].at;
}

void np_image_bind(np_vocab *v, np_str image) {
  np_image_head h;
  memcpy(&h, image.p, sizeof h);
  v->image = image;
  v->split = (np_split_kind)h.split;
  v->flags = h.flags;
  v->tokens = h.tokens;
  v->longest = h.longest;
  memcpy(v->lengths, h.lengths, sizeof v->lengths);
  bind_tables(v, image.p, h.parts);
  v->own = (np_encoding_info){v->texts, h.tokens, v->texts + h.name_n + 1, h.exact != 0};
  v->info = &v->own;
  memset(v->special_first, 0, sizeof v->special_first);
  for (uint32_t i = 0; i < v->specials; i++) {
    uint8_t first = (uint8_t)v->special[i].first;
    v->special_first[first >> 3] |= (uint8_t)(1u << (first & 7));
  }
}

neap_rc np_image_open(const neap_alloc *a, const char *where, np_str image,
                      np_vocab **out, np_err *e) {
  *out = NULL;
  np_image_head h;
  neap_rc rc = check_head(where, image, &h, e);
  if (rc) return rc;
  np_vocab *v = np_calloc(a, 1, sizeof *v);
  if (!v) return np_fail_mem(e);
  bool ok = has_parts(&h) && np_split_known(h.split) &&
            has_names(&h, image.p + h.parts[NP_PART_TEXTS].at);
  if (ok) {
    np_image_bind(v, image);
    ok = has_merges(v) && has_bytes(v) && has_special(v, h.parts[NP_PART_TEXTS].n);
  }
  if (!ok) {
    np_free(a, v);
    return np_fail(e, NEAP_E_VOCAB, "%s: holds values that make no sense; " AGAIN, where);
  }
  v->alloc = *a;
  *out = v;
  return NEAP_OK;
}
