/*
** Appending: entries get their ids, steps, atoms and partners. Calls and results pair by
** occurrence, since providers reuse ids. next: fold.c
*/
#include "log/log.h"

#include "log/open.h"
#include "log/parse.h"
#include "log/place.h"

neap_rc np_log_init(np_log *lg, const neap_alloc *a, np_err *e) {
  *lg = (np_log){.alloc = a, .task_message = -1};
  np_arena_init(&lg->arena, a);
  np_buf_init(&lg->scratch, a);
  (void)e;
  return NEAP_OK;
}

void np_log_free(np_log *lg) {
  np_arena_free(&lg->arena);
  np_buf_free(&lg->scratch);
  np_free(lg->alloc, lg->entries);
  np_free(lg->alloc, lg->messages);
  np_free(lg->alloc, lg->atoms);
  np_free(lg->alloc, lg->open);
  for (size_t i = 0; i < lg->fold_count; i++) np_arena_free(&lg->folds[i].arena);
  np_free(lg->alloc, lg->folds);
  *lg = (np_log){.alloc = lg->alloc, .task_message = -1};
}

/* Room for everything the message needs, so that nothing can fail half-way. */
bool np_log_reserve(np_log *lg, size_t parts) {
  void *en = lg->entries, *ms = lg->messages, *at = lg->atoms;
  bool ok =
      np_grow(lg->alloc, &en, &lg->entry_cap, lg->entry_count + parts, sizeof(np_entry));
  lg->entries = en;
  ok = np_grow(lg->alloc, &ms, &lg->message_cap, lg->message_count + 1,
               sizeof(np_message)) &&
       ok;
  lg->messages = ms;
  ok = np_grow(lg->alloc, &at, &lg->atom_cap, lg->atom_count + parts, sizeof(np_atom)) &&
       ok;
  lg->atoms = at;
  return np_open_reserve(lg, parts) && ok;
}

uint32_t np_log_new_atom(np_log *lg, np_kind kind) {
  lg->atoms[lg->atom_count] = (np_atom){.kind = kind};
  return (uint32_t)lg->atom_count++;
}

void np_log_join_atom(np_log *lg, np_entry *en, uint32_t atom) {
  np_atom *a = &lg->atoms[atom];
  en->atom = atom;
  if (!a->members++) a->first = en->id;
  else np_log_entry(lg, a->last)->next = en->id;
  a->last = en->id;
}

static void pair_result(np_log *lg, np_entry *result, const np_message *m) {
  bool by_name = m->role == NP_ROLE_FUNCTION;
  np_entry *call = np_open_take(lg, by_name ? m->name : result->call_id, by_name);
  if (!call) {
    np_log_join_atom(lg, result, np_log_new_atom(lg, NP_KIND_RESULT));
    result->tool = m->name;
    return;
  }
  call->pair = result->id;
  result->pair = call->id;
  result->twin = call->twin;
  result->tool = call->tool;
  result->path = call->path;
  lg->atoms[call->atom].open--;
  np_log_join_atom(lg, result, call->atom);
}

static np_region region_of(const np_log *lg, const np_message *m, size_t index) {
  if (m->role == NP_ROLE_SYSTEM || m->role == NP_ROLE_DEVELOPER) {
    return lg->begun ? NP_REGION_HOT : NP_REGION_FIXED;
  }
  return lg->task_message == (int64_t)index ? NP_REGION_TASK : NP_REGION_HOT;
}

np_entry *np_log_add_entry(np_log *lg, const np_message *m, size_t message,
                           const np_part *p) {
  np_entry *en = &lg->entries[lg->entry_count++];
  *en = (np_entry){.id = (int64_t)lg->entry_count,
                   .kind = p->kind,
                   .place = p->place,
                   .message = (uint32_t)message,
                   .index = p->index,
                   .step = m->step,
                   .raw = p->raw,
                   .text = p->text,
                   .tool = p->tool,
                   .call_id = p->call_id,
                   .path = p->path,
                   .is_error = p->is_error,
                   .empty = p->empty};
  en->region = region_of(lg, m, message);
  return en;
}

