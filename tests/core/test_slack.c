/*
** What is purged is in no byte of the file, nor of its log, where rows of all sizes were written in
** random order, indexed, shared and forked: also not where rows that were moved have left copies
** in their pages. Every body has words of its own; after each purge the raw files are looked
** through for any 12 bytes of it, and of what the index made of it. next: test_store_steps.c
*/
#define _XOPEN_SOURCE 700
#include <unistd.h>

#include "store_help.h"

#define BODIES 300
#define SESSIONS 3
#define GRAM 12 /* bytes; a random 60 bits' worth, so nothing else has them */
#define WORD                                                                             \
  20 /* letters; those of the end are in the index whatever a neighbour shares */

static char dir[64], path[128];

/* ---- bodies ------------------------------------------------------------------------ */

typedef struct content {
  np_str body;
  uint8_t hash[NP_SHA256];
  bool there;
} content;

static unsigned long long rnd;
static content bodies[BODIES];

static size_t below(size_t n) {
  return (size_t)(check_random(&rnd) % n);
}

/* Words of small letters, which the index keeps as they are. */
static void make_bodies(void) {
  for (int i = 0; i < BODIES; i++) {
    size_t n = 100 + below(below(4) ? 900 : 5900);
    char *p = malloc(n);
    if (!p) exit(2);
    for (size_t k = 0; k < n; k++)
      p[k] = k % (WORD + 1) == WORD ? ' ' : (char)('a' + below(26));
    bodies[i] = (content){.body = {p, n}, .there = true};
    np_sha256(bodies[i].body, bodies[i].hash);
  }
}

static bool text_of(void *ctx, np_str body, int32_t part, np_buf *out) {
  (void)ctx;
  (void)part;
  np_buf_add(out, body);
  return !out->failed;
}

/* ---- looking at the raw files -------------------------------------------------------- */

#define TABLE 16384 /* twice what the longest body has */

static uint64_t gram_at(const char *p) {
  uint64_t a;
  uint32_t b;
  memcpy(&a, p, sizeof a);
  memcpy(&b, p + sizeof a, sizeof b);
  uint64_t x = (a ^ (uint64_t)b << 21 ^ b) * 0x9E3779B97F4A7C15u;
  return x ^ x >> 29;
}

/* How often the bytes of `file` are any GRAM bytes of the body that are in one word. */
static int grams_in(np_str file, np_str body) {
  static const char *slot[TABLE];
  int n = 0;
  memset(slot, 0, sizeof slot);
  for (size_t i = 0; i + GRAM <= body.n; i++) {
    if (i % (WORD + 1) + GRAM > WORD) continue;
    size_t at = gram_at(body.p + i) % TABLE;
    while (slot[at]) at = (at + 1) % TABLE;
    slot[at] = body.p + i;
  }
  for (size_t i = 0; i + GRAM <= file.n; i++) {
    size_t at = gram_at(file.p + i) % TABLE;
    for (; slot[at]; at = (at + 1) % TABLE)
      if (memcmp(slot[at], file.p + i, GRAM) == 0) n++;
  }
  return n;
}

static void add_file(np_buf *out, const char *end) {
  char name[160], room[65536];
  size_t n;
  snprintf(name, sizeof name, "%s%s", path, end);
  FILE *f = fopen(name, "rb");
  while (f && (n = fread(room, 1, sizeof room, f)) > 0)
    np_buf_add(out, np_str_of(room, n));
  if (f) fclose(f);
}

static int left_of(const content *c) {
  np_buf all;
  np_buf_init(&all, libc);
  add_file(&all, "");
  add_file(&all, "-wal");
  int n = all.failed ? -1 : grams_in(np_buf_str(&all), c->body);
  np_buf_free(&all);
  return n;
}

/* ---- a store that has lived ---------------------------------------------------------- */

static const char *const names[SESSIONS] = {"one", "two", "three"};

static np_store *open_rw(void) {
  np_store *st;
  np_err e;
  if (np_store_sqlite_open(libc, path, false, &st, &e) != NEAP_OK) exit(2);
  st->text = text_of;
  return st;
}

