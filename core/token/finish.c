/*
** The last step of an import: a ranked draft becomes the parts that a vocabulary is built
** of. next: vocab.c
*/
#include "token/draft.h"

/* What np_vocab_parts points to. */
typedef struct made {
  uint8_t *bytes;
  uint32_t *start, *left, *right, *external, *place;
  np_vocab_special *special;
} made;

/* A token that nothing makes and that is special, too, is only special. But where it can be
** taken as a whole piece it is both. */
static bool is_dropped(const np_draft *d, uint32_t i) {
  const np_draft_token *t = &d->tokens[i];
  return t->left == t->rank && t->n > 1 && !(d->flags & NP_VOCAB_WHOLE) &&
         np_draft_special_find(d, t->id) != NP_TOKEN_NONE;
}

/* Ids of all tokens differ: a bit for each. */
static neap_rc check_ids(const np_draft *d, np_err *e) {
  neap_rc rc = NEAP_OK;
  uint64_t *seen = np_calloc(d->alloc, NP_TOKEN_IDS / 64, sizeof *seen);
  if (!seen) return np_fail_mem(e);
  for (uint32_t i = 0; !rc && i < d->token_n; i++) {
    uint64_t *word = &seen[d->tokens[i].id / 64],
             bit = (uint64_t)1 << d->tokens[i].id % 64;
    if (*word & bit) {
      rc = np_draft_fail(d, np_draft_text(d, i), "has the id of another", e);
    }
    *word |= bit;
  }
  np_free(d->alloc, seen);
  return rc;
}

static bool make_room(const np_draft *d, made *m) {
  size_t n = d->token_n + 1;
  m->bytes = np_malloc(d->alloc, d->bytes.n + 1);
  m->start = np_malloc(d->alloc, n * sizeof *m->start);
  m->left = np_malloc(d->alloc, n * sizeof *m->left);
  m->right = np_malloc(d->alloc, n * sizeof *m->right);
  m->external = np_malloc(d->alloc, n * sizeof *m->external);
  m->place = np_malloc(d->alloc, n * sizeof *m->place);
  m->special = np_malloc(d->alloc, (d->special_n + 1) * sizeof *m->special);
  return m->bytes && m->start && m->left && m->right && m->external && m->place &&
         m->special;
}

static void free_room(const np_draft *d, made *m) {
  np_free(d->alloc, m->bytes);
  np_free(d->alloc, m->start);
  np_free(d->alloc, m->left);
  np_free(d->alloc, m->right);
  np_free(d->alloc, m->external);
  np_free(d->alloc, m->place);
  np_free(d->alloc, m->special);
}

/* Dropped tokens leave no gap: they have no parts, so they are among the last, and what
** comes behind them moves up without being anyone's part. */
static uint32_t fill(const np_draft *d, made *m, bool *plain) {
  uint32_t n = 0, at = 0;
  for (uint32_t i = 0; i < d->token_n; i++) m->place[d->tokens[i].rank] = i;
  *plain = true;
  for (uint32_t rank = 0; rank < d->token_n; rank++) {
    uint32_t i = m->place[rank];
    const np_draft_token *t = &d->tokens[i];
    if (is_dropped(d, i)) continue;
    memcpy(m->bytes + at, d->bytes.p + t->at, t->n);
    m->start[n] = at;
    m->left[n] = t->left == rank ? n : t->left;
    m->right[n] = t->left == rank ? n : t->right;
    m->external[n] = t->id;
    *plain &= t->id == n;
    at += t->n;
    n++;
  }
  m->start[n] = at;
  for (uint32_t i = 0; i < d->special_n; i++) {
    m->special[i] = (np_vocab_special){d->special[i].id, np_draft_special_text(d, i)};
    *plain &= d->special[i].id >= n;
  }
  return n;
}

/* What the build refuses says which file it is of. */
static neap_rc name_file(const np_draft *d, neap_rc rc, np_err *e) {
  if (rc != NEAP_E_VOCAB || !e) return rc;
  np_err said = *e;
  np_fail(e, rc, "%s: %s", d->where, said.text);
  e->pos = said.pos;
  return rc;
}

neap_rc np_draft_build(np_draft *d, np_str name, np_str source, np_vocab **out,
                       np_err *e) {
  made m = {0};
  bool plain;
  neap_rc rc = check_ids(d, e);
  if (!rc) rc = np_draft_rank(d, e);
  if (!rc && !make_room(d, &m)) rc = np_fail_mem(e);
  if (!rc) {
    np_vocab_parts p = {
        .name = name, .source = np_str_cut(source, 0, 256), .exact = true};
    p.split = d->split;
    p.flags = d->flags;
    p.tokens = fill(d, &m, &plain);
    p.bytes = m.bytes;
    p.start = m.start;
    p.left = m.left;
    p.right = m.right;
    p.external = plain ? NULL : m.external;
    p.special = m.special;
    p.specials = (uint32_t)d->special_n;
    rc = name_file(d, np_vocab_build(d->alloc, &p, out, e), e);
  }
  free_room(d, &m);
  return rc;
}
