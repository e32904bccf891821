/*
** Tests of large contents: a window is the slice of the whole, for any bytes, any range, sizes
** around every border, in both stores and all ways in which a content is kept; damage in a
** piece is found by who reads it and by nobody else. next: test_store_old.c
*/
#define _XOPEN_SOURCE 700
#include <sqlite3.h>
#include <unistd.h>

#include "store/chunk.h"
#include "store_help.h"
#include "text/text.h"

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

/* ---- bodies ------------------------------------------------------------------------ */

typedef enum look { PROSE, BINARY, NEWLINES, ONE_LINE, LONG_LINES, CRLF, LOOKS } look;

static char byte_of(look how, size_t i, unsigned long long r) {
  switch (how) {
    case BINARY: return (char)(r & 255);
    case NEWLINES: return r % 64 ? '\n' : 'x';
    case ONE_LINE: return (char)('a' + r % 26);
    case LONG_LINES: return r % 40000 ? 'y' : '\n';
    case CRLF: return i % 37 == 35 ? '\r' : i % 37 == 36 ? '\n' : (char)('a' + r % 26);
    default: return r % 50 ? (char)('a' + r % 26) : '\n';
  }
}

static np_str random_body(look how, size_t n, unsigned long long *r) {
  char *p = malloc(n + 1);
  for (size_t i = 0; p && i < n; i++) p[i] = byte_of(how, i, check_random(r) >> 7);
  return (np_str){p, n};
}

/* ---- the property ------------------------------------------------------------------ */

static bool is_slice(np_store *st, np_str body, const uint8_t *hash, np_window w) {
  np_err e;
  np_buf out;
  np_str want =
      w.by_lines ? np_lines_slice(body, w.from, w.to) : np_str_cut(body, w.from, w.to);
  np_buf_init(&out, libc);
  np_buf_adds(&out, "..");
  neap_rc rc = st->ops->window(st, str("t"), hash, &w, &out, &e);
  bool same = rc == NEAP_OK && w.size == body.n && out.n == want.n + 2 &&
              (want.n == 0 || memcmp(out.p + 2, want.p, want.n) == 0) &&
              w.at == (want.n ? (size_t)(want.p - body.p) : 0) &&
              w.lines == (w.by_lines ? np_lines_count(body) : 0);
  if (!same)
    fprintf(stderr, "%s %zu bytes, %s %zu-%zu: rc %d, %zu bytes for %zu, at %zu, %zu\n",
            st->ops->name, body.n, w.by_lines ? "lines" : "bytes", w.from, w.to, (int)rc,
            out.n - 2, want.n, w.at, w.lines);
  np_buf_free(&out);
  return same;
}

/* Ranges at the borders of pieces, marks and the text, and any others. */
static size_t a_place(bool by_lines, size_t limit, unsigned long long *r) {
  size_t unit = by_lines ? NP_MARK_LINES : NP_CHUNK, near = check_random(r) % 3;
  switch (check_random(r) % 4) {
    case 0: return check_random(r) % (limit + 3);
    case 1: return (check_random(r) % (limit / unit + 2)) * unit + near;
    case 2: return limit + 1 > near ? limit + 1 - near : 0;
    default: return near;
  }
}

static bool windows_are_slices(np_store *st, np_str body, int tries,
                               unsigned long long *r) {
  np_err e;
  uint8_t hash[NP_SHA256];
  np_buf out;
  np_buf_init(&out, libc);
  bool ok = st->ops->put(st, str("t"), body, hash, &e) == NEAP_OK &&
            st->ops->get(st, str("t"), hash, &out, &e) == NEAP_OK &&
            np_str_eq(np_buf_str(&out), body);
  size_t lines = np_lines_count(body);
  for (int i = 0; ok && i < tries; i++) {
    np_window w = {.by_lines = check_random(r) % 2};
    size_t limit = w.by_lines ? lines : body.n;
    w.from = a_place(w.by_lines, limit, r);
    size_t more = check_random(r) % 3 ? check_random(r) % 200 : check_random(r) % 90000;
    w.to = check_random(r) % 2 ? w.from + more : a_place(w.by_lines, limit, r);
    ok = is_slice(st, body, hash, w);
  }
  np_window all = {.by_lines = true, .from = 1, .to = SIZE_MAX};
  ok = ok && is_slice(st, body, hash, all);
  np_buf_free(&out);
  return ok;
}

static void windows(np_store *st, unsigned long long seed) {
  static const size_t sizes[] = {0,
                                 1,
                                 1000,
                                 5000,
                                 NP_WHOLE_MAX - 1,
                                 NP_WHOLE_MAX,
                                 NP_WHOLE_MAX + 1,
                                 9 * NP_CHUNK - 1,
                                 9 * NP_CHUNK,
                                 9 * NP_CHUNK + 1,
                                 700001};
  unsigned long long r = seed;
  np_err e;
  for (size_t i = 0; i < NP_COUNT(sizes); i++) {
    for (int how = 0; how < LOOKS; how++) {
      np_str body = random_body((look)how, sizes[i], &r);
      CHECK("a window is the slice of the whole", windows_are_slices(st, body, 60, &r));
      free_body(body);
    }
  }
  CHECK("the check is clean", faults(st, &e) == 0);
}

