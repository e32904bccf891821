/*
** From a part to stretches. Lines are found here; what takes more has a file of its own.
** next: regex.h
*/
#include "text/extract_own.h"
#include "text/text.h"

void np_stretches_free(np_stretches *s) {
  const neap_alloc *a = s->made.alloc;
  if (a) np_free(a, s->at);
  np_buf_free(&s->made);
  *s = (np_stretches){0};
}

bool np_stretches_add(np_stretches *s, const neap_alloc *a, np_stretch stretch) {
  if (stretch.from >= stretch.to) return true;
  np_stretch *last = s->n ? &s->at[s->n - 1] : NULL;
  if (last && last->to == stretch.from && last->rank == stretch.rank && !last->apart) {
    last->to = stretch.to;
    return true;
  }
  void *at = s->at;
  if (!np_grow(a, &at, &s->cap, s->n + 1, sizeof *s->at)) return false;
  s->at = at;
  s->at[s->n++] = stretch;
  return true;
}

static bool add(np_extract_job *j, size_t from, size_t to) {
  return np_stretches_add(j->out, j->alloc,
                          (np_stretch){.from = from, .to = to, .focus = from});
}

static neap_rc done(np_extract_job *j, bool ok) {
  return ok ? NEAP_OK : np_fail_mem(j->err);
}

static neap_rc select_all(np_extract_job *j) {
  return done(j, add(j, 0, j->text.n));
}

static neap_rc select_lines(np_extract_job *j) {
  const np_extract *p = j->what;
  np_str part = np_lines_slice(j->text, p->from, p->to);
  if (part.n == 0) {
    size_t lines = np_lines_count(j->text);
    return np_fail(j->err, NEAP_E_NOTFOUND,
                   "there is no line %zu; the text has %zu line%s", p->from, lines,
                   lines == 1 ? "" : "s");
  }
  size_t from = (size_t)(part.p - j->text.p);
  return done(j, add(j, from, from + part.n));
}

static neap_rc select_head(np_extract_job *j) {
  return done(j, add(j, 0, np_lines_slice(j->text, 1, j->what->count).n));
}

static neap_rc select_tail(np_extract_job *j) {
  return done(j, add(j, np_lines_back(j->text, j->what->count), j->text.n));
}

static neap_rc select_ends(np_extract_job *j) {
  size_t n = j->what->count, head = np_lines_slice(j->text, 1, n - n / 2).n;
  size_t tail = np_lines_back(j->text, n / 2);
  if (tail < head) tail = head;
  return done(j, add(j, 0, head) && add(j, tail, j->text.n));
}

neap_rc np_extract_select(np_str text, const np_extract *what, const neap_alloc *a,
                          np_stretches *out, np_err *e) {
  typedef neap_rc (*select_fn)(np_extract_job * j);
  static const select_fn select[] = {
      [NP_EXTRACT_ALL] = select_all,
      [NP_EXTRACT_LINES] = select_lines,
      [NP_EXTRACT_HEAD] = select_head,
      [NP_EXTRACT_TAIL] = select_tail,
      [NP_EXTRACT_ENDS] = select_ends,
      [NP_EXTRACT_MATCH] = np_extract_match,
      [NP_EXTRACT_ERRORS] = select_all,
      [NP_EXTRACT_JSON] = np_extract_json,
      [NP_EXTRACT_ROWS] = np_extract_rows,
      [NP_EXTRACT_SECTION] = np_extract_section,
      [NP_EXTRACT_OUTLINE] = np_extract_outline,
      [NP_EXTRACT_ABOUT] = select_all,
  };
  np_extract_job j = {.text = text, .what = what, .alloc = a, .out = out, .err = e};
  *out = (np_stretches){0};
  np_buf_init(&out->made, a);
  if ((size_t)what->kind >= NP_COUNT(select))
    return np_fail(e, NEAP_E_ARG, "there is no such kind of extract");
  return select[what->kind](&j);
}
