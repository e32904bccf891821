/*
** Showing a part: its stretches whole where they fit, else what np_trim_choose keeps of them; then
** joined with numbered gaps and counted as it is shown, until it fits. next: trim_plan.c
*/
#include "render/project.h"
#include "text/text.h"

#define ELLIPSIS "\xE2\x80\xA6"
#define TRIES 8 /* the second or third is right; then by halves */

typedef struct job {
  const np_vocab *v;
  np_str text;
  const np_project_ask *ask;
  np_arena *ar;
  np_projection *out;
  np_err *err;
  np_stretches stretches;
  size_t limit;    /* of what is shown */
  size_t lines;    /* of the text, that is, of the window */
  size_t from, to; /* the hull of what was asked for */
} job;

static bool is_numbered(const job *j) {
  np_extract_kind k = j->ask->what.kind;
  return k == NP_EXTRACT_MATCH || k == NP_EXTRACT_OUTLINE;
}

/* ---- lines of ranges ---- */

/* The line that byte `at` is on: counted from the nearer end. */
static size_t line_at(const job *j, size_t at) {
  np_str s = j->text;
  if (j->ask->what.kind == NP_EXTRACT_LINES && at == j->from) return j->ask->what.from;
  if (at < s.n / 2) return 1 + np_lines_newlines(np_str_cut(s, 0, at));
  size_t newlines = j->lines - (s.n && s.p[s.n - 1] != '\n');
  return 1 + newlines - np_lines_newlines(np_str_cut(s, at, s.n));
}

/* Gives each range its lines, in one walk. */
static void number_lines(const job *j, np_range *at, size_t count) {
  size_t behind = count ? at[0].from : 0, line = count ? line_at(j, behind) : 1;
  for (size_t i = 0; i < count; i++) {
    line += np_lines_newlines(np_str_cut(j->text, behind, at[i].from));
    at[i].line_from = line;
    line += np_lines_newlines(np_str_cut(j->text, at[i].from, at[i].to - 1));
    at[i].line_to = line;
    behind = at[i].to - 1;
  }
}

/* ---- what is left out ---- */

/* What stands for bytes [from, to), which are not shown. Short: where parts are many, so are the
** gaps, and what they take is not there for the text. */
static void add_gap(const job *j, size_t from, size_t to, size_t first, size_t last,
                    np_buf *out) {
  bool part = from > 0 && j->text.p[from - 1] != '\n'; /* of a line that is shown */
  bool end = to < j->text.n && j->text.p[to - 1] != '\n';
  np_buf_adds(out, "[" ELLIPSIS " ");
  if ((part || end) && first == last) {
    np_buf_count(out, (int64_t)(to - from));
    np_buf_adds(out, to - from == 1 ? " byte of " : " bytes of ");
  }
  np_buf_adds(out, first == last ? "line " : "lines ");
  np_buf_int(out, (int64_t)(first + j->ask->lines_before));
  if (first != last) np_buf_addc(out, '-');
  if (first != last) np_buf_int(out, (int64_t)(last + j->ask->lines_before));
  np_buf_addc(out, ']');
}

static void end_line(np_buf *out, size_t from) {
  if (out->n > from && out->p[out->n - 1] != '\n') np_buf_addc(out, '\n');
}

/* The lines of [from, to): `line` is the one that byte `from` is on. */
static void gap_between(const job *j, size_t from, size_t to, size_t line, np_buf *out) {
  size_t last = line + np_lines_newlines(np_str_cut(j->text, from, to - 1));
  add_gap(j, from, to, line, last, out);
}

/* Between two values of JSON: nothing where only commas stand, which are no loss; within a line,
** whose bytes nobody can ask for, a sign alone. False: it is a gap like others. */
static bool gap_of_json(const job *j, size_t from, size_t to, np_buf *out) {
  bool empty = true, lines = false;
  if (j->ask->what.kind != NP_EXTRACT_JSON) return false;
  for (size_t i = from; i < to; i++) {
    char c = j->text.p[i];
    if (c == '\n') lines = true;
    else if (c != ',' && c != ' ' && c != '\t' && c != '\r') empty = false;
  }
  if (!empty && !lines) np_buf_adds(out, ELLIPSIS "\n");
  return empty || !lines;
}

