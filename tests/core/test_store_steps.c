/*
** A full disk, and a kill, at every write of what is done to a store: it is done or it is not, the
** file is sound, and doing it again does it. What was purged, words in the index and all, is in no
** byte of the file or of its log. next: test_store_memory.c
*/
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_help.h"

static char dir[64], path[128], copy[128], part[160];

static neap_rc open_rw(np_store **st, np_err *e);

/* ---- writes that fail -------------------------------------------------------------- */

typedef enum trouble { COUNT, FULL, KILL, TORN } trouble;
static struct {
  trouble how;
  long at, n;
} step;

typedef ssize_t (*write_fn)(int, const void *, size_t, off_t);

/* TORN: half of it is written, then the process is killed. */
static ssize_t my_pwrite(int fd, const void *p, size_t n, off_t at) {
  step.n++;
  if (step.how == TORN && step.n == step.at) {
    if (pwrite(fd, p, n / 2, at) < 0) _exit(78);
    _exit(77);
  }
  if (step.how == KILL && step.n == step.at) _exit(77);
  if (step.how == FULL && step.n >= step.at) {
    errno = ENOSPC;
    return -1;
  }
  return pwrite(fd, p, n, at);
}

static bool watch_writes(void) {
  static const char *const names[] = {"pwrite", "pwrite64"};
  sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
  union {
    write_fn in;
    sqlite3_syscall_ptr out;
  } fn = {my_pwrite};
  bool some = false;
  for (size_t i = 0; vfs && vfs->iVersion >= 3 && i < NP_COUNT(names); i++)
    some = vfs->xSetSystemCall(vfs, names[i], fn.out) == SQLITE_OK || some;
  return some;
}

/* ---- a store ------------------------------------------------------------------------ */

static const char secret[] = "qzxjkvwyplm 鷄犬相聞 xkcdMutableThing";
static np_buf bytes;
static np_str large, small;

static bool text_of(void *ctx, np_str body, int32_t which, np_buf *out) {
  (void)ctx;
  (void)which;
  np_buf_add(out, body);
  return !out->failed;
}

static neap_rc open_rw(np_store **st, np_err *e) {
  neap_rc rc = np_store_sqlite_open(libc, path, false, st, e);
  if (rc == NEAP_OK) (*st)->text = text_of;
  return rc;
}

static void remove_files(void) {
  static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < 2 * NP_COUNT(ends); i++) {
    char name[160];
    snprintf(name, sizeof name, "%s%s", i % 2 ? copy : path, ends[i / 2]);
    unlink(name);
  }
}

static void add_file(np_buf *out, const char *end) {
  char name[160], room[65536];
  size_t n;
  snprintf(name, sizeof name, "%s%s", path, end);
  FILE *f = fopen(name, "rb");
  while (f && (n = fread(room, 1, sizeof room, f)) > 0)
    np_buf_add(out, np_str_of(room, n));
  if (f) fclose(f);
}

static void renew(void) {
  remove_files();
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(bytes.p, 1, bytes.n, f) != bytes.n || fclose(f)) exit(2);
}

static void make_store(void) {
  np_store *st;
  np_err e = {0};
  np_claim c;
  uint8_t hash[NP_SHA256];
  if (open_rw(&st, &e) != NEAP_OK) exit(2);
  st->ops->claim(st, str("t"), str("s"), false, &c, &e);
  const np_str texts[] = {str(secret), str("a plain text of others"), small, large};
  for (int i = 0; i < 4; i++) {
    np_doc doc = {.entry = i + 1, .seq = i + 1, .step = 1, .text = texts[i]};
    np_docs d = {.tenant = str("t"), .session = str("s"), .fence = c.fence, .doc = &doc};
    d.n = i < 2;
    d.from = (np_indexed){.entry = i, .seq = i};
    d.to = (np_indexed){.entry = i + 1, .seq = i + 1};
    if (add(st, &c, str("h"), texts[i], NEAP_DURABLE_PROCESS, &e)) exit(2);
    if (i < 2 && st->ops->index(st, &d, &e)) exit(2);
  }
  st->ops->put(st, str("t"), str("something that nothing refers to"), hash, &e);
  st->ops->close(st, &e);
  add_file(&bytes, "");
}

