/*
** Counts what a session takes from the heap, for packing.lua, which prints it: allocations of a
** turn that only appends, bytes that an old entry keeps, and those for each byte of a prompt of
** which nothing is old. An allocator of the host's kind does the counting; SQLite's own memory
** is not in it. `bench_memory DATA POLICY STORE`: one JSON object a line. Nothing is timed.
** next: packing.lua
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/counted_heap.h"
#include "base/mem.h"
#include "neap.h"

#define WINDOW 64000
#define FEW 2000 /* entries after which the window is full and most of them are old */
#define MANY 22000
#define LAST 100 /* turns that are looked at */
#define LIVE 250 /* turns that all fit the window */

static neap *n;
static neap_session *s;

static void must(neap_rc rc) {
  if (!rc) return;
  fprintf(stderr, "bench_memory: %s\n", neap_error(n));
  exit(1);
}

static void append(const char *message) {
  must(neap_append(s, (neap_str){message, strlen(message)}));
}

/* A call and its result, of about 400 tokens together: the steps of packing.lua. */
static void step(int i) {
  static char m[8192];
  snprintf(m, sizeof m,
           "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%d\","
           "\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":"
           "\"{\\\"path\\\":\\\"src/file_%d.c\\\"}\"}}]}",
           i, i);
  append(m);
  int at = snprintf(m, sizeof m,
                    "{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"", i);
  for (int k = 0; k < 9; k++) {
    at +=
        snprintf(m + at, sizeof m - (size_t)at,
                 "The tide rises, the tide falls, and what it carried in the morning it "
                 "has taken away again by night; nobody on the quay could say what had "
                 "been there at %d.\\n",
                 i);
  }
  snprintf(m + at, sizeof m - (size_t)at, "\"}");
  append(m);
}

static int by_size(const void *a, const void *b) {
  const long *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static long median(long *list, int count) {
  qsort(list, (size_t)count, sizeof *list, by_size);
  return list[count / 2];
}

static void row(const char *what, double value) {
  printf("{\"what\":\"%s\",\"value\":%.3f}\n", what, value);
}

static void open_with(char **argv, const char *policy, int64_t window) {
  neap_config c = {.size = sizeof c,
                   .data = argv[1],
                   .store = argv[3],
                   .flags = NEAP_FIXED_SECRET,
                   .alloc = {heap_malloc, heap_realloc, heap_free, NULL}};
  neap_options o = {.size = sizeof o, .policy = policy, .window = window};
  must(neap_open(&c, &n));
  must(neap_session_open(n, policy ? policy : "none", &o, &s));
  append("{\"role\":\"system\",\"content\":\"Be brief.\"}");
  append("{\"role\":\"user\",\"content\":\"Mend the build.\"}");
}

/* Most of a long history is not shown: what a turn asks for, and what an old entry keeps. */
static void old_entries(char **argv) {
  static long prompts[LAST], turns[LAST];
  neap_str body;
  long few = 0;
  open_with(argv, argv[2], WINDOW);
  for (int i = 1; 2 * i <= MANY; i++) {
    long before = h.calls;
    step(i);
    long between = h.calls;
    must(neap_prompt(s, &body));
    prompts[i % LAST] = h.calls - between;
    turns[i % LAST] = h.calls - before;
    if (2 * i == FEW) few = h.bytes;
  }
  row("allocations of a prompt", (double)median(prompts, LAST));
  row("allocations of a turn", (double)median(turns, LAST));
  row("bytes of an old entry", (double)(h.bytes - few) / (MANY - FEW));
  neap_close(n);
}

/* Nothing is old: what is kept for each byte of the prompt. */
static void live_window(char **argv) {
  neap_str body = {NULL, 0};
  open_with(argv, NULL, WINDOW * 2);
  must(neap_prompt(s, &body));
  long empty = h.bytes;
  for (int i = 1; i <= LIVE; i++) {
    step(i);
    must(neap_prompt(s, &body));
  }
  row("bytes for each byte of the prompt", (double)(h.bytes - empty) / (double)body.n);
  neap_close(n);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "bench_memory DATA POLICY STORE\n");
    return 2;
  }
  old_entries(argv);
  live_window(argv);
  return 0;
}