/* Atoms of one message: its calls are a batch, its texts belong together, a thought stands
** alone; a user message is one atom with its images and files. */
static void place_entry(np_log *lg, const np_message *m, np_entry *en, uint32_t *text,
                        uint32_t *batch) {
  if (en->kind == NP_KIND_RESULT) {
    pair_result(lg, en, m);
  } else if (en->kind == NP_KIND_THOUGHT) {
    np_log_join_atom(lg, en, np_log_new_atom(lg, NP_KIND_THOUGHT));
  } else if (en->kind == NP_KIND_CALL) {
    if (*batch == UINT32_MAX) *batch = np_log_new_atom(lg, NP_KIND_CALL);
    np_log_join_atom(lg, en, *batch);
    lg->atoms[*batch].open++;
    np_open_add(lg, en);
  } else {
    if (*text == UINT32_MAX) *text = np_log_new_atom(lg, en->kind);
    np_log_join_atom(lg, en, *text);
  }
}

static void begin_message(np_log *lg, np_message *m) {
  if (m->role == NP_ROLE_ASSISTANT) lg->step++;
  if (m->role == NP_ROLE_USER && lg->task_message < 0) {
    lg->task_message = (int64_t)lg->message_count;
  }
  if (m->role != NP_ROLE_SYSTEM && m->role != NP_ROLE_DEVELOPER) lg->begun = true;
  m->step = lg->step;
  m->first = (int64_t)lg->entry_count + 1;
}

#define PARTS_MAX 100000 /* of one message: more is no message but an attack */

static neap_rc check_size(const np_parsed *parsed, np_err *e) {
  if (parsed->count <= PARTS_MAX) return NEAP_OK;
  return np_fail(e, NEAP_E_LIMIT, "a message of more than 100,000 parts");
}

static neap_rc parse(np_log *lg, np_str raw, np_parsed *out, np_err *e) {
  np_str kept;
  if (!np_arena_copy(&lg->arena, raw, &kept)) return np_fail_mem(e);
  neap_rc rc = np_parse_message(&lg->arena, &lg->scratch, kept, out, e);
  if (!rc) rc = check_size(out, e);
  return rc || np_log_reserve(lg, out->count) ? rc : np_fail_mem(e);
}

neap_rc np_log_stage(np_log *lg, np_str raw, np_staged *out, np_err *e) {
  *out = (np_staged){.before = np_arena_here(&lg->arena)};
  np_parsed *parsed = np_arena_alloc(&lg->arena, sizeof *parsed);
  neap_rc rc = parsed ? parse(lg, raw, parsed, e) : np_fail_mem(e);
  out->parsed = parsed;
  if (rc) np_log_give_up(lg, out);
  return rc;
}

void np_log_give_up(np_log *lg, const np_staged *staged) {
  np_arena_back(&lg->arena, staged->before);
}

size_t np_log_enter(np_log *lg, const np_staged *staged) {
  const np_parsed *parsed = staged->parsed;
  size_t index = lg->message_count;
  np_message *m = &lg->messages[index];
  *m = parsed->message;
  begin_message(lg, m);
  lg->message_count++;
  uint32_t text = UINT32_MAX, batch = UINT32_MAX;
  for (size_t i = 0; i < parsed->count; i++) {
    np_entry *en = np_log_add_entry(lg, m, index, &parsed->parts[i]);
    place_entry(lg, m, en, &text, &batch);
    m->entries++;
  }
  return index;
}

neap_rc np_log_append(np_log *lg, np_str raw, size_t *message, np_err *e) {
  np_staged staged;
  neap_rc rc = np_log_stage(lg, raw, &staged, e);
  if (!rc) *message = np_log_enter(lg, &staged);
  return rc;
}
