/*
** The policy host: one sandboxed Lua state per policy version, loaded, checked, called and
** swapped. It sees a session only as a pack of entries, and asks; the pack may refuse.
** What it offers:
**  1. load: compile a file in a new state, check its shape, bind its options
**  2. call a hook within limits of instructions, memory and time; a hook that fails has
**     asked for nothing
**  3. reload: swap in a changed file whole, or keep the old one and say why
** next: env.c (what a policy can see), load.c, call.c, entry.c, context.c
*/
#ifndef NP_POLICY_POLICY_H
#define NP_POLICY_POLICY_H

#include "base/hash.h"
#include "pack/pack.h"

typedef struct np_policy np_policy;

typedef struct np_limits {
  int64_t load_instructions; /* 0: 20,000,000 */
  int64_t call_instructions; /* 0: 5,000,000: the reproducible limit */
  size_t bytes;              /* 0: 32 MiB of one state */
  size_t block;              /* 0: 8 MiB in one piece */
  int64_t call_ms; /* 0: 250 of work (a load: four times that), the backstop; -1: none */
} np_limits;

struct np_pending;

struct np_window;

/* A file of the host's that the session keeps and no prompt shows. */
typedef struct np_outside {
  int64_t id, bytes, lines, step;
  np_str tool, query, path, kind;
} np_outside;

/* What of a session a policy may look at besides its entries. */
typedef enum np_sight {
  NP_SIGHT_SCRATCH, /* what waits on the scratchpad */
  NP_SIGHT_STALE    /* values of the state object that rest on what is refuted */
} np_sight;

/* What a turn looks like from a policy, filled in by the engine. */

typedef struct np_turn {
  int64_t window, reserve, budget;
  int64_t now;                    /* recorded milliseconds; 0: unknown */
  int64_t floor, height, front;   /* ctx.economy */
  double price_read, price_write; /* r and w of the economy */
  bool cold;                      /* the provider's cache has forgotten the last prompt */
  bool measured;                  /* a provider has said what a prompt took */
  double drift;                   /* how far that was from the estimate, relative */
  uint64_t *random;               /* state of ctx.random, recorded with the session */
  int64_t *asks;                  /* id of the newest ask; NULL: no model can be asked */
  bool unchecked;                 /* texts of folds are taken as they are */
  const char *no_model; /* why every ask is refused at once; NULL: the host is asked */
  /* up to `room` ids of entries for a query, best first; NULL: nothing can be searched */
  neap_rc (*search)(void *ctx, np_str query, int64_t *ids, size_t room, size_t *n,
                    np_err *e);
  void *search_ctx;
  /* the artifact with the lowest id above `after`; false: there is none. NULL: nor can be */
  bool (*artifact)(void *ctx, int64_t after, np_outside *out);
  /* appends a window of one; NEAP_E_PURGED, _EXPIRED, store */
  neap_rc (*artifact_text)(void *ctx, int64_t id, struct np_window *w, np_buf *out,
                           np_err *e);
  void *artifact_ctx;
  np_str (*object)(const void *ctx); /* the state object, JSON; empty: none yet */
  bool has_object;                   /* there is such an object, which may be empty */
  /* tries what a hook asks for; NULL: this session takes nothing. NEAP_E_REFUSED: the faults say
  ** why; another code is an error of the hook's */
  neap_rc (*attempt)(void *ctx, const struct np_pending *p, np_buf *faults, np_err *e);
  void (*look)(void *ctx, np_sight what, np_buf *out); /* JSON */
  void *deed_ctx;
  np_str phase, phase_before; /* the part of the work that goes on; empty: none */
  int64_t phase_from, before_from;
  bool phase_fresh; /* it began since the last rewrite */
  int64_t quiet;    /* turns since the last rewrite, or the first turn */
  int64_t polluted; /* steps that have used what is refuted; -1: nothing is */
  bool (*refuted)(const void *ctx, const np_entry *en); /* NULL: nothing is */
} np_turn;

typedef enum np_deed {
  NP_DEED_PROPOSE, /* a change of the state object */
  NP_DEED_SCRATCH, /* a text, and perhaps a patch, for the scratchpad */
  NP_DEED_PASS,    /* number `id` of the scratchpad is verified */
  NP_DEED_REJECT,  /* it is not */
  NP_DEED_PHASE    /* `text` is the name of what begins */
} np_deed;

/* What a hook has asked for besides the prompt: done when the turn is decided. */
typedef struct np_pending {
  int hook;
  np_deed deed;
  np_str text, patch, reason;
  int64_t source; /* an entry; 0: none */
  int64_t id;
  bool memory; /* of what is passed: a memory, else evidence */
} np_pending;

/* Where log lines of policies go (neap.log, capped). */
typedef void (*np_policy_say)(void *ctx, np_str line);

