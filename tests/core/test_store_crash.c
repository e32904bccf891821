/*
** Tests of core/store with processes: one that is killed while it appends, several that
** open one new file, one that holds the lock, users that may not write, disks that are
** full. next: ../../core/log/
*/
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/sqlite.h"
#include "store_help.h"

static char dir[64] = "/tmp/neap-crash-XXXXXX";
static char path[128];

static neap_rc open_rw(np_store **st, np_err *e) {
  return np_store_sqlite_open(libc, path, false, st, e);
}

/* From the i-th on: 0 the file too, 1 what is beside it. */
static void remove_from(size_t first) {
  static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = first; i < NP_COUNT(ends); i++) {
    char name[192];
    snprintf(name, sizeof name, "%s%s", path, ends[i]);
    unlink(name);
  }
}

static void remove_file(void) {
  remove_from(0);
}

static void nap(long microseconds) {
  struct timespec t = {0, microseconds * 1000};
  nanosleep(&t, NULL);
}

/* Runs `body` in a child; its checks are carried back as a count of failures. */
static int in_child(void (*body)(void)) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    check_failed = 0;
    body();
    _exit(check_failed > 100 ? 100 : check_failed);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- kill -9 ----------------------------------------------------------------------- */

/* The child: appends and, once told that it is kept, says so with one byte. */
static void append_for_ever(int ack, np_str *bodies, size_t n_bodies) {
  np_store *st;
  np_claim c;
  if (open_rw(&st, NULL) != NEAP_OK) _exit(3);
  if (st->ops->claim(st, str("t"), str("s"), false, &c, NULL) != NEAP_OK) _exit(4);
  for (size_t i = 0;; i++) {
    np_event ev[2] = {
        {.seq = c.last_seq + 1, .head = str("h"), .body = bodies[i % n_bodies]},
        {.seq = c.last_seq + 2, .head = str("h2"), .body = str("small")}};
    neap_durable d = i % 5 ? NEAP_DURABLE_PROCESS : NEAP_DURABLE_POWER;
    if (st->ops->append(st, &c, ev, 2, d, NULL) != NEAP_OK) _exit(5);
    if (write(ack, "k", 1) != 1) _exit(6);
  }
}

/* Kills the child after a while, which with `waits` begins at its first append. Returns
** how many appends it had acknowledged. */
static int64_t kill_one(unsigned long long *r, bool waits, np_str *bodies,
                        size_t n_bodies) {
  int p[2];
  if (pipe(p) != 0) return -1;
  pid_t pid = fork();
  if (pid == 0) {
    close(p[0]);
    append_for_ever(p[1], bodies, n_bodies);
  }
  close(p[1]);
  char chunk[4096];
  int64_t acknowledged = waits && read(p[0], chunk, 1) == 1;
  nap(3000 + (long)(check_random(r) % 120000));
  kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  for (ssize_t n; (n = read(p[0], chunk, sizeof chunk)) > 0;) acknowledged += n;
  close(p[0]);
  return WIFSIGNALED(status) ? acknowledged : -1;
}

static void survives_kills(unsigned long long seed) {
  unsigned long long r = seed;
  static const size_t sizes[] = {10, 700, 1500, 20000, 90000};
  np_str bodies[NP_COUNT(sizes)];
  for (size_t i = 0; i < NP_COUNT(sizes); i++)
    bodies[i] = make_body(sizes[i], (unsigned)i);
  int64_t total = 0, kept = 0;
  for (int round = 0; round < 10; round++) {
    np_store *st;
    np_err e;
    np_claim c;
    if (round % 3 == 0) {
      remove_file(); /* so that some are killed while the file is made */
      kept = 0;
    }
    int64_t acknowledged = kill_one(&r, round % 3 > 0, bodies, NP_COUNT(sizes));
    CHECK("the child worked until it was killed", acknowledged >= 0);
    neap_rc rc = open_rw(&st, &e);
    CHECK("the store opens after a kill", rc == NEAP_OK);
    if (rc != NEAP_OK) break;
    CHECK("it is sound", faults(st, &e) == 0);
    rc = st->ops->claim(st, str("t"), str("s"), false, &c, &e);
    CHECK("nothing acknowledged is missing",
          rc == NEAP_OK && c.last_seq >= kept + 2 * acknowledged);
    CHECK("an append of two is there in whole or not", c.last_seq % 2 == 0);
    kept = c.last_seq;
    total += acknowledged;
    CHECK("it closes", st->ops->close(st, &e) == NEAP_OK);
  }
  fprintf(stderr, "10 kills, %lld acknowledged appends\n", (long long)total);
  CHECK("the kills came while it worked", total > 0);
  for (size_t i = 0; i < NP_COUNT(sizes); i++) free_body(bodies[i]);
}

