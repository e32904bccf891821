/*
** Rendering Gemini's contents. Turns of user and model alternate: what comes behind a turn of
** its own role is put into it, so a turn is left open until another begins. System messages
** before the task are the instruction, later ones the user's. The responses to a turn's calls
** stand in the next turn, by their order where calls have no ids, else by ids.
** next: gemini_head.c
*/
#include "render/gemini.h"

#include "render/repair.h"

/* Seam states: what is open behind the last piece. */
enum {
  HEAD,     /* nothing yet */
  SYSTEM,   /* the instruction's parts */
  CONTENTS, /* the list, and no turn in it */
  USER,
  MODEL,
  BASE = 15,
  NAMED = 16 /* calls whose results follow have ids all */
};

static int base_of(const np_seam *seam) {
  return seam->state & BASE;
}

static void set_base(np_seam *seam, int base) {
  seam->state = (uint8_t)((seam->state & NAMED) | base);
}

/* Closes what is before the contents. */
static void open_contents(const np_view *v, np_seam *seam, np_buf *out) {
  if (base_of(seam) > SYSTEM) return;
  np_buf_adds(out, base_of(seam) == SYSTEM ? "]},\"contents\":[" : "\"contents\":[");
  set_base(seam, CONTENTS);
  if (!np_gemini_opens_late(v)) return;
  np_buf_adds(out, "{\"role\":\"user\",\"parts\":[");
  np_gemini_text(NP_LIT(NP_GEMINI_OPENING), out);
  set_base(seam, USER);
}

/* What stands behind the last part of a message that went out as it came. */
static np_str closing_of(const np_view *v, uint32_t message) {
  const np_message *m = &v->log->messages[message];
  const np_entry *last = np_log_entry(v->log, m->first + m->entries - 1);
  const char *end = last->raw.raw.p + last->raw.raw.n;
  return np_str_of(end, (size_t)(m->raw.p + m->raw.n - end));
}

static void close_parts(const np_view *v, np_seam *seam, np_buf *out) {
  if (seam->message) np_buf_add(out, closing_of(v, seam->message - 1));
  else np_buf_adds(out, "]}");
  seam->message = 0;
}

/* Closes the turn of the other role. */
static void close_turn(const np_view *v, np_seam *seam, np_buf *out) {
  if (base_of(seam) > CONTENTS) {
    close_parts(v, seam, out);
    np_buf_addc(out, ',');
  }
  set_base(seam, CONTENTS);
}

/* What stands before a part of that role: a comma, or what begins a turn. */
static void open_part(const np_view *v, np_seam *seam, int role, np_buf *out) {
  open_contents(v, seam, out);
  if (base_of(seam) == role) {
    np_buf_addc(out, ',');
    return;
  }
  close_turn(v, seam, out);
  np_buf_adds(out, role == MODEL ? "{\"role\":\"model\",\"parts\":["
                                 : "{\"role\":\"user\",\"parts\":[");
  set_base(seam, role);
}

/* ---- whole messages ---- */

/* A message of which everything is shown goes out up to its last part; what stands behind that
** closes the turn. */
static void add_whole(const np_view *v, const np_group *g, np_seam *seam, np_buf *out) {
  const np_message *m = &v->log->messages[g->lead];
  close_turn(v, seam, out);
  np_buf_add(out, np_str_cut(m->raw, 0, m->raw.n - closing_of(v, g->lead).n));
  seam->message = g->lead + 1;
}

/* It begins a turn, and says whose. */
static bool is_whole(const np_view *v, const np_group *g, const np_seam *seam, int role) {
  const np_message *m = &v->log->messages[g->lead];
  np_json name;
  return m->shape == NP_SHAPE_GEMINI && base_of(seam) != role &&
         np_json_get(m->json, "role", &name) && np_part_is_whole(v, g);
}

/* ---- groups ---- */

static bool is_call(const np_entry *en) {
  return en->kind == NP_KIND_CALL;
}

/* Every call has its result, and they stand behind the group in the order of the calls; or none
** has, and stubs will stand there in this order. */
bool np_gemini_is_straight(const np_view *v, const np_group *g) {
  int64_t at = g->behind;
  size_t calls = 0, open = 0;
  for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    calls += is_call(en);
    open += is_call(en) && !en->pair;
  }
  if (open) return open == calls;
  for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    if (!is_call(np_log_entry(v->log, id))) continue;
    const np_entry *result = np_log_entry(v->log, at);
    if (!result || result->kind != NP_KIND_RESULT || result->pair != id) return false;
    at = np_view_at(v, at)->next;
  }
  return true;
}

/* A call without an id that must get one, or with one that must get another. */
static bool keeps_calls(const np_view *v, const np_group *g, bool named) {
  for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    if (!is_call(en)) continue;
    if (en->again || np_part_is_made(en->call_id) || (named && !en->call_id.n))
      return false;
  }
  return true;
}