/* Lines that end exactly where a piece does, and pieces that hold exactly 64. */
static void borders(np_store *st, unsigned long long seed) {
  static const size_t line[] = {NP_CHUNK, NP_CHUNK / 64, NP_CHUNK / 64 - 1, NP_CHUNK + 1};
  unsigned long long r = seed;
  for (size_t i = 0; i < NP_COUNT(line); i++) {
    np_str body = random_body(ONE_LINE, 400000, &r);
    union {
      const char *in;
      char *out;
    } p = {body.p};
    for (size_t at = line[i] - 1; at < body.n; at += line[i]) p.out[at] = '\n';
    CHECK("lines that end with a piece are cut right",
          windows_are_slices(st, body, 300, &r));
    free_body(body);
  }
}

/* ---- what happens to large contents ------------------------------------------------ */

static void odd_windows(np_store *st) {
  np_err e;
  np_buf out;
  uint8_t hash[NP_SHA256], none[NP_SHA256] = {9};
  np_window w = {.from = 0, .to = 4};
  np_buf_init(&out, libc);
  np_str body = make_body(500000, 3);
  st->ops->put(st, str("t"), body, hash, &e);
  CHECK("an unknown content has no window",
        st->ops->window(st, str("t"), none, &w, &out, &e) == NEAP_E_NOTFOUND &&
            is_helpful(&e) && out.n == 0);
  CHECK("nor has another tenant's",
        st->ops->window(st, str("u"), hash, &w, &out, &e) == NEAP_E_NOTFOUND);
  CHECK("it is put again without a change",
        st->ops->put(st, str("t"), body, hash, &e) == NEAP_OK && faults(st, &e) == 0);
  CHECK("it is purged", st->ops->purge(st, str("t"), hash, &e) == NEAP_OK);
  CHECK("then there is no window of it, and it is said why",
        st->ops->window(st, str("t"), hash, &w, &out, &e) == NEAP_E_PURGED &&
            is_helpful(&e) && out.n == 0);
  CHECK("it comes again",
        st->ops->put(st, str("t"), body, hash, &e) == NEAP_OK &&
            st->ops->window(st, str("t"), hash, &w, &out, &e) == NEAP_OK && out.n == 4);
  CHECK("the check is clean", faults(st, &e) == 0);
  np_buf_free(&out);
  free_body(body);
}

/* What is held back is not in the file yet, and has windows all the same. */
static void held_windows(np_store *st) {
  np_err e;
  np_claim c;
  uint8_t hash[NP_SHA256];
  seen s = seen_new();
  np_str body = make_body(600000, 8);
  np_window w = {.from = 300000, .to = 300100};
  np_sha256(body, hash);
  st->ops->claim(st, str("t"), str("s"), false, &c, &e);
  add(st, &c, str("h"), body, NEAP_DURABLE_BATCH, &e);
  CHECK("before it is written", is_slice(st, body, hash, w));
  st->ops->flush(st, &e);
  CHECK("and after", is_slice(st, body, hash, w));
  CHECK("the event has all of it", read_all(st, "t", "s", 1, &s, &e) == NEAP_OK &&
                                       s.text.n == body.n + 3 &&
                                       memcmp(s.text.p + 2, body.p, body.n) == 0);
  np_buf_free(&s.text);
  free_body(body);
}

/* In memory, in a file, and in one that compresses. */
static void run_both(void (*fn)(np_store *st, unsigned long long seed),
                     unsigned long long seed) {
  for (int how = 0; how < 3; how++) {
    np_store *st = NULL;
    np_err e;
    if (how == 2 && !np_press_built()) {
      check_skip("contents that are compressed", "this neap is built without zstd");
      break;
    }
    neap_rc rc = how ? open_rw(&st, &e) : np_store_memory_open(libc, &st, &e);
    CHECK("a store opens", rc == NEAP_OK);
    if (rc == NEAP_OK) st->compress = how == 2;
    if (rc == NEAP_OK) fn(st, seed);
    if (rc == NEAP_OK) st->ops->close(st, &e);
    remove_file();
  }
}

static void odd(np_store *st, unsigned long long seed) {
  (void)seed;
  odd_windows(st);
  held_windows(st);
}

/* ---- damage ------------------------------------------------------------------------ */

