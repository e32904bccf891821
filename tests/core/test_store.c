/*
** Tests of core/store: one table of behaviours run against both stores, random operations
** against a model, and memory that runs out. Files that are odd: test_store_crash.c.
** next: test_store_crash.c
*/
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <unistd.h>

#include "store_help.h"

static char dir[64], path[128];

typedef neap_rc (*opener)(const neap_alloc *a, np_store **st, np_err *e);

static neap_rc open_memory(const neap_alloc *a, np_store **st, np_err *e) {
  return np_store_memory_open(a, st, e);
}

static neap_rc open_file(const neap_alloc *a, np_store **st, np_err *e) {
  return np_store_sqlite_open(a, path, false, st, e);
}

static void remove_file(void) {
  static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < NP_COUNT(ends); i++) {
    char name[160];
    snprintf(name, sizeof name, "%s%s", path, ends[i]);
    unlink(name);
  }
}

/* ---- behaviours, for both stores --------------------------------------------------- */

static void appends_and_reads(np_store *st) {
  np_err e;
  np_claim c;
  seen s = seen_new();
  np_str big = make_body(5000, 1);
  CHECK("a new session can be claimed",
        st->ops->claim(st, str("t"), str("s"), false, &c, &e) == NEAP_OK);
  CHECK("its log is empty and its fence is 1", c.last_seq == 0 && c.fence == 1);
  np_event ev[3] = {
      {.seq = 1, .kind = 1, .version = 1, .head = str("h1"), .body = str("b1")},
      {.seq = 2, .kind = -5, .version = 2, .head = str("")},
      {.seq = 3, .kind = 3, .version = 1, .head = str("h3"), .body = big}};
  CHECK("three events are appended at once",
        st->ops->append(st, &c, ev, 3, NEAP_DURABLE_POWER, &e) == NEAP_OK);
  CHECK("the claim keeps up", c.last_seq == 3);
  CHECK("they are read", read_all(st, "t", "s", 1, &s, &e) == NEAP_OK && s.events == 3);
  CHECK("bytes are as written", s.text.n == 11 + 5000 + 1 &&
                                    memcmp(s.text.p, "h1|b1;|;h3|", 11) == 0 &&
                                    memcmp(s.text.p + 11, big.p, 5000) == 0);
  CHECK("reading from 3 gives the last",
        read_all(st, "t", "s", 3, &s, &e) == NEAP_OK && s.events == 1 && s.first == 3);
  CHECK("reading beyond the end gives nothing",
        read_all(st, "t", "s", 4, &s, &e) == NEAP_OK && s.events == 0);
  CHECK("a session that does not exist has no events",
        read_all(st, "t", "none", 1, &s, &e) == NEAP_OK && s.events == 0);
  s.stop_at = 2;
  CHECK("a callback's code stops the reading and is returned",
        read_all(st, "t", "s", 1, &s, &e) == NEAP_E_LIMIT && s.events == 2);
  CHECK("the check is clean", faults(st, &e) == 0);
  np_buf_free(&s.text);
  free_body(big);
}

