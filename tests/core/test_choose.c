/*
** Choosing what to lower, held against a dynamic program: few sets are chosen from exactly, many
** within a step of the bound, and more budget never keeps less. next: test_shrink.c
*/
#include "check.h"
#include "pack/choose_steps.h"

#define SETS_MAX 200
#define OPTIONS_MAX 9

typedef struct problem {
  np_option options[SETS_MAX * OPTIONS_MAX];
  size_t first[SETS_MAX + 1];
  np_choice choice;
  int64_t most; /* all that can be saved */
} problem;

static problem pb;

static uint64_t below(unsigned long long *rnd, uint64_t n) {
  return check_random(rnd) % n;
}

/* Sizes and values as they occur (rungs of an entry), equal ratios, or anything at all. */
static void make(unsigned long long *rnd, size_t sets, int64_t size) {
  static const double worth[] = {0.4, 0.7, 0.9, 1};
  size_t n = 0;
  int style = (int)below(rnd, 3);
  pb.most = 0;
  for (size_t i = 0; i < sets; i++) {
    int64_t all = 1 + (int64_t)below(rnd, (uint64_t)size), most = 0;
    double rank = (double)below(rnd, 4096) / 256;
    pb.first[i] = n;
    size_t options = below(rnd, style == 0 ? 5 : OPTIONS_MAX + 1);
    for (size_t o = 0; o < options; o++) {
      int64_t saved = 1 + (int64_t)below(rnd, (uint64_t)all);
      double lost = style == 0   ? rank * worth[o]
                    : style == 1 ? (double)saved
                                 : (double)below(rnd, 1000);
      pb.options[n++] = (np_option){saved, lost};
      if (saved > most) most = saved;
    }
    pb.most += most;
  }
  pb.first[sets] = n;
  pb.choice = (np_choice){pb.options, pb.first, sets};
}

/* The least loss at which at least `need` is saved, by the definition: best[s] is the least
** loss of saving s or more with the sets so far. -1: it cannot be. */
static double least_loss(int64_t need) {
  static double best[20001], next[20001];
  for (int64_t s = 0; s <= need; s++) best[s] = s ? 1e300 : 0;
  for (size_t i = 0; i < pb.choice.sets; i++) {
    memcpy(next, best, sizeof *best * (size_t)(need + 1));
    for (size_t o = pb.first[i]; o < pb.first[i + 1]; o++) {
      for (int64_t s = 0; s <= need; s++) {
        int64_t before = s - pb.options[o].saved;
        double lost = best[before > 0 ? before : 0] + pb.options[o].lost;
        if (lost < next[s]) next[s] = lost;
      }
    }
    memcpy(best, next, sizeof *best * (size_t)(need + 1));
  }
  return best[need] >= 1e300 ? -1 : best[need];
}

/* What a choice saves and loses; false when it picks what is not there. */
static bool weigh(const size_t *picked, int64_t *saved, double *lost) {
  *saved = 0;
  *lost = 0;
  for (size_t i = 0; i < pb.choice.sets; i++) {
    if (picked[i] == NP_CHOICE_LEFT) continue;
    if (picked[i] < pb.first[i] || picked[i] >= pb.first[i + 1]) return false;
    *saved += pb.options[picked[i]].saved;
    *lost += pb.options[picked[i]].lost;
  }
  return true;
}

/* The bound of linear programming, and the loss of its last step. */
static double bound(int64_t need, double *last) {
  np_steps steps;
  double lost = 0;
  *last = 0;
  if (!np_steps_make(&np_alloc_libc, &pb.choice, 0, &steps)) return -1;
  for (size_t i = 0; i < steps.count && need > 0; i++) {
    const np_step *s = &steps.at[i];
    double part = need < s->saved ? (double)need / (double)s->saved : 1;
    lost += part * s->lost;
    *last = s->lost;
    need -= s->saved;
  }
  np_free(&np_alloc_libc, steps.at);
  return lost;
}

static bool is_near(double a, double b) {
  double d = a - b, size = a > b ? a : b;
  return (d < 0 ? -d : d) <= 1e-9 * (size + 1);
}

static void check_exact(unsigned long long *rnd, int rounds) {
  static size_t picked[SETS_MAX];
  for (int i = 0; i < rounds; i++) {
    int64_t saved;
    double lost;
    make(rnd, below(rnd, NP_CHOICE_EXACT + 1), i % 4 ? 60 : 800);
    int64_t need = pb.most ? 1 + (int64_t)below(rnd, (uint64_t)pb.most) : 1;
    CHECK("a choice is made", np_choose(&np_alloc_libc, &pb.choice, need, picked));
    CHECK("it picks what is there", weigh(picked, &saved, &lost));
    double least = least_loss(need);
    CHECK("it saves enough when that can be", saved >= need || least < 0);
    CHECK("few sets lose the least there is", least < 0 || is_near(lost, least));
  }
}

