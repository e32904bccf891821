/*
** Tests of artifacts through neap.h: entries that no prompt shows, read by windows, with an end
** to their time, purged for a tenant; beside messages, after a restart, from two handles.
** next: test_engine.c
*/
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <unistd.h>

#include "check.h"
#include "engine/artifact.h"

static char dir[64], path[128];

static neap *open_engine(const char *store, const char *tenant, int flags) {
  neap *n = NULL;
  neap_config c = {.size = sizeof c, .store = store, .tenant = tenant};
  c.flags = flags | NEAP_FIXED_SECRET;
  if (neap_open(&c, &n)) fprintf(stderr, "open: %s\n", neap_error(n));
  return n;
}

static neap_session *open_session(neap *n, const char *name, int flags) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o, .flags = flags, .window = 20000};
  if (neap_session_open(n, name, &o, &s)) fprintf(stderr, "session: %s\n", neap_error(n));
  return s;
}

static void remove_file(void) {
  static const char *const ends[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < NP_COUNT(ends); i++) {
    char name[160];
    snprintf(name, sizeof name, "%s%s", path, ends[i]);
    unlink(name);
  }
}

static neap_str str(const char *s) {
  return np_str_cstr(s);
}

/* `lines` lines that say their number. */
static np_buf numbered(int lines) {
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  for (int i = 1; i <= lines; i++) {
    np_buf_adds(&b, "line ");
    np_buf_int(&b, i);
    np_buf_adds(&b, " of a log that says nothing\n");
  }
  return b;
}

/* What the callback saw last, as text. */
typedef struct seen {
  np_buf text, bytes;
  int calls;
} seen;

static seen seen_new(void) {
  seen s = {0};
  np_buf_init(&s.text, &np_alloc_libc);
  np_buf_init(&s.bytes, &np_alloc_libc);
  return s;
}

static void see(void *ctx, const neap_artifact *a, neap_str bytes) {
  static const char *const states[] = {"there", "expired", "purged"};
  seen *s = ctx;
  s->calls++;
  np_buf_add(&s->text, a->session);
  np_buf_addc(&s->text, '/');
  np_buf_int(&s->text, a->id);
  np_buf_addc(&s->text, ' ');
  np_buf_int(&s->text, a->bytes);
  np_buf_addc(&s->text, ' ');
  np_buf_int(&s->text, a->lines);
  np_buf_addc(&s->text, ' ');
  np_buf_add(&s->text, a->tool);
  np_buf_addc(&s->text, '|');
  np_buf_add(&s->text, a->query);
  np_buf_addc(&s->text, '|');
  np_buf_add(&s->text, a->path);
  np_buf_addc(&s->text, '|');
  np_buf_add(&s->text, a->kind);
  np_buf_addc(&s->text, ' ');
  np_buf_adds(&s->text, states[a->state]);
  np_buf_addc(&s->text, ';');
  np_buf_clear(&s->bytes);
  np_buf_add(&s->bytes, bytes);
}

static void forget(seen *s) {
  np_buf_free(&s->text);
  np_buf_free(&s->bytes);
  *s = seen_new();
}

/* Gives the bytes; "error CODE" when there are none. */
static np_str get(neap *n, const char *session, int64_t id, neap_window w, seen *s) {
  static char text[40];
  w.size = sizeof w;
  forget(s);
  neap_rc rc = neap_artifact_get(n, session, id, &w, see, s);
  if (!rc) return np_buf_str(&s->bytes);
  snprintf(text, sizeof text, "error %s", neap_rc_name(rc));
  return str(text);
}

/* ---- the store --------------------------------------------------------------------- */

