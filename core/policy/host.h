/*
** What the files of this folder share: the policy itself, its meter, and the border between
** C and Lua. Every entry into Lua is np_enter, one protected call around one C function;
** nothing that may raise is called outside of it. next: meter.c
*/
#ifndef NP_POLICY_HOST_H
#define NP_POLICY_HOST_H

#include <lauxlib.h>
#include <lua.h>

#include "policy/policy.h"
#include "policy/pool.h"

#define NP_HOOKS(X)                                                                      \
  X(ADMIT, "admit")                                                                      \
  X(RANK, "rank")                                                                        \
  X(COMPACT, "compact")                                                                  \
  X(ASSEMBLE, "assemble")                                                                \
  X(OVERFLOW, "overflow")                                                                \
  X(RECALL, "recall")                                                                    \
  X(MIGRATE, "migrate")                                                                  \
  X(SELFTEST, "selftest")

typedef enum np_hook {
#define NP_X(id, name) NP_HOOK_##id,
  NP_HOOKS(NP_X)
#undef NP_X
      NP_HOOK_COUNT
} np_hook;

#define NP_POLICY_SOURCE ((size_t)1 << 20) /* the largest file that is a policy */
#define NP_POLICY_TEXT                                                                   \
  ((size_t)64 << 10) /* text a policy sees in one piece; log per call */

/* What a call may still use. */
typedef struct np_meter {
  int64_t left, limit; /* instructions */
  int64_t deadline;    /* np_clock_ms; INT64_MAX: none; 0: nobody has looked yet */
  int64_t ms, since;   /* of work in one call; np_clock_work_ms at the first look */
  int interval;        /* instructions between two looks */
  bool killed;
  char why[480]; /* of the kill, with its place */
} np_meter;

/* Memory of one state. */
typedef struct np_heap {
  size_t bytes, limit, block;
  size_t peak;       /* the most since the call began */
  bool host_failed;  /* in this call: it was not the limit */
  bool out;          /* the hook ended for want of memory */
  int64_t big, huge; /* live blocks so large that one instruction may take long on them */
} np_heap;

typedef enum np_option_kind {
  NP_OPTION_BOOL,
  NP_OPTION_INTEGER,
  NP_OPTION_NUMBER,
  NP_OPTION_STRING
} np_option_kind;

typedef struct np_option_value {
  int64_t i; /* also a boolean's */
  double d;
  np_str s;
} np_option_value;

typedef struct np_option {
  np_str name, help;
  np_option_kind kind;
  bool has_min, has_max;
  double min, max;
  np_option_value value, fallback;
} np_option;

/* A file that was read: the policy's own (first) or a module's. */
typedef struct np_source {
  np_str name; /* in messages: "mask.lua", "lib/rank.lua" */
  np_str path; /* NUL-terminated */
  np_str text; /* what was loaded, for the session's log */
  int64_t mtime_s, mtime_ns, ctime_s, ctime_ns, size, inode;
  bool fresh; /* so young when it was read that a change might not show in its time */
  uint8_t sha256[NP_SHA256];
} np_source;

/* A fold that the running compact has asked for, to be asked for again when it wakes. */
typedef struct np_wish {
  uint32_t *atom;
  size_t atoms;
  np_takes takes;
  np_str text, why, by;
} np_wish;

/* One run of compact, from its start to its return. */
typedef struct np_run_of {
  int thread;          /* slot of the sleeping coroutine */
  bool asleep;         /* it waits for asks from number `fed` on */
  bool over;           /* it has returned, or failed */
  const char *result;  /* how */
  uint64_t generation; /* of its handles */
  size_t mark;         /* of the pack, when it was called last */
  size_t fed;          /* asks of which it has been told the answer */
  size_t waits;        /* asks from there on that it waits for */
  bool together;       /* they were asked at once, in a list */
  np_ask *asks;
  size_t count, cap;
  np_wish *wishes;
  size_t wish_count, wish_cap;
  np_str *maps; /* texts of ctx:map, which the engine has made */
  size_t map_count, map_cap, map_bytes;
  np_arena arena; /* texts of all three */
} np_run_of;