/* A window reads what it needs: damage elsewhere is the check's to find, and that of who
** reads it. */
static void finds_damage(void) {
  static const struct {
    const char *sql, *what;
    bool near, far; /* windows at 0 and at 400,000 can still be read */
  } cases[] = {
      {"UPDATE chunk SET body = zeroblob(32768) WHERE id & 0xffffff = 0", "a piece",
       false, true},
      {"UPDATE chunk SET body = substr(body, 1, 32767) WHERE id & 0xffffff = 12",
       "a short piece", true, false},
      {"UPDATE chunk SET marks = x'0100' WHERE id & 0xffffff = 12", "marks", true, false},
      {"UPDATE chunk SET sum = sum + 1 WHERE id & 0xffffff = 12", "a sum", true, false},
      {"UPDATE chunk SET enc = 9 WHERE id & 0xffffff = 12", "a way of keeping", true,
       false},
      {"DELETE FROM chunk WHERE id & 0xffffff = 12", "a piece that is gone", true, false},
      {"UPDATE blob SET body = zeroblob(length(body))", "the map", false, false},
      {"UPDATE blob SET body = x''", "no map", false, false},
      {"UPDATE blob SET size = size - 1", "the size", false, false},
      {"UPDATE blob SET size = 1 << 40", "a size beyond all", false, false},
      {"UPDATE blob SET size = -1", "a size below zero", false, false},
      {"UPDATE blob SET id = id + 1", "the id", false, false},
      {"UPDATE blob SET id = 1 << 60", "an id beyond all", false, false},
      {"UPDATE chunk SET id = CASE id & 1 WHEN 0 THEN id + 1000 ELSE id END;"
       "UPDATE chunk SET id = CASE id & 1 WHEN 1 THEN id - 1 ELSE id END;"
       "UPDATE chunk SET id = CASE WHEN id & 0xffffff >= 1000 THEN id - 999 ELSE id END",
       "pieces in each other's place", false, false},
  };
  np_str body = make_body(600000, 5);
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    np_store *st;
    np_err e;
    uint8_t hash[NP_SHA256];
    np_buf out;
    np_buf_init(&out, libc);
    if (open_rw(&st, &e) != NEAP_OK) exit(2);
    st->ops->put(st, str("t"), body, hash, &e);
    st->ops->close(st, &e);
    raw(cases[i].sql);
    if (open_rw(&st, &e) != NEAP_OK) exit(2);
    np_window near = {.from = 0, .to = 9}, far = {.from = 400000, .to = 400100};
    neap_rc one = st->ops->window(st, str("t"), hash, &near, &out, &e);
    neap_rc two = st->ops->window(st, str("t"), hash, &far, &out, &e);
    if ((one == NEAP_OK) != cases[i].near || (two == NEAP_OK) != cases[i].far)
      fprintf(stderr, "damage: %s: %d %d %s\n", cases[i].what, (int)one, (int)two,
              e.text);
    CHECK("a window that needs what is damaged is refused, another is not",
          (one == NEAP_OK) == cases[i].near && (two == NEAP_OK) == cases[i].far);
    np_buf_clear(&out);
    neap_rc all = st->ops->get(st, str("t"), hash, &out, &e);
    CHECK("the whole is refused",
          (all == NEAP_E_CORRUPT || all == NEAP_E_LIMIT) && is_helpful(&e) && out.n == 0);
    CHECK("the check finds it", faults(st, &e) >= 1);
    CHECK("it can still be purged",
          st->ops->purge(st, str("t"), hash, &e) == NEAP_OK &&
              st->ops->get(st, str("t"), hash, &out, &e) == NEAP_E_PURGED);
    st->ops->close(st, &e);
    np_buf_free(&out);
    remove_file();
  }
  free_body(body);
}

/* ---- compression ------------------------------------------------------------------- */

