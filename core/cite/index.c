/*
** The index: adding entries. Every identifier of an entry is looked up once; what is found
** becomes a citation when the model wrote it, and the entry joins the holders. Work per
** identifier is constant, whatever the number of its holders. next: query.c
*/
#include "base/hash.h"
#include "base/port.h"
#include "cite/index.h"
#include "text/text.h"

#define TEXT_BLOCK 8192
#define CJK_MAX 8

np_cite *np_cite_new(const neap_alloc *a) {
  np_cite *c = np_calloc(a, 1, sizeof *c);
  if (!c) return NULL;
  c->alloc = a;
  np_arena_init(&c->arena, a);
  np_map_init(&c->by_text, a);
  np_map_init(&c->by_line, a);
  return c;
}

void np_cite_free(np_cite *c) {
  if (!c) return;
  np_arena_free(&c->arena);
  np_map_free(&c->by_text);
  np_map_free(&c->by_line);
  np_free(c->alloc, c->cjk_lengths);
  np_free(c->alloc, c->entries);
  np_free(c->alloc, c->idents);
  np_free(c->alloc, c->pool);
  np_free(c->alloc, c->citations);
  np_free(c->alloc, c->lines);
  np_free(c->alloc, c->links);
  np_free(c->alloc, c);
}

/* ---- identifiers: bytes to record ---- */

/* The number of the identifier, or NP_CITE_NONE; *p is left where it would be put. */
static uint32_t lookup(const np_cite *c, np_str s, uint64_t hash, np_probe *p) {
  uint32_t i;
  *p = np_map_find(&c->by_text, hash);
  while (np_map_next(&c->by_text, p, &i)) {
    const np_cite_ident *d = &c->idents[i];
    if (d->n == s.n && memcmp(d->p, s.p, s.n) == 0) return i;
  }
  return NP_CITE_NONE;
}

/* A copy of the bytes, packed without alignment. */
static const char *keep_text(np_cite *c, np_str s) {
  if (c->text_left < s.n) {
    c->text = np_arena_alloc(&c->arena, TEXT_BLOCK);
    if (!c->text) return NULL;
    c->text_left = TEXT_BLOCK;
  }
  char *p = c->text;
  memcpy(p, s.p, s.n);
  c->text += s.n;
  c->text_left -= s.n;
  return p;
}

#define CJK_PAIRS 65536 /* two characters of what a language uses rarely meet */
#define CJK_BITS 131072

/* The character at `p`, as a number of its own, and its bytes; cheap, no code point. */
static inline uint32_t cjk_at(const char *p, const char *end, size_t *n) {
  const unsigned char *s = (const unsigned char *)p;
  if (*s < 0xE1 || *s > 0xEC) return np_utf8_decode(p, end, n);
  *n = 3; /* as nearly all */
  return (uint32_t)(s[0] & 15) << 16 | (uint32_t)s[1] << 8 | s[2];
}

/* Hashes of the first two characters and more, each of the one before and a character. */
static inline uint32_t cjk_hash(uint32_t h, uint32_t c) {
  return ((h << 7 | h >> 25) ^ c) * 0x9E3779B1u;
}

static inline size_t pair_place(uint32_t h) {
  return h >> 16;
}

static inline bool cjk_has(const uint8_t *bits, uint32_t h) {
  return bits[h >> 18] >> (h >> 15 & 7) & 1;
}

static inline void cjk_put(uint8_t *bits, uint32_t h) {
  bits[h >> 18] |= (uint8_t)(1u << (h >> 15 & 7));
}

static bool mark_cjk(np_cite *c, np_str s) {
  const char *p = s.p, *end = s.p + s.n;
  size_t chars = 0, n;
  uint32_t h = 0, pair = 0;
  if (!c->cjk_lengths) c->cjk_lengths = np_calloc(c->alloc, CJK_PAIRS + CJK_BITS / 4, 1);
  if (!c->cjk_lengths) return false;
  c->cjk_whole = c->cjk_lengths + CJK_PAIRS;
  c->cjk_begun = c->cjk_whole + CJK_BITS / 8;
  for (; p < end; p += n) {
    h = cjk_hash(h, cjk_at(p, end, &n));
    if (++chars == 2) pair = h;
    if (chars >= 2) cjk_put(c->cjk_begun, h);
  }
  c->cjk_lengths[pair_place(pair)] |= (uint8_t)(1u << (chars - 1));
  cjk_put(c->cjk_whole, h);
  return true;
}

