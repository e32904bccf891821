/*
** Rendering Messages: tools, the system member, then turns of user and assistant. A message of
** which everything is shown goes out as the bytes that came in; a neighbour of its role goes on
** in its list of blocks. A content that is one string becomes a list when something joins it:
** the provider reads both alike. next: anthropic_block.c
*/
#include "render/anthropic.h"

#include "render/repair.h"

#define MADE UINT32_MAX /* np_seam.message: the brackets are ours */

bool np_anthropic_is_system(const np_entry *en) {
  return en->kind == NP_KIND_SYSTEM && en->region == NP_REGION_FIXED;
}

bool np_anthropic_begins(const np_view *v) {
  const np_entry *first = np_log_entry(v->log, v->opening);
  return first && np_view_message(v, first)->role == NP_ROLE_ASSISTANT;
}

/* A call that has no result is followed by one that says so: then the user speaks last. */
bool np_anthropic_ends(const np_view *v) {
  const np_entry *last = np_log_entry(v->log, v->tail);
  if (!last || np_anthropic_is_system(last)) return true;
  const np_message *m = np_view_message(v, last);
  if (m->role != NP_ROLE_ASSISTANT || np_view_at(v, last->id)->rung == NP_DROPPED)
    return false;
  for (int64_t id = v->tail; id; id = np_view_at(v, id)->prev) {
    const np_entry *en = np_log_entry(v->log, id);
    if (np_view_message(v, en)->lead != m->lead) break;
    if (en->kind == NP_KIND_CALL && !en->pair && np_view_is_shown(v, id)) return false;
  }
  return true;
}

bool np_anthropic_closes(const np_view *v) {
  return v->tail && np_anthropic_ends(v);
}

/* ---- brackets ---- */

/* What of a message's bytes stands behind its content. */
static np_str behind_content(const np_message *m) {
  np_json content;
  np_json_get(m->json, "content", &content);
  return np_str_cut(m->raw, (size_t)(content.raw.p + content.raw.n - m->raw.p), m->raw.n);
}

static void close_content(const np_view *v, const np_seam *s, np_buf *out) {
  if (s->state == NP_ANTHROPIC_NONE) return;
  if (!s->bare) np_buf_addc(out, ']');
  if (s->state == NP_ANTHROPIC_SYSTEM) return;
  if (s->message == MADE) np_buf_addc(out, '}');
  else np_buf_add(out, behind_content(&v->log->messages[s->message]));
}

/* Closes what is open, up to where a message of the list of messages may begin. */
static void part_messages(const np_view *v, const np_seam *s, np_buf *out) {
  close_content(v, s, out);
  if (s->state != NP_ANTHROPIC_NONE) np_buf_addc(out, ',');
  if (s->state <= NP_ANTHROPIC_SYSTEM) np_buf_adds(out, "\"messages\":[");
}

/* Makes a list of the string that the body ends with. */
static void reform(np_seam *s, np_buf *out) {
  np_str lead = NP_LIT(NP_LIST_LEAD);
  if (!np_buf_reserve(out, lead.n + 1)) return;
  char *at = out->p + out->n - s->size;
  memmove(at + lead.n, at, s->size);
  memcpy(at, lead.p, lead.n);
  out->n += lead.n;
  np_buf_addc(out, '}');
  s->grown += (uint32_t)lead.n + 1;
  s->bare = false;
}

/* Opens the list of a new content. */
static void open_list(const np_view *v, np_seam *s, uint8_t state, np_buf *out) {
  if (state == NP_ANTHROPIC_SYSTEM) {
    np_buf_adds(out, "\"system\":[");
  } else {
    part_messages(v, s, out);
    np_buf_adds(out, state == NP_ANTHROPIC_USER
                         ? "{\"role\":\"user\",\"content\":["
                         : "{\"role\":\"assistant\",\"content\":[");
  }
  *s = (np_seam){.state = state, .message = MADE, .grown = s->grown};
}

