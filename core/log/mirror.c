/*
** A second log of the same messages: entries, atoms and pairs are its own, texts are shared. What
** the engine has put into the one, summaries, is not in the other. next: ../cite/cite.h
*/
#include "log/log.h"

#include "log/place.h"

void np_log_mirror(np_log *lg, const np_log *of) {
  lg->of = of;
  lg->native = of->native;
  lg->cite = of->cite;
}

/* An entry as the parser had cut it. */
static np_part part_of(const np_entry *en) {
  return (np_part){.kind = en->kind,
                   .place = en->place,
                   .index = en->index,
                   .raw = en->raw,
                   .text = en->text,
                   .tool = en->tool,
                   .call_id = en->call_id,
                   .path = en->path,
                   .is_error = en->is_error,
                   .empty = en->empty,
                   .opaque = en->opaque && !(en->kind == NP_KIND_RESULT && en->pair),
                   .by_name = en->by_name,
                   .loose = en->loose};
}

static bool is_made(const np_log *of, const np_message *m) {
  const np_entry *en = m->entries ? np_log_entry(of, m->first) : NULL;
  return en && np_log_is_aside(en);
}

/* Whether a message begins a response is read off the other log, which was told. */
static void take(np_log *lg, const np_message *m, np_part *parts) {
  np_parsed parsed = {.message = *m, .parts = parts, .count = m->entries};
  parsed.message.entries = 0;
  for (uint32_t i = 0; i < m->entries; i++)
    parts[i] = part_of(np_log_entry(lg->of, m->first + i));
  lg->fresh = m->lead == (uint32_t)(m - lg->of->messages);
  const np_message *here = &lg->messages[np_log_take(lg, &parsed)];
  for (uint32_t i = 0; i < m->entries; i++) {
    np_log_entry(lg, here->first + i)->key = m->first + i;
    lg->ids[m->first + i - 1] = here->first + i;
  }
}

static bool reserve_ids(np_log *lg) {
  void *ids = lg->ids;
  size_t old = lg->id_cap;
  bool ok = np_grow(lg->alloc, &ids, &lg->id_cap, lg->of->entry_count, sizeof *lg->ids);
  lg->ids = ids;
  if (ok && lg->id_cap > old)
    memset(lg->ids + old, 0, (lg->id_cap - old) * sizeof *lg->ids);
  return ok;
}

neap_rc np_log_mirror_sync(np_log *lg, np_err *e) {
  const np_log *of = lg->of;
  bool ok = reserve_ids(lg);
  for (; ok && lg->taken < of->message_count; lg->taken++) {
    const np_message *m = &of->messages[lg->taken];
    if (is_made(of, m)) continue;
    np_part *parts = np_calloc(lg->alloc, m->entries + 1u, sizeof *parts);
    ok = parts && np_log_reserve(lg, m->entries, 1);
    if (ok) take(lg, m, parts);
    np_free(lg->alloc, parts);
    if (!ok) break;
  }
  return ok ? NEAP_OK : np_fail_mem(e);
}

np_entry *np_log_keyed(const np_log *lg, int64_t key) {
  if (!lg->of) return np_log_entry(lg, key);
  bool known = key >= 1 && (uint64_t)key <= lg->id_cap;
  return known ? np_log_entry(lg, lg->ids[key - 1]) : NULL;
}
