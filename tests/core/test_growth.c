/*
** What a store does for all of its sessions or artifacts grows with how many there are, not with
** their square: counted in steps of SQLite's machine, with a quarter and with all of them.
** next: test_upkeep.c
*/
#include <sqlite3.h>

#include "session.h"

#define MANY 1200
#define STEPS 16   /* of the machine, to one count */
#define GROWTH 5.2 /* at most, for four times as many: there are logarithms in it */

static int64_t steps;

static int count_step(void *ctx) {
  (void)ctx;
  steps++;
  return 0;
}

/* SQLite calls it for every connection that is opened. */
static int watch(sqlite3 *db, const char **text, const struct sqlite3_api_routines *api) {
  (void)text;
  (void)api;
  sqlite3_progress_handler(db, STEPS, count_step, NULL);
  return SQLITE_OK;
}

static void see_hit(void *ctx, const neap_hit *hit) {
  ++*(int *)ctx;
  (void)hit;
}

static void see_file(void *ctx, const neap_artifact *a, neap_str bytes) {
  ++*(int *)ctx;
  (void)a;
  (void)bytes;
}

static int see_session(void *ctx, const neap_stored *s) {
  ++*(int *)ctx;
  (void)s;
  return 1;
}

static int see_text(void *ctx, neap_str text) {
  *(size_t *)ctx += text.n;
  return 1;
}

/* ---- what is measured ---- */

static void do_list(neap *n) {
  int seen = 0;
  CHECK("sessions are listed", !neap_session_list(n, see_session, &seen) && seen);
}

static void do_artifacts(neap *n) {
  int seen = 0;
  CHECK("artifacts are listed", !neap_artifact_list(n, NULL, 1, see_file, &seen) && seen);
}

/* The first search brings the index up to what there is. */
static void do_recall(neap *n) {
  int seen = 0;
  CHECK("a word is found",
        !neap_recall(n, NULL, NP_LIT("common"), 5, see_hit, &seen) && seen == 5);
}

static void do_stats(neap *n) {
  size_t seen = 0;
  CHECK("figures are told", !neap_store_stats(n, see_text, &seen) && seen);
}

static void do_check(neap *n) {
  CHECK("the store is sound", !neap_store_check(n, NULL, NULL));
}

static void do_expire(neap *n) {
  int64_t gone = 0;
  CHECK("what is over is let go",
        !neap_artifact_expire(n, 1000000000, &gone) && gone >= MANY / 4);
}

static void do_vacuum(neap *n) {
  CHECK("the store is swept", !neap_store_vacuum(n, NULL));
}

static const struct {
  const char *what;
  void (*run)(neap *n);
} rows[] = {
    {"list", do_list},     {"artifacts", do_artifacts}, {"recall", do_recall},
    {"again", do_recall},  {"stats", do_stats},         {"check", do_check},
    {"expire", do_expire}, {"vacuum", do_vacuum},
};

/* ---- stores ---- */

static void make_session(neap *n, const char *name) {
  neap_session *s = session_open(n, name, NULL, 6000, "openai");
  CHECK("a message is taken", !append(s, "{'role':'user','content':'a common word'}"));
  neap_session_close(s);
}

/* As many artifacts, each in a session of its own, or all in one; the sessions are copies of one,
** so that their words are not in the index yet. */
static void fill(neap *n, int many, bool apart) {
  make_session(n, "run");
  for (int i = 0; i < many; i++) {
    char name[24], text[24];
    int64_t id;
    neap_artifact a = {.size = sizeof a, .made = 1000, .ttl = 1};
    snprintf(text, sizeof text, "body %d", i);
    snprintf(name, sizeof name, "run %d", i);
    if (apart || i < 5)
      CHECK("a session is copied", !neap_session_fork(n, "run", NULL, name));
    neap_rc rc = neap_artifact_put(n, apart ? name : "files", np_str_cstr(text), &a, &id);
    CHECK("an artifact is put", rc == NEAP_OK);
  }
}

static void measure(int many, bool apart, int64_t out[NP_COUNT(rows)]) {
  const char *path = dir_path(apart ? "apart.db" : "one.db");
  remove(path);
  neap *n = engine_open(path);
  fill(n, many, apart);
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    steps = 0;
    rows[i].run(n);
    out[i] = steps;
  }
  neap_close(n);
}

static void test_growth(bool apart) {
  int64_t few[NP_COUNT(rows)], all[NP_COUNT(rows)];
  measure(MANY / 4, apart, few);
  measure(MANY, apart, all);
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    bool ok = all[i] > 0 && (double)all[i] <= GROWTH * (double)few[i] + 20;
    if (!ok)
      fprintf(stderr, "%s, %s: %lld and %lld\n", rows[i].what, apart ? "apart" : "one",
              (long long)few[i], (long long)all[i]);
    CHECK("four times as many take four times as long", ok);
  }
}

int main(void) {
  dir_make();
  sqlite3_auto_extension((void (*)(void))watch);
  test_growth(false);
  test_growth(true);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