static void test_put_and_get(const char *store) {
  neap *n = open_engine(store, NULL, 0);
  seen s = seen_new();
  np_buf log = numbered(30000);
  int64_t id = 0;
  neap_artifact a = {.size = sizeof a,
                     .tool = str("bash"),
                     .query = str("make \"test\""),
                     .path = str("src/a.c"),
                     .kind = str("log")};
  CHECK("the first has id 1",
        !neap_artifact_put(n, NULL, np_buf_str(&log), &a, &id) && id == 1);
  CHECK("the next 2, without a word about it",
        !neap_artifact_put(n, NULL, str("small"), NULL, &id) && id == 2);
  CHECK("an empty one 3", !neap_artifact_put(n, "", str(""), NULL, &id) && id == 3);
  CHECK("another session has ids of its own",
        !neap_artifact_put(n, "other", np_str_of("a\0b", 3), NULL, &id) && id == 1);
  neap_window all = {0}, lines = {.first_line = 29999, .last_line = 30001},
              one = {.first_line = 1}, bytes = {.from = 5, .to = 8}, rest = {.from = 3};
  CHECK("the whole", np_str_eq(get(n, "files", 1, all, &s), np_buf_str(&log)));
  CHECK("some lines at its end",
        np_str_is(get(n, NULL, 1, lines, &s), "line 29999 of a log that says nothing\n"
                                              "line 30000 of a log that says nothing\n"));
  CHECK("what it is goes with it",
        np_str_is(np_buf_str(&s.text),
                  "files/1 1128894 30000 bash|make \"test\"|src/a.c|log there;"));
  one.last_line = 1;
  CHECK("one line", get(n, NULL, 1, one, &s).n == 34);
  CHECK("bytes", np_str_is(get(n, NULL, 1, bytes, &s), "1 o"));
  CHECK("bytes to the end", np_str_is(get(n, NULL, 2, rest, &s), "ll"));
  CHECK("nothing of an empty one",
        get(n, NULL, 3, all, &s).n == 0 && s.calls == 1 &&
            np_str_is(np_buf_str(&s.text), "files/3 0 0 ||| there;"));
  CHECK("any bytes", np_str_eq(get(n, "other", 1, all, &s), np_str_of("a\0b", 3)));
  neap_window back = {.from = 9, .to = 3}, zero = {.last_line = 3}, minus = {.from = -1};
  CHECK("a window without sense is refused",
        np_str_is(get(n, NULL, 1, back, &s), "error arg") &&
            np_str_is(get(n, NULL, 1, zero, &s), "error arg") &&
            np_str_is(get(n, NULL, 1, minus, &s), "error arg"));
  CHECK("no such entry, no such session",
        np_str_is(get(n, NULL, 4, all, &s), "error notfound") &&
            np_str_is(get(n, NULL, 0, all, &s), "error notfound") &&
            np_str_is(get(n, "none", 1, all, &s), "error notfound"));
  forget(&s);
  CHECK("all of them are listed",
        !neap_artifact_list(n, NULL, 0, see, &s) && s.calls == 4 &&
            np_str_find(np_buf_str(&s.text), str("other/1 3 1 ||| there;"), 0) !=
                SIZE_MAX);
  forget(&s);
  CHECK("or those of one session",
        !neap_artifact_list(n, "other", 0, see, &s) && s.calls == 1);
  CHECK("or it is said that there is none",
        neap_artifact_list(n, "none", 0, see, &s) == NEAP_E_NOTFOUND);
  neap_close(n);
  forget(&s);
  np_buf_free(&log);
}

