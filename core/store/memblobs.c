/*
** Content by hash in memory. next: memory.c
*/
#include "store/memblobs.h"

#include "store/memlog.h"
#include "text/text.h"

void np_memblobs_init(np_memblobs *m, const neap_alloc *a) {
  *m = (np_memblobs){.alloc = a};
}

void np_memblobs_free(np_memblobs *m) {
  for (size_t i = 0; i < m->cap; i++) {
    if (m->slots[i]) np_free(m->alloc, m->slots[i]->marks);
    if (m->slots[i]) np_free(m->alloc, m->slots[i]->body);
    np_free(m->alloc, m->slots[i]);
  }
  np_free(m->alloc, m->slots);
  np_memblobs_init(m, m->alloc);
}

/* The slot where (tenant, hash) is or would go; the table has a free one. */
static size_t slot_of(const np_memblobs *m, np_str tenant, const uint8_t *hash) {
  uint64_t h = np_hash64(tenant) * 31 + np_hash64(np_hash_str(hash));
  size_t i = (size_t)h & (m->cap - 1);
  for (; m->slots[i]; i = (i + 1) & (m->cap - 1)) {
    const np_memblob *b = m->slots[i];
    if (memcmp(b->hash, hash, NP_SHA256) == 0 && np_str_eq(b->tenant, tenant)) break;
  }
  return i;
}

np_memblob *np_memblob_find(const np_memblobs *m, np_str tenant, const uint8_t *hash) {
  return m->cap ? m->slots[slot_of(m, tenant, hash)] : NULL;
}

static bool table_grow(np_memblobs *m) {
  if (m->n < m->cap / 4 * 3) return true;
  np_memblobs big = {.alloc = m->alloc, .n = m->n, .cap = m->cap ? m->cap * 2 : 64};
  big.slots = np_calloc(m->alloc, big.cap, sizeof *big.slots);
  if (!big.slots) return false;
  for (size_t i = 0; i < m->cap; i++) {
    np_memblob *b = m->slots[i];
    if (b) big.slots[slot_of(&big, b->tenant, b->hash)] = b;
  }
  np_free(m->alloc, m->slots);
  *m = big;
  return true;
}

/* The entry for (tenant, hash), an empty one when it is new. */
static np_memblob *entry(np_memblobs *m, np_str tenant, const uint8_t *hash) {
  if (!table_grow(m)) return NULL;
  size_t i = slot_of(m, tenant, hash);
  if (m->slots[i]) return m->slots[i];
  np_memblob *b = np_malloc(m->alloc, sizeof *b + tenant.n + 1);
  if (!b) return NULL;
  char *name = (char *)(b + 1);
  if (tenant.n) memcpy(name, tenant.p, tenant.n);
  *b = (np_memblob){.tenant = {name, tenant.n}};
  memcpy(b->hash, hash, NP_SHA256);
  m->slots[i] = b;
  m->n++;
  return b;
}

/* The copy is made first, so that a failure leaves no empty entry behind. */
np_memblob *np_memblob_put(np_memblobs *m, np_str tenant, const uint8_t *hash,
                           np_str body) {
  np_memblob *b = np_memblob_find(m, tenant, hash);
  if (b && b->body) return b;
  char *copy = np_malloc(m->alloc, body.n);
  if (!copy) return NULL;
  b = entry(m, tenant, hash);
  if (!b) {
    np_free(m->alloc, copy);
    return NULL;
  }
  if (body.n) memcpy(copy, body.p, body.n);
  b->body = copy;
  b->n = body.n;
  return b;
}

bool np_memblob_purge(np_memblobs *m, np_str tenant, const uint8_t *hash) {
  np_memblob *b = entry(m, tenant, hash);
  if (!b) return false;
  if (b->body) np_wipe(b->body, b->n);
  np_free(m->alloc, b->body);
  np_free(m->alloc, b->marks);
  b->body = NULL;
  b->marks = NULL;
  b->n = 0;
  return true;
}

/* ---- windows ----------------------------------------------------------------------- */

static bool mark(const np_memblobs *m, np_memblob *b) {
  np_str text = {b->body, b->n}, line;
  b->lines = np_lines_count(text);
  b->marks = np_calloc(m->alloc, b->lines / NP_MARK_LINES + 1, sizeof *b->marks);
  if (!b->marks) return false;
  for (size_t i = 0; np_line_next(&text, &line); i++) {
    if (i % NP_MARK_LINES == 0) b->marks[i / NP_MARK_LINES] = (size_t)(line.p - b->body);
  }
  return true;
}

/* The offset at which a line begins, counted from 0; the end for what is behind the last. */
static size_t line_at(const np_memblob *b, size_t line) {
  if (line >= b->lines) return b->n;
  np_str rest = np_str_cut((np_str){b->body, b->n}, b->marks[line / NP_MARK_LINES], b->n);
  np_str part = np_lines_slice(rest, 1, line % NP_MARK_LINES);
  return (size_t)(rest.p - b->body) + part.n;
}

bool np_memblob_window(const np_memblobs *m, np_memblob *b, np_window *w, np_str *out) {
  np_str text = {b->body, b->n};
  if (!w->by_lines || b->n <= NP_WHOLE_MAX) {
    *out = np_window_of(text, w);
    return true;
  }
  if (!b->marks && !mark(m, b)) return false;
  bool none = w->from == 0 || w->from > w->to || w->from > b->lines;
  size_t from = none ? 0 : line_at(b, w->from - 1), to = none ? 0 : line_at(b, w->to);
  *out = np_str_cut(text, from, to);
  w->size = b->n;
  w->lines = b->lines;
  w->at = from;
  return true;
}
