/*
** What a summary in the mode `facts` holds of results: nothing that a model has written, but the
** key lines of each as they are, with where they are from and a hash of the whole. A function of
** the texts alone, so that it is the same when the hook runs again. next: asking.c
*/
#include "base/hash.h"
#include "policy/host.h"
#include "render/project.h"

#define LEAST 60 /* tokens of one result's lines, below which older results have none */
#define HEAD 30  /* tokens of where they are from */
#define HEADING 10
#define TRIES 4

/* Each line is led by a mark: none can pass for a heading or a step of the summary. */
static void add_quoted(np_str text, np_buf *out) {
  while (text.n) {
    size_t n = np_str_find(text, NP_LIT("\n"), 0);
    np_str line = np_str_cut(text, 0, n == SIZE_MAX ? text.n : n);
    text = np_str_cut(text, line.n + (n != SIZE_MAX), text.n);
    if (line.n && line.p[line.n - 1] == '\r') line.n--;
    if (!line.n) continue;
    np_buf_adds(out, "> ");
    np_buf_add(out, line);
    np_buf_addc(out, '\n');
  }
}

/* A tool may be called anything; what could end the line or the bracket is left out. */
static bool is_plain(np_str name) {
  for (size_t i = 0; i < name.n; i++) {
    unsigned char c = (unsigned char)name.p[i];
    if (c <= ' ' || c == 0x7F || c == '[' || c == ']') return false;
  }
  return name.n > 0;
}

/* `[17, read, step 4, lines 3, 40-41 of 120, sha256 3f2a9c01b4de]` */
static void add_place(const np_entry *en, const np_trim *t, np_buf *out) {
  uint8_t sum[NP_SHA256];
  char hex[2 * NP_SHA256];
  np_projection at = {.kept = t->kept, .count = t->count, .lines = t->lines};
  np_sha256(en->text, sum);
  np_hex(sum, sizeof sum, hex);
  np_buf_addc(out, '[');
  np_buf_int(out, en->id);
  if (is_plain(en->tool)) {
    np_buf_adds(out, ", ");
    np_buf_add(out, en->tool);
  }
  np_buf_adds(out, ", step ");
  np_buf_int(out, en->step);
  np_locator_add(&at, NP_LIT(""), np_str_of(hex, sizeof hex), out);
  np_buf_adds(out, "]\n");
}

/* The best lines of a result in at most `room` tokens; nothing where none fit. *used gets
** their tokens. */
static neap_rc add_result(const np_pack *p, const np_entry *en, size_t room, np_arena *ar,
                          np_buf *out, size_t *used, np_err *e) {
  np_trim t;
  *used = 0;
  size_t from = out->n, limit = room - HEAD;
  for (int i = 0; i < TRIES; i++, limit /= 2) {
    np_trim_ask ask = {.tokens = limit, .keep = NP_KEEP_DENSE};
    neap_rc rc = np_trim_choose(p->view.vocab, en->text, &ask, NP_LIT(""), ar, &t, e);
    if (rc) return rc;
    out->n = from;
    if (!t.count) return NEAP_OK;
    add_place(en, &t, out);
    for (size_t k = 0; k < t.count; k++)
      add_quoted(np_str_cut(en->text, t.kept[k].from, t.kept[k].to), out);
    if (out->failed) return np_fail_mem(e);
    np_str made = np_str_of(out->p + from, out->n - from);
    *used = np_vocab_count(p->view.vocab, made);
    if (*used <= room) return NEAP_OK;
  }
  out->n = from;
  *used = 0;
  return NEAP_OK;
}

/* Also those that a summary stands for which the new one takes in: lines of a summary are never
** copied, but taken from their results again, so that none can change from one to the next. */
static bool is_told(const np_entry *en) {
  return en->kind == NP_KIND_RESULT && !en->empty && en->text.n;
}

/* The results of the span, oldest first, in *ids of the arena. */
static size_t results_of(const np_pack *p, const np_span *s, np_arena *ar,
                         int64_t **ids) {
  size_t n = 0, most = 0;
  for (size_t i = 0; i < s->atoms; i++) most += p->log->atoms[s->atom[i]].members;
  *ids = most ? np_arena_alloc(ar, most * sizeof **ids) : NULL;
  for (size_t i = 0; *ids && i < s->atoms; i++) {
    for (int64_t id = p->log->atoms[s->atom[i]].first; id;
         id = np_log_entry(p->log, id)->next) {
      if (is_told(np_log_entry(p->log, id))) (*ids)[n++] = id;
    }
  }
  return n;
}

neap_rc np_facts_add(np_pack *p, const np_span *s, size_t tokens, np_buf *out,
                     size_t *used, np_err *e) {
  np_arena ar;
  int64_t *ids;
  size_t one, left = tokens > HEADING ? tokens - HEADING : 0;
  neap_rc rc = NEAP_OK;
  np_arena_init(&ar, p->alloc);
  size_t n = results_of(p, s, &ar, &ids), shown = left / LEAST;
  np_buf_clear(out);
  np_buf_adds(out, "\n## Observed, word by word\n");
  size_t head = out->n;
  for (size_t i = n - (n < shown ? n : shown); !rc && i < n; i++) {
    rc = add_result(p, np_log_entry(p->log, ids[i]), left / (n - i), &ar, out, &one, e);
    left -= one;
  }
  if (out->failed) rc = np_fail_mem(e);
  out->n = out->n == head ? 0 : out->n - 1; /* no line end behind the last */
  *used = rc ? 0 : np_vocab_count(p->view.vocab, np_buf_str(out));
  np_arena_free(&ar);
  return rc;
}
