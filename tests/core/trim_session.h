/*
** A session with one result, and what is shown of it when it is trimmed.
** next: test_mark_trim.c
*/
#ifndef NP_TESTS_TRIM_SESSION_H
#define NP_TESTS_TRIM_SESSION_H

#include "golden.h"
#include "render/mark.h"

static np_vocab *vocab;

static inline np_str lit(const char *s) {
  return np_str_cstr(s);
}

static inline bool has(np_str s, const char *part) {
  return np_str_find(s, lit(part), 0) != SIZE_MAX;
}

typedef struct session {
  golden g;
  np_buf out; /* of the last trim, the key filled in */
  bool whole;
} session;

static inline void open_session(session *s, np_str result) {
  np_buf m;
  golden_open(&s->g, vocab, "openai", 1 << 30);
  golden_history(&s->g,
                 "{'role':'user','content':'go'}\n"
                 "{'role':'assistant','content':null,'tool_calls':[{'id':'c',"
                 "'type':'function','function':{'name':'sh','arguments':'{}'}}]}\n");
  np_buf_init(&m, &np_alloc_libc);
  np_buf_adds(&m, "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":");
  np_json_quote(&m, result);
  np_buf_addc(&m, '}');
  golden_add(&s->g, np_buf_str(&m));
  np_buf_free(&m);
  np_pack_begin(&s->g.pack, NULL);
  memcpy(s->g.pack.view.key, "K7Q2", 4);
  np_buf_init(&s->out, &np_alloc_libc);
}

static inline void close_session(session *s) {
  np_buf_free(&s->out);
  golden_close(&s->g);
}

static inline np_str text_of(const session *s) {
  return np_log_entry(&s->g.log, 3)->text;
}

static inline np_str trim(session *s, np_trim_ask ask) {
  np_view *v = &s->g.pack.view;
  np_buf raw;
  np_buf_init(&raw, &np_alloc_libc);
  v->recall = true;
  neap_rc rc =
      np_mark_trimmed(v, np_log_entry(&s->g.log, 3), &ask, &raw, &s->whole, NULL);
  CHECK("a trim is made", rc == NEAP_OK);
  np_buf_clear(&s->out);
  np_view_text(v, np_buf_str(&raw), &s->out);
  np_buf_free(&raw);
  return np_buf_str(&s->out);
}

#endif
