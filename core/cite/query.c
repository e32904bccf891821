/*
** The index: asking. next: repeat.c
*/
#include "base/hash.h"
#include "cite/index.h"

static const np_cite_entry *find_entry(const np_cite *c, int64_t id) {
  size_t lo = 0, hi = c->entry_count;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (c->entries[mid].id < id) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo < c->entry_count && c->entries[lo].id == id ? &c->entries[lo] : NULL;
}

np_cite_stat np_cite_of(const np_cite *c, int64_t entry) {
  const np_cite_entry *e = find_entry(c, entry);
  if (!e) return (np_cite_stat){0};
  return (np_cite_stat){.hits = e->hits,
                        .identifiers = e->ident_count,
                        .latest = e->latest,
                        .written = e->written,
                        .numbers = e->numbers,
                        .again = e->again,
                        .words = e->words,
                        .last_hit = e->last_hit,
                        .repeated_by = e->repeated_by};
}

double np_cite_worth(const np_cite_stat *st, const np_cite_weights *w) {
  return w->name * (st->latest - st->numbers) + w->number * st->numbers +
         w->word * st->words + w->written * st->written + w->again * st->again;
}

double np_cite_weight_of(const np_cite *c, int64_t entry, np_str ident,
                         const np_cite_weights *w, uint32_t *number) {
  uint32_t i;
  np_probe p = np_map_find(&c->by_text, np_hash64(ident));
  while (np_map_next(&c->by_text, &p, &i)) {
    const np_cite_ident *d = &c->idents[i];
    if (!np_str_eq(np_str_of(d->p, d->n), ident)) continue;
    *number = i;
    if (!d->count || d->as == NP_CITE_NOTHING || c->entries[d->last].id != entry)
      return 0;
    if (d->as == NP_CITE_WORD) return w->word;
    return (d->number ? w->number : w->name) + (d->counted ? w->written : 0) +
           w->again * d->counted;
  }
  return 0;
}

bool np_cite_drift(const np_cite *c, double *share) {
  return np_drift_share(&c->drift, share);
}

size_t np_cite_count(const np_cite *c) {
  return c->citation_count;
}

const np_citation *np_cite_at(const np_cite *c, size_t i) {
  return i < c->citation_count ? &c->citations[i] : NULL;
}

size_t np_cite_holders(const np_cite *c, np_str ident, const int64_t **entries) {
  uint32_t i;
  np_probe p = np_map_find(&c->by_text, np_hash64(ident));
  *entries = NULL;
  while (np_map_next(&c->by_text, &p, &i)) {
    const np_cite_ident *d = &c->idents[i];
    if (!np_str_eq(np_str_of(d->p, d->n), ident)) continue;
    if (d->count == 0) return 0;
    *entries = d->count == 1 ? &c->entries[d->first].id : d->list;
    return d->count < NP_CITE_HOLDERS ? d->count : NP_CITE_HOLDERS;
  }
  return 0;
}

double np_cite_weight(const np_cite *c, int64_t entry) {
  const np_cite_entry *e = find_entry(c, entry);
  double sum = 0;
  for (uint32_t i = 0; e && i < e->ident_count; i++) {
    uint32_t holders = c->idents[c->pool[e->idents + i]].count;
    if (holders) sum += 1.0 / holders;
  }
  return sum;
}

static bool is_source(np_origin who) {
  return who == NP_ORIGIN_RESULT || who == NP_ORIGIN_USER;
}

bool np_cite_use_next(const np_cite *c, int64_t entry, size_t *at, np_cite_use *out) {
  const np_cite_entry *e = find_entry(c, entry);
  while (e && *at < e->ident_count) {
    const np_cite_ident *d = &c->idents[c->pool[e->idents + (*at)++]];
    if (!d->count || d->used <= e->step || !is_source(c->entries[d->first].who)) continue;
    *out = (np_cite_use){1.0 / d->count, d->used};
    return true;
  }
  return false;
}

/* The least number of holders above `floor` among the entry's identifiers. */
static bool next_count(const np_cite *c, const np_cite_entry *e, int64_t floor,
                       int64_t *out) {
  bool found = false;
  for (uint32_t i = 0; i < e->ident_count; i++) {
    int64_t n = c->idents[c->pool[e->idents + i]].count;
    if (n <= floor || (found && n >= *out)) continue;
    *out = n;
    found = true;
  }
  return found;
}

size_t np_cite_rarest(const np_cite *c, int64_t entry, np_str *out, size_t max) {
  const np_cite_entry *e = find_entry(c, entry);
  size_t n = 0;
  int64_t count = -1;
  while (e && n < max && next_count(c, e, count, &count)) {
    for (uint32_t i = 0; i < e->ident_count && n < max; i++) {
      const np_cite_ident *d = &c->idents[c->pool[e->idents + i]];
      if (d->count == count) out[n++] = np_str_of(d->p, d->n);
    }
  }
  return n;
}
