/*
** Trimmed texts: a projection with its mark, never more than the asked-for tokens. In a
** call's arguments the long strings are trimmed and the JSON stays valid. next: mark_json.h
*/
#include "render/mark_json.h"
#include "render/trim_fold.h"
#include "text/table.h"
#include "text/text.h"

#define GAP "\xE2\x80\xA6" /* a line of its own between ranges that are not neighbours */

static uint32_t tokens_of(np_view *v, np_buf *text) {
  np_str filled = np_view_text(v, np_buf_str(text), &v->scratch);
  if (v->scratch.failed) v->lost = true;
  return (uint32_t)np_vocab_count(v->vocab, filled);
}

static void end_line(np_buf *out, size_t from) {
  if (out->n > from && out->p[out->n - 1] != '\n') np_buf_addc(out, '\n');
}

/* Kept ranges joined; the mark stands at the only gap, before a tail, else at the end. */
static void join(const np_trim *t, np_str text, np_str mark, np_keep keep, np_buf *out) {
  bool lead = keep == NP_KEEP_TAIL || t->count == 0;
  bool middle = t->count == 2 && !lead && !t->table;
  size_t from = out->n;
  if (lead) np_buf_add(out, mark);
  if (lead && t->count) end_line(out, from);
  np_trim_join(text, t, middle ? mark : NP_LIT(GAP), out);
  if (lead || middle) return;
  end_line(out, from);
  np_buf_add(out, mark);
}

/* A text on its way to what is shown of it. */
typedef struct projection {
  np_view *v;
  const np_entry *en;
  np_str text;
  const np_trim_ask *ask;
  size_t all; /* tokens of the text */
  np_folded folded;
} projection;

/* What was kept of the text itself: lines that stand for folded ones are not counted apart. */
static void add_mark(const projection *p, const np_trim *t, np_buf *out) {
  const np_folded *f = &p->folded;
  size_t kept = 0, from = SIZE_MAX, to = 0;
  for (size_t i = 0; i < t->count; i++) {
    np_str part = np_str_cut(f->text, t->kept[i].from, t->kept[i].to);
    kept += np_vocab_count(p->v->vocab, part);
  }
  if (!t->whole) {
    from = np_folded_line(f, t->cut_from, false);
    to = np_folded_line(f, t->cut_to, true);
  }
  if (f->count && f->runs[0].from < from) from = f->runs[0].from;
  if (f->count && f->runs[f->count - 1].to > to) to = f->runs[f->count - 1].to;
  np_mark_cut(p->v, p->en, (int64_t)(p->all > kept ? p->all - kept : 0), (int64_t)from,
              (int64_t)to, out);
}

static neap_rc project(const projection *p, size_t tokens, np_buf *out, np_err *e) {
  np_arena ar;
  np_trim t;
  np_buf mark;
  np_trim_ask ask = *p->ask;
  ask.tokens = tokens;
  np_arena_init(&ar, np_temp(p->v));
  np_buf_init(&mark, np_temp(p->v));
  neap_rc rc = np_trim_choose(p->v->vocab, p->folded.text, &ask, NP_LIT(GAP), &ar, &t, e);
  if (!rc) {
    add_mark(p, &t, &mark);
    join(&t, p->folded.text, np_buf_str(&mark), ask.keep, out);
  }
  if (mark.failed || out->failed) rc = np_fail_mem(e);
  np_buf_free(&mark);
  np_arena_free(&ar);
  return rc;
}

#define TRIES 6 /* a mark's room is right at the second or third */

/* The mark's room is known only with its figures: starts from its longest form and tries
** again with what the first try was over. *over: the mark alone has more tokens. */
static neap_rc project_exactly(const projection *p, np_buf *out, bool *over, np_err *e) {
  size_t from = out->n, room = p->v->recall ? 52 : 36, tokens = p->ask->tokens;
  for (int tries = 0;; tries++) {
    out->n = from;
    if (room > tokens || tries == TRIES) room = tokens;
    neap_rc rc = project(p, tokens - room, out, e);
    if (rc) return rc;
    np_buf part = {.p = out->p + from, .n = out->n - from};
    size_t got = tokens_of(p->v, &part);
    *over = got > tokens;
    if (!*over || room == tokens) return NEAP_OK;
    room += got - tokens + 1;
  }
}

