/*
** A store that fails for a while, where the host goes on all the same: nothing that was acknowledged
** is missing once it is back, the account tells of what waits meanwhile, and the log is the one that
** a sound disk would have. next: test_engine_store.c
*/
#include "session.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void limit_files(rlim_t bytes) {
  struct rlimit r;
  getrlimit(RLIMIT_FSIZE, &r);
  r.rlim_cur = bytes;
  setrlimit(RLIMIT_FSIZE, &r);
}

static neap *engine_hold(const char *store, neap_store_failure how) {
  neap *n = NULL;
  neap_config c = {.size = sizeof c,
                   .store = store,
                   .data = data_dir(),
                   .flags = NEAP_FIXED_SECRET,
                   .on_store_failure = how};
  neap_rc rc = neap_open(&c, &n);
  if (rc) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("a store opens", rc == NEAP_OK);
  return n;
}

static neap_session *open_as(neap *n, neap_durable durable) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o, .durable = durable, .window = 20000};
  neap_rc rc = neap_session_open(n, "run", &o, &s);
  if (rc) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("a session opens", rc == NEAP_OK);
  if (rc) exit(check_done());
  return s;
}

static int take(void *ctx, neap_str bytes) {
  np_buf_add(ctx, bytes);
  return 1;
}

static void exported(const char *store, np_buf *out) {
  neap *n = engine_open(store);
  np_buf_clear(out);
  CHECK("the log is whole", neap_session_export(n, "run", take, out) == NEAP_OK);
  CHECK("the store is sound", neap_store_check(n, NULL, NULL) == NEAP_OK);
  neap_close(n);
}

/* ---- a disk that is full for a while ---- */

/* The same session twice: once the disk is full from turn 3 to turn 6. What is appended meanwhile
** is acknowledged; the files are the same in the end. */
static void full_for_a_while(neap_durable durable, const char *name) {
  np_buf logs[2], bodies[2];
  char path[64];
  for (int k = 0; k < 2; k++) {
    snprintf(path, sizeof path, "%s-%d.db", name, k);
    const char *store = dir_path(path);
    np_buf_init(&logs[k], &np_alloc_libc);
    np_buf_init(&bodies[k], &np_alloc_libc);
    neap *n = engine_hold(store, NEAP_STORE_HOLD);
    neap_session *s = open_as(n, durable);
    append(s, "{'role':'user','content':'mend it'}");
    for (int i = 1; i <= 9; i++) {
      if (k && i == 3) limit_files(100);
      if (k && i == 7) limit_files(RLIM_INFINITY);
      np_buf one;
      np_buf_init(&one, &np_alloc_libc);
      round_trip(s, i, 2, 300, &one);
      np_buf_add(&bodies[k], np_buf_str(&one));
      np_buf_free(&one);
      bool waits = has(account(s), "\"store\":{\"waiting\":");
      bool later = durable == NEAP_DURABLE_MEMORY; /* nothing is tried there */
      if (k && i == 5 && !later) {
        CHECK("every account says what waits, and why",
              waits && has(account(s), "\"code\":\"full\"") &&
                  has(account(s), "free space"));
        CHECK("a flush says that it is not written",
              neap_flush(n) == NEAP_E_FULL && strstr(neap_error(n), "full"));
      }
      if (k && i == 6 && later)
        CHECK("a flush says that it is not written", neap_flush(n) == NEAP_E_FULL);
      if (i < 3 || i >= 8) CHECK("nothing waits on a sound disk", !waits);
    }
    CHECK("in the end all is written", neap_flush(n) == NEAP_OK);
    neap_close(n);
    exported(store, &logs[k]);
  }
  CHECK("prompts are the same",
        np_str_eq(np_buf_str(&bodies[0]), np_buf_str(&bodies[1])));
  CHECK("and so is the log: nothing acknowledged is missing, nothing is told twice",
        np_str_eq(np_buf_str(&logs[0]), np_buf_str(&logs[1])));
  for (int k = 0; k < 2; k++) {
    np_buf_free(&logs[k]);
    np_buf_free(&bodies[k]);
  }
}

/* Without the host's consent the call fails, and then is done again. */
static void stops_by_default(void) {
  neap *n = engine_hold(dir_path("stop.db"), NEAP_STORE_STOP);
  neap_session *s = open_as(n, NEAP_DURABLE_PROCESS);
  append(s, "{'role':'user','content':'u'}");
  limit_files(100);
  neap_rc rc = neap_append(s, say("user", "more ", 2000));
  limit_files(RLIM_INFINITY);
  CHECK("by default a full disk is an error", rc == NEAP_E_FULL);
  CHECK("the same call then does it",
        neap_append(s, say("user", "more ", 2000)) == NEAP_OK);
  CHECK("the account says nothing", prompt(s).n && !has(account(s), "\"store\":"));
  neap_close(n);
}