/* A file of a version that did not serve, as that version had it. */
typedef struct np_shunned {
  np_str path; /* NUL-terminated */
  uint8_t sha256[NP_SHA256];
} np_shunned;

/* What must be another before the policy's files are looked at again; reload.c. */
typedef struct np_shun {
  np_shunned *files;
  size_t count, cap;
  uint8_t
      seen[NP_SHA256]; /* what the serving version's files held when it was reported */
  uint64_t mark;       /* of the shunned files, and of the names beside them */
  bool marked;         /* the mark belongs to what was seen */
  np_arena arena;
} np_shun;

struct np_policy {
  neap_alloc alloc;
  lua_State *L;
  void *locale;      /* C, as a locale_t */
  lua_State *active; /* the thread that runs; NULL between calls */
  np_limits limits;
  np_meter meter;
  np_heap heap;
  np_pool pool;
  np_arena arena; /* what lives with the policy */

  np_policy_info info;
  bool from_file; /* else require finds nothing but what is pinned */
  np_json pinned; /* the sources that a log has: require finds them by name */
  np_str folder;  /* of the path, with its final slash, NUL-terminated; may be empty */
  int64_t state_version;
  int hooks[NP_HOOK_COUNT]; /* registry references, 0: none */
  np_option *options;
  size_t option_count, option_cap;
  np_source *sources;
  size_t source_count, source_cap;
  bool loading;
  np_shun shun;

  np_pack *pack; /* NULL before np_policy_attach */
  np_turn turn;
  uint64_t no_random;
  np_policy_say say;
  void *say_ctx;

  np_policy *trusted; /* runs the grammars; NULL before the first: grammar.c */

  uint64_t generation;  /* of the call: handles of another one have ended */
  uint64_t generations; /* given out so far */
  np_run_of run;
  np_hook hook;
  const void *entry_type; /* where the metatable of entries lies */
  bool ranking;           /* inside a rank hook: nothing may be changed */
  int ctx_ref, options_ref,
      state_ref;       /* slots of the registry, filled while a call lasts */
  int thread_ref;      /* slot of the coroutine of calls that do not sleep */
  bool thread_idle;    /* its last call ended well: it can serve again */
  bool state_read;     /* the slot holds this call's ctx.state */
  np_buf state;        /* JSON between calls; empty: {} */
  np_buf next_state;   /* of the call that runs */
  np_pending *pending; /* what waits for the turn's end; propose.c */
  size_t pending_count, pending_cap;
  np_arena pending_text;
  np_buf patch, faults; /* of the proposal that is made */
  np_buf wording;       /* what folds of the turn say that their steps do not; JSON */
  size_t said;          /* bytes of log in this call */
  bool shrunk;          /* the call has had the one shrink that is not paid by the text */
  bool measured;        /* every instruction is counted */
  np_cost cost[NP_HOOK_COUNT];
  np_err broken; /* why the call has failed whatever Lua does; code 0: it has not */
};

static inline np_policy *np_host(lua_State *L) {
  return *(np_policy **)lua_getextraspace(L);
}

/* ---- meter.c: limits ---- */

/* A new state with its limits armed for ever; NULL when out of memory. */
lua_State *np_state_new(np_policy *p);
/* Calls `f` with `arg` as light userdata, protected, on a full budget. Fills `e` from what
** was thrown. Not reentrant. */
neap_rc np_enter(np_policy *p, int64_t instructions, int64_t ms, lua_CFunction f,
                 void *arg, np_err *e);
