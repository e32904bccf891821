/*
** Appending: entries get their ids, steps, atoms and partners. Calls and results pair by
** occurrence, since providers reuse ids. next: fold.c
*/
#include "log/log.h"

#include "log/open.h"
#include "log/parse.h"
#include "log/place.h"

neap_rc np_log_init(np_log *lg, const neap_alloc *a, np_err *e) {
  *lg = (np_log){.alloc = a, .task_message = -1, .user_message = -1, .batch = UINT32_MAX};
  np_arena_init(&lg->arena, a);
  np_arena_init(&lg->work, a);
  np_buf_init(&lg->scratch, a);
  (void)e;
  return NEAP_OK;
}

void np_log_free(np_log *lg) {
  np_arena_free(&lg->arena);
  np_arena_free(&lg->work);
  np_buf_free(&lg->scratch);
  np_free(lg->alloc, lg->entries);
  np_free(lg->alloc, lg->messages);
  np_free(lg->alloc, lg->atoms);
  np_free(lg->alloc, lg->open);
  for (size_t i = 0; i < lg->fold_count; i++) np_arena_free(&lg->folds[i].arena);
  np_free(lg->alloc, lg->folds);
  np_free(lg->alloc, lg->ids);
  *lg = (np_log){
      .alloc = lg->alloc, .task_message = -1, .user_message = -1, .batch = UINT32_MAX};
}

