/*
** The engine's insides: a handle with its store and vocabularies, and a session that ties
** log, pack, policy and store together. next: engine.c, session.c, turn.c
*/
#ifndef NP_ENGINE_ENGINE_H
#define NP_ENGINE_ENGINE_H

#include <stdatomic.h>
#include <threads.h>

#include "engine/bill.h"
#include "engine/gauge.h"
#include "log/object.h"
#include "policy/policy.h"
#include "store/store.h"

struct neap {
  neap_alloc alloc;
  np_store *store;
  char *tenant;
  bool data_named; /* by the host: no other folder is looked into */
  char *data;      /* folder of the vocabularies, NULL until it is found */
  int flags;
  uint8_t secret[NP_SHA256];
  np_vocab **vocabs; /* loaded once, kept until close */
  size_t vocab_count, vocab_cap;
  neap_session *sessions;
  np_buf last_system, last_tools; /* what the last session's prompts begin with */
  mtx_t lock;                     /* vocabs, sessions, error, last_… */
  np_err error;
};

#define NP_RENDERER 5     /* raised when the bytes of the same decisions change */
#define NP_LOG_VERSION 3  /* of events; newer are refused, older read */
#define NP_KEY 4          /* characters of a mark key */
#define NP_UNICODE "16.0" /* of the splitter's tables; see token/gen/unicode.c */

/* What the log of a session holds. Numbers are part of the store's form. */
typedef enum np_event_kind {
  NP_EV_OPEN = 1, /* settings of a writer: versions, format, window, reserve, policy */
  NP_EV_TOOLS = 2,
  NP_EV_REQUEST = 3,
  NP_EV_MESSAGE = 4,  /* body: the raw message */
  NP_EV_TURN = 5,     /* head: account; body: what changed, see events.c */
  NP_EV_POLICY = 6,   /* head: a load, a reload, a failure */
  NP_EV_STATE = 7,    /* body: ctx.state as JSON */
  NP_EV_RESPONSE = 8, /* body: a provider's response as it came; its message follows */
  /* an entry that the engine made: head: kind, what it covers; body: text */
  NP_EV_NOTE = 9,
  NP_EV_ASK = 10, /* a policy asks a model; body: the prompt, if it has one of its own */
  NP_EV_ANSWER = 11,  /* body: the answer, or why there is none */
  NP_EV_SETTLED = 12, /* the asks so far are done with: the hook returned, or a reload */
  NP_EV_USAGE = 13,   /* head: what a provider reports for a prompt, and what follows */
  NP_EV_NOW = 14,     /* body: the time, as the host tells it */
  /* the tools of the turn that follows: head: their names; body: see np_toolset_save */
  NP_EV_TOOLSET = 15,
  NP_EV_SHADOW = 16, /* head: what a shadow would have sent in the turn before */
  NP_EV_SCHEMA = 17, /* body: that of the state object */
  /* head: who, version, source, step, reason, or why it was refused; body: the patch. Of a
  ** taken one the next message that is a state holds the object */
  NP_EV_PROPOSAL = 18,
  NP_EV_FILE = 19,     /* head: an artifact, see file_head.c; body: its bytes, apart */
  NP_EV_MARK = 20,     /* head: name, entry, step: a checkpoint */
  NP_EV_ROLLBACK = 21, /* head: what is void and why; its notice follows */
  NP_EV_REFUTE = 22,   /* head: what is refuted and why; its notice follows */
  /* head: what is put on the scratchpad, passed or rejected; body: the text of what is put; what
  ** is passed is the entry of the message that follows, or a version of the state before it */
  NP_EV_SCRATCH = 23,
  NP_EV_PHASE = 24, /* head: name, step, who: a part of the work begins */
  NP_EV_CHECK = 25, /* head: an ask, and why an answer to it was not taken */
  NP_EV_END         /* behind the last; stored.c has a name for each */
} np_event_kind;

/* What a turn may change before it is decided, as it was. */
typedef struct np_before {
  int64_t admitted, rekeys;
  uint64_t random;
  char key[4];
  np_buf state; /* ctx.state */
} np_before;

