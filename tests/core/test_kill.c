/*
** Kills at any moment: four processes write into one file, each a session of its own in one of the
** four ways to be durable, and all of them fight for one that they share. What each way promises
** is there afterwards, in whole calls, and the store is sound. NEAP_KILLS sets the rounds (20);
** tests/soak/kill.lua runs more. next: test_engine_store.c
*/
#include "session.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define WRITERS 4
#define SHARED                                                                           \
  WRITERS /* the number of the session that they share, in acknowledgements */

static const neap_durable modes[WRITERS] = {NEAP_DURABLE_PROCESS, NEAP_DURABLE_POWER,
                                            NEAP_DURABLE_BATCH, NEAP_DURABLE_MEMORY};
static const char *const mode_names[WRITERS] = {"process", "power", "batch", "memory"};

/* What a writer says through the pipe: less than PIPE_BUF bytes, so that each is whole. */
typedef struct ack {
  int writer, session;
  int count; /* of its messages in that session that are promised to be there */
} ack;

/* ---- the writers ---- */

static void acknowledge(int out, int writer, int session, int count) {
  ack a = {writer, session, count};
  if (write(out, &a, sizeof a) != (ssize_t)sizeof a) _exit(0);
}

/* {"role":"user","content":"2 17 xxxx…"}: some are kept in the row, some apart, some in pieces. */
static neap_rc say_number(neap_session *s, int writer, int number, size_t pad) {
  static char text[400000];
  int n = snprintf(text, sizeof text, "{\"role\":\"user\",\"content\":\"%d %d ", writer,
                   number);
  memset(text + n, 'a' + number % 26, pad);
  memcpy(text + n + pad, "\"}", 3);
  return neap_append(s, np_str_of(text, (size_t)n + pad + 2));
}

/* NULL: another has taken it over already. */
static neap_session *open_as(neap *n, const char *name, neap_durable durable) {
  neap_session *s = NULL;
  neap_options o = {
      .size = sizeof o, .durable = durable, .window = 10000000, .flags = NEAP_NO_TOOLS};
  neap_rc rc = neap_session_open(n, name, &o, &s);
  if (rc && rc != NEAP_E_FENCED) {
    fprintf(stderr, "writer: %s\n", neap_error(n));
    _exit(3);
  }
  return s;
}

/* Takes the shared session over and says a few things; another may take it meanwhile. */
static void fight(neap *n, int out, int writer, int *said) {
  neap_session *s = open_as(n, "shared", NEAP_DURABLE_PROCESS);
  for (int i = 0; s && i < 3; i++) {
    neap_rc rc = say_number(s, writer, *said, i == 1 ? 2000 : 5);
    if (rc == NEAP_E_FENCED) break;
    if (rc) _exit(4);
    acknowledge(out, writer, SHARED, ++*said);
  }
  neap_session_close(s);
}

static void write_for_ever(int out, int writer, const char *store) {
  neap *n = NULL;
  char name[16];
  int said = 0;
  neap_config c = {.size = sizeof c, .store = store, .data = data_dir()};
  static const size_t pads[] = {3, 800, 1500, 20000, 3, 3, 300000, 90};
  if (neap_open(&c, &n)) {
    fprintf(stderr, "writer: %s\n", neap_error(n));
    _exit(2);
  }
  snprintf(name, sizeof name, "own-%d", writer);
  neap_session *s = open_as(n, name, modes[writer]);
  for (int i = 0;; i++) {
    neap_str p;
    if (say_number(s, writer, i, pads[i % 8])) _exit(5);
    if (modes[writer] == NEAP_DURABLE_PROCESS || modes[writer] == NEAP_DURABLE_POWER)
      acknowledge(out, writer, writer, i + 1);
    if (modes[writer] == NEAP_DURABLE_BATCH && i % 5 == 4) {
      if (neap_prompt(s, &p)) _exit(6);
      acknowledge(out, writer, writer, i + 1);
    }
    if (modes[writer] == NEAP_DURABLE_MEMORY && i % 7 == 6) {
      if (neap_flush(n)) _exit(7);
      acknowledge(out, writer, writer, i + 1);
    }
    if (i % 10 == 9) fight(n, out, writer, &said);
  }
}

/* ---- what is there ---- */

typedef struct found {
  int next[WRITERS]; /* the number that must come next, of each writer */
  bool good;
} found;

static int look(void *ctx, const neap_event *ev) {
  found *f = ctx;
  static const char lead[] = "{\"role\":\"user\",\"content\":\"";
  int writer = -1, number = -1;
  char head[40] = "";
  if (strcmp(ev->kind, "message") != 0) return 1;
  if (ev->body.n < sizeof lead + 4 || memcmp(ev->body.p, lead, sizeof lead - 1) != 0) {
    f->good = false;
    return 0;
  }
  size_t rest = ev->body.n - (sizeof lead - 1);
  memcpy(head, ev->body.p + sizeof lead - 1, rest < 20 ? rest : 20);
  char *end = NULL;
  writer = (int)strtol(head, &end, 10);
  number = (int)strtol(end, NULL, 10);
  bool whole = memcmp(ev->body.p + ev->body.n - 2, "\"}", 2) == 0;
  if (writer < 0 || writer >= WRITERS || !whole || number != f->next[writer])
    f->good = false;
  else f->next[writer]++;
  return 1;
}

