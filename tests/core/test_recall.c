/*
** The index of words, in both stores alike: what is found, for whom, in which order; any
** query; purging; a crash. next: test_recall_engine.c
*/
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* kill */
#endif
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/sqlite.h"
#include "store_help.h"

static char path[256];

static void remove_file(void) {
  char name[300];
  static const char *const ends[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < 3; i++) {
    snprintf(name, sizeof name, "%s%s", path, ends[i]);
    unlink(name);
  }
}

static np_store *open_store(bool file) {
  np_store *st = NULL;
  np_err e = {0};
  if (file) np_store_sqlite_open(libc, path, false, &st, &e);
  else np_store_memory_open(libc, &st, &e);
  return st;
}

/* The event's body is the text of its one entry. */
static bool body_text(void *ctx, np_str body, int32_t part, np_buf *out) {
  (void)ctx;
  np_buf_add(out, body);
  return part == 0;
}

/* Writes the texts as events of the session and indexes them. */
static neap_rc fill(np_store *st, const char *tenant, const char *session,
                    const char *const *texts, size_t n) {
  np_claim c;
  np_err e = {0};
  np_doc doc[16] = {0};
  neap_rc rc = st->ops->claim(st, str(tenant), str(session), false, &c, &e);
  np_docs d = {
      .tenant = c.tenant, .session = c.session, .fence = c.fence, .doc = doc, .n = n};
  for (size_t i = 0; rc == NEAP_OK && i < n; i++) {
    rc = add(st, &c, str("h"), str(texts[i]), NEAP_DURABLE_PROCESS, &e);
    int64_t entry = (int64_t)i + 1;
    doc[i] =
        (np_doc){.entry = entry, .seq = c.last_seq, .step = entry, .text = str(texts[i])};
  }
  d.to.entry = (int64_t)n;
  return rc == NEAP_OK ? st->ops->index(st, &d, &e) : rc;
}

/* The hits as "session/entry session/entry". */
static const char *find(np_store *st, const char *tenant, const char *session,
                        np_str query) {
  static char out[512];
  np_hit hits[NP_HITS_MAX];
  np_buf names;
  np_err e = {0};
  size_t n = 0, at = 0;
  np_find f = {str(tenant), str(session), query, 5};
  np_buf_init(&names, libc);
  neap_rc rc = st->ops->find(st, &f, hits, &n, &names, &e);
  out[0] = 0;
  if (rc != NEAP_OK) snprintf(out, sizeof out, "error %d: %s", rc, e.text);
  for (size_t i = 0; i < n; i++) {
    at += (size_t)snprintf(out + at, sizeof out - at, "%s%.*s/%lld", i ? " " : "",
                           (int)hits[i].session.n, hits[i].session.p,
                           (long long)hits[i].entry);
  }
  np_buf_free(&names);
  return out;
}

static bool finds(np_store *st, const char *tenant, const char *session,
                  const char *query, const char *want) {
  const char *got = find(st, tenant, session, str(query));
  if (strcmp(got, want) == 0) return true;
  fprintf(stderr, "  query '%s': expected '%s', got '%s'\n", query, want, got);
  return false;
}

static const char *const first[] = {
    "The configuration is read by load_settings in src/config.c",
    "error E4711: connection refused by upstream host",
    "nothing to see here, the weather is fine",
    "parseHTTPHeader returned 400 for the configuration",
    "\xE5\x86\x85\xE5\xAD\x98\xE6\xB3\x84\xE6\xBC\x8F in allocator", /* memory leak */
};
static const char *const second[] = {"error E4711 of the other tenant", "secret word"};
static const char *const third[] = {"E4711 again", "configuration"};

