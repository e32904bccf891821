/*
** What view.c, marked.c, runs.c and fold.c have of each other. next: marked.c, runs.c
*/
#ifndef NP_RENDER_RUNS_H
#define NP_RENDER_RUNS_H

#include "render/view.h"

/* marked.c: notes an entry's cache marks (false: no memory); lets go of the oldest. */
bool np_view_note_marks(np_view *v, const np_entry *en);
void np_view_settle_marks(np_view *v);

/* loop.c: an entry that is listed; false when out of memory. */
bool np_view_note_loop(np_view *v, const np_entry *en);

/* lay.c: an entry that is listed; false when out of memory. And the order made anew. */
bool np_view_note_block(np_view *v, const np_entry *en);
void np_view_order(np_view *v);

/* Drops a result that came late to a dropped call, which has now `saved` tokens less. */
neap_rc np_runs_drop(np_view *v, int64_t id, int64_t saved, np_err *e);
/* Parts the run in whose middle a result has come whose call is shown. */
neap_rc np_runs_part(np_view *v, int64_t id, np_err *e);

/* view.c's part of it */
void np_view_hide(np_view *v, int64_t id);
void np_view_unhide(np_view *v, int64_t id);
void np_view_unlink(np_view *v); /* empties the order of rendering */
/* gives a listed entry the place in it that those before it leave it */
void np_view_link(np_view *v, int64_t id);
void np_view_link_behind(np_view *v, int64_t id, int64_t prev); /* 0: at the head */
void np_view_reveal(np_view *v, int64_t id);
void np_view_conceal(np_view *v, int64_t id);
void np_view_retail(np_view *v);                      /* counts the tail anew */
void np_view_add(np_view *v, np_region r, int64_t n); /* adds n tokens to the region */
/* Marks the segment of `id`, or of what is shown before its run, as changed. A dropped `id`
** must be an end of its run. */
void np_view_touch(np_view *v, int64_t id);

#endif
