/*
** From merges in a file's order to ranks. While a text is merged, the bytes of a token are
** merged as if they were alone until they are that token; so of all merges that give the
** same token only one ever happens: the last one when its bytes are merged alone. Here all
** merges are carried out once, always the earliest whose parts are made. It makes its token
** unless that is there already or an earlier merge would have crossed the seam of its
** parts. The order in which tokens are made is their rank: parts come before what they make.
**
** A token may come earlier in the file than one of its parts. In a text it is then made right
** behind that part; by ranks, after all such parts of the text. check_late says when that is
** the same, and refuses what is not. next: finish.c
*/
#include <stdlib.h>

#include "token/draft.h"

/* A list of merges for each token that is a part of them. */
typedef struct uses {
  uint32_t *from; /* by place of a token; one more than there are tokens */
  uint32_t *merge;
} uses;

typedef struct ranks {
  np_draft *d;
  uint32_t n;
  uint32_t *place; /* by rank: of the token */
  uint32_t *left;  /* by rank: of its parts; its own for single bytes */
  uint32_t *right;
  uint32_t
      *number; /* by rank: the merge that made it; 0 for single bytes, else 1 + place */
  uint64_t *pairs; /* left << 44 | right << 24 | rank + 1 */
  unsigned bits;
  uses uses;
  uint32_t *heap; /* merges whose parts are made, the earliest first */
  size_t heap_n;
} ranks;

/* ---- made tokens ---- */

static uint32_t pair_find(const ranks *r, uint32_t left, uint32_t right) {
  uint64_t key = (uint64_t)left << 20 | right, mask = ((uint64_t)1 << r->bits) - 1;
  uint64_t i = np_hash_pair(left, right) >> (64 - r->bits);
  for (; r->pairs[i]; i = (i + 1) & mask) {
    if (r->pairs[i] >> 24 == key) return (uint32_t)(r->pairs[i] & 0xFFFFFF) - 1;
  }
  return NP_TOKEN_NONE;
}

static void pair_put(ranks *r, uint32_t left, uint32_t right, uint32_t rank) {
  uint64_t key = (uint64_t)left << 20 | right, mask = ((uint64_t)1 << r->bits) - 1;
  uint64_t i = np_hash_pair(left, right) >> (64 - r->bits);
  while (r->pairs[i]) i = (i + 1) & mask;
  r->pairs[i] = key << 24 | (rank + 1);
}

/* True when the bytes of two made tokens, side by side, are merged to these two: undoing
** the merges on both sides, latest first, meets no merge across the seam that would have
** come earlier (bpe.h). */
static bool is_seam(const ranks *r, uint32_t left, uint32_t right) {
  uint32_t limit = NP_TOKEN_NONE;
  for (;;) {
    if (pair_find(r, left, right) < limit) return false;
    bool left_whole = r->left[left] == left, right_whole = r->left[right] == right;
    if (left_whole && right_whole) return true;
    if (right_whole || (left > right && !left_whole)) {
      limit = left;
      left = r->right[left];
    } else {
      limit = right + 1;
      right = r->left[right];
    }
  }
}

/* ---- merges in waiting ---- */

static void heap_push(ranks *r, uint32_t m) {
  size_t i = r->heap_n++;
  for (; i && r->heap[(i - 1) / 2] > m; i = (i - 1) / 2)
    r->heap[i] = r->heap[(i - 1) / 2];
  r->heap[i] = m;
}

static uint32_t heap_pop(ranks *r) {
  uint32_t top = r->heap[0], m = r->heap[--r->heap_n];
  size_t i = 0;
  for (size_t k; (k = 2 * i + 1) < r->heap_n; i = k) {
    if (k + 1 < r->heap_n && r->heap[k + 1] < r->heap[k]) k++;
    if (r->heap[k] >= m) break;
    r->heap[i] = r->heap[k];
  }
  r->heap[i] = m;
  return top;
}

