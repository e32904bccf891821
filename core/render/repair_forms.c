/*
** Repairs that one form needs: ids and names of its alphabet, arguments that are objects, parts
** and members that it knows, signatures. next: ../pack/pack.h
*/
#include "log/shape.h"
#include "render/anthropic.h"
#include "render/gemini.h"
#include "render/inner.h"
#include "render/openai.h"
#include "render/repair.h"
#include "render/responses.h"

static bool is_own(const np_view *v, const np_entry *en) {
  return np_view_message(v, en)->shape == v->format->shape;
}

/* The call that the entry is or answers; NULL. */
static const np_entry *call_of(const np_view *v, const np_entry *en) {
  if (en->kind == NP_KIND_RESULT) return np_log_entry(v->log, en->pair);
  return en->kind == NP_KIND_CALL ? en : NULL;
}

/* ---- of calls that come from another form ---- */

static bool is_named_anew(np_str name) {
  np_str rest = name;
  if (!name.n || name.n > 64) return true;
  for (; rest.n; rest = np_str_cut(rest, 1, rest.n)) {
    char c = rest.p[0];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
          c == '_' || c == '-'))
      return true;
  }
  return false;
}

static bool is_wrapped(np_str arguments) {
  np_json v;
  size_t i = 0;
  while (i < arguments.n && (unsigned char)arguments.p[i] <= ' ') i++;
  if (i == arguments.n) return false;
  return np_json_check(arguments, &v, NULL) || v.type != NP_JSON_OBJECT;
}

static uint32_t call_repairs(const np_view *v, const np_entry *en, bool names) {
  uint32_t set = 0;
  const np_entry *call = call_of(v, en);
  if (!call || is_own(v, call)) return 0;
  if (names && is_named_anew(call->tool)) set |= NP_REPAIRED(NAME);
  if (en == call && is_wrapped(call->text)) set |= NP_REPAIRED(ARGUMENTS);
  return set;
}

static bool is_data(const np_entry *en) {
  return en->kind == NP_KIND_IMAGE || en->kind == NP_KIND_FILE;
}

/* A system message behind the beginning. */
static bool is_late_system(const np_entry *en) {
  return en->kind == NP_KIND_SYSTEM && en->region != NP_REGION_FIXED;
}

/* Native members but the thought, which is an entry of its own. */
static bool has_native(const np_message *m) {
  np_str key;
  np_json value;
  if (!m->native) return false;
  np_json_iter it = np_json_each(m->json);
  while (np_json_next(&it, &key, &value)) {
    if (np_shape_is_native(key) && !np_json_is_key(key, "reasoning") &&
        !np_json_is_key(key, "reasoning_content"))
      return true;
  }
  return false;
}

static bool has_unknown(const np_message *m) {
  np_str key;
  np_json value;
  np_json_iter it = np_json_each(m->json);
  while (np_json_next(&it, &key, &value)) {
    if (!np_json_is_key(key, "role") && !np_json_is_key(key, "content")) return true;
  }
  return false;
}

/* The first entry of its message answers for its members. */
static uint32_t members(const np_view *v, const np_entry *en,
                        bool (*has)(const np_message *m)) {
  const np_message *m = np_view_message(v, en);
  return en->id == m->first && is_own(v, en) && has(m) ? NP_REPAIRED(MEMBER) : 0;
}

/* ---- OpenAI, chat ---- */

/* A part of a result that is no `text`. */
static bool has_other_part(const np_entry *en) {
  np_json item, type, text;
  if (en->kind != NP_KIND_RESULT || en->raw.type != NP_JSON_ARRAY) return false;
  np_json_iter it = np_json_each(en->raw);
  while (np_json_next(&it, NULL, &item)) {
    np_json_get(item, "type", &type);
    if (np_json_get(item, "text", &text) && !np_json_is_key(type.raw, "text"))
      return true;
    if (!np_json_is_key(type.raw, "text")) return true;
  }
  return false;
}

uint32_t np_openai_repairs(const np_view *v, const np_entry *en, np_repair_memo *memo) {
  (void)memo;
  const np_entry *call = call_of(v, en);
  bool own = is_own(v, en);
  uint32_t set = call_repairs(v, en, false);
  if (call && np_openai_renames(call)) set |= NP_REPAIRED(ID);
  if (own && en->pair && has_other_part(en)) set |= NP_REPAIRED(PART);
  set |= members(v, en, has_native);
  if (!own && is_data(en) && !(en->kind == NP_KIND_IMAGE && np_openai_takes(en)))
    set |= NP_REPAIRED(PICTURE);
  return set;
}

/* ---- OpenAI, Responses ---- */