static void refuses_misuse(np_store *st) {
  np_err e;
  np_claim c, r;
  seen s = seen_new();
  char long_name[600];
  memset(long_name, 'x', sizeof long_name);
  st->ops->claim(st, str(""), str("s"), false, &c, &e);
  add(st, &c, str("1"), str(""), NEAP_DURABLE_PROCESS, &e);
  np_event gap = {.seq = 3}, again = {.seq = 1}, two[2] = {{.seq = 2}, {.seq = 4}};
  CHECK("a gap is misuse",
        st->ops->append(st, &c, &gap, 1, NEAP_DURABLE_PROCESS, &e) == NEAP_E_MISUSE);
  CHECK("the error names both", strstr(e.text, "event 3") && is_helpful(&e));
  CHECK("a seq twice is misuse",
        st->ops->append(st, &c, &again, 1, NEAP_DURABLE_PROCESS, &e) == NEAP_E_MISUSE);
  CHECK("a gap inside the list is misuse",
        st->ops->append(st, &c, two, 2, NEAP_DURABLE_PROCESS, &e) == NEAP_E_MISUSE);
  CHECK("nothing was written",
        read_all(st, "", "s", 1, &s, &e) == NEAP_OK && s.events == 1 && c.last_seq == 1);
  np_claim copy = c;
  add(st, &c, str("2"), str(""), NEAP_DURABLE_PROCESS, &e);
  CHECK("a copied claim that lags behind is misuse",
        add(st, &copy, str("x"), str(""), NEAP_DURABLE_PROCESS, &e) == NEAP_E_MISUSE);
  CHECK("appending nothing is fine",
        st->ops->append(st, &c, NULL, 0, NEAP_DURABLE_PROCESS, &e) == NEAP_OK);
  CHECK("a reader of no session is told so",
        st->ops->claim(st, str("x"), str("s"), true, &r, &e) == NEAP_E_NOTFOUND &&
            is_helpful(&e));
  CHECK("a reader sees the end of the log",
        st->ops->claim(st, str(""), str("s"), true, &r, &e) == NEAP_OK &&
            r.last_seq == 2);
  CHECK("a reader may not append",
        add(st, &r, str("x"), str(""), NEAP_DURABLE_PROCESS, &e) == NEAP_E_READONLY);
  CHECK("a reader did not take the session over",
        add(st, &c, str("3"), str(""), NEAP_DURABLE_PROCESS, &e) == NEAP_OK);
  CHECK("a session needs a name",
        st->ops->claim(st, str(""), str(""), false, &r, &e) == NEAP_E_ARG);
  CHECK("a long name is refused", st->ops->claim(st, str(""), np_str_of(long_name, 513),
                                                 false, &r, &e) == NEAP_E_ARG);
  CHECK("a NUL in a name is refused",
        st->ops->claim(st, np_str_of("a\0b", 3), str("s"), false, &r, &e) == NEAP_E_ARG);
  np_event large = {.seq = 4, .body = {"", NP_STORE_BODY_MAX + 1}};
  CHECK("a body over the limit is refused before it is touched",
        st->ops->append(st, &c, &large, 1, NEAP_DURABLE_PROCESS, &e) == NEAP_E_LIMIT);
  np_buf_free(&s.text);
}

static void fences(np_store *st) {
  np_err e;
  np_claim a, b;
  seen s = seen_new();
  static const neap_durable all[] = {NEAP_DURABLE_PROCESS, NEAP_DURABLE_POWER,
                                     NEAP_DURABLE_BATCH, NEAP_DURABLE_MEMORY};
  st->ops->claim(st, str("t"), str("s"), false, &a, &e);
  add(st, &a, str("a1"), str("x"), NEAP_DURABLE_PROCESS, &e);
  add(st, &a, str("a2"), str("y"), NEAP_DURABLE_BATCH, &e);
  CHECK("a second claim sees the whole log, also what was held back",
        st->ops->claim(st, str("t"), str("s"), false, &b, &e) == NEAP_OK &&
            b.last_seq == 2);
  CHECK("its fence is higher", b.fence > a.fence);
  for (size_t i = 0; i < NP_COUNT(all); i++) {
    CHECK("the first claim's append is fenced",
          add(st, &a, str("a3"), str("z"), all[i], &e) == NEAP_E_FENCED &&
              is_helpful(&e));
  }
  CHECK("its last_seq is unchanged", a.last_seq == 2);
  CHECK("nothing was written",
        read_all(st, "t", "s", 1, &s, &e) == NEAP_OK && s.events == 2);
  CHECK("the second goes on",
        add(st, &b, str("b3"), str("z"), NEAP_DURABLE_PROCESS, &e) == NEAP_OK);
  CHECK("another tenant's claim of the same name fences nobody",
        st->ops->claim(st, str("u"), str("s"), false, &a, &e) == NEAP_OK &&
            a.last_seq == 0 &&
            add(st, &b, str("b4"), str(""), NEAP_DURABLE_PROCESS, &e) == NEAP_OK);
  np_buf_free(&s.text);
}

static void keeps_content(np_store *st) {
  np_err e;
  uint8_t hash[NP_SHA256], again[NP_SHA256], none[NP_SHA256] = {1};
  np_buf out;
  np_buf_init(&out, libc);
  np_buf_adds(&out, "before ");
  CHECK("content is put", st->ops->put(st, str("t"), str("hello"), hash, &e) == NEAP_OK);
  CHECK("and got by its hash, appended",
        st->ops->get(st, str("t"), hash, &out, &e) == NEAP_OK &&
            np_str_is(np_buf_str(&out), "before hello"));
  CHECK("putting it again changes nothing",
        st->ops->put(st, str("t"), str("hello"), again, &e) == NEAP_OK &&
            memcmp(hash, again, sizeof hash) == 0);
  CHECK("an unknown hash is not found",
        st->ops->get(st, str("t"), none, &out, &e) == NEAP_E_NOTFOUND && is_helpful(&e));
  np_buf_clear(&out);
  CHECK("empty content is content",
        st->ops->put(st, str("t"), str(""), hash, &e) == NEAP_OK &&
            st->ops->get(st, str("t"), hash, &out, &e) == NEAP_OK && out.n == 0);
  np_buf_free(&out);
}