/* Loads the file `path_cstr` (NULL: the empty policy). `options` is a JSON object's bytes or
** empty; unknown names and values of the wrong type or range are errors that name the option.
** Errors: NEAP_E_POLICY with one line "FILE:LINE: what; what to do", NEAP_E_MEMORY. */
neap_rc np_policy_load(const neap_alloc *a, const char *path_cstr, np_str options,
                       const np_limits *limits, np_policy **out, np_err *e);
/* The same from memory; `name` stands in messages. Its require finds nothing. */
neap_rc np_policy_load_text(const neap_alloc *a, np_str name, np_str text, np_str options,
                            const np_limits *limits, np_policy **out, np_err *e);
/* From what np_policy_sources has written: the policy's text and its modules, no file is read.
** It never changes by itself. */
neap_rc np_policy_load_sources(const neap_alloc *a, np_str sources, np_str options,
                               np_policy **out, np_err *e);
void np_policy_free(np_policy *p);

typedef struct np_policy_info {
  np_str name, about, source, path; /* live with the policy */
  uint8_t sha256[NP_SHA256];        /* of the file and its modules */
  np_order order;
  np_ladder ladder;
  np_bounds bounds[NP_REGION_COUNT];
  np_layout layout;
  bool fail_on_error;   /* on_error = "fail" */
  bool wants_tools;     /* tools = {"recall", "read"} */
  bool wants_catalogue; /* tools = {"tools"} */
  bool wants_state;     /* tools = {"state"} */
  bool wants_scratch;   /* tools = {"scratch"} */
  bool wants_pointers;  /* tools = {"pointers"}: and those of wants_tools */
} np_policy_info;
const np_policy_info *np_policy_info_of(const np_policy *p);
bool np_policy_has(const np_policy *p, const char *hook);
/* The policy's file and the modules it has loaded, as JSON: [{"name","text"}, …] in the order
** of loading. For the log: it pins what decided. */
neap_rc np_policy_sources(const np_policy *p, np_buf *out, np_err *e);
/* The options in force, as a JSON object: name, value, default, help; sorted by name. */
neap_rc np_policy_options(const np_policy *p, np_buf *out, np_err *e);

/* Every name that a policy can use, as a JSON object read from a running state: "globals", their
** "libraries", the fields and methods of "context", "entry" and "span", "hooks", the fields of a
** "policy", the "keys" that calls take. */
neap_rc np_policy_names(const neap_alloc *a, np_buf *out, np_err *e);

/* Ties a policy to a pack for the calls that follow. The pack's order, ladder and rank come
** from it. */
void np_policy_attach(np_policy *p, np_pack *pack, const np_turn *turn, np_policy_say say,
                      void *say_ctx);

/* Calls a hook when the policy has it. A rank hook is asked inside the calls that shrink, on
** their budget; the packer's time is not counted. On any failure (limit, error, wrong return) the pack
** is as it was before the call and NEAP_E_POLICY is returned with "FILE:LINE: what". */
neap_rc np_policy_admit(np_policy *p, int64_t entry, np_err *e);
neap_rc np_policy_compact(np_policy *p, np_err *e);
neap_rc np_policy_assemble(np_policy *p, np_err *e);
neap_rc np_policy_overflow(np_policy *p, int64_t short_by,
                           np_err *e); /* default: shrink to 0.7 budget */
/* Asks the recall hook, which the policy must have: up to `room` entry ids, best first. */
neap_rc np_policy_recall(np_policy *p, np_str query, int64_t *found, size_t room,
                         size_t *count, np_err *e);
neap_rc np_policy_selftest(np_policy *p,
                           np_err *e); /* false or an error: NEAP_E_POLICY */

/* ---- what hooks cost, for who checks a policy ---- */

typedef struct np_cost {
  const char *hook; /* its name */
  int64_t calls;
  int64_t instructions; /* of all calls; those of rank are in the hook that shrank, too */
  int64_t most;         /* of one call */
  int64_t bytes;        /* the most memory that one call has added; rank: 0 */
} np_cost;

/* From now on every instruction is counted: exact, and many times slower. */
void np_policy_measure(np_policy *p);
/* The i-th hook's cost so far; false past the last. A hook that the policy lacks has no calls. */
bool np_policy_cost(const np_policy *p, size_t i, np_cost *out);
/* Instructions of all hooks so far, as the limit counts them. */
int64_t np_policy_spent(const np_policy *p);

/* What the turn's hooks have asked for besides the prompt, the i-th (NULL: no more), without what
** a compact that sleeps has; and that it is done, or goes with the turn. */
const np_pending *np_policy_proposal(const np_policy *p, size_t i);
void np_policy_proposals_done(np_policy *p);

