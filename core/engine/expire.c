/*
** Letting go of artifacts whose time is over: those whose bytes no other of the tenant's needs any
** more. next: ../bind/artifact.c
*/
#include <stdlib.h>

#include "engine/artifact.h"

typedef struct claimed {
  uint8_t hash[NP_SHA256];
  int64_t end;
} claimed;

typedef struct expiry {
  neap *n;
  np_buf names,
      list; /* names with a NUL behind each; a list of what is claimed until when */
  np_arena arena;
} expiry;

static neap_rc add_name(void *ctx, const np_session_row *row) {
  expiry *x = ctx;
  np_buf_add(&x->names, row->name);
  np_buf_addc(&x->names, '\0');
  return x->names.failed ? NEAP_E_MEMORY : NEAP_OK;
}

static neap_rc add_claim(void *ctx, const np_event *ev, bool purged) {
  expiry *x = ctx;
  np_file f;
  np_arena_clear(&x->arena);
  if (purged || !ev->apart || !np_file_read(&x->arena, ev, purged, &f)) return NEAP_OK;
  claimed c = {.end = np_file_end(&f)};
  memcpy(c.hash, f.hash, NP_SHA256);
  np_buf_add(&x->list, np_str_of((const char *)&c, sizeof c));
  return x->list.failed ? NEAP_E_MEMORY : NEAP_OK;
}

/* By hash, and of each the longest claim first. */
static int order(const void *a, const void *b) {
  const claimed *x = a, *y = b;
  int c = memcmp(x->hash, y->hash, NP_SHA256);
  return c ? c : (x->end < y->end) - (x->end > y->end);
}

/* Of each content whose longest claim is over, how many claims were seen: somebody may meanwhile
** have let it go, or want it longer. */
static bool gather(const expiry *x, int64_t now, np_buf *out) {
  const claimed *list = (const claimed *)(const void *)x->list.p;
  size_t all = x->list.n / sizeof *list;
  for (size_t i = 0, next; i < all; i = next) {
    for (next = i + 1; next < all; next++) {
      if (memcmp(list[next].hash, list[i].hash, NP_SHA256) != 0) break;
    }
    if (list[i].end > now || list[i].end == INT64_MAX) continue;
    np_release one = {.seen = (int64_t)(next - i)};
    memcpy(one.hash, list[i].hash, NP_SHA256);
    np_buf_add(out, np_str_of((const char *)&one, sizeof one));
  }
  return !out->failed;
}

static neap_rc release(expiry *x, int64_t now, int64_t *count, np_err *e) {
  np_store *st = x->n->store;
  np_buf over;
  size_t gone = 0, all = x->list.n / sizeof(claimed);
  if (all) qsort(x->list.p, all, sizeof(claimed), order);
  np_buf_init(&over, &x->n->alloc);
  neap_rc rc = gather(x, now, &over) ? NEAP_OK : np_fail_mem(e);
  if (rc == NEAP_OK && over.n)
    rc = st->ops->release(st, np_str_cstr(x->n->tenant),
                          (const np_release *)(const void *)over.p,
                          over.n / sizeof(np_release), &gone, e);
  *count = (int64_t)gone;
  np_buf_free(&over);
  return rc;
}

static neap_rc expire(expiry *x, int64_t now, int64_t *count, np_err *e) {
  np_store *st = x->n->store;
  np_str tenant = np_str_cstr(x->n->tenant), name;
  neap_rc rc = st->ops->sessions(st, tenant, add_name, x, e);
  for (size_t at = 0; rc == NEAP_OK && at < x->names.n; at += name.n + 1) {
    name = np_str_cstr(x->names.p + at);
    rc = st->ops->heads(st, tenant, name, NP_EV_FILE, 1, add_claim, x, e);
  }
  if (rc == NEAP_E_MEMORY) return np_fail_mem(e);
  return rc == NEAP_OK ? release(x, now, count, e) : rc;
}

neap_rc neap_artifact_expire(neap *n, int64_t now, int64_t *count) {
  np_err e = {0};
  int64_t gone = 0;
  if (!n || now <= 0) return NEAP_E_ARG;
  if (!n->store) return n->error.code ? n->error.code : NEAP_E_MISUSE;
  expiry x = {.n = n};
  np_buf_init(&x.names, &n->alloc);
  np_buf_init(&x.list, &n->alloc);
  np_arena_init(&x.arena, &n->alloc);
  neap_rc rc = expire(&x, now, &gone, &e);
  np_buf_free(&x.names);
  np_buf_free(&x.list);
  np_arena_free(&x.arena);
  if (count) *count = gone;
  return rc == NEAP_OK ? rc : np_engine_fail(n, &e);
}
