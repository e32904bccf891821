/*
** Entering the log's news into the view, and the change of one entry's rung. All counts are
** differences, so a change costs what it touches. next: runs.c, then frame.c
*/
#include "render/view.h"

#include "log/shape.h"
#include "render/inner.h"
#include "render/mark.h"
#include "render/runs.h"

static const char *const rungs[NP_RUNG_COUNT] = {"full", "trimmed", "reference", "masked",
                                                 "dropped"};

const char *np_rung_name(np_rung r) {
  if ((int)r == NP_FOLDED) return "folded";
  return (int)r == NP_ABSENT ? "absent" : rungs[r];
}

bool np_rung_parse(np_str name, np_rung *out) {
  for (int i = 0; i < NP_RUNG_COUNT; i++) {
    if (np_str_is(name, rungs[i])) {
      *out = (np_rung)i;
      return true;
    }
  }
  return false;
}

#define WORDS                                                                            \
  16384 /* entries, 256 KiB a session: what one conversation says again and again */

neap_rc np_view_init(np_view *v, const neap_alloc *a, np_log *lg, const np_vocab *vocab,
                     const np_format *format, np_err *e) {
  (void)e;
  *v = (np_view){
      .alloc = a, .log = lg, .vocab = vocab, .format = format, .dirty = UINT32_MAX};
  v->want = v->lay.layout = np_layout_usual();
  v->model = np_model_default(np_str_cstr(format->name));
  lg->native = format->shape < NP_SHAPE_COUNT ? format->shape : NP_SHAPE_CHAT;
  memcpy(v->key, "aaaa", 4);
  v->words = np_words_new(vocab, a, WORDS);
  np_spare_init(&v->temp, a);
  np_arena_init(&v->arena, a);
  np_buf_init(&v->scratch, a);
  np_view_set_head(v, NP_LIT(""), NP_LIT(""), false);
  return NEAP_OK;
}

void np_view_pair(np_view *v, const np_view *twin) {
  np_words_free(v->words);
  v->words = twin->words;
  v->twin = twin;
}

void np_view_free(np_view *v) {
  if (!v->twin) np_words_free(v->words);
  np_free(v->alloc, v->shown);
  np_free(v->alloc, v->framing);
  np_free(v->alloc, v->visible);
  np_free(v->alloc, v->batch_tail);
  np_free(v->alloc, v->runs);
  np_free(v->alloc, v->guesses);
  np_free(v->alloc, v->pointers);
  np_free(v->alloc, v->marked);
  np_free(v->alloc, v->loop.ids);
  np_free(v->alloc, v->blocks);
  np_arena_free(&v->arena);
  np_buf_free(&v->scratch);
  np_spare_free(&v->temp);
  memset(v, 0, sizeof *v);
}

static void add_tokens(np_view *v, np_region region, int64_t n) {
  v->region[region] += n;
  v->total += n;
}

int64_t np_view_tools_tokens(np_view *v, np_str tools) {
  np_str kept = v->tools;
  v->tools = tools;
  int64_t n = tools.n ? v->format->head_tokens(v) : 0;
  v->tools = NP_LIT("");
  if (tools.n) n -= v->format->head_tokens(v);
  v->tools = kept;
  return n;
}

/* Counts head and tail anew: a tail that names the step changes with it. */
static void count_ends(np_view *v) {
  add_tokens(v, NP_REGION_FIXED, -(int64_t)v->head_cost);
  add_tokens(v, NP_REGION_HOT, -(int64_t)v->tail_cost);
  v->head_cost = v->format->head_tokens(v);
  v->tools_cost = np_view_tools_tokens(v, v->tools);
  v->tail_cost = v->format->tail_tokens(v);
  v->marks_head = v->format->marks ? v->format->marks(v, NULL) : 0;
  add_tokens(v, NP_REGION_FIXED, v->head_cost);
  add_tokens(v, NP_REGION_HOT, v->tail_cost);
}

