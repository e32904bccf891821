/*
** Form C, part by part. Decompositions and compositions are libutf8proc's; which characters
** take part is our table's, so that all versions of the library give the same.
** next: ../token/token.h
*/
#include "text/nfc.h"

#include <utf8proc.h>

#include "text/nfc_table.h" /* made by gen/nfc_table.c */

#define SMALL 64 /* code points of a part that needs no memory */
#define GROWS 4  /* code points that one decomposes to, at most */

/* ---- parts ---- */

static bool moves(uint32_t cp) {
  unsigned block = np_nfc_index[cp >> NP_NFC_SHIFT];
  unsigned k = cp & ((1u << NP_NFC_SHIFT) - 1);
  return np_nfc_block[block][k / 8] >> (k % 8) & 1;
}

/* The code point at p and its length, or -1 and 1. */
static int32_t point(const char *p, const char *end, size_t *len) {
  size_t n = np_utf8_len(p, end);
  const uint8_t *u = (const uint8_t *)p;
  *len = n ? n : 1;
  if (n == 0) return -1;
  if (n == 1) return u[0];
  if (n == 2) return (u[0] & 0x1F) << 6 | (u[1] & 0x3F);
  if (n == 3) return (u[0] & 0x0F) << 12 | (u[1] & 0x3F) << 6 | (u[2] & 0x3F);
  return (u[0] & 0x07) << 18 | (u[1] & 0x3F) << 12 | (u[2] & 0x3F) << 6 | (u[3] & 0x3F);
}

/* Whether the character at p moves; its length. Below U+0300, and from U+4000 to U+9FFF,
** U+B000 to U+CFFF, none does. */
static bool moves_at(const char *p, const char *end, size_t *len) {
  uint8_t c = (uint8_t)*p;
  *len = 1;
  if (c < 0xCC) return false;
  if ((c >= 0xE4 && c <= 0xE9) || c == 0xEB || c == 0xEC) return false;
  int32_t cp = point(p, end, len);
  return cp >= 0 && moves((uint32_t)cp);
}

bool np_nfc_between(np_str s, size_t at) {
  size_t len;
  if (at >= s.n) return true;
  if (((uint8_t)s.p[at] & 0xC0) == 0x80) return false;
  return at == 0 || !moves_at(s.p + at, s.p + s.n, &len);
}

/* Where the character before p begins; a byte that is none is one. */
static const char *before(const char *p, const char *start) {
  for (int back = 1; back <= 4 && p - back >= start; back++) {
    if (((uint8_t)p[-back] & 0xC0) == 0x80) continue;
    return np_utf8_len(p - back, p) == (size_t)back ? p - back : p - 1;
  }
  return p - 1;
}

/* The next part from p on with more than one character, or one that moves: [*from, *to). A
** byte that is no character belongs to no part. */
static bool next_part(const char *p, const char *end, const char **from,
                      const char **to) {
  const char *start = p;
  size_t len;
  while (p < end && !moves_at(p, end, &len)) p += len;
  if (p == end) return false;
  *from = p > start ? before(p, start) : p;
  if (point(*from, p == *from ? end : p, &len) < 0) *from = p;
  while (p < end && moves_at(p, end, &len)) p += len;
  *to = p;
  return true;
}

/* ---- one part ---- */

typedef struct part {
  int32_t small[SMALL * GROWS];
  int32_t *p;
  size_t n;
} part;

static unsigned order_of(int32_t cp) {
  if (!moves((uint32_t)cp)) return 0;
  return (unsigned)utf8proc_get_property(cp)->combining_class;
}

/* Marks between two characters that stay are put in the order of their classes; equal ones
** keep theirs. One pass for each class there is, 255 at most. */
static void sort_run(int32_t *p, size_t n, int32_t *room) {
  bool sorted = true;
  bool seen[256] = {false};
  for (size_t i = 0; i < n; i++) {
    seen[order_of(p[i]) & 255] = true;
    if (i && order_of(p[i - 1]) > order_of(p[i])) sorted = false;
  }
  if (sorted) return;
  size_t k = 0;
  for (unsigned c = 0; c < 256; c++) {
    for (size_t i = 0; seen[c] && i < n; i++) {
      if (order_of(p[i]) == c) room[k++] = p[i];
    }
  }
  memcpy(p, room, n * sizeof *p);
}