/* How a policy has failed of late; breaker.c. */
typedef struct np_breaker {
  int64_t row;   /* turns in a row */
  int64_t until; /* it is left out up to this turn; 0: it serves */
  bool failed;   /* a hook of it, in the turn that is being decided */
  bool told;     /* in resuming: the log says so of the turn that follows */
} np_breaker;

typedef struct np_shade np_shade; /* shadow.c */
struct np_file;                   /* artifact.h */

/* A change of the state object that was proposed; object.c, versions.c. */
typedef struct np_proposal {
  np_who who;
  bool refused, lost; /* lost: it was rolled back */
  int64_t version;    /* that it made; refused: that it was held against */
  int64_t entry;      /* that shows it; 0: none */
  int64_t source, step;
  np_str reason, patch;
  np_str faults; /* of a refused one: JSON */
  /* of a taken one: the object that it made, empty where only the change is kept; which then was
  ** made of that of `before` (a place + 1), under this schema */
  np_str whole;
  size_t before;
  const np_schema *schema;
  uint32_t depth; /* changes since the last that is whole */
} np_proposal;

/* A checkpoint: the event and the entry before it. */
typedef struct np_mark {
  np_str name;
  int64_t seq, entry;
} np_mark;

/* What was rolled back: the events between two, their entries and steps. */
typedef struct np_gone {
  int64_t after, until;
  int64_t lowest; /* `after` of this and all later ones */
  int64_t from, to, step_from, step_to;
  np_str why;
} np_gone;

typedef struct np_back {
  np_mark *marks;
  size_t mark_count, mark_cap;
  np_gone *gone; /* in the order of the log */
  size_t gone_count, gone_cap;
  int64_t found;           /* in reading back: a rollback that was not known of */
  bool due, now;           /* the next prompt follows one; the last one did */
  int64_t reached, epochs; /* the last epoch that is void; how many are no rewrite's */
  np_arena arena;
} np_back;

/* What is refuted: an entry, or all that a step had until the notice said so. */
typedef struct np_refutation {
  int64_t step, entry, notice; /* entry 0: the whole step */
  np_str why, line;            /* for notes: `- [step 3] …` */
} np_refutation;

/* A fact that nothing but what is refuted has shown was used. */
typedef struct np_use {
  int64_t entry, step, source;
  np_str text;
} np_use;

/* A value of the state object that rests on what is refuted. */
typedef struct np_stale {
  np_str path, value;    /* the value as JSON */
  int64_t entry, source; /* that shows it; that it rests on */
  int64_t until;         /* the entry that set it anew; 0: it stands */
} np_stale;

typedef struct np_refuted {
  np_refutation *all;
  size_t count, cap;
  np_use *uses;
  size_t use_count, use_cap;
  size_t looked, told; /* citations; uses that an account has told */
  int64_t known;       /* in resuming: uses by entries up to there were told before */
  int64_t steps;       /* that have used one */
  int64_t last_step;   /* of these before the last look */
  size_t first, mid;   /* uses found by that look; behind mid by values of the state */
  np_stale *stale;
  size_t stale_count, stale_cap;
  size_t walked, versions; /* refutations and proposals, when these were found */
  np_buf object;           /* as those proposals have made it */
  int64_t scanned;         /* entries that were looked through for them */
  np_arena arena;
} np_refuted;

/* A conclusion on the scratchpad. */
typedef struct np_draft {
  int64_t id, source, step;
  np_who who, by; /* who wrote it; who decided */
  enum { NP_DRAFT_WAITING, NP_DRAFT_PASSED, NP_DRAFT_REJECTED } status;
  int64_t entry; /* that it became; 0: none */
  np_str text, patch, reason;
} np_draft;

/* An entry that came of a draft, and what that rests on. */
typedef struct np_passed {
  int64_t entry, source;
} np_passed;

typedef struct np_scratch {
  np_draft *all; /* by id, which only rises */
  size_t count, cap, waiting;
  np_passed *passed; /* by entry: each was the newest when its draft was passed */
  size_t passed_count, passed_cap;
  int64_t given; /* the newest id */
  np_arena arena;
} np_scratch;

/* What is decided of one. */
typedef struct np_verdict_of {
  bool pass, memory; /* memory: the entry's kind, else evidence */
  np_who who;
  np_str reason;
  int64_t entry; /* set: what it became */
} np_verdict_of;

