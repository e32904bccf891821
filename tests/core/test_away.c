/*
** A store whose file cannot be opened, where the host goes on all the same: a session works in
** memory, says so, is written as soon as the file can be opened, and is then what it would have
** been; what cannot pass is an error; nothing is said to be missing that was not looked at.
** next: test_hold.c
*/
#include "session.h"

#include <sqlite3.h>

static char folder[300], path[400];

/* A folder that is not there, and the path of a store in it. */
static void new_place(const char *name) {
  snprintf(folder, sizeof folder, "%s/%s", test_dir, name);
  snprintf(path, sizeof path, "%s/agent.db", folder);
}

static void remove_place(void) {
  static const char *const ends[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < NP_COUNT(ends); i++) {
    char file[500];
    snprintf(file, sizeof file, "%s%s", path, ends[i]);
    unlink(file);
  }
  rmdir(folder);
}

static neap_rc try_hold(neap **n) {
  neap_config c = {.size = sizeof c,
                   .store = path,
                   .data = data_dir(),
                   .flags = NEAP_FIXED_SECRET,
                   .on_store_failure = NEAP_STORE_HOLD};
  return neap_open(&c, n);
}

static neap *hold(void) {
  neap *n;
  neap_rc rc = try_hold(&n);
  if (rc) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("the handle opens", rc == NEAP_OK);
  return n;
}

static neap_session *open_as(neap *n, const char *name, neap_durable durable) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o, .durable = durable, .window = 20000};
  neap_rc rc = neap_session_open(n, name, &o, &s);
  if (rc) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("a session opens", rc == NEAP_OK);
  if (rc) exit(check_done());
  return s;
}

static int take(void *ctx, neap_str bytes) {
  np_buf_add(ctx, bytes);
  return 1;
}

static bool good(neap *n, neap_rc rc) {
  if (rc) fprintf(stderr, "%s\n", neap_error(n));
  return rc == NEAP_OK;
}

static bool text_is(neap_session *s, int64_t id, const char *want) {
  neap_str text;
  return neap_entry_text(s, id, &text) == NEAP_OK && np_str_is(text, want);
}

/* ---- the file comes back ---- */

/* The same session twice: once its folder is made after turn 5. */
static void is_as_if_nothing_had_been(neap_durable durable) {
  np_buf logs[2], bodies[2];
  for (int k = 0; k < 2; k++) {
    new_place("late");
    np_buf_init(&logs[k], &np_alloc_libc);
    np_buf_init(&bodies[k], &np_alloc_libc);
    if (!k) mkdir(folder, 0700);
    neap *n = hold();
    neap_session *s = open_as(n, "run", durable);
    append(s, "{'role':'user','content':'mend it'}");
    neap_str bytes = say("user", "a line of a large file\n", 20000);
    np_buf large;
    int64_t id;
    np_buf_init(&large, &np_alloc_libc);
    np_buf_add(&large, bytes);
    CHECK("an artifact is put",
          good(n, neap_session_put(s, np_buf_str(&large), NULL, &id)));
    np_buf_free(&large);
    for (int i = 1; i <= 9; i++) {
      np_buf one;
      np_buf_init(&one, &np_alloc_libc);
      if (k && i == 6) mkdir(folder, 0700);
      round_trip(s, i, 2, 300, &one);
      np_buf_add(&bodies[k], np_buf_str(&one));
      np_buf_free(&one);
      bool waits = has(account(s), "\"store\":{\"waiting\":");
      if (k && i < 6)
        CHECK("every account says that all waits, and why",
              waits && has(account(s), "\"code\":\"io\"") &&
                  has(account(s), "make the folder first"));
      if (k && i == 3)
        CHECK("a flush fails, and says why",
              neap_flush(n) == NEAP_E_IO && strstr(neap_error(n), path) &&
                  strstr(neap_error(n), "make the folder first"));
      if (!k || i > 7) CHECK("then nothing waits", !waits);
    }
    CHECK("in the end all is written", neap_flush(n) == NEAP_OK);
    CHECK("and a close has nothing to tell", neap_close(n) == NEAP_OK);
    n = engine_open(path);
    CHECK("the log is whole", neap_session_export(n, "run", take, &logs[k]) == NEAP_OK);
    CHECK("the store is sound", neap_store_check(n, NULL, NULL) == NEAP_OK);
    s = open_as(n, "run", durable);
    CHECK("the session goes on", prompt(s).n > 0);
    CHECK("without a fault", neap_close(n) == NEAP_OK);
    remove_place();
  }
  CHECK("prompts are the same",
        np_str_eq(np_buf_str(&bodies[0]), np_buf_str(&bodies[1])));
  CHECK("and so is the log", np_str_eq(np_buf_str(&logs[0]), np_buf_str(&logs[1])));
  for (int k = 0; k < 2; k++) {
    np_buf_free(&logs[k]);
    np_buf_free(&bodies[k]);
  }
}

/* ---- what is not known ---- */

static int no_session(void *ctx, const neap_stored *one) {
  (void)one;
  ++*(int *)ctx;
  return 1;
}

static void no_hit(void *ctx, const neap_hit *hit) {
  (void)hit;
  ++*(int *)ctx;
}