static void test_refusals(void) {
  neap *n = open_engine(NULL, NULL, 0);
  int64_t id = 77;
  char *long_text = calloc(1, 65537);
  neap_artifact late = {.size = sizeof late, .ttl = 5}, odd = {.size = sizeof odd},
                huge = {.size = sizeof huge}, minus = {.size = sizeof minus, .ttl = -1};
  odd.path = str("a\xFF");
  minus.made = 1;
  if (long_text) memset(long_text, 'x', 65537);
  huge.query = (neap_str){long_text, 65537};
  CHECK("a time to live needs a time",
        neap_artifact_put(n, NULL, str("x"), &late, &id) == NEAP_E_ARG &&
            strstr(neap_error(n), "; "));
  CHECK("texts are UTF-8",
        neap_artifact_put(n, NULL, str("x"), &odd, &id) == NEAP_E_UTF8);
  CHECK("and not long", neap_artifact_put(n, NULL, str("x"), &huge, &id) == NEAP_E_ARG);
  CHECK("nor is a time below zero",
        neap_artifact_put(n, NULL, str("x"), &minus, &id) == NEAP_E_ARG);
  CHECK("NULL is refused",
        neap_artifact_put(n, NULL, str("x"), NULL, NULL) == NEAP_E_ARG &&
            neap_artifact_put(n, NULL, (neap_str){NULL, 4}, NULL, &id) == NEAP_E_ARG &&
            neap_artifact_get(n, NULL, 1, NULL, NULL, NULL) == NEAP_E_ARG &&
            neap_artifact_put(NULL, NULL, str("x"), NULL, &id) == NEAP_E_ARG);
  CHECK("nothing was put",
        id == 77 && neap_artifact_remove(n, NULL, 1) == NEAP_E_NOTFOUND);
  neap_session *s = open_session(n, "open", 0);
  CHECK("a session that is open takes its own",
        neap_artifact_put(n, "open", str("x"), NULL, &id) == NEAP_E_MISUSE &&
            strstr(neap_error(n), "; "));
  neap_session *bare = open_session(n, "bare", NEAP_NO_LOG);
  CHECK("one without a log takes none",
        neap_session_put(bare, str("x"), NULL, &id) == NEAP_E_MISUSE);
  neap_session_close(bare);
  neap_session_close(s);
  neap_close(n);
  free(long_text);
}

static void test_time(const char *store) {
  neap *n = open_engine(store, NULL, 0);
  seen s = seen_new();
  int64_t id = 0;
  neap_artifact a = {.size = sizeof a,
                     .tool = str("fetch"),
                     .query = str("https://example.org/a"),
                     .made = 1000000,
                     .ttl = 60};
  neap_artifact_put(n, "t", str("a page"), &a, &id);
  neap_window before = {.now = 1059999}, end = {.now = 1060000}, later = {.now = 1100500},
              unknown = {0};
  CHECK("in its time it is read", np_str_is(get(n, "t", id, before, &s), "a page"));
  CHECK("where no time is known, too", np_str_is(get(n, "t", id, unknown, &s), "a page"));
  CHECK("when it is over it is not",
        np_str_is(get(n, "t", id, end, &s), "error expired") &&
            np_str_is(get(n, "t", id, later, &s), "error expired"));
  CHECK("and it is said how to make it again",
        strstr(neap_error(n), "40 seconds ago; make it again with fetch "
                              "https://example.org/a"));
  CHECK("a list says so",
        !neap_artifact_list(n, "t", 1060000, see, &s) && s.text.n > 9 &&
            np_str_find(np_buf_str(&s.text), str("expired;"), 0) != SIZE_MAX);
  neap_session *x = open_session(n, "t", 0);
  neap_str text;
  CHECK("a session that was told no time gives it",
        !neap_session_get(x, id, NULL, &text) && np_str_is(text, "a page"));
  neap_set_now(x, 1060000);
  CHECK("one that was told does not",
        neap_session_get(x, id, NULL, &text) == NEAP_E_EXPIRED);
  CHECK(
      "one that is put now lives from now on",
      !neap_session_put(x, str("b"), &(neap_artifact){.size = sizeof a, .ttl = 1}, &id) &&
          !neap_entry_text(x, id, &text));
  end.now = 1060999;
  later.now = 1061000;
  end.size = later.size = sizeof end;
  CHECK("to the end", !neap_session_get(x, id, &end, &text) &&
                          neap_session_get(x, id, &later, &text) == NEAP_E_EXPIRED);
  neap_session_close(x);
  neap_close(n);
  forget(&s);
}

/* ---- in a session ------------------------------------------------------------------ */

