/*
** Calibration: what the provider reports for a prompt, against what was counted. For a model
** without a public vocabulary it corrects the factor by a bounded step, and the bound follows
** the error that is left; where counting is exact the difference is only told. Whole numbers
** throughout: the same reports give the same budget on every machine. next: gauge.c, usage.c
*/
#ifndef NP_ENGINE_GAUGE_H
#define NP_ENGINE_GAUGE_H

#include "render/model.h"

#define NP_GAUGE_KEPT 8 /* reports that decide the factor */

typedef struct np_gauge {
  bool exact;
  bool measured;         /* there was a report */
  int64_t factor, bound; /* in force, in millionths */
  int64_t stated;        /* the bound before anything was measured */
  int64_t drift;         /* of the last report from the estimate, in millionths */
  int64_t counted[NP_GAUGE_KEPT], reported[NP_GAUGE_KEPT];
  uint32_t taken; /* reports that were used */
} np_gauge;

void np_gauge_init(np_gauge *g, bool exact, int64_t factor, int64_t bound);

/* Takes the report for a prompt of `counted` tokens. What cannot be a count (none, negative,
** beyond any window) changes nothing, and false is returned. `usable` false, or a ratio far
** from the factor: the drift is noted, and no more. */
bool np_gauge_take(np_gauge *g, int64_t counted, int64_t reported, bool usable);

/* Of `room` tokens of the model, what is kept free for the error, at most a third. */
int64_t np_gauge_margin(const np_gauge *g, int64_t room);
/* How many counted tokens fit into `room` less the margin: count x factor <= that. */
int64_t np_gauge_budget(const np_gauge *g, int64_t room);
/* Tokens of the model for `counted` ones, rounded up. */
int64_t np_gauge_estimate(const np_gauge *g, int64_t counted);

#endif