uint32_t np_responses_repairs(const np_view *v, const np_entry *en,
                              np_repair_memo *memo) {
  (void)memo;
  const np_entry *call = call_of(v, en);
  bool own = is_own(v, en);
  uint32_t set = call_repairs(v, en, true);
  if (call && !np_responses_keeps_id(v, call)) set |= NP_REPAIRED(ID);
  if (own && !np_responses_fits(v, en)) set |= NP_REPAIRED(PART);
  set |= members(v, en, has_native);
  if (!own && is_data(en) && !np_responses_takes(v, en)) set |= NP_REPAIRED(PICTURE);
  return set;
}

/* ---- Anthropic ---- */

/* The first thought of its message, behind something else. */
static bool is_parted(const np_view *v, const np_entry *en) {
  int64_t first = np_view_message(v, en)->first;
  bool behind = false;
  if (en->kind != NP_KIND_THOUGHT) return false;
  for (int64_t id = en->id - 1; id >= first; id--) {
    if (!np_view_is_shown(v, id)) continue;
    if (np_log_entry(v->log, id)->kind == NP_KIND_THOUGHT) return false;
    behind = true;
  }
  return behind && np_anthropic_thinks_first(v);
}

uint32_t np_anthropic_repairs(const np_view *v, const np_entry *en,
                              np_repair_memo *memo) {
  (void)memo;
  const np_entry *call = call_of(v, en);
  const np_message *m = np_view_message(v, en);
  bool own = is_own(v, en);
  uint32_t set = call_repairs(v, en, true);
  if (call && !np_part_keeps_id(call)) set |= NP_REPAIRED(ID);
  if (is_late_system(en)) set |= NP_REPAIRED(ROLE);
  if (m->role != NP_ROLE_SYSTEM) set |= members(v, en, has_unknown);
  if (own && is_parted(v, en)) set |= NP_REPAIRED(PARTED);
  if (!own && is_data(en) && !np_anthropic_takes(en)) set |= NP_REPAIRED(PICTURE);
  return set;
}

/* ---- Gemini ---- */

/* The neighbours of an entry that are of its response, as the frame makes a segment of them. */
static np_group group_of(const np_view *v, const np_entry *en) {
  np_group g = {.lead = np_view_message(v, en)->lead, .first = en->id};
  int64_t id = en->id;
  while ((id = np_view_at(v, id)->prev) != 0 &&
         np_view_message(v, np_log_entry(v->log, id))->lead == g.lead)
    g.first = id;
  id = en->id;
  while ((id = np_view_at(v, id)->next) != 0 &&
         np_view_message(v, np_log_entry(v->log, id))->lead == g.lead)
    ;
  g.behind = id;
  return g;
}

/* The group of a call: whether its calls have ids all, and which of them is the first. */
static size_t look_up(const np_view *v, const np_entry *call, np_repair_memo *memo) {
  uint32_t lead = np_view_message(v, call)->lead;
  size_t slot = lead % NP_COUNT(memo->group);
  if (memo->group[slot].lead == (int64_t)lead + 1) return slot;
  np_group g = group_of(v, call);
  int64_t first = np_group_shown(v, &g, g.first);
  while (first && np_log_entry(v->log, first)->kind != NP_KIND_CALL)
    first = np_group_after(v, &g, first);
  memo->group[slot].lead = (int64_t)lead + 1;
  memo->group[slot].first = first;
  memo->group[slot].named = !np_gemini_is_straight(v, &g);
  return slot;
}

/* A call that is dropped, or behind a summary, has no place to look at. */
static uint32_t gemini_call_repairs(const np_view *v, const np_entry *en,
                                    const np_entry *call, np_repair_memo *memo) {
  uint32_t set = 0;
  if (!np_view_is_shown(v, call->id)) return 0;
  size_t slot = look_up(v, call, memo);
  bool named = memo->group[slot].named, own = np_gemini_owns(v, call);
  bool kept = own ? np_gemini_keeps_id(v, call) : np_part_keeps_id(call);
  if (np_gemini_has_id(v, call, named) && !kept) set |= NP_REPAIRED(ID);
  if (en->kind == NP_KIND_RESULT && np_gemini_owns(v, en) &&
      !np_gemini_fits(v, call, en, named))
    set |= NP_REPAIRED(ID);
  bool leads = en == call && memo->group[slot].first == en->id;
  if (leads && !own && np_gemini_is_third(v)) set |= NP_REPAIRED(SIGNATURE);
  return set;
}

uint32_t np_gemini_repairs(const np_view *v, const np_entry *en, np_repair_memo *memo) {
  const np_entry *call = call_of(v, en);
  uint32_t set = call_repairs(v, en, true);
  if (call) set |= gemini_call_repairs(v, en, call, memo);
  if (is_late_system(en)) set |= NP_REPAIRED(ROLE);
  if (!is_own(v, en) && is_data(en) && !np_gemini_takes(v, en))
    set |= NP_REPAIRED(PICTURE);
  return set;
}