/* The body of `size` bytes in two sessions and as content, then purged. */
static void purge_one(np_store *st, size_t size) {
  np_err e;
  np_claim a, b;
  seen s = seen_new();
  uint8_t hash[NP_SHA256];
  np_buf out;
  np_buf_init(&out, libc);
  np_str body = make_body(size, 9);
  st->ops->claim(st, str("t"), str("a"), false, &a, &e);
  st->ops->claim(st, str("t"), str("b"), false, &b, &e);
  add(st, &a, str("h"), body, NEAP_DURABLE_PROCESS, &e);
  add(st, &b, str("h"), body, NEAP_DURABLE_BATCH, &e);
  np_sha256(body, hash);
  CHECK("another tenant cannot purge it",
        st->ops->purge(st, str("u"), hash, &e) == NEAP_E_NOTFOUND);
  CHECK("the owner can", st->ops->purge(st, str("t"), hash, &e) == NEAP_OK);
  CHECK("both events remain, without it",
        read_all(st, "t", "a", a.last_seq, &s, &e) == NEAP_OK && s.purged == 1 &&
            np_str_is(np_buf_str(&s.text), "h|;") &&
            read_all(st, "t", "b", b.last_seq, &s, &e) == NEAP_OK && s.purged == 1);
  CHECK("the content is told to be purged",
        st->ops->get(st, str("t"), hash, &out, &e) == NEAP_E_PURGED && is_helpful(&e));
  CHECK("purging twice is fine", st->ops->purge(st, str("t"), hash, &e) == NEAP_OK);
  CHECK("when it comes again, it is kept again",
        add(st, &a, str("h"), body, NEAP_DURABLE_PROCESS, &e) == NEAP_OK &&
            read_all(st, "t", "a", a.last_seq, &s, &e) == NEAP_OK && s.purged == 0 &&
            s.text.n == size + 3);
  CHECK("and the old event stays purged",
        read_all(st, "t", "a", a.last_seq - 1, &s, &e) == NEAP_OK && s.purged == 1);
  CHECK("the check is clean", faults(st, &e) == 0);
  np_buf_free(&out);
  np_buf_free(&s.text);
  free_body(body);
}

static void purges(np_store *st) {
  static const size_t sizes[] = {1, 100, NP_STORE_INLINE - 1, NP_STORE_INLINE, 20000};
  for (size_t i = 0; i < NP_COUNT(sizes); i++) purge_one(st, sizes[i]);
}

static neap_rc add_name(void *ctx, const np_session_row *row) {
  np_buf *b = ctx;
  np_buf_add(b, row->name);
  np_buf_addc(b, '=');
  np_buf_int(b, row->events);
  np_buf_addc(b, ' ');
  return NEAP_OK;
}

static void separates_tenants(np_store *st) {
  np_err e;
  np_claim c;
  seen s = seen_new();
  uint8_t hash[NP_SHA256];
  np_buf out;
  np_buf_init(&out, libc);
  np_str body = make_body(3000, 4);
  static const char *const names[] = {"b", "a", "a\xC3\xA9", "a0"};
  for (size_t i = 0; i < NP_COUNT(names); i++) {
    st->ops->claim(st, str("one"), str(names[i]), false, &c, &e);
    for (size_t k = 0; k <= i; k++) add(st, &c, str("h"), body, NEAP_DURABLE_PROCESS, &e);
  }
  add(st, &c, str("h"), body, NEAP_DURABLE_MEMORY, &e);
  np_sha256(body, hash);
  st->ops->sessions(st, str("one"), add_name, &out, &e);
  CHECK("sessions come in order of their bytes, with what is held back",
        np_str_is(np_buf_str(&out), "a=2 a0=5 a\xC3\xA9=3 b=1 "));
  np_buf_clear(&out);
  static const char *const others[] = {"", "on", "onee", "One", "two"};
  for (size_t i = 0; i < NP_COUNT(others); i++) {
    np_str t = str(others[i]);
    CHECK("another tenant lists nothing",
          st->ops->sessions(st, t, add_name, &out, &e) == NEAP_OK && out.n == 0);
    CHECK("reads nothing",
          read_all(st, others[i], "a", 1, &s, &e) == NEAP_OK && !s.events);
    CHECK("claims nothing to read",
          st->ops->claim(st, t, str("a"), true, &c, &e) == NEAP_E_NOTFOUND);
    CHECK("gets nothing", st->ops->get(st, t, hash, &out, &e) == NEAP_E_NOTFOUND);
    CHECK("purges nothing", st->ops->purge(st, t, hash, &e) == NEAP_E_NOTFOUND);
  }
  CHECK("the owner still has it",
        st->ops->get(st, str("one"), hash, &out, &e) == NEAP_OK);
  np_buf_free(&out);
  np_buf_free(&s.text);
  free_body(body);
}

