/*
** The lines that match a pattern, each with some around it. Plain words are found without the
** engine. next: json_path.c
*/
#include "text/extract_own.h"
#include "text/regex.h"
#include "text/text.h"

/* Ranks of what is found. */
enum { MATCH = 0, AROUND = 1 };

typedef struct finder {
  np_extract_job *job;
  np_regex *regex; /* NULL: the pattern is a plain word */
  size_t line;     /* number of the line at hand */
  size_t behind;   /* what is added ends here */
  size_t owed;     /* lines to add behind the last match */
} finder;

#define PLAIN_MAX 64 /* bytes: a text that nearly holds a long word would take long */

static bool is_plain(np_str s) {
  if (s.n > PLAIN_MAX) return false;
  for (size_t i = 0; i < s.n; i++) {
    if (strchr("\\^$.|?*+()[]{}\n", s.p[i])) return false; /* a NUL as well */
  }
  return true;
}

static bool add(finder *f, size_t from, size_t to, size_t focus, unsigned rank) {
  np_extract_job *j = f->job;
  f->behind = to;
  return np_stretches_add(j->out, j->alloc, (np_stretch){from, to, focus, rank, false});
}

/* The lines before the match that are not there yet. */
static bool add_before(finder *f, size_t at) {
  np_str text = f->job->text;
  size_t from = at;
  for (size_t n = f->job->what->context; n > 0 && from > f->behind; n--) {
    from--;
    while (from > f->behind && text.p[from - 1] != '\n') from--;
  }
  return add(f, from, at, from, AROUND);
}

static bool add_match(finder *f, size_t from, size_t to, size_t focus) {
  f->job->out->found++;
  f->owed = f->job->what->context;
  return add_before(f, from) && add(f, from, to, focus, MATCH);
}

/* One line after the other through the engine. */
static neap_rc find_by_regex(finder *f) {
  np_extract_job *j = f->job;
  for (size_t at = 0, end; at < j->text.n; at = end) {
    bool found, ok = true;
    size_t from, to;
    end = np_line_end(j->text, at);
    f->line++;
    np_str line = np_str_cut(j->text, at, end - (j->text.p[end - 1] == '\n'));
    if (line.n && line.p[line.n - 1] == '\r') line.n--;
    neap_rc rc = np_regex_find(f->regex, line, &found, &from, &to, j->err);
    if (rc) return rc;
    if (found) {
      ok = add_match(f, at, end, at + from);
    } else if (f->owed) {
      f->owed--;
      ok = add(f, at, end, at, AROUND);
    }
    if (!ok) return np_fail_mem(j->err);
  }
  return NEAP_OK;
}

static bool pay(finder *f, size_t up_to) {
  np_str text = f->job->text;
  for (; f->owed && f->behind < up_to; f->owed--) {
    size_t end = np_line_end(text, f->behind);
    if (!add(f, f->behind, end, f->behind, AROUND)) return false;
  }
  return true;
}

/* From one occurrence to the next line. */
static neap_rc find_plain(finder *f) {
  np_extract_job *j = f->job;
  for (size_t at = 0; at < j->text.n;) {
    size_t hit = np_str_find(j->text, j->what->argument, at), from = hit;
    if (hit == SIZE_MAX) break;
    while (from > at && j->text.p[from - 1] != '\n') from--;
    at = np_line_end(j->text, hit);
    if (!pay(f, from) || !add_match(f, from, at, hit)) return np_fail_mem(j->err);
  }
  return pay(f, j->text.n) ? NEAP_OK : np_fail_mem(j->err);
}

static neap_rc find(finder *f, bool fold) {
  np_extract_job *j = f->job;
  if (!fold && is_plain(j->what->argument)) return find_plain(f);
  neap_rc rc = np_regex_new(j->what->argument, fold, j->alloc, &f->regex, j->err);
  if (rc) return rc;
  np_regex_allow(f->regex, j->text.n);
  rc = find_by_regex(f);
  np_regex_free(f->regex);
  return rc;
}

/* How many lines match when upper and lower case are one; 0 when that cannot be told. */
static size_t count_folded(const np_extract_job *job) {
  np_extract_job j = *job;
  np_stretches spare = {0};
  np_extract what = *job->what;
  finder f = {.job = &j};
  np_buf_init(&spare.made, j.alloc);
  what.context = 0;
  j.out = &spare;
  j.what = &what;
  j.err = NULL;
  neap_rc rc = find(&f, true);
  size_t n = rc ? 0 : spare.found;
  np_stretches_free(&spare);
  return n;
}

static neap_rc fail_none(np_extract_job *j) {
  np_str s = j->what->argument;
  int n = (int)np_utf8_floor(s, s.n < 80 ? s.n : 80);
  size_t folded = count_folded(j);
  if (folded)
    return np_fail(j->err, NEAP_E_NOTFOUND,
                   "no line matches \"%.*s\"; %zu %s when upper and lower case are one: "
                   "match (?i)%.*s",
                   n, s.p, folded, folded == 1 ? "does" : "do", n, s.p);
  return np_fail(j->err, NEAP_E_NOTFOUND, "no line of %zu matches \"%.*s\"",
                 np_lines_count(j->text), n, s.p);
}

neap_rc np_extract_match(np_extract_job *j) {
  finder f = {.job = j};
  neap_rc rc = find(&f, false);
  if (rc == NEAP_E_LIMIT)
    return np_fail(j->err, rc,
                   "the pattern takes too long on this text and was stopped at line %zu; "
                   "make it simpler, or look at a part of the text",
                   f.line);
  if (!rc && !j->out->found) rc = fail_none(j);
  return rc;
}