static bool grow_idents(np_cite *c) {
  void *p = c->idents;
  if (!np_grow(c->alloc, &p, &c->ident_cap, c->ident_count + 1, sizeof *c->idents))
    return false;
  c->idents = p;
  return c->ident_count < NP_CITE_NONE - 1;
}

static bool is_number(np_ident id) {
  return id.kind == NP_IDENT_NUMBER ||
         (id.kind == NP_IDENT_NAME &&
          np_ident_class_of(id.text, id.kind) == NP_CLASS_NUMBER);
}

/* Finds or makes the record. False when out of memory; *out may be NP_CITE_NONE when the
** table gave the identifier up. Words that turn out to be identifiers stay such. */
static bool intern(np_cite *c, np_ident id, uint64_t hash, uint32_t *out) {
  np_probe p;
  if (!np_map_room(&c->by_text)) return false;
  *out = lookup(c, id.text, hash, &p);
  if (*out != NP_CITE_NONE) {
    np_cite_ident *d = &c->idents[*out];
    if (id.kind == NP_IDENT_CJK && d->kind != NP_IDENT_CJK) {
      d->kind = NP_IDENT_CJK;
      return mark_cjk(c, id.text);
    }
    return true;
  }
  if (!grow_idents(c)) return false;
  if (!np_map_put(&c->by_text, &p, (uint32_t)c->ident_count)) return true;
  const char *text = keep_text(c, id.text);
  if (!text) return false;
  *out = (uint32_t)c->ident_count++;
  c->idents[*out] = (np_cite_ident){.p = text,
                                    .n = (uint16_t)id.text.n,
                                    .kind = (uint8_t)id.kind,
                                    .number = is_number(id),
                                    .first = NP_CITE_NONE,
                                    .last = NP_CITE_NONE,
                                    .other = NP_CITE_NONE,
                                    .seen = NP_CITE_NONE};
  return id.kind != NP_IDENT_CJK || mark_cjk(c, id.text);
}

/* ---- citations and holders ---- */

static bool cite(np_cite *c, const np_cite_ident *d, const np_cite_entry *by) {
  const np_cite_entry *all = c->entries;
  if (d->count == 0) return true;
  bool same = all[d->last].message == by->message;
  uint32_t from = same ? d->other : d->last;
  if (from == NP_CITE_NONE) return true;
  uint32_t holders = d->count - (same ? d->in_last : 0);
  const np_cite_entry *first = &all[d->first];
  bool fact = first->who == NP_ORIGIN_RESULT || first->who == NP_ORIGIN_USER;
  if (d->kind == NP_IDENT_WORD && (!fact || holders > NP_CITE_RARE)) return true;
  void *p = c->citations;
  if (!np_grow(c->alloc, &p, &c->citation_cap, c->citation_count + 1,
               sizeof *c->citations)) {
    return false;
  }
  c->citations = p;
  np_cite_entry *credited = &c->entries[from];
  np_citation *n = &c->citations[c->citation_count++];
  *n = (np_citation){.text = np_str_of(d->p, d->n),
                     .kind = (np_ident_kind)d->kind,
                     .by = by->id,
                     .step = by->step,
                     .credited = credited->id,
                     .first = first->id,
                     .first_step = first->step,
                     .holders = holders,
                     .fact = fact,
                     .rare = holders <= NP_CITE_RARE};
  if (n->rare && n->kind != NP_IDENT_WORD) {
    credited->hits++;
    credited->last_hit = by->step;
  }
  return true;
}

/* Adds to the list of the first 64 holders; its room grows by four, so that what lies fallow
** in the arena is a third at most. */
static bool list_holder(np_cite *c, np_cite_ident *d, int64_t id) {
  if (d->count == 0 || d->count >= NP_CITE_HOLDERS) return true;
  if (d->count >= d->list_cap) {
    size_t cap = d->list_cap ? (size_t)d->list_cap * 4 : 4;
    int64_t *list = np_arena_alloc(&c->arena, cap * sizeof *list);
    if (!list) return false;
    if (d->list) memcpy(list, d->list, d->count * sizeof *list);
    list[0] = c->entries[d->first].id;
    d->list = list;
    d->list_cap = (uint8_t)cap;
  }
  d->list[d->count] = id;
  return true;
}