static void add_stubs(const np_view *v, const np_group *g, bool named, np_seam *seam,
                      np_buf *out) {
  for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    if (!is_call(en) || en->pair) continue;
    open_part(v, seam, USER, out);
    np_gemini_stub(v, en, named, out);
  }
}

static void add_model(const np_view *v, const np_group *g, np_seam *seam, np_buf *out) {
  bool named = !np_gemini_is_straight(v, g), leads = true;
  seam->state &= BASE;
  open_contents(v, seam, out);
  if (is_whole(v, g, seam, MODEL) && keeps_calls(v, g, named)) {
    add_whole(v, g, seam, out);
    set_base(seam, MODEL);
  } else {
    for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
      const np_entry *en = np_log_entry(v->log, id);
      open_part(v, seam, MODEL, out);
      if (!is_call(en)) {
        np_gemini_part(v, en, out);
        continue;
      }
      np_gemini_call(v, en, named, leads, out);
      leads = false;
    }
  }
  add_stubs(v, g, named, seam, out);
  if (named) seam->state |= NAMED;
}

static bool is_result(const np_entry *en) {
  return en->kind == NP_KIND_RESULT && en->pair;
}

/* Its responses go out as they came, and all stand before its texts. */
static bool keeps_results(const np_view *v, const np_group *g, bool named) {
  bool texts = false;
  for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    if (!is_result(en)) texts = true;
    else if (texts || !np_gemini_keeps_result(v, en, named)) return false;
  }
  return true;
}

/* The responses come first, as they belong to the calls of the turn before. */
static void add_user(const np_view *v, const np_group *g, np_seam *seam, np_buf *out) {
  bool named = seam->state & NAMED;
  int64_t id;
  open_contents(v, seam, out);
  if (is_whole(v, g, seam, USER) && keeps_results(v, g, named)) {
    add_whole(v, g, seam, out);
    set_base(seam, USER);
    return;
  }
  for (id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    if (!is_result(en)) continue;
    open_part(v, seam, USER, out);
    np_gemini_result(v, en, named, out);
  }
  for (id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    if (is_result(en)) continue;
    open_part(v, seam, USER, out);
    if (en->kind == NP_KIND_RESULT) np_gemini_result(v, en, named, out);
    else np_gemini_part(v, en, out);
  }
}

static void add_system(const np_view *v, const np_group *g, np_seam *seam, np_buf *out) {
  for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    bool first = base_of(seam) == HEAD;
    np_buf_adds(out, first ? "\"systemInstruction\":{\"parts\":[" : ",");
    set_base(seam, SYSTEM);
    np_gemini_part(v, np_log_entry(v->log, id), out);
  }
}

static bool is_instruction(const np_view *v, const np_group *g, const np_seam *seam) {
  const np_entry *en = np_log_entry(v->log, g->first);
  return base_of(seam) <= SYSTEM && en->kind == NP_KIND_SYSTEM &&
         en->region == NP_REGION_FIXED && !np_gemini_instructed(v);
}

static void group(const np_view *v, const np_group *g, np_seam *seam, np_buf *out) {
  if (v->log->messages[g->lead].role == NP_ROLE_ASSISTANT) add_model(v, g, seam, out);
  else if (is_instruction(v, g, seam)) add_system(v, g, seam, out);
  else add_user(v, g, seam, out);
}

static void notice(const np_view *v, np_str text, np_seam *seam, np_buf *out) {
  open_part(v, seam, USER, out);
  np_gemini_text(text, out);
}

/* The last turn is the user's. */
static void tail(const np_view *v, np_seam seam, np_buf *out) {
  open_contents(v, &seam, out);
  if (np_gemini_closes(v) || base_of(&seam) != USER) {
    open_part(v, &seam, USER, out);
    np_gemini_text(NP_LIT(NP_GEMINI_CLOSING), out);
  }
  close_parts(v, &seam, out);
  np_buf_adds(out, "]}");
}

const np_format np_format_gemini = {
    .name = "gemini",
    .shape = NP_SHAPE_GEMINI,
    .thoughts = NP_THOUGHTS_OWN,
    .parts = true,
    .turns = true,
    .loops = true,
    .blanks = true,
    .entry_tokens = np_gemini_entry_tokens,
    .message_tokens = np_gemini_message_tokens,
    .result_tokens = np_gemini_result_tokens,
    .notice_tokens = np_gemini_notice_tokens,
    .takes = np_gemini_takes_inner,
    .repairs = np_gemini_repairs,
    .begins = np_gemini_opens_late,
    .ends = np_gemini_closes,
    .head_tokens = np_gemini_head_tokens,
    .tail_tokens = np_gemini_tail_tokens,
    .head = np_gemini_head,
    .group = group,
    .notice = notice,
    .tail = tail,
};