void np_view_retail(np_view *v) {
  add_tokens(v, NP_REGION_HOT, -(int64_t)v->tail_cost);
  v->tail_cost = v->format->tail_tokens(v);
  add_tokens(v, NP_REGION_HOT, v->tail_cost);
}

void np_view_forget_previews(np_view *v) {
  for (size_t i = 0; i < v->count; i++)
    memset(v->shown[i].preview, 0, sizeof v->shown->preview);
}

void np_view_set_head(np_view *v, np_str tools, np_str request, bool recall) {
  if (recall != v->recall) np_view_forget_previews(v); /* marks say how to get it back */
  v->tools = tools;
  v->request = request;
  v->recall = recall;
  count_ends(v);
  v->dirty = 0;
}

np_str np_view_text(const np_view *v, np_str text, np_buf *buf) {
  if (!text.n || !memchr(text.p, NP_KEY_BYTE, text.n)) return text;
  np_buf_clear(buf);
  for (size_t i = 0, from = 0; i <= text.n; i++) {
    if (i < text.n && text.p[i] != NP_KEY_BYTE) continue;
    np_buf_add(buf, np_str_cut(text, from, i));
    if (i < text.n) np_buf_add(buf, np_str_of(v->key, sizeof v->key));
    from = i + 1;
  }
  return np_buf_str(buf);
}

/* Tokens of `text` in place of the entry, the key filled in. */
uint32_t np_view_count(np_view *v, const np_entry *en, np_str text) {
  np_str filled = np_view_text(v, text, &v->scratch);
  if (v->scratch.failed) v->lost = true;
  return v->format->entry_tokens(v, en, &filled);
}

/* Nothing but white space, which some providers refuse. */
static bool is_blank(np_str s) {
  while (s.n && (s.p[0] == ' ' || (s.p[0] >= '\t' && s.p[0] <= '\r')))
    s = np_str_cut(s, 1, s.n);
  return s.n == 0;
}

static bool is_said(np_kind k) {
  return k == NP_KIND_SYSTEM || k == NP_KIND_USER || k == NP_KIND_TEXT ||
         np_log_is_block(k);
}

/* What is not rendered and was said in a form that only another provider reads, or led to
** nothing; that it goes is told. */
static bool is_foreign(const np_view *v, const np_entry *en) {
  if (en->empty) return false;
  if (en->kind == NP_KIND_THOUGHT) return true;
  return en->opaque && np_view_message(v, en)->shape != v->format->shape;
}

static bool renders(const np_view *v, const np_entry *en);

/* Reasoning that is an item goes only with the item it led to, the next of its response: one
** that was cut off, or that led to nothing that is shown, is left out. No model thinks so
** often in a row; the limit keeps a flood of thoughts from being walked for each. */
static bool leads_on(const np_view *v, const np_entry *en) {
  enum { ROW_MAX = 64 };
  const np_log *lg = v->log;
  const np_entry *next = np_log_entry(lg, en->id + 1);
  for (int i = 0; i < ROW_MAX && next && next->kind == NP_KIND_THOUGHT; i++)
    next = np_log_entry(lg, next->id + 1);
  const np_message *m = next ? np_view_message(v, next) : NULL;
  if (!m || next->kind == NP_KIND_THOUGHT || m->lead != np_view_message(v, en)->lead)
    return false;
  if (next->kind == NP_KIND_TEXT && next->opaque) { /* its own calls, no compaction */
    np_json type;
    return np_json_get(next->raw, "type", &type) && np_shape_ends(type, "_call");
  }
  for (uint32_t i = 0; i < m->entries; i++) {
    if (renders(v, np_log_entry(lg, m->first + i))) return true;
  }
  return false;
}