/* A part of the work, from a step on. */
typedef struct np_stage {
  np_str name;
  int64_t from;
} np_stage;

typedef struct np_phases {
  np_stage *all;
  size_t count, cap;
  size_t settled; /* that had begun at the last rewrite */
  np_arena arena;
} np_phases;

typedef struct np_object {
  const np_schema *schema; /* NULL: there is no such object */
  np_str schema_text;
  np_proposal *all;
  size_t count, cap;
  size_t newest;    /* place + 1 of the last that was taken; 0: none was */
  np_buf now;       /* the object that it made */
  int64_t versions; /* given out so far */
  np_arena arena;
} np_object;

#define NP_GROWTH 8 /* turns over which growth is averaged */

struct neap_session {
  neap *engine;
  neap_session *next;
  atomic_flag busy; /* one thread at a time */
  char *name;
  const char
      *key_name; /* whose marks it has: a copied session's are those of its origin */
  np_claim claim;
  np_log log;
  np_pack pack;
  np_policy *policy;
  np_policy *previous;  /* the version before one that has not served a turn yet */
  neap_options options; /* strings copied */
  neap_options given;   /* the same before anything was filled in */
  const np_vocab *vocab;
  const char *model_name; /* as it was named, or the table's row: whose factor is kept */
  np_gauge gauge;         /* how far counts are off */
  int64_t asked_tokens;   /* counted in the last prompt, until its response is here */
  bool asked_guess;       /* some of them were guesses */
  np_buf usage;           /* the event that goes with the next response */
  np_arena arena;         /* strings that live as long as the session */
  np_str tools, request;
  np_buf toolset; /* the state of the tools that was written last; empty: all are shown */
  int64_t window, reserve;
  int64_t admitted; /* entries that have been offered to admit */
  int64_t told;     /* entries whose repairs an account has told */
  bool broken;      /* memory ran out half-way: nothing more is done */

  int64_t turn, epochs_seen;
  const np_cache *cache; /* prices and rules of the provider's cache */
  int64_t minimum;       /* its shortest prefix, in counted tokens */
  np_buf marked;         /* the last body with marks for it */
  np_breaks breaks;
  np_bill bill;
  int64_t now, sent_at; /* milliseconds, as the host told; 0: it did not */
  bool cold;            /* the last prompt found nothing in the cache: too late */
  int64_t turns_since_rewrite, tokens_after_rewrite, front_tokens;
  int64_t growth[NP_GROWTH], last_tokens;
  size_t growth_count;
  uint64_t random;
  int64_t rekeys;
  int64_t asked; /* id of the newest ask */

  np_before before;
  np_buf turn_head, turn_body, turn_state, state_head; /* events of the last turn */
  /* events that go before those of the turn, as they are made; slices live in queue_text */
  np_event *queue;
  size_t queue_count, queue_cap;
  np_arena queue_text;
  np_event *batch; /* scratch of one write */
  size_t batch_cap;
  /* they are not in the store yet: they go before anything else */
  bool unwritten;
  bool stated;           /* turn_state holds the state that was written last */
  int64_t state_version; /* of it */

