/*
** Tests of older files, and of how contents are trusted: what an older neap wrote is read as it
** is, brought up to date by whoever opens it for writing, and renewed by a vacuum; the sum of a
** content tells damage, its hash who has put other bytes there. next: test_store_file.c
*/
#define _XOPEN_SOURCE 700
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/chunk.h"
#include "store_help.h"

static char dir[64], path[128];

static neap_rc open_rw(np_store **st, np_err *e) {
  return np_store_sqlite_open(libc, path, false, st, e);
}

static void remove_file(void) {
  static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < NP_COUNT(ends); i++) {
    char name[160];
    snprintf(name, sizeof name, "%s%s", path, ends[i]);
    unlink(name);
  }
}

static void raw(const char *sql) {
  sqlite3 *db = NULL;
  char *why = NULL;
  sqlite3_open(path, &db);
  sqlite3_exec(db, sql, NULL, NULL, &why);
  if (why) fprintf(stderr, "raw: %s: %s\n", sql, why);
  sqlite3_free(why);
  sqlite3_close(db);
}

static int64_t number(const char *sql) {
  sqlite3 *db = NULL;
  sqlite3_stmt *st = NULL;
  int64_t n = -1;
  sqlite3_open(path, &db);
  sqlite3_prepare_v2(db, sql, -1, &st, NULL);
  if (sqlite3_step(st) == SQLITE_ROW) n = sqlite3_column_int64(st, 0);
  sqlite3_finalize(st);
  sqlite3_close(db);
  return n;
}

/* ---- older files ------------------------------------------------------------------- */

static void add_raw(sqlite3 *db, np_str body, const uint8_t *hash) {
  sqlite3_stmt *row;
  sqlite3_prepare_v2(db,
                     "INSERT INTO blob(tenant, hash, fence, version, place, size, body)"
                     " VALUES('t', ?, 0, 1, 2, ?, ?)",
                     -1, &row, NULL);
  sqlite3_bind_blob(row, 1, hash, NP_SHA256, SQLITE_STATIC);
  sqlite3_bind_int64(row, 2, (int64_t)body.n);
  sqlite3_bind_blob(row, 3, body.p, (int)body.n, SQLITE_STATIC);
  sqlite3_step(row);
  sqlite3_finalize(row);
}

/* The tables as version 2 or 3 had them, and a large content and a small one, each in one row,
** which events have apart. */
static void make_old(int version, np_str large, np_str small) {
  np_store *st;
  np_err e;
  np_claim c;
  sqlite3 *db;
  uint8_t hash[2][NP_SHA256];
  np_sha256(large, hash[0]);
  np_sha256(small, hash[1]);
  if (open_rw(&st, &e) != NEAP_OK) exit(2);
  st->ops->claim(st, str("t"), str("s"), false, &c, &e);
  np_event ev[2] = {{.seq = 1, .kind = 7, .version = 1, .body = large, .apart = true},
                    {.seq = 2, .kind = 7, .version = 1, .body = small, .apart = true}};
  if (st->ops->append(st, &c, ev, 2, NEAP_DURABLE_PROCESS, &e) != NEAP_OK) exit(2);
  st->ops->close(st, &e);
  raw("DROP TABLE chunk; DROP TABLE blob;"
      "CREATE TABLE blob("
      " id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, hash BLOB NOT NULL,"
      " fence INTEGER NOT NULL, version INTEGER NOT NULL,"
      " place INTEGER NOT NULL, size INTEGER NOT NULL, body BLOB,"
      " UNIQUE(tenant, hash)) STRICT;"
      "PRAGMA user_version = 2");
  if (version == 3)
    raw("CREATE TABLE chunk("
        " id INTEGER PRIMARY KEY, fence INTEGER NOT NULL, version INTEGER NOT NULL,"
        " enc INTEGER NOT NULL, sum INTEGER NOT NULL, marks BLOB NOT NULL,"
        " body BLOB NOT NULL) STRICT;"
        "ALTER TABLE blob ADD COLUMN enc INTEGER NOT NULL DEFAULT 0;"
        "PRAGMA user_version = 3");
  sqlite3_open(path, &db);
  add_raw(db, large, hash[0]);
  add_raw(db, small, hash[1]);
  sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
  sqlite3_close(db);
}

static bool holds(np_store *st, np_str body) {
  np_buf out;
  np_err e = {0};
  uint8_t hash[NP_SHA256];
  np_window w = {.from = body.n / 2, .to = body.n / 2 + 100}, same = w;
  np_sha256(body, hash);
  np_buf_init(&out, libc);
  bool good = st->ops->get(st, str("t"), hash, &out, &e) == NEAP_OK &&
              np_str_eq(np_buf_str(&out), body);
  np_buf_clear(&out);
  good = good && st->ops->window(st, str("t"), hash, &w, &out, &e) == NEAP_OK &&
         np_str_eq(np_buf_str(&out), np_window_of(body, &same));
  if (!good) fprintf(stderr, "not held: %s\n", e.text);
  np_buf_free(&out);
  return good;
}