static void test_finding(np_store *st) {
  bool filled = fill(st, "a", "one", first, 5) == NEAP_OK &&
                fill(st, "b", "one", second, 2) == NEAP_OK &&
                fill(st, "a", "two", third, 2) == NEAP_OK;
  CHECK("entries are indexed", filled);
  CHECK("a word is found", finds(st, "a", "one", "refused", "one/2"));
  CHECK("whatever its case", finds(st, "a", "one", "REFUSED", "one/2"));
  CHECK("a name by its part", finds(st, "a", "one", "settings", "one/1"));
  CHECK("a part of camelCase", finds(st, "a", "one", "header", "one/4"));
  CHECK("a name that is nowhere, by its parts",
        finds(st, "a", "one", "get_upstream_host", "one/2"));
  CHECK("a path", finds(st, "a", "one", "src/config.c", "one/1"));
  CHECK("two CJK characters", finds(st, "a", "one", "\xE5\xAD\x98\xE6\xB3\x84", "one/5"));
  CHECK("one CJK character", finds(st, "a", "one", "\xE5\xAD\x98", "one/5"));
  CHECK("the last CJK character", finds(st, "a", "one", "\xE6\xBC\x8F", "one/5"));
  CHECK("CJK characters in another order are not found",
        finds(st, "a", "one", "\xE6\xB3\x84\xE5\xAD\x98", ""));
  CHECK("all words come before some",
        finds(st, "a", "one", "configuration 400", "one/4 one/1"));
  CHECK("a word that is nowhere does not hide the others",
        finds(st, "a", "one", "zzzz refused", "one/2"));
  CHECK("no hit is no hit", finds(st, "a", "one", "zzzz", ""));
  CHECK("a tenant's sessions, the newest first",
        finds(st, "a", "", "E4711", "two/1 one/2"));
  CHECK("another tenant sees its own only", finds(st, "b", "", "E4711", "one/1"));
  CHECK("not by another's words", finds(st, "a", "", "secret", ""));
  CHECK("nor by its session's name", finds(st, "b", "two", "configuration", ""));
  CHECK("a tenant that is not there", finds(st, "c", "", "E4711", ""));
  CHECK("a session that is not there", finds(st, "a", "three", "E4711", ""));
}

/* Whatever is asked, the answer is a list. */
static void test_any_query(np_store *st) {
  static const char *const odd[] = {
      "",  "\"",     "C++", "a-b",        "*",       "NEAR(a b)", "a AND", "body:x", "^a",
      "(", "' OR 1", "-",   "AND OR NOT", "{a b}:c", "\xFF\xFE",  "%",     "e4711*"};
  bool ok = true;
  for (size_t i = 0; i < NP_COUNT(odd); i++)
    ok = ok && strncmp(find(st, "a", "", str(odd[i])), "error", 5) != 0;
  CHECK("no query is wrong", ok);
  unsigned long long state = check_seed(4711);
  for (int round = 0; round < 1500; round++) {
    static const char *const bits[] = {
        "\"", "AND",          " ", "*", "(",     "E4711", "-",
        ".",  "\xE5\x86\x85", "_", ":", "error", "NEAR",  "^"};
    char text[80];
    size_t n = 0, pieces = check_random(&state) % 12;
    for (size_t i = 0; i < pieces; i++) {
      char byte = (char)check_random(&state);
      np_str p = str(bits[check_random(&state) % NP_COUNT(bits)]);
      if (check_random(&state) % 6 == 0) p = np_str_of(&byte, 1);
      if (n + p.n > sizeof text) break;
      memcpy(text + n, p.p, p.n);
      n += p.n;
    }
    const char *got = find(st, "a", "", np_str_of(text, n));
    ok = ok && strncmp(got, "error", 5) != 0;
    if (!ok) {
      fprintf(stderr, "  query '%.*s': %s\n", (int)n, text, got);
      break;
    }
  }
  CHECK("no random query is wrong either", ok);
  np_buf all = {.alloc = libc};
  for (int i = 0; i < 3000; i++) {
    np_buf_adds(&all, "w");
    np_buf_int(&all, i);
    np_buf_adds(&all, " ");
  }
  np_buf_adds(&all, " refused");
  CHECK("a long query is cut",
        strncmp(find(st, "a", "", np_buf_str(&all)), "error", 5) != 0);
  np_buf_free(&all);
}

static neap_rc purge(np_store *st, const char *tenant, const char *text) {
  uint8_t hash[NP_SHA256];
  np_err e = {0};
  np_sha256(str(text), hash);
  return st->ops->purge(st, str(tenant), hash, &e);
}

