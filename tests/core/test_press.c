/*
** Tests of compressed contents whose frames lie or are damaged: one that says it holds more, or
** less, than its row says, one that yields more than it says, ones put behind each other, bits
** flipped anywhere. Nothing is given but what was put, and no more memory is taken than the row's
** size, which has a limit. next: test_store_window.c
*/
#define _XOPEN_SOURCE 700
#include <sqlite3.h>
#include <unistd.h>

#include "store/chunk.h"
#include "store/press.h"
#include "store_help.h"

static char dir[64], path[128];

/* ---- frames ------------------------------------------------------------------------ */

/* The largest block that is asked for, and the sum of those that are there. */
static struct { size_t largest; } heap;

static void *get_block(void *ctx, size_t n) {
  (void)ctx;
  if (n > heap.largest) heap.largest = n;
  return malloc(n);
}
static void *move_block(void *ctx, void *p, size_t had, size_t n) {
  (void)ctx;
  (void)had;
  if (n > heap.largest) heap.largest = n;
  return realloc(p, n);
}
static void free_block(void *ctx, void *p) {
  (void)ctx;
  free(p);
}
static const neap_alloc watched = {get_block, move_block, free_block, NULL};

/* `n` bytes, nearly all the same: a small frame that yields much. */
static np_buf frame_of(size_t n) {
  np_press p = {NULL, NULL};
  np_buf out;
  char *bytes = malloc(n);
  if (!bytes) exit(2);
  memset(bytes, 'z', n);
  bytes[n / 2] = 'a';
  np_buf_init(&out, libc);
  CHECK("it is compressed", np_press_small(&p, np_str_of(bytes, n), &out));
  np_press_free(&p);
  free(bytes);
  return out;
}

/* Writes another size into the frame's head; RFC 8878 has where it is. */
static void claim(np_buf *frame, uint64_t size) {
  unsigned head = (unsigned char)frame->p[4], single = head >> 5 & 1, flag = head >> 6;
  size_t at = 5 + (single ? 0 : 1);
  int bytes = flag == 3 ? 8 : flag == 2 ? 4 : flag == 1 ? 2 : single ? 1 : 0;
  if (bytes == 2) size -= 256;
  for (int i = 0; i < bytes; i++) frame->p[at + (size_t)i] = (char)(size >> (8 * i));
  CHECK("the frame says its size", bytes >= 4);
}

static bool comes_back(np_str frame, size_t size, np_buf *out) {
  np_press p = {NULL, NULL};
  heap.largest = 0;
  bool good = np_press_back(&p, frame, size, out);
  np_press_free(&p);
  return good;
}

static void refuses_lies(void) {
  enum { LARGE = 10 << 20, SMALL = 100000 };
  np_buf out, frame = frame_of(LARGE), other = frame_of(SMALL);
  np_buf_init(&out, &watched);
  CHECK("a frame of 10 MB is small", frame.n < 4000);
  CHECK("and comes back", comes_back(np_buf_str(&frame), LARGE, &out) && out.n == LARGE &&
                              out.p[0] == 'z' && out.p[LARGE / 2] == 'a');
  np_buf_free(&out);
  np_buf_init(&out, &watched);
  CHECK("one that says more than was kept is refused unread",
        !comes_back(np_buf_str(&frame), SMALL, &out) && out.n == 0 && heap.largest == 0);
  claim(&frame, SMALL);
  CHECK("one that yields more than it says is stopped where its room ends",
        !comes_back(np_buf_str(&frame), SMALL, &out) && out.n == 0 &&
            heap.largest <= 2 * SMALL);
  claim(&other, LARGE);
  CHECK("one that yields less is refused, too",
        !comes_back(np_buf_str(&other), LARGE, &out) && out.n == 0);
  claim(&other, SMALL);
  np_buf two;
  np_buf_init(&two, libc);
  np_buf_add(&two, np_buf_str(&other));
  np_buf_add(&two, np_buf_str(&other));
  CHECK("and one with another behind it",
        !comes_back(np_buf_str(&two), SMALL, &out) && out.n == 0);
  CHECK("or with what is none",
        (two.n = other.n + 3, !comes_back(np_buf_str(&two), SMALL, &out)) && out.n == 0);
  for (size_t n = 0; n < other.n; n++)
    if (comes_back(np_str_of(other.p, n), SMALL, &out)) exit(2);
  CHECK("a part of one is none", out.n == 0);
  CHECK("what is no frame is none", !comes_back(NP_LIT("no frame at all"), 15, &out));
  np_buf_free(&two);
  np_buf_free(&out);
  np_buf_free(&frame);
  np_buf_free(&other);
}

/* ---- in a store -------------------------------------------------------------------- */

static void put_row(np_str frame, int64_t size, const char *what) {
  sqlite3 *db;
  sqlite3_stmt *st;
  sqlite3_open(path, &db);
  sqlite3_prepare_v2(db, what, -1, &st, NULL);
  sqlite3_bind_blob(st, 1, frame.p, (int)frame.n, SQLITE_STATIC);
  sqlite3_bind_int64(st, 2, size);
  if (sqlite3_step(st) != SQLITE_DONE) fprintf(stderr, "%s\n", sqlite3_errmsg(db));
  sqlite3_finalize(st);
  sqlite3_close(db);
}

