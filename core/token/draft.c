/*
** The draft of a vocabulary: a growing list of tokens with a table to find them by their
** bytes, and the last step, from a ranked draft to the parts that a vocabulary is built of.
** next: rank.c
*/
#include "token/draft.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/json.h"

#define FIRST_BITS 12

void np_draft_init(np_draft *d, const neap_alloc *a, const char *where) {
  *d = (np_draft){.alloc = a, .where = where};
  np_buf_init(&d->bytes, a);
}

void np_draft_free(np_draft *d) {
  np_buf_free(&d->bytes);
  np_free(d->alloc, d->tokens);
  np_free(d->alloc, d->merges);
  np_free(d->alloc, d->special);
  np_free(d->alloc, d->slots);
}

const char *np_draft_show(np_buf *b, np_str bytes) {
  np_buf_clear(b);
  np_json_quote(b, np_str_cut(bytes, 0, 40));
  if (bytes.n > 40) np_buf_adds(b, "…");
  np_buf_addc(b, '\0');
  return b->failed ? "a token" : b->p;
}

neap_rc np_draft_fail(const np_draft *d, np_str bytes, const char *what, np_err *e) {
  np_buf b;
  np_buf_init(&b, d->alloc);
  neap_rc rc = np_fail(e, NEAP_E_VOCAB, "%s: token %s %s; check the file", d->where,
                       np_draft_show(&b, bytes), what);
  np_buf_free(&b);
  return rc;
}

/* ---- the table ---- */

static size_t slot_of(const np_draft *d, np_str bytes) {
  size_t mask = ((size_t)1 << d->slot_bits) - 1;
  size_t i = (size_t)(np_hash64(bytes) * NP_MIX >> (64 - d->slot_bits));
  while (d->slots[i] && !np_str_eq(np_draft_text(d, d->slots[i] - 1), bytes)) {
    i = (i + 1) & mask;
  }
  return i;
}

/* At most half full. */
static bool make_room(np_draft *d) {
  if (d->slots && d->token_n < (size_t)1 << (d->slot_bits - 1)) return true;
  unsigned bits = d->slots ? d->slot_bits + 1 : FIRST_BITS;
  uint32_t *slots = np_calloc(d->alloc, (size_t)1 << bits, sizeof *slots);
  if (!slots) return false;
  np_free(d->alloc, d->slots);
  d->slots = slots;
  d->slot_bits = bits;
  for (uint32_t i = 0; i < d->token_n; i++)
    slots[slot_of(d, np_draft_text(d, i))] = i + 1;
  return true;
}

uint32_t np_draft_find(const np_draft *d, np_str bytes) {
  uint32_t place = d->slots ? d->slots[slot_of(d, bytes)] : 0;
  return place ? place - 1 : NP_TOKEN_NONE;
}

neap_rc np_draft_add(np_draft *d, np_str bytes, uint32_t id, np_err *e) {
  if (bytes.n == 0) return np_draft_fail(d, bytes, "is empty", e);
  if (bytes.n > NP_DRAFT_LONGEST) {
    return np_draft_fail(d, bytes, "is longer than 255 bytes, which neap cannot hold", e);
  }
  if (id >= NP_TOKEN_IDS) return np_draft_fail(d, bytes, "has an id above 4194303", e);
  if (d->token_n >= NP_TOKEN_LIMIT - 1) {
    return np_fail(e, NEAP_E_VOCAB,
                   "%s: has more than %lu tokens, which neap cannot hold", d->where,
                   (unsigned long)NP_TOKEN_LIMIT - 1);
  }
  if (np_draft_find(d, bytes) != NP_TOKEN_NONE) {
    return np_draft_fail(d, bytes, "is there twice", e);
  }
  void *tokens = d->tokens;
  size_t at = d->bytes.n;
  bool ok = np_grow(d->alloc, &tokens, &d->token_cap, d->token_n + 1, sizeof *d->tokens);
  d->tokens = tokens;
  np_buf_add(&d->bytes, bytes);
  if (!ok || d->bytes.failed || at > UINT32_MAX - 256 || !make_room(d)) {
    return np_fail_mem(e);
  }
  np_draft_token *t = &d->tokens[d->token_n];
  *t = (np_draft_token){id, (uint32_t)at, (uint32_t)bytes.n, NP_TOKEN_NONE, 0, 0};
  d->slots[slot_of(d, bytes)] = (uint32_t)++d->token_n;
  return NEAP_OK;
}

neap_rc np_draft_merge_add(np_draft *d, np_draft_merge m, np_err *e) {
  void *merges = d->merges;
  if (!np_grow(d->alloc, &merges, &d->merge_cap, d->merge_n + 1, sizeof m)) {
    return np_fail_mem(e);
  }
  d->merges = merges;
  d->merges[d->merge_n++] = m;
  return NEAP_OK;
}

/* ---- special tokens ---- */

neap_rc np_draft_special_add(np_draft *d, size_t at, size_t n, uint32_t id, np_err *e) {
  np_str text = np_str_of(d->bytes.p + at, n);
  if (n == 0 || n > 256) {
    return np_draft_fail(d, text, "is special and has not 1 to 256 bytes", e);
  }
  if (id >= NP_TOKEN_IDS) return np_draft_fail(d, text, "has an id above 4194303", e);
  void *special = d->special;
  if (at > UINT32_MAX - 256 || !np_grow(d->alloc, &special, &d->special_cap,
                                        d->special_n + 1, sizeof *d->special)) {
    return np_fail_mem(e);
  }
  d->special = special;
  d->special[d->special_n++] = (np_draft_special){id, (uint32_t)at, (uint32_t)n};
  return NEAP_OK;
}

static int by_id(const void *a, const void *b) {
  const np_draft_special *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

/* True when text `i` is in the table of those before it; else puts it there. */
static bool is_known(const np_draft *d, uint32_t *slots, size_t mask, uint32_t i) {
  np_str text = np_draft_special_text(d, i);
  size_t k = (size_t)np_hash64(text) & mask;
  for (; slots[k]; k = (k + 1) & mask) {
    if (np_str_eq(np_draft_special_text(d, slots[k] - 1), text)) return true;
  }
  slots[k] = i + 1;
  return false;
}

neap_rc np_draft_special_sort(np_draft *d, np_err *e) {
  if (!d->special_n) return NEAP_OK;
  qsort(d->special, d->special_n, sizeof *d->special, by_id);
  size_t size = 16;
  while (size < 2 * d->special_n) size *= 2;
  uint32_t *slots = np_calloc(d->alloc, size, sizeof *slots);
  neap_rc rc = slots ? NEAP_OK : np_fail_mem(e);
  for (uint32_t i = 0; !rc && i < d->special_n; i++) {
    np_str text = np_draft_special_text(d, i);
    if (is_known(d, slots, size - 1, i)) {
      rc = np_draft_fail(d, text, "is added twice", e);
    } else if (i && d->special[i].id == d->special[i - 1].id) {
      rc = np_draft_fail(d, text, "is added with the id of another", e);
    }
  }
  np_free(d->alloc, slots);
  return rc;
}

uint32_t np_draft_special_find(const np_draft *d, uint32_t id) {
  size_t low = 0, high = d->special_n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (d->special[mid].id == id) return (uint32_t)mid;
    if (d->special[mid].id < id) low = mid + 1;
    else high = mid;
  }
  return NP_TOKEN_NONE;
}
