/*
** One session whose policy is a file in a folder of its own: files are written with times that
** are set, turns are taken, and what the account and the log say of the policy is gathered.
** next: test_reload.c
*/
#ifndef NP_TESTS_RELOAD_WORLD_H
#define NP_TESTS_RELOAD_WORLD_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* mkdtemp, utimensat */
#endif

#include "check.h"

#include <fcntl.h>

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"

typedef struct world {
  char dir[200];
  neap *n;
  neap_session *s;
  neap_options options;
  int turns;
  int errors; /* hook errors of all turns so far */
  char error[600];
  int events; /* of NP_EV_POLICY, and what the last of them says */
  char result[20], from[65], to[65], serving[65];
  int64_t bytes, blocks;
  bool meddle; /* the allocator asks for reloads */
  int meddled, meddled_ok;
  int64_t left; /* allocations until memory has run out; 0: it does not */
  bool starved; /* it has */
} world;

static inline void world_meddle(world *w) {
  if (!w->meddle || !w->s) return;
  w->meddle = false;
  w->meddled++;
  w->meddled_ok += neap_reload(w->s) == NEAP_OK;
  w->meddle = true;
}

/* Sizes stand before the blocks, so that bytes can be counted. */
static void *world_malloc(void *ctx, size_t n) {
  world *w = ctx;
  world_meddle(w);
  if (w->left && --w->left == 0) {
    w->left = 1;
    w->starved = true;
    return NULL;
  }
  size_t *p = malloc(n + 16);
  if (!p) return NULL;
  *p = n;
  w->bytes += (int64_t)n;
  w->blocks++;
  return (char *)p + 16;
}

static void world_free(void *ctx, void *block) {
  world *w = ctx;
  if (!block) return;
  size_t *p = (size_t *)(void *)((char *)block - 16);
  w->bytes -= (int64_t)*p;
  w->blocks--;
  free(p);
}

static void *world_realloc(void *ctx, void *block, size_t old, size_t n) {
  void *q = world_malloc(ctx, n);
  if (q && block) memcpy(q, block, old < n ? old : n);
  if (q) world_free(ctx, block);
  return q;
}

/* ---- files ---- */

static inline const char *world_path(const world *w, const char *name) {
  static char path[4][300];
  static int turn;
  char *p = path[turn++ % 4];
  snprintf(p, sizeof path[0], "%s/%s", w->dir, name);
  return p;
}

static inline void world_set_time(const world *w, const char *name, time_t s, long ns) {
  struct timespec t[2] = {{s, ns}, {s, ns}};
  if (utimensat(AT_FDCWD, world_path(w, name), t, 0)) exit(2);
}

static inline void world_age(const world *w, const char *name, int seconds) {
  world_set_time(w, name, time(NULL) - seconds, 0);
}

static inline void world_now(const world *w, const char *name) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  /* a little ahead, so that a slow machine does not make it old: it is no time of the past */
  world_set_time(w, name, now.tv_sec, now.tv_nsec);
}

/* Writes a file, ten seconds old. */
static inline void world_put(const world *w, const char *name, const char *text) {
  FILE *f = fopen(world_path(w, name), "wb");
  if (!f || fputs(text, f) < 0 || fclose(f)) exit(2);
  world_age(w, name, 10);
}

static inline void world_remove(const world *w, const char *name) {
  if (unlink(world_path(w, name))) exit(2);
}

static inline void world_rename(const world *w, const char *from, const char *to) {
  if (rename(world_path(w, from), world_path(w, to))) exit(2);
}

/* ---- the session ---- */

static inline void world_dir(world *w) {
  const char *tmp = getenv("TMPDIR");
  *w = (world){.turns = 0};
  snprintf(w->dir, sizeof w->dir, "%s/neap-reload-XXXXXX", tmp ? tmp : "/tmp");
  if (!mkdtemp(w->dir) || mkdir(world_path(w, "lib"), 0700)) exit(2);
}

static inline void world_open(world *w) {
  neap_rc rc = neap_session_open(w->n, "run", &w->options, &w->s);
  if (rc) fprintf(stderr, "neap_session_open: %s\n", neap_error(w->n));
  CHECK("a session opens", rc == NEAP_OK);
  if (rc) exit(check_done());
}

