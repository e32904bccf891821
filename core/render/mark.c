/*
** The texts of marks. One table of templates a language; `{…}` are filled in. The key stands
** as one byte (NP_KEY_BYTE) until the mark is rendered. next: mark_trim.c
*/
#include "render/mark.h"

#include "text/text.h"

typedef struct templates {
  const char *masked, *how_read;
  const char *cut, *how_range;
  const char *run, *run_one, *how_recall, *how_one;
  const char *stub, *orphan, *foreign;
  const char *same;
} templates;

static const templates english = {
    .masked =
        "[neap\xC2\xB7{K} {id}: {what}, step {step}, {tokens} tokens not shown{how}]",
    .how_read = "; neap_read({id})",
    .cut = "[neap\xC2\xB7{K} {id}: {cut} of {tokens} tokens cut, lines "
           "{from}\xE2\x80\x93{to}{how}]",
    .how_range = "; neap_read({id}, \"{from}-{to}\")",
    .run = "[neap\xC2\xB7{K} steps {from}\xE2\x80\x93{to} not shown: {entries}, {tokens} "
           "tokens{what}{how}]",
    .run_one = "[neap\xC2\xB7{K} step {from} not shown: {entries}, {tokens} "
               "tokens{what}{how}]",
    .how_one = "; neap_read(id)",
    .how_recall = "; neap_recall(\"words\")",
    .stub = "[neap\xC2\xB7{K} {id}: no result was recorded for this call]",
    .orphan = "[neap\xC2\xB7{K} {id}: a result whose call is not in the history]\n",
    .foreign =
        "[neap\xC2\xB7{K} {id}: {what} in a form that this model does not take{how}]",
    .same = "[neap\xC2\xB7{K} {id} = {first}: the same {tokens} tokens as {what} of step "
            "{step}{how}]",
};

typedef struct slots {
  int64_t id, step, tokens, cut, from, to, entries, first;
  const char *how;
  np_str what;
} slots;

static void fill(np_buf *out, const char *t, const slots *s);

static void add_entries(np_buf *out, int64_t n) {
  np_buf_count(out, n);
  np_buf_adds(out, n == 1 ? " entry" : " entries");
}

static void fill_slot(np_buf *out, np_str name, const slots *s) {
  if (np_str_is(name, "K")) np_buf_addc(out, NP_KEY_BYTE);
  else if (np_str_is(name, "id")) np_buf_int(out, s->id);
  else if (np_str_is(name, "first")) np_buf_int(out, s->first);
  else if (np_str_is(name, "step")) np_buf_int(out, s->step);
  else if (np_str_is(name, "tokens")) np_buf_count(out, s->tokens);
  else if (np_str_is(name, "cut")) np_buf_count(out, s->cut);
  else if (np_str_is(name, "from")) np_buf_int(out, s->from);
  else if (np_str_is(name, "to")) np_buf_int(out, s->to);
  else if (np_str_is(name, "entries")) add_entries(out, s->entries);
  else if (np_str_is(name, "what")) np_buf_add(out, s->what);
  else if (np_str_is(name, "how") && s->how) fill(out, s->how, s);
}

/* Templates are one level deep: a `how` holds no `{how}`. */
static void fill(np_buf *out, const char *t, const slots *s) {
  for (const char *open = strchr(t, '{'); open; open = strchr(t, '{')) {
    const char *close = strchr(open, '}');
    if (!close) break;
    np_buf_add(out, np_str_of(t, (size_t)(open - t)));
    fill_slot(out, np_str_of(open + 1, (size_t)(close - open - 1)), s);
    t = close + 1;
  }
  np_buf_adds(out, t);
}

#define PREVIEW 160 /* characters; the reference systems' figure for a preview */
#define ARGUMENT 60 /* characters of a call's main argument that name it */
#define NAMED 24    /* and of one among many */

