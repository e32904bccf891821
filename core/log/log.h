/*
** The session's history in memory: messages as the raw bytes that came in, cut into entries
** (one part of a message each), grouped into atoms, calls paired with results by occurrence.
** Append-only: nothing here is ever changed or removed. next: shape.c, parse.c, parse_block.c,
** open.c, log.c, fold.c, keep.c, mirror.c, void.c
*/
#ifndef NP_LOG_LOG_H
#define NP_LOG_LOG_H

#include "base/json.h"

/* Every kind with its name. */
#define NP_KINDS(X)                                                                      \
  X(SYSTEM, "system")                                                                    \
  X(TOOLS, "tools")                                                                      \
  X(USER, "user")                                                                        \
  X(TEXT, "text")                                                                        \
  X(THOUGHT, "thought")                                                                  \
  X(CALL, "call")                                                                        \
  X(RESULT, "result")                                                                    \
  X(IMAGE, "image")                                                                      \
  X(FILE, "file")                                                                        \
  X(STATE, "state")                                                                      \
  X(SUMMARY, "summary")                                                                  \
  X(MEMORY, "memory")                                                                    \
  X(EVIDENCE, "evidence")                                                                \
  X(NOTICE, "notice")                                                                    \
  X(LOG, "log")

typedef enum np_kind {
#define NP_X(id, name) NP_KIND_##id,
  NP_KINDS(NP_X)
#undef NP_X
      NP_KIND_COUNT
} np_kind;

const char *np_kind_name(np_kind k);
/* State, memory, evidence, notice: a message of its own that the host gives by kind. */
bool np_log_is_block(np_kind kind);
bool np_kind_parse(np_str name, np_kind *out);

typedef enum np_region {
  NP_REGION_FIXED,
  NP_REGION_TASK,
  NP_REGION_MEMORY,
  NP_REGION_WARM,
  NP_REGION_STATE,
  NP_REGION_HOT,
  NP_REGION_COUNT
} np_region;
const char *np_region_name(np_region r);

/* What a result's text says in place of an image or file in it; the log keeps the bytes. */
#define NP_RESULT_OMITTED "(an image or file, not shown here)"

typedef enum np_role {
  NP_ROLE_SYSTEM,
  NP_ROLE_DEVELOPER,
  NP_ROLE_USER,
  NP_ROLE_ASSISTANT,
  NP_ROLE_TOOL,
  NP_ROLE_FUNCTION,
  NP_ROLE_COUNT
} np_role;
const char *np_role_name(np_role r);

/* Whose form a message has. Entries are free of it; only a renderer of the same form copies
** their bytes, the others write them anew. */
typedef enum np_shape {
  NP_SHAPE_CHAT,      /* Chat Completions, and neap's native form */
  NP_SHAPE_ANTHROPIC, /* Messages: content blocks */
  NP_SHAPE_RESPONSES, /* items of Responses: one item is one message here */
  NP_SHAPE_GEMINI,    /* contents with parts */
  NP_SHAPE_COUNT
} np_shape;
const char *np_shape_name(np_shape s);

/* Where in its message an entry's bytes stand. */
typedef enum np_place {
  NP_PLACE_CONTENT,   /* the content string, or a result's whole content */
  NP_PLACE_PART,      /* one item of the content array, or of `parts` */
  NP_PLACE_ITEM,      /* the whole message is the entry */
  NP_PLACE_REASONING, /* the reasoning member */
  NP_PLACE_CALL,      /* one item of tool_calls */
  NP_PLACE_FUNCTION,  /* the older function_call member */
  NP_PLACE_REFUSAL    /* the refusal member */
} np_place;