/* A merge of a token with itself is one use. */
static bool list_uses(ranks *r) {
  const np_draft *d = r->d;
  uint32_t *from = r->uses.from =
      np_calloc(d->alloc, d->token_n + 2, sizeof *r->uses.from);
  uint32_t *list = r->uses.merge =
      np_malloc(d->alloc, (2 * d->merge_n + 1) * sizeof *r->uses.merge);
  if (!from || !list) return false;
  for (size_t i = 0; i < d->merge_n; i++) {
    from[d->merges[i].left + 2]++;
    if (d->merges[i].right != d->merges[i].left) from[d->merges[i].right + 2]++;
  }
  for (size_t i = 2; i < d->token_n + 2; i++) from[i] += from[i - 1];
  for (uint32_t i = 0; i < d->merge_n; i++) {
    list[from[d->merges[i].left + 1]++] = i;
    if (d->merges[i].right != d->merges[i].left) list[from[d->merges[i].right + 1]++] = i;
  }
  return true;
}

static void make(ranks *r, uint32_t place, uint32_t left, uint32_t right,
                 uint32_t number) {
  np_draft_token *t = r->d->tokens;
  uint32_t rank = r->n++;
  r->place[rank] = place;
  r->left[rank] = left;
  r->right[rank] = right;
  r->number[rank] = number;
  t[place].rank = rank;
  if (left != rank) pair_put(r, left, right, rank);
  for (uint32_t k = r->uses.from[place]; k < r->uses.from[place + 1]; k++) {
    np_draft_merge m = r->d->merges[r->uses.merge[k]];
    bool ready = t[m.left].rank != NP_TOKEN_NONE && t[m.right].rank != NP_TOKEN_NONE;
    if (ready) heap_push(r, r->uses.merge[k]);
  }
}

/* The single bytes come first. */
static neap_rc make_bytes(ranks *r, np_err *e) {
  for (unsigned c = 0; c < 256; c++) {
    char byte = (char)c;
    uint32_t place = np_draft_find(r->d, np_str_of(&byte, 1));
    if (place == NP_TOKEN_NONE) {
      return np_fail(e, NEAP_E_VOCAB,
                     "%s: has no token for the byte 0x%02X, so that some texts have no "
                     "tokens; neap reads vocabularies with all 256",
                     r->d->where, c);
    }
    make(r, place, r->n, r->n, 0);
  }
  return NEAP_OK;
}

/* The same merge twice would have two ranks. */
static neap_rc make_merges(ranks *r, np_err *e) {
  while (r->heap_n) {
    uint32_t i = heap_pop(r);
    np_draft_merge m = r->d->merges[i];
    uint32_t a = r->d->tokens[m.left].rank, b = r->d->tokens[m.right].rank;
    uint32_t t = r->d->tokens[m.result].rank;
    if (t != NP_TOKEN_NONE && r->left[t] == a && r->right[t] == b) {
      np_str text = np_draft_text(r->d, m.result);
      return np_draft_fail(r->d, text, "is merged twice from the same parts", e);
    }
    if (t == NP_TOKEN_NONE && is_seam(r, a, b)) make(r, m.result, a, b, i + 1);
  }
  return NEAP_OK;
}

/* Tokens that nothing makes come last, in the order of the file. */
static void make_rest(ranks *r) {
  for (uint32_t i = 0; i < r->d->token_n; i++) {
    if (r->d->tokens[i].rank == NP_TOKEN_NONE) make(r, i, r->n, r->n, 0);
  }
}

/* ---- tokens that come before their parts ---- */

/* A late token takes in `part`, on its right or left, right behind the merge `level`. */
typedef struct late {
  uint32_t level, part;
  bool right;
} late;

static int by_part(const void *a, const void *b) {
  const late *x = a, *y = b;
  if (x->level != y->level) return x->level < y->level ? -1 : 1;
  return (x->part > y->part) - (x->part < y->part);
}

static neap_rc refuse(const ranks *r, uint32_t rank, np_err *e) {
  np_buf b;
  np_buf_init(&b, r->d->alloc);
  np_str text = np_draft_text(r->d, r->place[rank]);
  neap_rc rc =
      np_fail(e, NEAP_E_VOCAB,
              "%s: token %s is merged before its parts in a way that ranks cannot "
              "say; neap cannot hold such a vocabulary",
              r->d->where, np_draft_show(&b, text));
  np_buf_free(&b);
  return rc;
}