/* The file may hold other sessions: that they are not there is not said. */
static void says_nothing_is_missing(void) {
  int seen = 0;
  neap_fork how = {.size = sizeof how, .events = 1};
  new_place("unknown");
  neap *n = hold(), *other = engine_open(NULL);
  neap_session *s = open_as(n, "run", NEAP_DURABLE_PROCESS);
  append(s, "{'role':'user','content':'a zebra and an okapi'}");
  prompt(s);
  CHECK("sessions are not listed",
        neap_session_list(n, no_session, &seen) == NEAP_E_IO && !seen);
  CHECK("others' words are not searched",
        neap_recall(n, NULL, np_str_cstr("zebra"), 5, no_hit, &seen) == NEAP_E_IO &&
            !seen && strstr(neap_error(n), path));
  CHECK("its own are",
        good(n, neap_session_recall(s, np_str_cstr("zebra"), 5, no_hit, &seen)) &&
            seen == 1);
  np_buf out;
  np_buf_init(&out, &np_alloc_libc);
  CHECK("another session is not said to be missing",
        neap_session_export(n, "other", take, &out) == NEAP_E_IO && !out.n);
  CHECK("nor copied", neap_session_copy(n, "other", other) == NEAP_E_IO);
  CHECK("nor forked", neap_session_fork(n, "other", &how, "new") == NEAP_E_IO);
  CHECK("the file is not checked", neap_store_check(n, NULL, NULL) == NEAP_E_IO);
  CHECK("nor copied", neap_store_backup(n, dir_path("copy.db")) == NEAP_E_IO);
  CHECK("nor swept", neap_store_vacuum(n, NULL) == NEAP_E_IO);
  CHECK("its own session can be written out",
        neap_session_export(n, "run", take, &out) == NEAP_OK && out.n > 0);
  CHECK("a close says that what waited is lost", neap_close(n) == NEAP_E_IO);
  n = hold();
  CHECK("of nothing it says nothing", neap_close(n) == NEAP_OK);
  neap_close(other);
  np_buf_free(&out);
}

/* ---- a session that was there before ---- */

static void keeps_what_was_there(void) {
  char aside[400];
  new_place("before");
  snprintf(aside, sizeof aside, "%s/aside", test_dir);
  mkdir(folder, 0700);
  neap *n = engine_open(path);
  neap_session *s = open_as(n, "run", NEAP_DURABLE_PROCESS);
  append(s, "{'role':'user','content':'from before'}");
  neap_close(n);
  CHECK("the folder is moved away", rename(folder, aside) == 0);
  n = hold();
  s = open_as(n, "run", NEAP_DURABLE_PROCESS);
  append(s, "{'role':'user','content':'meanwhile'}");
  CHECK("prompts are made", has(prompt(s), "meanwhile"));
  CHECK("and back", rename(aside, folder) == 0);
  CHECK("the session is told that there is one, and where it is itself",
        append(s, "{'role':'user','content':'late'}") == NEAP_E_FENCED &&
            strstr(neap_error(n), "session 'run' was in the store already") &&
            strstr(neap_error(n), "session 'run~2'"));
  neap_session_close(s);
  s = open_as(n, "run", NEAP_DURABLE_PROCESS);
  CHECK("the older one is as it was", text_is(s, 1, "from before"));
  neap_session_close(s);
  s = open_as(n, "run~2", NEAP_DURABLE_PROCESS);
  CHECK("the newer one is beside it", text_is(s, 1, "meanwhile"));
  CHECK("and goes on", append(s, "{'role':'user','content':'on'}") == NEAP_OK);
  CHECK("the store is sound", neap_store_check(n, NULL, NULL) == NEAP_OK);
  CHECK("and closes", neap_close(n) == NEAP_OK);
  remove_place();
}

/* Two handles of one store, both without it, with a session each of the same name. */
static void two_come_back(void) {
  new_place("two");
  neap *n = hold(), *m = hold();
  neap_session *s = open_as(n, "run", NEAP_DURABLE_PROCESS);
  neap_session *t = open_as(m, "run", NEAP_DURABLE_PROCESS);
  append(s, "{'role':'user','content':'one'}");
  append(t, "{'role':'user','content':'two'}");
  mkdir(folder, 0700);
  CHECK("the first has the name",
        append(s, "{'role':'user','content':'more'}") == NEAP_OK);
  CHECK("the second is told",
        append(t, "{'role':'user','content':'more'}") == NEAP_E_FENCED);
  CHECK("nothing of either is lost",
        neap_close(m) == NEAP_OK && append(s, "{'role':'user','content':'x'}") == 0);
  neap_session_close(s);
  s = open_as(n, "run~2", NEAP_DURABLE_PROCESS);
  CHECK("and is under another name", text_is(s, 1, "two"));
  neap_close(n);
  remove_place();
}