static np_store *open_it(void) {
  np_store *st;
  np_err e;
  if (np_store_sqlite_open(&watched, path, false, &st, &e) != NEAP_OK) exit(2);
  st->compress = true;
  return st;
}

/* A body of `size` bytes is put; then its frames are other ones. Every way to read it tells. */
static void tells(const char *what, size_t size, np_str frame, int64_t says,
                  const char *sql) {
  np_err e;
  np_buf out;
  uint8_t hash[NP_SHA256];
  np_str body = make_body(size, 3);
  np_window w = {.from = 10, .to = 20};
  np_buf_init(&out, libc);
  np_store *st = open_it();
  if (st->ops->put(st, str("t"), body, hash, &e) != NEAP_OK) exit(2);
  st->ops->close(st, &e);
  put_row(frame, says, sql);
  st = open_it();
  heap.largest = 0;
  bool told = st->ops->get(st, str("t"), hash, &out, &e) == NEAP_E_CORRUPT &&
              is_helpful(&e) &&
              st->ops->window(st, str("t"), hash, &w, &out, &e) == NEAP_E_CORRUPT;
  if (!told) fprintf(stderr, "%s\n", what);
  CHECK("a lie in a store is told", told && out.n == 0);
  CHECK("and takes no more than a body may", heap.largest <= NP_STORE_BODY_MAX + 100);
  CHECK("the check finds it", faults(st, &e) >= 1);
  np_swept swept;
  CHECK("it can be swept all the same", st->ops->vacuum(st, &swept, &e) == NEAP_OK);
  st->ops->close(st, &e);
  unlink(path);
  np_buf_free(&out);
  free_body(body);
}

static void tells_lies(void) {
  static const char row[] = "UPDATE blob SET body = ?, size = ?, enc = 1";
  static const char bare[] = "UPDATE blob SET body = ?, size = ?, enc = 1, sum = NULL";
  static const char piece[] = "UPDATE chunk SET body = ?, enc = 1 WHERE ? > 0";
  np_buf frame = frame_of(10 << 20);
  np_str f = np_buf_str(&frame);
  tells("another body, said rightly", 60000, f, 10 << 20, row);
  tells("another body, without its sum", 60000, f, 10 << 20, bare);
  tells("more than the row says", 60000, f, 60000, row);
  tells("a row of minus one", 60000, f, -1, row);
  tells("a row of more than a body may have", 60000, f, INT64_C(1) << 40, row);
  tells("a row of 2^32 more", 60000, f, (INT64_C(1) << 32) + (10 << 20), row);
  tells("pieces of 10 MB", 400000, f, 1, piece);
  claim(&frame, (uint64_t)1 << 31);
  tells("a frame of 2 GB, and its row", 60000, f, INT64_C(1) << 31, row);
  claim(&frame, NP_STORE_BODY_MAX);
  tells("one of as much as may be", 60000, f, (int64_t)NP_STORE_BODY_MAX, row);
  claim(&frame, 32768);
  tells("pieces that say what they should", 400000, f, 1, piece);
  np_buf_free(&frame);
}

/* Any bit of any frame: the bytes that were put, or damage. */
static void tells_bits(unsigned long long seed) {
  static const size_t sizes[] = {60000, 400000};
  for (size_t k = 0; k < NP_COUNT(sizes); k++) {
    np_err e;
    np_buf out;
    uint8_t hash[NP_SHA256];
    int wrong = 0, told = 0;
    np_str body = make_body(sizes[k], 8);
    np_buf_init(&out, libc);
    for (int i = 0; i < 120; i++) {
      char sql[300];
      np_store *st = open_it();
      if (st->ops->put(st, str("t"), body, hash, &e) != NEAP_OK) exit(2);
      st->ops->close(st, &e);
      int at = i < 20 ? i : (int)(check_random(&seed) % 900);
      snprintf(
          sql, sizeof sql,
          "UPDATE %s SET body = CAST(substr(body, 1, %d) || ?1 || substr(body, %d) AS"
          " BLOB) WHERE ?2 > 0",
          k ? "chunk" : "blob", at, at + 2);
      char one = (char)check_random(&seed);
      put_row(np_str_of(&one, 1), 1, sql);
      st = open_it();
      np_buf_clear(&out);
      neap_rc rc = st->ops->get(st, str("t"), hash, &out, &e);
      wrong += rc == NEAP_OK ? !np_str_eq(np_buf_str(&out), body) : rc != NEAP_E_CORRUPT;
      told += rc != NEAP_OK;
      st->ops->close(st, &e);
      unlink(path);
    }
    CHECK("frames that were changed are told", wrong == 0 && told > 60);
    np_buf_free(&out);
    free_body(body);
  }
}

int main(void) {
  unsigned long long seed = check_seed(9);
  bool has_shm = access("/dev/shm", W_OK) == 0;
  snprintf(dir, sizeof dir, "%s/neap-press-XXXXXX", has_shm ? "/dev/shm" : "/tmp");
  if (!mkdtemp(dir)) return 2;
  snprintf(path, sizeof path, "%s/store.db", dir);
  if (np_press_built()) {
    refuses_lies();
    tells_lies();
    tells_bits(seed);
  } else {
    check_skip("frames that lie", "this neap is built without zstd");
  }
  rmdir(dir);
  return check_done();
}