static void compresses(void) {
  static const struct {
    const char *sql, *what;
  } cases[] = {
      {"UPDATE blob SET size = size + 1", "a size that is too large"},
      {"UPDATE blob SET size = size - 1", "or too small"},
      {"UPDATE blob SET size = 1 << 50", "or beyond all"},
      {"UPDATE blob SET size = 0", "or nothing"},
      {"UPDATE blob SET enc = 0", "bytes that are said to be plain"},
      {"UPDATE blob SET enc = 7", "a way that nobody knows"},
      {"UPDATE blob SET body = substr(body, 1, length(body) - 9)", "a frame cut short"},
      {"UPDATE blob SET body = substr(body, 1, 3)", "no frame"},
      {"UPDATE blob SET body = CAST(substr(body, 1, 100) || x'ff00ff00ff' ||"
       " substr(body, 106) AS BLOB)",
       "another byte in it"},
      {"UPDATE blob SET body = x'28b52ffd0058000000'", "another's frame"},
      {"UPDATE blob SET body = x''", "nothing at all"}};
  unsigned long long r = 5;
  np_str body = random_body(PROSE, 60000, &r);
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    np_store *st;
    np_err e;
    np_buf out;
    uint8_t hash[NP_SHA256];
    np_buf_init(&out, libc);
    if (open_rw(&st, &e) != NEAP_OK) exit(2);
    st->compress = true;
    st->ops->put(st, str("t"), body, hash, &e);
    st->ops->close(st, &e);
    CHECK("it is compressed", number("SELECT count(*) FROM blob WHERE enc = 1 AND size ="
                                     " 60000 AND length(body) < 54000") == 1);
    raw(cases[i].sql);
    if (open_rw(&st, &e) != NEAP_OK) exit(2);
    neap_rc rc = st->ops->get(st, str("t"), hash, &out, &e);
    bool told = rc == NEAP_E_CORRUPT || rc == NEAP_E_LIMIT;
    if (!told) fprintf(stderr, "compressed: %s: %d\n", cases[i].what, (int)rc);
    CHECK("damage to what is compressed is told", told && is_helpful(&e) && out.n == 0);
    CHECK("the check finds it", faults(st, &e) >= 1);
    st->ops->close(st, &e);
    np_buf_free(&out);
    remove_file();
  }
  free_body(body);
}

static void compresses_what_is_worth_it(void) {
  np_store *st;
  np_err e;
  uint8_t hash[NP_SHA256];
  unsigned long long r = 6;
  np_str small = random_body(PROSE, 4095, &r), noise = random_body(BINARY, 50000, &r);
  np_str large = random_body(CRLF, 900000, &r), mixed = random_body(BINARY, 900000, &r);
  union {
    const char *in;
    char *out;
  } p = {mixed.p};
  memset(p.out, ' ', 400000);
  if (open_rw(&st, &e) != NEAP_OK) exit(2);
  st->compress = true;
  st->ops->put(st, str("t"), small, hash, &e);
  st->ops->put(st, str("t"), noise, hash, &e);
  CHECK("what is small or noise is kept as it is",
        number("SELECT count(*) FROM blob WHERE enc = 0") == 2);
  st->ops->put(st, str("t"), large, hash, &e);
  CHECK("of a large one each piece is compressed",
        number("SELECT count(*) FROM chunk WHERE enc = 1") == 28);
  st->ops->put(st, str("t"), mixed, hash, &e);
  CHECK("or only those that are worth it",
        windows_are_slices(st, mixed, 40, &r) &&
            number("SELECT count(*) FROM chunk WHERE enc = 0") == 15);
  st->ops->close(st, &e);
  if (open_rw(&st, &e) != NEAP_OK) exit(2);
  CHECK("who does not compress reads all the same, and keeps what is there",
        windows_are_slices(st, large, 20, &r) &&
            number("SELECT count(*) FROM chunk WHERE enc = 1") == 28 + 13);
  CHECK("the check is clean", faults(st, &e) == 0);
  st->ops->close(st, &e);
  remove_file();
  free_body(small);
  free_body(noise);
  free_body(large);
  free_body(mixed);
}

/* A neap without zstd opens the store, and says which body it cannot read. */
static void reads_without(void) {
  np_store *st;
  np_err e;
  np_buf out;
  uint8_t hash[NP_SHA256], plain[NP_SHA256];
  np_str body = make_body(20000, 4);
  np_buf_init(&out, libc);
  if (open_rw(&st, &e) != NEAP_OK) exit(2);
  st->ops->put(st, str("t"), body, hash, &e);
  st->ops->put(st, str("t"), str("plain"), plain, &e);
  st->ops->close(st, &e);
  raw("UPDATE blob SET enc = 1 WHERE size > 9");
  CHECK("the store opens", open_rw(&st, &e) == NEAP_OK);
  CHECK("and says which content it cannot read, and what would help",
        st->ops->get(st, str("t"), hash, &out, &e) == NEAP_E_LIMIT &&
            strstr(e.text, "zstd") && strstr(e.text, "libzstd-dev") && is_helpful(&e));
  CHECK("others are read", st->ops->get(st, str("t"), plain, &out, &e) == NEAP_OK);
  st->ops->close(st, &e);
  np_buf_free(&out);
  remove_file();
  free_body(body);
}

int main(void) {
  unsigned long long seed = check_seed(3012);
  bool has_shm = access("/dev/shm", W_OK) == 0;
  snprintf(dir, sizeof dir, "%s/neap-window-XXXXXX", has_shm ? "/dev/shm" : "/tmp");
  if (!mkdtemp(dir)) return 2;
  snprintf(path, sizeof path, "%s/store.db", dir);
  run_both(windows, seed);
  run_both(borders, seed);
  run_both(odd, seed);
  finds_damage();
  if (np_press_built()) {
    compresses();
    compresses_what_is_worth_it();
  } else {
    reads_without();
  }
  remove_file();
  rmdir(dir);
  return check_done();
}