/* Turns a failed pcall's error value (on top of L, popped) into an error; never allocates,
** never calls Lua. */
neap_rc np_caught(np_policy *p, lua_State *L, int status, np_err *e);
/* Takes `n` from the budget and ends the call when it is used up. */
void np_charge(lua_State *L, uint64_t n);
/* The same with a look at the clock, for what may take long in C. */
void np_charge_slow(lua_State *L, uint64_t n);
/* Raises again when the call is over: after every lua_pcall inside Lua. */
void np_rethrow(lua_State *L);
/* Makes the running call fail with `e`, whatever the policy catches, and raises. */
int np_break(lua_State *L, const np_err *e);
/* Time spent in the core is not the policy's. */
int64_t np_pause(void);
void np_resume(np_policy *p, int64_t since);

/* ---- locale.c: the C locale while a policy runs, in this thread ---- */

bool np_locale_new(np_policy *p);
void np_locale_free(np_policy *p);
void *np_locale_enter(const np_policy *p); /* what was in force, for np_locale_leave */
void np_locale_leave(void *was);

int64_t np_clock_ms(void);                        /* monotonic */
int64_t np_clock_work_ms(void);                   /* what this thread has worked */
void np_clock_now(int64_t *seconds, int64_t *ns); /* of the day, as files have it */

/* ---- env*.c: what a policy can see ---- */

void np_env_open(lua_State *L);   /* pushes the environment */
void np_env_string(lua_State *L); /* pushes `string`, sets the strings' metatable */
void np_env_table(lua_State *L);  /* pushes `table` */
void np_env_neap(lua_State *L);   /* pushes `neap` */
/* Pushes what an output is: neap.grammar.kind of the text's two ends. */
int np_grammar_kind(lua_State *L, np_str text, np_str hint);
void np_env_grammar(lua_State *L); /* pushes `neap.grammar` */
void np_env_order(lua_State *L);   /* pushes next, pairs */
/* The same for C: pushes an iterator over the table at `index` and returns its place; each
** step then has the key at that place + 1 and the value at + 2, until it pops all. Nothing of
** the policy runs meanwhile, so that the table keeps what was read of it. */
int np_pairs_push(lua_State *L, int index);
bool np_pairs_next(lua_State *L, int step, int index);
void np_env_tostring(lua_State *L, int index); /* pushes a string without addresses */
/* The string or number argument `arg`, which then is a string. */
np_str np_check_str(lua_State *L, int arg);
/* Makes the value at `index` "nan" when it is a NaN: the sign that libc shows differs between
** processors. */
void np_plain_nan(lua_State *L, int index);
int np_env_find(lua_State *L); /* match.c */
int np_env_match(lua_State *L);
int np_env_gmatch(lua_State *L);
int np_env_gsub(lua_State *L);
/* The table argument `arg`, without a metatable. */
void np_check_plain(lua_State *L, int arg);

/* ---- source.c, modules ---- */

/* Reads a policy's file whole into *text (freed by the caller) and fills `src`. */
neap_rc np_source_read(np_policy *p, const char *path_cstr, np_source *src, np_buf *text,
                       np_err *e);
/* What of a file is Lua: without its BOM and the text of a first line that begins with #. */
np_str np_source_lua(np_str text);
/* Whether a file that is there was written less than 50 ms ago, or is gone. */
bool np_source_unsettled(const char *path_cstr);
/* The names of the Lua files in a folder and those below it, as one number. */
uint64_t np_folder_mark(const char *folder_cstr);
bool np_source_same(const np_source *src, const char *path_cstr); /* by its stat alone */
bool np_source_push(np_policy *p, const np_source *src);
void np_source_digest(const np_source *list, size_t n, uint8_t out[NP_SHA256]);
int np_require(lua_State *L);
/* Compiles on L and gives the chunk the environment. Raises. */
void np_compile(lua_State *L, np_str name, np_str text);

/* ---- load.c, reload.c ---- */

/* Loads as np_policy_load does; what fails is in *out all the same, for its sources, and is
** freed by the caller (NULL: out of memory). */
neap_rc np_load_whole(const neap_alloc *a, const char *path_cstr, np_str options,
                      const np_limits *limits, np_policy **out, np_err *e);
void np_shun_free(np_policy *p);

/* ---- options.c ---- */

