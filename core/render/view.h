/*
** What of the log is shown: every entry's rung and replacement, the order of rendering, runs
** of dropped entries with their notices, and the exact tokens of it all, kept up to date by
** each change. Decides nothing; pack/ does. next: view.c, first.c, runs.c,
** fold.c, lay.c
*/
#ifndef NP_RENDER_VIEW_H
#define NP_RENDER_VIEW_H

#include "base/spare.h"
#include "cite/log_index.h"
#include "render/model.h"
#include "render/trim.h"

typedef enum np_rung {
  NP_FULL,
  NP_TRIMMED,
  NP_REFERENCE,
  NP_MASKED,
  NP_DROPPED,
  NP_RUNG_COUNT
} np_rung;
const char *np_rung_name(np_rung r);
/* Where an entry is that has no rung: behind a summary; a summary that is not there (yet, or
** any more). In changes and accounts only. */
#define NP_FOLDED NP_RUNG_COUNT
#define NP_ABSENT (NP_RUNG_COUNT + 1)
bool np_rung_parse(np_str name, np_rung *out);

/* In replacement texts this byte stands for the mark key; it cannot occur in UTF-8. */
#define NP_KEY_BYTE '\xFF'

#define NP_TRIMS 3 /* of a ladder, at most */
#define NP_STEPS                                                                         \
  (NP_TRIMS + 2) /* below full and above dropped: trims, reference, masked */

typedef struct np_shown {
  uint8_t rung;
  /* has a place in the prompt: not empty, not folded, and the format renders it; a summary
  ** has one while it stands for its atoms */
  bool listed;
  bool pinned, held;
  bool sent : 1;     /* stood in a prompt, at whatever rung */
  bool fetched : 1;  /* is the answer to a read or recall: never put away again */
  bool unmarked : 1; /* its cache mark is left out: newer ones took its place */
  bool whole : 1;    /* a state's change that stands, at full, for the whole: its text */
  bool named : 1;    /* where it is dropped, its run's notice may say what it is */
  uint16_t frame;    /* tokens around a result that is shown; other kinds: framing */
  np_str text;       /* what is shown at trimmed, reference, masked, or of a whole */
  uint32_t full;     /* tokens at full, without its message's framing */
  uint32_t tokens;   /* tokens now; 0 when dropped */
  uint32_t prev, next; /* order of rendering, 0 at the ends; ids fit (np_log_reserve) */
  uint32_t run;        /* right at both ends of a run of dropped entries */
  uint32_t unit;       /* its segment in the frame, UINT32_MAX when none */
  /* the summary that stands for it: it keeps its rung for the day it is opened again */
  uint32_t folded;
  /* what the ladder's trims, reference and masked would cost, as np_pack_preview found out once:
  ** tokens + 1, NP_NO_PREVIEW: no such text, 0: not known */
  uint32_t preview[NP_STEPS];
  /* what such a trim shows, found out with it: identifiers, or what its facts weigh; and what
  ** of the entry nothing later held then */
  float kept[NP_TRIMS];
  uint32_t latest;
} np_shown;
#define NP_NO_PREVIEW UINT32_MAX
#define NP_RUN_NAMES 16 /* of a run: the newest that its notice may name */

/* A run of dropped entries that are neighbours in the order of rendering: one notice. */
typedef struct np_run {
  int64_t first, last;
  int64_t entries, tokens; /* how many, and their tokens at full */
  int64_t step_from, step_to;
  /* tokens of its notice, framing included; 0: unused slot */
  uint32_t notice;
  np_region region; /* where its notice counts: that of the first entry */
} np_run;

/* Signed thoughts since the last user text, oldest first; loop.c. */
typedef struct np_loop {
  int64_t *ids;
  size_t count, cap;
  size_t at;    /* none before it is shown */
  int64_t step; /* of the newest response, 0: none since the user spoke */
  bool calls;   /* it has calls: the loop goes on */
} np_loop;

