/*
** Tests of core/store on files that are odd: another program's, a newer neap's, damaged,
** cut short, in places where no file can be. Processes that die or compete are in
** test_store_crash.c. next: test_store_crash.c
*/
#define _XOPEN_SOURCE 700
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_help.h"

static char dir[64], path[128];

static neap_rc open_rw(np_store **st, np_err *e) {
  return np_store_sqlite_open(libc, path, false, st, e);
}

static void beside(char out[192], const char *end) {
  snprintf(out, 192, "%s%s", path, end);
}

static void remove_file(void) {
  static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
  char name[192];
  for (size_t i = 0; i < NP_COUNT(ends); i++) {
    beside(name, ends[i]);
    unlink(name);
  }
}

static np_buf slurp(const char *end) {
  char name[192], chunk[4096];
  np_buf b;
  np_buf_init(&b, libc);
  beside(name, end);
  FILE *f = fopen(name, "rb");
  for (size_t n; f && (n = fread(chunk, 1, sizeof chunk, f)) > 0;) {
    np_buf_add(&b, np_str_of(chunk, n));
  }
  if (f) fclose(f);
  return b;
}

static void spill(np_str bytes) {
  FILE *f = fopen(path, "wb");
  if (!f) exit(2);
  if (bytes.n) fwrite(bytes.p, 1, bytes.n, f);
  fclose(f);
}

static bool exists(const char *end) {
  char name[192];
  beside(name, end);
  return access(name, F_OK) == 0;
}

/* Runs SQL on the file behind neap's back. */
static void raw(const char *sql) {
  sqlite3 *db;
  if (sqlite3_open(path, &db) != SQLITE_OK) exit(2);
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
    fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
    exit(2);
  }
  sqlite3_close(db);
}

static long long raw_int(const char *sql) {
  sqlite3 *db;
  sqlite3_stmt *st;
  if (sqlite3_open(path, &db) != SQLITE_OK) exit(2);
  if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK) exit(2);
  sqlite3_step(st);
  long long v = sqlite3_column_int64(st, 0);
  sqlite3_finalize(st);
  sqlite3_close(db);
  return v;
}

/* A closed store: session "s" of tenant "t" with small and large bodies. */
static void make_store(int events) {
  np_store *st;
  np_claim c;
  np_err e;
  remove_file();
  if (open_rw(&st, &e) != NEAP_OK) exit(2);
  st->ops->claim(st, str("t"), str("s"), false, &c, &e);
  for (int i = 1; i <= events; i++) {
    char head[32];
    snprintf(head, sizeof head, "HEAD-%06d", i);
    np_str body = make_body(i % 2 ? 200 : 6000, 1000u + (unsigned)i);
    add(st, &c, str(head), body, NEAP_DURABLE_PROCESS, &e);
    free_body(body);
  }
  if (st->ops->close(st, &e) != NEAP_OK) exit(2);
}

/* ---- a good file ------------------------------------------------------------------- */

static int mode_of(const char *end) {
  struct stat info;
  char name[192];
  beside(name, end);
  return stat(name, &info) == 0 ? (int)(info.st_mode & 0777) : -1;
}