/* ---- several processes ------------------------------------------------------------- */

/* Waits for the start, then opens, claims a session of its own and appends. */
static void open_together(int start, int id) {
  np_store *st;
  np_claim c;
  np_err e;
  char go, name[16];
  if (read(start, &go, 1) != 0) _exit(2); /* ends when the parent closes it */
  if (open_rw(&st, &e) != NEAP_OK) {
    fprintf(stderr, "%s\n", e.text);
    _exit(3);
  }
  snprintf(name, sizeof name, "s%d", id);
  if (st->ops->claim(st, str(""), str(name), false, &c, &e) != NEAP_OK) _exit(4);
  for (int i = 0; i < 5; i++) {
    if (add(st, &c, str("h"), str("b"), NEAP_DURABLE_PROCESS, &e) != NEAP_OK) _exit(5);
  }
  _exit(st->ops->close(st, &e) == NEAP_OK ? 0 : 6);
}

static neap_rc sum_events(void *ctx, const np_session_row *row) {
  *(int64_t *)ctx += row->events;
  return NEAP_OK;
}

static void opens_a_new_file_together(void) {
  for (int round = 0; round < 6; round++) {
    int p[2], bad = 0, status;
    pid_t pid[4];
    remove_file();
    if (pipe(p) != 0) return;
    for (int i = 0; i < 4; i++) {
      pid[i] = fork();
      if (pid[i] != 0) continue;
      close(p[1]);
      open_together(p[0], i);
    }
    close(p[0]);
    close(p[1]);
    for (int i = 0; i < 4; i++) {
      if (waitpid(pid[i], &status, 0) != pid[i] || status != 0) bad++;
    }
    CHECK("four processes that open a new file at once all get it", bad == 0);
    np_store *st;
    np_err e;
    int64_t sum = 0;
    if (open_rw(&st, &e) != NEAP_OK) break;
    st->ops->sessions(st, str(""), sum_events, &sum, &e);
    CHECK("what each appended is there", sum == 20 && faults(st, &e) == 0);
    st->ops->close(st, &e);
  }
}