/* In the entry where the identifier is counted: `one` is 1, or less one as unsigned sums wrap. */
static void count_fact(np_cite_entry *e, const np_cite_ident *d, uint32_t one) {
  if (d->as == NP_CITE_WORD) e->words += one;
  if (d->as != NP_CITE_FACT) return;
  e->latest += one;
  if (d->number) e->numbers += one;
  if (d->counted) e->written += one;
  e->again += one * d->counted;
}

/* What can be a fact is counted where it was shown last: there it is lost when that goes. A
** word that many hold is none that would be missed. */
static void pass_on(np_cite *c, np_cite_ident *d, uint32_t entry) {
  np_origin first = c->entries[d->count ? d->first : entry].who;
  bool fact = first == NP_ORIGIN_RESULT || first == NP_ORIGIN_USER;
  if (d->count) count_fact(&c->entries[d->last], d, UINT32_MAX);
  d->as = !fact                      ? NP_CITE_NOTHING
          : d->kind != NP_IDENT_WORD ? NP_CITE_FACT
          : d->count < NP_CITE_RARE  ? NP_CITE_WORD
                                     : NP_CITE_NOTHING;
  d->counted = d->uses;
  count_fact(&c->entries[entry], d, 1);
}

static bool hold(np_cite *c, np_cite_ident *d, uint32_t entry) {
  const np_cite_entry *e = &c->entries[entry];
  if (!list_holder(c, d, e->id)) return false;
  pass_on(c, d, entry);
  bool same = d->count && c->entries[d->last].message == e->message;
  if (d->count == 0) d->first = entry;
  if (d->count && !same) d->other = d->last;
  d->in_last = same ? d->in_last + 1 : 1;
  d->last = entry;
  if (d->count < UINT32_MAX) d->count++;
  return true;
}

/* Identifier number `i` stands in the newest entry: counts once. */
static bool show(np_cite *c, uint32_t i) {
  uint32_t entry = (uint32_t)c->entry_count - 1;
  np_cite_ident *d = &c->idents[i];
  np_cite_entry *e = &c->entries[entry];
  if (d->seen == entry) return true;
  d->seen = entry;
  if (d->kind != NP_IDENT_WORD) {
    void *p = c->pool;
    if (!np_grow(c->alloc, &p, &c->pool_cap, c->pool_count + 1, sizeof *c->pool))
      return false;
    c->pool = p;
    c->pool[c->pool_count++] = i;
    e->ident_count++;
  }
  if (e->who == NP_ORIGIN_OTHER) return true;
  if (e->who == NP_ORIGIN_MODEL) {
    if (!cite(c, d, e)) return false;
    d->used = e->step < UINT32_MAX ? (uint32_t)e->step : UINT32_MAX;
    if (d->uses < NP_CITE_USES) d->uses++;
  }
  return hold(c, d, entry);
}

/* ---- CJK identifiers inside longer runs ---- */

/* The longest known CJK identifier that begins at `p`, where one of these lengths (a bit each)
** may. NP_CITE_NONE, and *len as it was, when there is none. */
static uint32_t known_at(const np_cite *c, np_str run, unsigned lengths, size_t *len) {
  size_t ends[CJK_MAX + 1], chars = 0, n = 0, at = 0;
  unsigned maybe = 0;
  uint32_t h = 0;
  for (; at < run.n && lengths >> chars; at += n) {
    h = cjk_hash(h, cjk_at(run.p + at, run.p + run.n, &n));
    if (chars && !cjk_has(c->cjk_begun, h)) break;
    ends[chars] = at + n;
    maybe |= (unsigned)cjk_has(c->cjk_whole, h) << chars++;
  }
  for (maybe &= lengths; maybe; maybe &= ~(1u << chars)) {
    np_probe probe;
    chars = 63 - np_high_zeros(maybe);
    np_str s = np_str_of(run.p, ends[chars]);
    uint32_t i = lookup(c, s, np_hash64(s), &probe);
    if (i == NP_CITE_NONE || c->idents[i].kind != NP_IDENT_CJK) continue;
    *len = s.n;
    return i;
  }
  return NP_CITE_NONE;
}