static neap_rc trim_text(np_view *v, const np_entry *en, np_str text,
                         const np_trim_ask *ask, np_buf *out, bool *whole, np_err *e) {
  projection p = {.v = v, .en = en, .text = text, .ask = ask};
  p.all = np_vocab_count(v->vocab, text);
  *whole = p.all <= ask->tokens && (!ask->lines || np_lines_count(text) <= ask->lines);
  if (*whole) return NEAP_OK;
  size_t from = out->n;
  np_json_doc doc;
  if (np_json_read(text, &doc)) {
    bool over;
    neap_rc rc = np_mark_json(v, en, &doc, p.all, ask, out, &over, e);
    if (rc || !over) return rc;
  }
  /* what a query names may stand in a line that differs from its neighbours by a number */
  bool exact = ask->keep == NP_KEEP_ABOUT;
  np_table table;
  bool ok = true;
  if (np_table_find(text, &table)) p.folded = np_folded_none(text, np_temp(v));
  else ok = np_fold_lines(text, exact, np_temp(v), &p.folded);
  neap_rc rc = ok ? project_exactly(&p, out, whole, e) : np_fail_mem(e);
  if (*whole) out->n = from;
  np_folded_free(&p.folded);
  return rc;
}

/* Tokens: shorter string arguments name things and stay whole, and none is cut to less. */
#define ARGUMENT_MIN 60

/* Gives a long string argument its share of the tokens. */
static neap_rc trim_argument(np_view *v, const np_entry *en, np_json value, size_t share,
                             np_buf *out, bool *cut, np_err *e) {
  np_buf text, trimmed;
  bool whole = true;
  neap_rc rc = NEAP_OK;
  np_buf_init(&text, np_temp(v));
  np_buf_init(&trimmed, np_temp(v));
  np_json_text(value, &text);
  if (np_vocab_count(v->vocab, np_buf_str(&text)) > ARGUMENT_MIN) {
    np_trim_ask ask = {.tokens = share < ARGUMENT_MIN ? ARGUMENT_MIN : share,
                       .keep = NP_KEEP_ENDS};
    rc = trim_text(v, en, np_buf_str(&text), &ask, &trimmed, &whole, e);
  }
  if (whole) {
    np_buf_add(out, value.raw);
  } else {
    /* quoting must not touch the key's byte: quote the parts around it */
    np_str s = np_buf_str(&trimmed);
    size_t at = 0;
    np_buf_addc(out, '"');
    while (s.n) {
      const char *k = memchr(s.p, NP_KEY_BYTE, s.n);
      at = k ? (size_t)(k - s.p) : s.n;
      size_t mark = out->n;
      np_json_quote(out, np_str_cut(s, 0, at));
      if (!out->failed) { /* drop the quotes */
        memmove(out->p + mark, out->p + mark + 1, out->n - mark - 2);
        out->n -= 2;
      }
      if (k) np_buf_addc(out, NP_KEY_BYTE);
      s = np_str_cut(s, k ? at + 1 : at, s.n);
    }
    np_buf_addc(out, '"');
    *cut = true;
  }
  if (text.failed || trimmed.failed) rc = np_fail_mem(e);
  np_buf_free(&text);
  np_buf_free(&trimmed);
  return rc;
}

static neap_rc trim_call(np_view *v, const np_entry *en, size_t tokens, np_buf *out,
                         bool *whole, np_err *e) {
  np_json args, value;
  np_str key;
  neap_rc rc = NEAP_OK;
  *whole = true;
  if (np_json_check(en->text, &args, NULL) || args.type != NP_JSON_OBJECT) return NEAP_OK;
  bool cut = false;
  size_t from = out->n, all = np_vocab_count(v->vocab, en->text) + 1;
  np_json_iter it = np_json_each(args);
  char sep = '{';
  while (!rc && np_json_next(&it, &key, &value)) {
    np_buf_addc(out, sep);
    np_buf_add(out, key);
    np_buf_addc(out, ':');
    if (value.type == NP_JSON_STRING) {
      size_t share = (size_t)((uint64_t)tokens * value.raw.n / (en->text.n + 1) * 9 / 10);
      rc = trim_argument(v, en, value, share, out, &cut, e);
    } else {
      np_buf_add(out, value.raw);
    }
    sep = ',';
  }
  if (sep == '{') np_buf_addc(out, sep);
  np_buf_addc(out, '}');
  np_buf part = {.p = out->p + from, .n = out->n - from};
  *whole = !cut || (!out->failed && tokens_of(v, &part) >= all);
  if (*whole) out->n = from;
  return rc;
}

neap_rc np_mark_trimmed(np_view *v, const np_entry *en, const np_trim_ask *ask,
                        np_buf *out, bool *whole, np_err *e) {
  if (en->kind == NP_KIND_CALL) return trim_call(v, en, ask->tokens, out, whole, e);
  return trim_text(v, en, en->text, ask, out, whole, e);
}