typedef struct np_entry {
  int64_t id; /* from 1, dense: its sequence number among the session's entries */
  int64_t
      key; /* its id in the index of citations: the same, but in a mirror; 0: not there */
  np_kind kind;
  np_region region;
  np_place place;
  uint32_t message; /* index into messages */
  uint32_t index;   /* of the item in content or tool_calls */
  uint32_t atom;    /* index into atoms */
  int64_t step;
  np_json raw;    /* the value that holds it */
  np_str text;    /* decoded: text, a call's arguments, a result's joined text */
  np_str tool;    /* call: its function; result: that of its call; else empty */
  np_str call_id; /* of a call or result */
  /* first path-like string argument of the call (also on its result) */
  np_str path;
  int64_t pair;  /* call <-> result, 0 while there is none */
  int64_t next;  /* next entry of its atom, 0 for the last */
  int64_t waits; /* next call that waits under the same id; open.c */
  uint32_t fold; /* a summary: its fold, counted from 1; else 0 */
  /* how many calls before it in its message have the same id (a result: its call's figure);
  ** providers refuse such twins, so that they go out under ids of their own */
  uint32_t twin;
  bool is_error; /* a result that says it failed */
  bool empty;    /* has nothing to show: an empty text block */
  bool opaque;   /* only its own provider can read it; full or dropped */
  bool by_name;  /* call or result without an id: pairs by the function's name */
  bool again;    /* a call whose id an earlier call had */
  bool apart;  /* a file of the host's: its bytes are in the store, no prompt shows it */
  bool loose;  /* a thought that its provider has not signed, and would not take back */
  bool voided; /* rolled back: its kind is LOG, and `was` what it was; void.c */
  np_kind was;
} np_entry;

typedef struct np_message {
  np_str raw; /* the whole object, as it came */
  np_json json;
  np_role role;
  np_str name; /* decoded `name`, empty when none */
  np_shape shape;
  int64_t first;    /* id of its first entry */
  uint32_t entries; /* how many */
  int64_t step;
  int64_t seq;    /* of its event in the store; 0: it has none. The engine's to set */
  uint32_t lead;  /* first message of its response: itself, unless items make up one */
  uint32_t batch; /* of a lead: the atom of the response's calls, UINT32_MAX: none */
  /* a result has no content, or its list has what a provider refuses: empty texts, images */
  bool holes;
  bool lone;   /* holds half a surrogate pair: what goes out is repaired */
  bool native; /* has members that no provider takes: np_shape_is_native */
} np_message;

/* The smallest run of entries that may be removed. Its members need not be adjacent. */
typedef struct np_atom {
  int64_t first, last; /* lowest and highest entry id in it */
  uint32_t members;    /* entries in it */
  uint32_t open;       /* calls still without a result */
  np_kind kind;        /* USER, TEXT, CALL (a batch), THOUGHT, … */
} np_atom;

/* Calls that wait for a result under one id; open.c. */
typedef struct np_open {
  int64_t key;        /* a call that has the id; 0: a free slot */
  int64_t head, tail; /* first of those that wait, last of its batch */
} np_open;

/* What a summary stands for. Whether it does so now is the view's to say. */
typedef struct np_fold {
  int64_t entry;   /* the summary */
  uint32_t *atoms; /* ascending */
  size_t count;
  int64_t step_from, step_to; /* of their entries */
  np_arena arena;             /* all that is its own: given back when it is taken back */
} np_fold;

typedef struct np_log {
  const neap_alloc *alloc;
  np_arena arena;    /* raw messages and decoded texts */
  np_arena work;     /* what is staged; given up when the next is */
  np_entry *entries; /* id - 1 is the index */
  size_t entry_count, entry_cap;
  np_message *messages;
  size_t message_count, message_cap;
  np_atom *atoms;
  size_t atom_count, atom_cap;
  struct np_cite *cite; /* the index of these entries; made and fed by cite/ */
  size_t indexed;       /* entries that it has taken in … */
  size_t noted;         /* … of so many; the others wait until it is asked */
  /* a mirror has the index of what it mirrors, and one of its own summaries; mirror.c */
  const struct np_log *of;
  struct np_cite *own;
  int64_t *ids;         /* by id of what is mirrored: the entry's id here, or 0 */
  size_t taken, id_cap; /* messages that are here */
  int64_t step;         /* of the newest step; the turn being assembled is step + 1 */
  int64_t task_message; /* index of the first user message, -1 before it */
  int64_t user_message; /* of the newest, which no summary covers */
  bool begun;           /* something besides system messages has come */
  /* form of a message that could be of several: a text alone says nothing of its provider */
  np_shape native;
  uint32_t batch; /* atom of the newest calls, UINT32_MAX: none */
  bool
      fresh; /* the next assistant message begins a response, whatever stands before it */
  np_fold *folds; /* in the order of their summaries */
  size_t fold_count, fold_cap;
  np_open *open; /* calls without a result, by id */
  size_t open_used, open_cap;
  np_buf scratch;
} np_log;