static void test_purge(np_store *st, bool known) {
  st->text = known ? body_text : NULL;
  const char *hidden = known ? first[1] : first[0];
  CHECK("content is purged", purge(st, "a", hidden) == NEAP_OK);
  np_indexed at = {0};
  np_err e = {0};
  st->ops->indexed(st, str("a"), str("one"), &at, &e);
  CHECK("its words are not found",
        finds(st, "a", "one", known ? "refused" : "load_settings", ""));
  if (known) {
    CHECK("others still are", finds(st, "a", "one", "weather", "one/3"));
    CHECK("in other tenants too", finds(st, "b", "", "E4711", "one/1"));
    CHECK("the index is as far as it was", at.entry == 5);
    return;
  }
  CHECK("without the text all words are gone",
        at.entry == 0 && finds(st, "a", "one", "weather", ""));
  np_doc doc[5] = {0};
  for (int i = 0; i < 5; i++)
    doc[i] = (np_doc){.entry = i + 1, .seq = i + 1, .step = i + 1, .text = str(first[i])};
  np_docs d = {
      .tenant = str("a"), .session = str("one"), .doc = doc, .n = 5, .to = {.entry = 5}};
  CHECK("and are indexed again", st->ops->index(st, &d, &e) == NEAP_OK &&
                                     finds(st, "a", "one", "weather", "one/3"));
  CHECK("but for what was purged", finds(st, "a", "one", "load_settings", "") &&
                                       finds(st, "a", "one", "refused", ""));
}

/* Bytes of the file that are the word's end: words of one index share their beginnings. */
static bool file_holds(const char *end) {
  FILE *f = fopen(path, "rb");
  np_buf all = {.alloc = libc};
  char block[4096];
  size_t n;
  while (f && (n = fread(block, 1, sizeof block, f)) > 0)
    np_buf_add(&all, np_str_of(block, n));
  if (f) fclose(f);
  bool found = np_str_find(np_buf_str(&all), str(end), 0) != SIZE_MAX;
  np_buf_free(&all);
  return found;
}

static void test_purged_bytes(void) {
  static const char *const texts[] = {"password qzxjkvwyplm", "password other"};
  np_err e = {0};
  remove_file();
  np_store *st = open_store(true);
  st->text = body_text;
  CHECK("a secret is indexed", fill(st, "", "s", texts, 2) == NEAP_OK);
  st->ops->close(st, &e);
  CHECK("and is in the file", file_holds("zxjkvwyplm"));
  st = open_store(true);
  st->text = body_text;
  CHECK("purging it", purge(st, "", texts[0]) == NEAP_OK);
  st->ops->close(st, &e);
  CHECK("leaves nothing of it in the file", !file_holds("zxjkvwyplm"));
  st = open_store(true);
  CHECK("nor of others less", finds(st, "", "s", "password", "s/2"));
  CHECK("the file is sound", faults(st, &e) == 0);
  st->ops->close(st, &e);
}

/* ---- fences, held events, older files ---- */

static void test_fence(np_store *st) {
  np_claim old, new;
  np_err e = {0};
  np_doc doc = {.entry = 1, .seq = 1, .step = 1, .text = str("overtaken")};
  st->ops->claim(st, str("f"), str("s"), false, &old, &e);
  st->ops->claim(st, str("f"), str("s"), false, &new, &e);
  np_docs d = {.tenant = str("f"),
               .session = str("s"),
               .fence = old.fence,
               .doc = &doc,
               .n = 1,
               .to = {.entry = 1}};
  CHECK("an overtaken writer indexes nothing",
        st->ops->index(st, &d, &e) == NEAP_E_FENCED &&
            finds(st, "f", "", "overtaken", ""));
  d.fence = new.fence;
  CHECK("the newest does", st->ops->index(st, &d, &e) == NEAP_OK);
  CHECK("twice is once",
        st->ops->index(st, &d, &e) == NEAP_OK && finds(st, "f", "", "overtaken", "s/1"));
}

static void test_cited(np_store *st) {
  static const char *const texts[] = {"alpha beta", "alpha beta", "alpha gamma"};
  np_err e = {0};
  int64_t cited[3] = {1, 1, 1};
  CHECK("three entries", fill(st, "c", "s", texts, 3) == NEAP_OK);
  CHECK("the newer one of two alike is first", finds(st, "c", "s", "beta", "s/2 s/1"));
  np_docs d = {.tenant = str("c"),
               .session = str("s"),
               .from = {.entry = 3},
               .to = {.entry = 3, .cited = 3},
               .cited = cited,
               .cited_n = 3};
  CHECK("citations are counted", st->ops->index(st, &d, &e) == NEAP_OK);
  CHECK("what was cited is first", finds(st, "c", "s", "beta", "s/1 s/2"));
}

