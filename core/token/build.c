/*
** Builds an image: checks the parts, plans where each table lies, fills them, and checks
** what the merges promise. next: table.c
*/
#include "token/build.h"

#include "token/bpe.h"

static neap_rc bad_token(np_err *e, uint32_t id, const char *what) {
  neap_rc rc = np_fail(e, NEAP_E_VOCAB, "token of rank %lu %s; check the vocabulary",
                       (unsigned long)id, what);
  if (e) e->pos = id;
  return rc;
}

/* ---- what comes in ----------------------------------------------------------------- */

static bool is_text(np_str s) {
  return s.n >= 1 && s.n <= 256 && !memchr(s.p, 0, s.n);
}

static neap_rc check_token(const np_vocab_parts *in, uint32_t id, np_err *e) {
  uint32_t n = np_build_len(in, id), left = in->left[id], right = in->right[id];
  if (in->start[id + 1] <= in->start[id]) return bad_token(e, id, "has no bytes");
  if (n > NP_TOKEN_LONGEST) return bad_token(e, id, "is longer than 255 bytes");
  if (left == id && right == id) return NEAP_OK;
  if (left >= id || right >= id) return bad_token(e, id, "is made of later tokens");
  uint32_t l = np_build_len(in, left), r = np_build_len(in, right);
  const uint8_t *p = np_build_bytes(in, id);
  if (l + r != n || memcmp(p, np_build_bytes(in, left), l) != 0 ||
      memcmp(p + l, np_build_bytes(in, right), r) != 0) {
    return bad_token(e, id, "is not the bytes of its parts");
  }
  if (np_build_is_made(in, left) && np_build_is_made(in, right)) return NEAP_OK;
  return bad_token(e, id, "is made of a token that no merge makes");
}

static neap_rc check_special(const np_vocab_parts *in, np_err *e) {
  for (uint32_t i = 0; i < in->specials; i++) {
    np_str text = in->special[i].text;
    if (text.n < 1 || text.n > 256 || in->special[i].id >= NP_TOKEN_NONE - 1 ||
        (i && in->special[i].id <= in->special[i - 1].id) ||
        (!in->external && in->special[i].id < in->tokens)) {
      return np_fail(e, NEAP_E_VOCAB,
                     "special token %lu has no text of 1 to 256 bytes or an id out of "
                     "order; check the vocabulary",
                     (unsigned long)in->special[i].id);
    }
  }
  return NEAP_OK;
}

static neap_rc check_parts(const np_vocab_parts *in, np_err *e) {
  if (!is_text(in->name) || !is_text(in->source)) {
    return np_fail(e, NEAP_E_VOCAB, "name and source of a vocabulary are 1 to 256 bytes");
  }
  if (!np_split_known(in->split)) {
    return np_fail(e, NEAP_E_VOCAB, "splitter %lu is not known",
                   (unsigned long)in->split);
  }
  if (in->tokens < 256 || in->tokens >= NP_TOKEN_LIMIT || in->specials > 65536) {
    return np_fail(e, NEAP_E_VOCAB,
                   "a vocabulary has 256 to %lu tokens and at most 65,536 special ones",
                   (unsigned long)NP_TOKEN_LIMIT - 1);
  }
  for (uint32_t id = 0; id < in->tokens; id++) {
    neap_rc rc = check_token(in, id, e);
    if (rc) return rc;
  }
  return check_special(in, e);
}

/* ---- the plan ---------------------------------------------------------------------- */

/* Places of an open table: at most seven eighths full, so that every search ends, and small
** tables that stay in the caches gain more than longer searches cost. */
static uint64_t places(uint64_t items) {
  uint64_t n = 16;
  while (n / 8 * 7 < items) n *= 2;
  return n;
}

/* Words of a filter, at least 8 bits an item: of the questions that end in a no, one in
** twenty or fewer passes. */
static uint64_t words(uint64_t items) {
  uint64_t n = 2;
  while (n * 64 < 8 * items) n *= 2;
  return n;
}

static neap_rc plan_ranks(const np_vocab_parts *in, uint64_t *n, np_err *e) {
  *n = 0;
  if (!in->external) return NEAP_OK;
  for (uint32_t id = 0; id < in->tokens; id++) {
    uint32_t x = in->external[id];
    if (x >= NP_TOKEN_IDS) return bad_token(e, id, "has an id above 4194303");
    if (x >= *n) *n = (uint64_t)x + 1;
  }
  return NEAP_OK;
}

static neap_rc plan_counts(np_build *b) {
  const np_vocab_parts *in = b->in;
  np_image_head *h = &b->head;
  uint64_t n[NP_PARTS] = {0}, pairs = 0, edges = 0;
  h->longest = 0;
  for (uint32_t id = 0; id < in->tokens; id++) {
    uint32_t len = np_build_len(in, id);
    if (len > h->longest) h->longest = len;
    if (len > NP_KEY_LONGEST) n[NP_PART_FAR] += len;
    if (np_build_is_made(in, id)) h->lengths[len >> 6] |= (uint64_t)1 << (len & 63);
    pairs += !np_build_is_atom(in, id);
    edges += np_build_is_edge(in, id);
  }
  n[NP_PART_KEYS] = n[NP_PART_MERGES] = n[NP_PART_SHORTER] = in->tokens;
  n[NP_PART_PIECES] = places(in->tokens);
  n[NP_PART_PAIRS] = places(pairs);
  n[NP_PART_MAYBE] = words(pairs);
  n[NP_PART_KNOWN] = words(in->tokens);
  n[NP_PART_SEAMS] = words(edges);
  n[NP_PART_EDGES] = 4096;
  n[NP_PART_TWO] = 65536;
  n[NP_PART_BYTE] = 256;
  n[NP_PART_EXTERNAL] = in->external ? in->tokens : 0;
  n[NP_PART_SPECIAL] = in->specials;
  n[NP_PART_TEXTS] = in->name.n + in->source.n + 2;
  for (uint32_t i = 0; i < in->specials; i++) {
    n[NP_PART_TEXTS] += in->special[i].text.n;
  }
  neap_rc rc = plan_ranks(in, &n[NP_PART_RANKS], b->e);
  uint64_t starts = 0;
  if (!rc) rc = np_build_starts(b, &starts);
  n[NP_PART_STARTS] = places(starts);
  for (int i = 0; i < NP_PARTS; i++) h->parts[i].n = n[i];
  return rc;
}

