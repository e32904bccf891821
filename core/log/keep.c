/*
** Files that the host keeps with a session: an entry each, so that there is one id space, with
** nothing to show. Their bytes are the store's. next: mirror.c
*/
#include "log/log.h"

#include "log/place.h"

/* As a message it is a user's without a text. */
static const char raw[] = "{\"role\":\"user\",\"content\":\"\"}";

neap_rc np_log_file(np_log *lg, np_str tool, np_str path, int64_t *entry, np_err *e) {
  np_parsed parsed = {0};
  np_str kept_tool, kept_path;
  np_arena_clear(&lg->work);
  neap_rc rc = np_parse_message(&lg->arena, &lg->work, &lg->scratch, NP_LIT(raw),
                                lg->native, &parsed, e);
  if (rc) return rc;
  bool ok = np_arena_copy(&lg->arena, tool, &kept_tool) &&
            np_arena_copy(&lg->arena, path, &kept_path) && np_log_reserve(lg, 1, 1);
  if (!ok) return np_fail_mem(e);
  np_str none = NP_LIT("");
  np_part part = {.kind = NP_KIND_FILE,
                  .place = NP_PLACE_CONTENT,
                  .raw = parsed.message.json,
                  .text = none,
                  .tool = kept_tool,
                  .call_id = none,
                  .path = kept_path,
                  .empty = true};
  np_message *m = &lg->messages[lg->message_count];
  *m = parsed.message;
  m->step = lg->step;
  m->first = (int64_t)lg->entry_count + 1;
  m->entries = 1;
  m->lead = (uint32_t)lg->message_count;
  m->batch = UINT32_MAX;
  np_entry *en = np_log_add_entry(lg, m, lg->message_count++, &part);
  en->region = NP_REGION_HOT;
  en->apart = true;
  np_log_join_atom(lg, en, np_log_new_atom(lg, NP_KIND_FILE));
  *entry = en->id;
  return NEAP_OK;
}

void np_log_unfile(np_log *lg) {
  lg->entry_count--;
  lg->message_count--;
  lg->atom_count--;
}
