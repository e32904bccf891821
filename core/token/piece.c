/*
** A search that can be taken up again. Its steps before the first token whose choice
** looked at the last bytes are those of every longer text too: there it rests. What
** follows is tried on a second stack, so that the resting one stays, even when the search
** goes back behind it. next: append.h
*/
#include "token/piece.h"

#include "token/bpe.h"

void np_open_piece_clear(np_open_piece *t) {
  t->depth = t->at = t->words = t->mark_count = t->n = t->tokens = 0;
}

void np_open_piece_free(np_open_piece *t, const neap_alloc *a) {
  np_free(a, t->ids);
  np_free(a, t->more);
  np_free(a, t->dead);
  np_free(a, t->marks);
  *t = (np_open_piece){0};
}

/* One count in progress: the text, and the stack's top in both parts. Up to `resting` the
** tokens go to t->ids, from then on to t->more. */
typedef struct search {
  const np_vocab *v;
  const neap_alloc *a;
  np_open_piece *t;
  const uint8_t *p;
  size_t n, at, kept, tried;
  bool resting;
} search;

static bool grow_ids(const neap_alloc *a, uint32_t **ids, size_t *cap, size_t need) {
  void *p = *ids;
  bool ok = np_grow(a, &p, cap, need, sizeof **ids);
  *ids = p;
  return ok;
}

static bool is_dead(const np_open_piece *t, size_t i) {
  return t->dead[i >> 6] >> (i & 63) & 1;
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

static bool mark_dead(search *s) {
  np_open_piece *t = s->t;
  t->dead[s->at >> 6] |= (uint64_t)1 << (s->at & 63);
  if (!s->resting) return true;
  void *p = t->marks;
  bool ok = np_grow(s->a, &p, &t->marks_cap, t->mark_count + 1, sizeof *t->marks);
  t->marks = p;
  if (ok) t->marks[t->mark_count++] = s->at;
  return ok;
}

static void forget_marks(np_open_piece *t) {
  for (size_t i = 0; i < t->mark_count; i++) {
    t->dead[t->marks[i] >> 6] &= ~((uint64_t)1 << (t->marks[i] & 63));
  }
  t->mark_count = 0;
}

#define STARTS_MANY 39 /* the bit of np_vocab_starts for all longer tokens */

/* No token that begins with p[0, n) and whatever follows is longer, and no byte behind is
** looked at to find the longest. */
static size_t reach(const np_vocab *v, const uint8_t *p, size_t n) {
  uint64_t lengths = n < 3 ? (uint64_t)1 << STARTS_MANY : np_vocab_starts(v, p);
  if (lengths >> STARTS_MANY) return v->longest;
  return lengths ? 3 + 63 - np_high_zeros(lengths) : 3;
}

/* The longest token at s->at. When a token from here might reach the last bytes, a longer
** text might go another way: the search rests. */
static uint32_t longest(search *s) {
  const uint8_t *p = s->p + s->at;
  size_t n = s->n - s->at;
  if (!s->resting && reach(s->v, p, n) + NP_PIECE_BACK >= n) {
    s->resting = true;
    s->t->depth = s->kept;
    s->t->at = s->at;
  }
  return np_bpe_longest(s->v, p, n);
}

static uint32_t top(const search *s) {
  if (s->tried) return s->t->more[s->tried - 1];
  return s->kept ? s->t->ids[s->kept - 1] : NP_TOKEN_NONE;
}

static bool push(search *s, uint32_t id) {
  np_open_piece *t = s->t;
  s->at += np_token_len(s->v, id);
  if (s->resting) {
    if (!grow_ids(s->a, &t->more, &t->more_cap, s->tried + 1)) return false;
    t->more[s->tried++] = id;
  } else {
    if (!grow_ids(s->a, &t->ids, &t->ids_cap, s->kept + 1)) return false;
    t->ids[s->kept++] = id;
  }
  return true;
}

static uint32_t pop(search *s) {
  uint32_t id = top(s);
  if (s->tried) {
    s->tried--;
  } else {
    s->kept--;
  }
  s->at -= np_token_len(s->v, id);
  return id;
}

/* As np_bpe_window; every text has tokens, so the stack is never empty when the search
** goes back. */
static bool run(search *s) {
  const np_vocab *v = s->v;
  uint32_t id = longest(s);
  for (;;) {
    uint32_t last = top(s);
    while (id != NP_TOKEN_NONE) {
      bool open = !is_dead(s->t, s->at + np_token_len(v, id));
      if (open && (last == NP_TOKEN_NONE || np_bpe_seam(v, last, id))) break;
      id = np_token_shorter(v, id);
    }
    if (id != NP_TOKEN_NONE) {
      if (!push(s, id)) return false;
      if (s->at == s->n) return true;
      id = longest(s);
    } else {
      if (s->kept + s->tried == 0 || !mark_dead(s)) return false;
      id = np_token_shorter(v, pop(s));
    }
  }
}

bool np_open_piece_count(const np_vocab *v, const neap_alloc *a, np_open_piece *t,
                         const uint8_t *p, size_t n, size_t *tokens) {
  if (t->n != n) {
    forget_marks(t);
    search s = {v, a, t, p, n, t->at, t->depth, 0, false};
    if (!reserve_dead(a, t, n) || !run(&s)) {
      np_open_piece_clear(t);
      return false;
    }
    t->n = n;
    t->tokens = s.kept + s.tried;
  }
  *tokens = t->tokens;
  return true;
}
