/*
** The plain-text form: one prompt of headed blocks, for models and people without a chat
** API. `[step i]`, `<think>…</think>`, `Action: {…}`, `Observation: …`, and at the end
** `[step n+1]`. Every block starts with a letter, `[` or `<` and ends with a newline: both
** split patterns part there, so blocks count apart exactly as together. next: format.c
*/
#include "render/openai.h"

#include "render/mark.h"
#include "text/text.h"

static uint32_t count(const np_view *v, const np_buf *b) {
  if (b->failed) np_view_lose(v);
  size_t n = np_vocab_count_with(v->vocab, v->words, np_buf_str(b));
  return n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)n;
}

/* Headings that an observation must not imitate. */
static const char *const headings[] = {
    "[step ",    "[user]",  "[user ",   "[system]",   "[task]",       "[tools]",
    "[summary]", "[neap]",  "Action:",  "Answer:",    "Observation:", "<think>",
    "</think>",  "[state]", "[memory]", "[evidence]", "[notice]"};

/* What ends a line for some reader: controls from newline to return, NEL, U+2028, U+2029. */
static bool ends_line(uint32_t c) {
  return (c >= '\n' && c <= '\r') || (c >= 0x1C && c <= 0x1E) || c == 0x85 ||
         c == 0x2028 || c == 0x2029;
}

/* What stands before a heading without hiding it: spaces of any width, characters that are not
** seen, and our own backslash. */
static bool is_blank(uint32_t c) {
  return c <= ' ' || c == '\\' || (c >= 0x7F && c <= 0xA0) || c == 0xAD || c == 0x180E ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200F) || (c >= 0x202A && c <= 0x202F) ||
         (c >= 0x205F && c <= 0x206F) || c == 0x3000 || c == 0xFEFF;
}

static uint32_t char_at(np_str s, size_t at, size_t *n) {
  unsigned char c = (unsigned char)s.p[at];
  *n = 1;
  return c < 0x80 ? c : np_utf8_decode(s.p + at, s.p + s.n, n);
}

/* Bytes of the first line, with what ends it. */
static size_t line_size(np_str text) {
  size_t at = 0, n;
  while (at < text.n) {
    uint32_t c = char_at(text, at, &n);
    at += n;
    if (ends_line(c)) break;
  }
  return at;
}

static bool is_heading(np_str line) {
  size_t n;
  while (line.n && is_blank(char_at(line, 0, &n))) line = np_str_cut(line, n, line.n);
  for (size_t i = 0; i < NP_COUNT(headings); i++) {
    n = strlen(headings[i]);
    if (line.n >= n && memcmp(line.p, headings[i], n) == 0) return true;
  }
  return false;
}

void np_text_guard(np_str text, np_buf *out) {
  while (text.n) {
    size_t n = line_size(text);
    np_str line = np_str_cut(text, 0, n);
    if (is_heading(line)) np_buf_addc(out, '\\');
    np_buf_add(out, line);
    text = np_str_cut(text, n, text.n);
  }
}

static void add_action(const np_entry *en, np_str arguments, np_buf *out) {
  np_json args;
  np_buf_adds(out, "Action: {\"action\": ");
  np_json_quote(out, en->tool);
  np_buf_adds(out, ", \"args\": ");
  if (np_json_check(arguments, &args, NULL) == NEAP_OK) np_buf_add(out, args.raw);
  else np_json_quote(out, arguments);
  np_buf_addc(out, '}');
}

/* A name stands in a heading: it must not end it nor begin a line. */
static void add_name(np_str name, np_buf *out) {
  for (size_t i = 0; i < name.n; i++) {
    unsigned char c = (unsigned char)name.p[i];
    np_buf_addc(out, c < 0x20 || c == 0x7F ? ' ' : c == ']' ? ')' : (char)c);
  }
}

static void add_user(const np_view *v, const np_entry *en, np_str text, np_buf *out) {
  const np_message *m = &v->log->messages[en->message];
  if (v->log->task_message == (int64_t)en->message) {
    np_buf_adds(out, "[task]");
  } else if (m->name.n) {
    np_buf_adds(out, "[user ");
    add_name(m->name, out);
    np_buf_addc(out, ']');
  } else {
    np_buf_adds(out, "[user]");
  }
  np_buf_addc(out, '\n');
  np_buf_add(out, text);
}