static neap_rc take_apart(void *ctx, const np_event *ev, bool purged) {
  np_buf *b = ctx;
  np_buf_int(b, ev->seq);
  np_buf_addc(b, ev->apart ? 'a' : purged ? 'p' : '-');
  np_buf_int(b, (int64_t)ev->body.n);
  np_buf_addc(b, ev->hash[0] || ev->hash[1] || ev->gone.n ? 'h' : '.');
  np_buf_add(b, ev->head);
  np_buf_addc(b, ' ');
  return NEAP_OK;
}

static bool saw(np_store *st, int kind, int64_t from, const char *want) {
  np_buf b;
  np_err e;
  np_buf_init(&b, libc);
  neap_rc rc =
      kind < 0 ? st->ops->read(st, str("t"), str("ap"), from, take_apart, &b, &e)
               : st->ops->heads(st, str("t"), str("ap"), kind, from, take_apart, &b, &e);
  bool same = rc == NEAP_OK && np_str_is(np_buf_str(&b), want);
  if (!same) fprintf(stderr, "%s: %.*s\n", st->ops->name, (int)b.n, b.p);
  np_buf_free(&b);
  return same;
}

static bool lets_go(np_store *st, const char *tenant, const uint8_t *hash,
                    int64_t claims) {
  np_release one = {.seen = claims};
  np_err e;
  size_t gone = 7;
  memcpy(one.hash, hash, sizeof one.hash);
  neap_rc rc = st->ops->release(st, str(tenant), &one, 1, &gone, &e);
  CHECK("what may be let go is counted", rc == NEAP_OK && gone <= 1);
  return gone == 1;
}