static np_buf run_session(const char *store, bool artifacts, bool restart) {
  static const char *const said[] = {
      "{\"role\":\"system\",\"content\":\"Be short.\"}",
      "{\"role\":\"user\",\"content\":\"Count the lines of a.log\"}",
      "{\"role\":\"assistant\",\"content\":\"I shall look.\"}",
      "{\"role\":\"user\",\"content\":\"Do.\"}",
      "{\"role\":\"assistant\",\"content\":\"There are 30,000.\"}",
      "{\"role\":\"user\",\"content\":\"Thanks.\"}"};
  np_buf out, log = numbered(20000);
  np_buf_init(&out, &np_alloc_libc);
  neap *n = open_engine(store, NULL, 0);
  neap_session *s = open_session(n, "run", 0);
  int64_t id;
  for (size_t i = 0; i < NP_COUNT(said); i++) {
    neap_str body;
    if (artifacts && neap_session_put(s, np_buf_str(&log), NULL, &id)) exit(2);
    if (neap_append(s, str(said[i]))) exit(2);
    if (artifacts && i % 2 && neap_session_put(s, str("small"), NULL, &id)) exit(2);
    if (i % 2 == 0) continue;
    if (neap_prompt(s, &body)) fprintf(stderr, "prompt: %s\n", neap_error(n));
    else np_buf_add(&out, body);
    np_buf_addc(&out, '\n');
    if (!restart) continue;
    neap_session_close(s);
    neap_close(n);
    n = open_engine(store, NULL, 0);
    s = open_session(n, "run", 0);
  }
  if (artifacts) {
    neap_str text;
    neap_window w = {.size = sizeof w, .first_line = 19999, .last_line = 19999};
    CHECK("ids go on beside messages", id == 15);
    CHECK("an artifact of the session is read by lines",
          !neap_session_get(s, 1, &w, &text) &&
              np_str_is(text, "line 19999 of a log that says nothing\n"));
    CHECK("a message's entry has the same windows",
          !neap_session_get(s, 2, NULL, &text) && np_str_is(text, "Be short."));
    CHECK("its whole text is its bytes",
          !neap_entry_text(s, 15, &text) && np_str_is(text, "small"));
  }
  neap_session_close(s);
  neap_close(n);
  np_buf_free(&log);
  return out;
}

static void test_beside_messages(void) {
  np_buf want = run_session(NULL, false, false);
  CHECK("there is a prompt", want.n > 100);
  for (int how = 0; how < 3; how++) {
    np_buf got = run_session(how == 0 ? NULL : path, true, how == 2);
    CHECK("no prompt is another for artifacts between its messages",
          np_str_eq(np_buf_str(&got), np_buf_str(&want)));
    np_buf_free(&got);
    if (how) remove_file();
  }
  np_buf_free(&want);
}

static void test_alone(void) {
  neap *n = open_engine(NULL, NULL, 0);
  neap_session *s = open_session(n, "run", 0);
  neap_str body;
  int64_t id;
  neap_session_put(s, str("x"), NULL, &id);
  CHECK("artifacts alone make no prompt", neap_prompt(s, &body) == NEAP_E_MISUSE);
  neap_append(s, str("{\"role\":\"user\",\"content\":\"Go on\"}"));
  CHECK("the task is the first message of a user's",
        !neap_prompt(s, &body) && np_str_find(body, str("Go on"), 0) != SIZE_MAX &&
            np_log_entry(&s->log, 2)->region == NP_REGION_TASK);
  neap_close(n);
}

