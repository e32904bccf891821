/*
** Choosing a projection: what a choice (trim_*.c) keeps is joined and counted as it will be
** shown; if it is over, the choice is made again with less. next: trim_plan.c
*/
#include "render/trim_plan.h"
#include "text/text.h"

static const char *const names[] = {"ends", "head", "tail", "errors", "dense", "about"};

bool np_keep_parse(np_str name, np_keep *out) {
  for (size_t i = 0; i < NP_COUNT(names); i++) {
    if (!np_str_is(name, names[i])) continue;
    *out = (np_keep)i;
    return true;
  }
  return false;
}

const char *np_keep_name(np_keep keep) {
  return (size_t)keep < NP_COUNT(names) ? names[keep] : "unknown";
}

/* A row of the table, as far as that may be. */
static void add_rows(size_t rows, char table, np_buf *out) {
  np_buf_adds(out, table == '|' ? "| \xE2\x80\xA6 " : "\xE2\x80\xA6 ");
  np_buf_count(out, (int64_t)rows);
  np_buf_adds(out, rows == 1 ? " row left out" : " rows left out");
  if (table == '|') np_buf_adds(out, " |");
}

void np_trim_join(np_str text, const np_trim *t, np_str gap, np_buf *out) {
  for (size_t i = 0; i < t->count; i++) {
    const np_range *r = &t->kept[i];
    np_buf_add(out, np_str_cut(text, r->from, r->to));
    if (i + 1 == t->count && !r->rows) break;
    if (text.p[r->to - 1] != '\n') np_buf_addc(out, '\n');
    if (r->rows) add_rows(r->rows, t->table, out);
    else if (gap.n == 0) continue;
    else np_buf_add(out, gap);
    if (i + 1 < t->count) np_buf_addc(out, '\n');
  }
}

/* ---- from the plan to ranges ---- */

static bool add_range(np_plan *p, np_trim *out, size_t *cap, size_t from, size_t to) {
  if (from == to) return true;
  if (out->count && out->kept[out->count - 1].to == from) {
    out->kept[out->count - 1].to = to;
    return true;
  }
  void *kept = out->kept;
  if (!np_grow(p->alloc, &kept, cap, out->count + 1, sizeof *out->kept)) return false;
  out->kept = kept;
  out->kept[out->count++] = (np_range){.from = from, .to = to};
  return true;
}

static bool ranges_of_units(np_plan *p, np_trim *out, size_t *cap) {
  for (size_t i = 0; i < p->n; i++) {
    const np_unit *u = &p->units[i];
    if (u->kept && !add_range(p, out, cap, u->from, u[1].from)) return false;
  }
  return true;
}

/* How many rows of the table each range has left out behind it. */
static void count_rows(const np_plan *p, np_trim *out) {
  size_t r = 0;
  out->table = 0;
  for (size_t i = p->head_to; i < p->n && out->count; i++) {
    size_t at = p->units[i].from;
    while (r + 1 < out->count && out->kept[r + 1].from <= at) r++;
    if (p->units[i].kept || at >= p->table.to || out->kept[r].to > at) continue;
    out->kept[r].rows++;
    out->table = p->table.mark;
  }
}

static bool ranges_of_ends(np_plan *p, np_trim *out, size_t *cap) {
  return add_range(p, out, cap, 0, p->head) && add_range(p, out, cap, p->tail, p->text.n);
}

/* Line numbers, in one walk over the text. */
static void number_lines(np_str text, np_trim *t) {
  size_t line = 1, at = 0;
  for (size_t i = 0; i < 2 * t->count; i++) {
    np_range *r = &t->kept[i / 2];
    size_t to = i % 2 ? r->to - 1 : r->from;
    const char *nl;
    while (at < to && (nl = memchr(text.p + at, '\n', to - at)) != NULL) {
      at = (size_t)(nl - text.p) + 1;
      line++;
    }
    at = to;
    *(i % 2 ? &r->line_to : &r->line_from) = line;
  }
}

static void name_cut(np_str text, np_trim *t) {
  t->cut_from = 1;
  t->cut_to = t->lines;
  if (t->count == 0) return;
  const np_range *a = &t->kept[0], *z = &t->kept[t->count - 1];
  if (a->from == 0) t->cut_from = a->line_to + (text.p[a->to - 1] == '\n');
  if (z->to == text.n) t->cut_to = z->line_from - (text.p[z->from - 1] == '\n');
}

/* ---- choosing ---- */

static bool uses_units(np_keep keep) {
  return keep == NP_KEEP_ERRORS || keep == NP_KEEP_DENSE || keep == NP_KEEP_ABOUT;
}

/* Cuts and scores; *keep becomes `ends` when nothing was found. */
static bool prepare(np_plan *p, np_keep *keep) {
  bool found = true;
  if (p->among) return np_stretches_cut(p, p->among);
  if (!uses_units(*keep) && !p->table.mark) return true;
  if (!np_plan_cut(p)) return false;
  if (*keep == NP_KEEP_DENSE && !np_dense_score(p)) return false;
  if (*keep == NP_KEEP_ERRORS) np_errors_score(p, &found);
  if (*keep == NP_KEEP_ABOUT && !np_about_score(p, &found)) return false;
  if (!found) *keep = NP_KEEP_ENDS;
  return true;
}

/* The table's head before all; false when it does not fit. */
static bool keep_head(np_plan *p) {
  size_t i = p->head_from;
  while (i < p->head_to && np_plan_take(p, i)) i++;
  return i == p->head_to;
}

