/*
** Measures the index of words beside stock FTS5 (unicode61, no content) in the same run, for
** words.lua, which knows what the rows mean: `bench_words FOLDER TEXTS`. Entries of 570 bytes,
** in steps of 1,024 as the engine writes them. CPU time of this process, which a busy machine
** disturbs little. One JSON object a line. next: words.lua
*/
#define _XOPEN_SOURCE 700 /* clock_gettime */

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/store.h"

#define SIZE 570
#define STEP 1024
#define ENGLISH 100000
#define CHINESE 10000
#define ROUNDS 20

static char folder[400];

static double cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what) {
  fprintf(stderr, "bench_words: %s\n", what);
  exit(2);
}

static void row(const char *name, double value) {
  printf("{\"name\":\"%s\",\"value\":%.6f}\n", name, value);
}

static np_buf read_text(const char *dir, const char *name) {
  char path[600], chunk[65536];
  size_t n;
  np_buf b = {.alloc = &np_alloc_libc};
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "rb");
  if (!f) die(path);
  while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) np_buf_add(&b, np_str_of(chunk, n));
  fclose(f);
  if (b.n < 4 * SIZE) die("a text is too short");
  return b;
}

static size_t border(const np_buf *b, size_t at) {
  while (at < b->n && ((unsigned char)b->p[at] & 0xC0) == 0x80) at++;
  return at;
}

/* Entry `i`: a piece of one of the texts, a name that no other has, one that every 127th has,
** and one that 36 of 100 have. */
static void make_entry(const np_buf *texts, size_t n, size_t i, np_buf *out) {
  const np_buf *t = &texts[i % n];
  size_t from = border(t, i / n * 7919 * 57 % (t->n - SIZE)),
         to = border(t, from + SIZE - 30);
  char head[80];
  snprintf(head, sizeof head, "only_%06zu %s%s", i, i % 127 ? "" : "seldom_seen ",
           i % 100 < 36 ? "usually " : "");
  np_buf_clear(out);
  np_buf_adds(out, head);
  np_buf_add(out, np_str_cut(np_buf_str(t), from, to));
}

/* ---- ours ---- */

static np_store *st;

static void index_step(const char *session, size_t at, size_t n, const np_buf *bodies) {
  np_doc doc[STEP];
  np_err e = {0};
  for (size_t i = 0; i < n; i++) {
    int64_t entry = (int64_t)(at + i + 1);
    doc[i] = (np_doc){
        .entry = entry, .seq = entry, .step = entry / 3, .text = np_buf_str(&bodies[i])};
  }
  np_docs d = {.session = np_str_cstr(session),
               .from = {.entry = (int64_t)at},
               .to = {.entry = (int64_t)(at + n)},
               .doc = doc,
               .n = n};
  if (st->ops->index(st, &d, &e)) die(e.text);
}

/* ---- stock ---- */

static sqlite3 *db;
static sqlite3_stmt *insert;

static void sql(const char *text) {
  if (sqlite3_exec(db, text, NULL, NULL, NULL)) die(sqlite3_errmsg(db));
}

static void open_stock(const char *path) {
  if (sqlite3_open(path, &db)) die(path);
  sql("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192;"
      "PRAGMA mmap_size = 268435456; CREATE VIRTUAL TABLE t USING fts5(body, "
      "content='')");
  sqlite3_prepare_v2(db, "INSERT INTO t(rowid, body) VALUES(?, ?)", -1, &insert, NULL);
}

static void stock_step(size_t at, size_t n, const np_buf *bodies) {
  sql("BEGIN IMMEDIATE");
  for (size_t i = 0; i < n; i++) {
    sqlite3_bind_int64(insert, 1, (sqlite3_int64)(at + i + 1));
    sqlite3_bind_text(insert, 2, bodies[i].p, (int)bodies[i].n, SQLITE_STATIC);
    sqlite3_step(insert);
    if (sqlite3_reset(insert)) die(sqlite3_errmsg(db));
  }
  sql("COMMIT");
}

/* ---- indexing ---- */

/* Entries a second of each; both see the same entries in turn. */
static void fill(const char *name, const char *session, const np_buf *texts, size_t count,
                 size_t entries) {
  static np_buf bodies[STEP];
  double ours = 0, stock = 0;
  char label[100];
  for (size_t i = 0; i < STEP; i++) bodies[i].alloc = &np_alloc_libc;
  for (size_t at = 0; at < entries; at += STEP) {
    size_t n = entries - at < STEP ? entries - at : STEP;
    for (size_t i = 0; i < n; i++) make_entry(texts, count, at + i, &bodies[i]);
    double from = cpu();
    index_step(session, at, n, bodies);
    double between = cpu();
    stock_step(at, n, bodies);
    ours += between - from;
    stock += cpu() - between;
  }
  snprintf(label, sizeof label, "index %s", name);
  row(label, (double)entries / ours);
  snprintf(label, sizeof label, "index %s, stock", name);
  row(label, (double)entries / stock);
}