/* Bodies that are apart: the log gives their hash, whatever their size; heads come alone. */
static void keeps_apart(np_store *st) {
  np_err e;
  np_claim c;
  uint8_t none[NP_SHA256] = {7};
  np_buf out;
  np_buf_init(&out, libc);
  np_str big = make_body(300000, 2);
  st->ops->claim(st, str("t"), str("ap"), false, &c, &e);
  np_event ev[5] = {
      {.seq = 1, .kind = 4, .head = str("A"), .body = str("xy"), .apart = true},
      {.seq = 2, .kind = 5, .head = str("B"), .body = str("in")},
      {.seq = 3, .kind = 4, .head = str("C"), .body = big, .apart = true},
      {.seq = 4, .kind = 4, .head = str("D"), .apart = true},
      {.seq = 5, .kind = 4, .head = str("E"), .apart = true}};
  np_sha256(big, ev[4].hash);
  CHECK("bodies are kept apart",
        st->ops->append(st, &c, ev, 4, NEAP_DURABLE_BATCH, &e) == NEAP_OK);
  for (int written = 0; written < 2; written++) {
    CHECK("the log has their hashes", saw(st, -1, 1, "1a0hA 2-2.B 3a0hC 4-0.D "));
    CHECK("heads have no bodies", saw(st, 0, 2, "2-0.B 3a0hC 4-0.D "));
    CHECK("heads of one kind", saw(st, 4, 1, "1a0hA 3a0hC 4-0.D ") &&
                                   saw(st, 5, 1, "2-0.B ") && saw(st, 5, 3, "") &&
                                   saw(st, 6, 1, ""));
    st->ops->flush(st, &e);
  }
  uint8_t hash[NP_SHA256];
  np_sha256(str("xy"), hash);
  CHECK("a small one is content too",
        st->ops->get(st, str("t"), hash, &out, &e) == NEAP_OK &&
            np_str_is(np_buf_str(&out), "xy"));
  CHECK("one that is there can be named",
        st->ops->append(st, &c, &ev[4], 1, NEAP_DURABLE_BATCH, &e) == NEAP_OK &&
            saw(st, -1, 5, "5a0hE "));
  np_event bad = {.seq = 6, .kind = 4, .apart = true};
  memcpy(bad.hash, none, sizeof none);
  CHECK("one that is not cannot",
        st->ops->append(st, &c, &bad, 1, NEAP_DURABLE_MEMORY, &e) == NEAP_E_NOTFOUND &&
            is_helpful(&e) && c.last_seq == 5);
  np_event held = {.seq = 6, .kind = 1, .head = str("H"), .body = big};
  st->ops->append(st, &c, &held, 1, NEAP_DURABLE_PROCESS, &e);
  CHECK("nothing goes when others want it than were looked at",
        !lets_go(st, "t", ev[4].hash, 1) && !lets_go(st, "t", ev[4].hash, 3) &&
            saw(st, 0, 3, "3a0hC 4-0.D 5a0hE 6-0.H "));
  CHECK("what another event holds stays when it is released",
        lets_go(st, "t", ev[4].hash, 2) && saw(st, 0, 3, "3p0hC 4-0.D 5p0hE 6-0.H ") &&
            st->ops->get(st, str("t"), ev[4].hash, &out, &e) == NEAP_OK);
  CHECK("and cannot be released twice, nor what is not there",
        !lets_go(st, "t", ev[4].hash, 0) && !lets_go(st, "u", hash, 0));
  CHECK("what none holds goes",
        lets_go(st, "t", hash, 0) &&
            saw(st, 0, 1, "1p0hA 2-0.B 3p0hC 4-0.D 5p0hE 6-0.H ") &&
            st->ops->get(st, str("t"), hash, &out, &e) == NEAP_E_PURGED);
  bad.seq = 7;
  CHECK("purging takes it from all that name it",
        st->ops->purge(st, str("t"), ev[4].hash, &e) == NEAP_OK &&
            saw(st, 0, 1, "1p0hA 2-0.B 3p0hC 4-0.D 5p0hE 6p0hH "));
  memcpy(bad.hash, ev[4].hash, sizeof none);
  CHECK("and then it cannot be named",
        st->ops->append(st, &c, &bad, 1, NEAP_DURABLE_PROCESS, &e) == NEAP_E_PURGED);
  CHECK("the check is clean", faults(st, &e) == 0);
  np_release twice[2] = {{.seen = 0}, {.seen = 0}};
  size_t gone = 7;
  CHECK("a list is let go in order, each once",
        st->ops->release(st, str("t"), twice, 2, &gone, &e) == NEAP_E_MISUSE && !gone &&
            is_helpful(&e) && !st->ops->release(st, str("t"), twice, 0, &gone, &e));
  np_buf_free(&out);
  free_body(big);
}

static void has_a_secret(np_store *st) {
  np_err e;
  uint8_t a[NP_SHA256], b[NP_SHA256], zero[NP_SHA256] = {0};
  CHECK("there is a secret",
        st->ops->secret(st, a, &e) == NEAP_OK && memcmp(a, zero, 32));
  CHECK("it stays", st->ops->secret(st, b, &e) == NEAP_OK && memcmp(a, b, 32) == 0);
}

/* A callback may use the store: it is called without the lock. */
static neap_rc append_more(void *ctx, const np_event *ev, bool purged) {
  void **both = ctx;
  np_claim *c = both[1];
  (void)purged;
  return ev->seq > 3 ? NEAP_OK
                     : add(both[0], c, str("m"), str("more"), NEAP_DURABLE_PROCESS, NULL);
}

static void lets_callbacks_write(np_store *st) {
  np_err e;
  np_claim c;
  st->ops->claim(st, str("t"), str("s"), false, &c, &e);
  add(st, &c, str("1"), str(""), NEAP_DURABLE_PROCESS, &e);
  void *both[] = {st, &c};
  CHECK("reading while appending sees what was appended",
        st->ops->read(st, str("t"), str("s"), 1, append_more, both, &e) == NEAP_OK &&
            c.last_seq == 4);
}

static void *append_many(void *arg) {
  np_store *st = arg;
  np_claim c;
  char name[32];
  snprintf(name, sizeof name, "thread-%p", (void *)&c);
  if (st->ops->claim(st, str("t"), str(name), false, &c, NULL) != NEAP_OK) return arg;
  for (int i = 0; i < 60; i++) {
    np_str body = make_body(i % 3 ? 100 : 2000, (unsigned)i);
    neap_rc rc = add(st, &c, str("h"), body,
                     i % 2 ? NEAP_DURABLE_PROCESS : NEAP_DURABLE_BATCH, NULL);
    free_body(body);
    if (rc != NEAP_OK) return arg;
  }
  return NULL;
}

