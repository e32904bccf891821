/*
** The store: an append-only event log per session and content by hash, behind a table of
** functions. It knows nothing of messages or prompts: an event is a kind, a small head and
** a body. Every key starts with the tenant; every row carries a fence and a row version.
** next: memory.c (the smallest one), then sqlite.c
*/
#ifndef NP_STORE_STORE_H
#define NP_STORE_STORE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

/* user_version of the file; newer is refused */
#define NP_STORE_VERSION 4
/* bytes of one body; larger: NEAP_E_LIMIT */
#define NP_STORE_BODY_MAX ((size_t)64 << 20)

typedef struct np_store np_store;

/* One row of a session's log. `seq` counts from 1 without gaps. */
typedef struct np_event {
  int64_t seq;     /* set by the caller: last + 1, + 2, … */
  int32_t kind;    /* meaning is log/'s */
  int32_t version; /* row version: how `head` and `body` are to be read */
  np_str head;     /* small, inline */
  np_str body;     /* any bytes; large ones are kept once per tenant, by hash */
  np_str gone;     /* of a purged body: its hash, NP_SHA256 bytes. Else empty */
  /* The body, if there is one, is a content of its own, whatever its size: who reads the log
  ** gets its hash in its place, and the bytes by get or window. Appended with no body it names,
  ** by its hash, one that the tenant's store has already (NEAP_E_NOTFOUND, _PURGED when it has
  ** not). */
  bool apart;
  uint8_t hash[NP_SHA256]; /* of a body that is apart; else zeroes */
} np_event;

#define NP_SUM 8 /* bytes of an event's check sum, over seq, kind, version and head */
void np_event_sum(const np_event *ev, uint8_t out[NP_SUM]);

/* A content to be let go: of which `seen` events were looked at, 0: any. */
typedef struct np_release {
  uint8_t hash[NP_SHA256];
  int64_t seen;
} np_release;

/* A writer's claim on a session: whoever opened it last has the highest fence, and only
** that one may append. */
typedef struct np_claim {
  np_str tenant, session; /* borrowed: must outlive the claim */
  int64_t fence;    /* 0: for reading; NP_FENCE_WANTED: taken as soon as that can be */
  int64_t last_seq; /* of the log when it was opened; kept up by append */
} np_claim;
#define NP_FENCE_WANTED ((int64_t)-1)

/* Events of a session that the file could not take yet, and why: np_store.hold. */
typedef struct np_waiting {
  int64_t events, bytes;
  np_err why; /* code NEAP_OK: none wait */
} np_waiting;

typedef struct np_session_row {
  np_str name;
  int64_t events;
} np_session_row;

/* Called per event, in order of seq; a code other than NEAP_OK stops and is returned. Slices
** are valid during the call. `purged` when the body's owner has removed it. */
typedef neap_rc (*np_event_fn)(void *ctx, const np_event *ev, bool purged);

/* A part of a content: the bytes [from, to), or the lines from..to, which count from 1, both
** included, with their newlines. What is outside is left out. Lines as in text/: "\n" ends one,
** a last one without it counts. */
typedef struct np_window {
  bool by_lines;
  size_t from, to;
  /* what is said of it: bytes of the whole content; where the window begins (0 when it is
  ** empty); and, by lines only, how many the whole has */
  size_t size, at, lines;
} np_window;
/* The window of a text that is here: a slice of it. */
np_str np_window_of(np_str text, np_window *w);

/* ---- words: which entries hold them ---- */

typedef enum np_doc_rank { /* what an entry is to who searches. The numbers are in files */
                           NP_DOC_SOURCE = 0, /* results, what users say, files */
                           NP_DOC_CALL = 1,   /* calls: they lead to their results */
                           NP_DOC_SAID = 2,   /* what the model says */
                           NP_DOC_TASK =
                               3, /* what every prompt shows: the first user message */
                           NP_DOC_PURGED = 9 /* the store's own */
} np_doc_rank;

/* One entry as the index takes it in. The store keeps no copy of `text`: who wants it again
** finds it in part `part` of the event `seq`. */
typedef struct np_doc {
  int64_t entry; /* its id in the session, rising from doc to doc */
  int64_t seq;   /* the event that holds it */
  int32_t part;  /* which of that event's entries, from 0 */
  np_doc_rank rank;
  int64_t step;
  int64_t pair; /* a result's call, or 0 */
  np_str text;
} np_doc;

/* How far a session's words are in the index. */
typedef struct np_indexed {
  int64_t entry; /* the newest entry that was offered */
  int64_t cited; /* citations that were counted */
  int64_t seq;   /* the newest event that was looked at */
} np_indexed;

/* What is added at a time, all or nothing. */
typedef struct np_docs {
  np_str tenant, session;
  int64_t fence;   /* the claim's; 0: the entries were read from the store itself */
  np_indexed from; /* what np_store_ops.indexed said; */
  np_indexed to;   /* what it will say */
  const np_doc *doc;
  size_t n;
  const int64_t *cited; /* entries that were cited, once for each time */
  size_t cited_n;
} np_docs;