/* Begins a block in a content of that state: where one is open, behind its blocks. */
static void open_block(const np_view *v, np_seam *s, uint8_t state, np_buf *out) {
  if (s->state != state) {
    open_list(v, s, state, out);
    return;
  }
  if (s->bare) reform(s, out);
  np_buf_addc(out, ',');
}

static void add_text(const np_view *v, np_seam *s, np_str text, np_buf *out) {
  open_block(v, s, NP_ANTHROPIC_USER, out);
  np_buf_adds(out, "{\"type\":\"text\",\"text\":");
  np_json_quote(out, text);
  np_buf_addc(out, '}');
}

/* ---- whole messages ---- */

/* The provider refuses members that it does not know. */
static bool has_more_members(const np_message *m) {
  np_str key;
  np_json value;
  np_json_iter it = np_json_each(m->json);
  while (np_json_next(&it, &key, &value)) {
    if (!np_json_is_key(key, "role") && !np_json_is_key(key, "content")) return true;
  }
  return false;
}

static bool keeps_ids(const np_view *v, const np_message *m) {
  for (uint32_t i = 0; i < m->entries; i++) {
    const np_entry *en = np_log_entry(v->log, m->first + i);
    if (en->kind == NP_KIND_RESULT) en = np_log_entry(v->log, en->pair);
    if (en->kind == NP_KIND_CALL && !np_part_keeps_id(en)) return false;
  }
  return true;
}

static bool is_whole(const np_view *v, const np_group *g, uint8_t state) {
  const np_message *m = &v->log->messages[g->lead];
  if (!np_part_is_whole(v, g) || !keeps_ids(v, m)) return false;
  return state == NP_ANTHROPIC_SYSTEM ||
         (m->role != NP_ROLE_SYSTEM && !has_more_members(m));
}

/* A message's own bytes, but for what closes it. */
static void add_whole(const np_view *v, const np_group *g, np_seam *s, uint8_t state,
                      np_buf *out) {
  const np_message *m = &v->log->messages[g->lead];
  np_json content;
  np_json_get(m->json, "content", &content);
  bool bare = content.type == NP_JSON_STRING;
  if (state == NP_ANTHROPIC_SYSTEM) {
    np_buf_adds(out, "\"system\":");
  } else {
    part_messages(v, s, out);
    np_buf_add(out, np_str_cut(m->raw, 0, (size_t)(content.raw.p - m->raw.p)));
  }
  if (bare) np_buf_add(out, content.raw);
  else np_anthropic_content(v, m, content, out);
  *s = (np_seam){.state = state,
                 .bare = bare,
                 .message = g->lead,
                 .size = (uint32_t)content.raw.n,
                 .grown = s->grown};
}

/* ---- groups ---- */

/* Whether the model thinks by a budget that the host has set: then a message that holds thoughts
** begins with one (AD, extended thinking). Where the model decides itself, and where it does not
** think, thoughts may stand anywhere (AD, adaptive thinking). */
bool np_anthropic_thinks_first(const np_view *v) {
  np_json request, thinking, type;
  return !np_json_check(v->request, &request, NULL) &&
         np_json_get(request, "thinking", &thinking) &&
         np_json_get(thinking, "type", &type) && type.type == NP_JSON_STRING &&
         np_json_is_key(type.raw, "enabled");
}

/* Whether the group goes out as two messages, the second from its first thought on. */
static bool is_parted(const np_view *v, const np_group *g) {
  int64_t id = np_group_shown(v, g, g->first);
  if (!id || np_log_entry(v->log, id)->kind == NP_KIND_THOUGHT) return false;
  while (id && np_log_entry(v->log, id)->kind != NP_KIND_THOUGHT)
    id = np_group_after(v, g, id);
  return id && np_anthropic_thinks_first(v);
}