/* Room for everything that messages need, so that nothing can fail half-way. Ids and places
** in these lists are kept in 32 bits elsewhere. */
bool np_log_reserve(np_log *lg, size_t parts, size_t messages) {
  void *en = lg->entries, *ms = lg->messages, *at = lg->atoms;
  if (parts >= UINT32_MAX - lg->entry_count || messages >= UINT32_MAX - lg->message_count)
    return false;
  bool ok =
      np_grow(lg->alloc, &en, &lg->entry_cap, lg->entry_count + parts, sizeof(np_entry));
  lg->entries = en;
  ok = np_grow(lg->alloc, &ms, &lg->message_cap, lg->message_count + messages,
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

/* A call of the newest batch with that name that waits, though it has an id. */
static np_entry *find_by_name(np_log *lg, np_str tool) {
  if (lg->batch == UINT32_MAX) return NULL;
  for (int64_t id = lg->atoms[lg->batch].first; id; id = np_log_entry(lg, id)->next) {
    const np_entry *en = np_log_entry(lg, id);
    if (en->kind == NP_KIND_CALL && !en->pair && np_str_eq(en->tool, tool))
      return np_open_take(lg, en->call_id, false);
  }
  return NULL;
}

/* Gemini's results may leave out the id that their call has. */
static np_entry *find_call(np_log *lg, const np_entry *result) {
  np_str key = result->by_name ? result->tool : result->call_id;
  np_entry *call = np_open_take(lg, key, result->by_name);
  bool may_lack = lg->messages[result->message].shape == NP_SHAPE_GEMINI;
  return call || !result->by_name || !may_lack ? call : find_by_name(lg, key);
}

static void pair_result(np_log *lg, np_entry *result) {
  np_entry *call = find_call(lg, result);
  if (!call) {
    np_log_join_atom(lg, result, np_log_new_atom(lg, NP_KIND_RESULT));
    return;
  }
  call->pair = result->id;
  result->opaque = call->opaque; /* who cannot show the one cannot show the other */
  result->pair = call->id;
  result->twin = call->twin;
  result->tool = call->tool;
  result->path = call->path;
  lg->atoms[call->atom].open--;
  np_log_join_atom(lg, result, call->atom);
}

static np_region region_of(const np_log *lg, const np_message *m, size_t index,
                           np_kind kind) {
  if (kind == NP_KIND_STATE) return NP_REGION_STATE;
  if (kind == NP_KIND_MEMORY) return NP_REGION_MEMORY;
  if (kind == NP_KIND_RESULT) return NP_REGION_HOT;
  if (m->role == NP_ROLE_SYSTEM || m->role == NP_ROLE_DEVELOPER) {
    return lg->begun ? NP_REGION_HOT : NP_REGION_FIXED;
  }
  return lg->task_message == (int64_t)index ? NP_REGION_TASK : NP_REGION_HOT;
}

np_entry *np_log_add_entry(np_log *lg, const np_message *m, size_t message,
                           const np_part *p) {
  np_entry *en = &lg->entries[lg->entry_count++];
  *en = (np_entry){.id = (int64_t)lg->entry_count,
                   .key = lg->of ? 0 : (int64_t)lg->entry_count,
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
                   .empty = p->empty,
                   .opaque = p->opaque,
                   .by_name = p->by_name,
                   .loose = p->loose};
  en->region = region_of(lg, m, message, p->kind);
  return en;
}

/* Atoms of one response: its calls are a batch, its texts belong together, a thought stands
** alone, unless it is an item: that goes with the item it belongs to, the next one. A user
** message is one atom with its images and files. */
typedef struct placing {
  uint32_t text, batch, thought;
} placing;

/* The entry before, what was put aside left out: a summary or a file parts no response. */
static const np_entry *entry_before(const np_log *lg, const np_entry *en) {
  const np_entry *before = np_log_entry(lg, en->id - 1);
  while (before && np_log_is_aside(before)) before = np_log_entry(lg, before->id - 1);
  return before;
}

/* The thought item before, which the provider takes only with what follows it. */
static uint32_t thought_before(const np_log *lg, const np_message *m,
                               const np_entry *en) {
  const np_entry *before = entry_before(lg, en);
  bool led = before && before->kind == NP_KIND_THOUGHT &&
             before->place == NP_PLACE_ITEM &&
             lg->messages[before->message].lead == m->lead;
  return led ? before->atom : UINT32_MAX;
}

static uint32_t begin_atom(np_log *lg, const np_message *m, const np_entry *en) {
  uint32_t led = thought_before(lg, m, en), batch = lg->messages[m->lead].batch;
  bool within = en->kind == NP_KIND_THOUGHT && en->place == NP_PLACE_ITEM;
  if (within && batch != UINT32_MAX) return batch; /* between the calls of one response */
  if (led == UINT32_MAX) return np_log_new_atom(lg, en->kind);
  lg->atoms[led].kind = en->kind;
  return led;
}

/* A batch that has begun takes a led thought in: calls are made together. */
static void place_call(np_log *lg, const np_message *m, np_entry *en, placing *at) {
  uint32_t *lead = &lg->messages[m->lead].batch;
  if (at->batch == UINT32_MAX) at->batch = *lead;
  if (at->batch == UINT32_MAX) at->batch = begin_atom(lg, m, en);
  *lead = lg->batch = at->batch;
  np_log_join_atom(lg, en, at->batch);
  lg->atoms[at->batch].open++;
  np_open_add(lg, en);
}

/* Signed thoughts of one message go or stay together: the first block must be one of them. */
static void place_thought(np_log *lg, const np_message *m, np_entry *en, placing *at) {
  bool together = m->shape == NP_SHAPE_ANTHROPIC;
  if (!together || at->thought == UINT32_MAX) at->thought = begin_atom(lg, m, en);
  np_log_join_atom(lg, en, at->thought);
}

static void place_entry(np_log *lg, const np_message *m, np_entry *en, placing *at) {
  if (en->kind == NP_KIND_RESULT) {
    pair_result(lg, en);
  } else if (en->kind == NP_KIND_THOUGHT) {
    place_thought(lg, m, en, at);
  } else if (en->kind == NP_KIND_CALL) {
    place_call(lg, m, en, at);
  } else {
    if (at->text == UINT32_MAX) at->text = begin_atom(lg, m, en);
    np_log_join_atom(lg, en, at->text);
  }
}

/* Items that follow each other are of one response, as the host gives in a result before the
** next one begins. */
static bool goes_on(const np_log *lg, const np_message *before, const np_message *m) {
  if (lg->fresh || !before || m->shape != NP_SHAPE_RESPONSES) return false;
  return m->role == NP_ROLE_ASSISTANT && before->role == NP_ROLE_ASSISTANT &&
         before->shape == NP_SHAPE_RESPONSES;
}

/* The message before, what was put aside left out; NULL: there is none. */
static const np_message *message_before(const np_log *lg) {
  for (size_t i = lg->message_count; i > 0; i--) {
    const np_message *m = &lg->messages[i - 1];
    const np_entry *en = m->entries ? np_log_entry(lg, m->first) : NULL;
    if (!en || !np_log_is_aside(en)) return m;
  }
  return NULL;
}

/* What no user says: results, and blocks. */
static bool is_unsaid(const np_parsed *parsed) {
  for (size_t i = 0; i < parsed->count; i++) {
    np_kind kind = parsed->parts[i].kind;
    if (kind != NP_KIND_RESULT && !np_log_is_block(kind)) return false;
  }
  return parsed->count > 0;
}

static void begin_message(np_log *lg, np_message *m, const np_parsed *parsed) {
  size_t index = lg->message_count;
  const np_message *before = message_before(lg);
  bool more = goes_on(lg, before, m);
  m->lead = more ? before->lead : (uint32_t)index;
  m->batch = UINT32_MAX;
  if (m->role == NP_ROLE_ASSISTANT && !more) lg->step++;
  lg->fresh = false;
  if (m->role == NP_ROLE_USER && !is_unsaid(parsed)) {
    if (lg->task_message < 0) lg->task_message = (int64_t)index;
    lg->user_message = (int64_t)index;
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
  neap_rc rc =
      np_parse_message(&lg->arena, &lg->work, &lg->scratch, kept, lg->native, out, e);
  return rc ? rc : check_size(out, e);
}

neap_rc np_log_stage_more(np_log *lg, np_str raw, np_staged *staged, np_err *e) {
  np_parsed *parsed = np_arena_alloc(&lg->work, sizeof *parsed);
  neap_rc rc = parsed ? parse(lg, raw, parsed, e) : np_fail_mem(e);
  if (!rc) {
    if (staged->last) staged->last->next = parsed;
    else staged->parsed = parsed;
    staged->last = parsed;
    staged->messages++;
    staged->parts += parsed->count;
    if (!np_log_reserve(lg, staged->parts, staged->messages)) rc = np_fail_mem(e);
  }
  if (rc) np_log_give_up(lg, staged);
  return rc;
}

neap_rc np_log_stage(np_log *lg, np_str raw, np_staged *out, np_err *e) {
  np_arena_clear(&lg->work);
  *out = (np_staged){.before = np_arena_here(&lg->arena)};
  return np_log_stage_more(lg, raw, out, e);
}

void np_log_give_up(np_log *lg, const np_staged *staged) {
  np_arena_back(&lg->arena, staged->before);
}

size_t np_log_take(np_log *lg, const np_parsed *parsed) {
  size_t index = lg->message_count;
  np_message *m = &lg->messages[index];
  *m = parsed->message;
  begin_message(lg, m, parsed);
  lg->message_count++;
  placing at = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  for (size_t i = 0; i < parsed->count; i++) {
    np_entry *en = np_log_add_entry(lg, m, index, &parsed->parts[i]);
    place_entry(lg, m, en, &at);
    m->entries++;
  }
  return index;
}

size_t np_log_enter(np_log *lg, const np_staged *staged) {
  size_t first = lg->message_count;
  for (const np_parsed *p = staged->parsed; p; p = p->next) np_log_take(lg, p);
  return first;
}

neap_rc np_log_append(np_log *lg, np_str raw, size_t *message, np_err *e) {
  np_staged staged;
  neap_rc rc = np_log_stage(lg, raw, &staged, e);
  if (!rc) *message = np_log_enter(lg, &staged);
  return rc;
}