  np_rendered rendered; /* the last prompt */
  np_sha hash;          /* of its first `hashed` bytes; 0: of none */
  size_t hashed;
  uint8_t digest[NP_SHA256]; /* in reading back: what the log says of the turn's prompt */
  bool digested;             /* it does */
  bool rendering;            /* likewise: each turn's prompt is made, for a replay */
  int64_t read_to;           /* in reading back: the last event that counts; 0: all do */
  char next_key[NP_KEY];     /* of a replay: what the next new mark key will be, */
  int64_t next_keys;         /* and how many there will have been; 0: it is derived */
  int64_t relived; /* in reading back: entries that turns have been gone through */
  bool unrendered; /* in reading back: the frame is behind the view */
  bool overflow;   /* the last turn did not fit */
  int64_t short_by;
  uint64_t news;  /* events so far: what a turn depends on comes with one */
  uint64_t stuck; /* `news` + 1 at the overflow that stands; 0: none */
  np_err stuck_why;
  bool alarmed, alarm;   /* usage is over the threshold; since this turn */
  np_buf warnings;       /* about the prefix, at the first turn; likewise */
  size_t looked;         /* bytes of the prefix that they are about, and one */
  np_buf said;           /* what hooks have logged in the turn, in the same form */
  bool said_cut;         /* there was more */
  np_buf hook_errors;    /* of the last turn, as JSON strings parted by commas */
  int64_t reloads;       /* of the last turn */
  int64_t hook_failures; /* likewise */
  np_breaker breaker;
  neap_session *shadow; /* another policy on the same session, which sends nothing */
  neap_session *live;   /* of a shadow: the session whose messages it has */
  np_shade *shade;      /* likewise: what it has come to */
  np_buf shadow_end;    /* why the last shadow has ended */
  np_str host_tools;    /* without the engine's */
  np_object object;
  struct np_file *files; /* the artifacts, by id */
  size_t file_count, file_cap;
  np_back back;
  np_refuted refuted;
  np_scratch scratch;
  np_phases phases;
  int64_t noted_at;           /* the last event of either */
  int64_t unverified;         /* answers that were looked at and not taken */
  np_buf faults;              /* of those since the last account: a list's items */
  np_buf account, text, body; /* results that live until the next call */
  np_store *words;  /* of a session that writes nothing: the index of its words */
  int64_t followed; /* entries when the index of words was last brought up */
  int64_t dangling, dangling_seen; /* readings of what was gone, in the entries so far */
  size_t measured;                 /* citations that have been measured */
  int64_t measured_by; /* those that entries up to this one make are not to be */
  int64_t *fetched; /* by entry: the look at a step whose recall would have fetched it */
  size_t fetched_cap;
  int64_t looks; /* at steps, by all who measure */
  uint32_t
      call_at; /* cursor of neap_next_call, from the last response's first entry on */
  size_t call_message; /* the last response's first message */
  np_err err;          /* this call's, before it is handed to the engine */
};

/* ---- engine.c ---- */
/* keeps it for neap_error; returns its code */
neap_rc np_engine_fail(neap *n, const np_err *e);
neap_rc np_engine_vocab(neap *n, np_str name, const np_vocab **out, np_err *e);

/* ---- session.c: the guard of every public call ---- */
/* A session that nobody knows of yet, without its parts; NULL: out of memory. */
neap_session *np_session_new(neap *n, const char *name);
bool np_session_init(neap_session *s, neap *n, const char *name); /* of zeroed memory */
void np_session_clear(neap_session *s);    /* frees all that it holds, but not itself */
neap_rc np_session_parts(neap_session *s); /* by its options, which are kept */
neap_rc np_session_options(neap_session *s, const neap_options *o);
void np_session_free(neap_session *s);
neap_rc np_session_enter(neap_session *s);
neap_rc np_session_enter_text(neap_session *s, neap_str *text);
neap_rc np_session_enter_out(neap_session *s, const void *out);
neap_rc np_session_leave(neap_session *s, neap_rc rc); /* hands the error over */
/* the reserve of a window when the host names none */
int64_t np_session_reserve(int64_t window);
neap_rc np_session_log(neap_session *s, np_event_kind kind, np_str head, np_str body);
bool np_session_writes(const neap_session *s); /* it keeps a log */
/* Writes events all or none, an unwritten turn's before them. Their seq is set here. */
neap_rc np_session_write(neap_session *s, const np_event *ev, size_t n);
/* Keeps an event for the next write. */
neap_rc np_session_queue(neap_session *s, np_event_kind kind, np_str head, np_str body);
/* Appends messages (one at least), and with them the `response` that they came in (empty:
** none): all or none. */
neap_rc np_session_append(neap_session *s, const np_str *messages, size_t n,
                          np_str response);
/* The same with an event before them, which the engine itself makes them by. */
neap_rc np_session_append_led(neap_session *s, const np_event *lead,
                              const np_str *messages, size_t n);

