/*
** A session for golden tests: messages in, changes by entry, the rendered bytes out. In JSON
** written here ' stands for ". next: test_openai.c
*/
#ifndef NP_TESTS_GOLDEN_H
#define NP_TESTS_GOLDEN_H

#include "check.h"
#include "cite/log_index.h"
#include "openai_check.h"
#include "pack/change.h"

typedef struct golden {
  np_log log;
  np_pack pack;
  np_buf json;
} golden;

static const np_reason golden_reason = {{"test", 4}, {"golden.h:1", 10}};

static inline const char *golden_dir(void) {
  const char *dir = getenv("NEAP_DATA");
  return dir ? dir : "core/token/data";
}

static inline np_vocab *golden_vocab(const char *name) {
  np_vocab *v = NULL;
  np_err e = {0};
  if (np_vocab_open(&np_alloc_libc, golden_dir(), np_str_cstr(name), &v, &e)) {
    fprintf(stderr, "%s\n", e.text);
    CHECK("the vocabulary loads", v != NULL);
  }
  return v;
}

/* `s` with ' made "; valid until the next call with this buffer. */
static inline np_str golden_json(np_buf *b, const char *s) {
  np_buf_clear(b);
  for (; *s; s++) np_buf_addc(b, *s == '\'' ? '"' : *s);
  return np_buf_str(b);
}

static inline void golden_open(golden *g, const np_vocab *v, const char *format,
                               int64_t budget) {
  np_log_init(&g->log, &np_alloc_libc, NULL);
  np_log_index_open(&g->log, NULL);
  np_pack_init(&g->pack, &np_alloc_libc, &g->log, v, np_format_find(np_str_cstr(format)),
               budget, NULL);
  np_buf_init(&g->json, &np_alloc_libc);
}

static inline void golden_close(golden *g) {
  np_pack_free(&g->pack);
  np_cite_free(g->log.cite);
  np_log_free(&g->log);
  np_buf_free(&g->json);
}

static inline void golden_add(golden *g, np_str message) {
  size_t index;
  np_err e = {0};
  neap_rc rc = np_log_append(&g->log, message, &index, &e);
  if (!rc) rc = np_log_index_sync(&g->log, &e);
  if (rc) fprintf(stderr, "%.*s: %s\n", (int)message.n, message.p, e.text);
  CHECK("a message of a test is taken", rc == NEAP_OK);
}

/* Messages one a line. */
static inline void golden_history(golden *g, const char *lines) {
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  np_str all = golden_json(&b, lines);
  while (all.n) {
    const char *nl = memchr(all.p, '\n', all.n);
    size_t n = nl ? (size_t)(nl - all.p) : all.n;
    if (n) golden_add(g, np_str_cut(all, 0, n));
    all = np_str_cut(all, n + 1, all.n);
  }
  np_buf_free(&b);
  CHECK("new entries are taken in", np_pack_begin(&g->pack, NULL) == NEAP_OK);
}

/* Changes, parted by blanks: m3 mask, r3 reference, d3 drop its atom, x3 restore, t3:60 trim
** to 60 tokens, k renews the key. Rules about who may ask do not apply. */
static inline void golden_change(golden *g, const char *ops) {
  while (*ops) {
    char op = *ops++, *end;
    long id = strtol(ops, &end, 10), tokens = *end == ':' ? strtol(end + 1, &end, 10) : 0;
    np_pack *p = &g->pack;
    np_verdict v = NP_DONE;
    if (op == 'm') v = np_pack_lower(p, id, NP_MASKED, golden_reason);
    else if (op == 'r') v = np_pack_lower(p, id, NP_REFERENCE, golden_reason);
    else if (op == 'd')
      v = np_pack_drop_atom(p, np_log_entry(&g->log, id)->atom, golden_reason);
    else if (op == 'x') v = np_pack_restore(p, id, golden_reason);
    else if (op == 't') v = np_pack_retrim(p, id, tokens, golden_reason);
    else v = np_view_rekey(&p->view, "bbbb", NULL) ? NP_NO_MEMORY : NP_DONE;
    CHECK("a change of a test is carried out", v == NP_DONE);
    ops = end + (*end == ' ');
  }
}

static inline np_str golden_body(golden *g) {
  np_rendered r = {.body = NP_LIT("")};
  CHECK("it renders",
        np_frame_render(&g->pack.frame, &g->pack.view, &r, NULL) == NEAP_OK);
  return r.body;
}

static inline void golden_same(const char *what, np_str got, np_str want) {
  bool ok = np_str_eq(got, want);
  if (!ok) {
    fprintf(stderr, "%s\n  want %.*s\n  got  %.*s\n", what, (int)want.n, want.p,
            (int)got.n, got.p);
  }
  CHECK("a history renders to exactly these bytes", ok);
}

#endif
