/*
** Looking after a store: a copy of it while a process writes, sweeping, figures, a damaged index
** of words, sessions copied to another store. next: test_store_crash.c
*/
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/sqlite.h"
#include "store_help.h"

static char dir[64] = "/tmp/neap-upkeep-XXXXXX";
static char path[128], copy_path[128], part_path[160];

static void remove_files(void) {
  static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < NP_COUNT(ends); i++) {
    char name[192];
    snprintf(name, sizeof name, "%s%s", path, ends[i]);
    unlink(name);
    snprintf(name, sizeof name, "%s%s", copy_path, ends[i]);
    unlink(name);
  }
}

static np_store *open_at(const char *at) {
  np_store *st = NULL;
  np_err e = {0};
  neap_rc rc = np_store_sqlite_open(libc, at, false, &st, &e);
  if (rc) fprintf(stderr, "%s\n", e.text);
  CHECK("a store opens", rc == NEAP_OK);
  if (rc) exit(check_done());
  return st;
}

/* ---- a copy while others write ---- */

static void write_for_ever(int ack, int id) {
  char name[16];
  np_claim c;
  np_store *st = NULL;
  snprintf(name, sizeof name, "s%d", id);
  if (np_store_sqlite_open(libc, path, false, &st, NULL)) _exit(3);
  if (st->ops->claim(st, str("t"), str(name), false, &c, NULL)) _exit(4);
  for (unsigned i = 0;; i++) {
    np_str body = make_body(i % 7 ? 3000 : 90000, i * 2 + (unsigned)id);
    if (add(st, &c, str("h"), body, NEAP_DURABLE_PROCESS, NULL)) _exit(5);
    free_body(body);
    if (write(ack, "+", 1) != 1) _exit(6);
  }
}

static neap_rc sum_events(void *ctx, const np_session_row *row) {
  *(int64_t *)ctx += row->events;
  return NEAP_OK;
}

static int64_t events_in(np_store *st) {
  int64_t sum = 0;
  np_err e;
  return st->ops->sessions(st, str("t"), sum_events, &sum, &e) ? -1 : sum;
}

static void backs_up_while_others_write(void) {
  int p[2];
  pid_t pid[2];
  char c[512];
  remove_files();
  np_store *st = open_at(path);
  if (pipe(p)) exit(2);
  for (int i = 0; i < 2; i++) {
    pid[i] = fork();
    if (pid[i] == 0) {
      close(p[0]);
      write_for_ever(p[1], i);
    }
  }
  close(p[1]);
  int64_t acknowledged = 0;
  for (int round = 0; round < 4; round++) {
    np_err e = {0};
    while (acknowledged < 40 * (round + 1)) {
      ssize_t n = read(p[0], c, sizeof c);
      if (n <= 0) exit(2);
      acknowledged += n;
    }
    unlink(copy_path);
    neap_rc rc = st->ops->backup(st, copy_path, &e);
    if (rc) fprintf(stderr, "%s\n", e.text);
    CHECK("a store is copied while two processes write", rc == NEAP_OK);
    if (rc) break;
    np_store *copy = open_at(copy_path);
    CHECK("the copy is sound", faults(copy, &e) == 0);
    CHECK("all that was acknowledged before is in it", events_in(copy) >= acknowledged);
    copy->ops->close(copy, &e);
    CHECK("a file that is there is not written over",
          st->ops->backup(st, copy_path, &e) == NEAP_E_IO && is_helpful(&e));
    CHECK("nothing else is left", access(part_path, F_OK) != 0);
  }
  for (int i = 0; i < 2; i++) {
    int status = 0;
    CHECK("the writer wrote until the end", waitpid(pid[i], &status, WNOHANG) == 0);
    kill(pid[i], SIGKILL);
    waitpid(pid[i], &status, 0);
  }
  close(p[0]);
  st->ops->close(st, NULL);
}

/* What a broken-off copy has left is neither overwritten nor removed: it may be another's. */
static void tells_of_a_copy_in_the_making(void) {
  np_err e = {0};
  remove_files();
  np_store *st = open_at(path);
  FILE *f = fopen(part_path, "w");
  CHECK("there is one", f && fclose(f) == 0);
  CHECK("it is told", st->ops->backup(st, copy_path, &e) == NEAP_E_IO &&
                          strstr(e.text, "copy.db.part': another backup"));
  CHECK("and left alone", access(part_path, F_OK) == 0 && access(copy_path, F_OK) != 0);
  unlink(part_path);
  CHECK("without it there is a copy", st->ops->backup(st, copy_path, &e) == NEAP_OK);
  st->ops->close(st, NULL);
}

/* ---- sweeping ---- */

typedef struct figures {
  const char *name;
  int64_t value;
} figures;