static void sort_part(part *t, int32_t *room) {
  for (size_t i = 0; i < t->n;) {
    size_t from = i;
    while (i < t->n && order_of(t->p[i])) i++;
    sort_run(t->p + from, i - from, room);
    if (i < t->n) i++;
  }
}

static void decompose(np_str s, part *t, size_t room) {
  const char *p = s.p, *end = s.p + s.n;
  size_t len;
  for (t->n = 0; p < end; p += len) {
    int32_t cp = point(p, end, &len);
    utf8proc_ssize_t n =
        utf8proc_decompose_char(cp, t->p + t->n, (utf8proc_ssize_t)(room - t->n),
                                UTF8PROC_DECOMPOSE | UTF8PROC_STABLE, NULL);
    if (n > 0 && (size_t)n <= room - t->n) t->n += (size_t)n;
  }
}

static void write_part(const part *t, np_buf *out) {
  for (size_t i = 0; i < t->n; i++) {
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t n = utf8proc_encode_char(t->p[i], bytes);
    np_buf_add(out, np_str_of((char *)bytes, (size_t)n));
  }
}

/* Appends the form C of a part. */
static void normalize(np_str s, np_buf *out) {
  part t;
  int32_t *all = t.small;
  size_t room = SMALL * GROWS / 2, need;
  t.p = t.small;
  if (s.n > room / GROWS) {
    room = s.n * GROWS;
    bool fits = np_mul_ok(s.n, 2 * GROWS * sizeof *all, &need);
    all = fits ? np_malloc(out->alloc, need) : NULL;
    if (!all) {
      out->failed = true;
      return;
    }
    t.p = all;
  }
  decompose(s, &t, room);
  sort_part(&t, all + room);
  utf8proc_ssize_t n = utf8proc_normalize_utf32(t.p, (utf8proc_ssize_t)t.n,
                                                UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  t.n = n > 0 ? (size_t)n : 0;
  write_part(&t, out);
  if (all != t.small) np_free(out->alloc, all);
}

/* ---- texts ---- */

bool np_nfc_plain(np_str s) {
  const char *p = s.p, *end = s.p + s.n;
  size_t len;
  for (; p < end; p += len) {
    if (moves_at(p, end, &len)) return false;
  }
  return true;
}

void np_nfc(np_str s, np_buf *out) {
  const char *p = s.p, *end = s.p + s.n, *from, *to;
  while (p < end && !out->failed && next_part(p, end, &from, &to)) {
    np_buf_add(out, np_str_of(p, (size_t)(from - p)));
    normalize(np_str_of(from, (size_t)(to - from)), out);
    p = to;
  }
  np_buf_add(out, np_str_of(p, (size_t)(end - p)));
}

/* A place in text that stays as it is, `at` or the nearest where a character begins. */
static size_t place_in(np_str s, size_t at, bool up) {
  while (at < s.n && !np_nfc_between(s, at)) at += up ? 1 : (size_t)-1;
  return at < s.n ? at : s.n;
}

size_t np_nfc_place(np_str s, const neap_alloc *a, bool up, size_t *size) {
  const char *p = s.p, *end = s.p + s.n, *from, *to;
  size_t want = *size, done = 0;
  np_buf b;
  np_buf_init(&b, a);
  for (;;) {
    bool more = next_part(p, end, &from, &to);
    if (!more) from = end;
    size_t plain = (size_t)(from - p);
    if (!more || done + plain >= want) {
      size_t k = place_in(np_str_of(p, plain), want - done, up);
      done += k;
      p += k;
      break;
    }
    np_buf_clear(&b);
    normalize(np_str_of(from, (size_t)(to - from)), &b);
    bool over = done + plain + b.n > want;
    done += over && !up ? plain : plain + b.n;
    p = over && !up ? from : to;
    if (b.failed || over || done == want) break;
  }
  *size = done;
  size_t at = b.failed ? SIZE_MAX : (size_t)(p - s.p);
  np_buf_free(&b);
  return at;
}
