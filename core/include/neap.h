/*
** neap.h - the public interface of neap, a context engine for LLM agents.
**
** Reading order: versions and codes, memory, opening, sessions, the loop (append, prompt,
** response, calls), accounts, tokenizers. All names start with neap_ or NEAP_.
**
** Rules that hold everywhere:
**  - Text is a slice (neap_str) and need not end in NUL. Inputs are borrowed for the call.
**  - Functions that can fail return neap_rc; NEAP_OK is 0. The text of the last failure is
**    neap_error(n), its code and place neap_error_info(n), both valid until the next call.
**  - Structs of options are valid when zeroed and start with their own size.
**  - A `neap` may be shared by threads. A session is used by one thread at a time; breaking
**    that is NEAP_E_MISUSE. The library starts no thread, keeps no global, never aborts.
*/
#ifndef NEAP_H
#define NEAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NEAP_VERSION "0.1.0"
#define NEAP_POLICY_API 1

#if defined(__GNUC__)
#define NEAP_API __attribute__((visibility("default")))
#else
#define NEAP_API
#endif

/* ---- text and codes ------------------------------------------------------------------ */

typedef struct neap_str {
  const char *p;
  size_t n;
} neap_str;

/* Every code, with the short name that Lua returns as the third value and a default text.
** One table: the enum, the names in C and Lua, and the manual are made from it. */
#define NEAP_CODES(X)                                                                    \
  X(OK, "ok", "done")                                                                    \
  X(E_ARG, "arg", "an argument is out of range")                                         \
  X(E_MISUSE, "misuse", "the call is not allowed in this state")                         \
  X(E_MEMORY, "memory", "out of memory")                                                 \
  X(E_JSON, "json", "the input is not JSON")                                             \
  X(E_UTF8, "utf8", "the input is not UTF-8")                                            \
  X(E_SHAPE, "shape", "the JSON has not the shape of a message")                         \
  X(E_LIMIT, "limit", "the input exceeds a limit")                                       \
  X(E_CONFIG, "config", "window, reserve or an option make no sense together")           \
  X(E_FORMAT, "format", "the format is not built in")                                    \
  X(E_ENCODING, "encoding", "the encoding is not known")                                 \
  X(E_VOCAB, "vocab", "a vocabulary is missing or damaged")                              \
  X(E_BUDGET, "budget", "the prompt cannot be made to fit its budget")                   \
  X(E_POLICY, "policy", "the policy could not be loaded or failed")                      \
  X(E_IO, "io", "reading or writing failed")                                             \
  X(E_BUSY, "busy", "the store is locked by another process")                            \
  X(E_FULL, "full", "the disk is full")                                                  \
  X(E_READONLY, "readonly", "the store cannot be written")                               \
  X(E_CORRUPT, "corrupt", "the store is damaged")                                        \
  X(E_FOREIGN, "foreign", "the file is no neap store")                                   \
  X(E_NEWER, "newer", "the store was written by a newer neap")                           \
  X(E_FENCED, "fenced", "another process has taken over the session")                    \
  X(E_NOTFOUND, "notfound", "there is no such thing")                                    \
  X(E_PURGED, "purged", "the content was purged by its owner")                           \
  X(E_REFUSED, "refused", "the proposal breaks a rule of the state")                     \
  X(E_UNVERIFIED, "unverified", "the text says what its steps do not")                   \
  X(E_EXPIRED, "expired", "the artifact is older than it may be read")

typedef enum neap_rc {
#define NEAP_X(id, name, text) NEAP_##id,
  NEAP_CODES(NEAP_X)
#undef NEAP_X
      NEAP_RC_COUNT
} neap_rc;

NEAP_API const char *neap_rc_name(neap_rc rc); /* "budget"; never NULL */
NEAP_API const char *neap_rc_text(neap_rc rc); /* the default text; never NULL */
NEAP_API const char *neap_version(void);       /* "0.1.0" */

/* ---- memory -------------------------------------------------------------------------- */

/* The host's allocator. `realloc` is told the old size. All four may be called from any
** thread that uses the handle. A zeroed struct means the C library's. */
typedef struct neap_alloc {
  void *(*malloc)(void *ctx, size_t n);
  void *(*realloc)(void *ctx, void *p, size_t old, size_t n);
  void (*free)(void *ctx, void *p);
  void *ctx;
} neap_alloc;

/* ---- opening ------------------------------------------------------------------------- */

typedef struct neap neap;
typedef struct neap_session neap_session;

/* What a session does while the store cannot take what it appends: the disk is full, another
** process holds the lock, the file may not be written. */
typedef enum neap_store_failure {
  NEAP_STORE_STOP = 0, /* the call fails, and nothing has changed (default) */
  /* It goes on: what is appended waits in memory, 64 MB at most, and each later append and prompt
  ** tries to write all of it. Until then it would be lost with the process; every account says so
  ** (`store`: events and bytes that wait, and why), and neap_flush fails. What another process has
  ** written meanwhile comes first: then the session is fenced, and says how much is lost.
  ** A file that cannot be opened at all (its folder is missing, it may not be read, it is locked)
  ** is the same: everything goes on in memory, and is copied to the file by the first append, put or
  ** flush that can open it. Until then its other sessions are neither listed nor found nor said to
  ** be missing: such calls fail with why it cannot be opened. A session that was in the file
  ** already is not touched: what was said meanwhile is kept beside it as NAME~2, and its next
  ** append is NEAP_E_FENCED and says so. Damage, a newer neap's file and another program's fail */
  NEAP_STORE_HOLD
} neap_store_failure;

typedef struct neap_config {
  size_t size; /* sizeof(neap_config) */
  /* path of the store file; NULL or ":memory:" keeps nothing on disk */
  const char *store;
  const char *tenant; /* first part of every key; NULL is "" */
  /* folder of the vocabularies; NULL: NEAP_DATA, beside the library, the prefix; then, for
  ** imported ones, the user's */
  const char *data;
  neap_alloc alloc; /* zeroed: the C library's */
  int flags;        /* NEAP_READONLY … */
  neap_store_failure on_store_failure;
} neap_config;