/* ---- turn.c, account.c, economy.c, events.c ---- */
neap_rc np_turn_assemble(neap_session *s); /* hooks, fit, render */
neap_rc np_turn_account(neap_session *s, np_buf *out);
/* `,"name":1.25` */
void np_account_millionths(np_buf *b, const char *name, int64_t v);
neap_rc np_turn_after(neap_session *s);     /* growth, rewrites, economy */
void np_turn_follow(neap_session *s);       /* the same but for the bill */
neap_rc np_economy_choose(neap_session *s); /* whose prices */
void np_economy_settings(const neap_session *s, np_buf *out); /* a member for the log */
/* The last prompt's body, with the marks that the engine adds. */
neap_rc np_economy_body(neap_session *s, np_str *body);
void np_economy(const neap_session *s, np_turn *turn);
/* Mean growth of the last turns that only appended, in tokens; false before the first. */
bool np_economy_growth(const neap_session *s, double *tokens);
neap_rc np_now_take(neap_session *s, const np_event *ev); /* now.c */
/* prefix.c: at the first turn, s->warnings */
neap_rc np_prefix_look(neap_session *s);
/* outlook.c: members of the account */
void np_outlook_after(neap_session *s);
void np_outlook_add(const neap_session *s, np_buf *b);
void np_outlook_help(const neap_session *s, np_buf *b);
neap_rc np_session_key(neap_session *s); /* a new mark key, held by no text */
/* marks what the model has fetched */
void np_turn_fetched(neap_session *s);
void np_hook_error(neap_session *s, const np_err *e);
void np_hook_say(neap_session *s, np_str text);
/* Writes NP_EV_TURN, and NP_EV_STATE when the state has changed. When the store refuses, they
** stay unwritten and the turn counts as not handed out. */
neap_rc np_events_turn(neap_session *s);
neap_rc np_notes_queue(neap_session *s); /* notes.c: the summaries of this turn */
neap_rc np_notes_take(neap_session *s, const np_event *ev);
/* asks.c */
neap_rc np_asks_queue(neap_session *s);  /* those that the log does not hold yet */
neap_rc np_asks_expire(neap_session *s); /* before the hooks of a turn */
neap_rc np_asks_settle(neap_session *s); /* after a turn was decided */
neap_rc np_asks_cancel(neap_session *s, const char *why);
neap_rc np_asks_take(neap_session *s, const np_event *ev);
neap_rc np_events_resume(neap_session *s); /* reads a stored session back: */
neap_rc np_events_take(void *session, const np_event *ev, bool purged);
/* What may begin a prompt: tools, or members of the request (NP_EV_REQUEST). */
neap_rc np_session_check_head(neap_session *s, np_event_kind kind, np_str json);
neap_rc np_events_end(neap_session *s);
/* What serves from now on, its state being there: as a reload does. */
neap_rc np_reload_swap(neap_session *s, np_policy *fresh);

/* ---- held.c ---- */
bool np_store_waits(
    const neap_session *s);             /* some of its events could not be written yet */
neap_rc np_store_tell(neap_session *s); /* and its account says so */

/* ---- pins.c ---- */
void np_pins_open(const neap_session *s, np_buf *out); /* members of NP_EV_OPEN's head */
neap_rc np_pins_take(neap_session *s, np_str head);    /* and back */
/* In reading back: the key from now on, and how many there have been. */
neap_rc np_pins_key(neap_session *s, np_str key, int64_t keys);
void np_pins_digest(neap_session *s, uint8_t out[NP_SHA256]); /* of the last prompt */

/* ---- relive.c: turns of a session that is read back ---- */
/* After what the turn decided was laid: what a rendering leaves. `folded`: a summary was put in
** the place of its atoms, or opened. */
neap_rc np_relive_turn(neap_session *s, np_str account, bool folded);
void np_relive_sent(neap_session *s,
                    int64_t id); /* it is in the turn's prompt, if shown */
neap_rc np_relive_end(
    neap_session *s); /* after the last turn, before what came behind it */

/* ---- reload.c ---- */
/* looks at the file, before a turn */
neap_rc np_reload_poll(neap_session *s);
/* after a new version's first turn */
neap_rc np_reload_judge(neap_session *s, bool served);

/* ---- breaker.c ---- */
bool np_breaker_is_open(
    const neap_session *s); /* the next turn does without the policy */
void np_breaker_reset(neap_session *s);
neap_rc np_breaker_settle(neap_session *s); /* after a turn, before its events */
void np_breaker_take(neap_session *s, const np_event *ev);
void np_breaker_turn(neap_session *s); /* in resuming, after a turn */
/* The store's sessions whose policy is left out, as JSON: [{"session","turns"}, …]. */
neap_rc np_breaker_list(neap *n, np_buf *out, np_err *e);

