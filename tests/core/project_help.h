/*
** Projections in tests: one call by words, and what always holds of its result.
** next: test_project.c
*/
#ifndef NP_TESTS_PROJECT_HELP_H
#define NP_TESTS_PROJECT_HELP_H

#include "check.h"
#include "render/project.h"
#include "text/text.h"

/* One projection; its ranges and text are valid until the next one. */
typedef struct projected {
  neap_rc rc;
  np_err err;
  np_projection p;
  np_str text; /* shown */
} projected;

static np_vocab *vocab;
static np_arena project_arena;
static np_buf project_shown;

static void project_begin(void) {
  const char *dir = getenv("NEAP_VOCAB");
  np_err e = {0};
  if (!dir) dir = "core/token/data";
  if (np_vocab_open(&np_alloc_libc, dir, NP_LIT("o200k_base"), &vocab, &e)) {
    fprintf(stderr, "%s\n", e.text);
    exit(1);
  }
  np_arena_init(&project_arena, &np_alloc_libc);
  np_buf_init(&project_shown, &np_alloc_libc);
}

static void project_end(void) {
  np_buf_free(&project_shown);
  np_arena_free(&project_arena);
  np_vocab_free(vocab);
}

static projected project_what(np_str text, const np_extract *part, size_t tokens) {
  projected r = {0};
  np_project_ask ask = {.what = *part, .tokens = tokens};
  np_arena_clear(&project_arena);
  np_buf_clear(&project_shown);
  r.rc = np_project(vocab, text, &ask, &project_arena, &r.p, &project_shown, &r.err);
  r.text = np_buf_str(&project_shown);
  return r;
}

static inline projected project(np_str text, const char *words, size_t tokens) {
  np_extract what;
  projected r = {0};
  r.rc = np_extract_parse(np_str_cstr(words), &what, &r.err);
  return r.rc ? r : project_what(text, &what, tokens);
}

static bool border(np_str s, size_t at) {
  return np_grapheme_floor(s, at) == at;
}

/* NULL, or what does not hold: ranges rise and are in bounds and on borders, line numbers are
** right, and what is shown has at most `tokens`. */
static inline const char *project_fault(np_str text, const projected *r, size_t tokens) {
  size_t behind = 0;
  if (r->rc) return r->text.n ? "text is shown although it failed" : NULL;
  for (size_t i = 0; i < r->p.count; i++) {
    const np_range *k = &r->p.kept[i];
    if (k->from >= k->to || k->to > text.n) return "a range is empty or out of bounds";
    if (i && k->from <= behind) return "ranges do not rise";
    if (!border(text, k->from) || !border(text, k->to)) return "a cluster is cut";
    if (k->line_from != 1 + np_lines_newlines(np_str_cut(text, 0, k->from)))
      return "the first line's number";
    if (k->line_to != 1 + np_lines_newlines(np_str_cut(text, 0, k->to - 1)))
      return "the last line's number";
    behind = k->to;
  }
  if (r->p.lines != np_lines_count(text)) return "the number of lines";
  if (r->p.tokens != np_vocab_count(vocab, r->text)) return "the tokens are not counted";
  if (r->p.tokens > tokens) return "more tokens than asked for";
  return NULL;
}

#endif