/* ---- finding ---- */

static double find_ours(const char *session, const char *query, size_t *found) {
  np_hit hits[NP_HITS_MAX];
  np_buf names = {.alloc = &np_alloc_libc};
  np_err e = {0};
  np_find f = {{"", 0}, np_str_cstr(session), np_str_cstr(query), 10};
  double best = 1e9;
  for (int i = 0; i < ROUNDS; i++) {
    double from = cpu();
    if (st->ops->find(st, &f, hits, found, &names, &e)) die(e.text);
    double took = cpu() - from;
    if (took < best) best = took;
  }
  np_buf_free(&names);
  return best;
}

static double find_stock(const char *match, size_t *found) {
  sqlite3_stmt *q = NULL;
  double best = 1e9;
  sqlite3_prepare_v2(db, "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", -1,
                     &q, NULL);
  for (int i = 0; i < ROUNDS / 2; i++) {
    double from = cpu();
    sqlite3_bind_text(q, 1, match, -1, SQLITE_STATIC);
    for (*found = 0; sqlite3_step(q) == SQLITE_ROW; ++*found) continue;
    sqlite3_reset(q);
    double took = cpu() - from;
    if (took < best) best = took;
  }
  sqlite3_finalize(q);
  return best;
}

static void find(const char *name, const char *session, const char *query,
                 const char *match) {
  size_t ours = 0, stock = 0;
  char label[100];
  double a = find_ours(session, query, &ours), b = find_stock(match, &stock);
  if (!ours) die("nothing was found");
  snprintf(label, sizeof label, "find %s", name);
  row(label, a * 1000);
  snprintf(label, sizeof label, "find %s, stock", name);
  if (stock) row(label, b * 1000);
}

static void close_all(const char *ours, const char *stock) {
  static const char *const ends[] = {"", "-wal", "-shm"};
  np_err e = {0};
  st->ops->close(st, &e);
  sqlite3_finalize(insert);
  sqlite3_close(db);
  for (size_t i = 0; i < 3; i++) {
    char path[500];
    snprintf(path, sizeof path, "%s%s", ours, ends[i]);
    unlink(path);
    snprintf(path, sizeof path, "%s%s", stock, ends[i]);
    unlink(path);
  }
}

static double size_of(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END)) die(path);
  double n = (double)ftell(f);
  fclose(f);
  return n / 1e6;
}

static void open_all(const char *ours, const char *stock) {
  np_err e = {0};
  if (np_store_sqlite_open(&np_alloc_libc, ours, false, &st, &e)) die(e.text);
  open_stock(stock);
}

int main(int argc, char **argv) {
  char ours[500], stock[500];
  if (argc != 3) die("bench_words FOLDER TEXTS");
  snprintf(folder, sizeof folder, "%s", argv[1]);
  np_buf texts[3] = {read_text(argv[2], "english_prose.txt"),
                     read_text(argv[2], "code_c.c"),
                     read_text(argv[2], "code_js_py.txt")};
  np_buf chinese = read_text(argv[2], "chinese.txt");
  snprintf(ours, sizeof ours, "%s/ours.db", folder);
  snprintf(stock, sizeof stock, "%s/stock.db", folder);
  open_all(ours, stock);
  fill("English and code", "english", texts, 3, ENGLISH);
  find("a word of one entry", "english", "only_070007", "\"only_070007\"");
  find("a word of 788 entries", "english", "seldom_seen", "\"seldom_seen\"");
  find("a word of 36,000 entries", "english", "usually", "\"usually\"");
  find("both of these", "english", "usually seldom_seen",
       "\"usually\" AND \"seldom_seen\"");
  find("a sentence", "english", "where is the error that usually comes from only_070007",
       "\"where\" OR \"is\" OR \"the\" OR \"error\" OR \"that\" OR \"usually\" OR "
       "\"comes\" OR "
       "\"from\" OR \"only_070007\"");
  np_err e = {0};
  st->ops->close(st, &e);
  sql("PRAGMA wal_checkpoint(TRUNCATE)");
  row("file, MB", size_of(ours));
  row("file, MB, stock", size_of(stock));
  if (np_store_sqlite_open(&np_alloc_libc, ours, false, &st, &e)) die(e.text);
  close_all(ours, stock);

  open_all(ours, stock);
  fill("Chinese", "chinese", &chinese, 1, CHINESE);
  char two[8] = {0};
  size_t at = border(&chinese, chinese.n / 2);
  while (at + 6 < chinese.n &&
         ((unsigned char)chinese.p[at] < 0xE4 || (unsigned char)chinese.p[at + 3] < 0xE4))
    at = border(&chinese, at + 1);
  memcpy(two, chinese.p + at, 6);
  find("two Chinese characters", "chinese", two, "\"only_nothing\"");
  close_all(ours, stock);
  np_buf_free(&chinese);
  for (size_t i = 0; i < 3; i++) np_buf_free(&texts[i]);
  return 0;
}
