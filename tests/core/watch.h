/*
** What holds of every prompt of a session, whatever its policy: its provider's rules, a count of
** its bytes that knows nothing of how neap renders, its budget, and that it goes on where the
** last one ended unless its account says otherwise. next: test_cases.c, test_traces.c
*/
#ifndef NP_TESTS_WATCH_H
#define NP_TESTS_WATCH_H

#include "session.h"

#include "anthropic_check.h"
#include "engine/engine.h"
#include "gemini_recount.h"
#include "openai_check.h"
#include "render/check.h"
#include "responses_recount.h"

typedef struct watch {
  np_buf last, seen; /* what must begin the next prompt; of this one */
  bool lenient;      /* without the rules that the host is answerable for */
  bool uncounted;    /* the request has tools: their count is another test's */
  np_err err;
} watch;

static inline void watch_open(watch *w) {
  *w = (watch){.lenient = false};
  np_buf_init(&w->last, &np_alloc_libc);
  np_buf_init(&w->seen, &np_alloc_libc);
}

static inline void watch_close(watch *w) {
  np_buf_free(&w->last);
  np_buf_free(&w->seen);
}

/* Tokens of the body; -1 when it cannot be counted. */
static inline int64_t watch_count(watch *w, neap_session *s, neap_str body) {
  const np_view *v = &s->pack.view;
  const char *wrong = NULL;
  int64_t tokens = 0;
  np_buf_clear(&w->seen);
  np_buf_add(&w->seen, np_str_cut(body, 0, s->pack.frame.body_end));
  switch (v->format->shape) {
    case NP_SHAPE_ANTHROPIC:
      wrong = anthropic_count(v->vocab, v->model, body, &w->seen, &tokens);
      break;
    case NP_SHAPE_RESPONSES: return responses_recount(v->vocab, body, v->model, 0);
    case NP_SHAPE_GEMINI: return gemini_recount(v->vocab, body, v->model, 0);
    case NP_SHAPE_CHAT: wrong = openai_check(v->vocab, body, 0, &tokens); break;
    default: tokens = (int64_t)np_vocab_count(v->vocab, body);
  }
  return wrong ? -1 : tokens;
}

static inline const char *watch_rules(watch *w, neap_session *s, neap_str body) {
  np_str format = np_str_cstr(s->pack.view.format->name);
  w->err = (np_err){0};
  return np_check(&np_alloc_libc, format, body, !w->lenient, &w->err) ? w->err.text
                                                                      : NULL;
}

/* Only notes where the prompt ends: for turns that are not looked at. */
static inline const char *watch_prefix(watch *w, neap_session *s) {
  np_str was = np_buf_str(&w->last), now = np_buf_str(&w->seen);
  bool begins = now.n >= was.n && (!was.n || memcmp(now.p, was.p, was.n) == 0);
  bool told = s->rendered.rewrite;
  np_buf_clear(&w->last);
  np_buf_add(&w->last, now);
  return begins || told
             ? NULL
             : "it does not go on where the last one ended, and no rewrite is told";
}

/* NULL, or what is wrong with a prompt that was just handed out. */
static inline const char *watch_prompt(watch *w, neap_session *s, neap_str body) {
  int64_t said = np_pack_tokens(&s->pack);
  const char *wrong = watch_rules(w, s, body);
  int64_t tokens = watch_count(w, s, body);
  const char *broken = watch_prefix(w, s);
  if (wrong) return wrong;
  if (!w->uncounted && tokens != said)
    return "its bytes count otherwise than the account";
  if (said > s->pack.budget) return "it is over its budget";
  return broken;
}

#endif