/* A summary is shown when it begins to stand for its atoms: fold.c. What one provider keeps to
** itself no other can show, nor what comes back to it. */
static bool renders(const np_view *v, const np_entry *en) {
  const np_format *f = v->format;
  bool own = np_view_message(v, en)->shape == f->shape;
  if (en->empty || en->kind == NP_KIND_LOG || en->kind == NP_KIND_SUMMARY) return false;
  if (en->kind == NP_KIND_RESULT && en->pair) return np_view_at(v, en->pair)->listed;
  if (en->opaque && !own) return false;
  if (en->kind == NP_KIND_THOUGHT) {
    if (f->thoughts == NP_THOUGHTS_ALL) return en->text.n > 0;
    return f->thoughts == NP_THOUGHTS_OWN && own && !en->loose &&
           (en->place != NP_PLACE_ITEM || leads_on(v, en));
  }
  if (!is_said(en->kind) || en->opaque) return true;
  return (own || en->text.n) && (f->blanks || !is_blank(en->text));
}

/* Where an entry goes: a paired result behind its batch, anything else at the end. */
static int64_t place_after(const np_view *v, const np_entry *en) {
  return en->kind == NP_KIND_RESULT && en->pair ? v->batch_tail[en->atom] : v->tail;
}

/* The batch behind which the next result of it goes: behind the whole response, as nothing
** may stand between calls and results. */
static uint32_t batch_of(const np_view *v, const np_entry *en) {
  const np_log *lg = v->log;
  if (en->kind == NP_KIND_RESULT) return en->pair ? en->atom : UINT32_MAX;
  return lg->messages[np_view_message(v, en)->lead].batch;
}

void np_view_link_behind(np_view *v, int64_t id, int64_t prev) {
  np_shown *s = np_view_at(v, id);
  s->listed = true;
  s->prev = (uint32_t)prev;
  s->next = s->prev ? np_view_at(v, s->prev)->next : (uint32_t)v->head;
  if (s->prev) np_view_at(v, s->prev)->next = (uint32_t)id;
  else v->head = id;
  if (s->next) np_view_at(v, s->next)->prev = (uint32_t)id;
  else v->tail = id;
}

/* Entries are linked in the order of their ids: everything stands where it would if those that
** are not listed had never been. */
void np_view_link(np_view *v, int64_t id) {
  const np_entry *en = np_log_entry(v->log, id);
  uint32_t batch = batch_of(v, en);
  np_view_link_behind(v, id, place_after(v, en));
  if (batch != UINT32_MAX) v->batch_tail[batch] = id;
  if (en->region <= NP_REGION_TASK) v->front = id;
}

void np_view_unlink(np_view *v) {
  v->head = v->tail = v->front = 0;
}

/* The call of a result goes without a stub from now on: *saved gets what that is. Where the
** call was not sent yet and the result stands at the end, nothing that was rendered changes. */
static void recount_call(np_view *v, int64_t call, bool at_end, int64_t *saved) {
  const np_entry *en = np_log_entry(v->log, call);
  np_shown *s = np_view_at(v, call);
  uint32_t was = s->full;
  memset(s->preview, 0, sizeof s->preview);
  s->full = v->format->entry_tokens(v, en, NULL);
  *saved = (int64_t)was - s->full;
  if (s->rung == NP_DROPPED) return;
  uint32_t now = s->rung == NP_FULL ? s->full : np_view_count(v, en, s->text);
  add_tokens(v, en->region, (int64_t)now - s->tokens);
  s->tokens = now;
  if (!at_end || s->unit != UINT32_MAX) np_view_touch(v, call);
}

static void show_message(np_view *v, const np_entry *en) {
  uint32_t lead = np_view_message(v, en)->lead;
  if (en->kind == NP_KIND_RESULT) {
    np_shown *s = np_view_at(v, en->id);
    s->frame = (uint16_t)v->format->result_tokens(v, en);
    add_tokens(v, en->region, s->frame);
  } else if (!v->visible[lead]++) {
    v->framing[lead] = v->format->message_tokens(v, &v->log->messages[lead]);
    add_tokens(v, en->region, v->framing[lead]);
  }
}

