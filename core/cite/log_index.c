/*
** Feeding the index from the log: who wrote an entry decides whether it cites, and whether it
** can be a fact's source. next: ../render/view.h
*/
#include "cite/log_index.h"

neap_rc np_log_index_open(np_log *lg, np_err *e) {
  np_cite *made = np_cite_new(lg->alloc);
  if (lg->of) lg->own = made;
  else lg->cite = made;
  return made ? NEAP_OK : np_fail_mem(e);
}

void np_log_index_close(np_log *lg) {
  np_cite_free(lg->of ? lg->own : lg->cite);
  lg->cite = lg->own = NULL;
}

np_cite_stat np_log_stat(const np_log *lg, const np_entry *en) {
  if (!en->key) return np_cite_of(lg->own, en->id);
  np_cite_stat st = np_cite_of(lg->cite, en->key);
  const np_entry *by = lg->of ? np_log_keyed(lg, st.repeated_by) : NULL;
  if (lg->of) st.repeated_by = by ? by->id : 0;
  return st;
}

double np_log_weight_of(const np_log *lg, const np_entry *en, np_str ident,
                        const np_cite_weights *w, uint32_t *number) {
  return en->key ? np_cite_weight_of(lg->cite, en->key, ident, w, number)
                 : np_cite_weight_of(lg->own, en->id, ident, w, number);
}

np_origin np_log_origin(const np_log *lg, const np_entry *en) {
  switch (en->kind) {
    case NP_KIND_SYSTEM:
    case NP_KIND_TOOLS: return NP_ORIGIN_FIXED;
    case NP_KIND_TEXT:
    case NP_KIND_THOUGHT:
    case NP_KIND_CALL: return NP_ORIGIN_MODEL;
    case NP_KIND_MEMORY:
    case NP_KIND_EVIDENCE:
    case NP_KIND_RESULT: return NP_ORIGIN_RESULT;
    case NP_KIND_USER:
    case NP_KIND_FILE:
      return lg->task_message == (int64_t)en->message ? NP_ORIGIN_TASK : NP_ORIGIN_USER;
    default: return NP_ORIGIN_OTHER;
  }
}

static neap_rc index_entry(np_log *lg, const np_entry *en, np_err *e) {
  np_origin who = np_log_origin(lg, en);
  neap_rc rc = NEAP_OK;
  if (en->voided || (lg->of && en->key)) return NEAP_OK; /* the other log's */
  np_cite *c = lg->of ? lg->own : lg->cite;
  if (en->kind == NP_KIND_CALL) {
    rc = np_cite_add(c, en->id, en->message, en->step, who, en->tool, e);
  }
  return rc ? rc : np_cite_add(c, en->id, en->message, en->step, who, en->text, e);
}

void np_log_index_note(np_log *lg) {
  lg->noted = lg->entry_count;
}

static neap_rc take_in(np_log *lg, size_t end, np_err *e) {
  neap_rc rc = NEAP_OK;
  for (; !rc && lg->indexed < end; lg->indexed++) {
    rc = index_entry(lg, &lg->entries[lg->indexed], e);
  }
  return rc;
}

neap_rc np_log_index_need(np_log *lg, np_err *e) {
  return take_in(lg, lg->noted, e);
}

#define MORE 16 /* entries of those that wait, with each message that comes */

neap_rc np_log_index_come(np_log *lg, np_err *e) {
  size_t come = lg->entry_count - lg->noted, waits = lg->entry_count - lg->indexed;
  np_log_index_note(lg);
  return take_in(lg, lg->indexed + (waits < come + MORE ? waits : come + MORE), e);
}

neap_rc np_log_index_sync(np_log *lg, np_err *e) {
  np_log_index_note(lg);
  return np_log_index_need(lg, e);
}