/* Appends the text of part `part` of an event's body, exactly as it was indexed. False when
** there is none. */
typedef bool (*np_doc_text_fn)(void *ctx, np_str body, int32_t part, np_buf *out);

typedef struct np_find {
  np_str tenant, session; /* no session: all of the tenant */
  np_str query;           /* any text */
  size_t k;               /* hits at most */
} np_find;

typedef struct np_hit {
  np_str session; /* in the `names` of the call */
  int64_t entry, seq, step;
  int32_t part;
  double score; /* falling; comparable within one answer only */
} np_hit;

#define NP_HITS_MAX 100 /* of one answer */

/* A figure of a tenant, or with a NULL tenant of the whole file. */
typedef void (*np_figure_fn)(void *ctx, np_str tenant, const char *name, int64_t value);

typedef struct np_swept {
  int64_t contents, bytes; /* that nothing referred to */
  int64_t before, after;   /* bytes of the file */
} np_swept;

/* What went with a session. */
typedef struct np_removed {
  int64_t events, contents;
} np_removed;

typedef struct np_store_ops {
  const char *name; /* "sqlite", "memory" */

  /* Claims `session` for writing (created when new): fence = highest + 1. With `readonly`
  ** nothing is written and append is refused. */
  neap_rc (*claim)(np_store *st, np_str tenant, np_str session, bool readonly,
                   np_claim *out, np_err *e);

  /* Appends n events, all or none; durable as asked. NEAP_E_FENCED when another claim is
  ** newer, NEAP_E_MISUSE when seq does not follow last_seq. NEAP_E_FULL, _READONLY, _BUSY,
  ** _IO: nothing was written. */
  neap_rc (*append)(np_store *st, np_claim *claim, const np_event *ev, size_t n,
                    neap_durable durable, np_err *e);

  /* Visits the events of a session with seq >= from. */
  neap_rc (*read)(np_store *st, np_str tenant, np_str session, int64_t from,
                  np_event_fn fn, void *ctx, np_err *e);

  /* Makes session `to` of the first `upto` events of `from`. The content is shared, the fence
  ** is its own. NEAP_E_NOTFOUND: no such session, or fewer events; NEAP_E_MISUSE: `to` is
  ** there already. */
  neap_rc (*fork)(np_store *st, np_str tenant, np_str from, np_str to, int64_t upto,
                  np_err *e);
  /* Makes a session of events 1 to n, all or none. One with `gone` has an empty body and is a
  ** purged one. NEAP_E_MISUSE when the session is there already. */
  neap_rc (*restore)(np_store *st, np_str tenant, np_str session, const np_event *ev,
                     size_t n, np_err *e);
  /* The same of one kind of event (0: of any), and without their bodies. */
  neap_rc (*heads)(np_store *st, np_str tenant, np_str session, int32_t kind,
                   int64_t from, np_event_fn fn, void *ctx, np_err *e);

  /* Content by hash, within the tenant. get appends to `out` what was put: its sum
  ** is verified, or where an older neap has kept none its hash (NEAP_E_CORRUPT). The sum tells
  ** damage; that nobody has put other bytes and their sum into the file, only check tells.
  ** NEAP_E_NOTFOUND when absent, NEAP_E_PURGED when removed. */
  neap_rc (*put)(np_store *st, np_str tenant, np_str body, uint8_t hash[NP_SHA256],
                 np_err *e);
  neap_rc (*get)(np_store *st, np_str tenant, const uint8_t hash[NP_SHA256], np_buf *out,
                 np_err *e);
  /* Appends a window of it to `out`. Of a large content only what is needed is read, and only
  ** that is verified: a window costs some 10 us however deep it is. Errors as for get. */
  neap_rc (*window)(np_store *st, np_str tenant, const uint8_t hash[NP_SHA256],
                    np_window *w, np_buf *out, np_err *e);
  /* Removes the content for good and leaves a record that it was there. The file is made anew, so
  ** that no byte of it is left there or in the log. When that fails, or a kill comes before, it is
  ** purged all the same; purging it again makes the file anew, and so does a vacuum. NEAP_E_BUSY:
  ** it is done, but a reader still keeps an old copy. */
  neap_rc (*purge)(np_store *st, np_str tenant, const uint8_t hash[NP_SHA256], np_err *e);

  /* Events that have one of these contents apart become purged ones; its bytes go, unless another
  ** event holds them. Not overwritten: a vacuum does that. The list is by hash. Nothing happens to
  ** a content that no event has apart, or more or fewer than `seen`. *gone: of the list. */
  neap_rc (*release)(np_store *st, np_str tenant, const np_release *list, size_t n,
                     size_t *gone, np_err *e);

  /* Removes a session for good: its events, their words, and what of the tenant's contents nothing
  ** else names; the file is made anew. A record stays, and who was writing is fenced, also when
  ** the name is used again. NEAP_E_NOTFOUND; NEAP_E_BUSY: it is done, but a reader still keeps an
  ** old copy. NULL for a store that has no file. */
  neap_rc (*remove)(np_store *st, np_str tenant, np_str session, np_removed *out,
                    np_err *e);

  /* The sessions of a tenant in order of name. Slices are valid during the call. */
  neap_rc (*sessions)(np_store *st, np_str tenant,
                      neap_rc (*fn)(void *ctx, const np_session_row *row), void *ctx,
                      np_err *e);

  /* The store's secret for mark keys: made once from the system's random source. */
  neap_rc (*secret)(np_store *st, uint8_t out[NP_SHA256], np_err *e);

  /* How far the session's words are in the index: zeroes when nothing is. */
  neap_rc (*indexed)(np_store *st, np_str tenant, np_str session, np_indexed *out,
                     np_err *e);
  /* Adds entries to the index; what is not in the log yet is written before. Nothing happens
  ** when another writer was faster. NEAP_E_FENCED as for append; NEAP_E_LIMIT for an SQLite
  ** without FTS5. */
  neap_rc (*index)(np_store *st, const np_docs *docs, np_err *e);
  /* The best hits, best first, at most find->k in out[NP_HITS_MAX]: entries that hold all
  ** words before those that hold some. No query is wrong; one without words finds nothing.
  ** Only entries of that tenant decide what is found and how it is ranked. NEAP_E_NOTFOUND
  ** when an older store that may not be written has no index. */
  neap_rc (*find)(np_store *st, const np_find *find, np_hit *out, size_t *n,
                  np_buf *names, np_err *e);

  /* Whole-file check: structure, every body's hash, gaps in logs. Calls `say` per fault and
  ** returns NEAP_E_CORRUPT when there was one. */
  neap_rc (*check)(np_store *st, void (*say)(void *ctx, np_str line), void *ctx,
                   np_err *e);

  /* What the file holds. NEAP_E_READONLY for an older one that may not be written. NULL, as the
  ** next two, for a store that has no file. `fn` must not use the store. */
  neap_rc (*stats)(np_store *st, np_figure_fn fn, void *ctx, np_err *e);
  /* Removes contents that nothing refers to, brings those of older neaps up to date, and makes
  ** the file as small as it can be. */
  neap_rc (*vacuum)(np_store *st, np_swept *out, np_err *e);
  /* Copies the file to a new one, in one of its states, while others write. Sessions of other
  ** handles that hold back events have those in it that are written. */
  neap_rc (*backup)(np_store *st, const char *path_cstr, np_err *e);

  /* What waits of a session. NULL where nothing ever does. */
  neap_rc (*waiting)(np_store *st, np_str tenant, np_str session, np_waiting *out);

  /* Writes what NEAP_DURABLE_BATCH and _MEMORY have held back. */
  neap_rc (*flush)(np_store *st, np_err *e);

  /* Flushes and frees. The store is gone also when this fails. */
  neap_rc (*close)(np_store *st, np_err *e);
} np_store_ops;