static inline void world_start(world *w, const char *policy) {
  const char *data = getenv("NEAP_DATA");
  static char path[300];
  neap_config c = {.size = sizeof c,
                   .data = data ? data : "core/token/data",
                   .flags = NEAP_FIXED_SECRET};
  c.alloc = (neap_alloc){world_malloc, world_realloc, world_free, w};
  if (neap_open(&c, &w->n)) exit(2);
  snprintf(path, sizeof path, "%s", world_path(w, policy));
  w->options.size = sizeof w->options;
  if (!w->options.window) w->options.window = 30000;
  w->options.policy = path;
  world_open(w);
  CHECK("a task is taken",
        !neap_append(w->s, NP_LIT("{\"role\":\"user\",\"content\":\"task\"}")));
}

/* Closed and opened again, from the log. */
static inline void world_restart(world *w) {
  static char path[300];
  snprintf(path, sizeof path, "%s", world_path(w, "p.lua"));
  w->options.policy = path;
  neap_session_close(w->s);
  w->s = NULL;
  world_open(w);
}

static inline void world_account(world *w) {
  neap_str a;
  np_json root, list, item;
  if (neap_account(w->s, &a) || np_json_check(a, &root, NULL) ||
      !np_json_get(root, "hook_errors", &list)) {
    CHECK("there is an account", !"account");
    return;
  }
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &item)) {
    w->errors++;
    snprintf(w->error, sizeof w->error, "%.*s", (int)item.raw.n, item.raw.p);
  }
}

/* A prompt, its account, and an answer. */
static inline void world_turn(world *w) {
  neap_str body;
  neap_rc rc = neap_prompt(w->s, &body);
  if (rc) fprintf(stderr, "neap_prompt: %s\n", neap_error(w->n));
  CHECK("there is a prompt", rc == NEAP_OK);
  world_account(w);
  w->turns++;
  CHECK("an answer is taken",
        !neap_append(w->s, NP_LIT("{\"role\":\"assistant\",\"content\":\"so\"}")));
  CHECK("and a word",
        !neap_append(w->s, NP_LIT("{\"role\":\"user\",\"content\":\"go on\"}")));
}

/* ctx.state.n */
static inline int64_t world_state(world *w) {
  np_buf b;
  np_json root, v;
  int64_t n = -1;
  np_buf_init(&b, &np_alloc_libc);
  if (!np_policy_state(w->s->policy, &b, NULL) &&
      !np_json_check(np_buf_str(&b), &root, NULL) && np_json_get(root, "n", &v))
    n = strtoll(v.raw.p, NULL, 10);
  np_buf_free(&b);
  return n;
}

static inline bool world_named(const world *w, const char *name) {
  return np_str_eq(np_policy_info_of(w->s->policy)->name, np_str_cstr(name));
}

static inline void world_sha(const world *w, char out[65]) {
  np_hex(np_policy_info_of(w->s->policy)->sha256, NP_SHA256, out);
  out[64] = '\0';
}

/* ---- the log ---- */

static inline void world_member(np_json head, const char *name, char *out, size_t room) {
  np_json v;
  out[0] = '\0';
  if (np_json_get(head, name, &v) && v.raw.n >= 2)
    snprintf(out, room, "%.*s", (int)v.raw.n - 2, v.raw.p + 1);
}

static neap_rc world_event(void *ctx, const np_event *ev, bool purged) {
  world *w = ctx;
  np_json head;
  (void)purged;
  if (ev->kind != NP_EV_POLICY || np_json_check(ev->head, &head, NULL)) return NEAP_OK;
  w->events++;
  world_member(head, "result", w->result, sizeof w->result);
  world_member(head, "from", w->from, sizeof w->from);
  world_member(head, "to", w->to, sizeof w->to);
  world_member(head, "sha256", w->serving, sizeof w->serving);
  return NEAP_OK;
}

static inline void world_policy_events(world *w) {
  np_err e;
  np_store *st = w->n->store;
  w->events = 0;
  st->ops->read(st, NP_LIT(""), NP_LIT("run"), 1, world_event, w, &e);
}

/* A text that holds one of the alternatives of `expected`, separated by " | ". */
static inline bool world_says(const char *text, const char *expected) {
  char part[200];
  while (*expected) {
    const char *end = strstr(expected, " | ");
    size_t n = end ? (size_t)(end - expected) : strlen(expected);
    snprintf(part, sizeof part, "%.*s", (int)n, expected);
    if (strstr(text, part)) return true;
    expected = end ? end + 3 : expected + n;
  }
  return false;
}

static inline void world_close(world *w) {
  char clean[300];
  w->meddle = false;
  neap_close(w->n);
  CHECK("no memory is left", w->blocks == 0 && w->bytes == 0);
  snprintf(clean, sizeof clean, "rm -rf '%s'", w->dir);
  if (system(clean)) fprintf(stderr, "%s is left\n", w->dir);
}

#endif