static neap_rc sum_events(void *ctx, const np_session_row *row) {
  *(int64_t *)ctx += row->events;
  return NEAP_OK;
}

static void serves_threads(np_store *st) {
  pthread_t t[4];
  void *failed = NULL;
  int64_t sum = 0;
  np_err e;
  for (size_t i = 0; i < 4; i++) pthread_create(&t[i], NULL, append_many, st);
  for (size_t i = 0; i < 4; i++) {
    void *out;
    pthread_join(t[i], &out);
    if (out) failed = out;
  }
  st->ops->sessions(st, str("t"), sum_events, &sum, &e);
  CHECK("four threads append to their sessions through one store", !failed && sum == 240);
  CHECK("the check is clean", st->ops->flush(st, &e) == NEAP_OK && faults(st, &e) == 0);
}

static void (*const behaviours[])(np_store *) = {
    appends_and_reads, refuses_misuse, fences,      keeps_content,        purges,
    separates_tenants, has_a_secret,   keeps_apart, lets_callbacks_write, serves_threads,
};

static void run_behaviours(opener open) {
  for (size_t i = 0; i < NP_COUNT(behaviours); i++) {
    np_store *st;
    np_err e;
    neap_rc rc = open(libc, &st, &e);
    CHECK("the store opens", rc == NEAP_OK);
    if (rc != NEAP_OK) return;
    behaviours[i](st);
    CHECK("the store closes", st->ops->close(st, &e) == NEAP_OK);
    remove_file();
  }
}

/* ---- random operations against a model --------------------------------------------- */

enum { TENANTS = 3, SESSIONS = 3, BODIES = 12, EVENTS = 400 };

typedef struct model {
  struct {
    int n, body[EVENTS];
    bool purged[EVENTS], made;
  } log[TENANTS][SESSIONS];
  int content[TENANTS][BODIES]; /* 0 absent, 1 there, 2 purged */
  np_str body[BODIES];
  np_claim claim[TENANTS][SESSIONS];
} model;

static const char *const tenant_name[TENANTS] = {"", "x", "xx"};
static const char *const session_name[SESSIONS] = {"s", "s1", "t"};

static neap_rc do_append(model *m, np_store *st, int t, int s, int b, neap_durable d) {
  if (m->log[t][s].n == EVENTS) return NEAP_OK;
  if (!m->claim[t][s].fence) {
    neap_rc rc = st->ops->claim(st, str(tenant_name[t]), str(session_name[s]), false,
                                &m->claim[t][s], NULL);
    if (rc != NEAP_OK || m->claim[t][s].last_seq != m->log[t][s].n) return NEAP_E_CORRUPT;
    m->log[t][s].made = true;
  }
  neap_rc rc = add(st, &m->claim[t][s], str("h"), m->body[b], d, NULL);
  if (rc != NEAP_OK) return rc;
  m->log[t][s].body[m->log[t][s].n++] = b;
  if (m->body[b].n >= NP_STORE_INLINE) m->content[t][b] = 1;
  return NEAP_OK;
}

static bool do_purge(model *m, np_store *st, int t, int b) {
  bool held = m->content[t][b] != 0;
  uint8_t hash[NP_SHA256];
  for (int s = 0; s < SESSIONS; s++) {
    for (int i = 0; i < m->log[t][s].n; i++) {
      if (m->log[t][s].body[i] != b || m->body[b].n == 0 || m->log[t][s].purged[i])
        continue;
      m->log[t][s].purged[i] = held = true;
    }
  }
  if (held) m->content[t][b] = 2;
  np_sha256(m->body[b], hash);
  neap_rc rc = st->ops->purge(st, str(tenant_name[t]), hash, NULL);
  return rc == (held ? NEAP_OK : NEAP_E_NOTFOUND);
}

static bool logs_equal(model *m, np_store *st, int t, int s) {
  seen got = seen_new();
  np_buf want;
  np_buf_init(&want, libc);
  neap_rc rc = read_all(st, tenant_name[t], session_name[s], 1, &got, NULL);
  int64_t purged = 0;
  for (int i = 0; i < m->log[t][s].n; i++) {
    purged += m->log[t][s].purged[i];
    np_buf_adds(&want, "h|");
    if (!m->log[t][s].purged[i]) np_buf_add(&want, m->body[m->log[t][s].body[i]]);
    np_buf_adds(&want, ";");
  }
  bool same = rc == NEAP_OK && got.events == m->log[t][s].n && got.purged == purged &&
              np_str_eq(np_buf_str(&got.text), np_buf_str(&want));
  np_buf_free(&want);
  np_buf_free(&got.text);
  return same;
}