static size_t line_behind(const job *j, const np_range *r) {
  return r->line_to + (j->text.p[r->to - 1] == '\n');
}

static void join_plain(const job *j, const np_range *at, size_t count, np_buf *out) {
  size_t start = out->n;
  if (at[0].from > j->from) {
    gap_between(j, j->from, at[0].from, line_at(j, j->from), out);
    np_buf_addc(out, '\n');
  }
  for (size_t i = 0; i < count; i++) {
    size_t next = i + 1 < count ? at[i + 1].from : j->to;
    np_buf_add(out, np_str_cut(j->text, at[i].from, at[i].to));
    if (next <= at[i].to) continue;
    end_line(out, start);
    if (i + 1 < count && gap_of_json(j, at[i].to, next, out)) continue;
    gap_between(j, at[i].to, next, line_behind(j, &at[i]), out);
    if (i + 1 < count) np_buf_addc(out, '\n');
  }
}

/* `12: text`; of a range that is a part of a line, that part between ellipses. Nothing behind a
** range is looked at: a line may hold many of them. */
static void join_numbered(const job *j, const np_range *at, size_t count, np_buf *out) {
  size_t start = out->n;
  bool gaps = j->ask->what.kind == NP_EXTRACT_MATCH;
  for (size_t i = 0; i < count; i++) {
    size_t line = at[i].line_from;
    if (gaps && i && at[i].line_from > line_behind(j, &at[i - 1]))
      np_buf_adds(out, ELLIPSIS "\n");
    for (size_t from = at[i].from; from < at[i].to; line++) {
      size_t to = np_line_end(np_str_cut(j->text, 0, at[i].to), from);
      np_buf_int(out, (int64_t)(line + j->ask->lines_before));
      np_buf_adds(out, ": ");
      if (from && j->text.p[from - 1] != '\n') np_buf_adds(out, ELLIPSIS);
      np_buf_add(out, np_str_cut(j->text, from, to));
      if (to < j->text.n && j->text.p[to - 1] != '\n') np_buf_adds(out, ELLIPSIS);
      end_line(out, start);
      from = to;
    }
  }
}

static void join(const job *j, const np_range *at, size_t count, np_buf *out) {
  if (count == 0) return;
  if (is_numbered(j)) join_numbered(j, at, count, out);
  else join_plain(j, at, count, out);
}

/* ---- choosing ---- */

static neap_rc ranges_of_stretches(job *j) {
  np_projection *p = j->out;
  if (!j->stretches.n) return NEAP_OK;
  p->kept = np_arena_alloc(j->ar, j->stretches.n * sizeof *p->kept);
  if (!p->kept) return np_fail_mem(j->err);
  for (size_t i = 0; i < j->stretches.n; i++) {
    np_stretch s = j->stretches.at[i];
    np_range *last = p->count ? &p->kept[p->count - 1] : NULL;
    if (last && last->to == s.from) last->to = s.to;
    else p->kept[p->count++] = (np_range){.from = s.from, .to = s.to};
  }
  number_lines(j, p->kept, p->count);
  return NEAP_OK;
}

/* How a part is cut that does not fit. */
static np_keep keep_of(np_extract_kind kind) {
  switch (kind) {
    case NP_EXTRACT_TAIL: return NP_KEEP_TAIL;
    case NP_EXTRACT_ALL:
    case NP_EXTRACT_ENDS: return NP_KEEP_ENDS;
    case NP_EXTRACT_ERRORS: return NP_KEEP_ERRORS;
    case NP_EXTRACT_ABOUT: return NP_KEEP_ABOUT;
    default: return NP_KEEP_HEAD;
  }
}

/* The longest gap that can come up, for its cost. */
static void widest_gap(const job *j, np_buf *out) {
  if (is_numbered(j)) np_buf_adds(out, ELLIPSIS);
  else add_gap(j, 0, j->text.n, 1, j->lines + j->ask->lines_before, out);
}