/* `begun`: the list is open and empty. `parts`: the first thought begins another message, as it
** may neither stand behind other blocks nor before them. */
static void add_blocks(const np_view *v, const np_group *g, np_seam *s, uint8_t state,
                       bool begun, bool parts, np_buf *out) {
  for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    if (parts && en->kind == NP_KIND_THOUGHT) {
      open_list(v, s, state, out);
      parts = false;
      begun = true;
    }
    if (!begun) open_block(v, s, state, out);
    begun = false;
    np_anthropic_block(v, en, out);
  }
}

static void add_stubs(const np_view *v, const np_group *g, np_seam *s, np_buf *out) {
  for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    if (en->kind != NP_KIND_CALL || en->pair) continue;
    open_block(v, s, NP_ANTHROPIC_USER, out);
    np_anthropic_stub(v, en, out);
  }
}

static uint8_t state_of(const np_view *v, const np_group *g) {
  const np_entry *en = np_log_entry(v->log, np_group_shown(v, g, g->first));
  if (np_anthropic_is_system(en)) return NP_ANTHROPIC_SYSTEM;
  return v->log->messages[g->lead].role == NP_ROLE_ASSISTANT ? NP_ANTHROPIC_ASSISTANT
                                                             : NP_ANTHROPIC_USER;
}

/* A thought is the first of its message: behind another assistant message it begins one. */
static bool begins_anew(const np_view *v, const np_group *g, const np_seam *s,
                        uint8_t state) {
  const np_entry *en = np_log_entry(v->log, np_group_shown(v, g, g->first));
  return s->state != state || en->kind == NP_KIND_THOUGHT;
}

/* Before the first message, whatever of the history is shown by then. */
static void begin(const np_view *v, np_seam *s, np_buf *out) {
  if (s->state <= NP_ANTHROPIC_SYSTEM && np_anthropic_begins(v))
    add_text(v, s, NP_LIT(NP_ANTHROPIC_BEGIN), out);
}

static void group(const np_view *v, const np_group *g, np_seam *s, np_buf *out) {
  uint8_t state = state_of(v, g);
  if (state != NP_ANTHROPIC_SYSTEM) begin(v, s, out);
  bool anew = begins_anew(v, g, s, state), parts = is_parted(v, g);
  if (anew && !parts && is_whole(v, g, state)) {
    add_whole(v, g, s, state, out);
  } else {
    if (anew) open_list(v, s, state, out);
    add_blocks(v, g, s, state, anew, parts, out);
  }
  add_stubs(v, g, s, out);
}

static void notice(const np_view *v, np_str text, np_seam *s, np_buf *out) {
  begin(v, s, out);
  add_text(v, s, text, out);
}

static void head(const np_view *v, np_seam *s, np_buf *out) {
  (void)s;
  np_part_request(v, out);
  np_anthropic_tools(v, out);
}

static void tail(const np_view *v, np_seam s, np_buf *out) {
  if (s.state != NP_ANTHROPIC_USER) add_text(v, &s, NP_LIT(NP_ANTHROPIC_GO_ON), out);
  close_content(v, &s, out);
  np_buf_adds(out, "]}");
}

const np_format np_format_anthropic = {
    .name = "anthropic",
    .shape = NP_SHAPE_ANTHROPIC,
    .thoughts = NP_THOUGHTS_OWN,
    .parts = true,
    .turns = true,
    .loops = true,
    .entry_tokens = np_anthropic_entry_tokens,
    .message_tokens = np_anthropic_message_tokens,
    .result_tokens = np_anthropic_result_tokens,
    .notice_tokens = np_anthropic_notice_tokens,
    .marks = np_anthropic_marks,
    .takes = np_anthropic_takes_inner,
    .repairs = np_anthropic_repairs,
    .begins = np_anthropic_begins,
    .ends = np_anthropic_closes,
    .head_tokens = np_anthropic_head_tokens,
    .tail_tokens = np_anthropic_tail_tokens,
    .head = head,
    .group = group,
    .notice = notice,
    .tail = tail,
};