/* Two handles on one file stand for two processes: nothing is shared but the file. */
static void fences_across_handles(void) {
  np_store *one = NULL, *two = NULL;
  np_claim a, b;
  np_err e;
  seen s = seen_new();
  remove_file();
  CHECK("two handles open one file",
        open_rw(&one, &e) == NEAP_OK && open_rw(&two, &e) == NEAP_OK);
  one->ops->claim(one, str("t"), str("s"), false, &a, &e);
  add(one, &a, str("a1"), str(""), NEAP_DURABLE_PROCESS, &e);
  add(one, &a, str("a2"), str(""), NEAP_DURABLE_BATCH, &e);
  add(one, &a, str("a3"), str(""), NEAP_DURABLE_MEMORY, &e);
  CHECK("what is held back is read where it is held",
        read_all(one, "t", "s", 1, &s, &e) == NEAP_OK && s.events == 3);
  CHECK("and not elsewhere",
        read_all(two, "t", "s", 1, &s, &e) == NEAP_OK && s.events == 1);
  CHECK("the other takes over",
        two->ops->claim(two, str("t"), str("s"), false, &b, &e) == NEAP_OK &&
            b.last_seq == 1 && b.fence > a.fence);
  add(two, &b, str("b2"), str(""), NEAP_DURABLE_PROCESS, &e);
  CHECK("what the first held is no part of the log now",
        read_all(one, "t", "s", 1, &s, &e) == NEAP_OK && s.events == 2 &&
            np_str_is(np_buf_str(&s.text), "a1|;b2|;"));
  CHECK("its append is fenced",
        add(one, &a, str("a4"), str(""), NEAP_DURABLE_BATCH, &e) == NEAP_E_FENCED);
  CHECK("its flush is fenced and says what is lost",
        one->ops->flush(one, &e) == NEAP_E_FENCED && strstr(e.text, "2 events"));
  CHECK("once", one->ops->flush(one, &e) == NEAP_OK);
  CHECK("the log is the second's",
        read_all(two, "t", "s", 1, &s, &e) == NEAP_OK && s.events == 2);
  CHECK("both close",
        one->ops->close(one, &e) == NEAP_OK && two->ops->close(two, &e) == NEAP_OK);
  np_buf_free(&s.text);
}

static void tells_of_locks(void) {
  np_store *st;
  np_claim c;
  np_err e;
  uint8_t hash[NP_SHA256];
  seen s = seen_new();
  sqlite3 *other;
  remove_file();
  if (open_rw(&st, &e) != NEAP_OK) exit(2);
  st->ops->claim(st, str("t"), str("s"), false, &c, &e);
  add(st, &c, str("1"), str(""), NEAP_DURABLE_PROCESS, &e);
  sqlite3_open(path, &other);
  sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  sqlite3_busy_timeout(((np_sqlite *)st)->db, 20);
  CHECK("an append waits for another's lock and then says so",
        add(st, &c, str("2"), str(""), NEAP_DURABLE_PROCESS, &e) == NEAP_E_BUSY &&
            is_helpful(&e) && strstr(e.text, path));
  CHECK("the claim is as it was", c.last_seq == 1);
  CHECK("so do put and claim",
        st->ops->put(st, str("t"), str("x"), hash, &e) == NEAP_E_BUSY &&
            st->ops->claim(st, str("t"), str("u"), false, &(np_claim){0}, &e) ==
                NEAP_E_BUSY);
  CHECK("reading goes on", read_all(st, "t", "s", 1, &s, &e) == NEAP_OK && s.events == 1);
  CHECK("holding back goes on",
        add(st, &c, str("2"), str(""), NEAP_DURABLE_BATCH, &e) == NEAP_OK);
  CHECK("a flush does not", st->ops->flush(st, &e) == NEAP_E_BUSY);
  sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL);
  CHECK("and can be tried again", st->ops->flush(st, &e) == NEAP_OK);
  sqlite3_exec(other, "BEGIN; SELECT count(*) FROM event", NULL, NULL, NULL);
  np_sha256(str("body"), hash);
  add(st, &c, str("3"), str("body"), NEAP_DURABLE_PROCESS, &e);
  CHECK("a purge says that a reader keeps the old pages",
        st->ops->purge(st, str("t"), hash, &e) == NEAP_E_BUSY &&
            strstr(e.text, "purge it again"));
  sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL);
  CHECK("and can be tried again", st->ops->purge(st, str("t"), hash, &e) == NEAP_OK);
  sqlite3_close(other);
  CHECK("it closes", st->ops->close(st, &e) == NEAP_OK);
  np_buf_free(&s.text);
}

/* ---- users that may not write ------------------------------------------------------ */