#define NP_LAYOUT 3 /* regions between the task and the hot one */

/* What a policy says of places. */
typedef struct np_layout {
  np_region order[NP_LAYOUT]; /* memory, warm, state */
  bool head; /* evidence and notices stand before the rest of the hot region */
} np_layout;
np_layout np_layout_usual(void);

/* Where blocks stand since the last rewrite: those up to `upto` in their places, of the states
** among them the newest alone; those behind it where they came. */
typedef struct np_lay {
  np_layout layout;
  int64_t upto;
  /* behind which regions stand: the last entry then that is fixed or of the task, which may
  ** come later; until anything has a place the last there is */
  int64_t front;
  int64_t opening; /* in an undo: what opened the prompt before; else 0 */
} np_lay;

typedef struct np_view np_view;
struct np_repair_memo;

/* What a body has come to behind a segment: a format's own words, kept with each segment, so
** that the next one can be written from there. All zero where nothing stands yet. */
typedef struct np_seam {
  uint8_t state;
  bool bare;        /* a content that is one string, and no list yet */
  bool reformed;    /* it has become a list since, for what came behind it */
  uint32_t message; /* whose brackets are open */
  uint32_t size;    /* of a bare string, quotes included: the body ends with it */
  uint32_t grown;   /* bytes that writing has put into the segment before */
} np_seam;

/* What makes a list of texts of a string, with a brace behind it. */
#define NP_LIST_LEAD "[{\"type\":\"text\",\"text\":"

/* Neighbours in the order of rendering that are of one response: they make up one segment. */
typedef struct np_group {
  uint32_t lead;         /* the response's first message */
  int64_t first, behind; /* its entries are those from first up to behind (0: the end) */
} np_group;

typedef enum np_thoughts {
  NP_THOUGHTS_NONE,
  NP_THOUGHTS_OWN, /* those that are of its own shape: they are signed */
  NP_THOUGHTS_ALL  /* as text */
} np_thoughts;

/* A provider's form. Costs are those of strings tokenized apart, so they add up. Results are
** framed one by one, everything else once a response. */
typedef struct np_format {
  const char *name;
  np_shape shape; /* whose bytes it can copy; NP_SHAPE_COUNT: none */
  np_thoughts thoughts;
  bool parts;  /* requires roles, pairing and so on to be kept valid */
  bool turns;  /* user and assistant take turns: the tail depends on who speaks last */
  bool names;  /* has a place for a speaker's name */
  bool loops;  /* thoughts must be given back while their loop is open */
  bool blanks; /* takes a text of white space alone */

  /* Tokens of an entry's content as it would be shown: its own text, or `text` if not NULL. */
  uint32_t (*entry_tokens)(const np_view *v, const np_entry *en, const np_str *text);
  /* Tokens of a response's framing, spent once when any entry but a result is shown. */
  uint32_t (*message_tokens)(const np_view *v, const np_message *lead);
  uint32_t (*result_tokens)(const np_view *v,
                            const np_entry *en); /* a result's framing */
  uint32_t (*notice_tokens)(const np_view *v, np_str text);
  /* Whether a picture or file of another form has a place in a result. NULL: none has. */
  bool (*takes)(const np_view *v, np_json part, np_kind kind);
  /* what a listed entry needs to be taken, besides what all need: repair.h. NULL: nothing */
  uint32_t (*repairs)(const np_view *v, const np_entry *en, struct np_repair_memo *memo);
  /* whether the user's word is put before all that is shown; behind it. NULL: never */
  bool (*begins)(const np_view *v);
  bool (*ends)(const np_view *v);
  /* cache marks of an entry's own bytes; of the head when NULL is given. NULL: has none */
  uint32_t (*marks)(const np_view *v, const np_entry *en);
  uint32_t (*head_tokens)(const np_view *v); /* tools, and what opens the prompt */
  uint32_t (*tail_tokens)(const np_view *v); /* what closes it: reply priming */

  /* Bytes. A piece is written behind `seam`, which then says what stands before the next. A
  ** tail only closes: it is no part of the segments. */
  void (*head)(const np_view *v, np_seam *seam, np_buf *out);
  void (*group)(const np_view *v, const np_group *g, np_seam *seam, np_buf *out);
  void (*notice)(const np_view *v, np_str text, np_seam *seam, np_buf *out);
  void (*tail)(const np_view *v, np_seam seam, np_buf *out);
} np_format;