/* At most `chars` characters of `s` in one line, without what would end the mark early. */
static void add_line(np_buf *out, np_str s, size_t chars, bool quoted) {
  size_t at = 0, n, count = 0;
  while (at < s.n && count < chars) {
    uint32_t c = np_utf8_decode(s.p + at, s.p + s.n, &n);
    if (c < 0x20 || c == 0x7F) np_buf_addc(out, ' ');
    else if (quoted && c == '"') np_buf_addc(out, '\'');
    else np_buf_add(out, np_str_cut(s, at, at + n));
    at += n;
    count++;
  }
  size_t end = np_grapheme_floor(s, at);
  if (end < at && out->n >= at - end) out->n -= at - end;
  if (at < s.n) np_buf_adds(out, "\xE2\x80\xA6");
}

/* The argument that best names a call: its path, else its first string, else its bytes. */
static void add_argument(const np_view *v, const np_entry *call, size_t chars,
                         np_buf *out) {
  np_json args, value = {0}, first = {0};
  np_str key;
  if (call->path.n) {
    add_line(out, call->path, chars, true);
    return;
  }
  if (np_json_check(call->text, &args, NULL) == NEAP_OK) {
    np_json_iter it = np_json_each(args);
    while (!first.type && np_json_next(&it, &key, &value)) {
      if (value.type == NP_JSON_STRING) first = value;
    }
  }
  if (!first.type) {
    add_line(out, call->text, chars, true);
    return;
  }
  np_buf text;
  np_buf_init(&text, np_temp(v));
  np_json_text(first, &text);
  add_line(out, np_buf_str(&text), chars, true);
  if (text.failed) out->failed = true;
  np_buf_free(&text);
}

static void add_what(const np_view *v, const np_entry *en, size_t chars, np_buf *out) {
  static const char *const names[NP_KIND_COUNT] = {
      [NP_KIND_USER] = "user message", [NP_KIND_TEXT] = "assistant text",
      [NP_KIND_IMAGE] = "image",       [NP_KIND_FILE] = "file",
      [NP_KIND_RESULT] = "result",     [NP_KIND_CALL] = "call",
  };
  const np_entry *call =
      en->kind == NP_KIND_RESULT ? np_log_entry(v->log, en->pair) : NULL;
  const np_fold *f = np_log_fold_of(v->log, en);
  if (f) {
    np_buf_adds(out,
                f->step_from == f->step_to ? "summary of step " : "summary of steps ");
    np_buf_int(out, f->step_from);
    if (f->step_from == f->step_to) return;
    np_buf_adds(out, "\xE2\x80\x93");
    np_buf_int(out, f->step_to);
    return;
  }
  if (!call) {
    np_buf_adds(out, names[en->kind] ? names[en->kind] : np_kind_name(en->kind));
    return;
  }
  add_line(out, call->tool, 64, true);
  np_buf_adds(out, " \"");
  add_argument(v, call, chars, out);
  np_buf_addc(out, '"');
}

void np_mark_what(const np_view *v, const np_entry *en, np_buf *out) {
  add_what(v, en, ARGUMENT, out);
}

void np_mark_masked(const np_view *v, const np_entry *en, np_buf *out) {
  np_buf what;
  np_buf_init(&what, np_temp(v));
  np_mark_what(v, en, &what);
  slots s = {.id = en->id,
             .step = en->step,
             .tokens = np_view_at(v, en->id)->full,
             .what = np_buf_str(&what),
             .how = v->recall ? english.how_read : NULL};
  fill(out, english.masked, &s);
  if (what.failed) out->failed = true;
  np_buf_free(&what);
}

void np_mark_reference(const np_view *v, const np_entry *en, np_buf *out) {
  np_mark_masked(v, en, out);
  np_buf_addc(out, '\n');
  add_line(out, en->text, PREVIEW, false);
}

/* The newest results of the run that are named, in *ids oldest first; how many. What stands
** further back was named when there were fewer. */
static size_t named_of(const np_view *v, const np_run *r, int64_t *ids) {
  size_t n = 0;
  int64_t id = r->last;
  for (size_t looks = 0; looks < 4 * NP_RUN_NAMES && n < NP_RUN_NAMES; looks++) {
    const np_shown *s = np_view_at(v, id);
    if (s->named && np_log_entry(v->log, id)->kind == NP_KIND_RESULT) ids[n++] = id;
    if (id == r->first) break;
    id = s->prev;
  }
  for (size_t i = 0; i < n / 2; i++) {
    int64_t swap = ids[i];
    ids[i] = ids[n - 1 - i];
    ids[n - 1 - i] = swap;
  }
  return n;
}