/* ---- what is done -------------------------------------------------------------------- */

static np_str fresh, fresh_large;

static neap_rc put_one(np_store *st, np_str body, np_err *e) {
  uint8_t hash[NP_SHA256];
  return st->ops->put(st, str("t"), body, hash, e);
}
static neap_rc do_put(np_store *st, np_err *e) {
  return put_one(st, fresh, e);
}
static neap_rc do_put_large(np_store *st, np_err *e) {
  return put_one(st, fresh_large, e);
}
static neap_rc do_append(np_store *st, np_err *e) {
  np_claim c;
  neap_rc rc = st->ops->claim(st, str("t"), str("s"), false, &c, e);
  return rc ? rc : add(st, &c, str("h"), fresh, NEAP_DURABLE_PROCESS, e);
}
static neap_rc do_purge(np_store *st, np_err *e) {
  uint8_t hash[NP_SHA256];
  np_sha256(str(secret), hash);
  return st->ops->purge(st, str("t"), hash, e);
}
static neap_rc do_vacuum(np_store *st, np_err *e) {
  np_swept swept;
  return st->ops->vacuum(st, &swept, e);
}
static neap_rc do_backup(np_store *st, np_err *e) {
  neap_rc rc = st->ops->backup(st, copy, e);
  if (rc == NEAP_OK) unlink(copy);
  return rc;
}
static neap_rc do_fork(np_store *st, np_err *e) {
  neap_rc rc = st->ops->fork(st, str("t"), str("s"), str("again"), 3, e);
  return rc == NEAP_E_MISUSE ? NEAP_OK : rc; /* it is there already: done again */
}
static neap_rc do_import(np_store *st, np_err *e) {
  np_event ev[2] = {{.seq = 1, .kind = 1, .version = 1, .body = fresh},
                    {.seq = 2, .kind = 1, .version = 1, .body = fresh_large}};
  neap_rc rc = st->ops->restore(st, str("t"), str("more"), ev, 2, e);
  return rc == NEAP_E_MISUSE ? NEAP_OK : rc;
}

static const struct deed {
  const char *name;
  neap_rc (*run)(np_store *st, np_err *e);
} deeds[] = {
    {"put", do_put},     {"put in pieces", do_put_large}, {"append", do_append},
    {"purge", do_purge}, {"vacuum", do_vacuum},           {"backup", do_backup},
    {"fork", do_fork},   {"import", do_import},
};

/* Opening is a part of it: a new version's tables are made there. */
static neap_rc open_and_do(const struct deed *d, np_err *e) {
  np_store *st;
  neap_rc rc = open_rw(&st, e);
  if (rc) return rc;
  rc = d->run(st, e);
  st->ops->close(st, NULL);
  return rc;
}

static bool holds_secret(void) {
  static const char *const words[] = {"zxjkvwyplm", "\xE7\x8A\xAC\xE7\x9B\xB8",
                                      "cdmutable", "cdMutable", "utablething"};
  np_buf all;
  bool found = false;
  np_buf_init(&all, libc);
  add_file(&all, "");
  add_file(&all, "-wal");
  for (size_t i = 0; i < NP_COUNT(words); i++)
    found = found || np_str_find(np_buf_str(&all), str(words[i]), 0) != SIZE_MAX;
  np_buf_free(&all);
  return found;
}

/* The store is sound and what was there is there; and the deed can be done now. */
static bool is_well(const struct deed *d) {
  np_store *half;
  np_store *st;
  np_err e = {0};
  seen s = seen_new();
  neap_rc rc = open_rw(&st, &e);
  /* what has a copy's name is whole, whenever the kill came */
  bool there = access(copy, F_OK) == 0;
  bool lies = there && np_store_sqlite_open(libc, copy, true, &half, &e) != NEAP_OK;
  if (there && !lies) {
    lies = faults(half, &e) != 0 || read_all(half, "t", "s", 1, &s, &e) != NEAP_OK ||
           s.events < 4;
    half->ops->close(half, NULL);
  }
  unlink(copy);
  unlink(part);
  e.text[0] = 0;
  bool good = !lies && rc == NEAP_OK && faults(st, &e) == 0 &&
              read_all(st, "t", "s", 1, &s, &e) == NEAP_OK && s.events >= 4;
  if (good && d->run != do_purge) good = s.purged == 0;
  if (rc == NEAP_OK) st->ops->close(st, NULL);
  if (good) good = open_and_do(d, &e) == NEAP_OK;
  if (good && d->run == do_purge) good = !holds_secret();
  if (!good) fprintf(stderr, "%s, write %ld: %s\n", d->name, step.at, e.text);
  np_buf_free(&s.text);
  return good;
}