static neap_rc open_as(bool readonly, np_err *e) {
  np_store *st;
  seen s = seen_new();
  neap_rc rc = np_store_sqlite_open(libc, path, readonly, &st, e);
  if (rc != NEAP_OK) return rc;
  rc = read_all(st, "t", "s", 1, &s, e);
  if (rc == NEAP_OK && s.events != 1) rc = NEAP_E_CORRUPT;
  np_buf_free(&s.text);
  st->ops->close(st, NULL);
  return rc;
}

static void as_nobody(void) {
  np_err e;
  if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(99);
  chmod(dir, 0700);
  chmod(path, 0400);
  CHECK("a file that may not be written is not opened for writing",
        open_as(false, &e) == NEAP_E_READONLY && is_helpful(&e) && strstr(e.text, path));
  CHECK("but for reading", open_as(true, &e) == NEAP_OK);
  chmod(path, 0600);
  remove_from(1); /* a reader leaves its -shm */
  chmod(dir, 0500);
  CHECK("where nothing can be made beside it, it cannot be written",
        open_as(false, &e) == NEAP_E_READONLY && is_helpful(&e) &&
            strstr(e.text, "beside it"));
  CHECK("nor read while it might change", open_as(true, &e) == NEAP_E_READONLY &&
                                              is_helpful(&e) &&
                                              strstr(e.text, "beside it"));
  chmod(path, 0400);
  CHECK("but read when it can not change either", open_as(true, &e) == NEAP_OK);
  chmod(path, 0000);
  CHECK("a file that may not be read is not opened",
        open_as(true, &e) == NEAP_E_READONLY && is_helpful(&e) &&
            open_as(false, &e) == NEAP_E_READONLY && is_helpful(&e));
  chmod(dir, 0700);
  unlink(path);
  chmod(dir, 0500);
  CHECK("no file is made where none may be", open_as(false, &e) == NEAP_E_READONLY &&
                                                 is_helpful(&e) &&
                                                 access(path, F_OK) != 0);
  chmod(dir, 0000);
  CHECK("a folder that may not be searched is told",
        open_as(true, &e) == NEAP_E_READONLY && is_helpful(&e));
  chmod(dir, 0700);
}

static void obeys_permissions(void) {
  np_store *st;
  np_claim c;
  np_err e;
  remove_file();
  if (open_rw(&st, &e) != NEAP_OK) exit(2);
  st->ops->claim(st, str("t"), str("s"), false, &c, &e);
  add(st, &c, str("1"), str("x"), NEAP_DURABLE_PROCESS, &e);
  st->ops->close(st, &e);
  if (getuid() == 0 &&
      (chown(dir, 65534, 65534) != 0 || chown(path, 65534, 65534) != 0)) {
    check_skip("permissions", "the files cannot be given to another user");
    return;
  }
  int failed = in_child(as_nobody);
  if (failed == 99) {
    check_skip("permissions", "the process cannot become another user");
  } else {
    CHECK("permissions are obeyed and told", failed == 0);
  }
  if (getuid() == 0 && chown(dir, 0, 0) != 0) exit(2);
}

/* ---- disks that are full ----------------------------------------------------------- */

static void limit_files(rlim_t bytes) {
  struct rlimit l;
  getrlimit(RLIMIT_FSIZE, &l);
  l.rlim_cur = bytes;
  setrlimit(RLIMIT_FSIZE, &l);
}