/* One session opened twice while the file is away: the second claim overtakes the first. */
static void claims_count_meanwhile(void) {
  new_place("claims");
  neap *n = hold();
  neap_session *s = open_as(n, "run", NEAP_DURABLE_PROCESS);
  append(s, "{'role':'user','content':'one'}");
  neap_session *t = open_as(n, "run", NEAP_DURABLE_PROCESS);
  CHECK("the second has the log", text_is(t, 1, "one"));
  CHECK("the first is overtaken",
        append(s, "{'role':'user','content':'x'}") == NEAP_E_FENCED);
  mkdir(folder, 0700);
  CHECK("also when it is back",
        append(s, "{'role':'user','content':'x'}") == NEAP_E_FENCED);
  CHECK("the second goes on", append(t, "{'role':'user','content':'y'}") == NEAP_OK);
  CHECK("all is written", neap_close(n) == NEAP_OK);
  remove_place();
}

/* ---- what does not pass ---- */

static void write_file(const char *bytes, size_t n) {
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) exit(2);
}

static void is_refused(const char *what, neap_rc want) {
  neap *n;
  neap_rc rc = try_hold(&n);
  if (rc != want) fprintf(stderr, "%s: %s\n", what, neap_error(n));
  CHECK("it is refused, in one line", rc == want && !strchr(neap_error(n), '\n'));
  neap_close(n);
}

static void goes_on_without_no_other_file(void) {
  static const char other[] = "a text of somebody's, which is none of ours\n";
  char damaged[8192];
  new_place("others");
  mkdir(folder, 0700);
  write_file(other, sizeof other - 1);
  is_refused("a text", NEAP_E_FOREIGN);
  unlink(path);
  neap_close(engine_open(path));
  FILE *f = fopen(path, "r+b");
  if (!f || fread(damaged, 1, 4096, f) != 4096) exit(2);
  fseek(f, 60, SEEK_SET);
  fwrite("\0\0\0\x63", 1, 4, f);
  fclose(f);
  is_refused("a newer neap's", NEAP_E_NEWER);
  memset(damaged + 100, 0xEE, 3996);
  write_file(damaged, 4096);
  is_refused("a damaged file", NEAP_E_CORRUPT);
  unlink(path);
  mkdir(path, 0700);
  is_refused("a folder", NEAP_E_IO);
  rmdir(path);
  remove_place();
}

/* What comes up at its place meanwhile is not written over. */
static void spares_what_comes_up(void) {
  static const char other[] = "a text of somebody's, which is none of ours\n";
  new_place("spared");
  neap *n = hold();
  neap_session *s = open_as(n, "run", NEAP_DURABLE_PROCESS);
  mkdir(folder, 0700);
  write_file(other, sizeof other - 1);
  CHECK("it goes on in memory", append(s, "{'role':'user','content':'a'}") == NEAP_OK);
  CHECK("and says whose file it is",
        neap_flush(n) == NEAP_E_FOREIGN && strstr(neap_error(n), "was not changed"));
  char got[100];
  FILE *f = fopen(path, "rb");
  size_t k = f ? fread(got, 1, sizeof got, f) : 0;
  if (f) fclose(f);
  CHECK("which is as it was", k == sizeof other - 1 && memcmp(got, other, k) == 0);
  unlink(path);
  CHECK("without it all is written", neap_flush(n) == NEAP_OK);
  CHECK("and stays", neap_close(n) == NEAP_OK);
  n = engine_open(path);
  s = open_as(n, "run", NEAP_DURABLE_PROCESS);
  CHECK("there", text_is(s, 1, "a"));
  neap_close(n);
  remove_place();
}

/* ---- room ---- */

static void waits_no_longer_than_there_is_room(void) {
  new_place("room");
  neap *n = hold();
  neap_session *s = open_as(n, "run", NEAP_DURABLE_PROCESS);
  int taken = 0;
  int64_t id;
  neap_rc rc = NEAP_OK;
  np_buf big;
  np_buf_init(&big, &np_alloc_libc);
  for (int i = 0; i < 500000; i++) np_buf_adds(&big, "01234567");
  while (!rc && taken < 50) {
    big.p[0] = (char)('a' + taken);
    rc = neap_session_put(s, np_buf_str(&big), NULL, &id); /* 4 MB */
    taken += !rc;
  }
  CHECK("some 64 MB wait, and no more: then it says why they do",
        rc == NEAP_E_IO && taken >= 14 && taken <= 16 &&
            strstr(neap_error(n), "make the folder first"));
  mkdir(folder, 0700);
  CHECK("then all are written", neap_flush(n) == NEAP_OK);
  CHECK("soundly", neap_store_check(n, NULL, NULL) == NEAP_OK);
  CHECK("and more", append(s, "{'role':'user','content':'more'}") == NEAP_OK);
  CHECK("it closes", neap_close(n) == NEAP_OK);
  np_buf_free(&big);
  remove_place();
}

int main(void) {
  dir_make();
  is_as_if_nothing_had_been(NEAP_DURABLE_PROCESS);
  is_as_if_nothing_had_been(NEAP_DURABLE_BATCH);
  is_as_if_nothing_had_been(NEAP_DURABLE_MEMORY);
  says_nothing_is_missing();
  keeps_what_was_there();
  two_come_back();
  claims_count_meanwhile();
  goes_on_without_no_other_file();
  spares_what_comes_up();
  waits_no_longer_than_there_is_room();
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