/* Reads the `options` table at `index` and the host's overrides. Raises. */
void np_options_read(lua_State *L, int index, np_str overrides);
#define NP_OPTIONS_TYPE "neap.options"
void np_options_open(lua_State *L); /* its metatable */
void np_options_push(lua_State *L); /* the table `o` of one call */

/* ---- shape.c: the table that a policy returns ---- */

void np_shape_read(lua_State *L, int index, np_str overrides); /* raises */
/* Raises "WHAT 'name' is not known; …" with the nearest of a NULL-ended list, or all. */
int np_unknown(lua_State *L, const char *what, np_str name, const char *const *names);
/* A copy of the string at `index` that lives with the policy, NUL-terminated. Raises. */
np_str np_keep_text(lua_State *L, int index);

/* ---- plain.c: plain data ---- */

/* Appends the value at `index` as JSON. Raises an error that names the place, `what` first. */
void np_plain_write(lua_State *L, int index, const char *what, np_buf *out);
void np_plain_read(lua_State *L, np_str json); /* pushes the value */

/* ---- names.c ---- */

/* The names that a policy's table and the tables of its calls may have; NULL-ended. */
extern const char *const np_policy_keys[],
    *const np_entries_keys[], *const np_span_keys[],
                                  *const np_trim_keys[],
                                      *const np_tools_keys[],
                                          *const np_ask_keys[],
                                              *const np_ask_all_keys[],
                                                  *const np_summarize_keys[],
                                                      *const np_propose_keys[],
                                                          *const np_scratch_keys[],
                                                              *const np_due_keys[];

/* ---- context.c, query.c, span.c, entry.c: handles, which end with their call ---- */

typedef struct np_handle {
  uint64_t generation;
  int64_t id; /* of an entry; else 0 */
} np_handle;

#define NP_ENTRY_TYPE "neap.entry"
#define NP_CONTEXT_TYPE "neap.context"
#define NP_SPAN_TYPE "neap.span"

void np_context_open(lua_State *L); /* all metatables, and the slots of the registry */
void np_span_open(lua_State *L);
void np_entry_open(lua_State *L);
int np_entry_peek(lua_State *L); /* peek.c */
int np_context_peek(lua_State *L);
int np_context_artifacts(lua_State *L);
void np_context_push(lua_State *L);
void np_entry_push(lua_State *L, int64_t id);
/* The handle at `arg`, of that type and of the running call. Raises. */
np_handle *np_check_handle(lua_State *L, int arg, const char *type);
/* Before a question to the citation index: takes in what waits. May raise. */
void np_index_need(lua_State *L);
/* Raises unless a hook runs that may change something. */
void np_check_change(lua_State *L);
/* Index of the string at `arg` in a NULL-ended list. Raises, naming the nearest. */
int np_check_name(lua_State *L, int arg, const char *what, const char *const *names);
/* "mask.lua:12" of the Lua line that runs, for np_reason.by. */
np_str np_by_line(lua_State *L, char *buf, size_t cap);
int np_context_entries(lua_State *L);
int np_context_span(lua_State *L);
int64_t np_first_of_step(const np_pack *p, int64_t from);
int np_context_fold(lua_State *L);
int np_context_log(lua_State *L); /* env_neap.c */
int np_context_search(lua_State *L);
int np_context_map(lua_State *L);
int np_context_object(lua_State *L); /* propose.c */
int np_context_propose(lua_State *L);
/* Asks for that at the turn's end. Pushes true, or nil and why it would not be done. Raises. */
int np_deed_ask(lua_State *L, np_pending new, uint64_t charge);
/* Reads {source=} and other keys of the options at `index`, NULL-ended `keys`; a string stays on
** the stack. Absent: as it was. Raises, `who` first. */
np_str np_deed_text(lua_State *L, int index, const char *who, const char *key);
int np_context_scratch(lua_State *L); /* scratch.c */
int np_context_scratchpad(lua_State *L);
int np_context_stale(lua_State *L);
int np_context_pass(lua_State *L);
int np_context_reject(lua_State *L);
int np_context_phase(lua_State *L); /* trigger.c */
int np_context_due(lua_State *L);
void np_pending_free(np_policy *p);
void np_pending_back(np_policy *p, size_t mark); /* a hook has failed */
void np_pending_forget(np_policy *p, np_hook hook);
int np_context_tools(lua_State *L); /* tools.c */
/* A number of steps, tokens or entries at the top; a float is rounded down. Raises. */
int64_t np_check_whole(lua_State *L, const char *who, const char *what);