/* ---- shadow.c ---- */
/* A policy beside the live one; NULL: none any more. `asks`: someone answers its asks. */
neap_rc np_shadow_start(neap_session *s, const char *path, const char *options_json,
                        bool asks);
/* neap_shadow, told who answers */
neap_rc np_shadow_set(neap_session *s, const char *path, const char *options_json,
                      bool asks);
void np_shadow_free(neap_session *s);
/* nobody answers what it asks a model */
bool np_shadow_is_mute(const neap_session *s);
void np_shadow_before(neap_session *s); /* a turn; after it: whatever it has come to */
void np_shadow_turn(neap_session *s, neap_rc rc);

/* ---- usage.c ---- */
/* Tokens that the response says its prompt took. */
bool np_usage_input(np_json response, int64_t *tokens);
/* *next is the gauge as it will be, s->usage the event: both count when it is written. */
neap_rc np_usage_read(neap_session *s, np_str response, np_gauge *next);
neap_rc np_usage_take(neap_session *s, const np_event *ev);

/* ---- tools.c ---- */
bool np_tools_is_ours(np_str name);
bool np_tools_fetches(np_str name);
/* Appends what the tool answers to `out`. */
neap_rc np_tools_answer(neap_session *s, const neap_call *c, np_buf *out);
/* The host's with ours added: those that fetch, the one that finds, the state's. */
typedef struct np_offer {
  bool fetch, find, state, scratch;
  bool pointers; /* the tools that fetch say that others take pointers */
  bool chinese;  /* in that language */
} np_offer;
neap_rc np_tools_schemas(const neap_session *s, np_str host, np_offer offer, np_buf *out,
                         np_err *e);
/* Whether the session's prompts begin with these tools of the host's already. */
neap_rc np_tools_same(neap_session *s, np_str json, bool *same);
/* The next word of two bytes or more; whether a text has it, whatever its case. */
bool np_query_next(np_str *rest, np_str *word);
bool np_query_in(np_str text, np_str word);

/* ---- recall.c ---- */
neap_rc np_recall_answer(neap_session *s, np_json args, np_buf *out);
/* np_turn.search: `ctx` is the session. */
neap_rc np_recall_search(void *ctx, np_str query, int64_t *ids, size_t room, size_t *n,
                         np_err *e);

/* ---- catalogue.c ---- */
neap_rc np_catalogue_seen(neap_session *s); /* counts calls, notes what was looked for */
/* A call made through neap_tools becomes that of the tool it names. */
void np_catalogue_pass(neap_session *s, neap_call *c);
void np_catalogue_answer(neap_session *s, np_json args, np_buf *out);
neap_rc np_catalogue_settle(neap_session *s, bool now);
neap_rc np_catalogue_queue(neap_session *s); /* the event, when the state is another */
neap_rc np_catalogue_lay(neap_session *s);   /* the state of the event, in resuming */
void np_catalogue_account(const neap_session *s, np_buf *b);

/* ---- object.c, versions.c, proposals.c: the state object ---- */
neap_rc np_object_open(
    neap_session *s); /* after the log was read: takes the option's schema */
void np_object_free(neap_session *s);
neap_rc np_object_take_schema(neap_session *s, np_str json);
neap_rc np_object_take(neap_session *s, const np_event *ev, bool lost);
neap_rc np_object_take_state(neap_session *s, int64_t entry); /* a state has come in */
np_str np_object_now(
    const neap_session *s); /* as JSON; empty: none yet; till it changes */
int64_t np_object_version(const neap_session *s);
void np_object_account(neap_session *s, np_buf *b);
/* Proposes. `call` (may be NULL) is the model's, whose result is what was decided: it is written
** with it. */
neap_rc np_object_change(neap_session *s, const neap_proposal *p, const np_entry *call,
                         np_buf *answer);
