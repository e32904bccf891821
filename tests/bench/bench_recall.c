/*
** Stock FTS5 for recall.lua: unicode61 and trigram, BM25, all words of a query joined by OR.
** Reads from standard input `R` (forget all), `D ID BYTES` and `Q BYTES`, the bytes on the
** lines that follow; a query's answer is a line: the best three ids of unicode61, a
** semicolon, those of trigram. next: recall.lua
*/
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define WORDS 24

static sqlite3 *db;

static void die(const char *what) {
  fprintf(stderr, "bench_recall: %s\n", what);
  exit(2);
}

static void sql(const char *text) {
  if (sqlite3_exec(db, text, NULL, NULL, NULL)) die(sqlite3_errmsg(db));
}

static void reset(void) {
  sql("DROP TABLE IF EXISTS u; DROP TABLE IF EXISTS t;"
      "CREATE VIRTUAL TABLE u USING fts5(body, content='');"
      "CREATE VIRTUAL TABLE t USING fts5(body, content='', tokenize='trigram');");
}

static void read_bytes(size_t n, np_buf *out) {
  np_buf_clear(out);
  if (!np_buf_reserve(out, n + 1)) die("out of memory");
  if (fread(out->p, 1, n, stdin) != n || getchar() != '\n') die("the input is cut short");
  out->n = n;
}

static void add(const char *table, long long id, const np_buf *text) {
  char line[80];
  sqlite3_stmt *st = NULL;
  snprintf(line, sizeof line, "INSERT INTO %s(rowid, body) VALUES(?, ?)", table);
  sqlite3_prepare_v2(db, line, -1, &st, NULL);
  sqlite3_bind_int64(st, 1, id);
  sqlite3_bind_text(st, 2, text->p, (int)text->n, SQLITE_STATIC);
  if (sqlite3_step(st) != SQLITE_DONE) die(sqlite3_errmsg(db));
  sqlite3_finalize(st);
}

static bool is_word(char c) {
  return (unsigned char)c >= 0x80 || c == '_' || (c >= '0' && c <= '9') ||
         ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* The first words, each in quotes. */
static void make_match(np_str query, size_t least, np_buf *out) {
  size_t words = 0;
  np_buf_clear(out);
  for (size_t i = 0; i < query.n && words < WORDS;) {
    size_t from = i;
    while (i < query.n && is_word(query.p[i])) i++;
    if (i - from >= least) {
      np_buf_adds(out, words++ ? " OR \"" : "\"");
      np_buf_add(out, np_str_cut(query, from, i));
      np_buf_addc(out, '"');
    }
    if (i < query.n) i++;
  }
}

static void answer(const char *table, np_str query, size_t least) {
  char line[120];
  np_buf match = {.alloc = &np_alloc_libc};
  sqlite3_stmt *st = NULL;
  make_match(query, least, &match);
  snprintf(line, sizeof line,
           "SELECT rowid FROM %s WHERE %s MATCH ? ORDER BY rank, rowid DESC LIMIT 3",
           table, table);
  sqlite3_prepare_v2(db, line, -1, &st, NULL);
  sqlite3_bind_text(st, 1, match.p ? match.p : "", (int)match.n, SQLITE_STATIC);
  while (match.n && sqlite3_step(st) == SQLITE_ROW)
    printf("%lld ", (long long)sqlite3_column_int64(st, 0));
  sqlite3_finalize(st);
  np_buf_free(&match);
}

int main(void) {
  char line[100];
  np_buf text = {.alloc = &np_alloc_libc};
  if (sqlite3_open(":memory:", &db)) die("no memory");
  reset();
  while (fgets(line, sizeof line, stdin)) {
    long long id = 0;
    size_t n = 0;
    if (line[0] == 'R') {
      reset();
    } else if (sscanf(line, "D %lld %zu", &id, &n) == 2) {
      read_bytes(n, &text);
      add("u", id, &text);
      add("t", id, &text);
    } else if (sscanf(line, "Q %zu", &n) == 1) {
      read_bytes(n, &text);
      answer("u", np_buf_str(&text), 1);
      printf(";");
      answer("t", np_buf_str(&text), 3);
      printf("\n");
    } else {
      die("a line of another kind");
    }
  }
  np_buf_free(&text);
  sqlite3_close(db);
  return 0;
}