/* Shows what is known of a run of CJK characters: the longest at each place. */
static bool show_known(np_cite *c, np_str run) {
  const char *p = run.p, *end = run.p + run.n;
  size_t n, m;
  if (!c->cjk_lengths) return true;
  uint32_t one = cjk_at(p, end, &n);
  while (p + n < end) {
    uint32_t two = cjk_at(p + n, end, &m);
    unsigned lengths = c->cjk_lengths[pair_place(cjk_hash(cjk_hash(0, one), two))];
    uint32_t i = NP_CITE_NONE;
    if (lengths) i = known_at(c, np_str_of(p, (size_t)(end - p)), lengths, &n);
    if (i != NP_CITE_NONE && !show(c, i)) return false;
    p += n;
    if (i == NP_CITE_NONE) one = two, n = m;
    else if (p < end) one = cjk_at(p, end, &n);
  }
  return true;
}

/* One identifier or word, or a run of CJK characters that may hold known ones. */
static bool add_ident(np_cite *c, np_ident id, uint64_t hash) {
  uint32_t i;
  bool cjk = id.kind == NP_IDENT_CJK || id.kind == NP_IDENT_RUN;
  if (cjk && !show_known(c, id.text)) return false;
  if (id.kind == NP_IDENT_RUN) return true;
  return intern(c, id, hash, &i) && (i == NP_CITE_NONE || show(c, i));
}

/* What is looked up lies all over memory: some identifiers are found first, and what their
** lookups need is fetched while the others are. */
#define AHEAD 16

static bool add_idents(np_cite *c, np_str text) {
  np_ident_iter it = np_ident_scan(text);
  np_ident id[AHEAD];
  uint64_t hash[AHEAD];
  size_t n;
  bool ok = true;
  it.runs = true;
  do {
    for (n = 0; n < AHEAD && np_ident_next(&it, &id[n]); n++) {
      hash[n] = id[n].kind == NP_IDENT_RUN ? 0 : np_hash64(id[n].text);
      np_map_ahead(&c->by_text, hash[n]);
    }
    for (size_t k = 0; k < n; k++) {
      uint32_t i;
      if (np_map_peek(&c->by_text, hash[k], &i)) np_prefetch(&c->idents[i]);
    }
    for (size_t k = 0; k < n && ok; k++) ok = add_ident(c, id[k], hash[k]);
  } while (n == AHEAD && ok);
  return ok;
}

/* ---- entries ---- */

static neap_rc begin_entry(np_cite *c, np_cite_entry entry, np_err *e) {
  if (c->entry_count) {
    int64_t last = c->entries[c->entry_count - 1].id;
    if (entry.id == last) return NEAP_OK;
    if (entry.id < last) {
      return np_fail(e, NEAP_E_ARG,
                     "citation index: entry %lld after %lld; add entries in order",
                     (long long)entry.id, (long long)last);
    }
  }
  void *p = c->entries;
  if (c->entry_count >= NP_CITE_NONE - 1 ||
      !np_grow(c->alloc, &p, &c->entry_cap, c->entry_count + 1, sizeof *c->entries)) {
    return np_fail_mem(e);
  }
  c->entries = p;
  c->entries[c->entry_count++] = entry;
  return NEAP_OK;
}

/* What the newest entry has named since its pool had `from` identifiers. */
static void take_drift(np_cite *c, size_t from) {
  const np_cite_entry *e = &c->entries[c->entry_count - 1];
  bool task = e->who == NP_ORIGIN_TASK, model = e->who == NP_ORIGIN_MODEL;
  if (model) np_drift_step(&c->drift, e->step);
  else if (task || e->who == NP_ORIGIN_USER)
    np_drift_message(&c->drift, e->message, task);
  else return;
  for (size_t i = from; i < c->pool_count; i++) {
    const np_cite_ident *d = &c->idents[c->pool[i]];
    np_str name = np_str_of(d->p, d->n);
    if (model) np_drift_named(&c->drift, name);
    else np_drift_goal(&c->drift, e->message, task, name);
  }
}

neap_rc np_cite_add(np_cite *c, int64_t entry, int64_t message, int64_t step,
                    np_origin who, np_str text, np_err *e) {
  np_cite_entry fresh = {.id = entry,
                         .message = message,
                         .step = step,
                         .who = who,
                         .idents = c->pool_count,
                         .shared_by = NP_CITE_NONE};
  neap_rc rc = begin_entry(c, fresh, e);
  if (rc || text.n == 0) return rc;
  size_t pool = c->pool_count;
  if (!add_idents(c, text)) return np_fail_mem(e);
  take_drift(c, pool);
  who = c->entries[c->entry_count - 1].who;
  if (who == NP_ORIGIN_RESULT && !np_cite_add_lines(c, text)) return np_fail_mem(e);
  return NEAP_OK;
}