static void test_held(void) {
  np_err e = {0};
  np_claim c;
  remove_file();
  np_store *st = open_store(true);
  st->ops->claim(st, str(""), str("s"), false, &c, &e);
  add(st, &c, str("h"), str("held back"), NEAP_DURABLE_MEMORY, &e);
  np_doc doc = {.entry = 1, .seq = 1, .step = 1, .text = str("held back")};
  np_docs d = {.tenant = str(""),
               .session = str("s"),
               .fence = c.fence,
               .doc = &doc,
               .n = 1,
               .to = {.entry = 1}};
  CHECK("what is held is indexed", st->ops->index(st, &d, &e) == NEAP_OK);
  np_store *other = open_store(true);
  seen s = seen_new();
  CHECK("and is in the file then", read_all(other, "", "s", 1, &s, &e) == NEAP_OK &&
                                       s.events == 1 &&
                                       finds(other, "", "", "held", "s/1"));
  np_buf_free(&s.text);
  other->ops->close(other, &e);
  st->ops->close(st, &e);
}

static void raw(const char *sql) {
  sqlite3 *db = NULL;
  sqlite3_open(path, &db);
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
    fprintf(stderr, "  %s: %s\n", sql, sqlite3_errmsg(db));
  sqlite3_close(db);
}

static void test_older(void) {
  np_err e = {0};
  np_store *st = NULL;
  np_hit hits[NP_HITS_MAX];
  np_buf names = {.alloc = libc};
  size_t n = 0;
  np_find f = {str(""), str(""), str("word"), 5};
  remove_file();
  st = open_store(true);
  st->ops->close(st, &e);
  raw("DROP TABLE scope; DROP TABLE doc; DROP TABLE chunk;"
      "ALTER TABLE blob DROP COLUMN enc; PRAGMA user_version = 1");
  np_store_sqlite_open(libc, path, true, &st, &e);
  CHECK("an older store opens for reading", st != NULL);
  if (!st) return;
  CHECK("and says what is missing",
        st->ops->find(st, &f, hits, &n, &names, &e) == NEAP_E_NOTFOUND &&
            is_helpful(&e) && strstr(e.text, "index of words"));
  st->ops->close(st, &e);
  st = open_store(true);
  static const char *const texts[] = {"word"};
  CHECK("opened for writing it gets its index",
        fill(st, "", "s", texts, 1) == NEAP_OK && finds(st, "", "", "word", "s/1"));
  st->ops->close(st, &e);
  np_buf_free(&names);
}

/* What a damaged file says becomes no offset: a session at citation -9 would read before the
** first one. */
static void test_damaged(void) {
  static const char *const damage[] = {"cited = -9",
                                       "entry = -1",
                                       "entry = 1 << 24",
                                       "seq = -1",
                                       "docs = 9223372036854775807",
                                       "words = -1",
                                       "id = -1",
                                       "id = 1 << 62"};
  static const char *const texts[] = {"word"};
  for (size_t i = 0; i < NP_COUNT(damage); i++) {
    char sql[80];
    np_err e = {0};
    np_indexed at;
    remove_file();
    np_store *st = open_store(true);
    fill(st, "", "s", texts, 1);
    st->ops->close(st, &e);
    snprintf(sql, sizeof sql, "UPDATE scope SET %s", damage[i]);
    raw(sql);
    st = open_store(true);
    CHECK("a damaged index of words is told",
          st->ops->indexed(st, str(""), str("s"), &at, &e) == NEAP_E_CORRUPT &&
              is_helpful(&e) && strstr(e.text, "index of words"));
    st->ops->close(st, &e);
  }
}

/* ---- an SQLite without FTS5 ---- */

static int deny_fts5(void *ctx, int action, const char *a, const char *b, const char *c,
                     const char *d) {
  (void)ctx;
  (void)a;
  (void)c;
  (void)d;
  return action == SQLITE_FUNCTION && b && strcmp(b, "fts5") == 0 ? SQLITE_DENY
                                                                  : SQLITE_OK;
}

