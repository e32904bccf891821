/*
** The sorted special tokens. The special tokens that begin a text begin also the greatest one
** that is not greater than the text, so they are found from that one by its links: each leads
** to the longest that it begins with. next: count.c
*/
#include "token/special.h"

#include <stdlib.h>

/* Bytes that both begin with. */
static size_t common(np_str a, np_str b) {
  size_t n = 0;
  while (n < a.n && n < b.n && a.p[n] == b.p[n]) n++;
  return n;
}

static int compare(np_str a, np_str b) {
  int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
  return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* Of two with one text the later one comes last, and counts. */
static int by_text(const void *left, const void *right) {
  const np_special_place *a = left, *b = right;
  int order = compare(a->text, b->text);
  return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* The link that leads from `at` (counted from 1; 0: none) to what has no more than n bytes. */
static uint32_t climb(const np_specials *s, uint32_t at, size_t n) {
  while (at && s->list[at - 1].text.n > n) at = s->list[at - 1].up;
  return at;
}

static void link_up(np_specials *s) {
  for (uint32_t i = 1; i < s->n; i++) {
    np_special_place *one = &s->list[i], *before = one - 1;
    size_t n = common(before->text, one->text);
    bool same = n == one->text.n && n == before->text.n;
    one->up = same ? before->up : climb(s, i, n);
  }
}

bool np_specials_open(np_specials *s, const np_vocab *v, const neap_alloc *a) {
  *s = (np_specials){.v = v, .n = v->specials};
  s->list = np_calloc(a, (size_t)s->n + 1, sizeof *s->list);
  if (!s->list) return false;
  for (uint32_t i = 0; i < s->n; i++)
    s->list[i] = (np_special_place){.text = np_special_text(v, i), .place = i};
  qsort(s->list, s->n, sizeof *s->list, by_text);
  link_up(s);
  return true;
}

void np_specials_close(np_specials *s, const neap_alloc *a) {
  np_free(a, s->list);
}

const np_special *np_specials_at(const np_specials *s, const uint8_t *p,
                                 const uint8_t *end) {
  if (!(s->v->special_first[*p >> 3] >> (*p & 7) & 1)) return NULL;
  np_str text = np_str_of((const char *)p, (size_t)(end - p));
  uint32_t low = 0, high = s->n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (compare(s->list[middle].text, text) <= 0) low = middle + 1;
    else high = middle;
  }
  if (low) low = climb(s, low, common(s->list[low - 1].text, text));
  return low ? &s->v->special[s->list[low - 1].place] : NULL;
}
