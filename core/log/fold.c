/*
** Summaries that the engine makes: a user message of its own with what it covers. It is of
** the newest step, so that steps never fall; it is neither the task nor a citation. Whether
** it stands for its atoms now is the view's to say. next: keep.c
*/
#include "log/log.h"

#include "log/place.h"

/* The message as a provider takes it, kept. */
static neap_rc make_raw(np_log *lg, np_arena *ar, np_str text, np_str *raw, np_err *e) {
  np_buf *b = &lg->scratch;
  np_buf_clear(b);
  np_buf_adds(b, "{\"role\":\"user\",\"content\":");
  np_json_quote(b, text);
  np_buf_addc(b, '}');
  if (b->failed || !np_arena_copy(ar, np_buf_str(b), raw)) return np_fail_mem(e);
  return NEAP_OK;
}

static bool reserve_fold(np_log *lg) {
  void *folds = lg->folds;
  bool ok =
      np_grow(lg->alloc, &folds, &lg->fold_cap, lg->fold_count + 1, sizeof(np_fold));
  lg->folds = folds;
  return ok;
}

/* Which atoms, and their steps; false when out of memory. */
static bool make_fold(np_log *lg, const uint32_t *atoms, size_t n, np_fold *f) {
  f->count = n;
  f->step_from = INT64_MAX;
  f->atoms = np_arena_alloc(&f->arena, n * sizeof *atoms);
  if (!f->atoms) return false;
  memcpy(f->atoms, atoms, n * sizeof *atoms);
  for (size_t i = 0; i < n; i++) {
    for (int64_t id = lg->atoms[atoms[i]].first; id; id = np_log_entry(lg, id)->next) {
      int64_t step = np_log_entry(lg, id)->step;
      if (step < f->step_from) f->step_from = step;
      if (step > f->step_to) f->step_to = step;
    }
  }
  return true;
}

static int64_t enter(np_log *lg, const np_parsed *parsed, np_fold *f) {
  np_message *m = &lg->messages[lg->message_count];
  *m = parsed->message;
  m->step = lg->step;
  m->first = (int64_t)lg->entry_count + 1;
  m->entries = 1;
  m->lead = (uint32_t)lg->message_count;
  m->batch = UINT32_MAX;
  np_entry *en = np_log_add_entry(lg, m, lg->message_count++, &parsed->parts[0]);
  en->kind = NP_KIND_SUMMARY;
  en->region = NP_REGION_WARM;
  f->entry = en->id;
  lg->folds[lg->fold_count++] = *f;
  en->fold = (uint32_t)lg->fold_count;
  np_log_join_atom(lg, en, np_log_new_atom(lg, NP_KIND_SUMMARY));
  return en->id;
}

static neap_rc make(np_log *lg, const uint32_t *atoms, size_t n, np_str text, np_fold *f,
                    np_parsed *parsed, np_err *e) {
  np_str raw;
  np_arena_clear(&lg->work);
  neap_rc rc = make_raw(lg, &f->arena, text, &raw, e);
  if (!rc)
    rc = np_parse_message(&f->arena, &lg->work, &lg->scratch, raw, lg->native, parsed, e);
  if (rc) return rc;
  bool ok = make_fold(lg, atoms, n, f) && np_log_reserve(lg, 1, 1) && reserve_fold(lg);
  return ok ? NEAP_OK : np_fail_mem(e);
}

neap_rc np_log_fold(np_log *lg, const uint32_t *atoms, size_t n, np_str text,
                    int64_t *entry, np_err *e) {
  np_fold f = {0};
  np_parsed parsed = {0};
  if (!n || !text.n)
    return np_fail(e, NEAP_E_ARG, "a summary of nothing, or without text");
  for (size_t i = 0; i < n; i++) {
    if (atoms[i] >= lg->atom_count || (i && atoms[i] <= atoms[i - 1]))
      return np_fail(e, NEAP_E_ARG, "a summary names an atom that does not exist");
  }
  np_arena_init(&f.arena, lg->alloc);
  neap_rc rc = make(lg, atoms, n, text, &f, &parsed, e);
  if (rc) np_arena_free(&f.arena);
  else *entry = enter(lg, &parsed, &f);
  return rc;
}

void np_log_unfold(np_log *lg) {
  lg->entry_count--;
  lg->message_count--;
  lg->atom_count--;
  np_arena_free(&lg->folds[--lg->fold_count].arena);
}