static void test_without(void) {
  np_err e = {0};
  np_hit hits[NP_HITS_MAX];
  np_buf names = {.alloc = libc};
  size_t n = 0;
  np_find f = {str(""), str(""), str("word"), 5};
  np_claim c;
  remove_file();
  np_store *st = open_store(true);
  sqlite3_set_authorizer(((np_sqlite *)st)->db, deny_fts5, NULL);
  CHECK("without FTS5 one line says that nothing can be searched",
        st->ops->find(st, &f, hits, &n, &names, &e) == NEAP_E_LIMIT && is_helpful(&e) &&
            strstr(e.text, "FTS5"));
  static const char *const texts[] = {"word"};
  CHECK("and that nothing can be indexed", fill(st, "", "s", texts, 1) == NEAP_E_LIMIT);
  CHECK("events are kept all the same",
        st->ops->claim(st, str(""), str("s"), true, &c, &e) == NEAP_OK &&
            c.last_seq == 1);
  st->ops->close(st, &e);
  np_buf_free(&names);
}

/* ---- a kill ---- */

/* Appends and indexes until it is killed; says each event that is acknowledged. */
static void child(int out) {
  np_store *st = open_store(true);
  np_claim c;
  np_err e = {0};
  if (!st || st->ops->claim(st, str(""), str("s"), false, &c, &e)) _exit(1);
  np_indexed at = {0};
  for (;;) {
    char text[64];
    np_doc doc[4] = {0};
    char bodies[4][64];
    for (int i = 0; i < 4; i++) {
      int64_t entry = c.last_seq + 1;
      snprintf(text, sizeof text, "word%lld common", (long long)entry);
      snprintf(bodies[i], sizeof bodies[i], "%s", text);
      if (add(st, &c, str("h"), str(text), NEAP_DURABLE_PROCESS, &e)) _exit(1);
      doc[i] =
          (np_doc){.entry = entry, .seq = entry, .step = entry, .text = str(bodies[i])};
      if (write(out, &entry, sizeof entry) != sizeof entry) _exit(0);
    }
    np_docs d = {.tenant = str(""),
                 .session = str("s"),
                 .fence = c.fence,
                 .from = at,
                 .doc = doc,
                 .n = 4,
                 .to = {.entry = c.last_seq}};
    if (st->ops->index(st, &d, &e)) _exit(1);
    at = d.to;
  }
}

static void test_kill(void) {
  unsigned long long state = check_seed(99);
  bool sound = true, kept = true, whole = true;
  for (int round = 0; round < 8; round++) {
    int pipes[2];
    remove_file();
    if (pipe(pipes)) return;
    pid_t pid = fork();
    if (pid == 0) child(pipes[1]);
    close(pipes[1]);
    int64_t last = 0, entry;
    int64_t stop = 20 + (int64_t)(check_random(&state) % 200);
    while (last < stop && read(pipes[0], &entry, sizeof entry) == sizeof entry)
      last = entry;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(pipes[0]);
    np_err e = {0};
    np_store *st = open_store(true);
    np_indexed at = {0};
    seen s = seen_new();
    sound = sound && faults(st, &e) == 0;
    kept = kept && read_all(st, "", "s", 1, &s, &e) == NEAP_OK && s.events >= last;
    st->ops->indexed(st, str(""), str("s"), &at, &e);
    whole = whole && at.entry <= s.events && at.entry % 4 == 0;
    for (int64_t i = 1; i <= at.entry; i += 7) {
      char word[32], want[32];
      snprintf(word, sizeof word, "word%lld", (long long)i);
      snprintf(want, sizeof want, "s/%lld", (long long)i);
      whole = whole && finds(st, "", "s", word, want);
    }
    np_buf_free(&s.text);
    st->ops->close(st, &e);
  }
  CHECK("a killed writer leaves a sound file", sound);
  CHECK("what was acknowledged is there", kept);
  CHECK("the index is that of a beginning of the log, all of it", whole);
}

int main(void) {
  const char *dir = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/neap-recall-%ld.db", dir ? dir : "/tmp",
           (long)getpid());
  for (int file = 0; file < 2; file++) {
    np_err e = {0};
    remove_file();
    np_store *st = open_store(file);
    test_finding(st);
    test_any_query(st);
    test_fence(st);
    test_cited(st);
    test_purge(st, true);
    test_purge(st, false);
    CHECK("the store is sound", faults(st, &e) == 0);
    st->ops->close(st, &e);
  }
  test_purged_bytes();
  test_held();
  test_older();
  test_damaged();
  test_without();
  test_kill();
  remove_file();
  return check_done();
}