static bool content_equal(model *m, np_store *st, int t, int b) {
  static const neap_rc want[] = {NEAP_E_NOTFOUND, NEAP_OK, NEAP_E_PURGED};
  uint8_t hash[NP_SHA256];
  np_buf out;
  np_buf_init(&out, libc);
  np_sha256(m->body[b], hash);
  neap_rc rc = st->ops->get(st, str(tenant_name[t]), hash, &out, NULL);
  bool same = rc == want[m->content[t][b]] &&
              (rc != NEAP_OK || np_str_eq(np_buf_str(&out), m->body[b]));
  np_buf_free(&out);
  return same;
}

static bool equal(model *m, np_store *st) {
  for (int t = 0; t < TENANTS; t++) {
    for (int s = 0; s < SESSIONS; s++) {
      if (!logs_equal(m, st, t, s)) return false;
    }
    for (int b = 0; b < BODIES; b++) {
      if (!content_equal(m, st, t, b)) return false;
    }
  }
  return true;
}

static bool do_one(model *m, np_store *st, unsigned long long *r) {
  int t = (int)(check_random(r) % TENANTS), s = (int)(check_random(r) % SESSIONS);
  int b = (int)(check_random(r) % BODIES), what = (int)(check_random(r) % 100);
  uint8_t hash[NP_SHA256];
  if (what < 70) {
    return do_append(m, st, t, s, b, (neap_durable)(check_random(r) % 4)) == NEAP_OK;
  }
  if (what < 80) {
    m->content[t][b] = 1;
    return st->ops->put(st, str(tenant_name[t]), m->body[b], hash, NULL) == NEAP_OK;
  }
  if (what < 84) return do_purge(m, st, t, b);
  if (what < 90) m->claim[t][s].fence = 0; /* claimed again at the next append */
  if (what < 93) return st->ops->flush(st, NULL) == NEAP_OK;
  return what < 96 ? logs_equal(m, st, t, s) : content_equal(m, st, t, b);
}

static void run_model(opener open, bool reopens, unsigned long long seed) {
  static const size_t sizes[BODIES] = {0,    1,    5,    40,   300,  1022,
                                       1023, 1024, 1025, 4000, 9000, 70000};
  model *m = calloc(1, sizeof *m);
  np_store *st;
  np_err e;
  unsigned long long r = seed;
  if (!m || open(libc, &st, &e) != NEAP_OK) exit(2);
  for (unsigned b = 0; b < BODIES; b++) m->body[b] = make_body(sizes[b], b);
  bool ok = true;
  for (int i = 0; ok && i < 1500; i++) {
    ok = do_one(m, st, &r);
    if (!ok || !reopens || i % 300 != 299) continue;
    ok = st->ops->close(st, &e) == NEAP_OK && open(libc, &st, &e) == NEAP_OK &&
         equal(m, st);
    memset(m->claim, 0, sizeof m->claim);
  }
  CHECK("random operations do what the model does", ok);
  CHECK("the store equals the model at the end", equal(m, st));
  CHECK("the check is clean", st->ops->flush(st, &e) == NEAP_OK && faults(st, &e) == 0);
  st->ops->close(st, &e);
  for (int b = 0; b < BODIES; b++) free_body(m->body[b]);
  free(m);
  remove_file();
}

/* ---- memory that runs out ---------------------------------------------------------- */

typedef struct limited {
  long left, live;
} limited;

static void *lim_malloc(void *ctx, size_t n) {
  limited *l = ctx;
  if (l->left-- <= 0) return NULL;
  l->live++;
  return malloc(n);
}

static void *lim_realloc(void *ctx, void *p, size_t old, size_t n) {
  limited *l = ctx;
  (void)old;
  return l->left-- <= 0 ? NULL : realloc(p, n);
}

static void lim_free(void *ctx, void *p) {
  ((limited *)ctx)->live--;
  free(p);
}