static void is_private_and_known(void) {
  np_store *st;
  np_err e;
  np_claim c;
  uint8_t before[NP_SHA256], after[NP_SHA256];
  mode_t old = umask(0);
  CHECK("a new file is made", open_rw(&st, &e) == NEAP_OK);
  st->ops->claim(st, str(""), str("s"), false, &c, &e);
  CHECK("only its owner may read it, nor the files beside it",
        mode_of("") == 0600 && mode_of("-wal") == 0600 && mode_of("-shm") == 0600);
  umask(old);
  st->ops->secret(st, before, &e);
  CHECK("closing leaves one file", st->ops->close(st, &e) == NEAP_OK && !exists("-wal") &&
                                       !exists("-shm") && !exists("-journal"));
  CHECK("the application's id is in the file",
        raw_int("PRAGMA application_id") == 0x6E656170);
  CHECK("so is its version", raw_int("PRAGMA user_version") == NP_STORE_VERSION);
  CHECK("every table has a fence and a version",
        raw_int(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND (sql NOT LIKE "
            "'%fence INTEGER NOT NULL%' OR sql NOT LIKE '%version INTEGER NOT NULL%' OR "
            "sql NOT LIKE '%STRICT')") == 0);
  CHECK("it opens again, with the same secret",
        open_rw(&st, &e) == NEAP_OK && st->ops->secret(st, after, &e) == NEAP_OK &&
            memcmp(before, after, sizeof before) == 0);
  st->ops->close(st, &e);
  remove_file();
  spill(str(""));
  CHECK("an empty file becomes a store", open_rw(&st, &e) == NEAP_OK);
  st->ops->close(st, &e);
}

static void odd_names(void) {
  static const char *const names[] = {"file:x?mode=memory", ":memory:", "a b%41#c?d",
                                      "\xC3\xA9.db"};
  char old[64];
  np_store *st;
  np_err e;
  if (!getcwd(old, sizeof old) || chdir(dir) != 0) return;
  for (size_t i = 0; i < NP_COUNT(names); i++) {
    CHECK("any text is the name of a file",
          np_store_sqlite_open(libc, names[i], false, &st, &e) == NEAP_OK &&
              access(names[i], F_OK) == 0);
    st->ops->close(st, &e);
    unlink(names[i]);
  }
  CHECK("going back", chdir(old) == 0);
}

static void reads_only(void) {
  np_store *st;
  np_err e;
  np_claim c;
  uint8_t hash[NP_SHA256];
  seen s = seen_new();
  remove_file();
  neap_rc rc = np_store_sqlite_open(libc, path, true, &st, &e);
  CHECK("reading a store that is not there makes none",
        rc == NEAP_E_NOTFOUND && !st && is_helpful(&e) && !exists(""));
  spill(str(""));
  rc = np_store_sqlite_open(libc, path, true, &st, &e);
  CHECK("an empty file has nothing to read", rc == NEAP_E_NOTFOUND && is_helpful(&e));
  make_store(5);
  np_buf before = slurp("");
  rc = np_store_sqlite_open(libc, path, true, &st, &e);
  CHECK("a store opens for reading", rc == NEAP_OK);
  CHECK("and is read", read_all(st, "t", "s", 1, &s, &e) == NEAP_OK && s.events == 5);
  CHECK("its secret too", st->ops->secret(st, hash, &e) == NEAP_OK);
  CHECK("a claim to write is refused",
        st->ops->claim(st, str("t"), str("s"), false, &c, &e) == NEAP_E_READONLY);
  CHECK("so are put and purge",
        st->ops->put(st, str("t"), str("x"), hash, &e) == NEAP_E_READONLY &&
            st->ops->purge(st, str("t"), hash, &e) == NEAP_E_READONLY);
  st->ops->close(st, &e);
  np_buf after = slurp("");
  CHECK("the file is as it was", np_str_eq(np_buf_str(&before), np_buf_str(&after)));
  np_buf_free(&before);
  np_buf_free(&after);
  np_buf_free(&s.text);
}

/* ---- files that are not ours ------------------------------------------------------- */

/* Opens in both ways: `want` each time, one helpful line, and no byte changed. */
static void is_refused(const char *what, neap_rc want) {
  np_buf before = slurp(""), before_wal = slurp("-wal");
  bool had_wal = exists("-wal"), had_shm = exists("-shm");
  for (int readonly = 0; readonly < 2; readonly++) {
    np_store *st = NULL;
    np_err e = {0};
    CHECK(what, np_store_sqlite_open(libc, path, readonly, &st, &e) == want && !st);
    CHECK("the text names the file and what to do",
          strstr(e.text, path) && is_helpful(&e));
    np_buf after = slurp(""), after_wal = slurp("-wal");
    CHECK("the file is untouched",
          np_str_eq(np_buf_str(&before), np_buf_str(&after)) &&
              np_str_eq(np_buf_str(&before_wal), np_buf_str(&after_wal)));
    CHECK("nothing is left beside it",
          exists("-wal") == had_wal && exists("-shm") == had_shm && !exists("-journal"));
    np_buf_free(&after);
    np_buf_free(&after_wal);
  }
  np_buf_free(&before);
  np_buf_free(&before_wal);
  remove_file();
}

static void refuses_foreign_files(void) {
  np_str text = make_body(9000, 5);
  spill(str("x"));
  is_refused("one byte is no store", NEAP_E_FOREIGN);
  spill(text);
  is_refused("a text is no store", NEAP_E_FOREIGN);
  free_body(text);
  raw("CREATE TABLE a(b); INSERT INTO a VALUES(1)");
  is_refused("another program's SQLite file is no store", NEAP_E_FOREIGN);
  raw("CREATE TABLE event(a); PRAGMA application_id = 7; PRAGMA user_version = 1");
  is_refused("nor one with an application's id", NEAP_E_FOREIGN);
  sqlite3 *db;
  remove_file();
  sqlite3_open(path, &db);
  sqlite3_exec(db, "PRAGMA journal_mode = WAL; CREATE TABLE a(b)", NULL, NULL, NULL);
  is_refused("nor one that its program has open, with its log", NEAP_E_FOREIGN);
  sqlite3_close(db);
  remove_file();
}

static void refuses_newer_files(void) {
  make_store(2);
  raw("PRAGMA journal_mode = DELETE; PRAGMA user_version = 1000");
  is_refused("a newer version is refused", NEAP_E_NEWER);
  make_store(2);
  raw("PRAGMA journal_mode = DELETE; PRAGMA user_version = -1");
  is_refused("a version below zero too", NEAP_E_NEWER);
}

static void refuses_impossible_places(void) {
  np_store *st;
  np_err e;
  char name[192];
  CHECK("a folder is no file",
        np_store_sqlite_open(libc, dir, false, &st, &e) == NEAP_E_IO && is_helpful(&e));
  snprintf(name, sizeof name, "%s/no/such/store.db", dir);
  CHECK("a folder that is not there is told",
        np_store_sqlite_open(libc, name, false, &st, &e) == NEAP_E_IO &&
            strstr(e.text, "make the folder first"));
  snprintf(name, sizeof name, "%s/fifo", dir);
  CHECK("a pipe is no file, and nobody waits for it",
        mkfifo(name, 0600) == 0 &&
            np_store_sqlite_open(libc, name, false, &st, &e) == NEAP_E_IO &&
            is_helpful(&e));
  unlink(name);
  CHECK("a file is no folder",
        np_store_sqlite_open(libc, "/dev/null/x", false, &st, &e) == NEAP_E_IO);
  CHECK("an empty path is refused",
        np_store_sqlite_open(libc, "", false, &st, &e) == NEAP_E_ARG);
  char *deep = malloc(9000);
  if (!deep) return;
  memset(deep, 'x', 8999);
  deep[8999] = '\0';
  CHECK("a path that is too long is told in a line that is not",
        np_store_sqlite_open(libc, deep, false, &st, &e) == NEAP_E_IO && is_helpful(&e));
  free(deep);
}

/* ---- damage ------------------------------------------------------------------------ */

/* Where `needle` begins in the file, and flips the byte there. */
static bool flip(const char *needle) {
  np_buf b = slurp("");
  size_t at = np_str_find(np_buf_str(&b), str(needle), 0);
  if (at != SIZE_MAX) b.p[at] ^= 1;
  if (at != SIZE_MAX) spill(np_buf_str(&b));
  np_buf_free(&b);
  return at != SIZE_MAX;
}

static void make_marked(size_t size, const char *mark) {
  np_store *st;
  np_claim c;
  np_err e;
  make_store(3);
  if (open_rw(&st, &e) != NEAP_OK) exit(2);
  np_str body = make_body(size, 2);
  union {
    const char *in;
    char *out;
  } p = {body.p};
  memcpy(p.out + size - strlen(mark), mark, strlen(mark));
  st->ops->claim(st, str("t"), str("s"), false, &c, &e);
  add(st, &c, str("HEAD-of-four"), body, NEAP_DURABLE_PROCESS, &e);
  free_body(body);
  st->ops->close(st, &e);
}

static void finds_flipped_bytes(void) {
  static const struct {
    size_t size;
    const char *mark;
  } cases[] = {{300, "INLINE-MARK"},
               {3000, "BLOB-MARK"},
               {50000, "OVERFLOW-MARK"},
               {300, "HEAD-of-four"}};
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    np_store *st;
    np_err e;
    seen s = seen_new();
    make_marked(cases[i].size, cases[i].mark);
    CHECK("the mark is in the file", flip(cases[i].mark));
    CHECK("the store opens", open_rw(&st, &e) == NEAP_OK);
    CHECK("reading gives what is before it",
          read_all(st, "t", "s", 1, &s, &e) == NEAP_E_CORRUPT && s.events == 3);
    CHECK("and names the event and the session",
          strstr(e.text, "event 4 of session 's'") && strstr(e.text, path) &&
              is_helpful(&e));
    CHECK("the check finds it", faults(st, &e) >= 1);
    st->ops->close(st, &e);
    np_buf_free(&s.text);
  }
}

