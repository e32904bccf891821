/*
** How long projections of a log of 10 MB take, from memory. CPU time, the best of five. A line of
** JSON a figure: {"name":…,"value":seconds}. next: project.lua
*/
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "render/project.h"
#include "text/text.h"

#define SIZE 10000000
#define ROUNDS 5

static const struct {
  const char *name, *words;
  size_t tokens;
} rows[] = {
    {"lines_middle", "60000-60199", NP_TRIM_ANY},
    {"lines_end", "119800-119999", NP_TRIM_ANY},
    {"tail", "tail 200", NP_TRIM_ANY},
    {"match_word", "match item 777 ", NP_TRIM_ANY},
    {"match_regex", "match took \\d+7 ms$", 1500},
    {"match_slow", "match (\\w+\\s+)+[!]", 1500},
    {"errors", "errors", 1500},
    {"about", "about worker queue 1234", 1500},
};

static double cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make_log(np_buf *b) {
  static const char *const words[] = {"cache", "queue", "worker",
                                      "batch", "index", "page"};
  for (int i = 0; b->n < SIZE; i++) {
    np_buf_adds(b, "2026-03-01 12:");
    np_buf_int(b, 10 + i % 50);
    np_buf_adds(b, " INFO worker ");
    np_buf_int(b, i % 16);
    np_buf_adds(b, ": ");
    np_buf_adds(b, words[i * 7 % 6]);
    np_buf_adds(b, " took item ");
    np_buf_int(b, i);
    np_buf_adds(b, " of the ");
    np_buf_adds(b, words[i * 5 % 6]);
    np_buf_adds(b, " and took ");
    np_buf_int(b, i * 37 % 9000);
    np_buf_adds(b, " ms\n");
  }
}

static double measure(const np_vocab *v, np_str text, size_t row) {
  double best = 1e9;
  for (int i = 0; i < ROUNDS; i++) {
    np_arena ar;
    np_buf shown;
    np_projection p;
    np_err e;
    np_project_ask ask = {.tokens = rows[row].tokens, .asked = true};
    np_arena_init(&ar, &np_alloc_libc);
    np_buf_init(&shown, &np_alloc_libc);
    double from = cpu();
    if (!np_extract_parse(np_str_cstr(rows[row].words), &ask.what, &e))
      np_project(v, text, &ask, &ar, &p, &shown, &e);
    double took = cpu() - from;
    if (took < best) best = took;
    np_buf_free(&shown);
    np_arena_free(&ar);
  }
  return best;
}

int main(void) {
  const char *dir = getenv("NEAP_VOCAB");
  np_vocab *v = NULL;
  np_buf log;
  np_err e = {0};
  if (np_vocab_open(&np_alloc_libc, dir ? dir : "core/token/data", NP_LIT("o200k_base"),
                    &v, &e)) {
    fprintf(stderr, "%s\n", e.text);
    return 1;
  }
  np_buf_init(&log, &np_alloc_libc);
  make_log(&log);
  for (size_t i = 0; i < NP_COUNT(rows) && !log.failed; i++)
    printf("{\"name\":\"%s\",\"value\":%.9f}\n", rows[i].name,
           measure(v, np_buf_str(&log), i));
  np_buf_free(&log);
  np_vocab_free(v);
  return 0;
}