/* Put from outside into a session of messages: its id follows theirs, and the session goes on. */
static void test_outside(void) {
  neap *n = open_engine(path, NULL, 0);
  neap_session *s = open_session(n, "run", 0);
  seen got = seen_new();
  neap_str text;
  int64_t id;
  neap_append(s,
              str("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"one\"},"
                  "{\"type\":\"text\",\"text\":\"two\"}]}"));
  neap_session_close(s);
  CHECK("the id follows those of messages",
        !neap_artifact_put(n, "run", str("outside"), NULL, &id) && id == 3);
  CHECK("and those of artifacts",
        !neap_artifact_put(n, "run", str("again"), NULL, &id) && id == 4);
  neap_window all = {0};
  CHECK("other entries are given by their text",
        np_str_is(get(n, "run", 2, all, &got), "two"));
  s = open_session(n, "run", 0);
  CHECK("the session has them",
        !neap_entry_text(s, 3, &text) && np_str_is(text, "outside"));
  neap_append(s, str("{\"role\":\"assistant\",\"content\":\"three\"}"));
  CHECK("and goes on behind them",
        !neap_entry_text(s, 5, &text) && np_str_is(text, "three"));
  neap_close(n);
  n = open_engine(path, NULL, NEAP_READONLY);
  CHECK("a reader reads", np_str_is(get(n, "run", 4, all, &got), "again") &&
                              np_str_is(get(n, "run", 5, all, &got), "three"));
  CHECK("and puts nothing",
        neap_artifact_put(n, "run", str("x"), NULL, &id) == NEAP_E_READONLY &&
            neap_artifact_remove(n, "run", 3) == NEAP_E_READONLY);
  neap_close(n);
  forget(&got);
  remove_file();
}

static int take_line(void *ctx, neap_str text) {
  np_buf_add(ctx, text);
  return 1;
}

/* A copy, and one that was written out and read back, have the artifacts too. */
static void test_copies(const char *store) {
  neap *n = open_engine(store, NULL, 0), *m = open_engine(NULL, NULL, 0);
  np_buf lines, log = numbered(20000);
  np_buf_init(&lines, &np_alloc_libc);
  neap_session *s = open_session(n, "run", 0);
  seen got = seen_new();
  neap_window all = {0}, part = {.first_line = 15000, .last_line = 15000};
  int64_t id, gone;
  neap_append(s, str("{\"role\":\"user\",\"content\":\"Hello\"}"));
  neap_session_put(s, np_buf_str(&log), NULL, &id);
  neap_session_put(s, str("to be removed"), NULL, &gone);
  neap_session_put(s, str("ab"), NULL, &gone);
  neap_session_close(s);
  CHECK("one is removed", !neap_artifact_remove(n, "run", 3));
  CHECK("a copy shares them", !neap_session_fork(n, "run", NULL, "copy") &&
                                  np_str_is(get(n, "copy", 2, part, &got),
                                            "line 15000 of a log that says nothing\n") &&
                                  np_str_is(get(n, "copy", 4, all, &got), "ab"));
  CHECK("what was purged is purged in it",
        np_str_is(get(n, "copy", 3, all, &got), "error purged"));
  CHECK("it is written out", !neap_session_export(n, "run", take_line, &lines));
  CHECK("and read back elsewhere",
        !neap_session_import(m, np_buf_str(&lines), NULL, NULL, NULL));
  CHECK("with its artifacts",
        np_str_eq(get(m, "run", 2, all, &got), np_buf_str(&log)) &&
            np_str_is(get(m, "run", 3, all, &got), "error purged") &&
            np_str_is(get(m, "run", 4, all, &got), "ab") &&
            np_str_is(get(m, "run", 1, all, &got), "Hello"));
  neap *o = open_engine(NULL, "t", 0);
  CHECK("a session that is copied to another store takes them along",
        !neap_session_copy(n, "run", o) &&
            np_str_eq(get(o, "run", 2, all, &got), np_buf_str(&log)) &&
            np_str_is(get(o, "run", 3, all, &got), "error purged"));
  neap_close(o);
  neap_close(n);
  neap_close(m);
  np_buf_free(&lines);
  np_buf_free(&log);
  forget(&got);
}