/* Keeps at most so many tokens of the stretches, counted with gaps between. */
static neap_rc choose(job *j, size_t tokens, np_str gap) {
  const np_extract *part = &j->ask->what;
  bool ends = part->kind == NP_EXTRACT_ENDS,
       many = is_numbered(j) || (j->stretches.n > 1 && !ends);
  np_trim t;
  np_trim_ask ask = {.tokens = tokens,
                     .lines = ends ? part->count : 0,
                     .keep = keep_of(part->kind),
                     .about = part->argument,
                     .among = many ? &j->stretches : NULL,
                     .scorer = j->ask->scorer};
  size_t base = many ? 0 : j->from;
  np_str text = many ? j->text : np_str_cut(j->text, j->from, j->to);
  neap_rc rc = np_trim_choose(j->v, text, &ask, gap, j->ar, &t, j->err);
  if (rc) return rc;
  for (size_t i = 0; i < t.count; i++) {
    t.kept[i].from += base;
    t.kept[i].to += base;
  }
  j->out->kept = t.kept;
  j->out->count = t.count;
  number_lines(j, t.kept, t.count);
  return NEAP_OK;
}

static neap_rc fit(job *j, np_buf *shown) {
  np_buf gap;
  size_t start = shown->n, tokens = j->limit;
  neap_rc rc = NEAP_OK;
  np_buf_init(&gap, j->ar->alloc);
  widest_gap(j, &gap);
  if (gap.failed) rc = np_fail_mem(j->err);
  for (int tries = 0; !rc; tries++) {
    np_arena_place here = np_arena_here(j->ar);
    rc = choose(j, tokens, np_buf_str(&gap));
    if (rc) break;
    shown->n = start;
    join(j, j->out->kept, j->out->count, shown);
    size_t got = np_vocab_count(j->v, np_str_of(shown->p + start, shown->n - start));
    j->out->tokens = got;
    if (got <= j->limit) break;
    size_t over = got - j->limit;
    if (tries >= TRIES) over += tokens / 2;
    tokens = tokens > over ? tokens - over : 0;
    np_arena_back(j->ar, here);
  }
  np_buf_free(&gap);
  return rc;
}

/* ---- what there is to tell ---- */

/* Lines that were asked for and are not shown. */
static void name_rest(job *j) {
  np_projection *p = j->out;
  size_t from = SIZE_MAX, to = 0, k = 0;
  for (size_t i = 0; i < j->stretches.n; i++) {
    size_t at = j->stretches.at[i].from, end = j->stretches.at[i].to;
    while (k < p->count && p->kept[k].to <= at) k++;
    for (size_t q = k; at < end && q < p->count && p->kept[q].from < end; q++) {
      if (p->kept[q].from > at && at < from) from = at;
      if (p->kept[q].from > at) to = p->kept[q].from;
      at = p->kept[q].to;
    }
    if (at >= end) continue;
    if (at < from) from = at;
    to = end;
  }
  if (to == 0) return;
  p->rest_from = line_at(j, from) + j->ask->lines_before;
  p->rest_to = line_at(j, to - 1) + j->ask->lines_before;
}

/* How many of those that were found are shown: lines that match, not those around them; of an
** outline each stretch, a heading of two lines being one. */
static void count_shown(job *j) {
  np_projection *p = j->out;
  size_t k = 0;
  bool match = j->ask->what.kind == NP_EXTRACT_MATCH;
  for (size_t i = 0; i < j->stretches.n; i++) {
    const np_stretch *s = &j->stretches.at[i];
    if (s->rank && match) continue;
    for (size_t at = s->from, end; at < s->to; at = end) {
      end = match ? np_line_end(j->text, at) : s->to;
      while (k < p->count && p->kept[k].to <= at) k++;
      p->shown += k < p->count && p->kept[k].from < end;
    }
  }
}

