/*
** Special tokens against the plain definition: at each place of a text the longest one whose
** text is there, of tables of all lengths that begin with each other. next: test_vocab.c
*/
#include "check.h"

#include "token/special.h"

#define SPECIALS 300
#define PLACES 400

static uint64_t state = 1;

static unsigned draw(unsigned n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % n;
}

/* A vocabulary of which only the special tokens are there. */
typedef struct world {
  np_vocab v;
  np_special special[SPECIALS];
  char texts[SPECIALS * 257];
} world;

static void open_world(world *w, unsigned n, unsigned longest) {
  memset(w, 0, sizeof *w);
  uint32_t at = 0;
  for (unsigned i = 0; i < n; i++) {
    unsigned size = 1 + draw(longest);
    w->special[i].id = i;
    w->special[i].at = at;
    w->special[i].n = size;
    for (unsigned k = 0; k < size; k++) w->texts[at++] = draw(8) ? 'a' : 'b';
    char first = w->texts[at - size];
    w->v.special_first[first >> 3] |= (uint8_t)(1u << (first & 7));
  }
  w->v.special = w->special;
  w->v.specials = n;
  w->v.texts = w->texts;
}

static const np_special *longest_at(const world *w, np_str text) {
  const np_special *best = NULL;
  for (uint32_t i = 0; i < w->v.specials; i++) {
    np_str s = np_special_text(&w->v, i);
    bool here = s.n <= text.n && !memcmp(s.p, text.p, s.n);
    if (here && (!best || s.n >= best->n)) best = &w->special[i];
  }
  return best;
}

static void test_one(unsigned n, unsigned longest) {
  static world w;
  np_specials s;
  char text[PLACES];
  size_t wrong = 0;
  open_world(&w, n, longest);
  for (int i = 0; i < PLACES; i++) text[i] = "aaaaaaaabc"[draw(10)];
  bool ok = np_specials_open(&s, &w.v, &np_alloc_libc);
  CHECK("the table is made", ok);
  if (!ok) return;
  const uint8_t *p = (const uint8_t *)text, *end = p + PLACES;
  for (; p < end; p++) {
    np_str rest = np_str_of((const char *)p, (size_t)(end - p));
    wrong += np_specials_at(&s, p, end) != longest_at(&w, rest);
  }
  CHECK("the longest one that is there is found, the last of equals", !wrong);
  np_specials_close(&s, &np_alloc_libc);
}

int main(void) {
  static const unsigned longest[] = {1, 3, 12, 256};
  for (unsigned i = 0; i < NP_COUNT(longest); i++) {
    for (unsigned n = 0; n <= SPECIALS; n += 1 + n) test_one(n, longest[i]);
    test_one(SPECIALS, longest[i]);
  }
  return check_done();
}