static void reads_older(int version) {
  np_store *st;
  np_err e;
  np_swept swept;
  np_str large = make_body(500000, 4), small = make_body(20000, 5);
  make_old(version, large, small);
  CHECK("an older file is read as it is",
        np_store_sqlite_open(libc, path, true, &st, &e) == NEAP_OK);
  CHECK("with its contents and windows of them", holds(st, large) && holds(st, small));
  CHECK("and passes the check", faults(st, &e) == 0);
  st->ops->close(st, &e);
  CHECK("reading has not changed it", number("PRAGMA user_version") == version);
  CHECK("for writing it is brought up to date",
        open_rw(&st, &e) == NEAP_OK && number("PRAGMA user_version") == NP_STORE_VERSION);
  CHECK("the contents are as they were", holds(st, large) && holds(st, small));
  CHECK("kept as they were: by their hash alone",
        number("SELECT count(*) FROM blob WHERE sum IS NULL AND place = 2") == 2);
  CHECK("a vacuum renews them", st->ops->vacuum(st, &swept, &e) == NEAP_OK);
  CHECK("which removes none", swept.contents == 0);
  CHECK("a large one has pieces, a small one its sum",
        number("SELECT count(*) FROM blob WHERE place = 4 AND size = 500000") == 1 &&
            number("SELECT count(*) FROM chunk") == 16 &&
            number("SELECT count(*) FROM blob WHERE place = 2 AND sum <> 0") == 1);
  CHECK("and they are what they were", holds(st, large) && holds(st, small));
  CHECK("the check is clean", faults(st, &e) == 0);
  st->ops->close(st, &e);
  remove_file();
  free_body(large);
  free_body(small);
}

/* A vacuum gives no sum to what is damaged: it would make it look right. */
static void renews_no_damage(void) {
  np_store *st;
  np_err e;
  np_swept swept;
  np_buf out;
  uint8_t hash[2][NP_SHA256];
  np_str large = make_body(500000, 4), small = make_body(20000, 5);
  np_sha256(large, hash[0]);
  np_sha256(small, hash[1]);
  np_buf_init(&out, libc);
  make_old(3, large, small);
  raw("UPDATE blob SET body = CAST('x' || substr(body, 2) AS BLOB)");
  CHECK("a damaged one opens", open_rw(&st, &e) == NEAP_OK);
  CHECK("a vacuum leaves it", st->ops->vacuum(st, &swept, &e) == NEAP_OK);
  for (int i = 0; i < 2; i++)
    CHECK("damaged as it is",
          st->ops->get(st, str("t"), hash[i], &out, &e) == NEAP_E_CORRUPT && out.n == 0);
  CHECK("the check finds both", faults(st, &e) == 2);
  st->ops->close(st, &e);
  remove_file();
  np_buf_free(&out);
  free_body(large);
  free_body(small);
}

/* Several processes that open it at the same time: one of them does each step. */
static void migrates_at_once(int version) {
  enum { RIVALS = 6 };
  np_str large = make_body(300000, 1), small = make_body(3000, 1);
  for (int round = 0; round < 4; round++) {
    int failed = 0, go[2];
    char one;
    make_old(version, large, small);
    if (pipe(go) != 0) exit(2);
    for (int i = 0; i < RIVALS; i++) {
      if (fork() != 0) continue;
      np_store *st;
      np_err e;
      close(go[1]);
      if (read(go[0], &one, 1) < 0) _exit(3); /* all begin when the pipe is closed */
      if (open_rw(&st, &e) != NEAP_OK) _exit(1);
      bool same = holds(st, large) && holds(st, small);
      _exit(same && st->ops->close(st, &e) == NEAP_OK ? 0 : 2);
    }
    close(go[0]);
    close(go[1]);
    for (int i = 0, status; i < RIVALS; i++) failed += wait(&status) < 0 || status != 0;
    CHECK("whoever opens it has it up to date, and nobody fails",
          failed == 0 && number("PRAGMA user_version") == NP_STORE_VERSION &&
              number("SELECT count(*) FROM pragma_table_info('blob')"
                     " WHERE name IN ('enc', 'sum')") == 2);
    remove_file();
  }
  free_body(large);
  free_body(small);
}

/* ---- sums -------------------------------------------------------------------------- */