/* A content in pieces: a window of it, the whole, an event that names it, released again. */
static neap_rc use_large(np_store *st, np_claim *c, np_err *e) {
  np_str large = make_body(300000, 8);
  np_buf out, heads;
  np_window w = {.by_lines = true, .from = 1, .to = 2}, cut = {.from = 9, .to = 70000};
  np_event ev = {.seq = c->last_seq + 1, .kind = 7, .apart = true};
  np_buf_init(&out, st->alloc);
  np_buf_init(&heads, libc);
  neap_rc rc = st->ops->put(st, str("t"), large, ev.hash, e);
  if (rc == NEAP_OK) rc = st->ops->window(st, str("t"), ev.hash, &w, &out, e);
  if (rc == NEAP_OK) rc = st->ops->window(st, str("t"), ev.hash, &cut, &out, e);
  np_buf_clear(&out);
  if (rc == NEAP_OK) rc = st->ops->get(st, str("t"), ev.hash, &out, e);
  if (rc == NEAP_OK && !np_str_eq(np_buf_str(&out), large)) rc = NEAP_E_CORRUPT;
  if (rc == NEAP_OK) rc = st->ops->append(st, c, &ev, 1, NEAP_DURABLE_PROCESS, e);
  if (rc == NEAP_OK)
    rc = st->ops->heads(st, str("t"), str("s"), 7, 1, take_apart, &heads, e);
  np_release go = {.seen = 0};
  size_t gone;
  memcpy(go.hash, ev.hash, sizeof go.hash);
  if (rc == NEAP_OK) rc = st->ops->release(st, str("t"), &go, 1, &gone, e);
  np_buf_free(&out);
  np_buf_free(&heads);
  free_body(large);
  return rc;
}

/* Uses every function; returns the first failure. Whatever fails, the log has no gap. */
static neap_rc use_all(np_store *st, np_err *e) {
  np_claim c;
  seen s = seen_new();
  uint8_t hash[NP_SHA256];
  np_buf out;
  np_buf_init(&out, st->alloc);
  np_str body = make_body(3000, 3);
  neap_rc rc = st->ops->claim(st, str("t"), str("s"), false, &c, e);
  if (rc == NEAP_OK) rc = add(st, &c, str("1"), body, NEAP_DURABLE_PROCESS, e);
  if (rc == NEAP_OK) rc = add(st, &c, str("2"), body, NEAP_DURABLE_BATCH, e);
  if (rc == NEAP_OK) rc = add(st, &c, str("3"), str("x"), NEAP_DURABLE_MEMORY, e);
  if (rc == NEAP_OK) rc = read_all(st, "t", "s", 1, &s, e);
  if (rc == NEAP_OK && s.events != c.last_seq) rc = NEAP_E_CORRUPT;
  if (rc == NEAP_OK) rc = st->ops->put(st, str("t"), str("put"), hash, e);
  if (rc == NEAP_OK) rc = st->ops->get(st, str("t"), hash, &out, e);
  np_buf_clear(&out);
  if (rc == NEAP_OK) rc = st->ops->sessions(st, str("t"), add_name, &out, e);
  if (rc == NEAP_OK) rc = use_large(st, &c, e);
  np_sha256(str("x"), hash);
  if (rc == NEAP_OK) rc = st->ops->purge(st, str("t"), hash, e);
  np_buf_free(&out);
  np_buf_free(&s.text);
  free_body(body);
  return rc;
}

static void run_out_of_memory(opener open) {
  int failures = 0;
  for (long n = 0;; n++) {
    limited l = {.left = n};
    neap_alloc a = {lim_malloc, lim_realloc, lim_free, &l};
    np_store *st = NULL;
    np_err e;
    neap_rc rc = open(&a, &st, &e);
    if (rc == NEAP_OK) rc = use_all(st, &e);
    if (rc != NEAP_OK && rc != NEAP_E_MEMORY) failures++;
    l.left = 1000000;
    if (st && faults(st, &e) != 0) failures++;
    if (st && st->ops->close(st, &e) != NEAP_OK) failures++;
    remove_file();
    if (l.live != 0) failures++;
    if (rc == NEAP_OK || n > 200) break;
  }
  CHECK("each allocation that fails is told as memory, nothing leaks or breaks",
        !failures);
}

int main(void) {
  unsigned long long seed = check_seed(20240611);
  bool has_shm = access("/dev/shm", W_OK) == 0; /* many small files: no disk needed */
  snprintf(dir, sizeof dir, "%s/neap-store-XXXXXX", has_shm ? "/dev/shm" : "/tmp");
  if (!mkdtemp(dir)) return 2;
  snprintf(path, sizeof path, "%s/store.db", dir);
  run_behaviours(open_memory);
  run_behaviours(open_file);
  for (unsigned long long i = 0; i < 4; i++) {
    run_model(open_memory, false, seed + i);
    run_model(open_file, true, seed + i);
  }
  run_out_of_memory(open_memory);
  run_out_of_memory(open_file);
  rmdir(dir);
  return check_done();
}