/* Appends until it fails, checks that nothing changed, lifts the limit, goes on. */
static void fill(neap_durable durable, void (*lift)(void)) {
  np_store *st;
  np_claim c;
  np_err e = {0};
  seen s = seen_new();
  np_str body = make_body(5000, 1);
  neap_rc rc = open_rw(&st, &e);
  CHECK("a store opens on a small disk", rc == NEAP_OK);
  if (rc != NEAP_OK) return;
  st->ops->claim(st, str("t"), str("s"), false, &c, &e);
  for (unsigned i = 0; rc == NEAP_OK && i < 400; i++) {
    np_str one = make_body(5000, i);
    np_event ev[2] = {{.seq = c.last_seq + 1, .head = str("h"), .body = one},
                      {.seq = c.last_seq + 2, .head = str("h")}};
    rc = st->ops->append(st, &c, ev, 2, durable, &e);
    if (rc == NEAP_OK && durable == NEAP_DURABLE_BATCH) rc = st->ops->flush(st, &e);
    free_body(one);
  }
  CHECK("the disk is full", rc == NEAP_E_FULL && is_helpful(&e) && strstr(e.text, path));
  CHECK("the claim counts what was acknowledged",
        c.last_seq > 0 && read_all(st, "t", "s", 1, &s, &e) == NEAP_OK &&
            s.events == c.last_seq);
  int64_t before = c.last_seq;
  lift();
  CHECK("with room again, it goes on from there",
        add(st, &c, str("h"), body, NEAP_DURABLE_PROCESS, &e) == NEAP_OK &&
            read_all(st, "t", "s", 1, &s, &e) == NEAP_OK && s.events == before + 1);
  CHECK("and is sound", faults(st, &e) == 0);
  CHECK("it closes", st->ops->close(st, &e) == NEAP_OK);
  np_buf_free(&s.text);
  free_body(body);
}

static void lift_limit(void) {
  limit_files(RLIM_INFINITY);
}

static void with_small_files(void) {
  static const neap_durable all[] = {NEAP_DURABLE_PROCESS, NEAP_DURABLE_POWER,
                                     NEAP_DURABLE_BATCH};
  np_store *st;
  np_err e;
  signal(SIGXFSZ, SIG_IGN);
  for (size_t i = 0; i < NP_COUNT(all); i++) {
    remove_file();
    limit_files(300000);
    fill(all[i], lift_limit);
  }
  for (rlim_t bytes = 0; bytes < 60000; bytes += 3000) {
    remove_file();
    limit_files(bytes);
    neap_rc rc = open_rw(&st, &e);
    limit_files(RLIM_INFINITY);
    if (rc == NEAP_OK) {
      st->ops->close(st, &e);
      continue;
    }
    CHECK("a file that cannot be made is told to be too large",
          rc == NEAP_E_FULL && is_helpful(&e));
    CHECK("what is left of it does no harm",
          open_rw(&st, &e) == NEAP_OK && faults(st, &e) == 0);
    st->ops->close(st, &e);
  }
}

static char ballast[160];

static void drop_ballast(void) {
  unlink(ballast);
}

/* A file system of 600 KB in memory, half of it taken by a file that is removed later. */
static void fills_a_small_disk(void) {
  char command[300], old[sizeof path];
  snprintf(command, sizeof command, "mount -t tmpfs -o size=600k tmpfs %s 2>/dev/null",
           dir);
  if (getuid() != 0 || system(command) != 0) {
    check_skip("a small disk", "tmpfs cannot be mounted here");
    return;
  }
  memcpy(old, path, sizeof path);
  snprintf(ballast, sizeof ballast, "%s/ballast", dir);
  static const neap_durable all[] = {NEAP_DURABLE_PROCESS, NEAP_DURABLE_BATCH};
  for (size_t i = 0; i < NP_COUNT(all); i++) {
    FILE *f = fopen(ballast, "wb");
    for (int k = 0; f && k < 200000; k++) fputc('x', f);
    if (f) fclose(f);
    fill(all[i], drop_ballast);
    remove_file();
  }
  snprintf(command, sizeof command, "umount %s", dir);
  CHECK("the small disk is put away", system(command) == 0);
}

int main(void) {
  unsigned long long seed = check_seed((unsigned long long)time(NULL));
  if (!mkdtemp(dir)) return 2;
  snprintf(path, sizeof path, "%s/store.db", dir);
  survives_kills(seed);
  opens_a_new_file_together();
  fences_across_handles();
  tells_of_locks();
  obeys_permissions();
  CHECK("small files behave as a full disk", in_child(with_small_files) == 0);
  fills_a_small_disk();
  remove_file();
  rmdir(dir);
  return check_done();
}
