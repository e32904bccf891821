/*
** Helpers of the store's tests: opening, appending one event, comparing what is read.
** next: test_store.c
*/
#ifndef NP_TESTS_STORE_HELP_H
#define NP_TESTS_STORE_HELP_H

#include "check.h"
#include "store/row.h"

static const neap_alloc *const libc = &np_alloc_libc;

static inline np_str str(const char *s) {
  return np_str_cstr(s);
}

/* `n` bytes that differ by `salt`; the caller frees them. */
static inline np_str make_body(size_t n, unsigned salt) {
  char *p = malloc(n + 1);
  for (size_t i = 0; p && i < n; i++)
    p[i] = (char)('a' + (i * 7 + salt * 13 + i / 97) % 26);
  if (p && n > 8) memcpy(p, &salt, sizeof salt);
  return (np_str){p, n};
}

static inline void free_body(np_str body) {
  union {
    const char *in;
    char *out;
  } p = {body.p};
  free(p.out);
}

/* Appends one event after the claim's last. */
static inline neap_rc add(np_store *st, np_claim *c, np_str head, np_str body,
                          neap_durable durable, np_err *e) {
  np_event ev = {
      .seq = c->last_seq + 1, .kind = 7, .version = 3, .head = head, .body = body};
  return st->ops->append(st, c, &ev, 1, durable, e);
}

/* What a read saw: counts, and the bytes of all heads and bodies in order. */
typedef struct seen {
  int64_t events, first, last, purged, stop_at;
  np_buf text;
} seen;

static inline neap_rc see(void *ctx, const np_event *ev, bool purged) {
  seen *s = ctx;
  if (s->events == 0) s->first = ev->seq;
  s->events++;
  s->last = ev->seq;
  s->purged += purged;
  np_buf_add(&s->text, ev->head);
  np_buf_addc(&s->text, '|');
  np_buf_add(&s->text, ev->body);
  np_buf_addc(&s->text, ';');
  return s->stop_at == ev->seq ? NEAP_E_LIMIT : NEAP_OK;
}

static inline neap_rc read_all(np_store *st, const char *tenant, const char *session,
                               int64_t from, seen *s, np_err *e) {
  int64_t stop_at = s->stop_at;
  np_buf_free(&s->text);
  *s = (seen){.stop_at = stop_at};
  np_buf_init(&s->text, libc);
  return st->ops->read(st, str(tenant), str(session), from, see, s, e);
}

static inline seen seen_new(void) {
  seen s = {0};
  np_buf_init(&s.text, libc);
  return s;
}

static inline void count_line(void *ctx, np_str line) {
  (void)line;
  ++*(int *)ctx;
}

/* The number of faults that check finds; -1 when it fails otherwise. */
static inline int faults(np_store *st, np_err *e) {
  int n = 0;
  neap_rc rc = st->ops->check(st, count_line, &n, e);
  if (rc == NEAP_OK) return n == 0 ? 0 : -1;
  return rc == NEAP_E_CORRUPT && n > 0 ? n : -1;
}

/* One line, and it says what to do: there is a "; ". */
static inline bool is_helpful(const np_err *e) {
  return strchr(e->text, '\n') == NULL && strstr(e->text, "; ") != NULL;
}

#endif