static void full_at_each(const struct deed *d) {
  int wrong = 0, told = 0;
  bool through = false;
  for (long at = 1; !through && at < 3000; at += at < 60 ? 1 : 1 + at / 10) {
    np_err e = {0};
    renew();
    step.how = FULL;
    step.at = at;
    step.n = 0;
    neap_rc rc = open_and_do(d, &e);
    through = step.n < at;
    step.how = COUNT;
    told += rc == NEAP_E_FULL;
    bool fits = rc == NEAP_OK || (rc == NEAP_E_FULL && is_helpful(&e));
    if (!fits) fprintf(stderr, "%s, write %ld: %d %s\n", d->name, at, rc, e.text);
    wrong += !fits || !is_well(d);
  }
  CHECK("a disk that is full at any write is told, and nothing is done by half",
        wrong == 0 && through);
  CHECK("it was told", told > 0);
}

static void killed_at_each(const struct deed *d, trouble how) {
  int wrong = 0, killed = 0;
  bool through = false;
  for (long at = 1; !through && at < 3000; at += at < 60 ? 1 : 1 + at / 10) {
    int status = 0;
    renew();
    pid_t child = fork();
    if (child == 0) {
      np_err e;
      step.how = how;
      step.at = at;
      step.n = 0;
      _exit(open_and_do(d, &e) ? 1 : 0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) exit(2);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 99;
    through = code == 0;
    killed += code == 77;
    step.at = at;
    wrong += (code != 0 && code != 77) || !is_well(d);
  }
  CHECK("a kill at any write does it or does it not", wrong == 0 && through);
  CHECK("there were kills", killed > 0);
}

/* The tables of version 3: opening makes those of today. */
static void make_old(void) {
  sqlite3 *db;
  char *why = NULL;
  renew();
  sqlite3_open(path, &db);
  sqlite3_exec(db,
               "ALTER TABLE blob DROP COLUMN sum; PRAGMA user_version = 3;"
               "PRAGMA journal_mode = DELETE",
               NULL, NULL, &why);
  if (why) fprintf(stderr, "%s\n", why);
  sqlite3_close(db);
  np_buf_clear(&bytes);
  add_file(&bytes, "");
}

int main(void) {
  bool has_shm = access("/dev/shm", W_OK) == 0;
  snprintf(dir, sizeof dir, "%s/neap-steps-XXXXXX", has_shm ? "/dev/shm" : "/tmp");
  if (!mkdtemp(dir)) return 2;
  snprintf(path, sizeof path, "%s/store.db", dir);
  snprintf(copy, sizeof copy, "%s/copy.db", dir);
  snprintf(part, sizeof part, "%s.part", copy);
  np_buf_init(&bytes, libc);
  large = make_body(300000, 1);
  small = make_body(5000, 2);
  fresh = make_body(20000, 3);
  fresh_large = make_body(300000, 4);
  if (!watch_writes()) {
    check_skip("writes that fail", "this SQLite's writes cannot be watched");
    return check_done();
  }
  make_store();
  renew();
  CHECK("the secret is in the file", holds_secret());
  for (int old = 0; old < 2; old++) {
    if (old) make_old();
    for (size_t i = 0; i < (old ? 1 : NP_COUNT(deeds)); i++) {
      full_at_each(&deeds[i]);
      killed_at_each(&deeds[i], KILL);
      killed_at_each(&deeds[i], TORN);
    }
  }
  remove_files();
  rmdir(dir);
  np_buf_free(&bytes);
  free_body(large);
  free_body(small);
  free_body(fresh);
  free_body(fresh_large);
  return check_done();
}