static void finish(job *j) {
  np_projection *p = j->out;
  p->whole = p->count == 1 && p->kept[0].from == 0 && p->kept[0].to == j->text.n &&
             !j->ask->bytes_before && !is_numbered(j);
  if (j->text.n == 0) p->whole = !j->ask->bytes_before;
  name_rest(j);
  if (is_numbered(j)) count_shown(j);
  for (size_t i = 0; i < p->count; i++) {
    p->kept[i].line_from += j->ask->lines_before;
    p->kept[i].line_to += j->ask->lines_before;
    p->kept[i].from += j->ask->bytes_before;
    p->kept[i].to += j->ask->bytes_before;
  }
}

static bool fits(job *j, np_buf *shown) {
  size_t start = shown->n;
  np_extract_kind k = j->ask->what.kind;
  bool chosen = k == NP_EXTRACT_ERRORS || k == NP_EXTRACT_ABOUT;
  if (j->v && chosen && !j->ask->asked && j->limit > NP_PROJECT_PLAIN)
    j->limit = NP_PROJECT_PLAIN;
  if (ranges_of_stretches(j)) return false;
  /* no token has more than 255 bytes: what is far too long need not be joined */
  if (j->to - j->from > j->limit && (j->to - j->from) / 256 > j->limit) return false;
  join(j, j->out->kept, j->out->count, shown);
  np_str s = np_str_of(shown->p + start, shown->n - start);
  j->out->tokens = j->v ? np_vocab_count(j->v, s) : 0;
  return j->out->tokens <= j->limit;
}

/* What is no slice of the text: its first lines that fit, and a sign that there are more. */
static neap_rc show_made(job *j, np_buf *shown) {
  np_str made = np_buf_str(&j->stretches.made);
  np_projection *p = j->out;
  size_t start = shown->n, n = made.n, room = j->limit;
  p->made = true;
  for (;;) {
    if (j->v && room != NP_TRIM_ANY)
      n = np_vocab_fit_cut(j->v, made, room, false, NP_CUT_LINES);
    shown->n = start;
    np_buf_add(shown, np_str_cut(made, 0, n));
    if (n && n < made.n) np_buf_adds(shown, ELLIPSIS "\n");
    np_str s = np_str_of(shown->p + start, shown->n - start);
    p->tokens = j->v && s.n ? np_vocab_count(j->v, s) : 0;
    if (p->tokens <= j->limit) break;
    room = room > 2 ? room - 2 : 0;
  }
  return NEAP_OK;
}

static neap_rc show(job *j, np_buf *shown) {
  size_t start = shown->n;
  if (j->stretches.made.n) return show_made(j, shown);
  if (j->stretches.n) {
    j->from = j->stretches.at[0].from;
    j->to = j->stretches.at[j->stretches.n - 1].to;
  }
  if (fits(j, shown)) return NEAP_OK;
  shown->n = start;
  j->out->count = 0;
  return fit(j, shown);
}

/* Where lines were asked for, those before them have been walked over once, and are not again. */
static size_t count_lines(const job *j) {
  const np_extract *what = &j->ask->what;
  if (what->kind != NP_EXTRACT_LINES || j->stretches.n != 1)
    return np_lines_count(j->text);
  size_t at = j->stretches.at[0].from;
  return what->from - 1 + np_lines_count(np_str_cut(j->text, at, j->text.n));
}

neap_rc np_project(const np_vocab *v, np_str text, const np_project_ask *ask,
                   np_arena *ar, np_projection *out, np_buf *shown, np_err *e) {
  job j = {v, text, ask, ar, out, e, {0}, v ? ask->tokens : NP_TRIM_ANY, 0, 0, 0};
  *out = (np_projection){0};
  size_t start = shown->n;
  neap_rc rc = np_extract_select(text, &ask->what, ar->alloc, &j.stretches, e);
  j.lines = rc ? 0 : count_lines(&j);
  out->lines = ask->lines_total ? ask->lines_total : j.lines + ask->lines_before;
  out->found = j.stretches.found;
  if (!rc) rc = show(&j, shown);
  if (!rc) finish(&j);
  if (!rc && shown->failed) rc = np_fail_mem(e);
  if (rc) shown->n = start;
  np_stretches_free(&j.stretches);
  return rc;
}