const np_format *np_format_find(np_str name); /* NULL when not built in */
const np_format *np_format_at(size_t i);      /* NULL past the last */

struct np_view {
  const neap_alloc *alloc;
  np_spare temp; /* what does not outlive a call: np_temp */
  np_log *log;
  const np_vocab *vocab;
  np_words *words; /* seen before; NULL counts the same, more slowly */
  /* a view of the log that this one's log mirrors, which counts the same: NULL: none */
  const np_view *twin;
  const np_format *format;
  const np_model *model; /* what images and tools cost; never NULL */
  np_str tools;          /* raw JSON array, empty when none */
  np_str request;        /* raw JSON object of the host's members, empty when none */
  bool recall;           /* the model can call neap_read and neap_recall */
  char key[4];           /* the mark key */
  bool burnt;            /* some text holds the key: renew it at the next rewrite */

  np_shown *shown; /* by entry id - 1 */
  size_t count, cap;
  uint32_t *framing; /* by lead message: framing tokens spent now */
  uint32_t *visible; /* by lead message: entries shown, results aside */
  size_t messages, framing_cap, visible_cap;
  int64_t *batch_tail; /* by atom: last listed entry of a batch and its response */
  size_t batch_cap;
  np_run *runs;
  size_t run_count, run_cap;
  /* between np_runs_lift and np_runs_settle: runs are not right */
  bool loose;
  int64_t head, tail; /* first and last listed entry */
  /* by kind: no entry before it is listed and full; listed and not dropped. The second row is
  ** of hot entries alone, the first of all but fixed ones (first.c) */
  int64_t first_full[2][NP_KIND_COUNT], first_shown[2][NP_KIND_COUNT];
  int64_t
      first_new[2]; /* no entry before it is listed (and not dropped) and was not sent */
  int64_t front;    /* the last entry that is fixed or of the task */
  np_layout want;   /* from the next rewrite on */
  np_lay lay;       /* now */
  int64_t *blocks;  /* entries of the host's that have a kind, as they came; lay.c */
  size_t block_count, block_cap;
  size_t live;      /* summaries that stand for their atoms */
  int64_t left_out; /* thoughts and items that this format has no place for */
  np_loop loop;
  int64_t opening; /* the first entry that was listed, the system's aside; 0: none yet */
  int64_t *marked; /* entries with cache marks; those before marked_live are unmarked */
  size_t marked_count, marked_cap, marked_live;
  uint32_t marks_head, marks_fixed, marks_live; /* how many, where */
  bool refolded; /* folds or places have changed since the last rendering */
  /* results that were shown as the same as an earlier one, which must then stay */
  struct np_pointer {
    int64_t from, to;
  } * pointers;
  size_t pointer_count, pointer_cap;
  /* entries whose tokens at full are a guess: files, images of unknown size */
  int64_t *guesses;
  size_t guess_count, guess_cap;

  int64_t region[NP_REGION_COUNT]; /* tokens now, head and tail included */
  int64_t total;
  uint32_t head_cost, tail_cost; /* tokens of head and tail, in fixed and hot */
  int64_t tools_cost;            /* of the head, what the tools are */
  uint32_t dirty; /* lowest segment that may have changed, UINT32_MAX: none */
  /* appends what a state's entry stands for in its region; false: for what it says. NULL: all do */
  bool (*whole)(void *ctx, int64_t id, np_buf *out);
  void *whole_ctx;
  np_arena arena; /* replacement texts */
  np_buf scratch;
  bool lost; /* memory ran out in counting: nothing is right any more */
};