static void finds_missing_rows(void) {
  static const char *const sql[] = {"DELETE FROM event WHERE seq = 2",
                                    "DELETE FROM blob",
                                    "UPDATE event SET seq = 9 WHERE seq = 2",
                                    ("UPDATE event SET seq = 9223372036854775807 WHERE "
                                     "seq = 2"),
                                    "UPDATE event SET kind = 8 WHERE seq = 2",
                                    "UPDATE event SET place = 9 WHERE seq = 2",
                                    "DROP TABLE blob"};
  for (size_t i = 0; i < NP_COUNT(sql); i++) {
    np_store *st;
    np_err e;
    seen s = seen_new();
    make_store(5);
    raw(sql[i]);
    CHECK("the store opens", open_rw(&st, &e) == NEAP_OK);
    CHECK("what is gone is told", read_all(st, "t", "s", 1, &s, &e) == NEAP_E_CORRUPT &&
                                      s.events == 1 && is_helpful(&e));
    CHECK("the check finds it", faults(st, &e) >= 1);
    st->ops->close(st, &e);
    np_buf_free(&s.text);
  }
}

/* Numbers behind which none can come, and names that no writer may give. */
static void finds_impossible_rows(void) {
  static const char *const seqs[] = {"9223372036854775807", "9223372036854775806",
                                     "281474976710656", "-5"};
  for (size_t i = 0; i < NP_COUNT(seqs); i++) {
    char sql[80];
    np_store *st;
    np_claim c;
    np_err e;
    make_store(1);
    snprintf(sql, sizeof sql, "UPDATE event SET seq = %s", seqs[i]);
    raw(sql);
    CHECK("the store opens", open_rw(&st, &e) == NEAP_OK);
    CHECK("no writer goes on behind it",
          st->ops->claim(st, str("t"), str("s"), false, &c, &e) == NEAP_E_CORRUPT &&
              is_helpful(&e));
    CHECK("the check finds it", faults(st, &e) >= 1);
    st->ops->close(st, &e);
  }
  static const char *const names[] = {"''", "'a' || char(0) || 'b'"};
  for (size_t i = 0; i < NP_COUNT(names); i++) {
    char sql[120];
    np_store *st;
    np_err e;
    make_store(1);
    snprintf(sql, sizeof sql, "INSERT INTO session VALUES('t', %s, 1, 1)", names[i]);
    raw(sql);
    CHECK("the store opens", open_rw(&st, &e) == NEAP_OK);
    CHECK("the check finds the name", faults(st, &e) == 1);
    st->ops->close(st, &e);
  }
}

