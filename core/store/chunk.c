/*
** Pieces of large bodies: their sums, their marks, and the map of a body. No database here.
** next: blobs.c
*/
#include "store/chunk.h"

static void add_le(np_buf *b, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; i++) np_buf_addc(b, (char)(v >> (8 * i) & 255));
}

static uint64_t get_le(const char *p, int bytes) {
  uint64_t v = 0;
  for (int i = 0; i < bytes; i++) v |= (uint64_t)(unsigned char)p[i] << (8 * i);
  return v;
}

static uint64_t seed_of(const uint8_t *hash, uint64_t n) {
  return get_le((const char *)hash, 8) ^ (n + 1) * 0x9E3779B97F4A7C15ull;
}

uint64_t np_chunk_sum(const uint8_t *hash, size_t n, np_str marks, np_str piece) {
  return np_sum64(np_sum64(seed_of(hash, n), marks), piece);
}

/* Apart from those of pieces and of maps, which are below 2^55. */
uint64_t np_whole_sum(const uint8_t *hash, np_str body, char *to) {
  return np_sum_copy(seed_of(hash, UINT64_MAX - 1), body, to);
}

/* ---- newlines ---------------------------------------------------------------------- */

/* The offset behind the next newline at or after `at`, SIZE_MAX when there is none. */
static size_t behind(np_str s, size_t at) {
  const char *nl = at < s.n ? memchr(s.p + at, '\n', s.n - at) : NULL;
  return nl ? (size_t)(nl - s.p) + 1 : SIZE_MAX;
}

void np_chunk_marks(np_str piece, np_buf *out) {
  size_t lines = 0;
  for (size_t at = 0; (at = behind(piece, at)) != SIZE_MAX;) {
    /* the mark of the last byte, 32768, still fits in two bytes */
    if (++lines % NP_MARK_LINES == 0) add_le(out, at, 2);
  }
}

size_t np_chunk_behind(np_str piece, np_str marks, size_t r) {
  size_t k = r / NP_MARK_LINES, at = 0;
  if (k > marks.n / 2) return SIZE_MAX;
  if (k > 0) at = (size_t)get_le(marks.p + 2 * (k - 1), 2);
  if (at > piece.n) return SIZE_MAX;
  for (size_t left = r % NP_MARK_LINES; left > 0 && at != SIZE_MAX; left--)
    at = behind(piece, at);
  return at;
}

static size_t count(np_str s) {
  size_t lines = 0;
  for (size_t at = 0; (at = behind(s, at)) != SIZE_MAX;) lines++;
  return lines;
}

/* ---- the map ----------------------------------------------------------------------- */

/* Apart from those of pieces, which are fewer than 2^24. */
static uint64_t map_seed(const uint8_t *hash, size_t size) {
  return seed_of(hash, (uint64_t)size << NP_CHUNK_BITS);
}

/* The newlines before each piece, the lines of the whole (4 bytes each), and a sum (8). */
void np_chunk_map_write(const uint8_t *hash, np_str body, np_buf *out) {
  size_t from = out->n, newlines = 0;
  for (size_t at = 0; at < body.n; at += NP_CHUNK) {
    add_le(out, newlines, 4);
    newlines += count(np_str_cut(body, at, at + np_chunk_size(body.n, at / NP_CHUNK)));
  }
  bool open = body.n > 0 && body.p[body.n - 1] != '\n';
  add_le(out, newlines + (open ? 1 : 0), 4);
  if (out->failed) return;
  np_str map = np_str_of(out->p + from, out->n - from);
  add_le(out, np_sum64(map_seed(hash, body.n), map), 8);
}

bool np_chunk_map_read(const uint8_t *hash, size_t size, np_str map, np_chunk_map *out) {
  size_t pieces = np_chunk_count(size);
  if (map.n != 4 * pieces + 12) return false;
  np_str text = np_str_cut(map, 0, map.n - 8);
  if (np_sum64(map_seed(hash, size), text) != get_le(map.p + text.n, 8)) return false;
  out->before = np_str_cut(text, 0, 4 * pieces);
  out->lines = (size_t)get_le(text.p + 4 * pieces, 4);
  return true;
}

static size_t before(const np_chunk_map *m, size_t piece) {
  return (size_t)get_le(m->before.p + 4 * piece, 4);
}

/* The last piece with fewer newlines before it. */
size_t np_chunk_of_newline(const np_chunk_map *m, size_t q, size_t *rest) {
  size_t lo = 0, hi = m->before.n / 4;
  while (hi - lo > 1) {
    size_t mid = lo + (hi - lo) / 2;
    if (before(m, mid) < q) lo = mid;
    else hi = mid;
  }
  *rest = q - before(m, lo);
  return lo;
}
