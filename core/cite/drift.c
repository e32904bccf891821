/*
** Drift is measured as entries come, a look at 128 hashes for each identifier, and only until
** a step has named one. Names are compared by their last part: who is told of "src/pump.c"
** opens "/home/me/src/pump.c". next: query.c
*/
#include "cite/drift.h"

#include "base/hash.h"

/* "pump.c" of "/home/me/src/pump.c:17", "a.c:b" of "a.c:b"; what would be shorter than an
** identifier keeps the part before it. */
static np_str last_part(np_str s) {
  size_t end = s.n, cut;
  for (size_t i = 4; i + 1 < s.n; i++) {
    if (s.p[i] != ':' || s.p[i + 1] < '0' || s.p[i + 1] > '9') continue;
    end = i;
    break;
  }
  for (cut = end; cut > 0; cut--) {
    if (s.p[cut - 1] == '/' && end - cut >= 4) break;
  }
  return np_str_cut(s, cut, end);
}

static bool holds(const np_goal *g, uint64_t hash) {
  for (size_t i = 0; i < g->count; i++) {
    if (g->name[i] == hash) return true;
  }
  return false;
}

void np_drift_message(np_drift *d, int64_t message, bool task) {
  if (task || message == d->message) return;
  d->message = message;
  d->newest.count = 0;
}

void np_drift_goal(np_drift *d, int64_t message, bool task, np_str name) {
  np_goal *g = task ? &d->task : &d->newest;
  np_drift_message(d, message, task);
  if (g->count < NP_DRIFT_NAMES) g->name[g->count++] = np_hash64(last_part(name));
}

void np_drift_step(np_drift *d, int64_t step) {
  if (step == d->step || d->task.count + d->newest.count == 0) return;
  d->step = step;
  d->named <<= 1;
  if (d->steps < NP_DRIFT_STEPS) d->steps++;
}

void np_drift_named(np_drift *d, np_str name) {
  if (d->steps == 0 || (d->named & 1)) return;
  uint64_t hash = np_hash64(last_part(name));
  if (holds(&d->task, hash) || holds(&d->newest, hash)) d->named |= 1;
}

bool np_drift_share(const np_drift *d, double *share) {
  unsigned off = 0;
  for (unsigned i = 0; i < d->steps; i++) off += !(d->named >> i & 1);
  if (d->steps) *share = (double)off / d->steps;
  return d->steps > 0;
}