/* Opens a damaged file, reads and checks it. True when nothing wrong was taken for right:
** either all bytes are the old ones, or a code says so. */
static bool survives(np_str good, neap_rc *rc) {
  np_store *st;
  np_err e;
  seen s = seen_new();
  *rc = open_rw(&st, &e);
  if (*rc != NEAP_OK) return true;
  *rc = read_all(st, "t", "s", 1, &s, &e);
  bool same = np_str_eq(good, np_buf_str(&s.text));
  bool prefix = np_str_eq(np_str_cut(good, 0, s.text.n), np_buf_str(&s.text));
  bool ok = *rc == NEAP_OK ? same || s.events < 40 : prefix;
  bool clean = faults(st, &e) == 0;
  if (clean && !(*rc == NEAP_OK && same)) ok = false;
  if (*rc == NEAP_OK && !clean) *rc = NEAP_E_CORRUPT;
  st->ops->close(st, &e);
  np_buf_free(&s.text);
  return ok;
}

static np_buf good_text(void) {
  np_store *st;
  np_err e;
  seen s = seen_new();
  make_store(40);
  if (open_rw(&st, &e) != NEAP_OK || read_all(st, "t", "s", 1, &s, &e) != NEAP_OK)
    exit(2);
  st->ops->close(st, &e);
  return s.text;
}

