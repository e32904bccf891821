/*
** The search of bpe.c, begun where the last one ended. A text has one row of tokens whose
** seams are all sound, so whichever is found first is it, and the one for fewer bytes is a
** good guess at its beginning. Its last tokens may be wrong now: a longer one may reach
** over the old end. The search then takes them back one by one and tries all others, but
** those that lead to a place already found dead for this end. next: append.h
*/
#include "token/piece.h"

#include "token/bpe.h"

void np_open_piece_clear(np_open_piece *t) {
  t->tokens = t->n = t->words = t->mark_count = 0;
}

void np_open_piece_free(np_open_piece *t, const neap_alloc *a) {
  np_free(a, t->ids);
  np_free(a, t->dead);
  np_free(a, t->marks);
  *t = (np_open_piece){0};
}

static bool grow_ids(const neap_alloc *a, np_open_piece *t) {
  void *p = t->ids;
  bool ok = np_grow(a, &p, &t->ids_cap, t->tokens + 1, sizeof *t->ids);
  t->ids = p;
  return ok;
}

/* Room for the bits of n + 1 places, those that come new being 0. */
static bool reserve_dead(const neap_alloc *a, np_open_piece *t, size_t n) {
  size_t need = (n >> 6) + 1;
  void *p = t->dead;
  bool ok = np_grow(a, &p, &t->dead_cap, need, sizeof *t->dead);
  t->dead = p;
  if (!ok) return false;
  if (t->words < need) {
    memset(t->dead + t->words, 0, (need - t->words) * sizeof *t->dead);
    t->words = need;
  }
  return true;
}

static bool is_dead(const np_open_piece *t, size_t i) {
  return t->dead[i >> 6] >> (i & 63) & 1;
}

static bool mark_dead(const neap_alloc *a, np_open_piece *t, size_t i) {
  void *p = t->marks;
  bool ok = np_grow(a, &p, &t->marks_cap, t->mark_count + 1, sizeof *t->marks);
  t->marks = p;
  if (!ok) return false;
  t->marks[t->mark_count++] = i;
  t->dead[i >> 6] |= (uint64_t)1 << (i & 63);
  return true;
}

/* With another end every place may be alive again. */
static void forget_marks(np_open_piece *t) {
  for (size_t i = 0; i < t->mark_count; i++) {
    t->dead[t->marks[i] >> 6] &= ~((uint64_t)1 << (t->marks[i] & 63));
  }
  t->mark_count = 0;
}

/* The longest token that fits behind the last one, from `id` on down. */
static uint32_t longest_that_fits(const np_vocab *v, const np_open_piece *t,
                                  uint32_t id) {
  uint32_t last = t->tokens ? t->ids[t->tokens - 1] : NP_TOKEN_NONE;
  for (; id != NP_TOKEN_NONE; id = np_token_shorter(v, id)) {
    if (is_dead(t, t->n + np_token_len(v, id))) continue;
    if (last == NP_TOKEN_NONE || np_bpe_seam(v, last, id)) break;
  }
  return id;
}

static uint32_t take_back(const np_vocab *v, np_open_piece *t) {
  uint32_t id = t->ids[--t->tokens];
  t->n -= np_token_len(v, id);
  return id;
}

/* From t->n to n. `old` tokens are those of the last count: of what could stand in their
** place nothing has been tried yet. */
static bool search(const np_vocab *v, const neap_alloc *a, np_open_piece *t,
                   const uint8_t *p, size_t n) {
  size_t old = t->tokens;
  uint32_t id = np_bpe_longest(v, p + t->n, n - t->n);
  for (;;) {
    id = longest_that_fits(v, t, id);
    if (id != NP_TOKEN_NONE) {
      if (!grow_ids(a, t)) return false;
      t->ids[t->tokens++] = id;
      t->n += np_token_len(v, id);
      if (t->n == n) return true;
      id = np_bpe_longest(v, p + t->n, n - t->n);
    } else {
      if (t->tokens == 0 || !mark_dead(a, t, t->n)) return false;
      id = take_back(v, t);
      bool is_old = t->tokens < old;
      if (is_old) old = t->tokens;
      id = is_old ? np_bpe_longest(v, p + t->n, n - t->n) : np_token_shorter(v, id);
    }
  }
}

/* Takes back up to two tokens, when much more is to come than they hold: in runs of one
** character the search would otherwise try many rows behind a token that is too short. */
static void take_back_some(const np_vocab *v, np_open_piece *t, size_t more) {
  size_t end = t->n;
  for (int i = 0; i < 2 && t->tokens && end - t->n < 2 * more; i++) take_back(v, t);
}

bool np_open_piece_count(const np_vocab *v, const neap_alloc *a, np_open_piece *t,
                         const uint8_t *p, size_t n, size_t *tokens) {
  while (t->n > n) take_back(v, t);
  if (t->n < n) {
    forget_marks(t);
    take_back_some(v, t, n - t->n);
    if (!reserve_dead(a, t, n) || !search(v, a, t, p, n)) {
      np_open_piece_clear(t);
      return false;
    }
  }
  *tokens = t->tokens;
  return true;
}