static void index_one(np_store *st, const char *session, const np_claim *c, np_str text) {
  np_err e;
  int64_t n = c->last_seq;
  np_doc doc = {.entry = n, .seq = n, .step = 1, .text = text};
  np_docs d = {.tenant = str("t"),
               .session = str(session),
               .fence = c->fence,
               .doc = &doc,
               .n = 1,
               .from = {.entry = n - 1, .seq = n - 1},
               .to = {.entry = n, .seq = n}};
  CHECK("it is indexed", st->ops->index(st, &d, &e) == NEAP_OK);
}

/* An event of a random session, or a content alone; some bodies twice. */
static void add_body(np_store *st, np_claim *claims, content *c) {
  np_err e;
  char head[64];
  size_t s = below(SESSIONS);
  size_t n = (size_t)snprintf(head, sizeof head, "{\"at\":%zu}", below(1u << 30));
  if (below(3) == 0) st->ops->put(st, str("t"), c->body, c->hash, &e);
  else {
    bool good = add(st, &claims[s], np_str_of(head, n), c->body,
                    below(2) ? NEAP_DURABLE_PROCESS : NEAP_DURABLE_BATCH, &e) == NEAP_OK;
    CHECK("it is appended", good);
    index_one(st, names[s], &claims[s], c->body);
  }
}

static void fill(np_store *st) {
  np_err e;
  np_claim claims[SESSIONS];
  int order[BODIES];
  for (int i = 0; i < BODIES; i++) order[i] = i;
  for (int i = BODIES - 1; i > 0; i--) {
    int k = (int)below((size_t)i + 1), was = order[i];
    order[i] = order[k];
    order[k] = was;
  }
  for (int s = 0; s < SESSIONS; s++)
    st->ops->claim(st, str("t"), str(names[s]), false, &claims[s], &e);
  for (int i = 0; i < BODIES; i++) {
    add_body(st, claims, &bodies[order[i]]);
    if (i && below(20) == 0) add_body(st, claims, &bodies[order[below((size_t)i)]]);
  }
}

static void fork_one(np_store *st, int as) {
  char to[32];
  np_err e;
  snprintf(to, sizeof to, "fork-%d", as);
  neap_rc rc = st->ops->fork(st, str("t"), str(names[below(SESSIONS)]), str(to),
                             20 + (int64_t)below(20), &e);
  CHECK("it is forked", rc == NEAP_OK);
}

/* ---- purging ------------------------------------------------------------------------- */

static int purge_one(np_store *st) {
  np_err e;
  content *c = &bodies[below(BODIES)];
  while (!c->there) c = &bodies[below(BODIES)];
  CHECK("it is in the file", left_of(c) > 0);
  CHECK("it is purged", st->ops->purge(st, str("t"), c->hash, &e) == NEAP_OK);
  c->there = false;
  int n = left_of(c);
  if (n) fprintf(stderr, "  %d places hold some of a body of %zu bytes\n", n, c->body.n);
  return n;
}

static void purges(unsigned long long seed, int times) {
  np_err e;
  rnd = seed;
  make_bodies();
  np_store *st = open_rw();
  fill(st);
  int left = 0;
  for (int i = 0; i < times; i++) {
    if (i % 4 == 1) fork_one(st, i);
    left += purge_one(st) != 0;
  }
  CHECK("no byte of what was purged is left in the files", left == 0);
  CHECK("the store is sound", faults(st, &e) == 0);
  st->ops->close(st, &e);
  left = 0;
  for (int i = 0; i < BODIES; i++) left += !bodies[i].there && left_of(&bodies[i]) != 0;
  CHECK("nor when it is closed", left == 0);
  for (int i = 0; i < BODIES; i++) free_body(bodies[i].body);
}

static void remove_files(void) {
  static const char *const ends[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < NP_COUNT(ends); i++) {
    char name[160];
    snprintf(name, sizeof name, "%s%s", path, ends[i]);
    unlink(name);
  }
}

int main(void) {
  unsigned long long seed = check_seed(1130);
  bool has_shm = access("/dev/shm", W_OK) == 0;
  snprintf(dir, sizeof dir, "%s/neap-slack-XXXXXX", has_shm ? "/dev/shm" : "/tmp");
  if (!mkdtemp(dir)) return 2;
  snprintf(path, sizeof path, "%s/store.db", dir);
  for (int i = 0; i < 3; i++) {
    purges(seed + (unsigned)i, 16);
    remove_files();
  }
  rmdir(dir);
  return check_done();
}
