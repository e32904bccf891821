/*
** An outline: headings, or definitions, or the shape of JSON, or the head of a table; whatever
** the text has. next: json_shape.c
*/
#include "text/definition.h"
#include "text/extract_own.h"
#include "text/headings.h"
#include "text/table.h"
#include "text/text.h"

#define SHARE 200 /* of prose, a line in so many may look like a definition */

typedef struct outliner {
  np_extract_job *job;
  size_t set_off; /* headings with a blank line behind them: comments in code have none */
  bool failed;
} outliner;

static bool add_heading(void *ctx, const np_heading *h) {
  outliner *o = ctx;
  np_extract_job *j = o->job;
  np_stretch s = {h->from, h->to, h->from, h->level > 2 ? 2 : h->level - 1, true};
  j->out->found++;
  o->set_off += h->to >= j->text.n || strchr("\r\n", j->text.p[h->to]) != NULL;
  if (!np_stretches_add(j->out, j->alloc, s)) o->failed = true;
  return !o->failed;
}

/* Enough of the lines for what it is, and not an accident of prose. */
static bool is_enough(const np_extract_job *j, size_t found) {
  return found && found >= np_lines_count(j->text) / SHARE;
}

static bool add_definitions(outliner *o) {
  np_extract_job *j = o->job;
  for (size_t at = 0, end; at < j->text.n && !o->failed; at = end) {
    end = np_line_end(j->text, at);
    int rank = np_definition_rank(np_str_cut(j->text, at, end));
    if (rank < 0) continue;
    j->out->found++;
    np_stretch s = {at, end, at, (unsigned)rank, true};
    o->failed = !np_stretches_add(j->out, j->alloc, s);
  }
  return is_enough(j, j->out->found);
}

/* Of a text that has either: definitions, so that `# words` above one is a comment; else headings
** that stand close to their text. */
static neap_rc add_close(outliner *o, size_t headings) {
  np_extract_job *j = o->job;
  j->out->n = j->out->found = 0;
  bool found = add_definitions(o);
  if (!found && is_enough(j, headings)) {
    j->out->n = j->out->found = 0;
    np_headings_each(j->text, add_heading, o);
    found = true;
  }
  if (o->failed) return np_fail_mem(j->err);
  if (found) return NEAP_OK;
  return np_fail(
      j->err, NEAP_E_NOTFOUND,
      "the text has no headings, definitions, table or JSON to outline; head 50, "
      "ends 50 and about WORDS show other parts");
}

static bool begins_json(np_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (!strchr(" \t\r\n", s.p[i]) || !s.p[i]) return s.p[i] == '{' || s.p[i] == '[';
  }
  return false;
}

/* The head, and how many rows there are. */
static neap_rc add_table(np_extract_job *j, const np_table *t) {
  np_buf *out = &j->out->made;
  np_buf_add(out, np_str_cut(j->text, t->from, t->body));
  np_buf_count(out, (int64_t)t->rows);
  np_buf_adds(out, t->rows == 1 ? " row\n" : " rows\n");
  return out->failed ? np_fail_mem(j->err) : NEAP_OK;
}

neap_rc np_extract_outline(np_extract_job *j) {
  outliner o = {.job = j};
  np_table t;
  if (begins_json(j->text) &&
      np_json_shape(j->text, j->alloc, &j->out->made, NULL) == NEAP_OK)
    return NEAP_OK;
  np_buf_clear(&j->out->made);
  np_headings_each(j->text, add_heading, &o);
  if (o.failed) return np_fail_mem(j->err);
  if (j->out->found && (o.set_off * 2 > j->out->found || np_is_html(j->text)))
    return NEAP_OK;
  if (np_table_find(j->text, &t)) return add_table(j, &t);
  return add_close(&o, j->out->found);
}