/* For buffers that are freed before the function returns. */
static inline const neap_alloc *np_temp(const np_view *v) {
  return &v->temp.alloc;
}

/* Notes it where a format, which may not change a view, counts or renders. */
static inline void np_view_lose(const np_view *v) {
  ((np_view *)(uintptr_t)v)->lost = true; /* no view is a const object */
}

neap_rc np_view_init(np_view *v, const neap_alloc *a, np_log *lg, const np_vocab *vocab,
                     const np_format *format, np_err *e);
void np_view_free(np_view *v);
/* Shares the counts of a view of the log that this one's log mirrors, of the same vocabulary,
** format and model; it must outlive this one. Before anything is taken in. */
void np_view_pair(np_view *v, const np_view *twin);

/* Sets tools and the host's members; counts the head anew. Slices must outlive the view. */
void np_view_set_head(np_view *v, np_str tools, np_str request, bool recall);

/* Tokens that the head would have for those tools, less those it has without any. */
int64_t np_view_tools_tokens(np_view *v, np_str tools);

/* Whether something is shown whose tokens are a guess at the upper side. */
bool np_view_guesses(const np_view *v);

/* Whether a thinking loop is open: *from gets its first entry that must stay, *last its last
** thought. */
bool np_view_loop(const np_view *v, int64_t *from, int64_t *last);

/* Takes in the entries that the log has got since the last call. */
neap_rc np_view_sync(np_view *v, np_err *e);

/* Shows `id` at `rung` with `text` in its place (kept: copied). DROPPED and back from it
** go through np_view_drop and np_view_restore. NEAP_E_MEMORY only. */
neap_rc np_view_show(np_view *v, int64_t id, np_rung rung, np_str text, np_err *e);
/* The same of a text whose tokens in its place are known. */
neap_rc np_view_show_counted(np_view *v, int64_t id, np_rung rung, np_str text,
                             uint32_t tokens, np_err *e);
void np_view_forget_previews(np_view *v);
/* Whether another entry is shown as the same as this one. */
bool np_view_is_pointed_at(const np_view *v, int64_t id);
/* Before a drop: the notice will name the atom's results, as far as it has room, or not. */
void np_view_name(np_view *v, uint32_t atom, bool named);
/* all entries of the atom */
neap_rc np_view_drop(np_view *v, uint32_t atom, np_err *e);
/* back to what they were before */
neap_rc np_view_restore(np_view *v, uint32_t atom, np_err *e);

/* From now on the summary stands for its atoms, which have then no place in the order, or it
** has none and they have. All atoms must be whole in the view and none folded (all folded by
** it). The summary goes behind the task and earlier ones. fold.c; NEAP_E_MEMORY only. */
neap_rc np_view_fold(np_view *v, int64_t summary, np_err *e);
neap_rc np_view_unfold(np_view *v, int64_t summary, np_err *e);
/* What a dropped entry counts for in its run's notice: itself, or all that it stands for. */
typedef struct np_piece {
  int64_t entries, tokens, step_from, step_to;
} np_piece;
np_piece np_view_piece(const np_view *v, int64_t id);
/* Blocks, lay.c. Whether laying them would change anything; how they would stand after a
** rewrite now; laying them so, or as they stood before (in an undo). NEAP_E_MEMORY only. */
bool np_view_lay_due(const np_view *v);
np_lay np_view_lay_now(const np_view *v);
neap_rc np_view_lay(np_view *v, np_lay lay, np_err *e);
/* The newest state up to there, 0: none. */
int64_t np_view_state(const np_view *v, int64_t upto);
/* Tokens that this state would have in its region. */
int64_t np_view_state_tokens(np_view *v, int64_t id);
/* Tokens of `text` in the place of an entry's, the mark key filled in. */
uint32_t np_view_count(np_view *v, const np_entry *en, np_str text);