#define NEAP_READONLY 1     /* open the store without writing to it */
#define NEAP_FIXED_SECRET 2 /* mark keys from a fixed secret: replays, tests */
/* contents of 4 KB and more are compressed (zstd) when they are put, where that saves a tenth: a
** third of the room for texts; reading is a third slower. Off by itself, since a neap that is built
** without zstd cannot read them. NEAP_E_CONFIG in such a one. What was compressed is read whether
** this is set or not */
#define NEAP_COMPRESS 4

/* Opens the engine. *n is set also on failure (unless out of memory), so that neap_error(*n)
** can tell why; close it in both cases. */
NEAP_API neap_rc neap_open(const neap_config *config, neap **n);
/* Closes all sessions and the store, and writes what is held back. The handle is gone also when that
** fails: then NEAP_E_FULL, _BUSY, _READONLY, _IO, _FENCED, …, and what waited is lost. Who can do
** something about it calls neap_flush first, which says why, and again. NULL is fine. */
NEAP_API neap_rc neap_close(neap *n);

typedef struct neap_err {
  neap_rc code;
  size_t pos; /* byte offset in the input, where there is one */
} neap_err;
/* text of the last failure, "" if none; n may be NULL */
NEAP_API const char *neap_error(const neap *n);
NEAP_API neap_err neap_error_info(const neap *n);

/* ---- sessions ------------------------------------------------------------------------ */

/* When a call that has returned is in the file. Whatever happens, calls are lost from the end
** backwards and each as a whole: the file stays sound, and an event is never there in part. */
typedef enum neap_durable {
  /* At once, unsynced: survives a kill of the process at any moment. A crash of the system, or
  ** loss of power, may undo the newest calls. The default */
  NEAP_DURABLE_PROCESS = 0,
  /* At once and synced to the disk, once a call: survives loss of power too */
  NEAP_DURABLE_POWER,
  /* At the latest before neap_prompt hands out a prompt: a kill loses what was appended since the
  ** last one. Also at neap_flush, at a close, and when 64 MB are held back */
  NEAP_DURABLE_BATCH,
  /* At neap_flush, at a close of a session or of the handle, when 64 MB are held back: a kill loses
  ** all since then. For those who would rather lose a run than wait for a disk */
  NEAP_DURABLE_MEMORY
} neap_durable;

/* Marks for a provider that keeps prefixes only where they are marked (Anthropic): at most four,
** where the next prompt finds them again. A host that brings marks of its own has only those. */
typedef enum neap_cache {
  NEAP_CACHE_SHORT = 0, /* for the shorter life, 5 minutes (default) */
  NEAP_CACHE_LONG,      /* for the longer life, an hour: writing costs more */
  NEAP_CACHE_NONE       /* none */
} neap_cache;

typedef struct neap_options {
  size_t size;        /* sizeof(neap_options) */
  const char *policy; /* path of a policy file; NULL: the empty policy */
  const char
      *format; /* "openai" (default), "responses", "anthropic", "gemini" or "text" */
  /* NULL: the model's, or the nearest to it. One that is named counts exactly */
  const char *encoding;
  int64_t window; /* tokens; 0: the model's where it is named, else 200,000 */
  /* tokens kept for the answer; 0: the smaller of 8,000 and window/8; -1: none */
  int64_t reserve;
  /* the policy's options as a JSON object; NULL: their defaults */
  const char *options_json;
  neap_durable durable;
  int flags; /* NEAP_NO_RELOAD, NEAP_NO_TOOLS, NEAP_NO_LOG, NEAP_UNCHECKED */
  /* the model's name, as the provider has it; NULL: any of those the format's provider
  ** serves. Decides encoding, factor, images, window. NEAP_E_CONFIG for one that is not
  ** known, when there is no `encoding` */
  const char *model;
  /* share of the budget: the account of the turn that rises over it has an `alarm`. 0: 0.7,
  ** -1: none */
  double alarm;
  /* whose prices and cache rules: a model's name; NULL: the `model`'s, or those of the newest
  ** that the format's provider has. They decide ctx.economy and what the account says of
  ** the cache. NEAP_E_CONFIG for one that is not known */
  const char *prices;
  neap_cache cache; /* NEAP_E_CONFIG for a longer life where the prices have none */
  /* turns in a row with a hook that fails, after which the policy is left out for 20 turns
  ** (or until it is changed). 0: 5, -1: never */
  int64_t failures;
  /* path of a policy that runs as a shadow from the first turn on, see neap_shadow; NULL: none.
  ** With its options as a JSON object */
  const char *shadow, *shadow_json;
  /* what the state object may be, as a JSON schema: see neap_state_propose. NULL: a resumed
  ** session keeps its own, another one has no such object */
  const char *state_schema;
  /* share of the budget that the state object may have in tokens, besides its 64 KiB. 0: 0.25,
  ** -1: any */
  double state_share;
} neap_options;

/* never look at the policy file again; the host calls neap_reload */
#define NEAP_NO_RELOAD 1
#define NEAP_NO_TOOLS 2 /* offer the model none of neap_read, neap_recall, neap_tools */
/* take the texts that hosts and policies write for steps as they are: the account says so */
#define NEAP_UNCHECKED 8
#define NEAP_NO_LOG 4 /* write nothing to the store: for replays; cannot be resumed */

/* Opens or resumes the session `name`. Options of a resumed session take effect from its
** next turn. Errors: NEAP_E_CONFIG, NEAP_E_FORMAT, NEAP_E_ENCODING, NEAP_E_POLICY, store. */
NEAP_API neap_rc neap_session_open(neap *n, const char *name, const neap_options *o,
                                   neap_session **s);
