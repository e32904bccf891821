/*
** Folding of lines that repeat. Only runs that are worth a line of their own are folded: what
** differs in more than its digits stays, and so does a run that is short. next: mark_trim.c
*/
#include "render/trim_fold.h"

#include "text/text.h"

#define MIDDLE_LINES 3  /* fewer between the first and the last line are shown */
#define WORDS 8         /* bytes that are no digits */
#define MIDDLE_BYTES 48 /* about twice what the line that stands for them takes */

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static size_t skip_digits(np_str s, size_t at) {
  while (at < s.n && is_digit(s.p[at])) at++;
  return at;
}

/* The same when every number is read as one and the same, and words are most of the line: of
** rows of numbers each may say something else. */
static bool alike(np_str a, np_str b) {
  size_t i = 0, k = 0, words = 0;
  if (np_str_eq(a, b)) return true;
  while (i < a.n && k < b.n) {
    if (is_digit(a.p[i]) && is_digit(b.p[k])) {
      i = skip_digits(a, i);
      k = skip_digits(b, k);
    } else if (a.p[i++] != b.p[k++]) {
      return false;
    } else {
      words++;
    }
  }
  return i == a.n && k == b.n && words >= WORDS && words >= a.n - words;
}

/* A run of lines; its middle is what stands between the first line and the last. */
typedef struct run {
  size_t line;         /* number of its first line */
  size_t count;        /* lines */
  size_t middle, last; /* bytes where the second and the last line begin */
} run;

static bool add_run(np_folded *f, size_t at, const run *r, const neap_alloc *a) {
  void *runs = f->runs;
  if (!np_grow(a, &runs, &f->cap, f->count + 1, sizeof *f->runs)) return false;
  f->runs = runs;
  f->runs[f->count++] = (np_folded_lines){at, r->line + 1, r->line + r->count - 2};
  return true;
}

/* Writes the text from *done up to the run's last line, its middle folded. *saved: lines that
** the folded text has fewer up to here. */
static bool fold_run(np_str text, const run *r, size_t *done, size_t *saved, np_folded *f,
                     const neap_alloc *a) {
  if (r->count < MIDDLE_LINES + 2 || r->last - r->middle < MIDDLE_BYTES) return true;
  np_buf_add(&f->buf, np_str_cut(text, *done, r->middle));
  np_buf_adds(&f->buf, "\xE2\x80\xA6 ");
  np_buf_count(&f->buf, (int64_t)(r->count - 2));
  np_buf_adds(&f->buf, " lines like these\n");
  bool ok = add_run(f, r->line + 1 - *saved, r, a) && !f->buf.failed;
  *saved += r->count - 3;
  *done = r->last;
  return ok;
}

bool np_fold_lines(np_str text, bool exact, const neap_alloc *a, np_folded *out) {
  np_str rest = text, line, before = {"", 0};
  size_t done = 0, saved = 0, number = 0;
  run r = {0};
  bool ok = true;
  *out = np_folded_none(text, a);
  while (ok) {
    size_t at = text.n - rest.n;
    bool more = np_line_next(&rest, &line);
    bool same =
        more && r.count > 0 && (exact ? np_str_eq(line, before) : alike(line, before));
    number++;
    if (same) {
      if (r.count == 1) r.middle = at;
      r.count++;
      r.last = at;
    } else {
      if (r.count) ok = fold_run(text, &r, &done, &saved, out, a);
      r = (run){.line = number, .count = 1};
    }
    before = line;
    if (!more) break;
  }
  if (out->count == 0) return ok;
  np_buf_add(&out->buf, np_str_cut(text, done, text.n));
  out->text = np_buf_str(&out->buf);
  return ok && !out->buf.failed;
}

np_folded np_folded_none(np_str text, const neap_alloc *a) {
  np_folded f = {.text = text};
  np_buf_init(&f.buf, a);
  return f;
}

void np_folded_free(np_folded *f) {
  np_free(f->buf.alloc, f->runs);
  np_buf_free(&f->buf);
}

size_t np_folded_line(const np_folded *f, size_t line, bool last) {
  size_t low = 0, high = f->count; /* the first run behind `line` */
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (f->runs[mid].at <= line) low = mid + 1;
    else high = mid;
  }
  if (low == 0) return line;
  const np_folded_lines *r = &f->runs[low - 1];
  if (r->at == line) return last ? r->to : r->from;
  return r->to + (line - r->at);
}
