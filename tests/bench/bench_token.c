/*
** Measures the tokenizer, for tokens.lua, which knows what the rows mean. CPU time of this
** process, so that a busy machine disturbs little. `bench_token load DATA` is for a process
** of its own each time; `bench_token DATA TEXTS` measures the rest. One JSON object a line.
** next: tokens.lua
*/
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "token/token.h"

#define LEAST 5     /* repetitions at least */
#define MOST 25     /* and at most */
#define ENOUGH 0.25 /* seconds after which the least are enough */
#define MESSAGES 20000
#define MESSAGE 200 /* bytes */

static const char *const names[] = {
    "english_prose.txt", "code_c.c",        "code_js_py.txt", "json_tools.json",
    "build_log.txt",     "page.html",       "chinese.txt",    "mixed_unicode.txt",
    "adv_base64.txt",    "adv_cjk_run.txt", "adv_a.txt",      "adv_spaces.txt",
    "adv_newlines.txt"};
#define TEXTS NP_COUNT(names)
#define PLAIN 8 /* the first of them are texts that somebody would send */

static np_buf text[TEXTS];

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu(void) {
  return now(CLOCK_PROCESS_CPUTIME_ID);
}

static void die(const char *what, const char *why) {
  fprintf(stderr, "bench_token: %s: %s\n", what, why);
  exit(2);
}

static void read_text(const char *dir, size_t i) {
  char path[4096], chunk[65536];
  size_t n;
  snprintf(path, sizeof path, "%s/%s", dir, names[i]);
  FILE *f = fopen(path, "rb");
  if (!f) die(path, "cannot be read");
  np_buf_init(&text[i], &np_alloc_libc);
  while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
    np_buf_add(&text[i], np_str_of(chunk, n));
  fclose(f);
}

static np_vocab *open_vocab(const char *data, const char *name) {
  np_vocab *v = NULL;
  np_err e = {0};
  if (np_vocab_open(&np_alloc_libc, data, np_str_cstr(name), &v, &e)) die(name, e.text);
  return v;
}

/* ---- repetitions ---- */

typedef struct times {
  double s[MOST], begun;
  int n;
} times;