static void hide_message(np_view *v, const np_entry *en) {
  uint32_t lead = np_view_message(v, en)->lead;
  if (en->kind == NP_KIND_RESULT) {
    np_shown *s = np_view_at(v, en->id);
    add_tokens(v, en->region, -(int64_t)s->frame);
    s->frame = 0;
  } else if (!--v->visible[lead]) {
    add_tokens(v, en->region, -(int64_t)v->framing[lead]);
    v->framing[lead] = 0;
  }
}

static bool holds_key(const np_view *v, np_str text) {
  char mark[] = "neap\xC2\xB7xxxx";
  memcpy(mark + 6, v->key, 4);
  return np_str_find(text, np_str_of(mark, 10), 0) != SIZE_MAX;
}

/* A picture that is elsewhere is counted as the largest there can be, a file as its bytes. */
static bool is_guess_of(const np_view *v, np_kind kind, np_json part) {
  bool sure = true;
  if (kind == NP_KIND_IMAGE) np_image_tokens(v->model->image, np_image_read(part), &sure);
  return !sure || kind == NP_KIND_FILE;
}

static bool is_guess(const np_view *v, const np_entry *en) {
  np_inner in;
  if (en->kind != NP_KIND_RESULT) return is_guess_of(v, en->kind, en->raw);
  np_inners all = v->format->takes ? np_inner_each(v, en) : (np_inners){0};
  while (np_inner_next(&all, &in)) {
    if (is_guess_of(v, in.kind, in.part)) return true;
  }
  return false;
}

static void note_guess(np_view *v, int64_t id) {
  void *list = v->guesses;
  bool ok =
      np_grow(v->alloc, &list, &v->guess_cap, v->guess_count + 1, sizeof *v->guesses);
  v->guesses = list;
  if (ok) v->guesses[v->guess_count++] = id;
  else v->lost = true;
}

bool np_view_guesses(const np_view *v) {
  for (size_t i = 0; i < v->guess_count; i++) {
    const np_shown *s = np_view_at(v, v->guesses[i]);
    if (s->listed && s->rung == NP_FULL) return true;
  }
  return false;
}

/* An item that joins a response whose segment was rendered without it. */
static void touch_response(np_view *v, const np_entry *en) {
  int64_t prev = np_view_at(v, en->id)->prev;
  const np_entry *before = np_log_entry(v->log, prev);
  if (!before || np_view_message(v, before)->lead != np_view_message(v, en)->lead) return;
  if (np_view_at(v, prev)->unit != UINT32_MAX) np_view_touch(v, prev);
}

/* What the twin has counted is not counted again, where nothing but the text decides. */
static uint32_t count_full(const np_view *v, const np_entry *en) {
  const np_view *t = v->twin;
  bool text = is_said(en->kind) || (en->kind == NP_KIND_RESULT && en->pair);
  if (t && text && en->key && en->key <= (int64_t)t->count) {
    uint32_t full = np_view_at(t, en->key)->full;
    if (full) return full;
  }
  return v->format->entry_tokens(v, en, NULL);
}

static neap_rc enter(np_view *v, const np_entry *en, np_err *e) {
  np_shown *s = np_view_at(v, en->id);
  *s = (np_shown){.text = NP_LIT(""), .unit = UINT32_MAX};
  if (en->kind == NP_KIND_SUMMARY && holds_key(v, en->text)) v->burnt = true;
  if (!renders(v, en)) {
    v->left_out += is_foreign(v, en);
    return NEAP_OK;
  }
  if (is_guess(v, en)) note_guess(v, en->id);
  if (!np_view_note_marks(v, en) || !np_view_note_loop(v, en) ||
      !np_view_note_block(v, en))
    return np_fail_mem(e);
  if (!v->opening && en->region != NP_REGION_FIXED) v->opening = en->id;
  bool at_end = place_after(v, en) == v->tail;
  s->full = s->tokens = count_full(v, en);
  np_view_link(v, en->id);
  if (!v->lay.upto && !v->live) v->lay.front = v->front;
  show_message(v, en);
  add_tokens(v, en->region, s->tokens);
  if (holds_key(v, en->text)) v->burnt = true;
  touch_response(v, en);
  if (en->kind != NP_KIND_RESULT || !en->pair) return NEAP_OK;
  int64_t saved;
  recount_call(v, en->pair, at_end, &saved);
  if (np_view_at(v, en->pair)->rung != NP_DROPPED) return np_runs_part(v, en->id, e);
  return np_runs_drop(v, en->id, saved, e);
}