NEAP_API void neap_session_close(neap_session *s); /* NULL is fine */
NEAP_API neap *neap_session_engine(neap_session *s);

/* ---- stored sessions ----------------------------------------------------------------- */

/* A session of the handle's tenant, as the store has it. Slices are valid during the call. */
typedef struct neap_stored {
  neap_str name;
  int64_t events;
} neap_stored;
/* Returns 0 when it has seen enough. It must not use the handle. */
typedef int (*neap_stored_fn)(void *ctx, const neap_stored *one);
/* All of them, in the order of their names' bytes. */
NEAP_API neap_rc neap_session_list(neap *n, neap_stored_fn fn, void *ctx);

/* One event of a session's log. Head and body are what their kind has: of a "message" the body
** is the raw message, of a "turn" the head is its account, … Slices are valid during the call. */
typedef struct neap_event {
  int64_t seq; /* from 1, without gaps */
  const char *kind;
  neap_str head, body;
  int purged; /* the body was removed by its owner */
} neap_event;
typedef int (*neap_event_fn)(void *ctx, const neap_event *ev); /* 0: enough */
/* The events from `from` on. Errors: NEAP_E_NOTFOUND, NEAP_E_CORRUPT (the damaged event is named;
** those before it were given). */
NEAP_API neap_rc neap_session_events(neap *n, const char *name, int64_t from,
                                     neap_event_fn fn, void *ctx);

/* Where a copy ends; zeroed: nowhere, it has all. */
typedef struct neap_fork {
  size_t size;    /* sizeof(neap_fork) */
  int64_t turn;   /* as it was when the prompt of this turn had been made */
  int64_t events; /* or: the first so many events */
} neap_fork;
/* Makes session `name` of the beginning of `from`. It shares what is stored, has a writer of its
** own, and goes on as a session to which nothing more was appended: the same prompts, marks
** included. Errors: NEAP_E_NOTFOUND (no such session, turn or event), NEAP_E_MISUSE (`name` is
** there), NEAP_E_ARG, store. */
NEAP_API neap_rc neap_session_fork(neap *n, const char *from, const neap_fork *how,
                                   const char *name);

/* Removes a session for good: its events, their words in the index, and what of the tenant's
** contents no other session names. The file is made anew, so that no byte is left in it; after a
** kill meanwhile neap_store_vacuum does that. A record of the name stays. *events and
** *contents (each may be NULL) get how many went. Nothing tells whether another process still writes
** the session: if one does, its next append is NEAP_E_FENCED, also when the name is used again.
** Errors: NEAP_E_NOTFOUND, NEAP_E_MISUSE (it is open in this handle; a store in memory),
** NEAP_E_BUSY (removed, but a reader keeps an old copy in the -wal file), store. */
NEAP_API neap_rc neap_session_remove(neap *n, const char *name, int64_t *events,
                                     int64_t *contents);

/* Takes bytes; returns 0 when it could not. */
typedef int (*neap_write_fn)(void *ctx, neap_str bytes);
/* Writes a session as lines of JSON, one an event, whole lines at a time: all that is needed to
** go on with it in another store. NEAP_E_IO when `write` gives up. */
NEAP_API neap_rc neap_session_export(neap *n, const char *name, neap_write_fn write,
                                     void *ctx);
/* Makes a session of such lines: to the byte what was exported. `name` NULL: the one it had;
** `said` (may be NULL) is told which. All of it is checked first and written in one step; it is
** never written over a session. Errors: NEAP_E_SHAPE (also of a message, or an artifact that is not
** what its event says), NEAP_E_JSON, NEAP_E_UTF8, NEAP_E_CORRUPT (sums, hashes, gaps), NEAP_E_NEWER,
** NEAP_E_LIMIT, each with its line; NEAP_E_MISUSE (the name is taken). */
NEAP_API neap_rc neap_session_import(neap *n, neap_str text, const char *name,
                                     neap_write_fn said, void *ctx);
NEAP_API int neap_is_export(neap_str text); /* 1: it begins as such lines do */

/* What a replay has come to: `same` turns whose prompts are those that were sent, to the byte.
** When one is another, `turn` is which, `at` the first byte that differs, in what was sent and what
** it would be now; `cause` says in a line what may have done it. Valid during the call. */
typedef struct neap_replayed {
  int64_t same, turn; /* turn 0: all are the same */
  size_t at;
  neap_str was, is;
  const char *cause;
  int64_t unpinned; /* turns of an older log, which says no digest of its prompts */
} neap_replayed;
typedef void (*neap_replay_fn)(void *ctx, const neap_replayed *r);
/* Runs a stored session again, from its log alone: its messages, answers, times and usage, and the
** policies as they were. First each prompt is made from what the log says was decided, and held
** against its digest; then the policy decides again. Stops at the first prompt that is another.
** Nothing is written. Errors: NEAP_E_NOTFOUND, NEAP_E_CORRUPT, NEAP_E_PURGED, …; NEAP_E_MISUSE for
** a session that was rolled back: only the part before that is run again. */
NEAP_API neap_rc neap_session_replay(neap *n, const char *name, neap_replay_fn fn,
                                     void *ctx);

/* Copies a session to another handle's store, under its name. Errors as for fork; both stores'. */
NEAP_API neap_rc neap_session_copy(neap *n, const char *name, neap *to);

/* ---- the store ----------------------------------------------------------------------- */

/* Writes what NEAP_DURABLE_BATCH and NEAP_DURABLE_MEMORY hold back, and what waits for the store
** (NEAP_STORE_HOLD), of all sessions. NEAP_OK: all of it is in the file. */
NEAP_API neap_rc neap_flush(neap *n);