/* Its parts, for who has no session: who, reason and patch; a version that has come meanwhile, into
** the list of faults; the event's head; the answer. */
neap_rc np_object_args(const neap_proposal *p, np_proposal *out, np_err *e);
bool np_object_is_late(int64_t now, const neap_proposal *p, np_buf *faults);
bool np_object_same(np_str a, np_str b);
neap_rc np_object_refusal(np_str faults, const neap_alloc *a, np_err *e); /* one line */
void np_object_head(const np_proposal *p, np_buf *out);
void np_object_answer(const np_proposal *p, bool changed, np_buf *out);
/* share.c: what a proposal makes of the state as it is, and whether that has room: as
** np_object_propose. The same of a stored session by the settings of its last opening. */
neap_rc np_share_open(neap_session *s);
void np_share_settings(const neap_session *s, np_buf *out);
neap_rc np_object_decide(const neap_session *s, const np_proposed *ask, np_buf *out,
                         np_faults *faults, np_err *e);
neap_rc np_share_check(const np_vocab *v, int64_t limit, np_str was, np_str now,
                       np_buf *list, np_err *e);
neap_rc np_share_stored(neap *n, np_str settings, np_str was, np_str now, np_buf *list,
                        np_err *e);
/* A state's block: what the proposal has made of `was` (empty: of nothing), as the change, or whole
** where that is no longer; and the object of a text that has it whole, else empty. */
neap_rc np_object_block(np_str was, const np_proposal *p, np_str object, np_buf *out,
                        np_err *e);
np_str np_object_of(np_str text);
/* Versions: the newest and one by its number (NULL: there is none); the object of one; that of the
** one behind the object `was`. */
const np_proposal *np_version_newest(const neap_session *s);
const np_proposal *np_version_of(const neap_session *s, int64_t version);
neap_rc np_version_text(const neap_session *s, const np_proposal *p, np_buf *out,
                        np_err *e);
neap_rc np_version_next(const np_proposal *p, np_str was, np_buf *out,
                        const neap_alloc *a, np_err *e);
bool np_object_whole(void *session, int64_t id, np_buf *out); /* np_view.whole */
/* Keeps a proposal; then, of a taken one, which entry shows it and what it has made. */
neap_rc np_version_keep(neap_session *s, const np_proposal *p);
neap_rc np_version_shown(neap_session *s, int64_t entry, np_str object);
/* Would a policy's proposal be taken? NEAP_E_REFUSED: the faults say why not. */
neap_rc np_object_try(const neap_session *s, const np_pending *p, np_buf *faults,
                      np_err *e);
/* proposals.c: answers the model's call of neap_state. */
neap_rc np_object_handle(neap_session *s, const neap_call *c, const np_entry *call);

/* The schema of neap_state. */
void np_object_tool(const neap_session *s, bool is_chinese, np_buf *out);

/* ---- rollback.c, restart.c ---- */
void np_back_free(neap_session *s);
bool np_back_is_void(const neap_session *s, int64_t seq); /* the event */
/* The line that leads a void entry's text. */
void np_back_tell(const neap_session *s, const np_entry *en, np_buf *out);
void np_void_tell(np_str why, np_buf *out);
/* What the head of a rollback's event says, but for `until`; the reason goes to `why`. */
bool np_gone_read(np_str head, np_gone *g, np_buf *why);
const np_gone *np_back_of(const neap_session *s,
                          int64_t entry); /* NULL: it is not void */
neap_rc np_back_collect(
    neap_session *s); /* all rollbacks, from the one that was found on */
neap_rc np_back_take(neap_session *s, const np_event *ev);
neap_rc np_mark_take(neap_session *s, const np_event *ev);
neap_rc np_void_take(neap_session *s, const np_event *ev);
/* After a rendering: one behind a rollback begins an epoch. */
void np_back_rendered(neap_session *s);
void np_back_account(const neap_session *s, np_buf *b);
neap_rc np_session_restart(neap_session *s);
bool np_text_is_chinese(np_str s);
bool np_session_is_chinese(const neap_session *s, np_str otherwise);
void np_add_reason(np_buf *out, np_str why); /* as one line without double quotes */

/* ---- refute.c ---- */
void np_refuted_free(neap_session *s);
bool np_refuted_is(const neap_session *s, const np_entry *en);
neap_rc np_refuted_look(neap_session *s); /* before a turn: new uses of what is refuted */
void np_refuted_account(neap_session *s, np_buf *b);
void np_refuted_stale(const neap_session *s, np_buf *b); /* JSON: path, entry, source */
bool np_refuted_lines(void *ctx, const uint32_t *atoms, size_t n, np_buf *out);
neap_rc np_refuted_take(neap_session *s, const np_event *ev);

