/*
** Logs in memory, ordered by tenant and session: the memory store's whole log, and what
** the SQLite store holds back until a flush. They own copies of what is added. No locks
** here. next: memlog.c
*/
#ifndef NP_STORE_MEMLOG_H
#define NP_STORE_MEMLOG_H

#include "store/row.h"

typedef struct np_memlog {
  np_str tenant, session; /* owned */
  int64_t fence;
  np_row *rows; /* each owns its head, and its body unless NP_PLACE_BLOB is shared */
  size_t n, cap;
  bool waits; /* the file could not take them: waiting.c */
} np_memlog;

typedef struct np_memlogs {
  const neap_alloc *alloc;
  np_memlog **logs; /* by tenant, then session */
  size_t n, cap;
  size_t bytes;      /* of heads and bodies held, for limits */
  bool shared_blobs; /* bodies of NP_PLACE_BLOB belong to someone else */
} np_memlogs;

void np_memlogs_init(np_memlogs *m, const neap_alloc *a, bool shared_blobs);
void np_memlogs_free(np_memlogs *m);

np_memlog *np_memlog_find(const np_memlogs *m, np_str tenant,
                          np_str session); /* or NULL */
np_memlog *np_memlog_make(np_memlogs *m, np_str tenant,
                          np_str session); /* NULL: no memory */
void np_memlog_drop(np_memlogs *m, np_memlog *log);

/* The index of the tenant's first log; the others follow it. */
size_t np_memlog_first(const np_memlogs *m, np_str tenant);

/* Adds copies of n rows, all or none. */
bool np_memlog_add(np_memlogs *m, np_memlog *log, const np_row *rows, size_t n);

/* Forgets the body of a row, its bytes overwritten. */
void np_memlog_purge(np_memlogs *m, np_row *row);

/* Overwrites bytes that must not be found in memory later. */
void np_wipe(void *p, size_t n);

#endif