/* What a row says of itself and what it holds, changed in each way that damage may take. */
static void tells_damage(void) {
  static const char *const harm[] = {
      "UPDATE blob SET body = CAST(substr(body, 2) AS BLOB)",
      "UPDATE blob SET body = CAST(body || 'x' AS BLOB)",
      "UPDATE blob SET body = CAST(substr(body, 1, 1500) || 'Z' || substr(body, 1502)"
      " AS BLOB)",
      "UPDATE blob SET body = x''",
      "UPDATE blob SET body = NULL",
      "UPDATE blob SET sum = sum + 1",
      "UPDATE blob SET sum = 1",
      /* the other one's row, sum and all */
      "CREATE TEMP TABLE h AS SELECT id, hash FROM blob;"
      "UPDATE blob SET hash = zeroblob(id);"
      "UPDATE blob SET hash = (SELECT h.hash FROM h WHERE h.id <> blob.id)",
  };
  np_str a = make_body(3000, 1), b = make_body(3000, 2);
  uint8_t hash[2][NP_SHA256];
  np_buf out;
  np_buf_init(&out, libc);
  for (size_t i = 0; i < NP_COUNT(harm); i++) {
    np_store *st;
    np_err e;
    if (open_rw(&st, &e) != NEAP_OK) exit(2);
    st->ops->put(st, str("t"), a, hash[0], &e);
    st->ops->put(st, str("t"), b, hash[1], &e);
    st->ops->close(st, &e);
    raw(harm[i]);
    if (open_rw(&st, &e) != NEAP_OK) exit(2);
    for (int k = 0; k < 2; k++) {
      np_window w = {.from = 0, .to = 10};
      neap_rc got = st->ops->get(st, str("t"), hash[k], &out, &e);
      neap_rc part = st->ops->window(st, str("t"), hash[k], &w, &out, &e);
      bool told = got == NEAP_E_CORRUPT && part == NEAP_E_CORRUPT && out.n == 0;
      CHECK("damage is told, in one line, and nothing is given", told && is_helpful(&e));
      if (!told) fprintf(stderr, "  after %s\n", harm[i]);
    }
    CHECK("the check finds both", faults(st, &e) == 2);
    st->ops->close(st, &e);
    remove_file();
  }
  np_buf_free(&out);
  free_body(a);
  free_body(b);
}

/* A sum that is gone, or was nought by chance, is no fault: the hash decides. */
static void does_without_sums(void) {
  np_store *st;
  np_err e;
  np_str body = make_body(3000, 1);
  uint8_t hash[NP_SHA256];
  static const char *const none[] = {"UPDATE blob SET sum = NULL",
                                     "UPDATE blob SET sum = 0"};
  for (size_t i = 0; i < NP_COUNT(none); i++) {
    if (open_rw(&st, &e) != NEAP_OK) exit(2);
    st->ops->put(st, str("t"), body, hash, &e);
    st->ops->close(st, &e);
    raw(none[i]);
    CHECK("it opens", open_rw(&st, &e) == NEAP_OK);
    CHECK("and is read", holds(st, body));
    st->ops->close(st, &e);
    remove_file();
  }
  free_body(body);
}

/* Who puts other bytes into the file, and their sum, deceives a get; the check is not deceived. */
static void checks_by_hash(void) {
  np_store *st;
  np_err e;
  sqlite3 *db;
  sqlite3_stmt *row;
  np_str body = make_body(3000, 1), lie = make_body(3000, 2);
  uint8_t hash[NP_SHA256];
  if (open_rw(&st, &e) != NEAP_OK) exit(2);
  st->ops->put(st, str("t"), body, hash, &e);
  CHECK("the check is clean", faults(st, &e) == 0);
  st->ops->close(st, &e);
  sqlite3_open(path, &db);
  sqlite3_prepare_v2(db, "UPDATE blob SET body = ?, sum = ?", -1, &row, NULL);
  sqlite3_bind_blob(row, 1, lie.p, (int)lie.n, SQLITE_STATIC);
  sqlite3_bind_int64(row, 2, (int64_t)np_whole_sum(hash, lie, NULL));
  sqlite3_step(row);
  sqlite3_finalize(row);
  sqlite3_close(db);
  if (open_rw(&st, &e) != NEAP_OK) exit(2);
  CHECK("bytes that are not those of the hash are a fault", faults(st, &e) == 1);
  st->ops->close(st, &e);
  remove_file();
  free_body(body);
  free_body(lie);
}

int main(void) {
  bool has_shm = access("/dev/shm", W_OK) == 0;
  snprintf(dir, sizeof dir, "%s/neap-old-XXXXXX", has_shm ? "/dev/shm" : "/tmp");
  if (!mkdtemp(dir)) return 2;
  snprintf(path, sizeof path, "%s/store.db", dir);
  for (int version = 2; version <= 3; version++) {
    reads_older(version);
    migrates_at_once(version);
  }
  renews_no_damage();
  tells_damage();
  does_without_sums();
  checks_by_hash();
  remove_file();
  rmdir(dir);
  return check_done();
}
