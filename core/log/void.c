/*
** Messages that were rolled back: their entries keep ids and texts, so that they can be fetched,
** and are nothing else: of no step, no atom with others, no pair, never shown. Their kind is that
** of debug output. next: object.h
*/
#include "log/log.h"

#include "log/parse.h"
#include "log/place.h"

static void take(np_log *lg, const np_parsed *parsed) {
  size_t index = lg->message_count;
  np_message *m = &lg->messages[index];
  *m = parsed->message;
  m->step = lg->step;
  m->lead = (uint32_t)index;
  m->batch = UINT32_MAX;
  m->first = (int64_t)lg->entry_count + 1;
  lg->message_count++;
  for (size_t i = 0; i < parsed->count; i++) {
    np_entry *en = np_log_add_entry(lg, m, index, &parsed->parts[i]);
    en->voided = true;
    en->was = en->kind;
    en->kind = NP_KIND_LOG;
    en->region = NP_REGION_HOT;
    en->opaque = false;
    np_log_join_atom(lg, en, np_log_new_atom(lg, NP_KIND_LOG));
    m->entries++;
  }
}

neap_rc np_log_append_void(np_log *lg, np_str raw, int64_t seq, np_err *e) {
  np_staged staged;
  neap_rc rc = np_log_stage(lg, raw, &staged, e);
  if (rc) return rc;
  take(lg, staged.parsed);
  lg->messages[lg->message_count - 1].seq = seq;
  return NEAP_OK;
}

neap_rc np_log_append_void_text(np_log *lg, np_str text, int64_t seq, np_err *e) {
  np_buf *b = &lg->scratch;
  np_str raw;
  np_buf_clear(b);
  np_buf_adds(b, "{\"role\":\"user\",\"content\":");
  np_json_quote(b, text);
  np_buf_addc(b, '}');
  if (b->failed || !np_arena_copy(&lg->arena, np_buf_str(b), &raw)) return np_fail_mem(e);
  return np_log_append_void(lg, raw, seq, e);
}
