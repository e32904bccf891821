/*
** What both stores share: an event with its digests, the rules for names, sizes and
** sequence numbers, and pages: events copied out under the lock so that callbacks run
** without it. next: row.c
*/
#ifndef NP_STORE_ROW_H
#define NP_STORE_ROW_H

#include "store/store.h"

#define NP_STORE_INLINE ((size_t)1024) /* bodies below stay in their event's row */
/* bytes of a head; larger: NEAP_E_LIMIT. An account names every entry that a turn has changed */
#define NP_STORE_HEAD_MAX ((size_t)64 << 20)
#define NP_STORE_NAME_MAX ((size_t)512)       /* bytes of a tenant's or session's name */
#define NP_STORE_PAGE_ROWS 64                 /* events copied out at a time, */
#define NP_STORE_PAGE_BYTES ((size_t)1 << 20) /* or until a page is this large */
#define NP_ROW_VERSION 1 /* of rows that have no version of their own */

/* Where a body is. The numbers are in files: never change one, only add. */
typedef enum np_place {
  NP_PLACE_NONE = 0,   /* empty body: it has no hash */
  NP_PLACE_INLINE = 1, /* in the event's row */
  NP_PLACE_BLOB = 2,   /* once per tenant, by hash */
  NP_PLACE_PURGED = 3, /* removed by its owner */
  NP_PLACE_CHUNKS = 4, /* a content that is kept in pieces; chunk.h */
  NP_PLACE_APART = 5   /* an event's body: among the contents, given by its hash alone */
} np_place;

/* How bytes are kept. Likewise. */
typedef enum np_enc { NP_ENC_RAW = 0, NP_ENC_ZSTD = 1 } np_enc;

typedef struct np_row {
  np_event ev;
  int place;
  uint8_t hash[NP_SHA256]; /* of the body, unless NP_PLACE_NONE */
  uint8_t sum[NP_SUM];     /* over seq, kind, version and head */
  char *block;             /* memlog's: what head and body point into, NULL elsewhere */
} np_row;

/* The rows of n events, digests filled in; slices are the events'. A few stand in `few`, more
** are allocated; np_rows_free takes either. NULL: no memory. */
#define NP_FEW_ROWS 4
np_row *np_rows_new(const neap_alloc *a, np_row few[NP_FEW_ROWS], const np_event *ev,
                    size_t n);
void np_rows_free(const neap_alloc *a, np_row *rows, const np_row few[NP_FEW_ROWS]);

neap_rc np_check_tenant(np_str tenant, np_err *e);
neap_rc np_check_names(np_str tenant, np_str session, np_err *e);
neap_rc np_check_body(np_str body, np_err *e);
neap_rc np_check_events(const np_claim *claim, const np_event *ev, size_t n, np_err *e);

/* Failures that both stores word alike. */
neap_rc np_fail_fenced(np_str session, size_t lost, np_err *e);
neap_rc np_fail_exists(np_str session, np_err *e);
neap_rc np_fail_short(np_str session, int64_t has, int64_t wanted, np_err *e);
neap_rc np_fail_no_session(np_str session, np_err *e);
neap_rc np_fail_no_content(const uint8_t hash[NP_SHA256], np_err *e);
neap_rc np_fail_purged(const uint8_t hash[NP_SHA256], np_err *e);

/* Is the body of such an event among the contents? */
static inline bool np_is_content(int place) {
  return place == NP_PLACE_BLOB || place == NP_PLACE_APART;
}

/* Pages. Both kinds live in a np_buf, whose `failed` the writer checks at the end. */
void np_page_event(np_buf *page, const np_event *ev, bool purged);
neap_rc np_page_visit(const np_buf *page, np_event_fn fn, void *ctx);
void np_page_session(np_buf *page, np_str name, int64_t events);
neap_rc np_page_visit_sessions(const np_buf *page,
                               neap_rc (*fn)(void *ctx, const np_session_row *row),
                               void *ctx);

/* Fills `out` from the system's random source. */
neap_rc np_random(uint8_t *out, size_t n, np_err *e);

/* The bytes of a hash as a slice. */
static inline np_str np_hash_str(const uint8_t *hash) {
  return (np_str){(const char *)hash, NP_SHA256};
}

/* For "%.*s": at most 80 bytes of a name, cut between characters. */
static inline int np_show_len(np_str s) {
  size_t n = s.n > 80 ? 80 : s.n;
  while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xC0) == 0x80) n--;
  return (int)n;
}
#define NP_SHOW(s) np_show_len(s), ((s).p ? (s).p : "")

#endif