/* What waits is bounded: then the call fails, and what waited is still there. */
static void waits_no_longer_than_there_is_room(void) {
  neap *n = engine_hold(dir_path("room.db"), NEAP_STORE_HOLD);
  neap_session *s = open_as(n, NEAP_DURABLE_PROCESS);
  append(s, "{'role':'user','content':'u'}");
  limit_files(100);
  int taken = 0;
  neap_rc rc = NEAP_OK;
  while (!rc && taken < 50) {
    rc = neap_append(s, say("user", "01234567", 500000)); /* 4 MB */
    taken += !rc;
  }
  limit_files(RLIM_INFINITY);
  CHECK("64 MB wait, and no more", rc == NEAP_E_FULL && taken == 16);
  CHECK("then all of them are written", neap_flush(n) == NEAP_OK);
  neap_close(n);
  n = engine_open(dir_path("room.db"));
  s = open_as(n, NEAP_DURABLE_PROCESS);
  neap_str text;
  CHECK("and are there", neap_entry_text(s, taken + 1, &text) == NEAP_OK &&
                             text.n == 4000000 &&
                             neap_entry_text(s, taken + 2, &text) == NEAP_E_NOTFOUND);
  neap_close(n);
}

/* ---- a lock of another process ---- */

static sqlite3 *lock(const char *path) {
  sqlite3 *db = NULL;
  sqlite3_open(path, &db);
  CHECK("another has the lock",
        sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
  return db;
}

static void unlock(sqlite3 *db) {
  sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  sqlite3_close(db);
}

/* A session is opened while the store is locked: it cannot be claimed yet. */
static void opens_while_locked(void) {
  const char *store = dir_path("locked.db");
  neap *n = engine_hold(store, NEAP_STORE_HOLD);
  neap_session *s = open_as(n, NEAP_DURABLE_PROCESS);
  append(s, "{'role':'user','content':'before'}");
  prompt(s);
  neap_session_close(s);
  sqlite3 *db = lock(store);
  s = open_as(n, NEAP_DURABLE_PROCESS); /* waits for the lock once, 5 seconds */
  neap_str text;
  CHECK("what the file has is there",
        neap_entry_text(s, 1, &text) == NEAP_OK && np_str_is(text, "before"));
  CHECK("it takes messages", append(s, "{'role':'user','content':'during'}") == NEAP_OK);
  CHECK("and makes prompts, whose account says that they wait",
        has(prompt(s), "during") && has(account(s), "\"code\":\"busy\""));
  unlock(db);
  CHECK("with the lock gone it goes on",
        append(s, "{'role':'user','content':'after'}") == NEAP_OK);
  CHECK("nothing waits now", prompt(s).n && !has(account(s), "\"store\":"));
  neap_close(n);
  n = engine_open(store);
  s = open_as(n, NEAP_DURABLE_PROCESS);
  CHECK("all of it is in the file",
        neap_entry_text(s, 2, &text) == NEAP_OK && np_str_is(text, "during") &&
            neap_entry_text(s, 3, &text) == NEAP_OK && np_str_is(text, "after"));
  neap_close(n);
}

/* Another process takes the session over and writes, while events wait here: they come too late,
** which is told with their number. */
static void another_was_faster(void) {
  const char *store = dir_path("faster.db");
  neap *n = engine_hold(store, NEAP_STORE_HOLD);
  neap_session *s = open_as(n, NEAP_DURABLE_PROCESS);
  append(s, "{'role':'user','content':'one'}");
  limit_files(100);
  append(s, "{'role':'user','content':'waits'}");
  append(s, "{'role':'user','content':'waits too'}");
  limit_files(RLIM_INFINITY);
  neap *m = engine_open(store);
  neap_session *t = open_as(m, NEAP_DURABLE_PROCESS);
  append(t, "{'role':'user','content':'another'}");
  CHECK("the older one is told, and how much is lost",
        append(s, "{'role':'user','content':'late'}") == NEAP_E_FENCED &&
            strstr(neap_error(n), "2 events that were not yet written are lost"));
  neap_str text;
  CHECK("the newer one goes on", neap_entry_text(t, 2, &text) == NEAP_OK &&
                                     np_str_is(text, "another") && prompt(t).n);
  neap_close(n);
  neap_close(m);
}

int main(void) {
  signal(SIGXFSZ, SIG_IGN);
  dir_make();
  full_for_a_while(NEAP_DURABLE_PROCESS, "process");
  full_for_a_while(NEAP_DURABLE_POWER, "power");
  full_for_a_while(NEAP_DURABLE_BATCH, "batch");
  full_for_a_while(NEAP_DURABLE_MEMORY, "memory");
  stops_by_default();
  waits_no_longer_than_there_is_room();
  opens_while_locked();
  another_was_faster();
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
