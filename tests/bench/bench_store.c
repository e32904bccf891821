/*
** Measures contents in the store beside the same SQLite without neap, in the same run and in
** turns, for store.lua, which knows what the rows mean: `bench_store FOLDER`. The raw side is one
** table with a unique 32-byte hash, its statements kept, the same settings, one commit each; the
** hash is made beforehand, and once more with the SHA-256 that whoever keys by content needs. CPU
** time of this process, kernel included, which a busy machine disturbs little. next: store.lua
*/
#define _XOPEN_SOURCE 700 /* clock_gettime */

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "store/store.h"

#define BLOCK 50 /* operations of one side before the other's turn */
#define LARGE ((size_t)10 << 20)
#define WINDOWS 20000

static char folder[400];
static const neap_alloc *const libc = &np_alloc_libc;

static double cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static _Noreturn void die(const char *what) {
  fprintf(stderr, "bench_store: %s\n", what);
  exit(2);
}

static void row(const char *name, size_t size, double value) {
  printf("{\"name\":\"%s\",\"size\":%zu,\"value\":%.3f}\n", name, size, value);
}

static const char *file(const char *name) {
  static char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* ---- bodies ------------------------------------------------------------------------ */

static uint64_t next_random(uint64_t *r) {
  uint64_t x = *r += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  return x ^ (x >> 27);
}

/* Lines of some 40 bytes; `no` makes it another content than all before. A quarter is noise, so
** that it compresses as source text does. */
static void fill(char *p, size_t n, uint64_t no) {
  uint64_t r = no;
  for (size_t i = 0; i < n; i++) p[i] = (char)(i % 41 == 40 ? '\n' : 'a' + (i * 7) % 26);
  for (size_t i = 0; i + 8 < n; i += 32) {
    uint64_t v = next_random(&r);
    for (int k = 0; k < 8; k++) p[i + (size_t)k] = (char)('A' + (v >> (8 * k)) % 26);
  }
}

/* ---- the raw side ------------------------------------------------------------------ */

typedef struct raw {
  sqlite3 *db;
  sqlite3_stmt *put, *get;
} raw;

static raw raw_open(const char *name) {
  raw r = {NULL, NULL, NULL};
  static const char sql[] =
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192;"
      "PRAGMA mmap_size = 268435456; PRAGMA secure_delete = OFF;"
      "PRAGMA cell_size_check = ON;"
      "CREATE TABLE IF NOT EXISTS blob(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE,"
      " size INT NOT NULL, enc INT NOT NULL, body BLOB NOT NULL) STRICT";
  if (sqlite3_open(file(name), &r.db) || sqlite3_exec(r.db, sql, NULL, NULL, NULL))
    die("the raw file cannot be made");
  sqlite3_prepare_v3(r.db, "INSERT INTO blob(hash, size, enc, body) VALUES(?, ?, 0, ?)",
                     -1, SQLITE_PREPARE_PERSISTENT, &r.put, NULL);
  sqlite3_prepare_v3(r.db, "SELECT body FROM blob WHERE hash = ?", -1,
                     SQLITE_PREPARE_PERSISTENT, &r.get, NULL);
  return r;
}

static void raw_put(raw *r, np_str body, const uint8_t *hash) {
  sqlite3_bind_blob(r->put, 1, hash, NP_SHA256, SQLITE_STATIC);
  sqlite3_bind_int64(r->put, 2, (sqlite3_int64)body.n);
  sqlite3_bind_blob64(r->put, 3, body.p, body.n, SQLITE_STATIC);
  if (sqlite3_step(r->put) != SQLITE_DONE) die(sqlite3_errmsg(r->db));
  sqlite3_reset(r->put);
}

static size_t raw_get(raw *r, const uint8_t *hash, np_buf *out) {
  np_buf_clear(out);
  sqlite3_bind_blob(r->get, 1, hash, NP_SHA256, SQLITE_STATIC);
  if (sqlite3_step(r->get) != SQLITE_ROW) die("the raw file has lost a body");
  const char *p = sqlite3_column_blob(r->get, 0);
  np_buf_add(out, np_str_of(p, (size_t)sqlite3_column_bytes(r->get, 0)));
  sqlite3_reset(r->get);
  return out->n;
}

static void raw_close(raw *r) {
  sqlite3_finalize(r->put);
  sqlite3_finalize(r->get);
  sqlite3_close(r->db);
}

/* ---- putting and getting ----------------------------------------------------------- */

enum { RAW, HASHED, OURS, FILES, SIDES };
static const char *const put_name[SIDES] = {"put, raw", "put, raw and hash", "put", ""};
static const char *const get_name[SIDES] = {"get, raw", "get, raw and hash", "get",
                                            "read a file"};

typedef struct bench {
  size_t size, count;
  char *body;
  uint8_t (*hash)[NP_SHA256];
  raw raw, hashed;
  np_store *ours;
  np_buf out;
  double spent[SIDES];
  uint64_t no;
} bench;

static void put_one(bench *b, int side, size_t i) {
  np_err e;
  uint8_t hash[NP_SHA256];
  np_str body = {b->body, b->size};
  fill(b->body, b->size < 600 ? b->size : 600, b->no + i);
  if (side == RAW) np_sha256(body, hash);
  double from = cpu();
  if (side == HASHED) np_sha256(body, hash);
  if (side == RAW) raw_put(&b->raw, body, hash);
  else if (side == HASHED) raw_put(&b->hashed, body, hash);
  else if (b->ours->ops->put(b->ours, np_str_cstr("t"), body, hash, &e)) die(e.text);
  b->spent[side] += cpu() - from;
  memcpy(b->hash[i], hash, sizeof hash);
}

static void put_all(bench *b) {
  memset(b->spent, 0, sizeof b->spent);
  for (size_t at = 0; at < b->count; at += BLOCK) {
    for (int side = 0; side < FILES; side++) {
      for (size_t i = at; i < at + BLOCK; i++) put_one(b, side, i);
    }
  }
  for (int side = 0; side < FILES; side++)
    row(put_name[side], b->size, (double)b->count / b->spent[side]);
}

static void read_file(bench *b) {
  int fd = open(file("body"), O_RDONLY);
  np_buf_clear(&b->out);
  if (fd < 0 || !np_buf_reserve(&b->out, b->size)) die("a file cannot be read");
  if (read(fd, b->out.p, b->size) != (ssize_t)b->size) die("a file is short");
  close(fd);
}

static void get_one(bench *b, int side, const uint8_t *hash) {
  np_err e;
  uint8_t again[NP_SHA256];
  if (side == RAW || side == HASHED) raw_get(&b->raw, hash, &b->out);
  if (side == FILES) read_file(b);
  if (side == HASHED) {
    np_sha256(np_buf_str(&b->out), again);
    if (memcmp(again, hash, sizeof again) != 0) die("the raw file is damaged");
  }
  if (side != OURS) return;
  np_buf_clear(&b->out);
  if (b->ours->ops->get(b->ours, np_str_cstr("t"), hash, &b->out, &e)) die(e.text);
}

static int by_size(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The middle one of the blocks: what else the machine does disturbs some of them. */
static void get_all(bench *b) {
  uint64_t r = 1;
  size_t blocks = 0;
  double *spent[SIDES];
  FILE *f = fopen(file("body"), "wb");
  if (!f || fwrite(b->body, 1, b->size, f) != b->size) die("a file cannot be written");
  fclose(f);
  size_t gets = 4 * b->count;
  for (int side = 0; side < SIDES; side++) {
    spent[side] = malloc((gets / BLOCK + 1) * sizeof **spent);
    if (!spent[side]) die("out of memory");
  }
  for (size_t at = 0; at < gets; at += BLOCK, blocks++) {
    for (int side = 0; side < SIDES; side++) {
      double from = cpu();
      for (int i = 0; i < BLOCK; i++)
        get_one(b, side, b->hash[next_random(&r) % b->count]);
      spent[side][blocks] = cpu() - from;
    }
  }
  for (int side = 0; side < SIDES; side++) {
    qsort(spent[side], blocks, sizeof **spent, by_size);
    row(get_name[side], b->size, BLOCK / spent[side][blocks / 2]);
    free(spent[side]);
  }
}

static void measure(size_t size, size_t count) {
  np_err e;
  bench b = {.size = size, .count = count, .no = size * 1000003};
  np_buf_init(&b.out, libc);
  b.body = malloc(size);
  b.hash = malloc(count * NP_SHA256);
  if (!b.body || !b.hash) die("out of memory");
  fill(b.body, size, 0);
  b.raw = raw_open("raw.db");
  b.hashed = raw_open("hashed.db");
  if (np_store_sqlite_open(libc, file("ours.db"), false, &b.ours, &e)) die(e.text);
  put_all(&b);
  /* what is left in the logs differs, and is looked through at each read: all begin anew */
  raw_close(&b.raw);
  b.raw = raw_open("raw.db");
  b.ours->ops->close(b.ours, &e);
  if (np_store_sqlite_open(libc, file("ours.db"), false, &b.ours, &e)) die(e.text);
  get_all(&b);
  b.ours->ops->close(b.ours, &e);
  raw_close(&b.raw);
  raw_close(&b.hashed);
  static const char *const names[] = {"raw", "hashed", "ours"};
  for (size_t i = 0; i < NP_COUNT(names); i++) {
    static const char *const ends[] = {".db", ".db-wal", ".db-shm"};
    for (size_t k = 0; k < NP_COUNT(ends); k++) {
      char name[40];
      snprintf(name, sizeof name, "%s%s", names[i], ends[k]);
      unlink(file(name));
    }
  }
  unlink(file("body"));
  np_buf_free(&b.out);
  free(b.body);
  free(b.hash);
}

/* ---- with the index of words ------------------------------------------------------- */

/* An event of a session and its words in the index, a commit for each, as the engine does for
** what comes one by one. */
static void index_all(size_t size, size_t count) {
  np_err e;
  np_store *st;
  np_claim c;
  np_str tenant = np_str_cstr("t"), session = np_str_cstr("s");
  char *body = malloc(size);
  if (!body || np_store_sqlite_open(libc, file("ours.db"), false, &st, &e)) die("store");
  st->ops->claim(st, tenant, session, false, &c, &e);
  fill(body, size, 0);
  double from = cpu();
  for (size_t i = 0; i < count; i++) {
    fill(body, size < 600 ? size : 600, i + 1);
    np_event ev = {.seq = c.last_seq + 1, .kind = 4, .version = 1, .head = {"", 0}};
    ev.body = np_str_of(body, size);
    if (st->ops->append(st, &c, &ev, 1, NEAP_DURABLE_PROCESS, &e)) die(e.text);
    np_doc doc = {.entry = (int64_t)i + 1, .seq = ev.seq, .step = 1, .text = ev.body};
    np_docs docs = {.tenant = tenant, .session = session, .fence = c.fence, .doc = &doc};
    docs.n = 1;
    docs.from = (np_indexed){.entry = (int64_t)i, .seq = (int64_t)i};
    docs.to = (np_indexed){.entry = (int64_t)i + 1, .seq = (int64_t)i + 1};
    if (st->ops->index(st, &docs, &e)) die(e.text);
  }
  row("put into a session, indexed", size, (double)count / (cpu() - from));
  st->ops->close(st, &e);
  unlink(file("ours.db"));
  free(body);
}

/* ---- compressed -------------------------------------------------------------------- */

static void compressed(size_t size, size_t count) {
  np_err e;
  bench b = {.size = size, .count = count, .no = 9};
  uint64_t r = 2;
  np_buf_init(&b.out, libc);
  b.body = malloc(size);
  b.hash = malloc(count * NP_SHA256);
  if (!b.body || !b.hash) die("out of memory");
  fill(b.body, size, 0);
  if (np_store_sqlite_open(libc, file("ours.db"), false, &b.ours, &e)) die(e.text);
  b.ours->compress = true;
  for (size_t i = 0; i < count; i++) put_one(&b, OURS, i);
  row("put, compressed", size, (double)count / b.spent[OURS]);
  double from = cpu();
  for (size_t i = 0; i < count; i++) get_one(&b, OURS, b.hash[next_random(&r) % count]);
  row("get, compressed", size, (double)count / (cpu() - from));
  b.ours->ops->close(b.ours, &e);
  unlink(file("ours.db"));
  np_buf_free(&b.out);
  free(b.body);
  free(b.hash);
}

/* ---- windows ----------------------------------------------------------------------- */

static void windows(bool compress) {
  np_err e;
  np_store *st;
  np_buf out;
  uint8_t hash[NP_SHA256];
  uint64_t r = 3;
  np_str tenant = np_str_cstr("t");
  char *body = malloc(LARGE);
  np_buf_init(&out, libc);
  if (!body || np_store_sqlite_open(libc, file("ours.db"), false, &st, &e)) die("store");
  st->compress = compress;
  fill(body, LARGE, 5);
  if (st->ops->put(st, tenant, np_str_of(body, LARGE), hash, &e)) die(e.text);
  size_t lines = LARGE / 41;
  for (int by_lines = 1; by_lines >= 0; by_lines--) {
    double from = cpu();
    for (int i = 0; i < WINDOWS; i++) {
      np_window w = {.by_lines = by_lines};
      w.from = 1 + next_random(&r) % (by_lines ? lines - 20 : LARGE - 1000);
      w.to = w.from + (by_lines ? 19 : 800);
      np_buf_clear(&out);
      if (st->ops->window(st, tenant, hash, &w, &out, &e)) die(e.text);
    }
    const char *name = by_lines ? "window of 20 lines" : "window of 800 bytes";
    if (compress) name = by_lines ? "lines, compressed" : "bytes, compressed";
    row(name, LARGE, WINDOWS / (cpu() - from));
  }
  st->ops->close(st, &e);
  unlink(file("ours.db"));
  np_buf_free(&out);
  free(body);
}

int main(int argc, char **argv) {
  if (argc != 2) die("give a folder for its files");
  snprintf(folder, sizeof folder, "%s", argv[1]);
  measure(1024, 6000);
  measure(20 * 1024, 2000);
  measure(200 * 1024, 300);
  index_all(1024, 1000);
  index_all(20 * 1024, 300);
  index_all(200 * 1024, 50);
  windows(false);
  if (!np_press_built()) return 0;
  compressed(20 * 1024, 1000);
  compressed(200 * 1024, 200);
  windows(true);
  return 0;
}