struct np_store {
  const np_store_ops *ops;
  const neap_alloc *alloc;
  /* Set by the host's consent: an append that the file cannot take now (full, locked, not to be
  ** written) waits in memory and counts as done; each later one tries to write all that waits.
  ** 64 MB at most; then, or when another has written meanwhile, the append fails. */
  bool hold;
  /* Set by who indexes: purging takes the words of what is purged out of the index. Without
  ** it, or when it gives another text than was indexed, a purge empties the whole index,
  ** which is then filled again. */
  np_doc_text_fn text;
  void *text_ctx;
  /* Set by who opens: new contents of 4 KB and more are compressed, where that saves a tenth and
  ** neap is built with zstd. What is compressed is read whether it is set or not. */
  bool compress;
};
/* Is neap built with what compresses? */
bool np_press_built(void);

/* Keeps everything in memory. */
neap_rc np_store_memory_open(const neap_alloc *a, np_store **out, np_err *e);

/* A SQLite file, made when absent (mode 0600; WAL). Errors, each naming the file and what to
** do: NEAP_E_FOREIGN another program's file, NEAP_E_NEWER a newer neap's, NEAP_E_CORRUPT,
** NEAP_E_READONLY, NEAP_E_FULL, NEAP_E_BUSY, NEAP_E_IO. Safe for several threads and many
** processes on one file. */
neap_rc np_store_sqlite_open(const neap_alloc *a, const char *path_cstr, bool readonly,
                             np_store **out, np_err *e);

/* Where that fails with `why`, and the host wants to go on all the same: a store in memory, 64 MB at
** most, that becomes the file's as soon as the file can be opened, which whoever writes or flushes
** tries. Set `hold`. Until then what may be in the file is not said to be missing: NEAP_E_NOTFOUND
** is `why` instead. A session that turns out to be in the file already is kept there under another
** name, and its claim is overtaken. Fails with `why` where that cannot pass: damage, a newer or
** another program's file, a path that can be no file's. */
neap_rc np_store_sqlite_away(const neap_alloc *a, const char *path_cstr,
                             const np_err *why, np_store **out, np_err *e);

#endif