/* Room for as much as the log has room for: arrays grow when the log's do, not when a turn
** that only one message came for finds them full to the last. */
static bool reserve(np_view *v) {
  const np_log *lg = v->log;
  size_t old = v->messages;
  void *sh = v->shown, *fr = v->framing, *vi = v->visible, *ba = v->batch_tail;
  bool ok = np_grow(v->alloc, &sh, &v->cap, lg->entry_cap, sizeof(np_shown));
  v->shown = sh;
  ok = np_grow(v->alloc, &fr, &v->framing_cap, lg->message_cap, sizeof(uint32_t)) && ok;
  v->framing = fr;
  ok = np_grow(v->alloc, &vi, &v->visible_cap, lg->message_cap, sizeof(uint32_t)) && ok;
  v->visible = vi;
  ok = np_grow(v->alloc, &ba, &v->batch_cap, lg->atom_cap, sizeof(int64_t)) && ok;
  v->batch_tail = ba;
  if (!ok) return false;
  for (size_t i = old; i < lg->message_count; i++) v->framing[i] = v->visible[i] = 0;
  v->messages = lg->message_count;
  return true;
}

neap_rc np_view_sync(np_view *v, np_err *e) {
  if (!reserve(v)) return np_fail_mem(e);
  neap_rc rc = NEAP_OK;
  while (!rc && v->count < v->log->entry_count) {
    rc = enter(v, &v->log->entries[v->count++], e);
  }
  np_view_settle_marks(v);
  np_view_retail(v);
  return rc || !v->lost ? rc : np_fail_mem(e);
}

/* Shows an entry at the rung it has, counted anew. */
void np_view_reveal(np_view *v, int64_t id) {
  const np_entry *en = np_log_entry(v->log, id);
  np_shown *s = np_view_at(v, id);
  s->tokens = np_shown_is_own(s) ? s->full : np_view_count(v, en, s->text);
  add_tokens(v, en->region, s->tokens);
  show_message(v, en);
}

/* The opposite: it keeps its rung. */
void np_view_conceal(np_view *v, int64_t id) {
  const np_entry *en = np_log_entry(v->log, id);
  np_shown *s = np_view_at(v, id);
  add_tokens(v, en->region, -(int64_t)s->tokens);
  s->tokens = 0;
  hide_message(v, en);
}

void np_view_hide(np_view *v, int64_t id) {
  const np_entry *en = np_log_entry(v->log, id);
  np_shown *s = np_view_at(v, id);
  add_tokens(v, en->region, -(int64_t)s->tokens);
  s->tokens = 0;
  s->rung = NP_DROPPED;
  hide_message(v, en);
}

void np_view_unhide(np_view *v, int64_t id) {
  const np_entry *en = np_log_entry(v->log, id);
  np_shown *s = np_view_at(v, id);
  s->rung = NP_FULL;
  s->tokens = s->full;
  np_view_raised(v, id);
  add_tokens(v, en->region, s->tokens);
  show_message(v, en);
}

void np_view_add(np_view *v, np_region r, int64_t n) {
  add_tokens(v, r, n);
}

void np_view_touch(np_view *v, int64_t id) {
  while (id && np_view_at(v, id)->rung == NP_DROPPED) {
    id = np_view_at(v, v->runs[np_view_at(v, id)->run].first)->prev;
  }
  uint32_t unit = id ? np_view_at(v, id)->unit : 0;
  if (unit < v->dirty) v->dirty = unit;
}

