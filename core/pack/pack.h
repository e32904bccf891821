/*
** The packer: what may be done to an entry and what is refused, lowering by rank or by value
** until a target is met, the last resort, and an undo for everything a turn has done. It
** knows budgets and rules; what is worth keeping it is told. next: change.c, fold.c, tools.h,
** lay.c, shrink.c
*/
#ifndef NP_PACK_PACK_H
#define NP_PACK_PACK_H

#include "pack/tools.h"

typedef enum np_order { NP_ORDER_RANK, NP_ORDER_VALUE } np_order;

/* How an entry is trimmed when it is lowered, and what its rungs are worth. With several trims
** a shrink by value may take any of them, and a smaller one of what is trimmed already. */
typedef struct np_ladder {
  int64_t
      tokens[NP_TRIMS]; /* each less than the one before; 0: none, of the first: 250 */
  np_keep keep;
  bool keep_set; /* else dense for results, ends for the rest */
  bool by_shown; /* a trim is worth the share of the identifiers that it shows */
  bool by_facts; /* the same of what its facts weigh; dense trims choose lines by that */
  bool worth_set;
  double reference, masked; /* their worth, with worth_set */
  np_cite_weights facts;
  double named; /* notices name dropped results of so much worth; 0: none */
} np_ladder;

/* What a layout says of a region; 0: nothing. */
typedef struct np_bounds {
  int64_t min, max; /* tokens */
  double share;     /* of the budget: a max that goes with it */
} np_bounds;

/* Who asked for a change: all borrowed for the call, copied into the pack. */
typedef struct np_reason {
  np_str why; /* "older than the newest 10" */
  np_str by;  /* "mask.lua:12", "last resort" */
} np_reason;

/* What a shrink by value leaves alone: the atoms before one, in the order of the log. */
typedef struct np_front {
  double
      more; /* times the least loss that may be lost for it; 0: nothing is left alone */
  bool chosen;
  uint32_t atom;
} np_front;

typedef enum np_flag {
  NP_FLAG_NONE,
  NP_FLAG_PINNED,
  NP_FLAG_HELD,
  NP_FLAG_FOLD,   /* the entry is a summary that was made and stands for its atoms */
  NP_FLAG_UNFOLD, /* a summary was opened */
  NP_FLAG_TOLD,   /* an entry that one of these two covers: for the account only */
  /* of no entry: text_before is the state of the tools (np_toolset_save), or how blocks stood
  ** (an np_lay) */
  NP_FLAG_TOOLS,
  NP_FLAG_LAY
} np_flag;

typedef struct np_change {
  int64_t entry;
  uint8_t from, to;   /* rungs */
  np_str why, by;     /* live until the turn ends */
  np_str text_before; /* for the undo */
  uint8_t flag;       /* np_flag; for the first two the rung is unchanged */
  /* dropped or restored with its atom: undone once, by its first entry */
  bool atom;
  bool sent;      /* had been in a prompt */
  bool named;     /* its notice named it, where it was dropped */
  uint32_t dirty; /* the view's lowest changed segment before it */
} np_change;

typedef enum np_verdict {
  NP_DONE,    /* carried out */
  NP_SAME,    /* already so, or not cheaper than what is shown now: nothing to do */
  NP_REFUSED, /* a rule forbids it: np_pack.refusal says which */
  NP_NO_MEMORY
} np_verdict;

struct np_pack {
  const neap_alloc *alloc;
  np_log *log;
  np_view view;
  np_frame frame;
  np_toolset tools;
  int64_t budget; /* window - reserve - margin */
  np_order order;
  np_ladder ladder, previewed; /* now; that by which previews were made */
  np_bounds bounds[NP_REGION_COUNT];
  int64_t ahead, seen; /* entries with previews; entries of the last turn */
  double (*rank)(void *ctx, int64_t entry); /* NULL: all ranks are 1 */
  void *rank_ctx;
  np_front front;     /* of the shrink that runs */
  np_change *changes; /* of this turn, in order */
  size_t change_count, change_cap;
  np_arena turn;       /* what lives until the turn ends */
  const char *refusal; /* static text of the last NP_REFUSED */
  int64_t refusals;    /* this turn */
  /* lines that a summary of atoms says behind its text: a line end before each. NULL: none */
  bool (*lines)(void *ctx, const uint32_t *atoms, size_t n, np_buf *out);
  void *lines_ctx;
};

neap_rc np_pack_init(np_pack *p, const neap_alloc *a, np_log *lg, const np_vocab *vocab,
                     const np_format *format, int64_t budget, np_err *e);
void np_pack_free(np_pack *p);

/* Starts a turn: takes in new entries, forgets the last turn's changes. */
neap_rc np_pack_begin(np_pack *p, np_err *e);

/* Everything since np_pack_mark is undone by np_pack_undo(p, mark): a hook that fails has
** asked for nothing. */
static inline size_t np_pack_mark(const np_pack *p) {
  return p->change_count;
}
neap_rc np_pack_undo(np_pack *p, size_t mark, np_err *e);

/* ---- one entry ---- */

/* Never touched: system, tools, state, pinned. */
bool np_pack_is_pinned(const np_pack *p, int64_t id);
/* Kept but for the last resort: task, the newest step, what a policy holds, what was fetched. */
bool np_pack_is_held(const np_pack *p, int64_t id);
np_verdict np_pack_pin(np_pack *p, int64_t id, np_reason r);
np_verdict np_pack_hold(np_pack *p, int64_t id, np_reason r);