/* Looks at all of the store: its structure, gaps in logs, sums of heads, every body against its
** hash, the index of words. A line for each fault; NEAP_E_CORRUPT when there was one. */
NEAP_API neap_rc neap_store_check(neap *n, neap_write_fn line, void *ctx);
/* What it holds, as a JSON object: version, page_size, pages, free_pages, and for each of
** `tenants` sessions, events, heads and bodies (bytes in events' rows), contents and content_bytes,
** references to them and the bytes `referenced` by those, what they take in rows and pieces,
** purged, indexed. */
NEAP_API neap_rc neap_store_stats(neap *n, neap_write_fn write, void *ctx);
/* Removes contents that nothing refers to, and makes the file as small as it can be. */
typedef struct neap_swept {
  int64_t contents, bytes; /* removed */
  int64_t before, after;   /* bytes of the file */
} neap_swept;
NEAP_API neap_rc neap_store_vacuum(neap *n, neap_swept *out);
/* Copies the store to a new file while others write: it holds one state of it, all that had been
** written when the copy began. It is made as `path`.part, and has its name when it is whole.
** NEAP_E_IO: one of the two is there already, or cannot be made. */
NEAP_API neap_rc neap_store_backup(neap *n, const char *path);

/* ---- what the host supplies ---------------------------------------------------------- */

/* Tool schemas (a JSON array as the provider takes it) and the request's other members (an
** object: model, stream, …). Both before the first prompt; bytes are passed on as they are. A
** resumed session has its own: the same bytes may be given again, others are NEAP_E_MISUSE. */
NEAP_API neap_rc neap_set_tools(neap_session *s, neap_str tools_json);
NEAP_API neap_rc neap_set_request(neap_session *s, neap_str members_json);

/* ---- the loop ------------------------------------------------------------------------ */

/* Appends one message (raw JSON) in its provider's own form: a chat message, an Anthropic
** message of content blocks, an item of Responses, a Gemini content. Its own members say which
** it is; one that is of two forms is refused by name, and a plain text is of the session's.
** Whatever the form, it can be rendered in every format; untouched messages go out byte for
** byte in their own.
**
** Or a block that is no provider's: {"kind": "memory", "content": "…"}, a text that the host
** knows from elsewhere. It goes as a user text, as it is. A `state` takes the place of the last
** one, `memory` lasts, `evidence` was found for this step, a `notice` says what has happened.
** Each stands behind what is there until the prompt is written anew; then state (the newest
** alone) and memory stand behind the task, in the order of the policy's `layout`, and evidence
** and notices where its `place` says. What is acknowledged survives as `durable` says. Errors: NEAP_E_JSON,
** NEAP_E_UTF8, NEAP_E_SHAPE, NEAP_E_LIMIT; then nothing changed. */
NEAP_API neap_rc neap_append(neap_session *s, neap_str message_json);

/* Tells the time, in milliseconds since 1970, before a prompt. The engine reads no clock: a
** policy sees this as ctx.now, and the time between two prompts says whether the provider's
** cache has forgotten the last one. It is in the log. NEAP_E_ARG: before what was told last. */
NEAP_API neap_rc neap_set_now(neap_session *s, int64_t ms);

/* Assembles the next turn and gives the whole request body (for `text`: the prompt), valid
** until the next call on `s`. NEAP_E_BUDGET: nothing fits; neap_account says by what.
** NEAP_E_MISUSE before the first message. */
NEAP_API neap_rc neap_prompt(neap_session *s, neap_str *body);

/* Appends the provider's response body, verbatim: Chat Completions, Anthropic, Responses (each
** item of `output`) or Gemini (`candidates[0]`). The usage in it is compared with the count
** of the last prompt: for a model without a public vocabulary it corrects the factor, for
** others the difference is told in the account (`drift`). */
NEAP_API neap_rc neap_append_response(neap_session *s, neap_str response_json);

/* A call that the last response made. Slices are valid until the next append on `s`. */
typedef struct neap_call {
  int64_t entry; /* the call's entry id */
  neap_str id;   /* the provider's id of it */
  neap_str name;
  neap_str arguments; /* JSON text as the model wrote it */
} neap_call;

/* Takes the next unanswered call of the last response: 1 with *c filled, 0 when there is none. A
** call that the model makes through neap_tools has the name and arguments of the tool called. */
NEAP_API int neap_next_call(neap_session *s, neap_call *c);
/* 1 when the call is the host's to run, 0 when the engine has answered it (neap_read, …). */
NEAP_API int neap_handle(neap_session *s, const neap_call *c);
/* Appends the result of a call: plain text, any bytes. */
NEAP_API neap_rc neap_append_result(neap_session *s, const neap_call *c, neap_str text);

/* Puts texts in place of pointers: of the call's arguments every string that is all `neap:17`, or
** `neap:17#41-380` with a part as neap_read takes it, becomes the text of that entry of this
** session. So a result goes from tool to tool without the model reading it. Other strings stay as
** they are, and arguments without pointers are given back as they came; `resolved` is valid until
** the next call on `s`. Entries of other sessions, and system rules, are not pointed at. Errors:
** NEAP_E_NOTFOUND, NEAP_E_EXPIRED, NEAP_E_PURGED, NEAP_E_ARG (a part of no known form),
** NEAP_E_LIMIT (64 MB), store; neap_error is then what the model may be told as the result. */
NEAP_API neap_rc neap_resolve(neap_session *s, neap_str arguments, neap_str *resolved);

/* An entry in the text of an ask: its bytes from..to, without the last. */
typedef struct neap_ask_part {
  int64_t entry, step;
  const char *kind; /* "user", "text", "thought", "call", "result", … */
  size_t from, to;
} neap_ask_part;

/* What a policy's `compact` asks the host's model, and sleeps for. */
typedef struct neap_ask {
  int64_t id;
  const char *kind; /* "summary": text is what to summarize; "ask": text is a prompt */
  neap_str text;    /* a summary's: the steps, each after a line `[step n]` */
  int64_t max_tokens;
  neap_str
      notes; /* the texts of the summaries that the new one takes the place of, or empty */
  const neap_ask_part *parts; /* what stands where in a summary's text */
  size_t part_count;
} neap_ask;