neap_rc np_view_show(np_view *v, int64_t id, np_rung rung, np_str text, np_err *e) {
  const np_entry *en = np_log_entry(v->log, id);
  uint32_t tokens =
      rung == NP_FULL ? np_view_at(v, id)->full : np_view_count(v, en, text);
  return np_view_show_counted(v, id, rung, text, tokens, e);
}

/* Notes which entry a mark says another is the same as. */
static bool note_pointer(np_view *v, int64_t id, np_rung rung, np_str text) {
  if (rung != NP_REFERENCE || !np_mark_is_same(text)) return true;
  for (size_t i = 0; i < v->pointer_count; i++) {
    if (v->pointers[i].from == id) return true;
  }
  void *list = v->pointers;
  if (!np_grow(v->alloc, &list, &v->pointer_cap, v->pointer_count + 1,
               sizeof *v->pointers))
    return false;
  v->pointers = list;
  int64_t to = np_log_same(v->log, np_log_entry(v->log, id));
  v->pointers[v->pointer_count++] = (struct np_pointer){id, to};
  return true;
}

bool np_view_is_pointed_at(const np_view *v, int64_t id) {
  for (size_t i = 0; i < v->pointer_count; i++) {
    if (v->pointers[i].to != id) continue;
    const np_shown *s = np_view_at(v, v->pointers[i].from);
    if (s->listed && s->rung == NP_REFERENCE && np_mark_is_same(s->text)) return true;
  }
  return false;
}

neap_rc np_view_show_counted(np_view *v, int64_t id, np_rung rung, np_str text,
                             uint32_t tokens, np_err *e) {
  const np_entry *en = np_log_entry(v->log, id);
  np_shown *s = np_view_at(v, id);
  np_str kept = NP_LIT("");
  if (rung != NP_FULL && !np_arena_copy(&v->arena, text, &kept)) return np_fail_mem(e);
  if (!note_pointer(v, id, rung, text)) return np_fail_mem(e);
  add_tokens(v, en->region, (int64_t)tokens - s->tokens);
  s->text = kept;
  s->tokens = tokens;
  s->rung = (uint8_t)rung;
  if (rung == NP_FULL) np_view_raised(v, id);
  np_view_touch(v, id);
  return v->lost ? np_fail_mem(e) : NEAP_OK;
}

/* Texts that hold the key though the entry is shown in full: stubs, leads, foreign parts. */
static bool is_keyed(const np_view *v, const np_entry *en) {
  if (en->kind == NP_KIND_CALL || en->kind == NP_KIND_RESULT) return !en->pair;
  return (en->kind == NP_KIND_IMAGE || en->kind == NP_KIND_FILE) &&
         np_view_message(v, en)->shape != v->format->shape;
}

neap_rc np_view_rekey(np_view *v, const char key[4], np_err *e) {
  memcpy(v->key, key, 4);
  v->burnt = false;
  np_view_forget_previews(v);
  for (size_t i = 0; i < v->count; i++) {
    np_shown *s = &v->shown[i];
    const np_entry *en = &v->log->entries[i];
    if (holds_key(v, en->text)) v->burnt = true;
    bool lone = is_keyed(v, en);
    bool shown = s->rung != NP_FULL && s->rung != NP_DROPPED;
    if (s->folded && lone) s->full = v->format->entry_tokens(v, en, NULL);
    if (!s->listed || !(lone || shown)) continue;
    /* stubs and leads hold the key */
    if (lone) s->full = v->format->entry_tokens(v, en, NULL);
    if (s->rung == NP_DROPPED) continue;
    uint32_t now = shown ? np_view_count(v, en, s->text) : s->full;
    add_tokens(v, en->region, (int64_t)now - s->tokens);
    s->tokens = now;
  }
  v->loose = true; /* all notices hold the key */
  neap_rc rc = np_runs_settle(v, e);
  v->dirty = 0;
  return rc || !v->lost ? rc : np_fail_mem(e);
}