bool np_mark_names(const np_view *v, int64_t id) {
  int64_t ids[NP_RUN_NAMES], from = id;
  const np_shown *s = np_view_at(v, id);
  if (!s->listed || s->rung != NP_DROPPED || !s->named) return false;
  while (!np_view_is_run_head(v, from) && np_view_at(v, from)->prev)
    from = np_view_at(v, from)->prev;
  size_t n = named_of(v, &v->runs[np_view_at(v, from)->run], ids);
  for (size_t i = 0; i < n; i++) {
    if (ids[i] == id) return true;
  }
  return false;
}

/* `: 12 read "a.c", 17 bash "make test"`, or nothing. */
static size_t add_names(const np_view *v, const np_run *r, np_buf *out) {
  int64_t ids[NP_RUN_NAMES];
  size_t n = named_of(v, r, ids);
  for (size_t i = 0; i < n; i++) {
    np_buf_adds(out, i ? ", " : ": ");
    np_buf_int(out, ids[i]);
    np_buf_addc(out, ' ');
    add_what(v, np_log_entry(v->log, ids[i]), NAMED, out);
  }
  return n;
}

void np_mark_run(const np_view *v, const np_run *r, np_buf *out) {
  np_buf what;
  np_buf_init(&what, np_temp(v));
  bool names = add_names(v, r, &what) > 0;
  slots s = {.from = r->step_from,
             .to = r->step_to,
             .entries = r->entries,
             .tokens = r->tokens,
             .what = np_buf_str(&what),
             .how = !v->recall ? NULL
                    : names    ? english.how_one
                               : english.how_recall};
  fill(out, r->step_from == r->step_to ? english.run_one : english.run, &s);
  if (what.failed) out->failed = true;
  np_buf_free(&what);
}

void np_mark_stub(const np_view *v, const np_entry *call, np_buf *out) {
  (void)v;
  slots s = {.id = call->id};
  fill(out, english.stub, &s);
}

void np_mark_orphan(const np_view *v, const np_entry *result, np_buf *out) {
  (void)v;
  slots s = {.id = result->id};
  fill(out, english.orphan, &s);
}

void np_mark_foreign(const np_view *v, const np_entry *en, np_buf *out) {
  slots s = {.id = en->id,
             .what = en->kind == NP_KIND_IMAGE ? NP_LIT("image") : NP_LIT("file"),
             .how = v->recall ? english.how_read : NULL};
  fill(out, english.foreign, &s);
}

void np_mark_same(const np_view *v, const np_entry *en, const np_entry *first,
                  np_buf *out) {
  np_buf what;
  np_buf_init(&what, v->alloc);
  np_mark_what(v, first, &what);
  slots s = {.id = en->id,
             .first = first->id,
             .step = first->step,
             .tokens = np_view_at(v, en->id)->full,
             .what = np_buf_str(&what),
             .how = v->recall ? english.how_read : NULL};
  fill(out, english.same, &s);
  if (what.failed) out->failed = true;
  np_buf_free(&what);
}

/* Behind the key come numbers alone: no text of an entry stands before the equals sign. */
bool np_mark_is_same(np_str mark) {
  size_t i = 0;
  while (i < mark.n && mark.p[i] != NP_KEY_BYTE) i++;
  i += 2;
  while (i < mark.n && mark.p[i] >= '0' && mark.p[i] <= '9') i++;
  return i + 3 < mark.n && memcmp(mark.p + i, " = ", 3) == 0;
}

void np_mark_cut(const np_view *v, const np_entry *en, int64_t cut, int64_t from,
                 int64_t to, np_buf *out) {
  slots s = {.id = en->id,
             .tokens = np_view_at(v, en->id)->full,
             .cut = cut,
             .from = from,
             .to = to,
             .how = v->recall ? english.how_range : NULL};
  fill(out, english.cut, &s);
}