/* Before a rendering: after folds, what is hidden has no segment. */
void np_view_forget_units(np_view *v);
/* Takes the newest entry, a summary that has no place, out again. */
void np_view_pop(np_view *v);

/* The same for many: atoms are lifted first, then the runs made anew once. Marks no segment as
** changed: for the undo, which knows what had changed before. */
void np_runs_lift(np_view *v, uint32_t atom);
neap_rc np_runs_settle(np_view *v, np_err *e);

/* The first entry of the kinds (a set of bits) outside the fixed region, or, with `hot`, of the
** hot one, that is listed and full, or, unless `full`, at least not dropped; one more than there are entries when there is none. Costs what has been
** put away since the last call: a walk that begins here costs what is shown. first.c */
int64_t np_view_first(const np_view *v, uint32_t kinds, bool hot, bool full);
/* The first entry outside the fixed region that has a place and was in no prompt yet, or with
** `shown` one that is not dropped either; one more than there are entries when there is none.
** The cost is that of np_view_first. */
int64_t np_view_first_new(const np_view *v, bool shown);
/* An entry may be listed and full again. */
void np_view_raised(np_view *v, int64_t id);
/* The newest entry goes: its id is the next one's, of whatever kind. */
void np_view_taken(np_view *v);

static inline np_shown *np_view_at(const np_view *v, int64_t id) {
  return &v->shown[id - 1];
}

/* Whether an entry is shown with its own text, and no other in its place. */
static inline bool np_shown_is_own(const np_shown *s) {
  return s->rung == NP_FULL && !s->whole;
}

static inline bool np_view_is_live(const np_view *v, int64_t summary) {
  return np_view_at(v, summary)->listed;
}

static inline bool np_view_is_shown(const np_view *v, int64_t id) {
  const np_shown *s = np_view_at(v, id);
  return s->listed && s->rung != NP_DROPPED;
}

/* The first entry behind `id` (0: from the start), in the order of rendering, that is shown; 0:
** none. Goes past a run of dropped ones in one step; not between np_runs_lift and _settle. */
static inline int64_t np_view_next_shown(const np_view *v, int64_t id) {
  id = id ? np_view_at(v, id)->next : v->head;
  while (id && np_view_at(v, id)->rung == NP_DROPPED)
    id = np_view_at(v, v->runs[np_view_at(v, id)->run].last)->next;
  return id;
}

static inline const np_message *np_view_message(const np_view *v, const np_entry *en) {
  return &v->log->messages[en->message];
}

/* The first entry of the group, from `id` on, that is shown; 0: none. */
static inline int64_t np_group_shown(const np_view *v, const np_group *g, int64_t id) {
  while (id != g->behind && !np_view_is_shown(v, id)) id = np_view_at(v, id)->next;
  return id == g->behind ? 0 : id;
}
/* The next one that is shown behind `id`; 0: none. */
static inline int64_t np_group_after(const np_view *v, const np_group *g, int64_t id) {
  return np_group_shown(v, g, np_view_at(v, id)->next);
}

/* The text that stands for an entry, the key filled in; valid until the next call. */
np_str np_view_text(const np_view *v, np_str text, np_buf *buf);
/* The notice of a run, the key filled in. */
void np_run_text(const np_view *v, const np_run *r, np_buf *out);

/* Changes the mark key (4 characters) and counts all marks anew. */
neap_rc np_view_rekey(np_view *v, const char key[4], np_err *e);

/* Whether the first run that starts in the entries of one message stands before it. Used by
** the frame; see frame.c. */
static inline bool np_view_is_run_head(const np_view *v, int64_t id) {
  const np_shown *s = np_view_at(v, id);
  return s->rung == NP_DROPPED && v->runs[s->run].first == id && v->runs[s->run].notice;
}

#endif
