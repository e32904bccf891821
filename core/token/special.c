/*
** The table of special tokens. next: count.c
*/
#include "token/special.h"

#include "base/hash.h"

static size_t slot_of(const np_specials *s, np_str text) {
  size_t i = (size_t)np_hash64(text) & s->mask;
  while (s->slots[i] && !np_str_eq(np_special_text(s->v, s->slots[i] - 1), text)) {
    i = (i + 1) & s->mask;
  }
  return i;
}

bool np_specials_open(np_specials *s, const np_vocab *v, const neap_alloc *a) {
  bool there[257] = {false};
  *s = (np_specials){.v = v, .mask = 15};
  while (s->mask < 2 * (size_t)v->specials) s->mask = 2 * s->mask + 1;
  s->slots = np_calloc(a, s->mask + 1, sizeof *s->slots);
  if (!s->slots) return false;
  for (uint32_t i = 0; i < v->specials; i++) {
    np_str text = np_special_text(v, i);
    s->slots[slot_of(s, text)] = i + 1;
    there[text.n] = true; /* 1 to 256: checked where vocabularies are opened */
  }
  for (unsigned n = 256; n > 0; n--) {
    if (there[n]) s->lengths[s->length_n++] = (uint16_t)n;
  }
  return true;
}

void np_specials_close(np_specials *s, const neap_alloc *a) {
  np_free(a, s->slots);
}

const np_special *np_specials_at(const np_specials *s, const uint8_t *p,
                                 const uint8_t *end) {
  if (!(s->v->special_first[*p >> 3] >> (*p & 7) & 1)) return NULL;
  for (size_t i = 0; i < s->length_n; i++) {
    size_t n = s->lengths[i];
    if (n > (size_t)(end - p)) continue;
    uint32_t place = s->slots[slot_of(s, np_str_of((const char *)p, n))];
    if (place) return &s->v->special[place - 1];
  }
  return NULL;
}