/* Gives the open ask, of several the first: 1 with *a filled, 0 when there is none. Asks come up
** in neap_prompt, which never waits for them. The text is valid until the next call on `s`. */
NEAP_API int neap_ask_next(neap_session *s, neap_ask *a);
/* The first open ask whose id is greater than `after`: for hosts that answer several at a time.
**
**   for (neap_ask a = {0}; neap_ask_after(s, a.id, &a);) send_to_model(a.id, a.text);  */
NEAP_API int neap_ask_after(neap_session *s, int64_t after, neap_ask *a);
/* Answers it, now or many turns later: UTF-8 of at most 65,536 bytes; a text with p = NULL
** is neap_refuse with "refused". The policy goes on at the next prompt at which nothing that it
** waits for is open. Errors: NEAP_E_NOTFOUND (answered, timed out or cancelled meanwhile),
** NEAP_E_UTF8, NEAP_E_LIMIT; then the ask is as it was. NEAP_E_UNVERIFIED: the text for a summary has
** a number, a name or a path that neither the steps have nor notes, user, state and rules of the
** prompt (numbers of steps, of lists and of notes aside); neap_error names the first, and may be
** told to the model, which is asked once more. The second time the policy is told that there is
** no summary. NEAP_UNCHECKED takes every text. */
NEAP_API neap_rc neap_answer(neap_session *s, int64_t ask, neap_str text);
/* Says that there is no answer and why, which the policy is told: `code` is "refused", "error",
** "timeout" or "cancelled". An ask that is still open after as many turns as its policy waits (20)
** is refused so by itself. Errors: as neap_answer, and NEAP_E_ARG. */
NEAP_API neap_rc neap_refuse(neap_session *s, int64_t ask, const char *code,
                             neap_str why);

/* Says why an answer was looked at and will not be given: `faults` is a JSON array of objects of at
** most 65,536 bytes, which the log keeps (event "check"); the account counts it (`checks`). The ask
** stays open. Errors: NEAP_E_NOTFOUND as neap_answer, NEAP_E_ARG (no such array), NEAP_E_LIMIT. */
NEAP_API neap_rc neap_ask_faults(neap_session *s, int64_t ask, neap_str faults);

/* Every ask of the session so far with its answer, as its log has them: a JSON array of objects
** with ask (its id), kind, step, max_tokens, sha256 of its text, and answer, or code and why
** there is none; neither while it is open; `failed` where a model was given up, after which it is
** left in peace. Valid until the next call on `s`. */
NEAP_API neap_rc neap_asks(neap_session *s, neap_str *json);

/* Looks at the policy file now. NEAP_E_POLICY: the old version keeps serving. */
NEAP_API neap_rc neap_reload(neap_session *s);

/* Runs another policy beside the session's own, on the same messages: it decides and renders
** every turn from now on, nothing of it is sent, and no prompt of the session is another for it.
** From the turn that follows the account has `shadow`: what its prompt would have had in tokens
** and cost, and how much that is more. It begins with everything in full, as if the history so
** far had just come in. `options_json` are its options, NULL: defaults. `path` NULL ends it.
** What its `compact` asks a model is refused: `nil, "a shadow asks no model"`. One that runs out
** of memory ends, and the account says so. Not kept with the session: opening it again begins
** anew. Errors: NEAP_E_POLICY (a shadow before it goes on). */
NEAP_API neap_rc neap_shadow(neap_session *s, const char *path, const char *options_json);

/* What the shadow has come to, as a JSON object: policy, policy_sha256, turns, and for both
** policies tokens, cost, epochs, overflow and the facts that later steps used, in all and those
** that were gone; "{}" without one. Valid until the next call on `s`. */
NEAP_API neap_rc neap_shadow_account(neap_session *s, neap_str *json);

/* ---- accounts ------------------------------------------------------------------------ */

/* The last turn as one JSON object: tokens, exact, budget, regions, epoch, changes; where not
** exact factor, estimate (tokens x factor, at most the budget) and margin; drift once a
** response has told its usage; cached (shared with the last prompt), billed_cached and written
** (of that, what the provider's rules read from its cache, and what they keep for the next
** prompt), cold when the cache had forgotten all; growth and steps_left once growth is known;
** left_out, how many thoughts and items of another provider so far this format has no place
** for; repaired, what was done to new entries that the provider would have refused; after
** NEAP_E_BUDGET also `overflow`, with the single changes of which each would help. Valid until
** the next call on `s`. */
NEAP_API neap_rc neap_account(neap_session *s, neap_str *json);

/* The original text of an entry, whatever is shown of it. Valid until the next call on `s`.
** Errors: NEAP_E_NOTFOUND, NEAP_E_PURGED. */
NEAP_API neap_rc neap_entry_text(neap_session *s, int64_t entry, neap_str *text);

/* ---- the state object ---------------------------------------------------------------- */

/* What must not drift (goal, constraints, what is done, what waits) is one object of plain data.
** Its schema is an option of the session, in words of JSON Schema: type (string, number, integer,
** boolean, array, object, and neap's own id), properties, required, items, additionalProperties,
** enum, minimum, maximum, minLength, maxLength, minItems, maxItems; and neap's own: `writers`, who
** may change what stands there and below (user, controller, model, policy; a tool only where it is
** named), `hard`: true, which the user alone changes, and `kind`: "pending" or "blocked", a list
** from which nothing goes without a reason. What it does not list is refused.
**
** A change is proposed, checked path by path, and taken whole or not at all. Each taken one is a
** version, in the log with who, why and what it rests on. It is shown as an entry of kind `state`,
** which says what has changed in operations of a patch (the first one: the whole), behind what is
** there; when the prompt is written anew the newest stands in its region, whole, alone. */
typedef struct neap_proposal {
  size_t size;     /* sizeof(neap_proposal) */
  const char *who; /* "user", "controller", "model", "tool" or "policy" */
  /* JSON, at most 262,144 bytes: an object of what to set, in which null takes away (a merge patch,
  ** RFC 7396), or a list of at most 256 operations {"op":"add"|"replace"|"remove"|"test",
  ** "path":"/pending/-","value":…} */
  neap_str patch;
  neap_str reason; /* UTF-8, at most 1,000 bytes; empty: none */
  int64_t source;  /* the entry that it rests on; 0: none */
  /* taken only if the newest version is this one; 0: whatever it is; -1: if there is none */
  int64_t if_version;
} neap_proposal;