static int print_fault(void *ctx, neap_str line) {
  (void)ctx;
  fprintf(stderr, "  %.*s\n", (int)line.n, line.p);
  return 1;
}

/* `said`: what was acknowledged, of each writer in its own session and in the shared one. */
static void judge(neap *n, int said[WRITERS][2]) {
  for (int w = 0; w < WRITERS; w++) {
    char name[16];
    found f = {.good = true};
    snprintf(name, sizeof name, "own-%d", w);
    neap_rc rc = neap_session_events(n, name, 1, look, &f);
    if (rc == NEAP_E_NOTFOUND && said[w][0] == 0) continue; /* killed before it began */
    bool kept = !rc && f.good && f.next[w] >= said[w][0];
    if (!kept)
      fprintf(stderr, "%s: %d acknowledged, %d there, %s\n", mode_names[w], said[w][0],
              f.next[w],
              rc       ? neap_error(n)
              : f.good ? "in order"
                       : "out of order");
    CHECK("what was acknowledged is there, once and in order", kept);
    /* what is held back is written where the writer asks for it, and, as all that is held,
    ** when it closes the session that they share: each 10 messages */
    int step = modes[w] == NEAP_DURABLE_BATCH ? 5 : 7;
    if (modes[w] == NEAP_DURABLE_BATCH || modes[w] == NEAP_DURABLE_MEMORY)
      CHECK("what was held back is there as a whole or not at all",
            f.next[w] % step == 0 || f.next[w] % 10 == 0);
    else
      CHECK("at most one call more than was acknowledged", f.next[w] <= said[w][0] + 1);
  }
  found f = {.good = true};
  neap_rc rc = neap_session_events(n, "shared", 1, look, &f);
  bool kept = f.good && (!rc || rc == NEAP_E_NOTFOUND);
  for (int w = 0; w < WRITERS; w++) kept = kept && f.next[w] >= said[w][1];
  if (!kept) fprintf(stderr, "shared: %s\n", rc ? neap_error(n) : "something is missing");
  CHECK("what each has said in the session that they share is there, once and in order",
        kept);
}

/* ---- rounds ---- */

static void take_acks(int in, int said[WRITERS][2], int64_t *total) {
  ack a[64];
  for (ssize_t n; (n = read(in, a, sizeof a)) > 0;) {
    for (size_t i = 0; i < (size_t)n / sizeof *a; i++) {
      said[a[i].writer][a[i].session == SHARED] = a[i].count;
      ++*total;
    }
  }
}

static void nap(long microseconds) {
  struct timespec t = {microseconds / 1000000, microseconds % 1000000 * 1000};
  nanosleep(&t, NULL);
}

static void round_of_kills(unsigned long long *r, int number, int64_t *total) {
  char name[32];
  int p[2], said[WRITERS][2] = {{0}}, status;
  pid_t pid[WRITERS];
  ack first;
  snprintf(name, sizeof name, "kill-%d.db", number);
  const char *store = dir_path(name);
  if (pipe(p)) exit(2);
  fflush(NULL);
  for (int w = 0; w < WRITERS; w++) {
    pid[w] = fork();
    if (pid[w] == 0) {
      close(p[0]);
      write_for_ever(p[1], w, store);
    }
  }
  close(p[1]);
  /* some are killed while the file is made; the others once all have begun */
  if (number % 4) {
    while (read(p[0], &first, sizeof first) == (ssize_t)sizeof first) {
      said[first.writer][first.session == SHARED] = first.count;
      if (said[first.writer][0] > 10) break;
    }
  }
  nap(1000 + (long)(check_random(r) % 60000));
  int from = (int)(check_random(r) % WRITERS);
  for (int i = 0; i < WRITERS; i++) {
    kill(pid[(from + i) % WRITERS], SIGKILL);
    if (check_random(r) % 2) nap((long)(check_random(r) % 4000));
  }
  bool worked = true;
  for (int w = 0; w < WRITERS; w++) {
    waitpid(pid[w], &status, 0);
    worked = worked && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }
  CHECK("the writers wrote until they were killed", worked);
  take_acks(p[0], said, total);
  close(p[0]);
  neap *n = engine_open(store);
  if (n) {
    CHECK("the store is sound", neap_store_check(n, print_fault, NULL) == NEAP_OK);
    judge(n, said);
    if (said[0][0]) {
      neap_session *s = session_open(n, "own-0", NULL, 10000000, NULL);
      CHECK("a session that was killed goes on",
            say_number(s, 0, 0, 3) == NEAP_OK && prompt(s).n > 0);
    }
  }
  neap_close(n);
  static const char *const tails[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < NP_COUNT(tails); i++) {
    char path[600];
    snprintf(path, sizeof path, "%s%s", store, tails[i]);
    unlink(path);
  }
}

int main(void) {
  unsigned long long seed = check_seed((unsigned long long)time(NULL));
  const char *wanted = getenv("NEAP_KILLS");
  int rounds = wanted ? atoi(wanted) : 20;
  int64_t total = 0;
  dir_make();
  for (int i = 0; i < rounds; i++) round_of_kills(&seed, i, &total);
  fprintf(stderr, "%d rounds of %d kills, %lld acknowledgements\n", rounds, WRITERS,
          (long long)total);
  CHECK("the kills came while they wrote", total > 0);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