static bool again(const times *t) {
  if (t->n < LEAST) return true;
  return t->n < MOST && cpu() - t->begun < ENOUGH;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(times *t) {
  qsort(t->s, (size_t)t->n, sizeof t->s[0], by_size);
  return t->s[t->n / 2];
}

/* ---- whole texts ---- */

static size_t encode(const np_vocab *v, np_str s, uint32_t **ids, size_t *cap) {
  size_t n = 0;
  np_err e = {0};
  if (np_vocab_encode(v, s, false, &np_alloc_libc, ids, &n, cap, &e))
    die("encode", e.text);
  return n;
}

static double time_count(const np_vocab *v, np_str s, times *t, size_t *tokens) {
  *t = (times){.begun = cpu()};
  while (again(t)) {
    double from = cpu();
    *tokens = np_vocab_count(v, s);
    t->s[t->n++] = cpu() - from;
  }
  return median(t);
}

static void bench_text(const np_vocab *v, const char *enc, size_t i) {
  np_str s = np_buf_str(&text[i]);
  uint32_t *ids = NULL;
  size_t cap = 0, tokens = 0, other = 0;
  times t;
  double mb = (double)s.n / 1e6, count = time_count(v, s, &t, &tokens), best = t.s[0];
  int n = t.n;
  t = (times){.begun = cpu()};
  while (again(&t)) {
    double from = cpu();
    other = encode(v, s, &ids, &cap);
    t.s[t.n++] = cpu() - from;
  }
  if (other != tokens) die(names[i], "count and encode differ");
  double whole = median(&t),
         quarter = time_count(v, np_str_cut(s, 0, s.n / 4), &t, &other);
  printf("{\"file\":\"%s\",\"encoding\":\"%s\",\"bytes\":%zu,\"tokens\":%zu,\"n\":%d,"
         "\"count\":%.2f,\"count_best\":%.2f,\"encode\":%.2f,\"growth\":%.2f}\n",
         names[i], enc, s.n, tokens, n, mb / count, mb / best, mb / whole,
         count / quarter);
  free(ids);
}

/* A text again and again, with the words of the first time kept. */
static void bench_warm(const np_vocab *v) {
  np_str s = np_buf_str(&text[0]);
  np_words *w = np_words_new(v, &np_alloc_libc, 0);
  times t = {0};
  size_t tokens = np_vocab_count_with(v, w, s);
  t.begun = cpu();
  while (again(&t)) {
    double from = cpu();
    tokens = np_vocab_count_with(v, w, s);
    t.s[t.n++] = cpu() - from;
  }
  double mb = (double)s.n / 1e6, m = median(&t);
  printf("{\"row\":\"warm\",\"bytes\":%zu,\"tokens\":%zu,\"n\":%d,\"value\":%.2f,"
         "\"best\":%.2f}\n",
         s.n, tokens, t.n, mb / m, mb / t.s[0]);
  np_words_free(w);
}

/* ---- small messages ---- */

static np_str message[MESSAGES];

static bool is_inner(np_str s, size_t at) {
  return at < s.n && ((unsigned char)s.p[at] & 0xC0) == 0x80;
}

/* Pieces of the plain texts in turn, cut between characters. */
static void cut_messages(void) {
  size_t at[PLAIN] = {0};
  for (size_t made = 0, k = 0; made < MESSAGES; k = (k + 1) % PLAIN) {
    np_str s = np_buf_str(&text[k]);
    size_t from = at[k], to = from + MESSAGE < s.n ? from + MESSAGE : s.n;
    while (is_inner(s, to)) to++;
    at[k] = to >= s.n ? 0 : to;
    if (to > from) message[made++] = np_str_cut(s, from, to);
  }
}

static size_t all_messages(const np_vocab *v, np_words *w) {
  size_t tokens = 0;
  for (size_t i = 0; i < MESSAGES; i++) tokens += np_vocab_count_with(v, w, message[i]);
  return tokens;
}

/* Each time the messages come twice, and nothing is known before the first. */
static void bench_messages(const np_vocab *v) {
  times first = {.begun = cpu()}, warm = {0};
  size_t tokens = 0;
  while (again(&first)) {
    np_words *w = np_words_new(v, &np_alloc_libc, 0);
    double from = cpu();
    tokens = all_messages(v, w);
    double middle = cpu();
    if (all_messages(v, w) != tokens) die("messages", "counts differ");
    first.s[first.n++] = middle - from;
    warm.s[warm.n++] = cpu() - middle;
    np_words_free(w);
  }
  double us = 1e6 / MESSAGES, f = median(&first), w = median(&warm);
  printf("{\"row\":\"messages\",\"tokens\":%zu,\"n\":%d,\"warm\":%.3f,\"warm_best\":%.3f,"
         "\"first\":%.3f,\"first_best\":%.3f}\n",
         tokens, first.n, w * us, warm.s[0] * us, f * us, first.s[0] * us);
}

/* ---- appending ---- */

#define GROWN 20000 /* bytes */
#define PIECE 50

static void bench_append(const np_vocab *v) {
  np_str s = np_str_cut(np_buf_str(&text[0]), 0, GROWN);
  neap_counter *c = NULL;
  size_t tokens = 0, sum = 0;
  times t = {0};
  if (neap_counter_new((const neap_encoding *)v, &c)) die("append", "out of memory");
  t.begun = cpu();
  while (again(&t)) {
    neap_counter_reset(c);
    double from = cpu();
    for (size_t at = 0; at < s.n; at += PIECE) {
      if (neap_counter_add(c, np_str_cut(s, at, at + PIECE)))
        die("append", "out of memory");
      sum += tokens = neap_counter_tokens(c);
    }
    t.s[t.n++] = cpu() - from;
  }
  if (!sum || tokens != np_vocab_count(v, s)) die("append", "not the count of the whole");
  double us = 1e6 * PIECE / (double)s.n, m = median(&t);
  printf("{\"row\":\"append\",\"tokens\":%zu,\"n\":%d,\"value\":%.3f,\"best\":%.3f}\n",
         tokens, t.n, m * us, t.s[0] * us);
  neap_counter_free(c);
}

/* ---- loading, in a process of its own ---- */

/* Kilobytes of one line of the kernel's account of this process; -1: not told here. */
static long memory_of(const char *what) {
  char line[256];
  long n = -1;
  FILE *f = fopen("/proc/self/smaps_rollup", "r");
  while (f && fgets(line, sizeof line, f)) {
    if (strncmp(line, what, strlen(what)) == 0) n = strtol(line + strlen(what), NULL, 10);
  }
  if (f) fclose(f);
  return n;
}

static void bench_load(const char *data, const char *texts) {
  long rss = memory_of("Rss:"), own = memory_of("Private_Dirty:");
  double wall = now(CLOCK_MONOTONIC), from = cpu();
  np_vocab *v = open_vocab(data, "o200k_base");
  size_t tokens = np_vocab_count(v, NP_LIT("hello"));
  double ms = (cpu() - from) * 1e3, wall_ms = (now(CLOCK_MONOTONIC) - wall) * 1e3;
  long loaded = memory_of("Rss:");
  read_text(texts, 0);
  long before = memory_of("Rss:");
  tokens += np_vocab_count(v, np_buf_str(&text[0]));
  long used = memory_of("Rss:") - before + loaded - rss;
  own = memory_of("Private_Dirty:") - own - (long)(text[0].n / 1024);
  printf("{\"row\":\"load\",\"tokens\":%zu,\"ms\":%.3f,\"wall_ms\":%.3f,\"mib\":%.2f,"
         "\"used_mib\":%.2f,\"own_mib\":%.2f}\n",
         tokens, ms, wall_ms, (double)(loaded - rss) / 1024, (double)used / 1024,
         (double)own / 1024);
  np_buf_free(&text[0]);
  np_vocab_free(v);
}

int main(int argc, char **argv) {
  static const char *const encodings[] = {"o200k_base", "cl100k_base"};
  if (argc == 4 && strcmp(argv[1], "load") == 0) {
    bench_load(argv[2], argv[3]);
    return 0;
  }
  if (argc != 3) die("use", "bench_token [load] DATA TEXTS");
  for (size_t i = 0; i < TEXTS; i++) read_text(argv[2], i);
  cut_messages();
  for (size_t e = 0; e < NP_COUNT(encodings); e++) {
    np_vocab *v = open_vocab(argv[1], encodings[e]);
    for (size_t i = 0; i < TEXTS; i++) bench_text(v, encodings[e], i);
    if (e == 0) {
      bench_warm(v);
      bench_messages(v);
      bench_append(v);
    }
    np_vocab_free(v);
  }
  for (size_t i = 0; i < TEXTS; i++) np_buf_free(&text[i]);
  return 0;
}