neap_rc np_log_init(np_log *lg, const neap_alloc *a, np_err *e);
void np_log_free(np_log *lg);

/* Appends one message, of any shape, or a block (parse_block.c). All or nothing. *message gets its index. Errors:
** NEAP_E_JSON, _UTF8, _LIMIT, NEAP_E_SHAPE (says which member is wrong), NEAP_E_MEMORY (the
** log is then unusable). */
neap_rc np_log_append(np_log *lg, np_str raw, size_t *message, np_err *e);

/* The same in two steps, for who has to write the message in between: staging checks it and
** makes room, after which entering cannot fail; what is staged is entered or given up. */
typedef struct np_staged {
  struct np_parsed *parsed, *last;
  size_t messages, parts;
  np_arena_place before;
} np_staged;
neap_rc np_log_stage(np_log *lg, np_str raw, np_staged *out, np_err *e);
/* Another behind it, to be entered with it; when it is refused, all are given up. */
neap_rc np_log_stage_more(np_log *lg, np_str raw, np_staged *staged, np_err *e);
size_t np_log_enter(np_log *lg, const np_staged *staged); /* the first one's index */
void np_log_give_up(np_log *lg, const np_staged *staged);

/* Appends a summary of the atoms (ascending, at least one): a user message that the engine
** makes, of the newest step, never the task. *entry gets its id. NEAP_E_ARG for no text or an
** atom that is not there, NEAP_E_MEMORY (the log is then unusable). */
neap_rc np_log_fold(np_log *lg, const uint32_t *atoms, size_t n, np_str text,
                    int64_t *entry, np_err *e);
/* Appends a file that the host keeps with the session: an entry without text, which no prompt
** shows and nothing counts. It is of the newest step, and parts no response. `tool` and `path`
** are what it is of. *entry gets its id. NEAP_E_MEMORY: nothing was
** done. */
neap_rc np_log_file(np_log *lg, np_str tool, np_str path, int64_t *entry, np_err *e);
/* Takes the newest entry, such a file that nothing else knows of yet, back. */
void np_log_unfile(np_log *lg);
/* What the engine or the host has put aside: no part of the conversation. */
static inline bool np_log_is_aside(const np_entry *en) {
  return en->fold || en->apart || en->voided;
}

/* Takes the newest entry, a summary that nothing else knows of yet, back as if it had never
** been: a turn that fails has made none. */
void np_log_unfold(np_log *lg);

/* Appends a message that was rolled back, or a text: ids and texts, and nothing else. */
neap_rc np_log_append_void(np_log *lg, np_str raw, int64_t seq, np_err *e);
neap_rc np_log_append_void_text(np_log *lg, np_str text, int64_t seq, np_err *e);

/* A mirror is a log of the same messages, whose texts it shares, without the summaries that the
** engine has made in the other: it may make its own. The other log must outlive it. */
void np_log_mirror(np_log *lg, const np_log *of);
/* Takes in the messages that have come since. NEAP_E_MEMORY: it is then unusable. */
neap_rc np_log_mirror_sync(np_log *lg, np_err *e);
/* The entry that has that key; NULL: none here. */
np_entry *np_log_keyed(const np_log *lg, int64_t key);

static inline const np_fold *np_log_fold_of(const np_log *lg, const np_entry *en) {
  return en->fold ? &lg->folds[en->fold - 1] : NULL;
}

/* The first result whose text is that of the result `en`, an earlier one; 0 when there is none,
** or the text is too short to say it otherwise. Walks over the entries before it. */
int64_t np_log_same(const np_log *lg, const np_entry *en);

static inline np_entry *np_log_entry(const np_log *lg, int64_t id) {
  return id >= 1 && (uint64_t)id <= lg->entry_count ? &lg->entries[id - 1] : NULL;
}

#endif