/* A trim by what is named; the ladder has the rest. */
typedef struct np_trim_want {
  int64_t tokens; /* at most; <= 0: the ladder's, or with `lines` any number */
  int64_t lines;  /* at most; <= 0: any number */
  const np_keep *keep;
  np_str about;
} np_trim_want;

/* Trimming may be asked for an entry of the newest step (it is how a large result comes in),
** not for the task. Refused when not even the mark has as few tokens. */
np_verdict np_pack_trim(np_pack *p, int64_t id, np_trim_want want, np_reason r);
np_verdict np_pack_reference(np_pack *p, int64_t id, np_reason r);
np_verdict np_pack_mask(np_pack *p, int64_t id, np_reason r);
np_verdict np_pack_drop(np_pack *p, int64_t id, np_reason r);    /* its whole atom */
np_verdict np_pack_restore(np_pack *p, int64_t id, np_reason r); /* back to full */

/* ---- folds (fold.c) ---- */

#define NP_SUMMARY_MAX ((size_t)64 << 10) /* bytes of a summary */

/* Whether a summary may stand for the atom: it is hot, whole in the view, closed, not of the
** newest step, and none of it is pinned, held or folded. Else np_pack.refusal says why. */
bool np_pack_may_fold(np_pack *p, uint32_t atom);
/* Makes a summary with that text stand for the atoms (ascending). The text must be UTF-8, and
** the prompt must become smaller by it. *summary (may be NULL) gets the new entry's id; the
** undo takes the entry back with it. */
np_verdict np_pack_fold(np_pack *p, const uint32_t *atoms, size_t n, np_str text,
                        np_reason r, int64_t *summary);
/* Summaries that a new one takes the place of: how many, and the newest of them, which is enough
** to tell whether others stand there by now. */
typedef struct np_takes {
  size_t count;
  int64_t newest;
} np_takes;
/* The same where some of the atoms are those of live summaries, each with all of its atoms in the
** list: these are opened first. The prompt must be smaller than before that. Refused when they are
** others than `takes` says. */
np_verdict np_pack_refold(np_pack *p, const uint32_t *atoms, size_t n, np_takes takes,
                          np_str text, np_reason r, int64_t *summary);
int64_t np_pack_folded_by(const np_pack *p, uint32_t atom); /* a summary, or 0 */
/* The summary that stands for the atom and may be taken in by one over the steps from..before,
** or 0. */
int64_t np_pack_may_take(np_pack *p, uint32_t atom, int64_t from, int64_t before);
/* Opens a summary: what it stands for is shown again at the rungs it had. */
np_verdict np_pack_unfold(np_pack *p, int64_t summary, np_reason r);
neap_rc np_pack_undo_fold(np_pack *p, const np_change *c, np_err *e); /* pack.c's */

/* ---- tools (tools.c) ---- */

/* The policy wants these, by item, until it says otherwise; what visible calls name, what the
** request names, the engine's own and what the model has looked for are shown all the same.
** Takes effect where the prompt is written anew, else at the next rewrite; `now`: at once, and
** what the model has looked for may go, too. Nothing that must come is let in over the budget. */
np_verdict np_pack_tools_want(np_pack *p, const bool *wanted, bool now, np_reason r);
/* Shows what is due, if the prompt is written anew, or `now`. */
np_verdict np_pack_tools_settle(np_pack *p, bool now);

/* ---- blocks (lay.c) ---- */

/* Where the prompt is written anew, or `now`: blocks stand in their places, and of the states
** the newest alone. NP_SAME when they do already, or it is not. */
np_verdict np_pack_lay(np_pack *p, bool now);
neap_rc np_pack_undo_lay(np_pack *p, np_str saved, np_err *e); /* pack.c's */
/* Tokens of states that are shown though a newer one is there. */
int64_t np_pack_stale(np_pack *p);

/* ---- the whole ---- */

/* Lowers the lowest ranks (or the least value per token) until the prompt has at most
** `tokens`, or nothing more may be lowered. What is in regions above their caps goes first,
** down to the caps; no region is lowered below its minimum. */
neap_rc np_pack_shrink(np_pack *p, int64_t tokens, np_reason r, np_err *e);
/* The same, by value only: as long a beginning as possible is left alone while that loses at
** most `front` (>= 0) times more value. */
neap_rc np_pack_shrink_behind(np_pack *p, int64_t tokens, double front, np_reason r,
                              np_err *e);

/* Makes some of the previews that a choice by value will want, if it may be near: in turns
** that only append, so that the one that rewrites finds them made. Changes no result. */
neap_rc np_pack_prepare(np_pack *p, np_err *e);

/* Makes the prompt fit: oldest results masked, then atoms dropped, then held entries trimmed.
** NEAP_E_BUDGET when it cannot be; the caller undoes. */
neap_rc np_pack_last_resort(np_pack *p, np_err *e);

static inline int64_t np_pack_tokens(const np_pack *p) {
  return p->view.total;
}
/* Age of an entry in steps, at least 1. */
static inline int64_t np_pack_age(const np_pack *p, const np_entry *en) {
  int64_t age = p->log->step + 1 - en->step;
  return age < 1 ? 1 : age;
}

#endif
