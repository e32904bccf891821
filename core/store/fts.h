/*
** The index of words: an FTS5 table with neap's own tokenizer, and what its rows are. Shared
** by fts.c (the tokenizer), words.c (what goes in and out) and find.c (searching). A program
** that opens a store without that tokenizer, such as sqlite3, can read all but this table.
** next: fts.c
*/
#ifndef NP_STORE_FTS_H
#define NP_STORE_FTS_H

#include "store/sqlite.h"

/* The id of a doc: 17 bits tenant, 22 bits session, 24 bits entry. A tenant's docs, and a
** session's, are one range of ids, so that no search ever meets another's. */
#define NP_ENTRY_BITS 24
#define NP_SESSION_BITS 22
#define NP_TENANT_MAX ((int64_t)1 << 17)

typedef struct np_scope {
  int64_t id; /* 0: there is none */
  np_indexed at;
  int64_t docs, words;
} np_scope;

static inline int64_t np_doc_id(int64_t scope, int64_t entry) {
  return scope << NP_ENTRY_BITS | entry;
}

/* Makes the tokenizer known to the connection. NEAP_E_LIMIT when SQLite has no FTS5. */
neap_rc np_fts_ready(np_sqlite *sq, np_err *e);
/* The same, and makes the table when it is not there: inside a transaction. */
neap_rc np_fts_make(np_sqlite *sq, np_err *e);
/* Is there a table? Another process may have made it. */
neap_rc np_fts_there(np_sqlite *sq, bool *there, np_err *e);

neap_rc np_scope_get(np_sqlite *sq, np_str tenant, np_str session, np_scope *out,
                     np_err *e);

/* Takes what the events with this content hold out of the index; in the purge's transaction,
** before they are changed. */
neap_rc np_words_purge(np_sqlite *sq, np_str tenant, const uint8_t *hash, np_err *e);
/* The same for one event; when all are through, the end. *all is kept from call to call. */
neap_rc np_words_purge_event(np_sqlite *sq, np_str tenant, np_str session, int64_t seq,
                             np_str body, bool *all, np_err *e);
/* Takes the words of one doc out, whose text is a part of that body. *all when the index must be
** emptied, since they are not known. `text` is scratch. */
neap_rc np_words_take_out(np_sqlite *sq, int64_t id, np_str body, int64_t part,
                          int64_t sum, np_buf *text, bool *all, np_err *e);
/* All words of a session, and that it was indexed. */
neap_rc np_words_forget(np_sqlite *sq, np_str tenant, np_str session, np_err *e);
neap_rc np_words_purge_end(np_sqlite *sq, bool all, np_err *e);

/* What np_store_ops names, the lock held. */
neap_rc np_words_indexed(np_sqlite *sq, np_str tenant, np_str session, np_indexed *out,
                         np_err *e);
neap_rc np_words_index(np_sqlite *sq, const np_docs *docs, np_err *e);
neap_rc np_words_find(np_sqlite *sq, const np_find *find, np_hit *out, size_t *n,
                      np_buf *names, np_err *e);

/* A database in memory with nothing but the index: the memory store's. */
neap_rc np_sq_memory_open(const neap_alloc *a, np_sqlite **out, np_err *e);

#endif
