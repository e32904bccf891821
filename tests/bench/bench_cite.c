/*
** Measures the citation index for cite.lua, which knows what the rows mean: `bench_cite TEXTS`.
** Entries of 4,000 bytes, every fourth the model's, the rest results; a new index for every
** megabyte or so, as sessions have. CPU time of this process. One JSON object a line.
** next: cite.lua
*/
#define _XOPEN_SOURCE 700 /* clock_gettime */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "cite/cite.h"

#define ENTRY 4000
#define ENTRIES 250
#define ROUNDS 5
#define SESSIONS 8

static double cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what) {
  fprintf(stderr, "bench_cite: %s\n", what);
  exit(2);
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
  if (b.n < 2 * ENTRY) die("a text is too short");
  return b;
}

static size_t border(np_str s, size_t at) {
  while (at < s.n && ((unsigned char)s.p[at] & 0xC0) == 0x80) at++;
  return at;
}

/* A session over the text, from `at` on and around; the bytes that were indexed. */
static size_t one_session(np_str text, size_t at) {
  np_cite *c = np_cite_new(&np_alloc_libc);
  size_t sum = 0;
  np_err e;
  if (!c) die("out of memory");
  for (int64_t i = 1; i <= ENTRIES; i++) {
    size_t from = border(text, at % (text.n - ENTRY)), to = border(text, from + ENTRY);
    np_origin who = i % 4 ? NP_ORIGIN_RESULT : NP_ORIGIN_MODEL;
    if (np_cite_add(c, i, i, i / 4, who, np_str_cut(text, from, to), &e)) die(e.text);
    sum += to - from;
    at = to;
  }
  np_cite_free(c);
  return sum;
}

static void measure(const char *dir, const char *file, const char *name) {
  np_buf b = read_text(dir, file);
  double best = 0;
  for (int r = 0; r < ROUNDS; r++) {
    size_t sum = 0;
    double start = cpu();
    for (size_t s = 0; s < SESSIONS; s++)
      sum += one_session(np_buf_str(&b), s * ENTRIES * ENTRY);
    double rate = (double)sum / 1e6 / (cpu() - start);
    if (rate > best) best = rate;
  }
  printf("{\"name\":\"%s\",\"value\":%.1f}\n", name, best);
  np_buf_free(&b);
}

int main(int argc, char **argv) {
  if (argc != 2) die("usage: bench_cite TEXTS");
  measure(argv[1], "english_prose.txt", "cite English prose");
  measure(argv[1], "code_c.c", "cite code");
  measure(argv[1], "json_tools.json", "cite JSON");
  measure(argv[1], "chinese.txt", "cite Chinese");
  return 0;
}
