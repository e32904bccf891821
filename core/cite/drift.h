/*
** Drift: the share of the model's newest steps that name nothing of what the user asked for.
** A long run of such steps is a side issue, or work that the user's words do not reach.
** next: drift.c
*/
#ifndef NP_CITE_DRIFT_H
#define NP_CITE_DRIFT_H

#include "base/str.h"

#define NP_DRIFT_STEPS 10 /* that are looked back on */
/* of a message: a paste of thousands would make everything its goal */
#define NP_DRIFT_NAMES 64

/* What a user message has named, by hashes. */
typedef struct np_goal {
  uint64_t name[NP_DRIFT_NAMES];
  size_t count;
} np_goal;

/* All zero at the start. The goal is the task and the newest user message. */
typedef struct np_drift {
  np_goal task, newest;
  int64_t message; /* the newest user message behind the task */
  int64_t step;    /* the newest of the model's that has been counted */
  unsigned steps;  /* counted so far, at most NP_DRIFT_STEPS */
  uint32_t named;  /* a bit a step, the newest lowest: it named something of the goal */
} np_drift;

/* The user names something in that message; `task`: it is the task. */
void np_drift_goal(np_drift *d, int64_t message, bool task, np_str name);
/* A user message begins: the one before is no goal any more, unless it is the task. */
void np_drift_message(np_drift *d, int64_t message, bool task);
/* The model writes in this step. It counts once there is a goal. */
void np_drift_step(np_drift *d, int64_t step);
/* What it names there. */
void np_drift_named(np_drift *d, np_str name);
/* False while no step has been counted. */
bool np_drift_share(const np_drift *d, double *share);

#endif