static void survives_damage(unsigned long long seed) {
  np_buf good = good_text(), file = slurp("");
  unsigned long long r = seed;
  int wrong = 0, unseen = 0;
  neap_rc rc;
  for (int i = 0; i < 200; i++) {
    size_t at = (size_t)(check_random(&r) % file.n);
    char old = file.p[at], mask = (char)(1 << check_random(&r) % 8);
    file.p[at] = (char)(old ^ mask);
    remove_file();
    spill(np_buf_str(&file));
    if (!survives(np_buf_str(&good), &rc)) wrong++;
    file.p[at] = old;
  }
  CHECK("a flipped bit never passes for the truth", wrong == 0);
  for (size_t n = 1; n < file.n; n += 1 + (size_t)(check_random(&r) % 8000)) {
    remove_file();
    spill(np_str_of(file.p, n));
    if (!survives(np_buf_str(&good), &rc)) wrong++;
    if (rc == NEAP_OK) unseen++;
  }
  CHECK("a file that was cut short is told", wrong == 0 && unseen == 0);
  np_buf_free(&good);
  np_buf_free(&file);
}

/* ---- purging ----------------------------------------------------------------------- */

static int times_in_files(const char *mark) {
  static const char *const ends[] = {"", "-wal", "-journal"};
  int n = 0;
  for (size_t i = 0; i < NP_COUNT(ends); i++) {
    np_buf b = slurp(ends[i]);
    for (size_t at = 0; (at = np_str_find(np_buf_str(&b), str(mark), at)) != SIZE_MAX;
         at++)
      n++;
    np_buf_free(&b);
  }
  return n;
}

static void purges_for_good(void) {
  static const size_t sizes[] = {60, 1000, 1024, 3000, 20000, 300000};
  static const char mark[] = "THE-SECRET-ITSELF";
  for (size_t i = 0; i < NP_COUNT(sizes); i++) {
    np_store *st;
    np_err e;
    np_claim c;
    uint8_t hash[NP_SHA256];
    np_str body = make_body(sizes[i], 3), more = make_body(2000, 77);
    union {
      const char *in;
      char *out;
    } p = {body.p};
    memcpy(p.out + sizes[i] - sizeof mark + 1, mark, sizeof mark - 1);
    if (sizes[i] > 100) memcpy(p.out + 10, mark, sizeof mark - 1);
    make_store(20);
    if (open_rw(&st, &e) != NEAP_OK) exit(2);
    st->ops->claim(st, str("t"), str("s"), false, &c, &e);
    add(st, &c, str("h"), body, NEAP_DURABLE_PROCESS, &e);
    for (int k = 0; k < 5; k++) add(st, &c, str("h"), more, NEAP_DURABLE_PROCESS, &e);
    CHECK("the secret is in the files", times_in_files(mark) > 0);
    np_sha256(body, hash);
    CHECK("it is purged", st->ops->purge(st, str("t"), hash, &e) == NEAP_OK);
    CHECK("no byte of it is left while the store is open", times_in_files(mark) == 0);
    add(st, &c, str("h"), more, NEAP_DURABLE_PROCESS, &e);
    CHECK("the check is clean", faults(st, &e) == 0);
    st->ops->close(st, &e);
    CHECK("nor when it is closed", times_in_files(mark) == 0);
    free_body(body);
    free_body(more);
  }
}

int main(void) {
  unsigned long long seed = check_seed(77);
  bool has_shm = access("/dev/shm", W_OK) == 0;
  snprintf(dir, sizeof dir, "%s/neap-file-XXXXXX", has_shm ? "/dev/shm" : "/tmp");
  if (!mkdtemp(dir)) return 2;
  snprintf(path, sizeof path, "%s/store.db", dir);
  is_private_and_known();
  odd_names();
  reads_only();
  refuses_foreign_files();
  refuses_newer_files();
  refuses_impossible_places();
  finds_flipped_bytes();
  finds_missing_rows();
  finds_impossible_rows();
  survives_damage(seed);
  purges_for_good();
  remove_file();
  rmdir(dir);
  return check_done();
}