/* Of `n` sets: within a step of the bound, and how far from the best on average. */
static double check_many(unsigned long long *rnd, size_t n, int rounds) {
  static size_t picked[SETS_MAX];
  double worse = 0;
  int counted = 0;
  for (int i = 0; i < rounds; i++) {
    int64_t saved, all_saved;
    double lost, last, all = 0;
    make(rnd, n, 90);
    if (!pb.most) continue;
    int64_t need = 1 + (int64_t)below(rnd, (uint64_t)pb.most);
    CHECK("a choice is made", np_choose(&np_alloc_libc, &pb.choice, need, picked));
    CHECK("it picks what is there and saves enough",
          weigh(picked, &saved, &lost) && saved >= need);
    double low = bound(need, &last);
    CHECK("many sets lose less than a step above the bound",
          lost <= low + last || is_near(lost, low + last));
    np_choose(&np_alloc_libc, &pb.choice, pb.most, picked);
    weigh(picked, &all_saved, &all);
    double least = least_loss(need), kept = all - least;
    CHECK("the least loss is not below the bound", least >= low - 1e-9 * (low + 1));
    if (kept <= 0) continue;
    worse += (lost - least) / kept;
    counted++;
  }
  return counted ? worse / counted : 0;
}

/* Whatever the number of sets: a larger budget keeps at least as much value. */
static void check_monotone(unsigned long long *rnd, int rounds) {
  static size_t picked[SETS_MAX];
  for (int i = 0; i < rounds; i++) {
    int64_t saved;
    double lost, before = -1;
    make(rnd, 1 + below(rnd, i % 2 ? 20 : 100), 60);
    for (int64_t need = 0; need <= pb.most; need += 1 + pb.most / 50) {
      np_choose(&np_alloc_libc, &pb.choice, need, picked);
      weigh(picked, &saved, &lost);
      CHECK("more to save never loses less", lost >= before - 1e-9 * (lost + 1));
      before = lost;
    }
  }
}

/* The sets from one on, as a choice of their own. */
static np_choice behind(size_t from) {
  return (np_choice){pb.options, pb.first + from, pb.choice.sets - from};
}

/* The bound of linear programming for them; -1 when they cannot save it. */
static double bound_behind(size_t from, int64_t need) {
  np_choice all = pb.choice;
  double last, low = -1;
  pb.choice = behind(from);
  if (np_choose_can(&pb.choice, need)) low = bound(need, &last);
  pb.choice = all;
  return low;
}

/* As many sets are left alone as the bounds of what is behind allow, and not one more. */
static void check_front(unsigned long long *rnd, int rounds) {
  static const double shares[] = {0, 0.1, 1, 1e6};
  for (int i = 0; i < rounds; i++) {
    make(rnd, 1 + below(rnd, i % 2 ? 20 : 100), 60);
    int64_t need = 1 + (int64_t)below(rnd, (uint64_t)pb.most + 2);
    size_t sets;
    double more = shares[below(rnd, NP_COUNT(shares))], least = bound_behind(0, need);
    CHECK("a front is found",
          np_choose_front(&np_alloc_libc, &pb.choice, need, more, &sets));
    if (least < 0) {
      CHECK("where nothing is enough nothing is left alone", sets == 0);
      continue;
    }
    double most = least * (1 + more), lost = bound_behind(sets, need);
    CHECK("what is behind it is enough", lost >= 0 && sets < pb.choice.sets);
    CHECK("it loses no more than was given", lost <= most || is_near(lost, most));
    double next = sets + 1 < pb.choice.sets ? bound_behind(sets + 1, need) : -1;
    CHECK("one more would lose too much",
          next < 0 || next >= most || is_near(next, most));
  }
}

static void check_edges(void) {
  size_t picked[2];
  static const np_option options[] = {{10, 5}, {20, 5}, {20, 7}, {5, 0}};
  static const size_t first[] = {0, 3, 4}, none[] = {0};
  np_choice c = {options, first, 2}, empty = {options, none, 0};
  CHECK("nothing to choose from is fine", np_choose(&np_alloc_libc, &empty, 9, picked));
  np_choose(&np_alloc_libc, &c, 0, picked);
  CHECK("no need takes nothing",
        picked[0] == NP_CHOICE_LEFT && picked[1] == NP_CHOICE_LEFT);
  np_choose(&np_alloc_libc, &c, 5, picked);
  CHECK("what costs nothing comes first", picked[0] == NP_CHOICE_LEFT && picked[1] == 3);
  np_choose(&np_alloc_libc, &c, 12, picked);
  CHECK("the cheaper of two alike", picked[0] == 1);
  np_choose(&np_alloc_libc, &c, 100, picked);
  CHECK("more than there is takes all", picked[0] == 1 && picked[1] == 3);
  size_t sets = 9;
  CHECK("no need leaves nothing alone, for there is nothing to leave",
        np_choose_front(&np_alloc_libc, &c, 0, 1, &sets) && sets == 0);
  CHECK("what saves enough alone for nothing lets all before it be",
        np_choose_front(&np_alloc_libc, &c, 5, 0, &sets) && sets == 1);
  CHECK("all together can, but not more",
        np_choose_can(&c, 25) && !np_choose_can(&c, 26));
}

int main(void) {
  unsigned long long rnd = check_seed(20261130);
  check_edges();
  check_exact(&rnd, 1500);
  double worse = check_many(&rnd, 60, 300);
  CHECK("of 60 sets the value kept is within 1 % of the best on average", worse < 0.01);
  fprintf(stderr, "60 sets: %.3f %% below the best on average\n", 100 * worse);
  check_many(&rnd, SETS_MAX, 20);
  check_monotone(&rnd, 300);
  check_front(&rnd, 1000);
  return check_done();
}