static void add_block(const np_view *v, const np_entry *en, np_str text, np_buf *out) {
  switch (en->kind) {
    case NP_KIND_SYSTEM:
      np_buf_adds(out, "[system]\n");
      np_buf_add(out, text);
      break;
    case NP_KIND_THOUGHT:
      np_buf_adds(out, "<think>");
      np_buf_add(out, text);
      np_buf_adds(out, "</think>");
      break;
    case NP_KIND_TEXT:
      np_buf_adds(out, "Answer: ");
      np_buf_add(out, text);
      break;
    case NP_KIND_CALL: add_action(en, text, out); break;
    case NP_KIND_RESULT:
      np_buf_adds(out, "Observation: ");
      np_text_guard(text, out);
      break;
    case NP_KIND_SUMMARY:
    case NP_KIND_STATE:
    case NP_KIND_MEMORY:
    case NP_KIND_EVIDENCE:
    case NP_KIND_NOTICE:
      np_buf_addc(out, '[');
      np_buf_adds(out, np_kind_name(en->kind));
      np_buf_adds(out, "]\n");
      np_text_guard(text, out);
      break;
    case NP_KIND_IMAGE: np_buf_adds(out, "[user]\n(an image)"); break;
    default: add_user(v, en, text, out);
  }
  np_buf_addc(out, '\n');
}

void np_text_block(const np_view *v, const np_entry *en, np_buf *out) {
  add_block(v, en, en->text, out);
}

static void add_heading(const np_view *v, const np_message *m, np_buf *out) {
  const np_entry *en = np_log_entry(v->log, m->first);
  if (m->role != NP_ROLE_ASSISTANT || !en) return;
  np_buf_adds(out, "[step ");
  np_buf_int(out, m->step);
  np_buf_adds(out, "]\n");
}

static uint32_t entry_tokens(const np_view *v, const np_entry *en, const np_str *text) {
  np_buf block;
  np_buf_init(&block, np_temp(v));
  add_block(v, en, text ? *text : en->text, &block);
  uint32_t n = count(v, &block);
  np_buf_free(&block);
  return n;
}

static uint32_t message_tokens(const np_view *v, const np_message *m) {
  np_buf heading;
  np_buf_init(&heading, np_temp(v));
  add_heading(v, m, &heading);
  uint32_t n = count(v, &heading);
  np_buf_free(&heading);
  return n;
}

/* A result stands under the heading of its step. */
static uint32_t result_tokens(const np_view *v, const np_entry *en) {
  (void)v;
  (void)en;
  return 0;
}

static void add_notice(np_str text, np_buf *out) {
  np_buf_add(out, text);
  np_buf_addc(out, '\n');
}

static void notice(const np_view *v, np_str text, np_seam *seam, np_buf *out) {
  (void)v;
  (void)seam;
  add_notice(text, out);
}

static uint32_t notice_tokens(const np_view *v, np_str text) {
  np_buf block;
  np_buf_init(&block, np_temp(v));
  add_notice(text, &block);
  uint32_t n = count(v, &block);
  np_buf_free(&block);
  return n;
}

static void add_head(const np_view *v, np_buf *out) {
  if (!v->tools.n) return;
  np_buf_adds(out, "[tools]\n");
  np_buf_add(out, v->tools);
  np_buf_addc(out, '\n');
}

static void add_tail(const np_view *v, np_buf *out) {
  np_buf_adds(out, "[step ");
  np_buf_int(out, v->log->step + 1);
  np_buf_adds(out, "]\n");
}

static uint32_t head_tokens(const np_view *v) {
  np_buf block;
  np_buf_init(&block, np_temp(v));
  add_head(v, &block);
  uint32_t n = count(v, &block);
  np_buf_free(&block);
  return n;
}

/* "[step 12]\n": the digits are runs of at most three, so a fixed figure would be wrong
** beyond step 999; what the step costs is counted when it is known. */
static uint32_t tail_tokens(const np_view *v) {
  np_buf block;
  np_buf_init(&block, np_temp(v));
  add_tail(v, &block);
  uint32_t n = count(v, &block);
  np_buf_free(&block);
  return n;
}

static void head(const np_view *v, np_seam *seam, np_buf *out) {
  (void)seam;
  add_head(v, out);
}

static void tail(const np_view *v, np_seam seam, np_buf *out) {
  (void)seam;
  add_tail(v, out);
}

static void group(const np_view *v, const np_group *g, np_seam *seam, np_buf *out) {
  np_buf filled;
  (void)seam;
  np_buf_init(&filled, np_temp(v));
  add_heading(v, &v->log->messages[g->lead], out);
  for (int64_t id = np_group_shown(v, g, g->first); id; id = np_group_after(v, g, id)) {
    const np_entry *en = np_log_entry(v->log, id);
    const np_shown *s = np_view_at(v, id);
    add_block(v, en, np_shown_is_own(s) ? en->text : np_view_text(v, s->text, &filled),
              out);
  }
  if (filled.failed) out->failed = true;
  np_buf_free(&filled);
}

const np_format np_format_text = {
    .name = "text",
    .shape = NP_SHAPE_COUNT,
    .thoughts = NP_THOUGHTS_ALL,
    .parts = false,
    .blanks = true,
    .names = true,
    .entry_tokens = entry_tokens,
    .message_tokens = message_tokens,
    .result_tokens = result_tokens,
    .notice_tokens = notice_tokens,
    .head_tokens = head_tokens,
    .tail_tokens = tail_tokens,
    .head = head,
    .group = group,
    .notice = notice,
    .tail = tail,
};