/* Proposes a change. *answer (may be NULL) gets {"committed":true,"version":4,"entry":17}, or
** {"committed":false,"version":3,"faults":[{"path":"/max_price","what":"…"}]}, valid until the next
** call on `s`. A patch that changes nothing makes no version. Errors: NEAP_E_REFUSED (nothing has
** changed; the refusal is in the log), NEAP_E_MISUSE (no schema), NEAP_E_ARG, store. */
NEAP_API neap_rc neap_state_propose(neap_session *s, const neap_proposal *p,
                                    neap_str *answer);
/* The state that a session begins with, when it was another session's: an object of the same schema,
** whole. Types, ranges and what is required are checked, who may write is not: it was asked there.
** Errors: NEAP_E_REFUSED, NEAP_E_MISUSE (there is a version already; no schema), NEAP_E_ARG, store. */
NEAP_API neap_rc neap_state_begin(neap_session *s, neap_str json, neap_str reason);
/* The state of a version (0: the newest) as JSON, members in the schema's order. Valid until the
** next call on `s`. NEAP_E_NOTFOUND: there is no such version, or none yet. */
NEAP_API neap_rc neap_state_get(neap_session *s, int64_t version, neap_str *json);
/* All proposals so far, as a JSON array: who, version, entry, source, step, reason, patch; a refused
** one has refused:true and faults, one that was rolled back void:true. */
NEAP_API neap_rc neap_state_history(neap_session *s, neap_str *json);
/* What lies between two versions (0: nothing yet), as [{"path","from","to"}, …]. */
NEAP_API neap_rc neap_state_diff(neap_session *s, int64_t from, int64_t to,
                                 neap_str *json);

/* ---- checkpoints --------------------------------------------------------------------- */

/* Marks where the session stands, under a name of at most 200 bytes; the newest of a name counts.
** It is in the log. NEAP_E_MISUSE: a call has no result yet; a session that writes no log. */
NEAP_API neap_rc neap_checkpoint(neap_session *s, const char *name);

/* Goes back to a checkpoint, or with `name` NULL to behind an entry, the last of its message. From
** now on the session is what it would be had nothing come since, state object, policy's state and
** all, but for a notice that says what was tried, why it is void, and not to do it again; notices of
** earlier rollbacks stay, too. What is void keeps its ids and can be read by them, and is found by
** no search of the session. The next prompt is an epoch of its own. Both survive a kill together.
** `reason` has at most 400 bytes. Errors: NEAP_E_NOTFOUND (no such checkpoint, or it is void itself),
** NEAP_E_MISUSE (a call is open there; nothing has come since; no log), NEAP_E_ARG, store. */
NEAP_API neap_rc neap_rollback(neap_session *s, const char *name, int64_t entry,
                               neap_str reason);

/* ---- refutation ---------------------------------------------------------------------- */

/* What an entry has shown, or with `entry` 0 all that a step has so far, is wrong. A notice says so
** to the model; a summary that comes to stand for it repeats it as a line. A later step that uses a
** fact (see the citations of the manual) of which every source is refuted is counted: the account
** has `pollution` {"refuted","steps","uses":[{"entry","step","source","text"}]}, with the uses since
** the last turn, and `state` [{"path","entry","source"}], values of the state object that rest on it
** and were not set anew. `reason` has 1 to 400 bytes. Errors: NEAP_E_NOTFOUND, NEAP_E_ARG, store. */
NEAP_API neap_rc neap_refute(neap_session *s, int64_t step, int64_t entry,
                             neap_str reason);
/* All of them, as a JSON array: step, entry, notice (the entry that says so), reason, and `line`, for
** notes. Valid until the next call on `s`. */
NEAP_API neap_rc neap_refutations(neap_session *s, neap_str *json);

/* ---- the scratchpad ------------------------------------------------------------------ */

/* Where conclusions wait that nobody has verified: in the log, and in no prompt. Code looks at each
** and passes it, or rejects it. What is passed becomes an entry that says who verified it and which
** entry it is from, or with a patch a version of the state object; then it is a fact like any. The
** model notes by the tool neap_scratch (a policy asks for it: tools = {"scratch"}), a policy by
** ctx:scratch. It is kept with the session, and a rollback takes it back like the rest. */
typedef struct neap_scratch {
  size_t size;     /* sizeof(neap_scratch) */
  const char *who; /* "user", "controller", "model", "tool" or "policy" */
  neap_str text;   /* UTF-8, 1 to 4,096 bytes */
  /* JSON, at most 4,096 bytes, or empty: proposed on behalf of `who` when the text is passed */
  neap_str patch;
  int64_t source; /* the entry it rests on; 0: none */
} neap_scratch;

/* Puts a conclusion there; *id (may be NULL) is its number. Errors: NEAP_E_ARG, NEAP_E_MISUSE (a
** patch, and no state object), NEAP_E_LIMIT (256 wait already), store. */
NEAP_API neap_rc neap_scratch_put(neap_session *s, const neap_scratch *p, int64_t *id);
/* It is verified. `who` decides: user, controller or policy. `into` is "evidence" (or NULL) or
** "memory"; *entry (may be NULL) is what it became, 0: a patch that changes nothing. Errors:
** NEAP_E_NOTFOUND (nothing of that number waits), NEAP_E_ARG, NEAP_E_REFUSED (its source is refuted
** or void; the state refuses the patch) and then it waits on; store. */
NEAP_API neap_rc neap_scratch_pass(neap_session *s, int64_t id, const char *who,
                                   neap_str reason, const char *into, int64_t *entry);