/* ---- asking a model (ask.c) ----
**
** A compact hook that asks sleeps, in a coroutine that C owns, until the answer is here; it is
** not called meanwhile. What it had asked for is taken back and asked for again when it wakes.
** The asks of a run, from the hook's start to its return, are a list. They are kept until the
** turn in which it returned has been decided: a hook that has to start again is given their
** answers in order, as long as it asks the same. */

#define NP_ANSWER_MAX ((size_t)64 << 10) /* bytes: text that a policy sees in one piece */

typedef enum np_ask_state { NP_ASK_OPEN, NP_ASK_ANSWERED, NP_ASK_REFUSED } np_ask_state;

typedef struct np_ask {
  int64_t id, step; /* the turn in which it was asked */
  bool summary;     /* else a prompt of the policy's own */
  bool logged;      /* the engine's mark */
  np_ask_state state;
  int64_t max_tokens;
  int64_t turns; /* without an answer, after which it is refused; 0: it waits for ever */
  np_str text;   /* empty when it came out of the log and the hook has not asked again */
  np_str notes;  /* a summary's: texts of the summaries that it is to take in */
  neap_ask_part *parts; /* and what stands where in its text */
  size_t part_count;
  bool vouched; /* its answer was verified */
  int tries;    /* answers that were not taken */
  np_str kept;  /* what the engine puts behind the answer: results word by word */
  uint8_t sha256[NP_SHA256]; /* of the text */
  np_str answer;             /* or why there is none */
  np_str code;               /* of a refusal: "timeout", "error", … */
} np_ask;

/* The asks of the run; valid until the policy is called. */
np_ask *np_policy_asks(const np_policy *p, size_t *count);
/* The first that the hook sleeps for whose id is greater, or NULL. */
const np_ask *np_policy_open_ask(const np_policy *p, int64_t after);
/* Copies the text. A refusal has a code, and its text says why there is no answer. What is vouched
** for is not looked at again when it is folded. NEAP_E_NOTFOUND when no ask of that id is open. */
neap_rc np_policy_answer(np_policy *p, int64_t ask, np_str code, np_str text,
                         bool vouched, np_err *e);
/* What a summary's text says that neither its steps nor the rest of the prompt hold: JSON objects in
** `faults`, parted by commas, or nothing. `checked` is false where the ask is none for a summary, or
** its steps are not known yet. NEAP_E_MEMORY. */
neap_rc np_policy_check_answer(np_policy *p, int64_t ask, np_str text, np_buf *faults,
                               bool *checked, np_err *e);
/* Appends the same of folds that were refused for it, and forgets it. */
void np_policy_take_faults(np_policy *p, np_buf *faults);
/* Puts an ask that a log holds at its place in the list; what was there is void. */
neap_rc np_policy_restore_ask(np_policy *p, size_t place, const np_ask *ask, np_err *e);
/* After a turn was decided: when the run is over its asks are forgotten, and *result says how
** it ended. False when there is nothing to forget. */
bool np_policy_settle_asks(np_policy *p, const char **result);
/* Ends the run and forgets its asks. */
void np_policy_cancel_asks(np_policy *p);

/* ctx.state as JSON (plain data; equal data are equal bytes), for the log and for the next
** version. An integer key outside of a list is written "#17". */
neap_rc np_policy_state(np_policy *p, np_buf *out, np_err *e);
neap_rc np_policy_set_state(np_policy *p, np_str json, np_err *e);
int64_t np_policy_state_version(const np_policy *p);
/* Takes over a state of version `from`: as it is when that is the policy's state_version, else
** what migrate(old_state, from) returns. NEAP_E_POLICY when there is state and no migrate. */
neap_rc np_policy_take_state(np_policy *p, np_str json, int64_t from, np_err *e);
neap_rc np_policy_migrate(np_policy *p, np_policy *old, np_err *e); /* that of `old` */

/* True when the file or a module it has loaded is another one than was loaded and is older
** than 50 ms; a hash decides, times and sizes only trigger the look. Each new content is
** reported once; while a version is shunned, so is each other content of its files, and a Lua
** file that comes or goes beside them. A file that is gone is no change. */
bool np_policy_changed(np_policy *p);

/* Loads the file of `old` anew with those options, takes the state over and lets it check
** itself; `sha256` gets the hash of what was tried, zeroes when nothing could be read. When it
** fails, `old` is as it was and shuns what it was made of. */
neap_rc np_policy_next(np_policy *old, np_str options, np_policy **out,
                       uint8_t sha256[NP_SHA256], np_err *e);

/* A version that has taken the place of `p` and failed is not to be tried again as it is. */
neap_rc np_policy_shun(np_policy *p, const np_policy *bad, np_err *e);

#endif