/* A token's level is the latest merge in it, the token of that merge its base (p, q). Let a
** late token, one whose level is not its own merge, be made of a token of its level and
** another part x. When base and late tokens are made in a text, one place after the other,
** each stretches over an x on either side at once. By ranks, all bases of the text are made
** first, then each is stretched. That is the same when a stretch never touches another: x
** has a lower level; x on the right is no p, which may begin the next base; and no x is
** taken in from the left in one token and from the right in another of that level, so that
** two bases never want the same one. Levels below are done by then, those above follow; and
** one base alone is stretched in the order of merges both ways. */
static neap_rc find_late(const ranks *r, uint32_t *level, uint32_t *base, late *list,
                         size_t *n, np_err *e) {
  for (uint32_t i = 0; i < r->n; i++) {
    uint32_t a = r->left[i], b = r->right[i];
    level[i] = r->number[i];
    if (a == i) continue;
    uint32_t high = level[a] > level[b] ? level[a] : level[b];
    base[r->number[i]] = i;
    if (high < level[i]) continue;
    level[i] = high;
    late l = {high, level[a] == high ? b : a, level[a] == high};
    if (level[a] == level[b] || (l.right && l.part == r->left[base[high]])) {
      return refuse(r, i, e);
    }
    list[(*n)++] = l;
  }
  return NEAP_OK;
}

static neap_rc check_late(const ranks *r, np_err *e) {
  const neap_alloc *a = r->d->alloc;
  size_t n = 0;
  uint32_t *level = np_malloc(a, r->n * sizeof *level);
  uint32_t *base = np_malloc(a, (r->d->merge_n + 1) * sizeof *base);
  late *list = np_malloc(a, r->n * sizeof *list);
  neap_rc rc = level && base && list ? NEAP_OK : np_fail_mem(e);
  if (!rc) rc = find_late(r, level, base, list, &n, e);
  if (!rc && n) qsort(list, n, sizeof *list, by_part);
  for (size_t i = 1; !rc && i < n; i++) {
    if (by_part(&list[i - 1], &list[i]) == 0 && list[i - 1].right != list[i].right) {
      rc = refuse(r, base[list[i].level], e);
    }
  }
  np_free(a, level);
  np_free(a, base);
  np_free(a, list);
  return rc;
}

/* ---- the whole ---- */

static bool make_room(ranks *r) {
  const neap_alloc *a = r->d->alloc;
  size_t n = r->d->token_n + 1;
  while ((size_t)1 << r->bits < 2 * n) r->bits++;
  r->place = np_malloc(a, n * sizeof *r->place);
  r->left = np_malloc(a, n * sizeof *r->left);
  r->right = np_malloc(a, n * sizeof *r->right);
  r->number = np_malloc(a, n * sizeof *r->number);
  r->heap = np_malloc(a, (r->d->merge_n + 1) * sizeof *r->heap);
  r->pairs = np_calloc(a, (size_t)1 << r->bits, sizeof *r->pairs);
  return r->place && r->left && r->right && r->number && r->heap && r->pairs &&
         list_uses(r);
}

static void free_room(ranks *r) {
  const neap_alloc *a = r->d->alloc;
  np_free(a, r->place);
  np_free(a, r->left);
  np_free(a, r->right);
  np_free(a, r->number);
  np_free(a, r->heap);
  np_free(a, r->pairs);
  np_free(a, r->uses.from);
  np_free(a, r->uses.merge);
}

neap_rc np_draft_rank(np_draft *d, np_err *e) {
  ranks r = {.d = d, .bits = 4};
  neap_rc rc = make_room(&r) ? NEAP_OK : np_fail_mem(e);
  if (!rc) rc = make_bytes(&r, e);
  if (!rc) rc = make_merges(&r, e);
  if (!rc) make_rest(&r);
  if (!rc) rc = check_late(&r, e);
  for (uint32_t i = 0; !rc && i < r.n; i++) {
    d->tokens[r.place[i]].left = r.left[i];
    d->tokens[r.place[i]].right = r.right[i];
  }
  free_room(&r);
  return rc;
}