/* What has expired is let go, unless another holds the same bytes. */
static void test_expire(const char *store) {
  neap *n = open_engine(store, NULL, 0);
  neap_artifact a = {.size = sizeof a, .made = 1000, .ttl = 1, .tool = str("date")};
  neap_artifact longer = {.size = sizeof a, .made = 1000, .ttl = 9};
  neap_window before = {.now = 1500}, late = {.now = 2500}, none = {0};
  seen s = seen_new();
  np_buf log = numbered(9000);
  int64_t x, y, z, w, count = -1;
  neap_artifact_put(n, NULL, np_buf_str(&log), &a, &x);
  neap_artifact_put(n, NULL, str("shared"), &a, &y);
  neap_artifact_put(n, "other", str("shared"), NULL, &z);
  neap_artifact_put(n, "other", np_buf_str(&log), &longer, &w);
  CHECK("before its time nothing goes", !neap_artifact_expire(n, 1500, &count) &&
                                            count == 0 && get(n, NULL, x, before, &s).n);
  CHECK("nor what another needs longer",
        !neap_artifact_expire(n, 2500, &count) && count == 0 &&
            np_str_is(get(n, NULL, x, late, &s), "error expired") &&
            get(n, "other", w, late, &s).n == log.n);
  CHECK("then it goes", !neap_artifact_expire(n, 10000, &count) && count == 1);
  late.now = 20000;
  CHECK("it is said what made it, also when its bytes are gone",
        np_str_is(get(n, NULL, x, late, &s), "error expired") &&
            strstr(neap_error(n), "again with date"));
  CHECK("the bytes are gone indeed",
        np_str_is(get(n, NULL, x, none, &s), "error purged") &&
            np_str_is(get(n, "other", w, none, &s), "error purged"));
  CHECK("what is for ever stays", np_str_is(get(n, "other", z, late, &s), "shared") &&
                                      np_str_is(get(n, NULL, y, none, &s), "shared"));
  CHECK("there is nothing more to do",
        !neap_artifact_expire(n, 20000, &count) && count == 0);
  late.now = INT64_MAX;
  CHECK("for ever has no end, not even at the last time there is",
        !neap_artifact_expire(n, INT64_MAX, &count) && count == 0 &&
            np_str_is(get(n, "other", z, late, &s), "shared"));
  CHECK("a time is needed", neap_artifact_expire(n, 0, NULL) == NEAP_E_ARG);
  neap_close(n);
  np_buf_free(&log);
  forget(&s);
}

static void *put_many(void *arg) {
  neap *n = open_engine(path, NULL, 0);
  int64_t id;
  intptr_t failed = 0;
  for (int i = 0; i < 20; i++)
    failed += neap_artifact_put(n, NULL, str(arg), NULL, &id) != NEAP_OK;
  neap_close(n);
  return (void *)failed; /* NOLINT */
}

static void test_at_once(void) {
  enum { RIVALS = 3 };
  pthread_t t[RIVALS];
  char text[RIVALS][12];
  intptr_t failed = 0;
  seen s = seen_new();
  for (int i = 0; i < RIVALS; i++) {
    snprintf(text[i], sizeof text[i], "%d", i);
    pthread_create(&t[i], NULL, put_many, text[i]);
  }
  for (int i = 0; i < RIVALS; i++) {
    void *result;
    pthread_join(t[i], &result);
    failed += (intptr_t)result;
  }
  neap *n = open_engine(path, NULL, 0);
  CHECK("several put at once, and each has an id of its own",
        failed == 0 && !neap_artifact_list(n, NULL, 0, see, &s) && s.calls == 60 &&
            np_str_find(np_buf_str(&s.text), str("files/60 "), 0) != SIZE_MAX);
  neap_close(n);
  forget(&s);
  remove_file();
}

/* ---- purging ----------------------------------------------------------------------- */

static int times_in_files(const char *mark) {
  static const char *const ends[] = {"", "-wal"};
  int n = 0;
  for (size_t i = 0; i < NP_COUNT(ends); i++) {
    char name[160], *p = NULL;
    snprintf(name, sizeof name, "%s%s", path, ends[i]);
    FILE *f = fopen(name, "rb");
    if (!f) continue;
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    p = malloc(size + 1);
    if (p && fread(p, 1, size, f) == size) {
      for (size_t at = 0;
           (at = np_str_find(np_str_of(p, size), str(mark), at)) != SIZE_MAX; at++)
        n++;
    }
    free(p);
    fclose(f);
  }
  return n;
}