/* ---- scratch.c ---- */
void np_scratch_free(neap_session *s);
/* Sets step and id. */
neap_rc np_scratch_put(neap_session *s, np_draft *d);
neap_rc np_scratch_settle(neap_session *s, int64_t id, np_verdict_of *v);
/* Whether that would be taken. */
neap_rc np_scratch_check(const neap_session *s, const np_draft *d, np_err *e);
neap_rc np_scratch_check_verdict(const neap_session *s, int64_t id,
                                 const np_verdict_of *v, np_err *e);
/* The source of what was passed as that entry; 0: none. */
int64_t np_scratch_source(const neap_session *s, int64_t entry);
void np_scratch_list(const neap_session *s, bool waiting, np_buf *out); /* JSON */
void np_scratch_tool(bool is_chinese, np_buf *out); /* the schema of neap_scratch */
neap_rc np_scratch_handle(neap_session *s, const neap_call *c, const np_entry *call);
neap_rc np_scratch_take(neap_session *s, const np_event *ev, bool lost);

/* ---- phase.c ---- */
void np_phase_free(neap_session *s);
neap_rc np_phase_begin(neap_session *s, np_str name, np_who who);
neap_rc np_phase_check(np_str name, np_err *e);
const np_stage *np_phase_now(const neap_session *s,
                             const np_stage **before); /* or NULL */
neap_rc np_phase_take(neap_session *s, const np_event *ev);
void np_phase_account(const neap_session *s, np_buf *b);

/* ---- checks.c ---- */
neap_rc np_checks_take(neap_session *s, const np_event *ev);
/* Tells log and account: `faults` are JSON objects parted by commas; *list is all of them, kept for
** the turn. The ask 0 is none: what the turn's hooks wrote. */
neap_rc np_checks_tell(neap_session *s, int64_t ask, np_str faults, np_json *list);
neap_rc np_checks_turn(neap_session *s); /* a turn is decided */
void np_checks_account(neap_session *s, np_buf *b);
bool np_ask_is_open(const neap_session *s, int64_t id); /* asks.c */
/* neap_answer with a text that was verified already, or only picked out of the steps. */
neap_rc np_answer_verified(neap_session *s, int64_t ask, np_str text);

/* ---- deeds.c: what a policy's hooks have asked for besides the prompt ---- */
/* np_turn.attempt: would it be taken? `ctx` is the session. */
neap_rc np_deed_try(void *ctx, const np_pending *p, np_buf *faults, np_err *e);
/* np_turn.look: what there is, as JSON. */
void np_deed_look(void *ctx, np_sight what, np_buf *out);
/* Does what the turn's hooks have asked for, once its events are to be written. */
neap_rc np_deeds_settle(neap_session *s);

/* ---- stored_object.c: the state object of a session that nobody has opened ---- */
neap_rc np_stored_object(neap *n, np_str session, np_buf *out, np_err *e);
neap_rc np_stored_propose(neap *n, const char *session, const neap_proposal *p,
                          np_buf *answer, np_err *e);

/* ---- measure.c ---- */
typedef struct np_facts {
  int64_t cited, present, noted, pointed, gone;
} np_facts;
#define NP_DISTANCES 5 /* 1-3, 4-10, 11-20, 21-50, 51 and more */
typedef struct np_measure {
  np_facts facts, by_distance[NP_DISTANCES], by_class[NP_CLASS_COUNT];
  int64_t words_cited, words_present;
  /* Reads that would bring what is pointed at: an entry once a step; tokens that they fetch. */
  int64_t recalls, recalled;
} np_measure;
/* A fact that was not shown. `from`: the entry whose mark points to it, in the log of this
** session, 0 when it is gone; `tokens`: what its recall fetches, unless the step has read that
** entry for another: `shared`. */
typedef struct np_lost {
  const np_citation *citation;
  int64_t from, tokens;
  bool shared;
} np_lost;
typedef void (*np_lost_fn)(void *ctx, const np_lost *lost);
/* What the steps since the last call cite, against what the last prompt showed. NEAP_E_MEMORY. */
neap_rc np_session_measure(neap_session *s, np_measure *out, np_lost_fn lost, void *ctx);

#endif