static void take(void *ctx, np_str tenant, const char *name, int64_t value) {
  figures *f = ctx;
  if (tenant.p && np_str_is(tenant, "t") && strcmp(name, f->name) == 0) f->value = value;
}

static int64_t figure(np_store *st, const char *name) {
  np_err e;
  figures f = {name, 0};
  return st->ops->stats(st, take, &f, &e) ? -1 : f.value;
}

static void sweeps_what_nothing_refers_to(void) {
  np_claim c;
  np_err e = {0};
  np_swept s = {0};
  uint8_t hash[NP_SHA256], gone[NP_SHA256];
  np_buf out;
  remove_files();
  np_buf_init(&out, libc);
  np_store *st = open_at(path);
  np_str used = make_body(400000, 1), loose = make_body(600000, 2),
         small = make_body(2000, 3);
  st->ops->claim(st, str("t"), str("a"), false, &c, &e);
  add(st, &c, str("h"), used, NEAP_DURABLE_PROCESS, &e);
  add(st, &c, str("h"), used, NEAP_DURABLE_PROCESS, &e);
  st->ops->put(st, str("t"), loose, hash, &e);
  st->ops->put(st, str("t"), small, gone, &e);
  st->ops->put(st, str("other"), small, gone, &e);
  CHECK("figures tell of them",
        figure(st, "contents") == 3 && figure(st, "references") == 2 &&
            figure(st, "referenced") == 800000 && figure(st, "content_bytes") == 1002000);
  CHECK("what nothing refers to is no fault", faults(st, &e) == 0);
  CHECK("it is swept out", st->ops->vacuum(st, &s, &e) == NEAP_OK && s.contents == 3 &&
                               s.bytes == 604000 && s.after < s.before);
  CHECK("it is gone",
        st->ops->get(st, str("t"), hash, &out, &e) == NEAP_E_NOTFOUND &&
            st->ops->get(st, str("other"), gone, &out, &e) == NEAP_E_NOTFOUND);
  np_sha256(used, hash);
  CHECK("what is referred to stays",
        st->ops->get(st, str("t"), hash, &out, &e) == NEAP_OK &&
            np_str_eq(np_buf_str(&out), used));
  CHECK("the store is sound", faults(st, &e) == 0);
  CHECK("a second time there is nothing",
        st->ops->vacuum(st, &s, &e) == NEAP_OK && s.contents == 0);
  st->ops->purge(st, str("t"), hash, &e);
  CHECK("the record of a purge stays",
        st->ops->vacuum(st, &s, &e) == NEAP_OK &&
            st->ops->get(st, str("t"), hash, &out, &e) == NEAP_E_PURGED);
  st->ops->close(st, &e);
  np_buf_free(&out);
  free_body(used);
  free_body(loose);
  free_body(small);
}

/* ---- the index of words ---- */

static void tells_of_a_damaged_index(void) {
  np_err e = {0};
  sqlite3 *db = NULL;
  np_claim c;
  remove_files();
  np_store *st = open_at(path);
  st->ops->claim(st, str("t"), str("a"), false, &c, &e);
  add(st, &c, str("h"), str("the quick brown fox"), NEAP_DURABLE_PROCESS, &e);
  np_doc doc = {.entry = 1, .seq = 1, .text = str("the quick brown fox")};
  np_docs docs = {.tenant = str("t"), .session = str("a"), .doc = &doc, .n = 1};
  docs.to = (np_indexed){.entry = 1, .seq = 1};
  neap_rc rc = st->ops->index(st, &docs, &e);
  if (rc == NEAP_E_LIMIT) {
    check_skip("the index of words", "this SQLite has no FTS5");
    st->ops->close(st, &e);
    return;
  }
  CHECK("words are indexed", rc == NEAP_OK);
  CHECK("a sound index is no fault", faults(st, &e) == 0);
  st->ops->close(st, &e);
  sqlite3_open(path, &db);
  CHECK("the index is damaged behind its back",
        sqlite3_exec(db, "DELETE FROM words_data WHERE id > 100", NULL, NULL, NULL) ==
            SQLITE_OK);
  sqlite3_close(db);
  st = open_at(path);
  CHECK("that is a fault", faults(st, &e) == 1);
  st->ops->close(st, &e);
}

int main(void) {
  if (!mkdtemp(dir)) return 2;
  snprintf(path, sizeof path, "%s/store.db", dir);
  snprintf(copy_path, sizeof copy_path, "%s/copy.db", dir);
  snprintf(part_path, sizeof part_path, "%s.part", copy_path);
  backs_up_while_others_write();
  tells_of_a_copy_in_the_making();
  sweeps_what_nothing_refers_to();
  tells_of_a_damaged_index();
  remove_files();
  rmdir(dir);
  return check_done();
}