/* It is not; `reason` has 1 to 400 bytes. */
NEAP_API neap_rc neap_scratch_reject(neap_session *s, int64_t id, const char *who,
                                     neap_str reason);
/* All of it, as a JSON array: id, who, source, step, text, patch; status ("waiting", "passed",
** "rejected"), by, reason, entry. Valid until the next call on `s`. */
NEAP_API neap_rc neap_scratch_list(neap_session *s, neap_str *json);

/* ---- phases -------------------------------------------------------------------------- */

/* A part of the work begins: from the next step on. A policy sees it (ctx:phase, ctx:due), the account
** has `phase` {"name","from"}. The one that goes on already does not begin again. The name has 1 to
** 200 bytes of UTF-8. Errors: NEAP_E_ARG, store. */
NEAP_API neap_rc neap_phase(neap_session *s, const char *name);

/* ---- finding again ------------------------------------------------------------------- */

/* An entry that a search found. Slices are valid during the call that gives it. */
typedef struct neap_hit {
  neap_str session;
  int64_t entry, step;
  double score;     /* falls from hit to hit; comparable within one search only */
  neap_str snippet; /* one line of at most some 160 characters, where the words stand */
  int voided;       /* it was rolled back later: no fact of its session */
} neap_hit;
typedef void (*neap_hit_fn)(void *ctx, const neap_hit *hit);

/* Searches the results, calls and texts of a session, and blocks of kind evidence and memory, by
** words: names and paths as they are written or by their parts, CJK text by any two characters.
** State, notices, summaries and artifacts are not searched. What an earlier neap has indexed is not indexed
** again: of its blocks only later ones are found. Best first: what holds all words
** before what holds some, more for what is rare, new, or was cited. Any text is a query; one
** that nothing holds gives no hit. What was rolled back is left out. `k` hits at most (0: 10; 100 at most). `fn` must not use
** the session. Errors: NEAP_E_ARG, NEAP_E_LIMIT (this SQLite is built without FTS5), store. */
NEAP_API neap_rc neap_session_recall(neap_session *s, neap_str query, size_t k,
                                     neap_hit_fn fn, void *ctx);
/* The same in the store: all sessions of the handle's tenant, or the one that is named. What
** other writers have added is indexed first, which takes a while for old stores. What was rolled
** back is found, and marked. Errors
** besides: NEAP_E_NOTFOUND (no such session; an older store opened for reading, which has no
** index), NEAP_E_READONLY (opened for reading, and something is not indexed yet). */
NEAP_API neap_rc neap_recall(neap *n, const char *session, neap_str query, size_t k,
                             neap_hit_fn fn, void *ctx);

/* Reads a part of an entry again, as the tool neap_read does: `id` is "17", or "SESSION/17" of
** another session of the tenant; `part` is empty (all), "41-380", "head 50", "tail 50", "ends 50",
** "match REGEX", "errors", "json $.a[0]", "rows 1-20", "section TITLE", "outline" or "about WORDS".
** The text begins with a line that says where it is from (id, lines, hash, what made it) and ends
** with one that says what remains; of the part at most `tokens` tokens (0: no limit). Valid until
** the next call on `s`. Errors: NEAP_E_ARG, NEAP_E_NOTFOUND, NEAP_E_EXPIRED, NEAP_E_PURGED,
** NEAP_E_LIMIT (a pattern that takes too long), NEAP_E_SHAPE (rows of what is no table), store. */
NEAP_API neap_rc neap_read(neap_session *s, neap_str id, neap_str part, size_t tokens,
                           neap_str *text);

/* ---- artifacts ----------------------------------------------------------------------- */

/* A file or a large result that the host keeps in the store: an entry of a session that no
** prompt shows. It is read by its id and locally, by lines or bytes, however large it is. The
** same bytes are kept once per tenant. */
typedef enum neap_artifact_state {
  NEAP_ARTIFACT_THERE = 0,
  NEAP_ARTIFACT_EXPIRED, /* its time is over: make it again */
  NEAP_ARTIFACT_PURGED   /* its owner has removed the bytes */
} neap_artifact_state;

typedef struct neap_artifact {
  size_t size; /* sizeof(neap_artifact) */
  /* what made it, by which query or arguments, of which path, and what kind of thing it is.
  ** UTF-8 of at most 65,536 bytes each, or empty */
  neap_str tool, query, path, kind;
  /* milliseconds since 1970 at which it was made; 0: as neap_set_now has told the session, or
  ** not known */
  int64_t made;
  /* seconds from then on in which it may be read; 0: no end. Needs `made` */
  int64_t ttl;
  /* what follows is told of one that is kept, and not looked at when it is put */
  neap_str session; /* whose entry it is; */
  int64_t id;       /* and that entry's id */
  int64_t bytes, lines;
  neap_str sha256; /* of the bytes, as 64 hexadecimal digits */
  neap_artifact_state state;
  int64_t at; /* where the bytes that are given begin in the whole */
} neap_artifact;

/* What of it is wanted: lines first_line..last_line, counted from 1, both included, or the bytes
** [from, to). An end of 0 is that of the whole, all zero the whole. What is outside is left out. */
typedef struct neap_window {
  size_t size; /* sizeof(neap_window) */
  int64_t first_line, last_line;
  int64_t from, to;
  /* the time by the host's clock, as for neap_set_now, against which a ttl is held; 0: not
  ** known, and only what a session was told counts */
  int64_t now;
} neap_window;

/* Called once for an artifact. What it gets is valid during the call; it must not use `n`'s
** store. `bytes` is empty in a list. */
typedef void (*neap_artifact_fn)(void *ctx, const neap_artifact *a, neap_str bytes);