static void test_purge(void) {
  static const size_t sizes[] = {30, 900, 5000, 250000, 300000, 2000000};
  static const char mark[] = "THE-SECRET-ITSELF";
  for (size_t i = 0; i < NP_COUNT(sizes); i++) {
    neap *n = open_engine(path, "one", 0), *other = open_engine(path, "two", 0);
    seen s = seen_new();
    np_buf body;
    int64_t a, b, c, d;
    neap_window all = {0};
    np_buf_init(&body, &np_alloc_libc);
    while (body.n < sizes[i]) {
      np_buf_adds(&body, body.n % 3000 < 30 ? mark : "and some more words to fill it");
      np_buf_addc(&body, '\n');
    }
    neap_artifact_put(n, NULL, np_buf_str(&body), NULL, &a);
    neap_artifact_put(n, "more", np_buf_str(&body), NULL, &b);
    neap_artifact_put(n, NULL, str("another"), NULL, &c);
    neap_artifact_put(other, NULL, np_buf_str(&body), NULL, &d);
    CHECK("the secret is in the file", times_in_files(mark) >= 2);
    CHECK("it is removed", !neap_artifact_remove(n, NULL, a));
    CHECK("it is said to be purged",
          np_str_is(get(n, NULL, a, all, &s), "error purged") &&
              strstr(neap_error(n), "; "));
    CHECK("the tenant's other session has it no more either",
          np_str_is(get(n, "more", b, all, &s), "error purged"));
    CHECK("the record of it stays",
          !neap_artifact_list(n, "more", 0, see, &s) &&
              np_str_find(np_buf_str(&s.text), str("purged;"), 0) != SIZE_MAX);
    CHECK("another artifact is as it was",
          np_str_is(get(n, NULL, c, all, &s), "another"));
    CHECK("another tenant's copy is its own",
          np_str_eq(get(other, NULL, d, all, &s), np_buf_str(&body)));
    neap_session *in = open_session(n, "more", 0);
    neap_str text;
    CHECK("its session opens, and says the same",
          in && neap_entry_text(in, b, &text) == NEAP_E_PURGED);
    CHECK("removing twice is fine", !neap_artifact_remove(n, NULL, a));
    CHECK("when the other has removed it, no byte is left",
          !neap_artifact_remove(other, NULL, d) && times_in_files(mark) == 0);
    int64_t again;
    CHECK("put again, it is there again, and the old entry stays purged",
          !neap_artifact_put(n, NULL, np_buf_str(&body), NULL, &again) &&
              np_str_eq(get(n, NULL, again, all, &s), np_buf_str(&body)) &&
              np_str_is(get(n, NULL, a, all, &s), "error purged"));
    neap_close(n);
    neap_close(other);
    np_buf_free(&body);
    forget(&s);
    remove_file();
  }
}

int main(void) {
  bool has_shm = access("/dev/shm", W_OK) == 0;
  snprintf(dir, sizeof dir, "%s/neap-artifact-XXXXXX", has_shm ? "/dev/shm" : "/tmp");
  if (!mkdtemp(dir)) return 2;
  snprintf(path, sizeof path, "%s/store.db", dir);
  test_put_and_get(NULL);
  test_put_and_get(path);
  remove_file();
  test_refusals();
  test_time(NULL);
  test_time(path);
  remove_file();
  test_beside_messages();
  test_alone();
  test_outside();
  test_expire(NULL);
  test_expire(path);
  remove_file();
  test_copies(NULL);
  test_copies(path);
  remove_file();
  test_at_once();
  test_purge();
  remove_file();
  rmdir(dir);
  return check_done();
}