static bool keep_units(np_plan *p, np_keep keep) {
  switch (keep) {
    case NP_KEEP_DENSE: return np_dense_keep(p);
    case NP_KEEP_ERRORS: return np_errors_keep(p);
    case NP_KEEP_ABOUT: return np_about_keep(p);
    case NP_KEEP_HEAD: np_plan_head(p, SIZE_MAX, SIZE_MAX); return true;
    case NP_KEEP_TAIL: np_plan_tail(p, SIZE_MAX, SIZE_MAX); return true;
    default: np_plan_fill(p); return true;
  }
}

static bool choose(np_plan *p, np_keep keep, np_trim *out, size_t *cap) {
  out->count = 0;
  out->table = 0;
  if (p->budget == 0) return true;
  np_plan_reset(p);
  if (p->among) {
    np_stretches_keep(p);
    return ranges_of_units(p, out, cap);
  }
  if (p->table.mark ? keep_head(p) : uses_units(keep)) {
    if (!keep_units(p, keep) || !ranges_of_units(p, out, cap)) return false;
    if (p->table.mark) count_rows(p, out);
    if (out->count) return true; /* else the limit is too small for a unit */
  }
  np_plan_ends(p, keep);
  return ranges_of_ends(p, out, cap);
}

/* Counts what would be shown. The parts were counted alone, so it may be a little over: the
** choice is then repeated with that much less, and twice as much less each further time. */
static bool choose_exactly(np_plan *p, np_keep keep, np_str gap, np_trim *out,
                           size_t *cap) {
  np_buf joined;
  np_buf_init(&joined, p->alloc);
  bool ok = true;
  size_t step = 1, over = 1;
  for (p->budget = p->limit; ok && over; step *= 2) {
    ok = choose(p, keep, out, cap);
    np_buf_clear(&joined);
    if (ok) np_trim_join(p->text, out, gap, &joined);
    ok = ok && !joined.failed;
    size_t tokens = ok ? np_vocab_count(p->v, np_buf_str(&joined)) : 0;
    over = tokens > p->limit ? tokens - p->limit : 0;
    size_t less = over > step ? over : step;
    p->budget = p->budget > less ? p->budget - less : 0;
  }
  np_buf_free(&joined);
  return ok;
}

static bool count_gap(np_plan *p, np_str gap) {
  np_buf b;
  np_buf_init(&b, p->alloc);
  np_buf_addc(&b, '\n');
  np_buf_add(&b, gap);
  if (gap.n) np_buf_addc(&b, '\n');
  bool ok = !b.failed;
  if (ok) p->gap_cost = np_vocab_count(p->v, np_buf_str(&b));
  np_buf_free(&b);
  return ok;
}

static neap_rc whole(np_str text, np_arena *ar, np_trim *out, np_err *e) {
  out->whole = true;
  if (text.n == 0) return NEAP_OK;
  out->kept = np_arena_alloc(ar, sizeof *out->kept);
  if (!out->kept) return np_fail_mem(e);
  out->kept[0] = (np_range){0, text.n, 1, out->lines, 0};
  out->count = 1;
  return NEAP_OK;
}

/* Moves the ranges into the caller's arena. */
static bool hand_over(np_trim *out, np_arena *ar) {
  size_t bytes = out->count * sizeof *out->kept;
  np_range *kept = bytes ? np_arena_alloc(ar, bytes) : NULL;
  if (bytes && !kept) return false;
  if (bytes) memcpy(kept, out->kept, bytes);
  np_free(ar->alloc, out->kept);
  out->kept = kept;
  return true;
}

/* No limit is one that the text is far from: shares of it are then plain figures. */
static size_t limit_of(np_str text, size_t tokens) {
  size_t most = text.n < SIZE_MAX / 4 ? 2 * text.n + 64 : text.n;
  return tokens < most ? tokens : most;
}

neap_rc np_trim_choose(const np_vocab *v, np_str text, const np_trim_ask *ask, np_str gap,
                       np_arena *ar, np_trim *out, np_err *e) {
  np_plan p = {.v = v,
               .text = text,
               .about = ask->about,
               .alloc = ar->alloc,
               .among = ask->among,
               .scorer = ask->scorer,
               .facts = ask->facts,
               .limit = limit_of(text, ask->tokens),
               .lines = ask->lines ? ask->lines : SIZE_MAX};
  np_keep keep = ask->keep;
  size_t tokens, cap = 0;
  *out = (np_trim){.lines = np_lines_count(text)};
  if (!p.among && out->lines <= p.lines && np_plan_fits(&p, text, p.limit, &tokens))
    return whole(text, ar, out, e);
  if (!p.among && np_table_find(text, &p.table) && p.table.long_rows && ask->lines)
    p.table.mark = 0; /* lines are what may be kept, and these rows are more than one */
  np_str wide = NP_LIT("| \xE2\x80\xA6 1,234 rows left out |");
  bool ok =
      count_gap(&p, p.table.mark ? wide : gap) &&
      (p.limit == 0 || (prepare(&p, &keep) && choose_exactly(&p, keep, gap, out, &cap)));
  ok = ok && hand_over(out, ar);
  np_free(p.alloc, p.units);
  if (!ok) {
    np_free(ar->alloc, out->kept);
    *out = (np_trim){0};
    return np_fail_mem(e);
  }
  number_lines(text, out);
  name_cut(text, out);
  return NEAP_OK;
}