/* Puts bytes (any, at most 64 MB) as an entry of an open session; *id gets its id. `a` may be
** NULL. It is in the store as the session's `durable` says. Errors: NEAP_E_ARG (a ttl without a
** time, a text too long), NEAP_E_UTF8, NEAP_E_LIMIT, NEAP_E_MISUSE (a session without a log),
** store; then nothing changed. */
NEAP_API neap_rc neap_session_put(neap_session *s, neap_str bytes, const neap_artifact *a,
                                  int64_t *id);
/* A window (NULL: all) of an artifact, or of any other entry's text, valid until the next call on
** `s`. Errors as neap_artifact_get. */
NEAP_API neap_rc neap_session_get(neap_session *s, int64_t entry, const neap_window *w,
                                  neap_str *text);
/* Puts into the store, as neap_session_put does: into the session of that name, made when there
** is none; NULL: "files". One that is open elsewhere is taken over by this, as by opening it; one
** that is open in this handle: NEAP_E_MISUSE. Several may put into one session at the same
** time. */
NEAP_API neap_rc neap_artifact_put(neap *n, const char *session, neap_str bytes,
                                   const neap_artifact *a, int64_t *id);
/* Gives an artifact, or any other entry by its text: `w` of it (NULL: all). The bytes are
** verified. Errors: NEAP_E_NOTFOUND (no such session or entry), NEAP_E_EXPIRED (the text says
** what made it), NEAP_E_PURGED, store. */
NEAP_API neap_rc neap_artifact_get(neap *n, const char *session, int64_t id,
                                   const neap_window *w, neap_artifact_fn fn, void *ctx);
/* Tells of every artifact of the session (NULL: of all of the tenant's), by session and id.
** `now` as in neap_window. */
NEAP_API neap_rc neap_artifact_list(neap *n, const char *session, int64_t now,
                                    neap_artifact_fn fn, void *ctx);
/* Purges its bytes, and their words in the index, from all of the tenant's sessions that hold the
** same; the entries stay as the record of what there was. Other tenants' copies are their own. The
** file is made anew, so that no byte is left in it: that takes as long, and as much free room, as
** neap_store_vacuum. Errors: NEAP_E_NOTFOUND (no such artifact), NEAP_E_BUSY (purged, but another
** process still reads an old copy), store. The text says when it is purged but old copies may be
** left, as they may after a kill: do it again, or neap_store_vacuum. */
NEAP_API neap_rc neap_artifact_remove(neap *n, const char *session, int64_t id);

/* Lets go of the bytes of every artifact of the tenant whose time is over at `now`, unless another
** holds the same; *count (may be NULL) gets how many. A neap_store_vacuum then gives the room
** back. */
NEAP_API neap_rc neap_artifact_expire(neap *n, int64_t now, int64_t *count);

/* ---- tokenizers ---------------------------------------------------------------------- */

typedef struct neap_encoding neap_encoding;

/* The encoding `name`, loaded once per engine and never freed before it. */
NEAP_API neap_rc neap_encoding_get(neap *n, const char *name, const neap_encoding **enc);
/* Hands over a vocabulary as the bytes of its file, compact or ready; from then on its
** encoding is there under its name. The bytes of a ready file are used where they lie and must
** stay as they are until neap_close; `enc` may be NULL. Errors: NEAP_E_VOCAB (damaged, or of
** another version), NEAP_E_MISUSE (an encoding of that name is loaded), NEAP_E_MEMORY. */
NEAP_API neap_rc neap_encoding_add(neap *n, neap_str bytes, const neap_encoding **enc);
/* Tokens of any bytes. Input that is not UTF-8 is counted byte for byte. Linear time. */
NEAP_API size_t neap_count(const neap_encoding *enc, neap_str text);

/* Bytes of the longest beginning of `text`, or end with NEAP_FIT_END, that has at most `tokens`
** tokens when counted alone and is cut between characters, or at the borders that are asked
** for; 0 when none fits. A character is not cut in two, nor with NEAP_FIT_GRAPHEMES what a
** reader takes for one (UAX 29); with NEAP_FIT_LINES the cut is behind a newline. */
NEAP_API size_t neap_token_fit(const neap_encoding *enc, neap_str text, size_t tokens,
                               int flags);
#define NEAP_FIT_END 1
#define NEAP_FIT_GRAPHEMES 2
#define NEAP_FIT_LINES 4

/* The exact count of a text that arrives bit by bit, as a stream does: after each add it is
** what neap_count gives for all bytes so far. Bytes may be cut anywhere, inside characters
** too. What later bytes cannot change is not kept: a counter holds the last piece of the text
** (a word, a run of white space or symbols, mostly a few bytes), 5 bytes for each of its
** bytes, and up to 64 kB more during an add. One thread at a time.
**
**   neap_counter *c;
**   if (neap_counter_new(enc, &c)) return out_of_memory();
**   while (read_chunk(&chunk) && !neap_counter_add(c, chunk)) show(neap_counter_tokens(c));
**   neap_counter_free(c);                                                                */
typedef struct neap_counter neap_counter;

/* The counter of the empty text; freed by the caller, before the encoding's engine is closed.
** Errors: NEAP_E_ARG, NEAP_E_MEMORY. */
NEAP_API neap_rc neap_counter_new(const neap_encoding *enc, neap_counter **c);
/* Appends any bytes. Time is linear in all bytes added, however they are cut.
** NEAP_E_MEMORY: the counter takes nothing more until it is reset. */
NEAP_API neap_rc neap_counter_add(neap_counter *c, neap_str bytes);
/* The tokens of the whole text so far; 0 for NULL. */
NEAP_API size_t neap_counter_tokens(const neap_counter *c);
/* Back to the empty text. */
NEAP_API void neap_counter_reset(neap_counter *c);
/* A second counter of the same text, to try how it could go on: as cheap as the last piece is
** short. Errors: as neap_counter_new. */
NEAP_API neap_rc neap_counter_copy(const neap_counter *c, neap_counter **copy);
NEAP_API void neap_counter_free(neap_counter *c); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