static uint64_t round_up(uint64_t n) {
  return (n + NP_IMAGE_LINE - 1) / NP_IMAGE_LINE * NP_IMAGE_LINE;
}

static neap_rc plan(np_build *b) {
  const np_vocab_parts *in = b->in;
  np_image_head *h = &b->head;
  neap_rc rc = plan_counts(b);
  if (rc) return rc;
  h->split = in->split;
  h->flags = in->flags;
  h->tokens = in->tokens;
  h->exact = in->exact;
  h->name_n = (uint32_t)in->name.n;
  h->source_n = (uint32_t)in->source.n;
  h->size = round_up(sizeof *h);
  for (int i = 0; i < NP_PARTS; i++) {
    h->parts[i].at = h->size;
    h->size = round_up(h->size + h->parts[i].n * np_image_item(i));
  }
  return NEAP_OK;
}

void *np_build_part(const np_build *b, int part) {
  return b->base + b->head.parts[part].at;
}

/* ---- texts and ids ----------------------------------------------------------------- */

static void put_texts(np_build *b) {
  const np_vocab_parts *in = b->in;
  char *texts = np_build_part(b, NP_PART_TEXTS);
  np_special *special = np_build_part(b, NP_PART_SPECIAL);
  memcpy(texts, in->name.p, in->name.n);
  memcpy(texts + in->name.n + 1, in->source.p, in->source.n);
  uint32_t at = (uint32_t)(in->name.n + in->source.n + 2);
  for (uint32_t i = 0; i < in->specials; i++) {
    np_str text = in->special[i].text;
    memcpy(texts + at, text.p, text.n);
    special[i] =
        (np_special){in->special[i].id, at, (uint32_t)text.n, (uint8_t)text.p[0]};
    at += (uint32_t)text.n;
  }
}

static neap_rc put_external(np_build *b) {
  const np_vocab_parts *in = b->in;
  if (!in->external) return NEAP_OK;
  uint32_t *external = np_build_part(b, NP_PART_EXTERNAL);
  uint32_t *ranks = np_build_part(b, NP_PART_RANKS);
  uint64_t n = b->head.parts[NP_PART_RANKS].n;
  memset(ranks, 0xFF, n * sizeof *ranks);
  memcpy(external, in->external, in->tokens * sizeof *external);
  for (uint32_t id = 0; id < in->tokens; id++) {
    if (ranks[external[id]] != NP_TOKEN_NONE) {
      return bad_token(b->e, id, "has the id of another");
    }
    ranks[external[id]] = id;
  }
  for (uint32_t i = 0; i < in->specials; i++) {
    uint32_t id = in->special[i].id, rank = id < n ? ranks[id] : NP_TOKEN_NONE;
    if (rank == NP_TOKEN_NONE) continue;
    np_str bytes = {(const char *)np_build_bytes(in, rank), np_build_len(in, rank)};
    if (!np_str_eq(bytes, in->special[i].text)) {
      return bad_token(b->e, rank, "has the id of a special token");
    }
  }
  return NEAP_OK;
}

/* ---- merges ------------------------------------------------------------------------ */

/* The last step when a token's bytes are merged alone is its own merge: no earlier merge
** crosses the seam of its parts. The search of bpe.c rests on this. */
static neap_rc check_merges(const np_build *b) {
  for (uint32_t id = 0; id < b->in->tokens; id++) {
    if (np_build_is_atom(b->in, id)) continue;
    if (!np_bpe_seam_before(b->v, b->in->left[id], b->in->right[id], id)) {
      return bad_token(b->e, id, "has a merge that is never done");
    }
  }
  return NEAP_OK;
}

static neap_rc fill(np_build *b) {
  memcpy(b->base, &b->head, sizeof b->head);
  put_texts(b);
  np_image_bind(b->v, np_str_of((const char *)b->base, b->head.size));
  neap_rc rc = np_build_tables(b);
  if (!rc) rc = put_external(b);
  if (!rc) rc = check_merges(b);
  if (!rc) np_image_seal(b->base, b->head.size);
  if (!rc) np_image_bind(b->v, np_str_of((const char *)b->base, b->head.size));
  return rc;
}

neap_rc np_vocab_build(const neap_alloc *a, const np_vocab_parts *parts, np_vocab **out,
                       np_err *e) {
  *out = NULL;
  np_build b = {.alloc = a, .in = parts, .e = e};
  neap_rc rc = check_parts(parts, e);
  if (!rc) rc = plan(&b);
  if (rc) return rc;
  b.v = np_calloc(a, 1, sizeof *b.v);
  b.base = np_calloc(a, b.head.size, 1);
  rc = b.v && b.base ? fill(&b) : np_fail_mem(e);
  if (rc) {
    np_free(a, b.v);
    np_free(a, b.base);
    return rc;
  }
  b.v->alloc = *a;
  b.v->memory = b.base;
  *out = b.v;
  return NEAP_OK;
}

np_str np_vocab_image(const np_vocab *v) {
  return v->image;
}