typedef struct np_span {
  np_handle handle;
  int64_t steps, tokens, entries; /* of what no summary stands for */
  int64_t merged;                 /* tokens of the summaries it takes in */
  np_takes takes;                 /* which */
  size_t atoms;
  uint32_t atom[]; /* so many, ascending */
} np_span;

np_span *np_check_span(lua_State *L, int arg);

/* ---- wording.c ---- */

/* What the text of a fold says that nothing it may be drawn from does: JSON objects in `faults`,
** parted by commas, or nothing. NEAP_E_MEMORY. */
neap_rc np_wording_fold(np_policy *p, const np_span *s, np_str text, np_buf *faults,
                        np_err *e);
/* A text that the engine has made for this run of compact; what is over 64 KiB is forgotten. */
void np_wording_map(np_policy *p, np_str map);

/* A reason for the log, at most 200 bytes. Raises. */
np_str np_check_why(lua_State *L, int arg, const char *otherwise);
/* Makes the metatable of a handle: `fields` (NULL-ended) read by `index`, whose first upvalue
** maps a name to its place in the list or to a method. */
void np_open_handle(lua_State *L, const char *type, lua_CFunction index,
                    const char *const *fields, const luaL_Reg *methods);
/* Inside such an index function: the field's place in `fields`, or -1 with a method pushed.
** Raises for unknown names. */
int np_field(lua_State *L, const char *what, const char *const *fields);
void np_shrink(lua_State *L, int64_t tokens, double front, np_reason r); /* raises */

/* ---- ask.c, asking.c, facts.c ---- */

/* Puts in *out what is kept word by word of the span's results, in at most `tokens`, oldest
** first; *used is what it has. What does not fit has no line: the newest results are heard. */
neap_rc np_facts_add(np_pack *p, const np_span *s, size_t tokens, np_buf *out,
                     size_t *used, np_err *e);
int np_context_summarize(lua_State *L);
int np_context_ask(lua_State *L);
int np_context_ask_all(lua_State *L);
#define NP_ASKS 64 /* of one run */
/* The ask that stands at that place of the list, if it is the same, or a new one; what came from
** there on is then void. NULL: out of memory. */
np_ask *np_ask_at(np_policy *p, size_t place, np_ask *ask);
/* The step that ctx.step tells: in a run that has started again, that of the ask it has come
** to, so that it asks the same. */
int64_t np_turn_step(const np_policy *p);
/* A fold has been carried out. Raises when out of memory. */
void np_note_fold(lua_State *L, const np_span *s, np_str text, np_reason r);
/* Asks for the folds of the run again; refusals are counted by the pack. */
neap_rc np_wishes_repeat(np_policy *p, np_err *e);
/* Pushes what the woken hook is told; returns how many values. */
int np_answer_push(lua_State *L);
void np_run_start(np_policy *p);
void np_run_free(np_policy *p);

/* ---- power.c ---- */

/* Raises "NAME:LINE: …" for a ^ whose exponent is not the constant 2, in source that
** compiles. */
void np_check_powers(lua_State *L, np_str name, np_str lua);

/* ---- load.c ---- */

/* An empty policy with a state and the default limits for NULL; NULL when out of memory. */
np_policy *np_policy_new(const neap_alloc *a, const np_limits *limits);

/* ---- real.c: the same on every machine ---- */

double np_exp(double x);
double np_log_of(double x);
double np_pow(double x, double y);

/* ---- call.c ---- */

void np_state_push(lua_State *L); /* the table of ctx.state, read on first use */

#endif
